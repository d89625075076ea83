/* level_fill.h - max-min rates of flows of equal weight that all start at once, from nothing
 *
 * Progressive filling as in maxmin_fill.c, over arrays that are made for one answer: nothing is kept for later changes.
 * Flows of equal size that start together need no more: those that are fastest end first, and no slower one is held by
 * a link that a faster one is on, so that none ever changes its rate (SPEED.md 3). */
#pragma once

#include "network/flow_classes.h"

#include <glib.h>

/* By flow its rate before rounding (weights do not count), by link whether it is full; the caller's arrays. Every flow
 * has a link or a cap. FALSE: there are too many different caps. */
gboolean level_fill(const FlowGraph *graph, double *rates, uint8_t *full);
