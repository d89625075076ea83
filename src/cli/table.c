/* table.c - a plain table on standard output */
#include "cli/table.h"

#include <assert.h>
#include <stdarg.h>

struct Table {
    guint n_columns;
    char **heads;
    gboolean *right;
    GPtrArray *cells; /* of char *, row after row */
};

Table *
table_new(const char *heads)
{
    Table *table = g_new0(Table, 1);
    table->heads = g_strsplit(heads, "|", -1);
    table->n_columns = g_strv_length(table->heads);
    table->right = g_new0(gboolean, table->n_columns);
    for (guint i = 0; i < table->n_columns; i++) {
        table->right[i] = table->heads[i][0] == '>';
        if (table->right[i]) {
            char *bare = g_strdup(table->heads[i] + 1);
            g_free(table->heads[i]);
            table->heads[i] = bare;
        }
    }
    table->cells = g_ptr_array_new_with_free_func(g_free);
    return table;
}

void
table_free(Table *table)
{
    if (table == NULL)
        return;
    g_strfreev(table->heads);
    g_free(table->right);
    g_ptr_array_unref(table->cells);
    g_free(table);
}

void
table_take(Table *table, char *text)
{
    g_ptr_array_add(table->cells, text);
}

void
table_add(Table *table, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    table_take(table, g_strdup_vprintf(format, args));
    va_end(args);
}

/* Blanks that bring text to width; none after the last column. */
static void
print_cell(const Table *table, guint column, const char *text, glong width, FILE *out)
{
    int blanks = (int)(width - g_utf8_strlen(text, -1));
    const char *gap = column > 0 ? "  " : "";
    if (table->right[column])
        fprintf(out, "%s%*s%s", gap, blanks, "", text);
    else if (column + 1 < table->n_columns)
        fprintf(out, "%s%s%*s", gap, text, blanks, "");
    else
        fprintf(out, "%s%s", gap, text);
}

static void
print_row(const Table *table, char *const *cells, const glong *width, FILE *out)
{
    for (guint i = 0; i < table->n_columns; i++)
        print_cell(table, i, cells[i], width[i], out);
    fputc('\n', out);
}

void
table_print(const Table *table, FILE *out)
{
    guint n_rows = table->cells->len / table->n_columns;
    assert(n_rows * table->n_columns == table->cells->len);
    if (n_rows == 0)
        return;
    char *const *cells = (char *const *)table->cells->pdata;
    g_autofree glong *width = g_new0(glong, table->n_columns);
    gboolean any_head = FALSE;
    for (guint i = 0; i < table->n_columns; i++) {
        width[i] = g_utf8_strlen(table->heads[i], -1);
        any_head = any_head || width[i] > 0;
    }
    for (guint i = 0; i < table->cells->len; i++)
        width[i % table->n_columns] = MAX(width[i % table->n_columns], g_utf8_strlen(cells[i], -1));
    if (any_head)
        print_row(table, table->heads, width, out);
    for (guint row = 0; row < n_rows; row++)
        print_row(table, cells + (gsize)row * table->n_columns, width, out);
}
