/* run.h - the inside of the runner, shared by the ways a plan is run: graph, rings, flight, bundles, pairs
 *
 * Each way gets the same calls: a member has arrived, a send was sent, a delivery has been reduced. It counts what is
 * left in Run.left and calls run_check, which tells the end once all members are there. */
#pragma once

#include "collective/plan_cache.h"

typedef struct Run Run;

typedef struct {
    void (*start)(Run *run); /* makes its state */
    void (*arrive)(Run *run, uint32_t member);
    void (*sent)(Run *run, uint32_t node, uint32_t step);
    uint64_t (*reduces)(Run *run, uint32_t node, uint32_t step); /* bytes to reduce after this delivery */
    void (*delivered)(Run *run, uint32_t node, uint32_t step);   /* ... and reduced */
    void (*stop)(Run *run);                                      /* frees its state */
    void (*woken)(Run *run);                                     /* as asked by run_wake_in; NULL: never asks */
} RunWay;

extern const RunWay run_graph, run_rings, run_flight, run_bundles, run_pairs;

struct Run {
    CollectiveRunner *runner;
    uint32_t handle, cookie;
    CollectiveSpec spec; /* arrays borrowed */
    const CollectiveConfig *config;
    CachedPlan *plan; /* NULL where n == 1 */
    const RunWay *way;
    void *state; /* of the way */
    uint32_t n_arrived;
    uint64_t left;  /* what has to happen yet */
    uint32_t alarm; /* the stamp of the event that wakes it; 0 = none */
    gboolean ended;
};

/* The network and clock of a run. */
Network *run_network(const Run *run);
SimTime run_now(const Run *run);
/* Sends one message, or a bundle; its moments come back with node and step. A failure fails the engine's run. */
void run_send(Run *run, const Transfer *transfer, uint32_t node, uint32_t step);
/* ... a message that began to go before now, within a release of a hold. */
void run_send_begun(Run *run, const Transfer *transfer, SimTime begun_ps, uint32_t node, uint32_t step);
void run_send_bundle(Run *run, const Bundle *bundle, uint32_t node);
/* delivered(node, step) after a time; never before this call returns. */
void run_pause(Run *run, SimTime delay, uint32_t node, uint32_t step);
/* ... after the time it takes to reduce bytes. */
void run_reduce(Run *run, uint64_t bytes, uint32_t node, uint32_t step);
/* Way.woken after that time, 0: in a further round of this instant; one at a time. */
void run_wake_in(Run *run, SimTime delay);
void run_wake_cancel(Run *run);         /* none asked for is fine */
void run_fail(Run *run, GError *error); /* taken over */
/* Ends it where nothing is left and all have arrived. */
void run_check(Run *run);
