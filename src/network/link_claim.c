#include "network/link_claim.h"

#include "base/index.h"

#include <assert.h>
#include <string.h>

typedef struct {
    LinkClaimRelease release; /* NULL = free */
    void *owner;
    uint32_t *links;
    uint32_t n;
    gboolean apart;
} Claim;

struct LinkClaims {
    uint32_t *claim_of; /* by link; NULL until the first claim */
    uint32_t n_links;
    GArray *rows; /* of Claim */
    GArray *free_rows;
    uint32_t n, releasing;
};

LinkClaims *
link_claims_new(uint32_t n_links)
{
    LinkClaims *claims = g_new0(LinkClaims, 1);
    claims->n_links = n_links;
    claims->rows = g_array_new(FALSE, FALSE, sizeof(Claim));
    claims->free_rows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    return claims;
}

void
link_claims_free(LinkClaims *claims)
{
    if (claims == NULL)
        return;
    for (guint i = 0; i < claims->rows->len; i++)
        g_free(g_array_index(claims->rows, Claim, i).links);
    g_array_unref(claims->rows);
    g_array_unref(claims->free_rows);
    g_free(claims->claim_of);
    g_free(claims);
}

static uint32_t
take_row(LinkClaims *claims)
{
    Claim none = {0};
    if (claims->free_rows->len == 0) {
        g_array_append_val(claims->rows, none);
        return claims->rows->len - 1;
    }
    uint32_t row = g_array_index(claims->free_rows, uint32_t, claims->free_rows->len - 1);
    g_array_set_size(claims->free_rows, claims->free_rows->len - 1);
    return row;
}

uint32_t
link_claims_take(LinkClaims *claims, const uint32_t *links, uint32_t n, gboolean apart, LinkClaimRelease release,
                 void *owner)
{
    if (claims->claim_of == NULL) {
        claims->claim_of = g_new(uint32_t, MAX(1, claims->n_links));
        memset(claims->claim_of, 0xff, claims->n_links * sizeof *claims->claim_of);
    }
    uint32_t row = take_row(claims);
    g_array_index(claims->rows, Claim, row) = (Claim){release, owner, g_memdup2(links, n * sizeof *links), n, apart};
    for (uint32_t i = 0; i < n; i++) {
        assert(claims->claim_of[links[i]] == INDEX_NONE);
        claims->claim_of[links[i]] = row;
    }
    claims->n++;
    return row;
}

void
link_claims_drop(LinkClaims *claims, uint32_t row)
{
    Claim *claim = &g_array_index(claims->rows, Claim, row);
    assert(claim->release != NULL);
    for (uint32_t i = 0; i < claim->n; i++)
        claims->claim_of[claim->links[i]] = INDEX_NONE;
    g_free(claim->links);
    *claim = (Claim){0};
    g_array_append_val(claims->free_rows, row);
    claims->n--;
}

static void
release(LinkClaims *claims, uint32_t row)
{
    Claim claim = g_array_index(claims->rows, Claim, row);
    link_claims_drop(claims, row);
    claims->releasing++;
    claim.release(claim.owner);
    claims->releasing--;
}

gboolean
link_claims_touch(LinkClaims *claims, uint32_t link)
{
    if (claims->n == 0 || claims->claim_of[link] == INDEX_NONE)
        return FALSE;
    release(claims, claims->claim_of[link]);
    return TRUE;
}

void
link_claims_touch_all(LinkClaims *claims, gboolean apart_too)
{
    for (uint32_t row = 0; row < claims->rows->len && claims->n > 0; row++) {
        const Claim *claim = &g_array_index(claims->rows, Claim, row);
        if (claim->release != NULL && (apart_too || !claim->apart))
            release(claims, row);
    }
}

gboolean
link_claims_releasing(const LinkClaims *claims)
{
    return claims->releasing > 0;
}

uint32_t
link_claims_n(const LinkClaims *claims)
{
    return claims->n;
}
