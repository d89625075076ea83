/* places.c - which server and which building a node is in */
#include "fabric/places.h"

#include <string.h>

/* A place is told by its interned texts: equal texts have equal addresses. Nothing is ever taken from the
 * table in the order of its keys. */
typedef struct {
    const char *text[4];
} Place;

typedef struct {
    GHashTable *numbers; /* Place -> its number + 1 */
    Place last;          /* neighbours in index order are mostly in one place */
    uint32_t last_number, n;
} Numbering;

static guint
place_hash(gconstpointer key)
{
    const Place *place = key;
    uint64_t hash = 0;
    for (int i = 0; i < 4; i++)
        hash = (hash ^ (uint64_t)(uintptr_t)place->text[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (guint)(hash >> 32);
}

static gboolean
place_equal(gconstpointer left, gconstpointer right)
{
    return memcmp(left, right, sizeof(Place)) == 0;
}

static Numbering
numbering_new(void)
{
    return (Numbering){.numbers = g_hash_table_new_full(place_hash, place_equal, g_free, NULL)};
}

static uint32_t
number_of(Numbering *numbering, Place place)
{
    if (place_equal(&place, &numbering->last))
        return numbering->last_number;
    gpointer known = g_hash_table_lookup(numbering->numbers, &place);
    uint32_t number = known != NULL ? GPOINTER_TO_UINT(known) - 1 : numbering->n++;
    if (known == NULL)
        g_hash_table_insert(numbering->numbers, g_memdup2(&place, sizeof place), GUINT_TO_POINTER(number + 1));
    numbering->last = place;
    numbering->last_number = number;
    return number;
}

static uint8_t *
mark(const Fabric *fabric, const uint32_t *ranks, uint32_t n_ranks)
{
    uint8_t *is_rank = g_new0(uint8_t, fabric_n_nodes(fabric));
    for (uint32_t i = 0; i < n_ranks; i++)
        is_rank[ranks[i]] = 1;
    return is_rank;
}

/* NICs and PCIe switches that name no server but hang on a rank's PCIe are in that rank's server. */
static void
adopt(const Fabric *fabric, uint32_t rank, uint32_t *server, GArray *stack)
{
    g_array_append_val(stack, rank);
    while (stack->len > 0) {
        uint32_t node = g_array_index(stack, uint32_t, stack->len - 1), n;
        g_array_set_size(stack, stack->len - 1);
        const uint32_t *links = fabric_out(fabric, node, &n);
        for (uint32_t i = 0; i < n; i++) {
            const Link *link = fabric_link(fabric, links[i]);
            NodeKind kind = fabric_node(fabric, link->dst)->kind;
            if (link->kind != LINK_PCIE || (kind != NODE_NIC && kind != NODE_PCIE) || server[link->dst] != INDEX_NONE)
                continue;
            server[link->dst] = server[rank];
            if (kind == NODE_PCIE)
                g_array_append_val(stack, link->dst);
        }
    }
}

uint32_t *
places_servers(const Fabric *fabric, const uint32_t *ranks, uint32_t n_ranks, uint32_t *n_servers)
{
    Numbering numbering = numbering_new();
    g_autofree uint8_t *is_rank = mark(fabric, ranks, n_ranks);
    uint32_t n_nodes = fabric_n_nodes(fabric), *server = g_new(uint32_t, n_nodes);
    for (uint32_t i = 0; i < n_nodes; i++) {
        const Node *node = fabric_node(fabric, i);
        if (node->server[0] != '\0')
            server[i] = number_of(&numbering, (Place){{node->region, node->building, node->zone, node->server}});
        else
            server[i] = is_rank[i] ? numbering.n++ : INDEX_NONE;
    }
    *n_servers = numbering.n;
    g_hash_table_unref(numbering.numbers);

    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < n_ranks; i++)
        adopt(fabric, ranks[i], server, stack);
    return server;
}

uint32_t *
places_buildings(const Fabric *fabric, const uint32_t *ranks, uint32_t n_ranks, uint32_t *n_buildings)
{
    Numbering numbering = numbering_new();
    g_autofree uint8_t *is_rank = mark(fabric, ranks, n_ranks);
    uint32_t n_nodes = fabric_n_nodes(fabric), *building = g_new(uint32_t, n_nodes);
    gboolean any = FALSE;
    for (uint32_t i = 0; i < n_nodes && !any; i++)
        any = fabric_node(fabric, i)->building[0] != '\0';
    for (uint32_t i = 0; i < n_nodes; i++) {
        const Node *node = fabric_node(fabric, i);
        if (!any)
            building[i] = number_of(&numbering, (Place){{"", "", "", ""}});
        else if (node->building[0] != '\0' || is_rank[i])
            building[i] = number_of(&numbering, (Place){{node->region, node->building, "", ""}});
        else
            building[i] = INDEX_NONE;
    }
    *n_buildings = numbering.n;
    g_hash_table_unref(numbering.numbers);
    return building;
}
