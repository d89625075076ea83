/* setup.h - a scenario made ready: its files read, its names resolved, its jobs placed */
#pragma once

#include "cluster/simulation.h"
#include "scenario/scenario.h"

typedef struct {
    const Scenario *scenario;
    Fabric *fabric;
    Workload **workloads; /* a job */
    uint32_t **nodes;     /* a job, a rank */
    JobSetup *jobs;
    FaultSetup *faults;
    uint32_t n_faults;
    GPtrArray *pinned;
} Setup;

/* NULL with an INPUT error "FILE:LINE:COLUMN: jobs[1]...: ...". scenario is borrowed. */
Setup *setup_new(const Scenario *scenario, GError **error);
void setup_free(Setup *setup); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Setup, setup_free)
