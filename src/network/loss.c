#include "network/loss_state.h"

#include <math.h>
#include <string.h>

static void
row_add(Row *row, uint32_t item)
{
    if (row->n == row->room) {
        row->room = MAX(64, 2 * row->room);
        row->items = g_renew(uint32_t, row->items, row->room);
    }
    row->items[row->n++] = item;
}

static void
run_on(void *owner, uint32_t link, SimTime now)
{
    loss_meter_run_on(((Losses *)owner)->meter, link, now);
}

static gboolean
is_end(const Fabric *fabric, uint32_t node)
{
    NodeKind kind = fabric_node(fabric, node)->kind;
    return kind == NODE_GPU || kind == NODE_HOST || kind == NODE_NIC || kind == NODE_STORAGE;
}

/* Ways of one class compete (DEFINITIONS 2): NVLink, PCIe, all others. */
static LinkKind
class_of(const Link *link)
{
    return link->kind == LINK_NVLINK || link->kind == LINK_PCIE ? link->kind : LINK_ETHERNET;
}

/* A link that leads to its end alone, or out of a node with no other of its class that leads on, is never one of
 * several. */
static gboolean
may_choose(const Fabric *fabric, uint32_t link)
{
    const Link *it = fabric_link(fabric, link);
    uint32_t n_out, parallel = 0, onward = 0;
    const uint32_t *out = fabric_out(fabric, it->src, &n_out);
    if (!is_end(fabric, it->dst)) {
        for (uint32_t i = 0; i < n_out; i++) {
            const Link *other = fabric_link(fabric, out[i]);
            onward += class_of(other) == class_of(it) &&
                      (!is_end(fabric, other->dst) || fabric_node(fabric, other->dst)->kind == NODE_GPU);
        }
        return onward > 1;
    }
    for (uint32_t i = 0; i < n_out; i++)
        parallel += fabric_link(fabric, out[i])->dst == it->dst;
    return parallel > 1 || fabric_node(fabric, it->src)->kind == NODE_GPU;
}

Losses *
losses_new(Network *network, const MaxMin *solver, Usage *usage, DemandMaker *maker, const double *capacity)
{
    Losses *losses = g_new0(Losses, 1);
    losses->network = network;
    losses->solver = solver;
    losses->usage = usage;
    losses->maker = maker;
    losses->capacity = capacity;
    losses->fabric = routes_fabric(network->routes);
    uint32_t n_links = fabric_n_links(losses->fabric);
    losses->original = g_memdup2(capacity, n_links * sizeof *capacity);
    losses->meter = loss_meter_new(n_links, network->config.bucket_ps, usage);
    losses->claims = claims_new(losses->meter, losses_book_claim, losses);
    losses->full = g_new0(uint8_t, n_links + 1);
    losses->choice = g_new0(uint8_t, n_links + 1);
    losses->reduced = g_new0(uint8_t, n_links + 1);
    losses->seen = g_new0(uint32_t, n_links + 1);
    losses->free_part = INDEX_NONE;
    if (network->config.collisions && routes_policy(network->routes) != ROUTING_SPRAY) {
        losses->groups = loss_groups_new(solver, n_links);
        for (uint32_t l = 0; l < n_links; l++)
            losses->choice[l] = may_choose(losses->fabric, l);
    }
    usage_set_hook(usage, run_on, losses);
    return losses;
}

void
losses_free(Losses *losses)
{
    if (losses == NULL)
        return;
    claims_free(losses->claims);
    loss_meter_free(losses->meter);
    loss_groups_free(losses->groups);
    maxmin_free(losses->alone);
    loss_spread_free(losses->spread);
    Row *rows[] = {&losses->all, &losses->queue, &losses->suspects, &losses->dirty, &losses->resized};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_free(rows[i]->items);
    g_free(losses->original);
    g_free(losses->victims);
    g_free(losses->parts);
    g_free(losses->flows_of_job);
    g_free(losses->alone_owner);
    g_free(losses->full);
    g_free(losses->choice);
    g_free(losses->reduced);
    g_free(losses->owner_of);
    g_free(losses->seen);
    g_free(losses->uses);
    g_free(losses);
}

static void
enqueue(Losses *losses, uint32_t activity)
{
    if (losses->victims[activity].flags & QUEUED)
        return;
    losses->victims[activity].flags |= QUEUED;
    row_add(&losses->queue, activity);
}

static void
set_owner(uint32_t **owners, uint32_t *room, uint32_t flow, uint32_t activity)
{
    if (flow >= *room) {
        *room = MAX(flow + 1, MAX(256, 2 * *room));
        *owners = g_renew(uint32_t, *owners, *room);
    }
    (*owners)[flow] = activity;
}

/* The shadow in which only the flow's job exists: the same uses, on links of the job's own. */
static void
shadow_alone(Losses *losses, uint32_t activity)
{
    Victim *victim = &losses->victims[activity];
    uint32_t n = maxmin_n_uses(losses->solver, victim->flow);
    if (n > losses->uses_room) {
        losses->uses_room = MAX(n, 2 * losses->uses_room);
        losses->uses = g_renew(MaxMinUse, losses->uses, losses->uses_room);
    }
    for (uint32_t p = losses->alone_links; p < usage_n_pairs(losses->usage); p++)
        losses->alone_links = 1 + maxmin_add_link(losses->alone, losses->capacity[usage_pair_link(losses->usage, p)]);
    for (uint32_t i = 0; i < n; i++) {
        losses->uses[i] = maxmin_use(losses->solver, victim->flow, i);
        losses->uses[i].link = usage_book_pair(losses->usage, victim->book, i);
    }
    victim->alone = maxmin_add(losses->alone, losses->uses, n, maxmin_weight(losses->solver, victim->flow),
                               maxmin_cap(losses->solver, victim->flow));
    set_owner(&losses->alone_owner, &losses->alone_room, victim->alone, activity);
}

/* From the first time that two jobs have flows. */
static void
begin_alone(Losses *losses)
{
    losses->alone = maxmin_new(0);
    for (uint32_t i = 0; i < losses->all.n; i++)
        if (losses->victims[losses->all.items[i]].flow != INDEX_NONE)
            shadow_alone(losses, losses->all.items[i]);
}

/* From the first time that a flow may collide. */
static void
begin_spread(Losses *losses)
{
    losses->spread = loss_spread_new(losses->network, losses->maker, losses->capacity);
    for (uint32_t i = 0; i < losses->all.n; i++)
        if (losses->victims[losses->all.items[i]].flow != INDEX_NONE)
            loss_spread_enter(losses->spread, losses->all.items[i]);
}

static void
count_job(Losses *losses, uint32_t job)
{
    if (job >= losses->jobs_room) {
        uint32_t room = MAX(job + 1, 2 * losses->jobs_room);
        losses->flows_of_job = g_renew(uint32_t, losses->flows_of_job, room);
        memset(losses->flows_of_job + losses->jobs_room, 0, (room - losses->jobs_room) * sizeof *losses->flows_of_job);
        losses->jobs_room = room;
    }
    losses->n_jobs += losses->flows_of_job[job]++ == 0;
}

static void
add_victim(Losses *losses, uint32_t activity, Victim victim)
{
    if (activity >= losses->victims_room) {
        losses->victims_room = MAX(activity + 1, MAX(256, 2 * losses->victims_room));
        losses->victims = g_renew(Victim, losses->victims, losses->victims_room);
    }
    const Activity *row = activities_get(losses->network->activities, activity);
    victim.alone = victim.parts = INDEX_NONE;
    victim.job = row->first.job;
    victim.iteration = row->first.iteration;
    victim.place = losses->all.n;
    losses->victims[activity] = victim;
    row_add(&losses->all, activity);
    count_job(losses, victim.job);
    claims_join(losses->claims, activity, row->first.coflow, row->order);
    enqueue(losses, activity);
}

void
losses_enter(Losses *losses, uint32_t activity, uint32_t flow, uint32_t book)
{
    add_victim(losses, activity, (Victim){.flow = flow, .book = book, .dead_link = INDEX_NONE});
    set_owner(&losses->owner_of, &losses->owner_room, flow, activity);
    if (losses->alone != NULL)
        shadow_alone(losses, activity);
    else if (losses->n_jobs > 1)
        begin_alone(losses);
    if (losses->spread != NULL)
        loss_spread_enter(losses->spread, activity);
}

void
losses_stall(Losses *losses, uint32_t activity, uint32_t link)
{
    add_victim(losses, activity, (Victim){.flow = INDEX_NONE, .book = INDEX_NONE, .dead_link = link});
}

void
losses_leave(Losses *losses, uint32_t activity)
{
    Victim *victim = &losses->victims[activity];
    claims_leave(losses->claims, activity);
    losses_drop_parts(losses, victim);
    if (victim->alone != INDEX_NONE)
        maxmin_remove(losses->alone, victim->alone);
    if (losses->spread != NULL)
        loss_spread_leave(losses->spread, activity);
    uint32_t last = losses->all.items[--losses->all.n];
    losses->all.items[victim->place] = last;
    losses->victims[last].place = victim->place;
    losses->n_jobs -= --losses->flows_of_job[victim->job] == 0;
    victim->flow = INDEX_NONE;
    victim->flags = 0;
}

void
losses_capacity(Losses *losses, uint32_t link, double capacity)
{
    losses->reduced[link] = capacity > 0 && capacity < losses->original[link];
    for (uint32_t p = usage_first_pair(losses->usage, link); p != INDEX_NONE; p = usage_next_pair(losses->usage, p))
        if (p < losses->alone_links)
            maxmin_set_capacity(losses->alone, p, capacity);
    if (losses->spread != NULL)
        losses->respread = TRUE;
    row_add(&losses->resized, link);
    losses->look_at_all = TRUE;
}

static void
meet(Losses *losses, uint32_t link)
{
    if (losses->seen[link] == losses->settlings)
        return;
    losses->seen[link] = losses->settlings;
    row_add(&losses->dirty, link);
}

/* The links whose load, level or mix of jobs may have changed. */
static void
find_dirty(Losses *losses, const uint32_t *activities, uint32_t n)
{
    losses->dirty.n = 0;
    losses->settlings++;
    uint32_t n_links;
    const uint32_t *links = maxmin_touched_links(losses->solver, &n_links);
    for (uint32_t i = 0; i < n_links; i++)
        meet(losses, links[i]);
    for (uint32_t i = 0; i < losses->resized.n; i++)
        meet(losses, losses->resized.items[i]);
    losses->resized.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t flow = losses->victims[activities[i]].flow;
        for (uint32_t u = 0; u < maxmin_n_uses(losses->solver, flow); u++)
            meet(losses, maxmin_use(losses->solver, flow, u).link);
    }
}

static gboolean
has_part_at(const Losses *losses, const Victim *victim, uint32_t link)
{
    for (uint32_t p = victim->parts; p != INDEX_NONE; p = losses->parts[p].next)
        if (losses->parts[p].link == link)
            return TRUE;
    return FALSE;
}

/* Flows that a link holds, or did. */
static void
enqueue_held(Losses *losses, uint32_t link)
{
    for (uint32_t i = 0; i < maxmin_n_on_link(losses->solver, link); i++) {
        uint32_t flow = maxmin_on_link(losses->solver, link, i), activity = losses->owner_of[flow];
        if (losses->victims[activity].flags & QUEUED)
            continue;
        if (maxmin_is_bottleneck(losses->solver, flow, link) || has_part_at(losses, &losses->victims[activity], link))
            enqueue(losses, activity);
    }
}

/* Counts the full links that two jobs share; where losses may be, looks again at whom a changed link holds. */
static void
refresh_links(Losses *losses)
{
    for (uint32_t i = 0; i < losses->dirty.n; i++) {
        uint32_t link = losses->dirty.items[i];
        uint8_t was = losses->full[link], is = 0;
        if (isfinite(maxmin_link_level(losses->solver, link)))
            is = usage_jobs_on(losses->usage, link) > 1 ? 2 : 1;
        losses->n_shared += (is == 2) - (was == 2);
        losses->full[link] = is;
        if (was + is > 0 &&
            (was == 2 || is == 2 || losses->reduced[link] || losses->choice[link] || losses->n_shared > 0))
            enqueue_held(losses, link);
    }
    if (losses->groups == NULL)
        return;
    uint32_t n_flipped, n;
    const uint32_t *flipped = loss_groups_refresh(losses->groups, losses->dirty.items, losses->dirty.n, &n_flipped);
    for (uint32_t i = 0; i < n_flipped; i++) {
        const uint32_t *links = loss_groups_links(losses->groups, flipped[i], &n);
        for (uint32_t l = 0; l < n; l++)
            if (losses->full[links[l]])
                enqueue_held(losses, links[l]);
    }
}

/* Remembers whose rate changed while nothing was lost to other jobs: their rates alone are not known anew. */
static void
suspect(Losses *losses, const uint32_t *activities, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (losses->victims[activities[i]].flags & SUSPECT)
            continue;
        losses->victims[activities[i]].flags |= SUSPECT;
        row_add(&losses->suspects, activities[i]);
    }
    if (losses->suspects.n < 2 * (uint64_t)losses->all.n + 1024)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < losses->suspects.n; i++) {
        uint32_t activity = losses->suspects.items[i];
        if (!(losses->victims[activity].flags & SUSPECT))
            continue;
        losses->victims[activity].flags &= ~(uint32_t)SUSPECT; /* once only */
        losses->suspects.items[kept++] = activity;
    }
    losses->suspects.n = kept;
    for (uint32_t i = 0; i < kept; i++)
        losses->victims[losses->suspects.items[i]].flags |= SUSPECT;
}

static void
solve_alone(Losses *losses)
{
    uint32_t n;
    const uint32_t *changed = maxmin_solve(losses->alone, &n);
    for (uint32_t i = 0; i < n; i++)
        enqueue(losses, losses->alone_owner[changed[i]]);
    for (uint32_t i = 0; i < losses->suspects.n; i++) {
        uint32_t activity = losses->suspects.items[i];
        if (losses->victims[activity].flags & SUSPECT)
            enqueue(losses, activity);
        losses->victims[activity].flags &= ~(uint32_t)SUSPECT;
    }
    losses->suspects.n = 0;
}

static void
enqueue_losing(Losses *losses)
{
    for (uint32_t i = 0; i < losses->all.n; i++)
        if (claims_get(losses->claims, losses->all.items[i], LOST_CONTENTION) > 0)
            enqueue(losses, losses->all.items[i]);
}

/* Looks at all that are queued, including those that the solve of the spread flows adds. */
static void
look_at_queued(Losses *losses)
{
    uint32_t n = losses->queue.n;
    for (uint32_t i = 0; i < n; i++)
        if (losses->victims[losses->queue.items[i]].flags & QUEUED)
            losses_look(losses, losses->queue.items[i]);
    if (losses->n_candidates > 0) {
        if (losses->spread == NULL)
            begin_spread(losses);
        else if (losses->respread)
            loss_spread_restart(losses->spread);
        losses->respread = FALSE;
        uint32_t n_changed;
        const uint32_t *changed = loss_spread_solve(losses->spread, &n_changed);
        for (uint32_t i = 0; i < n_changed; i++)
            if (losses->victims[changed[i]].flags & CANDIDATE)
                enqueue(losses, changed[i]);
    }
    for (uint32_t i = 0; i < losses->queue.n; i++) {
        uint32_t activity = losses->queue.items[i];
        if (!(losses->victims[activity].flags & QUEUED))
            continue;
        losses->victims[activity].flags &= ~(uint32_t)QUEUED;
        losses_look_at_collision(losses, activity);
    }
    losses->queue.n = 0;
}

void
losses_settle(Losses *losses, const uint32_t *activities, uint32_t n, SimTime now)
{
    find_dirty(losses, activities, n);
    refresh_links(losses);
    for (uint32_t i = 0; i < n; i++)
        enqueue(losses, activities[i]);
    for (uint32_t i = 0; losses->look_at_all && i < losses->all.n; i++)
        enqueue(losses, losses->all.items[i]);
    losses->look_at_all = FALSE;
    gboolean crowded = losses->n_shared > 0;
    if (crowded)
        solve_alone(losses);
    else if (losses->alone != NULL)
        suspect(losses, activities, n);
    if (losses->was_crowded && !crowded)
        enqueue_losing(losses);
    losses->was_crowded = crowded;
    look_at_queued(losses);
    claims_settle(losses->claims, now);
}

uint32_t
losses_n_candidates(const Losses *losses)
{
    return losses->n_candidates;
}

gboolean
losses_is_fixed(const Losses *losses, uint32_t link)
{
    return losses->groups == NULL || !losses->choice[link];
}

gboolean
losses_is_plain(const Losses *losses, uint32_t link, gboolean crowded)
{
    return !losses->reduced[link] && !(crowded && losses->groups != NULL && losses->choice[link]);
}

void
losses_finish(Losses *losses, SimTime now)
{
    loss_meter_finish(losses->meter, now, &losses->network->observer);
}

LossMeter *
losses_meter(const Losses *losses)
{
    return losses->meter;
}
