/* graphml.c - a GraphML file becomes a fabric
 *
 * Read through libxml2's SAX interface, which knows the line of every element (its text reader runs ahead of
 * the element and stops counting at 65535), in pieces, gzipped or not. No entity is declared or expanded and nothing is
 * fetched. The first fault stops the parser; where problems are collected, the element it is in is passed over. */
#include "fabric/graphml.h"

#include "base/error.h"
#include "base/input.h"
#include "base/xml_head.h"
#include "fabric/graphml_columns.h"
#include "fabric/graphml_keys.h"
#include "fabric/topology_format.h"

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <math.h>
#include <string.h>

static const double PS_PER_KM = 5e6; /* of fibre, one way: DEFINITIONS 1 */

typedef enum { IN_FILE, IN_GRAPHML, IN_KEY, IN_DEFAULT, IN_GRAPH, IN_NODE, IN_EDGE, IN_DATA } Place;

/* An <edge> waiting until all nodes are known. Texts lie in the reader's chunk. */
typedef struct {
    const char *source, *target;
    Link link;
    gboolean undirected;
    size_t line;
} Edge;

typedef struct {
    const char *path;
    const TopologyOptions *options;
    guint before; /* problems */
    xmlParserCtxtPtr xml;
    GError *error;     /* the first that stops; whoever sets it stops the parser */
    gboolean starting; /* a start tag is being looked at: a fault in it passes over its element */
    Fabric *fabric;
    GStringChunk *texts;
    GraphmlKeys *keys;
    GHashTable *node_ids; /* id -> node + 1 */
    GHashTable *edge_ids; /* a set */
    GArray *node_lines;   /* of size_t, by node */
    GArray *edges;        /* of Edge */
    Place place;
    uint32_t skipped; /* depth inside an element that is passed over */
    uint32_t depth;   /* open elements */
    gboolean graph_seen, undirected;

    uint64_t element[SCOPES]; /* the number of the graph, node and edge at hand, from 1 */
    guint element_before;     /* problems, as the node or edge at hand began */
    const char *id;           /* of the node or edge at hand */
    Node node;
    Edge edge;
    GraphAttributes graph;
    GraphmlKey *key; /* of the <data> or <key> at hand */
    Scope scope;     /* of the <data> at hand */
    GString *text;
    gboolean has_elements;                 /* the <data> at hand */
    uint64_t from_length, without_latency; /* edges */
} Reader;

/* Anything wrong since there were so many problems? */
static gboolean
broken_since(const Reader *reader, guint before)
{
    return reader->error != NULL || topology_n_problems(reader->options) > before;
}

/* "PATH:LINE: " and the message; the parser stops, unless problems are collected. */
static void G_GNUC_PRINTF(2, 3) fail(Reader *reader, const char *format, ...)
{
    if (reader->error != NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (!topology_problem(reader->options, reader->path, (size_t)xmlSAX2GetLineNumber(reader->xml), &reader->error,
                          "%s", text))
        xmlStopParser(reader->xml);
    if (reader->starting)
        reader->skipped = 1;
}

/* The attributes of one start tag: libxml2 gives (name, prefix, URI, value, end of value) for each. */
typedef struct {
    const xmlChar **rows;
    int n;
} Attributes;

/* The value copied into the reader's chunk; NULL where there is none. */
static const char *
value_of(Reader *reader, Attributes attributes, const char *name)
{
    for (int i = 0; i < attributes.n; i++) {
        const xmlChar **row = attributes.rows + (size_t)i * 5;
        if (strcmp((const char *)row[0], name) == 0 && row[1] == NULL)
            return g_string_chunk_insert_len(reader->texts, (const char *)row[3], row[4] - row[3]);
    }
    return NULL;
}

static const Place place_of[SCOPES] = {IN_GRAPH, IN_NODE, IN_EDGE};

static void
begin_element(Reader *reader, Scope scope, const char *id)
{
    reader->place = place_of[scope];
    reader->element[scope]++;
    reader->element_before = topology_n_problems(reader->options);
    reader->id = id;
}

/* What the element at hand is called in messages. The caller frees it. */
static char *
element_text(const Reader *reader, Scope scope)
{
    if (scope == SCOPE_GRAPH)
        return g_strdup("graph");
    if (scope == SCOPE_NODE)
        return g_strdup_printf("node \"%s\"", reader->id);
    return g_strdup_printf("edge \"%s\" to \"%s\"", reader->edge.source, reader->edge.target);
}

static void
start_key(Reader *reader, Attributes attributes)
{
    g_autofree char *fault = NULL;
    reader->key = graphml_keys_declare(reader->keys, value_of(reader, attributes, "id"),
                                       value_of(reader, attributes, "for"), value_of(reader, attributes, "attr.name"),
                                       value_of(reader, attributes, "attr.type"), &fault);
    if (fault != NULL)
        fail(reader, "%s", fault);
    else
        reader->place = IN_KEY;
}

static void
start_graph(Reader *reader, Attributes attributes)
{
    const char *mode = value_of(reader, attributes, "edgedefault");
    if (reader->graph_seen)
        return fail(reader, "a second graph; a fabric is one");
    if (mode == NULL || (strcmp(mode, "directed") != 0 && strcmp(mode, "undirected") != 0))
        fail(reader, "edgedefault of the graph is %s%s%s, expected directed or undirected", mode ? "\"" : "",
             mode ? mode : "missing", mode ? "\"" : "");
    reader->skipped = 0; /* its nodes are looked at all the same */
    reader->graph_seen = TRUE;
    reader->undirected = g_strcmp0(mode, "undirected") == 0;
    begin_element(reader, SCOPE_GRAPH, NULL);
}

static void
start_node(Reader *reader, Attributes attributes)
{
    const char *id = value_of(reader, attributes, "id");
    if (id == NULL)
        return fail(reader, "a node has no id");
    gpointer known = g_hash_table_lookup(reader->node_ids, id);
    if (known != NULL)
        return fail(reader, "node \"%s\" is declared twice, first in line %zu", id,
                    g_array_index(reader->node_lines, size_t, GPOINTER_TO_UINT(known) - 1));
    begin_element(reader, SCOPE_NODE, id);
    reader->node = node_default();
}

static void
start_edge(Reader *reader, Attributes attributes)
{
    const char *id = value_of(reader, attributes, "id"), *directed = value_of(reader, attributes, "directed");
    reader->edge = (Edge){.source = value_of(reader, attributes, "source"),
                          .target = value_of(reader, attributes, "target"),
                          .link = link_default(),
                          .undirected = reader->undirected,
                          .line = (size_t)xmlSAX2GetLineNumber(reader->xml)};
    if (reader->edge.source == NULL || reader->edge.target == NULL)
        return fail(reader, "an edge has no %s", reader->edge.source == NULL ? "source" : "target");
    if (id != NULL && !g_hash_table_add(reader->edge_ids, (gpointer)id))
        return fail(reader, "edge \"%s\" is declared twice", id);
    if (directed != NULL) {
        if (strcmp(directed, "true") != 0 && strcmp(directed, "false") != 0)
            return fail(reader, "edge \"%s\" to \"%s\": directed is \"%s\", expected true or false",
                        reader->edge.source, reader->edge.target, directed);
        reader->edge.undirected = strcmp(directed, "false") == 0;
    }
    begin_element(reader, SCOPE_EDGE, id);
    reader->edge.link.source = "file";
    reader->edge.link.latency_ps = -1;
}

static void
start_data(Reader *reader, Attributes attributes)
{
    Scope scope = reader->place == IN_GRAPH ? SCOPE_GRAPH : reader->place == IN_NODE ? SCOPE_NODE : SCOPE_EDGE;
    const char *id = value_of(reader, attributes, "key");
    g_autofree char *what = element_text(reader, scope);
    if (id == NULL)
        return fail(reader, "%s: a data element has no key", what);
    GraphmlKey *key = graphml_keys_find(reader->keys, id);
    if (key == NULL)
        return fail(reader, "%s: key \"%s\" is not declared", what, id);
    reader->key = key;
    if (!key->serves[scope])
        return fail(reader, "%s: key \"%s\" (%s) is not declared for a %s", what, id, key->name,
                    graphml_scope_name(scope));
    if (key->given_by[scope] == reader->element[scope])
        return fail(reader, "%s: %s (key \"%s\") is given twice", what, key->name, id);
    key->given_by[scope] = reader->element[scope];
    key->ignored += key->columns[scope] == NULL;
    reader->place = IN_DATA;
    reader->scope = scope;
    reader->has_elements = FALSE;
    g_string_truncate(reader->text, 0);
}

/* Elements that may be passed over with all that is in them. */
static gboolean
is_skipped(Place place, const char *name)
{
    return strcmp(name, "desc") == 0 || (place == IN_GRAPHML && strcmp(name, "data") == 0) ||
           (place == IN_NODE && strcmp(name, "port") == 0) || place == IN_DATA;
}

static void
start_file(Reader *reader, const char *name)
{
    reader->place = IN_GRAPHML;
    if (strcmp(name, "graphml") == 0)
        return;
    error_input(&reader->error, "%s:%d: the file begins with <%s>, expected <graphml>", reader->path,
                xmlSAX2GetLineNumber(reader->xml), name);
    xmlStopParser(reader->xml);
}

static void
start(Reader *reader, const char *name, Attributes attributes)
{
    static const struct {
        Place place;
        const char *name;
        void (*start)(Reader *reader, Attributes attributes);
    } known[] = {
        {IN_GRAPHML, "key", start_key}, {IN_GRAPHML, "graph", start_graph}, {IN_GRAPH, "node", start_node},
        {IN_GRAPH, "edge", start_edge}, {IN_GRAPH, "data", start_data},     {IN_NODE, "data", start_data},
        {IN_EDGE, "data", start_data},
    };
    static const char *const places[] = {"the file", "graphml", "key", "default", "graph", "node", "edge", "data"};
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (known[i].place == reader->place && strcmp(known[i].name, name) == 0)
            return known[i].start(reader, attributes);
    if (reader->place == IN_FILE) {
        start_file(reader, name);
    } else if (reader->place == IN_KEY && strcmp(name, "default") == 0) {
        reader->place = IN_DEFAULT;
        g_string_truncate(reader->text, 0);
    } else if (is_skipped(reader->place, name)) {
        reader->has_elements = TRUE;
        reader->skipped = 1;
    } else if (strcmp(name, "graph") == 0 || strcmp(name, "hyperedge") == 0) {
        fail(reader, "<%s> in %s: %s are not read", name, places[reader->place],
             strcmp(name, "graph") == 0 ? "graphs within a graph" : "hyperedges");
    } else
        fail(reader, "<%s> in %s is not GraphML", name, places[reader->place]);
}

/* Sets the member the key stands for in the element at hand. */
static void
take_value(Reader *reader, const GraphmlKey *key, Scope scope, const char *text)
{
    void *rows[SCOPES] = {&reader->graph, &reader->node, &reader->edge.link};
    const Column *column = key->columns[scope];
    char *expected;
    if (column == NULL || column_parse(column, rows[scope], text, reader->texts, &expected))
        return;
    g_autofree char *what = element_text(reader, scope);
    fail(reader, "%s: %s is \"%.80s\", expected %s", what, column->name, text, expected);
    g_free(expected);
}

static void
end_data(Reader *reader)
{
    const GraphmlKey *key = reader->key;
    if (reader->has_elements && key->columns[reader->scope] != NULL) {
        g_autofree char *what = element_text(reader, reader->scope);
        fail(reader, "%s: %s holds an element, expected text", what, key->name);
    } else {
        take_value(reader, key, reader->scope, reader->text->str);
    }
    reader->place = place_of[reader->scope];
}

/* Gives the defaults of keys that the element at hand did not name, and refuses it where a needed one is missing. */
static void
complete(Reader *reader, Scope scope)
{
    uint32_t n;
    const Column *columns = graphml_columns(scope, &n);
    uint32_t given = 0; /* bits by column */
    for (uint32_t i = 0; i < graphml_keys_n(reader->keys); i++) {
        const GraphmlKey *key = graphml_keys_at(reader->keys, i);
        if (key->columns[scope] == NULL)
            continue;
        gboolean named = key->given_by[scope] == reader->element[scope];
        if (!named && key->standard != NULL)
            take_value(reader, key, scope, key->standard);
        if (named || key->standard != NULL)
            given |= 1U << (key->columns[scope] - columns);
    }
    for (uint32_t i = 0; i < n; i++)
        if (columns[i].needed && (given & 1U << i) == 0) {
            g_autofree char *what = element_text(reader, scope);
            fail(reader, "%s: %s is missing", what, columns[i].name);
        }
}

/* A faulty node has a number too, so that edges to it are no further problem. */
static void
end_node(Reader *reader)
{
    complete(reader, SCOPE_NODE);
    if (reader->node.name[0] == '\0')
        reader->node.name = reader->id;
    g_autoptr(GError) error = NULL;
    if (!broken_since(reader, reader->element_before) &&
        fabric_add_node(reader->fabric, &reader->node, &error) == INDEX_NONE)
        fail(reader, "node \"%s\": %s", reader->id, error->message);
    size_t line = (size_t)xmlSAX2GetLineNumber(reader->xml);
    g_array_append_val(reader->node_lines, line);
    g_hash_table_insert(reader->node_ids, (gpointer)reader->id, GUINT_TO_POINTER(reader->node_lines->len));
}

static void
end_edge(Reader *reader)
{
    complete(reader, SCOPE_EDGE);
    Link *link = &reader->edge.link;
    if (link->latency_ps < 0 && !isnan(link->length_km)) {
        if (link->length_km * PS_PER_KM >= 0x1p63)
            fail(reader, "edge \"%s\" to \"%s\": length_km is %g, expected less than 106 light-days",
                 reader->edge.source, reader->edge.target, link->length_km);
        else
            link->latency_ps = (SimTime)ceil(link->length_km * PS_PER_KM);
        reader->from_length++;
    } else if (link->latency_ps < 0) {
        link->latency_ps = 0;
        reader->without_latency++;
    }
    g_array_append_val(reader->edges, reader->edge);
}

static void
end(Reader *reader)
{
    switch (reader->place) {
    case IN_DATA:
        end_data(reader);
        break;
    case IN_NODE:
        end_node(reader);
        reader->place = IN_GRAPH;
        break;
    case IN_EDGE:
        end_edge(reader);
        reader->place = IN_GRAPH;
        break;
    case IN_GRAPH:
        complete(reader, SCOPE_GRAPH);
        reader->place = IN_GRAPHML;
        break;
    case IN_DEFAULT:
        g_free(reader->key->standard);
        reader->key->standard = g_strdup(reader->text->str);
        reader->place = IN_KEY;
        break;
    default:
        reader->place = IN_GRAPHML;
        break;
    }
}

static void
on_start(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int n_namespaces,
         const xmlChar **namespaces, int n_attributes, int n_defaulted, const xmlChar **attributes)
{
    Reader *reader = data;
    char next = (char)*reader->xml->input->cur;
    reader->depth++;
    if (reader->error != NULL || (next != '>' && next != '/')) /* a tag cut short: libxml2 will say so */
        return;
    if (reader->skipped > 0)
        reader->skipped++;
    else {
        reader->starting = TRUE;
        start(reader, (const char *)name, (Attributes){attributes, n_attributes});
        reader->starting = FALSE;
    }
}

static void
on_end(void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    Reader *reader = data;
    reader->depth--;
    if (reader->error != NULL)
        return;
    if (reader->skipped > 0)
        reader->skipped--;
    else
        end(reader);
}

static void
on_text(void *data, const xmlChar *text, int length)
{
    Reader *reader = data;
    if (reader->error == NULL && reader->skipped == 0 && (reader->place == IN_DATA || reader->place == IN_DEFAULT))
        g_string_append_len(reader->text, (const char *)text, length);
}

static void
on_entity(void *data, const xmlChar *name, int type, const xmlChar *public_id, const xmlChar *system_id,
          xmlChar *content)
{
    fail(data, "entity \"%s\" is declared; entities are not read", (const char *)name);
}

static void
on_error(void *data, xmlErrorPtr found)
{
    Reader *reader = data;
    if (reader->error != NULL || found->level < XML_ERR_ERROR)
        return;
    gboolean cut = found->code == XML_ERR_DOCUMENT_END && reader->depth > 0;
    g_autofree char *text = g_strchomp(g_strdup(cut                      ? "the file ends early"
                                                : found->message != NULL ? found->message
                                                                         : "unknown fault"));
    error_input(&reader->error, "%s:%d: not well-formed XML: %s", reader->path, found->line, text);
}

static xmlSAXHandler
handlers(void)
{
    return (xmlSAXHandler){.startElementNs = on_start,
                           .endElementNs = on_end,
                           .characters = on_text,
                           .cdataBlock = on_text,
                           .ignorableWhitespace = on_text,
                           .entityDecl = on_entity,
                           .serror = on_error,
                           .initialized = XML_SAX2_MAGIC};
}

static void
reader_init(Reader *reader, const char *path, const TopologyOptions *options)
{
    *reader = (Reader){.path = path, .options = options, .before = topology_n_problems(options), .graph = {.name = ""}};
    reader->fabric = fabric_new();
    reader->texts = g_string_chunk_new(65536);
    reader->keys = graphml_keys_new();
    reader->node_ids = g_hash_table_new(g_str_hash, g_str_equal);
    reader->edge_ids = g_hash_table_new(g_str_hash, g_str_equal);
    reader->node_lines = g_array_new(FALSE, FALSE, sizeof(size_t));
    reader->edges = g_array_new(FALSE, FALSE, sizeof(Edge));
    reader->text = g_string_new(NULL);
}

static void
reader_clear(Reader *reader)
{
    fabric_free(reader->fabric);
    g_hash_table_unref(reader->node_ids);
    g_hash_table_unref(reader->edge_ids);
    graphml_keys_free(reader->keys);
    g_array_unref(reader->node_lines);
    g_array_unref(reader->edges);
    g_string_chunk_free(reader->texts);
    g_string_free(reader->text, TRUE);
    g_clear_error(&reader->error);
}

/* Feeds the file to the parser, piece by piece. */
static void
parse(Reader *reader, Input *input)
{
    enum { PIECE = 32 * 1024 };
    g_autofree char *piece = g_malloc(PIECE);
    xmlSAXHandler sax = handlers();
    reader->xml = xmlCreatePushParserCtxt(&sax, reader, NULL, 0, NULL);
    xmlCtxtUseOptions(reader->xml, XML_PARSE_NONET);
    gssize n;
    do {
        n = input_read(input, piece, PIECE, &reader->error);
        if (n >= 0)
            xmlParseChunk(reader->xml, piece, (int)n, n == 0);
    } while (n > 0 && reader->error == NULL);
    if (reader->error == NULL && !reader->graph_seen)
        error_input(&reader->error, "%s: there is no <graph> in it", reader->path);
    xmlFreeDoc(reader->xml->myDoc);
    xmlFreeParserCtxt(reader->xml);
    reader->xml = NULL;
}

/* The node an edge names; FALSE where there is none. */
static gboolean
find_end(const Reader *reader, const Edge *edge, const char *id, uint32_t *node, GError **error)
{
    gpointer known = g_hash_table_lookup(reader->node_ids, id);
    *node = GPOINTER_TO_UINT(known) - 1;
    return known != NULL || error_input(error, "%s:%zu: edge \"%s\" to \"%s\": there is no node \"%s\"", reader->path,
                                        edge->line, edge->source, edge->target, id);
}

/* sound: there was no fault so far, so that the fabric has all nodes. */
static gboolean
add_edge(const Reader *reader, Edge *edge, gboolean sound, GError **error)
{
    if (!find_end(reader, edge, edge->source, &edge->link.src, error) ||
        !find_end(reader, edge, edge->target, &edge->link.dst, error))
        return FALSE;
    if (!sound)
        return TRUE;
    uint32_t added = edge->undirected ? fabric_add_cable(reader->fabric, &edge->link, error)
                                      : fabric_add_link(reader->fabric, &edge->link, error);
    if (added == INDEX_NONE)
        g_prefix_error(error, "%s:%zu: ", reader->path, edge->line);
    return added != INDEX_NONE;
}

static gboolean
add_edges(Reader *reader)
{
    gboolean sound = !broken_since(reader, reader->before);
    for (guint i = 0; i < reader->edges->len; i++) {
        GError *wrong = NULL;
        if (!add_edge(reader, &g_array_index(reader->edges, Edge, i), sound, &wrong) &&
            !topology_go_on(reader->options, wrong, &reader->error))
            return FALSE;
    }
    return topology_sound(reader->options, reader->before, reader->path, &reader->error);
}

static char *
notes_of(const Reader *reader)
{
    GString *notes = g_string_new(NULL);
    for (uint32_t i = 0; i < graphml_keys_n(reader->keys); i++) {
        const GraphmlKey *key = graphml_keys_at(reader->keys, i);
        if (key->ignored > 0)
            g_string_append_printf(notes, "%s: attribute \"%s\" is ignored (given %" G_GUINT64_FORMAT " times)\n",
                                   reader->path, key->name, key->ignored);
    }
    if (reader->from_length > 0)
        g_string_append_printf(notes, "%s: latency of %" G_GUINT64_FORMAT " edges set to 5 us per km of length_km\n",
                               reader->path, reader->from_length);
    if (reader->without_latency > 0)
        g_string_append_printf(notes,
                               "%s: latency of %" G_GUINT64_FORMAT " edges set to 0: no latency_ps, no length_km\n",
                               reader->path, reader->without_latency);
    return g_string_free(notes, FALSE);
}

/* Everything has been parsed without fault: the sealed fabric, now the caller's; NULL with reader->error. */
static Fabric *
finish(Reader *reader)
{
    fabric_set_name(reader->fabric, reader->graph.name);
    fabric_set_forward(reader->fabric, reader->graph.forward);
    if (!add_edges(reader))
        return NULL;
    if (!fabric_seal(reader->fabric, &reader->error)) {
        g_prefix_error(&reader->error, "%s: ", reader->path);
        return NULL;
    }
    return g_steal_pointer(&reader->fabric);
}

/* GraphML leaves nothing open that an option could fill: of them only problems is used. */
static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(Input) input = input_open(path, error);
    if (input == NULL)
        return NULL;
    Reader reader;
    reader_init(&reader, path, options);
    parse(&reader, input);
    Fabric *fabric = reader.error == NULL ? finish(&reader) : NULL;
    if (fabric == NULL)
        g_propagate_error(error, g_steal_pointer(&reader.error));
    else if (notes != NULL)
        *notes = notes_of(&reader);
    reader_clear(&reader);
    return fabric;
}

Fabric *
graphml_read(const char *path, char **notes, GError **error)
{
    return read(path, &topology_options_default, notes, error);
}

static gboolean
recognise(const char *head, size_t length)
{
    return xml_head_is(head, length, "graphml") && !topology_zoo.recognise(head, length);
}

const TopologyFormat topology_graphml = {"graphml", "GraphML with the attributes of trainshed-topology(1)", recognise,
                                         read};
