/* topology_format.h - the table of formats a fabric is read from, each known by its content
 *
 * A format is one reader and one line in the table. */
#pragma once

#include "fabric/fabric.h"

/* What a file may leave open. A reader that needs one of them and has none refuses the file, naming the option; what it
 * took from here is marked in the links' source ("default"). */
typedef struct {
    double default_rate_Bps;       /* of links whose rate is not said; 0 = not given */
    double nvlink_rate_Bps;        /* of one NVLink in one direction, where the file only counts them; 0 = not given */
    SimTime default_latency_ps;    /* of links whose latency or length is not said; -1 = not given */
    uint32_t hosts;                /* of each place of a wide-area file, so that ranks can be put there */
    double detour;                 /* length of a fibre / distance of its ends, for places on a map; 1 = straight */
    const char *const *companions; /* further files that belong to this one, NULL-terminated; NULL = none */
    GPtrArray *problems; /* of char *: a reader that can goes on after a problem and puts all here; NULL = stop */
} TopologyOptions;

/* Nothing given. */
extern const TopologyOptions topology_options_default;

typedef struct {
    const char *name, *help;
    /* TRUE where a file that begins with these bytes (length of them, then a zero) is of this format. */
    gboolean (*recognise)(const char *head, size_t length);
    /* As graphml_read. options is never NULL. */
    Fabric *(*read)(const char *path, const TopologyOptions *options, char **notes, GError **error);
} TopologyFormat;

/* Each in the file of its reader. */
extern const TopologyFormat topology_graphml, topology_htsim, topology_simgrid, topology_slurm;
extern const TopologyFormat topology_astra, topology_ns3;
extern const TopologyFormat topology_ibnetdiscover, topology_iblinkinfo, topology_nccl, topology_nvidia_smi;
extern const TopologyFormat topology_batfish, topology_containerlab, topology_lldp;
extern const TopologyFormat topology_sonic_links, topology_sonic_minigraph;
extern const TopologyFormat topology_zoo, topology_sndlib, topology_rtt;
extern const TopologyFormat topology_gml, topology_latency_tables, topology_netq, topology_node_link;

/* The table, in the order in which formats are tried. */
const TopologyFormat *const *topology_formats(size_t *n_formats);
/* By name, or NULL with an INPUT error naming the nearest. */
const TopologyFormat *topology_format_find(const char *name, GError **error);

/* Does the content of the file show one of them? */
gboolean topology_known(const char *path);

/* Reads path in this format, NULL = the one its content shows. options may be NULL: nothing given. A sealed fabric, or
 * NULL with an error: an unknown format with the known ones listed. notes: what was ignored or set by default, one a
 * line (NULL where nobody asks); the caller frees it. */
Fabric *topology_read(const char *path, const char *format, const TopologyOptions *options, char **notes,
                      GError **error);

/* Problems collected so far; 0 where they stop the reader. */
guint topology_n_problems(const TopologyOptions *options);
/* For readers: "PATH:LINE: " and the message as an INPUT error, FALSE; where problems are collected, into that list,
 * and TRUE: reading goes on, unless there are too many of them. */
gboolean topology_problem(const TopologyOptions *options, const char *path, size_t line, GError **error,
                          const char *format, ...) G_GNUC_PRINTF(5, 6);
/* The same of an error that is there already, which it takes. */
gboolean topology_go_on(const TopologyOptions *options, GError *wrong, GError **error);
/* FALSE, with an INPUT error that counts them, where problems were collected since there were so many before. */
gboolean topology_sound(const TopologyOptions *options, guint before, const char *path, GError **error);
