/* chain.c - broadcast along a chain of all members a channel, in chunks of `slice`
 *
 * A member passes a chunk on when it has all of it, and sends the next one when the last has arrived: with k chunks
 * over hops of latency a, (n - 2 + k) (a + S/k/B). A ring broadcast of NCCL does not wait for arrivals: that costs k -
 * 1 latencies less. */
#include "base/error.h"
#include "collective/algorithm.h"

enum { MOST_SENDS = 1 << 23 };

static gboolean
plan_chain(const PlanRequest *request, Plan *plan, GError **error)
{
    const CollectiveSpec *spec = request->spec;
    uint32_t n = spec->n;
    g_autofree uint32_t *order = g_new(uint32_t, n), *last = g_new(uint32_t, n);
    plan->schedule->channel_nics = TRUE;
    for (uint32_t k = 0; k < request->layout->n_channels; k++) {
        if (!plan_channel_used(request, k))
            continue;
        uint64_t bytes = request->cut[k + 1] - request->cut[k];
        uint32_t n_chunks = plan_slices(bytes, request->slice_B);
        if ((uint64_t)n_chunks * n > MOST_SENDS)
            return error_input(error,
                               "chain: %u chunks of %" G_GUINT64_FORMAT " B for %u ranks are more than %d sends; "
                               "give a larger slice",
                               n_chunks, request->slice_B, n, MOST_SENDS);
        layout_order_from(request->layout, k, spec->root, order);
        for (uint32_t p = 0; p < n; p++)
            last[p] = INDEX_NONE;
        for (uint32_t c = 0; c < n_chunks; c++) {
            uint32_t got = INDEX_NONE;
            for (uint32_t p = 0; p + 1 < n; p++) {
                uint32_t node =
                    schedule_send(plan->schedule, (ScheduleNode){.src = order[p],
                                                                 .dst = order[p + 1],
                                                                 .channel = k,
                                                                 .phase = p + c,
                                                                 .bytes = plan_chunks(bytes, n_chunks, c, c + 1)});
                schedule_after_delivered(plan->schedule, node, got);
                schedule_after_delivered(plan->schedule, node, last[p]);
                got = last[p] = node;
            }
        }
    }
    return TRUE;
}

const CollectiveAlgorithm algorithm_chain = {
    .name = "chain",
    .help = "from one to the next, in chunks of `slice`",
    .kinds = KIND_BIT(BROADCAST),
    .sliced = TRUE,
    .plan = plan_chain,
};
