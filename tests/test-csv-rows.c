/* test-csv-rows.c - rows of a CSV file, their fields and the lines they begin in */
#include "config.h"

#include "support.h"

#include "base/csv_rows.h"
#include "base/error.h"

#include <glib/gstdio.h>
#include <string.h>

/* "LINE:FIELD|FIELD;" of each row. */
static gboolean
note(GPtrArray *fields, size_t line, void *owner, GError **error)
{
    GString *seen = owner;
    g_string_append_printf(seen, "%zu:", line);
    for (guint i = 0; i < fields->len; i++)
        g_string_append_printf(seen, "%s%s", i > 0 ? "|" : "", (const char *)fields->pdata[i]);
    g_string_append_c(seen, ';');
    return strcmp(fields->pdata[0], "stop") != 0 || error_input(error, "stopped");
}

static const struct {
    const char *text, *rows, *refused;
} files[] = {
    {"a,b\n1,2\n", "1:a|b;2:1|2;", NULL},
    {"a,b\r\n1,2", "1:a|b;2:1|2;", NULL},
    {"\n\na,b\n\n   \n1,2\n", "3:a|b;6:1|2;", NULL},
    {"\xef\xbb\xbf"
     "a\n",
     "1:a;", NULL},
    {"\"x\ny\",b\n\"1\"\"\",2\n", "1:x\ny|b;3:1\"|2;", NULL},
    {"a,\"b\n\n", "", ":1: the file ends inside a quoted field"},
    {"a,b\n1,x\"y\n", "1:a|b;", ":2: error parsing data while strict checking enabled"},
    {"stop,1\na,b\n", "1:stop|1;", "stopped"},
    {"\n", "", NULL},
};

START_TEST(rows_and_lines)
{
    g_autofree char *path = support_save(files[_i].text);
    g_autoptr(GString) seen = g_string_new(NULL);
    GError *error = NULL;
    ck_assert(csv_rows_read(path, note, seen, &error) == (files[_i].refused == NULL));
    ck_assert_str_eq(seen->str, files[_i].rows);
    if (files[_i].refused != NULL)
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, files[_i].refused);
    g_unlink(path);
}
END_TEST

/* Lines longer than the pieces a file is read in, and pieces that end anywhere. */
START_TEST(long_files_keep_their_lines)
{
    enum { LINES = 3000, WIDTH = 101 };
    g_autoptr(GString) text = g_string_new(NULL), expected = g_string_new(NULL), seen = g_string_new(NULL);
    g_autofree char *wide = g_strnfill(WIDTH, 'w'), *longest = g_strnfill(200000, 'l');
    for (int i = 1; i <= LINES; i++) {
        const char *field = i == LINES / 2 ? longest : wide;
        g_string_append_printf(text, "%s,%d\n", field, i);
        g_string_append_printf(expected, "%d:%s|%d;", i, field, i);
    }
    g_autofree char *path = support_save(text->str);
    GError *error = NULL;
    ck_assert(csv_rows_read(path, note, seen, &error));
    ck_assert(strcmp(seen->str, expected->str) == 0);
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("csv rows");
    TCase *tcase = tcase_create("rows");
    tcase_add_loop_test(tcase, rows_and_lines, 0, G_N_ELEMENTS(files));
    tcase_add_test(tcase, long_files_keep_their_lines);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
