/* loss_claim.h - transfers of one collective in flight together count once (DEFINITIONS 6)
 *
 * A claim is a coflow, or a transfer of none. Of its members the one that loses most of a sort of loss is booked for it
 * (equal: the one made first). Members tell what they lose; claims say who counts, once a settling. */
#pragma once

#include "network/loss_meter.h"

typedef enum { LOST_CONTENTION, LOST_COLLISION, LOST_FAULT, LOST_SORTS } LostSort;

typedef struct LossClaims LossClaims;

/* Books what the claim loses now: worst[sort] is the member that counts, INDEX_NONE = none loses. Calls claims_book for
 * each part of it. */
typedef void (*ClaimBooking)(void *owner, uint32_t claim, const uint32_t *worst, SimTime now);

/* meter is borrowed. */
LossClaims *claims_new(LossMeter *meter, ClaimBooking book, void *owner);
void claims_free(LossClaims *claims); /* NULL is fine */

/* An activity of a coflow (INDEX_NONE = none), with its order of creation. */
void claims_join(LossClaims *claims, uint32_t activity, uint32_t coflow, uint64_t order);
void claims_leave(LossClaims *claims, uint32_t activity);
/* What it loses, in seconds a second; its claim will be booked anew. */
void claims_set(LossClaims *claims, uint32_t activity, LostSort sort, double lost);
double claims_get(const LossClaims *claims, uint32_t activity, LostSort sort);

/* Books anew all claims that changed. */
void claims_settle(LossClaims *claims, SimTime now);
/* Within ClaimBooking. */
void claims_book(LossClaims *claims, uint32_t claim, const LossPlace *place, double lost, SimTime now);
