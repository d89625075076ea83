/* analytic.c - alpha-beta without contention: what the other models must equal where a transfer is alone
 *
 * A transfer of s bytes lasts s / (least capacity on its route, or its cap) and arrives a path latency later, whatever
 * else is under way. A change of a link counts for transfers that start later. On top come the host costs of LogGOPS
 * (Hoefler, Schneider, Lumsdaine, "LogGOPSim", 2010), 0 by default, by the rules of LogGOPSim: a send begins when its
 * CPU and NIC are free, its first byte comes o + L later, and the receiver takes it in once its CPU and NIC are free.
 * (s - 1) / rate stands where it is longer than (s - 1) G. */
#include "network/demand.h"
#include "network/hosts.h"
#include "network/usage.h"

#include <assert.h>
#include <math.h>

typedef struct {
    uint32_t book;
    SimTime wire_ps; /* under LogGOPS: from the first byte to the last */
} Moving;

typedef struct {
    Network base;
    DemandMaker *maker;
    double *capacity; /* by link */
    Usage *usage;     /* NULL: no books */
    Moving *moving;   /* by activity */
    uint32_t moving_room;
    Hosts *hosts; /* NULL: they cost nothing */
    uint32_t host_client;
} Analytic;

static void on_host(void *owner, const HostWork *work);
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
    if (costs->L_ps > 0 || costs->o_ps > 0 || costs->g_ps > 0 || costs->O_s_per_B > 0 || costs->G_s_per_B > 0 ||
        costs->S_B > 0) {
        self->hosts = hosts_new(network->engine, fabric_n_nodes(fabric));
        self->host_client = hosts_add_client(self->hosts, on_host, self);
    }
    activities_on_sent(network->activities, on_sent, self);
}

static void
destroy(Network *network)
{
    Analytic *self = (Analytic *)network;
    demand_maker_free(self->maker);
    usage_free(self->usage);
    g_free(self->capacity);
    hosts_free(self->hosts);
    g_free(self->moving);
}

/* base + (bytes - 1) x per byte, to the nearest picosecond; a message of no byte costs base. */
static SimTime
cost(SimTime base_ps, double s_per_B, uint64_t bytes)
{
    const SimTime most = SIM_TIME_MAX / 4;
    double more_ps = bytes > 1 ? (double)(bytes - 1) * s_per_B * 1e12 + 0.5 : 0;
    return base_ps + (more_ps < (double)most ? (SimTime)more_ps : most);
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

/* When the last of so many bytes has left, begun now. */
static SimTime
sending_time(Analytic *self, const Demand *demand, uint64_t bytes)
{
    SimTime time = 0;
    double rate_Bps = demand_rate_alone(demand, self->capacity);
    if (demand->ramp.round_trip_ps > 0 && demand->ramp.first_Bps < rate_Bps) {
        if (!sim_time_from_seconds(path_ramp_seconds(&demand->ramp, (double)bytes, rate_Bps), &time))
            time = SIM_TIME_MAX / 4;
    } else if (bytes > 0 && !sim_time_from_bytes((double)bytes, rate_Bps, &time)) {
        time = SIM_TIME_MAX / 4;
    }
    return time;
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

/* Its bytes go onto the links now, the last after sent_ps; ways by demand. */
static void
go(Analytic *self, uint32_t number, const Demand *demand, SimTime wire_ps, SimTime sent_ps)
{
    Network *network = &self->base;
    Activity *activity = activities_get(network->activities, number);
    if (activity->single)
        activity->latency_ps = demand->latency_ps;
    Moving moving = {.book = INDEX_NONE, .wire_ps = wire_ps};
    if (demand->largest > 0 && self->usage != NULL && sent_ps > 0) {
        moving.book = usage_begin(self->usage, activity->first.job, demand, engine_now(network->engine));
        usage_set_rate(self->usage, moving.book, (double)demand->largest / sim_time_seconds(sent_ps),
                       engine_now(network->engine));
    }
    remember(self, number, moving);
    activities_sent_in(network->activities, number, sent_ps);
}

static gboolean
has_hosts(const Analytic *self, const Activity *activity)
{
    return self->hosts != NULL && activity->first.src != activity->first.dst;
}

static HostWork
work_of(const Analytic *self, const Activity *activity, uint32_t number, HostWorkKind kind)
{
    const Transfer *first = &activity->first;
    return (HostWork){.kind = kind,
                      .node = kind == HOST_SEND ? first->src : first->dst,
                      .cpu = first->host_cpu,
                      .nic = first->host_nic,
                      .client = self->host_client,
                      .cookie = number};
}

static void
tell_come(Analytic *self, uint32_t number)
{
    const Network *network = &self->base;
    const Activity *activity = activities_get(network->activities, number);
    if (activity->client >= network->n_listeners || network->listeners[activity->client].told == NULL)
        return;
    struct NetworkListener listener = network->listeners[activity->client];
    listener.told(listener.owner, activity->cookie);
}

/* Its CPU and NIC are free: the message leaves. */
static gboolean
leave(Analytic *self, uint32_t number, const HostWork *work, GError **error)
{
    Network *network = &self->base;
    const LogGops *costs = &network->config.loggops;
    const Activity *activity = activities_get(network->activities, number);
    Demand demand;
    if (!demand_make_activity(self->maker, activity, FALSE, &demand, error))
        return FALSE;
    uint64_t bytes = message_bytes(activity);
    SimTime wire_ps = MAX(sending_time(self, &demand, MAX(bytes, 1) - 1), cost(0, costs->G_s_per_B, bytes));
    SimTime cpu_ps = cost(costs->o_ps, costs->O_s_per_B, bytes);
    hosts_hold(self->hosts, work, cpu_ps, costs->g_ps + wire_ps);
    go(self, number, &demand, wire_ps, MAX(cpu_ps, costs->o_ps + wire_ps));
    HostWork arrival = work_of(self, activity, number, HOST_ARRIVE);
    SimTime latency_ps = costs->L_ps > 0 ? costs->L_ps : demand.latency_ps;
    hosts_queue(self->hosts, &arrival, engine_now(network->engine) + costs->o_ps + latency_ps);
    return TRUE;
}

/* The first byte has come, and the receiver's CPU and NIC are free. */
static void
take_in(Analytic *self, uint32_t number, const HostWork *work)
{
    Network *network = &self->base;
    const LogGops *costs = &network->config.loggops;
    const Activity *activity = activities_get(network->activities, number);
    uint64_t bytes = message_bytes(activity);
    SimTime wire_ps = self->moving[number].wire_ps;
    SimTime cpu_ps = MAX(cost(costs->o_ps, costs->O_s_per_B, bytes), costs->o_ps + wire_ps);
    hosts_hold(self->hosts, work, cpu_ps, costs->g_ps + wire_ps);
    activities_delivered_in(network->activities, number, cpu_ps);
    tell_come(self, number);
}

static void
on_host(void *owner, const HostWork *work)
{
    Analytic *self = owner;
    GError *error = NULL;
    if (work->kind != HOST_SEND)
        take_in(self, (uint32_t)work->cookie, work);
    else if (!leave(self, (uint32_t)work->cookie, work, &error))
        engine_fail(self->base.engine, error);
}

static void
on_sent(void *owner, uint32_t number)
{
    Analytic *self = owner;
    const Activity *activity = activities_get(self->base.activities, number);
    if (self->moving[number].book != INDEX_NONE)
        usage_end(self->usage, self->moving[number].book, engine_now(self->base.engine));
    if (!has_hosts(self, activity))
        activities_delivered_in(self->base.activities, number, activity->latency_ps);
}

static gboolean
start(Network *network, uint32_t number, GError **error)
{
    Analytic *self = (Analytic *)network;
    const Activity *activity = activities_get(network->activities, number);
    if (has_hosts(self, activity)) {
        HostWork work = work_of(self, activity, number, HOST_SEND);
        if (activity->first.host_begun)
            return leave(self, number, &work, error);
        hosts_queue_free(self->hosts, &work, 0);
        return TRUE;
    }
    Demand demand;
    if (!demand_make_activity(self->maker, activity, FALSE, &demand, error))
        return FALSE;
    go(self, number, &demand, 0, sending_time(self, &demand, demand.largest));
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

static Hosts *
hosts_of(const Network *network)
{
    return ((const Analytic *)network)->hosts;
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
    .hosts = hosts_of,
};
