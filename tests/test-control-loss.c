#include "transport_world.h"

/* A lost control packet never ends a run: each transport with each recovery, and of each kind of control packet that
 * the run has, the first, the middle or the last one is lost, which no dice of a link would pick: all flows end all the
 * same. 8 senders into a port with room for 12 packets, so that data is lost or trimmed as well. */

#define GBPS 1.25e8

enum { SENDERS = 8, BYTES = 400001, SEVERAL = 3, TRIMMED_HEADER = PACKET_SIGNAL + 3, KINDS, NOTHING };

static const char *const kinds[KINDS] = {[PACKET_ACK] = "ACK",
                                         [PACKET_NACK] = "NACK",
                                         [PACKET_SIGNAL + TRANSPORT_CNP] = "CNP",
                                         [PACKET_SIGNAL + TRANSPORT_PULL] = "pull",
                                         [PACKET_SIGNAL + TRANSPORT_ASK] = "ask",
                                         [TRIMMED_HEADER] = "trimmed header"};
static const char *const transports[] = {"window", "dcqcn", "swift", "timely", "hpcc", "ndp"};
static const char *const recoveries[] = {"go_back_n", "selective_repeat", "reorder_tolerant"};

enum { CASES = G_N_ELEMENTS(transports) * G_N_ELEMENTS(recoveries) };

/* What passes a link is looked at twice in its latency. One packet is lost by making the link lose all that arrives in
 * the picosecond in which it does, and no other. */
static const SimTime latency_ps = 2 * PS_PER_US, look_ps = PS_PER_US;

static WorldRun run;
static struct {
    uint32_t kind, wanted; /* the how-many-th of the kind is lost */
    uint32_t found[KINDS], lost;
    SimTime seen[2 * SENDERS + 2]; /* by link: all that arrive until then have been counted */
    uint32_t kind_look, kind_lose;
    double loss; /* of that link before */
    uint64_t dropped;
} spy;

static uint32_t
kind_of(const Packet *packet)
{
    uint32_t kind = packet->kind & ((1 << CLASS_SHIFT) - 1);
    return kind == PACKET_DATA && packet->flags & TRIMMED ? TRIMMED_HEADER : kind;
}

/* stamp 1: begin to lose; 0: as before. */
static void
lose(void *owner, const Event *event)
{
    (void)owner;
    PacketNet *net = world_net(&run);
    Port *port = &net->ports[event->target];
    double *loss = &net->rest[event->target].loss;
    uint64_t dropped = net->rest[event->target].counts.dropped;
    if (event->stamp == 1) {
        spy.loss = *loss;
        *loss = 1;
        port->flags |= LOSES;
        spy.dropped = dropped;
    } else {
        *loss = spy.loss;
        spy.lost += (uint32_t)(dropped - spy.dropped);
        if (spy.loss == 0)
            port->flags &= (uint8_t)~LOSES;
    }
}

static void
look(void *owner, const Event *event)
{
    (void)owner;
    Engine *engine = run.fixture.engine;
    const PacketNet *net = world_net(&run);
    for (uint32_t link = 0; link < G_N_ELEMENTS(spy.seen); link++)
        for (uint32_t p = net->ports[link].head; p != INDEX_NONE; p = net->packets[p].next) {
            const Packet *packet = &net->packets[p];
            uint32_t kind = kind_of(packet);
            gboolean counts =
                link == run.bottleneck || link == run.bottleneck + 1 || kind == PACKET_SIGNAL + TRANSPORT_ASK;
            if (packet->when <= spy.seen[link])
                continue;
            spy.seen[link] = packet->when;
            if (!counts || spy.found[kind]++ != spy.wanted || kind != spy.kind)
                continue;
            engine_schedule(
                engine,
                (Event){.when = packet->when - 1, .kind = spy.kind_lose, .target = link, .sender = 2, .stamp = 1});
            engine_schedule(engine,
                            (Event){.when = packet->when + 1, .kind = spy.kind_lose, .target = link, .sender = 2});
        }
    if (network_in_flight(run.fixture.network) > 0)
        engine_schedule(engine, (Event){.when = event->when + look_ps, .kind = spy.kind_look, .sender = 2});
}

/* Runs to the end, losing that one. */
static void
play(const World *world, uint32_t kind, uint32_t wanted)
{
    PacketConfig config = packet_config_default();
    config.buffer_B = 12 * 4160;
    config.ecn_kmin_B = 4160;
    config.ecn_kmax_B = 5 * 4160;
    memset(&spy, 0, sizeof spy);
    spy.kind = kind;
    spy.wanted = wanted;
    world_begin(&run, world, &config);
    spy.kind_look = engine_add_kind(run.fixture.engine, look, NULL);
    spy.kind_lose = engine_add_kind(run.fixture.engine, lose, NULL);
    world_send_all(&run, BYTES);
    engine_schedule(run.fixture.engine, (Event){.when = look_ps, .kind = spy.kind_look, .sender = 2});
    fixture_run(&run.fixture);
    ck_assert_uint_eq(spy.lost, kind != NOTHING);
    ck_assert_uint_eq(network_in_flight(run.fixture.network), 0);
    for (uint32_t i = 0; i < SENDERS; i++)
        ck_assert_msg(run.fixture.delivered[i] > 0, "%s, %s: without %s %u flow %u has not ended", world->transport,
                      world->settings[0].text, kind != NOTHING ? kinds[kind] : "losing", wanted, i);
    world_end(&run);
}

/* Kinds that a transport must have, whatever the recovery; others are lost where they come up. */
static const struct {
    const char *transport;
    uint32_t kind;
} certain[] = {{"window", PACKET_ACK},
               {"dcqcn", PACKET_SIGNAL + TRANSPORT_CNP},
               {"ndp", PACKET_SIGNAL + TRANSPORT_PULL},
               {"ndp", PACKET_SIGNAL + TRANSPORT_ASK},
               {"ndp", PACKET_NACK},
               {"ndp", TRIMMED_HEADER}};

START_TEST(a_lost_control_packet_never_ends_a_run)
{
    World world = {.n = SENDERS,
                   .rate_Bps = 100 * GBPS,
                   .latency_ps = latency_ps,
                   .transport = transports[_i / 3],
                   .settings = {{"recovery", recoveries[_i % 3]}}};
    if (g_str_equal(world.transport, "ndp"))
        world.loss_back = 0.05; /* pulls that never come are asked for */
    play(&world, NOTHING, 0);
    uint32_t found[KINDS];
    memcpy(found, spy.found, sizeof found);
    ck_assert_uint_gt(found[PACKET_ACK], SENDERS);
    if (_i % 3 == RECOVERY_GO_BACK_N)
        ck_assert_uint_gt(found[PACKET_NACK], 0);
    for (size_t c = 0; c < G_N_ELEMENTS(certain); c++)
        if (g_str_equal(certain[c].transport, world.transport))
            ck_assert_msg(found[certain[c].kind] > 0, "%s, %s: no %s", world.transport, world.settings[0].text,
                          kinds[certain[c].kind]);
    for (uint32_t kind = PACKET_ACK; kind < KINDS; kind++) {
        const uint32_t wanted[SEVERAL] = {0, found[kind] / 2, found[kind] - 1};
        for (uint32_t w = 0; w < SEVERAL && found[kind] > 0; w++)
            play(&world, kind, wanted[w]);
    }
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("control-loss");
    TCase *tcase = tcase_create("loss");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_lost_control_packet_never_ends_a_run, 0, CASES);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
