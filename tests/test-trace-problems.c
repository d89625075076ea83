/* test-trace-problems.c - of every trace format: a file with three mistakes, all three told with their places */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "base/problems.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

/* A Kineto file of one rank with a kernel that no launch is known of. */
#define EVENT(line, ts, dur)                                                                                           \
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":" ts ",\"dur\":" dur                   \
    ",\"args\":{\"correlation\":" line "}}"
#define KINETO(a, b, c)                                                                                                \
    "{\"distributedInfo\":{\"rank\":0,\"world_size\":1},\"traceEvents\":[\n" a ",\n" b ",\n" c "\n]}\n"

static const struct {
    const char *format, *text;
    const char *execution;   /* the execution trace beside it */
    const char *problems[3]; /* behind the path; lines and bytes are those of the text, counted by hand */
} files[] = {
    {"program",
     "program 1\nranks 2\nrole a ranks all\nstream s\n"
     "compute f time 3\n" /* no unit */
     "compute g time 3 us after f\n"
     "compte h2 time 3 us\n"                /* no such op */
     "compute i time 3 us after f g h2 \n", /* f, and h2, are known all the same; a comma is missing */
     NULL,
     {":5:16: time \"3\" has no unit", ":7:1: found \"compte\"; expected an op", ":8:29: found \"g\"; expected "}},
    {"program",
     "program 1\nranks 4\nmesh tp=3\ngroup g 0 7\nrole a ranks all\nstream s\n"
     "all_reduce r group g bytes 4\nall_reduce t group tp bytes 4\nsend x to 9 bytes 1\n",
     NULL,
     {":3:6: the axes multiply to 3 ranks; there are 4", ":4:11: rank 7 does not exist",
      ":9:11: 9 is too large; expected a rank of at most 3"}},
    {"program",
     "program 1\nranks 1\nrole a ranks all\nstream s\ncompute f time 1 us after x\ncompute \"f\ncompute g time 1 us "
     "after @9\n",
     NULL,
     {":6:9: a quoted word has no closing \"", ":5:27: there is no op \"x\" in role \"a\"",
      ":7:27: there is no op @9; the role has ops @0 to @1"}},
    {"htsim",
     "Nodes 4\nConnections 4\n0->1 id 1 start 0 size many\n1->1 start 0 size 5\n2->3 size 5\n3->0 start 0 size 5\n",
     NULL,
     {":3: size is \"many\", expected a whole number from 1 to ", ":4: host 1 sends to itself",
      ":5: the connection has neither start nor trigger; expected one of them"}},
    {"htsim",
     "Nodes 4\nConnections 2\nTriggers 1\n0->1 id 1 start 0 size 5 send_done_trigger 7\n1->2 trigger 8 size 5\n"
     "2->3 trigger 1 size 5\ntrigger id 1 oneshot\n",
     NULL,
     {": 2 connections and 1 triggers are announced, 3 and 1 found",
      ":4: send_done_trigger is 7, but there is no such trigger", ":5: trigger is 8, but there is no such trigger"}},
    {"layers",
     "name,forward_time,backward_time,parameters\na,1 us,2 us,many\nb,1 us,2 parsecs,5\nc,1 us\n",
     NULL,
     {":2: parameters is \"many\", expected a whole number from 0", ":3: backward_time: ", ":4: 2 fields, expected 4"}},
    {"layers",
     "name,forwards_time,backward_time,weight,name\na,1 us,2 us,5,b\n",
     NULL,
     {":1: found the column \"forwards_time\", expected ", ":1: found the column \"weight\", expected ",
      ":1: found the column \"name\" twice, expected "}},
    {"astra-sim",
     "DATA\n3\na -1 soon NONE 0 1 NONE 0 1 ALLREDUCE 4 1\nb -1 1 NONE 0 1 NONE 0 1 ALLREDUZE 4 1\nc -1 1 NONE 0 1\n",
     NULL,
     {":3: forward ns is \"soon\", expected a whole number from 0 to ",
      ":4: found the collective \"ALLREDUZE\", expected NONE, ALLREDUCE, ", ":5: 6 fields, expected 12 of a layer"}},
    {"simai",
     "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 4\n3\n"
     "a -1 soon NONE 0 1 NONE 0 1 ALLREDUCE 4 1\nb -1 1 NONE 0 1 NONE 0 1 ALLREDUZE 4 1\nc -1 1 NONE 0 1\n",
     NULL,
     {":3: forward ns is \"soon\", expected a whole number from 0 to ",
      ":4: found the collective \"ALLREDUZE\", expected NONE, ALLREDUCE, ", ":5: 6 fields, expected 12 of a layer"}},
    {"liballprof",
     "MPI_Init:-:0:0:10.0\nMPI_Barrier:11.0:0,1,2:12.0\nMPI_Alltoallv:13.0:5:14.0\nMPI_Barrier:15.0:0,0,1:12.0\n",
     NULL,
     {":2: MPI_Barrier: is of rank 1 of 2; the file is given as that of rank 0 of 1", ":3: MPI_Alltoallv is not read",
      ":4: MPI_Barrier ends before it starts"}},
    {"simai",
     "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2\n2\n"
     "a -1 soon NONE 0 1 NONE 0 1 ALLREDUCE 4 1\nb -1 1 NONE 0 1 NONE 0 1 ALLREDUZE 4 1\n",
     NULL,
     {":1: the file does not say how many ranks there are: give --ranks, ",
      ":3: forward ns is \"soon\", expected a whole number from 0 to ", ":4: found the collective \"ALLREDUZE\", "}},
    {"simgrid-ti",
     "0 init\n1 init\n0 compute lots\n1 compute -5\n0 jump 3\n0 finalize\n1 finalize\n",
     NULL,
     {":3: compute: \"lots\" is no number of operations", ":4: compute: \"-5\" is no number of operations",
      ":5: there is no action \"jump\" in time-independent traces"}},
    {"dumpi",
     "hostname=a\nnumprocs=many\nfileprefix=x\nfileprefix=y\nversion\n",
     NULL,
     {":2: numprocs is \"many\"; a whole number of at least 1 is expected", ":4: fileprefix is given twice",
      ":5: found \"version\", expected key=value"}},
    {"kineto",
     KINETO(EVENT("1", "\"x\"", "4"), EVENT("2", "30", "-4"), EVENT("3", "1e400", "4")),
     NULL,
     {":2: byte 61: event \"k\": ts is missing or no decimal number", ":3: byte 157: event \"k\": dur is negative",
      ":4: byte 253: event \"k\": ts is missing or no decimal number"}},
    {"kineto",
     KINETO(EVENT("1", "10", "4"), EVENT("2", "30", "4"), EVENT("3", "50", "4")),
     "{\"schema\":\"1.1.0\",\"nodes\":[\n{\"id\":-1,\"name\":\"a\"},\n{\"name\":\"b\"},\n7\n]}\n",
     {".et:2: node id is -1, expected a whole number below 2^64", ".et:3: node \"b\" has no id",
      ".et:4: nodes: expected objects"}},
};

static gboolean
is_expected(const char *path, const char *text, int file)
{
    for (guint i = 0; i < 3; i++)
        if (g_str_has_prefix(text, path) && g_str_has_prefix(text + strlen(path), files[file].problems[i]))
            return TRUE;
    return FALSE;
}

/* Reads as `trainshed trace check` does. */
static Workload *
read_file(const char *path, const char *execution, const char *format, GPtrArray *problems, GError **error)
{
    char *traces[] = {(char *)(uintptr_t)path, NULL}, *executions[] = {(char *)(uintptr_t)execution, NULL};
    TraceSource source = {.files = traces,
                          .n_files = 1,
                          .execution_files = execution != NULL ? executions : NULL,
                          .n_execution_files = execution != NULL,
                          .ranks = g_strcmp0(format, "simai") == 0 ? 0 : 4,
                          .problems = problems};
    return trace_format_find(format, NULL)->read(&source, error);
}

START_TEST(three_mistakes_are_three_problems)
{
    g_autofree char *path = support_save(files[_i].text);
    g_autofree char *execution = files[_i].execution != NULL ? g_strconcat(path, ".et", NULL) : NULL;
    if (execution != NULL)
        ck_assert(g_file_set_contents(execution, files[_i].execution, -1, NULL));
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    ck_assert_ptr_null(read_file(path, execution, files[_i].format, problems, &error));
    g_autoptr(GString) all = g_string_new(NULL);
    for (guint i = 0; i < problems->len; i++)
        g_string_append_printf(all, "%s\n", (const char *)problems->pdata[i]);
    ck_assert_msg(problems->len == 3, "%s: %s%s", files[_i].format, all->str, error->message);
    for (guint i = 0; i < 3; i++) {
        ck_assert_msg(is_expected(path, problems->pdata[i], _i), "%s: %s", files[_i].format, all->str);
        for (guint k = 0; k < i; k++)
            ck_assert_str_ne(problems->pdata[i], problems->pdata[k]);
    }
    ck_assert_msg(problems_say_all(problems, error), "%s", error->message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, path);
    g_unlink(path);
    if (execution != NULL)
        g_unlink(execution);
}
END_TEST

/* The other formats are files of bytes, and have tests of their own: tests/test-chakra.c, test-goal.c, test-otf2.c; Nsight Systems
 * is below. */
START_TEST(every_format_has_a_file_here)
{
    static const char *const elsewhere[] = {"chakra", "chakra-json", "goal", "nsys", "otf2", NULL};
    for (const TraceFormat *const *format = trace_formats(); *format != NULL; format++) {
        gboolean found = g_strv_contains(elsewhere, (*format)->name);
        for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
            found = found || strcmp(files[i].format, (*format)->name) == 0;
        ck_assert_msg(found, "format %s has no file with three mistakes", (*format)->name);
    }
}
END_TEST

/* Three rows of kernels that end before they start are told by their row ids. */
START_TEST(three_rows_of_an_export)
{
    g_autofree char *bytes = NULL;
    gsize length;
    ck_assert(g_file_get_contents(support_source("tests/data/nsys-two-ranks.sqlite"), &bytes, &length, NULL));
    g_autofree char *path = support_save("");
    ck_assert(g_file_set_contents(path, bytes, (gssize)length, NULL));
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    const char *sql = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = start - 1 WHERE rowid IN "
                      "(SELECT rowid FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY rowid LIMIT 3)";
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_changes(db), 3);
    sqlite3_close(db);
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    ck_assert_ptr_null(read_file(path, NULL, "nsys", problems, &error));
    ck_assert_uint_eq(problems->len, 3);
    for (guint i = 0; i < 3; i++) {
        g_autofree char *row = g_strdup_printf("%s: CUPTI_ACTIVITY_KIND_KERNEL, row %u: from ", path, i + 1);
        ck_assert_msg(g_str_has_prefix(problems->pdata[i], row), "%s", (const char *)problems->pdata[i]);
    }
    g_clear_error(&error);
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("trace problems");
    TCase *tcase = tcase_create("problems");
    tcase_add_loop_test(tcase, three_mistakes_are_three_problems, 0, G_N_ELEMENTS(files));
    tcase_add_test(tcase, every_format_has_a_file_here);
    tcase_add_test(tcase, three_rows_of_an_export);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
