/* scheduler.c - jobs wait for GPUs, get some, and give them back
 *
 * Looked at once an instant in which a job arrived, ended or gave way, after all of it has happened: the waiting jobs
 * are put in the order of the policy, and each gets its GPUs by its own placement while there is room. What happens for
 * the first that finds none is the policy's (queue.h). */
#include "cluster/memo.h"

#include "base/units.h"

#include <assert.h>
#include <string.h>

struct Scheduler {
    Simulation *simulation;
    const QueueSetup *setup;
    gboolean *taken;   /* by node */
    uint32_t n_free;   /* GPUs */
    GArray *waiting;   /* of uint32_t: jobs */
    GArray *holding;   /* of uint32_t: jobs that have GPUs, in the order they got them */
    SimTime review_ps; /* when the queue is looked at again, as told; -1 = nothing is scheduled */
};

Scheduler *
scheduler_new(Simulation *simulation)
{
    Scheduler *scheduler = g_new0(Scheduler, 1);
    const Fabric *fabric = simulation->setup->fabric;
    scheduler->simulation = simulation;
    scheduler->setup = &simulation->setup->queue;
    scheduler->taken = g_new0(gboolean, fabric_n_nodes(fabric) + 1);
    fabric_gpus(fabric, &scheduler->n_free);
    scheduler->waiting = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    scheduler->holding = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    scheduler->review_ps = -1;
    return scheduler;
}

void
scheduler_free(Scheduler *scheduler)
{
    if (scheduler == NULL)
        return;
    g_array_unref(scheduler->waiting);
    g_array_unref(scheduler->holding);
    g_free(scheduler->taken);
    g_free(scheduler);
}

static uint32_t
gpus_of(const JobRun *job)
{
    return job->setup->workload->n_ranks;
}

static JobRun *
job_at(const Scheduler *scheduler, const GArray *list, guint i)
{
    return &scheduler->simulation->jobs[g_array_index(list, uint32_t, i)];
}

static void
remove_job(GArray *list, uint32_t job)
{
    for (guint i = 0; i < list->len; i++)
        if (g_array_index(list, uint32_t, i) == job) {
            g_array_remove_index(list, i);
            return;
        }
}

G_GNUC_PRINTF(4, 5)
static void
tell(const Scheduler *scheduler, const JobRun *job, const char *kind, const char *format, ...)
{
    const ClusterObserver *observer = &scheduler->simulation->setup->observer;
    if (observer->event == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    observer->event(observer->owner, simulation_now(scheduler->simulation), kind, job->setup->name, text);
}

/* As the policy sees it now. */
static QueueEntry
entry_of(const Scheduler *scheduler, const JobRun *job)
{
    const JobSetup *setup = job->setup;
    SimTime now = simulation_now(scheduler->simulation), held = job->stage == JOB_PLACED ? now - job->placed_ps : 0;
    SimTime ran = job->ran_ps + held;
    return (QueueEntry){.job = job->index,
                        .gpus = gpus_of(job),
                        .arrival_ps = setup->arrival_ps,
                        .left_ps = setup->estimate_ps > 0 ? MAX(0, setup->estimate_ps - ran) : -1,
                        .priority = setup->priority,
                        .served_s = job->served_s + (double)held / 1e12 * gpus_of(job),
                        .quantum_s = (double)scheduler->setup->quantum_gpu_ps / 1e12,
                        .restarts = job->starts > 0};
}

void
scheduler_arrived(Scheduler *scheduler, JobRun *job)
{
    tell(scheduler, job, "arrival", "%u GPUs asked for", gpus_of(job));
    job->stage = JOB_WAITING;
    job->waits_since_ps = simulation_now(scheduler->simulation);
    g_array_append_val(scheduler->waiting, job->index);
    scheduler->simulation->changed = TRUE;
}

void
scheduler_left(Scheduler *scheduler, JobRun *job)
{
    const ClusterObserver *observer = &scheduler->simulation->setup->observer;
    SimTime now = simulation_now(scheduler->simulation);
    remove_job(scheduler->holding, job->index);
    for (uint32_t r = 0; r < gpus_of(job); r++)
        scheduler->taken[job->nodes[r]] = FALSE;
    scheduler->n_free += gpus_of(job);
    job->served_s += (double)(now - job->placed_ps) / 1e12 * gpus_of(job);
    job->ran_ps += now - job->placed_ps;
    g_clear_pointer(&job->nodes, g_free);
    job->own.nodes = NULL;
    job->leaving = FALSE;
    if (job->stage == JOB_OVER) {
        tell(scheduler, job, "end", "%u iterations", job_told(job, job->first_open));
        return;
    }
    tell(scheduler, job, "preemption", "gives way after %u iterations", job_told(job, job->first_open));
    if (observer->job_stopped != NULL)
        observer->job_stopped(observer->owner, job->index, now, 0);
    job->stage = JOB_WAITING;
    job->waits_since_ps = now;
    g_array_append_val(scheduler->waiting, job->index);
}

/* Gives the job its GPUs where its placement finds them. */
static gboolean
place(Scheduler *scheduler, JobRun *job)
{
    Simulation *simulation = scheduler->simulation;
    const JobSetup *setup = job->setup;
    uint32_t n = gpus_of(job);
    if (n > scheduler->n_free)
        return FALSE;
    uint32_t *nodes = g_new(uint32_t, MAX(n, 1));
    if (!placement_choose(setup->placement, simulation->setup->fabric, setup->workload, setup->name,
                          simulation->setup->seed, scheduler->taken, nodes, NULL)) {
        g_free(nodes);
        return FALSE;
    }
    scheduler->n_free -= n;
    job->nodes = nodes;
    job->own.nodes = nodes;
    if (job->first_nodes == NULL)
        job->first_nodes = g_memdup2(nodes, MAX(n, 1) * sizeof *nodes);
    job->stage = JOB_PLACED;
    job->placed_ps = simulation_now(simulation);
    remove_job(scheduler->waiting, job->index);
    g_array_append_val(scheduler->holding, job->index);
    g_autofree char *waited = units_format_time(job->placed_ps - job->waits_since_ps);
    tell(scheduler, job, "start", "%u GPUs from %s on, waited %s", n,
         n > 0 ? fabric_node(simulation->setup->fabric, nodes[0])->name : "-", waited);
    engine_schedule_in(
        simulation->engine, 0,
        (Event){.kind = simulation->kind_job_start, .target = job->index, .sender = simulation->n_ranks + job->index});
    return TRUE;
}

typedef struct {
    const Scheduler *scheduler;
    int way; /* -1: the last first */
} Order;

static int
compare(gconstpointer a, gconstpointer b, gpointer data)
{
    const QueueEntry *x = a, *y = b;
    const Order *order = data;
    return order->way * queue_compare(order->scheduler->setup->policy, x, y);
}

/* Those of a list as entries, in the policy's order or against it. */
static GArray *
in_order(const Scheduler *scheduler, const GArray *list, int way)
{
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(QueueEntry));
    Order order = {scheduler, way};
    for (guint i = 0; i < list->len; i++) {
        QueueEntry entry = entry_of(scheduler, job_at(scheduler, list, i));
        g_array_append_val(entries, entry);
    }
    g_array_sort_with_data(entries, compare, &order);
    return entries;
}

/* Running jobs that come after this one in the policy are told to give way, the last first, as many as it takes. */
static void
make_room(Scheduler *scheduler, const QueueEntry *head)
{
    const QueuePolicy *policy = scheduler->setup->policy;
    g_autoptr(GArray) held = in_order(scheduler, scheduler->holding, -1);
    uint32_t room = scheduler->n_free;
    for (guint i = 0; i < held->len; i++) {
        const QueueEntry *entry = &g_array_index(held, QueueEntry, i);
        if (scheduler->simulation->jobs[entry->job].leaving || policy->compare(entry, head) > 0)
            room += entry->gpus;
    }
    if (room < head->gpus)
        return;
    room = scheduler->n_free;
    for (guint i = 0; i < held->len; i++)
        if (scheduler->simulation->jobs[g_array_index(held, QueueEntry, i).job].leaving)
            room += g_array_index(held, QueueEntry, i).gpus;
    for (guint i = 0; i < held->len && room < head->gpus; i++) {
        const QueueEntry *entry = &g_array_index(held, QueueEntry, i);
        JobRun *job = &scheduler->simulation->jobs[entry->job];
        if (job->leaving || policy->compare(entry, head) <= 0)
            continue;
        job->leaving = TRUE;
        memo_break(scheduler->simulation->memo);
        room += entry->gpus;
    }
}

/* EASY: when the first one will have its GPUs at the latest (its shadow), and how many more there will be then. */
static SimTime
shadow_of(const Scheduler *scheduler, const QueueEntry *head, uint32_t *extra)
{
    SimTime now = simulation_now(scheduler->simulation), shadow = now;
    uint32_t room = scheduler->n_free;
    g_autoptr(GArray) held = g_array_new(FALSE, FALSE, sizeof(QueueEntry));
    for (guint i = 0; i < scheduler->holding->len; i++) {
        QueueEntry entry = entry_of(scheduler, job_at(scheduler, scheduler->holding, i));
        guint at = held->len;
        while (at > 0 && g_array_index(held, QueueEntry, at - 1).left_ps > entry.left_ps)
            at--;
        g_array_insert_val(held, at, entry);
    }
    for (guint i = 0; i < held->len && room < head->gpus; i++) {
        room += g_array_index(held, QueueEntry, i).gpus;
        shadow = now + g_array_index(held, QueueEntry, i).left_ps;
    }
    *extra = room > head->gpus ? room - head->gpus : 0;
    return shadow;
}

/* Others start where they end before the shadow of the first, or leave it its GPUs. */
static void
backfill(Scheduler *scheduler, const GArray *entries, guint first)
{
    const QueueEntry *head = &g_array_index(entries, QueueEntry, first);
    uint32_t extra;
    SimTime now = simulation_now(scheduler->simulation), shadow = shadow_of(scheduler, head, &extra);
    for (guint i = first + 1; i < entries->len; i++) {
        const QueueEntry *entry = &g_array_index(entries, QueueEntry, i);
        gboolean in_time = now + entry->left_ps <= shadow;
        if ((in_time || entry->gpus <= extra) && place(scheduler, &scheduler->simulation->jobs[entry->job]) && !in_time)
            extra -= entry->gpus;
    }
}

/* Where the rank of a running job falls as it runs, the queue is looked at again then. */
static void
schedule_review(Scheduler *scheduler)
{
    Simulation *simulation = scheduler->simulation;
    const QueuePolicy *policy = scheduler->setup->policy;
    SimTime now = simulation_now(simulation), first = -1;
    if (policy->falls_at == NULL || scheduler->waiting->len == 0)
        return;
    for (guint i = 0; i < scheduler->holding->len; i++) {
        QueueEntry entry = entry_of(scheduler, job_at(scheduler, scheduler->holding, i));
        double falls_s = policy->falls_at(&entry);
        SimTime in;
        if (falls_s > 0 && sim_time_from_seconds((falls_s - entry.served_s) / MAX(entry.gpus, 1), &in) &&
            (first < 0 || now + in < first))
            first = now + in;
    }
    if (first < 0 || (scheduler->review_ps > now && scheduler->review_ps <= first))
        return;
    scheduler->review_ps = first = MAX(first, now + 1);
    engine_schedule_in(
        simulation->engine, first - now,
        (Event){.kind = simulation->kind_review, .sender = simulation->n_ranks + simulation->setup->n_jobs});
}

void
scheduler_settle(Scheduler *scheduler)
{
    const QueuePolicy *policy = scheduler->setup->policy;
    g_autoptr(GArray) entries = in_order(scheduler, scheduler->waiting, 1);
    for (guint i = 0; i < entries->len; i++) {
        const QueueEntry *entry = &g_array_index(entries, QueueEntry, i);
        if (place(scheduler, &scheduler->simulation->jobs[entry->job]))
            continue;
        if (policy->when_full == QUEUE_BACKFILLS)
            backfill(scheduler, entries, i);
        else if (policy->when_full == QUEUE_PREEMPTS)
            make_room(scheduler, entry);
        break;
    }
    schedule_review(scheduler);
}

void
scheduler_describe(const Scheduler *scheduler, GString *text, uint32_t *lines_left)
{
    for (guint i = 0; i<scheduler->waiting->len && * lines_left> 0; i++, (*lines_left)--)
        g_string_append_printf(text, "\n  job %s: waits for %u GPUs, %u are free",
                               job_at(scheduler, scheduler->waiting, i)->setup->name,
                               gpus_of(job_at(scheduler, scheduler->waiting, i)), scheduler->n_free);
}
