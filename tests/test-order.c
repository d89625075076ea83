/* test-order.c - rows put in order by their keys, against g_qsort_with_data with the place as the last word */
#include "config.h"

#include "base/order.h"
#include "base/random.h"
#include "support.h"

#include <stdlib.h>

static int
by_key_and_place(const void *a, const void *b, void *data)
{
    const Keyed *x = a, *y = b;
    (void)data;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Lengths on both sides of the change of method; keys of few values, of a narrow and of the whole range. */
START_TEST(rows_of_any_keys_are_in_order_and_equal_ones_stay)
{
    static const size_t lengths[] = {0, 1, 2, 47, 48, 49, 50, 1000, 5000};
    static const uint64_t ranges[] = {1, 3, 256, 70000, UINT64_C(1) << 40, UINT64_MAX};
    Random dice = random_named((uint64_t)_i, "test-order");
    for (size_t l = 0; l < G_N_ELEMENTS(lengths); l++)
        for (size_t r = 0; r < G_N_ELEMENTS(ranges); r++) {
            size_t n = lengths[l];
            uint64_t base = ranges[r] == UINT64_MAX ? 0 : random_next(&dice) >> 1;
            g_autofree Keyed *entries = g_new(Keyed, n + 1), *spare = g_new(Keyed, n + 1);
            for (size_t i = 0; i < n; i++)
                entries[i] = (Keyed){base + random_below(&dice, ranges[r]), (uint32_t)i};
            g_autofree Keyed *expected = g_memdup2(entries, (n + 1) * sizeof *entries);
            g_qsort_with_data(expected, (int)n, sizeof *expected, by_key_and_place, NULL);
            order_by_key(entries, spare, n);
            for (size_t i = 0; i < n; i++)
                ck_assert_msg(entries[i].key == expected[i].key && entries[i].index == expected[i].index,
                              "seed %d, %zu keys below %" G_GUINT64_FORMAT ": place %zu", _i, n, ranges[r], i);
        }
}
END_TEST

/* By a second number, then by a first: by the first, and where equal by the second. */
START_TEST(two_orders_one_after_the_other_are_one)
{
    enum { N = 3000 };
    Random dice = random_named(7, "test-order");
    static uint64_t first[N], second[N];
    static Keyed entries[N], spare[N];
    for (uint32_t i = 0; i < N; i++) {
        first[i] = random_below(&dice, 40);
        second[i] = random_below(&dice, 1000);
        entries[i] = (Keyed){second[i], i};
    }
    order_by_key(entries, spare, N);
    for (uint32_t i = 0; i < N; i++)
        entries[i].key = first[entries[i].index];
    order_by_key(entries, spare, N);
    for (uint32_t i = 1; i < N; i++) {
        uint32_t a = entries[i - 1].index, b = entries[i].index;
        ck_assert(first[a] < first[b] || (first[a] == first[b] && second[a] < second[b]) ||
                  (first[a] == first[b] && second[a] == second[b] && a < b));
    }
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("order");
    TCase *tc = tcase_create("order");
    tcase_add_loop_test(tc, rows_of_any_keys_are_in_order_and_equal_ones_stay, 0, 5);
    tcase_add_test(tc, two_orders_one_after_the_other_are_one);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
