/* loss_spread.h - the rates if every transfer were spread over its equal-cost paths: against them collisions are
 * counted
 *
 * A solver of its own. Links that every flow so far used together and in equal parts (the uplinks of a leaf) are one
 * trunk in it, of their joint capacity: exact, and a flow over three switch levels has 6 uses rather than 146. Where a
 * flow uses part of a trunk, or unequal parts, its links are told apart and everything is entered anew. */
#pragma once

#include "network/demand.h"

typedef struct LossSpread LossSpread;

/* All borrowed. capacity: of each link, as it is when read. */
LossSpread *loss_spread_new(Network *network, DemandMaker *maker, const double *capacity);
void loss_spread_free(LossSpread *spread); /* NULL is fine */

/* An activity's flow. Uses the maker of demands; without any live path it has no rate. */
void loss_spread_enter(LossSpread *spread, uint32_t activity);
/* Fine where it has not entered. */
void loss_spread_leave(LossSpread *spread, uint32_t activity);
/* Links changed, died or came back: all is entered anew. */
void loss_spread_restart(LossSpread *spread);

/* The activities whose rates changed, owned by spread until the next call. */
const uint32_t *loss_spread_solve(LossSpread *spread, uint32_t *n_changed);
/* 0 where it has none. */
double loss_spread_rate(const LossSpread *spread, uint32_t activity);
