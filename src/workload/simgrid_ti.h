/* simgrid_ti.h - SimGrid's time-independent traces: what the lines of one trace share while they are read */
#pragma once

#include "base/field_lines.h"
#include "workload/mpi_program.h"

/* A request that nobody has waited for. */
typedef struct {
    uint32_t src, dst, tag; /* as wait names it */
    uint32_t op;
} TiRequest;

typedef struct {
    uint32_t unit;    /* bytes of an element where a line names no datatype: a byte, or (init 1) a double */
    GArray *requests; /* of TiRequest, oldest first */
    uint64_t lines;
} TiRank;

/* What is told once. */
typedef struct {
    uint64_t foreign;       /* lines of other ranks in a rank's file */
    uint64_t communicators; /* comm_split and comm_dup */
    uint64_t spread;        /* collectives that became an uneven all-to-all */
    uint64_t scans;
    uint64_t uneven; /* reducescatter */
    double flops;
} TiSeen;

typedef struct {
    MpiWorld *world;
    TiRank *ranks;
    uint32_t n_ranks;
    TiSeen seen;
} Ti;

/* Adds what the present line says, "RANK ACTION ARGUMENTS", to this rank's program. FALSE with an error of that line.
 */
gboolean ti_line(Ti *ti, uint32_t rank, FieldLines *lines, GError **error);
gboolean ti_knows(const char *action, size_t length);
