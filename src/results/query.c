/* query.c - the table of canned queries, and running one or any other */
#include "results/query.h"

#include "base/error.h"
#include "base/suggest.h"
#include "results/database.h"
#include "results/query_output.h"

#include <ctype.h>
#include <string.h>

/* The table: one entry a question. */
static const CannedQuery canned[] = {
    {"jobs", "each job: iteration time alone and shared, slowdown, where the time went",
     "SELECT job_id, job, gpus, status, iterations, counted, queue_ps, CAST(round(alone_ps) AS INTEGER) AS alone_ps, "
     "CAST(round(shared_ps) AS INTEGER) AS shared_ps, round(slowdown, 4) AS slowdown, round(compute_share, 4) AS "
     "compute_share, "
     "round(exposed_wait_share, 4) AS exposed_wait_share, round(exposed_transfer_share, 4) AS exposed_transfer_share, "
     "round(idle_share, 4) AS idle_share FROM v_job WHERE run_id = :run ORDER BY job_id"},
    {"iterations", "each iteration of each job",
     "SELECT job, idx, start_ps, end_ps, iteration_ps, compute_ps, exposed_wait_ps, exposed_transfer_ps, idle_ps, "
     "counted "
     "FROM v_iteration WHERE run_id = :run ORDER BY job_id, idx"},
    {"hot-links", "links by transfer time lost on them, then by their busiest bucket",
     "SELECT link_id, src, dst, kind, capacity_Bps, bytes, round(utilisation, 4) AS utilisation, "
     "round(busiest_utilisation, 4) AS busiest_utilisation, lost_transfer_ps, n_jobs, jobs FROM v_hot_link WHERE "
     "run_id = :run "
     "ORDER BY lost_transfer_ps DESC, busiest_utilisation DESC, link_id"},
    {"contention", "who cost whom how much transfer time, on which link",
     "SELECT victim, culprit, link_id, src, dst, contention_ps, collision_ps, fault_ps, indirect_ps, lost_transfer_ps, "
     "bytes "
     "FROM v_contention WHERE run_id = :run ORDER BY lost_transfer_ps DESC, victim_job_id, culprit_job_id, link_id"},
    {"collectives", "collectives by job, group, kind and size: waiting, duration, bandwidth",
     "SELECT j.name AS job, grp, kind, algorithm, ranks, bytes, count(*) AS n, CAST(avg(ready_ps - first_ps) AS "
     "INTEGER) AS wait_ps, "
     "CAST(avg(c.end_ps - ready_ps) AS INTEGER) AS transfer_ps, CAST(avg(alone_ps) AS INTEGER) AS alone_ps, "
     "round(sum(iif(alone_ps IS NULL, NULL, c.end_ps - ready_ps)) * 1.0 / sum(alone_ps), 4) AS slowdown, "
     "round(bytes * 1000.0 / avg(c.end_ps - ready_ps), 3) AS algbw_GBps "
     "FROM collective AS c JOIN job AS j ON j.run_id = c.run_id AND j.id = c.job_id WHERE c.run_id = :run "
     "GROUP BY j.id, grp, kind, algorithm, ranks, bytes ORDER BY j.id, sum(c.end_ps - ready_ps) DESC, grp, kind, "
     "bytes"},
    {"slowest-collectives", "the twenty that took longest once all participants had arrived",
     "SELECT c.id, j.name AS job, iteration, grp, seq, kind, algorithm, ranks, bytes, ready_ps, ready_ps - first_ps AS "
     "wait_ps, "
     "c.end_ps - ready_ps AS transfer_ps, alone_ps, round((c.end_ps - ready_ps) * 1.0 / alone_ps, 4) AS slowdown "
     "FROM collective AS c JOIN job AS j ON j.run_id = c.run_id AND j.id = c.job_id WHERE c.run_id = :run "
     "ORDER BY c.end_ps - ready_ps DESC, c.id LIMIT 20"},
    {"traffic", "bytes from rank to rank of each job",
     "SELECT job, src_rank, dst_rank, src, dst, bytes, transfers FROM v_rank_traffic WHERE run_id = :run "
     "ORDER BY job_id, src_rank, dst_rank"},
    {"cut", "bytes of each job over links between buildings; an end in no building shows its node",
     "SELECT j.name AS job, coalesce(coalesce(s.region || '/', '') || s.building, s.name) AS \"from\", "
     "coalesce(coalesce(d.region || '/', '') || d.building, d.name) AS \"to\", count(DISTINCT u.link_id) AS links, "
     "sum(u.bytes) AS bytes FROM link_usage AS u "
     "JOIN link AS l ON l.run_id = u.run_id AND l.id = u.link_id JOIN node AS s ON s.run_id = l.run_id AND s.id = "
     "l.src "
     "JOIN node AS d ON d.run_id = l.run_id AND d.id = l.dst JOIN job AS j ON j.run_id = u.run_id AND j.id = u.job_id "
     "WHERE u.run_id = :run AND (s.building IS NOT d.building OR s.region IS NOT d.region OR "
     "l.kind IN ('interbuilding', 'interregion')) GROUP BY j.id, 2, 3 ORDER BY j.id, sum(u.bytes) DESC, 2, 3"},
    {"events", "warnings, faults and notes, in order",
     "SELECT at_ps, kind, subject, text FROM event WHERE run_id = :run ORDER BY rowid"},
    {"runs", "every run of the file",
     "SELECT id, name, role, parent_run_id, model, level, status, started_utc, round(wall_s, 3) AS wall_s, sim_ps, "
     "events, transfers, "
     "bytes FROM run ORDER BY id"},
    {"schema", "the tables and views, with what each column means",
     "SELECT sql || ';' AS sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"},
};

const CannedQuery *
query_canned(size_t *n)
{
    *n = G_N_ELEMENTS(canned);
    return canned;
}

/* What a query may do: read. VACUUM INTO, ATTACH and the like would write files even from a database opened for
 * reading. */
static int
allow(void *data, int action, const char *first, const char *second, const char *database, const char *trigger)
{
    static const char *const pragmas[] = {
        "table_info",       "table_xinfo",       "table_list",      "index_list",  "index_info", "index_xinfo",
        "foreign_key_list", "foreign_key_check", "integrity_check", "quick_check", NULL};
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
        return SQLITE_OK;
    case SQLITE_FUNCTION:
        return strcmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:
        return g_strv_contains(pragmas, first) ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

/* Binds :run; any other parameter has no value here. */
static gboolean
bind_run(ResultsDb *db, sqlite3_stmt *statement, int64_t run_id, GError **error)
{
    for (int i = 1; i <= sqlite3_bind_parameter_count(statement); i++) {
        const char *name = sqlite3_bind_parameter_name(statement, i);
        if (name == NULL || strcmp(name, ":run") != 0)
            return error_input(error, "the parameter %s has no value; only :run has one", name != NULL ? name : "?");
        if (run_id < 0)
            return error_input(error, "%s: holds no run", db->path);
        sqlite3_bind_int64(statement, i, run_id);
    }
    return TRUE;
}

static gboolean
is_blank(const char *text)
{
    while (isspace((unsigned char)*text) || *text == ';')
        text++;
    return *text == '\0';
}

/* One statement that reads, ready to run; NULL with an error. */
static sqlite3_stmt *
prepare_reading(ResultsDb *db, const char *sql, GError **error)
{
    sqlite3_stmt *statement = NULL;
    const char *tail = "";
    sqlite3_set_authorizer(db->sql, allow, NULL);
    int code = sqlite3_prepare_v2(db->sql, sql, -1, &statement, &tail);
    if (code == SQLITE_AUTH)
        error_input(error, "only statements that read are allowed: %s", sql);
    else if (code != SQLITE_OK)
        error_input(error, "%s: %s", sql, sqlite3_errmsg(db->sql));
    else if (statement == NULL)
        error_input(error, "there is no statement in \"%s\"", sql);
    else if (!is_blank(tail))
        error_input(error, "one statement at a time; after the first comes \"%s\"", tail);
    else if (!sqlite3_stmt_readonly(statement))
        error_input(error, "only statements that read are allowed: %s", sql);
    else
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

gboolean
results_print_query(ResultsDb *db, const char *sql, int64_t run_id, QueryForm form, FILE *out, GError **error)
{
    gboolean done = FALSE;
    sqlite3_stmt *statement = prepare_reading(db, sql, error);
    if (statement != NULL)
        done = bind_run(db, statement, run_id, error) && query_output(db, statement, form, out, error);
    sqlite3_finalize(statement);
    sqlite3_set_authorizer(db->sql, NULL, NULL);
    return done;
}

/* The run asked for, or the latest shared one; -1 where the file holds none. */
static gboolean
choose_run(ResultsDb *db, int64_t *run_id, GError **error)
{
    if (*run_id < 0)
        return database_number(db, "SELECT id FROM run ORDER BY role = 'shared' DESC, id DESC LIMIT 1", run_id, error);
    int64_t found = 0, first = 0, last = 0;
    g_autofree char *sql = g_strdup_printf("SELECT count(*) FROM run WHERE id = %" G_GINT64_FORMAT, *run_id);
    if (!database_number(db, sql, &found, error) || !database_number(db, "SELECT min(id) FROM run", &first, error) ||
        !database_number(db, "SELECT max(id) FROM run", &last, error))
        return FALSE;
    if (found > 0)
        return TRUE;
    if (last == 0)
        return error_input(error, "%s: holds no run", db->path);
    return error_input(error,
                       "%s: holds no run %" G_GINT64_FORMAT "; its runs are %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                       db->path, *run_id, first, last);
}

/* The SQL that text stands for: of a canned query, or itself where it is no mere word. */
static const char *
resolve(const char *text, GError **error)
{
    const char *names[G_N_ELEMENTS(canned)];
    for (size_t i = 0; i < G_N_ELEMENTS(canned); i++) {
        names[i] = canned[i].name;
        if (strcmp(text, canned[i].name) == 0)
            return canned[i].sql;
    }
    for (const char *c = text; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            return text;
    g_autofree char *hint = suggest_hint(text, names, G_N_ELEMENTS(canned));
    error_input(error, "there is no query \"%s\"%s; 'trainshed query DB' lists them, and SQL is taken too", text, hint);
    return NULL;
}

/* Runs, and as a table what can be asked by name. */
static gboolean
list(ResultsDb *db, QueryForm form, FILE *out, GError **error)
{
    const char *sql =
        form != QUERY_TABLE
            ? resolve("runs", error)
            : "SELECT id, name, role, parent_run_id AS parent, model, level, status, started_utc FROM run "
              "ORDER BY id";
    if (!results_print_query(db, sql, -1, form, out, error))
        return FALSE;
    if (form != QUERY_TABLE)
        return TRUE;
    fprintf(out, "\nQueries:\n");
    for (size_t i = 0; i < G_N_ELEMENTS(canned); i++)
        fprintf(out, "  %-20s %s\n", canned[i].name, canned[i].help);
    return TRUE;
}

gboolean
results_query(const char *path, const char *text, int64_t run_id, QueryForm form, FILE *out, GError **error)
{
    const char *sql = text != NULL ? resolve(text, error) : NULL;
    if (text != NULL && sql == NULL)
        return FALSE;
    g_autoptr(ResultsDb) db = database_open_read(path, error);
    if (db == NULL || !choose_run(db, &run_id, error))
        return FALSE;
    return text == NULL ? list(db, form, out, error) : results_print_query(db, sql, run_id, form, out, error);
}
