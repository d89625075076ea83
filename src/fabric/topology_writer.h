/* topology_writer.h - the table of formats a fabric is written in
 *
 * A format is one file and one line in topology_writer.c. What the target cannot hold is put into words. */
#pragma once

#include "fabric/fabric.h"

typedef struct {
    const char *name, *help;
    /* Writes a sealed fabric; the file appears whole or not at all. Appends to notes (of char *) what the format cannot
     * hold, once a kind, with a count. */
    gboolean (*write)(const Fabric *fabric, const char *path, GPtrArray *notes, GError **error);
} TopologyWriter;

extern const TopologyWriter topology_writer_graphml, topology_writer_slurm;

/* NULL-terminated. */
const TopologyWriter *const *topology_writers(void);
/* By name, or NULL with an INPUT error naming the nearest. */
const TopologyWriter *topology_writer_find(const char *name, GError **error);
