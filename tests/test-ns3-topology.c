/* test-ns3-topology.c - topologies of ns-3's RDMA models: counts of SimAI's files, a worked one of HPCC, refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"

#include <glib/gstdio.h>
#include <string.h>

/* From line 1 of each file: GPUs = nodes - NVSwitches - switches, one NIC more a GPU, links + one PCIe cable a GPU. */
static const struct {
    const char *name;
    uint32_t gpus, nvswitches, switches, links, servers;
    double gbps; /* of all ports of a GPU */
} files[] = {
    {"gen_Spectrum-X_8g_8gps_400Gbps_H100.txt", 8, 1, 9, 24, 1, 400},
    {"gen_Spectrum-X_128g_8gps_100Gbps_A100.txt", 128, 16, 72, 768, 16, 100},
    {"gen_Spectrum-X_1024g_8gps_400Gbps_H100.txt", 1024, 128, 80, 3072, 128, 400},
    {"gen_AlibabaHPN_64g_8gps_DualToR_DualPlane_200Gbps_H100.txt", 64, 8, 32, 320, 8, 400},
    {"gen_DCN+DualToR_128g_8gps_200Gbps_H100.txt", 128, 16, 10, 400, 16, 400},
};

START_TEST(simai_files)
{
    g_autofree char *relative = g_strconcat("data/simai/topo/", files[_i].name, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, NULL, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error != NULL ? error->message : "");
    uint32_t n, kinds[NODE_KINDS] = {0};
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    ck_assert_uint_eq(n, files[_i].gpus);
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++)
        kinds[fabric_node(fabric, v)->kind]++;
    ck_assert_uint_eq(kinds[NODE_NVSWITCH], files[_i].nvswitches);
    ck_assert_uint_eq(kinds[NODE_LEAF] + kinds[NODE_SPINE] + kinds[NODE_CORE], files[_i].switches);
    ck_assert_uint_eq(kinds[NODE_NIC], files[_i].gpus);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * (files[_i].links + files[_i].gpus));
    ck_assert_uint_eq(fabric_n_servers(fabric), files[_i].servers);
    const uint32_t *nics = fabric_nics(fabric, gpus[0], &n);
    ck_assert_uint_ge(n, 1);
    uint32_t in;
    const uint32_t *links = fabric_in(fabric, nics[0], &in);
    double rate = 0;
    for (uint32_t l = 0; l < in; l++)
        if (fabric_link(fabric, links[l])->kind == LINK_ETHERNET) {
            rate += fabric_link(fabric, links[l])->capacity_Bps;
            ck_assert_int_eq(fabric_link(fabric, links[l])->latency_ps, 500000);
        }
    ck_assert_double_eq(rate, files[_i].gbps * 1e9 / 8);
}
END_TEST

START_TEST(hpcc_form)
{
    g_autofree char *path =
        support_save("4 2 3\n2 3\n0 2 100Gbps 1000ns 0.000000\n1 3 100Gbps 1000ns 0\n2 3 400Gbps 2us 0.5\n");
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, NULL, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error != NULL ? error->message : "");
    ck_assert_uint_eq(fabric_n_nodes(fabric), 4);
    const Link *trunk = fabric_link(fabric, 4);
    ck_assert_double_eq(trunk->capacity_Bps, 50e9);
    ck_assert_int_eq(trunk->latency_ps, 2 * PS_PER_US);
    ck_assert_double_eq(trunk->loss, 0.5);
    ck_assert_int_eq(fabric_node(fabric, 0)->kind, NODE_HOST);
    ck_assert_int_eq(fabric_node(fabric, 2)->kind, NODE_LEAF);
    g_unlink(path);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"4 2\n", ":1: 2 fields, expected 3 (nodes, switches, links) or 6"},
    {"2 2 0\n0 1\n", ":1: all 2 nodes are switches"},
    {"3 1 1\n7\n", ":2: the number of a switch is \"7\", expected a whole number from 0 to 2"},
    {"4 2 1\n3 3\n", ":2: switch 3 is named twice"},
    {"3 1 1\n2\n0 2 100 1ns 0\n", ":3: rate \"100\" has no unit"},
    {"3 1 1\n2\n0 2 100Gbps 1 0\n", ":3: time \"1\" has no unit"},
    {"3 1 1\n2\n0 2 100Gbps 1ns 1\n", ":3: found \"1\", expected an error rate from 0 to below 1"},
    {"3 1 1\n2\n0 0 100Gbps 1ns 0\n", ":3: node 0 is linked to itself"},
    {"3 1 2\n2\n0 2 100Gbps 1ns 0\n", ":3: the file ends; expected a node of a link"},
};

START_TEST(refused)
{
    g_autofree char *path = support_save(bad[_i].text);
    GError *error = NULL;
    ck_assert(topology_read(path, "ns3", NULL, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("ns3-topology");
    TCase *tcase = tcase_create("ns3-topology");
    tcase_add_loop_test(tcase, simai_files, 0, G_N_ELEMENTS(files));
    tcase_add_test(tcase, hpcc_form);
    tcase_add_loop_test(tcase, refused, 0, G_N_ELEMENTS(bad));
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
