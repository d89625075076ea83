/* fuzz-ns3-topology.c - any bytes as a topology of ns-3: a fabric, or an error */
#include "config.h"

#include "fabric/topology_format.h"
#include "fuzz.h"

#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *head = g_strndup((const char *)data, size);
    topology_ns3.recognise(head, strlen(head));
    char *end;
    if (strtoull(head, &end, 10) > 10000)
        return 0; /* a million nodes are slow, not wrong */
    GError *error = NULL;
    g_autoptr(Fabric) fabric = topology_ns3.read(fuzz_file(data, size), &topology_options_default, NULL, &error);
    fuzz_check(fabric != NULL, error);
    return 0;
}
