/* table.h - a plain table on standard output: columns as wide as their widest cell, two blanks between
 *
 * Cells are texts; widths count characters, not bytes. */
#pragma once

#include <glib.h>
#include <stdio.h>

typedef struct Table Table;

/* heads: one word a column, parted by "|"; a column whose head begins with ">" is set to the right:
 * "job|>GPUs|>iteration". No head line is printed where all heads are empty ("||>"). */
Table *table_new(const char *heads);
void table_free(Table *table); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Table, table_free)

/* The next cell, row after row. */
void table_add(Table *table, const char *format, ...) G_GNUC_PRINTF(2, 3);
/* As table_add for text the caller made, which it frees. */
void table_take(Table *table, char *text);

/* Whole rows only; nothing where there is none. */
void table_print(const Table *table, FILE *out);
