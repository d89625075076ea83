/* test-simgrid-platform.c - SimGrid's platform XML: units, sharing, routes, zones, clusters; samples written from the
 * text of its manual, since no file is at hand */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/route.h"
#include "fabric/topology_format.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define HEAD                                                                                                           \
    "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n<platform "                \
    "version=\"4.1\">\n"
#define TAIL "</platform>\n"
#define ZONE "<zone id=\"z\" routing=\"Full\">\n"

static Fabric *
read_text(const char *text, GPtrArray *problems, char **notes, GError **error)
{
    g_autofree char *path = support_save(text);
    TopologyOptions options = topology_options_default;
    options.problems = problems;
    Fabric *fabric = topology_read(path, NULL, &options, notes, error);
    g_unlink(path);
    return fabric;
}

static Fabric *
must_read(const char *body, char **notes)
{
    g_autofree char *text = g_strconcat(HEAD, body, TAIL, NULL);
    GError *error = NULL;
    Fabric *fabric = read_text(text, NULL, notes, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    return fabric;
}

/* Hops, least capacity and latency of the one way from a to b; its number of equal ways. */
typedef struct {
    uint64_t n;
    uint32_t hops;
    double least_Bps;
    SimTime latency_ps;
} Way;

static Way
way(const Fabric *fabric, const char *a, const char *b)
{
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    RouteRequest request = {
        .src = fabric_find(fabric, a), .dst = fabric_find(fabric, b), .src_nic = INDEX_NONE, .dst_nic = INDEX_NONE};
    ck_assert_msg(request.src != INDEX_NONE && request.dst != INDEX_NONE, "%s, %s", a, b);
    Route route;
    Way found = {.least_Bps = INFINITY};
    GError *error = NULL;
    ck_assert(routes_count(routes, &request, &found.n, &error));
    ck_assert(routes_find(routes, &request, &route, &error));
    found.hops = route.n_hops;
    found.latency_ps = route.latency_ps;
    for (uint32_t h = 0; h < route.n_hops; h++)
        found.least_Bps = MIN(found.least_Bps, fabric_link(fabric, route.hops[h].link)->capacity_Bps);
    return found;
}

static void
expect_way(const Fabric *fabric, const char *a, const char *b, Way expected)
{
    Way found = way(fabric, a, b);
    ck_assert_msg(found.n == expected.n && found.hops == expected.hops && found.least_Bps == expected.least_Bps &&
                      found.latency_ps == expected.latency_ps,
                  "%s to %s: %d ways, %u hops, %.17g B/s, %" G_GINT64_FORMAT " ps", a, b, (int)found.n, found.hops,
                  found.least_Bps, found.latency_ps);
}

/* bandwidth and latency of a cable between two hosts. */
static const struct {
    const char *bandwidth, *latency;
    double rate_Bps;
    SimTime latency_ps;
} units[] = {
    {"41.279125MBps", "59.904us", 41279125, 59904000},
    {"10Gbps", "1.5ms", 1.25e9, 1500000000},
    {"1KiBps", "2ns", 1024, 2000},
    {"8Mibps", "7ps", 1048576, 7},
    {"125kBps", "0", 125000, 0},
    {"1e6", "1e-6", 1e6, 1000000},
    {"1TBps", "2h", 1e12, 7200 * PS_PER_S},
    {"3bps", "0.5s", 0.375, PS_PER_S / 2},
    {"1KBps", "1m", 1000, 60 * PS_PER_S},
};

START_TEST(quantities)
{
    g_autofree char *body =
        g_strdup_printf(ZONE "<host id=\"a\" speed=\"1f\"/><host id=\"b\" speed=\"98.095Mf\"/>"
                             "<link id=\"l\" bandwidth=\"%s\" latency=\"%s\" sharing_policy=\"SPLITDUPLEX\"/>"
                             "<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone>",
                        units[_i].bandwidth, units[_i].latency);
    g_autoptr(Fabric) fabric = must_read(body, NULL);
    ck_assert_uint_eq(fabric_n_links(fabric), 2);
    ck_assert_msg(fabric_link(fabric, 0)->capacity_Bps == units[_i].rate_Bps, "%s", units[_i].bandwidth);
    ck_assert_msg(fabric_link(fabric, 1)->latency_ps == units[_i].latency_ps, "%s", units[_i].latency);
    ck_assert(fabric_node(fabric, fabric_find(fabric, "b"))->peak_FLOPps == 98.095e6);
    ck_assert_str_eq(fabric_node(fabric, 0)->zone, "z");
    ck_assert_str_eq(fabric_link(fabric, 0)->source, "file");
}
END_TEST

/* A Full zone: SHARED is one directed link for all, both ways; the private links are SPLITDUPLEX. */
START_TEST(a_shared_backbone)
{
    static const char body[] =
        ZONE "<host id=\"a\" speed=\"2Gf,1Gf\" pstate=\"1\" core=\"4\"/><host id=\"b\" speed=\"1Gf\"/>"
             "<host id=\"c\" speed=\"1Gf\"/>"
             "<link id=\"bb\" bandwidth=\"1GBps\" latency=\"10us\"/>"
             "<link id=\"la\" bandwidth=\"100MBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>"
             "<link id=\"lb\" bandwidth=\"200MBps\" latency=\"2us\" sharing_policy=\"SPLITDUPLEX\"/>"
             "<link id=\"lc\" bandwidth=\"300MBps\" latency=\"3us\" sharing_policy=\"SPLITDUPLEX\"/>"
             "<route src=\"a\" dst=\"b\"><link_ctn id=\"la\" direction=\"UP\"/><link_ctn id=\"bb\"/>"
             "<link_ctn id=\"lb\" direction=\"DOWN\"/></route>"
             "<route src=\"a\" dst=\"c\"><link_ctn id=\"la\" direction=\"UP\"/><link_ctn id=\"bb\"/>"
             "<link_ctn id=\"lc\" direction=\"DOWN\"/></route>"
             "<route src=\"b\" dst=\"c\"><link_ctn id=\"lb\" direction=\"UP\"/><link_ctn id=\"bb\"/>"
             "<link_ctn id=\"lc\" direction=\"DOWN\"/></route></zone>";
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = must_read(body, &notes);
    /* 3 hosts; 7 resources of two switches: bb, and UP and DOWN of each private link */
    ck_assert_uint_eq(fabric_n_nodes(fabric), 3 + 2 * 7);
    ck_assert(fabric_node(fabric, fabric_find(fabric, "a"))->peak_FLOPps == 1e9);
    expect_way(fabric, "a", "b", (Way){1, 7, 100e6, 13 * PS_PER_US});
    expect_way(fabric, "b", "a", (Way){1, 7, 100e6, 13 * PS_PER_US});
    expect_way(fabric, "c", "b", (Way){1, 7, 200e6, 15 * PS_PER_US});
    uint32_t backbone = 0;
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++)
        backbone += fabric_link(fabric, l)->capacity_Bps == 1e9;
    ck_assert_uint_eq(backbone, 1);
    ck_assert_str_eq(notes, "1 hosts have several cores: a rank computes at the speed of one\n"
                            "3 routes: traffic takes the shortest way over their links\n");
}
END_TEST

/* Zones in zones: a Floyd zone whose host passes on, a router as the gateway of the other; names of version 4. */
START_TEST(zones_and_gateways)
{
    static const char body[] =
        "<AS id=\"all\" routing=\"Full\">"
        "<AS id=\"left\" routing=\"Floyd\"><host id=\"a\" speed=\"1Gf\"/><host id=\"m\" speed=\"1Gf\"/>"
        "<host id=\"g\" speed=\"1Gf\"/>"
        "<link id=\"1\" bandwidth=\"1GBps\" latency=\"1us\" sharing_policy=\"SPLITDUPLEX\"/>"
        "<link id=\"2\" bandwidth=\"2GBps\" latency=\"2us\" sharing_policy=\"SPLITDUPLEX\"/>"
        "<route src=\"a\" dst=\"m\"><link_ctn id=\"1\"/></route><route src=\"m\" dst=\"g\"><link_ctn "
        "id=\"2\"/></route></AS>"
        "<AS id=\"right\" routing=\"Dijkstra\"><host id=\"b\" speed=\"1Gf\"/><router id=\"r\"/>"
        "<link id=\"3\" bandwidth=\"3GBps\" latency=\"3us\" sharing_policy=\"FATPIPE\"/>"
        "<route src=\"r\" dst=\"b\" symmetrical=\"no\"><link_ctn id=\"3\"/></route>"
        "<route src=\"b\" dst=\"r\" symmetrical=\"NO\"><link_ctn id=\"3\"/></route></AS>"
        "<link id=\"4\" bandwidth=\"500MBps\" latency=\"4ms\" sharing_policy=\"SPLITDUPLEX\"/>"
        "<ASroute src=\"left\" dst=\"right\" gw_src=\"g\" gw_dst=\"r\"><link_ctn id=\"4\"/></ASroute>"
        "<bypassASroute src=\"left\" dst=\"right\" gw_src=\"g\" gw_dst=\"r\"><link_ctn id=\"4\"/></bypassASroute></AS>"
        "<process host=\"a\" function=\"x\"/>";
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = must_read(body, &notes);
    /* a, m, g, b, r, and ports of m and g, which pass on */
    ck_assert_uint_eq(fabric_n_nodes(fabric), 7);
    ck_assert(fabric_find(fabric, "g/port") != INDEX_NONE && fabric_find(fabric, "a/port") == INDEX_NONE);
    /* a - m/port - g/port - r - b */
    expect_way(fabric, "a", "b", (Way){1, 4, 500e6, 4006 * PS_PER_US});
    expect_way(fabric, "b", "a", (Way){1, 4, 500e6, 4006 * PS_PER_US});
    expect_way(fabric, "m", "g", (Way){1, 3, 2e9, 2 * PS_PER_US});
    ck_assert(strstr(notes, "1 links are FATPIPE, a limit of each flow: here their flows share them\n") != NULL);
    ck_assert(strstr(notes, "1 bypassRoute or bypassZoneRoute ignored\n") != NULL);
    ck_assert(strstr(notes, "1 actors ignored\n") != NULL);
}
END_TEST

/* Hosts, other nodes and directed links without the joints of the cluster's own router, by hand. */
static const struct {
    const char *attributes;
    uint32_t hosts, switches, links; /* links of the file's rate or the backbone's */
    const char *from, *to;
    Way way;
} clusters[] = {
    {"radical=\"0-3,7\"", 5, 1, 10, "n0.x", "n7.x", {1, 2, 125e6, 100 * PS_PER_US}},
    {"radical=\"0-3\" bb_bw=\"100MBps\" bb_lat=\"10us\"", 4, 3, 9, "n0.x", "n3.x", {1, 3, 100e6, 110 * PS_PER_US}},
    /* each private link is one capacity: two switches and one link a host */
    {"radical=\"0;1\" sharing_policy=\"SHARED\"", 2, 5, 2, "n0.x", "n1.x", {1, 6, 125e6, 100 * PS_PER_US}},
    /* the manual's example: 4 leaves, 2 spines, two cables a pair: 16 + 16 cables */
    {"radical=\"0-15\" topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\"",
     16,
     7,
     64,
     "n0.x",
     "n4.x",
     {8, 4, 125e6, 200 * PS_PER_US}},
    {"radical=\"0-15\" topology=\"FAT_TREE\" topo_parameters=\"2;4,4;1,2;1,2\"",
     16,
     7,
     64,
     "n0.x",
     "n3.x",
     {1, 2, 125e6, 100 * PS_PER_US}},
    /* three levels: 8 hosts, 4 + 4 + 4 switches; 8 + 8 + 8 cables; to the other half: up any of 2 x 2 */
    {"radical=\"0-7\" topology=\"FAT_TREE\" topo_parameters=\"3;2,2,2;1,2,2;1,1,1\"",
     8,
     13,
     48,
     "n0.x",
     "n7.x",
     {4, 6, 125e6, 300 * PS_PER_US}},
    /* 3 x 2 x 2: 12 cables a dimension, of two those are two a pair; 0 to 11 = (2, 1, 1): back 1, 1, 1 in any of 6
     * orders, the steps of dimensions of two over either of 2 cables */
    {"radical=\"0-11\" topology=\"TORUS\" topo_parameters=\"3,2,2\"",
     12,
     13,
     72,
     "n0.x",
     "n11.x",
     {24, 5, 125e6, 150 * PS_PER_US}},
    /* 3 groups of 2 chassis of 4 routers, 2 hosts each: 48 + 6 x 6 x 1 + 3 x 4 x 3 + 3 x 4 = 132 cables */
    {"radical=\"0-47\" topology=\"DRAGONFLY\" topo_parameters=\"3,4;2,3;4,1;2\"",
     48,
     25,
     264,
     "n0.x",
     "n2.x",
     {1, 3, 125e6, 150 * PS_PER_US}},
    /* router 1 of group 0 has the 4 cables to group 1, where they end at router 0 */
    {"radical=\"0-47\" topology=\"DRAGONFLY\" topo_parameters=\"3,4;2,3;4,1;2\"",
     48,
     25,
     264,
     "n2.x",
     "n16.x",
     {4, 3, 125e6, 150 * PS_PER_US}},
};

START_TEST(a_cluster)
{
    g_autofree char *body =
        g_strdup_printf("<cluster id=\"c\" prefix=\"n\" suffix=\".x\" speed=\"1Gf\" bw=\"125MBps\" lat=\"50us\" %s/>",
                        clusters[_i].attributes);
    g_autoptr(Fabric) fabric = must_read(body, NULL);
    uint32_t hosts = 0, links = 0;
    for (uint32_t n = 0; n < fabric_n_nodes(fabric); n++)
        hosts += fabric_node(fabric, n)->kind == NODE_HOST;
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++)
        links += strcmp(fabric_link(fabric, l)->source, "file") == 0;
    ck_assert_uint_eq(hosts, clusters[_i].hosts);
    ck_assert_uint_eq(fabric_n_nodes(fabric) - hosts, clusters[_i].switches);
    ck_assert_msg(links == clusters[_i].links, "%s: %u links", clusters[_i].attributes, links);
    expect_way(fabric, clusters[_i].from, clusters[_i].to, clusters[_i].way);
    ck_assert(fabric_find(fabric, "nc_router.x") != INDEX_NONE);
}
END_TEST

/* Every child and parent of a fat tree whose labels agree but for one digit is joined, by a search over all labels. */
START_TEST(fat_tree_by_its_definition)
{
    enum { N = 3 };
    static const uint32_t down[N] = {3, 2, 4}, up[N] = {2, 3, 2}, cables[N] = {1, 2, 3};
    g_autoptr(Fabric) fabric =
        must_read("<cluster id=\"c\" prefix=\"n\" suffix=\"\" speed=\"1Gf\" bw=\"1GBps\" lat=\"0\" radical=\"0-23\" "
                  "topology=\"FAT_TREE\" topo_parameters=\"3;3,2,4;2,3,2;1,2,3\"/>",
                  NULL);
    for (uint32_t l = 1; l <= N; l++) {
        uint32_t sizes[2] = {1, 1};
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t j = 1; j <= N; j++)
                sizes[side] *= j <= l - 1 + side ? up[j - 1] : down[j - 1];
        for (uint32_t c = 0; c < sizes[0]; c++)
            for (uint32_t p = 0; p < sizes[1]; p++) {
                gboolean agree = TRUE;
                for (uint32_t j = 1, x = c, y = p; j <= N; j++) {
                    uint32_t radix_x = j <= l - 1 ? up[j - 1] : down[j - 1], radix_y = j <= l ? up[j - 1] : down[j - 1];
                    agree = agree && (j == l || x % radix_x == y % radix_y);
                    x /= radix_x, y /= radix_y;
                }
                g_autofree char *child = l == 1 ? g_strdup_printf("n%u", c) : g_strdup_printf("c/level%u.%u", l - 1, c),
                                *parent = g_strdup_printf("c/level%u.%u", l, p);
                uint32_t n_links, joined = 0, target = fabric_find(fabric, parent);
                const uint32_t *links = fabric_out(fabric, fabric_find(fabric, child), &n_links);
                for (uint32_t i = 0; i < n_links; i++)
                    joined += fabric_link(fabric, links[i])->dst == target;
                ck_assert_msg(joined == (agree ? cables[l - 1] : 0), "%s to %s: %u", child, parent, joined);
            }
    }
}
END_TEST

/* What follows the path. */
static const struct {
    const char *body, *message;
} bad[] = {
    {"<zone id=\"z\"/>", ":4: zone: routing is not given"},
    {"<zone id=\"z\" routing=\"Vivaldi\"/>",
     ":4: zone: z: routing \"Vivaldi\": expected Full, Floyd, Dijkstra, DijkstraCache or None"},
    {ZONE "<host id=\"a\"/></zone>", ":5: host: speed is not given"},
    {ZONE "<host id=\"a\" speed=\"1Gb\"/></zone>", ":5: host: \"1Gb\" is no speed above 0; expected for example 100Mf"},
    {ZONE "<host id=\"a\" speed=\"1f\"/>\n<host id=\"a\" speed=\"1f\"/></zone>", ":6: host: "},
    {ZONE "<link id=\"l\"/></zone>", ":5: link: bandwidth is not given"},
    {ZONE "<link id=\"l\" bandwidth=\"1Gf\"/></zone>",
     ":5: link: l: \"1Gf\" is no bandwidth above 0; expected for example 1.25GBps or 10Gbps"},
    {ZONE "<link id=\"l\" bandwidth=\"1GBps\" latency=\"2d\"/></zone>",
     ":5: link: l: \"2d\" is no latency up to a day; expected for example 50us"},
    {ZONE "<link id=\"l\" bandwidth=\"1GBps\" sharing_policy=\"WIFI\"/></zone>",
     ":5: link: l: sharing_policy \"WIFI\": expected SHARED, SPLITDUPLEX or FATPIPE"},
    {ZONE "<route src=\"a\" dst=\"b\"><link_ctn id=\"q\"/></route></zone>",
     ":5: link_ctn: there is no link \"q\" above"},
    {ZONE "<link id=\"l\" bandwidth=\"1Bps\"/>\n<route src=\"a\" dst=\"b\"><link_ctn id=\"l\"/></route></zone>",
     ":6: route: there is no host or router \"a\""},
    {ZONE "<route src=\"a\" dst=\"b\"/></zone>", ":5: route: names no link"},
    {ZONE "<peer id=\"p\"/></zone>", ":5: peer: is not read in a platform"},
    {ZONE "<zoneRoute src=\"a\" dst=\"b\" gw_src=\"c\"/></zone>", ":5: zoneRoute: gw_dst is not given"},
    {"<cluster id=\"c\"/>", ":4: cluster: prefix is not given"},
    {"<cluster id=\"c\" prefix=\"\" suffix=\"\" radical=\"1-x\" speed=\"1f\" bw=\"1Bps\" lat=\"0\"/>",
     ":4: cluster: radical \"1-x\": expected numbers and ranges such as 0-7,10"},
    {"<cluster id=\"c\" prefix=\"\" suffix=\"\" radical=\"0-6\" speed=\"1f\" bw=\"1Bps\" lat=\"0\" topology=\"TORUS\" "
     "topo_parameters=\"2,2,2\"/>",
     ":4: cluster: topo_parameters are of 8 hosts; radical has 7"},
    {"<cluster id=\"c\" prefix=\"\" suffix=\"\" radical=\"0-6\" speed=\"1f\" bw=\"1Bps\" lat=\"0\" topology=\"MESH\" "
     "topo_parameters=\"2\"/>",
     ":4: cluster: topology \"MESH\": expected FLAT, FAT_TREE, TORUS or DRAGONFLY"},
    {"<cluster id=\"c\" prefix=\"\" suffix=\"\" radical=\"0-6\" speed=\"1f\" bw=\"1Bps\" lat=\"0\" "
     "topology=\"FAT_TREE\" topo_parameters=\"2;4;1;1\"/>",
     ":4: cluster: topo_parameters: \"4\": expected 2 to 2 whole numbers from 1, with commas"},
    {"", ": has no host"},
    {ZONE "<host id=\"a\" speed=\"1f\"/><host id=\"b\" speed=\"1f\"/><link id=\"x\" bandwidth=\"1Bps\" "
          "sharing_policy=\"SPLITDUPLEX\"/><link id=\"y\" bandwidth=\"1Bps\"/>\n<route src=\"a\" dst=\"b\"><link_ctn "
          "id=\"x\"/><link_ctn id=\"y\"/></route></zone>",
     ":6: route: link \"x\" is SPLITDUPLEX: its link_ctn needs a direction, UP or DOWN"},
};

START_TEST(refused)
{
    g_autofree char *text = g_strconcat(HEAD, bad[_i].body, TAIL, NULL);
    GError *error = NULL;
    ck_assert(read_text(text, NULL, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
}
END_TEST

START_TEST(other_versions)
{
    GError *error = NULL;
    ck_assert(read_text("<platform version=\"3\"/>", NULL, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         ":1: platform: version is 3; 4 and 4.1 are read, older files are brought up by "
                         "simgrid_update_xml");
}
END_TEST

START_TEST(all_problems_are_told)
{
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    ck_assert(read_text(HEAD ZONE
                        "<host id=\"a\"/>\n<link id=\"l\" bandwidth=\"x\"/>\n<peer/>\n<host id=\"b\" speed=\"1f\"/>\n"
                        "<link id=\"k\" bandwidth=\"1Bps\"/>\n"
                        "<route src=\"b\" dst=\"a\"><link_ctn id=\"k\"/></route></zone>" TAIL,
                        problems, NULL, &error) == NULL);
    g_clear_error(&error);
    static const char *const parts[] = {":5: host: speed", ":6: link: l: \"x\"",
                                        ":7: peer: ", ":10: route: there is no"};
    ck_assert_uint_eq(problems->len, G_N_ELEMENTS(parts));
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        ck_assert_msg(strstr(problems->pdata[i], parts[i]) != NULL, "%s", (const char *)problems->pdata[i]);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("simgrid-platform");
    TCase *cases = tcase_create("cases");
    tcase_add_loop_test(cases, quantities, 0, G_N_ELEMENTS(units));
    tcase_add_test(cases, a_shared_backbone);
    tcase_add_test(cases, zones_and_gateways);
    tcase_add_loop_test(cases, a_cluster, 0, G_N_ELEMENTS(clusters));
    tcase_add_test(cases, fat_tree_by_its_definition);
    tcase_add_loop_test(cases, refused, 0, G_N_ELEMENTS(bad));
    tcase_add_test(cases, other_versions);
    tcase_add_test(cases, all_problems_are_told);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
