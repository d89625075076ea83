#include "base/random.h"
#include "support.h"

#include <string.h>

/* The first outputs of xoshiro256** from the state 1, 2, 3, 4, as the authors' reference code gives them
 * (prng.di.unimi.it/xoshiro256starstar.c). */
START_TEST(the_generator_is_xoshiro256_starstar)
{
    Random random = {{1, 2, 3, 4}};
    static const uint64_t expected[] = {11520, 0, 1509978240, UINT64_C(1215971899390074240)};
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++)
        ck_assert_uint_eq(random_next(&random), expected[i]);
}
END_TEST

/* splitmix64 from the seed 1234567 gives 6457827717110365317, 3203168211198807973, ...: its steps are
 * hash_mix of seed + i x 0x9e3779b97f4a7c15 (prng.di.unimi.it/splitmix64.c). */
START_TEST(the_finaliser_is_that_of_splitmix64)
{
    static const uint64_t expected[] = {UINT64_C(6457827717110365317), UINT64_C(3203168211198807973),
                                        UINT64_C(9817491932198370423)};
    for (uint64_t i = 0; i < G_N_ELEMENTS(expected); i++)
        ck_assert_uint_eq(hash_mix(1234567 + (i + 1) * UINT64_C(0x9e3779b97f4a7c15)), expected[i]);
}
END_TEST

START_TEST(a_stream_depends_on_seed_and_name_alone)
{
    Random a = random_named(7, "alpha"), again = random_named(7, "alpha"), b = random_named(7, "beta"),
           c = random_named(8, "alpha");
    uint64_t first = random_next(&a);
    ck_assert_uint_eq(first, random_next(&again));
    ck_assert_uint_ne(first, random_next(&b));
    ck_assert_uint_ne(first, random_next(&c));
    ck_assert_uint_ne(hash_combine(1, 2), hash_combine(2, 1));
    ck_assert_uint_ne(hash_text(""), hash_text("a"));
}
END_TEST

/* Chi-square over 10 cells, 100,000 draws: above 33.7 with probability 1e-4 (9 degrees of freedom). */
START_TEST(draws_below_a_bound_are_even)
{
    Random random = random_named((uint64_t)_i, "even");
    enum { CELLS = 10, DRAWS = 100000 };
    double counts[CELLS] = {0}, chi = 0;
    for (int i = 0; i < DRAWS; i++)
        counts[random_below(&random, CELLS)]++;
    for (int i = 0; i < CELLS; i++)
        chi += (counts[i] - DRAWS / CELLS) * (counts[i] - DRAWS / CELLS) / (DRAWS / CELLS);
    ck_assert_msg(chi < 33.7, "seed %d: chi-square %g", _i, chi);
    for (int i = 0; i < 1000; i++) {
        double unit = random_unit(&random);
        ck_assert(unit >= 0 && unit < 1);
        ck_assert_uint_eq(random_below(&random, 1), 0);
        ck_assert_uint_lt(random_below(&random, UINT64_C(3) << 62), UINT64_C(3) << 62);
    }
}
END_TEST

/* With a bound of 3/4 of 2^64 a plain multiplication would give a third of the values twice as often. */
START_TEST(a_huge_bound_has_no_bias)
{
    Random random = random_named(3, "bias");
    uint64_t bound = UINT64_C(3) << 62;
    int low = 0;
    enum { DRAWS = 100000 };
    for (int i = 0; i < DRAWS; i++)
        low += random_below(&random, bound) % 3 == 0;
    ck_assert_double_eq_tol((double)low / DRAWS, 1.0 / 3, 0.007); /* 4.7 standard deviations */
}
END_TEST

/* Each of the 64 input bits moves each output bit in about half of the cases: 32 +- 6 on average. */
START_TEST(every_input_bit_moves_every_output_bit)
{
    for (int in = 0; in < 64; in++) {
        int moved[64] = {0};
        for (uint64_t v = 0; v < 1000; v++) {
            uint64_t difference = hash_mix(v) ^ hash_mix(v ^ UINT64_C(1) << in);
            for (int out = 0; out < 64; out++)
                moved[out] += (int)(difference >> out & 1);
        }
        for (int out = 0; out < 64; out++)
            ck_assert_msg(moved[out] > 400 && moved[out] < 600, "bit %d to %d: %d of 1000", in, out, moved[out]);
    }
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("random");
    TCase *tc = tcase_create("random");
    tcase_add_test(tc, the_generator_is_xoshiro256_starstar);
    tcase_add_test(tc, the_finaliser_is_that_of_splitmix64);
    tcase_add_test(tc, a_stream_depends_on_seed_and_name_alone);
    tcase_add_loop_test(tc, draws_below_a_bound_are_even, 0, 10);
    tcase_add_test(tc, a_huge_bound_has_no_bias);
    tcase_add_test(tc, every_input_bit_moves_every_output_bit);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
