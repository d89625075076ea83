/* chakra_trace.c - nodes of a Chakra trace and their attributes */
#include "workload/chakra_trace.h"

#include "base/error.h"

#include <assert.h>
#include <string.h>

ChakraTrace *
chakra_trace_new(const char *path)
{
    ChakraTrace *trace = g_new0(ChakraTrace, 1);
    trace->path = g_strdup(path);
    trace->nodes = g_array_new(FALSE, TRUE, sizeof(ChakraNode));
    trace->deps = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    trace->groups = g_array_new(FALSE, FALSE, sizeof(ChakraGroup));
    trace->group_ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    trace->texts = g_string_new(NULL);
    return trace;
}

void
chakra_trace_free(ChakraTrace *trace)
{
    if (trace == NULL)
        return;
    g_free(trace->path);
    g_array_unref(trace->nodes);
    g_array_unref(trace->deps);
    g_array_unref(trace->groups);
    g_array_unref(trace->group_ranks);
    g_string_free(trace->texts, TRUE);
    g_free(trace);
}

ChakraNode *
chakra_trace_add(ChakraTrace *trace)
{
    g_array_set_size(trace->nodes, trace->nodes->len + 1); /* cleared, so that equal traces have equal bytes */
    ChakraNode *node = &g_array_index(trace->nodes, ChakraNode, trace->nodes->len - 1);
    node->name = INDEX_NONE;
    node->group = INDEX_NONE;
    node->first_dep = trace->deps->len;
    return node;
}

uint32_t
chakra_trace_text(ChakraTrace *trace, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    uint32_t offset = (uint32_t)trace->texts->len;
    g_string_append_len(trace->texts, valid, (gssize)strlen(valid) + 1);
    return offset;
}

const char *
chakra_node_name(const ChakraTrace *trace, const ChakraNode *node)
{
    return node->name == INDEX_NONE ? "" : trace->texts->str + node->name;
}

char *
chakra_place(const ChakraTrace *trace, const ChakraNode *node)
{
    return g_strdup_printf(trace->lines ? "%s:%" G_GUINT64_FORMAT : "%s: byte %" G_GUINT64_FORMAT, trace->path,
                           node->place);
}

static const char *const type_names[] = {"INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
                                         "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
static const char *const comm_type_names[] = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

const char *
chakra_type_name(uint32_t type)
{
    return type < G_N_ELEMENTS(type_names) ? type_names[type] : NULL;
}

gboolean
chakra_type_find(const char *name, uint32_t *type)
{
    if (g_ascii_strcasecmp(name, "coll_comm_node") == 0) /* as the symbolic tensor graph spells it */
        name = type_names[CHAKRA_COLL];
    for (uint32_t i = 0; i < G_N_ELEMENTS(type_names); i++) {
        if (g_ascii_strcasecmp(name, type_names[i]) == 0) {
            *type = i;
            return TRUE;
        }
    }
    return FALSE;
}

const char *
chakra_comm_type_name(int64_t type)
{
    return type >= 0 && type < (int64_t)G_N_ELEMENTS(comm_type_names) ? comm_type_names[type] : NULL;
}

gboolean
chakra_comm_type_find(const char *name, int64_t *type)
{
    for (uint32_t i = 0; i < G_N_ELEMENTS(comm_type_names); i++) {
        if (g_ascii_strcasecmp(name, comm_type_names[i]) == 0) {
            *type = i;
            return TRUE;
        }
    }
    return FALSE;
}

static const char *const number_names[] = {"is_cpu_op", "num_ops",  "tensor_size", "comm_type",
                                           "comm_size", "comm_src", "comm_dst",    "comm_tag"};

const char *
chakra_number_name(ChakraNumber number)
{
    assert(number < CHAKRA_NUMBERS);
    return number_names[number];
}

static const char *
value_kind_name(ChakraValueKind kind)
{
    static const char *const names[] = {"nothing", "a whole number",   "a whole number", "a floating-point number",
                                        "a text",  "a list of truths", "a list or bytes"};
    return names[kind];
}

static gboolean
set_number(ChakraNode *node, ChakraNumber number, const ChakraValue *value, GError **error)
{
    const char *name = number_names[number];
    if (value->kind == CHAKRA_VALUE_BEYOND)
        return error_input(error, "%s is above 2^63 - 1", name);
    if (value->kind != CHAKRA_VALUE_INTEGER)
        return error_input(error, "%s is %s; expected a whole number", name, value_kind_name(value->kind));
    if (value->integer < 0)
        return error_input(error, "%s is %" G_GINT64_FORMAT "; expected 0 or more", name, value->integer);
    node->number[number] = value->integer;
    node->has |= 1u << number;
    return TRUE;
}

static gboolean
set_group(ChakraTrace *trace, ChakraNode *node, const char *name, const ChakraValue *value, GError **error)
{
    char digits[24];
    const char *text = value->text;
    if (value->kind == CHAKRA_VALUE_INTEGER) {
        g_snprintf(digits, sizeof digits, "%" G_GINT64_FORMAT, value->integer);
        text = digits;
    } else if (value->kind != CHAKRA_VALUE_TEXT) {
        return error_input(error, "%s is %s; expected the name of a group as text", name, value_kind_name(value->kind));
    }
    gboolean all = text[0] == '\0' || strcmp(text, "0") == 0;
    node->group = all ? INDEX_NONE : chakra_trace_text(trace, text);
    return TRUE;
}

gboolean
chakra_node_set(ChakraTrace *trace, ChakraNode *node, const char *name, const ChakraValue *value, GError **error)
{
    if (value->kind == CHAKRA_VALUE_NONE)
        return TRUE;
    for (uint32_t i = 0; i < CHAKRA_NUMBERS; i++) {
        if (strcmp(name, number_names[i]) == 0)
            return set_number(node, i, value, error);
    }
    if (strcmp(name, "pg_name") == 0 || strcmp(name, "comm_group") == 0)
        return set_group(trace, node, name, value, error);
    if (strcmp(name, "involved_dim") == 0) {
        if (value->kind != CHAKRA_VALUE_BOOLS)
            return error_input(error, "involved_dim is %s; expected a list of truths", value_kind_name(value->kind));
        node->involved = value->truths;
    }
    return TRUE;
}

gboolean
chakra_node_set_duration(ChakraNode *node, const char *key, uint64_t n, SimTime unit_ps, GError **error)
{
    if (n > (uint64_t)(SIM_TIME_MAX / unit_ps))
        return error_input(error, "%s is %" G_GUINT64_FORMAT "; longer than 106 days", key, n);
    node->duration_ps = (SimTime)n * unit_ps;
    return TRUE;
}
