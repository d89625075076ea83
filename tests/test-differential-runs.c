/* test-differential-runs.c - random jobs on random fabrics, run whole: what must hold of every run
 *
 * Bytes, accounts, baselines, repeats, and what the database says of it all. `make differential` runs more seeds. */
#include "random_jobs.h"
#include "random_world.h"
#include "support.h"

#include "results/recorder.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_FAULTS = 4 };

typedef struct {
    Fabric *fabric;
    RandomJob jobs[RANDOM_JOBS];
    JobSetup setups[RANDOM_JOBS];
    uint32_t n_jobs, n_faults;
    WorldFault faults[MOST_FAULTS];
    FaultSetup fault_setups[MOST_FAULTS];
    SimulationSetup setup;
} Case;

/* What a run told. */
typedef struct {
    WorldLog log;
    GArray *iterations;  /* of IterationRecord */
    GArray *collectives; /* of CollectiveRecord; texts not kept */
    SimTime start_ps[RANDOM_JOBS], end_ps[RANDOM_JOBS], last_ps;
    char status[RANDOM_JOBS][16];
} Seen;

static uint32_t
below(Random *dice, uint32_t bound)
{
    return (uint32_t)random_below(dice, bound);
}

static gboolean
is_switch(const Fabric *fabric, uint32_t node)
{
    NodeKind kind = fabric_node(fabric, node)->kind;
    return kind == NODE_LEAF || kind == NODE_SPINE || kind == NODE_CORE || kind == NODE_DCI;
}

/* Is it a link between switches, without which every GPU is still reached from every other? (Collectives name their
 * NICs: without its one link a NIC has no way.) */
static gboolean
joined_without(const Fabric *fabric, uint32_t link)
{
    if (!is_switch(fabric, fabric_link(fabric, link)->src) || !is_switch(fabric, fabric_link(fabric, link)->dst))
        return FALSE;
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    routes_set_alive(routes, link, FALSE);
    uint32_t n;
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            RouteRequest request = {
                .src = gpus[a], .dst = gpus[b], .src_nic = INDEX_NONE, .dst_nic = INDEX_NONE, .key = a};
            Route route;
            if (!routes_find(routes, &request, &route, NULL))
                return FALSE;
        }
    return TRUE;
}

/* A link that dies for a while where there is a way around it, else slows down. */
static void
random_faults(Case *given, Random *dice)
{
    SimTime at = 0;
    while (given->n_faults + 2 <= MOST_FAULTS && below(dice, 3) == 0) {
        uint32_t link = below(dice, fabric_n_links(given->fabric));
        const Link *attributes = fabric_link(given->fabric, link);
        gboolean dies = joined_without(given->fabric, link);
        at += 1 + (SimTime)random_below(dice, 500 * PS_PER_US);
        given->faults[given->n_faults++] = (WorldFault){at, link, dies ? 0 : attributes->capacity_Bps / 3};
        at += 1 + (SimTime)random_below(dice, 500 * PS_PER_US);
        given->faults[given->n_faults++] = (WorldFault){at, link, attributes->capacity_Bps};
    }
}

static void
begin_case(Case *given, int seed)
{
    Random dice = random_named((uint64_t)seed, "differential runs");
    *given = (Case){.fabric = random_fabric(&dice, TRUE)};
    g_autofree gboolean *taken = g_new0(gboolean, fabric_n_nodes(given->fabric));
    for (uint32_t asked = 1 + below(&dice, RANDOM_JOBS); given->n_jobs < asked; given->n_jobs++) {
        if (!random_job(&given->jobs[given->n_jobs], given->n_jobs, given->fabric, taken, &dice))
            break;
        given->setups[given->n_jobs] = given->jobs[given->n_jobs].setup;
    }
    ck_assert_uint_gt(given->n_jobs, 0);
    random_faults(given, &dice);
    for (uint32_t f = 0; f < given->n_faults; f++)
        given->fault_setups[f] = (FaultSetup){given->faults[f].at_ps, given->faults[f].link, given->faults[f].rate_Bps};
    given->setup = (SimulationSetup){.model = "fluid",
                                     .network = network_config_default(),
                                     .seed = (uint64_t)seed,
                                     .fabric = given->fabric,
                                     .routing = random_routing(&dice),
                                     .jobs = given->setups,
                                     .n_jobs = given->n_jobs,
                                     .only_job = INDEX_NONE,
                                     .common = below(&dice, 2) == 0,
                                     .faults = given->fault_setups,
                                     .n_faults = given->n_faults};
    given->setup.network.seed = (uint64_t)seed;
    given->setup.network.bucket_ps = below(&dice, 2) ? 20 * PS_PER_US : PS_PER_MS;
}

static void
end_case(Case *given)
{
    for (uint32_t j = 0; j < given->n_jobs; j++)
        random_job_clear(&given->jobs[j]);
    fabric_free(given->fabric);
}

static void
saw_usage(void *owner, uint32_t link, uint32_t job, SimTime start_ps, SimTime length_ps, uint64_t bytes,
          SimTime busy_ps)
{
    Seen *seen = owner;
    NetworkObserver observer = world_log_observer(&seen->log);
    observer.link_usage(observer.owner, link, job, start_ps, length_ps, bytes, busy_ps);
}

static void
saw_loss(void *owner, const Loss *loss)
{
    Seen *seen = owner;
    NetworkObserver observer = world_log_observer(&seen->log);
    observer.loss(observer.owner, loss);
}

/* Time never runs back in what is told as it happens. */
static void
now_is(Seen *seen, SimTime now)
{
    ck_assert_int_ge(now, seen->last_ps);
    seen->last_ps = now;
    world_log_note(&seen->log, (uint64_t)now);
}

static void
saw_transfer(void *owner, const TransferRecord *transfer)
{
    Seen *seen = owner;
    NetworkObserver observer = world_log_observer(&seen->log);
    observer.transfer(observer.owner, transfer);
    /* not now_is: those reckoned under a hold are told when it ends, after others that arrived later */
}

static void
saw_iteration(void *owner, const IterationRecord *iteration)
{
    Seen *seen = owner;
    g_array_append_val(seen->iterations, *iteration);
    now_is(seen, iteration->end_ps);
    world_log_note(&seen->log, (uint64_t)iteration->compute_ps ^ (uint64_t)iteration->exposed_wait_ps << 20 ^
                                   (uint64_t)iteration->exposed_transfer_ps << 40);
}

static void
saw_collective(void *owner, const CollectiveRecord *collective)
{
    Seen *seen = owner;
    g_array_append_val(seen->collectives, *collective);
    now_is(seen, collective->end_ps);
    world_log_note(&seen->log, (uint64_t)collective->ready_ps ^ collective->bytes << 32);
}

static void
saw_start(void *owner, uint32_t job, SimTime start_ps, const uint32_t *nodes, uint32_t n_ranks)
{
    Seen *seen = owner;
    seen->start_ps[job] = start_ps;
    now_is(seen, start_ps);
}

static void
saw_end(void *owner, uint32_t job, SimTime end_ps, uint32_t iterations, const char *status)
{
    Seen *seen = owner;
    seen->end_ps[job] = end_ps;
    g_strlcpy(seen->status[job], status, sizeof seen->status[job]);
    if (end_ps >= 0)
        now_is(seen, end_ps);
}

static void
run(const Case *given, uint32_t only, Seen *seen, int seed)
{
    *seen = (Seen){.iterations = g_array_new(FALSE, FALSE, sizeof(IterationRecord)),
                   .collectives = g_array_new(FALSE, FALSE, sizeof(CollectiveRecord))};
    world_log_begin(&seen->log);
    SimulationSetup setup = given->setup;
    setup.only_job = only;
    setup.observer = (ClusterObserver){
        .network = {.owner = seen, .link_usage = saw_usage, .loss = saw_loss, .transfer = saw_transfer},
        .owner = seen,
        .job_started = saw_start,
        .iteration = saw_iteration,
        .collective = saw_collective,
        .job_ended = saw_end};
    SimulationResult result;
    GError *error = NULL;
    gboolean done = simulation_run(&setup, &result, &error);
    ck_assert_msg(done, "seed %d: %s", seed, error ? error->message : "");
    simulation_result_clear(&result);
}

static void
forget(Seen *seen)
{
    world_log_end(&seen->log);
    g_array_unref(seen->iterations);
    g_array_unref(seen->collectives);
}

/* The n-th iteration of a job; NULL past the last. */
static const IterationRecord *
iteration_of(const Seen *seen, uint32_t job, uint32_t index)
{
    for (uint32_t i = 0; i < seen->iterations->len; i++) {
        const IterationRecord *iteration = &g_array_index(seen->iterations, IterationRecord, i);
        if (iteration->job == job && iteration->index == index)
            return iteration;
    }
    return NULL;
}

/* All ranks end an iteration together and begin the next at once, so the mean rank iteration is the whole of it; of
 * the first, less the mean of the offsets. The four parts sum to it, rounded down. */
static void
check_iterations(const Case *given, const Seen *seen, int seed)
{
    for (uint32_t j = 0; j < given->n_jobs; j++) {
        const JobSetup *setup = &given->setups[j];
        SimTime begins = setup->arrival_ps, offsets = 0;
        for (uint32_t r = 0; r < setup->workload->n_ranks; r++)
            offsets += given->jobs[j].start_ps[r];
        ck_assert_int_eq(seen->start_ps[j], begins);
        for (uint32_t i = 0; i < setup->iterations; i++, offsets = 0) {
            const IterationRecord *one = iteration_of(seen, j, i);
            ck_assert_msg(one != NULL && one->start_ps == begins, "seed %d: job %u iteration %u", seed, j, i);
            SimTime n = setup->workload->n_ranks, whole = (one->end_ps - one->start_ps) * n - offsets;
            SimTime parts = one->compute_ps + one->exposed_wait_ps + one->exposed_transfer_ps + one->idle_ps;
            ck_assert_msg(parts == whole / n,
                          "seed %d: job %u iteration %u: the parts sum to %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
                          seed, j, i, parts, whole / n);
            ck_assert(one->compute_ps >= 0 && one->exposed_wait_ps >= 0 && one->exposed_transfer_ps >= 0 &&
                      one->idle_ps >= 0);
            ck_assert(i >= setup->warmup || !one->counted);
            ck_assert(given->setup.common || one->counted == (i >= setup->warmup));
            begins = one->end_ps;
        }
        ck_assert_ptr_null(iteration_of(seen, j, setup->iterations));
        ck_assert_int_eq(seen->end_ps[j], begins);
        ck_assert_str_eq(seen->status[j], "done");
    }
}

/* What each job's transfers sum to is what its collectives and messages are. */
static void
check_traffic(const Case *given, const Seen *seen, int seed)
{
    uint64_t bytes[RANDOM_JOBS] = {0}, collectives[RANDOM_JOBS] = {0};
    for (uint32_t i = 0; i < seen->log.transfers->len; i++) {
        const TransferRecord *transfer = &g_array_index(seen->log.transfers, TransferRecord, i);
        const JobSetup *setup = &given->setups[transfer->job];
        ck_assert_uint_eq(setup->nodes[transfer->src_rank], transfer->src);
        ck_assert_uint_eq(setup->nodes[transfer->dst_rank], transfer->dst);
        bytes[transfer->job] += transfer->bytes;
    }
    for (uint32_t i = 0; i < seen->collectives->len; i++) {
        const CollectiveRecord *collective = &g_array_index(seen->collectives, CollectiveRecord, i);
        ck_assert_int_le(collective->first_ps, collective->ready_ps);
        ck_assert_int_le(collective->ready_ps, collective->end_ps);
        collectives[collective->job]++;
    }
    for (uint32_t j = 0; j < given->n_jobs; j++) {
        uint64_t right = given->jobs[j].bytes * given->setups[j].iterations;
        ck_assert_msg(bytes[j] == right,
                      "seed %d: job %u moved %" G_GUINT64_FORMAT " bytes, by formula %" G_GUINT64_FORMAT, seed, j,
                      bytes[j], right);
        ck_assert_uint_eq(collectives[j], (uint64_t)given->jobs[j].collectives * given->setups[j].iterations);
    }
}

/* Does the job share no link with another, over the whole run? */
static gboolean
is_apart(const Seen *seen, uint32_t job, uint32_t n_links)
{
    g_autofree gboolean *mine = g_new0(gboolean, n_links);
    for (uint32_t i = 0; i < seen->log.usage->len; i++) {
        const WorldUsage *row = &g_array_index(seen->log.usage, WorldUsage, i);
        mine[row->link] |= row->job == job;
    }
    for (uint32_t i = 0; i < seen->log.usage->len; i++) {
        const WorldUsage *row = &g_array_index(seen->log.usage, WorldUsage, i);
        if (row->job != job && mine[row->link])
            return FALSE;
    }
    return TRUE;
}

/* Alone a job loses nothing to others; apart from them it is as alone, to the picosecond. TRUE: it was apart. */
static gboolean
check_baseline(const Case *given, const Seen *shared, uint32_t job, int seed)
{
    Seen alone;
    run(given, job, &alone, seed);
    for (uint32_t i = 0; i < alone.log.losses->len; i++) {
        const Loss *loss = &g_array_index(alone.log.losses, Loss, i);
        ck_assert(loss->kind == LOSS_COLLISION || loss->kind == LOSS_FAULT);
        ck_assert(loss->victim_job == job && (loss->culprit_job == job || loss->culprit_job == INDEX_NONE));
    }
    gboolean apart = is_apart(shared, job, fabric_n_links(given->fabric));
    for (uint32_t i = 0; apart && i < given->setups[job].iterations; i++) {
        IterationRecord a = *iteration_of(shared, job, i), b = *iteration_of(&alone, job, i);
        a.counted = b.counted;
        ck_assert_msg(a.start_ps == b.start_ps && a.end_ps == b.end_ps && a.compute_ps == b.compute_ps &&
                          a.exposed_wait_ps == b.exposed_wait_ps && a.exposed_transfer_ps == b.exposed_transfer_ps,
                      "seed %d: job %u shares no link, but its iteration %u is another alone", seed, job, i);
    }
    for (uint32_t i = 0; apart && i < shared->log.losses->len; i++) {
        const Loss *loss = &g_array_index(shared->log.losses, Loss, i);
        ck_assert(loss->victim_job != job || (loss->kind != LOSS_CONTENTION && loss->kind != LOSS_INDIRECT));
    }
    forget(&alone);
    return apart;
}

static gint64
ask(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
    gint64 value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

/* The sums a reader of the database makes are those of what was told. */
static void
compare_database(const char *path, const Seen *seen)
{
    gint64 traffic = 0, usage = 0, parts = 0, expanded = seen->iterations->len;
    for (uint32_t i = 0; i < seen->log.transfers->len; i++)
        traffic += (gint64)g_array_index(seen->log.transfers, TransferRecord, i).bytes;
    for (uint32_t i = 0; i < seen->log.usage->len; i++)
        usage += (gint64)g_array_index(seen->log.usage, WorldUsage, i).bytes;
    for (uint32_t i = 0; i < seen->iterations->len; i++) {
        const IterationRecord *one = &g_array_index(seen->iterations, IterationRecord, i);
        parts += one->compute_ps + one->exposed_wait_ps + one->exposed_transfer_ps + one->idle_ps;
    }
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(ask(db, "SELECT coalesce(sum(bytes), 0) FROM rank_traffic"), traffic);
    ck_assert_int_eq(ask(db, "SELECT coalesce(sum(bytes), 0) FROM v_rank_traffic"), traffic);
    ck_assert_int_eq(ask(db, "SELECT coalesce(sum(transfers), 0) FROM rank_traffic"), seen->log.transfers->len);
    ck_assert_int_eq(ask(db, "SELECT coalesce(sum(bytes), 0) FROM link_usage"), usage);
    ck_assert_int_eq(ask(db, "SELECT coalesce(sum(bytes), 0) FROM v_hot_link"), usage);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM v_iteration"), expanded);
    ck_assert_int_eq(ask(db, "SELECT sum(compute_ps + exposed_comm_ps + idle_ps) FROM v_iteration"), parts);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM v_iteration WHERE exposed_comm_ps <> exposed_wait_ps + "
                             "exposed_transfer_ps OR iteration_ps <> end_ps - start_ps"),
                     0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM collective"), seen->collectives->len);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM contention WHERE lost_transfer_ps < 0"), 0);
    ck_assert_int_eq(ask(db, "SELECT abs(coalesce((SELECT sum(lost_transfer_ps) FROM contention), 0) - "
                             "coalesce((SELECT sum(lost_transfer_ps) FROM v_contention), 0)) < 1"),
                     1);
    ck_assert_int_eq(sqlite3_close(db), SQLITE_OK);
}

static void
check_database(const Case *given, const Seen *seen, int seed)
{
    g_autofree char *folder = g_dir_make_tmp("trainshed-differential-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "results.db", NULL);
    GError *error = NULL;
    g_autoptr(ResultsDb) db = results_open(path, &error);
    ck_assert_msg(db != NULL, "%s", error ? error->message : "");
    JobInfo jobs[RANDOM_JOBS];
    for (uint32_t j = 0; j < given->n_jobs; j++)
        jobs[j] = (JobInfo){.name = given->setups[j].name,
                            .gpus = given->setups[j].workload->n_ranks,
                            .iterations = given->setups[j].iterations,
                            .arrival_ps = given->setups[j].arrival_ps,
                            .warmup = given->setups[j].warmup,
                            .scale_bytes = given->setups[j].scale_bytes,
                            .compute_scale = 1,
                            .present = TRUE};
    RunInfo info = {"random", "shared", -1, "", (uint64_t)seed, "0", "fluid"};
    Recorder *recorder = recorder_begin(db, &info, given->fabric, jobs, given->n_jobs, RESULTS_COLLECTIVES, &error);
    ck_assert_msg(recorder != NULL, "%s", error ? error->message : "");
    SimulationSetup setup = given->setup;
    setup.observer = *recorder_observer(recorder);
    SimulationResult result;
    ck_assert(simulation_run(&setup, &result, NULL));
    gboolean ended = recorder_end(recorder, "done", result.end_ps, result.events, 0, &error);
    ck_assert_msg(ended && results_close(g_steal_pointer(&db), &error), "seed %d: %s", seed,
                  error ? error->message : "");
    simulation_result_clear(&result);
    compare_database(path, seen);
    g_unlink(path);
    g_rmdir(folder);
}

static uint64_t
slack_of(const Case *given, const Seen *seen)
{
    if (given->setup.routing == ROUTING_SPRAY) /* whole bytes apportioned over paths */
        return 4 * seen->log.transfers->len;
    return given->n_faults > 0 ? seen->log.transfers->len : 0;
}

START_TEST(random_jobs_keep_their_books)
{
    g_autofree Case *given = g_new(Case, 1);
    Seen seen, again;
    begin_case(given, _i);
    run(given, INDEX_NONE, &seen, _i);
    check_iterations(given, &seen, _i);
    check_traffic(given, &seen, _i);
    world_check_order(&seen.log, FALSE);
    world_check_conservation(&seen.log, given->fabric, given->n_jobs);
    world_check_capacity(&seen.log, given->fabric, given->faults, given->n_faults, slack_of(given, &seen));
    for (uint32_t j = 0; j < given->n_jobs; j++)
        check_baseline(given, &seen, j, _i);
    run(given, INDEX_NONE, &again, _i);
    ck_assert_msg(seen.log.digest == again.log.digest, "seed %d: the same run tells other things", _i);
    if (_i % 10 == 0)
        check_database(given, &seen, _i);
    forget(&seen);
    forget(&again);
    end_case(given);
}
END_TEST

static gboolean
near(SimTime a, SimTime b)
{
    return ABS(a - b) <= MAX(10, b / 1000000000);
}

/* DEFINITIONS 1: whole runs with all collectives as bundles, and all in steps, end every iteration together. */
START_TEST(grains_end_together)
{
    g_autofree Case *given = g_new(Case, 1);
    Seen seen[2];
    begin_case(given, _i);
    for (int grain = 0; grain < 2; grain++) {
        for (uint32_t j = 0; j < given->n_jobs; j++)
            given->setups[j].collectives.grain = grain ? GRAIN_BUNDLE : GRAIN_STEPS;
        run(given, INDEX_NONE, &seen[grain], _i);
    }
    ck_assert_uint_eq(seen[0].iterations->len, seen[1].iterations->len);
    for (uint32_t i = 0; i < seen[0].iterations->len; i++) {
        const IterationRecord *steps = &g_array_index(seen[0].iterations, IterationRecord, i);
        const IterationRecord *bundle = iteration_of(&seen[1], steps->job, steps->index);
        ck_assert_msg(bundle != NULL && near(bundle->start_ps, steps->start_ps) && near(bundle->end_ps, steps->end_ps),
                      "seed %d: job %u, iteration %u: ends at %" G_GINT64_FORMAT " ps in steps, %" G_GINT64_FORMAT
                      " as bundles",
                      _i, steps->job, steps->index, steps->end_ps, bundle != NULL ? bundle->end_ps : -1);
    }
    forget(&seen[0]);
    forget(&seen[1]);
    end_case(given);
}
END_TEST

int
main(void)
{
    const char *first = g_getenv("DIFFERENTIAL_FIRST"), *count = g_getenv("DIFFERENTIAL_SEEDS");
    int from = first != NULL ? atoi(first) : 0, n = count != NULL ? atoi(count) : 300;
    Suite *suite = suite_create("differential-runs");
    TCase *cases = tcase_create("differential-runs");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, random_jobs_keep_their_books, from, from + n);
    tcase_add_loop_test(cases, grains_end_together, from, from + n);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
