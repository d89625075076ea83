/* bulk_source.h - rows in memory as a table that SQL reads
 *
 * "INSERT INTO t SELECT c0, c1 FROM bulk(?)" takes any number of rows in one step, without parsing and binding a
 * parameter for each cell. */
#pragma once

#include "results/database.h"

enum { BULK_COLUMNS = 24 };

typedef enum { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT } CellKind;

typedef struct {
    CellKind kind;
    union {
        int64_t integer;
        double real;
        const char *text; /* of the owner of the rows */
    };
} Cell;

/* n_rows times n_columns cells, row after row. */
typedef struct {
    const Cell *cells;
    int64_t n_rows;
    int n_columns;
} BulkRows;

/* Makes the table-valued function bulk known to this connection; its columns are c0 ... c23. */
gboolean bulk_source_register(ResultsDb *db, GError **error);
/* The argument of bulk(), valid until the statement is reset. */
int bulk_source_bind(sqlite3_stmt *statement, int position, BulkRows *rows);
