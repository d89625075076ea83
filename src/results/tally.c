/* tally.c - entries in an array in the order they came, found through a table of indexes by open addressing */
#include "results/tally.h"

#include "base/index.h"
#include "base/random.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 256 }; /* a power of two */

struct Tally {
    GArray *entries; /* of TallyEntry */
    uint32_t *slots; /* index into entries, or INDEX_NONE */
    size_t n_slots;
    gboolean sorted;
};

Tally *
tally_new(void)
{
    Tally *tally = g_new0(Tally, 1);
    tally->entries = g_array_new(FALSE, FALSE, sizeof(TallyEntry));
    tally->n_slots = FIRST_SLOTS;
    tally->slots = g_new(uint32_t, tally->n_slots);
    memset(tally->slots, 0xff, tally->n_slots * sizeof *tally->slots);
    return tally;
}

void
tally_free(Tally *tally)
{
    if (tally == NULL)
        return;
    g_array_free(tally->entries, TRUE);
    g_free(tally->slots);
    g_free(tally);
}

/* The slot that holds this key, or the empty one where it belongs. */
static size_t
find(const Tally *tally, const uint32_t key[4])
{
    const TallyEntry *entries = (const TallyEntry *)(void *)tally->entries->data;
    uint64_t hash = hash_combine((uint64_t)key[0] << 32 | key[1], (uint64_t)key[2] << 32 | key[3]);
    size_t i = hash & (tally->n_slots - 1);
    while (tally->slots[i] != INDEX_NONE && memcmp(entries[tally->slots[i]].key, key, 4 * sizeof *key) != 0)
        i = (i + 1) & (tally->n_slots - 1);
    return i;
}

static void
grow(Tally *tally)
{
    tally->n_slots *= 2;
    tally->slots = g_renew(uint32_t, tally->slots, tally->n_slots);
    memset(tally->slots, 0xff, tally->n_slots * sizeof *tally->slots);
    for (uint32_t i = 0; i < tally->entries->len; i++)
        tally->slots[find(tally, g_array_index(tally->entries, TallyEntry, i).key)] = i;
}

TallyEntry *
tally_at(Tally *tally, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    assert(!tally->sorted);
    TallyEntry fresh = {.key = {a, b, c, d}};
    size_t slot = find(tally, fresh.key);
    if (tally->slots[slot] == INDEX_NONE) {
        if (2 * (size_t)tally->entries->len >= tally->n_slots) {
            grow(tally);
            slot = find(tally, fresh.key);
        }
        tally->slots[slot] = tally->entries->len;
        g_array_append_val(tally->entries, fresh);
    }
    return &g_array_index(tally->entries, TallyEntry, tally->slots[slot]);
}

static int
by_key(const void *a, const void *b)
{
    const TallyEntry *left = a, *right = b;
    for (int i = 0; i < 4; i++)
        if (left->key[i] != right->key[i])
            return left->key[i] < right->key[i] ? -1 : 1;
    return 0;
}

const TallyEntry *
tally_sorted(Tally *tally, size_t *n)
{
    g_array_sort(tally->entries, by_key);
    tally->sorted = TRUE;
    *n = tally->entries->len;
    return (const TallyEntry *)(void *)tally->entries->data;
}
