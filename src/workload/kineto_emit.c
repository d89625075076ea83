/* kineto_emit.c - the graph of a rank becomes a program
 *
 * Nodes leave in the order of their recorded instants, so an edge leads from an op to a later one. Beside each op runs
 * its modelled time: what the replay gives when every collective ends as kineto_match says. What remains between that
 * and the record is kept as a delay, so errors of a microsecond do not add up. */
#include "workload/kineto_graph.h"

#include <stdlib.h>
#include <string.h>

/* An edge may end this much after what waits for it began: times of old files are whole microseconds, so start and end
 * are each off by up to one. */
enum { TOLERANCE_NS = 2000 };

typedef struct {
    Graph *graph;
    Workload *workload;
    uint32_t program_index;
    Program *program;
    int64_t begin_ns;
    uint32_t *op;      /* a node: its op */
    int64_t *model_ns; /* a node: when it ends in the replay; INT64_MIN = not yet emitted */
    uint32_t *stream;  /* a lane: of the program; INDEX_NONE */
    GArray *deps;      /* of uint32_t: ops the node at hand waits for */
} Emit;

static int
by_target(const void *a, const void *b)
{
    const Precedence *x = a, *y = b;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static gint
by_instant(gconstpointer a, gconstpointer b, gpointer graph)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const Moment *p = graph_node(graph, x), *q = graph_node(graph, y);
    if (p->ready_ns != q->ready_ns)
        return p->ready_ns < q->ready_ns ? -1 : 1;
    return x < y ? -1 : x > y; /* host nodes stand before device nodes, and in the order of their threads */
}

static uint32_t *
order_of(Graph *graph)
{
    uint32_t n = graph->nodes->len;
    uint32_t *order = g_new(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)n, sizeof *order, by_instant, graph);
    return order;
}

static void
add_dep(Emit *emit, uint32_t op)
{
    for (guint i = 0; i < emit->deps->len; i++) {
        if (g_array_index(emit->deps, uint32_t, i) == op)
            return;
    }
    g_array_append_val(emit->deps, op);
}

/* Gathers what a node waits for; when the last of it ends in the replay. Edges that the record contradicts are left out
 * and counted. */
static int64_t
gather(Emit *emit, uint32_t i, uint32_t first, uint32_t end)
{
    const Moment *node = graph_node(emit->graph, i);
    int64_t latest = emit->begin_ns;
    g_array_set_size(emit->deps, 0);
    for (uint32_t e = first; e < end; e++) {
        uint32_t from = g_array_index(emit->graph->edges, Precedence, e).from;
        if (e > first && from == g_array_index(emit->graph->edges, Precedence, e - 1).from)
            continue;
        if (emit->model_ns[from] == INT64_MIN ||
            graph_node(emit->graph, from)->end_ns > node->ready_ns + TOLERANCE_NS) {
            emit->graph->rank->n_dropped++;
            continue;
        }
        latest = MAX(latest, emit->model_ns[from]);
        add_dep(emit, emit->op[from]);
    }
    return latest;
}

static uint32_t
add_op(Emit *emit, Op op, const char *name)
{
    uint32_t index =
        program_add_op(emit->program, op, name, (const uint32_t *)(const void *)emit->deps->data, emit->deps->len);
    g_array_set_size(emit->deps, 0);
    g_array_append_val(emit->deps, index);
    return index;
}

static uint32_t
add_delay(Emit *emit, int64_t ns, const char *name)
{
    Op op = op_default(OP_HOST);
    op.duration_ps = ns * PS_PER_NS;
    return add_op(emit, op, name);
}

static void
emit_host(Emit *emit, uint32_t i, int64_t latest)
{
    const Moment *node = graph_node(emit->graph, i);
    const KinetoFile *file = emit->graph->rank->file;
    int64_t rest = MAX(0, node->ready_ns - latest);
    emit->model_ns[i] = latest + rest;
    if (rest == 0 && emit->deps->len == 1) {
        emit->op[i] = g_array_index(emit->deps, uint32_t, 0);
        return;
    }
    emit->op[i] =
        add_delay(emit, rest, node->form == NODE_TAIL ? "host" : kineto_event(file, KINETO_CALL, node->index)->name);
}

/* A kernel's name without return type, arguments and parameters. The caller frees it. */
static char *
short_name(const char *name)
{
    if (g_str_has_prefix(name, "void "))
        name += 5;
    size_t length = strcspn(name, "<(");
    if (length == 0) /* "(anonymous namespace)::f<...>" */
        length = strlen(name);
    return g_strndup(name, MIN(length, 80));
}

static uint32_t
stream_of(Emit *emit, uint32_t lane)
{
    if (emit->stream[lane] == INDEX_NONE) {
        const KinetoLane *row = &g_array_index(emit->graph->rank->file->lanes, KinetoLane, lane);
        g_autofree char *name = g_strdup_printf("stream %s", row->label);
        emit->stream[lane] = program_add_stream(emit->program, name, FALSE);
    }
    return emit->stream[lane];
}

static Op
comm_op(Emit *emit, const KinetoComm *comm, int64_t recorded_ns)
{
    static const OpKind kinds[] = {[COMM_COLLECTIVE] = OP_COLLECTIVE,
                                   [COMM_SEND] = OP_SEND,
                                   [COMM_RECV] = OP_RECV,
                                   [COMM_FIXED] = OP_HOST,
                                   [COMM_LOCAL] = OP_COPY};
    const KinetoRank *rank = emit->graph->rank;
    Op op = op_default(kinds[comm->form]);
    gboolean fixed = comm->form == COMM_FIXED || comm->form == COMM_LOCAL;
    op.duration_ps = (fixed ? recorded_ns : comm->transfer_ns) * PS_PER_NS;
    op.bytes = comm->bytes;
    if (comm->form == COMM_COLLECTIVE) {
        op.collective = comm->kind;
        op.group = comm->group;
        op.root = comm->root;
        if (comm->in_split != INDEX_NONE)
            op.splits = workload_add_splits(emit->workload, &g_array_index(rank->splits, uint64_t, comm->in_split),
                                            comm->members->len);
    } else if (comm->form == COMM_SEND || comm->form == COMM_RECV) {
        op.peer_form = PEER_RANK;
        op.peer = (int32_t)comm->peer;
    }
    return op;
}

static void
emit_device(Emit *emit, uint32_t i, int64_t latest)
{
    const KinetoRank *rank = emit->graph->rank;
    const Moment *node = graph_node(emit->graph, i);
    const KinetoDevice *device = kineto_device(rank, node->index);
    const KinetoComm *comm = device->comm != INDEX_NONE ? kineto_comm(rank, device->comm) : NULL;
    int64_t recorded = node->end_ns - node->ready_ns, start = MAX(latest, node->ready_ns);
    if (start > latest)
        add_delay(emit, start - latest, "gap");

    gboolean matched = comm != NULL && comm->form != COMM_FIXED && comm->form != COMM_LOCAL;
    g_autofree char *name = comm != NULL ? g_strdup(comm->name) : short_name(device->event->name);
    Op op = op_default(device->event->kind == KINETO_KERNEL ? OP_COMPUTE : OP_COPY);
    op.duration_ps = recorded * PS_PER_NS;
    op.bytes = device->event->kind == KINETO_KERNEL ? 0 : device->event->bytes;
    if (comm != NULL)
        op = comm_op(emit, comm, recorded);
    op.stream = stream_of(emit, device->event->lane);
    emit->op[i] = add_op(emit, op, name);
    emit->model_ns[i] = matched ? MAX(comm->end_ns, start) : start + recorded;
}

void
graph_emit(Graph *graph, Workload *workload, int64_t begin_ns)
{
    uint32_t n = graph->nodes->len, n_lanes = graph->rank->file->lanes->len;
    uint32_t program = workload_add_program(workload, TRUE);
    g_autofree uint32_t *order = order_of(graph), *first = g_new0(uint32_t, n + 2);
    Emit emit = {.graph = graph,
                 .workload = workload,
                 .program = workload_program(workload, program),
                 .program_index = program,
                 .begin_ns = begin_ns,
                 .op = g_new(uint32_t, n + 1),
                 .model_ns = g_new(int64_t, n + 1),
                 .stream = g_new(uint32_t, n_lanes + 1),
                 .deps = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    for (uint32_t i = 0; i < n; i++)
        emit.model_ns[i] = INT64_MIN;
    memset(emit.stream, 0xff, sizeof(uint32_t) * (n_lanes + 1));

    if (graph->edges->len > 0)
        qsort(graph->edges->data, graph->edges->len, sizeof(Precedence), by_target);
    for (guint e = 0; e < graph->edges->len; e++)
        first[g_array_index(graph->edges, Precedence, e).to + 1]++;
    for (uint32_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = order[k];
        int64_t latest = gather(&emit, i, first[i], first[i + 1]);
        if (graph_node(graph, i)->form == NODE_DEVICE)
            emit_device(&emit, i, latest);
        else
            emit_host(&emit, i, latest);
    }
    workload->program_of_rank[graph->rank->rank] = program;
    g_free(emit.op);
    g_free(emit.model_ns);
    g_free(emit.stream);
    g_array_unref(emit.deps);
}
