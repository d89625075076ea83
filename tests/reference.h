/* reference.h - the slow and obvious network: textbook progressive filling, and a loop that runs transfers to their
 * ends
 *
 * Written from DEFINITIONS 3 alone and sharing no code with src/network: all flows rise together, weight by weight,
 * until a link is full or a cap is reached, and this anew from nothing at every instant. Numbers are long doubles,
 * times whole picoseconds, ends the ceiling of the exact end. */
#pragma once

#include "base/index.h"
#include "base/sim_time.h"

#include <glib.h>

typedef struct {
    uint32_t link;
    double share; /* of the transfer's bytes */
} ReferenceHop;

typedef struct {
    ReferenceHop *hops; /* distinct links */
    uint32_t n_hops;
    SimTime latency_ps;
} ReferenceRoute;

typedef enum { REFERENCE_WAITS, REFERENCE_SENDS, REFERENCE_STANDS, REFERENCE_SENT, REFERENCE_REFUSED } ReferenceState;

typedef struct {
    uint32_t after; /* starts start_ps after this one is delivered; INDEX_NONE: at start_ps */
    SimTime start_ps;
    uint32_t job;
    uint64_t bytes;
    double weight, cap_Bps;
    /* Filled in by the loop. */
    ReferenceState state;
    ReferenceRoute route;              /* of now, or the last; hops owned */
    SimTime begun_ps, sent_ps, end_ps; /* -1: never */
    long double left_B, rate_Bps;
    uint32_t n_routes; /* it has had */
} ReferenceTransfer;

typedef struct {
    SimTime at_ps;
    uint32_t link;
    double capacity_Bps; /* 0 = dead */
} ReferenceFault;

typedef struct {
    double *capacity_Bps; /* by link, changed by faults */
    uint32_t n_links;
    ReferenceTransfer *transfers;
    uint32_t n_transfers;
    const ReferenceFault *faults; /* sorted by time */
    uint32_t n_faults;
    void *owner;
    /* The way of a transfer now; FALSE: none. hops are copied. */
    gboolean (*find_route)(void *owner, uint32_t transfer, ReferenceRoute *route);
    /* A link's capacity is another from now on; before anything is routed anew. NULL: nobody listens. */
    void (*link_changed)(void *owner, uint32_t link, double capacity_Bps);
    /* Rates (rate_Bps of those that send) hold from one time to the other. NULL: nobody listens. */
    void (*interval)(void *owner, SimTime from_ps, SimTime to_ps);
} Reference;

/* Weighted max-min rates of the n transfers listed, over their present routes. */
void reference_solve(const Reference *reference, const uint32_t *transfers, uint32_t n, long double *rates_Bps);
/* Is the rate that the transfer has, among all that send, as high as it may be: at its cap, or on a full link where
 * none has a higher rate per weight? tolerance: relative. Rates may be those of another solver. */
gboolean reference_is_held(const Reference *reference, uint32_t transfer, const double *rates_Bps, double tolerance);
/* Of each link, the sum over what sends. */
long double reference_load(const Reference *reference, uint32_t link, const double *rates_Bps);

/* Runs all transfers to their ends. What has no route when it starts is refused, and what waits for it never starts. */
void reference_run(Reference *reference);
void reference_clear(Reference *reference); /* routes of the transfers */
