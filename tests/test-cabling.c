/* test-cabling.c - lists of cables of network tools: the published counts of real ones, by hand, and what is refused */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"

#include <glib/gstdio.h>
#include <string.h>

static const TopologyOptions given = {.default_rate_Bps = 12.5e9, .default_latency_ps = 500000, .detour = 1};

static uint32_t
count_kind(const Fabric *fabric, NodeKind kind)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++)
        n += fabric_node(fabric, v)->kind == kind;
    return n;
}

/* ../shared/data/fabric/README.md, and counted by a script; cables from a device to itself (1 and 17) are left out. */
static const struct {
    const char *file, *format;
    uint32_t devices, hosts, cables;
} files[] = {
    {"batfish-example-layer1.json", "batfish", 15, 0, 20 - 1},
    {"batfish-aristaevpn-layer1.json", "batfish", 14, 0, 34},
    {"containerlab-clos01.yml", "containerlab", 5, 2, 4},
    {"containerlab-clos02.yml", "containerlab", 14, 4, 16},
    {"sonic-lab-links.csv", "sonic-links", 12, 0, 77 - 17},
    {"sonic-minigraph-dpu.xml", "sonic-minigraph", 2, 0, 2},
    {"lldp-nxos-multiline.txt", "lldp", 10, 0, 15},
    {"lldp-arista-detail.txt", "lldp", 13, 0, 20},
    {"netq-topologyGraph.json", "netq", 11, 8, 8 * 4 + 28 + 19},
};

START_TEST(real_files_have_their_published_counts)
{
    g_autofree char *relative = g_strconcat("data/fabric/", files[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(fabric_n_nodes(fabric), files[_i].devices);
    ck_assert_uint_eq(count_kind(fabric, NODE_HOST), files[_i].hosts);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * files[_i].cables);
    g_autoptr(Fabric) named = topology_read(path, files[_i].format, &given, NULL, &error);
    ck_assert_ptr_nonnull(named);
}
END_TEST

/* 20 devices in the table beside the links, of which some are servers; rates of 10 and 40 Gb/s. */
START_TEST(a_sonic_lab_with_its_devices)
{
    NEED_SHARED(links, "data/fabric/sonic-lab-links.csv");
    NEED_SHARED(devices, "data/fabric/sonic-lab-devices.csv");
    const char *const with[] = {devices, NULL};
    TopologyOptions options = given;
    options.companions = with;
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(links, NULL, &options, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    ck_assert_uint_ge(fabric_n_nodes(fabric), 20);
    uint32_t server = fabric_find(fabric, "str-acs-serv-01");
    ck_assert_uint_ne(server, INDEX_NONE);
    ck_assert_int_eq(fabric_node(fabric, server)->kind, NODE_HOST);
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        double rate = fabric_link(fabric, l)->capacity_Bps;
        ck_assert(rate == 1.25e9 || rate == 5e9);
        ck_assert_str_eq(fabric_link(fabric, l)->source, "rate file, latency default");
    }
}
END_TEST

/* Once from each side, a second cable between the same devices, and one to itself. */
START_TEST(a_cable_is_one_from_either_end)
{
#define EDGE(a, pa, b, pb)                                                                                             \
    "{\"node1\": {\"hostname\": \"" a "\", \"interfaceName\": \"" pa "\"}, \"node2\": {\"hostname\": \"" b             \
    "\", \"interfaceName\": \"" pb "\", \"x\": [1]}}"
    g_autofree char *path = support_save("{\"v\": {}, \"edges\": [" EDGE("a", "e1", "b", "e1") "," EDGE(
        "b", "e1", "a", "e1") "," EDGE("a", "e2", "b", "e2") "," EDGE("a", "e3", "a", "e4") "]}");
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, &notes, NULL);
    ck_assert_ptr_nonnull(fabric);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 2);
    ck_assert_uint_eq(fabric_n_links(fabric), 4);
    ck_assert_str_eq(notes, "2 of 2 cables have the default rate\n1 cables from a device to itself are left out\n");
    g_unlink(path);
}
END_TEST

START_TEST(two_devices_tell_of_each_other)
{
    g_autofree char *a =
        support_save("a# show lldp neighbors\nDevice ID            Local Intf      Hold-time  Capability  Port ID\n"
                     "b                    Eth1/1          120        BR           Eth1/2\n"
                     "a-rather-long-name.example\n                     Eth1/3          120                     e9\n"
                     "Total entries displayed: 2\n");
    g_autofree char *b =
        support_save("b# show lldp neighbors\nDevice ID            Local Intf      Hold-time  Capability  Port ID\n"
                     "a                    Eth1/2          120        BR           Eth1/1\n"
                     "Total entries displayed: 1\n");
    const char *const with[] = {b, NULL};
    TopologyOptions options = given;
    options.companions = with;
    g_autoptr(Fabric) fabric = topology_read(a, NULL, &options, NULL, NULL);
    ck_assert_ptr_nonnull(fabric);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 3);
    ck_assert_uint_eq(fabric_n_links(fabric), 4);
    ck_assert_uint_ne(fabric_find(fabric, "a-rather-long-name.example"), INDEX_NONE);
    g_unlink(a);
    g_unlink(b);
}
END_TEST

#define LAB "name: x\ntopology:\n  nodes:\n    a:\n      kind: linux\n    b: {}\n  links:\n"

static const struct {
    const char *format, *text, *message;
} bad[] = {
    {"batfish", "[]", ":1: expected an object with edges"},
    {"batfish", "{}", "there is no key edges"},
    {"batfish", "{\"edges\": [{\"node1\": {\"hostname\": \"a\"}}]}", "an end needs hostname and interfaceName"},
    {"batfish", "{\"edges\": [{}]}", "an edge needs node1 and node2"},
    {"batfish", "{\"edges\": []}", "there is no device in it"},
    {"containerlab", LAB "    - endpoints: [\"a:e1\", \"c:e1\"]\n", "there is no node \"c\""},
    {"containerlab", LAB "    - endpoints: [\"a:e1\"]\n", "a link needs two endpoints"},
    {"containerlab", LAB "    - endpoints: [\"a\", \"b:e1\"]\n", "found \"a\", expected NODE:INTERFACE"},
    {"containerlab", "name: x\n", "expected a map with topology"},
    {"sonic-links", "StartDevice,StartPort,EndDevice,EndPort,BandWidth\na,1,b,2,fast\n",
     ":2: BandWidth: found \"fast\", expected Mb/s"},
    {"sonic-links", "StartDevice,StartPort,EndDevice,EndPort,BandWidth\na,1,,2,10\n", ":2: a link without EndDevice"},
    {"sonic-links", "StartDevice,StartPort\n", ":1: there is no column EndDevice"},
    {"sonic-minigraph",
     "<DeviceMiniGraph><DeviceLinkBase><StartDevice>a</StartDevice></DeviceLinkBase></DeviceMiniGraph>",
     ":1: DeviceLinkBase: needs StartDevice and EndDevice"},
    {"lldp",
     "Device ID            Local Intf      Hold-time  Capability  Port ID\nb e1 120 e2\nTotal entries displayed: 2\n",
     ":3: 2 entries announced, 1 found"},
    {"lldp", "hello\n", "has no list of LLDP neighbours of Arista or Nexus"},
};

START_TEST(what_is_wrong_is_named)
{
    g_autofree char *path = support_save(bad[_i].text);
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, bad[_i].format, &given, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
    g_unlink(path);
}
END_TEST

START_TEST(what_the_file_does_not_say_is_asked_for)
{
    g_autofree char *path = support_save(LAB "    - endpoints: [\"a:e1\", \"b:e1\"]\n");
    TopologyOptions less = given;
    less.default_rate_Bps = 0;
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, NULL, &less, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "1 of 1 cables have no rate: give one with --default-rate");
    less = given;
    less.default_latency_ps = -1;
    ck_assert_ptr_null(topology_read(path, NULL, &less, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "the lengths of cables are not said: give --default-latency");
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("cabling");
    TCase *tcase = tcase_create("cabling");
    tcase_add_loop_test(tcase, real_files_have_their_published_counts, 0, G_N_ELEMENTS(files));
    tcase_add_test(tcase, a_sonic_lab_with_its_devices);
    tcase_add_test(tcase, a_cable_is_one_from_either_end);
    tcase_add_test(tcase, two_devices_tell_of_each_other);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, what_the_file_does_not_say_is_asked_for);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
