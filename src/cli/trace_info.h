/* trace_info.h - what a workload holds, printed; part of `trainshed trace` */
#pragma once

#include "workload/program.h"

#include <stdio.h>

void trace_info_print(const Workload *workload, const char *format, FILE *out);
