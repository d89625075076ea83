#include "scenario/scenario.h"

#include "scenario/scenario_parts.h"

#include <stddef.h>
#include <string.h>

/* In the order of their enums. */
static const char *const levels[] = {"summary", "iterations", "collectives", "flows", "packets", NULL};
static const char *const measures[] = {"common", "own", NULL};

void
scenario_free(Scenario *scenario)
{
    if (scenario == NULL)
        return;
    yaml_tree_free(scenario->tree);
    g_free(scenario->name);
    g_free(scenario->fabric_file);
    g_free(scenario->fabric_format);
    g_strfreev(scenario->fabric_companions);
    generate_spec_free(scenario->generate);
    g_free(scenario->model);
    g_ptr_array_unref(scenario->pinned);
    packet_config_clear(&scenario->packet);
    for (uint32_t i = 0; i < scenario->n_jobs; i++)
        job_spec_clear(&scenario->jobs[i]);
    for (uint32_t i = 0; i < scenario->n_faults; i++)
        fault_spec_clear(&scenario->faults[i]);
    g_free(scenario->jobs);
    g_free(scenario->faults);
    g_free(scenario);
}

static void
free_names(void *names)
{
    g_strfreev(names);
}

/* A scenario with every default, of this tree (taken over). */
static Scenario *
new_scenario(YamlTree *tree)
{
    Scenario *scenario = g_new0(Scenario, 1);
    g_autofree char *base = g_path_get_basename(tree->file);
    char *dot = strrchr(base, '.');
    if (dot != NULL && dot != base)
        *dot = '\0';
    scenario->tree = tree;
    scenario->name = g_strdup(base);
    scenario->seed = 1;
    scenario->model = g_strdup("fluid");
    scenario->routing = ROUTING_ECMP;
    scenario->payload_fraction = 1;
    for (PathLevel level = 0; level < PATH_LEVELS; level++)
        scenario->limits[level] = path_limit_default();
    scenario->packet = packet_config_default();
    scenario->pinned = g_ptr_array_new_with_free_func(free_names);
    scenario->collectives = collective_config_default();
    scenario->baseline = TRUE;
    scenario->memo = TRUE;
    scenario->record = RECORD_COLLECTIVES;
    scenario->bucket_ps = PS_PER_MS;
    scenario->collisions = TRUE;
    return scenario;
}

static gboolean
read_fabric(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_fabric(reading, node, base, error);
}

static gboolean
read_network(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_network(reading, node, base, error);
}

static gboolean
read_collectives(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_collectives(reading, node, &((Scenario *)base)->collectives, error);
}

static gboolean
read_measure(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    unsigned index;
    if (!field_name(reading, node, measures, &index, error))
        return FALSE;
    ((Scenario *)base)->measure = index == 0 ? MEASURE_COMMON : MEASURE_OWN;
    return TRUE;
}

static gboolean
read_jobs(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_jobs(reading, node, base, error);
}

static gboolean
read_queue(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_queue(reading, node, base, error);
}

static const Field record_fields[] = {
    {"level", field_choice, offsetof(Scenario, record), .names = levels},
    {"bucket", field_time, offsetof(Scenario, bucket_ps), 1},
    {"collisions", field_flag, offsetof(Scenario, collisions)},
    {NULL},
};

static gboolean
read_record(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return fields_read(reading, node, record_fields, base, error);
}

static gboolean
read_faults(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_faults(reading, node, base, error);
}

/* Read in this order, whatever that of the file: jobs start from the scenario's collectives. */
static const Field scenario_fields[] = {
    {"name", field_text, offsetof(Scenario, name)},
    {"seed", field_seed, offsetof(Scenario, seed)},
    {"fabric", read_fabric},
    {"network", read_network},
    {"collectives", read_collectives},
    {"measure", read_measure},
    {"queue", read_queue},
    {"jobs", read_jobs},
    {"baseline", field_flag, offsetof(Scenario, baseline)},
    {"memo", field_flag, offsetof(Scenario, memo)},
    {"record", read_record},
    {"faults", read_faults},
    {NULL},
};

/* measure: common where all jobs arrive at 0, else own. */
static void
resolve_measure(Scenario *scenario)
{
    if (scenario->measure != MEASURE_DEFAULT)
        return;
    scenario->measure = MEASURE_COMMON;
    for (uint32_t i = 0; i < scenario->n_jobs; i++)
        if (scenario->jobs[i].arrival_ps > 0)
            scenario->measure = MEASURE_OWN;
}

Scenario *
scenario_read(const char *path, const char *const *sets, GError **error)
{
    YamlTree *tree = yaml_tree_read(path, error);
    if (tree == NULL)
        return NULL;
    g_autoptr(Scenario) scenario = new_scenario(tree);
    for (size_t i = 0; sets != NULL && sets[i] != NULL; i++)
        if (!yaml_tree_set(tree, sets[i], error))
            return NULL;
    g_autofree char *folder = g_path_get_dirname(path);
    Reading reading = {tree, folder};
    if (!fields_read(&reading, tree->root, scenario_fields, scenario, error))
        return NULL;
    static const char *const needed[] = {"fabric", "jobs"};
    for (size_t i = 0; i < G_N_ELEMENTS(needed); i++)
        if (yaml_get(tree->root, needed[i]) == NULL) {
            yaml_fail(tree, tree->root, error, "needs %s", needed[i]);
            return NULL;
        }
    if (!scenario_check_packet(scenario, error) || !scenario_check_queue(scenario, error))
        return NULL;
    resolve_measure(scenario);
    return g_steal_pointer(&scenario);
}
