/* ib_network.c - an InfiniBand network as its tools list it, port by port, made into a fabric */
#include "fabric/ib_network.h"

#include "base/error.h"
#include "fabric/ib_names.h"

#include <string.h>

typedef struct {
    IbDevice about;  /* texts owned by the network */
    uint32_t level;  /* of a switch: cables to the nearest CA of a host; 0 = none known */
    uint32_t host;   /* of a CA; INDEX_NONE = an aggregation node */
    uint32_t node;   /* of the fabric */
    double rate_Bps; /* of its ports together */
} Device;

typedef struct {
    IbPort about;
    uint32_t peer;     /* a device */
    gboolean is_cable; /* FALSE = the other end of one that came before */
} Port;

struct IbNetwork {
    const char *path;
    const TopologyOptions *options;
    GStringChunk *texts;
    GArray *devices;       /* of Device */
    GArray *ports;         /* of Port */
    GHashTable *device_of; /* id -> device + 1 */
    GHashTable *port_of;   /* port_key -> port + 1 */
    guint problems;        /* in options->problems before */
    uint32_t n_declared;   /* devices; those behind are only named as peers */
    uint32_t n_cables, n_trunks, n_alone, n_without_rate;
    size_t without_rate; /* line of the first */
    Fabric *fabric;
};

static Device *
device_at(const IbNetwork *network, uint32_t device)
{
    return &g_array_index(network->devices, Device, device);
}

static Port *
port_at(const IbNetwork *network, uint32_t port)
{
    return &g_array_index(network->ports, Port, port);
}

IbNetwork *
ib_network_new(const char *path, const TopologyOptions *options)
{
    IbNetwork *network = g_new0(IbNetwork, 1);
    network->path = path;
    network->options = options;
    network->texts = g_string_chunk_new(65536);
    network->devices = g_array_new(FALSE, FALSE, sizeof(Device));
    network->ports = g_array_new(FALSE, FALSE, sizeof(Port));
    network->device_of = g_hash_table_new(g_str_hash, g_str_equal);
    network->port_of = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    network->problems = topology_n_problems(options);
    return network;
}

void
ib_network_free(IbNetwork *network)
{
    if (network == NULL)
        return;
    g_string_chunk_free(network->texts);
    g_array_unref(network->devices);
    g_array_unref(network->ports);
    g_hash_table_unref(network->device_of);
    g_hash_table_unref(network->port_of);
    fabric_free(network->fabric);
    g_free(network);
}

/* Without looking whether it is there already. */
static uint32_t
append_device(IbNetwork *network, const IbDevice *about)
{
    uint32_t number = network->devices->len;
    Device device = {.about = *about, .host = INDEX_NONE, .node = INDEX_NONE};
    device.about.id = g_string_chunk_insert(network->texts, about->id);
    device.about.description = g_string_chunk_insert_const(network->texts, about->description);
    device.about.system = g_string_chunk_insert_const(network->texts, about->system);
    g_array_append_val(network->devices, device);
    g_hash_table_insert(network->device_of, (char *)device.about.id, GUINT_TO_POINTER(number + 1));
    return number;
}

gboolean
ib_network_add_device(IbNetwork *network, const IbDevice *device, uint32_t *number, GError **error)
{
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(network->device_of, device->id));
    *number = INDEX_NONE;
    if (known != 0)
        return topology_problem(network->options, network->path, device->line, error,
                                "\"%s\" is there already, at line %zu", device->id,
                                device_at(network, known - 1)->about.line);
    *number = append_device(network, device);
    network->n_declared = network->devices->len;
    return TRUE;
}

static guint
find_port(const IbNetwork *network, uint32_t device, uint32_t port)
{
    int64_t key = (int64_t)device << 32 | port;
    return GPOINTER_TO_UINT(g_hash_table_lookup(network->port_of, &key));
}

gboolean
ib_network_add_port(IbNetwork *network, const IbPort *port, GError **error)
{
    const IbDevice *device = &device_at(network, port->device)->about;
    guint known = find_port(network, port->device, port->port);
    if (known != 0)
        return topology_problem(network->options, network->path, port->line, error,
                                "port %u of \"%s\" is there already, at line %zu", port->port, device->id,
                                port_at(network, known - 1)->about.line);
    if (device->n_ports > 0 && port->port > device->n_ports)
        return topology_problem(network->options, network->path, port->line, error, "port %u of \"%s\", which has %u",
                                port->port, device->id, device->n_ports);
    Port row = {.about = *port, .peer = INDEX_NONE};
    row.about.peer = g_string_chunk_insert_const(network->texts, port->peer);
    row.about.peer_description = g_string_chunk_insert_const(network->texts, port->peer_description);
    g_array_append_val(network->ports, row);
    int64_t *key = g_new(int64_t, 1);
    *key = (int64_t)port->device << 32 | port->port;
    g_hash_table_insert(network->port_of, key, GUINT_TO_POINTER(network->ports->len));
    return TRUE;
}

double
ib_rate_Bps(const char *word)
{
    /* Nominal Gb/s of a lane. */
    static const struct {
        const char *name;
        double rate_Gbps;
    } speeds[] = {{"SDR", 2.5}, {"DDR", 5},  {"QDR", 10},  {"FDR10", 10.3}, {"FDR", 14},
                  {"EDR", 25},  {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};
    char *end = NULL;
    guint64 lanes = g_ascii_isdigit(word[0]) ? g_ascii_strtoull(word, &end, 10) : 0;
    if (lanes == 0 || lanes > 12 || (*end != 'x' && *end != 'X'))
        return 0;
    for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++)
        if (strcmp(end + 1, speeds[i].name) == 0)
            return (double)lanes * speeds[i].rate_Gbps * 125e6;
    return 0;
}

/* Finds the device behind each port; one that is never declared is made, of the kind its id tells. */
static gboolean
resolve_peers(IbNetwork *network, GError **error)
{
    for (uint32_t p = 0; p < network->ports->len; p++) {
        Port *port = port_at(network, p);
        const char *id = port->about.peer;
        guint known = GPOINTER_TO_UINT(g_hash_table_lookup(network->device_of, id));
        if (known != 0) {
            port->peer = known - 1;
        } else if (g_str_has_prefix(id, "S-") || g_str_has_prefix(id, "H-") || g_str_has_prefix(id, "R-")) {
            IbDevice device = {.id = id,
                               .description = port->about.peer_description,
                               .system = "",
                               .kind = id[0] == 'H' ? IB_CA : IB_SWITCH,
                               .line = port->about.line};
            port->peer = append_device(network, &device);
        } else if (!topology_problem(network->options, network->path, port->about.line, error,
                                     "there is no device \"%s\"", id)) {
            return FALSE;
        }
        if (port->peer == port->about.device &&
            !topology_problem(network->options, network->path, port->about.line, error,
                              "port %u of \"%s\" leads to itself", port->about.port, id))
            return FALSE;
    }
    return TRUE;
}

/* The two lines of a cable must agree; what one of them leaves open the other may say. */
static gboolean
compare_ends(const IbNetwork *network, Port *first, Port *second, GError **error)
{
    if (first->about.rate_Bps == 0)
        first->about.rate_Bps = second->about.rate_Bps;
    if (second->about.rate_Bps == 0 || first->about.rate_Bps == second->about.rate_Bps)
        return TRUE;
    return topology_problem(network->options, network->path, second->about.line, error,
                            "the speed is %g Gb/s here and %g Gb/s at the other end, line %zu",
                            second->about.rate_Bps / 125e6, first->about.rate_Bps / 125e6, first->about.line);
}

/* Which lines are cables: the first of two that name each other, and those that nobody answers. */
static gboolean
pair_ports(IbNetwork *network, GError **error)
{
    for (uint32_t p = 0; p < network->ports->len; p++) {
        Port *port = port_at(network, p);
        if (port->peer == INDEX_NONE)
            continue;
        guint there = find_port(network, port->peer, port->about.peer_port);
        if (there == 0) {
            network->n_alone++;
            port->is_cable = TRUE;
            continue;
        }
        Port *other = port_at(network, there - 1);
        if (other->peer != port->about.device || other->about.peer_port != port->about.port) {
            if (!topology_problem(network->options, network->path, port->about.line, error,
                                  "leads to port %u of \"%s\", which leads elsewhere: line %zu", port->about.peer_port,
                                  port->about.peer, other->about.line))
                return FALSE;
        } else if (there - 1 >= p) {
            port->is_cable = TRUE;
        } else if (!compare_ends(network, other, port, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

/* Counts the cables and gives those without a rate the default. */
static gboolean
complete_cables(IbNetwork *network, GError **error)
{
    for (uint32_t p = 0; p < network->ports->len; p++) {
        const Port *port = port_at(network, p);
        if (!port->is_cable)
            continue;
        Device *a = device_at(network, port->about.device), *b = device_at(network, port->peer);
        network->n_cables++;
        network->n_trunks += a->about.kind == IB_SWITCH && b->about.kind == IB_SWITCH;
        if (port->about.rate_Bps == 0 && network->n_without_rate++ == 0)
            network->without_rate = port->about.line;
        double rate_Bps = port->about.rate_Bps > 0 ? port->about.rate_Bps : network->options->default_rate_Bps;
        a->rate_Bps += rate_Bps;
        b->rate_Bps += rate_Bps;
    }
    if (network->n_without_rate > 0 && network->options->default_rate_Bps <= 0)
        return error_input(error,
                           "%s: %u of %u links say no speed (the first at line %zu): give one with --default-rate",
                           network->path, network->n_without_rate, network->n_cables, network->without_rate);
    if (network->n_cables > 0 && network->options->default_latency_ps < 0)
        return error_input(error, "%s: says no length of any link: give --default-latency", network->path);
    return TRUE;
}

/* Levels of switches, from the CAs of hosts outwards; each round over all cables settles one level. */
static void
measure_levels(IbNetwork *network)
{
    gboolean more = TRUE;
    for (uint32_t level = 0; more; level++) {
        more = FALSE;
        for (uint32_t p = 0; p < network->ports->len; p++) {
            const Port *port = port_at(network, p);
            if (!port->is_cable)
                continue;
            Device *ends[] = {device_at(network, port->about.device), device_at(network, port->peer)};
            for (int e = 0; e < 2; e++) {
                const Device *from = ends[e];
                Device *to = ends[1 - e];
                gboolean begins = level == 0 ? from->about.kind == IB_CA && from->host != INDEX_NONE
                                             : from->about.kind == IB_SWITCH && from->level == level;
                if (begins && to->about.kind == IB_SWITCH && to->level == 0) {
                    to->level = level + 1;
                    more = TRUE;
                }
            }
        }
    }
}

/* The name, or where it is taken the name with the id behind. */
static uint32_t
add_node(IbNetwork *network, Node *node, const char *name, const char *id, GError **error)
{
    g_autofree char *longer = g_strdup_printf("%s/%s", name, id);
    node->name = fabric_find(network->fabric, name) == INDEX_NONE ? name : longer;
    return fabric_add_node(network->fabric, node, error);
}

static gboolean
add_switches(IbNetwork *network, GError **error)
{
    g_autoptr(GHashTable) systems = g_hash_table_new(g_str_hash, g_str_equal); /* -> switches */
    for (uint32_t d = 0; d < network->devices->len; d++) {
        const IbDevice *about = &device_at(network, d)->about;
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(systems, about->system));
        if (about->kind == IB_SWITCH && about->system[0] != '\0')
            g_hash_table_insert(systems, (char *)about->system, GUINT_TO_POINTER(n + 1));
    }
    for (uint32_t d = 0; d < network->devices->len; d++) {
        Device *device = device_at(network, d);
        if (device->about.kind != IB_SWITCH)
            continue;
        gboolean in_chassis = GPOINTER_TO_UINT(g_hash_table_lookup(systems, device->about.system)) > 1;
        g_autofree char *name = ib_switch_name(device->about.description);
        g_autofree char *chassis = ib_chassis_name(device->about.description);
        Node node = node_default();
        node.kind = device->level == 1 ? NODE_LEAF : device->level == 2 ? NODE_SPINE : NODE_CORE;
        node.rack = in_chassis ? chassis[0] != '\0' ? chassis : device->about.system : "";
        device->node = add_node(network, &node, name[0] != '\0' ? name : device->about.id, device->about.id, error);
        if (device->node == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

static gboolean
add_pcie(IbNetwork *network, uint32_t host, const Device *nic, GError **error)
{
    Link link = link_default();
    link.src = host;
    link.dst = nic->node;
    link.kind = LINK_PCIE;
    link.capacity_Bps = nic->rate_Bps;
    link.source = "default";
    return nic->rate_Bps == 0 || fabric_add_cable(network->fabric, &link, error) != INDEX_NONE;
}

/* A host before the first of its NICs. */
static gboolean
add_cas(IbNetwork *network, const IbHosts *hosts, GError **error)
{
    g_autofree uint32_t *host_node = g_new(uint32_t, hosts->names->len + 1);
    memset(host_node, 0xff, (hosts->names->len + 1) * sizeof *host_node);
    for (uint32_t d = 0; d < network->devices->len; d++) {
        Device *device = device_at(network, d);
        if (device->about.kind != IB_CA)
            continue;
        Node node = node_default();
        const char *host = device->host != INDEX_NONE ? hosts->names->pdata[device->host] : "";
        node.server = host;
        node.kind = NODE_HOST;
        if (device->host != INDEX_NONE && host_node[device->host] == INDEX_NONE &&
            (host_node[device->host] = add_node(network, &node, host, device->about.id, error)) == INDEX_NONE)
            return FALSE;
        g_autofree char *word = ib_device_word(device->about.description);
        g_autofree char *name = g_strdup_printf("%s/%s", host, word[0] != '\0' ? word : device->about.id);
        node.kind = NODE_NIC;
        node.rail = ib_device_rail(word);
        device->node = add_node(network, &node, host[0] != '\0' ? name : device->about.id, device->about.id, error);
        if (device->node == INDEX_NONE ||
            (device->host != INDEX_NONE && !add_pcie(network, host_node[device->host], device, error)))
            return FALSE;
    }
    return TRUE;
}

static gboolean
add_cables(IbNetwork *network, GError **error)
{
    for (uint32_t p = 0; p < network->ports->len; p++) {
        const Port *port = port_at(network, p);
        if (!port->is_cable)
            continue;
        gboolean said = port->about.rate_Bps > 0;
        Link link = link_default();
        link.src = device_at(network, port->about.device)->node;
        link.dst = device_at(network, port->peer)->node;
        link.kind = LINK_INFINIBAND;
        link.capacity_Bps = said ? port->about.rate_Bps : network->options->default_rate_Bps;
        link.latency_ps = network->options->default_latency_ps;
        link.source = said ? "rate file, latency default" : "default";
        if (fabric_add_cable(network->fabric, &link, error) == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

/* Which host each CA is in. */
static IbHosts *
find_hosts(IbNetwork *network)
{
    IbHosts *hosts = ib_hosts_new();
    for (int round = 0; round < 2; round++)
        for (uint32_t d = 0; d < network->devices->len; d++) {
            Device *device = device_at(network, d);
            if (device->about.kind != IB_CA)
                continue;
            if (round == 0)
                ib_hosts_see(hosts, device->about.description);
            else
                device->host = ib_hosts_of(hosts, device->about.id, device->about.description, device->about.system);
        }
    return hosts;
}

static char *
make_notes(const IbNetwork *network, const IbHosts *hosts)
{
    GString *notes = g_string_new(NULL);
    uint32_t n_cas = 0;
    for (uint32_t d = 0; d < network->devices->len; d++)
        n_cas += device_at(network, d)->about.kind == IB_CA;
    g_string_append_printf(notes, "%u switches, %u CAs, %u cables, %u of them between switches\n",
                           network->devices->len - n_cas, n_cas, network->n_cables, network->n_trunks);
    if (hosts->n_aggregation > 0)
        g_string_append_printf(notes, "%u aggregation nodes (SHARP) are NICs without a host\n", hosts->n_aggregation);
    if (hosts->n_nameless > 0)
        g_string_append_printf(notes, "%u CAs have no host name of their own: each, or each system GUID, is a host\n",
                               hosts->n_nameless);
    if (network->devices->len > network->n_declared)
        g_string_append_printf(notes, "%u devices are only named at the other end of a cable, \"%s\" first\n",
                               network->devices->len - network->n_declared,
                               device_at(network, network->n_declared)->about.id);
    if (network->n_alone > 0)
        g_string_append_printf(notes, "%u cables are listed at one end only\n", network->n_alone);
    if (network->n_without_rate > 0)
        g_string_append_printf(notes, "%u cables say no speed; --default-rate is taken\n", network->n_without_rate);
    if (network->n_cables == 0)
        g_string_append(notes, "there is no port line: the discovery found no link\n");
    else
        g_string_append(notes, "PCIe of the hosts is not in the file: as fast as the ports of its NIC, no latency\n");
    return g_string_free(notes, FALSE);
}

Fabric *
ib_network_finish(IbNetwork *network, char **notes, GError **error)
{
    if (!resolve_peers(network, error) || !pair_ports(network, error) ||
        !topology_sound(network->options, network->problems, network->path, error))
        return NULL;
    if (network->devices->len == 0) {
        error_input(error, "%s: there is no device", network->path);
        return NULL;
    }
    if (!complete_cables(network, error))
        return NULL;
    g_autoptr(IbHosts) hosts = find_hosts(network);
    measure_levels(network);
    network->fabric = fabric_new();
    if (!add_switches(network, error) || !add_cas(network, hosts, error) || !add_cables(network, error) ||
        !fabric_seal(network->fabric, error)) {
        g_prefix_error(error, "%s: ", network->path);
        return NULL;
    }
    if (notes != NULL)
        *notes = make_notes(network, hosts);
    return g_steal_pointer(&network->fabric);
}
