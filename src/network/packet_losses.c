/* packet_losses.c - reading the clocks of packet flows: what each lost, to whom, at which port */
#include "network/packet_losses.h"

#include "network/demand.h"
#include "network/packet_claim.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { ROUND_TRIPS = 10 };

/* A port of the way, as it was when the clock was last read. */
typedef struct {
    uint32_t link, n_rows; /* rows: of the books of bytes, by job */
    double share;          /* of the flow's bytes */
    uint64_t queue_B;      /* sum over packets of what each met */
    uint64_t packets;
} Watch;

/* Of one job over one port, from the beginning. */
typedef struct {
    uint64_t bytes;
    SimTime busy_ps;
} Moved;

typedef struct {
    uint32_t flow;                 /* number; INDEX_NONE = spare */
    uint32_t claim, before, after; /* in the claim's list */
    uint32_t alone;                /* its flow in the solver; INDEX_NONE = it has none */
    uint32_t dead_link;            /* INDEX_NONE; else it lost its way there, and has not gone on since */
    gboolean has_way;              /* of one that lost it: there is another */
    SimTime read_ps;               /* the clock was last read, or begins */
    SimTime noted_ps;              /* what the ports had carried was noted */
    double needed_ps;              /* what was acknowledged since then would have taken alone */
    double needed_per_B;           /* ps, at the present rate alone; 0 where there is none yet */
    Watch *watches;
    Moved *moved; /* of each row of each watch, in turn, when the clock was last read */
    uint32_t n_watches;
} Clock;

/* A collective, or a transfer of none. */
typedef struct {
    uint32_t coflow, first, n; /* clocks */
    PacketClaim lost;
    gboolean used;
} Claim;

struct PacketLosses {
    PacketNet *net;
    DemandMaker *maker;
    LossBook *book;
    MaxMin *alone;        /* a link of it is a row of the books of bytes: (link, job) */
    uint32_t alone_links; /* so many are there */
    gboolean dirty;       /* since dirty_ps */
    SimTime dirty_ps;
    double *usual_ps, *usual_of_ps; /* by row of the books of bytes: lost so far, and of how much time */
    uint32_t n_usual;
    double others_ps; /* scratch: so long were others at the port looked at */
    uint32_t *owner;  /* clock by flow of the solver */
    uint32_t owner_room;
    GArray *clocks, *claims; /* of Clock, Claim */
    GArray *spare_clocks, *spare_claims;
    GHashTable *claim_of;    /* by coflow + 1; only looked up */
    GArray *uses, *culprits; /* scratch */
};

static Clock *
clock_at(const PacketLosses *losses, uint32_t number)
{
    return &g_array_index(losses->clocks, Clock, number);
}

static Claim *
claim_at(const PacketLosses *losses, uint32_t number)
{
    return &g_array_index(losses->claims, Claim, number);
}

static Flow *
flow_of(const PacketLosses *losses, const Clock *clock)
{
    return packet_flow(losses->net, clock->flow);
}

PacketLosses *
packet_losses_new(PacketNet *net)
{
    PacketLosses *losses = g_new0(PacketLosses, 1);
    losses->net = net;
    losses->maker = demand_maker_new(&net->base);
    losses->book = loss_book_new();
    losses->alone = maxmin_new(0);
    losses->clocks = g_array_new(FALSE, TRUE, sizeof(Clock));
    losses->claims = g_array_new(FALSE, TRUE, sizeof(Claim));
    losses->spare_clocks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    losses->spare_claims = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    losses->claim_of = g_hash_table_new(NULL, NULL);
    losses->uses = g_array_new(FALSE, FALSE, sizeof(MaxMinUse));
    losses->culprits = g_array_new(FALSE, FALSE, sizeof(LossCulprit));
    return losses;
}

void
packet_losses_free(PacketLosses *losses)
{
    if (losses == NULL)
        return;
    for (guint i = 0; i < losses->clocks->len; i++) {
        g_free(clock_at(losses, i)->watches);
        g_free(clock_at(losses, i)->moved);
    }
    for (guint i = 0; i < losses->claims->len; i++)
        packet_claim_clear(&claim_at(losses, i)->lost);
    demand_maker_free(losses->maker);
    loss_book_free(losses->book);
    maxmin_free(losses->alone);
    GArray *arrays[] = {losses->clocks,       losses->claims, losses->spare_clocks,
                        losses->spare_claims, losses->uses,   losses->culprits};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_array_unref(arrays[i]);
    g_hash_table_unref(losses->claim_of);
    g_free(losses->owner);
    g_free(losses->usual_ps);
    g_free(losses->usual_of_ps);
    g_free(losses);
}

/* Rates alone */

static void
solve(PacketLosses *losses)
{
    uint32_t n;
    const uint32_t *changed = maxmin_solve(losses->alone, &n);
    for (uint32_t i = 0; i < n; i++) {
        Clock *clock = clock_at(losses, losses->owner[changed[i]]);
        double rate = maxmin_rate(losses->alone, changed[i]);
        clock->needed_per_B = rate > 0 ? PS_PER_S / rate : 0;
    }
    losses->dirty = FALSE;
}

/* Changes of one instant are solved once, before time is counted again. */
static void
settle(PacketLosses *losses)
{
    if (losses->dirty && packet_now(losses->net) > losses->dirty_ps)
        solve(losses);
}

static void
touch(PacketLosses *losses)
{
    losses->dirty = TRUE;
    losses->dirty_ps = packet_now(losses->net);
}

/* The most that its transport lets it have: of a fixed window, a round trip's worth. */
static double
cap_of(const Flow *flow, double demand_Bps)
{
    const TransportFlow *open = &flow->open;
    double cap = MIN(demand_Bps, flow->transfer.rate_cap_Bps);
    if (strcmp(open->net->transport->name, "window") == 0 && open->window_B != TRANSPORT_NO_LIMIT)
        cap = MIN(cap, (double)MAX(open->window_B, open->packet_B) / sim_time_seconds(open->rtt_ps));
    return cap;
}

static void
follow_links(PacketLosses *losses)
{
    uint32_t n = packet_books_n_rows(losses->net->books);
    for (; losses->alone_links < n; losses->alone_links++)
        maxmin_add_link(losses->alone,
                        losses->net->ports[packet_books_row(losses->net->books, losses->alone_links).link].rate_Bps);
}

/* Its ports, and its flow in the solver. FALSE: it has no way. */
static gboolean
find_way(PacketLosses *losses, uint32_t number)
{
    PacketNet *net = losses->net;
    Clock *clock = clock_at(losses, number);
    const Flow *flow = flow_of(losses, clock);
    Demand demand;
    gboolean all = routes_policy(net->base.routes) == ROUTING_ADAPTIVE;
    if (!demand_make(losses->maker, &flow->transfer, 1, all, &demand, NULL) || demand.n == 0)
        return FALSE;
    clock->watches = g_renew(Watch, clock->watches, demand.n);
    clock->n_watches = demand.n;
    g_array_set_size(losses->uses, 0);
    for (uint32_t i = 0; i < demand.n; i++) {
        MaxMinUse use = demand.uses[i];
        clock->watches[i] = (Watch){.link = use.link, .share = use.coefficient};
        use.link = packet_books_find(net->books, use.link, flow->transfer.job);
        g_array_append_val(losses->uses, use);
    }
    follow_links(losses);
    clock->alone = maxmin_add(losses->alone, (const MaxMinUse *)(void *)losses->uses->data, demand.n,
                              flow->transfer.weight, cap_of(flow, demand.cap_Bps));
    if (clock->alone >= losses->owner_room) {
        losses->owner_room = MAX(clock->alone + 1, MAX(256, 2 * losses->owner_room));
        losses->owner = g_renew(uint32_t, losses->owner, losses->owner_room);
    }
    losses->owner[clock->alone] = number;
    touch(losses);
    return TRUE;
}

static void
lose_way(PacketLosses *losses, Clock *clock)
{
    if (clock->alone != INDEX_NONE) {
        maxmin_remove(losses->alone, clock->alone);
        touch(losses);
    }
    clock->alone = INDEX_NONE;
    clock->needed_per_B = 0;
}

/* Reading a clock */

static Moved
moved_of(const PacketNet *net, uint32_t r)
{
    PacketRow row = packet_books_row(net->books, r);
    return (Moved){row.moved_B, row.moved_ps};
}

/* Notes how much each port has carried. */
static void
begin_stretch(PacketLosses *losses, Clock *clock, SimTime at)
{
    const PacketNet *net = losses->net;
    uint32_t n = 0;
    for (uint32_t i = 0; i < clock->n_watches; i++) {
        Watch *watch = &clock->watches[i];
        const PortRest *rest = &net->rest[watch->link];
        watch->queue_B = rest->met_B;
        watch->packets = rest->counts.data_packets + rest->counts.control_packets;
        watch->n_rows = 0;
        for (uint32_t r = packet_books_first(net->books, watch->link); r != INDEX_NONE;
             r = packet_books_row(net->books, r).next)
            watch->n_rows++;
        n += watch->n_rows;
    }
    clock->moved = g_renew(Moved, clock->moved, MAX(1, n));
    n = 0;
    for (uint32_t i = 0; i < clock->n_watches; i++)
        for (uint32_t r = packet_books_first(net->books, clock->watches[i].link); r != INDEX_NONE;
             r = packet_books_row(net->books, r).next)
            clock->moved[n++] = moved_of(net, r);
    clock->read_ps = at;
    clock->noted_ps = packet_now(net);
    clock->needed_ps = 0;
}

/* Of a port in the stretch: what other jobs moved, each; their sum. */
static double
others_at(PacketLosses *losses, const Clock *clock, uint32_t w, uint32_t first_row)
{
    const PacketNet *net = losses->net;
    const Watch *watch = &clock->watches[w];
    uint32_t job = flow_of(losses, clock)->transfer.job, k = 0;
    double sum = 0;
    for (uint32_t r = packet_books_first(net->books, watch->link); r != INDEX_NONE; k++) {
        PacketRow row = packet_books_row(net->books, r);
        Moved before = k < watch->n_rows ? clock->moved[first_row + k] : (Moved){0}, moved = moved_of(net, r);
        moved.bytes -= before.bytes;
        moved.busy_ps -= before.busy_ps;
        LossCulprit culprit = {.job = row.job, .bytes = (double)moved.bytes};
        r = row.next;
        if (row.job == job || moved.bytes == 0)
            continue;
        sum += (double)moved.bytes;
        losses->others_ps += (double)moved.busy_ps;
        g_array_append_val(losses->culprits, culprit);
    }
    return sum;
}

/* The port of the way with the longest queue in the stretch, as packets met it; where none met any, the one that was
 * busiest. Fills culprits with the other jobs there. */
static uint32_t
most_queued(PacketLosses *losses, const Clock *clock)
{
    const PacketNet *net = losses->net;
    uint32_t row = 0, best = 0, best_row = 0;
    double best_queue = -1, best_load = -1;
    for (uint32_t i = 0; i < clock->n_watches; row += clock->watches[i++].n_rows) {
        const Watch *watch = &clock->watches[i];
        const PortRest *rest = &net->rest[watch->link];
        double packets = (double)(rest->counts.data_packets + rest->counts.control_packets - watch->packets);
        double queue = packets > 0 ? (double)(rest->met_B - watch->queue_B) / packets : 0;
        double rate = net->ports[watch->link].rate_Bps, load = rate > 0 ? packets / rate : 0;
        if (queue < best_queue || (queue == best_queue && load <= best_load))
            continue;
        best = i;
        best_row = row;
        best_queue = queue;
        best_load = load;
    }
    g_array_set_size(losses->culprits, 0);
    losses->others_ps = 0;
    double sum = others_at(losses, clock, best, best_row);
    for (guint c = 0; c < losses->culprits->len; c++) {
        LossCulprit *culprit = &g_array_index(losses->culprits, LossCulprit, c);
        culprit->share = culprit->bytes / sum;
    }
    return clock->watches[best].link;
}

/* What the others at a port can have cost the job since the ports were noted: they took so much of it that what was
 * left is less than the job's transfers would have there alone. */
static double
most_lost_ps(PacketLosses *losses, const Clock *clock, uint32_t link)
{
    uint32_t row = packet_books_find(losses->net->books, link, flow_of(losses, clock)->transfer.job);
    double time = (double)(packet_now(losses->net) - clock->noted_ps), alone = maxmin_load(losses->alone, row);
    double left = losses->net->ports[link].rate_Bps * MAX(0, 1 - losses->others_ps / time);
    return alone > left ? (1 - left / alone) * time : 0;
}

/* Adds to what a job loses at a port; how much that is a second. */
static double
usual_at(PacketLosses *losses, uint32_t link, uint32_t job, double lost_ps, double of_ps)
{
    uint32_t row = packet_books_find(losses->net->books, link, job);
    if (row >= losses->n_usual) {
        uint32_t n = MAX(row + 1, 2 * losses->n_usual);
        losses->usual_ps = g_renew(double, losses->usual_ps, n);
        losses->usual_of_ps = g_renew(double, losses->usual_of_ps, n);
        for (; losses->n_usual < n; losses->n_usual++)
            losses->usual_ps[losses->n_usual] = losses->usual_of_ps[losses->n_usual] = 0;
    }
    losses->usual_ps[row] += lost_ps;
    losses->usual_of_ps[row] += of_ps;
    return losses->usual_ps[row] / losses->usual_of_ps[row];
}

/* A stretch, and the time lost in it (below 0: gained), for the claim. A queue serves in the order of arrival: of a
 * job's own transfers some are ahead and others behind, and each by itself may seem to have lost what its siblings
 * gained. So no more counts, either way, than the others at the port can have cost, and gains are kept to be set
 * against losses. */
static void
record(PacketLosses *losses, Clock *clock, double lost_ps)
{
    const Flow *flow = flow_of(losses, clock);
    SimTime now = packet_now(losses->net);
    LossRecord row = {.from_ps = clock->read_ps,
                      .to_ps = now,
                      .victim_job = flow->transfer.job,
                      .iteration = flow->transfer.iteration,
                      .kind = LOSS_CONTENTION};
    LossCulprit nobody = {.job = INDEX_NONE, .share = 1};
    PacketClaim *claim = &claim_at(losses, clock->claim)->lost;
    if (clock->dead_link != INDEX_NONE) {
        row.kind = LOSS_FAULT;
        row.link = clock->dead_link;
    } else {
        row.link = most_queued(losses, clock);
        double most = most_lost_ps(losses, clock, row.link), length = (double)(now - clock->read_ps);
        lost_ps = CLAMP(lost_ps, -most, most);
        row.usual = usual_at(losses, row.link, flow->transfer.job, lost_ps, length);
    }
    row.lost = MIN(1, lost_ps / (double)(now - clock->read_ps));
    if (row.lost == 0)
        return;
    if (row.kind == LOSS_FAULT)
        packet_claim_add(claim, row, &nobody, 1);
    else
        packet_claim_add(claim, row, (const LossCulprit *)(void *)losses->culprits->data, losses->culprits->len);
}

/* Counts up to now and begins anew. */
static void
read_clock(PacketLosses *losses, Clock *clock)
{
    SimTime now = packet_now(losses->net);
    if (now <= clock->read_ps || clock->n_watches == 0)
        return;
    settle(losses);
    record(losses, clock, (double)(now - clock->read_ps) - clock->needed_ps);
    begin_stretch(losses, clock, now);
}

/* Claims */

/* A collective's when all of its transfers have ended: until then some may yet be found to have lost more. */
static void
book_claim(PacketLosses *losses, uint32_t number)
{
    packet_claim_book(&claim_at(losses, number)->lost, losses->book, losses->net->base.config.bucket_ps);
}

static uint32_t
take_slot(GArray *rows, GArray *spare)
{
    if (spare->len == 0) {
        g_array_set_size(rows, rows->len + 1);
        return rows->len - 1;
    }
    uint32_t number = g_array_index(spare, uint32_t, spare->len - 1);
    g_array_set_size(spare, spare->len - 1);
    return number;
}

static void
join_claim(PacketLosses *losses, uint32_t number, uint32_t coflow)
{
    gpointer found = coflow != INDEX_NONE ? g_hash_table_lookup(losses->claim_of, GUINT_TO_POINTER(coflow + 1)) : NULL;
    uint32_t c = GPOINTER_TO_UINT(found) - 1;
    if (found == NULL) {
        c = take_slot(losses->claims, losses->spare_claims);
        Claim *fresh = claim_at(losses, c);
        PacketClaim lost = fresh->lost; /* its rows serve again */
        *fresh = (Claim){.coflow = coflow, .first = INDEX_NONE, .lost = lost};
        fresh->used = TRUE;
        if (coflow != INDEX_NONE)
            g_hash_table_insert(losses->claim_of, GUINT_TO_POINTER(coflow + 1), GUINT_TO_POINTER(c + 1));
    }
    Claim *claim = claim_at(losses, c);
    Clock *clock = clock_at(losses, number);
    clock->claim = c;
    clock->before = INDEX_NONE;
    clock->after = claim->first;
    if (claim->first != INDEX_NONE)
        clock_at(losses, claim->first)->before = number;
    claim->first = number;
    claim->n++;
}

static void
leave_claim(PacketLosses *losses, const Clock *clock)
{
    Claim *claim = claim_at(losses, clock->claim);
    uint32_t number = clock->claim;
    if (clock->before != INDEX_NONE)
        clock_at(losses, clock->before)->after = clock->after;
    else
        claim->first = clock->after;
    if (clock->after != INDEX_NONE)
        clock_at(losses, clock->after)->before = clock->before;
    if (--claim->n > 0)
        return;
    book_claim(losses, number);
    claim->used = FALSE;
    if (claim->coflow != INDEX_NONE)
        g_hash_table_remove(losses->claim_of, GUINT_TO_POINTER(claim->coflow + 1));
    g_array_append_val(losses->spare_claims, number);
}

/* Flows */

/* Its way is dead here. */
static void
stop(PacketLosses *losses, Clock *clock, uint32_t link)
{
    lose_way(losses, clock);
    clock->dead_link = link;
    clock->has_way = FALSE;
}

void
packet_losses_enter(PacketLosses *losses, Flow *flow)
{
    settle(losses);
    const TransportFlow *open = &flow->open;
    uint32_t number = take_slot(losses->clocks, losses->spare_clocks);
    Clock *clock = clock_at(losses, number);
    Watch *watches = clock->watches;
    Moved *moved = clock->moved;
    *clock =
        (Clock){.flow = open->number, .alone = INDEX_NONE, .dead_link = INDEX_NONE, .watches = watches, .moved = moved};
    flow->clock = number;
    find_way(losses, number);
    for (uint32_t i = 0; i < clock->n_watches && clock->dead_link == INDEX_NONE; i++)
        if (losses->net->ports[clock->watches[i].link].rate_Bps == 0) /* the routing has not heard of it yet */
            stop(losses, clock, clock->watches[i].link);
    SimTime first = 0;
    uint64_t bytes = MIN(open->packet_B, flow->transfer.bytes + losses->net->base.config.packet.header_B);
    if (!sim_time_from_bytes((double)bytes, open->line_Bps, &first))
        first = 0;
    begin_stretch(losses, clock, packet_now(losses->net) + MAX(0, open->rtt_ps - first));
    join_claim(losses, number, flow->transfer.coflow);
}

void
packet_losses_acked(PacketLosses *losses, Flow *flow, uint64_t bytes)
{
    if (flow->clock == INDEX_NONE)
        return;
    Clock *clock = clock_at(losses, flow->clock);
    settle(losses);
    clock->needed_ps += (double)bytes * clock->needed_per_B;
    if (clock->dead_link != INDEX_NONE) {
        if (!clock->has_way)
            return;
        read_clock(losses, clock);
        clock->dead_link = INDEX_NONE;
    }
    if (packet_now(losses->net) - clock->read_ps < ROUND_TRIPS * flow->open.rtt_ps)
        return;
    read_clock(losses, clock);
    if (claim_at(losses, clock->claim)->coflow == INDEX_NONE)
        book_claim(losses, clock->claim);
}

void
packet_losses_leave(PacketLosses *losses, Flow *flow)
{
    if (flow->clock == INDEX_NONE)
        return;
    Clock *clock = clock_at(losses, flow->clock);
    settle(losses);
    read_clock(losses, clock);
    lose_way(losses, clock);
    leave_claim(losses, clock);
    clock->flow = INDEX_NONE;
    g_array_append_val(losses->spare_clocks, flow->clock);
    flow->clock = INDEX_NONE;
}

/* There, or its ACKs back. */
static gboolean
goes_over(const PacketLosses *losses, const Clock *clock, uint32_t link)
{
    if (packet_path_holds(losses->net, flow_of(losses, clock)->back, link))
        return TRUE;
    for (uint32_t i = 0; i < clock->n_watches; i++)
        if (clock->watches[i].link == link)
            return TRUE;
    return FALSE;
}

void
packet_losses_link(PacketLosses *losses, uint32_t link)
{
    PacketNet *net = losses->net;
    double rate = net->ports[link].rate_Bps;
    settle(losses);
    follow_links(losses);
    for (uint32_t r = packet_books_first(net->books, link); r != INDEX_NONE; r = packet_books_row(net->books, r).next)
        maxmin_set_capacity(losses->alone, r, rate);
    touch(losses);
    for (guint c = 0; c < losses->clocks->len; c++) {
        Clock *clock = clock_at(losses, c);
        if (clock->flow == INDEX_NONE)
            continue;
        if (rate > 0 && clock->dead_link == link)
            clock->has_way = clock->has_way || find_way(losses, c);
        if (rate > 0 || clock->dead_link != INDEX_NONE || !goes_over(losses, clock, link))
            continue;
        read_clock(losses, clock);
        stop(losses, clock, link);
    }
}

void
packet_losses_rerouted(PacketLosses *losses, Flow *flow)
{
    if (flow->clock == INDEX_NONE)
        return;
    settle(losses);
    Clock *clock = clock_at(losses, flow->clock);
    lose_way(losses, clock);
    clock->has_way = find_way(losses, flow->clock);
    if (!clock->has_way)
        return;
    Clock before = *clock;
    begin_stretch(losses, clock, clock->read_ps); /* of the new way's ports */
    clock->needed_ps = before.needed_ps;
}

void
packet_losses_finish(PacketLosses *losses)
{
    settle(losses);
    for (guint c = 0; c < losses->clocks->len; c++)
        if (clock_at(losses, c)->flow != INDEX_NONE)
            read_clock(losses, clock_at(losses, c));
    for (guint c = 0; c < losses->claims->len; c++)
        if (claim_at(losses, c)->used)
            book_claim(losses, c);
    loss_book_settle_gains(losses->book);
    loss_book_tell(losses->book, losses->net->base.config.bucket_ps, &losses->net->base.observer);
}
