/* test-nvidia-smi.c - matrices of nvidia-smi topo -m: counts of real ones, PCIe as a tree, NVSwitches, refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"

#include <glib/gstdio.h>
#include <string.h>

static const TopologyOptions options = {
    .default_rate_Bps = 24e9, .nvlink_rate_Bps = 20e9, .default_latency_ps = 300000, .detour = 1};

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

/* ../shared/data/fabric/README.md: GPUs and cells off the diagonal. */
static const struct {
    const char *file, *notes;
    uint32_t nodes, links;
    LinkKind kind;
    double rate_Bps;
} files[] = {
    {"nvidia-smi-topo-1.txt", "2 GPUs, 0 NICs\n2 cells NV2\n", 2, 2, LINK_NVLINK, 40e9},
    {"nvidia-smi-topo-2.txt", "2 GPUs, 0 NICs\n2 cells PHB\n", 3, 4, LINK_PCIE, 24e9},
    {"nvidia-smi-topo-3.txt",
     "8 GPUs, 0 NICs\n56 cells NV12\nmore NVLinks than a GPU has lead to every other: they go to an NVSwitch\n", 9, 16,
     LINK_NVLINK, 240e9},
    {"nvidia-smi-topo-4.txt",
     "8 GPUs, 0 NICs\n56 cells NV18\nmore NVLinks than a GPU has lead to every other: they go to an NVSwitch\n", 9, 16,
     LINK_NVLINK, 360e9},
};

START_TEST(real_files_have_their_counts)
{
    g_autofree char *relative = g_strconcat("data/fabric/", files[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &options, &notes, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(notes, files[_i].notes);
    ck_assert_uint_eq(fabric_n_nodes(fabric), files[_i].nodes);
    ck_assert_uint_eq(fabric_n_links(fabric), files[_i].links);
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        const Link *link = fabric_link(fabric, l);
        ck_assert_int_eq(link->kind, files[_i].kind);
        ck_assert_double_eq(link->capacity_Bps, files[_i].rate_Bps);
        ck_assert_str_eq(link->source, "default");
    }
}
END_TEST

/* The name of what a node's PCIe leads up to. */
static const char *
above(const Fabric *fabric, const char *name)
{
    uint32_t node = fabric_find(fabric, name), n;
    ck_assert_msg(node != INDEX_NONE, "%s", name);
    const uint32_t *links = fabric_out(fabric, node, &n);
    for (uint32_t i = n; i > 0; i--)
        if (fabric_link(fabric, links[i - 1])->kind == LINK_PCIE)
            return fabric_node(fabric, fabric_link(fabric, links[i - 1])->dst)->name;
    return "";
}

/* As the tool prints it: tabs, an underlined header, CRLF, a legend. gpu0 and its NIC on one switch, gpu1 on the next
 * below the same bridge; gpu2 in another NUMA node, gpu3 across the sockets; four direct NVLinks. */
START_TEST(pcie_is_a_tree)
{
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = read_text(
        "\t\033[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\033[0m\r\n"
        "GPU0\t X \tNV4\tNODE\tSYS\tPIX\t0-23\t0\t\tN/A\r\nGPU1\tNV4\t X \tNODE\tSYS\tPXB\t0-23\t0\r\n"
        "GPU2\tNODE\tNODE\t X \tSYS\tNODE\t0-23\r\nGPU3\tSYS\tSYS\tSYS\t X \tSYS\r\nNIC0\tPIX\tPXB\tNODE\tSYS\t X \r\n"
        "\r\nLegend:\r\n\r\n  X    = Self\r\n\r\nNIC Legend:\r\n\r\n  NIC0: mlx5_0\r\n",
        &notes);
    static const char *const up[][2] = {{"gpu0", "pix0"},  {"mlx5_0", "pix0"}, {"pix0", "pxb0"},  {"gpu1", "pxb0"},
                                        {"pxb0", "node0"}, {"gpu2", "node0"},  {"node0", "sys0"}, {"gpu3", "sys0"}};
    for (size_t i = 0; i < G_N_ELEMENTS(up); i++)
        ck_assert_str_eq(above(fabric, up[i][0]), up[i][1]);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 5 + 4);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * (8 + 1));
    ck_assert_double_eq(fabric_link(fabric, 0)->capacity_Bps, 80e9);
    ck_assert_int_eq(fabric_node(fabric, fabric_find(fabric, "mlx5_0"))->rail, 0);
    ck_assert_str_eq(notes, "4 GPUs, 1 NICs\n2 cells PIX\n2 cells PXB\n6 cells NODE\n8 cells SYS\n2 cells NV4\n");
}
END_TEST

/* Four A100 with 4 links to each other: 12 in all, which a GPU has; direct. */
START_TEST(a_mesh_is_a_mesh)
{
    g_autoptr(Fabric) fabric = read_text("GPU0 GPU1 GPU2 GPU3\nGPU0 X NV4 NV4 NV4\nGPU1 NV4 X NV4 NV4\n"
                                         "GPU2 NV4 NV4 X NV4\nGPU3 NV4 NV4 NV4 X\n",
                                         NULL);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 4);
    ck_assert_uint_eq(fabric_n_links(fabric), 12);
    ck_assert_double_eq(fabric_link(fabric, 0)->capacity_Bps, 80e9);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"GPU0 GPU1\nGPU0 X PIX\n", ":1: GPU1 has no row"},
    {"GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX\n", ":3: GPU1 has 1 cells, expected 2"},
    {"GPU0 GPU1\nGPU0 X PIX\nGPU1 PXB X\n", ":3: GPU1 to GPU0 is not what GPU0 to GPU1 is, at line 2"},
    {"GPU0 GPU1\nGPU0 X QPI\nGPU1 PIX X\n", ":2: GPU0 to GPU1: found \"QPI\", expected NV and a number, PIX"},
    {"GPU0 GPU1\nGPU0 X X\nGPU1 PIX X\n", ":2: GPU0 to GPU1: found \"X\", expected NV and a number"},
    {"GPU0 GPU1\nGPU0 X PIX\nGPU1 PIX SYS\n", ":3: GPU1 to GPU1: found \"SYS\", expected X"},
    {"GPU0 GPU1\nGPU0 X PIX\nGPU0 X PIX\n", ":3: GPU0 has a row already, at line 2"},
    {"GPU0 GPU0\nGPU0 X PIX\n", ":1: there are two columns \"GPU0\""},
    {"GPU0 NIC0\nGPU0 X NV1\nNIC0 NV1 X\n", ":2: GPU0 to NIC0: NVLinks lead to a device that is no GPU"},
    {"GPU0 X\n", ": there is no line that names the columns, GPU0 first"},
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

START_TEST(what_the_file_does_not_say_is_asked_for)
{
    g_autofree char *path = support_save("GPU0 GPU1 NIC0\nGPU0 X NV1 PIX\nGPU1 NV1 X PIX\nNIC0 PIX PIX X\n");
    TopologyOptions less[3] = {options, options, options};
    less[0].nvlink_rate_Bps = 0;
    less[1].default_rate_Bps = 0;
    less[2].default_latency_ps = -1;
    static const char *const messages[] = {"says no rate of NVLink: give that of one, in one direction, with "
                                           "--nvlink-rate",
                                           "says no rate of PCIe: give one with --default-rate",
                                           "says no latency of any link: give --default-latency"};
    for (int i = 0; i < 3; i++) {
        GError *error = NULL;
        ck_assert_ptr_null(topology_read(path, NULL, &less[i], NULL, &error));
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, messages[i]);
    }
    g_unlink(path);
}
END_TEST

START_TEST(all_problems_on_request)
{
    g_autofree char *path = support_save("GPU0 GPU1 GPU2\nGPU0 X QPI PIX\nGPU1 PIX\n");
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    TopologyOptions all = options;
    all.problems = problems;
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, "nvidia-smi", &all, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, " problems");
    static const char *const lines[] = {":2:", ":3:"};
    ck_assert_uint_ge(problems->len, 3);
    for (guint i = 0; i < 2; i++)
        ck_assert_ptr_nonnull(strstr(problems->pdata[i], lines[i]));
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("nvidia-smi");
    TCase *tcase = tcase_create("nvidia-smi");
    tcase_add_loop_test(tcase, real_files_have_their_counts, 0, G_N_ELEMENTS(files));
    tcase_add_test(tcase, pcie_is_a_tree);
    tcase_add_test(tcase, a_mesh_is_a_mesh);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, what_the_file_does_not_say_is_asked_for);
    tcase_add_test(tcase, all_problems_on_request);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
