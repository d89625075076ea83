/* fluid.c - flows at weighted max-min fair rates
 *
 * Bytes left are counted in integers of 2^-32 B/s x 1 ps (rates are whole multiples of 2^-32 B/s), so that an end is
 * the ceiling of the exact end however often the rate changed. Starts, ends and link changes of one instant are
 * gathered and solved once, in the engine's settler. Ends wait in a heap of their own (by time, then order of
 * creation); the engine holds one event for the earliest. A flow whose route dies is routed anew, or stands still until
 * a link is back; what was rerouted, and what is split over paths, does not go back by itself. Routes learn of a link's
 * death or return after the reroute delay; until then a flow whose way is dead stands still. A flow that ramps up
 * enters the solver anew with twice its cap every round trip. */
#include "network/fluid_state.h"

#include "base/big_array.h"
#include "base/index.h"

#include <assert.h>
#include <math.h>

static void
add_number(Numbers *numbers, uint32_t number)
{
    if (numbers->n == numbers->room) {
        numbers->room = MAX(64, 2 * numbers->room);
        numbers->items = g_renew(uint32_t, numbers->items, numbers->room);
    }
    numbers->items[numbers->n++] = number;
}

static void
add_numbers(Numbers *numbers, const uint32_t *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        add_number(numbers, items[i]);
}

SimTime
fluid_now(const Fluid *self)
{
    return engine_now(self->base.engine);
}

/* How many flows are routed over each link, for adaptive routing. */
static void
count_load(Fluid *self, uint32_t flow, double sign)
{
    if (self->load == NULL)
        return;
    for (uint32_t i = 0; i < maxmin_n_uses(self->solver, flow); i++) {
        uint32_t link = maxmin_use(self->solver, flow, i).link;
        double raw = fabric_link(routes_fabric(self->base.routes), link)->capacity_Bps;
        self->load[link] = (round(self->load[link] * raw) + sign) / raw;
    }
}

/* A solve is due when this instant ends. Outside of any event (before a run, or in a later settler) no settling would
 * follow: an event that does nothing sees to that. */
static void
unsettle(Fluid *self)
{
    if (!self->unsettled && engine_events(self->base.engine) == self->settled_events)
        engine_schedule_in(self->base.engine, 0,
                           (Event){.kind = self->kind_wake, .sender = NETWORK_SENDER, .stamp = INDEX_NONE});
    self->unsettled = TRUE;
}

static void
add_flow(Fluid *self, uint32_t number, const MaxMinUse *uses, uint32_t n, double weight, double cap_Bps)
{
    FluidFlow *flow = &self->flows[number];
    flow->flow = maxmin_add(self->solver, uses, n, weight, cap_Bps);
    if (flow->flow >= self->activity_of_room) {
        self->activity_of_room = MAX(flow->flow + 1, MAX(256, 2 * self->activity_of_room));
        self->activity_of = g_renew(uint32_t, self->activity_of, self->activity_of_room);
    }
    self->activity_of[flow->flow] = number;
}

static void
double_later(Fluid *self, uint32_t number)
{
    FluidFlow *flow = &self->flows[number];
    flow->ramp_stamp = ++self->ramps;
    engine_schedule_in(
        self->base.engine, self->ramping[number].round_trip_ps,
        (Event){.kind = self->kind_ramp, .target = number, .sender = NETWORK_SENDER, .stamp = flow->ramp_stamp});
}

/* The cap it begins with. */
static double
begin_ramp(Fluid *self, uint32_t number, const Demand *demand)
{
    FluidFlow *flow = &self->flows[number];
    flow->ramp_stamp = 0;
    if (demand->ramp.round_trip_ps == 0)
        return demand->cap_Bps;
    double alone_Bps = demand_rate_alone(demand, self->capacity);
    if (demand->ramp.first_Bps >= alone_Bps)
        return demand->cap_Bps;
    if (number >= self->ramping_room) {
        self->ramping_room = MAX(number + 1, 2 * self->ramping_room);
        self->ramping = g_renew(Ramp, self->ramping, self->ramping_room);
    }
    self->ramping[number] = (Ramp){demand->ramp.round_trip_ps, alone_Bps, demand->cap_Bps};
    double_later(self, number);
    return demand->ramp.first_Bps;
}

void
fluid_enter(Fluid *self, uint32_t number, const Demand *demand, uint32_t book)
{
    FluidFlow *flow = &self->flows[number];
    add_flow(self, number, demand->uses, demand->n, demand->weight, begin_ramp(self, number, demand));
    count_load(self, flow->flow, 1);
    if (self->usage != NULL) {
        uint32_t job = activities_get(self->base.activities, number)->first.job;
        flow->book = book != INDEX_NONE ? book : usage_begin(self->usage, job, demand, fluid_now(self));
        losses_enter(self->losses, number, flow->flow, flow->book);
    }
    unsettle(self);
}

/* Off the clock of a link, if it is on one: from now on it counts by itself, at the same rate. */
static void
leave_clock(Fluid *self, uint32_t number)
{
    uint32_t link = link_clocks_link(self->clocks, number);
    if (link == INDEX_NONE)
        return;
    FluidFlow *flow = &self->flows[number];
    flow->rate_Bps = link_clocks_rate(self->clocks, link);
    flow->since = fluid_now(self);
    flow->left = link_clocks_leave(self->clocks, number, flow->since);
}

static void
leave_solver(Fluid *self, uint32_t number)
{
    FluidFlow *flow = &self->flows[number];
    count_load(self, flow->flow, -1);
    if (self->losses != NULL)
        losses_leave(self->losses, number);
    maxmin_remove(self->solver, flow->flow);
    flow->flow = INDEX_NONE;
    if (flow->ramp_stamp != 0)
        engine_abandon(self->base.engine, 1);
    flow->ramp_stamp = 0;
    leave_clock(self, number);
    end_heap_remove(self->ends, number);
    unsettle(self);
}

/* The links that a flow uses, as an array; the caller frees it. */
static MaxMinUse *
uses_of(const Fluid *self, uint32_t flow, uint32_t *n)
{
    *n = maxmin_n_uses(self->solver, flow);
    MaxMinUse *uses = g_new(MaxMinUse, *n);
    for (uint32_t i = 0; i < *n; i++)
        uses[i] = maxmin_use(self->solver, flow, i);
    return uses;
}

/* A round trip has passed: the same flow with twice the cap. */
static void
handle_ramp(void *owner, const Event *event)
{
    Fluid *self = owner;
    uint32_t number = event->target, n;
    FluidFlow *flow = &self->flows[number];
    if (flow->ramp_stamp != event->stamp) {
        engine_abandon(self->base.engine, -1);
        return;
    }
    double cap_Bps = 2 * maxmin_cap(self->solver, flow->flow), weight = maxmin_weight(self->solver, flow->flow);
    flow->ramp_stamp = 0;
    if (cap_Bps >= self->ramping[number].through_Bps)
        cap_Bps = self->ramping[number].cap_Bps;
    else
        double_later(self, number);
    g_autofree MaxMinUse *uses = uses_of(self, flow->flow, &n);
    if (self->losses != NULL)
        losses_leave(self->losses, number);
    maxmin_remove(self->solver, flow->flow);
    leave_clock(self, number);
    flow->told = 0;
    add_flow(self, number, uses, n, weight, cap_Bps);
    if (self->losses != NULL)
        losses_enter(self->losses, number, flow->flow, flow->book);
    unsettle(self);
}

/* Loads are set anew before each question: other networks may share the routes. */
static gboolean
ask_demand(Fluid *self, const AllPairs *pairs, const Transfer *members, uint32_t n_members, Demand *demand,
           GError **error)
{
    if (self->load != NULL)
        routes_set_loads(self->base.routes, self->load);
    if (pairs != NULL)
        return demand_make_pairs(self->maker, pairs, FALSE, demand, error);
    return demand_make(self->maker, members, n_members, FALSE, demand, error);
}

/* A dead link on the way that routes do not know of yet; INDEX_NONE. */
static uint32_t
dead_link(const Fluid *self, const Demand *demand)
{
    for (uint32_t i = 0; self->base.config.reroute_delay_ps > 0 && i < demand->n; i++)
        if (self->capacity[demand->uses[i].link] == 0)
            return demand->uses[i].link;
    return INDEX_NONE;
}

/* It stands still until this link is back or routes have changed. */
static void
stall(Fluid *self, uint32_t number, uint32_t link)
{
    self->flows[number].dead_link = link;
    add_number(&self->stalled, number);
    if (self->losses != NULL)
        losses_stall(self->losses, number, link);
    unsettle(self);
}

/* Of all pairs, or of members where there are none; whoever claims a link of it is released. */
static gboolean
claim_demand(Fluid *self, const AllPairs *pairs, const Transfer *members, uint32_t n_members, Demand *demand,
             GError **error)
{
    if (!ask_demand(self, pairs, members, n_members, demand, error))
        return FALSE;
    gboolean released = FALSE;
    for (uint32_t i = 0; i < demand->n && link_claims_n(self->claims) > 0; i++)
        released |= link_claims_touch(self->claims, demand->uses[i].link);
    /* Who was released may have used the maker: the same again, touching nothing more. */
    return !released || claim_demand(self, pairs, members, n_members, demand, error);
}

gboolean
fluid_demand(Fluid *self, const Transfer *members, uint32_t n_members, Demand *demand, GError **error)
{
    return claim_demand(self, NULL, members, n_members, demand, error);
}

FluidFlow *
fluid_open(Fluid *self, uint32_t number, uint64_t largest, Count left, SimTime since)
{
    if (number >= self->flows_room) {
        uint32_t room = MAX(number + 1, MAX(256, 2 * self->flows_room));
        self->flows = big_renew(FluidFlow, self->flows, self->flows_room, room);
        self->flows_room = room;
    }
    self->flows[number] =
        (FluidFlow){.flow = INDEX_NONE, .book = INDEX_NONE, .largest = largest, .left = left, .since = since};
    return &self->flows[number];
}

static gboolean
start(Network *network, uint32_t number, GError **error)
{
    Fluid *self = (Fluid *)network;
    fluid_hold_flush(self);
    const Activity *opened = activities_get(network->activities, number);
    Demand demand;
    Transfer first = opened->first; /* a copy: who is released opens more */
    uint32_t n = opened->n_members;
    const Transfer *members = opened->others != NULL ? opened->others : &first;
    if (!claim_demand(self, opened->pairs, members, n, &demand, error))
        return FALSE;
    Activity *activity = activities_get(network->activities, number);
    if (activity->single)
        activity->latency_ps = demand.latency_ps;
    fluid_open(self, number, demand.largest, demand.largest * BYTE, fluid_now(self));
    if (demand.largest == 0) {
        activities_sent_in(network->activities, number, 0);
        return TRUE;
    }
    uint32_t dead = dead_link(self, &demand);
    if (dead != INDEX_NONE)
        stall(self, number, dead);
    else
        fluid_enter(self, number, &demand, INDEX_NONE);
    return TRUE;
}

/* Counts what has moved since its rate last changed. */
static void
bring_up(FluidFlow *flow, SimTime now)
{
    flow->left -= count_speed(flow->rate_Bps) * (now - flow->since);
    flow->since = now;
}

/* When the flow ends at its present rate; FALSE: never, or beyond the range of time. */
static gboolean
end_of(const FluidFlow *flow, SimTime *end)
{
    SimTime time;
    return count_time(flow->left, flow->rate_Bps, &time) && sim_time_add(flow->since, time, end);
}

/* The flow counts by itself, at another rate. */
static void
set_rate(Fluid *self, uint32_t number, double rate_Bps)
{
    FluidFlow *flow = &self->flows[number];
    SimTime end;
    flow->rate_Bps = rate_Bps;
    if (end_of(flow, &end))
        end_heap_set(self->ends, number, end);
    else
        end_heap_remove(self->ends, number);
}

static void
note_rate(const Fluid *self, uint32_t number, double rate_Bps)
{
    History *history = engine_history(self->base.engine);
    Fingerprint print = {0};
    fingerprint_add(&print, fingerprint_double(rate_Bps));
    fingerprint_add(&print, history_time(history, fluid_now(self)));
    fingerprint_add(&print, activities_age(self->base.activities, number));
    history_add_set(history, print);
}

/* Whoever keeps something of each flow learns of its new rate, once a settling. */
static void
tell_rate(Fluid *self, uint32_t number, double rate_Bps)
{
    FluidFlow *flow = &self->flows[number];
    if (flow->told == self->settlings)
        return;
    flow->told = self->settlings;
    if (engine_history(self->base.engine) != NULL)
        note_rate(self, number, rate_Bps);
    if (self->usage != NULL)
        usage_set_rate(self->usage, flow->book, rate_Bps, fluid_now(self));
    if (self->losses != NULL)
        add_number(&self->moved, number);
}

/* A flow's holder may be another: it goes to the clock of the link that holds it, or counts by itself. */
static void
change_holder(Fluid *self, uint32_t f)
{
    uint32_t number = self->activity_of[f], link = maxmin_holder(self->solver, f);
    FluidFlow *flow = &self->flows[number];
    leave_clock(self, number);
    bring_up(flow, fluid_now(self));
    double rate_Bps = maxmin_rate(self->solver, f);
    if (flow->told == 0 || rate_Bps != flow->rate_Bps)
        tell_rate(self, number, rate_Bps);
    if (link == INDEX_NONE) {
        set_rate(self, number, rate_Bps);
        return;
    }
    end_heap_remove(self->ends, number);
    link_clocks_join(self->clocks, link, number, flow->left, fluid_now(self));
}

static void
change_link(Fluid *self, uint32_t link)
{
    double rate_Bps = maxmin_held_rate(self->solver, link);
    link_clocks_set_rate(self->clocks, link, rate_Bps, fluid_now(self));
    if (self->usage == NULL && engine_history(self->base.engine) == NULL)
        return;
    uint32_t n;
    const uint32_t *members = link_clocks_members(self->clocks, link, &n);
    for (uint32_t i = 0; i < n; i++)
        tell_rate(self, members[i], rate_Bps);
}

static void
wake_at_first_end(Fluid *self)
{
    SimTime end = SIM_TIME_MAX, of_clocks = SIM_TIME_MAX;
    gboolean any = end_heap_first(self->ends, &end) | link_clocks_first(self->clocks, &of_clocks);
    end = MIN(end, of_clocks);
    if (!any || end == self->wake_ps)
        return;
    self->wake_ps = end;
    engine_schedule(
        self->base.engine,
        (Event){.when = end, .kind = self->kind_wake, .sender = NETWORK_SENDER, .stamp = ++self->wake_stamp});
}

static void
note_full_links(Fluid *self)
{
    uint32_t n_links;
    const uint32_t *links = maxmin_touched_links(self->solver, &n_links);
    for (uint32_t i = 0; i < n_links && !self->base.totals.saturated; i++)
        self->base.totals.saturated = isfinite(maxmin_link_level(self->solver, links[i]));
}

static void
solve(Fluid *self)
{
    uint32_t n_flows, n_links;
    const uint32_t *links, *flows = maxmin_solve_by_link(self->solver, &n_flows, &links, &n_links);
    for (uint32_t i = 0; i < n_flows; i++)
        change_holder(self, flows[i]);
    for (uint32_t i = 0; i < n_links; i++)
        change_link(self, links[i]);
}

/* Solves for all that happened in this instant. */
static void
settle(void *owner)
{
    Fluid *self = owner;
    self->settled_events = engine_events(self->base.engine);
    while (self->unsettled) {
        self->unsettled = FALSE;
        self->settlings++;
        self->moved.n = 0;
        solve(self);
        note_full_links(self);
        if (self->losses != NULL)
            losses_settle(self->losses, self->moved.items, self->moved.n, fluid_now(self));
        /* Whoever may collide is measured against all that is under way. */
        if (self->losses != NULL && losses_n_candidates(self->losses) > 0)
            link_claims_touch_all(self->claims);
    }
    wake_at_first_end(self);
}

static int
by_order(gconstpointer a, gconstpointer b, gpointer data)
{
    Activities *activities = data;
    uint64_t x = activities_get(activities, *(const uint32_t *)a)->order;
    uint64_t y = activities_get(activities, *(const uint32_t *)b)->order;
    return (x > y) - (x < y);
}

/* Brings activities into the order of their creation, in which they mostly are. */
static void
sort_numbers(Fluid *self, Numbers *numbers)
{
    enum { FAR = 16 };
    Activities *activities = self->base.activities;
    for (uint32_t i = 1; i < numbers->n; i++) {
        if (i + FAR < numbers->n)
            __builtin_prefetch(activities_get(activities, numbers->items[i + FAR]), 1);
        if (by_order(&numbers->items[i - 1], &numbers->items[i], activities) > 0) {
            g_qsort_with_data(numbers->items, (int)numbers->n, sizeof *numbers->items, by_order, activities);
            return;
        }
    }
}

/* Asks for the memory of those that end a little later in the row, which lie anywhere. */
static void
fetch_ended(const Fluid *self, uint32_t i)
{
    enum { FAR = 16 };
    const uint32_t *numbers = self->ended.items;
    if (i + FAR >= self->ended.n)
        return;
    __builtin_prefetch(&self->flows[numbers[i + FAR]], 1);
    maxmin_fetch(self->solver, self->flows[numbers[i + FAR / 2]].flow);
}

/* Takes out all that end now, then tells their clients: what these start may take the places left. */
static void
handle_wake(void *owner, const Event *event)
{
    Fluid *self = owner;
    if (event->stamp != self->wake_stamp)
        return;
    self->wake_ps = -1;
    self->ended.n = 0;
    SimTime now = fluid_now(self);
    const uint32_t *some;
    for (uint32_t n; (some = end_heap_take(self->ends, now, &n)) != NULL;)
        add_numbers(&self->ended, some, n);
    uint32_t n_held;
    some = link_clocks_take(self->clocks, now, &n_held);
    add_numbers(&self->ended, some, n_held);
    sort_numbers(self, &self->ended);
    for (uint32_t i = 0; i < self->ended.n; i++) {
        fetch_ended(self, i);
        if (self->usage != NULL)
            usage_end(self->usage, self->flows[self->ended.items[i]].book, now);
        leave_solver(self, self->ended.items[i]);
    }
    for (uint32_t i = 0; i < self->ended.n; i++)
        activities_sent(self->base.activities, self->ended.items[i]);
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
        return claim_demand(self, &pairs, NULL, 0, demand, NULL);
    }
    g_autofree Transfer *members = g_memdup2(activity_members(activity), n * sizeof *members);
    for (uint32_t i = 0; i < n; i++)
        members[i].bytes = bytes_left(flow, members[i].bytes);
    return claim_demand(self, NULL, members, n, demand, NULL);
}

/* Looks for a way for what is left of a flow that is out of the solver; without one it stands still. */
static void
route_rest(Fluid *self, uint32_t number, uint32_t dead)
{
    Demand demand;
    if (!make_rest(self, number, &demand)) {
        stall(self, number, dead);
        return;
    }
    uint32_t unknown = dead_link(self, &demand);
    if (unknown != INDEX_NONE) {
        stall(self, number, unknown);
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
    g_autofree MaxMinUse *uses = uses_of(self, flow->flow, &n);
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
            add_number(&self->moved, number);
    }
    sort_numbers(self, &self->moved);
    SimTime now = fluid_now(self);
    for (uint32_t i = 0; i < self->moved.n; i++) {
        uint32_t number = self->moved.items[i];
        FluidFlow *flow = &self->flows[number];
        leave_clock(self, number);
        bring_up(flow, now);
        uint64_t moved = bytes_moved(flow);
        if (self->usage != NULL)
            cut_book(self, number, moved - flow->before);
        leave_solver(self, number);
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
    link_claims_touch_all(self->claims); /* ways change elsewhere, too */
    self->changes++;
    self->base.changes++;
    routes_set_alive(self->base.routes, link, self->capacity[link] > 0);
}

/* A reroute delay after a link died or came back. */
static void
handle_reroute(void *owner, const Event *event)
{
    Fluid *self = owner;
    learn(self, event->target);
    if (self->losses != NULL) /* what is split over ways has others now */
        losses_capacity(self->losses, event->target, self->capacity[event->target]);
    unsettle(self);
    retry_stalled(self);
}

static void
set_link(Network *network, uint32_t link, double rate_Bps)
{
    Fluid *self = (Fluid *)network;
    gboolean was_dead = self->capacity[link] == 0, dead = rate_Bps == 0;
    link_claims_touch(self->claims, link);
    self->changes++;
    self->capacity[link] = rate_Bps * network->config.payload_fraction;
    unsettle(self);
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

static double *
believed_capacity(const Fluid *self)
{
    const Fabric *fabric = routes_fabric(self->base.routes);
    uint32_t n_links = fabric_n_links(fabric);
    double *capacity = g_memdup2(self->capacity, n_links * sizeof *capacity);
    for (uint32_t l = 0; l < n_links; l++)
        if (capacity[l] == 0)
            capacity[l] = fabric_link(fabric, l)->capacity_Bps * self->base.config.payload_fraction;
    return capacity;
}

static gboolean
probe(Network *network, const Transfer *transfer, NetworkProbe *result, GError **error)
{
    Fluid *self = (Fluid *)network;
    Transfer sized = *transfer;
    sized.bytes = MAX(1, sized.bytes);
    Demand demand;
    if (!ask_demand(self, NULL, &sized, 1, &demand, error))
        return FALSE;
    const double *capacity = self->capacity;
    g_autofree double *known = NULL; /* what routes still believe to be there has what it had */
    if (dead_link(self, &demand) != INDEX_NONE)
        capacity = known = believed_capacity(self);
    *result = (NetworkProbe){.latency_ps = demand.latency_ps,
                             .rate_Bps = demand.n > 0 ? demand_rate_alone(&demand, capacity) : INFINITY};
    return TRUE;
}

static const double *
capacities(const Network *network)
{
    return ((const Fluid *)network)->capacity;
}

static void
init(Network *network)
{
    Fluid *self = (Fluid *)network;
    const Fabric *fabric = routes_fabric(network->routes);
    uint32_t n_links = fabric_n_links(fabric);
    self->solver = maxmin_new(n_links);
    self->maker = demand_maker_new(network);
    self->ends = end_heap_new();
    self->clocks = link_clocks_new(n_links);
    self->claims = link_claims_new(n_links);
    self->scratch = way_scratch_new(network, self->maker);
    self->capacity = g_new(double, MAX(1, n_links));
    for (uint32_t l = 0; l < n_links; l++) {
        self->capacity[l] = fabric_link(fabric, l)->capacity_Bps * network->config.payload_fraction;
        maxmin_set_capacity(self->solver, l, self->capacity[l]);
    }
    if (routes_policy(network->routes) == ROUTING_ADAPTIVE)
        self->load = g_new0(double, MAX(1, n_links));
    if (network->config.books) {
        self->usage = usage_new(n_links, network->config.bucket_ps, &network->observer);
        self->losses = losses_new(network, self->solver, self->usage, self->maker, self->capacity);
    }
    self->wake_ps = -1;
    self->kind_wake = engine_add_kind(network->engine, handle_wake, self);
    self->kind_ramp = engine_add_kind(network->engine, handle_ramp, self);
    self->kind_reroute = engine_add_kind(network->engine, handle_reroute, self);
    fluid_phase_init(self);
    engine_add_settler(network->engine, settle, self);
}

static void
destroy(Network *network)
{
    Fluid *self = (Fluid *)network;
    if (self->load != NULL)
        routes_set_loads(network->routes, NULL);
    maxmin_free(self->solver);
    demand_maker_free(self->maker);
    losses_free(self->losses);
    usage_free(self->usage);
    end_heap_free(self->ends);
    link_clocks_free(self->clocks);
    link_claims_free(self->claims);
    way_scratch_free(self->scratch);
    g_free(self->capacity);
    g_free(self->load);
    g_free(self->flows);
    g_free(self->ramping);
    g_free(self->activity_of);
    g_free(self->ended.items);
    g_free(self->moved.items);
    g_free(self->stalled.items);
}

static void
finish(Network *network)
{
    Fluid *self = (Fluid *)network;
    link_claims_touch_all(self->claims);
    if (self->usage == NULL)
        return;
    losses_finish(self->losses, fluid_now(self));
    usage_finish(self->usage, fluid_now(self));
}

static void
books(const Network *network, Usage **usage, LossMeter **meter)
{
    const Fluid *self = (const Fluid *)network;
    *usage = self->usage;
    *meter = self->losses != NULL ? losses_meter(self->losses) : NULL;
}

const NetworkModel network_fluid = {
    .name = "fluid",
    .help = "flows at max-min fair rates, solved anew when one starts or ends (default)",
    .moves_bytes = TRUE,
    .size = sizeof(Fluid),
    .init = init,
    .destroy = destroy,
    .start = start,
    .send_phase = fluid_send_phase,
    .forget_pattern = fluid_forget_pattern,
    .hold = fluid_hold,
    .start_begun = fluid_start_begun,
    .set_link = set_link,
    .probe = probe,
    .capacities = capacities,
    .finish = finish,
    .books = books,
};
