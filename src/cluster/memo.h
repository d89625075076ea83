/* memo.h - the iteration memo: what recurs exactly is skipped over (doc/model.md)
 *
 * Each room adds what it decides to a History. Iterations of one job, the one that takes longest, cut it into segments.
 * Where the last m of them have the fingerprints of the m before, the next m are recorded; where these have them again,
 * and all that is in flight at their end is what was in flight at their beginning, the period is told again as often
 * as it fits before something foreign: a job that begins or ends, a link that changes. Nothing inside moves then: the
 * engine's clock stands, foreign events to come are brought forward, and what is told later is told with the time and
 * the iterations skipped (Skipped) added. */
#pragma once

#include "cluster/run.h"

/* NULL where the simulation cannot have one (the packet model). Its network is made. */
Memo *memo_new(Simulation *simulation, Tape *tape);
void memo_free(Memo *memo); /* NULL is fine */

/* An iteration of this job has ended, now. NULL is fine. */
void memo_iteration_ended(Memo *memo, const JobRun *job);
/* A job begins or ends, now. NULL is fine. */
void memo_break(Memo *memo);
/* Whole periods that were skipped. */
uint64_t memo_periods(const Memo *memo);
