/* job_log_sacct.c - Slurm's accounting, as sacct --parsable or --parsable2 prints it
 *
 * A line of field names, then a line a job and a line a step, parted by | or by another delimiter, which is found in
 * the first line; nothing is quoted. A field (a comment, a submit line) may hold a line break: lines are joined until
 * they have the fields of the first. Lines that cannot be completed so are left out and noted. A job is a line whose
 * JobID has no dot; where only steps of a job are there, they make it. Times are the cluster's local ones, without a
 * zone. Bytes that are no UTF-8 are replaced. Formats of fields: ../shared/formats/recorded.md, section 5. */
#include "base/error.h"
#include "base/input.h"
#include "workload/job_log.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)4 << 30)

typedef enum {
    FIELD_JOB,
    FIELD_STATE,
    FIELD_SUBMIT,
    FIELD_START,
    FIELD_END,
    FIELD_ELAPSED,
    FIELD_ALLOCATED,
    FIELD_REQUESTED,
    FIELD_CPUS,
    FIELD_NODES,
    FIELD_USER,
    FIELD_PARTITION,
    FIELD_NAME,
    KNOWN_FIELDS
} KnownField;

static const char *const field_names[KNOWN_FIELDS] = {"JobID",   "State",     "Submit",  "Start", "End",
                                                      "Elapsed", "AllocTRES", "ReqTRES", "NCPUS", "NNodes",
                                                      "User",    "Partition", "JobName"};
/* Other names of the same. */
static const char *const other_names[KNOWN_FIELDS] = {[FIELD_CPUS] = "AllocCPUS", [FIELD_NODES] = "AllocNodes"};

typedef struct {
    JobLog *log;
    const char *path;
    char *delimiter;
    guint n_fields;
    guint at[KNOWN_FIELDS]; /* the field's number + 1; 0 = not in this file */
    GHashTable *row_of;     /* JobID without its step -> entry + 1 */
    GHashTable *made;       /* JobIDs made of steps only -> entry + 1 */
    guint steps, bad;
    size_t first_bad;
} Reader;

/* What stands between the first two names: "|" or "|#". NULL: no header of sacct. */
static char *
find_delimiter(const char *line)
{
    size_t word = strspn(line, G_CSET_a_2_z G_CSET_A_2_Z "_");
    size_t gap = strcspn(line + word, G_CSET_a_2_z G_CSET_A_2_Z "_\r\n");
    if (word == 0 || gap == 0 || gap > 8 || line[word] == ' ' || line[word] == ',' || line[word] == '\t')
        return NULL;
    return g_strndup(line + word, gap);
}

/* The fields of a whole row; a delimiter after the last field adds none. */
static GStrv
split(const Reader *reader, const char *row)
{
    GStrv fields = g_strsplit(row, reader->delimiter, -1);
    guint n = g_strv_length(fields);
    if (n == reader->n_fields + 1 && fields[n - 1][0] == '\0') {
        g_free(fields[n - 1]);
        fields[n - 1] = NULL;
    }
    return fields;
}

static const char *
field(const Reader *reader, GStrv fields, KnownField which)
{
    return reader->at[which] > 0 ? g_strstrip(fields[reader->at[which] - 1]) : "";
}

/* "[D-]HH:MM:SS", "MM:SS.mmm"; FALSE where it is none. */
static gboolean
parse_elapsed(const char *text, int64_t *ms)
{
    unsigned days = 0, part[3];
    char *end;
    const char *dash = strchr(text, '-');
    if (dash != NULL) {
        days = (unsigned)g_ascii_strtoull(text, &end, 10);
        if (end != dash || dash == text)
            return FALSE;
        text = dash + 1;
    }
    g_auto(GStrv) parts = g_strsplit(text, ":", 4);
    guint n = g_strv_length(parts);
    if (n < 2 || n > 3)
        return FALSE;
    double seconds = g_ascii_strtod(parts[n - 1], &end);
    if (*end != '\0' || end == parts[n - 1] || !(seconds >= 0 && seconds < 60))
        return FALSE;
    for (guint i = 0; i + 1 < n; i++) {
        part[i] = (unsigned)g_ascii_strtoull(parts[i], &end, 10);
        if (*end != '\0' || end == parts[i])
            return FALSE;
    }
    int64_t minutes = n == 3 ? (int64_t)part[0] * 60 + part[1] : part[0];
    *ms = ((int64_t)days * 1440 + minutes) * 60000 + (int64_t)round(seconds * 1000);
    return TRUE;
}

/* Of "billing=97,cpu=1,gres/gpu=8,mem=64G": the GPUs, the plain count before those of types; -1 where the text is
 * empty, 0 where it names none. */
static double
gpus_of(const char *resources)
{
    if (*resources == '\0')
        return -1;
    double plain = -1, typed = 0;
    g_auto(GStrv) parts = g_strsplit(resources, ",", -1);
    for (size_t i = 0; parts[i] != NULL; i++) {
        const char *equal = strchr(parts[i], '=');
        if (equal != NULL && g_str_has_prefix(parts[i], "gres/gpu="))
            plain = g_ascii_strtod(equal + 1, NULL);
        else if (equal != NULL && g_str_has_prefix(parts[i], "gres/gpu:"))
            typed += g_ascii_strtod(equal + 1, NULL);
    }
    return plain >= 0 ? plain : typed;
}

static int64_t
count_of(const char *text)
{
    char *end;
    guint64 value = g_ascii_strtoull(text, &end, 10);
    return end != text && *end == '\0' && value < G_MAXINT64 ? (int64_t)value : -1;
}

static gboolean
read_time(const Reader *reader, GStrv fields, KnownField which, size_t line, int64_t *ms, GError **error)
{
    gboolean absolute;
    const char *text = field(reader, fields, which);
    if (job_log_time(text, ms, &absolute) && (absolute || *ms == JOB_LOG_ABSENT))
        return TRUE;
    return error_input(error, "%s:%zu: %s: found \"%s\", expected YYYY-MM-DDTHH:MM:SS or Unknown", reader->path, line,
                       field_names[which], text);
}

/* A job made of its steps lasts from the first to the last of them. */
static void
widen(JobEntry *job, const JobEntry *step)
{
    if (step->submit_ms != JOB_LOG_ABSENT)
        job->submit_ms = job->submit_ms == JOB_LOG_ABSENT ? step->submit_ms : MIN(job->submit_ms, step->submit_ms);
    if (step->start_ms != JOB_LOG_ABSENT)
        job->start_ms = job->start_ms == JOB_LOG_ABSENT ? step->start_ms : MIN(job->start_ms, step->start_ms);
    if (step->end_ms == JOB_LOG_ABSENT || job->end_ms == JOB_LOG_ABSENT)
        job->end_ms = JOB_LOG_ABSENT;
    else
        job->end_ms = MAX(job->end_ms, step->end_ms);
    job->gpus = MAX(job->gpus, step->gpus);
    job->processors = MAX(job->processors, step->processors);
    job->nodes = MAX(job->nodes, step->nodes);
    if (step->state != JOB_STATE_COMPLETED)
        job->state = step->state;
}

/* Takes in a job, or a step of one. */
static void
enter(Reader *reader, const char *id, JobEntry entry)
{
    JobLog *log = reader->log;
    const char *dot = strchr(id, '.');
    g_autofree char *job = dot != NULL ? g_strndup(id, (size_t)(dot - id)) : g_strdup(id);
    guint row = GPOINTER_TO_UINT(g_hash_table_lookup(reader->row_of, job));
    guint made = GPOINTER_TO_UINT(g_hash_table_lookup(reader->made, job));
    entry.id = job_log_text(log, job);
    reader->steps += dot != NULL;
    if (dot != NULL && row > 0 && made == 0)
        return; /* the job's own line says all */
    if (dot != NULL && made > 0) {
        widen(&g_array_index(log->entries, JobEntry, made - 1), &entry);
        return;
    }
    if (dot == NULL && made > 0) { /* its own line after all */
        g_array_index(log->entries, JobEntry, made - 1) = entry;
        g_hash_table_remove(reader->made, job);
        return;
    }
    g_array_append_val(log->entries, entry); /* a job that was requeued has several lines: each a run of its own */
    g_hash_table_insert(reader->row_of, g_strdup(job), GUINT_TO_POINTER(log->entries->len));
    if (dot != NULL)
        g_hash_table_insert(reader->made, g_strdup(job), GUINT_TO_POINTER(log->entries->len));
}

static gboolean
read_row(Reader *reader, GStrv fields, size_t line, GError **error)
{
    JobEntry entry = job_entry_default();
    const char *id = field(reader, fields, FIELD_JOB), *elapsed = field(reader, fields, FIELD_ELAPSED);
    if (*id == '\0')
        return error_input(error, "%s:%zu: JobID is empty", reader->path, line);
    if (!read_time(reader, fields, FIELD_SUBMIT, line, &entry.submit_ms, error) ||
        !read_time(reader, fields, FIELD_START, line, &entry.start_ms, error) ||
        !read_time(reader, fields, FIELD_END, line, &entry.end_ms, error))
        return FALSE;
    entry.state = job_log_state(field(reader, fields, FIELD_STATE));
    if (*elapsed != '\0' && !parse_elapsed(elapsed, &entry.duration_ms))
        return error_input(error, "%s:%zu: Elapsed: found \"%s\", expected [D-]HH:MM:SS", reader->path, line, elapsed);
    if (entry.end_ms == JOB_LOG_ABSENT && entry.state == JOB_STATE_RUNNING)
        entry.duration_ms = JOB_LOG_ABSENT; /* how long it has run is not how long it runs */
    entry.gpus = gpus_of(field(reader, fields, FIELD_ALLOCATED));
    if (entry.gpus < 0)
        entry.gpus = gpus_of(field(reader, fields, FIELD_REQUESTED));
    entry.processors = count_of(field(reader, fields, FIELD_CPUS));
    entry.nodes = count_of(field(reader, fields, FIELD_NODES));
    entry.user = job_log_text(reader->log, field(reader, fields, FIELD_USER));
    entry.queue = job_log_text(reader->log, field(reader, fields, FIELD_PARTITION));
    entry.model = job_log_text(reader->log, field(reader, fields, FIELD_NAME));
    enter(reader, id, entry);
    return TRUE;
}

static gboolean
read_names(Reader *reader, const char *line, GError **error)
{
    reader->delimiter = find_delimiter(line);
    if (reader->delimiter == NULL)
        return error_input(error, "%s:1: no line of field names of sacct --parsable", reader->path);
    g_auto(GStrv) names = g_strsplit(line, reader->delimiter, -1);
    guint n = g_strv_length(names);
    reader->n_fields = names[n - 1][0] == '\0' ? n - 1 : n;
    for (guint f = 0; f < reader->n_fields; f++)
        for (guint k = 0; k < KNOWN_FIELDS; k++)
            if (strcmp(names[f], field_names[k]) == 0 ||
                (reader->at[k] == 0 && other_names[k] != NULL && strcmp(names[f], other_names[k]) == 0))
                reader->at[k] = f + 1;
    return reader->at[FIELD_JOB] > 0 || error_input(error, "%s:1: there is no field JobID", reader->path);
}

/* A row that begins at lines[*i], joined with those after it while it is too short and they are no rows themselves. On
 * return *i is the line after. NULL where it cannot be completed. */
static GStrv
next_row(const Reader *reader, GStrv lines, size_t *i)
{
    g_autoptr(GString) row = g_string_new(lines[(*i)++]);
    for (;;) {
        g_auto(GStrv) fields = split(reader, row->str);
        guint n = g_strv_length(fields);
        if (n == reader->n_fields)
            return g_steal_pointer(&fields);
        if (n > reader->n_fields || lines[*i] == NULL)
            return NULL;
        g_auto(GStrv) following = split(reader, lines[*i]);
        if (g_strv_length(following) == reader->n_fields)
            return NULL;
        g_string_append_c(row, '\n');
        g_string_append(row, lines[(*i)++]);
    }
}

static gboolean
read_lines(Reader *reader, GStrv lines, GError **error)
{
    if (!read_names(reader, lines[0] != NULL ? lines[0] : "", error))
        return FALSE;
    for (size_t i = 1; lines[i] != NULL;) {
        size_t first = i;
        if (lines[i][0] == '\0') {
            i++;
            continue;
        }
        g_auto(GStrv) fields = next_row(reader, lines, &i);
        if (fields == NULL) {
            reader->first_bad = reader->bad++ == 0 ? first + 1 : reader->first_bad;
            i = first + 1;
        } else if (!read_row(reader, fields, first + 1, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static void
add_notes(const Reader *reader)
{
    guint made = g_hash_table_size(reader->made);
    if (reader->steps > 0)
        job_log_note(reader->log, "%u line%s of steps", reader->steps, reader->steps == 1 ? "" : "s");
    if (made > 0)
        job_log_note(reader->log, "%u job%s no line of %s own: made of the steps", made, made == 1 ? " has" : "s have",
                     made == 1 ? "its" : "their");
    if (reader->bad > 0)
        job_log_note(reader->log, "%u line%s left out, not of %u fields, the first is line %zu", reader->bad,
                     reader->bad == 1 ? " is" : "s are", reader->n_fields, reader->first_bad);
}

static gboolean
read(JobLog *log, const char *path, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return FALSE;
    g_auto(GStrv) lines = g_strsplit(text + input_bom(text, length), "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++)
        if (g_str_has_suffix(lines[i], "\r"))
            lines[i][strlen(lines[i]) - 1] = '\0';
    g_autoptr(GHashTable) row_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Reader reader = {.log = log, .path = path, .row_of = row_of, .made = made};
    gboolean good = read_lines(&reader, lines, error);
    g_free(reader.delimiter);
    if (!good)
        return FALSE;
    log->zero_ms = 0;
    add_notes(&reader);
    job_log_derive_durations(log);
    return TRUE;
}

static gboolean
recognise(const char *head, size_t length)
{
    g_autofree char *line = g_strndup(head, strcspn(head, "\r\n"));
    g_autofree char *delimiter = find_delimiter(line);
    if (delimiter == NULL)
        return FALSE;
    g_auto(GStrv) names = g_strsplit(line, delimiter, -1);
    return g_strv_contains((const char *const *)names, "JobID") && g_strv_contains((const char *const *)names, "State");
}

const JobLogFormat job_log_sacct = {"sacct", "Slurm accounting: sacct --parsable, any delimiter", recognise, read};
