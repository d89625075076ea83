#include "workload/layers.h"

#include <assert.h>

typedef struct {
    const LayerTable *table;
    const Workload *workload;
    Program *program;
    uint32_t compute, update;  /* streams */
    uint32_t *stream_of_group; /* INDEX_NONE = none yet */
    uint32_t wait;             /* the next compute op waits for this one; INDEX_NONE = for none */
    uint32_t last;             /* last compute op */
} Maker;

LayerTable *
layer_table_new(void)
{
    LayerTable *table = g_new0(LayerTable, 1);
    table->layers = g_array_new(FALSE, TRUE, sizeof(Layer));
    return table;
}

void
layer_table_free(LayerTable *table)
{
    if (table == NULL)
        return;
    for (guint i = 0; i < table->layers->len; i++)
        g_free(g_array_index(table->layers, Layer, i).name);
    g_array_unref(table->layers);
    g_free(table);
}

Layer *
layer_table_add(LayerTable *table, const char *name)
{
    Layer layer = {.name = g_strdup(name)};
    g_array_append_val(table->layers, layer);
    return &g_array_index(table->layers, Layer, table->layers->len - 1);
}

uint32_t
layers_add_axis(Workload *workload, const char *name, uint32_t stride, uint32_t size)
{
    assert(workload->n_ranks % ((uint64_t)stride * size) == 0);
    g_autofree uint32_t *members = g_new(uint32_t, size);
    uint32_t group = INDEX_NONE;
    for (uint32_t first = 0; first < workload->n_ranks; first++) {
        if (first / stride % size != 0)
            continue;
        for (uint32_t i = 0; i < size; i++)
            members[i] = first + i * stride;
        if (group == INDEX_NONE)
            group = workload_add_group(workload, name, members, size);
        else
            workload_add_instance(workload, group, members, size);
    }
    return group;
}

static uint32_t
add(Maker *maker, Op op, uint32_t stream, const char *verb, const Layer *layer, uint32_t dep)
{
    g_autofree char *name = g_strdup_printf("%s %s", verb, layer->name);
    op.stream = stream;
    return program_add_op(maker->program, op, name, &dep, dep != INDEX_NONE);
}

static uint32_t
group_size(const Maker *maker, uint32_t group)
{
    const Group *of = g_ptr_array_index(maker->workload->groups, group);
    return ((const GArray *)g_ptr_array_index(of->instances, 0))->len;
}

/* The collective of a pass after op dep; its index, or dep where it has none or nobody to talk to. */
static uint32_t
collect(Maker *maker, const Layer *layer, LayerPass pass, uint32_t dep)
{
    static const char *const verbs[] = {"forward of", "input gradient of", "weight gradient of"};
    const LayerWork *work = &layer->work[pass];
    if (!work->collects || group_size(maker, work->group) < 2)
        return dep;
    uint32_t *stream = &maker->stream_of_group[work->group];
    if (*stream == INDEX_NONE) {
        const Group *group = g_ptr_array_index(maker->workload->groups, work->group);
        *stream = program_add_stream(maker->program, group->name, FALSE);
    }
    Op op = op_default(OP_COLLECTIVE);
    op.collective = work->kind;
    op.group = work->group;
    op.bytes = work->bytes;
    return add(maker, op, *stream, verbs[pass], layer, dep);
}

/* The compute op of a pass, behind what must be waited for. */
static void
compute(Maker *maker, const Layer *layer, LayerPass pass)
{
    static const char *const verbs[] = {"forward", "input gradient", "weight gradient"};
    const LayerWork *work = &layer->work[pass];
    Op op = op_default(OP_COMPUTE);
    op.duration_ps = work->duration_ps;
    op.flops = work->flops;
    op.bytes_moved = work->bytes_moved;
    maker->last = add(maker, op, maker->compute, verbs[pass], layer, maker->wait);
    maker->wait = INDEX_NONE;
}

static void
memory(Maker *maker, const Layer *layer, OpKind kind)
{
    Op op = op_default(kind);
    op.bytes = layer->activation_B;
    if (op.bytes > 0)
        add(maker, op, maker->compute, kind == OP_ALLOC ? "keep" : "drop", layer, INDEX_NONE);
}

/* A pass whose collective the next layer waits for. */
static void
blocking(Maker *maker, const Layer *layer, LayerPass pass)
{
    compute(maker, layer, pass);
    uint32_t end = collect(maker, layer, pass, maker->last);
    maker->wait = end != maker->last ? end : INDEX_NONE;
}

static void
weight_gradient(Maker *maker, const Layer *layer)
{
    compute(maker, layer, PASS_WEIGHT_GRADIENT);
    uint32_t end = collect(maker, layer, PASS_WEIGHT_GRADIENT, maker->last);
    if (layer->update_ps == 0)
        return;
    if (maker->update == INDEX_NONE)
        maker->update = program_add_stream(maker->program, "update", FALSE);
    Op op = op_default(OP_COMPUTE);
    op.duration_ps = layer->update_ps;
    add(maker, op, maker->update, "update", layer, end);
}

static void
backward(Maker *maker, uint32_t index)
{
    const Layer *layers = (const Layer *)maker->table->layers->data, *layer = &layers[index];
    if (layer->recomputes) {
        uint32_t first = index;
        while (first > 0 && !layers[first - 1].checkpoint)
            first--;
        for (uint32_t i = first; i <= index; i++)
            blocking(maker, &layers[i], PASS_FORWARD);
    }
    if (maker->table->input_first) {
        blocking(maker, layer, PASS_INPUT_GRADIENT);
        weight_gradient(maker, layer);
    } else {
        weight_gradient(maker, layer);
        if (!maker->table->no_backward_input && (index > 0 || !maker->table->no_input))
            blocking(maker, layer, PASS_INPUT_GRADIENT);
    }
    memory(maker, layer, OP_FREE);
}

static void
passes(Maker *maker)
{
    const LayerTable *table = maker->table;
    const Layer *layers = (const Layer *)table->layers->data;
    for (uint32_t i = 0; i < table->layers->len; i++) {
        if (table->communication) {
            collect(maker, &layers[i], PASS_WEIGHT_GRADIENT, INDEX_NONE);
            continue;
        }
        memory(maker, &layers[i], OP_ALLOC);
        blocking(maker, &layers[i], PASS_FORWARD);
        if (table->forward_only)
            memory(maker, &layers[i], OP_FREE);
    }
    if (!table->communication && !table->forward_only)
        for (uint32_t i = table->layers->len; i-- > 0;)
            backward(maker, i);
}

gboolean
layers_fill(const LayerTable *table, Workload *workload, GError **error)
{
    uint32_t index = workload_add_program(workload, FALSE);
    Maker maker = {.table = table,
                   .workload = workload,
                   .program = workload_program(workload, index),
                   .update = INDEX_NONE,
                   .wait = INDEX_NONE,
                   .stream_of_group = g_new(uint32_t, workload->groups->len + 1)};
    for (uint32_t g = 0; g < workload->groups->len; g++)
        maker.stream_of_group[g] = INDEX_NONE;
    maker.program->name = g_strdup("all ranks");
    maker.compute = program_add_stream(maker.program, "compute", FALSE);
    passes(&maker);
    g_free(maker.stream_of_group);
    for (uint32_t r = 0; r < workload->n_ranks; r++)
        workload->program_of_rank[r] = index;
    return workload_check(workload, error);
}
