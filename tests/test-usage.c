#include "network_fixture.h"

#include "base/random.h"
#include "network/usage.h"

#define S PS_PER_S

/* Rows as told, link by link. */
static GArray *rows; /* of FixtureUsage */

static void
told(void *owner, uint32_t link, uint32_t job, SimTime start_ps, SimTime length_ps, uint64_t bytes, SimTime busy_ps)
{
    FixtureUsage row = {link, job, start_ps, length_ps, busy_ps, bytes};
    g_array_append_val(rows, row);
}

static const NetworkObserver observer = {.link_usage = told};

static Usage *
begin(SimTime bucket_ps)
{
    rows = g_array_new(FALSE, FALSE, sizeof(FixtureUsage));
    return usage_new(8, bucket_ps, &observer);
}

static void
end(Usage *usage)
{
    usage_free(usage);
    g_array_unref(rows);
}

static uint32_t
flow_over(Usage *usage, uint32_t job, const uint32_t *links, const uint64_t *bytes, uint32_t n, uint64_t largest,
          SimTime now)
{
    MaxMinUse uses[8];
    uint64_t copies[8];
    for (uint32_t i = 0; i < n; i++) {
        uses[i] = (MaxMinUse){links[i], (double)bytes[i] / (double)largest};
        copies[i] = bytes[i];
    }
    Demand demand = {.uses = uses, .bytes = copies, .n = n, .largest = largest};
    return usage_begin(usage, job, &demand, now);
}

static void
expect_row(uint32_t i, uint32_t link, SimTime start_ps, SimTime length_ps, uint64_t bytes, SimTime busy_ps)
{
    ck_assert_uint_lt(i, rows->len);
    const FixtureUsage *row = &g_array_index(rows, FixtureUsage, i);
    ck_assert_uint_eq(row->link, link);
    ck_assert_int_eq(row->start_ps, start_ps);
    ck_assert_int_eq(row->length_ps, length_ps);
    ck_assert_uint_eq(row->bytes, bytes);
    ck_assert_int_eq(row->busy_ps, busy_ps);
}

/* 10 bytes at 10/3 B/s from 0.5 s on, buckets of 1 s: counts 1.67, 5, 8.33, 10 become 1, 4, 3, 2. */
START_TEST(buckets_are_differences_of_floors)
{
    Usage *usage = begin(S);
    uint32_t link = 3, book = flow_over(usage, 0, &link, (uint64_t[]){10}, 1, 10, 0);
    double rate = floor(10.0 / 3 * 0x1p32) * 0x1p-32;
    usage_set_rate(usage, book, rate, S / 2);
    usage_end(usage, book,
              S / 2 + 3 * S + 700); /* the ceiling of the exact end, at a rate rounded down, comes later still */
    usage_finish(usage, 10 * S);
    ck_assert_uint_eq(rows->len, 4);
    expect_row(0, 3, 0, S, 1, S / 2);
    expect_row(1, 3, S, S, 3, S); /* 4.99... */
    expect_row(2, 3, 2 * S, S, 4, S);
    expect_row(3, 3, 3 * S, S, 2, S / 2 + 700);
    end(usage);
}
END_TEST

/* What ends at a boundary belongs to the bucket before it; the run's last bucket ends with the run; idle buckets have
 * no row. */
START_TEST(boundaries_and_the_last_bucket)
{
    Usage *usage = begin(S);
    uint32_t link = 1, book = flow_over(usage, 0, &link, (uint64_t[]){8}, 1, 8, 0);
    usage_set_rate(usage, book, 4, 0);
    usage_end(usage, book, 2 * S);
    book = flow_over(usage, 0, &link, (uint64_t[]){1000}, 1, 1000, 5 * S);
    usage_set_rate(usage, book, 8, 5 * S);
    usage_finish(usage, 5 * S + S / 4); /* still under way */
    ck_assert_uint_eq(rows->len, 3);
    expect_row(0, 1, 0, S, 4, S);
    expect_row(1, 1, S, S, 4, S);
    expect_row(2, 1, 5 * S, S / 4, 2, S / 4);
    end(usage);
}
END_TEST

/* Two flows of a job overlap: busy counts once. Another job has its own row. */
START_TEST(busy_time_is_of_the_job)
{
    Usage *usage = begin(100 * S);
    uint32_t link = 0, a = flow_over(usage, 0, &link, (uint64_t[]){20}, 1, 20, 0);
    uint32_t b = flow_over(usage, 0, &link, (uint64_t[]){20}, 1, 20, 0),
             c = flow_over(usage, 1, &link, (uint64_t[]){5}, 1, 5, 0);
    usage_set_rate(usage, a, 2, 0);
    usage_set_rate(usage, b, 2, 4 * S);
    usage_set_rate(usage, c, 1, 7 * S);
    ck_assert_uint_eq(usage_jobs_on(usage, 0), 2);
    usage_end(usage, a, 10 * S);
    usage_end(usage, c, 12 * S);
    usage_end(usage, b, 14 * S);
    ck_assert_uint_eq(usage_jobs_on(usage, 0), 0);
    usage_finish(usage, 50 * S);
    ck_assert_uint_eq(rows->len, 2);
    expect_row(0, 0, 0, 50 * S, 40, 14 * S);
    expect_row(1, 0, 0, 50 * S, 5, 5 * S);
    end(usage);
}
END_TEST

/* Cut after 5 of 12 bytes, split 2 to 1 over two of three links: 5, 3 (of 8: 3.3) and 2 (of 4: 1.7); what a new route
 * moves is its own. */
START_TEST(a_cut_keeps_what_has_moved)
{
    Usage *usage = begin(S);
    uint32_t book = flow_over(usage, 0, (uint32_t[]){0, 1, 2}, (uint64_t[]){12, 8, 4}, 3, 12, 0);
    usage_set_rate(usage, book, 1, 0);
    usage_cut(usage, book, 5, NULL, 5 * S + S / 10);
    book = flow_over(usage, 0, (uint32_t[]){0, 3}, (uint64_t[]){7, 7}, 2, 7, 5 * S + S / 10);
    usage_set_rate(usage, book, 70, 6 * S);
    usage_end(usage, book, 6 * S + S / 10);
    usage_finish(usage, 7 * S);
    uint64_t sums[4] = {0};
    for (uint32_t i = 0; i < rows->len; i++)
        sums[g_array_index(rows, FixtureUsage, i).link] += g_array_index(rows, FixtureUsage, i).bytes;
    ck_assert_uint_eq(sums[0], 12);
    ck_assert_uint_eq(sums[1], 3);
    ck_assert_uint_eq(sums[2], 2);
    ck_assert_uint_eq(sums[3], 7);
    end(usage);
}
END_TEST

/* Flows at random rates that change at random: each ends when its exact count says so; sums are exact, buckets are in
 * order, none has more than the highest rate allows. */
START_TEST(sums_are_exact)
{
    enum { FLOWS = 30 };
    Random dice = random_named((uint64_t)_i, "usage");
    SimTime bucket = 1 + (SimTime)random_below(&dice, S);
    Usage *usage = begin(bucket);
    uint64_t due[8][2] = {{0}};
    uint32_t books[FLOWS];
    SimTime now = (SimTime)random_below(&dice, 3 * S);
    for (uint32_t i = 0; i < FLOWS; i++) {
        uint32_t links[3] = {i % 4, 4 + i % 3, 7};
        uint64_t total = random_below(&dice, 1000), part = random_below(&dice, total + 1);
        uint64_t bytes[3] = {total, i % 2 ? total : part, i % 2 ? total : total - part};
        books[i] = flow_over(usage, i % 2, links, bytes, 3, MAX(1, total), now);
        for (uint32_t k = 0; k < 3; k++)
            due[links[k]][i % 2] += bytes[k];
        __int128 left = (__int128)total * S << 32;
        for (int step = 0; step < 5 && left > 0; step++) {
            double rate = floor((1 + random_unit(&dice) * 400) * 0x1p32) * 0x1p-32;
            __int128 units = (__int128)(rate * 0x1p32), whole = (left + units - 1) / units;
            usage_set_rate(usage, books[i], rate, now);
            SimTime span = 1 + (SimTime)random_below(&dice, S);
            if (step == 4 || span > whole)
                span = (SimTime)whole;
            left -= units * span;
            now += span;
        }
        usage_end(usage, books[i], now);
    }
    usage_finish(usage, now);
    SimTime last[8][2];
    memset(last, 0xff, sizeof last);
    for (uint32_t i = 0; i < rows->len; i++) {
        const FixtureUsage *row = &g_array_index(rows, FixtureUsage, i);
        ck_assert_int_gt(row->start_ps, last[row->link][row->job]);
        ck_assert_int_eq(row->start_ps % bucket, 0);
        ck_assert_int_le(row->busy_ps, row->length_ps);
        ck_assert(row->bytes <= 2 + (uint64_t)(401 * sim_time_seconds(bucket)));
        last[row->link][row->job] = row->start_ps;
        due[row->link][row->job] -= row->bytes;
    }
    for (uint32_t l = 0; l < 8; l++)
        for (uint32_t j = 0; j < 2; j++)
            ck_assert_msg(due[l][j] == 0, "seed %d link %u job %u: %d bytes short", _i, l, j, (int)due[l][j]);
    end(usage);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("usage");
    TCase *cases = tcase_create("cases");
    tcase_add_test(cases, buckets_are_differences_of_floors);
    tcase_add_test(cases, boundaries_and_the_last_bucket);
    tcase_add_test(cases, busy_time_is_of_the_job);
    tcase_add_test(cases, a_cut_keeps_what_has_moved);
    tcase_add_loop_test(cases, sums_are_exact, 0, 60);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
