/* mpi_program.h - MPI calls of all ranks, in the order each made them, become programs in the DAG form
 *
 * Shared by the readers of MPI traces. A blocking call waits for all before it, and all after it wait for it; a request
 * begins when the calls before it have ended, and holds up only who waits for it. What is no collective of ours becomes
 * what carries the same bytes: gather, scatter and their uneven forms an uneven all-to-all, an uneven all-gather
 * likewise (each member to every other), a scan a chain of messages from rank to rank. A message to oneself takes no
 * time. */
#pragma once

#include "workload/program.h"

typedef struct MpiWorld MpiWorld; /* the workload in the making, with a group "world" of all ranks */
typedef struct MpiRank MpiRank;   /* owned by its world */

enum { MPI_WORLD = 0 };        /* the group of all ranks */
#define MPI_TAG_MOST INT32_MAX /* the tags above are ours */
#define MPI_ANYONE INDEX_NONE  /* a receive's peer */

MpiWorld *mpi_world_new(uint32_t n_ranks);
void mpi_world_free(MpiWorld *world); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MpiWorld, mpi_world_free)
Workload *mpi_world_workload(const MpiWorld *world); /* owned by world */
MpiRank *mpi_world_rank(const MpiWorld *world, uint32_t rank);
/* Takes the workload out and checks it; path begins what is said of it. Problems go into problems (of char *) where
 * that is given. NULL with an INPUT error. */
Workload *mpi_world_finish(MpiWorld *world, const char *path, GPtrArray *problems, GError **error);

/* Below, name is what the op is called: the call's name in the trace. */

/* Operations; none adds nothing. */
void mpi_compute(MpiRank *mpi, double flops, const char *name);
/* Recorded time, on the processor or (host) spent asleep; none adds nothing. */
void mpi_time(MpiRank *mpi, SimTime duration_ps, gboolean host, const char *name);

/* Begins a message; the request, for mpi_wait. */
uint32_t mpi_send(MpiRank *mpi, uint32_t peer, uint32_t tag, uint64_t bytes, const char *name);
uint32_t mpi_recv(MpiRank *mpi, uint32_t peer, uint32_t tag, uint64_t bytes, const char *name);
/* What a receive is, where it was told only when it ended. */
void mpi_settle(MpiRank *mpi, uint32_t request, uint32_t peer, uint32_t tag, uint64_t bytes);
/* The request came to nothing. */
void mpi_cancel(MpiRank *mpi, uint32_t request);
/* What comes after waits for this request. */
void mpi_wait(MpiRank *mpi, uint32_t request);
/* The same of the last request begun, of a call that blocks: it began after all that the next call would wait for. */
void mpi_block(MpiRank *mpi, uint32_t request);

/* A collective of a kind of ours; bytes: S of DEFINITIONS 4; root: a member. */
void mpi_collective(MpiRank *mpi, CollectiveKind kind, uint32_t group, uint64_t bytes, uint32_t root, const char *name);
/* This member sends parts[m] bytes to each member m. FALSE where they sum to more than 64 bits hold. */
gboolean mpi_spread(MpiRank *mpi, uint32_t group, const uint64_t *parts, const char *name);
/* This member sends bytes to the root. */
void mpi_gather(MpiRank *mpi, uint32_t group, uint64_t bytes, uint32_t root, const char *name);
/* Where this member is the root it sends parts[m] bytes to each member m; parts of others are not looked at. */
gboolean mpi_scatter(MpiRank *mpi, uint32_t group, const uint64_t *parts, uint32_t root, const char *name);
/* Each member m gives parts[m] bytes to all; an all-gather where all are equal. FALSE as mpi_spread. */
gboolean mpi_all_gather(MpiRank *mpi, uint32_t group, const uint64_t *parts, const char *name);
/* From the rank before, these operations, to the rank after. */
void mpi_scan(MpiRank *mpi, uint64_t bytes, double flops, const char *name);
