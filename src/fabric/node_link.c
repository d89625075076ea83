/* node_link.c - graphs as networkx writes them in JSON (node-link): {"nodes": [{"id": ...}], "links": [{"source",
 * ...}]}
 *
 * Nodes are places; Latitude and Longitude are used where they are. Directed links are one way each. A capacity has no
 * unit in such files, so that it is noted and not used: rates come from --default-rate. "edges" is another word for
 * "links", and nodes may stand behind them. */
#include "base/error.h"
#include "base/json.h"
#include "fabric/wan_map.h"

#include <math.h>
#include <string.h>

/* An id, number or text as written; "" = not given. */
typedef struct {
    const char *ends[2];
    size_t line;
} Edge;

typedef struct {
    const TopologyOptions *options;
    JsonReader *json;
    WanMap *map;
    GStringChunk *texts;
    GHashTable *place_of; /* id -> place + 1 */
    GArray *edges;        /* of Edge */
    gboolean directed, nodes, links;
    guint capacities;
} Reader;

static gboolean
problem(const Reader *reader, size_t line, GError **error, const char *text, const char *found)
{
    return topology_problem(reader->options, json_path(reader->json), line, error, "%s%s%s%s", text,
                            found != NULL ? "\"" : "", found != NULL ? found : "", found != NULL ? "\"" : "");
}

/* What is to be kept of an object's members. */
typedef struct {
    const char *name;
    const char *text; /* of a number or string; NULL = not given */
} Member;

/* The object whose "{" was read. */
static gboolean
read_members(Reader *reader, Member *members, size_t n, GError **error)
{
    JsonToken token;
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        size_t which = 0;
        while (which < n && strcmp(members[which].name, token.text) != 0)
            which++;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (which < n && (token.kind == JSON_NUMBER || token.kind == JSON_STRING))
            members[which].text = g_string_chunk_insert_const(reader->texts, token.text);
        if (!json_skip(reader->json, &token, error))
            return FALSE;
    }
    return FALSE;
}

/* Degrees; NAN where there are none. FALSE where the text is no such number. */
static gboolean
degrees(const char *text, double most, double *value)
{
    *value = NAN;
    if (text == NULL)
        return TRUE;
    char *end;
    *value = g_ascii_strtod(text, &end);
    return *text != '\0' && *end == '\0' && fabs(*value) <= most;
}

static gboolean
read_node(Reader *reader, GError **error)
{
    Member members[] = {{"id", NULL}, {"label", NULL}, {"Latitude", NULL}, {"Longitude", NULL}};
    size_t line = json_line(reader->json);
    if (!read_members(reader, members, G_N_ELEMENTS(members), error))
        return FALSE;
    const char *id = members[0].text;
    if (id == NULL)
        return problem(reader, line, error, "a node has no id", NULL);
    if (g_hash_table_contains(reader->place_of, id))
        return problem(reader, line, error, "node is there already: ", id);
    WanPlace place = {.name = members[1].text != NULL ? members[1].text : id};
    gboolean good = degrees(members[2].text, 90, &place.latitude);
    good = degrees(members[3].text, 180, &place.longitude) && good;
    g_hash_table_insert(reader->place_of, (gpointer)id, GUINT_TO_POINTER(wan_map_add_place(reader->map, &place) + 1));
    return good || problem(reader, line, error, "Latitude or Longitude is no number of degrees: node ", id);
}

static gboolean
read_edge(Reader *reader, GError **error)
{
    Member members[] = {{"source", NULL}, {"target", NULL}, {"capacity", NULL}};
    Edge edge = {.line = json_line(reader->json)};
    if (!read_members(reader, members, G_N_ELEMENTS(members), error))
        return FALSE;
    for (int i = 0; i < 2; i++) {
        if (members[i].text == NULL)
            return problem(reader, edge.line, error, "a link has no ", members[i].name);
        edge.ends[i] = members[i].text;
    }
    reader->capacities += members[2].text != NULL;
    g_array_append_val(reader->edges, edge);
    return TRUE;
}

static gboolean
read_list(Reader *reader, gboolean nodes, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(reader->json, error, "expected a list of %s", nodes ? "nodes" : "links");
    *(nodes ? &reader->nodes : &reader->links) = TRUE;
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        gboolean whole = token.kind == JSON_OBJECT_BEGIN;
        if (!whole && !problem(reader, json_line(reader->json), error,
                               nodes ? "expected the object of a node" : "expected the object of a link", NULL))
            return FALSE;
        if (!whole ? !json_skip(reader->json, &token, error)
                   : !(nodes ? read_node(reader, error) : read_edge(reader, error)))
            return FALSE;
    }
    return FALSE;
}

static gboolean
read_top(Reader *reader, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_OBJECT_BEGIN)
        return json_fail(reader->json, error, "expected an object with nodes and links");
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return json_next(reader->json, &token, error); /* nothing may follow */
        gboolean nodes = strcmp(token.text, "nodes") == 0, directed = strcmp(token.text, "directed") == 0;
        if (nodes || strcmp(token.text, "links") == 0 || strcmp(token.text, "edges") == 0) {
            if (!read_list(reader, nodes, error))
                return FALSE;
            continue;
        }
        if (!json_next(reader->json, &token, error))
            return FALSE;
        reader->directed = reader->directed || (directed && token.kind == JSON_TRUE);
        if (!json_skip(reader->json, &token, error))
            return FALSE;
    }
    return FALSE;
}

static gboolean
join_edges(Reader *reader, GError **error)
{
    for (guint i = 0; i < reader->edges->len; i++) {
        const Edge *edge = &g_array_index(reader->edges, Edge, i);
        guint a = GPOINTER_TO_UINT(g_hash_table_lookup(reader->place_of, edge->ends[0]));
        guint b = GPOINTER_TO_UINT(g_hash_table_lookup(reader->place_of, edge->ends[1]));
        if (a > 0 && b > 0)
            wan_map_add_span(reader->map,
                             &(WanSpan){.a = a - 1, .b = b - 1, .latency_ps = -1, .one_way = reader->directed});
        else if (!problem(reader, edge->line, error,
                          "a link leads to a node that is not there: ", edge->ends[a > 0 ? 1 : 0]))
            return FALSE;
    }
    return TRUE;
}

static Fabric *
make_fabric(Reader *reader, char **notes, GError **error)
{
    const char *path = json_path(reader->json);
    guint before = topology_n_problems(reader->options);
    if (!read_top(reader, error))
        return NULL;
    if (!reader->nodes || !reader->links) {
        error_input(error, "%s: there is no list of %s", path, reader->nodes ? "links" : "nodes");
        return NULL;
    }
    if (!join_edges(reader, error) || !topology_sound(reader->options, before, path, error))
        return NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    if (reader->capacities > 0)
        g_string_append_printf(text, "%u capacities have no unit: they are not used\n", reader->capacities);
    Fabric *fabric = wan_map_build(reader->map, path, reader->options, text, error);
    if (fabric != NULL && notes != NULL)
        *notes = g_strdup(text->str);
    return fabric;
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(JsonReader) json = json_open(path, error);
    if (json == NULL)
        return NULL;
    g_autoptr(WanMap) map = wan_map_new();
    g_autoptr(GHashTable) place_of = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(Edge));
    GStringChunk *texts = g_string_chunk_new(4096);
    Reader reader = {
        .options = options, .json = json, .map = map, .texts = texts, .place_of = place_of, .edges = edges};
    Fabric *fabric = make_fabric(&reader, notes, error);
    g_string_chunk_free(texts);
    return fabric;
}

static gboolean
recognise(const char *head, size_t length)
{
    return head[strspn(head, " \t\r\n\xef\xbb\xbf")] == '{' && strstr(head, "\"directed\"") != NULL &&
           strstr(head, "\"multigraph\"") != NULL && strstr(head, "\"nodes\"") != NULL;
}

const TopologyFormat topology_node_link = {"node-link", "graphs of networkx in JSON (node-link), as B4 is published",
                                           recognise, read};
