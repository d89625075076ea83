/* scenario.h - a scenario file as plain, checked structs (DEFINITIONS 8)
 *
 * Reading checks all that can be checked without opening the files it names: keys, units, ranges, references between
 * parts. File names are resolved relative to the scenario file. */
#pragma once

#include "base/yaml_tree.h"
#include "cluster/placement.h"
#include "cluster/queue.h"
#include "collective/collective.h"
#include "fabric/generate.h"
#include "fabric/route.h"
#include "fabric/topology_format.h"
#include "scenario/training.h"
#include "workload/trace_format.h"

/* The groups of a job that is not like the others on contended links. */
typedef struct {
    char *group;
    double weight;
    size_t line, column;
} GroupWeight;

typedef struct {
    char *name;
    char **trace;            /* patterns, resolved; NULL where a program is given */
    char **execution_trace;  /* NULL = none */
    char *groups;            /* NULL = none */
    uint32_t model_parallel; /* ranks of a model-parallel group, for layer tables; 0 = not given */
    TraceRankIs rank_is;     /* of a GOAL schedule */
    uint32_t replicate;      /* ranks that do what the one trace says; 0 = not asked for */
    char *sizes;             /* bytes of calls, for Nsight Systems; NULL = none */
    char *dimensions;        /* of the network that a Chakra trace was made for, "8x4"; NULL = none */
    char *program;           /* NULL where traces are given */
    TrainingSpec training;   /* its model is NULL where one of these is given */
    char *format;            /* NULL = recognised */
    uint32_t gpus;           /* 0 = as many as the workload has ranks */
    PlacementSpec placement;
    uint32_t iterations; /* 0 where until is given */
    uint32_t until;      /* job index, INDEX_NONE */
    uint32_t warmup;
    SimTime arrival_ps;
    SimTime estimate_ps; /* how long it will run, as its owner says; 0 = not said */
    int32_t priority;
    SimTime shift_ps;
    gboolean start_together; /* start: together; else recorded */
    double scale_bytes, compute_scale;
    double peak_FLOPps, memory_bandwidth_Bps; /* of the job's roofline; 0 = those of the GPU it runs on */
    CollectiveConfig collectives;             /* the scenario's, with the job's own on top */
    GArray *weights;                          /* of GroupWeight: shares of contended links by group; NULL = all alike */
    size_t line, column;                      /* where it stands, for later errors */
} JobSpec;

typedef struct {
    SimTime at_ps;
    char *from, *to; /* node names */
    uint32_t cable;  /* which of several parallel links, in index order */
    gboolean both;   /* both directions, default true */
    double rate_Bps; /* 0 = dead */
    size_t line, column;
} FaultSpec;

/* How jobs wait for GPUs; policy NULL: they do not, each has its own for the whole run. */
typedef struct {
    const QueuePolicy *policy;
    SimTime launch_ps, restart_ps, quantum_ps;
} QueueSpec;

typedef enum { RECORD_SUMMARY, RECORD_ITERATIONS, RECORD_COLLECTIVES, RECORD_FLOWS, RECORD_PACKETS } RecordLevel;
typedef enum { MEASURE_DEFAULT, MEASURE_COMMON, MEASURE_OWN } Measure;

typedef struct {
    YamlTree *tree; /* kept for later errors and for storing */
    char *name;
    uint64_t seed;
    char *fabric_file;              /* NULL where generated */
    char *fabric_format;            /* NULL = by content */
    TopologyOptions fabric_options; /* of a file that leaves things open */
    char **fabric_companions;       /* of these options; NULL = none */
    GenerateSpec *generate;         /* NULL where read from a file */
    char *model;                    /* fluid */
    RoutingPolicy routing;
    double payload_fraction;
    PathLimit limits[PATH_LEVELS]; /* network.limits; a level not given has those of the one before */
    LogGops loggops;
    SimTime reroute_delay_ps; /* of fluid; the packet model's is in packet */
    PacketConfig packet;      /* network.packet and network.transport */
    GPtrArray *pinned;        /* of char **: node names along a path; network.pinned */
    CollectiveConfig collectives;
    Measure measure; /* DEFAULT is resolved: common when all jobs arrive at 0, else own */
    QueueSpec queue;
    JobSpec *jobs;
    uint32_t n_jobs;
    gboolean baseline;
    gboolean memo; /* skip over iterations that recur exactly */
    RecordLevel record;
    SimTime bucket_ps;
    gboolean collisions; /* record.collisions, default true */
    FaultSpec *faults;
    uint32_t n_faults;
} Scenario;

/* sets: assignments of --set, NULL-terminated, or NULL. A model given by --model is a set of network.model. NULL with
 * an INPUT error "FILE:LINE:COLUMN: PATH: ...". */
Scenario *scenario_read(const char *path, const char *const *sets, GError **error);
void scenario_free(Scenario *scenario); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Scenario, scenario_free)

/* The fabric the scenario names: read or generated, sealed and connected. */
Fabric *scenario_fabric(const Scenario *scenario, GError **error);
/* The fabric of a file that is a whole scenario or only its `fabric:` key (the settings in topologies/), with sets as
 * in scenario_read: read or generated, sealed. For the topology command. */
Fabric *scenario_fabric_file(const char *path, const char *const *sets, GError **error);
