/* test-msccl.c - MSCCL algorithms: real files read, checked and timed by closed forms; broken ones named by their step
 */
#include "config.h"

#include "collective_world.h"
#include "support.h"

#include "base/error.h"
#include "collective/msccl.h"

#include <glib/gstdio.h>
#include <math.h>

/* Steps by type, counted in the files by grep. */
static const struct {
    const char *file;
    CollectiveKind kind;
    uint32_t gpus, chunks, steps, sends;
    uint64_t least, most;
} files[] = {
    {"rccl_allreduce-allpairs-8n-ll-32tb.xml", COLLECTIVE_ALL_REDUCE, 8, 256, 2656 + 448 + 1792 + 448, 448, 0, 65536},
    {"rccl_allreduce-allpairs-8n-simple.xml", COLLECTIVE_ALL_REDUCE, 8, 512, 5312 + 896 + 3584 + 896, 896, 524288,
     11534336},
    {"rccl_alltoall-8n-0-9kb.xml", COLLECTIVE_ALL_TO_ALL, 8, 8, 8 + 56 + 56, 56, 0, 9216},
    {"rccl_alltoall-8n-9kb-190kb.xml", COLLECTIVE_ALL_TO_ALL, 8, 16, 16 + 112 + 112, 112, 9217, 194560},
    {"rccl_alltoall-8n-190kb-512kb.xml", COLLECTIVE_ALL_TO_ALL, 8, 32, 32 + 224 + 224, 224, 194561, 524288},
    {"rccl_alltoall-8n-512kb-7mb.xml", COLLECTIVE_ALL_TO_ALL, 8, 32, 32 + 224 + 224, 224, 524289, 7340032},
    {"rccl_alltoall-8n-7mb-43mb.xml", COLLECTIVE_ALL_TO_ALL, 8, 64, 64 + 448 + 448, 448, 7340033, 45088768},
    {"rccl_ut_all-reduce-ring-simple.xml", COLLECTIVE_ALL_REDUCE, 16, 384, 384 + 5376 + 384 + 5376 + 384,
     5376 + 384 + 5376 + 384, 393216, UINT64_MAX},
};

START_TEST(real_files_do_what_their_collective_says)
{
    g_autofree char *relative = g_strconcat("data/msccl/", files[_i].file, NULL);
    NEED_SHARED(path, relative);
    GError *error = NULL;
    g_autoptr(Msccl) msccl = msccl_read(path, &error);
    ck_assert_msg(msccl != NULL, "%s", error ? error->message : "");
    ck_assert_int_eq(msccl->kind, files[_i].kind);
    ck_assert_uint_eq(msccl->n_gpus, files[_i].gpus);
    ck_assert_uint_eq(msccl->n_chunks, files[_i].chunks);
    ck_assert_uint_eq(msccl->steps->len, files[_i].steps);
    ck_assert_uint_eq(msccl->order->len, files[_i].steps);
    ck_assert_uint_eq(msccl->least_B, files[_i].least);
    ck_assert_uint_eq(msccl->most_B, files[_i].most);
    uint32_t sends = 0;
    for (guint i = 0; i < msccl->steps->len; i++)
        sends += (g_array_index(msccl->steps, MscclStep, i).does & MSCCL_SEND) != 0;
    ck_assert_uint_eq(sends, files[_i].sends);
}
END_TEST

/* On one switch, 1 us up, 100 GB/s a host. All-to-all: 7/8 S and a latency. All-pairs all-reduce: twice, as `direct`.
 * The bytes between each pair add up exactly. */
START_TEST(real_files_take_the_time_of_their_closed_form)
{
    static const struct {
        const char *file;
        CollectiveKind kind;
        uint64_t bytes;
        int rounds;
    } cases[] = {
        {"rccl_alltoall-8n-512kb-7mb.xml", COLLECTIVE_ALL_TO_ALL, 1 << 20, 1},
        {"rccl_alltoall-8n-7mb-43mb.xml", COLLECTIVE_ALL_TO_ALL, 1 << 23, 1},
        {"rccl_allreduce-allpairs-8n-simple.xml", COLLECTIVE_ALL_REDUCE, 1 << 20, 2},
    };
    g_autofree char *relative = g_strconcat("data/msccl/", cases[_i].file, NULL);
    NEED_SHARED(path, relative);
    g_autofree char *name = g_strconcat("msccl:", path, NULL);
    g_autoptr(Fabric) fabric = world_switch(8, PS_PER_US, 100e9);
    uint64_t pairs[64] = {0};
    WorldRun run = {.model = "fluid",
                    .fabric = fabric,
                    .spec = {.kind = cases[_i].kind, .n = 8, .bytes = cases[_i].bytes, .coflow = INDEX_NONE},
                    .config = collective_config_default(),
                    .pair_bytes = pairs};
    run.config.algorithm[cases[_i].kind] = name;
    ck_assert_str_eq(collective_algorithm(&run.spec, &run.config), name);
    double expected = cases[_i].rounds * (1e6 + 7.0 / 8 * (double)cases[_i].bytes / 100e9 * 1e12);
    SimTime got = world_run(&run);
    ck_assert_msg(fabs((double)got - expected) <= MAX(10.0, 1e-9 * expected), "%" G_GINT64_FORMAT " ps, expected %.1f",
                  got, expected);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
            if (i != j)
                ck_assert_uint_eq(pairs[i * 8 + j], (uint64_t)cases[_i].rounds * cases[_i].bytes / 8);
}
END_TEST

/* What the file is not for - another size, another number of members - goes the default way. */
START_TEST(other_sizes_go_the_default_way)
{
    NEED_SHARED(path, "data/msccl/rccl_alltoall-8n-0-9kb.xml");
    g_autofree char *name = g_strconcat("msccl:", path, NULL);
    CollectiveConfig config = collective_config_default();
    config.algorithm[COLLECTIVE_ALL_TO_ALL] = name;
    CollectiveSpec spec = {.kind = COLLECTIVE_ALL_TO_ALL, .n = 8, .bytes = 9216};
    ck_assert_str_eq(collective_algorithm(&spec, &config), name);
    spec.bytes = 9217;
    ck_assert_str_eq(collective_algorithm(&spec, &config), "direct");
    spec.bytes = 1024;
    spec.n = 4;
    ck_assert_str_eq(collective_algorithm(&spec, &config), "direct");
    GError *error = NULL;
    ck_assert_ptr_null(collective_algorithm_load(name, COLLECTIVE_ALL_REDUCE, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "this algorithm is not for all_reduce");
}
END_TEST

#define HEAD(coll, chunks)                                                                                             \
    "<algo name='x' proto='Simple' nchannels='1' nchunksperloop='" chunks "' ngpus='2' coll='" coll                    \
    "' inplace='0' maxBytes='0'>\n"
#define GPU(id, chunks, scratch)                                                                                       \
    "<gpu id='" id "' i_chunks='" chunks "' o_chunks='" chunks "' s_chunks='" scratch "'>\n"
#define STEP(s, type, src, srcoff, dst, dstoff, depid, deps)                                                           \
    "<step s='" s "' type='" type "' srcbuf='" src "' srcoff='" srcoff "' dstbuf='" dst "' dstoff='" dstoff            \
    "' cnt='1' depid='" depid "' deps='" deps "' hasdep='0'/>\n"

/* Each GPU sends its one chunk to the other, which adds its own to it. dep: of the second GPU's add. */
#define EXCHANGE(second)                                                                                               \
    HEAD("allreduce", "1")                                                                                             \
    GPU("0", "1", "1")                                                                                                 \
    "<tb id='0' send='1' recv='1' chan='0'>\n" STEP("0", "s", "i", "0", "o", "0", "-1", "-1")                          \
        STEP("1", "rrc", "i", "0", "o", "0", "-1", "-1") "</tb></gpu>\n" GPU(                                          \
            "1", "1", "1") "<tb id='0' send='0' recv='0' chan='0'>\n" second "</tb></gpu></algo>\n"

/* 2 GPUs: S both ways at once, 1 us up, then nothing to reduce at cost 0: 1 us + S / B. */
START_TEST(an_exchange_by_hand)
{
    g_autofree char *path = support_save(
        EXCHANGE(STEP("0", "s", "i", "0", "o", "0", "-1", "-1") STEP("1", "rrc", "i", "0", "o", "0", "-1", "-1")));
    g_autofree char *name = g_strconcat("msccl:", path, NULL);
    g_autoptr(Fabric) fabric = world_switch(2, PS_PER_US, 1e9);
    WorldRun run = {.model = "fluid",
                    .fabric = fabric,
                    .spec = {.kind = COLLECTIVE_ALL_REDUCE, .n = 2, .bytes = 5000, .coflow = INDEX_NONE},
                    .config = collective_config_default()};
    run.config.algorithm[COLLECTIVE_ALL_REDUCE] = name;
    ck_assert_int_eq(world_run(&run), PS_PER_US + 5 * PS_PER_US);
    run.config.reduce_cost_s_per_B = 0x1p-30; /* 5000 B in 4656612.87 ps */
    ck_assert_int_eq(world_run(&run), 6 * PS_PER_US + 4656613);
    run.config.grain = GRAIN_BUNDLE;
    ck_assert_int_eq(world_run(&run), 6 * PS_PER_US + 4656613);
    g_unlink(path);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"<algo", ":1: "},
    {"<graph/>", ":1: graph: expected algo, the root of an MSCCL algorithm"},
    {"<algo ngpus='2' nchunksperloop='1' coll='custom'/>", "coll: found \"custom\", expected allreduce"},
    {"<algo ngpus='2' nchunksperloop='1' coll='allreduce'/>", "has 0 gpu elements, ngpus says 2"},
    {"<algo nchunksperloop='1' coll='allreduce'/>", ":1: algo: needs the attribute ngpus"},
    {EXCHANGE(STEP("0", "x", "i", "0", "o", "0", "-1", "-1")), ":9: step: type: found \"x\", expected s, r, rcs"},
    {EXCHANGE(STEP("1", "s", "i", "0", "o", "0", "-1", "-1")), ":9: step: s: found 1, expected 0"},
    {EXCHANGE(STEP("0", "s", "i", "5", "o", "0", "-1", "-1")), ":9: step: srcoff 5 and 1 chunks: the buffer has 1"},
    {EXCHANGE(STEP("0", "s", "i", "0", "o", "0", "3", "0")), ":9: step: depid 3, deps 0: GPU 1 has no such step"},
    /* The second GPU waits for itself. */
    {EXCHANGE(STEP("0", "s", "i", "0", "o", "0", "0", "1") STEP("1", "rrc", "i", "0", "o", "0", "-1", "-1")),
     ": step: waits for ever"},
    /* It sends twice and nobody takes the second. */
    {EXCHANGE(STEP("0", "s", "i", "0", "o", "0", "-1", "-1") STEP("1", "s", "i", "0", "o", "0", "-1", "-1")
                  STEP("2", "rrc", "i", "0", "o", "0", "-1", "-1")),
     ":10: step: sends what nobody receives"},
    /* It only copies what it received: its own part is missing. */
    {EXCHANGE(STEP("0", "s", "i", "0", "o", "0", "-1", "-1") STEP("1", "r", "i", "0", "o", "0", "-1", "-1")),
     "x: chunk 0 of GPU 1's output is not what the collective says"},
    /* It adds its own part again. */
    {EXCHANGE(STEP("0", "s", "i", "0", "o", "0", "-1", "-1") STEP("1", "rrc", "i", "0", "o", "0", "-1", "-1")
                  STEP("2", "re", "i", "0", "o", "0", "-1", "-1")),
     ":11: step: counts a rank's part of chunk 0 twice"},
    /* It sends from a scratch chunk that is empty. */
    {EXCHANGE(STEP("0", "s", "s", "0", "o", "0", "-1", "-1") STEP("1", "rrc", "i", "0", "o", "0", "-1", "-1")),
     ":9: step: uses a chunk that is not there yet"},
};

START_TEST(what_is_wrong_is_named_with_its_step)
{
    g_autofree char *path = support_save(bad[_i].text);
    GError *error = NULL;
    ck_assert_ptr_null(msccl_read(path, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad[_i].message);
    g_unlink(path);
}
END_TEST

/* Three mistakes, each told with its line; the steps behind a bad one keep their numbers, deps on it are no problem. */
START_TEST(three_mistakes_are_three_problems)
{
    g_autofree char *path = support_save(
        "<algo ngpus='2' nchunksperloop='1' coll='allreduce' inplace='1'>\n<gpu id='0' i_chunks='1' o_chunks='0' "
        "s_chunks='1'>\n<tb id='0' send='1' recv='-1' chan='0'>\n"
        "<step s='0' type='fly' srcbuf='i' srcoff='0' dstbuf='i' dstoff='0' cnt='1' depid='-1' deps='-1'/>\n"
        "<step s='1' type='s' srcbuf='i' srcoff='4' dstbuf='i' dstoff='0' cnt='1' depid='0' deps='0'/>\n</tb>\n</gpu>\n"
        "<gpu id='1' i_chunks='1' o_chunks='0' s_chunks='1'>\n<tb id='7' send='-1' recv='0' chan='0'>\n</tb>\n</gpu>\n"
        "</algo>\n");
    static const char *const expected[] = {":4: step: type: found \"fly\", expected s, r, rcs",
                                           ":5: step: srcoff 4 and 1 chunks: the buffer has 1",
                                           ":9: tb: id: found 7, expected 0"};
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    GError *error = NULL;
    ck_assert(!msccl_check(path, problems, &error));
    ck_assert_uint_eq(problems->len, 3);
    for (guint i = 0; i < 3; i++) {
        g_autofree char *text = g_strconcat(path, expected[i], NULL);
        ck_assert_msg(g_str_has_prefix(problems->pdata[i], text), "%s", (const char *)problems->pdata[i]);
    }
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, ": 3 problems");
    g_unlink(path);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("msccl");
    TCase *tcase = tcase_create("msccl");
    tcase_add_loop_test(tcase, real_files_do_what_their_collective_says, 0, G_N_ELEMENTS(files));
    tcase_add_loop_test(tcase, real_files_take_the_time_of_their_closed_form, 0, 3);
    tcase_add_test(tcase, other_sizes_go_the_default_way);
    tcase_add_test(tcase, an_exchange_by_hand);
    tcase_add_loop_test(tcase, what_is_wrong_is_named_with_its_step, 0, G_N_ELEMENTS(bad));
    tcase_add_test(tcase, three_mistakes_are_three_problems);
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
