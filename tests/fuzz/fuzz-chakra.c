/* fuzz-chakra.c - any bytes as a Chakra trace of one rank, or of three alike: a checked workload, or
 * an error, and the same where all problems are collected */
#include "config.h"

#include "fuzz.h"
#include "workload/trace_format.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *files[] = {(char *)fuzz_file(data, size), NULL};
    const TraceFormat *const formats[] = {&trace_chakra, &trace_chakra_json};
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        TraceSource source = {
            .files = files, .n_files = 1, .replicate = size % 3 == 0 ? 3 : 0, .break_cycles = size % 2 == 1};
        source.dimensions = source.replicate == 3 ? "3x1" : NULL;
        GError *error = NULL;
        g_autoptr(Workload) workload = formats[i]->read(&source, &error);
        fuzz_check(workload != NULL, error);
        error = NULL;
        g_autoptr(GString) told = g_string_new(NULL);
        gboolean outlined = formats[i]->outline(&source, told, &error);
        fuzz_check(outlined, error);
        g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
        source.problems = problems;
        g_autoptr(Workload) again = formats[i]->read(&source, NULL);
        if ((workload == NULL) != (again == NULL) || (again == NULL) != (problems->len > 0))
            abort();
        if (formats[i]->recognise((const char *)data, size) < 0)
            abort();
    }
    return 0;
}
