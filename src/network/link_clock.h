/* link_clock.h - how far the flows are that one link holds
 *
 * Flows that a link holds at one rate move alike: the link has a clock that counts what each of them moves, and of a
 * flow only the count is kept at which it will be done, which no change of the rate touches. So a change of rates costs
 * a line of memory for each link, not for each flow. The earliest end is looked for among bounds by link, which are
 * worked out exactly only where they come first. */
#pragma once

#include "network/count.h"

typedef struct LinkClocks LinkClocks;

LinkClocks *link_clocks_new(uint32_t n_links);
void link_clocks_free(LinkClocks *clocks); /* NULL is fine */

/* The rate of all on a link from now on. `now` never falls from call to call. */
void link_clocks_set_rate(LinkClocks *clocks, uint32_t link, double rate_Bps, SimTime now);
double link_clocks_rate(const LinkClocks *clocks, uint32_t link);

/* Enters number, any that is not there, with so much left. */
void link_clocks_join(LinkClocks *clocks, uint32_t link, uint32_t number, Count left, SimTime now);
/* The link it is on; INDEX_NONE = it is not there. */
uint32_t link_clocks_link(const LinkClocks *clocks, uint32_t number);
/* What one that is there has left. */
Count link_clocks_left(const LinkClocks *clocks, uint32_t number, SimTime now);
/* Takes it out; what it has left. */
Count link_clocks_leave(LinkClocks *clocks, uint32_t number, SimTime now);
/* All on a link, in no particular but repeatable order, until the next change there. */
const uint32_t *link_clocks_members(const LinkClocks *clocks, uint32_t link, uint32_t *n);

/* When the next is done; FALSE: none will be. */
gboolean link_clocks_first(LinkClocks *clocks, SimTime *end_ps);
/* Takes out all that are done now; their numbers, in no particular but repeatable order, until the next call. */
const uint32_t *link_clocks_take(LinkClocks *clocks, SimTime now, uint32_t *n);
