/* binomial.c - broadcast, reduce and all-reduce (one after the other) over a binomial tree a channel
 *
 * Position 0 is the root; in a broadcast position p, once it has the data, sends to p + d for d = the powers of two
 * below p's lowest set bit (the root: below n), largest first, so that far subtrees start early and, with 2^i members a
 * server, servers are left by one member alone. A reduce is the same the other way round; a parent takes its children
 * one after the other, nearest first. */
#include "collective/algorithm.h"

typedef struct {
    Schedule *schedule;
    uint32_t n, channel;
    uint64_t bytes;
    const uint32_t *order;
    uint32_t *own; /* a position's last send */
    uint32_t *got; /* the broadcast's send to it */
    uint32_t phase;
} Tree;

static uint32_t
tree_send(Tree *t, uint32_t from, uint32_t to, gboolean reduce)
{
    uint32_t node = schedule_send(t->schedule, (ScheduleNode){.src = t->order[from],
                                                              .dst = t->order[to],
                                                              .channel = t->channel,
                                                              .phase = t->phase,
                                                              .bytes = t->bytes,
                                                              .reduce_B = reduce ? t->bytes : 0});
    schedule_after_sent(t->schedule, node, t->own[from]);
    t->own[from] = node;
    return node;
}

/* Smallest power of two that is at least n. */
static uint32_t
span(uint32_t n)
{
    uint32_t d = 1;
    while (d < n)
        d *= 2;
    return d;
}

/* Into up[p]: the send of p to its parent. */
static void
reduce(Tree *t, uint32_t *up)
{
    for (uint32_t d = 1; d < t->n; d *= 2, t->phase++) {
        for (uint32_t p = d; p < t->n; p += 2 * d) {
            up[p] = tree_send(t, p, p - d, TRUE);
            for (uint32_t child = 1; child < d && p + child < t->n; child *= 2)
                schedule_after_delivered(t->schedule, up[p], up[p + child]);
            if (d > 1)
                schedule_after_delivered(t->schedule, up[p], up[p - d + d / 2]);
        }
    }
}

/* up: of a reduce just before (the root waits for its children), or NULL. */
static void
broadcast(Tree *t, const uint32_t *up)
{
    for (uint32_t d = span(t->n) / 2; d > 0; d /= 2, t->phase++) {
        for (uint32_t p = 0; p + d < t->n; p += 2 * d) {
            uint32_t node = t->got[p + d] = tree_send(t, p, p + d, FALSE);
            if (p > 0)
                schedule_after_delivered(t->schedule, node, t->got[p]);
            for (uint32_t child = 1; p == 0 && up != NULL && child < t->n; child *= 2)
                schedule_after_delivered(t->schedule, node, up[child]);
        }
    }
}

static gboolean
plan_binomial(const PlanRequest *request, Plan *plan, GError **error)
{
    const CollectiveSpec *spec = request->spec;
    uint32_t n = spec->n;
    gboolean rooted = spec->kind == COLLECTIVE_BROADCAST || spec->kind == COLLECTIVE_REDUCE;
    g_autofree uint32_t *rows = g_new(uint32_t, (size_t)n * 4);
    uint32_t *order = rows, *own = rows + n, *got = own + n, *up = got + n;
    plan->schedule->channel_nics = TRUE;
    for (uint32_t k = 0; k < request->layout->n_channels; k++) {
        if (!plan_channel_used(request, k))
            continue;
        if (rooted)
            layout_order_from(request->layout, k, spec->root, order);
        else
            layout_order(request->layout, k, order);
        for (uint32_t i = 0; i < n; i++)
            own[i] = got[i] = INDEX_NONE;
        Tree tree = {plan->schedule, n, k, request->cut[k + 1] - request->cut[k], order, own, got, 0};
        if (spec->kind != COLLECTIVE_BROADCAST)
            reduce(&tree, up);
        if (spec->kind != COLLECTIVE_REDUCE)
            broadcast(&tree, spec->kind == COLLECTIVE_BROADCAST ? NULL : up);
    }
    return TRUE;
}

const CollectiveAlgorithm algorithm_binomial = {
    .name = "binomial",
    .help = "a binomial tree a channel; all_reduce: reduce, then broadcast",
    .kinds = KIND_BIT(ALL_REDUCE) | KIND_BIT(BROADCAST) | KIND_BIT(REDUCE) | KIND_BIT(BARRIER),
    .plan = plan_binomial,
};
