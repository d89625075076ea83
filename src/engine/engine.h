/* engine.h - the clock: takes events off the queue and hands them to whoever handles their kind
 *
 * All events of one instant are applied, in rounds; then the settlers run once (rates are solved there).
 * What a settler schedules for the same instant is a further round, after which the settlers run again. */
#pragma once

#include "engine/event_queue.h"
#include "engine/history.h"

typedef struct Engine Engine;

typedef void (*EngineHandler)(void *owner, const Event *event);
typedef void (*EngineSettler)(void *owner);

Engine *engine_new(uint64_t seed);
void engine_free(Engine *engine); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Engine, engine_free)

/* Registers a kind of event; its number goes into Event.kind. */
uint32_t engine_add_kind(Engine *engine, EngineHandler handler, void *owner);
/* Settlers run in the order they were added. */
void engine_add_settler(Engine *engine, EngineSettler settler, void *owner);

SimTime engine_now(const Engine *engine);
/* Events handled so far. */
uint64_t engine_events(const Engine *engine);

/* event.when must be at or after engine_now. Copies event. */
void engine_schedule(Engine *engine, Event event);
/* Schedules event at now + delay (delay >= 0); event.when is ignored. Leaving the range of SimTime fails the run. */
void engine_schedule_in(Engine *engine, SimTime delay, Event event);

/* So many events that are scheduled no longer matter: a run ends when only such are left. Whoever is handed one calls
 * this with -1. */
void engine_abandon(Engine *engine, int n_events);

/* Ends the run after the current event with this error (taken over; only the first counts). */
void engine_fail(Engine *engine, GError *error);
/* Ends the run after the current instant, without error. */
void engine_stop(Engine *engine);

/* Called about ten times a second of wall time from engine_run, between events; returning FALSE ends the
 * run with an INTERRUPTED error. */
typedef gboolean (*EngineWatcher)(void *owner);
void engine_set_watcher(Engine *engine, EngineWatcher watcher, void *owner);

/* For the iteration memo (cluster/memo.h). history: every event is added to it; skipped: is added to the time where a
 * user reads it, and its range is checked with it. Both borrowed, set once before the run; without, NULL. */
void engine_set_memo(Engine *engine, History *history, const Skipped *skipped);
History *engine_history(const Engine *engine);
/* The time as a user reads it. */
SimTime engine_shown(const Engine *engine);
/* Calls pause once all of this instant has happened and been settled, before the next. */
typedef void (*EnginePause)(void *owner);
void engine_pause(Engine *engine, EnginePause pause, void *owner);

/* Within a pause. All events to come, in no order. */
typedef gboolean (*EngineLook)(void *owner, const Event *event);
void engine_each(const Engine *engine, EngineLook look, void *owner);
/* Brings the events that chosen says TRUE of forward by a time, which must leave them in the future. */
void engine_bring_forward(Engine *engine, SimTime by, EngineLook chosen, void *owner);
/* So many events were skipped. */
void engine_count(Engine *engine, uint64_t n_events);
/* Calls the watcher where it is time; FALSE: the run is to end. */
gboolean engine_poll(Engine *engine);

/* Runs until no event is left or the run is stopped: TRUE. FALSE with an error where it failed. */
gboolean engine_run(Engine *engine, GError **error);
