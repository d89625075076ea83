/* units.h - quantities as people write them: text with a unit, refused without one
 *
 * b is bit, B is byte; k M G T P are powers of 1000, Ki Mi Gi Ti powers of 1024.
 * Rates: Gb/s, Gbps, Gbit/s, GB/s, GiB/s, B/s ...; times: ps ns us ms s min h d; lengths: m km;
 * compute: FLOP/s with prefixes (FLOPS is accepted); sizes: B kB KiB MB MiB ... (also bits: b).
 * Sizes are whole bytes and times whole picoseconds: a remainder is refused, not rounded.
 * A blank between number and unit is optional. Numbers are decimal, with optional exponent;
 * negative, NaN, infinite and overflowing values are refused. Every parser gives TRUE, or FALSE with an
 * error of the form: rate "400" has no unit; write for example "400 Gb/s". */
#pragma once

#include "base/sim_time.h"

gboolean units_parse_rate(const char *text, double *rate_Bps, GError **error);
gboolean units_parse_size(const char *text, uint64_t *bytes, GError **error);
gboolean units_parse_time(const char *text, SimTime *time_ps, GError **error);
gboolean units_parse_length(const char *text, double *length_km, GError **error);
gboolean units_parse_compute(const char *text, double *rate_FLOPps, GError **error);
/* Cost per byte, "0 s/B", "20 ps/B", "1 s/GB". */
gboolean units_parse_byte_cost(const char *text, double *cost_s_per_B, GError **error);

/* For people: three or four significant digits with a unit that fits, "12.8 MiB", "400 Gb/s", "20.82 ms".
 * The caller frees the text. */
char *units_format_rate(double rate_Bps);
char *units_format_size(double bytes);
char *units_format_time(SimTime time_ps);
