/* all_pairs.h - a message from each of n nodes to each of the others, too many to be listed
 *
 * A message's bytes are those of its source, or those of its destination. Where the routing leaves no choice to the
 * single message (destination-mod-k, spraying), what leaves by the same switch goes the same way to the same
 * destination: sources are gathered in groups, and so are destinations where messages are sprayed. Under hashed
 * routing each member is a group of its own. */
#pragma once

#include "network/network.h"

struct AllPairs {
    uint32_t n; /* at most 2^16 */
    const uint32_t *nodes, *ranks;
    const uint64_t *bytes; /* of a message, by member */
    gboolean by_source;
    uint32_t job, iteration, coflow, settings;
    double weight; /* of each message; 0 = 1 */
};

/* Everything copied, and freed. */
AllPairs *all_pairs_copy(const AllPairs *pairs);
void all_pairs_free(AllPairs *pairs); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AllPairs, all_pairs_free)

/* Is each message of the one as that of the other, its iteration and coflow apart? */
gboolean all_pairs_same(const AllPairs *a, const AllPairs *b);
/* n (n - 1). */
uint32_t all_pairs_count(const AllPairs *pairs);
uint64_t all_pairs_bytes(const AllPairs *pairs);
/* From member i to member j, by the nearest NICs. */
Transfer all_pairs_transfer(const AllPairs *pairs, uint32_t i, uint32_t j);
/* All of them, freed by the caller; by source, then destination. */
Transfer *all_pairs_list(const AllPairs *pairs);

/* Members in groups, and what of their ways is their own. */
typedef struct {
    uint32_t n;             /* groups */
    uint32_t *first, *list; /* members of each, rising */
    uint32_t *of;           /* by member */
    RouteStem *stem; /* by member: to the switch where its group's way begins (from where it ends); n = 0: none */
} PairSide;

typedef struct {
    PairSide from, to;
    uint32_t n_sites, *first, *list, *site; /* members whose ways to each other are looked up one by one */
} PairGroups;

/* spread: as if sprayed, whatever the policy. gather: else each member is a group, whatever the routing. capacity, by
 * link: members of one group have equal stems; NULL: that does not matter. */
PairGroups *pair_groups_new(Routes *routes, const AllPairs *pairs, gboolean spread, gboolean gather,
                            const double *capacity);
void pair_groups_free(PairGroups *groups); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PairGroups, pair_groups_free)
/* Where messages are sprayed: what those of all groups of sources that have stems cross on their way to one group of
 * destinations, as routes_funnel. NULL where that is not known, or the group has no stem. */
const RouteHop *pair_groups_funnel(const PairGroups *groups, Routes *routes, uint32_t to, uint32_t *n_hops);
/* May members be gathered at all: is no way set apart from the others (network.limits, settings)? */
gboolean network_gathers(const Network *network);

/* What each message would meet alone, now, as network_probe of each. NULL with an INPUT error where there is no way. */
typedef struct {
    PairGroups *groups;
    uint32_t *cell;    /* [from group * to.n + to group]: row of probe, for members of different sites */
    GArray *probe;     /* of NetworkProbe */
    uint32_t *near_at; /* by member: first of its site's rows in near */
    GArray *near;      /* of NetworkProbe: to each of its site in order, itself counted */
} PairProbes;
PairProbes *network_probe_pairs(Network *network, const AllPairs *pairs, GError **error);
void pair_probes_free(PairProbes *probes);           /* NULL is fine */
size_t pair_probes_memory(const PairProbes *probes); /* bytes; of NULL 0 */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PairProbes, pair_probes_free)

/* Two members of different sites, one of each group. FALSE: there are none. */
gboolean pair_groups_far(const PairGroups *groups, uint32_t from, uint32_t to, uint32_t *i, uint32_t *j);
