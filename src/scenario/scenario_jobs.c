#include "base/suggest.h"
#include "scenario/scenario_parts.h"

#include <stddef.h>
#include <string.h>

#define GPUS_LIMIT 16777216
#define ITERATIONS_LIMIT 1000000000

static const char *const units[] = {"building", "zone", "server", NULL};
static const char *const starts[] = {"recorded", "together", NULL};

void
job_spec_clear(JobSpec *job)
{
    g_free(job->name);
    g_strfreev(job->trace);
    g_strfreev(job->execution_trace);
    g_free(job->groups);
    g_free(job->sizes);
    g_free(job->dimensions);
    g_free(job->program);
    training_spec_clear(&job->training);
    g_free(job->format);
    g_free(job->placement.over);
    g_free(job->placement.axis);
    g_strfreev(job->placement.gpus);
    for (uint32_t i = 0; i < job->placement.n_rules; i++) {
        g_free(job->placement.rules[i].axis);
        g_free(job->placement.rules[i].across);
        g_free(job->placement.rules[i].inside);
    }
    g_free(job->placement.rules);
    for (guint i = 0; job->weights != NULL && i < job->weights->len; i++)
        g_free(g_array_index(job->weights, GroupWeight, i).group);
    if (job->weights != NULL)
        g_array_unref(job->weights);
}

/* The names are those of the table of policies. */
static gboolean
read_policy(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    const char *names[PLACEMENT_GIVEN + 2] = {NULL};
    for (unsigned i = 0; i <= PLACEMENT_GIVEN; i++)
        names[i] = placement_policy_name((PlacementPolicy)i);
    unsigned index;
    if (!field_name(reading, node, names, &index, error))
        return FALSE;
    ((PlacementSpec *)base)->policy = (PlacementPolicy)index;
    return TRUE;
}

static const Field rule_fields[] = {
    {"axis", field_text, offsetof(PlacementRule, axis)},
    {"across", field_text, offsetof(PlacementRule, across)},
    {"inside", field_text, offsetof(PlacementRule, inside)},
    {NULL},
};

/* `map`: a list of {axis, across} and {axis, inside}. */
static gboolean
read_rules(const Reading *reading, const YamlNode *list, const Field *field, void *base, GError **error)
{
    PlacementSpec *placement = base;
    static const char *const insides[] = {"building", "zone", "server", "rail", NULL};
    if (!field_is_list(reading, list, error))
        return FALSE;
    placement->rules = g_new0(PlacementRule, list->values->len + 1);
    for (guint i = 0; i < list->values->len; i++) {
        const YamlNode *node = list->values->pdata[i];
        PlacementRule *rule = &placement->rules[placement->n_rules++];
        unsigned unit;
        if (!fields_read(reading, node, rule_fields, rule, error))
            return FALSE;
        if (rule->axis == NULL || (rule->across == NULL) == (rule->inside == NULL))
            return yaml_fail(reading->tree, node, error, "needs axis, and one of across and inside");
        if (rule->across ? !field_name(reading, yaml_get(node, "across"), units, &unit, error)
                         : !field_name(reading, yaml_get(node, "inside"), insides, &unit, error))
            return FALSE;
    }
    return TRUE;
}

static const Field placement_fields[] = {
    {"policy", read_policy},
    {"over", field_text, offsetof(PlacementSpec, over)},
    {"axis", field_text, offsetof(PlacementSpec, axis)},
    {"map", read_rules},
    {"gpus", field_texts, offsetof(PlacementSpec, gpus)},
    {NULL},
};

/* What each policy makes of `over`, `axis`, `map` and `gpus`. */
static const struct {
    gboolean over, axis, map, gpus;
} uses[] = {
    [PLACEMENT_SPREAD] = {.over = TRUE},   [PLACEMENT_RESERVED] = {.over = TRUE},
    [PLACEMENT_BUILDING] = {.over = TRUE}, [PLACEMENT_AXIS] = {.over = TRUE, .axis = TRUE},
    [PLACEMENT_MAP] = {.map = TRUE},       [PLACEMENT_GIVEN] = {.gpus = TRUE},
};

static gboolean
unused(const Reading *reading, const YamlNode *map, const char *key, gboolean used, PlacementPolicy policy,
       GError **error)
{
    const YamlNode *node = yaml_get(map, key);
    if (node == NULL || used)
        return TRUE;
    return yaml_fail(reading->tree, node, error, "means nothing to policy %s", placement_policy_name(policy));
}

static gboolean
check_given(const Reading *reading, const YamlNode *list, char **gpus, GError **error)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; gpus[i] != NULL; i++)
        if (!g_hash_table_add(seen, gpus[i]))
            return yaml_fail(reading->tree, list->values->pdata[i], error, "\"%s\" is in the list already", gpus[i]);
    return TRUE;
}

static gboolean
read_placement(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    PlacementSpec *placement = &((JobSpec *)base)->placement;
    if (!fields_read(reading, node, placement_fields, placement, error))
        return FALSE;
    PlacementPolicy policy = placement->policy;
    if (yaml_get(node, "policy") == NULL)
        return yaml_fail(reading->tree, node, error, "needs a policy");
    gboolean over = policy < G_N_ELEMENTS(uses) && uses[policy].over;
    gboolean axis = policy < G_N_ELEMENTS(uses) && uses[policy].axis;
    gboolean map = policy < G_N_ELEMENTS(uses) && uses[policy].map;
    gboolean gpus = policy < G_N_ELEMENTS(uses) && uses[policy].gpus;
    if (!unused(reading, node, "over", over, policy, error) || !unused(reading, node, "axis", axis, policy, error) ||
        !unused(reading, node, "map", map, policy, error) || !unused(reading, node, "gpus", gpus, policy, error))
        return FALSE;
    if (map && placement->n_rules == 0)
        return yaml_fail(reading->tree, node, error, "policy map needs map: a list of axes, across or inside what");
    if (gpus && placement->gpus == NULL)
        return yaml_fail(reading->tree, node, error, "policy given needs gpus: a list of node names, one a rank");
    if (axis && (placement->axis == NULL || placement->over == NULL))
        return yaml_fail(reading->tree, node, error, "policy axis needs axis and over");
    unsigned unit;
    if ((policy == PLACEMENT_SPREAD || policy == PLACEMENT_AXIS || policy == PLACEMENT_RESERVED) &&
        placement->over != NULL && !field_name(reading, yaml_get(node, "over"), units, &unit, error))
        return FALSE;
    return !gpus || check_given(reading, yaml_get(node, "gpus"), placement->gpus, error);
}

static gboolean
read_start(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    unsigned index;
    if (!field_name(reading, node, starts, &index, error))
        return FALSE;
    ((JobSpec *)base)->start_together = index == 1;
    return TRUE;
}

static gboolean
read_own_collectives(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_collectives(reading, node, &((JobSpec *)base)->collectives, error);
}

/* `weights`: {tp: 4, dp: 0.5}; which groups there are is known when the workload is. */
static gboolean
read_weights(const Reading *reading, const YamlNode *map, const Field *field, void *base, GError **error)
{
    static const Field number = {"", field_number, 0, 1.0 / 1024, 1024};
    JobSpec *job = base;
    if (map->kind != YAML_MAP) {
        g_autofree char *found = yaml_describe(map);
        return yaml_fail(reading->tree, map, error, "found %s, expected a map of groups", found);
    }
    job->weights = g_array_new(FALSE, FALSE, sizeof(GroupWeight));
    for (guint i = 0; i < map->keys->len; i++) {
        const YamlNode *node = map->values->pdata[i];
        GroupWeight weight = {.line = node->line, .column = node->column};
        if (!field_number(reading, node, &number, &weight.weight, error))
            return FALSE;
        weight.group = g_strdup(map->keys->pdata[i]);
        g_array_append_val(job->weights, weight);
    }
    return TRUE;
}

/* `until` is read when all jobs are known. */
static gboolean
later(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return field_scalar(reading, node, "the name of a job", error) != NULL;
}

static gboolean
read_priority(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    double value = 0;
    Field number = {"priority", field_number, 0, -1e9, 1e9};
    if (!field_number(reading, node, &number, &value, error))
        return FALSE;
    ((JobSpec *)base)->priority = (int32_t)value;
    if (((JobSpec *)base)->priority != value)
        return yaml_fail(reading->tree, node, error, "found %s, expected a whole number", node->text);
    return TRUE;
}

static const Field job_fields[] = {
    {"name", field_text, offsetof(JobSpec, name)},
    {"trace", field_files, offsetof(JobSpec, trace)},
    {"execution_trace", field_files, offsetof(JobSpec, execution_trace)},
    {"groups", field_file, offsetof(JobSpec, groups)},
    {"sizes", field_file, offsetof(JobSpec, sizes)},
    {"dimensions", field_text, offsetof(JobSpec, dimensions)},
    {"program", field_file, offsetof(JobSpec, program)},
    {"format", field_text, offsetof(JobSpec, format)},
    {"model", training_read_key, offsetof(JobSpec, training)},
    {"layout", training_read_key, offsetof(JobSpec, training)},
    {"schedule", training_read_key, offsetof(JobSpec, training)},
    {"micro_batch", training_read_key, offsetof(JobSpec, training)},
    {"global_batch", training_read_key, offsetof(JobSpec, training)},
    {"sequence", training_read_key, offsetof(JobSpec, training)},
    {"recompute", training_read_key, offsetof(JobSpec, training)},
    {"overlap", training_read_key, offsetof(JobSpec, training)},
    {"fused_attention", training_read_key, offsetof(JobSpec, training)},
    {"unfused_norms", training_read_key, offsetof(JobSpec, training)},
    {"gathered_logits", training_read_key, offsetof(JobSpec, training)},
    {"check_memory", training_read_key, offsetof(JobSpec, training)},
    {"optimiser_bytes", training_read_key, offsetof(JobSpec, training)},
    {"gpus", field_count, offsetof(JobSpec, gpus), 1, GPUS_LIMIT},
    {"model_parallel", field_count, offsetof(JobSpec, model_parallel), 1, GPUS_LIMIT},
    {"rank_is", field_choice, offsetof(JobSpec, rank_is), .names = trace_rank_is_names},
    {"replicate", field_count, offsetof(JobSpec, replicate), 1, GPUS_LIMIT},
    {"placement", read_placement},
    {"iterations", field_count, offsetof(JobSpec, iterations), 1, ITERATIONS_LIMIT},
    {"warmup", field_count, offsetof(JobSpec, warmup), 0, ITERATIONS_LIMIT},
    {"until", later},
    {"arrival", field_time, offsetof(JobSpec, arrival_ps)},
    {"estimate", field_time, offsetof(JobSpec, estimate_ps), 1},
    {"priority", read_priority},
    {"shift", field_time, offsetof(JobSpec, shift_ps)},
    {"start", read_start},
    {"scale_bytes", field_number, offsetof(JobSpec, scale_bytes), ABOVE_0, G_MAXDOUBLE},
    {"compute_scale", field_number, offsetof(JobSpec, compute_scale), 0, G_MAXDOUBLE},
    {"peak", field_compute, offsetof(JobSpec, peak_FLOPps), ABOVE_0},
    {"memory_bandwidth", field_rate, offsetof(JobSpec, memory_bandwidth_Bps), ABOVE_0},
    {"collectives", read_own_collectives},
    {"weights", read_weights},
    {NULL},
};

/* Where two keys of a job exclude each other. */
static gboolean
not_both(const Reading *reading, const YamlNode *map, const char *a, const char *b, GError **error)
{
    const YamlNode *second = yaml_get(map, b);
    if (yaml_get(map, a) == NULL || second == NULL)
        return TRUE;
    return yaml_fail(reading->tree, second, error, "%s is given too; a job has one of them", a);
}

static gboolean
check_sources(const Reading *reading, const YamlNode *map, const JobSpec *job, GError **error)
{
    if (!not_both(reading, map, "trace", "program", error) || !not_both(reading, map, "program", "format", error) ||
        !not_both(reading, map, "program", "execution_trace", error) ||
        !not_both(reading, map, "program", "groups", error) || !not_both(reading, map, "program", "sizes", error))
        return FALSE;
    static const char *const others[] = {"trace", "program",    "format",         "execution_trace", "groups",
                                         "sizes", "dimensions", "model_parallel", "rank_is",         "replicate"};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (!not_both(reading, map, "model", others[i], error))
            return FALSE;
    if (job->trace == NULL && job->program == NULL && job->training.model == NULL)
        return yaml_fail(reading->tree, map, error, "needs trace, program or model");
    return TRUE;
}

static gboolean
check_lengths(const Reading *reading, const YamlNode *map, JobSpec *job, GError **error)
{
    if (!not_both(reading, map, "iterations", "until", error))
        return FALSE;
    if (job->iterations == 0 && yaml_get(map, "until") == NULL)
        return yaml_fail(reading->tree, map, error, "needs iterations or until");
    const YamlNode *warmup = yaml_get(map, "warmup");
    if (job->iterations > 0 && job->warmup >= job->iterations)
        return yaml_fail(reading->tree, warmup ? warmup : map, error,
                         "warmup %u%s is not less than the %u iterations, so that none counts", job->warmup,
                         warmup ? "" : " (the default)", job->iterations);
    char **given = job->placement.gpus;
    if (given == NULL)
        return TRUE;
    guint n = g_strv_length(given);
    if (job->gpus != 0 && job->gpus != n)
        return yaml_fail(reading->tree, yaml_get(yaml_get(map, "placement"), "gpus"), error,
                         "found %u GPUs, expected the job's %u", n, job->gpus);
    job->gpus = n;
    return TRUE;
}

static gboolean
read_job(const Reading *reading, const YamlNode *map, const Scenario *scenario, JobSpec *job, GError **error)
{
    *job = (JobSpec){.until = INDEX_NONE,
                     .warmup = 1,
                     .scale_bytes = 1,
                     .compute_scale = 1,
                     .collectives = scenario->collectives,
                     .line = map->line,
                     .column = map->column};
    training_spec_init(&job->training);
    if (!fields_read(reading, map, job_fields, job, error))
        return FALSE;
    if (job->name == NULL)
        return yaml_fail(reading->tree, map, error, "needs a name");
    return check_sources(reading, map, job, error) && check_lengths(reading, map, job, error) &&
           training_check(reading, map, &job->training, job->gpus, error);
}

static gboolean
check_name(const Reading *reading, const YamlNode *map, const Scenario *scenario, uint32_t index, GError **error)
{
    for (uint32_t i = 0; i < index; i++)
        if (strcmp(scenario->jobs[i].name, scenario->jobs[index].name) == 0)
            return yaml_fail(reading->tree, yaml_get(map, "name"), error, "jobs[%u] is called \"%s\" already", i,
                             scenario->jobs[i].name);
    return TRUE;
}

static gboolean
no_such_job(const Reading *reading, const YamlNode *node, const Scenario *scenario, GError **error)
{
    g_autofree const char **names = g_new0(const char *, scenario->n_jobs + 1);
    for (uint32_t i = 0; i < scenario->n_jobs; i++)
        names[i] = scenario->jobs[i].name;
    const char *near = suggest_nearest(node->text, names, scenario->n_jobs);
    return yaml_fail(reading->tree, node, error, "there is no job \"%s\"%s%s%s", node->text,
                     near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* Finds the job that until names; jobs that wait for each other would run for ever. */
static gboolean
resolve_until(const Reading *reading, const YamlNode *list, Scenario *scenario, GError **error)
{
    for (uint32_t i = 0; i < scenario->n_jobs; i++) {
        const YamlNode *node = yaml_get(list->values->pdata[i], "until");
        for (uint32_t k = 0; node != NULL && k < scenario->n_jobs; k++)
            if (strcmp(scenario->jobs[k].name, node->text) == 0)
                scenario->jobs[i].until = k;
        if (node == NULL)
            continue;
        if (scenario->jobs[i].until == INDEX_NONE)
            return no_such_job(reading, node, scenario, error);
        if (scenario->jobs[i].until == i)
            return yaml_fail(reading->tree, node, error, "the job waits for itself");
    }
    for (uint32_t i = 0; i < scenario->n_jobs; i++) {
        uint32_t k = i, steps = 0;
        while (scenario->jobs[k].until != INDEX_NONE && steps++ < scenario->n_jobs)
            k = scenario->jobs[k].until;
        if (scenario->jobs[k].until != INDEX_NONE)
            return yaml_fail(reading->tree, yaml_get(list->values->pdata[i], "until"), error,
                             "jobs wait for each other in a circle: none of them would end");
    }
    return TRUE;
}

gboolean
scenario_read_jobs(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error)
{
    if (!field_is_list(reading, node, error))
        return FALSE;
    if (node->values->len == 0)
        return yaml_fail(reading->tree, node, error, "found an empty list, expected at least one job");
    scenario->jobs = g_new0(JobSpec, node->values->len);
    for (guint i = 0; i < node->values->len; i++) {
        const YamlNode *map = node->values->pdata[i];
        scenario->n_jobs++;
        if (!read_job(reading, map, scenario, &scenario->jobs[i], error) ||
            !check_name(reading, map, scenario, i, error))
            return FALSE;
    }
    return resolve_until(reading, node, scenario, error);
}
