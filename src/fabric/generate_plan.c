/* generate_plan.c - how many switches and cables a zone needs */
#include "fabric/generate_plan.h"

#include "base/error.h"
#include "base/units.h"
#include "fabric/generate_build.h"

#include <math.h>

enum { DEFAULT_RADIX = 64 };

uint32_t
zone_radix(const GenerateSpec *spec)
{
    return spec->zone.radix > 0 ? spec->zone.radix : DEFAULT_RADIX;
}

static uint32_t
gcd(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The uplinks a leaf needs for so many NIC ports below, not rounded. */
static double
exact_uplinks(const GenerateSpec *spec, uint32_t ports)
{
    return ports * spec->server.nic_rate_Bps / (spec->zone.oversubscription * zone_link_rate_Bps(spec));
}

/* Those uplinks where they are a whole number (a ratio such as 1.6 is not exact in binary), else 0. */
static uint32_t
whole_uplinks(const GenerateSpec *spec, uint32_t ports)
{
    double exact = exact_uplinks(spec, ports), nearest = floor(exact + 0.5);
    if (nearest < 1 || nearest > UINT32_MAX / 2 || fabs(exact - nearest) > 1e-9 * nearest)
        return 0;
    return (uint32_t)nearest;
}

/* The oversubscription nearest to what is asked that some leaf can have. 0 where there is none. */
static double
nearest_ratio(const GenerateSpec *spec, uint32_t server_ports)
{
    uint32_t radix = zone_radix(spec);
    double best = 0, asked = spec->zone.oversubscription;
    for (uint32_t ports = server_ports; ports < radix; ports += server_ports) {
        double exact = exact_uplinks(spec, ports);
        for (int up = 0; up <= 1; up++) {
            double uplinks = MAX(floor(exact) + up, 1);
            if (ports + uplinks > radix)
                continue;
            double ratio = ports * spec->server.nic_rate_Bps / (uplinks * zone_link_rate_Bps(spec));
            if (best == 0 || fabs(ratio - asked) < fabs(best - asked))
                best = ratio;
        }
    }
    return best;
}

static gboolean
refuse_leaf(const GenerateSpec *spec, uint32_t server_ports, GError **error)
{
    uint32_t radix = zone_radix(spec);
    double near = nearest_ratio(spec, server_ports);
    if (near == 0 || server_ports + exact_uplinks(spec, server_ports) > radix)
        return error_input(error,
                           "zone.radix: a leaf of %u ports cannot take the %u NIC ports of one server and the %g "
                           "uplinks they need at oversubscription %g; a radix of %.0f would do",
                           radix, server_ports, exact_uplinks(spec, server_ports), spec->zone.oversubscription,
                           server_ports + ceil(exact_uplinks(spec, server_ports)));
    return error_input(error,
                       "zone.oversubscription: no leaf of %u ports, with %u for each server, has exactly %g between "
                       "NICs and uplinks; the nearest that works is %.10g",
                       radix, server_ports, spec->zone.oversubscription, near);
}

/* The most servers a leaf takes so that NIC ports and whole uplinks fit its radix; 0 = none. */
static uint32_t
most_servers(const GenerateSpec *spec, uint32_t server_ports)
{
    uint32_t radix = zone_radix(spec);
    for (uint32_t n = radix / server_ports; n > 0; n--) {
        uint32_t uplinks = whole_uplinks(spec, n * server_ports);
        if (uplinks > 0 && n * server_ports + uplinks <= radix)
            return n;
    }
    return 0;
}

/* Servers in the last group where there are so many in all. */
static uint32_t
last_servers(uint32_t servers, uint32_t group)
{
    return (servers - 1) % group + 1;
}

/* ", or oversubscription 4 or 3.5": what the last leaf would have with whole uplinks, where it is the only
 * group and nothing else changes. The caller frees it. */
static char *
whole_ratios(const GenerateSpec *spec, uint32_t ports)
{
    double fewer = floor(exact_uplinks(spec, ports)), sent = ports * spec->server.nic_rate_Bps;
    if (fewer < 1)
        return g_strdup_printf(", or oversubscription %.6g", sent / zone_link_rate_Bps(spec));
    return g_strdup_printf(", or oversubscription %.6g or %.6g", sent / (fewer * zone_link_rate_Bps(spec)),
                           sent / ((fewer + 1) * zone_link_rate_Bps(spec)));
}

static gboolean
refuse_last(const GenerateSpec *spec, uint32_t server_ports, uint32_t group, GError **error)
{
    uint32_t servers = spec->zone.servers, last = last_servers(servers, group), below = servers, above = servers;
    while (below > 0 && whole_uplinks(spec, last_servers(below, group) * server_ports) == 0)
        below--;
    while (whole_uplinks(spec, last_servers(above, group) * server_ports) == 0)
        above++;
    g_autofree char *rate = units_format_rate(zone_link_rate_Bps(spec));
    g_autofree char *or_fewer = below > 0 ? g_strdup_printf("%u or ", below) : g_strdup("");
    g_autofree char *ratios = servers == last ? whole_ratios(spec, last * server_ports) : g_strdup("");
    return error_input(error,
                       "zone.servers: %u servers leave a last leaf with %u, which needs %g uplinks of %s for "
                       "oversubscription %g; %s%u servers come out whole%s",
                       servers, last, exact_uplinks(spec, last * server_ports), rate, spec->zone.oversubscription,
                       or_fewer, above, ratios);
}

gboolean
plan_leaves(const GenerateSpec *spec, uint32_t nics, ZonePlan *plan, GError **error)
{
    uint32_t server_ports = nics * spec->server.nic_ports, group = most_servers(spec, server_ports);
    if (group == 0)
        return refuse_leaf(spec, server_ports, error);
    uint32_t last = last_servers(spec->zone.servers, group);
    uint32_t last_uplinks = whole_uplinks(spec, last * server_ports);
    if (last_uplinks == 0)
        return refuse_last(spec, server_ports, group, error);

    uint32_t n_groups = (spec->zone.servers - 1) / group + 1;
    *plan = (ZonePlan){.group_servers = group,
                       .n_groups = n_groups,
                       .leaves_a_group = spec->server.nics / nics,
                       .uplinks = n_groups == 1 ? last_uplinks : whole_uplinks(spec, group * server_ports),
                       .last_uplinks = last_uplinks};
    plan->pod_leaves = plan_n_leaves(plan);
    plan->n_pods = 1;
    return TRUE;
}

gboolean
plan_leaves_alone(const GenerateSpec *spec, uint32_t nics, ZonePlan *plan, GError **error)
{
    uint64_t ports = (uint64_t)nics * spec->server.nic_ports * spec->zone.servers;
    if (spec->zone.oversubscription != 1)
        return error_input(error, "zone.oversubscription: the leaves of network %s have no uplinks, found %g",
                           zone_network_name(spec->zone.network), spec->zone.oversubscription);
    if (spec->zone.spines != 0)
        return error_input(error, "zone.spines: network %s has no spines, found %u",
                           zone_network_name(spec->zone.network), spec->zone.spines);
    gboolean bounded = spec->zone.radix > 0 || spec->zone.network != ZONE_SWITCH;
    if (bounded && ports > zone_radix(spec))
        return error_input(error,
                           "zone.radix: %u servers need %" G_GUINT64_FORMAT " ports on one leaf of network %s, which "
                           "has %u",
                           spec->zone.servers, ports, zone_network_name(spec->zone.network), zone_radix(spec));
    *plan = (ZonePlan){
        .group_servers = spec->zone.servers, .n_groups = 1, .leaves_a_group = spec->server.nics / nics, .n_pods = 1};
    plan->pod_leaves = plan->leaves_a_group;
    return TRUE;
}

uint32_t
plan_n_leaves(const ZonePlan *plan)
{
    return plan->n_groups * plan->leaves_a_group;
}

uint32_t
plan_uplinks(const ZonePlan *plan, uint32_t leaf)
{
    return leaf / plan->leaves_a_group == plan->n_groups - 1 ? plan->last_uplinks : plan->uplinks;
}

uint32_t
plan_spine_ports(const ZonePlan *plan, uint32_t pod)
{
    uint32_t first = pod * plan->pod_leaves, end = MIN(first + plan->pod_leaves, plan_n_leaves(plan)), ports = 0;
    for (uint32_t leaf = first; leaf < end; leaf++)
        ports += plan_uplinks(plan, leaf) / plan->spines;
    return ports;
}

/* As many spines as every leaf has uplinks; where the last leaf has fewer, as many as divide both. */
static gboolean
choose_spines(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    uint32_t common = gcd(plan->uplinks, plan->last_uplinks), asked = spec->zone.spines;
    plan->spines = asked > 0 ? asked : common;
    if (common % plan->spines == 0)
        return TRUE;
    uint32_t below = MIN(asked, common), above = asked;
    while (common % below != 0)
        below--;
    while (above < common && common % above != 0)
        above++;
    g_autofree char *or_more = above <= common && above > asked ? g_strdup_printf(" or %u", above) : g_strdup("");
    return error_input(error, "zone.spines: %u spines cannot share evenly the %u uplinks of a leaf%s; %u%s can", asked,
                       plan->uplinks, plan->uplinks == plan->last_uplinks ? "" : " and those of the last", below,
                       or_more);
}

gboolean
plan_spines(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    if (!choose_spines(spec, plan, error))
        return FALSE;
    uint32_t ports = plan_spine_ports(plan, 0), radix = zone_radix(spec);
    if (ports <= radix)
        return TRUE;
    uint32_t whole = spec->zone.spines > 0 ? spec->zone.spines : plan->uplinks; /* spines without a last leaf */
    uint32_t groups = MIN(radix / (plan->leaves_a_group * (plan->uplinks / whole)), plan->n_groups - 1);
    g_autofree char *fits =
        groups > 0 ? g_strdup_printf("; %u servers fit", groups * plan->group_servers) : g_strdup("");
    return error_input(error,
                       "zone.servers: %u servers make %u leaves, and each of the %u spines needs %u ports for them; a "
                       "switch has %u (zone.radix)%s%s",
                       spec->zone.servers, plan_n_leaves(plan), plan->spines, ports, radix, fits,
                       spec->zone.network == ZONE_CLOS2 ? "; or use network clos3" : "");
}

gboolean
plan_pods(const GenerateSpec *spec, ZonePlan *plan, GError **error)
{
    if (!choose_spines(spec, plan, error))
        return FALSE;
    uint32_t radix = zone_radix(spec), cables = plan->uplinks / plan->spines;
    plan->pod_leaves = radix / 2 / cables;
    if (plan->pod_leaves == 0)
        return error_input(error,
                           "zone.spines: with %u spines each leaf has %u cables to each, more than half the %u ports "
                           "of a spine (zone.radix)",
                           plan->spines, cables, radix);
    plan->n_pods = (plan_n_leaves(plan) - 1) / plan->pod_leaves + 1;

    uint32_t full = plan_spine_ports(plan, 0), last = plan_spine_ports(plan, plan->n_pods - 1);
    plan->plane_cores = gcd(full, last);
    uint64_t ports = (uint64_t)(plan->n_pods - 1) * (full / plan->plane_cores) + last / plan->plane_cores;
    if (ports <= radix)
        return TRUE;
    uint32_t pod_servers = plan->pod_leaves * plan->group_servers;
    uint32_t whole_pods = MIN(spec->zone.servers / pod_servers, radix);
    return error_input(error,
                       "zone.servers: %u servers make %u pods, and each core needs %" G_GUINT64_FORMAT
                       " ports for them; a switch has %u (zone.radix). %u servers fit (%u whole pods of %u)",
                       spec->zone.servers, plan->n_pods, ports, radix, whole_pods * pod_servers, whole_pods,
                       pod_servers);
}
