/* loss_meter.h - how fast transfer time is being lost at each link now, integrated into a LossBook
 *
 * A cell says: at this link, transfers of this job and iteration lose so many seconds a second, for this reason. Whom
 * it is booked on follows from the jobs' rates on the link, which are constant between two calls of loss_meter_run_on
 * for the link. */
#pragma once

#include "network/loss_book.h"
#include "network/repeat.h"
#include "network/usage.h"

/* Loss per time in units of 2^-60: sums are exact and leave nothing behind. */
typedef __int128 LossRate;
LossRate loss_rate_of(double share);

typedef struct {
    uint32_t link; /* INDEX_NONE: no link is to blame */
    uint32_t job, iteration;
    LossKind kind;
    /* Of a collision: the victim's own rate on the link in 2^-32 B/s, which is not to blame. Such a cell is never
     * shared. */
    UsageCount own_rate;
} LossPlace;

typedef struct LossMeter LossMeter;

/* usage is borrowed. */
LossMeter *loss_meter_new(uint32_t n_links, SimTime bucket_ps, const Usage *usage);
void loss_meter_free(LossMeter *meter); /* NULL is fine */

/* Counts at a link up to now; before rates on it, or its cells, change. link INDEX_NONE: where no link is to blame. */
void loss_meter_run_on(LossMeter *meter, uint32_t link, SimTime now);
/* Adds to what is lost there from now on; the cell, to take it away again. */
uint32_t loss_meter_add(LossMeter *meter, const LossPlace *place, LossRate rate, SimTime now);
void loss_meter_take(LossMeter *meter, uint32_t cell, LossRate rate, SimTime now);
/* Counts everything up to now and tells. */
void loss_meter_finish(LossMeter *meter, SimTime now, const NetworkObserver *observer);

/* Of the iteration memo; both borrowed. */
void loss_meter_set_memo(LossMeter *meter, History *history, const Skipped *skipped);
/* Records from now on what is booked. */
void loss_meter_tape_begin(LossMeter *meter);
/* FALSE: it took too much, and is dropped. */
gboolean loss_meter_tape_end(LossMeter *meter);
/* Books the period again, so many times; the caller adds to what is skipped. */
void loss_meter_tape_repeat(LossMeter *meter, const Repeat *repeat);
void loss_meter_tape_drop(LossMeter *meter); /* fine where there is none */

/* The rate of all jobs on a link but one, in 2^-32 B/s. */
UsageCount loss_others_rate(const Usage *usage, uint32_t link, uint32_t job);
