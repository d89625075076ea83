/* queue_priority.c - the highest priority goes first, and lower ones give way */
#include "cluster/queue.h"

static int
compare(const QueueEntry *a, const QueueEntry *b)
{
    return a->priority > b->priority ? -1 : a->priority < b->priority;
}

const QueuePolicy queue_priority = {.name = "priority",
                                    .help = "the highest priority goes first; running jobs of lower ones give way",
                                    .when_full = QUEUE_PREEMPTS,
                                    .compare = compare};
