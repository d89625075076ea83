/* test-differential-grains.c - random collectives: `bundle` against `steps`, within max(10 ps, 1e-9)
 *
 * On fluid, alone and disturbed: members that come late, transfers of another job, links that slow down, die and come
 * back, a second collective. Both grains move the same bytes over each link; everybody ends at the same times. `steps`
 * sends every message of its rings. On analytic, alone: where no two messages share a link at the same time (there
 * fluid ends each as analytic does) rings end together, and other bundles, whose phases share links, not before
 * `steps`. */
#include "random_world.h"
#include "support.h"

#include "collective/collective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, MOST_FOREIGN = 5, SEED = 5, COLLECTIVES = 2 };

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
} Case;

static uint32_t
below(Random *dice, uint32_t bound)
{
    return (uint32_t)random_below(dice, bound);
}

static void
random_members(const Fabric *fabric, One *one, Random *dice)
{
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(fabric, &n_gpus);
    one->spec.n = MIN(n_gpus, 2 + below(dice, MOST - 1));
    uint32_t first = below(dice, n_gpus);
    for (uint32_t i = 0; i < one->spec.n; i++) {
        one->nodes[i] = gpus[(first + i) % n_gpus];
        one->ranks[i] = i;
        one->ready_ps[i] = 0;
    }
    one->spec.nodes = one->nodes;
    one->spec.ranks = one->ranks;
}

static void
random_collective(const Fabric *fabric, One *one, Random *dice)
{
    one->spec = (CollectiveSpec){0};
    random_members(fabric, one, dice);
    one->config = collective_config_default();
    one->config.channels = below(dice, 2);
    one->config.slice_B = below(dice, 3) * UINT64_C(131072);
    one->config.reduce_cost_s_per_B = below(dice, 2) * 1e-12;
    one->config.one_by_one = TRUE;
    one->spec.kind = (CollectiveKind)below(dice, COLLECTIVE_KINDS);
    one->spec.root = below(dice, one->spec.n);
    one->spec.bytes = below(dice, 2) ? one->spec.n * UINT64_C(65536) * below(dice, 40)
                                     : random_below(dice, UINT64_C(1) << (1 + below(dice, 25)));
    if (one->spec.kind == COLLECTIVE_BARRIER)
        one->spec.bytes = 0;
    const char *const *algorithms = collective_algorithms();
    const char *name = algorithms[below(dice, g_strv_length((char **)(uintptr_t)algorithms))];
    if (collective_algorithm_serves(name, one->spec.kind) && strcmp(name, "hierarchical") != 0)
        one->config.algorithm[one->spec.kind] = name;
}

static void
begin_case(Case *given, const char *name, int seed)
{
    Random dice = random_named((uint64_t)seed, name);
    *given = (Case){.fabric = random_fabric(&dice, TRUE), .routing = random_routing(&dice), .n_collectives = 1};
    random_collective(given->fabric, &given->one[0], &dice);
}

static SimTime
some_time(Random *dice, SimTime span_ps)
{
    return (SimTime)random_below(dice, (uint64_t)span_ps + 1);
}

static void
random_foreign(Case *given, SimTime span_ps, Random *dice)
{
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(given->fabric, &n_gpus);
    given->n_foreign = below(dice, MOST_FOREIGN + 1);
    for (uint32_t i = 0; i < given->n_foreign; i++) {
        uint32_t src = below(dice, n_gpus), dst = below(dice, n_gpus);
        given->foreign[i] = (Transfer){.job = 1,
                                       .coflow = INDEX_NONE,
                                       .src_rank = src,
                                       .dst_rank = dst,
                                       .src = gpus[src],
                                       .dst = gpus[dst],
                                       .src_nic = INDEX_NONE,
                                       .dst_nic = INDEX_NONE,
                                       .bytes = random_below(dice, 8000000),
                                       .weight = 1 + below(dice, 2),
                                       .rate_cap_Bps = INFINITY};
        given->foreign_ps[i] = below(dice, 4) ? some_time(dice, span_ps) : 0;
    }
}

/* A link that slows down, or dies and comes back. Collectives may name a NIC that has no other link: they wait. */
static void
random_faults(Case *given, SimTime span_ps, Random *dice)
{
    for (uint32_t left = below(dice, 3); left > 0; left--) {
        uint32_t link = below(dice, fabric_n_links(given->fabric));
        double rate = fabric_link(given->fabric, link)->capacity_Bps;
        SimTime at = 1 + some_time(dice, span_ps);
        given->fault[given->n_faults++] = (WorldFault){at, link, rate * below(dice, 4) / 2};
        given->fault[given->n_faults++] = (WorldFault){at + 1 + some_time(dice, span_ps), link, rate};
    }
}

static void
disturb(Case *given, SimTime span_ps, int seed)
{
    Random dice = random_named((uint64_t)seed, "disturbance");
    random_foreign(given, span_ps, &dice);
    random_faults(given, span_ps, &dice);
    if (below(&dice, 2)) {
        random_collective(given->fabric, &given->one[1], &dice);
        given->n_collectives = 2;
    }
    for (uint32_t c = 0; c < given->n_collectives; c++) {
        One *one = &given->one[c];
        gboolean apart = below(&dice, 2) == 0;
        SimTime first = c == 0 ? 0 : some_time(&dice, span_ps);
        for (uint32_t i = 0; i < one->spec.n; i++)
            one->ready_ps[i] = first + (apart ? some_time(&dice, span_ps / 2) : 0);
    }
}

typedef struct {
    const Case *given;
    Engine *engine;
    Network *network;
    CollectiveRunner *runner;
    CollectiveConfig config[COLLECTIVES];
    uint32_t client, handle[COLLECTIVES];
    SimTime end_ps[COLLECTIVES], foreign_ps[MOST_FOREIGN];
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
    GError *error = NULL;
    if (!network_send(run->network, run->client, &run->given->foreign[event->target], event->target, &error))
        engine_fail(run->engine, error);
}

static void
on_foreign_moment(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Run *run = owner;
    if (moment == NETWORK_DELIVERED)
        run->foreign_ps[cookie] = engine_now(run->engine);
}

static void
open_one(Run *run, uint32_t c, CollectiveGrain grain, int seed)
{
    const One *one = &run->given->one[c];
    CollectiveSpec spec = one->spec;
    spec.coflow = c;
    run->config[c] = one->config;
    run->config[c].grain = grain;
    run->config[c].one_by_one = grain == GRAIN_STEPS;
    GError *error = NULL;
    run->handle[c] = collective_open(run->runner, &spec, &run->config[c], c, &error);
    ck_assert_msg(run->handle[c] != INDEX_NONE, "seed %d: %s", seed, error ? error->message : "");
}

static void
schedule_all(Run *run)
{
    const Case *given = run->given;
    uint32_t ready = engine_add_kind(run->engine, on_ready, run);
    for (uint32_t c = 0; c < given->n_collectives; c++)
        for (uint32_t i = 0; i < given->one[c].spec.n; i++)
            engine_schedule(
                run->engine,
                (Event){.when = given->one[c].ready_ps[i], .kind = ready, .target = i, .sender = i, .stamp = c});
    uint32_t foreign = engine_add_kind(run->engine, on_foreign, run);
    for (uint32_t i = 0; i < given->n_foreign; i++)
        engine_schedule(run->engine,
                        (Event){.when = given->foreign_ps[i], .kind = foreign, .target = i, .sender = 100 + i});
    for (uint32_t i = 0; i < given->n_faults; i++)
        network_set_link_at(run->network, given->fault[i].link, given->fault[i].rate_Bps, given->fault[i].at_ps);
}

/* FALSE: a fault left somebody without a way, which fails the run. */
static gboolean
run_grain(const Case *given, const char *model, CollectiveGrain grain, Run *run, int seed)
{
    *run = (Run){.given = given, .engine = engine_new(SEED), .end_ps = {-1, -1}};
    for (int i = 0; i < MOST_FOREIGN; i++)
        run->foreign_ps[i] = -1;
    world_log_begin(&run->log);
    NetworkConfig network_config = network_config_default();
    network_config.seed = SEED;
    NetworkObserver observer = world_log_observer(&run->log);
    g_autoptr(Routes) routes = routes_new(given->fabric, given->routing);
    Network *network = run->network = network_new(model, &network_config, routes, run->engine, &observer, NULL);
    network_add_job(network, "ada");
    network_add_job(network, "grace");
    run->client = network_add_client(network, on_foreign_moment, run);
    run->runner = collective_runner_new(network, run->engine, on_done, run);
    for (uint32_t c = 0; c < given->n_collectives; c++)
        open_one(run, c, grain, seed);
    schedule_all(run);
    g_autoptr(GError) error = NULL;
    gboolean ran = engine_run(run->engine, &error);
    ck_assert_msg(ran || given->n_faults > 0, "seed %d: %s", seed, error ? error->message : "");
    for (uint32_t c = 0; ran && c < given->n_collectives; c++)
        ck_assert_msg(run->end_ps[c] >= 0, "seed %d: collective %u never ends", seed, c);
    network_finish(network);
    collective_runner_free(run->runner);
    network_free(network);
    engine_free(run->engine);
    return ran;
}

static gboolean
near(SimTime a, SimTime b)
{
    return fabs((double)(a - b)) <= fmax(10, 1e-9 * (double)b);
}

/* Does every message of one run end as in the other? Without contention those of `steps` do on both models. */
static gboolean
same_messages(const Run *a, const Run *b)
{
    if (a->log.transfers->len != b->log.transfers->len)
        return FALSE;
    for (uint32_t i = 0; i < a->log.transfers->len; i++) {
        SimTime x = g_array_index(a->log.transfers, TransferRecord, i).end_ps;
        SimTime y = g_array_index(b->log.transfers, TransferRecord, i).end_ps;
        if (!near(x, y))
            return FALSE;
    }
    return TRUE;
}

static uint64_t *
bytes_by_link(const Case *given, const Run *run)
{
    uint64_t *bytes = g_new0(uint64_t, fabric_n_links(given->fabric));
    for (uint32_t i = 0; i < run->log.usage->len; i++) {
        const WorldUsage *row = &g_array_index(run->log.usage, WorldUsage, i);
        bytes[row->link] += row->bytes;
    }
    return bytes;
}

static void
compare_ends(const Case *given, const Run *steps, const Run *bundle, int seed)
{
    for (uint32_t c = 0; c < given->n_collectives; c++) {
        const One *one = &given->one[c];
        ck_assert_msg(near(bundle->end_ps[c], steps->end_ps[c]),
                      "seed %d: collective %u, %s %s of %" G_GUINT64_FORMAT " B, n %u: in steps %" G_GINT64_FORMAT
                      " ps, as bundle %" G_GINT64_FORMAT,
                      seed, c, collective_kind_name(one->spec.kind), collective_algorithm(&one->spec, &one->config),
                      one->spec.bytes, one->spec.n, steps->end_ps[c], bundle->end_ps[c]);
    }
    for (uint32_t i = 0; i < given->n_foreign; i++)
        ck_assert_msg(near(bundle->foreign_ps[i], steps->foreign_ps[i]),
                      "seed %d: foreign transfer %u ends at %" G_GINT64_FORMAT " ps beside steps, %" G_GINT64_FORMAT
                      " beside bundles",
                      seed, i, steps->foreign_ps[i], bundle->foreign_ps[i]);
}

/* What is split over ways is rounded once a transfer, and a bundle has fewer. */
static void
compare_bytes(const Case *given, const Run *steps, const Run *bundle, int seed)
{
    g_autofree uint64_t *a = bytes_by_link(given, steps), *b = bytes_by_link(given, bundle);
    for (uint32_t l = 0; l < fabric_n_links(given->fabric) && given->routing != ROUTING_SPRAY; l++)
        ck_assert_msg(a[l] == b[l],
                      "seed %d: link %u carries %" G_GUINT64_FORMAT " bytes in steps, %" G_GUINT64_FORMAT " as bundle",
                      seed, l, a[l], b[l]);
    world_check_conservation(&bundle->log, given->fabric, 2);
}

static void
forget(Run *run)
{
    world_log_end(&run->log);
}

START_TEST(alone_bundles_equal_steps)
{
    g_autofree Case *given = g_new(Case, 1);
    Run steps, bundle;
    begin_case(given, "differential grains", _i);
    run_grain(given, "fluid", GRAIN_STEPS, &steps, _i);
    run_grain(given, "fluid", GRAIN_BUNDLE, &bundle, _i);
    compare_ends(given, &steps, &bundle, _i);
    compare_bytes(given, &steps, &bundle, _i);
    forget(&steps);
    forget(&bundle);
    fabric_free(given->fabric);
}
END_TEST

START_TEST(disturbed_bundles_equal_steps)
{
    g_autofree Case *given = g_new(Case, 1);
    Run alone, steps, bundle;
    begin_case(given, "disturbed grains", _i);
    run_grain(given, "fluid", GRAIN_STEPS, &alone, _i);
    disturb(given, alone.end_ps[0], _i);
    gboolean a = run_grain(given, "fluid", GRAIN_STEPS, &steps, _i),
             b = run_grain(given, "fluid", GRAIN_BUNDLE, &bundle, _i);
    ck_assert_msg(a == b, "seed %d: only one of two runs has a way", _i);
    if (a)
        compare_ends(given, &steps, &bundle, _i);
    if (a && given->n_faults == 0)
        compare_bytes(given, &steps, &bundle, _i);
    forget(&alone);
    forget(&steps);
    forget(&bundle);
    fabric_free(given->fabric);
}
END_TEST

/* In an analytic bundle all chunks of a ring count as the largest: a byte's time a step, where S is no multiple of n.
 */
static double
byte_times(const Case *given)
{
    const CollectiveSpec *spec = &given->one[0].spec;
    double slowest = INFINITY;
    for (uint32_t l = 0; l < fabric_n_links(given->fabric); l++)
        slowest = fmin(slowest, fabric_link(given->fabric, l)->capacity_Bps);
    return spec->bytes % spec->n == 0 ? 0 : 2.0 * spec->n / slowest * PS_PER_S;
}

START_TEST(analytic_bundles_are_not_early)
{
    g_autofree Case *given = g_new(Case, 1);
    Run fluid, steps, bundle;
    begin_case(given, "differential grains", _i);
    run_grain(given, "fluid", GRAIN_STEPS, &fluid, _i);
    run_grain(given, "analytic", GRAIN_STEPS, &steps, _i);
    run_grain(given, "analytic", GRAIN_BUNDLE, &bundle, _i);
    const One *one = &given->one[0];
    gboolean ring = strcmp(collective_algorithm(&one->spec, &one->config), "ring") == 0;
    double tolerance = fmax(10, 1e-9 * (double)steps.end_ps[0]), later = (double)(bundle.end_ps[0] - steps.end_ps[0]);
    if (same_messages(&fluid, &steps))
        ck_assert_msg(later >= -tolerance && (!ring || later <= tolerance + byte_times(given)),
                      "seed %d: in steps %" G_GINT64_FORMAT " ps, as bundle %" G_GINT64_FORMAT, _i, steps.end_ps[0],
                      bundle.end_ps[0]);
    compare_bytes(given, &steps, &bundle, _i);
    forget(&fluid);
    forget(&steps);
    forget(&bundle);
    fabric_free(given->fabric);
}
END_TEST

int
main(void)
{
    const char *first = g_getenv("DIFFERENTIAL_FIRST"), *count = g_getenv("DIFFERENTIAL_SEEDS");
    int from = first != NULL ? atoi(first) : 0, n = count != NULL ? atoi(count) : 300;
    Suite *suite = suite_create("differential-grains");
    TCase *cases = tcase_create("differential-grains");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, alone_bundles_equal_steps, from, from + n);
    tcase_add_loop_test(cases, disturbed_bundles_equal_steps, from, from + n);
    tcase_add_loop_test(cases, analytic_bundles_are_not_early, from, from + n);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
