/* latency_tables.c - tables of average latencies in a Markdown page, as IBM Cloud publishes them
 *
 * A table's first cell is "Average latency (ms)", then places; each row is a place and its round-trip times in
 * milliseconds, blank = not measured. A table between regions stands under "Inter-region latency"; one between the
 * buildings of a region has {: tab-title="Dallas"} behind it. A page has a chapter ("## 16 Aug 2026") a month: the
 * first that has tables is read, older ones are passed over. Buildings are in their region, and joined to its place by
 * links of which the page says nothing: they have the default latency. */
#include "base/error.h"
#include "base/input.h"
#include "fabric/wan_map.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)64 << 20)

enum { MOST_PLACES = 1024 };

static const char head_cell[] = "Average latency (ms)", tab_title[] = "{: tab-title=\"";

typedef struct {
    size_t line;
    GPtrArray *names; /* of char *: of the columns */
    double *ms;       /* names->len squared; NAN */
    gboolean *given;  /* rows */
    char *region;     /* that its title names; NULL = it is one between regions */
} LatencyTable;

typedef struct {
    const char *path;
    const TopologyOptions *options;
    size_t line;
    gboolean over;     /* the first chapter with tables */
    guint passed_over; /* tables of later chapters */
    GPtrArray *tables; /* of LatencyTable * */
    LatencyTable *open;
} Reader;

static void
table_free(void *data)
{
    LatencyTable *table = data;
    g_ptr_array_unref(table->names);
    g_free(table->ms);
    g_free(table->given);
    g_free(table->region);
    g_free(table);
}

/* The cells of "| a | **b** | |", blanks and stars taken off. The caller frees them. */
static char **
split_cells(const char *line)
{
    g_autofree char *inner = g_strstrip(g_strdup(line + 1));
    size_t length = strlen(inner);
    if (length > 0 && inner[length - 1] == '|')
        inner[length - 1] = '\0';
    char **cells = g_strsplit(inner, "|", -1);
    for (size_t i = 0; cells[i] != NULL; i++) {
        g_strdelimit(cells[i], "*", ' ');
        g_strstrip(cells[i]);
    }
    return cells;
}

static uint32_t
find_name(const LatencyTable *table, const char *name)
{
    uint32_t i = 0;
    while (i < table->names->len && strcmp(table->names->pdata[i], name) != 0)
        i++;
    return i;
}

static gboolean
begin_table(Reader *reader, char **cells, GError **error)
{
    LatencyTable *table = reader->open = g_new0(LatencyTable, 1);
    g_ptr_array_add(reader->tables, table);
    table->line = reader->line;
    table->names = g_ptr_array_new_with_free_func(g_free);
    guint n = g_strv_length(cells) - 1;
    gboolean good = TRUE;
    for (guint i = 1; i <= n && good; i++) {
        gboolean taken = *cells[i] == '\0' || find_name(table, cells[i]) < table->names->len;
        g_ptr_array_add(table->names, g_strdup(cells[i]));
        good = !taken || topology_problem(reader->options, reader->path, reader->line, error,
                                          "a column's name is empty or there twice: \"%s\"", cells[i]);
    }
    if (n < 2 || n > MOST_PLACES)
        return error_input(error, "%s:%zu: found %u places, expected 2 to %d", reader->path, reader->line, n,
                           MOST_PLACES);
    table->ms = g_new(double, (size_t)n *n);
    table->given = g_new0(gboolean, n);
    for (size_t i = 0; i < (size_t)n * n; i++)
        table->ms[i] = NAN;
    return good;
}

static gboolean
read_row(Reader *reader, char **cells, GError **error)
{
    LatencyTable *table = reader->open;
    uint32_t n = table->names->len, row = find_name(table, cells[0]);
    if (g_strv_length(cells) != n + 1)
        return topology_problem(reader->options, reader->path, reader->line, error, "%u cells, the table has %u",
                                g_strv_length(cells), n + 1);
    if (row == n || table->given[row])
        return topology_problem(reader->options, reader->path, reader->line, error, "row \"%s\" is %s", cells[0],
                                row == n ? "no column of its table" : "there already");
    table->given[row] = TRUE;
    for (uint32_t c = 0; c < n; c++) {
        char *end;
        double ms = g_ascii_strtod(cells[c + 1], &end);
        if (*cells[c + 1] == '\0')
            continue;
        if (*end == '\0' && ms >= 0 && ms < 1e6)
            table->ms[(size_t)row * n + c] = ms;
        else if (!topology_problem(reader->options, reader->path, reader->line, error,
                                   "%s: found \"%s\", expected milliseconds", (const char *)table->names->pdata[c],
                                   cells[c + 1]))
            return FALSE;
    }
    return TRUE;
}

/* A line that begins with "|": a head, the strokes below it, or a row; of tables of another kind nothing. */
static gboolean
read_table_line(Reader *reader, const char *line, GError **error)
{
    g_auto(GStrv) cells = split_cells(line);
    if (cells[0] != NULL && strcmp(cells[0], head_cell) == 0) {
        reader->passed_over += reader->over;
        return reader->over || begin_table(reader, cells, error);
    }
    if (reader->open == NULL || cells[0] == NULL || g_str_has_prefix(cells[0], "---"))
        return TRUE;
    return read_row(reader, cells, error);
}

/* {: tab-title="Dallas"}: of the table before. */
static void
read_title(const Reader *reader, const char *line)
{
    const char *from = line + strlen(tab_title), *to = strchr(from, '"');
    LatencyTable *last = reader->tables->len > 0 ? reader->tables->pdata[reader->tables->len - 1] : NULL;
    if (!reader->over && last != NULL && last->region == NULL && to != NULL)
        last->region = g_strndup(from, (size_t)(to - from));
}

static gboolean
read_lines(Reader *reader, char *text, GError **error)
{
    for (char *line = text, *next; line != NULL; line = next) {
        char *feed = strchr(line, '\n');
        next = feed != NULL ? feed + 1 : NULL;
        if (feed != NULL)
            *feed = '\0';
        reader->line++;
        g_strstrip(line);
        if (line[0] == '|' && !read_table_line(reader, line, error))
            return FALSE;
        if (line[0] != '|')
            reader->open = NULL;
        if (g_str_has_prefix(line, "## "))
            reader->over = reader->tables->len > 0;
        else if (g_str_has_prefix(line, tab_title))
            read_title(reader, line);
    }
    return TRUE;
}

/* A table's places; those of a region are joined to the region's own place, where there is one. */
static void
add_table(const LatencyTable *table, WanMap *map, GHashTable *place_of, WanMatrixCounts *counts)
{
    uint32_t n = table->names->len;
    g_autofree uint32_t *places = g_new(uint32_t, n);
    guint whole = table->region != NULL ? GPOINTER_TO_UINT(g_hash_table_lookup(place_of, table->region)) : 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *name = table->names->pdata[i];
        WanPlace place = {.name = name,
                          .region = table->region != NULL ? table->region : name,
                          .latitude = NAN,
                          .longitude = NAN,
                          .no_place = table->region == NULL};
        places[i] = wan_map_add_place(map, &place);
        if (table->region == NULL)
            g_hash_table_insert(place_of, (gpointer)name, GUINT_TO_POINTER(places[i] + 1));
        if (whole > 0)
            wan_map_add_span(map, &(WanSpan){.a = places[i], .b = whole - 1, .latency_ps = -1});
    }
    wan_map_add_matrix(map, places, n, table->ms, counts);
}

static Fabric *
make_fabric(const Reader *reader, char **notes, GError **error)
{
    g_autoptr(WanMap) map = wan_map_new();
    g_autoptr(GHashTable) place_of = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GString) text = g_string_new(NULL);
    WanMatrixCounts counts = {0, 0};
    for (guint t = 0; t < reader->tables->len; t++)
        add_table(reader->tables->pdata[t], map, place_of, &counts);
    wan_matrix_note(&counts, text);
    if (reader->passed_over > 0)
        g_string_append_printf(text, "%u tables of other months are passed over\n", reader->passed_over);
    Fabric *fabric = wan_map_build(map, reader->path, reader->options, text, error);
    if (fabric != NULL && notes != NULL)
        *notes = g_strdup(text->str);
    return fabric;
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    if (!g_utf8_validate(text, (gssize)length, NULL)) {
        error_input(error, "%s: is no UTF-8 text", path);
        return NULL;
    }
    g_autoptr(GPtrArray) tables = g_ptr_array_new_with_free_func(table_free);
    Reader reader = {.path = path, .options = options, .tables = tables};
    guint before = topology_n_problems(options);
    if (!read_lines(&reader, text, error) || !topology_sound(options, before, path, error))
        return NULL;
    return make_fabric(&reader, notes, error);
}

static gboolean
recognise(const char *head, size_t length)
{
    return strstr(head, "| Average latency (ms) |") != NULL;
}

const TopologyFormat topology_latency_tables = {
    "latency-tables", "tables of round-trip times between regions and buildings (IBM Cloud's Markdown)", recognise,
    read};
