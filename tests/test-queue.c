/* test-queue.c - jobs wait for GPUs: each policy's starts and ends worked out by hand; memory of those that run only */
#include "base/error.h"
#include "cluster/simulation.h"
#include "support.h"

#include <string.h>

enum { GPUS = 4, MOST_JOBS = 8 };

/* A job that only computes: `iterations` of so many seconds each, on so many GPUs. */
typedef struct {
    uint32_t gpus, iterations;
    int seconds, arrival_s, estimate_s, priority;
} Given;

typedef struct {
    SimTime starts[MOST_JOBS][4], end[MOST_JOBS];
    uint32_t n_starts[MOST_JOBS], n_stops[MOST_JOBS];
    uint32_t first_node[MOST_JOBS];
    GString *events;
} Seen;

static void
saw_start(void *owner, uint32_t job, SimTime start_ps, const uint32_t *nodes, uint32_t n_ranks)
{
    Seen *seen = owner;
    ck_assert_uint_lt(seen->n_starts[job], 4);
    seen->starts[job][seen->n_starts[job]++] = start_ps;
    seen->first_node[job] = nodes[0];
}

static void
saw_stop(void *owner, uint32_t job, SimTime at_ps, SimTime lost_ps)
{
    ((Seen *)owner)->n_stops[job]++;
}

static void
saw_end(void *owner, uint32_t job, SimTime end_ps, uint32_t iterations, const char *status)
{
    ((Seen *)owner)->end[job] = end_ps;
}

static void
saw_event(void *owner, SimTime at_ps, const char *kind, const char *subject, const char *text)
{
    g_string_append_printf(((Seen *)owner)->events, "%g %s %s: %s\n", (double)at_ps / 1e12, kind, subject, text);
}

static Fabric *
one_switch(void)
{
    Fabric *fabric = fabric_new();
    Node node = node_default();
    node.name = "switch";
    node.kind = NODE_LEAF;
    uint32_t hub = fabric_add_node(fabric, &node, NULL);
    for (int i = 0; i < GPUS; i++) {
        g_autofree char *name = g_strdup_printf("gpu%d", i);
        node = node_default();
        node.name = name;
        node.kind = NODE_GPU;
        Link link = link_default();
        link.src = fabric_add_node(fabric, &node, NULL);
        link.dst = hub;
        link.kind = LINK_ETHERNET;
        link.capacity_Bps = 1e9;
        link.latency_ps = 500 * PS_PER_NS;
        ck_assert_uint_ne(fabric_add_cable(fabric, &link, NULL), INDEX_NONE);
    }
    ck_assert(fabric_seal(fabric, NULL));
    return fabric;
}

static Workload *
computing(uint32_t gpus, int seconds)
{
    Workload *workload = workload_new(gpus);
    Program *program = workload_program(workload, workload_add_program(workload, FALSE));
    uint32_t stream = program_add_stream(program, "comp", TRUE);
    Op op = op_default(OP_COMPUTE);
    op.duration_ps = seconds * PS_PER_S;
    op.stream = stream;
    program_add_op(program, op, "work", NULL, 0);
    for (uint32_t r = 0; r < gpus; r++)
        workload->program_of_rank[r] = 0;
    GError *error = NULL;
    ck_assert_msg(workload_check(workload, &error), "%s", error != NULL ? error->message : "");
    return workload;
}

static void
run(const QueueSetup *queue, const Given *given, uint32_t n, gboolean memo, Seen *seen)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static const PlacementSpec packed = {.policy = PLACEMENT_PACKED};
    g_autoptr(Fabric) fabric = one_switch();
    Workload *workloads[MOST_JOBS];
    JobSetup jobs[MOST_JOBS];
    *seen = (Seen){.events = g_string_new(NULL)};
    for (uint32_t j = 0; j < n; j++) {
        workloads[j] = computing(given[j].gpus, given[j].seconds);
        jobs[j] = (JobSetup){.name = names[j],
                             .workload = workloads[j],
                             .arrival_ps = given[j].arrival_s * PS_PER_S,
                             .placement = &packed,
                             .estimate_ps = given[j].estimate_s * PS_PER_S,
                             .priority = given[j].priority,
                             .iterations = given[j].iterations,
                             .until = INDEX_NONE,
                             .scale_bytes = 1,
                             .compute_scale = 1,
                             .collectives = collective_config_default()};
    }
    SimulationSetup setup = {.model = "fluid",
                             .network = network_config_default(),
                             .seed = 1,
                             .fabric = fabric,
                             .routing = ROUTING_ECMP,
                             .jobs = jobs,
                             .n_jobs = n,
                             .only_job = INDEX_NONE,
                             .memo = memo,
                             .queue = *queue,
                             .observer = {.owner = seen,
                                          .job_started = saw_start,
                                          .job_stopped = saw_stop,
                                          .job_ended = saw_end,
                                          .event = saw_event}};
    SimulationResult result;
    g_autoptr(GError) error = NULL;
    ck_assert_msg(simulation_run(&setup, &result, &error), "%s", error ? error->message : "");
    for (uint32_t j = 0; j < n; j++) {
        ck_assert_int_eq(result.start_ps[j], seen->starts[j][0]);
        ck_assert_uint_eq(result.iterations[j], given[j].iterations);
    }
    simulation_result_clear(&result);
    for (uint32_t j = 0; j < n; j++)
        workload_free(workloads[j]);
}

/* Four GPUs. Each line: a job, then when it must first start and end, in seconds. */
static const struct {
    const char *policy;
    SimTime launch_s, restart_s, quantum_s;
    Given jobs[MOST_JOBS];
    int start_s[MOST_JOBS], end_s[MOST_JOBS], stops[MOST_JOBS];
} cases[] = {
    /* b holds up c although a GPU is free. */
    {.policy = "fifo",
     .jobs = {{3, 10, 1, 0}, {2, 5, 1, 1}, {1, 2, 1, 2}},
     .start_s = {0, 10, 10},
     .end_s = {10, 15, 12}},
    /* The launch is part of what a job holds its GPUs for. */
    {.policy = "fifo",
     .launch_s = 3,
     .jobs = {{3, 10, 1, 0}, {2, 5, 1, 1}, {1, 2, 1, 2}},
     .start_s = {0, 13, 13},
     .end_s = {13, 21, 18}},
    /* Of b and c the shorter one goes first when a ends at 10. */
    {.policy = "shortest_first",
     .jobs = {{4, 10, 1, 0, 10}, {4, 8, 1, 1, 8}, {4, 2, 1, 2, 2}},
     .start_s = {0, 12, 10},
     .end_s = {10, 20, 12}},
    /* a ends at 10, then b can start: its shadow. c would end at 12 on the GPU that b needs: not before b. d ends at 7
     * and may go. */
    {.policy = "easy_backfill",
     .jobs = {{3, 10, 1, 0, 10}, {4, 5, 1, 1, 5}, {1, 10, 1, 2, 10}, {1, 4, 1, 3, 4}},
     .start_s = {0, 10, 15, 3},
     .end_s = {10, 15, 25, 7}},
    /* b needs 3 of the 4 GPUs at 10: one is left over, and c may keep that for as long as it likes. */
    {.policy = "easy_backfill",
     .jobs = {{3, 10, 1, 0, 10}, {3, 5, 1, 1, 5}, {1, 30, 1, 2, 30}},
     .start_s = {0, 10, 2},
     .end_s = {10, 15, 32}},
    /* b comes at 3 and is more urgent: a gives way after the iteration it is in, at 4, and goes on at 9 for the
     * remaining 3 of its 5 iterations of 2 s. c waits for a. */
    {.policy = "priority",
     .jobs = {{4, 5, 2, 0, 0, 1}, {4, 5, 1, 3, 0, 2}, {2, 1, 1, 3, 0, 1}},
     .start_s = {0, 4, 15},
     .end_s = {15, 9, 16},
     .stops = {1, 0, 0}},
    /* Loading its state again takes a 2 s more. */
    {.policy = "priority",
     .launch_s = 1,
     .restart_s = 2,
     .jobs = {{4, 5, 2, 0, 0, 1}, {4, 5, 1, 3, 0, 2}},
     .start_s = {0, 5},
     .end_s = {20, 11},
     .stops = {1, 0}},
    /* Two jobs are asked to give way, the last come first: c and b, not a. At 4 their next iteration has begun. */
    {.policy = "priority",
     .jobs = {{2, 9, 1, 0}, {1, 9, 1, 0}, {1, 9, 1, 1}, {2, 3, 1, 4, 0, 1}},
     .start_s = {0, 0, 1, 5},
     .end_s = {9, 12, 13, 8},
     .stops = {0, 1, 1}},
    /* With 4 GPUs a has had its quantum of 20 GPU seconds at 5; b, which waits since 2, gets them then. a goes on when
     * b too has had 20, by arrival, at 10; b's last second comes after a has ended at 15. */
    {.policy = "least_attained_service",
     .quantum_s = 20,
     .jobs = {{4, 10, 1, 0}, {4, 6, 1, 2}},
     .start_s = {0, 6},
     .end_s = {16, 12},
     .stops = {1, 0}},
};

START_TEST(jobs_start_and_end_when_they_must)
{
    Seen seen[2];
    uint32_t n = 0;
    while (n < MOST_JOBS && cases[_i].jobs[n].gpus > 0)
        n++;
    QueueSetup queue = {.policy = queue_policy_find(cases[_i].policy),
                        .launch_ps = cases[_i].launch_s * PS_PER_S,
                        .restart_ps = cases[_i].restart_s * PS_PER_S,
                        .quantum_gpu_ps = cases[_i].quantum_s * PS_PER_S};
    for (int memo = 0; memo < 2; memo++) {
        run(&queue, cases[_i].jobs, n, memo, &seen[memo]);
        for (uint32_t j = 0; j < n; j++) {
            ck_assert_msg(seen[memo].starts[j][0] == cases[_i].start_s[j] * PS_PER_S &&
                              seen[memo].end[j] == cases[_i].end_s[j] * PS_PER_S,
                          "case %d job %u:\n%s", _i, j, seen[memo].events->str);
            ck_assert_uint_eq(seen[memo].n_stops[j], cases[_i].stops[j]);
            ck_assert_uint_eq(seen[memo].n_starts[j], cases[_i].stops[j] + 1);
        }
    }
    ck_assert_str_eq(seen[0].events->str, seen[1].events->str);
    g_string_free(seen[0].events, TRUE);
    g_string_free(seen[1].events, TRUE);
}
END_TEST

START_TEST(what_happens_is_told_in_words)
{
    Seen seen;
    QueueSetup queue = {.policy = queue_policy_find("fifo")};
    Given jobs[] = {{3, 10, 1, 0}, {2, 5, 1, 1}};
    run(&queue, jobs, 2, TRUE, &seen);
    ck_assert_str_eq(seen.events->str, "0 arrival a: 3 GPUs asked for\n"
                                       "0 start a: 3 GPUs from gpu0 on, waited 0 ps\n"
                                       "1 arrival b: 2 GPUs asked for\n"
                                       "10 end a: 10 iterations\n"
                                       "10 start b: 2 GPUs from gpu0 on, waited 9 s\n"
                                       "15 end b: 5 iterations\n");
    g_string_free(seen.events, TRUE);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("queue");
    TCase *tc = tcase_create("queue");
    tcase_add_loop_test(tc, jobs_start_and_end_when_they_must, 0, G_N_ELEMENTS(cases));
    tcase_add_test(tc, what_happens_is_told_in_words);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
