/* goal_nodes.c - a schedule whose ranks are nodes: each NIC of a rank becomes a GPU, a rank of its own
 *
 * ATLAHS's first NCCL traces are of this kind; its network numbers (rank, NIC) as rank x NICs + NIC, and so are ours. A
 * message is the GPU's whose NIC it names; calc is that of the first message of its rank on the same CPU, or the
 * first's where there is none. An edge between two GPUs of a node becomes a signal. */
#include "workload/goal_program.h"

/* Of one GPU of the node. */
typedef struct {
    GArray *ops;   /* of Op */
    GArray *edges; /* of GoalEdge, indexes of ops */
} Gpu;

uint32_t
goal_nics(const GoalSchedule *schedule)
{
    uint32_t most = 0;
    for (uint32_t r = 0; r < schedule->n_ranks; r++)
        for (uint32_t o = 0; o < schedule->ops[r]->len; o++)
            most = MAX(most, g_array_index(schedule->ops[r], GoalOp, o).nic);
    return most + 1;
}

/* The GPU of each op of a rank. The caller frees it. */
static uint32_t *
gpus_of(const GArray *ops)
{
    uint32_t of_cpu[256] = {0}, *gpus = g_new(uint32_t, (gsize)ops->len + 1);
    gboolean seen[256] = {FALSE};
    for (uint32_t o = 0; o < ops->len; o++) {
        const GoalOp *op = &g_array_index(ops, GoalOp, o);
        if (op->kind == GOAL_CALC || seen[op->cpu])
            continue;
        seen[op->cpu] = TRUE;
        of_cpu[op->cpu] = op->nic;
    }
    for (uint32_t o = 0; o < ops->len; o++) {
        const GoalOp *op = &g_array_index(ops, GoalOp, o);
        gpus[o] = op->kind == GOAL_CALC ? of_cpu[op->cpu] : op->nic;
    }
    return gpus;
}

static uint32_t
add(Gpu *gpu, Op op)
{
    g_array_append_val(gpu->ops, op);
    return gpu->ops->len - 1;
}

/* The end, or the beginning, of an op of one GPU told to another; the op there that has it. */
static uint32_t
add_signal(Gpu *gpus, uint32_t first_rank, uint32_t from, uint32_t to, GoalEdge edge, uint64_t number)
{
    Op send = op_default(OP_SEND);
    send.signal = TRUE;
    send.peer_form = PEER_RANK;
    send.tag = UINT64_C(1) << 63 | number;
    Op recv = send;
    recv.kind = OP_RECV;
    send.peer = (int32_t)(first_rank + to);
    recv.peer = (int32_t)(first_rank + from);
    edge.op = add(&gpus[from], send);
    g_array_append_val(gpus[from].edges, edge);
    return add(&gpus[to], recv);
}

void
goal_make_node(const GoalSchedule *schedule, Workload *workload, uint32_t rank, uint32_t n_nics, uint64_t *signals)
{
    const GArray *ops = schedule->ops[rank], *edges = schedule->edges[rank];
    uint32_t first_rank = rank * n_nics;
    g_autofree uint32_t *gpu_of = gpus_of(ops), *local = g_new(uint32_t, (gsize)ops->len + 1);
    g_autofree Gpu *gpus = g_new(Gpu, n_nics);
    g_autofree GoalMaker *makers = g_new(GoalMaker, n_nics);
    for (uint32_t g = 0; g < n_nics; g++) {
        gpus[g] = (Gpu){g_array_new(FALSE, FALSE, sizeof(Op)), g_array_new(FALSE, FALSE, sizeof(GoalEdge))};
        goal_maker_begin(&makers[g], workload, first_rank + g);
    }
    for (uint32_t o = 0; o < ops->len; o++) {
        Op op = goal_op(&makers[gpu_of[o]], &g_array_index(ops, GoalOp, o));
        if (op.kind != OP_COMPUTE && op.peer_form == PEER_RANK)
            op.peer = op.peer * (int32_t)n_nics + op.nic;
        op.nic = 0;
        local[o] = add(&gpus[gpu_of[o]], op);
    }
    for (uint32_t e = 0; e < edges->len; e++) {
        const GoalEdge *edge = &g_array_index(edges, GoalEdge, e);
        uint32_t from = gpu_of[edge->before], to = gpu_of[edge->op];
        GoalEdge ours = {local[edge->op], local[edge->before], edge->begun};
        if (from != to)
            ours = (GoalEdge){local[edge->op], add_signal(gpus, first_rank, from, to, ours, (*signals)++), FALSE};
        g_array_append_val(gpus[to].edges, ours);
    }
    for (uint32_t g = 0; g < n_nics; g++) {
        goal_maker_end(&makers[g], (const Op *)(const void *)gpus[g].ops->data, gpus[g].ops->len, gpus[g].edges);
        g_array_unref(gpus[g].ops);
        g_array_unref(gpus[g].edges);
    }
}
