/* maxmin_state.h - the arrays of a MaxMin, shared by maxmin.c (who is where) and maxmin_solve.c (at what rate)
 *
 * Columns indexed by flow and by link; a flow's uses lie together in one pool; each link lists the flows on it, and
 * each use knows its place in that list, so that both are removed in O(1). */
#pragma once

#include "base/index.h"
#include "network/maxmin.h"

/* Loads are summed in integers of 2^-72, in which every double from 2^-20 on is exact: a sum is the same in any order
 * and taking away what was added leaves nothing behind. */
typedef __int128 Fixed;
enum { FIXED_BITS = 72 };

/* Relative width within which two levels count as equal, and a link as full. */
#define LEVEL_SLACK 1e-11
#define FULL_SLACK 1e-10

typedef struct {
    uint32_t link;
    uint32_t place; /* in the link's list */
    double coefficient;
} Use;

typedef struct {
    uint32_t flow;
    uint32_t use; /* in the pool */
} Place;

enum {
    FLOW_LIVE = 1,
    FLOW_NEW = 2,     /* added since the last solve */
    FLOW_LEAVING = 4, /* removed, still in the lists: its place may be taken */
    FLOW_REVIVED = 8, /* took such a place since the last solve */
    FLOW_ACTIVE = 16, /* in this solve: its rate is open */
    FLOW_FROZEN = 32  /* in this solve: its rate is found */
};

typedef struct {
    double weight, cap;
    double level, rate; /* before rounding */
    double told;        /* rounded */
    uint32_t first, n;  /* uses */
    uint32_t hash;      /* of uses, weight, cap */
    uint32_t slot;      /* in the list of new, of leaving or of revived flows */
    uint32_t next;      /* leaving flows of one hash bucket; free flows */
    uint32_t flags;
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
    Place *flows;
    uint32_t n, room;
    uint32_t flags;
    /* During a solve. */
    uint32_t first_active, n_active; /* its places in the list of active ones */
    uint32_t n_open;                 /* active flows not yet frozen */
    double open_weight;              /* coefficient x weight over them */
    double filled;                   /* the level at which it filled and froze flows; INFINITY */
    Fixed rest;                      /* capacity not yet given away */
} LinkState;

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
    uint32_t n_links, links_room;
    Flow *flows;
    uint32_t n_flows, flows_room, free_flow;
    uint32_t n_live;
    Use *uses;
    uint32_t n_uses, uses_room;
    uint32_t *free_uses; /* heads of the free blocks by size class; chained through Use.link */
    IndexList dirty, new_flows, leaving, revived;
    uint32_t *buckets; /* of leaving flows, by hash */
    uint32_t n_buckets;
    /* Of the last solve. */
    IndexList changed, touched;
    IndexList active;
    Place *places; /* of active flows, by touched link */
    uint32_t places_room;
    double *frozen_rate, *frozen_level; /* by flow, found in this solve; taken over when the filling stands */
    uint32_t frozen_room;
    HeapEntry *heap;
    uint32_t n_heap, heap_room;
};

Fixed fixed_of(double value);
double fixed_double(Fixed value);

void index_list_add(IndexList *list, uint32_t item);

/* Takes the leaving flows out of the lists. */
void maxmin_detach_leaving(MaxMin *solver);
