/* loss.h - the books of lost transfer time of a fluid network: contention, collisions, faults (DEFINITIONS 6,
 * doc/model.md)
 *
 * Follows each flow of the main solver with up to two shadows: its rate if only its job existed (one link of a second
 * solver for each pair of link and job), and its rate if every transfer were spread over its equal-cost paths (a third
 * solver). Both are kept only once they can matter and solved only while they do. */
#pragma once

#include "network/demand.h"
#include "network/loss_meter.h"
#include "network/usage.h"

typedef struct Losses Losses;

/* All borrowed. capacity: of each link now; the capacities at this call are the original ones. */
Losses *losses_new(Network *network, const MaxMin *solver, Usage *usage, DemandMaker *maker, const double *capacity);
void losses_free(Losses *losses); /* NULL is fine */

/* An activity's flow has entered the main solver, with its book. Uses the maker of demands. */
void losses_enter(Losses *losses, uint32_t activity, uint32_t flow, uint32_t book);
/* It stands still because this link died. */
void losses_stall(Losses *losses, uint32_t activity, uint32_t link);
/* It leaves the solver, or stands still no longer. */
void losses_leave(Losses *losses, uint32_t activity);
/* A link's capacity is another now, 0 = dead. */
void losses_capacity(Losses *losses, uint32_t link, double capacity);

/* The main solver has been solved; activities whose rates changed have told their books. */
void losses_settle(Losses *losses, const uint32_t *activities, uint32_t n, SimTime now);
/* Flows that may lose by a collision, as of the last settling. */
uint32_t losses_n_candidates(const Losses *losses);
/* Is the link never one of several that a hash chooses among? */
gboolean losses_is_fixed(const Losses *losses, uint32_t link);
/* Of transfers of one job, with nobody else on the link, none can lose there. crowded: full, with more than one. */
gboolean losses_is_plain(const Losses *losses, uint32_t link, gboolean crowded);
void losses_finish(Losses *losses, SimTime now);

/* Owned by losses. */
LossMeter *losses_meter(const Losses *losses);
