/* test-parallel.c - layouts: places and groups of ranks, layers of stages, what is refused and with which numbers */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/parallel.h"

#include <string.h>

static ModelShard
shard_of(const Layout *layout)
{
    ModelShard shard = model_shard_default();
    shard.tp = layout->tp;
    shard.cp = layout->cp;
    shard.ep = layout->ep;
    shard.sequence_parallel = layout->sequence_parallel;
    return shard;
}

static void
set_stages(Layout *layout, const uint32_t *layers, guint n)
{
    layout->stage_layers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_append_vals(layout->stage_layers, layers, n);
}

/* "0 1|2 3" */
static char *
text_of(const Workload *workload, uint32_t group)
{
    const Group *g = g_ptr_array_index(workload->groups, group);
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < g->instances->len; i++) {
        const GArray *members = g_ptr_array_index(g->instances, i);
        for (guint k = 0; k < members->len; k++)
            g_string_append_printf(text, "%s%u", k ? " " : i ? "|" : "", g_array_index(members, uint32_t, k));
    }
    return g_string_free(text, FALSE);
}

START_TEST(groups_of_sixteen)
{
    Layout layout = layout_default();
    layout.tp = layout.pp = layout.ep = 2;
    layout.dp = 4;
    g_autoptr(Workload) workload = workload_new(16);
    uint32_t groups[LAYOUT_GROUPS];
    layout_add_groups(&layout, TRUE, workload, groups);
    static const char *const expected[LAYOUT_GROUPS] = {
        [GROUP_OF_TP] = "0 1|2 3|4 5|6 7|8 9|10 11|12 13|14 15",
        [GROUP_OF_EP] = "0 2|1 3|4 6|5 7|8 10|9 11|12 14|13 15",
        [GROUP_OF_PP] = "0 8|1 9|2 10|3 11|4 12|5 13|6 14|7 15",
        [GROUP_OF_DP] = "0 2 4 6|1 3 5 7|8 10 12 14|9 11 13 15",
        [GROUP_OF_EDP] = "0 4|1 5|2 6|3 7|8 12|9 13|10 14|11 15",
        [GROUP_OF_EMBEDDING] = "0 8|1 9|2 10|3 11|4 12|5 13|6 14|7 15",
    };
    for (int g = 0; g < LAYOUT_GROUPS; g++) {
        ck_assert_int_eq(groups[g] == INDEX_NONE, expected[g] == NULL);
        if (expected[g] == NULL)
            continue;
        g_autofree char *text = text_of(workload, groups[g]);
        ck_assert_str_eq(text, expected[g]);
    }
    /* stages innermost, then replicas, then tensors: ranks 0 and 1 are two stages of one replica */
    const LayoutAxis order[] = {AXIS_PP, AXIS_CP, AXIS_EP, AXIS_EDP, AXIS_TP};
    memcpy(layout.order, order, sizeof(order));
    ck_assert_uint_eq(layout_place(&layout, AXIS_PP, 13), 1);
    ck_assert_uint_eq(layout_place(&layout, AXIS_EP, 13), 0);
    ck_assert_uint_eq(layout_place(&layout, AXIS_EDP, 13), 1);
    ck_assert_uint_eq(layout_place(&layout, AXIS_TP, 13), 1);
    g_autoptr(Workload) other = workload_new(16);
    layout_add_groups(&layout, FALSE, other, groups);
    g_autofree char *dp = text_of(other, groups[GROUP_OF_DP]);
    ck_assert_str_eq(dp, "0 2 4 6|1 3 5 7|8 10 12 14|9 11 13 15");
    ck_assert_uint_eq(groups[GROUP_OF_EMBEDDING], INDEX_NONE);
}
END_TEST

START_TEST(partition_groups)
{
    Layout layout = layout_default();
    layout.dp = 4;
    layout.cp = 2;
    layout.zero = 3;
    layout.shard_ranks = 4;
    g_autoptr(Workload) workload = workload_new(8);
    uint32_t groups[LAYOUT_GROUPS];
    layout_add_groups(&layout, FALSE, workload, groups);
    g_autofree char *shard = text_of(workload, groups[GROUP_OF_SHARD]);
    g_autofree char *replica = text_of(workload, groups[GROUP_OF_REPLICA]);
    g_autofree char *all = text_of(workload, groups[GROUP_OF_DP]);
    ck_assert_str_eq(shard, "0 1 2 3|4 5 6 7");
    ck_assert_str_eq(replica, "0 4|1 5|2 6|3 7");
    ck_assert_str_eq(all, "0 1 2 3 4 5 6 7"); /* the ranks of cp hold the same weights */
}
END_TEST

START_TEST(stages)
{
    g_autoptr(ModelDescription) model = model_preset("llama-3-405b", NULL);
    Layout layout = layout_default();
    layout.pp = 16;
    const uint32_t layers[] = {7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7};
    set_stages(&layout, layers, 16);
    ModelShard shard = shard_of(&layout);
    ck_assert(layout_check(&layout, model, &shard, 16, NULL));
    uint32_t first, end;
    layout_stage(&layout, model, 0, &first, &end); /* embedding and 7 layers */
    ck_assert_uint_eq(first, 0);
    ck_assert_uint_eq(end, 8);
    layout_stage(&layout, model, 1, &first, &end);
    ck_assert_uint_eq(first, 8);
    ck_assert_uint_eq(end, 16);
    layout_stage(&layout, model, 15, &first, &end); /* 7 layers and the head, number 127 */
    ck_assert_uint_eq(first, 120);
    ck_assert_uint_eq(end, 128);
    layout_clear(&layout);
    g_autoptr(ModelDescription) rows = model_preset("resnet-50", NULL); /* 54 rows, no embedding and head apart */
    layout.pp = 2;
    layout_stage(&layout, rows, 1, &first, &end);
    ck_assert_uint_eq(first, 27);
    ck_assert_uint_eq(end, 54);
}
END_TEST

static const struct {
    const char *model;
    uint32_t tp, cp, ep, dp, pp, v, gpus, zero, shard_ranks;
    gboolean sequence_parallel, scatter_gather;
    uint32_t stages[4];
    const char *message;
} bad[] = {
    {"llama-3-8b", 8, 1, 1, 4, 2, 1, 60, 0, 0, 0, 0, {0}, "tp 8 x cp 1 x dp 4 x pp 2 is 64 ranks, but gpus is 60"},
    {"llama-3-405b",
     8,
     1,
     1,
     1,
     16,
     1,
     128,
     0,
     0,
     0,
     0,
     {0},
     "the 126 layers of llama-3-405b do not divide over 16 stages: give stages, a list of 16 numbers"},
    {"llama-3-8b", 1, 1, 1, 1, 64, 1, 64, 0, 0, 0, 0, {0}, "64 x 1 virtual stages, but llama-3-8b has 32 layers"},
    {"llama-3-8b", 1, 1, 1, 1, 2, 1, 2, 0, 0, 0, 0, {16, 15}, "stages sums to 31 layers, but llama-3-8b has 32"},
    {"llama-3-8b",
     1,
     1,
     1,
     1,
     4,
     1,
     4,
     0,
     0,
     0,
     0,
     {16, 16},
     "stages has 2 numbers, expected 4: pp 4 x virtual_stages 1"},
    {"llama-3-8b",
     1,
     1,
     1,
     1,
     1,
     4,
     1,
     0,
     0,
     0,
     0,
     {0},
     "virtual_stages is 4, but pp is 1: there is nothing to "
     "interleave"},
    {"mixtral-8x7b", 1, 1, 8, 12, 1, 1, 12, 0, 0, 0, 0, {0}, "ep 8 does not divide dp 12"},
    {"mixtral-8x7b",
     1,
     1,
     8,
     16,
     1,
     1,
     16,
     3,
     4,
     0,
     0,
     {0},
     "shard_ranks 4 with ep 8: experts cut over less than all replicas are not built"},
    {"llama-3-8b", 1, 1, 1, 8, 1, 1, 8, 3, 3, 0, 0, {0}, "shard_ranks 3 does not divide the dp x cp = 8 replicas"},
    {"llama-3-8b", 1, 1, 1, 8, 1, 1, 8, 0, 4, 0, 0, {0}, "shard_ranks is 4, but zero is 0: nothing is cut"},
    {"llama-3-8b", 1, 1, 1, 8, 1, 1, 8, 4, 0, 0, 0, {0}, "zero is 4, expected 0 to 3"},
    {"llama-3-8b",
     1,
     1,
     1,
     8,
     1,
     1,
     8,
     0,
     0,
     1,
     0,
     {0},
     "sequence_parallel, but tp is 1: there is nothing to cut it "
     "over"},
    {"llama-3-8b", 8, 1, 1, 1, 1, 1, 8, 0, 0, 0, 1, {0}, "scatter_gather needs tp and pp above 1"},
    {"llama-3-8b",
     4096,
     1,
     1,
     4096,
     2,
     1,
     8,
     0,
     0,
     0,
     0,
     {0},
     "tp 4096 x cp 1 x dp 4096 x pp 2 is above 16777216 ranks"},
    {"llama-3-8b", 16, 1, 1, 1, 1, 1, 16, 0, 0, 0, 0, {0}, "model llama-3-8b: tp 16 does not divide the KV heads, 8"},
};

START_TEST(refused)
{
    g_autoptr(ModelDescription) model = model_preset(bad[_i].model, NULL);
    Layout layout = layout_default();
    layout.tp = bad[_i].tp;
    layout.cp = bad[_i].cp;
    layout.ep = bad[_i].ep;
    layout.dp = bad[_i].dp;
    layout.pp = bad[_i].pp;
    layout.virtual_stages = bad[_i].v;
    layout.zero = bad[_i].zero;
    layout.shard_ranks = bad[_i].shard_ranks;
    layout.sequence_parallel = bad[_i].sequence_parallel;
    layout.scatter_gather = bad[_i].scatter_gather;
    if (bad[_i].stages[0] > 0)
        set_stages(&layout, bad[_i].stages, 2);
    ModelShard shard = shard_of(&layout);
    GError *error = NULL;
    ck_assert(!layout_check(&layout, model, &shard, bad[_i].gpus, &error));
    ck_assert_str_eq(error->message, bad[_i].message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "");
    layout_clear(&layout);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("parallel");
    TCase *tcase = tcase_create("parallel");
    tcase_add_test(tcase, groups_of_sixteen);
    tcase_add_test(tcase, partition_groups);
    tcase_add_test(tcase, stages);
    tcase_add_loop_test(tcase, refused, 0, G_N_ELEMENTS(bad));
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
