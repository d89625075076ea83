/* trace_survey.h - what single Kineto files hold, printed; part of `trainshed trace info`
 *
 * Needs no other ranks and no execution traces, so it serves files that cannot be replayed. */
#pragma once

#include <glib.h>
#include <stdio.h>

/* Counts of each file, then the collectives, copies and fills of all. surveys: of KinetoSurvey *, one a file. */
void trace_survey_print(const GPtrArray *surveys, FILE *out);
