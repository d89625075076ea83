/* wire.h - writing protobuf by hand, for tests of Chakra: fields, attributes and records of schema 0.0.4 */
#pragma once

#include <glib.h>
#include <stdint.h>
#include <string.h>

static inline void
put_varint(GString *out, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        g_string_append_c(out, (char)(value | 0x80));
    g_string_append_c(out, (char)value);
}

static inline void
put_number(GString *out, uint32_t field, uint64_t value)
{
    put_varint(out, field << 3);
    put_varint(out, value);
}

static inline void
put_bytes(GString *out, uint32_t field, const char *bytes, size_t length)
{
    put_varint(out, field << 3 | 2);
    put_varint(out, length);
    g_string_append_len(out, bytes, (gssize)length);
}

/* An attribute whose value is a varint in this field. */
static inline void
put_attribute(GString *node, const char *name, uint32_t field, uint64_t value)
{
    g_autoptr(GString) attribute = g_string_new(NULL);
    put_bytes(attribute, 1, name, strlen(name));
    put_number(attribute, field, value);
    put_bytes(node, 10, attribute->str, attribute->len);
}

static inline void
put_text_attribute(GString *node, const char *name, const char *text)
{
    g_autoptr(GString) attribute = g_string_new(NULL);
    put_bytes(attribute, 1, name, strlen(name));
    put_bytes(attribute, 29, text, strlen(text));
    put_bytes(node, 10, attribute->str, attribute->len);
}

static inline GString *
node_new(uint64_t id, const char *name, uint32_t type)
{
    GString *node = g_string_new(NULL);
    put_number(node, 1, id);
    put_bytes(node, 2, name, strlen(name));
    put_number(node, 3, type);
    return node;
}

/* A record of this message, which is freed. */
static inline void
put_record(GString *file, GString *message)
{
    put_varint(file, message->len);
    g_string_append_len(file, message->str, (gssize)message->len);
    g_string_free(message, TRUE);
}

/* A file that begins with an empty GlobalMetadata. */
static inline GString *
file_new(void)
{
    GString *file = g_string_new(NULL);
    put_record(file, g_string_new(NULL));
    return file;
}
