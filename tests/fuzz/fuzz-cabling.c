/* fuzz-cabling.c - any bytes as each of the lists of cables: a fabric, or an error */
#include "config.h"

#include "fabric/topology_format.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const TopologyOptions options = {.default_rate_Bps = 1e9, .default_latency_ps = 1000, .detour = 1};
    const TopologyFormat *const formats[] = {&topology_batfish, &topology_containerlab, &topology_lldp,
                                             &topology_netq,    &topology_sonic_links,  &topology_sonic_minigraph};
    g_autofree char *head = g_strndup((const char *)data, size);
    const char *path = fuzz_file(data, size);
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        formats[i]->recognise(head, size);
        GError *error = NULL;
        g_autoptr(Fabric) fabric = formats[i]->read(path, &options, NULL, &error);
        fuzz_check(fabric != NULL, error);
    }
    return 0;
}
