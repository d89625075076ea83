/* model.h - what a network model is made of: one file and one line in network.c's table
 *
 * A model embeds Network as its first member; network.c fills that in before init. What models share lies
 * beside them: activities (who is told of what, activity.h), demands (what a transfer takes of each link,
 * demand.h), books of bytes (usage.h). */
#pragma once

#include "network/activity.h"
#include "network/hold.h"
#include "network/phase_state.h"

typedef struct NetworkModel NetworkModel;
struct Usage;
struct LossMeter;

struct Network {
    const NetworkModel *model;
    NetworkConfig config;
    Routes *routes;
    Engine *engine;
    NetworkObserver observer;
    Activities *activities;
    Phases *phases;
    uint64_t *job_keys; /* hash of seed and name, by job */
    uint32_t n_jobs;
    NetworkTotals totals;
    gboolean finished;
    uint64_t changes;                  /* of links, and of what routes know of them */
    struct NetworkListener *listeners; /* by client; told NULL = it does not listen */
    uint32_t n_listeners;
    struct NetworkLater *later; /* link changes to come */
    uint32_t n_later, kind_later;
};

struct NetworkModel {
    const char *name, *help;
    gboolean moves_bytes;
    size_t size; /* of the struct that embeds Network */
    /* Is its part of the configuration sound? FALSE with an INPUT error. NULL: always. */
    gboolean (*check)(const NetworkConfig *config, GError **error);
    void (*init)(Network *network);
    void (*destroy)(Network *network); /* what init and the run made; not the struct itself */
    void (*add_job)(Network *network, uint32_t job, const char *name); /* NULL: names mean nothing */
    /* A new activity, just made, starts now. FALSE with an INPUT error (no route): the caller takes it back. */
    gboolean (*start)(Network *network, uint32_t activity, GError **error);
    /* Takes a phase on by class; FALSE: it goes one by one. NULL: always. */
    gboolean (*send_phase)(Network *network, Phase *phase);
    /* Frees pattern->prepared; no phase of it goes by class. */
    void (*forget_pattern)(NetworkPattern *pattern);
    /* As network_hold and its like (hold.h); NULL: no holds. begun: as start, of a transfer of a hold being released.
     */
    NetworkHold *(*hold)(Network *network, const Transfer *transfers, uint32_t n, NetworkRelease release, void *owner,
                         uint32_t cookie);
    void (*start_begun)(Network *network, uint32_t activity);
    void (*set_link)(Network *network, uint32_t link, double rate_Bps);
    gboolean (*probe)(Network *network, const Transfer *transfer, NetworkProbe *probe, GError **error);
    /* What each link has for bytes now; NULL: no such thing. */
    const double *(*capacities)(const Network *network);
    void (*finish)(Network *network); /* NULL: nothing to close */
    /* Its books, each NULL where there is none; NULL: it keeps none that repeat.h could tell again. */
    void (*books)(const Network *network, struct Usage **usage, struct LossMeter **meter);
    struct Hosts *(*hosts)(const Network *network); /* NULL: hosts cost nothing */
};

struct NetworkListener {
    NetworkHostMoment told;
    void *owner;
};

extern const NetworkModel network_fluid, network_packet, network_analytic, network_recorded;

/* Bytes of a transfer: fewer. */
#define TRANSFER_BYTES_END (UINT64_C(1) << 55)

/* The route request of a transfer: nodes, NICs, and the ECMP key of DEFINITIONS 2. */
RouteRequest network_request(const Network *network, const Transfer *transfer);
