/* recorder_state.h - a recorder's insides, for the recorder_*.c alone */
#pragma once

#include "results/bulk.h"
#include "results/tally.h"
#include "results/usage_rows.h"

/* Tables that rows go into by bulk; their columns are in recorder.c. */
typedef enum {
    TABLE_NODE,
    TABLE_LINK,
    TABLE_PLACEMENT,
    TABLE_ITERATION,
    TABLE_COLLECTIVE,
    TABLE_LINK_USAGE,
    TABLE_PACKET_LINK,
    TABLE_CONTENTION,
    TABLE_RANK_TRAFFIC,
    TABLE_FLOW,
    TABLE_EVENT,
    TABLES
} Table;

typedef struct {
    gboolean started, ended;
    char *status; /* owned */
    SimTime start_ps, end_ps;
    SimTime waits_from_ps, waited_ps; /* in the queue: since when it may, and before that */
    uint32_t stops;
    SimTime lost_ps, paused_ps;
    gboolean paused;       /* stopped at waits_from_ps, no iteration since */
    uint32_t iterations;   /* told so far */
    SimTime last_end_ps;   /* of the last one told */
    IterationRecord first; /* of the row of equal ones that is open */
    uint32_t merged;       /* how many they are; 0 = none is open */
    SimTime period_ps;     /* from start to start of them; of a single one its length */
    gboolean unwritten;    /* the open row has changed since it was written */
    /* Over counted iterations (DEFINITIONS 5). */
    uint32_t counted;
    SimTime counted_from_ps, counted_to_ps;
    uint64_t compute_ps, exposed_wait_ps, exposed_transfer_ps, idle_ps;
} JobState;

struct Recorder {
    ResultsDb *db;
    int64_t run_id;
    ResultsLevel level;
    ClusterObserver observer;
    GError *error; /* the first failure; nothing is written after it */

    Keys keys;
    gboolean *present; /* by job: it is in this run */
    Bulk *bulks[TABLES];
    sqlite3_stmt *begin, *commit, *update_job;
    gboolean in_transaction, committing;
    uint32_t n_rows;    /* since the last commit */
    uint64_t n_written; /* up to it */
    gint64 commit_us;   /* when that was, monotonic */

    JobState *jobs;
    uint32_t n_jobs;
    int64_t n_collectives, n_flows;
    uint64_t transfers, bytes;
    UsageRows *usage_rows; /* not yet written; from level collectives on */
    Tally *usage;          /* (link, job): bytes, busy time as count; below level collectives */
    Tally *losses;         /* (victim, culprit, link, kind); below level collectives */
    Tally *traffic;        /* (job, source rank, destination rank): bytes, transfers; from level collectives on */
};

/* The bulk of a table for a row to be made, inside a transaction; NULL after a failure. */
Bulk *recorder_row(Recorder *recorder, Table table);
/* Ends that row, and commits where it is time. */
void recorder_row_done(Recorder *recorder, Table table);
/* One more row waits for the next commit, which may be now. */
void recorder_count_row(Recorder *recorder);

/* recorder_fabric.c: rows of node and link. */
void recorder_write_fabric(Recorder *recorder, const Fabric *fabric);

/* recorder_jobs.c: its functions of the observer; open rows of iterations; what became of the jobs. */
void recorder_observe_jobs(Recorder *recorder);
void recorder_write_open_iterations(Recorder *recorder);
void recorder_write_jobs(Recorder *recorder);

/* recorder_network.c: its functions of the observer; rows of link_usage that wait; what was summed over the run. */
void recorder_observe_network(Recorder *recorder);
void recorder_write_usage_rows(Recorder *recorder);
void recorder_write_sums(Recorder *recorder, SimTime sim_ps);
