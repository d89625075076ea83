/* test-topology-format.c - formats are known by their content, not by their names */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"

#include <string.h>
#include <unistd.h>

static const struct {
    const char *head;
    gboolean known;
} heads[] = {
    {"<graphml>", TRUE},
    {"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">", TRUE},
    {"<?xml version=\"1.0\"?>\r\n<graphml>", TRUE},
    {"\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- a > b -->\n<!-- two -->\n<graphml/>", TRUE},
    {"<!DOCTYPE graphml SYSTEM \"x\"><g:graphml xmlns:g=\"y\">", TRUE},
    {"<!-- <graphml> --><svg>", FALSE},
    {"<svg a=\"x:graphml\">", FALSE},
    {"<graphmlx>", FALSE},
    {"<!-- <graphml>", FALSE},
    {"graphml", FALSE},
    {"{\"graphml\": 1}", FALSE},
    {"", FALSE},
};

START_TEST(graphml_is_known_by_its_first_element)
{
    ck_assert_msg(topology_graphml.recognise(heads[_i].head, strlen(heads[_i].head)) == heads[_i].known, "%s",
                  heads[_i].head);
}
END_TEST

static const char graph[] = "<graphml><key id='k' for='node' attr.name='kind' attr.type='string'/><graph id='g' "
                            "edgedefault='directed'><node id='a'><data key='k'>host</data></node></graph></graphml>";

START_TEST(a_file_is_read_whatever_its_name)
{
    char path[] = "/tmp/trainshed-topology-XXXXXX";
    close(mkstemp(path));
    GError *error = NULL;

    ck_assert(g_file_set_contents(path, graph, -1, NULL));
    g_autoptr(Fabric) fabric = topology_read(path, NULL, NULL, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(fabric_n_nodes(fabric), 1);
    ck_assert_ptr_null(topology_read(path, "grafml", NULL, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "there is no topology format \"grafml\"; did you mean \"graphml\";");

    ck_assert(g_file_set_contents(path, "digraph { a -> b }", -1, NULL));
    ck_assert_ptr_null(topology_read(path, NULL, NULL, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ": this is no fabric in a format that is known;");
    ck_assert(g_file_set_contents(path, "", -1, NULL));
    ck_assert_ptr_null(topology_read(path, NULL, NULL, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, path);
    unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("topology format");
    TCase *tcase = tcase_create("format");
    tcase_add_loop_test(tcase, graphml_is_known_by_its_first_element, 0, G_N_ELEMENTS(heads));
    tcase_add_test(tcase, a_file_is_read_whatever_its_name);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
