/* transport_dcqcn.c - DCQCN: ECN marks slow a paced sender, timer and bytes speed it up again
 *
 * Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015, 3.1 (figures 6 and 7). The receiver
 * tells of marks by at most one CNP an interval. At a CNP: target = rate, rate x (1 - alpha / 2), alpha moves to 1 by
 * g; each interval without one alpha moves to 0 by g. Each full timer and each full byte counter is a round that raises
 * the rate: half way to the target; after F rounds of one kind the target grows by the additive step, after more than F
 * of both by the hyper step. alpha's way to 0 is worked out when the next CNP comes; the timer rests at full rate. */
#include "network/transport.h"

typedef struct {
    SimTime cnp_interval_ps, alpha_interval_ps, timer_ps;
    uint64_t byte_counter_B;
    double g;
    uint32_t fast_recovery;
    double additive_Bps, hyper_Bps, least_Bps;
} Params;

/* Defaults: section 5.2 of the paper, table 14 (F, g, timers, bytes, 40 Mb/s on links of 40 Gb/s); hyper and least:
 * rpgHaiRate = 10 x rpgAiRate and rpgMinRate of IEEE 802.1Q-2014, 12.21.4, from whose QCN DCQCN has them. */
static const TransportParam params[] = {
    {"cnp_interval", PARAM_TIME, "50 us", offsetof(Params, cnp_interval_ps), .help = "least time from CNP to CNP"},
    {"alpha_interval", PARAM_TIME, "55 us", offsetof(Params, alpha_interval_ps), 1, .help = "without CNP: alpha falls"},
    {"timer", PARAM_TIME, "55 us", offsetof(Params, timer_ps), 1, .help = "of rate increase"},
    {"byte_counter", PARAM_SIZE, "10 MB", offsetof(Params, byte_counter_B), 1, .help = "of rate increase"},
    {"g", PARAM_NUMBER, "0.00390625", offsetof(Params, g), 1e-6, 1, "weight of news in alpha; 1/256"},
    {"fast_recovery", PARAM_COUNT, "5", offsetof(Params, fast_recovery), 1, 1000, "rounds before the target grows"},
    {"additive", PARAM_RATE, "0 b/s", offsetof(Params, additive_Bps), .help = "step; 0 = 1/1000 of the line rate"},
    {"hyper", PARAM_RATE, "0 b/s", offsetof(Params, hyper_Bps), .help = "step; 0 = ten times the additive one"},
    {"least_rate", PARAM_RATE, "10 Mb/s", offsetof(Params, least_Bps), 1, .help = "never slower"},
    {NULL},
};

enum { TIMER_INCREASE };

typedef struct {
    double now_Bps, target_Bps, alpha;
    SimTime alpha_since; /* it was brought up to date */
    uint64_t counted_B;
    uint32_t timer_rounds, byte_rounds;
    SimTime next_cnp; /* the receiver's */
} State;

static gboolean
at_full_rate(const TransportFlow *flow, const State *state)
{
    return state->now_Bps >= flow->line_Bps && state->target_Bps >= flow->line_Bps;
}

static void
start(TransportFlow *flow)
{
    State *state = flow->state;
    state->now_Bps = state->target_Bps = flow->line_Bps;
    state->alpha = 1;
    state->alpha_since = transport_now(flow);
    flow->rate_Bps = flow->line_Bps;
}

/* base to a whole power, the same on every machine. */
static double
power(double base, uint64_t exponent)
{
    double result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result *= base;
        base *= base;
    }
    return result;
}

static void
on_cnp(TransportFlow *flow, uint32_t value)
{
    (void)value;
    const Params *set = flow->params;
    State *state = flow->state;
    SimTime now = transport_now(flow);
    state->alpha *= power(1 - set->g, (uint64_t)((now - state->alpha_since) / set->alpha_interval_ps));
    state->target_Bps = state->now_Bps;
    state->now_Bps = MAX(state->now_Bps * (1 - state->alpha / 2), MIN(set->least_Bps, flow->line_Bps));
    state->alpha = (1 - set->g) * state->alpha + set->g;
    state->alpha_since = now;
    state->counted_B = 0;
    state->timer_rounds = state->byte_rounds = 0;
    flow->rate_Bps = state->now_Bps;
    transport_set_timer(flow, TIMER_INCREASE, set->timer_ps);
}

static void
increase(TransportFlow *flow)
{
    const Params *set = flow->params;
    State *state = flow->state;
    double additive = set->additive_Bps > 0 ? set->additive_Bps : flow->line_Bps / 1000;
    uint32_t most = MAX(state->timer_rounds, state->byte_rounds), least = MIN(state->timer_rounds, state->byte_rounds);
    if (least > set->fast_recovery)
        state->target_Bps += set->hyper_Bps > 0 ? set->hyper_Bps : 10 * additive;
    else if (most >= set->fast_recovery)
        state->target_Bps += additive;
    state->target_Bps = MIN(state->target_Bps, flow->line_Bps);
    state->now_Bps = MIN((state->now_Bps + state->target_Bps) / 2, flow->line_Bps);
    /* Halving never arrives: the last thousandth is given. */
    if (state->target_Bps >= flow->line_Bps && state->now_Bps > flow->line_Bps * 0.999)
        state->now_Bps = flow->line_Bps;
    flow->rate_Bps = state->now_Bps;
}

static void
on_timer(TransportFlow *flow, uint32_t timer)
{
    const Params *set = flow->params;
    State *state = flow->state;
    state->timer_rounds++;
    increase(flow);
    if (!at_full_rate(flow, state))
        transport_set_timer(flow, timer, set->timer_ps);
}

static void
on_send(TransportFlow *flow, uint32_t bytes, gboolean again)
{
    (void)again;
    const Params *set = flow->params;
    State *state = flow->state;
    if (at_full_rate(flow, state))
        return;
    state->counted_B += bytes;
    while (state->counted_B >= set->byte_counter_B) {
        state->counted_B -= set->byte_counter_B;
        state->byte_rounds++;
        increase(flow);
    }
}

static void
on_data(TransportFlow *flow, const TransportData *data)
{
    const Params *set = flow->params;
    State *state = flow->state;
    SimTime now = transport_now(flow);
    if (!data->marked || now < state->next_cnp)
        return;
    state->next_cnp = now + set->cnp_interval_ps;
    transport_signal(flow, TRANSPORT_CNP, 0);
}

const Transport transport_dcqcn = {
    .name = "dcqcn",
    .help = "paced, slowed by ECN marks (RoCEv2 NICs)",
    .params = params,
    .params_size = sizeof(Params),
    .state_size = sizeof(State),
    .recovery = RECOVERY_GO_BACK_N,
    .wants_marks = TRUE,
    .start = start,
    .on_send = on_send,
    .on_cnp = on_cnp,
    .on_timer = on_timer,
    .on_data = on_data,
};
