/* fuzz-execution-trace.c - any bytes as a PyTorch execution trace: records in order, splits inside, or an error */
#include "config.h"

#include "fuzz.h"
#include "workload/execution_trace.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    g_autoptr(ExecutionTrace) trace = execution_trace_read(fuzz_file(data, size), NULL, &error);
    for (guint i = 0; trace != NULL && i < trace->comms->len; i++) {
        const ExecutionComm *comm = &g_array_index(trace->comms, ExecutionComm, i);
        const ExecutionComm *before = i > 0 ? comm - 1 : comm;
        if (comm->name == NULL || comm->id < before->id ||
            (uint64_t)comm->in_split + comm->n_in_split > trace->splits->len ||
            (uint64_t)comm->out_split + comm->n_out_split > trace->splits->len)
            abort();
    }
    fuzz_check(trace != NULL, error);
    return 0;
}
