/* packet_books.c - payload by (link, job, bucket)
 *
 * A packet counts in the bucket in which its last bit leaves; time on the wire is split where a bucket ends within it.
 * Packets leave a link in order, so that a row only ever has its latest bucket open, and one to come. What is told is
 * the payload of a packet once on each link of its way, however often it is sent: the first copy counts until it is
 * lost or trimmed, and copies sent again count from there on. */
#include "network/packet_net.h"

typedef struct {
    uint32_t link, job, next; /* next: row of the same link */
    uint64_t moved_B;         /* in all */
    SimTime moved_ps;         /* the port was busy with them */
    int64_t bucket;
    uint64_t bytes;
    SimTime busy_ps;
} Row;

struct PacketBooks {
    const NetworkObserver *observer;
    uint32_t n_links;
    SimTime bucket_ps;
    uint32_t *first; /* by link */
    GArray *rows;    /* of Row */
};

PacketBooks *
packet_books_new(const NetworkObserver *observer, uint32_t n_links, SimTime bucket_ps)
{
    PacketBooks *books = g_new0(PacketBooks, 1);
    *books = (PacketBooks){.observer = observer,
                           .n_links = n_links,
                           .bucket_ps = bucket_ps,
                           .first = g_new(uint32_t, MAX(1, n_links)),
                           .rows = g_array_new(FALSE, FALSE, sizeof(Row))};
    for (uint32_t l = 0; l < n_links; l++)
        books->first[l] = INDEX_NONE;
    return books;
}

void
packet_books_free(PacketBooks *books)
{
    if (books == NULL)
        return;
    g_free(books->first);
    g_array_unref(books->rows);
    g_free(books);
}

uint32_t
packet_books_find(PacketBooks *books, uint32_t link, uint32_t job)
{
    uint32_t *at = &books->first[link];
    Row *rows = (Row *)(void *)books->rows->data;
    while (*at != INDEX_NONE && rows[*at].job != job)
        at = &rows[*at].next;
    if (*at == INDEX_NONE) {
        uint32_t number = *at = books->rows->len;
        Row row = {.link = link, .job = job, .next = INDEX_NONE, .bucket = -1};
        g_array_append_val(books->rows, row);
        return number;
    }
    return *at;
}

uint32_t
packet_books_first(const PacketBooks *books, uint32_t link)
{
    return books->first[link];
}

uint32_t
packet_books_n_rows(const PacketBooks *books)
{
    return books->rows->len;
}

PacketRow
packet_books_row(const PacketBooks *books, uint32_t row)
{
    const Row *it = &g_array_index(books->rows, Row, row);
    return (PacketRow){
        .link = it->link, .job = it->job, .next = it->next, .moved_B = it->moved_B, .moved_ps = it->moved_ps};
}

static void
tell(const PacketBooks *books, uint32_t link, const Row *row, SimTime end)
{
    if (books->observer->link_usage == NULL || row->bucket < 0 || (row->bytes == 0 && row->busy_ps == 0))
        return;
    SimTime start = row->bucket * books->bucket_ps;
    /* Packets sent again may stand in a queue yet when the run ends; their buckets, which begin after the end, are
     * whole. */
    SimTime length = end > start && end - start < books->bucket_ps ? end - start : books->bucket_ps;
    books->observer->link_usage(books->observer->owner, link, row->job, start, length, row->bytes,
                                MIN(row->busy_ps, length));
}

/* Goes on to a bucket; what is in an earlier one is told. */
static void
turn_to(const PacketBooks *books, uint32_t link, Row *row, int64_t bucket)
{
    if (row->bucket == bucket)
        return;
    tell(books, link, row, SIM_TIME_MAX);
    row->bucket = bucket;
    row->bytes = 0;
    row->busy_ps = 0;
}

void
packet_books_add(PacketBooks *books, uint32_t link, uint32_t job, SimTime start, SimTime end, uint32_t payload_B,
                 uint32_t told_B)
{
    uint32_t number = packet_books_find(books, link, job);
    Row *row = &g_array_index(books->rows, Row, number);
    int64_t first = start / books->bucket_ps, last = (end - 1) / books->bucket_ps;
    for (int64_t bucket = first; bucket <= last; bucket++) {
        turn_to(books, link, row, bucket);
        row->busy_ps += MIN(end, (bucket + 1) * books->bucket_ps) - MAX(start, bucket * books->bucket_ps);
    }
    row->bytes += told_B;
    row->moved_B += payload_B;
    row->moved_ps += end - start;
}

void
packet_books_lost(Flow *flow, const Packet *packet)
{
    if (packet->flags & AGAIN) /* it was lost before, or never: what counts stands */
        return;
    if (flow->gaps == NULL)
        flow->gaps = g_hash_table_new(NULL, NULL);
    g_hash_table_insert(flow->gaps, GUINT_TO_POINTER(packet->seq), GUINT_TO_POINTER(packet->value));
}

gboolean
packet_books_is_first(Flow *flow, const Packet *packet, gboolean ends)
{
    if (!(packet->flags & AGAIN))
        return TRUE;
    gpointer key = GUINT_TO_POINTER(packet->seq), passed;
    if (flow->gaps == NULL || !g_hash_table_lookup_extended(flow->gaps, key, NULL, &passed) ||
        packet->value < GPOINTER_TO_UINT(passed))
        return FALSE;
    if (ends)
        g_hash_table_remove(flow->gaps, key);
    else
        g_hash_table_insert(flow->gaps, key, GUINT_TO_POINTER(packet->value + 1));
    return TRUE;
}

void
packet_books_finish(PacketBooks *books, SimTime now)
{
    for (uint32_t link = 0; link < books->n_links; link++)
        for (uint32_t at = books->first[link]; at != INDEX_NONE;) {
            const Row *row = &g_array_index(books->rows, Row, at);
            tell(books, link, row, now);
            at = row->next;
        }
}
