/* test-generate.c - generated fabrics against counts and capacities worked out by hand */
#include "support.h"

#include "base/error.h"
#include "base/random.h"
#include "fabric/fabric_units.h"
#include "fabric/generate.h"

#include <math.h>
#include <string.h>

#define RATE 50e9 /* 400 Gb/s */

static GenerateSpec *
spec_of(uint32_t gpus, uint32_t nics, uint32_t servers, ZoneNetwork network, uint32_t radix, double oversubscription)
{
    GenerateSpec *spec = generate_spec_new();
    spec->server.gpus = gpus;
    spec->server.nics = nics;
    spec->server.nic_rate_Bps = RATE;
    spec->server.nvlink_rate_Bps = 450e9;
    spec->server.nvlink_latency_ps = 300 * PS_PER_NS;
    spec->zone.servers = servers;
    spec->zone.network = network;
    spec->zone.link_latency_ps = 600 * PS_PER_NS;
    spec->zone.radix = radix;
    spec->zone.oversubscription = oversubscription;
    return spec;
}

static void
add_building(GenerateSpec *spec, const char *name, uint32_t zones)
{
    spec->buildings = g_renew(BuildingSpec, spec->buildings, spec->n_buildings + 1);
    spec->buildings[spec->n_buildings++] = (BuildingSpec){g_strdup(name), zones};
}

static void
add_region(GenerateSpec *spec, const char *name, uint32_t first, uint32_t n)
{
    spec->regions = g_renew(RegionSpec, spec->regions, spec->n_regions + 1);
    RegionSpec region = {g_strdup(name), g_new(uint32_t, n), n};
    for (uint32_t i = 0; i < n; i++)
        region.buildings[i] = first + i;
    spec->regions[spec->n_regions++] = region;
}

static CutSpec *
add_cut(GenerateSpec *spec, CutLevel level, uint32_t links, double oversubscription, SimTime latency_ps)
{
    spec->cuts = g_renew(CutSpec, spec->cuts, spec->n_cuts + 1);
    spec->cuts[spec->n_cuts] = (CutSpec){.between = level,
                                         .links = links,
                                         .oversubscription = oversubscription,
                                         .length_km = NAN,
                                         .latency_ps = latency_ps};
    return &spec->cuts[spec->n_cuts++];
}

static Fabric *
generate(const GenerateSpec *spec)
{
    GError *error = NULL;
    Fabric *fabric = generate_fabric(spec, &error);
    ck_assert_msg(fabric != NULL, "%s", error ? error->message : "");
    return fabric;
}

static uint32_t
node(const Fabric *fabric, const char *name)
{
    uint32_t index = fabric_find(fabric, name);
    ck_assert_msg(index != INDEX_NONE, "no node \"%s\"", name);
    return index;
}

/* Links from a node to nodes of this kind, and their capacity together. */
static uint32_t
links_to(const Fabric *fabric, uint32_t from, NodeKind kind, double *capacity_Bps)
{
    uint32_t n, count = 0;
    const uint32_t *links = fabric_out(fabric, from, &n);
    *capacity_Bps = 0;
    for (uint32_t i = 0; i < n; i++) {
        const Link *link = fabric_link(fabric, links[i]);
        if (fabric_node(fabric, link->dst)->kind != kind)
            continue;
        count++;
        *capacity_Bps += link->capacity_Bps;
    }
    return count;
}

static uint32_t
links_between(const Fabric *fabric, const char *a, const char *b)
{
    uint32_t n, count = 0, to = node(fabric, b);
    const uint32_t *links = fabric_out(fabric, node(fabric, a), &n);
    for (uint32_t i = 0; i < n; i++)
        count += fabric_link(fabric, links[i])->dst == to;
    return count;
}

typedef struct {
    uint32_t kinds[NODE_KINDS];
    uint32_t links[LINK_KINDS]; /* directed */
    uint32_t pairs[NODE_KINDS][NODE_KINDS];
} Count;

static Count
count(const Fabric *fabric)
{
    Count all = {0};
    for (uint32_t i = 0; i < fabric_n_nodes(fabric); i++)
        all.kinds[fabric_node(fabric, i)->kind]++;
    for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
        const Link *link = fabric_link(fabric, i);
        all.links[link->kind]++;
        all.pairs[fabric_node(fabric, link->src)->kind][fabric_node(fabric, link->dst)->kind]++;
    }
    return all;
}

/* Two servers on one switch: each 8 GPUs + 1 NVSwitch + 8 NICs; cables 8 NVLink, 8 PCIe, 8 Ethernet. */
START_TEST(servers_on_one_switch)
{
    g_autoptr(GenerateSpec) spec = spec_of(8, 8, 2, ZONE_SWITCH, 0, 1);
    spec->server.gpu = (g_free(spec->server.gpu), g_strdup("h100"));
    spec->server.peak_FLOPps = 989e12;
    spec->server.memory_B = 1u << 30;
    spec->server.forward = FORWARD_PXN;
    g_autoptr(Fabric) fabric = generate(spec);
    Count all = count(fabric);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 2 * 17 + 1);
    ck_assert_uint_eq(all.links[LINK_NVLINK], 2 * 16);
    ck_assert_uint_eq(all.links[LINK_PCIE], 2 * 16);
    ck_assert_uint_eq(all.links[LINK_ETHERNET], 2 * 16);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * 48);
    ck_assert_int_eq(fabric_forward(fabric), FORWARD_PXN);

    const Node *gpu = fabric_node(fabric, node(fabric, "A/0/1/gpu5"));
    ck_assert_str_eq(gpu->region, "");
    ck_assert_str_eq(gpu->building, "A");
    ck_assert_str_eq(gpu->zone, "0");
    ck_assert_str_eq(gpu->server, "1");
    ck_assert_int_eq(gpu->rail, 5);
    ck_assert_str_eq(gpu->gpu, "h100");
    ck_assert(gpu->peak_FLOPps == 989e12 && gpu->memory_B == 1u << 30);
    ck_assert_uint_eq(links_between(fabric, "A/0/1/gpu5", "A/0/1/nvswitch"), 1);
    ck_assert_uint_eq(links_between(fabric, "A/0/1/gpu5", "A/0/1/nic5"), 1);
    ck_assert_uint_eq(links_between(fabric, "A/0/1/nic5", "A/0/leaf0"), 1);

    uint32_t n;
    const Link *pcie = fabric_link(fabric, fabric_out(fabric, node(fabric, "A/0/1/nic5"), &n)[0]);
    ck_assert(pcie->kind == LINK_PCIE && pcie->capacity_Bps == RATE && pcie->latency_ps == 0);
    ck_assert_str_eq(pcie->source, "default");
    const Link *nvlink = fabric_link(fabric, fabric_out(fabric, node(fabric, "A/0/1/nvswitch"), &n)[0]);
    ck_assert_uint_eq(n, 8);
    ck_assert(nvlink->capacity_Bps == 450e9 && nvlink->latency_ps == 300000);
    ck_assert_str_eq(nvlink->source, "generated");
    ck_assert_str_eq(fabric_node(fabric, node(fabric, "A/0/leaf0"))->server, "");
}
END_TEST

/* GPUs, NICs, and for NIC n the GPUs it hangs on, first and last. */
static const struct {
    uint32_t gpus, nics, nic, first, last, gpu, rail;
} shares[] = {
    {8, 8, 3, 3, 3, 6, 6}, {8, 2, 0, 0, 3, 3, 0},  {8, 2, 1, 4, 7, 5, 1},
    {8, 1, 0, 0, 7, 7, 0}, {8, 16, 5, 2, 2, 3, 6}, {1, 2, 1, 0, 0, 0, 0},
};

START_TEST(nics_hang_on_their_gpus)
{
    g_autoptr(GenerateSpec) spec = spec_of(shares[_i].gpus, shares[_i].nics, 1, ZONE_SWITCH, 0, 1);
    spec->server.nic_ports = 2;
    g_autoptr(Fabric) fabric = generate(spec);
    g_autofree char *nic = g_strdup_printf("A/0/0/nic%u", shares[_i].nic);
    double capacity;
    uint32_t owners = links_to(fabric, node(fabric, nic), NODE_GPU, &capacity);
    ck_assert_uint_eq(owners, shares[_i].last - shares[_i].first + 1);
    ck_assert(capacity == owners * 2 * RATE); /* PCIe carries both ports */
    for (uint32_t g = shares[_i].first; g <= shares[_i].last; g++) {
        g_autofree char *gpu = g_strdup_printf("A/0/0/gpu%u", g);
        ck_assert_uint_eq(links_between(fabric, gpu, nic), 1);
    }
    ck_assert_uint_eq(links_between(fabric, nic, "A/0/leaf0"), 2);
    g_autofree char *gpu = g_strdup_printf("A/0/0/gpu%u", shares[_i].gpu);
    ck_assert_int_eq(fabric_node(fabric, node(fabric, gpu))->rail, (int)shares[_i].rail);
    ck_assert_uint_eq(fabric_find(fabric, "A/0/0/nvswitch") == INDEX_NONE, shares[_i].gpus == 1);
}
END_TEST

START_TEST(a_server_alone_needs_no_network)
{
    g_autoptr(GenerateSpec) spec = spec_of(72, 0, 1, ZONE_SWITCH, 0, 1);
    g_autoptr(Fabric) fabric = generate(spec);
    ck_assert_uint_eq(fabric_n_nodes(fabric), 73);
    ck_assert_uint_eq(fabric_n_links(fabric), 144);
    ck_assert_int_eq(fabric_node(fabric, 0)->rail, -1);
}
END_TEST

/* What a zone comes to: switches, directed links between levels. */
static const struct {
    const char *what;
    uint32_t gpus, nics, servers, radix;
    ZoneNetwork network;
    double oversubscription;
    uint32_t leaves, spines, cores, leaf_spine, spine_core;
} zones[] = {
    {"one server a leaf: 4 down, 4 up", 4, 4, 6, 8, ZONE_CLOS2, 1, 6, 4, 0, 24, 0},
    {"6 down, 2 up: 3 servers a leaf", 2, 2, 9, 8, ZONE_CLOS2, 3, 3, 2, 0, 6, 0},
    {"radix 64 at 4: 48 down, 12 up, 4 ports free", 8, 8, 12, 64, ZONE_CLOS2, 4, 2, 12, 0, 24, 0},
    {"last leaf half full: 4 + 2 up over 2 spines", 1, 1, 6, 8, ZONE_CLOS2, 1, 2, 2, 0, 6, 0},
    {"more ports up than down", 1, 1, 4, 6, ZONE_CLOS2, 0.5, 2, 4, 0, 8, 0},
    {"the 4-ary fat tree: 16 hosts, 20 switches", 1, 1, 16, 4, ZONE_CLOS3, 1, 8, 8, 4, 16, 16},
    {"three of its four pods", 1, 1, 12, 4, ZONE_CLOS3, 1, 6, 6, 4, 12, 12},
    {"pods of 4, 4 and 2 leaves", 1, 1, 40, 8, ZONE_CLOS3, 1, 10, 12, 8, 40, 40},
    {"oversubscribed leaves, spines 1:1", 1, 1, 48, 8, ZONE_CLOS3, 3, 8, 4, 8, 16, 16},
    {"two groups of 4 servers, 4 rails", 4, 4, 8, 8, ZONE_RAIL, 1, 8, 4, 0, 32, 0},
    {"one group, as many uplinks as servers", 8, 8, 4, 64, ZONE_RAIL, 1, 8, 4, 0, 32, 0},
    {"rails at 2: 4 down, 2 up", 4, 4, 4, 6, ZONE_RAIL, 2, 4, 2, 0, 8, 0},
    {"rails without spines", 8, 8, 64, 64, ZONE_RAIL_ONLY, 1, 8, 0, 0, 0, 0},
    {"a switch has any radix where none is given", 8, 8, 100, 0, ZONE_SWITCH, 1, 1, 0, 0, 0, 0},
};

START_TEST(zones_have_the_switches_worked_out_by_hand)
{
    g_autoptr(GenerateSpec) spec = spec_of(zones[_i].gpus, zones[_i].nics, zones[_i].servers, zones[_i].network,
                                           zones[_i].radix, zones[_i].oversubscription);
    g_autoptr(Fabric) fabric = generate(spec);
    Count all = count(fabric);
    const char *what = zones[_i].what;
    ck_assert_msg(all.kinds[NODE_LEAF] == zones[_i].leaves, "%s: %u leaves", what, all.kinds[NODE_LEAF]);
    ck_assert_msg(all.kinds[NODE_SPINE] == zones[_i].spines, "%s: %u spines", what, all.kinds[NODE_SPINE]);
    ck_assert_msg(all.kinds[NODE_CORE] == zones[_i].cores, "%s: %u cores", what, all.kinds[NODE_CORE]);
    ck_assert_msg(all.pairs[NODE_NIC][NODE_LEAF] == zones[_i].nics * zones[_i].servers, "%s: NICs", what);
    ck_assert_msg(all.pairs[NODE_LEAF][NODE_SPINE] == zones[_i].leaf_spine, "%s: %u leaf to spine", what,
                  all.pairs[NODE_LEAF][NODE_SPINE]);
    ck_assert_msg(all.pairs[NODE_SPINE][NODE_LEAF] == zones[_i].leaf_spine, "%s: back", what);
    ck_assert_msg(all.pairs[NODE_SPINE][NODE_CORE] == zones[_i].spine_core, "%s: %u spine to core", what,
                  all.pairs[NODE_SPINE][NODE_CORE]);
}
END_TEST

/* Whatever is accepted keeps its promises at every switch: the asked ratio exactly, ports within the radix,
 * every uplink spread evenly. */
START_TEST(accepted_zones_keep_ratio_and_radix)
{
    Random random = random_named((uint64_t)_i, "zones");
    static const double ratios[] = {1, 2, 3, 4, 0.5, 1.5, 1.6, 7. / 3};
    static const ZoneNetwork kinds[] = {ZONE_RAIL, ZONE_CLOS2, ZONE_CLOS3};
    uint32_t accepted = 0;
    for (int round = 0; round < 200; round++) {
        uint32_t nics = 1u << random_below(&random, 4), radix = 4 + (uint32_t)random_below(&random, 29);
        double ratio = ratios[random_below(&random, G_N_ELEMENTS(ratios))];
        g_autoptr(GenerateSpec) spec =
            spec_of(nics, nics, 1 + (uint32_t)random_below(&random, 40), kinds[random_below(&random, 3)], radix, ratio);
        spec->zone.link_rate_Bps = RATE * (1u << random_below(&random, 2));
        GError *error = NULL;
        g_autoptr(Fabric) fabric = generate_fabric(spec, &error);
        if (fabric == NULL) {
            support_expect_error(&error, TRAINSHED_ERROR_INPUT, "zone.");
            continue;
        }
        accepted++;
        for (uint32_t i = 0; i < fabric_n_nodes(fabric); i++) {
            NodeKind kind = fabric_node(fabric, i)->kind;
            uint32_t ports;
            fabric_out(fabric, i, &ports);
            double down, up;
            if (kind == NODE_LEAF) {
                links_to(fabric, i, NODE_NIC, &down);
                links_to(fabric, i, NODE_SPINE, &up);
                ck_assert_msg(fabs(down / up - ratio) < 1e-12 * ratio, "leaf: %g for %g", down / up, ratio);
            } else if (kind == NODE_SPINE && spec->zone.network == ZONE_CLOS3) {
                links_to(fabric, i, NODE_LEAF, &down);
                links_to(fabric, i, NODE_CORE, &up);
                ck_assert_msg(down == up && down > 0, "spine: %g down, %g up", down, up);
            }
            if (kind == NODE_LEAF || kind == NODE_SPINE || kind == NODE_CORE)
                ck_assert_uint_le(ports, radix);
        }
    }
    ck_assert_uint_gt(accepted, 20);
}
END_TEST

START_TEST(nic_r_is_on_leaf_r_of_its_group)
{
    g_autoptr(GenerateSpec) spec = spec_of(4, 4, 8, ZONE_RAIL, 8, 1);
    g_autoptr(Fabric) fabric = generate(spec);
    for (uint32_t s = 0; s < 8; s++)
        for (uint32_t r = 0; r < 4; r++) {
            g_autofree char *nic = g_strdup_printf("A/0/%u/nic%u", s, r);
            g_autofree char *leaf = g_strdup_printf("A/0/leaf%u", s / 4 * 4 + r);
            ck_assert_uint_eq(links_between(fabric, nic, leaf), 1);
            ck_assert_int_eq(fabric_node(fabric, node(fabric, leaf))->rail, (int)r);
        }
    ck_assert_uint_eq(links_between(fabric, "A/0/leaf5", "A/0/spine3"), 1);
}
END_TEST

START_TEST(a_plane_of_cores_joins_spines_of_one_position)
{
    g_autoptr(GenerateSpec) spec = spec_of(1, 1, 16, ZONE_CLOS3, 4, 1);
    g_autoptr(Fabric) fabric = generate(spec);
    for (uint32_t s = 0; s < 8; s++)
        for (uint32_t c = 0; c < 4; c++) {
            g_autofree char *spine = g_strdup_printf("A/0/spine%u", s), *core = g_strdup_printf("A/0/core%u", c);
            ck_assert_uint_eq(links_between(fabric, spine, core), s % 2 == c / 2);
        }
    ck_assert_uint_eq(links_between(fabric, "A/0/leaf3", "A/0/spine2"), 1); /* both of pod 1 */
    ck_assert_uint_eq(links_between(fabric, "A/0/leaf3", "A/0/spine1"), 0);
}
END_TEST

/* The example of DEFINITIONS 8: A has two zones of 32 servers, B one. */
static GenerateSpec *
two_buildings(void)
{
    GenerateSpec *spec = spec_of(8, 8, 32, ZONE_RAIL, 0, 1);
    add_building(spec, "A", 2);
    add_building(spec, "B", 1);
    add_region(spec, "north", 0, 2);
    add_cut(spec, CUT_BUILDINGS, 4, 4, -1)->length_km = 2;
    return spec;
}

START_TEST(two_buildings_meet_in_the_routers_of_the_plan)
{
    g_autoptr(GenerateSpec) spec = two_buildings();
    g_autoptr(Fabric) fabric = generate(spec);
    Count all = count(fabric);
    ck_assert_uint_eq(all.kinds[NODE_GPU], 3 * 256);
    ck_assert_uint_eq(all.kinds[NODE_CORE], 1); /* A has two zones, B only one */
    ck_assert_uint_eq(all.kinds[NODE_DCI], 1);
    ck_assert_uint_eq(all.links[LINK_INTERBUILDING], 2 * 8);
    ck_assert_int_eq(fabric_node(fabric, node(fabric, "north/A/router"))->kind, NODE_CORE);
    ck_assert_int_eq(fabric_node(fabric, node(fabric, "north/router"))->kind, NODE_DCI);
    ck_assert_str_eq(fabric_node(fabric, node(fabric, "north/A/router"))->building, "A");
    ck_assert_str_eq(fabric_node(fabric, node(fabric, "north/router"))->building, "");
    ck_assert_str_eq(fabric_node(fabric, node(fabric, "north/router"))->region, "north");
    ck_assert_str_eq(fabric_node(fabric, node(fabric, "north/B/0/31/gpu7"))->region, "north");

    /* A: 512 NICs, 25.6 TB/s, a quarter of it over 4 links; B half of that, on spines 0 to 3. */
    uint32_t n, met = 0;
    const uint32_t *links = fabric_out(fabric, node(fabric, "north/A/router"), &n);
    for (uint32_t i = 0; i < n; i++) {
        const Link *link = fabric_link(fabric, links[i]);
        if (link->kind != LINK_INTERBUILDING) {
            /* No cut between zones is given: 12.8 TB/s over 32 spines, at the latency of the zone's links. */
            ck_assert(link->kind == LINK_ETHERNET && link->capacity_Bps == 12.8e12 / 32);
            ck_assert_int_eq(link->latency_ps, 600 * PS_PER_NS);
            ck_assert_str_eq(link->source, "default");
            continue;
        }
        met++;
        ck_assert_double_eq_tol(link->capacity_Bps, 1.6e12, 1);
        ck_assert_int_eq(link->latency_ps, 5 * PS_PER_US); /* half of 2 km */
        ck_assert(link->length_km == 1);
        ck_assert_str_eq(link->source, "generated");
    }
    ck_assert_uint_eq(met, 4);
    ck_assert_uint_eq(n, 4 + 2 * 32);
    for (uint32_t i = 0; i < 5; i++) {
        g_autofree char *spine = g_strdup_printf("north/B/0/spine%u", i);
        ck_assert_uint_eq(links_between(fabric, spine, "north/router"), i < 4);
    }
    ck_assert_uint_eq(fabric_n_buildings(fabric), 2);
}
END_TEST

START_TEST(every_unit_has_the_oversubscription_asked)
{
    g_autoptr(GenerateSpec) spec = two_buildings();
    add_building(spec, "C", 3);
    add_region(spec, "south", 2, 1);
    add_cut(spec, CUT_ZONES, 16, 1.25, 1000);
    add_cut(spec, CUT_REGIONS, 3, 10, 2 * PS_PER_MS);
    g_autoptr(Fabric) fabric = generate(spec);
    static const struct {
        UnitLevel level;
        const char *name;
        uint32_t gpus, uplinks;
        double ratio;
    } want[] = {
        {UNIT_REGION, "north", 768, 3, 10},      {UNIT_REGION, "south", 768, 3, 10},
        {UNIT_BUILDING, "north/A", 512, 4, 4},   {UNIT_BUILDING, "north/B", 256, 4, 4},
        {UNIT_BUILDING, "south/C", 768, 3, 10},  {UNIT_ZONE, "north/A/0", 256, 16, 1.25},
        {UNIT_ZONE, "north/A/1", 256, 16, 1.25}, {UNIT_ZONE, "north/B/0", 256, 4, 4},
        {UNIT_ZONE, "south/C/0", 256, 16, 1.25}, {UNIT_ZONE, "south/C/1", 256, 16, 1.25},
        {UNIT_ZONE, "south/C/2", 256, 16, 1.25},
    };
    uint32_t next = 0;
    for (UnitLevel level = UNIT_REGION; level >= UNIT_ZONE; level--) {
        g_autoptr(GArray) units = fabric_units(fabric, level);
        for (guint i = 0; i < units->len; i++, next++) {
            const FabricUnit *unit = &g_array_index(units, FabricUnit, i);
            ck_assert_uint_lt(next, G_N_ELEMENTS(want));
            ck_assert_int_eq(level, want[next].level);
            ck_assert_str_eq(unit->name, want[next].name);
            ck_assert_uint_eq(unit->n_gpus, want[next].gpus);
            ck_assert_uint_eq(unit->n_servers, want[next].gpus / 8);
            ck_assert_uint_eq(unit->n_uplinks, want[next].uplinks);
            ck_assert_double_eq_tol(unit->nic_rate_Bps, want[next].gpus * RATE, 1);
            ck_assert_double_eq_tol(fabric_unit_oversubscription(unit), want[next].ratio, 1e-12);
        }
    }
    ck_assert_uint_eq(next, G_N_ELEMENTS(want));
    /* C is alone in its region: its own router carries the region's uplinks to the one on top. */
    ck_assert_uint_eq(links_between(fabric, "south/C/router", "router"), 3);
    ck_assert_uint_eq(links_between(fabric, "north/router", "router"), 3);
    ck_assert_int_eq(fabric_node(fabric, node(fabric, "router"))->kind, NODE_DCI);
    ck_assert_uint_eq(fabric_find(fabric, "south/router"), INDEX_NONE);
}
END_TEST

START_TEST(up_and_down_together_are_the_cut_to_the_picosecond)
{
    g_autoptr(GenerateSpec) spec = spec_of(1, 1, 2, ZONE_SWITCH, 0, 1);
    add_building(spec, "A", 1);
    add_building(spec, "B", 1);
    CutSpec *cut = add_cut(spec, CUT_BUILDINGS, 1, 0, 7);
    cut->rate_Bps = 3e9;
    g_autoptr(Fabric) fabric = generate(spec);
    uint32_t n, router = node(fabric, "router"), a = node(fabric, "A/0/leaf0");
    SimTime up = 0, down = 0;
    const uint32_t *links = fabric_out(fabric, router, &n);
    ck_assert_uint_eq(n, 2);
    down = fabric_link(fabric, links[0])->latency_ps;
    links = fabric_in(fabric, router, &n);
    for (uint32_t i = 0; i < n; i++)
        if (fabric_link(fabric, links[i])->src == a)
            up = fabric_link(fabric, links[i])->latency_ps;
    ck_assert_int_eq(up, 3);
    ck_assert_int_eq(down, 4);
    ck_assert(fabric_link(fabric, links[0])->capacity_Bps == 3e9);
}
END_TEST

/* Three equal buildings, pairwise: each has 2 x 2 uplinks that carry half its 8 NICs: 8 x 50 / 2 / 4. */
START_TEST(a_mesh_joins_units_pairwise)
{
    g_autoptr(GenerateSpec) spec = spec_of(4, 4, 2, ZONE_RAIL, 8, 1);
    add_building(spec, "A", 1);
    add_building(spec, "B", 1);
    add_building(spec, "C", 1);
    CutSpec *cut = add_cut(spec, CUT_BUILDINGS, 2, 2, 40 * PS_PER_US);
    cut->mesh = TRUE;
    g_autoptr(Fabric) fabric = generate(spec);
    ck_assert_uint_eq(count(fabric).links[LINK_INTERBUILDING], 2 * 3 * 2);
    ck_assert_uint_eq(fabric_find(fabric, "router"), INDEX_NONE);
    g_autoptr(GArray) units = fabric_units(fabric, UNIT_BUILDING);
    for (guint i = 0; i < 3; i++) {
        ck_assert_uint_eq(g_array_index(units, FabricUnit, i).n_uplinks, 4);
        ck_assert(g_array_index(units, FabricUnit, i).uplink_Bps == 4 * 50e9);
    }
    /* A's cables go round its two spines: to B over 0 and 1, to C over 0 and 1. */
    ck_assert_uint_eq(links_between(fabric, "A/0/spine0", "B/0/spine0"), 1);
    ck_assert_uint_eq(links_between(fabric, "A/0/spine1", "C/0/spine1"), 1);
    uint32_t n;
    const uint32_t *links = fabric_out(fabric, node(fabric, "A/0/spine0"), &n);
    ck_assert_int_eq(fabric_link(fabric, links[n - 1])->latency_ps, 40 * PS_PER_US);

    spec->buildings[0].zones = 2;
    GError *error = NULL;
    ck_assert_ptr_null(generate_fabric(spec, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "cuts: buildings of different sizes have no common oversubscription in a mesh; give rate");
}
END_TEST

/* SPEED: 2048 servers of 8, radix 64: 512 leaves of 32 + 32 ports, 16 pods of 32 leaves and 32 spines,
 * 32 planes of 32 cores. */
START_TEST(sixteen_thousand_gpus_in_half_a_second)
{
    g_autoptr(GenerateSpec) spec = spec_of(8, 8, 2048, ZONE_CLOS3, 64, 1);
    gint64 start = g_get_monotonic_time();
    g_autoptr(Fabric) fabric = generate(spec);
    double seconds = (double)(g_get_monotonic_time() - start) / 1e6;
    Count all = count(fabric);
    ck_assert_uint_eq(all.kinds[NODE_GPU], 16384);
    ck_assert_uint_eq(all.kinds[NODE_LEAF], 512);
    ck_assert_uint_eq(all.kinds[NODE_SPINE], 512);
    ck_assert_uint_eq(all.kinds[NODE_CORE], 1024);
    ck_assert_uint_eq(all.pairs[NODE_SPINE][NODE_CORE], 16384);
    ck_assert_uint_eq(fabric_n_links(fabric), 2 * 5 * 16384);
    ck_assert_msg(seconds < 5, "took %g s", seconds); /* sanitizers included; bench/fabric holds the bar */
}
END_TEST

/* One wrong figure each, in a spec that is otherwise sound, and what is said about it. */
typedef void (*Spoil)(GenerateSpec *spec);
#define SPOIL(name, ...)                                                                                               \
    static void name(GenerateSpec *s)                                                                                  \
    {                                                                                                                  \
        __VA_ARGS__;                                                                                                   \
    }
SPOIL(no_gpus, s->server.gpus = 0)
SPOIL(odd_nics, s->server.nics = 3)
SPOIL(many_odd_nics, s->server.nics = 12)
SPOIL(no_nic_rate, s->server.nic_rate_Bps = 0)
SPOIL(nan_nic_rate, s->server.nic_rate_Bps = NAN)
SPOIL(no_ports, s->server.nic_ports = 0)
SPOIL(late_nvlink, s->server.nvlink_latency_ps = -1)
SPOIL(no_servers, s->zone.servers = 0)
SPOIL(no_ratio, s->zone.oversubscription = 0)
SPOIL(odd_ratio, s->zone.oversubscription = 3.7)
SPOIL(odd_last, s->zone.servers = 49, s->zone.oversubscription = 3, s->server.gpus = s->server.nics = 4)
SPOIL(odd_lone_leaf, s->zone.network = ZONE_RAIL, s->zone.servers = 32, s->zone.oversubscription = 3.7)
SPOIL(small_radix, s->zone.radix = 8)
SPOIL(odd_spines, s->zone.spines = 12)
SPOIL(too_many, s->zone.servers = 400)
SPOIL(partial_pod, s->zone.network = ZONE_CLOS3, s->zone.radix = 4, s->zone.servers = 14,
      s->server.gpus = s->server.nics = 1)
SPOIL(no_torus, s->zone.network = ZONE_TORUS)
SPOIL(uplinks_of_switch, s->zone.network = ZONE_SWITCH, s->zone.oversubscription = 2)
SPOIL(spines_of_rails, s->zone.network = ZONE_RAIL_ONLY, s->zone.spines = 2)
SPOIL(full_switch, s->zone.network = ZONE_SWITCH, s->zone.radix = 64)
SPOIL(huge, s->zone.servers = 2000000000)
SPOIL(no_nics, s->server.nics = 0)
SPOIL(no_zones, add_building(s, "A", 0))
SPOIL(no_name, add_building(s, "", 1))
SPOIL(slashed, add_building(s, "a/b", 1))
SPOIL(twice, add_building(s, "A", 1), add_building(s, "A", 1))
SPOIL(not_in_region, add_building(s, "A", 1), add_building(s, "B", 1), add_region(s, "n", 0, 1))
SPOIL(in_two, add_building(s, "A", 1), add_region(s, "n", 0, 1), add_region(s, "s", 0, 1))
SPOIL(nowhere, add_building(s, "A", 1), add_region(s, "n", 1, 1))
SPOIL(no_units, add_cut(s, CUT_BUILDINGS, 4, 4, 0))
SPOIL(two_cuts, add_building(s, "A", 2), add_cut(s, CUT_ZONES, 4, 4, 0), add_cut(s, CUT_ZONES, 4, 4, 0))
SPOIL(no_links, add_building(s, "A", 2), add_cut(s, CUT_ZONES, 0, 4, 0))
SPOIL(both, add_building(s, "A", 2), add_cut(s, CUT_ZONES, 4, 4, 0)->rate_Bps = 1e9)
SPOIL(neither, add_building(s, "A", 2), add_cut(s, CUT_ZONES, 4, 0, 0))
SPOIL(below_zero, add_building(s, "A", 2), add_cut(s, CUT_ZONES, 4, -4, 0))
SPOIL(backwards, add_building(s, "A", 2), add_cut(s, CUT_ZONES, 4, 4, -1)->length_km = -2)

static const struct {
    Spoil spoil;
    const char *message;
} refused[] = {
    {no_gpus, "server.gpus: found 0, expected 1 to 65536"},
    {odd_nics, "server.nics: 3 NICs cannot be shared evenly by 8 GPUs; 2 or 4 can"},
    {many_odd_nics, "server.nics: 12 NICs cannot be shared evenly by 8 GPUs; 8 or 16 can"},
    {no_nic_rate, "server.nic.rate: found 0, expected a finite number above 0"},
    {nan_nic_rate, "server.nic.rate: found nan, expected a finite number above 0"},
    {no_ports, "server.nic.ports: found 0, expected 1 to 64"},
    {late_nvlink, "server.nvlink.latency: found -1 ps, expected 0 or more"},
    {no_servers, "zone.servers: found 0, expected 1 to 2147483647"},
    {no_ratio, "zone.oversubscription: found 0, expected a finite number above 0"},
    {odd_ratio, "zone.oversubscription: no leaf of 64 ports, with 8 for each server, has exactly 3.7 between NICs and "
                "uplinks; the nearest that works is 3.692307692"},
    {odd_last, "zone.servers: 49 servers leave a last leaf with 1, which needs 1.33333 uplinks of 400 Gb/s for "
               "oversubscription 3; 48 or 51 servers come out whole"},
    {odd_lone_leaf, "zone.servers: 32 servers leave a last leaf with 32, which needs 8.64865 uplinks of 400 Gb/s for "
                    "oversubscription 3.7; 37 servers come out whole, or oversubscription 4 or 3.55556"},
    {small_radix, "zone.radix: a leaf of 8 ports cannot take the 8 NIC ports of one server and the 8 uplinks they "
                  "need at oversubscription 1; a radix of 16 would do"},
    {odd_spines, "zone.spines: 12 spines cannot share evenly the 32 uplinks of a leaf; 8 or 16 can"},
    {too_many, "zone.servers: 400 servers make 100 leaves, and each of the 32 spines needs 100 ports for them; a "
               "switch has 64 (zone.radix); 256 servers fit; or use network clos3"},
    {partial_pod, "zone.servers: 14 servers make 4 pods, and each core needs 7 ports for them; a switch has 4 "
                  "(zone.radix). 12 servers fit (3 whole pods of 4)"},
    {no_torus, "zone.torus: found 0 sizes, expected 2 or 3, such as [4, 4, 4]"},
    {uplinks_of_switch, "zone.oversubscription: the leaves of network switch have no uplinks, found 2"},
    {spines_of_rails, "zone.spines: network rail_only has no spines, found 2"},
    {full_switch, "zone.radix: 40 servers need 320 ports on one leaf of network switch, which has 64"},
    {huge, "zone.servers: 2000000000 servers with 8 GPUs and 8 NICs are 4.8e+10 parts, over the 5e+07 this program "
           "takes on"},
    {no_nics, "server.nics: found 0, but 40 servers are to be joined"},
    {no_zones, "buildings[0].zones: found 0, expected 1 to 2147483647"},
    {no_name, "buildings[0].name: it has no name"},
    {slashed, "buildings[0].name: \"a/b\" has a \"/\", which parts the names of nodes"},
    {twice, "buildings[1].name: \"A\" is taken already"},
    {not_in_region, "regions: building \"B\" is in no region"},
    {in_two, "regions[1].buildings[0]: building \"A\" is in two regions"},
    {nowhere, "regions[0].buildings[0]: there is no building number 1"},
    {no_units, "cuts[0].between: there are no buildings to join: never more than one in one place"},
    {two_cuts, "cuts[1].between: zones have a cut already"},
    {no_links, "cuts[0].links: found 0, expected 1 to 65536"},
    {both, "cuts[0]: rate and oversubscription are both given; one follows from the other"},
    {neither, "cuts[0]: neither rate nor oversubscription is given"},
    {below_zero, "cuts[0].oversubscription: found -4, expected a finite number above 0"},
    {backwards, "cuts[0].length: found -2 km, expected 0 to 1e9 km"},
};

START_TEST(a_bad_spec_is_refused)
{
    g_autoptr(GenerateSpec) spec = spec_of(8, 8, 40, ZONE_CLOS2, 64, 1);
    refused[_i].spoil(spec);
    GError *error = NULL;
    ck_assert_ptr_null(generate_fabric(spec, &error));
    ck_assert_str_eq(error->message, refused[_i].message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ":");
}
END_TEST

START_TEST(words_of_networks_come_back)
{
    ZoneNetwork network = ZONE_SWITCH;
    ck_assert(zone_network_parse("rail", &network) && network == ZONE_RAIL);
    ck_assert(zone_network_parse("rail_only", &network) && network == ZONE_RAIL_ONLY);
    ck_assert(zone_network_parse("clos3", &network) && network == ZONE_CLOS3);
    ck_assert(!zone_network_parse("clos4", &network) && network == ZONE_CLOS3);
    ck_assert_str_eq(zone_network_name(ZONE_DRAGONFLY), "dragonfly");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("generate");
    TCase *zone = tcase_create("zone");
    tcase_set_timeout(zone, 60);
    tcase_add_test(zone, servers_on_one_switch);
    tcase_add_loop_test(zone, nics_hang_on_their_gpus, 0, G_N_ELEMENTS(shares));
    tcase_add_test(zone, a_server_alone_needs_no_network);
    tcase_add_loop_test(zone, zones_have_the_switches_worked_out_by_hand, 0, G_N_ELEMENTS(zones));
    tcase_add_loop_test(zone, accepted_zones_keep_ratio_and_radix, 0, 10);
    tcase_add_test(zone, nic_r_is_on_leaf_r_of_its_group);
    tcase_add_test(zone, a_plane_of_cores_joins_spines_of_one_position);
    tcase_add_test(zone, sixteen_thousand_gpus_in_half_a_second);
    suite_add_tcase(suite, zone);
    TCase *site = tcase_create("site");
    tcase_add_test(site, two_buildings_meet_in_the_routers_of_the_plan);
    tcase_add_test(site, every_unit_has_the_oversubscription_asked);
    tcase_add_test(site, up_and_down_together_are_the_cut_to_the_picosecond);
    tcase_add_test(site, a_mesh_joins_units_pairwise);
    suite_add_tcase(suite, site);
    TCase *bad = tcase_create("bad input");
    tcase_add_loop_test(bad, a_bad_spec_is_refused, 0, G_N_ELEMENTS(refused));
    tcase_add_test(bad, words_of_networks_come_back);
    suite_add_tcase(suite, bad);
    return support_main(suite);
}
