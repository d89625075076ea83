/* usage_rows.h - rows of link_usage that wait for a commit, told by time, read in the order of the table's key
 *
 * The table is its key's tree. Rows that go in bucket by bucket, as the network tells them, each cost a search from the
 * root and touch a page each; a pair of link and job at a time they lie side by side. */
#pragma once

#include "base/sim_time.h"

#include <glib.h>
#include <stdint.h>

typedef struct {
    SimTime start_ps, length_ps, busy_ps;
    uint64_t bytes;
    uint32_t next; /* for usage_rows.c */
} UsageRow;

typedef struct UsageRows UsageRows;

UsageRows *usage_rows_new(void);
void usage_rows_free(UsageRows *rows); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(UsageRows, usage_rows_free)

/* Copies row. FALSE, and when the last bucket of this link and job ended, where this one does not come after it or has
 * no length. */
gboolean usage_rows_add(UsageRows *rows, uint32_t link, uint32_t job, const UsageRow *row, SimTime *last_end_ps);

/* The rows by link, job, time; NULL after the last one. Nothing may be added meanwhile. */
const UsageRow *usage_rows_first(UsageRows *rows, uint32_t *link, uint32_t *job);
const UsageRow *usage_rows_next(UsageRows *rows, uint32_t *link, uint32_t *job);

/* Forgets the rows, not when the last buckets ended. */
void usage_rows_clear(UsageRows *rows);
