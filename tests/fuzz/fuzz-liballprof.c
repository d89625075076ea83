/* fuzz-liballprof.c - any bytes as a trace of liballprof: a checked workload, or an error */
#include "config.h"

#include "fuzz.h"
#include "workload/trace_format.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *files[] = {(char *)(uintptr_t)fuzz_file(data, size), NULL};
    trace_liballprof.recognise((const char *)data, size);
    for (int all = 0; all < 2; all++) {
        GError *error = NULL;
        TraceSource source = {.files = files, .n_files = 1};
        source.problems = all ? g_ptr_array_new_with_free_func(g_free) : NULL;
        g_autoptr(Workload) workload = trace_liballprof.read(&source, &error);
        fuzz_check(workload != NULL, error);
        g_clear_pointer(&source.problems, g_ptr_array_unref);
    }
    return 0;
}
