#include "collective/graph_time.h"

#include <assert.h>

typedef struct {
    const Schedule *schedule;
    uint32_t *needs;
    SimTime *go;     /* the latest of what a node waits for, so far */
    uint32_t *queue; /* nodes that may go, in the order found */
    uint32_t found;
} Walk;

static SimTime
plus(SimTime a, SimTime b)
{
    SimTime sum;
    return sim_time_add(a, b, &sum) ? sum : SIM_TIME_MAX;
}

static void
release(Walk *walk, const ScheduleEdges *edges, uint32_t from, SimTime at)
{
    for (uint32_t e = edges->first[from]; e < edges->first[from + 1]; e++) {
        uint32_t node = edges->to[e];
        walk->go[node] = MAX(walk->go[node], at);
        if (--walk->needs[node] == 0)
            walk->queue[walk->found++] = node;
    }
}

void
graph_time(const Schedule *schedule, const GraphCost *cost, const SimTime *ready_ps, double reduce_cost_s_per_B,
           SimTime *done_ps)
{
    uint32_t n = schedule->n;
    g_autofree uint32_t *needs = g_memdup2(schedule->needs, MAX(n, 1) * sizeof *needs),
                        *queue = g_new(uint32_t, MAX(n, 1));
    g_autofree SimTime *go = g_new(SimTime, MAX(n, 1));
    for (uint32_t i = 0; i < n; i++)
        go[i] = INT64_MIN;
    Walk walk = {schedule, needs, go, queue, 0};
    for (uint32_t member = 0; member < schedule->n_members; member++)
        release(&walk, &schedule->arrived, member, ready_ps[member]);
    for (uint32_t i = 0; i < walk.found; i++) {
        uint32_t node = queue[i];
        SimTime reduction = 0, sent = plus(go[node], cost[node].sends_ps);
        if (!sim_time_from_seconds(reduce_cost_s_per_B * (double)schedule->nodes[node].reduce_B, &reduction))
            reduction = SIM_TIME_MAX;
        done_ps[node] = plus(plus(sent, cost[node].latency_ps), reduction);
        release(&walk, &schedule->sent, node, schedule->nodes[node].dst == INDEX_NONE ? done_ps[node] : sent);
        release(&walk, &schedule->delivered, node, done_ps[node]);
    }
    assert(walk.found == n); /* a plan has no cycle */
}
