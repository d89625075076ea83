/* truth_queueing.c - one server: packets come to a switch by a link so fast that it takes 1 ps, at random, and leave it
 * by a slow one; what each waits there is compared with the queues of the textbooks */
#include "base/random.h"
#include "network_fixture.h"
#include "truth.h"

#include <math.h>

enum { SEEDS = 20, HEADER_B = 1 };

static const double rate_Bps = 1.25e9;
static const SimTime hop_ps = 100 * PS_PER_NS;

typedef struct {
    Fixture fixture;
    uint32_t source, sink, client, kind_come;
    Random dice;
    double gap_s, mean_B;
    gboolean exponential; /* sizes too */
    uint32_t n, come, gone;
    SimTime *came, *service; /* by packet */
    double wait_s;           /* sum over all but the first tenth */
} Queue;

/* By the logarithm of a uniform number in (0, 1]. */
static double
exponential(Random *dice, double mean)
{
    return -mean * log(1 - random_unit(dice));
}

static void
gone(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Queue *queue = owner;
    if (moment != NETWORK_DELIVERED)
        return;
    queue->gone++;
    SimTime wait = engine_now(queue->fixture.engine) - queue->came[cookie] - queue->service[cookie] - 2 * hop_ps - 1;
    ck_assert_int_ge(wait, 0);
    if (cookie >= queue->n / 10)
        queue->wait_s += sim_time_seconds(wait);
}

static void
come(void *owner, const Event *event)
{
    (void)event;
    Queue *queue = owner;
    Engine *engine = queue->fixture.engine;
    double wire_B = queue->exponential ? floor(exponential(&queue->dice, queue->mean_B) + 0.5) : queue->mean_B;
    wire_B = CLAMP(wire_B, HEADER_B + 1, 65535);
    uint32_t packet = queue->come++;
    queue->came[packet] = engine_now(engine);
    ck_assert(sim_time_from_bytes(wire_B, rate_Bps, &queue->service[packet]));
    Transfer transfer = fixture_transfer(&queue->fixture, queue->source, queue->sink, (uint64_t)wire_B - HEADER_B);
    ck_assert(network_send(queue->fixture.network, queue->client, &transfer, packet, NULL));
    SimTime gap;
    if (queue->come < queue->n && sim_time_from_seconds(exponential(&queue->dice, queue->gap_s), &gap))
        engine_schedule_in(engine, gap, (Event){.kind = queue->kind_come, .sender = 3});
}

/* The mean wait in units of the mean service. */
static double
mean_wait(double load, gboolean exponential_sizes, uint64_t seed, uint32_t n)
{
    static Queue queue;
    queue = (Queue){.mean_B = 3000, .exponential = exponential_sizes, .n = n};
    queue.gap_s = queue.mean_B / rate_Bps / load;
    queue.dice = random_named(seed, "queueing");
    queue.came = g_new(SimTime, n);
    queue.service = g_new(SimTime, n);
    Fixture *fixture = &queue.fixture;
    fixture_begin(fixture);
    queue.source = fixture_node(fixture, NODE_HOST, "source");
    queue.sink = fixture_node(fixture, NODE_HOST, "sink");
    uint32_t leaf = fixture_node(fixture, NODE_LEAF, "leaf");
    fixture_cable(fixture, queue.source, leaf, LINK_MAX_Bps, hop_ps);
    fixture_cable(fixture, leaf, queue.sink, rate_Bps, hop_ps);
    fixture->config.books = FALSE;
    fixture->config.packet.header_B = HEADER_B;
    fixture->config.packet.mtu_B = 65535 - HEADER_B;
    fixture_network(fixture, "packet", ROUTING_ECMP);
    queue.client = network_add_client(fixture->network, gone, &queue);
    queue.kind_come = engine_add_kind(fixture->engine, come, &queue);
    engine_schedule(fixture->engine, (Event){.when = 0, .kind = queue.kind_come, .sender = 3});
    fixture_run(fixture);
    ck_assert_uint_eq(queue.gone, n);
    fixture_end(fixture);
    g_free(queue.came);
    g_free(queue.service);
    return queue.wait_s / (n - n / 10) / (queue.mean_B / rate_Bps);
}

/* In mean services. The first ones always, all at length (make truth). */
enum { ALWAYS = 2 };
static const struct {
    double load;
    gboolean exponential;
} queues[] = {
    {0.5, FALSE}, {0.8, TRUE}, {0.1, FALSE}, {0.1, TRUE}, {0.5, TRUE}, {0.8, FALSE}, {0.9, FALSE}, {0.9, TRUE},
};

/* Pollaczek, Khinchin: rho / (1 - rho), and half of it where services are equal (closed_forms.csv, F259 to F272). Mean
 * over seeds, of at least a million packets, within three standard errors of it, which are below 2 % of the wait. */
START_TEST(waits_are_those_of_the_textbook)
{
    if (_i == 0)
        truth_part("Queues (`packet`): mean wait in mean services");
    uint32_t n = support_at_length() ? 200000 : 50000;
    double sum = 0, squares = 0, load = queues[_i].load;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        double wait = mean_wait(load, queues[_i].exponential, seed, n);
        sum += wait;
        squares += wait * wait;
    }
    double mean = sum / SEEDS, error = sqrt((squares - sum * mean) / (SEEDS - 1) / SEEDS);
    double expected = load / (1 - load) / (queues[_i].exponential ? 1 : 2);
    g_autofree char *what = g_strdup_printf("M/%s/1, load %g, %u packets with %d seeds",
                                            queues[_i].exponential ? "M" : "D", load, SEEDS * n, SEEDS);
    const char *source = queues[_i].exponential ? "M/M/1: rho/(1 - rho)" : "M/D/1: rho/(2 (1 - rho))";
    ck_assert_double_lt(error, 0.02 * expected);
    truth_in_errors(&(TruthRow){what, source, "", expected, mean}, error);
}
END_TEST

TCase *
truth_queueing(void)
{
    TCase *tcase = tcase_create("waits");
    tcase_set_timeout(tcase, 1200);
    tcase_add_loop_test(tcase, waits_are_those_of_the_textbook, 0, support_at_length() ? G_N_ELEMENTS(queues) : ALWAYS);
    return tcase;
}
