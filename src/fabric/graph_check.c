/* graph_check.c - the fabric as an igraph graph, and the questions put to it */
#include "fabric/graph_check.h"

#include "base/error.h"

#include <assert.h>
#include <igraph.h>
#include <stdlib.h>
#include <string.h>

enum { NVLINK, PCIE, NETWORK, CLASSES };

/* An edge beyond the links: what a node lets through. */
typedef struct {
    uint32_t from, to;
    uint32_t limit; /* the link whose capacity it has; INDEX_NONE = no limit */
} Passage;

/* Vertices: i, where what node i sends begins; n + i, where what it receives ends; then by node and class of links one
 * where the links out of it begin and one where the links into it end. Between PCIe switches there are two layers, so
 * that what comes from a NIC can't leave by another: `in` of a PCIe switch holds what does not come from a NIC,
 * `from_nic` what does, and `out` leads to all but NICs. */
struct GraphCheck {
    const Fabric *fabric;
    igraph_t graph;
    uint32_t n_vertices, source, sink; /* source leads to every vertex i, every n + i to sink */
    uint32_t *out[CLASSES], *in[CLASSES], *from_nic;
    GArray *passages; /* of Passage: edges n_links .. */
};

static int
class_of(const Link *link)
{
    return link->kind == LINK_NVLINK ? NVLINK : link->kind == LINK_PCIE ? PCIE : NETWORK;
}

static gboolean
is_switch(NodeKind kind)
{
    return kind == NODE_LEAF || kind == NODE_SPINE || kind == NODE_CORE || kind == NODE_DCI;
}

/* May what came in over one class of links leave over another? PCIe switches are wired apart from this. */
static gboolean
passes(NodeKind kind, ForwardMode forward, int in, int out)
{
    switch (kind) {
    case NODE_GPU:
        return in == NVLINK && ((forward == FORWARD_MESH && out == NVLINK) || (forward != FORWARD_NONE && out == PCIE));
    case NODE_NVSWITCH:
        return in == NVLINK && out == NVLINK;
    case NODE_NIC:
        return (in == PCIE && out == NETWORK) || (in == NETWORK && out == PCIE);
    default:
        return is_switch(kind) && in == NETWORK && out == NETWORK;
    }
}

static void
add_passage(GraphCheck *check, uint32_t from, uint32_t to, uint32_t limit)
{
    Passage passage = {from, to, limit};
    g_array_append_val(check->passages, passage);
}

static NodeKind
kind_of(const GraphCheck *check, uint32_t node)
{
    return fabric_node(check->fabric, node)->kind;
}

/* Where a link begins and ends among the vertices. */
static uint32_t
tail_of(const GraphCheck *check, const Link *link)
{
    int class = class_of(link);
    NodeKind dst = kind_of(check, link->dst);
    if (class == PCIE && kind_of(check, link->src) == NODE_PCIE && (dst == NODE_NIC || dst == NODE_PCIE))
        return check->in[PCIE][link->src];
    return check->out[class][link->src];
}

static uint32_t
head_of(const GraphCheck *check, const Link *link)
{
    int class = class_of(link);
    if (class == PCIE && kind_of(check, link->dst) == NODE_PCIE && kind_of(check, link->src) == NODE_NIC)
        return check->from_nic[link->dst];
    return check->in[class][link->dst];
}

/* Numbers the vertices of the classes that touch each node. */
static void
number_vertices(GraphCheck *check)
{
    uint32_t n = fabric_n_nodes(check->fabric);
    check->n_vertices = 2 * n;
    for (int class = 0; class < CLASSES; class ++) {
        check->out[class] = g_new0(uint32_t, n);
        check->in[class] = g_new0(uint32_t, n);
    }
    check->from_nic = g_new0(uint32_t, n);
    for (uint32_t i = 0; i < fabric_n_links(check->fabric); i++) {
        const Link *link = fabric_link(check->fabric, i);
        uint32_t ends[2] = {link->src, link->dst};
        for (int end = 0; end < 2; end++) {
            if (check->out[class_of(link)][ends[end]] != 0)
                continue;
            check->out[class_of(link)][ends[end]] = check->n_vertices++;
            check->in[class_of(link)][ends[end]] = check->n_vertices++;
            if (class_of(link) == PCIE && kind_of(check, ends[end]) == NODE_PCIE)
                check->from_nic[ends[end]] = check->n_vertices++;
        }
    }
    check->source = check->n_vertices++;
    check->sink = check->n_vertices++;
}

static void
add_passages(GraphCheck *check)
{
    uint32_t n = fabric_n_nodes(check->fabric);
    ForwardMode forward = fabric_forward(check->fabric);
    for (uint32_t i = 0; i < n; i++) {
        add_passage(check, check->source, i, INDEX_NONE); /* these two first: flow() counts on it */
        add_passage(check, n + i, check->sink, INDEX_NONE);
    }
    for (uint32_t i = 0; i < n; i++)
        for (int class = 0; class < CLASSES; class ++) {
            if (check->out[class][i] == 0)
                continue;
            add_passage(check, i, check->out[class][i], INDEX_NONE);
            add_passage(check, check->in[class][i], n + i, INDEX_NONE);
            for (int out = 0; out < CLASSES; out++)
                if (check->out[out][i] != 0 && passes(kind_of(check, i), forward, class, out))
                    add_passage(check, check->in[class][i], check->out[out][i], INDEX_NONE);
            if (class == PCIE && check->from_nic[i] != 0) {
                add_passage(check, check->in[PCIE][i], check->out[PCIE][i], INDEX_NONE);
                add_passage(check, check->from_nic[i], check->out[PCIE][i], INDEX_NONE);
                add_passage(check, check->from_nic[i], n + i, INDEX_NONE);
                add_passage(check, i, check->in[PCIE][i], INDEX_NONE);
            }
        }
    for (uint32_t i = 0; i < fabric_n_links(check->fabric); i++) {
        const Link *link = fabric_link(check->fabric, i);
        if (class_of(link) == PCIE && kind_of(check, link->src) == NODE_PCIE && kind_of(check, link->dst) == NODE_PCIE)
            add_passage(check, check->from_nic[link->src], check->from_nic[link->dst], i);
    }
}

/* One call: adding edges one at a time is slow. */
static igraph_error_t
make_graph(GraphCheck *check)
{
    uint32_t n_links = fabric_n_links(check->fabric);
    igraph_integer_t n = (igraph_integer_t)n_links + check->passages->len;
    igraph_vector_int_t ends;
    igraph_error_t code = igraph_vector_int_init(&ends, 2 * n);
    if (code != IGRAPH_SUCCESS)
        return code;
    for (uint32_t i = 0; i < n_links; i++) {
        VECTOR(ends)[2 * (igraph_integer_t)i] = tail_of(check, fabric_link(check->fabric, i));
        VECTOR(ends)[2 * (igraph_integer_t)i + 1] = head_of(check, fabric_link(check->fabric, i));
    }
    for (igraph_integer_t i = n_links; i < n; i++) {
        Passage passage = g_array_index(check->passages, Passage, i - n_links);
        VECTOR(ends)[2 * i] = passage.from;
        VECTOR(ends)[2 * i + 1] = passage.to;
    }
    code = igraph_create(&check->graph, &ends, check->n_vertices, IGRAPH_DIRECTED);
    igraph_vector_int_destroy(&ends);
    return code;
}

static void
free_columns(GraphCheck *check)
{
    for (int class = 0; class < CLASSES; class ++) {
        g_free(check->out[class]);
        g_free(check->in[class]);
    }
    g_free(check->from_nic);
    g_array_unref(check->passages);
    g_free(check);
}

GraphCheck *
graph_check_new(const Fabric *fabric, GError **error)
{
    igraph_set_error_handler(igraph_error_handler_ignore);
    igraph_set_warning_handler(igraph_warning_handler_ignore);
    GraphCheck *check = g_new0(GraphCheck, 1);
    check->fabric = fabric;
    check->passages = g_array_new(FALSE, FALSE, sizeof(Passage));
    number_vertices(check);
    add_passages(check);
    igraph_error_t code = make_graph(check);
    if (code != IGRAPH_SUCCESS) {
        free_columns(check);
        error_input(error, "igraph cannot hold the fabric: %s", igraph_strerror(code));
        return NULL;
    }
    return check;
}

void
graph_check_free(GraphCheck *check)
{
    if (check == NULL)
        return;
    igraph_destroy(&check->graph);
    free_columns(check);
}

/* igraph fails on wrong arguments, which would be ours, or for want of memory, where GLib ends the program too. */
static void
must(igraph_error_t code)
{
    if (code != IGRAPH_SUCCESS)
        g_error("igraph: %s", igraph_strerror(code));
}

/* Marks the vertices that start reaches (mode OUT) or is reached from (IN). */
static void
search(const GraphCheck *check, uint32_t start, igraph_neimode_t mode, uint8_t *marks)
{
    igraph_vector_int_t met;
    must(igraph_vector_int_init(&met, 0));
    must(igraph_subcomponent(&check->graph, &met, start, mode));
    memset(marks, 0, check->n_vertices);
    for (igraph_integer_t i = 0; i < igraph_vector_int_size(&met); i++)
        marks[VECTOR(met)[i]] = 1;
    igraph_vector_int_destroy(&met);
}

/* Does every GPU reach this vertex, and it every GPU? What passes through it is no GPU's own, so all pairs are joined.
 */
static gboolean
joins_all(const GraphCheck *check, uint32_t vertex, uint8_t *marks)
{
    uint32_t n, n_nodes = fabric_n_nodes(check->fabric);
    const uint32_t *gpus = fabric_gpus(check->fabric, &n);
    search(check, vertex, IGRAPH_OUT, marks);
    for (uint32_t i = 0; i < n; i++)
        if (!marks[n_nodes + gpus[i]])
            return FALSE;
    search(check, vertex, IGRAPH_IN, marks);
    for (uint32_t i = 0; i < n; i++)
        if (!marks[gpus[i]])
            return FALSE;
    return TRUE;
}

/* Tries the best connected node of each kind that forwards, where its links end. */
static gboolean
has_hub(const GraphCheck *check, uint8_t *marks)
{
    uint32_t best[NODE_KINDS], most[NODE_KINDS] = {0};
    for (uint32_t i = 0; i < fabric_n_nodes(check->fabric); i++) {
        uint32_t n;
        NodeKind kind = kind_of(check, i);
        fabric_in(check->fabric, i, &n);
        if (n > most[kind]) {
            most[kind] = n;
            best[kind] = i;
        }
    }
    for (int kind = NODE_KINDS - 1; kind >= 0; kind--) {
        int class = kind == NODE_NVSWITCH ? NVLINK : kind == NODE_PCIE ? PCIE : NETWORK;
        gboolean forwards = is_switch((NodeKind)kind) || class != NETWORK;
        if (most[kind] > 0 && forwards && check->in[class][best[kind]] != 0 &&
            joins_all(check, check->in[class][best[kind]], marks))
            return TRUE;
    }
    return FALSE;
}

gboolean
graph_check_connected(GraphCheck *check, GError **error)
{
    uint32_t n, n_nodes = fabric_n_nodes(check->fabric);
    const uint32_t *gpus = fabric_gpus(check->fabric, &n);
    g_autofree uint8_t *marks = g_malloc(check->n_vertices);
    if (n < 2 || has_hub(check, marks))
        return TRUE;
    for (uint32_t i = 0; i < n; i++) {
        search(check, gpus[i], IGRAPH_OUT, marks);
        for (uint32_t k = 0; k < n; k++)
            if (k != i && !marks[n_nodes + gpus[k]])
                return error_input(error, "the fabric is not connected: no way from \"%s\" to \"%s\"",
                                   fabric_node(check->fabric, gpus[i])->name,
                                   fabric_node(check->fabric, gpus[k])->name);
    }
    return TRUE;
}

/* A network link, its ends in rising order. */
typedef struct {
    uint32_t low, high;
    uint32_t link;
    gboolean down; /* from high to low */
} Strand;

static int
compare_strands(const void *left, const void *right)
{
    const Strand *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    if (a->down != b->down)
        return a->down ? 1 : -1;
    return a->link < b->link ? -1 : a->link > b->link;
}

static GArray *
list_strands(const Fabric *fabric)
{
    GArray *strands = g_array_new(FALSE, FALSE, sizeof(Strand));
    for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
        const Link *link = fabric_link(fabric, i);
        Strand strand = {MIN(link->src, link->dst), MAX(link->src, link->dst), i, link->src > link->dst};
        if (class_of(link) == NETWORK)
            g_array_append_val(strands, strand);
    }
    g_array_sort(strands, compare_strands);
    return strands;
}

/* The k-th link from a to b and the k-th from b to a are a cable, as is a link without a way back. As strands,
 * link = the lower index of the two. */
static GArray *
list_cables(const Fabric *fabric)
{
    g_autoptr(GArray) strands = list_strands(fabric);
    GArray *cables = g_array_new(FALSE, FALSE, sizeof(Strand));
    const Strand *all = (const Strand *)(void *)strands->data;
    for (guint first = 0, middle, end; first < strands->len; first = end) {
        for (end = first, middle = first;
             end < strands->len && all[end].low == all[first].low && all[end].high == all[first].high; end++)
            middle += !all[end].down;
        guint n_up = middle - first, n_down = end - middle;
        for (guint k = 0; k < MAX(n_up, n_down); k++) {
            Strand cable = k < n_up ? all[first + k] : all[middle + k];
            if (k < n_up && k < n_down)
                cable.link = MIN(cable.link, all[middle + k].link);
            g_array_append_val(cables, cable);
        }
    }
    return cables;
}

static int
compare_numbers(gconstpointer left, gconstpointer right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* One end of a cable among the vertices of the graph of bridges: an end that does not forward and has several cables
 * is another vertex at each of them, and their cables are then marked as of no interest. */
static uint32_t
bridge_end(const GraphCheck *check, const uint32_t *n_cables, uint32_t node, uint32_t *n_vertices, gboolean *spare)
{
    if (is_switch(kind_of(check, node)) || n_cables[node] == 1)
        return node;
    *spare = TRUE;
    return (*n_vertices)++;
}

GArray *
graph_check_bridges(GraphCheck *check)
{
    g_autoptr(GArray) cables = list_cables(check->fabric);
    uint32_t n_vertices = fabric_n_nodes(check->fabric);
    g_autofree uint32_t *n_cables = g_new0(uint32_t, n_vertices);
    g_autofree gboolean *spare = g_new0(gboolean, MAX(cables->len, 1));
    for (guint i = 0; i < cables->len; i++) {
        n_cables[g_array_index(cables, Strand, i).low]++;
        n_cables[g_array_index(cables, Strand, i).high]++;
    }
    igraph_vector_int_t ends, found;
    must(igraph_vector_int_init(&ends, 2 * (igraph_integer_t)cables->len));
    must(igraph_vector_int_init(&found, 0));
    for (guint i = 0; i < cables->len; i++) {
        Strand cable = g_array_index(cables, Strand, i);
        VECTOR(ends)[2 * i] = bridge_end(check, n_cables, cable.low, &n_vertices, &spare[i]);
        VECTOR(ends)[2 * i + 1] = bridge_end(check, n_cables, cable.high, &n_vertices, &spare[i]);
    }
    igraph_t graph;
    must(igraph_create(&graph, &ends, n_vertices, IGRAPH_UNDIRECTED));
    must(igraph_bridges(&graph, &found));
    GArray *bridges = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (igraph_integer_t i = 0; i < igraph_vector_int_size(&found); i++)
        if (!spare[VECTOR(found)[i]])
            g_array_append_val(bridges, g_array_index(cables, Strand, VECTOR(found)[i]).link);
    g_array_sort(bridges, compare_numbers);
    igraph_destroy(&graph);
    igraph_vector_int_destroy(&ends);
    igraph_vector_int_destroy(&found);
    return bridges;
}

/* The most that flows from the nodes of a to those of b, each link carrying its capacity or, where count is set, 1.
 * Infinite capacities would fail, so what has no limit carries as much as all links together. */
static double
flow(GraphCheck *check, const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, gboolean count)
{
    uint32_t n_links = fabric_n_links(check->fabric);
    igraph_integer_t n = (igraph_integer_t)n_links + check->passages->len;
    igraph_vector_t capacity;
    must(igraph_vector_init(&capacity, n));
    double all = 1;
    for (uint32_t i = 0; i < n_links; i++)
        all += VECTOR(capacity)[i] = count ? 1 : fabric_link(check->fabric, i)->capacity_Bps;
    for (igraph_integer_t i = n_links; i < n; i++) {
        Passage passage = g_array_index(check->passages, Passage, i - n_links);
        if (passage.from == check->source || passage.to == check->sink)
            VECTOR(capacity)[i] = 0;
        else
            VECTOR(capacity)[i] = passage.limit != INDEX_NONE ? VECTOR(capacity)[passage.limit] : all;
    }
    for (uint32_t i = 0; i < n_a; i++)
        VECTOR(capacity)[(igraph_integer_t)n_links + 2 * (igraph_integer_t)a[i]] = all;
    for (uint32_t i = 0; i < n_b; i++)
        VECTOR(capacity)[(igraph_integer_t)n_links + 2 * (igraph_integer_t)b[i] + 1] = all;
    double value;
    must(igraph_maxflow_value(&check->graph, &value, check->source, check->sink, &capacity, NULL));
    igraph_vector_destroy(&capacity);
    return value;
}

uint32_t
graph_check_disjoint_paths(GraphCheck *check, uint32_t a, uint32_t b)
{
    assert(a != b && a < fabric_n_nodes(check->fabric) && b < fabric_n_nodes(check->fabric));
    return (uint32_t)flow(check, &a, 1, &b, 1, TRUE);
}

double
graph_check_cut_Bps(GraphCheck *check, const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b)
{
    return flow(check, a, n_a, b, n_b, FALSE);
}
