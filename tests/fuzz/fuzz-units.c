/* fuzz-units.c - any text as each quantity: a value in range, or an error */
#include "config.h"

#include "base/units.h"
#include "fuzz.h"

#include <math.h>

/* Parses text as a double-valued quantity. */
static void
check(gboolean (*parse)(const char *, double *, GError **), const char *text)
{
    GError *error = NULL;
    double value = -1;
    gboolean good = parse(text, &value, &error);
    if (good && !(isfinite(value) && value >= 0))
        abort();
    fuzz_check(good, error);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autofree char *text = g_strndup((const char *)data, size);
    check(units_parse_rate, text);
    check(units_parse_length, text);
    check(units_parse_compute, text);
    check(units_parse_byte_cost, text);
    GError *error = NULL;
    uint64_t bytes;
    SimTime time = -1;
    fuzz_check(units_parse_size(text, &bytes, &error), error);
    error = NULL;
    gboolean good = units_parse_time(text, &time, &error);
    if (good && time < 0)
        abort();
    fuzz_check(good, error);
    if (good) {
        g_autofree char *printed = units_format_time(time);
        if (printed[0] == '\0')
            abort();
    }
    return 0;
}
