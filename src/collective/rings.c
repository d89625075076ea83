#include "collective/rings.h"

#include <assert.h>

Rings *
rings_new(void)
{
    Rings *rings = g_new0(Rings, 1);
    rings->rings = g_array_new(FALSE, FALSE, sizeof(Ring));
    rings->seats = g_array_new(FALSE, FALSE, sizeof(Seat));
    return rings;
}

void
rings_free(Rings *rings)
{
    if (rings == NULL)
        return;
    g_array_unref(rings->rings);
    g_array_unref(rings->seats);
    g_free(rings->opens.first);
    g_free(rings->opens.to);
    g_free(rings);
}

uint32_t
rings_add(Rings *rings, Ring ring, const uint32_t *order, uint32_t n, uint32_t *previous)
{
    ring.n = n;
    ring.first_seat = rings->seats->len;
    g_array_append_val(rings->rings, ring);
    for (uint32_t p = 0; p < n; p++) {
        uint32_t from = previous != NULL ? previous[order[p]] : INDEX_NONE, here = rings->seats->len;
        Seat seat = {order[p], rings->rings->len - 1, INDEX_NONE, from};
        g_array_append_val(rings->seats, seat);
        if (from == INDEX_NONE)
            rings->n_last++;
        else
            g_array_index(rings->seats, Seat, from).next = here;
        if (previous != NULL)
            previous[order[p]] = here;
    }
    return rings->rings->len - 1;
}

gboolean
rings_opens(const Rings *rings, uint32_t seat)
{
    return g_array_index(rings->seats, Seat, seat).from == INDEX_NONE;
}

void
rings_seal(Rings *rings, uint32_t n_members)
{
    ScheduleEdges *opens = &rings->opens;
    opens->first = g_new0(uint32_t, n_members + 1);
    opens->to = g_new(uint32_t, MAX(rings->seats->len, 1));
    for (guint i = 0; i < rings->seats->len; i++) {
        if (rings_opens(rings, i))
            opens->first[g_array_index(rings->seats, Seat, i).member + 1]++;
    }
    for (uint32_t i = 0; i < n_members; i++)
        opens->first[i + 1] += opens->first[i];
    g_autofree uint32_t *fill = g_memdup2(opens->first, n_members * sizeof *fill);
    for (guint i = 0; i < rings->seats->len; i++) {
        if (rings_opens(rings, i))
            opens->to[fill[g_array_index(rings->seats, Seat, i).member]++] = i;
    }
}

uint32_t
ring_steps(const Ring *ring)
{
    return ring->kind == RING_ALL_REDUCE ? 2 * (ring->n - 1) : ring->n - 1;
}

static uint64_t
chunk_size(const Ring *ring, uint64_t chunk)
{
    if (ring->bytes <= UINT32_MAX) /* no wide division */
        return ring->bytes * (chunk + 1) / ring->n - ring->bytes * chunk / ring->n;
    if (ring->bytes % ring->n == 0)
        return ring->bytes / ring->n;
    unsigned __int128 bytes = ring->bytes;
    return (uint64_t)(bytes * (chunk + 1) / ring->n) - (uint64_t)(bytes * chunk / ring->n);
}

uint64_t
ring_chunk(const Ring *ring, uint32_t position, uint32_t step)
{
    assert(step >= 1 && step <= ring_steps(ring));
    uint64_t n = ring->n, back = ring->kind == RING_REDUCE_SCATTER ? step : step - 1;
    return chunk_size(ring, (position + 2 * n - back) % n);
}

uint64_t
ring_total(const Ring *ring, uint32_t position)
{
    uint64_t n = ring->n;
    if (n < 2)
        return 0;
    /* A reduce-scatter leaves out the chunk that stays here, an all-gather the one the next position made; an
     * all-reduce does both. */
    if (ring->kind == RING_REDUCE_SCATTER)
        return ring->bytes - chunk_size(ring, position);
    uint64_t next = chunk_size(ring, (position + 1) % n);
    if (ring->kind == RING_ALL_GATHER)
        return ring->bytes - next;
    return 2 * ring->bytes - next - chunk_size(ring, (position + 2) % n);
}

gboolean
ring_reduces(const Ring *ring, uint32_t step)
{
    return ring->kind != RING_ALL_GATHER && step < ring->n;
}

uint32_t
ring_parts(uint64_t chunk, uint64_t slice_B, uint64_t part[3])
{
    if (slice_B == 0 || slice_B >= chunk) {
        part[0] = chunk;
        return 1;
    }
    part[0] = slice_B;
    if (chunk - slice_B <= slice_B) {
        part[1] = chunk - slice_B;
        return 2;
    }
    part[1] = chunk - 2 * slice_B;
    part[2] = slice_B;
    return 3;
}
