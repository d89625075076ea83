/* test-program-text.c - program text: what it means, what is refused, and that any workload survives the round trip */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "base/random.h"
#include "workload/program_text.h"
#include "workload/trace_format.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/trainshed-test-program-XXXXXX";

static char *
save(const char *text, size_t length)
{
    char *path = g_build_filename(folder, "p.program", NULL);
    FILE *file = fopen(path, "wb");
    ck_assert(file != NULL && fwrite(text, 1, length, file) == length && fclose(file) == 0);
    return path;
}

static Workload *
read_text(const char *text, GError **error)
{
    g_autofree char *path = save(text, strlen(text));
    return program_text_read(path, error);
}

static Workload *
read_good(const char *text)
{
    GError *error = NULL;
    Workload *workload = read_text(text, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    return workload;
}

static const Op *
op_at(const Workload *workload, uint32_t program, uint32_t index)
{
    return &g_array_index(workload_program(workload, program)->ops, Op, index);
}

/* --- equality, by what each kind of op means --- */

static void
assert_group_equal(const Group *a, const Group *b)
{
    ck_assert_str_eq(a->name, b->name);
    ck_assert_uint_eq(a->instances->len, b->instances->len);
    for (uint32_t i = 0; i < a->instances->len; i++) {
        const GArray *x = g_ptr_array_index(a->instances, i), *y = g_ptr_array_index(b->instances, i);
        ck_assert_uint_eq(x->len, y->len);
        ck_assert_mem_eq(x->data, y->data, x->len * sizeof(uint32_t));
    }
    ck_assert_mem_eq(a->instance_of_rank->data, b->instance_of_rank->data, a->instance_of_rank->len * sizeof(uint32_t));
}

static void
assert_op_equal(const Workload *va, const Workload *vb, const Op *a, const Op *b)
{
    ck_assert_uint_eq(a->kind, b->kind);
    ck_assert_uint_eq(a->stream, b->stream);
    ck_assert_int_eq(a->duration_ps, b->duration_ps);
    ck_assert(a->flops == b->flops && a->bytes_moved == b->bytes_moved);
    ck_assert_uint_eq(a->bytes, b->bytes);
    ck_assert_uint_eq(a->group, b->group);
    ck_assert_uint_eq(a->collective, b->collective);
    ck_assert_uint_eq(a->seq, b->seq);
    ck_assert_uint_eq(a->root, b->root);
    ck_assert_uint_eq(a->peer_form, b->peer_form);
    ck_assert_int_eq(a->peer, b->peer);
    ck_assert_uint_eq(a->tag, b->tag);
    ck_assert_uint_eq(a->n_deps, b->n_deps);
    ck_assert_int_eq(a->splits == INDEX_NONE, b->splits == INDEX_NONE);
    if (a->splits == INDEX_NONE)
        return;
    const Group *group = g_ptr_array_index(va->groups, a->group);
    uint32_t n = ((const GArray *)g_ptr_array_index(group->instances, 0))->len;
    for (uint32_t i = 0; i < n; i++)
        ck_assert_uint_eq(g_array_index(va->splits, uint64_t, a->splits + i),
                          g_array_index(vb->splits, uint64_t, b->splits + i));
}

static void
assert_program_equal(const Workload *va, const Workload *vb, uint32_t index)
{
    const Program *a = workload_program(va, index), *b = workload_program(vb, index);
    ck_assert_str_eq(a->name, b->name);
    ck_assert_int_eq(a->dag, b->dag);
    ck_assert_uint_eq(a->streams->len, b->streams->len);
    for (uint32_t i = 0; i < a->streams->len; i++) {
        ck_assert_str_eq(g_ptr_array_index(a->streams, i), g_ptr_array_index(b->streams, i));
        ck_assert_int_eq(g_array_index(a->exclusive, gboolean, i), g_array_index(b->exclusive, gboolean, i));
    }
    ck_assert_uint_eq(a->ops->len, b->ops->len);
    for (uint32_t i = 0; i < a->ops->len; i++) {
        const Op *x = op_at(va, index, i), *y = op_at(vb, index, i);
        ck_assert_str_eq(program_op_name(a, i), program_op_name(b, i));
        assert_op_equal(va, vb, x, y);
        for (uint32_t d = 0; d < x->n_deps; d++)
            ck_assert_uint_eq(g_array_index(a->deps, uint32_t, x->first_dep + d),
                              g_array_index(b->deps, uint32_t, y->first_dep + d));
    }
}

static void
assert_equal(const Workload *a, const Workload *b)
{
    ck_assert_uint_eq(a->n_ranks, b->n_ranks);
    ck_assert_mem_eq(a->program_of_rank, b->program_of_rank, a->n_ranks * sizeof(uint32_t));
    ck_assert_str_eq(a->description, b->description);
    ck_assert_int_eq(a->recorded_collectives, b->recorded_collectives);
    ck_assert_int_eq(a->start_ps == NULL, b->start_ps == NULL);
    if (a->start_ps != NULL)
        ck_assert_mem_eq(a->start_ps, b->start_ps, a->n_ranks * sizeof(SimTime));
    ck_assert_uint_eq(a->notes->len, b->notes->len);
    for (uint32_t i = 0; i < a->notes->len; i++)
        ck_assert_str_eq(g_ptr_array_index(a->notes, i), g_ptr_array_index(b->notes, i));
    ck_assert_uint_eq(a->groups->len, b->groups->len);
    for (uint32_t i = 0; i < a->groups->len; i++)
        assert_group_equal(g_ptr_array_index(a->groups, i), g_ptr_array_index(b->groups, i));
    ck_assert_uint_eq(a->programs->len, b->programs->len);
    for (uint32_t i = 0; i < a->programs->len; i++)
        assert_program_equal(a, b, i);
}

/* Writes, reads, compares, and writes again: the same bytes. */
static void
assert_survives(const Workload *workload)
{
    GError *error = NULL;
    g_autofree char *path = g_build_filename(folder, "w.program", NULL), *one = NULL, *two = NULL;
    ck_assert_msg(program_text_write(workload, path, &error), "%s", error ? error->message : "");
    ck_assert(g_file_get_contents(path, &one, NULL, NULL));
    g_autoptr(Workload) again = program_text_read(path, &error);
    ck_assert_msg(again != NULL, "%s\n%s", error ? error->message : "", one);
    assert_equal(workload, again);
    ck_assert(program_text_write(again, path, NULL) && g_file_get_contents(path, &two, NULL, NULL));
    ck_assert_str_eq(one, two);
}

/* --- meaning --- */

START_TEST(a_program_for_people_is_read)
{
    g_autoptr(Workload) workload =
        read_good("# a comment\r\n"
                  "program 1\r\n"
                  "ranks 8\n"
                  "mesh tp=2 pp=2 dp=2   # rank = tp + 2 (pp + 2 dp)\n"
                  "group odd 1 3, 5 | 0 2 4\n"
                  "start 3 1.5 us\n"
                  "role first where pp=0\n"
                  "stream comp\n"
                  "  compute fwd time 4.5493ms\n"
                  "  compute bwd flops 1.2e12 bytes 3e9 after back\n"
                  "  all_reduce grad group dp bytes 25 MiB time 1.0635 ms on comm after bwd\n"
                  "  send to pp+1 bytes 4MiB tag 3 on comm\n"
                  "  recv back from pp-1 on in\n"
                  "role last where pp=1\n"
                  "stream comm\n"
                  "  all_reduce grad group dp bytes 26214400\n"
                  "  recv from any tag 3\n"
                  "  send to \"pp\" +1 bytes 0\n");
    ck_assert_uint_eq(workload->n_ranks, 8);
    static const uint32_t roles[] = {0, 0, 1, 1, 0, 0, 1, 1};
    ck_assert_mem_eq(workload->program_of_rank, roles, sizeof roles);
    ck_assert_uint_eq(workload->groups->len, 4);
    ck_assert_int_eq(workload->start_ps[3], 1500000);
    ck_assert_int_eq(workload->start_ps[0], 0);

    const Op *op = op_at(workload, 0, 0);
    ck_assert_int_eq(op->duration_ps, 4549300000);
    op = op_at(workload, 0, 1);
    ck_assert_double_eq(op->flops, 1.2e12);
    ck_assert_double_eq(op->bytes_moved, 3e9);
    ck_assert_int_eq(op->duration_ps, -1);
    ck_assert_uint_eq(g_array_index(workload_program(workload, 0)->deps, uint32_t, op->first_dep), 4);
    op = op_at(workload, 0, 2);
    ck_assert_uint_eq(op->bytes, 26214400);
    ck_assert_uint_eq(op->group, 2);
    ck_assert_uint_eq(op->stream, 1);
    ck_assert_int_eq(op->duration_ps, 1063500000);
    op = op_at(workload, 0, 3);
    ck_assert_str_eq(program_op_name(workload_program(workload, 0), 3), "send");
    ck_assert_uint_eq(op->tag, 3);
    ck_assert_int_eq(op->peer, 1);
    ck_assert_uint_eq(workload_peer(workload, op, 5), 7);
    ck_assert_uint_eq(op_at(workload, 1, 1)->peer_form, PEER_ANY);

    uint32_t n;
    const uint32_t *members = workload_members(workload, 3, 4, &n);
    ck_assert_uint_eq(n, 3);
    ck_assert_uint_eq(members[2], 4);
}
END_TEST

START_TEST(splits_sum_to_the_bytes)
{
    g_autoptr(Workload) workload =
        read_good("program 1\nranks 2\ngroup \"my group\" 1 0\nrole r ranks all\nstream s\n"
                  "all_to_all a group \"my group\" splits 1KiB, 2\nbroadcast b group \"my group\" root 1 bytes 7\n"
                  "barrier c group \"my group\"\n");
    const Op *op = op_at(workload, 0, 0);
    ck_assert_uint_eq(op->bytes, 1026);
    ck_assert_uint_eq(g_array_index(workload->splits, uint64_t, op->splits), 1024);
    ck_assert_uint_eq(op_at(workload, 0, 1)->root, 1);
    ck_assert_uint_eq(op_at(workload, 0, 2)->collective, COLLECTIVE_BARRIER);
    assert_survives(workload);
}
END_TEST

START_TEST(the_dag_form_has_exclusive_streams_and_numbers_for_names)
{
    g_autoptr(Workload) workload =
        read_good("program 1\nranks 1\nrole r dag ranks 0\nstream gpu exclusive\n"
                  "compute k time 1ns\ncompute k time 2ns after @0\nstream -\n"
                  "marker \"the end\\x01\\\"\" after @1, @0\nhost h time 5ps after \"the end\\x01\\\"\"\n");
    ck_assert(workload_program(workload, 0)->dag);
    ck_assert(g_array_index(workload_program(workload, 0)->exclusive, gboolean, 0));
    ck_assert_uint_eq(op_at(workload, 0, 2)->stream, INDEX_NONE);
    ck_assert_str_eq(program_op_name(workload_program(workload, 0), 2), "the end\x01\"");
    ck_assert_uint_eq(g_array_index(workload_program(workload, 0)->deps, uint32_t, op_at(workload, 0, 3)->first_dep),
                      2);
    assert_survives(workload);
}
END_TEST

/* The program of the published two-stream model: 42 computes of 18.0106 ms, 22 collectives of 47.6716 ms in all
 * (2 x 4.5493 + 20 x 0.1485 + 20 x 0.2971 and 2 x 13.2008 + 20 x 1.0635). */
START_TEST(the_two_stream_program_has_the_published_sums)
{
    GError *error = NULL;
    g_autoptr(Workload) workload = program_text_read(support_source("traces/dlrm-two-streams.program"), &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 128);
    ck_assert(workload->recorded_collectives);
    SimTime sum[2] = {0};
    uint32_t n[2] = {0};
    for (uint32_t i = 0; i < workload_program(workload, 0)->ops->len; i++) {
        const Op *op = op_at(workload, 0, i);
        sum[op->stream] += op->duration_ps;
        n[op->stream]++;
    }
    ck_assert_uint_eq(n[0], 42);
    ck_assert_uint_eq(n[1], 22);
    ck_assert_int_eq(sum[0], 18010600000);
    ck_assert_int_eq(sum[1], 47671600000);
    assert_survives(workload);
}
END_TEST

/* By its own cursors and the streams' order: the published end of 54.0024 ms, which sums of rounded times meet within
 * 0.001 ms; all ranks are alike, so a collective starts when it is reached. */
START_TEST(the_two_stream_program_ends_when_published)
{
    g_autoptr(Workload) workload = program_text_read(support_source("traces/dlrm-two-streams.program"), NULL);
    const Program *program = workload_program(workload, 0);
    g_autofree SimTime *end = g_new0(SimTime, program->ops->len);
    for (uint32_t round = 0; round < program->ops->len; round++) { /* relaxation: slow and obvious */
        SimTime before[2] = {0};
        for (uint32_t i = 0; i < program->ops->len; i++) {
            const Op *op = op_at(workload, 0, i);
            SimTime start = before[op->stream];
            for (uint32_t d = 0; d < op->n_deps; d++)
                start = MAX(start, end[g_array_index(program->deps, uint32_t, op->first_dep + d)]);
            end[i] = before[op->stream] = start + op->duration_ps;
        }
    }
    ck_assert_int_le(ABS(end[program->ops->len - 1] - 54002400000), 1000000);
}
END_TEST

/* --- refusals --- */

#define HEAD "program 1\nranks 4\ngroup g 0 1\n"
#define ROLE HEAD "role rest ranks 2-3\nrole r ranks 0-1\nstream s\n"

static const struct {
    const char *text, *message; /* the message follows the path */
} refused[] = {
    {"# only\n", ":1:7: expected \"program\" and the version of the format, found the end of the line"},
    {"progam 1\n",
     ":1:1: found \"progam\"; expected \"program\" and the version of the format; did you mean \"program\"?"},
    {"program 2\n", ":1:9: 2 is too large; expected the version of the format of at most 1"},
    {"program 0\n", ":1:9: the version of the format is 0; expected 1"},
    {"program 1 1\n", ":1:11: found \"1\"; expected the end of the line"},
    {"program 1\nranks 0\n", ":2:7: a number of ranks is 0; expected 1 or more"},
    {"program 1\nranks -3\n", ":2:7: found \"-3\"; expected a number of ranks"},
    {"program 1\nranks 99999999999999999999999\n",
     ":2:7: 99999999999999999999999 is too large; expected a number of ranks of at most 16777216"},
    {"program 1\nranks nan\n", ":2:7: found \"nan\"; expected a number of ranks"},
    {"program 1\nranks 2\nmsh tp=2\n", ":3:1: found \"msh\"; expected \"mesh\", \"group\", \"start\", \"description\", "
                                       "\"note\", \"recorded_collectives\" or "
                                       "\"role\"; did you mean \"mesh\"?"},
    {"program 1\nranks 2\nmesh tp=3\n", ":3:6: the axes multiply to 3 ranks; there are 2"},
    {"program 1\nranks 2\nmesh tp 2\n", ":3:6: found \"tp\"; expected an axis and its size like tp=2"},
    {"program 1\nranks 2\nmesh tp=2 tp=1\n", ":3:11: axis \"tp\" is given twice"},
    {"program 1\nranks 2\nmesh a=4294967295 b=4294967295 c=4294967295\n",
     ":3:6: the axes multiply to 18446744065119617025 ranks; there are 2"},
    {HEAD "group g 2\n", ":4:7: group \"g\" is given twice"},
    {HEAD "group h 0 4\n", ":4:11: rank 4 does not exist; there are ranks 0 to 3"},
    {HEAD "group h 0-2 1\n", ":4:9: group \"h\" names rank 1 twice"},
    {HEAD "group h 3-1\n", ":4:9: found \"3-1\"; expected ranks like 3 or 0-3"},
    {HEAD "group h\n", ":4:8: expected ranks like 3 or 0-3, found the end of the line"},
    {HEAD "start 1 5\n", ":4:9: time \"5\" has no unit; write for example \"5 ms\""},
    {HEAD "note \"x\n", ":4:6: a quoted word has no closing \""},
    {HEAD "note \"\\q\"\n", ":4:6: a quoted word holds an escape that is none of \\n \\r \\t \\\" \\\\ \\xHH"},
    {HEAD "note \xff\n", ":4:6: byte 0xff is not UTF-8 text"},
    {HEAD "compute x time 1s\n", ":4:1: found \"compute\"; expected \"mesh\", \"group\", \"start\", \"description\", "
                                 "\"note\", \"recorded_collectives\" or "
                                 "\"role\""},
    {HEAD "role r rank 0\n", ":4:8: found \"rank\"; expected \"dag\", \"ranks\" or \"where\"; did you mean \"ranks\"?"},
    {HEAD "role r where pp=0\n", ":4:14: there is no group or axis \"pp\""},
    {HEAD "role r where g=2\n", ":4:14: no rank has \"g=2\""},
    {HEAD "role r ranks 0\nrole r ranks 1\n", ":5:6: role \"r\" is given twice"},
    {HEAD "role r ranks 0-2\nrole q ranks 2\n", ":5:6: rank 2 already has role \"r\""},
    {HEAD "role r ranks 0-2\n", ": rank 3 has no program"},
    {HEAD "role r ranks all\ncompute x time 1s\n",
     ":5:18: the op stands on no stream; write \"on STREAM\" or a line \"stream NAME\" before it"},
    {HEAD "role r ranks all\nstream s exclusive\n",
     ":5:10: only streams of a dag role are exclusive; others run in order"},
    {HEAD "role r ranks all\nstream -\n", ":5:8: only an op of a dag role may stand on no stream"},
    {ROLE "comput x time 1s\n",
     ":7:1: found \"comput\"; expected an op, \"stream\" or \"role\"; did you mean \"compute\"?"},
    {ROLE "compute x\n", ":7:10: compute needs time, flops or bytes"},
    {ROLE "compute x time -1s\n", ":7:16: time \"-1s\" is negative"},
    {ROLE "compute x time 1 parsec\n", ":7:16: time \"1 parsec\" "},
    {ROLE "compute x tim 1s\n",
     ":7:11: found \"tim\"; expected time, flops, bytes, cpu, begun, on or after; did you mean \"time\"?"},
    {ROLE "compute x time 1s time 2s\n", ":7:19: \"time\" is given twice"},
    {ROLE "compute x tag 1\n", ":7:11: compute takes no \"tag\"; expected time, flops, bytes, cpu, begun, on or after"},
    {ROLE "compute x flops inf\n", ":7:17: found \"inf\"; expected a number of floating-point operations"},
    {ROLE "compute x flops 1e999\n", ":7:17: found \"1e999\"; expected a number of floating-point operations"},
    {ROLE "compute x flops -1\n", ":7:17: found \"-1\"; expected a number of floating-point operations"},
    {ROLE "all_reduce x bytes 1\n", ":7:21: all_reduce needs group"},
    {ROLE "all_reduce x group h bytes 1\n", ":7:20: there is no group \"h\"; did you mean \"g\"?"},
    {ROLE "all_reduce x group g\n", ":7:21: all_reduce needs bytes"},
    {ROLE "all_reduce x group g bytes 1.5\n", ":7:28: 1.5 is not a whole number of bytes from 0 to 2^64 - 1"},
    {ROLE "all_reduce x group g bytes 18446744073709551616\n",
     ":7:28: 18446744073709551616 is not a whole number of bytes from 0 to 2^64 - 1"},
    {ROLE "all_reduce x group g bytes 3 splits 1, 2\n", ":7:41: only all_to_all takes splits"},
    {ROLE "all_to_all x group g splits 1, 2, 3\n", ":7:36: 3 splits are given; the group has 2 members"},
    {ROLE "all_to_all x group g splits 1, 2 bytes 4\n", ":7:41: bytes is 4, but the splits sum to 3"},
    {ROLE "all_to_all x group g splits 1,\n", ":7:31: expected a number of bytes, found the end of the line"},
    {ROLE "broadcast x group g root 2 bytes 1\n",
     ": rank 1 issues \"x\", broadcast of 1 bytes from member 2, but its group has only 2 members"},
    {ROLE "send x bytes 1\n", ":7:15: send needs to"},
    {ROLE "send x to 1\n", ":7:12: send needs bytes"},
    {ROLE "send x to any bytes 1\n", ":7:11: a send needs one peer, not \"any\""},
    {ROLE "send x to 4 bytes 1\n", ":7:11: 4 is too large; expected a rank of at most 3"},
    {ROLE "send x to g bytes 1\n", ":7:11: found \"g\"; expected a rank, \"any\", or a group and an offset like pp+1"},
    {ROLE "send x to h+1 bytes 1\n", ":7:11: there is no group \"h\"; did you mean \"g\"?"},
    {ROLE "send x to \"g\" 1 bytes 1\n", ":7:15: found \"1\"; expected an offset in the group like +1 or -1"},
    {ROLE "send x to g+1 bytes 1\n",
     ": rank 0 sends 1 messages with tag 0 to rank 1 (the first: op 0 \"x\"), which receives 0"},
    {ROLE "recv x from g+99999999999\n",
     ":7:13: found \"g+99999999999\"; expected an offset in the group like +1 or -1"},
    {ROLE "marker x after y\n", ":7:16: there is no op \"y\" in role \"r\"; did you mean \"x\"?"},
    {ROLE "marker x after @1\n", ":7:16: there is no op @1; the role has ops @0 to @0"},
    {ROLE "marker x\nmarker x\nmarker z after x\n",
     ":9:16: several ops are named \"x\"; name it by its number in the role, like @12 (the first op is @0)"},
    {ROLE "marker x after x,\n",
     ":7:18: expected the name of an op, or its number like @12, found the end of the line"},
    {ROLE "marker x after time\n", ":7:16: found \"time\"; expected the name of an op"},
    {ROLE "marker x after y\nmarker y\n", ": program \"r\": ops wait for each other in a circle: op 0 \"x\" waits for "
                                          "op 1 \"y\", op 1 \"y\" waits for op 0 \"x\""},
    {ROLE "marker a\\b\n", ":7:9: a backslash or a zero byte stands outside of a quoted word"},
};

START_TEST(bad_text_is_refused_with_its_place)
{
    GError *error = NULL;
    g_autoptr(Workload) workload = read_text(refused[_i].text, &error);
    ck_assert_msg(workload == NULL, "read, expected \"%s\"", refused[_i].message);
    g_autofree char *expected = g_strdup_printf("%s/p.program%s", folder, refused[_i].message);
    if (g_str_has_suffix(expected, " ")) /* the rest is the words of units.c */
        ck_assert_msg(g_str_has_prefix(error->message, expected), "%s", error->message);
    else
        ck_assert_str_eq(error->message, expected);
    ck_assert(error->domain == TRAINSHED_ERROR && error->code == TRAINSHED_ERROR_INPUT);
    g_clear_error(&error);
}
END_TEST

START_TEST(a_byte_order_mark_is_skipped_and_a_zero_byte_refused)
{
    g_autoptr(Workload) workload = read_good("\xef\xbb\xbfprogram 1\nranks 1\nrole r ranks all\n");
    ck_assert_uint_eq(workload->n_ranks, 1);
    g_autofree char *path = save("program 1\nranks 1\nro\0le", 23);
    GError *error = NULL;
    ck_assert_ptr_null(program_text_read(path, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "p.program:3:3: ");
}
END_TEST

START_TEST(a_program_that_cannot_be_written_leaves_nothing)
{
    g_autoptr(Workload) workload = read_good("program 1\nranks 1\nrole r ranks all\n");
    GError *error = NULL;
    g_autofree char *path = g_build_filename(folder, "no", "such", "folder", NULL);
    ck_assert(!program_text_write(workload, path, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "no/such/folder: cannot be written: No such file or directory");
    ck_assert(!program_text_write(workload, folder, &error)); /* a folder is in its place */
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "cannot be written: ");
    g_autofree char *pattern = g_strdup_printf("%s.*", folder);
    const char *patterns[] = {pattern, NULL};
    g_auto(GStrv) left = trace_pair(NULL, patterns, NULL);
    ck_assert_ptr_null(left);
}
END_TEST

/* --- the round trip --- */

static const char *const odd_names[] = {
    "plain", "two words", "time",  "a,b", "#hash", "@7", "",         "quote\"back\\slash",
    "üñí→",  "new\nline", "tab\t", "-",   "a@b",   "5",  "\xff\xfe", "to"};

/* Any field an op of this kind has, at random. */
static Op
random_op(Random *random, Workload *workload, OpKind kind)
{
    Op op = op_default(kind);
    if (kind != OP_ALLOC && kind != OP_FREE && kind != OP_MARKER && random_below(random, 2))
        op.duration_ps = (SimTime)(random_next(random) >> (1 + random_below(random, 63)));
    if (kind == OP_COMPUTE && random_below(random, 2))
        op.flops = random_unit(random) * 1e15;
    if (kind == OP_COMPUTE && random_below(random, 2))
        op.bytes_moved = (double)random_below(random, 1 << 30);
    if (kind != OP_COMPUTE && kind != OP_HOST && kind != OP_MARKER)
        op.bytes = random_below(random, 3) ? random_next(random) : random_below(random, 64) << 20;
    if (kind != OP_COLLECTIVE)
        return op;
    op.group = 1; /* of every rank alone: the others need not agree */
    op.collective = (CollectiveKind)random_below(random, COLLECTIVE_KINDS);
    if (op.collective == COLLECTIVE_ALL_TO_ALL && random_below(random, 2))
        op.splits = workload_add_splits(workload, &op.bytes, 1);
    return op;
}

/* A message that every rank of the role sends to the next in group 0 and receives from the one before. */
static void
add_exchange(Random *random, Program *program)
{
    Op send = op_default(OP_SEND), recv = op_default(OP_RECV);
    send.peer_form = recv.peer_form = PEER_OFFSET;
    send.group = recv.group = 0;
    send.peer = 1 + (int32_t)random_below(random, 2);
    recv.peer = -send.peer;
    send.tag = recv.tag = (uint32_t)random_next(random);
    send.bytes = recv.bytes = random_next(random);
    if (random_below(random, 3) == 0) {
        recv.peer_form = PEER_ANY;
        recv.group = INDEX_NONE;
        recv.peer = 0;
    }
    send.stream = recv.stream = (uint32_t)random_below(random, program->streams->len);
    program_add_op(program, send, odd_names[random_below(random, G_N_ELEMENTS(odd_names))], NULL, 0);
    program_add_op(program, recv, odd_names[random_below(random, G_N_ELEMENTS(odd_names))], NULL, 0);
}

static void
fill_program(Random *random, Workload *workload, Program *program)
{
    uint32_t n_streams = 1 + (uint32_t)random_below(random, 4);
    for (uint32_t i = 0; i < n_streams; i++) {
        g_autofree char *name = g_strdup_printf("%s%u", odd_names[random_below(random, 14)], i);
        program_add_stream(program, name, program->dag && random_below(random, 2));
    }
    for (uint32_t i = 0; i < 3; i++)
        add_exchange(random, program);
    uint32_t n_ops = (uint32_t)random_below(random, 40);
    for (uint32_t i = 0; i < n_ops; i++) {
        static const OpKind kinds[] = {OP_COMPUTE, OP_HOST, OP_COLLECTIVE, OP_COPY, OP_ALLOC, OP_FREE, OP_MARKER};
        Op op = random_op(random, workload, kinds[random_below(random, G_N_ELEMENTS(kinds))]);
        if (!program->dag || random_below(random, 3))
            op.stream = (uint32_t)random_below(random, n_streams);
        uint32_t deps[3], n_deps = (uint32_t)random_below(random, 4);
        for (uint32_t d = 0; d < n_deps; d++)
            deps[d] = (uint32_t)random_below(random, program->ops->len);
        program_add_op(program, op, odd_names[random_below(random, G_N_ELEMENTS(odd_names))], deps, n_deps);
    }
}

START_TEST(any_workload_survives_the_round_trip)
{
    Random random = random_named((uint64_t)_i, "round trip");
    uint32_t n = 3 * (1 + (uint32_t)random_below(&random, 5)), ranks[16];
    g_autoptr(Workload) workload = workload_new(n);
    workload->description = g_strdup(odd_names[random_below(&random, 14)]);
    workload->recorded_collectives = (gboolean)random_below(&random, 2);
    workload_note(workload, "%s", odd_names[random_below(&random, 14)]);
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = i;
    for (uint32_t i = n; i > 1; i--) { /* shuffled */
        uint32_t other = (uint32_t)random_below(&random, i), kept = ranks[i - 1];
        ranks[i - 1] = ranks[other];
        ranks[other] = kept;
    }
    static const char *const axes[] = {"alone", "tp", "dp"};
    uint32_t sizes[] = {1, 3, n / 3};
    workload_add_group(workload, odd_names[random_below(&random, 6)], ranks, n);
    workload_add_mesh(workload, axes, sizes, 3);
    if (random_below(&random, 2)) {
        workload->start_ps = g_new0(SimTime, n);
        for (uint32_t i = 1; i < n; i++)
            workload->start_ps[i] = (SimTime)(random_next(&random) >> 20);
    }
    uint32_t roles = 1 + (uint32_t)random_below(&random, 2);
    for (uint32_t p = 0; p < roles; p++) {
        Program *program = workload_program(workload, workload_add_program(workload, random_below(&random, 2) != 0));
        program->name = g_strdup_printf("%s%u", odd_names[random_below(&random, 14)], p);
        fill_program(&random, workload, program);
    }
    /* one role runs on all ranks, so that the exchanges meet; the other on none */
    for (uint32_t i = 0; i < n; i++)
        workload->program_of_rank[i] = roles - 1;
    GError *error = NULL;
    ck_assert_msg(workload_check(workload, &error), "%s", error ? error->message : "");
    assert_survives(workload);
}
END_TEST

START_TEST(converted_traces_survive_the_round_trip)
{
    g_autofree char *pattern = g_strdup_printf("%s/llama.*.et", support_source("traces/llama"));
    const char *patterns[] = {pattern, NULL};
    g_auto(GStrv) files = trace_pair(NULL, patterns, NULL);
    TraceSource source = {
        .files = files, .n_files = g_strv_length(files), .groups_file = support_source("traces/llama/llama.json")};
    g_autoptr(Workload) workload = trace_read("chakra", &source, NULL);
    ck_assert_ptr_nonnull(workload);
    assert_survives(workload);
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
    Suite *suite = suite_create("program-text");
    TCase *meaning = tcase_create("meaning");
    tcase_add_test(meaning, a_program_for_people_is_read);
    tcase_add_test(meaning, splits_sum_to_the_bytes);
    tcase_add_test(meaning, the_dag_form_has_exclusive_streams_and_numbers_for_names);
    tcase_add_test(meaning, the_two_stream_program_has_the_published_sums);
    tcase_add_test(meaning, the_two_stream_program_ends_when_published);
    suite_add_tcase(suite, meaning);

    TCase *bad = tcase_create("refused");
    tcase_add_loop_test(bad, bad_text_is_refused_with_its_place, 0, G_N_ELEMENTS(refused));
    tcase_add_test(bad, a_byte_order_mark_is_skipped_and_a_zero_byte_refused);
    tcase_add_test(bad, a_program_that_cannot_be_written_leaves_nothing);
    suite_add_tcase(suite, bad);

    TCase *trip = tcase_create("round trip");
    tcase_add_loop_test(trip, any_workload_survives_the_round_trip, 0, 100);
    tcase_add_test(trip, converted_traces_survive_the_round_trip);
    suite_add_tcase(suite, trip);
    int status = support_main(suite);
    remove_folder();
    return status;
}
