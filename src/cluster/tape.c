#include "cluster/tape.h"

typedef enum { CALL_ITERATION, CALL_COLLECTIVE, CALL_TRANSFER } CallKind;

typedef struct {
    CallKind kind;
    union {
        IterationRecord iteration;
        CollectiveRecord collective;
        TransferRecord transfer;
    };
} Call;

/* Transfers that need not be told one by one. */
typedef struct {
    uint32_t job, src_rank, dst_rank;
    uint64_t bytes;
} Moved;

struct Tape {
    Simulation *simulation;
    NetworkObserver observer; /* the network's */
    gboolean recording, full;
    GArray *calls; /* of Call */
    GArray *moved; /* of Moved */
};

static const ClusterObserver *
listener(const Tape *tape)
{
    return &tape->simulation->setup->observer;
}

/* How much later than it was recorded a call is told. */
typedef struct {
    SimTime time_ps;
    const uint32_t *skipped, *iterations; /* of each job, and further ones in a period; NULL = none */
    uint32_t periods;
} Later;

static uint32_t
iterations_later(const Later *later, uint32_t job)
{
    return later->skipped[job] + (later->periods > 0 ? later->periods * later->iterations[job] : 0);
}

static void
tell_transfer(const Tape *tape, const TransferRecord *raw, const Later *later)
{
    const NetworkObserver *observer = &listener(tape)->network;
    TransferRecord transfer = *raw;
    transfer.iteration += iterations_later(later, transfer.job);
    transfer.start_ps += later->time_ps;
    transfer.sent_ps += later->time_ps;
    transfer.end_ps += later->time_ps;
    observer->transfer(observer->owner, &transfer);
}

static void
tell_iteration(const Tape *tape, const IterationRecord *raw, const Later *later)
{
    IterationRecord iteration = *raw;
    iteration.index += iterations_later(later, iteration.job);
    iteration.start_ps += later->time_ps;
    iteration.end_ps += later->time_ps;
    job_tell_iteration(&tape->simulation->jobs[iteration.job], &iteration);
}

static void
tell_collective(const Tape *tape, const CollectiveRecord *raw, const Later *later)
{
    CollectiveRecord collective = *raw;
    collective.iteration += iterations_later(later, collective.job);
    collective.first_ps += later->time_ps;
    collective.ready_ps += later->time_ps;
    collective.end_ps += later->time_ps;
    listener(tape)->collective(listener(tape)->owner, &collective);
}

/* Of most runs nothing ever is: what comes in is then told as it is. */
static gboolean
nothing_skipped(const Tape *tape)
{
    return tape->simulation->skipped.time_ps == 0;
}

/* As of now. */
static Later
as_it_is(const Tape *tape)
{
    const Skipped *skipped = &tape->simulation->skipped;
    return (Later){.time_ps = skipped->time_ps, .skipped = skipped->iterations};
}

static void
record(Tape *tape, const Call *call)
{
    if (!tape->recording)
        return;
    if (tape->calls->len >= REPEAT_MOST)
        tape->full = TRUE;
    else
        g_array_append_vals(tape->calls, call, 1);
}

void
tape_iteration(Tape *tape, const IterationRecord *raw)
{
    Later now = as_it_is(tape);
    record(tape, &(Call){.kind = CALL_ITERATION, .iteration = *raw});
    tell_iteration(tape, raw, &now);
}

void
tape_collective(Tape *tape, const CollectiveRecord *raw)
{
    if (listener(tape)->collective == NULL)
        return;
    Later now = as_it_is(tape);
    record(tape, &(Call){.kind = CALL_COLLECTIVE, .collective = *raw});
    tell_collective(tape, raw, &now);
}

static void
record_transfer(Tape *tape, const TransferRecord *raw)
{
    if (listener(tape)->network.traffic == NULL) {
        record(tape, &(Call){.kind = CALL_TRANSFER, .transfer = *raw});
        return;
    }
    Moved moved = {raw->job, raw->src_rank, raw->dst_rank, raw->bytes};
    if (tape->moved->len >= REPEAT_MOST)
        tape->full = TRUE;
    else
        g_array_append_val(tape->moved, moved);
}

static void
observe_transfer(void *owner, const TransferRecord *raw)
{
    Tape *tape = owner;
    const NetworkObserver *observer = &listener(tape)->network;
    if (observer->transfer == NULL)
        return;
    if (tape->recording)
        record_transfer(tape, raw);
    if (nothing_skipped(tape)) {
        observer->transfer(observer->owner, raw);
        return;
    }
    Later now = as_it_is(tape);
    tell_transfer(tape, raw, &now);
}

static void
observe_usage(void *owner, uint32_t link, uint32_t job, SimTime start_ps, SimTime length_ps, uint64_t bytes,
              SimTime busy_ps)
{
    const NetworkObserver *observer = &listener(owner)->network;
    observer->link_usage(observer->owner, link, job, start_ps, length_ps, bytes, busy_ps);
}

static void
observe_loss(void *owner, const Loss *loss)
{
    const NetworkObserver *observer = &listener(owner)->network;
    observer->loss(observer->owner, loss);
}

static void
observe_packet_link(void *owner, uint32_t link, const PacketLinkCounts *counts)
{
    const NetworkObserver *observer = &listener(owner)->network;
    observer->packet_link(observer->owner, link, counts);
}

Tape *
tape_new(Simulation *simulation)
{
    Tape *tape = g_new0(Tape, 1);
    tape->simulation = simulation;
    const NetworkObserver *told = &listener(tape)->network;
    tape->observer = (NetworkObserver){.owner = tape,
                                       .link_usage = told->link_usage != NULL ? observe_usage : NULL,
                                       .loss = told->loss != NULL ? observe_loss : NULL,
                                       .transfer = told->transfer != NULL ? observe_transfer : NULL,
                                       .packet_link = told->packet_link != NULL ? observe_packet_link : NULL};
    tape->calls = g_array_new(FALSE, FALSE, sizeof(Call));
    tape->moved = g_array_new(FALSE, FALSE, sizeof(Moved));
    return tape;
}

void
tape_free(Tape *tape)
{
    if (tape == NULL)
        return;
    g_array_unref(tape->calls);
    g_array_unref(tape->moved);
    g_free(tape);
}

const NetworkObserver *
tape_observer(const Tape *tape)
{
    return &tape->observer;
}

void
tape_begin(Tape *tape)
{
    tape_drop(tape);
    tape->recording = TRUE;
}

gboolean
tape_end(Tape *tape)
{
    gboolean sound = !tape->full;
    tape->recording = FALSE;
    if (!sound)
        tape_drop(tape);
    return sound;
}

void
tape_drop(Tape *tape)
{
    tape->recording = tape->full = FALSE;
    g_array_set_size(tape->calls, 0);
    g_array_set_size(tape->moved, 0);
}

uint32_t
tape_length(const Tape *tape)
{
    return tape->calls->len;
}

static void
play_call(const Tape *tape, const Call *call, const Later *later)
{
    switch (call->kind) {
    case CALL_ITERATION:
        tell_iteration(tape, &call->iteration, later);
        break;
    case CALL_COLLECTIVE:
        tell_collective(tape, &call->collective, later);
        break;
    case CALL_TRANSFER:
        tell_transfer(tape, &call->transfer, later);
        break;
    }
}

void
tape_play(const Tape *tape, const Repeat *repeat)
{
    Later later = as_it_is(tape);
    later.iterations = repeat->iterations;
    for (uint64_t time = 1; time <= repeat->times; time++) {
        later.time_ps += repeat->period_ps;
        later.periods++;
        for (guint i = 0; i < tape->calls->len; i++)
            play_call(tape, &g_array_index(tape->calls, Call, i), &later);
    }
    const NetworkObserver *observer = &listener(tape)->network;
    for (guint i = 0; i < tape->moved->len; i++) {
        const Moved *moved = &g_array_index(tape->moved, Moved, i);
        observer->traffic(observer->owner, moved->job, moved->src_rank, moved->dst_rank, moved->bytes * repeat->times,
                          repeat->times);
    }
}
