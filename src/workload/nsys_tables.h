/* nsys_tables.h - tables of an Nsight Systems export: which there are, and their rows; the module that talks to SQLite
 *
 * Opened for reading alone, with nothing trusted that the file says of itself. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct NsysTables NsysTables;

/* A file, gzipped or not. NULL with an INPUT error. */
NsysTables *nsys_tables_open(const char *path, GError **error);
void nsys_tables_close(NsysTables *tables); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsysTables, nsys_tables_close)

gboolean nsys_tables_has(const NsysTables *tables, const char *table);

/* A column to read. */
typedef struct {
    const char *name;
    gboolean text;     /* else a whole number */
    gboolean required; /* the table must have it; else it is null where it is absent */
    const char *via;   /* text: a column with an id of StringIds, read where there is no text; NULL = none */
} NsysColumn;

typedef struct {
    gboolean null;
    int64_t number;
    const char *text; /* valid during the call */
} NsysValue;

/* A row: its rowid and the values of the columns asked for. FALSE with an error stops. */
typedef gboolean (*NsysRow)(void *owner, int64_t row, const NsysValue *values, GError **error);

/* The rows of a table, ordered by the SQL terms of order ("start", or "globalTid, start"), then by rowid. Nothing where
 * the table is absent. FALSE with an INPUT error. */
gboolean nsys_tables_read(const NsysTables *tables, const char *table, const NsysColumn *columns, size_t n,
                          const char *order, NsysRow take, void *owner, GError **error);
