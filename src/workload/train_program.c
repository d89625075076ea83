#include "workload/train_program.h"

#include "base/error.h"
#include "workload/train_maker.h"

#include <string.h>

TrainSpec
train_spec_default(const ModelDescription *model, const Layout *layout)
{
    return (TrainSpec){.model = model,
                       .layout = layout,
                       .micro_batch = 1,
                       .global_batch = 1,
                       .overlap_gradients = TRUE,
                       .prefetch = 1,
                       .gradients_in_flight = 1,
                       .tp_pieces = 1,
                       .optimiser_B = -1};
}

ModelShard
train_shard(const TrainSpec *spec)
{
    const Layout *layout = spec->layout;
    return (ModelShard){.micro_batch = spec->micro_batch,
                        .sequence = spec->sequence,
                        .tp = layout->tp,
                        .cp = layout->cp,
                        .ep = layout->ep,
                        .experts_whole = layout_experts_whole(layout),
                        .sequence_parallel = layout->sequence_parallel,
                        .fused_attention = spec->fused_attention,
                        .recompute = spec->recompute};
}

uint32_t
train_micro_batches(const TrainSpec *spec, GError **error)
{
    uint64_t step = (uint64_t)spec->layout->dp * spec->micro_batch;
    if (spec->global_batch >= step && spec->global_batch % step == 0)
        return (uint32_t)(spec->global_batch / step);
    error_input(error, "global_batch %u does not divide by dp %u x micro_batch %u", spec->global_batch,
                spec->layout->dp, spec->micro_batch);
    return 0;
}

PipelineSchedule *
train_schedule(const TrainSpec *spec, GError **error)
{
    const Layout *layout = spec->layout;
    uint32_t m = train_micro_batches(spec, error), chunks = layout->virtual_stages;
    if (m == 0)
        return NULL;
    if (spec->schedule_file == NULL) {
        const char *name = spec->schedule != NULL ? spec->schedule : chunks > 1 ? "interleaved" : "1f1b";
        return pipeline_schedule_new(name, layout->pp, chunks, m, error);
    }
    g_autoptr(PipelineSchedule) own = pipeline_schedule_read(spec->schedule_file, layout->pp, chunks, m, error);
    for (uint32_t s = 0; own != NULL && spec->in_flight > 0 && s < layout->pp; s++) {
        uint32_t peak = pipeline_schedule_peak(own, s);
        if (peak > spec->in_flight) {
            error_input(error, "%s: stage %u holds %u micro-batches at once, in_flight is %u", spec->schedule_file, s,
                        peak, spec->in_flight);
            return NULL;
        }
    }
    return g_steal_pointer(&own);
}

/* ---- ops ---- */

uint32_t
train_stream(TrainMaker *maker, uint32_t which)
{
    static const char *const names[TRAIN_STREAMS] = {"compute",        "activations out", "gradients out",
                                                     "activations in", "gradients in",    "parameters",
                                                     "ring out",       "ring in",         "communication"};
    if (maker->spec->one_stream && which != STREAM_COMPUTE)
        which = STREAM_ALL;
    if (maker->streams[which] == INDEX_NONE)
        maker->streams[which] = program_add_stream(maker->program, names[which], FALSE);
    return maker->streams[which];
}

uint32_t
train_add(TrainMaker *maker, Op op, uint32_t stream, uint32_t layer, const char *what, const uint32_t *deps,
          uint32_t n_deps)
{
    g_autofree char *name = layer != INDEX_NONE ? g_strdup_printf("%s/%u/%s", maker->step, layer, what)
                                                : g_strdup_printf("%s/%s", maker->step, what);
    g_autofree uint32_t *others = g_new(uint32_t, n_deps + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < n_deps; i++)
        if (deps[i] != INDEX_NONE && g_array_index(maker->program->ops, Op, deps[i]).stream != stream)
            others[n++] = deps[i]; /* its own stream is in order anyway */
    op.stream = stream;
    return program_add_op(maker->program, op, name, others, n);
}

uint32_t
train_group_stream(TrainMaker *maker, LayoutGroup group)
{
    uint32_t *stream = &maker->group_streams[group];
    if (maker->spec->one_stream)
        return train_stream(maker, STREAM_ALL);
    if (*stream == INDEX_NONE) {
        const Group *of = g_ptr_array_index(maker->workload->groups, maker->groups[group]);
        *stream = program_add_stream(maker->program, of->name, FALSE);
    }
    return *stream;
}

uint32_t
train_collect(TrainMaker *maker, LayoutGroup group, CollectiveKind kind, uint64_t bytes, uint32_t layer,
              const char *what, uint32_t dep)
{
    if (maker->groups[group] == INDEX_NONE || bytes == 0)
        return dep;
    Op op = op_default(OP_COLLECTIVE);
    op.collective = kind;
    op.group = maker->groups[group];
    op.bytes = bytes;
    return train_add(maker, op, train_group_stream(maker, group), layer, what, &dep, 1);
}

void
train_block_on(TrainMaker *maker, LayoutGroup group, CollectiveKind kind, uint64_t bytes, uint32_t layer,
               const char *what)
{
    if (kind != COLLECTIVE_KINDS)
        maker->ready = train_collect(maker, group, kind, bytes, layer, what, maker->ready);
}

/* Recorded for the kind of block; FALSE where nothing is. */
static gboolean
price_by_record(const ModelDescription *model, const ModelBlock *block, ModelPass pass, Op *op)
{
    const SimTime *times = model->block_ps[block->kind];
    if (times[PASS_OF_FORWARD] == 0 && times[PASS_OF_INPUT] == 0 && times[PASS_OF_WEIGHT] == 0)
        return FALSE;
    double part = pass == PASS_OF_WEIGHT ? block->part : 1;
    op->duration_ps = (SimTime)((double)times[pass] * part + 0.5);
    return TRUE;
}

/* A row of a table that has its times; FALSE where nothing is recorded of this pass. */
static gboolean
price_by_row(const ModelBlock *block, ModelPass pass, Op *op)
{
    SimTime weights = block->backward_ps < 0 ? -1 : (SimTime)((double)block->backward_ps * block->row_weight_share);
    const SimTime times[] = {block->forward_ps, block->backward_ps < 0 ? -1 : block->backward_ps - weights, weights};
    op->duration_ps = times[pass];
    return times[pass] >= 0;
}

/* One compute op behind ready and waits, where there is any work. */
static void
add_compute(TrainMaker *maker, Op op, uint32_t pieces, uint32_t layer, const char *what)
{
    if (op.duration_ps <= 0 && op.flops <= 0 && op.bytes_moved <= 0)
        return; /* what waits goes on waiting */
    op.flops /= pieces;
    op.bytes_moved /= pieces;
    if (op.duration_ps > 0)
        op.duration_ps = MAX(op.duration_ps / pieces, 1);
    g_array_append_val(maker->waits, maker->ready);
    maker->last = train_add(maker, op, train_stream(maker, STREAM_COMPUTE), layer, what, (uint32_t *)maker->waits->data,
                            maker->waits->len);
    g_array_set_size(maker->waits, 0);
    maker->ready = maker->last;
}

void
train_compute(TrainMaker *maker, const ModelBlock *block, ModelPass pass, Recompute recompute, uint32_t pieces)
{
    static const char *const passes[] = {"", " input", " weights"};
    g_autofree char *what = g_strconcat(block->name, passes[pass], NULL);
    Op op = op_default(OP_COMPUTE);
    gboolean priced = price_by_record(maker->spec->model, block, pass, &op) || price_by_row(block, pass, &op);
    if (!priced && maker->spec->price != NULL) {
        maker->spec->price(maker->spec->price_data, block, pass, recompute, &op);
        priced = TRUE;
    }
    if (priced) {
        add_compute(maker, op, pieces, block->layer, what);
        return;
    }
    /* On the roofline GEMMs and what is element by element are kernels of their own: bound by operations, by memory. */
    Op rest = op;
    g_autofree char *other = g_strconcat(what, " rest", NULL);
    block_other(block, pass, recompute, &rest.flops, &rest.bytes_moved);
    op.flops = block_flops(block, pass, recompute) - rest.flops;
    op.bytes_moved = block_bytes(block, pass, recompute) - rest.bytes_moved;
    gboolean gemms = block->n_gemms > 0;
    if (gemms)
        add_compute(maker, op, pieces, block->layer, what);
    add_compute(maker, rest, pieces, block->layer, gemms ? other : what);
}

/* ---- programs ---- */

static void
fill_blocks(TrainMaker *maker)
{
    const ModelDescription *model = maker->spec->model;
    for (uint32_t c = 0; c < maker->schedule->chunks; c++) {
        uint32_t first, end;
        layout_stage(maker->spec->layout, model, c * maker->schedule->stages + maker->stage, &first, &end);
        maker->blocks[c] = g_array_new(FALSE, FALSE, sizeof(ModelBlock));
        for (uint32_t layer = first; layer < end; layer++)
            for (uint32_t i = 0; i < model_n_blocks(model, layer); i++) {
                ModelBlock block;
                model_block(model, layer, i, &maker->shard, &block);
                if (block.kind == BLOCK_ROW && block.n_gemms == 0 && maker->schedule->split)
                    block.row_weight_share = 0.5; /* a linear layer's two gradients cost alike */
                if (maker->spec->layout->pp == 1)
                    block.tied_parameters = 0; /* the embedding itself is here */
                g_array_append_val(maker->blocks[c], block);
            }
    }
}

static void
fill_program(TrainMaker *maker)
{
    const GArray *steps = maker->schedule->steps[maker->stage];
    train_stream(maker, STREAM_COMPUTE);
    for (guint i = 0; i < steps->len; i++) {
        const Step *step = &g_array_index(steps, Step, i);
        char letter = "FBW"[step->kind];
        if (maker->schedule->chunks > 1)
            g_snprintf(maker->step, sizeof(maker->step), "%c%u.%u", letter, step->micro_batch, step->chunk);
        else
            g_snprintf(maker->step, sizeof(maker->step), "%c%u", letter, step->micro_batch);
        train_step(maker, step);
    }
    train_finish(maker);
}

static void
maker_clear(TrainMaker *maker)
{
    for (uint32_t c = 0; c < maker->schedule->chunks; c++)
        g_array_unref(maker->blocks[c]);
    g_free(maker->blocks);
    g_free(maker->group_streams);
    g_free(maker->runs);
    g_array_unref(maker->waits);
    g_array_unref(maker->units);
    g_array_unref(maker->later);
    g_array_unref(maker->ends);
}

static uint32_t
make_program(const TrainSpec *spec, const PipelineSchedule *schedule, Workload *workload,
             const uint32_t groups[LAYOUT_GROUPS], uint32_t stage, uint32_t ep_member, gboolean several)
{
    uint32_t index = workload_add_program(workload, FALSE);
    size_t n_streams = (size_t)LAYOUT_GROUPS * (1 + spec->gradients_in_flight);
    TrainMaker maker = {.spec = spec,
                        .schedule = schedule,
                        .workload = workload,
                        .program = workload_program(workload, index),
                        .stage = stage,
                        .shard = train_shard(spec),
                        .blocks = g_new0(GArray *, schedule->chunks),
                        .group_streams = g_new(uint32_t, n_streams),
                        .ready = INDEX_NONE,
                        .last = INDEX_NONE,
                        .tables = INDEX_NONE,
                        .waits = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                        .units = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                        .runs = g_new0(uint32_t, schedule->chunks),
                        .later = g_array_new(FALSE, FALSE, sizeof(Later)),
                        .ends = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    maker.shard.ep_member = ep_member;
    memcpy(maker.groups, groups, sizeof(maker.groups));
    memset(maker.streams, 0xff, sizeof(maker.streams));
    memset(maker.group_streams, 0xff, n_streams * sizeof(uint32_t)); /* INDEX_NONE */
    maker.program->name =
        several ? g_strdup_printf("stage-%u-experts-%u", stage, ep_member) : g_strdup_printf("stage-%u", stage);
    fill_blocks(&maker);
    fill_program(&maker);
    maker_clear(&maker);
    return index;
}

/* A dozen ops a block and pass is more than any has. */
static gboolean
check_ops(const TrainSpec *spec, GError **error)
{
    uint32_t m = train_micro_batches(spec, error), members = 1;
    if (m == 0)
        return FALSE;
    if (spec->model->kind == MODEL_TRANSFORMER && spec->model->transformer.skew > 0)
        members = spec->layout->ep;
    double blocks = 0;
    for (uint32_t layer = 0; layer < model_n_layers(spec->model); layer++)
        blocks += model_n_blocks(spec->model, layer);
    double ops = (blocks * (4 + 8 * (double)spec->tp_pieces) + 8.0 * spec->layout->virtual_stages * spec->layout->pp) *
                 m * members;
    if (ops <= TRAIN_OPS_MOST)
        return TRUE;
    return error_input(error, "%u layers x %u micro-batches%s: programs of about %.3g ops, %d is the most",
                       model_n_layers(spec->model), m, members > 1 ? " x ep" : "", ops, TRAIN_OPS_MOST);
}

gboolean
train_check(const TrainSpec *spec, GError **error)
{
    const Layout *layout = spec->layout;
    ModelShard shard = train_shard(spec);
    if (!layout_check(layout, spec->model, &shard, spec->gpus, error))
        return FALSE;
    if (spec->model->kind == MODEL_DLRM && layout->pp > 1)
        return error_input(error, "pp is %u; a DLRM in stages is not built", layout->pp);
    if (spec->model->kind == MODEL_DLRM && layout->ep != layout->dp)
        return error_input(error, "ep is %u and dp %u; a DLRM's tables are cut over all replicas: ep must be dp",
                           layout->ep, layout->dp);
    if (spec->model->kind != MODEL_TRANSFORMER && spec->recompute != RECOMPUTE_NONE)
        return error_input(error, "recompute is %s; that is built for transformers", recompute_names[spec->recompute]);
    const Transformer *t = &spec->model->transformer;
    uint32_t heads = (t->kv_lora == 0 ? t->kv_heads : t->heads) / layout->tp;
    if (layout->cp > 1 && layout->cp_exchange == CONTEXT_ULYSSES && heads % layout->cp != 0)
        return error_input(error, "cp %u with cp_exchange ulysses does not divide the %u KV heads of a rank",
                           layout->cp, heads);
    if (layout->cp > 1 && layout->cp_exchange == CONTEXT_RING && spec->tp_pieces > 1)
        return error_input(error,
                           "overlap.tp_pieces %u with cp_exchange ring: attention cannot be in two kinds of pieces",
                           spec->tp_pieces);
    if (!check_ops(spec, error))
        return FALSE;
    if (spec->schedule_file != NULL)
        return TRUE;
    g_autoptr(PipelineSchedule) schedule = train_schedule(spec, error);
    return schedule != NULL;
}

Workload *
train_program(const TrainSpec *spec, GError **error)
{
    const Layout *layout = spec->layout;
    if (!train_check(spec, error))
        return NULL;
    g_autoptr(PipelineSchedule) schedule = train_schedule(spec, error);
    if (schedule == NULL)
        return NULL;
    g_autoptr(Workload) workload = workload_new((uint32_t)layout_ranks(layout));
    const ModelDescription *model = spec->model;
    gboolean tied = model->kind == MODEL_TRANSFORMER && model->transformer.tied;
    gboolean several = model->kind == MODEL_TRANSFORMER && model->transformer.skew > 0 && layout->ep > 1;
    uint32_t groups[LAYOUT_GROUPS], members = several ? layout->ep : 1;
    layout_add_groups(layout, tied, workload, groups);
    for (uint32_t stage = 0; stage < layout->pp; stage++)
        for (uint32_t e = 0; e < members; e++)
            make_program(spec, schedule, workload, groups, stage, e, several);
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        const Group *ep = several ? g_ptr_array_index(workload->groups, groups[GROUP_OF_EP]) : NULL;
        workload->program_of_rank[r] = layout_place(layout, AXIS_PP, r) * members +
                                       (ep != NULL ? g_array_index(ep->member_of_rank, uint32_t, r) : 0);
    }
    workload->description = g_strdup_printf("%s, tp %u cp %u ep %u dp %u pp %u zero %u, %s, %u micro-batches of %u",
                                            model->name, layout->tp, layout->cp, layout->ep, layout->dp, layout->pp,
                                            layout->zero, schedule->name, schedule->micro_batches, spec->micro_batch);
    return workload_check(workload, error) ? g_steal_pointer(&workload) : NULL;
}
