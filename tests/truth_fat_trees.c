/* truth_fat_trees.c - incast and permutations beside the time of their wires, and the answers of htsim to the same
 *
 * Matrices of ../shared/data/peers/htsim on the trees they were made for: three tiers, full bisection, 1 us a link. */
#include "../bench/fat_tree.h"
#include "../bench/replay.h"
#include "transport_world.h"
#include "truth.h"

#define GBPS 1.25e8

enum { FLOW_B = 2000000, SENDERS = 127, LINKS = 6 }; /* links from host to host over a core */

static WorldRun world;

/* On the wire: packets of at most 4096 B of payload, and the header of each. */
static double
wire_B(const PacketConfig *config, double bytes)
{
    return bytes + ceil(bytes / config->mtu_B) * config->header_B;
}

/* Incast */

typedef struct {
    const char *transport;
    TransportSetting setting; /* key NULL = none */
    gboolean pfc;
    uint32_t mtu_B;     /* 0 = the default */
    SimTime latency_ps; /* of each of four links of a round trip; 0 = 1 us */
} Incast;

static double
incast_us(const Incast *c, PacketTotals *totals)
{
    World incast = {.n = SENDERS,
                    .rate_Bps = 100 * GBPS,
                    .latency_ps = c->latency_ps > 0 ? c->latency_ps : PS_PER_US,
                    .transport = c->transport,
                    .settings = {c->setting}};
    PacketConfig config = packet_config_default();
    config.pfc = c->pfc;
    config.pfc_headroom_B = 1000000;
    if (c->mtu_B > 0)
        config.mtu_B = c->mtu_B;
    world_begin(&world, &incast, &config);
    world_send_all(&world, FLOW_B);
    fixture_run(&world.fixture);
    SimTime last = 0;
    for (uint32_t i = 0; i < SENDERS; i++) {
        ck_assert_msg(world.fixture.delivered[i] > 0, "flow %u has not ended", i);
        last = MAX(last, world.fixture.delivered[i]);
    }
    *totals = network_totals(world.fixture.network).packet;
    world_end(&world);
    return 1e6 * sim_time_seconds(last);
}

/* Two hosts of one leaf to two of another over one spine, no spraying: each receiver pulls at the rate of its link what
 * the spine brings at half of it, so that for each packet that arrives whole another was trimmed; the paper made NDP
 * for fabrics that spray. */
static double
sent_for_arrived(void)
{
    enum { PAIRS = 2 };
    Fixture *f = &world.fixture;
    fixture_begin(f);
    uint32_t spine = fixture_node(f, NODE_SPINE, "spine"), leaves[2], hosts[2][PAIRS];
    for (uint32_t l = 0; l < 2; l++) {
        leaves[l] = fixture_node(f, NODE_LEAF, l == 0 ? "left" : "right");
        fixture_cable(f, leaves[l], spine, 100 * GBPS, PS_PER_US);
        for (uint32_t i = 0; i < PAIRS; i++) {
            g_autofree char *name = g_strdup_printf("host%u-%u", l, i);
            hosts[l][i] = fixture_node(f, NODE_HOST, name);
            fixture_cable(f, leaves[l], hosts[l][i], 100 * GBPS, PS_PER_US);
        }
    }
    f->config.packet.transport = "ndp";
    fixture_network(f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < PAIRS; i++) {
        Transfer transfer = fixture_transfer(f, hosts[0][i], hosts[1][i], 50 * FLOW_B);
        fixture_send(f, &transfer, i);
    }
    fixture_run(f);
    double n = PAIRS * ceil(50.0 * FLOW_B / f->config.packet.mtu_B);
    double sent = n + (double)network_totals(f->network).packet.resent;
    fixture_end(f);
    return sent / n;
}

START_TEST(ndp_sends_twice_where_two_ways_collide)
{
    truth_part("NDP without spraying (`packet`)");
    truth_within(&(TruthRow){"two flows over one link before the last: packets sent for each that arrives",
                             "by hand: each is pulled at C and gets C/2", "", 2, sent_for_arrived()},
                 0.05);
}
END_TEST

START_TEST(an_incast_ends_with_its_last_link)
{
    static const Incast pauses = {"window", {"window", "4 MB"}, TRUE}, trims = {"ndp"};
    const PacketConfig config = packet_config_default();
    double wire_us = SENDERS * wire_B(&config, FLOW_B) / (100 * GBPS) * 1e6;
    ck_assert_double_eq_tol(SENDERS * FLOW_B / (100 * GBPS), 20.32e-3, 1e-12);
    const char *source = "20.32 ms and 489 headers of 64 B a flow";
    PacketTotals totals;
    truth_part("Incast (`packet`): 127 to 1, 2 MB each, one switch, 100 Gb/s");
    double pauses_us = incast_us(&pauses, &totals);
    truth_above(&(TruthRow){"PFC, a window of 4 MB: end", source, "us", wire_us, pauses_us}, 0.01);
    ck_assert_uint_gt(totals.pauses, SENDERS);
    truth_between(&(TruthRow){"the same: dropped", "lossless", "packets", 0, (double)totals.dropped}, 0, 0);
    double trims_us = incast_us(&trims, &totals);
    ck_assert_uint_gt(totals.trimmed, 0);
    truth_above(&(TruthRow){"trimming, NDP: end", source, "us", wire_us, trims_us}, 0.01);
}
END_TEST

/* HPCC aims at eta of the link. With the paper's packets and round trip (1 kB, 13 us, 5.1) it ends so much later; where
 * the window of each of 127 is less than a packet, what a packet tells is old when the next goes. DCQCN: truth_dcqcn.c.
 */
START_TEST(other_transports_take_longer)
{
    static const Incast dcqcn = {"dcqcn", .pfc = TRUE}, hpcc = {"hpcc", .pfc = TRUE},
                        published = {"hpcc", .pfc = TRUE, .mtu_B = 1000, .latency_ps = 3150 * PS_PER_NS};
    PacketConfig config = packet_config_default();
    PacketTotals totals;
    double wire_us = 1e6 * SENDERS * wire_B(&config, FLOW_B) / (100 * GBPS);
    config.mtu_B = published.mtu_B;
    double published_us = 1e6 * SENDERS * wire_B(&config, FLOW_B) / (100 * GBPS);
    truth_part("The same incast under transports that leave room, PFC");
    truth_told(&(TruthRow){"DCQCN: end", "20.32 ms and headers", "us", wire_us, incast_us(&dcqcn, &totals)});
    truth_told(&(TruthRow){"HPCC: end", "20.32 ms and headers, / eta = 0.95", "us", wire_us / 0.95,
                           incast_us(&hpcc, &totals)});
    truth_within(&(TruthRow){"HPCC, packets of 1000 B, round trip 13 us: end", "20.32 ms and headers, / eta = 0.95",
                             "us", published_us / 0.95, incast_us(&published, &totals)},
                 0.02);
}
END_TEST

/* Matrices on trees */

typedef struct {
    const char *file, *name; /* the matrix, and how the answers call it */
    uint32_t pods;
    double Gbps;
    const char *model, *transport, *setting, *value;
    gboolean pfc;
    RoutingPolicy policy;
} Case;

static double
matrix_us(const char *folder, const Case *c)
{
    g_autofree char *path = g_build_filename(folder, c->file, NULL);
    GError *error = NULL;
    g_autoptr(HtsimMatrix) matrix = htsim_matrix_read(path, &error);
    ck_assert_msg(matrix != NULL, "%s", error != NULL ? error->message : "");
    g_autoptr(Fabric) fabric = fat_tree_new(&(FatTree){c->pods / 2, c->pods, c->Gbps * GBPS, PS_PER_US});
    TransportSetting settings[] = {{c->setting, c->value}, {"recovery", "reorder_tolerant"}};
    NetworkConfig config = network_config_default();
    config.books = FALSE;
    config.seed = 1;
    config.packet.transport = c->transport;
    config.packet.pfc = c->pfc;
    config.packet.control_first = TRUE;
    config.packet.settings = c->setting != NULL ? settings : settings + 1;
    config.packet.n_settings = (c->setting != NULL) + (c->policy == ROUTING_SPRAY);
    g_autoptr(Routes) routes = routes_new(fabric, c->policy);
    g_autoptr(Engine) engine = engine_new(1);
    g_autoptr(Network) network = network_new(c->model, &config, routes, engine, NULL, NULL);
    Replay replay;
    replay_begin(&replay, matrix, engine, network);
    ck_assert(engine_run(engine, NULL));
    ck_assert_uint_eq(replay.delivered, matrix->flows->len);
    network_finish(network);
    replay_end(&replay);
    return 1e6 * sim_time_seconds(replay.last_ps);
}

#define PERM_128 "perm_128_2MB.cm", "perm_128_2MB", 8
#define PERM_1024 "perm_1024_2MB.cm", "perm_1024_2MB", 16
#define INCAST "incast_127to1_2MB.cm", "incast_127to1_2MB", 8
#define RING "ring_allreduce_64of128_500kB.cm.gz", "ring_allreduce_64of128_500kB", 8
#define WINDOW "packet", "window", "bdp", "2", FALSE
#define NDP "packet", "ndp", NULL, NULL, FALSE

/* Each once; a short run has the first ones. */
enum { ALWAYS = 3 };
static const Case permutations[] = {
    {PERM_128, 100, WINDOW, ROUTING_SPRAY},  {PERM_128, 400, WINDOW, ROUTING_SPRAY},
    {PERM_128, 100, NDP, ROUTING_SPRAY},     {PERM_128, 400, NDP, ROUTING_SPRAY},
    {PERM_1024, 100, WINDOW, ROUTING_SPRAY}, {PERM_1024, 400, WINDOW, ROUTING_SPRAY},
    {PERM_1024, 400, NDP, ROUTING_SPRAY},
};
static const Case incasts[] = {
    {INCAST, 100, "packet", "window", "window", "4 MB", TRUE, ROUTING_ECMP},
    {INCAST, 100, NDP, ROUTING_SPRAY},
    {INCAST, 100, NDP, ROUTING_ECMP},
};

static char *
name_of(const Case *c)
{
    return g_strdup_printf("%s at %g Gb/s, %s%s%s", c->name, c->Gbps, c->transport, c->pfc ? ", PFC" : "",
                           c->policy == ROUTING_SPRAY ? ", sprayed" : "");
}

START_TEST(matrices_end_when_their_wires_allow)
{
    NEED_SHARED(folder, "data/peers/htsim");
    const PacketConfig config = packet_config_default();
    truth_part("Fat trees of 128 and 1024 hosts (`packet`), 1 us a link");
    for (uint32_t i = 0; i < (support_at_length() ? G_N_ELEMENTS(permutations) : ALWAYS); i++) {
        const Case *c = &permutations[i];
        g_autofree char *name = name_of(c);
        double packet_us = (config.mtu_B + config.header_B) / (c->Gbps * GBPS) * 1e6;
        double alone_us = wire_B(&config, FLOW_B) / (c->Gbps * GBPS) * 1e6 + LINKS * 1 + (LINKS - 1) * packet_us;
        truth_above(&(TruthRow){name, "2 MB and headers on a link, 6 us, 5 packets stored", "us", alone_us,
                                matrix_us(folder, c)},
                    0.1);
    }
    for (uint32_t i = 0; i < G_N_ELEMENTS(incasts); i++) {
        g_autofree char *name = name_of(&incasts[i]);
        double wire_us = SENDERS * wire_B(&config, FLOW_B) / (100 * GBPS) * 1e6;
        truth_above(&(TruthRow){name, "20.32 ms and headers", "us", wire_us, matrix_us(folder, &incasts[i])}, 0.01);
    }
}
END_TEST

/* Other simulators */

/* The number after the name and the rate, in what is said of that transport; README.md of the peers. */
static double
answer_us(const char *text, const char *peer, const char *name, const char *rate)
{
    const char *at = strstr(text, peer);
    ck_assert_msg(at != NULL && (at = strstr(at, name)) != NULL && (at = strstr(at, rate)) != NULL, "%s: %s %s", peer,
                  name, rate);
    double answer = g_ascii_strtod(at + strlen(rate), NULL);
    ck_assert_double_gt(answer, 0);
    return answer;
}

static const struct {
    const char *peer, *name, *rate;
    Case ours;
} answers[] = {
    {"EQDS", "perm_128_2MB", "100G ", {PERM_128, 100, NDP, ROUTING_SPRAY}},
    {"EQDS", "perm_128_2MB", ", 400G ", {PERM_128, 400, NDP, ROUTING_SPRAY}},
    {"EQDS", "incast_127to1_2MB", "100G ", {INCAST, 100, NDP, ROUTING_SPRAY}},
    {"UEC", "perm_128", "100G ", {PERM_128, 100, WINDOW, ROUTING_SPRAY}},
    {"UEC", "incast_127to1", " ", {INCAST, 100, WINDOW, ROUTING_SPRAY}},
    {"EQDS", "perm_1024_2MB", "100G ", {PERM_1024, 100, NDP, ROUTING_SPRAY}},
    {"EQDS", "perm_1024_2MB", ", 400G ", {PERM_1024, 400, NDP, ROUTING_SPRAY}},
    {"UEC", "perm_1024", "200G ", {PERM_1024, 200, WINDOW, ROUTING_SPRAY}},
    {"UEC", "ring_allreduce_64of128_500kB", " ", {RING, 100, WINDOW, ROUTING_SPRAY}},
};

START_TEST(other_simulators_say)
{
    NEED_SHARED(folder, "data/peers/htsim");
    NEED_SHARED(path, "data/peers/README.md");
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    const char *htsim = strstr(text, "## htsim/");
    ck_assert(htsim != NULL);
    truth_beside_part("Beside other simulators: a comparison, not a target (`packet`)");
    for (uint32_t i = 0; i < (support_at_length() ? G_N_ELEMENTS(answers) : ALWAYS); i++) {
        g_autofree char *name = name_of(&answers[i].ours), *peer = g_strdup_printf("htsim, %s", answers[i].peer);
        double theirs = answer_us(htsim, answers[i].peer, answers[i].name, answers[i].rate);
        truth_beside(name, peer, theirs, matrix_us(folder, &answers[i].ours));
    }
}
END_TEST

TCase *
truth_fat_trees(void)
{
    TCase *tcase = tcase_create("fat-trees");
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, ndp_sends_twice_where_two_ways_collide);
    tcase_add_test(tcase, an_incast_ends_with_its_last_link);
    tcase_add_test(tcase, other_transports_take_longer);
    tcase_add_test(tcase, matrices_end_when_their_wires_allow);
    tcase_add_test(tcase, other_simulators_say);
    return tcase;
}
