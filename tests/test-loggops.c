/* test-loggops.c - GOAL schedules run through the house: what LogGOPSim prints, and random schedules against
 * goal_time.c, which is an implementation of its own */
#include "base/error.h"
#include "base/random.h"
#include "cluster/simulation.h"
#include "support.h"
#include "workload/goal_time.h"

#include <string.h>

enum { MOST_RANKS = 1024 };

static void
saw_end(void *owner, uint32_t job, SimTime end_ps, uint32_t iterations, const char *status)
{
    *(SimTime *)owner = strcmp(status, "done") == 0 ? end_ps : -1;
}

/* A star so fast that only LogGOPS counts; host of rank r into nodes. */
static Fabric *
star(uint32_t n, uint32_t *nodes)
{
    Fabric *fabric = fabric_new();
    Node node = node_default();
    node.name = "switch";
    node.kind = NODE_LEAF;
    uint32_t hub = fabric_add_node(fabric, &node, NULL);
    for (uint32_t r = 0; r < n; r++) {
        g_autofree char *name = g_strdup_printf("gpu%u", r);
        node = node_default();
        node.name = name;
        node.kind = NODE_GPU;
        nodes[r] = fabric_add_node(fabric, &node, NULL);
        Link link = link_default();
        link.kind = LINK_ETHERNET;
        link.capacity_Bps = 1e10;
        link.src = nodes[r];
        link.dst = hub;
        fabric_add_cable(fabric, &link, NULL);
    }
    ck_assert(fabric_seal(fabric, NULL));
    return fabric;
}

/* When the job ends; -1 where it gets stuck. */
static SimTime
run(const Workload *workload, const GoalCosts *costs)
{
    static uint32_t nodes[MOST_RANKS];
    g_autoptr(Fabric) fabric = star(workload->n_ranks, nodes);
    SimTime end = -1;
    JobSetup job = {.name = "goal",
                    .workload = workload,
                    .nodes = nodes,
                    .iterations = 1,
                    .until = INDEX_NONE,
                    .scale_bytes = 1,
                    .compute_scale = 1,
                    .collectives = collective_config_default()};
    SimulationSetup setup = {.model = "analytic",
                             .network = network_config_default(),
                             .fabric = fabric,
                             .jobs = &job,
                             .n_jobs = 1,
                             .only_job = INDEX_NONE,
                             .observer = {.owner = &end, .job_ended = saw_end}};
    setup.network.loggops = costs->costs;
    setup.network.loggops.L_ps = costs->L_ps;
    SimulationResult result;
    GError *error = NULL;
    gboolean done = simulation_run(&setup, &result, &error);
    ck_assert_msg(done || error->code == TRAINSHED_ERROR_RUN, "%s", done ? "" : error->message);
    g_clear_error(&error);
    simulation_result_clear(&result);
    return done ? end : -1;
}

/* ../shared/data/goal/README.md and ../shared/data/peers/README.md, ns. */
static const struct {
    const char *file;
    SimTime end_ns;
} ends[] = {
    {"data/goal/binary_tree_32.goal", 27500},
    {"data/goal/binary_tree_32.bin", 27500},
    {"data/goal/schedgen_linear_alltoall_16r_1MiB.goal", 94454250},
    {"data/goal/schedgen_linear_alltoall_16r_1MiB.bin", 94454250},
    {"data/goal/schedgen_dissemination_16r_1MiB.goal", 25187800},
    {"data/goal/schedgen_dissemination_16r_1MiB.bin", 25187800},
    {"data/goal/schedgen_allreduce_recdoub_16r_1MiB.goal", 11840432},
    {"data/goal/schedgen_allreduce_recdoub_16r_1MiB.bin", 11840432},
    {"data/goal/schedgen_allreduce_ring_16r_1MiB.goal", 11961300},
    {"data/goal/schedgen_allreduce_ring_16r_1MiB.bin", 11961300},
    {"data/goal/htsim_comp.goal", 480013494},
    {"data/goal/htsim_comp1.goal", 8000},
    {"data/goal/htsim_incast_8_1_2MiB.goal", 960010988},
    {"data/goal/htsim_one_send.goal", 480005494},
    {"data/peers/loggopsim/dissemination_1024r_32KiB.goal.gz", 2021020},
};

START_TEST(runs_end_when_loggopsim_says)
{
    NEED_SHARED(path, ends[_i].file);
    GError *error = NULL;
    g_autoptr(GoalSchedule) schedule = goal_read(path, NULL, &error);
    ck_assert_msg(schedule != NULL, "%s", error ? error->message : "");
    g_autoptr(Workload) workload = goal_workload(schedule, path, 1, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    GoalCosts costs = goal_costs_default();
    ck_assert_int_eq(run(workload, &costs), ends[_i].end_ns * PS_PER_NS);
}
END_TEST

/* The ring of ../shared/data/peers/loggopsim/gen_ring_goal.py over 256 ranks: 103,072,020 ns. */
START_TEST(a_ring_of_256_ends_as_published)
{
    enum { N = 256 };
    g_autoptr(GoalSchedule) schedule = goal_new(N);
    for (uint32_t r = 0; r < N; r++)
        for (uint32_t k = 0; k < 2 * (N - 1); k++) {
            GoalOp pair[] = {{.kind = GOAL_SEND, .peer = (r + 1) % N, .tag = k, .size = 32768},
                             {.kind = GOAL_RECV, .peer = (r + N - 1) % N, .tag = k, .size = 32768}};
            g_array_append_vals(schedule->ops[r], pair, 2);
            GoalEdge edges[] = {{2 * k, 2 * k - 1, FALSE}, {2 * k + 1, 2 * k - 1, FALSE}};
            if (k > 0)
                g_array_append_vals(schedule->edges[r], edges, 2);
        }
    g_autoptr(Workload) workload = goal_workload(schedule, "ring", 1, NULL, NULL);
    GoalCosts costs = goal_costs_default();
    ck_assert_int_eq(run(workload, &costs), INT64_C(103072020) * PS_PER_NS);
}
END_TEST

static uint32_t
below(Random *dice, uint32_t n)
{
    return (uint32_t)random_below(dice, n);
}

/* Edges from the newest op of a rank to some before it. */
static void
random_edges(GoalSchedule *schedule, uint32_t rank, Random *dice)
{
    uint32_t op = schedule->ops[rank]->len - 1;
    for (uint32_t n = op > 0 ? below(dice, 3) : 0; n > 0; n--) {
        GoalEdge edge = {op, op - 1 - below(dice, MIN(op, 6)), below(dice, 4) == 0};
        g_array_append_val(schedule->edges[rank], edge);
    }
}

static void
add(GoalSchedule *schedule, uint32_t rank, GoalOp op, Random *dice)
{
    g_array_append_val(schedule->ops[rank], op);
    random_edges(schedule, rank, dice);
}

/* Calcs and messages on several CPUs and NICs; receives come before or after their sends, some from any rank or with
 * any tag. Some get stuck. */
static GoalSchedule *
random_schedule(Random *dice)
{
    static const uint64_t sizes[] = {0, 1, 8, 1000, 65535, 65536, 200000};
    uint32_t n = 2 + below(dice, 5), cpus = 1 + below(dice, 3), nics = 1 + below(dice, 2);
    gboolean any_source = below(dice, 4) == 0, any_tag = below(dice, 4) == 0;
    GoalSchedule *schedule = goal_new(n);
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t a = below(dice, n), b = (a + 1 + below(dice, n - 1)) % n;
        if (below(dice, 4) == 0) {
            add(schedule, a, (GoalOp){.kind = GOAL_CALC, .cpu = below(dice, cpus), .size = 500 * below(dice, 20)},
                dice);
            continue;
        }
        GoalOp send = {.kind = GOAL_SEND,
                       .peer = b,
                       .tag = below(dice, 2) * UINT64_C(98765432109),
                       .size = sizes[below(dice, G_N_ELEMENTS(sizes))],
                       .cpu = below(dice, cpus),
                       .nic = below(dice, nics)};
        GoalOp recv = send;
        recv.kind = GOAL_RECV;
        recv.peer = any_source ? GOAL_ANY : a;
        recv.tag = any_tag && below(dice, 2) ? GOAL_ANY : send.tag;
        recv.cpu = below(dice, cpus);
        gboolean posted = below(dice, 2);
        add(schedule, posted ? b : a, posted ? recv : send, dice);
        add(schedule, posted ? a : b, posted ? send : recv, dice);
    }
    return schedule;
}

START_TEST(random_schedules_end_as_in_the_other_implementation)
{
    Random dice = random_named((uint64_t)_i, "loggops");
    g_autoptr(GoalSchedule) schedule = random_schedule(&dice);
    GoalCosts costs = {.L_ps = (1 + below(&dice, 5)) * 500 * PS_PER_NS,
                       .costs = {.o_ps = below(&dice, 4) * 500 * PS_PER_NS,
                                 .g_ps = below(&dice, 4) * 500 * PS_PER_NS,
                                 .G_s_per_B = (1 + below(&dice, 6)) * 1e-9,
                                 .O_s_per_B = below(&dice, 3) * 3e-9,
                                 .S_B = below(&dice, 2) ? 65535 : 0}};
    GError *error = NULL;
    g_autoptr(Workload) workload = goal_workload(schedule, "random", 1, NULL, &error);
    ck_assert_msg(workload != NULL, "%s", error ? error->message : "");
    GoalTime time = {.end_ps = -1};
    gboolean done = goal_time(schedule, &costs, &time, &error);
    ck_assert_msg(done || strstr(error->message, "never"), "%s", error ? error->message : "");
    g_clear_error(&error);
    ck_assert_int_eq(run(workload, &costs), done ? time.end_ps : -1);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("loggops");
    TCase *cases = tcase_create("cases");
    tcase_add_loop_test(cases, runs_end_when_loggopsim_says, 0, G_N_ELEMENTS(ends));
    tcase_add_test(cases, a_ring_of_256_ends_as_published);
    tcase_add_loop_test(cases, random_schedules_end_as_in_the_other_implementation, 0, 400);
    tcase_set_timeout(cases, 30);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
