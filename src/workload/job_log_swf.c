/* job_log_swf.c - the Standard Workload Format (18 numbers a job), as the Parallel Workloads Archive has it
 *
 * Field meanings: ../shared/formats/recorded.md, section 5. Files at hand also have a line of column names instead of
 * the header, fields after the 18th, decimals, and submissions counted from 1970. A job's GPUs are not said: its
 * processors are kept. */
#include "base/error.h"
#include "base/input.h"
#include "workload/job_log.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)4 << 30)

enum { SUBMIT = 1, WAIT, RUN, ALLOCATED, REQUESTED = 7, STATUS = 10, USER, QUEUE = 14, FIELDS = 18 };

/* Seconds since 1970 of the year 2000: the log's own epoch is 1970 where its submissions are beyond. */
static const double EPOCH_LIKE_s = 946684800;

/* A line split by blanks in place; the number of fields, at most most. */
static size_t
split(char *line, char **fields, size_t most)
{
    size_t n = 0;
    for (char *at = line; n < most;) {
        at += strspn(at, " \t\r");
        if (*at == '\0')
            break;
        fields[n++] = at;
        at += strcspn(at, " \t\r");
        if (*at != '\0')
            *at++ = '\0';
    }
    return n;
}

static gboolean
number(const char *text, double *value)
{
    char *end;
    *value = g_ascii_strtod(text, &end);
    return end != text && *end == '\0' && fabs(*value) < 1e15;
}

/* "; UnixStartTime: 1027839845" */
static void
read_header(const char *line, int64_t *start_ms)
{
    static const char key[] = "UnixStartTime:";
    const char *at = strstr(line, key);
    double seconds;
    g_autofree char *text = at != NULL ? g_strstrip(g_strdup(at + strlen(key))) : NULL;
    if (text != NULL && number(text, &seconds) && seconds > 0)
        *start_ms = (int64_t)(seconds * 1000);
}

static JobState
state_of(int status)
{
    switch (status) {
    case 0:
        return JOB_STATE_FAILED;
    case 1:
        return JOB_STATE_COMPLETED;
    case 5:
        return JOB_STATE_CANCELLED;
    default:
        return JOB_STATE_UNKNOWN; /* 2 to 4 are parts of a job that was restarted */
    }
}

static void
add_job(JobLog *log, char *const *fields, const double *value)
{
    JobEntry entry = job_entry_default();
    entry.id = job_log_text(log, fields[0]);
    entry.submit_ms = (int64_t)round(value[SUBMIT] * 1000);
    if (value[WAIT] >= 0)
        entry.start_ms = entry.submit_ms + (int64_t)round(value[WAIT] * 1000);
    if (value[RUN] >= 0)
        entry.duration_ms = (int64_t)round(value[RUN] * 1000);
    if (value[RUN] >= 0 && value[WAIT] >= 0)
        entry.end_ms = entry.start_ms + entry.duration_ms;
    double processors = value[ALLOCATED] >= 0 ? value[ALLOCATED] : value[REQUESTED];
    entry.processors = processors >= 0 ? (int64_t)processors : -1;
    entry.state = state_of((int)CLAMP(value[STATUS], -1, 99));
    entry.user = value[USER] >= 0 ? job_log_text(log, fields[USER]) : NULL;
    entry.queue = value[QUEUE] >= 0 ? job_log_text(log, fields[QUEUE]) : NULL;
    g_array_append_val(log->entries, entry);
}

/* One line that is no comment. The first such line may hold the names of the columns. */
static gboolean
read_line(JobLog *log, const char *path, size_t number_of_line, char *line, gboolean *names_seen, GError **error)
{
    char *fields[FIELDS];
    double value[FIELDS];
    size_t n = split(line, fields, FIELDS);
    if (n == 0)
        return TRUE;
    if (log->entries->len == 0 && !*names_seen && !number(fields[0], &value[0])) {
        *names_seen = TRUE;
        return TRUE;
    }
    if (n < FIELDS)
        return error_input(error, "%s:%zu: %zu fields, expected %d", path, number_of_line, n, FIELDS);
    for (size_t i = 0; i < FIELDS; i++)
        if (!number(fields[i], &value[i]))
            return error_input(error, "%s:%zu: field %zu: found \"%s\", expected a number", path, number_of_line, i + 1,
                               fields[i]);
    if (value[SUBMIT] < 0)
        return error_input(error, "%s:%zu: field 2: found %s, expected a submission of at least 0", path,
                           number_of_line, fields[SUBMIT]);
    add_job(log, fields, value);
    return TRUE;
}

static gboolean
read(JobLog *log, const char *path, GError **error)
{
    size_t length, line_number = 0;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return FALSE;
    int64_t start_ms = JOB_LOG_ABSENT;
    gboolean names_seen = FALSE;
    for (char *line = text + input_bom(text, length), *next; line != NULL; line = next) {
        char *feed = strchr(line, '\n');
        next = feed != NULL ? feed + 1 : NULL;
        if (feed != NULL)
            *feed = '\0';
        line_number++;
        if (line[strspn(line, " \t")] == ';')
            read_header(line, &start_ms);
        else if (!read_line(log, path, line_number, line, &names_seen, error))
            return FALSE;
    }
    log->zero_ms = start_ms;
    if (start_ms == JOB_LOG_ABSENT && log->entries->len > 0 &&
        (double)g_array_index(log->entries, JobEntry, 0).submit_ms >= EPOCH_LIKE_s * 1000)
        log->zero_ms = 0;
    return TRUE;
}

/* A first line of ";" and a key, or a first line of at least 18 numbers, or names that begin with id and submit. */
static gboolean
recognise(const char *head, size_t length)
{
    const char *at = head;
    while (*at == ';') {
        if (g_str_has_prefix(at, "; Version:") || g_str_has_prefix(at, ";Version:") ||
            g_str_has_prefix(at, "; UnixStartTime") || g_str_has_prefix(at, "; MaxJobs"))
            return TRUE;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    g_autofree char *line = g_strndup(at, strcspn(at, "\n"));
    char *fields[FIELDS];
    double unused;
    size_t n = split(line, fields, FIELDS);
    if (n < FIELDS)
        return FALSE;
    if (g_ascii_strcasecmp(fields[0], "id") == 0 && g_ascii_strcasecmp(fields[1], "submit") == 0)
        return TRUE;
    for (size_t i = 0; i < FIELDS; i++)
        if (!number(fields[i], &unused))
            return FALSE;
    return TRUE;
}

const JobLogFormat job_log_swf = {"swf", "Standard Workload Format of the Parallel Workloads Archive", recognise, read};
