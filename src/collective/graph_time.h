/* graph_time.h - how long a schedule takes where nothing is in its way: each send at its own rate and latency */
#pragma once

#include "base/sim_time.h"
#include "collective/schedule.h"

typedef struct {
    SimTime sends_ps, latency_ps; /* of a send; 0 of a join */
} GraphCost;

/* When each node is delivered and reduced, into done_ps (schedule->n). cost by node, ready_ps by member: when it
 * arrives. Sums that leave the range stay at SIM_TIME_MAX. */
void graph_time(const Schedule *schedule, const GraphCost *cost, const SimTime *ready_ps, double reduce_cost_s_per_B,
                SimTime *done_ps);
