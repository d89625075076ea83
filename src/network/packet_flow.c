/* packet_flow.c - the sender's end of a flow: what may go, when, and what its ACKs tell
 *
 * A flow that may send stands in the ring of the first port of its way, and leaves it when its window, credit or rate
 * (then until its pacing timer) say so. The port takes one packet of each flow in turn. */
#include "network/packet_losses.h"

#include "base/error.h"
#include "base/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MOST_BACKOFF = 6 }; /* doublings of the timeout */

#define LEAST_WEIGHT (1.0 / 1024)

static Flow *
take_slot(PacketNet *net, uint32_t *number)
{
    if (net->spare_flow == INDEX_NONE) {
        g_ptr_array_add(net->flow_blocks, g_new0(Flow, FLOW_BLOCK));
        for (uint32_t i = FLOW_BLOCK; i-- > 0;) {
            packet_flow(net, net->n_flows + i)->ring_next = net->spare_flow;
            net->spare_flow = net->n_flows + i;
        }
        net->n_flows += FLOW_BLOCK;
    }
    *number = net->spare_flow;
    Flow *flow = packet_flow(net, *number);
    net->spare_flow = flow->ring_next;
    uint32_t generation = flow->generation + 1;
    *flow = (Flow){.generation = generation, .clock = INDEX_NONE, .live = TRUE};
    return flow;
}

static void
give_slot(PacketNet *net, Flow *flow)
{
    flow->live = FALSE;
    flow->generation++;
    flow->ring_next = net->spare_flow;
    net->spare_flow = flow->open.number;
}

/* The way there and the way back of its ACKs, which is hashed on its own. */
static gboolean
find_ways(PacketNet *net, Flow *flow, GError **error)
{
    RouteRequest there = network_request(&net->base, &flow->transfer);
    RouteRequest back = {.src = there.dst,
                         .dst = there.src,
                         .src_nic = there.dst_nic,
                         .dst_nic = there.src_nic,
                         .key = hash_combine(there.key, hash_text("ack"))};
    PathMade forward, backward;
    if (!packet_path_make(net, &there, flow->spread, &forward, error))
        return FALSE;
    if (!packet_path_make(net, &back, flow->spread, &backward, error)) {
        packet_path_free(net, forward.path);
        return FALSE;
    }
    flow->forward = forward.path;
    flow->back = backward.path;
    flow->last_link = forward.last_link;
    flow->open.line_Bps = forward.line_Bps;
    flow->open.rtt_ps =
        packet_path_time(net, flow->forward, net->full_B) + packet_path_time(net, flow->back, flow->open.control_B);
    return TRUE;
}

gboolean
packet_flow_open(PacketNet *net, uint32_t activity, const Transfer *transfer, const PathLimit *limit, uint32_t *number,
                 GError **error)
{
    const PacketConfig *config = &net->base.config.packet;
    uint64_t n = MAX(1, (transfer->bytes + config->mtu_B - 1) / config->mtu_B);
    if (n >= UINT32_MAX)
        return error_input(error,
                           "a transfer of %" G_GUINT64_FORMAT " bytes has more than 2^32 - 2 packets of %u bytes",
                           transfer->bytes, config->mtu_B);
    Flow *flow = take_slot(net, number);
    flow->transfer = *transfer;
    flow->activity = activity;
    flow->class = net->class_of_job[transfer->job];
    RecoveryConfig recovery = net->setup.recovery;
    packet_limit_apply(net, limit, flow, &recovery);
    flow->open = (TransportFlow){.net = net,
                                 .number = *number,
                                 .src = transfer->src,
                                 .dst = transfer->dst,
                                 .packet_B = net->full_B,
                                 .control_B = config->ack_B,
                                 .n_packets = (uint32_t)n,
                                 .order = net->flows_made++,
                                 .params = net->setup.params,
                                 .window_B = TRANSPORT_NO_LIMIT,
                                 .rate_Bps = INFINITY,
                                 .credit_B = TRANSPORT_NO_LIMIT};
    for (uint32_t t = 0; t < FLOW_TIMERS; t++)
        flow->timers[t] = (FlowTimer){-1, -1};
    if (!find_ways(net, flow, error)) {
        give_slot(net, flow);
        return FALSE;
    }
    uint32_t last_B = (uint32_t)(transfer->bytes - (n - 1) * config->mtu_B) + config->header_B;
    recovery_sender_init(&flow->sender, &recovery, (uint32_t)n, net->full_B, last_B);
    recovery_receiver_init(&flow->receiver, &recovery, (uint32_t)n);
    flow->open.state = g_malloc0(MAX(1, net->transport->state_size));
    return TRUE;
}

static void
free_old_paths(PacketNet *net, Flow *flow)
{
    while (flow->old_paths != 0) {
        uint32_t pair = flow->old_paths; /* a row of two paths and the next pair */
        uint32_t forward = net->words[pair], back = net->words[pair + 1];
        flow->old_paths = net->words[pair + 2];
        packet_path_free(net, forward);
        packet_path_free(net, back);
        packet_path_free(net, pair);
    }
}

void
packet_flow_close(PacketNet *net, Flow *flow)
{
    assert(flow->live && flow->in_network == 0 && !flow->in_ring);
    for (uint32_t t = 0; t < FLOW_TIMERS; t++)
        if (flow->timers[t].pending >= 0)
            engine_abandon(net->base.engine, 1);
    recovery_sender_clear(&flow->sender);
    recovery_receiver_clear(&flow->receiver);
    g_clear_pointer(&flow->open.state, g_free);
    g_clear_pointer(&flow->gaps, g_hash_table_unref);
    if (flow->forward != 0) {
        packet_path_free(net, flow->forward);
        packet_path_free(net, flow->back);
    }
    free_old_paths(net, flow);
    give_slot(net, flow);
}

void
packet_flow_close_if_over(PacketNet *net, Flow *flow)
{
    if (flow->done && flow->in_network == 0 && !flow->in_ring)
        packet_flow_close(net, flow);
}

/* Timers */

static void
schedule_timer(PacketNet *net, Flow *flow, uint32_t timer, SimTime when)
{
    flow->timers[timer].pending = when;
    engine_schedule(net->base.engine, (Event){.when = when,
                                              .kind = net->kind_timer,
                                              .target = flow->open.number,
                                              .sender = NETWORK_SENDER,
                                              .stamp = flow->generation << 3 | timer});
}

void
packet_flow_set_timer(PacketNet *net, Flow *flow, uint32_t timer, SimTime delay)
{
    FlowTimer *row = &flow->timers[timer];
    if (delay < 0 || !sim_time_add(packet_now(net), delay, &row->due)) {
        row->due = -1;
        return;
    }
    if (row->pending >= 0 && row->pending <= row->due)
        return;
    if (row->pending >= 0)
        engine_abandon(net->base.engine, 1); /* the later event no longer counts */
    schedule_timer(net, flow, timer, row->due);
}

static SimTime
timeout_of(const PacketNet *net, const Flow *flow)
{
    SimTime timeout = net->timeout_ps != 0 ? net->timeout_ps : PS_PER_MS + 4 * flow->open.rtt_ps;
    return timeout << MIN(flow->backoff, MOST_BACKOFF);
}

static void
progress(PacketNet *net, Flow *flow)
{
    flow->backoff = 0;
    packet_flow_set_timer(net, flow, TIMER_TIMEOUT, timeout_of(net, flow));
}

/* Limits */

typedef enum { GO, GO_LATER, GO_NOT } Leave;

static Leave
may_go(const PacketNet *net, Flow *flow, uint32_t *seq)
{
    if (flow->done || flow->lost_way || !recovery_peek(&flow->sender, seq))
        return GO_NOT;
    const TransportFlow *open = &flow->open;
    uint32_t size = recovery_size(&flow->sender, *seq);
    if (open->credit_B < size)
        return GO_NOT;
    if (flow->sender.flight_B > 0 && flow->sender.flight_B + size > MIN(open->window_B, flow->most_B))
        return GO_NOT;
    if (flow->message > 0 && *seq / flow->message >= flow->sender.cumulative / flow->message + flow->messages)
        return GO_NOT;
    return flow->next_send > packet_now(net) ? GO_LATER : GO;
}

/* At its end; or, in the middle of a flow's turn, at its beginning. */
static void
enter_ring(PacketNet *net, Flow *flow, uint32_t seq)
{
    flow->ring_at = flow->forward;
    uint32_t link = flow->ring_link = packet_path_next(net, seq, &flow->ring_at);
    uint32_t class = flow->class, number = flow->open.number;
    Waiting *waiting = &net->waiting[link];
    flow->in_ring = TRUE;
    flow->ring_next = INDEX_NONE;
    if (flow->turn >= 1 && waiting->ringed >> class & 1) {
        flow->ring_next = waiting->ring_first[class];
        waiting->ring_first[class] = number;
        return;
    }
    if (waiting->ringed >> class & 1)
        packet_flow(net, waiting->ring_last[class])->ring_next = number;
    else
        waiting->ring_first[class] = number;
    waiting->ring_last[class] = number;
    waiting->ringed |= (uint8_t)(1 << class);
}

/* Into the ring if it may send now; to its pacing timer if later. TRUE: it is in the ring. */
static gboolean
line_up(PacketNet *net, Flow *flow)
{
    uint32_t seq;
    switch (may_go(net, flow, &seq)) {
    case GO:
        enter_ring(net, flow, seq);
        return TRUE;
    case GO_LATER:
        packet_flow_set_timer(net, flow, TIMER_PACE, flow->next_send - packet_now(net));
        break;
    case GO_NOT:
        break;
    }
    flow->turn = 0; /* what it does not use is lost */
    return FALSE;
}

void
packet_flow_kick(PacketNet *net, Flow *flow)
{
    if (!flow->in_ring && line_up(net, flow))
        packet_port_wake(net, flow->ring_link);
}

static Flow *
leave_ring(PacketNet *net, uint32_t link, uint32_t class)
{
    Waiting *waiting = &net->waiting[link];
    Flow *flow = packet_flow(net, waiting->ring_first[class]);
    waiting->ring_first[class] = flow->ring_next;
    if (flow->ring_next == INDEX_NONE)
        waiting->ringed &= (uint8_t) ~(1 << class);
    flow->in_ring = FALSE;
    return flow;
}

static void
pace(PacketNet *net, Flow *flow, uint32_t size)
{
    double rate_Bps = MIN(flow->open.rate_Bps, flow->transfer.rate_cap_Bps);
    SimTime now = packet_now(net), time;
    if (!isfinite(rate_Bps))
        return;
    if (!sim_time_from_bytes(size, rate_Bps, &time))
        time = SIM_TIME_MAX / 4;
    flow->next_send = MAX(now, flow->next_send) + time;
}

/* Its turn has come, or goes on: may it send a packet? In each turn a flow sends as many as it has weight, on average.
 */
static gboolean
has_turn(PacketNet *net, Flow *flow, gboolean others)
{
    if (flow->turn < 1)
        flow->turn += CLAMP(flow->transfer.weight, LEAST_WEIGHT, 1 / LEAST_WEIGHT);
    if (flow->turn >= 1 || !others)
        return TRUE;
    double saved = flow->turn;
    line_up(net, flow);
    flow->turn = saved;
    return FALSE;
}

uint32_t
packet_flow_pull(PacketNet *net, uint32_t link, uint32_t class, Flow **ended)
{
    Flow *flow = leave_ring(net, link, class);
    uint32_t seq, at = flow->ring_at;
    if (may_go(net, flow, &seq) != GO) {
        line_up(net, flow);
        packet_flow_close_if_over(net, flow); /* what it was to send again came after all */
        return INDEX_NONE;
    }
    if (!has_turn(net, flow, net->waiting[link].ringed >> class & 1))
        return INDEX_NONE;
    flow->turn = MAX(0, flow->turn - 1);
    uint32_t size = recovery_size(&flow->sender, seq), number = packet_new(net, flow, PACKET_DATA, size);
    Packet *packet = &net->packets[number];
    gboolean again = recovery_take(&flow->sender, seq, net->transport->wants_rtt, packet_now(net));
    packet->seq = seq;
    packet->at = at;
    packet->flags = again ? AGAIN : 0;
    net->totals.resent += again;
    flow->open.flight_B = flow->sender.flight_B;
    if (flow->open.credit_B != TRANSPORT_NO_LIMIT)
        flow->open.credit_B -= size;
    pace(net, flow, size);
    if (!again && flow->sender.next == flow->sender.n) {
        flow->open.all_sent = TRUE;
        *ended = flow;
    }
    if (net->transport->on_send != NULL)
        net->transport->on_send(&flow->open, size, again);
    line_up(net, flow);
    return number;
}

void
packet_flow_sent_all(PacketNet *net, Flow *flow, SimTime when)
{
    Progress *row = &net->progress[flow->activity];
    row->sent_ps = MAX(row->sent_ps, when);
    if (--row->sending == 0)
        activities_sent_in(net->base.activities, flow->activity, row->sent_ps - packet_now(net));
}

void
packet_flow_leave_rings(PacketNet *net, uint32_t link)
{
    Waiting *waiting = &net->waiting[link];
    for (uint32_t class = 0; class < PACKET_CLASSES; class ++)
        while (waiting->ringed >> class & 1) {
            Flow *flow = leave_ring(net, link, class);
            flow->lost_way = TRUE;
            packet_flow_close_if_over(net, flow);
        }
}

/* What arrives at the sender */

static void
finish_flow(PacketNet *net, Flow *flow)
{
    flow->done = TRUE;
    if (net->losses != NULL)
        packet_losses_leave(net->losses, flow);
    if (net->transport->on_end != NULL)
        net->transport->on_end(&flow->open);
    for (uint32_t t = 0; t < FLOW_TIMERS; t++)
        packet_flow_set_timer(net, flow, t, -1);
}

/* The packets that an ACK showed to be overtaken: in the list beyond the first n_known. */
static void
tell_lost(PacketNet *net, Flow *flow, uint32_t n_known)
{
    const RecoverySender *sender = &flow->sender;
    if (net->transport->on_nack == NULL)
        return;
    for (uint32_t i = n_known; i < sender->n_lost; i++)
        net->transport->on_nack(&flow->open, sender->lost[(sender->lost_first + i) % sender->lost_room], FALSE);
}

static void
take_ack(PacketNet *net, Flow *flow, uint32_t number)
{
    const Packet *packet = &net->packets[number];
    TransportAck ack = {
        .seq = packet->seq, .cumulative = packet->value, .marked = (packet->flags & MARKED) != 0, .rtt_ps = -1};
    SimTime since;
    uint32_t n_lost = flow->sender.n_lost;
    ack.acked_B = recovery_acked(&flow->sender, ack.seq, ack.cumulative, &since);
    flow->open.flight_B = flow->sender.flight_B;
    if (since >= 0)
        ack.rtt_ps = packet_now(net) - since;
    TransportHop hops[TRANSPORT_HOPS]; /* a copy: the hook may make packets */
    if (net->hops != NULL) {
        ack.n_hops = net->n_hops[number];
        memcpy(hops, &net->hops[(size_t)number * TRANSPORT_HOPS], ack.n_hops * sizeof *hops);
        ack.hops = hops;
    }
    if (ack.acked_B > 0)
        progress(net, flow);
    if (ack.acked_B > 0 && net->losses != NULL)
        packet_losses_acked(net->losses, flow, ack.acked_B);
    if (net->transport->on_ack != NULL)
        net->transport->on_ack(&flow->open, &ack);
    tell_lost(net, flow, n_lost);
    if (flow->sender.cumulative == flow->sender.n)
        finish_flow(net, flow);
}

static void
take_nack(PacketNet *net, Flow *flow, const Packet *packet)
{
    if (!recovery_nacked(&flow->sender, packet->seq))
        return;
    flow->open.flight_B = flow->sender.flight_B;
    progress(net, flow);
    if (net->transport->on_nack != NULL)
        net->transport->on_nack(&flow->open, packet->seq, (packet->flags & TRIMMED) != 0);
}

static void
take_signal(PacketNet *net, Flow *flow, TransportSignal signal, uint32_t value)
{
    const Transport *transport = net->transport;
    if (signal == TRANSPORT_CNP && transport->on_cnp != NULL)
        transport->on_cnp(&flow->open, value);
    else if (signal == TRANSPORT_PULL && transport->on_pull != NULL)
        transport->on_pull(&flow->open, value);
    else if (signal == TRANSPORT_ASK && transport->on_ask != NULL)
        transport->on_ask(&flow->open, value);
}

void
packet_flow_arrived(PacketNet *net, uint32_t number)
{
    Packet *packet = &net->packets[number];
    Flow *flow = packet_flow(net, packet->flow);
    PacketKind kind = packet->kind & KIND_BITS;
    if (kind == PACKET_DATA) {
        packet_receive_data(net, flow, number);
        return;
    }
    if (!flow->done) {
        if (kind == PACKET_ACK)
            take_ack(net, flow, number);
        else if (kind == PACKET_NACK)
            take_nack(net, flow, packet);
        else
            take_signal(net, flow, (TransportSignal)(kind - PACKET_SIGNAL), packet->value);
        if (!flow->done)
            packet_flow_kick(net, flow);
    }
    packet_free(net, number);
}

static void
handle_timeout(PacketNet *net, Flow *flow)
{
    if (flow->lost_way)
        return;                       /* until it has another way */
    if (flow->sender.flight_B == 0) { /* its rate or credit holds it: nothing is missing */
        packet_flow_set_timer(net, flow, TIMER_TIMEOUT, timeout_of(net, flow));
        return;
    }
    net->totals.timeouts++;
    recovery_timed_out(&flow->sender);
    flow->open.flight_B = flow->sender.flight_B;
    flow->backoff++;
    packet_flow_set_timer(net, flow, TIMER_TIMEOUT, timeout_of(net, flow));
    if (net->transport->on_timeout != NULL)
        net->transport->on_timeout(&flow->open);
}

void
packet_flow_handle_timer(void *owner, const Event *event)
{
    PacketNet *net = owner;
    Flow *flow = packet_flow(net, event->target);
    uint32_t timer = event->stamp & 7;
    FlowTimer *row = &flow->timers[timer];
    if (!flow->live || flow->generation << 3 != (event->stamp & ~7u) || row->pending != event->when) {
        engine_abandon(net->base.engine, -1);
        return;
    }
    row->pending = -1;
    if (row->due < 0)
        return;
    if (row->due > event->when) {
        schedule_timer(net, flow, timer, row->due);
        return;
    }
    row->due = -1;
    if (timer == TIMER_TIMEOUT)
        handle_timeout(net, flow);
    else if (timer < TRANSPORT_TIMERS)
        net->transport->on_timer(&flow->open, timer);
    packet_flow_kick(net, flow);
}

void
packet_flow_begin(PacketNet *net, uint32_t number)
{
    Flow *flow = packet_flow(net, number);
    progress(net, flow);
    net->transport->start(&flow->open);
    if (net->losses != NULL)
        packet_losses_enter(net->losses, flow);
    packet_flow_kick(net, flow);
}

/* Keeps a pair of paths until the flow ends: packets may be on them. */
static void
retire(PacketNet *net, Flow *flow, uint32_t forward, uint32_t back)
{
    uint32_t pair = packet_path_row(net, 3);
    net->words[pair] = forward;
    net->words[pair + 1] = back;
    net->words[pair + 2] = flow->old_paths;
    flow->old_paths = pair;
}

void
packet_flow_reroute(PacketNet *net, Flow *flow)
{
    uint32_t forward = flow->forward, back = flow->back;
    flow->lost_way = !find_ways(net, flow, NULL);
    if (flow->lost_way)
        return;
    retire(net, flow, forward, back);
    if (net->losses != NULL)
        packet_losses_rerouted(net->losses, flow);
    progress(net, flow);
    packet_flow_kick(net, flow);
}
