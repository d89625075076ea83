/* graphml.h - fabrics as GraphML, read and written through libxml2, lossless
 *
 * Attributes are the columns of DEFINITIONS 8 (plus gpu, peak_FLOPps, memory_B, memory_bandwidth_Bps of a GPU node and
 * `forward`, `name` of the graph). Doubles are written with 17 digits. An undirected edge is a cable: two links. A node's
 * name is its attribute `name`, else its id. Nodes need a kind, edges a kind and capacity_Bps; without latency_ps the
 * length counts, 5 us per km, else 0. Files may be gzipped.
 * Every fault of a file names file, line, element, found and expected: unknown node, duplicate id, undeclared
 * key, wrong type, NaN, negative, missing capacity. Unknown attributes are ignored with their names listed in *notes. */
#pragma once

#include "fabric/fabric.h"

/* A sealed fabric, or NULL with an error. notes: what was ignored or set by default, one a line
 * (NULL where nobody asks); the caller frees it. */
Fabric *graphml_read(const char *path, char **notes, GError **error);
/* Written to a temporary beside path and renamed: nothing half-written is left. */
gboolean graphml_write(const Fabric *fabric, const char *path, GError **error);
