#include "base/units.h"

#include "base/decimal.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

/* One quantity: what it is called in messages, a unit that fits, and the units known. A value in the
 * base unit is number x times / by, both exact in a double. */
typedef struct {
    const char *unit;
    double times, by;
} Unit;

typedef struct {
    const char *what, *example;
    const Unit *units;
    size_t n_units;
} Quantity;

static const Unit rate_units[] = {
    {"B/s", 1, 1},          {"kB/s", 1e3, 1},       {"MB/s", 1e6, 1},       {"GB/s", 1e9, 1},
    {"TB/s", 1e12, 1},      {"PB/s", 1e15, 1},      {"KiB/s", 0x1p10, 1},   {"MiB/s", 0x1p20, 1},
    {"GiB/s", 0x1p30, 1},   {"TiB/s", 0x1p40, 1},   {"b/s", 1, 8},          {"kb/s", 1e3, 8},
    {"Mb/s", 1e6, 8},       {"Gb/s", 1e9, 8},       {"Tb/s", 1e12, 8},      {"Pb/s", 1e15, 8},
    {"Kib/s", 0x1p10, 8},   {"Mib/s", 0x1p20, 8},   {"Gib/s", 0x1p30, 8},   {"Tib/s", 0x1p40, 8},
    {"bps", 1, 8},          {"kbps", 1e3, 8},       {"Mbps", 1e6, 8},       {"Gbps", 1e9, 8},
    {"Tbps", 1e12, 8},      {"bit/s", 1, 8},        {"kbit/s", 1e3, 8},     {"Mbit/s", 1e6, 8},
    {"Gbit/s", 1e9, 8},     {"Tbit/s", 1e12, 8},    {"Kibit/s", 0x1p10, 8}, {"Mibit/s", 0x1p20, 8},
    {"Gibit/s", 0x1p30, 8}, {"Tibit/s", 0x1p40, 8},
};

/* In bits, so that a size in bits that is no whole number of bytes can be refused. */
static const Unit size_units[] = {
    {"B", 8, 1},     {"kB", 8e3, 1},     {"MB", 8e6, 1},     {"GB", 8e9, 1},     {"TB", 8e12, 1},
    {"PB", 8e15, 1}, {"KiB", 0x1p13, 1}, {"MiB", 0x1p23, 1}, {"GiB", 0x1p33, 1}, {"TiB", 0x1p43, 1},
    {"b", 1, 1},     {"kb", 1e3, 1},     {"Mb", 1e6, 1},     {"Gb", 1e9, 1},     {"Tb", 1e12, 1},
    {"Pb", 1e15, 1}, {"Kib", 0x1p10, 1}, {"Mib", 0x1p20, 1}, {"Gib", 0x1p30, 1}, {"Tib", 0x1p40, 1},
};

/* In picoseconds. */
static const Unit time_units[] = {
    {"ps", 1, 1},   {"ns", 1e3, 1}, {"us", 1e6, 1},    {"\u00b5s", 1e6, 1}, {"\u03bcs", 1e6, 1},
    {"ms", 1e9, 1}, {"s", 1e12, 1}, {"min", 60e12, 1}, {"h", 3600e12, 1},   {"d", 86400e12, 1},
};

static const Unit length_units[] = {{"m", 1, 1000}, {"km", 1, 1}};

static const Unit compute_units[] = {
    {"FLOP/s", 1, 1},     {"kFLOP/s", 1e3, 1},  {"MFLOP/s", 1e6, 1}, {"GFLOP/s", 1e9, 1}, {"TFLOP/s", 1e12, 1},
    {"PFLOP/s", 1e15, 1}, {"EFLOP/s", 1e18, 1}, {"FLOPS", 1, 1},     {"kFLOPS", 1e3, 1},  {"MFLOPS", 1e6, 1},
    {"GFLOPS", 1e9, 1},   {"TFLOPS", 1e12, 1},  {"PFLOPS", 1e15, 1}, {"EFLOPS", 1e18, 1},
};

static const Quantity rates = {"rate", "Gb/s", rate_units, G_N_ELEMENTS(rate_units)};
static const Quantity sizes = {"size", "MiB", size_units, G_N_ELEMENTS(size_units)};
static const Quantity times = {"time", "ms", time_units, G_N_ELEMENTS(time_units)};
static const Quantity lengths = {"length", "km", length_units, G_N_ELEMENTS(length_units)};
static const Quantity computes = {"compute rate", "TFLOP/s", compute_units, G_N_ELEMENTS(compute_units)};
static const Quantity byte_costs = {"cost per byte", "ps/B", NULL, 0};

static const Unit *
find_unit(const Quantity *quantity, const char *unit)
{
    for (size_t i = 0; i < quantity->n_units; i++)
        if (strcmp(quantity->units[i].unit, unit) == 0)
            return &quantity->units[i];
    return NULL;
}

/* Takes text apart: the number, both exact and as a double, and the text of the unit (the caller frees it). */
static gboolean
take_apart(const Quantity *q, const char *text, Decimal *decimal, double *number, char **unit, GError **error)
{
    g_autofree char *stripped = g_strstrip(g_strdup(text));
    if (*stripped == '\0')
        return error_input(error, "%s \"%s\" is empty; write for example \"1 %s\"", q->what, text, q->example);
    const char *end;
    if (!decimal_parse(stripped, decimal, &end))
        return error_input(error, "%s \"%s\" does not begin with a number; write for example \"1 %s\"", q->what, text,
                           q->example);
    g_autofree char *digits = g_strndup(stripped, (size_t)(end - stripped));
    while (g_ascii_isspace(*end))
        end++;
    if (*end == '\0')
        return error_input(error, "%s \"%s\" has no unit; write for example \"%s %s\"", q->what, text, digits,
                           q->example);
    if (decimal->negative && (decimal->high | decimal->low) != 0)
        return error_input(error, "%s \"%s\" is negative", q->what, text);
    *number = fabs(g_ascii_strtod(digits, NULL));
    *unit = g_strdup(end);
    return TRUE;
}

static gboolean
unknown_unit(const Quantity *q, const char *text, const char *unit, GError **error)
{
    g_autofree char *digits = g_strndup(text, strlen(text) - strlen(g_strrstr(text, unit)));
    return error_input(error, "%s \"%s\" has the unknown unit \"%s\"; write for example \"%s %s\"", q->what, text, unit,
                       g_strstrip(digits), q->example);
}

static gboolean
too_large(const Quantity *q, const char *text, GError **error)
{
    return error_input(error, "%s \"%s\" is too large", q->what, text);
}

/* A quantity held in a double. */
static gboolean
parse_double(const Quantity *q, const char *text, double *value, GError **error)
{
    Decimal decimal;
    double number;
    g_autofree char *unit = NULL;
    if (!take_apart(q, text, &decimal, &number, &unit, error))
        return FALSE;
    const Unit *known = find_unit(q, unit);
    if (known == NULL)
        return unknown_unit(q, text, unit, error);
    double result = number * known->times / known->by;
    if (!isfinite(result))
        return too_large(q, text, error);
    *value = result;
    return TRUE;
}

/* A quantity held in an integer: exactly the decimal number x the unit, rounded down; *rest tells whether
 * that dropped something. */
static gboolean
parse_whole(const Quantity *q, const char *text, uint64_t *value, gboolean *rest, GError **error)
{
    Decimal decimal;
    double number;
    g_autofree char *unit = NULL;
    if (!take_apart(q, text, &decimal, &number, &unit, error))
        return FALSE;
    const Unit *known = find_unit(q, unit);
    if (known == NULL)
        return unknown_unit(q, text, unit, error);
    if (decimal.cut)
        return error_input(error, "%s \"%s\" has more than 20 significant digits", q->what, text);
    if (!decimal_scale(&decimal, (uint64_t)known->times, value, rest))
        return too_large(q, text, error);
    return TRUE;
}

gboolean
units_parse_rate(const char *text, double *rate_Bps, GError **error)
{
    return parse_double(&rates, text, rate_Bps, error);
}

gboolean
units_parse_size(const char *text, uint64_t *bytes, GError **error)
{
    uint64_t n_bits;
    gboolean rest;
    if (!parse_whole(&sizes, text, &n_bits, &rest, error))
        return FALSE;
    if (rest || n_bits % 8 != 0)
        return error_input(error, "size \"%s\" is not a whole number of bytes", text);
    *bytes = n_bits / 8;
    return TRUE;
}

gboolean
units_parse_time(const char *text, SimTime *time_ps, GError **error)
{
    uint64_t value;
    gboolean rest;
    if (!parse_whole(&times, text, &value, &rest, error))
        return FALSE;
    if (rest)
        return error_input(error, "time \"%s\" is not a whole number of picoseconds", text);
    if (value > SIM_TIME_MAX)
        return error_input(error, "time \"%s\" is beyond the range of simulated time, 106 days", text);
    *time_ps = (SimTime)value;
    return TRUE;
}

gboolean
units_parse_length(const char *text, double *length_km, GError **error)
{
    return parse_double(&lengths, text, length_km, error);
}

gboolean
units_parse_compute(const char *text, double *rate_FLOPps, GError **error)
{
    return parse_double(&computes, text, rate_FLOPps, error);
}

gboolean
units_parse_byte_cost(const char *text, double *cost_s_per_B, GError **error)
{
    Decimal decimal;
    double number;
    g_autofree char *unit = NULL;
    if (!take_apart(&byte_costs, text, &decimal, &number, &unit, error))
        return FALSE;
    g_auto(GStrv) parts = g_strsplit(unit, "/", 2);
    const Unit *time = find_unit(&times, parts[0]), *size = parts[1] == NULL ? NULL : find_unit(&sizes, parts[1]);
    if (time == NULL || size == NULL)
        return unknown_unit(&byte_costs, text, unit, error);
    double result = number * time->times / (PS_PER_S * (size->times / 8));
    if (!isfinite(result))
        return too_large(&byte_costs, text, error);
    *cost_s_per_B = result;
    return TRUE;
}

typedef struct {
    double unit;
    const char *name;
} Step;

/* Four significant digits in the largest unit that the rounded value reaches; steps ascend. */
static char *
format_steps(double value, const Step *steps, size_t n_steps)
{
    char number[64];
    size_t i = n_steps;
    do {
        i--;
        g_ascii_formatd(number, sizeof number, "%.4g", value / steps[i].unit);
    } while (i > 0 && g_ascii_strtod(number, NULL) < 1);
    return g_strdup_printf("%s %s", number, steps[i].name);
}

char *
units_format_rate(double rate_Bps)
{
    static const Step steps[] = {{1, "b/s"},    {1e3, "kb/s"},  {1e6, "Mb/s"},
                                 {1e9, "Gb/s"}, {1e12, "Tb/s"}, {1e15, "Pb/s"}};
    return format_steps(rate_Bps * 8, steps, G_N_ELEMENTS(steps));
}

char *
units_format_size(double bytes)
{
    static const Step steps[] = {{1, "B"}, {0x1p10, "KiB"}, {0x1p20, "MiB"}, {0x1p30, "GiB"}, {0x1p40, "TiB"}};
    return format_steps(bytes, steps, G_N_ELEMENTS(steps));
}

char *
units_format_time(SimTime time_ps)
{
    static const Step steps[] = {{1, "ps"}, {1e3, "ns"}, {1e6, "us"}, {1e9, "ms"}, {1e12, "s"}};
    static const Step long_steps[] = {{60e12, "min"}, {3600e12, "h"}, {86400e12, "d"}};
    double value = fabs((double)time_ps);
    /* Minutes from two of them on: up to there seconds read better. */
    g_autofree char *text = value < 120e12 ? format_steps(value, steps, G_N_ELEMENTS(steps))
                                           : format_steps(value, long_steps, G_N_ELEMENTS(long_steps));
    return time_ps < 0 ? g_strconcat("-", text, NULL) : g_steal_pointer(&text);
}
