/* test-differential-grains.c - random collectives in empty networks: `bundle` against `steps`
 *
 * The two move the same bytes over each link, and end together where no two messages of the collective share a link at
 * the same time (doc/model.md): that is where `steps` ends each message as the model without contention does. */
#include "random_world.h"
#include "support.h"

#include "collective/collective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 12, SEED = 5 };

typedef struct {
    Fabric *fabric;
    RoutingPolicy routing;
    CollectiveSpec spec;
    CollectiveConfig config;
    uint32_t nodes[MOST], ranks[MOST];
} Case;

static uint32_t
below(Random *dice, uint32_t bound)
{
    return (uint32_t)random_below(dice, bound);
}

static void
random_members(Case *given, Random *dice)
{
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(given->fabric, &n_gpus);
    given->spec.n = MIN(n_gpus, 2 + below(dice, MOST - 1));
    uint32_t first = below(dice, n_gpus);
    for (uint32_t i = 0; i < given->spec.n; i++) {
        given->nodes[i] = gpus[(first + i) % n_gpus];
        given->ranks[i] = i;
    }
    given->spec.nodes = given->nodes;
    given->spec.ranks = given->ranks;
}

static void
begin_case(Case *given, int seed)
{
    Random dice = random_named((uint64_t)seed, "differential grains");
    *given = (Case){.fabric = random_fabric(&dice, TRUE), .routing = random_routing(&dice)};
    random_members(given, &dice);
    given->config = collective_config_default();
    given->config.channels = below(&dice, 2);
    given->config.slice_B = below(&dice, 3) * UINT64_C(131072);
    given->config.reduce_cost_s_per_B = below(&dice, 2) * 1e-12;
    given->spec.kind = (CollectiveKind)below(&dice, COLLECTIVE_KINDS);
    given->spec.coflow = 0;
    given->spec.root = below(&dice, given->spec.n);
    given->spec.bytes = below(&dice, 2) ? given->spec.n * UINT64_C(65536) * below(&dice, 40)
                                        : random_below(&dice, UINT64_C(1) << (1 + below(&dice, 25)));
    if (given->spec.kind == COLLECTIVE_BARRIER)
        given->spec.bytes = 0;
    const char *const *algorithms = collective_algorithms();
    const char *name = algorithms[below(&dice, g_strv_length((char **)(uintptr_t)algorithms))];
    if (collective_algorithm_serves(name, given->spec.kind) && strcmp(name, "hierarchical") != 0)
        given->config.algorithm[given->spec.kind] = name;
}

typedef struct {
    Engine *engine;
    CollectiveRunner *runner;
    uint32_t handle, n;
    SimTime end_ps;
    WorldLog log;
} Run;

static void
on_done(void *owner, uint32_t cookie)
{
    Run *run = owner;
    ck_assert_int_eq(run->end_ps, -1);
    run->end_ps = engine_now(run->engine);
}

static void
on_ready(void *owner, const Event *event)
{
    Run *run = owner;
    collective_arrive(run->runner, run->handle, event->target);
}

static void
run_grain(const Case *given, const char *model, CollectiveGrain grain, Run *run, int seed)
{
    *run = (Run){.engine = engine_new(SEED), .end_ps = -1};
    world_log_begin(&run->log);
    CollectiveConfig config = given->config;
    config.grain = grain;
    NetworkConfig network_config = network_config_default();
    network_config.seed = SEED;
    NetworkObserver observer = world_log_observer(&run->log);
    g_autoptr(Routes) routes = routes_new(given->fabric, given->routing);
    Network *network = network_new(model, &network_config, routes, run->engine, &observer, NULL);
    network_add_job(network, "ada");
    run->runner = collective_runner_new(network, run->engine, on_done, run);
    GError *error = NULL;
    run->handle = collective_open(run->runner, &given->spec, &config, 0, &error);
    ck_assert_msg(run->handle != INDEX_NONE, "seed %d: %s", seed, error ? error->message : "");
    uint32_t kind = engine_add_kind(run->engine, on_ready, run);
    for (uint32_t i = 0; i < given->spec.n; i++)
        engine_schedule(run->engine, (Event){.when = 0, .kind = kind, .target = i, .sender = i});
    ck_assert_msg(engine_run(run->engine, &error), "seed %d: %s", seed, error ? error->message : "");
    ck_assert_msg(run->end_ps >= 0, "seed %d: it never ends", seed);
    network_finish(network);
    collective_runner_free(run->runner);
    network_free(network);
    engine_free(run->engine);
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
        if (fabs((double)(x - y)) > fmax(10, 1e-9 * (double)x))
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

/* In a bundle all chunks of a ring count as the largest: a byte's time a step, where S is no multiple of n. */
static double
byte_times(const Case *given)
{
    double slowest = INFINITY;
    for (uint32_t l = 0; l < fabric_n_links(given->fabric); l++)
        slowest = fmin(slowest, fabric_link(given->fabric, l)->capacity_Bps);
    return given->spec.bytes % given->spec.n == 0 ? 0 : 2.0 * given->spec.n / slowest * PS_PER_S;
}

static void
compare_ends(const Case *given, const Run *steps, const Run *bundle, int seed)
{
    double tolerance = fmax(10, 1e-9 * (double)steps->end_ps), later = (double)(bundle->end_ps - steps->end_ps);
    double most = tolerance + byte_times(given);
    ck_assert_msg(later >= -tolerance && later <= most,
                  "seed %d: %s %s of %" G_GUINT64_FORMAT " B, n %u: in steps %" G_GINT64_FORMAT
                  " ps, as bundle %" G_GINT64_FORMAT,
                  seed, collective_kind_name(given->spec.kind), collective_algorithm(&given->spec, &given->config),
                  given->spec.bytes, given->spec.n, steps->end_ps, bundle->end_ps);
}

START_TEST(bundles_equal_steps)
{
    g_autofree Case *given = g_new(Case, 1);
    Run steps, alone, bundle;
    begin_case(given, _i);
    run_grain(given, "fluid", GRAIN_STEPS, &steps, _i);
    run_grain(given, "analytic", GRAIN_STEPS, &alone, _i);
    run_grain(given, "fluid", GRAIN_BUNDLE, &bundle, _i);
    if (same_messages(&steps, &alone))
        compare_ends(given, &steps, &bundle, _i);
    g_autofree uint64_t *a = bytes_by_link(given, &steps), *b = bytes_by_link(given, &bundle);
    for (uint32_t l = 0; l < fabric_n_links(given->fabric) && given->routing != ROUTING_SPRAY; l++)
        ck_assert_msg(a[l] == b[l],
                      "seed %d: link %u carries %" G_GUINT64_FORMAT " bytes in steps, %" G_GUINT64_FORMAT " as bundle",
                      _i, l, a[l], b[l]);
    world_check_conservation(&bundle.log, given->fabric, 1);
    world_log_end(&steps.log);
    world_log_end(&alone.log);
    world_log_end(&bundle.log);
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
    tcase_add_loop_test(cases, bundles_equal_steps, from, from + n);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
