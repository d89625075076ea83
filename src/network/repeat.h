/* network/repeat.h - a period of a network's life, recorded once, told again
 *
 * The iteration memo (cluster/memo.h) finds that what happened from one moment to another is what had happened before,
 * has the next such period recorded, and then told again as often as it fits, while the network itself stands still. */
#pragma once

#include "engine/history.h"

/* Most marks of a recording of each sort (changes of a rate, losses, ends of transfers), about 200 MB in all. A period
 * that needs more is never skipped. */
enum { REPEAT_MOST = 2000000 };

typedef struct {
    SimTime period_ps;
    uint64_t times;
    const uint32_t *iterations; /* of each job in one period */
    uint64_t transfers, bytes;  /* begun in one period */
} Repeat;

typedef struct Network Network;

/* Can periods of this network be told again? Not of the packet model, nor without books. */
gboolean network_can_repeat(const Network *network);
/* Both borrowed, before anything moves. */
void network_set_memo(Network *network, History *history, const Skipped *skipped);
/* The kind of the engine's events that change links. */
uint32_t network_change_kind(const Network *network);
/* Adds what is in flight to a fingerprint, by order of creation and age; *oldest becomes the earliest start among it
 * where that is earlier. */
void network_fingerprint(const Network *network, Fingerprint *print, SimTime *oldest);

/* Records from now on. */
void network_tape_begin(Network *network);
/* Ends the recording. FALSE: it is no period, or took too much; it is dropped. */
gboolean network_tape_end(Network *network);
/* Its books and totals go through the period again, so many times; the caller adds to what is skipped. */
void network_tape_repeat(Network *network, const Repeat *repeat);
void network_tape_drop(Network *network); /* fine where there is none */
