/* graph_check.h - questions to igraph: is it connected, where does it break, what does a cut carry
 *
 * The only module that calls igraph; never from the event loop, on one thread. The igraph graph is made
 * from a sealed fabric in one call and freed with the GraphCheck. Its vertex i < fabric_n_nodes() is node i and its
 * edge i < fabric_n_links() is link i; further vertices and edges stand for what a node lets through, so that the answers
 * are those of routes (DEFINITIONS 2): GPUs, hosts and storage send and receive but do not forward (over NVLink, and from
 * NVLink to a NIC, where the fabric's `forward` says so); a NIC leads between PCIe and the network, not from one port to
 * another; nothing crosses a server. Links that no route could use carry nothing here either. */
#pragma once

#include "fabric/fabric.h"

typedef struct GraphCheck GraphCheck;

GraphCheck *graph_check_new(const Fabric *fabric, GError **error); /* fabric is borrowed */
void graph_check_free(GraphCheck *check);                          /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GraphCheck, graph_check_free)

/* TRUE where every GPU (host, where the fabric has no GPU) reaches every other; else FALSE with an INPUT error that names
 * two that don't. Two searches where some switch joins all; a search for each GPU where none does. */
gboolean graph_check_connected(GraphCheck *check, GError **error);

/* Network cables (by the lower index of their two links, rising) whose loss parts the network. Cables inside servers are not
 * asked, and an end with several network cables does not count as parted by the loss of one of them. The caller frees the
 * array (of uint32_t). */
GArray *graph_check_bridges(GraphCheck *check);

/* Edge-disjoint paths from a to b, two different nodes. */
uint32_t graph_check_disjoint_paths(GraphCheck *check, uint32_t a, uint32_t b);

/* The least capacity of links that parts the nodes of b from those of a, in the direction a to b, in bytes per second.
 * The sets have no node in common. A PCIe link between PCIe switches counts once for data on its way to a NIC and once for
 * data on its way from one. */
double graph_check_cut_Bps(GraphCheck *check, const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b);
