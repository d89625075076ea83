/* zoo_graphml.c - the Internet Topology Zoo's GraphML, and the yEd drawings it was made from
 *
 * Attributes are found by the names of their keys, whose ids differ from file to file: node label, Latitude, Longitude,
 * hyperedge; edge LinkSpeedRaw (bit/s). A node marked hyperedge is no place but a shared segment. Drawings have their
 * names in y:NodeLabel and no coordinates. */
#include "base/error.h"
#include "base/xml_head.h"
#include "base/xml_tree.h"
#include "fabric/wan_map.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)256 << 20)

typedef struct {
    XmlTree *tree;
    const TopologyOptions *options;
    WanMap *map;
    GHashTable *key_of;   /* "node label" -> id of the key */
    GHashTable *place_of; /* id of a node -> its number + 1 */
} Reader;

static gboolean
problem(const Reader *reader, const XmlElement *element, GError **error, const char *what, const char *found)
{
    return topology_problem(reader->options, xml_tree_path(reader->tree), element->line, error, "%s: %s\"%s\"",
                            element->name, what, found);
}

static void
read_keys(Reader *reader, const XmlElement *root)
{
    for (const XmlElement *key = xml_child(root, "key"); key != NULL; key = xml_next(key)) {
        const char *domain = xml_attribute(key, "for"), *name = xml_attribute(key, "attr.name"),
                   *id = xml_attribute(key, "id");
        if (domain != NULL && name != NULL && id != NULL)
            g_hash_table_insert(reader->key_of, g_strdup_printf("%s %s", domain, name), (gpointer)id);
    }
}

/* The text of an element's attribute; NULL where it has none. */
static const char *
datum(const Reader *reader, const XmlElement *element, const char *name)
{
    g_autofree char *key = g_strdup_printf("%s %s", element->name, name);
    const char *id = g_hash_table_lookup(reader->key_of, key);
    for (const XmlElement *data = xml_child(element, "data"); id != NULL && data != NULL; data = xml_next(data)) {
        const char *its = xml_attribute(data, "key");
        if (its != NULL && strcmp(its, id) == 0)
            return data->text;
    }
    return NULL;
}

/* A number, NAN where there is none or it is outside. */
static gboolean
read_number(const Reader *reader, const XmlElement *element, const char *name, double least, double most, double *value,
            GError **error)
{
    const char *text = datum(reader, element, name);
    *value = NAN;
    if (text == NULL || *text == '\0')
        return TRUE;
    char *end;
    double number = g_ascii_strtod(text, &end);
    if (*end != '\0' || !(number >= least && number <= most)) {
        g_autofree char *what = g_strdup_printf("%s: expected a number from %g to %g, found ", name, least, most);
        return problem(reader, element, error, what, text);
    }
    *value = number;
    return TRUE;
}

/* Below an element, at any depth: the first of this name. */
static const XmlElement *
find_below(const XmlElement *element, const char *name, uint32_t depth)
{
    for (const XmlElement *at = element->first; at != NULL && depth > 0; at = at->next) {
        if (strcmp(at->name, name) == 0)
            return at;
        const XmlElement *found = find_below(at, name, depth - 1);
        if (found != NULL)
            return found;
    }
    return NULL;
}

static gboolean
read_node(Reader *reader, const XmlElement *node, GError **error)
{
    const char *id = xml_attribute(node, "id"), *label = datum(reader, node, "label");
    if (id == NULL)
        return problem(reader, node, error, "needs the attribute ", "id");
    if (g_hash_table_contains(reader->place_of, id))
        return problem(reader, node, error, "is there already: ", id);
    const XmlElement *drawn = label == NULL ? find_below(node, "NodeLabel", 8) : NULL;
    const char *hyperedge = datum(reader, node, "hyperedge");
    WanPlace place = {.name = label != NULL && *label != '\0'         ? label
                              : drawn != NULL && *drawn->text != '\0' ? drawn->text
                                                                      : id,
                      .no_place = hyperedge != NULL && strcmp(hyperedge, "1") == 0};
    if (!read_number(reader, node, "Latitude", -90, 90, &place.latitude, error) ||
        !read_number(reader, node, "Longitude", -180, 180, &place.longitude, error))
        return FALSE;
    g_hash_table_insert(reader->place_of, (gpointer)id, GUINT_TO_POINTER(wan_map_add_place(reader->map, &place) + 1));
    return TRUE;
}

static gboolean
read_edge(Reader *reader, const XmlElement *edge, GError **error)
{
    static const char *const ends[] = {"source", "target"};
    uint32_t place[2];
    for (int i = 0; i < 2; i++) {
        const char *id = xml_attribute(edge, ends[i]);
        if (id == NULL)
            return problem(reader, edge, error, "needs the attribute ", ends[i]);
        guint number = GPOINTER_TO_UINT(g_hash_table_lookup(reader->place_of, id));
        if (number == 0)
            return problem(reader, edge, error, "there is no node ", id);
        place[i] = number - 1;
    }
    double bit_per_s;
    if (!read_number(reader, edge, "LinkSpeedRaw", 0, 8 * LINK_MAX_Bps, &bit_per_s, error))
        return FALSE;
    WanSpan span = {.a = place[0], .b = place[1], .latency_ps = -1};
    span.rate_Bps = isnan(bit_per_s) ? 0 : bit_per_s / 8;
    wan_map_add_span(reader->map, &span);
    return TRUE;
}

/* Nodes first: an edge may stand before its ends. */
static gboolean
read_graph(Reader *reader, GError **error)
{
    const XmlElement *root = xml_tree_root(reader->tree), *graph = xml_child(root, "graph");
    if (graph == NULL)
        return xml_fail(reader->tree, root, error, "has no graph");
    read_keys(reader, root);
    for (const XmlElement *node = xml_child(graph, "node"); node != NULL; node = xml_next(node))
        if (!read_node(reader, node, error))
            return FALSE;
    for (const XmlElement *edge = xml_child(graph, "edge"); edge != NULL; edge = xml_next(edge))
        if (!read_edge(reader, edge, error))
            return FALSE;
    return TRUE;
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(XmlTree) tree = xml_tree_read(path, FILE_LIMIT, error);
    if (tree == NULL)
        return NULL;
    g_autoptr(WanMap) map = wan_map_new();
    g_autoptr(GHashTable) key_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) place_of = g_hash_table_new(g_str_hash, g_str_equal);
    Reader reader = {tree, options, map, key_of, place_of};
    guint before = topology_n_problems(options);
    if (!read_graph(&reader, error) || !topology_sound(options, before, path, error))
        return NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    Fabric *fabric = wan_map_build(map, path, options, text, error);
    if (fabric != NULL && notes != NULL)
        *notes = g_strdup(text->str);
    return fabric;
}

/* GraphML with a key that the Zoo or its drawings have and ours have not. */
static gboolean
recognise(const char *head, size_t length)
{
    return xml_head_is(head, length, "graphml") &&
           (strstr(head, "attr.name=\"GeoLocation\"") != NULL || strstr(head, "attr.name=\"Latitude\"") != NULL ||
            strstr(head, "yfiles.type=\"nodegraphics\"") != NULL) &&
           strstr(head, "attr.name=\"capacity_Bps\"") == NULL;
}

const TopologyFormat topology_zoo = {"zoo", "Internet Topology Zoo GraphML: places with coordinates", recognise, read};
