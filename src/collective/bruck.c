/* bruck.c - all-to-all and all-gather in ceil(lg n) rounds
 *
 * All-to-all: a block on its way from rank o to rank o + j moves on by 2^r in round r where bit r of j is set; what one
 * rank sends in a round goes in one message. All-gather: in round r rank i, which has the blocks of i, i + 1, ... i +
 * 2^r - 1, sends them (or as many as are still missing) to i - 2^r (Bruck et al., Efficient Algorithms for All-to-All
 * Communications in Multiport Message-Passing Systems, 1997). */
#include "base/error.h"
#include "collective/algorithm.h"

/* Blocks are counted pair by pair where they differ. */
enum { MOST_UNEVEN = 4096 };

/* What rank `holder` sends in the round of distance d. */
static uint64_t
all_to_all_bytes(const CollectiveSpec *spec, uint32_t holder, uint32_t d)
{
    uint32_t n = spec->n, blocks = 0;
    uint64_t bytes = 0;
    for (uint32_t j = d; j < n; j++) {
        if ((j & d) == 0)
            continue;
        blocks++;
        if (spec->bytes % n == 0)
            continue;
        uint32_t origin = (holder + n - (j & (d - 1))) % n;
        bytes += plan_all_to_all_bytes(spec, origin, (origin + j) % n);
    }
    return spec->bytes % n == 0 ? blocks * (spec->bytes / n) : bytes;
}

/* Of `count` chunks of the result from number i on, around. */
static uint64_t
all_gather_bytes(const CollectiveSpec *spec, uint32_t i, uint32_t count)
{
    uint32_t n = spec->n, end = MIN(i + count, n);
    return plan_chunks(spec->bytes, n, i, end) + plan_chunks(spec->bytes, n, 0, i + count - end);
}

static gboolean
plan_bruck(const PlanRequest *request, Plan *plan, GError **error)
{
    const CollectiveSpec *spec = request->spec;
    uint32_t n = spec->n;
    gboolean exchange = spec->kind == COLLECTIVE_ALL_TO_ALL;
    if (exchange && spec->matrix != NULL)
        return error_input(error, "bruck is for an all-to-all of equal blocks; here they differ: direct or pairwise");
    if (exchange && spec->bytes % n != 0 && n > MOST_UNEVEN)
        return error_input(error,
                           "bruck among more than %d ranks is for sizes that they divide; %" G_GUINT64_FORMAT
                           " B among %u leave %u B",
                           MOST_UNEVEN, spec->bytes, n, (uint32_t)(spec->bytes % n));
    g_autofree uint32_t *rows = g_new(uint32_t, (size_t)n * 3);
    uint32_t *own = rows, *got = rows + n, *next = rows + 2 * (size_t)n, phase = 0;
    for (uint32_t i = 0; i < n; i++)
        own[i] = got[i] = INDEX_NONE;
    for (uint32_t d = 1; d < n; d *= 2, phase++) {
        for (uint32_t i = 0; i < n; i++) {
            uint32_t dst = exchange ? (i + d) % n : (i + n - d) % n;
            uint64_t bytes = exchange ? all_to_all_bytes(spec, i, d) : all_gather_bytes(spec, i, MIN(d, n - d));
            next[i] =
                schedule_send(plan->schedule, (ScheduleNode){.src = i, .dst = dst, .phase = phase, .bytes = bytes});
            schedule_after_sent(plan->schedule, next[i], own[i]);
            schedule_after_delivered(plan->schedule, next[i], got[i]);
        }
        for (uint32_t i = 0; i < n; i++) {
            own[i] = next[i];
            got[exchange ? (i + d) % n : (i + n - d) % n] = next[i];
        }
    }
    return TRUE;
}

const CollectiveAlgorithm algorithm_bruck = {
    .name = "bruck",
    .help = "lg n rounds; all_to_all: half of all in each, by way of others; all_gather: twice as much in each",
    .kinds = KIND_BIT(ALL_TO_ALL) | KIND_BIT(ALL_GATHER),
    .plan = plan_bruck,
};
