/* fluid_reroute.c - links that die, change and come back under flows
 *
 * A flow whose route dies is routed anew with what is left of it, or stands still until a link is back. Routes learn of
 * a link's death or return after the reroute delay; until then a flow whose way is dead stands still. What was
 * rerouted, and what is split over paths, does not go back by itself. */
#include "network/fluid_state.h"

#include "base/index.h"

/* A dead link on the way that routes do not know of yet; INDEX_NONE. */
uint32_t
fluid_dead_link(const Fluid *self, const Demand *demand)
{
    for (uint32_t i = 0; self->base.config.reroute_delay_ps > 0 && i < demand->n; i++)
        if (self->capacity[demand->uses[i].link] == 0)
            return demand->uses[i].link;
    return INDEX_NONE;
}

/* It stands still until this link is back or routes have changed. */
void
fluid_stall(Fluid *self, uint32_t number, uint32_t link)
{
    self->flows[number].dead_link = link;
    numbers_add(&self->stalled, number);
    if (self->losses != NULL)
        losses_stall(self->losses, number, link);
    fluid_unsettle(self);
}

/* Of its largest member, whole bytes that have left on any route. */
static uint64_t
bytes_moved(const FluidFlow *flow)
{
    Count whole_left = flow->left <= 0 ? 0 : (flow->left + BYTE - 1) / BYTE;
    return flow->largest - (uint64_t)whole_left;
}

/* What is still to go of a member of so many bytes. */
static uint64_t
bytes_left(const FluidFlow *flow, uint64_t bytes)
{
    return bytes - (uint64_t)((unsigned __int128)bytes * bytes_moved(flow) / flow->largest);
}

/* The demand of what is left of a flow; FALSE: there is no way. */
static gboolean
make_rest(Fluid *self, uint32_t number, Demand *demand)
{
    const Activity *activity = activities_get(self->base.activities, number);
    const FluidFlow *flow = &self->flows[number];
    uint32_t n = activity->n_members;
    if (activity->pairs != NULL) {
        AllPairs pairs = *activity->pairs;
        g_autofree uint64_t *bytes = g_new(uint64_t, pairs.n);
        for (uint32_t i = 0; i < pairs.n; i++)
            bytes[i] = bytes_left(flow, pairs.bytes[i]);
        pairs.bytes = bytes;
        return fluid_claim_demand(self, &pairs, NULL, 0, demand, NULL);
    }
    g_autofree Transfer *members = g_memdup2(activity_members(activity), n * sizeof *members);
    for (uint32_t i = 0; i < n; i++)
        members[i].bytes = bytes_left(flow, members[i].bytes);
    return fluid_claim_demand(self, NULL, members, n, demand, NULL);
}

/* Looks for a way for what is left of a flow that is out of the solver; without one it stands still. */
static void
route_rest(Fluid *self, uint32_t number, uint32_t dead)
{
    Demand demand;
    if (!make_rest(self, number, &demand)) {
        fluid_stall(self, number, dead);
        return;
    }
    uint32_t unknown = fluid_dead_link(self, &demand);
    if (unknown != INDEX_NONE) {
        fluid_stall(self, number, unknown);
        return;
    }
    Activity *activity = activities_get(self->base.activities, number);
    FluidFlow *flow = &self->flows[number];
    if (activity->single) /* the last byte goes this way */
        activity->latency_ps = demand.latency_ps;
    flow->before = bytes_moved(flow);
    flow->rate_Bps = 0;
    flow->since = fluid_now(self);
    fluid_enter(self, number, &demand, INDEX_NONE);
}

/* Of what the flow was to move on its present links only so much has gone, now. */
static void
cut_book(Fluid *self, uint32_t number, uint64_t bytes)
{
    FluidFlow *flow = &self->flows[number];
    const Activity *activity = activities_get(self->base.activities, number);
    uint32_t n;
    g_autofree MaxMinUse *uses = fluid_uses(self, flow->flow, &n);
    const uint64_t *parts =
        activity->n_members == 1 ? demand_part(self->maker, uses, n, activity->first.src, bytes) : NULL;
    usage_cut(self->usage, flow->book, bytes, parts, fluid_now(self));
}

/* The link is dead: what crosses it goes another way, or stands still. */
static void
reroute(Fluid *self, uint32_t link)
{
    self->moved.n = 0;
    for (uint32_t i = 0; i < maxmin_n_on_link(self->solver, link); i++) {
        uint32_t flow = maxmin_on_link(self->solver, link, i), number = self->activity_of[flow];
        if (self->flows[number].flow == flow) /* not one that is leaving */
            numbers_add(&self->moved, number);
    }
    fluid_sort(self, &self->moved);
    SimTime now = fluid_now(self);
    for (uint32_t i = 0; i < self->moved.n; i++) {
        uint32_t number = self->moved.items[i];
        FluidFlow *flow = &self->flows[number];
        fluid_leave_clock(self, number);
        fluid_bring_up(flow, now);
        uint64_t moved = bytes_moved(flow);
        if (self->usage != NULL)
            cut_book(self, number, moved - flow->before);
        fluid_leave(self, number);
        if (moved < flow->largest)
            route_rest(self, number, link);
        else /* it ends in this instant */
            activities_sent_in(self->base.activities, number, 0);
    }
}

static void
retry_stalled(Fluid *self)
{
    uint32_t n = self->stalled.n;
    g_autofree uint32_t *numbers = g_memdup2(self->stalled.items, n * sizeof *numbers);
    self->stalled.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (self->losses != NULL)
            losses_leave(self->losses, numbers[i]);
        route_rest(self, numbers[i], self->flows[numbers[i]].dead_link);
    }
}

/* Routes know of the link's state from now on. */
static void
learn(Fluid *self, uint32_t link)
{
    link_claims_touch_all(self->claims, TRUE); /* ways change elsewhere, too */
    self->changes++;
    self->base.changes++;
    routes_set_alive(self->base.routes, link, self->capacity[link] > 0);
}

/* A reroute delay after a link died or came back. */
void
fluid_handle_reroute(void *owner, const Event *event)
{
    Fluid *self = owner;
    learn(self, event->target);
    if (self->losses != NULL) /* what is split over ways has others now */
        losses_capacity(self->losses, event->target, self->capacity[event->target]);
    fluid_unsettle(self);
    retry_stalled(self);
}

void
fluid_set_link(Network *network, uint32_t link, double rate_Bps)
{
    Fluid *self = (Fluid *)network;
    gboolean was_dead = self->capacity[link] == 0, dead = rate_Bps == 0;
    link_claims_touch(self->claims, link);
    self->changes++;
    self->capacity[link] = rate_Bps * network->config.payload_fraction;
    fluid_unsettle(self);
    if (dead != was_dead && network->config.reroute_delay_ps > 0)
        engine_schedule_in(network->engine, network->config.reroute_delay_ps,
                           (Event){.kind = self->kind_reroute, .target = link, .sender = NETWORK_SENDER});
    else if (dead != was_dead)
        learn(self, link);
    if (dead)
        reroute(self, link);
    maxmin_set_capacity(self->solver, link, self->capacity[link]);
    if (self->losses != NULL)
        losses_capacity(self->losses, link, self->capacity[link]);
    if (was_dead && !dead)
        retry_stalled(self);
}
