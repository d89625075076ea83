/* transport_timely.c - TIMELY: a paced sender that follows the gradient of the round trip
 *
 * Mittal et al., "TIMELY: RTT-based congestion control for the datacenter", SIGCOMM 2015, 4.3 (algorithm 1). Once a
 * segment was acknowledged: below t_low the rate grows by the additive step, above t_high it shrinks by what the delay
 * exceeds it; between them it grows while the round trip does not, five steps at once after five such segments, else
 * shrinks by the gradient. patched: Zhu et al., "ECN or delay", CoNEXT 2016, 4.3 (algorithm 2): between the two the
 * gradient only weighs between the step and the distance from t_low, which gives one fair fixed point, where the queue
 * is C t_low (1 + N additive / (beta C)); the original has none, so that its flows share as they happened to start.
 * Delays are counted from the round trip of the empty network, not from 0: our networks' round trips differ by a
 * thousand; thresholds here are those of the paper less the 20 us of its network. */
#include "network/transport.h"

typedef struct {
    SimTime low_ps, high_ps, least_rtt_ps;
    double alpha, beta, patched_beta;
    double additive_Bps, least_Bps;
    uint32_t hyper_after, hyper_steps;
    uint64_t segment_B;
    gboolean patched;
} Params;

/* Defaults: section 6 of Mittal et al. (t_low 50 us, t_high 500 us, 20 us, 10 Mb/s on 10 Gb/s, beta 0.8, N 5; segments
 * of 16 kB); alpha: ns-3 of Li et al., 2019 (github.com/alibaba-edu/High-Precision-Congestion-Control); beta of the
 * patch: Zhu et al., table 2. */
static const TransportParam params[] = {
    {"t_low", PARAM_TIME, "30 us", offsetof(Params, low_ps), 1, .help = "queueing below it: faster"},
    {"t_high", PARAM_TIME, "480 us", offsetof(Params, high_ps), 1, .help = "queueing above it: slower"},
    {"min_rtt", PARAM_TIME, "20 us", offsetof(Params, least_rtt_ps), 1,
     .help = "the gradient's unit, or the empty "
             "round trip where that is longer"},
    {"alpha", PARAM_NUMBER, "0.875", offsetof(Params, alpha), 0, 1, "weight of news in the gradient"},
    {"beta", PARAM_NUMBER, "0.8", offsetof(Params, beta), 0, 1, "of decrease"},
    {"patched_beta", PARAM_NUMBER, "0.008", offsetof(Params, patched_beta), 0, 1,
     "of decrease between the two, patched"},
    {"additive", PARAM_RATE, "0 b/s", offsetof(Params, additive_Bps), .help = "step; 0 = 1/1000 of the line rate"},
    {"least_rate", PARAM_RATE, "10 Mb/s", offsetof(Params, least_Bps), 1, .help = "never slower"},
    {"hyper_after", PARAM_COUNT, "5", offsetof(Params, hyper_after), 1, 1000, "segments of falling delay"},
    {"hyper_steps", PARAM_COUNT, "5", offsetof(Params, hyper_steps), 1, 1000, "steps at once then"},
    {"segment", PARAM_SIZE, "16 kB", offsetof(Params, segment_B), 1, .help = "acknowledged between two updates"},
    {"patched", PARAM_FLAG, "false", offsetof(Params, patched), .help = "with one fair fixed point (Zhu et al. 2016)"},
    {NULL},
};

typedef struct {
    double now_Bps;
    double gradient_ps; /* of the round trip, from segment to segment, smoothed */
    SimTime before_ps;  /* the round trip of the segment before; 0 = none yet */
    uint64_t acked_B;
    uint32_t falling; /* segments in a row */
} State;

static void
start(TransportFlow *flow)
{
    State *state = flow->state;
    state->now_Bps = flow->rate_Bps = flow->line_Bps;
}

static double
between(const Params *set, State *state, double gradient, double queueing_ps, double additive)
{
    if (set->patched) {
        double weight = CLAMP(2 * gradient + 0.5, 0, 1);
        double far = (queueing_ps - (double)set->low_ps) / (double)set->low_ps;
        return additive * (1 - weight) + state->now_Bps * (1 - set->patched_beta * weight * far);
    }
    if (gradient > 0) {
        state->falling = 0;
        return state->now_Bps * (1 - MIN(set->beta * gradient, 0.5));
    }
    state->falling++;
    return state->now_Bps + (state->falling >= set->hyper_after ? set->hyper_steps : 1) * additive;
}

/* A segment whose round trip took rtt was acknowledged. */
static void
update(TransportFlow *flow, SimTime rtt)
{
    const Params *set = flow->params;
    State *state = flow->state;
    double step_ps = state->before_ps == 0 ? 0 : (double)(rtt - state->before_ps);
    state->before_ps = rtt;
    state->gradient_ps += set->alpha * (step_ps - state->gradient_ps);
    double additive = set->additive_Bps > 0 ? set->additive_Bps : flow->line_Bps / 1000;
    double queueing_ps = (double)(rtt - flow->rtt_ps), high_ps = (double)set->high_ps;
    double rate;
    if (queueing_ps < (double)set->low_ps) {
        state->falling = 0;
        rate = state->now_Bps + additive;
    } else if (queueing_ps > high_ps) {
        state->falling = 0;
        rate = state->now_Bps * (1 - set->beta * (1 - high_ps / queueing_ps));
    } else {
        double unit_ps = (double)MAX(set->least_rtt_ps, flow->rtt_ps);
        rate = between(set, state, state->gradient_ps / unit_ps, queueing_ps, additive);
    }
    state->now_Bps = CLAMP(rate, MIN(set->least_Bps, flow->line_Bps), flow->line_Bps);
    flow->rate_Bps = state->now_Bps;
}

static void
on_ack(TransportFlow *flow, const TransportAck *ack)
{
    const Params *set = flow->params;
    State *state = flow->state;
    state->acked_B += ack->acked_B;
    if (ack->rtt_ps < 0 || state->acked_B < set->segment_B)
        return;
    state->acked_B = 0;
    update(flow, ack->rtt_ps);
}

const Transport transport_timely = {
    .name = "timely",
    .help = "paced, by the gradient of the round trip",
    .params = params,
    .params_size = sizeof(Params),
    .state_size = sizeof(State),
    .recovery = RECOVERY_SELECTIVE_REPEAT,
    .wants_rtt = TRUE,
    .start = start,
    .on_ack = on_ack,
};
