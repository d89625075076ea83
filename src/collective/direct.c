/* direct.c - everybody to everybody at once
 *
 * reduce_scatter: each sends chunk j to member j, who reduces the n - 1 it got when all are there; all_gather: each
 * sends its chunk to all; all_reduce: one after the other, a + (n-1)/n S b each. all_to_all: all at once, also uneven.
 * broadcast, reduce: the root with all. */
#include "collective/algorithm.h"

#include "base/error.h"

/* So that messages can be numbered in 32 bits. */
enum { MOST_RANKS = 1 << 16 };

static uint32_t
put(Schedule *schedule, uint32_t src, uint32_t dst, uint32_t phase, uint64_t bytes)
{
    return schedule_send(schedule, (ScheduleNode){.src = src, .dst = dst, .phase = phase, .bytes = bytes});
}

static void
to_all(const CollectiveSpec *spec, Schedule *schedule)
{
    for (uint32_t i = 0; i < spec->n; i++) {
        for (uint32_t hop = 1; hop < spec->n; hop++) {
            uint32_t j = (i + hop) % spec->n;
            if (plan_all_to_all_sends(spec, i, j))
                put(schedule, i, j, 0, plan_all_to_all_bytes(spec, i, j));
        }
    }
}

/* Into joins: the point at which member j has all parts of chunk j and has reduced them. */
static void
scatter(const CollectiveSpec *spec, Schedule *schedule, uint32_t *joins)
{
    for (uint32_t j = 0; j < spec->n; j++) {
        uint64_t chunk = plan_chunks(spec->bytes, spec->n, j, j + 1);
        joins[j] = schedule_join(schedule, j, 0, 0, chunk * (spec->n - 1));
        for (uint32_t hop = 1; hop < spec->n; hop++)
            schedule_after_delivered(schedule, joins[j], put(schedule, (j + hop) % spec->n, j, 0, chunk));
    }
}

static void
gather(const CollectiveSpec *spec, Schedule *schedule, const uint32_t *joins)
{
    for (uint32_t i = 0; i < spec->n; i++) {
        uint64_t chunk = plan_chunks(spec->bytes, spec->n, i, i + 1);
        for (uint32_t hop = 1; hop < spec->n; hop++) {
            uint32_t node = put(schedule, i, (i + hop) % spec->n, joins != NULL, chunk);
            if (joins != NULL)
                schedule_after_delivered(schedule, node, joins[i]);
        }
    }
}

static void
rooted(const CollectiveSpec *spec, Schedule *schedule)
{
    gboolean reduce = spec->kind == COLLECTIVE_REDUCE;
    uint32_t join = reduce ? schedule_join(schedule, spec->root, 0, 0, spec->bytes * (spec->n - 1)) : INDEX_NONE;
    for (uint32_t hop = 1; hop < spec->n; hop++) {
        uint32_t other = (spec->root + hop) % spec->n;
        uint32_t node = put(schedule, reduce ? other : spec->root, reduce ? spec->root : other, 0, spec->bytes);
        if (reduce)
            schedule_after_delivered(schedule, join, node);
    }
}

/* The same as rounds. */
static Pairs *
rounds(const CollectiveSpec *spec)
{
    Pairs *pairs = g_new0(Pairs, 1);
    gboolean exchange = spec->kind == COLLECTIVE_ALL_TO_ALL;
    pairs->bytes = g_new(uint64_t, spec->n);
    for (uint32_t i = 0; i < spec->n; i++)
        pairs->bytes[i] = exchange ? plan_all_to_all_bytes(spec, 0, i) : plan_chunks(spec->bytes, spec->n, i, i + 1);
    if (spec->kind != COLLECTIVE_ALL_GATHER)
        pairs->round[pairs->n_rounds++] = (PairRound){.reduces = !exchange};
    if (spec->kind != COLLECTIVE_REDUCE_SCATTER && !exchange)
        pairs->round[pairs->n_rounds++] = (PairRound){.by_source = TRUE};
    return pairs;
}

/* Does everybody send to everybody, each the same or each of the same? */
static gboolean
is_even(const CollectiveSpec *spec)
{
    if (spec->kind == COLLECTIVE_ALL_TO_ALL)
        return spec->matrix == NULL;
    return spec->kind != COLLECTIVE_BROADCAST && spec->kind != COLLECTIVE_REDUCE;
}

static gboolean
plan_direct(const PlanRequest *request, Plan *plan, GError **error)
{
    const CollectiveSpec *spec = request->spec;
    if (spec->n > MOST_RANKS && spec->kind != COLLECTIVE_BROADCAST && spec->kind != COLLECTIVE_REDUCE)
        return error_input(error, "direct from all to all is for at most %d ranks; here are %u", MOST_RANKS, spec->n);
    if (request->compact && is_even(spec)) {
        plan->pairs = rounds(spec);
        return TRUE;
    }
    g_autofree uint32_t *joins = g_new(uint32_t, spec->n);
    switch (spec->kind) {
    case COLLECTIVE_ALL_TO_ALL:
        to_all(spec, plan->schedule);
        break;
    case COLLECTIVE_ALL_GATHER:
        gather(spec, plan->schedule, NULL);
        break;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
        rooted(spec, plan->schedule);
        break;
    default:
        scatter(spec, plan->schedule, joins);
        if (spec->kind != COLLECTIVE_REDUCE_SCATTER)
            gather(spec, plan->schedule, joins);
    }
    return TRUE;
}

const CollectiveAlgorithm algorithm_direct = {
    .name = "direct",
    .help = "everybody to everybody at once; all_reduce: reduce-scatter, then all-gather",
    .kinds = (1u << COLLECTIVE_KINDS) - 1,
    .plan = plan_direct,
};
