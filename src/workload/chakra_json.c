/* chakra_json.c - Chakra execution traces as JSON, in every rendering that is about
 *
 * - "workload_graph": the Chakra feeder's, an object with an array of nodes of Id, Name, NodeType, ctrlDeps, data_deps,
 *   runtime (us) and attributes by their names;
 * - "nodes": the symbolic tensor graph's, likewise flat, of id, name, node_type and comm_type by name;
 * - flat nodes in an array of their own;
 * - chakra_jsonizer's: protobuf's JSON of GlobalMetadata and then of each Node, one after another. 64-bit numbers are
 *   texts, what is 0 is left out, and attributes are an array attr (chakra_json_value.c).
 * Unknown keys are passed over. */
#include "workload/chakra_json.h"

#include "base/error.h"

#include <string.h>

/* What a key of a node means; attributes have none. */
typedef enum { KEY_ATTRIBUTE, KEY_ID, KEY_NAME, KEY_TYPE, KEY_DEPS, KEY_DURATION, KEY_START, KEY_ATTR, KEY_INPUTS } Key;

static const struct {
    const char *name;
    Key key;
} keys[] = {
    {"Id", KEY_ID},
    {"id", KEY_ID},
    {"Name", KEY_NAME},
    {"name", KEY_NAME},
    {"NodeType", KEY_TYPE},
    {"node_type", KEY_TYPE},
    {"type", KEY_TYPE},
    {"data_deps", KEY_DEPS},
    {"dataDeps", KEY_DEPS},
    {"ctrlDeps", KEY_DEPS},
    {"ctrl_deps", KEY_DEPS},
    {"runtime", KEY_DURATION},
    {"durationMicros", KEY_DURATION},
    {"duration_micros", KEY_DURATION},
    {"startTimeMicros", KEY_START},
    {"start_time_micros", KEY_START},
    {"attr", KEY_ATTR},
    {"inputs", KEY_INPUTS},
};

static Key
key_of(const char *name)
{
    for (uint32_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        if (strcmp(name, keys[i].name) == 0)
            return keys[i].key;
    }
    return KEY_ATTRIBUTE;
}

/* A whole number; protobuf's JSON writes those of 64 bits as texts. */
static gboolean
take_uint(ChakraJson *reader, const char *key, uint64_t *value, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if ((token.kind == JSON_NUMBER || token.kind == JSON_STRING) && json_uint64(token.text, value))
        return TRUE;
    return json_fail(reader->json, error, "%s is %s; expected a whole number from 0 to 2^64 - 1", key,
                     token.text != NULL ? token.text : "no number");
}

static gboolean
take_deps(ChakraJson *reader, const char *key, ChakraNode *node, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(reader->json, error, "%s is no array; expected the ids of nodes", key);
    for (;;) {
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        uint64_t id;
        if ((token.kind != JSON_NUMBER && token.kind != JSON_STRING) || !json_uint64(token.text, &id))
            return json_fail(reader->json, error, "%s holds %s; expected a whole number from 0 to 2^64 - 1", key,
                             token.text != NULL ? token.text : "no number");
        g_array_append_val(reader->trace->deps, id);
        node->n_deps++;
        reader->trace->n_control += key[0] == 'c';
    }
}

/* A number of the schema, or a name. */
static gboolean
take_type(ChakraJson *reader, const char *key, ChakraNode *node, GError **error)
{
    JsonToken token;
    uint64_t type;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind == JSON_STRING && chakra_type_find(token.text, &node->type))
        return TRUE;
    if (token.kind != JSON_NUMBER || !json_uint64(token.text, &type))
        return json_fail(reader->json, error, "%s is %s; expected a node type such as 4 or \"COMP_NODE\"", key,
                         token.text != NULL ? token.text : "no number");
    node->type = (uint32_t)MIN(type, UINT32_MAX);
    return TRUE;
}

static gboolean
take_name(ChakraJson *reader, const char *key, ChakraNode *node, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_STRING)
        return json_fail(reader->json, error, "%s is no text", key);
    node->name = chakra_trace_text(reader->trace, token.text);
    return TRUE;
}

/* Keeps inputs.values of a METADATA node, whose type may come later; *values is the caller's. */
static gboolean
take_inputs(ChakraJson *reader, char **values, GError **error)
{
    JsonToken token;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind != JSON_OBJECT_BEGIN)
        return json_skip(reader->json, &token, error);
    for (;;) {
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        gboolean wanted = strcmp(token.text, "values") == 0;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (wanted && token.kind == JSON_STRING) {
            g_free(*values);
            *values = g_strdup(token.text);
        }
        if (!json_skip(reader->json, &token, error))
            return FALSE;
    }
}

static gboolean
take_duration(ChakraJson *reader, const char *key, ChakraNode *node, GError **error)
{
    uint64_t us;
    g_autoptr(GError) wrong = NULL;
    if (!take_uint(reader, key, &us, error))
        return FALSE;
    return chakra_node_set_duration(node, key, us, PS_PER_US, &wrong) ||
           chakra_json_problem(reader, node, wrong->message);
}

/* What the keys of one node have told. */
typedef struct {
    gboolean has_id, has_type;
    char *inputs; /* owned */
} Seen;

static gboolean
take_key(ChakraJson *reader, const char *name, ChakraNode *node, Seen *seen, GError **error)
{
    Key key = key_of(name);
    seen->has_id |= key == KEY_ID;
    seen->has_type |= key == KEY_TYPE;
    switch (key) {
    case KEY_ID:
        return take_uint(reader, name, &node->id, error);
    case KEY_NAME:
        return take_name(reader, name, node, error);
    case KEY_TYPE:
        return take_type(reader, name, node, error);
    case KEY_DEPS:
        return take_deps(reader, name, node, error);
    case KEY_DURATION:
        return take_duration(reader, name, node, error);
    case KEY_START:
        return take_uint(reader, name, &node->start_us, error);
    case KEY_ATTR:
        return chakra_json_attributes(reader, node, error);
    case KEY_INPUTS:
        return take_inputs(reader, &seen->inputs, error);
    default:
        return chakra_json_attribute(reader, name, node, error);
    }
}

/* The keys of a node whose '{' was taken. */
static gboolean
take_keys(ChakraJson *reader, ChakraNode *node, Seen *seen, GError **error)
{
    JsonToken token;
    for (;;) {
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        g_autofree char *name = g_strdup(token.text);
        if (!take_key(reader, name, node, seen, error))
            return FALSE;
    }
}

/* A node whose '{' was taken. Of a message, what is 0 is left out. */
static gboolean
take_node(ChakraJson *reader, gboolean message, GError **error)
{
    ChakraNode *node = chakra_trace_add(reader->trace);
    node->place = json_line(reader->json);
    Seen seen = {0};
    gboolean ok = take_keys(reader, node, &seen, error);
    g_autofree char *inputs = seen.inputs;
    if (!ok)
        return FALSE;
    if (!message && (!seen.has_id || !seen.has_type))
        return json_fail(reader->json, error, "a node has no %s", seen.has_id ? "type" : "id");
    g_autoptr(GError) wrong = NULL;
    if (node->type != CHAKRA_METADATA || inputs == NULL ||
        chakra_node_set_inputs(reader->trace, reader->trace->nodes->len - 1, inputs, &wrong))
        return TRUE;
    return chakra_json_problem(reader, node, wrong->message);
}

/* Nodes of an array whose '[' was taken. */
static gboolean
take_nodes(ChakraJson *reader, GError **error)
{
    JsonToken token;
    for (;;) {
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (token.kind != JSON_OBJECT_BEGIN)
            return json_fail(reader->json, error, "an array of nodes holds what is no object");
        if (!take_node(reader, FALSE, error))
            return FALSE;
    }
}

/* The first object, whose '{' was taken: one with an array of nodes, or GlobalMetadata. */
static gboolean
take_first(ChakraJson *reader, gboolean *has_graph, GError **error)
{
    JsonToken token;
    for (;;) {
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        g_autofree char *key = g_strdup(token.text);
        gboolean graph = strcmp(key, "workload_graph") == 0, nodes = strcmp(key, "nodes") == 0;
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (!graph && !nodes) {
            if (!json_skip(reader->json, &token, error))
                return FALSE;
            continue;
        }
        if (*has_graph)
            return json_fail(reader->json, error, "nodes are given twice");
        if (token.kind != JSON_ARRAY_BEGIN)
            return json_fail(reader->json, error, "%s is no array", key);
        *has_graph = TRUE;
        reader->trace->schema = graph ? "JSON, workload_graph" : "JSON, nodes";
        if (!take_nodes(reader, error))
            return FALSE;
    }
}

/* Messages of nodes after the first. */
static gboolean
take_messages(ChakraJson *reader, GError **error)
{
    JsonToken token;
    reader->trace->schema = "JSON, messages of schema 0.0.4";
    for (gboolean any = FALSE;; any = TRUE) {
        if (!json_next(reader->json, &token, error))
            return FALSE;
        if (token.kind == JSON_END)
            return any || json_fail(reader->json, error,
                                    "there is no \"workload_graph\", no \"nodes\", and no message of a node follows");
        if (token.kind != JSON_OBJECT_BEGIN)
            return json_fail(reader->json, error, "not an object; expected a message of a node");
        if (!take_node(reader, TRUE, error))
            return FALSE;
    }
}

static gboolean
take_file(ChakraJson *reader, GError **error)
{
    JsonToken token;
    gboolean has_graph = FALSE;
    if (!json_next(reader->json, &token, error))
        return FALSE;
    if (token.kind == JSON_ARRAY_BEGIN) {
        reader->trace->schema = "JSON, an array of nodes";
        has_graph = TRUE;
        if (!take_nodes(reader, error))
            return FALSE;
    } else if (token.kind != JSON_OBJECT_BEGIN) {
        return json_fail(reader->json, error, "neither an object nor an array");
    } else if (!take_first(reader, &has_graph, error)) {
        return FALSE;
    }
    if (!has_graph)
        return take_messages(reader, error);
    if (!json_next(reader->json, &token, error))
        return FALSE;
    return token.kind == JSON_END || json_fail(reader->json, error, "more follows after the end of the nodes");
}

static ChakraTrace *
read_file(const char *path, Problems *problems)
{
    GError *wrong = NULL;
    g_autoptr(JsonReader) json = json_open_many(path, &wrong);
    if (json == NULL) {
        problems_add(problems, wrong);
        return NULL;
    }
    g_autoptr(ChakraTrace) trace = chakra_trace_new(path);
    trace->lines = TRUE;
    ChakraJson reader = {.json = json, .trace = trace, .problems = problems};
    if (take_file(&reader, &wrong))
        return g_steal_pointer(&trace);
    if (wrong != NULL)
        problems_add(problems, wrong);
    return NULL;
}

static Workload *
chakra_json_read(const TraceSource *source, GError **error)
{
    return chakra_workload(source, read_file, error);
}

static gboolean
outline(const TraceSource *source, GString *told, GError **error)
{
    return chakra_outline(source, read_file, told, error);
}

/* By keys that no other format's nodes have. */
static int
chakra_json_recognise(const char *head, size_t length)
{
    static const char *const marks[] = {"\"workload_graph\"", "\"node_type\"", "\"NodeType\"", "\"COMM_COLL_NODE\"",
                                        "\"COMP_NODE\"",      "\"int64Val\"",  "\"boolVal\""};
    size_t at = input_bom(head, length);
    while (at < length && g_ascii_isspace(head[at]))
        at++;
    if (at == length || (head[at] != '{' && head[at] != '['))
        return 0;
    for (uint32_t i = 0; i < G_N_ELEMENTS(marks); i++) {
        if (g_strstr_len(head, (gssize)length, marks[i]) != NULL)
            return i == 0 ? 100 : 80;
    }
    return 0;
}

const TraceFormat trace_chakra_json = {
    "chakra-json",         "Chakra execution traces as JSON: workload_graph, flat nodes or chakra_jsonizer's",
    chakra_json_recognise, chakra_json_read,
    .outline = outline,    .replicates = TRUE};
