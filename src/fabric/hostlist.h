/* hostlist.h - Slurm's short form of many names: "node[01-04,07],gpu3", "r[1-2]n[1-8]" */
#pragma once

#include <glib.h>

/* Appends each name of text to names (of char *), in the order written; at most most of them in all. FALSE with an
 * INPUT error that quotes what is wrong, without a place. */
gboolean hostlist_expand(const char *text, guint most, GPtrArray *names, GError **error);

/* The short form of names, whose order is kept: runs of numbers at the ends of names become ranges. The caller frees.
 */
char *hostlist_compress(const GPtrArray *names);
