/* generate_plan.h - how many switches and cables a zone needs, worked out before any is made
 *
 * Private to generate*.c. All zones of a fabric are alike, so there is one plan. Nothing is rounded: where
 * cables do not come out whole the plan is refused with the numbers and the nearest that would work.
 *
 * A group is what one leaf holds (clos: whole servers; rail: one NIC of each server, on as many leaves as a
 * server has NICs). All groups are full but perhaps the last. */
#pragma once

#include "fabric/generate.h"

typedef struct {
    uint32_t group_servers; /* of a full group */
    uint32_t n_groups;
    uint32_t leaves_a_group;     /* rail: NICs of a server; else 1 */
    uint32_t uplinks;            /* of a leaf of a full group */
    uint32_t last_uplinks;       /* of a leaf of the last group */
    uint32_t spines;             /* above each leaf: of the zone, or of a pod (clos3) */
    uint32_t pod_leaves, n_pods; /* clos3; else all leaves are in one pod */
    uint32_t plane_cores;        /* clos3: cores above the spines of one position */
} ZonePlan;

/* Groups and leaves, with nics of each server on a leaf. */
gboolean plan_leaves(const GenerateSpec *spec, uint32_t nics, ZonePlan *plan, GError **error);
/* As plan_leaves for leaves without uplinks: one group, as many servers as a leaf has ports. */
gboolean plan_leaves_alone(const GenerateSpec *spec, uint32_t nics, ZonePlan *plan, GError **error);
/* Spines over all leaves. After plan_leaves. */
gboolean plan_spines(const GenerateSpec *spec, ZonePlan *plan, GError **error);
/* Pods of leaves and spines, and the cores over them. After plan_leaves. */
gboolean plan_pods(const GenerateSpec *spec, ZonePlan *plan, GError **error);

uint32_t plan_n_leaves(const ZonePlan *plan);
/* Uplinks of a leaf. */
uint32_t plan_uplinks(const ZonePlan *plan, uint32_t leaf);
/* Cables from the leaves of a pod down to one of its spines; as many go up to the cores. */
uint32_t plan_spine_ports(const ZonePlan *plan, uint32_t pod);

uint32_t zone_radix(const GenerateSpec *spec);
