/* collective.h - a collective becomes transfers
 *
 * What a collective is (kind, members, bytes), how it is to be done (algorithm, grain, channels, slice), and the
 * run of one on a network. Sizes as NCCL counts them, DEFINITIONS 4. */
#pragma once

#include "network/network.h"

typedef enum {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_TO_ALL, /* uneven where a matrix is given */
    COLLECTIVE_BROADCAST,
    COLLECTIVE_REDUCE,
    COLLECTIVE_BARRIER, /* an all-reduce of 0 bytes: latency only */
    COLLECTIVE_KINDS
} CollectiveKind;

typedef enum { GRAIN_STEPS, GRAIN_BUNDLE } CollectiveGrain;
typedef enum { CHANNELS_EQUAL, CHANNELS_NIC } ChannelWeights;

/* How: from the scenario's `collectives`, one for a job. */
typedef struct {
    CollectiveGrain grain;
    uint32_t channels; /* 0 = NICs per server of the members (1 where they have none) */
    ChannelWeights channel_weights;
    uint64_t slice_B; /* 0 = none: a rank forwards a chunk when it has all of it */
    double reduce_cost_s_per_B;
    gboolean one_by_one; /* steps: send every message, also where the times of a ring could be reckoned; for tests */
    const char *algorithm[COLLECTIVE_KINDS]; /* names in the table of algorithms; NULL = the kind's default */
} CollectiveConfig;

/* steps, 0 channels, equal, 512 KiB, 0, all NULL. */
CollectiveConfig collective_config_default(void);

/* What. The arrays are borrowed and must outlive the run of the collective. */
typedef struct {
    CollectiveKind kind;
    uint32_t n;            /* members */
    const uint32_t *nodes; /* node of member i */
    const uint32_t *ranks; /* its rank in the job: the ECMP key and the books */
    uint64_t bytes;        /* S */
    uint32_t root;         /* member, of broadcast and reduce */
    const uint64_t
        *matrix; /* all-to-allv: bytes from i to j at [i * n + j]; NULL = S / n each (the rest to the last) */
    uint32_t job, iteration, coflow, settings; /* go into its transfers */
    double weight;                             /* so does this; 0 = 1 */
} CollectiveSpec;

/* Runs collectives on a network; one a run. network and engine are borrowed. */
typedef struct CollectiveRunner CollectiveRunner;
/* All of it has been sent and delivered (and reduced): told once, in the engine's order. */
typedef void (*CollectiveDone)(void *owner, uint32_t cookie);

CollectiveRunner *collective_runner_new(Network *network, Engine *engine, CollectiveDone done, void *owner);
void collective_runner_free(CollectiveRunner *runner);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CollectiveRunner, collective_runner_free)

/* Makes a collective whose members have not arrived yet; its handle, valid until done was told; INDEX_NONE
 * with an INPUT error (no route, algorithm not for this kind or n). config is borrowed until done. */
uint32_t collective_open(CollectiveRunner *runner, const CollectiveSpec *spec, const CollectiveConfig *config,
                         uint32_t cookie, GError **error);
/* Member i is ready, now. Its first sends may go at once; a bundle of phases (run_bundles.c, run_pairs.c) goes when all
 * have arrived and counts from each one's own time. Each member once. A failure to send fails the run. */
void collective_arrive(CollectiveRunner *runner, uint32_t handle, uint32_t member);

/* end - ready of this collective alone in an empty fabric, all members ready at once: runs it in a private
 * engine and network of the same routes and model. -1 with an error. */
SimTime collective_alone(const char *model, const NetworkConfig *network, Routes *routes, const char *job_name,
                         const CollectiveSpec *spec, const CollectiveConfig *config, GError **error);

/* Bus bandwidth factor of nccl-tests: busbw = factor x S / time. */
double collective_bus_factor(CollectiveKind kind, uint32_t n);

/* The algorithm that would be used, resolved to a name of the table. */
const char *collective_algorithm(const CollectiveSpec *spec, const CollectiveConfig *config);

/* The table: names NULL-terminated; may kind use it; one line of help. */
const char *const *collective_algorithms(void);
gboolean collective_algorithm_serves(const char *algorithm, CollectiveKind kind);
const char *collective_algorithm_help(const char *algorithm);

/* "msccl:PATH" names an MSCCL file instead. Reads it, for this kind: its name for CollectiveConfig, which lives to the
 * end of the program; NULL with an INPUT error. Collectives of other sizes and numbers of members go the default way.
 */
gboolean collective_algorithm_is_file(const char *name);
const char *collective_algorithm_load(const char *name, CollectiveKind kind, GError **error);

const char *collective_kind_name(CollectiveKind kind); /* "all_reduce", ... */
gboolean collective_kind_parse(const char *text, CollectiveKind *kind);
