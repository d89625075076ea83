/* rings.h - a plan made of rings: too regular to be written out send by send
 *
 * A ring is a circle of members that passes chunks on for a number of steps. Its seats (one a member) are numbered
 * through all rings of the plan; a seat's `next` is where its member goes on when it is done here (hierarchical
 * collectives). Position p of a ring sends to position p + 1; in step k = 1, 2, ... it sends chunk (p - k + 1) mod n,
 * or, in a reduce-scatter, (p - k) mod n, so that each chunk keeps its size all the way round. Chunk i of B bytes is
 * [iB/n, (i + 1)B/n). */
#pragma once

#include "collective/collective.h"
#include "collective/schedule.h"

typedef enum { RING_ALL_REDUCE, RING_REDUCE_SCATTER, RING_ALL_GATHER } RingKind;

typedef struct {
    RingKind kind;
    uint32_t n;          /* seats; with one, nothing is to be done */
    uint32_t first_seat; /* position 0 */
    uint32_t channel;
    uint32_t stage;        /* grain bundle: rings of one stage and chain progress together */
    uint32_t chain;        /* stages of one chain follow each other; chains go side by side */
    gboolean channel_nics; /* hops use the NICs of the channel; else each rank its nearest */
    uint64_t bytes;        /* B, that go round in it */
} Ring;

typedef struct {
    uint32_t member;
    uint32_t ring;
    uint32_t next, from; /* seats of the same member; INDEX_NONE = its last, its first here */
} Seat;

typedef struct {
    GArray *rings;   /* of Ring; by chain, then stage */
    GArray *seats;   /* of Seat */
    uint32_t n_last; /* seats without a next one */
    /* After sealing: the seats that go when a member arrives, those that no other leads to. */
    ScheduleEdges opens;
} Rings;

Rings *rings_new(void);
void rings_free(Rings *rings); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rings, rings_free)

/* Adds a ring (n and first_seat are filled in) over members in order; its index. previous: the seat each member comes
 * from, by member (INDEX_NONE = none), updated to the new ones; NULL = all from none. */
uint32_t rings_add(Rings *rings, Ring ring, const uint32_t *order, uint32_t n, uint32_t *previous);

void rings_seal(Rings *rings, uint32_t n_members);
/* Does a seat go when its member arrives? */
gboolean rings_opens(const Rings *rings, uint32_t seat);

/* Steps: 2(n - 1) of an all-reduce, else n - 1. */
uint32_t ring_steps(const Ring *ring);
/* Bytes that position p sends in step k (from 1). */
uint64_t ring_chunk(const Ring *ring, uint32_t position, uint32_t step);
/* Bytes that position p sends in all. */
uint64_t ring_total(const Ring *ring, uint32_t position);
/* Is what was sent in step k reduced by the receiver? */
gboolean ring_reduces(const Ring *ring, uint32_t step);

/* How a chunk is sent: its first slice, the middle, its last slice; two parts where it has no middle, one where a slice
 * holds it all. slice_B 0 = one part. Sizes into part; their number. */
uint32_t ring_parts(uint64_t chunk, uint64_t slice_B, uint64_t part[3]);
