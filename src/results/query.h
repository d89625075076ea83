/* query.h - asking a results file: canned queries by name, or any SQL that reads */
#pragma once

#include "results/recorder.h"

#include <stdio.h>

typedef enum { QUERY_TABLE, QUERY_CSV, QUERY_JSON } QueryForm;

/* A common question. Its SQL may use :run, the run asked about. */
typedef struct {
    const char *name, *help, *sql;
} CannedQuery;

const CannedQuery *query_canned(size_t *n);

/* Asks the file at path and prints the rows. text is the name of a canned query or one SQL statement that reads; NULL
 * lists the runs and, as a table, the names of queries. run_id: what :run stands for; -1 = the latest shared run. A
 * file that is no results file, an unknown name, SQL that is wrong or would write, a run that is not there: INPUT
 * error. */
gboolean results_query(const char *path, const char *text, int64_t run_id, QueryForm form, FILE *out, GError **error);

/* The same for SQL on an open file, opened for reading or not. */
gboolean results_print_query(ResultsDb *db, const char *sql, int64_t run_id, QueryForm form, FILE *out, GError **error);

/* The closing table of `trainshed run`: each job's iterations alone and shared, the worst links, who cost whom, bytes
 * moved, warnings. */
gboolean results_print_summary(const char *path, int64_t shared_run_id, FILE *out, GError **error);
