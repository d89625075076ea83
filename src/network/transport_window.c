/* transport_window.c - a fixed window: so many bytes in flight, whatever happens
 *
 * By default one bandwidth-delay product of the flow's way in an empty network, and one packet more, so that a flow
 * alone fills its way. */
#include "network/transport.h"

typedef struct {
    uint64_t window_B; /* 0 = by itself */
    double bdp;        /* then, in bandwidth-delay products */
    double rate_Bps;   /* of pacing */
} Params;

static const TransportParam params[] = {
    {"window", PARAM_SIZE, "0 B", offsetof(Params, window_B), .help = "bytes in flight; 0 = by bdp"},
    {"bdp", PARAM_NUMBER, "1", offsetof(Params, bdp), 0.01, 1e6, "bandwidth-delay products in flight"},
    {"rate", PARAM_RATE, "0 b/s", offsetof(Params, rate_Bps), .help = "of pacing; 0 = none"},
    {NULL},
};

static void
start(TransportFlow *flow)
{
    const Params *set = flow->params;
    double bdp_B = flow->line_Bps * sim_time_seconds(flow->rtt_ps);
    flow->window_B = set->window_B != 0 ? set->window_B : (uint64_t)(set->bdp * bdp_B) + flow->packet_B;
    if (set->rate_Bps > 0)
        flow->rate_Bps = set->rate_Bps;
}

const Transport transport_window = {
    .name = "window",
    .help = "a fixed number of bytes in flight",
    .params = params,
    .params_size = sizeof(Params),
    .recovery = RECOVERY_SELECTIVE_REPEAT,
    .start = start,
};
