/* generate.c - fabrics from a description: the figures checked, then made */
#include "fabric/generate.h"

#include "base/error.h"
#include "fabric/generate_site.h"
#include "fabric/generate_zone.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* GPUs, NICs and their cables: beyond this a slip of the pen is likelier than a fabric. */
#define MAX_PARTS 5e7

GenerateSpec *
generate_spec_new(void)
{
    GenerateSpec *spec = g_new0(GenerateSpec, 1);
    spec->server = (ServerSpec){.gpus = 8, .gpu = g_strdup(""), .nics = 8, .nic_ports = 1};
    spec->zone =
        (ZoneSpec){.servers = 1, .network = ZONE_SWITCH, .oversubscription = 1, .dragonfly = {.global_latency_ps = -1}};
    return spec;
}

void
generate_spec_free(GenerateSpec *spec)
{
    if (spec == NULL)
        return;
    g_free(spec->server.gpu);
    for (uint32_t i = 0; i < spec->n_buildings; i++)
        g_free(spec->buildings[i].name);
    for (uint32_t i = 0; i < spec->n_regions; i++) {
        g_free(spec->regions[i].name);
        g_free(spec->regions[i].buildings);
    }
    g_free(spec->buildings);
    g_free(spec->regions);
    g_free(spec->cuts);
    g_free(spec);
}

double
server_nic_rate_Bps(const ServerSpec *server)
{
    return server->nic_rate_Bps * server->nic_ports * server->nics;
}

double
zone_link_rate_Bps(const GenerateSpec *spec)
{
    return spec->zone.link_rate_Bps > 0 ? spec->zone.link_rate_Bps : spec->server.nic_rate_Bps;
}

uint32_t
build_node(Build *build, const Unit *unit, NodeKind kind, int32_t rail, const char *name)
{
    const ServerSpec *server = &build->spec->server;
    Node node = node_default();
    node.name = name;
    node.kind = kind;
    node.region = unit->region;
    node.building = unit->building;
    node.zone = unit->zone;
    node.server = unit->server;
    node.rail = rail;
    if (kind == NODE_GPU) {
        node.gpu = server->gpu != NULL ? server->gpu : "";
        node.peak_FLOPps = server->peak_FLOPps;
        node.memory_bandwidth_Bps = server->memory_bandwidth_Bps;
        node.memory_B = server->memory_B;
    }
    uint32_t index = fabric_add_node(build->fabric, &node, NULL);
    assert(index != INDEX_NONE);
    return index;
}

void
build_link(Build *build, const Link *link)
{
    fabric_add_link(build->fabric, link, build->error == NULL ? &build->error : NULL);
}

void
build_cable(Build *build, const Link *cable)
{
    fabric_add_cable(build->fabric, cable, build->error == NULL ? &build->error : NULL);
}

static gboolean
check_count(const char *key, uint32_t value, uint32_t least, uint32_t most, GError **error)
{
    if (value >= least && value <= most)
        return TRUE;
    return error_input(error, "%s: found %u, expected %u to %u", key, value, least, most);
}

/* A rate or the like: finite and above 0; 0 itself where it means "not given". */
static gboolean
check_figure(const char *key, double value, gboolean optional, GError **error)
{
    if (isfinite(value) && (value > 0 || (optional && value == 0)))
        return TRUE;
    return error_input(error, "%s: found %g, expected a finite number above 0", key, value);
}

static gboolean
check_latency(const char *key, SimTime value, GError **error)
{
    if (value >= 0)
        return TRUE;
    return error_input(error, "%s: found %" G_GINT64_FORMAT " ps, expected 0 or more", key, value);
}

static gboolean
shares_evenly(uint32_t gpus, uint32_t nics)
{
    return gpus % nics == 0 || nics % gpus == 0;
}

static gboolean
check_server(const ServerSpec *server, GError **error)
{
    uint32_t gpus = server->gpus, nics = server->nics;
    if (!check_count("server.gpus", gpus, 1, 65536, error) || !check_count("server.nics", nics, 0, 65536, error) ||
        !check_figure("server.nvlink.rate", server->nvlink_rate_Bps, TRUE, error) ||
        !check_latency("server.nvlink.latency", server->nvlink_latency_ps, error) ||
        !check_figure("server.pcie.rate", server->pcie_rate_Bps, TRUE, error) ||
        !check_latency("server.pcie.latency", server->pcie_latency_ps, error))
        return FALSE;
    if (nics == 0)
        return TRUE;
    if (!shares_evenly(gpus, nics)) {
        uint32_t fewer = nics, more = nics;
        while (!shares_evenly(gpus, fewer))
            fewer--;
        while (!shares_evenly(gpus, more))
            more++;
        return error_input(error, "server.nics: %u NICs cannot be shared evenly by %u GPUs; %u or %u can", nics, gpus,
                           fewer, more);
    }
    return check_count("server.nic.ports", server->nic_ports, 1, 64, error) &&
           check_figure("server.nic.rate", server->nic_rate_Bps, FALSE, error);
}

static gboolean
check_zone(const ZoneSpec *zone, GError **error)
{
    return check_count("zone.servers", zone->servers, 1, UINT32_MAX / 2, error) &&
           check_figure("zone.link.rate", zone->link_rate_Bps, TRUE, error) &&
           check_latency("zone.link.latency", zone->link_latency_ps, error) &&
           check_figure("zone.dragonfly.global.rate", zone->dragonfly.global_rate_Bps, TRUE, error) &&
           check_figure("zone.oversubscription", zone->oversubscription, FALSE, error) &&
           check_count("zone.radix", zone->radix == 0 ? 2 : zone->radix, 2, 65536, error);
}

/* Names become parts of node names. */
static gboolean
check_name(const char *key, uint32_t index, const char *name, GHashTable *taken, GError **error)
{
    if (name == NULL || name[0] == '\0')
        return error_input(error, "%s[%u].name: it has no name", key, index);
    if (strchr(name, '/') != NULL)
        return error_input(error, "%s[%u].name: \"%s\" has a \"/\", which parts the names of nodes", key, index, name);
    if (!g_hash_table_add(taken, (gpointer)name))
        return error_input(error, "%s[%u].name: \"%s\" is taken already", key, index, name);
    return TRUE;
}

static gboolean
check_names(const GenerateSpec *spec, GError **error)
{
    g_autoptr(GHashTable) buildings = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) regions = g_hash_table_new(g_str_hash, g_str_equal);
    for (uint32_t i = 0; i < spec->n_buildings; i++)
        if (!check_name("buildings", i, spec->buildings[i].name, buildings, error))
            return FALSE;
    for (uint32_t i = 0; i < spec->n_regions; i++)
        if (!check_name("regions", i, spec->regions[i].name, regions, error))
            return FALSE;
    return TRUE;
}

static gboolean
check_size(const GenerateSpec *spec, GError **error)
{
    double zones = spec->n_buildings == 0;
    for (uint32_t i = 0; i < spec->n_buildings; i++) {
        g_autofree char *key = g_strdup_printf("buildings[%u].zones", i);
        if (!check_count(key, spec->buildings[i].zones, 1, UINT32_MAX / 2, error))
            return FALSE;
        zones += spec->buildings[i].zones;
    }
    const ServerSpec *server = &spec->server;
    double servers = zones * spec->zone.servers, parts = server->gpus + (double)server->nics * (1 + server->nic_ports);
    if (servers * parts > MAX_PARTS)
        return error_input(error,
                           "zone.servers: %.0f servers with %u GPUs and %u NICs are %.3g parts, over the %.3g "
                           "this program takes on",
                           servers, server->gpus, server->nics, servers * parts, MAX_PARTS);
    if (server->nics == 0 && servers > 1)
        return error_input(error, "server.nics: found 0, but %.0f servers are to be joined", servers);
    return TRUE;
}

Fabric *
generate_fabric(const GenerateSpec *spec, GError **error)
{
    ZonePlan plan = {0};
    if (!check_server(&spec->server, error) || !check_zone(&spec->zone, error) || !check_names(spec, error) ||
        !check_size(spec, error) || !site_check(spec, error))
        return NULL;
    if (spec->server.nics > 0 && !zone_plan(spec, &plan, error))
        return NULL;

    g_autoptr(Fabric) fabric = fabric_new();
    Build build = {.spec = spec, .fabric = fabric};
    fabric_set_forward(fabric, spec->server.forward);
    site_build(&build, &plan);
    if (build.error != NULL) {
        g_propagate_error(error, build.error);
        return NULL;
    }
    return fabric_seal(fabric, error) ? g_steal_pointer(&fabric) : NULL;
}
