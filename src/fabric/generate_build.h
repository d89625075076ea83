/* generate_build.h - what the parts of the generator share: the fabric under construction and its units
 *
 * Private to generate*.c. A unit is a zone, a building, a region or the whole; its tops are the switches
 * that carry its uplinks. */
#pragma once

#include "fabric/generate.h"

typedef struct {
    const GenerateSpec *spec; /* checked */
    Fabric *fabric;
    GError *error; /* the first; building goes on and the fabric is thrown away */
} Build;

typedef struct {
    const char *region, *building; /* "" where it has none; borrowed from the spec */
    char zone[12], server[12];     /* "" where it has none */
    char *prefix;                  /* of its nodes' names: "north/A/0/" */
    GArray *tops;                  /* of uint32_t: nodes */
    double nic_rate_Bps;           /* of all NICs below it */
} Unit;

/* Neither can be told to fail: names are unique by construction, and a refused link is kept in build->error. */
uint32_t build_node(Build *build, const Unit *unit, NodeKind kind, int32_t rail, const char *name);
void build_link(Build *build, const Link *link);
void build_cable(Build *build, const Link *cable);

/* Ports of a NIC together. */
double server_nic_rate_Bps(const ServerSpec *server);

/* The rate of links between the switches of a zone: link_rate_Bps, or that of a NIC port. */
double zone_link_rate_Bps(const GenerateSpec *spec);
