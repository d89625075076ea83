/* model_transformer.c - the layers of a transformer: embedding, attention and FFN or experts, head
 *
 * v is the bytes of a value, T the tokens of a rank (micro_batch x sequence / cp), P those of it that it has between
 * the blocks (T / tp with sequence parallelism, else T). Element-wise work is bound by memory, so its FLOPs are not
 * counted, as in Narayanan et al. 2021, appendix; its bytes are those of unfused kernels: a norm reads and writes, a
 * residual sum reads two and writes one. */
#include "base/error.h"
#include "workload/model_parts.h"

#include <math.h>
#include <string.h>

#define MOST 16777216u /* of any count */

typedef struct {
    const Transformer *t;
    const ModelShard *shard;
    uint64_t v, h, T, P, keys, tp;
} Sizes;

static Sizes
sizes_of(const ModelDescription *model, const ModelShard *shard)
{
    const Transformer *t = &model->transformer;
    uint64_t sequence = shard->sequence ? shard->sequence : t->sequence;
    uint64_t tokens = shard->micro_batch * (sequence / shard->cp);
    return (Sizes){.t = t,
                   .shard = shard,
                   .v = model->value_B,
                   .h = t->hidden,
                   .T = tokens,
                   .P = shard->sequence_parallel ? tokens / shard->tp : tokens,
                   .keys = sequence,
                   .tp = shard->tp};
}

static uint64_t
norm_parameters(const Transformer *t)
{
    return (t->rms ? 1 : 2) * (uint64_t)t->hidden;
}

static gboolean
is_moe(const Transformer *t, uint32_t layer)
{
    if (t->experts == 0 || layer <= t->dense_first)
        return FALSE;
    return t->moe_every <= 1 || (layer - t->dense_first) % t->moe_every == 0;
}

static uint32_t
layers(const ModelDescription *model)
{
    return model->transformer.layers + 2;
}

static uint32_t
blocks(const ModelDescription *model, uint32_t layer)
{
    return layer == 0 || layer == model->transformer.layers + 1 ? 1 : 2;
}

static uint64_t
copied_embedding(const Sizes *s)
{
    return (uint64_t)s->t->vocabulary * s->h / s->tp;
}

static void
fill_embedding(const ModelDescription *model, const Sizes *s, ModelBlock *block)
{
    const Transformer *t = s->t;
    block->kind = BLOCK_EMBEDDING;
    block->shared_parameters = copied_embedding(s);
    block->replicated_parameters = (t->learned ? t->positions : 0) * s->h + t->segments * s->h;
    if (t->segments > 0)
        block->replicated_parameters += norm_parameters(t);
    block->other_bytes = 2.0 * (double)(s->v * s->T * s->h);
    block->kept_B = block->whole_B = t->dropout ? s->P * s->h : 0;
    block->reduced_B = s->v * s->T * s->h;
    (void)model;
}

/* Final norm and logits; the loss keeps them in fp32 (Korthikanti et al., section 4.3). */
static void
fill_head(const Sizes *s, ModelBlock *block)
{
    const Transformer *t = s->t;
    uint64_t logits = s->T * (t->vocabulary / s->tp);
    block->kind = BLOCK_HEAD;
    if (t->tied)
        block->tied_parameters = copied_embedding(s);
    else
        block->shared_parameters = copied_embedding(s);
    block->replicated_parameters = t->segments > 0 ? 0 : norm_parameters(t); /* BERT's stands behind the embedding */
    if (t->pooler)
        block->replicated_parameters += s->h * s->h + s->h;
    block_add_gemm(block, "logits", s->T, t->vocabulary / s->tp, s->h, 1, (uint32_t)s->v);
    block->other_bytes = 2.0 * (double)(s->v * s->P * s->h) + 8.0 * (double)logits;
    block->kept_B = block->whole_B = 2 * s->v * s->P * s->h + 4 * logits;
    block->reduced_B = s->v * s->T * s->h;
}

/* Scores and their product with the values; the bytes that they keep without a fused kernel. */
static uint64_t
add_core(const Sizes *s, uint64_t key_dim, uint64_t value_dim, ModelBlock *block)
{
    const Transformer *t = s->t;
    uint64_t heads = t->heads / s->tp, batch = s->shard->micro_batch * heads;
    uint64_t queries = s->keys / s->shard->cp, scores = batch * queries * s->keys;
    Gemm *score = block_add_gemm(block, "scores", queries, s->keys, key_dim, batch, (uint32_t)s->v);
    score->weight = FALSE;
    score->core = TRUE;
    Gemm *context = block_add_gemm(block, "context", queries, value_dim, s->keys, batch, (uint32_t)s->v);
    context->weight = FALSE;
    context->core = TRUE;
    if (s->shard->fused_attention) { /* Dao et al. 2022: two products forward, five backward */
        score->share = context->share = t->causal ? 0.5 : 1;
        score->bytes -= (double)scores * (double)s->v;
        context->bytes -= (double)scores * (double)s->v;
        block->fused_backward = 2.5;
        return 4 * batch * queries; /* the logarithm of each row's sum */
    }
    block->core_bytes = (double)scores * (t->dropout ? 4 * (double)s->v + 1 : 2 * (double)s->v);
    block->other_bytes += block->core_bytes;
    return scores * (t->dropout ? 2 * s->v + 1 : s->v);
}

/* Without a fused kernel the scores are kept, 5 a s^2 b of Korthikanti et al.; with selective recomputation not. */
static void
keep(const Sizes *s, uint64_t linear, uint64_t core, gboolean first, ModelBlock *block)
{
    block->whole_B = linear + core;
    gboolean drops = s->shard->recompute == RECOMPUTE_SELECTIVE && !s->shard->fused_attention;
    block->kept_B = drops ? linear : linear + core;
    if (s->shard->recompute == RECOMPUTE_FULL) /* the layer's input alone */
        block->kept_B = first ? s->v * s->P * s->h : 0;
}

static void
fill_latent(const Sizes *s, ModelBlock *block)
{
    const Transformer *t = s->t;
    uint64_t heads = t->heads / s->tp, T = s->T, dim = t->head_dim + t->rope_dim;
    uint32_t v = (uint32_t)s->v;
    uint64_t q_from = t->q_lora ? t->q_lora : s->h, down = t->kv_lora + t->rope_dim;
    if (t->q_lora)
        block_add_gemm(block, "q down", T, t->q_lora, s->h, 1, v);
    block_add_gemm(block, "q up", T, heads * dim, q_from, 1, v);
    block_add_gemm(block, "kv down", T, down, s->h, 1, v);
    block_add_gemm(block, "kv up", T, heads * (t->head_dim + t->value_dim), t->kv_lora, 1, v);
    uint64_t core = add_core(s, dim, t->value_dim, block);
    block_add_gemm(block, "projection", T, s->h, heads * t->value_dim, 1, v);
    block->shared_parameters = heads * dim * q_from + heads * (t->head_dim + t->value_dim) * (uint64_t)t->kv_lora +
                               heads * t->value_dim * s->h;
    block->replicated_parameters = s->h * down + t->kv_lora + (t->q_lora ? t->q_lora * (s->h + 1) : 0);
    uint64_t latent = 2 * T * ((uint64_t)t->q_lora + down), inner = T * heads * (2 * dim + 2 * t->value_dim);
    block->context_B = s->shard->cp > 1 ? s->v * T * heads * (dim + t->value_dim) : 0;
    block->query_B = s->shard->cp > 1 ? s->v * T * heads * dim : 0;
    block->other_bytes += 4.0 * (double)(s->v * T * heads * dim);
    keep(s, s->v * (2 * s->P * s->h + latent + inner) + (t->dropout ? s->P * s->h : 0), core, TRUE, block);
}

static void
fill_attention(const Sizes *s, ModelBlock *block)
{
    const Transformer *t = s->t;
    uint64_t heads = t->heads / s->tp, kv = t->kv_heads / s->tp, d = t->head_dim;
    uint32_t v = (uint32_t)s->v;
    block->kind = BLOCK_ATTENTION;
    block->other_bytes = (double)(s->v * s->P * s->h) * 5 + (t->dropout ? (double)(s->P * s->h) : 0);
    block->output_B = block->reduced_B = 0;
    if (t->kv_lora > 0) {
        fill_latent(s, block);
    } else {
        block_add_gemm(block, "qkv", s->T, (heads + 2 * kv) * d, s->h, 1, v);
        uint64_t core = add_core(s, d, d, block);
        block_add_gemm(block, "projection", s->T, s->h, heads * d, 1, v);
        block->shared_parameters = (2 * heads + 2 * kv) * d * s->h + (t->bias ? (heads + 2 * kv) * d : 0);
        block->replicated_parameters = t->bias ? s->h : 0;
        block->context_B = s->shard->cp > 1 ? s->v * s->T * 2 * kv * d : 0;
        block->query_B = s->shard->cp > 1 ? s->v * s->T * heads * d : 0;
        if (!t->learned)
            block->other_bytes += 2.0 * (double)(s->v * s->T * (heads + kv) * d);
        uint64_t inner = s->T * (2 * heads + 2 * kv) * d; /* q, k, v and what the projection reads */
        keep(s, s->v * (2 * s->P * s->h + inner) + (t->dropout ? s->P * s->h : 0), core, TRUE, block);
    }
    block->replicated_parameters += norm_parameters(t);
    block->reduced_B = s->v * s->T * s->h;
}

static void
add_ffn(const Sizes *s, const char *up, const char *down, uint64_t rows, uint64_t width, uint64_t batch,
        ModelBlock *block)
{
    uint64_t wide = width, matrices = s->t->gated ? 2 : 1;
    block_add_gemm(block, up, rows, matrices * wide, s->h, batch, (uint32_t)s->v);
    block_add_gemm(block, down, rows, s->h, wide, batch, (uint32_t)s->v);
    block->other_bytes += (double)(s->v * rows * wide * batch * (matrices + 1));
}

static void
fill_mlp(const Sizes *s, ModelBlock *block)
{
    const Transformer *t = s->t;
    uint64_t wide = t->ffn / s->tp, matrices = t->gated ? 2 : 1;
    block->kind = BLOCK_MLP;
    block->other_bytes = (double)(s->v * s->P * s->h) * 5 + (t->dropout ? (double)(s->P * s->h) : 0);
    add_ffn(s, "up", "down", s->T, t->ffn / s->tp, 1, block);
    block->shared_parameters = (matrices + 1) * s->h * wide + (t->bias ? matrices * wide : 0);
    block->replicated_parameters = norm_parameters(t) + (t->bias ? s->h : 0);
    block->reduced_B = s->v * s->T * s->h;
    keep(s, s->v * (2 * s->P * s->h + (matrices + 1) * s->T * wide) + (t->dropout ? s->P * s->h : 0), 0, FALSE, block);
}

/* x^y for x >= 1, y in steps of 2^-10, by multiplications and square roots, which IEEE 754 rounds correctly: the same
 * on every machine. */
static double
power(double x, double y)
{
    uint64_t steps = (uint64_t)(y * 1024 + 0.5);
    double result = 1, whole = x, root = x;
    for (uint64_t bits = steps >> 10; bits > 0; bits >>= 1, whole *= whole)
        if (bits & 1)
            result *= whole;
    for (int bit = 9; bit >= 0; bit--) {
        root = sqrt(root);
        if (steps >> bit & 1)
            result *= root;
    }
    return result;
}

/* Rows that one rank sends to each of the ep ranks' experts; their sum. */
static uint64_t
routed_rows(const Sizes *s, uint64_t *rows)
{
    const Transformer *t = s->t;
    uint32_t ep = s->shard->ep, each = t->experts / ep;
    uint64_t all = s->P * t->top_k, sum = 0;
    double weights = 0, most = t->capacity > 0 ? t->capacity * (double)all / t->experts : (double)all;
    for (uint32_t e = 0; e < t->experts && t->skew > 0; e++)
        weights += 1 / power(e + 1, t->skew);
    double before = 0, asked = 0;
    for (uint32_t e = 0; e < t->experts; e++) {
        double share = t->skew > 0 ? 1 / power(e + 1, t->skew) / weights : 1.0 / t->experts;
        asked += MIN(share * (double)all, most);
        if ((e + 1) % each != 0)
            continue;
        rows[e / each] = (uint64_t)(asked + 0.5) - (uint64_t)(before + 0.5);
        sum += rows[e / each];
        before = asked;
    }
    return sum;
}

static void
fill_experts(const Sizes *s, ModelBlock *block)
{
    const Transformer *t = s->t;
    uint64_t ep = s->shard->ep, experts = t->experts / ep, matrices = t->gated ? 2 : 1;
    gboolean whole = s->shard->experts_whole;
    uint64_t wide = t->expert_ffn / (whole ? 1 : s->tp), shared = (uint64_t)t->shared * t->expert_ffn / s->tp;
    g_autofree uint64_t *rows = g_new0(uint64_t, ep);
    uint64_t sent = routed_rows(s, rows), own = rows[s->shard->ep_member] * ep; /* all of ep send alike */
    uint64_t worked = s->shard->sequence_parallel ? own * s->tp : own;          /* gathered over tp */
    block->kind = BLOCK_EXPERTS;
    block->other_bytes = (double)(s->v * s->P * s->h) * 5 + 2.0 * (double)(s->v * (sent + own) * s->h);
    block_add_gemm(block, "router", s->P, t->experts, s->h, 1, (uint32_t)s->v);
    if (t->shared > 0)
        add_ffn(s, "shared up", "shared down", s->T, (uint64_t)t->shared * t->expert_ffn / s->tp, 1, block);
    add_ffn(s, "experts up", "experts down", (worked + experts - 1) / experts, wide, experts, block);
    block->shared_parameters = (matrices + 1) * s->h * shared;
    block->replicated_parameters = norm_parameters(t) + s->h * t->experts + (t->router_bias ? t->experts : 0);
    block->expert_parameters = (matrices + 1) * s->h * wide * experts;
    block->routed_B = ep > 1 ? s->v * sent * s->h : 0;
    block->received_B = ep > 1 ? s->v * own * s->h : 0;
    block->gathered_B = s->shard->sequence_parallel && s->tp > 1 && !whole ? s->v * worked * s->h : 0;
    block->reduced_B = s->shard->sequence_parallel && t->shared == 0 ? 0 : s->v * s->T * s->h;
    uint64_t hidden = (matrices + 1) * (wide * worked + shared * s->T);
    keep(s, s->v * (2 * s->P * s->h + worked * s->h + sent * s->h + hidden) + 4 * s->P * t->experts, 0, FALSE, block);
}

static void
fill(const ModelDescription *model, uint32_t layer, uint32_t index, const ModelShard *shard, ModelBlock *block)
{
    Sizes s = sizes_of(model, shard);
    if (layer == 0)
        fill_embedding(model, &s, block);
    else if (layer == s.t->layers + 1)
        fill_head(&s, block);
    else if (index == 0)
        fill_attention(&s, block);
    else if (is_moe(s.t, layer))
        fill_experts(&s, block);
    else
        fill_mlp(&s, block);
    block->name = block_kind_name(block->kind);
    block->output_B = layer == s.t->layers + 1 ? 0 : s.v * s.P * s.h;
    if (s.tp < 2)
        block->reduced_B = 0;
}

void
model_routed_splits(const ModelDescription *model, const ModelShard *shard, uint64_t *bytes)
{
    if (model->kind != MODEL_TRANSFORMER)
        return;
    Sizes s = sizes_of(model, shard);
    routed_rows(&s, bytes);
    for (uint32_t i = 0; i < shard->ep; i++)
        bytes[i] *= s.v * s.h;
}

/* FALSE with what is wrong where value is 0 or too large. */
static gboolean
in_range(const char *key, uint32_t value, GError **error)
{
    if (value >= 1 && value <= MOST)
        return TRUE;
    return error_input(error, "%s is %u, expected 1 to %u", key, value, MOST);
}

/* Above all that is trained, and below what 64 bits hold. */
static gboolean
check_size(const Transformer *t, GError **error)
{
    double dims = (double)t->head_dim + t->rope_dim + t->value_dim, h = t->hidden;
    double attention = (h + t->q_lora + t->kv_lora + t->rope_dim) * ((double)t->heads * dims * 2 + t->kv_lora);
    double experts = 3 * h * t->expert_ffn * ((double)t->experts + t->shared);
    double all = t->layers * (attention + 3 * h * t->ffn + experts) + h * (2.0 * t->vocabulary + t->positions + h);
    if (t->layers <= 65536 && all < 0x1p56)
        return TRUE;
    return error_input(error, "%u layers, %.3g parameters: above 65536 or 2^56", t->layers, all);
}

static gboolean
settle_experts(Transformer *t, GError **error)
{
    if (t->experts == 0)
        return TRUE;
    if (t->expert_ffn == 0)
        t->expert_ffn = t->ffn;
    if (t->top_k < 1 || t->top_k > t->experts)
        return error_input(error, "top_k is %u, expected 1 to the %u experts", t->top_k, t->experts);
    if (t->dense_first > t->layers)
        return error_input(error, "dense_first is %u, but there are %u layers", t->dense_first, t->layers);
    if (!(t->skew >= 0 && t->skew <= 8))
        return error_input(error, "skew is %g, expected 0 to 8", t->skew);
    if (!(t->capacity == 0 || t->capacity >= 1))
        return error_input(error, "capacity is %g, expected 0 (nothing is dropped) or from 1", t->capacity);
    return in_range("expert_ffn", t->expert_ffn, error);
}

static gboolean
settle(ModelDescription *model, GError **error)
{
    Transformer *t = &model->transformer;
    if (!in_range("layers", t->layers, error) || !in_range("hidden", t->hidden, error) ||
        !in_range("heads", t->heads, error) || !in_range("vocabulary", t->vocabulary, error) ||
        !in_range("sequence", t->sequence, error))
        return FALSE;
    if (t->kv_heads == 0)
        t->kv_heads = t->heads;
    if (t->head_dim == 0) {
        if (t->hidden % t->heads != 0)
            return error_input(error, "hidden %u does not divide by %u heads: give head_dim", t->hidden, t->heads);
        t->head_dim = t->hidden / t->heads;
    }
    if (t->heads % t->kv_heads != 0)
        return error_input(error, "%u heads do not divide by %u KV heads", t->heads, t->kv_heads);
    if (t->ffn == 0)
        t->ffn = 4 * t->hidden;
    if (t->positions == 0)
        t->positions = t->sequence;
    if (t->value_dim == 0)
        t->value_dim = t->head_dim;
    return in_range("ffn", t->ffn, error) && settle_experts(t, error) && check_size(t, error);
}

static gboolean
divides(const char *axis, uint32_t ranks, const char *what, uint64_t number, GError **error)
{
    if (number % ranks == 0)
        return TRUE;
    return error_input(error, "%s %u does not divide %s %" G_GUINT64_FORMAT, axis, ranks, what, number);
}

/* What a micro-batch has between layers must fit 64 bits too. */
static gboolean
check_tokens(const Transformer *t, double micro_batch, double sequence, GError **error)
{
    double dims = (double)t->head_dim + t->rope_dim + t->value_dim;
    double row = 4.0 * t->hidden + 4 * t->heads * dims + 4.0 * t->ffn + t->vocabulary + t->experts + t->q_lora +
                 t->kv_lora + (double)t->top_k * (2.0 * t->hidden + 3.0 * t->expert_ffn) +
                 3.0 * t->shared * t->expert_ffn;
    if (micro_batch * sequence * row < 0x1p56 && micro_batch * sequence * sequence * t->heads < 0x1p56)
        return TRUE;
    return error_input(error, "%g sequences of %g tokens: activations above 2^56 values", micro_batch, sequence);
}

static gboolean
check(const ModelDescription *model, const ModelShard *shard, GError **error)
{
    const Transformer *t = &model->transformer;
    uint32_t sequence = shard->sequence ? shard->sequence : t->sequence;
    if (!check_tokens(t, shard->micro_batch, sequence, error))
        return FALSE;
    if (!divides("tp", shard->tp, "the heads,", t->heads, error) ||
        (t->kv_lora == 0 && !divides("tp", shard->tp, "the KV heads,", t->kv_heads, error)) ||
        !divides("tp", shard->tp, "ffn,", t->ffn, error) ||
        !divides("tp", shard->tp, "vocabulary,", t->vocabulary, error) ||
        !divides("cp", shard->cp, "the tokens of a sequence,", sequence, error))
        return FALSE;
    if (shard->sequence_parallel &&
        !divides("tp", shard->tp, "the tokens of a sequence on a rank,", sequence / shard->cp, error))
        return FALSE;
    if (t->experts == 0)
        return shard->ep == 1 || error_input(error, "ep is %u, but the model has no experts", shard->ep);
    return divides("ep", shard->ep, "the experts,", t->experts, error) &&
           divides("tp", shard->experts_whole ? 1 : shard->tp, "expert_ffn,", t->expert_ffn, error);
}

const ModelFamily model_transformer_family = {layers, blocks, fill, settle, check};
