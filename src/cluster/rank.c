#include "cluster/run.h"

#include "base/error.h"
#include "cluster/check.h"

#include <math.h>

void
rank_account(RankRun *rank, AccountClass class, int change)
{
    account_change(&rank->account, engine_now(rank->job->simulation->engine), class, change);
}

void
rank_end_op_in(RankRun *rank, uint32_t op, SimTime delay)
{
    Simulation *simulation = rank->job->simulation;
    engine_schedule_in(
        simulation->engine, delay,
        (Event){.kind = simulation->kind_op_end, .target = rank->number, .sender = rank->number, .stamp = op});
}

void
rank_end_op_now(RankRun *rank, uint32_t op)
{
    rank_end_op_in(rank, op, 0);
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
    job_roofline(job->setup, job->simulation->setup->fabric, rank, &peak, &bandwidth);
    if (op->flops > 0 && !sim_time_from_bytes(op->flops, peak, &operate))
        return FALSE;
    if (moved > 0 && !sim_time_from_bytes(moved, bandwidth, &move))
        return FALSE;
    return scaled(MAX(operate, move), scale, duration);
}

SimTime
rank_op_duration(RankRun *rank, uint32_t index)
{
    SimTime duration = 0;
    if (!op_duration(rank->job, rank->rank, script_op(rank->script, index), &duration))
        engine_fail(rank->job->simulation->engine,
                    g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                                "job %s rank %u: op \"%s\" lasts longer than 106 days", rank->job->setup->name,
                                rank->rank, script_op_name(rank->script, index)));
    return duration;
}

static void
start_timed(RankRun *rank, uint32_t index, const Op *op)
{
    if (script_has_clock(rank->script, index)) {
        clock_queue(rank, index, HOST_COMPUTE);
        return;
    }
    if (op->kind == OP_COMPUTE)
        rank_account(rank, ACCOUNT_COMPUTE, 1);
    rank_end_op_in(rank, index, rank_op_duration(rank, index));
}

void
rank_op_start(RankRun *rank, uint32_t index)
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

/* An op without a clock waits for those with one until they let go of their CPU. */
static void
start_op(RankRun *rank, uint32_t index)
{
    Engine *engine = rank->job->simulation->engine;
    SimTime earliest =
        rank->let_go_ps != NULL && !script_has_clock(rank->script, index) ? clock_earliest(rank, index) : 0;
    if (earliest > engine_now(engine))
        engine_schedule(engine, (Event){.when = earliest,
                                        .kind = rank->job->simulation->kind_op_start,
                                        .target = rank->number,
                                        .sender = rank->number,
                                        .stamp = index});
    else
        rank_op_start(rank, index);
}

/* Starts all that may start. Ops end only by events, so nothing ends in here. */
void
rank_go_on(RankRun *rank)
{
    for (uint32_t op = progress_next(rank->progress); op != INDEX_NONE; op = progress_next(rank->progress))
        start_op(rank, op);
}

/* So many in a row that take no time, until another job ends, are endless: its time does not come. */
enum { MOST_TIMELESS = 1000 };

static gboolean
is_endless(RankRun *rank)
{
    const JobRun *job = rank->job;
    Simulation *simulation = job->simulation;
    rank->timeless = engine_now(simulation->engine) > rank->began_ps ? 0 : rank->timeless + 1;
    if (rank->timeless < MOST_TIMELESS || !job_runs_until(job))
        return FALSE;
    engine_fail(
        simulation->engine,
        g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                    "job %s: iterations of rank %u take no time, so running it until job %s ends would never end",
                    job->setup->name, rank->rank, simulation->jobs[job->setup->until].setup->name));
    return TRUE;
}

/* The next iteration, or the end of this rank; a program without ops goes through all of them here. */
static void
begin_next(RankRun *rank)
{
    Simulation *simulation = rank->job->simulation;
    SimTime now = engine_now(simulation->engine);
    while (job_may_begin(rank->job, rank->iteration)) {
        rank->running = TRUE;
        rank->began_ps = now;
        account_open(&rank->account, now);
        progress_begin(rank->progress);
        rank_go_on(rank);
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
        rank_go_on(rank);
        return;
    }
    account_book(&rank->account, engine_now(rank->job->simulation->engine));
    job_iteration_ended(rank->job, rank);
    rank->iteration++;
    if (!is_endless(rank))
        begin_next(rank);
}
