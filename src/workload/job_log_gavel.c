/* job_log_gavel.c - job traces of the scheduler Gavel: seven fields a line, parted by tabs
 *
 * Job type, command, argument that sets the steps, needs-data-dir flag, total steps, arrival in seconds, GPUs (scale
 * factor). How long a job runs is for a simulator to say, so it stays absent. */
#include "base/error.h"
#include "base/input.h"
#include "workload/job_log.h"

#include <math.h>
#include <string.h>

#define FILE_LIMIT ((size_t)1 << 30)

enum { TYPE, ARRIVAL = 5, GPUS, FIELDS };

/* The type without its "(batch size 128)" is the model. */
static gboolean
read_line(JobLog *log, const char *path, size_t line_number, const char *line, GError **error)
{
    g_auto(GStrv) fields = g_strsplit(line, "\t", -1);
    guint n = g_strv_length(fields);
    if (n != FIELDS)
        return error_input(error, "%s:%zu: %u fields parted by tabs, expected %d", path, line_number, n, FIELDS);
    JobEntry entry = job_entry_default();
    gboolean absolute;
    if (!job_log_time(fields[ARRIVAL], &entry.submit_ms, &absolute) || absolute || entry.submit_ms < 0)
        return error_input(error, "%s:%zu: arrival: found \"%s\", expected seconds of at least 0", path, line_number,
                           fields[ARRIVAL]);
    char *end;
    entry.gpus = g_ascii_strtod(fields[GPUS], &end);
    if (*end != '\0' || end == fields[GPUS] || !(entry.gpus >= 1 && entry.gpus == floor(entry.gpus)))
        return error_input(error, "%s:%zu: GPUs: found \"%s\", expected a whole number of at least 1", path,
                           line_number, fields[GPUS]);
    g_autofree char *id = g_strdup_printf("%u", log->entries->len), *model = g_strdup(fields[TYPE]);
    char *bracket = strstr(model, " (");
    if (bracket != NULL)
        *bracket = '\0';
    entry.id = job_log_text(log, id);
    entry.model = job_log_text(log, model);
    g_array_append_val(log->entries, entry);
    return TRUE;
}

static gboolean
read(JobLog *log, const char *path, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return FALSE;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++) {
        g_strchomp(lines[i]);
        if (lines[i][0] != '\0' && !read_line(log, path, i + 1, lines[i], error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
recognise(const char *head, size_t length)
{
    g_autofree char *line = g_strndup(head, strcspn(head, "\r\n"));
    g_auto(GStrv) fields = g_strsplit(line, "\t", -1);
    gboolean absolute;
    int64_t ms;
    return g_strv_length(fields) == FIELDS && strstr(fields[TYPE], "batch size") != NULL &&
           job_log_time(fields[ARRIVAL], &ms, &absolute) && !absolute;
}

const JobLogFormat job_log_gavel = {"gavel", "job traces of the scheduler Gavel", recognise, read};
