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
                                                    .packet_B = 1000};
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

int
main(void)
{
    Suite *suite = suite_create("path-limit");
    TCase *cases = tcase_create("path-limit");
    tcase_add_loop_test(cases, a_transfer_has_the_rate_by_hand, 0, G_N_ELEMENTS(limits));
    tcase_add_test(cases, limits_hold_by_level);
    tcase_add_test(cases, what_a_window_leaves_others_take);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
