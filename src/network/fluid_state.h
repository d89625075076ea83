/* fluid_state.h - the inside of the fluid model, shared by flows (fluid.c, fluid_ramp.c, fluid_reroute.c), phases by
 * class (fluid_phase.c) and holds (fluid_hold.c) */
#pragma once

#include "network/demand.h"
#include "network/end_heap.h"
#include "network/fluid_ways.h"
#include "network/link_claim.h"
#include "network/link_clock.h"
#include "network/loss.h"

typedef struct {
    uint32_t flow; /* in the solver; INDEX_NONE = not there: latency only, sent, or standing still */
    uint32_t book;
    uint32_t dead_link;  /* why it stands still */
    uint32_t ramp_stamp; /* while it ramps up: the event that counts; 0 = it does not */
    double rate_Bps;     /* of its largest member, unless it is on the clock of a link, as the next two */
    SimTime since;
    Count left;       /* of its largest member, as of since */
    uint32_t told;    /* the settling in which its rate was told last; 0 = it must be */
    uint64_t largest; /* bytes of that member in all */
    uint64_t before;  /* of them those moved on earlier routes */
} FluidFlow;

/* Of a flow that ramps up. */
typedef struct {
    SimTime round_trip_ps;
    double through_Bps, cap_Bps; /* the cap at which it is through, and its cap then */
} Ramp;

typedef struct {
    uint32_t *items;
    uint32_t n, room;
} Numbers;

typedef struct {
    Network base;
    MaxMin *solver;
    DemandMaker *maker;
    Usage *usage;     /* NULL: no books */
    Losses *losses;   /* likewise */
    double *capacity; /* by link: what bytes may use of it */
    double *load;     /* by link, for adaptive routing: flows routed over it / capacity; else NULL */
    FluidFlow *flows; /* by activity */
    uint32_t flows_room;
    Ramp *ramping; /* by activity, as far as any has ramped up */
    uint32_t ramping_room;
    uint32_t *activity_of; /* by flow of the solver */
    uint32_t activity_of_room;
    LinkClocks *clocks;     /* of flows that links hold, by activity */
    EndHeap *ends;          /* of the others */
    LinkClaims *claims;     /* of phases by class and of holds */
    uint32_t changes;       /* of links, so far: what was prepared before the last one is stale */
    NetworkHold *releasing; /* the hold whose owner is being told; NULL */
    WayScratch *scratch;    /* of ways_new */
    uint32_t kind_stage, kind_arrive;
    Numbers ended, moved; /* scratch: activities of one instant */
    Numbers stalled;      /* activities, in the order they stopped */
    gboolean unsettled;
    uint32_t settlings;      /* so far */
    uint64_t settled_events; /* the engine's count when last settled */
    SimTime wake_ps;         /* of the event that counts; -1 = none */
    uint32_t wake_stamp, kind_wake;
    uint32_t ramps, kind_ramp, kind_reroute;
} Fluid;

void numbers_add(Numbers *numbers, uint32_t number);
SimTime fluid_now(const Fluid *self);
/* Brings activities into the order of their creation, in which they mostly are. */
void fluid_sort(Fluid *self, Numbers *numbers);

/* A solve is due when this instant ends. */
void fluid_unsettle(Fluid *self);
/* The flow of an activity, in the solver; and out of it, all that is kept of it while it moves included. */
void fluid_add(Fluid *self, uint32_t activity, const MaxMinUse *uses, uint32_t n, double weight, double cap_Bps);
void fluid_leave(Fluid *self, uint32_t activity);
/* The links that a flow of the solver uses, as an array; the caller frees it. */
MaxMinUse *fluid_uses(const Fluid *self, uint32_t flow, uint32_t *n);
/* Off the clock of a link, if it is on one: from now on it counts by itself, at the same rate. */
void fluid_leave_clock(Fluid *self, uint32_t activity);
/* Counts what has moved since then of a flow that counts by itself. */
void fluid_bring_up(FluidFlow *flow, SimTime now);
/* The demand of all pairs, or of members where there are none; whoever claims a link of it is released. */
gboolean fluid_claim_demand(Fluid *self, const AllPairs *pairs, const Transfer *members, uint32_t n_members,
                            Demand *demand, GError **error);

/* fluid_ramp.c: the cap a flow begins with; event handler. */
double fluid_begin_ramp(Fluid *self, uint32_t activity, const Demand *demand);
void fluid_handle_ramp(void *owner, const Event *event);

/* fluid_reroute.c. A dead link on the way that routes do not know of yet; INDEX_NONE. */
uint32_t fluid_dead_link(const Fluid *self, const Demand *demand);
/* The flow stands still until this link is back or routes have changed. */
void fluid_stall(Fluid *self, uint32_t activity, uint32_t link);
void fluid_set_link(Network *network, uint32_t link, double rate_Bps);
void fluid_handle_reroute(void *owner, const Event *event);

/* Makes room for the state of an activity: `left` of its largest member as of `since`, not in the solver. */
FluidFlow *fluid_open(Fluid *self, uint32_t activity, uint64_t largest, Count left, SimTime since);
/* A flow enters the solver: its links are free of claims. book: its book, INDEX_NONE where there is none yet. */
void fluid_enter(Fluid *self, uint32_t activity, const Demand *demand, uint32_t book);

/* Are none but leaving flows on any of these links? */
gboolean fluid_is_free(const Fluid *self, const uint32_t *links, uint32_t n);
/* A demand of one transfer by the routes of now; releases the claims on its links. */
gboolean fluid_demand(Fluid *self, const Transfer *members, uint32_t n_members, Demand *demand, GError **error);
/* Does no hash lead over them that could have led elsewhere, or here from elsewhere? */
gboolean fluid_is_apart(const Fluid *self, const uint32_t *links, uint32_t n);
/* May claims be taken now, and may the losses of what is under one be none? crowded: of each link that carries more
 * than one transfer and is full. */
gboolean fluid_may_claim(const Fluid *self, const uint32_t *links, uint32_t n, const uint8_t *crowded);

/* fluid_phase.c */
void fluid_phase_init(Fluid *self);
gboolean fluid_send_phase(Network *network, Phase *phase);
void fluid_forget_pattern(NetworkPattern *pattern);
/* fluid_hold.c */
NetworkHold *fluid_hold(Network *network, const Transfer *transfers, uint32_t n, NetworkRelease release, void *owner,
                        uint32_t cookie);
/* Books the past of a hold that is being released, before anything new starts. */
void fluid_hold_flush(Fluid *self);
void fluid_start_begun(Network *network, uint32_t activity);
