/* Collectives in an empty network against ../shared/data/measured/published/closed_forms.csv. */
#include "collective_world.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Formulas by the place of a row in its ten: F001, F011, ... have place 1. */
static const struct {
    const char *group; /* as in the file */
    CollectiveKind kind;
    const char *algorithm;
} formulas[10] = {
    [0] = {"collective: Bruck all-gather", COLLECTIVE_ALL_GATHER, "bruck"},
    [1] = {"collective: ring all-reduce", COLLECTIVE_ALL_REDUCE, "ring"},
    [2] = {"collective: ring reduce-scatter", COLLECTIVE_REDUCE_SCATTER, "ring"},
    [3] = {"collective: ring all-gather (S = gathered size)", COLLECTIVE_ALL_GATHER, "ring"},
    [4] = {"collective: recursive halving-doubling all-reduce", COLLECTIVE_ALL_REDUCE, "halving_doubling"},
    [5] = {"collective: recursive doubling all-reduce", COLLECTIVE_ALL_REDUCE, "recursive_doubling"},
    [6] = {"\"collective: binomial reduce + broadcast all-reduce, not pipelined\"", COLLECTIVE_ALL_REDUCE, "binomial"},
    [7] = {"collective: binomial broadcast", COLLECTIVE_BROADCAST, "binomial"},
    [8] = {"collective: pairwise all-to-all (S = bytes sent per rank incl. own block)", COLLECTIVE_ALL_TO_ALL,
           "pairwise"},
    [9] = {"collective: Bruck all-to-all", COLLECTIVE_ALL_TO_ALL, "bruck"},
};

enum { ROWS = 196, COVERED = 180, COVERED_LARGE = 30 };

typedef struct {
    uint32_t id, n;
    CollectiveKind kind;
    const char *algorithm;
    uint64_t bytes;
    double alpha_s, rate_Bps, gamma_s_per_B, value_s;
} Row;

/* One row of the file; FALSE where it is not among the covered formulas. */
static gboolean
parse_row(const char *line, Row *row)
{
    uint32_t place;
    row->id = (uint32_t)strtoul(line + 1, NULL, 10);
    place = row->id % 10;
    if (row->id >= 187 || formulas[place].group == NULL || !g_str_has_prefix(line + 5, formulas[place].group) ||
        line[5 + strlen(formulas[place].group)] != ',')
        return FALSE;
    const char *inputs = strstr(line, ",n=");
    ck_assert_msg(inputs != NULL, "%s", line);
    double alpha_us, rate_GBps, reduce_GBps, value;
    int fields =
        sscanf(inputs, ",n=%u S=%" G_GUINT64_FORMAT "B alpha=%lfus beta=1/(%lf GB/s) gamma=1/(%lf GB/s),time,%lf,s",
               &row->n, &row->bytes, &alpha_us, &rate_GBps, &reduce_GBps, &value);
    ck_assert_msg(fields == 6, "%s: %d fields", line, fields);
    row->kind = formulas[place].kind;
    row->algorithm = formulas[place].algorithm;
    row->alpha_s = alpha_us * 1e-6;
    row->rate_Bps = rate_GBps * 1e9;
    row->gamma_s_per_B = 1 / (reduce_GBps * 1e9);
    row->value_s = value;
    return TRUE;
}

/* Sends one after another on the longest way, and reductions: each may be rounded up to a picosecond. */
static double
most_steps(const Row *row)
{
    return 4.0 * row->n;
}

static SimTime
run_row(const Row *row, const Fabric *fabric, const char *model, CollectiveGrain grain)
{
    WorldRun run = {.model = model,
                    .fabric = fabric,
                    .spec = {.kind = row->kind, .n = row->n, .bytes = row->bytes, .coflow = INDEX_NONE}};
    run.config = collective_config_default();
    run.config.grain = grain;
    run.config.slice_B = 0;
    run.config.reduce_cost_s_per_B = row->gamma_s_per_B;
    run.config.algorithm[row->kind] = row->algorithm;
    return world_run(&run);
}

static void
check_row(const Row *row, const char *model, CollectiveGrain grain)
{
    g_autoptr(Fabric) fabric = world_switch(row->n, (SimTime)(row->alpha_s * 1e12 + 0.5), row->rate_Bps);
    double got = (double)run_row(row, fabric, model, grain), expected = row->value_s * 1e12;
    ck_assert_msg(fabs(got - expected) <= MAX(1e-9 * expected, most_steps(row)),
                  "F%03u on %s, %s: %.0f ps, expected %.3f ps", row->id, model,
                  grain == GRAIN_STEPS ? "steps" : "bundle", got, expected);
}

static char **
read_lines(const char *path)
{
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(path, &text, NULL, NULL));
    return g_strsplit(text, "\n", -1);
}

#ifndef LARGEST
#define LARGEST 64 /* test-collective-1024.c takes the rest */
#endif

static const char *const models[] = {"analytic", "fluid"};
static const CollectiveGrain grains[] = {GRAIN_STEPS, GRAIN_BUNDLE};

/* Rings and pairwise of 1024 ranks in steps are a million sends each and more. Unless TRAINSHED_SLOW_TESTS is set: the
 * all-reduce of each size and the others at one size each, on one of the two models, the tens (F151 ..., F161 ..., F171
 * ...) in turn. */
static gboolean
left_out(const Row *row, int model, CollectiveGrain grain)
{
    gboolean long_row = strcmp(row->algorithm, "ring") == 0 || strcmp(row->algorithm, "pairwise") == 0;
    if (row->n < 1024 || grain != GRAIN_STEPS || !long_row || g_getenv("TRAINSHED_SLOW_TESTS") != NULL)
        return FALSE;
    gboolean chosen = row->kind == COLLECTIVE_ALL_REDUCE || row->id == 152 || row->id == 163 || row->id == 178;
    return !chosen || (int)(row->id / 10 % 2) != model;
}

START_TEST(rows_f001_to_f010_of_each_ten)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv")
    g_auto(GStrv) lines = read_lines(path);
    uint32_t covered = 0;
    for (size_t i = 1; lines[i] != NULL && lines[i][0] == 'F'; i++) {
        Row row;
        if (!parse_row(lines[i], &row) || (row.n > 64) != (LARGEST > 64))
            continue;
        covered++;
        if (!left_out(&row, _i % 2, grains[_i / 2]))
            check_row(&row, models[_i % 2], grains[_i / 2]);
    }
    /* 6 numbers of ranks x 3 sizes x 10 formulas = 180; those of 1024 ranks are 30. */
    ck_assert_uint_eq(covered, LARGEST > 64 ? COVERED_LARGE : COVERED - COVERED_LARGE);
}
END_TEST

typedef struct {
    uint32_t id, g, k;
    uint64_t bytes;
    double b1, b2, value_s;
} Servers;

static gboolean
parse_servers(const char *line, Servers *row)
{
    const char *inputs = strstr(line, ",g=");
    if (inputs == NULL || line[0] != 'F')
        return FALSE;
    row->id = (uint32_t)strtoul(line + 1, NULL, 10);
    int fields = sscanf(inputs,
                        ",g=%u GPUs per node k=%u nodes S=%" G_GUINT64_FORMAT
                        "B B1=%lf B2=%lf B/s per GPU and direction alpha=0,time,%lf",
                        &row->g, &row->k, &row->bytes, &row->b1, &row->b2, &row->value_s);
    return fields == 6 && row->id >= 187 && row->id <= 195;
}

static double
run_servers(const Servers *row, const Fabric *fabric, const char *model, CollectiveGrain grain, const char *algorithm)
{
    WorldRun run = {
        .model = model, .fabric = fabric, .spec = {.n = row->g * row->k, .bytes = row->bytes, .coflow = INDEX_NONE}};
    run.config = collective_config_default();
    run.config.grain = grain;
    run.config.slice_B = 0;
    run.config.algorithm[COLLECTIVE_ALL_REDUCE] = algorithm;
    return (double)world_run(&run);
}

START_TEST(rows_f187_to_f195_on_nvswitch_servers)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv")
    g_auto(GStrv) lines = read_lines(path);
    uint32_t exact = 0, bounds = 0;
    const char *model = models[_i % 2];
    CollectiveGrain grain = grains[_i / 2];
    double bound = 0;
    gboolean slow = g_getenv("TRAINSHED_SLOW_TESTS") != NULL; /* F195 in steps: 16.8 million sends, 20 s */
    for (size_t i = 1; lines[i] != NULL; i++) {
        Servers row;
        if (!parse_servers(lines[i], &row) || (row.id == 195 && LARGEST > 64 && !slow) ||
            (row.k == 128 && grain == GRAIN_STEPS) != (LARGEST > 64))
            continue;
        g_autoptr(Fabric) fabric = world_servers(row.k, row.g, row.b1, row.b2, 0, 0);
        double expected = row.value_s * 1e12, steps = 2.0 * (row.g * row.k + row.g);
        const char *algorithm = row.id % 3 == 0 ? "ring" : "hierarchical";
        double got = run_servers(&row, fabric, model, grain, algorithm);
        if (row.id % 3 == 2) { /* perfect overlap: a bound; the flat ring comes with the next row */
            bounds++;
            bound = expected;
            ck_assert_msg(got >= bound, "F%03u on %s beaten: %.0f < %.0f ps", row.id, model, got, bound);
            continue;
        }
        ck_assert_msg(row.id % 3 == 1 || got >= bound, "F%03u on %s beaten: %.0f < %.0f ps", row.id - 1, model, got,
                      bound);
        exact++;
        ck_assert_msg(fabs(got - expected) <= MAX(1e-9 * expected, steps),
                      "F%03u on %s, grain %d: %.0f ps, expected %.3f ps", row.id, model, grain, got, expected);
    }
    /* F187, F190, F193, F189, F192, F195 exactly; F188, F191, F194 as bounds; those of 1024 GPUs in steps apart. */
    ck_assert_uint_eq(exact, LARGEST > 64 ? 1 + slow : grain == GRAIN_STEPS ? 4 : 6);
    ck_assert_uint_eq(bounds, LARGEST > 64 ? 1 : grain == GRAIN_STEPS ? 2 : 3);
}
END_TEST

typedef struct {
    uint32_t id, n, chunks; /* chunks 0: two trees, a bound */
    uint64_t bytes;
    double alpha_us, rate_GBps, value_s;
} Chunked;

static gboolean
parse_chunked(const char *line, Chunked *row)
{
    const char *inputs = strstr(line, ",n=");
    if (inputs == NULL || line[0] != 'F')
        return FALSE;
    *row = (Chunked){.id = (uint32_t)strtoul(line + 1, NULL, 10)};
    if (row->id < 181 || row->id > 186)
        return FALSE;
    if (row->id % 2 == 1)
        return sscanf(inputs, ",n=%u chunks k=%u S=%" G_GUINT64_FORMAT "B alpha=%lfus beta=1/(%lf GB/s),time,%lf,s",
                      &row->n, &row->chunks, &row->bytes, &row->alpha_us, &row->rate_GBps, &row->value_s) == 6;
    return sscanf(inputs, ",n=%u S=%" G_GUINT64_FORMAT "B beta=1/(%lf GB/s),\"time (k->inf, a=0)\",%lf,s", &row->n,
                  &row->bytes, &row->rate_GBps, &row->value_s) == 4;
}

static double
run_chunked(const Chunked *row, const char *model, CollectiveGrain grain, uint64_t slice_B)
{
    CollectiveKind kind = row->chunks > 0 ? COLLECTIVE_BROADCAST : COLLECTIVE_ALL_REDUCE;
    g_autoptr(Fabric) fabric = world_switch(row->n, (SimTime)(row->alpha_us * 1e6), row->rate_GBps * 1e9);
    WorldRun run = {.model = model,
                    .fabric = fabric,
                    .spec = {.kind = kind, .n = row->n, .bytes = row->bytes, .coflow = INDEX_NONE}};
    run.config = collective_config_default();
    run.config.grain = grain;
    run.config.slice_B = slice_B;
    run.config.algorithm[kind] = row->chunks > 0 ? "chain" : "double_tree";
    return (double)world_run(&run);
}

/* The chain exactly. Of two trees the row is what infinitely many chunks take: k chunks take no less, and no more than
 * the chunks that fill and empty the trees: twice their depth and one for each way, each shared with three others. */
START_TEST(rows_f181_to_f186)
{
    NEED_SHARED(path, "data/measured/published/closed_forms.csv")
    g_auto(GStrv) lines = read_lines(path);
    const char *model = models[_i % 2];
    CollectiveGrain grain = grains[_i / 2];
    uint32_t exact = 0, bounds = 0;
    for (size_t i = 1; lines[i] != NULL; i++) {
        Chunked row;
        if (!parse_chunked(lines[i], &row) || (row.n > 64) != (LARGEST > 64))
            continue;
        double expected = row.value_s * 1e12;
        if (row.chunks > 0) {
            double got = run_chunked(&row, model, grain, row.bytes / row.chunks);
            exact++;
            ck_assert_msg(fabs(got - expected) <= MAX(1e-9 * expected, row.n + row.chunks),
                          "F%03u on %s, grain %d: %.0f ps, expected %.3f ps", row.id, model, grain, got, expected);
        } else if (strcmp(model, "fluid") == 0 && grain == GRAIN_STEPS) {
            double got = run_chunked(&row, model, grain, row.bytes / 256), depth = log2(row.n);
            bounds++;
            ck_assert_msg(got >= expected * (1 - 1e-12), "F%03u beaten: %.0f < %.3f ps", row.id, got, expected);
            ck_assert_msg(got <= expected * (1 + 4 * (2 * depth + 2) / 128), "F%03u: %.0f ps is %.4f of the bound",
                          row.id, got, got / expected);
        }
    }
    ck_assert_uint_eq(exact, LARGEST > 64 ? 1 : 2);
    ck_assert_uint_eq(bounds, strcmp(model, "fluid") != 0 || grain != GRAIN_STEPS ? 0 : LARGEST > 64 ? 1 : 2);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("collective-closed-forms");
    TCase *tc = tcase_create("closed-forms");
    tcase_set_timeout(tc, 600);
    tcase_add_loop_test(tc, rows_f001_to_f010_of_each_ten, 0, 4);
    tcase_add_loop_test(tc, rows_f181_to_f186, 0, 4);
    /* 128 servers in steps on the fluid model. */
    tcase_add_loop_test(tc, rows_f187_to_f195_on_nvswitch_servers, LARGEST > 64 ? 1 : 0, LARGEST > 64 ? 2 : 4);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
