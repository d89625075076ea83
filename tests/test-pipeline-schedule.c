/* test-pipeline-schedule.c - schedules: each equals its closed form with free communication, none holds more than its
 * bound; a user's own is read and checked */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/pipeline_schedule.h"

#include <glib/gstdio.h>

/* Bubble = last end - first start of the stage with the most, less its work. */
static SimTime
bubble(const PipelineSchedule *s, SimTime f, SimTime b, SimTime w)
{
    SimTime most = 0;
    g_autofree SimTime *first = g_new(SimTime, s->stages), *last = g_new(SimTime, s->stages);
    pipeline_schedule_time(s, f, b, w, first, last);
    for (uint32_t i = 0; i < s->stages; i++)
        most = MAX(most, last[i] - first[i] - s->micro_batches * s->chunks * (f + b + w));
    return most;
}

/* Stages, chunks, micro-batches. */
static const struct {
    uint32_t p, v, m;
} sizes[] = {{1, 1, 1},   {1, 1, 5}, {2, 1, 2}, {2, 1, 7},  {4, 1, 4}, {4, 1, 16}, {8, 1, 8}, {8, 1, 64}, {16, 1, 3},
             {16, 1, 64}, {2, 2, 4}, {4, 2, 8}, {4, 3, 16}, {4, 2, 4}, {8, 4, 32}, {8, 2, 8}, {6, 5, 12}, {64, 1, 512}};

START_TEST(gpipe_and_1f1b)
{
    uint32_t p = sizes[_i].p, m = sizes[_i].m;
    static const char *const names[] = {"gpipe", "1f1b"};
    for (int k = 0; k < 2; k++) {
        g_autoptr(PipelineSchedule) s = pipeline_schedule_new(names[k], p, 1, m, NULL);
        ck_assert(pipeline_schedule_check(s, NULL));
        /* (m + p - 1)(t_f + t_b): Narayanan et al. 2021, section 2.2.1 */
        ck_assert_int_eq(pipeline_schedule_time(s, 10, 13, 7, NULL, NULL), (m + p - 1) * 30);
        for (uint32_t i = 0; i < p; i++)
            ck_assert_uint_eq(pipeline_schedule_peak(s, i), (k == 0 ? m : MIN(m, p - i)));
    }
}
END_TEST

/* Narayanan et al. 2021, section 2.2.2: the bubble is (p - 1)(t_f + t_b) / v; here f and b are a chunk's. */
START_TEST(interleaved)
{
    uint32_t p = sizes[_i].p, v = sizes[_i].v, m = sizes[_i].m;
    if (m % p != 0)
        return;
    g_autoptr(PipelineSchedule) s = pipeline_schedule_new("interleaved", p, v, m, NULL);
    ck_assert(pipeline_schedule_check(s, NULL));
    ck_assert_int_eq(pipeline_schedule_time(s, 10, 13, 7, NULL, NULL), (m * v + p - 1) * 30);
    for (uint32_t i = 0; i < p; i++) {
        ck_assert_uint_le(pipeline_schedule_peak(s, i), pipeline_schedule_bound(s, i));
        if (m > p)
            ck_assert_uint_eq(pipeline_schedule_bound(s, i), MIN(m * v, 2 * (p - 1 - i) + (v - 1) * p + 1));
    }
}
END_TEST

/* Qi et al. 2024, table 1: H1 has a bubble of (p - 1)(T_F + T_B - T_W) and holds p micro-batches, H2 of
 * (p - 1)(T_F + T_B - 2 T_W) and holds 2 p - 1; with T_F = T_B = T_W. */
START_TEST(zero_bubble)
{
    uint32_t p = sizes[_i].p, m = sizes[_i].m;
    g_autoptr(PipelineSchedule) h1 = pipeline_schedule_new("zb-h1", p, 1, m, NULL);
    g_autoptr(PipelineSchedule) h2 = pipeline_schedule_new("zb-h2", p, 1, m, NULL);
    ck_assert(pipeline_schedule_check(h1, NULL));
    ck_assert(pipeline_schedule_check(h2, NULL));
    for (uint32_t i = 0; i < p; i++) {
        ck_assert_uint_le(pipeline_schedule_peak(h1, i), MIN(m, p));
        ck_assert_uint_le(pipeline_schedule_peak(h2, i), MIN(m, 2 * p - 1));
    }
    if (m >= p) {
        ck_assert_int_eq(bubble(h1, 10, 10, 10), (p - 1) * 10);
        ck_assert_uint_eq(pipeline_schedule_peak(h1, 0), p);
    }
    if (m >= 2 * p - 1) {
        ck_assert_int_eq(bubble(h2, 10, 10, 10), 0);
        ck_assert_uint_eq(pipeline_schedule_peak(h2, 0), 2 * p - 1);
    }
}
END_TEST

/* The same formulas where the passes differ, as long as a bubble is left and F is no longer than B. */
START_TEST(zero_bubble_of_unequal_passes)
{
    static const SimTime passes[][3] = {{10, 12, 8}, {10, 11, 9}, {10, 15, 10}, {7, 9, 7}, {10, 14, 6}};
    SimTime f = passes[_i][0], b = passes[_i][1], w = passes[_i][2];
    for (uint32_t p = 2; p <= 8; p *= 2)
        for (uint32_t m = 2 * p; m <= 6 * p; m += p) {
            g_autoptr(PipelineSchedule) h1 = pipeline_schedule_new("zb-h1", p, 1, m, NULL);
            ck_assert_int_eq(bubble(h1, f, b, w), (p - 1) * (f + b - w));
            g_autoptr(PipelineSchedule) h2 = pipeline_schedule_new("zb-h2", p, 1, m, NULL);
            ck_assert_int_eq(bubble(h2, f, b, w), (p - 1) * MAX(f + b - 2 * w, 0));
        }
}
END_TEST

/* A third of 1F1B's bubble where the three passes last equally long, as the paper says of H1. */
START_TEST(h1_beats_1f1b)
{
    g_autoptr(PipelineSchedule) h1 = pipeline_schedule_new("zb-h1", 8, 1, 24, NULL);
    g_autoptr(PipelineSchedule) plain = pipeline_schedule_new("1f1b", 8, 1, 24, NULL);
    ck_assert_int_eq(3 * bubble(h1, 10, 10, 10), bubble(plain, 10, 10, 10));
}
END_TEST

static const struct {
    const char *text, *message;
    uint32_t stages, chunks, micro_batches;
} own[] = {
    {"# two stages\nF0 F1 B0 B1\nF0 B0 F1 B1\n", NULL, 2, 1, 2},
    {"F0 B0 W0", NULL, 1, 1, 1},
    {"F0.0 F0.1 B0.1 B0.0\nF0.0 F0.1 B0.1 B0.0\n", NULL, 2, 2, 1},
    {"F0 F1 B0 B1\n", "1 lines with steps, expected 2: one a stage", 2, 1, 2},
    {"F0 B0\nF0 B0\nF0 B0\n", ":3: a line too many: there are 2 stages", 2, 1, 1},
    {"F0 B0 G1\nF0 B0\n", ":1: found \"G1\", expected a step such as F0, B0, W0 or F0.1", 2, 1, 1},
    {"F0 B0\nF0 B0x\n", ":2: found \"B0x\", expected a step such as F0, B0, W0 or F0.1", 2, 1, 1},
    {"F0 B0\nF0 B1\n", ":2: \"B1\" is not of the 1 micro-batches and 1 chunks (from 0)", 2, 1, 1},
    {"F0 B0 F0\nF0 B0\n", ": stage 0: F0 is there twice", 2, 1, 1},
    {"F0 F1 B0\nF0 F1 B0 B1\n", ": stage 0: B1 is missing", 2, 1, 2},
    {"F0 F1 B0 B1 W0\nF0 F1 B0 B1 W0 W1\n", ": stage 0: W1 is missing", 2, 1, 2},
    {"B0 F0\nF0 B0\n", ": stage 0 can never run B0: what it waits for comes later, here or on another stage", 2, 1, 1},
    {"F0 B0 F1 B1\nF1 F0 B0 B1\n",
     ": stage 0 can never run B0: what it waits for comes later, here or on another stage", 2, 1, 2},
};

START_TEST(own_files)
{
    char *path = support_save(own[_i].text);
    GError *error = NULL;
    g_autoptr(PipelineSchedule) s =
        pipeline_schedule_read(path, own[_i].stages, own[_i].chunks, own[_i].micro_batches, &error);
    if (own[_i].message == NULL) {
        ck_assert_msg(s != NULL, "%s", error != NULL ? error->message : "");
        ck_assert_uint_eq(pipeline_schedule_bound(s, 0), UINT32_MAX);
    } else {
        ck_assert_ptr_null(s);
        ck_assert(g_str_has_suffix(error->message, own[_i].message));
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, own[_i].message);
    }
    g_unlink(path);
    g_free(path);
}
END_TEST

static const struct {
    const char *name;
    uint32_t stages, chunks, micro_batches;
    const char *message;
} bad[] = {
    {"1f1c", 4, 1, 8, "there is no schedule \"1f1c\"; did you mean \"1f1b\""},
    {"1f1b", 4, 2, 8, "schedule 1f1b has one chunk a stage, but virtual_stages is 2"},
    {"interleaved", 4, 2, 10, "schedule interleaved: 10 micro-batches do not divide by the 4 stages"},
    {"gpipe", 65536, 1, 65536, "65536 stages x 1 chunks x 65536 micro-batches are above 2^28 steps"},
};

START_TEST(refused)
{
    GError *error = NULL;
    ck_assert_ptr_null(
        pipeline_schedule_new(bad[_i].name, bad[_i].stages, bad[_i].chunks, bad[_i].micro_batches, &error));
    ck_assert_str_eq(error->message, bad[_i].message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("pipeline-schedule");
    TCase *tcase = tcase_create("pipeline-schedule");
    tcase_add_loop_test(tcase, gpipe_and_1f1b, 0, G_N_ELEMENTS(sizes));
    tcase_add_loop_test(tcase, interleaved, 0, G_N_ELEMENTS(sizes));
    tcase_add_loop_test(tcase, zero_bubble, 0, G_N_ELEMENTS(sizes));
    tcase_add_loop_test(tcase, zero_bubble_of_unequal_passes, 0, 5);
    tcase_add_test(tcase, h1_beats_1f1b);
    tcase_add_loop_test(tcase, own_files, 0, G_N_ELEMENTS(own));
    tcase_add_loop_test(tcase, refused, 0, G_N_ELEMENTS(bad));
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
