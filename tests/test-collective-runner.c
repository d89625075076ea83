/* Many collectives on one runner: handles, plans used again, one fixed order, failures of the run. */
#include "collective_world.h"
#include "support.h"

#include "base/error.h"
#include "base/random.h"

enum { HOSTS = 12, MANY = 120, MOST_MEMBERS = 8 };

typedef struct {
    CollectiveSpec spec;
    CollectiveConfig config;
    uint32_t nodes[MOST_MEMBERS], ranks[MOST_MEMBERS], handle, ends;
    SimTime end_ps;
} One;

typedef struct {
    Fabric *fabric;
    Routes *routes;
    Engine *engine;
    Network *network;
    CollectiveRunner *runner;
    uint32_t kind, order[MANY], n_ended, most_open;
    One one[MANY];
} World;

static void
on_done(void *owner, uint32_t cookie)
{
    World *world = owner;
    world->one[cookie].ends++;
    world->one[cookie].end_ps = engine_now(world->engine);
    world->order[world->n_ended++] = cookie;
}

/* Collective number target opens and all its members arrive. */
static void
on_begin(void *owner, const Event *event)
{
    World *world = owner;
    One *one = &world->one[event->target];
    GError *error = NULL;
    one->handle = collective_open(world->runner, &one->spec, &one->config, event->target, &error);
    ck_assert_msg(one->handle != INDEX_NONE, "%s", error ? error->message : "");
    world->most_open = MAX(world->most_open, one->handle + 1);
    for (uint32_t i = 0; i < one->spec.n; i++)
        collective_arrive(world->runner, one->handle, i);
}

static World *
world_begin(void)
{
    World *world = g_new0(World, 1);
    GError *error = NULL;
    NetworkConfig config = network_config_default();
    config.books = FALSE;
    world->fabric = world_switch(HOSTS, PS_PER_US, 1e9);
    world->routes = routes_new(world->fabric, ROUTING_ECMP);
    world->engine = engine_new(3);
    world->network = network_new("fluid", &config, world->routes, world->engine, NULL, &error);
    ck_assert(world->network != NULL);
    network_add_job(world->network, "job");
    world->runner = collective_runner_new(world->network, world->engine, on_done, world);
    world->kind = engine_add_kind(world->engine, on_begin, world);
    return world;
}

static void
world_end(World *world)
{
    collective_runner_free(world->runner);
    network_free(world->network);
    engine_free(world->engine);
    routes_free(world->routes);
    fabric_free(world->fabric);
    g_free(world);
}

/* A random collective of random members, begun at a random time. */
static void
add_random(World *world, uint32_t number, Random *dice)
{
    One *one = &world->one[number];
    uint32_t n_gpus, n = 1 + (uint32_t)random_below(dice, MOST_MEMBERS), first = (uint32_t)random_below(dice, HOSTS);
    const uint32_t *gpus = fabric_gpus(world->fabric, &n_gpus);
    for (uint32_t i = 0; i < n; i++) {
        one->ranks[i] = (first + i) % HOSTS;
        one->nodes[i] = gpus[one->ranks[i]];
    }
    one->spec = (CollectiveSpec){.kind = (CollectiveKind)random_below(dice, COLLECTIVE_KINDS),
                                 .n = n,
                                 .nodes = one->nodes,
                                 .ranks = one->ranks,
                                 .bytes = random_below(dice, 100000),
                                 .root = (uint32_t)random_below(dice, n),
                                 .coflow = number};
    one->config = collective_config_default();
    one->config.grain = random_below(dice, 2) ? GRAIN_BUNDLE : GRAIN_STEPS;
    one->config.slice_B = random_below(dice, 2) ? 1000 : 0;
    one->config.reduce_cost_s_per_B = random_below(dice, 2) ? 1e-11 : 0;
    SimTime at = (SimTime)random_below(dice, 2000) * PS_PER_US;
    engine_schedule(world->engine, (Event){.when = at, .kind = world->kind, .target = number, .sender = number});
}

static World *
run_many(uint64_t seed)
{
    World *world = world_begin();
    Random dice = random_named(seed, "many");
    for (uint32_t i = 0; i < MANY; i++)
        add_random(world, i, &dice);
    GError *error = NULL;
    ck_assert_msg(engine_run(world->engine, &error), "%s", error ? error->message : "");
    return world;
}

START_TEST(many_at_once_all_end_once_and_the_same_again)
{
    World *world = run_many((uint64_t)_i), *again = run_many((uint64_t)_i);
    ck_assert_uint_eq(world->n_ended, MANY);
    ck_assert_uint_lt(world->most_open, MANY); /* handles are used again */
    for (uint32_t i = 0; i < MANY; i++) {
        ck_assert_uint_eq(world->one[i].ends, 1);
        ck_assert_int_eq(world->one[i].end_ps, again->one[i].end_ps);
        ck_assert_uint_eq(world->order[i], again->order[i]);
    }
    ck_assert_uint_eq(network_in_flight(world->network), 0);
    world_end(world);
    world_end(again);
}
END_TEST

START_TEST(two_of_one_plan_share_the_network)
{
    /* Two equal rings of 4 hosts from 0 on, 4 MB each: every hop carries both, so that each takes 2 x 6 ms and 6 us. A
     * third after them has it all to itself. */
    World *world = world_begin();
    uint32_t n_gpus;
    for (uint32_t k = 0; k < 3; k++) {
        One *one = &world->one[k];
        for (uint32_t i = 0; i < 4; i++) {
            one->nodes[i] = fabric_gpus(world->fabric, &n_gpus)[i];
            one->ranks[i] = i;
        }
        one->spec = (CollectiveSpec){.kind = COLLECTIVE_ALL_REDUCE,
                                     .n = 4,
                                     .nodes = one->nodes,
                                     .ranks = one->ranks,
                                     .bytes = 4000000,
                                     .coflow = k};
        one->config = collective_config_default();
        one->config.slice_B = 0;
        one->config.grain = _i ? GRAIN_BUNDLE : GRAIN_STEPS;
        engine_schedule(world->engine, (Event){.when = k == 2 ? PS_PER_S : 0, .kind = world->kind, .target = k});
    }
    ck_assert(engine_run(world->engine, NULL));
    ck_assert_int_eq(world->one[0].end_ps, 12 * PS_PER_MS + 6 * PS_PER_US);
    ck_assert_int_eq(world->one[1].end_ps, 12 * PS_PER_MS + 6 * PS_PER_US);
    ck_assert_int_eq(world->one[2].end_ps, PS_PER_S + 6 * PS_PER_MS + 6 * PS_PER_US);
    world_end(world);
}
END_TEST

START_TEST(a_way_lost_on_the_way_fails_the_run)
{
    /* The ring has begun when host 2's only way up dies: its next send has no route. */
    World *world = world_begin();
    Random dice = random_named(1, "lost");
    add_random(world, 0, &dice);
    One *one = &world->one[0];
    uint32_t n_gpus, n_links;
    for (uint32_t i = 0; i < 4; i++) {
        one->nodes[i] = fabric_gpus(world->fabric, &n_gpus)[i];
        one->ranks[i] = i;
    }
    one->spec.kind = COLLECTIVE_BROADCAST;
    one->spec.n = 4;
    one->spec.root = 0;
    one->spec.bytes = 4000000;
    one->config = collective_config_default();
    /* 0 -> 2 takes 4 ms from at most 2 ms on; 2 -> 3 begins after that. */
    uint32_t up = fabric_out(world->fabric, one->nodes[2], &n_links)[0];
    network_set_link_at(world->network, up, 0, 3 * PS_PER_MS);
    GError *error = NULL;
    ck_assert(!engine_run(world->engine, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "host2");
    world_end(world);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("collective-runner");
    TCase *tc = tcase_create("collective-runner");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, many_at_once_all_end_once_and_the_same_again, 0, 20);
    tcase_add_loop_test(tc, two_of_one_plan_share_the_network, 0, 2);
    tcase_add_test(tc, a_way_lost_on_the_way_fails_the_run);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
