/* otf2_events.h - what the reader of OTF2 archives knows while it reads; only where the build has libotf2 */
#pragma once

#include "workload/mpi_program.h"

#include <otf2/otf2.h>

typedef struct {
    OTF2_GroupType type;
    GArray *members; /* of uint64_t */
} OtfGroup;

typedef struct {
    uint64_t group;
    gboolean made;
    uint32_t index; /* of the workload; INDEX_NONE of a communicator of one rank alone */
} OtfComm;

typedef struct {
    uint64_t id;
    uint32_t op;
} OtfRequest;

typedef struct {
    MpiRank *mpi;
    GArray *begun;                     /* of OtfRequest: of sends and receives */
    uint64_t events, first, last, gap; /* first and last are ticks: the start, the end of the last call */
    uint32_t depth;                    /* of regions of MPI */
    gboolean began;
} OtfRank;

typedef struct {
    const char *path;
    GPtrArray *problems;
    GHashTable *texts;          /* id -> char * */
    GHashTable *regions;        /* id of a region of MPI -> its name's id */
    GHashTable *groups, *comms; /* id -> OtfGroup, OtfComm */
    GHashTable *rank_of;        /* location -> rank + 1 */
    GArray *locations;          /* of uint64_t: of ranks */
    GPtrArray *all_locations;   /* of uint64_t * */
    uint64_t ticks_per_s;
    MpiWorld *world;
    OtfRank *ranks;
    uint32_t n_ranks;
    uint64_t spread, uneven, scans, unended, alone; /* told in notes */
    GError *failed;                                 /* what stopped a callback */
} Otf;

/* Sets all that a program needs; the reader's data is an Otf. */
void otf_set_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks);

/* Ticks as picoseconds, rounded down; FALSE where they are out of range. */
gboolean otf_time(const Otf *otf, uint64_t ticks, SimTime *time_ps);
/* Adds what was computed since the last op; FALSE likewise. */
gboolean otf_flush(const Otf *otf, OtfRank *rank);
