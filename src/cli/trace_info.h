/* trace_info.h - what a workload holds, printed; part of `trainshed trace` */
#pragma once

#include "workload/program.h"

#include <stdio.h>

/* Of any format: all is worked out from the programs. steps: iterations that the files say they hold; 0 = not said. */
void trace_info_print(const Workload *workload, const char *format, uint32_t steps, FILE *out);
/* Collectives by kind, then those that are alike; nothing where there is none. A part of it. */
void trace_collectives_print(const Workload *workload, FILE *out);
