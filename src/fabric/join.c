/* join.c - fabrics put together: the inside of every host, and links between several sites */
#include "fabric/join.h"

#include "base/error.h"
#include "fabric/fabric_units.h"

#include <assert.h>
#include <string.h>

typedef struct {
    const JoinSite *site;
    const JoinWan *wan;
    Fabric *out;
    uint32_t *node;   /* of each node of the site, that of out; INDEX_NONE of a host that is filled */
    uint32_t *inside; /* scratch: of each node of the inside, that of out */
    uint32_t *ends;   /* of each link of the site that ends at a filled host: the NIC of out; else INDEX_NONE */
    uint32_t n_hosts, n_short; /* filled; of these with fewer NICs than the inside has */
} Joiner;

/* "SITE/NAME". The caller frees it. */
static char *
prefixed(const JoinSite *site, const char *name)
{
    return site->name[0] != '\0' ? g_strdup_printf("%s/%s", site->name, name) : g_strdup(name);
}

/* Adds the node with its site in front of its name, and as its place. */
static uint32_t
add_node(Joiner *joiner, Node node, const char *name, GError **error)
{
    const char *site = joiner->site->name;
    g_autofree char *full = prefixed(joiner->site, name), *place = NULL;
    node.name = full;
    if (site[0] != '\0') {
        const char **own = joiner->wan != NULL && joiner->wan->is_region ? &node.region : &node.building;
        place = (*own)[0] != '\0' ? g_strdup_printf("%s-%s", site, *own) : g_strdup(site);
        *own = place;
    }
    return fabric_add_node(joiner->out, &node, error);
}

/* The server's NIC that stands for NIC number k of n of a host, of these rails. */
static uint32_t
seat_of(const Fabric *inside, const int32_t *rails, uint32_t n, uint32_t k)
{
    uint32_t n_seats, found = INDEX_NONE, n_found = 0;
    const uint32_t *seats = fabric_server_nics(inside, 0, &n_seats);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t other = 0; other < i; other++)
            if (rails[other] == rails[i])
                return seats[k];
        for (uint32_t s = 0; s < n_seats; s++)
            if (rails[i] >= 0 && fabric_node(inside, seats[s])->rail == rails[i]) {
                n_found++;
                found = i == k ? seats[s] : found;
                break;
            }
    }
    return n_found == n ? found : seats[k];
}

static gboolean
too_many(const Joiner *joiner, uint32_t host, uint32_t n, const char *what, GError **error)
{
    uint32_t n_seats;
    fabric_server_nics(joiner->site->inside, 0, &n_seats);
    if (n <= n_seats)
        return TRUE;
    return error_input(error, "host \"%s\" has %u %s, but the inside has %u NIC%s",
                       fabric_node(joiner->site->fabric, host)->name, n, what, n_seats, n_seats == 1 ? "" : "s");
}

/* Puts the NICs that the host has into the places of the server's; they are nodes of out already. */
static gboolean
seat_nics(Joiner *joiner, uint32_t host, const uint32_t *nics, uint32_t n, GError **error)
{
    const Fabric *fabric = joiner->site->fabric;
    if (!too_many(joiner, host, n, "NICs", error))
        return FALSE;
    g_autofree int32_t *rails = g_new(int32_t, n);
    for (uint32_t k = 0; k < n; k++)
        rails[k] = fabric_node(fabric, nics[k])->rail;
    for (uint32_t k = 0; k < n; k++)
        joiner->inside[seat_of(joiner->site->inside, rails, n, k)] = joiner->node[nics[k]];
    return TRUE;
}

/* The links of the network among these. The caller frees the array. */
static GArray *
network_links(const Fabric *fabric, const uint32_t *links, uint32_t n)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++)
        if (link_kind_is_network(fabric_link(fabric, links[i])->kind))
            g_array_append_val(found, links[i]);
    return found;
}

/* A host whose cables end at itself: the k-th goes to a NIC that is the server's k-th. */
static gboolean
seat_cables(Joiner *joiner, uint32_t host, uint32_t *n_seated, GError **error)
{
    const Fabric *fabric = joiner->site->fabric, *inside = joiner->site->inside;
    uint32_t n_out, n_in, n_seats;
    const uint32_t *out = fabric_out(fabric, host, &n_out), *in = fabric_in(fabric, host, &n_in);
    const uint32_t *seats = fabric_server_nics(inside, 0, &n_seats);
    g_autoptr(GArray) forth = network_links(fabric, out, n_out);
    g_autoptr(GArray) back = network_links(fabric, in, n_in);
    uint32_t n = MAX(forth->len, back->len);
    if (!too_many(joiner, host, n, "cables", error))
        return FALSE;
    for (uint32_t k = 0; k < n; k++) {
        Node node = *fabric_node(inside, seats[k]);
        const Node *at = fabric_node(fabric, host);
        g_autofree char *name = g_strdup_printf("%s/%s", at->name, node.name);
        node.region = at->region, node.building = at->building, node.zone = at->zone, node.rack = at->rack;
        node.server = at->server[0] != '\0' ? at->server : at->name;
        uint32_t nic = add_node(joiner, node, name, error);
        if (nic == INDEX_NONE)
            return FALSE;
        joiner->inside[seats[k]] = nic;
        if (k < forth->len)
            joiner->ends[g_array_index(forth, uint32_t, k)] = nic;
        if (k < back->len)
            joiner->ends[g_array_index(back, uint32_t, k)] = nic;
    }
    *n_seated = n;
    return TRUE;
}

/* The parts of the inside but its NICs, at the place of the host. */
static gboolean
add_parts(Joiner *joiner, const Node *host, GError **error)
{
    const Fabric *inside = joiner->site->inside;
    for (uint32_t v = 0; v < fabric_n_nodes(inside); v++) {
        Node node = *fabric_node(inside, v);
        joiner->inside[v] = INDEX_NONE;
        if (node.kind == NODE_NIC)
            continue;
        g_autofree char *name = g_strdup_printf("%s/%s", host->name, node.name);
        node.region = host->region, node.building = host->building, node.zone = host->zone, node.rack = host->rack;
        node.server = host->server[0] != '\0' ? host->server : host->name;
        joiner->inside[v] = add_node(joiner, node, name, error);
        if (joiner->inside[v] == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

static gboolean
fill_host(Joiner *joiner, uint32_t host, GError **error)
{
    const Fabric *inside = joiner->site->inside;
    uint32_t n, n_seats;
    const uint32_t *nics = fabric_nics(joiner->site->fabric, host, &n);
    fabric_server_nics(inside, 0, &n_seats);
    if (!add_parts(joiner, fabric_node(joiner->site->fabric, host), error))
        return FALSE;
    if (n > 0 ? !seat_nics(joiner, host, nics, n, error) : !seat_cables(joiner, host, &n, error))
        return FALSE;
    joiner->n_hosts++;
    joiner->n_short += n < n_seats;
    for (uint32_t l = 0; l < fabric_n_links(inside); l++) {
        Link link = *fabric_link(inside, l);
        link.src = joiner->inside[link.src];
        link.dst = joiner->inside[link.dst];
        if (link.src != INDEX_NONE && link.dst != INDEX_NONE &&
            fabric_add_link(joiner->out, &link, error) == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

static gboolean
is_filled(const Joiner *joiner, uint32_t node)
{
    return joiner->site->inside != NULL && fabric_node(joiner->site->fabric, node)->kind == NODE_HOST;
}

/* First all nodes that stay, then the hosts' insides with their links, then the links that stay. */
static gboolean
add_site(Joiner *joiner, GError **error)
{
    const Fabric *fabric = joiner->site->fabric;
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++) {
        joiner->node[v] = INDEX_NONE;
        if (!is_filled(joiner, v) && (joiner->node[v] = add_node(joiner, *fabric_node(fabric, v),
                                                                 fabric_node(fabric, v)->name, error)) == INDEX_NONE)
            return FALSE;
    }
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++)
        joiner->ends[l] = INDEX_NONE;
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++)
        if (is_filled(joiner, v) && !fill_host(joiner, v, error))
            return FALSE;
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        Link link = *fabric_link(fabric, l);
        link.src = is_filled(joiner, link.src) ? joiner->ends[l] : joiner->node[link.src];
        link.dst = is_filled(joiner, link.dst) ? joiner->ends[l] : joiner->node[link.dst];
        if (link.src != INDEX_NONE && link.dst != INDEX_NONE &&
            fabric_add_link(joiner->out, &link, error) == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

/* The inside is a server and nothing else, and there is a host to put it into. */
static gboolean
check_site(const JoinSite *site, GError **error)
{
    uint32_t n_hosts = 0;
    if (site->inside == NULL)
        return TRUE;
    for (uint32_t v = 0; v < fabric_n_nodes(site->inside); v++) {
        const Node *node = fabric_node(site->inside, v);
        if (node->kind != NODE_GPU && node->kind != NODE_NVSWITCH && node->kind != NODE_PCIE && node->kind != NODE_NIC)
            return error_input(error, "the inside has the %s \"%s\"; expected GPUs, NICs, NVSwitches and PCIe switches",
                               node_kind_name(node->kind), node->name);
    }
    if (fabric_n_servers(site->inside) != 1)
        return error_input(error, "the inside has %u servers, expected one", fabric_n_servers(site->inside));
    for (uint32_t v = 0; v < fabric_n_nodes(site->fabric); v++)
        n_hosts += fabric_node(site->fabric, v)->kind == NODE_HOST;
    return n_hosts > 0 ? TRUE : error_input(error, "the fabric has no host that an inside could be put into");
}

/* Its switches of the highest kind, in index order, as nodes of out. */
static GArray *
top_switches(const Joiner *joiner)
{
    static const NodeKind kinds[] = {NODE_DCI, NODE_CORE, NODE_SPINE, NODE_LEAF};
    const Fabric *fabric = joiner->site->fabric;
    GArray *tops = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (size_t k = 0; k < G_N_ELEMENTS(kinds) && tops->len == 0; k++)
        for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++)
            if (fabric_node(fabric, v)->kind == kinds[k])
                g_array_append_val(tops, joiner->node[v]);
    return tops;
}

static gboolean
join_pair(Fabric *out, const GArray *a, const GArray *b, const JoinWan *wan, GError **error)
{
    for (uint32_t i = 0; i < wan->links; i++) {
        Link link = link_default();
        link.src = g_array_index(a, uint32_t, i % a->len);
        link.dst = g_array_index(b, uint32_t, i % b->len);
        link.kind = wan->is_region ? LINK_INTERREGION : LINK_INTERBUILDING;
        link.capacity_Bps = wan->rate_Bps;
        link.latency_ps = wan->latency_ps;
        link.length_km = wan->length_km;
        link.source = "option";
        if (fabric_add_cable(out, &link, error) == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

static gboolean
add_wan(Fabric *out, GPtrArray *tops, const JoinSite *sites, const JoinWan *wan, GError **error)
{
    for (guint s = 0; s < tops->len; s++)
        if (((GArray *)tops->pdata[s])->len == 0)
            return error_input(error, "%s: there is no switch that links to other sites could end at", sites[s].name);
    for (guint a = 0; a < tops->len; a++)
        for (guint b = a + 1; b < tops->len; b++)
            if (!join_pair(out, tops->pdata[a], tops->pdata[b], wan, error))
                return FALSE;
    return TRUE;
}

static ForwardMode
forward_of(const JoinSite *site)
{
    return fabric_forward(site->inside != NULL ? site->inside : site->fabric);
}

static void
note_site(const Joiner *joiner, GString *notes)
{
    if (joiner->n_hosts == 0)
        return;
    const char *name = joiner->site->name;
    g_string_append_printf(notes, "%s%s%u hosts have an inside", name, name[0] != '\0' ? ": " : "", joiner->n_hosts);
    if (joiner->n_short > 0)
        g_string_append_printf(notes, "; %u of them have fewer NICs than it, whose others are left out",
                               joiner->n_short);
    g_string_append_c(notes, '\n');
}

/* One site after the other, its tops noted. */
static gboolean
add_sites(Fabric *out, const JoinSite *sites, uint32_t n_sites, const JoinWan *wan, GPtrArray *tops, GString *notes,
          GError **error)
{
    for (uint32_t s = 0; s < n_sites; s++) {
        const JoinSite *site = &sites[s];
        Joiner joiner = {.site = site, .wan = wan, .out = out};
        joiner.node = g_new(uint32_t, fabric_n_nodes(site->fabric));
        joiner.inside = g_new(uint32_t, site->inside != NULL ? fabric_n_nodes(site->inside) : 1);
        joiner.ends = g_new(uint32_t, MAX(fabric_n_links(site->fabric), 1));
        gboolean good = check_site(site, error) && add_site(&joiner, error);
        if (good) {
            g_ptr_array_add(tops, top_switches(&joiner));
            note_site(&joiner, notes);
        } else if (site->name[0] != '\0') {
            g_prefix_error(error, "%s: ", site->name);
        }
        g_free(joiner.node);
        g_free(joiner.inside);
        g_free(joiner.ends);
        if (!good)
            return FALSE;
    }
    return TRUE;
}

Fabric *
fabric_join(const JoinSite *sites, uint32_t n_sites, const JoinWan *wan, char **notes, GError **error)
{
    assert(n_sites > 0 && (n_sites == 1 || wan != NULL));
    g_autoptr(Fabric) out = fabric_new();
    g_autoptr(GPtrArray) tops = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g_autoptr(GString) said = g_string_new(NULL);
    for (uint32_t s = 1; s < n_sites; s++)
        if (forward_of(&sites[s]) != forward_of(&sites[0])) {
            error_input(error, "%s: GPUs forward as \"%s\", but in %s as \"%s\"", sites[s].name,
                        forward_name(forward_of(&sites[s])), sites[0].name, forward_name(forward_of(&sites[0])));
            return NULL;
        }
    fabric_set_forward(out, forward_of(&sites[0]));
    if (!add_sites(out, sites, n_sites, wan, tops, said, error) ||
        (n_sites > 1 && !add_wan(out, tops, sites, wan, error)) || !fabric_seal(out, error))
        return NULL;
    if (notes != NULL)
        *notes = g_strdup(said->str);
    return g_steal_pointer(&out);
}
