/* test-chakra.c - Chakra traces: real ones against an independent count, and everything that is refused */
#include "config.h"

#include "support.h"
#include "wire.h"

#include "base/error.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* --- reading --- */

static char folder[] = "/tmp/trainshed-test-chakra-XXXXXX";

static char *
save(const char *name, const char *data, size_t length)
{
    char *path = g_build_filename(folder, name, NULL);
    FILE *file = fopen(path, "wb"); /* g_file_set_contents would wait for the disk, 3000 times */
    ck_assert(file != NULL && fwrite(data, 1, length, file) == length && fclose(file) == 0);
    return path;
}

static Workload *
read_one(const char *data, size_t length, GError **error)
{
    g_autofree char *path = save("one.0.et", data, length);
    char *files[] = {path, NULL};
    TraceSource source = {.files = files, .n_files = 1};
    return trace_chakra.read(&source, error);
}

/* file is freed. The message follows the path. */
static void
expect(GString *file, const char *message)
{
    GError *error = NULL;
    g_autoptr(Workload) workload = read_one(file->str, file->len, &error);
    g_autofree char *expected = g_strdup_printf("%s/one.0.et%s", folder, message);
    ck_assert_msg(workload == NULL, "read, expected \"%s\"", expected);
    ck_assert_str_eq(error->message, expected);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, expected);
    g_string_free(file, TRUE);
}

static Workload *
read_pattern(const char *pattern, const char *groups, GError **error)
{
    const char *patterns[] = {pattern, NULL};
    g_auto(GStrv) files = trace_pair(NULL, patterns, error);
    if (files == NULL)
        return NULL;
    TraceSource source = {.files = files, .n_files = g_strv_length(files), .groups_file = groups};
    return trace_read(NULL, &source, error);
}

static const Op *
op_at(const Workload *workload, uint32_t rank, uint32_t index)
{
    return &g_array_index(workload_program(workload, workload->program_of_rank[rank])->ops, Op, index);
}

/* The op of this name, which stands once in rank's program. */
static uint32_t
op_named(const Workload *workload, uint32_t rank, const char *name)
{
    const Program *program = workload_program(workload, workload->program_of_rank[rank]);
    for (uint32_t i = 0; i < program->ops->len; i++) {
        if (strcmp(program_op_name(program, i), name) == 0)
            return i;
    }
    ck_abort_msg("there is no op \"%s\"", name);
    return 0;
}

static uint32_t
count(const Workload *workload, uint32_t rank, OpKind kind)
{
    const GArray *ops = workload_program(workload, workload->program_of_rank[rank])->ops;
    uint32_t n = 0;
    for (uint32_t i = 0; i < ops->len; i++)
        n += g_array_index(ops, Op, i).kind == kind;
    return n;
}

/* --- real traces --- */

/* One collective a rank of 1 MiB. All-gather: the size each of 8 contributes, so the result is 8 MiB. */
static const struct {
    const char *name;
    CollectiveKind kind;
    uint64_t bytes;
} micro[] = {
    {"all_gather", COLLECTIVE_ALL_GATHER, 8 << 20},
    {"all_reduce", COLLECTIVE_ALL_REDUCE, 1 << 20},
    {"all_to_all", COLLECTIVE_ALL_TO_ALL, 1 << 20},
    {"reduce_scatter", COLLECTIVE_REDUCE_SCATTER, 1 << 20},
};

START_TEST(microbenchmarks_are_one_collective_of_all_ranks)
{
    NEED_SHARED(base, "data/chakra/astra-sim/microbenchmarks");
    GError *error = NULL;
    g_autofree char *pattern = g_strdup_printf("%s/%s-8npus_1MB/*.et", base, micro[_i].name);
    g_autoptr(Workload) workload = read_pattern(pattern, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 8);
    for (uint32_t rank = 0; rank < 8; rank++) {
        uint32_t n;
        const Op *op = op_at(workload, rank, 0);
        ck_assert_uint_eq(count(workload, rank, OP_COLLECTIVE), 1);
        ck_assert_uint_eq(op->collective, micro[_i].kind);
        ck_assert_uint_eq(op->bytes, micro[_i].bytes);
        workload_members(workload, op->group, rank, &n);
        ck_assert_uint_eq(n, 8);
    }
}
END_TEST

/* Seven steps of reduce-scatter and seven of all-gather over a ring, 128 KiB each: 14 + 14 messages, 7 reductions of
 * 7 us (README of the data: 14 sends, 14 receives, 7 computes a rank). */
START_TEST(custom_ring_sends_to_the_next_rank)
{
    NEED_SHARED(base, "data/chakra/astra-sim/custom_ring_allreduce_8npus_1MB");
    GError *error = NULL;
    g_autofree char *pattern = g_strdup_printf("%s/custom_allreduce.*.et", base);
    g_autoptr(Workload) workload = read_pattern(pattern, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    for (uint32_t rank = 0; rank < 8; rank++) {
        ck_assert_uint_eq(count(workload, rank, OP_SEND), 14);
        ck_assert_uint_eq(count(workload, rank, OP_RECV), 14);
        ck_assert_uint_eq(count(workload, rank, OP_COMPUTE), 7);
        for (uint32_t i = 0; i < 35; i++) {
            const Op *op = op_at(workload, rank, i);
            if (op->kind == OP_COMPUTE) {
                ck_assert_int_eq(op->duration_ps, 7 * PS_PER_US);
                continue;
            }
            ck_assert_int_eq(op->peer, (int)(op->kind == OP_SEND ? rank + 1 : rank + 7) % 8);
            ck_assert_uint_eq(op->bytes, 128 << 10);
        }
    }
}
END_TEST

/* Counts made with a separate decoder (Python) over llama.*.et; data's README: 348 to 356 nodes each. */
START_TEST(llama_has_the_counts_of_an_independent_decoder)
{
    g_autofree char *pattern = g_strdup_printf("%s/llama.*.et", support_source("traces/llama"));
    GError *error = NULL;
    g_autoptr(Workload) workload = read_pattern(pattern, support_source("traces/llama/llama.json"), &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 8);
    ck_assert_uint_eq(workload->groups->len, 16);
    for (uint32_t rank = 0; rank < 8; rank++) {
        const Program *program = workload_program(workload, workload->program_of_rank[rank]);
        ck_assert_uint_eq(program->ops->len, rank < 4 ? 348 : 356);
        ck_assert_uint_eq(program->deps->len, rank < 4 ? 469 : 485);
        ck_assert_uint_eq(count(workload, rank, OP_COMPUTE), rank < 4 ? 250 : 258);
        ck_assert_uint_eq(count(workload, rank, OP_SEND), 4);
        ck_assert_uint_eq(count(workload, rank, OP_RECV), 4);
        uint32_t gathers = 0, scatters = 0, small = 0, large = 0;
        for (uint32_t i = 0; i < program->ops->len; i++) {
            const Op *op = op_at(workload, rank, i);
            if (op->kind == OP_SEND || op->kind == OP_RECV)
                ck_assert_int_eq(op->peer, (int)(rank + 4) % 8);
            if (op->kind != OP_COLLECTIVE)
                continue;
            gathers += op->collective == COLLECTIVE_ALL_GATHER && op->bytes == 2 * 262144;
            scatters += op->collective == COLLECTIVE_REDUCE_SCATTER && op->bytes == 524288;
            small += op->collective == COLLECTIVE_ALL_REDUCE && op->bytes == 4980736;
            large += op->collective == COLLECTIVE_ALL_REDUCE && op->bytes == 32768000;
        }
        ck_assert_uint_eq(gathers, 48);
        ck_assert_uint_eq(scatters, 32);
        ck_assert_uint_eq(small, 8);
        ck_assert_uint_eq(large, 2);
    }
    /* node 7, a projection: 805306368 operations on 786432 bytes, after the all-gather of node 8 */
    uint32_t qkv = op_named(workload, 0, "mb0.transformer.0.mha.qkv@0_COMP");
    const Op *op = op_at(workload, 0, qkv);
    ck_assert_double_eq(op->flops, 805306368);
    ck_assert_double_eq(op->bytes_moved, 786432);
    ck_assert_int_eq(op->duration_ps, -1);
    ck_assert_uint_eq(op->n_deps, 1);
    ck_assert_uint_eq(g_array_index(workload_program(workload, 0)->deps, uint32_t, op->first_dep),
                      op_named(workload, 0, "mb0.transformer.0.mha.qkv@0_X1COMM"));
}
END_TEST

START_TEST(llama_without_its_groups_is_refused)
{
    g_autofree char *pattern = g_strdup_printf("%s/llama.*.et", support_source("traces/llama"));
    GError *error = NULL;
    ck_assert_ptr_null(read_pattern(pattern, NULL, &error));
    support_expect_error(
        &error, TRAINSHED_ERROR_INPUT,
        "llama.0.et: byte 1269: node 8 \"mb0.transformer.0.mha.qkv@0_X1COMM\": pg_name is \"5\", and no group file "
        "is given");
}
END_TEST

/* Its counts are those of a separate decoder (Python): 3664 nodes, of them 2448 with is_cpu_op, 14 of these typed
 * COMM_COLL; 1209 other COMP, 157 of them without a time, which are taken out; 7 kernels of NCCL; 1277 of 3664
 * ctrl_deps lead nowhere, the first in order of id that of node 216. What is left has circles: callers wait for what
 * they call. */
START_TEST(a_pytorch_trace_is_read_with_notes)
{
    NEED_SHARED(path, "data/chakra/chakra/chakra.0.et.gz");
    GError *error = NULL;
    ck_assert_ptr_null(read_pattern(path, NULL, &error));
    support_expect_error(
        &error, TRAINSHED_ERROR_INPUT,
        "chakra.0.et.gz: byte 764467: nodes wait for each other in a circle: node 3317 \"aten::mul(0)\" "
        "waits for node 3318 \"void at::native::vectorized_elementwise_kernel<4...\" waits for node 3317 "
        "\"aten::mul(0)\"");

    char *files[] = {(char *)path, NULL};
    TraceSource source = {.files = files, .n_files = 1, .break_cycles = TRUE};
    g_autoptr(Workload) workload = trace_read(NULL, &source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload_program(workload, 0)->ops->len, 3664 - 157);
    ck_assert_uint_eq(count(workload, 0, OP_HOST), 2448);
    ck_assert_uint_eq(count(workload, 0, OP_COMPUTE), 1209 - 157);
    ck_assert_uint_eq(count(workload, 0, OP_COLLECTIVE), 7);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < 3664 - 157; i++)
        bytes += op_at(workload, 0, i)->kind == OP_COLLECTIVE ? op_at(workload, 0, i)->bytes : 0;
    ck_assert_uint_eq(bytes, 212480 + 424 + 8196000 + 31502336 + 26255360 + 26550272 + 9724160);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 2),
                     "14 collectives with is_cpu_op and without comm_type are the host's calls of others; they are "
                     "host work");
    g_autofree char *dangling = g_strdup_printf(
        "1277 dependencies on nodes that are not in the file were dropped; the first is of %s: byte 95: node 216 "
        "\"aten::flatten_dense_tensors(0)\" on node 3",
        path);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 3), dangling);
}
END_TEST

/* --- what nodes mean --- */

START_TEST(nodes_become_ops)
{
    g_autoptr(GString) file = file_new();
    GString *node = node_new(UINT64_MAX, "late", 4); /* ids are any, in any order */
    put_number(node, 4, 70);
    put_bytes(node, 5, "\x46\x05", 2); /* packed: 70 again, and 5 */
    put_number(node, 7, 12);
    put_attribute(node, "num_ops", 9, 1000);
    put_record(file, node);
    node = node_new(70, "host", 4);
    put_attribute(node, "is_cpu_op", 27, 1);
    put_number(node, 7, 3);
    put_record(file, node);
    node = node_new(5, "", 2);
    put_attribute(node, "tensor_size", 13, 4096);
    put_record(file, node);
    node = node_new(6, "gather", 7);
    put_attribute(node, "comm_type", 15, 4); /* sint32: zig-zag 4 is 2, ALL_GATHER */
    put_attribute(node, "comm_size", 11, 10);
    put_text_attribute(node, "pg_name", "0");
    put_record(file, node);
    put_record(file, node_new(7, "nothing", 1));

    GError *error = NULL;
    g_autoptr(Workload) workload = read_one(file->str, file->len, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    const Program *program = workload_program(workload, 0);
    ck_assert(program->dag);
    static const struct {
        const char *name;
        OpKind kind;
        SimTime duration;
    } expected[] = {{"node 5", OP_COPY, -1},
                    {"gather", OP_COLLECTIVE, -1},
                    {"host", OP_HOST, 3 * PS_PER_US},
                    {"late", OP_COMPUTE, 12 * PS_PER_US}};
    ck_assert_uint_eq(program->ops->len, 4); /* "nothing" takes no time */
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert_str_eq(program_op_name(program, i), expected[i].name);
        ck_assert_uint_eq(op_at(workload, 0, i)->kind, expected[i].kind);
        ck_assert_int_eq(op_at(workload, 0, i)->duration_ps, expected[i].duration);
    }
    ck_assert_uint_eq(op_at(workload, 0, 0)->bytes, 4096);
    ck_assert_uint_eq(op_at(workload, 0, 1)->collective, COLLECTIVE_ALL_GATHER);
    ck_assert_uint_eq(op_at(workload, 0, 1)->bytes, 10); /* x 1 member */
    ck_assert_double_eq(op_at(workload, 0, 3)->flops, 1000);
    ck_assert_uint_eq(op_at(workload, 0, 3)->n_deps, 2);
    ck_assert_uint_eq(g_array_index(program->deps, uint32_t, op_at(workload, 0, 3)->first_dep), 0);
    ck_assert_uint_eq(g_array_index(program->deps, uint32_t, op_at(workload, 0, 3)->first_dep + 1), 2);
    ck_assert_str_eq(g_ptr_array_index(program->streams, op_at(workload, 0, 3)->stream), "gpu");
    ck_assert(g_array_index(program->exclusive, gboolean, op_at(workload, 0, 3)->stream));
    ck_assert_str_eq(g_ptr_array_index(program->streams, op_at(workload, 0, 2)->stream), "cpu");
    ck_assert(!g_array_index(program->exclusive, gboolean, op_at(workload, 0, 1)->stream));
}
END_TEST

/* The integer 6 in every type the schema has for it: field, and the bytes of the value. */
static const struct {
    uint32_t field, wire;
    const char *bytes;
    size_t length;
} sixes[] = {
    {7, 0, "\x06", 1},        {9, 0, "\x06", 1},
    {11, 0, "\x06", 1},       {13, 0, "\x06", 1},
    {15, 0, "\x0c", 1},       {17, 0, "\x0c", 1},
    {19, 5, "\x06\0\0\0", 4}, {21, 1, "\x06\0\0\0\0\0\0\0", 8},
    {23, 5, "\x06\0\0\0", 4}, {25, 1, "\x06\0\0\0\0\0\0\0", 8},
};

START_TEST(an_integer_may_have_any_integer_type)
{
    g_autoptr(GString) file = file_new();
    g_autoptr(GString) attribute = g_string_new(NULL);
    put_bytes(attribute, 1, "num_ops", 7);
    put_varint(attribute, sixes[_i].field << 3 | sixes[_i].wire);
    g_string_append_len(attribute, sixes[_i].bytes, (gssize)sixes[_i].length);
    GString *node = node_new(1, "n", 4);
    put_bytes(node, 10, attribute->str, attribute->len);
    put_record(file, node);
    GError *error = NULL;
    g_autoptr(Workload) workload = read_one(file->str, file->len, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_double_eq(op_at(workload, 0, 0)->flops, 6);
}
END_TEST

START_TEST(what_is_left_out_is_noted)
{
    g_autoptr(GString) file = file_new();
    g_autoptr(GString) attribute = g_string_new(NULL);
    put_bytes(attribute, 1, "involved_dim", 12);
    put_bytes(attribute, 28, "\x0a\x02\x01\x00", 4); /* a packed list: true, false */
    GString *node = node_new(1, "n", 7);
    put_attribute(node, "comm_type", 9, 0);
    put_attribute(node, "comm_size", 9, 8);
    put_bytes(node, 10, attribute->str, attribute->len);
    put_bytes(node, 10, "\x0a\x06inputs", 8); /* an attribute without a value */
    put_record(file, node);
    put_record(file, node_new(2, "free", 4));
    g_autoptr(Workload) workload = read_one(file->str, file->len, NULL);
    ck_assert_ptr_nonnull(workload);
    ck_assert_uint_eq(workload->notes->len, 3);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 2),
                     "1 nodes that take no time were taken out; what waited for them waits for what they waited for");
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 0),
                     "1 collectives involve only some network dimensions (involved_dim); they are run over their whole "
                     "group");
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 1),
                     "1 compute nodes carry neither a duration nor num_ops nor tensor_size; they take no time");
}
END_TEST

/* Two ranks that recorded 9 and 4 us of one all-reduce: it lasts 4, the rest was waiting. */
START_TEST(a_recorded_collective_lasts_its_least_duration)
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        g_autoptr(GString) file = file_new();
        GString *node = node_new(1, "c", 7);
        put_attribute(node, "comm_type", 9, 0);
        put_attribute(node, "comm_size", 9, 8);
        put_number(node, 7, rank == 0 ? 9 : 4);
        put_record(file, node);
        g_autofree char *name = g_strdup_printf("two.%u.et", rank);
        g_autofree char *path = save(name, file->str, file->len);
    }
    g_autofree char *pattern = g_strdup_printf("%s/two.*.et", folder);
    g_autoptr(Workload) workload = read_pattern(pattern, NULL, NULL);
    ck_assert_ptr_nonnull(workload);
    ck_assert(workload->recorded_collectives);
    for (uint32_t rank = 0; rank < 2; rank++)
        ck_assert_int_eq(op_at(workload, rank, 0)->duration_ps, 4 * PS_PER_US);
}
END_TEST

/* Node ids may differ, as long as their order does not. */
START_TEST(ranks_that_do_the_same_share_a_program)
{
    for (uint32_t rank = 0; rank < 3; rank++) {
        g_autoptr(GString) file = file_new();
        GString *node = node_new(100 * rank + 7, "c", 7);
        put_attribute(node, "comm_type", 9, 0);
        put_attribute(node, "comm_size", 9, 8);
        put_number(node, 5, 100 * rank + 2);
        put_record(file, node);
        put_record(file, node_new(100 * rank + 2, "m", 0));
        if (rank == 2)
            put_record(file, node_new(100 * rank + 9, "more", 0));
        g_autofree char *name = g_strdup_printf("same.%u.et", rank);
        g_autofree char *path = save(name, file->str, file->len);
    }
    g_autofree char *pattern = g_strdup_printf("%s/same.*.et", folder);
    g_autoptr(Workload) workload = read_pattern(pattern, NULL, NULL);
    ck_assert_ptr_nonnull(workload);
    ck_assert_uint_eq(workload->programs->len, 2);
    static const uint32_t expected[] = {0, 0, 1};
    ck_assert_mem_eq(workload->program_of_rank, expected, sizeof expected);
    ck_assert_str_eq(workload_program(workload, 0)->name, "rank 0 and others");
    ck_assert_str_eq(workload_program(workload, 1)->name, "rank 2");
}
END_TEST

START_TEST(collectives_of_other_names_are_noted)
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        g_autoptr(GString) file = file_new();
        for (uint32_t id = 0; id < 3; id++) {
            GString *node = node_new(id, id == 0 || rank == 0 ? "a" : "b", 7);
            put_attribute(node, "comm_type", 9, 9);
            put_record(file, node);
        }
        g_autofree char *name = g_strdup_printf("named.%u.et", rank);
        g_autofree char *path = save(name, file->str, file->len);
    }
    g_autofree char *pattern = g_strdup_printf("%s/named.*.et", folder);
    g_autoptr(Workload) workload = read_pattern(pattern, NULL, NULL);
    ck_assert_ptr_nonnull(workload);
    ck_assert_uint_eq(workload->notes->len, 1);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 0),
                     "2 collectives have other names on other ranks; they are matched by the order of their node ids");
}
END_TEST

START_TEST(circles_are_broken_where_that_is_asked_for)
{
    g_autoptr(GString) file = file_new();
    for (uint32_t id = 1; id <= 3; id++) {
        GString *node = node_new(id, "m", 4);
        put_number(node, 7, 1);
        put_number(node, 5, id % 3 + 1);
        put_record(file, node);
    }
    g_autofree char *path = save("circle.0.et", file->str, file->len);
    char *files[] = {path, NULL};
    TraceSource source = {.files = files, .n_files = 1, .break_cycles = TRUE};
    g_autoptr(Workload) workload = trace_chakra.read(&source, NULL);
    ck_assert_ptr_nonnull(workload);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 0), "1 dependencies were dropped to break circles of waiting");
    static const uint32_t left[] = {0, 1, 1}; /* node 1 no longer waits for 2 */
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(op_at(workload, 0, i)->n_deps, left[i]);

    source.break_cycles = FALSE;
    GError *error = NULL;
    ck_assert_ptr_null(trace_chakra.read(&source, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "circle.0.et: byte 1: nodes wait for each other in a circle: node 1 \"m\" waits for node 2 "
                         "\"m\" waits for node 3 "
                         "\"m\" waits for node 1 \"m\"");
}
END_TEST

/* --- refusals --- */

/* A node of this type with up to three attributes of int64. */
static const struct {
    uint32_t type;
    struct {
        const char *name;
        uint64_t value;
    } attributes[4];
    const char *message;
} refused[] = {
    {7, {{NULL}}, ": byte 1: node 1 \"n\": COMM_COLL_NODE has no attribute comm_type and no comm_size"},
    {7, {{"comm_size", 8}}, ": byte 1: node 1 \"n\": COMM_COLL_NODE has no attribute comm_type"},
    {7, {{"comm_type", 0}}, ": byte 1: node 1 \"n\": COMM_COLL_NODE has no attribute comm_size"},
    {7, {{"comm_type", 10}, {"comm_size", 1}}, ": byte 1: node 1 \"n\": comm_type is 10; expected 0 to 9"},
    {7,
     {{"comm_type", 3}, {"comm_size", 1}},
     ": byte 1: node 1 \"n\": comm_type is 3 (GATHER), which is not simulated"},
    {7,
     {{"comm_type", 0}, {"comm_size", (uint64_t)-5}},
     ": byte 1: record 1: node 1 \"n\": attribute comm_size is -5; expected 0 or more"},
    {7,
     {{"comm_type", 0}, {"comm_size", 1}, {"is_cpu_op", 1}},
     ": byte 1: node 1 \"n\": COMM_COLL_NODE has is_cpu_op true; communication runs on the GPU"},
    {5, {{"comm_size", 8}}, ": byte 1: node 1 \"n\": COMM_SEND_NODE has no attribute comm_dst"},
    {5, {{"comm_dst", 0}}, ": byte 1: node 1 \"n\": COMM_SEND_NODE has no attribute comm_size"},
    {5, {{"comm_dst", 3}, {"comm_size", 8}}, ": byte 1: node 1 \"n\": comm_dst is 3; there are ranks 0 to 0"},
    {5,
     {{"comm_dst", 0}, {"comm_size", 8}, {"comm_src", 2}},
     ": byte 1: node 1 \"n\": comm_src is 2 in the file of rank 0"},
    {6,
     {{"comm_src", 0}, {"comm_size", 8}, {"comm_tag", 1ull << 32}},
     ": byte 1: node 1 \"n\": comm_tag is 4294967296; expected at most 2^32 - 1"},
    {6, {{"comm_src", 0}, {"comm_size", 8}}, " and the others: rank 0 receives from itself"},
    {11, {{NULL}}, ": byte 1: node 1 \"n\": node type 11; schema 0.0.4 has types 0 to 7"},
};

START_TEST(a_node_that_cannot_be_run_is_refused)
{
    GString *file = file_new(), *node = node_new(1, "n", refused[_i].type);
    for (uint32_t i = 0; i < 4 && refused[_i].attributes[i].name != NULL; i++)
        put_attribute(node, refused[_i].attributes[i].name, 9, refused[_i].attributes[i].value);
    put_record(file, node);
    expect(file, refused[_i].message);
}
END_TEST

START_TEST(attributes_of_a_wrong_type_are_refused)
{
    GString *file = file_new(), *node = node_new(1, "n", 4);
    put_text_attribute(node, "num_ops", "7");
    put_record(file, node);
    expect(file, ": byte 1: record 1: node 1 \"n\": attribute num_ops is a text; expected a whole number");

    file = file_new();
    node = node_new(1, "n", 4);
    put_bytes(node, 10, "\x0a\x07num_ops\x2d\0\0\x80\x3f", 14);
    put_record(file, node);
    expect(file,
           ": byte 1: record 1: node 1 \"n\": attribute num_ops is a floating-point number; expected a whole number");

    file = file_new();
    node = node_new(1, "n", 4);
    put_attribute(node, "tensor_size", 13, 1ull << 63);
    put_record(file, node);
    expect(file, ": byte 1: record 1: node 1 \"n\": attribute tensor_size is above 2^63 - 1");

    file = file_new();
    node = node_new(1, "n", 7);
    put_attribute(node, "involved_dim", 9, 1);
    put_record(file, node);
    expect(file,
           ": byte 1: record 1: node 1 \"n\": attribute involved_dim is a whole number; expected a list of truths");
}
END_TEST

START_TEST(ids_are_once_and_deps_that_lead_nowhere_are_noted)
{
    GString *file = file_new();
    put_record(file, node_new(9007199254740993, "a", 4)); /* 2^53 + 1 */
    put_record(file, node_new(9007199254740993, "b", 4));
    expect(file, ": byte 16: node 9007199254740993 \"b\": its id is also that of \"a\"");

    file = file_new();
    GString *node = node_new(9007199254740993, "a", 4);
    put_number(node, 5, 9007199254740992);
    put_record(file, node);
    g_autoptr(Workload) workload = read_one(file->str, file->len, NULL);
    g_string_free(file, TRUE);
    ck_assert_ptr_nonnull(workload);
    ck_assert_uint_eq(op_at(workload, 0, 0)->n_deps, 0);
    g_autofree char *note = g_strdup_printf(
        "1 dependencies on nodes that are not in the file were dropped; the first is of %s/one.0.et: byte 1: node "
        "9007199254740993 \"a\" on node 9007199254740992",
        folder);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, workload->notes->len - 1), note);

    file = file_new();
    node = node_new(3, "a", 4);
    put_number(node, 4, 3);
    put_record(file, node);
    expect(file, ": byte 1: nodes wait for each other in a circle: node 3 \"a\" waits for node 3 \"a\"");

    file = file_new();
    node = node_new(3, "a", 4);
    put_number(node, 7, 9223372036855);
    put_record(file, node);
    expect(file, ": byte 1: record 1: node 3 \"a\": duration_micros is 9223372036855; longer than 106 days");
    expect(file_new(), ": there are no nodes in it");
}
END_TEST

START_TEST(broken_records_are_refused_with_their_place)
{
    expect(g_string_new("\xff"), ": byte 0: record 0 is cut in its length");
    expect(g_string_new("\xff\xff\xff\xff\xff\x01"), ": byte 0: record 0 has a length of more than 32 bits");
    expect(g_string_new("\x05\x0a\x01x"), ": byte 0: record 0 is cut: 5 bytes announced, 3 left");
    expect(g_string_new("\x02\x0b\x0c"), ": byte 0: record 0: not a protobuf message: byte 0 of it is no field");
    GString *file = file_new(), *node = g_string_new("\x0a"); /* id as bytes */
    g_string_append_c(node, 0);
    put_record(file, node);
    expect(file, ": byte 1: record 1: field 1 is bytes, which is not of schema 0.0.4");
    file = file_new();
    node = node_new(1, "a", 4);
    put_bytes(node, 10, "\x08\x01", 2); /* an attribute whose name is a varint */
    put_record(file, node);
    expect(file, ": byte 1: record 1: not a Node message of schema 0.0.4");
}
END_TEST

/* Three records. A prefix is good where it ends behind one that holds a node; all others are errors. */
START_TEST(every_prefix_is_a_whole_file_or_an_error)
{
    g_autoptr(GString) file = file_new();
    size_t ends[3];
    for (uint32_t i = 0; i < 3; i++) {
        GString *node = node_new(i, "name", 7);
        put_attribute(node, "comm_type", 9, 0);
        put_attribute(node, "comm_size", 13, 1 << 20);
        put_text_attribute(node, "pg_name", "");
        if (i > 0)
            put_bytes(node, 5, "\0", 1);
        put_record(file, node);
        ends[i] = file->len;
    }
    for (size_t length = 0; length <= file->len; length++) {
        GError *error = NULL;
        g_autoptr(Workload) workload = read_one(file->str, length, &error);
        gboolean whole = length == ends[0] || length == ends[1] || length == ends[2];
        ck_assert_msg((workload != NULL) == whole, "prefix of %zu bytes", length);
        if (!whole)
            support_expect_error(&error, TRAINSHED_ERROR_INPUT, "one.0.et");
    }
}
END_TEST

/* Does a record end at length? */
static gboolean
is_record_end(const char *data, size_t length)
{
    for (size_t at = 0; at <= length;) {
        if (at == length)
            return TRUE;
        uint64_t size = 0;
        for (uint32_t shift = 0, more = 1; more; shift += 7) {
            size |= (uint64_t)(data[at] & 0x7f) << shift;
            more = (unsigned char)data[at++] >> 7;
        }
        at += size;
    }
    return FALSE;
}

/* A real file cut anywhere: never a crash, and good only at the end of a record. */
START_TEST(every_prefix_of_a_real_file_is_handled)
{
    g_autofree char *data = NULL;
    gsize length;
    ck_assert(g_file_get_contents(support_source("traces/llama/llama.0.et"), &data, &length, NULL));
    for (size_t cut = 0; cut < 3000; cut++) {
        GError *error = NULL;
        g_autoptr(Workload) workload = read_one(data, cut, &error);
        ck_assert_msg(workload == NULL || is_record_end(data, cut), "prefix of %zu bytes", cut);
        if (workload == NULL)
            support_expect_error(&error, TRAINSHED_ERROR_INPUT, "one.0.et");
    }
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
    Suite *suite = suite_create("chakra");
    TCase *real = tcase_create("real");
    tcase_set_timeout(real, 60);
    tcase_add_loop_test(real, microbenchmarks_are_one_collective_of_all_ranks, 0, G_N_ELEMENTS(micro));
    tcase_add_test(real, custom_ring_sends_to_the_next_rank);
    tcase_add_test(real, llama_has_the_counts_of_an_independent_decoder);
    tcase_add_test(real, llama_without_its_groups_is_refused);
    tcase_add_test(real, a_pytorch_trace_is_read_with_notes);
    tcase_add_test(real, every_prefix_of_a_real_file_is_handled);
    suite_add_tcase(suite, real);

    TCase *nodes = tcase_create("nodes");
    tcase_add_test(nodes, nodes_become_ops);
    tcase_add_loop_test(nodes, an_integer_may_have_any_integer_type, 0, G_N_ELEMENTS(sixes));
    tcase_add_test(nodes, what_is_left_out_is_noted);
    tcase_add_test(nodes, a_recorded_collective_lasts_its_least_duration);
    tcase_add_test(nodes, ranks_that_do_the_same_share_a_program);
    tcase_add_test(nodes, collectives_of_other_names_are_noted);
    tcase_add_test(nodes, circles_are_broken_where_that_is_asked_for);
    suite_add_tcase(suite, nodes);

    TCase *bad = tcase_create("refused");
    tcase_add_loop_test(bad, a_node_that_cannot_be_run_is_refused, 0, G_N_ELEMENTS(refused));
    tcase_add_test(bad, attributes_of_a_wrong_type_are_refused);
    tcase_add_test(bad, ids_are_once_and_deps_that_lead_nowhere_are_noted);
    tcase_add_test(bad, broken_records_are_refused_with_their_place);
    tcase_add_test(bad, every_prefix_is_a_whole_file_or_an_error);
    suite_add_tcase(suite, bad);
    int status = support_main(suite);
    remove_folder();
    return status;
}
