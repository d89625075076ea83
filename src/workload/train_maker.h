/* train_maker.h - between the files of train_program.c: one program in the making */
#pragma once

#include "workload/train_program.h"

enum {
    STREAM_COMPUTE,
    STREAM_SEND_F,
    STREAM_SEND_B,
    STREAM_RECV_F,
    STREAM_RECV_B,
    STREAM_GATHER,
    STREAM_RING_OUT,
    STREAM_RING_IN,
    STREAM_ALL,
    TRAIN_STREAMS
};

/* A reduction that waits for the end of the backward pass. */
typedef struct {
    LayoutGroup group;
    CollectiveKind kind;
    uint64_t bytes;
    uint32_t layer;
} Later;

/* Gradients that wait to be reduced. */
typedef struct {
    uint64_t parameters;
    uint32_t op; /* the last that adds to them */
} Bucket;

typedef struct {
    const TrainSpec *spec;
    const PipelineSchedule *schedule;
    Workload *workload;
    Program *program;
    uint32_t stage, groups[LAYOUT_GROUPS];
    ModelShard shard;
    GArray **blocks; /* a chunk: of ModelBlock, in the order of the forward pass */
    /* Streams, made when first used. */
    uint32_t streams[TRAIN_STREAMS], *group_streams; /* a group and a turn */
    uint32_t turn;                                   /* of the next reduction, below gradients_in_flight */
    char step[32];                                   /* "F3" or "F3.1": begins the names of ops */
    /* What the data has come through: the next compute op waits for it and for waits. */
    uint32_t ready, last;
    GArray *waits;        /* of uint32_t: ops */
    GArray *units;        /* of uint32_t: the last compute op of each layer so far, for prefetching */
    uint32_t tables;      /* the all-to-all that the top of a DLRM waits for */
    uint32_t *runs;       /* a chunk: how many micro-batches have ended their backward pass */
    Bucket buckets[2][4]; /* dense, experts; by ZeRO stage */
    GArray *later;        /* of Later: reductions behind the backward pass */
    GArray *ends;         /* of uint32_t: what the optimiser waits for */
} TrainMaker;

/* ---- train_program.c ---- */

/* An op of this name ("F3/12/attention"); layer INDEX_NONE leaves it out. Waits for ready and waits. */
uint32_t train_add(TrainMaker *maker, Op op, uint32_t stream, uint32_t layer, const char *what, const uint32_t *deps,
                   uint32_t n_deps);
uint32_t train_stream(TrainMaker *maker, uint32_t which);
/* That of a group's collectives; the group has members. */
uint32_t train_group_stream(TrainMaker *maker, LayoutGroup group);
/* A collective on the group's stream behind dep (INDEX_NONE = nothing); its index, or dep where the group has one
 * member or there are no bytes. */
uint32_t train_collect(TrainMaker *maker, LayoutGroup group, CollectiveKind kind, uint64_t bytes, uint32_t layer,
                       const char *what, uint32_t dep);
/* The same in the data's way: behind ready, which it becomes. */
void train_block_on(TrainMaker *maker, LayoutGroup group, CollectiveKind kind, uint64_t bytes, uint32_t layer,
                    const char *what);
/* A compute op behind ready and waits, where it has any work; share of the work. */
void train_compute(TrainMaker *maker, const ModelBlock *block, ModelPass pass, Recompute recompute, uint32_t pieces);

/* ---- train_steps.c ---- */

/* The ops of a step; maker->step is its name. */
void train_step(TrainMaker *maker, const Step *step);

/* ---- train_blocks.c ---- */

void train_forward(TrainMaker *maker, const ModelBlock *block);
void train_input_gradient(TrainMaker *maker, const ModelBlock *block, gboolean weights_follow);
void train_weight_gradient(TrainMaker *maker, const ModelBlock *block, gboolean alone);

/* ---- train_gradients.c ---- */

/* Before a layer computes (ZeRO-3): its parameters are gathered. */
void train_gather(TrainMaker *maker, uint32_t chunk, uint32_t first_block, uint32_t n_blocks);
/* A block's gradients are ready, and the chunk's layer or the chunk has ended. */
void train_gradient(TrainMaker *maker, uint32_t chunk, const ModelBlock *block);
void train_layer_ended(TrainMaker *maker, uint32_t chunk, uint32_t layer);
void train_chunk_ended(TrainMaker *maker, uint32_t chunk);
/* What is left to reduce, the optimiser, what follows it. */
void train_finish(TrainMaker *maker);
