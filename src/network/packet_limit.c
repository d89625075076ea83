/* packet_limit.c - what is set for long ways (path_limit.h), as packets obey it
 *
 * Each queue pair is a flow of its own with an equal part of the bytes, on the transfer's way; its transport's window
 * holds beside what is set. Messages are cut from a queue pair's first byte on. */
#include "network/packet_net.h"

static gboolean
is_set(const PathLimit *limit)
{
    return limit->window_B > 0 || limit->in_flight_B > 0 || limit->queue_pairs > 1 ||
           limit->recovery != LOSSES_IGNORED || limit->spread != PATH_AS_ROUTED || limit->traffic_class > 0;
}

gboolean
packet_limits_set(const NetworkConfig *config, gboolean *classes)
{
    gboolean set = FALSE;
    *classes = FALSE;
    for (uint32_t i = 0; i <= config->n_settings; i++)
        for (PathLevel level = 0; level < PATH_LEVELS; level++) {
            const PathLimit *limit = i == 0 ? &config->limits[level] : &config->settings[i - 1][level];
            set |= is_set(limit);
            *classes |= limit->traffic_class > 0;
        }
    return set;
}

PathLimit
packet_limit_of(const PacketNet *net, const Transfer *transfer)
{
    Route route;
    RouteRequest request = network_request(&net->base, transfer);
    if (!net->limited || !routes_find(net->base.routes, &request, &route, NULL))
        return path_limit_default();
    PathLevel level = path_level(net->fabric, &route);
    return level == PATH_LEVELS ? path_limit_default() : network_limits(&net->base, transfer)[level];
}

uint32_t
packet_limit_pairs(const PacketNet *net, const PathLimit *limit, uint64_t bytes)
{
    uint64_t packets = MAX(1, bytes / net->base.config.packet.mtu_B), pairs = MIN(limit->queue_pairs, packets);
    if (limit->in_flight_B > 0 && limit->message_B > 0) /* no more than may have a message out */
        pairs = MIN(pairs, MAX(1, limit->in_flight_B / limit->message_B));
    return (uint32_t)pairs;
}

void
packet_limit_apply(const PacketNet *net, const PathLimit *limit, Flow *flow, RecoveryConfig *recovery)
{
    uint32_t mtu_B = net->base.config.packet.mtu_B;
    uint64_t flight_B = path_limit_flight(limit);
    RoutingPolicy policy = routes_policy(net->base.routes);
    flow->most_B = TRANSPORT_NO_LIMIT;
    flow->spread = (uint8_t)limit->spread;
    if (limit->traffic_class > 0)
        flow->class = limit->traffic_class - 1;
    if (flight_B > 0 && limit->message_B > 0) {
        flow->message = (uint32_t)MIN(UINT32_MAX, (limit->message_B + mtu_B - 1) / mtu_B);
        flow->messages = (uint32_t)MIN(UINT32_MAX / 2, MAX(1, flight_B / limit->message_B));
    } else if (flight_B > 0) {
        flow->most_B = (uint64_t)((double)flight_B * net->full_B / mtu_B);
    }
    if (limit->recovery != LOSSES_IGNORED)
        recovery->kind = limit->recovery == LOSSES_GO_BACK_N ? RECOVERY_GO_BACK_N : RECOVERY_SELECTIVE_REPEAT;
    else if (limit->spread == PATH_SPRAY && !net->setup.recovery_given)
        recovery->kind = RECOVERY_REORDER_TOLERANT;
    else if (limit->spread == PATH_ONE && !net->setup.recovery_given && policy != ROUTING_ECMP)
        recovery->kind = net->transport->recovery;
}
