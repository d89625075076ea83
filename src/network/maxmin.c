#include "network/maxmin_state.h"

#include "base/big_array.h"

#include <math.h>

enum { SIZE_CLASSES = 33, FEW_LEAVING = 1 << 16, FEW_GONE = 1024 };

void
index_list_grow(IndexList *list)
{
    list->room = MAX(64, list->room * 2);
    list->items = g_renew(uint32_t, list->items, list->room);
}

/* A list in which each flow knows its slot. */
static void
slot_add(MaxMin *solver, IndexList *list, uint32_t flow)
{
    solver->flows[flow].slot = list->n;
    index_list_add(list, flow);
}

static void
slot_remove(MaxMin *solver, IndexList *list, uint32_t flow)
{
    uint32_t slot = solver->flows[flow].slot, last = list->items[--list->n];
    assert(list->n >= slot);
    list->items[slot] = last;
    solver->flows[last].slot = slot;
}

/* Sums lie in lines of memory. */
static void
resize_links(MaxMin *solver, uint32_t room)
{
    solver->links_room = room;
    solver->links = g_renew(LinkState, solver->links, room);
    LinkSums *sums = g_aligned_alloc0(MAX(1, room), sizeof *sums, _Alignof(LinkSums));
    if (solver->n_links > 0)
        memcpy(sums, solver->sums, solver->n_links * sizeof *sums);
    g_aligned_free(solver->sums);
    solver->sums = sums;
}

MaxMin *
maxmin_new(uint32_t n_links)
{
    MaxMin *solver = g_new0(MaxMin, 1);
    solver->unit_weights = solver->whole_weights = TRUE;
    solver->free_flow = INDEX_NONE;
    solver->free_uses = g_new(uint32_t, SIZE_CLASSES);
    for (uint32_t i = 0; i < SIZE_CLASSES; i++)
        solver->free_uses[i] = INDEX_NONE;
    solver->n_buckets = 1024;
    solver->buckets = g_new(uint32_t, solver->n_buckets);
    memset(solver->buckets, 0xff, solver->n_buckets * sizeof *solver->buckets);
    resize_links(solver, n_links);
    for (uint32_t l = 0; l < n_links; l++)
        maxmin_add_link(solver, 0);
    return solver;
}

void
maxmin_free(MaxMin *solver)
{
    if (solver == NULL)
        return;
    maxmin_ladder_end(solver);
    for (uint32_t l = 0; l < solver->n_links; l++) {
        g_free(solver->links[l].places);
        g_free(solver->links[l].held);
    }
    IndexList *lists[] = {&solver->new_flows, &solver->leaving,       &solver->revived,      &solver->gone,
                          &solver->moved,     &solver->spare,         &solver->touching,     &solver->touched,
                          &solver->changed,   &solver->changed_links, &solver->changed_flows};
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
        g_free(lists[i]->items);
    g_free(solver->links);
    g_aligned_free(solver->sums);
    g_free(solver->flows);
    g_free(solver->spans);
    g_free(solver->holder);
    g_free(solver->held_at);
    g_free(solver->rate_before);
    g_free(solver->flags);
    g_free(solver->use_link);
    g_free(solver->coefficient);
    g_free(solver->free_uses);
    g_free(solver->buckets);
    g_free(solver->heap);
    g_free(solver->candidates);
    g_free(solver);
}

uint32_t
maxmin_add_link(MaxMin *solver, double capacity)
{
    maxmin_ladder_end(solver);
    if (solver->n_links == solver->links_room)
        resize_links(solver, MAX(64, solver->links_room * 2));
    uint32_t link = solver->n_links++;
    solver->links[link] = (LinkState){.capacity = 0};
    solver->sums[link] = (LinkSums){.level = INFINITY};
    maxmin_set_capacity(solver, link, capacity);
    return link;
}

void
maxmin_set_capacity(MaxMin *solver, uint32_t link, double capacity)
{
    assert(link < solver->n_links && capacity >= 0 && capacity < 0x1p55);
    LinkState *state = &solver->links[link];
    if (capacity == state->capacity)
        return;
    solver->sums[link].rest += fixed_of(capacity) - fixed_of(state->capacity);
    state->capacity = capacity;
    if (state->n > state->n_gone)
        maxmin_touch(solver, link);
}

double
maxmin_capacity(const MaxMin *solver, uint32_t link)
{
    return solver->links[link].capacity;
}

/* Blocks of uses come in powers of two. */
static uint32_t
size_class(uint32_t n)
{
    return n <= 1 ? 0 : 32 - (uint32_t)__builtin_clz(n - 1);
}

/* From now on coefficients other than 1 can be kept. */
static void
keep_coefficients(MaxMin *solver)
{
    maxmin_wake_all(solver);
    solver->coefficient = g_new(double, solver->uses_room);
    for (uint32_t i = 0; i < solver->n_uses; i++)
        solver->coefficient[i] = 1;
}

static uint32_t
take_uses(MaxMin *solver, uint32_t n)
{
    uint32_t class = size_class(n), head = solver->free_uses[class];
    if (head != INDEX_NONE) {
        solver->free_uses[class] = solver->use_link[head];
        return head;
    }
    uint32_t size = UINT32_C(1) << class;
    if (solver->uses_room - solver->n_uses < size) {
        uint64_t room = MAX((uint64_t)solver->uses_room * 2, (uint64_t)solver->n_uses + size);
        assert(room < INDEX_NONE);
        solver->uses_room = (uint32_t)MAX(room, 1024);
        solver->use_link = big_renew(uint32_t, solver->use_link, solver->n_uses, solver->uses_room);
        if (solver->coefficient != NULL)
            solver->coefficient = big_renew(double, solver->coefficient, solver->n_uses, solver->uses_room);
    }
    uint32_t first = solver->n_uses;
    solver->n_uses += size;
    return first;
}

void
maxmin_sweep(const MaxMin *solver, LinkState *link)
{
    if (link->n_gone == 0)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < link->n; i++)
        if (solver->holder[link->places[i].flow] != HOLDER_GONE)
            link->places[kept++] = link->places[i];
    link->n = kept;
    link->n_gone = 0;
}

/* The numbers of all that have gone become free. */
static void
sweep_all(MaxMin *solver)
{
    for (uint32_t l = 0; l < solver->n_links; l++)
        maxmin_sweep(solver, &solver->links[l]);
    for (uint32_t i = 0; i < solver->gone.n; i++) {
        solver->flows[solver->gone.items[i]].next = solver->free_flow;
        solver->free_flow = solver->gone.items[i];
    }
    solver->gone.n = 0;
}

static uint32_t
take_flow(MaxMin *solver)
{
    if (solver->free_flow == INDEX_NONE && solver->gone.n > solver->n_live / 2 + FEW_GONE)
        sweep_all(solver);
    uint32_t flow = solver->free_flow;
    if (flow != INDEX_NONE) {
        solver->free_flow = solver->flows[flow].next;
        return flow;
    }
    if (solver->n_flows == solver->flows_room) {
        uint32_t n = solver->n_flows, room = solver->flows_room = MAX(256, solver->flows_room * 2);
        solver->flows = big_renew(Flow, solver->flows, n, room);
        solver->spans = big_renew(Span, solver->spans, n, room);
        solver->holder = big_renew(uint32_t, solver->holder, n, room);
        solver->held_at = big_renew(uint32_t, solver->held_at, n, room);
        solver->rate_before = big_renew(double, solver->rate_before, n, room);
        solver->flags = big_renew(uint8_t, solver->flags, n, room);
    }
    return solver->n_flows++;
}

static uint64_t
double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t
hash_start(double weight, double cap)
{
    return double_bits(weight) * UINT64_C(0x9e3779b97f4a7c15) ^ double_bits(cap);
}

static uint64_t
hash_use(uint64_t hash, uint32_t link, double coefficient)
{
    return (hash ^ link ^ double_bits(coefficient) << 3) * UINT64_C(0xff51afd7ed558ccd) + (hash >> 29);
}

static uint32_t
hash_end(uint64_t hash)
{
    return (uint32_t)(hash >> 32 ^ hash);
}

static gboolean
same_flow(const MaxMin *solver, uint32_t f, const MaxMinUse *uses, uint32_t n, double weight, double cap)
{
    if (solver->spans[f].n != n || solver->flows[f].weight != weight || solver->flows[f].cap != cap)
        return FALSE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t use = solver->spans[f].first + i;
        if (solver->use_link[use] != uses[i].link || coefficient_of(solver, use) != uses[i].coefficient)
            return FALSE;
    }
    return TRUE;
}

/* As many buckets as leaving flows, about. */
static void
grow_buckets(MaxMin *solver)
{
    while (solver->n_buckets < solver->leaving.n)
        solver->n_buckets *= 2;
    solver->buckets = g_renew(uint32_t, solver->buckets, solver->n_buckets);
    memset(solver->buckets, 0xff, solver->n_buckets * sizeof *solver->buckets);
    solver->n_hashed = 0;
}

/* Brings all leaving flows into the buckets: only once somebody asks, which often nobody does. */
static void
hash_leaving(MaxMin *solver)
{
    if (solver->leaving.n > solver->n_buckets)
        grow_buckets(solver);
    for (; solver->n_hashed < solver->leaving.n; solver->n_hashed++) {
        uint32_t f = solver->leaving.items[solver->n_hashed];
        Flow *flow = &solver->flows[f];
        uint64_t hash = hash_start(flow->weight, flow->cap);
        Span span = solver->spans[f];
        for (uint32_t u = span.first; u < span.first + span.n; u++)
            hash = hash_use(hash, solver->use_link[u], coefficient_of(solver, u));
        flow->hash = hash_end(hash);
        uint32_t *head = &solver->buckets[flow->hash & (solver->n_buckets - 1)];
        flow->next = *head;
        *head = f;
    }
}

/* The leaving flow whose place the new one can take, out of the lists of the leaving; INDEX_NONE. */
static uint32_t
take_leaving(MaxMin *solver, const MaxMinUse *uses, uint32_t n, double weight, double cap)
{
    if (solver->leaving.n == 0)
        return INDEX_NONE;
    hash_leaving(solver);
    uint64_t long_hash = hash_start(weight, cap);
    for (uint32_t i = 0; i < n; i++)
        long_hash = hash_use(long_hash, uses[i].link, uses[i].coefficient);
    uint32_t hash = hash_end(long_hash);
    uint32_t *link = &solver->buckets[hash & (solver->n_buckets - 1)];
    for (; *link != INDEX_NONE; link = &solver->flows[*link].next) {
        uint32_t flow = *link;
        if (solver->flows[flow].hash != hash || !same_flow(solver, flow, uses, n, weight, cap))
            continue;
        *link = solver->flows[flow].next;
        slot_remove(solver, &solver->leaving, flow);
        solver->n_hashed--;
        return flow;
    }
    return INDEX_NONE;
}

static void
enter_link(MaxMin *solver, uint32_t flow, uint32_t use)
{
    LinkState *link = &solver->links[solver->use_link[use]];
    if (link->n == link->room && link->n_gone > link->n / 2)
        maxmin_sweep(solver, link);
    if (link->n == link->room) {
        link->room = MAX(4, link->room * 2);
        link->places = g_renew(Place, link->places, link->room);
    }
    link->places[link->n++] = (Place){flow, use};
}

static void
enter_links(MaxMin *solver, uint32_t flow, const MaxMinUse *uses)
{
    uint32_t first = solver->spans[flow].first;
    for (uint32_t i = 0; i < solver->spans[flow].n; i++) {
        assert(uses[i].link < solver->n_links && uses[i].coefficient > 0);
        if (uses[i].coefficient != 1) {
            solver->whole_weights = FALSE;
            if (solver->coefficient == NULL)
                keep_coefficients(solver);
        }
        solver->use_link[first + i] = uses[i].link;
        if (solver->coefficient != NULL)
            solver->coefficient[first + i] = uses[i].coefficient;
        enter_link(solver, flow, first + i);
    }
}

uint32_t
maxmin_add(MaxMin *solver, const MaxMinUse *uses, uint32_t n_uses, double weight, double cap)
{
    assert(n_uses > 0 && weight > 0 && cap > 0);
    solver->n_live++;
    uint32_t flow = take_leaving(solver, uses, n_uses, weight, cap);
    if (flow != INDEX_NONE) {
        solver->flags[flow] = FLOW_LIVE | FLOW_REVIVED;
        slot_add(solver, &solver->revived, flow);
        return flow;
    }
    flow = take_flow(solver);
    solver->flows[flow] = (Flow){.weight = weight, .cap = cap};
    solver->spans[flow] = (Span){take_uses(solver, n_uses), n_uses};
    solver->flags[flow] = FLOW_LIVE | FLOW_NEW;
    solver->holder[flow] = HOLDER_NONE;
    if (weight != 1 && solver->unit_weights) {
        maxmin_ladder_end(solver);
        solver->unit_weights = FALSE;
    }
    if (isfinite(cap) && !solver->capped) {
        maxmin_ladder_end(solver);
        solver->capped = TRUE;
    }
    if (weight != floor(weight) || weight >= 0x1p20)
        solver->whole_weights = FALSE;
    enter_links(solver, flow, uses);
    slot_add(solver, &solver->new_flows, flow);
    return flow;
}

/* Off its links; its number is free after the next sweep. */
static void
detach(MaxMin *solver, uint32_t f)
{
    Span span = solver->spans[f];
    if (solver->holder[f] != HOLDER_NONE)
        maxmin_take_out(solver, f);
    for (uint32_t u = span.first; u < span.first + span.n; u++)
        solver->links[solver->use_link[u]].n_gone++;
    uint32_t class = size_class(span.n);
    solver->use_link[span.first] = solver->free_uses[class];
    solver->free_uses[class] = span.first;
    solver->flags[f] = 0;
    solver->holder[f] = HOLDER_GONE;
    index_list_add(&solver->gone, f);
}

void
maxmin_detach_leaving(MaxMin *solver)
{
    for (uint32_t i = 0; i < solver->leaving.n; i++) {
        uint32_t flow = solver->leaving.items[i];
        if (i + FAR < solver->leaving.n) {
            __builtin_prefetch(&solver->spans[solver->leaving.items[i + FAR]]);
            __builtin_prefetch(&solver->holder[solver->leaving.items[i + FAR]], 1);
            fetch_uses(solver, solver->leaving.items[i + FAR / 2]);
        }
        if (i < solver->n_hashed)
            solver->buckets[solver->flows[flow].hash & (solver->n_buckets - 1)] = INDEX_NONE;
        detach(solver, flow);
    }
    solver->leaving.n = solver->n_hashed = 0;
}

void
maxmin_remove(MaxMin *solver, uint32_t flow)
{
    assert(flow < solver->n_flows && solver->flags[flow] & FLOW_LIVE);
    solver->n_live--;
    if (solver->flags[flow] & FLOW_NEW) {
        slot_remove(solver, &solver->new_flows, flow);
        detach(solver, flow);
        return;
    }
    if (solver->flags[flow] & FLOW_REVIVED)
        slot_remove(solver, &solver->revived, flow);
    solver->flags[flow] = FLOW_LEAVING;
    slot_add(solver, &solver->leaving, flow);
    /* Nobody may ask for a solve for long. */
    if (solver->leaving.n > 4 * (uint64_t)solver->n_live + FEW_LEAVING)
        maxmin_detach_leaving(solver);
}

void
maxmin_fetch(const MaxMin *solver, uint32_t flow)
{
    __builtin_prefetch(&solver->flags[flow], 1);
    __builtin_prefetch(&solver->flows[flow], 1);
}

uint32_t
maxmin_n_flows(const MaxMin *solver)
{
    return solver->n_live;
}

const uint32_t *
maxmin_touched_links(const MaxMin *solver, uint32_t *n_links)
{
    *n_links = solver->touched.n;
    return solver->touched.items;
}

/* A rate a few units of rounding below a number that integers can count is that number. */
double
maxmin_round_down(double rate)
{
    rate *= 1 + 0x1p-46;
    if (rate < 0x1p-32)
        return 0;
    uint64_t bits = double_bits(rate);
    int exponent = (int)(bits >> 52) - 1023;
    int dropped = MAX(13, 20 - exponent); /* of 52 bits behind the point, keep 39; the last is worth 2^-32 or more */
    if (dropped > 52)
        dropped = 52;
    bits &= ~((UINT64_C(1) << dropped) - 1);
    memcpy(&rate, &bits, sizeof rate);
    return rate;
}

double
maxmin_rate(const MaxMin *solver, uint32_t flow)
{
    return maxmin_round_down(rate_of(solver, flow));
}

double
maxmin_exact_rate(const MaxMin *solver, uint32_t flow)
{
    return rate_of(solver, flow);
}

double
maxmin_level(const MaxMin *solver, uint32_t flow)
{
    return level_of(solver, flow);
}

uint32_t
maxmin_holder(const MaxMin *solver, uint32_t flow)
{
    uint32_t holder = solver->holder[flow];
    return holder < solver->n_links && !is_apart(solver, flow) ? holder : INDEX_NONE;
}

double
maxmin_held_rate(const MaxMin *solver, uint32_t link)
{
    return maxmin_round_down(solver->sums[link].n_held > 0 ? solver->sums[link].level : 0);
}

double
maxmin_weight(const MaxMin *solver, uint32_t flow)
{
    return solver->flows[flow].weight;
}

double
maxmin_cap(const MaxMin *solver, uint32_t flow)
{
    return solver->flows[flow].cap;
}

double
maxmin_load(const MaxMin *solver, uint32_t link)
{
    const LinkSums *sums = &solver->sums[link];
    if (sums->flags & LINK_IDLE) {
        const LinkState *state = &solver->links[link];
        Fixed load = 0;
        for (uint32_t i = 0; i < state->n; i++)
            if (is_counted(solver, state->places[i].flow))
                load += fixed_of(rate_of(solver, state->places[i].flow));
        return fixed_double(load);
    }
    double guests = fixed_double(fixed_of(solver->links[link].capacity) - sums->rest);
    return sums->n_held > 0 ? guests + sums->weight * sums->level : guests;
}

/* The highest level on a link where nobody is held. */
static double
highest_guest(const MaxMin *solver, uint32_t l)
{
    const LinkState *link = &solver->links[l];
    double rest = fixed_double(MAX(solver->sums[l].rest, 0)), highest = 0;
    if (link->n == link->n_gone || solver->sums[l].flags & LINK_IDLE || rest > FULL_SLACK * link->capacity)
        return INFINITY;
    for (uint32_t i = 0; i < link->n; i++)
        if (is_counted(solver, link->places[i].flow))
            highest = MAX(highest, level_of(solver, link->places[i].flow));
    return highest;
}

double
maxmin_link_level(const MaxMin *solver, uint32_t link)
{
    LinkSums *sums = &solver->sums[link];
    if (sums->n_held > 0)
        return sums->level;
    if (!(sums->flags & LINK_KNOWN)) {
        solver->links[link].full_level = highest_guest(solver, link);
        sums->flags |= LINK_KNOWN;
    }
    return solver->links[link].full_level;
}

gboolean
maxmin_is_bottleneck(const MaxMin *solver, uint32_t flow, uint32_t link)
{
    double level = maxmin_link_level(solver, link);
    return isfinite(level) && level_of(solver, flow) >= level * (1 - LEVEL_SLACK);
}

uint32_t
maxmin_n_uses(const MaxMin *solver, uint32_t flow)
{
    return solver->spans[flow].n;
}

MaxMinUse
maxmin_use(const MaxMin *solver, uint32_t flow, uint32_t i)
{
    uint32_t use = solver->spans[flow].first + i;
    return (MaxMinUse){solver->use_link[use], coefficient_of(solver, use)};
}

uint32_t
maxmin_n_on_link(const MaxMin *solver, uint32_t link)
{
    maxmin_sweep(solver, &solver->links[link]);
    return solver->links[link].n;
}

uint32_t
maxmin_on_link(const MaxMin *solver, uint32_t link, uint32_t i)
{
    return solver->links[link].places[i].flow;
}
