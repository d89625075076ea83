/* maxmin_state.h - the arrays of a MaxMin, shared by maxmin.c (who is where), maxmin_hold.c (who is held where, and
 * what that leaves on the links), maxmin_solve.c (what a change passes on) and maxmin_fill.c (all anew)
 *
 * Columns indexed by flow and by link; a flow's uses lie together in one pool; each link lists the flows on it. A flow
 * that has gone stays in those lists until they are swept: taking it out of six lists at once costs six lines of memory
 * for the place of another each time, a sweep reads the lists in a row. Its number is free then.
 *
 * Every flow is held by one link of its path, or by its own cap; its level is its holder's. So a rate is kept by link,
 * not by flow. Flows on a link that others hold are guests there.
 *
 * Most links of a fabric hold nobody and have room to spare, yet would be told of every change of every flow. Those
 * that have room even if each of their flows had the ceiling of its holder, a little above its level, are idle: they
 * count ceilings, and hear of a change only when a level passes its ceiling (as long as all coefficients are 1). */
#pragma once

#include "base/index.h"
#include "network/fixed.h"
#include "network/maxmin.h"
#include "network/maxmin_ladder.h"

/* Relative width within which two levels count as equal, and a link as full. */
#define LEVEL_SLACK 1e-11
#define FULL_SLACK 1e-10

typedef struct {
    uint32_t flow;
    uint32_t use; /* in the pool; means nothing where the flow has gone */
} Place;

/* Holders that are no link: a flow's own cap; none yet, of a new one that is not in the sums; of one that has gone. */
#define HOLDER_CAP (INDEX_NONE - 1)
#define HOLDER_NONE (INDEX_NONE - 2)
#define HOLDER_GONE (INDEX_NONE - 3)

enum {
    FLOW_LIVE = 1,
    FLOW_NEW = 2,     /* added since the last solve */
    FLOW_LEAVING = 4, /* removed, still in the sums: its place may be taken */
    FLOW_REVIVED = 8, /* took such a place since the last solve */
    FLOW_MOVED = 16,  /* in the list of the moved: since the last solve its holder is another, or was for a while */
    FLOW_OPEN = 32    /* while all is filled anew: nothing holds it yet */
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
    LINK_PENDING = 1, /* touched, and in the heap, or where it holds nobody in the list of the spare: to be looked at */
    LINK_TOUCHED = 2, /* in the list of the touched */
    LINK_KNOWN = 4,   /* full_level holds */
    LINK_IDLE = 8     /* rest is what is left when all guests have the ceilings of their holders */
};

/* A flow in the list of its holder: half a line of memory. */
enum { MOST_OTHERS = 6, SURE_OTHERS = 2 };
typedef struct {
    uint32_t flow;
    uint32_t n_others;            /* above MOST_OTHERS: too many, look at its uses */
    uint32_t others[MOST_OTHERS]; /* links on its path but the holder that are not idle; then the holder, as far
                                   * as SURE_OTHERS */
} Held;

typedef struct {
    double capacity;
    Place *places;
    uint32_t n, room;
    uint32_t n_gone; /* of the n */
    uint32_t held_room, n_apart;
    Held *held;        /* as many as sums[].n_held */
    double least_cap;  /* no flow held here has its cap below this level */
    double full_level; /* with LINK_KNOWN: what maxmin_link_level says */
    uint32_t woken;    /* the solve in which it was idle last */
} LinkState;

/* Of a link, apart, and one line of memory, as every use of every flow whose rate changes comes here. */
typedef struct {
    _Alignas(64) Fixed rest; /* capacity less what guests take */
    double level;            /* of those held here; INFINITY = none is */
    double guest;            /* no guest has a level above this */
    double weight;           /* coefficient x weight of those held here */
    double told;             /* level when last solved; 0 = none was held here */
    double ceiling;          /* for idle links: no lower than level */
    uint32_t n_held;
    uint8_t flags;
} LinkSums;

typedef struct {
    uint32_t *items;
    uint32_t n, room;
} IndexList;

typedef struct {
    double key;
    uint32_t id; /* a link, or n_links + a flow with a cap */
} HeapEntry;

/* Those that a link could hold in another's place. */
typedef struct {
    uint32_t flow;
    double coefficient, level;
} Candidate;

struct MaxMin {
    LinkState *links;
    LinkSums *sums;
    uint32_t n_links, links_room;
    Flow *flows;
    Span *spans;         /* by flow: its uses */
    uint32_t *holder;    /* by flow */
    uint32_t *held_at;   /* by flow: its place in the list of the link that holds it */
    double *rate_before; /* by flow, of those that have moved: as told by the last solve */
    uint8_t *flags;      /* by flow */
    uint32_t n_flows, flows_room, free_flow;
    uint32_t n_live;
    uint32_t n_solves;
    Ladder *ladder;         /* NULL = changes are passed on */
    uint64_t n_passed;      /* uses told of a change: of the solves since */
    uint32_t n_passing;     /* so many */
    gboolean capped;        /* has any flow ever had a cap? */
    gboolean unit_weights;  /* has every flow ever had a weight of 1? */
    gboolean whole_weights; /* has every flow ever had a whole weight below 2^20, and coefficients of 1? */
    uint32_t *use_link;
    double *coefficient; /* by use; NULL = all are 1 */
    uint32_t n_uses, uses_room;
    uint32_t *free_uses; /* heads of the free blocks by size class; chained through use_link */
    IndexList new_flows, leaving, revived, gone;
    uint32_t *buckets;            /* of leaving flows, by hash */
    uint32_t n_buckets, n_hashed; /* leaving flows from this slot on are not in the buckets yet */
    IndexList spare;              /* pending links where nobody is held */
    IndexList moved, touching;    /* since the last solve */
    IndexList touched, changed_links, changed_flows, changed; /* of the last solve */
    uint32_t n_open;                                          /* while all is filled anew: flows nothing holds yet */
    HeapEntry *heap;                                          /* of links to be looked at */
    uint32_t n_heap, heap_room;
    Candidate *candidates; /* scratch */
    uint32_t candidates_room;
};

void index_list_grow(IndexList *list);

static inline void
index_list_add(IndexList *list, uint32_t item)
{
    if (list->n == list->room)
        index_list_grow(list);
    list->items[list->n++] = item;
}

/* So many flows ahead is memory asked for: passes over many flows wait for little else. */
enum { FAR = 16 };

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

/* Rates before rounding. */
static inline double
level_of(const MaxMin *solver, uint32_t f)
{
    uint32_t holder = solver->holder[f];
    if (holder < solver->n_links)
        return solver->sums[holder].level;
    return holder == HOLDER_CAP ? solver->flows[f].cap / solver->flows[f].weight : 0;
}

static inline double
rate_of(const MaxMin *solver, uint32_t f)
{
    uint32_t holder = solver->holder[f];
    if (holder < solver->n_links)
        return weight_of(solver, f) * solver->sums[holder].level;
    return holder == HOLDER_CAP ? solver->flows[f].cap : 0;
}

/* Of a holder's flows, for idle links; a flow's own cap is its own ceiling. */
static inline double
ceiling_over(double level)
{
    return level * (1 + 0x1p-6);
}

/* May links be idle? */
static inline gboolean
has_idle(const MaxMin *solver)
{
    return solver->coefficient == NULL;
}

static inline gboolean
is_even(const MaxMin *solver)
{
    return solver->unit_weights && solver->coefficient == NULL;
}

/* Has the flow a weight other than 1? Then its rate is not its holder's level. */
static inline gboolean
is_apart(const MaxMin *solver, uint32_t f)
{
    return weight_of(solver, f) != 1;
}

/* Is the flow in the sums of its links? */
static inline gboolean
is_counted(const MaxMin *solver, uint32_t f)
{
    return solver->holder[f] < HOLDER_GONE || solver->holder[f] == HOLDER_CAP;
}

/* Takes the flows that have gone out of a link's list. */
void maxmin_sweep(const MaxMin *solver, LinkState *link);
/* maxmin.c: takes the leaving flows off their links. */
void maxmin_detach_leaving(MaxMin *solver);

/* maxmin_heap.c: links (and, while all is filled, flows) by level; equal levels by number. */
void maxmin_heap_add(MaxMin *solver, double key, uint32_t id);
void maxmin_heap_pop(MaxMin *solver);
/* The first gets another key, not below its own. */
void maxmin_heap_delay(MaxMin *solver, double key);
/* Orders entries that were written in any order. */
void maxmin_heap_order(MaxMin *solver);

/* maxmin_hold.c. The flow has moved since the last solve: what it was told then is kept. */
void maxmin_note_moved(MaxMin *solver, uint32_t f);
/* The sums of a link have changed: it is named as touched, */
void maxmin_note_touched(MaxMin *solver, uint32_t link);
/* and looked at where others may have to change. */
void maxmin_touch(MaxMin *solver, uint32_t link);
/* The level of those that a link holds will be this: its idle links learn of it where that passes its ceiling. */
void maxmin_mind_ceiling(MaxMin *solver, uint32_t link, double level);
/* A link that holds nobody becomes idle if it has the room for it; one that is idle counts again what is taken. */
void maxmin_rest(MaxMin *solver, uint32_t link);
void maxmin_wake(MaxMin *solver, uint32_t link);
/* Has it room for the ceilings, by what is taken now? */
gboolean maxmin_may_rest(const MaxMin *solver, uint32_t link);
/* What an idle link counts of a flow beyond what it takes. */
Fixed maxmin_headroom(const MaxMin *solver, uint32_t f);
/* Coefficients other than 1 are coming. */
void maxmin_wake_all(MaxMin *solver);
/* Into the list of a link, or out of it; sums are not changed. */
void maxmin_list_held(MaxMin *solver, uint32_t f, uint32_t link);
void maxmin_unlist_held(MaxMin *solver, uint32_t f);
/* A new flow gets a holder and enters the sums, at a level that may not stand. */
void maxmin_insert(MaxMin *solver, uint32_t f);
/* Out of the sums of all its links. */
void maxmin_take_out(MaxMin *solver, uint32_t f);
/* The flow gets another holder, a link that it uses or HOLDER_CAP, and for now the level that this has. */
void maxmin_move(MaxMin *solver, uint32_t f, uint32_t holder);

/* maxmin_fill.c: gives every flow its holder and every link its sums from nothing (progressive filling). */
void maxmin_fill(MaxMin *solver);
