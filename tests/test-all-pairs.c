/* test-all-pairs.c - messages from all to all that are counted in groups, against the same messages one by one
 *
 * By seed: fabrics, routing, members and bytes. The demand on each link, what each message meets alone, and whole
 * bundles agree with the list. */
#include "random_world.h"
#include "support.h"

#include "collective/collective.h"
#include "network/all_pairs.h"
#include "network/demand.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, SEED = 5 };

typedef struct {
    Fabric *fabric;
    RoutingPolicy routing;
    Routes *routes;
    Engine *engine;
    Network *network;
    WorldLog log;
    uint32_t nodes[MOST], ranks[MOST];
    uint64_t bytes[MOST];
    AllPairs pairs;
} World;

static void
begin(World *world, int seed)
{
    Random dice = random_named((uint64_t)seed, "all pairs");
    *world = (World){.fabric = random_fabric(&dice, random_below(&dice, 2) == 0), .routing = random_routing(&dice)};
    uint32_t n_gpus;
    const uint32_t *gpus = fabric_gpus(world->fabric, &n_gpus);
    uint32_t n = 2 + (uint32_t)random_below(&dice, MOST - 1); /* some may stand at one node */
    world->pairs = (AllPairs){.n = n,
                              .nodes = world->nodes,
                              .ranks = world->ranks,
                              .bytes = world->bytes,
                              .by_source = random_below(&dice, 2) == 0,
                              .coflow = INDEX_NONE};
    gboolean even = random_below(&dice, 2) == 0;
    uint32_t first = (uint32_t)random_below(&dice, n_gpus);
    for (uint32_t i = 0; i < world->pairs.n; i++) {
        world->nodes[i] = gpus[(first + i) % n_gpus];
        world->ranks[i] = i;
        world->bytes[i] = even ? 100000 : random_below(&dice, 1000000);
    }
    world->engine = engine_new(SEED);
    world->routes = routes_new(world->fabric, world->routing);
    world_log_begin(&world->log);
    NetworkConfig config = network_config_default();
    config.seed = SEED;
    NetworkObserver observer = world_log_observer(&world->log);
    world->network = network_new("fluid", &config, world->routes, world->engine, &observer, NULL);
    network_add_job(world->network, "ada");
}

static void
end(World *world)
{
    network_free(world->network);
    routes_free(world->routes);
    engine_free(world->engine);
    world_log_end(&world->log);
    fabric_free(world->fabric);
}

/* By link, of a demand: coefficients and bytes. */
static void
spread_out(const Demand *demand, double *coefficient, uint64_t *bytes)
{
    for (uint32_t i = 0; i < demand->n; i++) {
        ck_assert(coefficient[demand->uses[i].link] == 0); /* each link once */
        coefficient[demand->uses[i].link] = demand->uses[i].coefficient;
        bytes[demand->uses[i].link] = demand->bytes[i];
    }
}

START_TEST(the_demand_is_that_of_the_list)
{
    g_autofree World *world = g_new(World, 1);
    begin(world, _i);
    uint32_t n_links = fabric_n_links(world->fabric), n = all_pairs_count(&world->pairs);
    g_autofree Transfer *list = all_pairs_list(&world->pairs);
    DemandMaker *maker = demand_maker_new(world->network);
    for (int spread = 0; spread < 2; spread++) {
        g_autofree double *slow = g_new0(double, n_links), *fast = g_new0(double, n_links);
        g_autofree uint64_t *slow_B = g_new0(uint64_t, n_links), *fast_B = g_new0(uint64_t, n_links);
        Demand demand;
        ck_assert(demand_make(maker, list, n, spread == 1, &demand, NULL));
        uint64_t largest = demand.largest;
        spread_out(&demand, slow, slow_B);
        ck_assert(demand_make_pairs(maker, &world->pairs, spread == 1, &demand, NULL));
        ck_assert_uint_eq(demand.largest, largest);
        spread_out(&demand, fast, fast_B);
        for (uint32_t l = 0; l < n_links; l++) {
            ck_assert_msg(fabs(slow[l] - fast[l]) <= 1e-9 * slow[l], "seed %d: link %u: %.12g, not %.12g", _i, l,
                          fast[l], slow[l]);
            /* What is split over paths is rounded for each message at each node, or for all of them at once. */
            uint64_t apart = slow_B[l] > fast_B[l] ? slow_B[l] - fast_B[l] : fast_B[l] - slow_B[l];
            ck_assert_msg(spread == 1 || apart <= (world->routing == ROUTING_SPRAY ? 8 * (uint64_t)n : 0),
                          "seed %d: link %u carries %" G_GUINT64_FORMAT " B, not %" G_GUINT64_FORMAT, _i, l, fast_B[l],
                          slow_B[l]);
        }
        ck_assert(demand_make_pairs(maker, &world->pairs, spread == 1, &demand, NULL)); /* remembered */
        for (uint32_t i = 0; i < demand.n; i++)
            ck_assert(demand.uses[i].coefficient == fast[demand.uses[i].link]);
    }
    demand_maker_free(maker);
    end(world);
}
END_TEST

START_TEST(each_message_meets_what_it_would_alone)
{
    g_autofree World *world = g_new(World, 1);
    begin(world, _i);
    g_autoptr(PairProbes) probes = network_probe_pairs(world->network, &world->pairs, NULL);
    ck_assert(probes != NULL);
    const PairGroups *groups = probes->groups;
    for (uint32_t i = 0; i < world->pairs.n; i++) {
        for (uint32_t j = 0; j < world->pairs.n; j++) {
            NetworkProbe slow, fast;
            Transfer one = all_pairs_transfer(&world->pairs, i, j);
            if (i == j)
                continue;
            ck_assert(network_probe(world->network, &one, &slow, NULL));
            if (groups->site[i] != groups->site[j]) {
                uint32_t cell = probes->cell[groups->from.of[i] * groups->to.n + groups->to.of[j]];
                fast = g_array_index(probes->probe, NetworkProbe, cell);
            } else {
                uint32_t at = probes->near_at[i], k = groups->first[groups->site[i]];
                while (groups->list[k] != j)
                    k++, at++;
                fast = g_array_index(probes->near, NetworkProbe, at);
            }
            ck_assert_msg(
                fast.latency_ps == slow.latency_ps &&
                    (fast.rate_Bps == slow.rate_Bps || fabs(fast.rate_Bps - slow.rate_Bps) <= 1e-12 * slow.rate_Bps),
                "seed %d: from %u to %u: %ld ps and %.12g B/s, not %ld and %.12g", _i, i, j, fast.latency_ps,
                fast.rate_Bps, slow.latency_ps, slow.rate_Bps);
        }
    }
    end(world);
}
END_TEST

static void
on_done(void *owner, uint32_t cookie, NetworkMoment moment)
{
    SimTime *end_ps = owner;
    end_ps[moment] = 1;
}

/* One bundle, as pairs or as the list of them; a link slows down in its course, another one dies and comes back. */
static SimTime
run_bundle(World *world, gboolean listed, uint64_t *link_B)
{
    SimTime told[2] = {0, 0};
    uint32_t client = network_add_client(world->network, on_done, told);
    g_autofree Transfer *list = all_pairs_list(&world->pairs);
    Bundle bundle = {.members = list, .n_members = all_pairs_count(&world->pairs), .latency_ps = 1000};
    if (!listed)
        bundle = (Bundle){.pairs = &world->pairs, .latency_ps = 1000};
    ck_assert(network_send_bundle(world->network, client, &bundle, 0, NULL));
    network_set_link_at(world->network, 0, fabric_link(world->fabric, 0)->capacity_Bps / 2, 3 * PS_PER_US);
    uint32_t dies = fabric_n_links(world->fabric) - 1;
    network_set_link_at(world->network, dies, 0, 5 * PS_PER_US);
    network_set_link_at(world->network, dies, fabric_link(world->fabric, dies)->capacity_Bps, 900 * PS_PER_US);
    ck_assert(engine_run(world->engine, NULL));
    ck_assert(told[NETWORK_SENT] && told[NETWORK_DELIVERED]);
    SimTime end_ps = 0;
    for (guint i = 0; i < world->log.transfers->len; i++)
        end_ps = MAX(end_ps, g_array_index(world->log.transfers, TransferRecord, i).end_ps);
    ck_assert_uint_eq(world->log.transfers->len,
                      bundle.pairs != NULL ? all_pairs_count(&world->pairs) : bundle.n_members);
    ck_assert_uint_eq(network_totals(world->network).bytes, all_pairs_bytes(&world->pairs));
    network_finish(world->network);
    for (guint i = 0; i < world->log.usage->len; i++) {
        const WorldUsage *row = &g_array_index(world->log.usage, WorldUsage, i);
        link_B[row->link] += row->bytes;
    }
    return end_ps;
}

START_TEST(a_bundle_of_pairs_goes_as_the_list)
{
    g_autofree World *world = g_new(World, 1), *other = g_new(World, 1);
    begin(world, _i);
    begin(other, _i);
    uint32_t n_links = fabric_n_links(world->fabric);
    g_autofree uint64_t *a = g_new0(uint64_t, n_links), *b = g_new0(uint64_t, n_links);
    SimTime pairs_ps = run_bundle(world, FALSE, a), list_ps = run_bundle(other, TRUE, b);
    ck_assert_msg(fabs((double)(pairs_ps - list_ps)) <= fmax(10, 1e-9 * (double)list_ps),
                  "seed %d: ends at %ld, not %ld", _i, pairs_ps, list_ps);
    for (uint32_t l = 0; l < n_links && world->routing != ROUTING_SPRAY; l++)
        ck_assert_msg(a[l] == b[l], "seed %d: link %u carries %" G_GUINT64_FORMAT ", not %" G_GUINT64_FORMAT, _i, l,
                      a[l], b[l]);
    end(world);
    end(other);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("all-pairs");
    TCase *cases = tcase_create("all-pairs");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, the_demand_is_that_of_the_list, 0, 200);
    tcase_add_loop_test(cases, each_message_meets_what_it_would_alone, 0, 100);
    tcase_add_loop_test(cases, a_bundle_of_pairs_goes_as_the_list, 0, 200);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
