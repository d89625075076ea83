/* trace_generate.h - 'trainshed trace generate' and 'models': programs of training jobs that are described */
#pragma once

#include <glib.h>

gboolean trace_generate(int argc, char **argv, GError **error);
/* 'trainshed trace models': the models known by name, and the schedules. */
gboolean trace_models(int argc, char **argv, GError **error);
