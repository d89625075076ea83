/* ring_walk.h - the recursion of DEFINITIONS 4, step by step: when each part of each chunk of a ring goes and comes
 *
 * e_i(k) = max(e_i(k-1), e_{i-1}(k-1) + a_{i-1} + r(k)) + C_i(k), in whole picoseconds, each sending and each reduction
 * rounded up as it is when it is made alone; the first and the last slice of a chunk have such a line each. Nothing is
 * sent: who walks knows that each hop has its rate to itself. */
#pragma once

#include "collective/rings.h"

typedef struct {
    SimTime latency_ps;
    double rate_Bps; /* of the hop from this position to the next */
    SimTime ready_ps;
} RingHop;

/* Chunks as they are; all as small, or as large, as the smallest, or largest, of them. */
typedef enum { RING_EXACT, RING_ALL_SMALL, RING_ALL_LARGE } RingSizes;

/* One part of a chunk on one hop. */
typedef struct {
    uint64_t bytes;
    SimTime start_ps, sent_ps;
    SimTime ready_ps; /* it is with the next position, reduced where it has to be */
} RingPart;

typedef struct RingWalk RingWalk;

/* Stands before step 1. hop[p] for each position, borrowed. n >= 2. */
RingWalk *ring_walk_new(const Ring *ring, const RingHop *hop, uint64_t slice_B, double reduce_cost_s_per_B);
void ring_walk_free(RingWalk *walk); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RingWalk, ring_walk_free)

/* Stands before step 1 again. */
void ring_walk_restart(RingWalk *walk, RingSizes sizes);
/* Makes the next step of every position. FALSE: there is none, or (see ring_walk_overflows) none in range. */
gboolean ring_walk_step(RingWalk *walk);
/* Where the last two steps were alike but for one shift in time, jumps over all further steps that must be so too. Not
 * with chunks of two sizes. */
void ring_walk_jump(RingWalk *walk);
/* It left the range of time: what it says no longer counts. */
gboolean ring_walk_overflows(const RingWalk *walk);

/* Steps made. */
uint32_t ring_walk_steps(const RingWalk *walk);
/* When all that was sent so far is delivered and reduced. */
SimTime ring_walk_end(const RingWalk *walk);
/* When position p had sent its chunk of the step just made. */
SimTime ring_walk_sent(const RingWalk *walk, uint32_t p);
/* ... and when all parts of it are with the next position (the last comes last but for reductions; see parts). */
SimTime ring_walk_ready(const RingWalk *walk, uint32_t p);
/* The parts of that chunk; their number. Not after a jump. */
uint32_t ring_walk_parts(const RingWalk *walk, uint32_t p, RingPart part[3]);

/* Are all chunks of one size, and sent in one part? */
gboolean ring_walk_whole(const RingWalk *walk);
