/* test-wan.c - wide-area files: the published counts and distances of real ones, defaults, hosts, refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "fabric/topology_format.h"
#include "fabric/wan_map.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

static const TopologyOptions given = {.default_rate_Bps = 12.5e9, .default_latency_ps = PS_PER_MS, .detour = 1};

/* ../shared/data/wan/README.md: nodes; edges and self-loops; edges with a length, their sum and the longest, km; edges
 * whose LinkSpeedRaw is a number. */
static const struct {
    const char *file;
    uint32_t nodes, edges, loops, with_length;
    double sum_km, longest_km;
    uint32_t with_rate;
} zoo[] = {
    {"zoo-Aarnet.graphml", 19, 24, 0, 24, 16675.576, 2618.228, 0},
    {"zoo-Abilene-yed-source.graphml", 11, 14, 0, 0, 0, 0, 0},
    {"zoo-Abilene.graphml", 11, 14, 0, 14, 14082.385, 2206.763, 0},
    {"zoo-AttMpls.graphml", 25, 57, 0, 57, 51414.869, 2983.396, 0},
    {"zoo-Basnet.graphml", 7, 6, 0, 5, 1258.221, 327.872, 6},
    {"zoo-Cogentco.graphml", 197, 245, 0, 214, 105381.455, 6332.031, 0},
    {"zoo-DeutscheTelekom.graphml", 39, 62, 0, 62, 171042.406, 14123.645, 0},
    {"zoo-Esnet.graphml", 68, 92, 0, 29, 25625.816, 2074.409, 10},
    {"zoo-Eunetworks.graphml", 15, 19, 0, 19, 4553.113, 504.852, 0},
    {"zoo-Geant2012.graphml", 40, 61, 0, 58, 47758.196, 3218.095, 39},
    {"zoo-GtsCe.graphml", 149, 193, 0, 176, 26537.563, 646.116, 0},
    {"zoo-Heanet.graphml", 7, 13, 0, 13, 1025.281, 220.124, 0},
    {"zoo-Internode.graphml", 66, 78, 0, 32, 106578.035, 12073.635, 28},
    {"zoo-Interoute.graphml", 110, 158, 2, 126 - 1, 26377.729, 1227.421, 0},
    {"zoo-Kdl.graphml.gz", 754, 899, 0, 822, 40396.265, 161.89, 0},
    {"zoo-Nsfcnet.graphml", 10, 10, 0, 0, 0, 0, 0},
    {"zoo-Savvis.graphml", 19, 20, 0, 20, 11190.185, 1422.549, 20},
    {"zoo-TataNld.graphml", 145, 194, 0, 188, 24936.781, 477.944, 0},
    {"zoo-UsCarrier.graphml", 158, 189, 0, 171, 10425.899, 249.0, 0},
    /* In GML: as their GraphML. */
    {"zoo-Abilene.gml", 11, 14, 0, 14, 14082.385, 2206.763, 0},
    {"zoo-Geant2012.gml", 40, 61, 0, 58, 47758.196, 3218.095, 39},
    /* SNDlib; rates: pre-installed capacities above 0. */
    {"sndlib-abilene.txt", 12, 15, 0, 15, 14029.488, -1, 15},
    {"sndlib-cost266.txt", 37, 57, 0, 57, 24972.182, -1, 0},
    {"sndlib-geant.txt", 22, 36, 0, 36, 37936.868, -1, 0},
    {"sndlib-janos-us.txt", 26, 84, 0, 84, 50448.923, -1, 0},
    {"sndlib-nobel-germany.txt", 17, 26, 0, 26, 3726.686, -1, 0},
    {"sndlib-polska.txt", 12, 18, 0, 18, 3385.321, -1, 0},
    {"sndlib-ta2.txt", 65, 108, 0, 0, 0, 0, -1},
};

/* Latencies are those of the lengths at 5 us/km; of the two self-loops, which are left out, the README
 * counts one with a length of 0. */
START_TEST(real_files_have_their_published_counts)
{
    g_autofree char *relative = g_strconcat("data/wan/", zoo[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, NULL, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(fabric_n_nodes(fabric), zoo[_i].nodes);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * (zoo[_i].edges - zoo[_i].loops));
    uint32_t with_length = 0, with_rate = 0;
    double sum = 0, longest = 0;
    for (uint32_t l = 0; l < fabric_n_links(fabric); l += 2) {
        const Link *link = fabric_link(fabric, l);
        gboolean rate = g_str_has_prefix(link->source, "rate file"),
                 map = g_str_has_suffix(link->source, "latency map");
        with_rate += rate;
        ck_assert(map == isfinite(link->length_km));
        if (!rate)
            ck_assert_double_eq(link->capacity_Bps, given.default_rate_Bps);
        if (!map) {
            ck_assert_int_eq(link->latency_ps, given.default_latency_ps);
            continue;
        }
        with_length++;
        sum += link->length_km;
        longest = fmax(longest, link->length_km);
        ck_assert(fabs((double)link->latency_ps - link->length_km * 5e6) <= 1);
    }
    ck_assert_uint_eq(with_length, zoo[_i].with_length);
    ck_assert_double_eq_tol(sum, zoo[_i].sum_km, 0.001);
    if (zoo[_i].longest_km >= 0)
        ck_assert_double_eq_tol(longest, zoo[_i].longest_km, 0.001);
    if (zoo[_i].with_rate != (uint32_t)-1)
        ck_assert_uint_eq(with_rate, zoo[_i].with_rate);
}
END_TEST

START_TEST(rates_of_real_files)
{
    NEED_SHARED(path, "data/wan/zoo-Savvis.graphml");
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, NULL, NULL);
    ck_assert_ptr_nonnull(fabric);
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++)
        ck_assert_double_eq(fabric_link(fabric, l)->capacity_Bps, 45e6 / 8);
    NEED_SHARED(abilene, "data/wan/sndlib-abilene.txt");
    g_autoptr(Fabric) second = topology_read(abilene, NULL, &given, NULL, NULL);
    double sum = 0; /* of pre-installed capacities, Mb/s: 141360 */
    for (uint32_t l = 0; l < fabric_n_links(second); l += 2)
        sum += fabric_link(second, l)->capacity_Bps * 8 / 1e6;
    ck_assert_double_eq_tol(sum, 141360, 1e-6);
}
END_TEST

/* 50 rows and 50 columns, of which 49 are the same places; 346756 ms in 2350 cells. Half of each is a latency; 102
 * pairs are known from one side, which serves for both. */
START_TEST(round_trips_between_azure_regions)
{
    NEED_SHARED(path, "data/wan/rtt-azure-regions.csv");
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, &notes, NULL);
    ck_assert_ptr_nonnull(fabric);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 51);
    uint32_t from = fabric_find(fabric, "Australia Central"), to = fabric_find(fabric, "Australia Central 2"), n;
    const uint32_t *out = fabric_out(fabric, from, &n);
    SimTime there = -1, back = -1, most = 0;
    for (uint32_t i = 0; i < n; i++)
        if (fabric_link(fabric, out[i])->dst == to)
            there = fabric_link(fabric, out[i])->latency_ps;
    out = fabric_out(fabric, to, &n);
    for (uint32_t i = 0; i < n; i++)
        if (fabric_link(fabric, out[i])->dst == from)
            back = fabric_link(fabric, out[i])->latency_ps;
    ck_assert_int_eq(there, 3 * PS_PER_MS / 2);
    ck_assert_int_eq(back, 4 * PS_PER_MS / 2);
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        most = MAX(most, fabric_link(fabric, l)->latency_ps);
        ck_assert_str_eq(fabric_link(fabric, l)->source, "rate default, latency file");
    }
    ck_assert_int_eq(most, 343 * PS_PER_MS / 2);
    ck_assert_ptr_nonnull(strstr(notes, "102 pairs are measured from one side only\n"));
    ck_assert_uint_eq(fabric_n_links(fabric), 2350 + 102);
}
END_TEST

/* 12 places, 38 directed links that are 19 pairs; capacities without a unit are not taken for rates. */
START_TEST(b4_is_directed)
{
    NEED_SHARED(path, "data/wan/b4-teavar.json");
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, &notes, NULL);
    ck_assert_ptr_nonnull(fabric);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 12);
    ck_assert_uint_eq(fabric_n_links(fabric), 38);
    uint32_t pairs = 0;
    for (uint32_t a = 0; a < 38; a++)
        for (uint32_t b = 0; b < a; b++)
            pairs += fabric_link(fabric, a)->src == fabric_link(fabric, b)->dst &&
                     fabric_link(fabric, a)->dst == fabric_link(fabric, b)->src;
    ck_assert_uint_eq(pairs, 19);
    ck_assert_double_eq(fabric_link(fabric, 0)->capacity_Bps, given.default_rate_Bps);
    ck_assert_ptr_nonnull(strstr(notes, "38 capacities have no unit: they are not used\n"));
}
END_TEST

/* ../shared/data/wan/README.md: 70 tables of 5 months, so 14 a month; the first 13 x 13, sum 23880 ms, largest 369;
 * between the buildings of Dallas 0.60 to 2.16 ms, of Washington DC 0.28 to 0.74 ms. */
START_TEST(latencies_of_ibm_clouds_regions_and_buildings)
{
    NEED_SHARED(path, "data/wan/rtt-ibmcloud-network-latency.md");
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, NULL, &given, &notes, NULL);
    ck_assert_ptr_nonnull(fabric);
    double sum_ms = 0, most_ms = 0, least[2] = {1e9, 1e9}, largest[2] = {0, 0};
    uint32_t between_regions = 0, to_region = 0;
    for (uint32_t l = 0; l < fabric_n_links(fabric); l++) {
        const Link *link = fabric_link(fabric, l);
        const Node *a = fabric_node(fabric, link->src), *b = fabric_node(fabric, link->dst);
        double ms = (double)link->latency_ps * 2 / PS_PER_MS;
        if (*a->building == '\0' && *b->building == '\0') {
            between_regions++;
            sum_ms += ms;
            most_ms = fmax(most_ms, ms);
            continue;
        }
        ck_assert_str_eq(a->region, b->region);
        if (*a->building == '\0' || *b->building == '\0') {
            to_region++;
            ck_assert_str_eq(link->source, "rate default, latency default");
            continue;
        }
        ck_assert_str_eq(link->source, "rate default, latency file");
        int which = strcmp(a->region, "Dallas") == 0 ? 0 : strcmp(a->region, "Washington DC") == 0 ? 1 : -1;
        if (which >= 0) {
            least[which] = fmin(least[which], ms);
            largest[which] = fmax(largest[which], ms);
        }
    }
    ck_assert_uint_eq(between_regions, 13 * 12);
    ck_assert_double_eq_tol(sum_ms, 23880, 1e-6);
    ck_assert_double_eq_tol(most_ms, 369, 1e-9);
    ck_assert_double_eq_tol(least[0], 0.60, 1e-9);
    ck_assert_double_eq_tol(largest[0], 2.16, 1e-9);
    ck_assert_double_eq_tol(least[1], 0.28, 1e-9);
    ck_assert_double_eq_tol(largest[1], 0.74, 1e-9);
    ck_assert_uint_eq(to_region, 2 * (fabric_n_nodes(fabric) - 13));
    ck_assert_ptr_nonnull(strstr(notes, "56 tables of other months are passed over\n"));
}
END_TEST

/* A quarter of the way round the earth, and a degree along the equator. */
START_TEST(distances_by_hand)
{
    ck_assert_double_eq_tol(wan_distance_km(0, 0, 90, 45), G_PI / 2 * 6371.0088, 1e-9);
    ck_assert_double_eq_tol(wan_distance_km(0, 10, 0, 11), G_PI / 180 * 6371.0088, 1e-9);
    ck_assert_double_eq_tol(wan_distance_km(50, 179.5, 50, -179.5), wan_distance_km(50, 0, 50, 1), 1e-9);
}
END_TEST

#define ZOO_KEYS                                                                                                       \
    "<graphml><key attr.name='GeoLocation' for='graph' id='d0'/><key attr.name='label' for='node' id='d1'/>"           \
    "<key attr.name='Latitude' for='node' id='d2'/><key attr.name='Longitude' for='node' id='d3'/>"                    \
    "<key attr.name='hyperedge' for='node' id='d4'/><key attr.name='LinkSpeedRaw' for='edge' id='d5'/><graph>"
#define PLACE(id, label, latitude, longitude)                                                                          \
    "<node id='" id "'><data key='d1'>" label "</data><data key='d2'>" latitude "</data><data key='d3'>" longitude     \
    "</data></node>"

/* Three places, two called alike, and a point between cables. With two hosts a place: 3 x 2 hosts. Detour 2. */
START_TEST(hosts_names_and_detours)
{
    g_autofree char *path = support_save(ZOO_KEYS PLACE("0", "A/B", "0", "10") PLACE("1", "A/B", "0", "11") PLACE(
        "2", "C", "0", "12") "<node id='3'><data key='d4'>1</data></node>"
                             "<edge source='0' target='1'><data key='d5'>8e9</data></edge><edge source='1' target='3'/>"
                             "<edge source='2' target='3'/></graph></graphml>");
    TopologyOptions options = given;
    options.hosts = 2;
    options.detour = 2;
    g_autofree char *notes = NULL;
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_read(path, "zoo", &options, &notes, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(fabric_n_nodes(fabric), 4 + 6);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * (3 + 6));
    uint32_t n;
    fabric_gpus(fabric, &n);
    ck_assert_uint_eq(n, 6);
    ck_assert_uint_ne(fabric_find(fabric, "A-B (2)/host1"), INDEX_NONE);
    ck_assert_str_eq(fabric_node(fabric, fabric_find(fabric, "3"))->building, "");
    const uint32_t *out = fabric_out(fabric, fabric_find(fabric, "A-B"), &n);
    for (uint32_t i = 0; i < n; i++) {
        const Link *link = fabric_link(fabric, out[i]);
        if (fabric_node(fabric, link->dst)->kind != NODE_DCI)
            continue;
        ck_assert_double_eq(link->capacity_Bps, 1e9);
        ck_assert_double_eq_tol(link->length_km, 2 * G_PI / 180 * 6371.0088, 1e-6);
    }
    ck_assert_ptr_nonnull(strstr(notes, "\"A-B\" is there already: this one is called \"A-B (2)\"\n"));
    g_unlink(path);
}
END_TEST

static const struct {
    const char *format, *text, *message;
} bad[] = {
    {"zoo", "<graphml><graph/></graphml>", "there is no place in it"},
    {"zoo", "<graphml/>", ":1: graphml: has no graph"},
    {"zoo", ZOO_KEYS "<node/></graph></graphml>", ":1: node: needs the attribute \"id\""},
    {"zoo", ZOO_KEYS PLACE("0", "A", "91", "0") "</graph></graphml>",
     ":1: node: Latitude: expected a number from -90 to 90, found \"91\""},
    {"zoo", ZOO_KEYS PLACE("0", "A", "1", "0") PLACE("0", "B", "1", "0") "</graph></graphml>",
     "is there already: \"0\""},
    {"zoo", ZOO_KEYS PLACE("0", "A", "1", "0") "<edge source='0' target='9'/></graph></graphml>",
     ":1: edge: there is no node \"9\""},
    {"zoo",
     ZOO_KEYS PLACE("0", "A", "1",
                    "0") "<edge source='0' target='0'><data key='d5'>fast</data></edge></graph></graphml>",
     "LinkSpeedRaw: expected a number from 0"},
    {"sndlib", "?SNDlib native format; type: network; version: 1.0\nNODES (\n A ( 1 )\n)\n",
     ":3: node A: expected ( longitude latitude )"},
    {"sndlib", "?SNDlib\nNODES (\n A ( 1 2 )\n A ( 1 2 )\n)\n", ":4: node A is there already"},
    {"sndlib", "?SNDlib\nNODES (\n A ( 1 2 )\n)\nLINKS (\n L ( A B ) 1 0 0 0 ( )\n)\n",
     ":6: link L: there is no node \"B\""},
    {"sndlib", "?SNDlib\nNODES (\n A ( 1 2 )\n)\nLINKS (\n L ( A A ) x\n)\n",
     ":6: link L: expected ( source target ) capacity"},
    {"sndlib", "?SNDlib\nNODES (\n A ( 1 2 )\n", "ends inside a section"},
    {"gml", "graph [ node [ id 1 label \"x ] ]", ":1: a text has no closing \""},
    {"gml", "graph [\n node [ id 1 ]\n", ":3: expected a key, or the closing ] of graph"},
    {"gml", "graph [ node [ id 1\n label ] ]", ":2: expected a number, a text in quotes or a list"},
    {"gml", "graph 3", ":1: expected one graph, in brackets"},
    {"gml", "Creator \"x\"", "has no graph"},
    {"gml", "graph [ ]", "there is no place in it"},
    {"gml", "graph [ node [ id 1 ] node [ id 1 ] ]", ":1: node: id 1 is there already"},
    {"gml", "graph [ node [ id 1 ] edge [ source 1 ] ]", ":1: edge: needs a target"},
    {"node-link", "{\"nodes\": []}", "there is no list of links"},
    {"node-link", "{\"nodes\": 3}", ":1: expected a list of nodes"},
    {"node-link", "{\"nodes\": [3], \"links\": []}", ":1: expected the object of a node"},
    {"node-link", "{\"nodes\": [{\"id\": 1}], \"edges\": [{\"source\": 1}]}", ":1: a link has no \"target\""},
    {"node-link", "{\"nodes\": [{\"id\": 1, \"Latitude\": 99}], \"edges\": []}", "is no number of degrees: node \"1\""},
    {"node-link", "[]", ":1: expected an object with nodes and links"},
    {"latency-tables", "| Average latency (ms) | A |\n", ":1: found 1 places, expected 2 to 1024"},
    {"latency-tables", "| Average latency (ms) | A | A |\n", ":1: a column's name is empty or there twice: \"A\""},
    {"latency-tables", "| Average latency (ms) | A | B |\n| A | | 1 |\n| A | | 1 |\n",
     ":3: row \"A\" is there already"},
    {"latency-tables", "no table\n", "there is no place in it"},
    {"rtt", "Source,A,A\n", ":1: a column's name is empty or there twice: \"A\""},
    {"rtt", "Source,A\n", ":1: found 1 places, expected 2 to 4096"},
    {"rtt", "Source,A,B\nA,,1\nB,2\n", ":3: 2 fields, the first line has 3"},
    {"rtt", "Source,A,B\nA,,soon\n", ":2: B: found \"soon\", expected milliseconds"},
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
    g_autofree char *path = support_save("?SNDlib native format; type: network\nNODES (\n A ( 1 2 )\n B\n)\nLINKS (\n"
                                         " L ( A B ) 0.00 0 0 0 ( )\n)\n");
    TopologyOptions less = given;
    less.default_rate_Bps = 0;
    GError *error = NULL;
    ck_assert_ptr_null(topology_read(path, NULL, &less, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "1 of 1 links have no rate: give one with --default-rate");
    less = given;
    less.default_latency_ps = -1;
    ck_assert_ptr_null(topology_read(path, NULL, &less, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "1 of 1 links have no length: give --default-latency");
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("wan");
    TCase *tcase = tcase_create("wan");
    tcase_add_loop_test(tcase, real_files_have_their_published_counts, 0, G_N_ELEMENTS(zoo));
    tcase_add_test(tcase, rates_of_real_files);
    tcase_add_test(tcase, round_trips_between_azure_regions);
    tcase_add_test(tcase, b4_is_directed);
    tcase_add_test(tcase, latencies_of_ibm_clouds_regions_and_buildings);
    tcase_add_test(tcase, distances_by_hand);
    tcase_add_test(tcase, hosts_names_and_detours);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, what_the_file_does_not_say_is_asked_for);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
