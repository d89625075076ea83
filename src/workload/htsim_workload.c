/* htsim_workload.c - a connection matrix becomes programs in the DAG form
 *
 * All ops are planned first, each on its host and with the ops it waits for, which are on the same host; then the
 * programs are filled in that order. What happens on one host and lets another begin is told by a signal: a message
 * that takes no time. Tags are the flow's index, so that a receive takes the message of its flow alone;
 * acknowledgements and signals count on from there. */
#include "workload/htsim_cm.h"

#include "base/error.h"

#include <assert.h>

typedef struct {
    Op op;
    uint32_t host;
    uint32_t number; /* among the ops of its host */
    uint32_t flow;   /* its name is about this flow */
    const char *about;
} Planned;

typedef struct {
    uint32_t op, dep;
} Edge;

typedef struct {
    const HtsimMatrix *matrix;
    GArray *ops;         /* of Planned */
    GArray *edges;       /* of Edge: indexes of ops */
    uint32_t *n_ops;     /* a host */
    uint32_t *send;      /* a flow: its op, and its first (its start where it waits for that) */
    uint32_t *recv;      /* a flow */
    uint32_t *acked;     /* a flow: receives its acknowledgement; INDEX_NONE where nobody waits for it */
    GPtrArray *starters; /* a trigger: GArray of uint32_t, ops whose end activates it, in file order */
    GPtrArray *bound;    /* a trigger: GArray of uint32_t, flows it starts, in file order */
    uint32_t tags;
} Plan;

static const HtsimFlow *
flow_at(const Plan *plan, uint32_t index)
{
    return &g_array_index(plan->matrix->flows, HtsimFlow, index);
}

static uint32_t
plan_op(Plan *plan, uint32_t host, const Op *op, uint32_t flow, const char *about)
{
    Planned planned = {.op = *op, .host = host, .number = plan->n_ops[host]++, .flow = flow, .about = about};
    g_array_append_val(plan->ops, planned);
    return plan->ops->len - 1;
}

static uint32_t
host_of(const Plan *plan, uint32_t op)
{
    return g_array_index(plan->ops, Planned, op).host;
}

static void
wait_for(Plan *plan, uint32_t op, uint32_t dep)
{
    assert(host_of(plan, op) == host_of(plan, dep));
    Edge edge = {op, dep};
    g_array_append_val(plan->edges, edge);
}

static uint32_t
plan_message(Plan *plan, OpKind kind, uint32_t host, uint32_t peer, uint64_t bytes, uint32_t tag, uint32_t flow,
             const char *about)
{
    Op op = op_default(kind);
    op.peer = (int32_t)peer;
    op.bytes = bytes;
    op.tag = tag;
    return plan_op(plan, host, &op, flow, about);
}

/* Host tells peer, after op has ended there. */
static void
plan_signal(Plan *plan, uint32_t after, uint32_t peer, uint32_t tag, uint32_t flow)
{
    Op op = op_default(OP_SEND);
    op.signal = TRUE;
    op.peer = (int32_t)peer;
    op.tag = tag;
    wait_for(plan, plan_op(plan, host_of(plan, after), &op, flow, "signal of "), after);
}

/* Host waits for a signal of peer (INDEX_NONE: of any); the op. */
static uint32_t
plan_signal_wait(Plan *plan, uint32_t host, uint32_t peer, uint32_t tag, uint32_t flow)
{
    Op op = op_default(OP_RECV);
    op.signal = TRUE;
    op.peer_form = peer == INDEX_NONE ? PEER_ANY : PEER_RANK;
    op.peer = peer == INDEX_NONE ? 0 : (int32_t)peer;
    op.tag = tag;
    return plan_op(plan, host, &op, flow, "wait for ");
}

/* The op on host that ends when op does, which may be on another: there flow, or others with it, wait for it. */
static uint32_t
seen_at(Plan *plan, uint32_t host, uint32_t op, uint32_t flow)
{
    uint32_t from = host_of(plan, op);
    if (from == host)
        return op;
    uint32_t tag = plan->tags++;
    plan_signal(plan, op, host, tag, flow);
    return plan_signal_wait(plan, host, from, tag, flow);
}

/* A flow starts only after op, wherever that is. */
static void
start_after(Plan *plan, uint32_t flow, uint32_t op)
{
    wait_for(plan, plan->send[flow], seen_at(plan, flow_at(plan, flow)->src, op, flow));
}

/* The send, the recv, what the start waits for, and the acknowledgement. */
static void
plan_flow(Plan *plan, uint32_t index)
{
    const HtsimFlow *flow = flow_at(plan, index);
    uint32_t start = INDEX_NONE;
    if (flow->start_ps > 0) {
        Op op = op_default(OP_HOST);
        op.duration_ps = flow->start_ps;
        start = plan_op(plan, flow->src, &op, index, "start of ");
    }
    plan->send[index] = plan_message(plan, OP_SEND, flow->src, flow->dst, flow->bytes, index, index, "");
    plan->recv[index] = plan_message(plan, OP_RECV, flow->dst, flow->src, flow->bytes, index, index, "");
    plan->acked[index] = INDEX_NONE;
    if (start != INDEX_NONE)
        wait_for(plan, plan->send[index], start);
    if (flow->before != INDEX_NONE)
        wait_for(plan, plan->send[index], plan->send[flow->before]);
    if (flow->trigger != INDEX_NONE)
        g_array_append_val((GArray *)g_ptr_array_index(plan->bound, flow->trigger), index);
    if (flow->recv_done != INDEX_NONE)
        g_array_append_val((GArray *)g_ptr_array_index(plan->starters, flow->recv_done), plan->recv[index]);
    if (flow->send_done == INDEX_NONE)
        return;
    uint32_t tag = plan->tags++;
    wait_for(plan, plan_message(plan, OP_SEND, flow->dst, flow->src, 0, tag, index, "end of "), plan->recv[index]);
    plan->acked[index] = plan_message(plan, OP_RECV, flow->src, flow->dst, 0, tag, index, "end of ");
    g_array_append_val((GArray *)g_ptr_array_index(plan->starters, flow->send_done), plan->acked[index]);
}

/* Whoever comes first starts the first flow: the source of the first collects the signals, in the order they come. */
static void
plan_multishot(Plan *plan, const GArray *starters, const GArray *bound)
{
    uint32_t collector = flow_at(plan, g_array_index(bound, uint32_t, 0))->src, tag = plan->tags++, last = INDEX_NONE;
    for (uint32_t i = 0; i < starters->len; i++) {
        uint32_t starter = g_array_index(starters, uint32_t, i), flow = g_array_index(bound, uint32_t, i);
        plan_signal(plan, starter, collector, tag, g_array_index(plan->ops, Planned, starter).flow);
        uint32_t wait = plan_signal_wait(plan, collector, INDEX_NONE, tag, flow);
        if (last != INDEX_NONE)
            wait_for(plan, wait, last);
        last = wait;
        start_after(plan, flow, wait);
    }
}

/* A barrier gets exactly its count and a oneshot exactly one (htsim_matrix_check_starts): all must have ended. The
 * source of the first flow collects them, so that signals are as many as starters and flows, not their product. */
static void
plan_trigger(Plan *plan, uint32_t index)
{
    const GArray *starters = g_ptr_array_index(plan->starters, index), *bound = g_ptr_array_index(plan->bound, index);
    if (bound->len == 0)
        return;
    if (g_array_index(plan->matrix->triggers, HtsimTrigger, index).kind == HTSIM_MULTISHOT) {
        plan_multishot(plan, starters, bound);
        return;
    }
    uint32_t gate = g_array_index(starters, uint32_t, 0), first = g_array_index(bound, uint32_t, 0);
    if (starters->len > 1) {
        uint32_t collector = flow_at(plan, first)->src;
        Op op = op_default(OP_MARKER);
        gate = plan_op(plan, collector, &op, first, "all before ");
        for (uint32_t i = 0; i < starters->len; i++)
            wait_for(plan, gate, seen_at(plan, collector, g_array_index(starters, uint32_t, i), first));
    }
    for (uint32_t f = 0; f < bound->len; f++)
        start_after(plan, g_array_index(bound, uint32_t, f), gate);
}

/* The deps of each op, packed: those of op o are deps[first[o]] up to first[o + 1], as numbers on their host. */
static uint32_t *
pack_edges(const Plan *plan, uint32_t **first)
{
    uint32_t n = plan->ops->len, *start = g_new0(uint32_t, n + 2), *deps = g_new(uint32_t, plan->edges->len + 1);
    for (uint32_t i = 0; i < plan->edges->len; i++)
        start[g_array_index(plan->edges, Edge, i).op + 2]++;
    for (uint32_t o = 0; o < n; o++)
        start[o + 2] += start[o + 1];
    for (uint32_t i = 0; i < plan->edges->len; i++) {
        const Edge *edge = &g_array_index(plan->edges, Edge, i);
        deps[start[edge->op + 1]++] = g_array_index(plan->ops, Planned, edge->dep).number;
    }
    *first = start;
    return deps;
}

static void
fill_programs(const Plan *plan, Workload *workload)
{
    uint32_t idle = INDEX_NONE;
    for (uint32_t host = 0; host < workload->n_ranks; host++) {
        gboolean none = plan->n_ops[host] == 0;
        uint32_t program = none && idle != INDEX_NONE ? idle : workload_add_program(workload, TRUE);
        workload->program_of_rank[host] = program;
        Program *made = workload_program(workload, program);
        if (made->name == NULL)
            made->name = none ? g_strdup("idle") : g_strdup_printf("host %u", host);
        if (none)
            idle = program;
    }
    uint32_t *packed_first;
    g_autofree uint32_t *deps = pack_edges(plan, &packed_first);
    g_autofree uint32_t *first = packed_first;
    for (uint32_t o = 0; o < plan->ops->len; o++) {
        const Planned *planned = &g_array_index(plan->ops, Planned, o);
        g_autofree char *flow = htsim_flow_name(flow_at(plan, planned->flow));
        g_autofree char *name = g_strconcat(planned->about, flow, NULL);
        uint32_t op = program_add_op(workload_program(workload, workload->program_of_rank[planned->host]), planned->op,
                                     name, deps + first[o], first[o + 1] - first[o]);
        assert(op == planned->number);
        (void)op;
    }
}

static void
make(Plan *plan, Workload *workload)
{
    for (uint32_t i = 0; i < plan->matrix->triggers->len; i++) {
        g_ptr_array_add(plan->starters, g_array_new(FALSE, FALSE, sizeof(uint32_t)));
        g_ptr_array_add(plan->bound, g_array_new(FALSE, FALSE, sizeof(uint32_t)));
    }
    for (uint32_t i = 0; i < plan->matrix->flows->len; i++)
        plan_flow(plan, i);
    for (uint32_t i = 0; i < plan->matrix->triggers->len; i++)
        plan_trigger(plan, i);
    fill_programs(plan, workload);
}

Workload *
htsim_workload(const HtsimMatrix *matrix, GError **error)
{
    uint32_t n = matrix->flows->len;
    g_autoptr(Workload) workload = workload_new(matrix->n_hosts);
    Plan plan = {.matrix = matrix,
                 .ops = g_array_new(FALSE, FALSE, sizeof(Planned)),
                 .edges = g_array_new(FALSE, FALSE, sizeof(Edge)),
                 .n_ops = g_new0(uint32_t, matrix->n_hosts),
                 .send = g_new(uint32_t, n + 1),
                 .recv = g_new(uint32_t, n + 1),
                 .acked = g_new(uint32_t, n + 1),
                 .starters = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref),
                 .bound = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref),
                 .tags = n};
    make(&plan, workload);
    g_array_unref(plan.ops);
    g_array_unref(plan.edges);
    g_free(plan.n_ops);
    g_free(plan.send);
    g_free(plan.recv);
    g_free(plan.acked);
    g_ptr_array_unref(plan.starters);
    g_ptr_array_unref(plan.bound);

    workload->description = g_strdup_printf("htsim, %s: %u flows", matrix->path, n);
    if (matrix->n_prio > 0)
        workload_note(workload, "the priorities of %u flows are not used", matrix->n_prio);
    if (!workload_check(workload, error)) {
        g_prefix_error(error, "%s: ", matrix->path);
        return NULL;
    }
    return g_steal_pointer(&workload);
}
