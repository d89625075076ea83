/* test-generate-direct.c - torus and dragonfly: counts, degrees, distances and bisection as closed forms */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/generate.h"
#include "fabric/graph_check.h"
#include "fabric/route.h"

#include <math.h>
#include <string.h>

#define RATE 50e9

/* One GPU, one fat NIC a server, so that cuts are those of the routers. */
static GenerateSpec *
spec_of(uint32_t servers, ZoneNetwork network)
{
    GenerateSpec *spec = generate_spec_new();
    spec->server.gpus = spec->server.nics = 1;
    spec->server.nic_rate_Bps = 1000 * RATE;
    spec->zone.servers = servers;
    spec->zone.network = network;
    spec->zone.link_rate_Bps = RATE;
    spec->zone.link_latency_ps = 500 * PS_PER_NS;
    return spec;
}

static Fabric *
generate(const GenerateSpec *spec)
{
    GError *error = NULL;
    Fabric *fabric = generate_fabric(spec, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    return fabric;
}

/* Cables between routers, and the routers. */
static uint32_t
count_cables(const Fabric *fabric, uint32_t *routers, uint32_t *least, uint32_t *most)
{
    uint32_t cables = 0;
    *routers = *most = 0;
    *least = UINT32_MAX;
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++) {
        if (fabric_node(fabric, v)->kind != NODE_LEAF)
            continue;
        uint32_t n, degree = 0;
        const uint32_t *out = fabric_out(fabric, v, &n);
        for (uint32_t i = 0; i < n; i++)
            degree += fabric_node(fabric, fabric_link(fabric, out[i])->dst)->kind == NODE_LEAF;
        ++*routers;
        cables += degree;
        *least = MIN(*least, degree);
        *most = MAX(*most, degree);
    }
    return cables / 2;
}

/* What the first half of the GPUs can send the others. */
static double
bisection_Bps(const Fabric *fabric)
{
    uint32_t n;
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    g_autoptr(GraphCheck) check = graph_check_new(fabric, NULL);
    ck_assert_ptr_nonnull(check);
    return graph_check_cut_Bps(check, gpus, n / 2, gpus + n / 2, n / 2);
}

/* The cut is through the last dimension: 2 N / k cables, N / 2 where k is 2. */
static const struct {
    uint32_t sizes[3], n, servers, routers, cables, degree, bisection;
} tori[] = {
    {{4, 4}, 2, 16, 16, 32, 4, 8},      {{3, 6}, 2, 36, 18, 36, 4, 6},
    {{2, 2}, 2, 4, 4, 4, 2, 2},         {{5, 2}, 2, 10, 10, 10 + 5, 3, 5},
    {{4, 4, 4}, 3, 64, 64, 192, 6, 32}, {{3, 4, 6}, 3, 144, 72, 216, 6, 24},
    {{2, 2, 2}, 3, 8, 8, 12, 3, 4},     {{4, 2, 8}, 3, 64, 64, 64 + 32 + 64, 5, 16},
};

static GenerateSpec *
torus_of(guint i)
{
    GenerateSpec *spec = spec_of(tori[i].servers, ZONE_TORUS);
    memcpy(spec->zone.torus, tori[i].sizes, sizeof spec->zone.torus);
    spec->zone.n_torus = tori[i].n;
    return spec;
}

START_TEST(a_torus_has_its_closed_forms)
{
    g_autoptr(GenerateSpec) spec = torus_of(_i);
    g_autoptr(Fabric) fabric = generate(spec);
    uint32_t routers, least, most;
    ck_assert_uint_eq(count_cables(fabric, &routers, &least, &most), tori[_i].cables);
    ck_assert_uint_eq(routers, tori[_i].routers);
    ck_assert_uint_eq(least, tori[_i].degree);
    ck_assert_uint_eq(most, tori[_i].degree);
    ck_assert_double_eq_tol(bisection_Bps(fabric) / RATE, tori[_i].bisection, 1e-9);
}
END_TEST

/* Between routers as many hops as the sum over dimensions of the shorter way round. */
START_TEST(ways_in_a_torus_are_the_shortest)
{
    g_autoptr(GenerateSpec) spec = torus_of(_i);
    g_autoptr(Fabric) fabric = generate(spec);
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    uint32_t n, each = tori[_i].servers / tori[_i].routers;
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t hops = 0, at = i / each;
        for (uint32_t d = 0; d < tori[_i].n; at /= tori[_i].sizes[d++]) {
            uint32_t size = tori[_i].sizes[d], x = at % size;
            hops += MIN(x, size - x);
        }
        Route route = {0};
        RouteRequest request = {.src = gpus[0], .dst = gpus[i], .src_nic = INDEX_NONE, .dst_nic = INDEX_NONE};
        ck_assert(routes_find(routes, &request, &route, NULL));
        ck_assert_uint_eq(route.n_hops, 4 + hops); /* GPU, NIC, router, ..., router, NIC, GPU */
    }
}
END_TEST

/* Routers g a; cables g a (a - 1) / 2 + g a h / 2; every two groups share a h / (g - 1), so that half of the groups can
 * send the others (g / 2)^2 of these. */
static const struct {
    uint32_t groups, routers, links, servers;
} flies[] = {{9, 4, 2, 72}, {5, 2, 2, 10}, {3, 2, 2, 6}, {2, 4, 1, 8}, {4, 3, 2, 24}, {33, 8, 4, 264}};

START_TEST(a_dragonfly_has_its_closed_forms)
{
    uint32_t g = flies[_i].groups, a = flies[_i].routers, h = flies[_i].links;
    g_autoptr(GenerateSpec) spec = spec_of(flies[_i].servers, ZONE_DRAGONFLY);
    spec->zone.dragonfly = (DragonflySpec){g, a, h, 2 * RATE, 3 * PS_PER_US};
    g_autoptr(Fabric) fabric = generate(spec);
    uint32_t routers, least, most, between[64][64] = {{0}};
    ck_assert_uint_eq(count_cables(fabric, &routers, &least, &most), g * a * (a - 1) / 2 + g * a * h / 2);
    ck_assert_uint_eq(routers, g * a);
    ck_assert_uint_eq(least, a - 1 + h);
    ck_assert_uint_eq(most, a - 1 + h);
    uint32_t first = fabric_find(fabric, "A/0/leaf0");
    ck_assert_uint_ne(first, INDEX_NONE);
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        const Link *link = fabric_link(fabric, l);
        if (fabric_node(fabric, link->src)->kind != NODE_LEAF || fabric_node(fabric, link->dst)->kind != NODE_LEAF)
            continue;
        uint32_t x = (link->src - first) / a, y = (link->dst - first) / a;
        between[x][y] += x != y;
        ck_assert_double_eq(link->capacity_Bps, x != y ? 2 * RATE : RATE);
        ck_assert_int_eq(link->latency_ps, x != y ? 3 * PS_PER_US : 500 * PS_PER_NS);
    }
    for (uint32_t x = 0; x < g; x++)
        for (uint32_t y = 0; y < g; y++)
            ck_assert_uint_eq(between[x][y], x == y ? 0 : a * h / (g - 1));
    if (g % 2 == 0)
        ck_assert_double_eq_tol(bisection_Bps(fabric) / (2 * RATE), g / 2.0 * (g / 2.0) * a * h / (g - 1), 1e-9);
}
END_TEST

typedef void (*Spoil)(GenerateSpec *spec);

#define SPOIL(name, ...)                                                                                               \
    static void name(GenerateSpec *s)                                                                                  \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
SPOIL(no_sizes, s->zone.n_torus = 0)
SPOIL(small_size, s->zone.torus[1] = 1)
SPOIL(odd_servers, s->zone.servers = 18)
SPOIL(oversubscribed, s->zone.oversubscription = 2)
SPOIL(few_ports, s->zone.radix = 4)
SPOIL(no_fly, s->zone.network = ZONE_DRAGONFLY)
SPOIL(far_groups, s->zone.network = ZONE_DRAGONFLY, s->zone.dragonfly = (DragonflySpec){10, 4, 2, 0, -1})
SPOIL(odd_groups, s->zone.network = ZONE_DRAGONFLY, s->zone.dragonfly = (DragonflySpec){7, 4, 2, 0, -1})

static const struct {
    Spoil spoil;
    const char *message;
} refused[] = {
    {no_sizes, "zone.torus: found 0 sizes, expected 2 or 3, such as [4, 4, 4]"},
    {small_size, "zone.torus[1]: found 1, expected 2 to 65536"},
    {odd_servers, "zone.servers: 18 servers cannot be spread evenly over 16 routers; 32 can"},
    {oversubscribed, "zone.oversubscription: means nothing for a torus"},
    {few_ports, "zone.radix: a router needs 5 ports, found 4"},
    {no_fly, "zone.dragonfly: needs groups (at least 2), routers and global_links"},
    {far_groups, "zone.dragonfly.groups: 10 groups, but the 4 x 2 global links of one reach only 8 others"},
    {odd_groups,
     "zone.dragonfly.groups: the 4 x 2 global links of a group cannot be spread evenly over 6 others; 5 or 9 "
     "groups can"},
};

START_TEST(what_does_not_come_out_whole_is_refused)
{
    g_autoptr(GenerateSpec) spec = torus_of(0);
    refused[_i].spoil(spec);
    GError *error = NULL;
    ck_assert_ptr_null(generate_fabric(spec, &error));
    ck_assert_str_eq(error->message, refused[_i].message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "zone");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("generate direct");
    TCase *tcase = tcase_create("direct");
    tcase_add_loop_test(tcase, a_torus_has_its_closed_forms, 0, G_N_ELEMENTS(tori));
    tcase_add_loop_test(tcase, ways_in_a_torus_are_the_shortest, 0, G_N_ELEMENTS(tori));
    tcase_add_loop_test(tcase, a_dragonfly_has_its_closed_forms, 0, G_N_ELEMENTS(flies));
    tcase_add_loop_test(tcase, what_does_not_come_out_whole_is_refused, 0, G_N_ELEMENTS(refused));
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
