/* route_chain.h - inside the routes: which NICs, and which legs a route is made of
 *
 * A route is one leg over NVLink, or one over PCIe, or up to two inside the source's server, one through the
 * network, and up to two inside the destination's. This module chooses; DEFINITIONS 2 and 4. */
#pragma once

#include "fabric/route.h"
#include "fabric/route_table.h"

enum { ROUTE_LEGS = 5 };

typedef struct {
    RouteLeg legs[ROUTE_LEGS];
    uint32_t n;
} RouteChain;

/* The fabric as routes see it. */
typedef struct {
    RouteGraph graph;
    RouteTable *tables[ROUTE_CLASSES];
    /* The GPUs with the fewest PCIe hops to a NIC ([0]) and from it ([1]), met in link order: first and
     * number in owners, by node; first = INDEX_NONE: not looked for yet. */
    struct {
        uint32_t first, n;
    } * owned[2];
    GArray *owners; /* of uint32_t */
    uint32_t *seen; /* by node: the last search that met it */
    uint32_t search;
    GArray *queue, *depth; /* of uint32_t: of a search for owners */
} RouteMap;

void route_map_init(RouteMap *map, const Fabric *fabric);
void route_map_clear(RouteMap *map);
/* graph.live[link] has been changed. */
void route_map_changed(RouteMap *map, uint32_t link);
size_t route_map_memory(const RouteMap *map);

/* The legs of request, whose ends differ. FALSE where no live way is. */
gboolean route_chain_find(RouteMap *map, const RouteRequest *request, RouteChain *chain);
