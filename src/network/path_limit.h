/* path_limit.h - what is set for transfers on a long way: window, queue pairs, messages, losses, way, class
 *
 * Set by the widest link on the way (DEFINITIONS 3); NVLink and PCIe have none. Models that move bytes at rates (fluid,
 * analytic) make a cap of window, messages and losses; the packet model bounds what a flow has in flight, as its
 * transport does too, and loses packets of its own. */
#pragma once

#include "fabric/route.h"

typedef enum {
    PATH_NETWORK,   /* within a building */
    PATH_BUILDINGS, /* crosses a link between buildings */
    PATH_REGIONS,   /* crosses a link between regions */
    PATH_LEVELS
} PathLevel;

/* What a lost packet costs; losses are those of the links' attribute. Packet: how it is sent again, where not ignored.
 */
typedef enum { LOSSES_IGNORED, LOSSES_GO_BACK_N, LOSSES_SELECTIVE_REPEAT } LossRecovery;

typedef enum {
    PATH_AS_ROUTED, /* by the policy of the routes */
    PATH_ONE,       /* one of the equal-cost ways, by hash where the policy would split */
    PATH_SPRAY      /* all equal-cost ways */
} PathSpread;

typedef struct {
    uint64_t window_B;    /* in flight at most, of one queue pair; 0 = no limit */
    uint32_t queue_pairs; /* a transfer's bytes are spread over so many, each with its window; at least 1 */
    LossRecovery recovery;
    uint64_t packet_B;    /* at least 1: what is lost at once */
    uint64_t in_flight_B; /* at most, of all queue pairs together; 0 = no limit */
    /* A transfer is cut into messages of this size, and what may be in flight counts in whole messages, one at least,
     * each until all of it is acknowledged; 0 = not cut. */
    uint64_t message_B;
    uint64_t ramp_up_B;    /* first window of one queue pair, doubled each round trip; 0 = none (fluid, analytic) */
    PathSpread spread;     /* fluid, analytic and packet */
    uint8_t traffic_class; /* + 1; 0 = that of the job (packet) */
} PathLimit;

/* A cap that rises: first_Bps in the first round trip, twice as much in each that follows, until it no longer holds
 * anything back. */
typedef struct {
    double first_Bps;
    SimTime round_trip_ps; /* 0 = no ramp */
} PathRamp;

/* No window, 1 queue pair, losses ignored, packets of 4096 B, nothing else set. */
PathLimit path_limit_default(void);

/* Can it hold anything back? */
gboolean path_limit_is_set(const PathLimit *limit);

/* The level of a route; PATH_LEVELS where it does not go through the network. */
PathLevel path_level(const Fabric *fabric, const Route *route);

/* The highest rate of a transfer on route, given the limits of each level; INFINITY = none. payload_fraction: of the
 * links' capacity. */
double path_limit_rate(const PathLimit *limits, const Fabric *fabric, const Route *route, double payload_fraction);

/* How a transfer on route begins. */
PathRamp path_limit_ramp(const PathLimit *limits, const Fabric *fabric, const Route *route);
/* From its first byte sent to its last, of so many bytes with this ramp and at rate_Bps at most (above 0): in round
 * k, from k round trips on, a flow that ramps has min(first_Bps 2^k, rate_Bps). Seconds. */
double path_ramp_seconds(const PathRamp *ramp, double bytes, double rate_Bps);

/* What one queue pair may have in flight, in bytes and in messages (the fewer of both counts); 0 = no limit. */
uint64_t path_limit_flight(const PathLimit *limit);

/* "network", "buildings", "regions", NULL; "none", "go_back_n", "selective_repeat", NULL; "as_routed", "one_path",
 * "spray", NULL. */
extern const char *const path_level_names[];
extern const char *const loss_recovery_names[];
extern const char *const path_spread_names[];
