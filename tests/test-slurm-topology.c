/* test-slurm-topology.c - Slurm's topology.conf: the counts of real ones, names in short form, round trips, refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/hostlist.h"
#include "fabric/topology_format.h"
#include "fabric/topology_writer.h"

#include <glib/gstdio.h>
#include <string.h>

static const TopologyOptions options = {.default_rate_Bps = 50e9, .default_latency_ps = 600000, .detour = 1};

typedef struct {
    uint32_t switches, leaves, hosts, trunks, roots;
} Counts;

static gboolean
is_switch(NodeKind kind)
{
    return kind == NODE_LEAF || kind == NODE_SPINE || kind == NODE_CORE;
}

/* Roots: switches without a switch of a higher kind beside them. In these files a cable leads from below to above. */
static Counts
count(const Fabric *fabric)
{
    Counts counts = {0};
    g_autofree gboolean *has_above = g_new0(gboolean, fabric_n_nodes(fabric));
    for (uint32_t l = 0; l < fabric_n_links(fabric); l += 2) {
        const Link *link = fabric_link(fabric, l);
        if (is_switch(fabric_node(fabric, link->src)->kind)) {
            counts.trunks++;
            has_above[link->src] = TRUE;
        }
        ck_assert_double_eq(link->capacity_Bps, 50e9);
        ck_assert_int_eq(link->latency_ps, 600000);
        ck_assert_str_eq(link->source, "default");
    }
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++) {
        NodeKind kind = fabric_node(fabric, v)->kind;
        counts.switches += is_switch(kind);
        counts.leaves += kind == NODE_LEAF;
        counts.hosts += kind == NODE_HOST;
        counts.roots += is_switch(kind) && !has_above[v];
    }
    return counts;
}

/* ../shared/data/fabric/README.md; of blocks each is a switch, and one more joins them. */
static const struct {
    const char *file;
    Counts counts;
} files[] = {
    {"slurm-topology-test133-1.conf", {529, 500, 10000, 528, 1}},
    {"slurm-topology-test133-2.conf", {528, 500, 10000, 527, 1}},
    {"slurm-topology-test133-3.conf", {23, 20, 400, 22, 1}},
    {"slurm-topology-test133-4.conf", {22, 20, 400, 20, 2}},
    {"slurm-topology-test133-6.conf", {7, 5, 40, 4, 3}},
    {"slurm-topology-oci-sim-tree.conf", {19, 12, 96, 18, 1}},
    {"slurm-topology-block.conf", {8 + 1, 8, 32, 8, 1}},
    {"slurm-topology-dra-block.conf", {12 + 1, 12, 96, 12, 1}},
};

static void
assert_counts(const Fabric *fabric, Counts want)
{
    Counts got = count(fabric);
    ck_assert_uint_eq(got.switches, want.switches);
    ck_assert_uint_eq(got.leaves, want.leaves);
    ck_assert_uint_eq(got.hosts, want.hosts);
    ck_assert_uint_eq(got.trunks, want.trunks);
    ck_assert_uint_eq(got.roots, want.roots);
}

START_TEST(real_files_have_their_counts_and_come_back_from_a_round_trip)
{
    g_autofree char *relative = g_strconcat("data/fabric/", files[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &options, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    assert_counts(fabric, files[_i].counts);

    g_autofree char *out = support_save("");
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    const TopologyWriter *writer = topology_writer_find("slurm", NULL);
    ck_assert_msg(writer->write(fabric, out, notes, &error), "%s", error ? error->message : "");
    ck_assert_uint_eq(notes->len, 1);
    g_autoptr(Fabric) back = topology_read(out, NULL, &options, NULL, &error);
    ck_assert_msg(back != NULL, "%s", error ? error->message : "");
    assert_counts(back, files[_i].counts);
    /* Each host is below the switch it was below. */
    for (uint32_t l = 0; l < fabric_n_links(fabric); l += 2) {
        const Link *link = fabric_link(fabric, l);
        uint32_t below = fabric_find(back, fabric_node(fabric, link->src)->name), n;
        ck_assert_uint_ne(below, INDEX_NONE);
        const uint32_t *ways = fabric_out(back, below, &n);
        gboolean found = FALSE;
        for (uint32_t i = 0; i < n && !found; i++)
            found = strcmp(fabric_node(back, fabric_link(back, ways[i])->dst)->name,
                           fabric_node(fabric, link->dst)->name) == 0;
        ck_assert_msg(found, "%s", fabric_node(fabric, link->src)->name);
    }
    g_unlink(out);
}
END_TEST

static const struct {
    const char *text, *names; /* joined by blanks */
} lists[] = {
    {"a", "a"},
    {"a,b", "a b"},
    {"n[1-3]", "n1 n2 n3"},
    {"n[08-11]", "n08 n09 n10 n11"},
    {"n[1,5-6],m2", "n1 n5 n6 m2"},
    {"r[1-2]n[1-2]x", "r1n1x r1n2x r2n1x r2n2x"},
};

START_TEST(short_forms_are_expanded)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    ck_assert(hostlist_expand(lists[_i].text, 100, names, NULL));
    g_ptr_array_add(names, NULL);
    g_autofree char *joined = g_strjoinv(" ", (char **)names->pdata);
    ck_assert_str_eq(joined, lists[_i].names);
}
END_TEST

static const struct {
    const char *names, *text;
} compressed[] = {
    {"a", "a"},
    {"n1 n2 n3", "n[1-3]"},
    {"n8 n9 n10 n11", "n[8-11]"},
    {"n08 n09 n10", "n[08-10]"},
    {"n09 n10 n011", "n[09-10],n011"},
    {"n1 n3 n4 m5", "n1,n[3-4],m5"},
    {"n99 n100 n0101", "n[99-100],n0101"},
};

START_TEST(names_are_compressed_and_come_back)
{
    g_auto(GStrv) words = g_strsplit(compressed[_i].names, " ", -1);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (size_t i = 0; words[i] != NULL; i++)
        g_ptr_array_add(names, words[i]);
    g_autofree char *text = hostlist_compress(names);
    ck_assert_str_eq(text, compressed[_i].text);
    g_autoptr(GPtrArray) back = g_ptr_array_new_with_free_func(g_free);
    ck_assert(hostlist_expand(text, 100, back, NULL));
    g_ptr_array_add(back, NULL);
    g_autofree char *joined = g_strjoinv(" ", (char **)back->pdata);
    ck_assert_str_eq(joined, compressed[_i].names);
}
END_TEST

START_TEST(keys_comments_and_continued_lines)
{
    g_autofree char *path = support_save("# a tree\nswitchname=top SWITCHES=l[1-2] LinkSpeed=100 # the root\n"
                                         "SwitchName=l1 \\\n  Nodes=a[1-2]\r\nSwitchName=l2 Nodes=b\n");
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &options, &notes, NULL);
    ck_assert_ptr_nonnull(fabric);
    assert_counts(fabric, (Counts){3, 2, 3, 2, 1});
    ck_assert_str_eq(notes, "1 LinkSpeed ignored: it has no unit\n");
    g_unlink(path);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"SwitchName=a Nodes=n[1-\n", ":1: a: found \"n[1-\", expected numbers and ranges"},
    {"SwitchName=a Nodes=n[5-1]\n", "expected numbers and ranges like [1-4,7] in brackets"},
    {"SwitchName=a Nodes=n[1-99999999]\n", "stands for more than 4000000 names"},
    {"SwitchName=a Nodes=x,\n", "which has an empty name"},
    {"SwitchName=a\n", ":1: a: needs Switches or Nodes"},
    {"SwitchName=a Nodes=x\nSwitchName=a Nodes=y\n", ":2: a is there already"},
    {"SwitchName=a Switches=b\n", ":1: a: there is no switch \"b\""},
    {"SwitchName=a Nodes=x\nSwitchName=b Nodes=x\n", ":2: b: \"x\" is below a already"},
    {"SwitchName=a Nodes=x\nSwitchName=b Switches=a\nSwitchName=c Switches=a\n", ":3: c: \"a\" is below b already"},
    {"SwitchName=a Switches=b\nSwitchName=b Switches=a\n", ":1: a is above itself"},
    {"SwitchName=a Nods=x\n", ":1: found the key \"Nods\", expected SwitchName"},
    {"SwitchName=a Nodes=x y\n", ":1: found \"y\", expected Key=Value"},
    {"BlockName=a Switches=x\n", ":1: a: a block has Nodes, no Switches"},
    {"BlockSizes=4\nRingName=a Nodes=x\n", ":2: rings are not read"},
    {"BlockSizes=4\n", "there is no SwitchName and no BlockName"},
    {"SwitchName=a Nodes=a\n", "\"a\""},
};

START_TEST(what_is_wrong_is_named)
{
    g_autofree char *path = support_save(bad[_i].text);
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, NULL, &options, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
    g_unlink(path);
}
END_TEST

START_TEST(all_problems_on_request)
{
    g_autofree char *path =
        support_save("SwitchName=a Nods=x\nSwitchName=b Nodes=y\nSwitchName=c Switches=d\nNodes=q\n");
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    TopologyOptions all = options;
    all.problems = problems;
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, NULL, &all, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "3 problems");
    static const char *const lines[] = {":1:", ":4:", ":3:"};
    for (guint i = 0; i < 3; i++)
        ck_assert_ptr_nonnull(strstr(problems->pdata[i], lines[i]));
    g_unlink(path);
}
END_TEST

START_TEST(what_the_file_does_not_say_is_asked_for)
{
    g_autofree char *path = support_save("SwitchName=a Nodes=x\n");
    TopologyOptions less = options;
    less.default_rate_Bps = 0;
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, NULL, &less, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "says no rate of any link: give one with --default-rate");
    less = options;
    less.default_latency_ps = -1;
    ck_assert_ptr_null(topology_read(path, NULL, &less, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "says no length of any link: give --default-latency");
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("slurm topology");
    TCase *tcase = tcase_create("slurm topology");
    tcase_add_loop_test(tcase, real_files_have_their_counts_and_come_back_from_a_round_trip, 0, G_N_ELEMENTS(files));
    tcase_add_loop_test(tcase, short_forms_are_expanded, 0, G_N_ELEMENTS(lists));
    tcase_add_loop_test(tcase, names_are_compressed_and_come_back, 0, G_N_ELEMENTS(compressed));
    tcase_add_test(tcase, keys_comments_and_continued_lines);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, all_problems_on_request);
    tcase_add_test(tcase, what_the_file_does_not_say_is_asked_for);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
