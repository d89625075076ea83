/* model_other.c - models that are no transformers: DLRM, and tables of layers */
#include "base/error.h"
#include "workload/model_parts.h"

#define MOST 16777216u

/* ---- DLRM: tables, bottom MLP, top MLP. Ranks of ep share the tables, each has the MLPs. ---- */

static uint32_t
dlrm_layers(const ModelDescription *model)
{
    return 1 + model->dlrm.bottom_layers + model->dlrm.top_layers;
}

static uint32_t
one_block(const ModelDescription *model, uint32_t layer)
{
    (void)model;
    (void)layer;
    return 1;
}

/* This rank's tables are asked by the samples of all of ep: micro_batch x ep samples x tables / ep. A sample's rows of
 * a table are summed there, so that one row a table and sample goes to whom the sample belongs. */
static void
fill_tables(const ModelDescription *model, const ModelShard *shard, ModelBlock *block)
{
    const Dlrm *d = &model->dlrm;
    uint64_t rows = (uint64_t)shard->micro_batch * d->tables, row_B = (uint64_t)d->width * d->table_value_B;
    block->kind = BLOCK_TABLES;
    block->expert_parameters = (uint64_t)d->tables * d->rows / shard->ep * d->width;
    block->other_bytes = (double)(rows * row_B) * d->pooling;
    block->other_flops = (double)rows * d->width * d->pooling;
    block->row_backward_bytes = block->other_bytes;
    block->row_backward_flops = block->other_flops;
    block->kept_B = block->whole_B = rows * row_B;
    block->output_B = block->routed_B = block->received_B = rows * row_B;
}

static void
dlrm_fill(const ModelDescription *model, uint32_t layer, uint32_t index, const ModelShard *shard, ModelBlock *block)
{
    const Dlrm *d = &model->dlrm;
    (void)index;
    if (layer == 0) {
        fill_tables(model, shard, block);
    } else {
        gboolean top = layer > d->bottom_layers;
        uint64_t width = top ? d->top_width : d->bottom_width;
        block->kind = top ? BLOCK_TOP : BLOCK_BOTTOM;
        block->replicated_parameters = width * width;
        block_add_gemm(block, "linear", shard->micro_batch, width, width, 1, model->value_B);
        block->output_B = model->value_B * shard->micro_batch * width;
        block->kept_B = block->whole_B = block->output_B;
    }
    block->name = block_kind_name(block->kind);
}

static gboolean
dlrm_settle(ModelDescription *model, GError **error)
{
    Dlrm *d = &model->dlrm;
    const struct {
        const char *key;
        uint64_t value, least;
    } keys[] = {{"tables", d->tables, 1},
                {"rows", d->rows, 1},
                {"width", d->width, 1},
                {"bottom_layers", d->bottom_layers, 0},
                {"top_layers", d->top_layers, 1},
                {"bottom_width", d->bottom_width, d->bottom_layers > 0},
                {"top_width", d->top_width, d->top_layers > 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        if (keys[i].value < keys[i].least || keys[i].value > MOST * 64ull)
            return error_input(error, "%s is %" G_GUINT64_FORMAT ", expected from %" G_GUINT64_FORMAT, keys[i].key,
                               keys[i].value, keys[i].least);
    if (!(d->pooling > 0 && d->pooling <= 1e6))
        return error_input(error, "pooling is %g, expected above 0 and at most 1e6", d->pooling);
    if (d->table_value_B == 0)
        d->table_value_B = model->value_B;
    double values = (double)d->tables * d->rows * d->width;
    if (values >= 0x1p56 || (uint64_t)d->bottom_layers + d->top_layers > 65536)
        return error_input(error, "%.3g values in tables, %u layers: above 2^56 or 65536", values,
                           d->bottom_layers + d->top_layers);
    return TRUE;
}

static gboolean
alone(const ModelShard *shard, const char *what, GError **error)
{
    const struct {
        const char *axis;
        uint32_t ranks;
    } axes[] = {{"tp", shard->tp}, {"cp", shard->cp}};
    for (size_t i = 0; i < G_N_ELEMENTS(axes); i++)
        if (axes[i].ranks != 1)
            return error_input(error, "%s is %u; %s is cut over dp%s alone", axes[i].axis, axes[i].ranks, what,
                               shard->ep > 1 ? ", pp and ep" : " and pp");
    return TRUE;
}

static gboolean
dlrm_check(const ModelDescription *model, const ModelShard *shard, GError **error)
{
    double widest =
        MAX((double)model->dlrm.tables * model->dlrm.width, MAX(model->dlrm.bottom_width, model->dlrm.top_width));
    if (shard->micro_batch * widest >= 0x1p56)
        return error_input(error, "%u samples: activations above 2^56 values", shard->micro_batch);
    if (model->dlrm.tables % shard->ep != 0)
        return error_input(error, "ep %u does not divide the tables, %u", shard->ep, model->dlrm.tables);
    return alone(shard, "a DLRM", error);
}

const ModelFamily model_dlrm_family = {dlrm_layers, one_block, dlrm_fill, dlrm_settle, dlrm_check};

/* ---- a table of layers ---- */

static uint32_t
rows_layers(const ModelDescription *model)
{
    return model->rows->len;
}

static void
rows_fill(const ModelDescription *model, uint32_t layer, uint32_t index, const ModelShard *shard, ModelBlock *block)
{
    const ModelRow *row = &g_array_index(model->rows, ModelRow, layer);
    uint64_t samples = model->rows_whole ? 1 : shard->micro_batch;
    (void)index;
    block->kind = BLOCK_ROW;
    block->name = row->name;
    if (row->m > 0)
        block_add_gemm(block, "linear", row->m * samples, row->n, row->k, 1, model->value_B);
    block->other_flops = row->forward_flops * (double)samples;
    block->other_bytes = row->forward_bytes * (double)samples;
    block->row_backward_flops = row->backward_flops * (double)samples;
    block->row_backward_bytes = row->backward_bytes * (double)samples;
    block->forward_ps = row->forward_ps;
    block->backward_ps = row->backward_ps;
    block->replicated_parameters = row->parameters;
    block->kept_B = block->whole_B = row->activation_B * samples;
    block->output_B = row->output_B * samples;
}

static gboolean
rows_settle(ModelDescription *model, GError **error)
{
    if (model->rows->len == 0)
        return error_input(error, "the table has no layers");
    return TRUE;
}

static gboolean
rows_check(const ModelDescription *model, const ModelShard *shard, GError **error)
{
    for (guint i = 0; i < model->rows->len; i++) {
        const ModelRow *row = &g_array_index(model->rows, ModelRow, i);
        double most =
            MAX((double)row->activation_B, MAX((double)row->output_B, (double)row->m * (double)(row->n + row->k)));
        if (most * shard->micro_batch >= 0x1p60)
            return error_input(error, "layer %s with %u samples: above 2^60 bytes", row->name, shard->micro_batch);
    }
    if (shard->ep != 1)
        return error_input(error, "ep is %u, but a table of layers has no experts", shard->ep);
    return alone(shard, "a table of layers", error);
}

const ModelFamily model_rows_family = {rows_layers, one_block, rows_fill, rows_settle, rows_check};

/* ---- ResNet-50: He et al. 2016, table 1; a convolution as the GEMM of its patches ---- */

/* side: of the output; a convolution, its batch norm (two vectors) and its rectifier. */
static void
convolution(ModelDescription *model, const char *name, uint32_t side, uint32_t in, uint32_t out, uint32_t kernel)
{
    ModelRow *row = model_add_row(model, name);
    row->m = (uint64_t)side * side;
    row->n = out;
    row->k = (uint64_t)in * kernel * kernel;
    row->parameters = row->n * row->k + 2ull * out;
    row->output_B = row->m * out * model->value_B;
    row->activation_B = 2 * row->output_B;            /* of the convolution and of the norm */
    row->forward_bytes = 4.0 * (double)row->output_B; /* norm and rectifier read and write */
    row->backward_bytes = 2 * row->forward_bytes;
}

void
model_resnet_50(ModelDescription *model)
{
    static const struct {
        uint32_t times, side, inner;
    } stages[] = {{3, 56, 64}, {4, 28, 128}, {6, 14, 256}, {3, 7, 512}};
    convolution(model, "conv1", 112, 3, 64, 7);
    uint32_t in = 64;
    for (uint32_t s = 0; s < G_N_ELEMENTS(stages); s++) {
        uint32_t inner = stages[s].inner, side = stages[s].side;
        for (uint32_t i = 0; i < stages[s].times; i++) {
            static const char *const parts[] = {"1x1 in", "3x3", "1x1 out", "shortcut"};
            for (uint32_t p = 0; p < (i == 0 ? 4u : 3u); p++) {
                g_autofree char *name = g_strdup_printf("conv%u_%u %s", s + 2, i + 1, parts[p]);
                /* the stride is in the 3x3 convolution (He's later form, torchvision's): the first one sees more */
                uint32_t wide = p == 0 && i == 0 && s > 0 ? 2 * side : side;
                convolution(model, name, wide, p == 0 || p == 3 ? in : inner, p < 2 ? inner : 4 * inner,
                            p == 1 ? 3 : 1);
            }
            in = 4 * inner;
        }
    }
    ModelRow *row = model_add_row(model, "fc");
    row->m = 1;
    row->n = 1000;
    row->k = 2048;
    row->parameters = 2049000;
    row->output_B = row->activation_B = 1000ull * model->value_B;
}
