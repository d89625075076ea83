/* loss_tape.h - the losses of a period, recorded and booked again
 *
 * Sums of doubles depend on their order, so what is booked again is booked in the order in which it was recorded. */
#pragma once

#include "network/loss_book.h"
#include "network/repeat.h"

/* key.bucket is not used; times by the engine's clock, the iteration as its job counts it. */
typedef struct {
    LossKey key;
    double lost;      /* seconds a second */
    double bytes_Bps; /* what the culprit moves meanwhile */
    SimTime from, to;
} LossSpan;

/* Books the time from `from` to `to`, bucket by bucket. */
void loss_span_book(const LossSpan *span, LossBook *book, SimTime bucket_ps);

typedef struct LossTape LossTape;

LossTape *loss_tape_new(void);
void loss_tape_free(LossTape *tape); /* NULL is fine */
void loss_tape_add(LossTape *tape, const LossSpan *span);
/* No more is added. FALSE: it was too much. */
gboolean loss_tape_end(LossTape *tape);
/* Books all of it, so many times, each a period after the one before; skipped: as of the period recorded. */
void loss_tape_book(const LossTape *tape, const Repeat *repeat, const Skipped *skipped, LossBook *book,
                    SimTime bucket_ps);
