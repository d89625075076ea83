#include "collective/ring_time.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Times beyond this are out of range: sums of a few of them must not wrap. */
#define HORIZON (SIM_TIME_MAX / 8)

enum { SMALL, LARGE, SIZES };

/* What one size of chunk costs on one hop. */
typedef struct {
    uint32_t parts;                                            /* 1: first alone; 2: first and last; 3 */
    SimTime first_ps, middle_ps, last_ps;                      /* to send them */
    SimTime reduce_first_ps, reduce_middle_ps, reduce_last_ps; /* to reduce them at the receiver */
} HopCost;

typedef struct {
    SimTime first, end;           /* the first part, the whole chunk has been sent */
    SimTime next_first, next_end; /* ... is with the next position, reduced where it has to be */
} HopState;

typedef struct {
    uint32_t n, steps;
    const Ring *ring;
    const RingHop *hop;
    HopCost *cost;     /* [size * n + position] */
    uint8_t *size;     /* of a chunk number */
    gboolean one_part; /* of both sizes */
    SimTime end;       /* last delivery, and reduction, so far */
} Recursion;

static SimTime
capped(double bytes, double rate_Bps)
{
    SimTime time;
    if (bytes == 0 || isinf(rate_Bps))
        return 0;
    return sim_time_from_bytes(bytes, rate_Bps, &time) ? MIN(time, HORIZON) : HORIZON;
}

static SimTime
reduce_time(double cost_s_per_B, uint64_t bytes)
{
    SimTime time;
    return sim_time_from_seconds(cost_s_per_B * (double)bytes, &time) ? MIN(time, HORIZON) : HORIZON;
}

static HopCost
hop_cost(const RingHop *hop, uint64_t chunk, uint64_t slice_B, double reduce_cost)
{
    uint64_t part[3];
    uint32_t parts = ring_parts(chunk, slice_B, part);
    HopCost cost = {.parts = parts,
                    .first_ps = capped((double)part[0], hop->rate_Bps),
                    .reduce_first_ps = reduce_time(reduce_cost, part[0])};
    if (parts == 3) {
        cost.middle_ps = capped((double)part[1], hop->rate_Bps);
        cost.reduce_middle_ps = reduce_time(reduce_cost, part[1]);
    }
    if (parts > 1) {
        cost.last_ps = capped((double)part[parts - 1], hop->rate_Bps);
        cost.reduce_last_ps = reduce_time(reduce_cost, part[parts - 1]);
    }
    return cost;
}

/* Position p's send of one chunk: it may begin at `free`, its parts are here at first_here and end_here. */
static HopState
advance(Recursion *r, uint32_t p, const HopCost *cost, gboolean reduces, SimTime free_at, SimTime first_here,
        SimTime end_here)
{
    SimTime latency = r->hop[p].latency_ps;
    HopState state;
    state.first = MAX(free_at, first_here) + cost->first_ps;
    state.next_first = state.first + latency + (reduces ? cost->reduce_first_ps : 0);
    if (cost->parts == 1) {
        state.end = state.first;
        state.next_end = state.next_first;
        return state;
    }
    SimTime middle = state.first + cost->middle_ps;
    state.end = MAX(middle, end_here) + cost->last_ps;
    state.next_end = state.end + latency + (reduces ? cost->reduce_last_ps : 0);
    if (reduces)
        r->end = MAX(r->end, state.next_first);
    if (reduces && cost->parts == 3)
        r->end = MAX(r->end, middle + latency + cost->reduce_middle_ps);
    return state;
}

/* One step of every position, from the states of the step before into now. */
static void
one_step(Recursion *r, uint32_t step, const HopState *before, HopState *now, const uint8_t *size)
{
    uint32_t n = r->n;
    gboolean reduces = ring_reduces(r->ring, step);
    uint32_t back = r->ring->kind == RING_REDUCE_SCATTER ? step : step - 1;
    uint32_t chunk = (uint32_t)((2 * (uint64_t)n - back) % n);
    const HopState *up = &before[n - 1];
    for (uint32_t p = 0; p < n; p++) {
        const HopCost *cost = &r->cost[(size_t)size[chunk] * n + p];
        now[p] = advance(r, p, cost, reduces, before[p].end, up->next_first, up->next_end);
        up = &before[p];
        chunk = chunk + 1 == n ? 0 : chunk + 1;
    }
}

/* Has every position moved on by the same time? Then it will in every further step under the same costs. */
static gboolean
steady(const HopState *before, const HopState *now, uint32_t n, SimTime *shift)
{
    *shift = now[0].end - before[0].end;
    for (uint32_t p = 0; p < n; p++) {
        if (now[p].end - before[p].end != *shift || now[p].first - before[p].first != *shift ||
            now[p].next_end - before[p].next_end != *shift || now[p].next_first - before[p].next_first != *shift)
            return FALSE;
    }
    return TRUE;
}

/* Steps for which the costs stay those of step: up to the last reduced one, then to the end. */
static uint32_t
same_costs(const Recursion *r, uint32_t step)
{
    return ring_reduces(r->ring, step) ? r->n - 1 - step : r->steps - step;
}

static void
shift_all(HopState *state, uint32_t n, SimTime by)
{
    for (uint32_t p = 0; p < n; p++) {
        state[p].first += by;
        state[p].end += by;
        state[p].next_first += by;
        state[p].next_end += by;
    }
}

/* Follows the ring with these sizes of its chunks; equal: all the same, so that a steady state may be jumped over. */
static SimTime
follow(Recursion *r, const uint8_t *size, gboolean equal)
{
    uint32_t n = r->n;
    g_autofree HopState *before = g_new(HopState, n), *now = g_new(HopState, n);
    r->end = 0;
    for (uint32_t p = 0; p < n; p++) {
        before[p] = (HopState){.end = r->hop[p].ready_ps};
        r->end = MAX(r->end, r->hop[p].ready_ps);
    }
    for (uint32_t step = 1; step <= r->steps; step++) {
        one_step(r, step, before, now, size);
        SimTime shift;
        uint32_t more = same_costs(r, step);
        if (equal && step > 1 && more > 1 && steady(before, now, n, &shift)) {
            if (shift > 0 && more > HORIZON / shift)
                return SIM_TIME_MAX;
            shift_all(now, n, shift * more);
            r->end += shift * more;
            step += more;
        }
        if (now[0].end > HORIZON)
            return SIM_TIME_MAX;
        HopState *swap = before;
        before = now;
        now = swap;
    }
    for (uint32_t p = 0; p < n; p++)
        r->end = MAX(r->end, before[p].next_end);
    return r->end > HORIZON ? SIM_TIME_MAX : r->end;
}

/* Uniform rates and equal chunks in one part, no arrival apart: K sends and the heaviest K consecutive hops. In K - 1
 * hops from the send of step 1 to that of step K a path takes every reduction, and the last hop delivers. O(n). */
static gboolean
uniform(const Recursion *r)
{
    if (!r->one_part || r->ring->bytes % r->n != 0)
        return FALSE;
    for (uint32_t p = 1; p < r->n; p++) {
        if (r->hop[p].rate_Bps != r->hop[0].rate_Bps || r->hop[p].ready_ps != r->hop[0].ready_ps)
            return FALSE;
    }
    return TRUE;
}

static SimTime
uniform_time(const Recursion *r)
{
    SimTime window = 0, heaviest = 0, reduced = r->ring->kind == RING_ALL_GATHER ? 0 : r->cost[0].reduce_first_ps;
    uint32_t n = r->n;
    for (uint32_t i = 0; i < r->steps; i++)
        window += r->hop[i % n].latency_ps;
    for (uint32_t p = 0; p < n; p++) {
        heaviest = MAX(heaviest, window);
        window += r->hop[(p + r->steps) % n].latency_ps - r->hop[p].latency_ps;
    }
    if (heaviest > HORIZON || (double)r->steps * (double)r->cost[0].first_ps > (double)HORIZON ||
        (double)n * (double)reduced > (double)HORIZON)
        return SIM_TIME_MAX;
    return r->hop[0].ready_ps + r->steps * r->cost[0].first_ps + heaviest + (n - 1) * reduced;
}

/* Above so many cells (positions x steps) chunks of two sizes are taken as one. */
#define MOST_CELLS (UINT64_C(1) << 26)

static SimTime
two_sizes(Recursion *r, const uint8_t *size)
{
    uint64_t cells = (uint64_t)r->n * r->steps;
    if (cells <= MOST_CELLS / 64)
        return follow(r, size, FALSE);
    g_autofree uint8_t *all = g_malloc(r->n);
    memset(all, SMALL, r->n);
    SimTime low = follow(r, all, TRUE);
    memset(all, LARGE, r->n);
    SimTime high = follow(r, all, TRUE);
    if (high == SIM_TIME_MAX || (double)(high - low) <= MAX(10.0, 1e-9 * (double)high) || cells > MOST_CELLS)
        return high;
    return follow(r, size, FALSE);
}

SimTime
ring_time(const Ring *ring, const RingHop *hop, uint64_t slice_B, double reduce_cost_s_per_B)
{
    assert(ring->n >= 2);
    uint32_t n = ring->n;
    Recursion r = {.n = n, .steps = ring_steps(ring), .ring = ring, .hop = hop};
    uint64_t small = ring->bytes / n, part[3];
    gboolean even = ring->bytes % n == 0;
    r.one_part = ring_parts(small + !even, slice_B, part) == 1;
    g_autofree HopCost *cost = r.cost = g_new(HopCost, (size_t)SIZES * n);
    g_autofree uint8_t *size = g_malloc(n);
    for (uint32_t p = 0; p < n; p++) {
        cost[p] = hop_cost(&hop[p], small, slice_B, reduce_cost_s_per_B);
        cost[(size_t)LARGE * n + p] = hop_cost(&hop[p], small + !even, slice_B, reduce_cost_s_per_B);
        uint32_t step =
            ring->kind == RING_REDUCE_SCATTER ? n - 1 : 1; /* in which position p, or p + 1, sends chunk p */
        uint32_t at = ring->kind == RING_REDUCE_SCATTER ? (p + n - 1) % n : p;
        size[p] = ring_chunk(ring, at, step) > small ? LARGE : SMALL;
    }
    if (uniform(&r))
        return uniform_time(&r);
    return even ? follow(&r, size, TRUE) : two_sizes(&r, size);
}
