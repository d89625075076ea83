/* trace_writer.h - the table of formats a workload is written in
 *
 * A format is one file and one line in trace_writer.c. What the target cannot hold is put into words, not dropped in
 * silence. */
#pragma once

#include "workload/program.h"

typedef struct {
    const char *name, *help;
    /* Writes a checked workload to path: a file, or (per_rank) one file a rank, path's "%d" or "*" being the rank; it
     * appears whole or not at all. Appends to notes (of char *) what the format cannot hold, once a kind, with a count.
     */
    gboolean (*write)(const Workload *workload, const char *path, GPtrArray *notes, GError **error);
    gboolean per_rank;
} TraceWriter;

extern const TraceWriter writer_chakra, writer_goal, writer_program;

/* NULL-terminated. */
const TraceWriter *const *trace_writers(void);
/* By name, or NULL with an INPUT error naming the nearest. */
const TraceWriter *trace_writer_find(const char *name, GError **error);
