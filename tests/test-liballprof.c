/* test-liballprof.c - text traces of liballprof: the Sweep3D run, calls by hand, what is refused */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <string.h>

static const Op *
op_at(const Workload *workload, uint32_t rank, uint32_t i)
{
    return &g_array_index(workload_program(workload, workload->program_of_rank[rank])->ops, Op, i);
}

/* ../shared/data/mpi/README.md; times of rank 0 and its bytes were summed by a script over the text. */
START_TEST(sweep3d)
{
    NEED_SHARED(folder, "data/mpi/liballprof-sweep3d-4");
    g_autofree char *pattern = g_strdup_printf("%s/rank*.txt.gz", folder);
    GError *error = NULL;
    g_auto(GStrv) files = trace_pair(NULL, (const char *const[]){pattern, NULL}, &error);
    TraceSource source = {.files = files, .n_files = g_strv_length(files)};
    ck_assert(trace_format_recognise(files[2], NULL) == &trace_liballprof);
    g_autoptr(Workload) workload = trace_read(NULL, &source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 4);
    for (uint32_t r = 0; r < 4; r++) {
        uint32_t kinds[OP_MARKER + 1] = {0}, collectives[COLLECTIVE_KINDS] = {0};
        SimTime computing = 0;
        uint64_t sent = 0;
        for (uint32_t i = 0; i < workload_program(workload, r)->ops->len; i++) {
            const Op *op = op_at(workload, r, i);
            kinds[op->kind]++;
            collectives[op->kind == OP_COLLECTIVE ? op->collective : 0] += op->kind == OP_COLLECTIVE;
            computing += op->kind == OP_COMPUTE ? op->duration_ps : 0;
            sent += op->kind == OP_SEND ? op->bytes : 0;
        }
        ck_assert_uint_eq(kinds[OP_SEND], 1440);
        ck_assert_uint_eq(kinds[OP_RECV], 1440);
        ck_assert_uint_eq(collectives[COLLECTIVE_ALL_REDUCE], 32);
        ck_assert_uint_eq(collectives[COLLECTIVE_BROADCAST], 4);
        ck_assert_uint_eq(collectives[COLLECTIVE_BARRIER], 3);
        if (r == 0) {
            ck_assert_int_eq(computing, 39913334 * PS_PER_US);
            ck_assert_uint_eq(sent, 51840000);
        }
    }
    /* 950106 to 950835 us, then a broadcast of one int from rank 0; 950889 to 950894 us, then four ints */
    ck_assert_int_eq(op_at(workload, 0, 0)->duration_ps, 729 * PS_PER_US);
    ck_assert_uint_eq(op_at(workload, 0, 1)->bytes, 4);
    ck_assert_int_eq(op_at(workload, 0, 2)->duration_ps, 5 * PS_PER_US);
    ck_assert_uint_eq(op_at(workload, 0, 3)->bytes, 16);
}
END_TEST

/* Two ranks' files; the workload, or NULL with an error. */
static Workload *
read_two(const char *first, const char *second, GPtrArray *problems, GError **error)
{
    g_autofree char *a = support_save(first), *b = support_save(second);
    char *files[] = {a, b, NULL};
    TraceSource source = {.files = files, .n_files = 2, .problems = problems};
    Workload *workload = trace_read("liballprof", &source, error);
    g_unlink(a);
    g_unlink(b);
    return workload;
}

/* Every call of both ranks of communicator 0, sizes by hand. */
static const struct {
    const char *call; /* without the times; %u is the rank, %u the other */
    OpKind kind;
    CollectiveKind collective;
    uint64_t bytes[2];
    uint32_t root;
} calls[] = {
    {"MPI_Barrier:1:0,%u,2:2", OP_COLLECTIVE, COLLECTIVE_BARRIER, {0, 0}, 0},
    {"MPI_Bcast:1:99:5:2,4,4:1:0,%u,2:2", OP_COLLECTIVE, COLLECTIVE_BROADCAST, {20, 20}, 1},
    {"MPI_Reduce:1:99:98:5:2,4,4:3:1:0,%u,2:2", OP_COLLECTIVE, COLLECTIVE_REDUCE, {20, 20}, 1},
    {"MPI_Allreduce:1:99:98:5:2,8,8:3:0,%u,2:2", OP_COLLECTIVE, COLLECTIVE_ALL_REDUCE, {40, 40}, 0},
    {"MPI_Alltoall:1:99:5:2,8,8:98:5:2,8,8:0,%u,2:2", OP_COLLECTIVE, COLLECTIVE_ALL_TO_ALL, {80, 80}, 0},
    {"MPI_Allgather:1:99:5:2,8,8:98:5:2,8,8:0,%u,2:2", OP_COLLECTIVE, COLLECTIVE_ALL_GATHER, {80, 80}, 0},
    {"MPI_Gather:1:99:5:2,8,8:98:5:2,8,8:1:0,%u,2:2", OP_COLLECTIVE, COLLECTIVE_ALL_TO_ALL, {40, 40}, 0},
    {"MPI_Scatter:1:99:5:2,8,8:98:5:2,8,8:1:0,%u,2:2", OP_COLLECTIVE, COLLECTIVE_ALL_TO_ALL, {0, 80}, 0},
};

START_TEST(every_collective)
{
    g_autofree char *text[2];
    for (uint32_t r = 0; r < 2; r++) {
        char call[128];
        const char *percent = strstr(calls[_i].call, "%u");
        g_snprintf(call, sizeof call, "%.*s%u%s", (int)(percent - calls[_i].call), calls[_i].call, r, percent + 2);
        text[r] = g_strdup_printf("MPI_Init:-:0:0:1.000000\n%s.000000\n", call);
    }
    GError *error = NULL;
    g_autoptr(Workload) workload = read_two(text[0], text[1], NULL, &error);
    g_clear_pointer(&text[1], g_free);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    for (uint32_t r = 0; r < 2; r++) {
        const Op *op = op_at(workload, r, 0);
        ck_assert(op->kind == calls[_i].kind && op->collective == calls[_i].collective);
        ck_assert_uint_eq(op->bytes, calls[_i].bytes[r]);
        ck_assert_uint_eq(op->root, calls[_i].root);
    }
}
END_TEST

/* A request is waited for by its handle; what a local call takes is computing. */
START_TEST(requests_and_gaps)
{
    GError *error = NULL;
    g_autoptr(Workload) workload =
        read_two("# x\nMPI_Init:-:0:0:100.000000\n"
                 "MPI_Irecv:110.000000:9:3:1,8,8:1:4:0,0,2:77:111.000000\n" /* 0: 10 us, 1: recv */
                 "MPI_Comm_rank:111.000000:0,0,2:5:113.000000\n"
                 "MPI_Send:115.500000:9:2:1,8,8:1:5:0,0,2:116.000000\n" /* 2: 4.5 us, 3: send */
                 "MPI_Wait:116.000000:77:0:120.000000\n"                /* no gap */
                 "MPI_Barrier:121.000000:0,0,2:122.000000\n",           /* 4: 1 us after 3 and 1, 5: barrier */
                 "MPI_Init:-:0:0:103.000000\nMPI_Send:103.000000:9:3:1,8,8:0:4:0,1,2:104.000000\n"
                 "MPI_Recv:104.000000:9:2:1,8,8:-1:5:0,1,2:0:105.000000\nMPI_Barrier:105.000000:0,1,2:106.000000\n",
                 NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    const Program *program = workload_program(workload, 0);
    ck_assert_uint_eq(program->ops->len, 6);
    ck_assert_int_eq(op_at(workload, 0, 0)->duration_ps, 10 * PS_PER_US);
    ck_assert_int_eq(op_at(workload, 0, 2)->duration_ps, 4500 * PS_PER_NS);
    ck_assert_uint_eq(op_at(workload, 0, 3)->bytes, 16);
    const Op *gap = op_at(workload, 0, 4);
    ck_assert_int_eq(gap->duration_ps, PS_PER_US);
    ck_assert_uint_eq(gap->n_deps, 2);
    ck_assert_uint_eq(g_array_index(program->deps, uint32_t, gap->first_dep), 3);
    ck_assert_uint_eq(g_array_index(program->deps, uint32_t, gap->first_dep + 1), 1);
    ck_assert_int_eq(workload->start_ps[0], 0);
    ck_assert_int_eq(workload->start_ps[1], 3 * PS_PER_US);
    ck_assert_int_eq(op_at(workload, 1, 1)->peer_form, PEER_ANY);
}
END_TEST

/* Lines of rank 0 after MPI_Init at 10 us; what follows the path. */
static const struct {
    const char *lines, *message;
} bad[] = {
    {"MPI_Send:9.0:1:1:1,1,1:1:0:0,0,2:11.0", ":2: MPI_Send starts before the call above has ended"},
    {"MPI_Send:19.0:1:1:1,1,1:1:0:0,0,2:11.0", ":2: MPI_Send ends before it starts"},
    {"MPI_Send:x:1:1:1,1,1:1:0:0,0,2:11.0", ":2: MPI_Send: \"x\" is no time in microseconds"},
    {"MPI_Send:11.0:1:1:1,1,1:1:0:11.0", ":2: MPI_Send: 8 words found, at least 9 expected"},
    {"MPI_Send:11.0:1:1:7:1:0:0,0,2:12.0", ":2: MPI_Send: the datatype is \"7\"; \"id,size\" is expected"},
    {"MPI_Send:11.0:1:-3:1,1,1:1:0:0,0,2:12.0",
     ":2: MPI_Send: count is \"-3\"; a whole number from 0 to 1099511627776 is expected"},
    {"MPI_Send:11.0:1:3:1,1,1:2:0:0,0,2:12.0",
     ":2: MPI_Send: the destination is \"2\"; a whole number from -2147483648 to 1 is expected"},
    {"MPI_Recv:11.0:1:3:1,1,1:1:-1:0,0,2:0:12.0", ":2: MPI_Recv: takes any tag, which a program cannot hold"},
    {"MPI_Recv:11.0:1:3:1,1,1:-2:1:0,0,2:0:12.0",
     ":2: MPI_Recv: the source is -2, which is any or none, depending on the MPI library"},
    {"MPI_Barrier:11.0:0,1,2:12.0", ":2: MPI_Barrier: is of rank 1 of 2; the file is given as that of rank 0 of 2"},
    {"MPI_Barrier:11.0:3,0,1:12.0",
     ":2: MPI_Barrier: communicator 3 is of 1 of 2 ranks, and the trace does not say which"},
    {"MPI_Barrier:11.0:3:12.0", ":2: MPI_Barrier: the communicator is \"3\"; \"id,rank,size\" is expected"},
    {"MPI_Alltoallv:11.0:3:12.0", ":2: MPI_Alltoallv is not read"},
    {"hello", ":2: \"hello\" found; \"MPI_Name:start:...:end\" is expected"},
    {"MPI_Barrier:11.0: 0,0,2:12.0", ":2: \"0,0,2:12.0\" found; \"MPI_Name:start:...:end\" is expected"},
};

START_TEST(refused)
{
    g_autofree char *text = g_strdup_printf("MPI_Init:-:0:0:10.0\n%s\n", bad[_i].lines);
    GError *error = NULL;
    ck_assert(read_two(text, "MPI_Init:-:0:0:10.0\n", NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
}
END_TEST

START_TEST(without_init)
{
    GError *error = NULL;
    ck_assert(read_two("# collprof\nMPI_Finalize:3.0:-\n", "MPI_Init:-:0:0:10.0\n", NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ": has no MPI_Init");
    ck_assert(read_two("MPI_Barrier:1.0:0,0,2:2.0\n", "MPI_Init:-:0:0:10.0\n", NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ":1: MPI_Barrier comes before MPI_Init");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("liballprof");
    TCase *cases = tcase_create("cases");
    tcase_add_test(cases, sweep3d);
    tcase_add_loop_test(cases, every_collective, 0, G_N_ELEMENTS(calls));
    tcase_add_test(cases, requests_and_gaps);
    tcase_add_loop_test(cases, refused, 0, G_N_ELEMENTS(bad));
    tcase_add_test(cases, without_init);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
