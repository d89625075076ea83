/* fat_tree.c - nodes and cables of the trees of benchmarks */
#include "fat_tree.h"

#include <assert.h>

static void
add_nodes(Fabric *fabric, NodeKind kind, const char *prefix, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("%s%u", prefix, i);
        Node node = node_default();
        node.kind = kind;
        node.name = name;
        uint32_t added = fabric_add_node(fabric, &node, NULL);
        assert(added != INDEX_NONE);
        (void)added;
    }
}

static void
join(Fabric *fabric, const FatTree *tree, uint32_t a, uint32_t b)
{
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = tree->rate_Bps;
    link.latency_ps = tree->latency_ps;
    uint32_t added = fabric_add_cable(fabric, &link, NULL);
    assert(added != INDEX_NONE);
    (void)added;
}

Fabric *
fat_tree_new(const FatTree *tree)
{
    Fabric *fabric = fabric_new();
    uint32_t half = tree->half, n_hosts = fat_tree_hosts(tree), n_leaves = tree->pods * half;
    uint32_t leaf = n_hosts, spine = leaf + n_leaves, core = spine + n_leaves;
    add_nodes(fabric, NODE_HOST, "host", n_hosts);
    add_nodes(fabric, NODE_LEAF, "leaf", n_leaves);
    add_nodes(fabric, NODE_SPINE, "spine", n_leaves);
    add_nodes(fabric, NODE_CORE, "core", half * half);
    for (uint32_t h = 0; h < n_hosts; h++)
        join(fabric, tree, h, leaf + h / half);
    for (uint32_t i = 0; i < n_leaves; i++)
        for (uint32_t j = 0; j < half; j++) {
            join(fabric, tree, leaf + i, spine + i / half * half + j);
            join(fabric, tree, spine + i, core + i % half * half + j);
        }
    gboolean sealed = fabric_seal(fabric, NULL);
    assert(sealed);
    (void)sealed;
    return fabric;
}
