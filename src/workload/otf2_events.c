/* otf2_events.c - events of an OTF2 archive become calls: each callback finds its rank first, by event()
 *
 * Sizes of collectives are those that Score-P writes: of an all-reduce, an all-gather and an all-to-all those of one
 * rank times the members (seen in ../shared/data/mpi/otf2-sstmacro-10), of the others what the rank itself sent or got.
 */
#include "config.h"

#ifdef HAVE_OTF2

#include "base/error.h"
#include "base/problems.h"
#include "workload/otf2_events.h"

gboolean
otf_time(const Otf *otf, uint64_t ticks, SimTime *time_ps)
{
    __extension__ unsigned __int128 ps = (unsigned __int128)ticks * (uint64_t)PS_PER_S / otf->ticks_per_s;
    if (ps > SIM_TIME_MAX)
        return FALSE;
    *time_ps = (SimTime)ps;
    return TRUE;
}

gboolean
otf_flush(const Otf *otf, OtfRank *rank)
{
    SimTime time_ps;
    if (!otf_time(otf, rank->gap, &time_ps))
        return FALSE;
    mpi_time(rank->mpi, time_ps, FALSE, "computing");
    rank->gap = 0;
    return TRUE;
}

static OtfRank *
event(Otf *otf, OTF2_LocationRef location)
{
    uint64_t id = location;
    uint32_t rank = GPOINTER_TO_UINT(g_hash_table_lookup(otf->rank_of, &id));
    if (rank == 0)
        return NULL;
    otf->ranks[rank - 1].events++;
    return &otf->ranks[rank - 1];
}

static uint32_t
number_of(const Otf *otf, const OtfRank *rank)
{
    return (uint32_t)(rank - otf->ranks);
}

/* "PATH: rank R, event E: ..." and whether reading goes on. */
static OTF2_CallbackCode G_GNUC_PRINTF(3, 4) wrong(Otf *otf, const OtfRank *rank, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    GError *error = NULL;
    error_input(&error, "%s: rank %u, event %" G_GUINT64_FORMAT ": %s", otf->path, number_of(otf, rank), rank->events,
                text);
    return problems_go_on(otf->problems, error, &otf->failed) ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_INTERRUPT;
}

/* The communicator's group of the workload, made when it is first used; its members by rank. FALSE with a message. */
static gboolean
find_comm(Otf *otf, OTF2_CommRef ref, uint32_t *group, const GArray **members, const char **fault)
{
    uint64_t id = ref;
    OtfComm *comm = g_hash_table_lookup(otf->comms, &id);
    const OtfGroup *of = comm != NULL ? g_hash_table_lookup(otf->groups, &comm->group) : NULL;
    *fault = of == NULL ? "a communicator that is not defined" : "a communicator whose group is none of MPI's ranks";
    if (of == NULL || (of->type != OTF2_GROUP_TYPE_COMM_GROUP && of->type != OTF2_GROUP_TYPE_COMM_SELF))
        return FALSE;
    *members = of->members;
    if (of->type == OTF2_GROUP_TYPE_COMM_SELF || of->members->len == 1) {
        *group = INDEX_NONE;
        return TRUE;
    }
    if (!comm->made) {
        g_autofree uint32_t *ranks = g_new(uint32_t, of->members->len + 1);
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        gboolean world = of->members->len == otf->n_ranks;
        for (guint m = 0; m < of->members->len; m++) {
            uint64_t rank = g_array_index(of->members, uint64_t, m);
            if (rank >= otf->n_ranks || !g_hash_table_add(seen, GUINT_TO_POINTER((guint)rank)))
                return FALSE;
            ranks[m] = (uint32_t)rank;
            world = world && rank == m;
        }
        g_autofree char *name = g_strdup_printf("comm %u", ref);
        if (of->members->len == 0)
            return FALSE;
        comm->index =
            world ? MPI_WORLD : workload_add_group(mpi_world_workload(otf->world), name, ranks, of->members->len);
        comm->made = TRUE;
    }
    *group = comm->index;
    return TRUE;
}

/* The rank of a member of the communicator. */
static gboolean
find_peer(Otf *otf, const OtfRank *rank, OTF2_CommRef comm, uint32_t member, uint32_t *peer, const char **fault)
{
    uint32_t group;
    const GArray *members;
    if (!find_comm(otf, comm, &group, &members, fault))
        return FALSE;
    *peer = number_of(otf, rank);
    if (group == INDEX_NONE)
        return member == 0;
    *fault = "a peer beyond its communicator";
    if (member >= members->len)
        return FALSE;
    *peer = (uint32_t)g_array_index(members, uint64_t, member);
    return TRUE;
}

static OTF2_CallbackCode
on_enter(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes,
         OTF2_RegionRef region)
{
    Otf *otf = data;
    OtfRank *rank = event(otf, location);
    uint64_t id = region;
    if (rank == NULL)
        return OTF2_CALLBACK_SUCCESS;
    if (!rank->began) {
        rank->began = TRUE;
        rank->first = rank->last = time;
    }
    if (!g_hash_table_contains(otf->regions, &id))
        return OTF2_CALLBACK_SUCCESS;
    if (rank->depth++ == 0) {
        if (time < rank->last)
            return wrong(otf, rank, "lies before the end of the call above");
        rank->gap += time - rank->last;
    }
    return OTF2_CALLBACK_SUCCESS;
}

/* The end of MPI_Init is where the rank starts. */
static OTF2_CallbackCode
on_leave(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes,
         OTF2_RegionRef region)
{
    Otf *otf = data;
    OtfRank *rank = event(otf, location);
    uint64_t id = region;
    void *text;
    if (rank == NULL || !g_hash_table_lookup_extended(otf->regions, &id, NULL, &text) || rank->depth == 0)
        return OTF2_CALLBACK_SUCCESS;
    if (--rank->depth > 0)
        return OTF2_CALLBACK_SUCCESS;
    rank->last = time;
    uint64_t name_id = GPOINTER_TO_UINT(text);
    const char *name = g_hash_table_lookup(otf->texts, &name_id);
    if (g_strcmp0(name, "MPI_Init") == 0 || g_strcmp0(name, "MPI_Init_thread") == 0) {
        rank->first = time;
        rank->gap = 0;
    }
    return OTF2_CALLBACK_SUCCESS;
}

static void
remember(OtfRank *rank, uint64_t id, uint32_t op)
{
    OtfRequest request = {id, op};
    g_array_append_val(rank->begun, request);
}

/* Takes the request off the list; INDEX_NONE where there is none. */
static uint32_t
recall(OtfRank *rank, uint64_t id)
{
    for (guint i = 0; i < rank->begun->len; i++) {
        const OtfRequest *request = &g_array_index(rank->begun, OtfRequest, i);
        if (request->id != id)
            continue;
        uint32_t op = request->op;
        g_array_remove_index(rank->begun, i);
        return op;
    }
    return INDEX_NONE;
}

static OTF2_CallbackCode
send(Otf *otf, OTF2_LocationRef location, uint32_t receiver, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
     const uint64_t *request)
{
    OtfRank *rank = event(otf, location);
    uint32_t peer;
    const char *fault;
    if (rank == NULL)
        return OTF2_CALLBACK_SUCCESS;
    if (!find_peer(otf, rank, comm, receiver, &peer, &fault))
        return wrong(otf, rank, "a send names %s", fault);
    if (tag > MPI_TAG_MOST || !otf_flush(otf, rank))
        return wrong(otf, rank, "a send has a tag or a time out of range");
    uint32_t op = mpi_send(rank->mpi, peer, tag, bytes, request != NULL ? "isend" : "send");
    if (request == NULL)
        mpi_block(rank->mpi, op);
    else
        remember(rank, *request, op);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_send(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes, uint32_t receiver,
        OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    return send(data, location, receiver, comm, tag, bytes, NULL);
}

static OTF2_CallbackCode
on_isend(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes, uint32_t receiver,
         OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    return send(data, location, receiver, comm, tag, bytes, &request);
}

static OTF2_CallbackCode
on_isend_complete(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes,
                  uint64_t request)
{
    Otf *otf = data;
    OtfRank *rank = event(otf, location);
    uint32_t op = rank != NULL ? recall(rank, request) : INDEX_NONE;
    if (rank != NULL && !otf_flush(otf, rank))
        return wrong(otf, rank, "a time is out of range");
    if (op != INDEX_NONE)
        mpi_wait(rank->mpi, op);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_irecv_request(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes,
                 uint64_t request)
{
    Otf *otf = data;
    OtfRank *rank = event(otf, location);
    if (rank == NULL)
        return OTF2_CALLBACK_SUCCESS;
    if (!otf_flush(otf, rank))
        return wrong(otf, rank, "a time is out of range");
    remember(rank, request, mpi_recv(rank->mpi, MPI_ANYONE, 0, 0, "irecv"));
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
receive(Otf *otf, OTF2_LocationRef location, uint32_t sender, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
        const uint64_t *request)
{
    OtfRank *rank = event(otf, location);
    uint32_t peer, op;
    const char *fault;
    if (rank == NULL)
        return OTF2_CALLBACK_SUCCESS;
    if (!find_peer(otf, rank, comm, sender, &peer, &fault))
        return wrong(otf, rank, "a receive names %s", fault);
    if (tag > MPI_TAG_MOST || !otf_flush(otf, rank))
        return wrong(otf, rank, "a receive has a tag or a time out of range");
    if (request == NULL) {
        mpi_block(rank->mpi, mpi_recv(rank->mpi, peer, tag, bytes, "recv"));
        return OTF2_CALLBACK_SUCCESS;
    }
    op = recall(rank, *request);
    if (op == INDEX_NONE)
        op = mpi_recv(rank->mpi, peer, tag, bytes, "irecv"); /* begun before the trace */
    else
        mpi_settle(rank->mpi, op, peer, tag, bytes);
    mpi_wait(rank->mpi, op);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode
on_recv(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes, uint32_t sender,
        OTF2_CommRef comm, uint32_t tag, uint64_t bytes)
{
    return receive(data, location, sender, comm, tag, bytes, NULL);
}

static OTF2_CallbackCode
on_irecv(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes, uint32_t sender,
         OTF2_CommRef comm, uint32_t tag, uint64_t bytes, uint64_t request)
{
    return receive(data, location, sender, comm, tag, bytes, &request);
}

/* The same bytes to each of the n members; FALSE where memory or range is exceeded. */
static gboolean
spread(OtfRank *rank, uint32_t group, uint64_t each, uint32_t n, gboolean sends, uint32_t root, const char *name)
{
    g_autofree uint64_t *parts = g_new(uint64_t, n);
    for (uint32_t m = 0; m < n; m++)
        parts[m] = each;
    return sends ? mpi_spread(rank->mpi, group, parts, name) : mpi_scatter(rank->mpi, group, parts, root, name);
}

static gboolean
collective(Otf *otf, OtfRank *rank, OTF2_CollectiveOp op, uint32_t group, uint32_t n, uint32_t root, uint64_t sent,
           uint64_t received)
{
    static const struct {
        const char *name;
        CollectiveKind kind;
        gboolean by_received;
    } kinds[] = {
        [OTF2_COLLECTIVE_OP_BARRIER] = {"barrier", COLLECTIVE_BARRIER},
        [OTF2_COLLECTIVE_OP_BCAST] = {"bcast", COLLECTIVE_BROADCAST, TRUE},
        [OTF2_COLLECTIVE_OP_ALLGATHER] = {"allgather", COLLECTIVE_ALL_GATHER, TRUE},
        [OTF2_COLLECTIVE_OP_ALLGATHERV] = {"allgatherv", COLLECTIVE_ALL_GATHER, TRUE},
        [OTF2_COLLECTIVE_OP_ALLTOALL] = {"alltoall", COLLECTIVE_ALL_TO_ALL},
        [OTF2_COLLECTIVE_OP_REDUCE] = {"reduce", COLLECTIVE_REDUCE},
        [OTF2_COLLECTIVE_OP_REDUCE_SCATTER] = {"reduce_scatter", COLLECTIVE_REDUCE_SCATTER},
        [OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block", COLLECTIVE_REDUCE_SCATTER},
    };
    gboolean rooted = op == OTF2_COLLECTIVE_OP_BCAST || op == OTF2_COLLECTIVE_OP_REDUCE;
    switch (op) {
    case OTF2_COLLECTIVE_OP_GATHER:
    case OTF2_COLLECTIVE_OP_GATHERV:
        otf->spread++;
        mpi_gather(rank->mpi, group, sent, root, "gather");
        return TRUE;
    case OTF2_COLLECTIVE_OP_SCATTER:
    case OTF2_COLLECTIVE_OP_SCATTERV:
        otf->spread++;
        otf->uneven += op == OTF2_COLLECTIVE_OP_SCATTERV;
        return spread(rank, group, sent / n, n, FALSE, root, "scatter");
    case OTF2_COLLECTIVE_OP_ALLTOALLV:
    case OTF2_COLLECTIVE_OP_ALLTOALLW:
        otf->uneven++;
        return spread(rank, group, sent / n, n, TRUE, root, "alltoallv");
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
        otf->scans++;
        mpi_scan(rank->mpi, sent, 0, "scan");
        return group == MPI_WORLD;
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
        mpi_collective(rank->mpi, COLLECTIVE_ALL_REDUCE, group, sent / n, 0, "allreduce");
        return TRUE;
    default:
        if (op >= G_N_ELEMENTS(kinds) || kinds[op].name == NULL)
            return FALSE;
        otf->uneven += op == OTF2_COLLECTIVE_OP_ALLGATHERV;
        mpi_collective(rank->mpi, kinds[op].kind, group,
                       op == OTF2_COLLECTIVE_OP_BARRIER ? 0
                       : kinds[op].by_received          ? received
                                                        : sent,
                       rooted ? root : 0, kinds[op].name);
        return TRUE;
    }
}

static OTF2_CallbackCode
on_collective(OTF2_LocationRef location, OTF2_TimeStamp time, void *data, OTF2_AttributeList *attributes,
              OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent, uint64_t received)
{
    Otf *otf = data;
    OtfRank *rank = event(otf, location);
    uint32_t group;
    const GArray *members;
    const char *fault;
    if (rank == NULL || op >= OTF2_COLLECTIVE_OP_CREATE_HANDLE) /* handles and memory of one-sided communication */
        return OTF2_CALLBACK_SUCCESS;
    if (!find_comm(otf, comm, &group, &members, &fault))
        return wrong(otf, rank, "a collective names %s", fault);
    if (group == INDEX_NONE) {
        otf->alone++;
        return OTF2_CALLBACK_SUCCESS;
    }
    const Group *of = mpi_world_workload(otf->world)->groups->pdata[group];
    if (g_array_index(of->member_of_rank, uint32_t, number_of(otf, rank)) == INDEX_NONE)
        return wrong(otf, rank, "a collective names a communicator that the rank is not in");
    gboolean rooted = op == OTF2_COLLECTIVE_OP_BCAST || op == OTF2_COLLECTIVE_OP_REDUCE ||
                      (op >= OTF2_COLLECTIVE_OP_GATHER && op <= OTF2_COLLECTIVE_OP_SCATTERV);
    if (rooted && root >= members->len)
        return wrong(otf, rank, "a collective's root %u is beyond its %u members", root, members->len);
    if (!otf_flush(otf, rank) || !collective(otf, rank, op, group, members->len, root, sent, received))
        return wrong(otf, rank, "collective %u of %u members cannot be held", (unsigned)op, members->len);
    return OTF2_CALLBACK_SUCCESS;
}

void
otf_set_callbacks(OTF2_GlobalEvtReaderCallbacks *callbacks)
{
    OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(callbacks, on_enter);
    OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(callbacks, on_leave);
    OTF2_GlobalEvtReaderCallbacks_SetMpiSendCallback(callbacks, on_send);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCallback(callbacks, on_isend);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIsendCompleteCallback(callbacks, on_isend_complete);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvRequestCallback(callbacks, on_irecv_request);
    OTF2_GlobalEvtReaderCallbacks_SetMpiRecvCallback(callbacks, on_recv);
    OTF2_GlobalEvtReaderCallbacks_SetMpiIrecvCallback(callbacks, on_irecv);
    OTF2_GlobalEvtReaderCallbacks_SetMpiCollectiveEndCallback(callbacks, on_collective);
}

#endif
