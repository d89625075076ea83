/* recursive_doubling.c - all-reduce in lg n rounds: in round r, ranks 2^r apart exchange all they have and reduce it
 *
 * n not a power of two: p = the largest one below; rank p + j first gives its vector to rank j, which reduces it, and
 * gets the result back at the end (Thakur, Rabenseifner and Gropp, Optimization of Collective Communication Operations
 * in MPICH, 2005, section 4). */
#include "collective/algorithm.h"

typedef struct {
    Schedule *schedule;
    uint64_t bytes;
    uint32_t *own, *got; /* by member: its last send, the last send to it; INDEX_NONE */
    uint32_t phase;
} Exchange;

static uint32_t
send_all(Exchange *it, uint32_t src, uint32_t dst, gboolean reduce)
{
    uint32_t node = schedule_send(
        it->schedule,
        (ScheduleNode){
            .src = src, .dst = dst, .phase = it->phase, .bytes = it->bytes, .reduce_B = reduce ? it->bytes : 0});
    schedule_after_sent(it->schedule, node, it->own[src]);
    schedule_after_delivered(it->schedule, node, it->got[src]);
    return node;
}

/* Between the first ranks and those beyond the power of two. */
static void
fold(Exchange *it, uint32_t p, uint32_t extra, gboolean back)
{
    for (uint32_t j = 0; j < extra; j++) {
        uint32_t src = back ? j : p + j, dst = back ? p + j : j;
        it->got[dst] = it->own[src] = send_all(it, src, dst, !back);
    }
    it->phase += extra > 0;
}

static gboolean
plan_recursive_doubling(const PlanRequest *request, Plan *plan, GError **error)
{
    uint32_t n = request->spec->n, p = 1;
    while (p <= n / 2)
        p *= 2;
    g_autofree uint32_t *rows = g_new(uint32_t, (size_t)n * 3);
    uint32_t *next = rows + 2 * (size_t)n;
    Exchange it = {plan->schedule, request->spec->bytes, rows, rows + n, 0};
    for (uint32_t i = 0; i < 2 * n; i++)
        rows[i] = INDEX_NONE;
    fold(&it, p, n - p, FALSE);
    for (uint32_t distance = 1; distance < p; distance *= 2, it.phase++) {
        for (uint32_t i = 0; i < p; i++)
            next[i] = send_all(&it, i, i ^ distance, TRUE);
        for (uint32_t i = 0; i < p; i++) {
            it.own[i] = next[i];
            it.got[i] = next[i ^ distance];
        }
    }
    fold(&it, p, n - p, TRUE);
    return TRUE;
}

const CollectiveAlgorithm algorithm_recursive_doubling = {
    .name = "recursive_doubling",
    .help = "all of it exchanged at distance 1, 2, 4, ...: lg n rounds; ranks beyond a power of two are folded in",
    .kinds = KIND_BIT(ALL_REDUCE) | KIND_BIT(BARRIER),
    .plan = plan_recursive_doubling,
};
