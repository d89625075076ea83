/* test-ibnetdiscover.c - dumps of ibnetdiscover and net files of ibsim: counts of real ones, hosts, traps, refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"

#include <glib/gstdio.h>
#include <string.h>

static const TopologyOptions options = {.default_rate_Bps = 12.5e9, .default_latency_ps = 600000, .detour = 1};

static Fabric *
read_text(const char *text, char **notes)
{
    g_autofree char *path = support_save(text);
    GError *error = NULL;
    Fabric *fabric = topology_read(path, NULL, &options, notes, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    g_unlink(path);
    return fabric;
}

typedef struct {
    uint32_t switches, cas, cables, trunks, hosts;
} Counts;

static gboolean
is_switch(NodeKind kind)
{
    return kind == NODE_LEAF || kind == NODE_SPINE || kind == NODE_CORE;
}

static Counts
count(const Fabric *fabric)
{
    Counts counts = {0};
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++) {
        NodeKind kind = fabric_node(fabric, v)->kind;
        counts.switches += is_switch(kind);
        counts.cas += kind == NODE_NIC;
        counts.hosts += kind == NODE_HOST;
    }
    for (uint32_t l = 0; l < fabric_n_links(fabric); l += 2) {
        const Link *link = fabric_link(fabric, l);
        if (link->kind != LINK_INFINIBAND)
            continue;
        counts.cables++;
        counts.trunks +=
            is_switch(fabric_node(fabric, link->src)->kind) && is_switch(fabric_node(fabric, link->dst)->kind);
        ck_assert_int_eq(link->latency_ps, 600000);
    }
    return counts;
}

/* ../shared/data/fabric/README.md. rate: of every cable; 4xNDR = 400 Gb/s, 4xHDR = 200 Gb/s, those of ibsim say none.
 * The faked file names one CA that it does not declare: an aggregation node. Hosts: of the NDR file 122 names and 69
 * CAs without. */
static const struct {
    const char *file;
    Counts counts;
    double rate_Bps;
} files[] = {
    {"ibnetdiscover-dgx-ndr.txt", {40, 582, 1114, 532, 122 + 69}, 50e9},
    {"ibnetdiscover-nolinks-gb200.txt", {0, 1, 0, 0, 1}, 0},
    {"ibnetdiscover-cs8500-faked.txt", {8, 10 + 1, 18, 7, 10}, 25e9},
    {"ibsim-net.txt", {2, 2, 4, 2, 2}, 12.5e9},
    {"ibsim-net-1.txt", {1, 2, 2, 0, 2}, 12.5e9},
    {"ibsim-net-2sw2path.txt", {2, 2, 4, 2, 2}, 12.5e9},
    {"ibsim-net-2sw2path4hca.txt", {2, 4, 6, 2, 4}, 12.5e9},
    {"ibsim-net-2sw2path4hca2port.txt", {2, 2, 6, 2, 2}, 12.5e9},
};

START_TEST(real_files_have_their_counts)
{
    g_autofree char *relative = g_strconcat("data/fabric/", files[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &options, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    Counts got = count(fabric), want = files[_i].counts;
    ck_assert_uint_eq(got.switches, want.switches);
    ck_assert_uint_eq(got.cas, want.cas);
    ck_assert_uint_eq(got.cables, want.cables);
    ck_assert_uint_eq(got.trunks, want.trunks);
    ck_assert_uint_eq(got.hosts, want.hosts);
    ck_assert_uint_eq(fabric_n_servers(fabric), want.hosts);
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        const Link *link = fabric_link(fabric, l);
        if (link->kind != LINK_INFINIBAND)
            continue;
        ck_assert_double_eq(link->capacity_Bps, files[_i].rate_Bps);
        gboolean said = g_str_has_prefix(files[_i].file, "ibnetdiscover");
        ck_assert_str_eq(link->source, said ? "rate file, latency default" : "default");
    }
}
END_TEST

/* 31 leaves and 9 spines; of the 122 host names 109 have 4 CAs, 11 have 3, 2 have 2; 40 aggregation nodes are in no
 * server (../shared/data/fabric/README.md). */
START_TEST(hosts_of_the_ndr_fabric)
{
    NEED_SHARED(path, "data/fabric/ibnetdiscover-dgx-ndr.txt");
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &options, &notes, NULL);
    ck_assert_ptr_nonnull(fabric);
    uint32_t leaves = 0, spines = 0, with[5] = {0}, outside = 0;
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++) {
        NodeKind kind = fabric_node(fabric, v)->kind;
        leaves += kind == NODE_LEAF;
        spines += kind == NODE_SPINE;
        outside += kind == NODE_NIC && fabric_server(fabric, v) == INDEX_NONE;
        if (kind == NODE_HOST) {
            uint32_t n;
            fabric_nics(fabric, v, &n);
            ck_assert_uint_le(n, 4);
            with[n]++;
        }
    }
    ck_assert_uint_eq(leaves, 31);
    ck_assert_uint_eq(spines, 9);
    ck_assert_uint_eq(outside, 40);
    ck_assert_uint_eq(with[4], 109);
    ck_assert_uint_eq(with[3], 11);
    ck_assert_uint_eq(with[2], 2);
    ck_assert_uint_eq(with[1], 69);
    ck_assert_str_eq(notes, "40 switches, 582 CAs, 1114 cables, 532 of them between switches\n"
                            "40 aggregation nodes (SHARP) are NICs without a host\n"
                            "69 CAs have no host name of their own: each, or each system GUID, is a host\n"
                            "PCIe of the hosts is not in the file: as fast as the ports of its NIC, no latency\n");
    const Node *nic = fabric_node(fabric, fabric_find(fabric, "a08-p1-dgx-04-c01/mlx5_5"));
    ck_assert_int_eq(nic->rail, 5);
    ck_assert_str_eq(nic->server, "a08-p1-dgx-04-c01");
    nic = fabric_node(fabric, fabric_find(fabric, "a06-p1-dgx-02-c01/HCA-6"));
    ck_assert_int_eq(nic->rail, 5);
}
END_TEST

/* The modules of the director share a sysimgguid: one chassis. */
START_TEST(a_director_is_one_chassis)
{
    NEED_SHARED(path, "data/fabric/ibnetdiscover-cs8500-faked.txt");
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &options, NULL, NULL);
    ck_assert_ptr_nonnull(fabric);
    static const struct {
        const char *name;
        NodeKind kind;
    } modules[] = {{"rmd70-0101-0908-01ib1-A/S01", NODE_CORE},
                   {"rmd70-0101-0908-01ib1-A/L01", NODE_SPINE},
                   {"rmd70-0101-0908-01ib1-A/L02", NODE_SPINE}};
    for (size_t i = 0; i < G_N_ELEMENTS(modules); i++) {
        uint32_t node = fabric_find(fabric, modules[i].name);
        ck_assert_uint_ne(node, INDEX_NONE);
        ck_assert_int_eq(fabric_node(fabric, node)->kind, modules[i].kind);
        ck_assert_str_eq(fabric_node(fabric, node)->rack, "rmd70-0101-0908-01ib1-A");
    }
    ck_assert_str_eq(fabric_node(fabric, fabric_find(fabric, "rmd70-0101-0919-01ib0"))->rack, "");
}
END_TEST

#define SWITCH(id) "Switch 8 \"S-" id "\" # \"MF0;sw" id ":MQM9700/U1\" base port 0 lid 1 lmc 0\n"

/* By hand from the words: lanes x nominal Gb/s of a lane / 8. */
static const struct {
    const char *word;
    double rate_Bps;
} speeds[] = {
    {"1xSDR", 2.5e9 / 8}, {"4xDDR", 20e9 / 8},  {"4xQDR", 40e9 / 8},   {"4xFDR10", 41.2e9 / 8},
    {"4xFDR", 56e9 / 8},  {"4xEDR", 100e9 / 8}, {"2xHDR", 100e9 / 8},  {"4xHDR", 200e9 / 8},
    {"4xNDR", 400e9 / 8}, {"4xXDR", 800e9 / 8}, {"12xQDR", 120e9 / 8},
};

START_TEST(speeds_are_width_times_lane)
{
    g_autofree char *text =
        g_strdup_printf(SWITCH("1") "[1] \"S-2\"[3] # \"MF0;sw2:MQM9700/U1\" lid 65335 %s s=4 w=2\n" SWITCH(
                            "2") "[3]\"S-1\"[1] # \"MF0;sw1:MQM9700/U1\" lid %s\r\n",
                        speeds[_i].word, speeds[_i].word);
    g_autoptr(Fabric) fabric = read_text(text, NULL);
    ck_assert_uint_eq(fabric_n_links(fabric), 2);
    ck_assert_double_eq_tol(fabric_link(fabric, 0)->capacity_Bps, speeds[_i].rate_Bps, 1e-3);
    ck_assert_uint_ne(fabric_find(fabric, "sw1"), INDEX_NONE);
}
END_TEST

/* Two hosts "localhost" with the same device; a card of two CAs without a name; Intel's order; quotes and # inside. */
START_TEST(which_cas_are_of_one_host)
{
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric =
        read_text("\xef\xbb\xbf# Topology file\nNon-Chassis Nodes\nChassis 1 (guid 0x1)\n"
                  "Switch 8 \"S-1\" # \"Voltaire 4036 # v4036\" enhanced port 0 lid 0 lmc 0\n"
                  "[1] \"H-1\"[1](1) # \"localhost mlx5_0\" lid 4xEDR\n[2][ext 3] \"H-2\"[1] # \"localhost mlx5_0\" "
                  "lid 3 4xEDR\n"
                  "Ca 1 \"H-1\" # \"localhost mlx5_0\"\nCa 1 \"H-2\" # \"localhost mlx5_0\"\n"
                  "Ca 1 \"H-6\" # \"localhost mlx5_1\"\n"
                  "sysimgguid=0x77\t# Chassis 1 slot 2\nCa 1 \"H-3\" # \"MT4129 ConnectX7   Mellanox Technologies\"\n"
                  "sysimgguid=0x77\ncaguid=0x4(4)\nCa 1 \"H-4\" # \"MT4129 ConnectX7   Mellanox Technologies\"\n"
                  "Ca 2 \"H-5\" # \"hfi1_1 node7\"\nRt 2 \"R-1\" # \"a router\"\n",
                  &notes);
    static const char *const hosts[] = {"localhost-1", "localhost-2", "localhost-6", "host-3", "node7"};
    uint32_t n;
    fabric_gpus(fabric, &n);
    ck_assert_uint_eq(n, G_N_ELEMENTS(hosts));
    for (size_t i = 0; i < G_N_ELEMENTS(hosts); i++)
        ck_assert_uint_ne(fabric_find(fabric, hosts[i]), INDEX_NONE);
    const Node *nic = fabric_node(fabric, fabric_find(fabric, "host-3/H-4"));
    ck_assert_str_eq(nic->server, "host-3");
    nic = fabric_node(fabric, fabric_find(fabric, "node7/hfi1_1"));
    ck_assert_int_eq(nic->rail, 1);
    ck_assert_uint_ne(fabric_find(fabric, "Voltaire 4036 # v4036"), INDEX_NONE);
    ck_assert_ptr_nonnull(strstr(notes, "5 CAs have no host name of their own"));
    ck_assert_ptr_nonnull(strstr(notes, "2 cables are listed at one end only\n"));
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"Switch 8 \"S-1\"\nSwitch 8 \"S-1\"\n", ":2: \"S-1\" is there already, at line 1"},
    {"Switch 8 \"S-1\"\n[1] \"H-1\"[1]\n[1] \"H-2\"[1]\n", ":3: port 1 of \"S-1\" is there already, at line 2"},
    {"Switch 8 \"S-1\"\n[9] \"H-1\"[1]\n", ":2: port 9 of \"S-1\", which has 8"},
    {"Switch 8 \"S-1\"\n[1] \"S-1\"[2]\n", ":2: port 1 of \"S-1\" leads to itself"},
    {"Switch 8 \"S-1\"\n[1] \"a\"[2]\n", ":2: there is no device \"a\""},
    {"Switch 8 \"S-1\"\n[1] \"S-2\"[2]\nSwitch 8 \"S-2\"\n[2] \"S-1\"[3]\n",
     ":2: leads to port 2 of \"S-2\", which leads elsewhere: line 4"},
    {"Switch 8 \"S-1\"\n[1] \"S-2\"[2] # \"\" lid 1 4xEDR\nSwitch 8 \"S-2\"\n[2] \"S-1\"[1] # \"\" lid 2 4xDDR\n",
     ":4: the speed is 20 Gb/s here and 100 Gb/s at the other end, line 2"},
    {"Switch 8 \"S-1\"\n[x] \"S-2\"[2]\n", ":2: found \"[x] \"S-2\"[2]\", expected a port like [1]"},
    {"Switch 8 \"S-1\"\n[1] S-2[2]\n", ":2: port 1: found \"S-2[2]\", expected the other end"},
    {"[1] \"S-2\"[2]\nSwitch 8 \"S-1\"\n", ":1: port 1 stands before the first Switch or Ca"},
    {"Switch 8 \"S-1\"\nCa x \"H-1\"\n", ":2: Ca: found \"x \"H-1\"\", expected the number of ports"},
    {"Switch 8 \"S-1\"\nCa 1 H-1\n", ":2: Ca: found \"H-1\", expected the id in quotes"},
    {"Switch 8 \"S-1\"\nhello\n", ":2: found \"hello\", expected Switch, Ca, a port"},
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
        support_save("Switch 8 \"S-1\"\n[1] \"a\"[2]\nhello\n[9] \"S-2\"[1]\nSwitch x\n[1] \"S-2\"[3]\n");
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    TopologyOptions all = options;
    all.problems = problems;
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, NULL, &all, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ": 4 problems");
    static const char *const lines[] = {":3:", ":4:", ":5:", ":2:"};
    ck_assert_uint_eq(problems->len, G_N_ELEMENTS(lines));
    for (guint i = 0; i < problems->len; i++)
        ck_assert_ptr_nonnull(strstr(problems->pdata[i], lines[i]));
    g_unlink(path);
}
END_TEST

START_TEST(what_the_file_does_not_say_is_asked_for)
{
    g_autofree char *path = support_save("Switch 8 \"S-1\"\n[1] \"S-2\"[2]\n");
    TopologyOptions less = options;
    less.default_rate_Bps = 0;
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, NULL, &less, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "1 of 1 links say no speed (the first at line 2): give one with --default-rate");
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
    Suite *suite = suite_create("ibnetdiscover");
    TCase *tcase = tcase_create("ibnetdiscover");
    tcase_add_loop_test(tcase, real_files_have_their_counts, 0, G_N_ELEMENTS(files));
    tcase_add_test(tcase, hosts_of_the_ndr_fabric);
    tcase_add_test(tcase, a_director_is_one_chassis);
    tcase_add_loop_test(tcase, speeds_are_width_times_lane, 0, G_N_ELEMENTS(speeds));
    tcase_add_test(tcase, which_cas_are_of_one_host);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, all_problems_on_request);
    tcase_add_test(tcase, what_the_file_does_not_say_is_asked_for);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
