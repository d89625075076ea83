/* packet_receive.c - the receiver's end of a flow: what is kept, and what goes back for it
 *
 * The record of a data packet becomes that of its ACK, so that marks and what ports stamped go back with it. */
#include "network/packet_net.h"

/* All of the flow has come. */
static void
complete(PacketNet *net, Flow *flow)
{
    flow->arrived = TRUE;
    Progress *row = &net->progress[flow->activity];
    if (--row->arriving == 0) {
        const Activity *activity = activities_get(net->base.activities, flow->activity);
        activities_delivered_in(net->base.activities, flow->activity, activity->single ? 0 : activity->latency_ps);
    }
    if (net->transport->on_received != NULL)
        net->transport->on_received(&flow->open);
}

static void
answer(PacketNet *net, Flow *flow, uint32_t number, PacketKind kind, uint32_t seq)
{
    Packet *packet = &net->packets[number];
    uint32_t class = net->control_first ? PACKET_CONTROL_CLASS : flow->class;
    packet->kind = (uint8_t)(kind | class << CLASS_SHIFT);
    packet->size = (uint16_t)net->base.config.packet.ack_B;
    packet->seq = seq;
    packet->value = flow->receiver.expected;
    packet->at = flow->back;
    packet_forward(net, number, INDEX_NONE);
}

/* go_back_n lacks the packet it expects: it asks once. */
static void
refuse(PacketNet *net, Flow *flow, uint32_t number)
{
    if (flow->receiver.asked) {
        packet_free(net, number);
        return;
    }
    flow->receiver.asked = TRUE;
    answer(net, flow, number, PACKET_NACK, flow->receiver.expected);
}

void
packet_receive_data(PacketNet *net, Flow *flow, uint32_t number)
{
    if (flow->done) {
        packet_free(net, number); /* a late copy */
        return;
    }
    Packet packet = net->packets[number];
    TransportData data = {.seq = packet.seq,
                          .bytes = packet.size,
                          .marked = (packet.flags & MARKED) != 0,
                          .trimmed = (packet.flags & TRIMMED) != 0,
                          .again = (packet.flags & AGAIN) != 0};
    Received received = data.trimmed ? RECEIVED_REFUSED : recovery_receive(&flow->receiver, packet.seq);
    data.fresh = received == RECEIVED_NEW;
    if (data.fresh)
        flow->received_B += packet.size - net->base.config.packet.header_B;
    if (net->transport->on_data != NULL)
        net->transport->on_data(&flow->open, &data);
    if (received == RECEIVED_REFUSED && flow->receiver.kind == RECOVERY_GO_BACK_N)
        refuse(net, flow, number);
    else
        answer(net, flow, number, received == RECEIVED_REFUSED ? PACKET_NACK : PACKET_ACK, packet.seq);
    if (flow->receiver.expected == flow->sender.n && !flow->arrived)
        complete(net, flow);
}
