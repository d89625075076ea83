#include "base/field_lines.h"

#include "base/error.h"
#include "base/input.h"

#include <string.h>

#define FILE_LIMIT ((size_t)4 << 30)

/* The first byte that is no text: a control character or a broken UTF-8 sequence; NULL where there is none. */
static const char *
no_text(const char *text, size_t length)
{
    const char *end;
    g_utf8_validate(text, (gssize)length, &end);
    for (const char *at = text; at < end; at++)
        if ((unsigned char)*at < ' ' && *at != '\t' && *at != '\r' && *at != '\n')
            return at;
    return end < text + length ? end : NULL;
}

static size_t
count_feeds(const char *text, const char *end)
{
    size_t n = 0;
    for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at))) != NULL; at++)
        n++;
    return n;
}

FieldLines *
field_lines_read(const char *path, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    size_t bom = input_bom(text, length);
    const char *bad = no_text(text + bom, length - bom), *end = text + length;
    if (bad != NULL) {
        error_input(error, "%s:%zu: holds the byte 0x%02x, so this is no text file", path, count_feeds(text, bad) + 1,
                    (unsigned char)*bad);
        return NULL;
    }
    FieldLines *lines = g_new0(FieldLines, 1);
    lines->path = g_strdup(path);
    lines->lines = count_feeds(text, end) + (length > 0 && end[-1] != '\n');
    lines->next = text + bom;
    lines->text = g_steal_pointer(&text);
    return lines;
}

void
field_lines_free(FieldLines *lines)
{
    if (lines == NULL)
        return;
    g_free(lines->fields);
    g_free(lines->path);
    g_free(lines->text);
    g_free(lines);
}

/* Splits [at, end) in place; *end may be written. */
static void
split(FieldLines *lines, char *at, char *end)
{
    lines->n_fields = 0;
    for (;;) {
        while (at < end && (*at == ' ' || *at == '\t' || *at == '\r'))
            at++;
        if (at == end || *at == '#')
            return;
        if (lines->n_fields == lines->room) {
            lines->room = lines->room > 0 ? 2 * lines->room : 16;
            lines->fields = g_renew(char *, lines->fields, lines->room);
        }
        lines->fields[lines->n_fields++] = at;
        while (at < end && *at != ' ' && *at != '\t' && *at != '\r')
            at++;
        if (at == end) {
            *at = '\0';
            return;
        }
        *at++ = '\0';
    }
}

gboolean
field_lines_next(FieldLines *lines)
{
    lines->n_fields = 0;
    while (lines->n_fields == 0 && lines->line < lines->lines) {
        lines->line++;
        char *feed = strchr(lines->next, '\n');
        char *end = feed != NULL ? feed : lines->next + strlen(lines->next);
        char *at = lines->next;
        lines->next = feed != NULL ? feed + 1 : end;
        split(lines, at, end);
    }
    return lines->n_fields > 0;
}

gboolean
field_lines_fail(const FieldLines *lines, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return error_input(error, "%s:%zu: %s", lines->path, MAX(lines->line, 1), message);
}

gboolean
field_lines_uint(const FieldLines *lines, uint32_t field, const char *what, uint64_t least, uint64_t most,
                 uint64_t *value, GError **error)
{
    if (field >= lines->n_fields)
        return field_lines_fail(lines, error, "the line ends where %s is expected", what);
    const char *text = lines->fields[field];
    guint64 number;
    if (!g_ascii_string_to_unsigned(text, 10, least, most, &number, NULL))
        return field_lines_fail(
            lines, error, "%s is \"%s\", expected a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
            what, text, least, most);
    *value = number;
    return TRUE;
}
