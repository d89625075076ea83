#include "collective/algorithm.h"

#include "base/error.h"
#include "base/suggest.h"

#include <string.h>

static const CollectiveAlgorithm algorithm_auto = {
    .name = "auto",
    .help = "all_reduce: halving_doubling up to 1 MiB, else ring; the others: the kind's default",
    .kinds = (1u << COLLECTIVE_KINDS) - 1,
};

/* The table: one line an algorithm. */
static const CollectiveAlgorithm *const algorithms[] = {
    &algorithm_auto,
    &algorithm_binomial,
    &algorithm_bruck,
    &algorithm_chain,
    &algorithm_direct,
    &algorithm_double_tree,
    &algorithm_halving_doubling,
    &algorithm_hierarchical,
    &algorithm_pairwise,
    &algorithm_recursive_doubling,
    &algorithm_ring,
    &algorithm_tree,
};

static const char *const default_name[COLLECTIVE_KINDS] = {
    [COLLECTIVE_ALL_REDUCE] = "ring",   [COLLECTIVE_ALL_GATHER] = "ring",    [COLLECTIVE_REDUCE_SCATTER] = "ring",
    [COLLECTIVE_ALL_TO_ALL] = "direct", [COLLECTIVE_BROADCAST] = "binomial", [COLLECTIVE_REDUCE] = "binomial",
    [COLLECTIVE_BARRIER] = "binomial",
};

/* Below this an all-reduce is ruled by latency: 2 lg n steps instead of 2(n - 1). */
#define AUTO_SMALL_B (UINT64_C(1) << 20)

const char *const *
collective_algorithms(void)
{
    static const char *names[G_N_ELEMENTS(algorithms) + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(algorithms); i++)
        names[i] = algorithms[i]->name;
    return names;
}

static const CollectiveAlgorithm *
by_name(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(algorithms); i++) {
        if (strcmp(algorithms[i]->name, name) == 0)
            return algorithms[i];
    }
    return NULL;
}

gboolean
collective_algorithm_serves(const char *algorithm, CollectiveKind kind)
{
    const CollectiveAlgorithm *found = by_name(algorithm);
    return found != NULL && (found->kinds >> kind & 1) != 0;
}

const char *
collective_algorithm_help(const char *algorithm)
{
    const CollectiveAlgorithm *found = by_name(algorithm);
    return found != NULL ? found->help : NULL;
}

static const char *
resolve(const char *name, const CollectiveSpec *spec)
{
    if (algorithm_is_file(name)) { /* what it is not for goes the default way, as in the runtime of MSCCL */
        const CollectiveAlgorithm *file = algorithm_from_file(name, NULL);
        return file == NULL || algorithm_file_suits(file, spec) ? name : default_name[spec->kind];
    }
    if (name != NULL && strcmp(name, "auto") != 0)
        return name;
    if (name != NULL && spec->kind == COLLECTIVE_ALL_REDUCE && spec->bytes <= AUTO_SMALL_B)
        return "halving_doubling";
    return default_name[spec->kind];
}

const char *
collective_algorithm(const CollectiveSpec *spec, const CollectiveConfig *config)
{
    return resolve(config->algorithm[spec->kind], spec);
}

const char *
collective_algorithm_load(const char *name, CollectiveKind kind, GError **error)
{
    const CollectiveAlgorithm *file = algorithm_from_file(name, error);
    if (file == NULL)
        return NULL;
    if ((file->kinds >> kind & 1) != 0)
        return file->name;
    error_input(error, "%s: this algorithm is not for %s", name, collective_kind_name(kind));
    return NULL;
}

gboolean
collective_algorithm_is_file(const char *name)
{
    return algorithm_is_file(name);
}

const CollectiveAlgorithm *
algorithm_find(const char *name, const CollectiveSpec *spec, GError **error)
{
    if (algorithm_is_file(name) && algorithm_from_file(name, error) == NULL)
        return NULL;
    const char *resolved = resolve(name, spec);
    if (algorithm_is_file(resolved))
        return algorithm_from_file(resolved, error);
    const CollectiveAlgorithm *found = by_name(resolved);
    if (found == NULL) {
        const char *near = suggest_nearest(resolved, collective_algorithms(), G_N_ELEMENTS(algorithms));
        error_input(error, "there is no algorithm \"%s\"%s%s%s", resolved, near ? "; did you mean \"" : "",
                    near ? near : "", near ? "\"?" : "");
        return NULL;
    }
    if ((found->kinds >> spec->kind & 1) != 0)
        return found;
    g_autoptr(GString) able = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(algorithms); i++) {
        if ((algorithms[i]->kinds >> spec->kind & 1) != 0)
            g_string_append_printf(able, "%s%s", able->len > 0 ? ", " : "", algorithms[i]->name);
    }
    error_input(error, "algorithm \"%s\" is not for %s; those for it are: %s", resolved,
                collective_kind_name(spec->kind), able->str);
    return NULL;
}

Plan *
plan_new(const CollectiveAlgorithm *algorithm, const PlanRequest *request, GError **error)
{
    g_autoptr(Plan) plan = g_new0(Plan, 1);
    plan->schedule = schedule_new(request->spec->n);
    plan->rings = rings_new();
    if (!algorithm->plan(request, plan, error))
        return NULL;
    if (plan->rings->rings->len > 0 || plan->pairs != NULL)
        g_clear_pointer(&plan->schedule, schedule_free);
    if (plan->rings->rings->len == 0)
        g_clear_pointer(&plan->rings, rings_free);
    if (plan->schedule != NULL)
        schedule_seal(plan->schedule);
    if (plan->rings != NULL)
        rings_seal(plan->rings, request->spec->n);
    return g_steal_pointer(&plan);
}

void
plan_free(Plan *plan)
{
    if (plan == NULL)
        return;
    schedule_free(plan->schedule);
    rings_free(plan->rings);
    if (plan->pairs != NULL)
        g_free(plan->pairs->bytes);
    g_free(plan->pairs);
    g_free(plan);
}

size_t
plan_memory(const Plan *plan)
{
    if (plan->schedule != NULL)
        return schedule_memory(plan->schedule);
    if (plan->pairs != NULL)
        return sizeof *plan->pairs + plan->pairs->n_rounds;
    return plan->rings->rings->len * sizeof(Ring) + plan->rings->seats->len * sizeof(Seat);
}

gboolean
plan_channel_used(const PlanRequest *request, uint32_t channel)
{
    return request->spec->bytes == 0 ? channel == 0 : request->cut[channel] < request->cut[channel + 1];
}

uint64_t
plan_all_to_all_bytes(const CollectiveSpec *spec, uint32_t i, uint32_t j)
{
    if (spec->matrix != NULL)
        return spec->matrix[(size_t)i * spec->n + j];
    uint64_t each = spec->bytes / spec->n;
    return j + 1 == spec->n ? spec->bytes - each * (spec->n - 1) : each;
}

gboolean
plan_all_to_all_sends(const CollectiveSpec *spec, uint32_t i, uint32_t j)
{
    return i != j && (spec->matrix == NULL || spec->matrix[(size_t)i * spec->n + j] > 0);
}

uint32_t
plan_slices(uint64_t bytes, uint64_t slice_B)
{
    if (slice_B == 0 || bytes <= slice_B)
        return 1;
    return (uint32_t)MIN((bytes - 1) / slice_B + 1, UINT32_MAX);
}

uint64_t
plan_chunks(uint64_t bytes, uint32_t n, uint32_t from, uint32_t to)
{
    unsigned __int128 wide = bytes;
    return (uint64_t)(wide * to / n) - (uint64_t)(wide * from / n);
}
