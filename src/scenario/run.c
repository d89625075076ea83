#include "config.h"

#include "scenario/run.h"

#include "base/error.h"
#include "base/units.h"
#include "network/transport.h"
#include "results/recorder.h"
#include "scenario/setup.h"

#include <string.h>

/* One run into the database: the shared one, or a job alone. */
typedef struct {
    const Setup *setup;
    const RunOptions *options;
    ResultsDb *db;
    const char *text;               /* of the scenario */
    uint32_t only_job;              /* INDEX_NONE = shared */
    int64_t parent;                 /* -1 = none */
    const SimulationResult *shared; /* alone: as many iterations, from the same start on the same GPUs; else NULL */
    char *phase;
    Recorder *recorder; /* of the run under way */
} Task;

static gboolean
watch(void *owner, SimTime now, uint64_t events, double done)
{
    Task *task = owner;
    recorder_tick(task->recorder);
    return task->options->watch == NULL ||
           task->options->watch(task->options->watch_owner, task->phase, now, events, done);
}

static ResultsLevel
results_level(RecordLevel level)
{
    switch (level) {
    case RECORD_SUMMARY:
        return RESULTS_SUMMARY;
    case RECORD_ITERATIONS:
        return RESULTS_ITERATIONS;
    case RECORD_COLLECTIVES:
        return RESULTS_COLLECTIVES;
    case RECORD_FLOWS:
    case RECORD_PACKETS:
        break;
    }
    return RESULTS_FLOWS;
}

static Recorder *
begin_recording(const Task *task, GError **error)
{
    const Scenario *scenario = task->setup->scenario;
    g_autofree JobInfo *jobs = g_new0(JobInfo, scenario->n_jobs + 1);
    for (uint32_t j = 0; j < scenario->n_jobs; j++) {
        const JobSpec *spec = &scenario->jobs[j];
        jobs[j] = (JobInfo){.name = spec->name,
                            .gpus = task->setup->workloads[j]->n_ranks,
                            .iterations = spec->iterations,
                            .arrival_ps = spec->arrival_ps,
                            .warmup = spec->warmup,
                            .scale_bytes = spec->scale_bytes,
                            .compute_scale = spec->compute_scale,
                            .present = task->only_job == INDEX_NONE || task->only_job == j};
    }
    RunInfo run = {.name = scenario->name,
                   .role = task->only_job == INDEX_NONE ? "shared" : "alone",
                   .parent_run_id = task->parent,
                   .scenario = task->text,
                   .seed = scenario->seed,
                   .version = PACKAGE_VERSION,
                   .model = scenario->model};
    return recorder_begin(task->db, &run, task->setup->fabric, jobs, scenario->n_jobs, results_level(scenario->record),
                          error);
}

static SimulationSetup
simulation_setup(Task *task, const JobSetup *jobs, const ClusterObserver *observer)
{
    const Scenario *scenario = task->setup->scenario;
    SimulationSetup setup = {.model = scenario->model,
                             .network = network_config_default(),
                             .seed = scenario->seed,
                             .fabric = task->setup->fabric,
                             .routing = scenario->routing,
                             .pinned = task->setup->pinned,
                             .jobs = jobs,
                             .n_jobs = scenario->n_jobs,
                             .only_job = task->only_job,
                             .common = scenario->measure == MEASURE_COMMON,
                             .memo = scenario->memo,
                             .collectives_alone = scenario->record >= RECORD_COLLECTIVES,
                             .faults = task->setup->faults,
                             .n_faults = task->setup->n_faults,
                             .observer = *observer,
                             .watch = watch,
                             .watch_owner = task};
    setup.network.seed = scenario->seed;
    setup.network.bucket_ps = scenario->bucket_ps;
    setup.network.books = TRUE;
    setup.network.collisions = scenario->collisions;
    setup.network.payload_fraction = scenario->payload_fraction;
    memcpy(setup.network.limits, scenario->limits, sizeof setup.network.limits);
    setup.network.settings = (const PathLimit(*)[PATH_LEVELS])task->setup->settings;
    setup.network.n_settings = task->setup->n_settings;
    setup.network.reroute_delay_ps = scenario->reroute_delay_ps;
    setup.network.loggops = scenario->loggops;
    setup.network.packet = scenario->packet;
    if (task->only_job == INDEX_NONE)
        setup.queue = (QueueSetup){.policy = scenario->queue.policy,
                                   .launch_ps = scenario->queue.launch_ps,
                                   .restart_ps = scenario->queue.restart_ps,
                                   .quantum_gpu_ps = scenario->queue.quantum_ps};
    return setup;
}

/* Links that changed while the run went on. */
static void
tell_faults(const Task *task, const ClusterObserver *observer, SimTime end_ps)
{
    for (uint32_t i = 0; i < task->setup->n_faults; i++) {
        const FaultSetup *fault = &task->setup->faults[i];
        const Link *link = fabric_link(task->setup->fabric, fault->link);
        if (fault->at_ps > end_ps)
            continue;
        g_autofree char *rate = units_format_rate(fault->rate_Bps);
        g_autofree char *subject = g_strdup_printf("%s -> %s", fabric_node(task->setup->fabric, link->src)->name,
                                                   fabric_node(task->setup->fabric, link->dst)->name);
        g_autofree char *text = g_strdup_printf("link %u: rate set to %s", fault->link, rate);
        observer->event(observer->owner, fault->at_ps, "fault", subject, text);
    }
}

/* What is worth saying but stops nothing, as rows of event. */
static void
tell_notes(const Task *task, const ClusterObserver *observer, const SimulationResult *result)
{
    const Scenario *scenario = task->setup->scenario;
    void *owner = observer->owner;
    tell_faults(task, observer, result->end_ps);
    for (uint32_t j = 0; j < scenario->n_jobs; j++) {
        const GPtrArray *notes = task->setup->workloads[j]->notes;
        if (task->only_job != INDEX_NONE && task->only_job != j)
            continue;
        for (uint32_t i = 0; i < notes->len; i++)
            observer->event(owner, 0, "note", scenario->jobs[j].name, g_ptr_array_index(notes, i));
        if (result->counted[j] == 0)
            observer->event(
                owner, result->end_ps, "warning", scenario->jobs[j].name,
                "no iteration counts for its mean (all are warm-up, or none lies wholly in the time in which "
                "all jobs run; see measure)");
    }
    if (strcmp(scenario->model, "recorded") == 0)
        return;
    if (result->totals.bytes == 0)
        observer->event(owner, result->end_ps, "warning", "network", "nothing was sent");
    else if (strcmp(scenario->model, "fluid") == 0 && !result->totals.saturated)
        observer->event(owner, result->end_ps, "warning", "network", "no link ever filled");
}

static void
tell_setting(void *owner, const char *key, const char *text)
{
    const ClusterObserver *observer = owner;
    g_autofree char *subject = g_strdup_printf("network.transport.%s", key);
    observer->event(observer->owner, 0, "setting", subject, text);
}

/* The transport of a packet run, with each of its parameters in force: defaults may be others in another version. */
static void
tell_transport(const Scenario *scenario, const ClusterObserver *observer)
{
    if (strcmp(scenario->model, "packet") != 0)
        return;
    const PacketConfig *packet = &scenario->packet;
    tell_setting((void *)(uintptr_t)observer, "name", packet->transport);
    transport_each_parameter(packet->transport, packet->settings, packet->n_settings, tell_setting,
                             (void *)(uintptr_t)observer);
}

static const char *
status_of(const GError *failure)
{
    if (failure == NULL)
        return "done";
    return g_error_matches(failure, TRAINSHED_ERROR, TRAINSHED_ERROR_INTERRUPTED) ? "interrupted" : "failed";
}

/* As many iterations as in the shared run and, where the queue placed it, its first GPUs and its start. */
static void
as_shared(const Task *task, JobSetup *job, uint32_t index)
{
    const SimulationResult *shared = task->shared;
    job->iterations = shared->iterations[index];
    if (shared->nodes[index] == NULL)
        return;
    job->nodes = shared->nodes[index];
    job->start_ps = shared->start_ps[index];
    job->shift_ps += task->setup->scenario->queue.launch_ps;
}

static gboolean
perform(Task *task, SimulationResult *result, int64_t *run_id, GError **error)
{
    gint64 began = g_get_monotonic_time();
    const Scenario *scenario = task->setup->scenario;
    Recorder *recorder = task->recorder = begin_recording(task, error);
    if (recorder == NULL)
        return FALSE;
    if (run_id != NULL)
        *run_id = recorder_run_id(recorder);
    g_autofree JobSetup *jobs = g_memdup2(task->setup->jobs, (scenario->n_jobs + 1) * sizeof(JobSetup));
    for (uint32_t j = 0; task->shared != NULL && j < scenario->n_jobs; j++)
        as_shared(task, &jobs[j], j);
    const ClusterObserver *observer = recorder_observer(recorder);
    tell_transport(scenario, observer);
    SimulationSetup setup = simulation_setup(task, jobs, observer);
    GError *failure = NULL, *unwritten = NULL;
    simulation_run(&setup, result, &failure);
    tell_notes(task, observer, result);
    if (failure != NULL)
        observer->event(observer->owner, result->end_ps, "error", task->phase, failure->message);
    double wall_s = (double)(g_get_monotonic_time() - began) / 1e6;
    if (!recorder_end(recorder, status_of(failure), result->end_ps, result->events, wall_s, &unwritten)) {
        g_clear_error(&failure);
        failure = unwritten;
    }
    if (failure == NULL)
        return TRUE;
    g_propagate_error(error, failure);
    return FALSE;
}

static gboolean
perform_alone(Task *task, const SimulationResult *shared, GError **error)
{
    const Scenario *scenario = task->setup->scenario;
    task->shared = shared;
    for (uint32_t j = 0; j < scenario->n_jobs; j++) {
        SimulationResult result = {0};
        if (shared->iterations[j] == 0 && shared->nodes[j] == NULL && scenario->queue.policy != NULL)
            continue; /* it never had GPUs */
        g_free(task->phase);
        task->phase = g_strdup_printf("alone %s", scenario->jobs[j].name);
        task->only_job = j;
        gboolean done = perform(task, &result, NULL, error);
        simulation_result_clear(&result);
        if (!done) {
            g_prefix_error(error, "job %s alone: ", scenario->jobs[j].name);
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
scenario_run(const Scenario *scenario, const RunOptions *options, int64_t *run_id, GError **error)
{
    g_autoptr(Setup) setup = setup_new(scenario, error);
    if (setup == NULL)
        return FALSE;
    g_autoptr(ResultsDb) db = results_open(options->database, error);
    if (db == NULL)
        return FALSE;
    g_autofree char *text = yaml_tree_print(scenario->tree);
    SimulationResult result = {0};
    Task task = {.setup = setup,
                 .options = options,
                 .db = db,
                 .text = text,
                 .only_job = INDEX_NONE,
                 .parent = -1,
                 .phase = g_strdup("shared")};
    gboolean done = perform(&task, &result, run_id, error);
    task.parent = *run_id;
    if (done && scenario->baseline)
        done = perform_alone(&task, &result, error);
    simulation_result_clear(&result);
    g_free(task.phase);
    return results_close(g_steal_pointer(&db), done ? error : NULL) && done;
}
