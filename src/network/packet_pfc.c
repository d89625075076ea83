/* packet_pfc.c - priority flow control: who is paused, and cycles of ports that wait for each other
 *
 * A switch counts what it holds of each class of each link into it, from the packet's arrival until it begins to leave.
 * A pause frame takes effect a link latency, and the response time, after it was asked for; it needs no room on the
 * way back, and a packet that has begun to leave is finished. Control packets are never paused.
 *
 * What stands inside a host before its end (a NIC, a switch of PCIe or NVLink) holds back who sends to it by credits,
 * which are modelled the same way, of a round trip of the link in, without a response time, and nothing is lost: a NIC
 * that is paused takes no more from its GPU, so that a transport's pace, not the memory of the NIC, decides what comes
 * after. */
#include "network/packet_net.h"

#include "base/error.h"

#include <assert.h>
#include <string.h>

static const SimTime check_every = PS_PER_MS;

static uint32_t
node_after(const PacketNet *net, uint32_t link)
{
    return fabric_link(net->fabric, link)->dst;
}

/* Of a link within a host: what keeps it busy until a credit given back has brought the next packet, and two packets.
 */
static uint64_t
credits_of(const PacketNet *net, uint32_t link)
{
    const Port *port = &net->ports[link];
    return (uint64_t)(port->rate_Bps * 2 * sim_time_seconds(port->latency_ps)) + 2 * (uint64_t)net->full_B;
}

static uint64_t
xoff_of(const PacketNet *net, uint32_t link)
{
    const PacketConfig *config = &net->base.config.packet;
    if (!(net->ports[link].flags & INTO_SWITCH))
        return credits_of(net, link);
    if (config->shared_buffer_B == 0)
        return config->pfc_xoff_B;
    uint64_t used = net->used_B[node_after(net, link)];
    uint64_t free_B = used < config->shared_buffer_B ? config->shared_buffer_B - used : 0;
    return MIN(config->pfc_xoff_B, (uint64_t)MIN(config->alpha * (double)free_B, 0x1p62));
}

static uint64_t
xon_of(const PacketNet *net, uint32_t link)
{
    if (!(net->ports[link].flags & INTO_SWITCH))
        return credits_of(net, link) - net->full_B;
    return MIN(net->base.config.packet.pfc_xon_B, xoff_of(net, link));
}

static void
send_pause(PacketNet *net, uint32_t link, uint32_t class, gboolean on)
{
    SimTime response_ps = net->ports[link].flags & INTO_SWITCH ? net->base.config.packet.pfc_response_ps : 0;
    engine_schedule_in(
        net->base.engine, net->ports[link].latency_ps + response_ps,
        (Event){.kind = net->kind_pause, .target = link, .sender = NETWORK_SENDER, .stamp = class << 1 | (on ? 1 : 0)});
}

/* Is what came by link counted? */
static gboolean
counted(const PacketNet *net, uint32_t came_by)
{
    if (came_by == INDEX_NONE)
        return FALSE;
    uint8_t flags = net->ports[came_by].flags;
    return flags & INTO_SWITCH || (flags & INTO_HOST && net->base.config.packet.pfc);
}

gboolean
packet_pfc_hold(PacketNet *net, uint32_t came_by, uint32_t class, uint32_t size)
{
    if (!counted(net, came_by))
        return TRUE;
    const PacketConfig *config = &net->base.config.packet;
    Ingress *ingress = &net->ingress[came_by];
    uint32_t node = node_after(net, came_by);
    gboolean bounded = config->pfc && !(net->control_first && class == PACKET_CONTROL_CLASS);
    uint64_t xoff = bounded ? xoff_of(net, came_by) : 0;
    if (bounded && config->pfc_headroom_B != PACKET_NO_LIMIT && net->ports[came_by].flags & INTO_SWITCH &&
        ingress->held_B[class] + size > xoff + config->pfc_headroom_B)
        return FALSE;
    ingress->held_B[class] += size;
    net->used_B[node] += size;
    if (bounded && ingress->held_B[class] > xoff && !(ingress->stopped >> class & 1)) {
        ingress->stopped |= (uint8_t)(1 << class);
        send_pause(net, came_by, class, TRUE);
    }
    return TRUE;
}

void
packet_pfc_release(PacketNet *net, uint32_t came_by, uint32_t class, uint32_t size)
{
    if (!counted(net, came_by))
        return;
    Ingress *ingress = &net->ingress[came_by];
    ingress->held_B[class] -= size;
    net->used_B[node_after(net, came_by)] -= size;
    if (!(ingress->stopped >> class & 1))
        return;
    if (ingress->held_B[class] <= xon_of(net, came_by)) {
        ingress->stopped &= (uint8_t) ~(1 << class);
        send_pause(net, came_by, class, FALSE);
    }
}

static void
unpause(PacketNet *net, uint32_t link, unsigned classes)
{
    Port *port = &net->ports[link];
    unsigned freed = port->paused & classes;
    if (freed == 0)
        return;
    port->paused &= (uint8_t)~freed;
    net->n_paused -= (uint32_t)__builtin_popcount(freed);
    if (port->paused == 0)
        net->rest[link].counts.paused_ps += packet_now(net) - net->rest[link].paused_since;
}

void
packet_pfc_forget(PacketNet *net, uint32_t link)
{
    unpause(net, link, UINT8_MAX);
    net->ingress[link].stopped = 0;
}

/* A look at what is paused; no run is kept going for it: in a deadlock the timeouts of its flows do that. */
static void
schedule_check(PacketNet *net)
{
    if (net->checking)
        return;
    net->checking = TRUE;
    engine_schedule_in(net->base.engine, check_every, (Event){.kind = net->kind_check, .sender = NETWORK_SENDER});
    engine_abandon(net->base.engine, 1);
}

void
packet_pfc_handle_pause(void *owner, const Event *event)
{
    PacketNet *net = owner;
    uint32_t link = event->target, class = event->stamp >> 1;
    Port *port = &net->ports[link];
    if (!(event->stamp & 1)) {
        unpause(net, link, 1u << class);
        packet_port_wake(net, link);
        return;
    }
    if (port->rate_Bps == 0 || port->paused >> class & 1)
        return;
    if (port->paused == 0)
        net->rest[link].paused_since = packet_now(net);
    port->paused |= (uint8_t)(1 << class);
    net->n_paused++;
    net->totals.pauses++;
    net->rest[link].counts.pauses++;
    schedule_check(net);
}

/* What a search for a deadlock knows of one class: which paused ports may be stuck, and how many bytes that came by a
 * link wait at such ports. */
typedef struct {
    const PacketNet *net;
    uint32_t class, n_links;
    uint8_t *stuck;   /* by link */
    uint64_t *held_B; /* by link */
} Search;

/* Bytes in the class's queue of port `link` that came by each link are added to held_B. */
static void
add_held(const Search *search, uint32_t link, uint64_t *held_B)
{
    const PacketNet *net = search->net;
    const Waiting *waiting = &net->waiting[link];
    if (!(waiting->filled >> search->class & 1))
        return;
    for (uint32_t p = waiting->first[search->class]; p != INDEX_NONE; p = net->packets[p].next)
        if ((uint32_t)net->packets[p].when != INDEX_NONE)
            held_B[(uint32_t)net->packets[p].when] += net->packets[p].size;
}

/* At which the far end of a link lets it go on, were nothing else there. */
static uint64_t
empty_xon(const PacketNet *net, uint32_t link)
{
    return net->ports[link].flags & INTO_SWITCH ? net->base.config.packet.pfc_xon_B : xon_of(net, link);
}

/* A port is stuck while more than xon of what its far end holds of it waits at ports that are stuck: were all others to
 * run empty, it would still be paused. Takes out of `stuck` those that are not, until no more are found; the number
 * left. */
static uint32_t
narrow(const Search *search)
{
    uint32_t left;
    gboolean changed = TRUE;
    while (changed) {
        changed = FALSE;
        left = 0;
        memset(search->held_B, 0, search->n_links * sizeof *search->held_B);
        for (uint32_t l = 0; l < search->n_links; l++)
            if (search->stuck[l])
                add_held(search, l, search->held_B);
        for (uint32_t l = 0; l < search->n_links; l++) {
            if (!search->stuck[l])
                continue;
            if (search->held_B[l] > empty_xon(search->net, l)) {
                left++;
                continue;
            }
            search->stuck[l] = FALSE;
            changed = TRUE;
        }
    }
    return left;
}

/* The stuck port behind which most of what came by link waits. */
static uint32_t
waits_for(const Search *search, uint32_t link)
{
    uint32_t n, found = INDEX_NONE;
    uint64_t most = 0;
    const uint32_t *out = fabric_out(search->net->fabric, node_after(search->net, link), &n);
    for (uint32_t i = 0; i < n; i++) {
        if (!search->stuck[out[i]])
            continue;
        memset(search->held_B, 0, search->n_links * sizeof *search->held_B);
        add_held(search, out[i], search->held_B);
        if (search->held_B[link] > most) {
            most = search->held_B[link];
            found = out[i];
        }
    }
    assert(found != INDEX_NONE);
    return found;
}

static void
append_link(const PacketNet *net, uint32_t link, GString *text)
{
    const Link *row = fabric_link(net->fabric, link);
    g_string_append_printf(text, "%s -> %s", fabric_node(net->fabric, row->src)->name,
                           fabric_node(net->fabric, row->dst)->name);
}

/* Walks from any stuck port until one is met again, and tells the ports of that cycle. */
static void
fail(const Search *search)
{
    const PacketNet *net = search->net;
    g_autofree uint8_t *met = g_new0(uint8_t, search->n_links);
    uint32_t link = 0;
    while (!search->stuck[link])
        link++;
    while (!met[link]) {
        met[link] = TRUE;
        link = waits_for(search, link);
    }
    g_autoptr(GString) cycle = g_string_new(NULL);
    uint32_t first = link;
    do {
        append_link(net, link, cycle);
        g_string_append(cycle, " waits for ");
        link = waits_for(search, link);
    } while (link != first);
    append_link(net, first, cycle);
    engine_fail(net->base.engine, g_error_new(TRAINSHED_ERROR, TRAINSHED_ERROR_RUN, "PFC deadlock in class %u: %s",
                                              search->class, cycle->str));
}

/* Is there a cycle of paused ports in this class that will never open? */
static gboolean
search_class(PacketNet *net, uint32_t class)
{
    uint32_t n_links = fabric_n_links(net->fabric), candidates = 0;
    g_autofree uint8_t *stuck = g_new0(uint8_t, n_links);
    g_autofree uint64_t *held_B = g_new0(uint64_t, n_links);
    Search search = {net, class, n_links, stuck, held_B};
    for (uint32_t l = 0; l < n_links; l++) {
        stuck[l] = net->ports[l].paused >> class & net->ingress[l].stopped >> class & 1;
        candidates += stuck[l];
    }
    if (candidates < 2 || narrow(&search) == 0)
        return FALSE;
    fail(&search);
    return TRUE;
}

void
packet_pfc_handle_check(void *owner, const Event *event)
{
    PacketNet *net = owner;
    net->checking = FALSE;
    engine_abandon(net->base.engine, -1);
    if (net->n_paused == 0)
        return;
    for (uint32_t class = 0; class < PACKET_CLASSES; class ++)
        if (search_class(net, class))
            return;
    schedule_check(net);
}
