/* test-memo-runs.c - random jobs on random fabrics for many iterations: the iteration memo changes nothing that is told
 *
 * `make differential` runs more seeds. */
#include "memo_log.h"
#include "random_jobs.h"
#include "random_world.h"
#include "support.h"

#include <stdlib.h>

enum { MOST_FAULTS = 4 };

typedef struct {
    Fabric *fabric;
    RandomJob jobs[RANDOM_JOBS];
    JobSetup setups[RANDOM_JOBS];
    FaultSetup faults[MOST_FAULTS];
    SimulationSetup setup;
} Case;

static uint32_t
below(Random *dice, uint32_t bound)
{
    return (uint32_t)random_below(dice, bound);
}

/* Links that slow down for a while, at any time of the run. */
static uint32_t
random_faults(Case *given, Random *dice)
{
    uint32_t n = 0;
    SimTime at = 0, apart = below(dice, 2) ? 500 * PS_PER_US : 10 * PS_PER_MS;
    while (n + 2 <= MOST_FAULTS && below(dice, 3) == 0) {
        uint32_t link = below(dice, fabric_n_links(given->fabric));
        double capacity = fabric_link(given->fabric, link)->capacity_Bps;
        at += 1 + (SimTime)random_below(dice, (uint64_t)apart);
        given->faults[n++] = (FaultSetup){at, link, capacity / 3};
        at += 1 + (SimTime)random_below(dice, (uint64_t)apart);
        given->faults[n++] = (FaultSetup){at, link, capacity};
    }
    return n;
}

static uint32_t
random_jobs(Case *given, Random *dice)
{
    static const uint32_t lengths[] = {3, 10, 20, 40};
    g_autofree gboolean *taken = g_new0(gboolean, fabric_n_nodes(given->fabric));
    uint32_t n = 0;
    for (uint32_t asked = 1 + below(dice, RANDOM_JOBS); n < asked; n++) {
        gboolean loose = below(dice, 2) == 0;
        if (!(loose ? random_job_loose : random_job)(&given->jobs[n], n, given->fabric, taken, dice))
            break;
        JobSetup *setup = &given->setups[n];
        *setup = given->jobs[n].setup;
        setup->iterations = lengths[below(dice, G_N_ELEMENTS(lengths))];
        if (below(dice, 4) == 0)
            setup->arrival_ps *= 30;
        if (n > 0 && !loose && below(dice, 3) == 0) {
            setup->until = 0;
            setup->iterations = 0;
        }
    }
    return n;
}

static void
begin_case(Case *given, int seed)
{
    static const SimTime buckets[] = {7 * PS_PER_US, 100 * PS_PER_US, PS_PER_MS, 10 * PS_PER_S};
    Random dice = random_named((uint64_t)seed, "memo runs");
    *given = (Case){.fabric = random_fabric(&dice, TRUE)};
    given->setup = (SimulationSetup){.network = network_config_default(),
                                     .seed = (uint64_t)seed,
                                     .fabric = given->fabric,
                                     .jobs = given->setups,
                                     .n_jobs = random_jobs(given, &dice),
                                     .faults = given->faults,
                                     .n_faults = random_faults(given, &dice)};
    ck_assert_uint_gt(given->setup.n_jobs, 0);
    given->setup.model = below(&dice, 5) ? "fluid" : "analytic";
    given->setup.routing = below(&dice, 4) ? random_routing(&dice) : ROUTING_ADAPTIVE;
    given->setup.only_job = below(&dice, 6) ? INDEX_NONE : 0;
    given->setup.common = below(&dice, 2) == 0;
    given->setup.collectives_alone = below(&dice, 2) == 0;
    given->setup.network.seed = (uint64_t)seed;
    given->setup.network.bucket_ps = buckets[below(&dice, G_N_ELEMENTS(buckets))];
    given->setup.network.collisions = below(&dice, 2) == 0;
    given->setup.network.payload_fraction = below(&dice, 2) ? 1 : 0.94;
    if (below(&dice, 2))
        given->setup.network.loggops =
            (LogGops){.o_ps = 500000, .g_ps = 300000, .O_s_per_B = 1e-12, .G_s_per_B = 2e-12, .S_B = 65536};
}

static void
end_case(Case *given)
{
    for (uint32_t j = 0; j < given->setup.n_jobs; j++)
        random_job_clear(&given->jobs[j]);
    fabric_free(given->fabric);
}

/* Seeds whose iterations are known to recur, of both models and up to three jobs: there something must be skipped. */
static gboolean
recurs(int seed)
{
    static const int seeds[] = {1, 4, 5, 8, 10, 13, 14, 15, 16, 18, 19, 20, 21, 23, 24, 25, 27, 28, 29, 31};
    for (size_t i = 0; i < G_N_ELEMENTS(seeds); i++)
        if (seeds[i] == seed)
            return TRUE;
    return FALSE;
}

START_TEST(the_memo_changes_nothing_that_is_told)
{
    g_autofree Case *given = g_new(Case, 1);
    g_autofree char *what = g_strdup_printf("seed %d", _i);
    MemoLog with, without;
    begin_case(given, _i);
    memo_log_run(&without, &given->setup, FALSE, _i % 2, what);
    ck_assert_uint_eq(without.result.skipped, 0);
    memo_log_run(&with, &given->setup, TRUE, _i % 2, what);
    ck_assert_msg(!recurs(_i) || with.result.skipped > 0, "%s: nothing was skipped", what);
    memo_log_check_equal(&with, &without, what);
    memo_log_clear(&with);
    memo_log_clear(&without);
    end_case(given);
}
END_TEST

/* The same jobs, placed when there is room, under any policy. */
START_TEST(the_memo_changes_nothing_of_jobs_that_wait)
{
    static const PlacementSpec specs[] = {{.policy = PLACEMENT_PACKED}, {.policy = PLACEMENT_RANDOM}};
    g_autofree Case *given = g_new(Case, 1);
    g_autofree char *what = g_strdup_printf("waiting, seed %d", _i);
    Random dice = random_named((uint64_t)_i, "memo queues");
    MemoLog with, without;
    begin_case(given, _i);
    given->setup.network.loggops = (LogGops){0};
    given->setup.only_job = INDEX_NONE;
    for (uint32_t j = 0; j < given->setup.n_jobs; j++) {
        given->setups[j].nodes = NULL;
        given->setups[j].until = INDEX_NONE;
        given->setups[j].iterations = MAX(given->setups[j].iterations, 10);
        given->setups[j].placement = &specs[below(&dice, 2)];
        given->setups[j].estimate_ps = 1 + below(&dice, 1000000) * PS_PER_NS;
        given->setups[j].priority = (int32_t)below(&dice, 3);
        /* Where it will stand is not known yet: what needs as many ranks in each server cannot be asked for. */
        for (int kind = 0; kind < COLLECTIVE_KINDS; kind++)
            if (g_strcmp0(given->setups[j].collectives.algorithm[kind], "hierarchical") == 0)
                given->setups[j].collectives.algorithm[kind] = NULL;
    }
    given->setup.queue = (QueueSetup){.policy = queue_policy_find(queue_policies()[below(&dice, 5)]),
                                      .launch_ps = below(&dice, 2) ? below(&dice, 1000) * PS_PER_US : 0,
                                      .restart_ps = below(&dice, 2) ? below(&dice, 1000) * PS_PER_US : 0,
                                      .quantum_gpu_ps = 1 + below(&dice, 10000) * PS_PER_US};
    memo_log_run(&without, &given->setup, FALSE, _i % 2, what);
    memo_log_run(&with, &given->setup, TRUE, _i % 2, what);
    memo_log_check_equal(&with, &without, what);
    memo_log_clear(&with);
    memo_log_clear(&without);
    end_case(given);
}
END_TEST

int
main(void)
{
    const char *first = g_getenv("DIFFERENTIAL_FIRST"), *count = g_getenv("DIFFERENTIAL_SEEDS");
    int from = first != NULL ? atoi(first) : 0, n = count != NULL ? atoi(count) : 300;
    Suite *suite = suite_create("memo-runs");
    TCase *cases = tcase_create("memo-runs");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, the_memo_changes_nothing_that_is_told, from, from + n);
    tcase_add_loop_test(cases, the_memo_changes_nothing_of_jobs_that_wait, from, from + n);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
