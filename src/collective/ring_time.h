/* ring_time.h - how long a ring takes where nothing is in its way: the recursion of DEFINITIONS 4, walked to its end
 *
 * Each hop has a latency and a rate of its own, each member its own time of arrival; sends are rounded up to
 * picoseconds one by one, as they are when each is made, so that the answer is that of the grain `steps`. */
#pragma once

#include "collective/ring_walk.h"

/* When everything is sent, delivered and reduced. hop[p] for each position, n >= 2. SIM_TIME_MAX where it would leave
 * the range. */
SimTime ring_time_exact(const Ring *ring, const RingHop *hop, uint64_t slice_B, double reduce_cost_s_per_B);
/* The same, but where chunks differ by a byte and the ring is too large to be followed step by step, all are taken as
 * the larger size: too long by at most one byte's time a step. */
SimTime ring_time(const Ring *ring, const RingHop *hop, uint64_t slice_B, double reduce_cost_s_per_B);
