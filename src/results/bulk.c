/* bulk.c - cells of a batch of rows, handed to one prepared statement as a table */
#include "results/bulk.h"

#include "base/error.h"
#include "results/bulk_source.h"

#include <assert.h>
#include <string.h>

/* What a step of the statement costs beside its rows is then below 1 %. */
enum { BATCH = 256 };

struct Bulk {
    ResultsDb *db;
    const Keys *keys;
    char *table;
    char **columns;
    int64_t run_id;
    int n_columns;
    int n_cells;        /* of the row being made */
    int n_rows;         /* complete ones */
    gboolean too_large; /* a cell of the row being made did not fit */
    sqlite3_stmt *insert;
    GStringChunk *texts;
    int referring[BULK_COLUMNS], n_referring; /* columns that refer to something */
    KeyParent parents[BULK_COLUMNS];          /* to what, by column */
    Cell *cells;
};

static sqlite3_stmt *
prepare(Bulk *bulk, gboolean replace, GError **error)
{
    g_autofree char *names = g_strjoinv(", ", bulk->columns);
    g_autoptr(GString) sql = g_string_new(NULL);
    g_string_printf(sql, "INSERT %sINTO %s (run_id, %s) SELECT ?1", replace ? "OR REPLACE " : "", bulk->table, names);
    for (int column = 0; column < bulk->n_columns; column++)
        g_string_append_printf(sql, ", c%d", column);
    g_string_append(sql, " FROM bulk(?2)");
    return database_prepare(bulk->db, sql->str, error);
}

Bulk *
bulk_new(ResultsDb *db, const char *table, const char *columns, int64_t run_id, gboolean replace, const Keys *keys,
         GError **error)
{
    g_autoptr(Bulk) bulk = g_new0(Bulk, 1);
    bulk->db = db;
    bulk->keys = keys;
    bulk->table = g_strdup(table);
    bulk->run_id = run_id;
    bulk->texts = g_string_chunk_new(4096);
    bulk->columns = g_strsplit(columns, ", ", -1);
    bulk->n_columns = (int)g_strv_length(bulk->columns);
    assert(bulk->n_columns <= BULK_COLUMNS);
    bulk->cells = g_new(Cell, BATCH * bulk->n_columns);
    if (!key_parents(db, table, bulk->columns, bulk->parents, error))
        return NULL;
    for (int column = 0; column < bulk->n_columns; column++)
        if (bulk->parents[column] != KEY_NONE)
            bulk->referring[bulk->n_referring++] = column;
    bulk->insert = prepare(bulk, replace, error);
    if (bulk->insert == NULL)
        return NULL;
    return g_steal_pointer(&bulk);
}

void
bulk_free(Bulk *bulk)
{
    if (bulk == NULL)
        return;
    sqlite3_finalize(bulk->insert);
    g_string_chunk_free(bulk->texts);
    g_strfreev(bulk->columns);
    g_free(bulk->table);
    g_free(bulk->cells);
    g_free(bulk);
}

static void
add(Bulk *bulk, Cell cell)
{
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

gboolean
bulk_flush(Bulk *bulk, GError **error)
{
    assert(bulk->n_cells == 0);
    if (bulk->n_rows == 0)
        return TRUE;
    BulkRows rows = {.cells = bulk->cells, .n_rows = bulk->n_rows, .n_columns = bulk->n_columns};
    gboolean done = sqlite3_bind_int64(bulk->insert, 1, bulk->run_id) == SQLITE_OK &&
                    bulk_source_bind(bulk->insert, 2, &rows) == SQLITE_OK;
    done = done ? database_step(bulk->db, bulk->insert, error) : database_fail(bulk->db, error, "cannot be written");
    sqlite3_clear_bindings(bulk->insert);
    bulk->n_rows = 0;
    g_string_chunk_clear(bulk->texts);
    return done;
}

static gboolean
check_row(const Bulk *bulk, GError **error)
{
    if (bulk->too_large) {
        g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                    "%s: table %s: a number of 2^63 or more does not fit into the database", bulk->db->path,
                    bulk->table);
        return FALSE;
    }
    const Cell *cells = &bulk->cells[bulk->n_rows * bulk->n_columns];
    for (int i = 0; i < bulk->n_referring; i++) {
        int column = bulk->referring[i];
        KeyParent parent = bulk->parents[column];
        if (cells[column].kind == CELL_NULL || key_exists(bulk->keys, parent, cells[column].integer))
            continue;
        g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                    "%s: table %s: a row with run_id %" G_GINT64_FORMAT ", %s %" G_GINT64_FORMAT
                    " refers to no row of table %s",
                    bulk->db->path, bulk->table, bulk->run_id, bulk->columns[column], cells[column].integer,
                    key_parent_table(parent));
        return FALSE;
    }
    return TRUE;
}

gboolean
bulk_end_row(Bulk *bulk, GError **error)
{
    assert(bulk->n_cells == bulk->n_columns);
    gboolean sound = check_row(bulk, error);
    bulk->n_cells = 0;
    bulk->too_large = FALSE;
    if (!sound)
        return FALSE;
    bulk->n_rows++;
    return bulk->n_rows < BATCH || bulk_flush(bulk, error);
}
