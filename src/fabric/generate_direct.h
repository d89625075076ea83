/* generate_direct.h - zones whose routers all have servers and are joined directly: torus and dragonfly
 *
 * Private to generate*.c. Server s hangs on router s / (servers a router); routers are leaves.
 * - torus (zone.torus: 2 or 3 sizes): router x + k0 (y + k1 z) is joined to the next in each dimension, around the end;
 * in a dimension of 2 by one cable. Cables: N for each dimension above 2, N / 2 for one of 2. A cut through the middle
 * of the even dimension d takes 2 N / kd cables, N / 2 where kd = 2.
 * - dragonfly (Kim, Dally, Scott, Abts, ISCA 2008): `groups` of `routers`, all of a group joined pairwise; each router
 * has `global_links` to other groups, spread evenly: every two groups share routers x global_links / (groups - 1)
 * cables. Channel c of a group is at router c / global_links and leads (c / that number + 1) groups on. */
#pragma once

#include "fabric/generate_plan.h"

typedef struct {
    uint32_t a, b;   /* routers of the zone */
    gboolean global; /* dragonfly: between groups */
} DirectCable;

gboolean direct_plan_torus(const GenerateSpec *spec, ZonePlan *plan, GError **error);
gboolean direct_plan_dragonfly(const GenerateSpec *spec, ZonePlan *plan, GError **error);

/* Of DirectCable, after the plan; the caller frees it. */
GArray *direct_cables_torus(const GenerateSpec *spec);
GArray *direct_cables_dragonfly(const GenerateSpec *spec);
