/* order.h - a stable order by numbers of 64 bits, for long rows: by digits, not by comparisons
 *
 * An order by several numbers is made by the least important one first. What is in order already costs one look. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
    uint64_t key;
    uint32_t index; /* whose key */
} Keyed;

/* Entries of equal keys stay as they stand. spare: room for n more, of no meaning before and after. */
void order_by_key(Keyed *entries, Keyed *spare, size_t n);
