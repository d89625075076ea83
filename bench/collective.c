/* collective.c - bench: one collective in each grain; LogGOPSim takes 1.75 s and 176 MB for the ring of 1024 ranks,
 * without contention
 *
 * Prints one line of JSON a measurement, each made in a process of its own, so that peaks are its own. Arguments choose
 * the hosts on the switch (1024). SPEED.md, section 2. */
#include "collective/collective.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    const char *name, *model;
    CollectiveKind kind;
    CollectiveGrain grain;
    const char *algorithm;
    uint64_t slice_B;
} Case;

static const Case cases[] = {
    {"ring", "fluid", COLLECTIVE_ALL_REDUCE, GRAIN_STEPS, "ring", 0},
    {"ring", "analytic", COLLECTIVE_ALL_REDUCE, GRAIN_STEPS, "ring", 0},
    {"ring sliced", "fluid", COLLECTIVE_ALL_REDUCE, GRAIN_STEPS, "ring", 128 * 1024},
    {"ring", "fluid", COLLECTIVE_ALL_REDUCE, GRAIN_BUNDLE, "ring", 0},
    {"ring sliced", "fluid", COLLECTIVE_ALL_REDUCE, GRAIN_BUNDLE, "ring", 128 * 1024},
    {"halving_doubling", "fluid", COLLECTIVE_ALL_REDUCE, GRAIN_STEPS, "halving_doubling", 0},
    {"pairwise all_to_all", "fluid", COLLECTIVE_ALL_TO_ALL, GRAIN_STEPS, "pairwise", 0},
};

/* n hosts of 50 GB/s on one switch, 5 us up. */
static Fabric *
build(uint32_t n, GError **error)
{
    g_autoptr(Fabric) fabric = fabric_new();
    Node node = node_default();
    node.name = "switch";
    node.kind = NODE_LEAF;
    uint32_t middle = fabric_add_node(fabric, &node, error);
    node.kind = NODE_HOST;
    Link link = link_default();
    link.capacity_Bps = 50e9;
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("host%u", i);
        node.name = name;
        link.kind = LINK_ETHERNET;
        link.src = fabric_add_node(fabric, &node, error);
        link.dst = middle;
        link.latency_ps = 5 * PS_PER_US;
        if (fabric_add_link(fabric, &link, error) == INDEX_NONE)
            return NULL;
        link.dst = link.src;
        link.src = middle;
        link.latency_ps = 0;
        if (fabric_add_link(fabric, &link, error) == INDEX_NONE)
            return NULL;
    }
    return fabric_seal(fabric, error) ? g_steal_pointer(&fabric) : NULL;
}

static int
measure(const Case *one, uint32_t n)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Fabric) fabric = build(n, &error);
    g_autoptr(Routes) routes = fabric != NULL ? routes_new(fabric, ROUTING_ECMP) : NULL;
    g_autofree uint32_t *ranks = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = i;
    uint32_t n_gpus;
    CollectiveSpec spec = {.kind = one->kind, .n = n, .ranks = ranks, .bytes = (uint64_t)n << 20, .coflow = INDEX_NONE};
    spec.nodes = fabric != NULL ? fabric_gpus(fabric, &n_gpus) : NULL;
    CollectiveConfig config = collective_config_default();
    config.grain = one->grain;
    config.slice_B = one->slice_B;
    config.algorithm[one->kind] = one->algorithm;
    NetworkConfig network = network_config_default();
    gint64 start = g_get_monotonic_time();
    SimTime end = routes != NULL ? collective_alone(one->model, &network, routes, "bench", &spec, &config, &error) : -1;
    if (end < 0) {
        fprintf(stderr, "bench/collective: %s\n", error->message);
        return EXIT_FAILURE;
    }
    double wall_s = (double)(g_get_monotonic_time() - start) / 1e6;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double cpu_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
    printf("{\"bench\": \"collective\", \"case\": \"%s\", \"ranks\": %u, \"model\": \"%s\", \"grain\": \"%s\", "
           "\"simulated_us\": %.3f, "
           "\"wall_s\": %.3f, \"cpu_s\": %.3f, \"peak_MiB\": %.1f}\n",
           one->name, n, one->model, one->grain == GRAIN_STEPS ? "steps" : "bundle", (double)end / (double)PS_PER_US,
           wall_s, cpu_s, (double)usage.ru_maxrss / 1024);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1024;
    int status = n < 2 ? EXIT_FAILURE : EXIT_SUCCESS;
    for (size_t i = 0; i < G_N_ELEMENTS(cases) && status == EXIT_SUCCESS; i++) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            exit(measure(&cases[i], n));
        int ended;
        if (child < 0 || waitpid(child, &ended, 0) < 0 || !WIFEXITED(ended))
            return EXIT_FAILURE;
        status = WEXITSTATUS(ended);
    }
    return status;
}
