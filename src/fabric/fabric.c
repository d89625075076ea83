/* fabric.c - the graph: rows of nodes and links, their texts, and the compact adjacency */
#include "fabric/fabric.h"

#include "base/error.h"
#include "fabric/nic_lists.h"
#include "fabric/places.h"
#include "fabric/rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Attribute texts repeat (a server's name stands at its 17 nodes), so each is stored once and two equal
 * ones have one address. Node names are all different: an open hash of node numbers finds them. */
struct Fabric {
    GArray *nodes;       /* of Node */
    GArray *links;       /* of Link */
    GStringChunk *texts; /* attributes: one copy each */
    GStringChunk *names; /* of nodes */
    uint32_t *slots;     /* node numbers by hash of the name; INDEX_NONE = free */
    uint32_t n_slots;    /* a power of two, more than twice the nodes */
    char *name;
    ForwardMode forward;
    gboolean sealed;

    Rows out, in;   /* by node */
    uint32_t *gpus; /* the ranks: GPUs, or hosts */
    uint32_t n_gpus;
    Rows nics;                   /* by node */
    uint32_t *server, *building; /* by node */
    uint32_t n_servers, n_buildings;
    Rows server_nics; /* by server */
};

Fabric *
fabric_new(void)
{
    Fabric *fabric = g_new0(Fabric, 1);
    fabric->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
    fabric->links = g_array_new(FALSE, FALSE, sizeof(Link));
    fabric->texts = g_string_chunk_new(4096);
    fabric->names = g_string_chunk_new(65536);
    fabric->n_slots = 64;
    fabric->slots = g_new(uint32_t, fabric->n_slots);
    memset(fabric->slots, 0xff, fabric->n_slots * sizeof *fabric->slots);
    fabric->name = g_strdup("");
    return fabric;
}

void
fabric_free(Fabric *fabric)
{
    if (fabric == NULL)
        return;
    g_array_unref(fabric->nodes);
    g_array_unref(fabric->links);
    g_string_chunk_free(fabric->texts);
    g_string_chunk_free(fabric->names);
    g_free(fabric->slots);
    g_free(fabric->name);
    rows_clear(&fabric->out);
    rows_clear(&fabric->in);
    rows_clear(&fabric->nics);
    rows_clear(&fabric->server_nics);
    g_free(fabric->gpus);
    g_free(fabric->server);
    g_free(fabric->building);
    g_free(fabric);
}

Node
node_default(void)
{
    return (Node){.name = "",
                  .kind = NODE_GPU,
                  .region = "",
                  .building = "",
                  .zone = "",
                  .rack = "",
                  .server = "",
                  .rail = -1,
                  .gpu = ""};
}

Link
link_default(void)
{
    return (Link){.kind = LINK_ETHERNET, .length_km = NAN, .source = ""};
}

/* FNV-1a, folded: names differ most in their last bytes, which move the low bits. */
static uint32_t
name_hash(const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (const unsigned char *c = (const unsigned char *)name; *c != '\0'; c++)
        hash = (hash ^ *c) * UINT64_C(1099511628211);
    return (uint32_t)(hash ^ hash >> 32);
}

/* The slot that holds name, or the free one where it belongs. */
static uint32_t *
slot_of(const Fabric *fabric, const char *name)
{
    uint32_t mask = fabric->n_slots - 1;
    for (uint32_t i = name_hash(name) & mask;; i = (i + 1) & mask) {
        uint32_t node = fabric->slots[i];
        if (node == INDEX_NONE || strcmp(g_array_index(fabric->nodes, Node, node).name, name) == 0)
            return &fabric->slots[i];
    }
}

static void
grow_slots(Fabric *fabric)
{
    fabric->n_slots *= 2;
    fabric->slots = g_renew(uint32_t, fabric->slots, fabric->n_slots);
    memset(fabric->slots, 0xff, fabric->n_slots * sizeof *fabric->slots);
    for (uint32_t i = 0; i < fabric->nodes->len; i++)
        *slot_of(fabric, g_array_index(fabric->nodes, Node, i).name) = i;
}

/* text, stored once. A node mostly has the texts of the one before it: last spares the look-up. */
static const char *
intern(Fabric *fabric, const char *text, const char *last)
{
    if (text == NULL || text[0] == '\0')
        return "";
    if (last != NULL && strcmp(text, last) == 0)
        return last;
    return g_string_chunk_insert_const(fabric->texts, text);
}

uint32_t
fabric_add_node(Fabric *fabric, const Node *node, GError **error)
{
    assert(!fabric->sealed && (unsigned)node->kind < NODE_KINDS);
    if (node->name == NULL || node->name[0] == '\0') {
        error_input(error, "a node (number %u, of kind %s) has no name", fabric->nodes->len,
                    node_kind_name(node->kind));
        return INDEX_NONE;
    }
    uint32_t *slot = slot_of(fabric, node->name);
    if (*slot != INDEX_NONE) {
        error_input(error, "two nodes are named \"%s\"; a name is unique", node->name);
        return INDEX_NONE;
    }

    uint32_t index = fabric->nodes->len;
    const Node none = {0};
    const Node *last = index > 0 ? &g_array_index(fabric->nodes, Node, index - 1) : &none;
    Node row = *node;
    row.name = g_string_chunk_insert(fabric->names, node->name);
    row.region = intern(fabric, node->region, last->region);
    row.building = intern(fabric, node->building, last->building);
    row.zone = intern(fabric, node->zone, last->zone);
    row.rack = intern(fabric, node->rack, last->rack);
    row.server = intern(fabric, node->server, last->server);
    row.gpu = intern(fabric, node->gpu, last->gpu);
    g_array_append_val(fabric->nodes, row);
    *slot = index;
    if (fabric->nodes->len > fabric->n_slots / 2)
        grow_slots(fabric);
    return index;
}

/* "a" or "node 7 (there are 5)". The caller frees it. */
static char *
end_text(const Fabric *fabric, uint32_t node)
{
    if (node < fabric->nodes->len)
        return g_strdup_printf("\"%s\"", g_array_index(fabric->nodes, Node, node).name);
    return g_strdup_printf("node %u (there are %u)", node, fabric->nodes->len);
}

/* What is wrong with the figures of link, or NULL. The caller frees it. */
static char *
fault_of(const Link *link)
{
    if (!isfinite(link->capacity_Bps) || link->capacity_Bps <= 0)
        return g_strdup_printf("capacity_Bps is %g, expected a finite number above 0", link->capacity_Bps);
    if (link->capacity_Bps > LINK_MAX_Bps)
        return g_strdup_printf("capacity_Bps is %g, expected at most %g", link->capacity_Bps, LINK_MAX_Bps);
    if (link->latency_ps < 0 || link->latency_ps > LINK_MAX_LATENCY_PS)
        return g_strdup_printf("latency_ps is %" G_GINT64_FORMAT ", expected 0 to 1 day", link->latency_ps);
    if (isinf(link->length_km) || link->length_km < 0)
        return g_strdup_printf("length_km is %g, expected a finite number, 0 or more", link->length_km);
    if (!(link->loss >= 0 && link->loss < 1))
        return g_strdup_printf("loss is %g, expected a probability in [0, 1)", link->loss);
    if (!(link->ecn_pmax >= 0 && link->ecn_pmax <= 1))
        return g_strdup_printf("ecn_pmax is %g, expected a probability in [0, 1]", link->ecn_pmax);
    if (link->ecn_kmin_B > link->ecn_kmax_B)
        return g_strdup_printf("ecn_kmin_B is %" G_GUINT64_FORMAT ", expected at most ecn_kmax_B, %" G_GUINT64_FORMAT,
                               link->ecn_kmin_B, link->ecn_kmax_B);
    return NULL;
}

static gboolean
check_link(const Fabric *fabric, const Link *link, GError **error)
{
    g_autofree char *fault = NULL;
    if (link->src >= fabric->nodes->len || link->dst >= fabric->nodes->len)
        fault = g_strdup("an end does not exist");
    else if (link->src == link->dst)
        fault = g_strdup("a link joins two different nodes");
    else
        fault = fault_of(link);
    if (fault == NULL)
        return TRUE;
    g_autofree char *from = end_text(fabric, link->src), *to = end_text(fabric, link->dst);
    return error_input(error, "link %s to %s: %s", from, to, fault);
}

uint32_t
fabric_add_link(Fabric *fabric, const Link *link, GError **error)
{
    assert(!fabric->sealed && (unsigned)link->kind < LINK_KINDS);
    if (!check_link(fabric, link, error))
        return INDEX_NONE;
    uint32_t index = fabric->links->len;
    Link row = *link;
    row.source = intern(fabric, link->source, index > 0 ? g_array_index(fabric->links, Link, index - 1).source : NULL);
    g_array_append_val(fabric->links, row);
    return index;
}

uint32_t
fabric_add_cable(Fabric *fabric, const Link *link, GError **error)
{
    uint32_t forth = fabric_add_link(fabric, link, error);
    if (forth == INDEX_NONE)
        return INDEX_NONE;
    Link back = *link;
    back.src = link->dst;
    back.dst = link->src;
    uint32_t second = fabric_add_link(fabric, &back, error);
    assert(second == forth + 1);
    (void)second;
    return forth;
}

void
fabric_set_forward(Fabric *fabric, ForwardMode forward)
{
    assert(!fabric->sealed);
    fabric->forward = forward;
}

void
fabric_set_name(Fabric *fabric, const char *name)
{
    assert(!fabric->sealed);
    g_free(fabric->name);
    fabric->name = g_strdup(name);
}

static void
make_adjacency(Fabric *fabric)
{
    uint32_t n_links = fabric->links->len;
    g_autofree uint32_t *end = g_new(uint32_t, MAX(n_links, 1));
    for (uint32_t i = 0; i < n_links; i++)
        end[i] = g_array_index(fabric->links, Link, i).src;
    fabric->out = rows_pack(end, n_links, fabric->nodes->len);
    for (uint32_t i = 0; i < n_links; i++)
        end[i] = g_array_index(fabric->links, Link, i).dst;
    fabric->in = rows_pack(end, n_links, fabric->nodes->len);
}

/* The nodes of this kind, in index order. */
static uint32_t
collect(const Fabric *fabric, NodeKind kind, uint32_t *list)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < fabric->nodes->len; i++)
        if (g_array_index(fabric->nodes, Node, i).kind == kind)
            list[n++] = i;
    return n;
}

static void
find_ranks(Fabric *fabric)
{
    fabric->gpus = g_new(uint32_t, fabric->nodes->len);
    fabric->n_gpus = collect(fabric, NODE_GPU, fabric->gpus);
    if (fabric->n_gpus == 0)
        fabric->n_gpus = collect(fabric, NODE_HOST, fabric->gpus);
    fabric->gpus = g_renew(uint32_t, fabric->gpus, MAX(fabric->n_gpus, 1));
}

typedef struct {
    uint32_t server, nic;
    int32_t rail;
} ServerNic;

static int
compare_nics(const void *left, const void *right)
{
    const ServerNic *a = left, *b = right;
    if (a->server != b->server)
        return a->server < b->server ? -1 : 1;
    if (a->rail != b->rail)
        return a->rail < b->rail ? -1 : 1;
    return a->nic < b->nic ? -1 : a->nic > b->nic;
}

static void
list_server_nics(Fabric *fabric)
{
    g_autofree uint32_t *list = g_new(uint32_t, fabric->nodes->len);
    uint32_t n = collect(fabric, NODE_NIC, list), n_in = 0;
    g_autofree ServerNic *nics = g_new(ServerNic, MAX(n, 1));
    for (uint32_t i = 0; i < n; i++)
        if (fabric->server[list[i]] != INDEX_NONE)
            nics[n_in++] =
                (ServerNic){fabric->server[list[i]], list[i], g_array_index(fabric->nodes, Node, list[i]).rail};
    gboolean sorted = TRUE;
    for (uint32_t i = 1; i < n_in && sorted; i++)
        sorted = compare_nics(&nics[i - 1], &nics[i]) < 0;
    if (!sorted)
        qsort(nics, n_in, sizeof *nics, compare_nics);

    for (uint32_t i = 0; i < n_in; i++)
        list[i] = nics[i].server;
    fabric->server_nics = rows_pack(list, n_in, fabric->n_servers);
    for (uint32_t i = 0; i < n_in; i++)
        fabric->server_nics.items[i] = nics[fabric->server_nics.items[i]].nic;
}

gboolean
fabric_seal(Fabric *fabric, GError **error)
{
    assert(!fabric->sealed);
    if (fabric->nodes->len == 0)
        return error_input(error, "the fabric has no nodes");
    fabric->sealed = TRUE;
    make_adjacency(fabric);
    find_ranks(fabric);
    fabric->server = places_servers(fabric, fabric->gpus, fabric->n_gpus, &fabric->n_servers);
    fabric->building = places_buildings(fabric, fabric->gpus, fabric->n_gpus, &fabric->n_buildings);
    list_server_nics(fabric);
    return nic_lists_make(fabric, fabric->gpus, fabric->n_gpus, fabric->server, &fabric->nics, error);
}

const char *
fabric_name(const Fabric *fabric)
{
    return fabric->name;
}

ForwardMode
fabric_forward(const Fabric *fabric)
{
    return fabric->forward;
}

uint32_t
fabric_n_nodes(const Fabric *fabric)
{
    return fabric->nodes->len;
}

uint32_t
fabric_n_links(const Fabric *fabric)
{
    return fabric->links->len;
}

const Node *
fabric_node(const Fabric *fabric, uint32_t node)
{
    assert(node < fabric->nodes->len);
    return &g_array_index(fabric->nodes, Node, node);
}

const Link *
fabric_link(const Fabric *fabric, uint32_t link)
{
    assert(link < fabric->links->len);
    return &g_array_index(fabric->links, Link, link);
}

uint32_t
fabric_find(const Fabric *fabric, const char *name)
{
    return *slot_of(fabric, name);
}

const uint32_t *
fabric_out(const Fabric *fabric, uint32_t node, uint32_t *n_links)
{
    assert(fabric->sealed && node < fabric->nodes->len);
    return rows_get(&fabric->out, node, n_links);
}

const uint32_t *
fabric_in(const Fabric *fabric, uint32_t node, uint32_t *n_links)
{
    assert(fabric->sealed && node < fabric->nodes->len);
    return rows_get(&fabric->in, node, n_links);
}

const uint32_t *
fabric_gpus(const Fabric *fabric, uint32_t *n_gpus)
{
    assert(fabric->sealed);
    *n_gpus = fabric->n_gpus;
    return fabric->gpus;
}

const uint32_t *
fabric_nics(const Fabric *fabric, uint32_t gpu, uint32_t *n_nics)
{
    assert(fabric->sealed && gpu < fabric->nodes->len);
    return rows_get(&fabric->nics, gpu, n_nics);
}

uint32_t
fabric_server(const Fabric *fabric, uint32_t node)
{
    assert(fabric->sealed && node < fabric->nodes->len);
    return fabric->server[node];
}

uint32_t
fabric_n_servers(const Fabric *fabric)
{
    assert(fabric->sealed);
    return fabric->n_servers;
}

const uint32_t *
fabric_server_nics(const Fabric *fabric, uint32_t server, uint32_t *n_nics)
{
    assert(fabric->sealed && server < fabric->n_servers);
    return rows_get(&fabric->server_nics, server, n_nics);
}

uint32_t
fabric_building(const Fabric *fabric, uint32_t node)
{
    assert(fabric->sealed && node < fabric->nodes->len);
    return fabric->building[node];
}

uint32_t
fabric_n_buildings(const Fabric *fabric)
{
    assert(fabric->sealed);
    return fabric->n_buildings;
}
