#include "cluster/memo.h"
#include "cluster/tape.h"

#include "base/error.h"
#include "cluster/check.h"

#include <assert.h>

SimTime
simulation_now(const Simulation *simulation)
{
    return engine_now(simulation->engine) + simulation->skipped.time_ps;
}

/* Begins all its ranks: now, or when their recorded offsets, its launch and its shift have passed. */
static void
begin_ranks(JobRun *job, SimTime launch_ps)
{
    Simulation *simulation = job->simulation;
    const Workload *workload = job->setup->workload;
    gboolean offset = workload->start_ps != NULL && !job->setup->start_together && job->starts == 1;
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        SimTime delay = launch_ps + (offset ? workload->start_ps[r] : 0);
        if (simulation->hosts != NULL && delay == 0) {
            rank_begin(&job->ranks[r]); /* in the order of ranks: hosts serve their work in the order it comes */
            continue;
        }
        engine_schedule_in(simulation->engine, delay,
                           (Event){.kind = simulation->kind_rank_begin,
                                   .target = job->ranks[r].number,
                                   .sender = job->ranks[r].number});
    }
}

static void
on_job_start(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    JobRun *job = &simulation->jobs[event->target];
    const ClusterObserver *observer = &simulation->setup->observer;
    GError *error = NULL;
    SimTime now = simulation_now(simulation), launch = job->setup->shift_ps;
    if (simulation->scheduler != NULL)
        launch += simulation->setup->queue.launch_ps + (job->starts > 0 ? simulation->setup->queue.restart_ps : 0);
    job->stage = JOB_PLACED;
    job->placed_ps = now;
    if (job->start_ps < 0)
        job->start_ps = now;
    memo_break(simulation->memo);
    if (observer->job_started != NULL)
        observer->job_started(observer->owner, job->index, now, job->setup->nodes, job->setup->workload->n_ranks);
    if (job_open(job, &error))
        begin_ranks(job, launch);
    else
        engine_fail(simulation->engine, error);
}

static void
on_job_arrive(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    scheduler_arrived(simulation->scheduler, &simulation->jobs[event->target]);
}

/* Time to look at the queue again. */
static void
on_review(void *owner, const Event *event)
{
    ((Simulation *)owner)->changed = TRUE;
}

/* Jobs whose last rank has ended in this instant close; others get their GPUs. */
static void
settle(void *owner)
{
    Simulation *simulation = owner;
    if (!simulation->changed)
        return;
    simulation->changed = FALSE;
    for (guint i = simulation->open->len; i-- > 0;) {
        JobRun *job = &simulation->jobs[g_array_index(simulation->open, uint32_t, i)];
        if (job->ranks_ended < job->setup->workload->n_ranks)
            continue;
        job_close(job);
        if (simulation->scheduler != NULL)
            scheduler_left(simulation->scheduler, job);
    }
    ghosts_sweep(simulation, FALSE);
    if (simulation->scheduler != NULL)
        scheduler_settle(simulation->scheduler);
}

static void
on_rank_begin(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    RankRun *rank = simulation->ranks[event->target];
    if (rank != NULL) /* its job has closed */
        rank_begin(rank);
}

static void
on_op_start(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    RankRun *rank = simulation->ranks[event->target];
    if (rank != NULL)
        rank_op_start(rank, event->stamp);
}

static void
on_op_end(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    RankRun *rank = simulation->ranks[event->target];
    if (rank != NULL)
        rank_op_ended(rank, event->stamp);
}

static void
on_message_end(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    mailbox_message_ended(simulation->mailboxes->pdata[event->target], event->stamp);
}

static void
on_meeting_end(void *owner, const Event *event)
{
    meetings_done(owner, event->target);
}

static void
on_collective_done(void *owner, uint32_t cookie)
{
    meetings_done(owner, cookie);
}

static gboolean
on_watch(void *owner)
{
    Simulation *simulation = owner;
    const SimulationSetup *setup = simulation->setup;
    double done = 1;
    for (uint32_t j = 0; j < setup->n_jobs; j++)
        if (simulation->jobs[j].simulation != NULL && setup->jobs[j].iterations > 0)
            done = MIN(done, (double)job_told(&simulation->jobs[j], simulation->jobs[j].first_open) /
                                 setup->jobs[j].iterations);
    return setup->watch(setup->watch_owner, simulation_now(simulation), engine_events(simulation->engine), done);
}

/* Ranks are numbered over all jobs, so that a baseline has the numbers of the shared run. */
static gboolean
make_jobs(Simulation *simulation, GError **error)
{
    const SimulationSetup *setup = simulation->setup;
    for (uint32_t j = 0; j < setup->n_jobs; j++)
        simulation->n_ranks += setup->jobs[j].workload->n_ranks;
    simulation->jobs = g_new0(JobRun, setup->n_jobs);
    simulation->n_numbers = simulation->n_ranks + setup->n_jobs;
    simulation->ranks = g_new0(RankRun *, simulation->n_numbers + 1);
    uint32_t first_rank = 0;
    for (uint32_t j = 0; j < setup->n_jobs; j++) {
        JobRun *job = &simulation->jobs[j];
        job->own = setup->jobs[j];
        job->setup = &job->own;
        job->index = j;
        job->start_ps = job->end_ps = -1;
        job->first_number = first_rank;
        first_rank += setup->jobs[j].workload->n_ranks;
        uint32_t number = network_add_job(simulation->network, setup->jobs[j].name);
        assert(number == j);
        (void)number;
        if (setup->only_job != INDEX_NONE && setup->only_job != j)
            continue;
        job->simulation = simulation;
        job->open = g_array_new(FALSE, FALSE, sizeof(OpenIteration));
        simulation->jobs_left++;
        if (!job_check(job->setup, setup->jobs, setup->fabric, setup->model, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
pin_routes(Simulation *simulation, GError **error)
{
    const GPtrArray *pinned = simulation->setup->pinned;
    for (uint32_t i = 0; pinned != NULL && i < pinned->len; i++) {
        const GArray *chain = g_ptr_array_index(pinned, i);
        const uint32_t *links = (const uint32_t *)chain->data;
        const Fabric *fabric = simulation->setup->fabric;
        if (!routes_pin(simulation->routes, fabric_link(fabric, links[0])->src,
                        fabric_link(fabric, links[chain->len - 1])->dst, links, chain->len, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
make(Simulation *simulation, GError **error)
{
    const SimulationSetup *setup = simulation->setup;
    simulation->engine = engine_new(setup->seed);
    simulation->open = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    simulation->ghosts = g_ptr_array_new();
    simulation->mailboxes = g_ptr_array_new();
    simulation->routes = routes_new(setup->fabric, setup->routing);
    if (!pin_routes(simulation, error))
        return FALSE;
    simulation->kind_job_start = engine_add_kind(simulation->engine, on_job_start, simulation);
    simulation->kind_job_arrive = engine_add_kind(simulation->engine, on_job_arrive, simulation);
    simulation->kind_review = engine_add_kind(simulation->engine, on_review, simulation);
    simulation->kind_rank_begin = engine_add_kind(simulation->engine, on_rank_begin, simulation);
    simulation->kind_op_start = engine_add_kind(simulation->engine, on_op_start, simulation);
    simulation->kind_op_end = engine_add_kind(simulation->engine, on_op_end, simulation);
    simulation->kind_message_end = engine_add_kind(simulation->engine, on_message_end, simulation);
    simulation->kind_meeting_end = engine_add_kind(simulation->engine, on_meeting_end, simulation);
    simulation->skipped.iterations = g_new0(uint32_t, MAX(setup->n_jobs, 1));
    if (setup->memo)
        simulation->tape = tape_new(simulation);
    simulation->network = network_new(setup->model, &setup->network, simulation->routes, simulation->engine,
                                      setup->memo ? tape_observer(simulation->tape) : &setup->observer.network, error);
    if (simulation->network == NULL)
        return FALSE;
    clock_connect(simulation);
    if (setup->memo)
        simulation->memo = memo_new(simulation, simulation->tape);
    simulation->runner = collective_runner_new(simulation->network, simulation->engine, on_collective_done, simulation);
    simulation->meetings = g_ptr_array_new();
    simulation->free_meetings = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (setup->queue.policy != NULL)
        simulation->scheduler = scheduler_new(simulation);
    engine_add_settler(simulation->engine, settle, simulation);
    return make_jobs(simulation, error);
}

static void
schedule(Simulation *simulation)
{
    const SimulationSetup *setup = simulation->setup;
    for (uint32_t j = 0; j < setup->n_jobs; j++)
        if (simulation->jobs[j].simulation != NULL) {
            const JobSetup *job = &setup->jobs[j];
            gboolean waits = simulation->scheduler != NULL && job->nodes == NULL;
            engine_schedule(simulation->engine,
                            (Event){.when = waits ? job->arrival_ps : MAX(job->arrival_ps, job->start_ps),
                                    .kind = waits ? simulation->kind_job_arrive : simulation->kind_job_start,
                                    .target = j,
                                    .sender = simulation->n_ranks + j});
        }
    for (uint32_t i = 0; i < setup->n_faults; i++)
        network_set_link_at(simulation->network, setup->faults[i].link, setup->faults[i].rate_Bps,
                            setup->faults[i].at_ps);
    if (setup->watch != NULL)
        engine_set_watcher(simulation->engine, on_watch, simulation);
}

/* No event is left: every job must have ended. Else a RUN error that says who waits for what. */
static gboolean
check_ended(const Simulation *simulation, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    uint32_t unfinished = 0, lines_left = 12;
    for (uint32_t j = 0; j < simulation->setup->n_jobs; j++) {
        const JobRun *job = &simulation->jobs[j];
        if (job->simulation == NULL || job->end_ps >= 0)
            continue;
        unfinished += job->setup->workload->n_ranks - job->ranks_ended;
        if (job->ranks == NULL)
            continue;
        meetings_describe(job->meetings, text, &lines_left);
        mailbox_describe(job->mailbox, text, &lines_left);
    }
    if (simulation->scheduler != NULL)
        scheduler_describe(simulation->scheduler, text, &lines_left);
    if (unfinished == 0)
        return TRUE;
    if (text->len == 0)
        for (uint32_t i = 0; i < simulation->n_numbers && lines_left > 0; i++) {
            const RankRun *rank = simulation->ranks[i];
            if (rank == NULL || !rank->running)
                continue;
            g_string_append_printf(text, "\n  job %s: rank %u has ops left in iteration %u that nothing will start",
                                   rank->job->setup->name, rank->rank, rank->iteration);
            lines_left--;
        }
    g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                "no event is left, but %u ranks are not done (%u transfers in flight):%s", unfinished,
                network_in_flight(simulation->network), text->str);
    return FALSE;
}

/* Jobs that did not end are told with the status of the run. */
static void
tell_unfinished(const Simulation *simulation, const char *status)
{
    const ClusterObserver *observer = &simulation->setup->observer;
    for (uint32_t j = 0; j < simulation->setup->n_jobs && observer->job_ended != NULL; j++) {
        const JobRun *job = &simulation->jobs[j];
        if (job->simulation != NULL && job->end_ps < 0 && job->start_ps >= 0)
            observer->job_ended(observer->owner, j, -1, job_told(job, job->first_open), status);
    }
}

static void
unmake(Simulation *simulation)
{
    collective_runner_free(simulation->runner);
    network_free(simulation->network);
    routes_free(simulation->routes);
    engine_free(simulation->engine);
    if (simulation->meetings != NULL) {
        meetings_drop_open(simulation);
        g_ptr_array_unref(simulation->meetings);
        g_array_unref(simulation->free_meetings);
    }
    for (uint32_t j = 0; simulation->jobs != NULL && j < simulation->setup->n_jobs; j++)
        job_free(&simulation->jobs[j]);
    ghosts_sweep(simulation, TRUE);
    scheduler_free(simulation->scheduler);
    g_ptr_array_unref(simulation->ghosts);
    g_ptr_array_unref(simulation->mailboxes);
    g_array_unref(simulation->open);
    memo_free(simulation->memo);
    tape_free(simulation->tape);
    g_free(simulation->skipped.iterations);
    g_free(simulation->jobs);
    g_free(simulation->ranks);
}

static gboolean
play(Simulation *simulation, SimulationResult *result, GError **error)
{
    const SimulationSetup *setup = simulation->setup;
    GError *failure = NULL;
    if (!make(simulation, error))
        return FALSE;
    schedule(simulation);
    if (engine_run(simulation->engine, &failure))
        check_ended(simulation, &failure);
    network_finish(simulation->network);
    if (failure != NULL)
        tell_unfinished(simulation, failure->code == TRAINSHED_ERROR_INTERRUPTED ? "interrupted" : "failed");
    result->end_ps = simulation_now(simulation);
    result->skipped = memo_periods(simulation->memo);
    result->events = engine_events(simulation->engine);
    result->totals = network_totals(simulation->network);
    for (uint32_t j = 0; j < setup->n_jobs; j++)
        result->iterations[j] = simulation->jobs[j].first_open + simulation->skipped.iterations[j];
    for (uint32_t j = 0; j < setup->n_jobs; j++)
        result->counted[j] = simulation->jobs[j].counted;
    for (uint32_t j = 0; j < setup->n_jobs; j++) {
        result->start_ps[j] = simulation->jobs[j].start_ps;
        result->nodes[j] = g_steal_pointer(&simulation->jobs[j].first_nodes);
    }
    if (failure == NULL)
        return TRUE;
    g_propagate_error(error, failure);
    return FALSE;
}

gboolean
simulation_run(const SimulationSetup *setup, SimulationResult *result, GError **error)
{
    Simulation simulation = {.setup = setup};
    *result = (SimulationResult){.n_jobs = setup->n_jobs,
                                 .iterations = g_new0(uint32_t, MAX(setup->n_jobs, 1)),
                                 .counted = g_new0(uint32_t, MAX(setup->n_jobs, 1)),
                                 .start_ps = g_new0(SimTime, MAX(setup->n_jobs, 1)),
                                 .nodes = g_new0(uint32_t *, MAX(setup->n_jobs, 1))};
    gboolean done = play(&simulation, result, error);
    unmake(&simulation);
    return done;
}

void
simulation_result_clear(SimulationResult *result)
{
    for (uint32_t j = 0; result->nodes != NULL && j < result->n_jobs; j++)
        g_free(result->nodes[j]);
    g_free(result->nodes);
    g_free(result->start_ps);
    g_free(result->iterations);
    g_free(result->counted);
    *result = (SimulationResult){0};
}
