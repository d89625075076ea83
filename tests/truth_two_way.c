/* truth_two_way.c - ACKs among data: fixed windows that meet on one cable in both directions
 *
 * K flows one way keep a queue of their windows W; one flow goes the other way, whose ACKs wait in that queue. All have
 * the same round trip T + Q, so that each moves W / (T + Q) = C/K, the lone one too, which could have C; and larger
 * windows only make Q longer. With ACKs before data it has C. (The effect: Zhang, Shenker, Clark, "Observations on the
 * dynamics of a congestion control algorithm: the effects of two-way traffic", SIGCOMM 1991.) */
#include "network_fixture.h"
#include "truth.h"

#define GBPS 1.25e8

enum { FLOW_B = 50000000, MOST = 3 };

static Fixture f;

/* What the lone flow gets against k others while they last, as a share of its link's payload. */
static double
lone_share(uint32_t k, gboolean control_first, const char *products)
{
    TransportSetting settings[] = {{"bdp", products}};
    fixture_begin(&f);
    uint32_t leaves[2], hosts[2][MOST];
    for (uint32_t l = 0; l < 2; l++)
        leaves[l] = fixture_node(&f, NODE_LEAF, l == 0 ? "left" : "right");
    fixture_cable(&f, leaves[0], leaves[1], 100 * GBPS, PS_PER_US);
    for (uint32_t i = 0; i < 2 * k; i++) {
        g_autofree char *name = g_strdup_printf("host%u", i);
        hosts[i % 2][i / 2] = fixture_node(&f, NODE_HOST, name);
        fixture_cable(&f, hosts[i % 2][i / 2], leaves[i % 2], 100 * GBPS, PS_PER_US);
    }
    f.config.books = FALSE;
    f.config.packet.control_first = control_first;
    f.config.packet.settings = settings;
    f.config.packet.n_settings = 1;
    fixture_network(&f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < k; i++) {
        Transfer there = fixture_transfer(&f, hosts[0][i], hosts[1][i], FLOW_B);
        fixture_send(&f, &there, i);
    }
    Transfer back = fixture_transfer(&f, hosts[1][0], hosts[0][0], FLOW_B / 2); /* ends before the others */
    fixture_send(&f, &back, k);
    fixture_run(&f);
    ck_assert_int_lt(f.delivered[k], f.delivered[0]);
    double payload = f.config.packet.mtu_B / (double)(f.config.packet.mtu_B + f.config.packet.header_B);
    double share = FLOW_B / 2 / sim_time_seconds(f.delivered[k]) / (100 * GBPS * payload);
    fixture_end(&f);
    return share;
}

static const struct {
    uint32_t k;
    gboolean first;
    const char *products;
} cases[] = {{2, FALSE, "2"}, {3, FALSE, "2"}, {3, FALSE, "8"}, {3, TRUE, "2"}};

START_TEST(acks_among_data_cost_the_way_back)
{
    truth_part("Two-way traffic (`packet`): one flow against K on one cable, fixed windows, buffers without limit");
    for (uint32_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *what = g_strdup_printf("1 against %u, windows of %s BDP, ACKs %s data: share of its link",
                                                cases[i].k, cases[i].products, cases[i].first ? "before" : "among");
        truth_within(&(TruthRow){what, cases[i].first ? "all of it" : "by hand: all have W / (T + Q), 1/K", "",
                                 cases[i].first ? 1 : 1. / cases[i].k,
                                 lone_share(cases[i].k, cases[i].first, cases[i].products)},
                     0.05);
    }
}
END_TEST

TCase *
truth_two_way(void)
{
    TCase *tcase = tcase_create("two-way");
    tcase_add_test(tcase, acks_among_data_cost_the_way_back);
    return tcase;
}
