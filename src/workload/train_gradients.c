/* train_gradients.c - gradients and parameters over the replicas, by ZeRO stage; the optimiser
 *
 * Rajbhandari et al. 2020, section 7, and FSDP (Zhao et al. 2023): nothing cut: an all-reduce of the gradients a step.
 * Stage 1: a reduce-scatter, and an all-gather of the parameters behind the optimiser. Stage 2: a reduce-scatter a
 * micro-batch, and the all-gather. Stage 3: parameters are gathered for the forward and again for the backward pass of
 * each micro-batch, a layer at a time, and gradients reduce-scattered. Partition groups smaller than dp (hybrid
 * sharding) do that among themselves; the shards of the gradients are all-reduced over the groups once a step. */
#include "workload/train_maker.h"

static gboolean
is_hybrid(const TrainMaker *maker)
{
    return maker->groups[GROUP_OF_SHARD] != INDEX_NONE;
}

/* Over whom gradients (and parameters) of this kind are cut. */
static LayoutGroup
cut_over(const TrainMaker *maker, gboolean experts)
{
    return experts && maker->spec->layout->ep > 1 ? GROUP_OF_EDP : is_hybrid(maker) ? GROUP_OF_SHARD : GROUP_OF_DP;
}

/* ---- parameters ---- */

static void
gather(TrainMaker *maker, gboolean experts, uint64_t parameters, uint32_t layer, uint32_t behind)
{
    LayoutGroup group = cut_over(maker, experts);
    if (maker->groups[group] == INDEX_NONE || parameters == 0)
        return;
    Op op = op_default(OP_COLLECTIVE);
    op.collective = COLLECTIVE_ALL_GATHER;
    op.group = maker->groups[group];
    op.bytes = parameters * maker->spec->model->value_B;
    uint32_t end = train_add(maker, op, train_stream(maker, STREAM_GATHER), layer,
                             experts ? "expert parameters" : "parameters", &behind, behind != INDEX_NONE);
    g_array_append_val(maker->waits, end);
}

void
train_gather(TrainMaker *maker, uint32_t chunk, uint32_t first_block, uint32_t n_blocks)
{
    uint64_t dense = 0, experts = 0;
    for (uint32_t i = first_block; i < first_block + n_blocks; i++) {
        const ModelBlock *block = &g_array_index(maker->blocks[chunk], ModelBlock, i);
        if (layout_zero(maker->spec->layout, block->kind) < 3)
            continue;
        dense += block->shared_parameters + block->replicated_parameters + block->tied_parameters;
        experts += block->kind == BLOCK_TABLES ? 0 : block->expert_parameters;
    }
    uint32_t layer = g_array_index(maker->blocks[chunk], ModelBlock, first_block).layer;
    /* ahead by so many layers: once the one that many and one before it has ended */
    uint32_t n = maker->units->len, ahead = maker->spec->prefetch;
    uint32_t behind = n > ahead ? g_array_index(maker->units, uint32_t, n - 1 - ahead) : INDEX_NONE;
    gather(maker, FALSE, dense, layer, behind);
    gather(maker, TRUE, experts, layer, behind);
}

/* ---- gradients ---- */

/* Reductions take turns on as many streams as may be in flight. */
static uint32_t
reduction_stream(TrainMaker *maker, LayoutGroup group)
{
    if (maker->spec->one_stream)
        return train_stream(maker, STREAM_ALL);
    uint32_t turns = maker->spec->gradients_in_flight, turn = maker->turn++ % turns;
    uint32_t *stream = &maker->group_streams[LAYOUT_GROUPS + turn * LAYOUT_GROUPS + group];
    if (*stream == INDEX_NONE) {
        const Group *of = g_ptr_array_index(maker->workload->groups, maker->groups[group]);
        g_autofree char *name = turn == 0 ? g_strdup_printf("%s gradients", of->name)
                                          : g_strdup_printf("%s gradients %u", of->name, turn + 1);
        *stream = program_add_stream(maker->program, name, FALSE);
    }
    return *stream;
}

static void
issue(TrainMaker *maker, const Later *later, uint32_t dep)
{
    Op op = op_default(OP_COLLECTIVE);
    op.collective = later->kind;
    op.group = maker->groups[later->group];
    op.bytes = later->bytes;
    uint32_t end = train_add(maker, op, reduction_stream(maker, later->group), later->layer,
                             later->group == GROUP_OF_EDP ? "expert gradients" : "gradients", &dep, dep != INDEX_NONE);
    g_array_append_val(maker->ends, end);
}

static void
reduce(TrainMaker *maker, LayoutGroup group, CollectiveKind kind, uint64_t bytes, uint32_t layer, uint32_t dep)
{
    Later later = {group, kind, bytes, layer};
    if (maker->groups[group] == INDEX_NONE || bytes == 0)
        return;
    if (maker->spec->overlap_gradients)
        issue(maker, &later, dep);
    else
        g_array_append_val(maker->later, later);
}

/* Is this the last micro-batch that the chunk goes through? */
static gboolean
is_last(const TrainMaker *maker, uint32_t chunk)
{
    return maker->runs[chunk] + 1 == maker->schedule->micro_batches;
}

static void
flush(TrainMaker *maker, uint32_t chunk, gboolean experts, uint32_t zero, uint32_t layer)
{
    Bucket *bucket = &maker->buckets[experts][zero];
    const Layout *layout = maker->spec->layout;
    uint64_t bytes = bucket->parameters * maker->spec->model->gradient_B;
    if (bytes == 0)
        return;
    LayoutGroup group = cut_over(maker, experts);
    if (zero == 0 && group == GROUP_OF_SHARD)
        group = GROUP_OF_DP; /* nothing is cut */
    reduce(maker, group, zero == 0 ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_REDUCE_SCATTER, bytes, layer, bucket->op);
    if (is_hybrid(maker) && zero > 0 && is_last(maker, chunk)) {
        uint64_t own = (bytes + layout->shard_ranks - 1) / layout->shard_ranks;
        uint32_t dep =
            maker->spec->overlap_gradients ? g_array_index(maker->ends, uint32_t, maker->ends->len - 1) : INDEX_NONE;
        reduce(maker, GROUP_OF_REPLICA, COLLECTIVE_ALL_REDUCE, own, layer, dep);
    }
    *bucket = (Bucket){0};
}

void
train_gradient(TrainMaker *maker, uint32_t chunk, const ModelBlock *block)
{
    uint32_t zero = layout_zero(maker->spec->layout, block->kind);
    if ((zero < 2 && !is_last(maker, chunk)) || block->kind == BLOCK_TABLES)
        return; /* added up on the rank */
    const uint64_t parameters[] = {block->shared_parameters + block->replicated_parameters + block->tied_parameters,
                                   block->expert_parameters};
    for (int experts = 0; experts < 2; experts++) {
        Bucket *bucket = &maker->buckets[experts][zero];
        bucket->parameters += parameters[experts];
        bucket->op = maker->last;
        if (maker->spec->bucket_B > 0 && zero < 3 &&
            bucket->parameters * maker->spec->model->gradient_B >= maker->spec->bucket_B)
            flush(maker, chunk, experts, zero, block->layer);
    }
}

void
train_layer_ended(TrainMaker *maker, uint32_t chunk, uint32_t layer)
{
    for (int experts = 0; experts < 2; experts++)
        flush(maker, chunk, experts, 3, layer);
}

void
train_chunk_ended(TrainMaker *maker, uint32_t chunk)
{
    for (uint32_t zero = 0; zero < 4; zero++)
        for (int experts = 0; experts < 2; experts++)
            flush(maker, chunk, experts, zero, INDEX_NONE);
    maker->runs[chunk]++;
}

/* ---- the end of the step ---- */

/* Parameters of this rank; gathered: what is all-gathered behind the optimiser, dense and of experts. */
typedef struct {
    uint64_t gathered[2], replicated, tied;
    double stepped; /* what this rank's optimiser steps */
} Owned;

static void
own(const TrainMaker *maker, uint32_t zero, gboolean experts, uint64_t parameters, Owned *owned)
{
    double cut = zero == 0 ? 1 : layout_group_size(maker->spec->layout, cut_over(maker, experts));
    owned->stepped += (double)parameters / cut;
    if (zero == 1 || zero == 2)
        owned->gathered[experts] += parameters;
}

static Owned
owned_by(const TrainMaker *maker)
{
    Owned owned = {0};
    for (uint32_t c = 0; c < maker->schedule->chunks; c++)
        for (guint i = 0; i < maker->blocks[c]->len; i++) {
            const ModelBlock *block = &g_array_index(maker->blocks[c], ModelBlock, i);
            uint32_t zero = layout_zero(maker->spec->layout, block->kind);
            own(maker, zero, FALSE, block->shared_parameters + block->replicated_parameters + block->tied_parameters,
                &owned);
            own(maker, zero, TRUE, block->kind == BLOCK_TABLES ? 0 : block->expert_parameters, &owned);
            owned.replicated += block->replicated_parameters;
            owned.tied += block->kind == BLOCK_EMBEDDING ? block->shared_parameters : block->tied_parameters;
        }
    return owned;
}

/* Adam in mixed precision: reads the gradient, reads and writes master weights and two moments in fp32, writes the
 * weight. */
static double
optimiser_bytes(const TrainMaker *maker)
{
    const ModelDescription *model = maker->spec->model;
    return maker->spec->optimiser_B >= 0 ? maker->spec->optimiser_B : model->gradient_B + 24.0 + model->value_B;
}

static void
step_optimiser(TrainMaker *maker, const Owned *owned)
{
    Op op = op_default(OP_COMPUTE);
    op.bytes_moved = owned->stepped * optimiser_bytes(maker);
    if (op.bytes_moved > 0)
        maker->last = train_add(maker, op, train_stream(maker, STREAM_COMPUTE), INDEX_NONE, "optimiser",
                                (uint32_t *)maker->ends->data, maker->ends->len);
}

void
train_finish(TrainMaker *maker)
{
    const TrainSpec *spec = maker->spec;
    const Layout *layout = spec->layout;
    Owned owned = owned_by(maker);
    g_strlcpy(maker->step, "end", sizeof(maker->step));
    uint32_t last = maker->last;
    for (guint i = 0; i < maker->later->len; i++) {
        const Later *later = &g_array_index(maker->later, Later, i);
        gboolean second = later->group == GROUP_OF_REPLICA; /* behind the reduce-scatter that stands before it */
        issue(maker, later, second ? g_array_index(maker->ends, uint32_t, maker->ends->len - 1) : last);
    }
    if (layout->sequence_parallel) { /* each rank of tp saw its own tokens only */
        uint32_t end =
            train_collect(maker, GROUP_OF_TP, COLLECTIVE_ALL_REDUCE, owned.replicated * spec->model->gradient_B,
                          INDEX_NONE, "replicated gradients", last);
        g_array_append_val(maker->ends, end);
    }
    gboolean ends = maker->stage == 0 || maker->stage + 1 == layout->pp;
    if (ends && maker->groups[GROUP_OF_EMBEDDING] != INDEX_NONE) {
        uint32_t end = train_collect(maker, GROUP_OF_EMBEDDING, COLLECTIVE_ALL_REDUCE,
                                     owned.tied * spec->model->gradient_B, INDEX_NONE, "tied gradients", last);
        g_array_append_val(maker->ends, end);
    }
    step_optimiser(maker, &owned);
    for (int experts = 0; experts < 2; experts++)
        train_collect(maker, cut_over(maker, experts), COLLECTIVE_ALL_GATHER,
                      owned.gathered[experts] * spec->model->value_B, INDEX_NONE,
                      experts ? "expert parameters" : "parameters", maker->last);
}
