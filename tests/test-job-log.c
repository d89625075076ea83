/* test-job-log.c - job logs: the published counts of real ones, hand-made ones of each format, windows, round trips */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/job_log.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static JobLog *
read_text(const char *text)
{
    g_autofree char *path = support_save(text);
    GError *error = NULL;
    JobLog *log = job_log_read(path, NULL, &error);
    ck_assert_msg(log != NULL, "%s", error ? error->message : "");
    g_unlink(path);
    return log;
}

static const JobEntry *
job(const JobLog *log, guint i)
{
    ck_assert_uint_lt(i, log->entries->len);
    return &g_array_index(log->entries, JobEntry, i);
}

typedef struct {
    double gpus, demand, processors, processor_s, duration_s;
    guint no_duration, no_submit, no_start, whole_gpu_jobs;
    int64_t last_ms;
} Sums;

static Sums
sum(const JobLog *log)
{
    Sums sums = {0};
    for (guint i = 0; i < log->entries->len; i++) {
        const JobEntry *entry = job(log, i);
        sums.no_duration += entry->duration_ms == JOB_LOG_ABSENT;
        sums.no_submit += entry->submit_ms == JOB_LOG_ABSENT;
        sums.no_start += entry->start_ms == JOB_LOG_ABSENT;
        sums.gpus += MAX(entry->gpus, 0);
        sums.demand += MAX(entry->gpus, 0) * entry->gpu_share;
        sums.processors += (double)MAX(entry->processors, 0);
        if (entry->duration_ms != JOB_LOG_ABSENT) {
            sums.duration_s += (double)entry->duration_ms / 1000;
            sums.processor_s += (double)MAX(entry->processors, 0) * ((double)entry->duration_ms / 1000);
        }
        if (entry->submit_ms != JOB_LOG_ABSENT)
            sums.last_ms = MAX(sums.last_ms, entry->submit_ms);
    }
    return sums;
}

/* The counts of ../shared/data/jobs/README.md; -1 = the log does not say. */
static const struct {
    const char *file, *format;
    guint jobs;
    double gpus, demand, processors, processor_s;
    guint no_duration, no_submit;
    int64_t last_s;
} logs[] = {
    {"swf-hpc2n-cut.swf", "swf", 3170, 0, 0, 63965, 503655194, 25, 0, 4950011},
    {"swf-metacentrum-wagap-first3000.swf.gz", "swf", 3000, 0, 0, 40192, 2539015626, 0, 0, 1359030504 - 1356996147},
    {"swf-fit-dag.swf", "swf", 12, 0, 0, 28, 50400, 0, 0, 0},
    {"openb-pod-list-default.csv.gz", "openb", 8152, 7433, 6086.8, 0, 0, 897, 0, -1},
    {"alibaba-gpu-v2025-dlrm.csv.gz", "dlrm-2025", 23871, 7386, 7386, -1, -1, -1, 7280, -1},
    {"acme-readme-seren.csv", "acme", 2, 16, 16, 256, -1, 0, 0, 336},
    {"acme-readme-kalos.csv", "acme", 2, 128, 128, 1920, -1, 0, 0, 1664},
    {"helios-readme-sample.csv", "helios", 3, 6, 6, 18, -1, 0, 0, 27},
    {"tiresias-60-job.csv", "tiresias", 60, 170, 170, 0, 0, 0, 0, -1},
    {"gavel-philly-vc-0e4a51.trace", "gavel", 1181, -1, -1, 0, 0, 1181, 0, -1},
    {"philly-readme-sample.json", "philly", 1, 8, 8, 0, 0, 0, 0, 0},
    {"pai-philly-runtime.csv.gz", "runtimes", 83154, 0, 0, 0, 0, 0, 83154, 0},
};

START_TEST(real_logs_have_their_published_counts)
{
    g_autofree char *relative = g_strconcat("data/jobs/", logs[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(JobLog) log = job_log_read(path, NULL, &error);
    ck_assert_msg(log != NULL, "%s", error ? error->message : "");
    Sums sums = sum(log);
    ck_assert_str_eq(log->format, logs[_i].format);
    ck_assert_uint_eq(log->entries->len, logs[_i].jobs);
    if (logs[_i].gpus >= 0) {
        ck_assert_double_eq(sums.gpus, logs[_i].gpus);
        ck_assert_double_eq_tol(sums.demand, logs[_i].demand, 1e-6);
    }
    if (logs[_i].processors >= 0)
        ck_assert_double_eq(sums.processors, logs[_i].processors);
    if (logs[_i].processor_s >= 0)
        ck_assert_double_eq(sums.processor_s, logs[_i].processor_s);
    if (logs[_i].no_duration != (guint)-1)
        ck_assert_uint_eq(sums.no_duration, logs[_i].no_duration);
    ck_assert_uint_eq(sums.no_submit, logs[_i].no_submit);
    if (logs[_i].last_s >= 0)
        ck_assert_int_eq(sums.last_ms, logs[_i].last_s * 1000);
}
END_TEST

/* All columns, in their bits; texts by content. */
static void
assert_equal(const JobLog *a, const JobLog *b)
{
    ck_assert_uint_eq(a->entries->len, b->entries->len);
    ck_assert_int_eq(a->zero_ms, b->zero_ms);
    for (guint i = 0; i < a->entries->len; i++) {
        const JobEntry *x = job(a, i), *y = job(b, i);
        ck_assert_msg(g_strcmp0(x->id, y->id) == 0 && g_strcmp0(x->user, y->user) == 0 &&
                          g_strcmp0(x->queue, y->queue) == 0 && g_strcmp0(x->model, y->model) == 0 &&
                          x->state == y->state && x->submit_ms == y->submit_ms && x->start_ms == y->start_ms &&
                          x->end_ms == y->end_ms && x->duration_ms == y->duration_ms && x->gpus == y->gpus &&
                          fabs(x->gpu_share - y->gpu_share) < 1e-12 && x->processors == y->processors &&
                          x->nodes == y->nodes && x->network_Bps == y->network_Bps,
                      "job %u (%s) differs", i, x->id);
    }
}

START_TEST(every_real_log_survives_a_round_trip)
{
    g_autofree char *relative = g_strconcat("data/jobs/", logs[_i].file, NULL);
    NEED_SHARED(path, relative);
    g_autoptr(JobLog) log = job_log_read(path, NULL, NULL);
    ck_assert_ptr_nonnull(log);
    g_autofree char *out = support_save("");
    GError *error = NULL;
    ck_assert(job_log_write(log, out, &error));
    g_autoptr(JobLog) back = job_log_read(out, NULL, &error);
    ck_assert_msg(back != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(back->format, "jobs");
    assert_equal(log, back);
    g_unlink(out);
}
END_TEST

/* jobs, lines of steps, jobs made of steps, lines left out; GPUs of the jobs that have a line. */
static const struct {
    const char *file;
    guint jobs;
    double gpus;
    const char *notes[3];
} accounts[] = {
    {"gcm-sacct-output.txt", 1, 0, {"68 lines of steps", "1 job has no line of its own: made of the steps"}},
    {"gcm-sacct-running-output.txt", 1, 1, {"10 lines of steps", "1 job has no line of its own: made of the steps"}},
    /* 1024 in whole lines, 256 in a line with a break in a comment, 2048 in a step whose job has no line. */
    {"gcm-sacct-one-multiline.txt",
     3,
     1024 + 256 + 2048,
     {"2 lines of steps", "1 job has no line of its own: made of the steps"}},
    {"gcm-sacct-multiple-multiline.txt",
     5,
     1024 + 3 * 256 + 2048,
     {"2 lines of steps", "1 job has no line of its own: made of the steps"}},
    {"gcm-sacct-fake-line-break.txt",
     3,
     1024 + 256 + 2048,
     {"2 lines of steps", "1 job has no line of its own: made of the steps"}},
    {"gcm-sacct-output-with-invalid-lines.txt", 0, 0, {"1 line is left out, not of 109 fields, the first is line 2"}},
    {"gcm-sacct-output-invalid-utf8.txt",
     3,
     137,
     {"9 lines of steps", "1 job has no line of its own: made of the steps",
      "1 job: the duration in the log is not end - start, which is taken"}},
    {"gcm-sacct-output-midnight-edge-case-small.txt", 3, 0, {"8 lines of steps"}},
};

START_TEST(slurm_accounts_with_all_their_traps)
{
    g_autofree char *relative = g_strconcat("data/jobs/", accounts[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(JobLog) log = job_log_read(path, NULL, &error);
    ck_assert_msg(log != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(log->format, "sacct");
    ck_assert_uint_eq(log->entries->len, accounts[_i].jobs);
    ck_assert_double_eq(sum(log).gpus, accounts[_i].gpus);
    guint n = 0;
    for (; n < G_N_ELEMENTS(accounts[_i].notes) && accounts[_i].notes[n] != NULL; n++) {
        ck_assert_uint_lt(n, log->notes->len);
        ck_assert_str_eq(g_ptr_array_index(log->notes, n), accounts[_i].notes[n]);
    }
    ck_assert_uint_eq(log->notes->len, n);
}
END_TEST

START_TEST(sacct_fields)
{
    g_autoptr(JobLog) log =
        read_text("JobID|State|Submit|Start|End|Elapsed|AllocTRES|ReqTRES|NNodes|User|\n"
                  "7|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-02T00:01:00|1-00:00:00|"
                  "cpu=4,gres/gpu=8,gres/gpu:h100=8|gres/gpu=16|2|ann|\n"
                  "7.batch|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:01:00|Unknown|0:10|||1||\n"
                  "8_1|CANCELLED by 5|2024-01-01T00:00:10|Unknown|2024-01-01T00:02:00|00:00:00||"
                  "gres/gpu:a=2,gres/gpu:b=1|4|bob|\n"
                  "9|RUNNING|2024-01-01T00:00:20|2024-01-01T00:00:30|Unknown|01:02.500|cpu=1||1|eve|\n");
    ck_assert_uint_eq(log->entries->len, 3);
    ck_assert_int_eq(log->zero_ms, INT64_C(1704067200000));
    const JobEntry *a = job(log, 0), *b = job(log, 1), *c = job(log, 2);
    ck_assert_double_eq(a->gpus, 8);
    ck_assert_int_eq(a->duration_ms, 86400000);
    ck_assert_int_eq(a->nodes, 2);
    ck_assert_double_eq(b->gpus, 3);
    ck_assert_str_eq(b->id, "8_1");
    ck_assert_int_eq(b->state, JOB_STATE_CANCELLED);
    ck_assert_int_eq(b->submit_ms, 10000);
    ck_assert(b->start_ms == JOB_LOG_ABSENT);
    ck_assert_int_eq(b->end_ms, 120000);
    ck_assert_double_eq(c->gpus, 0);
    ck_assert(c->end_ms == JOB_LOG_ABSENT && c->duration_ms == JOB_LOG_ABSENT);
    ck_assert_int_eq(c->start_ms, 30000);
}
END_TEST

START_TEST(philly_attempts)
{
    g_autoptr(JobLog) log = read_text(
        "[{\"status\":\"Killed\",\"vc\":\"v\",\"jobid\":\"a\",\"attempts\":["
        "{\"start_time\":\"2017-10-07 01:00:10\",\"end_time\":\"2017-10-07 01:00:30\",\"detail\":[{\"ip\":\"m1\","
        "\"gpus\":[\"gpu0\"]}]},"
        "{\"start_time\":\"2017-10-07 01:01:00\",\"end_time\":\"2017-10-07 01:02:00\",\"detail\":[{\"ip\":\"m1\","
        "\"gpus\":[\"gpu0\",\"gpu1\"]},{\"ip\":\"m2\",\"gpus\":[\"gpu7\"]}]}],"
        "\"submitted_time\":\"2017-10-07 01:00:00\",\"user\":\"u\"},"
        "{\"status\":\"Pass\",\"vc\":\"v\",\"jobid\":\"b\",\"attempts\":[],\"submitted_time\":\"2017-10-07 "
        "01:00:05\",\"user\":\"u\"},"
        "{\"status\":\"Failed\",\"vc\":\"v\",\"jobid\":\"c\",\"attempts\":[{\"start_time\":\"2017-10-07 "
        "01:00:20\",\"end_time\":\"None\",\"detail\":[]}],\"submitted_time\":\"2017-10-07 01:00:06\",\"user\":"
        "\"u\"}]");
    ck_assert_uint_eq(log->entries->len, 3);
    const JobEntry *a = job(log, 0), *b = job(log, 1), *c = job(log, 2);
    ck_assert_int_eq(a->start_ms, 10000);
    ck_assert_int_eq(a->end_ms, 120000);
    ck_assert_int_eq(a->duration_ms, 20000 + 60000);
    ck_assert_double_eq(a->gpus, 3);
    ck_assert_int_eq(a->nodes, 2);
    ck_assert(b->start_ms == JOB_LOG_ABSENT && b->duration_ms == JOB_LOG_ABSENT && b->gpus == -1);
    ck_assert_int_eq(b->submit_ms, 5000);
    ck_assert(c->end_ms == JOB_LOG_ABSENT && c->duration_ms == JOB_LOG_ABSENT);
}
END_TEST

/* plan_gpu is percent of a GPU an instance: 2 x 50 % + 3 x 200 % = 7 GPUs, from 5 s to 100 s. */
START_TEST(pai_tasks_become_jobs)
{
    g_autoptr(JobLog) log = read_text("j1,worker,3,Terminated,10.0,100.0,600,29.3,200,V100\n"
                                      "j2,tensorflow,1,Failed,30.0,40.0,600,29.3,,T4\n"
                                      "j1,ps,2,Terminated,5.0,50.0,600,29.3,50,V100\n");
    ck_assert_str_eq(log->format, "pai");
    ck_assert_uint_eq(log->entries->len, 2);
    ck_assert_double_eq(job(log, 0)->gpus, 7);
    ck_assert_int_eq(job(log, 0)->start_ms, 0);
    ck_assert_int_eq(job(log, 0)->end_ms, 95000);
    ck_assert_int_eq(job(log, 0)->duration_ms, 95000);
    ck_assert(job(log, 0)->submit_ms == JOB_LOG_ABSENT);
    ck_assert_double_eq(job(log, 1)->gpus, 0);
    ck_assert_int_eq(job(log, 1)->start_ms, 25000);
}
END_TEST

/* Four jobs at 0, 10, 20, 30 s: [10, 30) holds two, counted from 10 s. */
START_TEST(windows_count_from_their_beginning)
{
    const char *text = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
                       "0,1,100,1,a,5,1\n1,2,110,1,b,5,1\n2,3,120,1,c,5,1\n3,4,130,1,d,5,1\n4,5,,1,e,5,1\n";
    g_autoptr(JobLog) log = read_text(text);
    job_log_cut(log, 10000, 30000);
    ck_assert_uint_eq(log->entries->len, 2);
    ck_assert_str_eq(job(log, 0)->id, "1");
    ck_assert_int_eq(job(log, 0)->submit_ms, 0);
    ck_assert_int_eq(job(log, 1)->submit_ms, 10000);
    ck_assert_str_eq(g_ptr_array_index(log->notes, 0), "1 job without an arrival is left out of the window");

    g_autoptr(JobLog) until = read_text(text);
    job_log_cut(until, JOB_LOG_ABSENT, 10000);
    ck_assert_uint_eq(until->entries->len, 1);

    /* The zero of a window is kept by a round trip although nothing arrives at it. */
    g_autoptr(JobLog) late = read_text(text);
    job_log_cut(late, 5000, JOB_LOG_ABSENT);
    g_autofree char *out = support_save("");
    ck_assert(job_log_write(late, out, NULL));
    g_autoptr(JobLog) back = job_log_read(out, NULL, NULL);
    g_unlink(out);
    assert_equal(late, back);
    ck_assert_int_eq(job(back, 0)->submit_ms, 5000);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "is empty"},
    {"hello\n", "this is no job log of a known format"},
    {"; Version: 2.2\n1 2 3\n", ":2: 3 fields, expected 18"},
    {"; Version: 2.2\n1 -5 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", ":2: field 2: found -5, expected a submission"},
    {"; Version: 2.2\n1 5 0 x 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n", ":2: field 4: found \"x\", expected a number"},
    {"job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,1\n",
     ":2: 3 fields, the first line has 7"},
    {"job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,-1,1,1,a,1,1\n",
     ":2: num_gpu: found \"-1\", expected a number of at least 0"},
    {"job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,soon,1,a,1,1\n",
     ":2: submit_time: found \"soon\", expected a time"},
    {"job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,\"1,1,a,1,1\n", "ends inside a quoted"},
    {"job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n0,1,1,1,a,1,1\n1,1,2020-01-01 "
     "00:00:00,1,a,1,1\n",
     "has 1 times as dates and 1 as seconds"},
    {"JobID|State|Submit\n1|X|yesterday\n", ":2: Submit: found \"yesterday\", expected YYYY-MM-DDTHH:MM:SS or Unknown"},
    {"JobID|State|Elapsed\n1|X|soon\n", ":2: Elapsed: found \"soon\", expected [D-]HH:MM:SS"},
    {"JobID|State\n|X\n", ":2: JobID is empty"},
    {"[{\"jobid\": 1, \"attempts\": {}}]", ":1: expected a list of attempts"},
    {"[{\"jobid\": 1, \"attempts\": [{\"start_time\": \"soon\"}]}]", "start_time: expected \"YYYY-MM-DD HH:MM:SS\""},
    {"A (batch size 1)\tc\t-n\t1\t5\t0.0\tone\n", ":1: GPUs: found \"one\", expected a whole number of at least 1"},
};

START_TEST(what_is_wrong_is_named)
{
    g_autofree char *path = support_save(bad[_i].text);
    GError *error = NULL;
    ck_assert_ptr_null(job_log_read(path, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
    g_unlink(path);
}
END_TEST

START_TEST(an_unknown_format_names_the_nearest)
{
    GError *error = NULL;
    ck_assert_ptr_null(job_log_read("x", "helio", &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "there is no job log format \"helio\"; did you mean \"helios\"");
}
END_TEST

/* What the fuzzer once found: a zero byte where the first name should be. */
START_TEST(found_by_fuzzing)
{
    GError *error = NULL;
    const char *path = support_source("tests/data/job-log-begins-with-zero.csv");
    ck_assert_ptr_null(job_log_read(path, "sacct", &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ":1: no line of field names of sacct --parsable");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("job log");
    TCase *tcase = tcase_create("job log");
    tcase_add_loop_test(tcase, real_logs_have_their_published_counts, 0, G_N_ELEMENTS(logs));
    tcase_add_loop_test(tcase, every_real_log_survives_a_round_trip, 0, G_N_ELEMENTS(logs));
    tcase_add_loop_test(tcase, slurm_accounts_with_all_their_traps, 0, G_N_ELEMENTS(accounts));
    tcase_add_test(tcase, sacct_fields);
    tcase_add_test(tcase, philly_attempts);
    tcase_add_test(tcase, pai_tasks_become_jobs);
    tcase_add_test(tcase, windows_count_from_their_beginning);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, an_unknown_format_names_the_nearest);
    tcase_add_test(tcase, found_by_fuzzing);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
