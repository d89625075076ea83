/* nic_lists.c - which NICs a GPU may use, nearest first */
#include "fabric/nic_lists.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Lists of all GPUs together: a server of 4096 GPUs with 4096 NICs reached over NVLink is 16 M. */
enum { MAX_ENTRIES = 1 << 28 };

typedef struct {
    uint32_t nvlink_hops, pcie_hops;
    int32_t rail;
    uint32_t nic;
} Entry;

typedef struct {
    const Fabric *fabric;
    const uint32_t *server;
    uint32_t *seen; /* by node: the last search that met it */
    uint32_t search;
    GArray *queue; /* of Step */
    Rows direct;   /* by rank: indexes into near */
    GArray *near;  /* of Entry: the NICs over PCIe, all ranks after each other */
    GArray *found; /* of Entry: of the rank at hand */
} Finder;

typedef struct {
    uint32_t node, hops;
} Step;

static int
compare(const void *left, const void *right)
{
    const Entry *a = left, *b = right;
    if (a->nvlink_hops != b->nvlink_hops)
        return a->nvlink_hops < b->nvlink_hops ? -1 : 1;
    if (a->pcie_hops != b->pcie_hops)
        return a->pcie_hops < b->pcie_hops ? -1 : 1;
    if (a->rail != b->rail)
        return a->rail < b->rail ? -1 : 1;
    return a->nic < b->nic ? -1 : a->nic > b->nic;
}

/* Most lists come out in order already: NICs are met by distance, then by index. */
static void
sort(GArray *entries, guint from)
{
    size_t n = entries->len - from;
    if (n < 2)
        return;
    Entry *first = &g_array_index(entries, Entry, from);
    for (size_t i = 1; i < n; i++)
        if (compare(&first[i - 1], &first[i]) > 0) {
            qsort(first, n, sizeof *first, compare);
            return;
        }
}

static void
start_search(Finder *finder, uint32_t node)
{
    finder->search++;
    finder->seen[node] = finder->search;
    g_array_set_size(finder->queue, 0);
    g_array_append_val(finder->queue, ((Step){node, 0}));
}

/* The unseen nodes one link of this kind away from step go to the queue. */
static void
walk(Finder *finder, Step step, LinkKind kind)
{
    uint32_t n;
    const uint32_t *links = fabric_out(finder->fabric, step.node, &n);
    for (uint32_t i = 0; i < n; i++) {
        const Link *link = fabric_link(finder->fabric, links[i]);
        if (link->kind != kind || finder->seen[link->dst] == finder->search)
            continue;
        finder->seen[link->dst] = finder->search;
        g_array_append_val(finder->queue, ((Step){link->dst, step.hops + 1}));
    }
}

/* Appends to near the NICs that rank reaches over PCIe, through PCIe switches only. */
static void
find_direct(Finder *finder, uint32_t rank)
{
    guint from = finder->near->len;
    start_search(finder, rank);
    for (guint i = 0; i < finder->queue->len; i++) {
        Step step = g_array_index(finder->queue, Step, i);
        const Node *node = fabric_node(finder->fabric, step.node);
        if (node->kind == NODE_NIC) {
            Entry entry = {.pcie_hops = step.hops, .rail = node->rail, .nic = step.node};
            g_array_append_val(finder->near, entry);
        }
        if (i == 0 || node->kind == NODE_PCIE)
            walk(finder, step, LINK_PCIE);
    }
    sort(finder->near, from);
}

/* NICs of rank itself, then those of the GPUs it reaches over NVLink within its server; a NIC of several
 * GPUs comes once, at its nearest. */
static void
find_all(Finder *finder, uint32_t rank, const uint32_t *rank_of)
{
    g_array_set_size(finder->found, 0);
    start_search(finder, rank);
    for (guint i = 0; i < finder->queue->len; i++) {
        Step step = g_array_index(finder->queue, Step, i);
        if (rank_of[step.node] != INDEX_NONE) {
            uint32_t n;
            const uint32_t *near = rows_get(&finder->direct, rank_of[step.node], &n);
            for (uint32_t k = 0; k < n; k++) {
                Entry entry = g_array_index(finder->near, Entry, near[k]);
                entry.nvlink_hops = step.hops;
                if (step.hops == 0 || finder->server[entry.nic] == finder->server[rank])
                    g_array_append_val(finder->found, entry);
            }
        }
        NodeKind kind = fabric_node(finder->fabric, step.node)->kind;
        if (finder->server[step.node] == finder->server[rank] && (kind == NODE_GPU || kind == NODE_NVSWITCH))
            walk(finder, step, LINK_NVLINK);
    }
    sort(finder->found, 0);
}

/* Appends the NICs found to items, each once. */
static void
take_found(Finder *finder, GArray *items)
{
    finder->search++;
    for (guint i = 0; i < finder->found->len; i++) {
        uint32_t nic = g_array_index(finder->found, Entry, i).nic;
        if (finder->seen[nic] == finder->search)
            continue;
        finder->seen[nic] = finder->search;
        g_array_append_val(items, nic);
    }
}

static void
make_direct(Finder *finder, const uint32_t *ranks, uint32_t n_ranks)
{
    g_autoptr(GArray) owner = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < n_ranks; i++) {
        find_direct(finder, ranks[i]);
        while (owner->len < finder->near->len)
            g_array_append_val(owner, i);
    }
    finder->direct = rows_pack((const uint32_t *)(void *)owner->data, owner->len, n_ranks);
}

/* lists->start is filled up to the end of rank i's row, and of the nodes before the next rank. */
static gboolean
make_lists(Finder *finder, const uint32_t *ranks, uint32_t n_ranks, const uint32_t *rank_of, Rows *lists,
           GError **error)
{
    uint32_t n_nodes = fabric_n_nodes(finder->fabric), node = 0;
    g_autoptr(GArray) items = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), MAX(n_ranks, 1));
    uint32_t *start = g_new0(uint32_t, (size_t)n_nodes + 1);
    for (uint32_t i = 0; i < n_ranks; i++) {
        while (node < ranks[i])
            start[++node] = items->len;
        find_all(finder, ranks[i], rank_of);
        take_found(finder, items);
        start[++node] = items->len;
        if (items->len > MAX_ENTRIES) {
            g_free(start);
            return error_input(error, "the GPUs have too many NICs to choose from: over %d in all up to \"%s\"",
                               MAX_ENTRIES, fabric_node(finder->fabric, ranks[i])->name);
        }
    }
    while (node < n_nodes)
        start[++node] = items->len;
    *lists = (Rows){start, g_memdup2(items->data, MAX(items->len, 1) * sizeof(uint32_t))};
    return TRUE;
}

gboolean
nic_lists_make(const Fabric *fabric, const uint32_t *ranks, uint32_t n_ranks, const uint32_t *server, Rows *lists,
               GError **error)
{
    uint32_t n_nodes = fabric_n_nodes(fabric);
    g_autofree uint32_t *seen = g_new0(uint32_t, n_nodes), *rank_of = g_new(uint32_t, n_nodes);
    memset(rank_of, 0xff, n_nodes * sizeof *rank_of);
    for (uint32_t i = 0; i < n_ranks; i++)
        rank_of[ranks[i]] = i;

    Finder finder = {.fabric = fabric,
                     .server = server,
                     .seen = seen,
                     .queue = g_array_new(FALSE, FALSE, sizeof(Step)),
                     .near = g_array_new(FALSE, FALSE, sizeof(Entry)),
                     .found = g_array_new(FALSE, FALSE, sizeof(Entry))};
    make_direct(&finder, ranks, n_ranks);
    gboolean made = make_lists(&finder, ranks, n_ranks, rank_of, lists, error);

    rows_clear(&finder.direct);
    g_array_unref(finder.queue);
    g_array_unref(finder.near);
    g_array_unref(finder.found);
    return made;
}
