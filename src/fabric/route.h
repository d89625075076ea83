/* route.h - which links a transfer crosses
 *
 * Routes minimise (class, hops), class NVLink < PCIe < network (DEFINITIONS 2): a pair joined over NVLink
 * uses NVLink; else over PCIe; else through a NIC and the switches. GPUs, NICs and hosts never forward, but over
 * NVLink where the fabric says so. Next hops among switches are stored per attachment (the set of leaf
 * ports of a NIC; equal sets share one entry), computed when first asked for: the state grows with
 * switches, not with GPUs squared. */
#pragma once

#include "fabric/fabric.h"

typedef enum {
    ROUTING_ECMP,     /* one path, chosen by a seeded hash of the key at each hop */
    ROUTING_SPRAY,    /* split evenly over all live equal-cost paths */
    ROUTING_ADAPTIVE, /* one path, least loaded when the transfer starts (the asker gives the loads) */
    ROUTING_DMODK,    /* one path, the k-th of the equal-cost links by the destination's number */
    ROUTING_PINNED    /* one path, given in the scenario; others by ECMP */
} RoutingPolicy;

typedef struct {
    uint32_t src, dst;         /* GPUs or hosts */
    uint32_t src_nic, dst_nic; /* nodes to pass through, INDEX_NONE = the nearest that has a route */
    uint64_t
        key; /* hash of (scenario seed, job name, source rank, destination rank, channel): never of a node number */
} RouteRequest;

typedef struct {
    uint32_t link;
    double share; /* of the transfer's bytes that cross it: 1, less where it is split */
} RouteHop;

typedef struct {
    RouteHop *hops; /* in path order; sprayed: by distance from the source, then by link index */
    uint32_t n_hops;
    SimTime latency_ps; /* of the path; of the longest where split */
} Route;

typedef struct Routes Routes;

/* fabric is borrowed and must be sealed. */
Routes *routes_new(const Fabric *fabric, RoutingPolicy policy);
void routes_free(Routes *routes); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Routes, routes_free)

const Fabric *routes_fabric(const Routes *routes);
RoutingPolicy routes_policy(const Routes *routes);

/* Pins the path of one (src, dst), whatever its NICs: a chain of links from src to dst, checked, copied. It is followed
 * under ROUTING_PINNED while all its links live; else the pair goes by ECMP. */
gboolean routes_pin(Routes *routes, uint32_t src, uint32_t dst, const uint32_t *links, uint32_t n_links,
                    GError **error);

/* A dead link is on no route from now on; back again when alive. */
void routes_set_alive(Routes *routes, uint32_t link, gboolean alive);

/* Loads for ROUTING_ADAPTIVE: one double a link, borrowed, read at each call. */
void routes_set_loads(Routes *routes, const double *load);

/* The route of request under the fabric's policy, into *route: hops stay valid until the next call on these
 * routes (they are its scratch). src == dst: no hops, latency 0. No live route: FALSE with an INPUT error that names
 * both ends. */
gboolean routes_find(Routes *routes, const RouteRequest *request, Route *route, GError **error);

/* As routes_find, but split over all equal-cost paths whatever the policy (a live pinned path stays one): for collision
 * accounting. */
gboolean routes_find_sprayed(Routes *routes, const RouteRequest *request, Route *route, GError **error);

/* As routes_find, but one path by the hash where the policy is spray. */
gboolean routes_find_single(Routes *routes, const RouteRequest *request, Route *route, GError **error);

/* Computes the next hops of every attachment now instead of when first asked for; for benchmarks. */
void routes_prepare(Routes *routes);

/* The links by which all that a node sends to nodes it is not joined with over NVLink or PCIe goes to the first switch
 * (out), or comes from the last one: in path order. */
enum { ROUTE_STEM_LINKS = 8 };
typedef struct {
    uint32_t links[ROUTE_STEM_LINKS];
    uint32_t n;
    uint32_t end; /* the switch */
} RouteStem;

/* FALSE where they are not always the same: several live ports, NICs or ways to them, or others' NICs are used; *stem
 * is then undefined. NICs as they are where none is asked for. */
gboolean routes_stem(Routes *routes, uint32_t node, gboolean out, RouteStem *stem);
/* All that the ways of sprayed transfers from switches to the end of `to`, a stem that comes in, cross, without the stem:
 * the share of a hop is the part of all that is at its beginning that goes on over it, wherever it came from. The links
 * out of a node follow each other, in link order, after all those into it. Scratch of these routes, until the next call
 * on them. NULL where a switch has no way, or too many to be counted. */
const RouteHop *routes_funnel(Routes *routes, const uint32_t *from, uint32_t n_from, const RouteStem *to,
                              uint32_t *n_hops);
/* What the node's NVLink (else PCIe) joins: equal numbers where a way over these alone may be. INDEX_NONE: it has
 * none. */
uint32_t routes_local_domain(const Routes *routes, uint32_t node, gboolean nvlink);

/* The number of equal-cost paths of request (saturating; 1 where a path is pinned). For topology paths. */
gboolean routes_count(Routes *routes, const RouteRequest *request, uint64_t *n_paths, GError **error);

/* The live equal-cost alternatives to hop number `hop` of the last route found for request: the links a hash could have
 * chosen there, itself among them, in link order, owned by routes until the next call. *n_links = 1 where there was no
 * choice. */
const uint32_t *routes_siblings(Routes *routes, const RouteRequest *request, uint32_t link, uint32_t *n_links);

/* Bytes the route state holds, for benchmarks. */
size_t routes_memory(const Routes *routes);

gboolean routing_policy_parse(const char *text, RoutingPolicy *policy);
const char *routing_policy_name(RoutingPolicy policy);
