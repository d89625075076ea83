/* simgrid_units.c - quantities of SimGrid's platforms: a number, a prefix, a unit, without blanks */
#include "base/decimal.h"
#include "base/error.h"
#include "fabric/simgrid_platform.h"

#include <math.h>
#include <string.h>

/* The prefix at text, and what follows it. */
static double
prefix_of(const char *text, gboolean binary, const char **rest)
{
    static const char letters[] = "kMGTPEZY";
    const char *found = *text == 'K' ? letters : *text != '\0' ? strchr(letters, *text) : NULL;
    if (found == NULL) {
        *rest = text;
        return 1;
    }
    gboolean two = binary && text[1] == 'i';
    *rest = text + (two ? 2 : 1);
    return two ? ldexp(1, 10 * (int)(found - letters + 1))
               : (double[]){1e3, 1e6, 1e9, 1e12, 1e15, 1e18, 1e21, 1e24}[found - letters];
}

static gboolean
number_of(const char *text, double *value, const char **rest)
{
    Decimal decimal;
    if (!decimal_parse(text, &decimal, rest) || decimal.negative)
        return FALSE;
    *value = g_ascii_strtod(text, NULL);
    return isfinite(*value);
}

gboolean
sg_parse_rate(SgReader *reader, const char *text, double *rate_Bps, GError **error)
{
    const char *unit, *rest;
    double value;
    if (number_of(text, &value, &unit)) {
        double factor = prefix_of(unit, TRUE, &rest);
        double byte = strcmp(rest, "Bps") == 0 ? 1 : strcmp(rest, "bps") == 0 ? 0.125 : 0;
        if (*unit == '\0') {
            byte = 1;
            reader->notes[SG_BARE]++;
        }
        if (byte > 0 && value * factor * byte > 0 && value * factor * byte <= LINK_MAX_Bps) {
            *rate_Bps = value * factor * byte;
            return TRUE;
        }
    }
    return error_input(error, "\"%s\" is no bandwidth above 0; expected for example 1.25GBps or 10Gbps", text);
}

gboolean
sg_parse_speed(SgReader *reader, const char *text, double *speed_FLOPps, GError **error)
{
    const char *unit, *rest;
    double value;
    if (number_of(text, &value, &unit)) {
        double speed = value * prefix_of(unit, FALSE, &rest);
        if (*unit == '\0')
            reader->notes[SG_BARE]++;
        if ((*unit == '\0' || strcmp(rest, "f") == 0 || strcmp(rest, "flops") == 0) && isfinite(speed) && speed > 0) {
            *speed_FLOPps = speed;
            return TRUE;
        }
    }
    return error_input(error, "\"%s\" is no speed above 0; expected for example 100Mf", text);
}

gboolean
sg_parse_time(SgReader *reader, const char *text, SimTime *time_ps, GError **error)
{
    static const struct {
        const char *name;
        uint64_t ps;
    } units[] = {{"s", PS_PER_S},      {"ms", PS_PER_MS},      {"us", PS_PER_US},       {"ns", PS_PER_NS}, {"ps", 1},
                 {"m", 60 * PS_PER_S}, {"h", 3600 * PS_PER_S}, {"d", 86400 * PS_PER_S}, {"", PS_PER_S}};
    Decimal decimal;
    const char *unit;
    if (decimal_parse(text, &decimal, &unit) && !decimal.negative) {
        for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
            uint64_t value;
            gboolean rest;
            if (strcmp(unit, units[i].name) != 0 || !decimal_scale(&decimal, units[i].ps, &value, &rest) ||
                value > (uint64_t)LINK_MAX_LATENCY_PS)
                continue;
            reader->notes[SG_BARE] += *unit == '\0' && value > 0;
            *time_ps = (SimTime)value + rest;
            return TRUE;
        }
    }
    return error_input(error, "\"%s\" is no latency up to a day; expected for example 50us", text);
}

gboolean
sg_parse_sharing(const char *text, SgSharing otherwise, SgSharing *sharing)
{
    static const char *const names[] = {"SHARED", "SPLITDUPLEX", "FATPIPE"};
    *sharing = otherwise;
    for (size_t i = 0; text != NULL && i < G_N_ELEMENTS(names); i++)
        if (g_ascii_strcasecmp(text, names[i]) == 0) {
            *sharing = (SgSharing)i;
            return TRUE;
        }
    return text == NULL;
}
