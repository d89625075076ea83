/* astra_topology.c - ASTRA-sim's network.yml as a fabric
 *
 * A Switch is one more node with a cable to each of its ranks, a Ring a cable between neighbours (of two: one), Fully-
 * Connected one between every two. One dimension of Switch is hosts on a leaf. In all others a rank is a GPU, and hands
 * on what is for others, as ASTRA-sim's ranks do: every cable is of kind nvlink, the fabric forwards mesh. The ranks of
 * one row of the innermost dimension are one server. */
#include "base/error.h"
#include "base/input.h"
#include "fabric/astra_network.h"
#include "fabric/topology_format.h"

#include <math.h>
#include <string.h>

enum { MOST_CABLES = 1 << 23 };

typedef struct {
    const AstraNetwork *network;
    Fabric *fabric;
    gboolean plain; /* one switch with hosts */
    Link link;      /* of the present dimension */
} Builder;

static gboolean
add_cable(Builder *builder, uint32_t src, uint32_t dst, GError **error)
{
    builder->link.src = src;
    builder->link.dst = dst;
    return fabric_add_cable(builder->fabric, &builder->link, error) != INDEX_NONE;
}

static gboolean
add_ranks(Builder *builder, GError **error)
{
    uint32_t inner = astra_network_dimension(builder->network, 0)->npus;
    for (uint32_t r = 0; r < builder->network->n_npus; r++) {
        char name[32], server[32];
        g_snprintf(name, sizeof name, "npu%u", r);
        g_snprintf(server, sizeof server, "node%u", builder->plain ? r : r / inner);
        Node node = node_default();
        node.name = name;
        node.kind = builder->plain ? NODE_HOST : NODE_GPU;
        node.server = server;
        if (fabric_add_node(builder->fabric, &node, error) == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

/* One row of a dimension: ranks first, first + stride, ... */
static gboolean
add_row(Builder *builder, uint32_t d, uint32_t first, uint32_t stride, GError **error)
{
    const AstraDimension *dimension = astra_network_dimension(builder->network, d);
    uint32_t n = dimension->npus;
    if (dimension->shape == ASTRA_SWITCH) {
        char name[48];
        g_snprintf(name, sizeof name, "switch%u.%u", d, first);
        Node node = node_default();
        node.name = name;
        node.kind = builder->plain ? NODE_LEAF : NODE_NVSWITCH;
        uint32_t hub = fabric_add_node(builder->fabric, &node, error);
        for (uint32_t i = 0; hub != INDEX_NONE && i < n; i++)
            if (!add_cable(builder, first + i * stride, hub, error))
                return FALSE;
        return hub != INDEX_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t others = dimension->shape == ASTRA_FULLY_CONNECTED ? n - 1 - i : i + 1 < n || n > 2 ? 1 : 0;
        for (uint32_t k = 1; k <= others; k++)
            if (!add_cable(builder, first + i * stride, first + (i + k) % n * stride, error))
                return FALSE;
    }
    return TRUE;
}

static gboolean
add_dimension(Builder *builder, uint32_t d, uint32_t stride, GError **error)
{
    const AstraDimension *dimension = astra_network_dimension(builder->network, d);
    builder->link = link_default();
    builder->link.kind = builder->plain ? LINK_ETHERNET : LINK_NVLINK;
    builder->link.capacity_Bps = dimension->bandwidth_GiBps * 0x1p30;
    builder->link.latency_ps = (SimTime)floor(dimension->latency_ns * 1e3 + 0.5);
    builder->link.source = "file";
    for (uint32_t first = 0; first < builder->network->n_npus; first++)
        if (first / stride % dimension->npus == 0 && !add_row(builder, d, first, stride, error))
            return FALSE;
    return TRUE;
}

static uint64_t
count_cables(const AstraNetwork *network)
{
    uint64_t cables = 0;
    for (uint32_t d = 0; d < network->dimensions->len; d++) {
        const AstraDimension *dimension = astra_network_dimension(network, d);
        uint64_t n = network->n_npus;
        cables += dimension->shape == ASTRA_FULLY_CONNECTED ? n * (dimension->npus - 1) / 2 : n;
    }
    return cables;
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(AstraNetwork) network = astra_network_read(path, options->problems, error);
    if (network == NULL)
        return NULL;
    uint64_t cables = count_cables(network);
    if (cables > MOST_CABLES) {
        error_input(error, "%s: makes %" G_GUINT64_FORMAT " cables; %d is the most", path, cables, MOST_CABLES);
        return NULL;
    }
    g_autoptr(Fabric) fabric = fabric_new();
    Builder builder = {.network = network,
                       .fabric = fabric,
                       .plain =
                           network->dimensions->len == 1 && astra_network_dimension(network, 0)->shape == ASTRA_SWITCH};
    fabric_set_forward(fabric, builder.plain ? FORWARD_NONE : FORWARD_MESH);
    gboolean built = add_ranks(&builder, error);
    for (uint32_t d = 0, stride = 1; built && d < network->dimensions->len; d++) {
        built = add_dimension(&builder, d, stride, error);
        stride *= astra_network_dimension(network, d)->npus;
    }
    if (!built || !fabric_seal(fabric, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    if (notes != NULL)
        *notes = builder.plain ? NULL : g_strdup("ranks hand on what is for others, as ASTRA-sim's do: forward mesh\n");
    return g_steal_pointer(&fabric);
}

/* A line that begins with npus_count, and one with topology. */
static gboolean
recognise(const char *head, size_t length)
{
    gboolean npus = FALSE, topology = FALSE;
    for (const char *at = head + input_bom(head, length); at != NULL && *at != '\0'; at = strchr(at, '\n')) {
        at += strspn(at, "\r\n");
        npus = npus || g_str_has_prefix(at, "npus_count:");
        topology = topology || g_str_has_prefix(at, "topology:");
    }
    return npus && topology;
}

const TopologyFormat topology_astra = {"astra-sim", "ASTRA-sim's network.yml: Ring, Switch, FullyConnected", recognise,
                                       read};
