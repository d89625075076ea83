#include "fabric/graph_check.h"
#include "scenario/scenario_parts.h"

#include <stddef.h>
#include <string.h>

/* Read by hand below. */
static gboolean
later(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return TRUE;
}

static gboolean
read_format(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    GError *wrong = NULL;
    if (!field_text(reading, node, field, base, error))
        return FALSE;
    if (topology_format_find(*(char **)(void *)((char *)base + field->offset), &wrong) != NULL)
        return TRUE;
    yaml_fail(reading->tree, node, error, "%s", wrong->message);
    g_error_free(wrong);
    return FALSE;
}

static const Field fabric_fields[] = {
    {"file", field_file, offsetof(Scenario, fabric_file)},
    {"format", read_format, offsetof(Scenario, fabric_format)},
    {"default_rate", field_rate, offsetof(Scenario, fabric_options.default_rate_Bps), .low = 1},
    {"default_latency", field_time, offsetof(Scenario, fabric_options.default_latency_ps)},
    {"hosts", field_count, offsetof(Scenario, fabric_options.hosts), .low = 0, .high = 65536},
    {"detour", field_number, offsetof(Scenario, fabric_options.detour), .low = 1, .high = 100},
    {"with", field_files, offsetof(Scenario, fabric_companions)},
    {"generate", later},
    {NULL},
};

static const char *const of_files[] = {"format", "default_rate", "default_latency", "detour", "hosts", "with"};

gboolean
scenario_read_fabric(const Reading *reading, const YamlNode *node, Scenario *scenario, GError **error)
{
    scenario->fabric_options = topology_options_default;
    if (!fields_read(reading, node, fabric_fields, scenario, error))
        return FALSE;
    scenario->fabric_options.companions = (const char *const *)scenario->fabric_companions;
    const YamlNode *generate = yaml_get(node, "generate");
    if (generate != NULL && scenario->fabric_file != NULL)
        return yaml_fail(reading->tree, generate, error, "file is given too; a fabric has one of them");
    if (generate == NULL && scenario->fabric_file == NULL)
        return yaml_fail(reading->tree, node, error, "needs file or generate");
    for (size_t i = 0; generate != NULL && i < G_N_ELEMENTS(of_files); i++)
        if (yaml_get(node, of_files[i]) != NULL)
            return yaml_fail(reading->tree, yaml_get(node, of_files[i]), error, "means nothing without file");
    if (generate == NULL)
        return TRUE;
    scenario->generate = scenario_read_generate(reading, generate, error);
    return scenario->generate != NULL;
}

/* The value that a message "zone.radix: ..." of the generator speaks of, or generate itself. */
static const YamlNode *
spoken_of(const YamlNode *generate, const char *message)
{
    const char *colon = strchr(message, ':');
    if (colon == NULL)
        return generate;
    g_autofree char *path = g_strndup(message, (size_t)(colon - message));
    g_auto(GStrv) keys = g_strsplit(path, ".", -1);
    const YamlNode *node = generate;
    for (size_t i = 0; keys[i] != NULL; i++) {
        char *bracket = strchr(keys[i], '[');
        guint64 index = bracket ? g_ascii_strtoull(bracket + 1, NULL, 10) : 0;
        if (bracket != NULL)
            *bracket = '\0';
        node = yaml_get(node, keys[i]);
        if (node != NULL && bracket != NULL)
            node = node->kind == YAML_LIST && index < node->values->len ? node->values->pdata[index] : NULL;
        if (node == NULL)
            return generate;
    }
    return node;
}

/* The generator names keys below generate: place and path go before. */
static void
place_error(const YamlTree *tree, GError **error)
{
    const YamlNode *generate = yaml_get(yaml_get(tree->root, "fabric"), "generate");
    g_autofree char *message = g_strdup((*error)->message);
    const YamlNode *node = spoken_of(generate, message);
    g_clear_error(error);
    if (node == generate) {
        yaml_fail(tree, generate, error, "%s", message);
        return;
    }
    yaml_fail(tree, node, error, "%s", strchr(message, ':') + 2);
}

/* Read or generated, sealed. */
static Fabric *
make(const Scenario *scenario, GError **error)
{
    if (scenario->generate == NULL)
        return topology_read(scenario->fabric_file, scenario->fabric_format, &scenario->fabric_options, NULL, error);
    GError *wrong = NULL;
    Fabric *fabric = generate_fabric(scenario->generate, &wrong);
    if (fabric != NULL)
        return fabric;
    place_error(scenario->tree, &wrong);
    g_propagate_error(error, wrong);
    return NULL;
}

Fabric *
scenario_fabric(const Scenario *scenario, GError **error)
{
    g_autoptr(Fabric) fabric = make(scenario, error);
    if (fabric == NULL)
        return NULL;
    g_autoptr(GraphCheck) check = graph_check_new(fabric, error);
    if (check == NULL)
        return NULL;
    GError *wrong = NULL;
    if (graph_check_connected(check, &wrong))
        return g_steal_pointer(&fabric);
    yaml_fail(scenario->tree, yaml_get(scenario->tree->root, "fabric"), error, "%s", wrong->message);
    g_error_free(wrong);
    return NULL;
}

Fabric *
scenario_fabric_file(const char *path, const char *const *sets, GError **error)
{
    g_autoptr(YamlTree) tree = yaml_tree_read(path, error);
    if (tree == NULL)
        return NULL;
    for (size_t i = 0; sets != NULL && sets[i] != NULL; i++)
        if (!yaml_tree_set(tree, sets[i], error))
            return NULL;
    const YamlNode *node = yaml_get(tree->root, "fabric");
    if (node == NULL) {
        yaml_fail(tree, tree->root, error, "needs fabric");
        return NULL;
    }
    /* Only what make() reads of a scenario. */
    g_autofree char *folder = g_path_get_dirname(path);
    Reading reading = {tree, folder};
    Scenario part = {.tree = tree};
    Fabric *fabric = scenario_read_fabric(&reading, node, &part, error) ? make(&part, error) : NULL;
    g_free(part.fabric_file);
    g_free(part.fabric_format);
    g_strfreev(part.fabric_companions);
    generate_spec_free(part.generate);
    return fabric;
}
