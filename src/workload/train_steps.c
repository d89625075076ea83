/* train_steps.c - one step of the schedule: a micro-batch forward, backward, or its weight gradients
 *
 * What comes from the stage before, the layers of the chunk in their order, what goes to the stage behind. */
#include "workload/train_maker.h"

#include <string.h>

/* The message of a virtual stage's output: 0 forward, 1 backward. Matched by its own tag. */
static Op
message_op(const TrainMaker *maker, OpKind kind, const Step *step, uint32_t backward, uint32_t sender)
{
    Op op = op_default(kind);
    op.peer_form = PEER_OFFSET;
    op.group = maker->groups[GROUP_OF_PP];
    op.peer = (kind == OP_SEND) == !backward ? 1 : -1;
    op.tag = ((uint64_t)step->micro_batch * maker->schedule->chunks * maker->schedule->stages + sender) * 2 + backward;
    return op;
}

/* Bytes of a stage's output: of the layer before the receiving stage's first. */
static uint64_t
boundary_bytes(const TrainMaker *maker, uint32_t virtual_stage)
{
    uint32_t first, end;
    ModelBlock block;
    layout_stage(maker->spec->layout, maker->spec->model, virtual_stage, &first, &end);
    uint32_t n = model_n_blocks(maker->spec->model, end - 1);
    model_block(maker->spec->model, end - 1, n - 1, &maker->shard, &block);
    return block.output_B;
}

static void
receive(TrainMaker *maker, const Step *step, uint32_t backward, uint32_t sender, uint64_t bytes)
{
    Op op = message_op(maker, OP_RECV, step, backward, sender);
    gboolean cut = maker->spec->layout->scatter_gather;
    maker->ready = train_add(maker, op, train_stream(maker, backward ? STREAM_RECV_B : STREAM_RECV_F), INDEX_NONE,
                             "receive", NULL, 0);
    if (cut)
        train_block_on(maker, GROUP_OF_TP, COLLECTIVE_ALL_GATHER, bytes, INDEX_NONE, "received");
}

static void
send(TrainMaker *maker, const Step *step, uint32_t backward, uint32_t sender, uint64_t bytes)
{
    Op op = message_op(maker, OP_SEND, step, backward, sender);
    op.bytes = maker->spec->layout->scatter_gather ? bytes / maker->spec->layout->tp : bytes;
    train_add(maker, op, train_stream(maker, backward ? STREAM_SEND_B : STREAM_SEND_F), INDEX_NONE, "send",
              &maker->ready, 1);
}

static const ModelBlock *
block_at(const TrainMaker *maker, uint32_t chunk, uint32_t index)
{
    return &g_array_index(maker->blocks[chunk], ModelBlock, index);
}

/* Blocks of the layer that index is in: their first, and how many. */
static uint32_t
layer_of(const TrainMaker *maker, uint32_t chunk, uint32_t index, uint32_t *n)
{
    uint32_t layer = block_at(maker, chunk, index)->layer, first = index, end = index + 1;
    while (first > 0 && block_at(maker, chunk, first - 1)->layer == layer)
        first--;
    while (end < maker->blocks[chunk]->len && block_at(maker, chunk, end)->layer == layer)
        end++;
    *n = end - first;
    return first;
}

static void
keep(TrainMaker *maker, OpKind kind, uint32_t chunk)
{
    Op op = op_default(kind);
    for (uint32_t i = 0; i < maker->blocks[chunk]->len; i++)
        op.bytes += block_at(maker, chunk, i)->kept_B;
    if (op.bytes > 0)
        train_add(maker, op, train_stream(maker, STREAM_COMPUTE), INDEX_NONE, kind == OP_ALLOC ? "keep" : "drop", NULL,
                  0);
}

/* The next step computes once the last collective of this one has ended, as frameworks wait for them. */
static void
step_ended(TrainMaker *maker)
{
    g_array_append_val(maker->waits, maker->ready);
}

static void
unit_ended(TrainMaker *maker)
{
    g_array_append_val(maker->units, maker->last);
}

static void
step_forward(TrainMaker *maker, const Step *step)
{
    uint32_t own = step->chunk * maker->schedule->stages + maker->stage, n;
    uint32_t last = maker->schedule->stages * maker->schedule->chunks - 1;
    maker->ready = INDEX_NONE;
    if (own > 0)
        receive(maker, step, 0, own - 1, boundary_bytes(maker, own - 1));
    keep(maker, OP_ALLOC, step->chunk);
    for (uint32_t i = 0; i < maker->blocks[step->chunk]->len; i += n) {
        layer_of(maker, step->chunk, i, &n);
        train_gather(maker, step->chunk, i, n);
        for (uint32_t k = i; k < i + n; k++)
            train_forward(maker, block_at(maker, step->chunk, k));
        unit_ended(maker);
    }
    if (own < last)
        send(maker, step, 0, own, boundary_bytes(maker, own));
    step_ended(maker);
}

/* The layer's forward pass once more, from its kept input; the backward pass waits for it and for the gradient. */
static void
recompute_layer(TrainMaker *maker, uint32_t chunk, uint32_t first, uint32_t n)
{
    BlockKind kind = block_at(maker, chunk, first)->kind;
    if (maker->spec->recompute != RECOMPUTE_FULL || (kind != BLOCK_ATTENTION && kind != BLOCK_MLP))
        return;
    uint32_t gradient = maker->ready;
    maker->ready = INDEX_NONE;
    char step[sizeof(maker->step)];
    memcpy(step, maker->step, sizeof(step));
    maker->step[0] = 'R';
    for (uint32_t k = first; k < first + n; k++)
        train_forward(maker, block_at(maker, chunk, k));
    memcpy(maker->step, step, sizeof(step));
    g_array_append_val(maker->waits, maker->ready);
    maker->ready = gradient;
}

static void
step_backward(TrainMaker *maker, const Step *step)
{
    uint32_t own = step->chunk * maker->schedule->stages + maker->stage, chunk = step->chunk, n;
    uint32_t last = maker->schedule->stages * maker->schedule->chunks - 1;
    gboolean split = maker->schedule->split;
    maker->ready = INDEX_NONE;
    if (own < last)
        receive(maker, step, 1, own + 1, boundary_bytes(maker, own));
    for (uint32_t i = maker->blocks[chunk]->len; i > 0; i -= n) {
        uint32_t first = layer_of(maker, chunk, i - 1, &n);
        train_gather(maker, chunk, first, n);
        recompute_layer(maker, chunk, first, n);
        for (uint32_t k = i; k-- > first;) {
            const ModelBlock *block = block_at(maker, chunk, k);
            train_input_gradient(maker, block, !split);
            if (block->kind == BLOCK_TOP && (k == 0 || block_at(maker, chunk, k - 1)->kind != BLOCK_TOP))
                maker->tables = train_collect(maker, GROUP_OF_EP, COLLECTIVE_ALL_TO_ALL,
                                              block_at(maker, chunk, 0)->received_B, 0, "row gradients", maker->ready);
            if (split)
                continue;
            train_weight_gradient(maker, block, FALSE);
            train_gradient(maker, chunk, block);
        }
        unit_ended(maker);
        if (!split)
            train_layer_ended(maker, chunk, block_at(maker, chunk, first)->layer);
    }
    if (own > 0)
        send(maker, step, 1, own, boundary_bytes(maker, own - 1));
    step_ended(maker);
    if (split)
        return;
    keep(maker, OP_FREE, chunk);
    train_chunk_ended(maker, chunk);
}

static void
step_weights(TrainMaker *maker, const Step *step)
{
    uint32_t chunk = step->chunk;
    maker->ready = INDEX_NONE;
    for (uint32_t i = maker->blocks[chunk]->len; i-- > 0;) {
        const ModelBlock *block = block_at(maker, chunk, i);
        train_weight_gradient(maker, block, TRUE);
        train_gradient(maker, chunk, block);
        if (i == 0 || block_at(maker, chunk, i - 1)->layer != block->layer)
            train_layer_ended(maker, chunk, block->layer);
    }
    keep(maker, OP_FREE, chunk);
    train_chunk_ended(maker, chunk);
}

void
train_step(TrainMaker *maker, const Step *step)
{
    if (step->kind == STEP_F)
        step_forward(maker, step);
    else if (step->kind == STEP_B)
        step_backward(maker, step);
    else
        step_weights(maker, step);
}
