#include "network/level_fill.h"

#include "base/index.h"
#include "network/fixed.h"

#include <math.h>

enum { ARITY = 4, MOST_CAPS = 16 };

#define LEVEL_SLACK 1e-11
#define FULL_SLACK 1e-10

typedef struct {
    Fixed rest;    /* of its capacity */
    double weight; /* the sum of shares of open flows on it */
    uint32_t n_open;
} Sum;

typedef struct {
    double key;
    uint32_t id; /* a link, or n_links + a cap */
} Entry;

typedef struct {
    const FlowGraph *graph;
    Sum *sums;
    uint32_t *first_on, *on; /* by link: the flows on it */
    double *rates;           /* by flow; -1 = open */
    double caps[MOST_CAPS];
    uint32_t n_caps, n_open;
    Entry *heap;
    uint32_t n_heap;
} Filling;

static double
share_of(const FlowGraph *graph, uint32_t hop)
{
    return graph->shares != NULL ? graph->shares[hop] : 1;
}

static gboolean
find_caps(Filling *it)
{
    for (uint32_t f = 0; f < it->graph->n_flows; f++) {
        double cap = it->graph->colors[f].cap_Bps;
        uint32_t c = 0;
        while (c < it->n_caps && it->caps[c] != cap)
            c++;
        if (c < it->n_caps || isinf(cap))
            continue;
        if (c == MOST_CAPS)
            return FALSE;
        it->caps[it->n_caps++] = cap;
    }
    return TRUE;
}

static void
list_hops(Filling *it)
{
    const FlowGraph *graph = it->graph;
    for (uint32_t l = 0; l < graph->n_links; l++)
        it->sums[l] = (Sum){.rest = fixed_of(graph->capacity[l])};
    for (uint32_t f = 0; f < graph->n_flows; f++) {
        it->rates[f] = -1;
        for (uint32_t h = graph->first[f]; h < graph->first[f + 1]; h++) {
            it->sums[graph->links[h]].n_open++;
            it->sums[graph->links[h]].weight += share_of(graph, h);
        }
    }
    it->first_on[0] = 0;
    for (uint32_t l = 0; l < graph->n_links; l++)
        it->first_on[l + 1] = it->first_on[l] + it->sums[l].n_open;
    g_autofree uint32_t *next = g_memdup2(it->first_on, (graph->n_links + 1) * sizeof *next);
    for (uint32_t f = 0; f < graph->n_flows; f++)
        for (uint32_t h = graph->first[f]; h < graph->first[f + 1]; h++)
            it->on[next[graph->links[h]]++] = f;
}

static gboolean
entry_before(Entry a, Entry b)
{
    return (a.key < b.key) | ((a.key == b.key) & (a.id < b.id));
}

static void
heap_down(Filling *it, uint32_t i, Entry entry)
{
    for (;;) {
        uint32_t first = ARITY * i + 1, least = first, end = MIN(first + ARITY, it->n_heap);
        if (first >= end)
            break;
        for (uint32_t child = first + 1; child < end; child++)
            least = entry_before(it->heap[child], it->heap[least]) ? child : least;
        if (!entry_before(it->heap[least], entry))
            break;
        it->heap[i] = it->heap[least];
        i = least;
    }
    it->heap[i] = entry;
}

static void
heap_pop(Filling *it)
{
    Entry last = it->heap[--it->n_heap];
    if (it->n_heap > 0)
        heap_down(it, 0, last);
}

static double
key_of(const Sum *sum)
{
    return sum->rest <= 0 ? 0 : fixed_double(sum->rest) / sum->weight;
}

static void
begin_heap(Filling *it)
{
    for (uint32_t l = 0; l < it->graph->n_links; l++)
        if (it->sums[l].n_open > 0)
            it->heap[it->n_heap++] = (Entry){key_of(&it->sums[l]), l};
    for (uint32_t c = 0; c < it->n_caps; c++)
        it->heap[it->n_heap++] = (Entry){it->caps[c], it->graph->n_links + c};
    for (uint32_t i = (it->n_heap + ARITY - 2) / ARITY; i-- > 0;)
        heap_down(it, i, it->heap[i]);
}

static void
close_flow(Filling *it, uint32_t f, double rate)
{
    const FlowGraph *graph = it->graph;
    Fixed fixed_rate = fixed_of(rate);
    it->rates[f] = rate;
    it->n_open--;
    for (uint32_t h = graph->first[f]; h < graph->first[f + 1]; h++) {
        Sum *sum = &it->sums[graph->links[h]];
        double share = share_of(graph, h);
        sum->rest -= part_of(share, rate, fixed_rate);
        sum->weight -= share;
        sum->n_open--;
    }
}

/* Summed anew: what subtraction left has rounding in it, but of whole numbers. */
static void
sum_weight(Filling *it, uint32_t l)
{
    const FlowGraph *graph = it->graph;
    if (graph->shares == NULL)
        return;
    it->sums[l].weight = 0;
    for (uint32_t i = it->first_on[l]; i < it->first_on[l + 1]; i++) {
        uint32_t f = it->on[i];
        for (uint32_t h = graph->first[f]; it->rates[f] < 0 && h < graph->first[f + 1]; h++)
            if (graph->links[h] == l)
                it->sums[l].weight += graph->shares[h];
    }
}

static void
fill_link(Filling *it, uint32_t l, double level)
{
    enum { FAR = 16 };
    for (uint32_t i = it->first_on[l]; it->sums[l].n_open > 0; i++) {
        if (i + FAR < it->first_on[l + 1])
            __builtin_prefetch(&it->graph->first[it->on[i + FAR]]);
        if (i + FAR / 2 < it->first_on[l + 1])
            __builtin_prefetch(&it->graph->links[it->graph->first[it->on[i + FAR / 2]]]);
        uint32_t f = it->on[i];
        if (it->rates[f] < 0)
            close_flow(it, f, level);
    }
}

static void
fill_cap(Filling *it, double cap)
{
    for (uint32_t f = 0; f < it->graph->n_flows; f++)
        if (it->rates[f] < 0 && it->graph->colors[f].cap_Bps == cap)
            close_flow(it, f, cap);
}

/* The first of the heap: fills it, unless it comes later than thought. */
static void
next(Filling *it, double *level)
{
    Entry top = it->heap[0];
    if (top.id >= it->graph->n_links) {
        heap_pop(it);
        *level = MAX(*level, top.key);
        fill_cap(it, top.key);
        return;
    }
    Sum *sum = &it->sums[top.id];
    if (sum->n_open == 0) {
        heap_pop(it);
        return;
    }
    double key = key_of(sum);
    if (key <= top.key * (1 + LEVEL_SLACK)) {
        sum_weight(it, top.id);
        key = key_of(sum);
    }
    if (key > top.key * (1 + 4 * LEVEL_SLACK)) {
        heap_down(it, 0, (Entry){key, top.id});
        return;
    }
    heap_pop(it);
    *level = MAX(*level, key);
    fill_link(it, top.id, *level);
}

gboolean
level_fill(const FlowGraph *graph, double *rates, uint8_t *full)
{
    uint32_t n_hops = MAX(1, graph->first[graph->n_flows]), n_links = MAX(1, graph->n_links);
    Filling it = {.graph = graph, .rates = rates, .n_open = graph->n_flows};
    if (!find_caps(&it))
        return FALSE;
    g_autofree Sum *sums = it.sums = g_new0(Sum, n_links);
    g_autofree uint32_t *first_on = it.first_on = g_new(uint32_t, n_links + 1);
    g_autofree uint32_t *on = g_new(uint32_t, n_hops);
    g_autofree Entry *heap = g_new(Entry, n_links + MOST_CAPS);
    it.on = on;
    it.heap = heap;
    list_hops(&it);
    begin_heap(&it);
    double level = 0;
    while (it.n_open > 0) {
        assert(it.n_heap > 0);
        next(&it, &level);
    }
    for (uint32_t l = 0; l < graph->n_links; l++)
        full[l] =
            first_on[l + 1] > first_on[l] && fixed_double(MAX(sums[l].rest, 0)) <= FULL_SLACK * graph->capacity[l];
    return TRUE;
}
