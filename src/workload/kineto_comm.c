/* kineto_comm.c - what one NCCL kernel did: kind, bytes, splits, members, from its arguments or the execution trace */
#include "workload/kineto.h"
#include "workload/kineto_rank.h"

#include <inttypes.h>
#include <string.h>

/* Which of the recorded sizes is S, DEFINITIONS 4. */
typedef enum { S_INPUT, S_RESULT, S_LARGER, S_NONE } Size;

static const struct {
    const char *name; /* as torch calls it */
    KinetoCommForm form;
    CollectiveKind kind;
    Size size;
} kinds[] = {
    {"allreduce", COMM_COLLECTIVE, COLLECTIVE_ALL_REDUCE, S_INPUT},
    {"all_reduce", COMM_COLLECTIVE, COLLECTIVE_ALL_REDUCE, S_INPUT},
    {"allreduce_coalesced", COMM_COLLECTIVE, COLLECTIVE_ALL_REDUCE, S_INPUT},
    {"allgather", COMM_COLLECTIVE, COLLECTIVE_ALL_GATHER, S_RESULT},
    {"all_gather", COMM_COLLECTIVE, COLLECTIVE_ALL_GATHER, S_RESULT},
    {"_allgather_base", COMM_COLLECTIVE, COLLECTIVE_ALL_GATHER, S_RESULT},
    {"allgather_coalesced", COMM_COLLECTIVE, COLLECTIVE_ALL_GATHER, S_RESULT},
    {"allgather_into_tensor_coalesced", COMM_COLLECTIVE, COLLECTIVE_ALL_GATHER, S_RESULT},
    {"reduce_scatter", COMM_COLLECTIVE, COLLECTIVE_REDUCE_SCATTER, S_INPUT},
    {"_reduce_scatter_base", COMM_COLLECTIVE, COLLECTIVE_REDUCE_SCATTER, S_INPUT},
    {"reduce_scatter_tensor_coalesced", COMM_COLLECTIVE, COLLECTIVE_REDUCE_SCATTER, S_INPUT},
    {"all_to_all", COMM_COLLECTIVE, COLLECTIVE_ALL_TO_ALL, S_INPUT},
    {"all_to_allv", COMM_COLLECTIVE, COLLECTIVE_ALL_TO_ALL, S_INPUT},
    {"alltoall", COMM_COLLECTIVE, COLLECTIVE_ALL_TO_ALL, S_INPUT},
    {"alltoall_base", COMM_COLLECTIVE, COLLECTIVE_ALL_TO_ALL, S_INPUT},
    {"broadcast", COMM_COLLECTIVE, COLLECTIVE_BROADCAST, S_LARGER},
    {"_broadcast_oop", COMM_COLLECTIVE, COLLECTIVE_BROADCAST, S_LARGER},
    {"reduce", COMM_COLLECTIVE, COLLECTIVE_REDUCE, S_INPUT},
    {"_reduce_oop", COMM_COLLECTIVE, COLLECTIVE_REDUCE, S_INPUT},
    {"barrier", COMM_COLLECTIVE, COLLECTIVE_BARRIER, S_NONE},
    {"send", COMM_SEND, COLLECTIVE_KINDS, S_LARGER},
    {"recv", COMM_RECV, COLLECTIVE_KINDS, S_LARGER},
};

char *
kineto_comm_place(const KinetoRank *rank, const KinetoComm *comm)
{
    const KinetoEvent *event = kineto_device(rank, comm->device)->event;
    return g_strdup_printf("%s: %s %" PRIu64 ": NCCL kernel \"%.*s\" at ts %" PRId64 ".%03d us", rank->file->path,
                           rank->file->place_unit, event->place, (int)strcspn(event->name, "(<"), event->name,
                           event->start_ns / 1000, (int)(event->start_ns % 1000));
}

/* An error at the kernel. Returns FALSE. */
static gboolean G_GNUC_PRINTF(4, 5)
    fail(const KinetoRank *rank, const KinetoComm *comm, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args), *place = kineto_comm_place(rank, comm);
    va_end(args);
    return error_input(error, "%s: %s", place, message);
}

/* Sets form, kind, name and S. */
static gboolean
set_kind(const KinetoRank *rank, KinetoComm *comm, const char *name, uint64_t in_bytes, uint64_t out_bytes,
         GError **error)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(kinds[i].name, name) != 0)
            continue;
        comm->form = kinds[i].form;
        comm->kind = kinds[i].kind;
        comm->name = name;
        switch (kinds[i].size) {
        case S_INPUT:
            comm->bytes = in_bytes;
            break;
        case S_RESULT:
            comm->bytes = out_bytes;
            break;
        case S_LARGER:
            comm->bytes = MAX(in_bytes, out_bytes);
            break;
        case S_NONE:
            comm->bytes = 0;
            break;
        }
        return TRUE;
    }
    return fail(rank, comm, error,
                "collective \"%.60s\" is not replayed; all-reduce, all-gather, reduce-scatter, all-to-all(v), "
                "broadcast, reduce, barrier, send and recv are",
                name);
}

/* Keeps split sizes as bytes; elements count rows, so the row size is bytes / their sum. */
static gboolean
set_splits(KinetoRank *rank, const KinetoComm *comm, const GArray *elements, uint32_t first, uint32_t n, uint64_t bytes,
           uint32_t *splits, GError **error)
{
    *splits = INDEX_NONE;
    if (n == 0)
        return TRUE;
    if (n != comm->members->len)
        return fail(rank, comm, error, "%u split sizes in a group of %u ranks", n, comm->members->len);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (__builtin_add_overflow(sum, g_array_index(elements, uint64_t, first + i), &sum))
            return fail(rank, comm, error, "split sizes sum to more than 64 bits hold");
    }
    if (sum == 0 ? bytes != 0 : bytes % sum != 0)
        return fail(rank, comm, error, "split sizes sum to %" PRIu64 " elements, the tensor has %" PRIu64 " bytes", sum,
                    bytes);
    *splits = rank->splits->len;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t part = sum == 0 ? 0 : g_array_index(elements, uint64_t, first + i) * (bytes / sum);
        g_array_append_val(rank->splits, part);
    }
    return TRUE;
}

/* "[0, 1, 2]" as numbers; *cut: it ends in "..." as long lists do. FALSE where it is no such list. */
static gboolean
parse_list(const char *text, GArray *numbers, gboolean *cut)
{
    *cut = FALSE;
    const char *at = text + strspn(text, " ");
    if (*at++ != '[')
        return FALSE;
    for (;;) {
        at += strspn(at, ", ");
        if (*at == ']')
            return TRUE;
        if (g_str_has_prefix(at, "...")) {
            *cut = TRUE;
            at += 3;
            continue;
        }
        if (!g_ascii_isdigit(*at))
            return FALSE;
        char *end;
        uint64_t number = g_ascii_strtoull(at, &end, 10);
        g_array_append_val(numbers, number);
        at = end;
    }
}

/* Appends first, first + stride ...; FALSE where one is no rank of the job. */
static gboolean
append_range(GArray *members, uint64_t first, uint64_t stride, uint64_t n, uint32_t n_ranks)
{
    if (n == 0 || n > n_ranks || first >= n_ranks || (n > 1 && stride > (n_ranks - 1 - first) / (n - 1)))
        return FALSE;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t member = (uint32_t)(first + i * stride);
        g_array_append_val(members, member);
    }
    return TRUE;
}

/* The group of pg_config with this name, or NULL. */
static const KinetoGroup *
find_group(const KinetoFile *file, const char *name)
{
    for (guint i = 0; name != NULL && i < file->groups->len; i++) {
        const KinetoGroup *group = g_ptr_array_index(file->groups, i);
        if (strcmp(group->name, name) == 0 && group->ranks->len > 0)
            return group;
    }
    return NULL;
}

/* From a whole list; FALSE where it is missing, cut or no list. */
static gboolean
members_from_list(GArray *members, const char *text)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    gboolean cut;
    if (text == NULL || !parse_list(text, numbers, &cut) || cut || numbers->len == 0)
        return FALSE;
    for (guint i = 0; i < numbers->len; i++) {
        uint32_t member = (uint32_t)MIN(g_array_index(numbers, uint64_t, i), INDEX_NONE);
        g_array_append_val(members, member);
    }
    return TRUE;
}

/* The members: as listed; long lists are cut, then from pg_config, from start and stride, or all ranks. */
static gboolean
find_members(const KinetoRank *rank, const KinetoComm *comm, const KinetoCollective *args,
             const KinetoCollective *record, uint32_t n_ranks, GError **error)
{
    const KinetoGroup *group = find_group(rank->file, args->group);
    int64_t size = args->group_size;
    if (members_from_list(comm->members, args->ranks))
        return TRUE;
    if (group != NULL) {
        g_array_append_vals(comm->members, group->ranks->data, group->ranks->len);
        return TRUE;
    }
    const KinetoCollective *range = record != NULL ? record : args;
    if (size > 0 && range->rank_start >= 0 && range->rank_stride >= 0 &&
        append_range(comm->members, (uint64_t)range->rank_start, (uint64_t)range->rank_stride, (uint64_t)size, n_ranks))
        return TRUE;
    if (size == n_ranks && append_range(comm->members, 0, 1, n_ranks, n_ranks))
        return TRUE;
    return fail(rank, comm, error, "the ranks of process group \"%s\" are not told: \"Process Group Ranks\" is %.80s",
                args->group != NULL ? args->group : "", args->ranks != NULL ? args->ranks : "missing");
}

/* The members hold this rank once, nobody twice, and as many as said. */
static gboolean
check_members(const KinetoRank *rank, const KinetoComm *comm, int64_t size, uint32_t n_ranks, GError **error)
{
    gboolean own = FALSE;
    g_autofree gboolean *seen = g_new0(gboolean, n_ranks);
    for (guint i = 0; i < comm->members->len; i++) {
        uint32_t member = g_array_index(comm->members, uint32_t, i);
        if (member >= n_ranks || seen[member])
            return fail(rank, comm, error, "process group \"%s\" names rank %u%s", comm->group_name, member,
                        member >= n_ranks ? ", which the job has not" : " twice");
        seen[member] = TRUE;
        own = own || member == rank->rank;
    }
    if (!own)
        return fail(rank, comm, error, "process group \"%s\" does not hold rank %u", comm->group_name, rank->rank);
    if (size > 0 && (uint64_t)size != comm->members->len)
        return fail(rank, comm, error, "process group \"%s\" has %u ranks, but Group size is %" PRId64,
                    comm->group_name, comm->members->len, size);
    return TRUE;
}

static gboolean
bytes_from(const KinetoRank *rank, const KinetoComm *comm, const char *key, int64_t nelems, const char *dtype,
           uint64_t *bytes, GError **error)
{
    uint32_t itemsize = kineto_dtype_size(dtype);
    if (nelems < 0)
        return fail(rank, comm, error, "\"%s\" is missing or negative, so its size is not known", key);
    if (itemsize == 0)
        return fail(rank, comm, error, "dtype \"%.40s\" has no known size", dtype != NULL ? dtype : "");
    if (__builtin_mul_overflow((uint64_t)nelems, (uint64_t)itemsize, bytes))
        return fail(rank, comm, error, "\"%s\" %" PRId64 " is more than 64 bits of bytes", key, nelems);
    return TRUE;
}

static gboolean
splits_from(KinetoRank *rank, const KinetoComm *comm, const char *key, const char *text, uint64_t bytes,
            uint32_t *splits, GError **error)
{
    g_autoptr(GArray) elements = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    gboolean cut = FALSE;
    *splits = INDEX_NONE;
    if (text == NULL || text[0] == '\0')
        return TRUE;
    if (!parse_list(text, elements, &cut))
        return fail(rank, comm, error, "\"%s\" is \"%.60s\", expected a list such as \"[4, 4]\"", key, text);
    if (cut)
        return fail(rank, comm, error, "\"%s\" is cut after %u of %u sizes; the execution trace has them all", key,
                    elements->len, comm->members->len);
    return set_splits(rank, comm, elements, 0, elements->len, bytes, splits, error);
}

/* The other end of a message. */
static gboolean
set_peer(const KinetoRank *rank, KinetoComm *comm, int64_t peer, uint32_t n_ranks, GError **error)
{
    if (peer < 0 || peer >= n_ranks || (uint32_t)peer == rank->rank)
        return fail(rank, comm, error, "%s with no rank at its other end: expected \"%s\" from 0 to %u", comm->name,
                    comm->form == COMM_SEND ? "Dst Rank" : "Src Rank", n_ranks - 1);
    comm->peer = (uint32_t)peer;
    return TRUE;
}

static gboolean
set_root(const KinetoRank *rank, KinetoComm *comm, int64_t root, GError **error)
{
    if (comm->kind != COLLECTIVE_BROADCAST && comm->kind != COLLECTIVE_REDUCE)
        return TRUE;
    comm->root = root < 0 ? 0 : (uint32_t)root;
    if (root >= (int64_t)comm->members->len)
        return fail(rank, comm, error, "root %" PRId64 " in a group of %u ranks", root, comm->members->len);
    return TRUE;
}

/* How a group is named where the file does not: by nothing. */
static char *
group_name_of(const char *name)
{
    return g_strdup(name != NULL && name[0] != '\0' ? name : "world");
}

gboolean
kineto_comm_from_arguments(KinetoRank *rank, KinetoComm *comm, const KinetoCollective *args,
                           const KinetoCollective *record, uint32_t n_ranks, GError **error)
{
    uint64_t in_bytes, out_bytes;
    if (!bytes_from(rank, comm, "In msg nelems", args->in_nelems, args->dtype, &in_bytes, error) ||
        !bytes_from(rank, comm, "Out msg nelems", args->out_nelems, args->dtype, &out_bytes, error) ||
        !set_kind(rank, comm, args->collective, in_bytes, out_bytes, error))
        return FALSE;
    comm->group_name = group_name_of(args->group);
    if (comm->form != COMM_COLLECTIVE) {
        int64_t src = args->src >= 0 || record == NULL ? args->src : record->src;
        int64_t dst = args->dst >= 0 || record == NULL ? args->dst : record->dst;
        return set_peer(rank, comm, comm->form == COMM_SEND ? dst : src, n_ranks, error);
    }
    if (!find_members(rank, comm, args, record, n_ranks, error) ||
        !check_members(rank, comm, args->group_size, n_ranks, error) ||
        !set_root(rank, comm, args->root >= 0 || record == NULL ? args->root : record->root, error))
        return FALSE;
    if (comm->members->len == 1)
        comm->form = COMM_LOCAL;
    return comm->kind != COLLECTIVE_ALL_TO_ALL ||
           (splits_from(rank, comm, "In split size", args->in_split, in_bytes, &comm->in_split, error) &&
            splits_from(rank, comm, "Out split size", args->out_split, out_bytes, &comm->out_split, error));
}

/* The members of a node's group: pg_config's, or all ranks where the rank has one group only. */
static gboolean
members_of_node(const KinetoRank *rank, const KinetoComm *comm, const ExecutionComm *node, uint32_t n_ranks,
                GError **error)
{
    const KinetoGroup *group = find_group(rank->file, node->group);
    if (group != NULL) {
        g_array_append_vals(comm->members, group->ranks->data, group->ranks->len);
        return check_members(rank, comm, -1, n_ranks, error);
    }
    for (guint i = 0; i < rank->execution->comms->len; i++) {
        const ExecutionComm *other = &g_array_index(rank->execution->comms, ExecutionComm, i);
        if (strcmp(other->name, "wait") != 0 && g_strcmp0(other->group, node->group) != 0)
            return fail(
                rank, comm, error,
                "%s has process groups \"%s\" and \"%s\", and no pg_config in the Kineto file tells their ranks",
                rank->execution->path, node->group, other->group);
    }
    append_range(comm->members, 0, 1, n_ranks, n_ranks);
    return TRUE;
}

gboolean
kineto_comm_from_execution(KinetoRank *rank, KinetoComm *comm, const ExecutionComm *node, uint32_t n_ranks,
                           GError **error)
{
    if (!set_kind(rank, comm, node->name, node->in_bytes, node->out_bytes, error))
        return FALSE;
    if (comm->form != COMM_COLLECTIVE)
        return fail(rank, comm, error, "%s: node %" PRIu64 " is a %s, whose other end an execution trace does not tell",
                    rank->execution->path, node->id, node->name);
    /* A pointer names the group of 1.0.1: another on every rank. */
    gboolean named = find_group(rank->file, node->group) != NULL;
    comm->group_name = group_name_of(named ? node->group : NULL);
    comm->seq = node->seq;
    if (!members_of_node(rank, comm, node, n_ranks, error) || !set_root(rank, comm, node->rank, error))
        return FALSE;
    if (comm->kind != COLLECTIVE_BROADCAST && comm->kind != COLLECTIVE_REDUCE && node->rank >= 0 && !named &&
        node->rank != rank->rank)
        return fail(rank, comm, error, "%s is of rank %" PRId64 ", but its Kineto file is of rank %u",
                    rank->execution->path, node->rank, rank->rank);
    if (comm->members->len == 1)
        comm->form = COMM_LOCAL;
    if (comm->kind != COLLECTIVE_ALL_TO_ALL)
        return TRUE;
    const GArray *splits = rank->execution->splits;
    return set_splits(rank, comm, splits, node->in_split, node->n_in_split, node->in_bytes, &comm->in_split, error) &&
           set_splits(rank, comm, splits, node->out_split, node->n_out_split, node->out_bytes, &comm->out_split, error);
}
