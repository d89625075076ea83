#include "cluster/queue.h"

#include <string.h>

static const QueuePolicy *const policies[] = {&queue_fifo, &queue_shortest_first, &queue_easy_backfill,
                                              &queue_least_attained, &queue_priority};

const char *const *
queue_policies(void)
{
    static const char *names[G_N_ELEMENTS(policies) + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(policies); i++)
        names[i] = policies[i]->name;
    return names;
}

const QueuePolicy *
queue_policy_find(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(policies); i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    return NULL;
}

int
queue_compare(const QueuePolicy *policy, const QueueEntry *a, const QueueEntry *b)
{
    int order = policy->compare(a, b);
    if (order != 0)
        return order;
    if (a->arrival_ps != b->arrival_ps)
        return a->arrival_ps < b->arrival_ps ? -1 : 1;
    return a->job < b->job ? -1 : a->job > b->job;
}
