/* tally.h - sums by key, for what is written once at the end of a run
 *
 * A key is four numbers; entries come out in the order of their keys, so that rows don't depend on who came first. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
    uint32_t key[4];
    uint64_t bytes, count;
    double lost_ps;
} TallyEntry;

typedef struct Tally Tally;

Tally *tally_new(void);
void tally_free(Tally *tally); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Tally, tally_free)

/* The entry of this key, made with zeros where there is none. Valid until the next call. */
TallyEntry *tally_at(Tally *tally, uint32_t a, uint32_t b, uint32_t c, uint32_t d);

/* All entries, by key; owned by the tally, which takes no further entry. */
const TallyEntry *tally_sorted(Tally *tally, size_t *n);
