/* run_rings.h - where the seats of a run of rings are; what run_rings.c needs in order to go on from there */
#pragma once

#include "collective/run.h"

typedef struct {
    uint32_t step;                /* in which it sends next, from 1; steps + 1 = has sent all */
    uint8_t part, parts;          /* which of the chunk's parts is next; of how many (0 = not looked up) */
    uint8_t started, busy;        /* its member is here; a send of its own is under way */
    uint32_t got_first, got_last; /* so many steps of the seat before of which the first, the last part is here */
    uint32_t in_air;              /* sends to this seat not delivered and reduced */
} SeatState;

typedef struct {
    SeatState *seats;
    GHashTable *early; /* parts here before one of an earlier step, whose reduction takes longer; looked up only */
} RingsState;

/* No seat is started yet. */
RingsState *rings_state_new(guint n_seats);
/* A part that cookie tells of is with that seat, and reduced. */
void rings_state_got(RingsState *state, uint32_t seat, uint32_t cookie);

/* What a cookie remembers of a send: its step, which part it is and whether it is the chunk's last. */
uint32_t run_rings_cookie(uint32_t step, uint32_t part, uint32_t parts);
/* A message from this seat to the one after it. */
Transfer run_rings_transfer(const Run *run, uint32_t seat, uint64_t bytes);
/* Makes run one of rings whose seats are in this state (taken over); whose seat is through has started at its next one.
 * What they may send they send in a further round of this instant. */
void run_rings_resume(Run *run, RingsState *state);
