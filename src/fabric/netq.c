/* netq.c - the topology graph that NVIDIA NetQ answers: devices by tier, bundles of links between two of them
 *
 * [{"links": [{"compounded_links": [{"interfaces": [{"node", "interface"}, {...}]}, ...]}, ...], "nodes":
 * [{"compounded_nodes": [{"id", "name", "tier"}, ...]}, ...]}]. Each compounded link is a cable. Tier 1 are leaves, 2
 * spines, above them cores; what has no tier (-1: only seen by LLDP) is a host. */
#include "base/error.h"
#include "base/json.h"
#include "fabric/cabling.h"

#include <string.h>

typedef struct {
    const char *node, *port; /* NULL = not given */
} End;

typedef struct {
    End ends[2];
    size_t line;
} Cable;

typedef struct Reader Reader;
/* What to do with a value, whose first token was read; all of it is to be taken. */
typedef gboolean (*Take)(Reader *reader, const JsonToken *value, GError **error);

typedef struct {
    const char *name;
    Take take;
} Member;

struct Reader {
    const TopologyOptions *options;
    JsonReader *json;
    GStringChunk *texts;
    GHashTable *name_of; /* id -> name */
    GArray *cables;      /* of Cable */
    Cabling *cabling;
    Cable cable; /* the one at hand */
    guint n_ends;
    const char *id, *name; /* of the device at hand */
    int64_t tier;
};

static gboolean
problem(const Reader *reader, size_t line, GError **error, const char *text, const char *found)
{
    return topology_problem(reader->options, json_path(reader->json), line, error, "%s%s%s%s", text,
                            found != NULL ? "\"" : "", found != NULL ? found : "", found != NULL ? "\"" : "");
}

/* A value that is no `what`, passed over. */
static gboolean
pass_over(Reader *reader, const JsonToken *value, const char *what, GError **error)
{
    g_autofree char *text = g_strconcat("expected ", what, NULL);
    return problem(reader, json_line(reader->json), error, text, NULL) && json_skip(reader->json, value, error);
}

static gboolean
each_member(Reader *reader, const JsonToken *value, const Member *members, size_t n, GError **error)
{
    JsonToken token;
    if (value->kind != JSON_OBJECT_BEGIN)
        return pass_over(reader, value, "an object", error);
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        size_t which = 0;
        while (which < n && strcmp(members[which].name, token.text) != 0)
            which++;
        if (!json_next(reader->json, &token, error) ||
            !(which < n ? members[which].take(reader, &token, error) : json_skip(reader->json, &token, error)))
            return FALSE;
    }
    return FALSE;
}

static gboolean
each_element(Reader *reader, const JsonToken *value, Take take, GError **error)
{
    JsonToken token;
    if (value->kind != JSON_ARRAY_BEGIN)
        return pass_over(reader, value, "a list", error);
    while (json_next(reader->json, &token, error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (!take(reader, &token, error))
            return FALSE;
    }
    return FALSE;
}

static gboolean
take_text(Reader *reader, const JsonToken *value, const char **text, GError **error)
{
    if (value->kind != JSON_STRING || value->length == 0)
        return pass_over(reader, value, "a name", error);
    *text = g_string_chunk_insert_const(reader->texts, value->text);
    return TRUE;
}

static End *
end_at_hand(Reader *reader)
{
    return &reader->cable.ends[MIN(reader->n_ends, 2) - 1];
}

static gboolean
take_end_node(Reader *reader, const JsonToken *value, GError **error)
{
    return take_text(reader, value, &end_at_hand(reader)->node, error);
}

static gboolean
take_end_port(Reader *reader, const JsonToken *value, GError **error)
{
    return take_text(reader, value, &end_at_hand(reader)->port, error);
}

static gboolean
take_end(Reader *reader, const JsonToken *value, GError **error)
{
    static const Member members[] = {{"node", take_end_node}, {"interface", take_end_port}};
    reader->n_ends++;
    return each_member(reader, value, members, G_N_ELEMENTS(members), error);
}

static gboolean
take_ends(Reader *reader, const JsonToken *value, GError **error)
{
    return each_element(reader, value, take_end, error);
}

static gboolean
take_cable(Reader *reader, const JsonToken *value, GError **error)
{
    static const Member members[] = {{"interfaces", take_ends}};
    guint before = topology_n_problems(reader->options);
    reader->cable = (Cable){.line = json_line(reader->json)};
    reader->n_ends = 0;
    if (!each_member(reader, value, members, G_N_ELEMENTS(members), error))
        return FALSE;
    if (topology_n_problems(reader->options) > before)
        return TRUE;
    const End *a = &reader->cable.ends[0], *b = &reader->cable.ends[1];
    if (reader->n_ends != 2 || a->node == NULL || a->port == NULL || b->node == NULL || b->port == NULL)
        return problem(reader, reader->cable.line, error, "a compounded link needs two interfaces with their nodes",
                       NULL);
    g_array_append_val(reader->cables, reader->cable);
    return TRUE;
}

static gboolean
take_cables(Reader *reader, const JsonToken *value, GError **error)
{
    return each_element(reader, value, take_cable, error);
}

static gboolean
take_link(Reader *reader, const JsonToken *value, GError **error)
{
    static const Member members[] = {{"compounded_links", take_cables}};
    return each_member(reader, value, members, G_N_ELEMENTS(members), error);
}

static gboolean
take_links(Reader *reader, const JsonToken *value, GError **error)
{
    return each_element(reader, value, take_link, error);
}

static gboolean
take_id(Reader *reader, const JsonToken *value, GError **error)
{
    return take_text(reader, value, &reader->id, error);
}

static gboolean
take_name(Reader *reader, const JsonToken *value, GError **error)
{
    return take_text(reader, value, &reader->name, error);
}

static gboolean
take_tier(Reader *reader, const JsonToken *value, GError **error)
{
    if (value->kind == JSON_NUMBER && json_int64(value->text, &reader->tier))
        return TRUE;
    return pass_over(reader, value, "the number of a tier", error);
}

static gboolean
take_device(Reader *reader, const JsonToken *value, GError **error)
{
    static const Member members[] = {{"id", take_id}, {"name", take_name}, {"tier", take_tier}};
    size_t line = json_line(reader->json);
    reader->id = reader->name = NULL;
    reader->tier = -1;
    if (!each_member(reader, value, members, G_N_ELEMENTS(members), error))
        return FALSE;
    if (value->kind != JSON_OBJECT_BEGIN)
        return TRUE;
    if (reader->id == NULL || reader->name == NULL)
        return problem(reader, line, error, "a compounded node needs an id and a name", NULL);
    if (g_hash_table_contains(reader->name_of, reader->id))
        return problem(reader, line, error, "node is there already: ", reader->id);
    g_hash_table_insert(reader->name_of, (gpointer)reader->id, (gpointer)reader->name);
    cabling_device(reader->cabling, reader->name,
                   reader->tier < 1    ? NODE_HOST
                   : reader->tier == 1 ? NODE_LEAF
                   : reader->tier == 2 ? NODE_SPINE
                                       : NODE_CORE);
    return TRUE;
}

static gboolean
take_devices(Reader *reader, const JsonToken *value, GError **error)
{
    return each_element(reader, value, take_device, error);
}

static gboolean
take_tier_group(Reader *reader, const JsonToken *value, GError **error)
{
    static const Member members[] = {{"compounded_nodes", take_devices}};
    return each_member(reader, value, members, G_N_ELEMENTS(members), error);
}

static gboolean
take_nodes(Reader *reader, const JsonToken *value, GError **error)
{
    return each_element(reader, value, take_tier_group, error);
}

static gboolean
take_graph(Reader *reader, const JsonToken *value, GError **error)
{
    static const Member members[] = {{"links", take_links}, {"nodes", take_nodes}};
    return each_member(reader, value, members, G_N_ELEMENTS(members), error);
}

/* Devices may stand behind the cables. */
static gboolean
lay_cables(Reader *reader, GError **error)
{
    for (guint i = 0; i < reader->cables->len; i++) {
        const Cable *cable = &g_array_index(reader->cables, Cable, i);
        const char *names[2];
        for (int e = 0; e < 2; e++) {
            names[e] = g_hash_table_lookup(reader->name_of, cable->ends[e].node);
            if (names[e] == NULL && !problem(reader, cable->line, error, "there is no node ", cable->ends[e].node))
                return FALSE;
        }
        if (names[0] != NULL && names[1] != NULL)
            cabling_cable(reader->cabling, names[0], cable->ends[0].port, names[1], cable->ends[1].port, 0);
    }
    return TRUE;
}

static gboolean
read_all(Reader *reader, GError **error)
{
    guint before = topology_n_problems(reader->options);
    JsonToken token;
    return json_next(reader->json, &token, error) && each_element(reader, &token, take_graph, error) &&
           json_next(reader->json, &token, error) && lay_cables(reader, error) &&
           topology_sound(reader->options, before, json_path(reader->json), error);
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(JsonReader) json = json_open(path, error);
    if (json == NULL)
        return NULL;
    g_autoptr(Cabling) cabling = cabling_new();
    g_autoptr(GHashTable) name_of = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GArray) cables = g_array_new(FALSE, FALSE, sizeof(Cable));
    GStringChunk *texts = g_string_chunk_new(4096);
    Reader reader = {
        .options = options, .json = json, .texts = texts, .name_of = name_of, .cables = cables, .cabling = cabling};
    Fabric *fabric = read_all(&reader, error) ? cabling_build(cabling, path, options, notes, error) : NULL;
    g_string_chunk_free(texts);
    return fabric;
}

static gboolean
recognise(const char *head, size_t length)
{
    return head[strspn(head, " \t\r\n\xef\xbb\xbf")] == '[' && strstr(head, "\"compounded_links\"") != NULL;
}

const TopologyFormat topology_netq = {
    "netq", "the topology graph of NVIDIA NetQ (JSON): devices without a tier are hosts", recognise, read};
