/* test-measured.c - logs of measurements: the published figures of real ones; what does not agree, and what is refused
 */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/measured.h"

#include <glib/gstdio.h>
#include <math.h>

/* The figures of ../shared/data/measured/README.md. */
static const struct {
    const char *file, *kind, *device;
    guint rows, ranks, hosts, empty;
    uint64_t last_bytes;
    double time_us, algbw, busbw, best, factor, printed, computed;
} collectives[] = {
    {"nccl-a100x8-allgather.log", "all_gather or all_to_all", "A100-SXM4-40GB", 34, 8, 1, 5, 8589934592, 33646.0,
     255.31, 223.39, 223.39, 0.875, 58.2651, 58.2647},
    {"nccl-a100x8-allreduce.log", "all_reduce", "A100-SXM4-40GB", 34, 8, 1, 2, 8589934592, 63896.0, 134.44, 235.26,
     235.26, 1.75, 68.4048, 68.4044},
    {"nccl-a100x8-alltoall.log", "all_gather or all_to_all", "A100-SXM4-40GB", 34, 8, 1, 5, 8589934592, 33508.0, 256.36,
     224.31, 224.31, 0.875, 58.6481, 58.6481},
    {"nccl-a100x8-broadcast.log", "broadcast", "A100-SXM4-40GB", 34, 8, 1, 2, 8589934592, 36896.0, 232.81, 232.81,
     232.81, 1, 64.8653, 64.8649},
    {"nccl-a100x8-reduce.log", "reduce", "A100-SXM4-40GB", 34, 8, 1, 2, 8589934592, 37613.0, 228.38, 228.38, 230.99, 1,
     65.018, 65.0179},
    {"nccl-a100x8-reducescatter.log", "reduce_scatter", "A100-SXM4-40GB", 34, 8, 1, 5, 8589934592, 32464.0, 264.6,
     231.52, 231.52, 0.875, 60.168, 60.1678},
    {"nccl-h100-2x8-gcp-allreduce.log", "all_reduce", "NVIDIA H100 80GB HBM3", 31, 16, 2, 0, 8589934592, 47535.0,
     180.71, 338.82, 338.82, 1.875, 70.742, 70.7415},
    {"rccl-mi300x-1x8-allreduce.log", "all_reduce", "AMD Instinct MI300X", 31, 8, 1, 0, 8589934592, 47617.0, 180.4,
     315.69, 315.69, 1.75, 110.464, 110.4635},
    {"rccl-mi300x-2x8-allreduce.log", "all_reduce", "AMD Instinct MI300X", 32, 16, 2, 0, 17179869184, 90115.0, 190.64,
     357.46, 357.46, 1.875, 92.3318, 92.3311},
};

START_TEST(collectives_have_their_figures_and_every_row_agrees)
{
    g_autofree char *relative = g_strconcat("data/measured/", collectives[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(Measured) measured = measured_read(path, &error);
    ck_assert_msg(measured != NULL, "%s", error ? error->message : "");
    ck_assert_int_eq(measured->form, MEASURED_COLLECTIVE);
    ck_assert_str_eq(measured->kind, collectives[_i].kind);
    ck_assert_str_eq(measured->device, collectives[_i].device);
    ck_assert_uint_eq(measured->rows->len, collectives[_i].rows);
    ck_assert_uint_eq(measured->ranks, collectives[_i].ranks);
    ck_assert_uint_eq(measured->hosts, collectives[_i].hosts);
    ck_assert_uint_eq(measured->empty, collectives[_i].empty);
    ck_assert_uint_eq(measured->unfit, 0);
    ck_assert_double_eq(measured->factor, collectives[_i].factor);
    ck_assert_double_eq(measured->best_busbw_GBps, collectives[_i].best);
    ck_assert_double_eq(measured->average_printed_GBps, collectives[_i].printed);
    ck_assert_double_eq_tol(measured->average_GBps, collectives[_i].computed, 5e-5);
    const MeasuredRow *last = &g_array_index(measured->rows, MeasuredRow, measured->rows->len - 1);
    ck_assert_uint_eq(last->bytes, collectives[_i].last_bytes);
    ck_assert_double_eq(last->out_of_place.time_us, collectives[_i].time_us);
    ck_assert_double_eq(last->out_of_place.algbw_GBps, collectives[_i].algbw);
    ck_assert_double_eq(last->out_of_place.busbw_GBps, collectives[_i].busbw);
}
END_TEST

/* unit: MB are 2^20 bytes, Gb 10^9 bits. */
static const struct {
    const char *file, *kind;
    guint rows;
    double last_average, best_average, unit;
} links[] = {
    {"perftest-ib-loopback-8M.log", "RDMA_Write BW", 2, 24056.72, 24056.72, 1048576},
    {"perftest-ib-loopback-all-sizes.log", "RDMA_Write BW", 24, 23240.68, 23277.91, 1048576},
    {"perftest-roce-2node-rocm.log", "RDMA_Write Bidirectional BW", 23, 204.59, 204.59, 1e9 / 8},
};

START_TEST(links_have_their_figures)
{
    g_autofree char *relative = g_strconcat("data/measured/", links[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(Measured) measured = measured_read(path, &error);
    ck_assert_msg(measured != NULL, "%s", error ? error->message : "");
    ck_assert_int_eq(measured->form, MEASURED_LINK);
    ck_assert_str_eq(measured->kind, links[_i].kind);
    ck_assert_uint_eq(measured->rows->len, links[_i].rows);
    double best = 0;
    for (guint i = 0; i < measured->rows->len; i++)
        best = fmax(best, g_array_index(measured->rows, MeasuredRow, i).average_Bps);
    const MeasuredRow *last = &g_array_index(measured->rows, MeasuredRow, measured->rows->len - 1);
    ck_assert_uint_eq(last->bytes, 8388608);
    ck_assert_double_eq_tol(last->average_Bps / links[_i].unit, links[_i].last_average, 1e-9);
    ck_assert_double_eq_tol(best / links[_i].unit, links[_i].best_average, 1e-9);
}
END_TEST

#define TWO_RANKS "#  Rank 0 Pid 1 on a device 0 [0] X\n#  Rank 1 Pid 2 on b device 0 [0] X\n"

/* Of two ranks all-reduce's factor is 1 and all-gather's 1/2. 1,000,000 B in 100 us are 10 GB/s. */
START_TEST(rows_that_do_not_agree_are_counted)
{
    g_autofree char *path =
        support_save(TWO_RANKS "1000000 250000 float sum -1 100.0 10.00 10.00 0 100.0 10.00 10.00 0\n"
                               "1000000 250000 float sum -1 100.0 12.00 12.00 0 100.0 10.00 10.00 0\n"
                               "1000000 250000 float sum -1 100.0 10.00 10.00 0 100.0 10.00 10.02 0\n"
                               "2000000 500000 float sum -1 200.0 10.00 10.00 0 200.0 10.00 10.00 N/A\n");
    g_autoptr(Measured) measured = measured_read(path, NULL);
    ck_assert_ptr_nonnull(measured);
    ck_assert_uint_eq(measured->rows->len, 4);
    ck_assert_uint_eq(measured->unfit, 2);
    ck_assert(g_array_index(measured->rows, MeasuredRow, 0).out_of_place.fits);
    ck_assert(!g_array_index(measured->rows, MeasuredRow, 1).out_of_place.fits);
    ck_assert(!g_array_index(measured->rows, MeasuredRow, 2).in_place.fits);
    ck_assert_str_eq(measured->kind, "all_reduce");
    g_unlink(path);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"hello\n", "there is no row of nccl-tests, rccl-tests or perftest"},
    {TWO_RANKS, "there is no row of nccl-tests"},
    {TWO_RANKS "8 2 float sum -1 2.0 0.00 0.00\n", ":3: begins like a row of a measurement, but has 8 columns that"},
    {TWO_RANKS "8 2 float sum -1 x 0.00 0.00 0 2.0 0.00 0.00 0\n",
     ":3: begins like a row of a measurement, but has 13"},
    {"#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n8 5 1 fast 2\n", ":2: begins like a row"},
};

START_TEST(what_is_wrong_is_named)
{
    g_autofree char *path = support_save(bad[_i].text);
    GError *error = NULL;
    ck_assert_ptr_null(measured_read(path, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("measured");
    TCase *tcase = tcase_create("measured");
    tcase_add_loop_test(tcase, collectives_have_their_figures_and_every_row_agrees, 0, G_N_ELEMENTS(collectives));
    tcase_add_loop_test(tcase, links_have_their_figures, 0, G_N_ELEMENTS(links));
    tcase_add_test(tcase, rows_that_do_not_agree_are_counted);
    tcase_add_loop_test(tcase, what_is_wrong_is_named, 0, G_N_ELEMENTS(bad));
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
