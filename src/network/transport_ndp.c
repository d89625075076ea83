/* transport_ndp.c - NDP: the receiver pulls packets at the rate of its link; what finds no room is trimmed
 *
 * Handley et al., "Re-architecting datacenter networks and stacks for low latency and high performance", SIGCOMM 2017,
 * 3.2; the accounts of credit are those of EQDS (Olteanu et al., NSDI 2022). The sender sends a first window at once;
 * each packet of it and after, whole or trimmed, earns a pull, and a pull lets the sender send one packet, those to
 * send again first. All flows that arrive over one last link share its pulls: one a packet time, in turn. A pull
 * carries the number of pulls of its flow so far, so that the next one makes up for a lost one. A packet that vanished
 * without a header is sent again without a pull (its own was never earned). A sender that had no pull for long, or
 * whose recovery timed out, asks, and the receiver grants it what it still lacks, a window at most. Switches trim where
 * a packet finds the buffer full; headers and pulls go first. No return to sender. */
#include "network/transport.h"

#include "base/index.h"

typedef struct {
    uint64_t window_B;
    SimTime ask_ps;
} Params;

/* Default of the first window: two bandwidth-delay products (the paper: 30 packets, its network's). Pulls only keep up
 * what the first window put on the way: one product lasts an empty round trip, and every packet that waits somewhere
 * idles the receiver's link (a sprayed permutation then ends 16 % late instead of 6 %). ask: as the recovery's timeout
 * without loss of headers, 1 ms and four round trips. */
static const TransportParam params[] = {
    {"window", PARAM_SIZE, "0 B", offsetof(Params, window_B),
     .help = "sent before any pull; 0 = two "
             "bandwidth-delay products"},
    {"ask", PARAM_TIME, "0 s", offsetof(Params, ask_ps), .help = "without a pull until it asks; 0 = by itself"},
    {NULL},
};

enum { TIMER_ASK };
enum { LONGEST_ASK = 6 }; /* the time doubles so often at most */

typedef struct {
    uint32_t first; /* packets of the first window */
    /* The sender's. */
    uint32_t pulled; /* highest number that a pull brought */
    uint32_t asked;  /* since a pull came */
    /* The receiver's. */
    uint32_t got;    /* whole packets */
    uint32_t pulls;  /* sent */
    uint32_t queued; /* to be sent */
    int64_t out;     /* packets it may expect: first window and pulls, less what arrived */
    gboolean closed;
    TransportSink *sink;     /* where it is queued */
    uint32_t previous, next; /* in the sink's list, by number of the flow; INDEX_NONE = none */
} State;

typedef struct {
    uint32_t head, tail; /* flows with pulls queued, + 1; 0 = none */
    SimTime free;        /* when the next pull may go */
    gboolean waiting;    /* for the timer */
} Sink;

static void
arm(TransportFlow *flow)
{
    const Params *set = flow->params;
    const State *state = flow->state;
    SimTime delay = set->ask_ps > 0 ? set->ask_ps : PS_PER_MS + 4 * flow->rtt_ps;
    for (uint32_t i = 0; i < MIN(state->asked, LONGEST_ASK) && delay < PS_PER_S; i++)
        delay *= 2;
    transport_set_timer(flow, TIMER_ASK, delay);
}

static void
start(TransportFlow *flow)
{
    const Params *set = flow->params;
    State *state = flow->state;
    double bdp_B = flow->line_Bps * sim_time_seconds(flow->rtt_ps);
    double window_B = set->window_B > 0 ? (double)set->window_B : 2 * bdp_B + flow->packet_B;
    double packets = window_B / flow->packet_B;
    state->first = packets < 1 ? 1 : packets < flow->n_packets ? (uint32_t)packets : flow->n_packets;
    state->out = state->first;
    state->previous = state->next = INDEX_NONE;
    flow->credit_B = (uint64_t)state->first * flow->packet_B;
    arm(flow);
}

/* The receiver's end: a list of flows with pulls to send. */

static void
append(TransportSink *link_end, TransportFlow *flow)
{
    Sink *sink = link_end->state;
    State *state = flow->state;
    state->sink = link_end;
    state->next = INDEX_NONE;
    state->previous = sink->tail - 1; /* of 0: INDEX_NONE */
    if (sink->tail != 0)
        ((State *)transport_flow(link_end->net, sink->tail - 1)->state)->next = flow->number;
    else
        sink->head = flow->number + 1;
    sink->tail = flow->number + 1;
}

static void
unlink_flow(TransportFlow *flow)
{
    State *state = flow->state;
    if (state->sink == NULL)
        return;
    Sink *sink = state->sink->state;
    PacketNet *net = state->sink->net;
    if (state->previous != INDEX_NONE)
        ((State *)transport_flow(net, state->previous)->state)->next = state->next;
    else
        sink->head = state->next + 1;
    if (state->next != INDEX_NONE)
        ((State *)transport_flow(net, state->next)->state)->previous = state->previous;
    else
        sink->tail = state->previous + 1;
    state->sink = NULL;
}

/* Sends the pull whose turn it is, and sees to the next. */
static void
serve(TransportSink *link_end)
{
    Sink *sink = link_end->state;
    SimTime now = transport_sink_now(link_end), time;
    if (sink->waiting || sink->head == 0)
        return;
    if (now >= sink->free) {
        TransportFlow *flow = transport_flow(link_end->net, sink->head - 1);
        State *state = flow->state;
        unlink_flow(flow);
        state->queued--;
        if (state->queued > 0)
            append(link_end, flow);
        transport_signal(flow, TRANSPORT_PULL, ++state->pulls);
        /* A link that is dead now may be back. */
        gboolean live = link_end->rate_Bps > 0 && sim_time_from_bytes(flow->packet_B, link_end->rate_Bps, &time);
        sink->free = now + (live ? time : PS_PER_MS);
    }
    if (sink->head == 0)
        return;
    sink->waiting = TRUE;
    transport_set_sink_timer(link_end, sink->free - now);
}

static void
on_sink_timer(TransportSink *link_end)
{
    ((Sink *)link_end->state)->waiting = FALSE;
    serve(link_end);
}

static void
queue_pulls(TransportFlow *flow, uint32_t n)
{
    State *state = flow->state;
    state->queued += n;
    state->out += n;
    if (state->sink == NULL)
        append(transport_sink(flow), flow);
    serve(state->sink);
}

/* Queues pulls until so many packets are out, of those still lacking. */
static void
pull(TransportFlow *flow, int64_t wanted)
{
    const State *state = flow->state;
    wanted = MIN(wanted, (int64_t)flow->n_packets - state->got);
    if (state->out < wanted)
        queue_pulls(flow, (uint32_t)(wanted - state->out));
}

static void
on_data(TransportFlow *flow, const TransportData *data)
{
    State *state = flow->state;
    if (state->closed)
        return;
    if (data->fresh)
        state->got++;
    state->out--;
    pull(flow, state->out + 1);
}

/* value: the pulls that reached the sender. Those sent since count as out: the next one brings their number. */
static void
on_ask(TransportFlow *flow, uint32_t value)
{
    State *state = flow->state;
    if (state->closed)
        return;
    uint32_t promised = state->pulls + state->queued;
    state->out = promised - MIN(value, promised);
    pull(flow, state->first);
    if (state->queued == 0 && state->pulls == promised)
        queue_pulls(flow, 1);
}

static void
close_receiver(TransportFlow *flow)
{
    State *state = flow->state;
    unlink_flow(flow);
    state->queued = 0;
    state->closed = TRUE;
}

/* The sender's end. */

static void
on_pull(TransportFlow *flow, uint32_t value)
{
    State *state = flow->state;
    if (value <= state->pulled) /* overtaken by a later one */
        return;
    flow->credit_B += (uint64_t)(value - state->pulled) * flow->packet_B;
    state->pulled = value;
    state->asked = 0;
    arm(flow);
}

static void
on_nack(TransportFlow *flow, uint32_t seq, gboolean trimmed)
{
    (void)seq;
    if (!trimmed)
        flow->credit_B += flow->packet_B;
}

static void
ask(TransportFlow *flow)
{
    State *state = flow->state;
    transport_signal(flow, TRANSPORT_ASK, state->pulled);
    state->asked++;
    arm(flow);
}

static void
on_timeout(TransportFlow *flow)
{
    flow->credit_B = MAX(flow->credit_B, flow->packet_B);
    ask(flow);
}

static void
on_timer(TransportFlow *flow, uint32_t timer)
{
    (void)timer;
    ask(flow);
}

const Transport transport_ndp = {
    .name = "ndp",
    .help = "the receiver pulls, switches trim (NDP, EQDS)",
    .params = params,
    .params_size = sizeof(Params),
    .state_size = sizeof(State),
    .sink_size = sizeof(Sink),
    .recovery = RECOVERY_SELECTIVE_REPEAT, /* the model takes reorder_tolerant where packets are sprayed */
    .wants_trim = TRUE,
    .start = start,
    .on_nack = on_nack,
    .on_timeout = on_timeout,
    .on_pull = on_pull,
    .on_timer = on_timer,
    .on_data = on_data,
    .on_ask = on_ask,
    .on_sink_timer = on_sink_timer,
    .on_received = close_receiver,
    .on_end = close_receiver,
};
