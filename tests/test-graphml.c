/* test-graphml.c - GraphML in and out: lossless, every fault with its line, and igraph reads the same */
#include "support.h"

#include "base/error.h"
#include "base/random.h"
#include "fabric/generate.h"
#include "fabric/graphml.h"

#include <glib/gstdio.h>
#include <igraph.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* A path in /tmp that this test alone uses; removed by whoever asks. */
static char *
temporary(void)
{
    char *path = g_strdup("/tmp/trainshed-graphml-XXXXXX");
    int fd = g_mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    return path;
}

static Fabric *
read_text(const char *text, size_t length, char **notes, GError **error)
{
    g_autofree char *path = temporary();
    ck_assert(g_file_set_contents(path, text, (gssize)length, NULL));
    Fabric *fabric = graphml_read(path, notes, error);
    if (error != NULL && *error != NULL) { /* the path differs from run to run */
        ck_assert_msg(g_str_has_prefix((*error)->message, path), "%s", (*error)->message);
        g_autofree char *rest = g_strdup((*error)->message + strlen(path));
        g_free((*error)->message);
        (*error)->message = g_strdup_printf("FILE%s", rest);
    }
    g_unlink(path);
    return fabric;
}

static char *
written(const Fabric *fabric)
{
    g_autofree char *path = temporary();
    char *text;
    GError *error = NULL;
    ck_assert_msg(graphml_write(fabric, path, &error), "%s", error ? error->message : "");
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    g_unlink(path);
    return text;
}

static gboolean
same_double(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void
expect_same_node(const Node *a, const Node *b)
{
    ck_assert_str_eq(a->name, b->name);
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert_str_eq(a->region, b->region);
    ck_assert_str_eq(a->building, b->building);
    ck_assert_str_eq(a->zone, b->zone);
    ck_assert_str_eq(a->rack, b->rack);
    ck_assert_str_eq(a->server, b->server);
    ck_assert_int_eq(a->rail, b->rail);
    ck_assert_str_eq(a->gpu, b->gpu);
    ck_assert(same_double(a->peak_FLOPps, b->peak_FLOPps));
    ck_assert(same_double(a->memory_bandwidth_Bps, b->memory_bandwidth_Bps));
    ck_assert_uint_eq(a->memory_B, b->memory_B);
}

static void
expect_same_link(const Link *a, const Link *b)
{
    ck_assert_uint_eq(a->src, b->src);
    ck_assert_uint_eq(a->dst, b->dst);
    ck_assert_int_eq(a->kind, b->kind);
    ck_assert(same_double(a->capacity_Bps, b->capacity_Bps));
    ck_assert_int_eq(a->latency_ps, b->latency_ps);
    ck_assert(same_double(a->length_km, b->length_km));
    ck_assert_uint_eq(a->buffer_B, b->buffer_B);
    ck_assert(same_double(a->loss, b->loss));
    ck_assert_uint_eq(a->ecn_kmin_B, b->ecn_kmin_B);
    ck_assert_uint_eq(a->ecn_kmax_B, b->ecn_kmax_B);
    ck_assert(same_double(a->ecn_pmax, b->ecn_pmax));
    ck_assert_str_eq(a->source, b->source);
}

static void
expect_same(const Fabric *a, const Fabric *b)
{
    ck_assert_str_eq(fabric_name(a), fabric_name(b));
    ck_assert_int_eq(fabric_forward(a), fabric_forward(b));
    ck_assert_uint_eq(fabric_n_nodes(a), fabric_n_nodes(b));
    ck_assert_uint_eq(fabric_n_links(a), fabric_n_links(b));
    for (uint32_t i = 0; i < fabric_n_nodes(a); i++)
        expect_same_node(fabric_node(a, i), fabric_node(b, i));
    for (uint32_t i = 0; i < fabric_n_links(a); i++)
        expect_same_link(fabric_link(a, i), fabric_link(b, i));
}

/* ---- random fabrics ---- */

/* Any finite double above 0: random bits. */
static double
any_double(Random *random)
{
    double value;
    do {
        uint64_t bits = random_next(random) >> 1;
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value) || value == 0);
    return value;
}

static const char *
any_text(Random *random)
{
    static const char *const texts[] = {
        "",    "a",     "<&>\"'",           " two  blanks ", "tab\tand\nline\rend", "M\303\274nchen",
        "]]>", "&amp;", "\360\237\232\202", "a/b/0"};
    return texts[random_below(random, G_N_ELEMENTS(texts))];
}

static Link
any_link(Random *random, uint32_t n_nodes)
{
    Link link = link_default();
    link.src = (uint32_t)random_below(random, n_nodes);
    link.dst = (link.src + 1 + (uint32_t)random_below(random, n_nodes - 1)) % n_nodes;
    link.kind = (LinkKind)random_below(random, LINK_KINDS);
    do
        link.capacity_Bps = any_double(random);
    while (link.capacity_Bps > LINK_MAX_Bps);
    link.latency_ps = (SimTime)random_below(random, (uint64_t)(LINK_MAX_LATENCY_PS >> random_below(random, 50)) + 1);
    link.length_km = random_below(random, 2) ? NAN : any_double(random);
    link.buffer_B = random_next(random) >> random_below(random, 64);
    link.loss = random_unit(random);
    link.ecn_kmin_B = random_next(random) >> 40;
    link.ecn_kmax_B = UINT64_MAX - (random_next(random) >> 60);
    link.ecn_pmax = random_unit(random);
    link.source = any_text(random);
    return link;
}

static Fabric *
any_fabric(Random *random, gboolean cables_only)
{
    Fabric *fabric = fabric_new();
    uint32_t n_nodes = 2 + (uint32_t)random_below(random, 20);
    fabric_set_name(fabric, any_text(random));
    fabric_set_forward(fabric, (ForwardMode)random_below(random, FORWARD_MESH + 1));
    for (uint32_t i = 0; i < n_nodes; i++) {
        g_autofree char *name = g_strdup_printf("%s%u", any_text(random), i);
        Node node = {name, (NodeKind)random_below(random, NODE_KINDS)};
        node.region = any_text(random);
        node.building = any_text(random);
        node.zone = any_text(random);
        node.rack = any_text(random);
        node.server = any_text(random);
        node.gpu = any_text(random);
        node.rail = (int32_t)random_below(random, 5) - 1;
        node.peak_FLOPps = random_below(random, 2) ? 0 : any_double(random);
        node.memory_bandwidth_Bps = any_double(random);
        node.memory_B = random_next(random) >> random_below(random, 64);
        ck_assert_uint_ne(fabric_add_node(fabric, &node, NULL), INDEX_NONE);
    }
    for (uint64_t i = random_below(random, 40); i > 0; i--) {
        Link link = any_link(random, n_nodes);
        GError *error = NULL;
        uint32_t added = cables_only || random_below(random, 2) ? fabric_add_cable(fabric, &link, &error)
                                                                : fabric_add_link(fabric, &link, &error);
        ck_assert_msg(added != INDEX_NONE, "%s", error ? error->message : "");
    }
    ck_assert(fabric_seal(fabric, NULL));
    return fabric;
}

START_TEST(what_is_written_is_read_back_to_the_last_bit)
{
    Random random = random_named((uint64_t)_i, "graphml");
    g_autoptr(Fabric) fabric = any_fabric(&random, _i % 2 == 0);
    g_autofree char *first = written(fabric);
    GError *error = NULL;
    g_autoptr(Fabric) back = read_text(first, strlen(first), NULL, &error);
    ck_assert_msg(back != NULL, "seed %d: %s", _i, error ? error->message : "");
    expect_same(fabric, back);
    g_autofree char *second = written(back);
    ck_assert_str_eq(first, second);
    if (_i % 2 == 0)
        ck_assert_ptr_nonnull(strstr(first, "edgedefault=\"undirected\""));
}
END_TEST

static Fabric *
generated(void)
{
    GenerateSpec *spec = generate_spec_new();
    spec->server.nvlink_rate_Bps = 450e9;
    spec->server.nic_rate_Bps = 50e9;
    spec->zone.servers = 64;
    spec->zone.network = ZONE_CLOS3;
    Fabric *fabric = generate_fabric(spec, NULL);
    generate_spec_free(spec);
    ck_assert_ptr_nonnull(fabric);
    return fabric;
}

START_TEST(a_generated_fabric_is_read_back_also_gzipped)
{
    g_autoptr(Fabric) fabric = generated();
    g_autofree char *text = written(fabric), *path = temporary();
    g_autoptr(Fabric) plain = read_text(text, strlen(text), NULL, NULL);
    ck_assert_ptr_nonnull(plain);
    expect_same(fabric, plain);
    gzFile zip = gzopen(path, "wb");
    ck_assert_int_eq(gzwrite(zip, text, (unsigned)strlen(text)), (int)strlen(text));
    ck_assert_int_eq(gzclose(zip), Z_OK);
    g_autoptr(Fabric) packed = graphml_read(path, NULL, NULL);
    ck_assert_ptr_nonnull(packed);
    expect_same(fabric, packed);
    g_unlink(path);
}
END_TEST

/* The attribute of the same name in igraph's table. */
static void
expect_igraph_same(const igraph_t *graph, const Fabric *fabric)
{
    for (uint32_t i = 0; i < fabric_n_nodes(fabric); i++) {
        const Node *node = fabric_node(fabric, i);
        ck_assert_str_eq(VAS(graph, "name", i), node->name);
        ck_assert_str_eq(VAS(graph, "kind", i), node_kind_name(node->kind));
        ck_assert_str_eq(VAS(graph, "server", i), node->server);
        if (node->rail >= 0)
            ck_assert_double_eq(VAN(graph, "rail", i), node->rail);
    }
    for (igraph_integer_t i = 0; i < igraph_ecount(graph); i++) {
        const Link *link = fabric_link(fabric, (uint32_t)i * 2);
        igraph_integer_t from, to;
        ck_assert_int_eq(igraph_edge(graph, i, &from, &to), IGRAPH_SUCCESS);
        /* igraph keeps the ends of an undirected edge in falling order. */
        ck_assert_uint_eq((uint32_t)MIN(from, to), MIN(link->src, link->dst));
        ck_assert_uint_eq((uint32_t)MAX(from, to), MAX(link->src, link->dst));
        ck_assert_str_eq(EAS(graph, "kind", i), link_kind_name(link->kind));
        ck_assert_double_eq(EAN(graph, "capacity_Bps", i), link->capacity_Bps);
        ck_assert_double_eq(EAN(graph, "latency_ps", i), (double)link->latency_ps);
    }
}

START_TEST(igraph_reads_the_same)
{
    igraph_set_attribute_table(&igraph_cattribute_table);
    g_autoptr(Fabric) fabric = generated();
    g_autofree char *path = temporary();
    ck_assert(graphml_write(fabric, path, NULL));
    FILE *file = fopen(path, "r");
    igraph_t graph;
    ck_assert_int_eq(igraph_read_graph_graphml(&graph, file, 0), IGRAPH_SUCCESS);
    fclose(file);
    g_unlink(path);
    ck_assert_int_eq(igraph_vcount(&graph), fabric_n_nodes(fabric));
    ck_assert_int_eq(igraph_ecount(&graph), fabric_n_links(fabric) / 2);
    ck_assert(!igraph_is_directed(&graph));
    expect_igraph_same(&graph, fabric);

    /* And what igraph writes is read here: it says double for every number. */
    g_autofree char *theirs = temporary();
    file = fopen(theirs, "w");
    ck_assert_int_eq(igraph_write_graph_graphml(&graph, file, TRUE), IGRAPH_SUCCESS);
    fclose(file);
    igraph_destroy(&graph);
    GError *error = NULL;
    g_autofree char *bytes = NULL;
    ck_assert(g_file_get_contents(theirs, &bytes, NULL, NULL));
    g_unlink(theirs);
    g_autoptr(Fabric) back = read_text(bytes, strlen(bytes), NULL, &error);
    ck_assert_msg(back != NULL, "%s", error ? error->message : "");
    expect_same(fabric, back);
}
END_TEST

/* ---- by hand ---- */

#define HEAD                                                                                                           \
    "<?xml version=\"1.0\"?>\n<graphml>\n<key id=\"k\" for=\"all\" attr.name=\"kind\" attr.type=\"string\"/>\n"        \
    "<key id=\"c\" for=\"edge\" attr.name=\"capacity_Bps\" attr.type=\"double\"/>\n"                                   \
    "<key id=\"l\" for=\"edge\" attr.name=\"latency_ps\" attr.type=\"long\"/>\n"                                       \
    "<key id=\"m\" for=\"node\" attr.name=\"memory_B\" attr.type=\"long\"/>\n"                                         \
    "<key id=\"r\" for=\"node\" attr.name=\"rail\" attr.type=\"int\"/>\n"
#define GRAPH HEAD "<graph edgedefault=\"undirected\">\n"
#define NODES "<node id=\"a\"><data key=\"k\">gpu</data></node>\n<node id=\"b\"><data key=\"k\">leaf</data></node>\n"
#define EDGE "<edge source=\"a\" target=\"b\"><data key=\"k\">ethernet</data><data key=\"c\">1e9</data></edge>\n"
#define TAIL "</graph>\n</graphml>\n"

START_TEST(a_small_file_is_read_with_its_defaults_and_notes)
{
    const char *text =
        "\xef\xbb\xbf<?xml version=\"1.0\"?>\r\n<!-- by hand -->\r\n<graphml>\r\n"
        "<key id=\"n\" for=\"all\" attr.name=\"name\" attr.type=\"string\"/>\r\n"
        "<key id=\"k\" for=\"node\" attr.name=\"kind\"><default>leaf</default></key>\r\n"
        "<key id=\"ek\" for=\"edge\" attr.name=\"kind\"><default>ethernet</default></key>\r\n"
        "<key id=\"c\" for=\"edge\" attr.name=\"capacity_Bps\" attr.type=\"float\"/>\r\n"
        "<key id=\"l\" for=\"edge\" attr.name=\"latency_ps\" attr.type=\"double\"/>\r\n"
        "<key id=\"km\" for=\"edge\" attr.name=\"length_km\" attr.type=\"double\"/>\r\n"
        "<key id=\"x\" for=\"node\" attr.name=\"colour\" attr.type=\"string\"/>\r\n"
        "<key id=\"f\" for=\"graph\" attr.name=\"forward\" attr.type=\"string\"/>\r\n"
        "<key id=\"y\" for=\"node\" yfiles.type=\"nodegraphics\"/>\r\n"
        "<graph edgedefault=\"directed\"><data key=\"n\">hand</data>\r\n"
        "<edge source=\"a\" target=\"b\"><data key=\"c\"> 1e9 </data><data key=\"l\">2e3</data></edge>\r\n"
        "<node id=\"a\"><data key=\"k\">host</data><data key=\"x\">red</data></node>\r\n"
        "<node id=\"b\"><desc>any <b>thing</b></desc><data key=\"n\">the leaf</data>\r\n"
        "<data key=\"y\"><Shape kind=\"&lt;\">4</Shape></data></node>\r\n"
        "<edge source=\"b\" target=\"a\" directed=\"false\"><data key=\"c\">2</data><data key=\"km\">40</data>"
        "</edge>\r\n<edge source=\"b\" target=\"a\"><data key=\"c\">3</data></edge>\r\n"
        "<data key=\"f\">pxn</data></graph></graphml>\r\n";
    GError *error = NULL;
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = read_text(text, strlen(text), &notes, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(fabric_name(fabric), "hand");
    ck_assert_int_eq(fabric_forward(fabric), FORWARD_PXN);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 2);
    ck_assert_str_eq(fabric_node(fabric, 0)->name, "a");
    ck_assert_int_eq(fabric_node(fabric, 0)->kind, NODE_HOST);
    ck_assert_str_eq(fabric_node(fabric, 1)->name, "the leaf");
    ck_assert_int_eq(fabric_node(fabric, 1)->kind, NODE_LEAF);
    ck_assert_uint_eq(fabric_n_links(fabric), 4);
    static const struct {
        uint32_t src;
        double capacity_Bps;
        SimTime latency_ps;
    } want[] = {{0, 1e9, 2000}, {1, 2, 200 * PS_PER_US}, {0, 2, 200 * PS_PER_US}, {1, 3, 0}};
    for (uint32_t i = 0; i < 4; i++) {
        const Link *link = fabric_link(fabric, i);
        ck_assert_uint_eq(link->src, want[i].src);
        ck_assert_double_eq(link->capacity_Bps, want[i].capacity_Bps);
        ck_assert_int_eq(link->latency_ps, want[i].latency_ps);
        ck_assert_str_eq(link->source, "file");
    }
    ck_assert_ptr_nonnull(strstr(notes, "attribute \"colour\" is ignored (given 1 times)\n"));
    ck_assert_ptr_nonnull(strstr(notes, "attribute \"y\" is ignored (given 1 times)\n"));
    ck_assert_ptr_nonnull(strstr(notes, "latency of 1 edges set to 5 us per km of length_km\n"));
    ck_assert_ptr_nonnull(strstr(notes, "latency of 1 edges set to 0: no latency_ps, no length_km\n"));
}
END_TEST

#define NODE_KINDS_TEXT "gpu, nvswitch, pcie, nic, leaf, spine, core, dci, storage or host"
static const struct {
    const char *text, *message;
} refused[] = {
    {GRAPH NODES EDGE TAIL, NULL}, /* what the others spoil */
    {GRAPH NODES "<edge source=\"a\" target=\"c\"><data key=\"k\">pcie</data><data key=\"c\">1</data></edge>" TAIL,
     "FILE:11: edge \"a\" to \"c\": there is no node \"c\""},
    {GRAPH NODES "<node id=\"a\"><data key=\"k\">gpu</data></node>" TAIL,
     "FILE:11: node \"a\" is declared twice, first in line 9"},
    {GRAPH "<node id=\"a\"/>" TAIL, "FILE:9: node \"a\": kind is missing"},
    {GRAPH "<node id=\"a\"><data key=\"k\">router</data></node>" TAIL,
     "FILE:9: node \"a\": kind is \"router\", expected " NODE_KINDS_TEXT},
    {GRAPH "<node id=\"a\"><data key=\"z\">gpu</data></node>" TAIL, "FILE:9: node \"a\": key \"z\" is not declared"},
    {GRAPH "<node id=\"a\"><data key=\"c\">1</data></node>" TAIL,
     "FILE:9: node \"a\": key \"c\" (capacity_Bps) is not declared for a node"},
    {GRAPH "<node id=\"a\"><data key=\"k\">gpu</data><data key=\"k\">nic</data></node>" TAIL,
     "FILE:9: node \"a\": kind (key \"k\") is given twice"},
    {GRAPH "<node id=\"a\"><data>gpu</data></node>" TAIL, "FILE:9: node \"a\": a data element has no key"},
    {GRAPH "<node><data key=\"k\">gpu</data></node>" TAIL, "FILE:9: a node has no id"},
    {GRAPH "<node id=\"a\"><data key=\"m\">-1</data></node>" TAIL,
     "FILE:9: node \"a\": memory_B is \"-1\", expected a whole number, 0 to 18446744073709551615"},
    {GRAPH "<node id=\"a\"><data key=\"m\">18446744073709551616</data></node>" TAIL,
     "memory_B is \"18446744073709551616\", expected a whole number, 0 to 18446744073709551615"},
    {GRAPH "<node id=\"a\"><data key=\"m\">0.5</data></node>" TAIL, "memory_B is \"0.5\", expected a whole number"},
    {GRAPH "<node id=\"a\"><data key=\"m\">9007199254740994.0</data></node>" TAIL,
     "memory_B is \"9007199254740994.0\", expected a whole number"},
    {GRAPH "<node id=\"a\"><data key=\"m\"/></node>" TAIL, "memory_B is \"\", expected a whole number"},
    {GRAPH "<node id=\"a\"><data key=\"r\">2147483648</data></node>" TAIL,
     "rail is \"2147483648\", expected a whole number, 0 to 2147483647"},
    {GRAPH "<node id=\"a\"><data key=\"r\">-1</data></node>" TAIL, "rail is \"-1\", expected a whole number"},
    {GRAPH "<node id=\"a\"><data key=\"r\"><b>1</b></data></node>" TAIL,
     "FILE:9: node \"a\": rail holds an element, expected text"},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"k\">ethernet</data></edge>" TAIL,
     "FILE:11: edge \"a\" to \"b\": capacity_Bps is missing"},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"c\">1</data></edge>" TAIL,
     "FILE:11: edge \"a\" to \"b\": kind is missing"},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"k\">gpu</data></edge>" TAIL,
     "kind is \"gpu\", expected nvlink, pcie, ethernet, infiniband, interbuilding or interregion"},
    {GRAPH NODES "<edge source=\"a\" target=\"b\">\n<data key=\"c\">\nNaN</data></edge>" TAIL,
     "FILE:13: edge \"a\" to \"b\": capacity_Bps is \"\nNaN\", expected a finite number, 0 or more"},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"c\">inf</data></edge>" TAIL, "capacity_Bps is \"inf\""},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"c\">0x10</data></edge>" TAIL, "capacity_Bps is \"0x10\""},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"c\">1e999</data></edge>" TAIL,
     "capacity_Bps is \"1e999\""},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"c\">-5</data></edge>" TAIL, "capacity_Bps is \"-5\""},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"c\">400 Gb/s</data></edge>" TAIL,
     "capacity_Bps is \"400 Gb/s\", expected a finite number, 0 or more"},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"k\">pcie</data><data key=\"c\">0</data></edge>" TAIL,
     "FILE:11: link \"a\" to \"b\": capacity_Bps is 0, expected a finite number above 0"},
    {GRAPH NODES "<edge source=\"a\" target=\"a\"><data key=\"k\">pcie</data><data key=\"c\">1</data></edge>" TAIL,
     "FILE:11: link \"a\" to \"a\": a link joins two different nodes"},
    {GRAPH NODES "<edge source=\"a\" target=\"b\"><data key=\"l\">9223372036854775808</data></edge>" TAIL,
     "latency_ps is \"9223372036854775808\", expected a whole number of picoseconds, 0 to 9223372036854775807"},
    {GRAPH NODES "<edge source=\"a\"/>" TAIL, "FILE:11: an edge has no target"},
    {GRAPH NODES "<edge id=\"e\" source=\"a\" target=\"b\"><data key=\"k\">pcie</data><data key=\"c\">1</data></edge>"
                 "<edge id=\"e\" source=\"a\" target=\"b\"/>" TAIL,
     "FILE:11: edge \"e\" is declared twice"},
    {GRAPH NODES "<edge source=\"a\" target=\"b\" directed=\"yes\"/>" TAIL,
     "edge \"a\" to \"b\": directed is \"yes\", expected true or false"},
    {GRAPH "<node id=\"a\"><graph edgedefault=\"directed\"/></node>" TAIL,
     "FILE:9: <graph> in node: graphs within a graph are not read"},
    {GRAPH "<hyperedge/>" TAIL, "FILE:9: <hyperedge> in graph: hyperedges are not read"},
    {GRAPH "<nod id=\"a\"/>" TAIL, "FILE:9: <nod> in graph is not GraphML"},
    {GRAPH TAIL, "FILE: the fabric has no nodes"},
    {GRAPH "</graph><graph edgedefault=\"directed\"/></graphml>", "FILE:9: a second graph; a fabric is one"},
    {HEAD "<graph>" TAIL, "FILE:8: edgedefault of the graph is missing, expected directed or undirected"},
    {HEAD "<graph edgedefault=\"both\">" TAIL, "edgedefault of the graph is \"both\", expected directed or undirected"},
    {HEAD "<key id=\"k\" for=\"node\"/>" TAIL, "FILE:8: key \"k\" is declared twice"},
    {HEAD "<key for=\"node\"/>" TAIL, "FILE:8: a key has no id"},
    {HEAD "<key id=\"k2\" for=\"node\" attr.name=\"kind\"/>" TAIL,
     "FILE:8: key \"k2\": kind of a node has the key \"k\" already"},
    {HEAD "<key id=\"o\" for=\"edge\" attr.name=\"loss\" attr.type=\"string\"/>" TAIL,
     "FILE:8: key \"o\": attr.type of loss is \"string\", expected double"},
    {HEAD "<key id=\"o\" for=\"edge\" attr.name=\"loss\" attr.type=\"real\"/>" TAIL,
     "key \"o\": attr.type is \"real\", expected boolean, int, long, float, double or string"},
    {HEAD "<key id=\"o\" for=\"edges\"/>" TAIL, "key \"o\": for is \"edges\", expected all, graph, node or edge"},
    {HEAD
     "<key id=\"o\" for=\"edge\" attr.name=\"length_km\" attr.type=\"double\"/><graph edgedefault=\"directed\">" NODES
     "<edge source=\"a\" target=\"b\"><data key=\"k\">pcie</data><data key=\"c\">1</data><data key=\"o\">1e30</data>"
     "</edge>" TAIL,
     "FILE:10: edge \"a\" to \"b\": length_km is 1e+30, expected less than 106 light-days"},
    {HEAD "</graphml>", "FILE: there is no <graph> in it"},
    {"<svg/>", "FILE:1: the file begins with <svg>, expected <graphml>"},
    {"{\"nodes\": []}", "FILE:1: not well-formed XML: Document is empty"},
    {GRAPH NODES "<edge source=\"a\" ", "FILE:11: not well-formed XML: "},
    {GRAPH NODES, "FILE:10: not well-formed XML: the file ends early"},
    {GRAPH "<node id=\"a\" id=\"b\"/>" TAIL, "FILE:9: not well-formed XML: Attribute id redefined"},
    {GRAPH "<node id=\"&lol;\"/>" TAIL, "FILE:9: not well-formed XML: Entity 'lol' not defined"},
    {"<!DOCTYPE graphml [<!ENTITY a \"aaaa\">\n<!ENTITY b \"&a;&a;&a;&a;\">]>\n" GRAPH TAIL,
     "FILE:1: entity \"a\" is declared; entities are not read"},
    {"", "FILE: is empty"},
};

START_TEST(faults_are_named_with_their_line)
{
    GError *error = NULL;
    g_autoptr(Fabric) fabric = read_text(refused[_i].text, strlen(refused[_i].text), NULL, &error);
    if (refused[_i].message == NULL) {
        ck_assert_msg(fabric != NULL, "case %d: %s", _i, error ? error->message : "");
        return;
    }
    ck_assert_msg(fabric == NULL, "case %d is read", _i);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, refused[_i].message);
}
END_TEST

START_TEST(a_file_cut_anywhere_is_refused)
{
    const char *text = GRAPH NODES EDGE TAIL;
    size_t length = strlen(text) - 1; /* without the last newline it is whole */
    for (size_t cut = 0; cut < length; cut++) {
        GError *error = NULL;
        g_autoptr(Fabric) fabric = read_text(text, cut, NULL, &error);
        ck_assert_msg(fabric == NULL, "cut after %zu bytes", cut);
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, "FILE");
    }
}
END_TEST

/* libxml2's own line of an element stops at 65535. */
START_TEST(lines_are_counted_beyond_65535)
{
    GString *text = g_string_new(GRAPH);
    for (int i = 0; i < 70000; i++)
        g_string_append_printf(text, "<node id=\"n%d\"><data key=\"k\">host</data></node>\n", i);
    g_string_append(text, "<node id=\"bad\"/>" TAIL);
    GError *error = NULL;
    ck_assert_ptr_null(read_text(text->str, text->len, NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "FILE:70009: node \"bad\": kind is missing");
    g_string_free(text, TRUE);
}
END_TEST

START_TEST(what_cannot_be_written_leaves_nothing_behind)
{
    g_autoptr(Fabric) fabric = fabric_new();
    Node node = node_default();
    node.name = "bell\a";
    fabric_add_node(fabric, &node, NULL);
    ck_assert(fabric_seal(fabric, NULL));
    g_autofree char *path = temporary(), *kept = NULL;
    ck_assert(g_file_set_contents(path, "old", 3, NULL));
    GError *error = NULL;
    ck_assert(!graphml_write(fabric, path, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "node 0: name \"bell\\007\" holds what XML can't: a control character or no UTF-8");
    ck_assert(g_file_get_contents(path, &kept, NULL, NULL));
    ck_assert_str_eq(kept, "old");
    g_unlink(path);
    g_autoptr(Fabric) good = generated();
    ck_assert(!graphml_write(good, "/tmp/trainshed-no-such-folder/x", &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "/tmp/trainshed-no-such-folder/x: cannot be made: No such file or directory");
    ck_assert_ptr_null(graphml_read("/tmp/trainshed-no-such-folder/x", NULL, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "/tmp/trainshed-no-such-folder/x");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("graphml");
    TCase *tc = tcase_create("graphml");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, what_is_written_is_read_back_to_the_last_bit, 0, 60);
    tcase_add_test(tc, a_generated_fabric_is_read_back_also_gzipped);
    tcase_add_test(tc, igraph_reads_the_same);
    tcase_add_test(tc, a_small_file_is_read_with_its_defaults_and_notes);
    tcase_add_loop_test(tc, faults_are_named_with_their_line, 0, G_N_ELEMENTS(refused));
    tcase_add_test(tc, a_file_cut_anywhere_is_refused);
    tcase_add_test(tc, lines_are_counted_beyond_65535);
    tcase_add_test(tc, what_cannot_be_written_leaves_nothing_behind);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
