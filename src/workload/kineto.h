/* kineto.h - counts of recorded PyTorch files, for `trainshed trace info`, and the reader behind trace_kineto
 *
 * A survey needs no second file and no other ranks, so it serves files that cannot be replayed too. */
#pragma once

#include "base/error.h"
#include "workload/trace_format.h"

#include <stdint.h>

/* How often something of one name, and how many bytes. */
typedef struct {
    char *name;
    uint32_t count;
    uint64_t in_bytes, out_bytes;
} KinetoCount;

/* A list of them, by name, freed with g_array_unref; the one of a name of so many bytes, entered where it is new. */
GArray *kineto_counts_new(void);
KinetoCount *kineto_count_of(GArray *counts, const char *name, size_t length);

typedef struct KinetoSurvey {
    char *source;                        /* the file; of an Nsight Systems export, process and device too */
    int64_t rank, world_size;            /* -1 = the file does not say */
    uint64_t n_events, n_complete;       /* all; with a duration (ph = X) */
    uint64_t n_kernels, n_nccl, n_comms; /* kernels; NCCL kernels among them; record_param_comms */
    int64_t kernel_ns, nccl_ns;          /* sums of their durations, at most INT64_MAX */
    uint64_t n_launched, n_unlaunched;   /* kernels whose correlation id has a runtime or driver call; without */
    uint64_t n_flows_whole, n_flows;     /* flow ids with both ends; all */
    int64_t base_ns, first_ns, last_ns;  /* absolute time = base + first; the profiler's own span not counted */
    GArray *nccl_names;                  /* of KinetoCount, by name: of the kernel up to "(" or "<" */
    GArray *collectives; /* of KinetoCount, by name: NCCL kernels by their collective, "(none)" where they carry none */
    GArray *copies;      /* of KinetoCount, by name up to "(": copies and fills, in_bytes what they move */
    GArray *syncs;       /* of KinetoCount, by name: cuda_sync */
    GArray *nccl_streams; /* of KinetoCount, by name: NCCL kernels by "device/stream" */
    GPtrArray *steps;     /* of char *: ProfilerStep spans */
} KinetoSurvey;

/* NULL with an INPUT error. */
KinetoSurvey *kineto_survey(const char *path, GError **error);
void kineto_survey_free(KinetoSurvey *survey); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KinetoSurvey, kineto_survey_free)

/* Of an execution trace: record_param_comms by name, `wait` among them. Of KinetoCount, by name; the caller frees it
 * with g_array_unref. n_nodes and schema (freed with g_free) may be NULL. NULL with an INPUT error. */
GArray *execution_trace_survey(const char *path, uint64_t *n_nodes, char **schema, GError **error);

/* Bytes of an element of a torch dtype as Kineto writes it ("Float", "BFloat16", "Float8_e4m3fn" ...); 0 = unknown. */
uint32_t kineto_dtype_size(const char *dtype);
