/* Progressive filling from nothing: all rates rise from 0 until a link is full or a cap is reached, which holds the
 * flows concerned there, and so on until all are held (Bertsekas and Gallager, Data Networks, 6.5.2). The links wait in
 * a heap by the level at which they fill if nobody else is held before, which only rises: it is looked at anew when a
 * link comes up. */
#include "network/maxmin_state.h"

#include <assert.h>
#include <math.h>

/* While it goes on, weight and n_held of a link count those that are open there: what is open when it fills is what it
 * holds. */
static void
open_all(MaxMin *solver)
{
    for (uint32_t l = 0; l < solver->n_links; l++) {
        LinkState *link = &solver->links[l];
        maxmin_sweep(solver, link);
        LinkSums *sums = &solver->sums[l];
        *sums = (LinkSums){.rest = fixed_of(link->capacity),
                           .level = INFINITY,
                           .told = sums->told,
                           .n_held = link->n,
                           .flags = sums->flags & (uint8_t) ~(LINK_PENDING | LINK_IDLE)};
        link->n_apart = 0;
        for (uint32_t i = 0; i < link->n; i++) {
            uint32_t f = link->places[i].flow;
            if (i + FAR < link->n)
                __builtin_prefetch(&solver->flags[link->places[i + FAR].flow], 1);
            solver->flags[f] |= FLOW_OPEN;
            sums->weight += coefficient_of(solver, link->places[i].use) * weight_of(solver, f);
        }
    }
}

static double
key_of(const LinkSums *sums)
{
    return sums->rest <= 0 ? 0 : fixed_double(sums->rest) / sums->weight;
}

/* All that may fill, or cap. */
static void
begin_heap(MaxMin *solver)
{
    solver->n_heap = 0;
    for (uint32_t l = 0; l < solver->n_links; l++)
        if (solver->sums[l].n_held > 0)
            maxmin_heap_add(solver, key_of(&solver->sums[l]), l);
    for (uint32_t f = 0; f < solver->n_flows; f++)
        if (solver->flags[f] & FLOW_OPEN && isfinite(solver->flows[f].cap))
            maxmin_heap_add(solver, solver->flows[f].cap / solver->flows[f].weight, solver->n_links + f);
}

/* What the weight still open is, summed anew: what subtraction left has rounding in it, but of whole numbers. */
static void
sum_weight(MaxMin *solver, uint32_t l)
{
    if (solver->whole_weights)
        return;
    const LinkState *link = &solver->links[l];
    double weight = 0;
    for (uint32_t i = 0; i < link->n; i++)
        if (solver->flags[link->places[i].flow] & FLOW_OPEN)
            weight += coefficient_of(solver, link->places[i].use) * weight_of(solver, link->places[i].flow);
    solver->sums[l].weight = weight;
}

/* Takes the flow off all links but its holder. */
static void
close_flow(MaxMin *solver, uint32_t f, uint32_t holder, double level, double rate)
{
    solver->n_open--;
    Span span = solver->spans[f];
    double weight = weight_of(solver, f);
    Fixed fixed_rate = fixed_of(rate);
    if (solver->holder[f] != holder)
        maxmin_note_moved(solver, f);
    solver->flags[f] &= (uint8_t)~FLOW_OPEN;
    solver->holder[f] = holder;
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        LinkSums *sums = &solver->sums[solver->use_link[u]];
        if (solver->use_link[u] == holder)
            continue;
        double coefficient = coefficient_of(solver, u);
        sums->rest -= part_of(coefficient, rate, fixed_rate);
        sums->weight = --sums->n_held == 0 ? 0 : sums->weight - coefficient * weight;
        sums->guest = level; /* levels rise */
    }
}

static void
fill_link(MaxMin *solver, uint32_t l, double level)
{
    const LinkState *link = &solver->links[l];
    LinkSums *sums = &solver->sums[l];
    sums->level = level;
    sums->ceiling = ceiling_over(level);
    for (uint32_t i = 0, n = sums->n_held; n > 0; i++) {
        uint32_t f = link->places[i].flow;
        if (i + FAR < link->n) {
            __builtin_prefetch(&solver->spans[link->places[i + FAR].flow]);
            fetch_uses(solver, link->places[i + FAR / 2].flow);
        }
        if (!(solver->flags[f] & FLOW_OPEN))
            continue;
        close_flow(solver, f, l, level, weight_of(solver, f) * level);
        n--;
    }
}

/* Who is held where is known: makes the lists, of which idle links are left out, and lets these count ceilings. */
static void
list_all(MaxMin *solver)
{
    for (uint32_t l = 0; l < solver->n_links; l++)
        if (maxmin_may_rest(solver, l))
            solver->sums[l].flags |= LINK_IDLE;
    for (uint32_t l = 0; l < solver->n_links; l++) {
        const LinkState *link = &solver->links[l];
        LinkSums *sums = &solver->sums[l];
        uint32_t n = sums->n_held;
        sums->n_held = 0;
        for (uint32_t i = 0; sums->n_held < n; i++) {
            uint32_t f = link->places[i].flow;
            if (i + FAR < link->n)
                fetch_uses(solver, link->places[i + FAR].flow);
            if (solver->holder[f] != l)
                continue;
            maxmin_list_held(solver, f, l);
            Fixed headroom = maxmin_headroom(solver, f);
            Span span = solver->spans[f];
            for (uint32_t u = span.first; u < span.first + span.n; u++)
                if (solver->sums[solver->use_link[u]].flags & LINK_IDLE)
                    solver->sums[solver->use_link[u]].rest -= headroom;
        }
    }
}

/* The first of the heap, a link: fills it, unless that comes later than thought. */
static void
look_at_link(MaxMin *solver, HeapEntry top, double *level)
{
    const LinkSums *sums = &solver->sums[top.id];
    if (sums->n_held == 0 || isfinite(sums->level)) {
        maxmin_heap_pop(solver);
        return;
    }
    double key = key_of(sums);
    if (key <= top.key * (1 + LEVEL_SLACK)) {
        sum_weight(solver, top.id);
        key = key_of(sums);
    }
    if (key > top.key * (1 + 4 * LEVEL_SLACK)) {
        maxmin_heap_delay(solver, key);
        return;
    }
    maxmin_heap_pop(solver);
    *level = MAX(*level, key);
    fill_link(solver, top.id, *level);
}

void
maxmin_fill(MaxMin *solver)
{
    maxmin_ladder_end(solver);
    open_all(solver);
    begin_heap(solver);
    double level = 0;
    solver->n_open = solver->n_live;
    while (solver->n_open > 0) {
        assert(solver->n_heap > 0);
        HeapEntry top = solver->heap[0];
        if (top.id < solver->n_links) {
            look_at_link(solver, top, &level);
            continue;
        }
        uint32_t f = top.id - solver->n_links;
        maxmin_heap_pop(solver);
        if (!(solver->flags[f] & FLOW_OPEN))
            continue;
        level = MAX(level, top.key);
        close_flow(solver, f, HOLDER_CAP, level, solver->flows[f].cap);
    }
    solver->n_heap = solver->spare.n = 0;
    list_all(solver);
    for (uint32_t l = 0; l < solver->n_links; l++)
        if (solver->links[l].n > 0)
            maxmin_note_touched(solver, l);
}
