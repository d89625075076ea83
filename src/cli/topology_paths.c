/* topology_paths.c - 'trainshed topology paths': the routes between two nodes */
#include "base/error.h"
#include "base/units.h"
#include "cli/table.h"
#include "cli/topology.h"
#include "fabric/graph_check.h"
#include "fabric/route.h"

#include <math.h>
#include <stdio.h>

/* The NIC of this rail of the server node is in. */
static gboolean
nic_of(const Fabric *fabric, uint32_t node, int rail, uint32_t *nic, GError **error)
{
    uint32_t server = fabric_server(fabric, node), n = 0;
    const uint32_t *nics = server != INDEX_NONE ? fabric_server_nics(fabric, server, &n) : NULL;
    if ((uint32_t)rail >= n)
        return error_input(error, "--nic %d: the server of \"%s\" has %u NICs, counted from 0", rail,
                           fabric_node(fabric, node)->name, n);
    *nic = nics[rail];
    return TRUE;
}

static double
least_capacity(const Fabric *fabric, const Route *route)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < route->n_hops; i++)
        least = MIN(least, fabric_link(fabric, route->hops[i].link)->capacity_Bps);
    return least;
}

static void
print_route(const Fabric *fabric, const Route *route)
{
    g_autoptr(Table) table = table_new("  from|to|kind|>capacity|>latency|>length");
    for (uint32_t i = 0; i < route->n_hops; i++) {
        const Link *link = fabric_link(fabric, route->hops[i].link);
        table_add(table, "  %s", fabric_node(fabric, link->src)->name);
        table_add(table, "%s", fabric_node(fabric, link->dst)->name);
        table_add(table, "%s", link_kind_name(link->kind));
        table_take(table, units_format_rate(link->capacity_Bps));
        table_take(table, units_format_time(link->latency_ps));
        table_take(table, isnan(link->length_km) ? g_strdup("-") : g_strdup_printf("%g km", link->length_km));
    }
    table_print(table, stdout);
}

static gboolean
print_paths(const Fabric *fabric, const RouteRequest *request, GError **error)
{
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    uint64_t n_paths;
    Route route;
    if (!routes_count(routes, request, &n_paths, error) || !routes_find(routes, request, &route, error))
        return FALSE;
    const char *from = fabric_node(fabric, request->src)->name, *to = fabric_node(fabric, request->dst)->name;
    if (route.n_hops == 0) {
        printf("%s to itself: no hops\n", from);
        return TRUE;
    }
    g_autofree char *latency = units_format_time(route.latency_ps);
    g_autofree char *rate = units_format_rate(least_capacity(fabric, &route));
    printf("%s to %s\n", from, to);
    printf("equal-cost paths     %" G_GUINT64_FORMAT " of %u hops\n", n_paths, route.n_hops);

    g_autoptr(GraphCheck) check = graph_check_new(fabric, error);
    if (check == NULL)
        return FALSE;
    printf("edge-disjoint paths  %u\n", graph_check_disjoint_paths(check, request->src, request->dst));
    printf("one of them          %s at least on each link, %s\n\n", rate, latency);
    print_route(fabric, &route);
    return TRUE;
}

gboolean
topology_paths(int argc, char **argv, GError **error)
{
    int nic = -1;
    const GOptionEntry entries[] = {
        {"nic", 'n', 0, G_OPTION_ARG_INT, &nic, "Use NIC K of each server; default: the nearest with a route", "K"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("FABRIC A B");
    g_option_context_add_main_entries(context, entries, NULL);
    if (!topology_arguments(context, &argc, &argv, 3, 3, error))
        return FALSE;
    g_autoptr(Fabric) fabric = topology_load(argv[1], NULL, NULL, NULL, NULL, error);
    if (fabric == NULL)
        return FALSE;
    RouteRequest request = {.src_nic = INDEX_NONE, .dst_nic = INDEX_NONE};
    if ((request.src = topology_node(fabric, argv[2], error)) == INDEX_NONE ||
        (request.dst = topology_node(fabric, argv[3], error)) == INDEX_NONE)
        return FALSE;
    for (int i = 2; i < 4; i++) {
        NodeKind kind = fabric_node(fabric, i == 2 ? request.src : request.dst)->kind;
        if (kind != NODE_GPU && kind != NODE_HOST)
            return error_input(error, "\"%s\" is of kind %s; routes lead from GPUs and hosts to GPUs and hosts",
                               argv[i], node_kind_name(kind));
    }
    if (nic >= 0 && (!nic_of(fabric, request.src, nic, &request.src_nic, error) ||
                     !nic_of(fabric, request.dst, nic, &request.dst_nic, error)))
        return FALSE;
    return print_paths(fabric, &request, error);
}
