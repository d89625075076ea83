/* fuzz-iblinkinfo.c - any bytes as a listing of iblinkinfo: a fabric, or an error; all problems, or none */
#include "config.h"

#include "fabric/topology_format.h"
#include "fuzz.h"

#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *head = g_strndup((const char *)data, size);
    topology_iblinkinfo.recognise(head, strlen(head));
    for (int round = 0; round < 2; round++) {
        g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
        const TopologyOptions options = {
            .default_rate_Bps = 1e9, .default_latency_ps = 1000, .detour = 1, .problems = round == 0 ? NULL : problems};
        GError *error = NULL;
        g_autoptr(Fabric) fabric = topology_iblinkinfo.read(fuzz_file(data, size), &options, NULL, &error);
        fuzz_check(fabric != NULL, error);
    }
    return 0;
}
