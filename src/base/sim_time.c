#include "base/sim_time.h"

#include <assert.h>
#include <math.h>

typedef unsigned __int128 Wide;

/* A finite double of 0 or more as mantissa x 2^exponent, mantissa below 2^53. */
static uint64_t
split(double value, int *exponent)
{
    double fraction = frexp(value, exponent);
    *exponent -= 53;
    return (uint64_t)ldexp(fraction, 53);
}

static int
bits(Wide value)
{
    uint64_t high = (uint64_t)(value >> 64), low = (uint64_t)value;
    if (high != 0)
        return 128 - __builtin_clzll(high);
    return low == 0 ? 0 : 64 - __builtin_clzll(low);
}

/* The ceiling of above x 2^shift / below; above < 2^93, 0 < below < 2^53. FALSE beyond SIM_TIME_MAX. */
static gboolean
divide_up(Wide above, int shift, uint64_t below, SimTime *time)
{
    Wide divisor = below;
    if (shift > 0) {
        if (above != 0 && bits(above) + shift > 127)
            return FALSE; /* at least 2^126 / 2^53 */
        above = above == 0 ? 0 : above << shift;
    } else if (shift < 0) {
        if (bits(divisor) - shift > 100) { /* the divisor is the larger */
            *time = above != 0;
            return TRUE;
        }
        divisor <<= -shift;
    }
    Wide quotient = above / divisor + (above % divisor != 0);
    if (quotient > SIM_TIME_MAX)
        return FALSE;
    *time = (SimTime)quotient;
    return TRUE;
}

gboolean
sim_time_add(SimTime a, SimTime b, SimTime *sum)
{
    SimTime result;
    if (__builtin_add_overflow(a, b, &result))
        return FALSE;
    *sum = result;
    return TRUE;
}

gboolean
sim_time_from_seconds(double seconds, SimTime *time)
{
    if (!isfinite(seconds) || seconds < 0)
        return FALSE;
    int exponent;
    uint64_t mantissa = split(seconds, &exponent);
    return divide_up((Wide)mantissa * PS_PER_S, exponent, 1, time);
}

gboolean
sim_time_from_bytes(double bytes, double rate_Bps, SimTime *time)
{
    assert(rate_Bps > 0);
    if (!isfinite(bytes) || bytes < 0)
        return FALSE;
    if (isinf(rate_Bps)) {
        *time = 0;
        return TRUE;
    }
    int e_bytes, e_rate;
    uint64_t m_bytes = split(bytes, &e_bytes), m_rate = split(rate_Bps, &e_rate);
    return divide_up((Wide)m_bytes * PS_PER_S, e_bytes - e_rate, m_rate, time);
}

double
sim_time_seconds(SimTime time)
{
    return (double)time / PS_PER_S;
}
