/* kineto_survey.c - what a recorded file holds, counted */
#include "workload/execution_trace.h"
#include "workload/kineto.h"
#include "workload/kineto_file.h"

#include <string.h>

uint32_t
kineto_dtype_size(const char *dtype)
{
    static const struct {
        const char *name;
        uint32_t size;
    } sizes[] = {
        {"Byte", 1},  {"Char", 1},           {"Bool", 1},     {"UInt8", 1},  {"Short", 2},
        {"Half", 2},  {"UInt16", 2},         {"BFloat16", 2}, {"Int", 4},    {"UInt32", 4},
        {"Float", 4}, {"Long", 8},           {"UInt64", 8},   {"Double", 8}, {"ComplexHalf", 4},
        {"QInt8", 1}, {"ComplexDouble", 16}, {"QUInt8", 1},   {"QInt32", 4}, {"ComplexFloat", 8},
    };
    if (dtype == NULL)
        return 0;
    if (g_str_has_prefix(dtype, "Float8_"))
        return 1;
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        if (strcmp(sizes[i].name, dtype) == 0)
            return sizes[i].size;
    }
    return 0;
}

static void
count_clear(gpointer data)
{
    g_free(((KinetoCount *)data)->name);
}

GArray *
kineto_counts_new(void)
{
    GArray *counts = g_array_new(FALSE, FALSE, sizeof(KinetoCount));
    g_array_set_clear_func(counts, count_clear);
    return counts;
}

/* The row of this name, entered where it is new. */
KinetoCount *
kineto_count_of(GArray *counts, const char *name, size_t length)
{
    guint i = 0;
    for (; i < counts->len; i++) {
        KinetoCount *row = &g_array_index(counts, KinetoCount, i);
        int order = strncmp(row->name, name, length);
        if (order == 0 && row->name[length] == '\0')
            return row;
        if (order >= 0)
            break;
    }
    KinetoCount fresh = {.name = g_strndup(name, length)};
    g_array_insert_val(counts, i, fresh);
    return &g_array_index(counts, KinetoCount, i);
}

void
kineto_survey_free(KinetoSurvey *survey)
{
    if (survey == NULL)
        return;
    g_free(survey->source);
    g_array_unref(survey->nccl_names);
    g_array_unref(survey->collectives);
    g_array_unref(survey->copies);
    g_array_unref(survey->syncs);
    g_array_unref(survey->nccl_streams);
    g_ptr_array_unref(survey->steps);
    g_free(survey);
}

static GHashTable *
launch_ids(const KinetoFile *file)
{
    GHashTable *ids = g_hash_table_new(g_int64_hash, g_int64_equal);
    GArray *calls = file->events[KINETO_CALL];
    for (guint i = 0; i < calls->len; i++)
        g_hash_table_add(ids, &g_array_index(calls, KinetoEvent, i).correlation);
    return ids;
}

static uint64_t
bytes_of(int64_t nelems, const char *dtype)
{
    return nelems > 0 ? (uint64_t)nelems * kineto_dtype_size(dtype) : 0;
}

/* The sum, held at the end of the range: broken files have durations of any size. */
static int64_t
add_time(int64_t sum, const KinetoEvent *event)
{
    int64_t more = event->end_ns - event->start_ns;
    return __builtin_add_overflow(sum, more, &sum) ? INT64_MAX : sum;
}

static void
count_nccl(KinetoSurvey *survey, const KinetoFile *file, const KinetoEvent *kernel)
{
    const KinetoCollective *c = kernel->collective != INDEX_NONE
                                    ? &g_array_index(file->collectives, KinetoCollective, kernel->collective)
                                    : NULL;
    const char *name = c != NULL ? c->collective : "(none)";
    const char *lane = g_array_index(file->lanes, KinetoLane, kernel->lane).name;
    survey->n_nccl++;
    survey->nccl_ns = add_time(survey->nccl_ns, kernel);
    kineto_count_of(survey->nccl_names, kernel->name, strcspn(kernel->name, "(<"))->count++;
    kineto_count_of(survey->nccl_streams, lane, strlen(lane))->count++;
    KinetoCount *row = kineto_count_of(survey->collectives, name, strlen(name));
    row->count++;
    row->in_bytes += c != NULL ? bytes_of(c->in_nelems, c->dtype) : 0;
    row->out_bytes += c != NULL ? bytes_of(c->out_nelems, c->dtype) : 0;
}

static void
count_kernels(KinetoSurvey *survey, const KinetoFile *file)
{
    g_autoptr(GHashTable) launches = launch_ids(file);
    GArray *kernels = file->events[KINETO_KERNEL];
    survey->n_kernels = kernels->len;
    for (guint i = 0; i < kernels->len; i++) {
        const KinetoEvent *kernel = &g_array_index(kernels, KinetoEvent, i);
        survey->kernel_ns = add_time(survey->kernel_ns, kernel);
        if (g_hash_table_contains(launches, &kernel->correlation))
            survey->n_launched++;
        else
            survey->n_unlaunched++;
        if (kineto_is_nccl(kernel))
            count_nccl(survey, file, kernel);
    }
}

static void
count_copies(KinetoSurvey *survey, const GArray *events)
{
    for (guint i = 0; i < events->len; i++) {
        const KinetoEvent *event = &g_array_index(events, KinetoEvent, i);
        size_t length = strcspn(event->name, "(<");
        while (length > 0 && event->name[length - 1] == ' ')
            length--;
        KinetoCount *row = kineto_count_of(survey->copies, event->name, length);
        row->count++;
        row->in_bytes += event->bytes;
    }
}

static gint
by_id(gconstpointer a, gconstpointer b)
{
    guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
    return (x > y) - (x < y);
}

/* Drops repeats from a sorted list. */
static void
make_unique(GArray *ids)
{
    g_array_sort(ids, by_id);
    guint kept = 0;
    for (guint i = 0; i < ids->len; i++) {
        guint64 id = g_array_index(ids, guint64, i);
        if (kept == 0 || g_array_index(ids, guint64, kept - 1) != id)
            g_array_index(ids, guint64, kept++) = id;
    }
    g_array_set_size(ids, kept);
}

static void
count_flows(KinetoSurvey *survey, KinetoFile *file)
{
    GArray *starts = file->flow_ids[0], *ends = file->flow_ids[1];
    make_unique(starts);
    make_unique(ends);
    guint s = 0, f = 0;
    while (s < starts->len && f < ends->len) {
        guint64 a = g_array_index(starts, guint64, s), b = g_array_index(ends, guint64, f);
        survey->n_flows_whole += a == b;
        s += a <= b;
        f += b <= a;
    }
    survey->n_flows = starts->len + ends->len - survey->n_flows_whole;
}

KinetoSurvey *
kineto_survey_of(KinetoFile *file)
{
    KinetoSurvey *survey = g_new0(KinetoSurvey, 1);
    survey->source = g_strdup(file->path);
    survey->rank = file->rank;
    survey->world_size = file->world_size;
    survey->n_events = file->n_events;
    survey->n_complete = file->n_complete;
    survey->n_comms = file->events[KINETO_COMM]->len;
    survey->base_ns = file->base_ns;
    survey->first_ns = file->first_ns;
    survey->last_ns = file->last_ns;
    survey->nccl_names = kineto_counts_new();
    survey->collectives = kineto_counts_new();
    survey->copies = kineto_counts_new();
    survey->syncs = kineto_counts_new();
    survey->nccl_streams = kineto_counts_new();
    survey->steps = g_ptr_array_ref(file->steps);
    count_kernels(survey, file);
    count_copies(survey, file->events[KINETO_MEMCPY]);
    count_copies(survey, file->events[KINETO_MEMSET]);
    count_flows(survey, file);
    GArray *syncs = file->events[KINETO_SYNC];
    for (guint i = 0; i < syncs->len; i++) {
        const char *name = g_array_index(syncs, KinetoEvent, i).name;
        kineto_count_of(survey->syncs, name, strlen(name))->count++;
    }
    return survey;
}

KinetoSurvey *
kineto_survey(const char *path, GError **error)
{
    g_autoptr(KinetoFile) file = kineto_file_read(path, TRUE, NULL, error);
    return file != NULL ? kineto_survey_of(file) : NULL;
}

GArray *
execution_trace_survey(const char *path, uint64_t *n_nodes, char **schema, GError **error)
{
    g_autoptr(ExecutionTrace) trace = execution_trace_read(path, NULL, error);
    if (trace == NULL)
        return NULL;
    GArray *counts = kineto_counts_new();
    for (guint i = 0; i < trace->comms->len; i++) {
        const ExecutionComm *comm = &g_array_index(trace->comms, ExecutionComm, i);
        KinetoCount *row = kineto_count_of(counts, comm->name, strlen(comm->name));
        row->count++;
        row->in_bytes += comm->in_bytes;
        row->out_bytes += comm->out_bytes;
    }
    if (n_nodes != NULL)
        *n_nodes = trace->n_nodes;
    if (schema != NULL)
        *schema = g_strdup(trace->schema);
    return counts;
}
