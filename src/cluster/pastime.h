/* pastime.h - how one rank would spend its time by what its program records alone
 *
 * The ops are started as their order and deps allow, and last what was recorded; an op without a recorded time ends at
 * once, and nobody waits for other ranks. What a trace holds before any network or GPU is known. */
#pragma once

#include "cluster/script.h"

/* Of one rank, in picoseconds. */
typedef struct {
    SimTime span;          /* from the first op to the last; clipped at SIM_TIME_MAX */
    SimTime computing;     /* at least one compute op runs */
    SimTime communicating; /* at least one collective or message */
    SimTime both;          /* of these two at once */
    SimTime copying;       /* copies, and neither of the two */
} Pastime;

Pastime pastime_of(const Script *script);
/* Does an op of this kind take time at all, so that the lack of a recorded one means something? */
gboolean pastime_lacks_time(const Op *op);
