/* recorder.h - what a simulation tells, written into SQLite as it happens
 *
 * One file per study, many runs in it (DEFINITIONS 8, trainshed-results(5)). Rows go in inside transactions of at most
 * one second or 200,000 rows; each row's references are checked as it is made. The one module
 * family that talks to SQLite. */
#pragma once

#include "cluster/observer.h"
#include "fabric/fabric.h"

typedef struct ResultsDb ResultsDb; /* of one thread */

/* Opens or makes the file, checks its version (another program's file, or a newer version: INPUT error). */
ResultsDb *results_open(const char *path, GError **error);
/* Flushes, sets journal_mode=DELETE and closes. */
gboolean results_close(ResultsDb *db, GError **error);
void results_free(ResultsDb *db); /* without flushing; NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ResultsDb, results_free)

typedef struct {
    const char *name;
    const char *role;      /* shared, alone, point */
    int64_t parent_run_id; /* -1 = NULL */
    const char *scenario;  /* the whole text */
    uint64_t seed;
    const char *version, *model;
} RunInfo;

typedef struct {
    const char *name;
    uint32_t gpus;
    uint32_t iterations; /* asked for; 0 = until another ends */
    SimTime arrival_ps;
    uint32_t warmup;
    double scale_bytes, compute_scale;
    gboolean present; /* of an alone run: is it the one? absent jobs keep their id, get no row */
} JobInfo;

/* What to store. Each has what those before it have.
 *   summary      run, node, link, packet_link, job with its figures, placement, event; link_usage folded to one row a
 * link and job, contention to one a victim, culprit, link and kind iterations   iteration collectives  collective,
 * rank_traffic; link_usage and contention by bucket flows        flow */
typedef enum { RESULTS_SUMMARY, RESULTS_ITERATIONS, RESULTS_COLLECTIVES, RESULTS_FLOWS } ResultsLevel;

typedef struct Recorder Recorder;

/* Begins a run with status running: rows of run, node, link, job. Texts are copied. A recorder belongs to db. */
Recorder *recorder_begin(ResultsDb *db, const RunInfo *run, const Fabric *fabric, const JobInfo *jobs, uint32_t n_jobs,
                         ResultsLevel level, GError **error);
int64_t recorder_run_id(const Recorder *recorder);
/* The observer that writes into it, owned by it. An SQLite failure is kept and comes out of recorder_end. */
const ClusterObserver *recorder_observer(Recorder *recorder);
/* Commits what is older than a second. Rows commit by themselves as they come; this is for the time in which none
 * comes. */
void recorder_tick(Recorder *recorder);
/* Commits all rows told so far. */
void recorder_flush(Recorder *recorder);
/* Ends the run: open rows, totals, then the status (done, failed, interrupted). FALSE with an error where a row could
 * not be written or refers to nothing; the run then says failed if that can still be written, else running. Frees the
 * recorder. */
gboolean recorder_end(Recorder *recorder, const char *status, SimTime sim_ps, uint64_t events, double wall_s,
                      GError **error);
