/* kineto.c - the Kineto format: files of all ranks, their execution traces beside them, become one workload */
#include "workload/kineto.h"

#include "workload/kineto_rank.h"
#include "workload/trace_format.h"

#include <inttypes.h>
#include <string.h>

static int
recognise(const char *head, size_t length)
{
    size_t bom = input_bom(head, length);
    if (length == bom || (head[bom] != '{' && !g_ascii_isspace(head[bom])))
        return 0;
    g_autofree char *text = g_strndup(head, length); /* up to a zero byte */
    if (strstr(text, "\"traceEvents\"") != NULL)
        return 95;
    if (strstr(text, "\"deviceProperties\"") != NULL || strstr(text, "\"distributedInfo\"") != NULL)
        return 90;
    if (strstr(text, "\"schema\"") != NULL && strstr(text, "\"start_ts\"") != NULL)
        return 40; /* an execution trace: the reader says where it belongs */
    return 0;
}

/* What one file must have by itself. */
gboolean
kineto_check_file(const KinetoFile *file, GError **error)
{
    if (file->rank < 0)
        return error_input(error, "%s: distributedInfo names no rank, so it is not known whose trace this is",
                           file->path);
    if (file->world_size >= 0 && file->rank >= file->world_size)
        return error_input(error, "%s: rank %" PRId64 " of a world of %" PRId64, file->path, file->rank,
                           file->world_size);
    if (file->events[KINETO_KERNEL]->len + file->events[KINETO_MEMCPY]->len + file->events[KINETO_MEMSET]->len == 0)
        return error_input(
            error, "%s: no kernels, copies or fills: no device work was recorded, nothing can be replayed", file->path);
    int64_t first, last;
    if (file->base_ns < 0 || __builtin_add_overflow(file->base_ns, file->first_ns, &first) ||
        __builtin_add_overflow(file->base_ns, file->last_ns, &last) || first < 0 ||
        last - first > SIM_TIME_MAX / PS_PER_NS / 4)
        return error_input(
            error, "%s: times from %" PRId64 " to %" PRId64 " ns, baseTimeNanoseconds %" PRId64 ": out of range",
            file->path, file->first_ns, file->last_ns, file->base_ns);
    return TRUE;
}

/* A file of a process that had nobody to talk to. */
static gboolean
is_alone(const KinetoFile *file)
{
    gboolean alone = file->rank < 0 && file->world_size <= 1 && file->events[KINETO_COMM]->len == 0;
    for (guint i = 0; alone && i < file->events[KINETO_KERNEL]->len; i++)
        alone = !kineto_is_nccl(kineto_event(file, KINETO_KERNEL, i));
    return alone;
}

/* The files of one rank; NULL with an error. surveys, where wanted, gets that of the file as soon as it is read. */
static KinetoRank *
read_rank(const TraceSource *source, uint32_t i, GPtrArray *surveys, GError **error)
{
    guint before = source->problems != NULL ? source->problems->len : 0;
    g_autoptr(KinetoFile) file = kineto_file_read(source->files[i], surveys != NULL, source->problems, error);
    if (file != NULL && surveys != NULL)
        g_ptr_array_add(surveys, kineto_survey_of(file));
    gboolean whole = source->problems == NULL || source->problems->len == before; /* else something was left out */
    if (file != NULL && source->n_files == 1 && is_alone(file)) {
        file->rank = 0;
        file->rank_is_taken = TRUE;
    }
    if (file == NULL || (whole && !kineto_check_file(file, error)))
        return NULL;
    g_autoptr(ExecutionTrace) execution = NULL;
    if (source->execution_files != NULL) {
        execution = execution_trace_read(source->execution_files[i], source->problems, error);
        if (execution == NULL)
            return NULL;
    }
    return kineto_rank_new(g_steal_pointer(&file), g_steal_pointer(&execution));
}

/* With a list of problems, goes on after one: puts the error there and leaves the first in *error. */
static gboolean
set_aside(GPtrArray *problems, GError *problem, GError **error)
{
    kineto_add_problem(problems, problem->message);
    if (error != NULL && *error == NULL)
        g_propagate_error(error, problem);
    else
        g_error_free(problem);
    return problems != NULL;
}

static gboolean
read_ranks(const TraceSource *source, GPtrArray *ranks, GPtrArray *surveys, GError **error)
{
    if (source->execution_files != NULL && source->n_execution_files != source->n_files)
        return error_input(error, "%u Kineto files, but %u execution traces: there must be one for each rank or none",
                           source->n_files, source->n_execution_files);
    gboolean good = TRUE;
    for (uint32_t i = 0; i < source->n_files; i++) {
        GError *problem = NULL;
        KinetoRank *rank = read_rank(source, i, surveys, &problem);
        if (rank != NULL) {
            g_ptr_array_add(ranks, rank);
            continue;
        }
        good = FALSE;
        gboolean surveyed = surveys != NULL && surveys->len == i + 1;
        if (surveys != NULL && !surveyed)
            g_ptr_array_set_size(surveys, 0); /* one cannot be read */
        if (!set_aside(source->problems, problem, error) && !surveyed)
            break;
    }
    return good;
}

static gboolean
join_ranks(const GPtrArray *ranks, GPtrArray *problems, GError **error)
{
    gboolean good = TRUE;
    for (guint i = 0; i < ranks->len; i++) {
        GError *problem = NULL;
        if (kineto_join(g_ptr_array_index(ranks, i), ranks->len, problems, &problem))
            continue;
        if (good)
            g_propagate_error(error, problem);
        else
            g_error_free(problem);
        good = FALSE;
        if (problems == NULL)
            break;
    }
    return good;
}

static gint
by_rank(gconstpointer a, gconstpointer b)
{
    uint32_t x = (*(KinetoRank *const *)a)->rank, y = (*(KinetoRank *const *)b)->rank;
    return x < y ? -1 : x > y;
}

/* "ranks 2, 3, 4, ...": those without a file. */
static char *
missing_text(const GPtrArray *ranks, int64_t world)
{
    enum { SHOWN = 8 };
    GString *text = g_string_new(NULL);
    guint next = 0;
    int shown = 0;
    for (int64_t r = 0; r < world; r++) {
        if (next < ranks->len && ((KinetoRank *)g_ptr_array_index(ranks, next))->rank == r) {
            next++;
            continue;
        }
        if (shown == SHOWN) {
            g_string_append(text, ", ...");
            break;
        }
        g_string_append_printf(text, "%s%" PRId64, shown++ > 0 ? ", " : "", r);
    }
    return g_string_free(text, FALSE);
}

/* One file for each rank, all of one job. Sorts by rank. */
static gboolean
check_ranks(GPtrArray *ranks, GError **error)
{
    g_ptr_array_sort(ranks, by_rank);
    const KinetoRank *first = g_ptr_array_index(ranks, 0), *last = g_ptr_array_index(ranks, ranks->len - 1);
    int64_t world = first->file->world_size;
    for (guint i = 1; i < ranks->len; i++) {
        const KinetoRank *rank = g_ptr_array_index(ranks, i), *before = g_ptr_array_index(ranks, i - 1);
        if (rank->file->world_size != world)
            return error_input(error, "%s is of a job of %" PRId64 " ranks, %s of one of %" PRId64, first->file->path,
                               world, rank->file->path, rank->file->world_size);
        if (rank->rank == before->rank)
            return error_input(error, "%s and %s are both of rank %u", before->file->path, rank->file->path,
                               rank->rank);
    }
    if (world < 0)
        world = (int64_t)last->rank + 1;
    if (world == ranks->len)
        return TRUE;
    g_autofree char *missing = missing_text(ranks, world);
    return error_input(error,
                       "%s is of a job of %" PRId64
                       " ranks, but only %u of their files are given; missing: %s. Waiting "
                       "and transfer cannot be told apart without all of them",
                       first->file->path, world, ranks->len, missing);
}

/* Times of all files in that of the first, as they say themselves. */
static void
set_offsets(const GPtrArray *ranks)
{
    const KinetoFile *first = ((KinetoRank *)g_ptr_array_index(ranks, 0))->file;
    for (guint i = 0; i < ranks->len; i++) {
        KinetoRank *rank = g_ptr_array_index(ranks, i);
        rank->offset_ns = rank->file->base_ns - first->base_ns; /* both from 0: no overflow */
    }
}

/* When each rank starts. */
static gboolean
set_starts(const GPtrArray *ranks, Workload *workload, GError **error)
{
    int64_t origin = INT64_MAX, latest = INT64_MIN;
    for (guint i = 0; i < ranks->len; i++) {
        const KinetoRank *rank = g_ptr_array_index(ranks, i);
        origin = MIN(origin, rank->file->first_ns + rank->offset_ns);
        latest = MAX(latest, rank->file->last_ns + rank->offset_ns);
    }
    if ((uint64_t)latest - (uint64_t)origin > SIM_TIME_MAX / PS_PER_NS / 4)
        return error_input(error, "%s and the other ranks: recorded over %.3g s, more than fits; are they of one run?",
                           ((KinetoRank *)g_ptr_array_index(ranks, 0))->file->path,
                           ((double)latest - (double)origin) / 1e9);
    workload->start_ps = g_new(SimTime, ranks->len);
    for (guint i = 0; i < ranks->len; i++) {
        const KinetoRank *rank = g_ptr_array_index(ranks, i);
        workload->start_ps[i] = (rank->file->first_ns + rank->offset_ns - origin) * PS_PER_NS;
    }
    return TRUE;
}

static void
add_notes(const GPtrArray *ranks, Workload *workload)
{
    uint64_t n_devices = 0, n_unlaunched = 0, n_fixed = 0, n_dropped = 0, n_inferred = 0, n_unknown = 0, furthest = 0;
    uint32_t n_shifted = 0;
    for (guint r = 0; r < ranks->len; r++) {
        const KinetoRank *rank = g_ptr_array_index(ranks, r);
        n_devices += rank->devices->len;
        n_unlaunched += rank->n_unlaunched;
        n_fixed += rank->n_fixed;
        n_dropped += rank->n_dropped;
        n_inferred += rank->n_inferred;
        n_unknown += rank->n_unknown_syncs;
        n_shifted += rank->shift_ns != 0;
        furthest = MAX(furthest, (uint64_t)ABS(rank->shift_ns));
    }
    if (n_inferred > 0)
        workload_note(workload,
                      "%" PRIu64 " edges between streams and collectives are inferred from the order of calls",
                      n_inferred);
    if (n_unlaunched > 0)
        workload_note(workload,
                      "%" PRIu64 " of %" PRIu64
                      " kernels, copies and fills were launched before the recorded window: they "
                      "start at their recorded offset",
                      n_unlaunched, n_devices);
    if (n_fixed > 0)
        workload_note(workload,
                      "%" PRIu64 " NCCL kernels were launched before the recorded window and carry no sizes: they last "
                      "what was recorded, waiting included, and move nothing",
                      n_fixed);
    if (n_dropped > 0)
        workload_note(workload, "%" PRIu64 " edges that the recorded times contradict were left out", n_dropped);
    if (n_unknown > 0)
        workload_note(workload,
                      "%" PRIu64 " blocking calls wait for work that the record does not name: they keep their "
                      "recorded time",
                      n_unknown);
    if (n_shifted > 0)
        workload_note(workload,
                      "the clocks of %u ranks are up to %" PRIu64
                      " us from rank 0's: aligned by the ends of collectives",
                      n_shifted, furthest / 1000);
}

Workload *
kineto_workload(GPtrArray *ranks, const char *description, GPtrArray *problems, GError **error)
{
    g_autoptr(Workload) workload = workload_new(ranks->len);
    set_offsets(ranks);
    if (!join_ranks(ranks, problems, error) || !kineto_match(ranks, workload, problems, error) ||
        !set_starts(ranks, workload, error))
        return NULL;
    for (guint i = 0; i < ranks->len; i++) {
        KinetoRank *rank = g_ptr_array_index(ranks, i);
        kineto_graph(rank, workload, rank->file->first_ns);
    }
    workload->recorded_collectives = TRUE;
    workload->description = g_strdup(description);
    add_notes(ranks, workload);
    const KinetoFile *first = ((KinetoRank *)g_ptr_array_index(ranks, 0))->file;
    if (first->rank_is_taken)
        workload_note(workload, "%s names no rank and has no communication: it is taken as rank 0 of 1", first->path);
    if (workload_check(workload, error))
        return g_steal_pointer(&workload);
    if (problems != NULL)
        workload_check_all(workload, problems);
    return NULL;
}

static Workload *
read_surveyed(const TraceSource *source, GPtrArray *surveys, GError **error)
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)kineto_rank_free);
    guint before = source->problems != NULL ? source->problems->len : 0;
    if (!read_ranks(source, ranks, surveys, error))
        return NULL;
    if (source->problems != NULL && source->problems->len > before) { /* of single events */
        error_input(error, "%s", (const char *)g_ptr_array_index(source->problems, before));
        return NULL;
    }
    if (!check_ranks(ranks, error))
        return NULL;
    g_autofree char *description =
        g_strdup_printf("Kineto traces of %u ranks%s, %s", ranks->len,
                        source->execution_files != NULL ? " with their execution traces" : "", source->files[0]);
    return kineto_workload(ranks, description, source->problems, error);
}

static Workload *
read_workload(const TraceSource *source, GError **error)
{
    return read_surveyed(source, NULL, error);
}

const TraceFormat trace_kineto = {
    .name = "kineto",
    .help = "PyTorch profiler (Kineto) files, one a rank, with execution traces where kernels carry no sizes",
    .recognise = recognise,
    .read = read_workload,
    .survey = read_surveyed,
};
