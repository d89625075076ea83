#include "cluster/pastime.h"

#include "engine/event_queue.h"

typedef enum { COMPUTING, COMMUNICATING, COPYING, WAITING, SORTS } Sort;

typedef struct {
    const Script *script;
    Progress *progress;
    EventQueue *queue;
    uint32_t running[SORTS];
    SimTime now;
    Pastime sum;
} Walk;

static Sort
sort_of(const Op *op)
{
    switch (op->kind) {
    case OP_COMPUTE:
        return COMPUTING;
    case OP_COLLECTIVE:
    case OP_SEND:
    case OP_RECV:
        return COMMUNICATING;
    case OP_COPY:
        return COPYING;
    default:
        return WAITING;
    }
}

gboolean
pastime_lacks_time(const Op *op)
{
    gboolean takes = op->kind == OP_COMPUTE || op->kind == OP_HOST || op->kind == OP_COPY ||
                     op->kind == OP_COLLECTIVE || op->kind == OP_SEND || op->kind == OP_RECV;
    return takes && !op->signal && op->duration_ps < 0;
}

/* Starts all that may start. */
static void
start(Walk *walk)
{
    for (uint32_t i; (i = progress_next(walk->progress)) != INDEX_NONE;) {
        const Op *op = script_op(walk->script, i);
        if (op->duration_ps <= 0) {
            progress_end(walk->progress, i);
            continue;
        }
        SimTime when;
        if (!sim_time_add(walk->now, op->duration_ps, &when))
            when = SIM_TIME_MAX;
        walk->running[sort_of(op)]++;
        event_queue_push(walk->queue, (Event){.when = when, .target = i, .sender = i});
    }
}

/* Time goes on to when, with what is running. */
static void
pass(Walk *walk, SimTime when)
{
    SimTime step = when - walk->now;
    gboolean computing = walk->running[COMPUTING] > 0, communicating = walk->running[COMMUNICATING] > 0;
    walk->sum.computing += computing ? step : 0;
    walk->sum.communicating += communicating ? step : 0;
    walk->sum.both += computing && communicating ? step : 0;
    walk->sum.copying += !computing && !communicating && walk->running[COPYING] > 0 ? step : 0;
    walk->now = when;
}

Pastime
pastime_of(const Script *script)
{
    g_autoptr(EventQueue) queue = event_queue_new(0);
    Walk walk = {.script = script, .progress = progress_new(script), .queue = queue};
    progress_begin(walk.progress);
    start(&walk);
    for (Event event; event_queue_pop(queue, &event); start(&walk)) {
        pass(&walk, event.when);
        walk.running[sort_of(script_op(script, event.target))]--;
        progress_end(walk.progress, event.target);
    }
    progress_free(walk.progress);
    walk.sum.span = walk.now;
    return walk.sum;
}
