/* fuzz-astra-topology.c - any bytes as a network.yml: a fabric, or an error; then with all problems asked for */
#include "config.h"

#include "fabric/astra_network.h"
#include "fabric/topology_format.h"
#include "fuzz.h"

#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *head = g_strndup((const char *)data, size);
    topology_astra.recognise(head, strlen(head));
    GError *error = NULL;
    const char *path = fuzz_file(data, size);
    g_autoptr(AstraNetwork) network = astra_network_read(path, NULL, &error);
    fuzz_check(network != NULL, error);
    error = NULL;
    TopologyOptions options = topology_options_default;
    options.problems = g_ptr_array_new_with_free_func(g_free);
    if (network == NULL || network->n_npus <= 4096) { /* a million ranks are slow, not wrong */
        g_autoptr(Fabric) fabric = topology_astra.read(path, &options, NULL, &error);
        fuzz_check(fabric != NULL, error);
    }
    g_ptr_array_unref(options.problems);
    return 0;
}
