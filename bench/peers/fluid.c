/* fluid.c - our side of bench/peers/simgrid.sh: one case, its work written down for a peer, or run
 *
 *   bench/peers/fluid CASE HOSTS FLOWS COMPLETIONS [PLAN]
 *
 *   random    FLOWS flows between random hosts, 1 to 101 MB; one that ends is followed by another of the same source.
 *             CPU time from the first completion to COMPLETIONS later. Per-flow ECMP.
 *   ring      each of HOSTS hosts sends 1 MB to its right neighbour as often as it has received, COMPLETIONS in all.
 *   all-gather  the same work as ring, COMPLETIONS = HOSTS (HOSTS - 1): on our side one collective by steps, opened and
 *             joined by all at once, as a job does it.
 *   alltoall  1 MB from each to each at once; alltoall-sized: sizes drawn +- 50 %. Destination-mod-k.
 *   alltoall-phase  as alltoall; on our side one phase of a pattern, as collectives send it, and not each by itself.
 *   alltoall-ecmp  as alltoall, per-flow ECMP.
 *
 * Links of 50 GB/s and 500 ns; 1024 hosts, or 4096 where HOSTS is more. With PLAN the work is written there, one chain
 * of transfers after another with the links of each, and nothing is run. Else one JSON line: CPU seconds of the
 * measured part without set-up, and the simulated time at its end. Books of losses and usage are off. */
#include "../fat_tree.h"
#include "base/random.h"
#include "collective/collective.h"
#include "network/model.h"
#include "network/network.h"
#include "network/phase.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

typedef struct {
    uint32_t src, dst, next; /* next: the transfer of its chain that follows when it has arrived, or INDEX_NONE */
    uint64_t bytes;
    double weight; /* its share of a contended link */
} Work;

typedef struct {
    const char *name;
    FatTree tree;
    RoutingPolicy policy;
    uint32_t n_hosts; /* that take part */
    gboolean warm;    /* CPU time counts from the first completion; else from the start */
    GArray *works;    /* Work */
    uint32_t n_first; /* of works: started at 0 */
    uint32_t n_ends;  /* completions counted */
} Plan;

static double
cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

/* As many flows as asked for, then rounds that follow them: twice as many as are counted, so that none runs out. */
static void
plan_random(Plan *plan, uint32_t n_flows)
{
    Random dice = random_named(1, "peers");
    uint32_t rounds = 2 + 2 * plan->n_ends / n_flows;
    for (uint32_t i = 0; i < n_flows * rounds; i++) {
        uint32_t src = i < n_flows ? (uint32_t)random_below(&dice, plan->n_hosts)
                                   : g_array_index(plan->works, Work, i - n_flows).src;
        uint32_t dst = (src + 1 + (uint32_t)random_below(&dice, plan->n_hosts - 1)) % plan->n_hosts;
        uint32_t next = i + n_flows < n_flows * rounds ? i + n_flows : INDEX_NONE;
        Work work = {src, dst, next, 1000000 + random_below(&dice, 100000000), 1};
        g_array_append_val(plan->works, work);
    }
    plan->n_first = n_flows;
    plan->warm = TRUE;
}

/* Transfer i of step s is followed by transfer i + 1 of step s + 1. */
static void
plan_ring(Plan *plan)
{
    uint32_t n = plan->n_hosts, n_steps = plan->n_ends / n;
    for (uint32_t s = 0; s < n_steps; s++)
        for (uint32_t i = 0; i < n; i++) {
            Work work = {i, (i + 1) % n, s + 1 < n_steps ? (s + 1) * n + (i + 1) % n : INDEX_NONE, 1000000, 1};
            g_array_append_val(plan->works, work);
        }
    plan->n_first = n;
    plan->n_ends = n * n_steps;
}

static void
plan_alltoall(Plan *plan, gboolean sized)
{
    Random dice = random_named(1, "peers");
    for (uint32_t src = 0; src < plan->n_hosts; src++)
        for (uint32_t i = 1; i < plan->n_hosts; i++) {
            uint64_t bytes = sized ? 500000 + random_below(&dice, 1000001) : 1000000;
            Work work = {src, (src + i) % plan->n_hosts, INDEX_NONE, bytes, 1};
            g_array_append_val(plan->works, work);
        }
    plan->n_first = plan->n_ends = plan->works->len;
}

typedef struct {
    const Plan *plan;
    Engine *engine;
    Network *network;
    uint32_t client, ended;
    double begin_s, end_s; /* of CPU */
} Run;

static Transfer
transfer_of(const Work *work)
{
    return (Transfer){.coflow = INDEX_NONE,
                      .src_rank = work->src,
                      .dst_rank = work->dst,
                      .src = work->src, /* hosts are the first nodes */
                      .dst = work->dst,
                      .src_nic = INDEX_NONE,
                      .dst_nic = INDEX_NONE,
                      .bytes = work->bytes,
                      .weight = work->weight,
                      .rate_cap_Bps = INFINITY};
}

static void
start(Run *run, uint32_t number)
{
    Transfer transfer = transfer_of(&g_array_index(run->plan->works, Work, number));
    gboolean sent = network_send(run->network, run->client, &transfer, number, NULL);
    assert(sent);
    (void)sent;
}

static void
tell(void *owner, uint32_t number, NetworkMoment moment)
{
    Run *run = owner;
    if (moment != NETWORK_DELIVERED)
        return;
    if (run->plan->warm && run->ended == 0)
        run->begin_s = cpu_s();
    uint32_t next = g_array_index(run->plan->works, Work, number).next;
    if (++run->ended == run->plan->n_ends + (run->plan->warm ? 1 : 0)) {
        run->end_s = cpu_s();
        engine_stop(run->engine);
    } else if (next != INDEX_NONE)
        start(run, next);
}

/* The transfers of the plan, the first of them now. */
static void
perform_transfers(Run *run)
{
    run->begin_s = cpu_s();
    for (uint32_t i = 0; i < run->plan->n_first; i++)
        start(run, i);
    gboolean ran = engine_run(run->engine, NULL);
    assert(ran && run->end_s > 0);
    (void)ran;
}

static void
tell_phase(void *owner, uint32_t cookie, const PhasePart *part, NetworkMoment moment)
{
    Run *run = owner;
    (void)cookie;
    if (moment != NETWORK_DELIVERED)
        return;
    run->ended += part->n_members;
    if (run->ended == run->plan->n_ends)
        run->end_s = cpu_s();
}

/* The same as one pattern, made and sent once. */
static void
perform_phase(Run *run)
{
    uint32_t n = run->plan->works->len, client = network_add_phase_client(run->network, tell_phase, run);
    g_autofree Transfer *transfers = g_new(Transfer, n);
    for (uint32_t i = 0; i < n; i++)
        transfers[i] = transfer_of(&g_array_index(run->plan->works, Work, i));
    run->begin_s = cpu_s();
    g_autoptr(NetworkPattern) pattern = network_pattern_new(run->network, client, transfers, n);
    gboolean ran = network_send_phase(pattern, 0, INDEX_NONE, 0, NULL) && engine_run(run->engine, NULL);
    assert(ran && run->end_s > 0);
    (void)ran;
}

typedef struct {
    CollectiveRunner *runner;
    uint32_t handle, n;
    gboolean ended;
} Gathering;

static void
join(void *owner, const Event *event)
{
    Gathering *gathering = owner;
    (void)event;
    for (uint32_t i = 0; i < gathering->n; i++)
        collective_arrive(gathering->runner, gathering->handle, i);
}

static void
gathered(void *owner, uint32_t cookie)
{
    Gathering *gathering = owner;
    (void)cookie;
    gathering->ended = TRUE;
}

/* 1 MB of each host to all, around the ring: as many steps as there are other hosts. */
static void
perform_all_gather(Run *run)
{
    Gathering gathering = {.n = run->plan->n_hosts};
    g_autoptr(CollectiveRunner) runner = collective_runner_new(run->network, run->engine, gathered, &gathering);
    gathering.runner = runner;
    uint32_t kind = engine_add_kind(run->engine, join, &gathering);
    g_autofree uint32_t *hosts = g_new(uint32_t, gathering.n);
    for (uint32_t i = 0; i < gathering.n; i++)
        hosts[i] = i;
    CollectiveSpec spec = {.kind = COLLECTIVE_ALL_GATHER,
                           .n = gathering.n,
                           .ranks = hosts,
                           .nodes = hosts,
                           .coflow = INDEX_NONE,
                           .bytes = (uint64_t)gathering.n * 1000000};
    CollectiveConfig config = collective_config_default();
    config.grain = GRAIN_STEPS;
    config.slice_B = 0;
    config.algorithm[COLLECTIVE_ALL_GATHER] = "ring";
    run->begin_s = cpu_s();
    gathering.handle = collective_open(runner, &spec, &config, 0, NULL);
    engine_schedule_in(run->engine, 0, (Event){.kind = kind});
    gboolean ran = engine_run(run->engine, NULL);
    run->end_s = cpu_s();
    assert(ran && gathering.ended);
    (void)ran;
}

static void
perform(Run *run)
{
    const Plan *plan = run->plan;
    if (strcmp(plan->name, "all-gather") == 0)
        perform_all_gather(run);
    else if (strcmp(plan->name, "alltoall-phase") == 0)
        perform_phase(run);
    else
        perform_transfers(run);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"bench\": \"peers/fluid\", \"side\": \"trainshed\", \"case\": \"%s\", \"hosts\": %u, \"flows\": %u, "
           "\"routing\": \"%s\", \"completions\": %u, \"rate\": \"50 GB/s\", \"latency\": \"500 ns\", \"cpu_s\": %.6f, "
           "\"simulated_us\": %.6f, \"peak_MiB\": %ld}\n",
           plan->name, plan->n_hosts, plan->n_first, routing_policy_name(plan->policy), plan->n_ends,
           run->end_s - run->begin_s, (double)engine_now(run->engine) / PS_PER_US, usage.ru_maxrss / 1024);
}

/* Flows of SimGrid share a link in inverse proportion to the latency of their paths; so do ours here. */
static void
weigh(Plan *plan, const Network *network, Routes *routes)
{
    for (uint32_t i = 0; i < plan->works->len; i++) {
        Work *work = &g_array_index(plan->works, Work, i);
        Transfer transfer = transfer_of(work);
        RouteRequest request = network_request(network, &transfer);
        Route route;
        gboolean found = routes_find(routes, &request, &route, NULL);
        assert(found);
        (void)found;
        work->weight =
            6.0 * (double)PS_PER_US / (double)route.latency_ps; /* 6, 3, 2: whole numbers are summed exactly */
    }
}

/* case, hosts links rate latency, participants first ends works; then a line a transfer: src dst bytes next, its links.
 */
static gboolean
write_plan(const Plan *plan, const Network *network, Routes *routes, const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return FALSE;
    fprintf(file, "%s\n%u %u %.17g %.17g\n%u %u %u %u\n", plan->name, fat_tree_hosts(&plan->tree),
            fabric_n_links(routes_fabric(routes)), plan->tree.rate_Bps, sim_time_seconds(plan->tree.latency_ps),
            plan->n_hosts, plan->n_first, plan->n_ends, plan->works->len);
    for (uint32_t i = 0; i < plan->works->len; i++) {
        const Work *work = &g_array_index(plan->works, Work, i);
        Transfer transfer = transfer_of(work);
        RouteRequest request = network_request(network, &transfer);
        Route route;
        gboolean found = routes_find(routes, &request, &route, NULL);
        assert(found);
        (void)found;
        fprintf(file, "%u %u %" G_GUINT64_FORMAT " %d %u", work->src, work->dst, work->bytes, (int)work->next,
                route.n_hops);
        for (uint32_t h = 0; h < route.n_hops; h++)
            fprintf(file, " %u", route.hops[h].link);
        fputc('\n', file);
    }
    return fclose(file) == 0;
}

static gboolean
make_plan(Plan *plan, uint32_t n_flows)
{
    plan->policy = ROUTING_DMODK;
    if (strcmp(plan->name, "random") == 0) {
        plan->policy = ROUTING_ECMP;
        plan_random(plan, n_flows);
    } else if (strcmp(plan->name, "ring") == 0 || strcmp(plan->name, "all-gather") == 0)
        plan_ring(plan);
    else if (strcmp(plan->name, "alltoall-sized") == 0)
        plan_alltoall(plan, TRUE);
    else if (strcmp(plan->name, "alltoall") == 0 || strcmp(plan->name, "alltoall-phase") == 0)
        plan_alltoall(plan, FALSE);
    else if (strcmp(plan->name, "alltoall-ecmp") == 0) {
        plan->policy = ROUTING_ECMP;
        plan_alltoall(plan, FALSE);
    } else
        return FALSE;
    return plan->works->len > 0;
}

int
main(int argc, char **argv)
{
    long hosts = argc > 2 ? strtol(argv[2], NULL, 10) : 0, flows = argc > 3 ? strtol(argv[3], NULL, 10) : 0;
    long ends = argc > 4 ? strtol(argv[4], NULL, 10) : 0;
    if (argc < 5 || hosts < 2 || hosts > 4096 || flows < 0 || ends < 0) {
        fprintf(stderr, "usage: bench/peers/fluid CASE HOSTS FLOWS COMPLETIONS [PLAN]\n");
        return 2;
    }
    Plan plan = {.name = argv[1], .n_hosts = (uint32_t)hosts, .n_ends = (uint32_t)ends};
    plan.tree = (FatTree){hosts > 1024 ? 16 : 8, 16, 50e9, 500 * PS_PER_NS};
    plan.works = g_array_new(FALSE, FALSE, sizeof(Work));
    if (!make_plan(&plan, (uint32_t)flows)) {
        fprintf(stderr, "bench/peers/fluid: no such case: %s\n", plan.name);
        return 2;
    }
    g_autoptr(Fabric) fabric = fat_tree_new(&plan.tree);
    g_autoptr(Routes) routes = routes_new(fabric, plan.policy);
    g_autoptr(Engine) engine = engine_new(1);
    NetworkConfig config = network_config_default();
    config.books = FALSE;
    g_autoptr(Network) network = network_new("fluid", &config, routes, engine, NULL, NULL);
    Run run = {.plan = &plan, .engine = engine, .network = network};
    run.client = network_add_client(network, tell, &run);
    network_add_job(network, "peers");
    weigh(&plan, network, routes);
    if (argc > 5 && !write_plan(&plan, network, routes, argv[5])) {
        fprintf(stderr, "bench/peers/fluid: %s cannot be written\n", argv[5]);
        return 1;
    }
    if (argc == 5)
        perform(&run);
    g_array_unref(plan.works);
    return 0;
}
