/* What queueing theory, and arithmetic on long links and incast, say of packets. */
#include "network_fixture.h"

#include "base/random.h"
#include "network/transport.h"

static Fixture f;

static void
set_transport(const TransportSetting *settings, uint32_t n)
{
    f.config.packet.transport = "window";
    f.config.packet.settings = settings;
    f.config.packet.n_settings = n;
}

/* A queue of Poisson arrivals: messages of one packet from a fast link into a slow one. */
enum { SEEDS = 20, PACKETS = 50000 };

typedef struct {
    Engine *engine;
    Network *network;
    uint32_t client, src, dst, kind, sent;
    Random dice;
    double mean_gap_ps;
    uint32_t mean_B; /* on the wire; exponential sizes: the mean */
    gboolean exponential;
    SimTime *start_ps; /* by packet: when it began, plus its own time on the slow link */
    double waited_ps;
} Queue;

static const double slow_Bps = 1e9;

static double
draw(Random *dice)
{
    return -log(1 - random_unit(dice));
}

static void
handle_arrival(void *owner, const Event *event)
{
    Queue *queue = owner;
    uint64_t wire_B = queue->mean_B;
    if (queue->exponential)
        wire_B = 1 + (uint64_t)MIN(draw(&queue->dice) * queue->mean_B, 60000);
    Transfer transfer = {.coflow = INDEX_NONE,
                         .src = queue->src,
                         .dst = queue->dst,
                         .src_nic = INDEX_NONE,
                         .dst_nic = INDEX_NONE,
                         .bytes = wire_B - 1,
                         .weight = 1,
                         .rate_cap_Bps = INFINITY};
    queue->start_ps[queue->sent] = event->when + (SimTime)((double)wire_B * PS_PER_S / slow_Bps);
    ck_assert(network_send(queue->network, queue->client, &transfer, queue->sent++, NULL));
    if (queue->sent < PACKETS)
        engine_schedule_in(queue->engine, (SimTime)(draw(&queue->dice) * queue->mean_gap_ps),
                           (Event){.kind = queue->kind, .sender = 1});
}

static void
told(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Queue *queue = owner;
    if (moment == NETWORK_DELIVERED)
        queue->waited_ps += (double)(engine_now(queue->engine) - queue->start_ps[cookie]);
}

/* The mean wait of one seed, in ps. */
static double
mean_wait(uint64_t seed, double load, gboolean exponential)
{
    g_autofree SimTime *start_ps = g_new(SimTime, PACKETS);
    Queue queue = {.mean_B = 3000,
                   .exponential = exponential,
                   .mean_gap_ps = 3000 * PS_PER_S / slow_Bps / load,
                   .dice = random_named(seed, "arrivals"),
                   .start_ps = start_ps};
    fixture_begin(&f);
    queue.src = fixture_node(&f, NODE_HOST, "src");
    uint32_t middle = fixture_node(&f, NODE_LEAF, "middle");
    queue.dst = fixture_node(&f, NODE_HOST, "dst");
    fixture_cable(&f, queue.src, middle, 1e15, 0);
    fixture_cable(&f, middle, queue.dst, slow_Bps, 0);
    f.config.books = FALSE;
    f.config.packet.mtu_B = 62000;
    f.config.packet.header_B = 1;
    f.config.packet.ack_B = 1;
    fixture_network(&f, "packet", ROUTING_ECMP);
    queue.engine = f.engine;
    queue.network = f.network;
    queue.client = network_add_client(f.network, told, &queue);
    queue.kind = engine_add_kind(f.engine, handle_arrival, &queue);
    engine_schedule(f.engine, (Event){.when = 0, .kind = queue.kind, .sender = 1});
    fixture_run(&f);
    fixture_end(&f);
    return queue.waited_ps / PACKETS;
}

/* Waits over service times: M/D/1 load / (2 (1 - load)), M/M/1 load / (1 - load) (Kleinrock, Queueing Systems I,
 * 1975, 5.6 and 3.2). A million packets over 20 seeds; within 3 standard errors, estimated from the seeds. */
static const struct {
    double load;
    gboolean exponential;
} queues[] = {{0.5, FALSE}, {0.8, FALSE}, {0.5, TRUE}, {0.7, TRUE}};

START_TEST(waits_are_those_of_queueing_theory)
{
    double load = queues[_i].load, service_ps = 3000 * PS_PER_S / slow_Bps;
    double expected = load / (1 - load) * (queues[_i].exponential ? 1 : 0.5), sum = 0, squares = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double wait = mean_wait(seed, load, queues[_i].exponential) / service_ps;
        sum += wait;
        squares += wait * wait;
    }
    double mean = sum / SEEDS, error = sqrt((squares / SEEDS - mean * mean) / (SEEDS - 1));
    ck_assert_msg(fabs(mean - expected) <= 3 * error && error < 0.05 * expected, "%d: %g +- %g, expected %g", _i, mean,
                  error, expected);
}
END_TEST

/* 100 km at 400 Gb/s and 5 us a km, MTU 9216 B on the wire, drained at D = C / 10. After a pause was asked for come C
 * (2 L/v + t_resp) and two packets: 50e9 x (1 ms + 3.84 us) + 2 x 9216 = 50.21 MB. Such headroom loses nothing; with 40
 * MB packets are lost, and go back n sends many times what it lost. Rows: headroom, what may be lost. */
typedef struct {
    SimTime end_ps;
    PacketTotals totals;
    SimTime drained_ps; /* time in which the drain was busy */
} Long;

static Long
long_link(uint64_t headroom_B, uint64_t xon_B, double drain_Bps, uint64_t bytes)
{
    static const TransportSetting settings[] = {{"window", "10 GB"}, {"recovery", "go_back_n"}, {"timeout", "50 ms"}};
    fixture_begin(&f);
    uint32_t a = fixture_node(&f, NODE_HOST, "a"), s = fixture_node(&f, NODE_DCI, "s");
    uint32_t b = fixture_node(&f, NODE_HOST, "b");
    fixture_cable(&f, a, s, 50e9, 500 * PS_PER_US);
    uint32_t drain = fixture_cable(&f, s, b, drain_Bps, PS_PER_US);
    set_transport(settings, 3);
    f.config.packet.mtu_B = 9152;
    f.config.packet.pfc = TRUE;
    f.config.packet.control_first = TRUE;
    f.config.packet.pfc_xoff_B = xon_B + 9216;
    f.config.packet.pfc_xon_B = xon_B;
    f.config.packet.pfc_response_ps = 3840 * PS_PER_NS;
    f.config.packet.pfc_headroom_B = headroom_B;
    fixture_network(&f, "packet", ROUTING_ECMP);
    Transfer transfer = fixture_transfer(&f, a, b, bytes);
    fixture_send(&f, &transfer, 0);
    fixture_run(&f);
    Long result = {f.delivered[0], network_totals(f.network).packet, fixture_busy(&f, drain, INDEX_NONE)};
    fixture_end(&f);
    return result;
}

START_TEST(a_long_link_needs_headroom_of_a_round_trip)
{
    const uint64_t bytes = 100000000;
    const double drain_Bps = 5e9;
    uint64_t enough = 50210432; /* 50e9 x 1003.84 us + 18432 B */
    Long kept = long_link(enough, 100000, drain_Bps, bytes), lost = long_link(40000000, 100000, drain_Bps, bytes);
    ck_assert(kept.end_ps > 0 && kept.totals.dropped == 0 && kept.totals.resent == 0);
    ck_assert(lost.end_ps > 0 && lost.totals.dropped > 0 && lost.totals.resent >= lost.totals.dropped);
    ck_assert_int_gt(lost.end_ps, kept.end_ps);
}
END_TEST

/* The drain, D = C / 2, idles where less waits when the far end is let go than D (2 L/v + t_resp) = 25.1 MB. With so
 * much it is busy from the first packet to the last. With xon = X, a tenth of it, a round is, T being 2 L/v + t_resp: X
 * runs empty in X / D; nothing comes until T is over; then the queue rises to X again in X / (C - D), the pause is
 * asked for, and what comes for one T more, C T in all, is drained in C T / D. */
START_TEST(a_drain_never_idles_above_its_round_trip)
{
    const double drain_Bps = 25e9, trip_s = 1003.84e-6;
    const uint64_t bytes = 400000000, full_B = (uint64_t)(drain_Bps * trip_s) + 2 * 9216;
    Long busy = long_link(PACKET_NO_LIMIT, full_B, drain_Bps, bytes);
    Long idle = long_link(PACKET_NO_LIMIT, full_B / 10, drain_Bps, bytes);
    double wire_B = (double)((bytes + 9151) / 9152 * 64 + bytes);
    SimTime first = 500 * PS_PER_US + 9216 * 20 + PS_PER_US;
    ck_assert_double_le(fabs((double)(busy.end_ps - first) - wire_B / drain_Bps * 1e12), 1e6);
    double x_B = (double)(full_B / 10), rate_Bps = 50e9;
    double busy_s = x_B / drain_Bps + x_B / (rate_Bps - drain_Bps) + rate_Bps * trip_s / drain_Bps;
    double goodput = busy_s / (busy_s + trip_s - x_B / drain_Bps);
    double got = wire_B / drain_Bps / ((double)(idle.end_ps - first) / 1e12);
    ck_assert_double_lt(got, 0.99);
    ck_assert_msg(fabs(got / goodput - 1) <= 0.05, "%g of the drain, by hand %g", got, goodput);
}
END_TEST

/* 127 to 1, 2 MB each, 100 Gb/s, PFC: 127 x 2 MB on the last link are 20.32 ms; with headers 489 x 64 B a flow more.
 * The end is within 1 % above. */
START_TEST(incast_of_127_ends_with_its_last_link)
{
    fixture_begin(&f);
    uint32_t leaf = fixture_node(&f, NODE_LEAF, "leaf"), to = fixture_node(&f, NODE_HOST, "to");
    fixture_cable(&f, leaf, to, 12.5e9, PS_PER_US);
    f.config.packet.pfc = TRUE;
    for (uint32_t i = 0; i < 127; i++) {
        g_autofree char *name = g_strdup_printf("from%u", i);
        fixture_cable(&f, fixture_node(&f, NODE_HOST, name), leaf, 12.5e9, PS_PER_US);
    }
    fixture_network(&f, "packet", ROUTING_ECMP);
    for (uint32_t i = 0; i < 127; i++) {
        Transfer transfer = fixture_transfer(&f, 2 + i, to, 2000000);
        fixture_send(&f, &transfer, i);
    }
    fixture_run(&f);
    SimTime end = 0;
    for (uint32_t i = 0; i < 127; i++)
        end = MAX(end, f.delivered[i]);
    double wire = 127 * (2000000.0 + 489 * 64) / 12.5e9 * 1e12;
    ck_assert_double_ge((double)end, wire);
    ck_assert_double_le((double)end, 1.01 * wire);
    ck_assert_uint_eq(network_totals(f.network).packet.dropped, 0);
    fixture_end(&f);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("packet-truth");
    TCase *tcase = tcase_create("theory");
    tcase_add_loop_test(tcase, waits_are_those_of_queueing_theory, 0, G_N_ELEMENTS(queues));
    tcase_add_test(tcase, a_long_link_needs_headroom_of_a_round_trip);
    tcase_add_test(tcase, a_drain_never_idles_above_its_round_trip);
    tcase_add_test(tcase, incast_of_127_ends_with_its_last_link);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
