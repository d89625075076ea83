/* train_blocks.c - one block forward and backward: its work and what its ranks exchange around it */
#include "workload/train_maker.h"

/* Blocks whose first GEMM is cut by columns and last by rows: their input comes whole, their output is a sum. */
static gboolean
is_paired(BlockKind kind)
{
    return kind == BLOCK_ATTENTION || kind == BLOCK_MLP || kind == BLOCK_EXPERTS;
}

static gboolean
with_sequence(const TrainMaker *maker)
{
    return maker->shard.sequence_parallel;
}

/* Of a block's weight gradients those that are there before the input's gradient is: of a row-parallel last GEMM, which
 * runs backward first; of experts all, whose kernels do both at once. The rest runs beside the collective of the input
 * gradient. */
static ModelBlock
weights_of(const ModelBlock *block, gboolean before)
{
    ModelBlock part = *block;
    uint32_t last = 0;
    double all = 0, taken = 0;
    for (uint32_t i = 0; i < block->n_gemms; i++)
        last = block->gemms[i].weight ? i : last;
    part.n_gemms = 0;
    for (uint32_t i = 0; i < block->n_gemms; i++) {
        double flops = block->gemms[i].weight ? gemm_flops(&block->gemms[i]) : 0;
        all += flops;
        if ((block->kind == BLOCK_EXPERTS || (is_paired(block->kind) && i == last)) != before)
            continue;
        taken += flops;
        part.gemms[part.n_gemms++] = block->gemms[i];
    }
    part.part = all > 0 ? taken / all : 0;
    return part;
}

/* Is there a collective for the rest to run beside? */
static gboolean
comes_apart(const ModelBlock *block)
{
    return is_paired(block->kind) && (block->reduced_B > 0 || block->routed_B > 0);
}

/* Work between a collective before it and one behind it, both over tp and of reduced_B; in pieces each of which goes
 * its way as soon as it can. before and behind: COLLECTIVE_KINDS = none. */
typedef struct {
    ModelPass pass;
    Recompute recompute;
    CollectiveKind before, behind;
    const char *before_name, *behind_name;
    gboolean weights; /* those that are there before the input's gradient */
    gboolean extra;   /* one more all-gather beside the work, of what the weight gradient reads */
} Around;

/* The i-th of n parts of bytes. */
static uint64_t
part(uint64_t bytes, uint32_t i, uint32_t n)
{
    return (bytes / n) * (i + 1) + bytes % n * (i + 1) / n - (bytes / n) * i - bytes % n * i / n;
}

static gboolean
exchanges(const TrainMaker *maker, const ModelBlock *block, ContextExchange how)
{
    return block->context_B > 0 && maker->spec->layout->cp_exchange == how;
}

/* Keys and values (backward: their gradients too) go round the ranks of cp while a rank works on those it has: as many
 * pieces of work as ranks, each but the first behind what came in the round before. */
static void
run_ring(TrainMaker *maker, const ModelBlock *block, const Around *around)
{
    uint32_t cp = maker->shard.cp, here = maker->ready;
    for (uint32_t i = 0; i < cp; i++) {
        uint32_t came = INDEX_NONE;
        if (i + 1 < cp) {
            Op send = op_default(OP_SEND), receive = op_default(OP_RECV);
            send.peer_form = receive.peer_form = PEER_OFFSET;
            send.group = receive.group = maker->groups[GROUP_OF_CP];
            send.peer = 1;
            receive.peer = -1;
            send.bytes = block->context_B * (around->pass == PASS_OF_FORWARD ? 1 : 2);
            train_add(maker, send, train_stream(maker, STREAM_RING_OUT), block->layer, "round", &here, 1);
            came = train_add(maker, receive, train_stream(maker, STREAM_RING_IN), block->layer, "round", NULL, 0);
        }
        maker->ready = here;
        train_compute(maker, block, around->pass, around->recompute, cp);
        here = came;
    }
}

/* Heads are cut instead of tokens: before attention, or (back) tokens again behind it. */
static void
turn_heads(TrainMaker *maker, const ModelBlock *block, gboolean back, const char *what)
{
    if (exchanges(maker, block, CONTEXT_ULYSSES))
        train_block_on(maker, GROUP_OF_CP, COLLECTIVE_ALL_TO_ALL, block->query_B + (back ? 0 : block->context_B),
                       block->layer, what);
}

static uint32_t
run_around(TrainMaker *maker, const ModelBlock *block, const Around *around)
{
    uint32_t pieces = block->reduced_B > 0 ? maker->spec->tp_pieces : 1, extra = INDEX_NONE;
    uint32_t entry = maker->ready, left = INDEX_NONE;
    for (uint32_t i = 0; i < pieces; i++) {
        uint64_t bytes = part(block->reduced_B, i, pieces);
        maker->ready = entry;
        if (around->before != COLLECTIVE_KINDS)
            train_block_on(maker, GROUP_OF_TP, around->before, bytes, block->layer, around->before_name);
        if (around->extra && i == 0)
            extra = train_collect(maker, GROUP_OF_TP, COLLECTIVE_ALL_GATHER, block->reduced_B, block->layer,
                                  "input again", entry);
        if (exchanges(maker, block, CONTEXT_RING))
            run_ring(maker, block, around);
        else
            train_compute(maker, block, around->pass, around->recompute, pieces);
        if (around->weights && i + 1 == pieces) {
            ModelBlock before = weights_of(block, TRUE);
            if (extra != INDEX_NONE && block->kind == BLOCK_EXPERTS)
                g_array_append_val(maker->waits, extra);
            train_compute(maker, &before, PASS_OF_WEIGHT, RECOMPUTE_NONE, 1);
        }
        if (around->behind != COLLECTIVE_KINDS)
            train_block_on(maker, GROUP_OF_TP, around->behind, bytes, block->layer, around->behind_name);
        left = maker->ready;
    }
    maker->ready = left;
    return extra;
}

/* Tokens go to their experts, or what came of them comes back; there (dispatch) or back (combine). */
static void
route(TrainMaker *maker, const ModelBlock *block, gboolean back, const char *what)
{
    uint32_t ep = maker->shard.ep;
    if (block->routed_B == 0)
        return;
    Op op = op_default(OP_COLLECTIVE);
    op.collective = COLLECTIVE_ALL_TO_ALL;
    op.group = maker->groups[GROUP_OF_EP];
    op.bytes = back ? block->received_B : block->routed_B;
    if (maker->spec->model->transformer.skew > 0) {
        g_autofree uint64_t *splits = g_new(uint64_t, ep);
        model_routed_splits(maker->spec->model, &maker->shard, splits);
        for (uint32_t i = 0; back && i < ep; i++)
            splits[i] = block->received_B / ep; /* all have sent alike */
        op.splits = workload_add_splits(maker->workload, splits, ep);
    }
    if (op.bytes > 0 || op.splits != INDEX_NONE)
        maker->ready =
            train_add(maker, op, train_group_stream(maker, GROUP_OF_EP), block->layer, what, &maker->ready, 1);
}

void
train_forward(TrainMaker *maker, const ModelBlock *block)
{
    gboolean sequence = with_sequence(maker), experts = block->kind == BLOCK_EXPERTS;
    Around around = {PASS_OF_FORWARD, RECOMPUTE_NONE, COLLECTIVE_KINDS, COLLECTIVE_KINDS, "input", "output",
                     FALSE,           FALSE};
    if (sequence && (is_paired(block->kind) || block->kind == BLOCK_HEAD))
        around.before = COLLECTIVE_ALL_GATHER;
    if (is_paired(block->kind) || block->kind == BLOCK_EMBEDDING)
        around.behind = sequence ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    if (exchanges(maker, block, CONTEXT_GATHER))
        train_block_on(maker, GROUP_OF_CP, COLLECTIVE_ALL_GATHER, block->context_B * maker->shard.cp, block->layer,
                       "context");
    turn_heads(maker, block, FALSE, "heads");
    if (block->kind == BLOCK_TOP && maker->tables != INDEX_NONE) {
        g_array_append_val(maker->waits, maker->tables);
        maker->tables = INDEX_NONE;
    }
    if (!experts) {
        run_around(maker, block, &around);
        turn_heads(maker, block, TRUE, "tokens");
    } else {
        route(maker, block, FALSE, "dispatch");
        train_block_on(maker, GROUP_OF_TP, COLLECTIVE_ALL_GATHER, block->gathered_B, block->layer, "rows");
        Around none = around;
        none.behind = COLLECTIVE_KINDS;
        run_around(maker, block, &none);
        train_block_on(maker, GROUP_OF_TP, COLLECTIVE_REDUCE_SCATTER, block->gathered_B, block->layer, "rows back");
        route(maker, block, TRUE, "combine");
        train_block_on(maker, GROUP_OF_TP, around.behind, block->reduced_B, block->layer, "output");
    }
    if (block->kind == BLOCK_TABLES) { /* beside the bottom MLP */
        maker->tables = train_collect(maker, GROUP_OF_EP, COLLECTIVE_ALL_TO_ALL, block->routed_B, block->layer, "rows",
                                      maker->ready);
        maker->ready = INDEX_NONE;
    }
}

void
train_input_gradient(TrainMaker *maker, const ModelBlock *block, gboolean weights_follow)
{
    gboolean sequence = with_sequence(maker), experts = block->kind == BLOCK_EXPERTS;
    Around around = {PASS_OF_INPUT,    RECOMPUTE_NONE, COLLECTIVE_KINDS, COLLECTIVE_KINDS, "output gradient",
                     "input gradient", FALSE};
    Recompute recompute = maker->spec->recompute;
    around.recompute = recompute == RECOMPUTE_SELECTIVE ? recompute : RECOMPUTE_NONE; /* full: ran forward again */
    if (sequence && (is_paired(block->kind) || block->kind == BLOCK_EMBEDDING))
        around.before = COLLECTIVE_ALL_GATHER;
    if (is_paired(block->kind) || block->kind == BLOCK_HEAD)
        around.behind = sequence ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_REDUCE;
    around.extra = weights_follow && sequence && (is_paired(block->kind) || block->kind == BLOCK_HEAD);
    around.weights = weights_follow && comes_apart(block);
    uint32_t gathered = exchanges(maker, block, CONTEXT_GATHER) ? maker->shard.cp : 0;
    turn_heads(maker, block, TRUE, "token gradients");
    train_block_on(maker, GROUP_OF_CP, COLLECTIVE_ALL_GATHER, block->context_B * gathered, block->layer,
                   "context again");
    if (block->kind == BLOCK_TABLES && maker->tables != INDEX_NONE) {
        maker->ready = maker->tables;
        maker->tables = INDEX_NONE;
    }
    uint32_t extra;
    if (!experts) {
        extra = run_around(maker, block, &around);
        turn_heads(maker, block, FALSE, "head gradients");
    } else {
        train_block_on(maker, GROUP_OF_TP, around.before, block->reduced_B, block->layer, around.before_name);
        route(maker, block, FALSE, "combine backward");
        train_block_on(maker, GROUP_OF_TP, COLLECTIVE_ALL_GATHER, block->gathered_B, block->layer, "row gradients");
        Around none = around;
        none.before = none.behind = COLLECTIVE_KINDS;
        extra = run_around(maker, block, &none);
        train_block_on(maker, GROUP_OF_TP, COLLECTIVE_REDUCE_SCATTER, block->gathered_B, block->layer,
                       "row gradients back");
        route(maker, block, TRUE, "dispatch backward");
        train_block_on(maker, GROUP_OF_TP, around.behind, block->reduced_B, block->layer, around.behind_name);
    }
    train_block_on(maker, GROUP_OF_CP, COLLECTIVE_REDUCE_SCATTER, block->context_B * gathered, block->layer,
                   "context gradient");
    if (extra != INDEX_NONE)
        g_array_append_val(maker->waits, extra);
}

void
train_weight_gradient(TrainMaker *maker, const ModelBlock *block, gboolean alone)
{
    uint32_t ready = maker->ready;
    maker->ready = INDEX_NONE; /* what it needs is there: the input gradient ran before it on this stream */
    if (alone && with_sequence(maker) && (is_paired(block->kind) || block->kind == BLOCK_HEAD))
        train_block_on(maker, GROUP_OF_TP, COLLECTIVE_ALL_GATHER, block->reduced_B, block->layer, "input again");
    if (alone || !comes_apart(block)) {
        train_compute(maker, block, PASS_OF_WEIGHT, RECOMPUTE_NONE, 1);
    } else {
        ModelBlock rest = weights_of(block, FALSE);
        train_compute(maker, &rest, PASS_OF_WEIGHT, RECOMPUTE_NONE, 1);
    }
    maker->ready = ready;
}
