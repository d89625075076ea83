/* run_rings.c - grain steps of rings: each seat remembers how far it is, no send is written down
 *
 * A seat's send of step k goes when its send of step k - 1 was sent and the chunk is here: its first slice for the
 * first part, its last slice for the last part. A hop's deliveries come in order, so that counts tell which chunks are
 * here. */
#include "collective/run_rings.h"

static const Rings *
rings_of(const Run *run)
{
    return run->plan->plan->rings;
}

static const Seat *
seat_at(const Run *run, uint32_t seat)
{
    return &g_array_index(rings_of(run)->seats, Seat, seat);
}

static const Ring *
ring_of(const Run *run, uint32_t seat)
{
    return &g_array_index(rings_of(run)->rings, Ring, seat_at(run, seat)->ring);
}

static uint32_t
after(const Ring *ring, uint32_t seat)
{
    return seat + 1 == ring->first_seat + ring->n ? ring->first_seat : seat + 1;
}

static void
start(Run *run)
{
    const Rings *rings = rings_of(run);
    SeatState *state = run->state = g_new0(SeatState, rings->seats->len);
    for (guint i = 0; i < rings->seats->len; i++)
        state[i].step = 1;
    run->left = rings->n_last;
}

static void
stop(Run *run)
{
    g_free(run->state);
}

uint32_t
run_rings_cookie(uint32_t step, uint32_t part, uint32_t parts)
{
    return step << 3 | part << 1 | (part + 1 == parts);
}

gboolean
run_rings_through(const Run *run, uint32_t seat, const SeatState *state)
{
    uint32_t steps = ring_steps(ring_of(run, seat));
    return state->started && !state->busy && state->step > steps && state->got_last >= steps && state->in_air == 0;
}

Transfer
run_rings_transfer(const Run *run, uint32_t seat, uint64_t bytes)
{
    const Ring *ring = ring_of(run, seat);
    return plan_transfer(&run->spec, run->plan->layout, ring->channel_nics, ring->channel, seat_at(run, seat)->member,
                         seat_at(run, after(ring, seat))->member, bytes);
}

static void step_on(Run *run, uint32_t seat);

/* Everything sent, heard and reduced: the member goes on to its next seat. */
static void
finish(Run *run, uint32_t seat)
{
    SeatState *state = run->state;
    if (!run_rings_through(run, seat, &state[seat]))
        return;
    uint32_t next = seat_at(run, seat)->next;
    if (next == INDEX_NONE) {
        run->left--;
        run_check(run);
        return;
    }
    state[next].started = TRUE;
    step_on(run, next);
    finish(run, next);
}

/* Sends the next part where it may go. */
static void
step_on(Run *run, uint32_t seat)
{
    SeatState *state = (SeatState *)run->state + seat;
    const Ring *ring = ring_of(run, seat);
    if (!state->started || state->busy || state->step > ring_steps(ring))
        return;
    if (state->part == 0 && state->got_first + 1 < state->step)
        return;
    uint64_t part[3];
    state->parts =
        (uint8_t)ring_parts(ring_chunk(ring, seat - ring->first_seat, state->step), run->config->slice_B, part);
    if (state->part > 0 && state->part + 1 == state->parts && state->got_last + 1 < state->step)
        return;
    Transfer transfer = run_rings_transfer(run, seat, part[state->part]);
    state->busy = TRUE;
    ((SeatState *)run->state)[after(ring, seat)].in_air++;
    run_send(run, &transfer, seat, run_rings_cookie(state->step, state->part, state->parts));
}

static void
arrive(Run *run, uint32_t member)
{
    const Rings *rings = rings_of(run);
    SeatState *state = run->state;
    for (uint32_t e = rings->opens.first[member]; e < rings->opens.first[member + 1]; e++) {
        uint32_t seat = rings->opens.to[e];
        state[seat].started = TRUE;
        step_on(run, seat);
    }
}

static void
sent(Run *run, uint32_t seat, uint32_t packed)
{
    SeatState *state = (SeatState *)run->state + seat;
    state->busy = FALSE;
    state->part++;
    if (state->part == state->parts) {
        state->part = 0;
        state->step++;
    }
    step_on(run, seat);
    finish(run, seat);
}

static uint64_t
reduces(Run *run, uint32_t seat, uint32_t packed)
{
    const Ring *ring = ring_of(run, seat);
    uint32_t step = packed >> 3;
    if (!ring_reduces(ring, step))
        return 0;
    uint64_t part[3];
    ring_parts(ring_chunk(ring, seat - ring->first_seat, step), run->config->slice_B, part);
    return part[packed >> 1 & 3];
}

static void
delivered(Run *run, uint32_t seat, uint32_t packed)
{
    uint32_t to = after(ring_of(run, seat), seat);
    SeatState *state = (SeatState *)run->state + to;
    state->in_air--;
    state->got_first += (packed >> 1 & 3) == 0;
    state->got_last += packed & 1;
    step_on(run, to);
    finish(run, to);
}

static void
woken(Run *run)
{
    for (guint seat = 0; seat < rings_of(run)->seats->len; seat++)
        step_on(run, seat);
}

void
run_rings_resume(Run *run, SeatState *state)
{
    run->way = &run_rings;
    run->state = state;
    run->left = 0;
    for (guint seat = 0; seat < rings_of(run)->seats->len; seat++)
        run->left += !run_rings_through(run, seat, &state[seat]);
    run_wake_at(run, run_now(run));
    run_check(run);
}

const RunWay run_rings = {start, arrive, sent, reduces, delivered, stop, woken};
