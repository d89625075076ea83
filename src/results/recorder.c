/* recorder.c - begins and ends a run, and cuts its rows into transactions */
#include "results/recorder.h"

#include "base/error.h"
#include "results/recorder_state.h"
#include "results/schema.h"

#include <assert.h>
#include <string.h>

/* What a killed process may lose at most (DESIGN 3). */
enum { COMMIT_ROWS = 200000, COMMIT_US = 1000000 };

/* A run of more rows has no indexes while it is written. Those of the whole file are made anew at its end. */
enum { INDEXED_ROWS = COMMIT_ROWS };

/* Rows between two looks at the clock. */
enum { CLOCK_ROWS = 16 };

static const struct {
    const char *name, *columns;
    gboolean replace; /* an open row of iterations is written again as it grows, a placement when the job moves */
} tables[TABLES] = {
    [TABLE_NODE] =
        {"node",
         "id, name, kind, building, region, zone, rack, server, rail, gpu, peak_FLOPps, memory_bandwidth_Bps, memory_B",
         FALSE},
    [TABLE_LINK] =
        {"link",
         "id, src, dst, kind, capacity_Bps, latency_ps, src_building, dst_building, source, length_km, buffer_B, loss, "
         "ecn_kmin_B, ecn_kmax_B, ecn_pmax",
         FALSE},
    [TABLE_PLACEMENT] = {"placement", "job_id, rank, node_id", TRUE},
    [TABLE_ITERATION] =
        {"iteration",
         "job_id, idx, count, start_ps, end_ps, compute_ps, exposed_wait_ps, exposed_transfer_ps, idle_ps, "
         "period_ps, counted",
         TRUE},
    [TABLE_COLLECTIVE] =
        {"collective",
         "id, job_id, iteration, grp, stream, seq, kind, algorithm, ranks, bytes, first_ps, ready_ps, end_ps, alone_ps",
         FALSE},
    [TABLE_LINK_USAGE] = {"link_usage", "link_id, job_id, bucket_start_ps, bucket_ps, bytes, busy_ps", FALSE},
    [TABLE_PACKET_LINK] =
        {"packet_link",
         "link_id, data_packets, control_packets, header_B, control_B, resent_B, dropped, dropped_B, trimmed, marked, "
         "pauses, paused_ps, max_queue_B",
         FALSE},
    [TABLE_CONTENTION] =
        {"contention",
         "victim_job_id, culprit_job_id, link_id, iteration, bucket_start_ps, kind, lost_transfer_ps, bytes", FALSE},
    [TABLE_RANK_TRAFFIC] = {"rank_traffic", "job_id, src_rank, dst_rank, bytes, transfers", FALSE},
    [TABLE_FLOW] = {"flow",
                    "id, job_id, iteration, src_rank, dst_rank, channel, src, dst, bytes, start_ps, sent_ps, end_ps",
                    FALSE},
    [TABLE_EVENT] = {"event", "at_ps, kind, subject, text", FALSE},
};

static const char *const level_names[] = {[RESULTS_SUMMARY] = "summary",
                                          [RESULTS_ITERATIONS] = "iterations",
                                          [RESULTS_COLLECTIVES] = "collectives",
                                          [RESULTS_FLOWS] = "flows"};

static void
begin_transaction(Recorder *recorder)
{
    if (recorder->error != NULL || recorder->in_transaction)
        return;
    recorder->in_transaction = database_step(recorder->db, recorder->begin, &recorder->error);
}

/* Few rows go into the indexes as they come; many are written without them. */
static void
drop_indexes(Recorder *recorder)
{
    ResultsDb *db = recorder->db;
    recorder->n_written += recorder->n_rows;
    if (db->unindexed || recorder->n_written <= INDEXED_ROWS || recorder->error != NULL)
        return;
    db->unindexed = TRUE;
    begin_transaction(recorder);
    if (recorder->in_transaction)
        database_exec(db, schema_drop_index_sql, &recorder->error);
}

static void
commit(Recorder *recorder)
{
    recorder->committing = TRUE;
    drop_indexes(recorder);
    recorder_write_open_iterations(recorder);
    recorder_write_usage_rows(recorder);
    for (int t = 0; t < TABLES && recorder->error == NULL; t++)
        bulk_flush(recorder->bulks[t], &recorder->error);
    if (recorder->error == NULL && recorder->in_transaction &&
        database_step(recorder->db, recorder->commit, &recorder->error))
        recorder->in_transaction = FALSE;
    recorder->n_rows = 0;
    recorder->commit_us = g_get_monotonic_time();
    recorder->committing = FALSE;
}

Bulk *
recorder_row(Recorder *recorder, Table table)
{
    begin_transaction(recorder);
    return recorder->error == NULL ? recorder->bulks[table] : NULL;
}

void
recorder_count_row(Recorder *recorder)
{
    if (++recorder->n_rows >= COMMIT_ROWS)
        commit(recorder);
    else if (recorder->n_rows % CLOCK_ROWS == 0)
        recorder_tick(recorder);
}

void
recorder_row_done(Recorder *recorder, Table table)
{
    if (bulk_end_row(recorder->bulks[table], &recorder->error) && !recorder->committing)
        recorder_count_row(recorder);
}

void
recorder_tick(Recorder *recorder)
{
    if (recorder->error == NULL && g_get_monotonic_time() - recorder->commit_us >= COMMIT_US)
        commit(recorder);
}

void
recorder_flush(Recorder *recorder)
{
    if (recorder->error == NULL)
        commit(recorder);
}

static void
recorder_free(Recorder *recorder)
{
    recorder->db->recording = FALSE;
    for (int t = 0; t < TABLES; t++)
        bulk_free(recorder->bulks[t]);
    sqlite3_finalize(recorder->begin);
    sqlite3_finalize(recorder->commit);
    sqlite3_finalize(recorder->update_job);
    for (uint32_t job = 0; job < recorder->n_jobs; job++)
        g_free(recorder->jobs[job].status);
    g_free(recorder->jobs);
    g_free(recorder->present);
    usage_rows_free(recorder->usage_rows);
    tally_free(recorder->usage);
    tally_free(recorder->losses);
    tally_free(recorder->traffic);
    g_clear_error(&recorder->error);
    g_free(recorder);
}

/* Inside the first transaction. */
static gboolean
insert_run(Recorder *recorder, const RunInfo *run, GError **error)
{
    g_autoptr(sqlite3_stmt) insert = database_prepare(recorder->db,
                                                      "INSERT INTO run (name, role, parent_run_id, scenario, "
                                                      "scenario_sha256, seed, version, model, status, started_utc, "
                                                      "level) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'running', ?, ?)",
                                                      error);
    if (insert == NULL)
        return FALSE;
    g_autofree char *sha256 = g_compute_checksum_for_string(G_CHECKSUM_SHA256, run->scenario, -1);
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *started = g_date_time_format(now, "%Y-%m-%dT%H:%M:%SZ");
    sqlite3_bind_text(insert, 1, run->name, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 2, run->role, -1, SQLITE_STATIC);
    if (run->parent_run_id >= 0)
        sqlite3_bind_int64(insert, 3, run->parent_run_id);
    sqlite3_bind_text(insert, 4, run->scenario, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 5, sha256, -1, SQLITE_STATIC);
    sqlite3_bind_int64(insert, 6, (int64_t)run->seed);
    sqlite3_bind_text(insert, 7, run->version, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 8, run->model, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 9, started, -1, SQLITE_STATIC);
    sqlite3_bind_text(insert, 10, level_names[recorder->level], -1, SQLITE_STATIC);
    if (!database_step(recorder->db, insert, error))
        return FALSE;
    recorder->run_id = sqlite3_last_insert_rowid(recorder->db->sql);
    return TRUE;
}

static gboolean
insert_jobs(Recorder *recorder, const JobInfo *jobs, GError **error)
{
    g_autoptr(sqlite3_stmt) insert = database_prepare(recorder->db,
                                                      "INSERT INTO job (run_id, id, name, gpus, iterations, "
                                                      "arrival_ps, status, iterations_asked, warmup, scale_bytes, "
                                                      "compute_scale) VALUES (?, ?, ?, ?, 0, ?, 'waiting', ?, ?, ?, ?)",
                                                      error);
    if (insert == NULL)
        return FALSE;
    for (uint32_t job = 0; job < recorder->n_jobs; job++) {
        recorder->present[job] = jobs[job].present;
        recorder->jobs[job].status = g_strdup("waiting");
        recorder->jobs[job].waits_from_ps = jobs[job].arrival_ps;
        if (!jobs[job].present)
            continue;
        sqlite3_bind_int64(insert, 1, recorder->run_id);
        sqlite3_bind_int64(insert, 2, job);
        sqlite3_bind_text(insert, 3, jobs[job].name, -1, SQLITE_STATIC);
        sqlite3_bind_int64(insert, 4, jobs[job].gpus);
        sqlite3_bind_int64(insert, 5, jobs[job].arrival_ps);
        if (jobs[job].iterations > 0)
            sqlite3_bind_int64(insert, 6, jobs[job].iterations);
        else
            sqlite3_bind_null(insert, 6);
        sqlite3_bind_int64(insert, 7, jobs[job].warmup);
        sqlite3_bind_double(insert, 8, jobs[job].scale_bytes);
        sqlite3_bind_double(insert, 9, jobs[job].compute_scale);
        if (!database_step(recorder->db, insert, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
prepare(Recorder *recorder, const Fabric *fabric, GError **error)
{
    ResultsDb *db = recorder->db;
    recorder->keys = (Keys){.n_nodes = fabric_n_nodes(fabric),
                            .n_links = fabric_n_links(fabric),
                            .n_jobs = recorder->n_jobs,
                            .present = recorder->present};
    for (int t = 0; t < TABLES; t++) {
        recorder->bulks[t] = bulk_new(db, tables[t].name, tables[t].columns, recorder->run_id, tables[t].replace,
                                      &recorder->keys, error);
        if (recorder->bulks[t] == NULL)
            return FALSE;
    }
    recorder->update_job = database_prepare(
        db,
        "UPDATE job SET iterations = ?, start_ps = ?, end_ps = ?, status = ?, counted = ?, counted_from_ps = ?, "
        "counted_to_ps = ?, "
        "compute_ps = ?, exposed_wait_ps = ?, exposed_transfer_ps = ?, idle_ps = ?, waited_ps = ?, stops = ?, "
        "lost_ps = ?, paused_ps = ? WHERE run_id = ? AND id = ?",
        error);
    return recorder->update_job != NULL;
}

/* The rows that every run starts with, committed, so that the file shows it from its first moment. */
static gboolean
write_start(Recorder *recorder, const RunInfo *run, const Fabric *fabric, const JobInfo *jobs, GError **error)
{
    ResultsDb *db = recorder->db;
    recorder->begin = database_prepare(db, "BEGIN IMMEDIATE", error);
    recorder->commit = recorder->begin != NULL ? database_prepare(db, "COMMIT", error) : NULL;
    if (recorder->commit == NULL)
        return FALSE;
    begin_transaction(recorder);
    gboolean done = recorder->in_transaction && insert_run(recorder, run, error) &&
                    insert_jobs(recorder, jobs, error) && prepare(recorder, fabric, error);
    if (done) {
        recorder_write_fabric(recorder, fabric);
        commit(recorder);
    }
    if (recorder->error != NULL) {
        done = FALSE;
        g_propagate_error(error, g_steal_pointer(&recorder->error));
    }
    if (recorder->in_transaction)
        sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL); /* the failure before it is the one to tell */
    return done;
}

Recorder *
recorder_begin(ResultsDb *db, const RunInfo *run, const Fabric *fabric, const JobInfo *jobs, uint32_t n_jobs,
               ResultsLevel level, GError **error)
{
    assert(db->writable && !db->recording);
    Recorder *recorder = g_new0(Recorder, 1);
    recorder->db = db;
    db->recording = TRUE;
    recorder->level = level;
    recorder->n_jobs = n_jobs;
    recorder->jobs = g_new0(JobState, n_jobs);
    recorder->present = g_new0(gboolean, n_jobs);
    recorder->commit_us = g_get_monotonic_time();
    if (!write_start(recorder, run, fabric, jobs, error)) {
        recorder_free(recorder);
        return NULL;
    }
    recorder_observe_jobs(recorder);
    recorder_observe_network(recorder);
    return recorder;
}

int64_t
recorder_run_id(const Recorder *recorder)
{
    return recorder->run_id;
}

const ClusterObserver *
recorder_observer(Recorder *recorder)
{
    return &recorder->observer;
}

static gboolean
set_status(Recorder *recorder, const char *status, GError **error)
{
    g_autoptr(sqlite3_stmt) update = database_prepare(recorder->db, "UPDATE run SET status = ? WHERE id = ?", error);
    if (update == NULL)
        return FALSE;
    sqlite3_bind_text(update, 1, status, -1, SQLITE_STATIC);
    sqlite3_bind_int64(update, 2, recorder->run_id);
    return database_step(recorder->db, update, error);
}

static gboolean
write_totals(Recorder *recorder, SimTime sim_ps, uint64_t events, double wall_s, GError **error)
{
    g_autoptr(sqlite3_stmt) update = database_prepare(
        recorder->db, "UPDATE run SET sim_ps = ?, events = ?, wall_s = ?, transfers = ?, bytes = ? WHERE id = ?",
        error);
    if (update == NULL)
        return FALSE;
    if (recorder->bytes > INT64_MAX) {
        g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                    "%s: table run: the bytes moved are 2^63 or more, which does not fit into the database",
                    recorder->db->path);
        return FALSE;
    }
    sqlite3_bind_int64(update, 1, sim_ps);
    sqlite3_bind_int64(update, 2, (int64_t)events);
    sqlite3_bind_double(update, 3, wall_s);
    sqlite3_bind_int64(update, 4, (int64_t)recorder->transfers);
    sqlite3_bind_int64(update, 5, (int64_t)recorder->bytes);
    sqlite3_bind_int64(update, 6, recorder->run_id);
    return database_step(recorder->db, update, error);
}

gboolean
recorder_end(Recorder *recorder, const char *status, SimTime sim_ps, uint64_t events, double wall_s, GError **error)
{
    g_autoptr(GError) wrong = NULL;
    recorder_write_sums(recorder, sim_ps);
    begin_transaction(recorder);
    recorder_write_jobs(recorder);
    if (recorder->error == NULL)
        write_totals(recorder, sim_ps, events, wall_s, &recorder->error);
    if (recorder->error == NULL)
        commit(recorder);
    wrong = g_steal_pointer(&recorder->error);
    if (wrong != NULL && recorder->in_transaction)
        sqlite3_exec(recorder->db->sql, "ROLLBACK", NULL, NULL, NULL); /* the failure before it is the one to tell */
    gboolean done = wrong == NULL &&
                    (strcmp(status, "done") != 0 || key_check_parent_run(recorder->db, recorder->run_id, &wrong)) &&
                    set_status(recorder, status, &wrong);
    if (!done) {
        set_status(recorder, "failed", NULL); /* where even that fails it goes on saying running */
        g_propagate_error(error, g_steal_pointer(&wrong));
    }
    recorder_free(recorder);
    return done;
}
