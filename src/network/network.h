/* network.h - moving bytes over the fabric: one interface, several models
 *
 * A transfer goes from one node to another; a bundle is a set of transfers that progress together (the
 * same fraction of each is done at every instant). Its end has two moments: SENT, when the last byte has
 * left (the sender may send again), and DELIVERED, a path latency later. Both are told through the engine,
 * in its order. Models are found by name in the table of models; DEFINITIONS 3. */
#pragma once

#include "engine/engine.h"
#include "fabric/route.h"
#include "network/observer.h"
#include "network/packet_config.h"
#include "network/path_limit.h"
#include "network/repeat.h"

typedef enum { NETWORK_SENT, NETWORK_DELIVERED } NetworkMoment;

/* cookie: as given with the transfer. May start further transfers. */
typedef void (*NetworkDone)(void *owner, uint32_t cookie, NetworkMoment moment);

typedef struct {
    uint32_t job;       /* of network_add_job */
    uint32_t iteration; /* of that job, for the books */
    uint32_t coflow;    /* the collective it belongs to: a number unique in the run, INDEX_NONE = none */
    uint32_t src_rank, dst_rank, channel; /* with the job's name: the ECMP key */
    uint32_t src, dst;                    /* nodes: GPUs or hosts */
    uint32_t src_nic, dst_nic;            /* NICs to use, INDEX_NONE = the nearest */
    uint64_t bytes;                       /* 0 is legal: a message of latency only */
    double weight;                        /* share of a contended link, 1 = one flow */
    double rate_cap_Bps;                  /* INFINITY = none */
    uint32_t settings; /* what is set for its long ways: a row of NetworkConfig.settings, from 1; 0 = its limits */
    uint8_t host_cpu, host_nic; /* of both hosts, under LogGOPS */
    gboolean host_begun;        /* under LogGOPS: it has been queued at its host, and begins now */
} Transfer;

/* A message from each node to each of the others; all_pairs.h. */
typedef struct AllPairs AllPairs;

typedef struct {
    const Transfer *members; /* one job, iteration and coflow */
    uint32_t n_members;
    /* From the last byte sent to the last arrived, beyond nothing: the path latencies do not add to it. A
     * collective puts its latency term here. */
    SimTime latency_ps;
    const AllPairs *pairs; /* instead of members; copied */
} Bundle;

/* Host costs of LogGOPS (Hoefler, Schneider, Lumsdaine 2010), analytic only; 0 by default. The rules are LogGOPSim's
 * (doc/model.md): a message of s bytes holds the sender's CPU for o + (s - 1) O, the receiver's for o + (s - 1) max(O,
 * G), and a NIC of each for g + (s - 1) G; above S bytes a send ends when its receive has met it. */
typedef struct {
    SimTime L_ps; /* latency; 0 = that of the way */
    SimTime o_ps, g_ps;
    double O_s_per_B, G_s_per_B;
    uint64_t S_B; /* 0 = never */
} LogGops;

typedef struct {
    uint64_t seed;                            /* of the scenario: into the ECMP key */
    SimTime bucket_ps;                        /* of link usage and losses; > 0 */
    gboolean books;                           /* keep link usage and losses; without, only transfers are told */
    gboolean collisions;                      /* tell collisions from contention (needs a further solve) */
    double payload_fraction;                  /* payload / (payload + header), 1 = headers not counted */
    PathLimit limits[PATH_LEVELS];            /* of transfers without a row of settings */
    const PathLimit (*settings)[PATH_LEVELS]; /* rows, borrowed */
    uint32_t n_settings;
    /* From the death or return of a link until routes know of it; fluid (the packet model's is in packet). */
    SimTime reroute_delay_ps;
    LogGops loggops;
    PacketConfig packet; /* of the packet model */
} NetworkConfig;

NetworkConfig network_config_default(void);

/* The model's name is looked up in the table ("fluid", "packet", "analytic", "recorded"); unknown: NULL with an INPUT
 * error naming the nearest. routes and engine are borrowed; observer is copied, NULL = nobody listens. */
Network *network_new(const char *model, const NetworkConfig *config, Routes *routes, Engine *engine,
                     const NetworkObserver *observer, GError **error);
void network_free(Network *network); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Network, network_free)

/* Who is told of the ends of transfers whose cookies come from this client. Its number is given to network_send. */
uint32_t network_add_client(Network *network, NetworkDone done, void *owner);
/* A job by name; its number counts from 0 in the order added. */
uint32_t network_add_job(Network *network, const char *name);

/* Starts a transfer now. It is copied. No route: FALSE with an INPUT error naming both ends.
 * src == dst: sent and delivered at once (in a further round of this instant). */
gboolean network_send(Network *network, uint32_t client, const Transfer *transfer, uint32_t cookie, GError **error);
gboolean network_send_bundle(Network *network, uint32_t client, const Bundle *bundle, uint32_t cookie, GError **error);

/* Sets the capacity of a directed link now, in mid-run; 0 = dead: a reroute delay later routes avoid it, and transfers
 * over it are routed anew (until then, and where no way is left, they stand still). When it comes back, transfers whose
 * way it still is go on at once, and a reroute delay later routes use it. */
void network_set_link(Network *network, uint32_t link, double rate_Bps);
/* How often that was done so far: what was asked of routes and capacities before stands for as long as this does, but
 * under adaptive routing, where it never does (each call tells another number). */
uint64_t network_changes(Network *network);
/* The same at a time not before now. */
void network_set_link_at(Network *network, uint32_t link, double rate_Bps, SimTime at);

/* What a transfer would meet in an empty network now: path latency, and the rate it would get alone (caps
 * included). Nothing is sent. */
typedef struct {
    SimTime latency_ps;
    double rate_Bps; /* INFINITY where src == dst */
} NetworkProbe;
gboolean network_probe(Network *network, const Transfer *transfer, NetworkProbe *probe, GError **error);

/* Under LogGOPS, told to clients that listen: a message has come, and its receiver's CPU and NIC take it in; ahead of
 * DELIVERED. Where a message above S bytes meets its receive a listener finds out itself. */
typedef void (*NetworkHostMoment)(void *owner, uint32_t cookie);
void network_listen(Network *network, uint32_t client, NetworkHostMoment told, void *owner);
/* The hosts' CPUs and NICs (hosts.h); NULL where they cost nothing. */
struct Hosts *network_hosts(const Network *network);

/* What is set for a transfer, by level. */
const PathLimit *network_limits(const Network *network, const Transfer *transfer);

/* The fabric of its routes. */
const Fabric *network_fabric(const Network *network);

/* FALSE: this model moves nothing; collectives last what was recorded. */
gboolean network_moves_bytes(const Network *network);

/* Closes the books at the engine's present time (buckets still open are told). Once, at the end. */
void network_finish(Network *network);

/* Transfers not yet delivered, for the message of a run that got stuck. */
uint32_t network_in_flight(const Network *network);

/* Of the packet model; a packet-hop is one packet leaving one port. */
typedef struct {
    uint64_t data_hops, control_hops;
    uint64_t dropped, trimmed, marked, resent, pauses, timeouts; /* packets, pause frames, timeouts of flows */
} PacketTotals;

typedef struct {
    uint64_t transfers;
    uint64_t bytes;
    gboolean saturated; /* did any link ever fill? (fluid) */
    PacketTotals packet;
} NetworkTotals;
NetworkTotals network_totals(const Network *network);

/* The names in the table, NULL-terminated. */
const char *const *network_models(void);
const char *network_model_help(const char *model);
/* As network_moves_bytes, of a model by its name (one of the table). */
gboolean network_model_moves_bytes(const char *model);
