#include "network/path_limit.h"

#include <math.h>

const char *const path_level_names[] = {"network", "buildings", "regions", NULL};
const char *const loss_recovery_names[] = {"none", "go_back_n", "selective_repeat", NULL};
const char *const path_spread_names[] = {"as_routed", "one_path", "spray", NULL};

PathLimit
path_limit_default(void)
{
    return (PathLimit){.queue_pairs = 1, .packet_B = 4096};
}

gboolean
path_limit_is_set(const PathLimit *limit)
{
    return limit->window_B > 0 || limit->in_flight_B > 0 || limit->ramp_up_B > 0 || limit->recovery != LOSSES_IGNORED;
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

/* Whole messages, one at least. */
static uint64_t
in_messages(uint64_t bytes, uint64_t message_B)
{
    return message_B == 0 ? bytes : MAX(1, bytes / message_B) * message_B;
}

/* What a transfer may have in flight over all its queue pairs; INFINITY = no limit. */
static double
flight_of(const PathLimit *limit)
{
    double flight = INFINITY;
    if (limit->window_B > 0)
        flight = (double)in_messages(limit->window_B, limit->message_B) * limit->queue_pairs;
    if (limit->in_flight_B > 0)
        flight = MIN(flight, (double)in_messages(limit->in_flight_B, limit->message_B));
    return flight;
}

uint64_t
path_limit_flight(const PathLimit *limit)
{
    double flight = flight_of(limit);
    if (!isfinite(flight))
        return 0;
    return MAX(1, (uint64_t)(flight / limit->queue_pairs));
}

/* A place in flight is taken from the first byte of a message until the last one is acknowledged: a round trip and the
 * message's time on the line. So with F bytes in flight F / (round trip + message / line) go a second. */
double
path_limit_rate(const PathLimit *limits, const Fabric *fabric, const Route *route, double payload_fraction)
{
    PathLevel level = path_level(fabric, route);
    if (level == PATH_LEVELS)
        return INFINITY;
    const PathLimit *limit = &limits[level];
    double line_Bps = line_rate(fabric, route, payload_fraction), flight_B = flight_of(limit), rate = INFINITY;
    double round_trip_s = 2 * (double)route->latency_ps / PS_PER_S;
    double held_s = round_trip_s + (double)limit->message_B / line_Bps;
    if (isfinite(flight_B) && held_s > 0)
        rate = flight_B / held_s;
    double p = limit->recovery != LOSSES_IGNORED ? packet_loss(fabric, route) : 0;
    if (p > 0) {
        double of_pair = line_Bps / limit->queue_pairs, packet = (double)limit->packet_B;
        double window = flight_B / limit->queue_pairs / packet;
        double underway = MAX(1, MIN(window, 1 + of_pair * round_trip_s / packet));
        rate = MIN(rate, line_Bps) * goodput(limit->recovery, p, underway);
    }
    return rate;
}

PathRamp
path_limit_ramp(const PathLimit *limits, const Fabric *fabric, const Route *route)
{
    PathLevel level = path_level(fabric, route);
    if (level == PATH_LEVELS || limits[level].ramp_up_B == 0 || route->latency_ps == 0)
        return (PathRamp){0};
    SimTime round_trip_ps = 2 * route->latency_ps;
    double first_B = (double)limits[level].ramp_up_B * limits[level].queue_pairs;
    return (PathRamp){first_B / sim_time_seconds(round_trip_ps), round_trip_ps};
}

double
path_ramp_seconds(const PathRamp *ramp, double bytes, double rate_Bps)
{
    double rate = ramp->first_Bps, passed_s = 0, round_s = sim_time_seconds(ramp->round_trip_ps);
    while (ramp->round_trip_ps > 0 && rate < rate_Bps && bytes > rate * round_s) {
        bytes -= rate * round_s;
        passed_s += round_s;
        rate *= 2;
    }
    return passed_s + bytes / (ramp->round_trip_ps > 0 ? MIN(rate, rate_Bps) : rate_Bps);
}
