#include "network/loss_claim.h"

#include "base/index.h"

#include <assert.h>

/* Losses closer than 2^-36 count as equal. */
#define RESOLUTION 0x1p36

typedef struct {
    uint32_t claim;
    uint64_t order;
    double lost[LOST_SORTS];
    uint32_t slot[LOST_SORTS]; /* in the claim's heap; INDEX_NONE = loses nothing */
} Member;

typedef struct {
    uint32_t *items; /* activities, the one that loses most first */
    uint32_t n, room;
} Heap;

typedef struct {
    uint32_t coflow;
    uint32_t n_members;
    gboolean changed;
    Heap heaps[LOST_SORTS];
    uint32_t bookings; /* chain */
} Claim;

typedef struct {
    uint32_t cell, next;
    LossRate rate;
} Booking;

struct LossClaims {
    LossMeter *meter;
    ClaimBooking book;
    void *owner;
    Member *members; /* by activity */
    uint32_t members_room;
    Claim *claims;
    uint32_t n_claims, claims_room;
    GArray *free_claims;   /* of uint32_t */
    GArray *changed;       /* of uint32_t */
    GHashTable *of_coflow; /* looked up, never walked: coflow + 1 -> claim + 1 */
    Booking *bookings;
    uint32_t n_bookings, bookings_room, free_booking;
};

LossClaims *
claims_new(LossMeter *meter, ClaimBooking book, void *owner)
{
    LossClaims *claims = g_new0(LossClaims, 1);
    claims->meter = meter;
    claims->book = book;
    claims->owner = owner;
    claims->free_claims = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    claims->changed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    claims->of_coflow = g_hash_table_new(NULL, NULL);
    claims->free_booking = INDEX_NONE;
    return claims;
}

void
claims_free(LossClaims *claims)
{
    if (claims == NULL)
        return;
    for (uint32_t c = 0; c < claims->n_claims; c++)
        for (int sort = 0; sort < LOST_SORTS; sort++)
            g_free(claims->claims[c].heaps[sort].items);
    g_array_unref(claims->free_claims);
    g_array_unref(claims->changed);
    g_hash_table_unref(claims->of_coflow);
    g_free(claims->members);
    g_free(claims->claims);
    g_free(claims->bookings);
    g_free(claims);
}

static void
mark_changed(LossClaims *claims, uint32_t c)
{
    if (claims->claims[c].changed)
        return;
    claims->claims[c].changed = TRUE;
    g_array_append_val(claims->changed, c);
}

static uint32_t
take_claim(LossClaims *claims, uint32_t coflow)
{
    uint32_t c = claims->n_claims;
    if (claims->free_claims->len > 0) {
        c = g_array_index(claims->free_claims, uint32_t, claims->free_claims->len - 1);
        g_array_set_size(claims->free_claims, claims->free_claims->len - 1);
    } else {
        if (c == claims->claims_room) {
            claims->claims_room = MAX(64, 2 * claims->claims_room);
            claims->claims = g_renew(Claim, claims->claims, claims->claims_room);
        }
        claims->claims[claims->n_claims++] = (Claim){0};
    }
    claims->claims[c].coflow = coflow;
    claims->claims[c].bookings = INDEX_NONE;
    return c;
}

static uint32_t
claim_of(LossClaims *claims, uint32_t coflow)
{
    if (coflow == INDEX_NONE)
        return take_claim(claims, coflow);
    gpointer key = GSIZE_TO_POINTER((gsize)coflow + 1);
    gsize found = GPOINTER_TO_SIZE(g_hash_table_lookup(claims->of_coflow, key));
    if (found > 0)
        return (uint32_t)(found - 1);
    uint32_t c = take_claim(claims, coflow);
    g_hash_table_insert(claims->of_coflow, key, GSIZE_TO_POINTER((gsize)c + 1));
    return c;
}

void
claims_join(LossClaims *claims, uint32_t activity, uint32_t coflow, uint64_t order)
{
    if (activity >= claims->members_room) {
        claims->members_room = MAX(activity + 1, MAX(256, 2 * claims->members_room));
        claims->members = g_renew(Member, claims->members, claims->members_room);
    }
    uint32_t c = claim_of(claims, coflow);
    claims->claims[c].n_members++;
    claims->members[activity] = (Member){.claim = c, .order = order};
    for (int sort = 0; sort < LOST_SORTS; sort++)
        claims->members[activity].slot[sort] = INDEX_NONE;
}

/* Does a lose more of this sort than b? */
static gboolean
before(const LossClaims *claims, uint32_t a, uint32_t b, LostSort sort)
{
    const Member *x = &claims->members[a], *y = &claims->members[b];
    int64_t lost_x = (int64_t)(x->lost[sort] * RESOLUTION + 0.5), lost_y = (int64_t)(y->lost[sort] * RESOLUTION + 0.5);
    return lost_x != lost_y ? lost_x > lost_y : x->order < y->order;
}

static void
put(LossClaims *claims, Heap *heap, LostSort sort, uint32_t i, uint32_t activity)
{
    heap->items[i] = activity;
    claims->members[activity].slot[sort] = i;
}

static void
heap_settle(LossClaims *claims, Heap *heap, LostSort sort, uint32_t i, uint32_t activity)
{
    while (i > 0 && before(claims, activity, heap->items[(i - 1) / 2], sort)) {
        put(claims, heap, sort, i, heap->items[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= heap->n)
            break;
        if (child + 1 < heap->n && before(claims, heap->items[child + 1], heap->items[child], sort))
            child++;
        if (!before(claims, heap->items[child], activity, sort))
            break;
        put(claims, heap, sort, i, heap->items[child]);
        i = child;
    }
    put(claims, heap, sort, i, activity);
}

static void
heap_remove(LossClaims *claims, Heap *heap, LostSort sort, uint32_t activity)
{
    uint32_t i = claims->members[activity].slot[sort];
    claims->members[activity].slot[sort] = INDEX_NONE;
    uint32_t last = heap->items[--heap->n];
    if (i < heap->n)
        heap_settle(claims, heap, sort, i, last);
}

static void
heap_enter(LossClaims *claims, Heap *heap, LostSort sort, uint32_t activity)
{
    if (heap->n == heap->room) {
        heap->room = MAX(1, 2 * heap->room);
        heap->items = g_renew(uint32_t, heap->items, heap->room);
    }
    heap->n++;
    heap_settle(claims, heap, sort, heap->n - 1, activity);
}

void
claims_leave(LossClaims *claims, uint32_t activity)
{
    uint32_t c = claims->members[activity].claim;
    for (int sort = 0; sort < LOST_SORTS; sort++)
        if (claims->members[activity].slot[sort] != INDEX_NONE)
            heap_remove(claims, &claims->claims[c].heaps[sort], sort, activity);
    claims->claims[c].n_members--;
    mark_changed(claims, c);
}

void
claims_set(LossClaims *claims, uint32_t activity, LostSort sort, double lost)
{
    Member *member = &claims->members[activity];
    Heap *heap = &claims->claims[member->claim].heaps[sort];
    gboolean was_there = member->slot[sort] != INDEX_NONE;
    if (lost <= 0 && !was_there)
        return;
    mark_changed(claims, member->claim);
    member->lost[sort] = lost;
    if (lost <= 0) {
        member->lost[sort] = 0;
        heap_remove(claims, heap, sort, activity);
    } else if (was_there) {
        heap_settle(claims, heap, sort, member->slot[sort], activity);
    } else {
        heap_enter(claims, heap, sort, activity);
    }
}

double
claims_get(const LossClaims *claims, uint32_t activity, LostSort sort)
{
    return claims->members[activity].lost[sort];
}

void
claims_book(LossClaims *claims, uint32_t c, const LossPlace *place, double lost, SimTime now)
{
    LossRate rate = loss_rate_of(lost);
    if (rate <= 0)
        return;
    uint32_t b = claims->free_booking;
    if (b != INDEX_NONE) {
        claims->free_booking = claims->bookings[b].next;
    } else {
        if (claims->n_bookings == claims->bookings_room) {
            claims->bookings_room = MAX(64, 2 * claims->bookings_room);
            claims->bookings = g_renew(Booking, claims->bookings, claims->bookings_room);
        }
        b = claims->n_bookings++;
    }
    uint32_t cell = loss_meter_add(claims->meter, place, rate, now);
    claims->bookings[b] = (Booking){.cell = cell, .rate = rate, .next = claims->claims[c].bookings};
    claims->claims[c].bookings = b;
}

static void
take_back(LossClaims *claims, Claim *claim, SimTime now)
{
    while (claim->bookings != INDEX_NONE) {
        uint32_t b = claim->bookings;
        loss_meter_take(claims->meter, claims->bookings[b].cell, claims->bookings[b].rate, now);
        claim->bookings = claims->bookings[b].next;
        claims->bookings[b].next = claims->free_booking;
        claims->free_booking = b;
    }
}

void
claims_settle(LossClaims *claims, SimTime now)
{
    for (guint i = 0; i < claims->changed->len; i++) {
        uint32_t c = g_array_index(claims->changed, uint32_t, i), worst[LOST_SORTS];
        Claim *claim = &claims->claims[c];
        claim->changed = FALSE;
        take_back(claims, claim, now);
        if (claim->n_members == 0) {
            if (claim->coflow != INDEX_NONE)
                g_hash_table_remove(claims->of_coflow, GSIZE_TO_POINTER((gsize)claim->coflow + 1));
            g_array_append_val(claims->free_claims, c);
            continue;
        }
        gboolean any = FALSE;
        for (int sort = 0; sort < LOST_SORTS; sort++) {
            worst[sort] = claim->heaps[sort].n > 0 ? claim->heaps[sort].items[0] : INDEX_NONE;
            any |= worst[sort] != INDEX_NONE;
        }
        if (any)
            claims->book(claims->owner, c, worst, now);
    }
    g_array_set_size(claims->changed, 0);
}
