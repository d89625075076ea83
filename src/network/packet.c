/* packet.c - packets through output-queued switches: queues, loss, pauses, transports
 *
 * What a packet meets is in packet_port.c and packet_pfc.c, what its flow does in packet_flow.c and packet_receive.c,
 * and when it may be sent in the transports (transport.h). Ports of switches (leaf, spine, core, dci) have bounded
 * buffers, mark and pause; those of GPUs, NICs, NVSwitches and hosts hold what comes, since their memory does. */
#include "network/packet_losses.h"

#include "base/error.h"

#include <assert.h>
#include <math.h>
#include <string.h>

PacketConfig
packet_config_default(void)
{
    return (PacketConfig){.mtu_B = 4096,
                          .header_B = 64,
                          .ack_B = 64,
                          .buffer_B = PACKET_NO_LIMIT,
                          .alpha = 1,
                          .ecn_pmax = 0.2,
                          .pfc_xoff_B = 256 * 1024,
                          .pfc_xon_B = 240 * 1024,
                          .pfc_headroom_B = PACKET_NO_LIMIT,
                          .reroute_delay_ps = PS_PER_MS,
                          .transport = "window"};
}

static gboolean
check_sizes(const PacketConfig *config, GError **error)
{
    uint64_t full_B = (uint64_t)config->mtu_B + config->header_B;
    if (config->mtu_B == 0 || full_B > UINT16_MAX)
        return error_input(error, "packet: mtu %u B and header %u B; expected an mtu above 0, both at most 65535 B",
                           config->mtu_B, config->header_B);
    if (config->ack_B == 0 || config->ack_B > UINT16_MAX)
        return error_input(error, "packet: ack %u B, expected 1 to 65535 B", config->ack_B);
    if (config->header_B == 0)
        return error_input(error, "packet: header 0 B, expected at least 1 B: a message of no byte is a packet too");
    return TRUE;
}

gboolean
packet_config_check(const PacketConfig *config, GError **error)
{
    if (!check_sizes(config, error))
        return FALSE;
    if (config->ecn_kmin_B > config->ecn_kmax_B)
        return error_input(error, "packet: ecn kmin %" G_GUINT64_FORMAT " B is above kmax %" G_GUINT64_FORMAT " B",
                           config->ecn_kmin_B, config->ecn_kmax_B);
    if (!(config->ecn_pmax >= 0 && config->ecn_pmax <= 1))
        return error_input(error, "packet: ecn pmax %g, expected 0 to 1", config->ecn_pmax);
    if (config->pfc && config->pfc_xon_B > config->pfc_xoff_B)
        return error_input(error, "packet: pfc xon %" G_GUINT64_FORMAT " B is above xoff %" G_GUINT64_FORMAT " B",
                           config->pfc_xon_B, config->pfc_xoff_B);
    if (!(config->alpha > 0))
        return error_input(error, "packet: alpha %g, expected above 0", config->alpha);
    return TRUE;
}

static gboolean
check(const NetworkConfig *network, GError **error)
{
    const PacketConfig *config = &network->packet;
    TransportSetup setup;
    if (!packet_config_check(config, error))
        return FALSE;
    if (!transport_setup(config->transport, config->settings, config->n_settings, &setup, error))
        return FALSE;
    transport_setup_clear(&setup);
    return TRUE;
}

/* Can a packet be lost, links that die apart? */
static gboolean
may_lose(const PacketNet *net)
{
    const PacketConfig *config = &net->base.config.packet;
    if (config->pfc ? config->pfc_headroom_B != PACKET_NO_LIMIT : config->shared_buffer_B != 0)
        return TRUE;
    for (uint32_t l = 0; l < fabric_n_links(net->fabric); l++)
        if (net->rest[l].loss > 0 || (!config->pfc && net->rest[l].buffer_B != PACKET_NO_LIMIT))
            return TRUE;
    return FALSE;
}

/* Of a flow that nothing can be lost of: the common ACK timeout of RoCE NICs, 4.096 us x 2^14 = 67.1 ms. */
#define LOSSLESS_TIMEOUT_PS (INT64_C(4096000) << 14)

static void
add_kinds(PacketNet *net)
{
    Engine *engine = net->base.engine;
    net->kind_arrive = engine_add_kind(engine, packet_port_handle_arrive, net);
    net->kind_free = engine_add_kind(engine, packet_port_handle_free, net);
    net->kind_timer = engine_add_kind(engine, packet_flow_handle_timer, net);
    net->kind_sink = engine_add_kind(engine, packet_sink_handle_timer, net);
    net->kind_pause = engine_add_kind(engine, packet_pfc_handle_pause, net);
    net->kind_check = engine_add_kind(engine, packet_pfc_handle_check, net);
}

static void handle_reroute(void *owner, const Event *event);
static void on_sent(void *owner, uint32_t number);

static void
init(Network *network)
{
    PacketNet *net = (PacketNet *)network;
    const PacketConfig *config = &network->config.packet;
    gboolean sound = transport_setup(config->transport, config->settings, config->n_settings, &net->setup, NULL);
    assert(sound);
    (void)sound;
    net->transport = net->setup.transport;
    RoutingPolicy policy = routes_policy(network->routes);
    if (!net->setup.recovery_given && (policy == ROUTING_SPRAY || policy == ROUTING_ADAPTIVE))
        net->setup.recovery.kind = RECOVERY_REORDER_TOLERANT;
    net->fabric = routes_fabric(network->routes);
    net->full_B = config->mtu_B + config->header_B;
    net->cut_through = config->cut_through;
    net->trim = config->trim || net->transport->wants_trim;
    net->control_first = config->control_first || net->trim;
    net->counting = network->config.books || net->transport->wants_hops;
    gboolean classes;
    net->limited = packet_limits_set(&network->config, &classes);
    net->direct = !classes && !config->pfc && config->shared_buffer_B == 0 && !net->control_first &&
                  config->n_classes == 0 && !net->transport->wants_hops;
    net->spare = net->spare_flow = INDEX_NONE;
    net->flow_blocks = g_ptr_array_new_with_free_func(g_free);
    packet_ports_init(net);
    net->sinks = g_new0(TransportSink *, MAX(1, fabric_n_links(net->fabric)));
    net->timeout_ps = net->setup.recovery.timeout_ps;
    if (net->timeout_ps == 0 && !may_lose(net))
        net->timeout_ps = LOSSLESS_TIMEOUT_PS;
    if (network->config.books)
        net->books = packet_books_new(&network->observer, fabric_n_links(net->fabric), network->config.bucket_ps);
    add_kinds(net);
    net->kind_reroute = engine_add_kind(network->engine, handle_reroute, net);
    activities_on_sent(network->activities, on_sent, net);
}

static void
destroy(Network *network)
{
    PacketNet *net = (PacketNet *)network;
    for (uint32_t f = 0; f < net->n_flows; f++) {
        Flow *flow = packet_flow(net, f);
        if (!flow->live)
            continue;
        recovery_sender_clear(&flow->sender);
        recovery_receiver_clear(&flow->receiver);
        g_free(flow->open.state);
    }
    g_ptr_array_unref(net->flow_blocks);
    packet_sinks_clear(net);
    packet_ports_clear(net);
    packet_losses_free(net->losses);
    packet_books_free(net->books);
    transport_setup_clear(&net->setup);
    g_free(net->words);
    g_free(net->progress);
    g_free(net->class_of_job);
}

static void
add_job(Network *network, uint32_t job, const char *name)
{
    PacketNet *net = (PacketNet *)network;
    const PacketConfig *config = &network->config.packet;
    net->class_of_job = g_renew(uint8_t, net->class_of_job, job + 1);
    net->class_of_job[job] = 0;
    if (job == 1 && net->books != NULL)
        net->losses = packet_losses_new(net);
    for (uint32_t i = 0; i < config->n_classes; i++)
        if (strcmp(config->classes[i].job, name) == 0)
            net->class_of_job[job] = (uint8_t)config->classes[i].class;
}

/* A flow for each queue pair of a transfer. */
static gboolean
open_pairs(PacketNet *net, uint32_t activity, const Transfer *transfer, GArray *flows, GError **error)
{
    PathLimit limit = packet_limit_of(net, transfer);
    uint32_t n = packet_limit_pairs(net, &limit, transfer->bytes), flow;
    Transfer part = *transfer;
    part.rate_cap_Bps /= n;
    part.weight /= n;
    for (uint32_t k = 0; k < n; k++) {
        part.bytes = transfer->bytes / n + (k < transfer->bytes % n);
        if (!packet_flow_open(net, activity, &part, &limit, &flow, error))
            return FALSE;
        g_array_append_val(flows, flow);
    }
    return TRUE;
}

/* Opens flows for each member that moves; their numbers into flows. FALSE: none is open. */
static gboolean
open_flows(PacketNet *net, uint32_t number, GArray *flows, GError **error)
{
    const Activity *activity = activities_get(net->base.activities, number);
    for (uint32_t i = 0; i < activity->n_members; i++) {
        Transfer member = activity_member(activity, i);
        if (member.src == member.dst || open_pairs(net, number, &member, flows, error))
            continue;
        for (guint f = 0; f < flows->len; f++)
            packet_flow_close(net, packet_flow(net, g_array_index(flows, uint32_t, f)));
        return FALSE;
    }
    return TRUE;
}

static gboolean
start(Network *network, uint32_t number, GError **error)
{
    PacketNet *net = (PacketNet *)network;
    g_autoptr(GArray) flows = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (!open_flows(net, number, flows, error))
        return FALSE;
    if (number >= net->progress_room) {
        net->progress_room = MAX(number + 1, MAX(256, 2 * net->progress_room));
        net->progress = g_renew(Progress, net->progress, net->progress_room);
    }
    net->progress[number] = (Progress){.sending = flows->len, .arriving = flows->len, .local = flows->len == 0};
    if (flows->len == 0)
        activities_sent_in(network->activities, number, 0);
    for (guint f = 0; f < flows->len; f++)
        packet_flow_begin(net, g_array_index(flows, uint32_t, f));
    return TRUE;
}

/* Arrivals tell of deliveries, but where nothing had to move. */
static void
on_sent(void *owner, uint32_t number)
{
    PacketNet *net = owner;
    const Activity *activity = activities_get(net->base.activities, number);
    if (net->progress[number].local)
        activities_delivered_in(net->base.activities, number, activity->single ? 0 : activity->latency_ps);
}

static void
set_link(Network *network, uint32_t link, double rate_Bps)
{
    PacketNet *net = (PacketNet *)network;
    double before = net->ports[link].rate_Bps;
    packet_port_change_rate(net, link, rate_Bps);
    if (net->losses != NULL)
        packet_losses_link(net->losses, link);
    if (net->sinks[link] != NULL)
        net->sinks[link]->rate_Bps = rate_Bps;
    if ((rate_Bps > 0) == (before > 0))
        return;
    if (rate_Bps == 0)
        packet_port_flush(net, link);
    else
        packet_port_wake(net, link); /* flows that wait for it */
    engine_schedule_in(network->engine, network->config.packet.reroute_delay_ps,
                       (Event){.kind = net->kind_reroute, .target = link, .sender = NETWORK_SENDER});
}

/* The routing has learnt of a link's death or return: flows over a dead one, and those without a way, look for another.
 * What goes another way does not come back by itself. */
static void
handle_reroute(void *owner, const Event *event)
{
    PacketNet *net = owner;
    uint32_t link = event->target;
    gboolean dead = net->ports[link].rate_Bps == 0;
    routes_set_alive(net->base.routes, link, !dead);
    net->base.changes++;
    if (dead)
        packet_flow_leave_rings(net, link);
    for (uint32_t f = 0; f < net->n_flows; f++) {
        Flow *flow = packet_flow(net, f);
        if (!flow->live || flow->done)
            continue;
        gboolean over_it =
            dead && (packet_path_holds(net, flow->forward, link) || packet_path_holds(net, flow->back, link));
        if (flow->lost_way || over_it)
            packet_flow_reroute(net, flow);
    }
}

static gboolean
probe(Network *network, const Transfer *transfer, NetworkProbe *result, GError **error)
{
    PacketNet *net = (PacketNet *)network;
    *result = (NetworkProbe){.rate_Bps = INFINITY};
    if (transfer->src == transfer->dst)
        return TRUE;
    RouteRequest request = network_request(network, transfer);
    PathLimit limit = packet_limit_of(net, transfer);
    PathMade made;
    if (!packet_path_make(net, &request, limit.spread, &made, error))
        return FALSE;
    packet_path_free(net, made.path);
    double payload = (double)network->config.packet.mtu_B / net->full_B,
           rate = MIN(made.line_Bps * payload, transfer->rate_cap_Bps);
    Route route;
    if (net->limited && routes_find(network->routes, &request, &route, NULL))
        rate = MIN(rate, path_limit_rate(network_limits(network, transfer), net->fabric, &route, payload));
    *result = (NetworkProbe){.latency_ps = made.latency_ps, .rate_Bps = rate};
    return TRUE;
}

static void
finish(Network *network)
{
    PacketNet *net = (PacketNet *)network;
    SimTime now = engine_now(network->engine);
    network->totals.packet = net->totals;
    if (net->books == NULL)
        return;
    packet_books_finish(net->books, now);
    if (net->losses != NULL)
        packet_losses_finish(net->losses);
    for (uint32_t l = 0; l < fabric_n_links(net->fabric); l++) {
        PacketLinkCounts *counts = &net->rest[l].counts;
        if (net->ports[l].paused != 0)
            counts->paused_ps += now - net->rest[l].paused_since;
        if (network->observer.packet_link != NULL &&
            (counts->data_packets > 0 || counts->control_packets > 0 || counts->dropped > 0))
            network->observer.packet_link(network->observer.owner, l, counts);
    }
}

const NetworkModel network_packet = {
    .name = "packet",
    .help = "packets through output-queued switches: queues, loss, pauses, transports",
    .moves_bytes = TRUE,
    .size = sizeof(PacketNet),
    .check = check,
    .init = init,
    .destroy = destroy,
    .add_job = add_job,
    .start = start,
    .set_link = set_link,
    .probe = probe,
    .finish = finish,
};
