/* analytic.c - alpha-beta without contention: what the other models must equal where a transfer is alone
 *
 * A transfer of s bytes lasts s / (least capacity on its route, or its cap) and arrives a path latency later, whatever
 * else is under way. On top come the host costs of LogGOPS (Hoefler, Schneider, Lumsdaine, "LogGOPSim", 2010), 0 by
 * default: a sender's CPU is busy o + (s - 1) O before the message may leave, its NIC g + (s - 1) G with it, a
 * receiver's likewise from the arrival on; each serves one message after another, in the order they come. The last byte
 * leaves (s - 1) G + s / rate after the NIC begins. A message above S bytes first asks and is answered: twice the
 * latency and o. A change of a link counts for transfers that start later. */
#include "network/demand.h"
#include "network/usage.h"

#include <assert.h>
#include <math.h>

typedef struct {
    SimTime cpu, nic_out, nic_in; /* free from then on */
} Host;

typedef struct {
    uint32_t book;
    double rate;
} Moving;

typedef struct {
    Network base;
    DemandMaker *maker;
    double *capacity; /* by link */
    Usage *usage;     /* NULL: no books */
    Host *hosts;      /* by node */
    Moving *moving;   /* by activity */
    uint32_t moving_room;
    gboolean host_costs;
    uint32_t kind_begin, kind_arrive;
} Analytic;

static void handle_begin(void *owner, const Event *event);
static void handle_arrive(void *owner, const Event *event);
static void on_sent(void *owner, uint32_t activity);

static const double *
capacities(const Network *network)
{
    return ((const Analytic *)network)->capacity;
}

static void
init(Network *network)
{
    Analytic *self = (Analytic *)network;
    const Fabric *fabric = routes_fabric(network->routes);
    const LogGops *costs = &network->config.loggops;
    self->maker = demand_maker_new(network);
    self->capacity = g_new(double, MAX(1, fabric_n_links(fabric)));
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++)
        self->capacity[l] = fabric_link(fabric, l)->capacity_Bps * network->config.payload_fraction;
    if (network->config.books)
        self->usage = usage_new(fabric_n_links(fabric), network->config.bucket_ps, &network->observer);
    self->hosts = g_new0(Host, fabric_n_nodes(fabric));
    self->host_costs =
        costs->o_ps > 0 || costs->g_ps > 0 || costs->O_s_per_B > 0 || costs->G_s_per_B > 0 || costs->S_B > 0;
    self->kind_begin = engine_add_kind(network->engine, handle_begin, self);
    self->kind_arrive = engine_add_kind(network->engine, handle_arrive, self);
    activities_on_sent(network->activities, on_sent, self);
}

static void
destroy(Network *network)
{
    Analytic *self = (Analytic *)network;
    demand_maker_free(self->maker);
    usage_free(self->usage);
    g_free(self->capacity);
    g_free(self->hosts);
    g_free(self->moving);
}

/* base + (bytes - 1) x per byte; a message of no byte costs base. */
static SimTime
cost(SimTime base_ps, double s_per_B, uint64_t bytes)
{
    SimTime more = 0;
    if (bytes > 1 && !sim_time_from_seconds((double)(bytes - 1) * s_per_B, &more))
        more = SIM_TIME_MAX / 4;
    return base_ps + more;
}

/* Bytes of the largest member: what host costs count. */
static uint64_t
message_bytes(const Activity *activity)
{
    uint64_t largest = 0;
    uint32_t n = activity->pairs != NULL ? activity->pairs->n : activity->n_members;
    for (uint32_t i = 0; i < n; i++)
        largest =
            MAX(largest, activity->pairs != NULL ? activity->pairs->bytes[i] : activity_members(activity)[i].bytes);
    return largest;
}

/* When the last byte has left, begun now. */
static SimTime
sending_time(Analytic *self, const Demand *demand)
{
    SimTime time = 0;
    double rate_Bps = demand_rate_alone(demand, self->capacity), bytes = (double)demand->largest;
    if (demand->ramp.round_trip_ps > 0 && demand->ramp.first_Bps < rate_Bps) {
        if (!sim_time_from_seconds(path_ramp_seconds(&demand->ramp, bytes, rate_Bps), &time))
            time = SIM_TIME_MAX / 2;
    } else if (demand->largest > 0 && !sim_time_from_bytes(bytes, rate_Bps, &time)) {
        time = SIM_TIME_MAX / 2;
    }
    return time + cost(0, self->base.config.loggops.G_s_per_B, demand->largest);
}

static void
remember(Analytic *self, uint32_t number, Moving moving)
{
    if (number >= self->moving_room) {
        self->moving_room = MAX(number + 1, MAX(256, 2 * self->moving_room));
        self->moving = g_renew(Moving, self->moving, self->moving_room);
    }
    self->moving[number] = moving;
}

/* The first byte leaves now. */
static gboolean
begin(Analytic *self, uint32_t number, GError **error)
{
    Network *network = &self->base;
    Activity *activity = activities_get(network->activities, number);
    Demand demand;
    if (!demand_make_activity(self->maker, activity, FALSE, &demand, error))
        return FALSE;
    if (activity->single)
        activity->latency_ps = demand.latency_ps;
    Moving moving = {.book = INDEX_NONE};
    SimTime time = sending_time(self, &demand);
    if (demand.largest > 0 && self->usage != NULL && time > 0) {
        moving.book = usage_begin(self->usage, activity->first.job, &demand, engine_now(network->engine));
        usage_set_rate(self->usage, moving.book, (double)demand.largest / sim_time_seconds(time),
                       engine_now(network->engine));
    }
    remember(self, number, moving);
    activities_sent_in(network->activities, number, time);
    return TRUE;
}

static void
handle_begin(void *owner, const Event *event)
{
    Analytic *self = owner;
    GError *error = NULL;
    if (!begin(self, event->target, &error))
        engine_fail(self->base.engine, error);
}

/* The host takes it in, message after message. */
static void
handle_arrive(void *owner, const Event *event)
{
    Analytic *self = owner;
    const LogGops *costs = &self->base.config.loggops;
    const Activity *activity = activities_get(self->base.activities, event->target);
    Host *host = &self->hosts[activity->first.dst];
    uint64_t bytes = message_bytes(activity);
    SimTime now = engine_now(self->base.engine);
    SimTime begun = MAX(now, MAX(host->cpu, host->nic_in));
    host->cpu = begun + cost(costs->o_ps, costs->O_s_per_B, bytes);
    host->nic_in = begun + cost(costs->g_ps, costs->G_s_per_B, bytes);
    activities_delivered_in(self->base.activities, event->target, host->cpu - now);
}

static void
on_sent(void *owner, uint32_t number)
{
    Analytic *self = owner;
    const Activity *activity = activities_get(self->base.activities, number);
    if (self->moving[number].book != INDEX_NONE)
        usage_end(self->usage, self->moving[number].book, engine_now(self->base.engine));
    if (!self->host_costs || activity->first.src == activity->first.dst) {
        activities_delivered_in(self->base.activities, number, activity->latency_ps);
        return;
    }
    engine_schedule_in(self->base.engine, activity->latency_ps,
                       (Event){.kind = self->kind_arrive, .target = number, .sender = NETWORK_SENDER});
}

/* The sender's CPU, then its NIC, then the wire. */
static gboolean
start(Network *network, uint32_t number, GError **error)
{
    Analytic *self = (Analytic *)network;
    Activity *activity = activities_get(network->activities, number);
    if (!self->host_costs || activity->first.src == activity->first.dst)
        return begin(self, number, error);
    Demand demand;
    if (!demand_make_activity(self->maker, activity, FALSE, &demand, error))
        return FALSE;
    const LogGops *costs = &network->config.loggops;
    SimTime now = engine_now(network->engine);
    Host *host = &self->hosts[activity->first.src];
    uint64_t bytes = message_bytes(activity);
    host->cpu = MAX(now, host->cpu) + cost(costs->o_ps, costs->O_s_per_B, bytes);
    SimTime ready = host->cpu;
    if (costs->S_B > 0 && bytes > costs->S_B)
        ready += 2 * (demand.latency_ps + costs->o_ps);
    SimTime begun = MAX(ready, host->nic_out);
    host->nic_out = begun + cost(costs->g_ps, costs->G_s_per_B, bytes);
    remember(self, number, (Moving){.book = INDEX_NONE});
    engine_schedule(network->engine,
                    (Event){.when = begun, .kind = self->kind_begin, .target = number, .sender = NETWORK_SENDER});
    return TRUE;
}

static void
set_link(Network *network, uint32_t link, double rate_Bps)
{
    Analytic *self = (Analytic *)network;
    if ((rate_Bps > 0) != (self->capacity[link] > 0))
        routes_set_alive(network->routes, link, rate_Bps > 0);
    self->capacity[link] = rate_Bps * network->config.payload_fraction;
}

static gboolean
probe(Network *network, const Transfer *transfer, NetworkProbe *result, GError **error)
{
    Analytic *self = (Analytic *)network;
    Transfer sized = *transfer;
    sized.bytes = MAX(1, sized.bytes);
    Demand demand;
    if (!demand_make(self->maker, &sized, 1, FALSE, &demand, error))
        return FALSE;
    *result = (NetworkProbe){.latency_ps = demand.latency_ps,
                             .rate_Bps = demand.n > 0 ? demand_rate_alone(&demand, self->capacity) : INFINITY};
    return TRUE;
}

static void
finish(Network *network)
{
    Analytic *self = (Analytic *)network;
    if (self->usage != NULL)
        usage_finish(self->usage, engine_now(network->engine));
}

static void
books(const Network *network, Usage **usage, struct LossMeter **meter)
{
    *usage = ((const Analytic *)network)->usage;
}

const NetworkModel network_analytic = {
    .name = "analytic",
    .help = "latency and bandwidth without contention; optional LogGOPS host costs",
    .moves_bytes = TRUE,
    .size = sizeof(Analytic),
    .init = init,
    .destroy = destroy,
    .start = start,
    .set_link = set_link,
    .probe = probe,
    .capacities = capacities,
    .finish = finish,
    .books = books,
};
