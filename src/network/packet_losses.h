/* packet_losses.h - the books of lost transfer time of a packet run (DEFINITIONS 6, doc/model.md)
 *
 * A flow's clock begins when its first ACK would come in an empty network, and is read every 10 round trips and when
 * the flow ends. What was acknowledged, over the rate that max-min gives the flow among those of its own job now in
 * flight, is the time it would have taken alone: the rest of the clock is lost, as far as others at its worst port can
 * have cost it. */
#pragma once

#include "network/packet_net.h"

/* Kept only where there are two jobs. net is borrowed, and has books. */
PacketLosses *packet_losses_new(PacketNet *net);
void packet_losses_free(PacketLosses *losses); /* NULL is fine */

/* It begins to send. */
void packet_losses_enter(PacketLosses *losses, Flow *flow);
/* So many bytes, on the wire, of packets that were not acknowledged before. */
void packet_losses_acked(PacketLosses *losses, Flow *flow, uint64_t bytes);
/* All is acknowledged. Fine where it never entered. */
void packet_losses_leave(PacketLosses *losses, Flow *flow);
/* The capacity of a link is another now, 0 = dead. */
void packet_losses_link(PacketLosses *losses, uint32_t link);
/* It has another way. */
void packet_losses_rerouted(PacketLosses *losses, Flow *flow);
void packet_losses_finish(PacketLosses *losses);
