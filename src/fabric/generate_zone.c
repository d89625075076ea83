/* generate_zone.c - one zone: its servers, and the switches of its network */
#include "fabric/generate_zone.h"

#include "fabric/generate_direct.h"

#include <stdio.h>
#include <string.h>

/* A zone while it is made. Its switches are numbered on from these. */
typedef struct {
    Build *build;
    Unit *unit;
    const ZonePlan *plan;
    uint32_t first_nic; /* of server 0; server s has its NICs nic_stride * s further on */
    uint32_t nic_stride;
    uint32_t leaf, spine, core; /* nodes: the first of each */
} Zone;

typedef struct {
    const char *name;
    gboolean (*plan)(const GenerateSpec *spec, ZonePlan *plan, GError **error);
    void (*build)(Zone *zone);
} Network;

static Link
zone_link(const Zone *zone, uint32_t src, uint32_t dst, double rate_Bps)
{
    Link link = link_default();
    link.src = src;
    link.dst = dst;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = rate_Bps;
    link.latency_ps = zone->build->spec->zone.link_latency_ps;
    link.source = "generated";
    return link;
}

/* n parallel cables between two switches. */
static void
trunk(Zone *zone, uint32_t lower, uint32_t upper, uint32_t n)
{
    Link link = zone_link(zone, lower, upper, zone_link_rate_Bps(zone->build->spec));
    for (uint32_t i = 0; i < n; i++)
        build_cable(zone->build, &link);
}

static void
add_nvlink(Zone *zone, uint32_t first_gpu, const char *prefix)
{
    const ServerSpec *server = &zone->build->spec->server;
    if (server->gpus < 2 || server->nvlink_rate_Bps == 0)
        return;
    g_autofree char *name = g_strconcat(prefix, "nvswitch", NULL);
    Link link =
        zone_link(zone, 0, build_node(zone->build, zone->unit, NODE_NVSWITCH, -1, name), server->nvlink_rate_Bps);
    link.kind = LINK_NVLINK;
    link.latency_ps = server->nvlink_latency_ps;
    for (uint32_t gpu = 0; gpu < server->gpus; gpu++) {
        link.src = first_gpu + gpu;
        build_cable(zone->build, &link);
    }
}

/* NIC k hangs on GPU k * gpus / nics; with fewer NICs than GPUs on each of its gpus / nics GPUs. */
static void
add_pcie(Zone *zone, uint32_t first_gpu, uint32_t first_nic)
{
    const ServerSpec *server = &zone->build->spec->server;
    gboolean given = server->pcie_rate_Bps > 0;
    Link link = zone_link(zone, 0, 0, given ? server->pcie_rate_Bps : server->nic_rate_Bps * server->nic_ports);
    link.kind = LINK_PCIE;
    link.latency_ps = server->pcie_latency_ps;
    link.source = given ? "generated" : "default";
    uint32_t sharers = MAX(server->gpus / server->nics, 1);
    for (uint32_t nic = 0; nic < server->nics; nic++)
        for (uint32_t i = 0; i < sharers; i++) {
            link.src = first_gpu + nic * server->gpus / server->nics + i;
            link.dst = first_nic + nic;
            build_cable(zone->build, &link);
        }
}

static void
add_server(Zone *zone, uint32_t number)
{
    const ServerSpec *server = &zone->build->spec->server;
    snprintf(zone->unit->server, sizeof zone->unit->server, "%u", number);
    g_autofree char *prefix = g_strdup_printf("%s%u/", zone->unit->prefix, number);
    uint32_t first_gpu = fabric_n_nodes(zone->build->fabric);
    char *name = g_alloca(strlen(prefix) + 24), *end = name + sprintf(name, "%s", prefix);
    for (uint32_t gpu = 0; gpu < server->gpus; gpu++) {
        sprintf(end, "gpu%u", gpu);
        int32_t rail = server->nics > 0 ? (int32_t)((uint64_t)gpu * server->nics / server->gpus) : -1;
        build_node(zone->build, zone->unit, NODE_GPU, rail, name);
    }
    add_nvlink(zone, first_gpu, prefix);
    uint32_t first_nic = fabric_n_nodes(zone->build->fabric);
    for (uint32_t nic = 0; nic < server->nics; nic++) {
        sprintf(end, "nic%u", nic);
        build_node(zone->build, zone->unit, NODE_NIC, (int32_t)nic, name);
    }
    if (number == 0)
        zone->first_nic = first_nic;
    if (server->nics > 0)
        add_pcie(zone, first_gpu, first_nic);
    zone->unit->server[0] = '\0';
}

/* n switches named stemN; the first of them. */
static uint32_t
add_switches(Zone *zone, NodeKind kind, uint32_t n, const char *stem)
{
    uint32_t first = fabric_n_nodes(zone->build->fabric), rails = zone->plan->leaves_a_group;
    for (uint32_t i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("%s%s%u", zone->unit->prefix, stem, i);
        build_node(zone->build, zone->unit, kind, kind == NODE_LEAF && rails > 1 ? (int32_t)(i % rails) : -1, name);
    }
    return first;
}

/* All ports of NIC k of server s go to one leaf of the server's group: of several leaves, to the k-th. */
static void
add_leaves(Zone *zone)
{
    const GenerateSpec *spec = zone->build->spec;
    const ZonePlan *plan = zone->plan;
    zone->leaf = add_switches(zone, NODE_LEAF, plan_n_leaves(plan), "leaf");
    for (uint32_t s = 0; s < spec->zone.servers; s++)
        for (uint32_t k = 0; k < spec->server.nics; k++) {
            uint32_t leaf = s / plan->group_servers * plan->leaves_a_group + k % plan->leaves_a_group;
            Link link = zone_link(zone, zone->first_nic + zone->nic_stride * s + k, zone->leaf + leaf,
                                  spec->server.nic_rate_Bps);
            for (uint32_t port = 0; port < spec->server.nic_ports; port++)
                build_cable(zone->build, &link);
        }
}

/* Each leaf spreads its uplinks evenly over the spines of its pod. */
static void
add_spines(Zone *zone)
{
    const ZonePlan *plan = zone->plan;
    zone->spine = add_switches(zone, NODE_SPINE, plan->n_pods * plan->spines, "spine");
    for (uint32_t leaf = 0; leaf < plan_n_leaves(plan); leaf++) {
        uint32_t first = zone->spine + leaf / plan->pod_leaves * plan->spines;
        for (uint32_t s = 0; s < plan->spines; s++)
            trunk(zone, zone->leaf + leaf, first + s, plan_uplinks(plan, leaf) / plan->spines);
    }
}

/* Spine s of every pod goes to the cores of plane s, with as many cables as come up to it. */
static void
add_cores(Zone *zone)
{
    const ZonePlan *plan = zone->plan;
    zone->core = add_switches(zone, NODE_CORE, plan->spines * plan->plane_cores, "core");
    for (uint32_t pod = 0; pod < plan->n_pods; pod++) {
        uint32_t cables = plan_spine_ports(plan, pod) / plan->plane_cores;
        for (uint32_t s = 0; s < plan->spines; s++)
            for (uint32_t c = 0; c < plan->plane_cores; c++)
                trunk(zone, zone->spine + pod * plan->spines + s, zone->core + s * plan->plane_cores + c, cables);
    }
}

static void
set_tops(Zone *zone, uint32_t first, uint32_t n)
{
    for (uint32_t top = first; top < first + n; top++)
        g_array_append_val(zone->unit->tops, top);
}

static void
build_leaves(Zone *zone)
{
    add_leaves(zone);
    set_tops(zone, zone->leaf, plan_n_leaves(zone->plan));
}

static void
build_two_levels(Zone *zone)
{
    add_leaves(zone);
    add_spines(zone);
    set_tops(zone, zone->spine, zone->plan->spines);
}

static void
build_three_levels(Zone *zone)
{
    add_leaves(zone);
    add_spines(zone);
    add_cores(zone);
    set_tops(zone, zone->core, zone->plan->spines * zone->plan->plane_cores);
}

static void
build_direct(Zone *zone, GArray *cables)
{
    const DragonflySpec *fly = &zone->build->spec->zone.dragonfly;
    add_leaves(zone);
    for (guint i = 0; i < cables->len; i++) {
        const DirectCable *cable = &g_array_index(cables, DirectCable, i);
        Link link =
            zone_link(zone, zone->leaf + cable->a, zone->leaf + cable->b, zone_link_rate_Bps(zone->build->spec));
        if (cable->global && fly->global_rate_Bps > 0)
            link.capacity_Bps = fly->global_rate_Bps;
        if (cable->global && fly->global_latency_ps >= 0)
            link.latency_ps = fly->global_latency_ps;
        build_cable(zone->build, &link);
    }
    g_array_unref(cables);
    set_tops(zone, zone->leaf, plan_n_leaves(zone->plan));
}

static void
build_torus(Zone *zone)
{
    build_direct(zone, direct_cables_torus(zone->build->spec));
}

static void
build_dragonfly(Zone *zone)
{
    build_direct(zone, direct_cables_dragonfly(zone->build->spec));
}

static gboolean
plan_switch(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    return plan_leaves_alone(spec, spec->server.nics, plan, error);
}

static gboolean
plan_clos2(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    return plan_leaves(spec, spec->server.nics, plan, error) && plan_spines(spec, plan, error);
}

static gboolean
plan_clos3(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    return plan_leaves(spec, spec->server.nics, plan, error) && plan_pods(spec, plan, error);
}

static gboolean
plan_rail(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    return plan_leaves(spec, 1, plan, error) && plan_spines(spec, plan, error);
}

static gboolean
plan_rail_only(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    return plan_leaves_alone(spec, 1, plan, error);
}

static const Network networks[] = {
    [ZONE_RAIL] = {"rail", plan_rail, build_two_levels},
    [ZONE_RAIL_ONLY] = {"rail_only", plan_rail_only, build_leaves},
    [ZONE_CLOS2] = {"clos2", plan_clos2, build_two_levels},
    [ZONE_CLOS3] = {"clos3", plan_clos3, build_three_levels},
    [ZONE_DRAGONFLY] = {"dragonfly", direct_plan_dragonfly, build_dragonfly},
    [ZONE_TORUS] = {"torus", direct_plan_torus, build_torus},
    [ZONE_SWITCH] = {"switch", plan_switch, build_leaves},
};

const char *
zone_network_name(ZoneNetwork network)
{
    return networks[network].name;
}

gboolean
zone_network_parse(const char *text, ZoneNetwork *network)
{
    for (size_t i = 0; i < G_N_ELEMENTS(networks); i++)
        if (strcmp(text, networks[i].name) == 0) {
            *network = (ZoneNetwork)i;
            return TRUE;
        }
    return FALSE;
}

gboolean
zone_plan(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    return networks[spec->zone.network].plan(spec, plan, error);
}

void
zone_build(Build *build, Unit *unit, const ZonePlan *plan)
{
    const GenerateSpec *spec = build->spec;
    Zone zone = {.build = build, .unit = unit, .plan = plan};
    uint32_t first = fabric_n_nodes(build->fabric);
    for (uint32_t s = 0; s < spec->zone.servers; s++)
        add_server(&zone, s);
    zone.nic_stride = (fabric_n_nodes(build->fabric) - first) / spec->zone.servers;
    unit->nic_rate_Bps = spec->zone.servers * server_nic_rate_Bps(&spec->server);
    if (spec->server.nics > 0)
        networks[spec->zone.network].build(&zone);
}
