#include "base/csv_rows.h"

#include "base/error.h"
#include "base/input.h"

#include <csv.h>
#include <string.h>

enum { CHUNK_SIZE = 65536 };

typedef struct {
    const char *path;
    struct csv_parser parser;
    size_t line, row_line; /* of the bytes at hand; in which the present row began */
    gboolean begun;        /* the present row: something of it was in a line before */
    gboolean ended;        /* a row, within the bytes at hand */
    GPtrArray *fields;
    CsvTake take;
    void *owner;
    GError *error; /* the first */
} Rows;

static void
on_field(void *text, size_t length, void *data)
{
    Rows *rows = data;
    g_ptr_array_add(rows->fields, g_strndup(text, length));
}

static void
on_row(int separator, void *data)
{
    Rows *rows = data;
    rows->ended = TRUE;
    if (rows->error == NULL && rows->fields->len > 0)
        rows->take(rows->fields, rows->row_line, rows->owner, &rows->error);
    g_ptr_array_set_size(rows->fields, 0);
}

/* Bytes of one line, its end perhaps among them. */
static void
parse_piece(Rows *rows, const char *piece, size_t length)
{
    if (!rows->begun)
        rows->row_line = rows->line;
    rows->ended = FALSE;
    if (csv_parse(&rows->parser, piece, length, on_field, on_row, rows) != length && rows->error == NULL)
        error_input(&rows->error, "%s:%zu: %s", rows->path, rows->line, csv_strerror(csv_error(&rows->parser)));
    rows->begun = !rows->ended && (rows->begun || strspn(piece, " \t\r\n") < length);
}

/* libcsv knows no lines: it gets one at a time. */
static void
parse_chunk(Rows *rows, char *chunk, size_t length)
{
    for (char *at = chunk, *end = chunk + length; at < end && rows->error == NULL;) {
        char *feed = memchr(at, '\n', (size_t)(end - at));
        char *next = feed != NULL ? feed + 1 : end;
        parse_piece(rows, at, (size_t)(next - at));
        rows->line += feed != NULL;
        at = next;
    }
}

static void
parse(Rows *rows, Input *input)
{
    g_autofree char *chunk = g_malloc(CHUNK_SIZE + 1);
    for (gboolean first = TRUE; rows->error == NULL; first = FALSE) {
        gssize n = input_read(input, chunk, CHUNK_SIZE, &rows->error);
        if (n <= 0)
            break;
        chunk[n] = '\0';
        size_t bom = first ? input_bom(chunk, (size_t)n) : 0;
        parse_chunk(rows, chunk + bom, (size_t)n - bom);
    }
    if (rows->error == NULL && csv_fini(&rows->parser, on_field, on_row, rows) != 0)
        error_input(&rows->error, "%s:%zu: the file ends inside a quoted field", rows->path, rows->row_line);
}

gboolean
csv_rows_read(const char *path, CsvTake take, void *owner, GError **error)
{
    g_autoptr(Input) input = input_open(path, error);
    if (input == NULL)
        return FALSE;
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
    Rows rows = {.path = path, .line = 1, .row_line = 1, .fields = fields, .take = take, .owner = owner};
    if (csv_init(&rows.parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        g_error("csv_init: out of memory");
    parse(&rows, input);
    csv_free(&rows.parser);
    if (rows.error == NULL)
        return TRUE;
    g_propagate_error(error, rows.error);
    return FALSE;
}
