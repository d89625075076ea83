/* packet_path.c - the ways of a flow as rows of words
 *
 * One way: its links and an end. Several (spraying, adaptive): the graph of all equal-cost ways, a branch for each node
 * where they part. A branch has slots, in proportion to the share of ways through each of its links; a sprayed packet
 * takes slot (offset + number / stride) mod slots, stride being the product of the slots passed before, so that
 * successive packets of a flow go over all ways in turn; the offset is a hash of the flow's key. An adaptive packet
 * takes the live link with the least queue, the first from that slot on among equals. */
#include "network/packet_net.h"

#include "base/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    LEAST_WORDS = 3,  /* log2 of the smallest row */
    SHARE_SLOTS = 64, /* of a branch with unequal shares */
    BRANCH_HEAD = 3   /* words before the slots */
};
static const uint32_t stride_max = 1 << 20;

static uint32_t
log2_of(uint32_t n_words)
{
    uint32_t log2 = LEAST_WORDS;
    while ((UINT32_C(1) << log2) < n_words)
        log2++;
    return log2;
}

/* The word before a row holds the log2 of its size. */
uint32_t
packet_path_row(PacketNet *net, uint32_t n_words)
{
    uint32_t log2 = log2_of(n_words + 1);
    uint32_t row = net->free_words[log2];
    if (row != 0) {
        net->free_words[log2] = net->words[row];
        return row;
    }
    uint32_t size = UINT32_C(1) << log2;
    if (net->n_words + size > net->words_room) {
        net->words_room = MAX(2 * net->words_room, net->n_words + size + 4096);
        net->words = g_renew(uint32_t, net->words, net->words_room);
    }
    row = net->n_words + 1;
    net->words[row - 1] = log2;
    net->n_words += size;
    return row;
}

void
packet_path_free(PacketNet *net, uint32_t path)
{
    uint32_t log2 = net->words[path - 1];
    net->words[path] = net->free_words[log2];
    net->free_words[log2] = path;
}

/* The hops of a route in levels: those of a level leave the nodes that the level before came to. */
typedef struct {
    const Fabric *fabric;
    const Route *route;
    GArray *words; /* of uint32_t */
    uint64_t key;
    uint32_t stride;
    uint32_t policy; /* PATH_ADAPTIVE or 0 */
} Layout;

static void
put(Layout *layout, uint32_t word)
{
    g_array_append_val(layout->words, word);
}

static uint32_t
source_of(const Layout *layout, uint32_t hop)
{
    return fabric_link(layout->fabric, layout->route->hops[hop].link)->src;
}

static uint32_t
target_of(const Layout *layout, uint32_t hop)
{
    return fabric_link(layout->fabric, layout->route->hops[hop].link)->dst;
}

static gboolean
holds(const GArray *nodes, uint32_t node)
{
    for (guint i = 0; i < nodes->len; i++)
        if (g_array_index(nodes, uint32_t, i) == node)
            return TRUE;
    return FALSE;
}

/* The end of the level that begins at hop first: nodes are those it may leave. */
static uint32_t
level_end(const Layout *layout, uint32_t first, const GArray *nodes)
{
    uint32_t end = first;
    while (end < layout->route->n_hops && holds(nodes, source_of(layout, end)))
        end++;
    return end;
}

/* Slots of each of n hops, by its share of them all; equal shares: one each. */
static uint32_t
share_slots(const Layout *layout, const uint32_t *hops, uint32_t n, uint32_t *slots)
{
    double all = 0, least = INFINITY, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        double share = layout->route->hops[hops[i]].share;
        all += share;
        least = MIN(least, share);
        most = MAX(most, share);
    }
    gboolean equal = most - least <= 1e-9 * most;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        double share = layout->route->hops[hops[i]].share / all;
        slots[i] = equal ? 1 : MAX(1, (uint32_t)(share * SHARE_SLOTS + 0.5));
        sum += slots[i];
    }
    return sum;
}

/* The hops [first, end) that leave node, into hops. */
static uint32_t
hops_of(const Layout *layout, uint32_t first, uint32_t end, uint32_t node, uint32_t *hops)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < end; i++)
        if (source_of(layout, i) == node)
            hops[n++] = i;
    return n;
}

/* The block of one node; where its slots go on is filled in by the next level: the hop's target stands there now. */
static void
lay_node(Layout *layout, const uint32_t *hops, uint32_t n, uint32_t *most)
{
    g_autofree uint32_t *slots = g_new(uint32_t, n);
    uint32_t sum = share_slots(layout, hops, n, slots);
    *most = MAX(*most, sum);
    put(layout, PATH_BRANCH | layout->policy | sum);
    put(layout, (uint32_t)(hash_combine(layout->key, layout->words->len) >> 33));
    put(layout, layout->stride);
    for (uint32_t turn = 0; sum > 0; turn++)
        for (uint32_t i = 0; i < n; i++)
            if (turn < slots[i]) {
                put(layout, layout->route->hops[hops[i]].link);
                put(layout, target_of(layout, hops[i]));
                sum--;
            }
}

/* Replaces targets in the blocks [first, last) by the words at which the targets' own blocks begin. */
static void
join(GArray *words, uint32_t first, uint32_t last, const GArray *nodes, const GArray *starts)
{
    uint32_t *word = (uint32_t *)(void *)words->data;
    while (first < last) {
        uint32_t slots = word[first] & ~(PATH_BRANCH | PATH_ADAPTIVE);
        for (uint32_t s = 0; s < slots; s++) {
            uint32_t *go_on = &word[first + BRANCH_HEAD + 2 * s + 1];
            for (guint i = 0; i < nodes->len; i++)
                if (g_array_index(nodes, uint32_t, i) == *go_on) {
                    *go_on = g_array_index(starts, uint32_t, i);
                    break;
                }
        }
        first += BRANCH_HEAD + 2 * slots;
    }
}

/* All ways of a split route, level by level; "go on" words count from the row's first word. */
static void
lay_all(Layout *layout, uint32_t src)
{
    g_autoptr(GArray) nodes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autofree uint32_t *hops = g_new(uint32_t, layout->route->n_hops);
    g_array_append_val(nodes, src);
    uint32_t first = 0, before = 0;
    while (first < layout->route->n_hops) {
        uint32_t end = level_end(layout, first, nodes), most = 1, here = layout->words->len;
        assert(end > first);
        g_array_set_size(starts, 0);
        for (guint i = 0; i < nodes->len; i++) {
            uint32_t start = layout->words->len;
            g_array_append_val(starts, start);
            uint32_t n = hops_of(layout, first, end, g_array_index(nodes, uint32_t, i), hops);
            lay_node(layout, hops, n, &most);
        }
        join(layout->words, before, here, nodes, starts);
        before = here;
        g_array_set_size(nodes, 0);
        for (uint32_t i = first; i < end; i++) {
            uint32_t node = target_of(layout, i);
            if (!holds(nodes, node))
                g_array_append_val(nodes, node);
        }
        layout->stride = MIN(layout->stride * most, stride_max);
        first = end;
    }
    uint32_t last = layout->words->len;
    assert(nodes->len == 1);
    g_array_set_size(starts, 0);
    g_array_append_val(starts, last);
    join(layout->words, before, last, nodes, starts);
}

static gboolean
is_split(const Route *route)
{
    for (uint32_t i = 0; i < route->n_hops; i++)
        if (route->hops[i].share != 1)
            return TRUE;
    return FALSE;
}

/* Lays the row down in its place. */
static uint32_t
place(PacketNet *net, const GArray *words, gboolean split)
{
    uint32_t row = packet_path_row(net, words->len), *to = &net->words[row];
    memcpy(to, words->data, words->len * sizeof *to);
    uint32_t at = 0;
    while (split && to[at] != PATH_END) {
        uint32_t slots = to[at] & ~(PATH_BRANCH | PATH_ADAPTIVE);
        for (uint32_t s = 0; s < slots; s++)
            to[at + BRANCH_HEAD + 2 * s + 1] += row;
        at += BRANCH_HEAD + 2 * slots;
    }
    return row;
}

double
packet_path_link_rate(const PacketNet *net, uint32_t link)
{
    double rate_Bps = net->ports[link].rate_Bps;
    return rate_Bps > 0 ? rate_Bps : fabric_link(net->fabric, link)->capacity_Bps;
}

/* By the policy, or as it is set for the transfer. */
static gboolean
find_route(PacketNet *net, const RouteRequest *request, PathSpread spread, Route *route, gboolean *adaptive,
           GError **error)
{
    Routes *routes = net->base.routes;
    RoutingPolicy policy = routes_policy(routes);
    *adaptive = policy == ROUTING_ADAPTIVE && spread == PATH_AS_ROUTED;
    if (spread == PATH_SPRAY || *adaptive || (policy == ROUTING_SPRAY && spread == PATH_AS_ROUTED))
        return routes_find_sprayed(routes, request, route, error);
    if (policy == ROUTING_SPRAY)
        return routes_find_single(routes, request, route, error);
    return routes_find(routes, request, route, error);
}

gboolean
packet_path_make(PacketNet *net, const RouteRequest *request, PathSpread spread, PathMade *made, GError **error)
{
    gboolean adaptive = FALSE;
    Route route;
    if (!find_route(net, request, spread, &route, &adaptive, error))
        return FALSE;
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    Layout layout = {.fabric = net->fabric,
                     .route = &route,
                     .words = words,
                     .key = request->key,
                     .stride = 1,
                     .policy = adaptive ? PATH_ADAPTIVE : 0};
    gboolean split = is_split(&route);
    *made = (PathMade){.latency_ps = route.latency_ps,
                       .line_Bps = INFINITY,
                       .first_link = route.hops[0].link,
                       .last_link = route.hops[route.n_hops - 1].link};
    for (uint32_t i = 0; i < route.n_hops; i++) {
        const RouteHop *hop = &route.hops[i]; /* one of several takes its share */
        made->line_Bps = MIN(made->line_Bps, packet_path_link_rate(net, hop->link) / hop->share);
        if (!split)
            put(&layout, route.hops[i].link);
    }
    if (split)
        lay_all(&layout, request->src);
    put(&layout, PATH_END);
    made->path = place(net, words, split);
    return TRUE;
}

gboolean
packet_path_holds(const PacketNet *net, uint32_t path, uint32_t link)
{
    for (uint32_t at = path; net->words[at] != PATH_END;) {
        uint32_t word = net->words[at++];
        if (word < PATH_BRANCH) {
            if (word == link)
                return TRUE;
            continue;
        }
        uint32_t slots = word & ~(PATH_BRANCH | PATH_ADAPTIVE);
        for (uint32_t s = 0; s < slots; s++)
            if (net->words[at + BRANCH_HEAD - 1 + 2 * s] == link)
                return TRUE;
        at += BRANCH_HEAD - 1 + 2 * slots;
    }
    return FALSE;
}

uint32_t
packet_path_choose(const PacketNet *net, uint32_t seq, uint32_t *at)
{
    const uint32_t *branch = &net->words[*at];
    uint32_t slots = branch[0] & ~(PATH_BRANCH | PATH_ADAPTIVE);
    uint32_t slot = (branch[1] + seq / branch[2]) % slots;
    if (branch[0] & PATH_ADAPTIVE) {
        uint64_t least = UINT64_MAX;
        uint32_t from = slot;
        for (uint32_t k = 0; k < slots; k++) {
            uint32_t s = (from + k) % slots, link = branch[BRANCH_HEAD + 2 * s];
            uint64_t queue = net->ports[link].rate_Bps == 0 ? UINT64_MAX : packet_port_queue(net, link);
            if (queue < least) {
                least = queue;
                slot = s;
            }
        }
    }
    *at = branch[BRANCH_HEAD + 2 * slot + 1];
    return branch[BRANCH_HEAD + 2 * slot];
}

SimTime
packet_path_time(const PacketNet *net, uint32_t path, uint32_t size)
{
    uint32_t at = path;
    SimTime time = 0;
    while (net->words[at] != PATH_END) {
        uint32_t link = packet_path_next(net, 0, &at);
        time += packet_port_hop_time(net, link, at, size) + net->ports[link].latency_ps;
    }
    return time;
}
