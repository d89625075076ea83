#include "engine/engine.h"

#include "base/error.h"
#include "base/units.h"

#include <assert.h>

enum {
    WATCH_EVENTS = 256, /* look at the clock after so many events */
    WATCH_US = G_USEC_PER_SEC / 10
};

typedef struct {
    EngineHandler handler;
    void *owner;
} Kind;

typedef struct {
    EngineSettler settler;
    void *owner;
} Settler;

struct Engine {
    EventQueue *queue;
    GArray *kinds;    /* of Kind */
    GArray *settlers; /* of Settler */
    SimTime now;
    uint64_t events, next_watch;
    size_t abandoned; /* events in the queue that nobody waits for */
    gint64 watched_us;
    gboolean stopped;
    GError *failure;
    EngineWatcher watcher;
    void *watcher_owner;
};

Engine *
engine_new(uint64_t seed)
{
    Engine *engine = g_new0(Engine, 1);
    engine->queue = event_queue_new(seed);
    engine->kinds = g_array_new(FALSE, FALSE, sizeof(Kind));
    engine->settlers = g_array_new(FALSE, FALSE, sizeof(Settler));
    return engine;
}

void
engine_free(Engine *engine)
{
    if (engine == NULL)
        return;
    event_queue_free(engine->queue);
    g_array_unref(engine->kinds);
    g_array_unref(engine->settlers);
    g_clear_error(&engine->failure);
    g_free(engine);
}

uint32_t
engine_add_kind(Engine *engine, EngineHandler handler, void *owner)
{
    Kind kind = {handler, owner};
    g_array_append_val(engine->kinds, kind);
    return engine->kinds->len - 1;
}

void
engine_add_settler(Engine *engine, EngineSettler settler, void *owner)
{
    Settler added = {settler, owner};
    g_array_append_val(engine->settlers, added);
}

SimTime
engine_now(const Engine *engine)
{
    return engine->now;
}

uint64_t
engine_events(const Engine *engine)
{
    return engine->events;
}

void
engine_schedule(Engine *engine, Event event)
{
    assert(event.when >= engine->now && event.kind < engine->kinds->len);
    event_queue_push(engine->queue, event);
}

void
engine_schedule_in(Engine *engine, SimTime delay, Event event)
{
    assert(delay >= 0);
    if (sim_time_add(engine->now, delay, &event.when)) {
        engine_schedule(engine, event);
        return;
    }
    g_autofree char *now = units_format_time(engine->now), *more = units_format_time(delay);
    engine_fail(engine, g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                                    "simulated time leaves its range of 106 days: %s after %s", more, now));
}

void
engine_abandon(Engine *engine, int n_events)
{
    engine->abandoned += (size_t)n_events;
}

void
engine_fail(Engine *engine, GError *error)
{
    if (engine->failure == NULL)
        engine->failure = error;
    else
        g_error_free(error);
}

void
engine_stop(Engine *engine)
{
    engine->stopped = TRUE;
}

void
engine_set_watcher(Engine *engine, EngineWatcher watcher, void *owner)
{
    engine->watcher = watcher;
    engine->watcher_owner = owner;
}

/* Calls the watcher where a tenth of a second has passed. */
static void
watch(Engine *engine)
{
    engine->next_watch = engine->events + WATCH_EVENTS;
    if (engine->watcher == NULL)
        return;
    gint64 time_us = g_get_monotonic_time();
    if (time_us - engine->watched_us < WATCH_US)
        return;
    engine->watched_us = time_us;
    if (engine->watcher(engine->watcher_owner))
        return;
    g_autofree char *now = units_format_time(engine->now);
    engine_fail(engine,
                g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_INTERRUPTED, "interrupted at simulated time %s", now));
}

/* Hands out events while the next one is due now. */
static void
apply_instant(Engine *engine)
{
    SimTime when;
    Event event;
    while (engine->failure == NULL && event_queue_peek(engine->queue, &when) && when == engine->now) {
        event_queue_pop(engine->queue, &event);
        engine->events++;
        const Kind *kind = &g_array_index(engine->kinds, Kind, event.kind);
        kind->handler(kind->owner, &event);
        if (engine->events >= engine->next_watch)
            watch(engine);
    }
}

gboolean
engine_run(Engine *engine, GError **error)
{
    engine->watched_us = g_get_monotonic_time();
    SimTime when;
    while (engine->failure == NULL && event_queue_length(engine->queue) > engine->abandoned &&
           event_queue_peek(engine->queue, &when)) {
        if (engine->stopped && when > engine->now)
            break;
        engine->now = when;
        apply_instant(engine);
        for (guint i = 0; i < engine->settlers->len && engine->failure == NULL; i++) {
            const Settler *settler = &g_array_index(engine->settlers, Settler, i);
            settler->settler(settler->owner);
        }
    }
    engine->stopped = FALSE;
    if (engine->failure == NULL)
        return TRUE;
    g_propagate_error(error, g_steal_pointer(&engine->failure));
    return FALSE;
}
