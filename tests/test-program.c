/* test-program.c - groups, meshes, and what workload_check refuses */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "base/random.h"
#include "workload/program.h"

/* A workload of n ranks that all run one program of one stream. */
static Workload *
one_role(uint32_t n, Program **program)
{
    Workload *workload = workload_new(n);
    uint32_t index = workload_add_program(workload, FALSE);
    *program = workload_program(workload, index);
    program_add_stream(*program, "s", FALSE);
    for (uint32_t rank = 0; rank < n; rank++)
        workload->program_of_rank[rank] = index;
    return workload;
}

/* Each of n ranks a program of its own, in the DAG form. */
static Workload *
own_roles(uint32_t n)
{
    Workload *workload = workload_new(n);
    for (uint32_t rank = 0; rank < n; rank++)
        workload->program_of_rank[rank] = workload_add_program(workload, TRUE);
    return workload;
}

static Op
collective(CollectiveKind kind, uint32_t group, uint64_t bytes)
{
    Op op = op_default(OP_COLLECTIVE);
    op.collective = kind;
    op.group = group;
    op.bytes = bytes;
    op.stream = 0;
    return op;
}

static Op
message(OpKind kind, PeerForm form, uint32_t group, int32_t peer, uint32_t tag)
{
    Op op = op_default(kind);
    op.peer_form = form;
    op.group = group;
    op.peer = peer;
    op.tag = tag;
    op.bytes = 8;
    op.stream = 0;
    return op;
}

static void
add(Program *program, Op op, const char *name)
{
    if (program->dag)
        op.stream = INDEX_NONE;
    program_add_op(program, op, name, NULL, 0);
}

static void
expect(Workload *workload, const char *message_text)
{
    GError *error = NULL;
    ck_assert(!workload_check(workload, &error));
    ck_assert_str_eq(error->message, message_text);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, message_text);
}

static void
expect_good(Workload *workload)
{
    GError *error = NULL;
    ck_assert_msg(workload_check(workload, &error), "%s", error != NULL ? error->message : "");
}

START_TEST(mesh_groups_hold_the_ranks_that_differ_in_one_coordinate)
{
    static const char *const axes[] = {"tp", "pp", "dp"};
    static const uint32_t sizes[] = {2, 3, 4};
    g_autoptr(Workload) workload = workload_new(24);
    ck_assert_uint_eq(workload_add_mesh(workload, axes, sizes, 3), 0);
    for (uint32_t axis = 0; axis < 3; axis++) {
        for (uint32_t rank = 0; rank < 24; rank++) {
            uint32_t n, coordinate[3] = {rank % 2, rank / 2 % 3, rank / 6};
            const uint32_t *members = workload_members(workload, axis, rank, &n);
            ck_assert_uint_eq(n, sizes[axis]);
            for (uint32_t i = 0; i < n; i++) {
                coordinate[axis] = i;
                ck_assert_uint_eq(members[i], coordinate[0] + 2 * (coordinate[1] + 3 * coordinate[2]));
            }
        }
    }
    ck_assert_uint_eq(workload_find_group(workload, "dp"), 2);
    ck_assert_uint_eq(workload_find_group(workload, "ep"), INDEX_NONE);
}
END_TEST

START_TEST(a_peer_by_offset_goes_round_the_group)
{
    static const uint32_t ranks[] = {4, 2, 7};
    g_autoptr(Workload) workload = workload_new(8);
    uint32_t group = workload_add_group(workload, "g", ranks, 3), n;
    Op next = message(OP_SEND, PEER_OFFSET, group, 1, 0), back = message(OP_RECV, PEER_OFFSET, group, -2, 0);
    ck_assert_uint_eq(workload_peer(workload, &next, 4), 2);
    ck_assert_uint_eq(workload_peer(workload, &next, 7), 4);
    ck_assert_uint_eq(workload_peer(workload, &back, 4), 2);
    ck_assert_uint_eq(workload_peer(workload, &next, 0), INDEX_NONE);
    ck_assert_ptr_null(workload_members(workload, group, 0, &n));
}
END_TEST

START_TEST(collectives_are_numbered_by_group)
{
    Program *program;
    g_autoptr(Workload) workload = one_role(2, &program);
    static const uint32_t both[] = {0, 1};
    uint32_t a = workload_add_group(workload, "a", both, 2), b = workload_add_group(workload, "b", both, 2);
    add(program, collective(COLLECTIVE_ALL_REDUCE, a, 1), "x");
    add(program, collective(COLLECTIVE_ALL_REDUCE, b, 2), "y");
    add(program, collective(COLLECTIVE_ALL_REDUCE, a, 3), "z");
    expect_good(workload);
    static const uint32_t expected[] = {0, 0, 1};
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(g_array_index(program->ops, Op, i).seq, expected[i]);
}
END_TEST

START_TEST(a_circle_is_named_by_its_ops)
{
    g_autoptr(Workload) workload = own_roles(1);
    Program *program = workload_program(workload, 0);
    static const uint32_t deps[][2] = {{2}, {0}, {1}, {2}};
    static const char *const names[] = {"a", "b", "c", "d"};
    for (uint32_t i = 0; i < 4; i++)
        program_add_op(program, op_default(OP_MARKER), names[i], deps[i], 1);
    expect(workload,
           "program 0: ops wait for each other in a circle: op 0 \"a\" waits for op 2 \"c\", op 2 \"c\" waits for "
           "op 1 \"b\", op 1 \"b\" waits for op 0 \"a\"");
}
END_TEST

START_TEST(the_order_of_a_stream_is_part_of_a_circle)
{
    Program *program;
    g_autoptr(Workload) workload = one_role(1, &program);
    Op op = op_default(OP_HOST);
    op.stream = 0;
    uint32_t second = 1;
    program_add_op(program, op, "first", &second, 1);
    program_add_op(program, op, "second", NULL, 0);
    program->name = g_strdup("main");
    expect(workload,
           "program \"main\": ops wait for each other in a circle: op 0 \"first\" waits for op 1 \"second\", op 1 "
           "\"second\" waits for op 0 \"first\"");
}
END_TEST

START_TEST(a_long_circle_is_shortened)
{
    enum { N = 1000 };
    g_autoptr(Workload) workload = own_roles(1);
    Program *program = workload_program(workload, 0);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t next = (i + 1) % N;
        program_add_op(program, op_default(OP_MARKER), "m", &next, 1);
    }
    GError *error = NULL;
    ck_assert(!workload_check(workload, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "op 7 \"m\" waits for op 8 \"m\", and so on through 1000 ops");
}
END_TEST

/* One wrong op in an otherwise empty program of 4 ranks, group "g" of ranks 0 and 1. */
static const struct {
    const char *text;
    Op op;
} wrong_ops[] = {
    {"program 0: op 0 \"x\" stands on no stream of its program", {.kind = OP_MARKER, .stream = 7}},
    {"program 0: op 0 \"x\" has a negative time", {.kind = OP_COMPUTE, .duration_ps = -2}},
    {"program 0: op 0 \"x\" has operations or bytes moved that are negative or not finite",
     {.kind = OP_COMPUTE, .flops = -1}},
    {"program 0: op 0 \"x\" has operations or bytes moved that are negative or not finite",
     {.kind = OP_COMPUTE, .bytes_moved = __builtin_inf()}},
    {"program 0: op 0 \"x\" is a collective of no known kind", {.kind = OP_COLLECTIVE, .collective = COLLECTIVE_KINDS}},
    {"program 0: op 0 \"x\" names no group", {.kind = OP_COLLECTIVE, .group = 1}},
    {"program 0: op 0 \"x\" names no group", {.kind = OP_RECV, .peer_form = PEER_OFFSET, .group = INDEX_NONE}},
    {"program 0: op 0 \"x\" sends to no one", {.kind = OP_SEND, .peer_form = PEER_ANY}},
    {"program 0: op 0 \"x\" sends to a rank that does not exist: 4 of ranks 0 to 3", {.kind = OP_SEND, .peer = 4}},
    {"program 0: op 0 \"x\" receives from a rank that does not exist: -1 of ranks 0 to 3",
     {.kind = OP_RECV, .peer = -1}},
    {"rank 2 issues \"x\", all_reduce of 9 bytes, but is not in its group \"g\"",
     {.kind = OP_COLLECTIVE, .bytes = 9, .collective = COLLECTIVE_ALL_REDUCE}},
    {"rank 0 sends to itself", {.kind = OP_SEND, .peer = 0}},
    {"rank 2 sends to g+1, but is not in group \"g\"", {.kind = OP_SEND, .peer_form = PEER_OFFSET, .peer = 1}},
};

START_TEST(a_wrong_op_is_named)
{
    Program *program;
    g_autoptr(Workload) workload = one_role(4, &program);
    static const uint32_t pair[] = {0, 1};
    workload_add_group(workload, "g", pair, 2);
    Op op = wrong_ops[_i].op;
    op.splits = INDEX_NONE;
    add(program, op, "x");
    if (op.peer_form == PEER_OFFSET && op.kind == OP_SEND)
        add(program, message(OP_RECV, PEER_OFFSET, 0, -1, 0), "y");
    expect(workload, wrong_ops[_i].text);
}
END_TEST

START_TEST(a_dep_that_is_no_op_is_named)
{
    g_autoptr(Workload) workload = own_roles(1);
    uint32_t dep = 5;
    program_add_op(workload_program(workload, 0), op_default(OP_MARKER), "m", &dep, 1);
    expect(workload, "program 0: op 0 \"m\" waits for op 5, but there are only 1 ops");
}
END_TEST

START_TEST(a_rank_without_a_program_is_named)
{
    g_autoptr(Workload) workload = workload_new(2);
    workload->program_of_rank[0] = workload_add_program(workload, FALSE);
    expect(workload, "rank 1 has no program");
    g_autoptr(Workload) empty = workload_new(0);
    expect(empty, "there are no ranks; at least one is needed");
}
END_TEST

START_TEST(a_rank_twice_in_a_group_is_named)
{
    Program *program;
    g_autoptr(Workload) workload = one_role(3, &program);
    static const uint32_t ranks[] = {1, 2, 1};
    workload_add_group(workload, "g", ranks, 3);
    expect(workload, "group \"g\" names rank 1 twice");
}
END_TEST

/* Rank 1 of a group of all three issues something else as its second collective. */
static const struct {
    CollectiveKind kind;
    uint64_t bytes;
    uint32_t root, n; /* n: how many collectives rank 1 issues */
    const char *text;
} differing[] = {
    {COLLECTIVE_BROADCAST, 20, 0, 3,
     "collective 1 of group \"g\": rank 0 issues \"b\", all_reduce of 20 bytes, but rank 1 issues \"other\", broadcast "
     "of "
     "20 bytes"},
    {COLLECTIVE_ALL_REDUCE, 21, 0, 3,
     "collective 1 of group \"g\": rank 0 issues \"b\", all_reduce of 20 bytes, but rank 1 issues \"other\", "
     "all_reduce of "
     "21 bytes"},
    {COLLECTIVE_ALL_REDUCE, 20, 2, 3,
     "collective 1 of group \"g\": rank 0 issues \"b\", all_reduce of 20 bytes, but rank 1 issues \"other\", "
     "all_reduce of "
     "20 bytes from member 2"},
    {COLLECTIVE_ALL_REDUCE, 20, 0, 2,
     "collective 2 of group \"g\": rank 0 issues \"c\", all_reduce of 30 bytes, but rank 1 issues only 2 collectives "
     "there"},
    {COLLECTIVE_ALL_REDUCE, 20, 0, 0,
     "collective 0 of group \"g\": rank 0 issues \"a\", all_reduce of 10 bytes, but rank 1 issues only 0 collectives "
     "there"},
    {COLLECTIVE_ALL_REDUCE, 20, 0, 4,
     "collective 3 of group \"g\": rank 1 issues \"more\", all_reduce of 40 bytes, but rank 0 issues only 3 "
     "collectives "
     "there"},
};

START_TEST(collectives_that_differ_between_members_are_named)
{
    g_autoptr(Workload) workload = own_roles(3);
    static const uint32_t all[] = {0, 1, 2};
    uint32_t group = workload_add_group(workload, "g", all, 3);
    for (uint32_t rank = 0; rank < 3; rank++) {
        Program *program = workload_program(workload, rank);
        static const char *const names[] = {"a", "b", "c", "more"};
        uint32_t n = rank == 1 ? differing[_i].n : 3;
        for (uint32_t i = 0; i < n; i++) {
            Op op = collective(COLLECTIVE_ALL_REDUCE, group, 10 * (i + 1));
            if (rank == 1 && i == 1) {
                op.collective = differing[_i].kind;
                op.bytes = differing[_i].bytes;
                op.root = differing[_i].root;
            }
            add(program, op, rank == 1 && i == 1 ? "other" : names[i]);
        }
    }
    expect(workload, differing[_i].text);
}
END_TEST

START_TEST(splits_have_the_size_of_the_group_and_sum_to_the_bytes)
{
    Program *program;
    g_autoptr(Workload) workload = one_role(3, &program);
    static const uint32_t all[] = {0, 1, 2};
    static const uint64_t splits[] = {5, 0, 6};
    uint32_t group = workload_add_group(workload, "g", all, 3);
    Op op = collective(COLLECTIVE_ALL_TO_ALL, group, 11);
    op.splits = workload_add_splits(workload, splits, 3);
    add(program, op, "v");
    expect_good(workload);

    Op *stored = &g_array_index(program->ops, Op, 0);
    stored->bytes = 12;
    expect(workload, "rank 2 issues \"v\", all_to_all of 12 bytes, but its split sizes sum to 11");
    stored->bytes = 11;
    stored->splits = 1;
    expect(workload, "rank 2 issues \"v\", all_to_all of 11 bytes, without a split size for each of 3 members");
    stored->splits = 0;
    stored->collective = COLLECTIVE_ALL_GATHER;
    expect(workload, "rank 2 issues \"v\", all_gather of 11 bytes, with split sizes, which only all_to_all may have");
    g_array_index(workload->splits, uint64_t, 0) = UINT64_MAX;
    stored->collective = COLLECTIVE_ALL_TO_ALL;
    expect(workload, "rank 2 issues \"v\", all_to_all of 11 bytes, but its split sizes sum to more than 64 bits hold");
}
END_TEST

START_TEST(members_of_an_uneven_all_to_all_may_send_different_sums)
{
    g_autoptr(Workload) workload = own_roles(2);
    static const uint32_t all[] = {0, 1};
    static const uint64_t splits[][2] = {{1, 2}, {30, 40}};
    uint32_t group = workload_add_group(workload, "g", all, 2);
    for (uint32_t rank = 0; rank < 2; rank++) {
        Op op = collective(COLLECTIVE_ALL_TO_ALL, group, rank == 0 ? 3 : 70);
        op.splits = workload_add_splits(workload, splits[rank], 2);
        add(workload_program(workload, rank), op, "v");
    }
    expect_good(workload);
    for (uint32_t rank = 0; rank < 2; rank++)
        g_array_index(workload_program(workload, rank)->ops, Op, 0).splits = INDEX_NONE;
    expect(workload,
           "collective 0 of group \"g\": rank 0 issues \"v\", all_to_all of 3 bytes, but rank 1 issues \"v\", "
           "all_to_all of 70 bytes");
}
END_TEST

START_TEST(a_root_outside_of_the_group_is_named)
{
    Program *program;
    g_autoptr(Workload) workload = one_role(2, &program);
    static const uint32_t all[] = {0, 1};
    Op op = collective(COLLECTIVE_BROADCAST, workload_add_group(workload, "g", all, 2), 4);
    op.root = 2;
    add(program, op, "b");
    expect(workload, "rank 1 issues \"b\", broadcast of 4 bytes from member 2, but its group has only 2 members");
}
END_TEST

/* Rank 0 sends, rank 1 receives: the ops of both, and the answer. */
static const struct {
    uint32_t sent[3], received[3]; /* tags + 1; 0 = none */
    gboolean any;                  /* rank 1 receives the last from anyone */
    const char *text;
} messages[] = {
    {{1, 2, 2}, {2, 1, 2}, FALSE, NULL},
    {{1, 2, 2}, {2, 1, 2}, TRUE, NULL},
    {{1, 1}, {1}, FALSE, "rank 0 sends 2 messages with tag 0 to rank 1 (the first: op 0 \"s\"), which receives 1"},
    {{1}, {1, 1}, FALSE, "rank 1 receives 2 messages with tag 0 from rank 0 (the first: op 0 \"r\"), which sends 1"},
    {{1}, {2}, FALSE, "rank 0 sends 1 messages with tag 0 to rank 1 (the first: op 0 \"s\"), which receives 0"},
    {{0}, {9}, FALSE, "rank 1 receives 1 messages with tag 8 from rank 0 (the first: op 0 \"r\"), which sends 0"},
    {{1},
     {1, 1},
     TRUE,
     "rank 1 receives 1 messages with tag 0 from any rank (the first: op 1 \"r\"), but 0 are sent to it"},
    {{1, 3}, {1}, TRUE, "1 messages with tag 2 are sent to rank 1, which never receives them"},
};

START_TEST(sends_and_recvs_are_counted_by_pair_and_tag)
{
    g_autoptr(Workload) workload = own_roles(2);
    for (uint32_t i = 0; i < 3; i++) {
        gboolean last = i == 2 || messages[_i].received[i + 1] == 0;
        if (messages[_i].sent[i] > 0)
            add(workload_program(workload, 0), message(OP_SEND, PEER_RANK, INDEX_NONE, 1, messages[_i].sent[i] - 1),
                "s");
        if (messages[_i].received[i] > 0)
            add(workload_program(workload, 1),
                message(OP_RECV, messages[_i].any && last ? PEER_ANY : PEER_RANK, INDEX_NONE, 0,
                        messages[_i].received[i] - 1),
                "r");
    }
    if (messages[_i].text != NULL)
        expect(workload, messages[_i].text);
    else
        expect_good(workload);
}
END_TEST

START_TEST(all_problems_are_told_where_they_are_asked_for)
{
    g_autoptr(Workload) workload = own_roles(4);
    static const uint32_t all[] = {0, 1, 2, 3};
    static const uint32_t left[] = {0, 1}, right[] = {2, 3};
    uint32_t a = workload_add_group(workload, "a", left, 2), b = workload_add_group(workload, "b", right, 2);
    workload_add_group(workload, "all", all, 4);
    for (uint32_t rank = 0; rank < 4; rank++)
        add(workload_program(workload, rank), collective(COLLECTIVE_BARRIER, rank < 2 ? a : b, rank), "x");
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    workload_check_all(workload, problems);
    ck_assert_uint_eq(problems->len, 2);
    ck_assert_str_eq(g_ptr_array_index(problems, 1),
                     "collective 0 of group \"b\": rank 2 issues \"x\", barrier of 2 bytes, "
                     "but rank 3 issues \"x\", barrier of 3 bytes");
}
END_TEST

/* Random messages among few ranks with few tags, by rank, by offset and from anyone, against a table of counts. */
START_TEST(message_counts_agree_with_a_slow_count)
{
    enum { RANKS = 4, TAGS = 2 };
    Random random = random_named((uint64_t)_i, "messages");
    g_autoptr(Workload) workload = own_roles(RANKS);
    static const uint32_t order[RANKS] = {2, 0, 3, 1};
    uint32_t group = workload_add_group(workload, "g", order, RANKS);
    int balance[RANKS][RANKS][TAGS] = {0}, any[RANKS][TAGS] = {0};
    for (uint32_t k = 0; k < 12; k++) {
        uint32_t src = (uint32_t)random_below(&random, RANKS), tag = (uint32_t)random_below(&random, TAGS);
        uint32_t shift = 1 + (uint32_t)random_below(&random, RANKS - 1), at = 0;
        while (order[at] != src)
            at++;
        uint32_t dst = order[(at + shift) % RANKS];
        PeerForm out = random_below(&random, 2) ? PEER_RANK : PEER_OFFSET, in = (PeerForm)random_below(&random, 3);
        add(workload_program(workload, src),
            message(OP_SEND, out, group, out == PEER_RANK ? (int32_t)dst : (int32_t)shift, tag), "s");
        balance[src][dst][tag]++;
        if (random_below(&random, 24) == 0)
            continue; /* forgotten */
        add(workload_program(workload, dst),
            message(OP_RECV, in, group, in == PEER_RANK ? (int32_t)src : -(int32_t)shift, tag), "r");
        if (in == PEER_ANY)
            any[dst][tag]++;
        else
            balance[src][dst][tag]--;
    }
    gboolean good = TRUE;
    for (uint32_t dst = 0; dst < RANKS; dst++) {
        for (uint32_t tag = 0; tag < TAGS; tag++) {
            int left = 0;
            for (uint32_t src = 0; src < RANKS; src++) {
                good = good && balance[src][dst][tag] >= 0;
                left += balance[src][dst][tag];
            }
            good = good && left == any[dst][tag];
        }
    }
    ck_assert_int_eq(workload_check(workload, NULL), good);
}
END_TEST

/* 100,000 ranks in 8 roles on a mesh, 1000 micro-batches with a tag each: 4 million messages and as many collectives.
 */
START_TEST(shared_roles_are_checked_by_role)
{
    enum { TP = 8, PP = 8, DP = 1600, MICRO = 1000 };
    static const char *const axes[] = {"tp", "pp", "dp"};
    static const uint32_t sizes[] = {TP, PP, DP};
    g_autoptr(Workload) workload = workload_new(TP * PP * DP);
    workload_add_mesh(workload, axes, sizes, 3);
    for (uint32_t stage = 0; stage < PP; stage++) {
        Program *program = workload_program(workload, workload_add_program(workload, FALSE));
        program_add_stream(program, "s", FALSE);
        for (uint32_t m = 0; m < MICRO; m++) {
            if (stage > 0)
                add(program, message(OP_RECV, PEER_OFFSET, 1, -1, m), "r");
            add(program, collective(COLLECTIVE_ALL_REDUCE, 0, 4096), "t");
            if (stage + 1 < PP)
                add(program, message(OP_SEND, PEER_OFFSET, 1, 1, m), "s");
        }
        add(program, collective(COLLECTIVE_ALL_REDUCE, 2, 1 << 20), "d");
    }
    for (uint32_t rank = 0; rank < workload->n_ranks; rank++)
        workload->program_of_rank[rank] = rank / TP % PP;
    gint64 start = g_get_monotonic_time();
    expect_good(workload);
    double seconds = (double)(g_get_monotonic_time() - start) / 1e6;
    ck_assert_msg(seconds < 2, "%.2f s", seconds);

    g_array_index(workload_program(workload, 3)->ops, Op, 5).tag = 5000;
    GError *error = NULL;
    ck_assert(!workload_check(workload, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "messages with tag"));
    g_clear_error(&error);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("program");
    TCase *build = tcase_create("build");
    tcase_add_test(build, mesh_groups_hold_the_ranks_that_differ_in_one_coordinate);
    tcase_add_test(build, a_peer_by_offset_goes_round_the_group);
    tcase_add_test(build, collectives_are_numbered_by_group);
    suite_add_tcase(suite, build);

    TCase *order = tcase_create("order");
    tcase_add_test(order, a_circle_is_named_by_its_ops);
    tcase_add_test(order, the_order_of_a_stream_is_part_of_a_circle);
    tcase_add_test(order, a_long_circle_is_shortened);
    tcase_add_test(order, a_dep_that_is_no_op_is_named);
    suite_add_tcase(suite, order);

    TCase *check = tcase_create("check");
    tcase_set_timeout(check, 60);
    tcase_add_loop_test(check, a_wrong_op_is_named, 0, G_N_ELEMENTS(wrong_ops));
    tcase_add_test(check, a_rank_without_a_program_is_named);
    tcase_add_test(check, a_rank_twice_in_a_group_is_named);
    tcase_add_loop_test(check, collectives_that_differ_between_members_are_named, 0, G_N_ELEMENTS(differing));
    tcase_add_test(check, splits_have_the_size_of_the_group_and_sum_to_the_bytes);
    tcase_add_test(check, members_of_an_uneven_all_to_all_may_send_different_sums);
    tcase_add_test(check, a_root_outside_of_the_group_is_named);
    tcase_add_loop_test(check, sends_and_recvs_are_counted_by_pair_and_tag, 0, G_N_ELEMENTS(messages));
    tcase_add_test(check, all_problems_are_told_where_they_are_asked_for);
    tcase_add_loop_test(check, message_counts_agree_with_a_slow_count, 0, 60);
    tcase_add_test(check, shared_roles_are_checked_by_role);
    suite_add_tcase(suite, check);
    return support_main(suite);
}
