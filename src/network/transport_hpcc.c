/* transport_hpcc.c - HPCC: a window from what each port tells of its load
 *
 * Li et al., "HPCC: high precision congestion control", SIGCOMM 2019, 3.2 (algorithm 1). Each ACK brings, of every port
 * that its packet left, the queue, the bytes sent and the time; two of them give the port's rate, and the most loaded
 * port's (queue / (B T) + rate / B), smoothed over T, is U. The window is the reference window / (U / eta) + w_ai where
 * U is above eta or after max_stage steps, else the reference + w_ai; the reference follows once a round trip. The rate
 * is window / T. T is the flow's own empty round trip, where the paper has one for the whole network; ports of hosts
 * are counted like those of switches. A port that the packet before did not pass is skipped (other ways). */
#include "network/transport.h"

typedef struct {
    double eta;
    uint32_t max_stage, flows;
    uint64_t w_ai_B;
} Params;

/* Defaults: section 5.1 of the paper (eta, maxStage), and 3.3: w_ai = window (1 - eta) / flows; 100 flows give the
 * 80 B used there at 100 Gb/s and 13 us. */
static const TransportParam params[] = {
    {"eta", PARAM_NUMBER, "0.95", offsetof(Params, eta), 0.1, 1, "load aimed at"},
    {"max_stage", PARAM_COUNT, "5", offsetof(Params, max_stage), 0, 1000, "additive steps in a row"},
    {"flows", PARAM_COUNT, "100", offsetof(Params, flows), 1, 1000000, "expected on one link, for w_ai"},
    {"w_ai", PARAM_SIZE, "0 B", offsetof(Params, w_ai_B), .help = "additive step; 0 = by eta and flows"},
    {NULL},
};

typedef struct {
    double window_B, reference_B, w_ai_B, most_B, load;
    uint32_t stage;
    uint32_t sent;       /* packets that have been sent at least once */
    uint32_t next_round; /* the reference follows an ACK of this packet or a later one */
    uint32_t n_hops;
    TransportHop hops[TRANSPORT_HOPS]; /* of the ACK before */
} State;

static void
apply(TransportFlow *flow)
{
    State *state = flow->state;
    state->window_B = CLAMP(state->window_B, state->w_ai_B, state->most_B);
    flow->window_B = (uint64_t)state->window_B + flow->packet_B - 1; /* the last packet may reach beyond it */
    flow->rate_Bps = MIN(state->window_B / sim_time_seconds(flow->rtt_ps), flow->line_Bps);
}

static void
start(TransportFlow *flow)
{
    const Params *set = flow->params;
    State *state = flow->state;
    state->most_B = flow->line_Bps * sim_time_seconds(flow->rtt_ps) + flow->packet_B;
    state->window_B = state->reference_B = state->most_B;
    double step_B = set->w_ai_B > 0 ? (double)set->w_ai_B : state->most_B * (1 - set->eta) / set->flows;
    state->w_ai_B = CLAMP(step_B, 1, state->most_B);
    apply(flow);
}

static void
on_send(TransportFlow *flow, uint32_t bytes, gboolean again)
{
    (void)bytes;
    State *state = flow->state;
    if (!again)
        state->sent++;
}

/* The load of the most loaded port since the ACK before into the smoothed one. */
static void
measure(const TransportFlow *flow, State *state, const TransportAck *ack)
{
    double t_ps = (double)flow->rtt_ps, worst = 0, tau_ps = 0;
    for (uint32_t i = 0; i < MIN(ack->n_hops, state->n_hops); i++) {
        const TransportHop *now = &ack->hops[i], *before = &state->hops[i];
        if (now->link != before->link || now->at_ps <= before->at_ps || now->sent_B < before->sent_B)
            continue;
        double passed_ps = (double)(now->at_ps - before->at_ps);
        double queue_B = (double)MIN(now->queue_B, before->queue_B);
        double sent_Bps = (double)(now->sent_B - before->sent_B) * 1e12 / passed_ps;
        double load = queue_B / (now->rate_Bps * sim_time_seconds(flow->rtt_ps)) + sent_Bps / now->rate_Bps;
        if (load > worst) {
            worst = load;
            tau_ps = passed_ps;
        }
    }
    if (tau_ps > 0) {
        double weight = MIN(tau_ps, t_ps) / t_ps;
        state->load += weight * (worst - state->load);
    }
}

static void
on_ack(TransportFlow *flow, const TransportAck *ack)
{
    const Params *set = flow->params;
    State *state = flow->state;
    gboolean measured = state->n_hops > 0 && ack->n_hops > 0;
    if (measured)
        measure(flow, state, ack);
    state->n_hops = ack->n_hops;
    for (uint32_t i = 0; i < ack->n_hops; i++)
        state->hops[i] = ack->hops[i];
    if (!measured)
        return;

    gboolean scaled = state->load >= set->eta || state->stage >= set->max_stage;
    state->window_B = scaled ? state->reference_B * set->eta / MAX(state->load, 1e-6) : state->reference_B;
    state->window_B += state->w_ai_B;
    apply(flow);
    if (ack->seq < state->next_round)
        return;
    state->stage = scaled ? 0 : state->stage + 1;
    state->reference_B = state->window_B;
    state->next_round = state->sent;
}

const Transport transport_hpcc = {
    .name = "hpcc",
    .help = "a window from the load of each port on the way (in-band telemetry)",
    .params = params,
    .params_size = sizeof(Params),
    .state_size = sizeof(State),
    .recovery = RECOVERY_SELECTIVE_REPEAT,
    .wants_hops = TRUE,
    .start = start,
    .on_send = on_send,
    .on_ack = on_ack,
};
