/* bulk.c - one prepared statement for a batch of rows, one for a single row for what is left over */
#include "results/bulk.h"

#include "base/error.h"

#include <assert.h>
#include <string.h>

/* 32 rows a statement doubles the rows per second against one; more gains little. */
enum { BATCH = 32, MAX_COLUMNS = 24 };

typedef enum { CELL_NULL, CELL_INT, CELL_REAL, CELL_TEXT } CellKind;

typedef struct {
    CellKind kind;
    union {
        int64_t integer;
        double real;
        const char *text; /* in texts, or of the caller while a row is made */
    };
} Cell;

struct Bulk {
    ResultsDb *db;
    char *table;
    int64_t run_id;
    int n_columns;      /* with the run's id */
    int n_cells;        /* of the row being made */
    int n_rows;         /* complete ones */
    gboolean too_large; /* a cell of the row being made did not fit */
    sqlite3_stmt *batch, *single;
    GStringChunk *texts;
    Cell cells[BATCH * MAX_COLUMNS];
};

static sqlite3_stmt *
prepare(Bulk *bulk, const char *columns, int n_rows, gboolean replace, GError **error)
{
    g_autoptr(GString) sql = g_string_new(NULL);
    g_string_printf(sql, "INSERT %sINTO %s (run_id, %s) VALUES", replace ? "OR REPLACE " : "", bulk->table, columns);
    for (int row = 0; row < n_rows; row++) {
        g_string_append(sql, row == 0 ? " (" : ", (");
        for (int column = 0; column < bulk->n_columns; column++)
            g_string_append(sql, column == 0 ? "?" : ", ?");
        g_string_append(sql, ")");
    }
    return database_prepare(bulk->db, sql->str, error);
}

Bulk *
bulk_new(ResultsDb *db, const char *table, const char *columns, int64_t run_id, gboolean replace, GError **error)
{
    g_autoptr(Bulk) bulk = g_new0(Bulk, 1);
    bulk->db = db;
    bulk->table = g_strdup(table);
    bulk->run_id = run_id;
    bulk->texts = g_string_chunk_new(4096);
    bulk->n_columns = 2;
    for (const char *c = columns; *c != '\0'; c++)
        bulk->n_columns += *c == ',';
    assert(bulk->n_columns <= MAX_COLUMNS);
    bulk->batch = prepare(bulk, columns, BATCH, replace, error);
    if (bulk->batch == NULL)
        return NULL;
    bulk->single = prepare(bulk, columns, 1, replace, error);
    if (bulk->single == NULL)
        return NULL;
    return g_steal_pointer(&bulk);
}

void
bulk_free(Bulk *bulk)
{
    if (bulk == NULL)
        return;
    sqlite3_finalize(bulk->batch);
    sqlite3_finalize(bulk->single);
    g_string_chunk_free(bulk->texts);
    g_free(bulk->table);
    g_free(bulk);
}

static void
add(Bulk *bulk, Cell cell)
{
    if (bulk->n_cells == 0)
        bulk->cells[bulk->n_rows * bulk->n_columns + bulk->n_cells++] = (Cell){CELL_INT, {.integer = bulk->run_id}};
    assert(bulk->n_cells < bulk->n_columns);
    bulk->cells[bulk->n_rows * bulk->n_columns + bulk->n_cells++] = cell;
}

void
bulk_int(Bulk *bulk, int64_t value)
{
    add(bulk, (Cell){CELL_INT, {.integer = value}});
}

void
bulk_real(Bulk *bulk, double value)
{
    add(bulk, (Cell){CELL_REAL, {.real = value}});
}

void
bulk_text(Bulk *bulk, const char *value)
{
    if (value == NULL)
        bulk_null(bulk);
    else
        add(bulk, (Cell){CELL_TEXT, {.text = g_string_chunk_insert_const(bulk->texts, value)}});
}

void
bulk_null(Bulk *bulk)
{
    add(bulk, (Cell){.kind = CELL_NULL});
}

void
bulk_size(Bulk *bulk, uint64_t value)
{
    bulk->too_large |= value > INT64_MAX;
    bulk_int(bulk, (int64_t)(value & INT64_MAX));
}

void
bulk_index(Bulk *bulk, uint32_t value)
{
    if (value == INDEX_NONE)
        bulk_null(bulk);
    else
        bulk_int(bulk, value);
}

static int
bind(sqlite3_stmt *statement, int position, const Cell *cell)
{
    switch (cell->kind) {
    case CELL_NULL:
        return sqlite3_bind_null(statement, position);
    case CELL_INT:
        return sqlite3_bind_int64(statement, position, cell->integer);
    case CELL_REAL:
        return sqlite3_bind_double(statement, position, cell->real);
    case CELL_TEXT:
        return sqlite3_bind_text(statement, position, cell->text, -1, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static gboolean
insert(Bulk *bulk, sqlite3_stmt *statement, const Cell *cells, int n, GError **error)
{
    for (int i = 0; i < n; i++)
        if (bind(statement, i + 1, &cells[i]) != SQLITE_OK)
            return database_fail(bulk->db, error, "a row cannot be written");
    return database_step(bulk->db, statement, error);
}

gboolean
bulk_flush(Bulk *bulk, GError **error)
{
    assert(bulk->n_cells == 0);
    int n = bulk->n_columns;
    gboolean done = TRUE;
    if (bulk->n_rows == BATCH)
        done = insert(bulk, bulk->batch, bulk->cells, BATCH * n, error);
    else
        for (int row = 0; done && row < bulk->n_rows; row++)
            done = insert(bulk, bulk->single, &bulk->cells[row * n], n, error);
    bulk->n_rows = 0;
    g_string_chunk_clear(bulk->texts);
    return done;
}

gboolean
bulk_end_row(Bulk *bulk, GError **error)
{
    assert(bulk->n_cells == bulk->n_columns);
    bulk->n_cells = 0;
    if (bulk->too_large) {
        bulk->too_large = FALSE;
        g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                    "%s: table %s: a number of 2^63 or more does not fit into the database", bulk->db->path,
                    bulk->table);
        return FALSE;
    }
    bulk->n_rows++;
    return bulk->n_rows < BATCH || bulk_flush(bulk, error);
}
