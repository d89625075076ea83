#include "cli/collective_as.h"

#include "base/error.h"
#include "cli/table.h"
#include "collective/astra_time.h"

#include <stdio.h>
#include <string.h>

gboolean
collective_as(const CollectiveAs *as, CollectiveKind kind, const GArray *sizes, GError **error)
{
    if (strcmp(as->as, "astra-sim") != 0)
        return error_input(error, "--as \"%s\" is not known; known is: astra-sim", as->as);
    gboolean aware = g_strcmp0(as->back_end, "aware") == 0;
    if (as->back_end != NULL && !aware && strcmp(as->back_end, "unaware") != 0)
        return error_input(error, "--back-end \"%s\" is not known; known are: aware, unaware (of congestion)",
                           as->back_end);
    if (as->system == NULL)
        return error_input(error, "--as astra-sim needs its system file: give --system FILE.json");
    g_autoptr(AstraNetwork) network = astra_network_read(as->network, NULL, error);
    g_autoptr(AstraSystem) system = network != NULL ? astra_system_read(as->system, error) : NULL;
    if (system == NULL)
        return FALSE;
    g_autoptr(Table) table = table_new(">size(B)|>time(ns)");
    for (guint i = 0; i < sizes->len; i++) {
        uint64_t bytes = g_array_index(sizes, uint64_t, i), time;
        if (!astra_time(network, system, aware ? ASTRA_AWARE : ASTRA_UNAWARE, kind, bytes, &time, error))
            return FALSE;
        table_add(table, "%" G_GUINT64_FORMAT, bytes);
        table_add(table, "%" G_GUINT64_FORMAT, time);
    }
    printf("# %s of %u ranks as ASTRA-sim's congestion-%s back end reckons it\n", collective_kind_name(kind),
           network->n_npus, aware ? "aware" : "unaware");
    table_print(table, stdout);
    return TRUE;
}
