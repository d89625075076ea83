/* simgrid_platform.h - SimGrid's platform XML: what its parts share while it is read
 *
 * A link of SimGrid is a capacity that routes name in a list, not an edge between two points. SPLITDUPLEX is our cable.
 * SHARED (one capacity for both directions, and for every route that names it) becomes one directed link between two
 * switches of its own, "ID/in" and "ID/out", which is entered and left over joints: links of no latency and of the
 * highest rate there is. */
#pragma once

#include "base/xml_tree.h"
#include "fabric/topology_format.h"

/* Private to simgrid_*.c. */

typedef enum { SG_SHARED, SG_SPLITDUPLEX, SG_FATPIPE } SgSharing;

typedef struct {
    double rate_Bps;
    SimTime latency_ps;
    SgSharing sharing;
} SgCapacity;

/* What is told once, with its count. */
typedef enum {
    SG_BARE,     /* numbers without a unit */
    SG_FAT,      /* FATPIPE */
    SG_CORES,    /* hosts of several cores */
    SG_BYPASS,   /* bypassRoute, bypassZoneRoute */
    SG_PROFILES, /* profiles, states */
    SG_PARTS,    /* disks, loopbacks, limiters */
    SG_TREES,    /* clusters whose routing is theirs */
    SG_ACTORS,
    SG_NOTES
} SgNote;

typedef struct {
    const XmlTree *tree;
    const TopologyOptions *options;
    Fabric *fabric;
    GHashTable *points; /* name -> SgPoint */
    GHashTable *links;  /* id -> SgLink */
    GPtrArray *routes;  /* of SgRoute */
    GPtrArray *order;   /* of SgPoint, as they come */
    GHashTable *joints; /* of gint64: from and to */
    guint notes[SG_NOTES];
    uint32_t n_hosts;
} SgReader;

/* A host or router. */
typedef struct {
    char *name;
    uint32_t node; /* where links are joined: the host itself, or the switch before a host that passes on */
    gboolean host;
    const char *partner; /* of the first of its routes, in a zone that searches its ways */
    gboolean passes;     /* it is a gateway, or on the way */
} SgPoint;

enum { SG_HOSTS_MOST = 1 << 20 };

/* "PATH:LINE: TAG: " and the message; FALSE where reading stops. */
gboolean sg_wrong(const SgReader *reader, const XmlElement *element, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* Quantities as SimGrid writes them: "1.25GBps", "10Gbps", "50us", "100Mf"; a bare number is bytes a second, seconds or
 * operations a second, and counted in notes. An error without a place. */
gboolean sg_parse_rate(SgReader *reader, const char *text, double *rate_Bps, GError **error);
gboolean sg_parse_time(SgReader *reader, const char *text, SimTime *time_ps, GError **error);
gboolean sg_parse_speed(SgReader *reader, const char *text, double *speed_FLOPps, GError **error);
/* SHARED ...; NULL takes the default. FALSE where it is of a kind we have not. */
gboolean sg_parse_sharing(const char *text, SgSharing otherwise, SgSharing *sharing);

/* A host is a point as well. INDEX_NONE with an error without a place. */
uint32_t sg_add_host(SgReader *reader, const char *name, const char *zone, double speed_FLOPps, GError **error);
uint32_t sg_add_switch(SgReader *reader, const char *name, const char *zone, NodeKind kind, GError **error);
void sg_add_point(SgReader *reader, const char *name, uint32_t node, gboolean host);
/* From node a into `in`, and from `out` to it: of this capacity, called name where it needs switches of its own. */
gboolean sg_attach(SgReader *reader, uint32_t a, uint32_t in, uint32_t out, const SgCapacity *capacity,
                   const char *name, GError **error);
/* Once, however often it is asked for. */
gboolean sg_joint(SgReader *reader, uint32_t from, uint32_t to, GError **error);
/* Two switches and the link between them. */
gboolean sg_add_resource(SgReader *reader, const char *name, const SgCapacity *capacity, uint32_t *in, uint32_t *out,
                         GError **error);

/* A whole <cluster>. FALSE with an error of its content, without a place. */
gboolean sg_cluster(SgReader *reader, const XmlElement *element, GError **error);
