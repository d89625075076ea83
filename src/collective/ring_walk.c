#include "collective/ring_walk.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Times beyond this are out of range: sums of a few of them must not wrap. */
#define HORIZON (SIM_TIME_MAX / 8)

enum { SMALL, LARGE, SIZES };

/* What one size of chunk costs on one hop. */
typedef struct {
    SimTime send_ps[3];   /* first part, middle, last; of one part the first */
    SimTime reduce_ps[3]; /* at the receiver */
} HopCost;

/* A step of all positions, by position. */
typedef struct {
    SimTime *first, *end;           /* the first part, the whole chunk has been sent */
    SimTime *next_first, *next_end; /* ... is with the next position, reduced where it has to be */
} Row;

struct RingWalk {
    const Ring *ring;
    const RingHop *hop;
    uint64_t slice_B;
    uint32_t n, steps, step;
    uint32_t parts[SIZES];
    uint64_t part_B[SIZES][3];
    gboolean even;     /* all chunks are walked at one size */
    gboolean wide;     /* might it leave the range? */
    RingSizes sizes;   /* as asked */
    uint8_t *size;     /* of chunk number i, twice over: [2n] */
    HopCost *cost;     /* [size * n + position] */
    SimTime *one_part; /* of the size walked: to send a chunk that is one part, where both sizes are */
    Row before, now;
    SimTime *store; /* of the rows */
    SimTime end;
};

static SimTime
sending_time(uint64_t bytes, double rate_Bps)
{
    SimTime time;
    if (bytes == 0 || isinf(rate_Bps))
        return 0;
    return sim_time_from_bytes((double)bytes, rate_Bps, &time) ? MIN(time, HORIZON) : HORIZON;
}

static SimTime
reducing_time(double cost_s_per_B, uint64_t bytes)
{
    SimTime time;
    return sim_time_from_seconds(cost_s_per_B * (double)bytes, &time) ? MIN(time, HORIZON) : HORIZON;
}

/* Of both sizes; of one where all chunks have it. Neighbours are mostly alike. */
static void
set_costs(RingWalk *walk, double reduce_cost)
{
    uint32_t sizes = walk->ring->bytes % walk->n == 0 ? SMALL + 1 : SIZES;
    for (uint32_t size = 0; size < sizes; size++) {
        HopCost *cost = &walk->cost[(size_t)size * walk->n];
        for (uint32_t part = 0; part < walk->parts[size]; part++)
            cost->reduce_ps[part] = reducing_time(reduce_cost, walk->part_B[size][part]);
        for (uint32_t p = 0; p < walk->n; p++, cost++) {
            if (p > 0)
                *cost = cost[-1];
            if (p > 0 && walk->hop[p].rate_Bps == walk->hop[p - 1].rate_Bps)
                continue;
            for (uint32_t part = 0; part < walk->parts[size]; part++)
                cost->send_ps[part] = sending_time(walk->part_B[size][part], walk->hop[p].rate_Bps);
        }
    }
}

/* Could it leave the range, were each step as long as the longest? */
static gboolean
is_wide(const RingWalk *walk)
{
    double longest = 0, ready = 0;
    uint32_t size = walk->ring->bytes % walk->n == 0 ? SMALL : LARGE;
    for (uint32_t p = 0; p < walk->n; p++) {
        double one = (double)walk->hop[p].latency_ps;
        for (uint32_t i = 0; i < 3; i++)
            one += (double)walk->cost[(size_t)size * walk->n + p].send_ps[i] +
                   (double)walk->cost[(size_t)size * walk->n + p].reduce_ps[i];
        longest = MAX(longest, one);
        ready = MAX(ready, (double)walk->hop[p].ready_ps);
    }
    return ready + (double)walk->steps * longest > (double)HORIZON;
}

/* Which of the two sizes each chunk has. */
static void
set_sizes(RingWalk *walk)
{
    const Ring *ring = walk->ring;
    uint64_t small = ring->bytes / ring->n;
    gboolean one_size = ring->bytes % ring->n == 0;
    memset(walk->size, one_size ? SMALL : walk->sizes == RING_ALL_LARGE, 2 * (size_t)walk->n);
    for (uint32_t p = 0; !one_size && walk->sizes == RING_EXACT && p < walk->n; p++) {
        /* the step in which position p, or the one before it, sends chunk p */
        uint32_t step = ring->kind == RING_REDUCE_SCATTER ? ring->n - 1 : 1;
        uint32_t at = ring->kind == RING_REDUCE_SCATTER ? (p + ring->n - 1) % ring->n : p;
        walk->size[p] = walk->size[p + walk->n] = ring_chunk(ring, at, step) > small ? LARGE : SMALL;
    }
}

RingWalk *
ring_walk_new(const Ring *ring, const RingHop *hop, uint64_t slice_B, double reduce_cost_s_per_B)
{
    assert(ring->n >= 2);
    RingWalk *walk = g_new0(RingWalk, 1);
    uint32_t n = walk->n = ring->n;
    walk->ring = ring;
    walk->hop = hop;
    walk->steps = ring_steps(ring);
    uint64_t small = ring->bytes / n;
    walk->parts[SMALL] = ring_parts(small, slice_B, walk->part_B[SMALL]);
    walk->parts[LARGE] = ring_parts(small + (ring->bytes % n != 0), slice_B, walk->part_B[LARGE]);
    walk->size = g_malloc(2 * (size_t)n);
    walk->cost = g_new0(HopCost, (size_t)SIZES * n);
    walk->one_part = g_new(SimTime, n);
    walk->store = g_new(SimTime, 8 * (size_t)n);
    SimTime *at = walk->store;
    SimTime **rows[] = {&walk->before.first, &walk->before.end, &walk->before.next_first, &walk->before.next_end,
                        &walk->now.first,    &walk->now.end,    &walk->now.next_first,    &walk->now.next_end};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++, at += n)
        *rows[i] = at;
    set_costs(walk, reduce_cost_s_per_B);
    walk->wide = is_wide(walk);
    ring_walk_restart(walk, RING_EXACT);
    return walk;
}

void
ring_walk_free(RingWalk *walk)
{
    if (walk == NULL)
        return;
    g_free(walk->size);
    g_free(walk->cost);
    g_free(walk->one_part);
    g_free(walk->store);
    g_free(walk);
}

void
ring_walk_restart(RingWalk *walk, RingSizes sizes)
{
    uint32_t n = walk->n;
    walk->step = 0;
    walk->sizes = sizes;
    walk->even = sizes != RING_EXACT || walk->ring->bytes % n == 0;
    set_sizes(walk);
    walk->end = 0;
    for (uint32_t p = 0; p < n; p++) {
        walk->one_part[p] = walk->cost[(size_t)walk->size[0] * n + p].send_ps[0];
        walk->now.first[p] = walk->now.next_first[p] = walk->now.next_end[p] = 0;
        walk->now.end[p] = walk->hop[p].ready_ps;
        walk->end = MAX(walk->end, walk->hop[p].ready_ps);
    }
}

/* The size of each position's chunk in the step just begun, by position. */
static const uint8_t *
sizes_of_step(const RingWalk *walk)
{
    uint32_t back = walk->ring->kind == RING_REDUCE_SCATTER ? walk->step : walk->step - 1;
    return walk->size + (2 * (uint64_t)walk->n - back) % walk->n;
}

/* Chunks of one size, each in one part: a line of e_i(k), no more. */
static void
step_whole(RingWalk *walk, SimTime reduce)
{
    const SimTime *end = walk->before.end, *here = walk->before.next_end, *cost = walk->one_part;
    SimTime *now = walk->now.end, *next = walk->now.next_end;
    const RingHop *hop = walk->hop;
    SimTime up = here[walk->n - 1];
    for (uint32_t p = 0; p < walk->n; p++) {
        SimTime sent = MAX(end[p], up) + cost[p];
        now[p] = sent;
        next[p] = sent + hop[p].latency_ps + reduce;
        up = here[p];
    }
}

/* Position p's send of a chunk in several parts, or in one among such. */
static void
step_parts(RingWalk *walk, uint32_t p, uint32_t size, gboolean reduces)
{
    const HopCost *cost = &walk->cost[(size_t)size * walk->n + p];
    uint32_t up = p == 0 ? walk->n - 1 : p - 1, parts = walk->parts[size], last = parts - 1;
    SimTime latency = walk->hop[p].latency_ps;
    SimTime first = MAX(walk->before.end[p], walk->before.next_first[up]) + cost->send_ps[0], end = first;
    SimTime next_first = first + latency + (reduces ? cost->reduce_ps[0] : 0), next_end = next_first;
    if (parts > 1) {
        SimTime middle = parts == 3 ? first + cost->send_ps[1] : first;
        end = MAX(middle, walk->before.next_end[up]) + cost->send_ps[last];
        next_end = end + latency + (reduces ? cost->reduce_ps[last] : 0);
        if (reduces)
            walk->end = MAX(walk->end, next_first);
        if (reduces && parts == 3)
            walk->end = MAX(walk->end, middle + latency + cost->reduce_ps[1]);
    }
    walk->now.first[p] = first;
    walk->now.end[p] = end;
    walk->now.next_first[p] = next_first;
    walk->now.next_end[p] = next_end;
}

gboolean
ring_walk_whole(const RingWalk *walk)
{
    return walk->even && walk->parts[walk->size[0]] == 1;
}

gboolean
ring_walk_step(RingWalk *walk)
{
    if (walk->step == walk->steps || ring_walk_overflows(walk))
        return FALSE;
    Row swap = walk->before;
    walk->before = walk->now;
    walk->now = swap;
    walk->step++;
    gboolean reduces = ring_reduces(walk->ring, walk->step);
    if (ring_walk_whole(walk)) {
        step_whole(walk, reduces ? walk->cost[(size_t)walk->size[0] * walk->n].reduce_ps[0] : 0);
        return TRUE;
    }
    const uint8_t *size = sizes_of_step(walk);
    for (uint32_t p = 0; p < walk->n; p++)
        step_parts(walk, p, size[p], reduces);
    return TRUE;
}

/* Has every position moved on by the same time? Then it will in every further step under the same costs. */
static gboolean
steady(const RingWalk *walk, SimTime *shift)
{
    const Row *before = &walk->before, *now = &walk->now;
    *shift = now->end[0] - before->end[0];
    for (uint32_t p = 0; p < walk->n; p++) {
        if (now->end[p] - before->end[p] != *shift || now->next_end[p] - before->next_end[p] != *shift)
            return FALSE;
        if (!ring_walk_whole(walk) &&
            (now->first[p] - before->first[p] != *shift || now->next_first[p] - before->next_first[p] != *shift))
            return FALSE;
    }
    return TRUE;
}

void
ring_walk_jump(RingWalk *walk)
{
    SimTime shift;
    /* Costs stay up to the last reduced step, then to the end. */
    uint32_t more = ring_reduces(walk->ring, walk->step) ? walk->n - 1 - walk->step : walk->steps - walk->step;
    if (!walk->even || walk->step < 2 || more < 2 || ring_walk_overflows(walk) || !steady(walk, &shift))
        return;
    walk->step += more;
    if (shift > 0 && more > HORIZON / shift) {
        walk->wide = TRUE;
        walk->now.end[0] = SIM_TIME_MAX;
        return;
    }
    Row *now = &walk->now;
    for (uint32_t p = 0; p < walk->n; p++) {
        now->end[p] += shift * more;
        now->next_end[p] += shift * more;
        now->first[p] += shift * more;
        now->next_first[p] += shift * more;
    }
    walk->end += shift * more;
}

gboolean
ring_walk_overflows(const RingWalk *walk)
{
    for (uint32_t p = 0; walk->wide && p < walk->n; p++) {
        if (walk->now.end[p] > HORIZON)
            return TRUE;
    }
    return FALSE;
}

uint32_t
ring_walk_steps(const RingWalk *walk)
{
    return walk->step;
}

SimTime
ring_walk_end(const RingWalk *walk)
{
    SimTime end = walk->end;
    for (uint32_t p = 0; p < walk->n; p++)
        end = MAX(end, walk->now.next_end[p]);
    return end;
}

SimTime
ring_walk_sent(const RingWalk *walk, uint32_t p)
{
    return walk->now.end[p];
}

SimTime
ring_walk_ready(const RingWalk *walk, uint32_t p)
{
    return walk->now.next_end[p];
}

uint32_t
ring_walk_parts(const RingWalk *walk, uint32_t p, RingPart part[3])
{
    uint32_t size = sizes_of_step(walk)[p], up = p == 0 ? walk->n - 1 : p - 1, parts = walk->parts[size];
    const HopCost *cost = &walk->cost[(size_t)size * walk->n + p];
    gboolean reduces = ring_reduces(walk->ring, walk->step), whole = ring_walk_whole(walk);
    const SimTime *first_here = whole ? walk->before.next_end : walk->before.next_first;
    SimTime free_at = walk->before.end[p];
    for (uint32_t i = 0; i < parts; i++) {
        SimTime here = i == 0 ? first_here[up] : i + 1 == parts ? walk->before.next_end[up] : 0;
        part[i].bytes = walk->part_B[size][i];
        part[i].start_ps = MAX(free_at, here);
        part[i].sent_ps = free_at = part[i].start_ps + cost->send_ps[i];
        part[i].ready_ps = part[i].sent_ps + walk->hop[p].latency_ps + (reduces ? cost->reduce_ps[i] : 0);
    }
    return parts;
}
