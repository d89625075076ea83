/* fuzz-wan.c - any bytes as each of the wide-area formats: a fabric, or an error */
#include "config.h"

#include "fabric/topology_format.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const TopologyOptions options = {
        .default_rate_Bps = 1e9, .default_latency_ps = 1000, .detour = 1, .hosts = size % 2};
    const TopologyFormat *const formats[] = {&topology_zoo, &topology_sndlib,         &topology_rtt,
                                             &topology_gml, &topology_latency_tables, &topology_node_link};
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
