#include "workload/chakra_wire.h"

gboolean
wire_take_varint(WireBytes *bytes, int limit, uint64_t *value)
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
take_fixed(WireBytes *bytes, size_t n, uint64_t *value)
{
    if (n > (size_t)(bytes->end - bytes->at))
        return FALSE;
    *value = 0;
    for (size_t i = 0; i < n; i++)
        *value |= (uint64_t)bytes->at[i] << (8 * i);
    bytes->at += n;
    return TRUE;
}

static gboolean
take_bytes(WireBytes *bytes, WireBytes *inside)
{
    uint64_t n;
    if (!wire_take_varint(bytes, 10, &n) || n > (uint64_t)(bytes->end - bytes->at))
        return FALSE;
    *inside = (WireBytes){bytes->at, bytes->at + n};
    bytes->at += n;
    return TRUE;
}

gboolean
wire_take_field(WireBytes *bytes, WireField *field)
{
    uint64_t key;
    if (!wire_take_varint(bytes, 10, &key))
        return FALSE;
    *field = (WireField){.number = key >> 3, .type = (WireType)(key & 7)};
    switch (field->type) {
    case WIRE_VARINT:
        return wire_take_varint(bytes, 10, &field->value);
    case WIRE_FIXED64:
        return take_fixed(bytes, 8, &field->value);
    case WIRE_FIXED32:
        return take_fixed(bytes, 4, &field->value);
    case WIRE_BYTES:
        return take_bytes(bytes, &field->bytes);
    default:
        return FALSE;
    }
}

const char *
wire_type_name(WireType type)
{
    return type == WIRE_VARINT ? "a varint" : type == WIRE_BYTES ? "bytes" : "a fixed-size number";
}
