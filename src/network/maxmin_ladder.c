#include "network/maxmin_ladder.h"

#include "network/maxmin_state.h"

#include <math.h>

/* What those held at a link have. */
typedef struct {
    Fixed rate;
    double level;
    uint32_t position; /* in order */
} Rung;

/* The flows on a link that others hold, with their holders. */
typedef struct {
    uint32_t *flows, *holders;
    uint32_t n, room;
} Guests;

struct Ladder {
    Rung *rungs;    /* by link */
    Guests *guests; /* by link */
    uint32_t *order;
    double *keys; /* levels by which order is in order: as of the last look */
    uint32_t n;
    uint32_t at;      /* from this position on links are to be looked at */
    uint32_t looking; /* at this one just now */
    uint32_t n_climbs, n_looks, n_changes;
};

static void
add_guest(Guests *guests, uint32_t f, uint32_t holder)
{
    if (guests->n == guests->room) {
        guests->room = MAX(16, 2 * guests->room);
        guests->flows = g_renew(uint32_t, guests->flows, guests->room);
        guests->holders = g_renew(uint32_t, guests->holders, guests->room);
    }
    guests->flows[guests->n] = f;
    guests->holders[guests->n++] = holder;
}

static uint32_t
find_guest(const Guests *guests, uint32_t f)
{
    uint32_t i = 0;
    while (guests->flows[i] != f)
        i++;
    assert(i < guests->n);
    return i;
}

static void
remove_guest(Guests *guests, uint32_t f)
{
    uint32_t i = find_guest(guests, f);
    guests->flows[i] = guests->flows[--guests->n];
    guests->holders[i] = guests->holders[guests->n];
}

static gboolean
is_on(const MaxMin *solver, uint32_t l)
{
    return !(solver->sums[l].flags & LINK_IDLE);
}

/* Lets the link at position p rise or sink to where its key belongs; where that is. */
static uint32_t
shift(Ladder *ladder, uint32_t p, double key)
{
    uint32_t link = ladder->order[p];
    for (; p > 0 && ladder->keys[p - 1] > key; p--) {
        ladder->keys[p] = ladder->keys[p - 1];
        ladder->order[p] = ladder->order[p - 1];
        ladder->rungs[ladder->order[p]].position = p;
    }
    for (; p + 1 < ladder->n && ladder->keys[p + 1] < key; p++) {
        ladder->keys[p] = ladder->keys[p + 1];
        ladder->order[p] = ladder->order[p + 1];
        ladder->rungs[ladder->order[p]].position = p;
    }
    ladder->keys[p] = key;
    ladder->order[p] = link;
    ladder->rungs[link].position = p;
    return p;
}

static void
set_rung(MaxMin *solver, uint32_t l)
{
    double level = solver->sums[l].level;
    Rung *rung = &solver->ladder->rungs[l];
    rung->level = level;
    rung->rate = isfinite(level) ? fixed_of(level) : 0;
}

void
maxmin_ladder_level(MaxMin *solver, uint32_t l)
{
    Ladder *ladder = solver->ladder;
    set_rung(solver, l);
    if (l == ladder->looking)
        return;
    uint32_t before = ladder->rungs[l].position, p = shift(ladder, before, solver->sums[l].level);
    assert(p <= before);
    if (p < ladder->at && ladder->at <= before)
        ladder->at++;
    maxmin_ladder_touch(solver, l);
}

void
maxmin_ladder_join(MaxMin *solver, uint32_t l)
{
    Ladder *ladder = solver->ladder;
    const LinkState *link = &solver->links[l];
    Guests *guests = &ladder->guests[l];
    guests->n = 0;
    for (uint32_t i = 0; i < link->n; i++) {
        uint32_t f = link->places[i].flow;
        if (is_counted(solver, f) && solver->holder[f] != l)
            add_guest(guests, f, solver->holder[f]);
    }
    set_rung(solver, l);
    ladder->order[ladder->n] = l;
    ladder->keys[ladder->n++] = INFINITY;
    uint32_t p = shift(ladder, ladder->n - 1, solver->sums[l].level);
    if (p < ladder->at)
        ladder->at++;
}

void
maxmin_ladder_leave(MaxMin *solver, uint32_t l)
{
    Ladder *ladder = solver->ladder;
    uint32_t p = ladder->rungs[l].position;
    if (p == INDEX_NONE)
        return;
    ladder->rungs[l].position = INDEX_NONE;
    if (ladder->at > p)
        ladder->at--;
    ladder->n--;
    for (; p < ladder->n; p++) {
        ladder->keys[p] = ladder->keys[p + 1];
        ladder->order[p] = ladder->order[p + 1];
        ladder->rungs[ladder->order[p]].position = p;
    }
}

static int
by_level(const void *a, const void *b, void *data)
{
    const MaxMin *solver = data;
    uint32_t l = *(const uint32_t *)a, m = *(const uint32_t *)b;
    double its = solver->sums[l].level, other = solver->sums[m].level;
    return its != other ? (its > other) - (its < other) : (l > m) - (l < m);
}

void
maxmin_ladder_begin(MaxMin *solver)
{
    assert(solver->ladder == NULL && is_even(solver) && solver->n_heap == 0 && solver->spare.n == 0);
    Ladder *ladder = solver->ladder = g_new0(Ladder, 1);
    ladder->rungs = g_aligned_alloc0(solver->n_links, sizeof(Rung), 64);
    ladder->guests = g_new0(Guests, solver->n_links);
    ladder->order = g_new(uint32_t, solver->n_links);
    ladder->keys = g_new(double, solver->n_links);
    ladder->looking = INDEX_NONE;
    for (uint32_t l = 0; l < solver->n_links; l++)
        ladder->rungs[l].position = INDEX_NONE;
    g_autofree uint32_t *order = g_new(uint32_t, solver->n_links);
    uint32_t n = 0;
    for (uint32_t l = 0; l < solver->n_links; l++) {
        if (is_on(solver, l) && maxmin_may_rest(solver, l))
            maxmin_rest(solver, l);
        if (is_on(solver, l))
            order[n++] = l;
    }
    g_qsort_with_data(order, (int)n, sizeof *order, by_level, solver);
    for (uint32_t i = 0; i < n; i++)
        maxmin_ladder_join(solver, order[i]);
    ladder->at = ladder->n;
}

void
maxmin_ladder_end(MaxMin *solver)
{
    Ladder *ladder = solver->ladder;
    if (ladder == NULL)
        return;
    solver->ladder = NULL;
    for (uint32_t p = ladder->at; p < ladder->n; p++)
        maxmin_touch(solver, ladder->order[p]);
    for (uint32_t l = 0; l < solver->n_links; l++) {
        g_free(ladder->guests[l].flows);
        g_free(ladder->guests[l].holders);
    }
    g_aligned_free(ladder->rungs);
    g_free(ladder->guests);
    g_free(ladder->order);
    g_free(ladder->keys);
    g_free(ladder);
}

void
maxmin_ladder_touch(MaxMin *solver, uint32_t l)
{
    Ladder *ladder = solver->ladder;
    if (l != ladder->looking)
        ladder->at = MIN(ladder->at, ladder->rungs[l].position);
}

/* Of the whole solve this is what is done most often: two sums, so that one addition need not wait for the other. */
static void
sum_guests(MaxMin *solver, uint32_t l)
{
    const Rung *rungs = solver->ladder->rungs;
    const Guests *guests = &solver->ladder->guests[l];
    const uint32_t *holders = guests->holders;
    UFixed even = 0, odd = 0;
    double highest = 0;
    uint32_t i = 0;
    for (; i + 1 < guests->n; i += 2) {
        const Rung *one = &rungs[holders[i]], *other = &rungs[holders[i + 1]];
        double higher = MAX(one->level, other->level);
        even += (UFixed)one->rate;
        odd += (UFixed)other->rate;
        highest = MAX(highest, higher);
    }
    if (i < guests->n) {
        even += (UFixed)rungs[holders[i]].rate;
        highest = MAX(highest, rungs[holders[i]].level);
    }
    LinkSums *sums = &solver->sums[l];
    Fixed rest = fixed_less(fixed_of(solver->links[l].capacity), (Fixed)(even + odd));
    if (rest != sums->rest)
        maxmin_note_touched(solver, l);
    sums->rest = rest;
    sums->guest = highest;
}

uint32_t
maxmin_ladder_next(MaxMin *solver)
{
    Ladder *ladder = solver->ladder;
    if (ladder->at >= ladder->n) {
        ladder->n_climbs++;
        return INDEX_NONE;
    }
    ladder->n_looks++;
    ladder->looking = ladder->order[ladder->at++];
    sum_guests(solver, ladder->looking);
    return ladder->looking;
}

static void
touch_others(MaxMin *solver, uint32_t l)
{
    const LinkState *link = &solver->links[l];
    for (uint32_t i = 0; i < solver->sums[l].n_held; i++) {
        Span span = solver->spans[link->held[i].flow];
        for (uint32_t u = span.first; u < span.first + span.n; u++)
            if (is_on(solver, solver->use_link[u]))
                maxmin_ladder_touch(solver, solver->use_link[u]);
    }
}

void
maxmin_ladder_place(MaxMin *solver, uint32_t l)
{
    Ladder *ladder = solver->ladder;
    uint32_t before = ladder->rungs[l].position;
    double level = solver->sums[l].level, was = ladder->keys[before];
    if (level != was) {
        maxmin_note_touched(solver, l);
        ladder->n_changes++;
        uint32_t p = shift(ladder, before, level);
        if (p > before)
            ladder->at = MIN(ladder->at, before);
        else
            ladder->at = MIN(ladder->at, p + 1);
        uint32_t least = MIN(p, before);
        if (least > 0 && ladder->keys[least - 1] >= MIN(level, was) * (1 - LEVEL_SLACK))
            touch_others(solver, l);
    }
    ladder->looking = INDEX_NONE;
}

void
maxmin_ladder_enter(MaxMin *solver, uint32_t f)
{
    Span span = solver->spans[f];
    for (uint32_t u = span.first; u < span.first + span.n; u++)
        if (is_on(solver, solver->use_link[u]) && solver->use_link[u] != solver->holder[f])
            add_guest(&solver->ladder->guests[solver->use_link[u]], f, solver->holder[f]);
}

void
maxmin_ladder_exit(MaxMin *solver, uint32_t f)
{
    Span span = solver->spans[f];
    for (uint32_t u = span.first; u < span.first + span.n; u++)
        if (is_on(solver, solver->use_link[u]) && solver->use_link[u] != solver->holder[f])
            remove_guest(&solver->ladder->guests[solver->use_link[u]], f);
}

void
maxmin_ladder_move(MaxMin *solver, uint32_t f, uint32_t before)
{
    Span span = solver->spans[f];
    uint32_t holder = solver->holder[f];
    for (uint32_t u = span.first; u < span.first + span.n; u++) {
        uint32_t l = solver->use_link[u];
        Guests *guests = &solver->ladder->guests[l];
        if (!is_on(solver, l))
            continue;
        if (l == before)
            add_guest(guests, f, holder);
        else if (l == holder)
            remove_guest(guests, f);
        else
            guests->holders[find_guest(guests, f)] = holder;
    }
}

const uint32_t *
maxmin_ladder_guests(const MaxMin *solver, uint32_t l, uint32_t *n)
{
    *n = solver->ladder->guests[l].n;
    return solver->ladder->guests[l].flows;
}

gboolean
maxmin_ladder_pays(MaxMin *solver)
{
    enum { SOME = 64, SHARE = 8 };
    Ladder *ladder = solver->ladder;
    if (ladder->n_climbs < SOME)
        return TRUE;
    gboolean pays = (uint64_t)ladder->n_changes * SHARE > ladder->n_looks;
    ladder->n_climbs = ladder->n_looks = ladder->n_changes = 0;
    return pays;
}
