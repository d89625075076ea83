/* test-trace-format.c - which file is which rank's, and which format it is */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/trace_format.h"

#include <stdio.h>
#include <string.h>

static char folder[] = "/tmp/trainshed-test-format-XXXXXX";

static void
save(const char *name, const char *data, size_t length)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    FILE *file = fopen(path, "wb");
    ck_assert(file != NULL && fwrite(data, 1, length, file) == length && fclose(file) == 0);
}

/* Files, the patterns that name them, and in which order they come; or the message, in which % is the folder. */
static const struct {
    const char *files[6], *patterns[4], *order[6], *message;
} pairs[] = {
    {{"rank10.json", "rank9.json"}, {"rank*.json"}, {NULL}, "no file of rank 0, 1, 2, 3, 4, 5, 6, 7, ..."},
    {{"t.0.et", "t.1.et", "t.2.et", "t.3.et"}, {"t.*.et"}, {"t.0.et", "t.1.et", "t.2.et", "t.3.et"}, NULL},
    {{"t.0.et", "t.1.et"}, {"t.1.et", "t.0.et"}, {"t.0.et", "t.1.et"}, NULL},
    {{"a-w8-r0.gz", "a-w8-r1.gz", "a-w8-r2.gz"}, {"a-*.gz"}, {"a-w8-r0.gz", "a-w8-r1.gz", "a-w8-r2.gz"}, NULL},
    {{"r0-v1.2.json", "r1-v1.2.json"}, {"r*"}, {"r0-v1.2.json", "r1-v1.2.json"}, NULL},
    {{"r00.json", "r01.json"}, {"r*"}, {"r00.json", "r01.json"}, NULL},
    {{"alone.json"}, {"alone.json"}, {"alone.json"}, NULL},
    {{"alone7.json"}, {"alone7.json"}, {"alone7.json"}, NULL},
    {{"t.0.et", "t.1.et", "t.3.et"},
     {"t.*.et"},
     {NULL},
     "%/t.0.et to %/t.3.et: no file of rank 2; ranks are the numbers in the names, 0 to 3"},
    {{"t.1.et", "t.2.et"},
     {"t.*.et"},
     {NULL},
     "%/t.1.et to %/t.2.et: no file of rank 0; ranks are the numbers in the names, 0 to 2"},
    {{"t.0.et", "t.1.et", "t.01.et"}, {"t.*.et"}, {NULL}, "%/t.01.et and %/t.1.et are both files of rank 1"},
    {{"t.0.et", "t.1.et"}, {"t.*.et", "t.1.et"}, {NULL}, "%/t.1.et and %/t.1.et are both files of rank 1"},
    {{"x.et", "y.et"},
     {"*.et"},
     {NULL},
     "%/x.et and %/y.et: no number in their names differs, so which rank is which is not known"},
    {{"x.et"}, {"*.json"}, {NULL}, "%/*.json: there is no such file"},
    {{"x.et"}, {"x.et", "nope"}, {NULL}, "%/nope: there is no such file"},
};

START_TEST(files_pair_with_ranks_by_the_number_that_differs)
{
    g_autofree char *sub = g_build_filename(folder, "pair-XXXXXX", NULL);
    ck_assert_ptr_nonnull(g_mkdtemp(sub));
    for (uint32_t i = 0; i < 6 && pairs[_i].files[i] != NULL; i++) {
        g_autofree char *path = g_build_filename(sub, pairs[_i].files[i], NULL);
        FILE *file = fopen(path, "wb");
        ck_assert(file != NULL && fclose(file) == 0);
    }
    GError *error = NULL;
    g_auto(GStrv) files = trace_pair(sub, pairs[_i].patterns, &error);
    if (pairs[_i].message != NULL) {
        g_auto(GStrv) parts = g_strsplit(pairs[_i].message, "%", -1);
        g_autofree char *expected = g_strjoinv(sub, parts);
        ck_assert_ptr_null(files);
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, expected);
        return;
    }
    ck_assert_msg(files != NULL, "%s", error ? error->message : "");
    for (uint32_t i = 0; i < 6; i++) {
        g_autofree char *base = files[i] != NULL ? g_path_get_basename(files[i]) : NULL;
        ck_assert_pstr_eq(base, pairs[_i].order[i]);
        if (base == NULL)
            break;
    }
}
END_TEST

START_TEST(ranks_come_in_their_natural_order)
{
    char name[32];
    for (uint32_t rank = 0; rank < 128; rank++) {
        g_snprintf(name, sizeof name, "many.%u.et", rank);
        save(name, "", 0);
    }
    const char *patterns[] = {"many.*.et", NULL};
    g_auto(GStrv) files = trace_pair(folder, patterns, NULL);
    ck_assert_uint_eq(g_strv_length(files), 128);
    for (uint32_t rank = 0; rank < 128; rank++) {
        g_snprintf(name, sizeof name, "/many.%u.et", rank);
        ck_assert(g_str_has_suffix(files[rank], name));
    }
}
END_TEST

static const struct {
    const char *head;
    size_t length;
    const char *format; /* NULL = none */
} heads[] = {
    {"program 1\n", 10, "program"},
    {"# c\n\n\tprogram 1\n", 15, "program"},
    {"\xef\xbb\xbfprogram 1\n", 13, "program"},
    {"programs\n", 9, NULL},
    {"{\"workload_graph\": []}", 22, "chakra-json"},
    {"{\n  \"workload_name\": \"x\", \"workload_graph\": []}", 47, "chakra-json"},
    {"{\"traceEvents\": [", 17, "kineto"},
    {"\0\x07\x08\x01\x12\x01"
     "a\x18\x04",
     9, "chakra"},
    {"\x07\x0a\x05"
     "0.0.4\x02\x08\x01",
     11, "chakra"},
    {"\x04\x08\x01\x12\0\x04\x08\x02\x12\0", 10, "chakra"}, /* an old schema: recognised, to be refused by name */
    {"{\"a\": 1}", 8, NULL},
    {"plain words", 11, NULL},
    {"\x7f"
     "ELF\x02\x01\x01\0\0\0\0\0",
     12, NULL},
    {"\0\0\0\0", 4, NULL},
};

START_TEST(formats_are_recognised_by_content)
{
    save("head", heads[_i].head, heads[_i].length);
    g_autofree char *path = g_build_filename(folder, "head", NULL);
    GError *error = NULL;
    const TraceFormat *format = trace_format_recognise(path, &error);
    ck_assert_pstr_eq(format != NULL ? format->name : NULL, heads[_i].format);
    if (format == NULL)
        support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                             "which no known trace format does; 'trainshed trace formats'");
}
END_TEST

static const struct {
    const char *path, *format;
} samples[] = {
    {"data/chakra/chakra/chakra.0.et.gz", "chakra"},
    {"data/chakra/astra-sim/custom_ring_allreduce_8npus_1MB/custom_allreduce.3.et", "chakra"},
    {"data/chakra/astra-sim/microbenchmarks/all_to_all-8npus_1MB/all_to_all.0.et", "chakra"},
    {"data/chakra/chakra/chakra.0.json.gz", "chakra-json"},
    {"data/kineto/dlrm-w8-kineto-rank0.json.gz", "kineto"},
};

START_TEST(real_files_are_recognised)
{
    NEED_SHARED(path, samples[_i].path);
    GError *error = NULL;
    const TraceFormat *format = trace_format_recognise(path, &error);
    ck_assert_msg(format != NULL, "%s", error ? error->message : "");
    ck_assert_str_eq(format->name, samples[_i].format);
}
END_TEST

START_TEST(what_cannot_be_recognised_tells_its_first_bytes)
{
    save("head",
         "\x7f"
         "ELF \x80",
         6);
    g_autofree char *path = g_build_filename(folder, "head", NULL);
    GError *error = NULL;
    ck_assert_ptr_null(trace_format_recognise(path, &error));
    g_autofree char *expected = g_strdup_printf(
        "%s: starts with \"\\x7fELF \\x80\", which no known trace format does; 'trainshed trace formats' lists them",
        path);
    ck_assert_str_eq(error->message, expected);
    g_clear_error(&error);
    ck_assert_ptr_null(trace_format_recognise(folder, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, folder);
}
END_TEST

START_TEST(a_format_is_found_by_name)
{
    GError *error = NULL;
    ck_assert_ptr_eq(trace_format_find("chakra", NULL), &trace_chakra);
    ck_assert_ptr_null(trace_format_find("chacra", &error));
    support_expect_error(
        &error, TRAINSHED_ERROR_INPUT,
        "there is no trace format \"chacra\"; did you mean \"chakra\"; 'trainshed trace formats' lists them");
    TraceSource none = {.n_files = 0};
    ck_assert_ptr_null(trace_read(NULL, &none, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "no trace files are given");
}
END_TEST

static void
remove_folder(void)
{
    g_autofree char *command = g_strdup_printf("rm -rf '%s'", folder);
    if (system(command) != 0)
        abort();
}

int
main(void)
{
    if (g_mkdtemp(folder) == NULL)
        abort();
    Suite *suite = suite_create("trace-format");
    TCase *files = tcase_create("files");
    tcase_add_loop_test(files, files_pair_with_ranks_by_the_number_that_differs, 0, G_N_ELEMENTS(pairs));
    tcase_add_test(files, ranks_come_in_their_natural_order);
    suite_add_tcase(suite, files);
    TCase *formats = tcase_create("formats");
    tcase_add_loop_test(formats, formats_are_recognised_by_content, 0, G_N_ELEMENTS(heads));
    tcase_add_loop_test(formats, real_files_are_recognised, 0, G_N_ELEMENTS(samples));
    tcase_add_test(formats, what_cannot_be_recognised_tells_its_first_bytes);
    tcase_add_test(formats, a_format_is_found_by_name);
    suite_add_tcase(suite, formats);
    int status = support_main(suite);
    remove_folder();
    return status;
}
