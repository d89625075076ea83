#include "transport_world.h"

#define GBPS 1.25e8

enum { SENDERS = 8, BYTES = 500001 }; /* 123 packets each, the last of 289 B */

static WorldRun run;

static const char *const transports[] = {"window", "dcqcn", "swift", "timely", "hpcc", "ndp"};
static const char *const recoveries[] = {"go_back_n", "selective_repeat", "reorder_tolerant"};
/* Of packets on each of two links, there and back: data; ACKs, NACKs, CNPs and pulls; both; half of what comes back. */
static const struct {
    double there, back;
} losses[] = {{0.01, 0}, {0, 0.01}, {0.02, 0.02}, {0, 0.3}};

enum { CASES = G_N_ELEMENTS(transports) * G_N_ELEMENTS(recoveries) * G_N_ELEMENTS(losses) };

static World
world_of(int number)
{
    return (World){.n = SENDERS,
                   .rate_Bps = 100 * GBPS,
                   .latency_ps = 2 * PS_PER_US,
                   .loss = losses[number % 4].there,
                   .loss_back = losses[number % 4].back,
                   .transport = transports[number / 12],
                   .settings = {{"recovery", recoveries[number / 4 % 3]}}};
}

/* Runs all to the end; a digest of when they ended. */
static uint64_t
play(const World *world, uint64_t seed, gboolean pfc)
{
    PacketConfig config = packet_config_default();
    config.pfc = pfc;
    world_begin_seeded(&run, world, &config, seed);
    world_send_all(&run, BYTES);
    fixture_run(&run.fixture);
    for (uint32_t i = 0; i < SENDERS; i++)
        ck_assert_msg(run.fixture.delivered[i] > 0, "%s, %s: flow %u has not ended", world->transport,
                      world->settings[0].text, i);
    ck_assert_uint_eq(network_in_flight(run.fixture.network), 0);
    /* DEFINITIONS 3: what went over a link is what was to, however often it was sent. */
    ck_assert_uint_eq(fixture_bytes(&run.fixture, run.bottleneck, 0), (uint64_t)SENDERS * BYTES);
    for (uint32_t i = 0; i < SENDERS; i++)
        ck_assert_uint_eq(fixture_bytes(&run.fixture, 2 * i, 0), BYTES);
    uint64_t digest = run.fixture.digest;
    world_end(&run);
    return digest;
}

START_TEST(whatever_is_lost_all_flows_end)
{
    World world = world_of(_i);
    uint64_t first = play(&world, 7, FALSE);
    ck_assert_uint_eq(play(&world, 7, FALSE), first);
    if (world.loss > 0) /* of lost ACKs alone the next ones may make up for all */
        ck_assert_uint_ne(play(&world, 8, FALSE), first);
}
END_TEST

/* Likewise in switches that pause, where a lost packet is one of the cable's. */
START_TEST(whatever_is_lost_under_pauses_all_flows_end)
{
    World world = world_of(_i * 12 + 2);
    uint64_t first = play(&world, 7, TRUE);
    ck_assert_uint_eq(play(&world, 7, TRUE), first);
}
END_TEST

/* Without loss nothing is sent again, whatever the recovery. */
START_TEST(without_loss_nothing_is_sent_again)
{
    World world = world_of(_i * 4);
    world.loss = 0;
    PacketConfig config = packet_config_default();
    config.buffer_B = 1 << 30;
    world_begin(&run, &world, &config);
    world_send_all(&run, BYTES);
    fixture_run(&run.fixture);
    PacketTotals totals = network_totals(run.fixture.network).packet;
    ck_assert_uint_eq(totals.resent, 0);
    ck_assert_uint_eq(totals.dropped, 0);
    ck_assert_uint_eq(totals.data_hops, 2 * SENDERS * 123);
    ck_assert_uint_eq(fixture_bytes(&run.fixture, run.bottleneck, 0), (uint64_t)SENDERS * BYTES);
    world_end(&run);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("transport-loss");
    TCase *tcase = tcase_create("loss");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, whatever_is_lost_all_flows_end, 0, CASES);
    tcase_add_loop_test(tcase, whatever_is_lost_under_pauses_all_flows_end, 0, G_N_ELEMENTS(transports));
    tcase_add_loop_test(tcase, without_loss_nothing_is_sent_again, 0, CASES / 4);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
