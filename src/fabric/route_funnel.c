/* route_funnel.c - all equal-cost ways from many switches to one port, walked once
 *
 * Ways to one port only ever come nearer to it, so that those of all switches make one graph without circles. A node
 * hands on to each next one in proportion to the paths that lead on from there, wherever the bytes came from. */
#include "fabric/route_state.h"

#include "base/index.h"

#include <math.h>

typedef struct {
    const RouteGraph *graph;
    RouteLeg leg;
    uint32_t end;   /* the switch at the port */
    double *paths;  /* by node: to the end; 0 = not met yet */
    GArray *nodes;  /* of uint32_t: met, each after all those it leads to */
    gboolean known; /* every one leads there, by no more paths than can be counted */
} Funnel;

static double
count_paths(Funnel *funnel, uint32_t node)
{
    if (node == funnel->end)
        return 1;
    if (funnel->paths[node] > 0)
        return funnel->paths[node];
    RouteFan fan = route_leg_fan(&funnel->leg, node);
    g_autofree uint32_t *next = g_new(uint32_t, MAX(1, fan.n)); /* a fan lasts until the next one */
    for (uint32_t k = 0; k < fan.n; k++)
        next[k] = funnel->graph->dst[route_fan_link(&fan, k)];
    double paths = 0;
    for (uint32_t k = 0; k < fan.n; k++)
        paths += count_paths(funnel, next[k]);
    if (!(paths > 0) || isinf(paths))
        funnel->known = FALSE;
    funnel->paths[node] = paths;
    g_array_append_val(funnel->nodes, node);
    return paths;
}

static void
list_hops(const Funnel *funnel, GArray *hops)
{
    g_array_set_size(hops, 0);
    for (uint32_t i = funnel->nodes->len; i-- > 0;) {
        uint32_t node = g_array_index(funnel->nodes, uint32_t, i);
        RouteFan fan = route_leg_fan(&funnel->leg, node);
        for (uint32_t k = 0; k < fan.n; k++) {
            uint32_t link = route_fan_link(&fan, k), to = funnel->graph->dst[link];
            double on = to == funnel->end ? 1 : funnel->paths[to];
            RouteHop hop = {link, on / funnel->paths[node]};
            g_array_append_val(hops, hop);
        }
    }
}

const RouteHop *
routes_funnel(Routes *routes, const uint32_t *from, uint32_t n_from, const RouteStem *to, uint32_t *n_hops)
{
    const RouteGraph *graph = &routes->map.graph;
    RouteTable *table = routes->map.tables[ROUTE_NETWORK];
    uint32_t port = graph->dst[to->links[0]];
    g_autofree double *paths = g_new0(double, graph->n_nodes);
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    Funnel funnel = {graph, {0}, to->end, paths, nodes, TRUE};
    /* Of a leg only its end and what is attached there is asked for. */
    funnel.leg = (RouteLeg){.table = table,
                            .from = INDEX_NONE,
                            .to = port,
                            .attachment = route_table_attachment(table, port),
                            .first = INDEX_NONE};
    for (uint32_t i = 0; i < n_from && funnel.known; i++)
        count_paths(&funnel, from[i]);
    if (!funnel.known)
        return NULL;
    list_hops(&funnel, routes->hops);
    *n_hops = routes->hops->len;
    return (const RouteHop *)(void *)routes->hops->data;
}
