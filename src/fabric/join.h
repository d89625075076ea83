/* join.h - fabrics put together: the inside of every host, and links between several sites
 *
 * - Inside: each host is replaced by a copy of a server's GPUs, NVSwitches and PCIe switches, named HOST/gpu0 and so
 * on. A NIC of the host takes the place of the server's NIC of its rail, where each of them has one and all differ,
 * else in the order of rails; where the host has cables instead of NICs, they go to the server's NICs in order. NICs of
 * the server that no host's NIC stands for are left out.
 * - Sites: the nodes of each get its name in front, NAME/node, and NAME as their building or region (before one they
 *   have: NAME-building). Each two sites have wan->links cables, cable i between top switch i modulo their number of
 *   either: of their kind that is highest (dci, core, spine, leaf). */
#pragma once

#include "fabric/fabric.h"

typedef struct {
    const Fabric *fabric;
    const Fabric *inside; /* one server; NULL = hosts stay as they are */
    const char *name;     /* "" = no prefix and no place of its own */
} JoinSite;

typedef struct {
    uint32_t links; /* between each two sites */
    double rate_Bps;
    double length_km; /* NAN = not known */
    SimTime latency_ps;
    gboolean is_region; /* sites are regions, else buildings */
} JoinWan;

/* A sealed fabric, or NULL with an INPUT error: no host to fill, more NICs than the inside has, no switch for the WAN,
 * names that clash, different ways of forwarding. wan may be NULL for one site. notes: one a line, the caller frees. */
Fabric *fabric_join(const JoinSite *sites, uint32_t n_sites, const JoinWan *wan, char **notes, GError **error);
