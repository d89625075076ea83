/* astra_network.h - ASTRA-sim's network.yml: the dimensions of its analytical back ends
 *
 * Four keys of the same length: topology, npus_count, bandwidth (GB/s of 2^30 bytes), latency (ns a link). Dimension 0
 * is innermost: rank = a0 + n0 (a1 + n1 (a2 ...)). */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef enum { ASTRA_RING, ASTRA_SWITCH, ASTRA_FULLY_CONNECTED } AstraShape;

typedef struct {
    AstraShape shape;
    uint32_t npus;          /* 2 or more */
    double bandwidth_GiBps; /* 2^30 B/s, as written */
    double latency_ns;      /* as written, 0 or more */
} AstraDimension;

typedef struct {
    GArray *dimensions; /* of AstraDimension, innermost first */
    uint32_t n_npus;    /* product of all, at most ASTRA_MOST_NPUS */
} AstraNetwork;

enum { ASTRA_MOST_NPUS = 1 << 20, ASTRA_MOST_DIMENSIONS = 16 };

/* NULL with an INPUT error at the first problem; with problems (of char *) all of them go there. */
AstraNetwork *astra_network_read(const char *path, GPtrArray *problems, GError **error);
void astra_network_free(AstraNetwork *network); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstraNetwork, astra_network_free)

const AstraDimension *astra_network_dimension(const AstraNetwork *network, uint32_t dimension);
