#include "base/random.h"
#include "base/sim_time.h"
#include "support.h"

#include <math.h>

/* The slow second answer: long division in base 10^9 on numbers held as lists of digits in base 2^32.
 * ceil(bytes x 10^12 / rate) by repeated doubling and subtraction of whole big numbers. */
enum { WORDS = 80, BITS = WORDS * 32 };
typedef struct {
    uint32_t word[WORDS];
} Big;

static Big
big_shifted(uint64_t value, int shift)
{
    Big b = {{0}};
    for (int i = 0; i < 64; i++)
        if (value >> i & 1)
            b.word[(shift + i) / 32] |= UINT32_C(1) << (shift + i) % 32;
    return b;
}

static void
big_times(Big *b, uint32_t factor)
{
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        carry += (uint64_t)b->word[i] * factor;
        b->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    ck_assert_uint_eq(carry, 0);
}

static int
big_compare(const Big *a, const Big *b)
{
    for (int i = WORDS - 1; i >= 0; i--)
        if (a->word[i] != b->word[i])
            return a->word[i] < b->word[i] ? -1 : 1;
    return 0;
}

/* Is time x rate >= bytes x 10^12? Everything scaled by 2^1200, exact. */
static gboolean
covers(uint64_t time, double rate, double bytes)
{
    int e_rate, e_bytes;
    uint64_t m_rate = (uint64_t)ldexp(frexp(rate, &e_rate), 53), m_bytes = (uint64_t)ldexp(frexp(bytes, &e_bytes), 53);
    Big left = big_shifted(m_rate, 1200 + e_rate - 53), right = big_shifted(m_bytes, 1200 + e_bytes - 53);
    uint32_t high = (uint32_t)(time >> 32), low = (uint32_t)time;
    Big part = left;
    big_times(&left, low);
    big_times(&part, high);
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        carry += (uint64_t)left.word[i] + (i > 0 ? part.word[i - 1] : 0);
        left.word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    big_times(&right, 1000000);
    big_times(&right, 1000000);
    return big_compare(&left, &right) >= 0;
}

/* A double of any kind: small or large whole, exact power, or 53 random bits in a wide range of exponents. */
static double
any_double(Random *dice, int low, int high)
{
    double exponent = low + (double)random_below(dice, (uint64_t)(high - low));
    switch (random_below(dice, 4)) {
    case 0:
        return 1 + (double)random_below(dice, 1000);
    case 1:
        return ldexp(1, (int)exponent);
    case 2:
        return (double)random_below(dice, UINT64_C(1) << 60);
    default:
        return ldexp(1 + random_unit(dice), (int)exponent);
    }
}

START_TEST(the_time_of_bytes_is_the_exact_ceiling)
{
    Random dice = random_named((uint64_t)_i, "ceilings");
    for (int i = 0; i < 500; i++) {
        double bytes = any_double(&dice, -40, 60), rate = any_double(&dice, -60, 80);
        SimTime time = -1;
        if (rate == 0)
            continue;
        if (!sim_time_from_bytes(bytes, rate, &time)) {
            ck_assert_msg(!covers(SIM_TIME_MAX, rate, bytes), "seed %d: %a / %a was refused", _i, bytes, rate);
            continue;
        }
        ck_assert_msg(covers((uint64_t)time, rate, bytes), "seed %d: %a / %a: too early", _i, bytes, rate);
        ck_assert_msg(time == 0 || !covers((uint64_t)time - 1, rate, bytes), "seed %d: %a / %a: too late", _i, bytes,
                      rate);
        SimTime seconds;
        ck_assert(!sim_time_from_seconds(bytes, &seconds) || seconds == 0 || covers((uint64_t)seconds, 1, bytes));
        ck_assert(!sim_time_from_seconds(bytes, &seconds) || seconds == 0 || !covers((uint64_t)seconds - 1, 1, bytes));
    }
}
END_TEST

START_TEST(known_times)
{
    static const struct {
        double bytes, rate;
        SimTime time;
    } cases[] = {
        {50e9, 50e9, PS_PER_S},
        {1, 3, 333333333334},
        {0, 1, 0},
        {1500, 50e9, 30000},
        {1, 1e12, 1},
        {1, 1e13, 1},
        {1e-300, 1e300, 1},
        {0x1p60, 0x1p60, PS_PER_S},
        {9007199254740993, 1e12, 9007199254740992}, /* 2^53 + 1 is no double: the argument is 2^53 */
        {1e6, INFINITY, 0},
        {5e-324, 1.7e308, 1},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        SimTime time = -1;
        ck_assert(sim_time_from_bytes(cases[i].bytes, cases[i].rate, &time));
        ck_assert_msg(time == cases[i].time, "%g / %g: %" G_GINT64_FORMAT, cases[i].bytes, cases[i].rate, time);
    }
    SimTime time = 42;
    ck_assert(sim_time_from_seconds(1.5e-6, &time));
    ck_assert_int_eq(time, 1500001); /* the double 1.5e-6 lies above 1.5 us by 3.4e-23 s */
    ck_assert(sim_time_from_seconds(0x1p-1, &time));
    ck_assert_int_eq(time, PS_PER_S / 2);
}
END_TEST

START_TEST(what_leaves_the_range_is_refused_and_the_result_untouched)
{
    SimTime time = 42;
    ck_assert(!sim_time_from_bytes(1e300, 1, &time));
    ck_assert(!sim_time_from_bytes(1e7, 1, &time)); /* 115 days */
    ck_assert(!sim_time_from_bytes(-1, 1, &time));
    ck_assert(!sim_time_from_bytes(NAN, 1, &time));
    ck_assert(!sim_time_from_bytes(INFINITY, 1, &time));
    ck_assert(!sim_time_from_bytes(1, 5e-324, &time));
    ck_assert(!sim_time_from_seconds(-1e-12, &time));
    ck_assert(!sim_time_from_seconds(NAN, &time));
    ck_assert(!sim_time_from_seconds(9223372.1, &time));
    ck_assert(!sim_time_add(SIM_TIME_MAX, 1, &time));
    ck_assert(!sim_time_add(INT64_MIN, -1, &time));
    ck_assert_int_eq(time, 42);
    ck_assert(sim_time_add(SIM_TIME_MAX - 1, 1, &time));
    ck_assert_int_eq(time, SIM_TIME_MAX);
    ck_assert_double_eq(sim_time_seconds(-PS_PER_S), -1);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("sim_time");
    TCase *tc = tcase_create("sim_time");
    tcase_add_loop_test(tc, the_time_of_bytes_is_the_exact_ceiling, 0, 20);
    tcase_add_test(tc, known_times);
    tcase_add_test(tc, what_leaves_the_range_is_refused_and_the_result_untouched);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
