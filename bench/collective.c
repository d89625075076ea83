/* collective.c - bench: whole collectives on fat trees, beside the bars of issue 3
 *
 * 1024 hosts: three levels, switches of 16 ports, 16 pods; 4096: switches of 32 ports, 16 pods. Links of 50 GB/s,
 * 500 ns, no books, no baseline; one core, CPU seconds. Each case is measured in a process of its own, so that peaks
 * are its own; next hops of the switches are made beforehand. "first" counts the making of the plan, "again" is the
 * same collective once more; both are the best of three, each in a new network. One line of JSON a case. Usage:
 * bench/collective [--no-baseline] [CASE], CASE = a case's name, or the start of it. LogGOPSim takes 1.75 s and 176 MB
 * for the ring of 1024 ranks, without contention. */
#include "collective/collective.h"
#include "base/error.h"
#include "base/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 3 };

#define LINK_RATE_BPS 50e9
#define LINK_LATENCY_PS (500 * PS_PER_NS)

typedef struct {
    const char *name;
    uint32_t hosts; /* 1024 or 4096 */
    RoutingPolicy routing;
    CollectiveKind kind;
    CollectiveGrain grain;
    const char *algorithm;
    uint64_t slice_B;
    SimTime spread_ps;    /* each member comes at its own time below this; 0 = all at once */
    double bar_s, bar_MB; /* of the issue; 0 = none */
} Case;

#define ALL_REDUCE COLLECTIVE_ALL_REDUCE
#define SLICE (128 * 1024)

static const Case cases[] = {
    {"ring-together", 1024, ROUTING_ECMP, ALL_REDUCE, GRAIN_STEPS, "ring", 0, 0, 0.010, 0},
    {"ring-together-sliced", 1024, ROUTING_ECMP, ALL_REDUCE, GRAIN_STEPS, "ring", SLICE, 0, 0.010, 0},
    {"ring-apart", 1024, ROUTING_ECMP, ALL_REDUCE, GRAIN_STEPS, "ring", 0, PS_PER_MS, 3, 0},
    {"ring-bundle", 1024, ROUTING_ECMP, ALL_REDUCE, GRAIN_BUNDLE, "ring", 0, 0, 0.001, 0},
    {"ring-bundle-sliced", 1024, ROUTING_ECMP, ALL_REDUCE, GRAIN_BUNDLE, "ring", SLICE, 0, 0.001, 0},
    {"ring-bundle-apart", 1024, ROUTING_ECMP, ALL_REDUCE, GRAIN_BUNDLE, "ring", 0, PS_PER_MS, 0, 0},
    {"halving-doubling-4096", 4096, ROUTING_DMODK, ALL_REDUCE, GRAIN_STEPS, "halving_doubling", 0, 0, 1, 100},
    {"halving-doubling-4096-ecmp", 4096, ROUTING_ECMP, ALL_REDUCE, GRAIN_STEPS, "halving_doubling", 0, 0, 1, 100},
    {"ring-4096", 4096, ROUTING_ECMP, ALL_REDUCE, GRAIN_STEPS, "ring", 0, 0, 1, 100},
    {"ring-bundle-4096", 4096, ROUTING_ECMP, ALL_REDUCE, GRAIN_BUNDLE, "ring", 0, 0, 1, 100},
    {"direct-bundle-4096", 4096, ROUTING_DMODK, ALL_REDUCE, GRAIN_BUNDLE, "direct", 0, 0, 1, 100},
    {"direct-bundle-4096-ecmp", 4096, ROUTING_ECMP, ALL_REDUCE, GRAIN_BUNDLE, "direct", 0, 0, 0, 0},
    {"direct-bundle-4096-spray", 4096, ROUTING_SPRAY, ALL_REDUCE, GRAIN_BUNDLE, "direct", 0, 0, 1, 100},
    {"all-to-all-bundle-4096", 4096, ROUTING_DMODK, COLLECTIVE_ALL_TO_ALL, GRAIN_BUNDLE, "direct", 0, 0, 0, 0},
    {"pairwise", 1024, ROUTING_DMODK, COLLECTIVE_ALL_TO_ALL, GRAIN_STEPS, "pairwise", 0, 0, 0, 0},
};

static double
cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t
add_node(Fabric *fabric, NodeKind kind, const char *format, uint32_t i)
{
    Node node = node_default();
    g_autofree char *name = g_strdup_printf(format, i);
    node.name = name;
    node.kind = kind;
    return fabric_add_node(fabric, &node, NULL);
}

static void
add_cable(Fabric *fabric, uint32_t a, uint32_t b)
{
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = LINK_RATE_BPS;
    link.latency_ps = LINK_LATENCY_PS;
    fabric_add_cable(fabric, &link, NULL);
}

/* `pods` pods of half leaves and half spines, half hosts a leaf; half x half cores. */
static Fabric *
fat_tree(uint32_t half, uint32_t pods)
{
    Fabric *fabric = fabric_new();
    g_autofree uint32_t *leaf = g_new(uint32_t, half), *spine = g_new(uint32_t, half),
                        *core = g_new(uint32_t, half * half);
    for (uint32_t i = 0; i < half * half; i++)
        core[i] = add_node(fabric, NODE_CORE, "core%u", i);
    for (uint32_t pod = 0; pod < pods; pod++) {
        for (uint32_t i = 0; i < half; i++) {
            leaf[i] = add_node(fabric, NODE_LEAF, "leaf%u", pod * half + i);
            spine[i] = add_node(fabric, NODE_SPINE, "spine%u", pod * half + i);
            for (uint32_t c = 0; c < half; c++)
                add_cable(fabric, spine[i], core[i * half + c]);
        }
        for (uint32_t i = 0; i < half * half; i++)
            add_cable(fabric, leaf[i / half], spine[i % half]);
        for (uint32_t i = 0; i < half * half; i++)
            add_cable(fabric, add_node(fabric, NODE_HOST, "host%u", (pod * half * half) + i), leaf[i / half]);
    }
    gboolean sealed = fabric_seal(fabric, NULL);
    g_assert(sealed);
    return fabric;
}

typedef struct {
    const Case *given;
    Engine *engine;
    CollectiveRunner *runner;
    CollectiveSpec spec;
    CollectiveConfig config;
    uint32_t handle, kind;
    SimTime began_ps, end_ps;
} Bench;

static void
on_done(void *owner, uint32_t cookie)
{
    Bench *bench = owner;
    bench->end_ps = engine_now(bench->engine);
}

/* One member, or all of them. */
static void
on_ready(void *owner, const Event *event)
{
    Bench *bench = owner;
    if (event->target != INDEX_NONE) {
        collective_arrive(bench->runner, bench->handle, event->target);
        return;
    }
    for (uint32_t i = 0; i < bench->spec.n; i++)
        collective_arrive(bench->runner, bench->handle, i);
}

/* CPU seconds of one whole collective, its opening counted. */
static double
run_once(Bench *bench)
{
    GError *error = NULL;
    double start = cpu_s();
    bench->began_ps = engine_now(bench->engine);
    bench->handle = collective_open(bench->runner, &bench->spec, &bench->config, 0, &error);
    Random dice = random_named(1, "ready");
    SimTime spread = bench->given->spread_ps;
    if (bench->handle == INDEX_NONE)
        engine_fail(bench->engine, g_steal_pointer(&error));
    else if (spread == 0)
        engine_schedule_in(bench->engine, 0, (Event){.kind = bench->kind, .target = INDEX_NONE});
    for (uint32_t i = 0; i < bench->spec.n && spread > 0; i++)
        engine_schedule_in(bench->engine, (SimTime)random_below(&dice, (uint64_t)spread),
                           (Event){.kind = bench->kind, .target = i, .sender = i});
    if (!engine_run(bench->engine, &error)) {
        fprintf(stderr, "bench/collective: %s\n", error->message);
        exit(EXIT_FAILURE);
    }
    return cpu_s() - start;
}

/* In a new network with a new runner, which knows no plan. */
static void
run_world(Bench *bench, Routes *routes, double *first_s, double *again_s)
{
    NetworkConfig config = network_config_default();
    config.books = config.collisions = FALSE;
    g_autoptr(Engine) engine = bench->engine = engine_new(1);
    g_autoptr(Network) network = network_new("fluid", &config, routes, engine, NULL, NULL);
    network_add_job(network, "bench");
    bench->kind = engine_add_kind(engine, on_ready, bench);
    g_autoptr(CollectiveRunner) runner = bench->runner = collective_runner_new(network, engine, on_done, bench);
    double first = run_once(bench), again = run_once(bench);
    *first_s = MIN(*first_s, first);
    *again_s = MIN(*again_s, again);
}

static void
print(const Bench *bench, double first_s, double again_s)
{
    const Case *given = bench->given;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bench\": \"collective\", \"case\": \"%s\", \"tree\": \"fat tree of %u hosts, 3 levels, %u ports\", "
           "\"rate_Bps\": %.0f, \"latency_ns\": %.0f, \"routing\": \"%s\", \"algorithm\": \"%s\", \"grain\": \"%s\", "
           "\"bytes\": %" G_GUINT64_FORMAT ", \"slice_B\": %" G_GUINT64_FORMAT
           ", \"apart_us\": %.0f, \"simulated_us\": %.3f, \"first_s\": %.6f, "
           "\"again_s\": %.6f, \"peak_MB\": %.1f",
           given->name, given->hosts, given->hosts == 1024 ? 16 : 32, LINK_RATE_BPS,
           (double)LINK_LATENCY_PS / (double)PS_PER_NS, routing_policy_name(given->routing), given->algorithm,
           given->grain == GRAIN_STEPS ? "steps" : "bundle", bench->spec.bytes, given->slice_B,
           (double)given->spread_ps / (double)PS_PER_US, (double)(bench->end_ps - bench->began_ps) / (double)PS_PER_US,
           first_s, again_s, (double)usage.ru_maxrss * 1024 / 1e6);
    if (given->bar_s > 0)
        printf(", \"bar_s\": %g", given->bar_s);
    if (given->bar_MB > 0)
        printf(", \"bar_MB\": %g", given->bar_MB);
    printf("}\n");
}

static int
measure(const Case *given)
{
    uint32_t n_gpus;
    g_autoptr(Fabric) fabric = given->hosts == 1024 ? fat_tree(8, 16) : fat_tree(16, 16);
    g_autoptr(Routes) routes = routes_new(fabric, given->routing);
    routes_prepare(routes);
    g_autofree uint32_t *ranks = g_new(uint32_t, given->hosts);
    for (uint32_t i = 0; i < given->hosts; i++)
        ranks[i] = i;
    CollectiveSpec spec = {.kind = given->kind, .n = given->hosts, .ranks = ranks, .coflow = INDEX_NONE};
    spec.bytes = (uint64_t)given->hosts << 20;
    spec.nodes = fabric_gpus(fabric, &n_gpus);
    Bench bench = {.given = given, .config = collective_config_default(), .spec = spec};
    bench.config.grain = given->grain;
    bench.config.slice_B = given->slice_B;
    bench.config.algorithm[given->kind] = given->algorithm;
    double first = INFINITY, again = INFINITY;
    for (int i = 0; i < RUNS; i++)
        run_world(&bench, routes, &first, &again);
    print(&bench, first, again);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    int at = argc > 1 && strcmp(argv[1], "--no-baseline") == 0 ? 2 : 1;
    const char *only = argc > at ? argv[at] : "";
    int status = EXIT_SUCCESS;
    for (size_t i = 0; i < G_N_ELEMENTS(cases) && status == EXIT_SUCCESS; i++) {
        if (!g_str_has_prefix(cases[i].name, only))
            continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            exit(measure(&cases[i]));
        int ended;
        if (child < 0 || waitpid(child, &ended, 0) < 0 || !WIFEXITED(ended))
            return EXIT_FAILURE;
        status = WEXITSTATUS(ended);
    }
    return status;
}
