/* test-astra-time.c - the arithmetic of ASTRA-sim's analytical back ends: its own answers on switch-N, and refusals */
#include "config.h"

#include "support.h"

#include "base/error.h"
#include "collective/astra_time.h"

#include <glib/gstdio.h>
#include <string.h>

typedef struct {
    AstraBackEnd back_end;
    CollectiveKind kind;
    uint64_t bytes, answer;
    char *system, *network;
} Row;

/* The cells of a row of the table whose network is switch-N and which finished; FALSE for any other line. */
static gboolean
parse_row(const char *line, Row *row)
{
    g_auto(GStrv) cell = g_strsplit(line, "|", -1);
    if (g_strv_length(cell) < 9)
        return FALSE;
    for (int i = 0; cell[i] != NULL; i++)
        g_strstrip(cell[i]);
    if (!g_str_has_prefix(cell[6], "switch-") || !g_ascii_isdigit(cell[7][0]))
        return FALSE;
    row->back_end = strcmp(cell[1], "Aware") == 0 ? ASTRA_AWARE : ASTRA_UNAWARE;
    row->kind = strcmp(cell[2], "all_reduce") == 0 ? COLLECTIVE_ALL_REDUCE : COLLECTIVE_ALL_TO_ALL;
    row->bytes = strcmp(cell[4], "1 MiB") == 0 ? 1 << 20 : 1 << 30;
    g_auto(GStrv) digits = g_strsplit(cell[7], " ", -1);
    g_autofree char *number = g_strjoinv("", digits);
    row->answer = g_ascii_strtoull(number, NULL, 10);
    row->system = g_strdup_printf("data/peers/astra-sim/system/%s.json", cell[5]);
    row->network = g_strdup_printf("data/peers/astra-sim/network/%s.yml", cell[6]);
    return TRUE;
}

/* Every finished switch-N row of the README, to the nanosecond: 52 of them. */
START_TEST(peers_answers)
{
    NEED_SHARED(readme, "data/peers/README.md");
    g_autofree char *text = NULL;
    ck_assert(g_file_get_contents(readme, &text, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    int rows = 0;
    for (int i = 0; lines[i] != NULL; i++) {
        Row row;
        if (!parse_row(lines[i], &row))
            continue;
        GError *error = NULL;
        g_autoptr(AstraNetwork) network = astra_network_read(support_shared(row.network), NULL, &error);
        ck_assert(network != NULL);
        g_autoptr(AstraSystem) system = astra_system_read(support_shared(row.system), &error);
        ck_assert(system != NULL);
        uint64_t time;
        ck_assert(astra_time(network, system, row.back_end, row.kind, row.bytes, &time, &error));
        ck_assert_msg(time == row.answer, "%s: %" G_GUINT64_FORMAT, lines[i], time);
        rows++;
        g_free(row.system);
        g_free(row.network);
    }
    ck_assert_int_eq(rows, 52);
}
END_TEST

/* By hand: 4 ranks, 100 GB/s of 2^30, 4 GiB, so a chunk of 1 GiB takes 1e9 / 100 = 1e7 ns; 0 latency; 3 ns a step.
 * Memory 1024 B/ns: a pass of 1 GiB is 1048576 ns. Ring: 6 steps, 7 delays, 3 reductions. */
START_TEST(ring_by_hand)
{
    g_autofree char *network_path =
        support_save("topology: [ Switch ]\nnpus_count: [ 4 ]\nbandwidth: [ 100 ]\nlatency: [ 0 ]\n");
    g_autofree char *system_path =
        support_save("{\"preferred-dataset-splits\": 1, \"endpoint-delay\": 3, \"local-mem-bw\": "
                     "1024, \"all-reduce-implementation\": [\"ring\"]}");
    GError *error = NULL;
    g_autoptr(AstraNetwork) network = astra_network_read(network_path, NULL, &error);
    g_autoptr(AstraSystem) system = astra_system_read(system_path, &error);
    ck_assert(network != NULL && system != NULL);
    uint64_t time;
    ck_assert(astra_time(network, system, ASTRA_UNAWARE, COLLECTIVE_ALL_REDUCE, (uint64_t)4 << 30, &time, &error));
    ck_assert_uint_eq(time, 6 * 10000000 + 7 * 3 + 3 * 3 * 1048576);
    ck_assert(astra_time(network, system, ASTRA_AWARE, COLLECTIVE_ALL_REDUCE, (uint64_t)4 << 30, &time, &error));
    ck_assert_uint_eq(time, 12 * 10000000 + 7 * 3 + 3 * 3 * 1048576);
    g_unlink(network_path);
    g_unlink(system_path);
}
END_TEST

static const struct {
    const char *text, *message;
} bad_systems[] = {
    {"[]", ":1: not an object; expected keys such as"},
    {"{}", "preferred-dataset-splits is missing; ASTRA-sim divides by it"},
    {"{\"preferred-dataset-splits\": 0}", ":1: preferred-dataset-splits: expected a whole number from 1 to 1000000000"},
    {"{\n\"endpoint-delay\": -1}", ":2: endpoint-delay: expected a whole number from 0 to 1000000000"},
    {"{\"local-mem-bw\": 0}", ":1: local-mem-bw: expected GB/s above 0, at most 1e9"},
    {"{\"peak-perf\": -1}", ":1: peak-perf: expected TFLOP/s above 0, at most 1e9"},
    {"{\"roofline-enabled\": true}", ":1: roofline-enabled: expected a whole number from 0 to 1000000000"},
    {"{\"all-reduce-implementation\": \"ring\"}", "expected an array with one name a dimension"},
    {"{\"all-reduce-implementation\": []}", "names no implementation"},
    {"{\"all-reduce-implementation\": [1]}", "expected names such as \"ring\""},
    {"{\"all-reduce-implementation\": [\"ring\"], \"all-reduce-implementation\": [\"ring\"]}", "is given twice"},
};

START_TEST(bad_system)
{
    g_autofree char *path = support_save(bad_systems[_i].text);
    GError *error = NULL;
    ck_assert(astra_system_read(path, &error) == NULL);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, bad_systems[_i].message);
    g_unlink(path);
}
END_TEST

static const struct {
    const char *network, *system, *message;
    CollectiveKind kind;
} unknown_forms[] = {
    {"node8-fabric-64", "ring-2d-4split", "one dimension of Switch", COLLECTIVE_ALL_REDUCE},
    {"ring-8", "ring-1d-1split", "one dimension of Switch", COLLECTIVE_ALL_REDUCE},
    {"switch-8", "ring-1d-1split", "not for all_gather", COLLECTIVE_ALL_GATHER},
    {"switch-8", "ring-1d-4split", "preferred-dataset-splits is 4", COLLECTIVE_ALL_REDUCE},
    {"switch-8", "ring-2d-1split", "2 implementations of all_reduce, 1 expected", COLLECTIVE_ALL_REDUCE},
    {"switch-8", "halvingDoubling-1d-1split", "no form of this implementation", COLLECTIVE_ALL_TO_ALL},
};

START_TEST(unknown_form)
{
    NEED_SHARED(folder, "data/peers/astra-sim");
    g_autofree char *n = g_strdup_printf("%s/network/%s.yml", folder, unknown_forms[_i].network);
    g_autofree char *s = g_strdup_printf("%s/system/%s.json", folder, unknown_forms[_i].system);
    GError *error = NULL;
    uint64_t time;
    g_autoptr(AstraNetwork) network = astra_network_read(n, NULL, &error);
    g_autoptr(AstraSystem) system = astra_system_read(s, &error);
    ck_assert(network != NULL && system != NULL);
    ck_assert(!astra_time(network, system, ASTRA_AWARE, unknown_forms[_i].kind, 1 << 20, &time, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, unknown_forms[_i].message);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("astra-time");
    TCase *tcase = tcase_create("astra-time");
    tcase_add_test(tcase, peers_answers);
    tcase_add_test(tcase, ring_by_hand);
    tcase_add_loop_test(tcase, bad_system, 0, G_N_ELEMENTS(bad_systems));
    tcase_add_loop_test(tcase, unknown_form, 0, G_N_ELEMENTS(unknown_forms));
    suite_add_tcase(suite, tcase);
    return support_main(suite);
}
