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

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    MOST_NEWTON_STEPS = 8,
    /* Fillings, and active flows, after which all that hangs on the full links of active flows becomes active at once:
     * filling a few flows several times is cheap, many is not. */
    ROUNDS_OF_DOUBT = 6,
    FEW_ACTIVE = 48
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
    LinkState *link = &solver->links[l];
    if (link->flags & LINK_TOUCHED)
        return;
    link->flags |= LINK_TOUCHED;
    link->filled = INFINITY;
    link->n_active = 0;
    index_list_add(&solver->touched, l);
}

static gboolean
activate(MaxMin *solver, uint32_t f)
{
    Flow *flow = &solver->flows[f];
    if (flow->flags & FLOW_ACTIVE)
        return FALSE;
    flow->flags |= FLOW_ACTIVE;
    index_list_add(&solver->active, f);
    for (uint32_t u = flow->first; u < flow->first + flow->n; u++)
        touch(solver, solver->uses[u].link);
    return TRUE;
}

/* Activates the flows on a link from a level on; any? */
static gboolean
activate_from(MaxMin *solver, const LinkState *link, double level)
{
    gboolean any = FALSE;
    level *= 1 - LEVEL_SLACK;
    for (uint32_t i = 0; i < link->n; i++)
        if (solver->flows[link->flows[i].flow].level >= level)
            any |= activate(solver, link->flows[i].flow);
    return any;
}

/* The highest level a flow could have with its links to itself. */
static double
level_alone(const MaxMin *solver, const Flow *flow)
{
    double level = flow->cap / flow->weight;
    for (uint32_t u = flow->first; u < flow->first + flow->n; u++) {
        const Use *use = &solver->uses[u];
        level = MIN(level, solver->links[use->link].capacity / (use->coefficient * flow->weight));
    }
    return level;
}

/* Could the flows that came, or the capacity that went, fill this link? (frozen_level holds level_alone of those that
 * came, so that a flow over thousands of links is looked through once, not once a link.) */
static gboolean
may_fill(const MaxMin *solver, const LinkState *link)
{
    double load = fixed_double(link->load);
    for (uint32_t i = 0; i < link->n; i++) {
        const Flow *flow = &solver->flows[link->flows[i].flow];
        if (flow->flags & FLOW_NEW)
            load +=
                solver->uses[link->flows[i].use].coefficient * flow->weight * solver->frozen_level[link->flows[i].flow];
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
            uint32_t f = link->flows[i].flow;
            const Flow *flow = &solver->flows[f];
            double coefficient = solver->uses[link->flows[i].use].coefficient;
            if (flow->flags & FLOW_FROZEN && solver->frozen_level[f] < filled * (1 - LEVEL_SLACK))
                held += coefficient * solver->frozen_rate[f];
            else if (flow->flags & (FLOW_NEW | FLOW_FROZEN) || flow->level > level)
                weight += coefficient * flow->weight;
            else
                held += coefficient * flow->rate;
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
    for (uint32_t i = 0; i < solver->new_flows.n; i++) {
        uint32_t f = solver->new_flows.items[i];
        solver->frozen_level[f] = level_alone(solver, &solver->flows[f]);
    }
    for (uint32_t i = 0; i < solver->dirty.n; i++) {
        uint32_t l = solver->dirty.items[i];
        LinkState *link = &solver->links[l];
        touch(solver, l);
        link->flags |= LINK_CHANGED;
        if (link->flags & LINK_LESS && isfinite(link->level))
            activate_from(solver, link, link->level);
        if (link->flags & LINK_MORE && may_fill(solver, link))
            activate_from(solver, link, fill_level(solver, link, 0));
        link->flags &= ~(uint32_t)(LINK_DIRTY | LINK_LESS | LINK_MORE);
    }
    solver->dirty.n = 0;
    for (uint32_t i = 0; i < solver->new_flows.n; i++)
        activate(solver, solver->new_flows.items[i]);
}

static gboolean
entry_before(HeapEntry a, HeapEntry b)
{
    return a.key != b.key ? a.key < b.key : a.id < b.id;
}

static void
heap_down(MaxMin *solver, uint32_t i, HeapEntry entry)
{
    HeapEntry *heap = solver->heap;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= solver->n_heap)
            break;
        if (child + 1 < solver->n_heap && entry_before(heap[child + 1], heap[child]))
            child++;
        if (!entry_before(heap[child], entry))
            break;
        heap[i] = heap[child];
        i = child;
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
link_key(const LinkState *link)
{
    return link->rest <= 0 ? 0 : fixed_double(link->rest) / link->open_weight;
}

/* Lists the active flows of each touched link; sums what the others leave them. */
static void
list_active(MaxMin *solver)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        LinkState *link = &solver->links[solver->touched.items[i]];
        link->n_active = 0;
        link->open_weight = 0;
        link->filled = INFINITY;
        link->rest = fixed_of(link->capacity) - link->load;
    }
    for (uint32_t i = 0; i < solver->active.n; i++) {
        Flow *flow = &solver->flows[solver->active.items[i]];
        flow->flags &= ~(uint32_t)FLOW_FROZEN;
        n += flow->n;
        for (uint32_t u = flow->first; u < flow->first + flow->n; u++)
            solver->links[solver->uses[u].link].n_active++;
    }
    if (n > solver->places_room) {
        solver->places_room = MAX(n, 2 * solver->places_room);
        solver->places = g_renew(Place, solver->places, solver->places_room);
    }
    n = 0;
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        LinkState *link = &solver->links[solver->touched.items[i]];
        link->first_active = n;
        n += link->n_active;
        link->n_open = 0;
    }
    for (uint32_t i = 0; i < solver->active.n; i++) {
        uint32_t f = solver->active.items[i];
        const Flow *flow = &solver->flows[f];
        Fixed rate = fixed_of(flow->rate);
        for (uint32_t u = flow->first; u < flow->first + flow->n; u++) {
            LinkState *link = &solver->links[solver->uses[u].link];
            solver->places[link->first_active + link->n_open++] = (Place){f, u};
            link->open_weight += solver->uses[u].coefficient * flow->weight;
            link->rest += part_of(solver->uses[u].coefficient, flow->rate, rate);
        }
    }
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
        if (solver->links[l].n_open > 0)
            solver->heap[solver->n_heap++] = (HeapEntry){link_key(&solver->links[l]), l};
    }
    for (uint32_t i = 0; i < solver->active.n; i++) {
        uint32_t f = solver->active.items[i];
        if (isfinite(solver->flows[f].cap))
            solver->heap[solver->n_heap++] =
                (HeapEntry){solver->flows[f].cap / solver->flows[f].weight, solver->n_links + f};
    }
    for (uint32_t i = solver->n_heap / 2; i-- > 0;)
        heap_down(solver, i, solver->heap[i]);
}

/* The flow's new rate, kept aside until the filling stands. */
static void
freeze(MaxMin *solver, uint32_t f, double level, double rate)
{
    Flow *flow = &solver->flows[f];
    flow->flags |= FLOW_FROZEN;
    solver->frozen_level[f] = level;
    solver->frozen_rate[f] = rate;
    Fixed fixed_rate = fixed_of(rate);
    for (uint32_t u = flow->first; u < flow->first + flow->n; u++) {
        LinkState *link = &solver->links[solver->uses[u].link];
        link->n_open--;
        link->open_weight -= solver->uses[u].coefficient * flow->weight;
        link->rest -= part_of(solver->uses[u].coefficient, rate, fixed_rate);
    }
}

/* The weight still rising on a link, summed anew: what subtraction left has rounding in it. */
static void
sum_weight(const MaxMin *solver, LinkState *link)
{
    double weight = 0;
    for (uint32_t i = 0; i < link->n_active; i++) {
        Place place = solver->places[link->first_active + i];
        if (!(solver->flows[place.flow].flags & FLOW_FROZEN))
            weight += solver->uses[place.use].coefficient * solver->flows[place.flow].weight;
    }
    link->open_weight = weight;
}

static void
fill_link(MaxMin *solver, LinkState *link, double level)
{
    link->filled = level;
    for (uint32_t i = 0; i < link->n_active && link->n_open > 0; i++) {
        uint32_t f = solver->places[link->first_active + i].flow;
        if (!(solver->flows[f].flags & FLOW_FROZEN))
            freeze(solver, f, level, solver->flows[f].weight * level);
    }
}

/* Rates rise from 0 until every active flow is held. */
static void
fill(MaxMin *solver)
{
    list_active(solver);
    begin_heap(solver);
    double level = 0;
    while (solver->n_heap > 0) {
        HeapEntry top = solver->heap[0];
        if (top.id >= solver->n_links) {
            uint32_t f = top.id - solver->n_links;
            heap_pop(solver);
            if (solver->flows[f].flags & FLOW_FROZEN)
                continue;
            level = MAX(level, top.key);
            freeze(solver, f, level, solver->flows[f].cap);
            continue;
        }
        LinkState *link = &solver->links[top.id];
        if (link->n_open == 0) {
            heap_pop(solver);
            continue;
        }
        double key = link_key(link);
        if (key <= top.key * (1 + LEVEL_SLACK)) {
            sum_weight(solver, link);
            key = link_key(link);
        }
        if (key > top.key * (1 + 4 * LEVEL_SLACK)) {
            heap_down(solver, 0, (HeapEntry){key, top.id});
            continue;
        }
        heap_pop(solver);
        level = MAX(level, key);
        fill_link(solver, link, level);
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
    double level = 0;
    for (uint32_t i = 0; i < link->n_active; i++)
        level = MAX(level, solver->frozen_level[solver->places[link->first_active + i].flow]);
    return level;
}

/* Others above the level at which the link filled become active: those that it would hold at least, all where rounding
 * leaves none. */
static gboolean
activate_above(MaxMin *solver, const LinkState *link)
{
    double bound = isfinite(link->level) ? link->level : INFINITY; /* none is above that */
    if (link->filled >= bound * (1 - LEVEL_SLACK))
        return FALSE;
    gboolean above = FALSE;
    for (uint32_t i = 0; i < link->n && !above; i++) {
        const Flow *flow = &solver->flows[link->flows[i].flow];
        above = !(flow->flags & FLOW_ACTIVE) && flow->level > link->filled * (1 + LEVEL_SLACK);
    }
    if (!above)
        return FALSE;
    double level = fill_level(solver, link, link->filled);
    return activate_from(solver, link, MAX(level, link->filled)) ||
           activate_from(solver, link, link->filled * (1 + 2 * LEVEL_SLACK));
}

/* Does the filling leave the others on this link as they are? Who objects becomes active. */
static gboolean
check_link(MaxMin *solver, LinkState *link)
{
    if (link->n_active == link->n)
        return TRUE;
    gboolean sound = TRUE;
    if (isfinite(link->filled))
        sound = !activate_above(solver, link);
    if (isfinite(link->level) &&
        (!is_full(link, link->rest) || highest_active(solver, link) > link->level * (1 + LEVEL_SLACK)))
        sound = !activate_from(solver, link, link->level) && sound;
    return sound;
}

/* All that full links of active flows hold, and so on. */
static void
activate_connected(MaxMin *solver)
{
    for (uint32_t i = 0; i < solver->touched.n; i++) { /* grows meanwhile */
        const LinkState *link = &solver->links[solver->touched.items[i]];
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
            sound = check_link(solver, &solver->links[solver->touched.items[i]]) && sound;
        if (sound)
            return;
        if (round >= ROUNDS_OF_DOUBT || solver->active.n > FEW_ACTIVE)
            activate_connected(solver);
    }
}

/* A rate that integers can count: 40 significant bits, none below 2^-32. A rate a few units of rounding below such
 * a number is that number. */
static double
round_down(double rate)
{
    rate *= 1 + 0x1p-46;
    if (rate < 0x1p-32)
        return 0;
    uint64_t bits;
    memcpy(&bits, &rate, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    int dropped = MAX(13, 20 - exponent); /* of 52 bits behind the point, keep 39; the last is worth 2^-32 or more */
    if (dropped > 52)
        dropped = 52;
    bits &= ~((UINT64_C(1) << dropped) - 1);
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

static void
commit_flow(MaxMin *solver, uint32_t f)
{
    Flow *flow = &solver->flows[f];
    double rate = solver->frozen_rate[f], before = flow->rate;
    gboolean must_tell = flow->flags & (FLOW_NEW | FLOW_REVIVED);
    flow->flags = FLOW_LIVE;
    if (fabs(rate - before) > SAME * rate) {
        for (uint32_t u = flow->first; u < flow->first + flow->n; u++) {
            double coefficient = solver->uses[u].coefficient;
            LinkState *link = &solver->links[solver->uses[u].link];
            link->load += fixed_of(coefficient * rate) - fixed_of(coefficient * before);
            link->flags |= LINK_CHANGED;
        }
        flow->rate = rate;
        flow->level = solver->frozen_level[f];
    }
    double told = round_down(flow->rate);
    if (told != flow->told || must_tell)
        index_list_add(&solver->changed, f);
    flow->told = told;
}

/* Levels of the changed links; the others are no longer counted as touched. */
static void
commit_links(MaxMin *solver)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        uint32_t l = solver->touched.items[i];
        LinkState *link = &solver->links[l];
        gboolean changed = link->flags & LINK_CHANGED;
        link->flags = 0;
        if (!changed)
            continue;
        solver->touched.items[kept++] = l;
        link->level = INFINITY;
        if (link->n == 0 || !is_full(link, fixed_of(link->capacity) - link->load))
            continue;
        double level = 0;
        for (uint32_t k = 0; k < link->n; k++)
            level = MAX(level, solver->flows[link->flows[k].flow].level);
        link->level = level;
    }
    solver->touched.n = kept;
}

const uint32_t *
maxmin_solve(MaxMin *solver, uint32_t *n_changed)
{
    maxmin_detach_leaving(solver);
    solver->changed.n = solver->touched.n = solver->active.n = 0;
    if (solver->frozen_room < solver->n_flows) {
        solver->frozen_room = solver->flows_room;
        solver->frozen_rate = g_renew(double, solver->frozen_rate, solver->frozen_room);
        solver->frozen_level = g_renew(double, solver->frozen_level, solver->frozen_room);
    }
    activate_changed(solver);
    if (solver->active.n > 0)
        fill_until_sound(solver);
    for (uint32_t i = 0; i < solver->active.n; i++)
        commit_flow(solver, solver->active.items[i]);
    commit_links(solver);
    for (uint32_t i = 0; i < solver->revived.n; i++) {
        Flow *flow = &solver->flows[solver->revived.items[i]];
        if (flow->flags & FLOW_REVIVED)
            index_list_add(&solver->changed, solver->revived.items[i]);
        flow->flags = FLOW_LIVE;
    }
    solver->new_flows.n = solver->revived.n = 0;
    *n_changed = solver->changed.n;
    return solver->changed.items;
}
