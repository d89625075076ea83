/* fuzz-measured.c - any bytes as a log of measurements: rows, or an error */
#include "config.h"

#include "fuzz.h"
#include "workload/measured.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    GError *error = NULL;
    g_autoptr(Measured) measured = measured_read(fuzz_file(data, size), &error);
    fuzz_check(measured != NULL, error);
    if (measured != NULL && (measured->rows->len == 0 || measured->unfit > measured->rows->len))
        abort();
    return 0;
}
