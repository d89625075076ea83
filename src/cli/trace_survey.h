/* trace_survey.h - what single Kineto files hold, printed; part of `trainshed trace info`
 *
 * Needs no other ranks and no execution traces, so it serves files that cannot be replayed. */
#pragma once

#include <glib.h>
#include <stdio.h>

/* Counts of each file, then the collectives of all. FALSE with an INPUT error: nothing was printed. */
gboolean trace_survey_print(char **files, FILE *out, GError **error);
