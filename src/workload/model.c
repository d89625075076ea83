#include "workload/model.h"

#include "base/error.h"
#include "workload/model_parts.h"

#include <assert.h>

const char *const recompute_names[] = {"none", "selective", "full", NULL};

static const ModelFamily *const families[] = {
    [MODEL_TRANSFORMER] = &model_transformer_family,
    [MODEL_DLRM] = &model_dlrm_family,
    [MODEL_LAYERS] = &model_rows_family,
};

static const char *const kinds[BLOCK_KINDS] = {"embedding", "attention", "mlp", "experts", "head",
                                               "tables",    "bottom",    "top", "row"};

const char *
block_kind_name(BlockKind kind)
{
    return kinds[kind];
}

static void
row_clear(void *row)
{
    g_free(((ModelRow *)row)->name);
}

ModelDescription *
model_new(const char *name, ModelKind kind)
{
    ModelDescription *model = g_new0(ModelDescription, 1);
    model->name = g_strdup(name);
    model->kind = kind;
    model->value_B = model->gradient_B = 2;
    if (kind == MODEL_LAYERS) {
        model->rows = g_array_new(FALSE, TRUE, sizeof(ModelRow));
        g_array_set_clear_func(model->rows, row_clear);
    }
    return model;
}

void
model_free(ModelDescription *model)
{
    if (model == NULL)
        return;
    g_free(model->name);
    g_free(model->source);
    if (model->rows != NULL)
        g_array_unref(model->rows);
    g_free(model);
}

ModelRow *
model_add_row(ModelDescription *model, const char *name)
{
    ModelRow row = {.name = g_strdup(name), .forward_ps = -1, .backward_ps = -1};
    g_array_append_val(model->rows, row);
    return &g_array_index(model->rows, ModelRow, model->rows->len - 1);
}

ModelShard
model_shard_default(void)
{
    return (ModelShard){.micro_batch = 1, .tp = 1, .cp = 1, .ep = 1};
}

gboolean
model_settle(ModelDescription *model, GError **error)
{
    if (families[model->kind]->settle(model, error))
        return TRUE;
    g_prefix_error(error, "model %s: ", model->name);
    return FALSE;
}

gboolean
model_check_shard(const ModelDescription *model, const ModelShard *shard, GError **error)
{
    if (families[model->kind]->check(model, shard, error))
        return TRUE;
    g_prefix_error(error, "model %s: ", model->name);
    return FALSE;
}

uint32_t
model_n_layers(const ModelDescription *model)
{
    return families[model->kind]->layers(model);
}

uint32_t
model_n_blocks(const ModelDescription *model, uint32_t layer)
{
    return families[model->kind]->blocks(model, layer);
}

void
model_block(const ModelDescription *model, uint32_t layer, uint32_t index, const ModelShard *shard, ModelBlock *block)
{
    assert(layer < model_n_layers(model) && index < model_n_blocks(model, layer));
    *block = (ModelBlock){.layer = layer,
                          .forward_ps = -1,
                          .backward_ps = -1,
                          .row_backward_flops = -1,
                          .row_backward_bytes = -1,
                          .part = 1,
                          .fused_backward = 2};
    families[model->kind]->fill(model, layer, index, shard, block);
}

static uint64_t
count_parameters(const ModelDescription *model, gboolean active)
{
    ModelShard whole = model_shard_default();
    uint64_t sum = 0;
    for (uint32_t layer = 0; layer < model_n_layers(model); layer++)
        for (uint32_t index = 0; index < model_n_blocks(model, layer); index++) {
            ModelBlock block;
            model_block(model, layer, index, &whole, &block);
            const Transformer *t = &model->transformer;
            uint64_t experts = block.expert_parameters;
            if (active && block.kind == BLOCK_EXPERTS)
                experts = experts / t->experts * t->top_k;
            sum += block.shared_parameters + block.replicated_parameters + experts;
        }
    return sum;
}

uint64_t
model_parameters(const ModelDescription *model)
{
    return count_parameters(model, FALSE);
}

uint64_t
model_active_parameters(const ModelDescription *model)
{
    return count_parameters(model, TRUE);
}

double
gemm_flops(const Gemm *gemm)
{
    return 2 * (double)gemm->m * (double)gemm->n * (double)gemm->k * (double)gemm->batch * gemm->share;
}

Gemm *
block_add_gemm(ModelBlock *block, const char *name, uint64_t m, uint64_t n, uint64_t k, uint64_t batch,
               uint32_t value_B)
{
    assert(block->n_gemms < MODEL_GEMMS);
    Gemm *gemm = &block->gemms[block->n_gemms++];
    double values = (double)m * (double)k + (double)k * (double)n + (double)m * (double)n;
    *gemm = (Gemm){.name = name,
                   .m = m,
                   .n = n,
                   .k = k,
                   .batch = batch,
                   .share = 1,
                   .bytes = values * (double)batch * value_B,
                   .weight = TRUE};
    return gemm;
}

static Gemm
turned(const Gemm *gemm, ModelPass pass)
{
    Gemm out = *gemm;
    out.m = pass == PASS_OF_INPUT ? gemm->m : gemm->k;
    out.n = pass == PASS_OF_INPUT ? gemm->k : gemm->n;
    out.k = pass == PASS_OF_INPUT ? gemm->n : gemm->m;
    return out;
}

/* What the pass of the input gradient does again first. */
static gboolean
again(const ModelBlock *block, const Gemm *gemm, Recompute recompute)
{
    return recompute == RECOMPUTE_FULL
               ? block->kind == BLOCK_ATTENTION || block->kind == BLOCK_MLP || block->kind == BLOCK_EXPERTS
               : recompute == RECOMPUTE_SELECTIVE && gemm->core && block->core_bytes > 0;
}

uint32_t
block_gemms(const ModelBlock *block, ModelPass pass, Recompute recompute, Gemm *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < block->n_gemms && pass == PASS_OF_INPUT; i++)
        if (again(block, &block->gemms[i], recompute))
            out[n++] = block->gemms[i];
    for (uint32_t i = 0; i < block->n_gemms; i++) {
        const Gemm *gemm = &block->gemms[i];
        if (pass == PASS_OF_FORWARD)
            out[n++] = *gemm;
        else if (gemm->weight)
            out[n++] = turned(gemm, pass);
        else if (pass == PASS_OF_INPUT) { /* gradients of both factors */
            out[n] = turned(gemm, PASS_OF_INPUT);
            out[n].batch *= 2;
            out[n].bytes *= 2;
            out[n].share *= block->fused_backward / 2;
            n++;
        }
    }
    return n;
}

void
block_other(const ModelBlock *block, ModelPass pass, Recompute recompute, double *flops, double *bytes)
{
    *flops = *bytes = 0;
    if (pass == PASS_OF_FORWARD) {
        *flops = block->other_flops;
        *bytes = block->other_bytes;
    } else if (pass == PASS_OF_INPUT) {
        double share = 1 - block->row_weight_share;
        *flops = block->row_backward_flops >= 0 ? share * block->row_backward_flops : 2 * block->other_flops;
        *bytes = block->row_backward_bytes >= 0 ? share * block->row_backward_bytes : 2 * block->other_bytes;
        const Gemm any = {.core = TRUE};
        if (again(block, &any, recompute)) {
            *flops += recompute == RECOMPUTE_FULL ? block->other_flops : 0;
            *bytes += recompute == RECOMPUTE_FULL ? block->other_bytes : block->core_bytes;
        }
    } else if (block->row_weight_share > 0) {
        *flops = block->row_weight_share * MAX(block->row_backward_flops, 0);
        *bytes = block->row_weight_share * MAX(block->row_backward_bytes, 0);
    }
}

double
block_flops(const ModelBlock *block, ModelPass pass, Recompute recompute)
{
    Gemm gemms[3 * MODEL_GEMMS];
    double flops, bytes;
    block_other(block, pass, recompute, &flops, &bytes);
    uint32_t n = block_gemms(block, pass, recompute, gemms);
    for (uint32_t i = 0; i < n; i++)
        flops += gemm_flops(&gemms[i]);
    return flops;
}

double
block_bytes(const ModelBlock *block, ModelPass pass, Recompute recompute)
{
    Gemm gemms[3 * MODEL_GEMMS];
    double flops, bytes;
    block_other(block, pass, recompute, &flops, &bytes);
    uint32_t n = block_gemms(block, pass, recompute, gemms);
    for (uint32_t i = 0; i < n; i++)
        bytes += gemms[i].bytes;
    return bytes;
}

uint64_t
block_parameters(const ModelBlock *block)
{
    return block->shared_parameters + block->replicated_parameters + block->expert_parameters;
}
