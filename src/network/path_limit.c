#include "network/path_limit.h"

#include <math.h>

const char *const path_level_names[] = {"network", "buildings", "regions", NULL};
const char *const loss_recovery_names[] = {"none", "go_back_n", "selective_repeat", NULL};

PathLimit
path_limit_default(void)
{
    return (PathLimit){.queue_pairs = 1, .packet_B = 4096};
}

gboolean
path_limit_is_set(const PathLimit *limit)
{
    return limit->window_B > 0 || limit->recovery != LOSSES_IGNORED;
}

PathLevel
path_level(const Fabric *fabric, const Route *route)
{
    PathLevel level = PATH_LEVELS;
    for (uint32_t i = 0; i < route->n_hops; i++) {
        LinkKind kind = fabric_link(fabric, route->hops[i].link)->kind;
        PathLevel of_link = kind == LINK_INTERREGION     ? PATH_REGIONS
                            : kind == LINK_INTERBUILDING ? PATH_BUILDINGS
                                                         : PATH_NETWORK;
        if (kind != LINK_NVLINK && kind != LINK_PCIE && (level == PATH_LEVELS || of_link > level))
            level = of_link;
    }
    return level;
}

/* The probability that a packet is lost on its way. Where packets take several paths, the mean over them, to first
 * order. */
static double
packet_loss(const Fabric *fabric, const Route *route)
{
    double arrives = 1;
    for (uint32_t i = 0; i < route->n_hops; i++)
        arrives *= 1 - route->hops[i].share * fabric_link(fabric, route->hops[i].link)->loss;
    return 1 - arrives;
}

/* The rate of a transfer that has the route to itself. */
static double
line_rate(const Fabric *fabric, const Route *route, double payload_fraction)
{
    double rate = INFINITY;
    for (uint32_t i = 0; i < route->n_hops; i++)
        rate =
            MIN(rate, fabric_link(fabric, route->hops[i].link)->capacity_Bps * payload_fraction / route->hops[i].share);
    return rate;
}

/* The part of what is sent that counts, where each packet is lost with probability p and n packets are on their way
 * when a loss comes to be known: 1 - p with selective repeat, (1 - p) / (1 - p + n p) with go-back-N, which sends those
 * n again (W. Stallings, Data and Computer Communications, "Performance issues" of sliding-window ARQ: with a =
 * propagation / packet time, n = 1 + 2a where the window is larger, else the window). */
static double
goodput(LossRecovery recovery, double p, double n)
{
    if (recovery == LOSSES_SELECTIVE_REPEAT)
        return 1 - p;
    return (1 - p) / (1 - p + n * p);
}

double
path_limit_rate(const PathLimit *limits, const Fabric *fabric, const Route *route, double payload_fraction)
{
    PathLevel level = path_level(fabric, route);
    if (level == PATH_LEVELS)
        return INFINITY;
    const PathLimit *limit = &limits[level];
    double round_trip_s = 2 * (double)route->latency_ps / PS_PER_S, window_B = INFINITY, rate = INFINITY;
    if (limit->window_B > 0)
        window_B = (double)limit->window_B;
    if (limit->window_B > 0 && round_trip_s > 0)
        rate = window_B / round_trip_s; /* of one queue pair */
    double p = limit->recovery != LOSSES_IGNORED ? packet_loss(fabric, route) : 0;
    if (p > 0) {
        double line = line_rate(fabric, route, payload_fraction) / limit->queue_pairs, packet = (double)limit->packet_B;
        double underway = MAX(1, MIN(window_B / packet, 1 + line * round_trip_s / packet));
        rate = MIN(rate, line) * goodput(limit->recovery, p, underway);
    }
    return rate * limit->queue_pairs;
}
