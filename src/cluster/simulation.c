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

static void
on_job_start(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    JobRun *job = &simulation->jobs[event->target];
    const Workload *workload = job->setup->workload;
    const ClusterObserver *observer = &simulation->setup->observer;
    job->start_ps = simulation_now(simulation);
    memo_break(simulation->memo);
    if (observer->job_started != NULL)
        observer->job_started(observer->owner, job->index, job->start_ps, job->setup->nodes, workload->n_ranks);
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        gboolean offset = workload->start_ps != NULL && !job->setup->start_together;
        if (simulation->hosts != NULL && (!offset || workload->start_ps[r] == 0)) {
            rank_begin(&job->ranks[r]); /* in the order of ranks: hosts serve their work in the order it comes */
            continue;
        }
        engine_schedule_in(simulation->engine, offset ? workload->start_ps[r] : 0,
                           (Event){.kind = simulation->kind_rank_begin,
                                   .target = job->ranks[r].number,
                                   .sender = job->ranks[r].number});
    }
}

static void
on_rank_begin(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    rank_begin(&simulation->ranks[event->target]);
}

static void
on_op_start(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    rank_op_start(&simulation->ranks[event->target], event->stamp);
}

static void
on_op_end(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    rank_op_ended(&simulation->ranks[event->target], event->stamp);
}

static void
on_message_end(void *owner, const Event *event)
{
    Simulation *simulation = owner;
    mailbox_message_ended(simulation->jobs[event->target].mailbox, event->stamp);
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

/* The job's ranks and what they share. Its collectives' room is there already. */
static gboolean
make_job(Simulation *simulation, JobRun *job, uint32_t first_rank, GError **error)
{
    const Workload *workload = job->setup->workload;
    job->simulation = simulation;
    simulation->jobs_left++;
    job->ranks = simulation->ranks + first_rank;
    job->scripts = g_ptr_array_new_with_free_func((GDestroyNotify)script_free);
    job->open = g_array_new(FALSE, FALSE, sizeof(OpenIteration));
    for (uint32_t p = 0; p < workload->programs->len; p++)
        g_ptr_array_add(job->scripts, script_new(workload_program(workload, p), simulation->hosts != NULL));
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        const Script *script = g_ptr_array_index(job->scripts, workload->program_of_rank[r]);
        job->ranks[r] = (RankRun){
            .job = job, .rank = r, .number = first_rank + r, .script = script, .progress = progress_new(script)};
        if (simulation->hosts != NULL)
            job->ranks[r].let_go_ps = g_new0(SimTime, script_n_ops(script) + 1);
    }
    job->meetings = meetings_new(job);
    job->mailbox = mailbox_new(job);
    return job_check(simulation->setup->jobs, job->index, simulation->setup->fabric, simulation->setup->model, error);
}

/* Ranks are numbered over all jobs, so that a baseline has the numbers of the shared run. */
static gboolean
make_jobs(Simulation *simulation, GError **error)
{
    const SimulationSetup *setup = simulation->setup;
    uint32_t first_rank = 0;
    for (uint32_t j = 0; j < setup->n_jobs; j++)
        simulation->n_ranks += setup->jobs[j].workload->n_ranks;
    simulation->jobs = g_new0(JobRun, setup->n_jobs);
    simulation->ranks = g_new0(RankRun, MAX(simulation->n_ranks, 1));
    for (uint32_t j = 0; j < setup->n_jobs; j++) {
        JobRun *job = &simulation->jobs[j];
        job->setup = &setup->jobs[j];
        job->index = j;
        job->start_ps = job->end_ps = -1;
        uint32_t number = network_add_job(simulation->network, setup->jobs[j].name);
        assert(number == j);
        (void)number;
        if (setup->only_job == INDEX_NONE || setup->only_job == j)
            if (!make_job(simulation, job, first_rank, error))
                return FALSE;
        first_rank += setup->jobs[j].workload->n_ranks;
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
    simulation->routes = routes_new(setup->fabric, setup->routing);
    if (!pin_routes(simulation, error))
        return FALSE;
    simulation->kind_job_start = engine_add_kind(simulation->engine, on_job_start, simulation);
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
    return make_jobs(simulation, error);
}

static void
schedule(Simulation *simulation)
{
    const SimulationSetup *setup = simulation->setup;
    for (uint32_t j = 0; j < setup->n_jobs; j++)
        if (simulation->jobs[j].simulation != NULL)
            engine_schedule(simulation->engine, (Event){.when = setup->jobs[j].arrival_ps,
                                                        .kind = simulation->kind_job_start,
                                                        .target = j,
                                                        .sender = simulation->n_ranks + j});
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
        meetings_describe(job->meetings, text, &lines_left);
        mailbox_describe(job->mailbox, text, &lines_left);
    }
    if (unfinished == 0)
        return TRUE;
    if (text->len == 0)
        for (uint32_t r = 0; r < simulation->n_ranks && lines_left > 0; r++)
            if (simulation->ranks[r].running) {
                g_string_append_printf(text, "\n  job %s: rank %u has ops left in iteration %u that nothing will start",
                                       simulation->ranks[r].job->setup->name, simulation->ranks[r].rank,
                                       simulation->ranks[r].iteration);
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
    for (uint32_t j = 0; simulation->jobs != NULL && j < simulation->setup->n_jobs; j++) {
        JobRun *job = &simulation->jobs[j];
        if (job->simulation == NULL)
            continue;
        meetings_free(job->meetings);
        mailbox_free(job->mailbox);
        for (uint32_t r = 0; r < job->setup->workload->n_ranks; r++) {
            progress_free(job->ranks[r].progress);
            g_free(job->ranks[r].let_go_ps);
        }
        g_ptr_array_unref(job->scripts);
        g_array_unref(job->open);
    }
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
    if (failure == NULL)
        return TRUE;
    g_propagate_error(error, failure);
    return FALSE;
}

gboolean
simulation_run(const SimulationSetup *setup, SimulationResult *result, GError **error)
{
    Simulation simulation = {.setup = setup};
    *result = (SimulationResult){.iterations = g_new0(uint32_t, MAX(setup->n_jobs, 1)),
                                 .counted = g_new0(uint32_t, MAX(setup->n_jobs, 1))};
    gboolean done = play(&simulation, result, error);
    unmake(&simulation);
    return done;
}

void
simulation_result_clear(SimulationResult *result)
{
    g_free(result->iterations);
    g_free(result->counted);
    *result = (SimulationResult){0};
}
