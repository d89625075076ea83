/* route.c - the routes of a fabric under one policy */
#include "fabric/route.h"

#include "base/error.h"
#include "base/random.h"
#include "fabric/route_state.h"

#include <assert.h>
#include <string.h>

/* A path given in the scenario. */
typedef struct {
    uint32_t *links;
    uint32_t n;
} Pin;

static const char *const policy_names[] = {"ecmp", "spray", "adaptive", "dmodk", "pinned"};

gboolean
routing_policy_parse(const char *text, RoutingPolicy *policy)
{
    for (size_t i = 0; i < G_N_ELEMENTS(policy_names); i++)
        if (strcmp(text, policy_names[i]) == 0) {
            *policy = (RoutingPolicy)i;
            return TRUE;
        }
    return FALSE;
}

const char *
routing_policy_name(RoutingPolicy policy)
{
    assert((size_t)policy < G_N_ELEMENTS(policy_names));
    return policy_names[policy];
}

static void
pin_free(gpointer data)
{
    Pin *pin = data;
    g_free(pin->links);
    g_free(pin);
}

Routes *
routes_new(const Fabric *fabric, RoutingPolicy policy)
{
    Routes *routes = g_new0(Routes, 1);
    routes->policy = policy;
    route_map_init(&routes->map, fabric);
    routes->spray = route_spray_new(&routes->map.graph);
    routes->pins = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, pin_free);
    routes->hops = g_array_new(FALSE, FALSE, sizeof(RouteHop));
    routes->siblings = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (int class = 0; policy == ROUTING_DMODK && class < ROUTE_CLASSES; class ++)
        route_table_number(routes->map.tables[class]);
    return routes;
}

void
routes_free(Routes *routes)
{
    if (routes == NULL)
        return;
    route_map_clear(&routes->map);
    route_spray_free(routes->spray);
    g_hash_table_unref(routes->pins);
    g_array_unref(routes->hops);
    g_array_unref(routes->siblings);
    g_free(routes);
}

const Fabric *
routes_fabric(const Routes *routes)
{
    return routes->map.graph.fabric;
}

RoutingPolicy
routes_policy(const Routes *routes)
{
    return routes->policy;
}

void
routes_prepare(Routes *routes)
{
    for (int class = 0; class < ROUTE_CLASSES; class ++)
        route_table_prepare(routes->map.tables[class]);
}

void
routes_set_alive(Routes *routes, uint32_t link, gboolean alive)
{
    assert(link < routes->map.graph.n_links);
    uint8_t live = alive ? routes->map.graph.class[link] : ROUTE_CLASSES;
    if (routes->map.graph.live[link] == live)
        return;
    routes->map.graph.live[link] = live;
    route_map_changed(&routes->map, link);
}

void
routes_set_loads(Routes *routes, const double *load)
{
    routes->load = load;
}

static const char *
name_of(const Routes *routes, uint32_t node)
{
    return fabric_node(routes->map.graph.fabric, node)->name;
}

/* What is wrong with a pinned path, or NULL. The caller frees it. */
static char *
pin_fault(const Routes *routes, uint32_t src, uint32_t dst, const uint32_t *links, uint32_t n_links)
{
    const RouteGraph *graph = &routes->map.graph;
    g_autoptr(GHashTable) met = g_hash_table_new(NULL, NULL);
    uint32_t node = src;
    g_hash_table_add(met, GUINT_TO_POINTER(node + 1));
    for (uint32_t i = 0; i < n_links; i++) {
        if (links[i] >= graph->n_links)
            return g_strdup_printf("there is no link %u", links[i]);
        if (graph->src[links[i]] != node)
            return g_strdup_printf("link %u leaves \"%s\", expected \"%s\"", links[i],
                                   name_of(routes, graph->src[links[i]]), name_of(routes, node));
        NodeKind kind = fabric_node(graph->fabric, node)->kind;
        gboolean by_nvlink =
            i > 0 && (graph->class[links[i]] == ROUTE_NVLINK || graph->class[links[i - 1]] == ROUTE_NVLINK);
        if (i > 0 && (kind == NODE_HOST || kind == NODE_STORAGE || (kind == NODE_GPU && !by_nvlink)))
            return g_strdup_printf("\"%s\" is a %s and does not forward", name_of(routes, node), node_kind_name(kind));
        node = graph->dst[links[i]];
        if (!g_hash_table_add(met, GUINT_TO_POINTER(node + 1)))
            return g_strdup_printf("\"%s\" is passed twice", name_of(routes, node));
    }
    return node == dst ? NULL : g_strdup_printf("it ends at \"%s\"", name_of(routes, node));
}

static uint64_t
pair_key(uint32_t src, uint32_t dst)
{
    return (uint64_t)src << 32 | dst;
}

gboolean
routes_pin(Routes *routes, uint32_t src, uint32_t dst, const uint32_t *links, uint32_t n_links, GError **error)
{
    uint64_t key = pair_key(src, dst);
    g_autofree char *fault = pin_fault(routes, src, dst, links, n_links);
    if (fault == NULL && g_hash_table_contains(routes->pins, &key))
        fault = g_strdup("a path is pinned already");
    if (fault != NULL)
        return error_input(error, "pinned path from \"%s\" to \"%s\": %s", name_of(routes, src), name_of(routes, dst),
                           fault);
    Pin *pin = g_new(Pin, 1);
    *pin = (Pin){g_memdup2(links, n_links * sizeof *links), n_links};
    g_hash_table_insert(routes->pins, g_memdup2(&key, sizeof key), pin);
    return TRUE;
}

/* The pinned path of a request; NULL where there is none, or a link of it is dead. */
static const Pin *
live_pin(const Routes *routes, const RouteRequest *request)
{
    if (routes->policy != ROUTING_PINNED)
        return NULL;
    uint64_t key = pair_key(request->src, request->dst);
    const Pin *pin = g_hash_table_lookup(routes->pins, &key);
    for (uint32_t i = 0; pin != NULL && i < pin->n; i++)
        if (routes->map.graph.live[pin->links[i]] == ROUTE_CLASSES)
            return NULL;
    return pin;
}

static gboolean
no_route(const Routes *routes, const RouteRequest *request, GError **error)
{
    g_autoptr(GString) through = g_string_new(NULL);
    if (request->src_nic != INDEX_NONE)
        g_string_append_printf(through, " leaving by \"%s\"", name_of(routes, request->src_nic));
    if (request->dst_nic != INDEX_NONE)
        g_string_append_printf(through, "%s arriving by \"%s\"", through->len > 0 ? "," : "",
                               name_of(routes, request->dst_nic));
    return error_input(error, "no live route from \"%s\" to \"%s\"%s", name_of(routes, request->src),
                       name_of(routes, request->dst), through->str);
}

static gboolean
too_long(const Routes *routes, const RouteRequest *request, GError **error)
{
    return error_input(error, "the latencies on the route from \"%s\" to \"%s\" sum to more than 106 days",
                       name_of(routes, request->src), name_of(routes, request->dst));
}

/* Of the least loaded links of a fan the one the hash takes. */
static uint32_t
least_loaded(const RouteFan *fan, const double *load, uint64_t hash)
{
    double least = load[route_fan_link(fan, 0)];
    uint32_t equal = 0;
    for (uint32_t k = 0; k < fan->n; k++) {
        double here = load[route_fan_link(fan, k)];
        equal = here < least ? 1 : here == least ? equal + 1 : equal;
        least = MIN(least, here);
    }
    uint64_t skip = hash % equal;
    for (uint32_t k = 0;; k++)
        if (load[route_fan_link(fan, k)] == least && skip-- == 0)
            return route_fan_link(fan, k);
}

/* How one path is chosen among equals, hop after hop. */
typedef struct {
    uint64_t key;
    uint32_t depth;         /* hops from the source */
    uint64_t number, below; /* of dmodk: the destination's, and the product of the fans passed in this leg */
} Choice;

static uint32_t
choose(const Routes *routes, Choice *choice, const RouteFan *fan)
{
    uint32_t depth = choice->depth++;
    if (fan->n == 1)
        return route_fan_link(fan, 0);
    if (routes->policy == ROUTING_DMODK) {
        uint32_t k = (uint32_t)(choice->number / choice->below % fan->n);
        choice->below = MIN(choice->below * fan->n, UINT32_MAX);
        return route_fan_link(fan, k);
    }
    uint64_t hash = hash_combine(choice->key, depth);
    if (routes->policy == ROUTING_ADAPTIVE && routes->load != NULL)
        return least_loaded(fan, routes->load, hash);
    return route_fan_link(fan, (uint32_t)(hash % fan->n));
}

static gboolean
append_hop(Routes *routes, uint32_t link, SimTime *latency_ps)
{
    RouteHop hop = {link, 1};
    g_array_append_val(routes->hops, hop);
    return sim_time_add(*latency_ps, routes->map.graph.latency_ps[link], latency_ps);
}

/* One path; FALSE where its latency leaves the range of time. */
static gboolean
walk(Routes *routes, const RouteChain *chain, uint64_t key, SimTime *latency_ps)
{
    enum { SOME = 16 };
    RouteHop hops[SOME]; /* appended together: one by one costs as much as to find them */
    uint32_t n = 0;
    Choice choice = {.key = key};
    for (uint32_t i = 0; i < chain->n; i++) {
        const RouteLeg *leg = &chain->legs[i];
        choice.number = route_table_ordinal(leg->table, leg->to);
        choice.below = 1;
        uint32_t node = leg->from;
        do {
            RouteFan fan = route_leg_fan(leg, node);
            uint32_t link = choose(routes, &choice, &fan);
            if (!sim_time_add(*latency_ps, routes->map.graph.latency_ps[link], latency_ps))
                return FALSE;
            hops[n++] = (RouteHop){link, 1};
            if (n == SOME) {
                g_array_append_vals(routes->hops, hops, n);
                n = 0;
            }
            node = routes->map.graph.dst[link];
        } while (node != leg->to);
    }
    g_array_append_vals(routes->hops, hops, n);
    return TRUE;
}

static gboolean
spray(Routes *routes, const RouteChain *chain, SimTime *latency_ps)
{
    for (uint32_t i = 0; i < chain->n; i++) {
        SimTime leg_ps;
        if (!route_spray_leg(routes->spray, &chain->legs[i], routes->hops, &leg_ps) ||
            !sim_time_add(*latency_ps, leg_ps, latency_ps))
            return FALSE;
    }
    return TRUE;
}

static gboolean
follow(Routes *routes, const Pin *pin, SimTime *latency_ps)
{
    for (uint32_t i = 0; i < pin->n; i++)
        if (!append_hop(routes, pin->links[i], latency_ps))
            return FALSE;
    return TRUE;
}

static void
check_request(const Routes *routes, const RouteRequest *request)
{
    uint32_t n = routes->map.graph.n_nodes;
    assert(request->src < n && request->dst < n);
    assert(request->src_nic < n || request->src_nic == INDEX_NONE);
    assert(request->dst_nic < n || request->dst_nic == INDEX_NONE);
    (void)n;
}

static gboolean
find(Routes *routes, const RouteRequest *request, gboolean split, Route *route, GError **error)
{
    check_request(routes, request);
    SimTime latency_ps = 0;
    g_array_set_size(routes->hops, 0);
    if (request->src != request->dst) {
        const Pin *pin = live_pin(routes, request);
        RouteChain chain;
        if (pin == NULL && !route_chain_find(&routes->map, request, &chain))
            return no_route(routes, request, error);
        gboolean in_range = pin != NULL ? follow(routes, pin, &latency_ps)
                            : split     ? spray(routes, &chain, &latency_ps)
                                        : walk(routes, &chain, request->key, &latency_ps);
        if (!in_range)
            return too_long(routes, request, error);
    }
    *route = (Route){(RouteHop *)(void *)routes->hops->data, routes->hops->len, latency_ps};
    return TRUE;
}

gboolean
routes_find(Routes *routes, const RouteRequest *request, Route *route, GError **error)
{
    return find(routes, request, routes->policy == ROUTING_SPRAY, route, error);
}

gboolean
routes_find_sprayed(Routes *routes, const RouteRequest *request, Route *route, GError **error)
{
    return find(routes, request, TRUE, route, error);
}

gboolean
routes_find_single(Routes *routes, const RouteRequest *request, Route *route, GError **error)
{
    return find(routes, request, FALSE, route, error);
}

gboolean
routes_count(Routes *routes, const RouteRequest *request, uint64_t *n_paths, GError **error)
{
    check_request(routes, request);
    uint64_t n = 1;
    RouteChain chain;
    if (request->src != request->dst && live_pin(routes, request) == NULL) {
        if (!route_chain_find(&routes->map, request, &chain))
            return no_route(routes, request, error);
        for (uint32_t i = 0; i < chain.n; i++)
            if (__builtin_mul_overflow(n, route_spray_count(routes->spray, &chain.legs[i]), &n))
                n = UINT64_MAX;
    }
    *n_paths = n;
    return TRUE;
}

const uint32_t *
routes_siblings(Routes *routes, const RouteRequest *request, uint32_t link, uint32_t *n_links)
{
    check_request(routes, request);
    g_array_set_size(routes->siblings, 0);
    RouteChain chain = {.n = 0};
    if (request->src != request->dst && live_pin(routes, request) == NULL &&
        !route_chain_find(&routes->map, request, &chain))
        chain.n = 0;
    for (uint32_t i = 0; i < chain.n && routes->siblings->len == 0; i++) {
        const RouteLeg *leg = &chain.legs[i];
        if (!route_leg_holds(leg, link))
            continue;
        RouteFan fan = route_leg_fan(leg, routes->map.graph.src[link]);
        for (uint32_t k = 0; k < fan.n; k++) {
            uint32_t other = route_fan_link(&fan, k);
            g_array_append_val(routes->siblings, other);
        }
    }
    if (routes->siblings->len == 0)
        g_array_append_val(routes->siblings, link);
    *n_links = routes->siblings->len;
    return (const uint32_t *)(void *)routes->siblings->data;
}

size_t
routes_memory(const Routes *routes)
{
    return sizeof *routes + route_map_memory(&routes->map) + route_spray_memory(routes->spray) +
           routes->hops->len * sizeof(RouteHop) + g_hash_table_size(routes->pins) * (sizeof(Pin) + 64);
}
