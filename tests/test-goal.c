/* test-goal.c - GOAL schedules: the real files in both forms, what is refused, programs */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/goal_time.h"
#include "workload/trace_format.h"
#include "workload/trace_writer.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

static char *
save(const char *text, gssize length)
{
    char *path = g_strdup("/tmp/trainshed-goal-XXXXXX");
    close(mkstemp(path));
    ck_assert(g_file_set_contents(path, text, length, NULL));
    return path;
}

/* Counted with grep -c in the text. */
static const struct {
    const char *name;
    uint32_t ranks, ops, edges;
    gboolean binary;
} files[] = {
    {"binary_tree_32", 32, 62, 26, TRUE},
    {"schedgen_linear_alltoall_16r_1MiB", 16, 480, 0, TRUE},
    {"schedgen_dissemination_16r_1MiB", 16, 128, 48, TRUE},
    {"schedgen_allreduce_recdoub_16r_1MiB", 16, 256, 112, TRUE},
    {"schedgen_allreduce_ring_16r_1MiB", 16, 960, 464, TRUE},
    {"htsim_comp", 16, 3, 1, FALSE},
};

static void
count(const GoalSchedule *schedule, uint32_t *ops, uint32_t *edges)
{
    *ops = *edges = 0;
    for (uint32_t r = 0; r < schedule->n_ranks; r++) {
        *ops += schedule->ops[r]->len;
        *edges += schedule->edges[r]->len;
    }
}

static void
same_ops(const GoalSchedule *a, const GoalSchedule *b)
{
    for (uint32_t r = 0; r < a->n_ranks; r++) {
        ck_assert_uint_eq(a->ops[r]->len, b->ops[r]->len);
        for (uint32_t o = 0; o < a->ops[r]->len; o++) {
            const GoalOp *x = &g_array_index(a->ops[r], GoalOp, o), *y = &g_array_index(b->ops[r], GoalOp, o);
            ck_assert(x->kind == y->kind && x->size == y->size && x->peer == y->peer && x->tag == y->tag &&
                      x->cpu == y->cpu && x->nic == y->nic);
        }
    }
}

START_TEST(real_files_have_their_counts_in_both_forms)
{
    g_autofree char *text = g_strdup_printf("data/goal/%s.goal", files[_i].name);
    NEED_SHARED(path, text);
    GError *error = NULL;
    g_autoptr(GoalSchedule) schedule = goal_read(path, NULL, &error);
    ck_assert_msg(schedule != NULL, "%s", error ? error->message : "");
    uint32_t ops, edges;
    count(schedule, &ops, &edges);
    ck_assert_uint_eq(schedule->n_ranks, files[_i].ranks);
    ck_assert_uint_eq(ops, files[_i].ops);
    ck_assert_uint_eq(edges, files[_i].edges);
    TraceSource source = {.files = (char *[]){(char *)path, NULL}, .n_files = 1};
    g_autoptr(Workload) workload = trace_read(NULL, &source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    if (!files[_i].binary)
        return;
    g_autofree char *packed = g_strdup_printf("data/goal/%s.bin", files[_i].name);
    NEED_SHARED(binary, packed);
    g_autoptr(GoalSchedule) other = goal_read(binary, NULL, &error);
    ck_assert_msg(other != NULL, "%s", error ? error->message : "");
    count(other, &ops, &edges);
    ck_assert_uint_eq(ops, files[_i].ops);
    ck_assert_uint_eq(edges, files[_i].edges);
    same_ops(schedule, other);
}
END_TEST

#define RANK "num_ranks 1\nrank 0 {\n"

static const struct {
    const char *text, *message; /* after the path */
} refused[] = {
    {"ranks 2\n", ":1: \"ranks\" found; \"num_ranks\" expected"},
    {"num_ranks 0\n", ":1: num_ranks is 0; at least 1 is expected"},
    {"num_ranks 9\nrank 0 {\n", ":1: num_ranks is 9, which a file of 21 bytes cannot hold"},
    {"num_ranks 1\nrank 1 {\n}\n", ":2: the block of rank 1 found; that of rank 0 expected"},
    {RANK "calc 5\n", ":3: the file ends within the block of rank 0; } expected"},
    {RANK "}\n", NULL},
    {RANK "/* two\nlines */ a: calc 5 cpu 2 // end\r\nb: calc 1\nb requires a\n}", NULL},
    {RANK "calc x\n}\n", ":3: time is \"x\"; a whole number is expected"},
    {RANK "calc 1 nic 2\n}\n", ":3: \"nic\" found; cpu or the end of the line expected"},
    {RANK "send 8b to 1\n}\n", ":3: rank \"1\" is more than 0"},
    {RANK "recv 8b to 0\n}\n", ":3: \"to\" found; \"from\" expected"},
    {RANK "recv 8 b from 0 cpu 1 tag 2\n}\n",
     ":3: \"tag\" found; tag, cpu, nic (in this order) or the end of the line expected"},
    {RANK "a: calc 1\na: calc 1\n}\n", ":4: label \"a\" is defined twice in this rank"},
    {RANK "a: calc 1\na requires b\n}\n", ":4: label \"b\" is not defined above in this rank"},
    {RANK "calc 1 cpu 256\n}\n", ":3: cpu \"256\" is more than 255"},
    {RANK "jump 1\n}\n", ":3: \"jump\" found; send, recv, calc, \"LABEL requires LABEL\" or } expected"},
};

START_TEST(bad_lines_are_refused_with_their_place)
{
    g_autofree char *path = save(refused[_i].text, -1);
    GError *error = NULL;
    g_autoptr(GoalSchedule) schedule = goal_read(path, NULL, &error);
    g_unlink(path);
    if (refused[_i].message == NULL) {
        ck_assert_msg(schedule != NULL, "%s", error ? error->message : "");
        return;
    }
    ck_assert(schedule == NULL);
    ck_assert_str_eq(error->message + strlen(path), refused[_i].message);
    g_error_free(error);
}
END_TEST

START_TEST(all_problems_are_told)
{
    g_autofree char *path = save(RANK "calc x\ncalc 5\njump\n}\n", -1);
    GError *error = NULL;
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    ck_assert(goal_read(path, problems, &error) == NULL);
    g_unlink(path);
    ck_assert_uint_eq(problems->len, 2);
    ck_assert(g_str_has_suffix(g_ptr_array_index(problems, 0), ":3: time is \"x\"; a whole number is expected"));
    ck_assert(strstr(g_ptr_array_index(problems, 1), ":5: \"jump\" found") != NULL);
    g_error_free(error);
}
END_TEST

/* c irequires b, b requires a. CPUs, NICs and tags of 64 bits are kept, and any tag. */
START_TEST(programs_hold_all_of_a_schedule)
{
    g_autofree char *path = save("num_ranks 2\nrank 0 {\na: calc 7 cpu 3\nb: send 8b to 1 tag 98765432109\n"
                                 "c: send 9 b to 1 tag 5 cpu 2 nic 1\nb requires a\nc irequires b\n}\nrank 1 {\n"
                                 "recv 8b from -1 tag 98765432109\nrecv 9b from 0 tag -1\n}",
                                 -1);
    GError *error = NULL;
    TraceSource source = {.files = (char *[]){path, NULL}, .n_files = 1, .rank_is = RANK_IS_GPU};
    g_autoptr(Workload) workload = trace_read(NULL, &source, &error);
    g_unlink(path);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    const Program *program = workload_program(workload, 0);
    const Op *ops = (const Op *)program->ops->data;
    ck_assert_int_eq(ops[0].duration_ps, 7000);
    ck_assert_str_eq(g_ptr_array_index(program->streams, ops[0].stream), "cpu 3");
    ck_assert_uint_eq(ops[0].cpu, 3);
    ck_assert_uint_eq(ops[1].n_deps, 1);
    ck_assert_uint_eq(ops[1].n_begun, 0);
    ck_assert_uint_eq(g_array_index(program->deps, uint32_t, ops[1].first_dep), 0);
    ck_assert_uint_eq(ops[2].n_deps, 1);
    ck_assert_uint_eq(ops[2].n_begun, 1);
    ck_assert_uint_eq(g_array_index(program->deps, uint32_t, ops[2].first_dep), 1);
    ck_assert_uint_eq(ops[2].cpu, 2);
    ck_assert_uint_eq(ops[2].nic, 1);
    ck_assert_uint_eq(ops[1].tag, 98765432109);
    const Op *recvs = (const Op *)workload_program(workload, 1)->ops->data;
    ck_assert(recvs[0].peer_form == PEER_ANY && recvs[0].tag == 98765432109);
    ck_assert(recvs[1].peer_form == PEER_RANK && recvs[1].tag == TAG_ANY);
}
END_TEST

/* Every prefix of a packed file, and every byte of it changed, is read or refused, and never crashes. */
START_TEST(damaged_binaries_are_refused)
{
    NEED_SHARED(path, "data/goal/binary_tree_32.bin");
    g_autofree char *data = NULL;
    gsize length;
    ck_assert(g_file_get_contents(path, &data, &length, NULL));
    for (gsize n = 8; n < length; n += 7) {
        GError *error = NULL;
        g_autofree char *part = g_memdup2(data, n);
        ck_assert_ptr_null(goal_parse_binary("x", part, n, NULL, &error));
        g_clear_error(&error);
    }
    for (gsize at = 8; at < length; at++) {
        data[at] ^= 0x55;
        g_autoptr(GoalSchedule) schedule = goal_parse_binary("x", data, length, NULL, NULL);
        data[at] ^= 0x55;
    }
    data[0] = 38, data[1] = 9; /* 2342 */
    GError *error = NULL;
    ck_assert_ptr_null(goal_parse_binary("x", data, length, NULL, &error));
    ck_assert_str_eq(error->message, "x: was used up by a run with --save-mem; pack its text again with txt2bin");
    g_error_free(error);
}
END_TEST

/* What LogGOPSim prints (../shared/data/goal/README.md, ../shared/data/peers/README.md), ns and host. */
static const struct {
    const char *file;
    SimTime end_ns;
    uint32_t rank;
} ends[] = {
    {"data/goal/binary_tree_32.goal", 27500, 31},
    {"data/goal/binary_tree_32.bin", 27500, 31},
    {"data/goal/schedgen_linear_alltoall_16r_1MiB.goal", 94454250, 0},
    {"data/goal/schedgen_linear_alltoall_16r_1MiB.bin", 94454250, 0},
    {"data/goal/schedgen_dissemination_16r_1MiB.goal", 25187800, 0},
    {"data/goal/schedgen_allreduce_recdoub_16r_1MiB.goal", 11840432, 0},
    {"data/goal/schedgen_allreduce_recdoub_16r_1MiB.bin", 11840432, 0},
    {"data/goal/schedgen_allreduce_ring_16r_1MiB.goal", 11961300, 0},
    {"data/goal/schedgen_allreduce_ring_16r_1MiB.bin", 11961300, 0},
    {"data/goal/htsim_comp.goal", 480013494, 0},
    {"data/goal/htsim_comp1.goal", 8000, 15},
    {"data/goal/htsim_incast_8_1_2MiB.goal", 960010988, 0},
    {"data/goal/htsim_one_send.goal", 480005494, 15},
    {"data/peers/loggopsim/dissemination_1024r_32KiB.goal.gz", 2021020, 0},
};

START_TEST(finish_times_are_those_of_loggopsim)
{
    NEED_SHARED(path, ends[_i].file);
    GError *error = NULL;
    g_autoptr(GoalSchedule) schedule = goal_read(path, NULL, &error);
    ck_assert_msg(schedule != NULL, "%s", error ? error->message : "");
    GoalCosts costs = goal_costs_default();
    GoalTime time;
    ck_assert_msg(goal_time(schedule, &costs, &time, &error), "%s", error ? error->message : "");
    ck_assert_int_eq(time.end_ps, ends[_i].end_ns * PS_PER_NS);
    ck_assert_uint_eq(time.rank, ends[_i].rank);
}
END_TEST

/* The ring of ../shared/data/peers/loggopsim/gen_ring_goal.py over 256 ranks: 103,072,020 ns. */
START_TEST(a_ring_of_256_ends_as_published)
{
    enum { N = 256 };
    g_autoptr(GoalSchedule) schedule = goal_new(N);
    for (uint32_t r = 0; r < N; r++)
        for (uint32_t k = 0; k < 2 * (N - 1); k++) {
            GoalOp pair[] = {{.kind = GOAL_SEND, .peer = (r + 1) % N, .tag = k, .size = 32768},
                             {.kind = GOAL_RECV, .peer = (r + N - 1) % N, .tag = k, .size = 32768}};
            g_array_append_vals(schedule->ops[r], pair, 2);
            GoalEdge edges[] = {{2 * k, 2 * k - 1, FALSE}, {2 * k + 1, 2 * k - 1, FALSE}};
            if (k > 0)
                g_array_append_vals(schedule->edges[r], edges, 2);
        }
    GoalCosts costs = goal_costs_default();
    GoalTime time;
    ck_assert(goal_time(schedule, &costs, &time, NULL));
    ck_assert_int_eq(time.end_ps, INT64_C(103072020) * PS_PER_NS);
    ck_assert_uint_eq(time.messages, N * 2 * (N - 1));
}
END_TEST

/* 1024 ranks, a message from each to each other: 1,047,552 messages. */
START_TEST(an_all_to_all_of_1024_ends_in_rounds)
{
    enum { N = 1024 };
    g_autoptr(GoalSchedule) schedule = goal_new(N);
    for (uint32_t r = 0; r < N; r++)
        for (uint32_t k = 1; k < N; k++) {
            GoalOp pair[] = {{.kind = GOAL_SEND, .peer = (r + k) % N, .size = 1024},
                             {.kind = GOAL_RECV, .peer = (r + N - k) % N, .size = 1024}};
            g_array_append_vals(schedule->ops[r], pair, 2);
        }
    GoalCosts costs = goal_costs_default();
    GoalTime time;
    ck_assert(goal_time(schedule, &costs, &time, NULL));
    ck_assert_uint_eq(time.messages, (uint64_t)N * (N - 1));
    /* As for 16 ranks: rounds of o + L + o + (s - 1) G, one after another. */
    ck_assert_int_eq(time.end_ps, (SimTime)(N - 1) * (1500 + 2500 + 1500 + 1023 * 6) * PS_PER_NS);
}
END_TEST

/* Byte 8 + 6 + 16 x 32 is where rank 0's section begins: 4 + 4 bytes, a root, then nodes of 39 bytes. */
START_TEST(all_problems_of_a_binary_are_told_with_their_byte)
{
    NEED_SHARED(path, "data/goal/binary_tree_32.bin");
    g_autofree char *data = NULL;
    gsize length;
    ck_assert(g_file_get_contents(path, &data, &length, NULL));
    guint32 roots;
    memcpy(&roots, data + 526 + 4, 4);
    gsize node = 526 + 8 + 4 * (gsize)GUINT32_FROM_LE(roots);
    data[node + 4] = 9;       /* type */
    data[node + 39 + 5] = 77; /* peer of the second */
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    ck_assert_ptr_null(goal_parse_binary("x", data, length, problems, &error));
    ck_assert_uint_eq(problems->len, 2);
    g_autofree char *first = g_strdup_printf("x: byte %zu: type 9; 1 (send), 2 (recv) or 3 (calc) expected", node + 4);
    g_autofree char *second = g_strdup_printf("x: byte %zu: rank 77; below 32 expected", node + 44);
    ck_assert_str_eq(problems->pdata[0], first);
    ck_assert_str_eq(problems->pdata[1], second);
    ck_assert_str_eq(error->message, "x: 2 problems");
    g_error_free(error);
}
END_TEST

/* Everything a schedule holds: ops as they are, edges whatever their order. */
static void
ck_assert_same_schedule(const GoalSchedule *a, const GoalSchedule *b)
{
    ck_assert_uint_eq(a->n_ranks, b->n_ranks);
    same_ops(a, b);
    for (uint32_t r = 0; r < a->n_ranks; r++) {
        const GArray *some = a->edges[r], *others = b->edges[r];
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
        ck_assert_uint_eq(some->len, others->len);
        for (uint32_t e = 0; e < 2 * some->len; e++) {
            const GoalEdge *edge = &g_array_index(e < some->len ? some : others, GoalEdge, e % some->len);
            gint64 key = (gint64)edge->op << 32 | (gint64)edge->before << 1 | edge->begun;
            if (e < some->len)
                g_hash_table_add(seen, g_memdup2(&key, sizeof key));
            else
                ck_assert(g_hash_table_contains(seen, &key));
        }
    }
}

/* Read, written as text (or first as a program), read again. */
static void
come_back(const char *path, gboolean by_program)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *out = support_save(""), *middle = support_save("");
    g_autoptr(GoalSchedule) schedule = goal_read(path, NULL, &error);
    ck_assert_msg(schedule != NULL, "%s", error ? error->message : "");
    g_autoptr(Workload) workload = goal_workload(schedule, path, 1, NULL, &error);
    if (by_program) {
        ck_assert(writer_program.write(workload, middle, notes, &error));
        TraceSource source = {.files = (char *[]){middle, NULL}, .n_files = 1};
        g_clear_pointer(&workload, workload_free);
        workload = trace_read("program", &source, &error);
        ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    }
    ck_assert_msg(writer_goal.write(workload, out, notes, &error), "%s", error ? error->message : "");
    ck_assert_msg(by_program || notes->len == 0, "%s", notes->len > 0 ? (char *)notes->pdata[0] : "");
    g_autoptr(GoalSchedule) again = goal_read(out, NULL, &error);
    ck_assert_msg(again != NULL, "%s", error ? error->message : "");
    ck_assert_same_schedule(schedule, again);
    g_unlink(out);
    g_unlink(middle);
}

START_TEST(real_files_come_back_the_same)
{
    NEED_SHARED(path, ends[_i].file);
    come_back(path, FALSE);
    come_back(path, TRUE);
}
END_TEST

/* All that the format has: CPUs, NICs, tags of 64 bits, any source, any tag, both sorts of edges. */
START_TEST(all_of_the_format_comes_back_the_same)
{
    g_autofree char *path =
        support_save("num_ranks 3\nrank 0 {\na: calc 7 cpu 3\nb: send 8b to 1 tag 98765432109 nic 2\n"
                     "c: send 0b to 1 tag 5 cpu 2 nic 1\nb requires a\nc irequires b\n"
                     "c requires a\n}\nrank 1 {\nrecv 8b from -1 tag 98765432109 cpu 1\n"
                     "recv 9b from 0 tag -1 nic 3\n}\nrank 2 {\n}\n");
    come_back(path, FALSE);
    come_back(path, TRUE);
    g_unlink(path);
}
END_TEST

START_TEST(what_goal_cannot_hold_is_told)
{
    g_autofree char *path = support_save("program 1\nranks 2\nmesh dp=2\nrole all ranks all\nstream compute\n"
                                         "compute forward time 1500 ps\ncompute back flops 1e9\nstream comm\n"
                                         "all_reduce sum group dp bytes 8 time 3 us after back\n");
    g_autofree char *out = support_save(""), *text = NULL;
    GError *error = NULL;
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    TraceSource source = {.files = (char *[]){path, NULL}, .n_files = 1};
    g_autoptr(Workload) workload = trace_read("program", &source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert(writer_goal.write(workload, out, notes, &error));
    ck_assert(g_file_get_contents(out, &text, NULL, NULL));
    ck_assert_str_eq(text, "num_ranks 2\n\nrank 0 {\nl1: calc 2\nl2: calc 0\nl3: calc 3000 cpu 1\nl2 requires l1\n"
                           "l3 requires l2\n}\n\nrank 1 {\nl1: calc 2\nl2: calc 0\nl3: calc 3000 cpu 1\n"
                           "l2 requires l1\nl3 requires l2\n}\n");
    static const char *const told[] = {"2 collectives became calc of their recorded time, or of 0: GOAL has none",
                                       "2 durations were rounded to whole nanoseconds",
                                       "2 ops without a recorded time became calc 0", "6 ops lost their name",
                                       "4 streams lost their name"};
    ck_assert_uint_eq(notes->len, G_N_ELEMENTS(told));
    for (guint i = 0; i < notes->len; i++)
        ck_assert_str_eq(notes->pdata[i], told[i]);
    g_unlink(path);
    g_unlink(out);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("goal");
    TCase *cases = tcase_create("cases");
    tcase_add_loop_test(cases, real_files_have_their_counts_in_both_forms, 0, G_N_ELEMENTS(files));
    tcase_add_loop_test(cases, bad_lines_are_refused_with_their_place, 0, G_N_ELEMENTS(refused));
    tcase_add_test(cases, all_problems_are_told);
    tcase_add_test(cases, programs_hold_all_of_a_schedule);
    tcase_add_test(cases, damaged_binaries_are_refused);
    tcase_add_loop_test(cases, finish_times_are_those_of_loggopsim, 0, G_N_ELEMENTS(ends));
    tcase_add_test(cases, all_problems_of_a_binary_are_told_with_their_byte);
    tcase_add_loop_test(cases, real_files_come_back_the_same, 0, G_N_ELEMENTS(ends));
    tcase_add_test(cases, all_of_the_format_comes_back_the_same);
    tcase_add_test(cases, what_goal_cannot_hold_is_told);
    tcase_add_test(cases, a_ring_of_256_ends_as_published);
    tcase_add_test(cases, an_all_to_all_of_1024_ends_in_rounds);
    tcase_set_timeout(cases, 30);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
