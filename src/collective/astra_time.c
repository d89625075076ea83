#include "collective/astra_time.h"

#include "base/error.h"

/* What all forms need. Division and truncation are ASTRA-sim's own, in the order in which it does them. */
typedef struct {
    uint64_t n, delay_ns;
    double latency_ns, bandwidth_Bpns, memory_Bpns;
    AstraBackEnd back_end;
} Terms;

static uint64_t
serialise(const Terms *terms, uint64_t bytes)
{
    return (uint64_t)((double)bytes / terms->bandwidth_Bpns);
}

/* From rank to switch to rank: aware stores and forwards the whole message, each link in whole ns; unaware pays both
 * latencies and serialises once. */
static uint64_t
hop(const Terms *terms, uint64_t bytes)
{
    double time = (double)bytes / terms->bandwidth_Bpns;
    if (terms->back_end == ASTRA_AWARE)
        return 2 * (uint64_t)(terms->latency_ns + time);
    return (uint64_t)(2 * terms->latency_ns + time);
}

/* Two reads and a write of the chunk, each in whole ns. */
static uint64_t
reduce(const Terms *terms, uint64_t bytes)
{
    return 3 * (uint64_t)((double)bytes / terms->memory_Bpns);
}

static uint64_t
ring_all_reduce(const Terms *terms, uint64_t bytes)
{
    uint64_t chunk = bytes / terms->n, steps = 2 * (terms->n - 1);
    return steps * hop(terms, chunk) + (steps + 1) * terms->delay_ns + (terms->n - 1) * reduce(terms, chunk);
}

static uint64_t
halving_all_reduce(const Terms *terms, uint64_t bytes)
{
    uint64_t time = terms->delay_ns;
    for (uint64_t size = bytes / 2, peers = terms->n; peers > 1; size /= 2, peers /= 2)
        time += 2 * hop(terms, size) + 2 * terms->delay_ns + (peers < terms->n ? reduce(terms, size) : 0);
    return time;
}

/* The n - 1 messages of a rank leave through one link where links are shared, at once where they are not. */
static uint64_t
direct_exchange(const Terms *terms, uint64_t bytes)
{
    uint64_t chunk = bytes / terms->n;
    uint64_t queue = terms->back_end == ASTRA_AWARE ? (terms->n - 2) * serialise(terms, chunk) : 0;
    return hop(terms, chunk) + queue + 2 * terms->delay_ns;
}

/* An exchange, a reduction, an exchange; the delay between them is paid once. */
static uint64_t
direct_all_reduce(const Terms *terms, uint64_t bytes)
{
    return 2 * direct_exchange(terms, bytes) - terms->delay_ns + reduce(terms, bytes / terms->n);
}

/* The message for the k-th neighbour takes k steps, one message a step. */
static uint64_t
ring_all_to_all(const Terms *terms, uint64_t bytes)
{
    uint64_t steps = terms->n * (terms->n - 1) / 2;
    return steps * hop(terms, bytes / terms->n) + (steps + 1) * terms->delay_ns;
}

static gboolean
check(const AstraNetwork *network, const AstraSystem *system, CollectiveKind kind, uint64_t bytes, GError **error)
{
    const AstraDimension *dimension = astra_network_dimension(network, 0);
    const char *name = collective_kind_name(kind);
    if (network->dimensions->len != 1 || dimension->shape != ASTRA_SWITCH)
        return error_input(error, "ASTRA-sim's forms are known for one dimension of Switch, not for this network");
    if (kind != COLLECTIVE_ALL_REDUCE && kind != COLLECTIVE_ALL_TO_ALL)
        return error_input(error, "ASTRA-sim's forms are known for all_reduce and all_to_all, not for %s", name);
    if (system->splits != 1)
        return error_input(error,
                           "%s: preferred-dataset-splits is %" G_GUINT64_FORMAT "; ASTRA-sim's forms are known for 1",
                           system->path, system->splits);
    if (system->ignored->len > 0)
        return error_input(error, "%s: %s is given; ASTRA-sim's forms are known without it", system->path,
                           (const char *)system->ignored->pdata[0]);
    if (system->n_impl[kind] != 1)
        return error_input(error, "%s: %u implementations of %s, 1 expected", system->path, system->n_impl[kind], name);
    AstraImpl impl = system->impl[kind];
    if (impl == ASTRA_IMPL_OTHER || (impl == ASTRA_IMPL_HALVING && kind == COLLECTIVE_ALL_TO_ALL))
        return error_input(error, "%s: no form of this implementation of %s is known", system->path, name);
    if (impl == ASTRA_IMPL_HALVING && (dimension->npus & (dimension->npus - 1)) != 0)
        return error_input(error, "%s: halvingDoubling needs a power of two of ranks, there are %u", system->path,
                           dimension->npus);
    if (kind == COLLECTIVE_ALL_REDUCE && system->local_mem_GBps <= 0)
        return error_input(error, "%s: local-mem-bw is missing; ASTRA-sim reduces with it", system->path);
    if (bytes < dimension->npus || bytes > G_GUINT64_CONSTANT(1) << 50)
        return error_input(error, "ASTRA-sim's forms need a byte a rank at least and 1 PiB at most");
    return TRUE;
}

gboolean
astra_time(const AstraNetwork *network, const AstraSystem *system, AstraBackEnd back_end, CollectiveKind kind,
           uint64_t bytes, uint64_t *time_ns, GError **error)
{
    if (!check(network, system, kind, bytes, error))
        return FALSE;
    const AstraDimension *dimension = astra_network_dimension(network, 0);
    Terms terms = {.n = dimension->npus,
                   .delay_ns = system->endpoint_delay_ns,
                   .latency_ns = dimension->latency_ns,
                   .bandwidth_Bpns = dimension->bandwidth_GiBps * 0x1p30 / 1e9,
                   .memory_Bpns = system->local_mem_GBps,
                   .back_end = back_end};
    gboolean reduces = kind == COLLECTIVE_ALL_REDUCE;
    switch (system->impl[kind]) {
    case ASTRA_IMPL_RING:
        *time_ns = reduces ? ring_all_reduce(&terms, bytes) : ring_all_to_all(&terms, bytes);
        return TRUE;
    case ASTRA_IMPL_DIRECT:
        *time_ns = reduces ? direct_all_reduce(&terms, bytes) : direct_exchange(&terms, bytes);
        return TRUE;
    default:
        *time_ns = halving_all_reduce(&terms, bytes);
        return TRUE;
    }
}
