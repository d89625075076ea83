#include "workload/nsys_export.h"

#include "workload/nsys_calls.h"
#include "workload/nsys_tables.h"

#include <inttypes.h>
#include <string.h>

enum { PROBLEMS = 1000, PID_SHIFT = 24, TID_MASK = 0xffffff };

/* A rank while it is read. */
typedef struct {
    int64_t process; /* globalPid >> 24 */
    int64_t device;
    KinetoFile *file;
} Place;

typedef struct {
    NsysExport *nsys;
    NsysTables *tables;
    GPtrArray *problems;
    const char *table; /* that is read */
    GArray *places;    /* of Place */
    guint last;        /* the place found last */
    NsysCalls *calls;
    GHashTable *records; /* "process event" or "process sync id" -> Recorded */
} Reader;

/* cudaEventRecord, as CUPTI_ACTIVITY_KIND_CUDA_EVENT tells it. */
typedef struct {
    int64_t device, stream, correlation;
} Recorded;

void
nsys_export_free(NsysExport *nsys)
{
    if (nsys == NULL)
        return;
    g_free(nsys->path);
    g_ptr_array_unref(nsys->files);
    g_array_unref(nsys->calls);
    g_array_unref(nsys->ranges);
    g_free(nsys);
}

/* A row that is left out: the first one stops the reading unless problems are gathered. */
static gboolean G_GNUC_PRINTF(4, 5) skip(const Reader *reader, int64_t row, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *what = g_strdup_vprintf(format, args);
    va_end(args);
    if (reader->problems == NULL)
        return error_input(error, "%s: %s, row %" PRId64 ": %s", reader->nsys->path, reader->table, row, what);
    if (reader->problems->len < PROBLEMS)
        g_ptr_array_add(reader->problems,
                        g_strdup_printf("%s: %s, row %" PRId64 ": %s", reader->nsys->path, reader->table, row, what));
    return TRUE;
}

static gint
by_place(gconstpointer a, gconstpointer b)
{
    const Place *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->process < y->process ? -1 : x->process > y->process;
}

/* The rank of a device of a process; entered where it is new. */
static Place *
place_of(Reader *reader, int64_t process, int64_t device)
{
    for (guint tried = 0; tried < reader->places->len; tried++) {
        guint i = (reader->last + tried) % reader->places->len;
        Place *place = &g_array_index(reader->places, Place, i);
        if (place->process == process && place->device == device) {
            reader->last = i;
            return place;
        }
    }
    g_autofree char *name =
        g_strdup_printf("%s, process %" PRId64 ", device %" PRId64, reader->nsys->path, process & TID_MASK, device);
    Place fresh = {.process = process, .device = device, .file = kineto_file_new(name)};
    fresh.file->place_unit = "CUPTI_ACTIVITY_KIND_KERNEL, row";
    g_array_append_val(reader->places, fresh);
    reader->last = reader->places->len - 1;
    return &g_array_index(reader->places, Place, reader->last);
}

static gboolean
take_span(const Reader *reader, int64_t row, const NsysValue *start, const NsysValue *end, gboolean *good,
          GError **error)
{
    *good = FALSE;
    if (start->null || end->null)
        return skip(reader, row, error, "%s is no whole number of nanoseconds", start->null ? "start" : "end");
    if (start->number < 0 || end->number < start->number)
        return skip(reader, row, error, "from %" PRId64 " to %" PRId64 " ns: expected 0 <= start <= end", start->number,
                    end->number);
    *good = TRUE;
    return TRUE;
}

static void
widen(KinetoFile *file, uint32_t lane, int64_t start_ns, int64_t end_ns)
{
    KinetoLane *place = &g_array_index(file->lanes, KinetoLane, lane);
    place->last_ns = MAX(place->last_ns, end_ns);
    file->first_ns = MIN(file->first_ns, start_ns);
    file->last_ns = MAX(file->last_ns, end_ns);
    file->n_events++;
    file->n_complete++;
}

static uint32_t
stream_lane(KinetoFile *file, int64_t device, int64_t stream)
{
    g_autofree char *name = g_strdup_printf("%" PRId64 "/%" PRId64, device, stream);
    return kineto_file_lane(file, name);
}

/* Of a host thread; apart from the streams. */
static uint32_t
thread_lane(KinetoFile *file, int64_t thread)
{
    g_autofree char *name =
        g_strdup_printf("process %" PRId64 "/%" PRId64, (thread >> PID_SHIFT) & TID_MASK, thread & TID_MASK);
    return kineto_file_lane(file, name);
}

enum { D_START, D_END, D_DEVICE, D_STREAM, D_CORRELATION, D_PROCESS, D_NAME, D_BYTES = D_NAME, D_KIND, D_SRC, D_DST };

#define DEVICE_COLUMNS                                                                                                 \
    {.name = "start", .required = TRUE}, {.name = "end", .required = TRUE}, {.name = "deviceId", .required = TRUE},    \
        {.name = "streamId", .required = TRUE}, {.name = "correlationId"},                                             \
    {                                                                                                                  \
        .name = "globalPid"                                                                                            \
    }

/* Enters device work; name is copied. */
static gboolean
take_device(Reader *reader, int64_t row, const NsysValue *values, KinetoKind kind, const char *name, uint64_t bytes,
            GError **error)
{
    gboolean good;
    if (!take_span(reader, row, &values[D_START], &values[D_END], &good, error))
        return FALSE;
    if (!good)
        return TRUE;
    if (values[D_DEVICE].null || values[D_STREAM].null)
        return skip(reader, row, error, "%s is no whole number", values[D_DEVICE].null ? "deviceId" : "streamId");
    KinetoFile *file = place_of(reader, values[D_PROCESS].number >> PID_SHIFT, values[D_DEVICE].number)->file;
    uint32_t lane = stream_lane(file, values[D_DEVICE].number, values[D_STREAM].number);
    KinetoEvent event = {
        .start_ns = values[D_START].number,
        .end_ns = values[D_END].number,
        .correlation = (uint64_t)values[D_CORRELATION].number,
        .name = g_string_chunk_insert_const(file->texts, name),
        .place = (uint64_t)row,
        .bytes = bytes,
        .kind = kind,
        .lane = lane,
        .collective = INDEX_NONE,
        .wait_lane = INDEX_NONE,
    };
    g_array_append_val(file->events[kind], event);
    widen(file, lane, event.start_ns, event.end_ns);
    return TRUE;
}

static gboolean
take_kernel(void *owner, int64_t row, const NsysValue *values, GError **error)
{
    if (values[D_NAME].null)
        return skip(owner, row, error, "shortName is no id of StringIds");
    return take_device(owner, row, values, KINETO_KERNEL, values[D_NAME].text, 0, error);
}

/* "Memcpy DtoH (Device -> Pageable)", as Kineto says it. */
static char *
copy_name(int64_t kind, const NsysValue *src, const NsysValue *dst)
{
    static const char *const kinds[] = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD",
                                        "DtoA",    "DtoD", "HtoH", "PtoP", "HtoD", "DtoH", "DtoD"};
    static const char *const memories[] = {"Pageable", "Pinned", "Device", "Array", "Managed", "Device", "Managed"};
    const char *name = kind >= 0 && kind < (int64_t)G_N_ELEMENTS(kinds) ? kinds[kind] : kinds[0];
    gboolean told = !src->null && !dst->null && src->number >= 0 && dst->number >= 0 &&
                    src->number < (int64_t)G_N_ELEMENTS(memories) && dst->number < (int64_t)G_N_ELEMENTS(memories);
    return told ? g_strdup_printf("Memcpy %s (%s -> %s)", name, memories[src->number], memories[dst->number])
                : g_strdup_printf("Memcpy %s", name);
}

static gboolean
take_copy(void *owner, int64_t row, const NsysValue *values, GError **error)
{
    Reader *reader = owner;
    if (values[D_BYTES].null || values[D_BYTES].number < 0)
        return skip(reader, row, error, "bytes is no whole number from 0");
    g_autofree char *name = copy_name(values[D_KIND].number, &values[D_SRC], &values[D_DST]);
    return take_device(reader, row, values, KINETO_MEMCPY, name, (uint64_t)values[D_BYTES].number, error);
}

static gboolean
take_fill(void *owner, int64_t row, const NsysValue *values, GError **error)
{
    uint64_t bytes = values[D_BYTES].number > 0 ? (uint64_t)values[D_BYTES].number : 0;
    return take_device(owner, row, values, KINETO_MEMSET, "Memset", bytes, error);
}

/* "cudaLaunchKernel" of "cudaLaunchKernel_v7000": a version of four digits or more. */
static char *
bare_call(const char *name)
{
    const char *version = strrchr(name, '_');
    gboolean cut = version != NULL && version[1] == 'v' && strlen(version) >= 6 &&
                   version[2 + strspn(version + 2, "0123456789")] == '\0';
    return g_strndup(name, cut ? (size_t)(version - name) : strlen(name));
}

enum { R_START, R_END, R_THREAD, R_CORRELATION, R_NAME };

/* A call belongs to every rank of its process. */
static gboolean
take_call(void *owner, int64_t row, const NsysValue *values, GError **error)
{
    Reader *reader = owner;
    gboolean good;
    if (!take_span(reader, row, &values[R_START], &values[R_END], &good, error))
        return FALSE;
    if (!good)
        return TRUE;
    if (values[R_NAME].null)
        return skip(reader, row, error, "nameId is no id of StringIds");
    g_autofree char *name = bare_call(values[R_NAME].text);
    for (guint i = 0; i < reader->places->len; i++) {
        const Place *place = &g_array_index(reader->places, Place, i);
        if (place->process != values[R_THREAD].number >> PID_SHIFT)
            continue;
        KinetoEvent event = {
            .start_ns = values[R_START].number,
            .end_ns = values[R_END].number,
            .correlation = (uint64_t)values[R_CORRELATION].number,
            .name = g_string_chunk_insert_const(place->file->texts, name),
            .kind = KINETO_CALL,
            .lane = thread_lane(place->file, values[R_THREAD].number),
            .collective = INDEX_NONE,
            .wait_lane = INDEX_NONE,
        };
        g_array_append_val(place->file->events[KINETO_CALL], event);
        widen(place->file, event.lane, event.start_ns, event.end_ns);
    }
    return TRUE;
}

static char *
record_key(int64_t process, int64_t event, int64_t sync)
{
    return sync != 0 ? g_strdup_printf("%" PRId64 " sync %" PRId64, process, sync)
                     : g_strdup_printf("%" PRId64 " event %" PRId64, process, event);
}

enum { E_DEVICE, E_STREAM, E_CORRELATION, E_PROCESS, E_EVENT, E_SYNC };

static gboolean
take_record(void *owner, int64_t row, const NsysValue *values, GError **error)
{
    Reader *reader = owner;
    Recorded recorded = {.device = values[E_DEVICE].number,
                         .stream = values[E_STREAM].number,
                         .correlation = values[E_CORRELATION].number};
    g_hash_table_insert(
        reader->records,
        record_key(values[E_PROCESS].number >> PID_SHIFT, values[E_EVENT].number, values[E_SYNC].number),
        g_memdup2(&recorded, sizeof recorded));
    return TRUE;
}

enum { S_SYNC = D_NAME, S_EVENT, S_EVENT_SYNC };

static gboolean
take_sync(void *owner, int64_t row, const NsysValue *values, GError **error)
{
    static const char *const kinds[] = {"Unknown", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"};
    Reader *reader = owner;
    gboolean good;
    if (!take_span(reader, row, &values[D_START], &values[D_END], &good, error))
        return FALSE;
    int64_t process = values[D_PROCESS].number >> PID_SHIFT, kind = values[S_SYNC].number;
    if (!good || kind <= 0 || kind >= (int64_t)G_N_ELEMENTS(kinds))
        return TRUE;
    g_autofree char *key = record_key(process, values[S_EVENT].number, values[S_EVENT_SYNC].number);
    const Recorded *recorded = g_hash_table_lookup(reader->records, key);
    for (guint i = 0; i < reader->places->len; i++) {
        const Place *place = &g_array_index(reader->places, Place, i);
        if (place->process != process)
            continue;
        gboolean stream = values[D_STREAM].number >= 0 && values[D_STREAM].number < UINT32_MAX;
        KinetoEvent event = {
            .start_ns = values[D_START].number,
            .end_ns = values[D_END].number,
            .correlation = (uint64_t)values[D_CORRELATION].number,
            .name = kinds[kind],
            .kind = KINETO_SYNC,
            .lane = stream ? stream_lane(place->file, place->device, values[D_STREAM].number) : INDEX_NONE,
            .collective = INDEX_NONE,
            .wait_lane = recorded != NULL ? stream_lane(place->file, place->device, recorded->stream) : INDEX_NONE,
            .wait_correlation = recorded != NULL ? (uint64_t)recorded->correlation : 0,
        };
        g_array_append_val(place->file->events[KINETO_SYNC], event);
        place->file->n_events++;
        place->file->n_complete++;
    }
    return TRUE;
}

/* Enters a communication of a thread for every rank of its process. */
static void
add_comm(Reader *reader, int64_t thread, const NsysCall *call)
{
    for (guint i = 0; i < reader->places->len; i++) {
        const Place *place = &g_array_index(reader->places, Place, i);
        if (place->process != thread >> PID_SHIFT)
            continue;
        KinetoFile *file = place->file;
        KinetoCollective collective = {
            .collective = call->name != NULL ? g_string_chunk_insert_const(file->texts, call->name) : NULL,
            .dtype = "Byte",
            .in_nelems = -1,
            .out_nelems = -1,
            .group_size = -1,
            .rank_start = -1,
            .rank_stride = -1,
            .root = -1,
            .src = call->src,
            .dst = call->dst,
        };
        KinetoEvent event = {.start_ns = call->start_ns,
                             .end_ns = call->end_ns,
                             .name = "record_param_comms",
                             .kind = KINETO_COMM,
                             .lane = thread_lane(file, thread),
                             .collective = file->collectives->len,
                             .wait_lane = INDEX_NONE};
        g_array_append_val(file->collectives, collective);
        g_array_append_val(file->events[KINETO_COMM], event);
    }
}

enum { N_START, N_END, N_THREAD, N_TEXT, N_PAYLOAD };

static gboolean
take_range(void *owner, int64_t row, const NsysValue *values, GError **error)
{
    Reader *reader = owner;
    gboolean good;
    if (values[N_END].null || values[N_TEXT].null) /* a mark, a name of something */
        return TRUE;
    if (!take_span(reader, row, &values[N_START], &values[N_END], &good, error))
        return FALSE;
    if (!good)
        return TRUE;
    int64_t id = values[N_THREAD].number, start = values[N_START].number, end = values[N_END].number;
    const char *text = values[N_TEXT].text;
    for (guint i = 0; i < reader->places->len; i++) {
        const Place *place = &g_array_index(reader->places, Place, i);
        if (place->process != id >> PID_SHIFT)
            continue;
        uint32_t lane = thread_lane(place->file, id);
        widen(place->file, lane, start, end);
        KinetoLane *thread = &g_array_index(place->file->lanes, KinetoLane, lane);
        thread->n_operators++;
        thread->n_backward += g_str_has_prefix(text, "autograd::engine::evaluate_function");
    }
    NsysCall call;
    if (g_str_has_prefix(text, "nccl") && g_ascii_isupper(text[4]))
        reader->nsys->payloads = reader->nsys->payloads || !values[N_PAYLOAD].null;
    if (nsys_calls_take(reader->calls, id, start, end, text, &call))
        add_comm(reader, id, &call);
    return TRUE;
}

static gboolean
take_start(void *owner, int64_t row, const NsysValue *values, GError **error)
{
    Reader *reader = owner;
    if (values[0].null || values[0].number < 0)
        return skip(reader, row, error, "utcEpochNs is no whole number from 0");
    for (guint i = 0; i < reader->places->len; i++)
        g_array_index(reader->places, Place, i).file->base_ns = values[0].number;
    return TRUE;
}

static gboolean
read_table(Reader *reader, const char *table, const NsysColumn *columns, size_t n, const char *order, NsysRow take,
           GError **error)
{
    reader->table = table;
    return nsys_tables_read(reader->tables, table, columns, n, order, take, reader, error);
}

static gboolean
read_devices(Reader *reader, GError **error)
{
    static const NsysColumn kernel[] = {DEVICE_COLUMNS,
                                        {.name = "shortName.text", .text = TRUE, .required = TRUE, .via = "shortName"}};
    static const NsysColumn copy[] = {DEVICE_COLUMNS,
                                      {.name = "bytes", .required = TRUE},
                                      {.name = "copyKind", .required = TRUE},
                                      {.name = "srcKind"},
                                      {.name = "dstKind"}};
    static const NsysColumn fill[] = {DEVICE_COLUMNS, {.name = "bytes"}};
    if (!read_table(reader, "CUPTI_ACTIVITY_KIND_KERNEL", kernel, G_N_ELEMENTS(kernel), "t.start", take_kernel,
                    error) ||
        !read_table(reader, "CUPTI_ACTIVITY_KIND_MEMCPY", copy, G_N_ELEMENTS(copy), "t.start", take_copy, error) ||
        !read_table(reader, "CUPTI_ACTIVITY_KIND_MEMSET", fill, G_N_ELEMENTS(fill), "t.start", take_fill, error))
        return FALSE;
    if (reader->places->len == 0)
        return error_input(error,
                           "%s: no kernels, copies or fills: no device work was recorded (nsys profile "
                           "--trace=cuda,nvtx), nothing can be replayed",
                           reader->nsys->path);
    g_array_sort(reader->places, by_place);
    return TRUE;
}

/* Without the table of recorded events a wait does not say what for: then it is inferred, as in Kineto files without
 * cuda_sync events. */
static gboolean
read_syncs(Reader *reader, GError **error)
{
    static const NsysColumn record[] = {{.name = "deviceId"},  {.name = "streamId"}, {.name = "correlationId"},
                                        {.name = "globalPid"}, {.name = "eventId"},  {.name = "eventSyncId"}};
    static const NsysColumn sync[] = {
        DEVICE_COLUMNS, {.name = "syncType"}, {.name = "eventId"}, {.name = "eventSyncId"}};
    if (!read_table(reader, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", record, G_N_ELEMENTS(record), "t.correlationId",
                    take_record, error))
        return FALSE;
    return g_hash_table_size(reader->records) == 0 || read_table(reader, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", sync,
                                                                 G_N_ELEMENTS(sync), "t.start", take_sync, error);
}

static gboolean
read_hosts(Reader *reader, GError **error)
{
    static const NsysColumn call[] = {{.name = "start", .required = TRUE},
                                      {.name = "end", .required = TRUE},
                                      {.name = "globalTid"},
                                      {.name = "correlationId"},
                                      {.name = "name", .text = TRUE, .required = TRUE, .via = "nameId"}};
    static const NsysColumn range[] = {{.name = "start", .required = TRUE},
                                       {.name = "end", .required = TRUE},
                                       {.name = "globalTid"},
                                       {.name = "text", .text = TRUE, .required = TRUE, .via = "textId"},
                                       {.name = "binaryData", .text = TRUE}};
    static const NsysColumn session[] = {{.name = "utcEpochNs", .required = TRUE}};
    gboolean good =
        read_table(reader, "CUPTI_ACTIVITY_KIND_RUNTIME", call, G_N_ELEMENTS(call), "t.start", take_call, error) &&
        read_syncs(reader, error) &&
        read_table(reader, "NVTX_EVENTS", range, G_N_ELEMENTS(range), "t.globalTid, t.start, t.\"end\" DESC",
                   take_range, error) &&
        read_table(reader, "TARGET_INFO_SESSION_START_TIME", session, G_N_ELEMENTS(session), "t.utcEpochNs", take_start,
                   error);
    return good;
}

NsysExport *
nsys_export_read(const char *path, GPtrArray *problems, GError **error)
{
    g_autoptr(NsysTables) tables = nsys_tables_open(path, error);
    if (tables == NULL)
        return NULL;
    g_autoptr(NsysExport) nsys = g_new0(NsysExport, 1);
    nsys->path = g_strdup(path);
    nsys->files = g_ptr_array_new_with_free_func((GDestroyNotify)kineto_file_free);
    nsys->calls = kineto_counts_new();
    nsys->ranges = kineto_counts_new();
    if (!nsys_tables_has(tables, "StringIds")) {
        error_input(error, "%s: no table StringIds: this is no export of Nsight Systems (nsys export --type=sqlite)",
                    path);
        return NULL;
    }
    g_autoptr(GArray) places = g_array_new(FALSE, FALSE, sizeof(Place));
    g_autoptr(GHashTable) records = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    g_autoptr(NsysCalls) calls = nsys_calls_new(nsys->calls, nsys->ranges);
    Reader reader = {
        .nsys = nsys, .tables = tables, .problems = problems, .places = places, .records = records, .calls = calls};
    gboolean good = read_devices(&reader, error) && read_hosts(&reader, error);
    for (guint i = 0; i < places->len; i++) {
        KinetoFile *file = g_array_index(places, Place, i).file;
        kineto_file_sort(file);
        g_ptr_array_add(nsys->files, file);
    }
    return good ? g_steal_pointer(&nsys) : NULL;
}
