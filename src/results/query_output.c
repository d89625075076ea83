/* query_output.c - rows to text; CSV and JSON as they come, a table when all are known */
#include "results/query_output.h"

#include "base/error.h"
#include "results/text_table.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static gboolean
is_number(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* A value as text; blobs as X'...'. The caller frees it. */
static char *
value_text(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) != SQLITE_BLOB) {
        const char *text = (const char *)sqlite3_column_text(statement, column);
        return g_strdup(text != NULL ? text : "");
    }
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    GString *hex = g_string_new("X'");
    for (int i = 0; i < sqlite3_column_bytes(statement, column); i++)
        g_string_append_printf(hex, "%02X", bytes[i]);
    g_string_append_c(hex, '\'');
    return g_string_free(hex, FALSE);
}

static void
print_csv(const char *text, gboolean last, FILE *out)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
    } else {
        fputc('"', out);
        for (const char *c = text; *c != '\0'; c++)
            fputs(*c == '"' ? "\"\"" : (const char[]){*c, '\0'}, out);
        fputc('"', out);
    }
    fputc(last ? '\n' : ',', out);
}

static void
print_json_text(const char *text, FILE *out)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    fputc('"', out);
    for (const char *c = valid; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if ((unsigned char)*c < 0x20 || *c == 0x7f)
            fprintf(out, "\\u%04x", (unsigned char)*c);
        else
            fputc(*c, out);
    }
    fputc('"', out);
}

/* The shortest of 15 to 17 digits that reads back the same. JSON knows no infinity: null. */
static void
print_json_real(double value, FILE *out)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    if (!isfinite(value)) {
        fputs("null", out);
        return;
    }
    int precision = 15;
    do
        snprintf(digits, sizeof digits, "%.*g", precision, value);
    while (++precision <= 17 && g_ascii_strtod(digits, NULL) != value);
    fputs(digits, out);
}

static void
print_json_value(sqlite3_stmt *statement, int column, FILE *out)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        fputs("null", out);
        return;
    case SQLITE_INTEGER:
        fprintf(out, "%lld", sqlite3_column_int64(statement, column));
        return;
    case SQLITE_FLOAT:
        print_json_real(sqlite3_column_double(statement, column), out);
        return;
    default: {
        g_autofree char *text = value_text(statement, column);
        print_json_text(text, out);
    }
    }
}

static int
csv_rows(sqlite3_stmt *statement, int n, FILE *out)
{
    for (int column = 0; column < n; column++)
        print_csv(sqlite3_column_name(statement, column), column == n - 1, out);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        for (int column = 0; column < n; column++) {
            g_autofree char *text = value_text(statement, column);
            print_csv(text, column == n - 1, out);
        }
    return code;
}

static int
json_rows(sqlite3_stmt *statement, int n, FILE *out)
{
    int code;
    gboolean first = TRUE;
    fputs("[", out);
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        fputs(first ? "\n  {" : ",\n  {", out);
        first = FALSE;
        for (int column = 0; column < n; column++) {
            print_json_text(sqlite3_column_name(statement, column), out);
            fputs(": ", out);
            print_json_value(statement, column, out);
            fputs(column == n - 1 ? "}" : ", ", out);
        }
    }
    fputs(first ? "]\n" : "\n]\n", out);
    return code;
}

/* One column is for reading: a scenario, the schema. */
static int
plain_rows(sqlite3_stmt *statement, FILE *out)
{
    int code;
    fprintf(out, "%s\n", sqlite3_column_name(statement, 0));
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        g_autofree char *text = value_text(statement, 0);
        fprintf(out, "%s\n", text);
    }
    return code;
}

static int
table_rows(sqlite3_stmt *statement, int n, FILE *out)
{
    g_autofree const char **headings = g_new(const char *, n);
    for (int column = 0; column < n; column++)
        headings[column] = sqlite3_column_name(statement, column);
    g_autoptr(TextTable) table = text_table_new(headings, (guint)n);
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW)
        for (int column = 0; column < n; column++) {
            gboolean number = is_number(statement, column); /* before its text is asked for */
            g_autofree char *text = value_text(statement, column);
            text_table_add(table, text, number);
        }
    if (code == SQLITE_DONE)
        text_table_print(table, out);
    return code;
}

gboolean
query_output(ResultsDb *db, sqlite3_stmt *statement, QueryForm form, FILE *out, GError **error)
{
    int n = sqlite3_column_count(statement), code;
    if (n == 0)
        return error_input(error, "this statement gives no rows; a query is for example SELECT * FROM v_job");
    if (form == QUERY_CSV)
        code = csv_rows(statement, n, out);
    else if (form == QUERY_JSON)
        code = json_rows(statement, n, out);
    else if (n == 1)
        code = plain_rows(statement, out);
    else
        code = table_rows(statement, n, out);
    if (code != SQLITE_DONE)
        return error_input(error, "%s: %s", db->path, sqlite3_errmsg(db->sql));
    if (fflush(out) == 0 && !ferror(out))
        return TRUE;
    g_set_error(error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN, "the rows cannot be written out: %s", g_strerror(errno));
    return FALSE;
}
