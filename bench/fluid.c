/* fluid.c - what the fluid model costs: issue 3, point 5, as far as it concerns the network alone
 *
 * A fat tree of k = 16 (1024 hosts, 128 + 128 + 64 switches, links of 50 GB/s, 500 ns). Every transfer goes by
 * network_send, those of the cases named -phase as members of a pattern; times are CPU time from the first send (or the
 * making of the pattern) to the last delivery, route look-ups included
 * (ring-phase: what routes keep is computed before, as any earlier transfer would have). Each case runs in a process of
 * its own, so that its peak is its own, and prints one JSON line with its bar and whether that was met.
 *
 * Usage: bench/fluid [--no-baseline] [CASE], CASE = what NAME-SIZE-ROUTING begins with. Without --no-baseline most cases
 * run again with books of bytes and losses, for comparison; that run has no bar. */
#include "base/random.h"
#include "network/phase.h"

#include <assert.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { K = 16, HALF = K / 2, HOSTS = K * K * K / 4, STEPS = 200, PHASES = 20000, PATTERNS = 100 };

#define RATE_BPS 50e9
#define LATENCY_NS 500

typedef struct Bench Bench;

/* One measurement. */
typedef struct {
    const char *name;
    void (*run)(Bench *bench);
    uint32_t size; /* flows at a time, or hosts */
    RoutingPolicy policy;
    double bar_s, bar_MiB; /* 0 = none */
    gboolean with_books;   /* does it run a second time, with books? */
} Case;

struct Bench {
    const Case *task;
    gboolean books;
    Fabric *fabric;
    Routes *routes;
    Engine *engine;
    Network *network;
    uint32_t client;
    uint32_t hosts[HOSTS];
    Random dice;
    uint32_t to_do; /* further transfers to start */
    uint64_t sent, delivered;
    uint64_t watched; /* the time of this delivery is kept */
    double watched_s;
    NetworkPattern *pattern;
};

static double
cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
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
    link.capacity_Bps = RATE_BPS;
    link.latency_ps = LATENCY_NS * PS_PER_NS;
    fabric_add_cable(fabric, &link, NULL);
}

static void
fat_tree(Bench *bench)
{
    Fabric *fabric = bench->fabric = fabric_new();
    uint32_t edge[K * HALF], spine[K * HALF], core[HALF * HALF];
    for (uint32_t i = 0; i < HALF * HALF; i++)
        core[i] = add_node(fabric, NODE_CORE, "core%u", i);
    for (uint32_t i = 0; i < K * HALF; i++) {
        edge[i] = add_node(fabric, NODE_LEAF, "leaf%u", i);
        spine[i] = add_node(fabric, NODE_SPINE, "spine%u", i);
    }
    for (uint32_t i = 0; i < HOSTS; i++) {
        bench->hosts[i] = add_node(fabric, NODE_HOST, "host%u", i);
        add_cable(fabric, bench->hosts[i], edge[i / HALF]);
    }
    for (uint32_t pod = 0; pod < K; pod++)
        for (uint32_t s = 0; s < HALF; s++)
            for (uint32_t i = 0; i < HALF; i++) {
                add_cable(fabric, edge[pod * HALF + i], spine[pod * HALF + s]);
                add_cable(fabric, spine[pod * HALF + s], core[s * HALF + i]);
            }
    gboolean sealed = fabric_seal(fabric, NULL);
    assert(sealed);
    (void)sealed;
}

static Transfer
transfer_of(const Bench *bench, uint32_t src, uint32_t dst, uint64_t bytes, uint32_t coflow)
{
    return (Transfer){.coflow = coflow,
                      .src_rank = src,
                      .dst_rank = dst,
                      .src = bench->hosts[src],
                      .dst = bench->hosts[dst],
                      .src_nic = INDEX_NONE,
                      .dst_nic = INDEX_NONE,
                      .bytes = bytes,
                      .weight = 1,
                      .rate_cap_Bps = INFINITY};
}

static void
send(Bench *bench, uint32_t src, uint32_t dst, uint64_t bytes, uint32_t coflow)
{
    Transfer transfer = transfer_of(bench, src, dst, bytes, coflow);
    gboolean sent = network_send(bench->network, bench->client, &transfer, dst, NULL);
    assert(sent);
    (void)sent;
}

static void
run(Bench *bench)
{
    gboolean ran = engine_run(bench->engine, NULL);
    assert(ran);
    (void)ran;
}

/* The line of a case that took time_s, of which one unit took unit_s ("unit": what the bar is about). */
static void
report(const Bench *bench, uint64_t bytes, uint64_t flows, double time_s, const char *unit, double unit_s)
{
    const Case *task = bench->task;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double peak_MiB = (double)usage.ru_maxrss / 1024;
    printf("{\"bench\": \"fluid\", \"case\": \"%s\", \"tree\": \"fat tree k=%d, %d hosts\", \"rate_Bps\": %.10g, "
           "\"latency_ns\": %d, \"routing\": \"%s\", \"books\": %s, \"size\": %u, \"bytes\": %" G_GUINT64_FORMAT
           ", \"flows\": %" G_GUINT64_FORMAT ", \"cpu_s\": %.6f, \"per_flow_us\": %.4f, \"%s_s\": %.3g, "
           "\"simulated_ms\": %.6f, \"peak_MiB\": %.1f",
           task->name, K, HOSTS, RATE_BPS, LATENCY_NS, routing_policy_name(task->policy),
           bench->books ? "true" : "false", task->size, bytes, flows, time_s, time_s * 1e6 / (double)flows, unit,
           unit_s, sim_time_seconds(engine_now(bench->engine)) * 1e3, peak_MiB);
    if (!bench->books && task->bar_s > 0) {
        gboolean met = unit_s <= task->bar_s && (task->bar_MiB == 0 || peak_MiB <= task->bar_MiB);
        printf(", \"bar_s\": %g", task->bar_s);
        if (task->bar_MiB > 0)
            printf(", \"bar_MiB\": %.1f", task->bar_MiB);
        printf(", \"met\": %s", met ? "true" : "false");
    }
    printf("}\n");
}

static void
send_random(Bench *bench)
{
    uint32_t src = (uint32_t)random_below(&bench->dice, HOSTS);
    uint32_t dst = (src + 1 + (uint32_t)random_below(&bench->dice, HOSTS - 1)) % HOSTS;
    send(bench, src, dst, 1000000 + random_below(&bench->dice, 100000000), INDEX_NONE);
}

/* A flow that ends is replaced by another in the same instant, so that their number stays: one solve for both. */
static void
random_done(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Bench *bench = owner;
    if (moment == NETWORK_DELIVERED)
        return;
    bench->sent++;
    if (bench->to_do == 0)
        engine_stop(bench->engine);
    else
        bench->to_do--;
    send_random(bench);
}

static void
bench_random(Bench *bench)
{
    bench->client = network_add_client(bench->network, random_done, bench);
    for (uint32_t i = 0; i < bench->task->size; i++)
        send_random(bench);
    run(bench); /* to the first end: the first solve is another question */
    bench->to_do = MAX(100, 4000000 / bench->task->size);
    bench->sent = 0;
    double start = cpu_s();
    run(bench);
    double time_s = cpu_s() - start;
    report(bench, 50000000, bench->sent, time_s, "per_completion", time_s / (double)bench->sent);
}

/* A host sends its next message when it has received one. */
static void
ring_done(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Bench *bench = owner;
    if (moment != NETWORK_DELIVERED)
        return;
    if (++bench->delivered == bench->watched)
        bench->watched_s = cpu_s();
    if (bench->to_do == 0)
        return;
    bench->to_do--;
    send(bench, cookie, (cookie + 1) % bench->task->size, 1000000, 7);
}

/* The first step, or the mean of those after it. */
static void
bench_ring(Bench *bench, gboolean first)
{
    uint32_t n = bench->task->size;
    bench->client = network_add_client(bench->network, ring_done, bench);
    bench->to_do = first ? 0 : n * (STEPS - 1);
    bench->watched = n;
    double start = cpu_s();
    for (uint32_t i = 0; i < n; i++)
        send(bench, i, (i + 1) % n, 1000000, 7);
    run(bench);
    double end = cpu_s();
    if (first)
        report(bench, 1000000, n, end - start, "step", end - start);
    else
        report(bench, 1000000, n * (STEPS - 1), end - bench->watched_s, "step", (end - bench->watched_s) / (STEPS - 1));
}

static void
bench_ring_first(Bench *bench)
{
    bench_ring(bench, TRUE);
}

static void
bench_ring_again(Bench *bench)
{
    bench_ring(bench, FALSE);
}

static void
nothing_done(void *owner, uint32_t cookie, NetworkMoment moment)
{
}

static void
bench_alltoall(Bench *bench, gboolean sizes)
{
    uint32_t n = bench->task->size;
    bench->client = network_add_client(bench->network, nothing_done, NULL);
    double start = cpu_s();
    for (uint32_t src = 0; src < n; src++)
        for (uint32_t dst = 0; dst < n; dst++)
            if (src != dst)
                send(bench, src, dst, sizes ? 500000 + random_below(&bench->dice, 1000001) : 1000000, 7);
    run(bench);
    double time_s = cpu_s() - start;
    assert(network_in_flight(bench->network) == 0);
    report(bench, 1000000, (uint64_t)n * (n - 1), time_s, "whole", time_s);
}

static void
bench_alltoall_equal(Bench *bench)
{
    bench_alltoall(bench, FALSE);
}

static void
bench_alltoall_sizes(Bench *bench)
{
    bench_alltoall(bench, TRUE);
}

static void
send_phase(Bench *bench)
{
    gboolean sent = network_send_phase(bench->pattern, 0, 7, 0, NULL);
    assert(sent);
    (void)sent;
}

/* All hosts send their next messages when all have received. */
static void
phase_done(void *owner, uint32_t cookie, const PhasePart *part, NetworkMoment moment)
{
    Bench *bench = owner;
    if (moment != NETWORK_DELIVERED ||
        (bench->delivered += part->n_members) % network_pattern_size(bench->pattern) != 0)
        return;
    if (bench->delivered == bench->watched)
        bench->watched_s = cpu_s();
    if (bench->to_do == 0)
        return;
    bench->to_do--;
    send_phase(bench);
}

static void
begin_pattern(Bench *bench, const Transfer *transfers, uint32_t n)
{
    uint32_t client = network_add_phase_client(bench->network, phase_done, bench);
    bench->pattern = network_pattern_new(bench->network, client, transfers, n);
    send_phase(bench);
}

static Transfer *
ring_step(const Bench *bench)
{
    uint32_t n = bench->task->size;
    Transfer *transfers = g_new(Transfer, n);
    for (uint32_t i = 0; i < n; i++)
        transfers[i] = transfer_of(bench, i, (i + 1) % n, 1000000, 7);
    return transfers;
}

/* A pattern made and sent once, many times over: the mean. */
static void
bench_ring_phase_first(Bench *bench)
{
    uint32_t n = bench->task->size;
    g_autofree Transfer *transfers = ring_step(bench);
    routes_prepare(bench->routes);
    double start = cpu_s();
    for (uint32_t i = 0; i < PATTERNS; i++) {
        begin_pattern(bench, transfers, n);
        run(bench);
        network_pattern_free(bench->pattern);
    }
    double time_s = cpu_s() - start;
    report(bench, 1000000, (uint64_t)n * PATTERNS, time_s, "step", time_s / PATTERNS);
}

static void
bench_ring_phase_again(Bench *bench)
{
    uint32_t n = bench->task->size;
    g_autofree Transfer *transfers = ring_step(bench);
    bench->to_do = PHASES;
    bench->watched = n;
    begin_pattern(bench, transfers, n);
    run(bench);
    double time_s = cpu_s() - bench->watched_s;
    report(bench, 1000000, (uint64_t)n * PHASES, time_s, "step", time_s / PHASES);
    network_pattern_free(bench->pattern);
}

static void
bench_alltoall_phase(Bench *bench)
{
    uint32_t n = bench->task->size, m = 0;
    double start = cpu_s();
    Transfer *transfers = g_new(Transfer, (size_t)n * (n - 1));
    for (uint32_t src = 0; src < n; src++)
        for (uint32_t dst = 0; dst < n; dst++)
            if (src != dst)
                transfers[m++] = transfer_of(bench, src, dst, 1000000, 7);
    begin_pattern(bench, transfers, m);
    g_free(transfers);
    run(bench);
    double time_s = cpu_s() - start;
    assert(network_in_flight(bench->network) == 0);
    report(bench, 1000000, m, time_s, "whole", time_s);
    network_pattern_free(bench->pattern);
}

static void
run_case(const Case *task, gboolean books)
{
    Bench *bench = g_new0(Bench, 1);
    bench->task = task;
    bench->books = books;
    fat_tree(bench);
    bench->routes = routes_new(bench->fabric, task->policy);
    bench->engine = engine_new(1);
    bench->dice = random_named(1, "bench");
    NetworkConfig config = network_config_default();
    config.books = books;
    bench->network = network_new("fluid", &config, bench->routes, bench->engine, NULL, NULL);
    network_add_job(bench->network, "a");
    task->run(bench);
    network_free(bench->network);
    routes_free(bench->routes);
    engine_free(bench->engine);
    fabric_free(bench->fabric);
    g_free(bench);
}

static const Case cases[] = {
    {"random", bench_random, 1024, ROUTING_ECMP, 100e-6, 0, TRUE},
    {"random", bench_random, 4096, ROUTING_ECMP, 0.8e-3, 0, TRUE},
    {"random", bench_random, 16384, ROUTING_ECMP, 2.2e-3, 0, TRUE},
    {"random", bench_random, 65536, ROUTING_ECMP, 6e-3, 0, FALSE},
    {"ring-first", bench_ring_first, 1024, ROUTING_ECMP, 0.3e-3, 0, TRUE},
    {"ring-again", bench_ring_again, 1024, ROUTING_ECMP, 2e-6, 0, TRUE},
    {"ring-phase-first", bench_ring_phase_first, 1024, ROUTING_DMODK, 0.3e-3, 0, TRUE},
    {"ring-phase-again", bench_ring_phase_again, 1024, ROUTING_DMODK, 2e-6, 0, TRUE},
    {"alltoall", bench_alltoall_equal, 256, ROUTING_DMODK, 50e-3, 0, TRUE},
    {"alltoall", bench_alltoall_equal, 256, ROUTING_ECMP, 50e-3, 0, TRUE},
    {"alltoall", bench_alltoall_equal, 1024, ROUTING_DMODK, 1, 500e6 / 1048576, FALSE},
    {"alltoall", bench_alltoall_equal, 1024, ROUTING_ECMP, 1, 500e6 / 1048576, FALSE},
    {"alltoall-phase", bench_alltoall_phase, 256, ROUTING_DMODK, 50e-3, 0, TRUE},
    {"alltoall-phase", bench_alltoall_phase, 256, ROUTING_ECMP, 50e-3, 0, TRUE},
    {"alltoall-phase", bench_alltoall_phase, 256, ROUTING_SPRAY, 50e-3, 0, FALSE},
    {"alltoall-phase", bench_alltoall_phase, 1024, ROUTING_DMODK, 1, 500e6 / 1048576, TRUE},
    {"alltoall-phase", bench_alltoall_phase, 1024, ROUTING_ECMP, 1, 500e6 / 1048576, FALSE},
    {"sizes", bench_alltoall_sizes, 256, ROUTING_DMODK, 3, 0, FALSE},
    {"sizes", bench_alltoall_sizes, 256, ROUTING_ECMP, 3, 0, FALSE},
};

/* A case that takes longer is given up, and says so. */
enum { MOST_CPU_S = 60 };

/* In a process of its own; FALSE where that failed. */
static gboolean
fork_case(const Case *task, gboolean books)
{
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {MOST_CPU_S, MOST_CPU_S};
        setrlimit(RLIMIT_CPU, &limit);
        run_case(task, books);
        fflush(stdout);
        _exit(0);
    }
    int status;
    if (child <= 0 || waitpid(child, &status, 0) != child)
        return FALSE;
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL || WTERMSIG(status) == SIGXCPU))
        printf(
            "{\"bench\": \"fluid\", \"case\": \"%s\", \"books\": %s, \"given_up_after_cpu_s\": %d, \"met\": false}\n",
            task->name, books ? "true" : "false", MOST_CPU_S);
    return status == 0;
}

int
main(int argc, char **argv)
{
    const char *only = "";
    gboolean baseline = TRUE, ran = TRUE;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--no-baseline") == 0)
            baseline = FALSE;
        else
            only = argv[i];
    }
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *name =
            g_strdup_printf("%s-%u-%s", cases[i].name, cases[i].size, routing_policy_name(cases[i].policy));
        if (!g_str_has_prefix(name, only))
            continue;
        ran = fork_case(&cases[i], FALSE) && ran;
        if (baseline && cases[i].with_books)
            ran = fork_case(&cases[i], TRUE) && ran;
    }
    return ran ? 0 : 1;
}
