/* rtt_matrix.c - a matrix of round-trip times between places, as CSV: each pair becomes two links
 *
 * The first line names the columns, "Source" and then the places; the first field of each line is the place it is
 * measured from, the others milliseconds there and back; blank = not measured; rows and columns need not be the same
 * places. A direction's latency is half of what was measured from its beginning; where only one direction was, it
 * serves for both. */
#include "base/csv_rows.h"
#include "base/error.h"
#include "fabric/wan_map.h"

#include <math.h>
#include <string.h>

enum { MOST_PLACES = 4096 };

typedef struct {
    const char *path;
    const TopologyOptions *options;
    size_t line;
    gboolean named;
    GPtrArray *names; /* of char *: of the columns, then of rows that are no column */
    guint n_columns;
    GHashTable *place_of; /* name -> number + 1 */
    GArray *rows;         /* of uint32_t: the place of each line */
    GArray *ms;           /* of double: n_columns a line; NAN */
} Reader;

static guint
add_name(Reader *reader, const char *name)
{
    g_ptr_array_add(reader->names, g_strdup(name));
    g_hash_table_insert(reader->place_of, g_strdup(name), GUINT_TO_POINTER(reader->names->len));
    return reader->names->len;
}

/* A column whose name is no good counts as one, so that the lines still fit. */
static gboolean
read_names(Reader *reader, const GPtrArray *fields, GError **error)
{
    for (guint i = 1; i < fields->len; i++) {
        const char *name = fields->pdata[i];
        gboolean good = *name != '\0' && !g_hash_table_contains(reader->place_of, name);
        add_name(reader, name);
        if (!good && !topology_problem(reader->options, reader->path, reader->line, error,
                                       "a column's name is empty or there twice: \"%s\"", name))
            return FALSE;
    }
    reader->named = TRUE;
    reader->n_columns = reader->names->len;
    return (reader->n_columns >= 2 && reader->n_columns <= MOST_PLACES) ||
           error_input(error, "%s:%zu: found %u places, expected 2 to %d", reader->path, reader->line,
                       reader->n_columns, MOST_PLACES);
}

static gboolean
read_row(Reader *reader, const GPtrArray *fields, GError **error)
{
    const char *name = fields->pdata[0];
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(reader->place_of, name)), n = reader->n_columns;
    if (fields->len != n + 1)
        return topology_problem(reader->options, reader->path, reader->line, error, "%u fields, the first line has %u",
                                fields->len, n + 1);
    if (*name == '\0' || reader->names->len > 2 * MOST_PLACES)
        return topology_problem(reader->options, reader->path, reader->line, error,
                                "found \"%s\", expected the name of a place", name);
    place = place > 0 ? place - 1 : add_name(reader, name) - 1;
    g_array_append_val(reader->rows, place);
    for (guint i = 1; i <= n; i++) {
        const char *text = fields->pdata[i];
        char *end;
        double ms = g_ascii_strtod(text, &end);
        gboolean good = *text == '\0' || (*end == '\0' && ms >= 0 && ms < 1e6);
        if (*text == '\0' || !good)
            ms = NAN;
        g_array_append_val(reader->ms, ms);
        if (!good && !topology_problem(reader->options, reader->path, reader->line, error,
                                       "%s: found \"%s\", expected milliseconds",
                                       (const char *)reader->names->pdata[i - 1], text))
            return FALSE;
    }
    return TRUE;
}

static gboolean
take_row(GPtrArray *fields, size_t line, void *owner, GError **error)
{
    Reader *reader = owner;
    reader->line = line;
    for (guint i = 0; i < fields->len; i++)
        g_strstrip(fields->pdata[i]);
    return reader->named ? read_row(reader, fields, error) : read_names(reader, fields, error);
}

/* By place and place; NAN. The caller frees it. */
static double *
make_matrix(const Reader *reader)
{
    size_t n = reader->names->len;
    double *matrix = g_new(double, n *n);
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = NAN;
    for (guint r = 0; r < reader->rows->len; r++)
        for (guint c = 0; c < reader->n_columns; c++)
            matrix[g_array_index(reader->rows, uint32_t, r) * n + c] =
                g_array_index(reader->ms, double, r * reader->n_columns + c);
    return matrix;
}

static gboolean
parse(Reader *reader, GError **error)
{
    guint before = topology_n_problems(reader->options);
    if (!csv_rows_read(reader->path, take_row, reader, error))
        return FALSE;
    if (!reader->named)
        return error_input(error, "%s: has no line", reader->path);
    return topology_sound(reader->options, before, reader->path, error);
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) place_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    GArray *ms = g_array_new(FALSE, FALSE, sizeof(double));
    Reader reader = {.path = path, .options = options, .names = names, .place_of = place_of, .rows = rows, .ms = ms};
    Fabric *fabric = NULL;
    if (parse(&reader, error)) {
        g_autoptr(WanMap) map = wan_map_new();
        g_autoptr(GString) text = g_string_new(NULL);
        g_autofree uint32_t *places = g_new(uint32_t, names->len);
        for (guint i = 0; i < names->len; i++)
            places[i] = wan_map_add_place(map, &(WanPlace){.name = names->pdata[i], .latitude = NAN, .longitude = NAN});
        g_autofree double *matrix = make_matrix(&reader);
        WanMatrixCounts counts = {0, 0};
        wan_map_add_matrix(map, places, names->len, matrix, &counts);
        wan_matrix_note(&counts, text);
        fabric = wan_map_build(map, path, options, text, error);
        if (fabric != NULL && notes != NULL)
            *notes = g_strdup(text->str);
    }
    g_array_unref(ms);
    return fabric;
}

/* "Source,Place,Place": names, and at least two of them. */
static gboolean
recognise(const char *head, size_t length)
{
    g_autofree char *line = g_strndup(head, strcspn(head, "\r\n"));
    return g_str_has_prefix(line, "Source,") && strchr(line + strlen("Source,"), ',') != NULL;
}

const TopologyFormat topology_rtt = {"rtt", "a matrix of round-trip times in milliseconds (CSV): a link each way",
                                     recognise, read};
