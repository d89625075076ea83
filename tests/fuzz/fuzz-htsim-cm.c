/* fuzz-htsim-cm.c - any bytes as a connection matrix: a sound workload of as many sends as flows, or an error */
#include "config.h"

#include "fuzz.h"
#include "workload/htsim_cm.h"

/* Sends that are no signals: of flows, and of acknowledgements, which have no bytes. */
static uint32_t
count_sends(const Workload *workload)
{
    uint32_t n = 0;
    for (uint32_t p = 0; p < workload->programs->len; p++) {
        const Program *program = workload_program(workload, p);
        for (uint32_t i = 0; i < program->ops->len; i++) {
            const Op *op = &g_array_index(program->ops, Op, i);
            n += op->kind == OP_SEND && op->bytes > 0;
        }
    }
    return n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    trace_htsim.recognise((const char *)data, size);
    g_autoptr(HtsimMatrix) matrix = htsim_matrix_read(fuzz_file(data, size), &error);
    fuzz_check(matrix != NULL, error);
    if (matrix == NULL || matrix->n_hosts > 100000)
        return 0;
    error = NULL;
    g_autoptr(Workload) workload = htsim_workload(matrix, &error);
    /* What was read can be run: no flow waits for itself, every message has its other half. */
    if (workload == NULL || error != NULL || count_sends(workload) != matrix->flows->len)
        abort();
    return 0;
}
