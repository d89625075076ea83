/* places.h - which server and which building a node is in, as dense numbers
 *
 * A part of sealing a fabric; others ask fabric_server() and fabric_building(). Numbers go up in the order
 * in which nodes first name a place. ranks are the GPUs (or hosts), by index. The caller frees the array, of
 * one number a node; INDEX_NONE = in none. */
#pragma once

#include "fabric/fabric.h"

/* fabric's adjacency must stand already. */
uint32_t *places_servers(const Fabric *fabric, const uint32_t *ranks, uint32_t n_ranks, uint32_t *n_servers);
uint32_t *places_buildings(const Fabric *fabric, const uint32_t *ranks, uint32_t n_ranks, uint32_t *n_buildings);
