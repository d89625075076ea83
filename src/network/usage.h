/* usage.h - the books of bytes: what each job moved over each link, bucket by bucket (DEFINITIONS 3)
 *
 * Each flow has a book: the whole bytes it will move over each of its links and its present rate. Per (link, job) - a
 * pair - the cumulative count is kept in integers of 2^-32 B/s x 1 ps, so that sums are exact; when a flow ends, its
 * count becomes its bytes exactly. The bytes of a bucket are floor(count at its end) - floor(count at its start): over
 * all buckets they sum to exactly what was routed over the link. A bucket is told when the pair's rate next changes
 * after it, or at the end; the last one ends with the run. */
#pragma once

#include "network/demand.h"
#include "network/observer.h"
#include "network/repeat.h"

typedef __int128 UsageCount;

typedef struct Usage Usage;

/* observer is borrowed. */
Usage *usage_new(uint32_t n_links, SimTime bucket_ps, const NetworkObserver *observer);
void usage_free(Usage *usage); /* NULL is fine */

/* Of the iteration memo; both borrowed. */
void usage_set_memo(Usage *usage, History *history, const Skipped *skipped);

/* Told before the rate of a pair changes, where time has passed since it last did. */
typedef void (*UsageHook)(void *owner, uint32_t link, SimTime now);
void usage_set_hook(Usage *usage, UsageHook hook, void *owner);

/* For the history of books of the same links over and over: what links_print of a demand may say. */
uint64_t usage_links_print(const MaxMinUse *uses, uint32_t n);

/* A flow's book, at rate 0. Numbers are used again. */
uint32_t usage_begin(Usage *usage, uint32_t job, const Demand *demand, SimTime now);
/* The rate of its largest member from now on. */
void usage_set_rate(Usage *usage, uint32_t book, double rate_Bps, SimTime now);
/* Closes the book: what it has counted stands, and is taken over by others (usage_credit). */
void usage_drop(Usage *usage, uint32_t book, SimTime now);
/* Of its largest member so much has been counted by a book dropped; a new book whose links each take all its bytes. */
void usage_credit(Usage *usage, uint32_t book, UsageCount moved);
/* All its bytes have crossed; closes the book. */
void usage_end(Usage *usage, uint32_t book, SimTime now);
/* Of its largest member only `bytes` have crossed, now, and the rest goes elsewhere; closes the book. parts: what each
 * link of its demand keeps; NULL = the whole bytes nearest to this part of what it was to move. */
void usage_cut(Usage *usage, uint32_t book, uint64_t bytes, const uint64_t *parts, SimTime now);

/* Tells all that is left. */
void usage_finish(Usage *usage, SimTime now);

/* The pairs of a link, in the order jobs came to it: iterate from first until INDEX_NONE. */
uint32_t usage_first_pair(const Usage *usage, uint32_t link);
uint32_t usage_next_pair(const Usage *usage, uint32_t pair);
uint32_t usage_n_pairs(const Usage *usage);
uint32_t usage_pair_link(const Usage *usage, uint32_t pair);
uint32_t usage_pair_job(const Usage *usage, uint32_t pair);
/* Its present rate in 2^-32 B/s, by coefficients: also where a transfer of few bytes has none for this link. */
UsageCount usage_pair_rate(const Usage *usage, uint32_t pair);
/* Jobs whose rate on the link is above 0. */
uint32_t usage_jobs_on(const Usage *usage, uint32_t link);
/* The pair of the i-th link of a book's demand. */
uint32_t usage_book_pair(const Usage *usage, uint32_t book, uint32_t i);
/* What the book's flow has on that link now, in 2^-32 B/s. */
UsageCount usage_book_rate(const Usage *usage, uint32_t book, uint32_t i);

/* Records from now on what happens to each pair, into memory of at most REPEAT_MOST marks. */
void usage_tape_begin(Usage *usage, SimTime now);
/* Ends the recording at `now`, a period after its begin. FALSE: it was not one (a pair is new, or a rate another than
 * at its begin) or took too much; it is dropped then. */
gboolean usage_tape_end(Usage *usage, SimTime now);
/* The period again, so many times, from where it ended: counts and tells what buckets end in it. The caller adds the
 * time to what is skipped. */
void usage_tape_repeat(Usage *usage, uint64_t times);
void usage_tape_drop(Usage *usage); /* fine where there is none */
