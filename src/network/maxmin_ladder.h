/* maxmin_ladder.h - the links of a MaxMin in order of level, each summed anew
 *
 * Where a change reaches most links (an all-to-all of unequal sizes: each flow that ends changes the rates of nearly
 * all that are faster), telling each link of each flow's change costs more than asking: a look at a link then sums what
 * its guests take, from the levels of their holders, which lie together in the cache. A climb looks at the links from
 * the lowest that was touched up, in order of level, since nobody below a link depends on it.
 *
 * Only while all weights and coefficients are 1 and no flow has a cap. Idle links are not on the ladder. */
#pragma once

#include "network/maxmin.h"

typedef struct Ladder Ladder;

/* All links that are not idle come onto the ladder; the sums of each must be right, and none pending. */
void maxmin_ladder_begin(MaxMin *solver);
/* Back to passing on: links that are still to be looked at become pending. Nothing where there is no ladder. */
void maxmin_ladder_end(MaxMin *solver);

/* The link is to be looked at in the next climb, or again in this one. */
void maxmin_ladder_touch(MaxMin *solver, uint32_t link);
/* The lowest link to be looked at, its sums made anew; INDEX_NONE = none. */
uint32_t maxmin_ladder_next(MaxMin *solver);
/* It has been looked at: it comes to the place that its level has; those that stand as high are looked at again. */
void maxmin_ladder_place(MaxMin *solver, uint32_t link);
/* Its level, at which guests elsewhere are held, is another: of the link that is looked at; of one that held nobody. */
void maxmin_ladder_level(MaxMin *solver, uint32_t link);

/* A link is idle no longer, or now. */
void maxmin_ladder_join(MaxMin *solver, uint32_t link);
void maxmin_ladder_leave(MaxMin *solver, uint32_t link);

/* A flow enters the sums, leaves them, or has another holder. */
void maxmin_ladder_enter(MaxMin *solver, uint32_t flow);
void maxmin_ladder_exit(MaxMin *solver, uint32_t flow);
void maxmin_ladder_move(MaxMin *solver, uint32_t flow, uint32_t before);

/* The guests of a link, in no particular order, and how many; until the next move. */
const uint32_t *maxmin_ladder_guests(const MaxMin *solver, uint32_t link, uint32_t *n);
/* After a solve: has it been worth while? */
gboolean maxmin_ladder_pays(MaxMin *solver);
