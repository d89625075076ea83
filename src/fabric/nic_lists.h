/* nic_lists.h - which NICs a GPU may use, nearest first
 *
 * A part of sealing a fabric; others ask fabric_nics(). */
#pragma once

#include "fabric/fabric.h"
#include "fabric/rows.h"

/* One row a node, empty but for the ranks (GPUs, or hosts). server is indexed by node; fabric's adjacency
 * must stand already. Through *lists, which the caller clears. FALSE with an INPUT error where the lists
 * would be absurdly long. */
gboolean nic_lists_make(const Fabric *fabric, const uint32_t *ranks, uint32_t n_ranks, const uint32_t *server,
                        Rows *lists, GError **error);
