/* test-recorder.c - a simulation made by hand, told through the observer; the rows are read back with SQL */
#include "config.h"

#include "base/error.h"
#include "base/random.h"
#include "results/database.h"
#include "results/query.h"
#include "results/schema.h"
#include "support.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder; /* a fresh one for each test */

static void
make_folder(void)
{
    folder = g_dir_make_tmp("trainshed-test-recorder-XXXXXX", NULL);
    ck_assert_ptr_nonnull(folder);
}

static void
remove_folder(void)
{
    GDir *dir = g_dir_open(folder, 0, NULL);
    for (const char *name; dir != NULL && (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_remove(path);
    }
    g_dir_close(dir);
    g_rmdir(folder);
    g_free(folder);
}

static const char *
file(const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_intern_string(path);
}

/* Not by ck_assert: the story is also recorded outside a test. */
static void
no_error(GError *error)
{
    if (error == NULL)
        return;
    fprintf(stderr, "%s\n", error->message);
    abort();
}

/* The rows of a query: cells parted by "|", rows by " / ", null as "-". The caller frees it. */
static char *
rows(const char *path, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    GString *text = g_string_new(NULL);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        g_string_append(text, text->len > 0 ? " / " : "");
        for (int i = 0; i < sqlite3_column_count(statement); i++) {
            const char *cell = (const char *)sqlite3_column_text(statement, i);
            g_string_append_printf(text, "%s%s", i > 0 ? "|" : "", cell != NULL ? cell : "-");
        }
    }
    ck_assert_msg(code == SQLITE_DONE, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return g_string_free(text, FALSE);
}

static void
expect(const char *path, const char *sql, const char *expected)
{
    g_autofree char *found = rows(path, sql);
    ck_assert_msg(strcmp(found, expected) == 0, "%s\n  gave     %s\n  expected %s", sql, found, expected);
}

/* SQL beside the program; makes the file where there is none. */
static void
change_file(const char *path, const char *sql)
{
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Two GPUs in two buildings, a cable of 10 GB/s between them. */
static Fabric *
make_fabric(void)
{
    GError *error = NULL;
    Fabric *fabric = fabric_new();
    Node a = node_default(), b = node_default();
    a.name = "north/A/s/gpu0";
    a.region = b.region = "north";
    a.building = "A";
    a.server = "s";
    a.rail = 3;
    a.gpu = "h100";
    a.peak_FLOPps = 989e12;
    a.memory_B = 85899345920;
    b.name = "north/B/gpu0";
    b.building = "B";
    fabric_add_node(fabric, &a, &error);
    no_error(error);
    fabric_add_node(fabric, &b, &error);
    no_error(error);
    Link link = link_default();
    link.src = 0;
    link.dst = 1;
    link.kind = LINK_INTERBUILDING;
    link.capacity_Bps = 10e9;
    link.latency_ps = 10000000;
    link.length_km = 2;
    link.source = "file";
    fabric_add_cable(fabric, &link, &error);
    no_error(error);
    fabric_seal(fabric, &error);
    no_error(error);
    return fabric;
}

static ResultsDb *
open_db(const char *path)
{
    GError *error = NULL;
    ResultsDb *db = results_open(path, &error);
    no_error(error);
    return db;
}

static void
close_db(ResultsDb *db)
{
    GError *error = NULL;
    results_close(db, &error);
    no_error(error);
}

static Recorder *
begin_run(ResultsDb *db, const char *role, int64_t parent, gboolean alpha, gboolean beta, ResultsLevel level)
{
    GError *error = NULL;
    g_autoptr(Fabric) fabric = make_fabric();
    RunInfo run = {"two", role, parent, "name: two\n", UINT64_MAX, "0.1.0", "fluid"};
    JobInfo jobs[] = {{"alpha", 2, 4, 0, 1, 64, 0.5, alpha}, {"beta", 1, 0, 10, 0, 1, 1, beta}};
    Recorder *recorder = recorder_begin(db, &run, fabric, jobs, 2, level, &error);
    no_error(error);
    return recorder;
}

static void
end_run(Recorder *recorder, SimTime sim_ps)
{
    GError *error = NULL;
    recorder_end(recorder, "done", sim_ps, 1234, 0.5, &error);
    no_error(error);
}

/* Four iterations of alpha: a warm-up of first_ps, then three of steady_ps. */
static void
tell_alpha(const ClusterObserver *observer, SimTime first_ps, SimTime steady_ps)
{
    static const uint32_t nodes[] = {0, 1};
    observer->job_started(observer->owner, 0, 0, nodes, 2);
    SimTime at = 0;
    for (uint32_t i = 0; i < 4; i++) {
        SimTime length = i == 0 ? first_ps : steady_ps;
        IterationRecord iteration = {0, i, at, at + length, length / 2, length / 8, length / 4, length / 8, i > 0};
        observer->iteration(observer->owner, &iteration);
        at += length;
    }
    observer->job_ended(observer->owner, 0, at, 4, "done");
}

/* Two iterations of beta with a gap between them, the first counted too: it has no warm-up. */
static void
tell_beta(const ClusterObserver *observer)
{
    static const uint32_t nodes[] = {1};
    observer->job_started(observer->owner, 1, 30, nodes, 1);
    observer->iteration(observer->owner, &(IterationRecord){1, 0, 30, 130, 100, 0, 0, 0, TRUE});
    observer->iteration(observer->owner, &(IterationRecord){1, 1, 140, 260, 60, 0, 60, 0, TRUE});
    observer->job_ended(observer->owner, 1, 260, 2, "done");
}

static void
tell_network(const ClusterObserver *observer)
{
    const NetworkObserver *network = &observer->network;
    network->link_usage(network->owner, 0, 0, 0, 200, 1, 150);
    network->link_usage(network->owner, 0, 1, 0, 200, 1, 100);
    network->link_usage(network->owner, 0, 0, 200, 200, 2, 200);
    network->link_usage(network->owner, 1, 0, 200, 200, 1, 50);
    network->packet_link(network->owner, 1, &(PacketLinkCounts){1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    network->loss(network->owner, &(Loss){0, 1, 0, 1, 0, LOSS_CONTENTION, 10.4, 1});
    network->loss(network->owner, &(Loss){0, 1, 0, 2, 200, LOSS_CONTENTION, 10.4, 1});
    network->loss(network->owner, &(Loss){0, 0, 0, 2, 200, LOSS_COLLISION, 3.5, 1});
    network->loss(network->owner, &(Loss){1, INDEX_NONE, INDEX_NONE, 0, 0, LOSS_INDIRECT, 7, 0});
    network->transfer(network->owner, &(TransferRecord){0, 0, 1, 0, 2, 1, 0, 1, 5, 9, 12});
    network->transfer(network->owner, &(TransferRecord){0, 0, 0, 1, 0, 0, 1, 2, 0, 8, 11});
    network->transfer(network->owner, &(TransferRecord){0, INDEX_NONE, 0, 1, 0, 0, 1, 1, 20, 28, 31});
}

static void
tell_all(const ClusterObserver *observer)
{
    tell_alpha(observer, 100, 80);
    tell_beta(observer);
    tell_network(observer);
    observer->collective(observer->owner, &(CollectiveRecord){0, 1, "dp", "comm", 0, COLLECTIVE_ALL_REDUCE, "ring", 2,
                                                              4096, 110, 120, 150, 24});
    observer->collective(observer->owner, &(CollectiveRecord){0, 1, "dp", "comm", 1, COLLECTIVE_BARRIER, "ring", 2, 0,
                                                              150, 150, 152, -1});
    observer->event(observer->owner, 7, "warning", "link 0", "it's \"full\"");
}

/* The whole story: a shared run, alpha alone; beta has no baseline. */
static void
record_story(const char *path, ResultsLevel level)
{
    ResultsDb *db = open_db(path);
    Recorder *shared = begin_run(db, "shared", -1, TRUE, TRUE, level);
    int64_t id = recorder_run_id(shared);
    tell_all(recorder_observer(shared));
    end_run(shared, 400);
    Recorder *alone = begin_run(db, "alone", id, TRUE, FALSE, level);
    tell_alpha(recorder_observer(alone), 90, 60);
    end_run(alone, 270);
    close_db(db);
}

START_TEST(every_table_has_its_rows)
{
    const char *db = file("a.db");
    record_story(db, RESULTS_FLOWS);
    expect(db,
           "SELECT id, name, role, parent_run_id, scenario, seed, version, model, status, wall_s, sim_ps, events, "
           "level, transfers, bytes FROM run",
           "1|two|shared|-|name: two\n|-1|0.1.0|fluid|done|0.5|400|1234|flows|3|4 / "
           "2|two|alone|1|name: two\n|-1|0.1.0|fluid|done|0.5|270|1234|flows|0|0");
    /* printf 'name: two\n' | sha256sum */
    expect(db, "SELECT DISTINCT scenario_sha256 FROM run",
           "97e543e2c7366c49d2a2e7406359431fedffe1e410a87ebf1c4cfdc199f7add2");
    expect(db,
           "SELECT count(*) FROM run WHERE started_utc GLOB "
           "'20[0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z'",
           "2");
    expect(db, "SELECT * FROM node WHERE run_id = 1",
           "1|0|north/A/s/gpu0|gpu|A|north|-|-|s|3|h100|989000000000000.0|-|85899345920 / "
           "1|1|north/B/gpu0|gpu|B|north|-|-|-|-|-|-|-|-");
    expect(db, "SELECT * FROM link WHERE run_id = 2",
           "2|0|0|1|interbuilding|10000000000.0|10000000|A|B|file|2.0|-|0.0|-|-|- / "
           "2|1|1|0|interbuilding|10000000000.0|10000000|B|A|file|2.0|-|0.0|-|-|-");
    expect(db,
           "SELECT run_id, id, name, gpus, iterations, arrival_ps, start_ps, end_ps, status, iterations_asked, warmup, "
           "scale_bytes, compute_scale FROM job",
           "1|0|alpha|2|4|0|0|340|done|4|1|64.0|0.5 / 1|1|beta|1|2|10|30|260|done|-|0|1.0|1.0 / "
           "2|0|alpha|2|4|0|0|270|done|4|1|64.0|0.5");
    expect(db, "SELECT * FROM placement", "1|0|0|0 / 1|0|1|1 / 1|1|0|1 / 2|0|0|0 / 2|0|1|1");
    expect(db, "SELECT * FROM iteration WHERE run_id = 1",
           "1|0|0|1|0|100|50|12|25|12|100|0 / 1|0|1|3|100|180|40|10|20|10|80|1 / 1|1|0|1|30|130|100|0|0|0|100|1 / "
           "1|1|1|1|140|260|60|0|60|0|120|1");
    expect(
        db, "SELECT * FROM collective",
        "1|0|0|1|dp|comm|0|all_reduce|ring|2|4096|110|120|150|24 / 1|1|0|1|dp|comm|1|barrier|ring|2|0|150|150|152|-");
    expect(db, "SELECT * FROM link_usage ORDER BY 2, 3, 4",
           "1|0|0|0|200|1|150 / 1|0|0|200|200|2|200 / 1|0|1|0|200|1|100 / 1|1|0|200|200|1|50");
    /* 10.4 is rounded to 10, 3.5 to 4. */
    expect(db, "SELECT * FROM contention ORDER BY rowid",
           "1|0|1|0|1|0|contention|10|1 / 1|0|1|0|2|200|contention|10|1 / 1|0|0|0|2|200|collision|4|1 / "
           "1|1|-|-|0|0|indirect|7|0");
    expect(db, "SELECT * FROM rank_traffic", "1|0|0|1|3|2 / 1|0|1|0|1|1");
    expect(db, "SELECT * FROM packet_link", "1|1|1|2|3|4|5|6|7|8|9|10|11|12");
    expect(db, "SELECT * FROM flow",
           "1|0|0|0|1|0|2|1|0|1|5|9|12 / 1|1|0|0|0|1|0|0|1|2|0|8|11 / 1|2|0|-|0|1|0|0|1|1|20|28|31");
    expect(db, "SELECT * FROM event", "1|7|warning|link 0|it's \"full\"");
    expect(db, "SELECT count(*) FROM attribution", "0");
    expect(db, "PRAGMA foreign_key_check", "");
    expect(db, "PRAGMA integrity_check", "ok");
}
END_TEST

START_TEST(views_answer_the_common_questions)
{
    const char *db = file("a.db");
    record_story(db, RESULTS_FLOWS);
    /* alpha: (340 - 100) / 3 = 80 beside (270 - 90) / 3 = 60. beta: no warm-up, so from its start: (260 - 30) / 2 =
     * 115. */
    expect(db,
           "SELECT run_id, job_id, job, counted, queue_ps, alone_run_id, alone_ps, shared_ps, slowdown = 80.0 / 60 "
           "FROM v_job",
           "1|0|alpha|3|0|2|60.0|80.0|1 / 1|1|beta|2|20|-|-|115.0|-");
    /* alpha: 40, 10, 20, 10 of 80; beta: 160, 0, 60, 0 of 220. */
    expect(db,
           "SELECT compute_share, exposed_wait_share, exposed_transfer_share, idle_share, exposed_comm_ps FROM v_job "
           "WHERE job = 'alpha'",
           "0.5|0.125|0.25|0.125|30.0");
    expect(db,
           "SELECT compute_share = 160 / 220.0, exposed_wait_share, exposed_transfer_share = 60 / 220.0, idle_share "
           "FROM v_job WHERE job = 'beta'",
           "1|0.0|1|0.0");
    expect(db,
           "SELECT idx, start_ps, end_ps, iteration_ps, exposed_comm_ps, counted FROM v_iteration WHERE run_id = 1 AND "
           "job = 'alpha' ORDER BY idx",
           "0|0|100|100|37|0 / 1|100|180|80|30|1 / 2|180|260|80|30|1 / 3|260|340|80|30|1");
    /* 4 bytes over 400 ps at 10 GB/s (0.01 B/ps): 1 ps would carry 0.01 B, so 4 / 4 = 1; both buckets carry 2 of 2
     * bytes. */
    expect(db,
           "SELECT link_id, src, dst, kind, bytes, utilisation, busiest_utilisation, n_jobs, jobs, lost_transfer_ps "
           "FROM v_hot_link WHERE run_id = 1",
           "0|north/A/s/gpu0|north/B/gpu0|interbuilding|4|1.0|1.0|2|alpha beta|24 / "
           "1|north/B/gpu0|north/A/s/gpu0|interbuilding|1|0.25|0.5|1|alpha|0");
    expect(db,
           "SELECT victim, culprit, link_id, src, dst, contention_ps, collision_ps, fault_ps, indirect_ps, "
           "lost_transfer_ps, bytes "
           "FROM v_contention ORDER BY victim_job_id, culprit_job_id",
           "alpha|alpha|0|north/A/s/gpu0|north/B/gpu0|0|4|0|0|4|1 / "
           "alpha|beta|0|north/A/s/gpu0|north/B/gpu0|20|0|0|0|20|2 / "
           "beta|-|-|-|-|0|0|0|7|7|0");
    expect(db, "SELECT job, src_rank, dst_rank, src, dst, bytes, transfers FROM v_rank_traffic",
           "alpha|0|1|north/A/s/gpu0|north/B/gpu0|3|2 / alpha|1|0|north/B/gpu0|north/A/s/gpu0|1|1");
}
END_TEST

static char *
summary(const char *path, int64_t run_id, GError **error)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    gboolean done = results_print_summary(path, run_id, out, error);
    fclose(out); /* which sets text */
    if (!done) {
        ck_assert_uint_eq(length, 0);
        g_clear_pointer(&text, free);
    }
    return text;
}

START_TEST(the_closing_table_says_it_in_words)
{
    static const char *const expected =
        "job    GPUs  iteration alone  iteration shared  slowdown  exposed wait %  exposed transfer %  compute %  idle "
        "%\n"
        "-----  ----  ---------------  ----------------  --------  --------------  ------------------  ---------  "
        "------\n"
        "alpha     2            60 ps             80 ps    1.333x            12.5                25.0       50.0    "
        "12.5\n"
        "beta      1                -            115 ps         -             0.0                27.3       72.7     "
        "0.0\n"
        "\n"
        "The worst links\n"
        "link                            capacity  mean use %  busiest bucket %  lost transfer time  jobs\n"
        "------------------------------  --------  ----------  ----------------  ------------------  ----------\n"
        "north/A/s/gpu0 -> north/B/gpu0   80 Gb/s       100.0             100.0               24 ps  alpha beta\n"
        "north/B/gpu0 -> north/A/s/gpu0   80 Gb/s        25.0              50.0                0 ps  alpha\n"
        "\n"
        "Who cost whom\n"
        "victim  culprit  kind        lost transfer time\n"
        "------  -------  ----------  ------------------\n"
        "alpha   beta     contention               20 ps\n"
        "beta    -        indirect                  7 ps\n"
        "alpha   alpha    collision                 4 ps\n"
        "\n"
        "Moved 4 B in 3 transfers, 400 ps simulated, 1234 events. Run 1 is done.\n"
        "warning: link 0: it's \"full\"\n";
    record_story(file("a.db"), RESULTS_FLOWS);
    GError *error = NULL;
    char *text = summary(file("a.db"), 1, &error);
    no_error(error);
    ck_assert_str_eq(text, expected);
    free(text);
    text = summary(file("a.db"), 3, &error);
    ck_assert_ptr_null(text);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "a.db: holds no run 3");
}
END_TEST

/* Iterations before and after the counted ones, as `measure: common` leaves them. */
START_TEST(the_mean_starts_where_the_last_uncounted_one_ended)
{
    const char *path = file("a.db");
    ResultsDb *db = open_db(path);
    Recorder *recorder = begin_run(db, "shared", -1, TRUE, TRUE, RESULTS_ITERATIONS);
    const ClusterObserver *observer = recorder_observer(recorder);
    static const uint32_t nodes[] = {0, 1};
    static const gboolean counted[] = {FALSE, FALSE, TRUE, TRUE, FALSE};
    observer->job_started(observer->owner, 0, 5, nodes, 2);
    for (uint32_t i = 0; i < 5; i++) /* with a gap of 3 before each */
        observer->iteration(observer->owner, &(IterationRecord){0, i, 8 + 10 * i, 15 + 10 * i, 7, 0, 0, 0, counted[i]});
    observer->job_ended(observer->owner, 0, 55, 5, "done");
    end_run(recorder, 55);
    close_db(db);
    expect(path, "SELECT counted, counted_from_ps, counted_to_ps, compute_ps FROM job WHERE id = 0", "2|25|45|14");
    expect(path, "SELECT shared_ps, compute_share FROM v_job WHERE job_id = 0", "10.0|1.0");
    /* beta never started: no figures, and no division by nothing. */
    expect(path,
           "SELECT status, start_ps, end_ps, counted, shared_ps, slowdown, compute_share, queue_ps FROM v_job WHERE "
           "job_id = 1",
           "waiting|-|-|0|-|-|-|-");
}
END_TEST

START_TEST(a_baseline_that_failed_is_not_one)
{
    const char *path = file("a.db");
    ResultsDb *db = open_db(path);
    Recorder *shared = begin_run(db, "shared", -1, TRUE, FALSE, RESULTS_SUMMARY);
    tell_alpha(recorder_observer(shared), 100, 80);
    end_run(shared, 340);
    Recorder *alone = begin_run(db, "alone", 1, TRUE, FALSE, RESULTS_SUMMARY);
    tell_alpha(recorder_observer(alone), 90, 60);
    GError *error = NULL;
    recorder_end(alone, "failed", 270, 1, 0, &error);
    no_error(error);
    close_db(db);
    expect(path, "SELECT shared_ps, alone_ps, slowdown FROM v_job", "80.0|-|-");
    expect(path, "SELECT status FROM run", "done / failed");
}
END_TEST

/* Iterations drawn from few lengths, so that many are equal, end to end or (odd seeds) overlapping: the expansion gives
 * back each one told. */
START_TEST(merged_iterations_expand_to_what_was_told)
{
    const char *path = file("a.db");
    Random dice = random_named((uint64_t)_i, "iterations");
    ResultsDb *db = open_db(path);
    Recorder *recorder = begin_run(db, "shared", -1, TRUE, TRUE, RESULTS_ITERATIONS);
    const ClusterObserver *observer = recorder_observer(recorder);
    static const uint32_t nodes[] = {0, 1};
    for (uint32_t job = 0; job < 2; job++)
        observer->job_started(observer->owner, job, 0, nodes, 2);
    GString *told[2] = {g_string_new(NULL), g_string_new(NULL)};
    SimTime at[2] = {2, 2};
    for (uint32_t i = 0; i < 200; i++)
        for (uint32_t job = 0; job < 2; job++) {
            SimTime gap = (_i % 2 == 0 ? 0 : -2) + (random_below(&dice, 10) == 0 ? 1 : 0),
                    length = 8 + (random_below(&dice, 8) == 0 ? 8 : 0);
            SimTime wait = random_below(&dice, 12) == 0 ? 1 : 0;
            IterationRecord record = {job, i, at[job] + gap, at[job] + gap + length, length - wait, wait, 0, 0, i > 3};
            observer->iteration(observer->owner, &record);
            at[job] = record.end_ps;
            if (random_below(&dice, 50) == 0)
                recorder_flush(recorder); /* an open row is written, and grows on */
            g_string_append_printf(
                told[job],
                "%s%u|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT "|%" G_GINT64_FORMAT "|%d",
                i > 0 ? " / " : "", i, record.start_ps, record.end_ps, record.compute_ps, wait, i > 3);
        }
    end_run(recorder, MAX(at[0], at[1]));
    close_db(db);
    for (int job = 0; job < 2; job++) {
        g_autofree char *sql = g_strdup_printf("SELECT idx, start_ps, end_ps, compute_ps, exposed_wait_ps, counted "
                                               "FROM v_iteration WHERE job_id = %d ORDER BY idx",
                                               job);
        expect(path, sql, told[job]->str);
        g_string_free(told[job], TRUE);
    }
    g_autofree char *n = rows(path, "SELECT count(*) < 300 AND sum(count) = 400 FROM iteration");
    ck_assert_msg(strcmp(n, "1") == 0, "seed %d: nothing was merged", _i);
}
END_TEST

START_TEST(levels_keep_what_they_say)
{
    static const struct {
        ResultsLevel level;
        const char *counts; /* rows of iteration, collective, link_usage, contention, rank_traffic, flow */
    } cases[] = {{RESULTS_SUMMARY, "0|0|3|3|0|0"},
                 {RESULTS_ITERATIONS, "6|0|3|3|0|0"},
                 {RESULTS_COLLECTIVES, "6|2|4|4|2|0"},
                 {RESULTS_FLOWS, "6|2|4|4|2|3"}};
    const char *db = file("a.db");
    record_story(db, cases[_i].level);
    expect(db,
           "SELECT (SELECT count(*) FROM iteration), (SELECT count(*) FROM collective), (SELECT count(*) FROM "
           "link_usage), "
           "(SELECT count(*) FROM contention), (SELECT count(*) FROM rank_traffic), (SELECT count(*) FROM flow)",
           cases[_i].counts);
    /* What every level must answer alike: the jobs' figures, bytes by link and job, who cost whom. */
    expect(db, "SELECT job, alone_ps, shared_ps, compute_share > 0.49 FROM v_job",
           "alpha|60.0|80.0|1 / beta|-|115.0|1");
    expect(db, "SELECT link_id, job_id, sum(bytes), sum(busy_ps) FROM link_usage GROUP BY 1, 2 ORDER BY 1, 2",
           "0|0|3|350 / 0|1|1|100 / 1|0|1|50");
    expect(db, "SELECT link_id, utilisation FROM v_hot_link WHERE run_id = 1", "0|1.0 / 1|0.25");
    expect(db, "SELECT transfers, bytes FROM run WHERE id = 1", "3|4");
    /* Folded, 10.4 + 10.4 is rounded once. */
    expect(db, "SELECT victim, culprit, lost_transfer_ps FROM v_contention ORDER BY victim_job_id, culprit_job_id",
           cases[_i].level < RESULTS_COLLECTIVES ? "alpha|alpha|4 / alpha|beta|21 / beta|-|7"
                                                 : "alpha|alpha|4 / alpha|beta|20 / beta|-|7");
}
END_TEST

/* Every table but what is of the clock on the wall. */
static char *
dump(const char *path)
{
    static const char *const queries[] = {"SELECT id, name, role, parent_run_id, scenario, scenario_sha256, seed, "
                                          "version, model, status, sim_ps, events, level, transfers, bytes FROM run",
                                          "SELECT * FROM node",
                                          "SELECT * FROM link",
                                          "SELECT * FROM job",
                                          "SELECT * FROM placement",
                                          "SELECT * FROM iteration",
                                          "SELECT * FROM collective",
                                          "SELECT * FROM link_usage ORDER BY rowid",
                                          "SELECT * FROM contention ORDER BY rowid",
                                          "SELECT * FROM rank_traffic",
                                          "SELECT * FROM flow",
                                          "SELECT * FROM event ORDER BY rowid",
                                          "SELECT type, name, sql FROM sqlite_schema ORDER BY name"};
    GString *all = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(queries); i++) {
        g_autofree char *part = rows(path, queries[i]);
        g_string_append_printf(all, "%s\n", part);
    }
    return g_string_free(all, FALSE);
}

START_TEST(two_recordings_are_equal)
{
    record_story(file("a.db"), RESULTS_FLOWS);
    record_story(file("b.db"), RESULTS_FLOWS);
    g_autofree char *a = dump(file("a.db")), *b = dump(file("b.db"));
    ck_assert_str_eq(a, b);
}
END_TEST

START_TEST(a_killed_process_leaves_a_valid_file_that_says_running)
{
    const char *path = file("a.db");
    pid_t child = fork();
    if (child == 0) {
        Recorder *recorder = begin_run(open_db(path), "shared", -1, TRUE, TRUE, RESULTS_FLOWS);
        const ClusterObserver *observer = recorder_observer(recorder);
        tell_alpha(observer, 100, 80);
        recorder_flush(recorder);
        for (int i = 0; i < 100; i++) /* not committed */
            observer->event(observer->owner, i, "note", "", "lost");
        kill(getpid(), SIGKILL);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    expect(path, "PRAGMA integrity_check", "ok");
    expect(path, "SELECT id, status, wall_s, sim_ps, events FROM run", "1|running|-|-|-");
    expect(path, "SELECT count(*) FROM node", "2");
    expect(path, "SELECT idx, count FROM iteration", "0|1 / 1|3");
    expect(path, "SELECT count(*) FROM event", "0");

    /* The next run goes beside it. As of a larger one the indexes are gone. */
    change_file(path, schema_drop_index_sql);
    record_story(path, RESULTS_SUMMARY);
    expect(path, "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL", "5");
    expect(path, "SELECT id, role, status FROM run", "1|shared|running / 2|shared|done / 3|alone|done");
    expect(path, "SELECT run_id, job, slowdown > 1.3 FROM v_job WHERE slowdown IS NOT NULL", "2|alpha|1");
}
END_TEST

START_TEST(a_row_that_refers_to_nothing_fails_the_run)
{
    const char *path = file("a.db");
    ResultsDb *db = open_db(path);
    Recorder *first = begin_run(db, "shared", -1, TRUE, TRUE, RESULTS_FLOWS);
    tell_all(recorder_observer(first));
    end_run(first, 400);

    Recorder *recorder = begin_run(db, "shared", -1, TRUE, FALSE, RESULTS_FLOWS);
    const ClusterObserver *observer = recorder_observer(recorder);
    GError *error = NULL;
    if (_i == 0)
        observer->job_started(observer->owner, 0, 0, (const uint32_t[]){0, 7}, 2);
    else if (_i == 1)
        observer->network.link_usage(observer->network.owner, 2, 0, 0, 1, 1, 1);
    else if (_i == 2)
        observer->network.transfer(observer->network.owner, &(TransferRecord){0, 0, 0, 1, 0, 0, 2, 1, 0, 1, 2});
    else if (_i == 3)
        observer->iteration(observer->owner, &(IterationRecord){1, 0, 0, 1, 0, 0, 0, 0, TRUE});
    else
        observer->network.loss(observer->network.owner,
                               &(Loss){0, 1, 0, 0, 0, LOSS_CONTENTION, 1, 1}); /* beta is not in this run */
    ck_assert(!recorder_end(recorder, "done", 1, 1, 0, &error));
    static const char *const messages[] = {
        "a.db: table placement: a row with run_id 2, node_id 7 refers to no row of table node",
        "a.db: table link_usage: a row with run_id 2, link_id 2 refers to no row of table link",
        "a.db: table flow: a row with run_id 2, dst 2 refers to no row of table node",
        "a.db: table iteration: a row with run_id 2, job_id 1 refers to no row of table job",
        "a.db: table contention: a row with run_id 2, culprit_job_id 1 refers to no row of table job"};
    support_expect_error(&error, TRAINSHED_ERROR_RUN, messages[_i]);

    Recorder *orphan = begin_run(db, "alone", 99, TRUE, FALSE, RESULTS_FLOWS);
    ck_assert(!recorder_end(orphan, "done", 1, 1, 0, &error));
    support_expect_error(&error, TRAINSHED_ERROR_RUN,
                         "a.db: table run: a row with parent_run_id 99 refers to no row of table run");
    close_db(db);
    expect(path, "SELECT id, status FROM run", "1|done / 2|failed / 3|failed");
}
END_TEST

START_TEST(what_does_not_fit_fails_the_run)
{
    static const char *const messages[] = {
        "a.db: table link_usage: a number of 2^63 or more does not fit into the database",
        "a.db: table link_usage: link 0, job 0: the bucket at 0 ps of 10 ps comes after one that ended at 10 ps",
        "a.db: table link_usage: link 0, job 0: the bucket at 5 ps of 0 ps comes after one that ended at 0 ps",
        "a.db: table rank_traffic: a number of 2^63 or more does not fit into the database",
        "a.db: table run: the bytes moved are 2^63 or more, which does not fit into the database",
    };
    const char *path = file("a.db");
    ResultsDb *db = open_db(path);
    Recorder *recorder = begin_run(db, "shared", -1, TRUE, TRUE, _i == 4 ? RESULTS_SUMMARY : RESULTS_COLLECTIVES);
    const NetworkObserver *network = &recorder_observer(recorder)->network;
    if (_i == 0)
        network->link_usage(network->owner, 0, 0, 0, 10, UINT64_C(1) << 63, 1);
    else if (_i == 1)
        for (int twice = 0; twice < 2; twice++)
            network->link_usage(network->owner, 0, 0, 0, 10, 1, 1);
    else if (_i == 2)
        network->link_usage(network->owner, 0, 0, 5, 0, 1, 1);
    else
        network->transfer(network->owner, &(TransferRecord){.bytes = UINT64_C(1) << 63});
    GError *error = NULL;
    ck_assert(!recorder_end(recorder, "done", 1, 1, 0, &error));
    support_expect_error(&error, TRAINSHED_ERROR_RUN, messages[_i]);
    close_db(db);
    expect(path, "SELECT status FROM run", "failed");
}
END_TEST

START_TEST(a_full_disk_is_told)
{
    const char *path = file("a.db");
    ResultsDb *db = open_db(path);
    Recorder *recorder = begin_run(db, "shared", -1, TRUE, TRUE, RESULTS_COLLECTIVES);
    GError *error = NULL;
    ck_assert(database_exec(db, "PRAGMA max_page_count = 60", &error));
    const NetworkObserver *network = &recorder_observer(recorder)->network;
    for (int i = 0; i < 50000; i++)
        network->link_usage(network->owner, 0, 0, i, 1, 1, 1);
    ck_assert(!recorder_end(recorder, "done", 50000, 1, 0, &error));
    support_expect_error(&error, TRAINSHED_ERROR_RUN, "a.db: cannot be written: database or disk is full");
    results_free(db);
    expect(path, "PRAGMA integrity_check", "ok");
    expect(path, "SELECT status = 'done' FROM run", "0");
}
END_TEST

START_TEST(rows_commit_by_number_and_by_time)
{
    const char *path = file("a.db");
    ResultsDb *db = open_db(path);
    Recorder *recorder = begin_run(db, "shared", -1, TRUE, TRUE, RESULTS_COLLECTIVES);
    const ClusterObserver *observer = recorder_observer(recorder);
    const NetworkObserver *network = &observer->network;
    for (int i = 0; i < 200000; i++)
        network->link_usage(network->owner, 0, 0, i, 1, 1, 1);
    expect(path, "SELECT count(*) FROM link_usage", "200000");
    observer->event(observer->owner, 1, "note", "", "waits");
    expect(path, "SELECT count(*) FROM event", "0");
    g_usleep(1010000);
    recorder_tick(recorder);
    expect(path, "SELECT count(*) FROM event", "1");
    end_run(recorder, 200000);
    close_db(db);
    expect(path, "SELECT sum(bytes) FROM link_usage", "200000");
}
END_TEST

/* Rows come bucket by bucket; each commit's are written by link, job and time. */
START_TEST(a_run_of_many_rows_is_written_without_indexes)
{
    static const char indexes[] = "SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
    const char *path = file("a.db");
    int buckets = _i == 0 ? 49000 : 100000;
    ResultsDb *db = open_db(path);
    Recorder *recorder = begin_run(db, "shared", -1, TRUE, TRUE, RESULTS_COLLECTIVES);
    const NetworkObserver *network = &recorder_observer(recorder)->network;
    for (int bucket = 0; bucket < buckets; bucket++)
        for (uint32_t pair = 4; pair-- > 0;)
            network->link_usage(network->owner, pair / 2, pair % 2, bucket, 1, (uint64_t)bucket + pair, 1);
    recorder_flush(recorder);
    expect(path, indexes, _i == 0 ? "5" : "0");
    end_run(recorder, buckets);
    close_db(db);

    expect(path, indexes, "5");
    expect(path, "PRAGMA integrity_check", "ok");
    g_autofree char *sums = g_strdup_printf("%d|%" G_GINT64_FORMAT, 4 * buckets,
                                            (int64_t)2 * buckets * (buckets - 1) + (int64_t)6 * buckets);
    expect(path, "SELECT count(*), sum(bytes) FROM link_usage", sums);
    /* Where a row does not come after the one before it by the key, another commit began: by number or by time. */
    expect(path,
           "SELECT count(*) < 100 FROM link_usage AS a JOIN link_usage AS b ON b.rowid = a.rowid + 1 "
           "WHERE (b.link_id, b.job_id, b.bucket_start_ps) < (a.link_id, a.job_id, a.bucket_start_ps)",
           "1");
}
END_TEST

START_TEST(a_closed_file_stands_alone)
{
    const char *path = file("a.db");
    record_story(path, RESULTS_FLOWS);
    expect(path, "PRAGMA journal_mode", "delete");
    ck_assert(!g_file_test(file("a.db-wal"), G_FILE_TEST_EXISTS));
    expect(path, "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name",
           "collective_job / contention_link / event_run / flow_job / link_usage_key");
    expect(path, "PRAGMA application_id", "1414754916");
    expect(path, "PRAGMA user_version", "2");
    expect(path,
           "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE "
           "'sqlite%' AND NOT strict",
           "0");
}
END_TEST

/* Neither opening nor reading takes a file that is not ours, and leaves it as it is. */
START_TEST(foreign_files_are_refused)
{
    static const struct {
        const char *text, *sql, *message; /* content of the file, or what makes it a database */
    } cases[] = {
        {"hello", NULL, "is not an SQLite database, expected a results file"},
        {"SQLite format 3", NULL, "is not an SQLite database, expected a results file"},
        {NULL, "CREATE TABLE t (a)",
         "is a database of another program (application_id 0), expected a results file of trainshed"},
        {NULL, "CREATE TABLE t (a); PRAGMA application_id = 7", "is a database of another program (application_id 7)"},
        {NULL, "CREATE TABLE run (id); PRAGMA application_id = 1414754916; PRAGMA user_version = 3",
         "has version 3 of the results format, from a newer trainshed; this one knows versions up to 2"},
        {NULL, "CREATE TABLE run (id); PRAGMA application_id = 1414754916",
         "has version 0 of the results format, which never was"},
    };
    const char *path = file("foreign.db");
    if (cases[_i].text != NULL)
        ck_assert(g_file_set_contents(path, cases[_i].text, -1, NULL));
    else
        change_file(path, cases[_i].sql);
    g_autofree char *before = NULL, *after = NULL;
    gsize length_before, length_after;
    ck_assert(g_file_get_contents(path, &before, &length_before, NULL));
    GError *error = NULL;
    ck_assert_ptr_null(results_open(path, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, cases[_i].message);
    ck_assert_ptr_null(database_open_read(path, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, cases[_i].message);
    ck_assert(g_file_get_contents(path, &after, &length_after, NULL));
    ck_assert(length_before == length_after && memcmp(before, after, length_after) == 0);
}
END_TEST

START_TEST(paths_that_cannot_be_are_refused)
{
    GError *error = NULL;
    ck_assert_ptr_null(results_open(folder, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "is a folder, expected a results file");
    ck_assert_ptr_null(results_open(file("none/a.db"), &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "none/a.db: cannot be opened: unable to open database file");
    ck_assert_ptr_null(database_open_read(file("none.db"), &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "none.db: there is no such file, expected a results file");
    ck_assert(!g_file_test(file("none.db"), G_FILE_TEST_EXISTS));
    ck_assert(g_file_set_contents(file("empty.db"), "", 0, NULL));
    ck_assert_ptr_null(database_open_read(file("empty.db"), &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "empty.db: is empty, expected a results file");
    close_db(open_db(file("empty.db"))); /* to write, an empty file is as good as none */
    expect(file("empty.db"), "SELECT count(*) FROM run", "0");
}
END_TEST

START_TEST(a_file_that_must_not_be_written_is_refused)
{
    if (geteuid() == 0) {
        support_skip(__func__, "root may write everywhere");
        return;
    }
    const char *path = file("a.db");
    record_story(path, RESULTS_SUMMARY);
    GError *error = NULL;
    ck_assert_int_eq(g_chmod(path, 0444), 0);
    ck_assert_ptr_null(results_open(path, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "a.db: cannot be written");
    ck_assert_int_eq(g_chmod(folder, 0555), 0);
    ck_assert_ptr_null(results_open(file("b.db"), &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "b.db: cannot be opened");
    expect(path, "SELECT count(*) FROM run", "2"); /* reading needs no more */
    ck_assert_int_eq(g_chmod(folder, 0755), 0);
}
END_TEST

/* With a path: records the story there, for test-query.sh. */
int
main(int argc, char **argv)
{
    if (argc == 2) {
        record_story(argv[1], RESULTS_FLOWS);
        return 0;
    }
    Suite *suite = suite_create("recorder");
    TCase *tc = tcase_create("recorder");
    tcase_add_checked_fixture(tc, make_folder, remove_folder);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, every_table_has_its_rows);
    tcase_add_test(tc, views_answer_the_common_questions);
    tcase_add_test(tc, the_closing_table_says_it_in_words);
    tcase_add_test(tc, the_mean_starts_where_the_last_uncounted_one_ended);
    tcase_add_test(tc, a_baseline_that_failed_is_not_one);
    tcase_add_loop_test(tc, merged_iterations_expand_to_what_was_told, 0, 10);
    tcase_add_loop_test(tc, levels_keep_what_they_say, 0, 4);
    tcase_add_test(tc, two_recordings_are_equal);
    tcase_add_test(tc, a_killed_process_leaves_a_valid_file_that_says_running);
    tcase_add_loop_test(tc, a_row_that_refers_to_nothing_fails_the_run, 0, 5);
    tcase_add_loop_test(tc, what_does_not_fit_fails_the_run, 0, 5);
    tcase_add_test(tc, a_full_disk_is_told);
    tcase_add_test(tc, rows_commit_by_number_and_by_time);
    tcase_add_loop_test(tc, a_run_of_many_rows_is_written_without_indexes, 0, 2);
    tcase_add_test(tc, a_closed_file_stands_alone);
    tcase_add_loop_test(tc, foreign_files_are_refused, 0, 6);
    tcase_add_test(tc, paths_that_cannot_be_are_refused);
    tcase_add_test(tc, a_file_that_must_not_be_written_is_refused);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
