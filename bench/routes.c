/* routes.c - a generated 16,384-GPU three-level fabric, its next hops, and look-ups
 *
 * One JSON line a case: CPU seconds to generate the fabric, to make the routes with the next hops of every
 * attachment (median of 5), the bytes they hold, the peak memory of the process so far; then nanoseconds a
 * look-up, of random pairs and of ring neighbours, under each policy. The issue asks for fabric and routes in 1 s
 * and 150 MB. */
#include "base/random.h"
#include "fabric/generate.h"
#include "fabric/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { RUNS = 5, SERVERS = 2048, PAIRS = 1 << 14 };

static double
cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double
peak_MB(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024 / 1e6;
}

static Fabric *
generate(ZoneNetwork network)
{
    GenerateSpec *spec = generate_spec_new();
    spec->server.nvlink_rate_Bps = 450e9;
    spec->server.nvlink_latency_ps = 300 * PS_PER_NS;
    spec->server.nic_rate_Bps = 50e9;
    spec->zone.servers = SERVERS;
    spec->zone.network = network;
    spec->zone.link_latency_ps = 600 * PS_PER_NS;
    if (network != ZONE_CLOS3)
        spec->zone.radix = 512; /* two levels reach no further with 64 ports */
    GError *error = NULL;
    Fabric *fabric = generate_fabric(spec, &error);
    generate_spec_free(spec);
    if (fabric == NULL) {
        fprintf(stderr, "%s\n", error->message);
        exit(EXIT_FAILURE);
    }
    return fabric;
}

static void
bench_tables(ZoneNetwork network)
{
    double start = cpu_s(), seconds[RUNS], made;
    Fabric *fabric = generate(network);
    made = cpu_s() - start;
    size_t bytes = 0;
    for (int i = 0; i < RUNS; i++) {
        start = cpu_s();
        Routes *routes = routes_new(fabric, ROUTING_ECMP);
        routes_prepare(routes);
        seconds[i] = cpu_s() - start;
        bytes = routes_memory(routes);
        routes_free(routes);
    }
    qsort(seconds, RUNS, sizeof *seconds, ascending);
    uint32_t n_gpus;
    fabric_gpus(fabric, &n_gpus);
    printf("{\"case\": \"tables %s\", \"gpus\": %u, \"nodes\": %u, \"links\": %u, \"generate_s\": %.3f, \"routes_s\": "
           "%.3f, \"routes_MB\": %.1f, \"peak_MB\": %.0f}\n",
           zone_network_name(network), n_gpus, fabric_n_nodes(fabric), fabric_n_links(fabric), made, seconds[RUNS / 2],
           (double)bytes / 1e6, peak_MB());
    fabric_free(fabric);
}

/* Nanoseconds a look-up; hops a route into *hops. */
static double
look_up(Routes *routes, const RouteRequest *requests, double *hops)
{
    double seconds[RUNS];
    uint64_t n_hops = 0;
    uint32_t n = routes_policy(routes) == ROUTING_SPRAY ? PAIRS / 64 : PAIRS;
    for (int run = -1; run < RUNS; run++) { /* the first warms up */
        double start = cpu_s();
        n_hops = 0;
        for (uint32_t i = 0; i < n; i++) {
            Route route;
            if (!routes_find(routes, &requests[i], &route, NULL))
                abort();
            n_hops += route.n_hops;
        }
        if (run >= 0)
            seconds[run] = cpu_s() - start;
    }
    qsort(seconds, RUNS, sizeof *seconds, ascending);
    *hops = (double)n_hops / n;
    return seconds[RUNS / 2] / n * 1e9;
}

static void
bench_look_ups(ZoneNetwork network, RoutingPolicy policy)
{
    Fabric *fabric = generate(network);
    Routes *routes = routes_new(fabric, policy);
    Random random = random_named(1, "pairs");
    uint32_t n;
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    static RouteRequest requests[PAIRS];
    static const char *const cases[] = {"random", "ring"};
    for (int ring = 0; ring < 2; ring++) {
        for (uint32_t i = 0; i < PAIRS; i++) {
            uint32_t src = ring ? i % n : (uint32_t)random_below(&random, n);
            uint32_t dst = ring ? (i + 1) % n : (uint32_t)random_below(&random, n);
            requests[i] = (RouteRequest){gpus[src], gpus[dst], INDEX_NONE, INDEX_NONE, random_next(&random)};
        }
        double hops, ns = look_up(routes, requests, &hops);
        printf("{\"case\": \"look-up %s %s %s\", \"ns\": %.0f, \"hops\": %.2f}\n", zone_network_name(network),
               routing_policy_name(policy), cases[ring], ns, hops);
    }
    routes_free(routes);
    fabric_free(fabric);
}

int
main(void)
{
    bench_tables(ZONE_CLOS3);
    bench_tables(ZONE_RAIL);
    for (RoutingPolicy policy = ROUTING_ECMP; policy <= ROUTING_DMODK; policy++)
        bench_look_ups(ZONE_CLOS3, policy);
    bench_look_ups(ZONE_RAIL, ROUTING_ECMP);
    return EXIT_SUCCESS;
}
