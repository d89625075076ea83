/* The solve. Every flow has a holder, and the level of those that a link holds follows from what its guests leave:
 * rest / weight. A change is passed on from link to link: one that gets another level takes as much more or less of the
 * other links of its flows, which come up in turn, the lowest first, as nobody below a link depends on it. The rates
 * are the max-min rates where
 * - no guest of a link that holds flows is above them: those that are become held there (steal);
 * - no link is over its capacity: one that holds none and is takes its highest flows (seize);
 * - no flow is above its cap: it is held by that (release_capped).
 * Each is looked at wherever sums changed, until nothing is left to look at. Then every flow is at its cap, or on a
 * full link where none is higher: that is the max-min solution, which is unique. Where many flows come at once, or
 * links come up again and again, all is filled anew instead. (SPEED.md starts over from the level of the change; here
 * the links above it are the work, not the flows: of 65,536 random flows 28,000 change with each that ends, on 5,000
 * links.) */
#include "network/maxmin_state.h"

#include <math.h>

enum {
    MANY_NEW = 64,   /* so many at once, and a share of all that is no less than */
    SHARE_NEW = 8,   /* an eighth, are filled in anew */
    FEW_LOOKS = 4096 /* and a few for each touched link before all is filled anew */
};

/* Levels closer than this are the same: what was told before stays. */
#define SAME 1e-13

static double
level_now(const LinkSums *sums)
{
    return sums->rest <= 0 ? 0 : fixed_double(sums->rest) / sums->weight;
}

/* What the link holds, summed anew: what subtraction left has rounding in it, but of whole numbers. */
static void
sum_weight(MaxMin *solver, uint32_t l)
{
    if (solver->whole_weights)
        return;
    const LinkState *link = &solver->links[l];
    LinkSums *sums = &solver->sums[l];
    sums->weight = 0;
    for (uint32_t i = 0; i < sums->n_held; i++) {
        Span span = solver->spans[link->held[i].flow];
        for (uint32_t u = span.first; u < span.first + span.n; u++)
            if (solver->use_link[u] == l)
                sums->weight += coefficient_of(solver, u) * weight_of(solver, link->held[i].flow);
    }
}

static uint32_t
find_above_on_ladder(MaxMin *solver, uint32_t l, double level)
{
    uint32_t n_guests, n = 0;
    const uint32_t *guests = maxmin_ladder_guests(solver, l, &n_guests);
    double highest = 0;
    for (uint32_t i = 0; i < n_guests; i++) {
        double its = solver->sums[solver->holder[guests[i]]].level;
        if (its > level)
            solver->candidates[n++] = (Candidate){guests[i], 1, its};
        else
            highest = MAX(highest, its);
    }
    solver->sums[l].guest = highest;
    return n;
}

/* The guests above a level, as candidates; the highest of the others is the bound from now on. */
static uint32_t
find_above(MaxMin *solver, uint32_t l, double level)
{
    LinkState *link = &solver->links[l];
    uint32_t n = 0;
    double highest = 0;
    if (link->n_gone > link->n / 2)
        maxmin_sweep(solver, link);
    if (solver->candidates_room < link->n) {
        solver->candidates_room = MAX(link->n, 2 * solver->candidates_room);
        solver->candidates = g_renew(Candidate, solver->candidates, solver->candidates_room);
    }
    if (solver->ladder != NULL)
        return find_above_on_ladder(solver, l, level);
    for (uint32_t i = 0; i < link->n; i++) {
        uint32_t f = link->places[i].flow, holder = solver->holder[f];
        if (holder >= solver->n_links && !is_counted(solver, f))
            continue;
        double its = holder < solver->n_links ? solver->sums[holder].level : level_of(solver, f);
        its = holder == l ? 0 : its; /* no jump: nobody could foresee it */
        if (its > level)
            solver->candidates[n++] = (Candidate){f, coefficient_of(solver, link->places[i].use), its};
        else
            highest = MAX(highest, its);
    }
    solver->sums[l].guest = highest;
    return n;
}

/* The level at which the link is full with those of the candidates that are above it held there: Newton's method from
 * below on a concave function, so that every step is such a level. */
static double
level_with(const MaxMin *solver, const LinkSums *sums, uint32_t n, double level)
{
    for (;;) {
        Fixed rest = sums->rest;
        double weight = sums->weight;
        for (uint32_t i = 0; i < n; i++) {
            const Candidate *it = &solver->candidates[i];
            if (it->level <= level)
                continue;
            double rate = rate_of(solver, it->flow);
            rest += part_of(it->coefficient, rate, fixed_of(rate));
            weight += it->coefficient * weight_of(solver, it->flow);
        }
        double next = rest <= 0 ? 0 : fixed_double(rest) / weight;
        if (!(weight > 0) || !(next > level * (1 + SAME)))
            return level;
        level = next;
    }
}

/* Guests above the level of those held here become held here, too; any? */
static gboolean
steal(MaxMin *solver, uint32_t l, double level)
{
    LinkSums *sums = &solver->sums[l];
    uint32_t n = find_above(solver, l, level * (1 + LEVEL_SLACK));
    gboolean any = FALSE;
    double with = level_with(solver, sums, n, level);
    for (uint32_t i = 0; i < n; i++) {
        const Candidate *it = &solver->candidates[i];
        if (it->level > with * (1 + LEVEL_SLACK)) {
            maxmin_move(solver, it->flow, l);
            any = TRUE;
        } else {
            sums->guest = MAX(sums->guest, it->level);
        }
    }
    return any;
}

/* The link holds none and is over its capacity: it holds its highest from now on. */
static void
seize(MaxMin *solver, uint32_t l)
{
    LinkSums *sums = &solver->sums[l];
    uint32_t n = find_above(solver, l, 0);
    double level = level_with(solver, sums, n, 0);
    for (uint32_t i = 0; i < n; i++) {
        const Candidate *it = &solver->candidates[i];
        if (it->level > level) {
            if (sums->n_held == 0) {
                sums->level = level;
                sums->ceiling = ceiling_over(level);
                if (solver->ladder != NULL)
                    maxmin_ladder_level(solver, l);
            }
            maxmin_move(solver, it->flow, l);
        } else {
            sums->guest = MAX(sums->guest, it->level);
        }
    }
}

/* Flows that the level would put above their caps are held by these; any? */
static gboolean
release_capped(MaxMin *solver, uint32_t l, double level)
{
    LinkState *link = &solver->links[l];
    gboolean any = FALSE;
    double least = INFINITY;
    for (uint32_t i = 0; i < solver->sums[l].n_held;) {
        uint32_t f = link->held[i].flow;
        double cap = solver->flows[f].cap / solver->flows[f].weight;
        if (level > cap) {
            maxmin_move(solver, f, HOLDER_CAP); /* another comes to its place */
            any = TRUE;
        } else {
            least = MIN(least, cap);
            i++;
        }
    }
    link->least_cap = least;
    return any;
}

static inline void
pass_to(MaxMin *solver, uint32_t other, Fixed more, double level)
{
    LinkSums *sums = &solver->sums[other];
    sums->rest = fixed_less(sums->rest, more);
    sums->guest = MAX(sums->guest, level);
    if (!(sums->flags & LINK_PENDING))
        maxmin_touch(solver, other);
}

static void
pass_to_more(MaxMin *solver, const Held *held, uint32_t holder, Fixed more, double level)
{
    if (held->n_others <= MOST_OTHERS) {
        for (uint32_t k = SURE_OTHERS; k < held->n_others; k++)
            pass_to(solver, held->others[k], more, level);
        return;
    }
    Span span = solver->spans[held->flow];
    for (uint32_t u = span.first; u < span.first + span.n; u++)
        if (solver->use_link[u] != holder && !(solver->sums[solver->use_link[u]].flags & LINK_IDLE))
            pass_to(solver, solver->use_link[u], more, level);
}

/* What flows of weight 1 take of their other links, all coefficients being 1. The first are passed to without asking
 * whether there are so many: what the link itself gets that way is taken back. */
static void
pass_on_even(MaxMin *solver, uint32_t l, double level)
{
    const Held *held = solver->links[l].held;
    LinkSums *own = &solver->sums[l], before = *own;
    Fixed more = fixed_of(level) - fixed_of(before.level);
    for (uint32_t i = 0; i < before.n_held; i++) {
        for (uint32_t k = 0; k < SURE_OTHERS; k++)
            pass_to(solver, held[i].others[k], more, level);
        if (held[i].n_others > SURE_OTHERS)
            pass_to_more(solver, &held[i], l, more, level);
    }
    solver->n_passed += before.n_held;
    own->rest = before.rest;
    own->guest = before.guest;
}

/* What flows of any weight take of their other links, all coefficients being 1. */
static void
pass_on_weighted(MaxMin *solver, uint32_t l, double level)
{
    const Held *held = solver->links[l].held;
    LinkSums *own = &solver->sums[l], before = *own;
    for (uint32_t i = 0; i < before.n_held; i++) {
        double weight = weight_of(solver, held[i].flow);
        Fixed more = fixed_of(weight * level) - fixed_of(weight * before.level);
        for (uint32_t k = 0; k < SURE_OTHERS; k++)
            pass_to(solver, held[i].others[k], more, level);
        if (held[i].n_others > SURE_OTHERS)
            pass_to_more(solver, &held[i], l, more, level);
    }
    own->rest = before.rest;
    own->guest = before.guest;
}

static void
pass_on(MaxMin *solver, uint32_t l, double level)
{
    const LinkState *link = &solver->links[l];
    for (uint32_t i = 0; i < solver->sums[l].n_held; i++) {
        uint32_t f = link->held[i].flow;
        Span span = solver->spans[f];
        double before = weight_of(solver, f) * solver->sums[l].level, rate = weight_of(solver, f) * level;
        Fixed fixed_before = fixed_of(before), fixed_rate = fixed_of(rate);
        for (uint32_t u = span.first; u < span.first + span.n; u++) {
            uint32_t other = solver->use_link[u];
            if (other == l)
                continue;
            LinkSums *sums = &solver->sums[other];
            double coefficient = coefficient_of(solver, u);
            sums->rest -= part_of(coefficient, rate, fixed_rate) - part_of(coefficient, before, fixed_before);
            sums->guest = MAX(sums->guest, level);
            maxmin_touch(solver, other);
        }
    }
}

/* Brings the link to rest: it has the flows that it holds, and they the level they have then. */
static void
look_at(MaxMin *solver, uint32_t l)
{
    LinkSums *sums = &solver->sums[l];
    if (sums->n_held == 0 && fixed_double(-sums->rest) > SAME * solver->links[l].capacity)
        seize(solver, l);
    while (sums->n_held > 0) {
        sum_weight(solver, l);
        double level = level_now(sums);
        if (sums->guest > level * (1 + LEVEL_SLACK) && steal(solver, l, level))
            continue;
        if (level > solver->links[l].least_cap && release_capped(solver, l, level))
            continue;
        if (fabs(level - sums->level) <= SAME * level)
            break;
        maxmin_mind_ceiling(solver, l, level);
        if (solver->ladder != NULL)
            ;
        else if (is_even(solver))
            pass_on_even(solver, l, level);
        else if (has_idle(solver))
            pass_on_weighted(solver, l, level);
        else
            pass_on(solver, l, level);
        sums->level = level;
        if (solver->ladder != NULL)
            maxmin_ladder_level(solver, l);
        break;
    }
}

/* All from the lowest that was touched up; FALSE: it takes too long. */
static gboolean
climb(MaxMin *solver)
{
    enum { FEW_CLIMBED = 8 };
    uint64_t looks = 0;
    for (uint32_t l; (l = maxmin_ladder_next(solver)) != INDEX_NONE;) {
        if (looks++ > FEW_LOOKS + FEW_CLIMBED * (uint64_t)solver->n_links)
            return FALSE;
        look_at(solver, l);
        maxmin_ladder_place(solver, l);
    }
    return TRUE;
}

/* Looks at all links that may not be as they should, from the lowest up; FALSE: it takes too long. */
static gboolean
settle(MaxMin *solver)
{
    uint64_t looks = 0;
    if (solver->ladder != NULL)
        return climb(solver);
    while (solver->n_heap > 0 || solver->spare.n > 0) {
        if (looks++ > FEW_LOOKS + 8 * (uint64_t)solver->touching.n)
            return FALSE;
        uint32_t l = solver->n_heap > 0 ? solver->heap[0].id : solver->spare.items[--solver->spare.n];
        if (solver->n_heap > 0)
            maxmin_heap_pop(solver);
        look_at(solver, l); /* pending meanwhile, so that it does not come up for what it does itself */
        solver->sums[l].flags &= (uint8_t)~LINK_PENDING;
    }
    return TRUE;
}

static void
tell_apart(MaxMin *solver, uint32_t l)
{
    const LinkState *link = &solver->links[l];
    for (uint32_t i = 0; link->n_apart > 0 && i < solver->sums[l].n_held; i++) {
        uint32_t f = link->held[i].flow;
        if (!is_apart(solver, f) || solver->flags[f] & (FLOW_MOVED | FLOW_REVIVED))
            continue;
        double weight = weight_of(solver, f);
        if (maxmin_round_down(weight * solver->sums[l].level) != maxmin_round_down(weight * solver->sums[l].told))
            index_list_add(&solver->changed_flows, f);
    }
}

/* The links whose flows have another rate, and the flows that have moved: what is told. */
static void
tell(MaxMin *solver)
{
    IndexList touched = solver->touched;
    solver->touched = solver->touching;
    solver->touching = touched;
    solver->touching.n = solver->changed_links.n = solver->changed_flows.n = 0;
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        uint32_t l = solver->touched.items[i];
        LinkSums *sums = &solver->sums[l];
        sums->flags &= (uint8_t)~LINK_TOUCHED;
        double level = sums->n_held > 0 ? sums->level : 0;
        if (sums->n_held > 0 && level != sums->told) {
            /* Even where all are apart: one that is not may come later. */
            if (maxmin_round_down(level) != maxmin_round_down(sums->told))
                index_list_add(&solver->changed_links, l);
            tell_apart(solver, l);
        }
        sums->told = level;
    }
    for (uint32_t i = 0; i < solver->moved.n; i++)
        index_list_add(&solver->changed_flows, solver->moved.items[i]);
    for (uint32_t i = 0; i < solver->revived.n; i++)
        if (!(solver->flags[solver->revived.items[i]] & FLOW_MOVED))
            index_list_add(&solver->changed_flows, solver->revived.items[i]);
}

/* Links that have long been awake with nobody held there may rest. */
static void
let_rest(MaxMin *solver)
{
    enum { LONG = 32 };
    for (uint32_t i = 0; i < solver->touched.n; i++) {
        uint32_t l = solver->touched.items[i];
        if (!(solver->sums[l].flags & LINK_IDLE) && solver->n_solves - solver->links[l].woken >= LONG &&
            maxmin_may_rest(solver, l))
            maxmin_rest(solver, l);
    }
}

/* Whether the next solves climb or pass on: the one is worth while where nearly all would be passed on to. */
static void
choose_way(MaxMin *solver)
{
    enum { SOME = 64, SHARE = 8, FEW = 1024 };
    if (solver->ladder != NULL) {
        if (!maxmin_ladder_pays(solver))
            maxmin_ladder_end(solver);
        return;
    }
    if (++solver->n_passing < SOME)
        return;
    uint64_t passed = solver->n_passed / solver->n_passing;
    solver->n_passed = solver->n_passing = 0;
    if (passed > FEW && passed * SHARE > solver->n_live && is_even(solver) && !solver->capped)
        maxmin_ladder_begin(solver);
}

static void
solve(MaxMin *solver)
{
    solver->n_solves++;
    maxmin_detach_leaving(solver);
    uint32_t n_new = solver->new_flows.n;
    gboolean many = n_new >= MANY_NEW && (uint64_t)n_new * SHARE_NEW >= solver->n_live;
    for (uint32_t i = 0; i < n_new && !many; i++)
        maxmin_insert(solver, solver->new_flows.items[i]);
    if (many || !settle(solver))
        maxmin_fill(solver);
    tell(solver);
    let_rest(solver);
    choose_way(solver);
}

static void
end_solve(MaxMin *solver)
{
    for (uint32_t i = 0; i < solver->changed_flows.n; i++)
        solver->flags[solver->changed_flows.items[i]] = FLOW_LIVE;
    solver->moved.n = solver->new_flows.n = solver->revived.n = 0;
}

const uint32_t *
maxmin_solve_by_link(MaxMin *solver, uint32_t *n_flows, const uint32_t **links, uint32_t *n_links)
{
    solve(solver);
    end_solve(solver);
    *n_flows = solver->changed_flows.n;
    *links = solver->changed_links.items;
    *n_links = solver->changed_links.n;
    return solver->changed_flows.items;
}

const uint32_t *
maxmin_solve(MaxMin *solver, uint32_t *n_changed)
{
    enum { ALWAYS = FLOW_NEW | FLOW_REVIVED };
    solve(solver);
    solver->changed.n = 0;
    for (uint32_t i = 0; i < solver->changed_flows.n; i++) {
        uint32_t f = solver->changed_flows.items[i];
        uint8_t flags = solver->flags[f];
        if (flags & ALWAYS || !(flags & FLOW_MOVED) || solver->rate_before[f] != maxmin_rate(solver, f))
            index_list_add(&solver->changed, f);
    }
    for (uint32_t i = 0; i < solver->changed_links.n; i++) {
        uint32_t l = solver->changed_links.items[i];
        for (uint32_t k = 0; k < solver->sums[l].n_held; k++) {
            uint32_t f = solver->links[l].held[k].flow;
            if (!is_apart(solver, f) && !(solver->flags[f] & (ALWAYS | FLOW_MOVED)))
                index_list_add(&solver->changed, f);
        }
    }
    end_solve(solver);
    *n_changed = solver->changed.n;
    return solver->changed.items;
}
