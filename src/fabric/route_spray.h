/* route_spray.h - inside the routes: all equal-cost paths of a leg at once
 *
 * Each of the P live paths carries 1/P, so a link carries (paths from the beginning to it) x (paths from it to the
 * end) / P. */
#pragma once

#include "fabric/route.h"
#include "fabric/route_table.h"

typedef struct RouteSpray RouteSpray; /* scratch; nothing is kept from leg to leg */

RouteSpray *route_spray_new(const RouteGraph *graph);
void route_spray_free(RouteSpray *spray); /* NULL is fine */

/* Appends the leg's links with their shares to hops (of RouteHop), by distance, then by link, and puts the
 * longest path's latency into *latency_ps: FALSE where that leaves the range of time. */
gboolean route_spray_leg(RouteSpray *spray, const RouteLeg *leg, GArray *hops, SimTime *latency_ps);

/* The number of paths, UINT64_MAX where it is that or more. */
uint64_t route_spray_count(RouteSpray *spray, const RouteLeg *leg);

size_t route_spray_memory(const RouteSpray *spray);
