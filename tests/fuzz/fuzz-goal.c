/* fuzz-goal.c - any bytes as a GOAL schedule, text or binary: a sound workload, or an error */
#include "config.h"

#include "fuzz.h"
#include "workload/trace_format.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    trace_goal.recognise((const char *)data, size);
    TraceSource source = {.files = (char *[]){(char *)fuzz_file(data, size), NULL}, .n_files = 1};
    g_autoptr(Workload) workload = trace_goal.read(&source, &error);
    fuzz_check(workload != NULL, error);
    return 0;
}
