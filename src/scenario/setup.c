#include "scenario/setup.h"

#include "base/error.h"
#include "cluster/check.h"
#include "workload/trace_format.h"

#include <string.h>

/* "FILE:LINE:COLUMN: jobs[1]KEY" before what a lower room said. */
static void
prefix_job(const Scenario *scenario, uint32_t j, const char *key, GError **error)
{
    const JobSpec *spec = &scenario->jobs[j];
    g_prefix_error(error, "%s:%zu:%zu: jobs[%u]%s", scenario->tree->file, spec->line, spec->column, j, key);
}

static Workload *
read_workload(const JobSpec *spec, GError **error)
{
    g_auto(GStrv) files = NULL, execution = NULL;
    TraceSource source = {.groups_file = spec->groups,
                          .sizes_file = spec->sizes,
                          .dimensions = spec->dimensions,
                          .ranks = spec->gpus,
                          .model_parallel = spec->model_parallel,
                          .replicate = spec->replicate,
                          .rank_is = spec->rank_is};
    if (spec->training.model != NULL)
        return training_workload(&spec->training, spec->gpus, error);
    if (spec->program != NULL) {
        char *one[] = {spec->program, NULL};
        source.files = one;
        source.n_files = 1;
        return trace_read("program", &source, error);
    }
    files = trace_pair(NULL, (const char *const *)spec->trace, error);
    if (files == NULL)
        return NULL;
    if (spec->execution_trace != NULL) {
        execution = trace_pair(NULL, (const char *const *)spec->execution_trace, error);
        if (execution == NULL)
            return NULL;
        source.execution_files = execution;
        source.n_execution_files = g_strv_length(execution);
    }
    source.files = files;
    source.n_files = g_strv_length(files);
    return trace_read(spec->format, &source, error);
}

static gboolean
read_workloads(Setup *setup, GError **error)
{
    const Scenario *scenario = setup->scenario;
    for (uint32_t j = 0; j < scenario->n_jobs; j++) {
        const JobSpec *spec = &scenario->jobs[j];
        setup->workloads[j] = read_workload(spec, error);
        if (setup->workloads[j] == NULL) {
            prefix_job(scenario, j, spec->training.model ? ": " : spec->program ? ".program: " : ".trace: ", error);
            return FALSE;
        }
        uint32_t ranks = setup->workloads[j]->n_ranks;
        if (spec->gpus != 0 && spec->gpus != ranks) {
            error_input(error, "%u asked for, but its %s has %u ranks", spec->gpus, spec->program ? "program" : "trace",
                        ranks);
            prefix_job(scenario, j, ".gpus: ", error);
            return FALSE;
        }
    }
    return TRUE;
}

/* Has every GPU of the job the memory that its training takes? Those whose memory is not known are not asked. */
static gboolean
check_memory(const Setup *setup, uint32_t j, const uint32_t *nodes, GError **error)
{
    const JobSpec *spec = &setup->scenario->jobs[j];
    uint64_t least = 0;
    for (uint32_t r = 0;
         spec->training.model != NULL && spec->training.check_memory && r < setup->workloads[j]->n_ranks; r++) {
        uint64_t memory_B = fabric_node(setup->fabric, nodes[r])->memory_B;
        if (memory_B > 0 && (least == 0 || memory_B < least))
            least = memory_B;
    }
    if (least == 0 || training_check_memory(&spec->training, spec->gpus, least, error))
        return TRUE;
    prefix_job(setup->scenario, j, ": ", error);
    return FALSE;
}

/* Jobs that wait for GPUs get them in the run; one that would not even find them in an empty fabric is refused. */
static gboolean
check_places(Setup *setup, GError **error)
{
    const Scenario *scenario = setup->scenario;
    g_autofree gboolean *taken = g_new(gboolean, fabric_n_nodes(setup->fabric) + 1);
    for (uint32_t j = 0; j < scenario->n_jobs; j++) {
        const JobSpec *spec = &scenario->jobs[j];
        g_autofree uint32_t *nodes = g_new0(uint32_t, MAX(setup->workloads[j]->n_ranks, 1));
        memset(taken, 0, fabric_n_nodes(setup->fabric) * sizeof *taken);
        if (!placement_choose(&spec->placement, setup->fabric, setup->workloads[j], spec->name, scenario->seed, taken,
                              nodes, error)) {
            prefix_job(scenario, j, spec->placement.policy == PLACEMENT_GIVEN ? "." : ".gpus: ", error);
            return FALSE;
        }
        if (!check_memory(setup, j, nodes, error))
            return FALSE;
    }
    return TRUE;
}

/* In the order of arrival, equal ones as listed. */
static gboolean
place(Setup *setup, GError **error)
{
    const Scenario *scenario = setup->scenario;
    if (scenario->queue.policy != NULL)
        return check_places(setup, error);
    g_autofree gboolean *taken = g_new0(gboolean, fabric_n_nodes(setup->fabric));
    g_autofree uint32_t *order = g_new(uint32_t, MAX(scenario->n_jobs, 1));
    for (uint32_t j = 0; j < scenario->n_jobs; j++) {
        uint32_t at = j;
        for (; at > 0 && scenario->jobs[order[at - 1]].arrival_ps > scenario->jobs[j].arrival_ps; at--)
            order[at] = order[at - 1];
        order[at] = j;
    }
    for (uint32_t i = 0; i < scenario->n_jobs; i++) {
        uint32_t j = order[i];
        const JobSpec *spec = &scenario->jobs[j];
        setup->nodes[j] = g_new0(uint32_t, MAX(setup->workloads[j]->n_ranks, 1));
        if (!placement_choose(&spec->placement, setup->fabric, setup->workloads[j], spec->name, scenario->seed, taken,
                              setup->nodes[j], error)) {
            prefix_job(scenario, j, spec->placement.policy == PLACEMENT_GIVEN ? "." : ".gpus: ", error);
            return FALSE;
        }
        if (!check_memory(setup, j, setup->nodes[j], error))
            return FALSE;
    }
    return TRUE;
}

/* Finds the groups that jobs give weights. */
static gboolean
resolve_weights(Setup *setup, GError **error)
{
    const Scenario *scenario = setup->scenario;
    setup->weight_of_group = g_new0(double *, scenario->n_jobs + 1);
    for (uint32_t j = 0; j < scenario->n_jobs; j++) {
        const GArray *given = scenario->jobs[j].weights;
        const GPtrArray *groups = setup->workloads[j]->groups;
        if (given == NULL)
            continue;
        double *weights = setup->weight_of_group[j] = g_new(double, groups->len + 1);
        for (guint g = 0; g < groups->len; g++)
            weights[g] = 1;
        for (guint i = 0; i < given->len; i++) {
            const GroupWeight *one = &g_array_index(given, GroupWeight, i);
            uint32_t group = workload_find_group(setup->workloads[j], one->group);
            if (group == INDEX_NONE)
                return error_input(error, "%s:%zu:%zu: jobs[%u].weights: the job has no group \"%s\"",
                                   scenario->tree->file, one->line, one->column, j, one->group);
            weights[group] = one->weight;
        }
    }
    return TRUE;
}

static void
fill_jobs(Setup *setup)
{
    for (uint32_t j = 0; j < setup->scenario->n_jobs; j++) {
        const JobSpec *spec = &setup->scenario->jobs[j];
        setup->jobs[j] = (JobSetup){.name = spec->name,
                                    .workload = setup->workloads[j],
                                    .nodes = setup->nodes[j],
                                    .arrival_ps = spec->arrival_ps,
                                    .placement = &spec->placement,
                                    .estimate_ps = spec->estimate_ps,
                                    .priority = spec->priority,
                                    .shift_ps = spec->shift_ps,
                                    .iterations = spec->iterations,
                                    .until = spec->until,
                                    .warmup = spec->warmup,
                                    .start_together = spec->start_together,
                                    .scale_bytes = spec->scale_bytes,
                                    .compute_scale = spec->compute_scale,
                                    .peak_FLOPps = spec->peak_FLOPps,
                                    .memory_bandwidth_Bps = spec->memory_bandwidth_Bps,
                                    .collectives = spec->collectives,
                                    .settings = setup->settings_of_job[j],
                                    .settings_of_group = setup->settings_of_group[j],
                                    .weight_of_group = setup->weight_of_group[j]};
    }
}

/* Link number `cable` from one node to another, in index order. */
static uint32_t
find_link(const Fabric *fabric, const char *from, const char *to, uint32_t cable, GError **error)
{
    uint32_t a = fabric_find(fabric, from), b = fabric_find(fabric, to), n, found = 0;
    if (a == INDEX_NONE || b == INDEX_NONE) {
        error_input(error, "the fabric has no node \"%s\"", a == INDEX_NONE ? from : to);
        return INDEX_NONE;
    }
    const uint32_t *links = fabric_out(fabric, a, &n);
    for (uint32_t i = 0; i < n; i++)
        if (fabric_link(fabric, links[i])->dst == b && found++ == cable)
            return links[i];
    if (found == 0)
        error_input(error, "there is no link from \"%s\" to \"%s\"", from, to);
    else
        error_input(error, "cable %u asked for, \"%s\" and \"%s\" are joined by %u (counted from 0)", cable, from, to,
                    found);
    return INDEX_NONE;
}

static gboolean
resolve_faults(Setup *setup, GError **error)
{
    const Scenario *scenario = setup->scenario;
    setup->faults = g_new0(FaultSetup, 2 * scenario->n_faults + 1);
    for (uint32_t i = 0; i < scenario->n_faults; i++) {
        const FaultSpec *spec = &scenario->faults[i];
        if (spec->rate_Bps > LINK_MAX_Bps)
            return error_input(error, "%s:%zu:%zu: faults[%u].rate: %g B/s, expected at most %g", scenario->tree->file,
                               spec->line, spec->column, i, spec->rate_Bps, LINK_MAX_Bps);
        for (int way = 0; way <= (spec->both ? 1 : 0); way++) {
            uint32_t link =
                find_link(setup->fabric, way ? spec->to : spec->from, way ? spec->from : spec->to, spec->cable, error);
            if (link == INDEX_NONE) {
                g_prefix_error(error, "%s:%zu:%zu: faults[%u]: ", scenario->tree->file, spec->line, spec->column, i);
                return FALSE;
            }
            setup->faults[setup->n_faults++] =
                (FaultSetup){.at_ps = spec->at_ps, .link = link, .rate_Bps = spec->rate_Bps};
        }
    }
    return TRUE;
}

static gboolean
resolve_pinned(Setup *setup, GError **error)
{
    const GPtrArray *paths = setup->scenario->pinned;
    for (uint32_t i = 0; paths != NULL && i < paths->len; i++) {
        char **names = g_ptr_array_index(paths, i);
        GArray *chain = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_ptr_array_add(setup->pinned, chain);
        for (uint32_t k = 0; names[k] != NULL && names[k + 1] != NULL; k++) {
            uint32_t link = find_link(setup->fabric, names[k], names[k + 1], 0, error);
            if (link == INDEX_NONE) {
                g_prefix_error(error, "%s: network.pinned[%u]: ", setup->scenario->tree->file, i);
                return FALSE;
            }
            g_array_append_val(chain, link);
        }
    }
    return TRUE;
}

/* What would only fail in the run is refused before it. */
static gboolean
check_jobs(const Setup *setup, GError **error)
{
    for (uint32_t j = 0; j < setup->scenario->n_jobs; j++)
        if (!job_check(&setup->jobs[j], setup->jobs, setup->fabric, setup->scenario->model, error)) {
            prefix_job(setup->scenario, j, ": ", error);
            return FALSE;
        }
    return TRUE;
}

Setup *
setup_new(const Scenario *scenario, GError **error)
{
    g_autoptr(Setup) setup = g_new0(Setup, 1);
    setup->scenario = scenario;
    setup->workloads = g_new0(Workload *, scenario->n_jobs + 1);
    setup->nodes = g_new0(uint32_t *, scenario->n_jobs + 1);
    setup->jobs = g_new0(JobSetup, scenario->n_jobs + 1);
    setup->pinned = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    setup->fabric = scenario_fabric(scenario, error);
    if (setup->fabric == NULL || !read_workloads(setup, error) || !place(setup, error) ||
        !resolve_faults(setup, error) || !resolve_pinned(setup, error) || !setup_settings(setup, error) ||
        !resolve_weights(setup, error))
        return NULL;
    fill_jobs(setup);
    return check_jobs(setup, error) ? g_steal_pointer(&setup) : NULL;
}

void
setup_free(Setup *setup)
{
    if (setup == NULL)
        return;
    for (uint32_t j = 0; j < setup->scenario->n_jobs; j++) {
        workload_free(setup->workloads[j]);
        g_free(setup->nodes[j]);
        if (setup->settings_of_group != NULL)
            g_free(setup->settings_of_group[j]);
        if (setup->weight_of_group != NULL)
            g_free(setup->weight_of_group[j]);
    }
    g_free(setup->settings);
    g_free(setup->settings_of_job);
    g_free(setup->settings_of_group);
    g_free(setup->weight_of_group);
    g_free(setup->workloads);
    g_free(setup->nodes);
    g_free(setup->jobs);
    g_free(setup->faults);
    g_ptr_array_unref(setup->pinned);
    fabric_free(setup->fabric);
    g_free(setup);
}
