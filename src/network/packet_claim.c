#include "network/packet_claim.h"

#include <assert.h>

void
packet_claim_add(PacketClaim *claim, LossRecord record, const LossCulprit *culprits, uint32_t n)
{
    assert(record.from_ps < record.to_ps && record.lost > 0);
    if (claim->records == NULL) {
        claim->records = g_array_new(FALSE, FALSE, sizeof(LossRecord));
        claim->culprits = g_array_new(FALSE, FALSE, sizeof(LossCulprit));
    }
    record.first = claim->culprits->len;
    record.n = n;
    g_array_append_vals(claim->culprits, culprits, n);
    g_array_append_val(claim->records, record);
}

/* Faults apart from the rest; of a sort the greatest share first, among equals the first made (both in one list: what
 * was made first has its culprits first). */
static gint
by_loss(gconstpointer a, gconstpointer b)
{
    const LossRecord *x = a, *y = b;
    if ((x->kind == LOSS_FAULT) != (y->kind == LOSS_FAULT))
        return x->kind == LOSS_FAULT ? 1 : -1;
    if (x->lost != y->lost)
        return x->lost > y->lost ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static gint
by_time(gconstpointer a, gconstpointer b)
{
    SimTime x = *(const SimTime *)a, y = *(const SimTime *)b;
    return x < y ? -1 : x > y;
}

/* The stretch [from, to) of a record, bucket by bucket. */
static void
book_stretch(const PacketClaim *claim, const LossRecord *record, SimTime from, SimTime to, LossBook *book,
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
            loss_book_add(book, &key, time * record->lost * culprit->share, culprit->bytes * time / whole);
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

/* The first stretch from i on that is not covered yet; what was looked through is made short. */
static guint
free_from(guint *next, guint i)
{
    guint found = i;
    while (next[found] != found)
        found = next[found];
    while (next[i] != found) {
        guint after = next[i];
        next[i] = found;
        i = after;
    }
    return found;
}

static guint
place_of(const GArray *moments, SimTime at)
{
    guint low = 0, high = moments->len;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(moments, SimTime, middle) < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void
packet_claim_book(PacketClaim *claim, LossBook *book, SimTime bucket_ps)
{
    if (claim->records == NULL || claim->records->len == 0)
        return;
    g_autoptr(GArray) moments = moments_of(claim);
    g_autofree guint *next = g_new(guint, moments->len);
    g_array_sort(claim->records, by_loss);
    gboolean faults = TRUE;
    for (guint r = 0; r < claim->records->len; r++) {
        const LossRecord *record = &g_array_index(claim->records, LossRecord, r);
        if (r == 0 || (record->kind == LOSS_FAULT) != faults)
            for (guint i = 0; i < moments->len; i++)
                next[i] = i;
        faults = record->kind == LOSS_FAULT;
        guint i = free_from(next, place_of(moments, record->from_ps));
        while (g_array_index(moments, SimTime, i) < record->to_ps) {
            book_stretch(claim, record, g_array_index(moments, SimTime, i), g_array_index(moments, SimTime, i + 1),
                         book, bucket_ps);
            next[i] = i + 1;
            i = free_from(next, i);
        }
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
