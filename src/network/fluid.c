/* fluid.c - flows at weighted max-min fair rates
 *
 * Bytes left are counted exactly (count.h), so that an end is the ceiling of the exact end however often the rate
 * changed. Starts, ends and link changes of one instant are gathered and solved once, in the engine's settler. A flow
 * that a link holds is on that link's clock (link_clock.h); the others, held by a cap or of another weight, count by
 * themselves, their ends in a heap. What ends at one time is told in the order of creation; the engine holds one event
 * for the earliest. Links that die are in fluid_reroute.c, flows that ramp up in fluid_ramp.c. */
#include "network/fluid_state.h"

#include "base/big_array.h"
#include "base/index.h"

#include <assert.h>
#include <math.h>

void
numbers_add(Numbers *numbers, uint32_t number)
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
        numbers_add(numbers, items[i]);
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
void
fluid_unsettle(Fluid *self)
{
    if (!self->unsettled && engine_events(self->base.engine) == self->settled_events)
        engine_schedule_in(self->base.engine, 0,
                           (Event){.kind = self->kind_wake, .sender = NETWORK_SENDER, .stamp = INDEX_NONE});
    self->unsettled = TRUE;
}

void
fluid_add(Fluid *self, uint32_t number, const MaxMinUse *uses, uint32_t n, double weight, double cap_Bps)
{
    FluidFlow *flow = &self->flows[number];
    flow->flow = maxmin_add(self->solver, uses, n, weight, cap_Bps);
    if (flow->flow >= self->activity_of_room) {
        self->activity_of_room = MAX(flow->flow + 1, MAX(256, 2 * self->activity_of_room));
        self->activity_of = g_renew(uint32_t, self->activity_of, self->activity_of_room);
    }
    self->activity_of[flow->flow] = number;
}

void
fluid_enter(Fluid *self, uint32_t number, const Demand *demand, uint32_t book)
{
    FluidFlow *flow = &self->flows[number];
    fluid_add(self, number, demand->uses, demand->n, demand->weight, fluid_begin_ramp(self, number, demand));
    count_load(self, flow->flow, 1);
    if (self->usage != NULL) {
        uint32_t job = activities_get(self->base.activities, number)->first.job;
        flow->book = book != INDEX_NONE ? book : usage_begin(self->usage, job, demand, fluid_now(self));
        losses_enter(self->losses, number, flow->flow, flow->book);
    }
    fluid_unsettle(self);
}

/* Off the clock of a link, if it is on one: from now on it counts by itself, at the same rate. */
void
fluid_leave_clock(Fluid *self, uint32_t number)
{
    uint32_t link = link_clocks_link(self->clocks, number);
    if (link == INDEX_NONE)
        return;
    FluidFlow *flow = &self->flows[number];
    flow->rate_Bps = link_clocks_rate(self->clocks, link);
    flow->since = fluid_now(self);
    flow->left = link_clocks_leave(self->clocks, number, flow->since);
}

void
fluid_leave(Fluid *self, uint32_t number)
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
    fluid_leave_clock(self, number);
    end_heap_remove(self->ends, number);
    fluid_unsettle(self);
}

/* The links that a flow uses, as an array; the caller frees it. */
MaxMinUse *
fluid_uses(const Fluid *self, uint32_t flow, uint32_t *n)
{
    *n = maxmin_n_uses(self->solver, flow);
    MaxMinUse *uses = g_new(MaxMinUse, *n);
    for (uint32_t i = 0; i < *n; i++)
        uses[i] = maxmin_use(self->solver, flow, i);
    return uses;
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

/* Of all pairs, or of members where there are none; whoever claims a link of it is released. */
gboolean
fluid_claim_demand(Fluid *self, const AllPairs *pairs, const Transfer *members, uint32_t n_members, Demand *demand,
                   GError **error)
{
    if (!ask_demand(self, pairs, members, n_members, demand, error))
        return FALSE;
    gboolean released = FALSE;
    for (uint32_t i = 0; i < demand->n && link_claims_n(self->claims) > 0; i++)
        released |= link_claims_touch(self->claims, demand->uses[i].link);
    /* Who was released may have used the maker: the same again, touching nothing more. */
    return !released || fluid_claim_demand(self, pairs, members, n_members, demand, error);
}

gboolean
fluid_demand(Fluid *self, const Transfer *members, uint32_t n_members, Demand *demand, GError **error)
{
    return fluid_claim_demand(self, NULL, members, n_members, demand, error);
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
    if (!fluid_claim_demand(self, opened->pairs, members, n, &demand, error))
        return FALSE;
    Activity *activity = activities_get(network->activities, number);
    if (activity->single)
        activity->latency_ps = demand.latency_ps;
    fluid_open(self, number, demand.largest, demand.largest * BYTE, fluid_now(self));
    if (demand.largest == 0) {
        activities_sent_in(network->activities, number, 0);
        return TRUE;
    }
    uint32_t dead = fluid_dead_link(self, &demand);
    if (dead != INDEX_NONE)
        fluid_stall(self, number, dead);
    else
        fluid_enter(self, number, &demand, INDEX_NONE);
    return TRUE;
}

/* Counts what has moved since its rate last changed. */
void
fluid_bring_up(FluidFlow *flow, SimTime now)
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
        numbers_add(&self->moved, number);
}

/* A flow's holder may be another: it goes to the clock of the link that holds it, or counts by itself. */
static void
change_holder(Fluid *self, uint32_t f)
{
    uint32_t number = self->activity_of[f], link = maxmin_holder(self->solver, f);
    FluidFlow *flow = &self->flows[number];
    fluid_leave_clock(self, number);
    fluid_bring_up(flow, fluid_now(self));
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

/* Asks for the memory that change_holder of this flow, soon to come, will touch. */
static void
fetch(const Fluid *self, uint32_t f)
{
    uint32_t number = self->activity_of[f];
    __builtin_prefetch(&self->flows[number], 1);
    end_heap_fetch(self->ends, number);
    maxmin_fetch(self->solver, f);
}

static void
solve(Fluid *self)
{
    enum { FAR = 16 };
    uint32_t n_flows, n_links;
    const uint32_t *links, *flows = maxmin_solve_by_link(self->solver, &n_flows, &links, &n_links);
    for (uint32_t i = 0; i < n_flows; i++) {
        if (i + FAR < n_flows)
            fetch(self, flows[i + FAR]);
        change_holder(self, flows[i]);
    }
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
            link_claims_touch_all(self->claims, FALSE);
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

void
fluid_sort(Fluid *self, Numbers *numbers)
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
    fluid_sort(self, &self->ended);
    for (uint32_t i = 0; i < self->ended.n; i++) {
        fetch_ended(self, i);
        if (self->usage != NULL)
            usage_end(self->usage, self->flows[self->ended.items[i]].book, now);
        fluid_leave(self, self->ended.items[i]);
    }
    for (uint32_t i = 0; i < self->ended.n; i++)
        activities_sent(self->base.activities, self->ended.items[i]);
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
    if (fluid_dead_link(self, &demand) != INDEX_NONE)
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
    self->kind_ramp = engine_add_kind(network->engine, fluid_handle_ramp, self);
    self->kind_reroute = engine_add_kind(network->engine, fluid_handle_reroute, self);
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
    link_claims_touch_all(self->claims, TRUE);
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
    .set_link = fluid_set_link,
    .probe = probe,
    .capacities = capacities,
    .finish = finish,
    .books = books,
};
