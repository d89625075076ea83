/* queue_shortest.c - the shortest of those that wait goes first, by what is left of its own estimate */
#include "cluster/queue.h"

static int
compare(const QueueEntry *a, const QueueEntry *b)
{
    return a->left_ps < b->left_ps ? -1 : a->left_ps > b->left_ps;
}

const QueuePolicy queue_shortest_first = {.name = "shortest_first",
                                          .help = "the one with the least time left goes first, by its estimate",
                                          .needs_estimate = TRUE,
                                          .when_full = QUEUE_BLOCKS,
                                          .compare = compare};
