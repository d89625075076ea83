/* fabric_units.h - racks, zones, buildings and regions: what is in them and what leads out of them
 *
 * Oversubscription as DEFINITIONS 2: the rates of the NICs below a unit / the capacity of its uplinks. */
#pragma once

#include "fabric/fabric.h"

typedef enum { UNIT_RACK, UNIT_ZONE, UNIT_BUILDING, UNIT_REGION, UNIT_LEVELS } UnitLevel;

typedef struct {
    char *name; /* "north/A/0"; a unit's parts that exist */
    uint32_t n_nodes, n_nics, n_servers;
    uint32_t n_gpus;     /* or hosts, as fabric_gpus() */
    double nic_rate_Bps; /* out of its NICs into the network (of GPUs and hosts without NIC, their own links) */
    uint32_t n_uplinks;  /* links from its nodes to nodes outside */
    double uplink_Bps;   /* their capacity together */
} FabricUnit;

/* The units of a level, of FabricUnit, in the order of their first nodes; nodes that name no such place are
 * in none. Of a sealed fabric. The caller frees it. */
GArray *fabric_units(const Fabric *fabric, UnitLevel level);

/* The unit of each node, INDEX_NONE for none: numbers into fabric_units(). The caller frees it. */
uint32_t *fabric_unit_numbers(const Fabric *fabric, UnitLevel level, uint32_t *n_units);

/* nic_rate / uplink_Bps; 0 where it has no uplinks. */
double fabric_unit_oversubscription(const FabricUnit *unit);

/* TRUE for links of the network: neither NVLink nor PCIe. */
gboolean link_kind_is_network(LinkKind kind);

/* "rack", "zone", ... */
const char *unit_level_name(UnitLevel level);
