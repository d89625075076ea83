/* training_model.c - the key `model`: a preset's name, or a map that describes one or changes a preset */
#include "base/error.h"
#include "scenario/scenario_parts.h"
#include "scenario/training_parts.h"
#include "workload/layers.h"

#include <stddef.h>
#include <string.h>

#define MOST 16777216

#define T(member) offsetof(ModelDescription, transformer.member)
#define D(member) offsetof(ModelDescription, dlrm.member)

/* `preset` and `table` are read first, for what they make. */
static gboolean
later(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    (void)reading;
    (void)node;
    (void)field;
    (void)base;
    (void)error;
    return TRUE;
}

/* `times`: {attention: [forward, input gradient, weight gradient], ...}. */
static gboolean
read_times(const Reading *reading, const YamlNode *map, const Field *field, void *base, GError **error)
{
    ModelDescription *model = base;
    const char *known[BLOCK_KINDS + 1] = {NULL};
    static const Field time = {"", field_time, 0, 0};
    (void)field;
    for (int kind = 0; kind < BLOCK_KINDS; kind++)
        known[kind] = block_kind_name((BlockKind)kind);
    if (!yaml_only(reading->tree, map, known, error))
        return FALSE;
    for (int kind = 0; kind < BLOCK_KINDS; kind++) {
        const YamlNode *list = yaml_get(map, known[kind]);
        if (list == NULL)
            continue;
        if (!field_is_list(reading, list, error))
            return FALSE;
        if (list->values->len != MODEL_PASSES)
            return yaml_fail(reading->tree, list, error,
                             "found %u times, expected 3: forward, input gradient, weight gradient", list->values->len);
        for (guint pass = 0; pass < MODEL_PASSES; pass++)
            if (!field_time(reading, list->values->pdata[pass], &time, &model->block_ps[kind][pass], error))
                return FALSE;
    }
    return TRUE;
}

static const Field transformer_fields[] = {
    {"preset", later},
    {"times", read_times},
    {"name", field_text, offsetof(ModelDescription, name)},
    {"value_bytes", field_count, offsetof(ModelDescription, value_B), 1, 8},
    {"gradient_bytes", field_count, offsetof(ModelDescription, gradient_B), 1, 8},
    {"layers", field_count, T(layers), 1, MOST},
    {"hidden", field_count, T(hidden), 1, MOST},
    {"heads", field_count, T(heads), 1, MOST},
    {"kv_heads", field_count, T(kv_heads), 1, MOST},
    {"head_dim", field_count, T(head_dim), 1, MOST},
    {"ffn", field_count, T(ffn), 1, MOST},
    {"vocabulary", field_count, T(vocabulary), 1, MOST},
    {"sequence", field_count, T(sequence), 1, MOST},
    {"gated", field_flag, T(gated)},
    {"rms", field_flag, T(rms)},
    {"bias", field_flag, T(bias)},
    {"tied", field_flag, T(tied)},
    {"learned_positions", field_flag, T(learned)},
    {"causal", field_flag, T(causal)},
    {"dropout", field_flag, T(dropout)},
    {"q_lora", field_count, T(q_lora), 0, MOST},
    {"kv_lora", field_count, T(kv_lora), 0, MOST},
    {"rope_dim", field_count, T(rope_dim), 0, MOST},
    {"value_dim", field_count, T(value_dim), 1, MOST},
    {"experts", field_count, T(experts), 0, MOST},
    {"top_k", field_count, T(top_k), 0, MOST},
    {"shared_experts", field_count, T(shared), 0, MOST},
    {"expert_ffn", field_count, T(expert_ffn), 1, MOST},
    {"dense_first", field_count, T(dense_first), 0, MOST},
    {"moe_every", field_count, T(moe_every), 0, MOST},
    {"capacity", field_number, T(capacity), 0, 1e6},
    {"skew", field_number, T(skew), 0, 8},
    {NULL},
};

static const Field dlrm_fields[] = {
    {"preset", later},
    {"times", read_times},
    {"name", field_text, offsetof(ModelDescription, name)},
    {"value_bytes", field_count, offsetof(ModelDescription, value_B), 1, 8},
    {"gradient_bytes", field_count, offsetof(ModelDescription, gradient_B), 1, 8},
    {"tables", field_count, D(tables), 1, MOST},
    {"rows", field_count, D(rows), 1, 1073741824},
    {"width", field_count, D(width), 1, MOST},
    {"pooling", field_number, D(pooling), ABOVE_0, 1e6},
    {"table_value_bytes", field_count, D(table_value_B), 1, 8},
    {"bottom_layers", field_count, D(bottom_layers), 0, 65536},
    {"bottom_width", field_count, D(bottom_width), 1, MOST},
    {"top_layers", field_count, D(top_layers), 1, 65536},
    {"top_width", field_count, D(top_width), 1, MOST},
    {NULL},
};

static const Field row_fields[] = {
    {"preset", later},
    {"table", later},
    {"name", field_text, offsetof(ModelDescription, name)},
    {"value_bytes", field_count, offsetof(ModelDescription, value_B), 1, 8},
    {"gradient_bytes", field_count, offsetof(ModelDescription, gradient_B), 1, 8},
    {NULL},
};

static const Field *
fields_of(ModelKind kind)
{
    return kind == MODEL_TRANSFORMER ? transformer_fields : kind == MODEL_DLRM ? dlrm_fields : row_fields;
}

/* What an own map begins as: a preset, a table of layers, or nothing of the kind its keys tell. */
static ModelDescription *
begin(const Reading *reading, const YamlNode *map, GError **error)
{
    const YamlNode *preset = yaml_get(map, "preset"), *table = yaml_get(map, "table");
    if (preset != NULL) {
        const char *name = field_scalar(reading, preset, "the name of a model", error);
        GError *wrong = NULL;
        ModelDescription *model = name != NULL ? model_preset(name, &wrong) : NULL;
        if (wrong != NULL)
            training_fail(reading, preset, wrong, error);
        return model;
    }
    if (table != NULL) {
        const char *name = field_scalar(reading, table, "the name of a file", error);
        g_autofree char *path = name != NULL ? field_resolve(reading, name) : NULL;
        GError *wrong = NULL;
        ModelDescription *model = path != NULL ? layer_table_model(path, &wrong) : NULL;
        if (wrong != NULL)
            training_fail(reading, table, wrong, error);
        return model;
    }
    return model_new("model", yaml_get(map, "tables") != NULL ? MODEL_DLRM : MODEL_TRANSFORMER);
}

/* What follows from a changed number is reckoned anew. */
static void
forget(const YamlNode *map, Transformer *t)
{
    gboolean width = yaml_get(map, "hidden") != NULL || yaml_get(map, "heads") != NULL;
    if (width && t->kv_lora == 0 && yaml_get(map, "head_dim") == NULL)
        t->head_dim = t->value_dim = 0;
    if (yaml_get(map, "head_dim") != NULL && t->kv_lora == 0)
        t->value_dim = 0;
    if (yaml_get(map, "heads") != NULL && yaml_get(map, "kv_heads") == NULL)
        t->kv_heads = 0;
    if (yaml_get(map, "sequence") != NULL)
        t->positions = 0;
}

ModelDescription *
training_read_model(const Reading *reading, const YamlNode *node, GError **error)
{
    if (node->kind == YAML_SCALAR) {
        const char *name = field_scalar(reading, node, "the name of a model, or a map", error);
        GError *wrong = NULL;
        ModelDescription *preset = name != NULL ? model_preset(name, &wrong) : NULL;
        if (wrong != NULL)
            training_fail(reading, node, wrong, error);
        return preset;
    }
    if (node->kind != YAML_MAP) {
        yaml_fail(reading->tree, node, error, "found a list, expected the name of a model, or a map");
        return NULL;
    }
    g_autoptr(ModelDescription) model = begin(reading, node, error);
    if (model == NULL || !fields_read(reading, node, fields_of(model->kind), model, error))
        return NULL;
    if (model->kind == MODEL_TRANSFORMER)
        forget(node, &model->transformer);
    GError *wrong = NULL;
    if (model_settle(model, &wrong))
        return g_steal_pointer(&model);
    training_fail(reading, node, wrong, error);
    return NULL;
}
