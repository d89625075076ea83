#include "collective_world.h"

#include "support.h"

#include <string.h>

static uint32_t add_node(Fabric *fabric, NodeKind kind, const char *server, int32_t rail, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

static uint32_t
add_node(Fabric *fabric, NodeKind kind, const char *server, int32_t rail, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *name = g_strdup_vprintf(format, args);
    va_end(args);
    Node node = node_default();
    node.name = name;
    node.kind = kind;
    node.server = server;
    node.rail = rail;
    GError *error = NULL;
    uint32_t index = fabric_add_node(fabric, &node, &error);
    ck_assert_msg(index != INDEX_NONE, "%s", error ? error->message : "");
    return index;
}

static void
add_link(Fabric *fabric, LinkKind kind, uint32_t src, uint32_t dst, double rate_Bps, SimTime latency_ps)
{
    Link link = link_default();
    link.kind = kind;
    link.src = src;
    link.dst = dst;
    link.capacity_Bps = rate_Bps;
    link.latency_ps = latency_ps;
    GError *error = NULL;
    uint32_t index = fabric_add_link(fabric, &link, &error);
    ck_assert_msg(index != INDEX_NONE, "%s", error ? error->message : "");
}

static Fabric *
sealed(Fabric *fabric)
{
    GError *error = NULL;
    ck_assert_msg(fabric_seal(fabric, &error), "%s", error ? error->message : "");
    return fabric;
}

Fabric *
world_hosts(uint32_t n, const SimTime *up_ps, const double *rate_Bps, double base_Bps)
{
    Fabric *fabric = fabric_new();
    uint32_t middle = add_node(fabric, NODE_LEAF, "", -1, "switch");
    for (uint32_t i = 0; i < n; i++) {
        uint32_t host = add_node(fabric, NODE_HOST, "", -1, "host%u", i);
        double rate = rate_Bps != NULL ? rate_Bps[i] : base_Bps;
        add_link(fabric, LINK_ETHERNET, host, middle, rate, up_ps[i]);
        add_link(fabric, LINK_ETHERNET, middle, host, rate, 0);
    }
    return sealed(fabric);
}

Fabric *
world_switch(uint32_t n, SimTime up_ps, double rate_Bps)
{
    g_autofree SimTime *up = g_new(SimTime, n);
    for (uint32_t i = 0; i < n; i++)
        up[i] = up_ps;
    return world_hosts(n, up, NULL, rate_Bps);
}

Fabric *
world_servers(uint32_t servers, uint32_t gpus, double nvlink_Bps, double nic_Bps, SimTime nvlink_ps, SimTime up_ps)
{
    Fabric *fabric = fabric_new();
    uint32_t middle = add_node(fabric, NODE_LEAF, "", -1, "switch");
    for (uint32_t s = 0; s < servers; s++) {
        g_autofree char *server = g_strdup_printf("server%u", s);
        uint32_t nvswitch = add_node(fabric, NODE_NVSWITCH, server, -1, "%s/nvswitch", server);
        for (uint32_t i = 0; i < gpus; i++) {
            uint32_t gpu = add_node(fabric, NODE_GPU, server, (int32_t)i, "%s/gpu%u", server, i);
            uint32_t nic = add_node(fabric, NODE_NIC, server, (int32_t)i, "%s/nic%u", server, i);
            add_link(fabric, LINK_NVLINK, gpu, nvswitch, nvlink_Bps, nvlink_ps);
            add_link(fabric, LINK_NVLINK, nvswitch, gpu, nvlink_Bps, 0);
            add_link(fabric, LINK_PCIE, gpu, nic, nic_Bps, 0);
            add_link(fabric, LINK_PCIE, nic, gpu, nic_Bps, 0);
            add_link(fabric, LINK_ETHERNET, nic, middle, nic_Bps, up_ps);
            add_link(fabric, LINK_ETHERNET, middle, nic, nic_Bps, 0);
        }
    }
    return sealed(fabric);
}

typedef struct {
    Engine *engine;
    CollectiveRunner *runner;
    uint32_t handle, n, delivered, ended;
    SimTime end_ps;
    uint64_t *pair_bytes;
} World;

static void
on_transfer(void *owner, const TransferRecord *transfer)
{
    World *world = owner;
    ck_assert_uint_eq(world->ended, 0); /* nothing arrives after the end was told */
    world->pair_bytes[(size_t)transfer->src_rank * world->n + transfer->dst_rank] += transfer->bytes;
}

static void
on_done(void *owner, uint32_t cookie)
{
    World *world = owner;
    ck_assert_uint_eq(cookie, 77);
    world->ended++;
    world->end_ps = engine_now(world->engine);
}

static void
on_arrival(void *owner, const Event *event)
{
    World *world = owner;
    collective_arrive(world->runner, world->handle, event->target);
}

typedef struct {
    World world;
    Routes *routes;
    Network *network;
    CollectiveSpec spec;
    uint32_t *ranks;
} Stage;

static void
stage_set(Stage *stage, const WorldRun *run)
{
    GError *error = NULL;
    *stage = (Stage){.world = {.n = run->spec.n, .pair_bytes = run->pair_bytes}, .spec = run->spec};
    stage->world.engine = engine_new(1);
    stage->routes = routes_new(run->fabric, run->routing);
    NetworkConfig config = network_config_default();
    config.books = run->pair_bytes != NULL;
    NetworkObserver observer = {.owner = &stage->world, .transfer = on_transfer};
    stage->network = network_new(run->model, &config, stage->routes, stage->world.engine,
                                 run->pair_bytes ? &observer : NULL, &error);
    ck_assert_msg(stage->network != NULL, "%s", error ? error->message : "");
    for (uint32_t i = 0; i < run->n_dead; i++)
        network_set_link(stage->network, run->dead[i], 0);
    network_add_job(stage->network, "job");
    stage->ranks = g_new(uint32_t, run->spec.n);
    for (uint32_t i = 0; i < run->spec.n; i++)
        stage->ranks[i] = i;
    uint32_t n_gpus;
    if (stage->spec.nodes == NULL)
        stage->spec.nodes = fabric_gpus(run->fabric, &n_gpus);
    if (stage->spec.ranks == NULL)
        stage->spec.ranks = stage->ranks;
    stage->world.runner = collective_runner_new(stage->network, stage->world.engine, on_done, &stage->world);
}

static void
stage_clear(Stage *stage)
{
    collective_runner_free(stage->world.runner);
    network_free(stage->network);
    routes_free(stage->routes);
    engine_free(stage->world.engine);
    g_free(stage->ranks);
}

SimTime
world_run(const WorldRun *run)
{
    Stage stage;
    stage_set(&stage, run);
    World *world = &stage.world;
    GError *error = NULL;
    world->handle = collective_open(world->runner, &stage.spec, &run->config, 77, &error);
    ck_assert_msg(world->handle != INDEX_NONE, "%s", error ? error->message : "");
    uint32_t kind = engine_add_kind(world->engine, on_arrival, world);
    for (uint32_t i = 0; i < run->spec.n; i++)
        engine_schedule(world->engine,
                        (Event){.when = run->ready_ps ? run->ready_ps[i] : 0, .kind = kind, .target = i});
    ck_assert_msg(engine_run(world->engine, &error), "%s", error ? error->message : "");
    ck_assert_uint_eq(world->ended, 1);
    ck_assert_uint_eq(network_in_flight(stage.network), 0);
    stage_clear(&stage);
    return world->end_ps;
}

GError *
world_refuses(const WorldRun *run)
{
    Stage stage;
    stage_set(&stage, run);
    GError *error = NULL;
    ck_assert_uint_eq(collective_open(stage.world.runner, &stage.spec, &run->config, 77, &error), INDEX_NONE);
    stage_clear(&stage);
    return error;
}
