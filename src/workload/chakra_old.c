/* chakra_old.c - nodes of the Chakra schemas of 2023, 0.0.1 to 0.0.3, as those of 0.0.4
 *
 * proto2 messages, whose field numbers and enumerations differ. 0.0.1 keeps everything in the node; its
 * simulated_run_time is the simulator's cycles, of 1 ns. 0.0.2 and 0.0.3 have attributes by name, of them "runtime" in
 * microseconds and is_host_op. */
#include "workload/chakra_schema.h"

#include "base/error.h"

#include <string.h>

/* Field numbers of a node of every schema, */
enum { NODE_ID = 1, NODE_NAME, NODE_TYPE, NODE_PARENT };
/* of 0.0.1, */
enum { RUN_TIME = 7, COMM_TYPE = 13, INVOLVED_DIM = 14, COMMUNICATOR = 15 };
/* and of the others. */
enum { ATTRIBUTE = 11 };

/* Fields of 0.0.1 that are a number of 0.0.4. */
static const struct {
    uint8_t field;
    ChakraNumber number;
} numbers_001[] = {{6, CHAKRA_TENSOR_SIZE}, {12, CHAKRA_NUM_OPS},   {16, CHAKRA_COMM_SRC},
                   {17, CHAKRA_COMM_DST},   {18, CHAKRA_COMM_SIZE}, {19, CHAKRA_COMM_TAG}};

/* comm_type of 0.0.4 by that of 0.0.2 and 0.0.3; 0.0.1 counts from 1. */
enum { ALL_REDUCE = 0, ALL_GATHER = 2, BROADCAST = 5, ALL_TO_ALL = 6, REDUCE_SCATTER = 7 };
static const int64_t comm_types[] = {ALL_REDUCE, ALL_TO_ALL, ALL_GATHER, REDUCE_SCATTER, BROADCAST};

/* An attribute's value, of 0.0.2 and 0.0.3: what stands in which field. */
typedef struct {
    uint8_t b, f, i, s, bools, ints; /* 0 = none */
} AttributeFields;
static const AttributeFields fields_002 = {.f = 4, .i = 5, .s = 6, .ints = 8};
static const AttributeFields fields_003 = {.b = 4, .f = 5, .i = 6, .s = 7, .bools = 8, .ints = 10};

static gboolean
set(ChakraTrace *trace, ChakraNode *node, const char *name, ChakraValue value, GError **error)
{
    if (chakra_node_set(trace, node, name, &value, error))
        return TRUE;
    g_prefix_error(error, "attribute ");
    return FALSE;
}

static ChakraValue
integer(uint64_t value)
{
    return (ChakraValue){.kind = CHAKRA_VALUE_INTEGER, .integer = (int64_t)value};
}

/* Numbers of a repeated field, packed or a single one: appended to deps where truths is NULL. */
static gboolean
take_numbers(ChakraTrace *trace, ChakraNode *node, WireField field, ChakraTruths *truths, GError **error)
{
    do {
        if (field.type == WIRE_BYTES &&
            (field.bytes.at == field.bytes.end || !wire_take_varint(&field.bytes, 10, &field.value)))
            return field.bytes.at == field.bytes.end ||
                   error_input(error, "field %" G_GUINT64_FORMAT " is no list of numbers", field.number);
        if (truths != NULL) {
            chakra_truths_add(truths, field.value != 0);
        } else {
            g_array_append_val(trace->deps, field.value);
            node->n_deps++;
        }
    } while (field.type == WIRE_BYTES);
    return TRUE;
}

static gboolean
set_comm_type(ChakraTrace *trace, ChakraNode *node, int64_t type, GError **error)
{
    if (type < 0 || type >= (int64_t)G_N_ELEMENTS(comm_types))
        return error_input(error, "comm_type is %" G_GINT64_FORMAT " of the old count; expected 0 to %zu", type,
                           G_N_ELEMENTS(comm_types) - 1);
    return set(trace, node, "comm_type", integer((uint64_t)comm_types[type]), error);
}

/* A field of 0.0.1 beyond the parents. */
static gboolean
take_field_001(ChakraTrace *trace, ChakraNode *node, const WireField *field, GError **error)
{
    if (field->number == RUN_TIME)
        return chakra_node_set_duration(node, "simulated_run_time", field->value, PS_PER_NS, error);
    if (field->number == COMM_TYPE) /* 0: none */
        return field->value == 0 || set_comm_type(trace, node, (int64_t)(field->value - 1), error);
    if (field->number == INVOLVED_DIM)
        return take_numbers(trace, node, *field, &node->involved, error);
    if (field->number == COMMUNICATOR)
        return set(trace, node, "comm_group", integer(field->value), error);
    for (uint32_t i = 0; i < G_N_ELEMENTS(numbers_001); i++) {
        if (field->number == numbers_001[i].field)
            return set(trace, node, chakra_number_name(numbers_001[i].number), integer(field->value), error);
    }
    return TRUE;
}

/* One field of an attribute into its value. */
static gboolean
take_value(ChakraTrace *trace, const AttributeFields *fields, const WireField *field, ChakraValue *value, char **text,
           GError **error)
{
    gboolean list = field->number == fields->bools || field->number == fields->ints;
    if (field->number == fields->b || field->number == fields->i) {
        *value = integer(field->value);
    } else if (field->number == fields->f) {
        *value = (ChakraValue){.kind = CHAKRA_VALUE_REAL};
    } else if (field->number == fields->s) {
        g_free(*text);
        *text = g_strndup((const char *)field->bytes.at, (size_t)(field->bytes.end - field->bytes.at));
        *value = (ChakraValue){.kind = CHAKRA_VALUE_TEXT, .text = *text};
    } else if (list) { /* one by one or packed */
        if (value->kind != CHAKRA_VALUE_BOOLS)
            *value = (ChakraValue){.kind = CHAKRA_VALUE_BOOLS};
        return take_numbers(trace, NULL, *field, &value->truths, error);
    } else {
        *value = (ChakraValue){.kind = CHAKRA_VALUE_OTHER};
    }
    return TRUE;
}

static gboolean
apply(ChakraTrace *trace, ChakraNode *node, const char *name, const ChakraValue *value, GError **error)
{
    gboolean whole = value->kind == CHAKRA_VALUE_INTEGER;
    if (strcmp(name, "runtime") == 0 && whole)
        return chakra_node_set_duration(node, "runtime", (uint64_t)value->integer, PS_PER_US, error);
    if (strcmp(name, "comm_type") == 0 && whole)
        return set_comm_type(trace, node, value->integer, error);
    return set(trace, node, strcmp(name, "is_host_op") == 0 ? "is_cpu_op" : name, *value, error);
}

static gboolean
take_attribute(ChakraTrace *trace, ChakraNode *node, const AttributeFields *fields, WireBytes message, GError **error)
{
    enum { NAME = 1, DOC_STRING = 3 };
    g_autofree char *name = NULL, *text = NULL;
    ChakraValue value = {.kind = CHAKRA_VALUE_NONE};
    WireField field;
    while (message.at < message.end && wire_take_field(&message, &field)) {
        if (field.number == NAME) {
            g_free(name);
            name = g_strndup((const char *)field.bytes.at, (size_t)(field.bytes.end - field.bytes.at));
        } else if (field.number > DOC_STRING && !take_value(trace, fields, &field, &value, &text, error)) {
            return FALSE;
        }
    }
    return name == NULL || apply(trace, node, name, &value, error);
}

static gboolean
take_field(ChakraTrace *trace, ChakraSchema schema, const WireField *field, GError **error)
{
    ChakraNode *node = &g_array_index(trace->nodes, ChakraNode, trace->nodes->len - 1);
    g_autofree char *text = NULL;
    switch (field->number) {
    case NODE_ID:
        node->id = field->value;
        return TRUE;
    case NODE_NAME:
        text = g_strndup((const char *)field->bytes.at, (size_t)(field->bytes.end - field->bytes.at));
        node->name = chakra_trace_text(trace, text);
        return TRUE;
    case NODE_TYPE: /* METADATA came with 0.0.3 */
        node->type = (uint32_t)MIN(field->value + (schema < CHAKRA_SCHEMA_003 && field->value > 0), UINT32_MAX);
        return TRUE;
    case NODE_PARENT:
        return take_numbers(trace, node, *field, NULL, error);
    default:
        break;
    }
    if (schema == CHAKRA_SCHEMA_001)
        return take_field_001(trace, node, field, error);
    if (field->number == ATTRIBUTE)
        return take_attribute(trace, node, schema == CHAKRA_SCHEMA_002 ? &fields_002 : &fields_003, field->bytes,
                              error);
    return TRUE;
}

gboolean
chakra_old_take(ChakraTrace *trace, ChakraSchema schema, WireBytes message, GError **error)
{
    ChakraNode *node = chakra_trace_add(trace);
    gboolean ok = TRUE;
    WireField field;
    while (ok && message.at < message.end && wire_take_field(&message, &field))
        ok = take_field(trace, schema, &field, error);
    if (!ok)
        g_prefix_error(error, "node %" G_GUINT64_FORMAT " \"%s\": ", node->id, chakra_node_name(trace, node));
    return ok;
}
