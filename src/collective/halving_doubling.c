/* halving_doubling.c - recursive halving and doubling all-reduce
 *
 * Halving: in round r, ranks 2^r apart exchange half of what they still hold, the nearest the most; doubling goes the
 * same way back. n not a power of two: p = the largest one below; rank p + j first gives its vector to rank j (which
 * reduces it) and gets the result back at the end. */
#include "collective/algorithm.h"

typedef struct {
    Schedule *schedule;
    uint64_t bytes;
    uint32_t p;           /* power of two */
    uint32_t *low, *high; /* a member holds chunks [low, high) of p */
    uint32_t *own;        /* its last send; INDEX_NONE */
    uint32_t *got;        /* the last send to it */
    uint32_t *next;       /* the round's sends */
    uint32_t phase;
    gboolean folded;
} Rounds;

/* A send of this phase after the member's last one and what it last got. */
static uint32_t
send_next(Rounds *r, uint32_t src, uint32_t dst, uint64_t bytes, gboolean reduce)
{
    uint32_t node = schedule_send(
        r->schedule,
        (ScheduleNode){.src = src, .dst = dst, .phase = r->phase, .bytes = bytes, .reduce_B = reduce ? bytes : 0});
    schedule_after_sent(r->schedule, node, r->own[src]);
    schedule_after_delivered(r->schedule, node, r->got[src]);
    if (r->folded)
        schedule_after_delivered(r->schedule, node, r->got[dst]);
    return node;
}

/* All of a round are in next, each member's by its number: they are now its last. */
static void
end_round(Rounds *r, uint32_t distance)
{
    for (uint32_t i = 0; i < r->p; i++) {
        r->own[i] = r->next[i];
        r->got[i] = r->next[i ^ distance];
    }
    r->phase++;
}

static void
halve(Rounds *r, uint32_t distance)
{
    for (uint32_t i = 0; i < r->p; i++) {
        uint32_t middle = (r->low[i] + r->high[i]) / 2;
        gboolean keeps_low = (i & distance) == 0;
        uint32_t from = keeps_low ? middle : r->low[i], to = keeps_low ? r->high[i] : middle;
        r->next[i] = send_next(r, i, i ^ distance, plan_chunks(r->bytes, r->p, from, to), TRUE);
        r->low[i] = keeps_low ? r->low[i] : middle;
        r->high[i] = keeps_low ? middle : r->high[i];
    }
    end_round(r, distance);
}

static void
double_up(Rounds *r, uint32_t distance)
{
    for (uint32_t i = 0; i < r->p; i++)
        r->next[i] = send_next(r, i, i ^ distance, plan_chunks(r->bytes, r->p, r->low[i], r->high[i]), FALSE);
    for (uint32_t i = 0; i < r->p; i++) {
        if ((i & distance) != 0)
            continue;
        uint32_t other = i ^ distance, low = MIN(r->low[i], r->low[other]), high = MAX(r->high[i], r->high[other]);
        r->low[i] = r->low[other] = low;
        r->high[i] = r->high[other] = high;
    }
    end_round(r, distance);
}

static void
fold(Rounds *r, uint32_t extra, gboolean back)
{
    if (extra == 0)
        return;
    for (uint32_t j = 0; j < extra; j++) {
        uint32_t src = back ? j : r->p + j, dst = back ? r->p + j : j;
        uint32_t node = send_next(r, src, dst, r->bytes, !back);
        r->own[src] = node;
        r->got[dst] = node;
    }
    r->phase++;
}

static gboolean
plan_halving_doubling(const PlanRequest *request, Plan *plan, GError **error)
{
    uint32_t n = request->spec->n, p = 1;
    while (p <= n / 2)
        p *= 2;
    g_autofree uint32_t *rows = g_new(uint32_t, (size_t)n * 5);
    Rounds r = {.schedule = plan->schedule,
                .bytes = request->spec->bytes,
                .p = p,
                .low = rows,
                .high = rows + n,
                .own = rows + 2 * (size_t)n,
                .got = rows + 3 * (size_t)n,
                .next = rows + 4 * (size_t)n,
                .folded = p < n};
    for (uint32_t i = 0; i < n; i++) {
        r.low[i] = 0;
        r.high[i] = p;
        r.own[i] = r.got[i] = INDEX_NONE;
    }
    fold(&r, n - p, FALSE);
    for (uint32_t distance = 1; distance < p; distance *= 2)
        halve(&r, distance);
    for (uint32_t distance = p / 2; distance > 0; distance /= 2)
        double_up(&r, distance);
    fold(&r, n - p, TRUE);
    return TRUE;
}

const CollectiveAlgorithm algorithm_halving_doubling = {
    .name = "halving_doubling",
    .help =
        "halves exchanged at distance 1, 2, 4, ... and back, 2 lg n rounds; ranks beyond a power of two are folded in",
    .kinds = KIND_BIT(ALL_REDUCE) | KIND_BIT(BARRIER),
    .plan = plan_halving_doubling,
};
