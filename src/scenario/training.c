#include "scenario/training.h"

#include "base/error.h"
#include "scenario/scenario.h"
#include "scenario/scenario_parts.h"
#include "scenario/training_parts.h"

#include <stddef.h>
#include <string.h>

#define MOST 16777216

const char *const training_keys[] = {
    "model",   "layout",          "schedule",      "micro_batch",     "global_batch",    "sequence",     "recompute",
    "overlap", "fused_attention", "unfused_norms", "gathered_logits", "optimiser_bytes", "check_memory", NULL};

gboolean
training_fail(const Reading *reading, const YamlNode *node, GError *wrong, GError **error)
{
    yaml_fail(reading->tree, node, error, "%s", wrong->message);
    g_error_free(wrong);
    return FALSE;
}

void
training_spec_init(TrainingSpec *spec)
{
    *spec = (TrainingSpec){.layout = layout_default(), .train = train_spec_default(NULL, NULL), .check_memory = TRUE};
}

void
training_spec_clear(TrainingSpec *spec)
{
    model_free(spec->model);
    layout_clear(&spec->layout);
    g_free(spec->schedule);
    g_free(spec->schedule_file);
}

/* ---- layout ---- */

/* A number, or {layers: 1, times: 126} for so many of them. */
static gboolean
read_stage(const Reading *reading, const YamlNode *node, GArray *stages, GError **error)
{
    static const Field fields[] = {
        {"layers", field_count, 0, 0, MOST}, {"times", field_count, sizeof(uint32_t), 1, 65536}, {NULL}};
    uint32_t run[] = {0, 1};
    if (node->kind != YAML_MAP ? !field_count(reading, node, fields, run, error)
                               : !fields_read(reading, node, fields, run, error))
        return FALSE;
    if (node->kind == YAML_MAP && yaml_get(node, "layers") == NULL)
        return yaml_fail(reading->tree, node, error, "needs layers");
    for (uint32_t i = 0; i < run[1]; i++)
        g_array_append_val(stages, run[0]);
    return TRUE;
}

static gboolean
read_stages(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    Layout *layout = base;
    (void)field;
    if (!field_is_list(reading, node, error))
        return FALSE;
    layout_clear(layout);
    layout->stage_layers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (guint i = 0; i < node->values->len; i++) {
        if (!read_stage(reading, node->values->pdata[i], layout->stage_layers, error))
            return FALSE;
    }
    return TRUE;
}

/* A number, or a map by kind of block; those that are not in it are at 0. */
static gboolean
read_zero(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    static const Field stage = {"", field_count, 0, 0, 3};
    Layout *layout = base;
    const char *known[BLOCK_KINDS + 1] = {NULL};
    (void)field;
    if (node->kind != YAML_MAP)
        return field_count(reading, node, &stage, &layout->zero, error);
    for (int kind = 0; kind < BLOCK_KINDS; kind++)
        known[kind] = block_kind_name((BlockKind)kind);
    if (!yaml_only(reading->tree, node, known, error))
        return FALSE;
    for (int kind = 0; kind < BLOCK_KINDS; kind++) {
        const YamlNode *own = yaml_get(node, known[kind]);
        if (own != NULL && !field_count(reading, own, &stage, &layout->zero_of[kind], error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
read_order(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    Layout *layout = base;
    (void)field;
    if (!field_is_list(reading, node, error))
        return FALSE;
    if (node->values->len != LAYOUT_AXES)
        return yaml_fail(reading->tree, node, error, "found %u axes, expected tp, cp, ep, dp and pp, innermost first",
                         node->values->len);
    for (guint i = 0; i < LAYOUT_AXES; i++) {
        unsigned axis;
        if (!field_name(reading, node->values->pdata[i], layout_axis_names, &axis, error))
            return FALSE;
        layout->order[i] = (LayoutAxis)axis;
    }
    return TRUE;
}

static const Field layout_fields[] = {
    {"tp", field_count, offsetof(Layout, tp), 1, MOST},
    {"cp", field_count, offsetof(Layout, cp), 1, MOST},
    {"ep", field_count, offsetof(Layout, ep), 1, MOST},
    {"dp", field_count, offsetof(Layout, dp), 1, MOST},
    {"pp", field_count, offsetof(Layout, pp), 1, MOST},
    {"virtual_stages", field_count, offsetof(Layout, virtual_stages), 1, 65536},
    {"stages", read_stages},
    {"expert_tp", field_count, offsetof(Layout, expert_tp), 1, MOST},
    {"zero", read_zero},
    {"shard_ranks", field_count, offsetof(Layout, shard_ranks), 1, MOST},
    {"sequence_parallel", field_flag, offsetof(Layout, sequence_parallel)},
    {"cp_exchange", field_choice, offsetof(Layout, cp_exchange), .names = context_exchange_names},
    {"scatter_gather", field_flag, offsetof(Layout, scatter_gather)},
    {"order", read_order},
    {NULL},
};

/* ---- schedule and overlap ---- */

static const Field schedule_fields[] = {
    {"file", field_file, offsetof(TrainingSpec, schedule_file)},
    {"in_flight", field_count, offsetof(TrainingSpec, train.in_flight), 1, MOST},
    {NULL},
};

static gboolean
read_schedule(const Reading *reading, const YamlNode *node, TrainingSpec *spec, GError **error)
{
    if (node->kind == YAML_MAP) {
        if (!fields_read(reading, node, schedule_fields, spec, error))
            return FALSE;
        return spec->schedule_file != NULL || yaml_fail(reading->tree, node, error, "needs file");
    }
    unsigned index;
    if (!field_name(reading, node, pipeline_schedule_names(), &index, error))
        return FALSE;
    g_free(spec->schedule);
    spec->schedule = g_strdup(pipeline_schedule_names()[index]);
    return TRUE;
}

static const char *const streams[] = {"own", "one", NULL};

static const Field overlap_fields[] = {
    {"gradients", field_flag, offsetof(TrainSpec, overlap_gradients)},
    {"bucket", field_size, offsetof(TrainSpec, bucket_B), 1},
    {"prefetch", field_count, offsetof(TrainSpec, prefetch), 0, 65536},
    {"in_flight", field_count, offsetof(TrainSpec, gradients_in_flight), 1, 64},
    {"streams", field_choice, offsetof(TrainSpec, one_stream), .names = streams},
    {"tp_pieces", field_count, offsetof(TrainSpec, tp_pieces), 1, 64},
    {NULL},
};

static const Field plain_fields[] = {
    {"micro_batch", field_count, offsetof(TrainSpec, micro_batch), 1, MOST},
    {"global_batch", field_count, offsetof(TrainSpec, global_batch), 1, 1073741824},
    {"sequence", field_count, offsetof(TrainSpec, sequence), 1, MOST},
    {"recompute", field_choice, offsetof(TrainSpec, recompute), .names = recompute_names},
    {"fused_attention", field_flag, offsetof(TrainSpec, fused_attention)},
    {"unfused_norms", field_flag, offsetof(TrainSpec, unfused_norms)},
    {"gathered_logits", field_flag, offsetof(TrainSpec, gathered_logits)},
    {"optimiser_bytes", field_number, offsetof(TrainSpec, optimiser_B), 0, 1e6},
    {NULL},
};

gboolean
training_read_key(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    TrainingSpec *spec = (TrainingSpec *)(void *)((char *)base + field->offset);
    if (strcmp(field->key, "model") == 0) {
        spec->model = training_read_model(reading, node, error);
        return spec->model != NULL;
    }
    if (strcmp(field->key, "layout") == 0)
        return fields_read(reading, node, layout_fields, &spec->layout, error);
    if (strcmp(field->key, "schedule") == 0)
        return read_schedule(reading, node, spec, error);
    if (strcmp(field->key, "check_memory") == 0) {
        Field flag = {"check_memory", field_flag, offsetof(TrainingSpec, check_memory)};
        return field_flag(reading, node, &flag, spec, error);
    }
    if (strcmp(field->key, "overlap") == 0)
        return fields_read(reading, node, overlap_fields, &spec->train, error);
    for (const Field *plain = plain_fields; plain->key != NULL; plain++)
        if (strcmp(plain->key, field->key) == 0)
            return plain->read(reading, node, plain, &spec->train, error);
    g_assert_not_reached();
}

/* ---- the whole ---- */

static TrainSpec
filled(const TrainingSpec *spec, uint32_t gpus)
{
    TrainSpec train = spec->train;
    train.model = spec->model;
    train.layout = &spec->layout;
    train.schedule = spec->schedule;
    train.schedule_file = spec->schedule_file;
    train.gpus = gpus;
    return train;
}

gboolean
training_check(const Reading *reading, const YamlNode *map, TrainingSpec *spec, uint32_t gpus, GError **error)
{
    if (spec->model == NULL) {
        for (const char *const *key = training_keys; *key != NULL; key++)
            if (yaml_get(map, *key) != NULL)
                return yaml_fail(reading->tree, yaml_get(map, *key), error, "means nothing without model");
        return TRUE;
    }
    if (yaml_get(map, "global_batch") == NULL)
        return yaml_fail(reading->tree, map, error, "model needs global_batch: %s of one iteration",
                         spec->model->kind == MODEL_TRANSFORMER ? "sequences" : "samples");
    TrainSpec train = filled(spec, gpus);
    GError *wrong = NULL;
    if (train_check(&train, &wrong))
        return TRUE;
    const YamlNode *layout = yaml_get(map, "layout");
    return training_fail(reading, layout != NULL ? layout : yaml_get(map, "model"), wrong, error);
}

Workload *
training_workload(const TrainingSpec *spec, uint32_t gpus, GError **error)
{
    TrainSpec train = filled(spec, gpus);
    return train_program(&train, error);
}

gboolean
training_check_memory(const TrainingSpec *spec, uint32_t gpus, uint64_t memory_B, GError **error)
{
    TrainSpec train = filled(spec, gpus);
    return training_memory_check(&train, memory_B, error);
}

/* ---- files for trace generate ---- */

static gboolean
describe_alone(YamlTree *tree, const char *folder, TrainingUse use, void *data, GError **error)
{
    Reading reading = {tree, folder};
    Field fields[G_N_ELEMENTS(training_keys) + 1] = {{NULL}};
    size_t n = 0;
    for (; training_keys[n] != NULL; n++)
        fields[n] = (Field){training_keys[n], training_read_key};
    TrainingSpec spec;
    training_spec_init(&spec);
    fields[n] = (Field){"gpus", field_count, offsetof(TrainingSpec, train.gpus), 1, MOST};
    gboolean good = fields_read(&reading, tree->root, fields, &spec, error);
    if (good && spec.model == NULL)
        good = yaml_fail(tree, tree->root, error, "needs model, or jobs");
    if (good && training_check(&reading, tree->root, &spec, spec.train.gpus, error)) {
        TrainSpec train = filled(&spec, spec.train.gpus);
        good = use(&train, data, error);
    } else {
        good = FALSE;
    }
    training_spec_clear(&spec);
    return good;
}

static const JobSpec *
find_job(const Scenario *scenario, const char *path, const char *name, GError **error)
{
    const JobSpec *found = NULL;
    uint32_t n = 0;
    for (uint32_t j = 0; j < scenario->n_jobs; j++) {
        const JobSpec *job = &scenario->jobs[j];
        if (name != NULL ? strcmp(job->name, name) != 0 : job->training.model == NULL)
            continue;
        found = job;
        n++;
    }
    if (name != NULL && n == 0)
        error_input(error, "%s: there is no job \"%s\"", path, name);
    else if (n != 1)
        error_input(error, n == 0 ? "%s: no job has a model" : "%s: several jobs have a model: say which with --job",
                    path);
    else if (found->training.model == NULL)
        error_input(error, "%s: job \"%s\" has no model: nothing is to be generated", path, name);
    else
        return found;
    return NULL;
}

static gboolean
describe_job(const char *path, const char *name, const char *const *sets, TrainingUse use, void *data, GError **error)
{
    g_autoptr(Scenario) scenario = scenario_read(path, sets, error);
    const JobSpec *job = scenario != NULL ? find_job(scenario, path, name, error) : NULL;
    if (job == NULL)
        return FALSE;
    TrainSpec train = filled(&job->training, job->gpus);
    return use(&train, data, error);
}

gboolean
training_describe(const char *path, const char *job, const char *const *sets, TrainingUse use, void *data,
                  GError **error)
{
    g_autoptr(YamlTree) tree = yaml_tree_read(path, error);
    if (tree == NULL)
        return FALSE;
    if (yaml_get(tree->root, "jobs") != NULL)
        return describe_job(path, job, sets, use, data, error);
    if (job != NULL)
        return error_input(error, "%s: --job %s, but the file has no jobs", path, job);
    for (size_t i = 0; sets != NULL && sets[i] != NULL; i++)
        if (!yaml_tree_set(tree, sets[i], error))
            return FALSE;
    g_autofree char *folder = g_path_get_dirname(path);
    return describe_alone(tree, folder, use, data, error);
}

static gboolean
make_workload(const TrainSpec *train, void *data, GError **error)
{
    Workload **workload = data;
    *workload = train_program(train, error);
    return *workload != NULL;
}

Workload *
training_generate(const char *path, const char *job, const char *const *sets, GError **error)
{
    Workload *workload = NULL;
    training_describe(path, job, sets, make_workload, &workload, error);
    return workload;
}
