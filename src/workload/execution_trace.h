/* execution_trace.h - a PyTorch execution trace: what the ranks' collectives moved
 *
 * The trace of one rank, beside its Kineto file: no times, but tensors, so sizes, splits and sequence numbers of every
 * record_param_comms. Schemas 1.0.1 to 1.0.3, 1.1.0 and 1.1.1 are read; others are refused by name. */
#pragma once

#include "base/error.h"

#include <stdint.h>

/* One record_param_comms node. */
typedef struct {
    uint64_t id;
    int64_t thread;                /* "tid" of the trace: 1, 2, ... */
    const char *name;              /* allreduce, all_to_allv, wait ... */
    const char *group;             /* process group: its name, or before 1.1 a pointer, which differs between ranks */
    int64_t seq;                   /* pairs a wait with its collective; -1 = none */
    int64_t rank;                  /* of the caller; of broadcast and reduce the root; -1 = none */
    uint64_t in_bytes, out_bytes;  /* all input and output tensors: numel x itemsize */
    uint64_t in_numel;             /* elements of all input tensors */
    uint32_t in_split, n_in_split; /* into splits: elements for each peer; 0 of them = even */
    uint32_t out_split, n_out_split;
} ExecutionComm;

typedef struct {
    char *path, *schema;
    guint64 n_nodes;
    uint64_t first_id, last_id;
    gboolean ids_unique;
    GArray *comms;  /* of ExecutionComm, by id: the order of issue within a thread */
    GArray *splits; /* of uint64_t */
    GStringChunk *texts;
} ExecutionTrace;

/* NULL with an INPUT error. problems (base/problems.h): what is wrong with single nodes, which are then left out. */
ExecutionTrace *execution_trace_read(const char *path, GPtrArray *problems, GError **error);
void execution_trace_free(ExecutionTrace *trace); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ExecutionTrace, execution_trace_free)
