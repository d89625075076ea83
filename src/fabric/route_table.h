/* route_table.h - inside the routes: next hops over the links of one class
 *
 * A table covers one class of links (NVLink, PCIe, network) and the nodes that may forward over it, its
 * transit nodes. What the links of the class join is a domain (a server's NVLink, the whole network). The
 * attachment of a node is the set of transit nodes with a live link into it; nodes with equal sets share one
 * entry: for each transit node of the domain the hops to the nearest of the set, and which of its links
 * come nearer. So the state of a domain grows with transit nodes x attachments, and small domains stay small.
 * Entries are made when first asked for and anew after a link between transit nodes died or revived. */
#pragma once

#include "fabric/fabric.h"

typedef enum { ROUTE_NVLINK, ROUTE_PCIE, ROUTE_NETWORK, ROUTE_CLASSES } RouteClass;

/* The fabric in the columns that routes read, by link; owned by the routes. */
typedef struct {
    const Fabric *fabric;
    uint32_t n_nodes, n_links;
    uint32_t *src, *dst;
    SimTime *latency_ps;
    uint8_t *class; /* RouteClass */
    uint8_t *live;  /* the class, or ROUTE_CLASSES where the link is dead */
} RouteGraph;

void route_graph_init(RouteGraph *graph, const Fabric *fabric);
void route_graph_clear(RouteGraph *graph);
size_t route_graph_memory(const RouteGraph *graph);

typedef struct RouteTable RouteTable;

/* graph is borrowed. */
RouteTable *route_table_new(const RouteGraph *graph, RouteClass class);
void route_table_free(RouteTable *table); /* NULL is fine */

/* Link of this class died or revived; graph->live has been set. */
void route_table_changed(RouteTable *table, uint32_t link);

/* Does any link of the class touch node? */
gboolean route_table_touches(const RouteTable *table, uint32_t node);
/* The number of what the class joins node with; INDEX_NONE where no link of the class touches it. */
uint32_t route_table_domain(const RouteTable *table, uint32_t node);
/* Does node forward over links of the class? */
gboolean route_table_is_transit(const RouteTable *table, uint32_t node);
/* The number of node's attachment: equal numbers, equal sets. The node must be touched. */
uint32_t route_table_attachment(RouteTable *table, uint32_t node);
/* Makes the entries of all nodes that are no transit nodes. */
void route_table_prepare(RouteTable *table);
/* Numbers the ends of the class so that those of one attachment follow each other; attachments in the order
 * of their first end. Once, before any link died: destination-mod-k divides these. */
void route_table_number(RouteTable *table);
uint32_t route_table_ordinal(const RouteTable *table, uint32_t node); /* 0 before route_table_number() */
size_t route_table_memory(const RouteTable *table);

/* A part of a route: from one node to another over one class of links, all equal-cost ways. */
typedef struct {
    RouteTable *table;
    uint32_t from, to;
    uint32_t attachment; /* of to; INDEX_NONE: a link joins the two */
    uint32_t nearest;    /* from the best first transit node to the last one, in hops */
    uint32_t length;     /* in hops */
    uint32_t first;      /* the one first hop; INDEX_NONE where there are several */
} RouteLeg;

/* FALSE, and *leg untouched, where no live way is. from == to asks for a way out and back (one NIC between
 * two of its GPUs). */
gboolean route_table_leg(RouteTable *table, uint32_t from, uint32_t to, RouteLeg *leg);

/* The links at node that go on along a shortest way, in link order. Valid until the next fan of this table, and with
 * the leg. */
typedef struct {
    uint32_t n;
    const uint32_t *links; /* all of them; or those whose bit in mask is set, where there is a mask */
    const uint64_t *mask;
} RouteFan;

/* node is on the leg, and not its end unless it is its beginning too. */
RouteFan route_leg_fan(const RouteLeg *leg, uint32_t node);
uint32_t route_fan_link(const RouteFan *fan, uint32_t k); /* k < n */
/* May be asked of any node: n = 0 where it is not on the leg's table. */
gboolean route_leg_holds(const RouteLeg *leg, uint32_t link);
