/* route_stem.c - the part of a node's ways that is the same wherever they lead */
#include "fabric/route_chain.h"
#include "fabric/route_state.h"

#include <string.h>

uint32_t
routes_local_domain(const Routes *routes, uint32_t node, gboolean nvlink)
{
    return route_table_domain(routes->map.tables[nvlink ? ROUTE_NVLINK : ROUTE_PCIE], node);
}

static gboolean
put(RouteStem *stem, uint32_t link)
{
    if (stem->n == ROUTE_STEM_LINKS)
        return FALSE;
    stem->links[stem->n++] = link;
    return TRUE;
}

/* The only way between a node and its NIC over PCIe, in path order. */
static gboolean
put_inside(Routes *routes, uint32_t node, uint32_t nic, gboolean out, RouteStem *stem)
{
    RouteLeg leg;
    if (!route_table_leg(routes->map.tables[ROUTE_PCIE], out ? node : nic, out ? nic : node, &leg))
        return FALSE;
    for (uint32_t at = leg.from; at != leg.to;) {
        RouteFan fan = route_leg_fan(&leg, at);
        if (fan.n != 1 || !put(stem, route_fan_link(&fan, 0)))
            return FALSE;
        at = routes->map.graph.dst[stem->links[stem->n - 1]];
    }
    return TRUE;
}

/* The only live network link out of (into) port, from (to) a switch. */
static gboolean
put_port(Routes *routes, uint32_t port, gboolean out, RouteStem *stem)
{
    const RouteGraph *graph = &routes->map.graph;
    uint32_t n, only = INDEX_NONE;
    const uint32_t *links = out ? fabric_out(graph->fabric, port, &n) : fabric_in(graph->fabric, port, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (graph->live[links[i]] != ROUTE_NETWORK)
            continue;
        if (only != INDEX_NONE)
            return FALSE;
        only = links[i];
    }
    if (only == INDEX_NONE)
        return FALSE;
    stem->end = out ? graph->dst[only] : graph->src[only];
    return route_table_is_transit(routes->map.tables[ROUTE_NETWORK], stem->end) && put(stem, only);
}

gboolean
routes_stem(Routes *routes, uint32_t node, gboolean out, RouteStem *stem)
{
    const Fabric *fabric = routes->map.graph.fabric;
    stem->n = 0;
    if (fabric_forward(fabric) != FORWARD_NONE || routes->policy == ROUTING_PINNED)
        return FALSE;
    if (route_table_touches(routes->map.tables[ROUTE_NETWORK], node))
        return put_port(routes, node, out, stem);
    uint32_t n;
    const uint32_t *nics = fabric_nics(fabric, node, &n);
    if (n != 1)
        return FALSE;
    if (out)
        return put_inside(routes, node, nics[0], TRUE, stem) && put_port(routes, nics[0], TRUE, stem);
    return put_port(routes, nics[0], FALSE, stem) && put_inside(routes, node, nics[0], FALSE, stem);
}
