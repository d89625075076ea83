/* path_limit.h - how fast a transfer may be on its way: window / round trip, and what losses leave of it (DEFINITIONS
 * 3)
 *
 * For the models that move bytes at rates (fluid, analytic); the packet model has windows and losses of its own. A
 * limit holds for routes through the network, by the widest link on the way; NVLink and PCIe have none. */
#pragma once

#include "fabric/route.h"

typedef enum {
    PATH_NETWORK,   /* within a building */
    PATH_BUILDINGS, /* crosses a link between buildings */
    PATH_REGIONS,   /* crosses a link between regions */
    PATH_LEVELS
} PathLevel;

/* What a lost packet costs; losses are those of the links' attribute. */
typedef enum { LOSSES_IGNORED, LOSSES_GO_BACK_N, LOSSES_SELECTIVE_REPEAT } LossRecovery;

typedef struct {
    uint64_t window_B;    /* in flight at most, of one queue pair; 0 = no limit */
    uint32_t queue_pairs; /* a transfer's bytes are spread over so many, each with its window; at least 1 */
    LossRecovery recovery;
    uint64_t packet_B; /* at least 1: what is lost at once */
} PathLimit;

/* No window, 1 queue pair, losses ignored, packets of 4096 B. */
PathLimit path_limit_default(void);

/* Can it hold anything back? */
gboolean path_limit_is_set(const PathLimit *limit);

/* The level of a route; PATH_LEVELS where it does not go through the network. */
PathLevel path_level(const Fabric *fabric, const Route *route);

/* The highest rate of a transfer on route, given the limits of each level; INFINITY = none. payload_fraction: of the
 * links' capacity. */
double path_limit_rate(const PathLimit *limits, const Fabric *fabric, const Route *route, double payload_fraction);

/* "network", "buildings", "regions", NULL; "none", "go_back_n", "selective_repeat", NULL. */
extern const char *const path_level_names[];
extern const char *const loss_recovery_names[];
