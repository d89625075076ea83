/* cabling.h - lists of cables, as network tools have them (port of a device to port of another), become a fabric
 *
 * A cable that is listed from both of its ends is one cable. Devices are switches (leaf) unless the file says that they
 * are hosts. What a cable lacks comes from the options; without them the fabric is refused with the number of cables.
 */
#pragma once

#include "fabric/topology_format.h"

typedef struct Cabling Cabling;

Cabling *cabling_new(void);
void cabling_free(Cabling *cabling); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Cabling, cabling_free)

/* A device, or what kind a known one is. */
void cabling_device(Cabling *cabling, const char *name, NodeKind kind);
/* Ends that are no devices yet become switches. rate_Bps: 0 = not said. Ports "" = not said: never the same cable. */
void cabling_cable(Cabling *cabling, const char *device_a, const char *port_a, const char *device_b, const char *port_b,
                   double rate_Bps);

/* A sealed fabric, and the notes where somebody wants them; NULL with an INPUT error. */
Fabric *cabling_build(const Cabling *cabling, const char *path, const TopologyOptions *options, char **notes,
                      GError **error);
