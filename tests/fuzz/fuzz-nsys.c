/* fuzz-nsys.c - any bytes as an Nsight Systems export: a checked workload, or an error; with "call,bytes" in front, as
 * a file of sizes */
#include "config.h"

#include "fuzz.h"
#include "workload/message_sizes.h"
#include "workload/trace_format.h"

#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    char *path = g_strdup(fuzz_file(data, size));
    if (size > 10 && memcmp(data, "call,bytes", 10) == 0) {
        g_autoptr(MessageSizes) sizes = message_sizes_read(path, &error);
        uint64_t bytes;
        if (sizes != NULL)
            message_sizes_find(sizes, "all_to_all", 1, &bytes);
        fuzz_check(sizes != NULL, error);
    } else {
        char *files[] = {path, NULL};
        g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
        TraceSource source = {.files = files, .n_files = 1};
        g_autoptr(Workload) workload = trace_nsys.read(&source, &error);
        fuzz_check(workload != NULL, error);
        error = NULL;
        source.problems = problems;
        g_autoptr(Workload) again = trace_nsys.read(&source, &error);
        fuzz_check(again != NULL, error);
    }
    g_free(path);
    return 0;
}
