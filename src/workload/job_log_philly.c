/* job_log_philly.c - cluster_job_log of Microsoft's Philly traces: a JSON array of jobs with their attempts
 *
 * A job's GPUs and servers are those of its last attempt; it starts with the first attempt and ends with the last, and
 * runs for the sum of its attempts: waiting between them is not running. An attempt without an end still runs. */
#include "base/error.h"
#include "base/json.h"
#include "workload/job_log.h"

#include <string.h>

typedef struct {
    JobLog *log;
    JsonReader *json;
    GError **error;
    JobEntry entry;
    uint32_t attempts;
    int64_t running_ms; /* sum over attempts; ABSENT once one has no end */
} Reader;

typedef gboolean (*OnKey)(Reader *reader, const char *key, const JsonToken *value);
typedef gboolean (*OnValue)(Reader *reader, const JsonToken *value);

static gboolean
fail(const Reader *reader, const char *expected)
{
    return json_fail(reader->json, reader->error, "expected %s", expected);
}

/* Each key of the object that has begun. */
static gboolean
each_key(Reader *reader, OnKey on_key)
{
    JsonToken token;
    while (json_next(reader->json, &token, reader->error)) {
        if (token.kind == JSON_OBJECT_END)
            return TRUE;
        g_autofree char *key = g_strdup(token.text);
        if (!json_next(reader->json, &token, reader->error) || !on_key(reader, key, &token))
            return FALSE;
    }
    return FALSE;
}

static gboolean
each_value(Reader *reader, OnValue on_value)
{
    JsonToken token;
    while (json_next(reader->json, &token, reader->error)) {
        if (token.kind == JSON_ARRAY_END)
            return TRUE;
        if (!on_value(reader, &token))
            return FALSE;
    }
    return FALSE;
}

/* An instant, or null. */
static gboolean
read_time(Reader *reader, const char *key, const JsonToken *value, int64_t *ms)
{
    gboolean absolute;
    *ms = JOB_LOG_ABSENT;
    if (value->kind == JSON_NULL)
        return TRUE;
    if (value->kind != JSON_STRING || !job_log_time(value->text, ms, &absolute) || (*ms != JOB_LOG_ABSENT && !absolute))
        return json_fail(reader->json, reader->error, "%s: expected \"YYYY-MM-DD HH:MM:SS\", None or null", key);
    return TRUE;
}

static gboolean
on_gpu(Reader *reader, const JsonToken *value)
{
    if (value->kind != JSON_STRING)
        return fail(reader, "names of GPUs");
    reader->entry.gpus++;
    return TRUE;
}

static gboolean
on_detail_key(Reader *reader, const char *key, const JsonToken *value)
{
    if (strcmp(key, "gpus") != 0)
        return json_skip(reader->json, value, reader->error);
    return value->kind == JSON_ARRAY_BEGIN ? each_value(reader, on_gpu) : fail(reader, "a list of GPUs");
}

static gboolean
on_detail(Reader *reader, const JsonToken *value)
{
    if (value->kind != JSON_OBJECT_BEGIN)
        return fail(reader, "a server with its GPUs");
    reader->entry.nodes++;
    return each_key(reader, on_detail_key);
}

static gboolean
on_attempt_key(Reader *reader, const char *key, const JsonToken *value)
{
    int64_t ms;
    if (strcmp(key, "start_time") == 0) {
        if (!read_time(reader, key, value, &ms))
            return FALSE;
        if (reader->attempts == 1)
            reader->entry.start_ms = ms;
        reader->entry.duration_ms = ms; /* until the attempt is over: its own start */
        return TRUE;
    }
    if (strcmp(key, "end_time") == 0)
        return read_time(reader, key, value, &reader->entry.end_ms);
    if (strcmp(key, "detail") != 0)
        return json_skip(reader->json, value, reader->error);
    reader->entry.gpus = reader->entry.nodes = 0;
    return value->kind == JSON_ARRAY_BEGIN ? each_value(reader, on_detail) : fail(reader, "a list of servers");
}

static gboolean
on_attempt(Reader *reader, const JsonToken *value)
{
    if (value->kind != JSON_OBJECT_BEGIN)
        return fail(reader, "an attempt");
    reader->attempts++;
    reader->entry.end_ms = reader->entry.duration_ms = JOB_LOG_ABSENT;
    if (!each_key(reader, on_attempt_key))
        return FALSE;
    if (reader->entry.duration_ms == JOB_LOG_ABSENT || reader->entry.end_ms == JOB_LOG_ABSENT)
        reader->running_ms = JOB_LOG_ABSENT;
    else if (reader->running_ms != JOB_LOG_ABSENT)
        reader->running_ms += reader->entry.end_ms - reader->entry.duration_ms;
    return TRUE;
}

static gboolean
on_job_key(Reader *reader, const char *key, const JsonToken *value)
{
    const char **text = strcmp(key, "jobid") == 0  ? &reader->entry.id
                        : strcmp(key, "user") == 0 ? &reader->entry.user
                        : strcmp(key, "vc") == 0   ? &reader->entry.queue
                                                   : NULL;
    if (text != NULL && value->kind == JSON_STRING) {
        *text = job_log_text(reader->log, value->text);
        return TRUE;
    }
    if (strcmp(key, "status") == 0 && value->kind == JSON_STRING) {
        reader->entry.state = job_log_state(value->text);
        return TRUE;
    }
    if (strcmp(key, "submitted_time") == 0)
        return read_time(reader, key, value, &reader->entry.submit_ms);
    if (strcmp(key, "attempts") == 0)
        return value->kind == JSON_ARRAY_BEGIN ? each_value(reader, on_attempt) : fail(reader, "a list of attempts");
    return json_skip(reader->json, value, reader->error);
}

static gboolean
on_job(Reader *reader, const JsonToken *value)
{
    if (value->kind != JSON_OBJECT_BEGIN)
        return fail(reader, "a job");
    reader->entry = job_entry_default();
    reader->attempts = 0;
    reader->running_ms = 0;
    if (!each_key(reader, on_job_key))
        return FALSE;
    reader->entry.duration_ms = reader->attempts > 0 ? reader->running_ms : JOB_LOG_ABSENT;
    g_array_append_val(reader->log->entries, reader->entry);
    return TRUE;
}

static gboolean
read(JobLog *log, const char *path, GError **error)
{
    g_autoptr(JsonReader) json = json_open(path, error);
    JsonToken token;
    if (json == NULL || !json_next(json, &token, error))
        return FALSE;
    Reader reader = {.log = log, .json = json, .error = error};
    if (token.kind != JSON_ARRAY_BEGIN)
        return fail(&reader, "a list of jobs");
    if (!each_value(&reader, on_job) || !json_next(json, &token, error))
        return FALSE;
    log->zero_ms = 0;
    return TRUE;
}

static gboolean
recognise(const char *head, size_t length)
{
    return head[strspn(head, " \t\r\n")] == '[' && strstr(head, "\"jobid\"") != NULL &&
           strstr(head, "\"attempts\"") != NULL;
}

const JobLogFormat job_log_philly = {"philly", "cluster_job_log of Microsoft's Philly traces (JSON)", recognise, read};
