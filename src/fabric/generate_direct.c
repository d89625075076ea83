#include "fabric/generate_direct.h"

#include "base/error.h"
#include "fabric/generate_build.h"

enum { MOST_ROUTERS = 1 << 24 };

/* Servers evenly over so many routers, none of which has more ports than zone.radix. */
static gboolean
plan_routers(const GenerateSpec *spec, uint64_t routers, uint32_t cables_a_router, ZonePlan *plan, GError **error)
{
    const ZoneSpec *zone = &spec->zone;
    if (routers > MOST_ROUTERS)
        return error_input(error, "zone.%s: %" G_GUINT64_FORMAT " routers, expected at most %d",
                           zone_network_name(zone->network), routers, MOST_ROUTERS);
    if (zone->oversubscription != 1)
        return error_input(error, "zone.oversubscription: means nothing for a %s", zone_network_name(zone->network));
    if (zone->servers % routers != 0)
        return error_input(error,
                           "zone.servers: %u servers cannot be spread evenly over %" G_GUINT64_FORMAT
                           " routers; %" G_GUINT64_FORMAT " can",
                           zone->servers, routers, (zone->servers / routers + 1) * routers);
    uint64_t each = zone->servers / routers,
             ports = each * spec->server.nics * spec->server.nic_ports + cables_a_router;
    if (zone->radix > 0 && ports > zone->radix)
        return error_input(error, "zone.radix: a router needs %" G_GUINT64_FORMAT " ports, found %u", ports,
                           zone->radix);
    *plan = (ZonePlan){.group_servers = (uint32_t)each,
                       .n_groups = (uint32_t)routers,
                       .leaves_a_group = 1,
                       .pod_leaves = (uint32_t)routers,
                       .n_pods = 1};
    return TRUE;
}

/* Cables of a router in a dimension of this size. */
static uint32_t
ways(uint32_t size)
{
    return size > 2 ? 2 : size == 2 ? 1 : 0;
}

gboolean
direct_plan_torus(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    const ZoneSpec *zone = &spec->zone;
    uint64_t routers = 1;
    uint32_t cables = 0;
    if (zone->n_torus < 2 || zone->n_torus > 3)
        return error_input(error, "zone.torus: found %u sizes, expected 2 or 3, such as [4, 4, 4]", zone->n_torus);
    for (uint32_t d = 0; d < zone->n_torus; d++) {
        if (zone->torus[d] < 2 || zone->torus[d] > 65536)
            return error_input(error, "zone.torus[%u]: found %u, expected 2 to 65536", d, zone->torus[d]);
        routers *= zone->torus[d];
        cables += ways(zone->torus[d]);
    }
    return plan_routers(spec, routers, cables, plan, error);
}

gboolean
direct_plan_dragonfly(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    const DragonflySpec *fly = &spec->zone.dragonfly;
    uint64_t channels = (uint64_t)fly->routers * fly->global_links;
    if (fly->groups < 2 || fly->routers < 1 || fly->global_links < 1)
        return error_input(error, "zone.dragonfly: needs groups (at least 2), routers and global_links");
    if (fly->groups - 1 > channels)
        return error_input(
            error,
            "zone.dragonfly.groups: %u groups, but the %u x %u global links of one reach only %" G_GUINT64_FORMAT
            " others",
            fly->groups, fly->routers, fly->global_links, channels);
    if (channels % (fly->groups - 1) != 0) {
        uint32_t fewer = fly->groups, more = fly->groups;
        while (channels % (fewer - 1) != 0)
            fewer--;
        while (channels % (more - 1) != 0)
            more++;
        return error_input(error,
                           "zone.dragonfly.groups: the %u x %u global links of a group cannot be spread evenly over "
                           "%u others; %u or %u groups can",
                           fly->routers, fly->global_links, fly->groups - 1, fewer, more);
    }
    return plan_routers(spec, (uint64_t)fly->groups * fly->routers, fly->routers - 1 + fly->global_links, plan, error);
}

static void
add(GArray *cables, uint32_t a, uint32_t b, gboolean global)
{
    DirectCable cable = {a, b, global};
    g_array_append_val(cables, cable);
}

GArray *
direct_cables_torus(const GenerateSpec *spec)
{
    const ZoneSpec *zone = &spec->zone;
    GArray *cables = g_array_new(FALSE, FALSE, sizeof(DirectCable));
    uint32_t routers = 1;
    for (uint32_t d = 0; d < zone->n_torus; d++)
        routers *= zone->torus[d];
    for (uint32_t d = 0, stride = 1; d < zone->n_torus; stride *= zone->torus[d++])
        for (uint32_t r = 0; r < routers; r++) {
            uint32_t size = zone->torus[d], at = r / stride % size;
            if (at + 1 < size)
                add(cables, r, r + stride, FALSE);
            else if (size > 2)
                add(cables, r, r - at * stride, FALSE);
        }
    return cables;
}

GArray *
direct_cables_dragonfly(const GenerateSpec *spec)
{
    const DragonflySpec *fly = &spec->zone.dragonfly;
    GArray *cables = g_array_new(FALSE, FALSE, sizeof(DirectCable));
    for (uint32_t g = 0; g < fly->groups; g++)
        for (uint32_t a = 0; a < fly->routers; a++)
            for (uint32_t b = a + 1; b < fly->routers; b++)
                add(cables, g * fly->routers + a, g * fly->routers + b, FALSE);
    uint32_t each = fly->routers * fly->global_links / (fly->groups - 1);
    for (uint32_t g = 0; g < fly->groups; g++)
        for (uint32_t on = 1; g + on < fly->groups; on++)
            for (uint32_t i = 0; i < each; i++) {
                uint32_t here = (on - 1) * each + i, there = (fly->groups - on - 1) * each + i;
                add(cables, g * fly->routers + here / fly->global_links,
                    (g + on) * fly->routers + there / fly->global_links, TRUE);
            }
    return cables;
}
