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
    PathLimit (*settings)[PATH_LEVELS]; /* rows of network.settings, from 1 in what follows; 0 = the limits alone */
    uint32_t n_settings;
    uint32_t *settings_of_job;    /* a job: of transfers that belong to no group */
    uint32_t **settings_of_group; /* a job, a group */
    double **weight_of_group;     /* a job, a group; NULL = all alike */
} Setup;

/* NULL with an INPUT error "FILE:LINE:COLUMN: jobs[1]...: ...". scenario is borrowed. */
Setup *setup_new(const Scenario *scenario, GError **error);
/* Resolves network.settings; fabric apart, the set-up stands. FALSE with an INPUT error. */
gboolean setup_settings(Setup *setup, GError **error);
void setup_free(Setup *setup); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Setup, setup_free)
