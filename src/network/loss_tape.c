#include "network/loss_tape.h"

#include "base/index.h"
#include "base/random.h"

#include <string.h>

/* Spans of one key, in the order in which they were added. */
typedef struct {
    uint32_t first, n; /* in spans, once sorted */
    SimTime from, to;
    double lost_ps, bytes; /* all of it, where it is the first of its key and lies in one bucket */
} Series;

struct LossTape {
    GArray *spans;  /* of LossSpan */
    GArray *series; /* of Series, in the order of their first spans */
    gboolean full;
};

void
loss_span_book(const LossSpan *span, LossBook *book, SimTime bucket_ps)
{
    LossKey key = span->key;
    for (SimTime from = span->from; from < span->to;) {
        key.bucket = from / bucket_ps;
        SimTime left = bucket_ps - from % bucket_ps, part = MIN(left, span->to - from);
        loss_book_add(book, &key, span->lost * (double)part, span->bytes_Bps * sim_time_seconds(part));
        from += part;
    }
}

LossTape *
loss_tape_new(void)
{
    LossTape *tape = g_new0(LossTape, 1);
    tape->spans = g_array_new(FALSE, FALSE, sizeof(LossSpan));
    tape->series = g_array_new(FALSE, FALSE, sizeof(Series));
    return tape;
}

void
loss_tape_free(LossTape *tape)
{
    if (tape == NULL)
        return;
    g_array_unref(tape->spans);
    g_array_unref(tape->series);
    g_free(tape);
}

void
loss_tape_add(LossTape *tape, const LossSpan *span)
{
    if (tape->spans->len >= REPEAT_MOST)
        tape->full = TRUE;
    else
        g_array_append_vals(tape->spans, span, 1);
}

static LossSpan *
span_at(const LossTape *tape, uint32_t number)
{
    return &g_array_index(tape->spans, LossSpan, number);
}

static gboolean
same_key(gconstpointer a, gconstpointer b)
{
    const LossKey *x = a, *y = b;
    return x->victim_job == y->victim_job && x->culprit_job == y->culprit_job && x->link == y->link &&
           x->iteration == y->iteration && x->kind == y->kind;
}

static guint
hash_key(gconstpointer data)
{
    const LossKey *key = data;
    uint64_t hash =
        hash_combine((uint64_t)key->victim_job << 32 | key->culprit_job, (uint64_t)key->link << 32 | key->iteration);
    return (guint)hash_combine(hash, key->kind);
}

/* Numbers each span's series, in the order in which they are met. */
static uint32_t *
find_series(LossTape *tape)
{
    g_autoptr(GHashTable) known = g_hash_table_new(hash_key, same_key); /* looked up, never walked: to number + 1 */
    uint32_t *series_of = g_new(uint32_t, MAX(1, tape->spans->len));
    for (guint i = 0; i < tape->spans->len; i++) {
        LossSpan *span = span_at(tape, i);
        uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(known, &span->key));
        if (number == 0) {
            Series series = {.from = span->from, .to = span->to};
            g_array_append_val(tape->series, series);
            number = tape->series->len;
            g_hash_table_insert(known, &span->key, GUINT_TO_POINTER(number));
        }
        Series *series = &g_array_index(tape->series, Series, number - 1);
        series->n++;
        series->from = MIN(series->from, span->from);
        series->to = MAX(series->to, span->to);
        series->lost_ps += span->lost * (double)(span->to - span->from);
        series->bytes += span->bytes_Bps * sim_time_seconds(span->to - span->from);
        series_of[i] = number - 1;
    }
    return series_of;
}

gboolean
loss_tape_end(LossTape *tape)
{
    if (tape->full)
        return FALSE;
    g_autofree uint32_t *series_of = find_series(tape);
    uint32_t first = 0, n = tape->spans->len;
    for (guint s = 0; s < tape->series->len; s++) {
        Series *series = &g_array_index(tape->series, Series, s);
        series->first = first;
        first += series->n;
        series->n = 0;
    }
    GArray *sorted = g_array_sized_new(FALSE, FALSE, sizeof(LossSpan), n);
    g_array_set_size(sorted, n);
    for (uint32_t i = 0; i < n; i++) {
        Series *series = &g_array_index(tape->series, Series, series_of[i]);
        g_array_index(sorted, LossSpan, series->first + series->n++) = *span_at(tape, i);
    }
    g_array_unref(tape->spans);
    tape->spans = sorted;
    return TRUE;
}

/* Sums of one key alone depend on the order in which they are added, so that series may come one after another. What
 * would be the first of its row, and lies in one bucket, is added as the sum it is. */
static void
book_series(const LossTape *tape, const Series *series, uint32_t iterations, SimTime later, LossBook *book,
            SimTime bucket_ps)
{
    LossKey key = span_at(tape, series->first)->key;
    key.iteration += iterations;
    key.bucket = (series->from + later) / bucket_ps;
    if ((series->to - 1 + later) / bucket_ps == key.bucket && !loss_book_has(book, &key)) {
        loss_book_add(book, &key, series->lost_ps, series->bytes);
        return;
    }
    for (uint32_t i = 0; i < series->n; i++) {
        LossSpan span = *span_at(tape, series->first + i);
        span.key.iteration += iterations;
        span.from += later;
        span.to += later;
        loss_span_book(&span, book, bucket_ps);
    }
}

void
loss_tape_book(const LossTape *tape, const Repeat *repeat, const Skipped *skipped, LossBook *book, SimTime bucket_ps)
{
    for (uint64_t time = 1; time <= repeat->times; time++)
        for (guint s = 0; s < tape->series->len; s++) {
            const Series *series = &g_array_index(tape->series, Series, s);
            uint32_t job = span_at(tape, series->first)->key.victim_job;
            uint32_t iterations = skipped->iterations[job] + (uint32_t)time * repeat->iterations[job];
            book_series(tape, series, iterations, skipped->time_ps + (SimTime)time * repeat->period_ps, book,
                        bucket_ps);
        }
}
