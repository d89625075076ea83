/* count.h - bytes and rates as integers
 *
 * Bytes are counted in units of 2^-32 B/s x 1 ps, and rates are whole multiples of 2^-32 B/s: what a rate moves in a
 * time is exact, however often rates change. */
#pragma once

#include "base/sim_time.h"

typedef __int128 Count;

/* Counts of one byte. */
#define BYTE ((Count)PS_PER_S << 32)

/* Counts that a rate (bytes/s) moves in a picosecond. */
Count count_speed(double rate_Bps);
/* The time, rounded up, in which a rate moves so many; FALSE: never, or beyond the range of time. */
gboolean count_time(Count left, double rate_Bps, SimTime *time);
