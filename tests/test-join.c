/* test-join.c - the inside of hosts and links between sites: names, places, counts, which NIC is which, refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/join.h"

#include <string.h>

static uint32_t
add(Fabric *fabric, const char *name, NodeKind kind, const char *server, int32_t rail)
{
    Node node = node_default();
    node.name = name;
    node.kind = kind;
    node.server = server;
    node.rail = rail;
    uint32_t index = fabric_add_node(fabric, &node, NULL);
    ck_assert_uint_ne(index, INDEX_NONE);
    return index;
}

static void
cable(Fabric *fabric, uint32_t a, uint32_t b, LinkKind kind, double rate_Bps)
{
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = kind;
    link.capacity_Bps = rate_Bps;
    link.latency_ps = 1000;
    link.source = "file";
    ck_assert_uint_ne(fabric_add_cable(fabric, &link, NULL), INDEX_NONE);
}

/* h0 with NICs of rails 3 and 1, h1 with one of none, on a leaf below two spines. */
static Fabric *
make_site(void)
{
    Fabric *fabric = fabric_new();
    uint32_t leaf = add(fabric, "leaf", NODE_LEAF, "", -1);
    for (int s = 0; s < 2; s++)
        cable(fabric, leaf, add(fabric, s == 0 ? "spine0" : "spine1", NODE_SPINE, "", -1), LINK_INFINIBAND, 50e9);
    static const char *const names[] = {"h0/mlx5_3", "h0/mlx5_1", "h1/x"};
    static const int32_t rails[] = {3, 1, -1};
    uint32_t hosts[] = {add(fabric, "h0", NODE_HOST, "h0", -1), add(fabric, "h1", NODE_HOST, "h1", -1)};
    for (int i = 0; i < 3; i++) {
        uint32_t nic = add(fabric, names[i], NODE_NIC, i < 2 ? "h0" : "h1", rails[i]);
        cable(fabric, hosts[i / 2], nic, LINK_PCIE, 50e9);
        cable(fabric, nic, leaf, LINK_INFINIBAND, 50e9);
    }
    ck_assert(fabric_seal(fabric, NULL));
    return fabric;
}

/* Two GPUs on an NVSwitch, each with two NICs below a PCIe switch: rails 0 and 1 of gpu0, 2 and 3 of gpu1. */
static Fabric *
make_inside(void)
{
    Fabric *fabric = fabric_new();
    uint32_t nvswitch = add(fabric, "nvswitch", NODE_NVSWITCH, "server", -1);
    for (int g = 0; g < 2; g++) {
        uint32_t gpu = add(fabric, g == 0 ? "gpu0" : "gpu1", NODE_GPU, "server", -1);
        uint32_t pcie = add(fabric, g == 0 ? "pcie0" : "pcie1", NODE_PCIE, "server", -1);
        cable(fabric, gpu, nvswitch, LINK_NVLINK, 300e9);
        cable(fabric, gpu, pcie, LINK_PCIE, 24e9);
        for (int n = 0; n < 2; n++) {
            static const char *const names[] = {"nic0", "nic1", "nic2", "nic3"};
            cable(fabric, add(fabric, names[2 * g + n], NODE_NIC, "server", 2 * g + n), pcie, LINK_PCIE, 24e9);
        }
    }
    fabric_set_forward(fabric, FORWARD_PXN);
    ck_assert(fabric_seal(fabric, NULL));
    return fabric;
}

static gboolean
are_linked(const Fabric *fabric, const char *from, const char *to)
{
    uint32_t a = fabric_find(fabric, from), b = fabric_find(fabric, to), n;
    ck_assert_msg(a != INDEX_NONE && b != INDEX_NONE, "%s, %s", from, to);
    const uint32_t *links = fabric_out(fabric, a, &n);
    for (uint32_t i = 0; i < n; i++)
        if (fabric_link(fabric, links[i])->dst == b)
            return TRUE;
    return FALSE;
}

/* 3 switches + 3 NICs + 2 x (2 GPUs, 1 NVSwitch, 2 PCIe switches) = 16 nodes; cables: 2 up, 3 of NICs to the leaf, 2 x
 * 4 of GPUs, and one of each NIC. */
START_TEST(a_server_is_put_into_every_host)
{
    g_autoptr(Fabric) site = make_site();
    g_autoptr(Fabric) inside = make_inside();
    JoinSite sites[] = {{site, inside, ""}};
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = fabric_join(sites, 1, NULL, &notes, NULL);
    ck_assert_ptr_nonnull(fabric);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 16);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * (2 + 3 + 2 * 4 + 3));
    ck_assert_uint_eq(fabric_n_servers(fabric), 2);
    ck_assert_int_eq(fabric_forward(fabric), FORWARD_PXN);
    uint32_t n;
    fabric_gpus(fabric, &n);
    ck_assert_uint_eq(n, 4);
    ck_assert_uint_eq(fabric_find(fabric, "h0"), INDEX_NONE);
    ck_assert_str_eq(fabric_node(fabric, fabric_find(fabric, "h1/gpu1"))->server, "h1");
    /* By rail: 3 hangs where nic3 did, 1 where nic1 did; without a rail the first. */
    ck_assert(are_linked(fabric, "h0/mlx5_3", "h0/pcie1"));
    ck_assert(are_linked(fabric, "h0/pcie0", "h0/mlx5_1"));
    ck_assert(!are_linked(fabric, "h0/mlx5_3", "h0/pcie0"));
    ck_assert(are_linked(fabric, "h1/x", "h1/pcie0"));
    ck_assert(are_linked(fabric, "h0/mlx5_3", "leaf"));
    ck_assert_str_eq(notes, "2 hosts have an inside; 2 of them have fewer NICs than it, whose others are left out\n");
}
END_TEST

START_TEST(sites_are_buildings_or_regions)
{
    g_autoptr(Fabric) site = make_site();
    JoinSite sites[] = {{site, NULL, "east"}, {site, NULL, "west"}, {site, NULL, "south"}};
    JoinWan wan = {.links = 3, .rate_Bps = 12.5e9, .length_km = 10, .latency_ps = 50000000, .is_region = _i == 1};
    g_autoptr(Fabric) fabric = fabric_join(sites, 3, &wan, NULL, NULL);
    ck_assert_ptr_nonnull(fabric);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 3 * fabric_n_nodes(site));
    ck_assert_uint_eq(fabric_n_links(fabric), 3 * fabric_n_links(site) + 3 * 3 * 2);
    const Node *host = fabric_node(fabric, fabric_find(fabric, "west/h1"));
    ck_assert_str_eq(_i == 1 ? host->region : host->building, "west");
    ck_assert_str_eq(_i == 1 ? host->building : host->region, "");
    /* Of three cables two join the first spines, one the second. */
    uint32_t first = fabric_find(fabric, "east/spine0"), second = fabric_find(fabric, "east/spine1"), n[2] = {0};
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        const Link *link = fabric_link(fabric, l);
        if (link->kind != (_i == 1 ? LINK_INTERREGION : LINK_INTERBUILDING))
            continue;
        ck_assert_double_eq(link->capacity_Bps, 12.5e9);
        ck_assert_int_eq(link->latency_ps, 50000000);
        ck_assert_double_eq(link->length_km, 10);
        ck_assert_str_eq(link->source, "option");
        n[0] += link->src == first;
        n[1] += link->src == second;
    }
    ck_assert_uint_eq(n[0], 2 * 2);
    ck_assert_uint_eq(n[1], 1 * 2);
}
END_TEST

/* A host on a switch without a NIC, as Slurm's: its cable goes to the first NIC. */
START_TEST(cables_of_hosts_go_to_nics)
{
    g_autoptr(Fabric) site = fabric_new();
    uint32_t leaf = add(site, "leaf", NODE_LEAF, "", -1);
    cable(site, add(site, "n1", NODE_HOST, "n1", -1), leaf, LINK_ETHERNET, 12.5e9);
    cable(site, add(site, "n2", NODE_HOST, "n2", -1), leaf, LINK_ETHERNET, 12.5e9);
    ck_assert(fabric_seal(site, NULL));
    g_autoptr(Fabric) inside = make_inside();
    JoinSite sites[] = {{site, inside, ""}};
    g_autoptr(Fabric) fabric = fabric_join(sites, 1, NULL, NULL, NULL);
    ck_assert_ptr_nonnull(fabric);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 1 + 2 * (5 + 1));
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * 2 * (4 + 1 + 1));
    ck_assert(are_linked(fabric, "n2/nic0", "leaf") && are_linked(fabric, "leaf", "n2/nic0"));
    ck_assert(are_linked(fabric, "n2/nic0", "n2/pcie0"));
    ck_assert_uint_eq(fabric_find(fabric, "n2/nic1"), INDEX_NONE);
}
END_TEST

START_TEST(what_cannot_be_joined_is_named)
{
    g_autoptr(Fabric) site = make_site();
    g_autoptr(Fabric) inside = make_inside();
    g_autoptr(Fabric) gpu = fabric_new();
    add(gpu, "gpu0", NODE_GPU, "server", -1);
    ck_assert(fabric_seal(gpu, NULL));
    JoinWan wan = {.links = 1, .rate_Bps = 1e9, .length_km = 1};
    const struct {
        JoinSite sites[2];
        uint32_t n_sites;
        const char *message;
    } bad[] = {
        {{{site, gpu, ""}}, 1, "host \"h0\" has 2 NICs, but the inside has 0 NICs"},
        {{{inside, inside, ""}}, 1, "the fabric has no host that an inside could be put into"},
        {{{site, site, ""}}, 1, "the inside has the leaf \"leaf\"; expected GPUs"},
        {{{gpu, NULL, "A"}, {site, NULL, "B"}}, 2, "A: there is no switch that links to other sites could end at"},
        {{{site, NULL, "A"}, {site, inside, "B"}}, 2, "B: GPUs forward as \"pxn\", but in A as \"none\""},
        {{{site, NULL, "A"}, {site, NULL, "A"}}, 2, "A: "},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        GError *error = NULL;
        ck_assert_ptr_null(fabric_join(bad[i].sites, bad[i].n_sites, &wan, NULL, &error));
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[i].message);
    }
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("join");
    TCase *tcase = tcase_create("join");
    tcase_add_test(tcase, a_server_is_put_into_every_host);
    tcase_add_loop_test(tcase, sites_are_buildings_or_regions, 0, 2);
    tcase_add_test(tcase, cables_of_hosts_go_to_nics);
    tcase_add_test(tcase, what_cannot_be_joined_is_named);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
