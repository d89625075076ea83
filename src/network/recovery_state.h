/* recovery_state.h - inside the packet model: what the two ends of a flow know of its packets
 *
 * Packets are numbered from 0. The sender's record of what is out grows with what is out, not with the flow. Sizes are
 * wire bytes. */
#pragma once

#include "network/recovery.h"

#include <stdint.h>

typedef struct {
    RecoveryKind kind;
    uint32_t n, reorder;
    uint32_t full_B, last_B; /* size of a packet, of the last one */
    uint32_t cumulative;     /* all below are acknowledged */
    uint32_t next;           /* the next one to send that is not in lost */
    uint32_t high;           /* all below have been sent once */
    uint32_t scan;           /* all below have been looked at for loss */
    uint8_t *marks;          /* by number & mask, of [cumulative, high) */
    SimTime *sent_ps;        /* likewise; NULL where not asked for */
    uint32_t mask;           /* room - 1; marks NULL = no room */
    uint32_t *lost;          /* numbers to send again, oldest first, from lost_first */
    uint32_t n_lost, lost_first, lost_room;
    uint64_t flight_B;
} RecoverySender;

typedef struct {
    RecoveryKind kind;
    uint32_t n;
    uint32_t expected; /* all below have come */
    gboolean asked;    /* for expected, since it became that (go_back_n) */
    uint64_t *bits;    /* by number & mask: came, above expected */
    uint32_t mask;
} RecoveryReceiver;

void recovery_sender_init(RecoverySender *sender, const RecoveryConfig *config, uint32_t n, uint32_t full_B,
                          uint32_t last_B);
void recovery_sender_clear(RecoverySender *sender);

static inline uint32_t
recovery_size(const RecoverySender *sender, uint32_t seq)
{
    return seq == sender->n - 1 ? sender->last_B : sender->full_B;
}

/* The packet to send next, without taking it; FALSE: none. */
gboolean recovery_peek(RecoverySender *sender, uint32_t *seq);
/* The packet of recovery_peek leaves now: TRUE where it has been sent before. with_time: remember when. */
gboolean recovery_take(RecoverySender *sender, uint32_t seq, gboolean with_time, SimTime now);

/* Packet seq arrived, and all below cumulative: bytes newly acknowledged; *since = when it was sent, -1 where that is
 * not known or it was sent again. */
uint64_t recovery_acked(RecoverySender *sender, uint32_t seq, uint32_t cumulative, SimTime *since);
/* The receiver lacks seq: it, and with go_back_n all from it on, will be sent again. FALSE: it is out anew, or has
 * arrived, as far as known here. */
gboolean recovery_nacked(RecoverySender *sender, uint32_t seq);
/* Nothing came for too long: all that is not acknowledged will be sent again. */
void recovery_timed_out(RecoverySender *sender);

void recovery_receiver_init(RecoveryReceiver *receiver, const RecoveryConfig *config, uint32_t n);
void recovery_receiver_clear(RecoveryReceiver *receiver);

typedef enum { RECEIVED_NEW, RECEIVED_AGAIN, RECEIVED_REFUSED } Received;
Received recovery_receive(RecoveryReceiver *receiver, uint32_t seq);
