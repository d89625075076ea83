/* test-packet-limits.c - what is set for long ways, and weights, as packets obey them: times by hand */
#include "packet_fixture.h"

/* a - s - t - b, the middle link 100 us long, `loss` of the packets lost there. A full packet and its ACK take 3 x 1.1
 * + 3 x 0.05 + 204 = 207.45 us there and back. */
static void
long_chain(double loss, uint32_t *a, uint32_t *b)
{
    packets_begin();
    *a = packets_host("a", 0);
    *b = packets_host("b", 0);
    uint32_t s = packets_leaf("s"), t = packets_leaf("t");
    fixture_cable(&f, *a, s, RATE, US);
    fixture_cable(&f, t, *b, RATE, US);
    Link link = link_default();
    link.src = s;
    link.dst = t;
    link.kind = LINK_INTERBUILDING;
    link.capacity_Bps = RATE;
    link.latency_ps = 100 * US;
    link.loss = loss;
    ck_assert_uint_ne(fabric_add_cable(f.fabric, &link, NULL), INDEX_NONE);
}

/* 1000 packets of 1000 B. With 20 out a packet leaves as the ACK of the 20th before it comes: 50 rounds; the last
 * begins 49 x 207.45 us after the first, takes 20 x 1.1, and its last packet 2 x 1.1 + 102 more. Four messages of 5
 * packets are 20 packets too, but a place is free only when the fifth ACK comes: rounds of 207.45 + 4.4 us. One packet,
 * though half might be out: 1000 rounds. */
static const struct {
    uint64_t window_B, in_flight_B, message_B;
    uint32_t queue_pairs;
    double us;
} bounds[] = {
    {20000, 0, 0, 1, 49 * 207.45 + 22 + 104.2},     {0, 20000, 0, 1, 49 * 207.45 + 22 + 104.2},
    {10000, 0, 0, 2, 49 * 207.45 + 22 + 104.2},     {0, 20000, 0, 4, 49 * 207.45 + 22 + 104.2},
    {50000, 20000, 0, 4, 49 * 207.45 + 22 + 104.2}, {20000, 0, 5000, 1, 49 * 211.85 + 22 + 104.2},
    {24000, 0, 5000, 1, 49 * 211.85 + 22 + 104.2},  {0, 20000, 5000, 1, 49 * 211.85 + 22 + 104.2},
    {500, 0, 0, 1, 999 * 207.45 + 1.1 + 104.2},     {0, 0, 5000, 1, 1000 * 1.1 + 104.2},
};

START_TEST(what_may_be_out_bounds_a_flow)
{
    static const TransportSetting settings[] = {{"bdp", "100"}};
    uint32_t a, b;
    long_chain(0, &a, &b);
    packets_transport("window", settings, 1);
    f.config.limits[PATH_BUILDINGS] = (PathLimit){.window_B = bounds[_i].window_B,
                                                  .in_flight_B = bounds[_i].in_flight_B,
                                                  .message_B = bounds[_i].message_B,
                                                  .queue_pairs = bounds[_i].queue_pairs,
                                                  .packet_B = 1000};
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(a, b, 1000000, 0);
    fixture_run(&f);
    ck_assert_double_eq_tol((double)f.delivered[0], bounds[_i].us * US, 2);
    ck_assert_uint_eq(fixture_bytes(&f, 0, 0), 1000000);
    fixture_end(&f);
}
END_TEST

/* The same bounds as caps at rates: within 2 %, but where a packet is more than the window. */
START_TEST(caps_at_rates_agree)
{
    uint32_t a, b;
    if (bounds[_i].window_B == 500)
        return;
    long_chain(0, &a, &b);
    f.config.payload_fraction = 1000.0 / 1100;
    f.config.limits[PATH_BUILDINGS] = (PathLimit){.window_B = bounds[_i].window_B,
                                                  .in_flight_B = bounds[_i].in_flight_B,
                                                  .message_B = bounds[_i].message_B,
                                                  .queue_pairs = bounds[_i].queue_pairs,
                                                  .packet_B = 1000};
    fixture_network(&f, "fluid", ROUTING_ECMP);
    packets_send(a, b, 1000000, 0);
    fixture_run(&f);
    ck_assert_double_eq_tol((double)f.delivered[0], bounds[_i].us * US, 0.02 * bounds[_i].us * US);
    fixture_end(&f);
}
END_TEST

/* Set for the way or for the transport, recovery gives the same packets; and go_back_n others than selective_repeat. */
static uint64_t
lossy_run(LossRecovery set, const char *recovery, uint64_t *resent)
{
    TransportSetting settings[] = {{"timeout", "1 ms"}, {"recovery", recovery}};
    uint32_t a, b;
    long_chain(0.01, &a, &b);
    packets_transport("window", settings, recovery != NULL ? 2 : 1);
    f.config.limits[PATH_BUILDINGS].recovery = set;
    fixture_network(&f, "packet", ROUTING_ECMP);
    packets_send(a, b, 2000000, 0);
    fixture_run(&f);
    *resent = packets_totals().resent;
    uint64_t digest = f.digest;
    fixture_end(&f);
    return digest;
}

START_TEST(recovery_is_as_set_for_the_way)
{
    uint64_t back, selective, same;
    uint64_t of_back = lossy_run(LOSSES_GO_BACK_N, NULL, &back);
    ck_assert_uint_eq(of_back, lossy_run(LOSSES_IGNORED, "go_back_n", &same));
    ck_assert_uint_eq(back, same);
    uint64_t of_selective = lossy_run(LOSSES_SELECTIVE_REPEAT, "go_back_n", &selective);
    ck_assert_uint_eq(of_selective, lossy_run(LOSSES_IGNORED, "selective_repeat", &same));
    ck_assert_uint_eq(selective, same);
    ck_assert_uint_gt(back, 10 * selective); /* a window of 190 packets for each loss, against one */
}
END_TEST

/* Two senders of 1 MB to one receiver: the higher class has the link while it lasts, 1.1 ms; then the other. */
START_TEST(the_class_is_as_set)
{
    uint32_t l[2], r;
    packets_incast(2, RATE, RATE, US, l, &r);
    PathLimit rows[1][PATH_LEVELS];
    for (PathLevel level = 0; level < PATH_LEVELS; level++) {
        rows[0][level] = path_limit_default();
        rows[0][level].traffic_class = 6 + 1;
    }
    f.config.settings = (const PathLimit(*)[PATH_LEVELS])rows;
    f.config.n_settings = 1;
    fixture_network(&f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < 2; i++) {
        Transfer t = fixture_transfer(&f, l[i], r, 1000000);
        t.settings = i == (uint32_t)_i ? 1 : 0;
        fixture_send(&f, &t, i);
    }
    fixture_run(&f);
    ck_assert_double_eq_tol((double)f.delivered[_i], 1100e6, 0.01 * 1100e6);
    ck_assert_double_eq_tol((double)f.delivered[1 - _i], 2200e6, 0.01 * 2200e6);
    fixture_end(&f);
}
END_TEST

/* 3 MB and 1 MB from one NIC to two hosts, 4000 packets in all: by their weights both end at 4.4 ms; equal ones leave
 * the second after 2000 packets. */
START_TEST(flows_of_a_port_share_it_by_weight)
{
    static const struct {
        double first, second, us;
    } weights[] = {{3, 1, 4400}, {0.75, 0.25, 4400}, {1, 1, 2200}, {0.25, 0.25, 2200}, {1, 3, 4000.0 / 3 * 1.1}};
    for (size_t i = 0; i < G_N_ELEMENTS(weights); i++) {
        uint32_t hosts[3];
        packets_begin();
        uint32_t s = packets_leaf("s");
        for (uint32_t h = 0; h < 3; h++) {
            hosts[h] = packets_host("h", h);
            fixture_cable(&f, hosts[h], s, RATE, US);
        }
        static const TransportSetting settings[] = {{"bdp", "1000"}};
        packets_transport("window", settings, 1);
        fixture_network(&f, "packet", ROUTING_ECMP);
        for (uint32_t k = 0; k < 2; k++) {
            Transfer t = fixture_transfer(&f, hosts[0], hosts[1 + k], k == 0 ? 3000000 : 1000000);
            t.weight = k == 0 ? weights[i].first : weights[i].second;
            fixture_send(&f, &t, k);
        }
        fixture_run(&f);
        ck_assert_double_eq_tol((double)f.sent[1], weights[i].us * US, 5 * 1.1 * US);
        ck_assert_double_eq_tol((double)f.sent[0], 4400.0 * US, 5 * 1.1 * US);
        fixture_end(&f);
    }
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("packet-limits");
    TCase *tc = tcase_create("packet-limits");
    tcase_add_loop_test(tc, what_may_be_out_bounds_a_flow, 0, G_N_ELEMENTS(bounds));
    tcase_add_loop_test(tc, caps_at_rates_agree, 0, G_N_ELEMENTS(bounds));
    tcase_add_test(tc, recovery_is_as_set_for_the_way);
    tcase_add_loop_test(tc, the_class_is_as_set, 0, 2);
    tcase_add_test(tc, flows_of_a_port_share_it_by_weight);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
