/* topology_load.c - what the verbs of 'trainshed topology' share: arguments, files, names */
#include "base/error.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/topology.h"
#include "fabric/topology_format.h"
#include "scenario/scenario.h"

gboolean
topology_arguments(GOptionContext *context, int *argc, char ***argv, int least, int most, GError **error)
{
    if (!command_parse(context, argc, argv, error))
        return FALSE;
    int n = *argc - 1;
    if (n >= least && n <= most)
        return TRUE;
    g_autofree char *range = least == most ? g_strdup_printf("%d", least) : g_strdup_printf("%d to %d", least, most);
    return error_input(error, "%d argument%s given, %s expected; see '%s --help'", n, n == 1 ? "" : "s", range,
                       g_get_prgname());
}

Fabric *
topology_load(const char *path, const char *format, const TopologyOptions *options, const char *const *sets,
              char **notes, GError **error)
{
    gboolean is_yaml = g_str_has_suffix(path, ".yaml") || g_str_has_suffix(path, ".yml");
    if (format == NULL && is_yaml && !topology_known(path))
        return scenario_fabric_file(path, sets, error);
    if (sets != NULL && sets[0] != NULL) {
        error_input(error, "%s: --set changes a YAML file, and this is none", path);
        return NULL;
    }
    return topology_read(path, format, options, notes, error);
}

uint32_t
topology_node(const Fabric *fabric, const char *name, GError **error)
{
    uint32_t node = fabric_find(fabric, name);
    if (node != INDEX_NONE)
        return node;
    uint32_t n = fabric_n_nodes(fabric);
    g_autofree const char **names = g_new(const char *, n);
    for (uint32_t i = 0; i < n; i++)
        names[i] = fabric_node(fabric, i)->name;
    const char *near = suggest_nearest(name, names, n);
    error_input(error, "there is no node \"%s\"%s%s%s", name, near ? "; did you mean \"" : "", near ? near : "",
                near ? "\"?" : "");
    return INDEX_NONE;
}

char *
topology_summary(const Fabric *fabric)
{
    uint32_t n_ranks;
    const uint32_t *ranks = fabric_gpus(fabric, &n_ranks);
    gboolean hosts = n_ranks > 0 && fabric_node(fabric, ranks[0])->kind == NODE_HOST;
    uint32_t n_servers = fabric_n_servers(fabric);
    return g_strdup_printf("%u %s%s in %u server%s, %u nodes, %u links", n_ranks, hosts ? "host" : "GPU",
                           n_ranks == 1 ? "" : "s", n_servers, n_servers == 1 ? "" : "s", fabric_n_nodes(fabric),
                           fabric_n_links(fabric));
}
