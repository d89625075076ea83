/* Nsight Systems exports: the counts of ../shared/data/nsys/README.md, and small exports made here by hand. */
#include "base/error.h"
#include "support.h"
#include "workload/message_sizes.h"
#include "workload/nsys_calls.h"
#include "workload/nsys_export.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

/* Of one device in the README's rows. */
typedef struct {
    int64_t kernels, nccl, nccl_ns, nccl_least_ns, nccl_most_ns;
} Device;

/* "launched": kernels whose (process, correlationId) is in RUNTIME; the bare ids would give one to eleven more. */
static const struct {
    const char *file;
    int64_t kernel_ns, first_ns, last_ns, launched, copies_ns;
    Device devices[2];
    const char *copies, *calls, *ranges; /* "NAME COUNT BYTES;...", "NAME COUNT;..." */
} rows[] = {
    {"mfu_2gpu_before",
     535200650,
     60111513113,
     60411390119,
     3986,
     26656 + 5665431,
     {{1993, 33, 17172652, 99808, 3603569}, {2017, 33, 8229100, 89440, 1825243}},
     "Memcpy DtoD 986 8046134272;Memcpy HtoD 34 272",
     "ncclCommCount 66;ncclGroupEnd 66;ncclGroupStart 66;ncclRecv 132;ncclSend 132",
     "all_to_all 66"},
    {"mfu_2gpu_after",
     488835406,
     72897735147,
     73196976680,
     3577,
     25184 + 5061490,
     {{1793, 31, 9989016, 99327, 3228629}, {1794, 31, 23753085, 90272, 7291182}},
     "Memcpy DtoD 872 7195376640;Memcpy HtoD 32 256",
     "ncclCommCount 60;ncclGroupEnd 60;ncclGroupStart 60;ncclRecv 120;ncclSend 120",
     "all_to_all 60"},
    {"h100_2gpu_1s",
     44829522,
     155360295935,
     156320780944,
     1632,
     1841630798 + 7872 + 39203544,
     {{1721, 0, 0, INT64_MAX, 0}, {1721, 0, 0, INT64_MAX, 0}},
     "Memcpy DtoD 450 59368472576;Memcpy DtoH 4 18;Memcpy HtoD 450 50950507584",
     "",
     ""},
};

static char *
spelled(const GArray *counts, gboolean bytes)
{
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < counts->len; i++) {
        const KinetoCount *row = &g_array_index(counts, KinetoCount, i);
        g_string_append_printf(text, "%s%s %u", i > 0 ? ";" : "", row->name, row->count);
        if (bytes)
            g_string_append_printf(text, " %" G_GUINT64_FORMAT, row->in_bytes);
    }
    return g_string_free(text, FALSE);
}

START_TEST(an_export_has_the_counts_of_the_readme)
{
    g_autofree char *relative = g_strdup_printf("data/nsys/%s.sqlite.gz", rows[_i].file);
    NEED_SHARED(path, relative);
    g_autoptr(GError) error = NULL;
    g_autoptr(NsysExport) nsys = nsys_export_read(path, NULL, &error);
    ck_assert_msg(nsys != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(nsys->files->len, 2);
    g_autoptr(GArray) copied = kineto_counts_new();
    int64_t kernel_ns = 0, launched = 0, copies_ns = 0, first = INT64_MAX, last = 0;
    for (guint r = 0; r < 2; r++) {
        KinetoFile *file = g_ptr_array_index(nsys->files, r);
        const Device *expected = &rows[_i].devices[r];
        Device got = {.nccl_least_ns = INT64_MAX};
        for (guint i = 0; i < file->events[KINETO_KERNEL]->len; i++) {
            const KinetoEvent *kernel = kineto_event(file, KINETO_KERNEL, i);
            int64_t ns = kernel->end_ns - kernel->start_ns;
            ck_assert_str_eq(g_array_index(file->lanes, KinetoLane, kernel->lane).name, r == 0 ? "0/7" : "1/15");
            got.kernels++;
            kernel_ns += ns;
            first = MIN(first, kernel->start_ns);
            last = MAX(last, kernel->end_ns);
            if (!kineto_is_nccl(kernel))
                continue;
            ck_assert_str_eq(kernel->name, "ncclDevKernel_SendRecv");
            got.nccl++;
            got.nccl_ns += ns;
            got.nccl_least_ns = MIN(got.nccl_least_ns, ns);
            got.nccl_most_ns = MAX(got.nccl_most_ns, ns);
        }
        ck_assert_int_eq(got.kernels, expected->kernels);
        ck_assert_int_eq(got.nccl, expected->nccl);
        ck_assert_int_eq(got.nccl_ns, expected->nccl_ns);
        ck_assert_int_eq(got.nccl_least_ns, expected->nccl_least_ns);
        ck_assert_int_eq(got.nccl_most_ns, expected->nccl_most_ns);
        for (guint i = 0; i < file->events[KINETO_MEMCPY]->len; i++)
            copies_ns += kineto_event(file, KINETO_MEMCPY, i)->end_ns - kineto_event(file, KINETO_MEMCPY, i)->start_ns;
        g_autoptr(KinetoSurvey) survey = kineto_survey_of(file);
        launched += (int64_t)survey->n_launched;
        for (guint i = 0; i < survey->copies->len; i++) {
            const KinetoCount *row = &g_array_index(survey->copies, KinetoCount, i);
            if (strcmp(row->name, "Memset") == 0)
                continue;
            KinetoCount *sum = kineto_count_of(copied, row->name, strlen(row->name));
            sum->count += row->count;
            sum->in_bytes += row->in_bytes;
        }
    }
    ck_assert_int_eq(kernel_ns, rows[_i].kernel_ns);
    ck_assert_int_eq(first, rows[_i].first_ns);
    ck_assert_int_eq(last, rows[_i].last_ns);
    ck_assert_int_eq(launched, rows[_i].launched);
    ck_assert_int_eq(copies_ns, rows[_i].copies_ns);
    g_autofree char *copies = spelled(copied, TRUE), *calls = spelled(nsys->calls, FALSE),
                    *ranges = spelled(nsys->ranges, FALSE);
    ck_assert_str_eq(copies, rows[_i].copies);
    ck_assert_str_eq(calls, rows[_i].calls);
    ck_assert_str_eq(ranges, rows[_i].ranges);
    ck_assert(!nsys->payloads);
}
END_TEST

/* A text in a new file; the caller removes and frees it. */
static char *
temporary(const char *text)
{
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("trainshed-nsys-XXXXXX", &path, NULL);
    ck_assert_int_ge(fd, 0);
    close(fd);
    ck_assert(text == NULL || g_file_set_contents(path, text, -1, NULL));
    return g_steal_pointer(&path);
}

static Workload *
read_path(const char *path, const char *sizes, GPtrArray *problems, GError **error)
{
    g_autofree char *copy = g_strdup(path);
    char *files[] = {copy, NULL};
    TraceSource source = {.files = files, .n_files = 1, .sizes_file = sizes, .problems = problems};
    return trace_nsys.read(&source, error);
}

START_TEST(real_exports_need_sizes_and_take_them_from_beside)
{
    static const struct {
        const char *file, *refused;
        unsigned calls;
    } real[] = {
        {"mfu_2gpu_before", "the export holds no payloads of NVTX ranges, so the bytes of all_to_all (64 on all ranks)",
         32},
        {"mfu_2gpu_after", "the export holds no payloads of NVTX ranges, so the bytes of all_to_all (60 on all ranks)",
         30},
        {"h100_2gpu_1s", NULL, 0},
    };
    g_autofree char *relative = g_strdup_printf("data/nsys/%s.sqlite.gz", real[_i].file);
    NEED_SHARED(path, relative);
    g_autoptr(GError) error = NULL;
    if (real[_i].refused != NULL) {
        ck_assert_ptr_null(read_path(path, NULL, NULL, &error));
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, real[_i].refused);
    }
    g_autofree char *sizes = temporary("call,bytes\nall_to_all,16 MiB\nall_to_all#2,1024\n");
    g_autoptr(Workload) workload = read_path(path, sizes, NULL, &error);
    g_remove(sizes);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 2);
    for (uint32_t r = 0; r < 2; r++) {
        const Program *program = workload_program(workload, workload->program_of_rank[r]);
        uint64_t calls = 0, bytes = 0;
        for (guint i = 0; i < program->ops->len; i++) {
            const Op *op = &g_array_index(program->ops, Op, i);
            if (op->kind != OP_COLLECTIVE)
                continue;
            ck_assert_int_eq(op->collective, COLLECTIVE_ALL_TO_ALL);
            calls++;
            bytes += op->bytes;
        }
        ck_assert_uint_eq(calls, real[_i].calls);
        ck_assert_uint_eq(bytes, calls == 0 ? 0 : (calls - 1) * 16777216 + 1024);
    }
}
END_TEST

/* Two processes, 5 and 6, with a device each. Ids are vm << 48 | pid << 24 | tid. */
#define PID(p) #p "*16777216"
#define TABLES                                                                                                         \
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT);"                                                      \
    "INSERT INTO StringIds VALUES(1,'gemm'),(2,'ncclDevKernel_AllReduce_Sum'),(3,'cudaLaunchKernel_v7000'),"           \
    "(4,'ncclAllReduce'),(5,'ncclDevKernel_SendRecv'),(6,'cudaMemcpyAsync_v3020');"                                    \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, correlationId, globalPid, shortName);"    \
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, globalTid, correlationId, nameId);"                          \
    "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid, domainId);"
/* A kernel k of process p on device d with its launch, both named by id. */
#define KERNEL(p, d, k, launch, start, end, name)                                                                      \
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(" #launch "," #launch                                              \
    "+2," PID(p) "+9," #k ",3);"                                                                                       \
                 "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(" #start "," #end "," #d ",7," #k "," PID(p) "," #name \
                                                                                                             ");"
#define RANGE(p, start, end, text, id)                                                                                 \
    "INSERT INTO NVTX_EVENTS VALUES(" #start "," #end ",59," text "," #id "," PID(p) "+9,0);"

/* Rank 0 computes until 100, rank 1 until 150; the all-reduce ends at 200 on both: 50 ns of transfer, 50 of waiting. */
#define REDUCE                                                                                                         \
    TABLES KERNEL(5, 0, 1, 10, 20, 100, 1) KERNEL(5, 0, 2, 30, 100, 200, 2) RANGE(5, 28, 40, "NULL", 4)                \
        KERNEL(6, 1, 1, 10, 20, 150, 1) KERNEL(6, 1, 2, 30, 150, 200, 2) RANGE(6, 28, 40, "NULL", 4)

static char *
export_of(const char *sql)
{
    g_autofree char *path = temporary(NULL);
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    char *message = NULL;
    sqlite3_exec(db, sql, NULL, NULL, &message);
    ck_assert_msg(message == NULL, "%s", message);
    sqlite3_close(db);
    return g_steal_pointer(&path);
}

static const Op *
first_of(const Workload *workload, uint32_t rank, OpKind kind)
{
    const Program *program = workload_program(workload, workload->program_of_rank[rank]);
    for (guint i = 0; i < program->ops->len; i++) {
        if (g_array_index(program->ops, Op, i).kind == kind)
            return &g_array_index(program->ops, Op, i);
    }
    ck_abort_msg("rank %u has no %s", rank, op_kind_name(kind));
    return NULL;
}

START_TEST(correlations_are_of_a_process_and_a_call_is_its_range)
{
    g_autofree char *path = export_of(REDUCE), *sizes = temporary("call,bytes\r\nall_reduce,4096\r\nreduce,1\r\n");
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = read_path(path, sizes, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 2);
    for (uint32_t r = 0; r < 2; r++) {
        ck_assert_int_eq(first_of(workload, r, OP_COMPUTE)->duration_ps, (r == 0 ? 80 : 130) * PS_PER_NS);
        const Op *op = first_of(workload, r, OP_COLLECTIVE);
        ck_assert_int_eq(op->collective, COLLECTIVE_ALL_REDUCE);
        ck_assert_uint_eq(op->bytes, 4096);
        ck_assert_int_eq(op->duration_ps, 50 * PS_PER_NS);
    }
    g_autofree char *unused = g_strdup_printf("1 lines of %s name calls that the trace has not", sizes);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, workload->notes->len - 1), unused);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, workload->notes->len - 2),
                     "communicators are not recorded: every call of NCCL is taken as of all 2 ranks");
    g_remove(path);
    g_remove(sizes);
}
END_TEST

/* Rank 1's kernel has neither launch nor range; rank 0 tells. */
START_TEST(what_was_launched_before_the_window_other_ranks_tell)
{
    g_autofree char *path = export_of(REDUCE "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE globalTid > 6*16777216;");
    g_autofree char *sizes = temporary("call,bytes\nall_reduce,4096\n");
    g_autoptr(GError) error = NULL;
    g_autoptr(Workload) workload = read_path(path, sizes, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(first_of(workload, 1, OP_COLLECTIVE)->bytes, 4096);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, workload->notes->len - 1),
                     "1 NCCL kernels were launched before the recorded window: the other ranks tell what they do");
    g_remove(path);
    g_remove(sizes);
}
END_TEST

/* torch names the ends of a message; a group of sends and receives without torch is an all-to-all. */
START_TEST(groups_and_messages_are_told_apart)
{
#define GROUP(p)                                                                                                       \
    RANGE(p, 26, 27, "'ncclGroupStart'", NULL)                                                                         \
    RANGE(p, 27, 28, "'ncclSend'", NULL)                                                                               \
    RANGE(p, 28, 29, "'ncclRecv'", NULL)                                                                               \
    RANGE(p, 29, 29, "'ncclSend'", NULL) RANGE(p, 29, 30, "'ncclRecv'", NULL) RANGE(p, 30, 40, "'ncclGroupEnd'", NULL)
    static const char exchange[] =
        TABLES KERNEL(5, 0, 2, 31, 100, 200, 5) GROUP(5) KERNEL(6, 1, 2, 31, 150, 200, 5) GROUP(6);
    static const char message[] = TABLES KERNEL(5, 0, 2, 31, 100, 200, 5) RANGE(5, 20, 45, "'nccl:send 0->1'", NULL)
        RANGE(5, 28, 40, "'ncclSend'", NULL) KERNEL(6, 1, 2, 31, 150, 200, 5) RANGE(6, 20, 45, "'nccl:recv 1<-0'", NULL)
            RANGE(6, 28, 40, "'ncclRecv'", NULL);
    g_autofree char *sizes = temporary("call,bytes\nall_to_all,64\nsend,32\nrecv,32\n");
    for (int k = 0; k < 2; k++) {
        g_autofree char *path = export_of(k == 0 ? exchange : message);
        g_autoptr(GError) error = NULL;
        g_autoptr(Workload) workload = read_path(path, sizes, NULL, &error);
        g_remove(path);
        ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
        for (uint32_t r = 0; r < 2; r++) {
            const Op *op = first_of(workload, r, k == 0 ? OP_COLLECTIVE : r == 0 ? OP_SEND : OP_RECV);
            ck_assert_uint_eq(op->bytes, k == 0 ? 64 : 32);
            if (k == 0)
                ck_assert_int_eq(op->collective, COLLECTIVE_ALL_TO_ALL);
            else
                ck_assert_int_eq(op->peer, (int)(1 - r));
        }
    }
    g_remove(sizes);
}
END_TEST

/* What is wrong, the path taken off; with a list of problems all of it. */
static const struct {
    const char *sql, *sizes, *problems[4];
} refused[] = {
    {"CREATE TABLE t(a)",
     NULL,
     {": no table StringIds: this is no export of Nsight Systems (nsys export --type=sqlite)"}},
    {TABLES,
     NULL,
     {": no kernels, copies or fills: no device work was recorded (nsys profile --trace=cuda,nvtx), nothing can be "
      "replayed"}},
    {"CREATE TABLE StringIds(id, value); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, deviceId, streamId)",
     NULL,
     {": table CUPTI_ACTIVITY_KIND_KERNEL has no column end"}},
    {"CREATE TABLE StringIds(id, value); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId)",
     NULL,
     {": table CUPTI_ACTIVITY_KIND_KERNEL has no column shortName"}},
    {REDUCE "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 300 WHERE rowid = 1;"
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 'x' WHERE rowid = 2;"
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET shortName = 99 WHERE rowid = 3;",
     "call,bytes\nall_reduce,1\n",
     {": CUPTI_ACTIVITY_KIND_KERNEL, row 3: shortName is no id of StringIds",
      ": CUPTI_ACTIVITY_KIND_KERNEL, row 2: end is no whole number of nanoseconds",
      ": CUPTI_ACTIVITY_KIND_KERNEL, row 1: from 300 to 100 ns: expected 0 <= start <= end"}},
    {REDUCE,
     NULL,
     {": the export holds no payloads of NVTX ranges, so the bytes of all_reduce (2 on all ranks) are not known: give "
      "a file of them, lines of call,bytes (--sizes, sizes:)"}},
    {REDUCE, "call,bytes\nall_reduce#2,1\n", {"SIZES: has no bytes of all_reduce (2 on all ranks)"}},
    {REDUCE "DELETE FROM NVTX_EVENTS;",
     NULL,
     {", process 5, device 0: CUPTI_ACTIVITY_KIND_KERNEL, row 2: NCCL kernel \"ncclDevKernel_AllReduce_Sum\" at 100 "
      "ns: no NVTX range tells what it does; "
      "record with --trace=cuda,nvtx"}},
    {REDUCE, "", {"SIZES: is empty"}},
    {REDUCE, "bytes,call\n", {"SIZES:1: starts with \"bytes,call\", expected \"call,bytes\""}},
    {REDUCE, "call,bytes\nall_reduce\n", {"SIZES:2: 1 fields, expected two: call,bytes"}},
    {REDUCE,
     "call,bytes\nall_reduce,-1\n",
     {"SIZES:2: bytes \"-1\", expected a whole number or a size such as \"16 MiB\""}},
    {REDUCE,
     "call,bytes\nall_reduce#0,1\n",
     {"SIZES:2: call \"all_reduce#0\", expected a name such as \"all_to_all\" or \"all_to_all#3\""}},
    {REDUCE, "call,bytes\nall_reduce,1\nall_reduce,2\n", {"SIZES:3: \"all_reduce\" for the second time"}},
};

START_TEST(broken_exports_are_refused_with_every_problem)
{
    g_autofree char *path = export_of(refused[_i].sql);
    g_autofree char *sizes = refused[_i].sizes != NULL ? temporary(refused[_i].sizes) : NULL;
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL, first = NULL;
    ck_assert_ptr_null(read_path(path, sizes, NULL, &first));
    ck_assert_ptr_null(read_path(path, sizes, problems, &error));
    ck_assert(g_error_matches(error, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
    ck_assert(g_error_matches(first, TRAINSHED_ERROR, TRAINSHED_ERROR_INPUT));
    if (problems->len == 0)
        g_ptr_array_add(problems, g_strdup(error->message));
    ck_assert_str_eq(first->message, g_ptr_array_index(problems, 0));
    guint n = 0;
    for (; n < 4 && refused[_i].problems[n] != NULL; n++) {
        const char *expected = refused[_i].problems[n];
        gboolean of_sizes = g_str_has_prefix(expected, "SIZES");
        g_autofree char *whole = g_strconcat(of_sizes ? sizes : path, expected + (of_sizes ? 5 : 0), NULL);
        ck_assert_msg(n < problems->len, "%d: only %u problems", _i, problems->len);
        ck_assert_str_eq(g_ptr_array_index(problems, n), whole);
    }
    g_remove(path);
    if (sizes != NULL)
        g_remove(sizes);
}
END_TEST

/* Each rank's stream 20 waits for an event recorded on stream 7 by the call of correlation 3; the barrier by torch's
 * range around a grouped all-reduce. */
START_TEST(recorded_events_tell_what_streams_wait_for)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(NsysExport) nsys = nsys_export_read(support_source("tests/data/nsys-two-ranks.sqlite"), NULL, &error);
    ck_assert_msg(nsys != NULL, "%s", error ? error->message : "");
    for (guint r = 0; r < 2; r++) {
        const KinetoFile *file = g_ptr_array_index(nsys->files, r);
        ck_assert_int_eq(file->base_ns, INT64_C(1779782330176752435));
        ck_assert_uint_eq(file->events[KINETO_SYNC]->len, 1);
        const KinetoEvent *sync = kineto_event(file, KINETO_SYNC, 0);
        ck_assert_str_eq(sync->name, "Stream Wait Event");
        ck_assert_str_eq(g_array_index(file->lanes, KinetoLane, sync->lane).label, "20");
        ck_assert_str_eq(g_array_index(file->lanes, KinetoLane, sync->wait_lane).label, "7");
        ck_assert_uint_eq(sync->wait_correlation, 3);
    }
    g_autoptr(Workload) workload = read_path(support_source("tests/data/nsys-two-ranks.sqlite"), NULL, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_int_eq(first_of(workload, 0, OP_COLLECTIVE)->collective, COLLECTIVE_BARRIER);
    ck_assert_int_eq(first_of(workload, 1, OP_COLLECTIVE)->duration_ps, 50 * PS_PER_NS);
}
END_TEST

START_TEST(names_are_those_of_programs)
{
    static const char *const names[][2] = {{"ncclBcast", "broadcast"},        {"_all_gather_base", "all_gather"},
                                           {"all_reduce_barrier", "barrier"}, {"ncclReduceScatter", "reduce_scatter"},
                                           {"ncclGroupStart", NULL},          {"coalesced", NULL}};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        ck_assert_pstr_eq(nsys_call_name(names[i][0]), names[i][1]);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("nsys");
    TCase *tc = tcase_create("exports");
    tcase_set_timeout(tc, 30);
    tcase_add_loop_test(tc, an_export_has_the_counts_of_the_readme, 0, G_N_ELEMENTS(rows));
    tcase_add_loop_test(tc, real_exports_need_sizes_and_take_them_from_beside, 0, 3);
    tcase_add_test(tc, correlations_are_of_a_process_and_a_call_is_its_range);
    tcase_add_test(tc, what_was_launched_before_the_window_other_ranks_tell);
    tcase_add_test(tc, groups_and_messages_are_told_apart);
    tcase_add_loop_test(tc, broken_exports_are_refused_with_every_problem, 0, G_N_ELEMENTS(refused));
    tcase_add_test(tc, recorded_events_tell_what_streams_wait_for);
    tcase_add_test(tc, names_are_those_of_programs);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
