/* tape.h - what a simulation tells its observer: with what was skipped added, recorded on request, and played again
 *
 * All of a run with a memo goes through here. Times and iterations come in as the engine and the jobs count them. */
#pragma once

#include "cluster/run.h"

/* Wraps simulation->setup->observer; tape_observer is what the network gets. */
Tape *tape_new(Simulation *simulation);
void tape_free(Tape *tape); /* NULL is fine */
const NetworkObserver *tape_observer(const Tape *tape);

void tape_begin(Tape *tape);
/* Ends the recording. FALSE: it took too much, and is dropped. */
gboolean tape_end(Tape *tape);
/* What was recorded, so many times, each a period later than the one before. The caller then adds to what is skipped.
 */
void tape_play(const Tape *tape, const Repeat *repeat);
/* Calls to the observer that one period makes. */
uint32_t tape_length(const Tape *tape);
void tape_drop(Tape *tape); /* fine where there is none */
