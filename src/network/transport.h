/* transport.h - how fast packets may be sent: one file and one line of the table in transport.c each
 *
 * The packet model holds all packets of a flow and sends them when the flow's three limits allow: a window (bytes in
 * flight), a rate (pacing at the source), and credit. A transport sets these limits in its hooks, which the model calls
 * on what arrives and on timers; after each hook the model sends what may be sent. Losses are recovered by a shared
 * module (recovery.h) that the transport chooses by default and the scenario may change. All bytes here are wire bytes,
 * headers included. Hooks must not decide by address, hash order or libm. */
#pragma once

#include "base/random.h"
#include "base/sim_time.h"
#include "network/packet_config.h"
#include "network/recovery.h"

#define TRANSPORT_NO_LIMIT UINT64_MAX

typedef struct PacketNet PacketNet; /* the model */

/* One per flow, owned by the model. */
typedef struct {
    PacketNet *net;
    uint32_t number; /* of the flow; used again after on_end */
    uint32_t src, dst;
    uint32_t packet_B;  /* of a full data packet */
    uint32_t control_B; /* of an ACK, CNP, pull ... */
    uint32_t n_packets; /* in all */
    uint64_t order;     /* of creation over the run: for dice by name */
    double line_Bps;    /* the slowest link of its way (now) */
    SimTime rtt_ps;     /* of a full packet there and its ACK back in an empty network */
    uint64_t flight_B;  /* sent, and neither acknowledged nor known to be lost */
    gboolean all_sent;  /* nothing new is left: what remains are packets to send again */
    const void *params; /* the transport's block */
    void *state;        /* state_size bytes, zeroed before start: sender and receiver side, as the transport likes */

    /* Limits; the model sets window_B and credit_B to none and rate_Bps to INFINITY before start. */
    uint64_t window_B; /* a packet goes while flight_B + its size <= window_B, or nothing is in flight */
    double rate_Bps;   /* INFINITY = not paced; above 0 */
    uint64_t credit_B; /* a packet takes its size of it, and goes only where that is left */
} TransportFlow;

/* What a data packet met at one port, stamped as it began to leave (in-band telemetry). */
typedef struct {
    uint32_t link;
    double rate_Bps;  /* of the link */
    uint64_t queue_B; /* waiting behind it */
    uint64_t sent_B;  /* the port has sent in all, this packet included */
    SimTime at_ps;    /* when */
} TransportHop;

enum { TRANSPORT_HOPS = 16 }; /* further ones are not stamped */

typedef struct {
    uint32_t seq;        /* the packet whose arrival is acknowledged, from 0 */
    uint32_t cumulative; /* all packets below have arrived */
    uint64_t acked_B;    /* newly acknowledged, 0 for a duplicate */
    gboolean marked;     /* the packet had an ECN mark */
    SimTime rtt_ps;      /* since it was sent; -1: not known (sent again since), or not asked for (wants_rtt) */
    uint32_t n_hops;     /* 0 without wants_hops */
    const TransportHop *hops;
} TransportAck;

/* A data packet at the receiver. */
typedef struct {
    uint32_t seq;
    uint32_t bytes;                  /* that arrived */
    gboolean marked, trimmed, again; /* again: sent more than once */
    gboolean fresh;                  /* whole, and taken for the first time */
} TransportData;

/* The receiver's end of a flow: what flows that arrive over one last link share. */
typedef struct {
    PacketNet *net;
    uint32_t number;
    uint32_t link;   /* the last one */
    double rate_Bps; /* of it */
    const void *params;
    void *state; /* sink_size bytes, zeroed */
} TransportSink;

typedef enum {
    TRANSPORT_CNP,  /* receiver to sender: congestion notification; on_cnp */
    TRANSPORT_PULL, /* receiver to sender: on_pull */
    TRANSPORT_ASK   /* sender to receiver: on_ask */
} TransportSignal;

enum { TRANSPORT_TIMERS = 3 };

/* Services. */
SimTime transport_now(const TransportFlow *flow);
/* Calls on_timer(flow, timer) after delay, instead of what the timer was set to; delay < 0: not at all. A flow's timers
 * end with it. */
void transport_set_timer(TransportFlow *flow, uint32_t timer, SimTime delay);
gboolean transport_timer_is_set(const TransportFlow *flow, uint32_t timer);
/* Sends a control packet with a number in it. */
void transport_signal(TransportFlow *flow, TransportSignal signal, uint32_t value);
/* After its limits were changed outside one of its own hooks. */
void transport_changed(TransportFlow *flow);
TransportSink *transport_sink(const TransportFlow *flow);
/* on_sink_timer(sink) after delay; one timer a sink. */
void transport_set_sink_timer(TransportSink *sink, SimTime delay);
/* The flow of a number, while it lasts; else NULL. */
TransportFlow *transport_flow(PacketNet *net, uint32_t number);
SimTime transport_sink_now(const TransportSink *sink);
uint64_t transport_seed(const PacketNet *net); /* of the scenario */

typedef enum { PARAM_TIME, PARAM_RATE, PARAM_SIZE, PARAM_COUNT, PARAM_NUMBER, PARAM_FLAG } TransportParamKind;

/* Members: SimTime, double (B/s), uint64_t (bytes), uint32_t, double, gboolean ("true", "false"). */
typedef struct {
    const char *name;
    TransportParamKind kind;
    const char *value; /* default, as text with its unit */
    size_t offset;     /* in the parameter block */
    double low, high;  /* of counts and numbers: both included; of the others: low 1 = 0 is refused */
    const char *help;
} TransportParam;

typedef struct {
    const char *name, *help;
    const TransportParam *params; /* ended by a NULL name */
    size_t params_size, state_size, sink_size;
    RecoveryKind recovery; /* by default */
    gboolean wants_rtt;    /* TransportAck.rtt_ps */
    gboolean wants_hops;   /* TransportAck.hops */
    gboolean wants_marks;  /* ECN on by default */
    gboolean wants_trim;   /* switches trim instead of dropping */
    /* Any hook but start may be NULL. Sender's side: */
    void (*start)(TransportFlow *flow);
    void (*on_send)(TransportFlow *flow, uint32_t bytes, gboolean again); /* a data packet begins to leave */
    void (*on_ack)(TransportFlow *flow, const TransportAck *ack);
    void (*on_nack)(TransportFlow *flow, uint32_t seq, gboolean trimmed); /* it will be sent again */
    void (*on_timeout)(TransportFlow *flow);                              /* of the recovery */
    void (*on_cnp)(TransportFlow *flow, uint32_t value);
    void (*on_pull)(TransportFlow *flow, uint32_t value);
    void (*on_timer)(TransportFlow *flow, uint32_t timer);
    /* Receiver's side, before the ACK is made: */
    void (*on_data)(TransportFlow *flow, const TransportData *data);
    void (*on_ask)(TransportFlow *flow, uint32_t value);
    void (*on_sink_timer)(TransportSink *sink);
    void (*on_received)(TransportFlow *flow); /* the receiver has all; further copies may come */
    void (*on_end)(TransportFlow *flow);      /* the sender knows: the flow is gone after this */
} Transport;

extern const Transport transport_dcqcn, transport_hpcc, transport_ndp, transport_swift, transport_timely,
    transport_window;

/* A transport with its parameters read. */
typedef struct {
    const Transport *transport;
    void *params; /* owned */
    RecoveryConfig recovery;
    gboolean recovery_given; /* by a setting: else the packet model takes reorder_tolerant where packets are sprayed */
} TransportSetup;

/* Defaults, then the settings. FALSE with an INPUT error: name or key not known (the nearest is named), or a text that
 * is no such quantity. */
gboolean transport_setup(const char *name, const TransportSetting *settings, uint32_t n_settings, TransportSetup *setup,
                         GError **error);
void transport_setup_clear(TransportSetup *setup);
/* Would this one setting be taken? The error does not name the key, which its place does. */
gboolean transport_setting_check(const char *name, const TransportSetting *setting, GError **error);

/* What is in force: calls tell for each parameter of a transport of the table, its own after those of the recovery,
 * with the last text that settings give it, else its default. */
typedef void (*TransportTell)(void *owner, const char *key, const char *text);
void transport_each_parameter(const char *name, const TransportSetting *settings, uint32_t n_settings,
                              TransportTell tell, void *owner);

/* Names in the table, NULL-terminated. */
const char *const *transport_names(void);
const Transport *transport_find(const char *name); /* NULL: not known */
