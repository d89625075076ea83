#include "collective/plan_cache.h"

#include "base/error.h"
#include "base/random.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* When the plans kept take more than this they are all let go (those in use live on). */
#define MOST_MEMORY ((size_t)128 << 20)

/* In bundles of more members than this messages from all to all are not listed. */
enum { LISTED = 256 };

struct PlanCache {
    Network *network;
    const Fabric *fabric;
    GHashTable *plans; /* of CachedPlan, key and value; looked up only */
    size_t memory;
};

static guint
plan_hash(gconstpointer key)
{
    return ((const CachedPlan *)key)->hash;
}

static gboolean
same(const void *a, const void *b, size_t size)
{
    return (a == NULL) == (b == NULL) && (a == NULL || memcmp(a, b, size) == 0);
}

/* Equal parts follow from the rest; those by live rates are part of what is asked. */
static gboolean
same_cut(const CachedPlan *a, const CachedPlan *b)
{
    if (a->weights == CHANNELS_EQUAL)
        return TRUE;
    return a->layout->n_channels == b->layout->n_channels &&
           same(a->cut, b->cut, (a->layout->n_channels + 1) * sizeof *a->cut);
}

static gboolean
plan_equal(gconstpointer x, gconstpointer y)
{
    const CachedPlan *a = x, *b = y;
    if (a->hash != b->hash || a->algorithm != b->algorithm || a->kind != b->kind || a->weights != b->weights ||
        a->compact != b->compact || a->bytes != b->bytes || a->n != b->n || a->root != b->root ||
        a->channels != b->channels || a->slice_B != b->slice_B || a->settings != b->settings || a->weight != b->weight)
        return FALSE;
    size_t n = a->n;
    return same(a->nodes, b->nodes, n * sizeof *a->nodes) && same(a->matrix, b->matrix, n * n * sizeof *a->matrix) &&
           same_cut(a, b);
}

void
plan_cache_release(CachedPlan *plan)
{
    if (plan == NULL || --plan->references > 0)
        return;
    layout_free(plan->layout);
    plan_free(plan->plan);
    pair_probes_free(plan->pair_probes);
    g_free(plan->hop_probes);
    g_free(plan->ring_totals);
    g_free(plan->cut);
    g_free(plan->nodes);
    g_free(plan->matrix);
    g_free(plan);
}

static void
release(gpointer plan)
{
    plan_cache_release(plan);
}

PlanCache *
plan_cache_new(Network *network, const Fabric *fabric)
{
    PlanCache *cache = g_new0(PlanCache, 1);
    cache->network = network;
    cache->fabric = fabric;
    cache->plans = g_hash_table_new_full(plan_hash, plan_equal, NULL, release);
    return cache;
}

void
plan_cache_free(PlanCache *cache)
{
    if (cache == NULL)
        return;
    g_hash_table_unref(cache->plans);
    g_free(cache);
}

Transfer
plan_transfer(const CollectiveSpec *spec, const Layout *layout, gboolean channel_nics, uint32_t channel, uint32_t src,
              uint32_t dst, uint64_t bytes)
{
    return (Transfer){
        .job = spec->job,
        .iteration = spec->iteration,
        .coflow = spec->coflow,
        .src_rank = spec->ranks[src],
        .dst_rank = spec->ranks[dst],
        .channel = channel,
        .src = spec->nodes[src],
        .dst = spec->nodes[dst],
        .src_nic = channel_nics ? layout_nic(layout, channel, src, dst) : INDEX_NONE,
        .dst_nic = channel_nics ? layout_nic(layout, channel, dst, src) : INDEX_NONE,
        .bytes = bytes,
        .weight = spec->weight > 0 ? spec->weight : 1,
        .rate_cap_Bps = INFINITY,
        .settings = spec->settings,
    };
}

AllPairs
plan_all_pairs(const CollectiveSpec *spec, const Pairs *pairs, uint32_t round)
{
    return (AllPairs){.n = spec->n,
                      .weight = spec->weight,
                      .nodes = spec->nodes,
                      .ranks = spec->ranks,
                      .bytes = pairs->bytes,
                      .by_source = pairs->round[round].by_source,
                      .job = spec->job,
                      .iteration = spec->iteration,
                      .coflow = spec->coflow};
}

/* Drops what was asked before routes or capacities changed, or for others' messages: hashed ways depend on job and
 * ranks. */
static void
freshen(CachedPlan *plan, Network *network, const CollectiveSpec *spec)
{
    uint64_t changes = network_changes(network), whose = spec->job;
    for (uint32_t i = 0; i < spec->n; i++)
        whose = hash_combine(whose, spec->ranks[i]);
    if (plan->probed_at == changes && plan->probed_for == whose)
        return;
    plan->probed_at = changes;
    plan->probed_for = whose;
    g_clear_pointer(&plan->pair_probes, pair_probes_free);
    g_clear_pointer(&plan->hop_probes, g_free);
    g_clear_pointer(&plan->ring_totals, g_free);
}

const PairProbes *
plan_pair_probes(CachedPlan *plan, Network *network, const CollectiveSpec *spec, GError **error)
{
    freshen(plan, network, spec);
    AllPairs pairs = plan_all_pairs(spec, plan->plan->pairs, 0);
    if (plan->pair_probes == NULL)
        plan->pair_probes = network_probe_pairs(network, &pairs, error);
    return plan->pair_probes;
}

const NetworkProbe *
plan_hop_probes(CachedPlan *plan, Network *network, const CollectiveSpec *spec, GError **error)
{
    freshen(plan, network, spec);
    if (plan->hop_probes != NULL)
        return plan->hop_probes;
    const Rings *rings = plan->plan->rings;
    g_autofree NetworkProbe *probes = g_new(NetworkProbe, rings->seats->len);
    for (uint32_t i = 0; i < rings->rings->len; i++) {
        const Ring *ring = &g_array_index(rings->rings, Ring, i);
        const Seat *seat = &g_array_index(rings->seats, Seat, ring->first_seat);
        for (uint32_t p = 0; p < ring->n; p++) {
            Transfer hop = plan_transfer(spec, plan->layout, ring->channel_nics, ring->channel, seat[p].member,
                                         seat[(p + 1) % ring->n].member, 0);
            if (!network_probe(network, &hop, &probes[ring->first_seat + p], error))
                return NULL;
        }
    }
    return plan->hop_probes = g_steal_pointer(&probes);
}

SimTime
plan_ring_total(CachedPlan *plan, const CollectiveConfig *config, uint32_t r, const RingHop *hop)
{
    const GArray *rings = plan->plan->rings->rings;
    if (plan->ring_totals == NULL)
        plan->ring_totals = g_new0(RingTotal, rings->len);
    RingTotal *total = &plan->ring_totals[r];
    if (total->total_ps > 0 && total->slice_B == config->slice_B &&
        total->reduce_cost_s_per_B == config->reduce_cost_s_per_B)
        return total->total_ps;
    *total = (RingTotal){0, config->slice_B, config->reduce_cost_s_per_B};
    total->total_ps = ring_time(&g_array_index(rings, Ring, r), hop, config->slice_B, config->reduce_cost_s_per_B);
    return total->total_ps;
}

/* The least live rate among the hops of channel k between servers; 0 where one has no way left. */
static double
channel_rate(PlanCache *cache, const CollectiveSpec *spec, const Layout *layout, uint32_t k)
{
    g_autofree uint32_t *order = g_new(uint32_t, layout->n);
    layout_order(layout, k, order);
    double least = INFINITY;
    for (uint32_t p = 0; p < layout->n; p++) {
        uint32_t src = order[p], dst = order[(p + 1) % layout->n];
        if (layout->server_of[src] == layout->server_of[dst])
            continue;
        Transfer hop = plan_transfer(spec, layout, TRUE, k, src, dst, 1);
        NetworkProbe probe;
        g_autoptr(GError) none = NULL; /* no way through this NIC: the channel carries nothing */
        if (!network_probe(cache->network, &hop, &probe, &none))
            return 0;
        least = MIN(least, probe.rate_Bps);
    }
    return least;
}

/* The layout, and what each channel carries. */
static gboolean
lay_out(PlanCache *cache, const CollectiveSpec *spec, CachedPlan *plan, GError **error)
{
    Layout *layout = plan->layout = layout_new(cache->fabric, spec->nodes, spec->n, plan->channels);
    plan->cut = g_new(uint64_t, layout->n_channels + 1);
    if (plan->weights == CHANNELS_EQUAL || layout->n_servers == 1) {
        layout_cut(layout, spec->bytes, NULL, plan->cut);
        return TRUE;
    }
    g_autofree double *weight = g_new(double, layout->n_channels);
    double total = 0;
    for (uint32_t k = 0; k < layout->n_channels; k++)
        total += weight[k] = channel_rate(cache, spec, layout, k);
    if (!(total > 0))
        return error_input(error, "no NIC of the servers of rank %u and the others has a live way to the next server",
                           spec->ranks[0]);
    layout_cut(layout, spec->bytes, isfinite(total) ? weight : NULL, plan->cut);
    return TRUE;
}

static guint
hash_of(const CachedPlan *plan)
{
    uint64_t hash = hash_combine(hash_combine(plan->kind, plan->bytes), hash_combine(plan->root, plan->channels));
    hash = hash_combine(hash, hash_text(plan->algorithm->name));
    for (uint32_t i = 0; i < plan->n; i++)
        hash = hash_combine(hash, plan->nodes[i]);
    return (guint)(hash ^ hash >> 32);
}

static gboolean
probe(PlanCache *cache, const Transfer *transfer, GError **error)
{
    NetworkProbe ignored;
    return network_probe(cache->network, transfer, &ignored, error);
}

/* Is there a way for every message? */
static gboolean
check_routes(PlanCache *cache, const CollectiveSpec *spec, CachedPlan *plan, GError **error)
{
    if (plan->plan->pairs != NULL)
        return plan_pair_probes(plan, cache->network, spec, error) != NULL;
    if (plan->plan->rings != NULL)
        return plan_hop_probes(plan, cache->network, spec, error) != NULL;
    const Schedule *schedule = plan->plan->schedule;
    for (uint32_t i = 0; i < schedule->n; i++) {
        const ScheduleNode *node = &schedule->nodes[i];
        if (node->dst == INDEX_NONE)
            continue;
        Transfer hop =
            plan_transfer(spec, plan->layout, schedule->channel_nics, node->channel, node->src, node->dst, 0);
        if (!probe(cache, &hop, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
make(PlanCache *cache, const CollectiveSpec *spec, CachedPlan *plan, GError **error)
{
    PlanRequest request = {plan->algorithm, spec, plan->layout, plan->cut, plan->compact, plan->slice_B};
    plan->plan = plan_new(plan->algorithm, &request, error);
    if (plan->plan == NULL || !check_routes(cache, spec, plan, error))
        return FALSE;
    size_t n = spec->n;
    plan->memory = plan_memory(plan->plan) + pair_probes_memory(plan->pair_probes) + sizeof *plan + n * 16 +
                   (plan->matrix != NULL ? n * n * sizeof *plan->matrix : 0);
    if (cache->memory + plan->memory > MOST_MEMORY) {
        g_hash_table_remove_all(cache->plans);
        cache->memory = 0;
    }
    cache->memory += plan->memory;
    plan->references++;
    g_hash_table_add(cache->plans, plan);
    return TRUE;
}

/* What is asked, as a key; nodes and matrix are copied. */
static CachedPlan *
key_of(const CollectiveAlgorithm *algorithm, const CollectiveSpec *spec, const CollectiveConfig *config)
{
    CachedPlan *key = g_new0(CachedPlan, 1);
    key->references = 1;
    key->algorithm = algorithm;
    key->kind = spec->kind;
    key->weights = config->channel_weights;
    key->bytes = spec->bytes;
    key->n = spec->n;
    key->root = spec->root;
    key->channels = config->channels;
    key->compact = config->grain == GRAIN_BUNDLE && spec->n > LISTED;
    key->slice_B = algorithm->sliced ? config->slice_B : 0;
    key->settings = spec->settings;
    key->weight = spec->weight;
    key->nodes = g_memdup2(spec->nodes, spec->n * sizeof *spec->nodes);
    if (spec->kind == COLLECTIVE_ALL_TO_ALL && spec->matrix != NULL)
        key->matrix = g_memdup2(spec->matrix, (size_t)spec->n * spec->n * sizeof *spec->matrix);
    key->hash = hash_of(key);
    return key;
}

CachedPlan *
plan_cache_take(PlanCache *cache, const CollectiveSpec *spec, const CollectiveConfig *config, GError **error)
{
    assert(spec->n >= 2);
    const CollectiveAlgorithm *algorithm = algorithm_find(config->algorithm[spec->kind], spec, error);
    if (algorithm == NULL)
        return NULL;
    CachedPlan *plan = key_of(algorithm, spec, config);
    if (plan->weights != CHANNELS_EQUAL && !lay_out(cache, spec, plan, error)) {
        plan_cache_release(plan);
        return NULL;
    }
    CachedPlan *known = g_hash_table_lookup(cache->plans, plan);
    if (known != NULL) {
        plan_cache_release(plan);
        known->references++;
        return known;
    }
    if ((plan->layout != NULL || lay_out(cache, spec, plan, error)) && make(cache, spec, plan, error))
        return plan;
    plan_cache_release(plan);
    return NULL;
}
