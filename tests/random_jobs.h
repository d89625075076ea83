/* random_jobs.h - jobs by seed: a mesh of ranks that compute, run collectives over its axes and pass messages around
 * them, and what that must move */
#pragma once

#include "base/random.h"
#include "cluster/simulation.h"

enum { RANDOM_JOBS = 3, RANDOM_RANKS = 8 };

typedef struct {
    JobSetup setup; /* for simulation_run; workload, nodes and name are owned */
    SimTime start_ps[RANDOM_RANKS];
    uint64_t bytes;       /* that all ranks together send in one iteration */
    uint32_t collectives; /* that end in one iteration, of all groups together */
} RandomJob;

/* Every iteration ends with a barrier of all ranks, so that all of them end it together. taken: GPUs that are in use,
 * by node. FALSE: fewer than two are left. */
gboolean random_job(RandomJob *job, uint32_t number, const Fabric *fabric, gboolean *taken, Random *dice);
/* Without that barrier: a rank begins its next iteration when its own is over, which others may not have begun. */
gboolean random_job_loose(RandomJob *job, uint32_t number, const Fabric *fabric, gboolean *taken, Random *dice);
void random_job_clear(RandomJob *job);
