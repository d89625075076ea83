/* text_table.c - keeps all cells until the widths are known */
#include "results/text_table.h"

#include <assert.h>

struct TextTable {
    guint n_columns;
    GPtrArray *cells; /* of char *: headings, then rows */
    gboolean *left;   /* a column: has a cell that is no number */
};

TextTable *
text_table_new(const char *const *headings, guint n_columns)
{
    TextTable *table = g_new0(TextTable, 1);
    table->n_columns = n_columns;
    table->cells = g_ptr_array_new_with_free_func(g_free);
    table->left = g_new0(gboolean, n_columns);
    for (guint i = 0; i < n_columns; i++)
        text_table_add(table, headings[i], TRUE);
    return table;
}

void
text_table_free(TextTable *table)
{
    if (table == NULL)
        return;
    g_ptr_array_unref(table->cells);
    g_free(table->left);
    g_free(table);
}

/* Valid UTF-8 without control characters. */
static char *
printable(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *shown = g_string_new(NULL);
    for (const char *c = valid; *c != '\0'; c = g_utf8_next_char(c)) {
        gunichar point = g_utf8_get_char(c);
        if (point == '\n')
            g_string_append(shown, "\\n");
        else if (point == '\t')
            g_string_append(shown, "\\t");
        else if (g_unichar_iscntrl(point))
            g_string_append_printf(shown, "\\x%02x", point);
        else
            g_string_append_unichar(shown, point);
    }
    return g_string_free(shown, FALSE);
}

void
text_table_add(TextTable *table, const char *text, gboolean number)
{
    if (!number && text[0] != '\0')
        table->left[table->cells->len % table->n_columns] = TRUE;
    g_ptr_array_add(table->cells, printable(text));
}

static void
append_cell(GString *line, const char *text, gsize width, gboolean left)
{
    int gap = (int)(width - (gsize)g_utf8_strlen(text, -1));
    if (line->len > 0)
        g_string_append(line, "  ");
    if (!left)
        g_string_append_printf(line, "%*s", gap, "");
    g_string_append(line, text);
    if (left)
        g_string_append_printf(line, "%*s", gap, "");
}

static void
print_row(const TextTable *table, guint first, const gsize *widths, FILE *out)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (guint i = 0; i < table->n_columns; i++)
        append_cell(line, g_ptr_array_index(table->cells, first + i), widths[i], table->left[i]);
    fprintf(out, "%s\n", g_strchomp(line->str));
}

static void
print_rule(const TextTable *table, const gsize *widths, FILE *out)
{
    for (guint i = 0; i < table->n_columns; i++) {
        g_autofree char *rule = g_strnfill(widths[i], '-');
        fprintf(out, "%s%s", i > 0 ? "  " : "", rule);
    }
    fputc('\n', out);
}

void
text_table_print(const TextTable *table, FILE *out)
{
    guint n = table->n_columns;
    assert(table->cells->len % n == 0);
    g_autofree gsize *widths = g_new0(gsize, n);
    for (guint i = 0; i < table->cells->len; i++)
        widths[i % n] = MAX(widths[i % n], (gsize)g_utf8_strlen(g_ptr_array_index(table->cells, i), -1));
    print_row(table, 0, widths, out);
    print_rule(table, widths, out);
    for (guint first = n; first < table->cells->len; first += n)
        print_row(table, first, widths, out);
}
