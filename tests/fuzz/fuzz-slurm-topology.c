/* fuzz-slurm-topology.c - any bytes as a topology.conf: a fabric that can be written back, or an error */
#include "config.h"

#include "fabric/topology_format.h"
#include "fabric/topology_writer.h"
#include "fuzz.h"

#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const TopologyOptions options = {.default_rate_Bps = 1e9, .default_latency_ps = 1000, .detour = 1};
    g_autofree char *head = g_strndup((const char *)data, size);
    topology_slurm.recognise(head, strlen(head));
    GError *error = NULL;
    if (memmem(data, size, "00000", 5) != NULL || memmem(data, size, "99999", 5) != NULL)
        return 0; /* a hundred thousand names are slow, not wrong */
    g_autoptr(Fabric) fabric = topology_slurm.read(fuzz_file(data, size), &options, NULL, &error);
    fuzz_check(fabric != NULL, error);
    return 0;
}
