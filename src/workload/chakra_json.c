/* chakra_json.c - Chakra execution traces as "workload_graph" JSON, the rendering of the Chakra feeder
 *
 * An object with an array workload_graph of nodes; a node's keys are Id, Name, NodeType, ctrlDeps, data_deps,
 * runtime (us) and attributes by their names. Unknown keys are passed over. */
#include "base/error.h"
#include "base/json.h"
#include "workload/chakra_trace.h"

#include <string.h>

static gboolean
take_uint(JsonReader *json, const char *key, uint64_t *value, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind == JSON_NUMBER && json_uint64(token.text, value))
        return TRUE;
    return json_fail(json, error, "%s is %s; expected a whole number from 0 to 2^64 - 1", key,
                     token.text != NULL ? token.text : "no number");
}

static gboolean
take_deps(JsonReader *json, const char *key, ChakraTrace *trace, ChakraNode *node, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(json, error, "%s is no array; expected the ids of nodes", key);
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        uint64_t id;
        if (token.kind != JSON_NUMBER || !json_uint64(token.text, &id))
            return json_fail(json, error, "%s holds %s; expected a whole number from 0 to 2^64 - 1", key,
                             token.text != NULL ? token.text : "no number");
        g_array_append_val(trace->deps, id);
        node->n_deps++;
    }
}

/* An array of truths; any other array is VALUE_OTHER. */
static gboolean
take_bools(JsonReader *json, ChakraValue *value, GError **error)
{
    JsonToken token;
    *value = (ChakraValue){.kind = CHAKRA_VALUE_BOOLS, .all = TRUE};
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (token.kind != JSON_TRUE && token.kind != JSON_FALSE)
            value->kind = CHAKRA_VALUE_OTHER;
        value->all = value->all && token.kind == JSON_TRUE;
        if (!json_skip(json, &token, error))
            return FALSE;
    }
}

static gboolean
take_attribute(JsonReader *json, const char *key, ChakraTrace *trace, ChakraNode *node, GError **error)
{
    JsonToken token;
    uint64_t beyond;
    ChakraValue value = {.kind = CHAKRA_VALUE_OTHER};
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind == JSON_ARRAY_BEGIN) {
        if (!take_bools(json, &value, error))
            return FALSE;
    } else if (token.kind == JSON_TRUE || token.kind == JSON_FALSE) {
        value = (ChakraValue){.kind = CHAKRA_VALUE_INTEGER, .integer = token.kind == JSON_TRUE};
    } else if (token.kind == JSON_STRING) {
        value = (ChakraValue){.kind = CHAKRA_VALUE_TEXT, .text = token.text};
    } else if (token.kind == JSON_NUMBER) {
        if (json_int64(token.text, &value.integer))
            value.kind = CHAKRA_VALUE_INTEGER;
        else
            value.kind = json_uint64(token.text, &beyond) ? CHAKRA_VALUE_BEYOND : CHAKRA_VALUE_REAL;
    } else if (token.kind == JSON_NULL) {
        value.kind = CHAKRA_VALUE_NONE;
    } else if (!json_skip(json, &token, error)) {
        return FALSE;
    }
    g_autoptr(GError) wrong = NULL;
    if (chakra_node_set(trace, node, key, &value, &wrong))
        return TRUE;
    return json_fail(json, error, "node %" G_GUINT64_FORMAT ": attribute %s", node->id, wrong->message);
}

static gboolean
take_name(JsonReader *json, ChakraTrace *trace, ChakraNode *node, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_STRING)
        return json_fail(json, error, "Name is no text");
    node->name = chakra_trace_text(trace, token.text);
    return TRUE;
}

static gboolean
take_node(JsonReader *json, ChakraTrace *trace, GError **error)
{
    ChakraNode *node = chakra_trace_add(trace);
    gboolean has_id = FALSE, has_type = FALSE;
    JsonToken token;
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_OBJECT_END)
            break;
        uint64_t type = 0;
        gboolean ok;
        g_autofree char *key = g_strdup(token.text);
        if (strcmp(key, "Id") == 0) {
            ok = take_uint(json, key, &node->id, error);
            has_id = TRUE;
        } else if (strcmp(key, "NodeType") == 0) {
            ok = take_uint(json, key, &type, error);
            node->type = (uint32_t)MIN(type, UINT32_MAX);
            has_type = TRUE;
        } else if (strcmp(key, "Name") == 0) {
            ok = take_name(json, trace, node, error);
        } else if (strcmp(key, "runtime") == 0) {
            ok = take_uint(json, key, &node->duration_us, error);
        } else if (strcmp(key, "data_deps") == 0 || strcmp(key, "ctrlDeps") == 0) {
            ok = take_deps(json, key, trace, node, error);
        } else {
            ok = take_attribute(json, key, trace, node, error);
        }
        if (!ok)
            return FALSE;
    }
    if (!has_id || !has_type)
        return json_fail(json, error, "a node of workload_graph has no %s", has_id ? "NodeType" : "Id");
    return TRUE;
}

static gboolean
take_graph(JsonReader *json, ChakraTrace *trace, GError **error)
{
    JsonToken token;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_ARRAY_BEGIN)
        return json_fail(json, error, "workload_graph is no array");
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (token.kind != JSON_OBJECT_BEGIN)
            return json_fail(json, error, "workload_graph holds what is no object; expected nodes");
        if (!take_node(json, trace, error))
            return FALSE;
    }
}

static gboolean
take_file(JsonReader *json, ChakraTrace *trace, GError **error)
{
    JsonToken token;
    gboolean has_graph = FALSE;
    if (!json_next(json, &token, error))
        return FALSE;
    if (token.kind != JSON_OBJECT_BEGIN)
        return json_fail(json, error, "not an object; expected one with \"workload_graph\"");
    for (;;) {
        if (!json_next(json, &token, error))
            return FALSE;
        if (token.kind == JSON_OBJECT_END)
            break;
        if (strcmp(token.text, "workload_graph") == 0) {
            if (has_graph)
                return json_fail(json, error, "workload_graph is given twice");
            has_graph = TRUE;
            if (!take_graph(json, trace, error))
                return FALSE;
        } else if (!json_next(json, &token, error) || !json_skip(json, &token, error)) {
            return FALSE;
        }
    }
    if (!has_graph)
        return json_fail(json, error, "there is no \"workload_graph\"");
    if (!json_next(json, &token, error))
        return FALSE;
    return token.kind == JSON_END || json_fail(json, error, "more follows after the end of the object");
}

static ChakraTrace *
read_file(const char *path, GError **error)
{
    g_autoptr(JsonReader) json = json_open(path, error);
    if (json == NULL)
        return NULL;
    g_autoptr(ChakraTrace) trace = chakra_trace_new(path);
    if (!take_file(json, trace, error))
        return NULL;
    return g_steal_pointer(&trace);
}

static Workload *
chakra_json_read(const TraceSource *source, GError **error)
{
    return chakra_workload(source, read_file, error);
}

static int
chakra_json_recognise(const char *head, size_t length)
{
    size_t at = input_bom(head, length);
    while (at < length && g_ascii_isspace(head[at]))
        at++;
    if (at == length || head[at] != '{')
        return 0;
    return g_strstr_len(head, (gssize)length, "\"workload_graph\"") != NULL ? 100 : 0;
}

const TraceFormat trace_chakra_json = {"chakra-json", "Chakra execution traces as workload_graph JSON, one a rank",
                                       chakra_json_recognise, chakra_json_read, .replicates = TRUE};
