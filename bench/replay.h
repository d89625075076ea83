/* replay.h - a connection matrix of htsim sent over a network: flows at the beginning, others by their triggers
 *
 * Host h is node h of the fabric. Start times of the file are not used (all of ours are 0). */
#pragma once

#include "network/network.h"
#include "workload/htsim_cm.h"

typedef struct {
    const HtsimMatrix *matrix;
    Engine *engine;
    Network *network;
    uint32_t client, delivered; /* delivered: flows */
    uint32_t *left;             /* by trigger: activations until it fires */
    SimTime last_ps;            /* of the last byte of all */
} Replay;

/* Starts what no trigger starts; engine_run() does the rest. matrix, engine and network are borrowed. */
void replay_begin(Replay *replay, const HtsimMatrix *matrix, Engine *engine, Network *network);
void replay_end(Replay *replay);
