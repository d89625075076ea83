/* key_check.h - do the references of a run's rows hold?
 *
 * As PRAGMA foreign_key_check, but for one run and as its rows are made: nodes and links of a run are numbered from 0,
 * so that a comparison does what a search in the parent table would, which cost as much as writing the row. Which
 * column refers to what is asked of SQLite. */
#pragma once

#include "results/database.h"

/* What a column refers to, of its own run. */
typedef enum { KEY_NONE, KEY_NODE, KEY_LINK, KEY_JOB, KEY_PARENTS } KeyParent;

/* The rows of these tables that a run has. */
typedef struct {
    uint32_t n_nodes, n_links, n_jobs;
    const gboolean *present; /* by job: it has a row; borrowed */
} Keys;

const char *key_parent_table(KeyParent parent);
gboolean key_exists(const Keys *keys, KeyParent parent, int64_t id);

/* What each of the columns (NULL-terminated names) of a table refers to. */
gboolean key_parents(ResultsDb *db, const char *table, char *const *columns, KeyParent *parents, GError **error);

/* Is the run that run_id is the baseline of in the file? Else an error of code RUN. */
gboolean key_check_parent_run(ResultsDb *db, int64_t run_id, GError **error);
