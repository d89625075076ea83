#include "base/error.h"
#include "base/yaml_tree.h"
#include "support.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *folder, *path;

static void
setup(void)
{
    folder = g_dir_make_tmp("trainshed-yaml-XXXXXX", NULL);
    path = g_build_filename(folder, "t.yaml", NULL);
}

static void
teardown(void)
{
    g_remove(path);
    g_rmdir(folder);
    g_clear_pointer(&folder, g_free);
    g_clear_pointer(&path, g_free);
}

static YamlTree *
tree_of(const char *text, GError **error)
{
    ck_assert(g_file_set_contents(path, text, -1, NULL));
    return yaml_tree_read(path, error);
}

/* Every value as "path@line:column=text;", in file order. */
static void
spell(const YamlNode *node, GString *out)
{
    if (node->kind == YAML_SCALAR) {
        g_string_append_printf(out, "%s@%zu:%zu=%s%s; ", node->path, node->line, node->column, node->text,
                               node->quoted ? "!" : "");
        return;
    }
    g_string_append_printf(out, "%s@%zu:%zu%s; ", node->path, node->line, node->column,
                           node->kind == YAML_MAP ? "{}" : "[]");
    for (guint i = 0; i < node->values->len; i++)
        spell(node->values->pdata[i], out);
}

static void
check_spelling(const YamlTree *tree, const char *expected)
{
    GString *out = g_string_new(NULL);
    spell(tree->root, out);
    ck_assert_str_eq(out->str, expected);
    g_string_free(out, TRUE);
}

START_TEST(every_value_knows_its_place_and_path)
{
    static const char *const texts[] = {
        "name: two # a comment\njobs:\n  - {name: a, gpus: 8}\n  - name: 'b'\n    gpus: [x, \"y\"]\nempty:\n",
        "\xef\xbb\xbfname: two\r\njobs:\r\n  - {name: a, gpus: 8}\r\n  - name: 'b'\r\n    gpus: [x, "
        "\"y\"]\r\nempty:\r\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(YamlTree) tree = tree_of(texts[i], &error);
        ck_assert_msg(tree != NULL, "%s", error ? error->message : "");
        check_spelling(tree, "@1:1{}; name@1:7=two; jobs@3:3[]; jobs[0]@3:5{}; jobs[0].name@3:12=a; "
                             "jobs[0].gpus@3:21=8; jobs[1]@4:5{}; jobs[1].name@4:11=b!; jobs[1].gpus@5:11[]; "
                             "jobs[1].gpus[0]@5:12=x; jobs[1].gpus[1]@5:15=y!; empty@6:7=; ");
        ck_assert_uint_eq(yaml_get(tree->root, "jobs")->key_line, 2);
        ck_assert(yaml_is_null(yaml_get(tree->root, "empty")));
        ck_assert_ptr_null(yaml_get(tree->root, "none"));
    }
}
END_TEST

static const struct {
    const char *text, *error; /* behind the path of the file */
} bad[] = {
    {"", ": is empty"},
    {"# nothing\n", ":2:1: holds no value"},
    {"a: 1\nb: 2\na: 3\n", ":3:1: a: duplicate key; it stands in line 1 already"},
    {"a: {b: 1, c: 2, b: 3}\n", ":1:17: a.b: duplicate key; it stands in line 1 already"},
    {"a: &x 1\n", ":1:4: anchors and aliases are not used here"},
    {"a: *x\n", ":1:4: anchors and aliases are not used here"},
    {"*x : 1\n", ":1:1: anchors and aliases are not used here"},
    {"a: !!str 1\n", ":1:4: tags are not used here"},
    {"a: 1\n---\nb: 2\n", ":2:1: a second document begins; only one is read"},
    {"[a, b]: 1\n", ":1:1: a key must be a text"},
    {"a: [1, 2\n", ":2:1: broken YAML: while parsing a flow sequence: did not find expected ',' or ']'"},
    {"a: b: c\n", ":1:5: broken YAML: mapping values are not allowed in this context"},
    {"a: 'x\n", ":2:1: broken YAML: while scanning a quoted scalar: found unexpected end of stream"},
    {"a:\n\t- 1\n",
     ":2:1: broken YAML: while scanning for the next token: found character that cannot start any token"},
    {"a: \xff\n", ": not YAML in UTF-8: invalid leading UTF-8 octet at byte 3"},
    {"a: \x01\n", ": not YAML in UTF-8: control characters are not allowed at byte 3"},
    {"a: \"\\0\"\n", ":1:4: a zero byte in a text"},
    {"\"\\0\": 1\n", ":1:1: a zero byte in a text"},
};

START_TEST(what_is_no_such_tree_is_refused_with_its_place)
{
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(tree_of(bad[_i].text, &error));
    ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
    ck_assert(g_str_has_prefix(error->message, path));
    ck_assert_str_eq(error->message + strlen(path), bad[_i].error);
}
END_TEST

START_TEST(nesting_has_an_end)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 0; i < 100000; i++)
        g_string_append_c(text, '[');
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(tree_of(text->str, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ":1:66: nested more than 64 levels deep");
}
END_TEST

static const char base_text[] = "name: two\njobs:\n  - {name: a, gpus: 8}\n";

static const struct {
    const char *assignment, *result; /* the tree, or the error */
} sets[] = {
    {"jobs[0].gpus=64", "@1:1{}; name@1:7=two; jobs@3:3[]; jobs[0]@3:5{}; jobs[0].name@3:12=a; jobs[0].gpus@0:0=64; "},
    {"name = 'x y' ", "@1:1{}; name@0:0=x y!; jobs@3:3[]; jobs[0]@3:5{}; jobs[0].name@3:12=a; jobs[0].gpus@3:21=8; "},
    {"network.model=packet", "@1:1{}; name@1:7=two; jobs@3:3[]; jobs[0]@3:5{}; jobs[0].name@3:12=a; "
                             "jobs[0].gpus@3:21=8; network@0:0{}; network.model@0:0=packet; "},
    {"jobs[1].name=b", "@1:1{}; name@1:7=two; jobs@3:3[]; jobs[0]@3:5{}; jobs[0].name@3:12=a; jobs[0].gpus@3:21=8; "
                       "jobs[1]@0:0{}; jobs[1].name@0:0=b; "},
    {"jobs=[{name: b}]", "@1:1{}; name@1:7=two; jobs@0:0[]; jobs[0]@0:0{}; jobs[0].name@0:0=b; "},
    {"faults[0].at=1 ms", "@1:1{}; name@1:7=two; jobs@3:3[]; jobs[0]@3:5{}; jobs[0].name@3:12=a; "
                          "jobs[0].gpus@3:21=8; faults@0:0[]; faults[0]@0:0{}; faults[0].at@0:0=1 ms; "},
    {"name=", "@1:1{}; name@0:0=; jobs@3:3[]; jobs[0]@3:5{}; jobs[0].name@3:12=a; jobs[0].gpus@3:21=8; "},
    {"name", "--set \"name\": write it as PATH=VALUE, for example jobs[0].gpus=64"},
    {"jobs[2].name=b", "--set \"jobs[2].name=b\": jobs has 1 entries; the next would be [1]"},
    {"name.x=b", "--set \"name.x=b\": name is not a map"},
    {"name[0]=b", "--set \"name[0]=b\": name is not a list"},
    {"[0]=b", "--set \"[0]=b\": the top is not a list"},
    {"=b", "--set \"=b\": \"\" is no path such as jobs[0].gpus"},
    {"a..b=1", "--set \"a..b=1\": \"a..b\" is no path such as jobs[0].gpus"},
    {"jobs[x]=1", "--set \"jobs[x]=1\": \"jobs[x]\" is no path such as jobs[0].gpus"},
    {"jobs[0]gpus=1", "--set \"jobs[0]gpus=1\": \"jobs[0]gpus\" is no path such as jobs[0].gpus"},
    {"name=[1", "--set \"name=[1\": value:2:1: broken YAML: while parsing a flow sequence: did not find expected "
                "',' or ']'"},
};

START_TEST(a_set_puts_its_value_in_place_or_says_why_not)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(YamlTree) tree = tree_of(base_text, NULL);
    if (yaml_tree_set(tree, sets[_i].assignment, &error)) {
        check_spelling(tree, sets[_i].result);
    } else {
        ck_assert_str_eq(error->message, sets[_i].result);
        ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
        check_spelling(tree, "@1:1{}; name@1:7=two; jobs@3:3[]; jobs[0]@3:5{}; jobs[0].name@3:12=a; "
                             "jobs[0].gpus@3:21=8; ");
    }
}
END_TEST

START_TEST(unknown_keys_are_refused_with_the_nearest)
{
    static const char *const known[] = {"name", "gpus", NULL};
    g_autoptr(YamlTree) tree = tree_of("jobs:\n  - {name: a, gpuz: 8}\n  - {qqqq: 8}\n  - 7\n", NULL);
    const YamlNode *jobs = yaml_get(tree->root, "jobs");
    static const char *const expected[] = {
        ":2:15: jobs[0].gpuz: unknown key; did you mean \"gpus\"? (known: name, gpus)",
        ":3:6: jobs[1].qqqq: unknown key (known: name, gpus)",
        ":4:5: jobs[2]: found \"7\", expected a map",
    };
    for (guint i = 0; i < jobs->values->len; i++) {
        g_autoptr(GError) error = NULL;
        ck_assert(!yaml_only(tree, jobs->values->pdata[i], known, &error));
        ck_assert_str_eq(error->message + strlen(path), expected[i]);
    }
    g_autoptr(GError) error = NULL;
    ck_assert(yaml_tree_set(tree, "jobs[0].gpuz=x", NULL));
    ck_assert(!yaml_fail(tree, yaml_get(jobs->values->pdata[0], "gpuz"), &error, "bad %d", 7));
    ck_assert_str_eq(error->message + strlen(path), ": --set: jobs[0].gpuz: bad 7");
}
END_TEST

/* Unchanged the file comes back as it stands; changed it is written so that it reads as the same tree. */
START_TEST(a_tree_is_printed_so_that_it_reads_alike)
{
    static const char text[] =
        "# why\nname: two\njobs:\n  - {name: \"a: b\", gpus: 8, list: [], map: {}, long: \"x\\ty\"}\n"
        "  - [1, [2, 'null']]\nnothing:\n";
    g_autoptr(YamlTree) tree = tree_of(text, NULL);
    g_autofree char *same = yaml_tree_print(tree);
    ck_assert_str_eq(same, text);
    ck_assert(yaml_tree_set(tree, "name=three", NULL));
    g_autofree char *printed = yaml_tree_print(tree);
    ck_assert_str_eq(printed,
                     "name: three\njobs:\n- name: \"a: b\"\n  gpus: 8\n  list: []\n  map: {}\n  long: \"x\\ty\"\n"
                     "- - 1\n  - - 2\n    - \"null\"\nnothing:\n");
    g_autoptr(YamlTree) again = tree_of(printed, NULL);
    ck_assert(yaml_tree_set(again, "name=three", NULL));
    g_autofree char *twice = yaml_tree_print(again);
    ck_assert_str_eq(twice, printed);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("yaml_tree");
    TCase *tc = tcase_create("yaml_tree");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, every_value_knows_its_place_and_path);
    tcase_add_loop_test(tc, what_is_no_such_tree_is_refused_with_its_place, 0, (int)G_N_ELEMENTS(bad));
    tcase_add_test(tc, nesting_has_an_end);
    tcase_add_loop_test(tc, a_set_puts_its_value_in_place_or_says_why_not, 0, (int)G_N_ELEMENTS(sets));
    tcase_add_test(tc, unknown_keys_are_refused_with_the_nearest);
    tcase_add_test(tc, a_tree_is_printed_so_that_it_reads_alike);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
