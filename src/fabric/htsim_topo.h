/* htsim_topo.h - htsim's fat trees of two and three tiers, the files *.topo
 *
 * The keys and the wiring are those of fat_tree_topology.cpp in Broadcom/csg-htsim and ultraethernet/uet-htsim. Nodes
 * are called host0, leaf0 (tier 0), spine0 (tier 1), core0 (tier 2), ...; hosts play ranks. */
#pragma once

#include "fabric/fabric.h"

/* As graphml_read. Counts that do not come out whole, a tier without speed or latency, and keys that are not known
 * are INPUT errors. A link's source is "file"; "default" where its latency holds a Switch_Latency_ns not given. */
Fabric *htsim_topo_read(const char *path, char **notes, GError **error);
/* TRUE where the text's first key is one of a .topo file, and it is no connection matrix. */
gboolean htsim_topo_recognise(const char *head, size_t length);
