#include "base/decimal.h"

#include <assert.h>

typedef unsigned __int128 Wide;

enum { DIGITS = 20, EXPONENT_LIMIT = 100000 };

static gboolean
digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits of the mantissa; how many lay behind the point comes off the exponent. */
static const char *
mantissa(const char *p, Decimal *decimal, gboolean *any)
{
    Wide value = 0;
    int kept = 0;
    gboolean point = FALSE;
    for (; digit(*p) || (*p == '.' && !point && digit(p[1])); p++) {
        if (*p == '.') {
            point = TRUE;
            continue;
        }
        *any = TRUE;
        if (kept < DIGITS) {
            value = value * 10 + (unsigned)(*p - '0');
            kept += value != 0;
            decimal->exponent -= point;
        } else {
            decimal->cut |= *p != '0';
            decimal->exponent += !point;
        }
        if (ABS(decimal->exponent) > EXPONENT_LIMIT)
            decimal->exponent = decimal->exponent < 0 ? -EXPONENT_LIMIT : EXPONENT_LIMIT;
    }
    decimal->high = (uint64_t)(value >> 64);
    decimal->low = (uint64_t)value;
    return p;
}

/* An exponent belongs to the number only where digits follow the e. */
static const char *
exponent(const char *p, Decimal *decimal)
{
    const char *q = p + 1;
    if (*p != 'e' && *p != 'E')
        return p;
    gboolean negative = *q == '-';
    if (*q == '-' || *q == '+')
        q++;
    if (!digit(*q))
        return p;
    int value = 0;
    for (; digit(*q); q++)
        value = MIN(value * 10 + (*q - '0'), EXPONENT_LIMIT);
    decimal->exponent += negative ? -value : value;
    return q;
}

gboolean
decimal_parse(const char *text, Decimal *decimal, const char **end)
{
    Decimal d = {.negative = *text == '-'};
    gboolean any = FALSE;
    const char *p = mantissa(text + (*text == '-' || *text == '+'), &d, &any);
    if (!any)
        return FALSE;
    *end = exponent(p, &d);
    *decimal = d;
    return TRUE;
}

gboolean
decimal_scale(const Decimal *decimal, uint64_t unit, uint64_t *value, gboolean *rest)
{
    assert(unit <= UINT64_C(1) << 57);
    Wide v = ((Wide)decimal->high << 64 | decimal->low) * unit; /* 10^20 < 2^67, so below 2^124 */
    gboolean dropped = decimal->cut;
    for (int e = decimal->exponent; e > 0 && v > 0; e--) {
        if (v > UINT64_MAX)
            return FALSE;
        v *= 10;
    }
    for (int e = decimal->exponent; e < 0 && v > 0; e++) {
        dropped |= v % 10 != 0;
        v /= 10;
    }
    if (v > UINT64_MAX)
        return FALSE;
    *value = (uint64_t)v;
    *rest = dropped;
    return TRUE;
}
