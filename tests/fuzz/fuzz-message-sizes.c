/* fuzz-message-sizes.c - any bytes as the side file of message sizes, and as rows of CSV: values, or an error */
#include "config.h"

#include "base/csv_rows.h"
#include "fuzz.h"
#include "workload/message_sizes.h"

static gboolean
take(GPtrArray *fields, size_t line, void *owner, GError **error)
{
    size_t *last = owner;
    if (line < *last || fields->len == 0)
        abort();
    *last = line;
    return TRUE;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file(data, size);
    GError *error = NULL;
    MessageSizes *sizes = message_sizes_read(path, &error);
    fuzz_check(sizes != NULL, error);
    message_sizes_free(sizes);
    size_t line = 1;
    error = NULL;
    gboolean good = csv_rows_read(path, take, &line, &error);
    fuzz_check(good, error);
    return 0;
}
