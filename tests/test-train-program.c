/* test-train-program.c - programs of training jobs: how many collectives, of how many bytes, by closed forms */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/train_program.h"

#include <string.h>

/* Collectives of a kind on a group by the ranks of one role, steps whose name begins with prefix only (NULL = all). */
typedef struct {
    uint32_t n;
    uint64_t bytes;
} Sum;

static Sum
sum_of(const Workload *workload, uint32_t program, const char *group, CollectiveKind kind, const char *prefix)
{
    Sum sum = {0};
    uint32_t index = workload_find_group(workload, group);
    const Program *p = workload_program(workload, program);
    for (guint i = 0; i < p->ops->len; i++) {
        const Op *op = &g_array_index(p->ops, Op, i);
        if (op->kind != OP_COLLECTIVE || op->group != index || op->collective != kind ||
            (prefix != NULL && !g_str_has_prefix(program_op_name(p, i), prefix)))
            continue;
        sum.n++;
        sum.bytes += op->bytes;
    }
    return sum;
}

static Sum
messages_of(const Workload *workload, uint32_t program, OpKind kind)
{
    Sum sum = {0};
    const Program *p = workload_program(workload, program);
    for (guint i = 0; i < p->ops->len; i++) {
        const Op *op = &g_array_index(p->ops, Op, i);
        sum.n += op->kind == kind;
        sum.bytes += op->kind == kind ? op->bytes : 0;
    }
    return sum;
}

static Workload *
made(const TrainSpec *spec)
{
    GError *error = NULL;
    Workload *workload = train_program(spec, &error);
    ck_assert_msg(workload != NULL, "%s", error != NULL ? error->message : "");
    return workload;
}

/* A GPT of 8 layers; b 2, s 1024, h 1024. */
static ModelDescription *
small_gpt(void)
{
    ModelDescription *model = model_new("small", MODEL_TRANSFORMER);
    model->transformer = (Transformer){.layers = 8,
                                       .hidden = 1024,
                                       .heads = 16,
                                       .vocabulary = 32000,
                                       .sequence = 1024,
                                       .bias = TRUE,
                                       .tied = TRUE,
                                       .learned = TRUE,
                                       .causal = TRUE};
    ck_assert(model_settle(model, NULL));
    return model;
}

enum { B = 2, S = 1024, H = 1024, LAYERS = 8 };

/* Four all-reduces of b s h values a layer and micro-batch, six with full recomputation; and one of the embedding
 * forward, one of the head backward. */
START_TEST(tensor_parallel_all_reduces)
{
    g_autoptr(ModelDescription) model = small_gpt();
    Layout layout = layout_default();
    layout.tp = 4;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.micro_batch = B;
    spec.global_batch = 3 * B;
    const uint32_t each[] = {4, 4, 6};
    spec.recompute = (Recompute)_i;
    g_autoptr(Workload) workload = made(&spec);
    Sum sum = sum_of(workload, 0, "tp", COLLECTIVE_ALL_REDUCE, NULL);
    ck_assert_uint_eq(sum.n, 3 * (each[_i] * LAYERS + 2));
    ck_assert_uint_eq(sum.bytes, sum.n * 2ull * B * S * H);
    ck_assert_uint_eq(sum_of(workload, 0, "tp", COLLECTIVE_ALL_GATHER, NULL).n, 0);
}
END_TEST

/* With sequence parallelism the same bytes as all-gathers and reduce-scatters; in the backward pass one more
 * all-gather a column-parallel GEMM (two a layer, and the head's). */
START_TEST(sequence_parallel)
{
    g_autoptr(ModelDescription) model = small_gpt();
    Layout layout = layout_default();
    layout.tp = 4;
    layout.sequence_parallel = TRUE;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.micro_batch = B;
    spec.global_batch = 3 * B;
    spec.recompute = (Recompute)_i;
    spec.tp_pieces = _i == 0 ? 4 : 1;
    g_autoptr(Workload) workload = made(&spec);
    uint64_t whole = 2ull * B * S * H, each = _i == RECOMPUTE_FULL ? 6 : 4;
    Sum gathers = sum_of(workload, 0, "tp", COLLECTIVE_ALL_GATHER, NULL);
    Sum scatters = sum_of(workload, 0, "tp", COLLECTIVE_REDUCE_SCATTER, NULL);
    ck_assert_uint_eq(scatters.bytes, 3 * (each * LAYERS + 2) * whole);
    ck_assert_uint_eq(gathers.bytes, scatters.bytes + 3 * (2 * LAYERS + 1) * whole);
    if (_i > 0)
        ck_assert_uint_eq(scatters.n, 3 * (each * LAYERS + 2));
    /* each rank's norms and row-parallel biases saw its own tokens: two norms (2 h each) and two biases a layer, the
     * last norm, the positions */
    Sum own = sum_of(workload, 0, "tp", COLLECTIVE_ALL_REDUCE, NULL);
    ck_assert_uint_eq(own.n, 1);
    ck_assert_uint_eq(own.bytes, 2ull * (LAYERS * 6 * H + 2 * H + S * H));
}
END_TEST

/* 2 b s h bytes / cp go to the next stage, / tp with sequence parallelism or scatter-gather; m a way. */
START_TEST(pipeline_messages)
{
    g_autoptr(ModelDescription) model = small_gpt();
    static const struct {
        uint32_t tp, cp, v;
        gboolean sequence, scatter;
        uint64_t bytes;
    } cases[] = {{1, 1, 1, 0, 0, 2ull * B * S * H},     {2, 1, 1, 0, 0, 2ull * B * S * H},
                 {2, 1, 1, 1, 0, 2ull * B * S * H / 2}, {4, 1, 1, 0, 1, 2ull * B * S * H / 4},
                 {1, 4, 1, 0, 0, 2ull * B * S * H / 4}, {2, 2, 2, 1, 0, 2ull * B * S * H / 4}};
    Layout layout = layout_default();
    layout.pp = 4;
    layout.tp = cases[_i].tp;
    layout.cp = cases[_i].cp;
    layout.virtual_stages = cases[_i].v;
    layout.sequence_parallel = cases[_i].sequence;
    layout.scatter_gather = cases[_i].scatter;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.micro_batch = B;
    spec.global_batch = 8 * B;
    g_autoptr(Workload) workload = made(&spec);
    ck_assert_uint_eq(workload->programs->len, 4);
    for (uint32_t stage = 0; stage < 4; stage++) {
        uint32_t chunks = cases[_i].v, ends = (stage == 0) + (stage == 3);
        Sum sent = messages_of(workload, stage, OP_SEND), received = messages_of(workload, stage, OP_RECV);
        ck_assert_uint_eq(sent.n, 8 * (2 * chunks - ends));
        ck_assert_uint_eq(sent.bytes, sent.n * cases[_i].bytes);
        ck_assert_uint_eq(received.n, sent.n);
    }
}
END_TEST

/* Sum over the ranks of one replica of what they reduce over dp: each parameter's gradient once; those that every rank
 * of tp has whole tp times; a tied embedding where it lives, on the first and on the last stage, which all-reduce it
 * between them. */
START_TEST(gradient_bytes)
{
    static const struct {
        const char *model;
        uint32_t tp, pp, v, zero;
        uint64_t bucket_B;
        gboolean overlap;
    } cases[] = {{"sc21-18b", 8, 4, 1, 0, 0, TRUE},          {"sc21-18b", 2, 1, 1, 0, 25000000, TRUE},
                 {"llama-3-8b", 8, 4, 2, 1, 40000000, TRUE}, {"llama-3-8b", 1, 8, 1, 2, 0, FALSE},
                 {"llama-3-8b", 4, 2, 1, 3, 0, TRUE},        {"deepseek-v3", 4, 61, 1, 1, 500000000, FALSE}};
    g_autoptr(ModelDescription) model = model_preset(cases[_i].model, NULL);
    Layout layout = layout_default();
    layout.tp = cases[_i].tp;
    layout.pp = cases[_i].pp;
    layout.virtual_stages = cases[_i].v;
    layout.dp = 2;
    layout.zero = cases[_i].zero;
    TrainSpec spec = train_spec_default(model, &layout);
    uint32_t m = spec.global_batch = 16;
    m /= 2;
    spec.bucket_B = cases[_i].bucket_B;
    spec.overlap_gradients = cases[_i].overlap;
    g_autoptr(Workload) workload = made(&spec);
    CollectiveKind kind = layout.zero == 0 ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_REDUCE_SCATTER;
    uint64_t sum = 0, replicated = 0, tied = 0;
    for (uint32_t stage = 0; stage < layout.pp; stage++)
        sum += layout.tp *
               (sum_of(workload, stage, "dp", kind, NULL).bytes + sum_of(workload, stage, "edp", kind, NULL).bytes);
    ModelShard whole = model_shard_default();
    for (uint32_t layer = 0; layer < model_n_layers(model); layer++)
        for (uint32_t i = 0; i < model_n_blocks(model, layer); i++) {
            ModelBlock block;
            model_block(model, layer, i, &whole, &block);
            replicated += block.replicated_parameters;
            tied += layout.pp > 1 ? block.tied_parameters : 0;
        }
    uint64_t each = 2 * (layout.zero >= 2 ? m : 1);
    ck_assert_uint_eq(sum, each * (model_parameters(model) + (layout.tp - 1) * replicated + tied));
    if (layout.tp == 1 && tied == 0)
        ck_assert_uint_eq(sum, each * model_parameters(model));
    Sum ends = sum_of(workload, 0, "embedding", COLLECTIVE_ALL_REDUCE, NULL);
    ck_assert_uint_eq(ends.bytes * layout.tp, 2 * tied);
    ck_assert_uint_eq(sum_of(workload, layout.pp - 1, "embedding", COLLECTIVE_ALL_REDUCE, NULL).bytes, ends.bytes);
}
END_TEST

/* m micro-batches: ZeRO-3 has 2 m all-gathers and m reduce-scatters of everything, ZeRO-2 m reduce-scatters and one
 * all-gather, ZeRO-1 one of each, without ZeRO one all-reduce. */
START_TEST(zero_stages)
{
    g_autoptr(ModelDescription) model = model_preset("llama-3-8b", NULL);
    uint64_t all = 2 * model_parameters(model), m = 6;
    const uint64_t gathers[] = {0, 1, 1, 2 * m}, scatters[] = {0, 1, m, m};
    Layout layout = layout_default();
    layout.dp = 4;
    layout.zero = (uint32_t)_i;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.global_batch = (uint32_t)m * 4;
    g_autoptr(Workload) workload = made(&spec);
    ck_assert_uint_eq(sum_of(workload, 0, "dp", COLLECTIVE_ALL_REDUCE, NULL).bytes, _i == 0 ? all : 0);
    Sum gathered = sum_of(workload, 0, "dp", COLLECTIVE_ALL_GATHER, NULL);
    Sum scattered = sum_of(workload, 0, "dp", COLLECTIVE_REDUCE_SCATTER, NULL);
    ck_assert_uint_eq(gathered.bytes, gathers[_i] * all);
    ck_assert_uint_eq(scattered.bytes, scatters[_i] * all);
    if (_i == 3) { /* a layer at a time: embedding, 32, head */
        ck_assert_uint_eq(gathered.n, 2 * m * 34);
        ck_assert_uint_eq(scattered.n, m * 34);
    }
}
END_TEST

/* A stage a kind of block: attention 3, FFN 1, embedding and head (with its norm) 0. */
START_TEST(zero_by_block)
{
    g_autoptr(ModelDescription) model = model_preset("llama-3-8b", NULL);
    uint64_t ends = 2ull * (2 * 128256 * 4096ull + 4096), m = 5;
    uint64_t attention = 2ull * 32 * (2 * 4096 * 4096 + 2 * 4096 * 1024 + 4096),
             ffn = 2ull * 32 * (3 * 4096 * 14336 + 4096);
    ck_assert_uint_eq(ends + attention + ffn, 2 * model_parameters(model));
    Layout layout = layout_default();
    layout.dp = 4;
    layout.zero_of[BLOCK_ATTENTION] = 3;
    layout.zero_of[BLOCK_MLP] = 1;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.global_batch = (uint32_t)m * 4;
    g_autoptr(Workload) workload = made(&spec);
    ck_assert_uint_eq(sum_of(workload, 0, "dp", COLLECTIVE_ALL_REDUCE, NULL).bytes, ends);
    ck_assert_uint_eq(sum_of(workload, 0, "dp", COLLECTIVE_ALL_GATHER, NULL).bytes, 2 * m * attention + ffn);
    ck_assert_uint_eq(sum_of(workload, 0, "dp", COLLECTIVE_REDUCE_SCATTER, NULL).bytes, m * attention + ffn);
    /* the optimiser steps a fourth of what is cut: 28 bytes a parameter */
    const Program *p = workload_program(workload, 0);
    double bytes = 0;
    for (guint i = 0; i < p->ops->len; i++)
        if (strcmp(program_op_name(p, i), "end/optimiser") == 0)
            bytes += g_array_index(p->ops, Op, i).bytes_moved;
    ck_assert_double_eq(bytes, 14.0 * ((double)ends + (double)(attention + ffn) / 4));
}
END_TEST

/* Partition groups of 4 among 8 replicas: all of ZeRO-3 inside them, and once an all-reduce of each rank's quarter. */
START_TEST(hybrid_shard)
{
    g_autoptr(ModelDescription) model = model_preset("llama-3-8b", NULL);
    uint64_t all = 2 * model_parameters(model), m = 3;
    Layout layout = layout_default();
    layout.dp = 8;
    layout.zero = 3;
    layout.shard_ranks = 4;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.global_batch = (uint32_t)m * 8;
    spec.overlap_gradients = _i == 0;
    g_autoptr(Workload) workload = made(&spec);
    ck_assert_uint_eq(sum_of(workload, 0, "shard", COLLECTIVE_ALL_GATHER, NULL).bytes, 2 * m * all);
    ck_assert_uint_eq(sum_of(workload, 0, "shard", COLLECTIVE_REDUCE_SCATTER, NULL).bytes, m * all);
    Sum replicas = sum_of(workload, 0, "replica", COLLECTIVE_ALL_REDUCE, NULL);
    ck_assert_uint_eq(replicas.n, 34);
    ck_assert_uint_eq(replicas.bytes, all / 4);
    ck_assert_uint_eq(sum_of(workload, 0, "dp", COLLECTIVE_ALL_REDUCE, NULL).n, 0);
}
END_TEST

/* Four all-to-alls a layer of experts and micro-batch, six with full recomputation; of the tokens' values x top_k. */
START_TEST(expert_all_to_alls)
{
    g_autoptr(ModelDescription) model = model_preset("mixtral-8x7b", NULL);
    model->transformer.skew = _i == 2 ? 0.5 : 0;
    Layout layout = layout_default();
    layout.dp = layout.ep = 8;
    layout.pp = 2;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.sequence = 4096;
    spec.global_batch = 8 * 5;
    spec.recompute = _i == 1 ? RECOMPUTE_FULL : RECOMPUTE_NONE;
    g_autoptr(Workload) workload = made(&spec);
    ck_assert_uint_eq(workload->programs->len, _i == 2 ? 16 : 2);
    uint64_t sum = 0, each = _i == 1 ? 6 : 4, routed = 2ull * 4096 * 2 * 4096;
    for (uint32_t member = 0; member < 8; member++) {
        Sum one = sum_of(workload, _i == 2 ? member : 0, "ep", COLLECTIVE_ALL_TO_ALL, NULL);
        ck_assert_uint_eq(one.n, 5 * each * 16);
        sum += one.bytes;
    }
    ck_assert_uint_eq(sum, 8 * 5 * each * 16 * routed);
    /* experts are alone on their rank, the rest is reduced over all 8 */
    ck_assert_uint_eq(workload_find_group(workload, "edp"), INDEX_NONE);
    uint64_t dense = model_parameters(model) - 32ull * 8 * 3 * 4096 * 14336;
    ck_assert_uint_eq(sum_of(workload, 0, "dp", COLLECTIVE_ALL_REDUCE, NULL).bytes +
                          sum_of(workload, _i == 2 ? 8 : 1, "dp", COLLECTIVE_ALL_REDUCE, NULL).bytes,
                      2 * dense);
}
END_TEST

/* Experts whole where attention is cut over tp 4: ep 8 is the 4 ranks of tp in 2 replicas; each sends its own quarter
 * of the tokens, nothing is gathered over tp for the experts, and a rank holds one expert of 3 x 4,096 x 14,336. */
START_TEST(whole_experts)
{
    g_autoptr(ModelDescription) model = model_preset("mixtral-8x7b", NULL);
    model->transformer.skew = _i == 1 ? 1 : 0;
    Layout layout = layout_default();
    layout.tp = 4;
    layout.dp = 4;
    layout.ep = 8;
    layout.expert_tp = 1;
    layout.sequence_parallel = TRUE;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.sequence = 4096;
    spec.global_batch = 4 * 3;
    g_autoptr(Workload) workload = made(&spec);
    ck_assert_uint_eq(workload->n_ranks, 16);
    ck_assert_uint_eq(workload->programs->len, _i == 1 ? 8 : 1);
    uint32_t n;
    const uint32_t *members = workload_members(workload, workload_find_group(workload, "ep"), 9, &n);
    static const uint32_t expected[] = {8, 9, 10, 11, 12, 13, 14, 15};
    ck_assert_uint_eq(n, 8);
    ck_assert_mem_eq(members, expected, sizeof(expected));
    uint64_t routed = 0, rows = 4096 / 4 * 2;
    for (uint32_t member = 0; member < 8; member++)
        routed += sum_of(workload, _i == 1 ? member : 0, "ep", COLLECTIVE_ALL_TO_ALL, NULL).bytes;
    ck_assert_uint_eq(routed, 8 * 3 * 4 * 32 * rows * 4096 * 2);
    ck_assert_uint_eq(sum_of(workload, 0, "edp", COLLECTIVE_ALL_REDUCE, NULL).bytes, 2ull * 32 * 3 * 4096 * 14336);
    /* attention alone (and embedding, head) meets over tp: forward and backward of 32 layers */
    ck_assert_uint_eq(sum_of(workload, 0, "tp", COLLECTIVE_REDUCE_SCATTER, NULL).n, 3 * (2 * 32 + 2));
}
END_TEST

/* cp: keys and values of all tokens are gathered before attention, again backward, and their gradients scattered. */
START_TEST(context_exchange)
{
    g_autoptr(ModelDescription) model = model_preset("llama-3-8b", NULL);
    Layout layout = layout_default();
    layout.cp = 4;
    layout.tp = 2;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.global_batch = 3;
    g_autoptr(Workload) workload = made(&spec);
    uint64_t layer = 2ull * 8192 * 2 * (8 / 2) * 128; /* bytes x tokens x (k, v) x heads x width */
    ck_assert_uint_eq(sum_of(workload, 0, "cp", COLLECTIVE_ALL_GATHER, NULL).bytes, 3 * 32 * 2 * layer);
    ck_assert_uint_eq(sum_of(workload, 0, "cp", COLLECTIVE_REDUCE_SCATTER, NULL).bytes, 3 * 32 * layer);
    /* its ranks have the same weights */
    ck_assert_uint_eq(sum_of(workload, 0, "dp", COLLECTIVE_ALL_REDUCE, NULL).n, 1);
}
END_TEST

/* Ring: cp - 1 messages of a rank's keys and values forward, of twice that backward; the work in cp pieces, each but
 * the first behind its message. Ulysses: an all-to-all of queries, keys and values and one of as much as the queries.
 */
START_TEST(other_context_exchanges)
{
    g_autoptr(ModelDescription) model = model_preset("llama-3-8b", NULL);
    Layout layout = layout_default();
    layout.cp = 4;
    layout.tp = 2;
    layout.cp_exchange = _i == 0 ? CONTEXT_RING : CONTEXT_ULYSSES;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.global_batch = 3;
    g_autoptr(Workload) workload = made(&spec);
    uint64_t keys = 2ull * 2048 * 2 * (8 / 2) * 128, queries = 2ull * 2048 * (32 / 2) * 128;
    Sum sent = messages_of(workload, 0, OP_SEND), turned = sum_of(workload, 0, "cp", COLLECTIVE_ALL_TO_ALL, NULL);
    ck_assert_uint_eq(sum_of(workload, 0, "cp", COLLECTIVE_ALL_GATHER, NULL).n, 0);
    ck_assert_uint_eq(sent.n, _i == 0 ? 3 * 32 * 2 * 3 : 0);
    ck_assert_uint_eq(sent.bytes, _i == 0 ? 3 * 32 * 3 * 3 * keys : 0);
    ck_assert_uint_eq(turned.n, _i == 0 ? 0 : 3 * 32 * 4);
    ck_assert_uint_eq(turned.bytes, _i == 0 ? 0 : 3 * 32 * 2 * (2 * queries + keys));
    const Program *p = workload_program(workload, 0);
    uint32_t pieces = 0, waiting = 0;
    for (guint i = 0; i < p->ops->len; i++) {
        const Op *op = &g_array_index(p->ops, Op, i);
        if (op->kind != OP_COMPUTE || strcmp(program_op_name(p, i), "F0/1/attention") != 0)
            continue;
        pieces++;
        for (uint32_t d = 0; d < op->n_deps; d++)
            waiting += g_array_index(p->ops, Op, g_array_index(p->deps, uint32_t, op->first_dep + d)).kind == OP_RECV;
    }
    ck_assert_uint_eq(pieces, _i == 0 ? 4 : 1);
    ck_assert_uint_eq(waiting, _i == 0 ? 3 : 0);
}
END_TEST

/* FLOPs of all ops of all ranks = those of the model; the same under any cut and schedule. */
START_TEST(flops_are_kept)
{
    static const struct {
        uint32_t tp, cp, dp, pp, v, pieces;
        const char *schedule;
    } cases[] = {{1, 1, 1, 1, 1, 1, NULL},    {8, 1, 2, 4, 1, 4, NULL},    {2, 2, 4, 2, 4, 1, NULL},
                 {2, 1, 1, 8, 1, 1, "zb-h2"}, {1, 1, 2, 8, 1, 1, "gpipe"}, {4, 2, 1, 4, 1, 2, "zb-h1"}};
    g_autoptr(ModelDescription) model = model_preset("llama-3-8b", NULL);
    Layout layout = layout_default();
    layout.tp = cases[_i].tp;
    layout.cp = cases[_i].cp;
    layout.dp = cases[_i].dp;
    layout.pp = cases[_i].pp;
    layout.virtual_stages = cases[_i].v;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.global_batch = 32;
    spec.tp_pieces = cases[_i].pieces;
    spec.schedule = cases[_i].schedule;
    spec.recompute = RECOMPUTE_SELECTIVE;
    g_autoptr(Workload) workload = made(&spec);
    double flops = 0, h = 4096, s = 8192, l = 32;
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        const Program *p = workload_program(workload, workload->program_of_rank[r]);
        for (guint i = 0; i < p->ops->len; i++)
            flops += g_array_index(p->ops, Op, i).flops;
    }
    /* a layer forward: q and output 2 h^2, keys and values 2 h 1024, FFN 3 h 14336; attention 4 s^2 h, 4 times */
    double linear = 2 * s * (2 * h * h + 2 * h * 1024 + 3 * h * 14336), core = 4 * s * s * h;
    double expected = 32 * (l * (3 * linear + 4 * core) + 3 * 2 * s * h * 128256);
    ck_assert_double_eq_tol(flops, expected, 1e-9 * expected);
}
END_TEST

/* What a stage keeps at most is its schedule's bound x what a micro-batch keeps: 34 s b h a layer (Korthikanti et al.),
 * two layers a stage, without dropout masks (2 s b h of them) and with fused attention's sums (4 a s b bytes). */
START_TEST(kept_bytes_by_schedule)
{
    static const char *const names[] = {"gpipe", "1f1b", "zb-h1", "zb-h2"};
    g_autoptr(ModelDescription) model = small_gpt();
    Layout layout = layout_default();
    layout.pp = 4;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.micro_batch = B;
    spec.global_batch = 12 * B;
    spec.schedule = names[_i];
    spec.fused_attention = TRUE;
    const uint32_t most[][2] = {{12, 12}, {3, 2}, {4, 4}, {7, 7}}; /* stages 1 and 2 of 4, 12 micro-batches */
    g_autoptr(Workload) workload = made(&spec);
    for (uint32_t stage = 1; stage < 3; stage++) {
        const Program *p = workload_program(workload, stage);
        uint64_t held = 0, peak = 0;
        for (guint i = 0; i < p->ops->len; i++) {
            const Op *op = &g_array_index(p->ops, Op, i);
            held += op->kind == OP_ALLOC ? op->bytes : 0;
            peak = MAX(peak, held);
            held -= op->kind == OP_FREE ? op->bytes : 0;
        }
        ck_assert_uint_eq(held, 0);
        ck_assert_uint_eq(peak, most[_i][stage - 1] * 2ull * (32ull * S * B * H + 4ull * 16 * S * B));
    }
}
END_TEST

/* Every preset in a layout that it allows; all forward and backward work of the model is in the programs. */
START_TEST(every_preset)
{
    g_autoptr(ModelDescription) model = model_preset(model_preset_names()[_i], NULL);
    Layout layout = layout_default();
    layout.dp = 4;
    layout.zero = 1;
    if (model->kind == MODEL_TRANSFORMER) {
        layout.tp = 2;
        layout.sequence_parallel = TRUE;
        layout.pp = model->transformer.layers % 2 == 0 ? 2 : 1;
        layout.ep = model->transformer.experts > 0 ? 4 : 1;
    }
    if (model->kind == MODEL_DLRM)
        layout.ep = 4;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.global_batch = 16;
    spec.fused_attention = TRUE;
    g_autoptr(Workload) workload = made(&spec);
    double found = 0, expected = 0;
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        const Program *p = workload_program(workload, workload->program_of_rank[r]);
        for (guint i = 0; i < p->ops->len; i++)
            found += g_array_index(p->ops, Op, i).flops;
    }
    ModelShard whole = model_shard_default();
    whole.fused_attention = TRUE;
    for (uint32_t layer = 0; layer < model_n_layers(model); layer++)
        for (uint32_t i = 0; i < model_n_blocks(model, layer); i++) {
            ModelBlock block;
            model_block(model, layer, i, &whole, &block);
            for (int pass = 0; pass < MODEL_PASSES; pass++)
                expected += 16 * block_flops(&block, (ModelPass)pass, RECOMPUTE_NONE);
            if (model->transformer.kv_lora == 0)
                continue;
            /* what latent attention takes down is whole on every rank of tp: done twice */
            for (uint32_t g = 0; g < block.n_gemms; g++)
                if (g_str_has_suffix(block.gemms[g].name, " down") && block.kind == BLOCK_ATTENTION)
                    expected += 16 * 3 * gemm_flops(&block.gemms[g]);
        }
    ck_assert_double_eq_tol(found, expected, 1e-9 * expected);
}
END_TEST

/* DLRM-A on 128 GPUs, 512 samples each, on the roofline of MAD-Max (156 x 0.705 TFLOP/s, 1555 x 0.836 GB/s): GEMMs take
 * 8.91 ms and embeddings 9.10 ms of its table 5; the dense gradients are 20 x 3,994^2 x 4 bytes. */
START_TEST(dlrm_a_of_mad_max)
{
    g_autoptr(ModelDescription) model = model_preset("dlrm-a", NULL);
    Layout layout = layout_default();
    layout.dp = layout.ep = 128;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.micro_batch = 512;
    spec.global_batch = 65536;
    spec.optimiser_B = 0;
    g_autoptr(Workload) workload = made(&spec);
    const Program *p = workload_program(workload, 0);
    double mlp = 0, tables = 0;
    for (guint i = 0; i < p->ops->len; i++) {
        const Op *op = &g_array_index(p->ops, Op, i);
        double time = MAX(op->flops / (156e12 * 0.705), op->bytes_moved / (1555e9 * 0.836));
        *(strstr(program_op_name(p, i), "tables") != NULL ? &tables : &mlp) += 1e3 * time;
    }
    ck_assert_double_eq_tol(mlp, 8.91, 0.005);
    ck_assert_double_eq_tol(tables, 9.10, 0.005);
    ck_assert_uint_eq(sum_of(workload, 0, "dp", COLLECTIVE_ALL_REDUCE, NULL).bytes, 20ull * 3994 * 3994 * 4);
    /* one row a table and sample goes to the sample's rank, its gradient back */
    Sum rows = sum_of(workload, 0, "ep", COLLECTIVE_ALL_TO_ALL, NULL);
    ck_assert_uint_eq(rows.n, 2);
    ck_assert_uint_eq(rows.bytes, 2ull * 512 * 4096 * 94 * 2);
    /* its MLPs by FSDP: gathered twice, scattered once */
    layout.zero = 3;
    g_autoptr(Workload) cut = made(&spec);
    ck_assert_uint_eq(sum_of(cut, 0, "dp", COLLECTIVE_ALL_GATHER, NULL).bytes, 2 * 20ull * 3994 * 3994 * 4);
    ck_assert_uint_eq(sum_of(cut, 0, "dp", COLLECTIVE_REDUCE_SCATTER, NULL).bytes, 20ull * 3994 * 3994 * 4);
}
END_TEST

static const struct {
    const char *model, *schedule;
    uint32_t tp, dp, ep, pp, v, global_batch, micro_batch, gpus;
    Recompute recompute;
    const char *message;
} bad[] = {
    {"llama-3-8b", NULL, 1, 3, 1, 1, 1, 16, 2, 0, 0, "global_batch 16 does not divide by dp 3 x micro_batch 2"},
    {"llama-3-8b", NULL, 2, 2, 1, 1, 1, 16, 2, 8, 0, "tp 2 x cp 1 x dp 2 x pp 1 is 4 ranks, but gpus is 8"},
    {"llama-3-8b", "1f1b", 1, 1, 1, 4, 2, 16, 1, 0, 0, "schedule 1f1b has one chunk a stage, but virtual_stages is 2"},
    {"llama-3-8b", NULL, 1, 1, 1, 4, 2, 6, 1, 0, 0,
     "schedule interleaved: 6 micro-batches do not divide by the 4 stages"},
    {"dlrm-a", NULL, 1, 8, 4, 1, 1, 8, 1, 0, 0,
     "ep is 4 and dp 8; a DLRM's tables are cut over all replicas: ep must be dp"},
    {"llama-3-8b", NULL, 1, 1, 1, 2, 1, 100000, 1, 0, 0,
     "34 layers x 100000 micro-batches: programs of about 8.08e+07 ops, 16777216 is the most"},
    {"llama-3-405b", NULL, 1, 1, 1, 1, 1, 16777216, 16777216, 0, 0,
     "model llama-3-405b: 1.67772e+07 sequences of 8192 tokens: activations above 2^56 values"},
    {"resnet-50", NULL, 1, 8, 1, 1, 1, 8, 1, 0, 2, "recompute is full; that is built for transformers"},
};

START_TEST(refused)
{
    g_autoptr(ModelDescription) model = model_preset(bad[_i].model, NULL);
    Layout layout = layout_default();
    layout.tp = bad[_i].tp;
    layout.dp = bad[_i].dp;
    layout.ep = bad[_i].ep;
    layout.pp = bad[_i].pp;
    layout.virtual_stages = bad[_i].v;
    TrainSpec spec = train_spec_default(model, &layout);
    spec.global_batch = bad[_i].global_batch;
    spec.micro_batch = bad[_i].micro_batch;
    spec.schedule = bad[_i].schedule;
    spec.recompute = bad[_i].recompute;
    spec.gpus = bad[_i].gpus;
    GError *error = NULL;
    ck_assert_ptr_null(train_program(&spec, &error));
    ck_assert_str_eq(error->message, bad[_i].message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "");
}
END_TEST

/* Programs grow with stages: 131,072 ranks of Llama-3 405B have 16. */
START_TEST(hundred_thousand_ranks)
{
    g_autoptr(ModelDescription) model = model_preset("llama-3-405b", NULL);
    Layout layout = layout_default();
    layout.tp = 8;
    layout.pp = 16;
    layout.dp = 1024;
    layout.stage_layers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t layers = i == 0 || i == 15 ? 7 : 8;
        g_array_append_val(layout.stage_layers, layers);
    }
    TrainSpec spec = train_spec_default(model, &layout);
    spec.global_batch = 16 * 1024;
    g_autoptr(Workload) workload = made(&spec);
    ck_assert_uint_eq(workload->n_ranks, 131072);
    ck_assert_uint_eq(workload->programs->len, 16);
    layout_clear(&layout);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("train-program");
    TCase *tcase = tcase_create("train-program");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, tensor_parallel_all_reduces, 0, 3);
    tcase_add_loop_test(tcase, sequence_parallel, 0, 3);
    tcase_add_loop_test(tcase, pipeline_messages, 0, 6);
    tcase_add_loop_test(tcase, gradient_bytes, 0, 6);
    tcase_add_loop_test(tcase, zero_stages, 0, 4);
    tcase_add_test(tcase, zero_by_block);
    tcase_add_loop_test(tcase, hybrid_shard, 0, 2);
    tcase_add_loop_test(tcase, expert_all_to_alls, 0, 3);
    tcase_add_loop_test(tcase, whole_experts, 0, 2);
    tcase_add_test(tcase, context_exchange);
    tcase_add_loop_test(tcase, other_context_exchanges, 0, 2);
    tcase_add_loop_test(tcase, flops_are_kept, 0, 6);
    tcase_add_loop_test(tcase, kept_bytes_by_schedule, 0, 4);
    int presets = 0;
    while (model_preset_names()[presets] != NULL)
        presets++;
    tcase_add_loop_test(tcase, every_preset, 0, presets);
    tcase_add_test(tcase, dlrm_a_of_mad_max);
    tcase_add_loop_test(tcase, refused, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, hundred_thousand_ranks);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
