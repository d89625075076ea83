/* fuzz-astra-system.c - any bytes as a system.json: values, or an error; and a time where the forms hold */
#include "config.h"

#include "collective/astra_time.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    g_autoptr(AstraSystem) system = astra_system_read(fuzz_file(data, size), &error);
    fuzz_check(system != NULL, error);
    if (system == NULL)
        return 0;
    AstraDimension dimension = {.shape = ASTRA_SWITCH, .npus = 8, .bandwidth_GiBps = 50, .latency_ns = 500};
    g_autoptr(AstraNetwork) network = g_new0(AstraNetwork, 1);
    network->dimensions = g_array_new(FALSE, TRUE, sizeof(AstraDimension));
    g_array_append_val(network->dimensions, dimension);
    network->n_npus = 8;
    uint64_t time;
    error = NULL;
    gboolean good = astra_time(network, system, ASTRA_AWARE, COLLECTIVE_ALL_REDUCE, 1 << 20, &time, &error);
    fuzz_check(good, error);
    return 0;
}
