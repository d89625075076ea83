/* fluid.c - what the fluid model costs: a completion among many random flows, a step of a ring, an all-to-all
 *
 * A fat tree of k = 16 (1024 hosts, 128 + 128 + 64 switches, links of 50 GB/s, 500 ns), per-flow ECMP. One JSON line a
 * case, each with books of bytes and losses and without. Usage: bench/fluid [CASE], CASE = random | ring | alltoall. */
#include "base/random.h"
#include "network/network.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

enum { K = 16, HALF = K / 2, HOSTS = K * K * K / 4 };

typedef struct {
    Fabric *fabric;
    Routes *routes;
    Engine *engine;
    Network *network;
    uint32_t client;
    uint32_t hosts[HOSTS];
    Random dice;
    uint64_t bytes; /* of a transfer */
    uint32_t n;     /* hosts in the ring */
    uint32_t to_do; /* further transfers to start */
    uint64_t ended;
} Bench;

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
    link.capacity_Bps = 50e9;
    link.latency_ps = 500 * PS_PER_NS;
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

static void
send(Bench *bench, uint32_t src, uint32_t dst, uint64_t bytes, uint32_t cookie, uint32_t coflow)
{
    Transfer transfer = {.coflow = coflow,
                         .src_rank = src,
                         .dst_rank = dst,
                         .src = bench->hosts[src],
                         .dst = bench->hosts[dst],
                         .src_nic = INDEX_NONE,
                         .dst_nic = INDEX_NONE,
                         .bytes = bytes,
                         .weight = 1,
                         .rate_cap_Bps = INFINITY};
    gboolean sent = network_send(bench->network, bench->client, &transfer, cookie, NULL);
    assert(sent);
    (void)sent;
}

static void
send_random(Bench *bench)
{
    uint32_t src = (uint32_t)random_below(&bench->dice, HOSTS);
    uint32_t dst = (src + 1 + (uint32_t)random_below(&bench->dice, HOSTS - 1)) % HOSTS;
    send(bench, src, dst, 1000000 + random_below(&bench->dice, 100000000), INDEX_NONE, INDEX_NONE);
}

/* Random flows are replaced until enough have ended; a ring's host goes on when it has received. */
static void
done(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Bench *bench = owner;
    if (moment != NETWORK_DELIVERED)
        return;
    bench->ended++;
    if (bench->to_do == 0) {
        if (bench->n == 0)
            engine_stop(bench->engine);
        return;
    }
    bench->to_do--;
    if (cookie == INDEX_NONE)
        send_random(bench);
    else
        send(bench, cookie, (cookie + 1) % bench->n, bench->bytes, (cookie + 1) % bench->n, 7);
}

static Bench *
begin(gboolean books)
{
    Bench *bench = g_new0(Bench, 1);
    fat_tree(bench);
    bench->routes = routes_new(bench->fabric, ROUTING_ECMP);
    bench->engine = engine_new(1);
    bench->dice = random_named(1, "bench");
    NetworkConfig config = network_config_default();
    config.books = books;
    bench->network = network_new("fluid", &config, bench->routes, bench->engine, NULL, NULL);
    bench->client = network_add_client(bench->network, done, bench);
    network_add_job(bench->network, "a");
    return bench;
}

static double
run(Bench *bench)
{
    double start = cpu_s();
    gboolean ran = engine_run(bench->engine, NULL);
    assert(ran);
    (void)ran;
    return cpu_s() - start;
}

static void
end(Bench *bench)
{
    network_free(bench->network);
    routes_free(bench->routes);
    engine_free(bench->engine);
    fabric_free(bench->fabric);
    g_free(bench);
}

static void
bench_random(uint32_t n, gboolean books)
{
    Bench *bench = begin(books);
    for (uint32_t i = 0; i < n; i++)
        send_random(bench);
    bench->to_do = 0; /* the first end stops the run: the first solve is not counted */
    double first = run(bench);
    bench->to_do = MAX(50, 2000000 / n); /* each end starts another transfer a latency later: two solves */
    bench->ended = 0;
    double time = run(bench);
    printf("{\"bench\": \"fluid\", \"case\": \"random\", \"flows\": %u, \"books\": %s, \"first_solve_ms\": %.3f, "
           "\"per_completion_us\": %.2f}\n",
           n, books ? "true" : "false", first * 1e3, time * 1e6 / (double)bench->ended);
    end(bench);
}

static void
bench_ring(uint32_t n, gboolean books)
{
    enum { STEPS = 200 };
    Bench *bench = begin(books);
    bench->n = n;
    bench->bytes = 1000000;
    bench->to_do = n * (STEPS - 1);
    for (uint32_t i = 0; i < n; i++)
        send(bench, i, (i + 1) % n, bench->bytes, (i + 1) % n, 7);
    double time = run(bench);
    assert(bench->ended == (uint64_t)n * STEPS);
    printf("{\"bench\": \"fluid\", \"case\": \"ring\", \"hosts\": %u, \"books\": %s, \"ms_per_step\": %.4f, "
           "\"us_per_transfer\": "
           "%.3f}\n",
           n, books ? "true" : "false", time * 1e3 / STEPS, time * 1e6 / (double)bench->ended);
    end(bench);
}

static void
bench_alltoall(uint32_t n, gboolean books)
{
    Bench *bench = begin(books);
    bench->n = 1;
    double start = cpu_s();
    for (uint32_t src = 0; src < n; src++)
        for (uint32_t dst = 0; dst < n; dst++)
            if (src != dst)
                send(bench, src, dst, 1000000, 0, 7);
    double started = cpu_s() - start, time = run(bench);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bench\": \"fluid\", \"case\": \"alltoall\", \"hosts\": %u, \"flows\": %u, \"books\": %s, \"start_s\": "
           "%.3f, "
           "\"run_s\": %.3f, \"simulated_ms\": %.4f, \"peak_MiB\": %ld}\n",
           n, n * (n - 1), books ? "true" : "false", started, time, sim_time_seconds(engine_now(bench->engine)) * 1e3,
           usage.ru_maxrss / 1024);
    end(bench);
}

int
main(int argc, char **argv)
{
    const char *only = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int books = 0; books < 2; books++) {
        for (uint32_t n = 1024; n <= 65536 && (only[0] == '\0' || strcmp(only, "random") == 0); n *= 4)
            bench_random(n, books);
        for (uint32_t n = 64; n <= 1024 && (only[0] == '\0' || strcmp(only, "ring") == 0); n *= 4)
            bench_ring(n, books);
        for (uint32_t n = 64; n <= 256 && (only[0] == '\0' || strcmp(only, "alltoall") == 0); n *= 2)
            bench_alltoall(n, books);
    }
    return 0;
}
