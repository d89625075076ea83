/* plan_cache.h - plans made once and used again: training repeats its collectives
 *
 * A plan depends on the members' nodes, the kind, the bytes, the channels' cuts and the algorithm. */
#pragma once

#include "collective/algorithm.h"

typedef struct {
    Layout *layout;
    Plan *plan;
    uint64_t *cut;
    /* Private to plan_cache.c. */
    const CollectiveAlgorithm *algorithm;
    CollectiveKind kind;
    ChannelWeights weights;
    uint64_t bytes;
    uint32_t n, root, channels;
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
