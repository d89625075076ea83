/* graph_check.h - questions to igraph: is it connected, where does it break, what does a cut carry
 *
 * The only module that calls igraph; never from the event loop, on one thread. The igraph graph is made
 * from a sealed fabric for a question and freed with the GraphCheck. */
#pragma once

#include "fabric/fabric.h"

typedef struct GraphCheck GraphCheck;

GraphCheck *graph_check_new(const Fabric *fabric, GError **error);
void graph_check_free(GraphCheck *check); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GraphCheck, graph_check_free)

/* TRUE where every GPU reaches every other; else FALSE with an INPUT error that names two that don't. */
gboolean graph_check_connected(GraphCheck *check, GError **error);
/* Cables (index of their first link) whose loss parts the graph. The caller frees the array (of uint32_t). */
GArray *graph_check_bridges(GraphCheck *check);
/* Edge-disjoint paths between two nodes. */
uint32_t graph_check_disjoint_paths(GraphCheck *check, uint32_t a, uint32_t b);
/* The least capacity that parts the two sets of nodes, each direction a to b, in bytes per second. */
double graph_check_cut_Bps(GraphCheck *check, const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b);
