/* ib_network.h - an InfiniBand network as its tools list it, port by port, made into a fabric
 *
 * What ibnetdiscover, ibsim and iblinkinfo have in common: devices, each with ports that name the port at the other
 * end. A cable stands there twice, once an end. In the fabric
 * - a switch next to a host's CA is a leaf, one next to a leaf a spine, all others are cores;
 * - a CA is a NIC; CAs of one host name are NICs of one host, those without a host name are a host each (CAs of one
 *   system GUID share one); where two CAs of one name are the same device, several hosts share the name, and so do as
 *   if it were none; SHARP aggregation nodes are NICs without a host;
 * - switches of one system GUID (a director) name it as their rack;
 * - a host has a PCIe cable to each of its NICs, as fast as the NIC's ports together: a default, not of the file. */
#pragma once

#include "fabric/topology_format.h"

typedef enum { IB_SWITCH, IB_CA } IbKind;

typedef struct {
    const char *id;          /* unique */
    const char *description; /* "" = none */
    const char *system;      /* system image GUID; "" = not known */
    IbKind kind;
    uint32_t n_ports; /* 0 = not said */
    size_t line;
} IbDevice;

typedef struct {
    uint32_t device, port;
    const char *peer; /* id of a device, perhaps of one that comes later */
    uint32_t peer_port;
    const char *peer_description; /* of a device that never comes */
    double rate_Bps;              /* 0 = not said */
    size_t line;
} IbPort;

typedef struct IbNetwork IbNetwork;

/* path and options must outlive it. */
IbNetwork *ib_network_new(const char *path, const TopologyOptions *options);
void ib_network_free(IbNetwork *network); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(IbNetwork, ib_network_free)

/* Copies the device; its number, INDEX_NONE where its id is there already. FALSE with an error, unless problems are
 * collected. */
gboolean ib_network_add_device(IbNetwork *network, const IbDevice *device, uint32_t *number, GError **error);
/* Copies the port. As above for a port that is there already, or beyond n_ports. */
gboolean ib_network_add_port(IbNetwork *network, const IbPort *port, GError **error);

/* "4xNDR" in B/s: the lanes times the nominal rate of a lane. 0 where the word is none of these. */
double ib_rate_Bps(const char *word);

/* The sealed fabric, as a reader of TopologyFormat. Call once. */
Fabric *ib_network_finish(IbNetwork *network, char **notes, GError **error);
