/* generate_site.c - zones into buildings, buildings into regions, regions into one fabric */
#include "fabric/generate_site.h"

#include "base/error.h"
#include "fabric/generate_zone.h"

#include <math.h>
#include <stdio.h>

/* Fibre, one way (DEFINITIONS 1). */
#define FIBRE_PS_PER_KM 5e6

typedef struct {
    const char *plural; /* as in cuts[].between */
    NodeKind router;
    LinkKind link;
} Level;

static const Level levels[] = {
    [CUT_ZONES] = {"zones", NODE_CORE, LINK_ETHERNET},
    [CUT_BUILDINGS] = {"buildings", NODE_DCI, LINK_INTERBUILDING},
    [CUT_REGIONS] = {"regions", NODE_DCI, LINK_INTERREGION},
};

/* The one building, and the one region without a name, of a spec that gives none. */
static const BuildingSpec lone_building = {(char *)"A", 1};

static uint32_t
n_buildings(const GenerateSpec *spec)
{
    return MAX(spec->n_buildings, 1);
}

static const BuildingSpec *
building_at(const GenerateSpec *spec, uint32_t index)
{
    return spec->n_buildings > 0 ? &spec->buildings[index] : &lone_building;
}

/* The cut at this level, or NULL. */
static const CutSpec *
cut_at(const GenerateSpec *spec, CutLevel level)
{
    for (uint32_t i = 0; i < spec->n_cuts; i++)
        if (spec->cuts[i].between == level)
            return &spec->cuts[i];
    return NULL;
}

/* The most units of this level that one parent has. */
static uint32_t
most_units(const GenerateSpec *spec, CutLevel level)
{
    uint32_t most = 1;
    switch (level) {
    case CUT_ZONES:
        for (uint32_t i = 0; i < n_buildings(spec); i++)
            most = MAX(most, building_at(spec, i)->zones);
        return most;
    case CUT_BUILDINGS:
        if (spec->n_regions == 0)
            return n_buildings(spec);
        for (uint32_t i = 0; i < spec->n_regions; i++)
            most = MAX(most, spec->regions[i].n_buildings);
        return most;
    case CUT_REGIONS:
        return MAX(spec->n_regions, 1);
    }
    return most;
}

static gboolean
check_cut(const GenerateSpec *spec, uint32_t index, GError **error)
{
    const CutSpec *cut = &spec->cuts[index];
    if (cut != cut_at(spec, cut->between))
        return error_input(error, "cuts[%u].between: %s have a cut already", index, levels[cut->between].plural);
    if (most_units(spec, cut->between) < 2)
        return error_input(error, "cuts[%u].between: there are no %s to join: never more than one in one place", index,
                           levels[cut->between].plural);
    if (cut->links < 1 || cut->links > 65536)
        return error_input(error, "cuts[%u].links: found %u, expected 1 to 65536", index, cut->links);
    if (cut->rate_Bps != 0 && cut->oversubscription != 0)
        return error_input(error, "cuts[%u]: rate and oversubscription are both given; one follows from the other",
                           index);
    if (cut->rate_Bps == 0 && cut->oversubscription == 0)
        return error_input(error, "cuts[%u]: neither rate nor oversubscription is given", index);
    double figure = cut->rate_Bps != 0 ? cut->rate_Bps : cut->oversubscription;
    if (!isfinite(figure) || figure <= 0)
        return error_input(error, "cuts[%u].%s: found %g, expected a finite number above 0", index,
                           cut->rate_Bps != 0 ? "rate" : "oversubscription", figure);
    if (cut->length_km < 0 || cut->length_km > 1e9)
        return error_input(error, "cuts[%u].length: found %g km, expected 0 to 1e9 km", index, cut->length_km);
    if (cut->latency_ps < -1)
        return error_input(error, "cuts[%u].latency: found %" G_GINT64_FORMAT " ps, expected 0 or more", index,
                           cut->latency_ps);
    return TRUE;
}

static gboolean
check_regions(const GenerateSpec *spec, GError **error)
{
    g_autofree uint8_t *placed = g_new0(uint8_t, MAX(spec->n_buildings, 1));
    for (uint32_t r = 0; r < spec->n_regions; r++) {
        if (spec->regions[r].n_buildings == 0)
            return error_input(error, "regions[%u].buildings: region \"%s\" has none", r, spec->regions[r].name);
        for (uint32_t i = 0; i < spec->regions[r].n_buildings; i++) {
            uint32_t building = spec->regions[r].buildings[i];
            if (building >= spec->n_buildings)
                return error_input(error, "regions[%u].buildings[%u]: there is no building number %u", r, i, building);
            if (placed[building]++ > 0)
                return error_input(error, "regions[%u].buildings[%u]: building \"%s\" is in two regions", r, i,
                                   spec->buildings[building].name);
        }
    }
    for (uint32_t i = 0; spec->n_regions > 0 && i < spec->n_buildings; i++)
        if (placed[i] == 0)
            return error_input(error, "regions: building \"%s\" is in no region", spec->buildings[i].name);
    return TRUE;
}

gboolean
site_check(const GenerateSpec *spec, GError **error)
{
    if (!check_regions(spec, error))
        return FALSE;
    for (uint32_t i = 0; i < spec->n_cuts; i++)
        if (!check_cut(spec, i, error))
            return FALSE;
    return TRUE;
}

static Unit
unit_new(const char *region, const char *building, const char *prefix)
{
    return (Unit){.region = region,
                  .building = building,
                  .prefix = g_strdup(prefix),
                  .tops = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
}

static void
unit_clear(gpointer unit)
{
    g_free(((Unit *)unit)->prefix);
    g_array_unref(((Unit *)unit)->tops);
}

static GArray *
units_new(void)
{
    GArray *units = g_array_new(FALSE, FALSE, sizeof(Unit));
    g_array_set_clear_func(units, unit_clear);
    return units;
}

/* One way between two units. */
static SimTime
cut_latency(const CutSpec *cut)
{
    return cut->latency_ps >= 0 ? cut->latency_ps : (SimTime)floor(cut->length_km * FIBRE_PS_PER_KM + 0.5);
}

/* The top switch that carries uplink i. */
static uint32_t
top_of(const Unit *unit, uint32_t i)
{
    return g_array_index(unit->tops, uint32_t, i % unit->tops->len);
}

/* An uplink has half the way between two units; an odd picosecond is on the way down, so that up and
 * down together are exactly the cut's latency. */
static void
add_uplink(Build *build, const CutSpec *cut, Link link)
{
    if (cut == NULL || (cut->latency_ps < 0 && isnan(cut->length_km))) {
        link.latency_ps = build->spec->zone.link_latency_ps;
        link.source = "default";
        build_cable(build, &link);
        return;
    }
    SimTime whole = cut_latency(cut);
    link.length_km = cut->length_km / 2;
    link.latency_ps = whole / 2;
    build_link(build, &link);
    uint32_t top = link.src;
    link.src = link.dst;
    link.dst = top;
    link.latency_ps = whole - whole / 2;
    build_link(build, &link);
}

static void
join_star(Build *build, GArray *units, CutLevel level, Unit *parent)
{
    const CutSpec *cut = cut_at(build->spec, level);
    g_autofree char *name = g_strconcat(parent->prefix, "router", NULL);
    uint32_t router = build_node(build, parent, levels[level].router, -1, name);
    for (guint u = 0; u < units->len; u++) {
        const Unit *unit = &g_array_index(units, Unit, u);
        uint32_t n_links = cut != NULL ? cut->links : unit->tops->len;
        double ratio = cut != NULL ? cut->oversubscription : 1;
        Link link = link_default();
        link.kind = levels[level].link;
        link.capacity_Bps = ratio > 0 ? unit->nic_rate_Bps / ratio / n_links : cut->rate_Bps;
        link.source = cut != NULL ? "generated" : "default";
        for (uint32_t i = 0; i < n_links; i++) {
            link.src = top_of(unit, i);
            link.dst = router;
            add_uplink(build, cut, link);
        }
    }
    g_array_append_val(parent->tops, router);
}

/* The uplinks of a unit are its cables to all the others. */
static double
mesh_rate(Build *build, GArray *units, const CutSpec *cut)
{
    if (cut->rate_Bps > 0)
        return cut->rate_Bps;
    double rate = g_array_index(units, Unit, 0).nic_rate_Bps;
    for (guint u = 1; u < units->len; u++)
        if (g_array_index(units, Unit, u).nic_rate_Bps != rate && build->error == NULL)
            error_input(&build->error,
                        "cuts: %s of different sizes have no common oversubscription in a mesh; give rate",
                        levels[cut->between].plural);
    return rate / cut->oversubscription / cut->links / (units->len - 1);
}

/* Pairwise; the parent's uplinks then start at the tops of all units, taking turns. */
static void
join_mesh(Build *build, GArray *units, const CutSpec *cut, Unit *parent)
{
    g_autofree uint32_t *used = g_new0(uint32_t, units->len); /* uplinks of each unit so far */
    Link link = link_default();
    link.kind = levels[cut->between].link;
    link.capacity_Bps = mesh_rate(build, units, cut);
    gboolean known = cut->latency_ps >= 0 || !isnan(cut->length_km);
    link.latency_ps = known ? cut_latency(cut) : build->spec->zone.link_latency_ps;
    link.length_km = cut->length_km;
    link.source = known ? "generated" : "default";
    for (guint a = 0; a < units->len; a++)
        for (guint b = a + 1; b < units->len; b++)
            for (uint32_t i = 0; i < cut->links; i++) {
                link.src = top_of(&g_array_index(units, Unit, a), used[a]++);
                link.dst = top_of(&g_array_index(units, Unit, b), used[b]++);
                build_cable(build, &link);
            }

    guint most = 0;
    for (guint u = 0; u < units->len; u++)
        most = MAX(most, g_array_index(units, Unit, u).tops->len);
    for (guint i = 0; i < most; i++)
        for (guint u = 0; u < units->len; u++) {
            GArray *tops = g_array_index(units, Unit, u).tops;
            if (i < tops->len)
                g_array_append_val(parent->tops, g_array_index(tops, uint32_t, i));
        }
}

/* Joins the units of a parent, and gives the parent their tops and rates. */
static void
join(Build *build, GArray *units, CutLevel level, Unit *parent)
{
    const CutSpec *cut = cut_at(build->spec, level);
    for (guint u = 0; u < units->len; u++)
        parent->nic_rate_Bps += g_array_index(units, Unit, u).nic_rate_Bps;
    if (units->len == 1) {
        GArray *tops = g_array_index(units, Unit, 0).tops;
        g_array_append_vals(parent->tops, tops->data, tops->len);
    } else if (cut != NULL && cut->mesh) {
        join_mesh(build, units, cut, parent);
    } else {
        join_star(build, units, level, parent);
    }
}

static Unit
make_building(Build *build, const char *region, const BuildingSpec *spec, const char *prefix, const ZonePlan *plan)
{
    g_autofree char *inside = g_strdup_printf("%s%s/", prefix, spec->name);
    Unit building = unit_new(region, spec->name, inside);
    g_autoptr(GArray) zones = units_new();
    for (uint32_t z = 0; z < spec->zones; z++) {
        g_autofree char *zone_prefix = g_strdup_printf("%s%u/", inside, z);
        Unit zone = unit_new(region, spec->name, zone_prefix);
        snprintf(zone.zone, sizeof zone.zone, "%u", z);
        zone_build(build, &zone, plan);
        g_array_append_val(zones, zone);
    }
    join(build, zones, CUT_ZONES, &building);
    return building;
}

/* The region's buildings, or, with region NULL, all there are in a region without a name. */
static Unit
make_region(Build *build, const RegionSpec *spec, const ZonePlan *plan)
{
    const char *name = spec != NULL ? spec->name : "";
    g_autofree char *prefix = spec != NULL ? g_strdup_printf("%s/", name) : g_strdup("");
    Unit region = unit_new(name, "", prefix);
    g_autoptr(GArray) buildings = units_new();
    uint32_t n = spec != NULL ? spec->n_buildings : n_buildings(build->spec);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = spec != NULL ? spec->buildings[i] : i;
        Unit building = make_building(build, name, building_at(build->spec, index), prefix, plan);
        g_array_append_val(buildings, building);
    }
    join(build, buildings, CUT_BUILDINGS, &region);
    return region;
}

void
site_build(Build *build, const ZonePlan *plan)
{
    Unit whole = unit_new("", "", "");
    g_autoptr(GArray) regions = units_new();
    for (uint32_t r = 0; r < MAX(build->spec->n_regions, 1); r++) {
        Unit region = make_region(build, build->spec->n_regions > 0 ? &build->spec->regions[r] : NULL, plan);
        g_array_append_val(regions, region);
    }
    join(build, regions, CUT_REGIONS, &whole);
    unit_clear(&whole);
}
