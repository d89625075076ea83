#include "cluster/run.h"

#include "base/error.h"

#include <math.h>

void
rank_account(RankRun *rank, AccountClass class, int change)
{
    account_change(&rank->account, engine_now(rank->job->simulation->engine), class, change);
}

static void
end_op_in(RankRun *rank, uint32_t op, SimTime delay)
{
    Simulation *simulation = rank->job->simulation;
    engine_schedule_in(
        simulation->engine, delay,
        (Event){.kind = simulation->kind_op_end, .target = rank->number, .sender = rank->number, .stamp = op});
}

void
rank_end_op_now(RankRun *rank, uint32_t op)
{
    end_op_in(rank, op, 0);
}

/* Peak and memory bandwidth of the GPU a rank runs on: the job's own figures before the node's. */
static void
roofline(const JobRun *job, uint32_t rank, double *peak_FLOPps, double *bandwidth_Bps)
{
    const JobSetup *setup = job->setup;
    const Node *node = fabric_node(job->simulation->setup->fabric, setup->nodes[rank]);
    *peak_FLOPps = setup->peak_FLOPps > 0 ? setup->peak_FLOPps : node->peak_FLOPps;
    *bandwidth_Bps = setup->memory_bandwidth_Bps > 0 ? setup->memory_bandwidth_Bps : node->memory_bandwidth_Bps;
}

/* duration x scale, rounded up; exact where the product is a whole number below 2^53. */
static gboolean
scaled(SimTime duration, double scale, SimTime *result)
{
    double product = ceil((double)duration * scale);
    if (!(product < 9.2e18))
        return FALSE;
    *result = scale == 1 ? duration : (SimTime)product;
    return TRUE;
}

/* Recorded time, else the roofline: max(operations / peak, bytes / memory bandwidth) (Williams, Waterman,
 * Patterson 2009), each rounded up; of compute, times compute_scale. */
static gboolean
op_duration(const JobRun *job, uint32_t rank, const Op *op, SimTime *duration)
{
    double scale = op->kind == OP_COMPUTE ? job->setup->compute_scale : 1;
    if (op->duration_ps >= 0)
        return scaled(op->duration_ps, scale, duration);
    double moved = op->kind == OP_COPY ? (double)op->bytes : op->bytes_moved, peak, bandwidth;
    SimTime operate = 0, move = 0;
    roofline(job, rank, &peak, &bandwidth);
    if (op->flops > 0 && !sim_time_from_bytes(op->flops, peak, &operate))
        return FALSE;
    if (moved > 0 && !sim_time_from_bytes(moved, bandwidth, &move))
        return FALSE;
    return scaled(MAX(operate, move), scale, duration);
}

static void
start_timed(RankRun *rank, uint32_t index, const Op *op)
{
    SimTime duration;
    if (!op_duration(rank->job, rank->rank, op, &duration)) {
        engine_fail(rank->job->simulation->engine,
                    g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                                "job %s rank %u: op \"%s\" lasts longer than 106 days", rank->job->setup->name,
                                rank->rank, script_op_name(rank->script, index)));
        return;
    }
    if (op->kind == OP_COMPUTE)
        rank_account(rank, ACCOUNT_COMPUTE, 1);
    end_op_in(rank, index, duration);
}

static void
start_op(RankRun *rank, uint32_t index)
{
    const Op *op = script_op(rank->script, index);
    switch (op->kind) {
    case OP_COMPUTE:
    case OP_HOST:
    case OP_COPY:
        start_timed(rank, index, op);
        break;
    case OP_COLLECTIVE:
        meetings_arrive(rank->job->meetings, rank, index);
        break;
    case OP_SEND:
        mailbox_send(rank->job->mailbox, rank, index);
        break;
    case OP_RECV:
        mailbox_receive(rank->job->mailbox, rank, index);
        break;
    case OP_ALLOC:
    case OP_FREE:
    case OP_MARKER:
        rank_end_op_now(rank, index);
        break;
    }
}

/* Starts all that may start. Ops end only by events, so nothing ends in here. */
static void
start_ready(RankRun *rank)
{
    for (uint32_t op = progress_next(rank->progress); op != INDEX_NONE; op = progress_next(rank->progress))
        start_op(rank, op);
}

/* The next iteration, or the end of this rank; a program without ops goes through all of them here. */
static void
begin_next(RankRun *rank)
{
    Simulation *simulation = rank->job->simulation;
    SimTime now = engine_now(simulation->engine);
    while (job_may_begin(rank->job, rank->iteration)) {
        rank->running = TRUE;
        account_open(&rank->account, now);
        progress_begin(rank->progress);
        start_ready(rank);
        if (!progress_done(rank->progress))
            return;
        job_iteration_ended(rank->job, rank);
        rank->iteration++;
    }
    rank->running = FALSE;
    job_rank_ended(rank->job);
}

void
rank_begin(RankRun *rank)
{
    begin_next(rank);
}

void
rank_op_ended(RankRun *rank, uint32_t op)
{
    if (script_op(rank->script, op)->kind == OP_COMPUTE)
        rank_account(rank, ACCOUNT_COMPUTE, -1);
    progress_end(rank->progress, op);
    if (!progress_done(rank->progress)) {
        start_ready(rank);
        return;
    }
    account_book(&rank->account, engine_now(rank->job->simulation->engine));
    job_iteration_ended(rank->job, rank);
    rank->iteration++;
    begin_next(rank);
}

/* What a timed op lacks on this GPU, or NULL. */
static const char *
missing_figure(const JobRun *job, uint32_t rank, const Op *op)
{
    if (op->duration_ps >= 0 || (op->kind != OP_COMPUTE && op->kind != OP_COPY))
        return NULL;
    double peak, bandwidth;
    roofline(job, rank, &peak, &bandwidth);
    if (op->kind == OP_COMPUTE && op->flops > 0 && !(peak > 0))
        return "peak";
    double moved = op->kind == OP_COPY ? (double)op->bytes : op->bytes_moved;
    return moved > 0 && !(bandwidth > 0) ? "memory_bandwidth" : NULL;
}

static gboolean
check_op(const JobRun *job, const Script *script, uint32_t rank, uint32_t index, GError **error)
{
    const Op *op = script_op(script, index);
    const char *missing = missing_figure(job, rank, op), *name = job->setup->name;
    if (missing != NULL)
        return error_input(error,
                           "job %s: op \"%s\" has no recorded time and its GPU \"%s\" no %s; give it in the job or in "
                           "fabric.generate.server.gpu",
                           name, script_op_name(script, index),
                           fabric_node(job->simulation->setup->fabric, job->setup->nodes[rank])->name, missing);
    if ((double)op->bytes * job->setup->scale_bytes > 0x1p60)
        return error_input(error, "job %s: op \"%s\": %" G_GUINT64_FORMAT " B times scale_bytes %g is more than 1 EiB",
                           name, script_op_name(script, index), op->bytes, job->setup->scale_bytes);
    return TRUE;
}

/* A rank of each program stands for all that run it. */
gboolean
rank_check_ops(const JobRun *job, GError **error)
{
    const Workload *workload = job->setup->workload;
    g_autofree gboolean *seen = g_new0(gboolean, workload->programs->len + 1);
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        uint32_t p = workload->program_of_rank[r];
        const Script *script = g_ptr_array_index(job->scripts, p);
        if (seen[p])
            continue;
        seen[p] = TRUE;
        if (script_n_ops(script) == 0 && job->setup->until != INDEX_NONE)
            return error_input(error, "job %s: rank %u has no ops, so running it until job %s ends would never end",
                               job->setup->name, r, job->simulation->setup->jobs[job->setup->until].name);
        for (uint32_t o = 0; o < script_n_ops(script); o++)
            if (!check_op(job, script, r, o, error))
                return FALSE;
    }
    return TRUE;
}
