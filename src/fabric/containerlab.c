/* containerlab.c - a containerlab topology: nodes by kind, links by endpoints
 *
 * Nodes of kind linux (their own, or of topology.defaults) are hosts, all others switches. Links in the brief form
 * (endpoints: ["a:e1", "b:e2"]) and the extended one (endpoints: [{node, interface}, ...]); links to host, mgmt-net and
 * the like have one end outside and are noted. */
#include "base/error.h"
#include "base/yaml_tree.h"
#include "fabric/cabling.h"

#include <string.h>

typedef struct {
    YamlTree *tree;
    const TopologyOptions *options;
    Cabling *cabling;
    const YamlNode *nodes;
    guint outside;
} Reader;

static const char *
scalar(const YamlNode *map, const char *key)
{
    const YamlNode *node = map != NULL && map->kind == YAML_MAP ? yaml_get(map, key) : NULL;
    return node != NULL && node->kind == YAML_SCALAR ? node->text : NULL;
}

static gboolean
read_nodes(Reader *reader, const YamlNode *topology, GError **error)
{
    const YamlNode *nodes = reader->nodes = yaml_get(topology, "nodes");
    const char *otherwise = scalar(yaml_get(topology, "defaults"), "kind");
    if (nodes == NULL || nodes->kind != YAML_MAP)
        return yaml_fail(reader->tree, nodes != NULL ? nodes : topology, error, "expected a map of nodes");
    for (guint i = 0; i < nodes->keys->len; i++) {
        const char *kind = scalar(nodes->values->pdata[i], "kind");
        kind = kind != NULL ? kind : otherwise != NULL ? otherwise : "";
        cabling_device(reader->cabling, nodes->keys->pdata[i], strcmp(kind, "linux") == 0 ? NODE_HOST : NODE_LEAF);
    }
    return TRUE;
}

/* "leaf1:e1-1" or {node: leaf1, interface: e1-1}; *device is freed by the caller. FALSE where it failed. */
static gboolean
read_end(Reader *reader, const YamlNode *end, char **device, const char **port, GError **error)
{
    if (end->kind == YAML_MAP) {
        const char *node = scalar(end, "node"), *interface = scalar(end, "interface");
        if (node == NULL || interface == NULL)
            return yaml_fail(reader->tree, end, error, "an endpoint needs node and interface");
        *device = g_strdup(node);
        *port = interface;
        return TRUE;
    }
    const char *colon = end->kind == YAML_SCALAR ? strchr(end->text, ':') : NULL;
    if (colon == NULL || colon == end->text) {
        g_autofree char *found = yaml_describe(end);
        return yaml_fail(reader->tree, end, error, "found %s, expected NODE:INTERFACE", found);
    }
    *device = g_strndup(end->text, (size_t)(colon - end->text));
    *port = colon + 1;
    return TRUE;
}

static gboolean
read_link(Reader *reader, const YamlNode *link, GError **error)
{
    const YamlNode *ends = link->kind == YAML_MAP ? yaml_get(link, "endpoints") : NULL;
    if (link->kind == YAML_MAP && ends == NULL && yaml_get(link, "endpoint") != NULL) {
        reader->outside++;
        return TRUE;
    }
    if (ends == NULL || ends->kind != YAML_LIST || ends->values->len != 2)
        return yaml_fail(reader->tree, link, error, "a link needs two endpoints");
    g_autofree char *a = NULL, *b = NULL;
    const char *port_a, *port_b;
    if (!read_end(reader, ends->values->pdata[0], &a, &port_a, error) ||
        !read_end(reader, ends->values->pdata[1], &b, &port_b, error))
        return FALSE;
    const char *const names[] = {a, b};
    for (int i = 0; i < 2; i++) {
        if (yaml_get(reader->nodes, names[i]) != NULL)
            continue;
        if (strcmp(names[i], "host") != 0 && strcmp(names[i], "mgmt-net") != 0 && strcmp(names[i], "macvlan") != 0)
            return yaml_fail(reader->tree, ends->values->pdata[i], error, "there is no node \"%s\"", names[i]);
        reader->outside++;
        return TRUE;
    }
    cabling_cable(reader->cabling, a, port_a, b, port_b, 0);
    return TRUE;
}

static gboolean
read_topology(Reader *reader, GError **error)
{
    const YamlNode *root = reader->tree->root, *topology = root->kind == YAML_MAP ? yaml_get(root, "topology") : NULL;
    if (topology == NULL || topology->kind != YAML_MAP)
        return yaml_fail(reader->tree, root, error, "expected a map with topology");
    if (!read_nodes(reader, topology, error))
        return FALSE;
    const YamlNode *links = yaml_get(topology, "links");
    if (links == NULL || yaml_is_null(links))
        return TRUE;
    if (links->kind != YAML_LIST)
        return yaml_fail(reader->tree, links, error, "expected a list of links");
    for (guint i = 0; i < links->values->len; i++) {
        GError *wrong = NULL;
        if (!read_link(reader, links->values->pdata[i], &wrong) && !topology_go_on(reader->options, wrong, error))
            return FALSE;
    }
    return TRUE;
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(YamlTree) tree = yaml_tree_read(path, error);
    if (tree == NULL)
        return NULL;
    g_autoptr(Cabling) cabling = cabling_new();
    Reader reader = {.tree = tree, .options = options, .cabling = cabling};
    guint before = topology_n_problems(options);
    if (!read_topology(&reader, error) || !topology_sound(options, before, path, error))
        return NULL;
    Fabric *fabric = cabling_build(cabling, path, options, notes, error);
    if (fabric != NULL && notes != NULL && reader.outside > 0) {
        g_autofree char *told = *notes;
        *notes = g_strdup_printf("%s%u links lead out of the lab and are left out\n", told, reader.outside);
    }
    return fabric;
}

/* Does a line of text begin with this word? */
static gboolean
has_line(const char *head, const char *word)
{
    for (const char *at = head; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (g_str_has_prefix(at, word))
            return TRUE;
    }
    return FALSE;
}

static gboolean
recognise(const char *head, size_t length)
{
    return has_line(head, "topology:") && has_line(head, "name:") && strstr(head, "nodes:") != NULL;
}

const TopologyFormat topology_containerlab = {"containerlab", "containerlab topologies (YAML): linux nodes are hosts",
                                              recognise, read};
