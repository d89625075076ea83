/* queue_fifo.c - first come, first served: who finds no room holds up those behind */
#include "cluster/queue.h"

static int
compare(const QueueEntry *a, const QueueEntry *b)
{
    return 0;
}

const QueuePolicy queue_fifo = {.name = "fifo",
                                .help = "in order of arrival; the first that finds no room holds up the rest",
                                .when_full = QUEUE_BLOCKS,
                                .compare = compare};

/* EASY (Lifka, "The ANL/IBM SP Scheduling System", JSSPP 1995): the first one that finds no room has a reservation, and
 * others may go before it where they do not delay that. */
const QueuePolicy queue_easy_backfill = {.name = "easy_backfill",
                                         .help = "in order of arrival; later ones may go before the first that finds "
                                                 "no room where they do not delay it",
                                         .needs_estimate = TRUE,
                                         .when_full = QUEUE_BACKFILLS,
                                         .compare = compare};
