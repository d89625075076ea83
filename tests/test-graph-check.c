/* test-graph-check.c - connection, bridges, disjoint paths and cuts, worked out by hand; and against routes */
#include "support.h"

#include "base/error.h"
#include "base/random.h"
#include "fabric/generate.h"
#include "fabric/graph_check.h"
#include "fabric/route.h"

#include <string.h>

static uint32_t
add(Fabric *fabric, const char *name, NodeKind kind, const char *server)
{
    Node node = node_default();
    node.name = name;
    node.kind = kind;
    node.server = server;
    uint32_t index = fabric_add_node(fabric, &node, NULL);
    ck_assert_uint_ne(index, INDEX_NONE);
    return index;
}

static Link
between(uint32_t a, uint32_t b, LinkKind kind, double capacity_Bps)
{
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = kind;
    link.capacity_Bps = capacity_Bps;
    return link;
}

static uint32_t
join(Fabric *fabric, uint32_t a, uint32_t b, LinkKind kind, double capacity_Bps)
{
    Link link = between(a, b, kind, capacity_Bps);
    uint32_t index = fabric_add_cable(fabric, &link, NULL);
    ck_assert_uint_ne(index, INDEX_NONE);
    return index;
}

static GraphCheck *
sealed(Fabric *fabric)
{
    GError *error = NULL;
    ck_assert_msg(fabric_seal(fabric, &error), "%s", error ? error->message : "");
    GraphCheck *check = graph_check_new(fabric, &error);
    ck_assert_msg(check != NULL, "%s", error ? error->message : "");
    return check;
}

static void
expect_bridges(GraphCheck *check, uint32_t n, const uint32_t *want)
{
    GArray *bridges = graph_check_bridges(check);
    ck_assert_uint_eq(bridges->len, n);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_uint_eq(g_array_index(bridges, uint32_t, i), want[i]);
    g_array_unref(bridges);
}

/* host a = leaf0 = (2 cables) = leaf1 - leaf2 = host b; host c on leaf0 and leaf1. */
typedef struct {
    Fabric *fabric;
    uint32_t a, b, c, leaf[3];
    uint32_t cable_a, twin[2], lone, cable_b, cable_c[2];
} Chain;

static Chain
chain(void)
{
    Chain made = {.fabric = fabric_new()};
    made.a = add(made.fabric, "a", NODE_HOST, "");
    made.b = add(made.fabric, "b", NODE_HOST, "");
    made.c = add(made.fabric, "c", NODE_HOST, "");
    for (uint32_t i = 0; i < 3; i++) {
        g_autofree char *name = g_strdup_printf("leaf%u", i);
        made.leaf[i] = add(made.fabric, name, NODE_LEAF, "");
    }
    made.cable_a = join(made.fabric, made.a, made.leaf[0], LINK_ETHERNET, 10);
    made.twin[0] = join(made.fabric, made.leaf[0], made.leaf[1], LINK_ETHERNET, 3);
    made.twin[1] = join(made.fabric, made.leaf[1], made.leaf[0], LINK_ETHERNET, 4);
    made.lone = join(made.fabric, made.leaf[1], made.leaf[2], LINK_ETHERNET, 5);
    made.cable_b = join(made.fabric, made.leaf[2], made.b, LINK_ETHERNET, 10);
    made.cable_c[0] = join(made.fabric, made.c, made.leaf[0], LINK_ETHERNET, 2);
    made.cable_c[1] = join(made.fabric, made.c, made.leaf[1], LINK_ETHERNET, 2);
    return made;
}

START_TEST(a_chain_of_switches_by_hand)
{
    Chain f = chain();
    g_autoptr(GraphCheck) check = sealed(f.fabric);
    ck_assert(graph_check_connected(check, NULL));
    /* The twins hold each other's place; c has two cables and forwards nothing, so it neither parts nor joins. */
    expect_bridges(check, 3, (uint32_t[]){f.cable_a, f.lone, f.cable_b});
    ck_assert_uint_eq(graph_check_disjoint_paths(check, f.a, f.b), 1);
    ck_assert_uint_eq(graph_check_disjoint_paths(check, f.leaf[0], f.leaf[1]), 2); /* not 3: c is no way */
    ck_assert_uint_eq(graph_check_disjoint_paths(check, f.c, f.leaf[1]), 2);
    ck_assert_double_eq(graph_check_cut_Bps(check, &f.a, 1, &f.b, 1), 5);
    ck_assert_double_eq(graph_check_cut_Bps(check, &f.leaf[0], 1, &f.leaf[1], 1), 7);
    ck_assert_double_eq(graph_check_cut_Bps(check, &f.a, 1, &f.c, 1), 4); /* 2 from leaf 0, 2 over leaf 1 */
    uint32_t both[2] = {f.a, f.c};
    ck_assert_double_eq(graph_check_cut_Bps(check, both, 2, &f.b, 1), 5);
    ck_assert_double_eq(graph_check_cut_Bps(check, both, 2, f.leaf + 1, 1), 9); /* 7 over the twins, 2 from c */
    fabric_free(f.fabric);
}
END_TEST

START_TEST(each_direction_counts_for_itself)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t a = add(fabric, "a", NODE_HOST, ""), b = add(fabric, "b", NODE_HOST, ""),
             leaf = add(fabric, "l", NODE_LEAF, "");
    join(fabric, a, leaf, LINK_ETHERNET, 8);
    Link there = between(leaf, b, LINK_ETHERNET, 3), back = between(b, leaf, LINK_ETHERNET, 2);
    ck_assert_uint_ne(fabric_add_link(fabric, &there, NULL), INDEX_NONE);
    g_autoptr(GraphCheck) one_way = NULL;
    ck_assert_uint_ne(fabric_add_link(fabric, &back, NULL), INDEX_NONE);
    one_way = sealed(fabric);
    ck_assert(graph_check_connected(one_way, NULL));
    ck_assert_double_eq(graph_check_cut_Bps(one_way, &a, 1, &b, 1), 3);
    ck_assert_double_eq(graph_check_cut_Bps(one_way, &b, 1, &a, 1), 2);
    expect_bridges(one_way, 2, (uint32_t[]){0, 2}); /* links of unequal rates are one cable all the same */
}
END_TEST

START_TEST(a_missing_way_back_is_named)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t a = add(fabric, "a", NODE_HOST, ""), b = add(fabric, "b", NODE_HOST, ""),
             leaf = add(fabric, "l", NODE_LEAF, "");
    join(fabric, a, leaf, LINK_ETHERNET, 8);
    Link there = between(leaf, b, LINK_ETHERNET, 3);
    ck_assert_uint_ne(fabric_add_link(fabric, &there, NULL), INDEX_NONE);
    g_autoptr(GraphCheck) check = sealed(fabric);
    GError *error = NULL;
    ck_assert(!graph_check_connected(check, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "the fabric is not connected: no way from \"b\" to \"a\"");
    ck_assert_uint_eq(graph_check_disjoint_paths(check, a, b), 1);
    ck_assert_uint_eq(graph_check_disjoint_paths(check, b, a), 0);
    ck_assert_double_eq(graph_check_cut_Bps(check, &b, 1, &a, 1), 0);
    expect_bridges(check, 2, (uint32_t[]){0, 2});
}
END_TEST

/* Two servers; in each, two GPUs on an NVSwitch and a NIC for each over a PCIe switch they share; rail r on leaf r. */
static Fabric *
rails(ForwardMode forward, uint32_t gpu[2][2], uint32_t leaf[2])
{
    Fabric *fabric = fabric_new();
    fabric_set_forward(fabric, forward);
    leaf[0] = add(fabric, "leaf0", NODE_LEAF, "");
    leaf[1] = add(fabric, "leaf1", NODE_LEAF, "");
    for (uint32_t s = 0; s < 2; s++) {
        const char *server = s == 0 ? "s0" : "s1";
        g_autofree char *nvs = g_strdup_printf("%s.nvs", server);
        uint32_t nvswitch = add(fabric, nvs, NODE_NVSWITCH, server);
        for (uint32_t r = 0; r < 2; r++) {
            g_autofree char *g = g_strdup_printf("%s.gpu%u", server, r), *n = g_strdup_printf("%s.nic%u", server, r);
            gpu[s][r] = add(fabric, g, NODE_GPU, server);
            uint32_t nic = add(fabric, n, NODE_NIC, server);
            join(fabric, gpu[s][r], nvswitch, LINK_NVLINK, 450);
            join(fabric, gpu[s][r], nic, LINK_PCIE, 64);
            join(fabric, nic, leaf[r], LINK_ETHERNET, 50);
        }
    }
    return fabric;
}

START_TEST(servers_are_no_way_between_rails)
{
    uint32_t gpu[2][2], leaf[2];
    g_autoptr(Fabric) none = rails(FORWARD_NONE, gpu, leaf), pxn = rails(FORWARD_PXN, gpu, leaf);
    g_autoptr(GraphCheck) strict = sealed(none), handing = sealed(pxn);
    GError *error = NULL;
    ck_assert(!graph_check_connected(strict, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "no way from \"s0.gpu0\" to \"s1.gpu1\"");
    ck_assert(graph_check_connected(handing, NULL));
    ck_assert_double_eq(graph_check_cut_Bps(strict, &leaf[0], 1, &leaf[1], 1), 0);
    ck_assert_double_eq(graph_check_cut_Bps(handing, &leaf[0], 1, &leaf[1], 1), 0);
    ck_assert_double_eq(graph_check_cut_Bps(strict, &gpu[0][0], 1, &gpu[0][1], 1), 450); /* and no other way */
    ck_assert_double_eq(graph_check_cut_Bps(strict, gpu[0], 2, gpu[1], 2), 100);
    ck_assert_double_eq(graph_check_cut_Bps(strict, &gpu[0][0], 1, &gpu[1][0], 1), 50);
    ck_assert_double_eq(graph_check_cut_Bps(strict, &gpu[0][0], 1, &gpu[1][1], 1), 0);
    ck_assert_double_eq(graph_check_cut_Bps(handing, &gpu[0][0], 1, &gpu[1][1], 1), 50);
    /* Every NIC has one cable. */
    expect_bridges(strict, 4, (uint32_t[]){4, 10, 16, 22});
}
END_TEST

/* NICs of one PCIe switch: what comes in by one must not leave by the other. */
START_TEST(a_pcie_switch_is_no_way_between_nics)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t leaf[2] = {add(fabric, "leaf0", NODE_LEAF, ""), add(fabric, "leaf1", NODE_LEAF, "")}, pcie[2], gpu[2],
             nic[2];
    for (uint32_t i = 0; i < 2; i++) {
        g_autofree char *p = g_strdup_printf("pcie%u", i), *g = g_strdup_printf("gpu%u", i),
                        *n = g_strdup_printf("nic%u", i);
        pcie[i] = add(fabric, p, NODE_PCIE, "s");
        gpu[i] = add(fabric, g, NODE_GPU, "s");
        nic[i] = add(fabric, n, NODE_NIC, "s");
        join(fabric, gpu[i], pcie[i], LINK_PCIE, 64);
        join(fabric, nic[i], pcie[i], LINK_PCIE, 32);
        join(fabric, nic[i], leaf[i], LINK_ETHERNET, 50);
    }
    join(fabric, pcie[0], pcie[1], LINK_PCIE, 16);
    g_autoptr(GraphCheck) check = sealed(fabric);
    ck_assert(graph_check_connected(check, NULL));
    ck_assert_double_eq(graph_check_cut_Bps(check, &leaf[0], 1, &leaf[1], 1), 0);
    /* 16 straight on, and 16 out by nic0, back from leaf0 and over the same cable, counted apart: see the header. */
    ck_assert_double_eq(graph_check_cut_Bps(check, &gpu[0], 1, &gpu[1], 1), 32);
    ck_assert_double_eq(graph_check_cut_Bps(check, &gpu[0], 1, &leaf[0], 1), 32);
    ck_assert_double_eq(graph_check_cut_Bps(check, &gpu[0], 1, leaf, 2), 48);
    ck_assert_double_eq(graph_check_cut_Bps(check, &leaf[0], 1, &gpu[1], 1), 16);
}
END_TEST

START_TEST(a_nic_is_no_way_between_its_ports)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t leaf[2] = {add(fabric, "leaf0", NODE_LEAF, ""), add(fabric, "leaf1", NODE_LEAF, "")};
    uint32_t gpu = add(fabric, "gpu", NODE_GPU, "s"), nic = add(fabric, "nic", NODE_NIC, "s");
    join(fabric, gpu, nic, LINK_PCIE, 64);
    join(fabric, nic, leaf[0], LINK_ETHERNET, 25);
    join(fabric, nic, leaf[1], LINK_ETHERNET, 25);
    g_autoptr(GraphCheck) check = sealed(fabric);
    ck_assert_double_eq(graph_check_cut_Bps(check, &leaf[0], 1, &leaf[1], 1), 0);
    ck_assert_double_eq(graph_check_cut_Bps(check, &gpu, 1, leaf, 2), 50);
    ck_assert_double_eq(graph_check_cut_Bps(check, leaf, 2, &gpu, 1), 50);
    expect_bridges(check, 0, NULL);
}
END_TEST

/* GPUs in a chain of NVLinks have no hub: each is asked. */
START_TEST(gpus_without_a_switch_are_asked_one_by_one)
{
    for (ForwardMode forward = FORWARD_NONE; forward <= FORWARD_MESH; forward++) {
        g_autoptr(Fabric) fabric = fabric_new();
        fabric_set_forward(fabric, forward);
        uint32_t g[3] = {add(fabric, "g0", NODE_GPU, "s"), add(fabric, "g1", NODE_GPU, "s"),
                         add(fabric, "g2", NODE_GPU, "s")};
        join(fabric, g[0], g[1], LINK_NVLINK, 1);
        join(fabric, g[1], g[2], LINK_NVLINK, 1);
        g_autoptr(GraphCheck) check = sealed(fabric);
        GError *error = NULL;
        ck_assert_int_eq(graph_check_connected(check, &error), forward == FORWARD_MESH);
        if (error != NULL)
            support_expect_error(&error, TRAINSHED_ERROR_INPUT, "no way from \"g0\" to \"g2\"");
    }
}
END_TEST

static Fabric *
generate(ZoneNetwork network, uint32_t servers)
{
    GenerateSpec *spec = generate_spec_new();
    spec->server.nvlink_rate_Bps = 450e9;
    spec->server.nic_rate_Bps = 50e9;
    spec->zone.servers = servers;
    spec->zone.network = network;
    spec->zone.radix = 32;
    GError *error = NULL;
    Fabric *fabric = generate_fabric(spec, &error);
    generate_spec_free(spec);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    return fabric;
}

START_TEST(half_a_full_clos_carries_all_its_nics)
{
    /* 64 servers of 8 NICs of 50 GB/s, nothing oversubscribed: the bisection is 32 x 8 x 50 GB/s. */
    for (int i = 0; i < 2; i++) {
        g_autoptr(Fabric) fabric = generate(i == 0 ? ZONE_CLOS2 : ZONE_CLOS3, 64);
        g_autoptr(GraphCheck) check = graph_check_new(fabric, NULL);
        uint32_t n;
        const uint32_t *gpus = fabric_gpus(fabric, &n);
        ck_assert_uint_eq(n, 512);
        ck_assert(graph_check_connected(check, NULL));
        ck_assert_double_eq(graph_check_cut_Bps(check, gpus, n / 2, gpus + n / 2, n / 2), 256 * 50e9);
        ck_assert_uint_eq(graph_check_disjoint_paths(check, gpus[0], gpus[n - 1]), 1);
    }
}
END_TEST

/* Under `none`, where every GPU has one NIC, the graph joins two GPUs exactly where a route does. */
START_TEST(connected_means_that_every_pair_has_a_route)
{
    Random random = random_named((uint64_t)_i, "connected");
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t leaf[4], gpu[8];
    for (uint32_t i = 0; i < 4; i++) {
        g_autofree char *name = g_strdup_printf("leaf%u", i);
        leaf[i] = add(fabric, name, random_below(&random, 2) ? NODE_LEAF : NODE_SPINE, "");
    }
    for (uint32_t i = 0; i < 8; i++) {
        const char *server = i < 4 ? "s0" : "s1";
        g_autofree char *g = g_strdup_printf("gpu%u", i), *n = g_strdup_printf("nic%u", i);
        gpu[i] = add(fabric, g, NODE_GPU, server);
        uint32_t nic = add(fabric, n, NODE_NIC, server);
        join(fabric, gpu[i], nic, LINK_PCIE, 1);
        join(fabric, nic, leaf[random_below(&random, 4)], LINK_ETHERNET, 1);
        if (i % 4 > 0 && random_below(&random, 2))
            join(fabric, gpu[i - 1], gpu[i], LINK_NVLINK, 1);
    }
    for (uint32_t i = 0; i < 7; i++) {
        Link link = between(leaf[random_below(&random, 4)], leaf[random_below(&random, 4)], LINK_ETHERNET, 1);
        if (link.src != link.dst)
            fabric_add_link(fabric, &link, NULL);
    }
    g_autoptr(GraphCheck) check = sealed(fabric);
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    gboolean all = TRUE;
    for (uint32_t i = 0; i < 64; i++) {
        RouteRequest asked = {gpu[i / 8], gpu[i % 8], INDEX_NONE, INDEX_NONE, 0};
        Route route;
        gboolean routed = routes_find(routes, &asked, &route, NULL);
        all = all && routed;
        if (i / 8 != i % 8)
            ck_assert_msg(routed == (graph_check_disjoint_paths(check, gpu[i / 8], gpu[i % 8]) > 0),
                          "seed %d: %u to %u", _i, i / 8, i % 8);
    }
    ck_assert_int_eq(graph_check_connected(check, NULL), all);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("graph-check");
    TCase *tc = tcase_create("graph-check");
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_chain_of_switches_by_hand);
    tcase_add_test(tc, each_direction_counts_for_itself);
    tcase_add_test(tc, a_missing_way_back_is_named);
    tcase_add_test(tc, servers_are_no_way_between_rails);
    tcase_add_test(tc, a_pcie_switch_is_no_way_between_nics);
    tcase_add_test(tc, a_nic_is_no_way_between_its_ports);
    tcase_add_test(tc, gpus_without_a_switch_are_asked_one_by_one);
    tcase_add_test(tc, half_a_full_clos_carries_all_its_nics);
    tcase_add_loop_test(tc, connected_means_that_every_pair_has_a_route, 0, 40);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
