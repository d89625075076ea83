/* fixed.h - sums of rates as integers
 *
 * Loads are summed in integers of 2^-72, in which every double from 2^-20 on is exact: a sum is the same in any order
 * and taking away what was added leaves nothing behind. */
#pragma once

#include <assert.h>
#include <stdint.h>
#include <string.h>

typedef __int128 Fixed;
typedef unsigned __int128 UFixed;
enum { FIXED_BITS = 72 };

/* 0 <= value < 2^55. */
static inline Fixed
fixed_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0)
        return 0;
    assert(value > 0 && exponent < 1023 + 55);
    Fixed mantissa = (Fixed)(bits & ((UINT64_C(1) << 52) - 1)) + ((Fixed)1 << 52);
    int shift = exponent - 1075 + FIXED_BITS;
    if (shift >= 0)
        return mantissa << shift;
    return shift > -64 ? mantissa >> -shift : 0;
}

static inline double
fixed_double(Fixed value)
{
    return (double)value * 0x1p-72;
}

/* Wraps: what a link gets for a while and gives back may be beyond all bounds, where rates are near 2^54. */
static inline Fixed
fixed_less(Fixed value, Fixed part)
{
    return (Fixed)((UFixed)value - (UFixed)part);
}

/* coefficient x rate, given the rate also as an integer: most coefficients are 1. */
static inline Fixed
part_of(double coefficient, double rate, Fixed fixed_rate)
{
    return coefficient == 1 ? fixed_rate : fixed_of(coefficient * rate);
}
