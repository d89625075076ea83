/* packet.c - packet-hops a second: permutations on a 3-level fat tree, and incast
 *
 * 2 MB flows of a connection matrix (argument: the folder of htsim matrices, by default ../shared/data/peers/htsim), 4
 * KiB MTU, 400 Gb/s, 1 us a hop, one ACK a data packet, per-flow ECMP. One JSON line a case: simulated end, data and
 * control packet-hops, packet-hops a second of CPU (median of 5 runs), CPU seconds of the run, peak memory of the
 * process. */
#include "fat_tree.h"
#include "replay.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { RUNS = 5 };

typedef struct {
    const char *name, *file;
    uint32_t k; /* of the fat tree: k^3 / 4 hosts */
    RoutingPolicy policy;
    const char *transport;
    gboolean pfc, ecn;
} Case;

typedef struct {
    double cpu_s;
    SimTime end_ps;
    NetworkTotals totals;
    uint64_t events;
} Outcome;

static double
cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static Outcome
run(const Case *bench, const Fabric *fabric, const HtsimMatrix *matrix)
{
    NetworkConfig config = network_config_default();
    config.books = FALSE;
    config.seed = 1;
    config.packet.transport = bench->transport;
    config.packet.pfc = bench->pfc;
    if (bench->ecn) {
        config.packet.ecn_kmin_B = 200000;
        config.packet.ecn_kmax_B = 800000;
    }
    g_autoptr(Routes) routes = routes_new(fabric, bench->policy);
    g_autoptr(Engine) engine = engine_new(1);
    g_autoptr(Network) network = network_new("packet", &config, routes, engine, NULL, NULL);
    Replay replay;
    double begin = cpu_s();
    replay_begin(&replay, matrix, engine, network);
    gboolean ran = engine_run(engine, NULL);
    Outcome outcome = {.cpu_s = cpu_s() - begin, .end_ps = replay.last_ps, .events = engine_events(engine)};
    network_finish(network);
    outcome.totals = network_totals(network);
    assert(ran && replay.delivered == matrix->flows->len);
    replay_end(&replay);
    (void)ran;
    return outcome;
}

static int
by_time(const void *a, const void *b)
{
    double x = ((const Outcome *)a)->cpu_s, y = ((const Outcome *)b)->cpu_s;
    return (x > y) - (x < y);
}

static void
perform(const Case *bench, const char *folder)
{
    g_autofree char *path = g_build_filename(folder, bench->file, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(HtsimMatrix) matrix = htsim_matrix_read(path, &error);
    if (matrix == NULL) {
        fprintf(stderr, "bench/packet: %s\n", error->message);
        exit(EXIT_FAILURE);
    }
    g_autoptr(Fabric) fabric = fat_tree_new(&(FatTree){bench->k / 2, bench->k, 50e9, PS_PER_US});
    Outcome outcomes[RUNS];
    for (int i = 0; i < RUNS; i++)
        outcomes[i] = run(bench, fabric, matrix);
    qsort(outcomes, RUNS, sizeof *outcomes, by_time);
    const Outcome *median = &outcomes[RUNS / 2];
    const PacketTotals *totals = &median->totals.packet;
    double hops = (double)(totals->data_hops + totals->control_hops);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bench\": \"packet\", \"case\": \"%s\", \"hosts\": %u, \"flows\": %u, \"bytes\": %" G_GUINT64_FORMAT
           ", \"rate\": \"400 Gb/s\", \"latency\": \"1 us\", \"transport\": \"%s\", \"routing\": \"%s\", \"end_us\": "
           "%.3f, "
           "\"data_hops\": %" G_GUINT64_FORMAT ", \"control_hops\": %" G_GUINT64_FORMAT
           ", \"dropped\": %" G_GUINT64_FORMAT ", \"trimmed\": %" G_GUINT64_FORMAT ", \"events\": %" G_GUINT64_FORMAT
           ", \"hops_per_s\": %.4g, \"cpu_s\": %.4f, \"peak_rss_MiB\": %.1f}\n",
           bench->name, bench->k * bench->k * bench->k / 4, matrix->flows->len, median->totals.bytes, bench->transport,
           routing_policy_name(bench->policy), (double)median->end_ps / PS_PER_US, totals->data_hops,
           totals->control_hops, totals->dropped, totals->trimmed, median->events, hops / median->cpu_s, median->cpu_s,
           (double)usage.ru_maxrss / 1024);
    fflush(stdout);
}

static const Case cases[] = {
    {"permutation", "perm_128_2MB.cm", 8, ROUTING_ECMP, "window", FALSE, FALSE},
    {"permutation", "perm_1024_2MB.cm", 16, ROUTING_ECMP, "window", FALSE, FALSE},
    {"permutation, PFC", "perm_1024_2MB.cm", 16, ROUTING_ECMP, "window", TRUE, FALSE},
    {"permutation, ECN", "perm_1024_2MB.cm", 16, ROUTING_ECMP, "window", FALSE, TRUE},
    {"permutation", "perm_1024_2MB.cm", 16, ROUTING_ECMP, "dcqcn", FALSE, FALSE},
    {"permutation", "perm_1024_2MB.cm", 16, ROUTING_ECMP, "swift", FALSE, FALSE},
    {"permutation", "perm_1024_2MB.cm", 16, ROUTING_ECMP, "timely", FALSE, FALSE},
    {"permutation", "perm_1024_2MB.cm", 16, ROUTING_ECMP, "hpcc", FALSE, FALSE},
    {"permutation", "perm_1024_2MB.cm", 16, ROUTING_ECMP, "ndp", FALSE, FALSE},
    {"permutation", "perm_128_2MB.cm", 8, ROUTING_SPRAY, "window", FALSE, FALSE},
    {"permutation", "perm_1024_2MB.cm", 16, ROUTING_SPRAY, "window", FALSE, FALSE},
    {"permutation", "perm_128_2MB.cm", 8, ROUTING_ADAPTIVE, "window", FALSE, FALSE},
    {"permutation, PFC", "perm_128_2MB.cm", 8, ROUTING_ECMP, "dcqcn", TRUE, FALSE},
    {"permutation, ECN", "perm_1024_2MB.cm", 16, ROUTING_ECMP, "dcqcn", FALSE, TRUE},
    {"permutation", "perm_128_2MB.cm", 8, ROUTING_SPRAY, "ndp", FALSE, FALSE},
    {"incast", "incast_127to1_2MB.cm", 8, ROUTING_ECMP, "ndp", FALSE, FALSE},
    {"incast", "incast_127to1_2MB.cm", 8, ROUTING_ECMP, "window", TRUE, FALSE},
    {"ring all-reduce, 64 of 128", "ring_allreduce_64of128_500kB.cm.gz", 8, ROUTING_ECMP, "window", FALSE, FALSE},
    {"all-to-all", "a2a_128_par1_62500B.cm.gz", 8, ROUTING_ECMP, "window", FALSE, FALSE},
};

/* bench/packet [--case N] [FOLDER] */
int
main(int argc, char **argv)
{
    const char *folder = "../shared/data/peers/htsim";
    long only = -1;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--case") == 0 && i + 1 < argc)
            only = strtol(argv[++i], NULL, 10);
        else
            folder = argv[i];
    for (size_t c = 0; c < G_N_ELEMENTS(cases); c++)
        if (only < 0 || (size_t)only == c)
            perform(&cases[c], folder);
    return EXIT_SUCCESS;
}
