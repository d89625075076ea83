/* cluster/observer.h - what a simulation tells of its jobs, implemented by results
 *
 * Any function may be NULL. Calls come in the engine's order; all before the run ends. */
#pragma once

#include "collective/collective.h"
#include "network/observer.h"

typedef struct {
    uint32_t job, index;
    SimTime start_ps, end_ps; /* first op of any rank, last op of any rank */
    /* Means over ranks; the four sum to the mean rank iteration. */
    SimTime compute_ps, exposed_wait_ps, exposed_transfer_ps, idle_ps;
    gboolean counted; /* after warm-up and, under `measure: common`, while all jobs ran */
} IterationRecord;

typedef struct {
    uint32_t job, iteration;
    const char *group, *stream;
    uint32_t seq;
    CollectiveKind kind;
    const char *algorithm;
    uint32_t ranks;
    uint64_t bytes;
    SimTime first_ps, ready_ps, end_ps;
    SimTime alone_ps; /* -1 = not known */
} CollectiveRecord;

typedef struct {
    NetworkObserver network;
    void *owner;
    void (*job_started)(void *owner, uint32_t job, SimTime start_ps, const uint32_t *nodes, uint32_t n_ranks);
    void (*iteration)(void *owner, const IterationRecord *iteration); /* in index order, a job */
    void (*collective)(void *owner, const CollectiveRecord *collective);
    /* end_ps is -1 where the run ended before the job did; status = done, failed, interrupted. */
    void (*job_ended)(void *owner, uint32_t job, SimTime end_ps, uint32_t iterations, const char *status);
    /* It gave up its GPUs before its end, and waits for others; lost_ps: of what it had done, to be done again. A
     * further job_started tells when it goes on, maybe elsewhere. */
    void (*job_stopped)(void *owner, uint32_t job, SimTime at_ps, SimTime lost_ps);
    void (*event)(void *owner, SimTime at_ps, const char *kind, const char *subject, const char *text);
} ClusterObserver;
