/* ns3_topology.c - topologies of ns-3's RDMA models: HPCC and ASTRA-sim (3 numbers first), SimAI (5 and a GPU type)
 *
 * Line 1 of HPCC: nodes, switches, links; of SimAI: nodes, GPUs a server, NVSwitches, switches, links, GPU type. Then
 * the numbers of the switches (NVSwitches first) and of each link: two nodes, rate, delay, error rate. Line breaks do
 * not matter. SimAI's GPUs hang on switches without a NIC between: one is put there for each, with all the rate of its
 * ports and no delay to its GPU. A switch with hosts or NICs is a leaf, one beside a leaf a spine, all others cores. */
#include "base/error.h"
#include "base/field_lines.h"
#include "base/input.h"
#include "base/units.h"
#include "fabric/topology_format.h"

#include <string.h>

enum { MOST_NODES = 1 << 22, MOST_LINKS = 1 << 24 };

typedef struct {
    uint32_t src, dst;
    double rate_Bps, loss;
    SimTime delay_ps;
} Wire;

typedef struct {
    const char *path;
    const TopologyOptions *options;
    FieldLines *lines;
    gboolean ended; /* the file, before all was there */
    uint32_t field; /* of the present line, not yet taken */
    gboolean simai;
    uint64_t nodes, per_server, nvswitches, switches, links;
    const char *gpu;
    NodeKind *kinds;   /* a node of the file */
    uint32_t *nic_of;  /* of a GPU: its NIC in the fabric; INDEX_NONE = none */
    uint32_t *node_of; /* in the fabric */
    GArray *wires;     /* of Wire */
    Fabric *fabric;
} Reader;

/* The next token, over line ends; FALSE with an error at the end. */
static gboolean
next(Reader *reader, const char *what, const char **token, GError **error)
{
    while (reader->field >= reader->lines->n_fields) {
        reader->field = 0;
        if (!field_lines_next(reader->lines)) {
            reader->lines->n_fields = 0;
            reader->ended = TRUE;
            return field_lines_fail(reader->lines, error, "the file ends; expected %s", what);
        }
    }
    *token = reader->lines->fields[reader->field++];
    return TRUE;
}

static gboolean
next_number(Reader *reader, const char *what, uint64_t most, uint64_t *value, GError **error)
{
    const char *token;
    return next(reader, what, &token, error) &&
           field_lines_uint(reader->lines, reader->field - 1, what, 0, most, value, error);
}

/* A quantity with its unit. */
static gboolean
next_quantity(Reader *reader, gboolean is_rate, void *value, GError **error)
{
    const char *token;
    GError *wrong = NULL;
    if (!next(reader, is_rate ? "a rate such as 100Gbps" : "a delay such as 1000ns", &token, error))
        return FALSE;
    if (is_rate ? units_parse_rate(token, value, &wrong) : units_parse_time(token, value, &wrong))
        return TRUE;
    field_lines_fail(reader->lines, error, "%s", wrong->message);
    g_error_free(wrong);
    return FALSE;
}

/* Where problems are collected, reading goes on after wrong, which it takes; not at the end of the file. */
static gboolean
go_on(const Reader *reader, GError *wrong, GError **error)
{
    if (!reader->ended)
        return topology_go_on(reader->options, wrong, error);
    g_propagate_error(error, wrong);
    return FALSE;
}

/* A number of the first line. */
static gboolean
head_number(const Reader *reader, uint32_t field, const char *what, uint64_t least, uint64_t most, uint64_t *value,
            GError **error)
{
    GError *wrong = NULL;
    return field_lines_uint(reader->lines, field, what, least, most, value, &wrong) || go_on(reader, wrong, error);
}

static gboolean
read_head(Reader *reader, GError **error)
{
    guint before = topology_n_problems(reader->options);
    FieldLines *lines = reader->lines;
    if (!field_lines_next(lines))
        return field_lines_fail(lines, error, "the file is empty");
    reader->simai = lines->n_fields == 6;
    if (!reader->simai && lines->n_fields != 3)
        return field_lines_fail(
            lines, error,
            "%u fields, expected 3 (nodes, switches, links) or 6 (nodes, GPUs a server, NVSwitches, "
            "switches, links, GPU type)",
            lines->n_fields);
    uint32_t at = 0;
    if (!head_number(reader, at++, "nodes", 1, MOST_NODES, &reader->nodes, error) ||
        (reader->simai && (!head_number(reader, at++, "GPUs a server", 1, MOST_NODES, &reader->per_server, error) ||
                           !head_number(reader, at++, "NVSwitches", 0, MOST_NODES, &reader->nvswitches, error))) ||
        !head_number(reader, at++, "switches", 0, MOST_NODES, &reader->switches, error) ||
        !head_number(reader, at, "links", 0, MOST_LINKS, &reader->links, error) ||
        !topology_sound(reader->options, before, reader->path, error))
        return FALSE;
    if (reader->nvswitches + reader->switches >= reader->nodes)
        return field_lines_fail(lines, error, "all %" G_GUINT64_FORMAT " nodes are switches", reader->nodes);
    reader->gpu = reader->simai ? g_intern_string(lines->fields[5]) : "";
    reader->field = lines->n_fields;
    return TRUE;
}

/* Number i of the list of switches. */
static gboolean
read_switch(Reader *reader, uint64_t i, GError **error)
{
    uint64_t node;
    if (!next_number(reader, "the number of a switch", reader->nodes - 1, &node, error))
        return FALSE;
    if (reader->kinds[node] != NODE_GPU && reader->kinds[node] != NODE_HOST)
        return field_lines_fail(reader->lines, error, "switch %" G_GUINT64_FORMAT " is named twice", node);
    reader->kinds[node] = i < reader->nvswitches ? NODE_NVSWITCH : NODE_CORE;
    return TRUE;
}

static gboolean
read_switches(Reader *reader, GError **error)
{
    reader->kinds = g_new(NodeKind, reader->nodes);
    for (uint64_t i = 0; i < reader->nodes; i++)
        reader->kinds[i] = reader->simai ? NODE_GPU : NODE_HOST;
    for (uint64_t i = 0; i < reader->nvswitches + reader->switches; i++) {
        GError *wrong = NULL;
        if (!read_switch(reader, i, &wrong) && !go_on(reader, wrong, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
read_link(Reader *reader, GError **error)
{
    Wire wire;
    uint64_t src, dst;
    const char *loss;
    if (!next_number(reader, "a node of a link", reader->nodes - 1, &src, error) ||
        !next_number(reader, "a node of a link", reader->nodes - 1, &dst, error) ||
        !next_quantity(reader, TRUE, &wire.rate_Bps, error) || !next_quantity(reader, FALSE, &wire.delay_ps, error) ||
        !next(reader, "an error rate", &loss, error))
        return FALSE;
    char *end;
    wire.loss = g_ascii_strtod(loss, &end);
    if (*end != '\0' || !(wire.loss >= 0 && wire.loss < 1))
        return field_lines_fail(reader->lines, error, "found \"%s\", expected an error rate from 0 to below 1", loss);
    if (src == dst)
        return field_lines_fail(reader->lines, error, "node %" G_GUINT64_FORMAT " is linked to itself", src);
    wire.src = (uint32_t)src;
    wire.dst = (uint32_t)dst;
    g_array_append_val(reader->wires, wire);
    return TRUE;
}

/* After a bad link, the next one is looked for in the next line. */
static gboolean
read_links(Reader *reader, GError **error)
{
    for (uint64_t i = 0; i < reader->links; i++) {
        GError *wrong = NULL;
        if (read_link(reader, &wrong))
            continue;
        if (!go_on(reader, wrong, error))
            return FALSE;
        reader->field = reader->lines->n_fields;
    }
    return TRUE;
}

static gboolean
is_rank(NodeKind kind)
{
    return kind == NODE_GPU || kind == NODE_HOST;
}

/* Leaves are the switches beside ranks, spines those beside leaves. */
static void
grade(Reader *reader)
{
    for (int level = 0; level < 2; level++)
        for (guint i = 0; i < reader->wires->len; i++) {
            const Wire *wire = &g_array_index(reader->wires, Wire, i);
            for (int way = 0; way < 2; way++) {
                uint32_t below = way == 0 ? wire->src : wire->dst, above = way == 0 ? wire->dst : wire->src;
                if (reader->kinds[above] == NODE_CORE &&
                    (level == 0 ? is_rank(reader->kinds[below]) : reader->kinds[below] == NODE_LEAF))
                    reader->kinds[above] = level == 0 ? NODE_LEAF : NODE_SPINE;
            }
        }
}

static gboolean
add_nodes(Reader *reader, GError **error)
{
    uint64_t ranks = 0;
    for (uint64_t i = 0; i < reader->nodes; i++) {
        NodeKind kind = reader->kinds[i];
        char name[48], server[32] = "";
        g_snprintf(name, sizeof name, "%s%" G_GUINT64_FORMAT, node_kind_name(kind), i);
        if (is_rank(kind))
            g_snprintf(server, sizeof server, "server%" G_GUINT64_FORMAT,
                       reader->simai ? ranks++ / reader->per_server : ranks++);
        Node node = node_default();
        node.name = name;
        node.kind = kind;
        node.server = server;
        node.gpu = kind == NODE_GPU ? reader->gpu : "";
        reader->nic_of[i] = INDEX_NONE;
        reader->node_of[i] = fabric_add_node(reader->fabric, &node, error);
        if (reader->node_of[i] == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

static gboolean
add_cable(Reader *reader, uint32_t src, uint32_t dst, LinkKind kind, const Wire *wire, const char *source,
          GError **error)
{
    Link link = link_default();
    link.src = src;
    link.dst = dst;
    link.kind = kind;
    link.capacity_Bps = wire->rate_Bps;
    link.latency_ps = wire->delay_ps;
    link.loss = wire->loss;
    link.source = source;
    return fabric_add_cable(reader->fabric, &link, error) != INDEX_NONE;
}

/* A NIC for each GPU that is on a switch, as fast as all its ports. */
static gboolean
add_nics(Reader *reader, GError **error)
{
    g_autofree double *rate = g_new0(double, reader->nodes);
    for (guint i = 0; i < reader->wires->len; i++) {
        const Wire *wire = &g_array_index(reader->wires, Wire, i);
        if (reader->kinds[wire->src] == NODE_GPU && reader->kinds[wire->dst] == NODE_LEAF)
            rate[wire->src] += wire->rate_Bps;
        if (reader->kinds[wire->dst] == NODE_GPU && reader->kinds[wire->src] == NODE_LEAF)
            rate[wire->dst] += wire->rate_Bps;
    }
    for (uint64_t i = 0; i < reader->nodes; i++) {
        if (rate[i] <= 0)
            continue;
        const Node *gpu = fabric_node(reader->fabric, reader->node_of[i]);
        char name[32];
        g_snprintf(name, sizeof name, "nic%" G_GUINT64_FORMAT, i);
        Node node = node_default();
        node.name = name;
        node.kind = NODE_NIC;
        node.server = gpu->server;
        node.rail = (int32_t)(i % reader->per_server);
        const Wire inside = {.rate_Bps = MIN(rate[i], LINK_MAX_Bps)};
        reader->nic_of[i] = fabric_add_node(reader->fabric, &node, error);
        if (reader->nic_of[i] == INDEX_NONE ||
            !add_cable(reader, reader->node_of[i], reader->nic_of[i], LINK_PCIE, &inside, "default", error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
add_wires(Reader *reader, GError **error)
{
    for (guint i = 0; i < reader->wires->len; i++) {
        const Wire *wire = &g_array_index(reader->wires, Wire, i);
        NodeKind a = reader->kinds[wire->src], b = reader->kinds[wire->dst];
        gboolean inside = a == NODE_NVSWITCH || b == NODE_NVSWITCH || (a == NODE_GPU && b == NODE_GPU);
        uint32_t src = reader->node_of[wire->src], dst = reader->node_of[wire->dst];
        if (!inside && a == NODE_GPU)
            src = reader->nic_of[wire->src];
        if (!inside && b == NODE_GPU)
            dst = reader->nic_of[wire->dst];
        if (!add_cable(reader, src, dst, inside ? LINK_NVLINK : LINK_ETHERNET, wire, "file", error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
make(Reader *reader, GError **error)
{
    guint before = topology_n_problems(reader->options);
    if (!read_head(reader, error) || !read_switches(reader, error) || !read_links(reader, error) ||
        !topology_sound(reader->options, before, reader->path, error))
        return FALSE;
    grade(reader);
    reader->nic_of = g_new(uint32_t, reader->nodes);
    reader->node_of = g_new(uint32_t, reader->nodes);
    reader->fabric = fabric_new();
    fabric_set_forward(reader->fabric, FORWARD_NONE);
    if (add_nodes(reader, error) && (!reader->simai || add_nics(reader, error)) && add_wires(reader, error) &&
        fabric_seal(reader->fabric, error))
        return TRUE;
    g_prefix_error(error, "%s: ", reader->path);
    return FALSE;
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(FieldLines) lines = field_lines_read(path, error);
    if (lines == NULL)
        return NULL;
    g_autoptr(GArray) wires = g_array_new(FALSE, FALSE, sizeof(Wire));
    Reader reader = {.path = path, .options = options, .lines = lines, .wires = wires};
    gboolean made = make(&reader, error);
    g_autoptr(Fabric) fabric = reader.fabric;
    g_free(reader.kinds);
    g_free(reader.nic_of);
    g_free(reader.node_of);
    if (!made)
        return NULL;
    if (notes != NULL && reader.simai)
        *notes = g_strdup("GPUs got a NIC each, which is not in the file: as fast as its ports, no delay\n");
    return g_steal_pointer(&fabric);
}

/* The first line is three numbers, or five and a word. */
static gboolean
recognise(const char *head, size_t length)
{
    g_autofree char *line = g_strndup(head + input_bom(head, length), strcspn(head + input_bom(head, length), "\r\n"));
    g_auto(GStrv) words = g_strsplit_set(g_strstrip(line), " \t", -1);
    guint n = 0;
    for (guint i = 0; words[i] != NULL; i++) {
        if (words[i][0] == '\0')
            continue;
        gboolean digits = words[i][strspn(words[i], "0123456789")] == '\0';
        if (n < 5 && !digits)
            return FALSE;
        n++;
    }
    return n == 3 || n == 6;
}

const TopologyFormat topology_ns3 = {"ns3", "ns-3 RDMA topologies: HPCC, ASTRA-sim, SimAI", recognise, read};
