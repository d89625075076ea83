#include "collective/layout.h"

#include <assert.h>

/* Does a NIC hang on this node over PCIe, without another GPU between? (A PCIe tree is shallow: GPU, switches, NIC.) */
static gboolean
joined(const Fabric *fabric, uint32_t node, uint32_t nic, int depth)
{
    uint32_t n_links;
    const uint32_t *links = fabric_out(fabric, node, &n_links);
    for (uint32_t i = 0; i < n_links; i++) {
        uint32_t next = fabric_link(fabric, links[i])->dst;
        if (next == nic)
            return TRUE;
        if (depth > 0 && fabric_node(fabric, next)->kind == NODE_PCIE && joined(fabric, next, nic, depth - 1))
            return TRUE;
    }
    return FALSE;
}

enum { PCIE_DEPTH = 3 };

/* The NICs of a server that its members may take, in the server's order: those joined to a member; where no member has
 * one, all. */
static GArray *
usable_nics(const Fabric *fabric, const uint32_t *nodes, const uint32_t *members, uint32_t n)
{
    GArray *usable = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint32_t n_nics;
    const uint32_t *nics = fabric_server_nics(fabric, fabric_server(fabric, nodes[members[0]]), &n_nics);
    for (uint32_t k = 0; k < n_nics; k++) {
        for (uint32_t i = 0; i < n; i++) {
            if (!joined(fabric, nodes[members[i]], nics[k], PCIE_DEPTH))
                continue;
            g_array_append_val(usable, nics[k]);
            break;
        }
    }
    if (usable->len == 0 && n_nics > 0)
        g_array_append_vals(usable, nics, n_nics);
    return usable;
}

/* Offset of the member for whom nic is nearest: the least place in its list of NICs, ties to the lower member. */
static uint32_t
nearest_member(const Fabric *fabric, const uint32_t *nodes, const uint32_t *members, uint32_t n, uint32_t nic)
{
    uint32_t best = 0, best_place = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t n_nics;
        const uint32_t *nics = fabric_nics(fabric, nodes[members[i]], &n_nics);
        for (uint32_t place = 0; place < n_nics && place < best_place; place++) {
            if (nics[place] != nic)
                continue;
            best = i;
            best_place = place;
        }
    }
    return best;
}

static void
group_by_server(Layout *layout, const Fabric *fabric, const uint32_t *nodes)
{
    uint32_t n = layout->n;
    g_autoptr(GHashTable) number = g_hash_table_new(NULL, NULL); /* the fabric's server to ours + 1; looked up only */
    layout->server_of = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        gpointer key = GUINT_TO_POINTER(fabric_server(fabric, nodes[i]));
        uint32_t found = GPOINTER_TO_UINT(g_hash_table_lookup(number, key));
        if (found == 0) {
            found = ++layout->n_servers;
            g_hash_table_insert(number, key, GUINT_TO_POINTER(found));
        }
        layout->server_of[i] = found - 1;
    }
    layout->first = g_new0(uint32_t, layout->n_servers + 1);
    for (uint32_t i = 0; i < n; i++)
        layout->first[layout->server_of[i] + 1]++;
    for (uint32_t s = 0; s < layout->n_servers; s++)
        layout->first[s + 1] += layout->first[s];
    layout->members = g_new(uint32_t, n);
    g_autofree uint32_t *fill = g_memdup2(layout->first, layout->n_servers * sizeof *fill);
    for (uint32_t i = 0; i < n; i++)
        layout->members[fill[layout->server_of[i]]++] = i;
}

/* NIC k of each server and the member at which channel k enters. */
static void
lay_channels(Layout *layout, const Fabric *fabric, const uint32_t *nodes, GArray **usable)
{
    size_t cells = (size_t)layout->n_channels * layout->n_servers;
    layout->nic = g_new(uint32_t, cells);
    layout->entry = g_new(uint32_t, cells);
    for (uint32_t s = 0; s < layout->n_servers; s++) {
        const uint32_t *members = layout->members + layout->first[s];
        uint32_t n = layout->first[s + 1] - layout->first[s];
        for (uint32_t k = 0; k < layout->n_channels; k++) {
            size_t cell = (size_t)k * layout->n_servers + s;
            gboolean any = usable[s]->len > 0;
            layout->nic[cell] = any ? g_array_index(usable[s], uint32_t, k % usable[s]->len) : INDEX_NONE;
            layout->entry[cell] = any ? nearest_member(fabric, nodes, members, n, layout->nic[cell]) : k % n;
        }
    }
}

Layout *
layout_new(const Fabric *fabric, const uint32_t *nodes, uint32_t n, uint32_t channels)
{
    assert(n > 0);
    Layout *layout = g_new0(Layout, 1);
    layout->n = n;
    group_by_server(layout, fabric, nodes);
    g_autofree GArray **usable = g_new(GArray *, layout->n_servers);
    uint32_t least = UINT32_MAX;
    for (uint32_t s = 0; s < layout->n_servers; s++) {
        usable[s] =
            usable_nics(fabric, nodes, layout->members + layout->first[s], layout->first[s + 1] - layout->first[s]);
        least = MIN(least, usable[s]->len);
    }
    if (layout->n_servers == 1)
        least = 1;
    layout->n_channels = channels > 0 ? channels : MAX(least, 1);
    lay_channels(layout, fabric, nodes, usable);
    for (uint32_t s = 0; s < layout->n_servers; s++)
        g_array_unref(usable[s]);
    return layout;
}

void
layout_free(Layout *layout)
{
    if (layout == NULL)
        return;
    g_free(layout->first);
    g_free(layout->members);
    g_free(layout->server_of);
    g_free(layout->nic);
    g_free(layout->entry);
    g_free(layout);
}

/* One server's members from offset `from` on, around; the place after the last. */
static uint32_t *
put_server(const Layout *layout, uint32_t server, uint32_t from, uint32_t *order)
{
    uint32_t n = layout->first[server + 1] - layout->first[server];
    for (uint32_t i = 0; i < n; i++)
        *order++ = layout->members[layout->first[server] + (from + i) % n];
    return order;
}

void
layout_order(const Layout *layout, uint32_t channel, uint32_t *order)
{
    for (uint32_t s = 0; s < layout->n_servers; s++)
        order = put_server(layout, s, layout->entry[(size_t)channel * layout->n_servers + s], order);
}

void
layout_order_from(const Layout *layout, uint32_t channel, uint32_t root, uint32_t *order)
{
    uint32_t home = layout->server_of[root], offset = 0;
    while (layout->members[layout->first[home] + offset] != root)
        offset++;
    order = put_server(layout, home, offset, order);
    for (uint32_t i = 1; i < layout->n_servers; i++) {
        uint32_t s = (home + i) % layout->n_servers;
        order = put_server(layout, s, layout->entry[(size_t)channel * layout->n_servers + s], order);
    }
}

uint32_t
layout_nic(const Layout *layout, uint32_t channel, uint32_t member, uint32_t other)
{
    uint32_t server = layout->server_of[member];
    if (server == layout->server_of[other])
        return INDEX_NONE;
    return layout->nic[(size_t)channel * layout->n_servers + server];
}

void
layout_cut(const Layout *layout, uint64_t bytes, const double *weight, uint64_t *cut)
{
    uint32_t c = layout->n_channels;
    double total = 0, sum = 0;
    for (uint32_t k = 0; weight != NULL && k < c; k++)
        total += weight[k];
    for (uint32_t k = 0; k < c; k++) {
        cut[k] =
            weight != NULL ? (uint64_t)((double)bytes * (sum / total)) : (uint64_t)((unsigned __int128)bytes * k / c);
        sum += weight != NULL ? weight[k] : 0;
    }
    cut[c] = bytes;
}
