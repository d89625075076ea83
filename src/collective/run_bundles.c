/* run_bundles.c - grain bundle: each phase of a plan is one activity of all its messages
 *
 * It goes when all members have arrived. A chain is a series of phases (a channel of a schedule, or of rings); chains
 * go side by side. A stage of rings is one bundle that carries all its steps, its latency what the recursion of
 * DEFINITIONS 4 takes beyond the time of the slowest hop's bytes, with each member's own arrival. */
#include "collective/ring_time.h"
#include "collective/run.h"

#include <assert.h>
#include <math.h>

typedef struct {
    uint32_t at, to;   /* rows still to go: of by_phase, or of rings */
    uint64_t reduce_B; /* of the phase under way */
} Chain;

typedef struct {
    GArray *chains;           /* of Chain */
    SimTime *ready_ps;        /* when each member arrived */
    GArray *transfers, *hops; /* scratch: of Transfer, of RingHop */
} BundleState;

static const Plan *
plan_of(const Run *run)
{
    return run->plan->plan;
}

/* Which chain, and which phase of it, row belongs to. */
static void
place(const Run *run, uint32_t row, uint32_t *chain, uint32_t *phase)
{
    const Plan *plan = plan_of(run);
    if (plan->rings != NULL) {
        const Ring *ring = &g_array_index(plan->rings->rings, Ring, row);
        *chain = ring->chain;
        *phase = ring->stage;
        return;
    }
    const ScheduleNode *node = &plan->schedule->nodes[plan->schedule->by_phase[row]];
    *chain = node->channel;
    *phase = node->phase;
}

static void
start(Run *run)
{
    const Plan *plan = plan_of(run);
    BundleState *state = run->state = g_new0(BundleState, 1);
    state->chains = g_array_new(FALSE, FALSE, sizeof(Chain));
    state->transfers = g_array_new(FALSE, FALSE, sizeof(Transfer));
    state->hops = g_array_new(FALSE, FALSE, sizeof(RingHop));
    state->ready_ps = g_new(SimTime, run->spec.n);
    uint32_t rows = plan->rings != NULL ? plan->rings->rings->len : plan->schedule->n, last = INDEX_NONE;
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t chain, phase;
        place(run, row, &chain, &phase);
        if (row == 0 || chain != last) {
            Chain fresh = {row, row, 0};
            g_array_append_val(state->chains, fresh);
        }
        g_array_index(state->chains, Chain, state->chains->len - 1).to = row + 1;
        last = chain;
    }
    run->left = state->chains->len;
}

static void
stop(Run *run)
{
    BundleState *state = run->state;
    g_array_unref(state->chains);
    g_array_unref(state->transfers);
    g_array_unref(state->hops);
    g_free(state->ready_ps);
    g_free(state);
}

static SimTime
duration(uint64_t bytes, double rate_Bps)
{
    SimTime time;
    if (bytes == 0 || isinf(rate_Bps))
        return 0;
    return sim_time_from_bytes((double)bytes, rate_Bps, &time) ? time : SIM_TIME_MAX;
}

/* Adds a message to the bundle; what it would take alone, in two parts. */
static gboolean
add(Run *run, const Transfer *transfer, NetworkProbe *probe, SimTime *sends_ps)
{
    BundleState *state = run->state;
    GError *error = NULL;
    if (!network_probe(run_network(run), transfer, probe, &error)) {
        run_fail(run, error);
        return FALSE;
    }
    g_array_append_vals(state->transfers, transfer, 1);
    *sends_ps = duration(transfer->bytes, probe->rate_Bps);
    return TRUE;
}

/* One ring of a stage: its hops into the bundle. Its time from the first arrival on into *total_ps, the longest hop's
 * bytes into *sends_ps. */
static gboolean
add_ring(Run *run, const Ring *ring, SimTime first_ps, SimTime *total_ps, SimTime *sends_ps)
{
    BundleState *state = run->state;
    const Rings *rings = plan_of(run)->rings;
    g_array_set_size(state->hops, ring->n);
    RingHop *hops = (RingHop *)(void *)state->hops->data;
    for (uint32_t p = 0; p < ring->n; p++) {
        uint32_t here = ring->first_seat + p, next = ring->first_seat + (p + 1) % ring->n;
        uint32_t src = g_array_index(rings->seats, Seat, here).member,
                 dst = g_array_index(rings->seats, Seat, next).member;
        Transfer transfer = plan_transfer(&run->spec, run->plan->layout, ring->channel_nics, ring->channel, src, dst,
                                          ring_total(ring, p));
        NetworkProbe probe;
        SimTime sends;
        if (!add(run, &transfer, &probe, &sends))
            return FALSE;
        *sends_ps = MAX(*sends_ps, sends);
        SimTime ready = rings_opens(rings, here) ? state->ready_ps[src] - first_ps : 0;
        hops[p] = (RingHop){probe.latency_ps, probe.rate_Bps, ready};
    }
    *total_ps = MAX(*total_ps, ring_time(ring, hops, run->config->slice_B, run->config->reduce_cost_s_per_B));
    return TRUE;
}

/* The rings [from, to) of one stage; what is added to the slowest hop's bytes. */
static gboolean
gather_rings(Run *run, uint32_t from, uint32_t to, SimTime *latency_ps)
{
    BundleState *state = run->state;
    const Rings *rings = plan_of(run)->rings;
    gboolean opens = rings_opens(rings, g_array_index(rings->rings, Ring, from).first_seat);
    SimTime now = run_now(run), first = now, total = 0, sends = 0;
    for (uint32_t i = 0; opens && i < run->spec.n; i++)
        first = MIN(first, state->ready_ps[i]);
    for (uint32_t i = from; i < to; i++) {
        if (!add_ring(run, &g_array_index(rings->rings, Ring, i), first, &total, &sends))
            return FALSE;
    }
    /* What early members had sent before the last one came is taken off; no bundle ends before its bytes are through.
     */
    *latency_ps = MAX(total - (now - first) - sends, 0);
    return TRUE;
}

static gboolean
gather_nodes(Run *run, uint32_t from, uint32_t to, SimTime *latency_ps, uint64_t *reduce_B)
{
    const Schedule *schedule = plan_of(run)->schedule;
    SimTime longest = 0, longest_sends = 0;
    for (uint32_t i = from; i < to; i++) {
        const ScheduleNode *node = &schedule->nodes[schedule->by_phase[i]];
        *reduce_B = MAX(*reduce_B, node->reduce_B);
        if (node->dst == INDEX_NONE)
            continue;
        Transfer transfer = plan_transfer(&run->spec, run->plan->layout, schedule->channel_nics, node->channel,
                                          node->src, node->dst, node->bytes);
        NetworkProbe probe;
        SimTime sends, all;
        if (!add(run, &transfer, &probe, &sends))
            return FALSE;
        longest_sends = MAX(longest_sends, sends);
        longest = MAX(longest, sim_time_add(sends, probe.latency_ps, &all) ? all : SIM_TIME_MAX);
    }
    *latency_ps = longest - longest_sends;
    return TRUE;
}

/* The next phase of a chain; FALSE where there is none. A phase without messages is its reduction only. */
static gboolean
next_phase(Run *run, uint32_t number)
{
    BundleState *state = run->state;
    Chain *chain = &g_array_index(state->chains, Chain, number);
    if (chain->at == chain->to)
        return FALSE;
    uint32_t from = chain->at, unused, phase, other;
    place(run, from, &unused, &phase);
    do {
        chain->at++;
        if (chain->at < chain->to)
            place(run, chain->at, &unused, &other);
    } while (chain->at < chain->to && other == phase);
    g_array_set_size(state->transfers, 0);
    chain->reduce_B = 0;
    SimTime latency = 0;
    gboolean rings = plan_of(run)->rings != NULL;
    if (rings ? !gather_rings(run, from, chain->at, &latency)
              : !gather_nodes(run, from, chain->at, &latency, &chain->reduce_B))
        return TRUE;
    if (state->transfers->len == 0) {
        run_reduce(run, chain->reduce_B, number, 1);
        return TRUE;
    }
    Bundle bundle = {(const Transfer *)(void *)state->transfers->data, state->transfers->len, latency};
    run_send_bundle(run, &bundle, number);
    return TRUE;
}

static void
advance(Run *run, uint32_t chain)
{
    if (next_phase(run, chain))
        return;
    run->left--;
    run_check(run);
}

static void
arrive(Run *run, uint32_t member)
{
    BundleState *state = run->state;
    state->ready_ps[member] = run_now(run);
    if (run->n_arrived < run->spec.n)
        return;
    for (uint32_t chain = 0; chain < state->chains->len; chain++)
        advance(run, chain);
}

static void
sent(Run *run, uint32_t chain, uint32_t step)
{
}

static uint64_t
reduces(Run *run, uint32_t chain, uint32_t step)
{
    return g_array_index(((BundleState *)run->state)->chains, Chain, chain).reduce_B;
}

static void
delivered(Run *run, uint32_t chain, uint32_t step)
{
    advance(run, chain);
}

const RunWay run_bundles = {start, arrive, sent, reduces, delivered, stop};
