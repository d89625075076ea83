/* hold.h - links held by one client whose transfers never meet each other, so that it may reckon their times itself
 *
 * Transfers that each have the rate they would have alone, whenever they run and whichever of the others run with
 * them, need no solver: their client knows their ends in advance. A hold keeps everybody else off their links. When a
 * foreign transfer enters one of them, or a link changes, the hold is released first: the client is told, books what
 * is past, and goes on with ordinary transfers, some of them begun before. Only fluid offers holds. */
#pragma once

#include "network/network.h"

typedef struct NetworkHold NetworkHold;

/* The hold is about to end, in this instant, before what ends it has happened. Within this call the client books what
 * has been sent (network_hold_book) and hands over what is under way (network_send_begun), each transfer in one of
 * the two ways, before it sends anything else; afterwards the hold is gone. At the end of the run (network_finish) as
 * well. */
typedef void (*NetworkRelease)(void *owner, uint32_t cookie);

/* May network_hold be granted by this model at all? */
gboolean network_offers_holds(const Network *network);

/* Holds the links of these n transfers (copied; their bytes are not looked at) where all n can run at once, each at
 * the rate it has alone, no link over capacity, and nobody else is on their links. Else NULL: send as usual. Each
 * stands for a row of transfers over the same way, of which one at a time sends. */
NetworkHold *network_hold(Network *network, const Transfer *transfers, uint32_t n, NetworkRelease release, void *owner,
                          uint32_t cookie);
/* Would these fit so, were nobody else there? Of a model that offers holds. */
gboolean network_hold_fits(Network *network, const Transfer *transfers, uint32_t n);
/* All is booked: gives the links back; release is not called. NULL is fine. */
void network_hold_end(NetworkHold *hold);

/* What each of them has while the hold lasts: the latency, and the rate alone as the solver rounds it. */
NetworkProbe network_hold_probe(const NetworkHold *hold, uint32_t member);
/* From the start of a transfer of so many bytes to its last byte sent, exactly as by network_send; 0 bytes: 0. */
SimTime network_hold_time(const NetworkHold *hold, uint32_t member, uint64_t bytes);

/* Books one transfer that was sent whole within the hold (its bytes over its links, its record; it arrives a latency
 * after sent_ps, which lies at or before now). In any order; what is booked is told when the hold ends. */
void network_hold_book(NetworkHold *hold, uint32_t member, uint64_t bytes, SimTime start_ps, SimTime sent_ps);

/* Books a row of transfers, all sent whole between start_ps and sent_ps, as one transfer at their mean rate. */
void network_hold_book_row(NetworkHold *hold, uint32_t member, uint64_t bytes, SimTime start_ps, SimTime sent_ps);

/* Does anybody listen to bookings (books are kept, or an observer is told of transfers)? Where not, it is enough to say
 * how many there were: so many transfers, of so many bytes in all, into the totals. */
gboolean network_hold_listens(const NetworkHold *hold);
void network_hold_count(NetworkHold *hold, uint64_t n_transfers, uint64_t bytes);

/* Within a release: as network_send, but it began at begun_ps and has had its rate alone since; it must be a transfer
 * of the hold (but for its bytes). */
gboolean network_send_begun(Network *network, uint32_t client, const Transfer *transfer, SimTime begun_ps,
                            uint32_t cookie, GError **error);
