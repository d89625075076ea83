/* key_check.h - do the references of one run's rows hold?
 *
 * As PRAGMA foreign_key_check, for one run: the pragma reads every run of the file, which would make a study of many
 * runs quadratic. */
#pragma once

#include "results/database.h"

enum { KEY_TABLES = 16 };

/* Where the rows of a run begin in tables whose rows are numbered as they come. */
typedef struct {
    int64_t
        after[KEY_TABLES]; /* of schema_run_tables: the last row before the run; -1 = the table's key is the table */
} KeyMark;

/* Taken before the first row of a run. */
gboolean key_mark(ResultsDb *db, KeyMark *mark, GError **error);

/* FALSE with a RUN error that names table, columns and values of the first row that refers to nothing. */
gboolean key_check(ResultsDb *db, int64_t run_id, const KeyMark *mark, GError **error);
