/* loss_book.h - sums of lost transfer time, one of each (victim, culprit, link, iteration, bucket, kind) */
#pragma once

#include "network/observer.h"

typedef struct {
    uint32_t victim_job, culprit_job, link, iteration;
    int64_t bucket; /* its number from 0 */
    LossKind kind;
} LossKey;

typedef struct LossBook LossBook;

LossBook *loss_book_new(void);
void loss_book_free(LossBook *book); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LossBook, loss_book_free)

void loss_book_add(LossBook *book, const LossKey *key, double lost_ps, double bytes);
gboolean loss_book_has(const LossBook *book, const LossKey *key);
/* Sums below 0 are gains: they are set against the losses of the same victim, culprit, link, iteration and kind, whose
 * buckets shrink alike; what is not above 0 then is no row any more. */
void loss_book_settle_gains(LossBook *book);
/* Each sum once, sorted by bucket, victim, culprit (none last), link, iteration, kind. */
void loss_book_tell(const LossBook *book, SimTime bucket_ps, const NetworkObserver *observer);
