/* simulation.h - jobs on a fabric, run to their ends
 *
 * One call is one run: all jobs together, or one of them with the others removed (its baseline: the same
 * fabric, placement, routes, dice and start, DEFINITIONS 5). Nothing here knows of files. */
#pragma once

#include "cluster/observer.h"
#include "cluster/placement.h"
#include "cluster/queue.h"
#include "workload/program.h"

typedef struct {
    const char *name;
    const Workload *workload;
    const uint32_t *nodes; /* of each rank; NULL = placed by the queue when it starts */
    SimTime arrival_ps;
    SimTime start_ps;               /* with nodes: it starts then, not on arrival; 0 = on arrival */
    const PlacementSpec *placement; /* where nodes is NULL */
    SimTime estimate_ps;            /* how long it will run, as its owner says; 0 = not said */
    int32_t priority;               /* more goes first */
    SimTime shift_ps;               /* its first iteration begins so much after its start */
    uint32_t iterations;            /* 0 where until is set */
    uint32_t until;                 /* run until this job has ended; INDEX_NONE */
    uint32_t warmup;
    gboolean start_together;
    double scale_bytes, compute_scale;
    double peak_FLOPps, memory_bandwidth_Bps; /* 0 = those of the GPU's node */
    CollectiveConfig collectives;
    uint32_t settings;                 /* of its transfers that belong to no group (Transfer.settings) */
    const uint32_t *settings_of_group; /* of those of each group; NULL = settings */
    const double *weight_of_group;     /* of the transfers of each group where links are contended; NULL = 1 */
} JobSetup;

/* Jobs without nodes wait for GPUs: who gets some when, and what starting costs. */
typedef struct {
    const QueuePolicy *policy; /* NULL: every job has its nodes */
    SimTime launch_ps;         /* from the GPUs until the first iteration */
    SimTime restart_ps;        /* and further, where it has run before: its state is loaded */
    SimTime quantum_gpu_ps;    /* of GPU time, for least_attained_service */
} QueueSetup;

typedef struct {
    SimTime at_ps;
    uint32_t link;
    double rate_Bps; /* 0 = dead */
} FaultSetup;

typedef struct {
    const char *model;
    NetworkConfig network;
    uint64_t seed;
    const Fabric *fabric;
    RoutingPolicy routing;
    GPtrArray *pinned; /* of GArray * of uint32_t: chains of links; NULL = none */
    const JobSetup *jobs;
    uint32_t n_jobs;
    uint32_t only_job;          /* this one alone; INDEX_NONE = all */
    gboolean common;            /* count only iterations wholly inside the time in which all jobs run */
    gboolean memo;              /* skip over what recurs exactly (memo.h): the same is told, sooner */
    gboolean collectives_alone; /* work out alone_ps of collectives */
    const FaultSetup *faults;
    uint32_t n_faults;
    QueueSetup queue;
    ClusterObserver observer;
    /* Called about ten times a second; FALSE interrupts the run. NULL = nobody watches. done: the part of the
     * iterations asked for that is over, of the job that is furthest behind. */
    gboolean (*watch)(void *owner, SimTime now, uint64_t events, double done);
    void *watch_owner;
} SimulationSetup;

typedef struct {
    SimTime end_ps;
    uint64_t events;
    uint32_t n_jobs;
    uint32_t *iterations; /* finished, a job */
    uint32_t *counted;    /* of these, those that count for the mean */
    SimTime *start_ps;    /* a job: when it first got its GPUs; -1 = never */
    uint32_t **nodes;     /* a job: what it got then; NULL where the set-up had them, or never */
    NetworkTotals totals;
    uint64_t skipped; /* whole periods that the memo skipped over */
} SimulationResult;

void simulation_result_clear(SimulationResult *result);

/* FALSE with an error: INPUT where a job cannot run as it is (a compute op without time or figures, no route, no
 * recorded time under the model recorded), RUN where it got stuck (who waits for what), INTERRUPTED where watch said
 * so. *result is filled in any case, as far as the run came. */
gboolean simulation_run(const SimulationSetup *setup, SimulationResult *result, GError **error);
