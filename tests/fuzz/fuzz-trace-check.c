/* fuzz-trace-check.c - any bytes as every trace format of text, stopping at the first problem and collecting them all:
 * both agree on whether there is a workload; and what it holds is told */
#include "config.h"

#include "cli/trace_info.h"
#include "fuzz.h"
#include "workload/trace_format.h"

#include <string.h>

/* SQLite reads a file by name: it has a target of its own. */
static gboolean
is_fuzzed(const TraceFormat *format)
{
    return strcmp(format->name, "nsys") != 0;
}

static Workload *
read_trace(const TraceFormat *format, const char *path, GPtrArray *problems)
{
    char *files[] = {(char *)(uintptr_t)path, NULL};
    TraceSource source = {.files = files, .n_files = 1, .ranks = 8, .model_parallel = 2, .problems = problems};
    GError *error = NULL;
    Workload *workload = format->read(&source, &error);
    fuzz_check(workload != NULL, error);
    return workload;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *nowhere;
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    const char *path = fuzz_file(data, size);
    for (const TraceFormat *const *format = trace_formats(); *format != NULL; format++) {
        if (!is_fuzzed(*format))
            continue;
        g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(Workload) all = read_trace(*format, path, problems);
        g_autoptr(Workload) once = read_trace(*format, path, NULL);
        if ((all != NULL) != (once != NULL) || (all != NULL && problems->len > 0))
            abort();
        if (once != NULL && once->n_ranks <= 4096)
            trace_info_print(once, (*format)->name, 0, nowhere);
    }
    return 0;
}
