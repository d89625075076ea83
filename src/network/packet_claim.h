/* packet_claim.h - what the transfers of one collective lost, put together: at each instant one port's mean
 *
 * A record says that over a stretch of time a transfer lost a share of it; below 0 it was ahead of what it gets alone.
 * A queue serves in the order of arrival: of transfers that wait in one queue some are ahead and others behind without
 * their job losing anything. So the members at one port count by their mean, and of several ports the one counts at
 * which the job usually loses most, whatever the chance of this moment (DEFINITIONS 6: transfers of one collective
 * together count once). Records are kept until all that may overlap are there. */
#pragma once

#include "network/loss_book.h"

typedef struct {
    uint32_t job; /* INDEX_NONE: a fault */
    double share; /* of the loss */
    double bytes; /* what it moved over the link in the stretch */
} LossCulprit;

typedef struct {
    SimTime from_ps, to_ps; /* from < to */
    double lost;            /* seconds a second, at most 1 */
    double usual;           /* the same of all the job's transfers at that port so far */
    uint32_t victim_job, iteration, link;
    LossKind kind;
    uint32_t first, n; /* culprits */
} LossRecord;

typedef struct {
    GArray *records;  /* of LossRecord */
    GArray *culprits; /* of LossCulprit */
} PacketClaim;

/* Copies; the record's culprits are these. */
void packet_claim_add(PacketClaim *claim, LossRecord record, const LossCulprit *culprits, uint32_t n);
/* Books all records, and forgets them; sums may be below 0 (loss_book_settle_gains). */
void packet_claim_book(PacketClaim *claim, LossBook *book, SimTime bucket_ps);
void packet_claim_clear(PacketClaim *claim);
