/* The solve. Let the restart level be the lowest at which a changed link fills, before or after the change: filling
 * from 0 goes the same way up to there, so flows below it keep their rates. At or above it, only flows on changed links
 * that fill, and on full links that these use, and so on, can change: they are active, and are filled anew from the
 * restart level with everything else constant. A link that was not full passes nothing on, unless this filling fills it
 * below the level of a flow that is not active: then its flows become active too, and the filling is done again. What
 * results is feasible and holds every flow at a cap or at a full link where none is higher: that is the max-min
 * solution, which is unique. */
#include "network/maxmin_state.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    MOST_NEWTON_STEPS = 6,
    ROUNDS_OF_DOUBT = 6 /* fillings after which all touched links are opened at once */
};

typedef struct {
    MaxMin *solver;
    double restart;
} Solve;

static void
touch(MaxMin *solver, uint32_t l)
{
    LinkState *link = &solver->links[l];
    if (link->flags & LINK_TOUCHED)
        return;
    link->flags |= LINK_TOUCHED;
    link->n_active = 0;
    link->active_weight = 0;
    link->rest = fixed_of(link->capacity) - link->load;
    index_list_add(&solver->touched, l);
}

/* Its rate is open: what it had is given back to its links. Full ones pass the change on. */
static void
activate(MaxMin *solver, uint32_t f)
{
    Flow *flow = &solver->flows[f];
    if (flow->flags & FLOW_ACTIVE)
        return;
    flow->flags |= FLOW_ACTIVE;
    index_list_add(&solver->active, f);
    for (uint32_t i = flow->first; i < flow->first + flow->n; i++) {
        uint32_t l = solver->uses[i].link;
        touch(solver, l);
        if (isfinite(solver->links[l].level) && !(solver->links[l].flags & LINK_OPEN)) {
            solver->links[l].flags |= LINK_OPEN;
            index_list_add(&solver->opening, l);
        }
    }
}

static void
open_link(MaxMin *solver, uint32_t l)
{
    touch(solver, l);
    if (solver->links[l].flags & LINK_OPEN)
        return;
    solver->links[l].flags |= LINK_OPEN;
    index_list_add(&solver->opening, l);
}

/* Activates the flows at or above the restart level on the links being opened, and on those that follow. */
static void
spread(Solve *solve)
{
    MaxMin *solver = solve->solver;
    while (solver->opening.n > 0) {
        LinkState *link = &solver->links[solver->opening.items[--solver->opening.n]];
        for (uint32_t i = 0; i < link->n; i++)
            if (solver->flows[link->flows[i].flow].level >= solve->restart)
                activate(solver, link->flows[i].flow);
    }
}

/* The highest level a flow could have with its links to itself. */
static double
level_alone(const MaxMin *solver, const Flow *flow)
{
    double level = flow->cap / flow->weight;
    for (uint32_t i = flow->first; i < flow->first + flow->n; i++) {
        const Use *use = &solver->uses[i];
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

/* A level at or below that at which the link fills if its old flows take no more than they had and its new ones
 * what they can: Newton's method from below on a concave function, so that every step is such a level. */
static double
fill_level(const MaxMin *solver, const LinkState *link)
{
    double level = 0;
    for (int step = 0; step < MOST_NEWTON_STEPS; step++) {
        double held = 0, weight = 0;
        for (uint32_t i = 0; i < link->n; i++) {
            const Flow *flow = &solver->flows[link->flows[i].flow];
            double coefficient = solver->uses[link->flows[i].use].coefficient;
            if (flow->level <= level && !(flow->flags & FLOW_NEW))
                held += coefficient * flow->rate;
            else
                weight += coefficient * flow->weight;
        }
        double next = weight > 0 ? (link->capacity - held) / weight : INFINITY;
        if (next <= level * (1 + LEVEL_SLACK))
            break;
        level = next;
        if (isinf(level))
            break;
    }
    return level;
}

/* Opens the changed links that fill and finds the restart level. */
static void
open_changed(Solve *solve)
{
    MaxMin *solver = solve->solver;
    solve->restart = INFINITY;
    for (uint32_t i = 0; i < solver->new_flows.n; i++) {
        uint32_t f = solver->new_flows.items[i];
        solver->frozen_level[f] = level_alone(solver, &solver->flows[f]);
    }
    for (uint32_t i = 0; i < solver->dirty.n; i++) {
        uint32_t l = solver->dirty.items[i];
        LinkState *link = &solver->links[l];
        touch(solver, l);
        if (link->flags & LINK_LESS && isfinite(link->level)) {
            solve->restart = MIN(solve->restart, link->level);
            open_link(solver, l);
        }
        if (link->flags & LINK_MORE && may_fill(solver, link)) {
            solve->restart = MIN(solve->restart, fill_level(solver, link));
            open_link(solver, l);
        }
        link->flags &= ~(uint32_t)(LINK_DIRTY | LINK_LESS | LINK_MORE);
    }
    solver->dirty.n = 0;
    solve->restart *= 1 - LEVEL_SLACK;
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
    return link->rest <= 0 ? 0 : fixed_double(link->rest) / link->active_weight;
}

/* The touched links as the active flows leave them, and all that may fill or cap, by level. */
static void
begin_filling(MaxMin *solver)
{
    uint32_t most = solver->touched.n + solver->active.n;
    if (most > solver->heap_room) {
        solver->heap_room = MAX(most, 2 * solver->heap_room);
        solver->heap = g_renew(HeapEntry, solver->heap, solver->heap_room);
    }
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        LinkState *link = &solver->links[solver->touched.items[i]];
        link->n_active = 0;
        link->active_weight = 0;
        link->rest = fixed_of(link->capacity) - link->load;
        link->flags &= ~(uint32_t)(LINK_FROZE | LINK_BROKEN);
    }
    solver->n_heap = 0;
    for (uint32_t i = 0; i < solver->active.n; i++) {
        uint32_t f = solver->active.items[i];
        Flow *flow = &solver->flows[f];
        flow->flags &= ~(uint32_t)FLOW_FROZEN;
        for (uint32_t u = flow->first; u < flow->first + flow->n; u++) {
            LinkState *link = &solver->links[solver->uses[u].link];
            link->n_active++;
            link->active_weight += solver->uses[u].coefficient * flow->weight;
            link->rest += fixed_of(solver->uses[u].coefficient * flow->rate);
        }
        if (isfinite(flow->cap))
            solver->heap[solver->n_heap++] = (HeapEntry){flow->cap / flow->weight, solver->n_links + f};
    }
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        uint32_t l = solver->touched.items[i];
        if (solver->links[l].n_active > 0)
            solver->heap[solver->n_heap++] = (HeapEntry){link_key(&solver->links[l]), l};
    }
    for (uint32_t i = solver->n_heap / 2; i-- > 0;)
        heap_down(solver, i, solver->heap[i]);
}

/* The flow's new rate, kept aside until the filling stands. */
static void
freeze(MaxMin *solver, uint32_t f, double rate)
{
    Flow *flow = &solver->flows[f];
    flow->flags |= FLOW_FROZEN;
    solver->frozen_rate[f] = rate;
    for (uint32_t u = flow->first; u < flow->first + flow->n; u++) {
        LinkState *link = &solver->links[solver->uses[u].link];
        link->n_active--;
        link->active_weight -= solver->uses[u].coefficient * flow->weight;
        link->rest -= fixed_of(solver->uses[u].coefficient * rate);
    }
}

/* The weight still rising on a link, summed anew: what subtraction left has rounding in it. */
static void
sum_weight(MaxMin *solver, LinkState *link)
{
    double weight = 0;
    for (uint32_t i = 0; i < link->n; i++) {
        const Flow *flow = &solver->flows[link->flows[i].flow];
        if ((flow->flags & (FLOW_ACTIVE | FLOW_FROZEN)) == FLOW_ACTIVE)
            weight += solver->uses[link->flows[i].use].coefficient * flow->weight;
    }
    link->active_weight = weight;
}

static void
fill_link(MaxMin *solver, uint32_t l, double level)
{
    LinkState *link = &solver->links[l];
    link->flags |= LINK_FROZE;
    for (uint32_t i = 0; i < link->n; i++) {
        uint32_t f = link->flows[i].flow;
        Flow *flow = &solver->flows[f];
        if (!(flow->flags & FLOW_ACTIVE)) {
            if (flow->level > level * (1 + LEVEL_SLACK))
                link->flags |= LINK_BROKEN;
        } else if (!(flow->flags & FLOW_FROZEN)) {
            solver->frozen_level[f] = level;
            freeze(solver, f, flow->weight * level);
        }
    }
    if (link->flags & LINK_BROKEN)
        index_list_add(&solver->broken, l);
}

/* Rates rise from the restart level until every active flow is held. */
static void
fill(MaxMin *solver)
{
    begin_filling(solver);
    double level = 0;
    while (solver->n_heap > 0) {
        HeapEntry top = solver->heap[0];
        if (top.id >= solver->n_links) {
            uint32_t f = top.id - solver->n_links;
            heap_pop(solver);
            if (solver->flows[f].flags & FLOW_FROZEN)
                continue;
            level = MAX(level, top.key);
            solver->frozen_level[f] = level;
            freeze(solver, f, solver->flows[f].cap);
            continue;
        }
        LinkState *link = &solver->links[top.id];
        if (link->n_active == 0) {
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
        fill_link(solver, top.id, level);
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

static double
highest_level(const MaxMin *solver, const LinkState *link)
{
    double level = 0;
    for (uint32_t i = 0; i < link->n; i++)
        level = MAX(level, solver->flows[link->flows[i].flow].level);
    return level;
}

static void
commit_flows(MaxMin *solver)
{
    for (uint32_t i = 0; i < solver->active.n; i++) {
        uint32_t f = solver->active.items[i];
        Flow *flow = &solver->flows[f];
        double rate = solver->frozen_rate[f];
        for (uint32_t u = flow->first; u < flow->first + flow->n; u++) {
            double coefficient = solver->uses[u].coefficient;
            solver->links[solver->uses[u].link].load +=
                fixed_of(coefficient * rate) - fixed_of(coefficient * flow->rate);
        }
        flow->rate = rate;
        flow->level = solver->frozen_level[f];
        double told = round_down(rate);
        if (told != flow->told || flow->flags & (FLOW_NEW | FLOW_REVIVED))
            index_list_add(&solver->changed, f);
        flow->told = told;
        flow->flags = FLOW_LIVE;
    }
}

static void
commit_links(MaxMin *solver)
{
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        LinkState *link = &solver->links[solver->touched.items[i]];
        Fixed rest = fixed_of(link->capacity) - link->load;
        gboolean full = link->n > 0 && fixed_double(MAX(rest, 0)) <= FULL_SLACK * link->capacity;
        link->level = full ? highest_level(solver, link) : INFINITY;
        link->flags = 0;
    }
}

/* Fills until no link is filled below a flow that is not active. */
static void
fill_until_sound(Solve *solve)
{
    MaxMin *solver = solve->solver;
    for (int round = 0;; round++) {
        solver->broken.n = 0;
        fill(solver);
        uint32_t before = solver->active.n;
        for (uint32_t i = 0; i < solver->broken.n; i++)
            open_link(solver, solver->broken.items[i]);
        spread(solve);
        for (uint32_t i = 0; round >= ROUNDS_OF_DOUBT && i < solver->touched.n; i++) {
            open_link(solver, solver->touched.items[i]);
            spread(solve);
        }
        if (solver->active.n == before) /* a difference of rounding only */
            return;
    }
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
    Solve solve = {.solver = solver};
    open_changed(&solve);
    for (uint32_t i = 0; i < solver->new_flows.n; i++)
        activate(solver, solver->new_flows.items[i]);
    spread(&solve);
    if (solver->active.n > 0)
        fill_until_sound(&solve);
    commit_flows(solver);
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
