/* bulk.h - rows for one table, gathered and inserted many a statement
 *
 * A row is its cells in the order of the columns, then bulk_end_row(). Texts are copied. */
#pragma once

#include "results/key_check.h"

typedef struct Bulk Bulk;

/* columns: names, parted by ", ", after run_id, which the bulk fills in itself. replace: a row of the same key gives
 * way, else it is an error. db and keys are borrowed. */
Bulk *bulk_new(ResultsDb *db, const char *table, const char *columns, int64_t run_id, gboolean replace,
               const Keys *keys, GError **error);
void bulk_free(Bulk *bulk); /* rows not flushed are lost; NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Bulk, bulk_free)

void bulk_int(Bulk *bulk, int64_t value);
void bulk_real(Bulk *bulk, double value);
void bulk_text(Bulk *bulk, const char *value); /* NULL is null */
void bulk_null(Bulk *bulk);
/* A number of bytes or times, which must not reach 2^63: such a one makes the row's end fail. */
void bulk_size(Bulk *bulk, uint64_t value);
/* An index of the run; INDEX_NONE is null. */
void bulk_index(Bulk *bulk, uint32_t value);

/* FALSE with an error also where the row refers to what the run does not have. */
gboolean bulk_end_row(Bulk *bulk, GError **error);
/* Inserts the rows still gathered. */
gboolean bulk_flush(Bulk *bulk, GError **error);
