#include "network/maxmin_state.h"

#include "base/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { SIZE_CLASSES = 33, FEW_LEAVING = 1 << 16 };

Fixed
fixed_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0)
        return 0;
    assert(value > 0 && exponent < 1023 + 55);
    Fixed mantissa = (Fixed)(bits & ((UINT64_C(1) << 52) - 1)) + ((Fixed)1 << 52);
    int shift = exponent - 1075 + FIXED_BITS;
    if (shift >= 0)
        return mantissa << shift;
    return shift > -64 ? mantissa >> -shift : 0;
}

double
fixed_double(Fixed value)
{
    return (double)value * 0x1p-72;
}

void
index_list_add(IndexList *list, uint32_t item)
{
    if (list->n == list->room) {
        list->room = MAX(64, list->room * 2);
        list->items = g_renew(uint32_t, list->items, list->room);
    }
    list->items[list->n++] = item;
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

static void
mark_dirty(MaxMin *solver, uint32_t link, uint32_t how)
{
    LinkState *state = &solver->links[link];
    if (!(state->flags & LINK_DIRTY))
        index_list_add(&solver->dirty, link);
    state->flags |= LINK_DIRTY | how;
}

MaxMin *
maxmin_new(uint32_t n_links)
{
    MaxMin *solver = g_new0(MaxMin, 1);
    solver->free_flow = INDEX_NONE;
    solver->free_uses = g_new(uint32_t, SIZE_CLASSES);
    for (uint32_t i = 0; i < SIZE_CLASSES; i++)
        solver->free_uses[i] = INDEX_NONE;
    solver->n_buckets = 1024;
    solver->buckets = g_new(uint32_t, solver->n_buckets);
    memset(solver->buckets, 0xff, solver->n_buckets * sizeof *solver->buckets);
    solver->links = g_new0(LinkState, n_links);
    solver->n_links = solver->links_room = n_links;
    for (uint32_t l = 0; l < n_links; l++)
        solver->links[l].level = INFINITY;
    return solver;
}

void
maxmin_free(MaxMin *solver)
{
    if (solver == NULL)
        return;
    for (uint32_t l = 0; l < solver->n_links; l++)
        g_free(solver->links[l].flows);
    IndexList *lists[] = {&solver->dirty,   &solver->new_flows, &solver->leaving, &solver->revived,
                          &solver->changed, &solver->touched,   &solver->active};
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
        g_free(lists[i]->items);
    g_free(solver->links);
    g_free(solver->flows);
    g_free(solver->uses);
    g_free(solver->free_uses);
    g_free(solver->buckets);
    g_free(solver->frozen_rate);
    g_free(solver->frozen_level);
    g_free(solver->heap);
    g_free(solver->places);
    g_free(solver);
}

uint32_t
maxmin_add_link(MaxMin *solver, double capacity)
{
    if (solver->n_links == solver->links_room) {
        solver->links_room = MAX(64, solver->links_room * 2);
        solver->links = g_renew(LinkState, solver->links, solver->links_room);
    }
    uint32_t link = solver->n_links++;
    solver->links[link] = (LinkState){.level = INFINITY};
    maxmin_set_capacity(solver, link, capacity);
    return link;
}

void
maxmin_set_capacity(MaxMin *solver, uint32_t link, double capacity)
{
    assert(link < solver->n_links && capacity >= 0 && capacity < 0x1p55);
    LinkState *state = &solver->links[link];
    double before = state->capacity;
    state->capacity = capacity;
    if (state->n > 0 && capacity != before)
        mark_dirty(solver, link, capacity > before ? LINK_LESS : LINK_MORE);
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

static uint32_t
take_uses(MaxMin *solver, uint32_t n)
{
    uint32_t class = size_class(n), head = solver->free_uses[class];
    if (head != INDEX_NONE) {
        solver->free_uses[class] = solver->uses[head].link;
        return head;
    }
    uint32_t size = UINT32_C(1) << class;
    if (solver->uses_room - solver->n_uses < size) {
        uint64_t room = MAX((uint64_t)solver->uses_room * 2, (uint64_t)solver->n_uses + size);
        assert(room < INDEX_NONE);
        solver->uses_room = (uint32_t)MAX(room, 1024);
        solver->uses = g_renew(Use, solver->uses, solver->uses_room);
    }
    uint32_t first = solver->n_uses;
    solver->n_uses += size;
    return first;
}

static uint32_t
take_flow(MaxMin *solver)
{
    uint32_t flow = solver->free_flow;
    if (flow != INDEX_NONE) {
        solver->free_flow = solver->flows[flow].next;
        return flow;
    }
    if (solver->n_flows == solver->flows_room) {
        solver->flows_room = MAX(256, solver->flows_room * 2);
        solver->flows = g_renew(Flow, solver->flows, solver->flows_room);
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

static uint32_t
hash_uses(const MaxMinUse *uses, uint32_t n, double weight, double cap)
{
    uint64_t hash = double_bits(weight) * UINT64_C(0x9e3779b97f4a7c15) ^ double_bits(cap);
    for (uint32_t i = 0; i < n; i++)
        hash =
            (hash ^ uses[i].link ^ double_bits(uses[i].coefficient) << 3) * UINT64_C(0xff51afd7ed558ccd) + (hash >> 29);
    return (uint32_t)(hash >> 32 ^ hash);
}

static gboolean
same_flow(const MaxMin *solver, const Flow *flow, const MaxMinUse *uses, uint32_t n, double weight, double cap)
{
    if (flow->n != n || flow->weight != weight || flow->cap != cap)
        return FALSE;
    for (uint32_t i = 0; i < n; i++) {
        const Use *use = &solver->uses[flow->first + i];
        if (use->link != uses[i].link || use->coefficient != uses[i].coefficient)
            return FALSE;
    }
    return TRUE;
}

/* The leaving flow whose place the new one can take, out of the lists of the leaving; INDEX_NONE. */
static uint32_t
take_leaving(MaxMin *solver, uint32_t hash, const MaxMinUse *uses, uint32_t n, double weight, double cap)
{
    uint32_t *link = &solver->buckets[hash & (solver->n_buckets - 1)];
    for (; *link != INDEX_NONE; link = &solver->flows[*link].next) {
        uint32_t flow = *link;
        if (solver->flows[flow].hash != hash || !same_flow(solver, &solver->flows[flow], uses, n, weight, cap))
            continue;
        *link = solver->flows[flow].next;
        slot_remove(solver, &solver->leaving, flow);
        return flow;
    }
    return INDEX_NONE;
}

static void
enter_link(MaxMin *solver, uint32_t flow, uint32_t use)
{
    LinkState *link = &solver->links[solver->uses[use].link];
    if (link->n == link->room) {
        link->room = MAX(4, link->room * 2);
        link->flows = g_renew(Place, link->flows, link->room);
    }
    solver->uses[use].place = link->n;
    link->flows[link->n++] = (Place){flow, use};
}

uint32_t
maxmin_add(MaxMin *solver, const MaxMinUse *uses, uint32_t n_uses, double weight, double cap)
{
    assert(n_uses > 0 && weight > 0 && cap > 0);
    solver->n_live++;
    uint32_t hash = hash_uses(uses, n_uses, weight, cap);
    uint32_t flow = take_leaving(solver, hash, uses, n_uses, weight, cap);
    if (flow != INDEX_NONE) {
        solver->flows[flow].flags = FLOW_LIVE | FLOW_REVIVED;
        slot_add(solver, &solver->revived, flow);
        return flow;
    }
    flow = take_flow(solver);
    uint32_t first = take_uses(solver, n_uses);
    solver->flows[flow] =
        (Flow){.weight = weight, .cap = cap, .first = first, .n = n_uses, .hash = hash, .flags = FLOW_LIVE | FLOW_NEW};
    for (uint32_t i = 0; i < n_uses; i++) {
        assert(uses[i].link < solver->n_links && uses[i].coefficient > 0);
        solver->uses[first + i] = (Use){.link = uses[i].link, .coefficient = uses[i].coefficient};
        enter_link(solver, flow, first + i);
        mark_dirty(solver, uses[i].link, LINK_MORE);
    }
    slot_add(solver, &solver->new_flows, flow);
    return flow;
}

static void
leave_link(MaxMin *solver, uint32_t use)
{
    LinkState *link = &solver->links[solver->uses[use].link];
    uint32_t place = solver->uses[use].place;
    Place last = link->flows[--link->n];
    link->flows[place] = last;
    solver->uses[last.use].place = place;
}

/* Out of all lists but that of the leaving; its number is free. */
static void
detach(MaxMin *solver, uint32_t flow)
{
    Flow *gone = &solver->flows[flow];
    gboolean had_rate = gone->rate > 0;
    for (uint32_t i = gone->first; i < gone->first + gone->n; i++) {
        leave_link(solver, i);
        uint32_t link = solver->uses[i].link;
        solver->links[link].load -= fixed_of(solver->uses[i].coefficient * gone->rate);
        if (had_rate)
            mark_dirty(solver, link, LINK_LESS);
    }
    uint32_t class = size_class(gone->n);
    solver->uses[gone->first].link = solver->free_uses[class];
    solver->free_uses[class] = gone->first;
    gone->flags = 0;
    gone->next = solver->free_flow;
    solver->free_flow = flow;
}

void
maxmin_detach_leaving(MaxMin *solver)
{
    for (uint32_t i = 0; i < solver->leaving.n; i++) {
        uint32_t flow = solver->leaving.items[i];
        solver->buckets[solver->flows[flow].hash & (solver->n_buckets - 1)] = INDEX_NONE;
        detach(solver, flow);
    }
    solver->leaving.n = 0;
}

/* As many buckets as leaving flows, about. */
static void
grow_buckets(MaxMin *solver)
{
    solver->n_buckets *= 2;
    solver->buckets = g_renew(uint32_t, solver->buckets, solver->n_buckets);
    memset(solver->buckets, 0xff, solver->n_buckets * sizeof *solver->buckets);
    for (uint32_t i = 0; i < solver->leaving.n; i++) {
        Flow *flow = &solver->flows[solver->leaving.items[i]];
        uint32_t *head = &solver->buckets[flow->hash & (solver->n_buckets - 1)];
        flow->next = *head;
        *head = solver->leaving.items[i];
    }
}

void
maxmin_remove(MaxMin *solver, uint32_t flow)
{
    Flow *gone = &solver->flows[flow];
    assert(flow < solver->n_flows && gone->flags & FLOW_LIVE);
    solver->n_live--;
    if (gone->flags & FLOW_NEW) {
        slot_remove(solver, &solver->new_flows, flow);
        detach(solver, flow);
        return;
    }
    if (gone->flags & FLOW_REVIVED)
        slot_remove(solver, &solver->revived, flow);
    gone->flags = FLOW_LEAVING;
    slot_add(solver, &solver->leaving, flow);
    uint32_t *head = &solver->buckets[gone->hash & (solver->n_buckets - 1)];
    gone->next = *head;
    *head = flow;
    if (solver->leaving.n > solver->n_buckets)
        grow_buckets(solver);
    /* Nobody may ask for a solve for long. */
    if (solver->leaving.n > 4 * (uint64_t)solver->n_live + FEW_LEAVING)
        maxmin_detach_leaving(solver);
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

double
maxmin_rate(const MaxMin *solver, uint32_t flow)
{
    return solver->flows[flow].told;
}

double
maxmin_exact_rate(const MaxMin *solver, uint32_t flow)
{
    return solver->flows[flow].rate;
}

double
maxmin_level(const MaxMin *solver, uint32_t flow)
{
    return solver->flows[flow].level;
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
    return fixed_double(solver->links[link].load);
}

double
maxmin_link_level(const MaxMin *solver, uint32_t link)
{
    return solver->links[link].level;
}

gboolean
maxmin_is_bottleneck(const MaxMin *solver, uint32_t flow, uint32_t link)
{
    double level = solver->links[link].level;
    return isfinite(level) && solver->flows[flow].level >= level * (1 - LEVEL_SLACK);
}

uint32_t
maxmin_n_uses(const MaxMin *solver, uint32_t flow)
{
    return solver->flows[flow].n;
}

MaxMinUse
maxmin_use(const MaxMin *solver, uint32_t flow, uint32_t i)
{
    const Use *use = &solver->uses[solver->flows[flow].first + i];
    return (MaxMinUse){use->link, use->coefficient};
}

uint32_t
maxmin_n_on_link(const MaxMin *solver, uint32_t link)
{
    return solver->links[link].n;
}

uint32_t
maxmin_on_link(const MaxMin *solver, uint32_t link, uint32_t i)
{
    return solver->links[link].flows[i].flow;
}
