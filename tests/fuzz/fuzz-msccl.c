/* fuzz-msccl.c - any bytes as an MSCCL algorithm: one whose steps all have an order, or an error */
#include "config.h"

#include "collective/msccl.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    g_autoptr(Msccl) msccl = msccl_read(fuzz_file(data, size), &error);
    fuzz_check(msccl != NULL, error);
    if (msccl != NULL && msccl->order->len != msccl->steps->len)
        abort();
    return 0;
}
