/* kineto_match.c - which NCCL kernels of different ranks are one collective, and how long it transfers
 *
 * The k-th collective of a group on each member is one, in the order its kernels started; sequence numbers, where
 * recorded, must agree. A recorded duration is waiting and transfer: the transfer is the least duration over the
 * members, and the collective ends that long after its last member started. */
#include "workload/kineto_rank.h"

#include <inttypes.h>
#include <string.h>

/* A process group over all ranks, while matching. */
typedef struct {
    char *key; /* name and members */
    const char *name;
    const GArray *members;
    uint32_t group; /* of the workload */
    GArray **comms; /* a member: of uint32_t, its collectives in order */
} Set;

static void
set_free(gpointer data)
{
    Set *set = data;
    for (guint m = 0; m < set->members->len; m++)
        g_array_unref(set->comms[m]);
    g_free(set->comms);
    g_free(set->key);
    g_free(set);
}

static char *
key_of(const KinetoComm *comm)
{
    GString *key = g_string_new(comm->group_name);
    for (guint i = 0; i < comm->members->len; i++)
        g_string_append_printf(key, "%c%u", i == 0 ? '\n' : ',', g_array_index(comm->members, uint32_t, i));
    return g_string_free(key, FALSE);
}

static uint32_t
member_of(const GArray *members, uint32_t rank)
{
    for (guint i = 0; i < members->len; i++) {
        if (g_array_index(members, uint32_t, i) == rank)
            return i;
    }
    return INDEX_NONE;
}

/* The name of a set: the recorded one, and where several sets have it, the first rank with it. */
static char *
set_name(const GPtrArray *sets, const KinetoComm *comm)
{
    for (guint i = 0; i < sets->len; i++) {
        const Set *other = g_ptr_array_index(sets, i);
        if (strcmp(other->name, comm->group_name) == 0)
            return g_strdup_printf("%s@%u", comm->group_name, g_array_index(comm->members, uint32_t, 0));
    }
    return g_strdup(comm->group_name);
}

static Set *
set_of(GPtrArray *sets, GHashTable *by_key, Workload *workload, const KinetoComm *comm)
{
    g_autofree char *key = key_of(comm);
    Set *set = g_hash_table_lookup(by_key, key);
    if (set != NULL)
        return set;
    set = g_new0(Set, 1);
    g_autofree char *name = set_name(sets, comm);
    while (workload_find_group(workload, name) != INDEX_NONE) {
        char *longer = g_strconcat(name, "'", NULL);
        g_free(name);
        name = longer;
    }
    set->name = comm->group_name;
    set->members = comm->members;
    set->group =
        workload_add_group(workload, name, (const uint32_t *)(const void *)comm->members->data, comm->members->len);
    set->comms = g_new(GArray *, comm->members->len);
    for (guint m = 0; m < comm->members->len; m++)
        set->comms[m] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    set->key = g_steal_pointer(&key);
    g_ptr_array_add(sets, set);
    g_hash_table_insert(by_key, set->key, set);
    return set;
}

static KinetoRank *
rank_of(const GPtrArray *ranks, const Set *set, uint32_t member)
{
    return g_ptr_array_index(ranks, g_array_index(set->members, uint32_t, member));
}

static KinetoComm *
comm_of(const GPtrArray *ranks, const Set *set, uint32_t member, uint32_t k)
{
    return kineto_comm(rank_of(ranks, set, member), g_array_index(set->comms[member], uint32_t, k));
}

static gboolean
fail_differ(const GPtrArray *ranks, const Set *set, uint32_t k, uint32_t m, GError **error)
{
    const KinetoComm *a = comm_of(ranks, set, 0, k), *b = comm_of(ranks, set, m, k);
    const KinetoRank *first = rank_of(ranks, set, 0), *other = rank_of(ranks, set, m);
    g_autofree char *place = kineto_comm_place(other, b);
    if (a->seq != b->seq)
        return error_input(error,
                           "%s is collective %u of group \"%s\" with sequence number %" PRId64 ", on rank %u it is "
                           "%" PRId64,
                           place, k, set->name, b->seq, first->rank, a->seq);
    return error_input(error,
                       "%s is collective %u of group \"%s\": %s of %" PRIu64 " B, on rank %u it is %s of %" PRIu64 " B",
                       place, k, set->name, b->name, b->bytes, first->rank, a->name, a->bytes);
}

static gboolean
uneven(const KinetoComm *comm)
{
    return comm->in_split != INDEX_NONE || comm->out_split != INDEX_NONE;
}

/* What i sends to j is what j expects from i. */
static gboolean
check_splits(const GPtrArray *ranks, const Set *set, uint32_t k, GError **error)
{
    for (uint32_t i = 0; i < set->members->len; i++) {
        const KinetoComm *a = comm_of(ranks, set, i, k);
        for (uint32_t j = 0; a->in_split != INDEX_NONE && j < set->members->len; j++) {
            const KinetoComm *b = comm_of(ranks, set, j, k);
            if (b->out_split == INDEX_NONE)
                continue;
            const KinetoRank *from = rank_of(ranks, set, i), *to = rank_of(ranks, set, j);
            uint64_t sent = g_array_index(from->splits, uint64_t, a->in_split + j);
            uint64_t expected = g_array_index(to->splits, uint64_t, b->out_split + i);
            if (sent != expected)
                return error_input(error,
                                   "collective %u of group \"%s\", %s: rank %u (%s) sends %" PRIu64
                                   " B to rank %u (%s), which expects %" PRIu64 " B",
                                   k, set->name, a->name, from->rank, from->file->path, sent, to->rank, to->file->path,
                                   expected);
        }
    }
    return TRUE;
}

static int64_t
duration_of(const KinetoRank *rank, const KinetoComm *comm)
{
    const KinetoEvent *event = kineto_device(rank, comm->device)->event;
    return event->end_ns - event->start_ns;
}

/* In the time of the first file. */
static int64_t
start_of(const KinetoRank *rank, const KinetoComm *comm)
{
    return kineto_device(rank, comm->device)->event->start_ns + rank->offset_ns;
}

/* Transfer and end of one collective, over its members. */
static gboolean
match_one(const GPtrArray *ranks, const Set *set, uint32_t k, GError **error)
{
    int64_t transfer = INT64_MAX, last = INT64_MIN;
    const KinetoComm *a = comm_of(ranks, set, 0, k);
    for (uint32_t m = 0; m < set->members->len; m++) {
        const KinetoComm *b = comm_of(ranks, set, m, k);
        gboolean bytes_agree = a->bytes == b->bytes || uneven(a) || uneven(b);
        if (a->kind != b->kind || !bytes_agree || a->root != b->root || a->seq != b->seq)
            return fail_differ(ranks, set, k, m, error);
        transfer = MIN(transfer, duration_of(rank_of(ranks, set, m), b));
        last = MAX(last, start_of(rank_of(ranks, set, m), b));
    }
    for (uint32_t m = 0; m < set->members->len; m++) {
        KinetoComm *b = comm_of(ranks, set, m, k);
        b->group = set->group;
        b->transfer_ns = transfer;
        b->end_ns = last + transfer - rank_of(ranks, set, m)->offset_ns;
    }
    return check_splits(ranks, set, k, error);
}

/* Each member has as many. */
static gboolean
check_counts(const GPtrArray *ranks, const Set *set, GError **error)
{
    uint32_t n = set->comms[0]->len;
    for (uint32_t m = 1; m < set->members->len; m++) {
        const KinetoRank *first = rank_of(ranks, set, 0), *other = rank_of(ranks, set, m);
        if (set->comms[m]->len != n)
            return error_input(
                error,
                "group \"%s\": %s (rank %u) has %u collectives, %s (rank %u) has %u: they are not of one "
                "run, or not of the same steps",
                set->name, first->file->path, first->rank, n, other->file->path, other->rank, set->comms[m]->len);
    }
    return TRUE;
}

/* The k-th send to a rank is the k-th recv there from the sender: they end together. */
static void
match_messages(const GPtrArray *ranks)
{
    for (guint r = 0; r < ranks->len; r++) {
        KinetoRank *from = g_ptr_array_index(ranks, r);
        g_autofree uint32_t *next = g_new0(uint32_t, ranks->len); /* a rank: where in its comms to look on */
        for (guint i = 0; i < from->comms->len; i++) {
            KinetoComm *send = kineto_comm(from, i);
            if (send->form != COMM_SEND)
                continue;
            KinetoRank *to = g_ptr_array_index(ranks, send->peer);
            uint32_t at = next[send->peer];
            while (at < to->comms->len &&
                   (kineto_comm(to, at)->form != COMM_RECV || kineto_comm(to, at)->peer != from->rank))
                at++;
            next[send->peer] = at + 1;
            if (at >= to->comms->len)
                continue; /* workload_check names a send without a recv */
            KinetoComm *recv = kineto_comm(to, at);
            int64_t transfer = MIN(duration_of(from, send), duration_of(to, recv));
            int64_t end = MAX(start_of(from, send), start_of(to, recv)) + transfer;
            send->transfer_ns = recv->transfer_ns = transfer;
            send->end_ns = end - from->offset_ns;
            recv->end_ns = end - to->offset_ns;
        }
    }
}

/* Clocks of one machine agree within microseconds; beyond this they are two. */
enum { CLOCK_TOLERANCE_NS = 1000000 };

static gint
by_value(gconstpointer a, gconstpointer b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* By how much the clock of member m is behind that of member reference: the median over their collectives' ends. */
static int64_t
clock_shift(const GPtrArray *ranks, const Set *set, uint32_t reference, uint32_t m)
{
    g_autoptr(GArray) shifts = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (uint32_t k = 0; k < set->comms[m]->len; k++) {
        const KinetoRank *a = rank_of(ranks, set, reference), *b = rank_of(ranks, set, m);
        const KinetoComm *x = comm_of(ranks, set, reference, k), *y = comm_of(ranks, set, m, k);
        int64_t shift = start_of(a, x) + duration_of(a, x) - start_of(b, y) - duration_of(b, y);
        g_array_append_val(shifts, shift);
    }
    g_array_sort(shifts, by_value);
    return g_array_index(shifts, int64_t, shifts->len / 2);
}

/* Members of a set whose clocks are not known yet are set by one that is. */
static gboolean
align_set(const GPtrArray *ranks, const Set *set, gboolean *known)
{
    uint32_t reference = 0;
    gboolean any = FALSE;
    while (reference < set->members->len && !known[rank_of(ranks, set, reference)->rank])
        reference++;
    for (uint32_t m = 0; reference < set->members->len && m < set->members->len; m++) {
        KinetoRank *rank = rank_of(ranks, set, m);
        if (known[rank->rank])
            continue;
        int64_t shift = clock_shift(ranks, set, reference, m);
        if (ABS(shift) > CLOCK_TOLERANCE_NS) {
            rank->offset_ns += shift;
            rank->shift_ns = shift;
        }
        known[rank->rank] = any = TRUE;
    }
    return any;
}

/* Ranks of different machines have different clocks, but a collective ends for all at once: clocks follow that of the
 * first rank, from group to group. */
static void
align_clocks(const GPtrArray *ranks, const GPtrArray *sets)
{
    g_autofree gboolean *known = g_new0(gboolean, ranks->len);
    for (guint r = 0; r < ranks->len; r++) {
        if (known[r])
            continue;
        known[r] = TRUE; /* rank 0, and whoever shares no group with those before */
        for (gboolean more = TRUE; more;) {
            more = FALSE;
            for (guint i = 0; i < sets->len; i++)
                more = align_set(ranks, g_ptr_array_index(sets, i), known) || more;
        }
    }
}

/* Goes on after a problem where they are gathered: FALSE where it does not. *error is the first. */
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
match_set(const GPtrArray *ranks, const Set *set, GPtrArray *problems, GError **error)
{
    gboolean good = TRUE;
    for (uint32_t k = 0; k < set->comms[0]->len; k++) {
        GError *problem = NULL;
        if (match_one(ranks, set, k, &problem))
            continue;
        good = FALSE;
        if (!set_aside(problems, problem, error))
            break;
    }
    return good;
}

/* The steps that can fail, over all sets. */
static gboolean
match_sets(const GPtrArray *ranks, const GPtrArray *sets, GPtrArray *problems, GError **error)
{
    gboolean good = TRUE;
    for (guint i = 0; i < sets->len; i++) {
        GError *problem = NULL;
        if (check_counts(ranks, g_ptr_array_index(sets, i), &problem))
            continue;
        good = FALSE;
        if (!set_aside(problems, problem, error))
            return FALSE;
    }
    if (!good)
        return FALSE;
    align_clocks(ranks, sets);
    for (guint i = 0; i < sets->len && (good || problems != NULL); i++)
        good = match_set(ranks, g_ptr_array_index(sets, i), problems, error) && good;
    return good;
}

gboolean
kineto_match(GPtrArray *ranks, Workload *workload, GPtrArray *problems, GError **error)
{
    g_autoptr(GPtrArray) sets = g_ptr_array_new_with_free_func(set_free);
    g_autoptr(GHashTable) by_key = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint r = 0; r < ranks->len; r++) {
        KinetoRank *rank = g_ptr_array_index(ranks, r);
        for (guint i = 0; i < rank->comms->len; i++) {
            KinetoComm *comm = kineto_comm(rank, i);
            comm->transfer_ns = duration_of(rank, comm);
            comm->end_ns = kineto_device(rank, comm->device)->event->end_ns;
            if (comm->form != COMM_COLLECTIVE)
                continue;
            Set *set = set_of(sets, by_key, workload, comm);
            g_array_append_val(set->comms[member_of(set->members, rank->rank)], i);
        }
    }
    if (!match_sets(ranks, sets, problems, error))
        return FALSE;
    match_messages(ranks);
    return TRUE;
}
