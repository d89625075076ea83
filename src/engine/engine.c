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
    History *history;       /* NULL: nobody asks */
    const Skipped *skipped; /* never NULL */
    EnginePause pause;      /* NULL: none is asked for */
    void *pause_owner;
};

static const Skipped nothing_skipped;

Engine *
engine_new(uint64_t seed)
{
    Engine *engine = g_new0(Engine, 1);
    engine->queue = event_queue_new(seed);
    engine->skipped = &nothing_skipped;
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
engine_set_memo(Engine *engine, History *history, const Skipped *skipped)
{
    engine->history = history;
    engine->skipped = skipped;
}

History *
engine_history(const Engine *engine)
{
    return engine->history;
}

SimTime
engine_shown(const Engine *engine)
{
    return engine->now + engine->skipped->time_ps;
}

void
engine_pause(Engine *engine, EnginePause pause, void *owner)
{
    engine->pause = pause;
    engine->pause_owner = owner;
}

void
engine_each(const Engine *engine, EngineLook look, void *owner)
{
    event_queue_each(engine->queue, look, owner);
}

void
engine_bring_forward(Engine *engine, SimTime by, EngineLook chosen, void *owner)
{
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(Event));
    Event event;
    while (event_queue_pop(engine->queue, &event))
        g_array_append_val(events, event);
    event_queue_restart(engine->queue, engine->now);
    /* Those that are brought forward were scheduled long before all that may happen at their new time. */
    for (int moved = 1; moved >= 0; moved--)
        for (guint i = 0; i < events->len; i++) {
            event = g_array_index(events, Event, i);
            if (!chosen(owner, &event) != !moved)
                continue;
            event.when -= moved ? by : 0;
            engine_schedule(engine, event);
        }
}

void
engine_count(Engine *engine, uint64_t n_events)
{
    engine->events += n_events;
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
    SimTime shown;
    if (sim_time_add(engine->now, delay, &event.when) && sim_time_add(engine_shown(engine), delay, &shown)) {
        engine_schedule(engine, event);
        return;
    }
    g_autofree char *now = units_format_time(engine_shown(engine)), *more = units_format_time(delay);
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
    g_autofree char *now = units_format_time(engine_shown(engine));
    engine_fail(engine,
                g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_INTERRUPTED, "interrupted at simulated time %s", now));
}

gboolean
engine_poll(Engine *engine)
{
    watch(engine);
    return engine->failure == NULL;
}

/* Hands out events while the next one is due now. */
static void
apply_instant(Engine *engine)
{
    SimTime when;
    Event event;
    History *history = engine->history;
    if (history != NULL)
        history_add(history, history_time(history, engine->now));
    while (engine->failure == NULL && event_queue_peek(engine->queue, &when) && when == engine->now) {
        event_queue_pop(engine->queue, &event);
        engine->events++;
        history_add(history, (uint64_t)event.kind << 32 | event.sender);
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
        if (engine->pause != NULL && when > engine->now) {
            EnginePause pause = engine->pause;
            engine->pause = NULL;
            pause(engine->pause_owner);
            continue;
        }
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
