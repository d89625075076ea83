/* model_presets.c - models that are known by name, a line each
 *
 * Sources: GPT-3, Brown et al. 2020, table 2.1 (vocabulary padded to 51,200 as Megatron pads it). sc21-*: Narayanan et
 * al. 2021, table 1; vocabulary 51,200 and sequence 2048 of its section 5. llama-2-*: Touvron et al. 2023 and the
 * models' config.json. llama-3-*: Grattafiori et al. 2024, table 3. mixtral-*: Jiang et al. 2024, table 1, and
 * config.json. deepseek-v3: DeepSeek-AI 2024, section 4.2 (without its multi-token prediction module). bert-large:
 * Devlin et al. 2019, section 3. dlrm-a: Hsia et al. 2024 (MAD-Max), table 2 and its repository's model file.
 * resnet-50: He et al. 2016, table 1. Published totals are those that the sources or the models' files state;
 * Megatron's are to three digits. */
#include "base/error.h"
#include "base/suggest.h"
#include "workload/model_parts.h"

#include <string.h>

typedef struct {
    const char *name, *source;
    double parameters;
    Transformer t;
} Preset;

/* Layers, hidden, heads, KV heads, FFN, vocabulary, sequence. */
#define SIZES(l, width, a, kv, f, v, s)                                                                                \
    .layers = (l), .hidden = (width), .heads = (a), .kv_heads = (kv), .ffn = (f), .vocabulary = (v), .sequence = (s)
#define GPT(l, width, a)                                                                                               \
    {                                                                                                                  \
        SIZES(l, width, a, a, 4 * (width), 51200, 2048), .bias = TRUE, .tied = TRUE, .learned = TRUE, .causal = TRUE,  \
                                                         .dropout = TRUE                                               \
    }
#define LLAMA .gated = TRUE, .rms = TRUE, .causal = TRUE

#define SC21 "Narayanan et al. 2021, table 1"
#define LLAMA_2 "Touvron et al. 2023"
#define LLAMA_3 "Grattafiori et al. 2024, table 3"

static const Preset presets[] = {
    {"gpt-3-175b", "Brown et al. 2020, table 2.1", 175e9, GPT(96, 12288, 96)},
    {"sc21-1.7b", SC21, 1.7e9, GPT(24, 2304, 24)},
    {"sc21-3.6b", SC21, 3.6e9, GPT(30, 3072, 32)},
    {"sc21-7.5b", SC21, 7.5e9, GPT(36, 4096, 32)},
    {"sc21-18b", SC21, 18.4e9, GPT(40, 6144, 48)},
    {"sc21-39b", SC21, 39.1e9, GPT(48, 8192, 64)},
    {"sc21-76b", SC21, 76.1e9, GPT(60, 10240, 80)},
    {"sc21-145b", SC21, 145.6e9, GPT(80, 12288, 96)},
    {"sc21-310b", SC21, 310.1e9, GPT(96, 16384, 128)},
    {"sc21-530b", SC21, 529.6e9, GPT(105, 20480, 128)},
    {"sc21-1t", SC21, 1008e9, GPT(128, 25600, 160)},
    {"llama-2-7b", LLAMA_2, 6738415616, {SIZES(32, 4096, 32, 32, 11008, 32000, 4096), LLAMA}},
    {"llama-2-13b", LLAMA_2, 13015864320, {SIZES(40, 5120, 40, 40, 13824, 32000, 4096), LLAMA}},
    {"llama-2-70b", LLAMA_2, 68976648192, {SIZES(80, 8192, 64, 8, 28672, 32000, 4096), LLAMA}},
    {"llama-3-8b", LLAMA_3, 8030261248, {SIZES(32, 4096, 32, 8, 14336, 128256, 8192), LLAMA}},
    {"llama-3-70b", LLAMA_3, 70553706496, {SIZES(80, 8192, 64, 8, 28672, 128256, 8192), LLAMA}},
    {"llama-3-405b", LLAMA_3, 405853388800, {SIZES(126, 16384, 128, 8, 53248, 128256, 8192), LLAMA}},
    {"mixtral-8x7b",
     "Jiang et al. 2024, table 1",
     46702792704,
     {SIZES(32, 4096, 32, 8, 14336, 32000, 32768), LLAMA, .experts = 8, .top_k = 2}},
    {"mixtral-8x22b",
     "config.json of Mixtral-8x22B-v0.1",
     140620634112,
     {SIZES(56, 6144, 48, 8, 16384, 32000, 65536), LLAMA, .experts = 8, .top_k = 2}},
    {"deepseek-v3",
     "DeepSeek-AI 2024, section 4.2",
     671026419200,
     {SIZES(61, 7168, 128, 128, 18432, 129280, 4096), LLAMA, .head_dim = 128, .q_lora = 1536, .kv_lora = 512,
      .rope_dim = 64, .value_dim = 128, .experts = 256, .top_k = 8, .shared = 1, .expert_ffn = 2048, .dense_first = 3,
      .router_bias = TRUE}},
    {"bert-large",
     "Devlin et al. 2019, section 3",
     335141888,
     {SIZES(24, 1024, 16, 16, 4096, 30522, 512), .bias = TRUE, .tied = TRUE, .learned = TRUE, .dropout = TRUE,
      .pooler = TRUE, .segments = 2}},
};

static const char *const others[] = {"dlrm-a", "resnet-50"};

enum { N_PRESETS = G_N_ELEMENTS(presets), N_OTHERS = G_N_ELEMENTS(others) };

const char *const *
model_preset_names(void)
{
    static const char *names[N_PRESETS + N_OTHERS + 1];
    for (size_t i = 0; i < N_PRESETS; i++)
        names[i] = presets[i].name;
    for (size_t i = 0; i < N_OTHERS; i++)
        names[N_PRESETS + i] = others[i];
    return names;
}

static ModelDescription *
dlrm_a(void)
{
    ModelDescription *model = model_new("dlrm-a", MODEL_DLRM);
    model->source = g_strdup("Hsia et al. 2024 (MAD-Max), table 2");
    model->published_parameters = 801.17e9;
    model->value_B = model->gradient_B = 4; /* its MLPs train in fp32 */
    model->dlrm = (Dlrm){.tables = 4096,
                         .rows = 2080000,
                         .width = 94,
                         .pooling = 15,
                         .table_value_B = 2,
                         .bottom_layers = 10,
                         .bottom_width = 3994,
                         .top_layers = 10,
                         .top_width = 3994};
    return model;
}

static ModelDescription *
resnet_50(void)
{
    ModelDescription *model = model_new("resnet-50", MODEL_LAYERS);
    model->source = g_strdup("He et al. 2016, table 1");
    model->published_parameters = 25557032; /* torchvision */
    model_resnet_50(model);
    return model;
}

ModelDescription *
model_preset(const char *name, GError **error)
{
    g_autoptr(ModelDescription) model = NULL;
    for (size_t i = 0; i < N_PRESETS; i++) {
        if (strcmp(name, presets[i].name) != 0)
            continue;
        model = model_new(name, MODEL_TRANSFORMER);
        model->transformer = presets[i].t;
        model->source = g_strdup(presets[i].source);
        model->published_parameters = presets[i].parameters;
    }
    if (strcmp(name, others[0]) == 0)
        model = dlrm_a();
    else if (strcmp(name, others[1]) == 0)
        model = resnet_50();
    if (model == NULL) {
        g_autofree char *hint = suggest_hint(name, model_preset_names(), N_PRESETS + N_OTHERS);
        error_input(error, "there is no model \"%s\"%s", name, hint);
        return NULL;
    }
    return model_settle(model, error) ? g_steal_pointer(&model) : NULL;
}
