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

Fixed
maxmin_headroom(const MaxMin *solver, uint32_t f)
{
    uint32_t holder = solver->holder[f];
    if (holder >= solver->n_links)
        return 0;
    double weight = weight_of(solver, f);
    return fixed_of(weight * solver->sums[holder].ceiling) - fixed_of(weight * solver->sums[holder].level);
}

/* There are too many to name. */
static void
forget_others(Held *held, uint32_t holder)
{
    held->n_others = MOST_OTHERS + 1;
    for (uint32_t i = 0; i < SURE_OTHERS; i++)
        held->others[i] = holder;
}

void
maxmin_wake(MaxMin *solver, uint32_t l)
{
    LinkState *link = &solver->links[l];
    LinkSums *sums = &solver->sums[l];
    maxmin_sweep(solver, link);
    sums->flags &= (uint8_t)~LINK_IDLE;
    link->woken = solver->n_solves;
    sums->guest = 0;
    for (uint32_t i = 0; i < link->n; i++) {
        uint32_t f = link->places[i].flow, holder = solver->holder[f];
        if (!is_counted(solver, f))
            continue;
        sums->rest += maxmin_headroom(solver, f);
        sums->guest = MAX(sums->guest, level_of(solver, f));
        if (holder >= solver->n_links)
            continue;
        Held *held = &solver->links[holder].held[solver->held_at[f]];
        if (held->n_others < MOST_OTHERS)
            held->others[held->n_others] = l;
        if (++held->n_others > MOST_OTHERS)
            forget_others(held, holder);
    }
    if (solver->ladder != NULL)
        maxmin_ladder_join(solver, l);
    maxmin_touch(solver, l);
}

void
maxmin_wake_all(MaxMin *solver)
{
    maxmin_ladder_end(solver);
    for (uint32_t l = 0; l < solver->n_links; l++)
        if (solver->sums[l].flags & LINK_IDLE)
            maxmin_wake(solver, l);
}

gboolean
maxmin_may_rest(const MaxMin *solver, uint32_t l)
{
    enum { FEW = 8 }; /* of fewer it is no gain, but on a ladder */
    const LinkState *link = &solver->links[l];
    const LinkSums *sums = &solver->sums[l];
    if (!has_idle(solver) || sums->n_held > 0 || (solver->ladder == NULL && link->n - link->n_gone < FEW))
        return FALSE;
    return link->capacity - fixed_double(sums->rest) < link->capacity * (1 - 0x1p-6 - 0x1p-8);
}

static void
forget_other(Held *held, uint32_t holder, uint32_t l)
{
    if (held->n_others > MOST_OTHERS)
        return;
    for (uint32_t i = 0; i < held->n_others; i++)
        if (held->others[i] == l) {
            held->others[i] = held->others[--held->n_others];
            if (held->n_others < SURE_OTHERS)
                held->others[held->n_others] = holder;
            return;
        }
}

void
maxmin_rest(MaxMin *solver, uint32_t l)
{
    LinkState *link = &solver->links[l];
    LinkSums *sums = &solver->sums[l];
    maxmin_sweep(solver, link);
    Fixed rest = sums->rest;
    link->woken = solver->n_solves; /* and looked at */
    for (uint32_t i = 0; i < link->n; i++)
        rest -= maxmin_headroom(solver, link->places[i].flow);
    if (rest < 0)
        return;
    sums->rest = rest;
    if (solver->ladder != NULL)
        maxmin_ladder_leave(solver, l);
    sums->flags = (uint8_t)((sums->flags & ~LINK_KNOWN) | LINK_IDLE);
    for (uint32_t i = 0; i < link->n; i++) {
        uint32_t f = link->places[i].flow, holder = solver->holder[f];
        if (holder < solver->n_links)
            forget_other(&solver->links[holder].held[solver->held_at[f]], holder, l);
    }
}

void
maxmin_mind_ceiling(MaxMin *solver, uint32_t l, double level)
{
    LinkSums *sums = &solver->sums[l];
    if (level <= sums->ceiling && level > sums->ceiling * (1 - 0x1p-3))
        return;
    double ceiling = ceiling_over(level), before = sums->ceiling;
    const LinkState *link = &solver->links[l];
    for (uint32_t i = 0; i < sums->n_held; i++) {
        double weight = weight_of(solver, link->held[i].flow);
        Fixed more = fixed_of(weight * ceiling) - fixed_of(weight * before);
        Span span = solver->spans[link->held[i].flow];
        for (uint32_t u = span.first; u < span.first + span.n; u++)
            if (solver->sums[solver->use_link[u]].flags & LINK_IDLE)
                solver->sums[solver->use_link[u]].rest -= more;
    }
    sums->ceiling = ceiling;
    for (uint32_t i = 0; i < sums->n_held && ceiling > before; i++) {
        Span span = solver->spans[link->held[i].flow];
        for (uint32_t u = span.first; u < span.first + span.n; u++) {
            const LinkSums *other = &solver->sums[solver->use_link[u]];
            if (other->flags & LINK_IDLE && other->rest < 0)
                maxmin_wake(solver, solver->use_link[u]);
        }
    }
}

void
maxmin_touch(MaxMin *solver, uint32_t l)
{
    LinkSums *sums = &solver->sums[l];
    if (sums->flags & LINK_IDLE) {
        if (sums->rest < 0)
            maxmin_wake(solver, l);
        return;
    }
    if (solver->ladder != NULL) {
        maxmin_note_touched(solver, l);
        maxmin_ladder_touch(solver, l);
        return;
    }
    if (sums->flags & LINK_PENDING)
        return;
    maxmin_note_touched(solver, l);
    sums->flags |= LINK_PENDING;
    if (sums->n_held > 0)
        maxmin_heap_add(solver, sums->level, l);
    else
        index_list_add(&solver->spare, l);
}

static Held
held_of(const MaxMin *solver, uint32_t f, uint32_t holder)
{
    Span span = solver->spans[f];
    Held held = {.flow = f, .others = {holder, holder}};
    for (uint32_t u = span.first; u < span.first + span.n && held.n_others <= MOST_OTHERS; u++) {
        uint32_t l = solver->use_link[u];
        if (l == holder || solver->sums[l].flags & LINK_IDLE)
            continue;
        if (held.n_others < MOST_OTHERS)
            held.others[held.n_others] = l;
        held.n_others++;
    }
    if (held.n_others > MOST_OTHERS)
        forget_others(&held, holder);
    return held;
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
    link->held[sums->n_held++] = held_of(solver, f, l);
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

/* What a flow takes of its links: of idle ones another. */
typedef struct {
    double rate;
    Fixed fixed, ceiling;
} Taking;

static Taking
taking_of(const MaxMin *solver, uint32_t f, uint32_t holder)
{
    double rate = 0, ceiling = 0;
    if (holder == HOLDER_CAP) {
        rate = ceiling = solver->flows[f].cap;
    } else if (holder < solver->n_links) {
        rate = weight_of(solver, f) * solver->sums[holder].level;
        ceiling = weight_of(solver, f) * solver->sums[holder].ceiling;
    }
    return (Taking){rate, fixed_of(rate), fixed_of(ceiling)};
}

static Fixed
part_taken(const Taking *it, const LinkSums *sums, double coefficient)
{
    return sums->flags & LINK_IDLE ? it->ceiling : part_of(coefficient, it->rate, it->fixed);
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
        if (solver->sums[holder].flags & LINK_IDLE)
            maxmin_wake(solver, holder);
        if (solver->sums[holder].n_held == 0) {
            solver->sums[holder].level = level;
            solver->sums[holder].ceiling = ceiling_over(level);
            if (solver->ladder != NULL)
                maxmin_ladder_level(solver, holder);
        }
        maxmin_list_held(solver, f, holder);
    }
    if (solver->ladder != NULL)
        maxmin_ladder_enter(solver, f);
    Taking taking = taking_of(solver, f, holder);
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        LinkSums *sums = &solver->sums[solver->use_link[u]];
        double coefficient = coefficient_of(solver, u);
        if (solver->use_link[u] == holder) {
            sums->weight += coefficient * weight;
        } else {
            sums->rest -= part_taken(&taking, sums, coefficient);
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
    double weight = weight_of(solver, f);
    Taking taking = taking_of(solver, f, holder);
    if (solver->ladder != NULL)
        maxmin_ladder_exit(solver, f);
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        LinkSums *sums = &solver->sums[solver->use_link[u]];
        double coefficient = coefficient_of(solver, u);
        if (solver->use_link[u] == holder)
            sums->weight -= coefficient * weight;
        else
            sums->rest += part_taken(&taking, sums, coefficient);
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
    double weight = weight_of(solver, f);
    maxmin_note_moved(solver, f);
    double level = holder == HOLDER_CAP ? solver->flows[f].cap / solver->flows[f].weight : solver->sums[holder].level;
    Taking old = taking_of(solver, f, before), new = taking_of(solver, f, holder);
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        uint32_t l = solver->use_link[u];
        LinkSums *sums = &solver->sums[l];
        double coefficient = coefficient_of(solver, u);
        if (l == before)
            sums->weight -= coefficient * weight;
        else
            sums->rest += part_taken(&old, sums, coefficient);
        if (l == holder) {
            sums->weight += coefficient * weight;
        } else {
            sums->rest -= part_taken(&new, sums, coefficient);
            sums->guest = MAX(sums->guest, level);
        }
    }
    if (before < solver->n_links)
        maxmin_unlist_held(solver, f);
    if (holder == HOLDER_CAP)
        solver->holder[f] = HOLDER_CAP;
    else
        maxmin_list_held(solver, f, holder);
    if (solver->ladder != NULL)
        maxmin_ladder_move(solver, f, before);
    touch_all(solver, span);
}
