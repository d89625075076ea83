/* topology_format.h - the table of formats a fabric is read from, each known by its content
 *
 * A format is one reader and one line in the table. */
#pragma once

#include "fabric/fabric.h"

typedef struct {
    const char *name, *help;
    /* TRUE where a file that begins with these bytes (length of them, then a zero) is of this format. */
    gboolean (*recognise)(const char *head, size_t length);
    /* As graphml_read. */
    Fabric *(*read)(const char *path, char **notes, GError **error);
} TopologyFormat;

/* The table, in the order in which formats are tried. */
const TopologyFormat *topology_formats(size_t *n_formats);

/* Reads path in this format, NULL = the one its content shows. A sealed fabric, or NULL with an error: an
 * unknown format with the known ones listed. notes: what was ignored or set by default, one a line (NULL
 * where nobody asks); the caller frees it. */
Fabric *topology_read(const char *path, const char *format, char **notes, GError **error);
