/* test-model.c - models by description: parameters, FLOPs and kept bytes against published totals and formulas */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "workload/model.h"

#include <string.h>

/* Parameters worked out by the sources' own files (safetensors totals), to the last one; NULL ends the list. */
static const struct {
    const char *name;
    uint64_t parameters, active;
} exact[] = {
    {"llama-2-7b", 6738415616, 6738415616},     {"llama-2-13b", 13015864320, 13015864320},
    {"llama-2-70b", 68976648192, 68976648192},  {"llama-3-8b", 8030261248, 8030261248},
    {"llama-3-70b", 70553706496, 70553706496},  {"llama-3-405b", 405853388800, 405853388800},
    {"mixtral-8x7b", 46702792704, 12879925248}, {"mixtral-8x22b", 140620634112, 39152031744},
    {"deepseek-v3", 671026419200, 37552297472}, {"bert-large", 335141888, 335141888},
    {"resnet-50", 25557032, 25557032},
};

START_TEST(parameters_to_the_last)
{
    g_autoptr(ModelDescription) model = model_preset(exact[_i].name, NULL);
    ck_assert_ptr_nonnull(model);
    ck_assert_uint_eq(model_parameters(model), exact[_i].parameters);
    ck_assert_uint_eq(model_active_parameters(model), exact[_i].active);
}
END_TEST

/* Narayanan et al. 2021, equation 2: P = 12 l h^2 (1 + 13 / (12 h) + (V + s) / (12 l h)), and the last norm's 2 h. */
START_TEST(parameters_of_gpt)
{
    const char *name = model_preset_names()[_i];
    g_autoptr(ModelDescription) model = model_preset(name, NULL);
    const Transformer *t = &model->transformer;
    uint64_t l = t->layers, h = t->hidden;
    ck_assert_uint_eq(model_parameters(model), 12 * l * h * h + 13 * l * h + (51200 + 2048) * h + 2 * h);
    /* printed to three digits in the table */
    ck_assert_double_lt((double)model_parameters(model), 1.03 * model->published_parameters);
    ck_assert_double_gt((double)model_parameters(model), 0.97 * model->published_parameters);
}
END_TEST

START_TEST(every_preset_has_its_source_and_total)
{
    g_autoptr(ModelDescription) model = model_preset(model_preset_names()[_i], NULL);
    ck_assert_ptr_nonnull(model);
    ck_assert_ptr_nonnull(model->source);
    ck_assert_double_gt((double)model_parameters(model), 0.97 * model->published_parameters);
    ck_assert_double_lt((double)model_parameters(model), 1.03 * model->published_parameters);
}
END_TEST

static double
flops_of(const ModelDescription *model, const ModelShard *shard)
{
    double sum = 0;
    for (uint32_t layer = 0; layer < model_n_layers(model); layer++)
        for (uint32_t i = 0; i < model_n_blocks(model, layer); i++) {
            ModelBlock block;
            model_block(model, layer, i, shard, &block);
            for (int pass = 0; pass < MODEL_PASSES; pass++)
                sum += block_flops(&block, (ModelPass)pass, shard->recompute);
        }
    return sum;
}

/* Narayanan et al. 2021, equation 3: F = 96 B s l h^2 (1 + s / (6 h) + V / (16 l h)) with full recomputation; without
 * it the layers' share is 72 instead of 96. */
START_TEST(flops_of_gpt)
{
    g_autoptr(ModelDescription) model = model_preset("sc21-145b", NULL);
    ModelShard shard = model_shard_default();
    double B = shard.micro_batch = 4, s = 2048, l = 80, h = 12288, V = 51200;
    shard.recompute = RECOMPUTE_FULL;
    double full = 96 * B * s * l * h * h * (1 + s / (6 * h) + V / (16 * l * h));
    ck_assert_double_eq_tol(flops_of(model, &shard), full, 1e-12 * full);
    shard.recompute = RECOMPUTE_NONE;
    double none = 72 * B * s * l * h * h * (1 + s / (6 * h)) + 6 * B * s * h * V;
    ck_assert_double_eq_tol(flops_of(model, &shard), none, 1e-12 * none);
    shard.recompute = RECOMPUTE_SELECTIVE; /* the two products of the core again: 4 B s^2 h a layer */
    double selective = none + 4 * B * s * s * h * l;
    ck_assert_double_eq_tol(flops_of(model, &shard), selective, 1e-12 * selective);
    /* cut over 8 x 2 ranks: each does a sixteenth of it */
    shard.tp = 8;
    shard.cp = 2;
    ck_assert_double_eq_tol(flops_of(model, &shard), selective / 16, 1e-12 * selective);
}
END_TEST

/* A fused causal kernel computes half of the scores, 2 products forward and 5 backward. */
START_TEST(flops_of_fused_attention)
{
    g_autoptr(ModelDescription) model = model_preset("llama-2-7b", NULL);
    ModelShard shard = model_shard_default();
    ModelBlock block;
    shard.fused_attention = TRUE;
    model_block(model, 1, 0, &shard, &block);
    double s = 4096, h = 4096, linear = 8 * s * h * h, core = 4 * s * s * h / 2;
    ck_assert_double_eq(block_flops(&block, PASS_OF_FORWARD, RECOMPUTE_NONE), linear + core);
    ck_assert_double_eq(block_flops(&block, PASS_OF_INPUT, RECOMPUTE_NONE), linear + 2.5 * core);
    ck_assert_double_eq(block_flops(&block, PASS_OF_WEIGHT, RECOMPUTE_NONE), linear);
    /* scores stay on the chip: there is nothing to do again, and q, k, v and what comes out are read and written once
     */
    ck_assert_double_eq(block_flops(&block, PASS_OF_INPUT, RECOMPUTE_SELECTIVE), linear + 2.5 * core);
    double core_bytes = block.gemms[1].bytes + block.gemms[2].bytes;
    ck_assert_double_eq(core_bytes, 2 * 4 * s * h);
}
END_TEST

static uint64_t
kept_by_layer(const ModelDescription *model, const ModelShard *shard)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < model_n_blocks(model, 1); i++) {
        ModelBlock block;
        model_block(model, 1, i, shard, &block);
        sum += block.kept_B;
    }
    return sum;
}

/* Korthikanti et al. 2022, table 2, for the 22B model of its table 3 (a 64, h 6144, s 2048, b 4), t = 8. */
START_TEST(kept_bytes_of_gpt)
{
    g_autoptr(ModelDescription) model = model_new("22b", MODEL_TRANSFORMER);
    model->transformer = (Transformer){.layers = 48,
                                       .hidden = 6144,
                                       .heads = 64,
                                       .vocabulary = 51200,
                                       .sequence = 2048,
                                       .bias = TRUE,
                                       .dropout = TRUE,
                                       .learned = TRUE,
                                       .causal = TRUE};
    ck_assert(model_settle(model, NULL));
    uint64_t a = 64, h = 6144, s = 2048, b = 4, t = 8, sbh = s * b * h;
    ModelShard shard = model_shard_default();
    shard.micro_batch = (uint32_t)b;
    ck_assert_uint_eq(kept_by_layer(model, &shard), 34 * sbh + 5 * a * s * s * b);
    shard.tp = (uint32_t)t;
    ck_assert_uint_eq(kept_by_layer(model, &shard), 10 * sbh + 24 * sbh / t + 5 * a * s * s * b / t);
    shard.recompute = RECOMPUTE_SELECTIVE;
    ck_assert_uint_eq(kept_by_layer(model, &shard), 10 * sbh + 24 * sbh / t);
    shard.sequence_parallel = TRUE;
    ck_assert_uint_eq(kept_by_layer(model, &shard), 34 * sbh / t);
    shard.recompute = RECOMPUTE_NONE;
    ck_assert_uint_eq(kept_by_layer(model, &shard), (34 * sbh + 5 * a * s * s * b) / t);
    shard.sequence_parallel = FALSE;
    shard.recompute = RECOMPUTE_FULL;
    ck_assert_uint_eq(kept_by_layer(model, &shard), 2 * sbh);
}
END_TEST

/* Narayanan et al. 2021, section 2.3 and 3.2: 2 b s h bytes to the next stage; b s h values reduced twice a layer. */
START_TEST(messages_of_a_layer)
{
    g_autoptr(ModelDescription) model = model_preset("llama-3-405b", NULL);
    ModelShard shard = model_shard_default();
    shard.micro_batch = 2;
    shard.tp = 8;
    shard.cp = 4;
    ModelBlock block;
    uint64_t whole = 2ull * 8192 * 16384 * 2;
    model_block(model, 7, 1, &shard, &block);
    ck_assert_uint_eq(block.output_B, whole / 4);
    ck_assert_uint_eq(block.reduced_B, whole / 4);
    shard.sequence_parallel = TRUE;
    model_block(model, 7, 1, &shard, &block);
    ck_assert_uint_eq(block.output_B, whole / 4 / 8);
    ck_assert_uint_eq(block.reduced_B, whole / 4);
    model_block(model, 7, 0, &shard, &block); /* keys and values of one KV head, 128 wide */
    ck_assert_uint_eq(block.context_B, 2 * 8192 / 4 * 2 * 128 * 2);
}
END_TEST

/* DeepSeek-V3 over 64 ranks: 4,096 tokens x 8 experts x 7,168 values of 2 bytes leave a rank. */
START_TEST(routed_bytes)
{
    g_autoptr(ModelDescription) model = model_preset("deepseek-v3", NULL);
    ModelShard shard = model_shard_default();
    shard.ep = 64;
    ModelBlock block;
    model_block(model, 10, 1, &shard, &block);
    ck_assert_int_eq(block.kind, BLOCK_EXPERTS);
    ck_assert_uint_eq(block.routed_B, 4096ull * 8 * 7168 * 2);
    ck_assert_uint_eq(block.received_B, block.routed_B);
    uint64_t splits[64];
    model_routed_splits(model, &shard, splits);
    for (int i = 0; i < 64; i++)
        ck_assert_uint_eq(splits[i], block.routed_B / 64);
    model_block(model, 3, 1, &shard, &block);
    ck_assert_int_eq(block.kind, BLOCK_MLP); /* the first three are dense */
}
END_TEST

/* Weights (e + 1)^-1 of 8 experts: 1, 1/2 .. 1/8, sum 761/280; 4,096 x 2 rows. */
START_TEST(skewed_load)
{
    g_autoptr(ModelDescription) model = model_preset("mixtral-8x7b", NULL);
    model->transformer.skew = 1;
    ModelShard shard = model_shard_default();
    shard.sequence = 4096;
    shard.ep = 8;
    uint64_t splits[8], sum = 0;
    model_routed_splits(model, &shard, splits);
    for (int e = 0; e < 8; e++) {
        double rows = 8192 * (280.0 / 761) / (e + 1);
        ck_assert_double_lt(ABS((double)splits[e] / (2 * 4096) - rows), 1);
        sum += splits[e];
    }
    ck_assert_uint_eq(sum, 8192ull * 4096 * 2);
    /* twice the even share is the most: 2,048 of 8,192 rows to expert 0, which asks for 3,014 */
    model->transformer.capacity = 2;
    model_routed_splits(model, &shard, splits);
    ck_assert_uint_eq(splits[0], 2048ull * 4096 * 2);
    ModelBlock block;
    for (shard.ep_member = 0; shard.ep_member < 8; shard.ep_member++) {
        model_block(model, 1, 1, &shard, &block);
        ck_assert_uint_eq(block.received_B, 8 * splits[shard.ep_member]);
    }
}
END_TEST

/* 638.08 MFLOP a sample forward and 11.55 MB of rows (MAD-Max, table 2). */
START_TEST(dlrm_a_sample)
{
    g_autoptr(ModelDescription) model = model_preset("dlrm-a", NULL);
    ModelShard shard = model_shard_default();
    double flops = 0;
    ModelBlock block;
    for (uint32_t layer = 1; layer < model_n_layers(model); layer++) {
        model_block(model, layer, 0, &shard, &block);
        flops += block_flops(&block, PASS_OF_FORWARD, RECOMPUTE_NONE);
    }
    ck_assert_double_eq(flops, 638081440);
    model_block(model, 0, 0, &shard, &block);
    ck_assert_double_eq(block.other_bytes, 4096 * 15.0 * 94 * 2);
    ck_assert_uint_eq(block.routed_B, 4096 * 94 * 2);
}
END_TEST

/* 4.09 G multiplications and additions of an image (torchvision: GFLOPS 4.09, one a multiply-add). */
START_TEST(resnet_50_image)
{
    g_autoptr(ModelDescription) model = model_preset("resnet-50", NULL);
    ModelShard shard = model_shard_default();
    double flops = 0;
    for (uint32_t layer = 0; layer < model_n_layers(model); layer++) {
        ModelBlock block;
        model_block(model, layer, 0, &shard, &block);
        for (uint32_t i = 0; i < block.n_gemms; i++)
            flops += gemm_flops(&block.gemms[i]);
    }
    ck_assert_double_eq_tol(flops / 2, 4.089e9, 0.001e9);
}
END_TEST

static const struct {
    const char *name;
    ModelShard shard;
    const char *message;
} shards[] = {
    {"llama-3-405b",
     {.micro_batch = 1, .tp = 12, .cp = 1, .ep = 1},
     "model llama-3-405b: tp 12 does not divide the heads, 128"},
    {"llama-3-8b",
     {.micro_batch = 1, .tp = 16, .cp = 1, .ep = 1},
     "model llama-3-8b: tp 16 does not divide the KV heads, 8"},
    {"bert-large",
     {.micro_batch = 1, .tp = 4, .cp = 1, .ep = 1},
     "model bert-large: tp 4 does not divide vocabulary, 30522"},
    {"llama-3-8b",
     {.micro_batch = 1, .tp = 1, .cp = 3, .ep = 1},
     "model llama-3-8b: cp 3 does not divide the tokens of a sequence, 8192"},
    {"llama-3-8b",
     {.micro_batch = 1, .tp = 1, .cp = 1, .ep = 2},
     "model llama-3-8b: ep is 2, but the model has no "
     "experts"},
    {"mixtral-8x7b",
     {.micro_batch = 1, .tp = 1, .cp = 1, .ep = 3},
     "model mixtral-8x7b: ep 3 does not divide the experts, 8"},
    {"resnet-50",
     {.micro_batch = 1, .tp = 2, .cp = 1, .ep = 1},
     "model resnet-50: tp is 2; a table of layers is cut over dp and pp alone"},
    {"dlrm-a", {.micro_batch = 1, .tp = 1, .cp = 1, .ep = 3}, "model dlrm-a: ep 3 does not divide the tables, 4096"},
};

START_TEST(shards_refused)
{
    g_autoptr(ModelDescription) model = model_preset(shards[_i].name, NULL);
    GError *error = NULL;
    ck_assert(!model_check_shard(model, &shards[_i].shard, &error));
    ck_assert_str_eq(error->message, shards[_i].message);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "");
}
END_TEST

START_TEST(unknown_model)
{
    GError *error = NULL;
    ck_assert_ptr_null(model_preset("llama-3-405", &error));
    ck_assert_str_eq(error->message, "there is no model \"llama-3-405\"; did you mean \"llama-3-405b\"");
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "");
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("model");
    TCase *tcase = tcase_create("model");
    int n = 0;
    while (model_preset_names()[n] != NULL)
        n++;
    tcase_add_loop_test(tcase, parameters_to_the_last, 0, G_N_ELEMENTS(exact));
    tcase_add_loop_test(tcase, parameters_of_gpt, 0, 11);
    tcase_add_loop_test(tcase, every_preset_has_its_source_and_total, 0, n);
    tcase_add_test(tcase, flops_of_gpt);
    tcase_add_test(tcase, flops_of_fused_attention);
    tcase_add_loop_test(tcase, shards_refused, 0, G_N_ELEMENTS(shards));
    tcase_add_test(tcase, kept_bytes_of_gpt);
    tcase_add_test(tcase, messages_of_a_layer);
    tcase_add_test(tcase, routed_bytes);
    tcase_add_test(tcase, skewed_load);
    tcase_add_test(tcase, dlrm_a_sample);
    tcase_add_test(tcase, resnet_50_image);
    tcase_add_test(tcase, unknown_model);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
