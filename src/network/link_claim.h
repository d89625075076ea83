/* link_claim.h - which links are kept for whom
 *
 * A claim is a set of links on which only its owner sends. Whoever else is about to use one, or to change it, touches
 * it first: the claim is dropped and its owner told, at once. A link is in one claim at most. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct LinkClaims LinkClaims;

LinkClaims *link_claims_new(uint32_t n_links);
void link_claims_free(LinkClaims *claims); /* NULL is fine; nobody is told */

/* The claim's links are free already. May touch and take others. */
typedef void (*LinkClaimRelease)(void *owner);

/* The links, of no other claim, are copied. apart: no hash leads over them that could have led elsewhere, or here from
 * elsewhere. Its number, which may be that of a claim dropped earlier. */
uint32_t link_claims_take(LinkClaims *claims, const uint32_t *links, uint32_t n, gboolean apart,
                          LinkClaimRelease release, void *owner);
/* Gives the links back without telling. */
void link_claims_drop(LinkClaims *claims, uint32_t claim);

/* Releases the claim on a link, if there is one: TRUE. */
gboolean link_claims_touch(LinkClaims *claims, uint32_t link);
/* Releases every claim, or all that are not apart, in the order of their numbers. */
void link_claims_touch_all(LinkClaims *claims, gboolean apart_too);
/* Is some owner being told just now? */
gboolean link_claims_releasing(const LinkClaims *claims);
/* Claims that stand. */
uint32_t link_claims_n(const LinkClaims *claims);
