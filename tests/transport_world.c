#include "transport_world.h"

enum { SAMPLE_PS = 1000000 };

static WorldRun *running; /* one at a time */
static uint32_t kind_sample;
static SimTime sample_from, sample_until;
static uint64_t n_samples, received_B[WORLD_MOST];

static void
handle_sample(void *owner, const Event *event)
{
    (void)owner;
    PacketNet *net = world_net(running);
    if (event->when == sample_from)
        for (uint32_t i = 0; i < running->world.n; i++)
            received_B[i] = packet_flow(net, i)->received_B;
    double queue_B = (double)packet_port_queue(net, running->bottleneck);
    running->mean_queue_B += queue_B;
    running->least_queue_B = MIN(running->least_queue_B, queue_B);
    running->most_queue_B = MAX(running->most_queue_B, queue_B);
    n_samples++;
    if (event->when >= sample_until)
        engine_stop(running->fixture.engine);
    else
        engine_schedule(running->fixture.engine,
                        (Event){.when = event->when + SAMPLE_PS, .kind = kind_sample, .sender = 2});
}

static uint32_t
add_link(WorldRun *run, uint32_t from, uint32_t to, double loss)
{
    Link link = link_default();
    link.src = from;
    link.dst = to;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = run->world.rate_Bps;
    link.latency_ps = run->world.latency_ps;
    link.loss = loss;
    GError *error = NULL;
    uint32_t index = fabric_add_link(run->fixture.fabric, &link, &error);
    ck_assert_msg(error == NULL, "%s", error != NULL ? error->message : "");
    return index;
}

void
world_begin(WorldRun *run, const World *world, const PacketConfig *config)
{
    world_begin_seeded(run, world, config, 1);
}

void
world_begin_seeded(WorldRun *run, const World *world, const PacketConfig *config, uint64_t seed)
{
    ck_assert_uint_le(world->n, WORLD_MOST);
    *run = (WorldRun){.world = *world};
    fixture_begin(&run->fixture);
    run->fixture.config.seed = seed;
    uint32_t leaf = fixture_node(&run->fixture, NODE_LEAF, "leaf");
    run->receiver = fixture_node(&run->fixture, NODE_HOST, "receiver");
    for (uint32_t i = 0; i < world->n; i++) {
        g_autofree char *name = g_strdup_printf("sender%u", i);
        run->senders[i] = fixture_node(&run->fixture, NODE_HOST, name);
        add_link(run, run->senders[i], leaf, world->loss);
        add_link(run, leaf, run->senders[i], world->loss_back);
    }
    run->bottleneck = add_link(run, leaf, run->receiver, world->loss);
    add_link(run, run->receiver, leaf, world->loss_back);
    PacketConfig *packet = &run->fixture.config.packet;
    if (config != NULL)
        *packet = *config;
    packet->transport = world->transport;
    packet->settings = run->world.settings;
    while (run->world.settings[packet->n_settings].key != NULL)
        packet->n_settings++;
    fixture_network(&run->fixture, "packet", ROUTING_ECMP);
    kind_sample = engine_add_kind(run->fixture.engine, handle_sample, NULL);
}

void
world_send_all(WorldRun *run, uint64_t bytes)
{
    for (uint32_t i = 0; i < run->world.n; i++) {
        Transfer transfer = fixture_transfer(&run->fixture, run->senders[i], run->receiver, bytes);
        fixture_send(&run->fixture, &transfer, i);
    }
}

void
world_measure(WorldRun *run, SimTime from, SimTime until)
{
    running = run;
    sample_from = from;
    sample_until = until;
    n_samples = 0;
    run->least_queue_B = INFINITY;
    engine_schedule(run->fixture.engine, (Event){.when = from, .kind = kind_sample, .sender = 2});
    GError *error = NULL;
    ck_assert_msg(engine_run(run->fixture.engine, &error), "%s", error != NULL ? error->message : "");
    double seconds = sim_time_seconds(engine_now(run->fixture.engine) - from);
    run->mean_queue_B /= (double)n_samples;
    for (uint32_t i = 0; i < run->world.n; i++) {
        const Flow *flow = packet_flow(world_net(run), i);
        ck_assert_msg(flow->live && !flow->done, "flow %u has ended", i);
        run->rate_Bps[i] = (double)(flow->received_B - received_B[i]) / seconds;
        run->sum_Bps += run->rate_Bps[i];
    }
}

void
world_end(WorldRun *run)
{
    fixture_end(&run->fixture);
}
