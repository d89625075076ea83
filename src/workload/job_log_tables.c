/* job_log_tables.c - the published job logs that are CSV files, each a list of its columns, and the program's own
 *
 * Helios and Acme: github.com/S-Lab-System-Group/HeliosData, InternLM/AcmeTrace. openb (2023), DLRM (2025), PAI (2020):
 * alibaba/clusterdata. Tiresias: SymbioticLab/Tiresias. Their figures for durations and GPU times are not trusted where
 * starts and ends are there: job_log.c. */
#include "base/error.h"
#include "workload/job_log_table.h"

#include <math.h>

#include <string.h>

#define TABLE_FORMAT(variable, columns, name, help)                                                                    \
    static gboolean recognise_##variable(const char *head, size_t length)                                              \
    {                                                                                                                  \
        return job_table_recognise(&columns, head, length);                                                            \
    }                                                                                                                  \
    static gboolean read_##variable(JobLog *log, const char *path, GError **error)                                     \
    {                                                                                                                  \
        return job_table_read(log, path, &columns, NULL, error);                                                       \
    }                                                                                                                  \
    const JobLogFormat job_log_##variable = {name, help, recognise_##variable, read_##variable}

static const JobColumns helios = {.id = "job_id",
                                  .user = "user",
                                  .queue = "vc",
                                  .state = "state",
                                  .submit = "submit_time",
                                  .start = "start_time",
                                  .end = "end_time",
                                  .duration = "duration",
                                  .gpus = "gpu_num",
                                  .processors = "cpu_num",
                                  .nodes = "node_num"};
TABLE_FORMAT(helios, helios, "helios", "Helios cluster_log.csv");

static const JobColumns acme = {.id = "job_id",
                                .user = "user",
                                .model = "type",
                                .state = "state",
                                .submit = "submit_time",
                                .start = "start_time",
                                .end = "end_time",
                                .duration = "duration",
                                .gpus = "gpu_num",
                                .processors = "cpu_num",
                                .nodes = "node_num",
                                .also = {"gpu_time"}};
TABLE_FORMAT(acme, acme, "acme", "Acme traces of the clusters Seren and Kalos");

static const JobColumns openb = {.id = "name",
                                 .queue = "qos",
                                 .model = "gpu_spec",
                                 .state = "pod_phase",
                                 .submit = "creation_time",
                                 .start = "scheduled_time",
                                 .end = "deletion_time",
                                 .gpus = "num_gpu",
                                 .gpu_milli = "gpu_milli"};
TABLE_FORMAT(openb, openb, "openb", "Alibaba cluster-trace-gpu-v2023: pods of openb");

static const JobColumns dlrm = {.id = "instance_sn",
                                .queue = "role",
                                .model = "app_name",
                                .submit = "creation_time",
                                .start = "scheduled_time",
                                .end = "deletion_time",
                                .gpus = "gpu_request",
                                .network_Gbps = "rdma_request",
                                .processors = "cpu_request"};
TABLE_FORMAT(dlrm, dlrm, "dlrm-2025", "Alibaba cluster-trace-gpu-v2025: instances of disaggregated DLRM");

static const JobColumns tiresias = {.id = "job_id",
                                    .model = "model_name",
                                    .submit = "submit_time",
                                    .duration = "duration",
                                    .gpus = "num_gpu",
                                    .also = {"iterations", "interval"}};
TABLE_FORMAT(tiresias, tiresias, "tiresias", "Tiresias workloads");

static const JobColumns runtimes = {.duration = "runtime"};

/* Its only column. */
static gboolean
recognise_runtimes(const char *head, size_t length)
{
    return g_str_has_prefix(head, "runtime\n") || g_str_has_prefix(head, "runtime\r\n");
}

static gboolean
read_runtimes(JobLog *log, const char *path, GError **error)
{
    return job_table_read(log, path, &runtimes, NULL, error);
}

const JobLogFormat job_log_runtimes = {"runtimes", "run times alone, one a line (PAI's extract of Philly)",
                                       recognise_runtimes, read_runtimes};

/* The columns of pai_task_table.csv, which has no line of names. A job's tasks become one row: gather(). */
static const JobColumns own = {.id = "id",
                               .user = "user",
                               .queue = "queue",
                               .model = "model",
                               .state = "state",
                               .submit = "submit_s",
                               .start = "start_s",
                               .end = "end_s",
                               .duration = "duration_s",
                               .gpus = "gpus",
                               .gpu_milli = "gpu_milli",
                               .processors = "processors",
                               .nodes = "nodes",
                               .network_Gbps = "network_Gbps",
                               .zero_unix = "zero_unix_s"};
TABLE_FORMAT(own, own, "jobs", "what 'trainshed jobs convert' writes");

static void
put_text(GString *out, const char *text)
{
    if (text == NULL)
        text = "";
    if (strpbrk(text, ",\"\r\n") == NULL) {
        g_string_append(out, text);
    } else {
        g_string_append_c(out, '"');
        for (const char *at = text; *at != '\0'; at++) {
            if (*at == '"')
                g_string_append_c(out, '"');
            g_string_append_c(out, *at);
        }
        g_string_append_c(out, '"');
    }
    g_string_append_c(out, ',');
}

/* Milliseconds as seconds, exactly. */
static void
put_time(GString *out, int64_t ms)
{
    if (ms != JOB_LOG_ABSENT)
        g_string_append_printf(out, "%s%" G_GINT64_FORMAT, ms < 0 ? "-" : "", ABS(ms) / 1000);
    if (ms != JOB_LOG_ABSENT && ms % 1000 != 0)
        g_string_append_printf(out, ".%03d", (int)(ABS(ms) % 1000));
    g_string_append_c(out, ',');
}

/* Below 0: absent. */
static void
put_number(GString *out, double number)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    if (number >= 0)
        g_string_append(out, number == floor(number) && number < 1e15
                                 ? g_ascii_formatd(text, sizeof text, "%.0f", number)
                                 : g_ascii_dtostr(text, sizeof text, number));
    g_string_append_c(out, ',');
}

gboolean
job_log_write(const JobLog *log, const char *path, GError **error)
{
    g_autoptr(GString) out =
        g_string_new("id,user,queue,model,state,submit_s,start_s,end_s,duration_s,gpus,gpu_milli,processors,nodes,"
                     "network_Gbps,zero_unix_s\n");
    for (guint i = 0; i < log->entries->len; i++) {
        const JobEntry *entry = &g_array_index(log->entries, JobEntry, i);
        put_text(out, entry->id);
        put_text(out, entry->user);
        put_text(out, entry->queue);
        put_text(out, entry->model);
        put_text(out, job_state_names[entry->state]);
        put_time(out, entry->submit_ms);
        put_time(out, entry->start_ms);
        put_time(out, entry->end_ms);
        put_time(out, entry->duration_ms);
        put_number(out, entry->gpus);
        put_number(out, entry->gpu_share * 1000);
        put_number(out, (double)entry->processors);
        put_number(out, (double)entry->nodes);
        put_number(out, entry->network_Bps < 0 ? -1 : entry->network_Bps * 8 / 1e9);
        put_time(out, log->zero_ms);
        out->str[out->len - 1] = '\n';
    }
    g_autoptr(GError) wrong = NULL;
    if (g_file_set_contents(path, out->str, (gssize)out->len, &wrong))
        return TRUE;
    return error_input(error, "%s", wrong->message);
}

#define PAI_NAMES "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type"
static const JobColumns pai = {.id = "job_name",
                               .model = "gpu_type",
                               .state = "status",
                               .start = "start_time",
                               .end = "end_time",
                               .gpus = "inst_num",
                               .gpu_percent = "plan_gpu"};

static gboolean
recognise_pai(const char *head, size_t length)
{
    g_autofree char *line = g_strndup(head, strcspn(head, "\r\n"));
    g_auto(GStrv) fields = g_strsplit(line, ",", -1);
    return g_strv_length(fields) == 10 && job_log_state(fields[3]) != JOB_STATE_UNKNOWN;
}

/* The rows of one job, which need not follow each other, as one: all its GPUs, from its first start to its last end. A
 * job with a task that failed has failed. */
static void
gather(JobLog *log)
{
    g_autoptr(GHashTable) row_of = g_hash_table_new(g_str_hash, g_str_equal);
    JobEntry *entries = (JobEntry *)(void *)log->entries->data;
    guint n = 0;
    for (guint i = 0; i < log->entries->len; i++) {
        JobEntry task = entries[i];
        task.duration_ms = JOB_LOG_ABSENT; /* of the whole job: later */
        guint row = task.id != NULL ? GPOINTER_TO_UINT(g_hash_table_lookup(row_of, task.id)) : 0;
        if (row == 0) {
            entries[n++] = task;
            if (task.id != NULL)
                g_hash_table_insert(row_of, (gpointer)task.id, GUINT_TO_POINTER(n));
            continue;
        }
        JobEntry *job = &entries[row - 1];
        job->gpus += task.gpus;
        if (task.start_ms != JOB_LOG_ABSENT)
            job->start_ms = job->start_ms == JOB_LOG_ABSENT ? task.start_ms : MIN(job->start_ms, task.start_ms);
        if (job->end_ms != JOB_LOG_ABSENT) /* a task without an end still runs */
            job->end_ms = task.end_ms == JOB_LOG_ABSENT ? JOB_LOG_ABSENT : MAX(job->end_ms, task.end_ms);
        if (task.state != JOB_STATE_COMPLETED && job->state == JOB_STATE_COMPLETED)
            job->state = task.state;
    }
    g_array_set_size(log->entries, n);
}

static gboolean
read_pai(JobLog *log, const char *path, GError **error)
{
    if (!job_table_read(log, path, &pai, PAI_NAMES, error))
        return FALSE;
    gather(log);
    job_log_derive_durations(log);
    return TRUE;
}

const JobLogFormat job_log_pai = {
    "pai", "Alibaba cluster-trace-gpu-v2020: pai_task_table.csv (written from its description, no sample at hand)",
    recognise_pai, read_pai};
