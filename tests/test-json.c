#include "base/error.h"
#include "base/json.h"
#include "support.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* A reader of text, through a file that is gone again at once. */
static JsonReader *
reader_of(const char *text, size_t length)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("trainshed-json-XXXXXX", &path, NULL);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, length), (ssize_t)length);
    close(fd);
    g_autoptr(GError) error = NULL;
    JsonReader *json = json_open(path, &error);
    ck_assert_msg(json != NULL, "%s", error ? error->message : "");
    g_remove(path);
    return json;
}

/* Every token as one line of letters and texts, until the end or the complaint (without the path). */
static char *
spelled(const char *text, size_t length)
{
    g_autoptr(JsonReader) json = reader_of(text, length);
    GString *out = g_string_new(NULL);
    JsonToken token;
    for (;;) {
        g_autoptr(GError) error = NULL;
        if (!json_next(json, &token, &error)) {
            ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
            ck_assert(g_str_has_prefix(error->message, json_path(json)));
            g_string_append_printf(out, "!%s", error->message + strlen(json_path(json)));
            return g_string_free(out, FALSE);
        }
        static const char *const signs[] = {".", "null", "true", "false", "#", "'", "@", "{", "}", "[", "]"};
        g_string_append(out, signs[token.kind]);
        if (token.text != NULL) {
            ck_assert_uint_eq(strlen(token.text), token.length);
            g_string_append(out, token.text);
        }
        if (token.kind == JSON_END)
            return g_string_free(out, FALSE);
        g_string_append_c(out, ' ');
    }
}

static const struct {
    const char *text, *spelled;
} cases[] = {
    {"{\"a\": [1, -2.50e3, true, false, null], \"b\\n\": \"\\u00e9\"}",
     "{ @a [ #1 #-2.50e3 true false null ] @b\n '\xc3\xa9 } ."},
    {"\xef\xbb\xbf{\r\n\"a\":\r\n1\r\n}\r\n", "{ @a #1 } ."},
    {"17", "#17 ."},
    {"\"\"", "' ."},
    {" ", "!:1: byte 1: the JSON text ends before its value does"},
    {"{\"a\": 1", "{ @a #1 !:1: byte 7: the JSON text ends before its value does"},
    {"[1,\n2,\n}", "[ #1 #2 !:3: byte 8: broken JSON: parse error: unallowed token at this point in JSON text"},
    {"[1] [2]", "[ #1 ] !:1: byte 5: broken JSON: parse error: trailing garbage"},
    {"[1,\nNaN]", "[ #1 !:2: byte 5: broken JSON: lexical error: invalid char in json text."},
    {"[01]", "[ #0 !:1: byte 3: broken JSON: parse error: after array element, I expect ',' or ']'"},
    {"[\"\xff\"]", "[ !:1: byte 3: broken JSON: lexical error: invalid bytes in UTF8 string."},
    {"{1: 2}", "{ !:1: byte 2: broken JSON: parse error: invalid object key (must be a string)"},
    {"<xml/>", "!:1: byte 1: broken JSON: lexical error: invalid char in json text."},
};

START_TEST(tokens_come_in_order_and_faults_have_a_place)
{
    g_autofree char *got = spelled(cases[_i].text, strlen(cases[_i].text));
    ck_assert_str_eq(got, cases[_i].spelled);
}
END_TEST

START_TEST(a_string_may_hold_a_zero_byte)
{
    g_autoptr(JsonReader) json = reader_of("[\"a\\u0000b\"]", 12);
    JsonToken token;
    ck_assert(json_next(json, &token, NULL) && json_next(json, &token, NULL));
    ck_assert_int_eq(token.kind, JSON_STRING);
    ck_assert_uint_eq(token.length, 3);
    ck_assert_mem_eq(token.text, "a\0b", 4);
}
END_TEST

/* Tokens that straddle the reader's chunks keep their text, line and byte. */
START_TEST(chunks_do_not_show)
{
    GString *text = g_string_new("[");
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint64));
    enum { N = 40000 };
    for (int i = 0; i < N; i++) {
        g_string_append_printf(text, "%s\"word %d\"", i == 0 ? "\n" : ",\n", i * _i);
        guint64 end = text->len;
        g_array_append_val(ends, end);
    }
    g_string_append(text, "]");
    g_autoptr(JsonReader) json = reader_of(text->str, text->len);
    JsonToken token;
    ck_assert(json_next(json, &token, NULL));
    for (int i = 0; i < N; i++) {
        char expected[32];
        g_snprintf(expected, sizeof expected, "word %d", i * _i);
        ck_assert(json_next(json, &token, NULL));
        ck_assert_str_eq(token.text, expected);
        ck_assert_uint_eq(json_byte(json), g_array_index(ends, guint64, i));
        if (i % 1000 == 0)
            ck_assert_uint_eq(json_line(json), (size_t)i + 2);
    }
    ck_assert(json_next(json, &token, NULL) && token.kind == JSON_ARRAY_END);
    ck_assert(json_next(json, &token, NULL) && token.kind == JSON_END);
    g_string_free(text, TRUE);
}
END_TEST

START_TEST(a_value_is_skipped_whole)
{
    g_autoptr(JsonReader) json = reader_of("[{\"a\": [1, {}]}, 2, [[]], 3]", 28);
    JsonToken token;
    ck_assert(json_next(json, &token, NULL));
    static const char *const left[] = {NULL, "2", NULL, "3"};
    for (size_t i = 0; i < G_N_ELEMENTS(left); i++) {
        ck_assert(json_next(json, &token, NULL));
        ck_assert_pstr_eq(token.text, left[i]);
        ck_assert(json_skip(json, &token, NULL));
    }
    ck_assert(json_next(json, &token, NULL) && token.kind == JSON_ARRAY_END);
}
END_TEST

START_TEST(whole_numbers_are_exact_or_refused)
{
    uint64_t u = 7;
    int64_t i = 7;
    ck_assert(json_uint64("9007199254740993", &u)); /* 2^53 + 1 */
    ck_assert_uint_eq(u, UINT64_C(9007199254740993));
    ck_assert(json_uint64("18446744073709551615", &u));
    ck_assert_uint_eq(u, UINT64_MAX);
    ck_assert(json_uint64("1.5e3", &u));
    ck_assert_uint_eq(u, 1500);
    ck_assert(json_int64("-9223372036854775808", &i));
    ck_assert_int_eq(i, INT64_MIN);
    static const char *const bad[] = {"18446744073709551616", "1.5", "-1", "1e99999999999", "", "x", "1x", "1e-1"};
    for (size_t k = 0; k < G_N_ELEMENTS(bad); k++)
        ck_assert_msg(!json_uint64(bad[k], &u), "%s was taken", bad[k]);
    ck_assert_uint_eq(u, 1500);
    ck_assert(!json_int64("9223372036854775808", &i));
    ck_assert(!json_int64("-9223372036854775809", &i));
}
END_TEST

START_TEST(decimal_times_are_exact)
{
    static const struct {
        const char *text;
        int digits;
        int64_t value;
    } good[] = {
        {"12.345", 3, 12345},    {"12.345", 6, 12345000}, {"1695835535123456.789", 3, INT64_C(1695835535123456789)},
        {"1.23456789", 3, 1234}, {"-1.5", 0, -2}, /* down, not towards zero */
        {"1e3", 3, 1000000},     {"0.000", 6, 0},         {"1.00000000000000000000000000001", 3, 1000},
    };
    int64_t value = 7;
    ck_assert(!json_decimal("1695835535123456.789", 6, &value)); /* 1.7e21 */
    ck_assert(!json_decimal("12.x", 6, &value));
    ck_assert_int_eq(value, 7);
    for (size_t k = 0; k < G_N_ELEMENTS(good); k++) {
        ck_assert(json_decimal(good[k].text, good[k].digits, &value));
        ck_assert_msg(value == good[k].value, "%s: %" G_GINT64_FORMAT, good[k].text, value);
    }
}
END_TEST

static long
peak_KiB(void)
{
    struct rusage usage;
    ck_assert_int_eq(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* 30 MB in the manner of Kineto: after the first tokens the peak memory stays where it is. */
START_TEST(memory_does_not_grow_with_the_file)
{
    enum { EVENTS = 200000 };
    g_autofree char *path = NULL;
    FILE *file = fdopen(g_file_open_tmp("trainshed-json-XXXXXX", &path, NULL), "w"); /* never whole in memory */
    ck_assert_ptr_nonnull(file);
    fputs("{\"traceEvents\": [\n", file);
    for (int i = 0; i < EVENTS; i++)
        fprintf(file,
                "%s{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"gemm_%d\", \"ts\": %d.125, \"dur\": 12, "
                "\"args\": {\"stream\": 7, \"correlation\": %d, \"grid\": [1, 2, 3]}}",
                i == 0 ? "" : ",\n", i, i, i);
    fputs("]}", file);
    ck_assert_int_eq(fclose(file), 0);
    g_autoptr(JsonReader) json = json_open(path, NULL);
    g_remove(path);
    JsonToken token;
    int numbers = 0;
    for (int i = 0; i < 50000; i++) {
        ck_assert(json_next(json, &token, NULL));
        numbers += token.kind == JSON_NUMBER;
    }
    long before = peak_KiB();
    while (json_next(json, &token, NULL) && token.kind != JSON_END) /* an assertion each would take seconds */
        numbers += token.kind == JSON_NUMBER;
    ck_assert_int_eq(token.kind, JSON_END);
    ck_assert_int_eq(numbers, EVENTS * 7);
    ck_assert_int_le(peak_KiB() - before, 1024);
}
END_TEST

/* The recorded DLRM step, rank 0: its events are counted by their phases, as `grep -c '"ph"'` does. */
START_TEST(a_recorded_file_is_read_to_its_end)
{
    NEED_SHARED(path, "data/kineto/dlrm-w8-kineto-rank0.json.gz");
    g_autoptr(JsonReader) json = json_open(path, NULL);
    ck_assert_ptr_nonnull(json);
    JsonToken token;
    int phases = 0;
    do {
        g_autoptr(GError) error = NULL;
        ck_assert_msg(json_next(json, &token, &error), "%s", error ? error->message : "");
        phases += token.kind == JSON_KEY && strcmp(token.text, "ph") == 0;
    } while (token.kind != JSON_END);
    ck_assert_int_eq(phases, 3290);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("json");
    TCase *tc = tcase_create("json");
    tcase_add_loop_test(tc, tokens_come_in_order_and_faults_have_a_place, 0, (int)G_N_ELEMENTS(cases));
    tcase_add_test(tc, a_string_may_hold_a_zero_byte);
    tcase_add_loop_test(tc, chunks_do_not_show, 1, 4);
    tcase_add_test(tc, a_value_is_skipped_whole);
    tcase_add_test(tc, whole_numbers_are_exact_or_refused);
    tcase_add_test(tc, decimal_times_are_exact);
    tcase_add_test(tc, memory_does_not_grow_with_the_file);
    tcase_add_test(tc, a_recorded_file_is_read_to_its_end);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
