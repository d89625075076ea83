#include "cluster/memo.h"

#include "cluster/tape.h"

#include <assert.h>
#include <string.h>

enum {
    MOST_SEGMENTS = 512, /* in a period */
    CHUNK_CALLS = 50000  /* calls to the observer between two looks at the clock */
};

/* Of a run, as far as it had come. */
typedef struct {
    SimTime at;
    uint64_t events, transfers, bytes;
    uint32_t *begun; /* iterations, by job */
} Moment;

struct Memo {
    Simulation *simulation;
    Tape *tape;
    History history;
    gboolean *seen;        /* by job: an iteration ended since the last break */
    uint32_t reference;    /* the job whose iterations cut; INDEX_NONE = not chosen yet */
    gboolean cutting;      /* a segment is open */
    gboolean over;         /* nothing more to gain before the next break */
    GArray *segments;      /* of Fingerprint */
    uint64_t last_events;  /* at the last cut */
    uint32_t n, recorded;  /* segments in the period being recorded, 0 = none is; of them those that are over */
    uint32_t wait, rested; /* segments to let pass before another try; passed */
    Moment begin;          /* of the recording */
    Fingerprint state;     /* of what was in flight there */
    uint64_t periods;
};

Memo *
memo_new(Simulation *simulation, Tape *tape)
{
    if (!network_can_repeat(simulation->network))
        return NULL;
    Memo *memo = g_new0(Memo, 1);
    uint32_t n_jobs = simulation->setup->n_jobs;
    memo->simulation = simulation;
    memo->tape = tape;
    memo->seen = g_new0(gboolean, n_jobs + 1);
    memo->reference = INDEX_NONE;
    memo->segments = g_array_new(FALSE, FALSE, sizeof(Fingerprint));
    memo->begin.begun = g_new0(uint32_t, n_jobs + 1);
    engine_set_memo(simulation->engine, &memo->history, &simulation->skipped);
    network_set_memo(simulation->network, &memo->history, &simulation->skipped);
    return memo;
}

void
memo_free(Memo *memo)
{
    if (memo == NULL)
        return;
    g_array_unref(memo->segments);
    g_free(memo->seen);
    g_free(memo->begin.begun);
    g_free(memo);
}

void
memo_break(Memo *memo)
{
    if (memo != NULL)
        history_break(&memo->history);
}

uint64_t
memo_periods(const Memo *memo)
{
    return memo != NULL ? memo->periods : 0;
}

static void
stop_recording(Memo *memo)
{
    memo->n = 0;
    tape_drop(memo->tape);
    network_tape_drop(memo->simulation->network);
}

/* Begins anew, with another choice of the job that cuts. */
static void
forget(Memo *memo)
{
    if (memo->n > 0)
        stop_recording(memo);
    memo->history = (History){0};
    memset(memo->seen, 0, memo->simulation->setup->n_jobs * sizeof *memo->seen);
    memo->reference = INDEX_NONE;
    memo->cutting = memo->over = FALSE;
    memo->wait = memo->rested = 0;
    g_array_set_size(memo->segments, 0);
}

static gboolean
is_running(const JobRun *job)
{
    return job->simulation != NULL && job->start_ps >= 0 && job->end_ps < 0;
}

static gboolean
all_seen(const Memo *memo)
{
    const GArray *open = memo->simulation->open;
    for (guint i = 0; i < open->len; i++) {
        uint32_t j = g_array_index(open, uint32_t, i);
        if (is_running(&memo->simulation->jobs[j]) && !memo->seen[j])
            return FALSE;
    }
    return TRUE;
}

static Fingerprint *
segment_at(const Memo *memo, uint32_t number)
{
    return &g_array_index(memo->segments, Fingerprint, number);
}

/* Is the segment what the one n before it was? */
static gboolean
is_again(const Memo *memo, uint32_t number, uint32_t n)
{
    const Fingerprint *one = segment_at(memo, number), *other = segment_at(memo, number - n);
    return one->a == other->a && one->b == other->b;
}

/* The least n of which the last n segments are the n before; 0 = none. */
static uint32_t
find_period(const Memo *memo)
{
    uint32_t len = memo->segments->len;
    for (uint32_t n = 1; 2 * n <= len && n <= MOST_SEGMENTS; n++) {
        uint32_t i = 0;
        while (i < n && is_again(memo, len - 1 - i, n))
            i++;
        if (i == n)
            return n;
    }
    return 0;
}

/* A segment ends now, another begins. */
static void
cut(Memo *memo)
{
    const Simulation *simulation = memo->simulation;
    const History *history = &memo->history;
    SimTime now = engine_now(simulation->engine);
    uint64_t events = engine_events(simulation->engine);
    if (memo->cutting) {
        Fingerprint segment = history->row;
        fingerprint_add(&segment, history->set.a);
        fingerprint_add(&segment, history->set.b);
        fingerprint_add(&segment, history_time(history, now));
        fingerprint_add(&segment, events - memo->last_events);
        if (memo->segments->len == 4 * MOST_SEGMENTS)
            g_array_remove_range(memo->segments, 0, 2 * MOST_SEGMENTS);
        g_array_append_val(memo->segments, segment);
    }
    memo->cutting = TRUE;
    memo->last_events = events;
    memo->history = (History){.start_ps = now};
}

static gboolean
is_foreign(void *owner, const Event *event)
{
    const Simulation *simulation = owner;
    return event->kind == simulation->kind_job_start || event->kind == simulation->kind_job_arrive ||
           event->kind == simulation->kind_review || event->kind == network_change_kind(simulation->network);
}

typedef struct {
    const Simulation *simulation;
    SimTime first; /* foreign event; SIM_TIME_MAX = none */
    Fingerprint sum;
} Pending;

/* Numbers that are places in a table may differ: who they are follows from the history. */
static gboolean
look_at(void *owner, const Event *event)
{
    Pending *pending = owner;
    Simulation *simulation = (Simulation *)(uintptr_t)pending->simulation;
    if (is_foreign(simulation, event)) {
        pending->first = MIN(pending->first, event->when);
        return TRUE;
    }
    Fingerprint one = {0};
    fingerprint_add(&one, (uint64_t)(event->when - engine_now(simulation->engine)));
    fingerprint_add(&one, (uint64_t)event->kind << 32 | event->sender);
    if (event->kind == simulation->kind_op_start || event->kind == simulation->kind_op_end ||
        event->kind == simulation->kind_rank_begin)
        fingerprint_add(&one, (uint64_t)event->target << 32 | event->stamp);
    pending->sum.a += one.a;
    pending->sum.b += one.b;
    return TRUE;
}

/* Of all that is in flight, as seen from now. *oldest: the earliest start of what has a state of its own. */
static Fingerprint
print_state(const Simulation *simulation, SimTime *oldest)
{
    Pending pending = {.simulation = simulation};
    engine_each(simulation->engine, look_at, &pending);
    Fingerprint print = pending.sum;
    *oldest = engine_now(simulation->engine);
    network_fingerprint(simulation->network, &print, oldest);
    for (guint i = 0; i < simulation->open->len; i++)
        job_fingerprint(&simulation->jobs[g_array_index(simulation->open, uint32_t, i)], &print, oldest);
    return print;
}

static SimTime
first_foreign(const Simulation *simulation)
{
    Pending pending = {.simulation = simulation, .first = SIM_TIME_MAX};
    engine_each(simulation->engine, look_at, &pending);
    return pending.first;
}

static Moment
moment_now(const Memo *memo, uint32_t *begun)
{
    const Simulation *simulation = memo->simulation;
    NetworkTotals totals = network_totals(simulation->network);
    for (guint i = 0; i < simulation->open->len; i++) { /* of the others none begins */
        uint32_t j = g_array_index(simulation->open, uint32_t, i);
        begun[j] = simulation->jobs[j].asked;
    }
    return (Moment){.at = engine_now(simulation->engine),
                    .events = engine_events(simulation->engine),
                    .transfers = totals.transfers,
                    .bytes = totals.bytes,
                    .begun = begun};
}

/* How many periods of this length and these iterations fit before something foreign happens. Half the range of time is
 * left for what is scheduled ahead. */
static uint64_t
how_often(const Memo *memo, SimTime period, const uint32_t *iterations)
{
    const Simulation *simulation = memo->simulation;
    SimTime now = engine_now(simulation->engine), room = SIM_TIME_MAX / 2 - engine_shown(simulation->engine);
    room = MIN(room, first_foreign(simulation) - now - 1);
    if (period <= 0 || room < period)
        return 0;
    uint64_t times = (uint64_t)(room / period);
    for (guint i = 0; i < simulation->open->len; i++) {
        uint32_t j = g_array_index(simulation->open, uint32_t, i);
        if (is_running(&simulation->jobs[j]) && iterations[j] > 0)
            times = MIN(times, job_iterations_left(&simulation->jobs[j]) / iterations[j]);
    }
    return times;
}

/* Tells it in parts, so that the run can be interrupted. */
static void
skip(Memo *memo, Repeat repeat, uint64_t times, uint64_t events)
{
    Simulation *simulation = memo->simulation;
    uint64_t most = MAX(1, CHUNK_CALLS / (1 + tape_length(memo->tape))), done = 0;
    while (done < times && engine_poll(simulation->engine)) {
        repeat.times = MIN(most, times - done);
        tape_play(memo->tape, &repeat);
        network_tape_repeat(simulation->network, &repeat);
        simulation->skipped.time_ps += (SimTime)repeat.times * repeat.period_ps;
        for (guint i = 0; i < simulation->open->len; i++) {
            uint32_t j = g_array_index(simulation->open, uint32_t, i);
            simulation->skipped.iterations[j] += (uint32_t)repeat.times * repeat.iterations[j];
        }
        done += repeat.times;
    }
    if (done == 0)
        return;
    engine_count(simulation->engine, done * events);
    engine_bring_forward(simulation->engine, (SimTime)done * repeat.period_ps, is_foreign, simulation);
    memo->periods += done;
}

/* The recording is over: skips what it can. FALSE: it was no period after all. */
static gboolean
use_recording(Memo *memo)
{
    Simulation *simulation = memo->simulation;
    uint32_t n_jobs = simulation->setup->n_jobs;
    g_autofree uint32_t *iterations = g_new0(uint32_t, n_jobs + 1);
    Moment end = moment_now(memo, iterations);
    for (guint i = 0; i < simulation->open->len; i++) {
        uint32_t j = g_array_index(simulation->open, uint32_t, i);
        iterations[j] -= memo->begin.begun[j];
    }
    SimTime period = end.at - memo->begin.at, oldest;
    Fingerprint state = print_state(simulation, &oldest);
    if (state.a != memo->state.a || state.b != memo->state.b || end.at - oldest > 2 * period)
        return FALSE;
    if (!tape_end(memo->tape) || !network_tape_end(simulation->network)) {
        memo->over = TRUE;
        return FALSE;
    }
    Repeat repeat = {.period_ps = period,
                     .iterations = iterations,
                     .transfers = end.transfers - memo->begin.transfers,
                     .bytes = end.bytes - memo->begin.bytes};
    skip(memo, repeat, how_often(memo, period, iterations), end.events - memo->begin.events);
    return TRUE;
}

/* Another try is made after twice as many segments as the last time. */
static void
give_up(Memo *memo)
{
    stop_recording(memo);
    memo->wait = MAX(1, 2 * memo->wait);
    memo->rested = 0;
}

static void
follow(Memo *memo)
{
    if (!is_again(memo, memo->segments->len - 1, memo->n)) {
        give_up(memo);
        return;
    }
    if (++memo->recorded < memo->n)
        return;
    if (!use_recording(memo)) {
        give_up(memo);
        return;
    }
    stop_recording(memo);
    memo->over = TRUE;
}

/* Records the next period, where one was found and two more will fit. */
static void
look_for_period(Memo *memo)
{
    if (memo->over || memo->rested++ < memo->wait)
        return;
    uint32_t n = find_period(memo), n_jobs = memo->simulation->setup->n_jobs;
    if (n == 0)
        return;
    g_autofree uint32_t *iterations = g_new0(uint32_t, n_jobs + 1);
    iterations[memo->reference] = n;
    if (how_often(memo, 1, iterations) < 2)
        return;
    SimTime oldest;
    memo->n = n;
    memo->recorded = 0;
    memo->begin = moment_now(memo, memo->begin.begun);
    memo->state = print_state(memo->simulation, &oldest);
    tape_begin(memo->tape);
    network_tape_begin(memo->simulation->network);
}

/* All of an instant in which an iteration ended has happened. */
static void
boundary(void *owner)
{
    Memo *memo = owner;
    if (memo->history.broken) {
        forget(memo);
        return;
    }
    if (memo->reference == INDEX_NONE)
        return;
    gboolean first = !memo->cutting;
    cut(memo);
    if (first)
        return;
    if (memo->n > 0)
        follow(memo);
    else
        look_for_period(memo);
}

void
memo_iteration_ended(Memo *memo, const JobRun *job)
{
    if (memo == NULL)
        return;
    if (memo->history.broken)
        forget(memo);
    memo->seen[job->index] = TRUE;
    if (memo->reference == INDEX_NONE && all_seen(memo))
        memo->reference = job->index;
    if (memo->reference == job->index)
        engine_pause(memo->simulation->engine, boundary, memo);
}
