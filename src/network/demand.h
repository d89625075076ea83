/* demand.h - what a transfer, or a bundle of them, takes of each link
 *
 * The members of a bundle progress together: one rate r, that of its largest member; member m moves at r x bytes of m /
 * bytes of the largest. Each link's coefficient is the sum over members of that factor x the share of the member's
 * bytes that cross the link. Bytes split over paths are apportioned in whole bytes: what enters a node leaves it. */
#pragma once

#include "network/all_pairs.h"
#include "network/maxmin.h"
#include "network/model.h"

typedef struct {
    MaxMinUse *uses; /* distinct links, in the order met */
    uint64_t *bytes; /* across each */
    uint32_t n;
    uint64_t links_print; /* usage_links_print, where it is known and each link has all bytes; 0: not so */
    uint64_t largest;     /* bytes of the largest member that moves */
    double weight;        /* of that one (the first such) */
    double cap_Bps;       /* on its rate, so that no member exceeds its own */
    double limit_Bps;     /* of it, what is set for the ways alone */
    SimTime latency_ps;   /* of the longest path; not told of pairs */
    PathRamp ramp;        /* on its rate, below cap_Bps: that of the member with the longest round trip */
} Demand;

/* Scratch for one fabric; demands point into it until the next call. */
typedef struct DemandMaker DemandMaker;

DemandMaker *demand_maker_new(Network *network);
void demand_maker_free(DemandMaker *maker); /* NULL is fine */

/* Of n members, along their routes, or with spread over all equal-cost paths whatever the policy (bytes are
 * then not counted). Members of 0 bytes,
 * or from a node to itself, take nothing: largest is 0 where none moves. FALSE with an INPUT error where there is no
 * route. */
gboolean demand_make(DemandMaker *maker, const Transfer *members, uint32_t n_members, gboolean spread, Demand *demand,
                     GError **error);

/* The way of one transfer alone (routes_find's scratch), the cap on its rate there, how it begins. FALSE: no route. */
gboolean demand_way(const DemandMaker *maker, const Transfer *transfer, Route *route, double *cap_Bps, PathRamp *ramp);

/* The same of all pairs, as of a list of them, but that what is split over paths is apportioned in whole bytes for a
 * group of members together. */
gboolean demand_make_pairs(DemandMaker *maker, const AllPairs *pairs, gboolean spread, Demand *demand, GError **error);

/* Of what an activity is made of. */
gboolean demand_make_activity(DemandMaker *maker, const Activity *activity, gboolean spread, Demand *demand,
                              GError **error);

/* Whole bytes of each of the n links of one transfer's demand when only `bytes` of it, in all, have gone: what enters a
 * node leaves it. Valid until the next call. */
const uint64_t *demand_part(DemandMaker *maker, const MaxMinUse *uses, uint32_t n, uint32_t src, uint64_t bytes);

/* The rate the demand gets with nothing else in the fabric, given the capacity of each link. */
double demand_rate_alone(const Demand *demand, const double *capacity);
