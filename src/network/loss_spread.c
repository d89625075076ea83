#include "network/loss_spread.h"

#include "base/index.h"
#include "base/random.h"

#include <math.h>
#include <string.h>

/* Ends of a transfer: what its spread path depends on. */
typedef struct {
    uint32_t src, dst, src_nic, dst_nic, settings;
} Ends;

typedef struct {
    Ends ends;
    uint32_t first, n; /* in uses; n = 0: empty */
    double limit_Bps;  /* of its way */
} Cached;

typedef struct {
    uint32_t n;         /* links */
    double coefficient; /* scratch: of the demand being entered */
    uint32_t met;       /* scratch: its links met in that demand */
} Trunk;

enum { MOST_CACHED = 1 << 20 };

struct LossSpread {
    Network *network;
    DemandMaker *maker;
    const double *capacity;
    uint32_t n_links;
    MaxMin *solver;     /* its links are trunks */
    uint32_t *trunk_of; /* by link; INDEX_NONE */
    uint8_t *apart;     /* by link: never part of a trunk */
    GArray *trunks;     /* of Trunk */
    GArray *met;        /* of uint32_t: trunks of the demand being entered */
    uint32_t *flow_of;  /* by activity; INDEX_NONE */
    uint32_t *place;    /* by activity: in all */
    uint32_t room;
    uint32_t *activity_of; /* by flow */
    uint32_t activity_of_room;
    GArray *all;     /* of uint32_t: activities that have entered */
    GArray *changed; /* of uint32_t */
    GArray *uses;    /* of MaxMinUse: cached */
    Cached *cache;   /* open addressing */
    uint32_t n_cached, cache_size;
};

static void
clear_cache(LossSpread *spread)
{
    g_array_set_size(spread->uses, 0);
    spread->n_cached = 0;
    memset(spread->cache, 0, spread->cache_size * sizeof *spread->cache);
}

LossSpread *
loss_spread_new(Network *network, DemandMaker *maker, const double *capacity)
{
    LossSpread *spread = g_new0(LossSpread, 1);
    spread->network = network;
    spread->maker = maker;
    spread->capacity = capacity;
    spread->n_links = fabric_n_links(routes_fabric(network->routes));
    spread->solver = maxmin_new(0);
    spread->trunk_of = g_new(uint32_t, spread->n_links);
    memset(spread->trunk_of, 0xff, spread->n_links * sizeof *spread->trunk_of);
    spread->apart = g_new0(uint8_t, spread->n_links);
    spread->trunks = g_array_new(FALSE, FALSE, sizeof(Trunk));
    spread->met = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    spread->all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    spread->changed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    spread->uses = g_array_new(FALSE, FALSE, sizeof(MaxMinUse));
    spread->cache_size = 256;
    spread->cache = g_new0(Cached, spread->cache_size);
    return spread;
}

void
loss_spread_free(LossSpread *spread)
{
    if (spread == NULL)
        return;
    maxmin_free(spread->solver);
    GArray *arrays[] = {spread->trunks, spread->met, spread->all, spread->changed, spread->uses};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    g_free(spread->trunk_of);
    g_free(spread->apart);
    g_free(spread->flow_of);
    g_free(spread->place);
    g_free(spread->activity_of);
    g_free(spread->cache);
    g_free(spread);
}

static gboolean
same_ends(const Ends *a, const Ends *b)
{
    return a->src == b->src && a->dst == b->dst && a->src_nic == b->src_nic && a->dst_nic == b->dst_nic &&
           a->settings == b->settings;
}

/* The place of these ends in the cache: theirs, or the empty one for them. */
static Cached *
cache_place(const LossSpread *spread, const Ends *ends)
{
    uint64_t hash = hash_combine((uint64_t)ends->src << 32 | ends->dst, (uint64_t)ends->src_nic << 32 | ends->dst_nic);
    uint32_t i = (uint32_t)hash & (spread->cache_size - 1);
    while (spread->cache[i].n > 0 && !same_ends(&spread->cache[i].ends, ends))
        i = (i + 1) & (spread->cache_size - 1);
    return &spread->cache[i];
}

static void
cache_add(LossSpread *spread, const Cached *row)
{
    if (2 * (spread->n_cached + 1) > spread->cache_size) {
        g_autofree Cached *old = spread->cache;
        uint32_t old_size = spread->cache_size;
        spread->cache_size *= 2;
        spread->cache = g_new0(Cached, spread->cache_size);
        for (uint32_t i = 0; i < old_size; i++)
            if (old[i].n > 0)
                *cache_place(spread, &old[i].ends) = old[i];
    }
    *cache_place(spread, &row->ends) = *row;
    spread->n_cached++;
}

static uint32_t
new_trunk(LossSpread *spread, const MaxMinUse *uses, uint32_t n)
{
    Trunk trunk = {.n = n};
    g_array_append_val(spread->trunks, trunk);
    uint32_t number = maxmin_add_link(spread->solver, spread->capacity[uses[0].link] * n);
    for (uint32_t i = 0; i < n; i++)
        spread->trunk_of[uses[i].link] = number;
    return number;
}

/* How many uses from the first on are one stage of the way: equal parts, of links alike and not yet met, that make up
 * the whole. */
static uint32_t
stage_length(const LossSpread *spread, const MaxMinUse *uses, uint32_t n)
{
    double whole = floor(1 / uses[0].coefficient + 0.5);
    if (whole < 2 || whole > n || spread->apart[uses[0].link])
        return 1;
    for (uint32_t i = 1; i < (uint32_t)whole; i++) {
        const MaxMinUse *use = &uses[i];
        if (use->coefficient != uses[0].coefficient || spread->capacity[use->link] != spread->capacity[uses[0].link] ||
            spread->trunk_of[use->link] != INDEX_NONE || spread->apart[use->link])
            return 1;
    }
    return (uint32_t)whole;
}

/* Gives each link of a demand a trunk and sums by trunk. FALSE: a trunk is not used as one; its links are apart now. */
static gboolean
sum_by_trunk(LossSpread *spread, const Demand *demand)
{
    g_array_set_size(spread->met, 0);
    gboolean sound = TRUE;
    for (uint32_t i = 0; i < demand->n; i++)
        if (spread->trunk_of[demand->uses[i].link] == INDEX_NONE)
            new_trunk(spread, &demand->uses[i], stage_length(spread, &demand->uses[i], demand->n - i));
    for (uint32_t i = 0; i < demand->n; i++) {
        uint32_t number = spread->trunk_of[demand->uses[i].link];
        Trunk *trunk = &g_array_index(spread->trunks, Trunk, number);
        if (trunk->met++ == 0) {
            trunk->coefficient = demand->uses[i].coefficient;
            g_array_append_val(spread->met, number);
        }
        sound = sound && fabs(trunk->coefficient - demand->uses[i].coefficient) <= 1e-12 * trunk->coefficient;
    }
    for (guint m = 0; m < spread->met->len; m++) {
        Trunk *trunk = &g_array_index(spread->trunks, Trunk, g_array_index(spread->met, uint32_t, m));
        sound = sound && trunk->met == trunk->n;
        trunk->met = 0;
    }
    for (uint32_t i = 0; i < demand->n && !sound; i++)
        spread->apart[demand->uses[i].link] = TRUE;
    return sound;
}

/* The uses of an activity's flow, in trunks, at the end of spread->uses. FALSE: there is no way. *apart: links had to
 * be told apart. */
static gboolean
make_uses(LossSpread *spread, const Activity *row, Demand *demand, gboolean *apart)
{
    *apart = FALSE;
    if (!demand_make_activity(spread->maker, row, TRUE, demand, NULL) || demand->n == 0)
        return FALSE;
    if (!sum_by_trunk(spread, demand)) {
        *apart = TRUE;
        return FALSE;
    }
    for (guint m = 0; m < spread->met->len; m++) {
        uint32_t number = g_array_index(spread->met, uint32_t, m);
        const Trunk *trunk = &g_array_index(spread->trunks, Trunk, number);
        MaxMinUse use = {number, trunk->coefficient * trunk->n};
        if (fabs(use.coefficient - 1) < 1e-12)
            use.coefficient = 1;
        g_array_append_val(spread->uses, use);
    }
    return TRUE;
}

static void
make_room(LossSpread *spread, uint32_t activity)
{
    if (activity < spread->room)
        return;
    uint32_t room = MAX(activity + 1, MAX(256, 2 * spread->room));
    spread->flow_of = g_renew(uint32_t, spread->flow_of, room);
    spread->place = g_renew(uint32_t, spread->place, room);
    memset(spread->flow_of + spread->room, 0xff, (room - spread->room) * sizeof *spread->flow_of);
    memset(spread->place + spread->room, 0xff, (room - spread->room) * sizeof *spread->place);
    spread->room = room;
}

static void
add_flow(LossSpread *spread, uint32_t activity, uint32_t first, uint32_t n, double weight, double cap_Bps)
{
    uint32_t flow = maxmin_add(spread->solver, &g_array_index(spread->uses, MaxMinUse, first), n, weight, cap_Bps);
    if (flow >= spread->activity_of_room) {
        spread->activity_of_room = MAX(flow + 1, MAX(256, 2 * spread->activity_of_room));
        spread->activity_of = g_renew(uint32_t, spread->activity_of, spread->activity_of_room);
    }
    spread->activity_of[flow] = activity;
    spread->flow_of[activity] = flow;
}

/* FALSE: links had to be told apart first. */
static gboolean
try_enter(LossSpread *spread, uint32_t activity)
{
    const Activity *row = activities_get(spread->network->activities, activity);
    Ends ends = {row->first.src, row->first.dst, row->first.src_nic, row->first.dst_nic, row->first.settings};
    if (row->n_members == 1) {
        const Cached *cached = cache_place(spread, &ends);
        if (cached->n > 0) {
            add_flow(spread, activity, cached->first, cached->n, row->first.weight,
                     MIN(row->first.rate_cap_Bps, cached->limit_Bps));
            return TRUE;
        }
    }
    if (spread->n_cached >= MOST_CACHED)
        clear_cache(spread);
    Demand demand;
    gboolean apart;
    uint32_t first = spread->uses->len;
    if (!make_uses(spread, row, &demand, &apart))
        return !apart;
    uint32_t n = spread->uses->len - first;
    add_flow(spread, activity, first, n, demand.weight, demand.cap_Bps);
    if (row->n_members == 1)
        cache_add(spread, &(Cached){ends, first, n, demand.limit_Bps});
    else
        g_array_set_size(spread->uses, first);
    return TRUE;
}

/* Enters everything again, until no links have to be told apart any more. */
void
loss_spread_restart(LossSpread *spread)
{
    gboolean sound;
    do {
        maxmin_free(spread->solver);
        spread->solver = maxmin_new(0);
        clear_cache(spread);
        g_array_set_size(spread->trunks, 0);
        memset(spread->trunk_of, 0xff, spread->n_links * sizeof *spread->trunk_of);
        sound = TRUE;
        for (guint i = 0; i < spread->all->len && sound; i++) {
            uint32_t activity = g_array_index(spread->all, uint32_t, i);
            spread->flow_of[activity] = INDEX_NONE;
            sound = try_enter(spread, activity);
        }
    } while (!sound);
}

void
loss_spread_enter(LossSpread *spread, uint32_t activity)
{
    make_room(spread, activity);
    spread->flow_of[activity] = INDEX_NONE;
    spread->place[activity] = spread->all->len;
    g_array_append_val(spread->all, activity);
    if (!try_enter(spread, activity))
        loss_spread_restart(spread);
}

void
loss_spread_leave(LossSpread *spread, uint32_t activity)
{
    if (activity >= spread->room || spread->place[activity] == INDEX_NONE)
        return;
    if (spread->flow_of[activity] != INDEX_NONE)
        maxmin_remove(spread->solver, spread->flow_of[activity]);
    spread->flow_of[activity] = INDEX_NONE;
    uint32_t last = g_array_index(spread->all, uint32_t, spread->all->len - 1);
    g_array_index(spread->all, uint32_t, spread->place[activity]) = last;
    spread->place[last] = spread->place[activity];
    g_array_set_size(spread->all, spread->all->len - 1);
    spread->place[activity] = INDEX_NONE;
}

const uint32_t *
loss_spread_solve(LossSpread *spread, uint32_t *n_changed)
{
    uint32_t n;
    const uint32_t *flows = maxmin_solve(spread->solver, &n);
    g_array_set_size(spread->changed, 0);
    for (uint32_t i = 0; i < n; i++)
        g_array_append_val(spread->changed, spread->activity_of[flows[i]]);
    *n_changed = n;
    return (const uint32_t *)(const void *)spread->changed->data;
}

double
loss_spread_rate(const LossSpread *spread, uint32_t activity)
{
    if (activity >= spread->room || spread->flow_of[activity] == INDEX_NONE)
        return 0;
    return maxmin_exact_rate(spread->solver, spread->flow_of[activity]);
}
