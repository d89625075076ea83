/* transport_world.h - n senders, one switch, one receiver, and what their flows get of its link; for tests of
 * transports
 */
#pragma once

#include "network/packet_net.h"
#include "network_fixture.h"

typedef struct {
    uint32_t n;
    double rate_Bps;
    SimTime latency_ps;     /* of each of the two links on the way */
    double loss, loss_back; /* of each link on the way of data, of ACKs and the like */
    const char *transport;
    TransportSetting settings[8]; /* ended by a NULL key */
} World;

enum { WORLD_MOST = 128 };

typedef struct {
    Fixture fixture;
    World world;
    uint32_t senders[WORLD_MOST], receiver;
    uint32_t bottleneck; /* the link from the switch to the receiver */
    /* From world_measure: */
    double rate_Bps[WORLD_MOST]; /* payload that arrived, by flow in the order sent */
    double sum_Bps;
    double mean_queue_B, least_queue_B, most_queue_B; /* at the bottleneck, at samples 1 us apart */
} WorldRun;

/* Nodes and network. config: of switches and packets, NULL = the default; the transport in it is the world's. */
void world_begin(WorldRun *run, const World *world, const PacketConfig *config);
void world_begin_seeded(WorldRun *run, const World *world, const PacketConfig *config, uint64_t seed);
/* One flow from each sender at 0, of so many bytes. */
void world_send_all(WorldRun *run, uint64_t bytes);
/* Runs until `until`; rates and queues are those from `from` on. Flows must outlast it. */
void world_measure(WorldRun *run, SimTime from, SimTime until);
void world_end(WorldRun *run);

static inline PacketNet *
world_net(const WorldRun *run)
{
    return (PacketNet *)run->fixture.network;
}
