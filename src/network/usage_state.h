/* usage_state.h - the arrays of a Usage, shared by usage.c (who moves what) and usage_tape.c (periods told again) */
#pragma once

#include "network/usage.h"

typedef struct UsageTape UsageTape;

/* Counts of one byte: 1e12 ps x 2^32. */
#define BYTE ((UsageCount)PS_PER_S << 32)
/* Counts above this are folded into whole bytes, but for some that a flow's end may take back. */
#define FOLD ((UsageCount)1 << 120)
#define KEPT (UINT64_C(1) << 20)

enum { SIZE_CLASSES = 33 };

typedef struct {
    uint32_t link, job;
    uint32_t next;          /* pair of the link */
    UsageCount rate, count; /* in whole bytes' parts; count: of bytes beyond `whole` */
    UsageCount share;       /* by coefficients: the rate itself, where few bytes are split over many links */
    uint64_t whole, told;
    SimTime last;       /* counted up to here */
    SimTime bucket_end; /* as told: with what was skipped */
    SimTime busy;       /* within the bucket */
} Pair;

typedef struct {
    uint32_t pair;
    double coefficient;
    uint64_t bytes;
    UsageCount moved; /* of a split flow */
} Hop;

typedef struct {
    uint32_t first, n;
    gboolean whole; /* every hop takes all its bytes: `moved` counts for all */
    uint64_t largest;
    double rate_Bps;
    SimTime since;
    UsageCount moved;
} Book;

struct Usage {
    SimTime bucket_ps;
    const NetworkObserver *observer;
    UsageHook hook;
    void *hook_owner;
    uint32_t *first_pair, *last_pair; /* by link */
    uint32_t *jobs_on;                /* by link: pairs with a rate */
    Pair *pairs;
    uint32_t n_pairs, pairs_room;
    Book *books;
    uint32_t n_books, books_room, free_book; /* free books are chained through first */
    Hop *hops;
    uint32_t n_hops, hops_room;
    uint32_t free_hops[SIZE_CLASSES]; /* chained through pair */
    History *history;                 /* NULL: nobody asks */
    const Skipped *skipped;           /* never NULL */
    UsageTape *tape;                  /* NULL: nothing is recorded */
};

/* The end of the bucket that a told time lies in. */
SimTime usage_bucket_end(const Usage *usage, SimTime time);
/* Counts a pair up to now, telling the buckets that ended before. */
void usage_advance(Usage *usage, uint32_t pair, SimTime now);
/* Folds the count into whole bytes where it has become large. */
void usage_fold(Pair *pair);
/* The pair's rate or count has changed, now: told to the tape. */
void usage_tape_mark(Usage *usage, uint32_t pair, SimTime now);
