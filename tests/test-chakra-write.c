/* test-chakra-write.c - Chakra traces that are written: by a decoder of its own, and read back */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/chakra_trace.h"
#include "workload/trace_writer.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/trainshed-test-chakra-write-XXXXXX";

/* --- a decoder that knows no schema: fields as text, "1=0 2='a' 10={1='x' 27=1}" --- */

typedef struct {
    const uint8_t *at, *end;
} Bytes;

static uint64_t
take_varint(Bytes *bytes)
{
    uint64_t value = 0;
    for (uint32_t shift = 0;; shift += 7) {
        ck_assert(bytes->at < bytes->end && shift < 64);
        value |= (uint64_t)(*bytes->at & 0x7f) << shift;
        if (*bytes->at++ < 0x80)
            return value;
    }
}

/* Field 10 of a node is a message, 5 packed numbers, all other bytes are text. */
static void
decode(Bytes bytes, GString *out)
{
    for (gboolean first = TRUE; bytes.at < bytes.end; first = FALSE) {
        uint64_t key = take_varint(&bytes);
        g_string_append_printf(out, "%s%u=", first ? "" : " ", (uint32_t)(key >> 3));
        if ((key & 7) == 0) {
            g_string_append_printf(out, "%" G_GUINT64_FORMAT, take_varint(&bytes));
            continue;
        }
        ck_assert_uint_eq(key & 7, 2);
        uint64_t length = take_varint(&bytes);
        ck_assert_uint_le(length, (uint64_t)(bytes.end - bytes.at));
        Bytes inside = {bytes.at, bytes.at + length};
        bytes.at += length;
        if (key >> 3 == 10) {
            g_string_append_c(out, '{');
            decode(inside, out);
            g_string_append_c(out, '}');
        } else if (key >> 3 == 5) {
            for (char mark = '['; inside.at < inside.end; mark = ',')
                g_string_append_printf(out, "%c%" G_GUINT64_FORMAT, mark, take_varint(&inside));
            g_string_append_c(out, ']');
        } else {
            g_string_append_printf(out, "'%.*s'", (int)length, (const char *)inside.at);
        }
    }
}

/* The records of a file, a line each. */
static char *
decode_file(const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL), *data = NULL;
    gsize length;
    ck_assert(g_file_get_contents(path, &data, &length, NULL));
    GString *out = g_string_new(NULL);
    Bytes bytes = {(const uint8_t *)data, (const uint8_t *)data + length};
    while (bytes.at < bytes.end) {
        uint64_t size = take_varint(&bytes);
        ck_assert_uint_le(size, (uint64_t)(bytes.end - bytes.at));
        decode((Bytes){bytes.at, bytes.at + size}, out);
        g_string_append_c(out, '\n');
        bytes.at += size;
    }
    return g_string_free(out, FALSE);
}

/* --- what is written --- */

static void
add(Program *program, Op op, const char *name, uint32_t stream)
{
    op.stream = stream;
    program_add_op(program, op, name, NULL, 0);
}

/* Two ranks that run one program in the stream form, of each kind of op one at least. */
static Workload *
make_workload(gboolean from_any)
{
    static const uint32_t both[] = {0, 1}, swapped[] = {1, 0};
    Workload *workload = workload_new(2);
    workload_add_group(workload, "all", both, 2);
    workload_add_group(workload, "tp", swapped, 2);
    Program *program = workload_program(workload, workload_add_program(workload, FALSE));
    program->name = g_strdup("worker");
    uint32_t gpu = program_add_stream(program, "gpu", TRUE), net = program_add_stream(program, "net", TRUE);

    Op op = op_default(OP_COMPUTE);
    op.duration_ps = 1500000; /* 1.5 us: 2 */
    add(program, op, "a", gpu);
    op = op_default(OP_COMPUTE);
    op.flops = 300;
    op.bytes_moved = 10.25;
    add(program, op, "b", gpu);
    op = op_default(OP_HOST);
    op.duration_ps = 3 * PS_PER_US;
    add(program, op, "h", gpu);
    op = op_default(OP_COLLECTIVE);
    op.collective = COLLECTIVE_ALL_GATHER;
    op.bytes = 1001; /* two times 500, and one lost */
    op.group = 0;
    op.root = 0;
    add(program, op, "g", net);
    op.collective = COLLECTIVE_BROADCAST;
    op.bytes = 64;
    op.group = 1;
    op.root = 1;
    add(program, op, "r", net);
    op = op_default(OP_ALLOC);
    op.bytes = 5;
    add(program, op, "m", gpu);
    op = op_default(OP_SEND);
    op.group = 0;
    op.peer_form = PEER_OFFSET;
    op.peer = 1;
    op.bytes = 8;
    op.tag = 300;
    add(program, op, "s", net);
    op.kind = OP_RECV;
    if (from_any)
        op.peer_form = PEER_ANY;
    add(program, op, "v", net);
    workload->program_of_rank[0] = workload->program_of_rank[1] = 0;
    GError *error = NULL;
    ck_assert_msg(workload_check(workload, &error), "%s", error ? error->message : "");
    return workload;
}

/* By hand, from the tables of the schema. */
static const char expected[] =
    "1='0.0.4'\n"
    "1=0 2='a' 3=4 7=2 10={1='is_cpu_op' 27=0}\n"
    "1=1 2='b' 3=4 5=[0] 10={1='is_cpu_op' 27=0} 10={1='num_ops' 9=300} "
    "10={1='tensor_size' 9=10}\n"
    "1=2 2='h' 3=4 5=[1] 7=3 10={1='is_cpu_op' 27=1}\n"
    "1=3 2='g' 3=7 10={1='is_cpu_op' 27=0} 10={1='comm_type' 9=2} 10={1='comm_size' 9=500}\n"
    "1=4 2='r' 3=7 5=[3] 10={1='is_cpu_op' 27=0} 10={1='comm_type' 9=5} "
    "10={1='comm_size' 9=64} 10={1='pg_name' 29='1'}\n"
    "1=5 2='m' 3=1 5=[2] 10={1='is_cpu_op' 27=0}\n"
    "1=6 2='s' 3=5 5=[4] 10={1='is_cpu_op' 27=0} 10={1='comm_src' 7=1} 10={1='comm_dst' 7=0} "
    "10={1='comm_size' 9=8} 10={1='comm_tag' 7=300}\n"
    "1=7 2='v' 3=6 5=[6] 10={1='is_cpu_op' 27=0} 10={1='comm_src' 7=0} 10={1='comm_dst' 7=1} "
    "10={1='comm_size' 9=8} 10={1='comm_tag' 7=300}\n";

/* Two ranks: each loss counts twice. */
static const char *const losses[] = {
    "2 durations were rounded to whole microseconds, those above 0 to 1 at least",
    "2 numbers of operations or bytes moved were rounded to whole numbers",
    "2 ops of memory accounting became nodes without effect",
    "2 collectives lost their root",
    "2 streams were put together: a rank computes one op at a time, and does one of host work",
    "2 all-gathers lost bytes that their members do not share evenly",
};

START_TEST(nodes_are_what_the_schema_says)
{
    g_autoptr(Workload) workload = make_workload(FALSE);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *path = g_build_filename(folder, "hand.*.et", NULL);
    GError *error = NULL;
    ck_assert_msg(writer_chakra.write(workload, path, notes, &error), "%s", error ? error->message : "");
    g_autofree char *text = decode_file("hand.1.et");
    ck_assert_str_eq(text, expected);
    g_autofree char *groups = g_build_filename(folder, "hand.groups.et.json", NULL), *json = NULL;
    ck_assert(g_file_get_contents(groups, &json, NULL, NULL));
    ck_assert_str_eq(json, "{\"1\": [1, 0]}\n");
    g_autofree char *first = g_strdup_printf("its groups are in %s, to be read with --groups", groups);
    ck_assert_uint_eq(notes->len, 1 + G_N_ELEMENTS(losses));
    ck_assert_str_eq(g_ptr_array_index(notes, 0), first);
    for (uint32_t i = 0; i < G_N_ELEMENTS(losses); i++)
        ck_assert_str_eq(g_ptr_array_index(notes, i + 1), losses[i]);
}
END_TEST

START_TEST(what_cannot_be_written_leaves_no_file)
{
    g_autoptr(Workload) workload = make_workload(TRUE);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *path = g_build_filename(folder, "any.%d.et", NULL);
    GError *error = NULL;
    ck_assert(!writer_chakra.write(workload, path, notes, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "any.%d.et: rank 0, op 7 \"v\" receives from any rank; a Chakra trace names the sender of "
                         "each message");
    ck_assert(!writer_chakra.write(workload, "plain.et", notes, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "plain.et: a Chakra trace is a file a rank; write * where the rank goes, as in t.*.et");
    ck_assert(!writer_chakra.write(workload, "/nonexistent/t.*.et", notes, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "rank 0, op 7");
    g_autoptr(Workload) sound = make_workload(FALSE);
    ck_assert(!writer_chakra.write(sound, "/nonexistent/t.*.et", notes, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "/nonexistent/t.0.et: cannot be written: ");
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;)
        ck_assert_msg(!g_str_has_prefix(name, "any"), "%s is left", name);
}
END_TEST

static Workload *
read_pattern(const char *pattern, const char *groups)
{
    const char *patterns[] = {pattern, NULL};
    GError *error = NULL;
    g_auto(GStrv) files = trace_pair(NULL, patterns, &error);
    ck_assert_msg(files != NULL, "%s", error ? error->message : "");
    TraceSource source = {.files = files, .n_files = g_strv_length(files), .groups_file = groups};
    Workload *workload = trace_read(NULL, &source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    return workload;
}

/* All that programs are made of, and what the file of groups holds, comes back. */
START_TEST(llama_comes_back_the_same)
{
    g_autofree char *pattern = g_strdup_printf("%s/llama.*.et", support_source("traces/llama"));
    g_autoptr(Workload) before = read_pattern(pattern, support_source("traces/llama/llama.json"));
    g_autofree char *out = g_build_filename(folder, "again.*.et", NULL),
                    *groups = g_build_filename(folder, "again.groups.et.json", NULL);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    ck_assert(writer_chakra.write(before, out, notes, NULL));
    ck_assert_uint_eq(notes->len, 1); /* where the groups are; nothing is lost */
    g_autofree char *again = g_build_filename(folder, "again.[0-9].et", NULL);
    g_autoptr(Workload) after = read_pattern(again, groups);
    ck_assert_uint_eq(after->n_ranks, 8);
    ck_assert_uint_eq(after->groups->len, before->groups->len);
    for (uint32_t i = 0; i < before->groups->len; i++) {
        const Group *x = g_ptr_array_index(before->groups, i), *y = g_ptr_array_index(after->groups, i);
        ck_assert_str_eq(x->name, y->name);
        const GArray *a = g_ptr_array_index(x->instances, 0), *b = g_ptr_array_index(y->instances, 0);
        ck_assert_uint_eq(a->len, b->len);
        ck_assert_mem_eq(a->data, b->data, a->len * sizeof(uint32_t));
    }
    for (uint32_t rank = 0; rank < 8; rank++) {
        g_autofree char *x = chakra_program_digest(workload_program(before, before->program_of_rank[rank]));
        g_autofree char *y = chakra_program_digest(workload_program(after, after->program_of_rank[rank]));
        ck_assert_str_eq(x, y);
    }
}
END_TEST

/* --- */

static void
clean_up(void)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        unlink(path);
    }
    rmdir(folder);
}

int
main(void)
{
    if (g_mkdtemp(folder) == NULL)
        return 1;
    Suite *suite = suite_create("chakra-write");
    TCase *written = tcase_create("written");
    tcase_add_test(written, nodes_are_what_the_schema_says);
    tcase_add_test(written, what_cannot_be_written_leaves_no_file);
    tcase_add_test(written, llama_comes_back_the_same);
    suite_add_tcase(suite, written);
    int status = support_main(suite);
    clean_up();
    return status;
}
