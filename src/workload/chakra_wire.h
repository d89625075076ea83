/* chakra_wire.h - protobuf's wire format: the fields of a message one after another, whatever its schema */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef enum { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_FIXED32 = 5 } WireType;

/* What is still to be read; borrowed. */
typedef struct {
    const uint8_t *at, *end;
} WireBytes;

typedef struct {
    uint64_t number; /* of the field; 0 is none of protobuf's */
    WireType type;
    uint64_t value;  /* of a varint or a fixed-size number, its bytes little-endian */
    WireBytes bytes; /* of WIRE_BYTES */
} WireField;

/* Takes a varint of at most limit bytes; FALSE, and bytes untouched, where it is cut or longer. */
gboolean wire_take_varint(WireBytes *bytes, int limit, uint64_t *value);
/* Takes one field, its value included; FALSE where the message is cut or holds a wire type that is none. */
gboolean wire_take_field(WireBytes *bytes, WireField *field);
const char *wire_type_name(WireType type); /* "a varint" */
