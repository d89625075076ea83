/* order.c - radix sort from the lowest digit, over the digits in which keys differ at all */
#include "base/order.h"

#include <string.h>

enum {
    FEW = 48, /* are sorted by insertion */
    DIGIT_BITS = 8,
    DIGITS = 1 << DIGIT_BITS
};

static gboolean
in_order(const Keyed *entries, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (entries[i].key < entries[i - 1].key)
            return FALSE;
    return TRUE;
}

static void
insert_each(Keyed *entries, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        Keyed entry = entries[i];
        size_t place = i;
        for (; place > 0 && entries[place - 1].key > entry.key; place--)
            entries[place] = entries[place - 1];
        entries[place] = entry;
    }
}

/* From one array to the other, by one digit of key - least. */
static void
deal(const Keyed *from, Keyed *to, size_t n, uint64_t least, int shift)
{
    size_t places[DIGITS] = {0}, place = 0;
    for (size_t i = 0; i < n; i++)
        places[(from[i].key - least) >> shift & (DIGITS - 1)]++;
    for (int digit = 0; digit < DIGITS; digit++) {
        size_t count = places[digit];
        places[digit] = place;
        place += count;
    }
    for (size_t i = 0; i < n; i++)
        to[places[(from[i].key - least) >> shift & (DIGITS - 1)]++] = from[i];
}

void
order_by_key(Keyed *entries, Keyed *spare, size_t n)
{
    if (in_order(entries, n))
        return;
    if (n <= FEW) {
        insert_each(entries, n);
        return;
    }
    uint64_t least = entries[0].key, most = entries[0].key;
    for (size_t i = 1; i < n; i++) {
        least = MIN(least, entries[i].key);
        most = MAX(most, entries[i].key);
    }
    Keyed *from = entries, *to = spare;
    for (int shift = 0; shift < 64 && (most - least) >> shift > 0; shift += DIGIT_BITS) {
        deal(from, to, n, least, shift);
        Keyed *other = from;
        from = to;
        to = other;
    }
    if (from != entries)
        memcpy(entries, from, n * sizeof *entries);
}
