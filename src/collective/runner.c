#include "collective/run.h"
#include "network/hold.h"

#include <assert.h>

/* A message in flight, or a reduction: what its cookie means. */
typedef struct {
    uint32_t run; /* handle; next free slot where it is free */
    uint32_t node, step;
} Slot;

struct CollectiveRunner {
    Network *network;
    Engine *engine;
    CollectiveDone done;
    void *owner;
    uint32_t client, kind_done, kind_reduced, kind_wake;
    uint32_t alarms; /* stamps given */
    PlanCache *plans;
    GPtrArray *runs;   /* of Run, by handle; NULL where it is free */
    GArray *free_runs; /* of uint32_t */
    GArray *slots;
    uint32_t free_slot;
};

static uint32_t
take_slot(CollectiveRunner *runner, Slot slot)
{
    uint32_t index = runner->free_slot;
    if (index == INDEX_NONE) {
        g_array_append_val(runner->slots, slot);
        return runner->slots->len - 1;
    }
    Slot *free = &g_array_index(runner->slots, Slot, index);
    runner->free_slot = free->run;
    *free = slot;
    return index;
}

static Slot
drop_slot(CollectiveRunner *runner, uint32_t index)
{
    Slot *slot = &g_array_index(runner->slots, Slot, index), was = *slot;
    slot->run = runner->free_slot;
    runner->free_slot = index;
    return was;
}

static Run *
run_at(CollectiveRunner *runner, uint32_t handle)
{
    assert(handle < runner->runs->len && runner->runs->pdata[handle] != NULL);
    return runner->runs->pdata[handle];
}

Network *
run_network(const Run *run)
{
    return run->runner->network;
}

SimTime
run_now(const Run *run)
{
    return engine_now(run->runner->engine);
}

void
run_fail(Run *run, GError *error)
{
    engine_fail(run->runner->engine, error);
}

void
run_send(Run *run, const Transfer *transfer, uint32_t node, uint32_t step)
{
    CollectiveRunner *runner = run->runner;
    uint32_t slot = take_slot(runner, (Slot){run->handle, node, step});
    GError *error = NULL;
    if (!network_send(runner->network, runner->client, transfer, slot, &error))
        run_fail(run, error);
}

void
run_send_begun(Run *run, const Transfer *transfer, SimTime begun_ps, uint32_t node, uint32_t step)
{
    CollectiveRunner *runner = run->runner;
    uint32_t slot = take_slot(runner, (Slot){run->handle, node, step});
    GError *error = NULL;
    if (!network_send_begun(runner->network, runner->client, transfer, begun_ps, slot, &error))
        run_fail(run, error);
}

void
run_send_bundle(Run *run, const Bundle *bundle, uint32_t node)
{
    CollectiveRunner *runner = run->runner;
    uint32_t slot = take_slot(runner, (Slot){run->handle, node, 0});
    GError *error = NULL;
    if (!network_send_bundle(runner->network, runner->client, bundle, slot, &error))
        run_fail(run, error);
}

void
run_pause(Run *run, SimTime delay, uint32_t node, uint32_t step)
{
    CollectiveRunner *runner = run->runner;
    uint32_t slot = take_slot(runner, (Slot){run->handle, node, step});
    engine_schedule_in(runner->engine, delay,
                       (Event){.kind = runner->kind_reduced, .target = slot, .sender = run->handle});
}

void
run_reduce(Run *run, uint64_t bytes, uint32_t node, uint32_t step)
{
    SimTime delay;
    if (!sim_time_from_seconds(run->config->reduce_cost_s_per_B * (double)bytes, &delay))
        delay = SIM_TIME_MAX; /* the engine refuses it */
    run_pause(run, delay, node, step);
}

void
run_wake_in(Run *run, SimTime delay)
{
    CollectiveRunner *runner = run->runner;
    assert(run->alarm == 0);
    if (++runner->alarms == 0)
        runner->alarms = 1;
    run->alarm = runner->alarms;
    engine_schedule_in(
        runner->engine, delay,
        (Event){.kind = runner->kind_wake, .target = run->handle, .sender = run->handle, .stamp = run->alarm});
}

void
run_wake_cancel(Run *run)
{
    if (run->alarm != 0)
        engine_abandon(run->runner->engine, 1);
    run->alarm = 0;
}

void
run_check(Run *run)
{
    if (run->left > 0 || run->n_arrived < run->spec.n || run->ended)
        return;
    run->ended = TRUE;
    engine_schedule_in(run->runner->engine, 0,
                       (Event){.kind = run->runner->kind_done, .target = run->handle, .sender = run->handle});
}

static void
moment(void *owner, uint32_t cookie, NetworkMoment what)
{
    CollectiveRunner *runner = owner;
    Slot slot = g_array_index(runner->slots, Slot, cookie);
    Run *run = run_at(runner, slot.run);
    if (what == NETWORK_SENT) {
        run->way->sent(run, slot.node, slot.step);
        return;
    }
    drop_slot(runner, cookie);
    uint64_t bytes = run->config->reduce_cost_s_per_B > 0 ? run->way->reduces(run, slot.node, slot.step) : 0;
    if (bytes > 0)
        run_reduce(run, bytes, slot.node, slot.step);
    else
        run->way->delivered(run, slot.node, slot.step);
}

static void
on_reduced(void *owner, const Event *event)
{
    CollectiveRunner *runner = owner;
    Slot slot = drop_slot(runner, event->target);
    Run *run = run_at(runner, slot.run);
    run->way->delivered(run, slot.node, slot.step);
}

static void
on_wake(void *owner, const Event *event)
{
    CollectiveRunner *runner = owner;
    Run *run = event->target < runner->runs->len ? runner->runs->pdata[event->target] : NULL;
    if (run == NULL || run->alarm != event->stamp) {
        engine_abandon(runner->engine, -1); /* cancelled */
        return;
    }
    run->alarm = 0;
    run->way->woken(run);
}

static void
run_free(Run *run)
{
    if (run->state != NULL)
        run->way->stop(run);
    plan_cache_release(run->plan);
    g_free(run);
}

static void
on_done(void *owner, const Event *event)
{
    CollectiveRunner *runner = owner;
    Run *run = run_at(runner, event->target);
    uint32_t cookie = run->cookie;
    runner->runs->pdata[event->target] = NULL;
    g_array_append_val(runner->free_runs, event->target);
    run_free(run);
    runner->done(runner->owner, cookie);
}

CollectiveRunner *
collective_runner_new(Network *network, Engine *engine, CollectiveDone done, void *owner)
{
    CollectiveRunner *runner = g_new0(CollectiveRunner, 1);
    runner->network = network;
    runner->engine = engine;
    runner->done = done;
    runner->owner = owner;
    runner->client = network_add_client(network, moment, runner);
    runner->kind_done = engine_add_kind(engine, on_done, runner);
    runner->kind_reduced = engine_add_kind(engine, on_reduced, runner);
    runner->kind_wake = engine_add_kind(engine, on_wake, runner);
    runner->plans = plan_cache_new(network, network_fabric(network));
    runner->runs = g_ptr_array_new();
    runner->free_runs = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    runner->slots = g_array_new(FALSE, FALSE, sizeof(Slot));
    runner->free_slot = INDEX_NONE;
    return runner;
}

void
collective_runner_free(CollectiveRunner *runner)
{
    if (runner == NULL)
        return;
    for (guint i = 0; i < runner->runs->len; i++) {
        if (runner->runs->pdata[i] != NULL)
            run_free(runner->runs->pdata[i]);
    }
    g_ptr_array_unref(runner->runs);
    g_array_unref(runner->free_runs);
    g_array_unref(runner->slots);
    plan_cache_free(runner->plans);
    g_free(runner);
}

/* Where messages share links by their rates, a bundle is what its messages are: a ring in flight until it meets
 * others, then, and whatever else can be listed, its messages. */
static const RunWay *
way_of(const CollectiveRunner *runner, const CollectiveConfig *config, const Plan *plan)
{
    gboolean holds = network_offers_holds(runner->network);
    if (plan->pairs != NULL)
        return &run_pairs;
    if (config->grain == GRAIN_BUNDLE && !holds)
        return &run_bundles;
    if (plan->rings == NULL)
        return &run_graph;
    return holds && !config->one_by_one ? &run_flight : &run_rings;
}

static void
enter(CollectiveRunner *runner, Run *run)
{
    if (runner->free_runs->len == 0) {
        run->handle = runner->runs->len;
        g_ptr_array_add(runner->runs, run);
        return;
    }
    run->handle = g_array_index(runner->free_runs, uint32_t, runner->free_runs->len - 1);
    g_array_set_size(runner->free_runs, runner->free_runs->len - 1);
    runner->runs->pdata[run->handle] = run;
}

uint32_t
collective_open(CollectiveRunner *runner, const CollectiveSpec *spec, const CollectiveConfig *config, uint32_t cookie,
                GError **error)
{
    assert(spec->n > 0 && spec->root < spec->n);
    CachedPlan *plan = NULL;
    if (spec->n > 1) {
        plan = plan_cache_take(runner->plans, spec, config, error);
        if (plan == NULL)
            return INDEX_NONE;
    } else if (config->algorithm[spec->kind] != NULL &&
               algorithm_find(config->algorithm[spec->kind], spec, error) == NULL) {
        return INDEX_NONE;
    }
    Run *run = g_new0(Run, 1);
    run->runner = runner;
    run->cookie = cookie;
    run->spec = *spec;
    run->config = config;
    run->plan = plan;
    enter(runner, run);
    if (plan == NULL)
        return run->handle;
    run->way = way_of(runner, config, plan->plan);
    run->way->start(run);
    return run->handle;
}

void
collective_arrive(CollectiveRunner *runner, uint32_t handle, uint32_t member)
{
    Run *run = run_at(runner, handle);
    assert(member < run->spec.n && run->n_arrived < run->spec.n);
    run->n_arrived++;
    if (run->plan != NULL)
        run->way->arrive(run, member);
    run_check(run);
}
