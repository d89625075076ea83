/* loss_state.h - what loss.c (who is to be looked at) and loss_look.c (what a flow loses, and on whom it is booked)
 * share */
#pragma once

#include "base/index.h"
#include "network/loss.h"
#include "network/loss_claim.h"
#include "network/loss_group.h"
#include "network/loss_spread.h"

/* Rows keep stale entries of QUEUED and SUSPECT; the flags decide. */
enum { QUEUED = 1, SUSPECT = 2, CANDIDATE = 4 };

/* One link that holds a flow. */
typedef struct {
    uint32_t link;
    uint32_t use;      /* which of the flow's uses */
    gboolean collides; /* with others there, while its group has room */
    double fault;      /* lost here because the link has less than it had */
    uint32_t next;     /* of the flow */
} Part;

typedef struct {
    uint32_t flow;  /* in the main solver; INDEX_NONE = it stands still */
    uint32_t alone; /* its flow in the second solver; INDEX_NONE */
    uint32_t book;
    uint32_t job, iteration;
    uint32_t dead_link; /* why it stands still */
    uint32_t place;     /* in the list of all */
    uint32_t parts;     /* chain */
    uint32_t flags;
} Victim;

typedef struct {
    uint32_t *items;
    uint32_t n, room;
} Row;

struct Losses {
    Network *network;
    const MaxMin *solver;
    Usage *usage;
    DemandMaker *maker;
    const double *capacity;
    double *original; /* by link */
    const Fabric *fabric;
    LossMeter *meter;
    LossClaims *claims;
    LossGroups *groups; /* NULL: collisions are not told */
    Victim *victims;    /* by activity */
    uint32_t victims_room;
    Row all, queue, suspects, dirty, resized; /* resized: links whose capacity changed since the last settling */
    Part *parts;
    uint32_t n_parts, parts_room, free_part;
    uint32_t *flows_of_job; /* victims by job */
    uint32_t jobs_room, n_jobs;
    MaxMin *alone;                    /* each job as if alone; NULL until two have flows */
    LossSpread *spread;               /* NULL until a flow may collide */
    uint32_t *owner_of, *alone_owner; /* activity by flow of each solver */
    uint32_t owner_room, alone_room;
    uint32_t alone_links; /* of the first, as many as there are pairs */
    uint8_t *full;        /* by link, as of the last settling: 1 = full, 2 = and shared by two jobs */
    uint8_t *reduced;     /* by link: has less capacity than at first, and some */
    uint8_t *choice;      /* by link: could there be an equal-cost alternative? */
    uint32_t *seen;       /* by link: the settling that met it */
    uint32_t settlings, n_shared, n_candidates;
    gboolean was_crowded, look_at_all, respread;
    MaxMinUse *uses; /* scratch */
    uint32_t uses_room;
};

/* Finds the links that hold a flow and what it loses to other jobs and to faults; whether it is a CANDIDATE, one that
 * may collide. */
void losses_look(Losses *losses, uint32_t activity);
/* What it loses to collisions; the solver of the spread flows is up to date. */
void losses_look_at_collision(Losses *losses, uint32_t activity);
/* Forgets the links that held it. */
void losses_drop_parts(Losses *losses, Victim *victim);
/* The books of one claim: of each sort, the member that loses most. A ClaimBooking; owner is Losses. */
void losses_book_claim(void *owner, uint32_t claim, const uint32_t *worst, SimTime now);
