/* goal_time.h - when a GOAL schedule ends under LogGOPS, by the rules of LogGOPSim (Hoefler, Schneider, Lumsdaine 2010)
 *
 * No fabric and no contention but at the hosts: doc/model.md says the rules, which a run of the analytic model has too;
 * this is an implementation of its own, against which that one is checked. */
#pragma once

#include "network/network.h"
#include "workload/goal.h"

typedef struct {
    SimTime L_ps;
    LogGops costs; /* S_B = 0: never a rendezvous */
} GoalCosts;

typedef struct {
    SimTime end_ps; /* the last CPU is free */
    uint32_t rank;  /* the first rank of which that is so */
    uint64_t messages;
} GoalTime;

/* LogGOPSim's defaults: L = 2500, o = 1500, g = 1000 ns, G = 6 ns/B, O = 0, S = 65535. */
GoalCosts goal_costs_default(void);
/* FALSE with an INPUT error where a message or a receive is left, operations wait in a circle, or 26 days pass. */
gboolean goal_time(const GoalSchedule *schedule, const GoalCosts *costs, GoalTime *result, GError **error);
