/* bulk_source.c - a virtual table over cells, of SQLite's eponymous kind: it is there without being created */
#include "results/bulk_source.h"

#include <assert.h>

static const char POINTER[] = "trainshed-bulk-rows"; /* the type of bulk()'s argument */

typedef struct {
    sqlite3_vtab_cursor base; /* first: SQLite knows this alone */
    const BulkRows *rows;
    int64_t row;
} Cursor;

static int
connect_table(sqlite3 *sql, void *aux, int n, const char *const *arguments, sqlite3_vtab **table, char **message)
{
    (void)aux, (void)n, (void)arguments, (void)message;
    g_autoptr(GString) columns = g_string_new("CREATE TABLE x (");
    for (int c = 0; c < BULK_COLUMNS; c++)
        g_string_append_printf(columns, "c%d, ", c);
    g_string_append(columns, "row_set HIDDEN)");
    int code = sqlite3_declare_vtab(sql, columns->str);
    if (code == SQLITE_OK)
        *table = g_new0(sqlite3_vtab, 1);
    return code;
}

static int
disconnect_table(sqlite3_vtab *table)
{
    g_free(table);
    return SQLITE_OK;
}

/* There is one way to read it: all rows of the argument. */
static int
best_index(sqlite3_vtab *table, sqlite3_index_info *info)
{
    (void)table;
    for (int i = 0; i < info->nConstraint; i++) {
        if (info->aConstraint[i].iColumn != BULK_COLUMNS || info->aConstraint[i].op != SQLITE_INDEX_CONSTRAINT_EQ ||
            !info->aConstraint[i].usable)
            continue;
        info->aConstraintUsage[i].argvIndex = 1;
        info->aConstraintUsage[i].omit = 1;
        info->estimatedCost = 1;
        return SQLITE_OK;
    }
    return SQLITE_CONSTRAINT;
}

static int
open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **cursor)
{
    (void)table;
    Cursor *opened = g_new0(Cursor, 1);
    *cursor = &opened->base;
    return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *cursor)
{
    g_free(cursor);
    return SQLITE_OK;
}

static int
first_row(sqlite3_vtab_cursor *base, int index, const char *name, int n, sqlite3_value **values)
{
    (void)index, (void)name;
    Cursor *cursor = (Cursor *)base;
    cursor->rows = n == 1 ? sqlite3_value_pointer(values[0], POINTER) : NULL;
    cursor->row = 0;
    return cursor->rows != NULL ? SQLITE_OK : SQLITE_MISUSE;
}

static int
next_row(sqlite3_vtab_cursor *base)
{
    ((Cursor *)base)->row++;
    return SQLITE_OK;
}

static int
is_over(sqlite3_vtab_cursor *base)
{
    const Cursor *cursor = (const Cursor *)base;
    return cursor->row >= cursor->rows->n_rows;
}

static int
give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
    const Cursor *cursor = (const Cursor *)base;
    assert(column < cursor->rows->n_columns);
    const Cell *cell = &cursor->rows->cells[cursor->row * cursor->rows->n_columns + column];
    switch (cell->kind) {
    case CELL_NULL:
        break;
    case CELL_INT:
        sqlite3_result_int64(context, cell->integer);
        break;
    case CELL_REAL:
        sqlite3_result_double(context, cell->real);
        break;
    case CELL_TEXT:
        sqlite3_result_text(context, cell->text, -1, SQLITE_STATIC);
        break;
    }
    return SQLITE_OK;
}

static int
give_rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *rowid)
{
    *rowid = ((const Cursor *)base)->row;
    return SQLITE_OK;
}

static const sqlite3_module module = {.xConnect = connect_table,
                                      .xBestIndex = best_index,
                                      .xDisconnect = disconnect_table,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = first_row,
                                      .xNext = next_row,
                                      .xEof = is_over,
                                      .xColumn = give_column,
                                      .xRowid = give_rowid};

gboolean
bulk_source_register(ResultsDb *db, GError **error)
{
    return sqlite3_create_module(db->sql, "bulk", &module, NULL) == SQLITE_OK ||
           database_fail(db, error, "cannot be prepared for writing");
}

int
bulk_source_bind(sqlite3_stmt *statement, int position, BulkRows *rows)
{
    return sqlite3_bind_pointer(statement, position, rows, POINTER, NULL);
}
