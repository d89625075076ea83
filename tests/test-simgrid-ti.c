/* test-simgrid-ti.c - time-independent traces of SimGrid: the real files, what each action becomes, what is refused */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <string.h>

static Workload *
read_pattern(const char *path, const char *format, GPtrArray *problems, GError **error)
{
    g_auto(GStrv) files = trace_pair(NULL, (const char *const[]){path, NULL}, error);
    if (files == NULL)
        return NULL;
    TraceSource source = {.files = files, .n_files = g_strv_length(files), .problems = problems};
    return trace_read(format, &source, error);
}

static Workload *
must_read(const char *path)
{
    GError *error = NULL;
    Workload *workload = read_pattern(path, NULL, NULL, &error);
    ck_assert_msg(workload != NULL, "%s: %s", path, error ? error->message : "");
    return workload;
}

static Workload *
read_text(const char *text, GPtrArray *problems, GError **error)
{
    g_autofree char *path = support_save(text);
    Workload *workload = read_pattern(path, "simgrid-ti", problems, error);
    g_unlink(path);
    return workload;
}

static const Program *
program_of(const Workload *workload, uint32_t rank)
{
    return workload_program(workload, workload->program_of_rank[rank]);
}

static const Op *
op_at(const Workload *workload, uint32_t rank, uint32_t i)
{
    return &g_array_index(program_of(workload, rank)->ops, Op, i);
}

/* Ops of this name over all ranks, and the operations they compute. */
static uint32_t
count(const Workload *workload, const char *name, OpKind kind, double *flops)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        const Program *program = program_of(workload, r);
        for (uint32_t i = 0; i < program->ops->len; i++) {
            if (op_at(workload, r, i)->kind != kind || strcmp(program_op_name(program, i), name) != 0)
                continue;
            n++;
            if (flops != NULL)
                *flops += op_at(workload, r, i)->flops;
        }
    }
    return n;
}

/* "2 5": the deps of an op. */
static char *
deps(const Workload *workload, uint32_t rank, uint32_t i)
{
    GString *text = g_string_new(NULL);
    const Program *program = program_of(workload, rank);
    const Op *op = op_at(workload, rank, i);
    for (uint32_t d = 0; d < op->n_deps; d++)
        g_string_append_printf(text, "%s%u", d > 0 ? " " : "",
                               g_array_index(program->deps, uint32_t, op->first_dep + d));
    return g_string_free(text, FALSE);
}

/* The counts of ../shared/data/mpi/README.md. */
START_TEST(thirty_two_ranks_have_their_calls)
{
    static const struct {
        const char *name;
        uint32_t n;
    } calls[] = {{"bcast", 288},    {"barrier", 512},   {"gather", 32},
                 {"alltoall", 160}, {"allreduce", 192}, {"alltoallv", 64}};
    NEED_SHARED(folder, "data/mpi/smpi-ti-32");
    g_autofree char *pattern = g_strdup_printf("%s/*.txt", folder);
    g_autoptr(Workload) workload = must_read(pattern);
    ck_assert_uint_eq(workload->n_ranks, 32);
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
        ck_assert_uint_eq(count(workload, calls[i].name, OP_COLLECTIVE, NULL), calls[i].n);
    double flops = 0;
    ck_assert_uint_eq(count(workload, "compute", OP_COMPUTE, &flops), 1440);
    ck_assert(flops == 2266760717150.0);
    ck_assert_uint_eq(count(workload, "send", OP_SEND, NULL), 0);
    /* "0 bcast 1" after "0 init 1": one double of the root 0 */
    const Op *bcast = NULL;
    for (uint32_t i = 0; bcast == NULL; i++)
        if (op_at(workload, 0, i)->kind == OP_COLLECTIVE)
            bcast = op_at(workload, 0, i);
    ck_assert_int_eq(bcast->collective, COLLECTIVE_BROADCAST);
    ck_assert_uint_eq(bcast->bytes, 8);
    /* "3 gather 795 795 0": 795 doubles to rank 0 */
    const Program *third = program_of(workload, 3);
    for (uint32_t i = 0; i < third->ops->len; i++) {
        const Op *op = op_at(workload, 3, i);
        if (strcmp(program_op_name(third, i), "gather") != 0)
            continue;
        ck_assert_uint_eq(op->bytes, 6360);
        ck_assert_uint_eq(g_array_index(workload->splits, uint64_t, op->splits), 6360);
    }
}
END_TEST

/* Ranks as in the README; what each op is worked out from the text. */
static const struct {
    const char *name;
    uint32_t ranks, collectives, sends, recvs, computes;
} small[] = {
    {"allgatherv", 4, 4, 0, 0, 0},    {"allreduce", 3, 3, 0, 0, 6}, {"alltoall", 3, 3, 0, 0, 0},
    {"alltoallv", 3, 3, 0, 0, 0},     {"barrier", 3, 3, 1, 1, 3},   {"bcast", 3, 9, 0, 0, 9},
    {"reducescatter", 4, 4, 0, 0, 4}, {"waitall", 3, 0, 3, 3, 0},   {"with_isend", 3, 0, 3, 3, 8},
};

START_TEST(small_files)
{
    g_autofree char *name = g_strdup_printf("data/mpi/smpi-ti-actions/actions_%s.txt", small[_i].name);
    NEED_SHARED(path, name);
    ck_assert(trace_format_recognise(path, NULL) == &trace_simgrid_ti);
    g_autoptr(Workload) workload = must_read(path);
    ck_assert_uint_eq(workload->n_ranks, small[_i].ranks);
    uint32_t of_kind[OP_MARKER + 1] = {0};
    for (uint32_t r = 0; r < workload->n_ranks; r++)
        for (uint32_t i = 0; i < program_of(workload, r)->ops->len; i++)
            of_kind[op_at(workload, r, i)->kind]++;
    ck_assert_uint_eq(of_kind[OP_COLLECTIVE], small[_i].collectives);
    ck_assert_uint_eq(of_kind[OP_SEND], small[_i].sends);
    ck_assert_uint_eq(of_kind[OP_RECV], small[_i].recvs);
    ck_assert_uint_eq(of_kind[OP_COMPUTE], small[_i].computes);
}
END_TEST

/* Each collective, bytes by hand; two ranks, rank 0 counts bytes and rank 1 doubles where no type is named. */
static const struct {
    const char *lines; /* of both ranks: %u stands for the rank */
    CollectiveKind kind;
    uint64_t bytes[2];
    uint64_t parts[2][2]; /* of the members; all 0 where even */
    uint32_t root;
    double flops; /* after it */
} collectives[] = {
    {"barrier", COLLECTIVE_BARRIER, {0, 0}, {{0}}, 0, 0},
    {"bcast 5e1 1 5", COLLECTIVE_BROADCAST, {200, 200}, {{0}}, 1, 0},
    {"reduce 50 1e3 1 1", COLLECTIVE_REDUCE, {200, 200}, {{0}}, 1, 1000},
    {"allreduce 50 2e3 7", COLLECTIVE_ALL_REDUCE, {400, 400}, {{0}}, 0, 2000},
    {"alltoall 50 50 3 3", COLLECTIVE_ALL_TO_ALL, {200, 200}, {{0}}, 0, 0},
    {"allgather 50 50 3 3", COLLECTIVE_ALL_GATHER, {200, 200}, {{0}}, 0, 0},
    {"allgatherv 9 50 50 1 1", COLLECTIVE_ALL_GATHER, {400, 400}, {{0}}, 0, 0},
    {"allgatherv 9 50 10 1 1", COLLECTIVE_ALL_TO_ALL, {400, 80}, {{200, 200}, {40, 40}}, 0, 0},
    {"alltoallv 9 3 4 9 3 3 2 2", COLLECTIVE_ALL_TO_ALL, {7, 7}, {{3, 4}, {3, 4}}, 0, 0},
    {"gather 50 50 1 1 1", COLLECTIVE_ALL_TO_ALL, {200, 200}, {{0, 200}, {0, 200}}, 0, 0},
    {"gatherv 50 50 50 1 1 1", COLLECTIVE_ALL_TO_ALL, {200, 200}, {{0, 200}, {0, 200}}, 0, 0},
    {"scatter 50 50 1 1 1", COLLECTIVE_ALL_TO_ALL, {0, 400}, {{0, 0}, {200, 200}}, 0, 0},
    {"scatterv 50 60 60 1 1 1", COLLECTIVE_ALL_TO_ALL, {0, 440}, {{0, 0}, {200, 240}}, 0, 0},
    {"reducescatter 30 20 5e3 4", COLLECTIVE_REDUCE_SCATTER, {400, 400}, {{0}}, 0, 5000},
};

START_TEST(every_collective)
{
    const char *line = collectives[_i].lines;
    g_autofree char *text = g_strdup_printf("0 init\n1 init 1\n0 %s\n1 %s\n", line, line);
    GError *error = NULL;
    g_autoptr(Workload) workload = read_text(text, NULL, &error);
    ck_assert_msg(workload != NULL, "%s: %s", line, error ? error->message : "");
    for (uint32_t r = 0; r < 2; r++) {
        const Op *op = op_at(workload, r, 0);
        ck_assert_msg(op->kind == OP_COLLECTIVE && op->collective == collectives[_i].kind, "%s", line);
        ck_assert_msg(op->bytes == collectives[_i].bytes[r], "%s: rank %u has %" G_GUINT64_FORMAT, line, r, op->bytes);
        ck_assert_uint_eq(op->root, collectives[_i].root);
        const uint64_t *parts = collectives[_i].parts[r];
        for (uint32_t m = 0; op->splits != INDEX_NONE && m < 2; m++)
            ck_assert_msg(g_array_index(workload->splits, uint64_t, op->splits + m) == parts[m], "%s", line);
        gboolean uneven = collectives[_i].parts[0][0] + collectives[_i].parts[0][1] + collectives[_i].parts[1][0] > 0;
        ck_assert_msg((op->splits != INDEX_NONE) == uneven, "%s", line);
        ck_assert_uint_eq(program_of(workload, r)->ops->len, collectives[_i].flops > 0 ? 2 : 1);
        if (collectives[_i].flops > 0)
            ck_assert(op_at(workload, r, 1)->flops == collectives[_i].flops);
    }
}
END_TEST

/* The default datatype: a byte after "init", a double after "init 1". */
START_TEST(the_default_datatype)
{
    GError *error = NULL;
    g_autoptr(Workload) bytes = read_text("0 init\n1 init\n0 send 1 4 10\n1 recv 0 4 -1\n", NULL, &error);
    g_autoptr(Workload) doubles = read_text("0 init 1\n1 init 1\n0 send 1 4 10\n1 recv 0 4 10\n", NULL, &error);
    ck_assert(bytes != NULL && doubles != NULL);
    ck_assert_uint_eq(op_at(bytes, 0, 0)->bytes, 10);
    ck_assert_uint_eq(op_at(doubles, 0, 0)->bytes, 80);
    ck_assert_uint_eq(op_at(doubles, 0, 0)->tag, 4);
}
END_TEST

/* What waits for what, by hand. */
START_TEST(requests_hold_up_only_who_waits)
{
    static const char text[] =
        "0 init\n1 init\n"
        "0 compute 1\n"        /* 0: - */
        "0 isend 1 7 10\n"     /* 1: 0 */
        "0 irecv 1 8 10\n"     /* 2: 0 */
        "0 irecv 1 8 10\n"     /* 3: 0 */
        "0 sleep 0.25\n"       /* 4: 0 */
        "0 wait 1 0 8\n"       /* the older: 2 */
        "0 test 0 1 7\n"       /* nothing */
        "0 compute 2\n"        /* 5: 4 2 */
        "0 waitall\n"          /* 1 and 3 */
        "0 isend 1 9 1\n"      /* 6: a marker for 5 1 3; 7: 6 */
        "0 sendRecv 5 1 6 1\n" /* 8, 9: 6 */
        "0 barrier\n"          /* 10: 6 8 9 */
        "1 recv 0 7 10\n1 send 0 8 10\n1 send 0 8 10\n1 recv 0 9 1\n1 sendRecv 6 0 5 0\n1 barrier\n";
    static const char *const waits[] = {"", "0", "0", "0", "0", "4 2", "5 1 3", "6", "6", "6", "6 8 9"};
    GError *error = NULL;
    g_autoptr(Workload) workload = read_text(text, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(program_of(workload, 0)->ops->len, G_N_ELEMENTS(waits));
    for (uint32_t i = 0; i < G_N_ELEMENTS(waits); i++) {
        g_autofree char *found = deps(workload, 0, i);
        ck_assert_msg(strcmp(found, waits[i]) == 0, "op %u waits for \"%s\", not \"%s\"", i, found, waits[i]);
    }
    ck_assert_int_eq(op_at(workload, 0, 4)->kind, OP_HOST);
    ck_assert_int_eq(op_at(workload, 0, 4)->duration_ps, PS_PER_S / 4);
    ck_assert_int_eq(op_at(workload, 0, 6)->kind, OP_MARKER);
    ck_assert_str_eq(workload->notes->pdata[1], "1 requests are never waited for");
}
END_TEST

START_TEST(a_scan_is_a_chain)
{
    GError *error = NULL;
    g_autoptr(Workload) workload = read_text("0 scan 4 9 1\n1 scan 4 9 1\n2 exscan 4 9 1\n", NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    static const OpKind kinds[3][3] = {{OP_SEND}, {OP_RECV, OP_COMPUTE, OP_SEND}, {OP_RECV, OP_COMPUTE}};
    static const uint32_t lengths[] = {1, 3, 2};
    for (uint32_t r = 0; r < 3; r++) {
        ck_assert_uint_eq(program_of(workload, r)->ops->len, lengths[r]);
        for (uint32_t i = 0; i < lengths[r]; i++)
            ck_assert_int_eq(op_at(workload, r, i)->kind, kinds[r][i]);
    }
    ck_assert_uint_eq(op_at(workload, 1, 2)->bytes, 16);
    ck_assert_int_eq(op_at(workload, 1, 2)->peer, 2);
}
END_TEST

START_TEST(a_message_to_oneself_takes_no_time)
{
    GError *error = NULL;
    g_autoptr(Workload) workload = read_text("0 irecv 0 1 8\n0 send 0 1 8\n0 waitall\n0 compute 1\n", NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert(op_at(workload, 0, 0)->signal && op_at(workload, 0, 1)->signal);
    ck_assert_uint_eq(op_at(workload, 0, 1)->bytes, 0);
}
END_TEST

/* One file a rank, and the list that SMPI writes; lines of others are passed over. */
START_TEST(files_and_lists)
{
    g_autofree char *folder = g_dir_make_tmp("trainshed-ti-XXXXXX", NULL);
    static const struct {
        const char *name, *text;
    } files[] = {{"7_rank-0.txt", "0 init\n1 compute 5\n0 barrier\n0 finalize\n"},
                 {"3_rank-1.txt", "# the second\n1 init\n1 compute 6\n1 barrier\n"},
                 {"list", "7_rank-0.txt\n\n3_rank-1.txt\n"},
                 {"odd", "7_rank-0.txt\nnone.txt\n"}};
    g_autofree char *paths[G_N_ELEMENTS(files)];
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        paths[i] = g_build_filename(folder, files[i].name, NULL);
        ck_assert(g_file_set_contents(paths[i], files[i].text, -1, NULL));
    }
    g_autofree char *pattern = g_build_filename(folder, "*_rank-*.txt", NULL);
    for (int i = 0; i < 2; i++) {
        g_autoptr(Workload) workload = must_read(i == 0 ? paths[2] : pattern);
        ck_assert_uint_eq(workload->n_ranks, 2);
        ck_assert_uint_eq(program_of(workload, 0)->ops->len, 1);
        ck_assert_uint_eq(program_of(workload, 1)->ops->len, 2);
        ck_assert_str_eq(workload->notes->pdata[1], "1 lines of other ranks in files of one rank are passed over");
    }
    GError *error = NULL;
    ck_assert(read_pattern(paths[3], NULL, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "none.txt: ");
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_unlink(paths[i]);
        if (i > 0)
            g_free(paths[i]), paths[i] = NULL;
    }
    g_rmdir(folder);
}
END_TEST

/* What follows the path. */
static const struct {
    const char *text, *message;
} bad[] = {
    {"0 init\nx barrier\n", ":2: the rank is \"x\""},
    {"0 init\n9 barrier\n", ":2: rank 9, in a file of 2 lines"},
    {"0 init\n\n2 init\n2 barrier\n", ": has no line of rank 1"},
    {"0\n", ":1: has no action after the rank"},
    {"0 isendd 1 2 3\n", ":1: there is no action \"isendd\" in time-independent traces"},
    {"0 send 1 1e6\n1 recv 0 1e6\n", ":1: send: 2 arguments found, at least 3 expected"},
    {"0 wait\n", ":1: wait: 0 arguments found, at least 3 expected (source, destination and tag; traces from before "
                 "SimGrid 3.20 have none)"},
    {"0 init\n0 send 1 0 5\n", ":2: send: peer is \"1\"; a whole number up to 0 is expected"},
    {"0 init\n0 send 0 0 -1\n", ":2: send: count is \"-1\"; a whole number up to 1125899906842624 is expected"},
    {"0 init\n0 send 0 0 1.5\n", ":2: send: count is \"1.5\"; a whole number up to 1125899906842624 is expected"},
    {"0 init\n0 send 0 0 5 33\n", ":2: send: the size of datatype 33 is not known"},
    {"0 init\n0 recv 0 -444 5\n", ":2: recv: takes any tag, which a program cannot hold"},
    {"0 init\n0 compute 5x\n", ":2: compute: \"5x\" is no number of operations"},
    {"0 init\n0 compute -5\n", ":2: compute: \"-5\" is no number of operations"},
    {"0 sleep 1e30\n", ":1: sleep: \"1e30\" is no number of seconds"},
    {"0 wait 0 0 3\n", ":1: wait: rank 0 has no pending request 0 to 0 with tag 3"},
    {"0 alltoallv 9 1 2 9 1\n1 init\n", ":1: alltoallv: 5 arguments found, at least 6 expected with 2 ranks"},
    {"0 bcast 1 2\n1 init\n", ":1: bcast: root is \"2\"; a whole number up to 1 is expected"},
    {"0 barrier\n1 init\n", "issues \"barrier\", barrier of 0 bytes, but rank 1 issues only 0 collectives there"},
    {"0 send 1 3 5\n1 init\n", ": rank 0 sends"},
};

START_TEST(refused)
{
    GError *error = NULL;
    Workload *workload = read_text(bad[_i].text, NULL, &error);
    ck_assert_msg(workload == NULL, "%s", bad[_i].text);
    ck_assert_msg(strstr(error->message, bad[_i].message) != NULL, "\"%s\" has no \"%s\"", error->message,
                  bad[_i].message);
    ck_assert(error->domain == TRAINSHED_ERROR && error->code == TRAINSHED_ERROR_INPUT);
    g_error_free(error);
}
END_TEST

START_TEST(all_problems_are_told)
{
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    ck_assert(read_text("0 init\n0 hop\nx\n0 send 0 0 z\n2 init\n0 init\n", problems, &error) == NULL);
    g_clear_error(&error);
    static const char *const parts[] = {":2: there is no action \"hop\"", ":3: the rank is \"x\"",
                                        ":4: send: count is \"z\"", ": has no line of rank 1"};
    ck_assert_uint_eq(problems->len, G_N_ELEMENTS(parts));
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        ck_assert_msg(strstr(problems->pdata[i], parts[i]) != NULL, "%s", (const char *)problems->pdata[i]);
}
END_TEST

START_TEST(recognised_by_content)
{
    static const struct {
        const char *head;
        int sure;
    } heads[] = {{"0 init\n", 90},
                 {"\n# x\n12\tsendRecv 1", 90},
                 {"0 compute 5\n1 com", 90},
                 {"0 jump\n", 0},
                 {"init 0\n", 0},
                 {"a/rank-0.txt\nb.txt\n", 20},
                 {"a b.txt\n", 0},
                 {"", 0},
                 {"1 2 3\n", 0},
                 {"0 initial\n", 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(heads); i++)
        ck_assert_msg(trace_simgrid_ti.recognise(heads[i].head, strlen(heads[i].head)) == heads[i].sure, "%s",
                      heads[i].head);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("simgrid-ti");
    TCase *cases = tcase_create("cases");
    tcase_add_test(cases, thirty_two_ranks_have_their_calls);
    tcase_add_loop_test(cases, small_files, 0, G_N_ELEMENTS(small));
    tcase_add_loop_test(cases, every_collective, 0, G_N_ELEMENTS(collectives));
    tcase_add_test(cases, the_default_datatype);
    tcase_add_test(cases, requests_hold_up_only_who_waits);
    tcase_add_test(cases, a_scan_is_a_chain);
    tcase_add_test(cases, a_message_to_oneself_takes_no_time);
    tcase_add_test(cases, files_and_lists);
    tcase_add_loop_test(cases, refused, 0, G_N_ELEMENTS(bad));
    tcase_add_test(cases, all_problems_are_told);
    tcase_add_test(cases, recognised_by_content);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
