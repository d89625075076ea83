/* chakra.c - Chakra execution traces, binary: .et, gzipped or not, schemas 0.0.1 to 0.0.4
 *
 * A file is records, each a length (varint) and a protobuf message: one GlobalMetadata, then Nodes. No schema before
 * 0.0.4 says its version, and a file of one parses as another and means something else: the whole file's fields are
 * looked at before a node is taken (chakra_schema.c). protobuf-c unpacks the messages of 0.0.4, chakra_old.c those
 * before. */
#include "workload/chakra_schema.h"

#include "base/error.h"
#include "base/input.h"
#include "workload/chakra.pb-c.h"

#include <string.h>

#define FILE_LIMIT ((size_t)8 << 30)

static ChakraValue
integer(int64_t value)
{
    return (ChakraValue){.kind = CHAKRA_VALUE_INTEGER, .integer = value};
}

static ChakraValue
unsigned_integer(uint64_t value)
{
    return (ChakraValue){.kind = value > INT64_MAX ? CHAKRA_VALUE_BEYOND : CHAKRA_VALUE_INTEGER,
                         .integer = (int64_t)value};
}

static ChakraValue
bools(const ChakraProtoMsg__BoolList *list)
{
    ChakraValue value = {.kind = CHAKRA_VALUE_BOOLS};
    for (size_t i = 0; i < list->n_values; i++)
        chakra_truths_add(&value.truths, list->values[i] != 0);
    return value;
}

/* Any of the schema's ten kinds of whole number, and truth, is an integer. */
static ChakraValue
value_of(const ChakraProtoMsg__AttributeProto *attribute)
{
    switch (attribute->value_case) {
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE__NOT_SET:
        return (ChakraValue){.kind = CHAKRA_VALUE_NONE};
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT32_VAL:
        return integer(attribute->int32_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_INT64_VAL:
        return integer(attribute->int64_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_UINT32_VAL:
        return integer(attribute->uint32_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_UINT64_VAL:
        return unsigned_integer(attribute->uint64_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_SINT32_VAL:
        return integer(attribute->sint32_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_SINT64_VAL:
        return integer(attribute->sint64_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_FIXED32_VAL:
        return integer(attribute->fixed32_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_FIXED64_VAL:
        return unsigned_integer(attribute->fixed64_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_SFIXED32_VAL:
        return integer(attribute->sfixed32_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_SFIXED64_VAL:
        return integer(attribute->sfixed64_val);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_BOOL_VAL:
        return integer(attribute->bool_val != 0);
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_DOUBLE_VAL:
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_FLOAT_VAL:
        return (ChakraValue){.kind = CHAKRA_VALUE_REAL};
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_STRING_VAL:
        return (ChakraValue){.kind = CHAKRA_VALUE_TEXT, .text = attribute->string_val};
    case CHAKRA_PROTO_MSG__ATTRIBUTE_PROTO__VALUE_BOOL_LIST:
        return bools(attribute->bool_list);
    default:
        return (ChakraValue){.kind = CHAKRA_VALUE_OTHER};
    }
}

static gboolean
take_node(ChakraTrace *trace, const ChakraProtoMsg__Node *message, GError **error)
{
    ChakraNode *node = chakra_trace_add(trace);
    node->id = message->id;
    node->type = (uint32_t)message->type;
    node->start_us = message->start_time_micros;
    node->name = chakra_trace_text(trace, message->name);
    node->n_deps = (uint32_t)(message->n_ctrl_deps + message->n_data_deps);
    trace->n_control += message->n_ctrl_deps;
    if (message->n_ctrl_deps > 0)
        g_array_append_vals(trace->deps, message->ctrl_deps, (guint)message->n_ctrl_deps);
    if (message->n_data_deps > 0)
        g_array_append_vals(trace->deps, message->data_deps, (guint)message->n_data_deps);
    gboolean ok = chakra_node_set_duration(node, "duration_micros", message->duration_micros, PS_PER_US, error);
    for (size_t i = 0; ok && i < message->n_attr; i++) {
        ChakraValue value = value_of(message->attr[i]);
        ok = chakra_node_set(trace, node, message->attr[i]->name, &value, error);
        if (!ok)
            g_prefix_error(error, "attribute ");
    }
    if (ok && node->type == CHAKRA_METADATA && message->inputs != NULL)
        ok = chakra_node_set_inputs(trace, trace->nodes->len - 1, message->inputs->values, error);
    if (!ok)
        g_prefix_error(error, "node %" G_GUINT64_FORMAT " \"%s\": ", node->id, chakra_node_name(trace, node));
    return ok;
}

/* A node of 0.0.4. FALSE with an error without place. */
static gboolean
take_message(ChakraTrace *trace, WireBytes bytes, GError **error)
{
    ChakraProtoMsg__Node *message = chakra_proto_msg__node__unpack(NULL, (size_t)(bytes.end - bytes.at), bytes.at);
    if (message == NULL)
        return error_input(error, "not a Node message of schema 0.0.4");
    gboolean ok = take_node(trace, message, error);
    chakra_proto_msg__node__free_unpacked(message, NULL);
    return ok;
}

/* Reads one record's message into the trace; a node that is bad stays, flawed. FALSE with an error without place. */
static gboolean
take_record(ChakraTrace *trace, ChakraSchema schema, const ChakraRecord *record, GError **error)
{
    if (!chakra_schema_check(schema, record, error))
        return FALSE;
    if (record->number == 0 && chakra_schema_has_metadata(record->bytes))
        return TRUE;
    uint32_t before = trace->nodes->len;
    gboolean ok = schema == CHAKRA_SCHEMA_004 ? take_message(trace, record->bytes, error)
                                              : chakra_old_take(trace, schema, record->bytes, error);
    if (trace->nodes->len > before) {
        ChakraNode *node = &g_array_index(trace->nodes, ChakraNode, before);
        node->place = record->offset;
        node->flawed = !ok;
    }
    return ok;
}

/* All records; where problems are collected, those after a bad one too. FALSE where it stopped. */
static gboolean
take_records(ChakraTrace *trace, ChakraSchema schema, WireBytes file, Problems *problems)
{
    ChakraRecord record = {.next = file.at};
    for (;;) {
        GError *wrong = NULL;
        if (!chakra_record_next(file, &record, &wrong)) {
            if (wrong == NULL)
                return TRUE;
            g_prefix_error(&wrong, "%s: ", trace->path);
            trace->cut = TRUE;
            return problems_add(problems, wrong);
        }
        if (take_record(trace, schema, &record, &wrong))
            continue;
        g_prefix_error(&wrong, "%s: byte %zu: record %" G_GUINT64_FORMAT ": ", trace->path, record.offset,
                       record.number);
        if (!problems_add(problems, wrong))
            return FALSE;
    }
}

static ChakraTrace *
read_file(const char *path, Problems *problems)
{
    size_t length;
    GError *wrong = NULL;
    g_autofree char *data = input_read_all(path, FILE_LIMIT, &length, &wrong);
    if (data == NULL) {
        problems_add(problems, wrong);
        return NULL;
    }
    WireBytes file = {(const uint8_t *)data, (const uint8_t *)data + length};
    ChakraSchema schema;
    if (!chakra_schema_of(file, &schema, &wrong)) {
        g_prefix_error(&wrong, "%s: ", path);
        problems_add(problems, wrong);
        return NULL;
    }
    g_autoptr(ChakraTrace) trace = chakra_trace_new(path);
    trace->schema = chakra_schema_name(schema);
    return take_records(trace, schema, file, problems) ? g_steal_pointer(&trace) : NULL;
}

static Workload *
chakra_read(const TraceSource *source, GError **error)
{
    return chakra_workload(source, read_file, error);
}

static gboolean
outline(const TraceSource *source, GString *told, GError **error)
{
    return chakra_outline(source, read_file, told, error);
}

/* Is it text? A length byte and a field key may look like "{" and a line end. */
static gboolean
is_text(const char *head, size_t length)
{
    for (size_t i = 0; i < MIN(length, 64); i++) {
        if ((unsigned char)head[i] < ' ' && !g_ascii_isspace(head[i]))
            return FALSE;
    }
    return TRUE;
}

/* The first record is framed, and so is the start of the second, a Node's. */
static int
chakra_recognise(const char *head, size_t length)
{
    WireBytes bytes = {(const uint8_t *)head, (const uint8_t *)head + length};
    uint64_t size, number;
    WireField field;
    if (length == 0 || is_text(head, length) || !wire_take_varint(&bytes, CHAKRA_LENGTH_BYTES, &size))
        return 0;
    if (size > (uint64_t)(bytes.end - bytes.at)) { /* a long GlobalMetadata: its first field must do */
        WireBytes first = {bytes.at, MIN(bytes.end, bytes.at + 1)};
        return wire_take_varint(&first, 1, &number) && (number == 0x0a || number == 0x12 || number == 0x08) ? 40 : 0;
    }
    WireBytes record = {bytes.at, bytes.at + size};
    while (record.at < record.end) {
        if (!wire_take_field(&record, &field) || field.number == 0 || field.number > 64)
            return 0;
    }
    bytes.at += size;
    if (bytes.at == bytes.end)
        return size > 0 ? 30 : 0;
    return wire_take_varint(&bytes, CHAKRA_LENGTH_BYTES, &size) && size > 0 ? 80 : 0;
}

const TraceFormat trace_chakra = {
    "chakra",           "Chakra execution traces, schemas 0.0.1 to 0.0.4: one .et a rank, gzipped or not",
    chakra_recognise,   chakra_read,
    .outline = outline, .replicates = TRUE};
