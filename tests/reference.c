#include "reference.h"

#include <math.h>
#include <string.h>

/* Two numbers of one kind count as equal within this: long doubles carry 64 bits, capacities and shares 53. */
#define CLOSE 1e-15L

/* The level at which the first of those still free is held: the first link to fill, or the first cap. */
static long double
next_level(const Reference *reference, const uint32_t *transfers, uint32_t n, const gboolean *held,
           const long double *used, const long double *rising)
{
    long double level = INFINITY;
    for (uint32_t l = 0; l < reference->n_links; l++)
        if (rising[l] > 0)
            level = fminl(level, fmaxl(0, reference->capacity_Bps[l] - used[l]) / rising[l]);
    for (uint32_t i = 0; i < n; i++) {
        const ReferenceTransfer *transfer = &reference->transfers[transfers[i]];
        if (!held[i])
            level = fminl(level, (long double)transfer->cap_Bps / transfer->weight);
    }
    return level;
}

static gboolean
is_stopped(const Reference *reference, const ReferenceTransfer *transfer, long double level, const long double *used,
           const long double *rising)
{
    if (transfer->cap_Bps <= level * transfer->weight * (1 + CLOSE))
        return TRUE;
    for (uint32_t h = 0; h < transfer->route.n_hops; h++) {
        uint32_t link = transfer->route.hops[h].link;
        if (fmaxl(0, reference->capacity_Bps[link] - used[link]) <= level * rising[link] * (1 + 1e-14L))
            return TRUE;
    }
    return FALSE;
}

void
reference_solve(const Reference *reference, const uint32_t *transfers, uint32_t n, long double *rates)
{
    g_autofree gboolean *held = g_new0(gboolean, n + 1);
    g_autofree long double *used = g_new(long double, reference->n_links + 1);
    g_autofree long double *rising = g_new(long double, reference->n_links + 1);
    for (uint32_t n_held = 0; n_held < n;) {
        memset(used, 0, reference->n_links * sizeof *used);
        memset(rising, 0, reference->n_links * sizeof *rising);
        for (uint32_t i = 0; i < n; i++) {
            const ReferenceTransfer *transfer = &reference->transfers[transfers[i]];
            for (uint32_t h = 0; h < transfer->route.n_hops; h++) {
                const ReferenceHop *hop = &transfer->route.hops[h];
                if (held[i])
                    used[hop->link] += hop->share * rates[i];
                else
                    rising[hop->link] += hop->share * transfer->weight;
            }
        }
        long double level = next_level(reference, transfers, n, held, used, rising);
        for (uint32_t i = 0; i < n; i++) {
            const ReferenceTransfer *transfer = &reference->transfers[transfers[i]];
            if (held[i])
                continue;
            rates[i] = fminl(level * transfer->weight, transfer->cap_Bps);
            held[i] = is_stopped(reference, transfer, level, used, rising);
            n_held += held[i];
        }
    }
}

long double
reference_load(const Reference *reference, uint32_t link, const double *rates)
{
    long double load = 0;
    for (uint32_t t = 0; t < reference->n_transfers; t++) {
        const ReferenceTransfer *transfer = &reference->transfers[t];
        for (uint32_t h = 0; transfer->state == REFERENCE_SENDS && h < transfer->route.n_hops; h++)
            if (transfer->route.hops[h].link == link)
                load += (long double)transfer->route.hops[h].share * rates[t];
    }
    return load;
}

/* Of all that cross the link, the highest rate per weight. */
static double
highest_level(const Reference *reference, uint32_t link, const double *rates)
{
    double highest = 0;
    for (uint32_t t = 0; t < reference->n_transfers; t++) {
        const ReferenceTransfer *transfer = &reference->transfers[t];
        for (uint32_t h = 0; transfer->state == REFERENCE_SENDS && h < transfer->route.n_hops; h++)
            if (transfer->route.hops[h].link == link)
                highest = fmax(highest, rates[t] / transfer->weight);
    }
    return highest;
}

gboolean
reference_is_held(const Reference *reference, uint32_t number, const double *rates, double tolerance)
{
    const ReferenceTransfer *transfer = &reference->transfers[number];
    if (rates[number] >= transfer->cap_Bps * (1 - tolerance))
        return TRUE;
    for (uint32_t h = 0; h < transfer->route.n_hops; h++) {
        uint32_t link = transfer->route.hops[h].link;
        if (reference_load(reference, link, rates) >= reference->capacity_Bps[link] * (1 - tolerance) &&
            rates[number] / transfer->weight >= highest_level(reference, link, rates) * (1 - tolerance))
            return TRUE;
    }
    return FALSE;
}

static gboolean
take_route(Reference *reference, uint32_t number)
{
    ReferenceTransfer *transfer = &reference->transfers[number];
    ReferenceRoute route;
    if (!reference->find_route(reference->owner, number, &route))
        return FALSE;
    transfer->n_routes++;
    g_free(transfer->route.hops);
    transfer->route = route;
    transfer->route.hops = g_memdup2(route.hops, route.n_hops * sizeof *route.hops);
    return TRUE;
}

static void
send_off(ReferenceTransfer *transfer, SimTime now)
{
    transfer->state = REFERENCE_SENT;
    transfer->sent_ps = now;
    transfer->end_ps = now + transfer->route.latency_ps;
}

/* When a transfer that waits begins; -1: not known yet, or never. */
static SimTime
start_of(const Reference *reference, const ReferenceTransfer *transfer)
{
    if (transfer->state != REFERENCE_WAITS)
        return -1;
    if (transfer->after == INDEX_NONE)
        return transfer->start_ps;
    const ReferenceTransfer *before = &reference->transfers[transfer->after];
    return before->state == REFERENCE_SENT ? before->end_ps + transfer->start_ps : -1;
}

/* When what sends would end at its present rate: the ceiling. -1: never. */
static SimTime
end_of(const ReferenceTransfer *transfer, SimTime now)
{
    if (transfer->state != REFERENCE_SENDS || transfer->rate_Bps <= 0)
        return -1;
    long double left_ps = transfer->left_B / transfer->rate_Bps * PS_PER_S;
    return now + (SimTime)ceill(fmaxl(0, left_ps - 1e-4L)); /* what is left below that is rounding */
}

static void
sooner(SimTime *first, SimTime other)
{
    if (other >= 0 && (*first < 0 || other < *first))
        *first = other;
}

static gboolean
crosses(const ReferenceTransfer *transfer, uint32_t link)
{
    for (uint32_t h = 0; h < transfer->route.n_hops; h++)
        if (transfer->route.hops[h].link == link)
            return TRUE;
    return FALSE;
}

static void
apply_fault(Reference *reference, const ReferenceFault *fault)
{
    gboolean dies = fault->capacity_Bps == 0;
    reference->capacity_Bps[fault->link] = fault->capacity_Bps;
    if (reference->link_changed != NULL)
        reference->link_changed(reference->owner, fault->link, fault->capacity_Bps);
    for (uint32_t t = 0; t < reference->n_transfers; t++) {
        ReferenceTransfer *transfer = &reference->transfers[t];
        gboolean hit = dies && transfer->state == REFERENCE_SENDS && crosses(transfer, fault->link);
        if (!hit && transfer->state != REFERENCE_STANDS)
            continue;
        transfer->state = take_route(reference, t) ? REFERENCE_SENDS : REFERENCE_STANDS;
    }
}

/* All that begins at this instant. A transfer from a node to itself, or of no bytes, is sent at once. */
static gboolean
start_all(Reference *reference, SimTime now)
{
    gboolean any = FALSE;
    for (uint32_t t = 0; t < reference->n_transfers; t++) {
        ReferenceTransfer *transfer = &reference->transfers[t];
        if (start_of(reference, transfer) != now)
            continue;
        any = TRUE;
        transfer->begun_ps = now;
        transfer->left_B = transfer->bytes;
        transfer->state = take_route(reference, t) ? REFERENCE_SENDS : REFERENCE_REFUSED;
        if (transfer->state == REFERENCE_SENDS && (transfer->bytes == 0 || transfer->route.n_hops == 0))
            send_off(transfer, now);
    }
    return any;
}

static void
solve_all(Reference *reference)
{
    g_autofree uint32_t *senders = g_new(uint32_t, reference->n_transfers + 1);
    g_autofree long double *rates = g_new(long double, reference->n_transfers + 1);
    uint32_t n = 0;
    for (uint32_t t = 0; t < reference->n_transfers; t++)
        if (reference->transfers[t].state == REFERENCE_SENDS)
            senders[n++] = t;
    reference_solve(reference, senders, n, rates);
    for (uint32_t i = 0; i < n; i++)
        reference->transfers[senders[i]].rate_Bps = rates[i];
}

/* The next instant at which anything happens; -1: none. */
static SimTime
next_instant(const Reference *reference, SimTime now, uint32_t next_fault)
{
    SimTime next = -1;
    gboolean open = FALSE;
    for (uint32_t t = 0; t < reference->n_transfers; t++) {
        const ReferenceTransfer *transfer = &reference->transfers[t];
        sooner(&next, start_of(reference, transfer));
        sooner(&next, end_of(transfer, now));
        open |= transfer->state == REFERENCE_STANDS || transfer->state == REFERENCE_SENDS;
    }
    if ((next >= 0 || open) && next_fault < reference->n_faults)
        sooner(&next, reference->faults[next_fault].at_ps);
    return next;
}

static void
run_on(Reference *reference, SimTime now, SimTime next)
{
    if (reference->interval != NULL && next > now)
        reference->interval(reference->owner, now, next);
    for (uint32_t t = 0; t < reference->n_transfers; t++) {
        ReferenceTransfer *transfer = &reference->transfers[t];
        if (transfer->state != REFERENCE_SENDS)
            continue;
        gboolean ends = end_of(transfer, now) == next;
        transfer->left_B -= transfer->rate_Bps * (next - now) / PS_PER_S;
        if (ends)
            send_off(transfer, next);
    }
}

void
reference_run(Reference *reference)
{
    uint32_t fault = 0;
    for (uint32_t t = 0; t < reference->n_transfers; t++) {
        ReferenceTransfer *transfer = &reference->transfers[t];
        transfer->state = REFERENCE_WAITS;
        transfer->begun_ps = transfer->sent_ps = transfer->end_ps = -1;
        transfer->route = (ReferenceRoute){0};
        transfer->n_routes = 0;
    }
    SimTime now = 0;
    for (SimTime next; (next = next_instant(reference, now, fault)) >= 0; now = next) {
        run_on(reference, now, next);
        for (; fault < reference->n_faults && reference->faults[fault].at_ps == next; fault++)
            apply_fault(reference, &reference->faults[fault]);
        while (start_all(reference, next))
            ;
        solve_all(reference);
    }
}

void
reference_clear(Reference *reference)
{
    for (uint32_t t = 0; t < reference->n_transfers; t++)
        g_clear_pointer(&reference->transfers[t].route.hops, g_free);
}
