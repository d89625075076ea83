/* What the sends of a plan carry: whose data has come to whom when all is done, for any number of members. */
#include "support.h"

#include "collective/algorithm.h"
#include "collective_world.h"

#include <inttypes.h>
#include <string.h>

enum { MOST = 40 }; /* members: a set of them is a uint64_t */

/* Bit m: the data of member m is in what node i sends, as far as the plan makes it wait for that. Nodes come after what
 * they wait for. */
static uint64_t *
carried(const Schedule *schedule)
{
    uint64_t *sets = g_new0(uint64_t, schedule->n);
    for (uint32_t i = 0; i < schedule->n; i++) {
        const ScheduleNode *node = &schedule->nodes[i];
        sets[i] |= UINT64_C(1) << node->src;
        for (uint32_t e = schedule->sent.first[i]; e < schedule->sent.first[i + 1]; e++) {
            uint32_t next = schedule->sent.to[e];
            ck_assert_uint_gt(next, i);
            ck_assert_uint_eq(schedule->nodes[next].src, node->src);
            sets[next] |= sets[i];
        }
        for (uint32_t e = schedule->delivered.first[i]; e < schedule->delivered.first[i + 1]; e++) {
            uint32_t next = schedule->delivered.to[e];
            ck_assert_uint_gt(next, i);
            if (schedule->nodes[next].src == node->dst) /* else it only waits */
                sets[next] |= sets[i];
        }
    }
    return sets;
}

static Plan *
plan_of(const char *name, CollectiveKind kind, uint32_t n, uint64_t bytes, uint64_t slice_B, uint32_t root)
{
    g_autoptr(Fabric) fabric = world_switch(n, 1000, 1e9);
    uint32_t nodes[MOST];
    for (uint32_t i = 0; i < n; i++)
        nodes[i] = fabric_gpus(fabric, &(uint32_t){0})[i];
    CollectiveSpec spec = {.kind = kind, .n = n, .ranks = nodes, .nodes = nodes, .root = root, .bytes = bytes};
    g_autoptr(Layout) layout = layout_new(fabric, nodes, n, 1);
    uint64_t cut[2];
    layout_cut(layout, bytes, NULL, cut);
    GError *error = NULL;
    const CollectiveAlgorithm *algorithm = algorithm_find(name, &spec, &error);
    PlanRequest request = {algorithm, &spec, layout, cut, FALSE, slice_B};
    Plan *plan = plan_new(algorithm, &request, &error);
    ck_assert_msg(plan != NULL && plan->schedule != NULL, "%s, %u: %s", name, n, error != NULL ? error->message : "");
    return plan;
}

static const struct {
    const char *name;
    CollectiveKind kind;
} to_all[] = {
    {"binomial", COLLECTIVE_ALL_REDUCE},
    {"halving_doubling", COLLECTIVE_ALL_REDUCE},
    {"recursive_doubling", COLLECTIVE_ALL_REDUCE},
    {"tree", COLLECTIVE_ALL_REDUCE},
    {"double_tree", COLLECTIVE_ALL_REDUCE},
    {"bruck", COLLECTIVE_ALL_GATHER},
    {"bruck", COLLECTIVE_ALL_TO_ALL},
};

START_TEST(data_of_all_comes_to_all)
{
    for (uint32_t n = 2; n <= MOST; n++) {
        g_autoptr(Plan) plan = plan_of(to_all[_i].name, to_all[_i].kind, n, 1000003, 300000, 0);
        g_autofree uint64_t *sets = carried(plan->schedule);
        uint64_t has[MOST];
        for (uint32_t m = 0; m < n; m++)
            has[m] = UINT64_C(1) << m;
        for (uint32_t i = 0; i < plan->schedule->n; i++)
            has[plan->schedule->nodes[i].dst] |= sets[i];
        for (uint32_t m = 0; m < n; m++)
            ck_assert_msg(has[m] == (UINT64_C(1) << n) - 1, "%s, %u members: member %u has the data of %" PRIx64,
                          to_all[_i].name, n, m, has[m]);
    }
}
END_TEST

/* Of every chunk: what comes down has been reduced over all, once; every member sends each chunk of a tree up once, but
 * the root, and each member gets it once. */
START_TEST(a_tree_reduces_each_chunk_over_all_before_it_comes_down)
{
    const char *name = _i == 0 ? "tree" : "double_tree";
    for (uint32_t n = 2; n <= MOST; n++) {
        g_autoptr(Plan) plan = plan_of(name, COLLECTIVE_ALL_REDUCE, n, 1000003, 100000, 0);
        g_autofree uint64_t *sets = carried(plan->schedule);
        uint64_t up[MOST] = {0}, down[MOST] = {0};
        for (uint32_t i = 0; i < plan->schedule->n; i++) {
            const ScheduleNode *node = &plan->schedule->nodes[i];
            if (node->reduce_B > 0) {
                ck_assert_uint_eq(node->reduce_B, node->bytes);
                up[node->src] += node->bytes;
                continue;
            }
            ck_assert_msg(sets[i] == (UINT64_C(1) << n) - 1, "%s, %u members: send %u has the data of %" PRIx64, name,
                          n, i, sets[i]);
            down[node->dst] += node->bytes;
        }
        uint64_t ups = 0, downs = 0, inner_twice = 0;
        for (uint32_t m = 0; m < n; m++) {
            ups += up[m];
            downs += down[m];
            ck_assert_uint_eq(up[m], down[m]);
            inner_twice += up[m] < 1000003;
        }
        ck_assert_uint_eq(ups, (uint64_t)(n - 1) * 1000003);
        ck_assert_uint_eq(downs, ups);
        ck_assert_uint_eq(inner_twice, _i == 0 ? 1 : 2); /* the roots */
    }
}
END_TEST

/* Leaves of one tree are inner in the other: nobody has children in both, but a root of an odd number. */
START_TEST(two_trees_have_different_leaves)
{
    for (uint32_t n = 4; n <= MOST; n++) {
        g_autoptr(Plan) plan = plan_of("double_tree", COLLECTIVE_ALL_REDUCE, n, 1000000, 0, 0);
        uint32_t half = plan->schedule->n / 2, both = 0;
        gboolean inner[2][MOST] = {{FALSE}};
        for (uint32_t i = 0; i < plan->schedule->n; i++)
            if (plan->schedule->nodes[i].reduce_B > 0)
                inner[i >= half][plan->schedule->nodes[i].dst] = TRUE;
        for (uint32_t m = 0; m < n; m++)
            both += inner[0][m] && inner[1][m];
        ck_assert_uint_le(both, n % 2);
    }
}
END_TEST

/* Along a chain every chunk is the root's, and comes to everybody in order of the chain. */
START_TEST(a_chain_brings_the_roots_chunks_to_all)
{
    for (uint32_t n = 2; n <= MOST; n++) {
        uint32_t root = n / 2, n_chunks = 7;
        g_autoptr(Plan) plan = plan_of("chain", COLLECTIVE_BROADCAST, n, 700, 100, root);
        g_autofree uint64_t *sets = carried(plan->schedule);
        uint64_t got[MOST] = {0};
        ck_assert_uint_eq(plan->schedule->n, n_chunks * (n - 1));
        for (uint32_t i = 0; i < plan->schedule->n; i++) {
            ck_assert(sets[i] >> root & 1);
            got[plan->schedule->nodes[i].dst] += plan->schedule->nodes[i].bytes;
        }
        for (uint32_t m = 0; m < n; m++)
            ck_assert_uint_eq(got[m], m == root ? 0 : 700);
    }
}
END_TEST

/* Bruck: rank i sends in round r what is on its way with bit r of the distance; together every block of every pair once
 * for each bit. Sizes that do not divide are counted block by block. */
START_TEST(bruck_moves_every_block_once_for_each_bit)
{
    for (uint32_t n = 2; n <= MOST; n++)
        for (uint64_t bytes = 1000; bytes <= 1001; bytes++) {
            g_autoptr(Plan) plan = plan_of("bruck", COLLECTIVE_ALL_TO_ALL, n, bytes, 0, 0);
            uint64_t moved = 0, expected = 0, each = bytes / n;
            for (uint32_t i = 0; i < plan->schedule->n; i++)
                moved += plan->schedule->nodes[i].bytes;
            for (uint32_t src = 0; src < n; src++)
                for (uint32_t j = 1; j < n; j++) {
                    uint64_t block = (src + j) % n == n - 1 ? bytes - each * (n - 1) : each;
                    expected += block * (uint64_t)__builtin_popcount(j);
                }
            ck_assert_uint_eq(moved, expected);
        }
}
END_TEST

static const struct {
    const char *name;
    CollectiveSpec spec;
    uint64_t slice_B;
    const char *message;
} refused[] = {
    {"bruck",
     {.kind = COLLECTIVE_ALL_TO_ALL, .n = 5000, .bytes = 5001},
     0,
     "bruck among more than 4096 ranks is for sizes that they divide; 5001 B among 5000 leave 1 B"},
    {"chain",
     {.kind = COLLECTIVE_BROADCAST, .n = 4, .bytes = UINT64_C(1) << 40},
     1024,
     "chain: 1073741824 chunks of 1024 B for 4 ranks are more than 8388608 sends; give a larger slice"},
    {"tree",
     {.kind = COLLECTIVE_ALL_REDUCE, .n = 4, .bytes = UINT64_C(1) << 40},
     1024,
     "tree: 1073741824 chunks of 1024 B for 4 ranks are more than 8388608 sends; give a larger slice"},
};

START_TEST(what_takes_too_many_sends_is_refused)
{
    uint32_t n = refused[_i].spec.n;
    g_autoptr(Fabric) fabric = world_switch(n, 1000, 1e9);
    CollectiveSpec spec = refused[_i].spec;
    spec.ranks = spec.nodes = fabric_gpus(fabric, &n);
    g_autoptr(Layout) layout = layout_new(fabric, spec.nodes, n, 1);
    uint64_t cut[2];
    layout_cut(layout, spec.bytes, NULL, cut);
    g_autoptr(GError) error = NULL;
    const CollectiveAlgorithm *algorithm = algorithm_find(refused[_i].name, &spec, NULL);
    PlanRequest request = {algorithm, &spec, layout, cut, FALSE, refused[_i].slice_B};
    g_autoptr(Plan) plan = plan_new(algorithm, &request, &error);
    ck_assert_ptr_null(plan);
    ck_assert_str_eq(error->message, refused[_i].message);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("plans");
    TCase *cases = tcase_create("plans");
    tcase_add_loop_test(cases, data_of_all_comes_to_all, 0, G_N_ELEMENTS(to_all));
    tcase_add_loop_test(cases, a_tree_reduces_each_chunk_over_all_before_it_comes_down, 0, 2);
    tcase_add_test(cases, two_trees_have_different_leaves);
    tcase_add_test(cases, a_chain_brings_the_roots_chunks_to_all);
    tcase_add_test(cases, bruck_moves_every_block_once_for_each_bit);
    tcase_add_loop_test(cases, what_takes_too_many_sends_is_refused, 0, G_N_ELEMENTS(refused));
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
