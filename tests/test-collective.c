/* Collectives on a network: channels and layouts, slices, unequal hops and arrivals, bundle against steps, bytes
 * conserved. */
#include "collective_world.h"
#include "support.h"

#include "base/error.h"
#include "base/random.h"
#include "collective/layout.h"
#include "collective/ring_time.h"

#include <math.h>
#include <string.h>

static const char *const models[] = {"analytic", "fluid"};

static WorldRun
run_of(const Fabric *fabric, CollectiveKind kind, uint32_t n, uint64_t bytes, const char *algorithm)
{
    WorldRun run = {
        .model = "fluid", .fabric = fabric, .spec = {.kind = kind, .n = n, .bytes = bytes, .coflow = INDEX_NONE}};
    run.config = collective_config_default();
    run.config.slice_B = 0;
    run.config.algorithm[kind] = algorithm;
    return run;
}

/* max(10 ps, 1e-9): DEFINITIONS 1. */
static void
check_equal(SimTime got, SimTime expected, const char *what, int seed)
{
    double off = fabs((double)(got - expected));
    ck_assert_msg(off <= MAX(10.0, 1e-9 * (double)expected),
                  "%s, seed %d: %" G_GINT64_FORMAT " ps, expected %" G_GINT64_FORMAT, what, seed, got, expected);
}

START_TEST(slices_as_in_the_definitions)
{
    static const struct {
        uint32_t n;
        uint64_t bytes, slice;
        double rate;
        SimTime a;
        double seconds, within;
    } cases[] = {
        {4, 32000000, 1000000, 1e6, 20 * PS_PER_S, 133, 1e-9}, /* chunk 8 s, slice 1 s */
        {4, 32000000, 8000000, 1e6, 20 * PS_PER_S, 168, 1e-9}, /* slice = chunk */
        {4, 128000000, 512 * 1024, 125e6, 10 * PS_PER_MS, 1.546, 0.0005},
        {8, 128000000, 512 * 1024, 125e6, 10 * PS_PER_MS, 1.802, 0.0005},
        {32, 128000000, 512 * 1024, 125e6, 10 * PS_PER_MS, 1.994, 0.0005},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Fabric) fabric = world_switch(cases[i].n, cases[i].a, cases[i].rate);
        WorldRun run = run_of(fabric, COLLECTIVE_ALL_REDUCE, cases[i].n, cases[i].bytes, "ring");
        run.model = models[_i % 2];
        run.config.grain = _i / 2 ? GRAIN_BUNDLE : GRAIN_STEPS;
        run.config.slice_B = cases[i].slice;
        double got = sim_time_seconds(world_run(&run));
        ck_assert_msg(fabs(got - cases[i].seconds) <= cases[i].within * cases[i].seconds, "case %zu: %.9f s", i, got);
    }
}
END_TEST

START_TEST(a_ring_over_two_buildings_pays_four_long_hops)
{
    /* Members 0 to 3 and 4 to 7: the way up of 3 and of 7 is long. 14 hops in a row hold at most 4 long ones. */
    SimTime up[8];
    for (int i = 0; i < 8; i++)
        up[i] = i % 4 == 3 ? 200 * PS_PER_US : PS_PER_US;
    g_autoptr(Fabric) fabric = world_hosts(8, up, NULL, 1e9);
    WorldRun run = run_of(fabric, COLLECTIVE_ALL_REDUCE, 8, 8000, "ring");
    run.config.grain = _i ? GRAIN_BUNDLE : GRAIN_STEPS;
    ck_assert_int_eq(world_run(&run), 14 * PS_PER_US + 4 * 200 * PS_PER_US + 10 * PS_PER_US);
}
END_TEST

/* A random ring: its own latency and rate on each hop, arrivals apart. */
typedef struct {
    uint32_t n;
    SimTime up[24], ready[24];
    double rate[24];
} Hosts;

static Hosts
random_hosts(Random *dice, gboolean apart)
{
    Hosts hosts = {.n = 2 + (uint32_t)random_below(dice, 22)};
    for (uint32_t i = 0; i < hosts.n; i++) {
        hosts.up[i] = (SimTime)random_below(dice, 40) * PS_PER_US;
        hosts.rate[i] = 1e8 * (double)(1 + random_below(dice, 20));
        hosts.ready[i] = apart ? (SimTime)random_below(dice, 200) * PS_PER_US : 0;
    }
    return hosts;
}

/* What the recursion says of them (itself tested in test-ring-time.c). */
static SimTime
recursion(const Hosts *hosts, RingKind kind, uint64_t bytes, const CollectiveConfig *config, SimTime *slowest)
{
    Ring ring = {.kind = kind, .n = hosts->n, .bytes = bytes};
    RingHop hop[24];
    *slowest = 0;
    for (uint32_t p = 0; p < hosts->n; p++) {
        hop[p] = (RingHop){hosts->up[p], MIN(hosts->rate[p], hosts->rate[(p + 1) % hosts->n]), hosts->ready[p]};
        SimTime sends = 0;
        ck_assert(ring_total(&ring, p) == 0 ||
                  sim_time_from_bytes((double)ring_total(&ring, p), hop[p].rate_Bps, &sends));
        *slowest = MAX(*slowest, sends);
    }
    return ring_time(&ring, hop, config->slice_B, config->reduce_cost_s_per_B);
}

START_TEST(random_rings_follow_the_recursion_in_both_grains)
{
    static const CollectiveKind kinds[] = {COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_GATHER};
    static const RingKind rings[] = {RING_ALL_REDUCE, RING_REDUCE_SCATTER, RING_ALL_GATHER};
    Random dice = random_named((uint64_t)_i, "collective rings");
    Hosts hosts = random_hosts(&dice, _i % 2);
    g_autoptr(Fabric) fabric = world_hosts(hosts.n, hosts.up, hosts.rate, 0);
    uint32_t k = (uint32_t)random_below(&dice, 3);
    WorldRun run = run_of(fabric, kinds[k], hosts.n, random_below(&dice, 3000000), "ring");
    run.ready_ps = hosts.ready;
    run.model = models[_i / 2 % 2];
    run.config.slice_B = random_below(&dice, 2) ? 1 + random_below(&dice, run.spec.bytes / hosts.n + 2) : 0;
    run.config.reduce_cost_s_per_B = random_below(&dice, 2) ? 1e-12 * (double)random_below(&dice, 1000) : 0;
    SimTime slowest, expected = recursion(&hosts, rings[k], run.spec.bytes, &run.config, &slowest), last = 0;
    for (uint32_t i = 0; i < hosts.n; i++)
        last = MAX(last, hosts.ready[i]);
    check_equal(world_run(&run), expected, "steps", _i);
    run.config.grain = GRAIN_BUNDLE; /* analytic: goes when the last has come; its bytes still have to go */
    if (strcmp(run.model, "analytic") == 0)
        expected = MAX(expected, last + slowest);
    check_equal(world_run(&run), expected, "bundle", _i);
}
END_TEST

START_TEST(every_algorithm_has_equal_grains_where_all_hops_are_equal)
{
    static const uint32_t sizes[] = {2, 3, 4, 6, 8, 13, 16};
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        for (const char *const *name = collective_algorithms(); *name != NULL; name++) {
            if (!collective_algorithm_serves(*name, (CollectiveKind)kind))
                continue;
            uint32_t n = sizes[_i];
            g_autoptr(Fabric) fabric = world_switch(n, 3 * PS_PER_US, 10e9);
            WorldRun run = run_of(fabric, (CollectiveKind)kind, n, kind == COLLECTIVE_BARRIER ? 0 : 48048 * n, *name);
            run.config.reduce_cost_s_per_B = 0x1p-40;
            run.spec.root = n / 2;
            SimTime steps = world_run(&run);
            run.config.grain = GRAIN_BUNDLE;
            g_autofree char *what =
                g_strdup_printf("%s by %s, %u members", collective_kind_name((CollectiveKind)kind), *name, n);
            check_equal(world_run(&run), steps, what, _i);
            ck_assert_int_gt(steps, 0);
        }
    }
}
END_TEST

/* Nine servers of eight, eight channels that share NVLink: 8 x 72 x 142 messages are too many to be sent, and go as one
 * bundle, whose NVLink hops count as alone. 64 of 72 hops are over NVLink. */
START_TEST(a_large_ring_that_meets_itself_is_one_bundle)
{
    enum { N = 72 };
    g_autoptr(Fabric) fabric = world_servers(9, 8, 450e9, 50e9, 300 * PS_PER_NS, PS_PER_US);
    WorldRun run = run_of(fabric, COLLECTIVE_ALL_REDUCE, N, (uint64_t)N << 20, "ring");
    run.config.channels = 8;
    SimTime steps = world_run(&run);
    run.config.grain = GRAIN_BUNDLE;
    SimTime bundle = world_run(&run);
    ck_assert_msg(bundle <= steps && (double)bundle >= 0.99 * (double)steps,
                  "in steps %" G_GINT64_FORMAT " ps, as bundle %" G_GINT64_FORMAT, steps, bundle);
}
END_TEST

START_TEST(direct_is_a_and_n_minus_1_parts)
{
    /* n = 5, chunk 1000 B, 1 GB/s, 7 us: 4 us of bytes. Reductions of 4 chunks: 4000 x 2^-34 s. */
    g_autoptr(Fabric) fabric = world_switch(5, 7 * PS_PER_US, 1e9);
    SimTime once = 7 * PS_PER_US + 4 * PS_PER_US, reduction = 232831; /* ceil(4000 / 2^34 s) */
    static const struct {
        CollectiveKind kind;
        int times, reduces;
    } cases[] = {{COLLECTIVE_ALL_REDUCE, 2, 1},
                 {COLLECTIVE_REDUCE_SCATTER, 1, 1},
                 {COLLECTIVE_ALL_GATHER, 1, 0},
                 {COLLECTIVE_ALL_TO_ALL, 1, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        WorldRun run = run_of(fabric, cases[i].kind, 5, 5000, "direct");
        run.config.reduce_cost_s_per_B = 0x1p-34;
        run.config.grain = _i ? GRAIN_BUNDLE : GRAIN_STEPS;
        ck_assert_int_eq(world_run(&run), cases[i].times * once + cases[i].reduces * reduction);
    }
}
END_TEST

/* Above 256 members direct is not listed in bundles. 300 hosts with 1 to 300 ns on the way up, 1 us a chunk: a member
 * has all of a round with the last that came from the farthest other; two rounds take 2 (n - 1) chunks, and 300 + 299
 * ns, since the farthest gets its last from the next to farthest. 2^-34 s a byte to reduce 299 000 B, rounded up. */
START_TEST(direct_among_many_takes_what_it_would_by_hand)
{
    enum { N = 300 };
    static const RoutingPolicy policies[] = {ROUTING_ECMP, ROUTING_DMODK, ROUTING_SPRAY};
    static const struct {
        CollectiveKind kind;
        SimTime rounds, latency_ns, reductions;
    } cases[] = {{COLLECTIVE_ALL_REDUCE, 2, 599, 1},
                 {COLLECTIVE_REDUCE_SCATTER, 1, 300, 1},
                 {COLLECTIVE_ALL_GATHER, 1, 300, 0},
                 {COLLECTIVE_ALL_TO_ALL, 1, 300, 0}};
    SimTime up[N];
    for (uint32_t i = 0; i < N; i++)
        up[i] = (i + 1) * PS_PER_NS;
    g_autoptr(Fabric) fabric = world_hosts(N, up, NULL, 1e9);
    for (size_t c = 0; c < G_N_ELEMENTS(cases); c++) {
        WorldRun run = run_of(fabric, cases[c].kind, N, N * 1000, "direct");
        g_autofree uint64_t *pairs = run.pair_bytes = g_new0(uint64_t, N * N);
        run.config.grain = GRAIN_BUNDLE;
        run.config.reduce_cost_s_per_B = 0x1p-34;
        run.routing = policies[_i];
        SimTime expected = cases[c].rounds * (N - 1) * PS_PER_US + cases[c].latency_ns * PS_PER_NS +
                           cases[c].reductions * INT64_C(17404091);
        check_equal(world_run(&run), expected, "direct", (int)c);
        for (uint32_t i = 0; i < N; i++)
            for (uint32_t j = 0; j < N; j++)
                ck_assert_uint_eq(pairs[i * N + j], i == j ? 0 : 1000 * (uint64_t)cases[c].rounds);
    }
}
END_TEST

START_TEST(extra_ranks_are_folded_in)
{
    /* 6 = 4 + 2: S to the partner and back, around halving-doubling of 4: 2 (a + S b) + 4 a + 2 * 3/4 S b. */
    g_autoptr(Fabric) fabric = world_switch(6, PS_PER_US, 1e9);
    WorldRun run = run_of(fabric, COLLECTIVE_ALL_REDUCE, 6, 4000, "halving_doubling");
    ck_assert_int_eq(world_run(&run), 2 * (1 + 4) * PS_PER_US + 4 * PS_PER_US + 6 * PS_PER_US);
}
END_TEST

/* What member i must have sent to j in all. */
static uint64_t
sum_row(const uint64_t *pair, uint32_t n, uint32_t i, gboolean sent)
{
    uint64_t sum = 0;
    for (uint32_t j = 0; j < n; j++)
        sum += sent ? pair[(size_t)i * n + j] : pair[(size_t)j * n + i];
    return sum;
}

START_TEST(bytes_are_conserved_between_members_and_grains)
{
    /* Two servers of four with a NIC each: rings of four channels, trees, levels. 1,000,003 is divisible by nothing
     * here. */
    enum { N = 8 };
    const uint64_t bytes = 1000003;
    g_autoptr(Fabric) fabric = world_servers(2, 4, 400e9, 50e9, 300 * PS_PER_NS, PS_PER_US);
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        for (const char *const *name = collective_algorithms(); *name != NULL; name++) {
            if (!collective_algorithm_serves(*name, (CollectiveKind)kind))
                continue;
            uint64_t pair[2][N * N] = {{0}};
            for (int grain = 0; grain < 2; grain++) {
                WorldRun run = run_of(fabric, (CollectiveKind)kind, N, kind == COLLECTIVE_BARRIER ? 0 : bytes, *name);
                run.config.grain = grain ? GRAIN_BUNDLE : GRAIN_STEPS;
                run.config.slice_B = _i ? 10000 : 0;
                run.pair_bytes = pair[grain];
                world_run(&run);
            }
            ck_assert_msg(memcmp(pair[0], pair[1], sizeof pair[0]) == 0, "%s by %s",
                          collective_kind_name((CollectiveKind)kind), *name);
            uint64_t total = 0;
            for (uint32_t i = 0; i < N; i++)
                total += sum_row(pair[0], N, i, TRUE);
            /* What a whole collective moves, by its definition; levels and trees as the rings. */
            uint64_t once = (N - 1) * bytes;
            uint64_t expected[COLLECTIVE_KINDS] = {[COLLECTIVE_ALL_REDUCE] = 2 * once,
                                                   [COLLECTIVE_ALL_GATHER] = once,
                                                   [COLLECTIVE_REDUCE_SCATTER] = once,
                                                   [COLLECTIVE_BROADCAST] = once,
                                                   [COLLECTIVE_REDUCE] = once};
            if (kind == COLLECTIVE_ALL_REDUCE && strcmp(*name, "recursive_doubling") == 0)
                expected[kind] = 3 * N * bytes; /* all of it in each of lg N rounds */
            if (kind != COLLECTIVE_ALL_TO_ALL)
                ck_assert_msg(total == expected[kind], "%s by %s: %" G_GUINT64_FORMAT " B",
                              collective_kind_name((CollectiveKind)kind), *name, total);
        }
    }
}
END_TEST

START_TEST(an_uneven_all_to_all_moves_its_matrix)
{
    /* As DLRM: tables unevenly over 4 ranks, some with none; each sends (its tables) x (the other's samples). */
    enum { N = 4 };
    static const uint64_t tables[N] = {5, 0, 2, 1}, samples[N] = {512, 512, 511, 0};
    uint64_t matrix[N * N], pair[N * N] = {0};
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < N; j++)
            matrix[i * N + j] = tables[i] * samples[j] * 256;
    }
    g_autoptr(Fabric) fabric = world_switch(N, PS_PER_US, 1e9);
    WorldRun run = run_of(fabric, COLLECTIVE_ALL_TO_ALL, N, 5 * 1535 * 256, _i % 2 ? "pairwise" : "direct");
    run.config.grain = _i / 2 ? GRAIN_BUNDLE : GRAIN_STEPS;
    run.spec.matrix = matrix;
    run.pair_bytes = pair;
    SimTime end = world_run(&run);
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < N; j++)
            ck_assert_uint_eq(pair[i * N + j], i == j ? 0 : matrix[i * N + j]);
    }
    /* Direct: member 0 sends 5 x 1023 x 256 B, the longest row: 1309.44 us, and 1 us. Pairwise: members that have
     * nothing to send run ahead, and 3 -> 2 of phase 3, from 787.432 us on, shares the link of 0 -> 2 of phase 2:
     * 786.432 + 654.08 + 130.816 + 1, then 2 -> 1, 262.144 + 1. */
    static const SimTime expected[2] = {1310440, 1835472};
    check_equal(end, expected[_i % 2] * PS_PER_NS, "end", _i);
}
END_TEST

START_TEST(an_all_to_all_of_nothing_ends_when_all_are_there)
{
    static const uint64_t nothing[9] = {0};
    static const SimTime ready[3] = {5, 70, 3};
    g_autoptr(Fabric) fabric = world_switch(3, PS_PER_US, 1e9);
    WorldRun run = run_of(fabric, COLLECTIVE_ALL_TO_ALL, 3, 0, _i % 2 ? "pairwise" : "direct");
    run.config.grain = _i / 2 ? GRAIN_BUNDLE : GRAIN_STEPS;
    run.spec.matrix = nothing;
    run.ready_ps = ready;
    ck_assert_int_eq(world_run(&run), 70);
}
END_TEST

START_TEST(one_member_is_done_when_it_arrives)
{
    static const SimTime ready[1] = {123};
    g_autoptr(Fabric) fabric = world_switch(2, PS_PER_US, 1e9);
    WorldRun run = run_of(fabric, (CollectiveKind)_i, 1, 1000, NULL);
    run.ready_ps = ready;
    ck_assert_int_eq(world_run(&run), 123);
}
END_TEST

START_TEST(a_broadcast_waits_for_whom_it_passes)
{
    /* 4 members, root 0 sends to 2 then 1; 2 comes late and passes on to 3: 50 us + a + S b. */
    static const SimTime ready[4] = {0, 0, 50 * PS_PER_US, 0};
    g_autoptr(Fabric) fabric = world_switch(4, PS_PER_US, 1e9);
    WorldRun run = run_of(fabric, COLLECTIVE_BROADCAST, 4, 2000, "binomial");
    run.ready_ps = ready;
    ck_assert_int_eq(world_run(&run), 53 * PS_PER_US);
}
END_TEST

START_TEST(channels_enter_at_their_nic_and_rotate)
{
    /* Servers of four GPUs with a NIC each; member i is GPU i but for the first server, where members 0 and 3 are
     * swapped. */
    g_autoptr(Fabric) fabric = world_servers(2, 4, 400e9, 50e9, 0, 0);
    uint32_t n_gpus, nodes[8];
    const uint32_t *gpus = fabric_gpus(fabric, &n_gpus);
    ck_assert_uint_eq(n_gpus, 8);
    static const uint32_t place[8] = {3, 1, 2, 0, 4, 5, 6, 7};
    for (int i = 0; i < 8; i++)
        nodes[i] = gpus[place[i]];
    g_autoptr(Layout) layout = layout_new(fabric, nodes, 8, 0);
    ck_assert_uint_eq(layout->n_channels, 4);
    ck_assert_uint_eq(layout->n_servers, 2);
    static const uint32_t expected[4][8] = {
        {3, 0, 1, 2, 4, 5, 6, 7}, {1, 2, 3, 0, 5, 6, 7, 4}, {2, 3, 0, 1, 6, 7, 4, 5}, {0, 1, 2, 3, 7, 4, 5, 6}};
    for (uint32_t k = 0; k < 4; k++) {
        uint32_t order[8];
        layout_order(layout, k, order);
        ck_assert_msg(memcmp(order, expected[k], sizeof order) == 0, "channel %u", k);
        g_autofree char *nic = g_strdup_printf("server1/nic%u", k);
        ck_assert_str_eq(fabric_node(fabric, layout_nic(layout, k, 4, 0))->name, nic);
        ck_assert_uint_eq(layout_nic(layout, k, 4, 5), INDEX_NONE);
    }
    uint32_t order[8];
    layout_order_from(layout, 1, 6, order);
    static const uint32_t rooted[8] = {6, 7, 4, 5, 1, 2, 3, 0};
    ck_assert(memcmp(order, rooted, sizeof order) == 0);
}
END_TEST

START_TEST(the_number_of_channels)
{
    g_autoptr(Fabric) fabric = world_servers(3, 4, 400e9, 50e9, 0, 0);
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(fabric, &n_gpus);
    static const struct {
        uint32_t n, members[8], asked, channels;
    } cases[] = {
        {4, {0, 1, 2, 3}, 0, 1},             /* one server: NVLink only */
        {4, {0, 1, 2, 3}, 3, 3},             /* rotations of the one ring */
        {8, {0, 1, 2, 3, 4, 5, 6, 7}, 0, 4}, /* a channel a NIC */
        {3, {0, 4, 8}, 0, 1},                /* one GPU of each server: the others' NICs are not theirs */
        {5, {0, 1, 2, 4, 5}, 0, 2},          /* the least of the servers */
        {8, {0, 1, 2, 3, 4, 5, 6, 7}, 6, 6},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        uint32_t nodes[8];
        for (uint32_t m = 0; m < cases[i].n; m++)
            nodes[m] = gpus[cases[i].members[m]];
        g_autoptr(Layout) layout = layout_new(fabric, nodes, cases[i].n, cases[i].asked);
        ck_assert_msg(layout->n_channels == cases[i].channels, "case %zu: %u", i, layout->n_channels);
    }
    uint64_t cut[5];
    g_autoptr(Layout) four = layout_new(fabric, gpus, 8, 4);
    layout_cut(four, 10, NULL, cut);
    static const uint64_t equal[5] = {0, 2, 5, 7, 10};
    ck_assert(memcmp(cut, equal, sizeof cut) == 0);
    static const double weight[4] = {1, 0, 2, 1};
    layout_cut(four, 100, weight, cut);
    static const uint64_t weighted[5] = {0, 25, 25, 75, 100};
    ck_assert(memcmp(cut, weighted, sizeof cut) == 0);
}
END_TEST

START_TEST(a_slower_nic_gets_fewer_bytes)
{
    /* Four servers, 2 GPUs and NICs each; the way up of one NIC is dead: its channel has no way, all bytes go over the
     * other. */
    g_autoptr(Fabric) fabric = world_servers(4, 2, 400e9, 50e9, 0, 0);
    uint32_t n_links, dead = INDEX_NONE, nic = fabric_find(fabric, "server2/nic1"),
                      middle = fabric_find(fabric, "switch");
    const uint32_t *out = fabric_out(fabric, nic, &n_links);
    for (uint32_t i = 0; i < n_links; i++) {
        if (fabric_link(fabric, out[i])->dst == middle)
            dead = out[i];
    }
    ck_assert_uint_ne(dead, INDEX_NONE);
    WorldRun run = run_of(fabric, COLLECTIVE_ALL_REDUCE, 8, 8000000, "ring");
    run.config.channel_weights = CHANNELS_NIC;
    SimTime both = world_run(&run); /* 2 x 7/8 x 4 MB at 50 GB/s */
    check_equal(both, 140 * PS_PER_US, "both", 0);
    run.dead = &dead;
    run.n_dead = 1;
    check_equal(world_run(&run), 280 * PS_PER_US, "one", 0);
}
END_TEST

START_TEST(what_is_refused)
{
    g_autoptr(Fabric) fabric = world_servers(2, 4, 400e9, 50e9, 0, 0);
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(fabric, &n_gpus);
    static const struct {
        CollectiveKind kind;
        const char *algorithm, *message;
        uint32_t n;
    } cases[] = {
        {COLLECTIVE_ALL_REDUCE, "rnig", "there is no algorithm \"rnig\"; did you mean \"ring\"?", 8},
        {COLLECTIVE_ALL_REDUCE, "pairwise",
         "algorithm \"pairwise\" is not for all_reduce; those for it are: auto, binomial, direct, double_tree, "
         "halving_doubling, hierarchical, recursive_doubling, ring, tree",
         8},
        {COLLECTIVE_BROADCAST, "ring",
         "algorithm \"ring\" is not for broadcast; those for it are: auto, binomial, chain, direct", 8},
        {COLLECTIVE_ALL_REDUCE, "hierarchical",
         "hierarchical needs the same number of ranks in each server: the server of rank 0 has 4, that of rank 4 2", 6},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        WorldRun run = run_of(fabric, cases[i].kind, cases[i].n, 1000, cases[i].algorithm);
        run.spec.nodes = gpus;
        g_autoptr(GError) error = world_refuses(&run);
        ck_assert_ptr_nonnull(error);
        ck_assert_str_eq(error->message, cases[i].message);
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, cases[i].message);
    }
}
END_TEST

START_TEST(members_without_a_way_are_refused)
{
    g_autoptr(Fabric) fabric = world_switch(3, 0, 1e9);
    uint32_t dead[2], n_links, host = fabric_find(fabric, "host1");
    dead[0] = fabric_out(fabric, host, &n_links)[0];
    WorldRun run = run_of(fabric, COLLECTIVE_ALL_REDUCE, 3, 1000, _i ? "direct" : "ring");
    run.dead = dead;
    run.n_dead = 1;
    g_autoptr(GError) error = world_refuses(&run);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "host1");
}
END_TEST

START_TEST(alone_is_what_an_empty_fabric_gives)
{
    g_autoptr(Fabric) fabric = world_switch(4, 5 * PS_PER_US, 1e9);
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    uint32_t n_gpus, ranks[4] = {0, 1, 2, 3};
    CollectiveSpec spec = {.kind = COLLECTIVE_ALL_REDUCE,
                           .n = 4,
                           .nodes = fabric_gpus(fabric, &n_gpus),
                           .ranks = ranks,
                           .bytes = 4000,
                           .job = 9};
    CollectiveConfig config = collective_config_default();
    NetworkConfig network = network_config_default();
    GError *error = NULL;
    ck_assert_int_eq(collective_alone("fluid", &network, routes, "job", &spec, &config, &error), 36 * PS_PER_US);
    ck_assert_int_eq(collective_alone("analytic", &network, routes, "job", &spec, &config, &error), 36 * PS_PER_US);
    ck_assert_int_eq(collective_alone("recorded", &network, routes, "job", &spec, &config, &error), -1);
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "model \"recorded\" moves no bytes");
}
END_TEST

START_TEST(bus_factors_are_those_of_nccl_tests)
{
    ck_assert(collective_bus_factor(COLLECTIVE_ALL_REDUCE, 8) == 1.75);
    ck_assert(collective_bus_factor(COLLECTIVE_ALL_GATHER, 8) == 0.875);
    ck_assert(collective_bus_factor(COLLECTIVE_REDUCE_SCATTER, 4) == 0.75);
    ck_assert(collective_bus_factor(COLLECTIVE_ALL_TO_ALL, 4) == 0.75);
    ck_assert(collective_bus_factor(COLLECTIVE_BROADCAST, 8) == 1);
    ck_assert(collective_bus_factor(COLLECTIVE_REDUCE, 8) == 1);
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        CollectiveKind back;
        ck_assert(collective_kind_parse(collective_kind_name((CollectiveKind)kind), &back) && (int)back == kind);
    }
    CollectiveKind unused;
    ck_assert(!collective_kind_parse("allreduce", &unused));
}
END_TEST

static void
add_tests(TCase *tc)
{
    tcase_add_loop_test(tc, slices_as_in_the_definitions, 0, 4);
    tcase_add_loop_test(tc, a_ring_over_two_buildings_pays_four_long_hops, 0, 2);
    tcase_add_loop_test(tc, random_rings_follow_the_recursion_in_both_grains, 0, 120);
    tcase_add_loop_test(tc, every_algorithm_has_equal_grains_where_all_hops_are_equal, 0, 7);
    tcase_add_test(tc, a_large_ring_that_meets_itself_is_one_bundle);
    tcase_add_loop_test(tc, direct_is_a_and_n_minus_1_parts, 0, 2);
    tcase_add_loop_test(tc, direct_among_many_takes_what_it_would_by_hand, 0, 3);
    tcase_add_test(tc, extra_ranks_are_folded_in);
    tcase_add_loop_test(tc, bytes_are_conserved_between_members_and_grains, 0, 2);
    tcase_add_loop_test(tc, an_uneven_all_to_all_moves_its_matrix, 0, 4);
    tcase_add_loop_test(tc, an_all_to_all_of_nothing_ends_when_all_are_there, 0, 4);
    tcase_add_loop_test(tc, one_member_is_done_when_it_arrives, 0, COLLECTIVE_KINDS);
    tcase_add_test(tc, a_broadcast_waits_for_whom_it_passes);
    tcase_add_test(tc, channels_enter_at_their_nic_and_rotate);
    tcase_add_test(tc, the_number_of_channels);
    tcase_add_test(tc, a_slower_nic_gets_fewer_bytes);
    tcase_add_test(tc, what_is_refused);
    tcase_add_loop_test(tc, members_without_a_way_are_refused, 0, 2);
    tcase_add_test(tc, alone_is_what_an_empty_fabric_gives);
    tcase_add_test(tc, bus_factors_are_those_of_nccl_tests);
}

int
main(void)
{
    Suite *suite = suite_create("collective");
    TCase *tc = tcase_create("collective");
    tcase_set_timeout(tc, 60);
    add_tests(tc);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
