/* test-layers.c - text workloads of ASTRA-sim and SimAI become programs: order, groups, bytes, refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/program_text.h"
#include "workload/trace_format.h"

#include <glib/gstdio.h>
#include <string.h>

static Workload *
read_path(const char *path, const char *format, uint32_t ranks, uint32_t model_parallel, GPtrArray *problems,
          GError **error)
{
    char *files[] = {(char *)(uintptr_t)path, NULL};
    TraceSource source = {
        .files = files, .n_files = 1, .ranks = ranks, .model_parallel = model_parallel, .problems = problems};
    return trace_read(format, &source, error);
}

/* Ops of a kind; their times and, of collectives, their bytes summed. */
typedef struct {
    uint32_t n;
    SimTime time_ps;
    uint64_t bytes;
} Sum;

static Sum
sum(const Workload *workload, OpKind kind)
{
    Sum total = {0};
    const Program *program = workload_program(workload, 0);
    for (guint i = 0; i < program->ops->len; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        if (op->kind != kind)
            continue;
        total.n++;
        total.time_ps += MAX(op->duration_ps, 0);
        total.bytes += op->bytes;
    }
    return total;
}

/* Counts from the columns. Resnet: 54 layers x (forward, weight gradient, update) + 53 input gradients, and its 54
 * all-reduces: 54 + 54 + 53 + 54 = 215 is also the number of nodes of the converted trace (resnet50_dp_64npus) where
 * updates are left out and collectives counted. Transformer_Fwd_In_Bckwd: 21 layers x 4, and 8 + 8 layers (12 to 19, 3
 * to 10) again. */
static const struct {
    const char *file, *format;
    uint32_t ranks, model, computes, collectives;
} files[] = {
    {"chakra/astra-sim/text-workloads/Resnet50_DataParallel.txt", "astra-sim", 16, 0, 215, 54},
    {"chakra/astra-sim/text-workloads/DLRM_HybridParallel.txt", "astra-sim", 16, 0, 32, 9},
    {"chakra/astra-sim/text-workloads/MLP_ModelParallel.txt", "astra-sim", 16, 0, 24, 12},
    {"chakra/astra-sim/text-workloads/MLP_HybridParallel_Data_Model.txt", "astra-sim", 16, 4, 24, 18},
    {"chakra/astra-sim/text-workloads/MLP_HybridParallel_Model_Data.txt", "astra-sim", 16, 4, 24, 18},
    {"chakra/astra-sim/text-workloads/microAllToAll.txt", "astra-sim", 16, 0, 0, 1},
    {"chakra/astra-sim/text-workloads/Transformer_HybridParallel_Fwd_In_Bckwd.txt", "astra-sim", 16, 0, 100, 29},
    {"simai/simai_microAllReduce.txt", "simai", 0, 0, 8, 2},
    {"simai/aicb_all_reduce.txt", "astra-sim", 8, 0, 0, 19},
};

START_TEST(real_files)
{
    g_autofree char *relative = g_strconcat("data/", files[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    ck_assert_str_eq(trace_format_recognise(path, &error)->name, files[_i].format);
    g_autoptr(Workload) workload = read_path(path, NULL, files[_i].ranks, files[_i].model, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error != NULL ? error->message : "");
    ck_assert_uint_eq(sum(workload, OP_COMPUTE).n, files[_i].computes);
    ck_assert_uint_eq(sum(workload, OP_COLLECTIVE).n, files[_i].collectives);
}
END_TEST

/* Times and bytes of the program are those of the columns, added up here. */
START_TEST(resnet_adds_up)
{
    NEED_SHARED(path, "data/chakra/astra-sim/text-workloads/Resnet50_DataParallel.txt");
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    uint64_t time = 0, bytes = 0;
    for (int i = 2; lines[i] != NULL && lines[i][0] != '\0'; i++) {
        g_auto(GStrv) field = g_strsplit(lines[i], "\t", -1);
        time += g_ascii_strtoull(field[2], NULL, 10) + g_ascii_strtoull(field[8], NULL, 10) +
                g_ascii_strtoull(field[11], NULL, 10) + (i > 2 ? g_ascii_strtoull(field[5], NULL, 10) : 0);
        bytes += g_ascii_strtoull(field[10], NULL, 10);
    }
    GError *error = NULL;
    g_autoptr(Workload) workload = read_path(path, NULL, 64, 0, NULL, &error);
    ck_assert(workload != NULL);
    ck_assert_int_eq(sum(workload, OP_COMPUTE).time_ps, (SimTime)time * PS_PER_NS);
    ck_assert_uint_eq(sum(workload, OP_COLLECTIVE).bytes, bytes);
}
END_TEST

/* Names in program order with what each waits for: "name<dep". */
static char *
order(const Workload *workload)
{
    GString *text = g_string_new(NULL);
    const Program *program = workload_program(workload, 0);
    for (uint32_t i = 0; i < program->ops->len; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        g_string_append_printf(text, "%s%s/%s", i > 0 ? ", " : "", program_op_name(program, i),
                               (const char *)program->streams->pdata[op->stream]);
        if (op->n_deps > 0)
            g_string_append_printf(text, "<%u", g_array_index(program->deps, uint32_t, op->first_dep));
    }
    return g_string_free(text, FALSE);
}

static const struct {
    const char *text, *expected;
    uint32_t ranks;
} orders[] = {
    /* weight gradient and its collective first; the first layer has no input gradient */
    {"DATA\n2\na -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 8 4\nb -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 8 0\n",
     "forward a/compute, forward b/compute, weight gradient b/compute, weight gradient of b/all<2, input gradient "
     "b/compute, weight gradient a/compute, weight gradient of a/all<5, update a/update<6",
     4},
    /* forward and input-gradient collectives are waited for by what computes next */
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2\n1\na -1 1 ALLREDUCE 8 2 ALLREDUCE 8 3 ALLREDUCE 8 "
     "0\n",
     "forward a/compute, forward of a/tp<0, input gradient a/compute<1, input gradient of a/tp<2, weight gradient "
     "a/compute<3, weight gradient of a/dp<4",
     4},
    /* b starts a recomputation of what comes after checkpoint a */
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 0 checkpoint_initiates: 1 1\n2\n"
     "a -1 1 NONE 0 1 NONE 0 1 NONE 0 0\nb -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n",
     "forward a/compute, forward b/compute, forward b/compute, input gradient b/compute, weight gradient b/compute, "
     "input gradient a/compute, weight gradient a/compute",
     4},
    {"MICRO\n2\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 1\nb -1 1 NONE 0 1 NONE 0 1 ALLTOALL 8 1\n",
     "weight gradient of a/all, weight gradient of b/all", 4},
};

START_TEST(what_waits_for_what)
{
    g_autofree char *path = support_save(orders[_i].text);
    GError *error = NULL;
    g_autoptr(Workload) workload = read_path(path, "astra-sim", orders[_i].ranks, 0, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error != NULL ? error->message : "");
    g_autofree char *found = order(workload);
    ck_assert_str_eq(found, orders[_i].expected);
    g_unlink(path);
}
END_TEST

static void
expect_members(const Workload *workload, const char *name, uint32_t rank, const char *expected)
{
    uint32_t n, group = workload_find_group(workload, name);
    ck_assert_uint_ne(group, INDEX_NONE);
    const uint32_t *members = workload_members(workload, group, rank, &n);
    g_autoptr(GString) text = g_string_new(NULL);
    for (uint32_t i = 0; i < n; i++)
        g_string_append_printf(text, "%s%u", i > 0 ? " " : "", members[i]);
    ck_assert_str_eq(text->str, expected);
}

/* TP 2, EP 2 of 16: DP = 8 ranks apart 16 / 8 = 2; an expert group is the same place of two TP groups. */
START_TEST(simai_groups)
{
    g_autofree char *path = support_save(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 all_gpus: 16\n1\n"
        "moe -1 1 ALLTOALL_EP 8 1 ALLGATHER 16 1 REDUCESCATTER_DP_EP 8 0\n");
    GError *error = NULL;
    g_autoptr(Workload) workload = read_path(path, NULL, 0, 0, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error != NULL ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 16);
    expect_members(workload, "tp", 5, "4 5");
    expect_members(workload, "dp", 5, "1 3 5 7 9 11 13 15");
    expect_members(workload, "ep", 5, "5 7");
    expect_members(workload, "dp_ep", 5, "1 5 9 13");
    ck_assert_uint_eq(sum(workload, OP_COLLECTIVE).bytes, 8 + 16 + 8); /* the full buffers */
    g_unlink(path);
}
END_TEST

/* Each of 4 model-parallel ranks contributes 100 bytes: the result has 400. */
START_TEST(astra_all_gather_counts_what_each_gives)
{
    g_autofree char *path = support_save("HYBRID_DATA_MODEL\n1\na -1 1 ALLGATHER 100 1 NONE 0 1 NONE 0 0\n");
    GError *error = NULL;
    g_autoptr(Workload) workload = read_path(path, NULL, 16, 4, NULL, &error);
    ck_assert(workload != NULL);
    ck_assert_uint_eq(sum(workload, OP_COLLECTIVE).bytes, 400);
    g_unlink(path);
}
END_TEST

/* By hand: 3 x 2 and 5 x 4 bytes of gradients; b's backward pass first; activations kept and dropped. */
START_TEST(a_table_with_commas)
{
    g_autofree char *path =
        support_save("# two layers\nname, forward_time, backward_flops, backward_bytes, parameters, "
                     "activation_bytes, parameter_bytes\na, 1 ms, 1e12, 1e9, 3, 64, 2\nb, 2 ms, 2e12, , 5, , 4\n");
    GError *error = NULL;
    ck_assert_str_eq(trace_format_recognise(path, &error)->name, "layers");
    g_autoptr(Workload) workload = read_path(path, NULL, 8, 0, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error != NULL ? error->message : "");
    ck_assert_uint_eq(workload->n_ranks, 8);
    g_autofree char *found = order(workload);
    ck_assert_str_eq(found, "keep a/compute, forward a/compute, forward b/compute, weight gradient b/compute, weight "
                            "gradient of b/dp<3, weight gradient a/compute, weight gradient of a/dp<5, drop a/compute");
    ck_assert_int_eq(sum(workload, OP_COMPUTE).time_ps, 3 * PS_PER_MS);
    ck_assert_uint_eq(sum(workload, OP_COLLECTIVE).bytes, 3 * 2 + 5 * 4);
    const Op *op = &g_array_index(workload_program(workload, 0)->ops, Op, 5);
    ck_assert_double_eq(op->flops, 1e12);
    ck_assert_double_eq(op->bytes_moved, 1e9);
    g_unlink(path);
}
END_TEST

static const struct {
    const char *text, *message;
} bad_tables[] = {
    {"name,forward_time,backward_time,parameters,colour\n", ":1: found the column \"colour\", expected name, "},
    {"name,name,parameters\n", ":1: found the column \"name\" twice"},
    {"name,forward_time,backward_time\n", ":1: there is no column parameters"},
    {"name,forward_time,parameters\n", ":1: there is neither backward_time nor backward_flops"},
    {"name,forward_time,backward_time,parameters\n", ": there is no layer"},
    {"name,forward_time,backward_time,parameters\na,1 ms,2,3\n", ":2: backward_time: time \"2\" has no unit"},
    {"name,forward_time,backward_time,parameters\na,1 ms,,3\n", ":2: backward_time is empty"},
    {"name,forward_time,backward_time,parameters\na,1 ms,1 ms,-3\n",
     ":2: parameters is \"-3\", expected a whole number from 0"},
    {"name,forward_time,backward_time,parameters\na,1 ms,1 ms\n", ":2: 3 fields, expected 4"},
    {"name,forward_time,backward_time,parameters\n\"a\",1 ms,1 ms,3\n", ":2: there are quotes"},
};

START_TEST(table_refused)
{
    g_autofree char *path = support_save(bad_tables[_i].text);
    GError *error = NULL;
    ck_assert(read_path(path, "layers", 8, 0, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad_tables[_i].message);
    ck_assert(read_path(path, "layers", 0, 0, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "a layer table does not say how many ranks there are");
    g_unlink(path);
}
END_TEST

static const struct {
    const char *text, *message;
    uint32_t ranks, model;
} bad[] = {
    {"", ": is empty", 4, 0},
    {"# nothing\n", "the file is empty; expected a policy such as DATA", 4, 0},
    {"DATE\n", ":1: found \"DATE\", expected a policy such as DATA or HYBRID_TRANSFORMER", 4, 0},
    {"DATA\n1\n", ":2: announces 1 layers, but the file has 0", 4, 0},
    {"DATA\n", ":1: the file ends; expected the number of layers", 4, 0},
    {"DATA\n1\na -1 1 NONE 0\n", ":3: 5 fields, expected 12 of a layer", 4, 0},
    {"DATA\n1\na -1 x NONE 0 1 NONE 0 1 NONE 0 1\n",
     ":3: forward ns is \"x\", expected a whole number from 0 to 1000000000000000", 4, 0},
    {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 BROADCAST 0 1\n",
     ":3: found the collective \"BROADCAST\", expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL", 4, 0},
    {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 ALLREDUCE_EP 0 1\n", "found the collective \"ALLREDUCE_EP\"", 4, 0},
    {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "the file does not say how many ranks there are: give --ranks", 0,
     0},
    {"HYBRID_DATA_MODEL\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", "how many ranks are model-parallel", 4, 0},
    {"HYBRID_TRANSFORMER\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n", ":1: model_parallel_NPU_group: is not given", 4, 0},
    {"HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
     "4 ranks do not divide into groups of 3 tensor-parallel x 1 stages x 1 experts", 4, 0},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 7 checkpoint_initiates: 0\n1\n"
     "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
     ":1: checkpoints: names layer 7; there are 1, from 0", 4, 0},
    {"HYBRID_CUSTOMIZED\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1 OTHER\n",
     "found \"OTHER\", expected the policy of a layer", 4, 2},
};

START_TEST(refused)
{
    g_autofree char *path = support_save(bad[_i].text);
    GError *error = NULL;
    ck_assert(read_path(path, "astra-sim", bad[_i].ranks, bad[_i].model, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
    g_unlink(path);
}
END_TEST

START_TEST(a_short_file)
{
    NEED_SHARED(path, "data/simai/aicb_L65B-M1-C05_Llama65B_megatron_tp8_pp1_mbs1_A100.txt");
    GError *error = NULL;
    ck_assert(read_path(path, "simai", 64, 0, NULL, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ":2: announces 839 layers, but the file has 33");
}
END_TEST

START_TEST(all_problems)
{
    g_autofree char *path = support_save("DATA\n3\na -1 x ALLREDUCE 0 1 NONE 0 1 BROADCAST 8 1\nb -1 1\n");
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    ck_assert(read_path(path, "astra-sim", 4, 0, problems, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ": 4 problems");
    ck_assert_uint_eq(problems->len, 4);
    static const char *const parts[] = {":3: ", ":3: found the collective \"BROADCAST\"", ":4: 3 fields",
                                        ":2: announces 3 layers, but the file has 2"};
    for (int i = 0; i < 4; i++)
        ck_assert_msg(strstr(problems->pdata[i], parts[i]) != NULL, "%s", (const char *)problems->pdata[i]);
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("layers");
    TCase *tcase = tcase_create("layers");
    tcase_add_loop_test(tcase, real_files, 0, G_N_ELEMENTS(files));
    tcase_add_test(tcase, resnet_adds_up);
    tcase_add_loop_test(tcase, what_waits_for_what, 0, G_N_ELEMENTS(orders));
    tcase_add_test(tcase, simai_groups);
    tcase_add_test(tcase, astra_all_gather_counts_what_each_gives);
    tcase_add_loop_test(tcase, refused, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, a_table_with_commas);
    tcase_add_loop_test(tcase, table_refused, 0, G_N_ELEMENTS(bad_tables));
    tcase_add_test(tcase, a_short_file);
    tcase_add_test(tcase, all_problems);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
