/* train_program.h - a model, a layout and a schedule become what the ranks of a training job do in one iteration
 *
 * One program a pipeline stage, shared by all its ranks (where the load of experts is uneven: a program a stage and
 * place among them), so that time and memory grow with stages and micro-batches, not with GPUs. Streams: compute; tp,
 * cp, ep, dp, edp, ... for the collectives of each group; four for messages between stages (two ways, both ends).
 *
 * Around a block go (Narayanan et al. 2021, section 2.3; Korthikanti et al. 2022, section 4.2): without sequence
 * parallelism an all-reduce over tp behind the forward pass of attention and FFN and behind their input gradient; with
 * it an all-gather before and a reduce-scatter behind, and in the backward pass one more all-gather, of the input that
 * the weight gradient needs. Experts have an all-to-all before and behind, in both passes. Context parallelism gathers
 * keys and values before attention, again in the backward pass, and reduce-scatters their gradients. The weight
 * gradients of column-parallel GEMMs run beside the collective of the input gradient, as Megatron-LM has them. */
#pragma once

#include "workload/parallel.h"
#include "workload/pipeline_schedule.h"

/* What a pass takes as one op: fills duration_ps, or flops and bytes_moved. Without it the GEMMs and the rest of a pass
 * are an op each on the roofline. */
typedef void (*TrainPrice)(const void *data, const ModelBlock *block, ModelPass pass, Recompute recompute, Op *op);

typedef struct {
    const ModelDescription *model;
    const Layout *layout;
    uint32_t micro_batch, global_batch; /* sequences, or samples */
    uint32_t sequence;                  /* 0 = the model's */
    Recompute recompute;
    gboolean fused_attention;
    gboolean unfused_norms;    /* norms keep what a fused kernel does not: memory only */
    gboolean gathered_logits;  /* the loss sees all of the vocabulary on every rank of tp: memory only */
    const char *schedule;      /* of pipeline_schedule_names(); NULL = 1f1b, or interleaved where there are chunks */
    const char *schedule_file; /* instead of it; NULL = none */
    uint32_t in_flight;        /* of a user's own schedule: the most micro-batches a stage may hold; 0 = any */
    /* Overlap. */
    gboolean overlap_gradients;   /* reduction begins while the backward pass goes on; else behind it */
    uint64_t bucket_B;            /* of gradients that are reduced together; 0 = all of a chunk */
    uint32_t prefetch;            /* ZeRO-3: layers whose parameters are gathered ahead of the one that computes */
    uint32_t gradients_in_flight; /* reductions at once; at least 1 */
    gboolean one_stream; /* all communication on one stream, in the order of the program; else a stream a group */
    uint32_t tp_pieces;  /* a block and its collectives over tp in so many pieces, each piece's collective beside
                            the next one's work; 1 = whole */
    double optimiser_B;  /* bytes that the optimiser moves a parameter; < 0 = Adam in mixed precision */
    uint32_t gpus;       /* what the job has; 0 = as many as the layout */
    TrainPrice price;    /* NULL = flops and bytes of the block */
    const void *price_data;
} TrainSpec;

enum { TRAIN_OPS_MOST = 1 << 24 }; /* of all programs together; 2.5 GB */

/* Micro-batch and global batch 1, 1f1b, gradients overlapped in whole chunks, one layer prefetched, one in flight. */
TrainSpec train_spec_default(const ModelDescription *model, const Layout *layout);

/* How a rank's layers are cut. */
ModelShard train_shard(const TrainSpec *spec);
/* Micro-batches of a replica; 0 with an INPUT error where the batches do not divide. */
uint32_t train_micro_batches(const TrainSpec *spec, GError **error);
/* The schedule, checked; NULL with an INPUT error. */
PipelineSchedule *train_schedule(const TrainSpec *spec, GError **error);

/* Refuses a layout that cannot be, batches that do not divide, a schedule's chunks; a schedule's file is not opened. */
gboolean train_check(const TrainSpec *spec, GError **error);

/* NULL with an INPUT error that names the key and its numbers. What it points to is borrowed for the call only. */
Workload *train_program(const TrainSpec *spec, GError **error);
