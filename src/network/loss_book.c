#include "network/loss_book.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

typedef struct {
    LossKey key;
    double lost_ps, bytes;
} Row;

/* Open addressing over rows kept in the order they were met. */
struct LossBook {
    Row *rows;
    uint32_t n, room;
    uint32_t *table; /* rows; INDEX_NONE = empty */
    uint32_t size;   /* a power of two */
};

LossBook *
loss_book_new(void)
{
    LossBook *book = g_new0(LossBook, 1);
    book->size = 256;
    book->table = g_new(uint32_t, book->size);
    memset(book->table, 0xff, book->size * sizeof *book->table);
    return book;
}

void
loss_book_free(LossBook *book)
{
    if (book == NULL)
        return;
    g_free(book->rows);
    g_free(book->table);
    g_free(book);
}

static uint32_t
hash_key(const LossKey *key)
{
    uint64_t hash =
        hash_combine((uint64_t)key->victim_job << 32 | key->culprit_job, (uint64_t)key->link << 32 | key->iteration);
    return (uint32_t)hash_combine(hash, (uint64_t)key->bucket * 4 + key->kind);
}

static gboolean
same_key(const LossKey *a, const LossKey *b)
{
    return a->bucket == b->bucket && a->victim_job == b->victim_job && a->culprit_job == b->culprit_job &&
           a->link == b->link && a->iteration == b->iteration && a->kind == b->kind;
}

/* The place of key in the table: its row's, or the empty one for it. */
static uint32_t *
place_of(const LossBook *book, const LossKey *key)
{
    uint32_t i = hash_key(key) & (book->size - 1);
    while (book->table[i] != INDEX_NONE && !same_key(&book->rows[book->table[i]].key, key))
        i = (i + 1) & (book->size - 1);
    return &book->table[i];
}

static void
grow(LossBook *book)
{
    book->size *= 2;
    book->table = g_renew(uint32_t, book->table, book->size);
    memset(book->table, 0xff, book->size * sizeof *book->table);
    for (uint32_t r = 0; r < book->n; r++)
        *place_of(book, &book->rows[r].key) = r;
}

void
loss_book_add(LossBook *book, const LossKey *key, double lost_ps, double bytes)
{
    uint32_t *place = place_of(book, key);
    if (*place == INDEX_NONE) {
        if (book->n == book->room) {
            book->room = MAX(256, 2 * book->room);
            book->rows = g_renew(Row, book->rows, book->room);
        }
        *place = book->n;
        book->rows[book->n++] = (Row){.key = *key};
        if (book->n > book->size / 2) {
            grow(book);
            place = place_of(book, key);
        }
    }
    book->rows[*place].lost_ps += lost_ps;
    book->rows[*place].bytes += bytes;
}

gboolean
loss_book_has(const LossBook *book, const LossKey *key)
{
    return *place_of(book, key) != INDEX_NONE;
}

#define COMPARE(field)                                                                                                 \
    if (x->field != y->field)                                                                                          \
    return x->field < y->field ? -1 : 1

static int
by_key(gconstpointer a, gconstpointer b, gpointer data)
{
    const LossKey *x = &((const Row *)a)->key, *y = &((const Row *)b)->key;
    COMPARE(bucket);
    COMPARE(victim_job);
    COMPARE(culprit_job);
    COMPARE(link);
    COMPARE(iteration);
    COMPARE(kind);
    return 0;
}

/* Rows of one victim, culprit, link and kind together, in the order of time. */
static int
by_series(gconstpointer a, gconstpointer b, gpointer data)
{
    const LossKey *x = &((const Row *)a)->key, *y = &((const Row *)b)->key;
    COMPARE(victim_job);
    COMPARE(culprit_job);
    COMPARE(link);
    COMPARE(kind);
    COMPARE(bucket);
    COMPARE(iteration);
    return 0;
}

/* Do they differ in their bucket at most? */
static gboolean
same_but_bucket(const LossKey *a, const LossKey *b)
{
    LossKey key = *b;
    key.bucket = a->bucket;
    return same_key(a, &key);
}

static int
by_all_but_bucket(gconstpointer a, gconstpointer b, gpointer data)
{
    const LossKey *x = &((const Row *)a)->key, *y = &((const Row *)b)->key;
    COMPARE(victim_job);
    COMPARE(culprit_job);
    COMPARE(link);
    COMPARE(kind);
    COMPARE(iteration);
    COMPARE(bucket);
    return 0;
}

void
loss_book_settle_gains(LossBook *book)
{
    g_qsort_with_data(book->rows, (int)book->n, sizeof *book->rows, by_all_but_bucket, NULL);
    uint32_t kept = 0;
    for (uint32_t from = 0, to; from < book->n; from = to) {
        double lost = 0, gained = 0;
        for (to = from; to < book->n && same_but_bucket(&book->rows[from].key, &book->rows[to].key); to++) {
            lost += MAX(book->rows[to].lost_ps, 0);
            gained -= MIN(book->rows[to].lost_ps, 0);
        }
        double left = lost > gained ? (lost - gained) / lost : 0;
        for (uint32_t r = from; r < to; r++) {
            Row row = book->rows[r];
            row.lost_ps *= left;
            if (row.lost_ps > 0)
                book->rows[kept++] = row;
        }
    }
    book->n = kept;
    memset(book->table, 0xff, book->size * sizeof *book->table);
    for (uint32_t r = 0; r < book->n; r++)
        *place_of(book, &book->rows[r].key) = r;
}

/* Makes the bytes of rows whole: of each series the running sum is rounded, so that what many short buckets hold of a
 * slow link is not lost. Leaves rows in the order of by_series. */
static void
round_bytes(Row *rows, uint32_t n)
{
    g_qsort_with_data(rows, (int)n, sizeof *rows, by_series, NULL);
    double sum = 0, told = 0;
    for (uint32_t r = 0; r < n; r++) {
        const LossKey *key = &rows[r].key, *before = r > 0 ? &rows[r - 1].key : NULL;
        if (before == NULL || key->victim_job != before->victim_job || key->culprit_job != before->culprit_job ||
            key->link != before->link || key->kind != before->kind)
            sum = told = 0;
        sum += rows[r].bytes;
        rows[r].bytes = floor(sum + 0.5) - told;
        told += rows[r].bytes;
    }
}

void
loss_book_tell(const LossBook *book, SimTime bucket_ps, const NetworkObserver *observer)
{
    if (observer->loss == NULL || book->n == 0)
        return;
    g_autofree Row *rows = g_memdup2(book->rows, book->n * sizeof *rows);
    round_bytes(rows, book->n);
    g_qsort_with_data(rows, (int)book->n, sizeof *rows, by_key, NULL);
    for (uint32_t r = 0; r < book->n; r++) {
        Loss loss = {.victim_job = rows[r].key.victim_job,
                     .culprit_job = rows[r].key.culprit_job,
                     .link = rows[r].key.link,
                     .iteration = rows[r].key.iteration,
                     .bucket_start_ps = rows[r].key.bucket * bucket_ps,
                     .kind = rows[r].key.kind,
                     .lost_ps = rows[r].lost_ps,
                     .bytes = (uint64_t)rows[r].bytes};
        observer->loss(observer->owner, &loss);
    }
}
