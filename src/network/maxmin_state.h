/* maxmin_state.h - the arrays of a MaxMin, shared by maxmin.c (who is where) and maxmin_solve.c (at what rate)
 *
 * Columns indexed by flow and by link; a flow's uses lie together in one pool; each link lists the flows on it. A flow
 * that has gone stays in those lists, below any level, until they are swept: taking it out of six lists at once costs
 * six lines of memory for the place of another each time, a sweep reads the lists in a row. Its number is free then. */
#pragma once

#include "base/index.h"
#include "network/maxmin.h"

#include <assert.h>
#include <string.h>

/* Loads are summed in integers of 2^-72, in which every double from 2^-20 on is exact: a sum is the same in any order
 * and taking away what was added leaves nothing behind. */
typedef __int128 Fixed;
enum { FIXED_BITS = 72 };

/* Relative width within which two levels count as equal, and a link as full. */
#define LEVEL_SLACK 1e-11
#define FULL_SLACK 1e-10

typedef struct {
    uint32_t flow;
    uint32_t use; /* in the pool; means nothing where the flow has gone */
} Place;

/* The level of a flow that has gone. */
#define LEVEL_GONE (-1.0)

enum {
    FLOW_LIVE = 1,
    FLOW_NEW = 2,     /* added since the last solve */
    FLOW_LEAVING = 4, /* removed, still in the lists: its place may be taken */
    FLOW_REVIVED = 8, /* took such a place since the last solve */
    FLOW_ACTIVE = 16, /* in this solve: its rate is open */
    FLOW_FROZEN = 32  /* in this solve: its rate is found */
};

typedef struct {
    uint32_t first, n;
} Span;

typedef struct {
    double weight, cap;
    uint32_t hash; /* of uses, weight, cap; of leaving flows that are in a bucket */
    uint32_t slot; /* in the list of new, of leaving or of revived flows */
    uint32_t next; /* leaving flows of one hash bucket; free flows */
} Flow;

enum {
    LINK_DIRTY = 1,   /* in the list of dirty links */
    LINK_LESS = 2,    /* a flow left, or capacity rose, since the last solve */
    LINK_MORE = 4,    /* a flow came, or capacity fell */
    LINK_TOUCHED = 8, /* in this solve: it is dirty or has active flows */
    LINK_CHANGED = 16 /* in this solve: its load is another */
};

typedef struct {
    double capacity;
    double level; /* INFINITY = not full */
    Fixed load;
    Place *places;
    uint32_t n, room;
    uint32_t n_gone;     /* of the n */
    uint32_t n_listed;   /* during a solve: */
    const Place *listed; /* all active flows, maybe others as well */
    double filled;       /* the level at which it filled and froze flows; INFINITY */
} LinkState;

/* Of a link during a filling: apart, and small, as every use of every active flow comes here. */
typedef struct {
    Fixed rest;         /* capacity not yet given away */
    double open_weight; /* coefficient x weight of active flows not yet frozen */
    uint32_t n_open;    /* of them */
    uint32_t n_active;
} LinkFill;

typedef struct {
    uint32_t *items;
    uint32_t n, room;
} IndexList;

typedef struct {
    double key;
    uint32_t id; /* a link, or n_links + a flow with a cap */
} HeapEntry;

struct MaxMin {
    LinkState *links;
    LinkFill *fill;
    uint8_t *link_flags;
    uint32_t n_links, links_room;
    Flow *flows;
    Span *spans;          /* by flow: its uses */
    double *level, *rate; /* by flow: before rounding */
    uint8_t *flags;       /* by flow */
    uint32_t n_flows, flows_room, free_flow;
    uint32_t n_live;
    gboolean unit_weights;  /* has every flow ever had a weight of 1? */
    gboolean whole_weights; /* has every flow ever had a whole weight below 2^20, and coefficients of 1? */
    uint32_t *use_link;
    double *coefficient; /* by use; NULL = all are 1 */
    uint32_t n_uses, uses_room;
    uint32_t *free_uses; /* heads of the free blocks by size class; chained through use_link */
    IndexList dirty, new_flows, leaving, revived, gone;
    uint32_t *buckets;            /* of leaving flows, by hash */
    uint32_t n_buckets, n_hashed; /* leaving flows from this slot on are not in the buckets yet */
    /* Of the last solve. */
    IndexList changed, touched;
    IndexList active;
    uint32_t n_frozen;
    uint64_t active_uses, touched_places;
    Place *places; /* of active flows, by touched link */
    uint32_t places_room;
    double *frozen_rate, *frozen_level; /* by flow, found in this solve; taken over when the filling stands */
    uint32_t frozen_room;
    HeapEntry *heap;
    uint32_t n_heap, heap_room;
};

void index_list_grow(IndexList *list);

static inline void
index_list_add(IndexList *list, uint32_t item)
{
    if (list->n == list->room)
        index_list_grow(list);
    list->items[list->n++] = item;
}

/* So many flows ahead is memory asked for. */
enum { FAR = 16 };

/* Ask for the memory that the flow will need soon: passes over many flows wait for little else. */
static inline void
fetch_flow(const MaxMin *solver, uint32_t f)
{
    __builtin_prefetch(&solver->spans[f]);
    __builtin_prefetch(&solver->rate[f]);
}

static inline void
fetch_uses(const MaxMin *solver, uint32_t f)
{
    __builtin_prefetch(&solver->use_link[solver->spans[f].first]);
}

static inline double
coefficient_of(const MaxMin *solver, uint32_t use)
{
    return solver->coefficient == NULL ? 1 : solver->coefficient[use];
}

static inline double
weight_of(const MaxMin *solver, uint32_t flow)
{
    return solver->unit_weights ? 1 : solver->flows[flow].weight;
}

static inline Fixed
fixed_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0)
        return 0;
    assert(value > 0 && exponent < 1023 + 55);
    Fixed mantissa = (Fixed)(bits & ((UINT64_C(1) << 52) - 1)) + ((Fixed)1 << 52);
    int shift = exponent - 1075 + FIXED_BITS;
    if (shift >= 0)
        return mantissa << shift;
    return shift > -64 ? mantissa >> -shift : 0;
}

static inline double
fixed_double(Fixed value)
{
    return (double)value * 0x1p-72;
}

/* Takes the leaving flows off their links. */
void maxmin_detach_leaving(MaxMin *solver);
/* Takes the flows that have gone out of a link's list. */
void maxmin_sweep(const MaxMin *solver, LinkState *link);
