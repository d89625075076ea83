/* topology_writer.c - the table of formats a fabric is written in */
#include "fabric/topology_writer.h"

#include "base/error.h"
#include "base/suggest.h"
#include "fabric/graphml.h"

#include <string.h>

static gboolean
write_graphml(const Fabric *fabric, const char *path, GPtrArray *notes, GError **error)
{
    return graphml_write(fabric, path, error);
}

const TopologyWriter topology_writer_graphml = {"graphml", "GraphML, every attribute to the last digit", write_graphml};

/* The table: one line a format. */
/* clang-format off */
static const TopologyWriter *const writers[] = {
    &topology_writer_graphml,
    &topology_writer_slurm,
    NULL,
};
/* clang-format on */

const TopologyWriter *const *
topology_writers(void)
{
    return writers;
}

const TopologyWriter *
topology_writer_find(const char *name, GError **error)
{
    const char *names[G_N_ELEMENTS(writers)] = {NULL};
    size_t n = 0;
    for (; writers[n] != NULL; n++) {
        names[n] = writers[n]->name;
        if (strcmp(name, names[n]) == 0)
            return writers[n];
    }
    g_autofree char *hint = suggest_hint(name, names, n);
    error_input(error, "fabrics are not written as \"%s\"%s; 'trainshed topology --help' lists what is", name, hint);
    return NULL;
}
