/* sim_time.h - simulated time: signed 64-bit picoseconds, overflow refused
 *
 * The range is 106 days. A sum that leaves it is an error of the run, never a wrap. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef int64_t SimTime; /* picoseconds */

#define SIM_TIME_MAX INT64_MAX
#define PS_PER_NS INT64_C(1000)
#define PS_PER_US INT64_C(1000000)
#define PS_PER_MS INT64_C(1000000000)
#define PS_PER_S INT64_C(1000000000000)

/* a + b into *sum; FALSE, and *sum untouched, where it would leave the range. */
gboolean sim_time_add(SimTime a, SimTime b, SimTime *sum);

/* The ceiling of seconds in picoseconds into *time; FALSE where seconds is negative, not finite
 * or out of range. The ceiling is of the exact value of the double. */
gboolean sim_time_from_seconds(double seconds, SimTime *time);

/* The ceiling of bytes / rate_Bps: how long a transfer sends. Exact: computed with a 128-bit or
 * error-free product, not with a rounded quotient. rate_Bps > 0. FALSE where out of range. */
gboolean sim_time_from_bytes(double bytes, double rate_Bps, SimTime *time);

/* time in seconds, for printing. */
double sim_time_seconds(SimTime time);
