#include "collective/schedule.h"

#include <assert.h>

typedef enum { AFTER_SENT, AFTER_DELIVERED, AFTER_ARRIVED } After;

typedef struct {
    uint32_t before, node; /* before: a node, or a member */
    After after;
} Edge;

Schedule *
schedule_new(uint32_t n_members)
{
    Schedule *schedule = g_new0(Schedule, 1);
    schedule->n_members = n_members;
    schedule->rows = g_array_new(FALSE, FALSE, sizeof(ScheduleNode));
    schedule->edges = g_array_new(FALSE, FALSE, sizeof(Edge));
    return schedule;
}

void
schedule_free(Schedule *schedule)
{
    if (schedule == NULL)
        return;
    if (schedule->rows != NULL)
        g_array_unref(schedule->rows);
    if (schedule->edges != NULL)
        g_array_unref(schedule->edges);
    ScheduleEdges *lists[] = {&schedule->sent, &schedule->delivered, &schedule->arrived};
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        g_free(lists[i]->first);
        g_free(lists[i]->to);
    }
    g_free(schedule->nodes);
    g_free(schedule->needs);
    g_free(schedule->by_phase);
    g_free(schedule);
}

uint32_t
schedule_send(Schedule *schedule, ScheduleNode send)
{
    assert(send.src < schedule->n_members && (send.dst < schedule->n_members || send.dst == INDEX_NONE));
    assert(schedule->rows->len < INDEX_NONE);
    g_array_append_val(schedule->rows, send);
    return schedule->rows->len - 1;
}

uint64_t
schedule_bytes(const Schedule *schedule, uint32_t send)
{
    return g_array_index(schedule->rows, ScheduleNode, send).bytes;
}

uint32_t
schedule_join(Schedule *schedule, uint32_t member, uint32_t channel, uint32_t phase, uint64_t reduce_B)
{
    return schedule_send(
        schedule,
        (ScheduleNode){.src = member, .dst = INDEX_NONE, .channel = channel, .phase = phase, .reduce_B = reduce_B});
}

static void
add_edge(Schedule *schedule, uint32_t node, uint32_t before, After after)
{
    assert(node < schedule->rows->len);
    Edge edge = {before, node, after};
    if (before != INDEX_NONE)
        g_array_append_val(schedule->edges, edge);
}

void
schedule_after_sent(Schedule *schedule, uint32_t node, uint32_t before)
{
    assert(before == INDEX_NONE || before < schedule->rows->len);
    add_edge(schedule, node, before, AFTER_SENT);
}

void
schedule_after_delivered(Schedule *schedule, uint32_t node, uint32_t before)
{
    assert(before == INDEX_NONE || before < schedule->rows->len);
    add_edge(schedule, node, before, AFTER_DELIVERED);
}

/* The edges of one kind by what comes before, each list in the order the edges were made. */
static ScheduleEdges
compact(const GArray *edges, After after, uint32_t n)
{
    ScheduleEdges list = {.first = g_new0(uint32_t, n + 1)};
    for (guint i = 0; i < edges->len; i++) {
        const Edge *edge = &g_array_index(edges, Edge, i);
        if (edge->after == after)
            list.first[edge->before + 1]++;
    }
    for (uint32_t i = 0; i < n; i++)
        list.first[i + 1] += list.first[i];
    list.to = g_new(uint32_t, MAX(list.first[n], 1));
    g_autofree uint32_t *fill = g_memdup2(list.first, MAX(n, 1) * sizeof *fill);
    for (guint i = 0; i < edges->len; i++) {
        const Edge *edge = &g_array_index(edges, Edge, i);
        if (edge->after == after)
            list.to[fill[edge->before]++] = edge->node;
    }
    return list;
}

static int
by_phase(gconstpointer a, gconstpointer b, gpointer data)
{
    const ScheduleNode *nodes = data;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    if (nodes[i].channel != nodes[j].channel)
        return nodes[i].channel < nodes[j].channel ? -1 : 1;
    if (nodes[i].phase != nodes[j].phase)
        return nodes[i].phase < nodes[j].phase ? -1 : 1;
    return i < j ? -1 : i > j;
}

void
schedule_seal(Schedule *schedule)
{
    assert(schedule->rows != NULL);
    uint32_t n = schedule->n = schedule->rows->len;
    g_autofree gboolean *chained = g_new0(gboolean, MAX(n, 1));
    for (guint i = 0; i < schedule->edges->len; i++) {
        const Edge *edge = &g_array_index(schedule->edges, Edge, i);
        const ScheduleNode *node = &g_array_index(schedule->rows, ScheduleNode, edge->node);
        chained[edge->node] |= edge->after == AFTER_SENT || node->dst == INDEX_NONE;
    }
    for (uint32_t i = 0; i < n; i++) {
        const ScheduleNode *node = &g_array_index(schedule->rows, ScheduleNode, i);
        if (!chained[i])
            add_edge(schedule, i, node->src, AFTER_ARRIVED);
    }
    schedule->needs = g_new0(uint32_t, MAX(n, 1));
    for (guint i = 0; i < schedule->edges->len; i++)
        schedule->needs[g_array_index(schedule->edges, Edge, i).node]++;
    schedule->sent = compact(schedule->edges, AFTER_SENT, n);
    schedule->delivered = compact(schedule->edges, AFTER_DELIVERED, n);
    schedule->arrived = compact(schedule->edges, AFTER_ARRIVED, MAX(n, schedule->n_members));
    g_array_unref(g_steal_pointer(&schedule->edges));
    schedule->nodes = (ScheduleNode *)(void *)g_array_free(g_steal_pointer(&schedule->rows), FALSE);
    schedule->by_phase = g_new(uint32_t, MAX(n, 1));
    for (uint32_t i = 0; i < n; i++)
        schedule->by_phase[i] = i;
    if (n > 0)
        g_qsort_with_data(schedule->by_phase, (gint)n, sizeof(uint32_t), by_phase, schedule->nodes);
}

size_t
schedule_memory(const Schedule *schedule)
{
    size_t n = schedule->n, edges = schedule->sent.first[n] + schedule->delivered.first[n];
    return n * (sizeof(ScheduleNode) + 4 * sizeof(uint32_t)) + (edges + 2 * n + schedule->n_members) * sizeof(uint32_t);
}
