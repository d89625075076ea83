/* fuzz-msccl.c - any bytes as an MSCCL algorithm: one whose steps all have an order, or an error; collecting problems
 * comes to the same */
#include "config.h"

#include "collective/msccl.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    const char *path = fuzz_file(data, size);
    g_autoptr(Msccl) msccl = msccl_read(path, &error);
    fuzz_check(msccl != NULL, error);
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    error = NULL;
    gboolean good = msccl_check(path, problems, &error);
    fuzz_check(good, error);
    if (good != (msccl != NULL))
        abort();
    if (msccl != NULL && msccl->order->len != msccl->steps->len)
        abort();
    return 0;
}
