/* nsys_export.h - one SQLite export of Nsight Systems, as the events of each of its ranks
 *
 * Nsight Systems writes a table only where it had rows, and its columns differ by version: which are there is asked
 * first. A rank is a device of a process, ordered by device, then process. Times are nanoseconds of the session's
 * clock; base_ns of the files is the session's start. Gzipped exports are unpacked to a temporary file.
 *
 * What came out is a KinetoFile for each rank, so that joining, matching and the program are those of Kineto files.
 * Calls of NCCL are KINETO_COMM events: a call alone, or all between ncclGroupStart and ncclGroupEnd. */
#pragma once

#include "workload/kineto.h"
#include "workload/kineto_file.h"

typedef struct {
    char *path;
    GPtrArray *files;  /* of KinetoFile *, one a rank; rank and world_size are not set */
    GArray *calls;     /* of KinetoCount, by name: NVTX ranges of NCCL's functions */
    GArray *ranges;    /* of KinetoCount, by name: torch's ranges "nccl:NAME" */
    gboolean payloads; /* ranges of NCCL carry binary payloads */
} NsysExport;

/* problems, unless NULL: of char *, gets what is wrong with single rows, which are then left out; else the first is the
 * error. NULL with an INPUT error where the export cannot be read. */
NsysExport *nsys_export_read(const char *path, GPtrArray *problems, GError **error);
void nsys_export_free(NsysExport *nsys); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NsysExport, nsys_export_free)
