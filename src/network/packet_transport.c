/* packet_transport.c - what transports ask of the packet model (transport.h) */
#include "network/packet_net.h"

#include <assert.h>

/* A sink with what only the model knows of it. */
typedef struct {
    TransportSink open;
    SimTime due; /* -1 = off */
    uint32_t stamp;
} Sink;

static Flow *
flow_of(const TransportFlow *flow)
{
    return packet_flow(flow->net, flow->number);
}

SimTime
transport_now(const TransportFlow *flow)
{
    return packet_now(flow->net);
}

SimTime
transport_sink_now(const TransportSink *sink)
{
    return packet_now(sink->net);
}

uint64_t
transport_seed(const PacketNet *net)
{
    return net->base.config.seed;
}

void
transport_set_timer(TransportFlow *flow, uint32_t timer, SimTime delay)
{
    assert(timer < TRANSPORT_TIMERS);
    packet_flow_set_timer(flow->net, flow_of(flow), timer, delay);
}

gboolean
transport_timer_is_set(const TransportFlow *flow, uint32_t timer)
{
    assert(timer < TRANSPORT_TIMERS);
    return flow_of(flow)->timers[timer].due >= 0;
}

void
transport_signal(TransportFlow *open, TransportSignal signal, uint32_t value)
{
    PacketNet *net = open->net;
    Flow *flow = flow_of(open);
    if (flow->done)
        return;
    uint32_t number = packet_new(net, flow, (PacketKind)(PACKET_SIGNAL + signal), open->control_B);
    Packet *packet = &net->packets[number];
    packet->value = value;
    packet->seq = flow->receiver.expected;
    packet->at = signal == TRANSPORT_ASK ? flow->forward : flow->back;
    packet_forward(net, number, INDEX_NONE);
}

void
transport_changed(TransportFlow *flow)
{
    packet_flow_kick(flow->net, flow_of(flow));
}

TransportFlow *
transport_flow(PacketNet *net, uint32_t number)
{
    if (number >= net->n_flows)
        return NULL;
    Flow *flow = packet_flow(net, number);
    return flow->live && !flow->done ? &flow->open : NULL;
}

TransportSink *
transport_sink(const TransportFlow *flow)
{
    PacketNet *net = flow->net;
    uint32_t link = flow_of(flow)->last_link;
    if (net->sinks[link] == NULL) {
        Sink *sink = g_new0(Sink, 1);
        sink->due = -1;
        sink->open = (TransportSink){.net = net,
                                     .number = link,
                                     .link = link,
                                     .rate_Bps = net->ports[link].rate_Bps,
                                     .params = net->setup.params,
                                     .state = g_malloc0(MAX(1, net->transport->sink_size))};
        net->sinks[link] = &sink->open;
    }
    return net->sinks[link];
}

void
transport_set_sink_timer(TransportSink *open, SimTime delay)
{
    Sink *sink = (Sink *)open;
    PacketNet *net = open->net;
    if (sink->due >= 0)
        engine_abandon(net->base.engine, 1);
    sink->due = -1;
    sink->stamp++;
    if (delay < 0 || !sim_time_add(packet_now(net), delay, &sink->due))
        return;
    engine_schedule(net->base.engine, (Event){.when = sink->due,
                                              .kind = net->kind_sink,
                                              .target = open->number,
                                              .sender = NETWORK_SENDER,
                                              .stamp = sink->stamp});
}

void
packet_sink_handle_timer(void *owner, const Event *event)
{
    PacketNet *net = owner;
    Sink *sink = (Sink *)net->sinks[event->target];
    if (sink->stamp != event->stamp) {
        engine_abandon(net->base.engine, -1);
        return;
    }
    sink->due = -1;
    net->transport->on_sink_timer(&sink->open);
}

void
packet_sinks_clear(PacketNet *net)
{
    for (uint32_t l = 0; l < fabric_n_links(net->fabric); l++) {
        if (net->sinks[l] != NULL)
            g_free(net->sinks[l]->state);
        g_free(net->sinks[l]);
    }
    g_free(net->sinks);
}
