#include "base/json.h"

#include "base/decimal.h"
#include "base/error.h"

#include <stdarg.h>
#include <string.h>
#include <yajl/yajl_parse.h>

/* A small chunk: its tokens are pulled again while they are in the cache. */
enum { CHUNK = 16 * 1024, TOKEN_LIMIT = 256 * 1024 * 1024 };

/* A token waiting to be pulled: its text lies in texts, which moves as it grows. 32 bits suffice: texts holds
 * one token of TOKEN_LIMIT at most and those of a chunk. */
typedef struct {
    JsonKind kind;
    uint32_t end; /* where it ended: bytes into the chunk */
    uint32_t text, length;
} Queued;

struct JsonReader {
    Input *input;
    yajl_handle yajl;
    Queued *queue;
    size_t n_queue, cap_queue, next; /* next: the first not yet pulled */
    char *texts;
    size_t n_texts, cap_texts;
    size_t chunk_length;
    uint64_t chunk_byte; /* where the chunk begins in the unpacked file */
    size_t chunk_line;   /* the line it begins in, from 1 */
    size_t position;     /* bytes into the chunk: where the last token ended */
    size_t silent;       /* bytes fed since the last token */
    gboolean started, finished;
    GError *broken; /* comes after the tokens before it */
    char chunk[CHUNK];
};

static void
enqueue(JsonReader *json, JsonKind kind, const char *text, size_t length)
{
    if (json->n_queue == json->cap_queue) {
        json->cap_queue = MAX(2 * json->cap_queue, 1024);
        json->queue = g_renew(Queued, json->queue, json->cap_queue);
    }
    Queued *q = &json->queue[json->n_queue++];
    *q = (Queued){.kind = kind, .end = (uint32_t)yajl_get_bytes_consumed(json->yajl)};
    if (text == NULL)
        return;
    if (json->cap_texts - json->n_texts < length + 1) {
        json->cap_texts = MAX(2 * json->cap_texts, json->n_texts + length + 1);
        json->texts = g_realloc(json->texts, json->cap_texts);
    }
    q->text = (uint32_t)json->n_texts;
    q->length = (uint32_t)length;
    memcpy(json->texts + q->text, text, length);
    json->texts[q->text + length] = '\0';
    json->n_texts += length + 1;
}

static int
on_null(void *json)
{
    enqueue(json, JSON_NULL, NULL, 0);
    return 1;
}

static int
on_boolean(void *json, int value)
{
    enqueue(json, value ? JSON_TRUE : JSON_FALSE, NULL, 0);
    return 1;
}

static int
on_number(void *json, const char *text, size_t length)
{
    enqueue(json, JSON_NUMBER, text, length);
    return 1;
}

static int
on_string(void *json, const unsigned char *text, size_t length)
{
    enqueue(json, JSON_STRING, (const char *)text, length);
    return 1;
}

static int
on_key(void *json, const unsigned char *text, size_t length)
{
    enqueue(json, JSON_KEY, (const char *)text, length);
    return 1;
}

static int
on_object_begin(void *json)
{
    enqueue(json, JSON_OBJECT_BEGIN, NULL, 0);
    return 1;
}

static int
on_object_end(void *json)
{
    enqueue(json, JSON_OBJECT_END, NULL, 0);
    return 1;
}

static int
on_array_begin(void *json)
{
    enqueue(json, JSON_ARRAY_BEGIN, NULL, 0);
    return 1;
}

static int
on_array_end(void *json)
{
    enqueue(json, JSON_ARRAY_END, NULL, 0);
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_map_key = on_key,
    .yajl_start_map = on_object_begin,
    .yajl_end_map = on_object_end,
    .yajl_start_array = on_array_begin,
    .yajl_end_array = on_array_end,
};

/* Takes input. */
static JsonReader *
reader_new(Input *input)
{
    JsonReader *json = g_new0(JsonReader, 1);
    json->input = input;
    json->chunk_line = 1;
    json->yajl = yajl_alloc(&callbacks, NULL, json);
    if (json->yajl == NULL)
        g_error("yajl: out of memory");
    return json;
}

JsonReader *
json_open(const char *path, GError **error)
{
    Input *input = input_open(path, error);
    return input != NULL ? reader_new(input) : NULL;
}

JsonReader *
json_open_many(const char *path, GError **error)
{
    JsonReader *json = json_open(path, error);
    if (json != NULL)
        yajl_config(json->yajl, yajl_allow_multiple_values, 1);
    return json;
}

JsonReader *
json_open_text(const char *name, const char *text, size_t length)
{
    return reader_new(input_open_text(name, text, length));
}

void
json_close(JsonReader *json)
{
    if (json == NULL)
        return;
    yajl_free(json->yajl);
    input_close(json->input);
    g_clear_error(&json->broken);
    g_free(json->queue);
    g_free(json->texts);
    g_free(json);
}

const char *
json_path(const JsonReader *json)
{
    return input_path(json->input);
}

static size_t
newlines(const char *text, size_t length)
{
    size_t n = 0;
    for (const char *p = text, *end = text + length; (p = memchr(p, '\n', (size_t)(end - p))) != NULL; p++)
        n++;
    return n;
}

size_t
json_line(const JsonReader *json)
{
    return json->chunk_line + newlines(json->chunk, json->position);
}

guint64
json_byte(const JsonReader *json)
{
    return json->chunk_byte + json->position;
}

gboolean
json_fail(const JsonReader *json, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return error_input(error, "%s:%zu: %s", json_path(json), json_line(json), message);
}

/* Keeps yajl's complaint, placed where it stopped reading, until the tokens before it were pulled. */
static void
keep_error(JsonReader *json)
{
    size_t at = MIN(yajl_get_bytes_consumed(json->yajl), json->chunk_length);
    unsigned char *text = yajl_get_error(json->yajl, 0, NULL, 0);
    g_autofree char *why = g_strchomp(g_strdup((const char *)text));
    yajl_free_error(json->yajl, text);
    error_input(&json->broken, "%s:%zu: byte %" G_GUINT64_FORMAT ": broken JSON: %s", json_path(json),
                json->chunk_line + newlines(json->chunk, at), json->chunk_byte + at, why);
}

/* The end of the file: the value must be whole. */
static void
finish(JsonReader *json)
{
    json->finished = TRUE;
    if (yajl_complete_parse(json->yajl) == yajl_status_ok)
        return;
    error_input(&json->broken, "%s:%zu: byte %" G_GUINT64_FORMAT ": the JSON text ends before its value does",
                json_path(json), json_line(json), json_byte(json));
}

/* Feeds the next chunk; what it holds goes into the queue. FALSE with an error of reading. */
static gboolean
feed(JsonReader *json, GError **error)
{
    json->chunk_line += newlines(json->chunk, json->chunk_length);
    json->chunk_byte += json->chunk_length;
    json->chunk_length = json->position = 0;
    json->n_queue = json->next = json->n_texts = 0;
    size_t length = 0;
    while (length < CHUNK) {
        gssize n = input_read(json->input, json->chunk + length, CHUNK - length, error);
        if (n < 0)
            return FALSE;
        if (n == 0)
            break;
        length += (size_t)n;
    }
    json->chunk_length = length;
    if (length == 0) {
        finish(json);
        return TRUE;
    }
    size_t skip = json->started ? 0 : input_bom(json->chunk, length);
    json->started = TRUE;
    memset(json->chunk, ' ', skip); /* yajl refuses a byte order mark; blanks keep the positions */
    if (yajl_parse(json->yajl, (const unsigned char *)json->chunk, length) != yajl_status_ok)
        keep_error(json);
    json->silent = json->n_queue > 0 ? 0 : json->silent + length;
    if (json->silent > TOKEN_LIMIT && json->broken == NULL)
        error_input(&json->broken, "%s:%zu: a single token is longer than %d MiB", json_path(json), json->chunk_line,
                    TOKEN_LIMIT / (1024 * 1024));
    return TRUE;
}

gboolean
json_next(JsonReader *json, JsonToken *token, GError **error)
{
    while (json->next == json->n_queue) {
        if (json->broken != NULL) {
            g_propagate_error(error, g_error_copy(json->broken));
            return FALSE;
        }
        if (json->finished) {
            *token = (JsonToken){.kind = JSON_END};
            return TRUE;
        }
        if (!feed(json, error))
            return FALSE;
    }
    const Queued *q = &json->queue[json->next++];
    gboolean text = q->kind == JSON_NUMBER || q->kind == JSON_STRING || q->kind == JSON_KEY;
    json->position = MIN(q->end, json->chunk_length);
    *token = (JsonToken){.kind = q->kind, .text = text ? json->texts + q->text : NULL, .length = q->length};
    return TRUE;
}

gboolean
json_skip(JsonReader *json, const JsonToken *token, GError **error)
{
    size_t depth = token->kind == JSON_OBJECT_BEGIN || token->kind == JSON_ARRAY_BEGIN;
    while (depth > 0) {
        JsonToken next;
        if (!json_next(json, &next, error))
            return FALSE;
        if (next.kind == JSON_OBJECT_BEGIN || next.kind == JSON_ARRAY_BEGIN)
            depth++;
        else if (next.kind == JSON_OBJECT_END || next.kind == JSON_ARRAY_END)
            depth--;
    }
    return TRUE;
}

/* The whole text as a number of units of 10^-digits. */
static gboolean
scaled(const char *text, int digits, gboolean round_down, gboolean *negative, uint64_t *value)
{
    Decimal decimal;
    const char *end;
    gboolean rest;
    if (!decimal_parse(text, &decimal, &end) || *end != '\0')
        return FALSE;
    decimal.exponent += digits;
    uint64_t v;
    if (!decimal_scale(&decimal, 1, &v, &rest) || (rest && !round_down))
        return FALSE;
    *negative = decimal.negative;
    if (rest && decimal.negative && ++v == 0)
        return FALSE;
    *value = v;
    return TRUE;
}

gboolean
json_uint64(const char *text, uint64_t *value)
{
    gboolean negative;
    uint64_t v;
    if (!scaled(text, 0, FALSE, &negative, &v) || (negative && v != 0))
        return FALSE;
    *value = v;
    return TRUE;
}

static gboolean
with_sign(uint64_t v, gboolean negative, int64_t *value)
{
    if (v > (uint64_t)INT64_MAX + negative)
        return FALSE;
    *value = negative ? (int64_t)-v : (int64_t)v;
    return TRUE;
}

gboolean
json_int64(const char *text, int64_t *value)
{
    gboolean negative;
    uint64_t v;
    return scaled(text, 0, FALSE, &negative, &v) && with_sign(v, negative, value);
}

gboolean
json_decimal(const char *text, int digits, int64_t *value)
{
    gboolean negative;
    uint64_t v;
    return scaled(text, digits, TRUE, &negative, &v) && with_sign(v, negative, value);
}
