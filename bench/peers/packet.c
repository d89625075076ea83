/* packet.c - our side of bench/peers/ns3.sh: a permutation of 64 hosts in packets, written down for a peer, or run
 *
 *   bench/peers/packet BYTES [PLAN]
 *
 * Each of 64 hosts sends BYTES to another, drawn so that each receives once. Three-level tree of full bisection (4 pods
 * of 4 leaves, 4 spines, 16 hosts; 16 cores), 100 Gb/s, 1 us a link, per-flow ECMP; packets of 4096 bytes and the 30
 * bytes of PPP, IPv4 and UDP that ns-3 adds; a window of all BYTES, so that hosts send at the rate of the link as UDP
 * does; queues without limit, store and forward; one ACK a packet (ns-3's UDP sends none). With PLAN the cables and
 * flows are written there and nothing is run. Else one JSON line: CPU seconds from the first send to the last delivery,
 * without set-up; packet-hops (a packet leaves a port), data and control apart. */
#include "../fat_tree.h"
#include "base/random.h"
#include "network/model.h"
#include "network/network.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { MTU_B = 4096, HEADER_B = 30, HOSTS = 64 };

static const FatTree tree = {4, 4, 12.5e9, PS_PER_US};

typedef struct {
    Engine *engine;
    Network *network;
    uint32_t client, delivered;
    uint64_t bytes;
    uint32_t dst[HOSTS]; /* by source */
} Run;

static double
cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* A permutation of one cycle, so that nobody sends to himself (Sattolo 1986). */
static void
draw(Run *run)
{
    Random dice = random_named(1, "peers");
    for (uint32_t i = 0; i < HOSTS; i++)
        run->dst[i] = i;
    for (uint32_t i = HOSTS - 1; i > 0; i--) {
        uint32_t j = (uint32_t)random_below(&dice, i), swap = run->dst[i];
        run->dst[i] = run->dst[j];
        run->dst[j] = swap;
    }
}

static Transfer
transfer_of(const Run *run, uint32_t src)
{
    return (Transfer){.coflow = INDEX_NONE,
                      .src_rank = src,
                      .dst_rank = run->dst[src],
                      .src = src, /* hosts are the first nodes */
                      .dst = run->dst[src],
                      .src_nic = INDEX_NONE,
                      .dst_nic = INDEX_NONE,
                      .bytes = run->bytes,
                      .weight = 1,
                      .rate_cap_Bps = INFINITY};
}

static void
tell(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Run *run = owner;
    (void)cookie;
    if (moment == NETWORK_DELIVERED)
        run->delivered++;
}

/* nodes cables hosts bytes, MTU rate latency; a line a cable: its nodes; a line a flow: number of nodes, the nodes. */
static gboolean
write_plan(const Run *run, Routes *routes, const char *path)
{
    const Fabric *fabric = routes_fabric(routes);
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return FALSE;
    fprintf(file, "%u %u %d %" G_GUINT64_FORMAT "\n%d %.17g %.17g\n", fabric_n_nodes(fabric),
            fabric_n_links(fabric) / 2, HOSTS, run->bytes, MTU_B, tree.rate_Bps, sim_time_seconds(tree.latency_ps));
    for (uint32_t link = 0; link < fabric_n_links(fabric); link += 2)
        fprintf(file, "%u %u\n", fabric_link(fabric, link)->src, fabric_link(fabric, link)->dst);
    for (uint32_t src = 0; src < HOSTS; src++) {
        Transfer transfer = transfer_of(run, src);
        RouteRequest request = network_request(run->network, &transfer);
        Route route;
        gboolean found = routes_find(routes, &request, &route, NULL);
        assert(found);
        (void)found;
        fprintf(file, "%u %u", route.n_hops + 1, src);
        for (uint32_t h = 0; h < route.n_hops; h++)
            fprintf(file, " %u", fabric_link(fabric, route.hops[h].link)->dst);
        fputc('\n', file);
    }
    return fclose(file) == 0;
}

static void
perform(Run *run)
{
    double begin_s = cpu_s();
    for (uint32_t src = 0; src < HOSTS; src++) {
        Transfer transfer = transfer_of(run, src);
        gboolean sent = network_send(run->network, run->client, &transfer, src, NULL);
        assert(sent);
        (void)sent;
    }
    gboolean ran = engine_run(run->engine, NULL);
    double time_s = cpu_s() - begin_s;
    assert(ran && run->delivered == HOSTS);
    (void)ran;
    network_finish(run->network);
    PacketTotals totals = network_totals(run->network).packet;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bench\": \"peers/packet\", \"side\": \"trainshed\", \"hosts\": %d, \"bytes\": %" G_GUINT64_FORMAT
           ", \"rate\": \"100 Gb/s\", \"latency\": \"1 us\", \"data_hops\": %" G_GUINT64_FORMAT
           ", \"control_hops\": %" G_GUINT64_FORMAT ", \"dropped\": %" G_GUINT64_FORMAT
           ", \"cpu_s\": %.6f, \"simulated_us\": %.3f, \"peak_MiB\": %ld}\n",
           HOSTS, run->bytes, totals.data_hops, totals.control_hops, totals.dropped, time_s,
           (double)engine_now(run->engine) / PS_PER_US, usage.ru_maxrss / 1024);
}

int
main(int argc, char **argv)
{
    Run run = {.bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 0};
    if (run.bytes == 0) {
        fprintf(stderr, "usage: bench/peers/packet BYTES [PLAN]\n");
        return 2;
    }
    draw(&run);
    g_autofree char *window = g_strdup_printf("%" G_GUINT64_FORMAT " B", run.bytes + MTU_B);
    TransportSetting setting = {"window", window};
    NetworkConfig config = network_config_default();
    config.books = FALSE;
    config.seed = 1;
    config.packet.mtu_B = MTU_B;
    config.packet.header_B = HEADER_B;
    config.packet.transport = "window";
    config.packet.settings = &setting;
    config.packet.n_settings = 1;
    g_autoptr(Fabric) fabric = fat_tree_new(&tree);
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    g_autoptr(Engine) engine = run.engine = engine_new(1);
    g_autoptr(Network) network = run.network = network_new("packet", &config, routes, engine, NULL, NULL);
    assert(network != NULL);
    run.client = network_add_client(network, tell, &run);
    network_add_job(network, "peers");
    if (argc > 2 && !write_plan(&run, routes, argv[2])) {
        fprintf(stderr, "bench/peers/packet: %s cannot be written\n", argv[2]);
        return 1;
    }
    if (argc == 2)
        perform(&run);
    return 0;
}
