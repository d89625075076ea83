/* placement.h - which GPU each rank of a job runs on
 *
 * A policy is one function and one line in placement.c's table. GPUs are not shared between jobs. */
#pragma once

#include "cluster/placement_map.h"

typedef enum {
    PLACEMENT_PACKED,
    PLACEMENT_SPREAD,
    PLACEMENT_RANDOM,
    PLACEMENT_BUILDING,
    PLACEMENT_RAIL,
    PLACEMENT_AXIS,
    PLACEMENT_MAP,
    PLACEMENT_RESERVED,
    PLACEMENT_GIVEN
} PlacementPolicy;

typedef struct {
    PlacementPolicy policy;
    char *over; /* spread, axis, reserved: "building", "zone" or "server" (the default): the level over which ranks are
                   laid out; building: the building's name, NULL = the first with room */
    char *axis; /* axis: the mesh axis whose members go to different units of `over` */
    PlacementRule *rules; /* map: axis by axis */
    uint32_t n_rules;
    char **gpus; /* given: node names, one a rank; NULL-terminated */
} PlacementSpec;

/* Fills nodes[0..n_ranks) with free GPUs and marks them taken (one gboolean a node). Random placement draws from the
 * stream (seed, "placement/JOB"). Not enough free, an unknown name, a GPU twice: FALSE with an INPUT error
 * such as "96 asked for, building B has 64 free", and nothing is taken. */
gboolean placement_choose(const PlacementSpec *spec, const Fabric *fabric, const Workload *workload, const char *job,
                          uint64_t seed, gboolean *taken, uint32_t *nodes, GError **error);

const char *placement_policy_name(PlacementPolicy policy);
gboolean placement_policy_parse(const char *text, PlacementPolicy *policy);
