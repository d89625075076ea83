/* queue.h - in which order jobs that wait get their GPUs: the table of policies
 *
 * A policy is one file and one line in queue.c's table. It says which of two jobs comes first, and what may be done for
 * the first one that finds no room; scheduler.c does it. */
#pragma once

#include "base/index.h"
#include "base/sim_time.h"

#include <glib.h>

/* A job as a policy sees it. */
typedef struct {
    uint32_t job, gpus;
    SimTime arrival_ps;
    SimTime left_ps;   /* how long it will run yet, as its owner says; -1 = not said */
    int32_t priority;  /* more goes first */
    double served_s;   /* GPU seconds it has had so far */
    double quantum_s;  /* of the queue */
    gboolean restarts; /* it has run before */
} QueueEntry;

typedef struct {
    const char *name, *help;
    gboolean needs_estimate; /* every job must say how long it runs */
    /* What may be done when the first one finds no room: nothing (those behind it wait), others may go before it as
     * long as they do not delay it (EASY), or running ones of a lower rank give way. */
    enum { QUEUE_BLOCKS, QUEUE_BACKFILLS, QUEUE_PREEMPTS } when_full;
    /* Below 0: a goes before b; 0: neither, and the earlier arrival goes first, then the lower index. */
    int (*compare)(const QueueEntry *a, const QueueEntry *b);
    /* GPU seconds from which on it counts less, for the next review of a running job; 0 = never. NULL: never. */
    double (*falls_at)(const QueueEntry *entry);
} QueuePolicy;

extern const QueuePolicy queue_fifo, queue_shortest_first, queue_easy_backfill, queue_least_attained, queue_priority;

/* NULL-terminated names; NULL for an unknown one. */
const char *const *queue_policies(void);
const QueuePolicy *queue_policy_find(const char *name);

/* The whole order: of the policy, then by arrival, then by index. */
int queue_compare(const QueuePolicy *policy, const QueueEntry *a, const QueueEntry *b);
