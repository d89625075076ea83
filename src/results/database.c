/* database.c - opens, checks and closes a results file */
#include "results/database.h"

#include "base/error.h"
#include "results/bulk_source.h"
#include "results/schema.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
    BUSY_TIMEOUT_MS = 10000,
    HEADER = 16 /* bytes of "SQLite format 3\0" */
};

gboolean
database_fail(const ResultsDb *db, GError **error, const char *doing)
{
    int code = sqlite3_errcode(db->sql) & 0xff;
    gboolean input = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_CANTOPEN ||
                     code == SQLITE_READONLY || code == SQLITE_PERM;
    g_set_error(error, TRAINSHED_ERROR, input ? TRAINSHED_ERROR_INPUT : TRAINSHED_ERROR_RUN, "%s: %s: %s", db->path,
                doing, sqlite3_errmsg(db->sql));
    return FALSE;
}

gboolean
database_exec(ResultsDb *db, const char *sql, GError **error)
{
    if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK)
        return TRUE;
    return database_fail(db, error, "cannot be written");
}

sqlite3_stmt *
database_prepare(ResultsDb *db, const char *sql, GError **error)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(db->sql, sql, -1, &statement, NULL) != SQLITE_OK)
        database_fail(db, error, "a statement cannot be prepared");
    return statement;
}

gboolean
database_step(ResultsDb *db, sqlite3_stmt *statement, GError **error)
{
    gboolean done = sqlite3_step(statement) == SQLITE_DONE;
    if (!done)
        database_fail(db, error, "cannot be written");
    sqlite3_reset(statement);
    return done;
}

gboolean
database_number(ResultsDb *db, const char *sql, int64_t *value, GError **error)
{
    g_autoptr(sqlite3_stmt) statement = database_prepare(db, sql, error);
    if (statement == NULL)
        return FALSE;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return database_fail(db, error, "cannot be read");
    if (code == SQLITE_ROW && sqlite3_column_type(statement, 0) != SQLITE_NULL)
        *value = sqlite3_column_int64(statement, 0);
    return TRUE;
}

/* SQLite opens anything and complains at the first statement, in words that don't name what the file is. *exists tells
 * whether there is content. */
static gboolean
check_header(const char *path, gboolean *exists, GError **error)
{
    *exists = FALSE;
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        return error_input(error, "%s: is a folder, expected a results file", path);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return error_input(error, "%s: cannot be read", path);
        return TRUE;
    }
    char head[HEADER];
    size_t length = fread(head, 1, sizeof head, file);
    fclose(file);
    if (length == 0)
        return TRUE;
    *exists = TRUE;
    if (length == HEADER && memcmp(head, "SQLite format 3", HEADER) == 0)
        return TRUE;
    return error_input(error, "%s: is not an SQLite database, expected a results file", path);
}

/* Is it ours, and of a version we know? *fresh: an SQLite database without anything in it. */
static gboolean
check_schema(ResultsDb *db, gboolean *fresh, GError **error)
{
    int64_t application = 0, version = 0, entries = 0;
    if (!database_number(db, "PRAGMA application_id", &application, error) ||
        !database_number(db, "PRAGMA user_version", &version, error) ||
        !database_number(db, "SELECT count(*) FROM sqlite_schema", &entries, error))
        return FALSE;
    *fresh = application == 0 && version == 0 && entries == 0;
    if (*fresh)
        return TRUE;
    if (application != SCHEMA_APPLICATION_ID)
        return error_input(error,
                           "%s: is a database of another program (application_id %" G_GINT64_FORMAT
                           "), expected a results file of trainshed",
                           db->path, application);
    if (version > SCHEMA_VERSION)
        return error_input(error,
                           "%s: has version %" G_GINT64_FORMAT
                           " of the results format, from a newer trainshed; this one knows "
                           "versions up to %d",
                           db->path, version, SCHEMA_VERSION);
    if (version < 1 || entries == 0)
        return error_input(error, "%s: has version %" G_GINT64_FORMAT " of the results format, which never was",
                           db->path, version);
    return TRUE;
}

/* A process that was killed may have left it so. */
static gboolean
has_indexes(ResultsDb *db, gboolean *indexed, GError **error)
{
    int64_t n = 0;
    if (!database_number(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'link_usage_key'", &n, error))
        return FALSE;
    *indexed = n > 0;
    return TRUE;
}

static ResultsDb *
open_file(const char *path, int flags, GError **error)
{
    ResultsDb *db = g_new0(ResultsDb, 1);
    db->path = g_strdup(path);
    db->writable = (flags & SQLITE_OPEN_READWRITE) != 0;
    if (sqlite3_open_v2(path, &db->sql, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        error_input(error, "%s: cannot be opened: %s", path, sqlite3_errmsg(db->sql));
        results_free(db);
        return NULL;
    }
    sqlite3_busy_timeout(db->sql, BUSY_TIMEOUT_MS);
    return db;
}

ResultsDb *
database_open_read(const char *path, GError **error)
{
    gboolean exists, fresh;
    if (!check_header(path, &exists, error))
        return NULL;
    if (!exists) {
        error_input(error, "%s: %s, expected a results file", path,
                    g_file_test(path, G_FILE_TEST_EXISTS) ? "is empty" : "there is no such file");
        return NULL;
    }
    g_autoptr(ResultsDb) db = open_file(path, SQLITE_OPEN_READONLY, error);
    if (db == NULL || !check_schema(db, &fresh, error))
        return NULL;
    if (fresh) {
        error_input(error, "%s: holds no table, expected a results file", path);
        return NULL;
    }
    return g_steal_pointer(&db);
}

static gboolean
make_schema(ResultsDb *db, GError **error)
{
    g_autofree char *numbers =
        g_strdup_printf("PRAGMA application_id = %d; PRAGMA user_version = %d;", SCHEMA_APPLICATION_ID, SCHEMA_VERSION);
    return database_exec(db, "BEGIN IMMEDIATE", error) && database_exec(db, schema_sql, error) &&
           database_exec(db, schema_index_sql, error) && database_exec(db, numbers, error) &&
           database_exec(db, "COMMIT", error);
}

/* The views of schema_sql, without those there are. */
static gboolean
make_views(ResultsDb *db, GError **error)
{
    g_autoptr(GString) sql = g_string_new(NULL);
    for (const char *view = strstr(schema_sql, "CREATE VIEW "); view != NULL; view = strstr(view + 1, "CREATE VIEW ")) {
        const char *name = view + strlen("CREATE VIEW "), *end = strstr(view, ";\n");
        g_string_append_printf(sql, "DROP VIEW IF EXISTS %.*s;\n", (int)strcspn(name, " "), name);
        g_string_append_len(sql, view, end - view + 2);
    }
    return database_exec(db, sql->str, error);
}

/* A file of an earlier version gets what has come since. */
static gboolean
upgrade(ResultsDb *db, GError **error)
{
    int64_t version = 0;
    if (!database_number(db, "PRAGMA user_version", &version, error))
        return FALSE;
    if (version == SCHEMA_VERSION)
        return TRUE;
    g_autofree char *number = g_strdup_printf("PRAGMA user_version = %d;", SCHEMA_VERSION);
    if (!database_exec(db, "BEGIN IMMEDIATE", error))
        return FALSE;
    for (; version < SCHEMA_VERSION; version++)
        if (!database_exec(db, schema_upgrades[version], error))
            return FALSE;
    return make_views(db, error) && database_exec(db, number, error) && database_exec(db, "COMMIT", error);
}

ResultsDb *
results_open(const char *path, GError **error)
{
    gboolean exists, fresh;
    if (!check_header(path, &exists, error))
        return NULL;
    g_autoptr(ResultsDb) db = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error);
    if (db == NULL || !check_schema(db, &fresh, error))
        return NULL;
    if (sqlite3_db_readonly(db->sql, "main") != 0) {
        error_input(error, "%s: cannot be written", path);
        return NULL;
    }
    /* Commits are then safe against a killed process; a power cut may cost the last second, not the file.
     * The write-ahead log is folded in every 64 MiB: few syncs, and the memory of its index stays small. */
    if (!database_exec(db,
                       "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 16384;"
                       "PRAGMA cache_size = -65536; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY;",
                       error))
        return NULL;
    gboolean indexed;
    if (!bulk_source_register(db, error) || (fresh && !make_schema(db, error)) || !upgrade(db, error) ||
        !has_indexes(db, &indexed, error))
        return NULL;
    db->unindexed = !indexed;
    return g_steal_pointer(&db);
}

gboolean
results_close(ResultsDb *db, GError **error)
{
    assert(db->writable);
    /* Where somebody else has the file open, it stays in WAL mode, without error: the next close changes that. */
    gboolean done = (!db->unindexed || database_exec(db, schema_index_sql, error)) &&
                    database_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", error) &&
                    (sqlite3_exec(db->sql, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) == SQLITE_OK ||
                     sqlite3_errcode(db->sql) == SQLITE_BUSY || database_fail(db, error, "cannot be closed"));
    results_free(db);
    return done;
}

void
results_free(ResultsDb *db)
{
    if (db == NULL)
        return;
    sqlite3_close_v2(db->sql);
    g_free(db->path);
    g_free(db);
}
