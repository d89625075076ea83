/* test-dumpi.c - DUMPI: the .meta tells ranks and files, the binary is refused with a hint */
#include "config.h"

#include "support.h"

#include "workload/trace_format.h"

#include <string.h>

#define FOLDER "data/mpi/dumpi-alltoall-4/dumpi-2019.05.22.11.54.43"

static const struct {
    const char *file, *message; /* after the path */
} files[] = {
    {FOLDER ".meta", ": 4 ranks, in files dumpi-2019.05.22.11.54.43-0000.bin to dumpi-2019.05.22.11.54.43-0003.bin; "
                     "DUMPI's binary is not read"},
    {FOLDER "-0000.bin", ": DUMPI's binary is not read; turn it into text (dumpi2ascii) and that into GOAL"},
};

START_TEST(files_are_told_and_refused)
{
    NEED_SHARED(path, files[_i].file);
    GError *error = NULL;
    TraceSource source = {.files = (char *[]){(char *)path, NULL}, .n_files = 1};
    ck_assert(trace_format_recognise(path, NULL) == &trace_dumpi);
    ck_assert(trace_read(NULL, &source, &error) == NULL);
    ck_assert_msg(g_str_has_prefix(error->message + strlen(path), files[_i].message), "%s", error->message);
    g_error_free(error);
}
END_TEST

START_TEST(info_tells_the_ranks_and_files_of_a_meta)
{
    NEED_SHARED(path, FOLDER ".meta");
    TraceSource source = {.files = (char *[]){(char *)path, NULL}, .n_files = 1};
    g_autoptr(GString) told = g_string_new(NULL);
    ck_assert(trace_dumpi.tell(&source, told, NULL));
    ck_assert(g_str_has_prefix(told->str, "format: dumpi\nranks: 4\nfiles: dumpi-2019.05.22.11.54.43-0000.bin to "
                                          "dumpi-2019.05.22.11.54.43-0003.bin\ncannot be replayed: "));
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("dumpi");
    TCase *cases = tcase_create("cases");
    tcase_add_loop_test(cases, files_are_told_and_refused, 0, G_N_ELEMENTS(files));
    tcase_add_test(cases, info_tells_the_ranks_and_files_of_a_meta);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
