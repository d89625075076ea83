/* kineto_join.c - one rank's events joined: device work to the calls that launched it, NCCL kernels to their records
 *
 * By correlation, then by containment in time on the launching thread: in old files a kernel's "External id" is its
 * correlation, so it is not used. Records and nodes of the execution trace pair by their order within a thread. */
#include "workload/kineto_rank.h"

#include <inttypes.h>
#include <string.h>

static void
comm_clear(gpointer data)
{
    KinetoComm *comm = data;
    g_free(comm->group_name);
    g_array_unref(comm->members);
}

KinetoRank *
kineto_rank_new(KinetoFile *file, ExecutionTrace *execution)
{
    KinetoRank *rank = g_new0(KinetoRank, 1);
    rank->file = file;
    rank->execution = execution;
    rank->rank = (uint32_t)file->rank;
    rank->devices = g_array_new(FALSE, FALSE, sizeof(KinetoDevice));
    rank->comms = g_array_new(FALSE, FALSE, sizeof(KinetoComm));
    g_array_set_clear_func(rank->comms, comm_clear);
    rank->splits = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    rank->waits = g_array_new(FALSE, FALSE, sizeof(KinetoWait));
    return rank;
}

void
kineto_rank_free(KinetoRank *rank)
{
    if (rank == NULL)
        return;
    kineto_file_free(rank->file);
    execution_trace_free(rank->execution);
    g_array_unref(rank->devices);
    g_array_unref(rank->comms);
    g_array_unref(rank->splits);
    g_array_unref(rank->waits);
    g_free(rank);
}

static gint
by_start(gconstpointer a, gconstpointer b)
{
    const KinetoEvent *x = ((const KinetoDevice *)a)->event, *y = ((const KinetoDevice *)b)->event;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

GHashTable *
kineto_calls(const KinetoFile *file)
{
    GHashTable *calls = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint i = 0; i < file->events[KINETO_CALL]->len; i++) {
        KinetoEvent *call = &g_array_index(file->events[KINETO_CALL], KinetoEvent, i);
        g_hash_table_insert(calls, &call->correlation, call);
    }
    return calls;
}

/* The last call with a correlation; INDEX_NONE. */
static uint32_t
find_call(GHashTable *calls, uint64_t correlation)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(calls, &correlation)) - 1;
}

static void
join_devices(KinetoRank *rank)
{
    KinetoFile *file = rank->file;
    g_autoptr(GHashTable) calls = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint i = 0; i < file->events[KINETO_CALL]->len; i++) {
        KinetoEvent *call = &g_array_index(file->events[KINETO_CALL], KinetoEvent, i);
        if (call->correlation != 0)
            g_hash_table_insert(calls, &call->correlation, GUINT_TO_POINTER(i + 1));
    }
    static const KinetoKind device_kinds[] = {KINETO_KERNEL, KINETO_MEMCPY, KINETO_MEMSET};
    for (size_t k = 0; k < G_N_ELEMENTS(device_kinds); k++) {
        for (guint i = 0; i < file->events[device_kinds[k]]->len; i++) {
            const KinetoEvent *event = kineto_event(file, device_kinds[k], i);
            KinetoDevice device = {.event = event,
                                   .call = find_call(calls, event->correlation),
                                   .comm = INDEX_NONE,
                                   .launch_ns = event->start_ns};
            if (device.call != INDEX_NONE)
                device.launch_ns = kineto_event(file, KINETO_CALL, device.call)->start_ns;
            else
                rank->n_unlaunched++;
            g_array_append_val(rank->devices, device);
        }
    }
    g_array_sort(rank->devices, by_start);
}

uint32_t
kineto_find_record(const KinetoFile *file, uint32_t lane, int64_t at_ns)
{
    enum { DEEPEST = 4 };
    guint low = 0, high = file->events[KINETO_COMM]->len;
    while (low < high) { /* the first that starts later */
        guint middle = low + (high - low) / 2;
        if (kineto_event(file, KINETO_COMM, middle)->start_ns > at_ns)
            high = middle;
        else
            low = middle + 1;
    }
    for (int passed = 0; low > 0 && passed < DEEPEST; low--) {
        const KinetoEvent *record = kineto_event(file, KINETO_COMM, low - 1);
        if (record->lane != lane)
            continue;
        if (record->end_ns >= at_ns)
            return low - 1;
        passed++;
    }
    return INDEX_NONE;
}

static const KinetoCollective *
args_of(const KinetoFile *file, const KinetoEvent *event)
{
    return event->collective == INDEX_NONE ? NULL
                                           : &g_array_index(file->collectives, KinetoCollective, event->collective);
}

/* How many of the records before index i, or of all, stand on a thread. */
static uint32_t
records_on(const KinetoFile *file, uint32_t lane, guint before)
{
    uint32_t n = 0;
    for (guint i = 0; i < MIN(before, file->events[KINETO_COMM]->len); i++)
        n += kineto_event(file, KINETO_COMM, i)->lane == lane;
    return n;
}

/* Threads of the Kineto file and of the execution trace, in the order of their first record: the k-th is the k-th. */
static void
list_threads(const KinetoRank *rank, GArray *lanes, GArray *threads)
{
    for (guint i = 0; i < rank->file->events[KINETO_COMM]->len; i++) {
        uint32_t lane = kineto_event(rank->file, KINETO_COMM, i)->lane;
        gboolean known = FALSE;
        for (guint k = 0; k < lanes->len; k++)
            known = known || g_array_index(lanes, uint32_t, k) == lane;
        if (!known)
            g_array_append_val(lanes, lane);
    }
    for (guint i = 0; i < rank->execution->comms->len; i++) {
        int64_t thread = g_array_index(rank->execution->comms, ExecutionComm, i).thread;
        gboolean known = FALSE;
        for (guint k = 0; k < threads->len; k++)
            known = known || g_array_index(threads, int64_t, k) == thread;
        if (!known)
            g_array_append_val(threads, thread);
    }
}

/* Appends to nodes, for the records of one thread, the execution trace's of the other; both in order. */
static gboolean
pair_thread(const KinetoRank *rank, uint32_t lane, int64_t thread, uint32_t *node_of_record, GError **error)
{
    const KinetoFile *file = rank->file;
    const GArray *comms = rank->execution->comms;
    const char *name = g_array_index(file->lanes, KinetoLane, lane).name;
    uint32_t n_records = records_on(file, lane, UINT32_MAX), n_nodes = 0, record = 0;
    for (guint i = 0; i < comms->len; i++)
        n_nodes += g_array_index(comms, ExecutionComm, i).thread == thread;
    if (n_records != n_nodes)
        return error_input(error,
                           "%s has %u record_param_comms on thread %s, %s has %u on its thread %" PRId64
                           ": they are not of one run",
                           file->path, n_records, name, rank->execution->path, n_nodes, thread);
    for (guint i = 0; i < comms->len; i++) {
        const ExecutionComm *node = &g_array_index(comms, ExecutionComm, i);
        if (node->thread != thread)
            continue;
        while (kineto_event(file, KINETO_COMM, record)->lane != lane)
            record++;
        const KinetoCollective *args = args_of(file, kineto_event(file, KINETO_COMM, record));
        if (args->input_numel != 0 && args->input_numel != node->in_numel)
            return error_input(error,
                               "%s: record_param_comms %u of thread %s has a tensor of %" PRIu64
                               " elements, node %" PRIu64 " of %s one of %" PRIu64 ": they are not of one run",
                               file->path, records_on(file, lane, record), name, args->input_numel, node->id,
                               rank->execution->path, node->in_numel);
        node_of_record[record++] = i;
    }
    return TRUE;
}

/* For each record the node of the execution trace. */
static gboolean
pair_records(const KinetoRank *rank, uint32_t *node_of_record, GError **error)
{
    g_autoptr(GArray) lanes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(int64_t));
    list_threads(rank, lanes, threads);
    if (lanes->len != threads->len)
        return error_input(error, "%s has record_param_comms on %u threads, %s on %u: they are not of one run",
                           rank->file->path, lanes->len, rank->execution->path, threads->len);
    for (guint k = 0; k < lanes->len; k++) {
        if (!pair_thread(rank, g_array_index(lanes, uint32_t, k), g_array_index(threads, int64_t, k), node_of_record,
                         error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
fail_unsized(KinetoRank *rank, const KinetoComm *comm, GError **error)
{
    g_autofree char *place = kineto_comm_place(rank, comm);
    rank->n_unsized++;
    if (rank->execution == NULL)
        return error_input(
            error,
            "%s carries no collective arguments, so its bytes are not known: give the execution trace of "
            "rank %u with it (execution_trace:)",
            place, rank->rank);
    return error_input(
        error,
        "%s carries no collective arguments and was launched outside every record_param_comms, so %s does "
        "not tell its bytes",
        place, rank->execution->path);
}

/* What the NCCL kernel of a device event did. */
static gboolean
resolve(KinetoRank *rank, KinetoComm *comm, const uint32_t *node_of_record, uint32_t n_ranks, GError **error)
{
    const KinetoFile *file = rank->file;
    const KinetoDevice *device = kineto_device(rank, comm->device);
    if (device->call != INDEX_NONE)
        comm->record = kineto_find_record(file, kineto_event(file, KINETO_CALL, device->call)->lane, device->launch_ns);
    const KinetoCollective *own = args_of(file, device->event);
    const KinetoCollective *record =
        comm->record != INDEX_NONE ? args_of(file, kineto_event(file, KINETO_COMM, comm->record)) : NULL;
    if (own != NULL)
        return kineto_comm_from_arguments(rank, comm, own, record, n_ranks, error);
    if (rank->execution != NULL && comm->record != INDEX_NONE) {
        const ExecutionComm *node = &g_array_index(rank->execution->comms, ExecutionComm, node_of_record[comm->record]);
        return kineto_comm_from_execution(rank, comm, node, n_ranks, error);
    }
    if (record != NULL && record->collective != NULL)
        return kineto_comm_from_arguments(rank, comm, record, record, n_ranks, error);
    if (device->call != INDEX_NONE)
        return fail_unsized(rank, comm, error);
    comm->form = COMM_FIXED; /* launched before the recorded window */
    rank->n_fixed++;
    return TRUE;
}

static gboolean
join_comms(KinetoRank *rank, const uint32_t *node_of_record, uint32_t n_ranks, GPtrArray *problems, GError **error)
{
    gboolean good = TRUE;
    for (guint i = 0; i < rank->devices->len; i++) {
        KinetoDevice *device = kineto_device(rank, i);
        if (!kineto_is_nccl(device->event))
            continue;
        device->comm = rank->comms->len;
        KinetoComm fresh = {.device = i,
                            .record = INDEX_NONE,
                            .name = device->event->name,
                            .seq = -1,
                            .in_split = INDEX_NONE,
                            .out_split = INDEX_NONE,
                            .group = INDEX_NONE,
                            .members = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
        g_array_append_val(rank->comms, fresh);
        GError *problem = NULL;
        if (resolve(rank, kineto_comm(rank, device->comm), node_of_record, n_ranks, &problem))
            continue;
        if (rank->n_unsized <= 1 || rank->execution != NULL) /* that the trace is missing is said once */
            kineto_add_problem(problems, problem->message);
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

/* A wait for a collective is told of, or a cudaStreamWaitEvent that is none of NCCL's own. */
typedef struct {
    uint32_t lane;
    int64_t at_ns;
    int64_t seq; /* of the collective; -1 = the oldest not yet waited for */
} Waiter;

static gint
by_time(gconstpointer a, gconstpointer b)
{
    int64_t x = ((const Waiter *)a)->at_ns, y = ((const Waiter *)b)->at_ns;
    return (x > y) - (x < y);
}

static gboolean
is_wait_event(const KinetoEvent *call)
{
    return strcmp(call->name, "cudaStreamWaitEvent") == 0 || strcmp(call->name, "hipStreamWaitEvent") == 0;
}

/* With sync events every cudaStreamWaitEvent is told, so none is guessed. */
static void
list_waiters(const KinetoRank *rank, const uint32_t *node_of_record, GArray *waiters)
{
    const KinetoFile *file = rank->file;
    for (guint i = 0; i < file->events[KINETO_COMM]->len; i++) {
        const KinetoEvent *record = kineto_event(file, KINETO_COMM, i);
        const KinetoCollective *args = args_of(file, record);
        const ExecutionComm *node =
            rank->execution != NULL ? &g_array_index(rank->execution->comms, ExecutionComm, node_of_record[i]) : NULL;
        const char *name = node != NULL ? node->name : args->collective;
        if (name == NULL || strcmp(name, "wait") != 0)
            continue;
        Waiter waiter = {.lane = record->lane, .at_ns = record->start_ns, .seq = node != NULL ? node->seq : -1};
        g_array_append_val(waiters, waiter);
    }
    for (guint i = 0; file->events[KINETO_SYNC]->len == 0 && i < file->events[KINETO_CALL]->len; i++) {
        const KinetoEvent *call = kineto_event(file, KINETO_CALL, i);
        if (!is_wait_event(call) || kineto_find_record(file, call->lane, call->start_ns) != INDEX_NONE)
            continue;
        Waiter waiter = {.lane = call->lane, .at_ns = call->start_ns, .seq = -1};
        g_array_append_val(waiters, waiter);
    }
    g_array_sort(waiters, by_time);
}

/* The collective a waiter waits for: the last issued of its sequence number, or its thread's oldest that nothing waits
 * for by number. INDEX_NONE where there is none. */
static uint32_t
waited_for(const KinetoRank *rank, const Waiter *waiter, const gboolean *taken)
{
    uint32_t found = INDEX_NONE;
    for (guint i = 0; i < rank->comms->len; i++) {
        const KinetoComm *comm = kineto_comm(rank, i);
        const KinetoDevice *device = kineto_device(rank, comm->device);
        if (device->call == INDEX_NONE || device->launch_ns > waiter->at_ns)
            continue;
        if (waiter->seq >= 0) {
            if (comm->seq == waiter->seq)
                found = i;
        } else if (!taken[i] && kineto_event(rank->file, KINETO_CALL, device->call)->lane == waiter->lane)
            return i;
    }
    return found;
}

static void
join_waits(KinetoRank *rank, const uint32_t *node_of_record)
{
    g_autoptr(GArray) waiters = g_array_new(FALSE, FALSE, sizeof(Waiter));
    g_autofree gboolean *taken = g_new0(gboolean, rank->comms->len + 1);
    list_waiters(rank, node_of_record, waiters);
    for (int named = 1; named >= 0; named--) { /* those with a number first: the others take what is left */
        for (guint i = 0; i < waiters->len; i++) {
            const Waiter *waiter = &g_array_index(waiters, Waiter, i);
            uint32_t comm = (waiter->seq >= 0) == named ? waited_for(rank, waiter, taken) : INDEX_NONE;
            if (comm == INDEX_NONE)
                continue;
            taken[comm] = TRUE;
            KinetoWait wait = {.lane = waiter->lane, .at_ns = waiter->at_ns, .comm = comm};
            g_array_append_val(rank->waits, wait);
        }
    }
}

gboolean
kineto_join(KinetoRank *rank, uint32_t n_ranks, GPtrArray *problems, GError **error)
{
    g_autoptr(GError) apart = NULL;
    g_autofree uint32_t *node_of_record = g_new0(uint32_t, rank->file->events[KINETO_COMM]->len + 1);
    if (rank->execution != NULL && !pair_records(rank, node_of_record, &apart)) {
        kineto_add_problem(problems, apart->message);
        g_propagate_error(error, g_steal_pointer(&apart));
        return FALSE;
    }
    join_devices(rank);
    if (!join_comms(rank, node_of_record, n_ranks, problems, error))
        return FALSE;
    join_waits(rank, node_of_record);
    return TRUE;
}
