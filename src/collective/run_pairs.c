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

/* When a source's message comes to an end, but for what depends on the destination. */
typedef struct {
    uint32_t site; /* INDEX_NONE: there is none */
    SimTime at_ps;
} Latest;

typedef struct {
    const AllPairs *pairs;
    const PairProbes *probes;
    const SimTime *ready_ps;
    SimTime *done_ps;
    SimTime sends_ps; /* of the longest message so far */
    /* The time to send last reckoned. */
    uint64_t bytes;
    double rate_Bps;
    SimTime sends;
} Reckoning;

static SimTime
sends_of(Reckoning *r, uint32_t member, double rate_Bps)
{
    uint64_t bytes = r->pairs->bytes[member];
    if (bytes != r->bytes || rate_Bps != r->rate_Bps) {
        r->bytes = bytes;
        r->rate_Bps = rate_Bps;
        r->sends = sending_time(bytes, rate_Bps);
    }
    r->sends_ps = MAX(r->sends_ps, r->sends);
    return r->sends;
}

static void
reckon(Reckoning *r, const NetworkProbe *met, uint32_t i, uint32_t j)
{
    SimTime sends = sends_of(r, r->pairs->by_source ? i : j, met->rate_Bps);
    SimTime done = plus(plus(r->ready_ps[i], sends), met->latency_ps);
    r->done_ps[j] = MAX(r->done_ps[j], done);
}

/* The latest sources of a group, of two sites: one of them is not the destination's. */
static void
find_latest(Reckoning *r, uint32_t from, const NetworkProbe *met, Latest latest[2])
{
    const PairGroups *groups = r->probes->groups;
    latest[0] = latest[1] = (Latest){INDEX_NONE, INT64_MIN};
    for (uint32_t a = groups->from.first[from]; a < groups->from.first[from + 1]; a++) {
        uint32_t i = groups->from.list[a];
        SimTime sends = r->pairs->by_source ? sends_of(r, i, met->rate_Bps) : 0;
        Latest one = {groups->site[i], plus(r->ready_ps[i], sends)};
        if (one.site == latest[0].site) {
            latest[0].at_ps = MAX(latest[0].at_ps, one.at_ps);
        } else if (latest[0].site == INDEX_NONE || one.at_ps > latest[0].at_ps) {
            latest[1] = latest[0];
            latest[0] = one;
        } else if (latest[1].site == INDEX_NONE || one.at_ps > latest[1].at_ps) {
            latest[1] = one;
        }
    }
}

/* Messages from one group of sources to everybody of another site. */
static void
reckon_group(Reckoning *r, uint32_t from)
{
    const PairGroups *groups = r->probes->groups;
    const uint32_t *cell = r->probes->cell + (size_t)from * groups->to.n;
    Latest latest[2];
    for (uint32_t to = 0; to < groups->to.n && r->probes->probe->len > 0; to++) {
        const NetworkProbe *met = &g_array_index(r->probes->probe, NetworkProbe, cell[to]);
        if (to == 0 || cell[to] != cell[to - 1])
            find_latest(r, from, met, latest);
        for (uint32_t b = groups->to.first[to]; b < groups->to.first[to + 1]; b++) {
            uint32_t j = groups->to.list[b];
            const Latest *last = latest[0].site != groups->site[j] ? &latest[0] : &latest[1];
            if (last->site == INDEX_NONE)
                continue;
            SimTime sends = r->pairs->by_source ? 0 : sends_of(r, j, met->rate_Bps);
            SimTime done = plus(plus(last->at_ps, sends), met->latency_ps);
            r->done_ps[j] = MAX(r->done_ps[j], done);
        }
    }
}

/* When each member has all of this round, after the last arrival; the longest time to send a message. */
static SimTime
reckon_round(const Run *run, const PairProbes *probes)
{
    PairState *state = run->state;
    const PairGroups *groups = probes->groups;
    Reckoning r = {&state->pairs, probes, state->ready_ps, state->done_ps, 0, UINT64_MAX, 0, 0};
    for (uint32_t i = 0; i < run->spec.n; i++)
        state->done_ps[i] = INT64_MIN;
    for (uint32_t from = 0; from < groups->from.n; from++)
        reckon_group(&r, from);
    for (uint32_t i = 0; i < run->spec.n; i++) {
        uint32_t first = groups->first[groups->site[i]], n = groups->first[groups->site[i] + 1] - first;
        for (uint32_t k = 0; k < n; k++) {
            if (groups->list[first + k] != i)
                reckon(&r, &g_array_index(probes->near, NetworkProbe, probes->near_at[i] + k), i,
                       groups->list[first + k]);
        }
    }
    return r.sends_ps;
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
    const PairProbes *probes = plan_pair_probes(run->plan, run_network(run), &run->spec, &error);
    if (probes == NULL) {
        run_fail(run, error);
        return;
    }
    SimTime through = plus(state->planned_ps, reckon_round(run, probes));
    SimTime done = reduce_round(run, round);
    state->planned_ps = MAX(through, done);
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
