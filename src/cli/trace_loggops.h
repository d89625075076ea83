/* trace_loggops.h - 'trainshed trace loggops': when a GOAL schedule ends under LogGOPS */
#pragma once

#include <glib.h>

gboolean trace_loggops(int argc, char **argv, GError **error);
