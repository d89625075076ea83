/* network_fixture.h - a small fabric with a network on it, and a log of what it tells; for the tests of network models
 */
#pragma once

#include "engine/engine.h"
#include "fabric/route.h"
#include "network/network.h"
#include "support.h"

#include <math.h>
#include <string.h>

enum { FIXTURE_TOLD = 4096 };

typedef struct {
    uint32_t link, job;
    SimTime start_ps, length_ps, busy_ps;
    uint64_t bytes;
} FixtureUsage;

typedef struct {
    Fabric *fabric;
    Routes *routes;
    Engine *engine;
    Network *network;
    uint32_t client;
    NetworkConfig config;
    SimTime sent[FIXTURE_TOLD], delivered[FIXTURE_TOLD]; /* by cookie, -1 = not told */
    GArray *usage;                                       /* of FixtureUsage */
    GArray *losses;                                      /* of Loss */
    GArray *transfers;                                   /* of TransferRecord */
    GArray *packet_links;                                /* of PacketLinkCounts, by link */
    uint64_t digest;                                     /* of all that was told, in order */
} Fixture;

void fixture_begin(Fixture *fixture);
/* Nodes and cables; the index of the node, of the cable's first link (the way back is that + 1). */
uint32_t fixture_node(Fixture *fixture, NodeKind kind, const char *name);
uint32_t fixture_cable(Fixture *fixture, uint32_t a, uint32_t b, double capacity_Bps, SimTime latency_ps);
/* Seals the fabric and makes network, with one job "a". Change config before. */
void fixture_network(Fixture *fixture, const char *model, RoutingPolicy policy);
void fixture_end(Fixture *fixture);

/* A transfer of job 0, weight 1, no cap, no coflow; ranks are the nodes. */
Transfer fixture_transfer(const Fixture *fixture, uint32_t src, uint32_t dst, uint64_t bytes);
void fixture_send(Fixture *fixture, const Transfer *transfer, uint32_t cookie);
/* The same at a later time. */
void fixture_send_at(Fixture *fixture, SimTime at, const Transfer *transfer, uint32_t cookie);
/* Until nothing is left, then network_finish. */
void fixture_run(Fixture *fixture);

/* Sums over the books. job INDEX_NONE: all. */
uint64_t fixture_bytes(const Fixture *fixture, uint32_t link, uint32_t job);
SimTime fixture_busy(const Fixture *fixture, uint32_t link, uint32_t job);
/* Lost seconds; INDEX_NONE for culprit: no culprit; link INDEX_NONE: any. */
double fixture_lost(const Fixture *fixture, uint32_t victim, uint32_t culprit, uint32_t link, LossKind kind);
/* Of packets over a link; all zero where none went. */
PacketLinkCounts fixture_packets(const Fixture *fixture, uint32_t link);
double fixture_lost_in_all(const Fixture *fixture);
