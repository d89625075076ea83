/* hierarchical.c - rings within each server, rings across the servers, one for each place in a server
 *
 * all_reduce: reduce-scatter within, all-reduce across of each one's part, all-gather within. reduce_scatter: within,
 * then across; all_gather: across, then within. Hops across use each rank's nearest NIC; nothing overlaps but what the
 * members' own order lets. */
#include "collective/algorithm.h"

#include "base/error.h"

typedef struct {
    const PlanRequest *request;
    Rings *rings;
    uint32_t per_server, n_servers;
    uint32_t *previous, *order;
    uint32_t stage;
} Levels;

static void
within(Levels *l, RingKind kind)
{
    if (l->per_server < 2)
        return;
    uint64_t bytes = l->request->spec->bytes;
    for (uint32_t s = 0; s < l->n_servers; s++) {
        /* An all-gather's server holds all; a reduce-scatter's too. */
        Ring ring = {.kind = kind, .channel = 0, .stage = l->stage, .bytes = bytes};
        rings_add(l->rings, ring, l->request->layout->members + l->request->layout->first[s], l->per_server,
                  l->previous);
    }
    l->stage++;
}

static void
across(Levels *l, RingKind kind)
{
    if (l->n_servers < 2)
        return;
    const Layout *layout = l->request->layout;
    for (uint32_t i = 0; i < l->per_server; i++) {
        for (uint32_t s = 0; s < l->n_servers; s++)
            l->order[s] = layout->members[layout->first[s] + i];
        Ring ring = {.kind = kind,
                     .channel = i,
                     .stage = l->stage,
                     .bytes = plan_chunks(l->request->spec->bytes, l->per_server, i, i + 1)};
        rings_add(l->rings, ring, l->order, l->n_servers, l->previous);
    }
    l->stage++;
}

/* FALSE where a server holds more members than another. */
static gboolean
check_even(const PlanRequest *request, GError **error)
{
    const Layout *layout = request->layout;
    for (uint32_t s = 1; s < layout->n_servers; s++) {
        uint32_t first = layout->first[1], here = layout->first[s + 1] - layout->first[s];
        if (here != first)
            return error_input(error,
                               "hierarchical needs the same number of ranks in each server: the server of rank %u has "
                               "%u, that of rank %u %u",
                               request->spec->ranks[layout->members[0]], first,
                               request->spec->ranks[layout->members[layout->first[s]]], here);
    }
    return TRUE;
}

static gboolean
plan_hierarchical(const PlanRequest *request, Plan *plan, GError **error)
{
    if (!check_even(request, error))
        return FALSE;
    const Layout *layout = request->layout;
    uint32_t n = request->spec->n;
    g_autofree uint32_t *previous = g_new(uint32_t, n), *order = g_new(uint32_t, layout->n_servers);
    for (uint32_t i = 0; i < n; i++)
        previous[i] = INDEX_NONE;
    Levels levels = {request, plan->rings, layout->first[1], layout->n_servers, previous, order, 0};
    CollectiveKind kind = request->spec->kind;
    if (kind == COLLECTIVE_ALL_GATHER) {
        across(&levels, RING_ALL_GATHER);
        within(&levels, RING_ALL_GATHER);
        return TRUE;
    }
    within(&levels, RING_REDUCE_SCATTER);
    across(&levels, kind == COLLECTIVE_REDUCE_SCATTER ? RING_REDUCE_SCATTER : RING_ALL_REDUCE);
    if (kind != COLLECTIVE_REDUCE_SCATTER)
        within(&levels, RING_ALL_GATHER);
    return TRUE;
}

const CollectiveAlgorithm algorithm_hierarchical = {
    .name = "hierarchical",
    .help = "rings within each server, then across servers by place, then within; as many ranks in each server",
    .kinds = KIND_BIT(ALL_REDUCE) | KIND_BIT(ALL_GATHER) | KIND_BIT(REDUCE_SCATTER) | KIND_BIT(BARRIER),
    .plan = plan_hierarchical,
};
