/* recorded.c - the model that moves nothing: collectives last what was recorded, a transfer arrives at once */
#include "network/model.h"

#include <math.h>

static void
init(Network *network)
{
}

static void
destroy(Network *network)
{
}

static gboolean
start(Network *network, uint32_t activity, GError **error)
{
    activities_get(network->activities, activity)->latency_ps = 0;
    activities_sent_in(network->activities, activity, 0);
    return TRUE;
}

static void
set_link(Network *network, uint32_t link, double rate_Bps)
{
}

static gboolean
probe(Network *network, const Transfer *transfer, NetworkProbe *result, GError **error)
{
    *result = (NetworkProbe){.latency_ps = 0, .rate_Bps = INFINITY};
    return TRUE;
}

const NetworkModel network_recorded = {
    .name = "recorded",
    .help = "collectives last what was recorded; nothing moves",
    .moves_bytes = FALSE,
    .size = sizeof(Network),
    .init = init,
    .destroy = destroy,
    .start = start,
    .set_link = set_link,
    .probe = probe,
};
