/* packet_net.h - inside the packet model: its state
 *
 * Packets are records of 32 bytes in a pool. A link is a port of the node it leaves: what is on the wire is a list in
 * order of arrival, of which the engine knows only the head. A node decides as a packet arrives to which port it goes.
 * Where nothing but the order of arrival decides when a packet leaves (no pause, no classes, no shared buffer), its
 * departure is known at once and it goes onto the list right then, one event a packet-hop ("direct"); else it waits in
 * the port's queues until the port is free. Flows wait at the first link of their way and are served in turn. */
#pragma once

#include "network/model.h"
#include "network/recovery_state.h"
#include "network/transport.h"

#include "base/index.h"

typedef enum { PACKET_DATA, PACKET_ACK, PACKET_NACK, PACKET_SIGNAL } PacketKind; /* + TransportSignal */

enum {
    KIND_BITS = 7, /* of Packet.kind; the class above */
    CLASS_SHIFT = 4,
    MARKED = 1, /* Packet.flags */
    AGAIN = 2,
    TRIMMED = 4
};

typedef struct {
    SimTime when;  /* on the wire: of its arrival; waiting: the link it came by, INDEX_NONE = none */
    uint32_t next; /* in its list */
    uint32_t flow;
    uint32_t seq;
    uint32_t value; /* of an ACK: all below have come; of a signal: its number; of data: links passed, while counting */
    uint32_t at;    /* the word of its path that is next */
    uint16_t size;
    uint8_t kind, flags;
} Packet;

/* A directed link, as what is asked of it on every packet. */
typedef struct {
    SimTime busy; /* until then */
    SimTime latency_ps;
    SimTime quiet_ps;                     /* a backlog up to this is neither marked nor refused */
    double rate_Bps;                      /* 0 = dead */
    uint32_t head, tail;                  /* on the wire */
    uint32_t ser_full_ps, ser_control_ps; /* time on the wire of those sizes; 0 = not kept */
    uint64_t waiting_B;
    uint32_t stamp; /* of its events of arrival that count */
    uint8_t flags;  /* FROM_SWITCH ... */
    uint8_t waking; /* an event will come when it is free */
    uint8_t paused; /* classes, by bit */
} Port;

enum { FROM_SWITCH = 1, INTO_SWITCH = 2, LOSES = 4, INTO_HOST = 8 }; /* of a host: a NIC, or what lies before it */

/* The rest of it. */
typedef struct {
    uint64_t buffer_B, kmin_B, kmax_B;
    double pmax, loss;
    uint64_t salt, thrown; /* dice: seed by name, and how often thrown */
    uint64_t sent_B;       /* on the wire in all */
    uint64_t met_B;        /* sum over packets that left: what else waited */
    SimTime paused_since;
    PacketLinkCounts counts;
} PortRest;

/* What waits at a port, by class. */
typedef struct {
    uint32_t first[PACKET_CLASSES], last[PACKET_CLASSES];           /* packets */
    uint32_t ring_first[PACKET_CLASSES], ring_last[PACKET_CLASSES]; /* flows of this source, in turn */
    uint8_t filled, ringed;                                         /* classes that have some, by bit */
} Waiting;

/* Of a link into a switch: what it holds of the buffer there. */
typedef struct {
    uint64_t held_B[PACKET_CLASSES];
    uint8_t stopped; /* classes for which it asked the far end to pause, by bit */
} Ingress;

enum { TIMER_TIMEOUT = TRANSPORT_TIMERS, TIMER_PACE, FLOW_TIMERS };

/* One event at most counts; it may be early, and then looks again. */
typedef struct {
    SimTime due;     /* -1 = off */
    SimTime pending; /* when its event comes; -1 = none */
} FlowTimer;

typedef struct {
    TransportFlow open; /* what the transport sees */
    Transfer transfer;
    uint32_t activity;
    uint32_t generation;                    /* of the slot: a stale event has another */
    uint32_t forward, back;                 /* paths: their first words */
    uint32_t old_paths;                     /* list of paths no longer taken, freed with the flow */
    uint32_t last_link;                     /* of the way forward */
    uint32_t in_network;                    /* packets of this flow that are somewhere */
    uint32_t ring_next, ring_link, ring_at; /* in a ring: of that port; the word after it */
    uint32_t clock;                         /* of packet_losses.c; INDEX_NONE = none */
    uint8_t class, spread;                  /* spread: PathSpread */
    /* Beside what the transport says: wire bytes in flight at most; where message is not 0, of messages of so many
     * packets only so many that are not acknowledged whole. */
    uint64_t most_B;
    uint32_t message, messages;
    double turn; /* packets left of its turn in the ring, by weight */
    gboolean live, in_ring, lost_way, done, arrived;
    uint32_t backoff; /* timeouts without progress */
    SimTime next_send;
    uint64_t received_B; /* payload */
    GHashTable *gaps; /* packet -> links that were passed before its payload was lost; NULL = none (packet_books.c) */
    RecoverySender sender;
    RecoveryReceiver receiver;
    FlowTimer timers[FLOW_TIMERS];
} Flow;

/* Of an activity: members that have not sent, or not received, all. */
typedef struct {
    uint32_t sending, arriving;
    gboolean local; /* nothing has to move */
    SimTime sent_ps;
} Progress;

typedef struct PacketBooks PacketBooks;
typedef struct PacketLosses PacketLosses; /* packet_losses.h */

struct PacketNet {
    Network base;
    const Fabric *fabric;
    TransportSetup setup;
    const Transport *transport;
    gboolean direct;
    gboolean limited; /* is anything set for long ways? */
    uint32_t full_B;  /* of a data packet on the wire */
    gboolean cut_through, counting, control_first, trim;
    SimTime timeout_ps; /* 0 = lossy, by the round trip */
    Port *ports;        /* by link */
    PortRest *rest;
    Waiting *waiting;
    Ingress *ingress;
    uint64_t *used_B; /* by node: of its shared buffer */
    Packet *packets;
    TransportHop *hops;        /* by packet x TRANSPORT_HOPS; NULL unless asked for */
    uint8_t *n_hops;           /* by packet */
    uint32_t n_packets, spare; /* records made; the first free one */
    uint32_t *words;           /* of paths */
    uint32_t n_words, words_room;
    uint32_t free_words[32]; /* by log2 of the size */
    GPtrArray *flow_blocks;
    uint32_t n_flows, spare_flow;
    uint64_t flows_made;
    uint8_t *class_of_job;
    Progress *progress; /* by activity */
    uint32_t progress_room;
    TransportSink **sinks; /* by last link */
    PacketBooks *books;    /* NULL: none kept */
    PacketLosses *losses;  /* likewise, and until two jobs are there */
    uint32_t n_paused;     /* (port, class) */
    gboolean checking;
    uint32_t kind_arrive, kind_free, kind_timer, kind_sink, kind_pause, kind_check, kind_reroute;
    PacketTotals totals;
};

enum { FLOW_BLOCK = 256 };

static inline Flow *
packet_flow(const PacketNet *net, uint32_t number)
{
    return (Flow *)net->flow_blocks->pdata[number / FLOW_BLOCK] + number % FLOW_BLOCK;
}

static inline SimTime
packet_now(const PacketNet *net)
{
    return engine_now(net->base.engine);
}

static inline uint32_t
packet_class(const Packet *packet)
{
    return packet->kind >> CLASS_SHIFT;
}

/* packet_path.c: a path is a row of words: links, or a branch, and an end. */
#define PATH_END UINT32_MAX
#define PATH_BRANCH                                                                                                    \
    UINT32_C(0x80000000) /* | slots; then offset, stride, and a link and the word to go on at, by slot */
#define PATH_ADAPTIVE UINT32_C(0x40000000) /* of a branch: the least queue */

typedef struct {
    uint32_t path;
    uint32_t first_link, last_link;
    SimTime latency_ps; /* of links alone, of the longest way */
    double line_Bps;    /* the slowest link, or of several side by side what they carry together */
} PathMade;

gboolean packet_path_make(PacketNet *net, const RouteRequest *request, PathSpread spread, PathMade *made,
                          GError **error);
/* The rate of a link as routes believe it to be: of a dead one of which they do not know yet, what it had. */
double packet_path_link_rate(const PacketNet *net, uint32_t link);
void packet_path_free(PacketNet *net, uint32_t path);
/* A row of words for other use, freed likewise. */
uint32_t packet_path_row(PacketNet *net, uint32_t n_words);
/* Does it pass link? */
gboolean packet_path_holds(const PacketNet *net, uint32_t path, uint32_t link);
/* In an empty network, of a packet of so many bytes; no link: 0. */
SimTime packet_path_time(const PacketNet *net, uint32_t path, uint32_t size);
/* The link at a branch for a packet with this number; *at = the word after it. */
uint32_t packet_path_choose(const PacketNet *net, uint32_t seq, uint32_t *at);

static inline uint32_t
packet_path_next(const PacketNet *net, uint32_t seq, uint32_t *at)
{
    uint32_t word = net->words[*at];
    if (word < PATH_BRANCH) {
        (*at)++;
        return word;
    }
    return packet_path_choose(net, seq, at);
}

/* packet_port.c */
void packet_ports_init(PacketNet *net);
void packet_ports_clear(PacketNet *net);
uint32_t packet_new(PacketNet *net, Flow *flow, PacketKind kind, uint32_t size);
void packet_free(PacketNet *net, uint32_t number);
/* The packet goes to the next port of its path; came_by: the link by which it came, INDEX_NONE = made here. */
void packet_forward(PacketNet *net, uint32_t number, uint32_t came_by);
/* A flow of this source stands in the port's ring: serve it when free. */
void packet_port_wake(PacketNet *net, uint32_t link);
/* What waits goes at the new rate; the packet on the wire ends as it began. 0: dead, packet_port_flush() follows. */
void packet_port_change_rate(PacketNet *net, uint32_t link, double rate_Bps);
/* All that waits at it or is on it is lost. */
void packet_port_flush(PacketNet *net, uint32_t link);
/* From its first bit on the link until the far end may pass it on, which goes on at word `at`; latency apart. */
SimTime packet_port_hop_time(const PacketNet *net, uint32_t link, uint32_t at, uint32_t size);
/* Bytes that wait at the port, with what is left of the one on its way out. */
uint64_t packet_port_queue(const PacketNet *net, uint32_t link);
/* The packet is lost at this port. */
void packet_port_drop(PacketNet *net, uint32_t link, uint32_t number);
void packet_port_handle_arrive(void *owner, const Event *event);
void packet_port_handle_free(void *owner, const Event *event);

/* packet_pfc.c. A packet waits at a switch, or no more. FALSE: no headroom was left for it. */
gboolean packet_pfc_hold(PacketNet *net, uint32_t came_by, uint32_t class, uint32_t size);
void packet_pfc_release(PacketNet *net, uint32_t came_by, uint32_t class, uint32_t size);
/* Link died: what it paused or was paused by is forgotten. */
void packet_pfc_forget(PacketNet *net, uint32_t link);
void packet_pfc_handle_pause(void *owner, const Event *event);
void packet_pfc_handle_check(void *owner, const Event *event);

/* packet_limit.c: what is set for a transfer on its way; the default where nothing is. */
PathLimit packet_limit_of(const PacketNet *net, const Transfer *transfer);
/* Is anything set that this model knows of? *classes: a class, too. */
gboolean packet_limits_set(const NetworkConfig *config, gboolean *classes);
/* Into how many flows of their own a transfer is cut. */
uint32_t packet_limit_pairs(const PacketNet *net, const PathLimit *limit, uint64_t bytes);
/* Sets the class, the way, the recovery and what may be in flight of a flow just opened. */
void packet_limit_apply(const PacketNet *net, const PathLimit *limit, Flow *flow, RecoveryConfig *recovery);

/* packet_flow.c */
gboolean packet_flow_open(PacketNet *net, uint32_t activity, const Transfer *transfer, const PathLimit *limit,
                          uint32_t *number, GError **error);
void packet_flow_begin(PacketNet *net, uint32_t number);
void packet_flow_close(PacketNet *net, Flow *flow);
/* Closes it when it is done, and nothing of it is anywhere. */
void packet_flow_close_if_over(PacketNet *net, Flow *flow);
void packet_flow_kick(PacketNet *net, Flow *flow);
/* The next packet of a flow of the ring; INDEX_NONE: none may go now. *ended: that flow has now sent all for the first
 * time (else NULL). */
uint32_t packet_flow_pull(PacketNet *net, uint32_t link, uint32_t class, Flow **ended);
void packet_flow_sent_all(PacketNet *net, Flow *flow, SimTime when);
/* A packet has arrived at its end of the flow. */
void packet_flow_arrived(PacketNet *net, uint32_t number);
void packet_flow_handle_timer(void *owner, const Event *event);
/* Its way has changed or died. */
void packet_flow_reroute(PacketNet *net, Flow *flow);
/* Takes the flows out of a dead port's ring. */
void packet_flow_leave_rings(PacketNet *net, uint32_t link);
void packet_flow_set_timer(PacketNet *net, Flow *flow, uint32_t timer, SimTime delay);

/* packet_receive.c */
void packet_receive_data(PacketNet *net, Flow *flow, uint32_t number);

/* packet_transport.c */
void packet_sink_handle_timer(void *owner, const Event *event);
void packet_sinks_clear(PacketNet *net);

/* packet_books.c: bytes of payload by (link, job, bucket), and counters of each link. */
PacketBooks *packet_books_new(const NetworkObserver *observer, uint32_t n_links, SimTime bucket_ps);
void packet_books_free(PacketBooks *books); /* NULL is fine */
/* payload_B left the link; told_B of it, all or nothing, is what no earlier copy brought over it. */
void packet_books_add(PacketBooks *books, uint32_t link, uint32_t job, SimTime start, SimTime end, uint32_t payload_B,
                      uint32_t told_B);
/* The payload of a data packet is lost before the next link of its way. */
void packet_books_lost(Flow *flow, const Packet *packet);
/* A data packet passes a link: is it the first of its copies that does? ends: the link is the last of its way. */
gboolean packet_books_is_first(Flow *flow, const Packet *packet, gboolean ends);
void packet_books_finish(PacketBooks *books, SimTime now);

/* One row for each (link, job), numbered as they are met. */
typedef struct {
    uint32_t link, job, next; /* of the same link, later; INDEX_NONE */
    uint64_t moved_B;         /* so far */
    SimTime moved_ps;         /* so long was the port busy with them */
} PacketRow;
uint32_t packet_books_n_rows(const PacketBooks *books);
PacketRow packet_books_row(const PacketBooks *books, uint32_t row);
/* Made where it is not there. */
uint32_t packet_books_find(PacketBooks *books, uint32_t link, uint32_t job);
/* INDEX_NONE where the link has none. */
uint32_t packet_books_first(const PacketBooks *books, uint32_t link);
