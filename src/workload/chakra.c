/* chakra.c - Chakra execution traces, binary: .et, gzipped or not, schema 0.0.4
 *
 * A file is records, each a length (varint) and a protobuf message: one GlobalMetadata, then Nodes. protobuf-c
 * unpacks the messages; before it, each field's number and wire type are looked at, because an older schema parses
 * without complaint and means something else. */
#include "workload/chakra_trace.h"

#include "base/error.h"
#include "base/input.h"
#include "workload/chakra.pb-c.h"

#include <string.h>

enum { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_FIXED32 = 5 };
enum { LENGTH_BYTES = 5 }; /* of a record's length, a 32-bit varint */

#define FILE_LIMIT ((size_t)8 << 30)

/* Which wire types a field may have: bits 1 << type, by field number. */
static const uint8_t metadata_wires[] = {0, 1 << WIRE_BYTES, 1 << WIRE_BYTES};
static const uint8_t node_wires[] = {
    0,
    1 << WIRE_VARINT,                   /* id */
    1 << WIRE_BYTES,                    /* name */
    1 << WIRE_VARINT,                   /* type */
    1 << WIRE_VARINT | 1 << WIRE_BYTES, /* ctrl_deps, packed or not */
    1 << WIRE_VARINT | 1 << WIRE_BYTES, /* data_deps */
    1 << WIRE_VARINT,                   /* start_time_micros */
    1 << WIRE_VARINT,                   /* duration_micros */
    1 << WIRE_BYTES,                    /* inputs */
    1 << WIRE_BYTES,                    /* outputs */
    1 << WIRE_BYTES,                    /* attr */
};
enum { FIELD_BEYOND = G_N_ELEMENTS(node_wires) }; /* older schemas kept attributes in field 11 */

typedef struct {
    const uint8_t *at, *end;
} Bytes;

/* Takes a varint of at most limit bytes; FALSE, and bytes untouched, where it is cut or longer. */
static gboolean
take_varint(Bytes *bytes, int limit, uint64_t *value)
{
    uint64_t result = 0;
    for (int i = 0; i < limit && bytes->at + i < bytes->end; i++) {
        uint8_t byte = bytes->at[i];
        result |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            bytes->at += i + 1;
            *value = result;
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
skip_bytes(Bytes *bytes, uint64_t n)
{
    if (n > (uint64_t)(bytes->end - bytes->at))
        return FALSE;
    bytes->at += n;
    return TRUE;
}

/* Takes one field, its value included; FALSE where the message is cut or holds a wire type that is none. */
static gboolean
take_field(Bytes *bytes, uint64_t *number, uint32_t *wire)
{
    uint64_t key, value;
    if (!take_varint(bytes, 10, &key))
        return FALSE;
    *number = key >> 3;
    *wire = key & 7;
    switch (*wire) {
    case WIRE_VARINT:
        return take_varint(bytes, 10, &value);
    case WIRE_FIXED64:
        return skip_bytes(bytes, 8);
    case WIRE_FIXED32:
        return skip_bytes(bytes, 4);
    case WIRE_BYTES:
        return take_varint(bytes, 10, &value) && skip_bytes(bytes, value);
    default:
        return FALSE;
    }
}

static const char *
wire_name(uint32_t wire)
{
    return wire == WIRE_VARINT ? "a varint" : wire == WIRE_BYTES ? "bytes" : "a fixed-size number";
}

/* Looks at the fields of a message. FALSE with an error that begins with what is wrong. */
static gboolean
check_fields(const uint8_t *data, size_t length, gboolean metadata, GError **error)
{
    const uint8_t *wires = metadata ? metadata_wires : node_wires;
    size_t n_wires = metadata ? G_N_ELEMENTS(metadata_wires) : G_N_ELEMENTS(node_wires);
    Bytes bytes = {data, data + length};
    while (bytes.at < bytes.end) {
        size_t offset = (size_t)(bytes.at - data);
        uint64_t number;
        uint32_t wire;
        if (!take_field(&bytes, &number, &wire) || number == 0)
            return error_input(error, "not a protobuf message: byte %zu of it is no field", offset);
        if ((number < n_wires && !(wires[number] & 1 << wire)) || (!metadata && number == FIELD_BEYOND))
            return error_input(error,
                               "field %" G_GUINT64_FORMAT
                               " is %s, which is not of schema 0.0.4; traces of older schemas are not read: "
                               "write the trace again with a current Chakra",
                               number, wire_name(wire));
    }
    return TRUE;
}

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
    gboolean all = TRUE;
    for (size_t i = 0; i < list->n_values; i++)
        all = all && list->values[i];
    return (ChakraValue){.kind = CHAKRA_VALUE_BOOLS, .all = all};
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
    node->duration_us = message->duration_micros;
    node->name = chakra_trace_text(trace, message->name);
    node->n_deps = (uint32_t)(message->n_ctrl_deps + message->n_data_deps);
    if (message->n_ctrl_deps > 0)
        g_array_append_vals(trace->deps, message->ctrl_deps, (guint)message->n_ctrl_deps);
    if (message->n_data_deps > 0)
        g_array_append_vals(trace->deps, message->data_deps, (guint)message->n_data_deps);
    for (size_t i = 0; i < message->n_attr; i++) {
        ChakraValue value = value_of(message->attr[i]);
        if (chakra_node_set(trace, node, message->attr[i]->name, &value, error))
            continue;
        g_prefix_error(error, "node %" G_GUINT64_FORMAT " \"%s\": attribute ", node->id, chakra_node_name(trace, node));
        return FALSE;
    }
    return TRUE;
}

/* Reads one record's message into the trace. FALSE with an error without place. */
static gboolean
take_record(ChakraTrace *trace, const uint8_t *data, size_t length, gboolean metadata, GError **error)
{
    if (!check_fields(data, length, metadata, error))
        return FALSE;
    if (metadata) {
        ChakraProtoMsg__GlobalMetadata *message = chakra_proto_msg__global_metadata__unpack(NULL, length, data);
        if (message == NULL)
            return error_input(error, "not a GlobalMetadata message of schema 0.0.4");
        chakra_proto_msg__global_metadata__free_unpacked(message, NULL);
        return TRUE;
    }
    ChakraProtoMsg__Node *message = chakra_proto_msg__node__unpack(NULL, length, data);
    if (message == NULL)
        return error_input(error, "not a Node message of schema 0.0.4");
    gboolean ok = take_node(trace, message, error);
    chakra_proto_msg__node__free_unpacked(message, NULL);
    return ok;
}

static gboolean
take_records(ChakraTrace *trace, const uint8_t *data, size_t length, GError **error)
{
    Bytes bytes = {data, data + length};
    for (uint64_t record = 0; bytes.at < bytes.end; record++) {
        size_t offset = (size_t)(bytes.at - data), left = (size_t)(bytes.end - bytes.at);
        uint64_t size;
        if (!take_varint(&bytes, LENGTH_BYTES, &size) || size > UINT32_MAX)
            return error_input(error, "%s: byte %zu: record %" G_GUINT64_FORMAT " %s", trace->path, offset, record,
                               left < LENGTH_BYTES ? "is cut in its length" : "has a length of more than 32 bits");
        left = (size_t)(bytes.end - bytes.at);
        if (size > left)
            return error_input(error,
                               "%s: byte %zu: record %" G_GUINT64_FORMAT " is cut: %" G_GUINT64_FORMAT
                               " bytes announced, %zu left",
                               trace->path, offset, record, size, left);
        if (!take_record(trace, bytes.at, size, record == 0, error)) {
            g_prefix_error(error, "%s: byte %zu: record %" G_GUINT64_FORMAT ": ", trace->path, offset, record);
            return FALSE;
        }
        bytes.at += size;
    }
    return TRUE;
}

static ChakraTrace *
read_file(const char *path, GError **error)
{
    size_t length;
    g_autofree char *data = input_read_all(path, FILE_LIMIT, &length, error);
    if (data == NULL)
        return NULL;
    g_autoptr(ChakraTrace) trace = chakra_trace_new(path);
    if (!take_records(trace, (const uint8_t *)data, length, error))
        return NULL;
    return g_steal_pointer(&trace);
}

static Workload *
chakra_read(const TraceSource *source, GError **error)
{
    return chakra_workload(source, read_file, error);
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
    Bytes bytes = {(const uint8_t *)head, (const uint8_t *)head + length};
    uint64_t size, number;
    uint32_t wire;
    if (length == 0 || is_text(head, length) || !take_varint(&bytes, LENGTH_BYTES, &size))
        return 0;
    if (size > (uint64_t)(bytes.end - bytes.at)) { /* a long GlobalMetadata: its first field must do */
        Bytes first = {bytes.at, MIN(bytes.end, bytes.at + 1)};
        return take_varint(&first, 1, &number) && (number == 0x0a || number == 0x12 || number == 0x08) ? 40 : 0;
    }
    Bytes record = {bytes.at, bytes.at + size};
    while (record.at < record.end) {
        if (!take_field(&record, &number, &wire) || number == 0 || number > 64)
            return 0;
    }
    bytes.at += size;
    if (bytes.at == bytes.end)
        return size > 0 ? 30 : 0;
    return take_varint(&bytes, LENGTH_BYTES, &size) && size > 0 ? 80 : 0;
}

const TraceFormat trace_chakra = {"chakra", "Chakra execution traces, schema 0.0.4: one .et a rank, gzipped or not",
                                  chakra_recognise, chakra_read, .replicates = TRUE};
