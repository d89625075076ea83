/* plan_cache.h - plans made once and used again: training repeats its collectives
 *
 * A plan depends on the members' nodes, the kind, the bytes, the channels' cuts and the algorithm. */
#pragma once

#include "collective/algorithm.h"
#include "collective/ring_time.h"
#include "network/all_pairs.h"

/* How long a ring takes alone, all members ready at once; so far as it was asked. */
typedef struct {
    SimTime total_ps; /* 0: not asked */
    uint64_t slice_B;
    double reduce_cost_s_per_B;
} RingTotal;

typedef struct {
    Layout *layout;
    Plan *plan;
    uint64_t *cut;
    /* Private to plan_cache.c. */
    PairProbes *pair_probes;        /* of pairs, as of probed_at */
    NetworkProbe *hop_probes;       /* of rings, by seat, likewise */
    RingTotal *ring_totals;         /* by ring, likewise */
    uint64_t probed_at, probed_for; /* network_changes, and whose messages */
    gboolean compact;
    const CollectiveAlgorithm *algorithm;
    CollectiveKind kind;
    ChannelWeights weights;
    uint64_t bytes, slice_B;
    uint32_t n, root, channels, settings;
    double weight; /* of its transfers; 0 = 1 */
    uint32_t *nodes;
    uint64_t *matrix;
    guint hash;
    gint references;
    size_t memory;
} CachedPlan;

typedef struct PlanCache PlanCache;

PlanCache *plan_cache_new(Network *network, const Fabric *fabric);
void plan_cache_free(PlanCache *cache); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PlanCache, plan_cache_free)

/* The plan of a collective of n >= 2 members, made and its routes checked where it is new; to be given back with
 * plan_cache_release. NULL with an INPUT error: no route, no such algorithm, or not for these members. */
CachedPlan *plan_cache_take(PlanCache *cache, const CollectiveSpec *spec, const CollectiveConfig *config,
                            GError **error);
void plan_cache_release(CachedPlan *plan);

/* The transfer of one message of a plan. */
Transfer plan_transfer(const CollectiveSpec *spec, const Layout *layout, gboolean channel_nics, uint32_t channel,
                       uint32_t src, uint32_t dst, uint64_t bytes);

/* The messages of a round of pairs; arrays borrowed from both. */
AllPairs plan_all_pairs(const CollectiveSpec *spec, const Pairs *pairs, uint32_t round);
/* What each of them, or the hop of each seat of rings, meets alone; owned by the plan, kept for as long as routes and
 * capacities stand. NULL with an INPUT error where one has no way. */
const PairProbes *plan_pair_probes(CachedPlan *plan, Network *network, const CollectiveSpec *spec, GError **error);
const NetworkProbe *plan_hop_probes(CachedPlan *plan, Network *network, const CollectiveSpec *spec, GError **error);
/* Of the hop probes' ring number r, by ring_time; hop of each position. */
SimTime plan_ring_total(CachedPlan *plan, const CollectiveConfig *config, uint32_t r, const RingHop *hop);
