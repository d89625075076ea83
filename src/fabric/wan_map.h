/* wan_map.h - places and the spans between them, as wide-area files have them, become a fabric
 *
 * A place is a router (dci) and a building of its own; with --hosts each gets hosts, so that ranks can be put there.
 * The length of a span is the great circle between its ends (sphere of 6371.0088 km) times the detour factor, its
 * latency that of fibre (5 us/km, DEFINITIONS 2), unless the file gives a latency. What a span lacks comes from the
 * options; without them the fabric is refused with the number of spans that lack it. A link's source says where both
 * came from: "rate file, latency map"; "rate default, latency file". */
#pragma once

#include "fabric/topology_format.h"

typedef struct {
    const char *name;           /* made unique where it is taken */
    const char *region;         /* NULL = not said */
    double latitude, longitude; /* degrees; NAN = not known */
    gboolean no_place;          /* a point where cables meet: it has no building and no hosts */
} WanPlace;

typedef struct {
    uint32_t a, b;
    double rate_Bps;    /* 0 = not said */
    SimTime latency_ps; /* -1 = from the map */
    gboolean one_way;   /* a to b only; else both */
} WanSpan;

typedef struct WanMap WanMap;

WanMap *wan_map_new(void);
void wan_map_free(WanMap *map); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(WanMap, wan_map_free)

/* Copies; its number from 0. */
uint32_t wan_map_add_place(WanMap *map, const WanPlace *place);
void wan_map_add_span(WanMap *map, const WanSpan *span);
/* Places and the round-trip times ms[i * n + j] from places[i] to places[j]; NAN = not measured. A link each way, of
 * half the time measured from its beginning; where one direction was measured it serves for both. Counts add up. */
typedef struct {
    guint halves, absent; /* pairs measured from one side; from none: no links */
} WanMatrixCounts;
void wan_map_add_matrix(WanMap *map, const uint32_t *places, uint32_t n, const double *ms, WanMatrixCounts *counts);
void wan_matrix_note(const WanMatrixCounts *counts, GString *notes);
/* Coordinates are not on the earth after all. */
void wan_map_forget_coordinates(WanMap *map);

/* A sealed fabric; NULL with an INPUT error. Appends to notes. */
Fabric *wan_map_build(const WanMap *map, const char *path, const TopologyOptions *options, GString *notes,
                      GError **error);

/* Kilometres between two points of the earth's surface. */
double wan_distance_km(double latitude_a, double longitude_a, double latitude_b, double longitude_b);
