/* fuzz-htsim-topo.c - any bytes as a .topo file: a fabric in one piece whose hosts reach each other, or an error */
#include "config.h"

#include "fabric/graph_check.h"
#include "fabric/topology_format.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    g_autofree char *notes = NULL;
    g_autofree char *head = g_strndup((const char *)data, size);
    topology_htsim.recognise(head, size);
    g_autoptr(Fabric) fabric = topology_htsim.read(fuzz_file(data, size), &topology_options_default, &notes, &error);
    fuzz_check(fabric != NULL, error);
    if (fabric == NULL || fabric_n_links(fabric) > 100000)
        return 0;
    error = NULL;
    g_autoptr(GraphCheck) check = graph_check_new(fabric, NULL);
    if (!graph_check_connected(check, &error))
        abort();
    return 0;
}
