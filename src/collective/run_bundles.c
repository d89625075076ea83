/* run_bundles.c - grain bundle on models other than fluid, and of large rings that share links with themselves: each
 * phase of a plan is one activity of all its messages
 *
 * It goes when all members have arrived. A chain is a series of phases (a channel of a schedule, or of rings); chains
 * go side by side. What a phase takes beyond the time of its slowest message's bytes is the latency of its bundle,
 * taken from the plan's own times in an empty network (graph_time, ring_time), each member counted from its arrival: so
 * that alone it lasts as long as the grain steps. A chain whose phases overlap in steps goes as one bundle. A stage of
 * rings is one bundle that carries all its steps. */
#include "collective/graph_time.h"
#include "collective/ring_time.h"
#include "collective/run.h"

#include <assert.h>
#include <math.h>

typedef struct {
    uint32_t at, to;    /* rows still to go: of by_phase, or of rings */
    SimTime planned_ps; /* a schedule: when the phases so far end in an empty network, after the last arrival */
    SimTime whole_ps;   /* all phases go as one bundle that takes this long alone; 0 = one by one */
} Chain;

typedef struct {
    GArray *chains;           /* of Chain */
    SimTime *ready_ps;        /* when each member arrived */
    GArray *transfers, *hops; /* scratch: of Transfer, of RingHop */
    GraphCost *cost;          /* of a schedule's nodes, and when each is done after the last arrival */
    SimTime *done_ps;
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
            Chain fresh = {row, row, 0, 0};
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
    g_free(state->cost);
    g_free(state->done_ps);
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

/* What a message would meet alone; its time to send. FALSE where the run failed. */
static gboolean
probe(Run *run, const Transfer *transfer, NetworkProbe *met, SimTime *sends_ps)
{
    GError *error = NULL;
    if (!network_probe(run_network(run), transfer, met, &error)) {
        run_fail(run, error);
        return FALSE;
    }
    *sends_ps = duration(transfer->bytes, met->rate_Bps);
    return TRUE;
}

/* One ring of a stage: its hops into the bundle. Its time from the first arrival on into *total_ps, the longest hop's
 * bytes into *sends_ps. */
static void
add_ring(Run *run, uint32_t number, const NetworkProbe *probes, SimTime first_ps, SimTime *total_ps, SimTime *sends_ps)
{
    BundleState *state = run->state;
    const Rings *rings = plan_of(run)->rings;
    const Ring *ring = &g_array_index(rings->rings, Ring, number);
    gboolean together = TRUE;
    g_array_set_size(state->hops, ring->n);
    RingHop *hops = (RingHop *)(void *)state->hops->data;
    for (uint32_t p = 0; p < ring->n; p++) {
        uint32_t here = ring->first_seat + p, next = ring->first_seat + (p + 1) % ring->n;
        uint32_t src = g_array_index(rings->seats, Seat, here).member,
                 dst = g_array_index(rings->seats, Seat, next).member;
        Transfer transfer = plan_transfer(&run->spec, run->plan->layout, ring->channel_nics, ring->channel, src, dst,
                                          ring_total(ring, p));
        const NetworkProbe *met = &probes[here];
        g_array_append_val(state->transfers, transfer);
        SimTime sends = duration(transfer.bytes, met->rate_Bps);
        *sends_ps = MAX(*sends_ps, sends);
        SimTime ready = rings_opens(rings, here) ? state->ready_ps[src] - first_ps : 0;
        together = together && ready == 0;
        hops[p] = (RingHop){met->latency_ps, met->rate_Bps, ready};
    }
    SimTime total = together ? plan_ring_total(run->plan, run->config, number, hops)
                             : ring_time(ring, hops, run->config->slice_B, run->config->reduce_cost_s_per_B);
    *total_ps = MAX(*total_ps, total);
}

/* The rings [from, to) of one stage; what is added to the slowest hop's bytes. */
static gboolean
gather_rings(Run *run, uint32_t from, uint32_t to, SimTime *latency_ps)
{
    BundleState *state = run->state;
    const Rings *rings = plan_of(run)->rings;
    gboolean opens = rings_opens(rings, g_array_index(rings->rings, Ring, from).first_seat);
    SimTime now = run_now(run), first = now, total = 0, sends = 0;
    GError *error = NULL;
    const NetworkProbe *probes = plan_hop_probes(run->plan, run_network(run), &run->spec, &error);
    if (probes == NULL) {
        run_fail(run, error);
        return FALSE;
    }
    for (uint32_t i = 0; opens && i < run->spec.n; i++)
        first = MIN(first, state->ready_ps[i]);
    for (uint32_t i = from; i < to; i++)
        add_ring(run, i, probes, first, &total, &sends);
    /* What early members had sent before the last one came is taken off; no bundle ends before its bytes are through.
     */
    *latency_ps = MAX(total - (now - first) - sends, 0);
    return TRUE;
}

static Transfer
node_transfer(const Run *run, uint32_t number)
{
    const Schedule *schedule = plan_of(run)->schedule;
    const ScheduleNode *node = &schedule->nodes[number];
    return plan_transfer(&run->spec, run->plan->layout, schedule->channel_nics, node->channel, node->src, node->dst,
                         node->bytes);
}

/* The times of a schedule in an empty network, counted from now. */
static gboolean
time_nodes(Run *run)
{
    BundleState *state = run->state;
    const Schedule *schedule = plan_of(run)->schedule;
    state->cost = g_new0(GraphCost, MAX(schedule->n, 1));
    state->done_ps = g_new0(SimTime, MAX(schedule->n, 1));
    for (uint32_t i = 0; i < schedule->n; i++) {
        if (schedule->nodes[i].dst == INDEX_NONE)
            continue;
        Transfer transfer = node_transfer(run, i);
        NetworkProbe met;
        if (!probe(run, &transfer, &met, &state->cost[i].sends_ps))
            return FALSE;
        state->cost[i].latency_ps = met.latency_ps;
    }
    g_autofree SimTime *ready = g_new(SimTime, run->spec.n);
    for (uint32_t i = 0; i < run->spec.n; i++)
        ready[i] = state->ready_ps[i] - run_now(run);
    graph_time(schedule, state->cost, ready, run->config->reduce_cost_s_per_B, state->done_ps);
    return TRUE;
}

/* The rows [from, chain->at) of one phase; what is added to its slowest message's bytes. */
static void
gather_nodes(Run *run, Chain *chain, uint32_t from, SimTime *latency_ps)
{
    BundleState *state = run->state;
    const Schedule *schedule = plan_of(run)->schedule;
    SimTime done = INT64_MIN, sends = 0, through;
    for (uint32_t i = from; i < chain->at; i++) {
        uint32_t number = schedule->by_phase[i];
        done = MAX(done, state->done_ps[number]);
        sends = MAX(sends, state->cost[number].sends_ps);
        if (schedule->nodes[number].dst == INDEX_NONE)
            continue;
        Transfer transfer = node_transfer(run, number);
        g_array_append_val(state->transfers, transfer);
    }
    if (!sim_time_add(chain->planned_ps, sends, &through))
        through = SIM_TIME_MAX;
    chain->planned_ps = MAX(through, done);
    *latency_ps = chain->planned_ps - through;
}

/* Would the phases, one after another, take longer than the schedule itself? That is so where a phase has a slow
 * message which the next phase does not wait for. The chain then goes as one bundle. */
static void
choose_whole(Run *run, Chain *chain)
{
    BundleState *state = run->state;
    SimTime planned = 0, sends = 0, done = INT64_MIN, last = INT64_MIN;
    for (uint32_t i = chain->at; i < chain->to; i++) {
        uint32_t number = plan_of(run)->schedule->by_phase[i], unused, phase, next;
        place(run, i, &unused, &phase);
        sends = MAX(sends, state->cost[number].sends_ps);
        done = MAX(done, state->done_ps[number]);
        if (i + 1 < chain->to) {
            place(run, i + 1, &unused, &next);
            if (next == phase)
                continue;
        }
        last = MAX(last, done);
        if (!sim_time_add(planned, sends, &planned))
            return;
        planned = MAX(planned, done);
        sends = 0;
        done = INT64_MIN;
    }
    if (last > 0 && planned > last)
        chain->whole_ps = last;
}

/* All messages of a chain at a rate at which they take whole_ps. */
static void
gather_whole(Run *run, Chain *chain)
{
    BundleState *state = run->state;
    const Schedule *schedule = plan_of(run)->schedule;
    uint64_t most = 0;
    for (uint32_t i = chain->at; i < chain->to; i++) {
        const ScheduleNode *node = &schedule->nodes[schedule->by_phase[i]];
        if (node->dst != INDEX_NONE)
            most = MAX(most, node->bytes);
    }
    for (uint32_t i = chain->at; i < chain->to; i++) {
        if (schedule->nodes[schedule->by_phase[i]].dst == INDEX_NONE)
            continue;
        Transfer transfer = node_transfer(run, schedule->by_phase[i]);
        if (transfer.bytes == most)
            transfer.rate_cap_Bps = (double)most / ((double)chain->whole_ps / (double)PS_PER_S);
        g_array_append_val(state->transfers, transfer);
    }
    chain->at = chain->to;
}

/* The next phase of a chain; FALSE where there is none. A phase without messages is its latency only. */
static gboolean
next_phase(Run *run, uint32_t number)
{
    BundleState *state = run->state;
    Chain *chain = &g_array_index(state->chains, Chain, number);
    if (chain->at == chain->to)
        return FALSE;
    if (chain->whole_ps > 0) {
        g_array_set_size(state->transfers, 0);
        gather_whole(run, chain);
        Bundle whole = {(const Transfer *)(void *)state->transfers->data, state->transfers->len, 0};
        run_send_bundle(run, &whole, number);
        return TRUE;
    }
    uint32_t from = chain->at, unused, phase, other;
    place(run, from, &unused, &phase);
    do {
        chain->at++;
        if (chain->at < chain->to)
            place(run, chain->at, &unused, &other);
    } while (chain->at < chain->to && other == phase);
    g_array_set_size(state->transfers, 0);
    SimTime latency = 0;
    if (plan_of(run)->rings == NULL)
        gather_nodes(run, chain, from, &latency);
    else if (!gather_rings(run, from, chain->at, &latency))
        return TRUE;
    if (state->transfers->len == 0) {
        run_pause(run, latency, number, 1);
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
    if (plan_of(run)->rings == NULL && !time_nodes(run))
        return;
    for (uint32_t i = 0; plan_of(run)->rings == NULL && i < state->chains->len; i++)
        choose_whole(run, &g_array_index(state->chains, Chain, i));
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
    return 0; /* in the latency */
}

static void
delivered(Run *run, uint32_t chain, uint32_t step)
{
    advance(run, chain);
}

const RunWay run_bundles = {start, arrive, sent, reduces, delivered, stop};
