/* phase_state.h - patterns and phases as models see them
 *
 * A model that can send by class has send_phase in its table; phases.c keeps what is told of whom, and sends one by
 * one what the model declines or gives back. */
#pragma once

#include "network/phase.h"

typedef struct Phase Phase;

struct NetworkPattern {
    Network *network;
    uint32_t client;
    Transfer *transfers;
    uint32_t n;
    uint32_t n_phases; /* with members not delivered */
    gboolean freed;    /* by its owner; goes with its last phase */
    uint64_t bytes;    /* of all members */
    uint32_t n_classes;
    void *prepared; /* of the model; freed by its forget_pattern */
};

struct Phase {
    NetworkPattern *pattern;
    uint32_t number; /* in the table, for events */
    uint32_t stamp;  /* of this use of the number */
    uint32_t iteration, coflow, cookie;
    uint32_t n_left; /* members not delivered */
    SimTime start_ps;
    void *state; /* of the model, while it goes by class */
};

typedef struct Phases Phases;

Phases *phases_new(Network *network);
void phases_free(Phases *phases);

/* NULL where the number is free. */
Phase *phases_get(Phases *phases, uint32_t number);
/* Undelivered members of phases that go by class (the others are activities). */
uint32_t phases_in_flight(const Phases *phases);

/* Adds the phases under way to a fingerprint; *oldest becomes the earliest start of them where that is earlier. */
void phases_fingerprint(const Phases *phases, Fingerprint *print, SimTime *oldest);

/* The transfer of a member, as of this phase. */
Transfer phase_transfer(const Phase *phase, uint32_t member);

/* From the model: a class's moment has come. DELIVERED writes the members' records; after it the phase may be gone. */
void phase_tell_class(Phase *phase, uint32_t class, const uint32_t *members, uint32_t n_members, SimTime sent_ps,
                      NetworkMoment moment);
/* From the model: this member goes on by itself: a new activity that began with the phase, and tells as a member. */
uint32_t phase_open_member(Phase *phase, uint32_t member);
