/* fuzz-layers.c - any bytes as a text workload of ASTRA-sim and of SimAI: a checked workload, or an error */
#include "config.h"

#include "fuzz.h"
#include "workload/trace_format.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const TraceFormat *const formats[] = {&trace_astra, &trace_layers, &trace_simai};
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        char *files[] = {(char *)(uintptr_t)fuzz_file(data, size), NULL};
        formats[i]->recognise((const char *)data, size);
        for (int all = 0; all < 2; all++) {
            GError *error = NULL;
            TraceSource source = {.files = files, .n_files = 1, .ranks = 8, .model_parallel = 2};
            source.problems = all ? g_ptr_array_new_with_free_func(g_free) : NULL;
            g_autoptr(Workload) workload = formats[i]->read(&source, &error);
            fuzz_check(workload != NULL, error);
            g_clear_pointer(&source.problems, g_ptr_array_unref);
        }
    }
    return 0;
}
