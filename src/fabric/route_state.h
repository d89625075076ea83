/* route_state.h - inside the routes: what they are made of */
#pragma once

#include "fabric/route_chain.h"
#include "fabric/route_spray.h"

struct Routes {
    RoutingPolicy policy;
    RouteMap map;
    RouteSpray *spray;
    const double *load; /* by link; NULL = all alike */
    GHashTable *pins;   /* (src, dst) as uint64_t -> Pin; looked up, never walked */
    GArray *hops;       /* of RouteHop: of the last route */
    GArray *siblings;   /* of uint32_t */
};
