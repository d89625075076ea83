#include "base/units.h"
#include "network/network.h"
#include "scenario/scenario_parts.h"

#include <stddef.h>
#include <string.h>

/* In the order of their enums. */
static const char *const routings[] = {"ecmp", "spray", "adaptive", "dmodk", "pinned", NULL};
static const char *const grains[] = {"steps", "bundle", NULL};
static const char *const channel_weights[] = {"equal", "nic", NULL};

static gboolean
read_model(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    Scenario *scenario = base;
    const char *const *models = network_models();
    unsigned index;
    if (!field_name(reading, node, models, &index, error))
        return FALSE;
    g_free(scenario->model);
    scenario->model = g_strdup(models[index]);
    return TRUE;
}

/* A size, or none. */
static gboolean
read_slice(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    Scenario *scenario = base;
    if (node->kind == YAML_SCALAR && strcmp(node->text, "none") == 0) {
        scenario->collectives.slice_B = 0;
        return TRUE;
    }
    return field_size(reading, node, field, base, error);
}

static gboolean
read_pinned(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    Scenario *scenario = base;
    if (!field_is_list(reading, node, error))
        return FALSE;
    for (guint i = 0; i < node->values->len; i++) {
        const YamlNode *path = node->values->pdata[i];
        char **names = NULL;
        if (!field_texts(reading, path, &(Field){.key = ""}, &names, error))
            return FALSE;
        g_ptr_array_add(scenario->pinned, names);
        if (g_strv_length(names) < 2)
            return yaml_fail(reading->tree, path, error, "found one node, expected the nodes along a path");
    }
    return TRUE;
}

static const Field loggops_fields[] = {
    {"L", field_time, offsetof(LogGops, L_ps)},
    {"o", field_time, offsetof(LogGops, o_ps)},
    {"g", field_time, offsetof(LogGops, g_ps)},
    {"G", field_cost, offsetof(LogGops, G_s_per_B)},
    {"O", field_cost, offsetof(LogGops, O_s_per_B)},
    {"S", field_size, offsetof(LogGops, S_B)},
    {NULL},
};

static gboolean
read_loggops(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return fields_read(reading, node, loggops_fields, (char *)base + field->offset, error);
}

static gboolean
read_limits(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_limits(reading, node, ((Scenario *)base)->limits, error);
}

/* They are resolved when the groups of all jobs are known (setup.h). */
static gboolean
read_settings(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_settings(reading, node, error);
}

static gboolean
read_packet(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_packet(reading, node, &((Scenario *)base)->packet, error);
}

static gboolean
read_transport(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return scenario_read_transport(reading, node, &((Scenario *)base)->packet, error);
}

static const Field network_fields[] = {
    {"model", read_model},
    {"routing", field_choice, offsetof(Scenario, routing), .names = routings},
    {"slice", read_slice, offsetof(Scenario, collectives.slice_B), 1},
    {"payload_fraction", field_number, offsetof(Scenario, payload_fraction), ABOVE_0, 1},
    {"limits", read_limits},
    {"settings", read_settings},
    {"reroute_delay", field_time, offsetof(Scenario, reroute_delay_ps)},
    {"loggops", read_loggops, offsetof(Scenario, loggops)},
    {"packet", read_packet},
    {"transport", read_transport},
    {"pinned", read_pinned},
    {NULL},
};

gboolean
scenario_read_network(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error)
{
    if (!fields_read(reading, node, network_fields, scenario, error))
        return FALSE;
    const YamlNode *packet = yaml_get(node, "packet");
    if (yaml_get(node, "reroute_delay") != NULL && (packet == NULL || yaml_get(packet, "reroute_delay") == NULL))
        scenario->packet.reroute_delay_ps = scenario->reroute_delay_ps;
    return TRUE;
}

/* "msccl:FILE", relative to the scenario. */
static gboolean
read_algorithm_file(const Reading *reading, const YamlNode *node, CollectiveKind kind, CollectiveConfig *config,
                    GError **error)
{
    size_t scheme = strcspn(node->text, ":") + 1;
    g_autofree char *path = field_resolve(reading, node->text + scheme);
    g_autofree char *name = g_strdup_printf("%.*s%s", (int)scheme, node->text, path);
    GError *wrong = NULL;
    config->algorithm[kind] = collective_algorithm_load(name, kind, &wrong);
    if (config->algorithm[kind] != NULL)
        return TRUE;
    yaml_fail(reading->tree, node, error, "%s", wrong->message);
    g_error_free(wrong);
    return FALSE;
}

/* The key is the kind; the algorithms offered are those that serve it. */
static gboolean
read_algorithm(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    CollectiveConfig *config = base;
    CollectiveKind kind;
    if (!collective_kind_parse(field->key, &kind))
        return yaml_fail(reading->tree, node, error, "no kind of collective");
    g_autoptr(GPtrArray) serving = g_ptr_array_new();
    for (const char *const *name = collective_algorithms(); *name != NULL; name++)
        if (collective_algorithm_serves(*name, kind))
            g_ptr_array_add(serving, (char *)(uintptr_t)*name);
    g_ptr_array_add(serving, NULL);
    if (node->kind == YAML_SCALAR && collective_algorithm_is_file(node->text))
        return read_algorithm_file(reading, node, kind, config, error);
    unsigned index;
    if (!field_name(reading, node, (const char *const *)serving->pdata, &index, error))
        return FALSE;
    config->algorithm[kind] = serving->pdata[index];
    return TRUE;
}

static const Field collectives_fields[] = {
    {"grain", field_choice, offsetof(CollectiveConfig, grain), .names = grains},
    {"channels", field_count, offsetof(CollectiveConfig, channels), 1, 1024},
    {"channel_weights", field_choice, offsetof(CollectiveConfig, channel_weights), .names = channel_weights},
    {"reduce_cost", field_cost, offsetof(CollectiveConfig, reduce_cost_s_per_B)},
    {"all_reduce", read_algorithm},
    {"all_gather", read_algorithm},
    {"reduce_scatter", read_algorithm},
    {"all_to_all", read_algorithm},
    {"broadcast", read_algorithm},
    {"reduce", read_algorithm},
    {"barrier", read_algorithm},
    {NULL},
};

gboolean
scenario_read_collectives(const Reading *reading, const YamlNode *node, CollectiveConfig *config, GError **error)
{
    return fields_read(reading, node, collectives_fields, config, error);
}
