#include "network/all_pairs.h"

#include "base/random.h"
#include "network/model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

AllPairs *
all_pairs_copy(const AllPairs *pairs)
{
    AllPairs *copy = g_memdup2(pairs, sizeof *pairs);
    copy->nodes = g_memdup2(pairs->nodes, pairs->n * sizeof *pairs->nodes);
    copy->ranks = g_memdup2(pairs->ranks, pairs->n * sizeof *pairs->ranks);
    copy->bytes = g_memdup2(pairs->bytes, pairs->n * sizeof *pairs->bytes);
    return copy;
}

void
all_pairs_free(AllPairs *pairs)
{
    if (pairs == NULL)
        return;
    g_free((void *)(uintptr_t)pairs->nodes);
    g_free((void *)(uintptr_t)pairs->ranks);
    g_free((void *)(uintptr_t)pairs->bytes);
    g_free(pairs);
}

static gboolean
all_equal(const AllPairs *pairs)
{
    for (uint32_t i = 1; i < pairs->n; i++) {
        if (pairs->bytes[i] != pairs->bytes[0])
            return FALSE;
    }
    return TRUE;
}

gboolean
all_pairs_same(const AllPairs *a, const AllPairs *b)
{
    return a->n == b->n && a->job == b->job && a->settings == b->settings && a->weight == b->weight &&
           memcmp(a->nodes, b->nodes, a->n * sizeof *a->nodes) == 0 &&
           memcmp(a->ranks, b->ranks, a->n * sizeof *a->ranks) == 0 &&
           memcmp(a->bytes, b->bytes, a->n * sizeof *a->bytes) == 0 && (a->by_source == b->by_source || all_equal(a));
}

uint32_t
all_pairs_count(const AllPairs *pairs)
{
    assert(pairs->n <= 1u << 16);
    return (uint32_t)((uint64_t)pairs->n * (pairs->n - 1));
}

uint64_t
all_pairs_bytes(const AllPairs *pairs)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < pairs->n; i++)
        bytes += pairs->bytes[i] * (pairs->n - 1);
    return bytes;
}

Transfer
all_pairs_transfer(const AllPairs *pairs, uint32_t i, uint32_t j)
{
    return (Transfer){.job = pairs->job,
                      .iteration = pairs->iteration,
                      .coflow = pairs->coflow,
                      .settings = pairs->settings,
                      .src_rank = pairs->ranks[i],
                      .dst_rank = pairs->ranks[j],
                      .src = pairs->nodes[i],
                      .dst = pairs->nodes[j],
                      .src_nic = INDEX_NONE,
                      .dst_nic = INDEX_NONE,
                      .bytes = pairs->bytes[pairs->by_source ? i : j],
                      .weight = pairs->weight > 0 ? pairs->weight : 1,
                      .rate_cap_Bps = INFINITY};
}

Transfer *
all_pairs_list(const AllPairs *pairs)
{
    Transfer *list = g_new(Transfer, all_pairs_count(pairs)), *next = list;
    for (uint32_t i = 0; i < pairs->n; i++)
        for (uint32_t j = 0; j < pairs->n; j++)
            if (i != j)
                *next++ = all_pairs_transfer(pairs, i, j);
    return list;
}

/* Lists of members by number: number[i] < n of member i. */
static void
list_by(const uint32_t *number, uint32_t n_members, uint32_t n, uint32_t **first, uint32_t **list)
{
    *first = g_new0(uint32_t, n + 1);
    *list = g_new(uint32_t, n_members);
    for (uint32_t i = 0; i < n_members; i++)
        (*first)[number[i] + 1]++;
    for (uint32_t g = 0; g < n; g++)
        (*first)[g + 1] += (*first)[g];
    g_autofree uint32_t *fill = g_memdup2(*first, MAX(n, 1) * sizeof *fill);
    for (uint32_t i = 0; i < n_members; i++)
        (*list)[fill[number[i]]++] = i;
}

static uint64_t
bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* What members of one group have in common: the switch, and the least capacity and the latency on the way to it. */
typedef struct {
    uint32_t end;
    double rate_Bps;
    SimTime latency_ps;
} StemKey;

static StemKey
key_of(const Fabric *fabric, const RouteStem *stem, const double *capacity)
{
    StemKey key = {stem->end, INFINITY, 0};
    for (uint32_t i = 0; i < stem->n && capacity != NULL; i++) {
        key.rate_Bps = MIN(key.rate_Bps, capacity[stem->links[i]]);
        key.latency_ps += fabric_link(fabric, stem->links[i])->latency_ps;
    }
    return key;
}

static guint
key_hash(gconstpointer data)
{
    const StemKey *key = data;
    return (guint)hash_combine(hash_combine(key->end, bits_of(key->rate_Bps)), (uint64_t)key->latency_ps);
}

static gboolean
key_equal(gconstpointer a, gconstpointer b)
{
    const StemKey *x = a, *y = b;
    return x->end == y->end && x->rate_Bps == y->rate_Bps && x->latency_ps == y->latency_ps;
}

/* gather: by their stems; else each by itself. */
static void
fill_side(PairSide *side, Routes *routes, const AllPairs *pairs, gboolean out, gboolean gather, const double *capacity)
{
    uint32_t n = pairs->n;
    g_autoptr(GHashTable) known = g_hash_table_new(key_hash, key_equal); /* number + 1; looked up only */
    g_autofree StemKey *key = g_new(StemKey, n);
    side->of = g_new(uint32_t, n);
    side->stem = g_new0(RouteStem, n);
    for (uint32_t i = 0; i < n; i++) {
        side->of[i] = side->n;
        if (!gather || !routes_stem(routes, pairs->nodes[i], out, &side->stem[i])) {
            side->stem[i].n = 0;
            side->n++;
            continue;
        }
        key[i] = key_of(routes_fabric(routes), &side->stem[i], capacity);
        uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(known, &key[i]));
        if (found > 0) {
            side->of[i] = found - 1;
            continue;
        }
        g_hash_table_insert(known, &key[i], GUINT_TO_POINTER(++side->n));
    }
    list_by(side->of, n, side->n, &side->first, &side->list);
}

/* Members joined over PCIe or NVLink, directly or by others, and those at one node: one site. */
static void
fill_sites(PairGroups *groups, Routes *routes, const AllPairs *pairs)
{
    uint32_t n = pairs->n;
    g_autofree uint32_t *parent = g_new(uint32_t, n), *number = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        parent[i] = i;
    for (int what = 0; what < 3; what++) {
        g_autoptr(GHashTable) first = g_hash_table_new(NULL, NULL); /* domain + 1 to member + 1; looked up only */
        for (uint32_t i = 0; i < n; i++) {
            uint32_t domain = what == 2 ? pairs->nodes[i] : routes_local_domain(routes, pairs->nodes[i], what == 1);
            if (domain == INDEX_NONE)
                continue;
            uint32_t other = GPOINTER_TO_UINT(g_hash_table_lookup(first, GUINT_TO_POINTER(domain + 1)));
            if (other == 0) {
                g_hash_table_insert(first, GUINT_TO_POINTER(domain + 1), GUINT_TO_POINTER(i + 1));
                continue;
            }
            uint32_t a = i, b = other - 1;
            while (parent[a] != a)
                a = parent[a] = parent[parent[a]];
            while (parent[b] != b)
                b = parent[b] = parent[parent[b]];
            parent[MAX(a, b)] = MIN(a, b);
        }
    }
    groups->site = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) { /* parents stand before those they stand for */
        number[i] = parent[i] == i ? groups->n_sites++ : number[parent[i]];
        groups->site[i] = number[i];
    }
    list_by(groups->site, n, groups->n_sites, &groups->first, &groups->list);
}

PairGroups *
pair_groups_new(Routes *routes, const AllPairs *pairs, gboolean spread, gboolean gather, const double *capacity)
{
    PairGroups *groups = g_new0(PairGroups, 1);
    RoutingPolicy policy = routes_policy(routes);
    gboolean sprayed = policy == ROUTING_SPRAY || (spread && policy != ROUTING_PINNED);
    fill_side(&groups->from, routes, pairs, TRUE, gather && (sprayed || policy == ROUTING_DMODK), capacity);
    fill_side(&groups->to, routes, pairs, FALSE, gather && sprayed, capacity);
    fill_sites(groups, routes, pairs);
    return groups;
}

static void
side_clear(PairSide *side)
{
    g_free(side->first);
    g_free(side->list);
    g_free(side->of);
    g_free(side->stem);
}

void
pair_groups_free(PairGroups *groups)
{
    if (groups == NULL)
        return;
    side_clear(&groups->from);
    side_clear(&groups->to);
    g_free(groups->first);
    g_free(groups->list);
    g_free(groups->site);
    g_free(groups);
}

gboolean
pair_groups_far(const PairGroups *groups, uint32_t from, uint32_t to, uint32_t *i, uint32_t *j)
{
    for (uint32_t a = groups->from.first[from]; a < groups->from.first[from + 1]; a++) {
        for (uint32_t b = groups->to.first[to]; b < groups->to.first[to + 1]; b++) {
            *i = groups->from.list[a];
            *j = groups->to.list[b];
            if (groups->site[*i] != groups->site[*j])
                return TRUE;
        }
    }
    return FALSE;
}

const RouteHop *
pair_groups_funnel(const PairGroups *groups, Routes *routes, uint32_t to, uint32_t *n_hops)
{
    const RouteStem *end = &groups->to.stem[groups->to.list[groups->to.first[to]]];
    if (end->n == 0)
        return NULL;
    g_autofree uint32_t *from = g_new(uint32_t, MAX(1, groups->from.n));
    uint32_t n = 0;
    for (uint32_t g = 0; g < groups->from.n; g++) {
        const RouteStem *stem = &groups->from.stem[groups->from.list[groups->from.first[g]]];
        if (stem->n > 0)
            from[n++] = stem->end;
    }
    return routes_funnel(routes, from, n, end, n_hops);
}

gboolean
network_gathers(const Network *network)
{
    const NetworkConfig *config = &network->config;
    gboolean apart = FALSE;
    for (uint32_t row = 0; row <= config->n_settings; row++) {
        const PathLimit *limits = row == 0 ? config->limits : config->settings[row - 1];
        for (PathLevel level = 0; level < PATH_LEVELS; level++)
            apart |= path_limit_is_set(&limits[level]) || limits[level].spread != PATH_AS_ROUTED;
    }
    return !apart;
}

/* What the first message from a group to another meets. Where members are gathered no way has limits of its own. */
static gboolean
probe_one(Network *network, const Transfer *one, const double *capacity, NetworkProbe *met, GError **error)
{
    if (capacity == NULL)
        return network_probe(network, one, met, error);
    RouteRequest request = network_request(network, one);
    Route route;
    if (!routes_find(network->routes, &request, &route, error))
        return FALSE;
    *met = (NetworkProbe){route.latency_ps, INFINITY};
    for (uint32_t h = 0; h < route.n_hops; h++)
        met->rate_Bps = MIN(met->rate_Bps, capacity[route.hops[h].link] / route.hops[h].share);
    return TRUE;
}

/* What the ways from each node to one group of destinations are like, its members' stems left out. */
typedef struct {
    SimTime *latency_ps; /* of the longest */
    double *least_Bps;   /* no link on them has less */
} FarWays;

/* FALSE: not known. */
static gboolean
look_ahead(Network *network, const PairGroups *groups, uint32_t to, const double *capacity, FarWays *ways)
{
    uint32_t n;
    const RouteHop *hops = pair_groups_funnel(groups, network->routes, to, &n);
    if (hops == NULL)
        return FALSE;
    const Fabric *fabric = routes_fabric(network->routes);
    uint32_t end = groups->to.stem[groups->to.list[groups->to.first[to]]].end;
    ways->latency_ps[end] = 0;
    ways->least_Bps[end] = INFINITY;
    for (uint32_t h = n; h-- > 0;) {
        const Link *link = fabric_link(fabric, hops[h].link);
        if (h + 1 == n || link->src != fabric_link(fabric, hops[h + 1].link)->src) {
            ways->latency_ps[link->src] = 0;
            ways->least_Bps[link->src] = INFINITY;
        }
        SimTime latency;
        if (!sim_time_add(link->latency_ps, ways->latency_ps[link->dst], &latency))
            return FALSE;
        ways->latency_ps[link->src] = MAX(ways->latency_ps[link->src], latency);
        ways->least_Bps[link->src] =
            MIN(ways->least_Bps[link->src], MIN(capacity[hops[h].link], ways->least_Bps[link->dst]));
    }
    return TRUE;
}

/* By the stems, where no link between them, however the message is split, has less. */
static gboolean
probe_ahead(const Network *network, const PairGroups *groups, uint32_t i, uint32_t j, const double *capacity,
            const FarWays *ways, NetworkProbe *met)
{
    const Fabric *fabric = routes_fabric(network->routes);
    StemKey from = key_of(fabric, &groups->from.stem[i], capacity), to = key_of(fabric, &groups->to.stem[j], capacity);
    SimTime latency = from.latency_ps + to.latency_ps;
    met->rate_Bps = MIN(from.rate_Bps, to.rate_Bps);
    return groups->from.stem[i].n > 0 && met->rate_Bps <= ways->least_Bps[from.end] &&
           sim_time_add(latency, ways->latency_ps[from.end], &met->latency_ps);
}

/* The row of what is met. */
static uint32_t
row_of(GArray *probes, const NetworkProbe *met)
{
    const NetworkProbe *known = (const NetworkProbe *)(void *)probes->data;
    uint32_t row = 0;
    while (row < probes->len && (known[row].latency_ps != met->latency_ps || known[row].rate_Bps != met->rate_Bps))
        row++;
    if (row == probes->len)
        g_array_append_val(probes, *met);
    return row;
}

static gboolean
probe_groups(Network *network, const AllPairs *pairs, const double *capacity, PairProbes *probes, GError **error)
{
    const PairGroups *groups = probes->groups;
    uint32_t n_nodes = fabric_n_nodes(routes_fabric(network->routes));
    g_autofree SimTime *latency = g_new(SimTime, n_nodes);
    g_autofree double *least = g_new(double, n_nodes);
    FarWays ways = {latency, least};
    NetworkProbe met;
    for (uint32_t to = 0; to < groups->to.n; to++) {
        gboolean ahead = capacity != NULL && look_ahead(network, groups, to, capacity, &ways);
        for (uint32_t from = 0; from < groups->from.n; from++) {
            uint32_t i, j;
            if (!pair_groups_far(groups, from, to, &i, &j))
                continue;
            Transfer one = all_pairs_transfer(pairs, i, j);
            if (!(ahead && probe_ahead(network, groups, i, j, capacity, &ways, &met)) &&
                !probe_one(network, &one, capacity, &met, error))
                return FALSE;
            probes->cell[(size_t)from * groups->to.n + to] = row_of(probes->probe, &met);
        }
    }
    return TRUE;
}

static gboolean
probe_near(Network *network, const AllPairs *pairs, PairProbes *probes, GError **error)
{
    const PairGroups *groups = probes->groups;
    for (uint32_t i = 0; i < pairs->n; i++) {
        probes->near_at[i] = probes->near->len;
        for (uint32_t b = groups->first[groups->site[i]]; b < groups->first[groups->site[i] + 1]; b++) {
            Transfer one = all_pairs_transfer(pairs, i, groups->list[b]);
            NetworkProbe met = {0, INFINITY};
            if (i != groups->list[b] && !network_probe(network, &one, &met, error))
                return FALSE;
            g_array_append_val(probes->near, met);
        }
    }
    return TRUE;
}

PairProbes *
network_probe_pairs(Network *network, const AllPairs *pairs, GError **error)
{
    g_autoptr(PairProbes) probes = g_new0(PairProbes, 1);
    const double *capacity = network->model->capacities != NULL ? network->model->capacities(network) : NULL;
    RoutingPolicy policy = routes_policy(network->routes);
    gboolean gather = capacity != NULL && network_gathers(network);
    gboolean free = gather && (policy == ROUTING_DMODK || policy == ROUTING_SPRAY); /* of loads */
    PairGroups *groups = probes->groups = pair_groups_new(network->routes, pairs, FALSE, gather, capacity);
    probes->cell = g_new0(uint32_t, (size_t)groups->from.n * groups->to.n);
    probes->probe = g_array_new(FALSE, FALSE, sizeof(NetworkProbe));
    probes->near_at = g_new(uint32_t, pairs->n);
    probes->near = g_array_new(FALSE, FALSE, sizeof(NetworkProbe));
    if (!probe_groups(network, pairs, free ? capacity : NULL, probes, error) ||
        !probe_near(network, pairs, probes, error))
        return NULL;
    return g_steal_pointer(&probes);
}

void
pair_probes_free(PairProbes *probes)
{
    if (probes == NULL)
        return;
    pair_groups_free(probes->groups);
    g_free(probes->cell);
    g_free(probes->near_at);
    g_clear_pointer(&probes->probe, g_array_unref);
    g_clear_pointer(&probes->near, g_array_unref);
    g_free(probes);
}

size_t
pair_probes_memory(const PairProbes *probes)
{
    if (probes == NULL)
        return 0;
    return (size_t)probes->groups->from.n * probes->groups->to.n * sizeof *probes->cell +
           (probes->probe->len + probes->near->len) * sizeof(NetworkProbe);
}
