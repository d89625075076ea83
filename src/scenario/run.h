/* run.h - a scenario is run: fabric, workloads, placement, the shared run, and each job alone; all into one database */
#pragma once

#include "scenario/scenario.h"

typedef struct {
    const char *database; /* made where it is not there; runs are added */
    /* About ten times a second of wall time; phase = "shared", "alone JOB"; done = part of its iterations. FALSE
     * interrupts. NULL = nobody watches. */
    gboolean (*watch)(void *owner, const char *phase, SimTime now, uint64_t events, double done);
    void *watch_owner;
} RunOptions;

/* The id of the shared run in *run_id. An INPUT error found before anything is simulated leaves no row, and no file
 * where there was none; later ones leave a run with status failed or interrupted. */
gboolean scenario_run(const Scenario *scenario, const RunOptions *options, int64_t *run_id, GError **error);
