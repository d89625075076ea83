#include "cli/collective_as.h"

#include "base/error.h"
#include "base/units.h"
#include "cli/table.h"
#include "collective/astra_time.h"

#include <stdio.h>
#include <string.h>

/* SimAI's analytical mode: bytes x nccl-tests' factor / bus bandwidth, no latency. */
static gboolean
as_simai(const CollectiveAs *as, CollectiveKind kind, const GArray *sizes, GError **error)
{
    guint64 ranks;
    double rate;
    if (as->network != NULL || as->system != NULL || as->back_end != NULL)
        return error_input(error, "--as simai knows no network: give --ranks N and --busbw RATE only");
    if (as->busbw == NULL)
        return error_input(error, "--as simai needs the bus bandwidth: give --busbw, such as --busbw '360 GiB/s'");
    if (as->ranks == NULL || !g_ascii_string_to_unsigned(as->ranks, 10, 1, 1 << 24, &ranks, NULL))
        return error_input(error, "--as simai needs the number of ranks: give --ranks, such as --ranks 8");
    if (!units_parse_rate(as->busbw, &rate, error)) {
        g_prefix_error(error, "--busbw: ");
        return FALSE;
    }
    if (rate <= 0)
        return error_input(error, "--busbw is 0; above 0 expected");
    g_autoptr(Table) table = table_new(">size(B)|>time(us)");
    for (guint i = 0; i < sizes->len; i++) {
        uint64_t bytes = g_array_index(sizes, uint64_t, i);
        double factor = collective_bus_factor(kind, (uint32_t)ranks);
        table_add(table, "%" G_GUINT64_FORMAT, bytes);
        table_add(table, "%.3f", (double)bytes * factor / rate * 1e6);
    }
    printf("# %s of %" G_GUINT64_FORMAT " ranks as SimAI's analytical mode reckons it\n", collective_kind_name(kind),
           ranks);
    table_print(table, stdout);
    return TRUE;
}

gboolean
collective_as(const CollectiveAs *as, CollectiveKind kind, const GArray *sizes, GError **error)
{
    if (strcmp(as->as, "simai") == 0)
        return as_simai(as, kind, sizes, error);
    if (strcmp(as->as, "astra-sim") != 0)
        return error_input(error, "--as \"%s\" is not known; known are: astra-sim, simai", as->as);
    if (as->network == NULL)
        return error_input(error, "--as astra-sim needs its network.yml: give --fabric FILE.yml");
    if (as->ranks != NULL || as->busbw != NULL)
        return error_input(error, "--%s means nothing to astra-sim: its network says it",
                           as->ranks ? "ranks" : "busbw");
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
