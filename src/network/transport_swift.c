/* transport_swift.c - Swift: a window that keeps the delay at a target
 *
 * Kumar et al., "Swift: delay is simple and effective for congestion control in the datacenter", SIGCOMM 2020, 3.1
 * (algorithm 1) and 3.5: below the target the window grows by ai packets a round trip, above it shrinks at most once a
 * round trip by beta x the excess, at most by max_mdf. A window below one packet is a pacing delay. The target is the
 * empty round trip (topology scaling: the paper adds a delay a hop; we know the flow's own), `target`, and a part that
 * grows as 1 / sqrt(window) (flow scaling). Hosts have no delay of their own here, so that the paper's second window,
 * for the end host, is left out. */
#include "network/transport.h"

#include <math.h>

typedef struct {
    SimTime target_ps, range_ps;
    double range_least, range_most; /* packets */
    double ai, beta, max_mdf;
    double first, least, most; /* packets; 0 = by itself */
    uint32_t reset_after;
} Params;

/* Defaults: ai, beta, max_mdf, flow scaling from 0.1 to 100 packets, the reset after 5 timeouts: as htsim's Swift
 * (github.com/Broadcom/csg-htsim, swift.cpp), the paper giving no table; fs_range 5 x the base as there. target: ours.
 */
static const TransportParam params[] = {
    {"target", PARAM_TIME, "10 us", offsetof(Params, target_ps), 1, .help = "delay beyond the empty round trip"},
    {"fs_range", PARAM_TIME, "50 us", offsetof(Params, range_ps), .help = "most that flow scaling adds to the target"},
    {"fs_min_cwnd", PARAM_NUMBER, "0.1", offsetof(Params, range_least), 1e-6, 1e6, "packets: all of fs_range"},
    {"fs_max_cwnd", PARAM_NUMBER, "100", offsetof(Params, range_most), 1e-6, 1e9, "packets: nothing of it"},
    {"ai", PARAM_NUMBER, "1", offsetof(Params, ai), 1e-6, 1e6, "packets a round trip"},
    {"beta", PARAM_NUMBER, "0.8", offsetof(Params, beta), 0, 1, "of decrease"},
    {"max_mdf", PARAM_NUMBER, "0.5", offsetof(Params, max_mdf), 0, 0.99, "most of a decrease"},
    {"first_cwnd", PARAM_NUMBER, "0", offsetof(Params, first), 0, 1e9, "packets; 0 = a bandwidth-delay product"},
    {"min_cwnd", PARAM_NUMBER, "0.001", offsetof(Params, least), 1e-6, 1, "packets"},
    {"max_cwnd", PARAM_NUMBER, "0", offsetof(Params, most), 0, 1e9, "packets; 0 = full rate at the highest target"},
    {"reset_after", PARAM_COUNT, "5", offsetof(Params, reset_after), 1, 1000, "timeouts in a row: to min_cwnd"},
    {NULL},
};

typedef struct {
    double cwnd, most; /* packets */
    SimTime rtt_ps;    /* the last one */
    SimTime decreased_ps;
    uint32_t timeouts; /* in a row */
} State;

/* After a change. */
static void
apply(TransportFlow *flow)
{
    const Params *set = flow->params;
    State *state = flow->state;
    state->cwnd = CLAMP(state->cwnd, set->least, state->most);
    if (state->cwnd >= 1) {
        flow->window_B = (uint64_t)(state->cwnd * flow->packet_B);
        flow->rate_Bps = INFINITY;
    } else {
        flow->window_B = flow->packet_B;
        flow->rate_Bps = flow->packet_B * state->cwnd / sim_time_seconds(state->rtt_ps);
    }
}

static void
start(TransportFlow *flow)
{
    const Params *set = flow->params;
    State *state = flow->state;
    double packets_per_s = flow->line_Bps / flow->packet_B;
    double bdp = packets_per_s * sim_time_seconds(flow->rtt_ps) + 1;
    double fullest = packets_per_s * sim_time_seconds(flow->rtt_ps + set->target_ps + set->range_ps) + 1;
    state->rtt_ps = flow->rtt_ps;
    state->decreased_ps = transport_now(flow) - flow->rtt_ps;
    state->most = MAX(set->most > 0 ? set->most : fullest, set->least);
    state->cwnd = set->first > 0 ? set->first : bdp;
    apply(flow);
}

/* Section 3.5.2. */
static double
target_ps(const TransportFlow *flow, double cwnd)
{
    const Params *set = flow->params;
    double range = (double)set->range_ps, most = 1 / sqrt(set->range_most);
    double alpha = range / (1 / sqrt(set->range_least) - most);
    double scaling = alpha * (1 / sqrt(cwnd) - most);
    return (double)(flow->rtt_ps + set->target_ps) + (alpha > 0 ? CLAMP(scaling, 0, range) : 0);
}

/* By a factor, at most once a round trip. */
static void
decrease(TransportFlow *flow, double factor)
{
    State *state = flow->state;
    SimTime now = transport_now(flow);
    if (now - state->decreased_ps < state->rtt_ps)
        return;
    state->cwnd *= factor;
    state->decreased_ps = now;
    apply(flow);
}

static void
on_ack(TransportFlow *flow, const TransportAck *ack)
{
    const Params *set = flow->params;
    State *state = flow->state;
    if (ack->acked_B > 0)
        state->timeouts = 0;
    if (ack->rtt_ps < 0)
        return;
    state->rtt_ps = ack->rtt_ps;
    double delay_ps = (double)ack->rtt_ps, aim_ps = target_ps(flow, state->cwnd);
    if (delay_ps >= aim_ps) {
        decrease(flow, MAX(1 - set->beta * (delay_ps - aim_ps) / delay_ps, 1 - set->max_mdf));
        return;
    }
    double packets = (double)ack->acked_B / flow->packet_B;
    state->cwnd += set->ai * packets / MAX(state->cwnd, 1);
    apply(flow);
}

static void
on_nack(TransportFlow *flow, uint32_t seq, gboolean trimmed)
{
    (void)seq, (void)trimmed;
    const Params *set = flow->params;
    State *state = flow->state;
    state->timeouts = 0;
    decrease(flow, 1 - set->max_mdf);
}

static void
on_timeout(TransportFlow *flow)
{
    const Params *set = flow->params;
    State *state = flow->state;
    state->timeouts++;
    if (state->timeouts >= set->reset_after) {
        state->cwnd = set->least;
        apply(flow);
        return;
    }
    decrease(flow, 1 - set->max_mdf);
}

const Transport transport_swift = {
    .name = "swift",
    .help = "a window that keeps the delay at a target",
    .params = params,
    .params_size = sizeof(Params),
    .state_size = sizeof(State),
    .recovery = RECOVERY_SELECTIVE_REPEAT,
    .wants_rtt = TRUE,
    .start = start,
    .on_ack = on_ack,
    .on_nack = on_nack,
    .on_timeout = on_timeout,
};
