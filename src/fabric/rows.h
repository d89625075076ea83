/* rows.h - lists of 32-bit indexes of unequal lengths, packed one after the other
 *
 * The compact form of an adjacency: two arrays whatever the number of lists. A plain value; whoever
 * fills it frees it with rows_clear(). */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
    uint32_t *start; /* of row i; start[n_rows] = the number of items */
    uint32_t *items;
} Rows;

static inline const uint32_t *
rows_get(const Rows *rows, uint32_t row, uint32_t *n_items)
{
    *n_items = rows->start[row + 1] - rows->start[row];
    return rows->items + rows->start[row];
}

static inline void
rows_clear(Rows *rows)
{
    g_clear_pointer(&rows->start, g_free);
    g_clear_pointer(&rows->items, g_free);
}

/* Packs item i into row row_of[i], for all i whose row is below n_rows, in the order of i. */
static inline Rows
rows_pack(const uint32_t *row_of, uint32_t n_items, uint32_t n_rows)
{
    Rows rows = {.start = g_new0(uint32_t, (size_t)n_rows + 1)};
    for (uint32_t i = 0; i < n_items; i++)
        if (row_of[i] < n_rows)
            rows.start[row_of[i] + 1]++;
    for (uint32_t row = 0; row < n_rows; row++)
        rows.start[row + 1] += rows.start[row];

    rows.items = g_new(uint32_t, MAX(rows.start[n_rows], 1));
    uint32_t *fill = g_memdup2(rows.start, ((size_t)n_rows + 1) * sizeof *fill);
    for (uint32_t i = 0; i < n_items; i++)
        if (row_of[i] < n_rows)
            rows.items[fill[row_of[i]]++] = i;
    g_free(fill);
    return rows;
}
