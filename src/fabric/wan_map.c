#include "fabric/wan_map.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

static const double EARTH_RADIUS_KM = 6371.0088; /* mean */
static const double PS_PER_KM = 5e6;             /* of fibre, one way: DEFINITIONS 2 */

struct WanMap {
    GArray *places; /* of WanPlace; names owned by texts */
    GArray *spans;  /* of WanSpan */
    GStringChunk *texts;
};

WanMap *
wan_map_new(void)
{
    WanMap *map = g_new0(WanMap, 1);
    map->places = g_array_new(FALSE, FALSE, sizeof(WanPlace));
    map->spans = g_array_new(FALSE, FALSE, sizeof(WanSpan));
    map->texts = g_string_chunk_new(4096);
    return map;
}

void
wan_map_free(WanMap *map)
{
    if (map == NULL)
        return;
    g_array_unref(map->places);
    g_array_unref(map->spans);
    g_string_chunk_free(map->texts);
    g_free(map);
}

uint32_t
wan_map_add_place(WanMap *map, const WanPlace *place)
{
    WanPlace copy = *place;
    copy.name = g_string_chunk_insert(map->texts, place->name);
    copy.region = g_string_chunk_insert(map->texts, place->region != NULL ? place->region : "");
    g_array_append_val(map->places, copy);
    return map->places->len - 1;
}

void
wan_map_add_span(WanMap *map, const WanSpan *span)
{
    g_array_append_val(map->spans, *span);
}

void
wan_map_add_matrix(WanMap *map, const uint32_t *places, uint32_t n, const double *ms, WanMatrixCounts *counts)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n; j++) {
            double there = ms[(size_t)i * n + j], back = ms[(size_t)j * n + i];
            if (isnan(there) && isnan(back)) {
                counts->absent++;
                continue;
            }
            counts->halves += isnan(there) || isnan(back);
            WanSpan span = {.a = places[i], .b = places[j], .one_way = TRUE};
            span.latency_ps = (SimTime)((isnan(there) ? back : there) * 0.5 * PS_PER_MS);
            wan_map_add_span(map, &span);
            span = (WanSpan){.a = places[j], .b = places[i], .one_way = TRUE};
            span.latency_ps = (SimTime)((isnan(back) ? there : back) * 0.5 * PS_PER_MS);
            wan_map_add_span(map, &span);
        }
}

void
wan_matrix_note(const WanMatrixCounts *counts, GString *notes)
{
    if (counts->halves > 0)
        g_string_append_printf(notes, "%u pairs are measured from one side only\n", counts->halves);
    if (counts->absent > 0)
        g_string_append_printf(notes, "%u pairs are not measured: no links\n", counts->absent);
}

void
wan_map_forget_coordinates(WanMap *map)
{
    for (guint i = 0; i < map->places->len; i++) {
        WanPlace *place = &g_array_index(map->places, WanPlace, i);
        place->latitude = place->longitude = NAN;
    }
}

/* Haversine. */
double
wan_distance_km(double latitude_a, double longitude_a, double latitude_b, double longitude_b)
{
    double to_radian = G_PI / 180, up = sin((latitude_b - latitude_a) * to_radian / 2),
           round = sin((longitude_b - longitude_a) * to_radian / 2);
    double h = up * up + cos(latitude_a * to_radian) * cos(latitude_b * to_radian) * round * round;
    return 2 * EARTH_RADIUS_KM * asin(MIN(1, sqrt(h)));
}

/* To the millimetre, so that the last digits of a libm do not matter. */
static double
length_km(const WanMap *map, const WanSpan *span, double detour)
{
    const WanPlace *a = &g_array_index(map->places, WanPlace, span->a);
    const WanPlace *b = &g_array_index(map->places, WanPlace, span->b);
    return floor(detour * wan_distance_km(a->latitude, a->longitude, b->latitude, b->longitude) * 1e6 + 0.5) / 1e6;
}

static gboolean
check_spans(const WanMap *map, const char *path, const TopologyOptions *options, GString *notes, GError **error)
{
    guint rates = 0, lengths = 0, loops = 0, n = map->spans->len;
    for (guint i = 0; i < n; i++) {
        const WanSpan *span = &g_array_index(map->spans, WanSpan, i);
        loops += span->a == span->b;
        rates += span->rate_Bps <= 0;
        lengths += span->latency_ps < 0 && !isfinite(length_km(map, span, 1));
    }
    guint before = topology_n_problems(options);
    GError *wrong = NULL;
    if (rates > 0 && options->default_rate_Bps <= 0 &&
        !error_input(&wrong, "%s: %u of %u links have no rate: give one with --default-rate", path, rates, n) &&
        !topology_go_on(options, g_steal_pointer(&wrong), error))
        return FALSE;
    if (lengths > 0 && options->default_latency_ps < 0 &&
        !error_input(&wrong, "%s: %u of %u links have no length: give --default-latency", path, lengths, n) &&
        !topology_go_on(options, g_steal_pointer(&wrong), error))
        return FALSE;
    if (!topology_sound(options, before, path, error))
        return FALSE;
    if (rates > 0)
        g_string_append_printf(notes, "%u of %u links have the default rate\n", rates, n);
    if (lengths > 0)
        g_string_append_printf(notes, "%u of %u links have the default latency: an end is nowhere on the map\n",
                               lengths, n);
    if (loops > 0)
        g_string_append_printf(notes, "%u links from a place to itself are left out\n", loops);
    return TRUE;
}

/* "Berlin", "Berlin (2)": as no node is called yet. */
static char *
unique_name(const Fabric *fabric, const char *name, GString *notes)
{
    g_autofree char *plain = g_strdelimit(g_strdup(*name != '\0' ? name : "place"), "/", '-');
    if (fabric_find(fabric, plain) == INDEX_NONE)
        return g_steal_pointer(&plain);
    for (uint32_t i = 2;; i++) {
        g_autofree char *numbered = g_strdup_printf("%s (%u)", plain, i);
        if (fabric_find(fabric, numbered) != INDEX_NONE)
            continue;
        g_string_append_printf(notes, "\"%s\" is there already: this one is called \"%s\"\n", plain, numbered);
        return g_steal_pointer(&numbered);
    }
}

static gboolean
add_hosts(Fabric *fabric, uint32_t router, const char *name, const char *region, const TopologyOptions *options,
          GError **error)
{
    for (uint32_t i = 0; i < options->hosts; i++) {
        g_autofree char *host_name = g_strdup_printf("%s/host%u", name, i);
        Node node = node_default();
        node.name = node.server = host_name;
        node.building = name;
        node.region = region;
        node.kind = NODE_HOST;
        Link link = link_default();
        link.src = fabric_add_node(fabric, &node, error);
        if (link.src == INDEX_NONE)
            return FALSE;
        link.dst = router;
        link.kind = LINK_ETHERNET;
        link.capacity_Bps = options->default_rate_Bps;
        link.latency_ps = MAX(0, options->default_latency_ps);
        link.source = "default";
        if (fabric_add_cable(fabric, &link, error) == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

static gboolean
add_places(const WanMap *map, Fabric *fabric, const TopologyOptions *options, uint32_t *nodes, GString *notes,
           GError **error)
{
    for (guint i = 0; i < map->places->len; i++) {
        const WanPlace *place = &g_array_index(map->places, WanPlace, i);
        g_autofree char *name = unique_name(fabric, place->name, notes);
        Node node = node_default();
        node.name = name;
        node.kind = NODE_DCI;
        node.building = place->no_place ? "" : name;
        node.region = place->region;
        nodes[i] = fabric_add_node(fabric, &node, error);
        if (nodes[i] == INDEX_NONE ||
            (!place->no_place && !add_hosts(fabric, nodes[i], name, place->region, options, error)))
            return FALSE;
    }
    return TRUE;
}

static gboolean
add_spans(const WanMap *map, Fabric *fabric, const TopologyOptions *options, const uint32_t *nodes, GError **error)
{
    for (guint i = 0; i < map->spans->len; i++) {
        const WanSpan *span = &g_array_index(map->spans, WanSpan, i);
        if (span->a == span->b)
            continue;
        Link link = link_default();
        link.src = nodes[span->a];
        link.dst = nodes[span->b];
        link.kind = LINK_INTERBUILDING;
        link.capacity_Bps = span->rate_Bps > 0 ? span->rate_Bps : options->default_rate_Bps;
        double km = length_km(map, span, options->detour);
        gboolean from_map = span->latency_ps < 0 && isfinite(km);
        link.length_km = from_map ? km : NAN;
        link.latency_ps = from_map                ? (SimTime)ceil(km * PS_PER_KM)
                          : span->latency_ps >= 0 ? span->latency_ps
                                                  : options->default_latency_ps;
        g_autofree char *source = g_strdup_printf("rate %s, latency %s", span->rate_Bps > 0 ? "file" : "default",
                                                  from_map                ? "map"
                                                  : span->latency_ps >= 0 ? "file"
                                                                          : "default");
        link.source = source;
        uint32_t added = span->one_way ? fabric_add_link(fabric, &link, error) : fabric_add_cable(fabric, &link, error);
        if (added == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

Fabric *
wan_map_build(const WanMap *map, const char *path, const TopologyOptions *options, GString *notes, GError **error)
{
    if (map->places->len == 0) {
        error_input(error, "%s: there is no place in it", path);
        return NULL;
    }
    if (!check_spans(map, path, options, notes, error))
        return NULL;
    if (options->hosts > 0 && options->default_rate_Bps <= 0) {
        error_input(error, "%s: --hosts needs the rate of their links: give it with --default-rate", path);
        return NULL;
    }
    g_autoptr(Fabric) fabric = fabric_new();
    g_autofree uint32_t *nodes = g_new(uint32_t, map->places->len);
    if (!add_places(map, fabric, options, nodes, notes, error) || !add_spans(map, fabric, options, nodes, error) ||
        !fabric_seal(fabric, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    return g_steal_pointer(&fabric);
}
