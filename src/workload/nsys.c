/* nsys.c - the Nsight Systems format: SQLite exports, one a machine or one for all, become one workload
 *
 * An export tells which calls of NCCL a kernel was launched in, by NVTX ranges, but not how many bytes they move nor
 * which ranks take part: sizes come from a file beside it (message_sizes.h), and every call is of all ranks. Ranks are
 * numbered by file, device and process, in this order. */
#include "workload/kineto_rank.h"
#include "workload/message_sizes.h"
#include "workload/nsys_export.h"
#include "workload/trace_format.h"

#include <inttypes.h>
#include <string.h>

typedef struct {
    const TraceSource *source;
    GPtrArray *exports;  /* of NsysExport *; they own the files until ranks do */
    GPtrArray *files;    /* of KinetoFile *, a rank; borrowed */
    GPtrArray *kernels;  /* of GArray * of uint32_t, a rank: its NCCL kernels by start */
    MessageSizes *sizes; /* NULL = none */
    GArray *unsized;     /* of KinetoCount: calls without a size */
    uint32_t n_told;     /* kernels whose call another rank tells */
} Job;

static int
recognise(const char *head, size_t length)
{
    static const char magic[] = "SQLite format 3"; /* and a zero byte */
    if (length < sizeof magic || memcmp(head, magic, sizeof magic) != 0)
        return 0;
    for (size_t i = 0; i + 20 <= length; i++) {
        if (memcmp(head + i, "CUPTI_ACTIVITY_KIND_", 20) == 0 || memcmp(head + i, "CREATE TABLE StringId", 20) == 0)
            return 95;
    }
    return 30;
}

static gboolean
read_exports(Job *job, GError **error)
{
    for (uint32_t i = 0; i < job->source->n_files; i++) {
        NsysExport *nsys = nsys_export_read(job->source->files[i], job->source->problems, error);
        if (nsys == NULL)
            return FALSE;
        g_ptr_array_add(job->exports, nsys);
        for (guint k = 0; k < nsys->files->len; k++)
            g_ptr_array_add(job->files, g_ptr_array_index(nsys->files, k));
    }
    for (guint r = 0; r < job->files->len; r++) {
        KinetoFile *file = g_ptr_array_index(job->files, r);
        file->rank = r;
        file->world_size = job->files->len;
    }
    return TRUE;
}

static KinetoEvent *
kernel_of(const Job *job, guint rank, uint32_t k)
{
    KinetoFile *file = g_ptr_array_index(job->files, rank);
    const GArray *kernels = g_ptr_array_index(job->kernels, rank);
    return &g_array_index(file->events[KINETO_KERNEL], KinetoEvent, g_array_index(kernels, uint32_t, k));
}

/* What a kernel does, once its call is known; NULL before. */
static KinetoCollective *
collective_of(const Job *job, guint rank, uint32_t k)
{
    KinetoFile *file = g_ptr_array_index(job->files, rank);
    uint32_t index = kernel_of(job, rank, k)->collective;
    return index != INDEX_NONE ? &g_array_index(file->collectives, KinetoCollective, index) : NULL;
}

/* Each rank's NCCL kernels; those whose launch lies in a call get a copy of what the call is. */
static void
find_calls(Job *job)
{
    for (guint r = 0; r < job->files->len; r++) {
        KinetoFile *file = g_ptr_array_index(job->files, r);
        GArray *mine = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_ptr_array_add(job->kernels, mine);
        g_autoptr(GHashTable) calls = kineto_calls(file);
        for (uint32_t i = 0; i < file->events[KINETO_KERNEL]->len; i++) {
            KinetoEvent *kernel = &g_array_index(file->events[KINETO_KERNEL], KinetoEvent, i);
            if (!kineto_is_nccl(kernel))
                continue;
            g_array_append_val(mine, i);
            const KinetoEvent *call = g_hash_table_lookup(calls, &kernel->correlation);
            uint32_t record = call != NULL ? kineto_find_record(file, call->lane, call->start_ns) : INDEX_NONE;
            if (record == INDEX_NONE)
                continue;
            KinetoCollective what =
                g_array_index(file->collectives, KinetoCollective, kineto_event(file, KINETO_COMM, record)->collective);
            if (what.collective == NULL)
                continue;
            kernel->collective = file->collectives->len;
            g_array_append_val(file->collectives, what);
        }
    }
}

/* Have all ranks the same NCCL kernels, one by one? Then the k-th of each are one collective. */
static gboolean
are_alike(const Job *job)
{
    const GArray *first = g_ptr_array_index(job->kernels, 0);
    for (guint r = 1; r < job->files->len; r++) {
        const GArray *other = g_ptr_array_index(job->kernels, r);
        if (other->len != first->len)
            return FALSE;
        for (uint32_t k = 0; k < first->len; k++) {
            if (strcmp(kernel_of(job, 0, k)->name, kernel_of(job, r, k)->name) != 0)
                return FALSE;
        }
    }
    return TRUE;
}

/* A kernel launched before the window has no call, but its counterparts on other ranks may. Messages have none. */
static void
ask_other_ranks(Job *job)
{
    const GArray *first = g_ptr_array_index(job->kernels, 0);
    if (!are_alike(job))
        return;
    for (uint32_t k = 0; k < first->len; k++) {
        const char *name = NULL;
        for (guint r = 0; r < job->files->len && name == NULL; r++) {
            const KinetoCollective *what = collective_of(job, r, k);
            if (what != NULL && strcmp(what->collective, "send") != 0 && strcmp(what->collective, "recv") != 0)
                name = what->collective;
        }
        for (guint r = 0; name != NULL && r < job->files->len; r++) {
            KinetoFile *file = g_ptr_array_index(job->files, r);
            if (collective_of(job, r, k) != NULL)
                continue;
            KinetoCollective what = {.collective = g_string_chunk_insert_const(file->texts, name),
                                     .dtype = "Byte",
                                     .rank_start = -1,
                                     .rank_stride = -1,
                                     .root = -1,
                                     .src = -1,
                                     .dst = -1};
            kernel_of(job, r, k)->collective = file->collectives->len;
            g_array_append_val(file->collectives, what);
            job->n_told++;
        }
    }
}

/* Bytes of every call, numbered by name on each rank. */
static void
set_sizes(Job *job)
{
    for (guint r = 0; r < job->files->len; r++) {
        g_autoptr(GArray) numbers = kineto_counts_new();
        const GArray *kernels = g_ptr_array_index(job->kernels, r);
        for (uint32_t k = 0; k < kernels->len; k++) {
            KinetoCollective *what = collective_of(job, r, k);
            if (what == NULL)
                continue;
            const char *name = what->collective;
            uint32_t number = ++kineto_count_of(numbers, name, strlen(name))->count;
            uint64_t bytes = 0;
            gboolean known = strcmp(name, "barrier") == 0 ||
                             (job->sizes != NULL && message_sizes_find(job->sizes, name, number, &bytes));
            if (!known)
                kineto_count_of(job->unsized, name, strlen(name))->count++;
            what->in_nelems = what->out_nelems = known ? (int64_t)bytes : -1;
            what->group_size = job->files->len;
        }
    }
}

static void
add_surveys(const Job *job, GPtrArray *surveys)
{
    for (guint r = 0; r < job->files->len; r++)
        g_ptr_array_add(surveys, kineto_survey_of(g_ptr_array_index(job->files, r)));
}

/* Which calls have no size: all of them in one message. */
static gboolean
check_sizes(const Job *job, GError **error)
{
    if (job->unsized->len == 0)
        return TRUE;
    g_autoptr(GString) calls = g_string_new(NULL);
    for (guint i = 0; i < job->unsized->len; i++) {
        const KinetoCount *row = &g_array_index(job->unsized, KinetoCount, i);
        g_string_append_printf(calls, "%s%s (%u on all ranks)", i > 0 ? ", " : "", row->name, row->count);
    }
    gboolean payloads = FALSE;
    for (guint i = 0; i < job->exports->len; i++)
        payloads = payloads || ((NsysExport *)g_ptr_array_index(job->exports, i))->payloads;
    if (job->source->sizes_file != NULL)
        return error_input(error, "%s: has no bytes of %s", job->source->sizes_file, calls->str);
    return error_input(
        error,
        "%s: %s, so the bytes of %s are not known: give a file of them, lines of call,bytes (--sizes, "
        "sizes:)",
        job->source->files[0],
        payloads ? "payloads of NVTX ranges are not read" : "the export holds no payloads of NVTX ranges", calls->str);
}

/* NCCL kernels that were launched in the window, but in no range that says what they do. */
static gboolean
check_calls(const Job *job, GError **error)
{
    for (guint r = 0; r < job->files->len; r++) {
        const KinetoFile *file = g_ptr_array_index(job->files, r);
        const GArray *kernels = g_ptr_array_index(job->kernels, r);
        g_autoptr(GHashTable) calls = kineto_calls(file);
        for (uint32_t k = 0; k < kernels->len; k++) {
            const KinetoEvent *kernel = kernel_of(job, r, k);
            if (kernel->collective != INDEX_NONE || !g_hash_table_contains(calls, &kernel->correlation))
                continue;
            return error_input(error,
                               "%s: %s %" PRIu64 ": NCCL kernel \"%s\" at %" PRId64
                               " ns: no NVTX range tells what it does; record with --trace=cuda,nvtx",
                               file->path, file->place_unit, kernel->place, kernel->name, kernel->start_ns);
        }
    }
    return TRUE;
}

static gboolean
tell(const Job *job, gboolean good, GError **problem, GError **error)
{
    if (good)
        return TRUE;
    if (job->source->problems != NULL)
        g_ptr_array_add(job->source->problems, g_strdup((*problem)->message));
    if (error != NULL && *error == NULL)
        g_propagate_error(error, g_steal_pointer(problem));
    g_clear_error(problem);
    return FALSE;
}

/* The files go over to ranks. */
static GPtrArray *
ranks_of(const Job *job, GError **error)
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)kineto_rank_free);
    for (guint r = 0; r < job->files->len; r++) {
        if (!kineto_check_file(g_ptr_array_index(job->files, r), error))
            return NULL;
    }
    for (guint i = 0; i < job->exports->len; i++) {
        NsysExport *nsys = g_ptr_array_index(job->exports, i);
        while (nsys->files->len > 0)
            g_ptr_array_add(ranks, kineto_rank_new(g_ptr_array_steal_index(nsys->files, 0), NULL));
    }
    return g_steal_pointer(&ranks);
}

static void
add_notes(const Job *job, Workload *workload, gboolean any)
{
    if (any)
        workload_note(workload, "communicators are not recorded: every call of NCCL is taken as of all %u ranks",
                      workload->n_ranks);
    if (job->n_told > 0)
        workload_note(workload,
                      "%u NCCL kernels were launched before the recorded window: the other ranks tell what they do",
                      job->n_told);
    guint unused = job->sizes != NULL ? message_sizes_unused(job->sizes) : 0;
    if (unused > 0)
        workload_note(workload, "%u lines of %s name calls that the trace has not", unused, job->source->sizes_file);
}

static Workload *
make_workload(Job *job, GPtrArray *surveys, GError **error)
{
    if (job->source->sizes_file != NULL && (job->sizes = message_sizes_read(job->source->sizes_file, error)) == NULL)
        return NULL;
    guint before = job->source->problems != NULL ? job->source->problems->len : 0;
    if (!read_exports(job, error))
        return NULL;
    find_calls(job);
    ask_other_ranks(job);
    set_sizes(job);
    if (surveys != NULL)
        add_surveys(job, surveys);
    GError *problem = NULL;
    gboolean good = tell(job, check_sizes(job, &problem), &problem, error);
    if ((good || job->source->problems != NULL) && !tell(job, check_calls(job, &problem), &problem, error))
        good = FALSE;
    if (job->source->problems != NULL && job->source->problems->len > before) {
        if (error != NULL && *error == NULL)
            error_input(error, "%s", (const char *)g_ptr_array_index(job->source->problems, before));
        return NULL;
    }
    g_autoptr(GPtrArray) ranks = good ? ranks_of(job, error) : NULL;
    if (ranks == NULL)
        return NULL;
    gboolean any = FALSE;
    for (guint r = 0; r < job->kernels->len; r++)
        any = any || ((GArray *)g_ptr_array_index(job->kernels, r))->len > 0;
    g_autofree char *description =
        g_strdup_printf("Nsight Systems export of %u ranks, %s", ranks->len, job->source->files[0]);
    g_autoptr(Workload) workload = kineto_workload(ranks, description, job->source->problems, error);
    if (workload != NULL)
        add_notes(job, workload, any);
    return g_steal_pointer(&workload);
}

static Workload *
read_surveyed(const TraceSource *source, GPtrArray *surveys, GError **error)
{
    g_autoptr(GPtrArray) exports = g_ptr_array_new_with_free_func((GDestroyNotify)nsys_export_free);
    g_autoptr(GPtrArray) files = g_ptr_array_new(),
                         kernels = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g_autoptr(GArray) unsized = kineto_counts_new();
    Job job = {.source = source, .exports = exports, .files = files, .kernels = kernels, .unsized = unsized};
    Workload *workload = make_workload(&job, surveys, error);
    message_sizes_free(job.sizes);
    return workload;
}

static Workload *
read_workload(const TraceSource *source, GError **error)
{
    return read_surveyed(source, NULL, error);
}

const TraceFormat trace_nsys = {
    .name = "nsys",
    .help = "Nsight Systems SQLite exports, one a machine; sizes of messages from a file beside them (--sizes)",
    .recognise = recognise,
    .read = read_workload,
    .survey = read_surveyed,
};
