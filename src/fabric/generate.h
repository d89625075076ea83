/* generate.h - fabrics from a description: servers, zones, buildings, regions and the cuts between them
 *
 * The keys are those of fabric.generate in a scenario (DEFINITIONS 8). */
#pragma once

#include "fabric/fabric.h"

typedef struct {
    uint32_t gpus;
    char *gpu; /* model name */
    double peak_FLOPps, memory_bandwidth_Bps;
    uint64_t memory_B;
    double nvlink_rate_Bps;    /* per GPU and direction; 0 = no NVLink */
    SimTime nvlink_latency_ps; /* of each link: GPU to NVSwitch, NVSwitch to GPU */
    double pcie_rate_Bps;      /* GPU to its NIC; 0 = that of the NIC, all ports */
    SimTime pcie_latency_ps;
    uint32_t nics; /* NIC k belongs to GPU k * gpus / nics; with fewer NICs than GPUs each is shared by gpus / nics; 0 =
                      a server alone, without a network */
    double nic_rate_Bps; /* of one port */
    uint32_t nic_ports;  /* parallel cables to the one leaf of the NIC; default 1 */
    ForwardMode forward;
} ServerSpec;

typedef enum { ZONE_RAIL, ZONE_RAIL_ONLY, ZONE_CLOS2, ZONE_CLOS3, ZONE_DRAGONFLY, ZONE_TORUS, ZONE_SWITCH } ZoneNetwork;

typedef struct {
    uint32_t groups, routers, global_links; /* routers of a group, links of a router to other groups */
    double global_rate_Bps;                 /* of one; 0 = that of the zone's links */
    SimTime global_latency_ps;              /* -1 = that of the zone's links */
} DragonflySpec;

typedef struct {
    uint32_t servers;
    ZoneNetwork network;
    uint32_t torus[3], n_torus; /* sizes of its dimensions */
    DragonflySpec dragonfly;
    double link_rate_Bps;    /* of links between switches; 0 = that of a NIC port. NIC to leaf runs at nic_rate_Bps */
    SimTime link_latency_ps; /* of each link NIC to leaf, leaf to spine, ... */
    double oversubscription; /* of a leaf; 1 = none */
    uint32_t radix;  /* ports a switch has for its zone (the cuts' uplinks not counted); 0 = 64; any of a lone switch
                        and of routers */
    uint32_t spines; /* of a zone, of a pod of clos3; 0 = as many as a leaf has uplinks */
} ZoneSpec;

typedef struct {
    char *name;
    uint32_t zones;
} BuildingSpec;

typedef struct {
    char *name;
    uint32_t *buildings; /* indexes */
    uint32_t n_buildings;
} RegionSpec;

typedef enum { CUT_ZONES, CUT_BUILDINGS, CUT_REGIONS } CutLevel;

typedef struct {
    CutLevel between;
    uint32_t links;          /* uplinks of each unit; of each pair where mesh */
    double oversubscription; /* of the unit; 0 = rate is given */
    double rate_Bps;         /* of one link; 0 = oversubscription is given */
    double length_km;        /* unit to unit; NAN = latency_ps is given */
    SimTime latency_ps; /* unit to unit; -1 = from length at 5 us/km; neither given: each link has that of the zone's */
    gboolean mesh;      /* units joined pairwise, no router between */
} CutSpec;

typedef struct {
    ServerSpec server;
    ZoneSpec zone;
    BuildingSpec *buildings; /* none given: one, named "A" */
    uint32_t n_buildings;
    RegionSpec *regions; /* none given: one without a name holding all buildings */
    uint32_t n_regions;
    CutSpec *cuts;
    uint32_t n_cuts;
} GenerateSpec;

GenerateSpec *generate_spec_new(void); /* the defaults */
void generate_spec_free(GenerateSpec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GenerateSpec, generate_spec_free)

/* A sealed fabric, or NULL with an INPUT error that names the key ("zone.radix: ..."). Node names read
 * region/building/zone/server/gpuN, with the parts that exist. */
Fabric *generate_fabric(const GenerateSpec *spec, GError **error);

gboolean zone_network_parse(const char *text, ZoneNetwork *network);
const char *zone_network_name(ZoneNetwork network);
