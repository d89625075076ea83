#include "network/packet_claim.h"

#include <assert.h>

void
packet_claim_add(PacketClaim *claim, LossRecord record, const LossCulprit *culprits, uint32_t n)
{
    assert(record.from_ps < record.to_ps && record.lost <= 1);
    if (claim->records == NULL) {
        claim->records = g_array_new(FALSE, FALSE, sizeof(LossRecord));
        claim->culprits = g_array_new(FALSE, FALSE, sizeof(LossCulprit));
    }
    record.first = claim->culprits->len;
    record.n = n;
    g_array_append_vals(claim->culprits, culprits, n);
    g_array_append_val(claim->records, record);
}

/* By the beginning; among equals the first made. */
static gint
by_beginning(gconstpointer a, gconstpointer b)
{
    const LossRecord *x = a, *y = b;
    if (x->from_ps != y->from_ps)
        return x->from_ps < y->from_ps ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static gint
by_time(gconstpointer a, gconstpointer b)
{
    SimTime x = *(const SimTime *)a, y = *(const SimTime *)b;
    return x < y ? -1 : x > y;
}

/* The stretch [from, to) of a record, bucket by bucket; one of n at its port. */
static void
book_stretch(const PacketClaim *claim, const LossRecord *record, SimTime from, SimTime to, uint32_t n, LossBook *book,
             SimTime bucket_ps)
{
    double whole = (double)(record->to_ps - record->from_ps);
    while (from < to) {
        int64_t bucket = from / bucket_ps;
        SimTime end = MIN(to, (bucket + 1) * bucket_ps);
        double time = (double)(end - from);
        for (uint32_t c = 0; c < record->n; c++) {
            const LossCulprit *culprit = &g_array_index(claim->culprits, LossCulprit, record->first + c);
            LossKey key = {.victim_job = record->victim_job,
                           .culprit_job = culprit->job,
                           .link = record->link,
                           .iteration = record->iteration,
                           .bucket = bucket,
                           .kind = record->kind};
            loss_book_add(book, &key, time * record->lost * culprit->share / n, culprit->bytes * time / whole / n);
        }
        from = end;
    }
}

/* The moments at which records begin or end, each once. */
static GArray *
moments_of(const PacketClaim *claim)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(SimTime));
    for (guint i = 0; i < claim->records->len; i++) {
        const LossRecord *record = &g_array_index(claim->records, LossRecord, i);
        g_array_append_val(all, record->from_ps);
        g_array_append_val(all, record->to_ps);
    }
    g_array_sort(all, by_time);
    guint kept = 0;
    SimTime *at = (SimTime *)(void *)all->data;
    for (guint i = 0; i < all->len; i++)
        if (kept == 0 || at[kept - 1] != at[i])
            at[kept++] = at[i];
    g_array_set_size(all, kept);
    return all;
}

/* Those of the records under way that are at one port. */
typedef struct {
    uint32_t link, n;
    LossKind kind;
    double usual;
} PortSum;

static PortSum *
port_sum(GArray *sums, const LossRecord *record)
{
    for (guint i = 0; i < sums->len; i++) {
        PortSum *sum = &g_array_index(sums, PortSum, i);
        if (sum->link == record->link && sum->kind == record->kind)
            return sum;
    }
    PortSum fresh = {.link = record->link, .kind = record->kind};
    g_array_append_val(sums, fresh);
    return &g_array_index(sums, PortSum, sums->len - 1);
}

/* A fault before all else; then what is usually lost there, among equals the lowest link. */
static gboolean
is_worse(const PortSum *a, const PortSum *b)
{
    if ((a->kind == LOSS_FAULT) != (b->kind == LOSS_FAULT))
        return a->kind == LOSS_FAULT;
    if (a->usual != b->usual)
        return a->usual > b->usual;
    return a->link < b->link || (a->link == b->link && a->kind < b->kind);
}

/* Books one moment's records: those at the worst port. */
static void
book_moment(const PacketClaim *claim, const GArray *under_way, GArray *sums, SimTime from, SimTime to, LossBook *book,
            SimTime bucket_ps)
{
    g_array_set_size(sums, 0);
    for (guint i = 0; i < under_way->len; i++) {
        const LossRecord *record = &g_array_index(claim->records, LossRecord, g_array_index(under_way, uint32_t, i));
        PortSum *sum = port_sum(sums, record);
        sum->usual = sum->n > 0 ? MAX(sum->usual, record->usual) : record->usual;
        sum->n++;
    }
    const PortSum *worst = &g_array_index(sums, PortSum, 0);
    for (guint i = 1; i < sums->len; i++)
        if (is_worse(&g_array_index(sums, PortSum, i), worst))
            worst = &g_array_index(sums, PortSum, i);
    for (guint i = 0; i < under_way->len; i++) {
        const LossRecord *record = &g_array_index(claim->records, LossRecord, g_array_index(under_way, uint32_t, i));
        if (record->link == worst->link && record->kind == worst->kind)
            book_stretch(claim, record, from, to, worst->n, book, bucket_ps);
    }
}

/* Drops what has ended by then. */
static void
drop_ended(const PacketClaim *claim, GArray *under_way, SimTime now)
{
    guint kept = 0;
    for (guint i = 0; i < under_way->len; i++) {
        uint32_t r = g_array_index(under_way, uint32_t, i);
        if (g_array_index(claim->records, LossRecord, r).to_ps > now)
            g_array_index(under_way, uint32_t, kept++) = r;
    }
    g_array_set_size(under_way, kept);
}

void
packet_claim_book(PacketClaim *claim, LossBook *book, SimTime bucket_ps)
{
    if (claim->records == NULL || claim->records->len == 0)
        return;
    g_autoptr(GArray) moments = moments_of(claim);
    g_autoptr(GArray) under_way = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) sums = g_array_new(FALSE, FALSE, sizeof(PortSum));
    g_array_sort(claim->records, by_beginning);
    uint32_t next = 0;
    for (guint m = 0; m + 1 < moments->len; m++) {
        SimTime from = g_array_index(moments, SimTime, m), to = g_array_index(moments, SimTime, m + 1);
        drop_ended(claim, under_way, from);
        for (; next < claim->records->len && g_array_index(claim->records, LossRecord, next).from_ps <= from; next++)
            g_array_append_val(under_way, next);
        if (under_way->len > 0)
            book_moment(claim, under_way, sums, from, to, book, bucket_ps);
    }
    g_array_set_size(claim->records, 0);
    g_array_set_size(claim->culprits, 0);
}

void
packet_claim_clear(PacketClaim *claim)
{
    if (claim->records == NULL)
        return;
    g_array_unref(claim->records);
    g_array_unref(claim->culprits);
    claim->records = claim->culprits = NULL;
}
