/* run_flight.c - rings that meet nobody, in both grains: reckoned by the ring recursion instead of sent
 *
 * When the first member arrives and the network grants a hold on all hops, each hop has its rate to itself, and
 * ring_walk.h tells every time in advance: once the last member is here, one event at the end. When a foreign event
 * releases the hold, the walk is made anew up to now (who is not here yet sends nothing), what is past is booked, what
 * is under way is handed over, and run_rings.c goes on. Without a hold it is run_rings.c from the start. In steps every
 * send is booked, in a bundle each hop once. */
#include "base/order.h"
#include "collective/ring_time.h"
#include "collective/run_rings.h"
#include "network/hold.h"

#include <assert.h>
#include <math.h>

/* When members that are not here yet would be ready, after the first one: all come within 6.6 days. */
#define ABSENT (SIM_TIME_MAX / 16)

typedef struct {
    NetworkHold *hold; /* NULL: on the ground yet */
    SimTime began_ps;  /* the first arrival */
    RingHop *hops;     /* by seat; ready_ps after began_ps */
    uint32_t *row;     /* by seat: of the hold */
} Flight;

/* What a seat has sent. */
typedef struct {
    uint64_t n_sent, bytes;
    SimTime start_ps, sent_ps; /* of the first, of the last of it; after began_ps */
} Past;

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

static const Seat *
seat_at(const Run *run, uint32_t seat)
{
    return &g_array_index(rings_of(run)->seats, Seat, seat);
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
    run->state = g_new0(Flight, 1);
    run->left = 1; /* the landing */
}

static void
stop(Run *run)
{
    Flight *flight = run->state;
    network_hold_end(flight->hold);
    g_free(flight->hops);
    g_free(flight->row);
    g_free(flight);
    run->state = NULL;
}

/* Books those that began before `before`, by start, then seat; the others stay, in this order. */
static void
book(Flight *flight, GArray *bookings, SimTime before)
{
    const Booking *past = (const Booking *)(void *)bookings->data;
    guint n = 0, len = bookings->len;
    g_autofree Keyed *order = g_new(Keyed, 2 * (size_t)len + 1);
    for (guint i = 0; i < len; i++)
        order[i] = (Keyed){past[i].seat, i};
    order_by_key(order, &order[len], len);
    for (guint i = 0; i < len; i++)
        order[i].key = (uint64_t)past[order[i].index].start_ps;
    order_by_key(order, &order[len], len);
    for (; n < len && (SimTime)order[n].key < before; n++) {
        const Booking *booking = &past[order[n].index];
        network_hold_book(flight->hold, flight->row[booking->seat], booking->bytes,
                          flight->began_ps + booking->start_ps, flight->began_ps + booking->sent_ps);
    }
    g_autofree Booking *rest = g_new(Booking, (size_t)len - n + 1);
    for (guint i = n; i < len; i++)
        rest[i - n] = past[order[i].index];
    g_array_set_size(bookings, 0);
    g_array_append_vals(bookings, rest, len - n);
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

/* Each hop's bytes as one transfer, from when its member was ready until they had to be sent. */
static void
book_hops(Run *run)
{
    Flight *flight = run->state;
    for (guint r = 0; r < rings_of(run)->rings->len; r++) {
        const Ring *ring = ring_at(run, r);
        for (uint32_t p = 0; p < ring->n; p++) {
            uint32_t seat = ring->first_seat + p, next = seat_at(run, seat)->next;
            SimTime until = run_now(run) - flight->hops[seat].latency_ps;
            if (next != INDEX_NONE)
                until = MIN(until, flight->began_ps + flight->hops[next].ready_ps);
            network_hold_book_row(flight->hold, flight->row[seat], ring_total(ring, p),
                                  flight->began_ps + flight->hops[seat].ready_ps, until);
        }
    }
}

/* What is past at a release, in a bundle. */
static void
book_past(Flight *flight, const Past *past, guint n_seats)
{
    for (guint seat = 0; seat < n_seats; seat++) {
        if (past[seat].n_sent > 0)
            network_hold_book_row(flight->hold, flight->row[seat], past[seat].bytes,
                                  flight->began_ps + past[seat].start_ps, flight->began_ps + past[seat].sent_ps);
    }
}

/* ... in steps, where nobody books each. */
static void
count_past(Flight *flight, const Past *past, guint n_seats)
{
    Past all = {0};
    for (guint seat = 0; seat < n_seats; seat++) {
        all.n_sent += past[seat].n_sent;
        all.bytes += past[seat].bytes;
    }
    network_hold_count(flight->hold, all.n_sent, all.bytes);
}

/* One part as it stands at `now` (after began_ps): into the states of its two seats, to the network where it is under
 * way. FALSE: the seat is no further than this part. */
static gboolean
recall_part(Run *run, uint32_t seat, uint32_t to, const RingPart *part, uint32_t cookie, SimTime now, RingsState *state,
            Past *past)
{
    if (part->start_ps >= now)
        return FALSE;
    if (part->sent_ps > now) {
        state->seats[seat].busy = TRUE;
        state->seats[to].in_air++;
        Transfer transfer = run_rings_transfer(run, seat, part->bytes);
        run_send_begun(run, &transfer, ((Flight *)run->state)->began_ps + part->start_ps, seat, cookie);
        return FALSE;
    }
    if (past[seat].n_sent++ == 0)
        past[seat].start_ps = part->start_ps;
    past[seat].sent_ps = part->sent_ps;
    past[seat].bytes += part->bytes;
    if (part->ready_ps > now) {
        state->seats[to].in_air++;
        run_pause(run, part->ready_ps - now, seat, cookie);
    } else {
        rings_state_got(state, to, cookie);
    }
    return TRUE;
}

/* The state of one ring's seats at `now`; what is under way or in the air goes to the network. */
static void
recall_ring(Run *run, const Ring *ring, SimTime now, RingsState *state, Past *past)
{
    g_autoptr(RingWalk) walk = walk_new(run, ring);
    uint32_t moved = ring->n;
    for (uint32_t step = 1; moved > 0 && ring_walk_step(walk); step++) {
        moved = 0; /* seats that are through this step */
        for (uint32_t p = 0; p < ring->n; p++) {
            uint32_t seat = ring->first_seat + p, to = ring->first_seat + (p + 1) % ring->n, i = 0;
            SeatState *here = &state->seats[seat];
            if (here->step < step || !here->started)
                continue;
            RingPart part[3];
            uint32_t parts = ring_walk_parts(walk, p, part);
            while (i < parts &&
                   recall_part(run, seat, to, &part[i], run_rings_cookie(step, i, parts), now, state, past))
                i++;
            here->part = i == parts ? 0 : (uint8_t)i;
            here->parts = (uint8_t)parts;
            here->step += i == parts;
            moved += i == parts;
        }
    }
}

/* When the members of a ring go on to their next seats: everything sent, heard and reduced. */
static void
reckon_next(Run *run, const Ring *ring)
{
    Flight *flight = run->state;
    g_autoptr(RingWalk) walk = walk_new(run, ring);
    g_autofree SimTime *through = g_new0(SimTime, ring->n);
    while (ring_walk_step(walk))
        for (uint32_t p = 0; p < ring->n; p++) {
            RingPart part[3];
            uint32_t parts = ring_walk_parts(walk, p, part), to = (p + 1) % ring->n;
            for (uint32_t i = 0; i < parts; i++)
                through[to] = MAX(through[to], part[i].ready_ps);
            through[p] = MAX(through[p], part[parts - 1].sent_ps);
        }
    for (uint32_t p = 0; p < ring->n; p++)
        flight->hops[seat_at(run, ring->first_seat + p)->next].ready_ps = through[p];
}

/* Of all rings but the last of each member: a seat's ring stands before that of its next one. */
static void
reckon_stages(Run *run)
{
    for (guint r = 0; r < rings_of(run)->rings->len; r++) {
        const Ring *ring = ring_at(run, r);
        if (seat_at(run, ring->first_seat)->next != INDEX_NONE)
            reckon_next(run, ring);
    }
}

/* NetworkRelease: somebody else comes, now. */
static void
released(void *owner, uint32_t cookie)
{
    Run *run = owner;
    Flight *flight = run->state;
    SimTime now = run_now(run) - flight->began_ps;
    guint n_seats = rings_of(run)->seats->len;
    run_wake_cancel(run);
    if (run->n_arrived < run->spec.n)
        reckon_stages(run);
    gboolean bundle = run->config->grain == GRAIN_BUNDLE, listens = network_hold_listens(flight->hold);
    if (!bundle && listens)
        book_each(run, now);
    RingsState *state = rings_state_new(n_seats);
    for (guint i = 0; i < n_seats; i++)
        state->seats[i].started = flight->hops[i].ready_ps <= now;
    g_autofree Past *past = g_new0(Past, n_seats);
    for (guint r = 0; r < rings_of(run)->rings->len; r++)
        recall_ring(run, ring_at(run, r), now, state, past);
    if (bundle)
        book_past(flight, past, n_seats);
    else if (!listens)
        count_past(flight, past, n_seats);
    flight->hold = NULL; /* gone when this returns */
    stop(run);
    run_rings_resume(run, state);
}

/* The rate and latency of each hop; FALSE where time might not suffice. */
static gboolean
look_at_hops(Run *run)
{
    Flight *flight = run->state;
    double left = (double)ABSENT;
    flight->hops = g_new(RingHop, rings_of(run)->seats->len);
    for (guint r = 0; r < rings_of(run)->rings->len; r++) {
        const Ring *ring = ring_at(run, r);
        double chunk = (double)(ring->bytes / ring->n + 1), longest = 0;
        for (uint32_t seat = ring->first_seat; seat < ring->first_seat + ring->n; seat++) {
            NetworkProbe met = network_hold_probe(flight->hold, flight->row[seat]);
            if (!(met.rate_Bps > 0) || isinf(met.rate_Bps))
                return FALSE;
            flight->hops[seat] = (RingHop){met.latency_ps, met.rate_Bps, ABSENT};
            double sends_s = chunk / met.rate_Bps + chunk * run->config->reduce_cost_s_per_B;
            longest = MAX(longest, (double)met.latency_ps + sends_s * (double)PS_PER_S + 6); /* rounded up, 6 times */
        }
        left -= ring_steps(ring) * longest;
    }
    return left > 0;
}

/* The seats before this one of the same member send over the same hop before it does, and share its row. */
static uint32_t
same_hop(const Run *run, const Transfer *transfers, uint32_t seat)
{
    const Flight *flight = run->state;
    const Transfer *hop = &transfers[flight->row[seat]];
    for (uint32_t from = seat_at(run, seat)->from; from != INDEX_NONE; from = seat_at(run, from)->from) {
        uint32_t row = flight->row[from];
        const Transfer *other = &transfers[row];
        if (other->src == hop->src && other->dst == hop->dst && other->src_nic == hop->src_nic &&
            other->dst_nic == hop->dst_nic && other->channel == hop->channel)
            return row;
    }
    return INDEX_NONE;
}

/* The hops, one of each row; freed by the caller. */
static Transfer *
list_rows(Run *run, uint32_t *n_rows)
{
    Flight *flight = run->state;
    uint32_t n_seats = rings_of(run)->seats->len, n = 0;
    Transfer *transfers = g_new(Transfer, n_seats);
    flight->row = g_new(uint32_t, n_seats);
    for (uint32_t seat = 0; seat < n_seats; seat++) {
        transfers[n] = run_rings_transfer(run, seat, 1);
        flight->row[seat] = n;
        uint32_t same = same_hop(run, transfers, seat);
        if (same != INDEX_NONE)
            flight->row[seat] = same;
        else
            n++;
    }
    *n_rows = n;
    return transfers;
}

/* More messages are not sent where a ring shares links with itself: a bundle then goes as phases (run_bundles.c). */
enum { MOST_SENT = 1 << 16 };

static gboolean
is_large(const Run *run)
{
    uint64_t messages = 0;
    for (guint r = 0; r < rings_of(run)->rings->len; r++)
        messages += (uint64_t)ring_at(run, r)->n * ring_steps(ring_at(run, r));
    return messages > MOST_SENT;
}

/* NULL, or how to go instead. */
static const RunWay *
take_off(Run *run)
{
    Flight *flight = run->state;
    uint32_t n;
    g_autofree Transfer *transfers = list_rows(run, &n);
    flight->hold = network_hold(run_network(run), transfers, n, released, run, 0);
    flight->began_ps = run_now(run);
    if (flight->hold != NULL && look_at_hops(run))
        return NULL;
    gboolean phases = flight->hold == NULL && run->config->grain == GRAIN_BUNDLE && is_large(run) &&
                      !network_hold_fits(run_network(run), transfers, n);
    return phases ? &run_bundles : &run_rings;
}

/* All are here: the end of the last rings is known. */
static void
land(Run *run)
{
    Flight *flight = run->state;
    const CollectiveConfig *config = run->config;
    SimTime end = 0;
    reckon_stages(run);
    for (guint r = 0; r < rings_of(run)->rings->len; r++) {
        const Ring *ring = ring_at(run, r);
        if (seat_at(run, ring->first_seat)->next != INDEX_NONE)
            continue;
        const RingHop *hops = flight->hops + ring->first_seat;
        SimTime one = config->grain == GRAIN_BUNDLE
                          ? ring_time(ring, hops, config->slice_B, config->reduce_cost_s_per_B)
                          : ring_time_exact(ring, hops, config->slice_B, config->reduce_cost_s_per_B);
        end = MAX(end, one);
    }
    run_wake_in(run, end - (run_now(run) - flight->began_ps));
}

/* With the first one it takes off, or all go another way. */
static void
arrive(Run *run, uint32_t member)
{
    Flight *flight = run->state;
    const RunWay *instead = run->n_arrived == 1 ? take_off(run) : NULL;
    if (instead != NULL) {
        stop(run);
        run->way = instead;
        instead->start(run);
        instead->arrive(run, member);
        return;
    }
    const ScheduleEdges *opens = &rings_of(run)->opens;
    for (uint32_t e = opens->first[member]; e < opens->first[member + 1]; e++)
        flight->hops[opens->to[e]].ready_ps = run_now(run) - flight->began_ps;
    if (run->n_arrived == run->spec.n)
        land(run);
}

/* The end has come. */
static void
woken(Run *run)
{
    Flight *flight = run->state;
    if (run->config->grain == GRAIN_BUNDLE)
        book_hops(run);
    else if (network_hold_listens(flight->hold))
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
