/* history.h - a fingerprint of what happened since some moment, and how far a run has been skipped over
 *
 * Of use to the iteration memo (cluster/memo.h) alone. Every room adds what it decides: what happens in an order that
 * counts by history_add, what belongs to one instant in whatever order by history_add_set. Objects are named by what
 * they are or by their order of creation, times by their distance from history_start, so that equal fingerprints of two
 * spans mean that the same happened in both. 128 bits: two lanes, mixed apart. */
#pragma once

#include "base/sim_time.h"

typedef struct {
    uint64_t a, b;
} Fingerprint;

typedef struct {
    Fingerprint row;  /* of what came in order */
    Fingerprint set;  /* sums over what came in any order */
    SimTime start_ps; /* times are told from here */
    gboolean broken;  /* something happened that does not come again: a job began or ended, a link changed */
} History;

/* What is added to the engine's clock and to a job's count of iterations where they are told. */
typedef struct {
    SimTime time_ps;
    uint32_t *iterations; /* by job */
} Skipped;

static inline void
fingerprint_add(Fingerprint *print, uint64_t word)
{
    print->a = (print->a ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    print->a ^= print->a >> 32;
    print->b = (print->b + word) * UINT64_C(0xd6e8feb86659fd93);
    print->b ^= print->b >> 29;
}

static inline uint64_t
fingerprint_double(double value)
{
    uint64_t word;
    __builtin_memcpy(&word, &value, sizeof word);
    return word;
}

/* One more word of a thing that several make: of 64 bits, for what is then added in one. */
static inline uint64_t
fingerprint_join(uint64_t print, uint64_t word)
{
    return (print ^ word) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Next in order. A NULL history is nobody's: nothing is done. */
static inline void
history_add(History *history, uint64_t word)
{
    if (history != NULL)
        fingerprint_add(&history->row, word);
}

/* One more of a set. */
static inline void
history_add_set(History *history, Fingerprint print)
{
    history->set.a += print.a;
    history->set.b += print.b;
}

static inline uint64_t
history_time(const History *history, SimTime time)
{
    return (uint64_t)(time - history->start_ps);
}

static inline void
history_break(History *history)
{
    if (history != NULL)
        history->broken = TRUE;
}
