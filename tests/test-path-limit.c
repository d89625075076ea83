/* test-path-limit.c - rates on long and lossy ways, by hand */
#include "network_fixture.h"

static Fixture f;

/* x - a - b - y at 1 GB/s; a to b takes 50 us and loses `loss` of the packets each way. */
static void
long_way(LinkKind kind, double loss, uint32_t *x, uint32_t *y)
{
    fixture_begin(&f);
    *x = fixture_node(&f, NODE_HOST, "x");
    *y = fixture_node(&f, NODE_HOST, "y");
    uint32_t a = fixture_node(&f, NODE_DCI, "a"), b = fixture_node(&f, NODE_DCI, "b");
    fixture_cable(&f, *x, a, 1e9, 0);
    fixture_cable(&f, b, *y, 1e9, 0);
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = kind;
    link.capacity_Bps = 1e9;
    link.latency_ps = 50 * PS_PER_US;
    link.loss = loss;
    ck_assert_uint_ne(fabric_add_cable(f.fabric, &link, NULL), INDEX_NONE);
}

/* Round trip 100 us: 100 packets of 1000 B fill it, and 101 are on their way when a loss comes to be known.
 * Go-back-N at p = 0.01: 0.99 / (0.99 + 1.01) = 0.495. A window of 50 packets: 0.5 GB/s x 0.99 / (0.99 + 0.5). */
static const struct {
    LossRecovery recovery;
    double loss;
    uint64_t window_B;
    uint32_t queue_pairs;
    double rate_Bps;
    uint64_t in_flight_B, message_B;
} limits[] = {
    {LOSSES_IGNORED, 0, 0, 1, 1e9},
    {LOSSES_IGNORED, 0.01, 0, 1, 1e9},
    {LOSSES_IGNORED, 0, 100000, 1, 1e9}, /* the bandwidth-delay product */
    {LOSSES_IGNORED, 0, 50000, 1, 0.5e9},
    {LOSSES_IGNORED, 0, 25000, 3, 0.75e9},
    {LOSSES_IGNORED, 0, 25000, 8, 1e9},
    {LOSSES_GO_BACK_N, 0, 0, 1, 1e9},
    {LOSSES_GO_BACK_N, 0.01, 0, 1, 0.495e9},
    {LOSSES_GO_BACK_N, 0.01, 50000, 1, 0.5e9 * 0.99 / 1.49},
    {LOSSES_GO_BACK_N, 0.01, 50000, 2, 1e9 * 0.99 / 1.49},
    {LOSSES_SELECTIVE_REPEAT, 0.01, 0, 1, 0.99e9},
    {LOSSES_SELECTIVE_REPEAT, 0.01, 50000, 1, 0.495e9},
    /* All queue pairs together. */
    {LOSSES_IGNORED, 0, 25000, 8, 0.3e9, .in_flight_B = 30000},
    {LOSSES_IGNORED, 0, 0, 8, 0.3e9, .in_flight_B = 30000},
    /* Messages of 10 us on the line: each holds its place for 110 us. Two of them, though 25000 B might be out; one at
     * least; three over four queue pairs; eleven fill the line. */
    {LOSSES_IGNORED, 0, 25000, 1, 20000 / 110e-6, .message_B = 10000},
    {LOSSES_IGNORED, 0, 5000, 1, 10000 / 110e-6, .message_B = 10000},
    {LOSSES_IGNORED, 0, 20000, 4, 30000 / 110e-6, .in_flight_B = 30000, .message_B = 10000},
    {LOSSES_IGNORED, 0, 110000, 1, 1e9, .message_B = 10000},
    {LOSSES_SELECTIVE_REPEAT, 0.01, 25000, 1, 20000 / 110e-6 * 0.99, .message_B = 10000},
};

START_TEST(a_transfer_has_the_rate_by_hand)
{
    static const char *const models[] = {"fluid", "analytic"};
    for (uint32_t m = 0; m < 2; m++) {
        uint32_t x, y;
        long_way(LINK_ETHERNET, limits[_i].loss, &x, &y);
        f.config.limits[PATH_NETWORK] = (PathLimit){.window_B = limits[_i].window_B,
                                                    .queue_pairs = limits[_i].queue_pairs,
                                                    .recovery = limits[_i].recovery,
                                                    .packet_B = 1000,
                                                    .in_flight_B = limits[_i].in_flight_B,
                                                    .message_B = limits[_i].message_B};
        fixture_network(&f, models[m], ROUTING_ECMP);
        Transfer t = fixture_transfer(&f, x, y, 1000000000);
        fixture_send(&f, &t, 0);
        fixture_run(&f);
        double right = 1e9 / limits[_i].rate_Bps * PS_PER_S;
        ck_assert_double_eq_tol((double)f.sent[0], right, 1e-9 * right);
        ck_assert_int_eq(f.delivered[0], f.sent[0] + 50 * PS_PER_US);
        fixture_end(&f);
    }
}
END_TEST

/* The widest link on the way decides which level's limit holds; NVLink and PCIe have none. */
START_TEST(limits_hold_by_level)
{
    static const struct {
        LinkKind kind;
        double rate_Bps;
    } levels[] = {
        {LINK_ETHERNET, 0.1e9}, {LINK_INFINIBAND, 0.1e9}, {LINK_INTERBUILDING, 0.2e9}, {LINK_INTERREGION, 0.3e9}};
    for (size_t i = 0; i < G_N_ELEMENTS(levels); i++) {
        uint32_t x, y;
        long_way(levels[i].kind, 0, &x, &y);
        for (uint32_t level = 0; level < PATH_LEVELS; level++)
            f.config.limits[level].window_B = 10000 * (level + 1);
        fixture_network(&f, "fluid", ROUTING_ECMP);
        Transfer t = fixture_transfer(&f, x, y, 1);
        NetworkProbe probe;
        ck_assert(network_probe(f.network, &t, &probe, NULL));
        ck_assert_double_eq_tol(probe.rate_Bps, levels[i].rate_Bps, 1);
        fixture_end(&f);
    }
    fixture_begin(&f);
    uint32_t a = fixture_node(&f, NODE_GPU, "a"), b = fixture_node(&f, NODE_GPU, "b");
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = LINK_NVLINK;
    link.capacity_Bps = 1e9;
    link.latency_ps = PS_PER_MS;
    fabric_add_cable(f.fabric, &link, NULL);
    f.config.limits[PATH_NETWORK].window_B = 1;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, a, b, 1);
    NetworkProbe probe;
    ck_assert(network_probe(f.network, &t, &probe, NULL));
    ck_assert_double_eq(probe.rate_Bps, 1e9);
    fixture_end(&f);
}
END_TEST

/* Two limited transfers leave room for a third: 0.2 + 0.2 of 1 GB/s, whatever the third could take. */
START_TEST(what_a_window_leaves_others_take)
{
    uint32_t x, y;
    long_way(LINK_INTERBUILDING, 0, &x, &y);
    f.config.limits[PATH_BUILDINGS].window_B = 20000;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, x, y, 200000000);
    for (uint32_t i = 0; i < 5; i++)
        fixture_send(&f, &t, i);
    for (uint32_t i = 5; i < 10; i++)
        fixture_send_at(&f, 2 * PS_PER_S, &t, i);
    fixture_send_at(&f, 2 * PS_PER_S, &t, 10); /* six of them: 1/6 each */
    fixture_run(&f);
    for (uint32_t i = 0; i < 11; i++)
        ck_assert_double_eq_tol((double)f.sent[i], i < 5 ? 1e12 : 3.2e12, 1e4);
    fixture_end(&f);
}
END_TEST

/* First windows of 10000 B a queue pair, round trip 100 us: 0.1, 0.2, 0.4 and 0.8 GB/s in the first four rounds, then
 * the line's 1 GB/s: 150000 B in 400 us. Under a window of 50000 B at most 0.5 GB/s. */
static const struct {
    uint64_t bytes;
    uint32_t queue_pairs;
    uint64_t window_B;
    double us;
} ramps[] = {
    {1000000, 1, 0, 400 + 850},
    {150000, 1, 0, 400},
    {100000, 1, 0, 300 + 30 / 0.8},
    {30000, 1, 0, 200},
    {5000, 1, 0, 50},
    {1000000, 2, 0, 300 + 860},
    {1000000, 10, 0, 1000},
    {1000000, 1, 50000, 300 + 1860},
};

START_TEST(a_transfer_ramps_up_by_hand)
{
    static const char *const models[] = {"fluid", "analytic"};
    for (uint32_t m = 0; m < 2; m++) {
        uint32_t x, y;
        long_way(LINK_INTERBUILDING, 0, &x, &y);
        f.config.limits[PATH_BUILDINGS].ramp_up_B = 10000;
        f.config.limits[PATH_BUILDINGS].queue_pairs = ramps[_i].queue_pairs;
        f.config.limits[PATH_BUILDINGS].window_B = ramps[_i].window_B;
        fixture_network(&f, models[m], ROUTING_ECMP);
        Transfer t = fixture_transfer(&f, x, y, ramps[_i].bytes);
        fixture_send(&f, &t, 0);
        fixture_send_at(&f, 10 * PS_PER_MS, &t, 1);
        fixture_run(&f);
        double right = ramps[_i].us * PS_PER_US;
        ck_assert_double_eq_tol((double)f.sent[0], right, 1e-9 * right + 1);
        ck_assert_int_eq(f.delivered[0], f.sent[0] + 50 * PS_PER_US);
        ck_assert_double_eq_tol((double)(f.sent[1] - 10 * PS_PER_MS), right, 1e-9 * right + 1);
        ck_assert_uint_eq(fixture_bytes(&f, 0, 0), 2 * ramps[_i].bytes);
        fixture_end(&f);
    }
}
END_TEST

/* One ramps from 0.1 GB/s, the other does not (row 1): they share 0.1 + 0.9, 0.2 + 0.8, 0.4 + 0.6, then halves. The
 * other, 1 MB, ends 770000 B later, at 1840 us; of the first 160000 B are left then: 2000 us. Of another job, it costs
 * that one what it takes: its own ramp costs nobody. */
START_TEST(what_a_ramp_leaves_others_take)
{
    uint32_t x, y;
    long_way(LINK_INTERBUILDING, 0, &x, &y);
    PathLimit rows[1][PATH_LEVELS];
    for (PathLevel level = 0; level < PATH_LEVELS; level++)
        rows[0][level] = path_limit_default();
    f.config.limits[PATH_BUILDINGS].ramp_up_B = 10000;
    f.config.settings = (const PathLimit(*)[PATH_LEVELS])rows;
    f.config.n_settings = 1;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    network_add_job(f.network, "b");
    Transfer t = fixture_transfer(&f, x, y, 1000000);
    fixture_send(&f, &t, 0);
    t.settings = 1;
    t.job = 1;
    fixture_send(&f, &t, 1);
    fixture_run(&f);
    ck_assert_double_eq_tol((double)f.sent[1], 1840e6, 1);
    ck_assert_double_eq_tol((double)f.sent[0], 2000e6, 2);
    /* The first loses while it has half: from 300 us on, of 0.8 for 100 us (3/8), then of 1 (1/2) until 1840 us. */
    ck_assert_double_eq_tol(fixture_lost(&f, 0, 1, INDEX_NONE, LOSS_CONTENTION), 100e-6 * 3 / 8 + 1440e-6 / 2, 1e-12);
    ck_assert_double_eq_tol(fixture_lost(&f, 1, 0, INDEX_NONE, LOSS_CONTENTION), 10e-6 + 20e-6 + 40e-6 + 1540e-6 / 2,
                            1e-12);
    fixture_end(&f);
}
END_TEST

/* Two leaves of which each end has one, two spines; ends at 2 GB/s, uplinks at 1 GB/s. By one path 1 GB/s, over both 2.
 */
START_TEST(a_way_is_one_or_all_as_set)
{
    static const struct {
        RoutingPolicy policy;
        PathSpread spread;
        double rate_Bps;
    } ways[] = {
        {ROUTING_ECMP, PATH_AS_ROUTED, 1e9},  {ROUTING_ECMP, PATH_ONE, 1e9},     {ROUTING_ECMP, PATH_SPRAY, 2e9},
        {ROUTING_DMODK, PATH_SPRAY, 2e9},     {ROUTING_ADAPTIVE, PATH_ONE, 1e9}, {ROUTING_ADAPTIVE, PATH_SPRAY, 2e9},
        {ROUTING_SPRAY, PATH_AS_ROUTED, 2e9}, {ROUTING_SPRAY, PATH_ONE, 1e9},    {ROUTING_SPRAY, PATH_SPRAY, 2e9},
    };
    static const char *const models[] = {"fluid", "analytic", "packet"};
    for (size_t i = 0; i < 3 * G_N_ELEMENTS(ways); i++) {
        const char *model = models[i % 3];
        fixture_begin(&f);
        uint32_t x = fixture_node(&f, NODE_HOST, "x"), y = fixture_node(&f, NODE_HOST, "y");
        uint32_t l = fixture_node(&f, NODE_LEAF, "l"), m = fixture_node(&f, NODE_LEAF, "m");
        fixture_cable(&f, x, l, 2e9, PS_PER_US);
        fixture_cable(&f, m, y, 2e9, PS_PER_US);
        for (uint32_t s = 0; s < 2; s++) {
            uint32_t spine = fixture_node(&f, NODE_SPINE, s == 0 ? "s" : "t");
            fixture_cable(&f, l, spine, 1e9, PS_PER_US);
            fixture_cable(&f, spine, m, 1e9, PS_PER_US);
        }
        f.config.limits[PATH_NETWORK].spread = ways[i / 3].spread;
        f.config.payload_fraction = 4096.0 / 4160;
        fixture_network(&f, model, ways[i / 3].policy);
        Transfer t = fixture_transfer(&f, x, y, 4096 * 2000);
        fixture_send(&f, &t, 0);
        fixture_run(&f);
        double right = 4160 * 2000 / ways[i / 3].rate_Bps * PS_PER_S; /* at least; packets: and their way */
        ck_assert_msg(fabs((double)f.sent[0] - right) <= (i % 3 == 2 ? 0.01 : 1e-9) * right, "%s, case %zu: %g us",
                      model, i / 3, (double)f.sent[0] / PS_PER_US);
        ck_assert_double_eq(fixture_lost_in_all(&f), 0);
        fixture_end(&f);
    }
}
END_TEST

/* Rows hold for the transfers that name them, by level; the rest have the limits. */
START_TEST(a_transfer_has_the_settings_it_names)
{
    static const double rates[] = {0.1e9, 0.2e9, 0.4e9};
    uint32_t x, y;
    long_way(LINK_INTERBUILDING, 0, &x, &y);
    PathLimit rows[2][PATH_LEVELS];
    f.config.limits[PATH_BUILDINGS].window_B = 10000;
    for (uint32_t i = 0; i < 2; i++)
        for (PathLevel level = 0; level < PATH_LEVELS; level++) {
            rows[i][level] = path_limit_default();
            rows[i][level].window_B = level == PATH_BUILDINGS ? 20000 << i : 1;
        }
    f.config.settings = (const PathLimit(*)[PATH_LEVELS])rows;
    f.config.n_settings = 2;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    for (uint32_t row = 0; row < 3; row++) {
        Transfer t = fixture_transfer(&f, x, y, 1000000);
        t.settings = row;
        fixture_send(&f, &t, row);
    }
    fixture_run(&f);
    for (uint32_t row = 0; row < 3; row++)
        ck_assert_double_eq_tol((double)f.sent[row], 1e6 / rates[row] * PS_PER_S, 2);
    fixture_end(&f);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("path-limit");
    TCase *cases = tcase_create("path-limit");
    tcase_add_loop_test(cases, a_transfer_has_the_rate_by_hand, 0, G_N_ELEMENTS(limits));
    tcase_add_test(cases, limits_hold_by_level);
    tcase_add_test(cases, what_a_window_leaves_others_take);
    tcase_add_loop_test(cases, a_transfer_ramps_up_by_hand, 0, G_N_ELEMENTS(ramps));
    tcase_add_test(cases, what_a_ramp_leaves_others_take);
    tcase_add_test(cases, a_way_is_one_or_all_as_set);
    tcase_add_test(cases, a_transfer_has_the_settings_it_names);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
