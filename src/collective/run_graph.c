/* run_graph.c - grain steps of a schedule: a send goes when all it waits for has happened */
#include "collective/run.h"

typedef struct {
    uint32_t *needs;
    GArray *ready; /* of uint32_t: nodes to go, first come first */
} GraphState;

static const Schedule *
schedule_of(const Run *run)
{
    return run->plan->plan->schedule;
}

static void
start(Run *run)
{
    const Schedule *schedule = schedule_of(run);
    GraphState *state = run->state = g_new0(GraphState, 1);
    state->needs = g_memdup2(schedule->needs, MAX(schedule->n, 1) * sizeof *schedule->needs);
    state->ready = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    run->left = schedule->n;
}

static void
stop(Run *run)
{
    GraphState *state = run->state;
    g_free(state->needs);
    g_array_unref(state->ready);
    g_free(state);
}

static void
release(Run *run, const ScheduleEdges *edges, uint32_t from)
{
    GraphState *state = run->state;
    for (uint32_t e = edges->first[from]; e < edges->first[from + 1]; e++) {
        uint32_t node = edges->to[e];
        if (--state->needs[node] == 0)
            g_array_append_val(state->ready, node);
    }
}

static void
complete(Run *run, uint32_t node)
{
    const Schedule *schedule = schedule_of(run);
    run->left--;
    if (schedule->nodes[node].dst == INDEX_NONE)
        release(run, &schedule->sent, node);
    release(run, &schedule->delivered, node);
}

static void
go(Run *run)
{
    const Schedule *schedule = schedule_of(run);
    GArray *ready = ((GraphState *)run->state)->ready;
    for (guint i = 0; i < ready->len; i++) {
        uint32_t number = g_array_index(ready, uint32_t, i);
        const ScheduleNode *node = &schedule->nodes[number];
        if (node->dst != INDEX_NONE) {
            Transfer transfer = plan_transfer(&run->spec, run->plan->layout, schedule->channel_nics, node->channel,
                                              node->src, node->dst, node->bytes);
            run_send(run, &transfer, number, 0);
        } else if (node->reduce_B > 0 && run->config->reduce_cost_s_per_B > 0) {
            run_reduce(run, node->reduce_B, number, 0);
        } else {
            complete(run, number);
        }
    }
    g_array_set_size(ready, 0);
    run_check(run);
}

static void
arrive(Run *run, uint32_t member)
{
    release(run, &schedule_of(run)->arrived, member);
    go(run);
}

static void
sent(Run *run, uint32_t node, uint32_t step)
{
    release(run, &schedule_of(run)->sent, node);
    go(run);
}

static uint64_t
reduces(Run *run, uint32_t node, uint32_t step)
{
    return schedule_of(run)->nodes[node].reduce_B;
}

static void
delivered(Run *run, uint32_t node, uint32_t step)
{
    complete(run, node);
    go(run);
}

const RunWay run_graph = {start, arrive, sent, reduces, delivered, stop};
