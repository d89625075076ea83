#include "network/demand.h"

#include "base/index.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* A node on the way of a split transfer: what has come in and not yet been handed on. */
typedef struct {
    uint64_t bytes;
    double share;
    uint32_t n_out; /* hops not yet served */
} Hub;

/* The demand of all pairs made last: a collective has it again in its next round, and its next run. */
typedef struct {
    AllPairs *pairs; /* NULL: none */
    uint64_t changes;
    Demand demand; /* arrays owned */
} Remembered;

struct DemandMaker {
    Network *network;
    const Fabric *fabric;
    gboolean limited; /* does any way have a limit? */
    gboolean steered; /* is the choice of ways set for any? */
    uint32_t *row;    /* by link: its row in uses; INDEX_NONE */
    Hub *hubs;        /* by node; all zero between calls */
    MaxMinUse *uses;
    uint64_t *bytes;
    uint32_t room;
    uint64_t *split; /* bytes of each hop of one route */
    uint32_t split_room;
    Remembered last;
};

static void
note_limits(DemandMaker *maker, const PathLimit *limits)
{
    for (PathLevel level = 0; level < PATH_LEVELS; level++) {
        maker->limited |= path_limit_is_set(&limits[level]);
        maker->steered |= limits[level].spread != PATH_AS_ROUTED;
    }
}

DemandMaker *
demand_maker_new(Network *network)
{
    DemandMaker *maker = g_new0(DemandMaker, 1);
    maker->network = network;
    maker->fabric = routes_fabric(network->routes);
    note_limits(maker, network->config.limits);
    for (uint32_t i = 0; i < network->config.n_settings; i++)
        note_limits(maker, network->config.settings[i]);
    uint32_t n_links = fabric_n_links(maker->fabric);
    maker->row = g_new(uint32_t, MAX(1, n_links));
    memset(maker->row, 0xff, n_links * sizeof *maker->row);
    maker->hubs = g_new0(Hub, fabric_n_nodes(maker->fabric));
    return maker;
}

static void
forget(Remembered *last)
{
    g_clear_pointer(&last->pairs, all_pairs_free);
    g_clear_pointer(&last->demand.uses, g_free);
    g_clear_pointer(&last->demand.bytes, g_free);
}

void
demand_maker_free(DemandMaker *maker)
{
    if (maker == NULL)
        return;
    forget(&maker->last);
    g_free(maker->row);
    g_free(maker->hubs);
    g_free(maker->uses);
    g_free(maker->bytes);
    g_free(maker->split);
    g_free(maker);
}

static void
make_room(DemandMaker *maker, uint32_t n)
{
    if (n <= maker->room)
        return;
    maker->room = MAX(MAX(64, n), 2 * maker->room);
    maker->uses = g_renew(MaxMinUse, maker->uses, maker->room);
    maker->bytes = g_renew(uint64_t, maker->bytes, maker->room);
}

static uint32_t
row_of(DemandMaker *maker, Demand *demand, uint32_t link)
{
    if (maker->row[link] != INDEX_NONE)
        return maker->row[link];
    make_room(maker, demand->n + 1);
    maker->uses[demand->n] = (MaxMinUse){link, 0};
    maker->bytes[demand->n] = 0;
    return maker->row[link] = demand->n++;
}

/* Whole bytes for each hop of a route, in proportion to the shares at each node, its last hop taking the rest. Hops
 * come by distance from the source, so a node's bytes are complete before it hands them on. */
static void
apportion(DemandMaker *maker, const Route *route, uint32_t src, uint64_t bytes)
{
    if (route->n_hops > maker->split_room) {
        maker->split_room = MAX(64, 2 * route->n_hops);
        maker->split = g_renew(uint64_t, maker->split, maker->split_room);
    }
    for (uint32_t i = 0; i < route->n_hops; i++) {
        Hub *from = &maker->hubs[fabric_link(maker->fabric, route->hops[i].link)->src];
        from->n_out++;
        from->share += route->hops[i].share;
    }
    maker->hubs[src].bytes = bytes;
    for (uint32_t i = 0; i < route->n_hops; i++) {
        const Link *link = fabric_link(maker->fabric, route->hops[i].link);
        Hub *from = &maker->hubs[link->src];
        uint64_t part = from->bytes;
        if (--from->n_out > 0)
            part = MIN(part, (uint64_t)((double)from->bytes * (route->hops[i].share / from->share) + 0.5));
        from->bytes -= part;
        from->share -= route->hops[i].share;
        maker->hubs[link->dst].bytes += part;
        maker->split[i] = part;
    }
    maker->hubs[src] = (Hub){0};
    for (uint32_t i = 0; i < route->n_hops; i++) {
        const Link *link = fabric_link(maker->fabric, route->hops[i].link);
        maker->hubs[link->src] = maker->hubs[link->dst] = (Hub){0};
    }
}

static gboolean
split_anywhere(const Route *route)
{
    for (uint32_t i = 0; i < route->n_hops; i++)
        if (route->hops[i].share != 1)
            return TRUE;
    return FALSE;
}

/* The member's cap on its way, and how it begins; both of the bundle, of whose rate the member has this factor. */
static void
limit(const DemandMaker *maker, const Transfer *member, const Route *route, double factor, Demand *demand)
{
    double limit_Bps = INFINITY;
    if (maker->limited) {
        const PathLimit *limits = network_limits(maker->network, member);
        double payload_fraction = maker->network->config.payload_fraction;
        limit_Bps = path_limit_rate(limits, maker->fabric, route, payload_fraction);
        PathRamp ramp = path_limit_ramp(limits, maker->fabric, route);
        if (ramp.round_trip_ps > demand->ramp.round_trip_ps)
            demand->ramp = (PathRamp){ramp.first_Bps / factor, ramp.round_trip_ps};
    }
    demand->limit_Bps = MIN(demand->limit_Bps, limit_Bps / factor);
    demand->cap_Bps = MIN(demand->cap_Bps, MIN(member->rate_cap_Bps, limit_Bps) / factor);
}

/* The way by the policy, or as it is set for ways like that one. */
static gboolean
find_way(const DemandMaker *maker, const Transfer *member, gboolean spread, Route *route, GError **error)
{
    Routes *routes = maker->network->routes;
    RouteRequest request = network_request(maker->network, member);
    if (spread)
        return routes_find_sprayed(routes, &request, route, error);
    if (!routes_find(routes, &request, route, error))
        return FALSE;
    PathLevel level = maker->steered ? path_level(maker->fabric, route) : PATH_LEVELS;
    if (level == PATH_LEVELS)
        return TRUE;
    PathSpread wish = network_limits(maker->network, member)[level].spread;
    if (wish == PATH_SPRAY && routes_policy(routes) != ROUTING_SPRAY)
        return routes_find_sprayed(routes, &request, route, error);
    if (wish == PATH_ONE && routes_policy(routes) == ROUTING_SPRAY)
        return routes_find_single(routes, &request, route, error);
    return TRUE;
}

gboolean
demand_way(const DemandMaker *maker, const Transfer *transfer, Route *route, double *cap_Bps, PathRamp *ramp)
{
    if (!find_way(maker, transfer, FALSE, route, NULL))
        return FALSE;
    Demand demand = {.limit_Bps = INFINITY, .cap_Bps = INFINITY};
    limit(maker, transfer, route, 1, &demand);
    *cap_Bps = demand.cap_Bps;
    *ramp = demand.ramp;
    return TRUE;
}

/* What the member takes of the links of its way. */
static void
add_way(DemandMaker *maker, const Transfer *member, const Route *route, gboolean split, Demand *demand)
{
    if (split)
        apportion(maker, route, member->src, member->bytes);
    double factor = (double)member->bytes / (double)demand->largest;
    limit(maker, member, route, factor, demand);
    for (uint32_t i = 0; i < route->n_hops; i++) {
        uint32_t row = row_of(maker, demand, route->hops[i].link);
        maker->uses[row].coefficient += factor * route->hops[i].share;
        maker->bytes[row] += split ? maker->split[i] : member->bytes;
    }
}

/* The same of a way that is one path, of a transfer that is all: each link once, whole. */
static void
add_path(DemandMaker *maker, const Transfer *member, const Route *route, Demand *demand)
{
    limit(maker, member, route, 1, demand);
    make_room(maker, route->n_hops);
    for (uint32_t i = 0; i < route->n_hops; i++) {
        maker->uses[i] = (MaxMinUse){route->hops[i].link, 1};
        maker->bytes[i] = member->bytes;
    }
    demand->n = route->n_hops;
}

static gboolean
add_member(DemandMaker *maker, const Transfer *member, gboolean spread, gboolean alone, Demand *demand, GError **error)
{
    Route route;
    if (!find_way(maker, member, spread, &route, error))
        return FALSE;
    demand->latency_ps = MAX(demand->latency_ps, route.latency_ps);
    if (member->bytes == 0)
        return TRUE;
    gboolean split = split_anywhere(&route);
    if (alone && !split)
        add_path(maker, member, &route, demand);
    else /* nobody counts the bytes of what is spread only in thought */
        add_way(maker, member, &route, split && !spread, demand);
    return TRUE;
}

static void
clear_rows(DemandMaker *maker, Demand *demand)
{
    for (uint32_t i = 0; i < demand->n; i++)
        maker->row[maker->uses[i].link] = INDEX_NONE;
    demand->uses = maker->uses;
    demand->bytes = maker->bytes;
}

gboolean
demand_make(DemandMaker *maker, const Transfer *members, uint32_t n_members, gboolean spread, Demand *demand,
            GError **error)
{
    *demand = (Demand){.weight = 1, .cap_Bps = INFINITY, .limit_Bps = INFINITY};
    for (uint32_t i = 0; i < n_members; i++) {
        if (members[i].src != members[i].dst && members[i].bytes > demand->largest) {
            demand->largest = members[i].bytes;
            demand->weight = members[i].weight;
        }
    }
    gboolean found = TRUE;
    for (uint32_t i = 0; i < n_members && found; i++)
        if (members[i].src != members[i].dst)
            found = add_member(maker, &members[i], spread, n_members == 1, demand, error);
    clear_rows(maker, demand);
    return found;
}

static void
add_use(DemandMaker *maker, Demand *demand, uint32_t link, double coefficient, uint64_t bytes)
{
    uint32_t row = row_of(maker, demand, link);
    maker->uses[row].coefficient += coefficient;
    maker->bytes[row] += bytes;
}

/* What a group of sources sends to a group of destinations, without those of one site. */
typedef struct {
    uint64_t messages, bytes;
} PairLoad;

typedef struct {
    const AllPairs *pairs;
    const PairGroups *groups;
    gboolean spread;
    uint64_t *from_bytes, *to_bytes; /* of the groups' members, summed */
    PairLoad *near;                  /* by source group: messages of one site, to the destination group at hand */
} PairCount;

static uint64_t
message_bytes(const AllPairs *pairs, uint32_t i, uint32_t j)
{
    return pairs->bytes[pairs->by_source ? i : j];
}

/* The messages to members of `to` within their sites, themselves counted. */
static void
count_near(PairCount *count, uint32_t to)
{
    const PairGroups *groups = count->groups;
    memset(count->near, 0, groups->from.n * sizeof *count->near);
    for (uint32_t b = groups->to.first[to]; b < groups->to.first[to + 1]; b++) {
        uint32_t j = groups->to.list[b], site = groups->site[j];
        for (uint32_t a = groups->first[site]; a < groups->first[site + 1]; a++) {
            PairLoad *near = &count->near[groups->from.of[groups->list[a]]];
            near->messages++;
            near->bytes += message_bytes(count->pairs, groups->list[a], j);
        }
    }
}

static PairLoad
load_of(const PairCount *count, uint32_t from, uint32_t to)
{
    const PairSide *a = &count->groups->from, *b = &count->groups->to;
    uint64_t n_from = a->first[from + 1] - a->first[from], n_to = b->first[to + 1] - b->first[to];
    uint64_t bytes = count->pairs->by_source ? count->from_bytes[from] * n_to : count->to_bytes[to] * n_from;
    return (PairLoad){n_from * n_to - count->near[from].messages, bytes - count->near[from].bytes};
}

/* The way between two groups, without the stems of their members. */
static gboolean
add_groups(DemandMaker *maker, const PairCount *count, uint32_t from, uint32_t to, Demand *demand, GError **error)
{
    PairLoad load = load_of(count, from, to);
    uint32_t i, j;
    if (load.messages == 0 || !pair_groups_far(count->groups, from, to, &i, &j))
        return TRUE;
    Transfer one = all_pairs_transfer(count->pairs, i, j);
    Route route;
    if (!find_way(maker, &one, count->spread, &route, error))
        return FALSE;
    demand->latency_ps = MAX(demand->latency_ps, route.latency_ps);
    if (load.bytes == 0)
        return TRUE;
    gboolean split = !count->spread && split_anywhere(&route);
    if (split)
        apportion(maker, &route, one.src, load.bytes);
    double factor = (double)load.bytes / (double)demand->largest;
    limit(maker, &one, &route, factor, demand); /* where there are limits, each message is by itself */
    uint32_t end = route.n_hops - count->groups->to.stem[j].n;
    for (uint32_t h = count->groups->from.stem[i].n; h < end; h++)
        add_use(maker, demand, route.hops[h].link, factor * route.hops[h].share, split ? maker->split[h] : load.bytes);
    return TRUE;
}

/* Puts what sources send to a group of destinations at the switches where their stems end. FALSE: nothing. */
static gboolean
pour(DemandMaker *maker, const PairCount *count, uint32_t to, const Demand *demand)
{
    const PairSide *side = &count->groups->from;
    gboolean any = FALSE;
    for (uint32_t from = 0; from < side->n; from++) {
        const RouteStem *stem = &side->stem[side->list[side->first[from]]];
        PairLoad load = load_of(count, from, to);
        if (stem->n == 0 || load.bytes == 0)
            continue;
        maker->hubs[stem->end].bytes += load.bytes;
        maker->hubs[stem->end].share += (double)load.bytes / (double)demand->largest;
        any = TRUE;
    }
    return any;
}

/* The hops out of one node, of those from first on: their number. Its bytes in whole numbers, the last takes the rest.
 */
static uint32_t
hand_on(DemandMaker *maker, const RouteHop *hops, uint32_t n, Demand *demand)
{
    uint32_t src = fabric_link(maker->fabric, hops[0].link)->src, n_out = 1;
    while (n_out < n && fabric_link(maker->fabric, hops[n_out].link)->src == src)
        n_out++;
    Hub here = maker->hubs[src];
    double left = 1;
    for (uint32_t h = 0; h < n_out && here.bytes > 0; h++) {
        uint64_t part = here.bytes;
        if (h + 1 < n_out)
            part = MIN(part, (uint64_t)((double)here.bytes * (hops[h].share / left) + 0.5));
        Hub *to = &maker->hubs[fabric_link(maker->fabric, hops[h].link)->dst];
        to->bytes += part;
        to->share += here.share * hops[h].share;
        add_use(maker, demand, hops[h].link, here.share * hops[h].share, part);
        here.bytes -= part;
        left -= hops[h].share;
    }
    maker->hubs[src] = (Hub){0};
    return n_out;
}

/* The ways of all groups that have stems to one that has one, where messages are sprayed. FALSE: each by itself. */
static gboolean
add_funnel(DemandMaker *maker, const PairCount *count, uint32_t to, Demand *demand)
{
    Routes *routes = maker->network->routes;
    uint32_t n;
    if (!count->spread && routes_policy(routes) != ROUTING_SPRAY)
        return FALSE;
    const RouteHop *hops = pair_groups_funnel(count->groups, routes, to, &n);
    if (hops == NULL)
        return FALSE;
    if (!pour(maker, count, to, demand))
        return TRUE;
    for (uint32_t h = 0; h < n;)
        h += hand_on(maker, hops + h, n - h, demand);
    maker->hubs[count->groups->to.stem[count->groups->to.list[count->groups->to.first[to]]].end] = (Hub){0};
    return TRUE;
}

/* What members send, and get, over their own stems. */
static void
add_stems(DemandMaker *maker, const PairCount *count, Demand *demand)
{
    const AllPairs *pairs = count->pairs;
    const PairGroups *groups = count->groups;
    uint64_t all = 0;
    for (uint32_t i = 0; i < pairs->n; i++)
        all += pairs->bytes[i];
    for (uint32_t i = 0; i < pairs->n; i++) {
        uint32_t site = groups->site[i], n_near = groups->first[site + 1] - groups->first[site];
        uint64_t near = 0;
        for (uint32_t b = groups->first[site]; b < groups->first[site + 1]; b++)
            near += pairs->bytes[groups->list[b]];
        uint64_t own = pairs->bytes[i] * (pairs->n - n_near), others = all - near;
        uint64_t out = pairs->by_source ? own : others, in = pairs->by_source ? others : own;
        for (uint32_t k = 0; k < groups->from.stem[i].n && out > 0; k++)
            add_use(maker, demand, groups->from.stem[i].links[k], (double)out / (double)demand->largest, out);
        for (uint32_t k = 0; k < groups->to.stem[i].n && in > 0; k++)
            add_use(maker, demand, groups->to.stem[i].links[k], (double)in / (double)demand->largest, in);
    }
}

/* Messages within sites, one by one. */
static gboolean
add_near(DemandMaker *maker, const PairCount *count, Demand *demand, GError **error)
{
    const PairGroups *groups = count->groups;
    for (uint32_t i = 0; i < count->pairs->n; i++) {
        for (uint32_t b = groups->first[groups->site[i]]; b < groups->first[groups->site[i] + 1]; b++) {
            Transfer one = all_pairs_transfer(count->pairs, i, groups->list[b]);
            if (one.src != one.dst && !add_member(maker, &one, count->spread, FALSE, demand, error))
                return FALSE;
        }
    }
    return TRUE;
}

static gboolean
count_pairs(DemandMaker *maker, const AllPairs *pairs, gboolean spread, Demand *demand, GError **error)
{
    g_autoptr(PairGroups) groups =
        pair_groups_new(maker->network->routes, pairs, spread, network_gathers(maker->network), NULL);
    g_autofree uint64_t *from_bytes = g_new0(uint64_t, groups->from.n), *to_bytes = g_new0(uint64_t, groups->to.n);
    g_autofree PairLoad *near = g_new(PairLoad, MAX(1, groups->from.n));
    for (uint32_t i = 0; i < pairs->n; i++) {
        from_bytes[groups->from.of[i]] += pairs->bytes[i];
        to_bytes[groups->to.of[i]] += pairs->bytes[i];
    }
    PairCount count = {pairs, groups, spread, from_bytes, to_bytes, near};
    for (uint32_t to = 0; to < groups->to.n; to++) {
        count_near(&count, to);
        gboolean together = add_funnel(maker, &count, to, demand);
        for (uint32_t from = 0; from < groups->from.n; from++) {
            if (together && groups->from.stem[groups->from.list[groups->from.first[from]]].n > 0)
                continue;
            if (!add_groups(maker, &count, from, to, demand, error))
                return FALSE;
        }
    }
    if (!add_near(maker, &count, demand, error))
        return FALSE;
    add_stems(maker, &count, demand);
    return TRUE;
}

/* Of a demand that was made, in arrays of its own. */
static void
remember(DemandMaker *maker, const AllPairs *pairs, const Demand *demand)
{
    Remembered *last = &maker->last;
    forget(last);
    *last = (Remembered){all_pairs_copy(pairs), network_changes(maker->network), *demand};
    last->demand.uses = g_memdup2(demand->uses, demand->n * sizeof *demand->uses);
    last->demand.bytes = g_memdup2(demand->bytes, demand->n * sizeof *demand->bytes);
}

gboolean
demand_make_pairs(DemandMaker *maker, const AllPairs *pairs, gboolean spread, Demand *demand, GError **error)
{
    if (!spread && maker->last.pairs != NULL && maker->last.changes == network_changes(maker->network) &&
        all_pairs_same(maker->last.pairs, pairs)) {
        *demand = maker->last.demand;
        return TRUE;
    }
    *demand = (Demand){.weight = pairs->weight > 0 ? pairs->weight : 1, .cap_Bps = INFINITY, .limit_Bps = INFINITY};
    for (uint32_t i = 0; i < pairs->n && pairs->n > 1; i++)
        demand->largest = MAX(demand->largest, pairs->bytes[i]);
    gboolean found = count_pairs(maker, pairs, spread, demand, error);
    clear_rows(maker, demand);
    if (found && !spread)
        remember(maker, pairs, demand);
    return found;
}

gboolean
demand_make_activity(DemandMaker *maker, const Activity *activity, gboolean spread, Demand *demand, GError **error)
{
    if (activity->pairs != NULL)
        return demand_make_pairs(maker, activity->pairs, spread, demand, error);
    return demand_make(maker, activity_members(activity), activity->n_members, spread, demand, error);
}

const uint64_t *
demand_part(DemandMaker *maker, const MaxMinUse *uses, uint32_t n, uint32_t src, uint64_t bytes)
{
    g_autofree RouteHop *hops = g_new(RouteHop, MAX(1, n));
    for (uint32_t i = 0; i < n; i++)
        hops[i] = (RouteHop){uses[i].link, uses[i].coefficient};
    Route route = {.hops = hops, .n_hops = n};
    apportion(maker, &route, src, bytes);
    return maker->split;
}

double
demand_rate_alone(const Demand *demand, const double *capacity)
{
    double rate = demand->cap_Bps;
    for (uint32_t i = 0; i < demand->n; i++)
        rate = MIN(rate, capacity[demand->uses[i].link] / demand->uses[i].coefficient);
    return rate;
}
