/* run_pairs.c - grain bundle of rounds in which everybody sends to everybody: each round is one activity
 *
 * As run_bundles.c does it: a round goes when all members have arrived and the round before has ended; what it takes
 * beyond the time of its slowest message's bytes is the latency of its bundle, from the times of the messages in an
 * empty network, each member counted from its arrival. No message is ever listed. */
#include "collective/run.h"

#include <math.h>

typedef struct {
    AllPairs pairs; /* arrays borrowed from the plan and the spec */
    uint32_t round;
    SimTime planned_ps; /* when the rounds so far end in an empty network, after the last arrival */
    SimTime *ready_ps;  /* when each member arrived; then, after the last arrival, when it may go on */
    SimTime *done_ps;   /* when all of a round is with it, and reduced */
} PairState;

static const Pairs *
pairs_of(const Run *run)
{
    return run->plan->plan->pairs;
}

static void
start(Run *run)
{
    PairState *state = run->state = g_new0(PairState, 1);
    state->ready_ps = g_new(SimTime, run->spec.n);
    state->done_ps = g_new(SimTime, run->spec.n);
    state->pairs = plan_all_pairs(&run->spec, pairs_of(run), 0);
    run->left = 1;
}

static void
stop(Run *run)
{
    PairState *state = run->state;
    g_free(state->ready_ps);
    g_free(state->done_ps);
    g_free(state);
}

static SimTime
plus(SimTime a, SimTime b)
{
    SimTime sum;
    return sim_time_add(a, b, &sum) ? sum : SIM_TIME_MAX;
}

static SimTime
sending_time(uint64_t bytes, double rate_Bps)
{
    SimTime time;
    if (bytes == 0 || isinf(rate_Bps))
        return 0;
    return sim_time_from_bytes((double)bytes, rate_Bps, &time) ? time : SIM_TIME_MAX;
}

/* The messages of a round between members who meet the same: when each has come, and the longest to send. */
typedef struct {
    const AllPairs *pairs;
    const SimTime *ready_ps;
    SimTime *done_ps, *sends_ps;
    uint64_t bytes; /* of the message last reckoned */
    SimTime sends;  /* ... its time to send */
} Reckoning;

static void
reckon(Reckoning *r, const NetworkProbe *met, uint32_t i, uint32_t j)
{
    uint64_t bytes = r->pairs->bytes[r->pairs->by_source ? i : j];
    if (bytes != r->bytes) {
        r->bytes = bytes;
        r->sends = sending_time(bytes, met->rate_Bps);
        *r->sends_ps = MAX(*r->sends_ps, r->sends);
    }
    r->done_ps[j] = MAX(r->done_ps[j], plus(plus(r->ready_ps[i], r->sends), met->latency_ps));
}

/* Of two groups. */
static void
reckon_groups(Reckoning *r, const PairProbes *probes, uint32_t from, uint32_t to)
{
    const PairGroups *groups = probes->groups;
    const NetworkProbe *met =
        &g_array_index(probes->probe, NetworkProbe, probes->cell[(size_t)from * groups->to.n + to]);
    r->bytes = UINT64_MAX;
    for (uint32_t a = groups->from.first[from]; a < groups->from.first[from + 1]; a++) {
        uint32_t i = groups->from.list[a];
        for (uint32_t b = groups->to.first[to]; b < groups->to.first[to + 1]; b++) {
            if (groups->site[i] != groups->site[groups->to.list[b]])
                reckon(r, met, i, groups->to.list[b]);
        }
    }
}

/* When each member has all of this round, after the last arrival; the longest time to send a message. */
static SimTime
reckon_round(const Run *run, const PairProbes *probes)
{
    PairState *state = run->state;
    const PairGroups *groups = probes->groups;
    SimTime sends = 0;
    Reckoning r = {&state->pairs, state->ready_ps, state->done_ps, &sends, UINT64_MAX, 0};
    for (uint32_t i = 0; i < run->spec.n; i++)
        state->done_ps[i] = INT64_MIN;
    for (uint32_t from = 0; from < groups->from.n; from++) {
        for (uint32_t to = 0; to < groups->to.n; to++) {
            if (probes->probe->len > 0)
                reckon_groups(&r, probes, from, to);
        }
    }
    for (uint32_t i = 0; i < run->spec.n; i++) {
        uint32_t first = groups->first[groups->site[i]], n = groups->first[groups->site[i] + 1] - first;
        for (uint32_t k = 0; k < n; k++) {
            r.bytes = UINT64_MAX;
            if (groups->list[first + k] != i)
                reckon(&r, &g_array_index(probes->near, NetworkProbe, probes->near_at[i] + k), i,
                       groups->list[first + k]);
        }
    }
    return sends;
}

/* What has come is reduced, and the next round goes from there. */
static SimTime
reduce_round(const Run *run, const PairRound *round)
{
    PairState *state = run->state;
    SimTime all_done = INT64_MIN;
    for (uint32_t i = 0; i < run->spec.n; i++) {
        SimTime reduction = 0;
        double bytes = (double)state->pairs.bytes[i] * (run->spec.n - 1);
        if (round->reduces && !sim_time_from_seconds(run->config->reduce_cost_s_per_B * bytes, &reduction))
            reduction = SIM_TIME_MAX;
        state->done_ps[i] = plus(state->done_ps[i], reduction);
        state->ready_ps[i] = MAX(state->ready_ps[i], state->done_ps[i]);
        all_done = MAX(all_done, state->done_ps[i]);
    }
    return all_done;
}

static void
next_round(Run *run)
{
    PairState *state = run->state;
    if (state->round == pairs_of(run)->n_rounds) {
        run->left = 0;
        run_check(run);
        return;
    }
    const PairRound *round = &pairs_of(run)->round[state->round++];
    state->pairs.by_source = round->by_source;
    GError *error = NULL;
    const PairProbes *probes = plan_pair_probes(run->plan, run_network(run), &state->pairs, &error);
    if (probes == NULL) {
        run_fail(run, error);
        return;
    }
    SimTime through = plus(state->planned_ps, reckon_round(run, probes));
    state->planned_ps = MAX(through, reduce_round(run, round));
    Bundle bundle = {.pairs = &state->pairs, .latency_ps = state->planned_ps - through};
    run_send_bundle(run, &bundle, 0);
}

static void
arrive(Run *run, uint32_t member)
{
    PairState *state = run->state;
    state->ready_ps[member] = run_now(run);
    if (run->n_arrived < run->spec.n)
        return;
    for (uint32_t i = 0; i < run->spec.n; i++)
        state->ready_ps[i] -= run_now(run);
    next_round(run);
}

static void
sent(Run *run, uint32_t node, uint32_t step)
{
}

static uint64_t
reduces(Run *run, uint32_t node, uint32_t step)
{
    return 0; /* in the latency */
}

static void
delivered(Run *run, uint32_t node, uint32_t step)
{
    next_round(run);
}

const RunWay run_pairs = {start, arrive, sent, reduces, delivered, stop, NULL};
