#include "network/hosts.h"

#include "base/big_array.h"
#include "network/activity.h" /* NETWORK_SENDER */

#include <string.h>

/* Those that found the same CPU and NIC busy, as number + 1, 0 = none: one event stands for them, at when. fresh: those
 * that found it busy at when before that event came; they go first, as LogGOPSim would queue them anew first. */
typedef struct {
    uint32_t head, tail, fresh_head, fresh_tail;
    SimTime when;
} Line;

enum { LINE_KINDS = HOST_RECV }; /* a recv never lines up */

typedef struct {
    uint32_t n_cpus, n_nics;
    SimTime *cpu, *nic_out, *nic_in; /* free from then on */
    Line *lines;                     /* a CPU, NIC and kind */
} Host;

typedef struct {
    HostWork work;
    uint32_t next; /* of its line, + 1; of the free ones */
} Row;

typedef struct {
    HostBegun begun;
    void *owner;
} Client;

struct Hosts {
    Engine *engine;
    Host *hosts; /* by node */
    uint32_t n_nodes, kind, n_clients;
    Row *rows;
    uint32_t n_rows, room, first_free; /* + 1 */
    Client *clients;
};

static void handle(void *owner, const Event *event);

Hosts *
hosts_new(Engine *engine, uint32_t n_nodes)
{
    Hosts *hosts = g_new0(Hosts, 1);
    hosts->engine = engine;
    hosts->n_nodes = n_nodes;
    hosts->hosts = g_new0(Host, MAX(n_nodes, 1));
    hosts->kind = engine_add_kind(engine, handle, hosts);
    return hosts;
}

void
hosts_free(Hosts *hosts)
{
    if (hosts == NULL)
        return;
    for (uint32_t n = 0; n < hosts->n_nodes; n++) {
        g_free(hosts->hosts[n].cpu);
        g_free(hosts->hosts[n].nic_out);
        g_free(hosts->hosts[n].nic_in);
        g_free(hosts->hosts[n].lines);
    }
    g_free(hosts->hosts);
    g_free(hosts->rows);
    g_free(hosts->clients);
    g_free(hosts);
}

uint32_t
hosts_add_client(Hosts *hosts, HostBegun begun, void *owner)
{
    hosts->clients = g_renew(Client, hosts->clients, hosts->n_clients + 1);
    hosts->clients[hosts->n_clients] = (Client){begun, owner};
    return hosts->n_clients++;
}

static SimTime *
more_clocks(SimTime *clocks, uint32_t n, uint32_t more)
{
    clocks = g_renew(SimTime, clocks, more);
    memset(clocks + n, 0, (more - n) * sizeof *clocks);
    return clocks;
}

/* The host of a node, with this CPU and NIC. */
static Host *
host_with(Hosts *hosts, uint32_t node, uint8_t cpu, uint8_t nic)
{
    Host *host = &hosts->hosts[node];
    if (cpu < host->n_cpus && nic < host->n_nics)
        return host;
    uint32_t n_cpus = MAX(host->n_cpus, cpu + 1U), n_nics = MAX(host->n_nics, nic + 1U);
    Line *lines = g_new0(Line, (gsize)n_cpus * n_nics * LINE_KINDS);
    for (uint32_t c = 0; c < host->n_cpus; c++)
        memcpy(&lines[c * n_nics * LINE_KINDS], &host->lines[c * host->n_nics * LINE_KINDS],
               host->n_nics * LINE_KINDS * sizeof *lines);
    g_free(host->lines);
    *host = (Host){.n_cpus = n_cpus,
                   .n_nics = n_nics,
                   .cpu = more_clocks(host->cpu, host->n_cpus, n_cpus),
                   .nic_out = more_clocks(host->nic_out, host->n_nics, n_nics),
                   .nic_in = more_clocks(host->nic_in, host->n_nics, n_nics),
                   .lines = lines};
    return host;
}

static uint32_t
take_row(Hosts *hosts, const HostWork *work)
{
    uint32_t row = hosts->first_free - 1;
    if (hosts->first_free > 0) {
        hosts->first_free = hosts->rows[row].next;
    } else {
        if (hosts->n_rows == hosts->room) {
            hosts->room = MAX(256, 2 * hosts->room);
            hosts->rows = big_renew(Row, hosts->rows, hosts->n_rows, hosts->room);
        }
        row = hosts->n_rows++;
    }
    hosts->rows[row] = (Row){.work = *work};
    return row;
}

/* stamp: the line of this row is to be looked at. */
static void
schedule(Hosts *hosts, SimTime when, uint32_t row, gboolean line)
{
    engine_schedule(hosts->engine, (Event){.when = MAX(when, engine_now(hosts->engine)),
                                           .kind = hosts->kind,
                                           .target = row,
                                           .sender = NETWORK_SENDER,
                                           .stamp = line});
}

/* When the work finds what it needs free. */
static SimTime
free_at(Hosts *hosts, const HostWork *work)
{
    const Host *host = host_with(hosts, work->node, work->cpu, work->nic);
    SimTime cpu = host->cpu[work->cpu];
    if (work->kind == HOST_SEND)
        return MAX(cpu, host->nic_out[work->nic]);
    return work->kind == HOST_ARRIVE ? MAX(cpu, host->nic_in[work->nic]) : cpu;
}

void
hosts_queue(Hosts *hosts, const HostWork *work, SimTime earliest)
{
    schedule(hosts, earliest, take_row(hosts, work), FALSE);
}

void
hosts_queue_free(Hosts *hosts, const HostWork *work, SimTime earliest)
{
    SimTime when = free_at(hosts, work);
    schedule(hosts, MAX(when, earliest), take_row(hosts, work), FALSE);
}

SimTime
hosts_cpu_free(const Hosts *hosts, uint32_t node, uint8_t cpu)
{
    const Host *host = &hosts->hosts[node];
    return cpu < host->n_cpus ? host->cpu[cpu] : 0;
}

static SimTime
later(SimTime now, SimTime delay)
{
    return delay < SIM_TIME_MAX - now ? now + delay : SIM_TIME_MAX;
}

void
hosts_hold(Hosts *hosts, const HostWork *work, SimTime cpu_ps, SimTime nic_ps)
{
    Host *host = host_with(hosts, work->node, work->cpu, work->nic);
    SimTime now = engine_now(hosts->engine);
    host->cpu[work->cpu] = later(now, cpu_ps);
    if (work->kind == HOST_SEND)
        host->nic_out[work->nic] = later(now, nic_ps);
    if (work->kind == HOST_ARRIVE)
        host->nic_in[work->nic] = later(now, nic_ps);
}

static Line *
line_of(Hosts *hosts, const HostWork *work)
{
    Host *host = host_with(hosts, work->node, work->cpu, work->nic);
    return &host->lines[(work->cpu * host->n_nics + work->nic) * LINE_KINDS + work->kind];
}

static void
line_up(Hosts *hosts, uint32_t row, SimTime when)
{
    Line *line = line_of(hosts, &hosts->rows[row].work);
    hosts->rows[row].next = 0;
    if (line->head == 0) {
        line->head = line->tail = row + 1;
        line->when = when;
        schedule(hosts, when, row, TRUE);
    } else if (line->when > engine_now(hosts->engine)) {
        hosts->rows[line->tail - 1].next = row + 1;
        line->tail = row + 1;
    } else {
        if (line->fresh_head == 0)
            line->fresh_head = row + 1;
        else
            hosts->rows[line->fresh_tail - 1].next = row + 1;
        line->fresh_tail = row + 1;
    }
}

static void
begin(Hosts *hosts, uint32_t row)
{
    HostWork work = hosts->rows[row].work;
    hosts->rows[row].next = hosts->first_free;
    hosts->first_free = row + 1;
    history_add(engine_history(hosts->engine),
                (uint64_t)work.node << 32 | (uint64_t)work.cpu << 16 | (uint64_t)work.nic << 8 | (uint64_t)work.kind);
    Client client = hosts->clients[work.client];
    client.begun(client.owner, &work);
}

/* The first of the line goes on, and those after it while nothing is busy. */
static void
step_line(Hosts *hosts, uint32_t row)
{
    const HostWork work = hosts->rows[row].work;
    Line *line = line_of(hosts, &work);
    if (line->fresh_head != 0) {
        hosts->rows[line->fresh_tail - 1].next = line->head;
        line->head = line->fresh_head;
        line->fresh_head = line->fresh_tail = 0;
    }
    while (line->head != 0) {
        uint32_t first = line->head - 1;
        SimTime when = free_at(hosts, &work);
        if (when > engine_now(hosts->engine)) {
            line->when = when;
            schedule(hosts, when, first, TRUE);
            return;
        }
        line->head = hosts->rows[first].next;
        begin(hosts, first);
        line = line_of(hosts, &work); /* the host may have grown */
    }
}

static void
handle(void *owner, const Event *event)
{
    Hosts *hosts = owner;
    const HostWork *work = &hosts->rows[event->target].work;
    if (event->stamp) {
        step_line(hosts, event->target);
        return;
    }
    SimTime when = work->kind == HOST_RECV ? 0 : free_at(hosts, work);
    if (when > engine_now(hosts->engine))
        line_up(hosts, event->target, when);
    else
        begin(hosts, event->target);
}

static void
print_clocks(const SimTime *clocks, uint32_t n, SimTime now, Fingerprint *print)
{
    for (uint32_t i = 0; i < n; i++)
        fingerprint_add(print, (uint64_t)MAX(clocks[i] - now, 0));
}

static uint64_t
length_of(const Hosts *hosts, uint32_t head)
{
    uint64_t n = 0;
    for (; head != 0; head = hosts->rows[head - 1].next)
        n++;
    return n;
}

void
hosts_fingerprint(const Hosts *hosts, Fingerprint *print)
{
    SimTime now = engine_now(hosts->engine);
    for (uint32_t n = 0; n < hosts->n_nodes; n++) {
        const Host *host = &hosts->hosts[n];
        print_clocks(host->cpu, host->n_cpus, now, print);
        print_clocks(host->nic_out, host->n_nics, now, print);
        print_clocks(host->nic_in, host->n_nics, now, print);
        for (uint32_t l = 0; l < host->n_cpus * host->n_nics * LINE_KINDS; l++)
            if (host->lines[l].head != 0)
                fingerprint_add(print, (uint64_t)l << 32 | length_of(hosts, host->lines[l].head) << 16 |
                                           length_of(hosts, host->lines[l].fresh_head));
    }
}
