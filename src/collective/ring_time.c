#include "collective/ring_time.h"

/* Times beyond this are out of range. */
#define HORIZON (SIM_TIME_MAX / 8)

/* Above so many cells (positions x steps) chunks of two sizes are taken as one. */
#define MOST_CELLS (UINT64_C(1) << 26)

static SimTime
follow(RingWalk *walk, RingSizes sizes)
{
    ring_walk_restart(walk, sizes);
    while (ring_walk_step(walk))
        ring_walk_jump(walk);
    SimTime end = ring_walk_end(walk);
    return ring_walk_overflows(walk) || end > HORIZON ? SIM_TIME_MAX : end;
}

/* Uniform rates and equal chunks in one part, no arrival apart: K sends and the heaviest K consecutive hops. In K - 1
 * hops from the send of step 1 to that of step K a path takes every reduction, and the last hop delivers. O(n). */
static gboolean
uniform(const Ring *ring, const RingHop *hop, uint64_t slice_B)
{
    uint64_t part[3];
    if (ring->bytes % ring->n != 0 || ring_parts(ring->bytes / ring->n, slice_B, part) > 1)
        return FALSE;
    for (uint32_t p = 1; p < ring->n; p++) {
        if (hop[p].rate_Bps != hop[0].rate_Bps || hop[p].ready_ps != hop[0].ready_ps)
            return FALSE;
    }
    return TRUE;
}

static SimTime
uniform_time(const Ring *ring, const RingHop *hop, double reduce_cost)
{
    SimTime window = 0, heaviest = 0, sending, reducing;
    uint32_t n = ring->n, steps = ring_steps(ring);
    uint64_t chunk = ring->bytes / n;
    if (!sim_time_from_bytes((double)chunk, hop[0].rate_Bps, &sending) ||
        !sim_time_from_seconds(ring->kind == RING_ALL_GATHER ? 0 : reduce_cost * (double)chunk, &reducing))
        return SIM_TIME_MAX;
    for (uint32_t i = 0; i < steps; i++)
        window += hop[i % n].latency_ps;
    for (uint32_t p = 0; p < n; p++) {
        heaviest = MAX(heaviest, window);
        window += hop[(p + steps) % n].latency_ps - hop[p].latency_ps;
    }
    if (heaviest > HORIZON || (double)steps * (double)sending > (double)HORIZON ||
        (double)n * (double)reducing > (double)HORIZON)
        return SIM_TIME_MAX;
    return hop[0].ready_ps + steps * sending + heaviest + (n - 1) * reducing;
}

SimTime
ring_time_exact(const Ring *ring, const RingHop *hop, uint64_t slice_B, double reduce_cost_s_per_B)
{
    if (uniform(ring, hop, slice_B))
        return uniform_time(ring, hop, reduce_cost_s_per_B);
    g_autoptr(RingWalk) walk = ring_walk_new(ring, hop, slice_B, reduce_cost_s_per_B);
    return follow(walk, RING_EXACT);
}

SimTime
ring_time(const Ring *ring, const RingHop *hop, uint64_t slice_B, double reduce_cost_s_per_B)
{
    uint64_t cells = (uint64_t)ring->n * ring_steps(ring);
    if (ring->bytes % ring->n == 0 || cells <= MOST_CELLS / 16)
        return ring_time_exact(ring, hop, slice_B, reduce_cost_s_per_B);
    g_autoptr(RingWalk) walk = ring_walk_new(ring, hop, slice_B, reduce_cost_s_per_B);
    SimTime low = follow(walk, RING_ALL_SMALL), high = follow(walk, RING_ALL_LARGE);
    if (high == SIM_TIME_MAX || (double)(high - low) <= MAX(10.0, 1e-9 * (double)high) || cells > MOST_CELLS)
        return high;
    return follow(walk, RING_EXACT);
}
