/* route_chain.c - NICs and legs of a route */
#include "fabric/route_chain.h"

#include <string.h>

void
route_map_init(RouteMap *map, const Fabric *fabric)
{
    *map = (RouteMap){0};
    route_graph_init(&map->graph, fabric);
    for (int class = 0; class < ROUTE_CLASSES; class ++)
        map->tables[class] = route_table_new(&map->graph, class);
    size_t n = map->graph.n_nodes;
    for (int way = 0; way < 2; way++) {
        map->owned[way] = g_malloc(n * sizeof *map->owned[way]);
        memset(map->owned[way], 0xff, n * sizeof *map->owned[way]);
    }
    map->owners = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    map->seen = g_new0(uint32_t, n);
    map->queue = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    map->depth = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

void
route_map_clear(RouteMap *map)
{
    for (int class = 0; class < ROUTE_CLASSES; class ++)
        route_table_free(map->tables[class]);
    route_graph_clear(&map->graph);
    g_free(map->owned[0]);
    g_free(map->owned[1]);
    g_array_unref(map->owners);
    g_free(map->seen);
    g_array_unref(map->queue);
    g_array_unref(map->depth);
}

void
route_map_changed(RouteMap *map, uint32_t link)
{
    RouteClass class = map->graph.class[link];
    route_table_changed(map->tables[class], link);
    if (class != ROUTE_PCIE)
        return;
    for (int way = 0; way < 2; way++)
        memset(map->owned[way], 0xff, map->graph.n_nodes * sizeof *map->owned[way]);
    g_array_set_size(map->owners, 0);
}

size_t
route_map_memory(const RouteMap *map)
{
    size_t bytes = route_graph_memory(&map->graph) + map->owners->len * sizeof(uint32_t) +
                   map->graph.n_nodes * (2 * sizeof *map->owned[0] + sizeof *map->seen);
    for (int class = 0; class < ROUTE_CLASSES; class ++)
        bytes += route_table_memory(map->tables[class]);
    return bytes;
}

static void
visit(RouteMap *map, uint32_t node, uint32_t depth)
{
    if (map->seen[node] == map->search)
        return;
    map->seen[node] = map->search;
    g_array_append_val(map->queue, node);
    g_array_append_val(map->depth, depth);
}

/* Searches over live PCIe from nic, against the links where the owners send to it (way 0), and keeps the
 * GPUs met at the least depth. */
static void
find_owners(RouteMap *map, uint32_t nic, int way)
{
    const Fabric *fabric = map->graph.fabric;
    uint32_t first = map->owners->len, least = INDEX_NONE;
    map->search++;
    g_array_set_size(map->queue, 0);
    g_array_set_size(map->depth, 0);
    visit(map, nic, 0);
    for (guint i = 0; i < map->queue->len; i++) {
        uint32_t node = g_array_index(map->queue, uint32_t, i), depth = g_array_index(map->depth, uint32_t, i), n;
        if (depth > least)
            break;
        NodeKind kind = fabric_node(fabric, node)->kind;
        if (kind == NODE_GPU) {
            least = depth;
            g_array_append_val(map->owners, node);
        }
        if (i > 0 && kind != NODE_PCIE)
            continue;
        const uint32_t *links = way == 0 ? fabric_in(fabric, node, &n) : fabric_out(fabric, node, &n);
        for (uint32_t k = 0; k < n; k++)
            if (map->graph.live[links[k]] == ROUTE_PCIE)
                visit(map, way == 0 ? map->graph.src[links[k]] : map->graph.dst[links[k]], depth + 1);
    }
    map->owned[way][nic].first = first;
    map->owned[way][nic].n = map->owners->len - first;
}

/* One leg between node and nic, in the sense of way: 0 towards the NIC, 1 from it. */
static gboolean
leg_between(RouteMap *map, RouteClass class, uint32_t node, uint32_t other, int way, RouteLeg *leg)
{
    return way == 0 ? route_table_leg(map->tables[class], node, other, leg)
                    : route_table_leg(map->tables[class], other, node, leg);
}

/* Over NVLink to (from) the GPU that owns the NIC, the nearest of several, and over PCIe: two legs in path order. */
static gboolean
hand_over(RouteMap *map, uint32_t gpu, uint32_t nic, int way, RouteLeg *legs)
{
    if (!route_table_touches(map->tables[ROUTE_NVLINK], gpu) || !route_table_touches(map->tables[ROUTE_PCIE], nic))
        return FALSE;
    if (map->owned[way][nic].first == INDEX_NONE)
        find_owners(map, nic, way);
    gboolean found = FALSE;
    RouteLeg *over_nvlink = &legs[way], *over_pcie = &legs[1 - way], leg;
    for (uint32_t i = 0; i < map->owned[way][nic].n; i++) {
        uint32_t owner = g_array_index(map->owners, uint32_t, map->owned[way][nic].first + i);
        if (owner == gpu || !leg_between(map, ROUTE_NVLINK, gpu, owner, way, &leg) ||
            (found && leg.length >= over_nvlink->length))
            continue;
        *over_nvlink = leg;
        found = leg_between(map, ROUTE_PCIE, owner, nic, way, over_pcie);
    }
    return found;
}

/* The legs between a node and a NIC of its server, appended to chain: over PCIe, or handed over to another GPU
 * where that is allowed and has fewer hops. */
static gboolean
add_inside(RouteMap *map, uint32_t node, uint32_t nic, int way, gboolean may_hand_over, RouteChain *chain)
{
    if (node == nic)
        return TRUE;
    RouteLeg pcie, over[2];
    gboolean joined = leg_between(map, ROUTE_PCIE, node, nic, way, &pcie);
    if (may_hand_over && (!joined || pcie.length > 2) && hand_over(map, node, nic, way, over) &&
        (!joined || over[0].length + over[1].length < pcie.length)) {
        chain->legs[chain->n++] = over[0];
        chain->legs[chain->n++] = over[1];
        return TRUE;
    }
    if (joined)
        chain->legs[chain->n++] = pcie;
    return joined;
}

/* One end of a request: the NICs to try, nearest first. */
typedef struct {
    uint32_t node;
    const uint32_t *nics;
    uint32_t n;
    gboolean named; /* asked for: the channel's, reached over another GPU if need be */
} End;

static End
end_of(const RouteMap *map, const uint32_t *node, const uint32_t *nic)
{
    const Fabric *fabric = map->graph.fabric;
    if (*nic != INDEX_NONE)
        return (End){*node, nic, 1, TRUE};
    if (route_table_touches(map->tables[ROUTE_NETWORK], *node))
        return (End){*node, node, 1, FALSE};
    End end = {.node = *node};
    end.nics = fabric_nics(fabric, *node, &end.n);
    if (end.n == 0 && fabric_server(fabric, *node) != INDEX_NONE)
        end.nics = fabric_server_nics(fabric, fabric_server(fabric, *node), &end.n);
    return end;
}

static gboolean
try_nics(RouteMap *map, const End *src, uint32_t src_nic, const End *dst, uint32_t dst_nic, gboolean may_hand_over,
         RouteChain *chain)
{
    chain->n = 0;
    if (!add_inside(map, src->node, src_nic, 0, src->named || may_hand_over, chain) ||
        !route_table_leg(map->tables[ROUTE_NETWORK], src_nic, dst_nic, &chain->legs[chain->n]))
        return FALSE;
    chain->n++;
    return add_inside(map, dst->node, dst_nic, 1, dst->named, chain);
}

/* The first NIC of end that is its own or joined to it over PCIe; INDEX_NONE. */
static uint32_t
nearest(RouteMap *map, const End *end, int way)
{
    RouteLeg leg;
    for (uint32_t i = 0; i < end->n; i++)
        if (end->named || end->nics[i] == end->node || leg_between(map, ROUTE_PCIE, end->node, end->nics[i], way, &leg))
            return end->nics[i];
    return INDEX_NONE;
}

/* forward: pxn. The destination's nearest NIC is on another rail than the source's: leave by the NIC of the
 * source's server that is on the destination's. */
static gboolean
try_rail(RouteMap *map, const End *src, const End *dst, RouteChain *chain)
{
    RouteTable *network = map->tables[ROUTE_NETWORK];
    uint32_t dst_nic = nearest(map, dst, 1), own = nearest(map, src, 0);
    if (dst_nic == INDEX_NONE || !route_table_touches(network, dst_nic))
        return FALSE;
    uint32_t rail = route_table_attachment(network, dst_nic);
    if (own != INDEX_NONE && route_table_touches(network, own) && route_table_attachment(network, own) == rail)
        return FALSE;
    for (uint32_t i = 0; i < src->n; i++)
        if (route_table_touches(network, src->nics[i]) && route_table_attachment(network, src->nics[i]) == rail &&
            try_nics(map, src, src->nics[i], dst, dst_nic, TRUE, chain))
            return TRUE;
    return FALSE;
}

static gboolean
through_network(RouteMap *map, const RouteRequest *request, RouteChain *chain)
{
    End src = end_of(map, &request->src, &request->src_nic), dst = end_of(map, &request->dst, &request->dst_nic);
    ForwardMode forward = fabric_forward(map->graph.fabric);
    if (forward == FORWARD_PXN && !src.named && try_rail(map, &src, &dst, chain))
        return TRUE;
    int passes = forward == FORWARD_NONE || src.named ? 1 : 2;
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t i = 0; i < src.n; i++)
            for (uint32_t k = 0; k < dst.n; k++)
                if (try_nics(map, &src, src.nics[i], &dst, dst.nics[k], pass > 0, chain))
                    return TRUE;
    return FALSE;
}

gboolean
route_chain_find(RouteMap *map, const RouteRequest *request, RouteChain *chain)
{
    const Fabric *fabric = map->graph.fabric;
    uint32_t src = request->src, dst = request->dst, server = fabric_server(fabric, src);
    chain->n = 1;
    if (route_table_leg(map->tables[ROUTE_NVLINK], src, dst, &chain->legs[0]))
        return TRUE;
    gboolean named = request->src_nic != INDEX_NONE || request->dst_nic != INDEX_NONE;
    gboolean together = server != INDEX_NONE && server == fabric_server(fabric, dst);
    if ((!named || together) && route_table_leg(map->tables[ROUTE_PCIE], src, dst, &chain->legs[0]))
        return TRUE;
    return through_network(map, request, chain);
}
