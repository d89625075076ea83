/* gml.c - the Internet Topology Zoo's graphs in GML: places with coordinates, as in its GraphML
 *
 * GML is keys with a value each: a number, a text in quotes, or a list in brackets. Of graph [ node [ id label Latitude
 * Longitude hyperedge ] edge [ source target LinkSpeedRaw ] ] the rest is passed over. Speeds are bit/s. */
#include "base/error.h"
#include "base/input.h"
#include "fabric/wan_map.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)256 << 20)

typedef struct {
    const char *path;
    const TopologyOptions *options;
    const char *at;      /* in the text */
    GStringChunk *texts; /* words */
    size_t line;
    WanMap *map;
    GHashTable *place_of; /* id -> place + 1 */
    gboolean seen, directed;
} Reader;

typedef enum { WORD_END, WORD_KEY, WORD_VALUE, WORD_OPEN, WORD_CLOSE } WordKind;

/* Blanks, line ends and comments. */
static void
pass_blanks(Reader *reader)
{
    const char *at = reader->at;
    while (g_ascii_isspace(*at) || *at == '#') {
        at += *at == '#' ? strcspn(at, "\n") : 0;
        reader->line += *at == '\n';
        at += *at != '\0';
    }
    reader->at = at;
}

/* The next word, kept by the reader; of a quoted one what is between. FALSE with an error at a quote that does not
 * end. */
static gboolean
next(Reader *reader, WordKind *kind, const char **text, GError **error)
{
    pass_blanks(reader);
    const char *at = reader->at;
    if (*at == '\0' || *at == '[' || *at == ']') {
        *kind = *at == '\0' ? WORD_END : *at == '[' ? WORD_OPEN : WORD_CLOSE;
        *text = "";
        reader->at = at + (*at != '\0');
        return TRUE;
    }
    gboolean quoted = *at == '"';
    size_t length = strcspn(at + quoted, quoted ? "\"" : " \t\r\n[]\"");
    if (quoted && at[1 + length] == '\0')
        return error_input(error, "%s:%zu: a text has no closing \"", reader->path, reader->line);
    *kind = g_ascii_isalpha(*at) ? WORD_KEY : WORD_VALUE;
    *text = g_string_chunk_insert_len(reader->texts, at + quoted, (gssize)length);
    for (size_t i = 0; i < length; i++)
        reader->line += at[i] == '\n';
    reader->at = at + length + 2 * (size_t)quoted;
    return TRUE;
}

typedef struct {
    const char *name, *text; /* NULL = not given */
    size_t line;
} Member;

static gboolean
broken(const Reader *reader, const char *expected, GError **error)
{
    return error_input(error, "%s:%zu: expected %s", reader->path, reader->line, expected);
}

/* Passes over the list whose "[" was read. */
static gboolean
skip_list(Reader *reader, GError **error)
{
    WordKind kind;
    const char *text;
    for (size_t depth = 1; depth > 0;) {
        if (!next(reader, &kind, &text, error))
            return FALSE;
        if (kind == WORD_END)
            return broken(reader, "a closing ]", error);
        depth += kind == WORD_OPEN;
        depth -= kind == WORD_CLOSE;
    }
    return TRUE;
}

/* "[ key value ... ]": those that are wanted. */
static gboolean
read_members(Reader *reader, Member *members, size_t n, GError **error)
{
    WordKind kind;
    const char *text;
    if (!next(reader, &kind, &text, error))
        return FALSE;
    if (kind != WORD_OPEN)
        return broken(reader, "[", error);
    for (;;) {
        if (!next(reader, &kind, &text, error))
            return FALSE;
        if (kind == WORD_CLOSE)
            return TRUE;
        if (kind != WORD_KEY)
            return broken(reader, "a key, or a closing ]", error);
        size_t which = 0;
        while (which < n && strcmp(members[which].name, text) != 0)
            which++;
        if (!next(reader, &kind, &text, error))
            return FALSE;
        if (kind == WORD_OPEN ? !skip_list(reader, error)
                              : kind != WORD_VALUE && !broken(reader, "a number, a text in quotes or a list", error))
            return FALSE;
        if (which < n && kind == WORD_VALUE) {
            members[which].text = text;
            members[which].line = reader->line;
        }
    }
}

/* A number from least to most; NAN where there is none. */
static gboolean
read_number(const Reader *reader, const Member *member, double least, double most, double *value, GError **error)
{
    *value = NAN;
    if (member->text == NULL || *member->text == '\0')
        return TRUE;
    char *end;
    double number = g_ascii_strtod(member->text, &end);
    if (*end != '\0' || !(number >= least && number <= most))
        return topology_problem(reader->options, reader->path, member->line, error,
                                "%s: found \"%s\", expected a number from %g to %g", member->name, member->text, least,
                                most);
    *value = number;
    return TRUE;
}

static gboolean
read_node(Reader *reader, GError **error)
{
    Member members[] = {
        {.name = "id"}, {.name = "label"}, {.name = "Latitude"}, {.name = "Longitude"}, {.name = "hyperedge"}};
    size_t line = reader->line;
    if (!read_members(reader, members, G_N_ELEMENTS(members), error))
        return FALSE;
    const char *id = members[0].text, *label = members[1].text, *hyperedge = members[4].text;
    if (id == NULL)
        return topology_problem(reader->options, reader->path, line, error, "node: needs an id");
    if (g_hash_table_contains(reader->place_of, id))
        return topology_problem(reader->options, reader->path, line, error, "node: id %s is there already", id);
    WanPlace place = {.name = label != NULL && *label != '\0' ? label : id,
                      .no_place = hyperedge != NULL && strcmp(hyperedge, "1") == 0};
    if (!read_number(reader, &members[2], -90, 90, &place.latitude, error) ||
        !read_number(reader, &members[3], -180, 180, &place.longitude, error))
        return FALSE;
    g_hash_table_insert(reader->place_of, (gpointer)id, GUINT_TO_POINTER(wan_map_add_place(reader->map, &place) + 1));
    return TRUE;
}

/* Nodes come first in such files. */
static gboolean
read_edge(Reader *reader, GError **error)
{
    Member members[] = {{.name = "source"}, {.name = "target"}, {.name = "LinkSpeedRaw"}};
    size_t line = reader->line;
    if (!read_members(reader, members, G_N_ELEMENTS(members), error))
        return FALSE;
    guint ends[2];
    for (int i = 0; i < 2; i++) {
        const char *id = members[i].text;
        if (id == NULL)
            return topology_problem(reader->options, reader->path, line, error, "edge: needs a %s", members[i].name);
        ends[i] = GPOINTER_TO_UINT(g_hash_table_lookup(reader->place_of, id));
        if (ends[i] == 0)
            return topology_problem(reader->options, reader->path, members[i].line, error,
                                    "edge: there is no node %s before it", id);
    }
    double bit_per_s;
    if (!read_number(reader, &members[2], 0, 8 * LINK_MAX_Bps, &bit_per_s, error))
        return FALSE;
    WanSpan span = {.a = ends[0] - 1, .b = ends[1] - 1, .latency_ps = -1, .one_way = reader->directed};
    span.rate_Bps = isnan(bit_per_s) ? 0 : bit_per_s / 8;
    wan_map_add_span(reader->map, &span);
    return TRUE;
}

/* What is in "graph [". */
static gboolean
read_graph(Reader *reader, GError **error)
{
    WordKind kind;
    const char *text;
    reader->seen = TRUE;
    for (;;) {
        if (!next(reader, &kind, &text, error))
            return FALSE;
        if (kind == WORD_CLOSE)
            return TRUE;
        if (kind != WORD_KEY)
            return broken(reader, "a key, or the closing ] of graph", error);
        gboolean node = strcmp(text, "node") == 0, edge = strcmp(text, "edge") == 0,
                 directed = strcmp(text, "directed") == 0;
        if (node || edge) {
            if (!(node ? read_node : read_edge)(reader, error))
                return FALSE;
            continue;
        }
        if (!next(reader, &kind, &text, error))
            return FALSE;
        if (kind == WORD_OPEN ? !skip_list(reader, error) : kind != WORD_VALUE && !broken(reader, "a value", error))
            return FALSE;
        reader->directed = reader->directed || (directed && strcmp(text, "1") == 0);
    }
}

static gboolean
read_file(Reader *reader, GError **error)
{
    WordKind kind;
    const char *text;
    for (;;) {
        if (!next(reader, &kind, &text, error))
            return FALSE;
        if (kind == WORD_END)
            return reader->seen || error_input(error, "%s: has no graph", reader->path);
        if (kind != WORD_KEY)
            return broken(reader, "a key such as graph", error);
        gboolean graph = strcmp(text, "graph") == 0;
        if (!next(reader, &kind, &text, error))
            return FALSE;
        if (graph && (kind != WORD_OPEN || reader->seen))
            return broken(reader, "one graph, in brackets", error);
        if (kind != WORD_OPEN && kind != WORD_VALUE)
            return broken(reader, "a value", error);
        if (kind == WORD_OPEN && !(graph ? read_graph(reader, error) : skip_list(reader, error)))
            return FALSE;
    }
}

static Fabric *
make_fabric(Reader *reader, char **notes, GError **error)
{
    guint before = topology_n_problems(reader->options);
    if (!read_file(reader, error) || !topology_sound(reader->options, before, reader->path, error))
        return NULL;
    g_autoptr(GString) told = g_string_new(NULL);
    Fabric *fabric = wan_map_build(reader->map, reader->path, reader->options, told, error);
    if (fabric != NULL && notes != NULL)
        *notes = g_strdup(told->str);
    return fabric;
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    if (!g_utf8_validate(text, (gssize)length, NULL)) {
        error_input(error, "%s: is no UTF-8 text", path);
        return NULL;
    }
    g_autoptr(WanMap) map = wan_map_new();
    g_autoptr(GHashTable) place_of = g_hash_table_new(g_str_hash, g_str_equal);
    GStringChunk *texts = g_string_chunk_new(4096);
    Reader reader = {.path = path,
                     .options = options,
                     .at = text + input_bom(text, length),
                     .texts = texts,
                     .line = 1,
                     .map = map,
                     .place_of = place_of};
    Fabric *fabric = make_fabric(&reader, notes, error);
    g_string_chunk_free(texts);
    return fabric;
}

/* "graph [" first, but for comments and keys such as Creator and Version. */
static gboolean
recognise(const char *head, size_t length)
{
    const char *at = head + input_bom(head, length);
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#' && !g_str_has_prefix(at, "Creator ") && !g_str_has_prefix(at, "Version "))
            break;
        at += strcspn(at, "\n");
    }
    if (!g_str_has_prefix(at, "graph"))
        return FALSE;
    at += strlen("graph");
    return at[strspn(at, " \t\r\n")] == '[';
}

const TopologyFormat topology_gml = {"gml", "GML of the Internet Topology Zoo: places with coordinates", recognise,
                                     read};
