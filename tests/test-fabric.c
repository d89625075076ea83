/* test-fabric.c - the graph's rows, names, adjacency, and what sealing works out */
#include "support.h"

#include "base/error.h"
#include "base/random.h"
#include "fabric/fabric.h"

#include <math.h>
#include <stdio.h>
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

static uint32_t
join(Fabric *fabric, uint32_t a, uint32_t b, LinkKind kind)
{
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = kind;
    link.capacity_Bps = 50e9;
    uint32_t index = fabric_add_cable(fabric, &link, NULL);
    ck_assert_uint_ne(index, INDEX_NONE);
    return index;
}

static void
seal(Fabric *fabric)
{
    GError *error = NULL;
    ck_assert_msg(fabric_seal(fabric, &error), "%s", error ? error->message : "");
}

/* Asserts that a list is exactly these, in this order. */
#define EXPECT_LIST(list, n, ...)                                                                                      \
    do {                                                                                                               \
        const uint32_t want[] = {__VA_ARGS__};                                                                         \
        ck_assert_uint_eq(n, G_N_ELEMENTS(want));                                                                      \
        for (uint32_t at = 0; at < n; at++)                                                                            \
            ck_assert_msg((list)[at] == want[at], "place %u: %u, expected %u", at, (list)[at], want[at]);              \
    } while (0)

START_TEST(rows_keep_what_was_given)
{
    g_autoptr(Fabric) fabric = fabric_new();
    char region[] = "north", building[] = "A", gpu[] = "h100", source[] = "file";
    Node node = {.name = "north/A/0/3/gpu5",
                 .kind = NODE_GPU,
                 .region = region,
                 .building = building,
                 .zone = "0",
                 .rack = "r1",
                 .server = "3",
                 .rail = 5,
                 .gpu = gpu,
                 .peak_FLOPps = 989e12,
                 .memory_bandwidth_Bps = 3350e9,
                 .memory_B = UINT64_C(85899345920)};
    ck_assert_uint_eq(fabric_add_node(fabric, &node, NULL), 0);
    Node leaf = node_default();
    leaf.name = "leaf";
    leaf.kind = NODE_LEAF;
    ck_assert_uint_eq(fabric_add_node(fabric, &leaf, NULL), 1);
    Link link = {.src = 0,
                 .dst = 1,
                 .kind = LINK_INFINIBAND,
                 .capacity_Bps = 12.5e9,
                 .latency_ps = 600000,
                 .length_km = 0.5,
                 .buffer_B = 1u << 20,
                 .loss = 1e-6,
                 .ecn_kmin_B = 100,
                 .ecn_kmax_B = 400,
                 .ecn_pmax = 0.2,
                 .source = source};
    ck_assert_uint_eq(fabric_add_cable(fabric, &link, NULL), 0);
    fabric_set_name(fabric, "little");
    fabric_set_forward(fabric, FORWARD_PXN);
    memset(region, 'x', 5), building[0] = 'x', gpu[0] = 'x', source[0] = 'x'; /* the fabric has its own copies */
    seal(fabric);

    const Node *kept = fabric_node(fabric, 0);
    ck_assert_str_eq(kept->region, "north");
    ck_assert_str_eq(kept->building, "A");
    ck_assert_str_eq(kept->rack, "r1");
    ck_assert_str_eq(kept->gpu, "h100");
    ck_assert_int_eq(kept->rail, 5);
    ck_assert_uint_eq(kept->memory_B, UINT64_C(85899345920));
    ck_assert_str_eq(fabric_node(fabric, 1)->region, "");
    ck_assert_int_eq(fabric_node(fabric, 1)->rail, -1);

    ck_assert_uint_eq(fabric_n_links(fabric), 2);
    const Link *forth = fabric_link(fabric, 0), *back = fabric_link(fabric, 1);
    ck_assert(forth->src == 0 && forth->dst == 1 && back->src == 1 && back->dst == 0);
    ck_assert(back->capacity_Bps == 12.5e9 && back->latency_ps == 600000 && back->length_km == 0.5);
    ck_assert(back->buffer_B == 1u << 20 && back->loss == 1e-6 && back->ecn_kmax_B == 400 && back->ecn_pmax == 0.2);
    ck_assert_str_eq(back->source, "file");
    ck_assert_str_eq(fabric_name(fabric), "little");
    ck_assert_int_eq(fabric_forward(fabric), FORWARD_PXN);
}
END_TEST

START_TEST(ten_thousand_names_are_found)
{
    g_autoptr(Fabric) fabric = fabric_new();
    char name[32];
    for (uint32_t i = 0; i < 10000; i++) {
        snprintf(name, sizeof name, "A/0/%u/gpu%u", i / 8, i % 8);
        ck_assert_uint_eq(add(fabric, name, NODE_GPU, "", -1), i);
    }
    for (uint32_t i = 0; i < 10000; i++) {
        snprintf(name, sizeof name, "A/0/%u/gpu%u", i / 8, i % 8);
        ck_assert_uint_eq(fabric_find(fabric, name), i);
    }
    ck_assert_uint_eq(fabric_find(fabric, "A/0/1250/gpu0"), INDEX_NONE);
    ck_assert_uint_eq(fabric_find(fabric, ""), INDEX_NONE);
}
END_TEST

START_TEST(a_name_is_unique_and_not_empty)
{
    g_autoptr(Fabric) fabric = fabric_new();
    add(fabric, "a", NODE_GPU, "", -1);
    Node node = node_default();
    GError *error = NULL;
    node.name = "a";
    ck_assert_uint_eq(fabric_add_node(fabric, &node, &error), INDEX_NONE);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "two nodes are named \"a\"; a name is unique");
    node.name = "";
    ck_assert_uint_eq(fabric_add_node(fabric, &node, &error), INDEX_NONE);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "a node (number 1, of kind gpu) has no name");
    ck_assert_uint_eq(fabric_n_nodes(fabric), 1);
}
END_TEST

/* Links refused: the field that is wrong, and the whole message. */
static const struct {
    Link link;
    const char *message;
} refused[] = {
    {{.src = 0, .dst = 2, .capacity_Bps = 1}, "link \"a\" to node 2 (there are 2): an end does not exist"},
    {{.src = 1, .dst = 1, .capacity_Bps = 1}, "link \"b\" to \"b\": a link joins two different nodes"},
    {{.dst = 1, .capacity_Bps = 0}, "link \"a\" to \"b\": capacity_Bps is 0, expected a finite number above 0"},
    {{.dst = 1, .capacity_Bps = -5}, "link \"a\" to \"b\": capacity_Bps is -5, expected a finite number above 0"},
    {{.dst = 1, .capacity_Bps = INFINITY},
     "link \"a\" to \"b\": capacity_Bps is inf, expected a finite number above 0"},
    {{.dst = 1, .capacity_Bps = NAN}, "link \"a\" to \"b\": capacity_Bps is nan, expected a finite number above 0"},
    {{.dst = 1, .capacity_Bps = 1e17}, "link \"a\" to \"b\": capacity_Bps is 1e+17, expected at most 1.80144e+16"},
    {{.dst = 1, .capacity_Bps = 1, .latency_ps = -1}, "link \"a\" to \"b\": latency_ps is -1, expected 0 to 1 day"},
    {{.dst = 1, .capacity_Bps = 1, .length_km = -2},
     "link \"a\" to \"b\": length_km is -2, expected a finite number, 0 or more"},
    {{.dst = 1, .capacity_Bps = 1, .length_km = INFINITY},
     "link \"a\" to \"b\": length_km is inf, expected a finite number, 0 or more"},
    {{.dst = 1, .capacity_Bps = 1, .loss = 1}, "link \"a\" to \"b\": loss is 1, expected a probability in [0, 1)"},
    {{.dst = 1, .capacity_Bps = 1, .loss = NAN}, "link \"a\" to \"b\": loss is nan, expected a probability in [0, 1)"},
    {{.dst = 1, .capacity_Bps = 1, .ecn_pmax = 1.5},
     "link \"a\" to \"b\": ecn_pmax is 1.5, expected a probability in [0, 1]"},
    {{.dst = 1, .capacity_Bps = 1, .ecn_kmin_B = 9, .ecn_kmax_B = 8},
     "link \"a\" to \"b\": ecn_kmin_B is 9, expected at most ecn_kmax_B, 8"},
};

START_TEST(a_bad_link_is_refused)
{
    g_autoptr(Fabric) fabric = fabric_new();
    add(fabric, "a", NODE_GPU, "", -1);
    add(fabric, "b", NODE_LEAF, "", -1);
    GError *error = NULL;
    ck_assert_uint_eq(fabric_add_link(fabric, &refused[_i].link, &error), INDEX_NONE);
    ck_assert_str_eq(error->message, refused[_i].message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "link");
    ck_assert_uint_eq(fabric_add_cable(fabric, &refused[_i].link, NULL), INDEX_NONE);
    ck_assert_uint_eq(fabric_n_links(fabric), 0);
}
END_TEST

START_TEST(an_empty_fabric_is_refused)
{
    g_autoptr(Fabric) fabric = fabric_new();
    GError *error = NULL;
    ck_assert(!fabric_seal(fabric, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "the fabric has no nodes");
}
END_TEST

START_TEST(adjacency_equals_a_scan_of_the_links)
{
    Random random = random_named((uint64_t)_i, "adjacency");
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t n_nodes = 2 + (uint32_t)random_below(&random, 30), n_cables = (uint32_t)random_below(&random, 100);
    for (uint32_t i = 0; i < n_nodes; i++) {
        g_autofree char *name = g_strdup_printf("n%u", i);
        add(fabric, name, NODE_LEAF, "", -1);
    }
    for (uint32_t i = 0; i < n_cables; i++) {
        uint32_t a = (uint32_t)random_below(&random, n_nodes);
        join(fabric, a, (a + 1 + (uint32_t)random_below(&random, n_nodes - 1)) % n_nodes, LINK_ETHERNET);
    }
    seal(fabric);
    for (uint32_t node = 0; node < n_nodes; node++) {
        uint32_t n_out, n_in, met_out = 0, met_in = 0;
        const uint32_t *out = fabric_out(fabric, node, &n_out), *in = fabric_in(fabric, node, &n_in);
        for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
            if (fabric_link(fabric, i)->src == node)
                ck_assert(met_out < n_out && out[met_out++] == i);
            if (fabric_link(fabric, i)->dst == node)
                ck_assert(met_in < n_in && in[met_in++] == i);
        }
        ck_assert_uint_eq(met_out, n_out);
        ck_assert_uint_eq(met_in, n_in);
    }
}
END_TEST

/* Four GPUs on one NVSwitch; GPU g has NIC g, added from the last to the first so that index order is not
 * rail order; a second server with the same shape follows. */
START_TEST(own_nic_first_then_those_over_nvlink_by_rail)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t gpu[2][4], nic[2][4];
    for (int s = 0; s < 2; s++) {
        const char *server = s == 0 ? "0" : "1";
        g_autofree char *middle = g_strdup_printf("%d/nvswitch", s);
        uint32_t nvswitch = add(fabric, middle, NODE_NVSWITCH, server, -1);
        for (int i = 3; i >= 0; i--) {
            g_autofree char *gpu_name = g_strdup_printf("%d/gpu%d", s, i),
                            *nic_name = g_strdup_printf("%d/nic%d", s, i);
            gpu[s][i] = add(fabric, gpu_name, NODE_GPU, server, i);
            nic[s][i] = add(fabric, nic_name, NODE_NIC, server, i);
            join(fabric, gpu[s][i], nvswitch, LINK_NVLINK);
            join(fabric, gpu[s][i], nic[s][i], LINK_PCIE);
        }
    }
    seal(fabric);

    uint32_t n;
    const uint32_t *list = fabric_gpus(fabric, &n);
    EXPECT_LIST(list, n, gpu[0][3], gpu[0][2], gpu[0][1], gpu[0][0], gpu[1][3], gpu[1][2], gpu[1][1], gpu[1][0]);
    for (int s = 0; s < 2; s++) {
        list = fabric_nics(fabric, gpu[s][2], &n);
        EXPECT_LIST(list, n, nic[s][2], nic[s][0], nic[s][1], nic[s][3]);
        list = fabric_nics(fabric, gpu[s][0], &n);
        EXPECT_LIST(list, n, nic[s][0], nic[s][1], nic[s][2], nic[s][3]);
        list = fabric_server_nics(fabric, (uint32_t)s, &n);
        EXPECT_LIST(list, n, nic[s][0], nic[s][1], nic[s][2], nic[s][3]);
        ck_assert_uint_eq(fabric_server(fabric, nic[s][1]), (uint32_t)s);
    }
    ck_assert_uint_eq(fabric_n_servers(fabric), 2);
    ck_assert_uint_eq(fabric_n_buildings(fabric), 1);
    list = fabric_nics(fabric, nic[0][0], &n);
    ck_assert_uint_eq(n, 0);
}
END_TEST

/* gpu0 - nicA directly, - switch - nicB, - switch - switch - nicC: by PCIe hops, though nicC has the lowest
 * rail. gpu1 has nothing but NVLink to gpu0; NICs do not pass on; nor does gpu0 over PCIe to gpu2. */
START_TEST(pcie_hops_count_before_rails)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t gpu0 = add(fabric, "gpu0", NODE_GPU, "s", 0), gpu1 = add(fabric, "gpu1", NODE_GPU, "s", 1),
             gpu2 = add(fabric, "gpu2", NODE_GPU, "s", 2), one = add(fabric, "one", NODE_PCIE, "s", -1),
             two = add(fabric, "two", NODE_PCIE, "s", -1), nic_c = add(fabric, "c", NODE_NIC, "s", 0),
             nic_b = add(fabric, "b", NODE_NIC, "s", 1), nic_a = add(fabric, "a", NODE_NIC, "s", 2),
             nic_d = add(fabric, "d", NODE_NIC, "s", 3);
    join(fabric, gpu0, one, LINK_PCIE);
    join(fabric, one, two, LINK_PCIE);
    join(fabric, two, nic_c, LINK_PCIE);
    join(fabric, one, nic_b, LINK_PCIE);
    join(fabric, gpu0, nic_a, LINK_PCIE);
    join(fabric, nic_a, nic_d, LINK_PCIE);
    join(fabric, gpu0, gpu1, LINK_NVLINK);
    join(fabric, gpu2, gpu0, LINK_PCIE);
    seal(fabric);
    uint32_t n;
    const uint32_t *list = fabric_nics(fabric, gpu0, &n);
    EXPECT_LIST(list, n, nic_a, nic_b, nic_c);
    list = fabric_nics(fabric, gpu1, &n);
    EXPECT_LIST(list, n, nic_a, nic_b, nic_c);
    list = fabric_nics(fabric, gpu2, &n);
    ck_assert_uint_eq(n, 0);
}
END_TEST

/* No server named anywhere: each GPU is its own, with the NICs on its PCIe; those of a GPU over NVLink are
 * in another server and not in the list. */
START_TEST(without_servers_each_gpu_is_one)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t gpu0 = add(fabric, "g0", NODE_GPU, "", -1), gpu1 = add(fabric, "g1", NODE_GPU, "", -1),
             nic0 = add(fabric, "n0", NODE_NIC, "", -1), nic1 = add(fabric, "n1", NODE_NIC, "", -1),
             leaf = add(fabric, "leaf", NODE_LEAF, "", -1);
    join(fabric, gpu0, gpu1, LINK_NVLINK);
    join(fabric, gpu0, nic0, LINK_PCIE);
    join(fabric, gpu1, nic1, LINK_PCIE);
    join(fabric, nic0, leaf, LINK_ETHERNET);
    join(fabric, nic1, leaf, LINK_ETHERNET);
    seal(fabric);
    uint32_t n;
    const uint32_t *list = fabric_nics(fabric, gpu1, &n);
    EXPECT_LIST(list, n, nic1);
    ck_assert_uint_eq(fabric_n_servers(fabric), 2);
    ck_assert_uint_eq(fabric_server(fabric, nic1), fabric_server(fabric, gpu1));
    ck_assert_uint_eq(fabric_server(fabric, leaf), INDEX_NONE);
    list = fabric_server_nics(fabric, fabric_server(fabric, gpu0), &n);
    EXPECT_LIST(list, n, nic0);
}
END_TEST

START_TEST(hosts_are_ranks_where_there_is_no_gpu)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t host0 = add(fabric, "h0", NODE_HOST, "", -1), leaf = add(fabric, "leaf", NODE_LEAF, "", -1),
             host1 = add(fabric, "h1", NODE_HOST, "", -1), nic = add(fabric, "n1", NODE_NIC, "", 0);
    join(fabric, host0, leaf, LINK_ETHERNET);
    join(fabric, host1, nic, LINK_PCIE);
    join(fabric, nic, leaf, LINK_ETHERNET);
    seal(fabric);
    uint32_t n;
    const uint32_t *list = fabric_gpus(fabric, &n);
    EXPECT_LIST(list, n, host0, host1);
    list = fabric_nics(fabric, host1, &n);
    EXPECT_LIST(list, n, nic);
    fabric_nics(fabric, host0, &n);
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(equal_names_in_other_places_are_other_servers_and_buildings)
{
    g_autoptr(Fabric) fabric = fabric_new();
    static const char *const places[][4] = {
        {"n", "A", "0", "0"}, {"n", "B", "0", "0"}, {"s", "A", "0", "0"}, {"n", "A", "1", "0"},
        {"n", "A", "0", "1"}, {"n", "A", "0", "0"}, {"n", "", "", ""},
    };
    for (uint32_t i = 0; i < G_N_ELEMENTS(places); i++) {
        Node node = node_default();
        g_autofree char *name = g_strdup_printf("x%u", i);
        node.name = name;
        node.kind = i == 6 ? NODE_DCI : NODE_GPU;
        node.region = places[i][0];
        node.building = places[i][1];
        node.zone = places[i][2];
        node.server = places[i][3];
        fabric_add_node(fabric, &node, NULL);
    }
    seal(fabric);
    static const uint32_t servers[] = {0, 1, 2, 3, 4, 0, INDEX_NONE}, buildings[] = {0, 1, 2, 0, 0, 0, INDEX_NONE};
    for (uint32_t i = 0; i < G_N_ELEMENTS(places); i++) {
        ck_assert_uint_eq(fabric_server(fabric, i), servers[i]);
        ck_assert_uint_eq(fabric_building(fabric, i), buildings[i]);
    }
    ck_assert_uint_eq(fabric_n_servers(fabric), 5);
    ck_assert_uint_eq(fabric_n_buildings(fabric), 3);
}
END_TEST

START_TEST(words_of_kinds_come_back)
{
    for (NodeKind kind = 0, back; kind < NODE_KINDS; kind++)
        ck_assert(node_kind_parse(node_kind_name(kind), &back) && back == kind);
    for (LinkKind kind = 0, back; kind < LINK_KINDS; kind++)
        ck_assert(link_kind_parse(link_kind_name(kind), &back) && back == kind);
    ForwardMode forward = FORWARD_MESH;
    ck_assert(forward_parse("none", &forward) && forward == FORWARD_NONE);
    ck_assert(forward_parse("pxn", &forward) && forward == FORWARD_PXN);
    ck_assert(!forward_parse("Pxn", &forward));
    ck_assert_str_eq(link_kind_name(LINK_INTERBUILDING), "interbuilding");
    NodeKind node = NODE_HOST;
    ck_assert(!node_kind_parse("router", &node) && node == NODE_HOST);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("fabric");
    TCase *rows = tcase_create("rows");
    tcase_add_test(rows, rows_keep_what_was_given);
    tcase_add_test(rows, ten_thousand_names_are_found);
    tcase_add_test(rows, a_name_is_unique_and_not_empty);
    tcase_add_loop_test(rows, a_bad_link_is_refused, 0, G_N_ELEMENTS(refused));
    tcase_add_test(rows, an_empty_fabric_is_refused);
    tcase_add_test(rows, words_of_kinds_come_back);
    suite_add_tcase(suite, rows);
    TCase *sealed = tcase_create("sealed");
    tcase_add_loop_test(sealed, adjacency_equals_a_scan_of_the_links, 0, 20);
    tcase_add_test(sealed, own_nic_first_then_those_over_nvlink_by_rail);
    tcase_add_test(sealed, pcie_hops_count_before_rails);
    tcase_add_test(sealed, without_servers_each_gpu_is_one);
    tcase_add_test(sealed, hosts_are_ranks_where_there_is_no_gpu);
    tcase_add_test(sealed, equal_names_in_other_places_are_other_servers_and_buildings);
    suite_add_tcase(suite, sealed);
    return support_main(suite);
}
