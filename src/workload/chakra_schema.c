/* chakra_schema.c - tells the schemas of Chakra apart by the wire types of their fields */
#include "workload/chakra_schema.h"

#include "base/error.h"

#define VARINT (1 << WIRE_VARINT)
#define BYTES (1 << WIRE_BYTES)
#define MANY (VARINT | BYTES) /* repeated numbers, packed or not */
#define FIXED32 (1 << WIRE_FIXED32)

enum { ALL_SCHEMAS = 4 };

/* Which wire types a field of a Node may have: bits 1 << type, by schema and field number. */
static const uint8_t node_wires[ALL_SCHEMAS][21] = {
    /* id, name, node_type, parent, tensor_loc to comm_type, involved_dim, communicator_id to comm_priority */
    {0,      VARINT, BYTES,  VARINT, MANY,   VARINT, VARINT, VARINT, VARINT, VARINT, VARINT,
     VARINT, VARINT, VARINT, MANY,   VARINT, VARINT, VARINT, VARINT, VARINT, VARINT},
    /* id, name, type, parent, inputs and outputs (values, shapes, types of each), attribute */
    {0, VARINT, BYTES, VARINT, MANY, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES},
    {0, VARINT, BYTES, VARINT, MANY, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES},
    /* id, name, type, ctrl_deps, data_deps, start_time_micros, duration_micros, inputs, outputs, attr, storage */
    {0, VARINT, BYTES, VARINT, MANY, MANY, VARINT, VARINT, BYTES, BYTES, BYTES, BYTES},
};
/* Fields beyond the last of a proto2 schema are of none of its files; 0.0.4 passes them over. */
static const uint8_t last_field[ALL_SCHEMAS] = {20, 11, 11, 255};
enum { ATTRIBUTE = 11 }; /* of 0.0.2 and 0.0.3; storage in what is proposed for 0.0.4 */

/* Attributes: name, type, doc_string; then 0.0.2 f, i, s, floats, ints, strings; 0.0.3 b, f, i, s, bools, floats, ints,
 * strings. */
static const uint8_t attribute_wires[ALL_SCHEMAS][12] = {
    [CHAKRA_SCHEMA_002] = {0, BYTES, VARINT, BYTES, FIXED32, VARINT, BYTES, FIXED32 | BYTES, MANY, BYTES},
    [CHAKRA_SCHEMA_003] = {0, BYTES, VARINT, BYTES, VARINT, FIXED32, VARINT, BYTES, MANY, FIXED32 | BYTES, MANY, BYTES},
};

const char *
chakra_schema_name(ChakraSchema schema)
{
    static const char *const names[] = {"0.0.1", "0.0.2", "0.0.3", "0.0.4"};
    return names[schema];
}

gboolean
chakra_record_next(WireBytes file, ChakraRecord *record, GError **error)
{
    WireBytes bytes = {record->next, file.end};
    record->number = record->bytes.at == NULL ? 0 : record->number + 1;
    record->offset = (size_t)(bytes.at - file.at);
    if (bytes.at == bytes.end)
        return FALSE;
    size_t left = (size_t)(bytes.end - bytes.at);
    uint64_t size;
    if (!wire_take_varint(&bytes, CHAKRA_LENGTH_BYTES, &size) || size > UINT32_MAX)
        return error_input(error, "byte %zu: record %" G_GUINT64_FORMAT " %s", record->offset, record->number,
                           left < CHAKRA_LENGTH_BYTES ? "is cut in its length" : "has a length of more than 32 bits");
    left = (size_t)(bytes.end - bytes.at);
    if (size > left)
        return error_input(
            error, "byte %zu: record %" G_GUINT64_FORMAT " is cut: %" G_GUINT64_FORMAT " bytes announced, %zu left",
            record->offset, record->number, size, left);
    record->bytes = (WireBytes){bytes.at, bytes.at + size};
    record->next = bytes.at + size;
    return TRUE;
}

gboolean
chakra_schema_has_metadata(WireBytes message)
{
    WireField field;
    while (message.at < message.end) {
        if (!wire_take_field(&message, &field))
            return TRUE; /* the check says what is wrong */
        if (field.type != WIRE_BYTES)
            return FALSE;
    }
    return TRUE;
}

static gboolean
attribute_fits(ChakraSchema schema, WireBytes message)
{
    WireField field;
    while (message.at < message.end) {
        if (!wire_take_field(&message, &field) || field.number == 0 || field.number >= 12 ||
            !(attribute_wires[schema][field.number] & 1 << field.type))
            return FALSE;
    }
    return TRUE;
}

static gboolean
field_fits(ChakraSchema schema, const WireField *field)
{
    if (field->number > last_field[schema])
        return schema == CHAKRA_SCHEMA_004;
    if (field->number < G_N_ELEMENTS(node_wires[0]) && node_wires[schema][field->number] != 0 &&
        !(node_wires[schema][field->number] & 1 << field->type))
        return FALSE;
    if (field->number != ATTRIBUTE || field->type != WIRE_BYTES || schema == CHAKRA_SCHEMA_001)
        return TRUE;
    if (schema != CHAKRA_SCHEMA_004)
        return attribute_fits(schema, field->bytes);
    return field->bytes.at == field->bytes.end || (*field->bytes.at & 7) == WIRE_VARINT; /* storage begins with level */
}

/* The schemas that a record fits, as bits. */
static uint32_t
schemas_of(const ChakraRecord *record)
{
    const uint32_t all = (1u << ALL_SCHEMAS) - 1, without_metadata = 1u << CHAKRA_SCHEMA_001 | 1u << CHAKRA_SCHEMA_002;
    if (record->number == 0 && chakra_schema_has_metadata(record->bytes))
        return all & ~without_metadata;
    uint32_t fit = record->number == 0 ? all & ~(1u << CHAKRA_SCHEMA_004) : all;
    WireBytes bytes = record->bytes;
    WireField field;
    while (bytes.at < bytes.end && wire_take_field(&bytes, &field)) {
        for (uint32_t schema = 0; schema < ALL_SCHEMAS; schema++) {
            if (!field_fits(schema, &field))
                fit &= ~(1u << schema);
        }
    }
    return fit;
}

/* Does a node have a type other than 0, which 0.0.3 counts otherwise than its elders? */
static gboolean
has_type(WireBytes bytes)
{
    WireField field;
    while (bytes.at < bytes.end && wire_take_field(&bytes, &field)) {
        if (field.number == 3 && field.type == WIRE_VARINT && field.value > 0)
            return TRUE;
    }
    return FALSE;
}

/* The schemas that most records fit, as bits. */
static uint32_t
best_of(const uint64_t *counts)
{
    uint32_t best = 0;
    uint64_t most = 0;
    for (uint32_t schema = 0; schema < ALL_SCHEMAS; schema++)
        most = MAX(most, counts[schema]);
    for (uint32_t schema = 0; schema < ALL_SCHEMAS; schema++)
        best |= counts[schema] == most ? 1u << schema : 0;
    return best;
}

gboolean
chakra_schema_of(WireBytes file, ChakraSchema *schema, GError **error)
{
    const uint32_t third = 1u << CHAKRA_SCHEMA_003, elders = 1u << CHAKRA_SCHEMA_001 | 1u << CHAKRA_SCHEMA_002;
    uint64_t counts[ALL_SCHEMAS] = {0};
    gboolean typed = FALSE;
    ChakraRecord record = {.next = file.at};
    while (chakra_record_next(file, &record, NULL)) {
        uint32_t fit = schemas_of(&record);
        for (uint32_t i = 0; i < ALL_SCHEMAS; i++)
            counts[i] += fit >> i & 1;
        typed = typed || has_type(record.bytes);
    }
    uint32_t best = best_of(counts);
    if (best & 1u << CHAKRA_SCHEMA_004) {
        *schema = CHAKRA_SCHEMA_004;
        return TRUE;
    }
    if ((best & third) && (best & elders) && typed)
        return error_input(error,
                           "the file begins with a node, as before schema 0.0.4, and no field tells schema %s from "
                           "0.0.3, whose node types differ",
                           best & 1u << CHAKRA_SCHEMA_002 ? "0.0.2" : "0.0.1");
    *schema = best & third ? CHAKRA_SCHEMA_003 : best & 1u << CHAKRA_SCHEMA_002 ? CHAKRA_SCHEMA_002 : CHAKRA_SCHEMA_001;
    return TRUE;
}

gboolean
chakra_schema_check(ChakraSchema schema, const ChakraRecord *record, GError **error)
{
    gboolean metadata = record->number == 0 && chakra_schema_has_metadata(record->bytes);
    WireBytes bytes = record->bytes;
    WireField field;
    while (bytes.at < bytes.end) {
        size_t offset = (size_t)(bytes.at - record->bytes.at);
        if (!wire_take_field(&bytes, &field) || field.number == 0)
            return error_input(error, "not a protobuf message: byte %zu of it is no field", offset);
        if (!metadata && !field_fits(schema, &field))
            return error_input(error, "field %" G_GUINT64_FORMAT " is %s, which is not of schema %s", field.number,
                               wire_type_name(field.type), chakra_schema_name(schema));
    }
    return TRUE;
}
