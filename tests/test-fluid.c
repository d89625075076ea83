#include "network_fixture.h"

#include "base/random.h"

#define S PS_PER_S

static Fixture f;

/* Host h and host h + n on either side of one link of `middle`; hosts have fast links. The first link of the middle
 * cable. */
static uint32_t
dumbbell(uint32_t n, double edge_Bps, double middle_Bps, SimTime latency_ps, uint32_t *left, uint32_t *right)
{
    fixture_begin(&f);
    uint32_t a = fixture_node(&f, NODE_LEAF, "a"), b = fixture_node(&f, NODE_LEAF, "b");
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *l = g_strdup_printf("l%u", i), *r = g_strdup_printf("r%u", i);
        left[i] = fixture_node(&f, NODE_HOST, l);
        right[i] = fixture_node(&f, NODE_HOST, r);
    }
    uint32_t middle = fixture_cable(&f, a, b, middle_Bps, latency_ps);
    for (uint32_t i = 0; i < n; i++) {
        fixture_cable(&f, left[i], a, edge_Bps, latency_ps);
        fixture_cable(&f, right[i], b, edge_Bps, latency_ps);
    }
    return middle;
}

/* 1000 B over three links of 1 us each at 100 B/s: sent after 10 s, there 3 us later. */
START_TEST(one_transfer_takes_bytes_by_rate_and_the_latency)
{
    uint32_t l[1], r[1];
    uint32_t middle = dumbbell(1, 1000, 100, PS_PER_US, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, l[0], r[0], 1000);
    NetworkProbe probe;
    ck_assert(network_probe(f.network, &t, &probe, NULL));
    ck_assert_int_eq(probe.latency_ps, 3 * PS_PER_US);
    ck_assert_double_eq(probe.rate_Bps, 100);
    fixture_send(&f, &t, 0);
    ck_assert_uint_eq(network_in_flight(f.network), 1);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 10 * S);
    ck_assert_int_eq(f.delivered[0], 10 * S + 3 * PS_PER_US);
    ck_assert_uint_eq(network_in_flight(f.network), 0);
    ck_assert(network_totals(f.network).saturated);
    ck_assert_uint_eq(network_totals(f.network).bytes, 1000);
    ck_assert_uint_eq(fixture_bytes(&f, middle, 0), 1000);
    ck_assert_int_eq(fixture_busy(&f, middle, 0), 10 * S);
    ck_assert_uint_eq(f.transfers->len, 1);
    ck_assert_int_eq(g_array_index(f.transfers, TransferRecord, 0).end_ps, 10 * S + 3 * PS_PER_US);
    fixture_end(&f);
}
END_TEST

/* 100 and 300 bytes share 10 B/s: at 5 each until 20 s; the other has 200 left and goes on at 10: ends at 40 s. */
START_TEST(two_share_a_link_and_the_longer_speeds_up)
{
    uint32_t l[2], r[2];
    dumbbell(2, 1000, 10, 0, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer a = fixture_transfer(&f, l[0], r[0], 100), b = fixture_transfer(&f, l[1], r[1], 300);
    fixture_send(&f, &a, 0);
    fixture_send(&f, &b, 1);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 20 * S);
    ck_assert_int_eq(f.sent[1], 40 * S);
    fixture_end(&f);
}
END_TEST

/* Alone until 3 s at 10 B/s (30 of 100 done), then 5 each: 70 left take 14 s; the late one has done 70 of 80, the last
 * 10 take 1 s. */
START_TEST(a_late_arrival_slows_the_first)
{
    uint32_t l[2], r[2];
    dumbbell(2, 1000, 10, 0, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer a = fixture_transfer(&f, l[0], r[0], 100), b = fixture_transfer(&f, l[1], r[1], 80);
    fixture_send(&f, &a, 0);
    fixture_send_at(&f, 3 * S, &b, 1);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 17 * S);
    ck_assert_int_eq(f.sent[1], 18 * S);
    fixture_end(&f);
}
END_TEST

/* Weights 3 and 1 on 8 B/s: 6 and 2. A cap of 1: 1 and 7. */
START_TEST(weights_and_caps)
{
    uint32_t l[2], r[2];
    dumbbell(2, 1000, 8, 0, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer a = fixture_transfer(&f, l[0], r[0], 60), b = fixture_transfer(&f, l[1], r[1], 20);
    a.weight = 3;
    fixture_send(&f, &a, 0);
    fixture_send(&f, &b, 1);
    a = fixture_transfer(&f, l[0], r[0], 70);
    b = fixture_transfer(&f, l[1], r[1], 10);
    b.rate_cap_Bps = 1;
    fixture_send_at(&f, 20 * S, &a, 2);
    fixture_send_at(&f, 20 * S, &b, 3);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 10 * S);
    ck_assert_int_eq(f.sent[1], 10 * S);
    ck_assert_int_eq(f.sent[2], 30 * S);
    ck_assert_int_eq(f.sent[3], 30 * S);
    fixture_end(&f);
}
END_TEST

/* Two links in a row of 12 B/s; one transfer over both, one over the first, three over the second: the second fills at
 * 3; the first leaves 9. Sizes so that all end at 10 s. */
START_TEST(parking_lot)
{
    fixture_begin(&f);
    uint32_t s[3], h[10];
    const char *names[] = {"s0", "s1", "s2"};
    for (int i = 0; i < 3; i++)
        s[i] = fixture_node(&f, NODE_LEAF, names[i]);
    for (uint32_t i = 0; i < 10; i++) {
        g_autofree char *name = g_strdup_printf("h%u", i);
        h[i] = fixture_node(&f, NODE_HOST, name);
    }
    uint32_t first = fixture_cable(&f, s[0], s[1], 12, 0), second = fixture_cable(&f, s[1], s[2], 12, 0);
    /* at s0: 0 1; at s1: 2 (receives), 3 4 5; at s2: 6 7 8 9 */
    static const uint32_t at[] = {0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
    for (uint32_t i = 0; i < 10; i++)
        fixture_cable(&f, h[i], s[at[i]], 1000, 0);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    static const struct {
        uint32_t src, dst;
        uint64_t bytes;
    } rows[] = {{0, 6, 30}, {1, 2, 90}, {3, 7, 30}, {4, 8, 30}, {5, 9, 30}};
    for (uint32_t i = 0; i < 5; i++) {
        Transfer t = fixture_transfer(&f, h[rows[i].src], h[rows[i].dst], rows[i].bytes);
        fixture_send(&f, &t, i);
    }
    fixture_run(&f);
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_int_eq(f.sent[i], 10 * S);
    ck_assert_uint_eq(fixture_bytes(&f, first, 0), 120);
    ck_assert_uint_eq(fixture_bytes(&f, second, 0), 120);
    ck_assert_uint_eq(fixture_bytes(&f, first + 1, 0), 0);
    fixture_end(&f);
}
END_TEST

/* Thirds: 10 / 3 B/s is rounded down by at most 2^-32; the end is within that of 30 s, never before it. */
START_TEST(an_end_is_never_early)
{
    uint32_t l[3], r[3];
    dumbbell(3, 1000, 10, 0, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    for (uint32_t i = 0; i < 3; i++) {
        Transfer t = fixture_transfer(&f, l[i], r[i], 100);
        fixture_send(&f, &t, i);
    }
    fixture_run(&f);
    for (uint32_t i = 0; i < 3; i++) {
        ck_assert_int_ge(f.sent[i], 30 * S);
        ck_assert_int_le(f.sent[i], 30 * S + 3000);
    }
    fixture_end(&f);
}
END_TEST

START_TEST(nothing_to_move)
{
    uint32_t l[1], r[1];
    dumbbell(1, 1000, 100, 7, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer empty = fixture_transfer(&f, l[0], r[0], 0), self = fixture_transfer(&f, l[0], l[0], 5000);
    fixture_send(&f, &empty, 0);
    fixture_send(&f, &self, 1);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 0);
    ck_assert_int_eq(f.delivered[0], 21);
    ck_assert_int_eq(f.sent[1], 0);
    ck_assert_int_eq(f.delivered[1], 0);
    ck_assert_uint_eq(f.usage->len, 0);
    fixture_end(&f);
}
END_TEST

/* Two hosts joined by 16 cables over one switch each port. */
static void
bond(uint32_t ports, double rate_Bps, uint32_t *hosts, uint32_t *cables)
{
    fixture_begin(&f);
    hosts[0] = fixture_node(&f, NODE_HOST, "x");
    hosts[1] = fixture_node(&f, NODE_HOST, "y");
    uint32_t a = fixture_node(&f, NODE_LEAF, "a");
    for (uint32_t p = 0; p < ports; p++) {
        cables[2 * p] = fixture_cable(&f, hosts[0], a, rate_Bps, 0);
        cables[2 * p + 1] = fixture_cable(&f, a, hosts[1], rate_Bps, 0);
    }
}

/* One port of a sprayed bond of 16 down, on the sender's side: exactly 15/16 of the rate; the bytes still add up. */
START_TEST(spray_loses_exactly_the_dead_port)
{
    for (int down = 0; down < 2; down++) {
        uint32_t hosts[2], cables[32];
        bond(16, 25e9, hosts, cables);
        fixture_network(&f, "fluid", ROUTING_SPRAY);
        uint64_t bytes = UINT64_C(15) * 16 * 25000000000; /* 15 s with all, 16 s with 15 */
        if (down)
            network_set_link(f.network, cables[10], 0);
        Transfer t = fixture_transfer(&f, hosts[0], hosts[1], bytes);
        fixture_send(&f, &t, 0);
        fixture_run(&f);
        ck_assert_int_eq(f.sent[0], (down ? 16 : 15) * S);
        uint64_t in = 0, out = 0;
        for (uint32_t p = 0; p < 16; p++) {
            in += fixture_bytes(&f, cables[2 * p], 0);
            out += fixture_bytes(&f, cables[2 * p + 1], 0);
        }
        ck_assert_uint_eq(in, bytes);
        ck_assert_uint_eq(out, bytes);
        ck_assert_uint_eq(fixture_bytes(&f, cables[10], 0), down ? 0 : bytes / 16);
        fixture_end(&f);
    }
}
END_TEST

/* 5 bytes over 16 ports: whole bytes, none lost. */
START_TEST(few_bytes_are_split_whole)
{
    uint32_t hosts[2], cables[32];
    bond(16, 100, hosts, cables);
    fixture_network(&f, "fluid", ROUTING_SPRAY);
    Transfer t = fixture_transfer(&f, hosts[0], hosts[1], 5);
    for (uint32_t i = 0; i < 7; i++)
        fixture_send_at(&f, i * S, &t, i);
    fixture_run(&f);
    uint64_t in = 0, out = 0;
    for (uint32_t p = 0; p < 16; p++) {
        in += fixture_bytes(&f, cables[2 * p], 0);
        out += fixture_bytes(&f, cables[2 * p + 1], 0);
    }
    ck_assert_uint_eq(in, 35);
    ck_assert_uint_eq(out, 35);
    fixture_end(&f);
}
END_TEST

/* 100 B at 10 B/s; after 4 s the link falls to 5 (60 left: 12 s), at 10 s it rises to 30 (30 left: 1 s). */
START_TEST(a_link_changes_in_mid_run)
{
    uint32_t l[1], r[1];
    uint32_t middle = dumbbell(1, 1000, 10, 0, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, l[0], r[0], 100);
    fixture_send(&f, &t, 0);
    network_set_link_at(f.network, middle, 5, 4 * S);
    network_set_link_at(f.network, middle, 30, 10 * S);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 11 * S);
    ck_assert_uint_eq(fixture_bytes(&f, middle, 0), 100);
    fixture_end(&f);
}
END_TEST

/* Dead from 4 s to 9 s without another way: it stands still and ends 5 s later than it would. */
START_TEST(a_flow_without_a_way_waits_for_the_link)
{
    uint32_t l[1], r[1];
    uint32_t middle = dumbbell(1, 1000, 10, 0, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, l[0], r[0], 100);
    fixture_send(&f, &t, 0);
    network_set_link_at(f.network, middle, 0, 4 * S);
    network_set_link_at(f.network, middle, 10, 9 * S);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 15 * S);
    ck_assert_uint_eq(fixture_bytes(&f, middle, 0), 100);
    ck_assert_int_eq(fixture_busy(&f, middle, 0), 10 * S);
    fixture_end(&f);
}
END_TEST

/* Two cables of 10 and a link that dies under the transfer: the rest goes over the other; 7 + 93 bytes. */
START_TEST(a_flow_is_routed_around_a_dead_link)
{
    uint32_t hosts[2], cables[4];
    bond(2, 10, hosts, cables);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, hosts[0], hosts[1], 100);
    fixture_send(&f, &t, 0);
    RouteRequest request = {.src = hosts[0], .dst = hosts[1], .src_nic = INDEX_NONE, .dst_nic = INDEX_NONE};
    Route route;
    ck_assert(routes_find(f.routes, &request, &route, NULL));
    for (uint32_t p = 0; p < 2; p++)
        network_set_link_at(f.network, cables[2 * p], p == 0 ? 0 : 10, 7 * S / 10);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 10 * S);
    uint64_t first = fixture_bytes(&f, cables[0], 0), second = fixture_bytes(&f, cables[2], 0);
    ck_assert_uint_eq(first + second, 100);
    ck_assert(first == 0 || first == 7);
    ck_assert_uint_eq(fixture_bytes(&f, cables[1], 0) + fixture_bytes(&f, cables[3], 0), 100);
    fixture_end(&f);
}
END_TEST

/* Two ways of 1 s and 3 s of latency: the one taken dies under the transfer, and the last byte goes the other. */
START_TEST(the_last_byte_takes_the_latency_of_its_own_way)
{
    fixture_begin(&f);
    uint32_t x = fixture_node(&f, NODE_HOST, "x"), y = fixture_node(&f, NODE_HOST, "y"), first[2];
    for (uint32_t w = 0; w < 2; w++) {
        uint32_t via = fixture_node(&f, NODE_LEAF, w == 0 ? "near" : "far");
        first[w] = fixture_cable(&f, x, via, 10, 0);
        fixture_cable(&f, via, y, 10, w == 0 ? S : 3 * S);
    }
    fixture_network(&f, "fluid", ROUTING_DMODK);
    RouteRequest request = {.src = x, .dst = y, .src_nic = INDEX_NONE, .dst_nic = INDEX_NONE};
    Route route;
    ck_assert(routes_find(f.routes, &request, &route, NULL));
    gboolean near = route.hops[0].link == first[0];
    network_set_link_at(f.network, route.hops[0].link, 0, S / 2);
    Transfer t = fixture_transfer(&f, x, y, 10);
    fixture_send(&f, &t, 0);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], S);
    ck_assert_int_eq(f.delivered[0], near ? 4 * S : 2 * S);
    fixture_end(&f);
}
END_TEST

/* Three ports of 10; one dies when 5 of 100 bytes have gone, which is 1.67 a port: in whole bytes what came in went
 * out. */
START_TEST(a_split_flow_is_cut_in_whole_bytes)
{
    uint32_t hosts[2], cables[6];
    bond(3, 10, hosts, cables);
    fixture_network(&f, "fluid", ROUTING_SPRAY);
    Transfer t = fixture_transfer(&f, hosts[0], hosts[1], 100);
    fixture_send(&f, &t, 0);
    network_set_link_at(f.network, cables[0], 0, S / 6 + 1);
    fixture_run(&f);
    uint64_t in = 0, out = 0;
    for (uint32_t p = 0; p < 3; p++) {
        in += fixture_bytes(&f, cables[2 * p], 0);
        out += fixture_bytes(&f, cables[2 * p + 1], 0);
    }
    ck_assert_uint_eq(in, 100);
    ck_assert_uint_eq(out, 100);
    fixture_end(&f);
}
END_TEST

START_TEST(no_route_names_both_ends)
{
    uint32_t l[1], r[1];
    uint32_t middle = dumbbell(1, 1000, 10, 0, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    network_set_link(f.network, middle, 0);
    Transfer t = fixture_transfer(&f, l[0], r[0], 100);
    GError *error = NULL;
    ck_assert(!network_send(f.network, f.client, &t, 0, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "l0"));
    support_expect_error(&error, 2, "r0");
    ck_assert_uint_eq(network_in_flight(f.network), 0);
    t.bytes = UINT64_C(1) << 55;
    ck_assert(!network_send(f.network, f.client, &t, 0, &error));
    support_expect_error(&error, 2, "a transfer of 36028797018963968 bytes; the most is 2^55 - 1");
    fixture_end(&f);
}
END_TEST

START_TEST(an_unknown_model_is_refused)
{
    uint32_t l[1], r[1];
    dumbbell(1, 1000, 10, 0, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    GError *error = NULL;
    ck_assert_ptr_null(network_new("fluit", &f.config, f.routes, f.engine, NULL, &error));
    support_expect_error(&error, 2, "network model \"fluit\" is not known; do you mean \"fluid\"?");
    ck_assert_ptr_null(network_new("xyzzyxyzzy", &f.config, f.routes, f.engine, NULL, &error));
    support_expect_error(&error, 2,
                         "network model \"xyzzyxyzzy\" is not known; known are fluid, packet, analytic and recorded");
    ck_assert_str_eq(network_models()[2], "analytic");
    ck_assert_ptr_nonnull(network_model_help("recorded"));
    fixture_end(&f);
}
END_TEST

/* Members of 100, 50 and 100 bytes from three hosts to one behind 25 B/s: they progress together, 250 bytes in 10 s;
 * the latency is the bundle's own. */
START_TEST(a_bundle_progresses_together)
{
    uint32_t l[3], r[3];
    uint32_t middle = dumbbell(3, 1000, 25, PS_PER_S, l, r);
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer members[] = {fixture_transfer(&f, l[0], r[0], 100), fixture_transfer(&f, l[1], r[1], 50),
                          fixture_transfer(&f, l[2], r[2], 100)};
    Bundle bundle = {members, 3, 5 * PS_PER_MS};
    ck_assert(network_send_bundle(f.network, f.client, &bundle, 0, NULL));
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 10 * S);
    ck_assert_int_eq(f.delivered[0], 10 * S + 5 * PS_PER_MS);
    ck_assert_uint_eq(fixture_bytes(&f, middle, 0), 250);
    ck_assert_uint_eq(f.transfers->len, 3);
    ck_assert_uint_eq(network_totals(f.network).transfers, 3);
    fixture_end(&f);
}
END_TEST

/* Half of what is sent is payload: 100 B over 10 B/s take 20 s. */
START_TEST(headers_take_their_part)
{
    uint32_t l[1], r[1];
    dumbbell(1, 1000, 10, 0, l, r);
    f.config.payload_fraction = 0.5;
    fixture_network(&f, "fluid", ROUTING_ECMP);
    Transfer t = fixture_transfer(&f, l[0], r[0], 100);
    fixture_send(&f, &t, 0);
    fixture_run(&f);
    ck_assert_int_eq(f.sent[0], 20 * S);
    fixture_end(&f);
}
END_TEST

/* Random transfers over two leaves and two spines; a link dies and comes back. Whatever the routing, each link's bytes
 * are those of the transfers, and twice the same run tells the same. */
static uint64_t
random_run(int seed, RoutingPolicy policy)
{
    enum { HOSTS = 8, SENDS = 120 };
    Random dice = random_named((uint64_t)seed, "fluid");
    fixture_begin(&f);
    uint32_t host[HOSTS], edge[HOSTS], up[4];
    uint32_t leaf[2] = {fixture_node(&f, NODE_LEAF, "l0"), fixture_node(&f, NODE_LEAF, "l1")};
    uint32_t spine[2] = {fixture_node(&f, NODE_SPINE, "s0"), fixture_node(&f, NODE_SPINE, "s1")};
    for (uint32_t i = 0; i < HOSTS; i++) {
        g_autofree char *name = g_strdup_printf("h%u", i);
        host[i] = fixture_node(&f, NODE_HOST, name);
        edge[i] = fixture_cable(&f, host[i], leaf[i % 2], 1e9, 500 * PS_PER_NS);
    }
    for (uint32_t i = 0; i < 4; i++)
        up[i] = fixture_cable(&f, leaf[i / 2], spine[i % 2], 1.5e9, 500 * PS_PER_NS);
    fixture_network(&f, "fluid", policy);
    network_add_job(f.network, "b");
    uint64_t out[HOSTS] = {0}, in[HOSTS] = {0}, across[2] = {0};
    for (uint32_t i = 0; i < SENDS; i++) {
        uint32_t src = (uint32_t)random_below(&dice, HOSTS), dst = (uint32_t)random_below(&dice, HOSTS);
        Transfer t = fixture_transfer(&f, host[src], host[dst], random_below(&dice, 3000000));
        t.job = (uint32_t)random_below(&dice, 2);
        t.channel = i;
        fixture_send_at(&f, (SimTime)random_below(&dice, 20 * PS_PER_MS), &t, i);
        out[src] += src == dst ? 0 : t.bytes;
        in[dst] += src == dst ? 0 : t.bytes;
        if (src % 2 != dst % 2)
            across[src % 2] += t.bytes;
    }
    network_set_link_at(f.network, up[1], 0, 5 * PS_PER_MS);
    network_set_link_at(f.network, up[1], 1e9, 12 * PS_PER_MS);
    fixture_run(&f);
    uint64_t slack = policy == ROUTING_SPRAY ? SENDS : 0; /* a split transfer cut by a dead link: a byte a link */
    for (uint32_t i = 0; i < SENDS; i++)
        ck_assert_msg(f.delivered[i] >= 0, "seed %d: %u not delivered", seed, i);
    for (uint32_t i = 0; i < HOSTS; i++) {
        ck_assert_uint_eq(fixture_bytes(&f, edge[i], INDEX_NONE), out[i]);
        ck_assert_uint_eq(fixture_bytes(&f, edge[i] + 1, INDEX_NONE), in[i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        uint64_t crossed = fixture_bytes(&f, up[2 * i], INDEX_NONE) + fixture_bytes(&f, up[2 * i + 1], INDEX_NONE);
        ck_assert_msg(crossed <= across[i] + slack && crossed + slack >= across[i], "seed %d", seed);
    }
    uint64_t digest = f.digest;
    fixture_end(&f);
    return digest;
}

START_TEST(bytes_are_conserved_and_runs_repeat)
{
    static const RoutingPolicy policies[] = {ROUTING_ECMP, ROUTING_SPRAY, ROUTING_ADAPTIVE, ROUTING_DMODK};
    RoutingPolicy policy = policies[_i % 4];
    uint64_t first = random_run(_i, policy), second = random_run(_i, policy);
    ck_assert_uint_eq(first, second);
    ck_assert_uint_ne(first, random_run(_i + 1000, policy));
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("fluid");
    TCase *cases = tcase_create("cases");
    tcase_add_test(cases, one_transfer_takes_bytes_by_rate_and_the_latency);
    tcase_add_test(cases, two_share_a_link_and_the_longer_speeds_up);
    tcase_add_test(cases, a_late_arrival_slows_the_first);
    tcase_add_test(cases, weights_and_caps);
    tcase_add_test(cases, parking_lot);
    tcase_add_test(cases, an_end_is_never_early);
    tcase_add_test(cases, nothing_to_move);
    tcase_add_test(cases, spray_loses_exactly_the_dead_port);
    tcase_add_test(cases, few_bytes_are_split_whole);
    tcase_add_test(cases, a_link_changes_in_mid_run);
    tcase_add_test(cases, a_flow_without_a_way_waits_for_the_link);
    tcase_add_test(cases, a_flow_is_routed_around_a_dead_link);
    tcase_add_test(cases, the_last_byte_takes_the_latency_of_its_own_way);
    tcase_add_test(cases, a_split_flow_is_cut_in_whole_bytes);
    tcase_add_test(cases, no_route_names_both_ends);
    tcase_add_test(cases, an_unknown_model_is_refused);
    tcase_add_test(cases, a_bundle_progresses_together);
    tcase_add_test(cases, headers_take_their_part);
    tcase_add_loop_test(cases, bytes_are_conserved_and_runs_repeat, 0, 40);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
