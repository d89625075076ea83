/* test-reroute.c - a link dies or comes back in mid-run, and routes learn of it later: times by hand, both models */
#include "packet_fixture.h"

#include "base/random.h"

#define MS PS_PER_MS

/* x - l - (s or t) - m - y at 1 GB/s, 1 us a link; the uplinks of l, and of them the one that the transfer takes. */
typedef struct {
    uint32_t x, y, up[2], taken, other;
} Diamond;

static Diamond
diamond(const char *model, double payload, SimTime delay_ps)
{
    static const TransportSetting settings[] = {{"timeout", "100 us"}, {"bdp", "2"}};
    Diamond d;
    packets_begin();
    packets_transport("window", settings, 2);
    d.x = packets_host("x", 0);
    d.y = packets_host("y", 0);
    uint32_t l = packets_leaf("l"), m = packets_leaf("m");
    fixture_cable(&f, d.x, l, RATE, US);
    fixture_cable(&f, m, d.y, RATE, US);
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t spine = fixture_node(&f, NODE_SPINE, k == 0 ? "s" : "t");
        d.up[k] = fixture_cable(&f, l, spine, RATE, US);
        fixture_cable(&f, spine, m, RATE, US);
    }
    f.config.payload_fraction = payload;
    f.config.reroute_delay_ps = f.config.packet.reroute_delay_ps = delay_ps;
    fixture_network(&f, model, ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, d.x, d.y, 1);
    RouteRequest request = {t.src, t.dst, INDEX_NONE, INDEX_NONE, 0};
    Route route;
    request.key = hash_combine(
        hash_combine(hash_combine(hash_combine(f.config.seed, hash_text("a")), t.src_rank), t.dst_rank), 0);
    ck_assert(routes_find(f.routes, &request, &route, NULL));
    d.taken = route.hops[1].link;
    ck_assert(d.taken == d.up[0] || d.taken == d.up[1]);
    d.other = d.taken == d.up[0] ? d.up[1] : d.up[0];
    return d;
}

static void
send_at(const Diamond *d, SimTime at, uint64_t bytes, uint32_t cookie)
{
    Transfer t = fixture_transfer(&f, d->x, d->y, bytes);
    fixture_send_at(&f, at, &t, cookie);
}

/* 4 MB have gone at 4 ms; 6 MB are left when the delay is over. */
START_TEST(what_crosses_a_dead_link_stands_still_for_the_delay)
{
    static const SimTime delays[] = {0, 1, 2 * MS, 7 * MS};
    Diamond d = diamond("fluid", 1, delays[_i]);
    send_at(&d, 0, 10000000, 0);
    network_set_link_at(f.network, d.taken, 0, 4 * MS);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 10 * MS + delays[_i]);
    ck_assert_int_eq(f.delivered[0], f.sent[0] + 4 * US);
    ck_assert_uint_eq(fixture_bytes(&f, d.taken, 0), 4000000);
    ck_assert_uint_eq(fixture_bytes(&f, d.other, 0), 6000000);
    ck_assert_double_eq_tol(fixture_lost(&f, 0, INDEX_NONE, d.taken, LOSS_FAULT), (double)delays[_i] / PS_PER_S, 1e-12);
    ck_assert_double_eq_tol(fixture_lost_in_all(&f), (double)delays[_i] / PS_PER_S, 1e-12);
    fixture_end(&f);
}
END_TEST

/* Begun at 5 ms, 1 MB that would go the same way waits until 6 ms too, then has half until 8 ms; the first, of which
 * 6 MB were left at 6 ms, ends at 13 ms. */
START_TEST(what_begins_within_the_delay_goes_the_old_way)
{
    Diamond d = diamond("fluid", 1, 2 * MS);
    send_at(&d, 0, 10000000, 0);
    send_at(&d, 5 * MS, 1000000, 1);
    network_set_link_at(f.network, d.taken, 0, 4 * MS);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[1], 8 * MS);
    ck_assert_int_eq(f.sent[0], 13 * MS);
    ck_assert_double_eq_tol(fixture_lost(&f, 0, INDEX_NONE, d.taken, LOSS_FAULT), 3e-3, 1e-12);
    ck_assert_uint_eq(fixture_bytes(&f, d.other, 0), 7000000);
    fixture_end(&f);
}
END_TEST

/* Back after 1 ms of the 2: it goes on at once, the old way. */
START_TEST(a_link_that_is_back_before_the_delay_is_over_goes_on)
{
    Diamond d = diamond("fluid", 1, 2 * MS);
    send_at(&d, 0, 10000000, 0);
    network_set_link_at(f.network, d.taken, 0, 4 * MS);
    network_set_link_at(f.network, d.taken, RATE, 5 * MS);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 11 * MS);
    ck_assert_uint_eq(fixture_bytes(&f, d.taken, 0), 10000000);
    ck_assert_double_eq_tol(fixture_lost(&f, 0, INDEX_NONE, d.taken, LOSS_FAULT), 1e-3, 1e-12);
    fixture_end(&f);
}
END_TEST

/* Dead from 1 ms, back at 20 ms: what begins at 21 ms still goes the other way, at 22 ms (in the instant that routes
 * learn of it, before) or later the first one. */
START_TEST(a_link_that_is_back_is_used_after_the_delay)
{
    Diamond d = diamond("fluid", 1, 2 * MS);
    network_set_link_at(f.network, d.taken, 0, 1 * MS);
    network_set_link_at(f.network, d.taken, RATE, 20 * MS);
    send_at(&d, 21 * MS, 500000, 0);
    send_at(&d, 22 * MS + 1, 300000, 1);
    fixture_run(&f);
    ck_assert_uint_eq(fixture_bytes(&f, d.other, 0), 500000);
    ck_assert_uint_eq(fixture_bytes(&f, d.taken, 0), 300000);
    ck_assert_double_eq(fixture_lost_in_all(&f), 0);
    fixture_end(&f);
}
END_TEST

/* Both ways die, one is back at 9 ms, when routes know that it was dead: until 11 ms nothing has a way. */
START_TEST(without_a_way_it_waits_until_routes_know_of_one)
{
    Diamond d = diamond("fluid", 1, 2 * MS);
    send_at(&d, 0, 10000000, 0);
    network_set_link_at(f.network, d.taken, 0, 4 * MS);
    network_set_link_at(f.network, d.other, 0, 4 * MS);
    network_set_link_at(f.network, d.other, RATE, 9 * MS);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 17 * MS);
    ck_assert_double_eq_tol(fixture_lost_in_all(&f), 7e-3, 1e-12);
    fixture_end(&f);
}
END_TEST

/* The same in packets. Of 1000 B in 1100: 20 MB take 22 ms. Beyond the delay they lose what was in flight, and find
 * out by a timeout of 100 us. */
typedef struct {
    SimTime delay, dies, back; /* back 0 = never */
    SimTime second;            /* start of another transfer of 2 MB, 0 = none */
} Case;

static const Case cases[] = {
    {2 * MS, 5 * MS, 0, 0},         {5 * MS, 8 * MS, 0, 0},
    {2 * MS, 5 * MS, 0, 6 * MS},    {4 * MS, 5 * MS, 6 * MS, 0},
    {1 * MS, 5 * MS, 12 * MS, 0},   {2 * MS, 5 * MS, 12 * MS, 13 * MS},
    {3 * MS, 5 * MS, 0, 5500 * US}, {2 * MS, 5 * MS, 6 * MS, 5500 * US},
};

/* The ends of both transfers, -1 where there is no second. */
static void
run_case(const char *model, const Case *it, SimTime *ends)
{
    Diamond d = diamond(model, 1000.0 / 1100, it->delay);
    send_at(&d, 0, 20000000, 0);
    if (it->second > 0)
        send_at(&d, it->second, 2000000, 1);
    network_set_link_at(f.network, d.taken, 0, it->dies);
    if (it->back > 0)
        network_set_link_at(f.network, d.taken, RATE, it->back);
    fixture_run(&f);
    ends[0] = f.delivered[0];
    ends[1] = f.delivered[1];
    fixture_end(&f);
}

START_TEST(both_models_agree_on_the_ends)
{
    SimTime fluid[2], packet[2];
    run_case("fluid", &cases[_i], fluid);
    run_case("packet", &cases[_i], packet);
    for (uint32_t k = 0; k < (cases[_i].second > 0 ? 2 : 1); k++)
        ck_assert_msg(fabs((double)(packet[k] - fluid[k])) <= 0.03 * (double)fluid[k],
                      "case %d, transfer %u: fluid %g us, packet %g us", _i, k, (double)fluid[k] / US,
                      (double)packet[k] / US);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("reroute");
    TCase *tc = tcase_create("reroute");
    tcase_add_loop_test(tc, what_crosses_a_dead_link_stands_still_for_the_delay, 0, 4);
    tcase_add_test(tc, what_begins_within_the_delay_goes_the_old_way);
    tcase_add_test(tc, a_link_that_is_back_before_the_delay_is_over_goes_on);
    tcase_add_test(tc, a_link_that_is_back_is_used_after_the_delay);
    tcase_add_test(tc, without_a_way_it_waits_until_routes_know_of_one);
    tcase_add_loop_test(tc, both_models_agree_on_the_ends, 0, G_N_ELEMENTS(cases));
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
