/* collective_world.h - a small world to run one collective in: fabrics, a network, who sent how much to whom */
#pragma once

#include "collective/collective.h"

/* n hosts on one switch: up_ps on the way to it, nothing on the way down, rate_Bps both ways. */
Fabric *world_switch(uint32_t n, SimTime up_ps, double rate_Bps);
/* Hosts on one switch, each with its own latency up and its own rate (both directions); rate NULL = base_Bps for all.
 */
Fabric *world_hosts(uint32_t n, const SimTime *up_ps, const double *rate_Bps, double base_Bps);
/* NVSwitch servers, one NIC a GPU, all NICs on one switch. Latencies: GPU to NVSwitch nvlink_ps, NIC to switch up_ps.
 */
Fabric *world_servers(uint32_t servers, uint32_t gpus, double nvlink_Bps, double nic_Bps, SimTime nvlink_ps,
                      SimTime up_ps);

typedef struct {
    const char *model;
    const Fabric *fabric; /* borrowed */
    CollectiveSpec spec;  /* nodes and ranks NULL = the first n GPUs, ranks 0 .. n - 1 */
    CollectiveConfig config;
    const SimTime *ready_ps; /* of each member; NULL = 0 */
    RoutingPolicy routing;
    /* Told: bytes from member i to j at [i * n + j], and messages; NULL = not asked. */
    uint64_t *pair_bytes;
    uint32_t n_dead; /* links that are dead from the start */
    const uint32_t *dead;
} WorldRun;

/* The end of it, in ps; asserts that it ends once, after all that was sent was delivered. */
SimTime world_run(const WorldRun *run);
/* Opening it is refused: the error. */
GError *world_refuses(const WorldRun *run);
