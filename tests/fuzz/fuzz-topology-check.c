/* fuzz-topology-check.c - any bytes as every topology format, stopping at the first problem and collecting them all:
 * both agree on whether there is a fabric, and every problem names the file */
#include "config.h"

#include "fabric/topology_format.h"
#include "fuzz.h"

static void
check_problems(const GPtrArray *problems, const char *path)
{
    for (guint i = 0; i < problems->len; i++)
        if (!g_str_has_prefix(problems->pdata[i], path))
            abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const TopologyOptions once = {
        .default_rate_Bps = 1e9, .nvlink_rate_Bps = 25e9, .default_latency_ps = 1000, .detour = 1};
    const char *path = fuzz_file(data, size);
    size_t n_formats;
    const TopologyFormat *const *formats = topology_formats(&n_formats);
    for (size_t i = 0; i < n_formats; i++) {
        g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
        TopologyOptions all = once;
        all.problems = problems;
        GError *error = NULL;
        g_autoptr(Fabric) fabric = formats[i]->read(path, &all, NULL, &error);
        fuzz_check(fabric != NULL, error);
        check_problems(problems, path);
        error = NULL;
        g_autoptr(Fabric) same = formats[i]->read(path, &once, NULL, &error);
        fuzz_check(same != NULL, error);
        if ((fabric != NULL) != (same != NULL) || (fabric != NULL && problems->len > 0))
            abort();
    }
    return 0;
}
