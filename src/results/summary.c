/* summary.c - the closing table of a run, for people: times and rates with units, shares in percent */
#include "results/query.h"

#include "base/error.h"
#include "base/units.h"
#include "results/database.h"
#include "results/text_table.h"

#include <errno.h>
#include <math.h>

enum { WORST_LINKS = 5 };

typedef struct {
    ResultsDb *db;
    int64_t run_id;
    FILE *out;
} Summary;

static sqlite3_stmt *
ask(const Summary *summary, const char *sql, GError **error)
{
    sqlite3_stmt *statement = database_prepare(summary->db, sql, error);
    if (statement != NULL)
        sqlite3_bind_int64(statement, 1, summary->run_id);
    return statement;
}

static gboolean
finished(const Summary *summary, int code, GError **error)
{
    return code == SQLITE_DONE || database_fail(summary->db, error, "cannot be read");
}

typedef enum { SHOW_TEXT, SHOW_NUMBER, SHOW_TIME, SHOW_RATE, SHOW_FACTOR, SHOW_PERCENT } Show;

/* A column of the present row as a cell; null is "-". */
static void
show(TextTable *table, sqlite3_stmt *row, int column, Show how)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL) {
        text_table_add(table, "-", how != SHOW_TEXT);
        return;
    }
    double value = sqlite3_column_double(row, column);
    g_autofree char *text = NULL;
    switch (how) {
    case SHOW_TEXT:
    case SHOW_NUMBER:
        text = g_strdup((const char *)sqlite3_column_text(row, column));
        break;
    case SHOW_TIME:
        text = units_format_time((SimTime)floor(value + 0.5));
        break;
    case SHOW_RATE:
        text = units_format_rate(value);
        break;
    case SHOW_FACTOR:
        text = g_strdup_printf("%.3fx", value);
        break;
    case SHOW_PERCENT:
        text = g_strdup_printf("%.1f", 100 * value);
        break;
    }
    text_table_add(table, text, how != SHOW_TEXT);
}

/* Prints a table of the statement's rows; nothing where it has none. */
static gboolean
print_rows(const Summary *summary, const char *title, const char *sql, const char *const *headings, const Show *shows,
           guint n, GError **error)
{
    g_autoptr(sqlite3_stmt) rows = ask(summary, sql, error);
    if (rows == NULL)
        return FALSE;
    g_autoptr(TextTable) table = text_table_new(headings, n);
    int code;
    gboolean any = FALSE;
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        any = TRUE;
        for (guint column = 0; column < n; column++)
            show(table, rows, (int)column, shows[column]);
    }
    if (!finished(summary, code, error))
        return FALSE;
    if (!any)
        return TRUE;
    fprintf(summary->out, "%s", title);
    text_table_print(table, summary->out);
    return TRUE;
}

static gboolean
print_jobs(const Summary *summary, GError **error)
{
    static const char *const headings[] = {"job",      "GPUs",           "iteration alone",    "iteration shared",
                                           "slowdown", "exposed wait %", "exposed transfer %", "compute %",
                                           "idle %"};
    static const Show shows[] = {SHOW_TEXT,    SHOW_NUMBER,  SHOW_TIME,    SHOW_TIME,   SHOW_FACTOR,
                                 SHOW_PERCENT, SHOW_PERCENT, SHOW_PERCENT, SHOW_PERCENT};
    return print_rows(
        summary, "",
        "SELECT job, gpus, alone_ps, shared_ps, slowdown, exposed_wait_share, exposed_transfer_share, compute_share, "
        "idle_share FROM v_job WHERE run_id = ? ORDER BY job_id",
        headings, shows, G_N_ELEMENTS(headings), error);
}

static gboolean
print_links(const Summary *summary, GError **error)
{
    static const char *const headings[] = {"link", "capacity", "mean use %", "busiest bucket %", "lost transfer time",
                                           "jobs"};
    static const Show shows[] = {SHOW_TEXT, SHOW_RATE, SHOW_PERCENT, SHOW_PERCENT, SHOW_TIME, SHOW_TEXT};
    g_autofree char *sql =
        g_strdup_printf("SELECT src || ' -> ' || dst, capacity_Bps, utilisation, busiest_utilisation, "
                        "lost_transfer_ps, jobs FROM v_hot_link WHERE run_id = ? ORDER BY lost_transfer_ps DESC, "
                        "busiest_utilisation DESC, link_id LIMIT %d",
                        WORST_LINKS);
    return print_rows(summary, "\nThe worst links\n", sql, headings, shows, G_N_ELEMENTS(headings), error);
}

static gboolean
print_contention(const Summary *summary, GError **error)
{
    static const char *const headings[] = {"victim", "culprit", "kind", "lost transfer time"};
    static const Show shows[] = {SHOW_TEXT, SHOW_TEXT, SHOW_TEXT, SHOW_TIME};
    return print_rows(summary, "\nWho cost whom\n",
                      "SELECT v.name, c.name, kind, sum(lost_transfer_ps) FROM contention AS t "
                      "JOIN job AS v ON v.run_id = t.run_id AND v.id = victim_job_id "
                      "LEFT JOIN job AS c ON c.run_id = t.run_id AND c.id = culprit_job_id WHERE t.run_id = ? "
                      "GROUP BY victim_job_id, culprit_job_id, kind HAVING sum(lost_transfer_ps) > 0 "
                      "ORDER BY 4 DESC, victim_job_id, culprit_job_id, kind",
                      headings, shows, G_N_ELEMENTS(headings), error);
}

/* "0 B" of 0 transfers too: that is worth seeing. */
static gboolean
print_totals(const Summary *summary, GError **error)
{
    g_autoptr(sqlite3_stmt) run =
        ask(summary, "SELECT status, sim_ps, events, transfers, bytes, id FROM run WHERE id = ?", error);
    if (run == NULL)
        return FALSE;
    int code = sqlite3_step(run);
    if (code == SQLITE_DONE)
        return error_input(error, "%s: holds no run %" G_GINT64_FORMAT, summary->db->path, summary->run_id);
    if (code != SQLITE_ROW)
        return finished(summary, code, error);
    g_autofree char *bytes = units_format_size(sqlite3_column_double(run, 4));
    g_autofree char *time = units_format_time(sqlite3_column_int64(run, 1));
    fprintf(summary->out, "\nMoved %s in %lld transfers, %s simulated, %lld events. Run %lld is %s.\n", bytes,
            sqlite3_column_int64(run, 3), time, sqlite3_column_int64(run, 2), sqlite3_column_int64(run, 5),
            (const char *)sqlite3_column_text(run, 0));
    return TRUE;
}

static gboolean
print_warnings(const Summary *summary, GError **error)
{
    g_autoptr(sqlite3_stmt) events =
        ask(summary, "SELECT subject, text FROM event WHERE run_id = ? AND kind = 'warning' ORDER BY rowid", error);
    if (events == NULL)
        return FALSE;
    int code;
    while ((code = sqlite3_step(events)) == SQLITE_ROW) {
        const char *subject = (const char *)sqlite3_column_text(events, 0);
        fprintf(summary->out, "warning: %s%s%s\n", subject, subject[0] != '\0' ? ": " : "",
                (const char *)sqlite3_column_text(events, 1));
    }
    return finished(summary, code, error);
}

gboolean
results_print_summary(const char *path, int64_t shared_run_id, FILE *out, GError **error)
{
    g_autoptr(ResultsDb) db = database_open_read(path, error);
    if (db == NULL)
        return FALSE;
    Summary summary = {db, shared_run_id, out};
    if (!print_jobs(&summary, error) || !print_links(&summary, error) || !print_contention(&summary, error) ||
        !print_totals(&summary, error) || !print_warnings(&summary, error))
        return FALSE;
    if (fflush(out) == 0 && !ferror(out))
        return TRUE;
    g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN, "the closing table cannot be written out: %s",
                g_strerror(errno));
    return FALSE;
}
