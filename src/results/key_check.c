/* key_check.c - one search for each declared reference, made from what SQLite says is declared */
#include "results/key_check.h"

#include "base/error.h"
#include "results/schema.h"

#include <assert.h>

/* One reference of a table: parent, and its columns pairwise. */
typedef struct {
    int64_t id;
    char *parent;
    GPtrArray *from, *to; /* of char * */
} Reference;

static void
reference_free(void *data)
{
    Reference *reference = data;
    g_free(reference->parent);
    g_ptr_array_unref(reference->from);
    g_ptr_array_unref(reference->to);
    g_free(reference);
}

/* The references of table, of Reference *. */
static GPtrArray *
references(ResultsDb *db, const char *table, GError **error)
{
    g_autoptr(sqlite3_stmt) list = database_prepare(
        db, "SELECT id, \"table\", \"from\", \"to\" FROM pragma_foreign_key_list(?) ORDER BY id, seq", error);
    if (list == NULL)
        return NULL;
    sqlite3_bind_text(list, 1, table, -1, SQLITE_STATIC);
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(reference_free);
    int code;
    while ((code = sqlite3_step(list)) == SQLITE_ROW) {
        Reference *last = found->len > 0 ? g_ptr_array_index(found, found->len - 1) : NULL;
        if (last == NULL || last->id != sqlite3_column_int64(list, 0)) {
            last = g_new0(Reference, 1);
            last->id = sqlite3_column_int64(list, 0);
            last->parent = g_strdup((const char *)sqlite3_column_text(list, 1));
            last->from = g_ptr_array_new_with_free_func(g_free);
            last->to = g_ptr_array_new_with_free_func(g_free);
            g_ptr_array_add(found, last);
        }
        g_ptr_array_add(last->from, g_strdup((const char *)sqlite3_column_text(list, 2)));
        g_ptr_array_add(last->to, g_strdup((const char *)sqlite3_column_text(list, 3)));
    }
    if (code != SQLITE_DONE) {
        database_fail(db, error, "cannot be read");
        return NULL;
    }
    return g_steal_pointer(&found);
}

/* SQL that gives the first row of the run whose reference meets nothing, in words. */
static char *
search(const char *table, int64_t after, const Reference *reference)
{
    g_autoptr(GString) words = g_string_new(NULL), set = g_string_new(NULL), same = g_string_new(NULL);
    for (guint i = 0; i < reference->from->len; i++) {
        const char *from = g_ptr_array_index(reference->from, i), *to = g_ptr_array_index(reference->to, i);
        g_string_append_printf(words, "%s'%s ' || c.%s", i > 0 ? " || ', ' || " : "", from, from);
        g_string_append_printf(set, " AND c.%s IS NOT NULL", from);
        g_string_append_printf(same, "%sp.%s = c.%s", i > 0 ? " AND " : "", to, from);
    }
    g_autofree char *later = after < 0 ? g_strdup("") : g_strdup_printf("c.rowid > %" G_GINT64_FORMAT " AND ", after);
    return g_strdup_printf(
        "SELECT %s FROM %s AS c WHERE %sc.run_id = ?%s AND NOT EXISTS (SELECT 1 FROM %s AS p WHERE %s) LIMIT 1",
        words->str, table, later, set->str, reference->parent, same->str);
}

static gboolean
check_reference(ResultsDb *db, int64_t run_id, const char *table, int64_t after, const Reference *reference,
                GError **error)
{
    g_autofree char *sql = search(table, after, reference);
    g_autoptr(sqlite3_stmt) statement = database_prepare(db, sql, error);
    if (statement == NULL)
        return FALSE;
    sqlite3_bind_int64(statement, 1, run_id);
    int code = sqlite3_step(statement);
    if (code == SQLITE_DONE)
        return TRUE;
    if (code != SQLITE_ROW)
        return database_fail(db, error, "cannot be read");
    g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN, "%s: table %s: a row with %s refers to no row of table %s",
                db->path, table, (const char *)sqlite3_column_text(statement, 0), reference->parent);
    return FALSE;
}

gboolean
key_mark(ResultsDb *db, KeyMark *mark, GError **error)
{
    for (size_t t = 0; schema_run_tables[t] != NULL; t++) {
        assert(t < KEY_TABLES);
        const char *table = schema_run_tables[t];
        g_autofree char *kind = g_strdup_printf("SELECT wr FROM pragma_table_list('%s')", table);
        int64_t without_rowid = 0;
        if (!database_number(db, kind, &without_rowid, error))
            return FALSE;
        mark->after[t] = without_rowid ? -1 : 0;
        g_autofree char *last = g_strdup_printf("SELECT max(rowid) FROM %s", table);
        if (!without_rowid && !database_number(db, last, &mark->after[t], error))
            return FALSE;
    }
    return TRUE;
}

/* The one table whose key is the run itself. */
static gboolean
check_parent(ResultsDb *db, int64_t run_id, GError **error)
{
    int64_t parent = -1;
    g_autofree char *sql = g_strdup_printf("SELECT parent_run_id FROM run WHERE id = %" G_GINT64_FORMAT
                                           " AND parent_run_id NOT IN (SELECT id FROM run)",
                                           run_id);
    if (!database_number(db, sql, &parent, error))
        return FALSE;
    if (parent == -1)
        return TRUE;
    g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                "%s: table run: a row with parent_run_id %" G_GINT64_FORMAT " refers to no row of table run", db->path,
                parent);
    return FALSE;
}

gboolean
key_check(ResultsDb *db, int64_t run_id, const KeyMark *mark, GError **error)
{
    if (!check_parent(db, run_id, error))
        return FALSE;
    for (size_t t = 0; schema_run_tables[t] != NULL; t++) {
        g_autoptr(GPtrArray) found = references(db, schema_run_tables[t], error);
        if (found == NULL)
            return FALSE;
        for (guint i = 0; i < found->len; i++)
            if (!check_reference(db, run_id, schema_run_tables[t], mark->after[t], g_ptr_array_index(found, i), error))
                return FALSE;
    }
    return TRUE;
}
