/* trace_generate.h - 'trainshed trace generate': the program of a training job that is described */
#pragma once

#include <glib.h>

gboolean trace_generate(int argc, char **argv, GError **error);
