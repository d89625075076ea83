/* fabric.h - the graph: GPUs, NVSwitches, NICs, switches and the directed links between them
 *
 * Nodes and links are rows in columns, numbered in the order they were added; a cable is two directed
 * links, k parallel cables are k distinct pairs. Texts are interned and owned by the fabric.
 * While it is built rows are added; fabric_seal() makes the compact adjacency, after which it is
 * read-only. Attribute names are those of DEFINITIONS 8. */
#pragma once

#include "base/index.h"
#include "base/sim_time.h"

typedef enum {
    NODE_GPU,
    NODE_NVSWITCH,
    NODE_PCIE,
    NODE_NIC,
    NODE_LEAF,
    NODE_SPINE,
    NODE_CORE,
    NODE_DCI,
    NODE_STORAGE,
    NODE_HOST,
    NODE_KINDS
} NodeKind;

typedef enum {
    LINK_NVLINK,
    LINK_PCIE,
    LINK_ETHERNET,
    LINK_INFINIBAND,
    LINK_INTERBUILDING,
    LINK_INTERREGION,
    LINK_KINDS
} LinkKind;

/* May a GPU pass on what is not for it? Over NVLink only (DEFINITIONS 2). */
typedef enum { FORWARD_NONE, FORWARD_PXN, FORWARD_MESH } ForwardMode;

typedef struct {
    const char *name; /* unique */
    NodeKind kind;
    const char *region, *building, *zone, *rack, *server; /* "" where it has none */
    int32_t rail;                                         /* -1 where it has none */
    /* Of a GPU; 0 = not known. */
    const char *gpu; /* model name, "" = not known */
    double peak_FLOPps, memory_bandwidth_Bps;
    uint64_t memory_B;
} Node;

typedef struct {
    uint32_t src, dst;
    LinkKind kind;
    double capacity_Bps;
    SimTime latency_ps;
    double length_km;                /* NAN = not known */
    uint64_t buffer_B;               /* 0 = not known */
    double loss;                     /* probability a packet is lost, 0 by default */
    uint64_t ecn_kmin_B, ecn_kmax_B; /* 0 = none */
    double ecn_pmax;
    const char *source; /* where capacity and latency came from: "file", "generated", "default", ... */
} Link;

/* No link is faster (so that rates stay exact), and none longer (so that a path's latency stays in range). */
#define LINK_MAX_Bps 0x1p54
#define LINK_MAX_LATENCY_PS (86400 * PS_PER_S)

typedef struct Fabric Fabric;

Fabric *fabric_new(void);
void fabric_free(Fabric *fabric); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fabric, fabric_free)

/* A node or link with every attribute at its default. */
Node node_default(void);
Link link_default(void);

/* Copies node and interns its texts; its index. A name already taken: INDEX_NONE with an INPUT error. */
uint32_t fabric_add_node(Fabric *fabric, const Node *node, GError **error);
/* Copies link; its index. Ends must exist, capacity be above 0 and finite, latency 0 or more,
 * loss in [0, 1): else INDEX_NONE with an INPUT error. */
uint32_t fabric_add_link(Fabric *fabric, const Link *link, GError **error);
/* Both directions: the index of the first; the way back is that + 1. */
uint32_t fabric_add_cable(Fabric *fabric, const Link *link, GError **error);
void fabric_set_forward(Fabric *fabric, ForwardMode forward);
void fabric_set_name(Fabric *fabric, const char *name);

/* Makes the adjacency. Without any node it fails. No row may be added afterwards. */
gboolean fabric_seal(Fabric *fabric, GError **error);

const char *fabric_name(const Fabric *fabric);
ForwardMode fabric_forward(const Fabric *fabric);
uint32_t fabric_n_nodes(const Fabric *fabric);
uint32_t fabric_n_links(const Fabric *fabric);
const Node *fabric_node(const Fabric *fabric, uint32_t node);
const Link *fabric_link(const Fabric *fabric, uint32_t link);
/* INDEX_NONE where there is none of that name. */
uint32_t fabric_find(const Fabric *fabric, const char *name);

/* The links out of (into) a node in index order, owned by the fabric. After sealing. */
const uint32_t *fabric_out(const Fabric *fabric, uint32_t node, uint32_t *n_links);
const uint32_t *fabric_in(const Fabric *fabric, uint32_t node, uint32_t *n_links);

/* The GPUs in index order (hosts where the fabric has no GPU: they then play ranks). After sealing. */
const uint32_t *fabric_gpus(const Fabric *fabric, uint32_t *n_gpus);
/* The NICs a GPU may use, nearest first: fewest hops over PCIe, then over NVLink, ties by rail then index.
 * "Nearest" prefers a NIC joined to this GPU by PCIe; the NICs of the same server that are only reached
 * through another GPU follow. After sealing. */
const uint32_t *fabric_nics(const Fabric *fabric, uint32_t gpu, uint32_t *n_nics);
/* The server a node is in: a dense number over the distinct (region, building, zone, server) of nodes
 * whose server is set; a GPU without one is a server of its own, with the NICs without one that it reaches
 * over PCIe; INDEX_NONE of any other node. After sealing. */
uint32_t fabric_server(const Fabric *fabric, uint32_t node);
uint32_t fabric_n_servers(const Fabric *fabric);
/* The NICs of a server, by rail then index: NIC k of a channel k. After sealing. */
const uint32_t *fabric_server_nics(const Fabric *fabric, uint32_t server, uint32_t *n_nics);
/* Likewise the building: dense number over distinct (region, building). Where no node names a building all
 * are in building 0; else a node without one (a router between buildings) is in INDEX_NONE, but for GPUs. */
uint32_t fabric_building(const Fabric *fabric, uint32_t node);
uint32_t fabric_n_buildings(const Fabric *fabric);

/* "gpu", "nvlink", ... and back; FALSE where unknown. */
const char *node_kind_name(NodeKind kind);
const char *link_kind_name(LinkKind kind);
gboolean node_kind_parse(const char *text, NodeKind *kind);
gboolean link_kind_parse(const char *text, LinkKind *kind);
const char *forward_name(ForwardMode forward);
gboolean forward_parse(const char *text, ForwardMode *forward);
