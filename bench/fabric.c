/* fabric.c - bench: a three-level fabric of 16,384 GPUs with its routes; the bar is 1 s and 150 MB
 *
 * Prints one line of JSON. Arguments set the number of servers of 8 GPUs (2048) and the ports a switch (64). */
#include "fabric/generate.h"
#include "fabric/route.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Routes from the first GPU to every other and back ask for every attachment there is. */
static gboolean
ask_all(Routes *routes, const Fabric *fabric, GError **error)
{
    uint32_t n;
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    for (uint32_t i = 1; i < n; i++)
        for (int way = 0; way < 2; way++) {
            RouteRequest request = {.src = gpus[way == 0 ? 0 : i],
                                    .dst = gpus[way == 0 ? i : 0],
                                    .src_nic = INDEX_NONE,
                                    .dst_nic = INDEX_NONE,
                                    .key = i};
            Route route;
            if (!routes_find(routes, &request, &route, error))
                return FALSE;
        }
    return TRUE;
}

int
main(int argc, char **argv)
{
    g_autoptr(GenerateSpec) spec = generate_spec_new();
    spec->server.nic_rate_Bps = 50e9;
    spec->server.nvlink_rate_Bps = 450e9;
    spec->server.nvlink_latency_ps = 300 * PS_PER_NS;
    spec->zone.servers = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 2048;
    spec->zone.radix = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 64;
    spec->zone.network = ZONE_CLOS3;
    spec->zone.link_latency_ps = 600 * PS_PER_NS;

    gint64 start = g_get_monotonic_time();
    g_autoptr(GError) error = NULL;
    g_autoptr(Fabric) fabric = generate_fabric(spec, &error);
    gint64 generated = g_get_monotonic_time();
    g_autoptr(Routes) routes = fabric != NULL ? routes_new(fabric, ROUTING_ECMP) : NULL;
    if (fabric == NULL || !ask_all(routes, fabric, &error)) {
        fprintf(stderr, "bench/fabric: %s\n", error->message);
        return EXIT_FAILURE;
    }
    gint64 ready = g_get_monotonic_time();

    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bench\": \"fabric\", \"gpus\": %u, \"links\": %u, \"generate_s\": %.3f, \"wall_s\": %.3f, \"peak_MiB\": "
           "%.1f, \"route_MiB\": %.2f}\n",
           spec->zone.servers * spec->server.gpus, fabric_n_links(fabric), (double)(generated - start) / 1e6,
           (double)(ready - start) / 1e6, (double)usage.ru_maxrss / 1024, (double)routes_memory(routes) / 0x1p20);
    return EXIT_SUCCESS;
}
