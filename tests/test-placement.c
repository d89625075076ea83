/* test-placement.c - each policy on two buildings of two servers of four GPUs, and what it refuses */
#include "base/error.h"
#include "cluster/placement.h"
#include "support.h"

#include <stdio.h>
#include <string.h>

static Fabric *
two_buildings(void)
{
    Fabric *fabric = fabric_new();
    for (int i = 0; i < 16; i++) {
        char name[32], server[8];
        snprintf(server, sizeof server, "%d", i / 4 % 2);
        snprintf(name, sizeof name, "%c/0/%s/gpu%d", i < 8 ? 'A' : 'B', server, i % 4);
        Node node = node_default();
        node.name = name;
        node.kind = NODE_GPU;
        node.building = i < 8 ? "A" : "B";
        node.zone = "0";
        node.server = server;
        node.rail = i % 4;
        ck_assert_uint_eq(fabric_add_node(fabric, &node, NULL), i);
    }
    ck_assert(fabric_seal(fabric, NULL));
    return fabric;
}

static Workload *
ranks(uint32_t n)
{
    Workload *workload = workload_new(n);
    workload_add_program(workload, FALSE);
    const char *const axes[] = {"tp", "dp"};
    const uint32_t sizes[] = {2, n / 2};
    if (n % 2 == 0)
        workload_add_mesh(workload, axes, sizes, 2);
    static const uint32_t numbered[] = {0, 2, 1, 3}; /* as a recorded trace's: "1" of ranks 0 and 2, "2" of 1 and 3 */
    if (n == 4) {
        workload_add_group(workload, "1", numbered, 2);
        workload_add_group(workload, "2", numbered + 2, 2);
    }
    return workload;
}

/* The spec owns its texts, so they are not const there. */
#define TEXT(literal) ((char *)(literal))

static char *given_twice[] = {TEXT("A/0/0/gpu0"), TEXT("A/0/0/gpu0"), NULL};
static char *given_unknown[] = {TEXT("A/0/0/gpu0"), TEXT("C/0/0/gpu0"), NULL};
static char *given[] = {TEXT("B/0/1/gpu3"), TEXT("A/0/0/gpu2"), NULL};

static PlacementRule dp_buildings[] = {{TEXT("dp"), TEXT("building"), NULL}};
static PlacementRule dp_twice[] = {{TEXT("dp"), TEXT("building"), NULL}, {TEXT("dp"), TEXT("server"), NULL}};
static PlacementRule dp_servers[] = {
    {TEXT("dp"), TEXT("server"), NULL}, {TEXT("tp"), NULL, TEXT("server")}, {TEXT("dp"), NULL, TEXT("rail")}};
static PlacementRule dp_inside[] = {{TEXT("dp"), NULL, TEXT("server")}};
static PlacementRule tp_servers[] = {{TEXT("tp"), TEXT("server"), NULL}, {TEXT("dp"), NULL, TEXT("rail")}};
static PlacementRule pp_buildings[] = {{TEXT("pp"), TEXT("building"), NULL}};
#define MAP(list)                                                                                                      \
    {                                                                                                                  \
        .policy = PLACEMENT_MAP, .rules = (list), .n_rules = G_N_ELEMENTS(list)                                        \
    }

static const struct {
    PlacementSpec spec;
    uint32_t ranks;
    uint32_t nodes[8];
    const char *error;
} cases[] = {
    {{.policy = PLACEMENT_PACKED}, 4, {0, 1, 2, 3}, NULL},
    {{.policy = PLACEMENT_SPREAD, .over = TEXT("building")}, 8, {0, 1, 2, 3, 8, 9, 10, 11}, NULL},
    {{.policy = PLACEMENT_SPREAD}, 4, {0, 4, 8, 12}, NULL},
    {{.policy = PLACEMENT_SPREAD, .over = TEXT("building")}, 1, {0}, NULL},
    {{.policy = PLACEMENT_BUILDING, .over = TEXT("B")}, 4, {8, 9, 10, 11}, NULL},
    {{.policy = PLACEMENT_BUILDING}, 2, {0, 1}, NULL},
    {{.policy = PLACEMENT_RAIL}, 6, {0, 1, 2, 3, 4, 5}, NULL},
    {{.policy = PLACEMENT_AXIS, .axis = TEXT("tp"), .over = TEXT("building")}, 4, {0, 8, 1, 9}, NULL},
    {{.policy = PLACEMENT_AXIS, .axis = TEXT("dp"), .over = TEXT("building")}, 4, {0, 1, 8, 9}, NULL},
    {{.policy = PLACEMENT_AXIS, .axis = TEXT("1 2"), .over = TEXT("building")}, 4, {0, 1, 8, 9}, NULL},
    {{.policy = PLACEMENT_AXIS, .axis = TEXT("1"), .over = TEXT("building")},
     4,
     {0},
     "policy axis: rank 1 is in no group of axis \"1\""},
    {{.policy = PLACEMENT_AXIS, .axis = TEXT("1 3"), .over = TEXT("building")},
     4,
     {0},
     "policy axis: the job has no axis \"3\""},
    {{.policy = PLACEMENT_GIVEN, .gpus = given}, 2, {15, 2}, NULL},
    {{.policy = PLACEMENT_GIVEN, .gpus = given_twice},
     2,
     {0},
     "placement.gpus[1]: \"A/0/0/gpu0\" (gpu) is not a free GPU"},
    {{.policy = PLACEMENT_GIVEN, .gpus = given_unknown},
     2,
     {0},
     "placement.gpus[1]: the fabric has no node \"C/0/0/gpu0\""},
    {{.policy = PLACEMENT_GIVEN, .gpus = given}, 3, {0}, "placement.gpus: 2 nodes given for 3 ranks"},
    {{.policy = PLACEMENT_PACKED}, 17, {0}, "17 asked for, the fabric has 16 free"},
    {{.policy = PLACEMENT_BUILDING, .over = TEXT("B")}, 9, {0}, "9 asked for, building B has 8 free"},
    {{.policy = PLACEMENT_BUILDING}, 9, {0}, "9 asked for in one building, the one with most room has 8 free"},
    {{.policy = PLACEMENT_BUILDING, .over = TEXT("C")}, 1, {0}, "there is no building \"C\" with a free GPU"},
    {{.policy = PLACEMENT_AXIS, .axis = TEXT("pp"), .over = TEXT("building")},
     4,
     {0},
     "policy axis: the job has no axis \"pp\""},
    /* tp pairs 0 1, 2 3, 4 5, 6 7 */
    {MAP(dp_buildings), 8, {0, 1, 2, 3, 8, 9, 10, 11}, NULL},
    {MAP(dp_twice), 8, {0, 1, 4, 5, 8, 9, 12, 13}, NULL},
    {MAP(dp_servers), 8, {0, 1, 4, 5, 8, 9, 12, 13}, NULL},
    {MAP(dp_inside), 8, {0, 4, 1, 5, 2, 6, 3, 7}, NULL},
    {MAP(tp_servers), 8, {0}, "dp inside a rail: of its 4 ranks, rank 0 comes to rail 0 and rank 2 to rail 1"},
    {MAP(tp_servers), 12, {0}, "6 asked for in server A/0/0, which has 4 free"},
    {MAP(pp_buildings), 8, {0}, "policy map: the job has no axis \"pp\" of more than one rank"},
};

START_TEST(policies)
{
    g_autoptr(Fabric) fabric = two_buildings();
    g_autoptr(Workload) workload = ranks(cases[_i].ranks);
    g_autoptr(GError) error = NULL;
    gboolean taken[16] = {FALSE};
    uint32_t nodes[32], n_taken = 0;
    gboolean placed = placement_choose(&cases[_i].spec, fabric, workload, "job", 1, taken, nodes, &error);
    for (int i = 0; i < 16; i++)
        n_taken += taken[i] ? 1 : 0;
    if (cases[_i].error != NULL) {
        ck_assert_msg(!placed, "case %d was accepted", _i);
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, cases[_i].error);
        ck_assert_uint_eq(n_taken, 0);
        return;
    }
    ck_assert_msg(placed, "case %d: %s", _i, placed ? "" : error->message);
    ck_assert_uint_eq(n_taken, cases[_i].ranks);
    for (uint32_t r = 0; r < cases[_i].ranks; r++)
        ck_assert_msg(nodes[r] == cases[_i].nodes[r], "case %d rank %u: %u", _i, r, nodes[r]);
}
END_TEST

/* GPU 0 is another job's: server A/0/0 and building A are shared with it. */
START_TEST(reserved_units_hold_nobody_else)
{
    static const struct {
        const char *over;
        uint32_t ranks, first;
        const char *error;
    } tries[] = {
        {NULL, 4, 4, NULL},
        {"server", 6, 4, NULL},
        {"building", 8, 8, NULL},
        {"building", 9, 0, "9 asked for in buildings without another job, which have 8 free"},
    };
    g_autoptr(Fabric) fabric = two_buildings();
    g_autoptr(Workload) workload = ranks(tries[_i].ranks);
    g_autoptr(GError) error = NULL;
    gboolean taken[16] = {TRUE};
    uint32_t nodes[16];
    PlacementSpec spec = {.policy = PLACEMENT_RESERVED, .over = (char *)(uintptr_t)tries[_i].over};
    gboolean placed = placement_choose(&spec, fabric, workload, "job", 1, taken, nodes, &error);
    ck_assert_int_eq(placed, tries[_i].error == NULL);
    if (!placed)
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, tries[_i].error);
    for (uint32_t r = 0; placed && r < tries[_i].ranks; r++)
        ck_assert_uint_eq(nodes[r], tries[_i].first + r);
}
END_TEST

START_TEST(random_placement_depends_on_seed_and_job_alone)
{
    g_autoptr(Fabric) fabric = two_buildings();
    g_autoptr(Workload) workload = ranks(8);
    PlacementSpec spec = {.policy = PLACEMENT_RANDOM};
    uint32_t first[8], again[8], other[8];
    gboolean a[16] = {FALSE}, b[16] = {FALSE}, c[16] = {FALSE};
    ck_assert(placement_choose(&spec, fabric, workload, "job", 5, a, first, NULL));
    ck_assert(placement_choose(&spec, fabric, workload, "job", 5, b, again, NULL));
    ck_assert(placement_choose(&spec, fabric, workload, "other", 5, c, other, NULL));
    ck_assert_mem_eq(first, again, sizeof first);
    ck_assert_mem_ne(first, other, sizeof first);
    for (uint32_t i = 0; i < 8; i++)
        for (uint32_t k = 0; k < i; k++)
            ck_assert_uint_ne(first[i], first[k]);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("placement");
    TCase *tc = tcase_create("placement");
    tcase_add_loop_test(tc, policies, 0, G_N_ELEMENTS(cases));
    tcase_add_loop_test(tc, reserved_units_hold_nobody_else, 0, 4);
    tcase_add_test(tc, random_placement_depends_on_seed_and_job_alone);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
