/* test-simulation.c - jobs run to their ends: times worked out by hand, accounts, messages, deadlocks */
#include "base/error.h"
#include "cluster/simulation.h"
#include "support.h"

#include <string.h>

enum { GPUS = 4 };

/* What a run told. */
typedef struct {
    IterationRecord iterations[64];
    uint32_t n_iterations;
    CollectiveRecord collectives[64];
    uint32_t n_collectives;
    SimTime job_start[4], job_end[4];
    char status[4][16];
} Seen;

static void
saw_iteration(void *owner, const IterationRecord *iteration)
{
    Seen *seen = owner;
    ck_assert_uint_lt(seen->n_iterations, G_N_ELEMENTS(seen->iterations));
    seen->iterations[seen->n_iterations++] = *iteration;
}

static void
saw_collective(void *owner, const CollectiveRecord *collective)
{
    Seen *seen = owner;
    ck_assert_uint_lt(seen->n_collectives, G_N_ELEMENTS(seen->collectives));
    seen->collectives[seen->n_collectives++] = *collective;
}

static void
saw_start(void *owner, uint32_t job, SimTime start_ps, const uint32_t *nodes, uint32_t n_ranks)
{
    ((Seen *)owner)->job_start[job] = start_ps;
}

static void
saw_end(void *owner, uint32_t job, SimTime end_ps, uint32_t iterations, const char *status)
{
    ((Seen *)owner)->job_end[job] = end_ps;
    g_strlcpy(((Seen *)owner)->status[job], status, sizeof((Seen *)owner)->status[job]);
}

/* Four GPUs on one switch: 1 GB/s a link, 0.5 us a link. */
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
        node.peak_FLOPps = i < 3 ? 1e12 : 0;
        node.memory_bandwidth_Bps = i < 3 ? 1e11 : 0;
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

static const uint32_t first_two[] = {1, 2}, last_two[] = {3, 4};

static JobSetup
job(const char *name, const Workload *workload, const uint32_t *nodes)
{
    return (JobSetup){.name = name,
                      .workload = workload,
                      .nodes = nodes,
                      .iterations = 1,
                      .until = INDEX_NONE,
                      .scale_bytes = 1,
                      .compute_scale = 1,
                      .collectives = collective_config_default()};
}

static gboolean
run_on(const Fabric *fabric, const char *model, const JobSetup *jobs, uint32_t n_jobs, uint32_t only, gboolean common,
       Seen *seen, GError **error)
{
    *seen = (Seen){0};
    SimulationSetup setup = {.model = model,
                             .network = network_config_default(),
                             .seed = 1,
                             .fabric = fabric,
                             .routing = ROUTING_ECMP,
                             .jobs = jobs,
                             .n_jobs = n_jobs,
                             .only_job = only,
                             .common = common,
                             .collectives_alone = TRUE,
                             .observer = {.owner = seen,
                                          .job_started = saw_start,
                                          .iteration = saw_iteration,
                                          .collective = saw_collective,
                                          .job_ended = saw_end}};
    SimulationResult result;
    gboolean done = simulation_run(&setup, &result, error);
    simulation_result_clear(&result);
    return done;
}

static gboolean
run(const char *model, const JobSetup *jobs, uint32_t n_jobs, Seen *seen, GError **error)
{
    g_autoptr(Fabric) fabric = one_switch();
    return run_on(fabric, model, jobs, n_jobs, INDEX_NONE, FALSE, seen, error);
}

static uint32_t
add_op(Program *program, Op op, uint32_t stream, const uint32_t *dep)
{
    op.stream = stream;
    return program_add_op(program, op, op_kind_name(op.kind), dep, dep ? 1 : 0);
}

static Op
compute(SimTime duration)
{
    Op op = op_default(OP_COMPUTE);
    op.duration_ps = duration;
    return op;
}

static Op
all_reduce(uint32_t group, uint64_t bytes, SimTime duration)
{
    Op op = op_default(OP_COLLECTIVE);
    op.collective = COLLECTIVE_ALL_REDUCE;
    op.group = group;
    op.bytes = bytes;
    op.duration_ps = duration;
    return op;
}

static Op
message(OpKind kind, int32_t peer, uint64_t bytes)
{
    Op op = op_default(kind);
    op.peer_form = peer < 0 ? PEER_ANY : PEER_RANK;
    op.peer = peer;
    op.bytes = bytes;
    return op;
}

/* Ranks compute 10 us and 30 us, then an all-reduce recorded with 5 us: the iteration takes 35 us. Rank 0 computes 10,
 * waits 20, transfers 5; rank 1 computes 30, transfers 5. Means: 20, 10, 5, 0. */
static Workload *
uneven_pair(void)
{
    static const uint32_t both[] = {0, 1};
    Workload *workload = workload_new(2);
    uint32_t group = workload_add_group(workload, "dp", both, 2);
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t p = workload_add_program(workload, FALSE);
        Program *program = workload_program(workload, p);
        uint32_t comp = program_add_stream(program, "comp", TRUE), comm = program_add_stream(program, "comm", TRUE);
        uint32_t op = add_op(program, compute((r ? 30 : 10) * PS_PER_US), comp, NULL);
        add_op(program, all_reduce(group, 1000000, 5 * PS_PER_US), comm, &op);
        workload->program_of_rank[r] = p;
    }
    g_autoptr(GError) error = NULL;
    ck_assert_msg(workload_check(workload, &error), "%s", error ? error->message : "");
    return workload;
}

START_TEST(every_instant_is_one_of_four)
{
    g_autoptr(Workload) workload = uneven_pair();
    JobSetup jobs[] = {job("a", workload, first_two)};
    jobs[0].iterations = 3;
    jobs[0].warmup = 1;
    Seen seen;
    ck_assert(run("recorded", jobs, 1, &seen, NULL));
    ck_assert_uint_eq(seen.n_iterations, 3);
    for (uint32_t i = 0; i < 3; i++) {
        const IterationRecord *iteration = &seen.iterations[i];
        ck_assert_int_eq(iteration->start_ps, i * 35 * PS_PER_US);
        ck_assert_int_eq(iteration->end_ps, (i + 1) * 35 * PS_PER_US);
        ck_assert_int_eq(iteration->compute_ps, 20 * PS_PER_US);
        ck_assert_int_eq(iteration->exposed_wait_ps, 10 * PS_PER_US);
        ck_assert_int_eq(iteration->exposed_transfer_ps, 5 * PS_PER_US);
        ck_assert_int_eq(iteration->idle_ps, 0);
        ck_assert_int_eq(iteration->counted, i > 0);
        ck_assert_int_eq(seen.collectives[i].first_ps, iteration->start_ps + 10 * PS_PER_US);
        ck_assert_int_eq(seen.collectives[i].ready_ps, iteration->start_ps + 30 * PS_PER_US);
        ck_assert_int_eq(seen.collectives[i].end_ps, iteration->end_ps);
    }
    ck_assert_int_eq(seen.job_end[0], 105 * PS_PER_US);
    ck_assert_str_eq(seen.status[0], "done");
}
END_TEST

/* Ring over two ranks: 2 (n - 1) (a + S / (n B)) with a = 1 us, B = 1 GB/s, S = 1 MB, n = 2: 2 (1 + 500) us. Slices
 * off. */
START_TEST(a_collective_runs_on_the_network)
{
    g_autoptr(Workload) workload = uneven_pair();
    JobSetup jobs[] = {job("a", workload, first_two)};
    jobs[0].collectives.slice_B = 0;
    Seen seen;
    ck_assert(run("fluid", jobs, 1, &seen, NULL));
    ck_assert_uint_eq(seen.n_collectives, 1);
    ck_assert_int_eq(seen.collectives[0].ready_ps, 30 * PS_PER_US);
    /* Rank 0 sends its first chunk from 10 us on; rank 1's from 30 us decides. */
    ck_assert_int_eq(seen.collectives[0].end_ps, (30 + 1002) * PS_PER_US);
    ck_assert_int_eq(seen.collectives[0].alone_ps, 1002 * PS_PER_US);
    ck_assert_str_eq(seen.collectives[0].algorithm, "ring");
    jobs[0].scale_bytes = 3;
    jobs[0].compute_scale = 0.5;
    ck_assert(run("fluid", jobs, 1, &seen, NULL));
    ck_assert_uint_eq(seen.collectives[0].bytes, 3000000);
    ck_assert_int_eq(seen.collectives[0].ready_ps, 15 * PS_PER_US);
    ck_assert_int_eq(seen.collectives[0].end_ps, (15 + 3002) * PS_PER_US);
}
END_TEST

START_TEST(recorded_offsets_apply_to_the_first_iteration_only)
{
    g_autoptr(Workload) workload = uneven_pair();
    workload->start_ps = g_new0(SimTime, 2);
    workload->start_ps[1] = 100 * PS_PER_US;
    JobSetup jobs[] = {job("a", workload, first_two)};
    jobs[0].iterations = 2;
    jobs[0].arrival_ps = 7 * PS_PER_US;
    Seen seen;
    ck_assert(run("recorded", jobs, 1, &seen, NULL));
    ck_assert_int_eq(seen.iterations[0].start_ps, 7 * PS_PER_US);
    ck_assert_int_eq(seen.iterations[0].end_ps, 142 * PS_PER_US);
    ck_assert_int_eq(seen.iterations[1].start_ps, 142 * PS_PER_US);
    ck_assert_int_eq(seen.iterations[1].end_ps, 177 * PS_PER_US);
    jobs[0].start_together = TRUE;
    ck_assert(run("recorded", jobs, 1, &seen, NULL));
    ck_assert_int_eq(seen.iterations[0].end_ps, 42 * PS_PER_US);
}
END_TEST

/* Rank 0 sends 1 MB (1 ms at 1 GB/s) and rank 1 receives it 1 us of path later; a receive from any takes it as well. */
static Workload *
message_pair(int32_t receive_from, SimTime receiver_computes)
{
    Workload *workload = workload_new(2);
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t p = workload_add_program(workload, FALSE);
        Program *program = workload_program(workload, p);
        uint32_t s = program_add_stream(program, "s", TRUE);
        if (r == 1 && receiver_computes > 0)
            add_op(program, compute(receiver_computes), s, NULL);
        add_op(program, r == 0 ? message(OP_SEND, 1, 1000000) : message(OP_RECV, receive_from, 1000000), s, NULL);
        workload->program_of_rank[r] = p;
    }
    return workload;
}

static const struct {
    int32_t from;
    SimTime computes_us, end_us;
} messages[] = {{0, 0, 1001}, {-1, 0, 1001}, {0, 600, 1001}, {-1, 5000, 5000}};

START_TEST(a_message_arrives_a_path_after_it_left)
{
    g_autoptr(Workload) workload = message_pair(messages[_i].from, messages[_i].computes_us * PS_PER_US);
    JobSetup jobs[] = {job("a", workload, first_two)};
    Seen seen;
    ck_assert(run("fluid", jobs, 1, &seen, NULL));
    const IterationRecord *iteration = &seen.iterations[0];
    ck_assert_int_eq(iteration->end_ps, messages[_i].end_us * PS_PER_US);
    /* Rank 0's iteration is its send, 1000 us in flight; rank 1 computes, then is in flight for the rest. */
    SimTime computes = messages[_i].computes_us * PS_PER_US;
    ck_assert_int_eq(iteration->compute_ps, computes / 2);
    ck_assert_int_eq(iteration->exposed_wait_ps, 0);
    ck_assert_int_eq(iteration->exposed_transfer_ps, (1000 * PS_PER_US + iteration->end_ps - computes) / 2);
}
END_TEST

START_TEST(a_deadlock_names_who_waits_for_what)
{
    g_autoptr(Workload) workload = workload_new(2);
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t p = workload_add_program(workload, FALSE);
        Program *program = workload_program(workload, p);
        add_op(program, message(OP_RECV, (int32_t)(1 - r), 1), program_add_stream(program, "s", TRUE), NULL);
        workload->program_of_rank[r] = p;
    }
    JobSetup jobs[] = {job("stuck", workload, first_two)};
    Seen seen;
    g_autoptr(GError) error = NULL;
    ck_assert(!run("fluid", jobs, 1, &seen, &error));
    ck_assert_str_eq(seen.status[0], "failed");
    ck_assert_int_eq(seen.job_end[0], -1);
    support_expect_error(&error, TRAINSHED_ERROR_RUN,
                         "no event is left, but 2 ranks are not done (0 transfers in flight):\n"
                         "  job stuck: rank 0 waits in \"recv\", iteration 0, for a message from rank 1\n"
                         "  job stuck: rank 1 waits in \"recv\", iteration 0, for a message from rank 0");
}
END_TEST

START_TEST(a_missing_member_is_named)
{
    static const uint32_t both[] = {0, 1};
    g_autoptr(Workload) workload = workload_new(2);
    uint32_t group = workload_add_group(workload, "dp", both, 2);
    for (uint32_t r = 0; r < 2; r++) {
        uint32_t p = workload_add_program(workload, FALSE);
        Program *program = workload_program(workload, p);
        uint32_t s = program_add_stream(program, "s", TRUE);
        add_op(program, r == 0 ? all_reduce(group, 8, -1) : compute(5), s, NULL);
        workload->program_of_rank[r] = p;
    }
    JobSetup jobs[] = {job("stuck", workload, first_two)};
    Seen seen;
    g_autoptr(GError) error = NULL;
    ck_assert(!run("fluid", jobs, 1, &seen, &error));
    support_expect_error(&error, TRAINSHED_ERROR_RUN,
                         "job stuck: all_reduce number 0 of group dp, iteration 0, waits for rank 1");
}
END_TEST

START_TEST(compute_takes_the_longer_of_operations_and_bytes)
{
    g_autoptr(Workload) workload = workload_new(1);
    Program *program = workload_program(workload, workload_add_program(workload, FALSE));
    workload->program_of_rank[0] = 0;
    uint32_t s = program_add_stream(program, "s", TRUE);
    Op op = op_default(OP_COMPUTE);
    op.flops = 2e9;       /* 2 ms at 1 TFLOP/s */
    op.bytes_moved = 3e8; /* 3 ms at 100 GB/s */
    add_op(program, op, s, NULL);
    op.bytes_moved = 1e8;
    add_op(program, op, s, NULL);
    JobSetup jobs[] = {job("a", workload, first_two)};
    Seen seen;
    ck_assert(run("fluid", jobs, 1, &seen, NULL));
    ck_assert_int_eq(seen.job_end[0], 5 * PS_PER_MS);
    jobs[0].peak_FLOPps = 5e11; /* the job's own figure comes first: 4 ms and 4 ms */
    ck_assert(run("fluid", jobs, 1, &seen, NULL));
    ck_assert_int_eq(seen.job_end[0], 8 * PS_PER_MS);
    static const uint32_t bare[] = {4};
    jobs[0] = job("a", workload, bare);
    g_autoptr(GError) error = NULL;
    ck_assert(!run("fluid", jobs, 1, &seen, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "job a: op \"compute\" has no recorded time and its GPU \"gpu3\" no peak");
}
END_TEST

START_TEST(the_recorded_model_needs_recorded_times)
{
    static const uint32_t both[] = {0, 1};
    g_autoptr(Workload) workload = workload_new(2);
    uint32_t group = workload_add_group(workload, "dp", both, 2), p = workload_add_program(workload, FALSE);
    Program *program = workload_program(workload, p);
    add_op(program, all_reduce(group, 8, -1), program_add_stream(program, "s", TRUE), NULL);
    workload->program_of_rank[0] = workload->program_of_rank[1] = p;
    JobSetup jobs[] = {job("a", workload, first_two)};
    Seen seen;
    g_autoptr(GError) error = NULL;
    ck_assert(!run("recorded", jobs, 1, &seen, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "job a: collective \"collective\" has no recorded time, which the model recorded needs");
}
END_TEST

static Workload *
lone(SimTime duration)
{
    Workload *workload = workload_new(1);
    Program *program = workload_program(workload, workload_add_program(workload, FALSE));
    workload->program_of_rank[0] = 0;
    add_op(program, compute(duration), program_add_stream(program, "s", TRUE), NULL);
    return workload;
}

/* a: 5 iterations of 10 us from 0 on. b: iterations of 4.5 us from 6 us on until a has ended, at 50 us: the last one to
 * begin before that is number 9, at 46.5 us; it ends at 51 us. */
START_TEST(until_runs_on_as_long_as_the_other)
{
    g_autoptr(Workload) long_one = lone(10 * PS_PER_US);
    g_autoptr(Workload) short_one = lone(4500 * PS_PER_NS);
    JobSetup jobs[] = {job("a", long_one, first_two), job("b", short_one, last_two)};
    jobs[0].iterations = 5;
    jobs[1].iterations = 0;
    jobs[1].until = 0;
    jobs[1].arrival_ps = 6 * PS_PER_US;
    Seen seen;
    g_autoptr(Fabric) fabric = one_switch();
    ck_assert(run_on(fabric, "fluid", jobs, 2, INDEX_NONE, TRUE, &seen, NULL));
    ck_assert_int_eq(seen.job_end[0], 50 * PS_PER_US);
    ck_assert_int_eq(seen.job_end[1], 51 * PS_PER_US);
    uint32_t counted[2] = {0}, all[2] = {0};
    for (uint32_t i = 0; i < seen.n_iterations; i++) {
        counted[seen.iterations[i].job] += seen.iterations[i].counted ? 1 : 0;
        all[seen.iterations[i].job]++;
    }
    ck_assert_uint_eq(all[0], 5);
    ck_assert_uint_eq(all[1], 10);
    ck_assert_uint_eq(counted[0], 4); /* a's first began before b ran */
    ck_assert_uint_eq(counted[1], 9); /* b's last ended after a had */
}
END_TEST

START_TEST(a_job_without_ops_cannot_run_until_another_ends)
{
    g_autoptr(Workload) a = lone(PS_PER_US);
    g_autoptr(Workload) b = workload_new(1);
    workload_add_program(b, FALSE);
    b->program_of_rank[0] = 0;
    JobSetup jobs[] = {job("a", a, first_two), job("b", b, last_two)};
    jobs[1].until = 0;
    Seen seen;
    g_autoptr(GError) error = NULL;
    ck_assert(!run("fluid", jobs, 2, &seen, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "job b: rank 0 has no ops, so running it until job a ends would never end");
    jobs[1].until = INDEX_NONE; /* a number of iterations is fine, all at once */
    jobs[1].iterations = 3;
    ck_assert(run("fluid", jobs, 2, &seen, NULL));
    ck_assert_uint_eq(seen.n_iterations, 4);
    ck_assert_int_eq(seen.job_end[1], 0);
}
END_TEST

/* Of b's two ranks one computes and one only marks: it would begin iterations for ever at one instant. */
START_TEST(a_rank_without_time_cannot_run_until_another_ends)
{
    g_autoptr(Workload) a = lone(PS_PER_US);
    g_autoptr(Workload) b = workload_new(2);
    for (uint32_t r = 0; r < 2; r++) {
        Program *program = workload_program(b, workload_add_program(b, FALSE));
        b->program_of_rank[r] = r;
        add_op(program, r == 0 ? compute(PS_PER_US) : op_default(OP_MARKER), program_add_stream(program, "s", TRUE),
               NULL);
    }
    JobSetup jobs[] = {job("a", a, first_two), job("b", b, last_two)};
    jobs[1].until = 0;
    Seen seen;
    g_autoptr(GError) error = NULL;
    ck_assert(!run("fluid", jobs, 2, &seen, &error));
    support_expect_error(&error, TRAINSHED_ERROR_RUN,
                         "job b: iterations of rank 1 take no time, so running it until job a ends would never end");
}
END_TEST

START_TEST(the_run_ends_with_its_last_job)
{
    g_autoptr(Workload) a = lone(PS_PER_US);
    g_autoptr(Fabric) fabric = one_switch();
    JobSetup jobs[] = {job("a", a, first_two)};
    FaultSetup late = {.at_ps = PS_PER_S, .link = 0, .rate_Bps = 0};
    SimulationSetup setup = {.model = "fluid",
                             .network = network_config_default(),
                             .fabric = fabric,
                             .jobs = jobs,
                             .n_jobs = 1,
                             .only_job = INDEX_NONE,
                             .faults = &late,
                             .n_faults = 1};
    SimulationResult result;
    ck_assert(simulation_run(&setup, &result, NULL));
    ck_assert_int_eq(result.end_ps, PS_PER_US);
    simulation_result_clear(&result);
}
END_TEST

START_TEST(scaled_bytes_have_a_bound)
{
    g_autoptr(Workload) workload = uneven_pair();
    JobSetup jobs[] = {job("a", workload, first_two)};
    jobs[0].scale_bytes = 1e13;
    Seen seen;
    g_autoptr(GError) error = NULL;
    ck_assert(!run("fluid", jobs, 1, &seen, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "job a: op \"collective\": 1000000 B times scale_bytes 1e+13 is more than 1 EiB");
}
END_TEST

/* Two jobs through one link each way take turns; a job alone is as if the other were not there; jobs that share nothing
 * equal their baseline. */
START_TEST(a_baseline_is_the_run_without_the_others)
{
    g_autoptr(Workload) a = message_pair(0, 0);
    g_autoptr(Workload) b = message_pair(0, 0);
    static const uint32_t from_1_to_3[] = {1, 3}, from_2_to_3[] = {2, 3}, from_2_to_4[] = {2, 4};
    g_autoptr(Fabric) fabric = one_switch();
    JobSetup jobs[] = {job("a", a, from_1_to_3), job("b", b, from_2_to_3)};
    Seen seen;
    ck_assert(run_on(fabric, "fluid", jobs, 2, INDEX_NONE, FALSE, &seen, NULL));
    ck_assert_int_eq(seen.job_end[0], 2001 * PS_PER_US);
    ck_assert_int_eq(seen.job_end[1], 2001 * PS_PER_US);
    ck_assert(run_on(fabric, "fluid", jobs, 2, 1, FALSE, &seen, NULL));
    ck_assert_int_eq(seen.job_end[1], 1001 * PS_PER_US);
    ck_assert_str_eq(seen.status[0], "");
    jobs[1].nodes = from_2_to_4;
    ck_assert(run_on(fabric, "fluid", jobs, 2, INDEX_NONE, FALSE, &seen, NULL));
    ck_assert_int_eq(seen.job_end[0], 1001 * PS_PER_US);
    ck_assert_int_eq(seen.job_end[1], 1001 * PS_PER_US);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("simulation");
    TCase *tc = tcase_create("simulation");
    tcase_add_test(tc, every_instant_is_one_of_four);
    tcase_add_test(tc, a_collective_runs_on_the_network);
    tcase_add_test(tc, recorded_offsets_apply_to_the_first_iteration_only);
    tcase_add_loop_test(tc, a_message_arrives_a_path_after_it_left, 0, G_N_ELEMENTS(messages));
    tcase_add_test(tc, a_deadlock_names_who_waits_for_what);
    tcase_add_test(tc, a_missing_member_is_named);
    tcase_add_test(tc, compute_takes_the_longer_of_operations_and_bytes);
    tcase_add_test(tc, the_recorded_model_needs_recorded_times);
    tcase_add_test(tc, until_runs_on_as_long_as_the_other);
    tcase_add_test(tc, a_job_without_ops_cannot_run_until_another_ends);
    tcase_add_test(tc, a_rank_without_time_cannot_run_until_another_ends);
    tcase_add_test(tc, the_run_ends_with_its_last_job);
    tcase_add_test(tc, scaled_bytes_have_a_bound);
    tcase_add_test(tc, a_baseline_is_the_run_without_the_others);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
