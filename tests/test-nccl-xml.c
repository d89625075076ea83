/* test-nccl-xml.c - NCCL's topology files: counts and rates of real ones, NVSwitches, several hosts, refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"

#include <glib/gstdio.h>
#include <string.h>

static const TopologyOptions options = {.default_rate_Bps = 7e9, .default_latency_ps = 300000, .detour = 1};

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

/* Counts of ../shared/data/fabric/README.md, and by the same script of ../shared/data/nccl-topo. nvlinks: cables;
 * nvlink_GBps: of all directions together = the sum of count x the rate of one (RCCL's topo.h: 24, 36 and 48 GB/s). */
static const struct {
    const char *file;
    uint32_t gpus, nics, bridges, cpus, nvlinks;
    double nvlink_GBps;
    gboolean asks_rate; /* a rate that neither the file nor a table says */
} files[] = {
    {"nccl-topo/aws_p4d-24xl-topo.xml", 8, 4, 4, 2, 0, 0, FALSE},
    {"nccl-topo/aws_p4de-24xl-topo.xml", 8, 4, 4, 2, 0, 0, FALSE},
    {"nccl-topo/azure_ncv4-topo.xml", 4, 1, 0, 4, 0, 0, TRUE},
    {"nccl-topo/azure_ndv2-topo.xml", 8, 1, 0, 2, 0, 0, FALSE},
    {"nccl-topo/azure_ndv4-topo.xml", 8, 8, 4, 4, 0, 0, FALSE},
    {"nccl-topo/azure_ndv5-topo.xml", 8, 8, 8, 2, 0, 0, FALSE},
    {"nccl-topo/rccl_topo_16p1h.xml", 16, 8, 28, 4, 28, 112 * 36, FALSE},
    {"nccl-topo/rccl_topo_3p_pcie.xml", 3, 1, 3, 2, 0, 0, FALSE},
    {"nccl-topo/rccl_topo_4p4h.xml", 16, 16, 20, 1, 24, 48 * 24, FALSE},
    {"nccl-topo/rccl_topo_8p1h_5.xml", 8, 8, 22, 2, 12, 52 * 36, FALSE},
    {"nccl-topo/rccl_topo_8p6l_6nic.xml", 8, 6, 8, 2, 24, 48 * 24, FALSE},
    {"nccl-topo/rccl_topo_8p_940.xml", 8, 8, 24, 2, 28, 56 * 48, FALSE},
    {"nccl-topo/rccl_topo_8p_rome_4n_2.xml", 8, 4, 20, 4, 12, 24 * 24, FALSE},
    {"nccl-topo/rccl_topo_collnet_n4.xml", 8, 4, 20, 4, 12, 24 * 24, FALSE},
    {"fabric/rccl-topo_4p_940.xml", 4, 4, 0, 4, 6, 12 * 48, FALSE},
    {"fabric/rccl-topo_8p_rome.xml", 8, 1, 8, 2, 8, 16 * 24, FALSE},
    {"fabric/rccl-topo_collnet_n1.xml", 8, 1, 8, 4, 12, 24 * 24, FALSE},
};

START_TEST(real_files_have_their_counts)
{
    g_autofree char *relative = g_strconcat("data/", files[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    TopologyOptions given = options;
    given.default_rate_Bps = files[_i].asks_rate ? 7e9 : 0;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    uint32_t gpus = 0, nics = 0, bridges = 0, cpus = 0, nvlinks = 0, pcie = 0;
    double nvlink_Bps = 0;
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++) {
        const Node *node = fabric_node(fabric, v);
        gpus += node->kind == NODE_GPU;
        nics += node->kind == NODE_NIC;
        bridges += node->kind == NODE_PCIE && g_str_has_prefix(node->name, "pcie-");
        cpus += node->kind == NODE_PCIE && g_str_has_prefix(node->name, "cpu");
    }
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        const Link *link = fabric_link(fabric, l);
        nvlinks += link->kind == LINK_NVLINK;
        pcie += link->kind == LINK_PCIE;
        nvlink_Bps += link->kind == LINK_NVLINK ? link->capacity_Bps : 0;
        ck_assert_int_eq(link->latency_ps, 300000);
        if (link->kind == LINK_NVLINK)
            ck_assert_str_eq(link->source, "rate table, latency default");
    }
    ck_assert_uint_eq(gpus, files[_i].gpus);
    ck_assert_uint_eq(nics, files[_i].nics);
    ck_assert_uint_eq(bridges, files[_i].bridges);
    ck_assert_uint_eq(cpus, files[_i].cpus);
    ck_assert_uint_eq(nvlinks, 2 * files[_i].nvlinks);
    ck_assert_double_eq_tol(nvlink_Bps / 1e9, files[_i].nvlink_GBps, 1e-6);
    /* A tree: each part that is no CPU has one link up; CPUs are joined pairwise. */
    ck_assert_uint_eq(pcie, 2 * (gpus + nics + bridges + cpus * (cpus - 1) / 2));
    ck_assert_uint_eq(fabric_n_servers(fabric), 1);
}
END_TEST

/* 32 GT/s x 16 lanes = 48 GB/s (NCCL: 240 x 16 / 80); between Sapphire Rapids CPUs 22 GB/s; each GPU's first NIC is
 * that below its own switch. */
START_TEST(rates_and_places_of_ndv5)
{
    NEED_SHARED(path, "data/nccl-topo/azure_ndv5-topo.xml");
    TopologyOptions given = options;
    given.default_rate_Bps = 0;
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, &notes, NULL);
    ck_assert_ptr_nonnull(fabric);
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        const Link *link = fabric_link(fabric, l);
        gboolean cpus = g_str_has_prefix(fabric_node(fabric, link->src)->name, "cpu") &&
                        g_str_has_prefix(fabric_node(fabric, link->dst)->name, "cpu");
        ck_assert_double_eq(link->capacity_Bps, cpus ? 22e9 : 48e9);
        ck_assert_str_eq(link->source, cpus ? "rate table, latency default" : "rate file, latency default");
    }
    uint32_t n, n_gpus;
    const uint32_t *gpus = fabric_gpus(fabric, &n_gpus);
    for (uint32_t g = 0; g < n_gpus; g++) {
        const uint32_t *nics = fabric_nics(fabric, gpus[g], &n);
        ck_assert_uint_eq(n, 8);
        ck_assert_int_eq(fabric_node(fabric, nics[0])->rail, (int32_t)g);
    }
    ck_assert_str_eq(notes, "8 GPUs, 8 NICs, 8 PCIe switches, 2 CPUs\n"
                            "no nvlink or xgmi leads to another GPU: all goes over PCIe\n"
                            "what joins the CPUs is not in the file: each two are joined at NCCL's rate\n");
}
END_TEST

START_TEST(what_real_files_lack_is_named)
{
    NEED_SHARED(ncv4, "data/nccl-topo/azure_ncv4-topo.xml");
    NEED_SHARED(g5, "data/nccl-topo/aws_g5.48xl-topo.xml");
    NEED_SHARED(graph, "data/nccl-topo/azure_ncv4-graph.xml");
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = topology_read(ncv4, NULL, &options, &notes, NULL);
    ck_assert_ptr_nonnull(fabric);
    ck_assert_ptr_nonnull(strstr(notes, "48 nvlink that lead from a GPU to itself are left out\n"));
    ck_assert_ptr_nonnull(strstr(notes, "4 rates are not said: --default-rate is taken\n"));
    TopologyOptions less = options;
    less.default_rate_Bps = 0;
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(ncv4, NULL, &less, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "(here first of 4): give one with --default-rate");

    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    TopologyOptions all = options;
    all.problems = problems;
    ck_assert_ptr_null(topology_read(g5, NULL, &all, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ": 9 problems");
    ck_assert_ptr_nonnull(strstr(problems->pdata[0], ":14: pci: needs the attribute class"));
    ck_assert_ptr_null(topology_read(graph, NULL, &options, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "these are rings and trees that NCCL chose, no topology");
}
END_TEST

#define PCI(bus, class, inside)                                                                                        \
    "<pci busid='" bus "' class='" class "' link_speed='16 GT/s' link_width=''>" inside "</pci>"
#define GPU(bus, dev, sm, inside) PCI(bus, "0x030200", "<gpu dev='" dev "' sm='" sm "'>" inside "</gpu>")
#define SYSTEM(inside) "<system version='1'><cpu numaid='0'>" inside "</cpu></system>"

/* As quoted of an H100: 5 + 4 + 5 + 4 = 18 links of 20.6 GB/s; of GB300 one line of 18 x 40.1 GB/s, and C2C of 10 x
 * 44,712 MB/s to the CPU. GPUs are numbered by dev. */
START_TEST(nvswitches_and_c2c)
{
    g_autoptr(Fabric) h100 =
        read_text(SYSTEM(GPU("0:b", "1", "90", "<nvlink target='0000:d0:00.0' count='18' tclass='0x068000'/>")
                             GPU("0:A", "0", "90",
                                 "<nvlink target='0000:d0:00.0' count='5' tclass='0x068000'/>"
                                 "<nvlink target='0000:d1:00.0' count='4' tclass='0x068000'/>"
                                 "<nvlink target='0000:d2:00.0' count='5' tclass='0x068000'/>"
                                 "<nvlink target='0000:d3:00.0' count='4' tclass='0x068000'/>")),
                  NULL);
    ck_assert_str_eq(fabric_node(h100, 0)->name, "gpu0");
    uint32_t nvswitch = fabric_find(h100, "nvswitch"), n_nvlinks = 0;
    for (uint32_t l = 0; l < fabric_n_links(h100); l++) {
        const Link *link = fabric_link(h100, l);
        if (link->kind != LINK_NVLINK)
            continue;
        n_nvlinks++;
        ck_assert(link->src == nvswitch || link->dst == nvswitch);
        ck_assert_double_eq_tol(link->capacity_Bps, 18 * 20.6e9, 1);
    }
    ck_assert_uint_eq(n_nvlinks, 4);

    g_autoptr(Fabric) gb300 = read_text(
        SYSTEM(GPU("0:a", "0", "103", "<nvlink target='fffffff:ffff:ff.0' count='18'/><c2c bw='44712' count='10'/>")),
        NULL);
    double c2c_Bps = 0, nvlink_Bps = 0;
    for (uint32_t l = 0; l < fabric_n_links(gb300); l += 2) {
        const Link *link = fabric_link(gb300, l);
        if (link->kind == LINK_NVLINK)
            nvlink_Bps = link->capacity_Bps;
        else if (link->capacity_Bps > 100e9)
            c2c_Bps = link->capacity_Bps;
    }
    ck_assert_double_eq_tol(nvlink_Bps, 18 * 40.1e9, 1);
    ck_assert_double_eq_tol(c2c_Bps, 447.12e9, 1);
}
END_TEST

/* A cloud's file has no NVLinks; those of the matrix of the same machine, 8 GPUs with 18 each, make an NVSwitch of it.
 */
START_TEST(nvlinks_from_a_matrix)
{
    NEED_SHARED(path, "data/nccl-topo/azure_ndv5-topo.xml");
    NEED_SHARED(matrix, "data/fabric/nvidia-smi-topo-4.txt");
    NEED_SHARED(two_gpus, "data/fabric/nvidia-smi-topo-1.txt");
    const char *companions[] = {matrix, NULL};
    TopologyOptions given = options;
    given.companions = companions;
    given.nvlink_rate_Bps = 25e9;
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    uint32_t nvswitch = fabric_find(fabric, "nvswitch"), n = 0;
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        const Link *link = fabric_link(fabric, l);
        if (link->kind != LINK_NVLINK)
            continue;
        n++;
        ck_assert(link->src == nvswitch || link->dst == nvswitch);
        ck_assert_double_eq(link->capacity_Bps, 450e9);
        ck_assert_str_eq(link->source, "default");
    }
    ck_assert_uint_eq(n, 16);
    companions[0] = two_gpus;
    ck_assert_ptr_null(topology_read(path, NULL, &given, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ": 2 GPUs of one server, but ");
}
END_TEST

/* A link listed at one end only goes both ways; two hosts in one file. */
START_TEST(one_sided_links_and_several_hosts)
{
    g_autoptr(Fabric) fabric =
        read_text("<system><cpu numaid='0' host_hash='0x1'>" GPU("0:a", "0", "80", "<nvlink target='0:b' count='4'/>")
                      GPU("0:b", "1", "80", "") "</cpu><cpu numaid='0' host_hash='0x2'>" GPU("1:a", "0", "80", "")
                          PCI("1:c", "0x020000", "") "</cpu></system>",
                  NULL);
    ck_assert_uint_eq(fabric_n_servers(fabric), 2);
    uint32_t a = fabric_find(fabric, "server0/gpu0"), b = fabric_find(fabric, "server0/gpu1");
    ck_assert_uint_ne(fabric_find(fabric, "server1/nic0"), INDEX_NONE);
    for (uint32_t l = 0; l < 2; l++) {
        const Link *link = fabric_link(fabric, l);
        ck_assert_int_eq(link->kind, LINK_NVLINK);
        ck_assert_uint_eq(link->src, l == 0 ? a : b);
        ck_assert_uint_eq(link->dst, l == 0 ? b : a);
        ck_assert_double_eq(link->capacity_Bps, 80e9);
    }
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"<system><cpu>\n<pci class='0x030200'/></cpu></system>", ":2: pci: needs the attribute busid"},
    {SYSTEM("\n<pci busid='1' link_speed='16 GT/s'/>"), ":2: pci: needs the attribute class, a gpu or a nic"},
    {SYSTEM(GPU("0:a", "0", "80", "") "\n" GPU("0:A", "1", "80", "")), ":2: pci: busid \"0:A\" is there already"},
    {SYSTEM(GPU("0:a", "0", "80", "\n<nvlink target='0:b' count='1'/>")), ":2: nvlink: there is no GPU at \"0:b\""},
    {SYSTEM(GPU("0:a", "0", "80", "\n<nvlink target='0:b'/>")), ":2: nvlink: needs a count of 1 to 1024"},
    {SYSTEM(GPU("0:a", "0", "x", "<nvlink target='ffff' count='1'/>")), "gpu: sm must tell the rate of nvlink"},
    {SYSTEM(GPU("0:a", "0", "80", "<xgmi target='ffff' count='1'/>")), "gpu: gcn must tell the rate of xgmi"},
    {SYSTEM(GPU("0:a", "0", "80", "<c2c bw='x' count='1'/>")), "c2c: needs bw in MB/s and a count"},
    {SYSTEM("<pci busid='1' class='0x030200' link_width='x'/>"), "pci: link_width is no number of lanes"},
    {SYSTEM(PCI("1", "0x030200", PCI("2", "0x020000", ""))), "pci: a GPU or NIC has a pci below it"},
    {SYSTEM(PCI("1", "0x060400", "<pcilink target='1'/>")), "pcilink: there is no other switch at its target"},
    {"<system></system>", ":1: system: expected <system> with <cpu> in it"},
    {"<system><cpu></system>", ":1: "},
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

START_TEST(a_latency_is_asked_for)
{
    g_autofree char *path = support_save(SYSTEM(GPU("0:a", "0", "80", "")));
    TopologyOptions less = options;
    less.default_latency_ps = -1;
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, NULL, &less, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "says no latency of any link: give --default-latency");
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("nccl xml");
    TCase *tcase = tcase_create("nccl xml");
    tcase_add_loop_test(tcase, real_files_have_their_counts, 0, G_N_ELEMENTS(files));
    tcase_add_test(tcase, rates_and_places_of_ndv5);
    tcase_add_test(tcase, what_real_files_lack_is_named);
    tcase_add_test(tcase, nvswitches_and_c2c);
    tcase_add_test(tcase, nvlinks_from_a_matrix);
    tcase_add_test(tcase, one_sided_links_and_several_hosts);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, a_latency_is_asked_for);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
