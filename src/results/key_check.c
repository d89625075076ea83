/* key_check.c - what SQLite says is declared, and the numbers that a run has given */
#include "results/key_check.h"

#include "base/error.h"

#include <assert.h>
#include <string.h>

static const char *const parent_tables[KEY_PARENTS] = {[KEY_NODE] = "node", [KEY_LINK] = "link", [KEY_JOB] = "job"};

const char *
key_parent_table(KeyParent parent)
{
    return parent_tables[parent];
}

gboolean
key_exists(const Keys *keys, KeyParent parent, int64_t id)
{
    switch (parent) {
    case KEY_NODE:
        return id >= 0 && id < keys->n_nodes;
    case KEY_LINK:
        return id >= 0 && id < keys->n_links;
    case KEY_JOB:
        return id >= 0 && id < keys->n_jobs && keys->present[id];
    default:
        return TRUE;
    }
}

static KeyParent
find_parent(const char *table)
{
    for (int parent = KEY_NONE + 1; parent < KEY_PARENTS; parent++)
        if (strcmp(parent_tables[parent], table) == 0)
            return (KeyParent)parent;
    return KEY_NONE;
}

gboolean
key_parents(ResultsDb *db, const char *table, char *const *columns, KeyParent *parents, GError **error)
{
    g_autoptr(sqlite3_stmt) list = database_prepare(
        db, "SELECT \"from\", \"table\" FROM pragma_foreign_key_list(?) WHERE \"from\" <> 'run_id'", error);
    if (list == NULL)
        return FALSE;
    sqlite3_bind_text(list, 1, table, -1, SQLITE_STATIC);
    int code;
    while ((code = sqlite3_step(list)) == SQLITE_ROW) {
        const char *from = (const char *)sqlite3_column_text(list, 0);
        KeyParent parent = find_parent((const char *)sqlite3_column_text(list, 1));
        assert(parent != KEY_NONE); /* key_exists knows of no other */
        for (int c = 0; columns[c] != NULL; c++)
            if (strcmp(columns[c], from) == 0)
                parents[c] = parent;
    }
    return code == SQLITE_DONE || database_fail(db, error, "cannot be read");
}

gboolean
key_check_parent_run(ResultsDb *db, int64_t run_id, GError **error)
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
