/* test-table.c - columns as wide as their widest cell */
#include "config.h"

#include "support.h"

#include "cli/table.h"

#include <stdlib.h>

static void
expect(const Table *table, const char *want)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    table_print(table, out);
    fclose(out);
    ck_assert_str_eq(text, want);
    free(text);
}

START_TEST(columns_are_aligned)
{
    g_autoptr(Table) table = table_new("job|>GPUs|state");
    table_add(table, "alpha");
    table_add(table, "%d", 1024);
    table_add(table, "done");
    table_add(table, "Zürich"); /* seven bytes, six characters */
    table_add(table, "%d", 8);
    table_add(table, "waits");
    expect(table, "job     GPUs  state\n"
                  "alpha   1024  done\n"
                  "Zürich     8  waits\n");
}
END_TEST

START_TEST(no_heads_no_head_line_no_rows_nothing)
{
    g_autoptr(Table) table = table_new("|>");
    expect(table, "");
    table_add(table, "nodes");
    table_add(table, "5");
    table_add(table, "x");
    table_add(table, "12");
    expect(table, "nodes   5\n"
                  "x      12\n");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("table");
    TCase *tcase = tcase_create("table");
    tcase_add_test(tcase, columns_are_aligned);
    tcase_add_test(tcase, no_heads_no_head_line_no_rows_nothing);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
