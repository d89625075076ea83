#include "scenario/scenario_parts.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define GPUS_LIMIT 65536
#define PARTS_LIMIT 16777216

/* In the order of their enums. */
static const char *const forwards[] = {"none", "pxn", "mesh", NULL};
static const char *const zone_networks[] = {"rail",      "rail_only", "clos2",  "clos3",
                                            "dragonfly", "torus",     "switch", NULL};
static const char *const cut_levels[] = {"zones", "buildings", "regions", NULL};

/* A map within the struct: its table. The members' offsets count from the same base. */
#define PART(name, fields)                                                                                             \
    static gboolean name(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error) \
    {                                                                                                                  \
        return fields_read(reading, node, fields, (char *)base + field->offset, error);                                \
    }

static const Field gpu_fields[] = {
    {"name", field_text, offsetof(ServerSpec, gpu)},
    {"peak", field_compute, offsetof(ServerSpec, peak_FLOPps), ABOVE_0},
    {"memory", field_size, offsetof(ServerSpec, memory_B), 1},
    {"memory_bandwidth", field_rate, offsetof(ServerSpec, memory_bandwidth_Bps), ABOVE_0},
    {NULL},
};

static const Field nvlink_fields[] = {
    {"rate", field_rate, offsetof(ServerSpec, nvlink_rate_Bps)},
    {"latency", field_time, offsetof(ServerSpec, nvlink_latency_ps)},
    {NULL},
};

static const Field pcie_fields[] = {
    {"rate", field_rate, offsetof(ServerSpec, pcie_rate_Bps), ABOVE_0},
    {"latency", field_time, offsetof(ServerSpec, pcie_latency_ps)},
    {NULL},
};

static const Field nic_fields[] = {
    {"rate", field_rate, offsetof(ServerSpec, nic_rate_Bps), ABOVE_0},
    {"ports", field_count, offsetof(ServerSpec, nic_ports), 1, 1024},
    {NULL},
};

PART(read_gpu, gpu_fields)
PART(read_nvlink, nvlink_fields)
PART(read_pcie, pcie_fields)
PART(read_nic, nic_fields)

static const Field server_fields[] = {
    {"gpus", field_count, offsetof(ServerSpec, gpus), 1, GPUS_LIMIT},
    {"gpu", read_gpu},
    {"nvlink", read_nvlink},
    {"pcie", read_pcie},
    {"nics", field_count, offsetof(ServerSpec, nics), 0, GPUS_LIMIT},
    {"nic", read_nic},
    {"forward", field_choice, offsetof(ServerSpec, forward), .names = forwards},
    {NULL},
};

static const Field link_fields[] = {
    {"rate", field_rate, offsetof(ZoneSpec, link_rate_Bps), ABOVE_0},
    {"latency", field_time, offsetof(ZoneSpec, link_latency_ps)},
    {NULL},
};

PART(read_link, link_fields)

static const Field global_fields[] = {
    {"rate", field_rate, offsetof(ZoneSpec, dragonfly.global_rate_Bps), ABOVE_0},
    {"latency", field_time, offsetof(ZoneSpec, dragonfly.global_latency_ps)},
    {NULL},
};

PART(read_global, global_fields)

static const Field dragonfly_fields[] = {
    {"groups", field_count, offsetof(ZoneSpec, dragonfly.groups), 2, PARTS_LIMIT},
    {"routers", field_count, offsetof(ZoneSpec, dragonfly.routers), 1, GPUS_LIMIT},
    {"global_links", field_count, offsetof(ZoneSpec, dragonfly.global_links), 1, GPUS_LIMIT},
    {"global", read_global},
    {NULL},
};

PART(read_dragonfly, dragonfly_fields)

/* Sizes of 2 or 3 dimensions. */
static gboolean
read_torus(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    ZoneSpec *zone = base;
    static const Field size = {"torus", field_count, 0, 2, GPUS_LIMIT};
    if (!field_is_list(reading, node, error))
        return FALSE;
    if (node->values->len < 2 || node->values->len > 3)
        return yaml_fail(reading->tree, node, error, "found %u sizes, expected 2 or 3, such as [4, 4, 4]",
                         node->values->len);
    zone->n_torus = node->values->len;
    for (uint32_t d = 0; d < zone->n_torus; d++)
        if (!field_count(reading, node->values->pdata[d], &size, &zone->torus[d], error))
            return FALSE;
    return TRUE;
}

static const Field zone_fields[] = {
    {"servers", field_count, offsetof(ZoneSpec, servers), 1, PARTS_LIMIT},
    {"network", field_choice, offsetof(ZoneSpec, network), .names = zone_networks},
    {"link", read_link},
    {"oversubscription", field_number, offsetof(ZoneSpec, oversubscription), ABOVE_0, G_MAXDOUBLE},
    {"radix", field_count, offsetof(ZoneSpec, radix), 2, PARTS_LIMIT},
    {"spines", field_count, offsetof(ZoneSpec, spines), 1, PARTS_LIMIT},
    {"torus", read_torus},
    {"dragonfly", read_dragonfly},
    {NULL},
};

static const Field building_fields[] = {
    {"name", field_text, offsetof(BuildingSpec, name)},
    {"zones", field_count, offsetof(BuildingSpec, zones), 1, PARTS_LIMIT},
    {NULL},
};

PART(read_server, server_fields)
PART(read_zone, zone_fields)

/* The building called by node's text, or INDEX_NONE. */
static uint32_t
find_building(const GenerateSpec *spec, const char *name)
{
    for (uint32_t i = 0; i < spec->n_buildings; i++)
        if (strcmp(spec->buildings[i].name, name) == 0)
            return i;
    return INDEX_NONE;
}

static gboolean
read_buildings(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    GenerateSpec *spec = base;
    if (!field_is_list(reading, node, error))
        return FALSE;
    spec->buildings = g_new0(BuildingSpec, node->values->len);
    for (guint i = 0; i < node->values->len; i++) {
        const YamlNode *entry = node->values->pdata[i];
        BuildingSpec building = {.zones = 1};
        if (!fields_read(reading, entry, building_fields, &building, error)) {
            g_free(building.name);
            return FALSE;
        }
        if (building.name == NULL)
            return yaml_fail(reading->tree, entry, error, "needs a name");
        if (find_building(spec, building.name) != INDEX_NONE) {
            yaml_fail(reading->tree, yaml_get(entry, "name"), error, "a building is called \"%s\" already",
                      building.name);
            g_free(building.name);
            return FALSE;
        }
        spec->buildings[spec->n_buildings++] = building;
    }
    return TRUE;
}

/* The buildings of a region: each known, and in no region before. */
static gboolean
read_members(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    RegionSpec *region = base;
    return field_is_list(reading, node, error) && (region->n_buildings = node->values->len, TRUE);
}

static const Field region_fields[] = {
    {"name", field_text, offsetof(RegionSpec, name)},
    {"buildings", read_members},
    {NULL},
};

static gboolean
join_region(const Reading *reading, const YamlNode *list, const GenerateSpec *spec, RegionSpec *region, gboolean *taken,
            GError **error)
{
    region->buildings = g_new0(uint32_t, MAX(region->n_buildings, 1));
    for (uint32_t i = 0; i < region->n_buildings; i++) {
        const YamlNode *entry = list->values->pdata[i];
        const char *name = field_scalar(reading, entry, "the name of a building", error);
        if (name == NULL)
            return FALSE;
        uint32_t building = find_building(spec, name);
        if (building == INDEX_NONE)
            return yaml_fail(reading->tree, entry, error, "there is no building \"%s\"", name);
        if (taken[building])
            return yaml_fail(reading->tree, entry, error, "building \"%s\" is in a region already", name);
        taken[building] = TRUE;
        region->buildings[i] = building;
    }
    return TRUE;
}

/* After the buildings, whatever the order in the file. */
static gboolean
read_regions(const Reading *reading, const YamlNode *node, GenerateSpec *spec, GError **error)
{
    if (!field_is_list(reading, node, error))
        return FALSE;
    g_autofree gboolean *taken = g_new0(gboolean, spec->n_buildings + 1);
    spec->regions = g_new0(RegionSpec, node->values->len);
    for (guint i = 0; i < node->values->len; i++) {
        const YamlNode *entry = node->values->pdata[i];
        RegionSpec *region = &spec->regions[spec->n_regions++];
        if (!fields_read(reading, entry, region_fields, region, error))
            return FALSE;
        if (region->name == NULL || region->n_buildings == 0)
            return yaml_fail(reading->tree, entry, error, "needs %s",
                             region->name == NULL ? "a name" : "buildings, at least one");
        for (uint32_t k = 0; k + 1 < spec->n_regions; k++)
            if (strcmp(spec->regions[k].name, region->name) == 0)
                return yaml_fail(reading->tree, yaml_get(entry, "name"), error, "a region is called \"%s\" already",
                                 region->name);
        if (!join_region(reading, yaml_get(entry, "buildings"), spec, region, taken, error))
            return FALSE;
    }
    for (uint32_t i = 0; i < spec->n_buildings && spec->n_regions > 0; i++)
        if (!taken[i])
            return yaml_fail(reading->tree, node, error, "building \"%s\" is in no region", spec->buildings[i].name);
    return TRUE;
}

static const Field cut_fields[] = {
    {"between", field_choice, offsetof(CutSpec, between), .names = cut_levels},
    {"links", field_count, offsetof(CutSpec, links), 1, PARTS_LIMIT},
    {"oversubscription", field_number, offsetof(CutSpec, oversubscription), ABOVE_0, G_MAXDOUBLE},
    {"rate", field_rate, offsetof(CutSpec, rate_Bps), ABOVE_0},
    {"length", field_length, offsetof(CutSpec, length_km)},
    {"latency", field_time, offsetof(CutSpec, latency_ps)},
    {"mesh", field_flag, offsetof(CutSpec, mesh)},
    {NULL},
};

/* Of two keys exactly one must be there. */
static gboolean
one_of(const Reading *reading, const YamlNode *map, const char *a, const char *b, GError **error)
{
    const YamlNode *first = yaml_get(map, a), *second = yaml_get(map, b);
    if (first != NULL && second != NULL)
        return yaml_fail(reading->tree, second, error, "%s is given too; a cut has one of them", a);
    if (first == NULL && second == NULL)
        return yaml_fail(reading->tree, map, error, "needs %s or %s", a, b);
    return TRUE;
}

static gboolean
read_cuts(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    GenerateSpec *spec = base;
    if (!field_is_list(reading, node, error))
        return FALSE;
    spec->cuts = g_new0(CutSpec, node->values->len);
    for (guint i = 0; i < node->values->len; i++) {
        const YamlNode *entry = node->values->pdata[i];
        CutSpec *cut = &spec->cuts[spec->n_cuts++];
        *cut = (CutSpec){.length_km = NAN, .latency_ps = -1};
        if (!fields_read(reading, entry, cut_fields, cut, error))
            return FALSE;
        const YamlNode *between = yaml_get(entry, "between");
        if (between == NULL || cut->links == 0)
            return yaml_fail(reading->tree, entry, error, "needs %s",
                             between == NULL ? "between: zones, buildings or regions" : "links: how many");
        if (!one_of(reading, entry, "oversubscription", "rate", error) ||
            !one_of(reading, entry, "length", "latency", error))
            return FALSE;
        for (uint32_t k = 0; k < i; k++)
            if (spec->cuts[k].between == cut->between)
                return yaml_fail(reading->tree, between, error, "a cut between %s is given already",
                                 cut_levels[cut->between]);
    }
    return TRUE;
}

/* Read by hand afterwards. */
static gboolean
later(const Reading *reading, const YamlNode *node, const Field *field, void *base, GError **error)
{
    return TRUE;
}

static const Field generate_fields[] = {
    {"server", read_server, offsetof(GenerateSpec, server)},
    {"zone", read_zone, offsetof(GenerateSpec, zone)},
    {"buildings", read_buildings},
    {"regions", later},
    {"cuts", read_cuts},
    {NULL},
};

GenerateSpec *
scenario_read_generate(const Reading *reading, const YamlNode *node, GError **error)
{
    g_autoptr(GenerateSpec) spec = generate_spec_new();
    if (!fields_read(reading, node, generate_fields, spec, error))
        return NULL;
    const YamlNode *regions = yaml_get(node, "regions");
    if (regions != NULL && !read_regions(reading, regions, spec, error))
        return NULL;
    return g_steal_pointer(&spec);
}
