/* test-flight.c - rings reckoned in flight against the same rings sent message by message
 *
 * By seed: fabrics, rings of every kind with slices, channels and reductions, members that come late, alone and with
 * foreign transfers, faults and a second collective in mid-run. Alone all is equal to the picosecond and the byte,
 * disturbed within max(10 ps, 1e-9). */
#include "random_world.h"
#include "support.h"

#include "collective/collective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, MOST_FOREIGN = 4, SEED = 5, COLLECTIVES = 2 };

typedef struct {
    CollectiveSpec spec;
    CollectiveConfig config;
    uint32_t nodes[MOST], ranks[MOST];
    SimTime ready_ps[MOST];
} One;

typedef struct {
    Fabric *fabric;
    RoutingPolicy routing;
    uint32_t n_collectives, n_foreign, n_faults;
    One one[COLLECTIVES];
    Transfer foreign[MOST_FOREIGN];
    SimTime foreign_ps[MOST_FOREIGN];
    WorldFault fault[MOST_FOREIGN];
    SimTime bucket_ps;
} Case;

static uint32_t
below(Random *dice, uint32_t bound)
{
    return (uint32_t)random_below(dice, bound);
}

static void
nobody(void *owner, uint32_t cookie)
{
}

static gboolean
has_plan(const Fabric *fabric, const One *one)
{
    NetworkConfig config = network_config_default();
    g_autoptr(Engine) engine = engine_new(SEED);
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    g_autoptr(Network) network = network_new("fluid", &config, routes, engine, NULL, NULL);
    network_add_job(network, "ada");
    g_autoptr(CollectiveRunner) runner = collective_runner_new(network, engine, nobody, NULL);
    g_autoptr(GError) error = NULL;
    return collective_open(runner, &one->spec, &one->config, 0, &error) != INDEX_NONE;
}

static void
random_ring(Case *given, One *one, Random *dice)
{
    static const CollectiveKind kinds[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_GATHER, COLLECTIVE_REDUCE_SCATTER};
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(given->fabric, &n_gpus);
    one->spec = (CollectiveSpec){.kind = kinds[below(dice, 3)], .nodes = one->nodes, .ranks = one->ranks};
    one->spec.n = MIN(n_gpus, 2 + below(dice, MOST - 1));
    uint32_t first = below(dice, n_gpus);
    for (uint32_t i = 0; i < one->spec.n; i++) {
        one->nodes[i] = gpus[(first + i) % n_gpus];
        one->ranks[i] = i;
        one->ready_ps[i] = 0;
    }
    one->spec.bytes = below(dice, 2) ? one->spec.n * UINT64_C(65536) * below(dice, 40)
                                     : random_below(dice, UINT64_C(1) << (1 + below(dice, 25)));
    one->config = collective_config_default();
    one->config.channels = below(dice, 3);
    one->config.slice_B = below(dice, 3) * UINT64_C(65536) * below(dice, 3);
    one->config.reduce_cost_s_per_B = below(dice, 2) * 1e-12 * below(dice, 200);
    one->config.algorithm[one->spec.kind] = below(dice, 3) ? "ring" : "hierarchical";
    if (!has_plan(given->fabric, one)) /* servers of unlike numbers of members */
        one->config.algorithm[one->spec.kind] = "ring";
}

static void
begin_case(Case *given, const char *name, int seed)
{
    Random dice = random_named((uint64_t)seed, name);
    *given = (Case){.fabric = random_fabric(&dice, TRUE), .routing = random_routing(&dice), .n_collectives = 1};
    given->bucket_ps = (SimTime)(1 + below(&dice, 100)) * PS_PER_US;
    random_ring(given, &given->one[0], &dice);
}

/* What else happens: transfers of another job, links that slow down, die and come back, a second collective. */
static void
disturb(Case *given, SimTime span_ps, int seed)
{
    Random dice = random_named((uint64_t)seed, "disturbance");
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(given->fabric, &n_gpus);
    given->n_foreign = below(&dice, MOST_FOREIGN + 1);
    for (uint32_t i = 0; i < given->n_foreign; i++) {
        uint32_t src = below(&dice, n_gpus), dst = below(&dice, n_gpus);
        given->foreign[i] = (Transfer){.job = 1,
                                       .coflow = INDEX_NONE,
                                       .src_rank = src,
                                       .dst_rank = dst,
                                       .src = gpus[src],
                                       .dst = gpus[dst],
                                       .src_nic = INDEX_NONE,
                                       .dst_nic = INDEX_NONE,
                                       .bytes = random_below(&dice, 4000000),
                                       .weight = 1,
                                       .rate_cap_Bps = INFINITY};
        given->foreign_ps[i] = (SimTime)random_below(&dice, (uint64_t)span_ps + 1);
    }
    given->n_faults = below(&dice, 3);
    for (uint32_t i = 0; i < given->n_faults; i++) {
        uint32_t link = below(&dice, fabric_n_links(given->fabric));
        double rate = fabric_link(given->fabric, link)->capacity_Bps * (1 + below(&dice, 4)) / 2;
        given->fault[i] = (WorldFault){(SimTime)random_below(&dice, (uint64_t)span_ps + 1), link, rate};
    }
    gboolean late = below(&dice, 2) == 0;
    for (uint32_t i = 0; late && i < given->one[0].spec.n; i++)
        given->one[0].ready_ps[i] = (SimTime)random_below(&dice, (uint64_t)span_ps + 1);
    if (below(&dice, 2) == 0)
        return;
    random_ring(given, &given->one[1], &dice);
    given->n_collectives = 2;
    for (uint32_t i = 0; i < given->one[1].spec.n; i++)
        given->one[1].ready_ps[i] = (SimTime)random_below(&dice, (uint64_t)span_ps + 1);
    gboolean together = below(&dice, 2) == 0;
    for (uint32_t i = 1; together && i < given->one[1].spec.n; i++)
        given->one[1].ready_ps[i] = given->one[1].ready_ps[0];
}

typedef struct {
    const Case *given;
    Engine *engine;
    Network *network;
    CollectiveRunner *runner;
    uint32_t client, handle[COLLECTIVES], n_foreign_ended;
    SimTime end_ps[COLLECTIVES];
    NetworkTotals totals;
    uint64_t events;
    WorldLog log;
} Run;

static void
on_done(void *owner, uint32_t cookie)
{
    Run *run = owner;
    ck_assert_int_eq(run->end_ps[cookie], -1);
    run->end_ps[cookie] = engine_now(run->engine);
}

static void
on_ready(void *owner, const Event *event)
{
    Run *run = owner;
    collective_arrive(run->runner, run->handle[event->stamp], event->target);
}

static void
on_foreign(void *owner, const Event *event)
{
    Run *run = owner;
    ck_assert(network_send(run->network, run->client, &run->given->foreign[event->target], 0, NULL));
}

static void
on_foreign_moment(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Run *run = owner;
    run->n_foreign_ended += moment == NETWORK_DELIVERED;
}

static void
schedule_all(Run *run)
{
    const Case *given = run->given;
    uint32_t ready = engine_add_kind(run->engine, on_ready, run);
    for (uint32_t c = 0; c < given->n_collectives; c++) {
        for (uint32_t i = 0; i < given->one[c].spec.n; i++)
            engine_schedule(
                run->engine,
                (Event){.when = given->one[c].ready_ps[i], .kind = ready, .target = i, .sender = i, .stamp = c});
    }
    uint32_t foreign = engine_add_kind(run->engine, on_foreign, run);
    for (uint32_t i = 0; i < given->n_foreign; i++)
        engine_schedule(run->engine,
                        (Event){.when = given->foreign_ps[i], .kind = foreign, .target = i, .sender = 100 + i});
    for (uint32_t i = 0; i < given->n_faults; i++)
        network_set_link_at(run->network, given->fault[i].link, given->fault[i].rate_Bps, given->fault[i].at_ps);
}

static void
run_case(const Case *given, gboolean one_by_one, Run *run, int seed)
{
    *run = (Run){.given = given, .engine = engine_new(SEED), .end_ps = {-1, -1}};
    world_log_begin(&run->log);
    NetworkConfig network_config = network_config_default();
    network_config.seed = SEED;
    network_config.bucket_ps = given->bucket_ps;
    NetworkObserver observer = world_log_observer(&run->log);
    g_autoptr(Routes) routes = routes_new(given->fabric, given->routing);
    Network *network = run->network = network_new("fluid", &network_config, routes, run->engine, &observer, NULL);
    network_add_job(network, "ada");
    network_add_job(network, "grace");
    run->client = network_add_client(network, on_foreign_moment, run);
    run->runner = collective_runner_new(network, run->engine, on_done, run);
    GError *error = NULL;
    CollectiveConfig config[COLLECTIVES];
    for (uint32_t c = 0; c < given->n_collectives; c++) {
        config[c] = given->one[c].config;
        config[c].one_by_one = one_by_one;
        CollectiveSpec spec = given->one[c].spec;
        spec.coflow = c;
        spec.nodes = given->one[c].nodes;
        spec.ranks = given->one[c].ranks;
        run->handle[c] = collective_open(run->runner, &spec, &config[c], c, &error);
        ck_assert_msg(run->handle[c] != INDEX_NONE, "seed %d: %s", seed, error ? error->message : "");
    }
    schedule_all(run);
    ck_assert_msg(engine_run(run->engine, &error), "seed %d: %s", seed, error ? error->message : "");
    for (uint32_t c = 0; c < given->n_collectives; c++)
        ck_assert_msg(run->end_ps[c] >= 0, "seed %d: collective %u never ends", seed, c);
    ck_assert_uint_eq(network_in_flight(network), 0);
    ck_assert_uint_eq(run->n_foreign_ended, given->n_foreign);
    network_finish(network);
    run->totals = network_totals(network);
    run->events = engine_events(run->engine);
    collective_runner_free(run->runner);
    network_free(network);
    engine_free(run->engine);
}

static int
by_usage(gconstpointer a, gconstpointer b)
{
    const WorldUsage *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

/* By ends, then ends of the hop, channel and start. */
static int
by_transfer(gconstpointer a, gconstpointer b)
{
    const TransferRecord *x = a, *y = b;
    const int64_t keys[][2] = {{x->job, y->job},           {x->src_rank, y->src_rank},
                               {x->dst_rank, y->dst_rank}, {x->channel, y->channel},
                               {x->src, y->src},           {x->dst, y->dst},
                               {x->start_ps, y->start_ps}, {x->sent_ps, y->sent_ps},
                               {x->end_ps, y->end_ps},     {(int64_t)x->bytes, (int64_t)y->bytes}};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    }
    return 0;
}

static gboolean
near(SimTime a, SimTime b, gboolean exact)
{
    return exact ? a == b : fabs((double)(a - b)) <= fmax(10, 1e-9 * (double)b);
}

static void
compare_transfers(Run *flight, Run *slow, gboolean exact, int seed)
{
    g_array_sort(flight->log.transfers, by_transfer);
    g_array_sort(slow->log.transfers, by_transfer);
    ck_assert_msg(flight->log.transfers->len == slow->log.transfers->len, "seed %d: %u transfers, not %u", seed,
                  flight->log.transfers->len, slow->log.transfers->len);
    for (guint i = 0; i < slow->log.transfers->len; i++) {
        const TransferRecord *x = &g_array_index(flight->log.transfers, TransferRecord, i);
        const TransferRecord *y = &g_array_index(slow->log.transfers, TransferRecord, i);
        ck_assert_msg(x->src == y->src && x->dst == y->dst && x->channel == y->channel && x->bytes == y->bytes &&
                          near(x->start_ps, y->start_ps, exact) && near(x->sent_ps, y->sent_ps, exact) &&
                          near(x->end_ps, y->end_ps, exact),
                      "seed %d: transfer %u, rank %u to %u, of %" G_GUINT64_FORMAT " B: %ld to %ld to %ld, not %ld to "
                      "%ld to %ld",
                      seed, i, y->src_rank, y->dst_rank, y->bytes, x->start_ps, x->sent_ps, x->end_ps, y->start_ps,
                      y->sent_ps, y->end_ps);
    }
}

static void
compare_usage(Run *flight, Run *slow, int seed)
{
    g_array_sort(flight->log.usage, by_usage);
    g_array_sort(slow->log.usage, by_usage);
    ck_assert_msg(flight->log.usage->len == slow->log.usage->len, "seed %d: %u rows of usage, not %u", seed,
                  flight->log.usage->len, slow->log.usage->len);
    for (guint i = 0; i < slow->log.usage->len; i++) {
        const WorldUsage *x = &g_array_index(flight->log.usage, WorldUsage, i);
        const WorldUsage *y = &g_array_index(slow->log.usage, WorldUsage, i);
        ck_assert_msg(x->link == y->link && x->job == y->job && x->start_ps == y->start_ps &&
                          x->length_ps == y->length_ps && x->bytes == y->bytes && x->busy_ps == y->busy_ps,
                      "seed %d: link %u at %ld: %" G_GUINT64_FORMAT " B in %ld ps, not %" G_GUINT64_FORMAT
                      " in %ld (link %u at %ld)",
                      seed, y->link, y->start_ps, x->bytes, x->busy_ps, y->bytes, y->busy_ps, x->link, x->start_ps);
    }
}

static void
compare(Run *flight, Run *slow, gboolean exact, int seed)
{
    for (uint32_t c = 0; c < flight->given->n_collectives; c++)
        ck_assert_msg(near(flight->end_ps[c], slow->end_ps[c], exact), "seed %d: collective %u ends at %ld, not %ld",
                      seed, c, flight->end_ps[c], slow->end_ps[c]);
    ck_assert_uint_eq(flight->totals.transfers, slow->totals.transfers);
    ck_assert_uint_eq(flight->totals.bytes, slow->totals.bytes);
    compare_transfers(flight, slow, exact, seed);
    if (exact)
        compare_usage(flight, slow, seed);
    world_check_conservation(&flight->log, flight->given->fabric, 2);
}

static void
end_runs(Case *given, Run *a, Run *b)
{
    world_log_end(&a->log);
    world_log_end(&b->log);
    fabric_free(given->fabric);
}

START_TEST(alone_a_flight_is_exact)
{
    g_autofree Case *given = g_new(Case, 1);
    Run flight, slow;
    begin_case(given, "flight alone", _i);
    run_case(given, FALSE, &flight, _i);
    run_case(given, TRUE, &slow, _i);
    compare(&flight, &slow, TRUE, _i);
    end_runs(given, &flight, &slow);
}
END_TEST

START_TEST(a_disturbed_flight_goes_on_by_steps)
{
    g_autofree Case *given = g_new(Case, 1);
    Run flight, slow, alone;
    begin_case(given, "flight disturbed", _i);
    run_case(given, FALSE, &alone, _i);
    disturb(given, alone.end_ps[0], _i);
    run_case(given, FALSE, &flight, _i);
    run_case(given, TRUE, &slow, _i);
    compare(&flight, &slow, FALSE, _i);
    world_log_end(&alone.log);
    end_runs(given, &flight, &slow);
}
END_TEST

START_TEST(late_members_board_in_flight)
{
    g_autofree Case *given = g_new(Case, 1);
    Run flight, slow;
    begin_case(given, "flight late", _i);
    Random dice = random_named((uint64_t)_i, "late");
    for (uint32_t i = 0; i < given->one[0].spec.n; i++)
        given->one[0].ready_ps[i] = (SimTime)below(&dice, 3) * PS_PER_US;
    run_case(given, FALSE, &flight, _i);
    run_case(given, TRUE, &slow, _i);
    compare(&flight, &slow, TRUE, _i);
    end_runs(given, &flight, &slow);
}
END_TEST

int
main(void)
{
    const char *first = g_getenv("DIFFERENTIAL_FIRST"), *count = g_getenv("DIFFERENTIAL_SEEDS");
    int from = first != NULL ? atoi(first) : 0, n = count != NULL ? atoi(count) : 300;
    Suite *suite = suite_create("flight");
    TCase *cases = tcase_create("flight");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, alone_a_flight_is_exact, from, from + n);
    tcase_add_loop_test(cases, a_disturbed_flight_goes_on_by_steps, from, from + n);
    tcase_add_loop_test(cases, late_members_board_in_flight, from, from + n);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
