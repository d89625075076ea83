/* event_queue.h - the event queue: what happens next, in one fixed order
 *
 * Events leave by time; at one time by round (an event made during an instant for that same instant
 * belongs to its next round), then by the sender's seeded key, the sender, and the sender's own count.
 * That order depends on nothing else (no address, no thread), so a run repeats exactly.
 * One thread owns a queue. DEFINITIONS 1. A radix heap (SPEED.md): simulated time never runs back. */
#pragma once

#include "base/sim_time.h"

typedef struct {
    SimTime when;
    uint32_t kind;   /* what to do: an index into the handler table */
    uint32_t target; /* whom it concerns: a rank, a flow, a job */
    uint32_t sender; /* who made it: orders events of one instant */
    uint32_t stamp;  /* free for the maker; by custom the target's generation, to know a stale event */
} Event;

typedef struct EventQueue EventQueue;

EventQueue *event_queue_new(uint64_t seed);
void event_queue_free(EventQueue *queue); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventQueue, event_queue_free)

/* Copies event. event.when must not lie before the last event popped. */
void event_queue_push(EventQueue *queue, Event event);

/* Moves the next event to *event; FALSE, and *event untouched, when none is left. */
gboolean event_queue_pop(EventQueue *queue, Event *event);

/* The time of the next event; FALSE when none is left. */
gboolean event_queue_peek(EventQueue *queue, SimTime *when);

size_t event_queue_length(const EventQueue *queue);

/* Calls look for every event that waits, in no order; what it returns does not matter. */
void event_queue_each(const EventQueue *queue, gboolean (*look)(void *owner, const Event *event), void *owner);
/* An empty queue whose last event was at `now`, which may lie before the last one popped. */
void event_queue_restart(EventQueue *queue, SimTime now);
