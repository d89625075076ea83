/* random_world.h - small fabrics and transfers by seed, and a log of what a network tells; for the differential tests
 */
#pragma once

#include "base/random.h"
#include "engine/engine.h"
#include "fabric/route.h"
#include "network/network.h"

/* Sealed: a generated site (servers of a few GPUs, every sort of zone that joins them, one or two buildings) or a
 * random graph of switches and hosts. nvlink: the GPUs of a server have NVLink in any case, as channels of rings need
 * it. */
Fabric *random_fabric(Random *dice, gboolean nvlink);

/* One of those whose routes do not depend on the time of asking. */
RoutingPolicy random_routing(Random *dice);

/* The ECMP key of DEFINITIONS 2. */
uint64_t world_key(uint64_t seed, const char *job, uint32_t src_rank, uint32_t dst_rank, uint32_t channel);

typedef struct {
    uint32_t link, job;
    SimTime start_ps, length_ps, busy_ps;
    uint64_t bytes;
} WorldUsage;

/* All that a network told, in the order told. */
typedef struct {
    GArray *usage;     /* of WorldUsage */
    GArray *losses;    /* of Loss */
    GArray *transfers; /* of TransferRecord */
    uint64_t digest;   /* of all of it, in order */
} WorldLog;

void world_log_begin(WorldLog *log);
void world_log_end(WorldLog *log);
void world_log_note(WorldLog *log, uint64_t value); /* into the digest */
NetworkObserver world_log_observer(WorldLog *log);

typedef struct {
    SimTime at_ps;
    uint32_t link;
    double rate_Bps;
} WorldFault;

/* Of every job, at every node: what came in less what went out is what its transfers brought less what they took
 * along. */
void world_check_conservation(const WorldLog *log, const Fabric *fabric, uint32_t n_jobs);
/* No link carries more in a bucket than its capacity gives (the changes of faults counted); slack_B: bytes that
 * roundings of split or rerouted transfers may move. */
void world_check_capacity(const WorldLog *log, const Fabric *fabric, const WorldFault *faults, uint32_t n_faults,
                          uint64_t slack_B);
/* Times of each transfer are in order, and, with in_time (no holds: hold.h), transfers among themselves; losses are
 * never negative and have a victim. */
void world_check_order(const WorldLog *log, gboolean in_time);
