/* job.c - a job's iterations: who may begin which, their sums, and which of them count */
#include "cluster/memo.h"

#include "base/error.h"

uint64_t
job_scaled(const JobRun *job, uint64_t bytes)
{
    double scale = job->setup->scale_bytes;
    return scale == 1 ? bytes : (uint64_t)((double)bytes * scale);
}

gboolean
job_runs_until(const JobRun *job)
{
    return job->setup->until != INDEX_NONE && job->simulation->setup->only_job == INDEX_NONE;
}

uint32_t
job_told(const JobRun *job, uint32_t iteration)
{
    return iteration + job->simulation->skipped.iterations[job->index];
}

uint32_t
job_iterations_left(const JobRun *job)
{
    uint32_t most = job_runs_until(job) ? UINT32_MAX / 2 : job->setup->iterations, begun = job_told(job, job->asked);
    return most > begun ? most - begun : 0;
}

gboolean
job_may_begin(JobRun *job, uint32_t iteration)
{
    if (iteration < job->asked)
        return TRUE;
    if (job->leaving)
        return FALSE;
    if (job_runs_until(job) ? job->simulation->jobs[job->setup->until].end_ps >= 0
                            : job_told(job, iteration) >= job->setup->iterations)
        return FALSE;
    job->asked = iteration + 1;
    OpenIteration open = {.start_ps = engine_now(job->simulation->engine)};
    g_array_append_val(job->open, open);
    return TRUE;
}

/* Does an iteration that ends now lie wholly in the time in which all jobs run? */
static gboolean
all_jobs_ran(const Simulation *simulation, SimTime start_ps, SimTime end_ps)
{
    for (uint32_t j = 0; j < simulation->setup->n_jobs; j++) {
        const JobRun *job = &simulation->jobs[j];
        if (job->simulation == NULL)
            continue;
        if (job->start_ps < 0 || start_ps < job->start_ps || (job->end_ps >= 0 && job->end_ps < end_ps))
            return FALSE;
    }
    return TRUE;
}

void
job_tell_iteration(JobRun *job, const IterationRecord *told)
{
    const Simulation *simulation = job->simulation;
    const ClusterObserver *observer = &simulation->setup->observer;
    IterationRecord iteration = *told;
    iteration.counted = told->index >= job->setup->warmup &&
                        (!simulation->setup->common || all_jobs_ran(simulation, told->start_ps, told->end_ps));
    job->counted += iteration.counted ? 1 : 0;
    if (observer->iteration != NULL)
        observer->iteration(observer->owner, &iteration);
}

/* Means over ranks, rounded so that the four sum to the mean rank iteration rounded down. */
static void
tell_iteration(JobRun *job, const OpenIteration *open)
{
    SimTime mean[ACCOUNT_CLASSES], sum = 0, before = 0;
    for (AccountClass c = 0; c < ACCOUNT_CLASSES; c++) {
        sum += open->sum[c];
        mean[c] = sum / job->setup->workload->n_ranks - before;
        before += mean[c];
    }
    IterationRecord iteration = {.job = job->index,
                                 .index = job->first_open,
                                 .start_ps = open->start_ps,
                                 .end_ps = open->end_ps,
                                 .compute_ps = mean[ACCOUNT_COMPUTE],
                                 .exposed_wait_ps = mean[ACCOUNT_WAIT],
                                 .exposed_transfer_ps = mean[ACCOUNT_TRANSFER],
                                 .idle_ps = mean[ACCOUNT_IDLE]};
    if (job->simulation->tape != NULL)
        tape_iteration(job->simulation->tape, &iteration);
    else
        job_tell_iteration(job, &iteration);
}

void
job_iteration_ended(JobRun *job, const RankRun *rank)
{
    Simulation *simulation = job->simulation;
    SimTime now = engine_now(simulation->engine);
    OpenIteration *open = &g_array_index(job->open, OpenIteration, rank->iteration - job->first_open);
    for (AccountClass c = 0; c < ACCOUNT_CLASSES; c++)
        if (!sim_time_add(open->sum[c], rank->account.sum[c], &open->sum[c]))
            engine_fail(simulation->engine,
                        g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                                    "job %s: the times of all ranks of iteration %u sum to more than 106 days",
                                    job->setup->name, job_told(job, rank->iteration)));
    open->end_ps = MAX(open->end_ps, now);
    if (++open->ranks_ended < job->setup->workload->n_ranks)
        return;
    gboolean stuck = job_runs_until(job) && open->end_ps == open->start_ps;
    tell_iteration(job, open);
    g_array_remove_index(job->open, 0);
    job->first_open++;
    memo_iteration_ended(simulation->memo, job);
    if (stuck)
        engine_fail(simulation->engine,
                    g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                                "job %s: an iteration takes no time, so running it until job %s ends would never end",
                                job->setup->name, simulation->jobs[job->setup->until].setup->name));
}

uint32_t
job_settings(const JobRun *job, uint32_t group)
{
    const JobSetup *setup = job->setup;
    return group == INDEX_NONE || setup->settings_of_group == NULL ? setup->settings : setup->settings_of_group[group];
}

/* Has it done all that it came for? */
static gboolean
has_all(const JobRun *job)
{
    if (job_runs_until(job))
        return job->simulation->jobs[job->setup->until].end_ps >= 0;
    return job_iterations_left(job) == 0;
}

void
job_rank_ended(JobRun *job)
{
    const ClusterObserver *observer = &job->simulation->setup->observer;
    if (++job->ranks_ended < job->setup->workload->n_ranks)
        return;
    memo_break(job->simulation->memo);
    job->simulation->changed = TRUE;
    if (job->leaving && !has_all(job))
        return; /* it gives way */
    job->end_ps = simulation_now(job->simulation);
    job->stage = JOB_OVER;
    if (observer->job_ended != NULL)
        observer->job_ended(observer->owner, job->index, job->end_ps, job_told(job, job->first_open), "done");
    if (--job->simulation->jobs_left == 0)
        engine_stop(job->simulation->engine); /* faults still to come would only lengthen the run */
}

static void
add_times(Fingerprint *print, const SimTime *times)
{
    for (AccountClass c = 0; c < ACCOUNT_CLASSES; c++)
        fingerprint_add(print, (uint64_t)times[c]);
}

static void
add_rank(const JobRun *job, const RankRun *rank, SimTime now, Fingerprint *print)
{
    fingerprint_add(print, (uint64_t)(rank->iteration - job->first_open) << 1 | (rank->running ? 1 : 0));
    if (!rank->running)
        return;
    fingerprint_add(print, (uint64_t)(now - rank->account.since_ps));
    add_times(print, rank->account.sum);
    for (AccountClass c = 0; c < ACCOUNT_IDLE; c++)
        fingerprint_add(print, rank->account.running[c]);
    progress_fingerprint(rank->progress, print);
}

void
job_fingerprint(const JobRun *job, Fingerprint *print, SimTime *oldest)
{
    SimTime now = engine_now(job->simulation->engine);
    fingerprint_add(print, (uint64_t)(job->asked - job->first_open) << 32 | job->ranks_ended);
    for (guint i = 0; i < job->open->len; i++) {
        const OpenIteration *open = &g_array_index(job->open, OpenIteration, i);
        fingerprint_add(print, (uint64_t)(now - open->start_ps));
        fingerprint_add(print, open->ranks_ended > 0 ? (uint64_t)(now - open->end_ps) : 0);
        fingerprint_add(print, open->ranks_ended);
        add_times(print, open->sum);
    }
    for (uint32_t r = 0; r < job->setup->workload->n_ranks; r++)
        add_rank(job, &job->ranks[r], now, print);
    meetings_fingerprint(job->meetings, print, oldest);
    mailbox_fingerprint(job->mailbox, print);
}

double
job_weight(const JobRun *job, uint32_t group)
{
    const double *weights = job->setup->weight_of_group;
    return group == INDEX_NONE || weights == NULL ? 1 : weights[group];
}
