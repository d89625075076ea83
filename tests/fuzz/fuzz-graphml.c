/* fuzz-graphml.c - any bytes as GraphML: a fabric that is written and read back the same, and has routes, or an error
 */
#include "config.h"

#include "fabric/graph_check.h"
#include "fabric/graphml.h"
#include "fabric/route.h"
#include "fuzz.h"

#include <glib/gstdio.h>
#include <string.h>

/* The bytes graphml_write() makes of fabric; NULL where a text can't be written, which no file read can hold. */
static char *
written(const Fabric *fabric, const char *path)
{
    GError *error = NULL;
    char *text = NULL;
    if (!graphml_write(fabric, path, &error) || !g_file_get_contents(path, &text, NULL, NULL))
        abort();
    return text;
}

static void
check_round_trip(const Fabric *fabric)
{
    g_autofree char *path = g_strdup_printf("/tmp/trainshed-fuzz-%d", (int)getpid());
    g_autofree char *first = written(fabric, path);
    g_autoptr(Fabric) back = graphml_read(path, NULL, NULL);
    if (back == NULL)
        abort();
    g_autofree char *second = written(back, path);
    if (strcmp(first, second) != 0)
        abort();
    g_unlink(path);
}

static void
check_routes(const Fabric *fabric, RoutingPolicy policy)
{
    g_autoptr(Routes) routes = routes_new(fabric, policy);
    uint32_t n;
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    n = MIN(n, 6);
    for (uint32_t i = 0; i < n * n; i++) {
        GError *error = NULL;
        RouteRequest request = {gpus[i / n], gpus[i % n], INDEX_NONE, INDEX_NONE, i};
        Route route;
        gboolean good = routes_find(routes, &request, &route, &error);
        for (uint32_t k = 0; good && k < route.n_hops; k++)
            if (!(route.hops[k].share > 0 && route.hops[k].share <= 1) || route.latency_ps < 0)
                abort();
        fuzz_check(good, error);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = graphml_read(fuzz_file(data, size), &notes, &error);
    fuzz_check(fabric != NULL, error);
    if (fabric == NULL)
        return 0;
    check_round_trip(fabric);
    for (RoutingPolicy policy = ROUTING_ECMP; policy <= ROUTING_DMODK; policy++)
        check_routes(fabric, policy);
    g_autoptr(GraphCheck) check = graph_check_new(fabric, NULL);
    error = NULL;
    fuzz_check(graph_check_connected(check, &error), error);
    g_array_unref(graph_check_bridges(check));
    return 0;
}
