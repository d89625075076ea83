/* json.h - JSON as a stream of tokens, pulled one at a time (over yajl)
 *
 * Memory does not grow with the file. Numbers come as text, so that a reader decides what is exact.
 * The one module that talks to yajl. */
#pragma once

#include "base/input.h"

typedef enum {
    JSON_END, /* after the last value */
    JSON_NULL,
    JSON_TRUE,
    JSON_FALSE,
    JSON_NUMBER, /* text as written */
    JSON_STRING, /* text unescaped, UTF-8 */
    JSON_KEY,    /* of an object; its value follows */
    JSON_OBJECT_BEGIN,
    JSON_OBJECT_END,
    JSON_ARRAY_BEGIN,
    JSON_ARRAY_END,
} JsonKind;

typedef struct {
    JsonKind kind;
    const char *text; /* zero-terminated; valid until the next call; NULL where the kind has none */
    size_t length;    /* of text; a string may hold zero bytes */
} JsonToken;

typedef struct JsonReader JsonReader;

/* Opens a file, gzipped or not. */
JsonReader *json_open(const char *path, GError **error);
/* The same, and the file may hold several values one after another; JSON_END comes after the last. */
JsonReader *json_open_many(const char *path, GError **error);
/* Text in memory, which is copied; name stands where a path would. */
JsonReader *json_open_text(const char *name, const char *text, size_t length);
void json_close(JsonReader *json); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JsonReader, json_close)

const char *json_path(const JsonReader *json);
/* Where the last token ended: line counted from 1, and byte from 0 in the unpacked file. */
size_t json_line(const JsonReader *json);
guint64 json_byte(const JsonReader *json);

/* The next token; FALSE with an error ("PATH:LINE: ...") on broken or cut JSON. */
gboolean json_next(JsonReader *json, JsonToken *token, GError **error);

/* Skips the value that starts with token (nothing for a scalar; up to the matching end for a container). */
gboolean json_skip(JsonReader *json, const JsonToken *token, GError **error);

/* "PATH:LINE: " and the message, as an INPUT error. Returns FALSE. */
gboolean json_fail(const JsonReader *json, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Texts of JSON_NUMBER tokens. FALSE where it is not a whole number that fits. */
gboolean json_uint64(const char *text, uint64_t *value);
gboolean json_int64(const char *text, int64_t *value);
/* A decimal number of units of 10^-digits, exactly: "12.345" with digits 3 is 12345. More digits than
 * that are rounded down. FALSE where it is no number or does not fit. */
gboolean json_decimal(const char *text, int digits, int64_t *value);
