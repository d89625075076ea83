/* kineto_graph.c - host threads: calls in order, blocking calls, the backward pass between threads */
#include "workload/kineto_graph.h"

#include <string.h>

void
graph_add_edge(Graph *graph, uint32_t from, uint32_t to)
{
    if (from == INDEX_NONE || to == INDEX_NONE)
        return;
    Precedence edge = {.from = from, .to = to};
    g_array_append_val(graph->edges, edge);
}

static uint32_t
add_node(Graph *graph, NodeForm form, uint32_t index, int64_t ready_ns, int64_t end_ns)
{
    Moment node = {.form = form, .index = index, .ready_ns = ready_ns, .end_ns = end_ns};
    g_array_append_val(graph->nodes, node);
    return graph->nodes->len - 1;
}

SyncForm
graph_sync_form(const char *call)
{
    static const struct {
        const char *name;
        SyncForm form;
    } forms[] = {
        {"StreamSynchronize", SYNC_STREAM},
        {"DeviceSynchronize", SYNC_DEVICE},
        {"CtxSynchronize", SYNC_DEVICE},
        {"EventSynchronize", SYNC_EVENT},
        {"Memcpy", SYNC_COPY},
        {"Memcpy2D", SYNC_COPY},
        {"MemcpyWithStream", SYNC_COPY},
        {"MemcpyDtoH", SYNC_COPY},
        {"MemcpyDtoH_v2", SYNC_COPY},
    };
    const char *bare = call;
    if (g_str_has_prefix(call, "cuda"))
        bare = call + 4;
    else if (g_str_has_prefix(call, "hip"))
        bare = call + 3;
    else if (g_str_has_prefix(call, "cu"))
        bare = call + 2;
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (strcmp(forms[i].name, bare) == 0)
            return forms[i].form;
    }
    return SYNC_NONE;
}

/* Does the call of this device work return only after it? A copy to pageable memory does, whatever the call says. */
static gboolean
blocks_for(const KinetoDevice *device, const KinetoEvent *call)
{
    if (device->event->kind != KINETO_MEMCPY)
        return FALSE;
    if (graph_sync_form(call->name) == SYNC_COPY)
        return TRUE;
    return strstr(device->event->name, "DtoH") != NULL && strstr(device->event->name, "Pageable") != NULL;
}

/* For each call: has it device work (1), does it block for it (2)? */
static uint8_t *
mark_calls(const KinetoRank *rank)
{
    uint8_t *marks = g_new0(uint8_t, rank->file->events[KINETO_CALL]->len + 1);
    for (guint i = 0; i < rank->devices->len; i++) {
        const KinetoDevice *device = kineto_device(rank, i);
        if (device->call == INDEX_NONE)
            continue;
        marks[device->call] |= 1;
        if (blocks_for(device, kineto_event(rank->file, KINETO_CALL, device->call)))
            marks[device->call] |= 2;
    }
    return marks;
}

/* One call after the last node of its thread. */
static void
add_call(Graph *graph, uint32_t i, gboolean blocks, uint32_t *last)
{
    const KinetoEvent *call = kineto_event(graph->rank->file, KINETO_CALL, i);
    uint32_t before = last[call->lane];
    if (before != INDEX_NONE && graph_node(graph, before)->ready_ns > call->start_ns) {
        /* begun inside a blocking call: what that waits for is over by now */
        graph_node(graph, before)->ready_ns = graph_node(graph, before)->end_ns = call->start_ns;
    }
    uint32_t node = add_node(graph, NODE_CALL, i, call->start_ns, call->start_ns);
    graph_add_edge(graph, before, node);
    graph->node_of_call[i] = last[call->lane] = node;
    if (!blocks)
        return;
    uint32_t end = add_node(graph, NODE_RETURN, i, call->end_ns, call->end_ns);
    graph_add_edge(graph, node, end);
    graph->return_of_call[i] = last[call->lane] = end;
}

static void
add_host(Graph *graph)
{
    const KinetoFile *file = graph->rank->file;
    g_autofree uint8_t *marks = mark_calls(graph->rank);
    g_autofree uint32_t *last = g_new(uint32_t, file->lanes->len + 1);
    memset(last, 0xff, sizeof(uint32_t) * (file->lanes->len + 1));
    for (guint i = 0; i < file->events[KINETO_CALL]->len; i++) {
        SyncForm form = graph_sync_form(kineto_event(file, KINETO_CALL, i)->name);
        gboolean waits = form == SYNC_STREAM || form == SYNC_DEVICE || form == SYNC_EVENT;
        if (marks[i] != 0 || waits)
            add_call(graph, i, waits || (marks[i] & 2) != 0, last);
    }
    for (guint lane = 0; lane < file->lanes->len; lane++) {
        int64_t end = g_array_index(file->lanes, KinetoLane, lane).last_ns;
        if (last[lane] == INDEX_NONE || graph_node(graph, last[lane])->end_ns >= end)
            continue;
        uint32_t tail = add_node(graph, NODE_TAIL, lane, end, end);
        graph_add_edge(graph, last[lane], tail);
    }
}

static uint32_t
lane_of(const Graph *graph, const Moment *node)
{
    return node->form == NODE_TAIL ? node->index : kineto_event(graph->rank->file, KINETO_CALL, node->index)->lane;
}

/* A thread of the autograd engine: more than one in a hundred of its operators (one in 13 in the DLRM set) is
 * evaluate_function. The caller of backward() may run one of those itself. */
static gboolean
is_autograd(const Graph *graph, uint32_t lane)
{
    const KinetoLane *row = &g_array_index(graph->rank->file->lanes, KinetoLane, lane);
    return (uint64_t)row->n_backward * 100 > row->n_operators;
}

/* The thread that calls the backward pass: of those that do not run it, the one with the most calls. */
static uint32_t
main_lane(const Graph *graph)
{
    uint32_t n_lanes = graph->rank->file->lanes->len, best = INDEX_NONE;
    g_autofree uint32_t *count = g_new0(uint32_t, n_lanes + 1);
    for (guint i = 0; i < graph->nodes->len; i++) {
        uint32_t lane = lane_of(graph, graph_node(graph, i));
        if (!is_autograd(graph, lane) && ++count[lane] > (best == INDEX_NONE ? 0 : count[best]))
            best = lane;
    }
    return best;
}

typedef struct {
    int64_t at_ns;
    uint32_t node;
} Turn;

static gint
by_time(gconstpointer a, gconstpointer b)
{
    const Turn *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The caller of backward() stands still until the engine's threads have done it: where the record turns from one to the
 * other, the later waits for the earlier. Tails are left out: a thread's last moment waits for its own calls. */
static void
add_turns(Graph *graph)
{
    uint32_t main = main_lane(graph), before = INDEX_NONE;
    if (main == INDEX_NONE)
        return;
    g_autoptr(GArray) turns = g_array_new(FALSE, FALSE, sizeof(Turn));
    for (guint i = 0; i < graph->nodes->len; i++) {
        const Moment *node = graph_node(graph, i);
        uint32_t lane = lane_of(graph, node);
        Turn turn = {.at_ns = node->ready_ns, .node = i};
        if (node->form != NODE_TAIL && (lane == main || is_autograd(graph, lane)))
            g_array_append_val(turns, turn);
    }
    g_array_sort(turns, by_time);
    for (guint i = 0; i < turns->len; i++) {
        uint32_t node = g_array_index(turns, Turn, i).node;
        if (before != INDEX_NONE) {
            uint32_t from = lane_of(graph, graph_node(graph, before)), to = lane_of(graph, graph_node(graph, node));
            if (from != to && (from == main || to == main))
                graph_add_edge(graph, before, node);
        }
        before = node;
    }
}

static void
add_devices(Graph *graph)
{
    const KinetoRank *rank = graph->rank;
    graph->first_device_node = graph->nodes->len;
    for (guint i = 0; i < rank->devices->len; i++) {
        const KinetoDevice *device = kineto_device(rank, i);
        uint32_t node = add_node(graph, NODE_DEVICE, i, device->event->start_ns, device->event->end_ns);
        if (device->call == INDEX_NONE)
            continue;
        graph_add_edge(graph, graph->node_of_call[device->call], node);
        if (blocks_for(device, kineto_event(rank->file, KINETO_CALL, device->call)))
            graph_add_edge(graph, node, graph->return_of_call[device->call]);
    }
}

static void
free_marks(GArray **marks, guint n)
{
    for (guint i = 0; i < n; i++)
        g_array_unref(marks[i]);
    g_free(marks);
}

void
kineto_graph(KinetoRank *rank, Workload *workload, int64_t begin_ns)
{
    guint n_calls = rank->file->events[KINETO_CALL]->len, n_lanes = rank->file->lanes->len;
    Graph graph = {.rank = rank,
                   .nodes = g_array_new(FALSE, FALSE, sizeof(Moment)),
                   .edges = g_array_new(FALSE, FALSE, sizeof(Precedence)),
                   .node_of_call = g_new(uint32_t, n_calls + 1),
                   .return_of_call = g_new(uint32_t, n_calls + 1)};
    memset(graph.node_of_call, 0xff, sizeof(uint32_t) * (n_calls + 1));
    memset(graph.return_of_call, 0xff, sizeof(uint32_t) * (n_calls + 1));
    add_host(&graph);
    add_turns(&graph);
    add_devices(&graph);
    graph_list_streams(&graph);
    graph_add_stream_edges(&graph);
    graph_emit(&graph, workload, begin_ns);
    free_marks(graph.streams, n_lanes);
    free_marks(graph.launches, n_lanes);
    g_array_unref(graph.nodes);
    g_array_unref(graph.edges);
    g_free(graph.node_of_call);
    g_free(graph.return_of_call);
}
