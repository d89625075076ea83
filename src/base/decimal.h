/* decimal.h - decimal numbers as text, taken apart without rounding */
#pragma once

#include <glib.h>
#include <stdint.h>

/* (-1 where negative) x mantissa x 10^exponent. */
typedef struct {
    gboolean negative;
    gboolean cut;       /* more than 20 significant digits: the rest, not all zero, was dropped */
    uint64_t high, low; /* the mantissa's 128 bits */
    int exponent;
} Decimal;

/* Digits with an optional sign, point and exponent at the start of text. Where the number ends goes into
 * *end. FALSE where text does not begin with one. No blanks are skipped; no hexadecimal, NaN or infinity. */
gboolean decimal_parse(const char *text, Decimal *decimal, const char **end);

/* |decimal| x unit, rounded down, into *value; *rest is TRUE where that dropped something. FALSE where it
 * does not fit into 64 bits. unit is at most 2^57. */
gboolean decimal_scale(const Decimal *decimal, uint64_t unit, uint64_t *value, gboolean *rest);
