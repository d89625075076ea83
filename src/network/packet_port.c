/* packet_port.c - ports: what goes onto a link, when, and what is lost or marked on the way to it */
#include "network/packet_net.h"

#include "base/random.h"

#include <assert.h>

enum {
    FIRST_PACKETS = 1024,
    TRIM_B = 72000,     /* 8 packets of 9 kB: what may wait where packets are trimmed and no buffer is given (Handley et
                           al., 2017, 3.1) */
    HEADERS_B = 1 << 20 /* of trimmed packets may wait beyond the buffer: 16,384 of them */
};

static void
grow_pool(PacketNet *net)
{
    uint32_t room = MAX(FIRST_PACKETS, 2 * net->n_packets);
    net->packets = g_renew(Packet, net->packets, room);
    if (net->transport->wants_hops) {
        net->hops = g_renew(TransportHop, net->hops, (size_t)room * TRANSPORT_HOPS);
        net->n_hops = g_renew(uint8_t, net->n_hops, room);
    }
    for (uint32_t i = room; i-- > net->n_packets;) {
        net->packets[i].next = net->spare;
        net->spare = i;
    }
    net->n_packets = room;
}

uint32_t
packet_new(PacketNet *net, Flow *flow, PacketKind kind, uint32_t size)
{
    if (net->spare == INDEX_NONE)
        grow_pool(net);
    uint32_t number = net->spare, class = flow->class;
    if (kind != PACKET_DATA && net->control_first)
        class = PACKET_CONTROL_CLASS;
    Packet *packet = &net->packets[number];
    net->spare = packet->next;
    *packet =
        (Packet){.flow = flow->open.number, .size = (uint16_t)size, .kind = (uint8_t)(kind | class << CLASS_SHIFT)};
    if (net->n_hops != NULL)
        net->n_hops[number] = 0;
    flow->in_network++;
    return number;
}

void
packet_free(PacketNet *net, uint32_t number)
{
    Packet *packet = &net->packets[number];
    Flow *flow = packet_flow(net, packet->flow);
    packet->next = net->spare;
    net->spare = number;
    flow->in_network--;
    packet_flow_close_if_over(net, flow);
}

static SimTime
exact_time(const Port *port, uint32_t size)
{
    SimTime time;
    return port->rate_Bps > 0 && sim_time_from_bytes(size, port->rate_Bps, &time) ? time : SIM_TIME_MAX / 4;
}

static inline SimTime
wire_time(const PacketNet *net, const Port *port, uint32_t size)
{
    if (size == net->full_B && port->ser_full_ps != 0)
        return port->ser_full_ps;
    if (size == net->base.config.packet.ack_B && port->ser_control_ps != 0)
        return port->ser_control_ps;
    return exact_time(port, size);
}

/* Is no link that the packet may take next faster than this one? Then its bits do not run out. */
static gboolean
may_cut(const PacketNet *net, const Port *port, uint32_t at)
{
    uint32_t word = net->words[at];
    if (word == PATH_END)
        return FALSE;
    if (word >= PATH_BRANCH)
        word = net->words[at + 3];
    return net->ports[word].rate_Bps <= port->rate_Bps;
}

SimTime
packet_port_hop_time(const PacketNet *net, uint32_t link, uint32_t at, uint32_t size)
{
    const Port *port = &net->ports[link];
    if (net->cut_through && may_cut(net, port, at))
        size = MIN(size, net->base.config.packet.header_B);
    SimTime time;
    if (port->rate_Bps == 0) /* asked while routes still believe in it */
        return sim_time_from_bytes(size, packet_path_link_rate(net, link), &time) ? time : SIM_TIME_MAX / 4;
    return wire_time(net, port, size);
}

uint64_t
packet_port_queue(const PacketNet *net, uint32_t link)
{
    const Port *port = &net->ports[link];
    SimTime left = port->busy - packet_now(net);
    return port->waiting_B + (left > 0 ? (uint64_t)((double)left * port->rate_Bps / PS_PER_S) : 0);
}

static void
stamp_hop(PacketNet *net, uint32_t link, uint32_t number, SimTime start)
{
    if (net->n_hops[number] == TRANSPORT_HOPS)
        return;
    net->hops[(size_t)number * TRANSPORT_HOPS + net->n_hops[number]++] =
        (TransportHop){.link = link,
                       .rate_Bps = net->ports[link].rate_Bps,
                       .queue_B = net->ports[link].waiting_B,
                       .sent_B = net->rest[link].sent_B,
                       .at_ps = start};
}

/* What waits at the port beside the packet that leaves it at start: before it (its departure is told as it comes), or
 * after it; of flows of this source that wait in turn, a packet each, the next two at most. */
static uint64_t
waiting_beside(const PacketNet *net, uint32_t link, SimTime start)
{
    const Port *port = &net->ports[link];
    const Waiting *waiting = &net->waiting[link];
    uint64_t bytes = port->waiting_B + (uint64_t)((double)(start - packet_now(net)) * port->rate_Bps / PS_PER_S);
    for (unsigned classes = waiting->ringed; classes != 0; classes &= classes - 1) {
        uint32_t class = (uint32_t)__builtin_ctz(classes);
        if (waiting->ring_first[class] != waiting->ring_last[class])
            bytes += 2 * (uint64_t)net->full_B;
    }
    return bytes;
}

/* Everything of a packet leaving that somebody asked to be counted. */
static void
count(PacketNet *net, uint32_t link, uint32_t number, SimTime start, SimTime end)
{
    Packet *packet = &net->packets[number];
    PacketLinkCounts *counts = &net->rest[link].counts;
    gboolean data = (packet->kind & KIND_BITS) == PACKET_DATA;
    net->rest[link].sent_B += packet->size;
    net->rest[link].met_B += waiting_beside(net, link, start);
    if (data && net->hops != NULL)
        stamp_hop(net, link, number, start);
    if (!data || (packet->flags & TRIMMED)) {
        counts->control_packets++;
        counts->control_B += packet->size;
        return;
    }
    uint32_t header_B = net->base.config.packet.header_B, payload_B = packet->size - header_B;
    counts->data_packets++;
    counts->header_B += header_B;
    if (packet->flags & AGAIN)
        counts->resent_B += payload_B;
    if (net->books != NULL) {
        Flow *flow = packet_flow(net, packet->flow);
        gboolean first = packet_books_is_first(flow, packet, net->words[packet->at] == PATH_END);
        packet_books_add(net->books, link, flow->transfer.job, start, end, payload_B, first ? payload_B : 0);
        packet->value++;
    }
}

/* Puts a packet onto the link, from start on. */
static inline void
transmit(PacketNet *net, uint32_t link, uint32_t number, SimTime start)
{
    Port *port = &net->ports[link];
    Packet *packet = &net->packets[number];
    SimTime end = start + wire_time(net, port, packet->size);
    SimTime when = end;
    if (net->cut_through)
        when = start + packet_port_hop_time(net, link, packet->at, packet->size);
    port->busy = end;
    packet->when = when + port->latency_ps;
    packet->next = INDEX_NONE;
    if (port->head == INDEX_NONE) {
        port->head = number;
        engine_schedule(net->base.engine, (Event){.when = packet->when,
                                                  .kind = net->kind_arrive,
                                                  .target = link,
                                                  .sender = NETWORK_SENDER,
                                                  .stamp = port->stamp});
    } else {
        net->packets[port->tail].next = number;
    }
    port->tail = number;
    if ((packet->kind & KIND_BITS) == PACKET_DATA)
        net->totals.data_hops++;
    else
        net->totals.control_hops++;
    if (net->counting)
        count(net, link, number, start, end);
}

void
packet_port_drop(PacketNet *net, uint32_t link, uint32_t number)
{
    const Packet *packet = &net->packets[number];
    PacketLinkCounts *counts = &net->rest[link].counts;
    net->totals.dropped++;
    counts->dropped++;
    if ((packet->kind & KIND_BITS) == PACKET_DATA && !(packet->flags & TRIMMED)) {
        counts->dropped_B += packet->size - net->base.config.packet.header_B;
        if (net->books != NULL)
            packet_books_lost(packet_flow(net, packet->flow), packet);
    }
    packet_free(net, number);
}

/* A uniform number in [0, 1), the next of this port's. */
static double
throw_dice(PacketNet *net, uint32_t link)
{
    PortRest *rest = &net->rest[link];
    return (double)(hash_combine(rest->salt, rest->thrown++) >> 11) * 0x1p-53;
}

static void
mark(PacketNet *net, uint32_t link, Packet *packet, uint64_t queue)
{
    const PortRest *rest = &net->rest[link];
    if (queue <= rest->kmin_B || (packet->kind & KIND_BITS) != PACKET_DATA)
        return;
    if (queue < rest->kmax_B) {
        double chance = rest->pmax * (double)(queue - rest->kmin_B) / (double)(rest->kmax_B - rest->kmin_B);
        if (throw_dice(net, link) >= chance)
            return;
    }
    packet->flags |= MARKED;
    net->totals.marked++;
    net->rest[link].counts.marked++;
}

/* Bytes that may wait at the port. */
static uint64_t
room_of(const PacketNet *net, uint32_t link)
{
    const PacketConfig *config = &net->base.config.packet;
    if (config->pfc)
        return PACKET_NO_LIMIT; /* what comes in is bounded, not what goes out */
    if (config->shared_buffer_B == 0 || !(net->ports[link].flags & FROM_SWITCH))
        return net->rest[link].buffer_B;
    uint64_t used = net->used_B[fabric_link(net->fabric, link)->src];
    uint64_t free_B = used < config->shared_buffer_B ? config->shared_buffer_B - used : 0;
    return (uint64_t)MIN(config->alpha * (double)free_B, 0x1p62);
}

/* The packet changes places with the last of its class that waits: the record of either then holds the other. *came_by
 * goes with it. Nothing changes where none waits that is data and no smaller. */
static void
swap_with_last(PacketNet *net, uint32_t link, uint32_t number, uint32_t *came_by)
{
    const Waiting *waiting = &net->waiting[link];
    Packet *packet = &net->packets[number];
    uint32_t class = packet_class(packet), last = waiting->last[class];
    if (!(waiting->filled >> class & 1))
        return;
    Packet *tail = &net->packets[last];
    if ((tail->kind & KIND_BITS) != PACKET_DATA || tail->flags & TRIMMED || tail->size < packet->size)
        return;
    uint32_t tail_by = (uint32_t)tail->when;
    packet_pfc_release(net, tail_by, class, tail->size);
    gboolean held = packet_pfc_hold(net, *came_by, class, packet->size);
    assert(held); /* with pauses nothing is trimmed */
    (void)held;
    net->ports[link].waiting_B -= tail->size - packet->size;
    Packet taken = *tail;
    *tail = *packet;
    tail->when = *came_by;
    tail->next = INDEX_NONE;
    *packet = taken;
    *came_by = tail_by;
    if (net->hops == NULL)
        return;
    uint8_t n_hops = net->n_hops[last];
    net->n_hops[last] = net->n_hops[number];
    net->n_hops[number] = n_hops;
    for (size_t i = 0; i < TRANSPORT_HOPS; i++) {
        TransportHop *one = &net->hops[last * (size_t)TRANSPORT_HOPS + i];
        TransportHop *other = &net->hops[number * (size_t)TRANSPORT_HOPS + i], hop = *one;
        *one = *other;
        *other = hop;
    }
}

/* Handley et al., 2017, 3.1: the one that came or the last that waits, at even odds, so that flows of equal rhythm do
 * not always lose to each other in the same order. It is then the packet of this number. */
static void
trim(PacketNet *net, uint32_t link, uint32_t number, uint32_t *came_by)
{
    if (throw_dice(net, link) < 0.5)
        swap_with_last(net, link, number, came_by);
    Packet *packet = &net->packets[number];
    if (net->books != NULL)
        packet_books_lost(packet_flow(net, packet->flow), packet);
    packet->flags |= TRIMMED;
    packet->size = (uint16_t)MIN(packet->size, net->base.config.packet.header_B);
    packet->kind = PACKET_DATA | PACKET_CONTROL_CLASS << CLASS_SHIFT;
    net->totals.trimmed++;
    net->rest[link].counts.trimmed++;
}

/* The packet meets this queue: is it let in? It may come out marked, or trimmed; where another is trimmed in its stead
 * it has that one's place, and the record, with *came_by, is the other's. */
static gboolean
admit(PacketNet *net, uint32_t link, uint32_t number, uint64_t queue, uint32_t *came_by)
{
    Packet *packet = &net->packets[number];
    if (net->ports[link].rate_Bps == 0)
        return FALSE;
    uint64_t room = room_of(net, link);
    if (room != PACKET_NO_LIMIT && queue + packet->size > room && queue > 0) {
        if (!net->trim || queue + packet->size > room + HEADERS_B)
            return FALSE;
        if ((packet->kind & KIND_BITS) == PACKET_DATA && !(packet->flags & TRIMMED))
            trim(net, link, number, came_by);
        return TRUE;
    }
    if (net->rest[link].kmax_B > 0)
        mark(net, link, packet, queue);
    return TRUE;
}

static void
append(PacketNet *net, uint32_t link, uint32_t number, uint32_t came_by)
{
    Waiting *waiting = &net->waiting[link];
    Packet *packet = &net->packets[number];
    uint32_t class = packet_class(packet);
    packet->when = came_by;
    packet->next = INDEX_NONE;
    if (waiting->filled >> class & 1)
        net->packets[waiting->last[class]].next = number;
    else
        waiting->first[class] = number;
    waiting->last[class] = number;
    waiting->filled |= (uint8_t)(1 << class);
    net->ports[link].waiting_B += packet->size;
}

static void
wake_later(PacketNet *net, uint32_t link)
{
    Port *port = &net->ports[link];
    if (port->waking)
        return;
    port->waking = TRUE;
    engine_schedule(net->base.engine,
                    (Event){.when = port->busy, .kind = net->kind_free, .target = link, .sender = NETWORK_SENDER});
}

/* To a port whose queues decide. */
static void
queue_up(PacketNet *net, uint32_t link, uint32_t number, uint32_t came_by)
{
    Port *port = &net->ports[link];
    Packet *packet = &net->packets[number];
    uint64_t queue = packet_port_queue(net, link);
    if ((port->flags & FROM_SWITCH || port->rate_Bps == 0) && !admit(net, link, number, queue, &came_by)) {
        packet_port_drop(net, link, number);
        return;
    }
    uint32_t class = packet_class(packet);
    SimTime now = packet_now(net);
    if (port->busy <= now && net->waiting[link].filled == 0 && !(port->paused >> class & 1)) {
        transmit(net, link, number, now);
        return;
    }
    if (!packet_pfc_hold(net, came_by, class, packet->size)) {
        packet_port_drop(net, link, number);
        return;
    }
    append(net, link, number, came_by);
    net->rest[link].counts.max_queue_B = MAX(net->rest[link].counts.max_queue_B, port->waiting_B);
    packet_port_wake(net, link);
}

void
packet_forward(PacketNet *net, uint32_t number, uint32_t came_by)
{
    Packet *packet = &net->packets[number];
    uint32_t link = packet_path_next(net, packet->seq, &packet->at);
    if (!net->direct) {
        queue_up(net, link, number, came_by);
        return;
    }
    Port *port = &net->ports[link];
    SimTime now = packet_now(net), backlog = MAX(0, port->busy - now);
    if (backlog > port->quiet_ps && !admit(net, link, number, packet_port_queue(net, link), &came_by)) {
        packet_port_drop(net, link, number);
        return;
    }
    if (net->counting && backlog > 0)
        net->rest[link].counts.max_queue_B =
            MAX(net->rest[link].counts.max_queue_B, packet_port_queue(net, link) + packet->size);
    transmit(net, link, number, now + backlog);
}

static uint32_t
take_first(PacketNet *net, uint32_t link, uint32_t class)
{
    Waiting *waiting = &net->waiting[link];
    uint32_t number = waiting->first[class];
    Packet *packet = &net->packets[number];
    waiting->first[class] = packet->next;
    if (packet->next == INDEX_NONE)
        waiting->filled &= (uint8_t) ~(1 << class);
    net->ports[link].waiting_B -= packet->size;
    packet_pfc_release(net, (uint32_t)packet->when, class, packet->size);
    return number;
}

/* Sends what is next; the port is free. */
static void
serve(PacketNet *net, uint32_t link)
{
    Port *port = &net->ports[link];
    Waiting *waiting = &net->waiting[link];
    unsigned classes;
    while ((classes = (unsigned)((waiting->filled | waiting->ringed) & ~port->paused)) != 0) {
        uint32_t class = 31 - (uint32_t)__builtin_clz(classes), number;
        Flow *ended = NULL;
        if (waiting->filled >> class & 1)
            number = take_first(net, link, class);
        else
            number = packet_flow_pull(net, link, class, &ended);
        if (number == INDEX_NONE)
            continue;
        transmit(net, link, number, MAX(packet_now(net), port->busy));
        if (ended != NULL)
            packet_flow_sent_all(net, ended, port->busy);
        if ((waiting->filled | waiting->ringed) & ~port->paused)
            wake_later(net, link);
        return;
    }
}

void
packet_port_wake(PacketNet *net, uint32_t link)
{
    Port *port = &net->ports[link];
    if (port->waking || port->rate_Bps == 0)
        return;
    if (port->busy <= packet_now(net))
        serve(net, link);
    else
        wake_later(net, link);
}

void
packet_port_handle_free(void *owner, const Event *event)
{
    PacketNet *net = owner;
    Port *port = &net->ports[event->target];
    port->waking = FALSE;
    if (port->rate_Bps == 0)
        return;
    if (!net->direct && port->busy > packet_now(net))
        wake_later(net, event->target);
    else
        serve(net, event->target);
}

void
packet_port_handle_arrive(void *owner, const Event *event)
{
    PacketNet *net = owner;
    uint32_t link = event->target;
    Port *port = &net->ports[link];
    if (event->stamp != port->stamp)
        return;
    uint32_t number = port->head, next = net->packets[number].next;
    port->head = next;
    if (next != INDEX_NONE)
        engine_schedule(net->base.engine, (Event){.when = net->packets[next].when,
                                                  .kind = net->kind_arrive,
                                                  .target = link,
                                                  .sender = NETWORK_SENDER,
                                                  .stamp = port->stamp});
    if (port->flags & LOSES && throw_dice(net, link) < net->rest[link].loss)
        packet_port_drop(net, link, number);
    else if (net->words[net->packets[number].at] == PATH_END)
        packet_flow_arrived(net, number);
    else
        packet_forward(net, number, link);
}

/* How long a backlog may be before admit() has anything to say. */
static SimTime
quiet_time(const PacketNet *net, uint32_t link)
{
    const PortRest *rest = &net->rest[link];
    uint64_t quiet = rest->buffer_B;
    if (quiet != PACKET_NO_LIMIT)
        quiet = quiet > net->full_B ? quiet - net->full_B : 0;
    if (rest->kmax_B > 0)
        quiet = MIN(quiet, rest->kmin_B);
    SimTime time;
    if (quiet == PACKET_NO_LIMIT || !sim_time_from_bytes((double)quiet, net->ports[link].rate_Bps, &time))
        return SIM_TIME_MAX;
    return MAX(0, time - 1);
}

static void
set_rate(PacketNet *net, uint32_t link, double rate_Bps)
{
    Port *port = &net->ports[link];
    port->rate_Bps = rate_Bps;
    if (rate_Bps == 0) {
        port->quiet_ps = -1;
        return;
    }
    SimTime full = exact_time(port, net->full_B), control = exact_time(port, net->base.config.packet.ack_B);
    port->ser_full_ps = full <= UINT32_MAX ? (uint32_t)full : 0;
    port->ser_control_ps = control <= UINT32_MAX ? (uint32_t)control : 0;
    port->quiet_ps = quiet_time(net, link);
}

/* The first packet whose turn on the link is yet to come, and when; those before it are on their way. */
static uint32_t
first_to_start(const PacketNet *net, uint32_t link, SimTime *start)
{
    const Port *port = &net->ports[link];
    uint32_t number = port->head;
    for (; number != INDEX_NONE; number = net->packets[number].next) {
        const Packet *packet = &net->packets[number];
        *start = packet->when - port->latency_ps - packet_port_hop_time(net, link, packet->at, packet->size);
        if (*start > packet_now(net))
            break;
    }
    return number;
}

void
packet_port_change_rate(PacketNet *net, uint32_t link, double rate_Bps)
{
    Port *port = &net->ports[link];
    SimTime start = port->busy;
    uint32_t number = port->rate_Bps > 0 && rate_Bps > 0 ? first_to_start(net, link, &start) : INDEX_NONE;
    gboolean waits = number != INDEX_NONE;
    set_rate(net, link, rate_Bps);
    for (; number != INDEX_NONE; number = net->packets[number].next) {
        Packet *packet = &net->packets[number];
        packet->when = start + packet_port_hop_time(net, link, packet->at, packet->size) + port->latency_ps;
        start += wire_time(net, port, packet->size);
    }
    if (waits)
        port->busy = start;
}

void
packet_port_flush(PacketNet *net, uint32_t link)
{
    Port *port = &net->ports[link];
    Waiting *waiting = &net->waiting[link];
    uint32_t number = port->head;
    port->head = INDEX_NONE;
    port->stamp++;
    while (number != INDEX_NONE) {
        uint32_t next = net->packets[number].next;
        packet_port_drop(net, link, number);
        number = next;
    }
    for (uint32_t class = 0; class < PACKET_CLASSES; class ++)
        while (waiting->filled >> class & 1)
            packet_port_drop(net, link, take_first(net, link, class));
    port->busy = packet_now(net);
    packet_pfc_forget(net, link);
}

/* A node of a host that passes on what comes: neither its end nor a switch. */
static gboolean
is_inner(const Fabric *fabric, uint32_t node)
{
    NodeKind kind = fabric_node(fabric, node)->kind;
    return kind == NODE_NIC || kind == NODE_PCIE || kind == NODE_NVSWITCH;
}

static gboolean
is_switch(const Fabric *fabric, uint32_t node)
{
    NodeKind kind = fabric_node(fabric, node)->kind;
    return kind == NODE_LEAF || kind == NODE_SPINE || kind == NODE_CORE || kind == NODE_DCI;
}

/* What the fabric says of the link, before what the scenario says of all. */
static void
rest_init(PacketNet *net, uint32_t l)
{
    const PacketConfig *config = &net->base.config.packet;
    const Link *link = fabric_link(net->fabric, l);
    PortRest *rest = &net->rest[l];
    g_autofree char *name = g_strdup_printf("packets %s %s %u", fabric_node(net->fabric, link->src)->name,
                                            fabric_node(net->fabric, link->dst)->name, l);
    rest->salt = hash_combine(net->base.config.seed, hash_text(name));
    rest->loss = link->loss;
    rest->buffer_B = PACKET_NO_LIMIT;
    if (!(net->ports[l].flags & FROM_SWITCH))
        return;
    rest->buffer_B = link->buffer_B > 0 ? link->buffer_B : config->buffer_B;
    rest->kmin_B = link->ecn_kmax_B > 0 ? link->ecn_kmin_B : config->ecn_kmin_B;
    rest->kmax_B = link->ecn_kmax_B > 0 ? link->ecn_kmax_B : config->ecn_kmax_B;
    rest->pmax = link->ecn_kmax_B > 0 ? link->ecn_pmax : config->ecn_pmax;
    if (rest->buffer_B == PACKET_NO_LIMIT && net->transport->wants_trim)
        rest->buffer_B = MAX(TRIM_B, 8 * (uint64_t)net->full_B);
    if (rest->kmax_B == 0 && net->transport->wants_marks) {
        rest->kmin_B = (uint64_t)(1e-6 * link->capacity_Bps);
        rest->kmax_B = 40 * rest->kmin_B;
    }
}

void
packet_ports_init(PacketNet *net)
{
    uint32_t n_links = fabric_n_links(net->fabric);
    net->ports = g_aligned_alloc0(MAX(1, n_links), sizeof(Port), 64);
    net->rest = g_new0(PortRest, MAX(1, n_links));
    net->waiting = g_new0(Waiting, MAX(1, n_links));
    net->ingress = g_new0(Ingress, MAX(1, n_links));
    net->used_B = g_new0(uint64_t, fabric_n_nodes(net->fabric));
    for (uint32_t l = 0; l < n_links; l++) {
        const Link *link = fabric_link(net->fabric, l);
        Port *port = &net->ports[l];
        port->latency_ps = link->latency_ps;
        port->head = port->tail = INDEX_NONE;
        port->flags = (uint8_t)((is_switch(net->fabric, link->src) ? FROM_SWITCH : 0) |
                                (is_switch(net->fabric, link->dst) ? INTO_SWITCH : 0) |
                                (is_inner(net->fabric, link->dst) ? INTO_HOST : 0) | (link->loss > 0 ? LOSES : 0));
        rest_init(net, l);
        set_rate(net, l, link->capacity_Bps);
    }
}

void
packet_ports_clear(PacketNet *net)
{
    g_aligned_free(net->ports);
    g_free(net->rest);
    g_free(net->waiting);
    g_free(net->ingress);
    g_free(net->used_B);
    g_free(net->packets);
    g_free(net->hops);
    g_free(net->n_hops);
}
