#include "network_fixture.h"

#define S PS_PER_S
#define NS PS_PER_NS

static Fixture f;
static uint32_t host[4], cable[4];

/* Four hosts on a switch. */
static void
star(double rate_Bps, SimTime latency_ps)
{
    fixture_begin(&f);
    uint32_t leaf = fixture_node(&f, NODE_LEAF, "leaf");
    for (uint32_t i = 0; i < 4; i++) {
        g_autofree char *name = g_strdup_printf("h%u", i);
        host[i] = fixture_node(&f, NODE_HOST, name);
        cable[i] = fixture_cable(&f, host[i], leaf, rate_Bps, latency_ps);
    }
}

/* alpha + s beta, whatever else is sent: three of 1000 B at 100 B/s from one host end at 10 s, 2 x 3 ps later they are
 * there. */
START_TEST(transfers_do_not_slow_each_other)
{
    star(100, 3);
    fixture_network(&f, "analytic", ROUTING_ECMP);
    for (uint32_t i = 0; i < 3; i++) {
        Transfer t = fixture_transfer(&f, host[0], host[1 + i], 1000);
        fixture_send(&f, &t, i);
    }
    Transfer capped = fixture_transfer(&f, host[1], host[0], 1000), empty = fixture_transfer(&f, host[1], host[2], 0);
    capped.rate_cap_Bps = 50;
    fixture_send(&f, &capped, 3);
    fixture_send(&f, &empty, 4);
    NetworkProbe probe;
    ck_assert(network_probe(f.network, &capped, &probe, NULL));
    ck_assert_double_eq(probe.rate_Bps, 50);
    ck_assert_int_eq(probe.latency_ps, 6);
    fixture_run(&f);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_int_eq(f.sent[i], 10 * S);
        ck_assert_int_eq(f.delivered[i], 10 * S + 6);
    }
    ck_assert_int_eq(f.sent[3], 20 * S);
    ck_assert_int_eq(f.sent[4], 0);
    ck_assert_int_eq(f.delivered[4], 6);
    ck_assert_uint_eq(fixture_bytes(&f, cable[0], 0), 3000);
    ck_assert_uint_eq(fixture_bytes(&f, cable[0] + 1, 0), 1000);
    ck_assert_int_eq(fixture_busy(&f, cable[0], 0), 10 * S);
    ck_assert_uint_eq(f.losses->len, 0);
    fixture_end(&f);
}
END_TEST

/* Alone, the fluid model says the same. */
START_TEST(equals_the_fluid_model_alone)
{
    static const uint64_t bytes[] = {1, 1000, 65536, 1000003, UINT64_C(1) << 33};
    SimTime ends[2][G_N_ELEMENTS(bytes)];
    for (int model = 0; model < 2; model++) {
        for (size_t i = 0; i < G_N_ELEMENTS(bytes); i++) {
            star(12.5e9, 700 * NS);
            fixture_network(&f, model == 0 ? "fluid" : "analytic", ROUTING_ECMP);
            Transfer t = fixture_transfer(&f, host[0], host[1], bytes[i]);
            fixture_send(&f, &t, 0);
            fixture_run(&f);
            ends[model][i] = f.delivered[0];
            ck_assert_uint_eq(fixture_bytes(&f, cable[1] + 1, 0), bytes[i]);
            fixture_end(&f);
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(bytes); i++)
        ck_assert_int_eq(ends[0][i], ends[1][i]);
    ck_assert_int_eq(ends[0][3], 80000240 + 2 * 700 * NS); /* 1000003 B / 12.5 GB/s = 80.00024 us */
}
END_TEST

/* LogGOPS by hand, o = 100, g = 300 ns, O = 1, G = 2 ns/B, links so fast that they take less than that, 50 ns in all.
 * Two messages of 11 B from h0: CPU 110 and NIC 320 each. first: begins at 0, its first byte comes at 100 + 50 = 150,
 * the last leaves at 120; the receiver holds its CPU 100 + 20 = 120: 270, its NIC 320: 470. second: the NIC is free at
 * 320: comes at 470, last byte away at 440, taken in at 590. With L = 1 us instead of the way's 50 ns: 950 ns later. */
START_TEST(loggops_by_hand)
{
    for (int given = 0; given < 2; given++) {
        SimTime more = given ? 950 * NS : 0;
        star(1e15, 25 * NS);
        f.config.loggops = (LogGops){
            .L_ps = given ? 1000 * NS : 0, .o_ps = 100 * NS, .g_ps = 300 * NS, .O_s_per_B = 1e-9, .G_s_per_B = 2e-9};
        fixture_network(&f, "analytic", ROUTING_ECMP);
        Transfer t = fixture_transfer(&f, host[0], host[1], 11);
        fixture_send(&f, &t, 0);
        fixture_send(&f, &t, 1);
        fixture_run(&f);
        ck_assert_int_eq(f.sent[0], 120 * NS);
        ck_assert_int_eq(f.delivered[0], 270 * NS + more);
        ck_assert_int_eq(f.sent[1], 440 * NS);
        ck_assert_int_eq(f.delivered[1], 590 * NS + more);
        ck_assert_uint_eq(fixture_bytes(&f, cable[0], 0), 22);
        fixture_end(&f);
    }
}
END_TEST

/* Links of 0.1 B/ns count where they are slower than G: 1000 B take 999 x 10 ns from the first byte to the last, sent
 * at 100 + 9990, in at 100 + 50 + 100 + 9990. */
START_TEST(a_slow_link_counts_instead_of_g)
{
    star(1e8, 25 * NS);
    f.config.loggops = (LogGops){.o_ps = 100 * NS, .G_s_per_B = 2e-9};
    fixture_network(&f, "analytic", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, host[0], host[1], 1000);
    fixture_send(&f, &t, 0);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 10090 * NS);
    ck_assert_int_eq(f.delivered[0], 10240 * NS);
    fixture_end(&f);
}
END_TEST

/* o = 100, 50 ns of latency. h0 and h3 each send to h1: both come at 150, the first is in at 250, the second at 350
 * (and each byte after the first takes a thousandth of a picosecond, rounded up). S changes nothing where nobody posts
 * receives: the message is met as it comes. */
START_TEST(a_busy_receiver_takes_in_one_after_another)
{
    star(1e15, 25 * NS);
    f.config.loggops = (LogGops){.o_ps = 100 * NS, .S_B = 10};
    fixture_network(&f, "analytic", ROUTING_ECMP);
    Transfer small = fixture_transfer(&f, host[0], host[1], 10), other = fixture_transfer(&f, host[3], host[1], 10);
    Transfer large = fixture_transfer(&f, host[2], host[3], 11);
    fixture_send(&f, &small, 0);
    fixture_send(&f, &large, 1);
    fixture_send(&f, &other, 2);
    fixture_run(&f);
    ck_assert_int_eq(f.delivered[0], 250 * NS + 1);
    ck_assert_int_eq(f.delivered[1], 250 * NS + 1);
    ck_assert_int_eq(f.delivered[2], 350 * NS + 2);
    fixture_end(&f);
}
END_TEST

START_TEST(a_changed_link_counts_for_later_transfers)
{
    star(100, 0);
    fixture_network(&f, "analytic", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, host[0], host[1], 1000);
    fixture_send(&f, &t, 0);
    network_set_link_at(f.network, cable[0], 10, S);
    fixture_send_at(&f, 2 * S, &t, 1);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 10 * S);
    ck_assert_int_eq(f.sent[1], 102 * S);
    fixture_end(&f);
}
END_TEST

START_TEST(a_bundle_has_its_own_latency)
{
    star(100, 3);
    fixture_network(&f, "analytic", ROUTING_ECMP);
    Transfer members[] = {fixture_transfer(&f, host[0], host[1], 600), fixture_transfer(&f, host[2], host[1], 400)};
    Bundle bundle = {members, 2, 5 * S};
    ck_assert(network_send_bundle(f.network, f.client, &bundle, 0, NULL));
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 10 * S); /* 1000 B into h1 */
    ck_assert_int_eq(f.delivered[0], 15 * S);
    ck_assert_uint_eq(fixture_bytes(&f, cable[1] + 1, 0), 1000);
    fixture_end(&f);
}
END_TEST

START_TEST(recorded_moves_nothing)
{
    star(100, 3);
    fixture_network(&f, "recorded", ROUTING_ECMP);
    ck_assert(!network_moves_bytes(f.network));
    Transfer t = fixture_transfer(&f, host[0], host[1], 1000);
    fixture_send_at(&f, 5 * S, &t, 0);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 5 * S);
    ck_assert_int_eq(f.delivered[0], 5 * S);
    ck_assert_uint_eq(f.usage->len, 0);
    fixture_end(&f);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("analytic");
    TCase *cases = tcase_create("cases");
    tcase_add_test(cases, transfers_do_not_slow_each_other);
    tcase_add_test(cases, equals_the_fluid_model_alone);
    tcase_add_test(cases, loggops_by_hand);
    tcase_add_test(cases, a_slow_link_counts_instead_of_g);
    tcase_add_test(cases, a_busy_receiver_takes_in_one_after_another);
    tcase_add_test(cases, a_changed_link_counts_for_later_transfers);
    tcase_add_test(cases, a_bundle_has_its_own_latency);
    tcase_add_test(cases, recorded_moves_nothing);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
