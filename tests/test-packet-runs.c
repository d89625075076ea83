/* Whole runs of packets: everything arrives, runs repeat, and what other models and arithmetic say of their ends. */
#include "packet_fixture.h"

#include "base/random.h"
#include "network/transport.h"

/* Many flows at random over two leaves and four spines, under a random choice of everything. Everything arrives; what
 * each host was sent went over its link, and only packets sent again went beyond; twice gives the same. */
static uint64_t
random_run(uint64_t seed, gboolean check)
{
    Random dice = random_named(seed, "packet run");
    uint32_t hosts[12];
    uint64_t into[12] = {0};
    packets_leaf_spine(6, 4, hosts);
    PacketConfig *config = &f.config.packet;
    f.config.seed = seed;
    f.config.bucket_ps = 10 * US;
    TransportSetting settings[] = {{"timeout", "300 us"}, {"recovery", recovery_names()[random_below(&dice, 3)]}};
    packets_transport(transport_names()[random_below(&dice, 6)], settings, random_below(&dice, 2) ? 2 : 1);
    config->cut_through = random_below(&dice, 2) != 0;
    config->pfc = random_below(&dice, 2) != 0;
    config->pfc_xoff_B = 12000;
    config->pfc_xon_B = 11000;
    config->pfc_headroom_B = random_below(&dice, 2) ? 6000 : PACKET_NO_LIMIT;
    config->buffer_B = random_below(&dice, 2) ? 15000 : PACKET_NO_LIMIT;
    config->shared_buffer_B = random_below(&dice, 3) ? 0 : 40000;
    config->trim = random_below(&dice, 3) == 0;
    config->control_first = random_below(&dice, 2) != 0;
    config->ecn_kmin_B = 3000;
    config->ecn_kmax_B = random_below(&dice, 2) ? 9000 : 0;
    if (config->ecn_kmax_B == 0)
        config->ecn_kmin_B = 0;
    fixture_network(&f, "packet", (RoutingPolicy)random_below(&dice, 4));
    for (uint32_t i = 0; i < 40; i++) {
        uint32_t src = (uint32_t)random_below(&dice, 12), dst = (uint32_t)random_below(&dice, 12);
        uint64_t bytes = random_below(&dice, 100000);
        Transfer transfer = fixture_transfer(&f, hosts[src], hosts[dst], bytes);
        fixture_send_at(&f, (SimTime)random_below(&dice, 100) * US, &transfer, i);
        if (src != dst)
            into[dst] += bytes;
    }
    fixture_run(&f);
    ck_assert_uint_eq(network_in_flight(f.network), 0);
    for (uint32_t h = 0; h < 12 && check; h++) {
        uint32_t down = 16 + 2 * h + 1;
        uint64_t bytes = fixture_bytes(&f, down, 0);
        ck_assert_msg(bytes == into[h],
                      "seed %" G_GUINT64_FORMAT ": host %u: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT, seed, h,
                      bytes, into[h]);
    }
    uint64_t digest = f.digest;
    fixture_end(&f);
    return digest;
}

START_TEST(everything_arrives_and_runs_repeat)
{
    uint64_t seed = (uint64_t)_i;
    ck_assert_uint_eq(random_run(seed, TRUE), random_run(seed, FALSE));
}
END_TEST

/* Of 6000 seeds those in which the last ACK of a flow comes while the flow waits for its turn to send that packet
 * again: it is closed when its turn comes. */
static const uint64_t waited[] = {1063, 3136, 5583};

START_TEST(a_flow_that_ends_while_it_waits_to_send_again_is_closed)
{
    random_run(waited[_i], TRUE);
}
END_TEST

/* Unlimited buffers, nothing before its turn: whether departures are known at once or packets wait in queues (as a
 * class for a job that is not there has it), each flow ends within 5 % of the same time: packets of one instant change
 * places, and windows carry that on. */
START_TEST(direct_and_queued_ports_agree)
{
    static const PacketClass nobody[] = {{"nobody", 1}};
    SimTime ends[2][30];
    for (uint32_t queued = 0; queued < 2; queued++) {
        Random dice = random_named((uint64_t)_i, "direct");
        uint32_t hosts[12];
        packets_leaf_spine(6, 3, hosts);
        f.config.packet.classes = nobody;
        f.config.packet.n_classes = queued;
        f.config.packet.cut_through = _i % 2 != 0;
        fixture_network(&f, "packet", _i % 3 == 0 ? ROUTING_SPRAY : ROUTING_ECMP);
        for (uint32_t i = 0; i < 30; i++) {
            uint32_t src = (uint32_t)random_below(&dice, 12), dst = (src + 1 + (uint32_t)random_below(&dice, 11)) % 12;
            Transfer transfer = fixture_transfer(&f, hosts[src], hosts[dst], 1 + random_below(&dice, 200000));
            fixture_send_at(&f, (SimTime)random_below(&dice, 100000000), &transfer, i);
        }
        fixture_run(&f);
        memcpy(ends[queued], f.delivered, sizeof ends[queued]);
        fixture_end(&f);
    }
    for (uint32_t i = 0; i < 30; i++)
        ck_assert_msg((double)llabs(ends[0][i] - ends[1][i]) <= 0.05 * (double)ends[0][i],
                      "seed %d, flow %u: %g and %g us", _i, i, (double)ends[0][i] / US, (double)ends[1][i] / US);
}
END_TEST

/* Clean cases, windows of two bandwidth-delay products and unlimited buffers: bulk times of both models within 5 %. */
typedef struct {
    uint32_t src, dst;
    uint64_t bytes;
} Flow;

static SimTime
bulk_time(const char *model, uint32_t h, uint32_t spines, const Flow *flows, uint32_t n)
{
    static const TransportSetting two[] = {{"bdp", "2"}};
    uint32_t hosts[32];
    packets_leaf_spine(h, spines, hosts);
    packets_transport("window", two, 1);
    f.config.packet.mtu_B = 4096;
    f.config.packet.header_B = 64;
    f.config.payload_fraction = 4096.0 / 4160;
    fixture_network(&f, model, ROUTING_DMODK);
    SimTime end = 0;
    for (uint32_t i = 0; i < n; i++)
        packets_send(hosts[flows[i].src], hosts[flows[i].dst], flows[i].bytes, i);
    fixture_run(&f);
    for (uint32_t i = 0; i < n; i++)
        end = MAX(end, f.delivered[i]);
    fixture_end(&f);
    return end;
}

START_TEST(bulk_times_are_those_of_the_fluid_model)
{
    enum { H = 8 };
    Flow flows[64];
    uint32_t n = 0, spines = 8;
    const uint64_t MB = 1000000;
    switch (_i) {
    case 0: /* alone */
        flows[n++] = (Flow){0, 8, 4 * MB};
        break;
    case 1: /* incast over one leaf */
        for (uint32_t i = 1; i < H; i++)
            flows[n++] = (Flow){i, 0, 2 * MB};
        break;
    case 2: /* a shift, no contention */
        for (uint32_t i = 0; i < 2 * H; i++)
            flows[n++] = (Flow){i, (i + H) % (2 * H), 2 * MB};
        break;
    case 3: /* two spines for eight */
        spines = 2;
        for (uint32_t i = 0; i < H; i++)
            flows[n++] = (Flow){i, H + i, 2 * MB};
        break;
    case 4: /* unequal sizes into one */
        for (uint32_t i = 0; i < 6; i++)
            flows[n++] = (Flow){i, 15, (i + 1) * MB};
        break;
    case 5: /* all to all within a leaf */
        for (uint32_t i = 0; i < H; i++)
            for (uint32_t j = 0; j < H; j++)
                if (i != j)
                    flows[n++] = (Flow){i, j, MB};
        break;
    case 6: /* outcast */
        for (uint32_t i = 1; i < 2 * H; i++)
            flows[n++] = (Flow){0, i, MB};
        break;
    }
    double fluid = (double)bulk_time("fluid", H, spines, flows, n),
           packet = (double)bulk_time("packet", H, spines, flows, n);
    ck_assert_msg(fabs(packet / fluid - 1) <= 0.05, "case %d: packet %g us, fluid %g us", _i, packet / US, fluid / US);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("packet-runs");
    TCase *tcase = tcase_create("cases");
    tcase_add_loop_test(tcase, everything_arrives_and_runs_repeat, 0, 60);
    tcase_add_loop_test(tcase, a_flow_that_ends_while_it_waits_to_send_again_is_closed, 0, G_N_ELEMENTS(waited));
    tcase_add_loop_test(tcase, direct_and_queued_ports_agree, 0, 20);
    tcase_add_loop_test(tcase, bulk_times_are_those_of_the_fluid_model, 0, 7);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
