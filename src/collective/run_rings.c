/* run_rings.c - grain steps of rings: each seat remembers how far it is, no send is written down
 *
 * A seat's send of step k goes when its send of step k - 1 was sent and the chunk is here: its first slice for the
 * first part, its last slice for the last part. A hop's deliveries come in order, and are reduced in order but where a
 * small chunk follows a large one, so that counts tell which chunks are here. */
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

static SeatState *
state_of(const Run *run, uint32_t seat)
{
    return &((RingsState *)run->state)->seats[seat];
}

RingsState *
rings_state_new(guint n_seats)
{
    RingsState *state = g_new(RingsState, 1);
    state->seats = g_new0(SeatState, n_seats);
    state->early = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint i = 0; i < n_seats; i++)
        state->seats[i].step = 1;
    return state;
}

/* One more step, and those that were early. */
static void
count_step(RingsState *state, uint32_t *got, uint32_t seat, uint32_t step, gboolean last)
{
    gint64 key = (gint64)seat << 32 | (gint64)step << 1 | last;
    if (step != *got + 1) {
        g_hash_table_add(state->early, g_memdup2(&key, sizeof key));
        return;
    }
    do {
        ++*got;
        key += 2;
    } while (g_hash_table_size(state->early) > 0 && g_hash_table_remove(state->early, &key));
}

void
rings_state_got(RingsState *state, uint32_t seat, uint32_t cookie)
{
    SeatState *to = &state->seats[seat];
    if ((cookie >> 1 & 3) == 0)
        count_step(state, &to->got_first, seat, cookie >> 3, FALSE);
    if (cookie & 1)
        count_step(state, &to->got_last, seat, cookie >> 3, TRUE);
}

static void
start(Run *run)
{
    run->state = rings_state_new(rings_of(run)->seats->len);
    run->left = rings_of(run)->n_last;
}

static void
stop(Run *run)
{
    RingsState *state = run->state;
    g_hash_table_unref(state->early);
    g_free(state->seats);
    g_free(state);
}

uint32_t
run_rings_cookie(uint32_t step, uint32_t part, uint32_t parts)
{
    return step << 3 | part << 1 | (part + 1 == parts);
}

/* Is the seat through: all sent, heard and reduced? */
static gboolean
is_through(const Run *run, uint32_t seat)
{
    const SeatState *state = state_of(run, seat);
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
    if (!is_through(run, seat))
        return;
    uint32_t next = seat_at(run, seat)->next;
    if (next == INDEX_NONE) {
        run->left--;
        run_check(run);
        return;
    }
    state_of(run, next)->started = TRUE;
    step_on(run, next);
    finish(run, next);
}

/* Sends the next part where it may go. */
static void
step_on(Run *run, uint32_t seat)
{
    SeatState *state = state_of(run, seat);
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
    state_of(run, after(ring, seat))->in_air++;
    run_send(run, &transfer, seat, run_rings_cookie(state->step, state->part, state->parts));
}

static void
arrive(Run *run, uint32_t member)
{
    const Rings *rings = rings_of(run);
    for (uint32_t e = rings->opens.first[member]; e < rings->opens.first[member + 1]; e++) {
        uint32_t seat = rings->opens.to[e];
        state_of(run, seat)->started = TRUE;
        step_on(run, seat);
    }
}

static void
sent(Run *run, uint32_t seat, uint32_t packed)
{
    SeatState *state = state_of(run, seat);
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
    state_of(run, to)->in_air--;
    rings_state_got(run->state, to, packed);
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
run_rings_resume(Run *run, RingsState *state)
{
    run->way = &run_rings;
    run->state = state;
    run->left = 0;
    for (guint seat = 0; seat < rings_of(run)->seats->len; seat++)
        run->left += seat_at(run, seat)->next == INDEX_NONE && !is_through(run, seat);
    run_wake_in(run, 0);
    run_check(run);
}

const RunWay run_rings = {start, arrive, sent, reduces, delivered, stop, woken};
