/* test-astra-topology.c - ASTRA-sim's network.yml as a fabric: counts by hand, rates, rings of two, refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/astra_network.h"
#include "fabric/topology_format.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* nodes = ranks + a switch for every row of a Switch; cables: Switch n of n, Ring n (2: 1), FullyConnected n(n-1)/2. */
static const struct {
    const char *topology, *npus;
    uint32_t ranks, nodes, cables;
} shapes[] = {
    {"Switch", "8", 8, 9, 8},
    {"Ring", "8", 8, 8, 8},
    {"Ring", "2", 2, 2, 1},
    {"FullyConnected", "5", 5, 5, 10},
    {"Switch, Switch", "8, 4", 32, 32 + 4 + 8, 64},
    {"Ring, FullyConnected", "4, 3", 12, 12, 12 + 4 * 3},
    {"Switch, Switch, Ring", "8, 4, 2", 64, 64 + 8 + 16, 64 + 64 + 32},
};

START_TEST(counts)
{
    g_auto(GStrv) dimensions = g_strsplit(shapes[_i].topology, ",", -1);
    const char *values[] = {"", "50", "50, 25", "50, 25, 12.5"};
    const char *value = values[g_strv_length(dimensions)];
    g_autofree char *text = g_strdup_printf("topology: [%s]\nnpus_count: [%s]\nbandwidth: [%s]\nlatency: [%s]\n",
                                            shapes[_i].topology, shapes[_i].npus, value, value);
    g_autofree char *path = support_save(text);
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, NULL, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error != NULL ? error->message : "");
    uint32_t n;
    fabric_gpus(fabric, &n);
    ck_assert_uint_eq(n, shapes[_i].ranks);
    ck_assert_uint_eq(fabric_n_nodes(fabric), shapes[_i].nodes);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * shapes[_i].cables);
    const Link *first = fabric_link(fabric, 0), *last = fabric_link(fabric, 2 * shapes[_i].cables - 1);
    ck_assert_double_eq(first->capacity_Bps, 50 * 0x1p30);
    ck_assert_int_eq(first->latency_ps, 50 * PS_PER_NS);
    if (g_strv_length(dimensions) == 3) {
        ck_assert_double_eq(last->capacity_Bps, 12.5 * 0x1p30);
        ck_assert_int_eq(last->latency_ps, 12500);
    }
    g_unlink(path);
}
END_TEST

/* All files of the peers' folder that are networks, by the numbers in their names. */
START_TEST(real_files)
{
    NEED_SHARED(folder, "data/peers/astra-sim/network");
    GDir *dir = g_dir_open(folder, 0, NULL);
    ck_assert(dir != NULL);
    int files = 0;
    for (const char *name; (name = g_dir_read_name(dir)) != NULL; files++) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        GError *error = NULL;
        g_autoptr(Fabric) fabric = topology_read(path, NULL, NULL, NULL, &error);
        ck_assert_msg(fabric != NULL, "%s", error != NULL ? error->message : "");
        uint32_t n;
        fabric_gpus(fabric, &n);
        ck_assert_uint_eq(n, g_ascii_strtoull(strrchr(name, '-') + 1, NULL, 10));
    }
    g_dir_close(dir);
    ck_assert_int_eq(files, 18);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"topology: [Torus]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n",
     ":1:12: topology[0]: found \"Torus\", expected Ring, Switch or FullyConnected"},
    {"topology: [Ring]\nnpus_count: [1]\nbandwidth: [1]\nlatency: [1]\n",
     ":2:14: npus_count[0]: found \"1\", expected a whole number from 2 to 1048576"},
    {"topology: [Ring]\nnpus_count: [4]\nbandwidth: [0]\nlatency: [1]\n",
     ":3:13: bandwidth[0]: found \"0\", expected GB/s (of 2^30 bytes) above 0, at most 16777216"},
    {"topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [-1]\n",
     ":4:11: latency[0]: found \"-1\", expected ns from 0 to 1e12"},
    {"topology: [Ring]\nnpus_count: [4]\nbandwidth: [nan]\nlatency: [1]\n", "bandwidth[0]: found \"nan\""},
    {"topology: [Ring, Ring]\nnpus_count: [4]\nbandwidth: [1, 1]\nlatency: [1, 1]\n",
     "npus_count: has 1 values, but topology has 2"},
    {"topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\n", "latency is missing"},
    {"topology: Ring\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n",
     "topology: found \"Ring\", expected a list of 1 to 16 values"},
    {"topology: [Ring, Ring]\nnpus_count: [2048, 1024]\nbandwidth: [1, 1]\nlatency: [1, 1]\n",
     "the product is above 1048576"},
};

START_TEST(refused)
{
    g_autofree char *path = support_save(bad[_i].text);
    GError *error = NULL;
    ck_assert(topology_read(path, "astra-sim", NULL, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
    g_unlink(path);
}
END_TEST

/* Five problems in one file, each with its line, in file order of the keys. */
START_TEST(all_problems)
{
    g_autofree char *path = support_save("topology: [Star, Ring]\nnpus_count: [1, 4, 4]\nbandwidth: [1, x]\n");
    TopologyOptions options = topology_options_default;
    options.problems = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    ck_assert(topology_read(path, "astra-sim", &options, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ": 5 problems");
    ck_assert_uint_eq(options.problems->len, 5);
    static const char *const lines[] = {":1:", ":2:", ":2:", ":3:", "latency is missing"};
    for (int i = 0; i < 5; i++)
        ck_assert(strstr(options.problems->pdata[i], lines[i]) != NULL);
    g_ptr_array_unref(options.problems);
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("astra-topology");
    TCase *tcase = tcase_create("astra-topology");
    tcase_add_loop_test(tcase, counts, 0, G_N_ELEMENTS(shapes));
    tcase_add_test(tcase, real_files);
    tcase_add_loop_test(tcase, refused, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, all_problems);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
