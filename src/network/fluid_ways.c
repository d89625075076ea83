#include "network/fluid_ways.h"

#include "base/index.h"

#include <math.h>
#include <string.h>

struct WayScratch {
    Network *network;
    DemandMaker *maker;
    uint32_t *number; /* by link; NULL until first used */
};

WayScratch *
way_scratch_new(Network *network, DemandMaker *maker)
{
    WayScratch *scratch = g_new0(WayScratch, 1);
    scratch->network = network;
    scratch->maker = maker;
    return scratch;
}

void
way_scratch_free(WayScratch *scratch)
{
    if (scratch == NULL)
        return;
    g_free(scratch->number);
    g_free(scratch);
}

/* A growing set of ways. */
typedef struct {
    Ways *ways;
    uint32_t *number;
    uint32_t hops_room, links_room;
} Builder;

static void
add_link(Builder *builder, uint32_t link)
{
    Ways *ways = builder->ways;
    if (ways->n_links == builder->links_room) {
        builder->links_room = MAX(1024, 2 * builder->links_room);
        ways->links = g_renew(uint32_t, ways->links, builder->links_room);
    }
    builder->number[link] = ways->n_links;
    ways->links[ways->n_links++] = link;
}

static void
make_room(Builder *builder, uint32_t n)
{
    Ways *ways = builder->ways;
    if (n <= builder->hops_room)
        return;
    builder->hops_room = MAX(n, builder->hops_room + builder->hops_room / 2);
    ways->hops = g_renew(uint32_t, ways->hops, builder->hops_room);
    if (ways->shares != NULL)
        ways->shares = g_renew(double, ways->shares, builder->hops_room);
}

static void
add_route(Builder *builder, uint32_t transfer, const Route *route)
{
    Ways *ways = builder->ways;
    uint32_t at = ways->first[transfer];
    make_room(builder, at + route->n_hops);
    for (uint32_t i = 0; i < route->n_hops; i++) {
        RouteHop hop = route->hops[i];
        if (builder->number[hop.link] == INDEX_NONE)
            add_link(builder, hop.link);
        if (hop.share != 1 && ways->shares == NULL) {
            ways->shares = g_new(double, builder->hops_room);
            for (uint32_t h = 0; h < at + i; h++)
                ways->shares[h] = 1;
        }
        ways->hops[at + i] = builder->number[hop.link];
        if (ways->shares != NULL)
            ways->shares[at + i] = hop.share;
    }
    ways->first[transfer + 1] = at + route->n_hops;
}

static gboolean
find_way(Builder *builder, const WayScratch *scratch, const Transfer *transfer, uint32_t number)
{
    Ways *ways = builder->ways;
    ways->first[number + 1] = ways->first[number];
    ways->latency_ps[number] = 0;
    ways->cap_Bps[number] = transfer->rate_cap_Bps;
    if (transfer->src == transfer->dst)
        return TRUE;
    Route route;
    PathRamp ramp;
    if (!demand_way(scratch->maker, transfer, &route, &ways->cap_Bps[number], &ramp))
        return FALSE;
    ways->latency_ps[number] = route.latency_ps;
    if (transfer->bytes == 0)
        return TRUE;
    ways->ramps |= ramp.round_trip_ps > 0;
    add_route(builder, number, &route);
    return TRUE;
}

Ways *
ways_new(WayScratch *scratch, const Transfer *transfers, uint32_t n)
{
    if (scratch->number == NULL) {
        uint32_t n_links = fabric_n_links(routes_fabric(scratch->network->routes));
        scratch->number = g_new(uint32_t, MAX(1, n_links));
        memset(scratch->number, 0xff, n_links * sizeof *scratch->number);
    }
    Ways *ways = g_new0(Ways, 1);
    ways->n = n;
    ways->first = g_new(uint32_t, (size_t)n + 1);
    ways->first[0] = 0;
    ways->latency_ps = g_new(SimTime, n);
    ways->cap_Bps = g_new(double, n);
    Builder builder = {.ways = ways, .number = scratch->number};
    make_room(&builder, 8 * n);
    gboolean found = TRUE;
    for (uint32_t t = 0; t < n && found; t++)
        found = find_way(&builder, scratch, &transfers[t], t);
    for (uint32_t l = 0; l < ways->n_links; l++)
        scratch->number[ways->links[l]] = INDEX_NONE;
    if (found)
        return ways;
    ways_free(ways);
    return NULL;
}

void
ways_free(Ways *ways)
{
    if (ways == NULL)
        return;
    g_free(ways->first);
    g_free(ways->hops);
    g_free(ways->shares);
    g_free(ways->links);
    g_free(ways->latency_ps);
    g_free(ways->cap_Bps);
    g_free(ways);
}
