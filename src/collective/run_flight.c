/* run_flight.c - grain steps of rings that meet nobody: reckoned by the ring recursion instead of sent
 *
 * When all members arrive in one instant and the network grants a hold on all hops, each hop has its rate to itself,
 * and ring_walk.h tells every time in advance: one event at the end. When a foreign event releases the hold, the walk
 * is made anew up to now, what is past is booked, what is under way is handed over, and run_rings.c goes on. Without a
 * hold it is run_rings.c from the start. */
#include "collective/ring_time.h"
#include "collective/run_rings.h"
#include "network/hold.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

typedef struct {
    NetworkHold *hold; /* NULL: on the ground yet */
    SimTime began_ps;
    RingHop *hops;   /* by seat */
    GArray *members; /* of uint32_t: that have arrived, in order */
} Flight;

/* A send that is past. */
typedef struct {
    SimTime start_ps, sent_ps; /* after began_ps */
    uint64_t bytes;
    uint32_t seat;
} Booking;

static const Rings *
rings_of(const Run *run)
{
    return run->plan->plan->rings;
}

static const Ring *
ring_at(const Run *run, uint32_t number)
{
    return &g_array_index(rings_of(run)->rings, Ring, number);
}

static RingWalk *
walk_new(const Run *run, const Ring *ring)
{
    const Flight *flight = run->state;
    return ring_walk_new(ring, flight->hops + ring->first_seat, run->config->slice_B, run->config->reduce_cost_s_per_B);
}

static void
start(Run *run)
{
    Flight *flight = run->state = g_new0(Flight, 1);
    flight->members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    run->left = 1; /* the landing */
}

static void
stop(Run *run)
{
    Flight *flight = run->state;
    network_hold_end(flight->hold);
    g_array_unref(flight->members);
    g_free(flight->hops);
    g_free(flight);
    run->state = NULL;
}

/* Members that came apart, or no hold: on foot. */
static void
walk_instead(Run *run)
{
    Flight *flight = run->state;
    g_autoptr(GArray) members = g_array_ref(flight->members);
    stop(run);
    run->way = &run_rings;
    run_rings.start(run);
    for (guint i = 0; i < members->len; i++)
        run_rings.arrive(run, g_array_index(members, uint32_t, i));
}

/* By start, then seat. */
static int
earlier(const void *a, const void *b)
{
    const Booking *x = a, *y = b;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    return (x->seat > y->seat) - (x->seat < y->seat);
}

/* Books those that began before `before`; the others stay. */
static void
book(Flight *flight, GArray *bookings, SimTime before)
{
    if (bookings->len == 0)
        return;
    Booking *row = (Booking *)(void *)bookings->data;
    qsort(row, bookings->len, sizeof *row, earlier);
    guint n = 0;
    for (; n < bookings->len && row[n].start_ps < before; n++)
        network_hold_book(flight->hold, row[n].seat, row[n].bytes, flight->began_ps + row[n].start_ps,
                          flight->began_ps + row[n].sent_ps);
    g_array_remove_range(bookings, 0, n);
}

/* A ring on its way through the bookings. */
typedef struct {
    RingWalk *walk;
    const Ring *ring;
    SimTime next_ps; /* nothing of it that is to come begins before; SIM_TIME_MAX: nothing is to come */
} Booked;

/* One step more: what of it began before `until` and was sent by then goes into bookings. */
static void
book_step(Booked *booked, SimTime until, GArray *bookings)
{
    SimTime first = booked->next_ps;
    booked->next_ps = SIM_TIME_MAX;
    if (first >= until || !ring_walk_step(booked->walk))
        return;
    for (uint32_t p = 0; p < booked->ring->n; p++) {
        RingPart part[3];
        uint32_t parts = ring_walk_parts(booked->walk, p, part);
        for (uint32_t i = 0; i < parts && part[i].start_ps < until && part[i].sent_ps <= until; i++) {
            Booking booking = {part[i].start_ps, part[i].sent_ps, part[i].bytes, booked->ring->first_seat + p};
            g_array_append_val(bookings, booking);
        }
        booked->next_ps = MIN(booked->next_ps, ring_walk_sent(booked->walk, p));
    }
}

/* So many wait to be put in order before they are booked. */
enum { MOST_WAIT = 1 << 16 };

/* All that began before `until` (after began_ps) and was sent by then, one by one in the order of their starts: each
 * time the ring that is furthest behind takes a step. */
static void
book_each(Run *run, SimTime until)
{
    Flight *flight = run->state;
    uint32_t n = rings_of(run)->rings->len;
    g_autofree Booked *booked = g_new(Booked, n);
    g_autoptr(GArray) bookings = g_array_new(FALSE, FALSE, sizeof(Booking));
    for (uint32_t i = 0; i < n; i++)
        booked[i] = (Booked){walk_new(run, ring_at(run, i)), ring_at(run, i), 0};
    guint most = MOST_WAIT;
    for (;;) {
        Booked *last = &booked[0];
        for (uint32_t i = 1; i < n; i++)
            last = booked[i].next_ps < last->next_ps ? &booked[i] : last;
        if (last->next_ps == SIM_TIME_MAX)
            break;
        if (bookings->len > most) {
            book(flight, bookings, last->next_ps);
            most = MAX(MOST_WAIT, 2 * bookings->len);
        }
        book_step(last, until, bookings);
    }
    book(flight, bookings, SIM_TIME_MAX);
    for (uint32_t i = 0; i < n; i++)
        ring_walk_free(booked[i].walk);
}

/* All of them, where nobody wants to know each one. In each step each chunk goes over one hop. */
static void
count_all(Run *run)
{
    uint64_t transfers = 0, bytes = 0;
    for (guint r = 0; r < rings_of(run)->rings->len; r++) {
        const Ring *ring = ring_at(run, r);
        uint32_t step = ring->kind == RING_REDUCE_SCATTER ? 1 : ring_steps(ring);
        for (uint32_t p = 0; p < ring->n; p++) {
            uint64_t part[3];
            transfers += ring_steps(ring) * (uint64_t)ring_parts(ring_chunk(ring, p, step), run->config->slice_B, part);
            bytes += ring_total(ring, p);
        }
    }
    network_hold_count(((Flight *)run->state)->hold, transfers, bytes);
}

/* What is past at the moment of a release, where nobody books each. */
typedef struct {
    uint64_t n_sent, bytes;
} Past;

/* One part as it stands at `now` (after began_ps): into the states of its two seats, to the network where it is under
 * way. FALSE: the seat is no further than this part. */
static gboolean
recall_part(Run *run, uint32_t seat, uint32_t to, const RingPart *part, uint32_t cookie, SimTime now, SeatState *state,
            Past *past)
{
    if (part->start_ps >= now)
        return FALSE;
    if (part->sent_ps > now) {
        state[seat].busy = TRUE;
        state[to].in_air++;
        Transfer transfer = run_rings_transfer(run, seat, part->bytes);
        run_send_begun(run, &transfer, ((Flight *)run->state)->began_ps + part->start_ps, seat, cookie);
        return FALSE;
    }
    past->n_sent++;
    past->bytes += part->bytes;
    if (part->ready_ps > now) {
        state[to].in_air++;
        run_pause(run, part->ready_ps - now, seat, cookie);
    } else {
        state[to].got_first += (cookie >> 1 & 3) == 0;
        state[to].got_last += cookie & 1;
    }
    return TRUE;
}

/* The state of one ring's seats at `now`; what is under way or in the air goes to the network. */
static void
recall_ring(Run *run, const Ring *ring, SimTime now, SeatState *state, Past *past)
{
    g_autoptr(RingWalk) walk = walk_new(run, ring);
    uint32_t moved = ring->n;
    for (uint32_t step = 1; moved > 0 && ring_walk_step(walk); step++) {
        moved = 0; /* seats that are through this step */
        for (uint32_t p = 0; p < ring->n; p++) {
            uint32_t seat = ring->first_seat + p, to = ring->first_seat + (p + 1) % ring->n, i = 0;
            if (state[seat].step < step)
                continue;
            RingPart part[3];
            uint32_t parts = ring_walk_parts(walk, p, part);
            while (i < parts &&
                   recall_part(run, seat, to, &part[i], run_rings_cookie(step, i, parts), now, state, past))
                i++;
            state[seat].part = i == parts ? 0 : (uint8_t)i;
            state[seat].parts = (uint8_t)parts;
            state[seat].step += i == parts;
            moved += i == parts;
        }
    }
}

/* NetworkRelease: somebody else comes, now. */
static void
released(void *owner, uint32_t cookie)
{
    Run *run = owner;
    Flight *flight = run->state;
    SimTime now = run_now(run) - flight->began_ps;
    run_wake_cancel(run);
    gboolean listens = network_hold_listens(flight->hold);
    if (listens)
        book_each(run, now);
    SeatState *state = g_new0(SeatState, rings_of(run)->seats->len);
    for (guint i = 0; i < rings_of(run)->seats->len; i++)
        state[i] = (SeatState){.step = 1, .started = TRUE};
    Past past = {0, 0};
    for (guint r = 0; r < rings_of(run)->rings->len; r++)
        recall_ring(run, ring_at(run, r), now, state, &past);
    if (!listens)
        network_hold_count(flight->hold, past.n_sent, past.bytes);
    flight->hold = NULL; /* gone when this returns */
    stop(run);
    run_rings_resume(run, state);
}

/* The rate and latency of each hop, and when the last ring is through; FALSE where time does not suffice. */
static gboolean
reckon(Run *run, SimTime *end_ps)
{
    Flight *flight = run->state;
    guint n = rings_of(run)->seats->len;
    flight->hops = g_new(RingHop, n);
    for (guint seat = 0; seat < n; seat++) {
        NetworkProbe met = network_hold_probe(flight->hold, seat);
        if (!(met.rate_Bps > 0) || isinf(met.rate_Bps))
            return FALSE;
        flight->hops[seat] = (RingHop){met.latency_ps, met.rate_Bps, 0};
    }
    *end_ps = 0;
    for (guint r = 0; r < rings_of(run)->rings->len; r++) {
        const Ring *ring = ring_at(run, r);
        SimTime one = ring_time_exact(ring, flight->hops + ring->first_seat, run->config->slice_B,
                                      run->config->reduce_cost_s_per_B);
        *end_ps = MAX(*end_ps, one);
    }
    return sim_time_add(run_now(run), *end_ps, end_ps);
}

static gboolean
take_off(Run *run)
{
    Flight *flight = run->state;
    guint n = rings_of(run)->seats->len;
    g_autofree Transfer *transfers = g_new(Transfer, n);
    for (guint r = 0; r < rings_of(run)->rings->len; r++) {
        const Ring *ring = ring_at(run, r);
        for (uint32_t p = 0; p < ring->n; p++)
            transfers[ring->first_seat + p] = run_rings_transfer(run, ring->first_seat + p, ring_total(ring, p));
    }
    flight->hold = network_hold(run_network(run), transfers, n, released, run, 0);
    if (flight->hold == NULL)
        return FALSE;
    SimTime end;
    if (!reckon(run, &end))
        return FALSE;
    flight->began_ps = run_now(run);
    run_wake_at(run, end);
    return TRUE;
}

static void
arrive(Run *run, uint32_t member)
{
    Flight *flight = run->state;
    g_array_append_val(flight->members, member);
    if (flight->members->len == 1 && run->spec.n > 1)
        run_wake_at(run, run_now(run)); /* those of this round are waited for */
    if (run->n_arrived < run->spec.n)
        return;
    run_wake_cancel(run);
    if (!take_off(run))
        walk_instead(run);
}

/* Some members are not here; or the end has come. */
static void
woken(Run *run)
{
    Flight *flight = run->state;
    if (flight->hold == NULL) {
        walk_instead(run);
        return;
    }
    if (network_hold_listens(flight->hold))
        book_each(run, SIM_TIME_MAX);
    else
        count_all(run);
    network_hold_end(flight->hold);
    flight->hold = NULL;
    run->left = 0;
    run_check(run);
}

/* Nothing is sent, so nothing comes back. */
const RunWay run_flight = {.start = start, .arrive = arrive, .stop = stop, .woken = woken};
