/* placement_map.h - ranks to GPUs axis by axis: "pp across buildings, dp across zones, tp inside a server"
 *
 * Rules are taken in turn. `across`: the members of an axis go to different units, in equal blocks where there are more
 * members than units; what a unit gets is laid out by the rules that follow. `inside`: all members of an axis share a
 * unit; they are put side by side, and refused where they do not fit. What no rule settles goes in rank order. */
#pragma once

#include "fabric/fabric.h"
#include "workload/program.h"

typedef struct {
    char *axis;   /* a group of the workload */
    char *across; /* building, zone or server; NULL */
    char *inside; /* the same or rail; NULL. One of the two is given */
} PlacementRule;

/* "north/A" of a building, "north/A/0" of a zone, "north/A/0/3" of a server, "rail 3"; a GPU without one is alone. The
 * caller frees it. */
char *placement_unit_name(const Node *node, const char *over);

/* nodes[r] for each rank from gpus[0..n), free ones in fabric order. FALSE with an INPUT error. */
gboolean placement_map(const PlacementRule *rules, uint32_t n_rules, const Fabric *fabric, const Workload *workload,
                       const uint32_t *gpus, uint32_t n, uint32_t *nodes, GError **error);
