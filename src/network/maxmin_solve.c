/* The solve. A few flows are active: the new ones, and those that a changed link held. They are filled anew, from level
 * 0, with every other flow constant. Then each link they use is checked: does the result still hold the others there?
 * Not where
 * - the link filled below the level of another flow on it;
 * - it was full, held others, and is no longer full;
 * - it was full, held others, and an active flow on it is now above them.
 * Those others become active too, and the filling is done again, until nothing is left to object to. What results is
 * feasible and holds every flow at a cap or at a full link where none is higher: that is the max-min solution, which is
 * unique. (SPEED.md starts over from the level of the change and takes in all connected flows above it; of those only
 * one in twenty really changes among random flows, which is what this saves.) */
#include "network/maxmin_state.h"

#include "base/big_array.h"

#include <math.h>

enum {
    MOST_NEWTON_STEPS = 8,
    /* Fillings, and active flows, after which all that hangs on the full links of active flows becomes active at once:
     * filling a few flows several times is cheap, many is not. */
    ROUNDS_OF_DOUBT = 6,
    FEW_ACTIVE = 48,
    ARITY = 4 /* of the heap */
};

/* Rates closer than this are the same: what was told before stays. */
#define SAME 1e-13

/* coefficient x rate, given the rate also as an integer: most coefficients are 1. */
static inline Fixed
part_of(double coefficient, double rate, Fixed fixed_rate)
{
    return coefficient == 1 ? fixed_rate : fixed_of(coefficient * rate);
}

static void
touch(MaxMin *solver, uint32_t l)
{
    solver->link_flags[l] |= LINK_TOUCHED;
    solver->touched_places += solver->links[l].n;
    index_list_add(&solver->touched, l);
}

static gboolean
activate(MaxMin *solver, uint32_t f)
{
    if (solver->flags[f] & FLOW_ACTIVE)
        return FALSE;
    Span span = solver->spans[f];
    solver->flags[f] |= FLOW_ACTIVE;
    solver->active_uses += span.n;
    index_list_add(&solver->active, f);
    for (uint32_t u = span.first; u < span.first + span.n; u++)
        if (!(solver->link_flags[solver->use_link[u]] & LINK_TOUCHED))
            touch(solver, solver->use_link[u]);
    return TRUE;
}

/* Activates the flows on a link from a level on; any? */
static gboolean
activate_from(MaxMin *solver, LinkState *link, double level)
{
    gboolean any = FALSE;
    level *= 1 - LEVEL_SLACK;
    if (link->n_gone > link->n / 2)
        maxmin_sweep(solver, link);
    for (uint32_t i = 0; i < link->n; i++) {
        if (i + FAR < link->n)
            __builtin_prefetch(&solver->level[link->places[i + FAR].flow]);
        if (solver->level[link->places[i].flow] >= level)
            any |= activate(solver, link->places[i].flow);
    }
    return any;
}

/* The highest level a flow could have with its links to itself. */
static double
level_alone(const MaxMin *solver, uint32_t f)
{
    const Flow *flow = &solver->flows[f];
    Span span = solver->spans[f];
    double level = flow->cap / flow->weight;
    for (uint32_t u = span.first; u < span.first + span.n; u++)
        level = MIN(level, solver->links[solver->use_link[u]].capacity / (coefficient_of(solver, u) * flow->weight));
    return level;
}

/* Could the flows that came, or the capacity that went, fill this link? (frozen_level holds level_alone of those that
 * came, so that a flow over thousands of links is looked through once, not once a link.) */
static gboolean
may_fill(const MaxMin *solver, const LinkState *link)
{
    double load = fixed_double(link->load);
    for (uint32_t i = 0; i < link->n; i++) {
        uint32_t f = link->places[i].flow;
        if (solver->flags[f] & FLOW_NEW)
            load += coefficient_of(solver, link->places[i].use) * weight_of(solver, f) * solver->frozen_level[f];
    }
    return load > link->capacity * (1 - 2 * FULL_SLACK);
}

/* A level at or below that at which the link fills if its other flows take no more than they have and those that it
 * would hold what they can: Newton's method from below on a concave function, so that every step is such a level.
 * `filled`: where it filled with the others constant; active flows that were frozen below that keep their rates. */
static double
fill_level(const MaxMin *solver, const LinkState *link, double filled)
{
    double level = 0;
    for (int step = 0; step < MOST_NEWTON_STEPS; step++) {
        double held = 0, weight = 0;
        for (uint32_t i = 0; i < link->n; i++) {
            uint32_t f = link->places[i].flow;
            if (solver->level[f] == LEVEL_GONE)
                continue;
            double coefficient = coefficient_of(solver, link->places[i].use);
            if (solver->flags[f] & FLOW_FROZEN && solver->frozen_level[f] < filled * (1 - LEVEL_SLACK))
                held += coefficient * solver->frozen_rate[f];
            else if (solver->flags[f] & (FLOW_NEW | FLOW_FROZEN) || solver->level[f] > level)
                weight += coefficient * weight_of(solver, f);
            else
                held += coefficient * solver->rate[f];
        }
        double next = weight > 0 ? (link->capacity - held) / weight : INFINITY;
        if (!(next > level * (1 + LEVEL_SLACK)))
            break;
        level = next;
        if (isinf(level))
            break;
    }
    return level;
}

/* Activates the flows that the changed links held, or will hold. */
static void
activate_changed(MaxMin *solver)
{
    if (solver->n_live > solver->new_flows.n) /* else nobody is there to be held */
        for (uint32_t i = 0; i < solver->new_flows.n; i++)
            solver->frozen_level[solver->new_flows.items[i]] = level_alone(solver, solver->new_flows.items[i]);
    for (uint32_t i = 0; i < solver->dirty.n; i++) {
        uint32_t l = solver->dirty.items[i];
        LinkState *link = &solver->links[l];
        uint8_t *flags = &solver->link_flags[l];
        if (!(*flags & LINK_TOUCHED))
            touch(solver, l);
        *flags |= LINK_CHANGED;
        link->filled = INFINITY;
        if (*flags & LINK_LESS && isfinite(link->level))
            activate_from(solver, link, link->level);
        if (*flags & LINK_MORE && link->load > 0 && may_fill(solver, link))
            activate_from(solver, link, fill_level(solver, link, 0));
        *flags &= (uint8_t) ~(LINK_DIRTY | LINK_LESS | LINK_MORE);
    }
    solver->dirty.n = 0;
    for (uint32_t i = 0; i < solver->new_flows.n; i++)
        activate(solver, solver->new_flows.items[i]);
}

static gboolean
entry_before(HeapEntry a, HeapEntry b)
{
    return (a.key < b.key) | ((a.key == b.key) & (a.id < b.id)); /* no jump: nobody could foresee it */
}

static void
heap_down(MaxMin *solver, uint32_t i, HeapEntry entry)
{
    HeapEntry *heap = solver->heap;
    for (;;) {
        uint32_t first = ARITY * i + 1, least = first, end = MIN(first + ARITY, solver->n_heap);
        if (first >= end)
            break;
        for (uint32_t child = first + 1; child < end; child++)
            least = entry_before(heap[child], heap[least]) ? child : least;
        if (!entry_before(heap[least], entry))
            break;
        heap[i] = heap[least];
        i = least;
    }
    heap[i] = entry;
}

static void
heap_pop(MaxMin *solver)
{
    HeapEntry last = solver->heap[--solver->n_heap];
    if (solver->n_heap > 0)
        heap_down(solver, 0, last);
}

static double
link_key(const LinkFill *fill)
{
    return fill->rest <= 0 ? 0 : fixed_double(fill->rest) / fill->open_weight;
}

/* Gives each touched link the list of its active flows: a list made for it, or its own where most flows are active. */
static void
list_active(MaxMin *solver)
{
    if (solver->active_uses > solver->touched_places / 4) {
        for (uint32_t i = 0; i < solver->touched.n; i++) {
            LinkState *link = &solver->links[solver->touched.items[i]];
            link->listed = link->places;
            link->n_listed = link->n;
        }
        return;
    }
    if (solver->active_uses > solver->places_room) {
        solver->places_room = (uint32_t)MAX(solver->active_uses, 2 * (uint64_t)solver->places_room);
        solver->places = g_renew(Place, solver->places, solver->places_room);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        LinkState *link = &solver->links[solver->touched.items[i]];
        link->listed = solver->places + n;
        link->n_listed = 0;
        n += solver->fill[solver->touched.items[i]].n_active;
    }
    for (uint32_t i = 0; i < solver->active.n; i++) {
        uint32_t f = solver->active.items[i];
        Span span = solver->spans[f];
        for (uint32_t u = span.first; u < span.first + span.n; u++) {
            LinkState *link = &solver->links[solver->use_link[u]];
            solver->places[link->listed - solver->places + link->n_listed++] = (Place){f, u};
        }
    }
}

/* For a pass over the active flows that is at the i-th. */
static inline void
fetch_active(const MaxMin *solver, uint32_t i)
{
    if (i + FAR < solver->active.n) {
        fetch_flow(solver, solver->active.items[i + FAR]);
        fetch_uses(solver, solver->active.items[i + FAR / 2]);
    }
}

/* Nothing is given away yet: what the others leave, and all that the active flows had. */
static void
begin_links(MaxMin *solver)
{
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        uint32_t l = solver->touched.items[i];
        solver->links[l].filled = INFINITY;
        solver->fill[l] = (LinkFill){.rest = fixed_of(solver->links[l].capacity) - solver->links[l].load};
    }
    for (uint32_t i = 0; i < solver->active.n; i++) {
        fetch_active(solver, i);
        uint32_t f = solver->active.items[i];
        Span span = solver->spans[f];
        double rate = solver->rate[f], weight = weight_of(solver, f);
        Fixed fixed_rate = fixed_of(rate);
        solver->flags[f] &= (uint8_t)~FLOW_FROZEN;
        for (uint32_t u = span.first; u < span.first + span.n; u++) {
            LinkFill *fill = &solver->fill[solver->use_link[u]];
            double coefficient = coefficient_of(solver, u);
            fill->rest += part_of(coefficient, rate, fixed_rate);
            fill->open_weight += coefficient * weight;
            fill->n_active++;
        }
    }
    for (uint32_t i = 0; i < solver->touched.n; i++)
        solver->fill[solver->touched.items[i]].n_open = solver->fill[solver->touched.items[i]].n_active;
    list_active(solver);
}

/* All that may fill or cap, by level. */
static void
begin_heap(MaxMin *solver)
{
    uint32_t most = solver->touched.n + solver->active.n;
    if (most > solver->heap_room) {
        solver->heap_room = MAX(most, 2 * solver->heap_room);
        solver->heap = g_renew(HeapEntry, solver->heap, solver->heap_room);
    }
    solver->n_heap = 0;
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        uint32_t l = solver->touched.items[i];
        if (solver->fill[l].n_open > 0)
            solver->heap[solver->n_heap++] = (HeapEntry){link_key(&solver->fill[l]), l};
    }
    for (uint32_t i = 0; i < solver->active.n; i++) {
        uint32_t f = solver->active.items[i];
        if (isfinite(solver->flows[f].cap))
            solver->heap[solver->n_heap++] =
                (HeapEntry){solver->flows[f].cap / solver->flows[f].weight, solver->n_links + f};
    }
    for (uint32_t i = (solver->n_heap + ARITY - 2) / ARITY; i-- > 0;)
        heap_down(solver, i, solver->heap[i]);
}

/* The flow's new rate, kept aside until the filling stands; the old one where that is the same. */
static void
freeze(MaxMin *solver, uint32_t f, double level, double rate)
{
    Span span = solver->spans[f];
    double weight = weight_of(solver, f);
    if (fabs(rate - solver->rate[f]) <= SAME * rate)
        rate = solver->rate[f];
    solver->flags[f] |= FLOW_FROZEN;
    solver->n_frozen++;
    solver->frozen_level[f] = level;
    solver->frozen_rate[f] = rate;
    Fixed fixed_rate = fixed_of(rate);
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        LinkFill *fill = &solver->fill[solver->use_link[u]];
        double coefficient = coefficient_of(solver, u);
        fill->n_open--;
        fill->open_weight -= coefficient * weight;
        fill->rest -= part_of(coefficient, rate, fixed_rate);
    }
}

static gboolean
is_open(const MaxMin *solver, uint32_t f)
{
    return (solver->flags[f] & (FLOW_ACTIVE | FLOW_FROZEN)) == FLOW_ACTIVE;
}

/* The weight still rising on a link, summed anew: what subtraction left has rounding in it, but of whole numbers. */
static void
sum_weight(MaxMin *solver, uint32_t l)
{
    if (solver->whole_weights)
        return;
    const LinkState *link = &solver->links[l];
    double weight = 0;
    for (uint32_t i = 0; i < link->n_listed; i++) {
        Place place = link->listed[i];
        if (is_open(solver, place.flow))
            weight += coefficient_of(solver, place.use) * weight_of(solver, place.flow);
    }
    solver->fill[l].open_weight = weight;
}

static void
fill_link(MaxMin *solver, uint32_t l, double level)
{
    LinkState *link = &solver->links[l];
    link->filled = level;
    for (uint32_t i = 0; solver->fill[l].n_open > 0; i++) {
        uint32_t f = link->listed[i].flow;
        if (i + FAR < link->n_listed) {
            fetch_flow(solver, link->listed[i + FAR].flow);
            fetch_uses(solver, link->listed[i + FAR / 2].flow);
        }
        if (is_open(solver, f))
            freeze(solver, f, level, weight_of(solver, f) * level);
    }
}

/* Rates rise from 0 until every active flow is held. */
static void
fill(MaxMin *solver)
{
    begin_links(solver);
    begin_heap(solver);
    double level = 0;
    solver->n_frozen = 0;
    while (solver->n_frozen < solver->active.n) {
        assert(solver->n_heap > 0);
        HeapEntry top = solver->heap[0];
        if (top.id >= solver->n_links) {
            uint32_t f = top.id - solver->n_links;
            heap_pop(solver);
            if (solver->flags[f] & FLOW_FROZEN)
                continue;
            level = MAX(level, top.key);
            freeze(solver, f, level, solver->flows[f].cap);
            continue;
        }
        const LinkFill *link = &solver->fill[top.id];
        if (link->n_open == 0) {
            heap_pop(solver);
            continue;
        }
        double key = link_key(link);
        if (key <= top.key * (1 + LEVEL_SLACK)) {
            sum_weight(solver, top.id);
            key = link_key(link);
        }
        if (key > top.key * (1 + 4 * LEVEL_SLACK)) {
            heap_down(solver, 0, (HeapEntry){key, top.id});
            continue;
        }
        heap_pop(solver);
        level = MAX(level, key);
        fill_link(solver, top.id, level);
    }
}

static gboolean
is_full(const LinkState *link, Fixed rest)
{
    return fixed_double(MAX(rest, 0)) <= FULL_SLACK * link->capacity;
}

static double
highest_active(const MaxMin *solver, const LinkState *link)
{
    if (isfinite(link->filled)) /* nobody there rose on */
        return link->filled;
    double level = 0;
    for (uint32_t i = 0; i < link->n_listed; i++)
        if (solver->flags[link->listed[i].flow] & FLOW_ACTIVE)
            level = MAX(level, solver->frozen_level[link->listed[i].flow]);
    return level;
}

/* Others above the level at which the link filled become active: those that it would hold at least, all where rounding
 * leaves none. */
static gboolean
activate_above(MaxMin *solver, LinkState *link)
{
    double bound = isfinite(link->level) ? link->level : INFINITY; /* none is above that */
    if (link->filled >= bound * (1 - LEVEL_SLACK))
        return FALSE;
    gboolean above = FALSE;
    for (uint32_t i = 0; i < link->n && !above; i++) {
        uint32_t f = link->places[i].flow;
        above = !(solver->flags[f] & FLOW_ACTIVE) && solver->level[f] > link->filled * (1 + LEVEL_SLACK);
    }
    if (!above)
        return FALSE;
    double level = fill_level(solver, link, link->filled);
    return activate_from(solver, link, MAX(level, link->filled)) ||
           activate_from(solver, link, link->filled * (1 + 2 * LEVEL_SLACK));
}

/* Does the filling leave the others on this link as they are? Who objects becomes active. */
static gboolean
check_link(MaxMin *solver, uint32_t l)
{
    LinkState *link = &solver->links[l];
    const LinkFill *fill = &solver->fill[l];
    if (fill->n_active == link->n - link->n_gone)
        return TRUE;
    gboolean sound = TRUE;
    if (isfinite(link->filled))
        sound = !activate_above(solver, link);
    if (isfinite(link->level) &&
        (!is_full(link, fill->rest) || highest_active(solver, link) > link->level * (1 + LEVEL_SLACK)))
        sound = !activate_from(solver, link, link->level) && sound;
    return sound;
}

/* All that full links of active flows hold, and so on. */
static void
activate_connected(MaxMin *solver)
{
    for (uint32_t i = 0; i < solver->touched.n; i++) { /* grows meanwhile */
        LinkState *link = &solver->links[solver->touched.items[i]];
        if (isfinite(link->level))
            activate_from(solver, link, link->level);
    }
}

static void
fill_until_sound(MaxMin *solver)
{
    for (int round = 0;; round++) {
        fill(solver);
        gboolean sound = TRUE;
        uint32_t n = solver->touched.n; /* those touched below are looked at after the next filling */
        for (uint32_t i = 0; i < n; i++)
            sound = check_link(solver, solver->touched.items[i]) && sound;
        if (sound)
            return;
        if (round >= ROUNDS_OF_DOUBT || solver->active.n > FEW_ACTIVE)
            activate_connected(solver);
    }
}

static void
commit_flow(MaxMin *solver, uint32_t f)
{
    Span span = solver->spans[f];
    double rate = solver->frozen_rate[f], before = solver->rate[f];
    gboolean must_tell = (solver->flags[f] & (FLOW_NEW | FLOW_REVIVED)) != 0;
    solver->flags[f] = FLOW_LIVE;
    if (rate != before) {
        for (uint32_t u = span.first; u < span.first + span.n; u++)
            solver->link_flags[solver->use_link[u]] |= LINK_CHANGED;
        solver->rate[f] = rate;
        solver->level[f] = solver->frozen_level[f];
        must_tell = must_tell || maxmin_round_down(rate) != maxmin_round_down(before);
    }
    if (must_tell)
        index_list_add(&solver->changed, f);
}

/* The highest level on a link; INFINITY where it is not full. */
static double
level_of(const MaxMin *solver, const LinkState *link)
{
    if (link->n == link->n_gone || !is_full(link, fixed_of(link->capacity) - link->load))
        return INFINITY;
    if (isfinite(link->filled)) /* nobody there rose on */
        return link->filled;
    double level = 0;
    for (uint32_t k = 0; k < link->n; k++)
        level = MAX(level, solver->level[link->places[k].flow]);
    return level;
}

/* Loads and levels of the changed links; the others are no longer counted as touched. */
static void
commit_links(MaxMin *solver)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        uint32_t l = solver->touched.items[i];
        LinkState *link = &solver->links[l];
        gboolean changed = solver->link_flags[l] & LINK_CHANGED;
        solver->link_flags[l] = 0;
        if (!changed)
            continue;
        solver->touched.items[kept++] = l;
        if (solver->active.n > 0)
            link->load = fixed_of(link->capacity) - solver->fill[l].rest;
        link->level = level_of(solver, link);
    }
    solver->touched.n = kept;
}

const uint32_t *
maxmin_solve(MaxMin *solver, uint32_t *n_changed)
{
    maxmin_detach_leaving(solver);
    solver->changed.n = solver->touched.n = solver->active.n = 0;
    solver->active_uses = solver->touched_places = 0;
    if (solver->frozen_room < solver->n_flows) {
        solver->frozen_room = solver->flows_room; /* nothing in them outlives a solve */
        solver->frozen_rate = big_renew(double, solver->frozen_rate, 0, solver->frozen_room);
        solver->frozen_level = big_renew(double, solver->frozen_level, 0, solver->frozen_room);
    }
    activate_changed(solver);
    if (solver->active.n > 0)
        fill_until_sound(solver);
    for (uint32_t i = 0; i < solver->active.n; i++) {
        fetch_active(solver, i);
        commit_flow(solver, solver->active.items[i]);
    }
    commit_links(solver);
    for (uint32_t i = 0; i < solver->revived.n; i++) {
        uint32_t f = solver->revived.items[i];
        if (solver->flags[f] & FLOW_REVIVED)
            index_list_add(&solver->changed, f);
        solver->flags[f] = FLOW_LIVE;
    }
    solver->new_flows.n = solver->revived.n = 0;
    *n_changed = solver->changed.n;
    return solver->changed.items;
}
