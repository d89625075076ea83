#include "network/fluid_state.h"

#include "base/index.h"
#include "base/order.h"

#include "network/model.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* One transfer that ran, or began to run, within the hold. */
typedef struct {
    uint32_t member;
    uint64_t bytes;
    double rate_Bps;           /* mean */
    SimTime start_ps, sent_ps; /* sent_ps -1: it goes on, as this activity */
    uint32_t activity;
} Span;

struct NetworkHold {
    Fluid *self;
    Ways *ways;
    Transfer *transfers;
    double *rate_Bps; /* by member: alone, as told */
    uint32_t n;
    uint32_t claim;
    NetworkRelease release;
    void *owner;
    uint32_t cookie;
    gboolean fills; /* a link, when all run */
    GArray *spans;  /* of Span */
    gboolean flushed;
    /* Room for the links of any member. */
    MaxMinUse *uses;
    uint64_t *bytes;
    uint64_t *prints; /* by member: of its links; 0 = not asked for yet */
};

static const Span *
span_at(const NetworkHold *hold, uint32_t number)
{
    return &g_array_index(hold->spans, Span, number);
}

/* Takes time, and bytes over links. */
static gboolean
moves(const Span *span)
{
    return span->bytes > 0 && !isinf(span->rate_Bps);
}

static double
rate_alone(const Fluid *self, const Ways *ways, uint32_t t)
{
    double rate = ways->cap_Bps[t];
    for (uint32_t h = ways->first[t]; h < ways->first[t + 1]; h++)
        rate = MIN(rate, self->capacity[ways->links[ways->hops[h]]] / (ways->shares != NULL ? ways->shares[h] : 1));
    return maxmin_round_down(rate);
}

/* Can all run at once, each at its rate? crowded: the links that are then full with more than one. */
static gboolean
fits(NetworkHold *hold, uint8_t *crowded)
{
    const Ways *ways = hold->ways;
    g_autofree long double *load = g_new0(long double, MAX(1, ways->n_links));
    g_autofree uint32_t *on = g_new0(uint32_t, MAX(1, ways->n_links));
    for (uint32_t t = 0; t < hold->n; t++)
        for (uint32_t h = ways->first[t]; h < ways->first[t + 1]; h++) {
            load[ways->hops[h]] += (long double)hold->rate_Bps[t] * (ways->shares != NULL ? ways->shares[h] : 1);
            on[ways->hops[h]]++;
        }
    for (uint32_t l = 0; l < ways->n_links; l++) {
        double capacity = hold->self->capacity[ways->links[l]];
        if (load[l] > capacity)
            return FALSE;
        gboolean full = load[l] >= capacity * (1 - 1e-10L);
        crowded[l] = on[l] > 1 && full;
        hold->fills |= full;
    }
    return TRUE;
}

static void
hold_free(NetworkHold *hold)
{
    ways_free(hold->ways);
    g_free(hold->transfers);
    g_free(hold->rate_Bps);
    g_free(hold->uses);
    g_free(hold->bytes);
    g_free(hold->prints);
    g_array_unref(hold->spans);
    g_free(hold);
}

static void flush(NetworkHold *hold);

static void
on_release(void *owner)
{
    NetworkHold *hold = owner, *outer = hold->self->releasing;
    hold->self->releasing = hold;
    hold->release(hold->owner, hold->cookie);
    hold->self->releasing = outer;
    flush(hold);
    hold_free(hold);
}

/* With 1 byte each where they have none: the hold is for any. */
static NetworkHold *
make_hold(Fluid *self, const Transfer *transfers, uint32_t n)
{
    g_autofree Transfer *copy = g_memdup2(transfers, n * sizeof *copy);
    for (uint32_t t = 0; t < n; t++)
        copy[t].bytes = MAX(1, copy[t].bytes);
    Ways *ways = ways_new(self->scratch, copy, n);
    if (ways == NULL)
        return NULL;
    NetworkHold *hold = g_new0(NetworkHold, 1);
    *hold = (NetworkHold){.self = self,
                          .ways = ways,
                          .transfers = g_steal_pointer(&copy),
                          .rate_Bps = g_new(double, n),
                          .n = n,
                          .spans = g_array_new(FALSE, FALSE, sizeof(Span))};
    uint32_t most = 1;
    for (uint32_t t = 0; t < n; t++) {
        hold->rate_Bps[t] = ways->first[t + 1] > ways->first[t] ? rate_alone(self, ways, t) : INFINITY;
        most = MAX(most, ways->first[t + 1] - ways->first[t]);
    }
    hold->uses = g_new(MaxMinUse, most);
    hold->bytes = g_new(uint64_t, most);
    hold->prints = g_new0(uint64_t, n);
    return hold;
}

gboolean
network_hold_fits(Network *network, const Transfer *transfers, uint32_t n)
{
    NetworkHold *hold = make_hold((Fluid *)network, transfers, n);
    if (hold == NULL)
        return FALSE;
    g_autofree uint8_t *crowded = g_new0(uint8_t, MAX(1, hold->ways->n_links));
    gboolean fit = fits(hold, crowded);
    hold_free(hold);
    return fit;
}

/* Books count whole bytes on each link: not those of transfers split over paths. */
static gboolean
may_hold(NetworkHold *hold)
{
    const Fluid *self = hold->self;
    g_autofree uint8_t *crowded = g_new0(uint8_t, MAX(1, hold->ways->n_links));
    if (hold->ways->ramps || (self->usage != NULL && hold->ways->shares != NULL))
        return FALSE;
    for (uint32_t t = 0; t < hold->n; t++)
        if (hold->rate_Bps[t] <= 0)
            return FALSE;
    return fits(hold, crowded) && fluid_may_claim(self, hold->ways->links, hold->ways->n_links, crowded);
}

NetworkHold *
fluid_hold(Network *network, const Transfer *transfers, uint32_t n, NetworkRelease release, void *owner,
           uint32_t cookie)
{
    Fluid *self = (Fluid *)network;
    if (self->load != NULL || link_claims_releasing(self->claims))
        return NULL;
    NetworkHold *hold = make_hold(self, transfers, n);
    if (hold == NULL)
        return NULL;
    const Ways *ways = hold->ways;
    gboolean may = may_hold(hold);
    for (uint32_t l = 0; may && l < ways->n_links && link_claims_n(self->claims) > 0; l++)
        link_claims_touch(self->claims, ways->links[l]);
    if (!may || !fluid_is_free(self, ways->links, ways->n_links)) {
        hold_free(hold);
        return NULL;
    }
    hold->release = release;
    hold->owner = owner;
    hold->cookie = cookie;
    hold->claim = link_claims_take(self->claims, ways->links, ways->n_links,
                                   fluid_is_apart(self, ways->links, ways->n_links), on_release, hold);
    return hold;
}

void
network_hold_end(NetworkHold *hold)
{
    if (hold == NULL)
        return;
    link_claims_drop(hold->self->claims, hold->claim);
    flush(hold);
    hold_free(hold);
}

NetworkProbe
network_hold_probe(const NetworkHold *hold, uint32_t member)
{
    assert(member < hold->n);
    return (NetworkProbe){hold->ways->latency_ps[member], hold->rate_Bps[member]};
}

SimTime
network_hold_time(const NetworkHold *hold, uint32_t member, uint64_t bytes)
{
    assert(member < hold->n);
    if (isinf(hold->rate_Bps[member]))
        return 0;
    SimTime time;
    return count_time(bytes * BYTE, hold->rate_Bps[member], &time) ? time : SIM_TIME_MAX;
}

static void
tell_record(const NetworkHold *hold, const Span *span)
{
    const Network *network = &hold->self->base;
    const Transfer *member = &hold->transfers[span->member];
    TransferRecord record = {.job = member->job,
                             .iteration = member->iteration,
                             .src_rank = member->src_rank,
                             .dst_rank = member->dst_rank,
                             .channel = member->channel,
                             .src = member->src,
                             .dst = member->dst,
                             .bytes = span->bytes,
                             .start_ps = span->start_ps,
                             .sent_ps = span->sent_ps,
                             .end_ps = span->sent_ps + hold->ways->latency_ps[span->member]};
    network->observer.transfer(network->observer.owner, &record);
}

static void
book(NetworkHold *hold, const Span *span)
{
    assert(span->member < hold->n && span->start_ps <= span->sent_ps && span->sent_ps <= fluid_now(hold->self) &&
           !hold->flushed);
    network_hold_count(hold, 1, span->bytes);
    if (network_hold_listens(hold))
        g_array_append_val(hold->spans, *span);
}

void
network_hold_book(NetworkHold *hold, uint32_t member, uint64_t bytes, SimTime start_ps, SimTime sent_ps)
{
    book(hold, &(Span){member, bytes, hold->rate_Bps[member], start_ps, sent_ps, INDEX_NONE});
}

void
network_hold_book_row(NetworkHold *hold, uint32_t member, uint64_t bytes, SimTime start_ps, SimTime sent_ps)
{
    double rate = (double)bytes / ((double)(sent_ps - start_ps) / (double)PS_PER_S);
    if (bytes == 0 || sent_ps == start_ps)
        rate = hold->rate_Bps[member];
    book(hold, &(Span){member, bytes, maxmin_round_down(rate), start_ps, sent_ps, INDEX_NONE});
}

static uint32_t
begin_book(const NetworkHold *hold, const Span *span, SimTime at)
{
    const Ways *ways = hold->ways;
    uint32_t first = ways->first[span->member], n = ways->first[span->member + 1] - first;
    for (uint32_t i = 0; i < n; i++) {
        hold->uses[i] = (MaxMinUse){ways->links[ways->hops[first + i]], 1};
        hold->bytes[i] = span->bytes;
    }
    if (hold->prints[span->member] == 0)
        hold->prints[span->member] = usage_links_print(hold->uses, n);
    Demand demand = {.uses = hold->uses,
                     .bytes = hold->bytes,
                     .n = n,
                     .links_print = hold->prints[span->member],
                     .largest = span->bytes};
    uint32_t book = usage_begin(hold->self->usage, hold->transfers[span->member].job, &demand, at);
    usage_set_rate(hold->self->usage, book, span->rate_Bps, at);
    return book;
}

/* Bytes over links, in the order of time: at one time ends before beginnings, each in the order of their spans. books:
 * by span, what those that go on have. */
static void
book_past(NetworkHold *hold, uint32_t *books)
{
    uint32_t n = 0, n_spans = hold->spans->len;
    g_autofree Keyed *marks = g_new(Keyed, 4 * (size_t)n_spans + 1);
    for (uint32_t s = 0; s < n_spans; s++) {
        const Span *span = span_at(hold, s);
        if (moves(span) && span->sent_ps > span->start_ps)
            marks[n++] = (Keyed){(uint64_t)span->sent_ps, 2 * s};
    }
    for (uint32_t s = 0; s < n_spans; s++) {
        if (moves(span_at(hold, s)))
            marks[n++] = (Keyed){(uint64_t)span_at(hold, s)->start_ps, 2 * s + 1};
    }
    order_by_key(marks, &marks[n], n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t s = marks[i].index / 2;
        const Span *span = span_at(hold, s);
        if (marks[i].index % 2 == 1)
            books[s] = begin_book(hold, span, span->start_ps);
        if (marks[i].index % 2 == 0 || span->sent_ps == span->start_ps)
            usage_end(hold->self->usage, books[s], span->sent_ps);
    }
}

/* Records of what was sent, in the order of arrival; at one time by start, then member. */
static void
tell_records(const NetworkHold *hold)
{
    uint32_t n = 0;
    g_autofree Keyed *order = g_new(Keyed, 2 * (size_t)hold->spans->len + 1);
    for (uint32_t s = 0; s < hold->spans->len; s++)
        if (span_at(hold, s)->sent_ps >= 0)
            order[n++] = (Keyed){span_at(hold, s)->member, s};
    order_by_key(order, &order[n], n);
    for (uint32_t i = 0; i < n; i++)
        order[i].key = (uint64_t)span_at(hold, order[i].index)->start_ps;
    order_by_key(order, &order[n], n);
    for (uint32_t i = 0; i < n; i++) {
        const Span *span = span_at(hold, order[i].index);
        order[i].key = (uint64_t)(span->sent_ps + hold->ways->latency_ps[span->member]);
    }
    order_by_key(order, &order[n], n);
    for (uint32_t i = 0; i < n; i++)
        tell_record(hold, span_at(hold, order[i].index));
}

/* What has begun and goes on enters the solver, at the rate it has had. */
static void
enter_begun(NetworkHold *hold, const Span *span, uint32_t book)
{
    Fluid *self = hold->self;
    const Ways *ways = hold->ways;
    const Transfer *transfer = &hold->transfers[span->member];
    uint32_t first = ways->first[span->member], n = ways->first[span->member + 1] - first;
    activities_get(self->base.activities, span->activity)->latency_ps = ways->latency_ps[span->member];
    FluidFlow *flow = fluid_open(self, span->activity, span->bytes, span->bytes * BYTE, span->start_ps);
    if (n == 0 || span->bytes == 0) {
        activities_sent_in(self->base.activities, span->activity, 0);
        return;
    }
    flow->rate_Bps = span->rate_Bps;
    for (uint32_t i = 0; i < n; i++)
        hold->uses[i] =
            (MaxMinUse){ways->links[ways->hops[first + i]], ways->shares != NULL ? ways->shares[first + i] : 1};
    Demand demand = {.uses = hold->uses,
                     .n = n,
                     .largest = span->bytes,
                     .weight = transfer->weight,
                     .cap_Bps = ways->cap_Bps[span->member]};
    fluid_enter(self, span->activity, &demand, book);
}

static void
flush(NetworkHold *hold)
{
    Fluid *self = hold->self;
    uint32_t n = hold->spans->len;
    if (hold->flushed)
        return;
    hold->flushed = TRUE;
    g_autofree uint32_t *books = g_new(uint32_t, MAX(1, n));
    memset(books, 0xff, n * sizeof *books);
    if (self->usage != NULL)
        book_past(hold, books);
    for (uint32_t s = 0; s < n; s++)
        if (span_at(hold, s)->sent_ps < 0)
            enter_begun(hold, span_at(hold, s), books[s]);
    if (self->base.observer.transfer != NULL)
        tell_records(hold);
}

void
fluid_hold_flush(Fluid *self)
{
    if (self->releasing != NULL)
        flush(self->releasing);
}

/* The member a transfer stands for. */
static uint32_t
member_of(const NetworkHold *hold, const Transfer *transfer)
{
    for (uint32_t t = 0; t < hold->n; t++) {
        const Transfer *it = &hold->transfers[t];
        if (it->src == transfer->src && it->dst == transfer->dst && it->src_rank == transfer->src_rank &&
            it->dst_rank == transfer->dst_rank && it->channel == transfer->channel &&
            it->src_nic == transfer->src_nic && it->dst_nic == transfer->dst_nic)
            return t;
    }
    return INDEX_NONE;
}

void
fluid_start_begun(Network *network, uint32_t number)
{
    Fluid *self = (Fluid *)network;
    NetworkHold *hold = self->releasing;
    const Activity *activity = activities_get(network->activities, number);
    assert(hold != NULL && !hold->flushed);
    uint32_t member = member_of(hold, &activity->first);
    assert(member != INDEX_NONE);
    network->totals.saturated |= hold->fills;
    Span span = {member, activity->first.bytes, hold->rate_Bps[member], activity->start_ps, -1, number};
    g_array_append_val(hold->spans, span);
}

gboolean
network_hold_listens(const NetworkHold *hold)
{
    return hold->self->usage != NULL || hold->self->base.observer.transfer != NULL;
}

void
network_hold_count(NetworkHold *hold, uint64_t n_transfers, uint64_t bytes)
{
    NetworkTotals *totals = &hold->self->base.totals;
    totals->transfers += n_transfers;
    totals->bytes += bytes;
    totals->saturated |= hold->fills;
}
