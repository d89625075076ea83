/* queue_attained.c - least attained service: who has had little goes before who has had much
 *
 * Discretised as in Tiresias (Gu et al., NSDI 2019, 2D-LAS): two levels, parted by a number of GPU seconds (the queue's
 * quantum); within a level by arrival. Those of the lower level give way. */
#include "cluster/queue.h"

static int
level(const QueueEntry *entry)
{
    return entry->served_s >= entry->quantum_s ? 1 : 0;
}

static int
compare(const QueueEntry *a, const QueueEntry *b)
{
    return level(a) - level(b);
}

static double
falls_at(const QueueEntry *entry)
{
    return level(entry) == 0 ? entry->quantum_s : 0;
}

const QueuePolicy queue_least_attained = {.name = "least_attained_service",
                                          .help = "who has had fewer GPU hours than the quantum goes first, and those "
                                                  "that have had more give way",
                                          .when_full = QUEUE_PREEMPTS,
                                          .compare = compare,
                                          .falls_at = falls_at};
