#include "network/recovery_state.h"

#include <assert.h>
#include <string.h>

/* Marks of a packet at its sender. */
enum {
    OUT = 1,   /* in flight, as far as known */
    ACKED = 2, /* has arrived */
    LOST = 4,  /* in the list of those to send again */
    AGAIN = 8  /* sent more than once */
};

enum { FIRST_ROOM = 64 };

void
recovery_sender_init(RecoverySender *sender, const RecoveryConfig *config, uint32_t n, uint32_t full_B, uint32_t last_B)
{
    *sender =
        (RecoverySender){.kind = config->kind, .n = n, .reorder = config->reorder, .full_B = full_B, .last_B = last_B};
}

void
recovery_sender_clear(RecoverySender *sender)
{
    g_clear_pointer(&sender->marks, g_free);
    g_clear_pointer(&sender->sent_ps, g_free);
    g_clear_pointer(&sender->lost, g_free);
}

/* Room for numbers [cumulative, high]. */
static void
make_room(RecoverySender *sender, gboolean with_time)
{
    uint32_t room = sender->marks == NULL ? 0 : sender->mask + 1;
    if (sender->high - sender->cumulative < room && (sender->sent_ps != NULL || !with_time))
        return;
    uint32_t grown = room == 0 ? FIRST_ROOM : sender->high - sender->cumulative < room ? room : 2 * room;
    uint8_t *marks = g_new0(uint8_t, grown);
    SimTime *sent_ps = with_time ? g_new0(SimTime, grown) : NULL;
    for (uint32_t seq = sender->cumulative; seq < sender->high && room > 0; seq++) {
        marks[seq & (grown - 1)] = sender->marks[seq & sender->mask];
        if (sent_ps != NULL && sender->sent_ps != NULL)
            sent_ps[seq & (grown - 1)] = sender->sent_ps[seq & sender->mask];
    }
    g_free(sender->marks);
    g_free(sender->sent_ps);
    sender->marks = marks;
    sender->sent_ps = sent_ps;
    sender->mask = grown - 1;
}

static void
lose(RecoverySender *sender, uint32_t seq)
{
    uint8_t *mark = &sender->marks[seq & sender->mask];
    if (*mark & OUT)
        sender->flight_B -= recovery_size(sender, seq);
    *mark = (uint8_t)((*mark & ~OUT) | LOST);
    if (sender->n_lost == sender->lost_room) {
        uint32_t room = MAX(16, 2 * sender->lost_room);
        uint32_t *lost = g_new(uint32_t, room);
        for (uint32_t i = 0; i < sender->n_lost; i++)
            lost[i] = sender->lost[(sender->lost_first + i) % sender->lost_room];
        g_free(sender->lost);
        sender->lost = lost;
        sender->lost_first = 0;
        sender->lost_room = room;
    }
    sender->lost[(sender->lost_first + sender->n_lost++) % sender->lost_room] = seq;
}

/* Is the number still to be sent again? */
static gboolean
still_lost(const RecoverySender *sender, uint32_t seq)
{
    return seq >= sender->cumulative && (sender->marks[seq & sender->mask] & LOST) != 0;
}

gboolean
recovery_peek(RecoverySender *sender, uint32_t *seq)
{
    while (sender->n_lost > 0) {
        *seq = sender->lost[sender->lost_first];
        if (still_lost(sender, *seq))
            return TRUE;
        sender->lost_first = (sender->lost_first + 1) % sender->lost_room;
        sender->n_lost--;
    }
    *seq = sender->next;
    return sender->next < sender->n;
}

gboolean
recovery_take(RecoverySender *sender, uint32_t seq, gboolean with_time, SimTime now)
{
    gboolean again = seq < sender->high;
    if (seq == sender->high)
        make_room(sender, with_time);
    if (sender->n_lost > 0) {
        assert(seq == sender->lost[sender->lost_first]);
        sender->lost_first = (sender->lost_first + 1) % sender->lost_room;
        sender->n_lost--;
    } else {
        sender->next++;
        sender->high = MAX(sender->high, sender->next);
    }
    sender->marks[seq & sender->mask] = again ? OUT | AGAIN : OUT;
    if (with_time)
        sender->sent_ps[seq & sender->mask] = now;
    sender->flight_B += recovery_size(sender, seq);
    return again;
}

/* Marks one as arrived: its bytes, 0 where that was known. */
static uint64_t
arrive(RecoverySender *sender, uint32_t seq)
{
    uint8_t *mark = &sender->marks[seq & sender->mask];
    if (*mark & ACKED)
        return 0;
    if (*mark & OUT)
        sender->flight_B -= recovery_size(sender, seq);
    *mark = (uint8_t)((*mark & AGAIN) | ACKED);
    return recovery_size(sender, seq);
}

/* Packets that were overtaken by `reorder` later ones are lost; each is judged so once, then the timeout does. */
static void
judge(RecoverySender *sender, uint32_t seq)
{
    while (sender->scan < seq && seq - sender->scan >= sender->reorder) {
        if (sender->scan >= sender->cumulative && (sender->marks[sender->scan & sender->mask] & (OUT | AGAIN)) == OUT)
            lose(sender, sender->scan);
        sender->scan++;
    }
}

uint64_t
recovery_acked(RecoverySender *sender, uint32_t seq, uint32_t cumulative, SimTime *since)
{
    uint64_t bytes = 0;
    *since = -1;
    if (seq >= sender->cumulative && seq < sender->high) {
        uint32_t slot = seq & sender->mask;
        if (sender->sent_ps != NULL && (sender->marks[slot] & (OUT | AGAIN)) == OUT)
            *since = sender->sent_ps[slot];
        if (sender->kind != RECOVERY_GO_BACK_N)
            bytes += arrive(sender, seq);
    }
    assert(cumulative <= sender->high);
    while (sender->cumulative < cumulative) {
        bytes += arrive(sender, sender->cumulative);
        sender->cumulative++;
    }
    sender->next = MAX(sender->next, sender->cumulative);
    sender->scan = MAX(sender->scan, sender->cumulative);
    if (sender->kind == RECOVERY_SELECTIVE_REPEAT && seq >= sender->cumulative)
        judge(sender, seq);
    return bytes;
}

/* Goes back to the first that is not acknowledged. */
static void
go_back(RecoverySender *sender)
{
    for (uint32_t seq = sender->cumulative; seq < sender->next; seq++)
        sender->marks[seq & sender->mask] &= (uint8_t)~OUT;
    sender->next = sender->cumulative;
    sender->flight_B = 0;
}

gboolean
recovery_nacked(RecoverySender *sender, uint32_t seq)
{
    if (sender->kind == RECOVERY_GO_BACK_N) {
        if (seq < sender->cumulative || seq >= sender->next)
            return FALSE;
        SimTime since;
        recovery_acked(sender, seq, seq, &since);
        go_back(sender);
        return TRUE;
    }
    if (seq < sender->cumulative || seq >= sender->high || (sender->marks[seq & sender->mask] & (ACKED | LOST)) != 0)
        return FALSE;
    lose(sender, seq);
    return TRUE;
}

void
recovery_timed_out(RecoverySender *sender)
{
    if (sender->kind == RECOVERY_GO_BACK_N) {
        go_back(sender);
        return;
    }
    for (uint32_t seq = sender->cumulative; seq < sender->high; seq++)
        if ((sender->marks[seq & sender->mask] & (ACKED | LOST)) == 0)
            lose(sender, seq);
}

void
recovery_receiver_init(RecoveryReceiver *receiver, const RecoveryConfig *config, uint32_t n)
{
    *receiver = (RecoveryReceiver){.kind = config->kind, .n = n};
}

void
recovery_receiver_clear(RecoveryReceiver *receiver)
{
    g_clear_pointer(&receiver->bits, g_free);
}

static gboolean
bit_of(const RecoveryReceiver *receiver, uint32_t seq)
{
    uint32_t slot = seq & receiver->mask;
    return receiver->bits[slot / 64] >> slot % 64 & 1;
}

/* Numbers [expected, seq] have a bit each. */
static void
make_bits(RecoveryReceiver *receiver, uint32_t seq)
{
    uint32_t room = receiver->bits == NULL ? 0 : receiver->mask + 1;
    if (seq - receiver->expected < room)
        return;
    uint32_t grown = MAX(room, FIRST_ROOM);
    while (seq - receiver->expected >= grown)
        grown *= 2;
    uint64_t *bits = g_new0(uint64_t, grown / 64);
    for (uint32_t i = 0; i < room; i++) {
        uint32_t old = receiver->expected + i, slot = old & (grown - 1);
        if (bit_of(receiver, old))
            bits[slot / 64] |= UINT64_C(1) << slot % 64;
    }
    g_free(receiver->bits);
    receiver->bits = bits;
    receiver->mask = grown - 1;
}

static void
clear_bit(RecoveryReceiver *receiver, uint32_t seq)
{
    uint32_t slot = seq & receiver->mask;
    receiver->bits[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

Received
recovery_receive(RecoveryReceiver *receiver, uint32_t seq)
{
    if (seq < receiver->expected)
        return RECEIVED_AGAIN;
    if (receiver->kind == RECOVERY_GO_BACK_N && seq != receiver->expected)
        return RECEIVED_REFUSED;
    if (seq != receiver->expected) {
        make_bits(receiver, seq);
        if (bit_of(receiver, seq))
            return RECEIVED_AGAIN;
        uint32_t slot = seq & receiver->mask;
        receiver->bits[slot / 64] |= UINT64_C(1) << slot % 64;
        return RECEIVED_NEW;
    }
    receiver->asked = FALSE;
    receiver->expected++;
    while (receiver->bits != NULL && receiver->expected < receiver->n && bit_of(receiver, receiver->expected)) {
        clear_bit(receiver, receiver->expected);
        receiver->expected++;
    }
    return RECEIVED_NEW;
}
