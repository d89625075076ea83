/* Who is held where, and what that leaves on the links. Sums of guests are exact integers: what a flow took, taking it
 * out gives back, in any order. */
#include "network/maxmin_state.h"

#include <math.h>

void
maxmin_note_moved(MaxMin *solver, uint32_t f)
{
    if (solver->flags[f] & FLOW_MOVED)
        return;
    uint32_t holder = solver->holder[f];
    double rate = 0;
    if (holder < solver->n_links)
        rate = weight_of(solver, f) * solver->sums[holder].told;
    else if (holder == HOLDER_CAP)
        rate = solver->flows[f].cap;
    solver->flags[f] |= FLOW_MOVED;
    solver->rate_before[f] = maxmin_round_down(rate);
    index_list_add(&solver->moved, f);
}

void
maxmin_note_touched(MaxMin *solver, uint32_t l)
{
    LinkSums *sums = &solver->sums[l];
    sums->flags &= (uint8_t)~LINK_KNOWN;
    if (sums->flags & LINK_TOUCHED)
        return;
    sums->flags |= LINK_TOUCHED;
    index_list_add(&solver->touching, l);
}

void
maxmin_touch(MaxMin *solver, uint32_t l)
{
    LinkSums *sums = &solver->sums[l];
    maxmin_note_touched(solver, l);
    if (sums->flags & LINK_PENDING || (sums->n_held == 0 && sums->rest >= 0))
        return;
    sums->flags |= LINK_PENDING;
    maxmin_heap_add(solver, sums->level, l);
}

void
maxmin_list_held(MaxMin *solver, uint32_t f, uint32_t l)
{
    LinkState *link = &solver->links[l];
    LinkSums *sums = &solver->sums[l];
    if (sums->n_held == 0)
        link->least_cap = INFINITY;
    if (sums->n_held == link->held_room) {
        link->held_room = MAX(4, 2 * link->held_room);
        link->held = g_renew(Held, link->held, link->held_room);
    }
    solver->holder[f] = l;
    solver->held_at[f] = sums->n_held;
    link->held[sums->n_held++] = (Held){f, solver->spans[f]};
    link->n_apart += is_apart(solver, f);
    link->least_cap = MIN(link->least_cap, solver->flows[f].cap / solver->flows[f].weight);
}

void
maxmin_unlist_held(MaxMin *solver, uint32_t f)
{
    uint32_t l = solver->holder[f];
    LinkState *link = &solver->links[l];
    LinkSums *sums = &solver->sums[l];
    uint32_t at = solver->held_at[f];
    Held last = link->held[--sums->n_held];
    link->held[at] = last;
    solver->held_at[last.flow] = at;
    link->n_apart -= is_apart(solver, f);
    if (sums->n_held == 0) {
        sums->level = INFINITY;
        sums->weight = 0;
    }
}

/* The level a flow would have at a link: that of those held there, or what is free. */
static double
level_at(const MaxMin *solver, uint32_t l, double coefficient, double weight)
{
    const LinkSums *sums = &solver->sums[l];
    if (sums->n_held > 0)
        return sums->level;
    return sums->rest <= 0 ? 0 : fixed_double(sums->rest) / (coefficient * weight);
}

/* Where a new flow would be lowest, as things are. */
static uint32_t
lowest_holder(const MaxMin *solver, uint32_t f, double *level)
{
    const Flow *flow = &solver->flows[f];
    Span span = solver->spans[f];
    uint32_t holder = HOLDER_CAP;
    *level = flow->cap / flow->weight;
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        double there = level_at(solver, solver->use_link[u], coefficient_of(solver, u), flow->weight);
        if (there < *level) {
            *level = there;
            holder = solver->use_link[u];
        }
    }
    if (isfinite(*level))
        return holder;
    return solver->use_link[span.first];
}

static void
touch_all(MaxMin *solver, Span span)
{
    for (uint32_t u = span.first; u < span.first + span.n; u++)
        maxmin_touch(solver, solver->use_link[u]);
}

void
maxmin_insert(MaxMin *solver, uint32_t f)
{
    Span span = solver->spans[f];
    double level, weight = weight_of(solver, f);
    uint32_t holder = lowest_holder(solver, f, &level);
    maxmin_note_moved(solver, f);
    if (holder == HOLDER_CAP) {
        solver->holder[f] = HOLDER_CAP;
    } else {
        if (solver->sums[holder].n_held == 0)
            solver->sums[holder].level = level;
        maxmin_list_held(solver, f, holder);
    }
    double rate = rate_of(solver, f);
    Fixed fixed_rate = fixed_of(rate);
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        LinkSums *sums = &solver->sums[solver->use_link[u]];
        double coefficient = coefficient_of(solver, u);
        if (solver->use_link[u] == holder) {
            sums->weight += coefficient * weight;
        } else {
            sums->rest -= part_of(coefficient, rate, fixed_rate);
            sums->guest = MAX(sums->guest, level);
        }
    }
    touch_all(solver, span);
}

void
maxmin_take_out(MaxMin *solver, uint32_t f)
{
    Span span = solver->spans[f];
    uint32_t holder = solver->holder[f];
    double rate = rate_of(solver, f), weight = weight_of(solver, f);
    Fixed fixed_rate = fixed_of(rate);
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        LinkSums *sums = &solver->sums[solver->use_link[u]];
        double coefficient = coefficient_of(solver, u);
        if (solver->use_link[u] == holder)
            sums->weight -= coefficient * weight;
        else
            sums->rest += part_of(coefficient, rate, fixed_rate);
    }
    if (holder < solver->n_links)
        maxmin_unlist_held(solver, f);
    touch_all(solver, span);
}

void
maxmin_move(MaxMin *solver, uint32_t f, uint32_t holder)
{
    Span span = solver->spans[f];
    uint32_t before = solver->holder[f];
    double weight = weight_of(solver, f), old = rate_of(solver, f);
    maxmin_note_moved(solver, f);
    double level = holder == HOLDER_CAP ? solver->flows[f].cap / solver->flows[f].weight : solver->sums[holder].level;
    double rate = holder == HOLDER_CAP ? solver->flows[f].cap : weight * level;
    Fixed fixed_old = fixed_of(old), fixed_rate = fixed_of(rate);
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        uint32_t l = solver->use_link[u];
        LinkSums *sums = &solver->sums[l];
        double coefficient = coefficient_of(solver, u);
        if (l == before)
            sums->weight -= coefficient * weight;
        else
            sums->rest += part_of(coefficient, old, fixed_old);
        if (l == holder) {
            sums->weight += coefficient * weight;
        } else {
            sums->rest -= part_of(coefficient, rate, fixed_rate);
            sums->guest = MAX(sums->guest, level);
        }
    }
    if (before < solver->n_links)
        maxmin_unlist_held(solver, f);
    if (holder == HOLDER_CAP)
        solver->holder[f] = HOLDER_CAP;
    else
        maxmin_list_held(solver, f, holder);
    touch_all(solver, span);
}
