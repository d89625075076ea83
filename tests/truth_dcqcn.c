/* truth_dcqcn.c - flows of DCQCN share a link equally and keep its queue between the marking thresholds */
#include "transport_world.h"
#include "truth.h"

#define GBPS 1.25e8

static WorldRun run;

typedef struct {
    uint32_t n;
    double rate_Gbps;
    SimTime latency_ps; /* of each of the four links of a round trip */
} Case;

/* The default thresholds: 1 us and 40 us of the link (Zhu et al., "DCQCN", 2015, 4). */
static const double kmin_s = 1e-6, kmax_s = 40e-6;

/* Round trips of 5.5 and 19.9 us with jumbo packets. The last three are those of closed_forms.csv, F333 to F335. */
static const Case cases[] = {
    {2, 100, 1000 * PS_PER_NS}, {4, 100, 1000 * PS_PER_NS},  {8, 100, 1000 * PS_PER_NS},  {16, 100, 1000 * PS_PER_NS},
    {2, 100, 4600 * PS_PER_NS}, {4, 100, 4600 * PS_PER_NS},  {8, 100, 4600 * PS_PER_NS},  {16, 100, 4600 * PS_PER_NS},
    {2, 40, 1000 * PS_PER_NS},  {10, 100, 1000 * PS_PER_NS}, {64, 400, 1000 * PS_PER_NS},
};
enum { ALWAYS = 8, ALWAYS_JUMBO_B = 9000, MTU_B = 4096 };

/* The flow that is furthest from its share of the payload, and the mean of the queue at samples 1 us apart. */
START_TEST(flows_share_equally_and_the_queue_stays_between_the_thresholds)
{
    if (_i == 0)
        truth_part("DCQCN (`packet`): each flow C/N, the queue between the thresholds");
    const Case *c = &cases[_i];
    PacketConfig config = packet_config_default();
    config.mtu_B = support_at_length() ? MTU_B : ALWAYS_JUMBO_B; /* few events a second */
    SimTime length = (c->n < 16 ? 400 : 900) * PS_PER_MS; /* the slower a flow, the longer until its mean settles */
    World world = {.n = c->n, .rate_Bps = c->rate_Gbps * GBPS, .latency_ps = c->latency_ps, .transport = "dcqcn"};
    world_begin(&run, &world, &config);
    world_send_all(&run, UINT64_C(1) << 40); /* more than moves in that time */
    world_measure(&run, 100 * PS_PER_MS, 100 * PS_PER_MS + length);
    double fair = c->rate_Gbps / c->n * config.mtu_B / (config.mtu_B + config.header_B), furthest = fair;
    for (uint32_t i = 0; i < c->n; i++)
        if (fabs(run.rate_Bps[i] / GBPS - fair) > fabs(furthest - fair))
            furthest = run.rate_Bps[i] / GBPS;
    double round_us = 4e6 * sim_time_seconds(c->latency_ps) +
                      2 * (config.mtu_B + config.header_B + config.ack_B) / world.rate_Bps * 1e6;
    g_autofree char *what =
        g_strdup_printf("%u flows, %g Gb/s, round trip %.3g us, MTU %u B", c->n, c->rate_Gbps, round_us, config.mtu_B);
    g_autofree char *furthest_of = g_strdup_printf("%s: the flow furthest from its share", what);
    g_autofree char *queue_of = g_strdup_printf("%s: mean queue", what);
    truth_within(&(TruthRow){furthest_of, "F333: C/N, of payload", "Gb/s", fair, furthest}, 0.05);
    truth_between(&(TruthRow){queue_of, "Kmin to Kmax: 1 and 40 us of the link", "us", 0,
                              run.mean_queue_B / world.rate_Bps * 1e6},
                  kmin_s * 1e6, kmax_s * 1e6);
    world_end(&run);
}
END_TEST

/* 16 to 1 at 400 Gb/s under PFC, from a cold start: CNPs go on until the switch has drained what came at once, and cut
 * all to a part of their share; from there each gains an additive step (1/1000 of the line rate) a timer. */
static double
sum_Gbps(SimTime from, SimTime until)
{
    World world = {.n = 16, .rate_Bps = 400 * GBPS, .latency_ps = 1 * PS_PER_US, .transport = "dcqcn"};
    PacketConfig config = packet_config_default();
    config.pfc = config.control_first = TRUE;
    world_begin(&run, &world, &config);
    world_send_all(&run, UINT64_C(1) << 30);
    world_measure(&run, from, until);
    double sum = run.sum_Bps / GBPS * (config.mtu_B + config.header_B) / config.mtu_B;
    world_end(&run);
    return sum;
}

START_TEST(after_a_cut_flows_gain_a_step_a_timer)
{
    enum { FROM_US = 600, UNTIL_US = 1600, WIDTH_US = 110 };
    const double step_Gbps = 0.4, timer_us = 55;
    truth_part("DCQCN from a cold start (`packet`): 16 to 1, 400 Gb/s, PFC");
    double low = sum_Gbps(FROM_US * PS_PER_US, (FROM_US + WIDTH_US) * PS_PER_US);
    double high = sum_Gbps(UNTIL_US * PS_PER_US, (UNTIL_US + WIDTH_US) * PS_PER_US);
    truth_told(&(TruthRow){"the link at 0.6 ms, after the cuts", "C", "Gb/s", 400, low});
    truth_within(&(TruthRow){"what all gain in the next ms", "16 flows, 0.4 Gb/s every 55 us", "Gb/s",
                             16 * step_Gbps * (UNTIL_US - FROM_US) / timer_us, high - low},
                 0.1);
}
END_TEST

TCase *
truth_dcqcn(void)
{
    TCase *tcase = tcase_create("dcqcn");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, flows_share_equally_and_the_queue_stays_between_the_thresholds, 0,
                        support_at_length() ? G_N_ELEMENTS(cases) : ALWAYS);
    tcase_add_test(tcase, after_a_cut_flows_gain_a_step_a_timer);
    return tcase;
}
