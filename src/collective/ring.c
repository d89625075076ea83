/* ring.c - ring all-reduce, all-gather, reduce-scatter and barrier, one ring a channel */
#include "collective/algorithm.h"

static RingKind
ring_kind(CollectiveKind kind)
{
    if (kind == COLLECTIVE_ALL_GATHER)
        return RING_ALL_GATHER;
    return kind == COLLECTIVE_REDUCE_SCATTER ? RING_REDUCE_SCATTER : RING_ALL_REDUCE;
}

static gboolean
plan_ring(const PlanRequest *request, Plan *plan, GError **error)
{
    uint32_t n = request->spec->n;
    g_autofree uint32_t *order = g_new(uint32_t, n);
    for (uint32_t k = 0; k < request->layout->n_channels; k++) {
        if (!plan_channel_used(request, k))
            continue;
        layout_order(request->layout, k, order);
        Ring ring = {.kind = ring_kind(request->spec->kind),
                     .channel = k,
                     .chain = k,
                     .channel_nics = TRUE,
                     .bytes = request->cut[k + 1] - request->cut[k]};
        rings_add(plan->rings, ring, order, n, NULL);
    }
    return TRUE;
}

const CollectiveAlgorithm algorithm_ring = {
    .name = "ring",
    .help = "chunks go round a ring a channel, 2(n-1) steps (all_gather, reduce_scatter: n-1)",
    .kinds = KIND_BIT(ALL_REDUCE) | KIND_BIT(ALL_GATHER) | KIND_BIT(REDUCE_SCATTER) | KIND_BIT(BARRIER),
    .plan = plan_ring,
};
