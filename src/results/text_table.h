/* text_table.h - an aligned table of texts: numbers to the right, texts to the left */
#pragma once

#include <glib.h>
#include <stdio.h>

typedef struct TextTable TextTable;

/* headings are copied. */
TextTable *text_table_new(const char *const *headings, guint n_columns);
void text_table_free(TextTable *table); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TextTable, text_table_free)

/* The next cell, row by row, copied. A column stands to the right where each of its cells that has a text is a number.
 * Control characters show as \n, \t, \xNN. */
void text_table_add(TextTable *table, const char *text, gboolean number);

/* Headings, a rule, the rows; two blanks between columns, none at the end of a line. The last row must be complete. */
void text_table_print(const TextTable *table, FILE *out);
