#include "base/error.h"
#include "base/units.h"
#include "support.h"

/* A text and what it means, or the exact complaint. */
typedef struct {
    const char *text;
    double value;
    const char *error;
} Case;

static const Case rate_cases[] = {
    {"400 Gb/s", 50e9, NULL},
    {"400Gb/s", 50e9, NULL},
    {"  400  Gbps ", 50e9, NULL},
    {"400 Gbit/s", 50e9, NULL},
    {"50 GB/s", 50e9, NULL},
    {"0.5 GiB/s", 536870912, NULL},
    {"8 Kib/s", 1024, NULL},
    {"8 b/s", 1, NULL},
    {"0 B/s", 0, NULL},
    {"-0 B/s", 0, NULL},
    {"4e2 Gb/s", 50e9, NULL},
    {".4 Tb/s", 50e9, NULL},
    {"+1 B/s", 1, NULL},
    {"400", 0, "rate \"400\" has no unit; write for example \"400 Gb/s\""},
    {"4e2", 0, "rate \"4e2\" has no unit; write for example \"4e2 Gb/s\""},
    {"", 0, "rate \"\" is empty; write for example \"1 Gb/s\""},
    {"  ", 0, "rate \"  \" is empty; write for example \"1 Gb/s\""},
    {"fast", 0, "rate \"fast\" does not begin with a number; write for example \"1 Gb/s\""},
    {"nan Gb/s", 0, "rate \"nan Gb/s\" does not begin with a number; write for example \"1 Gb/s\""},
    {"inf B/s", 0, "rate \"inf B/s\" does not begin with a number; write for example \"1 Gb/s\""},
    {"Gb/s", 0, "rate \"Gb/s\" does not begin with a number; write for example \"1 Gb/s\""},
    {"-4 Gb/s", 0, "rate \"-4 Gb/s\" is negative"},
    {"0x10 B/s", 0, "rate \"0x10 B/s\" has the unknown unit \"x10 B/s\"; write for example \"0 Gb/s\""},
    {"400 gb/s", 0, "rate \"400 gb/s\" has the unknown unit \"gb/s\"; write for example \"400 Gb/s\""},
    {"400 Gb", 0, "rate \"400 Gb\" has the unknown unit \"Gb\"; write for example \"400 Gb/s\""},
    {"1,5 Gb/s", 0, "rate \"1,5 Gb/s\" has the unknown unit \",5 Gb/s\"; write for example \"1 Gb/s\""},
    {"1e400 B/s", 0, "rate \"1e400 B/s\" is too large"},
    {"1e300 PB/s", 0, "rate \"1e300 PB/s\" is too large"},
};

static const Case size_cases[] = {
    {"1 B", 1, NULL},
    {"80 GiB", 85899345920, NULL},
    {"1.5 KiB", 1536, NULL},
    {"2.6 MB", 2600000, NULL},
    {"64kB", 64000, NULL},
    {"8 b", 1, NULL},
    {"12 Kib", 1536, NULL},
    {"0 B", 0, NULL},
    {"1 PB", 1e15, NULL},
    {"512", 0, "size \"512\" has no unit; write for example \"512 MiB\""},
    {"4 b", 0, "size \"4 b\" is not a whole number of bytes"},
    {"0.3 B", 0, "size \"0.3 B\" is not a whole number of bytes"},
    {"0.1 KiB", 0, "size \"0.1 KiB\" is not a whole number of bytes"},
    {"64 KB", 0, "size \"64 KB\" has the unknown unit \"KB\"; write for example \"64 MiB\""},
    {"-1 B", 0, "size \"-1 B\" is negative"},
    {"1e30 B", 0, "size \"1e30 B\" is too large"},
    {"1.000000000000000000001 B", 0, "size \"1.000000000000000000001 B\" has more than 20 significant digits"},
};

static const Case time_cases[] = {
    {"5 us", 5e6, NULL},
    {"5 \u00b5s", 5e6, NULL},
    {"5 \u03bcs", 5e6, NULL},
    {"600 ns", 600e3, NULL},
    {"4.5493 ms", 4549300000, NULL}, /* in doubles 4.5493 x 1e9 is above it */
    {"0.1 s", 1e11, NULL},
    {"1.5 min", 90e12, NULL},
    {"2 h", 7200e12, NULL},
    {"1 d", 86400e12, NULL},
    {"0 s", 0, NULL},
    {"7 ps", 7, NULL},
    {"5", 0, "time \"5\" has no unit; write for example \"5 ms\""},
    {"0.5 ps", 0, "time \"0.5 ps\" is not a whole number of picoseconds"},
    {"107 d", 0, "time \"107 d\" is beyond the range of simulated time, 106 days"},
    {"1e9 d", 0, "time \"1e9 d\" is too large"},
    {"-1 us", 0, "time \"-1 us\" is negative"},
    {"3 weeks", 0, "time \"3 weeks\" has the unknown unit \"weeks\"; write for example \"3 ms\""},
};

static const Case length_cases[] = {
    {"40 km", 40, NULL},
    {"500 m", 0.5, NULL},
    {"40", 0, "length \"40\" has no unit; write for example \"40 km\""},
    {"3 miles", 0, "length \"3 miles\" has the unknown unit \"miles\"; write for example \"3 km\""},
};

static const Case compute_cases[] = {
    {"989 TFLOP/s", 989e12, NULL},
    {"312 TFLOPS", 312e12, NULL},
    {"1 FLOP/s", 1, NULL},
    {"1.5 EFLOP/s", 1.5e18, NULL},
    {"989", 0, "compute rate \"989\" has no unit; write for example \"989 TFLOP/s\""},
    {"989 TFLOP", 0, "compute rate \"989 TFLOP\" has the unknown unit \"TFLOP\"; write for example \"989 TFLOP/s\""},
};

static const Case cost_cases[] = {
    {"0 s/B", 0, NULL},
    {"20 ps/B", 20e-12, NULL},
    {"1 s/GB", 1e-9, NULL},
    {"1 ns/KiB", 1e-9 / 1024, NULL},
    {"0", 0, "cost per byte \"0\" has no unit; write for example \"0 ps/B\""},
    {"3 s", 0, "cost per byte \"3 s\" has the unknown unit \"s\"; write for example \"3 ps/B\""},
    {"3 B/s", 0, "cost per byte \"3 B/s\" has the unknown unit \"B/s\"; write for example \"3 ps/B\""},
};

static gboolean
size_of(const char *text, double *value, GError **error)
{
    uint64_t bytes;
    if (!units_parse_size(text, &bytes, error))
        return FALSE;
    *value = (double)bytes;
    return TRUE;
}

static gboolean
time_of(const char *text, double *value, GError **error)
{
    SimTime time;
    if (!units_parse_time(text, &time, error))
        return FALSE;
    *value = (double)time;
    return TRUE;
}

static void
check_cases(const Case *cases, size_t n, gboolean (*parse)(const char *, double *, GError **))
{
    for (size_t i = 0; i < n; i++) {
        g_autoptr(GError) error = NULL;
        double value = -7;
        gboolean good = parse(cases[i].text, &value, &error);
        if (cases[i].error == NULL) {
            ck_assert_msg(good, "\"%s\": %s", cases[i].text, error ? error->message : "");
            ck_assert_msg(value == cases[i].value, "\"%s\": %.17g, expected %.17g", cases[i].text, value,
                          cases[i].value);
        } else {
            ck_assert_msg(!good && value == -7, "\"%s\" was taken as %g", cases[i].text, value);
            ck_assert_str_eq(error->message, cases[i].error);
            ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
        }
    }
}

START_TEST(quantities_are_read_with_their_unit_and_refused_without)
{
    check_cases(rate_cases, G_N_ELEMENTS(rate_cases), units_parse_rate);
    check_cases(size_cases, G_N_ELEMENTS(size_cases), size_of);
    check_cases(time_cases, G_N_ELEMENTS(time_cases), time_of);
    check_cases(length_cases, G_N_ELEMENTS(length_cases), units_parse_length);
    check_cases(compute_cases, G_N_ELEMENTS(compute_cases), units_parse_compute);
    check_cases(cost_cases, G_N_ELEMENTS(cost_cases), units_parse_byte_cost);
}
END_TEST

START_TEST(the_largest_time_is_the_range)
{
    SimTime time;
    ck_assert(units_parse_time("9223372036854775807 ps", &time, NULL));
    ck_assert_int_eq(time, SIM_TIME_MAX);
    g_autoptr(GError) error = NULL;
    ck_assert(!units_parse_time("9223372036854775808 ps", &time, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "beyond the range");
    uint64_t bytes;
    ck_assert(units_parse_size("2305843009213693951 B", &bytes, NULL)); /* 2^61 - 1 */
    ck_assert_uint_eq(bytes, (UINT64_C(1) << 61) - 1);
}
END_TEST

static void
check_text(char *text, const char *expected)
{
    ck_assert_str_eq(text, expected);
    g_free(text);
}

START_TEST(quantities_are_printed_in_the_unit_that_fits)
{
    check_text(units_format_rate(50e9), "400 Gb/s");
    check_text(units_format_rate(0), "0 b/s");
    check_text(units_format_rate(1.25e11), "1 Tb/s");
    check_text(units_format_rate(124.9999e9), "1 Tb/s");
    check_text(units_format_size(13421773), "12.8 MiB");
    check_text(units_format_size(1023), "1023 B");
    check_text(units_format_size(1024), "1 KiB");
    check_text(units_format_size(0), "0 B");
    check_text(units_format_time(20820000000), "20.82 ms");
    check_text(units_format_time(7), "7 ps");
    check_text(units_format_time(0), "0 ps");
    check_text(units_format_time(-1500), "-1.5 ns");
    check_text(units_format_time(90 * PS_PER_S), "90 s");
    check_text(units_format_time(150 * PS_PER_S), "2.5 min");
    check_text(units_format_time(7200 * PS_PER_S), "2 h");
    check_text(units_format_time(3 * 86400 * PS_PER_S), "3 d");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("units");
    TCase *tc = tcase_create("units");
    tcase_add_test(tc, quantities_are_read_with_their_unit_and_refused_without);
    tcase_add_test(tc, the_largest_time_is_the_range);
    tcase_add_test(tc, quantities_are_printed_in_the_unit_that_fits);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
