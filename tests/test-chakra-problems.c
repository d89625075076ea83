/* test-chakra-problems.c - Chakra: every problem with its place, circles, contraction, groups in METADATA, outlines */
#include "config.h"

#include "support.h"
#include "wire.h"

#include "base/error.h"
#include "base/random.h"
#include "workload/chakra_maker.h"

#include <glib/gstdio.h>
#include <stdio.h>

static char folder[] = "/tmp/trainshed-test-chakra-problems-XXXXXX";

/* Saves data, which is freed, as the file of a rank; the caller frees the path. */
static char *
save(const char *name, uint32_t rank, const char *ending, GString *data)
{
    char *path = g_strdup_printf("%s/%s.%u.%s", folder, name, rank, ending);
    FILE *file = fopen(path, "wb");
    ck_assert(file != NULL && fwrite(data->str, 1, data->len, file) == data->len && fclose(file) == 0);
    g_string_free(data, TRUE);
    return path;
}

/* The problems of one file, each after its path; message by message as expected, NULL-terminated. */
static void
expect_problems(const TraceFormat *format, char *path, const char *const *expected)
{
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    char *files[] = {path, NULL};
    TraceSource source = {.files = files, .n_files = 1, .problems = problems};
    GError *error = NULL;
    ck_assert_ptr_null(format->read(&source, &error));
    for (guint i = 0; i < problems->len; i++) {
        const char *problem = g_ptr_array_index(problems, i);
        ck_assert_msg(expected[i] != NULL, "one too many: %s", problem);
        ck_assert(g_str_has_prefix(problem, path));
        ck_assert_str_eq(problem + strlen(path), expected[i]);
    }
    ck_assert_msg(expected[problems->len] == NULL, "not told: %s", expected[problems->len]);
    ck_assert_str_eq(error->message, g_ptr_array_index(problems, 0));
    g_clear_error(&error);
    source.problems = NULL; /* without a list, the first */
    ck_assert_ptr_null(format->read(&source, &error));
    ck_assert_str_eq(error->message, g_ptr_array_index(problems, 0));
    g_clear_error(&error);
    g_free(path);
}

START_TEST(every_problem_of_a_binary_file_is_told)
{
    GString *file = file_new(); /* 1 byte */
    GString *node = node_new(1, "a", 7);
    put_attribute(node, "comm_size", 9, (uint64_t)-5);
    put_record(file, node);                             /* 1 + 7 + 2 + 22 bytes */
    put_record(file, g_string_new_len("\x0a\x01x", 3)); /* id as bytes */
    put_record(file, node_new(2, "b", 7));
    node = node_new(3, "c", 4);
    put_number(node, 5, 4);
    put_record(file, node);
    node = node_new(4, "d", 4);
    put_number(node, 5, 3);
    put_record(file, node);
    put_record(file, node_new(2, "e", 4));
    put_record(file, node_new(9, "f", 12));
    g_string_append(file, "\x09\x08"); /* cut */
    static const char *const expected[] = {
        ": byte 1: record 1: node 1 \"a\": attribute comm_size is -5; expected 0 or more",
        ": byte 33: record 2: field 1 is bytes, which is not of schema 0.0.4",
        ": byte 81: record 8 is cut: 9 bytes announced, 1 left",
        ": byte 65: node 2 \"e\": its id is also that of \"b\"",
        ": byte 37: node 2 \"b\": COMM_COLL_NODE has no attribute comm_type and no comm_size",
        ": byte 73: node 9 \"f\": node type 12; schema 0.0.4 has types 0 to 7",
        ": byte 45: nodes wait for each other in a circle: node 3 \"c\" waits for node 4 \"d\" waits for node 3 \"c\"",
        NULL};
    expect_problems(&trace_chakra, save("bad", 0, "et", file), expected);
}
END_TEST

START_TEST(every_problem_of_a_json_file_is_told)
{
    GString *file = g_string_new("{\"workload_graph\": [\n"
                                 "{\"Id\": 1, \"NodeType\": 7},\n"
                                 "{\"Id\": 2, \"NodeType\": 5, \"comm_dst\": 1.5},\n"
                                 "{\"Id\": 3, \"NodeType\": 4, \"data_deps\": [3]},\n"
                                 "{\"Id\": 4, \"NodeType\": 6}]}\n");
    static const char *const expected[] = {
        ":3: node 2 \"\": attribute comm_dst is a floating-point number; expected a whole number",
        ":2: node 1 \"\": COMM_COLL_NODE has no attribute comm_type and no comm_size",
        ":5: node 4 \"\": COMM_RECV_NODE has no attribute comm_src",
        ":4: nodes wait for each other in a circle: node 3 \"\" waits for node 3 \"\"", NULL};
    expect_problems(&trace_chakra_json, save("bad", 0, "json", file), expected);
}
END_TEST

/* Twelve nodes in a ring, one of them in a second circle; a pair apart; and a node that leads into the ring. */
START_TEST(each_knot_is_told_by_one_circle)
{
    GString *file = file_new();
    for (uint32_t id = 1; id <= 12; id++) {
        GString *node = node_new(id, "r", 4);
        put_number(node, 5, id % 12 + 1);
        if (id == 12)
            put_number(node, 4, 13);
        put_record(file, node);
    }
    GString *node = node_new(13, "s", 4);
    put_number(node, 5, 12);
    put_record(file, node);
    for (uint32_t id = 20; id <= 21; id++) {
        node = node_new(id, "a name of more than forty-eight characters, which is cut", 4);
        put_number(node, 5, 41 - id);
        put_record(file, node);
    }
    node = node_new(30, "t", 4);
    put_number(node, 5, 1);
    put_record(file, node);
    static const char *const expected[] = {
        ": byte 1: nodes wait for each other in a circle: node 1 \"r\" waits for node 2 \"r\" waits for node 3 \"r\" "
        "waits "
        "for node 4 \"r\" waits for node 5 \"r\" waits for node 6 \"r\" waits for node 7 \"r\" waits for node 8 \"r\" "
        "waits "
        "for 4 more, the last for node 1 \"r\"; it is one of the circles among 13 nodes",
        ": byte 133: nodes wait for each other in a circle: node 20 \"a name of more than forty-eight characters, "
        "whic...\" "
        "waits for node 21 \"a name of more than forty-eight characters, whic...\" waits for node 20 \"a name of more "
        "than "
        "forty-eight characters, whic...\"",
        NULL};
    expect_problems(&trace_chakra, save("ring", 0, "et", file), expected);
}
END_TEST

/* chakra.0.et: 452 knots by a separate search (Kosaraju's, in Python, over a separate decoder); 7 kernels without a
 * kind in the JSON of the same trace. */
static const struct {
    const char *path;
    const TraceFormat *format;
    guint n;
} real[] = {
    {"data/chakra/chakra/chakra.0.et.gz", &trace_chakra, 452},
    {"data/chakra/chakra/chakra.0.json.gz", &trace_chakra_json, 7},
    {"data/chakra/chakra/small_chakra.0.json", &trace_chakra_json, 1},
};

START_TEST(real_files_have_as_many_problems)
{
    NEED_SHARED(path, real[_i].path);
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    char *files[] = {(char *)path, NULL};
    TraceSource source = {.files = files, .n_files = 1, .problems = problems};
    ck_assert_ptr_null(real[_i].format->read(&source, NULL));
    ck_assert_uint_eq(problems->len, real[_i].n);
    for (guint i = 0; i < problems->len && real[_i].n <= 7; i++)
        ck_assert_ptr_nonnull(
            strstr(g_ptr_array_index(problems, i), "COMM_COLL_NODE has no attribute comm_type and no comm_size"));
}
END_TEST

/* --- sizes --- */

START_TEST(resnet_without_sizes_is_refused)
{
    NEED_SHARED(archive, "data/chakra/astra-sim/resnet50_dp_64npus.tar.gz");
    g_autofree char *command = g_strdup_printf("tar -xzf '%s' -C %s", archive, folder);
    ck_assert_int_eq(system(command), 0);
    g_autofree char *pattern = g_strdup_printf("%s/Resnet50_DataParallel.*.et", folder);
    const char *patterns[] = {pattern, NULL};
    g_auto(GStrv) files = trace_pair(NULL, patterns, NULL);
    TraceSource source = {.files = files, .n_files = g_strv_length(files)};
    GError *error = NULL;
    ck_assert_ptr_null(trace_read(NULL, &source, &error));
    support_expect_error(
        &error, TRAINSHED_ERROR_INPUT,
        "Resnet50_DataParallel.0.et: byte 2387: node 55 \"COMM_COLL_NODE_fc1000_ALLREDUCE\": COMM_COLL_NODE has no "
        "attribute comm_size");
}
END_TEST

/* The same trace with bytes from a file: one line for all 54 all-reduces, one for the first by its node's name. */
START_TEST(resnet_takes_its_sizes_from_a_file)
{
    NEED_SHARED(archive, "data/chakra/astra-sim/resnet50_dp_64npus.tar.gz");
    g_autofree char *command = g_strdup_printf("tar -xzf '%s' -C %s", archive, folder);
    ck_assert_int_eq(system(command), 0);
    static const char sizes[] = "call,bytes\nall_reduce,1 MiB\nCOMM_COLL_NODE_fc1000_ALLREDUCE,8196000\nother,1\n";
    g_autofree char *path = save("sizes", 0, "csv", g_string_new(sizes));
    g_autofree char *pattern = g_strdup_printf("%s/Resnet50_DataParallel.*.et", folder);
    const char *patterns[] = {pattern, NULL};
    g_auto(GStrv) files = trace_pair(NULL, patterns, NULL);
    TraceSource source = {.files = files, .n_files = g_strv_length(files), .sizes_file = path};
    GError *error = NULL;
    g_autoptr(Workload) workload = trace_read(NULL, &source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 64);
    ck_assert_uint_eq(workload->programs->len, 1);
    const GArray *ops = workload_program(workload, 0)->ops;
    ck_assert_uint_eq(ops->len, 215);
    uint64_t bytes = 0, n = 0;
    for (uint32_t i = 0; i < ops->len; i++) {
        const Op *op = &g_array_index(ops, Op, i);
        bytes += op->kind == OP_COLLECTIVE ? op->bytes : 0;
        n += op->kind == OP_COLLECTIVE;
    }
    ck_assert_uint_eq(n, 54);
    ck_assert_uint_eq(bytes, 53 * 1048576 + 8196000);
    g_autofree char *first = g_strdup_printf("the bytes of 3456 collectives are those of %s", path);
    g_autofree char *second =
        g_strdup_printf("1 lines of %s name calls that the trace has not, or has with their bytes", path);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 0), first);
    ck_assert_str_eq(g_ptr_array_index(workload->notes, 1), second);

    g_autofree char *empty = save("sizes", 0, "csv", g_string_new("call,bytes\n"));
    ck_assert_ptr_null(trace_read(NULL, &source, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "COMM_COLL_NODE has no attribute comm_size, and /tmp/trainshed-test-chakra");
}
END_TEST

/* --- contraction --- */

enum { MOST_OPS = 40 };

typedef struct {
    gboolean reaches[MOST_OPS][MOST_OPS]; /* which op waits for which, at any remove */
} Reach;

static void
fill_reach(Reach *reach, const Program *program)
{
    *reach = (Reach){0};
    uint32_t n = program->ops->len;
    for (uint32_t i = 0; i < n; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        for (uint32_t d = 0; d < op->n_deps; d++)
            reach->reaches[i][g_array_index(program->deps, uint32_t, op->first_dep + d)] = TRUE;
    }
    for (uint32_t k = 0; k < n; k++) {
        for (uint32_t i = 0; i < n; i++) {
            for (uint32_t j = 0; j < n && reach->reaches[i][k]; j++)
                reach->reaches[i][j] |= reach->reaches[k][j];
        }
    }
}

/* Ops in a random order of waiting, half of them free. bytes is the op's old place. */
static void
draw_program(Random *random, Program *program, uint32_t n)
{
    uint32_t order[MOST_OPS];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t j = (uint32_t)random_below(random, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t deps[MOST_OPS], n_deps = 0;
        for (uint32_t j = 0; j < n; j++) {
            if (order[j] < order[i] && random_below(random, 6) == 0)
                deps[n_deps++] = j;
        }
        Op op = op_default(random_below(random, 2) == 0 ? OP_MARKER : OP_ALLOC);
        op.bytes = i;
        program_add_op(program, op, "x", deps, n_deps);
    }
}

/* Those that take time wait for each other as before, at any remove; nothing is new; and there are no more deps. */
START_TEST(contraction_keeps_who_waits_for_whom)
{
    Random random = random_named((uint64_t)_i, "contraction");
    g_autoptr(Workload) workload = workload_new(1);
    Program *program = workload_program(workload, workload_add_program(workload, TRUE));
    uint32_t n = 1 + (uint32_t)random_below(&random, MOST_OPS), n_free = 0;
    draw_program(&random, program, n);
    for (uint32_t i = 0; i < n; i++)
        n_free += g_array_index(program->ops, Op, i).kind == OP_MARKER;
    uint32_t n_deps = program->deps->len;
    static Reach before, after;
    fill_reach(&before, program);
    uint32_t gone = chakra_contract(program);
    fill_reach(&after, program);
    ck_assert_uint_eq(program->ops->len, n - gone);
    ck_assert_uint_le(program->deps->len, n_deps);
    ck_assert_uint_le(gone, n_free);
    ck_assert_uint_ge(program->ops->len, 1);
    for (uint32_t i = 0; i < program->ops->len; i++) {
        const Op *a = &g_array_index(program->ops, Op, i);
        ck_assert(i == 0 || a->kind == OP_MARKER || a->bytes > 0);
        for (uint32_t j = 0; j < program->ops->len; j++) {
            const Op *b = &g_array_index(program->ops, Op, j);
            if (a->kind != OP_MARKER && b->kind != OP_MARKER)
                ck_assert_int_eq(after.reaches[i][j], before.reaches[a->bytes][b->bytes]);
        }
    }
}
END_TEST

/* a -> m -> m' -> b: both go. Three on three through one marker: 9 deps would be more than 6, the marker stays. */
START_TEST(a_marker_between_many_stays)
{
    g_autoptr(Workload) workload = workload_new(1);
    Program *chain = workload_program(workload, workload_add_program(workload, TRUE));
    static const OpKind kinds[] = {OP_ALLOC, OP_MARKER, OP_MARKER, OP_ALLOC};
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t dep = i - 1;
        program_add_op(chain, op_default(kinds[i]), "c", &dep, i > 0);
    }
    ck_assert_uint_eq(chakra_contract(chain), 2);
    ck_assert_uint_eq(chain->ops->len, 2);
    ck_assert_uint_eq(g_array_index(chain->ops, Op, 1).n_deps, 1);
    ck_assert_uint_eq(g_array_index(chain->deps, uint32_t, 0), 0);

    Program *star = workload_program(workload, workload_add_program(workload, TRUE));
    static const uint32_t three[] = {0, 1, 2}, middle[] = {3};
    for (uint32_t i = 0; i < 7; i++)
        program_add_op(star, op_default(i == 3 ? OP_MARKER : OP_ALLOC), "s", i == 3 ? three : middle,
                       i < 3    ? 0
                       : i == 3 ? 3
                                : 1);
    ck_assert_uint_eq(chakra_contract(star), 0);
    ck_assert_uint_eq(star->ops->len, 7);
}
END_TEST

/* --- groups in METADATA --- */

/* Ranks 0 and 1 call the group of both "1"; ranks 2 and 3 call theirs "1" too. inputs of field 8, values of field 1. */
static void
save_grouped(uint32_t rank, const char *values, char **files)
{
    GString *file = file_new(), *node = node_new(1, "## process_group:init ##", 1);
    g_autoptr(GString) inputs = g_string_new(NULL);
    put_bytes(inputs, 1, values, strlen(values));
    put_bytes(node, 8, inputs->str, inputs->len);
    put_record(file, node);
    for (uint32_t id = 2; id <= 3; id++) {
        node = node_new(id, "c", 7);
        put_attribute(node, "comm_type", 9, 0);
        put_attribute(node, "comm_size", 9, id);
        put_text_attribute(node, "pg_name", id == 2 ? "0" : "1");
        put_record(file, node);
    }
    files[rank] = save("grouped", rank, "et", file);
}

START_TEST(groups_of_metadata_are_a_ranks_own)
{
    static const char values[] = "['[{\"pg_name\": \"0\", \"backend_config\": \"cuda:nccl\", \"ranks\": []}, "
                                 "{\"pg_name\": \"1\", \"ranks\": [%s], \"group_size\": 2}]']";
    char *files[5] = {NULL};
    for (uint32_t rank = 0; rank < 4; rank++) {
        char text[200];
        g_snprintf(text, sizeof text, "%s", values);
        g_autoptr(GString) filled = g_string_new(values);
        g_string_replace(filled, "%s", rank < 2 ? "0, 1" : "2, 3", 1);
        save_grouped(rank, filled->str, files);
    }
    TraceSource source = {.files = files, .n_files = 4};
    GError *error = NULL;
    g_autoptr(Workload) workload = trace_chakra.read(&source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    for (uint32_t rank = 0; rank < 4; rank++) {
        const Program *program = workload_program(workload, workload->program_of_rank[rank]);
        uint32_t n;
        ck_assert_uint_eq(program->ops->len, 2);
        const Op *op = &g_array_index(program->ops, Op, 0);
        ck_assert_ptr_nonnull(workload_members(workload, op->group, rank, &n));
        ck_assert_uint_eq(n, 4);
        op = &g_array_index(program->ops, Op, 1);
        const uint32_t *members = workload_members(workload, op->group, rank, &n);
        ck_assert_uint_eq(n, 2);
        ck_assert_uint_eq(members[0], rank & ~1u);
        ck_assert_uint_eq(members[1], rank | 1u);
        g_free(files[rank]);
    }
    ck_assert_ptr_nonnull(((Group *)g_ptr_array_index(workload->groups, 1))->name);
}
END_TEST

/* The file's message after its path. */
static const struct {
    const char *values, *message;
} bad_groups[] = {
    {"['[{\"pg_name\": \"1\", \"ranks\": [7]}]']", ": byte 1: group \"1\" names rank 7; there are ranks 0 to 0"},
    {"['[{\"pg_name\": \"1\", \"ranks\": [0, 0]}]']", ": byte 1: group \"1\" names rank 0 twice"},
    {"['[{\"pg_name\": \"1\", \"ranks\": 3}]']",
     ": byte 1: record 1: node 1 \"## process_group:init ##\": groups in inputs:1: ranks is no array of ranks"},
    {"['{\"pg_name\": \"1\"}']",
     ": byte 1: record 1: node 1 \"## process_group:init ##\": groups in inputs:1: no array of groups"},
    {"['other']", ": byte %zu: node 3 \"c\": pg_name is \"1\", and no group file is given"},
};

START_TEST(groups_of_metadata_are_checked)
{
    char *files[2] = {NULL};
    save_grouped(0, bad_groups[_i].values, files);
    TraceSource source = {.files = files, .n_files = 1};
    GError *error = NULL;
    ck_assert_ptr_null(trace_chakra.read(&source, &error));
    g_autoptr(GString) expected = g_string_new(bad_groups[_i].message);
    g_string_replace(expected, "%zu", "98", 1); /* 1 + 44 of the METADATA node + 53 of node 2 */
    g_string_prepend(expected, files[0]);
    ck_assert_str_eq(error->message, expected->str);
    g_clear_error(&error);
    g_free(files[0]);
}
END_TEST

/* --- group files --- */

static const struct {
    const char *text, *message;
} group_files[] = {
    {"{\"1\": [0, 1], \"2\": []}", NULL},
    {"{\"0\": [0]}", ":1: group id \"0\"; expected a whole number above 0 (0 is all ranks)"},
    {"{\"a\": [0]}", ":1: group id \"a\"; expected a whole number above 0 (0 is all ranks)"},
    {"{\"1\": [0],\n\"1\": [1]}", ":2: group \"1\" is given twice"},
    {"{\"1\": [0, 2]}", ":1: group \"1\" names rank 2; there are ranks 0 to 1"},
    {"{\"1\": [1, 0, 1]}", ":1: group \"1\" names rank 1 twice"},
    {"{\"1\": [-1]}", ":1: group \"1\" holds -1; expected ranks"},
    {"{\"1\": 0}", ":1: group \"1\" is no array of ranks"},
    {"[]", ":1: not an object; expected groups like {\"1\": [0, 1]}"},
};

START_TEST(group_files_are_read_or_refused)
{
    for (uint32_t rank = 0; rank < 2; rank++) {
        GString *file = file_new();
        GString *node = node_new(1, "c", 7);
        put_attribute(node, "comm_type", 9, 9);
        put_text_attribute(node, "pg_name", rank == 0 ? "1" : "2");
        put_record(file, node);
        GString *other = node_new(2, "d", 7);
        put_attribute(other, "comm_type", 9, 9);
        put_text_attribute(other, "pg_name", rank == 0 ? "2" : "1");
        put_record(file, other);
        g_autofree char *path = save("pair", rank, "et", file);
    }
    g_autofree char *groups = save("groups", 0, "json", g_string_new(group_files[_i].text));
    g_autofree char *first = g_strdup_printf("%s/pair.0.et", folder), *second = g_strdup_printf("%s/pair.1.et", folder);
    char *files[] = {first, second, NULL};
    TraceSource source = {.files = files, .n_files = 2, .groups_file = groups};
    GError *error = NULL;
    g_autoptr(Workload) workload = trace_chakra.read(&source, &error);
    if (group_files[_i].message != NULL) {
        g_autofree char *expected = g_strdup_printf("%s%s", groups, group_files[_i].message);
        ck_assert_ptr_null(workload);
        ck_assert_str_eq(error->message, expected);
        g_clear_error(&error);
        return;
    }
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->groups->len, 2);
    uint32_t n;
    workload_members(workload, 1, 0, &n);
    ck_assert_uint_eq(n, 2); /* an empty list is all ranks */
}
END_TEST

/* --- dimensions --- */

/* Of 3x2 ranks (r = a0 + 3 a1), who calls with whom when a collective involves these dimensions. */
static const struct {
    const char *dims; /* the bools of involved_dim */
    const char *groups[6];
} involved[] = {
    {"\x01\x00", {"0 1 2 ", "0 1 2 ", "0 1 2 ", "3 4 5 ", "3 4 5 ", "3 4 5 "}},
    {"\x00\x01", {"0 3 ", "1 4 ", "2 5 ", "0 3 ", "1 4 ", "2 5 "}},
    {"\x00\x00", {"0 ", "1 ", "2 ", "3 ", "4 ", "5 "}},
    {"\x01\x01", {"0 1 2 3 4 5 ", "0 1 2 3 4 5 ", "0 1 2 3 4 5 ", "0 1 2 3 4 5 ", "0 1 2 3 4 5 ", "0 1 2 3 4 5 "}},
};

static void
save_involved(uint32_t rank, const char *dims, size_t n, char **files)
{
    GString *file = file_new(), *node = node_new(1, "c", 7);
    g_autoptr(GString) attribute = g_string_new(NULL), list = g_string_new(NULL);
    put_attribute(node, "comm_type", 9, 0);
    put_attribute(node, "comm_size", 9, 8);
    put_bytes(list, 1, dims, n);
    put_bytes(attribute, 1, "involved_dim", 12);
    put_bytes(attribute, 28, list->str, list->len);
    put_bytes(node, 10, attribute->str, attribute->len);
    put_record(file, node);
    files[rank] = save("involved", rank, "et", file);
}

START_TEST(collectives_run_along_the_dimensions_they_involve)
{
    char *files[7] = {NULL};
    for (uint32_t rank = 0; rank < 6; rank++)
        save_involved(rank, involved[_i].dims, 2, files);
    TraceSource source = {.files = files, .n_files = 6, .dimensions = "3x2"};
    GError *error = NULL;
    g_autoptr(Workload) workload = trace_chakra.read(&source, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    ck_assert_uint_eq(workload->notes->len, 0);
    for (uint32_t rank = 0; rank < 6; rank++) {
        const Program *program = workload_program(workload, workload->program_of_rank[rank]);
        uint32_t n;
        const uint32_t *members = workload_members(workload, g_array_index(program->ops, Op, 0).group, rank, &n);
        g_autoptr(GString) text = g_string_new(NULL);
        for (uint32_t i = 0; i < n; i++)
            g_string_append_printf(text, "%u ", members[i]);
        ck_assert_str_eq(text->str, involved[_i].groups[rank]);
        g_free(files[rank]);
    }
}
END_TEST

/* One rank whose collective involves one dimension. */
static const struct {
    const char *dimensions, *message;
} bad_dimensions[] = {
    {"1x1", ": byte 1: node 1 \"c\": involved_dim has 1 entries; there are 2 dimensions"},
    {"2x2", ": dimensions \"2x2\" are of 4 ranks; there are 1"},
    {"0", ": dimensions \"0\": expected up to 32 sizes such as \"8x4\""},
    {"1x", ": dimensions \"1x\": expected up to 32 sizes such as \"8x4\""},
};

START_TEST(dimensions_are_checked)
{
    char *files[2] = {NULL};
    save_involved(0, "\x01", 1, files);
    TraceSource source = {.files = files, .n_files = 1, .dimensions = bad_dimensions[_i].dimensions};
    GError *error = NULL;
    ck_assert_ptr_null(trace_chakra.read(&source, &error));
    g_autofree char *expected = g_strconcat(files[0], bad_dimensions[_i].message, NULL);
    ck_assert_str_eq(error->message, expected);
    g_clear_error(&error);
    g_free(files[0]);
}
END_TEST

/* --- outlines --- */

/* Lines that are in what trace info tells; counts of a separate decoder (Python), and of the data's README where it has
 * them: 3664 nodes and 181,878 data dependencies of chakra.0, 215 nodes a rank of 64 without comm_size and is_cpu_op.
 */
static const struct {
    const char *archive, *pattern; /* unpacked first; NULL = none */
    const TraceFormat *format;
    const char *lines[10];
} outlines[] = {
    {NULL,
     "data/chakra/chakra/chakra.0.et.gz",
     &trace_chakra,
     {"schema: 0.0.4\n", "missing: 157 compute nodes", "missing: 1277 dependencies",
      "dependencies: 181878 on data, 3664 on control\n",
      "shares of the recorded time: compute 76.7 %, communication 9.6 %, memory 0.0 %, host 13.7 %\n",
      "COMP_NODE                3643         3643         3643         3486  343.8 ms\n",
      "COMM_COLL_NODE             21           21           21           21  38.03 ms\n",
      "ALL_REDUCE            all ranks               5              8196000             31502336              "
      "102228128\n",
      "BROADCAST             all ranks               2                  424               212480                 "
      "212904\n"}},
    {NULL,
     "data/chakra/chakra/chakra.0.json.gz",
     &trace_chakra_json,
     {"schema: JSON, workload_graph\n", "missing: 7 collectives without comm_type",
      "missing: 7 collectives without comm_size", "COMP_NODE                3643 ", "COMM_COLL_NODE             21 ",
      "shares of the recorded time: compute 76.7 %"}},
    {NULL,
     "data/chakra/chakra/small_chakra.0.json",
     &trace_chakra_json,
     {"schema: JSON, workload_graph\n", "missing: 1 collectives without comm_type", "COMP_NODE                   4 ",
      "COMM_COLL_NODE              3 ", "the durations of its nodes add up to 695 us\n"}},
    {"data/chakra/astra-sim/resnet50_dp_64npus.tar.gz",
     "Resnet50_DataParallel.*.et",
     &trace_chakra,
     {"schema: 0.0.4\nfiles: 64, one a rank\n", "missing: 3456 collectives without comm_size", /* 54 x 64 */
      "missing: 13760 nodes without is_cpu_op",                                                /* 215 x 64 */
      "COMP_NODE                 161          161        10304        10304  1.082 s\n",
      "COMM_COLL_NODE             54           54         3456            0  -\n",
      "the durations of the busiest rank add up to 1.082 s\n"}},
    {NULL,
     "data/chakra/astra-sim/custom_ring_allreduce_8npus_1MB/custom_allreduce.*.et",
     &trace_chakra,
     {"files: 8, one a rank\n", "COMP_NODE                   7            7           56           56  49 us\n",
      "COMM_SEND_NODE             14           14          112            0  -\n",
      "COMM_RECV_NODE             14           14          112            0  -\n"}},
    {"data/chakra/stg/llama-dp2-tp2-pp2-8npus.tar.gz",
     "llama.*.et",
     &trace_chakra,
     {"files: 8, one a rank\n", "missing: 2032 nodes without is_cpu_op: taken as the GPU's\n",
      "time span and shares: not known, no node has a recorded time\n",
      "COMP_NODE                 250          258         2032            0  -\n",
      "COMM_COLL_NODE             90           90          720            0  -\n",
      "ALL_GATHER            5                      96               262144               262144               "
      "25165824\n",
      "REDUCE_SCATTER        8                      64               524288               524288               "
      "33554432\n"}},
};

START_TEST(outlines_tell_what_is_there_and_what_is_missing)
{
    g_autofree char *pattern = NULL;
    if (outlines[_i].archive != NULL) {
        NEED_SHARED(archive, outlines[_i].archive);
        g_autofree char *command = g_strdup_printf("tar -xzf '%s' -C %s", archive, folder);
        ck_assert_int_eq(system(command), 0);
        pattern = g_build_filename(folder, outlines[_i].pattern, NULL);
    } else {
        g_autofree char *parent = g_path_get_dirname(outlines[_i].pattern);
        g_autofree char *base = g_path_get_basename(outlines[_i].pattern);
        NEED_SHARED(data, parent);
        pattern = g_build_filename(data, base, NULL);
    }
    const char *patterns[] = {pattern, NULL};
    g_auto(GStrv) files = trace_pair(NULL, patterns, NULL);
    ck_assert_ptr_nonnull(files);
    TraceSource source = {.files = files, .n_files = g_strv_length(files)};
    g_autoptr(GString) told = g_string_new(NULL);
    GError *error = NULL;
    ck_assert_msg(outlines[_i].format->outline(&source, told, &error), "%s", error ? error->message : "");
    for (uint32_t i = 0; i < G_N_ELEMENTS(outlines[_i].lines) && outlines[_i].lines[i] != NULL; i++)
        ck_assert_msg(strstr(told->str, outlines[_i].lines[i]) != NULL, "%s is not in\n%s", outlines[_i].lines[i],
                      told->str);
}
END_TEST

/* Starts at 100 and 250 us, ends at 160 and 260; two profiler steps. */
START_TEST(an_outline_tells_span_and_steps)
{
    GString *file = file_new();
    for (uint32_t i = 0; i < 2; i++) {
        g_autofree char *name = g_strdup_printf("ProfilerStep#%u", i);
        GString *node = node_new(i, name, 4);
        put_number(node, 6, i == 0 ? 100 : 250);
        put_number(node, 7, i == 0 ? 60 : 10);
        put_record(file, node);
    }
    char *files[] = {save("span", 0, "et", file), NULL};
    TraceSource source = {.files = files, .n_files = 1};
    g_autoptr(GString) told = g_string_new(NULL);
    ck_assert(trace_chakra.outline(&source, told, NULL));
    ck_assert_ptr_nonnull(strstr(told->str, "iterations: 2, by the nodes ProfilerStep#\n"
                                            "time span: 160 us, by start_time_micros\n"));
    g_free(files[0]);
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
    Suite *suite = suite_create("chakra problems");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 60);
    tcase_add_test(all, every_problem_of_a_binary_file_is_told);
    tcase_add_test(all, every_problem_of_a_json_file_is_told);
    tcase_add_test(all, each_knot_is_told_by_one_circle);
    tcase_add_loop_test(all, real_files_have_as_many_problems, 0, G_N_ELEMENTS(real));
    tcase_add_test(all, resnet_without_sizes_is_refused);
    tcase_add_test(all, resnet_takes_its_sizes_from_a_file);
    tcase_add_loop_test(all, contraction_keeps_who_waits_for_whom, 0, 100);
    tcase_add_test(all, a_marker_between_many_stays);
    tcase_add_test(all, groups_of_metadata_are_a_ranks_own);
    tcase_add_loop_test(all, groups_of_metadata_are_checked, 0, G_N_ELEMENTS(bad_groups));
    tcase_add_loop_test(all, group_files_are_read_or_refused, 0, G_N_ELEMENTS(group_files));
    tcase_add_loop_test(all, collectives_run_along_the_dimensions_they_involve, 0, G_N_ELEMENTS(involved));
    tcase_add_loop_test(all, dimensions_are_checked, 0, G_N_ELEMENTS(bad_dimensions));
    tcase_add_loop_test(all, outlines_tell_what_is_there_and_what_is_missing, 0, G_N_ELEMENTS(outlines));
    tcase_add_test(all, an_outline_tells_span_and_steps);
    suite_add_tcase(suite, all);
    int status = support_main(suite);
    remove_folder();
    return status;
}
