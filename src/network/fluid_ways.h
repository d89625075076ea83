/* fluid_ways.h - the ways of many transfers at once, by the routes of now, links numbered densely */
#pragma once

#include "network/demand.h"

typedef struct {
    uint32_t n, n_links;
    uint32_t *first, *hops; /* transfer t crosses hops[first[t]] .. hops[first[t + 1] - 1] */
    double *shares;         /* along hops; NULL: each hop takes all */
    uint32_t *links;        /* of the fabric, by number here, in the order met */
    SimTime *latency_ps;    /* by transfer */
    double *cap_Bps;        /* by transfer: its own and its way's, INFINITY = none */
    gboolean ramps;         /* does any begin slower than it goes on? */
} Ways;

/* By link of the fabric: its number, between calls INDEX_NONE. One for each network. */
typedef struct WayScratch WayScratch;
WayScratch *way_scratch_new(Network *network, DemandMaker *maker); /* borrowed */
void way_scratch_free(WayScratch *scratch);                        /* NULL is fine */

/* Transfers of 0 bytes, or from a node to itself, cross nothing. NULL: one has no route. */
Ways *ways_new(WayScratch *scratch, const Transfer *transfers, uint32_t n);
void ways_free(Ways *ways); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ways, ways_free)
