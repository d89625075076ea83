/* database.h - a results file as SQLite sees it; for this room's modules only
 *
 * Opening and closing for writing are in recorder.h; here are reading, and the one border at which an SQLite failure
 * becomes a GError. */
#pragma once

#include "results/recorder.h"

#include <sqlite3.h>

struct ResultsDb {
    sqlite3 *sql;
    char *path;
    gboolean writable;
    gboolean recording; /* a recorder is at work: one at a time */
    gboolean unindexed; /* the indexes were dropped; results_close makes them */
};

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sqlite3_stmt, sqlite3_finalize)

/* Opens an existing results file for reading alone. What is not one: NULL with an INPUT error. */
ResultsDb *database_open_read(const char *path, GError **error);

/* The connection's last failure as an error "PATH: DOING: reason": INPUT where the file is broken or not to be written,
 * else RUN. Returns FALSE. */
gboolean database_fail(const ResultsDb *db, GError **error, const char *doing);

/* Statements without rows, one after another. */
gboolean database_exec(ResultsDb *db, const char *sql, GError **error);

/* NULL with an error. The caller finalises it. */
sqlite3_stmt *database_prepare(ResultsDb *db, const char *sql, GError **error);

/* Runs a statement that gives no rows, and resets it. */
gboolean database_step(ResultsDb *db, sqlite3_stmt *statement, GError **error);

/* The first column of the first row as a number: TRUE; *value untouched where there is no row or it is null. */
gboolean database_number(ResultsDb *db, const char *sql, int64_t *value, GError **error);
