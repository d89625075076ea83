#include "workload/nsys_tables.h"

#include "base/error.h"
#include "base/input.h"

#include <assert.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

enum { COLUMNS = 16, LONGEST = 16 * 1024 * 1024 };

struct NsysTables {
    char *path;
    sqlite3 *sql;
    GHashTable *tables; /* name -> a set of its columns */
};

static gboolean
fail(const NsysTables *tables, GError **error)
{
    return error_input(error, "%s: SQLite: %s", tables->path, sqlite3_errmsg(tables->sql));
}

/* Unpacks into a new file, whose name is the result; NULL with an error. */
static char *
unpack(const char *path, GError **error)
{
    g_autoptr(Input) input = input_open(path, error);
    if (input == NULL)
        return NULL;
    g_autofree char *name = NULL, *chunk = g_malloc(1 << 16);
    int fd = g_file_open_tmp("trainshed-nsys-XXXXXX", &name, NULL);
    if (fd < 0) {
        error_input(error, "%s: cannot be unpacked: no file can be made in %s", path, g_get_tmp_dir());
        return NULL;
    }
    gssize n;
    while ((n = input_read(input, chunk, 1 << 16, error)) > 0) {
        for (gssize done = 0, part; done < n; done += part) {
            part = write(fd, chunk + done, (size_t)(n - done));
            if (part < 0) {
                error_input(error, "%s: cannot be unpacked to %s: %s", path, name, g_strerror(errno));
                n = -1;
                break;
            }
        }
        if (n < 0)
            break;
    }
    close(fd);
    if (n < 0) {
        g_remove(name);
        return NULL;
    }
    return g_steal_pointer(&name);
}

static gboolean
is_gzip(const char *path)
{
    unsigned char head[2] = {0};
    FILE *file = fopen(path, "rb");
    gboolean gzip = file != NULL && fread(head, 1, 2, file) == 2 && head[0] == 0x1f && head[1] == 0x8b;
    if (file != NULL)
        fclose(file);
    return gzip;
}

/* Nothing in the file may run or grow without bound. */
static void
distrust(sqlite3 *sql)
{
    sqlite3_db_config(sql, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(sql, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(sql, SQLITE_LIMIT_LENGTH, LONGEST);
}

static gboolean
open_file(NsysTables *tables, const char *file, GError **error)
{
    if (sqlite3_open_v2(file, &tables->sql, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
        return fail(tables, error);
    distrust(tables->sql);
    /* Held until the end: the file may be gone by name. */
    return sqlite3_exec(tables->sql, "BEGIN; SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) == SQLITE_OK ||
           fail(tables, error);
}

/* Which tables there are, and their columns. Virtual tables are none. */
static gboolean
list(NsysTables *tables, GError **error)
{
    sqlite3_stmt *stmt = NULL;
    int status = sqlite3_prepare_v2(tables->sql,
                                    "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c "
                                    "WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'",
                                    -1, &stmt, NULL);
    while (status == SQLITE_OK && (status = sqlite3_step(stmt)) == SQLITE_ROW) {
        status = SQLITE_OK;
        const char *table = (const char *)sqlite3_column_text(stmt, 0);
        const char *column = (const char *)sqlite3_column_text(stmt, 1);
        if (table == NULL || column == NULL)
            continue;
        GHashTable *columns = g_hash_table_lookup(tables->tables, table);
        if (columns == NULL) {
            columns = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
            g_hash_table_insert(tables->tables, g_strdup(table), columns);
        }
        g_hash_table_add(columns, g_strdup(column));
    }
    gboolean good = status == SQLITE_DONE || fail(tables, error);
    sqlite3_finalize(stmt);
    return good;
}

NsysTables *
nsys_tables_open(const char *path, GError **error)
{
    g_autofree char *unpacked = NULL;
    if (is_gzip(path) && (unpacked = unpack(path, error)) == NULL)
        return NULL;
    g_autoptr(NsysTables) tables = g_new0(NsysTables, 1);
    tables->path = g_strdup(path);
    tables->tables =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)(void (*)(void))g_hash_table_unref);
    gboolean good = open_file(tables, unpacked != NULL ? unpacked : path, error) && list(tables, error);
    if (unpacked != NULL)
        g_remove(unpacked);
    return good ? g_steal_pointer(&tables) : NULL;
}

void
nsys_tables_close(NsysTables *tables)
{
    if (tables == NULL)
        return;
    sqlite3_close(tables->sql);
    g_hash_table_unref(tables->tables);
    g_free(tables->path);
    g_free(tables);
}

gboolean
nsys_tables_has(const NsysTables *tables, const char *table)
{
    return g_hash_table_contains(tables->tables, table);
}

/* "t.start, coalesce(t.text, s0.value), NULL" and the joins these need. FALSE with an error where one is missing. */
static gboolean
write_terms(const NsysTables *tables, const char *table, const NsysColumn *columns, size_t n, GString *terms,
            GString *joins, GError **error)
{
    GHashTable *present = g_hash_table_lookup(tables->tables, table);
    for (size_t i = 0; i < n; i++) {
        const char *name = columns[i].name, *via = columns[i].via;
        gboolean own = g_hash_table_contains(present, name);
        gboolean other = via != NULL && g_hash_table_contains(present, via) && nsys_tables_has(tables, "StringIds");
        if (columns[i].required && !own && !other)
            return error_input(error, "%s: table %s has no column %s", tables->path, table, via != NULL ? via : name);
        g_string_append(terms, i > 0 ? ", " : "");
        if (other)
            g_string_append_printf(joins, " LEFT JOIN StringIds s%zu ON s%zu.id = t.\"%s\"", i, i, via);
        if (other && own)
            g_string_append_printf(terms, "coalesce(t.\"%s\", s%zu.value)", name, i);
        else if (other)
            g_string_append_printf(terms, "s%zu.value", i);
        else if (own)
            g_string_append_printf(terms, "t.\"%s\"", name);
        else
            g_string_append(terms, "NULL");
    }
    return TRUE;
}

static NsysValue
value_of(sqlite3_stmt *stmt, int i, gboolean text)
{
    int type = sqlite3_column_type(stmt, i);
    if (text) {
        const char *value = type == SQLITE_TEXT ? (const char *)sqlite3_column_text(stmt, i) : NULL;
        return (NsysValue){.null = value == NULL, .text = value};
    }
    return (NsysValue){.null = type != SQLITE_INTEGER,
                       .number = type == SQLITE_INTEGER ? sqlite3_column_int64(stmt, i) : 0};
}

static gboolean
step_all(const NsysTables *tables, sqlite3_stmt *stmt, const NsysColumn *columns, size_t n, NsysRow take, void *owner,
         GError **error)
{
    int status;
    while ((status = sqlite3_step(stmt)) == SQLITE_ROW) {
        NsysValue values[COLUMNS];
        for (size_t i = 0; i < n; i++)
            values[i] = value_of(stmt, (int)i + 1, columns[i].text);
        if (!take(owner, sqlite3_column_int64(stmt, 0), values, error))
            return FALSE;
    }
    return status == SQLITE_DONE || fail(tables, error);
}

gboolean
nsys_tables_read(const NsysTables *tables, const char *table, const NsysColumn *columns, size_t n, const char *order,
                 NsysRow take, void *owner, GError **error)
{
    assert(n <= COLUMNS);
    if (!nsys_tables_has(tables, table))
        return TRUE;
    g_autoptr(GString) terms = g_string_new(NULL), joins = g_string_new(NULL);
    if (!write_terms(tables, table, columns, n, terms, joins, error))
        return FALSE;
    g_autofree char *text =
        g_strdup_printf("SELECT t.rowid, %s FROM %s t%s ORDER BY %s, t.rowid", terms->str, table, joins->str, order);
    sqlite3_stmt *stmt = NULL;
    gboolean good = sqlite3_prepare_v2(tables->sql, text, -1, &stmt, NULL) == SQLITE_OK
                        ? step_all(tables, stmt, columns, n, take, owner, error)
                        : fail(tables, error);
    sqlite3_finalize(stmt);
    return good;
}
