#include "workload/job_log_table.h"

#include "base/error.h"
#include "base/input.h"

#include <csv.h>
#include <math.h>
#include <string.h>

enum { CHUNK_SIZE = 65536 };

typedef struct {
    JobLog *log;
    const char *path;
    const JobColumns *columns;
    GHashTable *column_of; /* column name -> its number + 1 */
    GPtrArray *fields;     /* of char *, of the present line */
    guint n_columns, relative, absolute;
    guint64 line; /* of the file; quoted fields may span several */
    GError *error;
} Reader;

/* The field of that column in the present line, "" where it is cut short; NULL where the log has no such column. */
static const char *
field(const Reader *reader, const char *column)
{
    if (column == NULL)
        return NULL;
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(reader->column_of, column));
    return number > 0 && number <= reader->fields->len ? g_strstrip(reader->fields->pdata[number - 1]) : NULL;
}

static gboolean
fail(Reader *reader, const char *column, const char *found, const char *expected)
{
    if (reader->error == NULL)
        error_input(&reader->error, "%s:%" G_GUINT64_FORMAT ": %s: found \"%s\", expected %s", reader->path,
                    reader->line, column, found, expected);
    return FALSE;
}

static gboolean
read_time(Reader *reader, const char *column, int64_t *ms)
{
    const char *text = field(reader, column);
    gboolean absolute;
    if (text == NULL)
        return TRUE;
    if (!job_log_time(text, ms, &absolute))
        return fail(reader, column, text, "a time, YYYY-MM-DD HH:MM:SS or seconds");
    if (*ms != JOB_LOG_ABSENT) {
        reader->absolute += absolute;
        reader->relative += !absolute;
    }
    return TRUE;
}

/* A number not below 0; an empty field leaves *value alone. */
static gboolean
read_number(Reader *reader, const char *column, double *value)
{
    const char *text = field(reader, column);
    if (text == NULL || *text == '\0')
        return TRUE;
    char *end;
    double number = g_ascii_strtod(text, &end);
    if (*end != '\0' || !(number >= 0 && number < 1e15))
        return fail(reader, column, text, "a number of at least 0");
    *value = number;
    return TRUE;
}

static gboolean
read_count(Reader *reader, const char *column, int64_t *value)
{
    double number = -1;
    if (!read_number(reader, column, &number))
        return FALSE;
    if (number != floor(number))
        return fail(reader, column, field(reader, column), "a whole number");
    if (number >= 0)
        *value = (int64_t)number;
    return TRUE;
}

static gboolean
read_duration(Reader *reader, const char *column, int64_t *ms)
{
    double seconds = -1;
    if (!read_number(reader, column, &seconds))
        return FALSE;
    if (seconds >= 0)
        *ms = (int64_t)round(seconds * 1000);
    return TRUE;
}

static gboolean
read_zero(Reader *reader)
{
    int64_t zero_ms = JOB_LOG_ABSENT;
    gboolean absolute;
    const char *text = field(reader, reader->columns->zero_unix);
    if (text != NULL && (!job_log_time(text, &zero_ms, &absolute) || absolute))
        return fail(reader, reader->columns->zero_unix, text, "seconds since 1970");
    if (zero_ms != JOB_LOG_ABSENT)
        reader->log->zero_ms = zero_ms;
    return TRUE;
}

static void
read_row(Reader *reader)
{
    const JobColumns *columns = reader->columns;
    JobEntry entry = job_entry_default();
    double milli = 1000, percent = 0, Gbps = -1;
    if (!read_time(reader, columns->submit, &entry.submit_ms) || !read_time(reader, columns->start, &entry.start_ms) ||
        !read_time(reader, columns->end, &entry.end_ms) ||
        !read_duration(reader, columns->duration, &entry.duration_ms) ||
        !read_number(reader, columns->gpus, &entry.gpus) ||
        !read_count(reader, columns->processors, &entry.processors) ||
        !read_count(reader, columns->nodes, &entry.nodes) || !read_number(reader, columns->gpu_milli, &milli) ||
        !read_number(reader, columns->gpu_percent, &percent) || !read_zero(reader) ||
        !read_number(reader, columns->network_Gbps, &Gbps))
        return;
    entry.id = job_log_text(reader->log, field(reader, columns->id));
    entry.user = job_log_text(reader->log, field(reader, columns->user));
    entry.queue = job_log_text(reader->log, field(reader, columns->queue));
    entry.model = job_log_text(reader->log, field(reader, columns->model));
    entry.state = job_log_state(field(reader, columns->state));
    if (columns->gpu_percent != NULL)
        entry.gpus = MAX(entry.gpus, 0) * percent / 100;
    if (entry.gpus > 0 && milli > 0)
        entry.gpu_share = milli / 1000;
    if (Gbps >= 0)
        entry.network_Bps = Gbps * 1e9 / 8;
    g_array_append_val(reader->log->entries, entry);
}

static void
name_columns(Reader *reader, char *const *names, guint n)
{
    for (guint i = 0; i < n; i++)
        g_hash_table_insert(reader->column_of, g_strstrip(g_strdup(names[i])), GUINT_TO_POINTER(i + 1));
    reader->n_columns = n;
}

static void
on_field(void *text, size_t length, void *owner)
{
    Reader *reader = owner;
    g_ptr_array_add(reader->fields, g_strndup(text, length));
}

static void
on_row(int separator, void *owner)
{
    Reader *reader = owner;
    reader->line++;
    if (reader->error == NULL && reader->n_columns == 0)
        name_columns(reader, (char *const *)reader->fields->pdata, reader->fields->len);
    else if (reader->error == NULL && reader->fields->len != reader->n_columns)
        error_input(&reader->error, "%s:%" G_GUINT64_FORMAT ": %u fields, the first line has %u", reader->path,
                    reader->line, reader->fields->len, reader->n_columns);
    else if (reader->error == NULL)
        read_row(reader);
    g_ptr_array_set_size(reader->fields, 0);
}

static void
parse(Reader *reader, Input *input)
{
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        g_error("csv_init: out of memory");
    g_autofree char *chunk = g_malloc(CHUNK_SIZE);
    gboolean first = TRUE;
    while (reader->error == NULL) {
        gssize n = input_read(input, chunk, CHUNK_SIZE, &reader->error);
        if (n <= 0)
            break;
        size_t bom = first ? input_bom(chunk, (size_t)n) : 0;
        first = FALSE;
        if (csv_parse(&parser, chunk + bom, (size_t)n - bom, on_field, on_row, reader) != (size_t)n - bom &&
            reader->error == NULL)
            error_input(&reader->error, "%s:%" G_GUINT64_FORMAT ": %s", reader->path, reader->line + 1,
                        csv_strerror(csv_error(&parser)));
    }
    if (reader->error == NULL && csv_fini(&parser, on_field, on_row, reader) != 0)
        error_input(&reader->error, "%s: ends inside a quoted field", reader->path);
    csv_free(&parser);
}

gboolean
job_table_read(JobLog *log, const char *path, const JobColumns *columns, const char *names, GError **error)
{
    g_autoptr(Input) input = input_open(path, error);
    if (input == NULL)
        return FALSE;
    g_autoptr(GHashTable) column_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
    Reader reader = {.log = log, .path = path, .columns = columns, .column_of = column_of, .fields = fields};
    if (names != NULL) {
        g_auto(GStrv) list = g_strsplit(names, ",", -1);
        name_columns(&reader, list, g_strv_length(list));
    }
    parse(&reader, input);
    if (reader.error == NULL && reader.absolute > 0 && reader.relative > 0)
        error_input(&reader.error, "%s: has %u times as dates and %u as seconds", path, reader.absolute,
                    reader.relative);
    if (reader.absolute > 0)
        log->zero_ms = 0;
    if (reader.error == NULL) {
        if (columns->zero_unix == NULL) /* else they were settled before */
            job_log_derive_durations(log);
        return TRUE;
    }
    g_propagate_error(error, reader.error);
    return FALSE;
}

static gboolean
is_among(const char *name, char *const *names)
{
    return name == NULL || g_strv_contains((const char *const *)names, name);
}

gboolean
job_table_recognise(const JobColumns *columns, const char *head, size_t length)
{
    g_autofree char *line = g_strndup(head, strcspn(head, "\r\n"));
    g_auto(GStrv) names = g_strsplit(line, ",", -1);
    const char *const wanted[] = {columns->id,         columns->user,         columns->queue,       columns->model,
                                  columns->state,      columns->submit,       columns->start,       columns->end,
                                  columns->duration,   columns->gpus,         columns->nodes,       columns->gpu_milli,
                                  columns->processors, columns->network_Gbps, columns->gpu_percent, columns->zero_unix};
    for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
        if (!is_among(wanted[i], names))
            return FALSE;
    for (size_t i = 0; i < G_N_ELEMENTS(columns->also); i++)
        if (!is_among(columns->also[i], names))
            return FALSE;
    return TRUE;
}
