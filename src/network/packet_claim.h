/* packet_claim.h - what the transfers of one collective lost, put together: at each instant the one that lost most
 *
 * A record says that over a stretch of time a transfer lost a share of it. Records of one claim are kept until all that
 * may overlap are there, and are then laid on the line of time, the greatest share first; what is covered counts once
 * (DEFINITIONS 6). */
#pragma once

#include "network/loss_book.h"

typedef struct {
    uint32_t job; /* INDEX_NONE: indirect, or a fault */
    double share; /* of the loss */
    double bytes; /* what it moved over the link in the stretch */
} LossCulprit;

typedef struct {
    SimTime from_ps, to_ps; /* from < to */
    double lost;            /* seconds a second, above 0, at most 1 */
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
/* Books all records, and forgets them. */
void packet_claim_book(PacketClaim *claim, LossBook *book, SimTime bucket_ps);
void packet_claim_clear(PacketClaim *claim);
