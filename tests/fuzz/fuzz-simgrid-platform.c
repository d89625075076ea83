/* fuzz-simgrid-platform.c - any bytes as a platform XML of SimGrid: a fabric, or an error */
#include "config.h"

#include "fabric/topology_format.h"
#include "fuzz.h"

#include <string.h>

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *head = g_strndup((const char *)data, size);
    topology_simgrid.recognise(head, strlen(head));
    if (memmem(data, size, "00000", 5) != NULL || memmem(data, size, "99999", 5) != NULL)
        return 0; /* a hundred thousand hosts are slow, not wrong */
    for (int all = 0; all < 2; all++) {
        GError *error = NULL;
        TopologyOptions options = topology_options_default;
        options.problems = all ? g_ptr_array_new_with_free_func(g_free) : NULL;
        g_autofree char *notes = NULL;
        g_autoptr(Fabric) fabric = topology_simgrid.read(fuzz_file(data, size), &options, &notes, &error);
        fuzz_check(fabric != NULL, error);
        g_clear_pointer(&options.problems, g_ptr_array_unref);
    }
    return 0;
}
