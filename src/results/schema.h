/* schema.h - the tables and views of a results file, as SQL text (DEFINITIONS 8, trainshed-results(5)) */
#pragma once

/* "TSrd" in the file's header says whose it is; the version grows when a table or column changes its meaning or goes.
 */
enum { SCHEMA_APPLICATION_ID = 0x54537264, SCHEMA_VERSION = 2 };

/* Tables, then views, for an empty database. Units stand in the column names; the comments stay in the file. */
extern const char *const schema_sql;

/* Indexes, of which link_usage_key is the key of its table. They are dropped before many rows are written and made
 * again after the last one. */
extern const char *const schema_index_sql;
extern const char *const schema_drop_index_sql;

/* What makes a file of version i one of i + 1; then its views are made anew. */
extern const char *const schema_upgrades[SCHEMA_VERSION];
