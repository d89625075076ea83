/* job_log.c - the table of job logs; what all of them share: times made relative, windows, one file to keep */
#include "workload/job_log.h"

#include "base/error.h"
#include "base/input.h"
#include "base/suggest.h"

#include <math.h>
#include <string.h>

enum { HEAD_SIZE = 65536 };

const char *const job_state_names[] = {"unknown", "completed", "failed",  "cancelled",
                                       "timeout", "running",   "pending", NULL};

/* The table: one line a format, in the order in which they are tried. */
/* clang-format off */
static const JobLogFormat *const formats[] = {
    &job_log_own,
    &job_log_swf,
    &job_log_sacct,
    &job_log_philly,
    &job_log_helios,
    &job_log_acme,
    &job_log_openb,
    &job_log_dlrm,
    &job_log_tiresias,
    &job_log_runtimes,
    &job_log_gavel,
    &job_log_pai,
    NULL,
};
/* clang-format on */

const JobLogFormat *const *
job_log_formats(void)
{
    return formats;
}

static const JobLogFormat *
find_format(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(formats)] = {NULL};
    size_t n = 0;
    for (; formats[n] != NULL; n++) {
        names[n] = formats[n]->name;
        if (strcmp(name, names[n]) == 0)
            return formats[n];
    }
    g_autofree char *hint = suggest_hint(name, names, n);
    error_input(error, "there is no job log format \"%s\"%s; 'trainshed jobs formats' lists them", name, hint);
    return NULL;
}

static const JobLogFormat *
recognise(const char *path, GError **error)
{
    g_autoptr(Input) input = input_open(path, error);
    if (input == NULL)
        return NULL;
    g_autofree char *head = g_malloc(HEAD_SIZE + 1);
    size_t length = 0;
    while (length < HEAD_SIZE) {
        gssize n = input_read(input, head + length, HEAD_SIZE - length, error);
        if (n < 0)
            return NULL;
        if (n == 0)
            break;
        length += (size_t)n;
    }
    head[length] = '\0';
    size_t bom = input_bom(head, length);
    for (size_t i = 0; formats[i] != NULL; i++)
        if (formats[i]->recognise(head + bom, length - bom))
            return formats[i];
    error_input(error, "%s: this is no job log of a known format; 'trainshed jobs formats' lists them", path);
    return NULL;
}

JobEntry
job_entry_default(void)
{
    return (JobEntry){.submit_ms = JOB_LOG_ABSENT,
                      .start_ms = JOB_LOG_ABSENT,
                      .end_ms = JOB_LOG_ABSENT,
                      .duration_ms = JOB_LOG_ABSENT,
                      .gpus = -1,
                      .gpu_share = 1,
                      .processors = -1,
                      .nodes = -1,
                      .network_Bps = -1};
}

const char *
job_log_text(JobLog *log, const char *text)
{
    if (text == NULL || *text == '\0')
        return NULL;
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return g_string_chunk_insert_const(log->texts, valid);
}

void
job_log_note(JobLog *log, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_ptr_array_add(log->notes, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

static gboolean
is_absent(const char *text)
{
    static const char *const words[] = {"", "None", "none", "null", "NULL", "Unknown", "N/A", "nan", "NaN"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(text, words[i]) == 0)
            return TRUE;
    return FALSE;
}

gboolean
job_log_time(const char *text, int64_t *ms, gboolean *absolute)
{
    *absolute = FALSE;
    *ms = JOB_LOG_ABSENT;
    if (is_absent(text))
        return TRUE;
    char *end;
    double seconds = g_ascii_strtod(text, &end);
    if (*end == '\0' && end != text) {
        if (!(fabs(seconds) < 1e12))
            return FALSE;
        *ms = (int64_t)round(seconds * 1000);
        return TRUE;
    }
    g_autoptr(GTimeZone) utc = g_time_zone_new_utc();
    g_autoptr(GDateTime) time = g_date_time_new_from_iso8601(text, utc);
    if (time == NULL)
        return FALSE;
    *ms = g_date_time_to_unix(time) * 1000 + g_date_time_get_microsecond(time) / 1000;
    *absolute = TRUE;
    return TRUE;
}

JobState
job_log_state(const char *text)
{
    static const struct {
        const char *word; /* the state's first letters, in any case */
        JobState state;
    } words[] = {
        {"completed", JOB_STATE_COMPLETED},   {"pass", JOB_STATE_COMPLETED},      {"succeeded", JOB_STATE_COMPLETED},
        {"terminated", JOB_STATE_COMPLETED},  {"failed", JOB_STATE_FAILED},       {"node_fail", JOB_STATE_FAILED},
        {"out_of_me", JOB_STATE_FAILED},      {"boot_fail", JOB_STATE_FAILED},    {"cancelled", JOB_STATE_CANCELLED},
        {"killed", JOB_STATE_CANCELLED},      {"preempted", JOB_STATE_CANCELLED}, {"requeued", JOB_STATE_CANCELLED},
        {"interrupted", JOB_STATE_CANCELLED}, {"timeout", JOB_STATE_TIMEOUT},     {"deadline", JOB_STATE_TIMEOUT},
        {"running", JOB_STATE_RUNNING},       {"suspended", JOB_STATE_RUNNING},   {"pending", JOB_STATE_PENDING},
        {"waiting", JOB_STATE_PENDING},
    };
    for (size_t i = 0; text != NULL && i < G_N_ELEMENTS(words); i++)
        if (g_ascii_strncasecmp(text, words[i].word, strlen(words[i].word)) == 0)
            return words[i].state;
    return JOB_STATE_UNKNOWN;
}

int64_t
job_entry_arrival(const JobEntry *entry)
{
    return entry->submit_ms != JOB_LOG_ABSENT ? entry->submit_ms : entry->start_ms;
}

static void
shift(int64_t *ms, int64_t by)
{
    if (*ms != JOB_LOG_ABSENT)
        *ms -= by;
}

static void
shift_all(JobLog *log, int64_t by)
{
    for (guint i = 0; i < log->entries->len; i++) {
        JobEntry *entry = &g_array_index(log->entries, JobEntry, i);
        shift(&entry->submit_ms, by);
        shift(&entry->start_ms, by);
        shift(&entry->end_ms, by);
    }
}

void
job_log_derive_durations(JobLog *log)
{
    guint differ = 0, backwards = 0;
    for (guint i = 0; i < log->entries->len; i++) {
        JobEntry *entry = &g_array_index(log->entries, JobEntry, i);
        int64_t said = entry->duration_ms;
        if (entry->start_ms != JOB_LOG_ABSENT && entry->end_ms != JOB_LOG_ABSENT)
            entry->duration_ms = entry->end_ms - entry->start_ms;
        if (entry->duration_ms != JOB_LOG_ABSENT && entry->duration_ms < 0) {
            backwards++;
            entry->duration_ms = JOB_LOG_ABSENT;
        } else {
            differ += said != JOB_LOG_ABSENT && said != entry->duration_ms;
        }
    }
    if (differ > 0)
        job_log_note(log, "%u job%s: the duration in the log is not end - start, which is taken", differ,
                     differ == 1 ? "" : "s");
    if (backwards > 0)
        job_log_note(log, "%u job%s would end before the start: no duration is taken", backwards,
                     backwards == 1 ? "" : "s");
}

/* Makes the earliest arrival the zero. */
static void
settle_times(JobLog *log)
{
    int64_t least = INT64_MAX;
    for (guint i = 0; i < log->entries->len; i++) {
        int64_t arrival = job_entry_arrival(&g_array_index(log->entries, JobEntry, i));
        if (arrival != JOB_LOG_ABSENT)
            least = MIN(least, arrival);
    }
    if (least == INT64_MAX)
        return;
    shift_all(log, least);
    if (log->zero_ms != JOB_LOG_ABSENT)
        log->zero_ms += least;
}

JobLog *
job_log_read(const char *path, const char *format, GError **error)
{
    const JobLogFormat *reader = format != NULL ? find_format(format, error) : recognise(path, error);
    if (reader == NULL)
        return NULL;
    JobLog *log = g_new0(JobLog, 1);
    log->entries = g_array_new(FALSE, FALSE, sizeof(JobEntry));
    log->texts = g_string_chunk_new(4096);
    log->zero_ms = JOB_LOG_ABSENT;
    log->notes = g_ptr_array_new_with_free_func(g_free);
    log->format = reader->name;
    if (!reader->read(log, path, error)) {
        job_log_free(log);
        return NULL;
    }
    if (reader != &job_log_own) /* its zero may be that of a window */
        settle_times(log);
    return log;
}

void
job_log_free(JobLog *log)
{
    if (log == NULL)
        return;
    g_array_unref(log->entries);
    g_string_chunk_free(log->texts);
    g_ptr_array_unref(log->notes);
    g_free(log);
}

void
job_log_cut(JobLog *log, int64_t from_ms, int64_t to_ms)
{
    if (from_ms == JOB_LOG_ABSENT && to_ms == JOB_LOG_ABSENT)
        return;
    guint kept = 0, unknown = 0;
    JobEntry *entries = (JobEntry *)(void *)log->entries->data;
    for (guint i = 0; i < log->entries->len; i++) {
        int64_t arrival = job_entry_arrival(&entries[i]);
        if (arrival == JOB_LOG_ABSENT)
            unknown++;
        else if (arrival >= from_ms && (to_ms == JOB_LOG_ABSENT || arrival < to_ms))
            entries[kept++] = entries[i];
    }
    g_array_set_size(log->entries, kept);
    if (unknown > 0)
        job_log_note(log, "%u job%s without an arrival %s left out of the window", unknown, unknown == 1 ? "" : "s",
                     unknown == 1 ? "is" : "are");
    if (from_ms == JOB_LOG_ABSENT)
        return;
    shift_all(log, from_ms);
    if (log->zero_ms != JOB_LOG_ABSENT)
        log->zero_ms += from_ms;
}
