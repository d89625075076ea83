/* check_messages.c - workload_check: has every send its recv?
 *
 * Counted for each (source, destination, tag). Each program's sends to one peer are a list of (tag, count), and so are
 * its recvs from one; equal lists get one number. Then a pair of ranks is right when its two numbers are equal: one
 * comparison for each peer of each rank, however many messages they exchange. Of a rank that receives any tag only the
 * number of messages is compared. */
#include "workload/program_check.h"

#include "base/error.h"
#include "base/random.h"

#include <string.h>

typedef struct {
    uint64_t tag, count;
} TagCount;

/* What a rank is sent with one tag. */
typedef struct {
    uint64_t tag, count;
    uint32_t dst;
} Left;

/* A peer as the ops name it, and what goes to it or comes from it. */
typedef struct {
    PeerForm form;
    uint32_t group;
    int32_t peer;
    uint32_t list;    /* a GBytes of TagCount in lists, by tag */
    gboolean signals; /* they are all signals, which a rank may send itself */
} Peer;

typedef struct {
    const Workload *workload;
    GPtrArray *lists;        /* of GBytes * */
    GHashTable *list_number; /* GBytes * -> number */
    GArray **sends, **recvs; /* a program: of Peer, by form, then peer */
    /* A program: where its sends, its recvs, and its sends sought by those recvs are likely to go on. */
    uint32_t *next[3];
    uint32_t *any;    /* a program: list of what it receives from anyone, INDEX_NONE */
    uint64_t *taken;  /* a program: recvs, where some take any tag; else 0 */
    uint64_t *sent;   /* a rank whose program has such: what is sent to it */
    GHashTable *left; /* of Left *, by destination and tag: sent, but received by no named peer */
} Check;

typedef struct {
    PeerForm form;
    uint32_t group;
    int32_t peer;
    uint64_t tag;
    gboolean signal;
} Message;

static int
by_peer(const void *a, const void *b)
{
    const Message *x = a, *y = b;
    if (x->form != y->form)
        return x->form < y->form ? -1 : 1;
    if (x->peer != y->peer)
        return x->peer < y->peer ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static int
by_tag(const void *a, const void *b)
{
    const TagCount *x = a, *y = b;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static uint32_t
intern(Check *check, const GArray *counts)
{
    GBytes *bytes = g_bytes_new(counts->data, counts->len * sizeof(TagCount));
    void *number;
    if (g_hash_table_lookup_extended(check->list_number, bytes, NULL, &number)) {
        g_bytes_unref(bytes);
        return GPOINTER_TO_UINT(number);
    }
    g_ptr_array_add(check->lists, bytes);
    g_hash_table_insert(check->list_number, bytes, GUINT_TO_POINTER(check->lists->len - 1));
    return check->lists->len - 1;
}

static gboolean
same_peer(const Message *a, const Message *b)
{
    return a->form == b->form && a->group == b->group && a->peer == b->peer;
}

/* The peers of the sends or of the recvs of a program. */
static GArray *
peers_of(Check *check, uint32_t index, OpKind kind)
{
    const Program *program = workload_program(check->workload, index);
    g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(Message));
    for (uint32_t i = 0; i < program->ops->len; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        if (op->kind != kind)
            continue;
        Message m = {.form = op->peer_form,
                     .group = op->peer_form == PEER_OFFSET ? op->group : 0,
                     .peer = op->peer_form == PEER_ANY ? 0 : op->peer,
                     .tag = op->tag,
                     .signal = op->signal};
        g_array_append_val(messages, m);
    }
    g_array_sort(messages, by_peer);

    GArray *peers = g_array_new(FALSE, FALSE, sizeof(Peer));
    g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(TagCount));
    gboolean signals = TRUE;
    for (uint32_t i = 0; i < messages->len; i++) {
        const Message *m = &g_array_index(messages, Message, i);
        signals = signals && m->signal;
        TagCount *last = counts->len > 0 ? &g_array_index(counts, TagCount, counts->len - 1) : NULL;
        if (last != NULL && last->tag == m->tag) {
            last->count++;
        } else {
            TagCount one = {m->tag, 1};
            g_array_append_val(counts, one);
        }
        if (i + 1 < messages->len && same_peer(m, m + 1))
            continue;
        Peer peer = {m->form, m->group, m->peer, intern(check, counts), signals};
        g_array_append_val(peers, peer);
        g_array_set_size(counts, 0);
        signals = TRUE;
    }
    return peers;
}

static uint32_t
resolve(const Check *check, const Peer *peer, uint32_t rank)
{
    Op op = {.peer_form = peer->form, .group = peer->group, .peer = peer->peer};
    return workload_peer(check->workload, &op, rank);
}

/* The place among peers of the one that names this rank by its number, or peers->len. */
static uint32_t
find_rank(const GArray *peers, uint32_t rank)
{
    uint32_t low = 0, high = peers->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const Peer *peer = &g_array_index(peers, Peer, middle);
        if (peer->form == PEER_RANK && peer->peer == (int32_t)rank)
            return middle;
        if (peer->form == PEER_RANK && peer->peer < (int32_t)rank)
            low = middle + 1;
        else
            high = middle;
    }
    return peers->len;
}

/* The lists of those of rank's peers that are other, into numbers; how many. PEER_RANK stands before PEER_OFFSET. next:
 * where other is looked for first, and then the place after it. */
static uint32_t
lists_with(const Check *check, const GArray *peers, uint32_t rank, uint32_t other, uint32_t *next, GArray *numbers)
{
    g_array_set_size(numbers, 0);
    const Peer *likely = *next < peers->len ? &g_array_index(peers, Peer, *next) : NULL;
    gboolean there = likely != NULL && likely->form == PEER_RANK && likely->peer == (int32_t)other;
    uint32_t at = there ? *next : find_rank(peers, other);
    *next = at + 1;
    if (at < peers->len)
        g_array_append_val(numbers, g_array_index(peers, Peer, at).list);
    for (uint32_t i = peers->len; i > 0; i--) {
        const Peer *peer = &g_array_index(peers, Peer, i - 1);
        if (peer->form == PEER_RANK)
            break;
        if (peer->form == PEER_OFFSET && resolve(check, peer, rank) == other)
            g_array_append_val(numbers, peer->list);
    }
    return numbers->len;
}

/* The sum of lists, by tag. */
static GArray *
sum_lists(const Check *check, const GArray *numbers)
{
    GArray *sum = g_array_new(FALSE, FALSE, sizeof(TagCount));
    for (uint32_t i = 0; i < numbers->len; i++) {
        gsize size;
        const void *counts =
            g_bytes_get_data(g_ptr_array_index(check->lists, g_array_index(numbers, uint32_t, i)), &size);
        g_array_append_vals(sum, counts, (guint)(size / sizeof(TagCount)));
    }
    g_array_sort(sum, by_tag);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < sum->len; i++) {
        TagCount one = g_array_index(sum, TagCount, i);
        if (kept > 0 && g_array_index(sum, TagCount, kept - 1).tag == one.tag)
            g_array_index(sum, TagCount, kept - 1).count += one.count;
        else
            g_array_index(sum, TagCount, kept++) = one;
    }
    g_array_set_size(sum, kept);
    return sum;
}

/* The first op of this kind of rank with this tag and other. The caller frees the label. */
static char *
first_op(const Check *check, OpKind kind, uint32_t rank, uint32_t other, uint64_t tag)
{
    const Program *program = workload_program(check->workload, check->workload->program_of_rank[rank]);
    for (uint32_t i = 0; i < program->ops->len; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        if (op->kind == kind && op->tag == tag && workload_peer(check->workload, op, rank) == other)
            return check_op_label(program, i);
    }
    return g_strdup("none");
}

static gboolean
fail_pair(const Check *check, uint32_t src, uint32_t dst, uint64_t tag, uint64_t sent, uint64_t received,
          GError **error)
{
    gboolean more_sent = sent > received;
    g_autofree char *op = more_sent ? first_op(check, OP_SEND, src, dst, tag) : first_op(check, OP_RECV, dst, src, tag);
    if (more_sent)
        return error_input(error,
                           "rank %u sends %" G_GUINT64_FORMAT " messages with tag %" G_GUINT64_FORMAT
                           " to rank %u (the first: %s), which receives %" G_GUINT64_FORMAT,
                           src, sent, tag, dst, op, received);
    return error_input(error,
                       "rank %u receives %" G_GUINT64_FORMAT " messages with tag %" G_GUINT64_FORMAT
                       " from rank %u (the first: %s), which sends %" G_GUINT64_FORMAT,
                       dst, received, tag, src, op, sent);
}

static guint
left_hash(const void *key)
{
    const Left *left = key;
    return (guint)hash_combine(left->dst, left->tag);
}

static gboolean
left_equal(const void *a, const void *b)
{
    const Left *x = a, *y = b;
    return x->dst == y->dst && x->tag == y->tag;
}

static uint64_t *
left_at(Check *check, uint32_t dst, uint64_t tag)
{
    Left key = {.tag = tag, .dst = dst}, *left = g_hash_table_lookup(check->left, &key);
    if (left == NULL) {
        left = g_memdup2(&key, sizeof key);
        g_hash_table_add(check->left, left);
    }
    return &left->count;
}

/* Compares two lists that are not the same; what a peer that receives from anyone has not named is left for that. */
static gboolean
compare(Check *check, uint32_t src, uint32_t dst, const GArray *sent, const GArray *received, GError **error)
{
    gboolean takes_any = check->any[check->workload->program_of_rank[dst]] != INDEX_NONE;
    uint32_t s = 0, r = 0;
    while (s < sent->len || r < received->len) {
        TagCount none = {UINT64_MAX, 0};
        TagCount out = s < sent->len ? g_array_index(sent, TagCount, s) : none;
        TagCount in = r < received->len ? g_array_index(received, TagCount, r) : none;
        uint64_t tag = MIN(out.tag, in.tag);
        uint64_t n_out = s < sent->len && out.tag == tag ? out.count : 0;
        uint64_t n_in = r < received->len && in.tag == tag ? in.count : 0;
        if (n_in > n_out || (n_out > n_in && !takes_any))
            return fail_pair(check, src, dst, tag, n_out, n_in, error);
        if (n_out > n_in)
            *left_at(check, dst, tag) += n_out - n_in;
        s += n_out > 0;
        r += n_in > 0;
    }
    return TRUE;
}

/* Everything src sends to dst against everything dst receives from it. */
static gboolean
check_pair(Check *check, uint32_t src, uint32_t dst, GArray *out, GArray *in, GError **error)
{
    const uint32_t *program = check->workload->program_of_rank;
    uint32_t n_out = lists_with(check, check->sends[program[src]], src, dst, &check->next[0][program[src]], out);
    uint32_t n_in = lists_with(check, check->recvs[program[dst]], dst, src, &check->next[1][program[dst]], in);
    if (n_out == 1 && n_in == 1 && g_array_index(out, uint32_t, 0) == g_array_index(in, uint32_t, 0))
        return TRUE;
    g_autoptr(GArray) sent = sum_lists(check, out);
    g_autoptr(GArray) received = sum_lists(check, in);
    return compare(check, src, dst, sent, received, error);
}

/* Whether an earlier peer of the list is the same rank. */
static gboolean
seen_before(const Check *check, const GArray *peers, uint32_t at, uint32_t rank, uint32_t other)
{
    const Peer *peer = &g_array_index(peers, Peer, at);
    if (peer->form == PEER_RANK)
        return FALSE;
    if (find_rank(peers, other) < peers->len)
        return TRUE;
    for (uint32_t i = at; i > 0; i--) {
        const Peer *before = &g_array_index(peers, Peer, i - 1);
        if (before->form == PEER_RANK)
            break;
        if (resolve(check, before, rank) == other)
            return TRUE;
    }
    return FALSE;
}

/* Messages of a list. */
static uint64_t
list_count(const Check *check, uint32_t list)
{
    gsize size;
    const TagCount *counts = g_bytes_get_data(g_ptr_array_index(check->lists, list), &size);
    uint64_t sum = 0;
    for (gsize i = 0; i < size / sizeof(TagCount); i++)
        sum += counts[i].count;
    return sum;
}

static gboolean
check_rank(Check *check, uint32_t rank, GArray *out, GArray *in, GError **error)
{
    static const OpKind kinds[] = {OP_SEND, OP_RECV};
    uint32_t program = check->workload->program_of_rank[rank];
    for (uint32_t k = 0; k < 2; k++) {
        gboolean sends = kinds[k] == OP_SEND;
        const GArray *peers = sends ? check->sends[program] : check->recvs[program];
        for (uint32_t i = 0; i < peers->len; i++) {
            const Peer *peer = &g_array_index(peers, Peer, i);
            if (peer->form == PEER_ANY)
                continue;
            uint32_t other = resolve(check, peer, rank);
            const char *verb = sends ? "sends to" : "receives from";
            if (other == INDEX_NONE) {
                const Group *group = g_ptr_array_index(check->workload->groups, peer->group);
                return error_input(error, "rank %u %s %s%+d, but is not in group \"%s\"", rank, verb, group->name,
                                   peer->peer, group->name);
            }
            if (other == rank && !peer->signals)
                return error_input(error, "rank %u %s itself", rank, verb);
            if (check->taken[check->workload->program_of_rank[sends ? other : rank]] > 0) {
                check->sent[other] += sends ? list_count(check, peer->list) : 0;
                continue;
            }
            if (seen_before(check, peers, i, rank, other))
                continue;
            if (sends) {
                if (!check_pair(check, rank, other, out, in, error))
                    return FALSE;
            } else {
                uint32_t sender = check->workload->program_of_rank[other];
                if (lists_with(check, check->sends[sender], other, rank, &check->next[2][sender], out) > 0)
                    continue;
                if (!check_pair(check, other, rank, out, in, error))
                    return FALSE;
            }
        }
    }
    return TRUE;
}

/* What is received from anyone is what was left. */
static gboolean
check_any(Check *check, GError **error)
{
    for (uint32_t rank = 0; rank < check->workload->n_ranks; rank++) {
        uint32_t any = check->any[check->workload->program_of_rank[rank]];
        if (any == INDEX_NONE || check->taken[check->workload->program_of_rank[rank]] > 0)
            continue;
        gsize size;
        const TagCount *counts = g_bytes_get_data(g_ptr_array_index(check->lists, any), &size);
        for (gsize i = 0; i < size / sizeof(TagCount); i++) {
            uint64_t *left = left_at(check, rank, counts[i].tag);
            if (*left != counts[i].count) {
                g_autofree char *op = first_op(check, OP_RECV, rank, INDEX_NONE, counts[i].tag);
                return error_input(error,
                                   "rank %u receives %" G_GUINT64_FORMAT " messages with tag %" G_GUINT64_FORMAT
                                   " from any rank (the first: %s), but %" G_GUINT64_FORMAT " are sent to it",
                                   rank, counts[i].count, counts[i].tag, op, *left);
            }
            *left = 0;
        }
    }
    return TRUE;
}

/* Messages left with a tag that their destination never takes. */
static gboolean
check_left(const Check *check, GError **error)
{
    const Left *least = NULL;
    GHashTableIter iter;
    void *key;
    g_hash_table_iter_init(&iter, check->left);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const Left *left = key;
        if (left->count > 0 &&
            (least == NULL || left->dst < least->dst || (left->dst == least->dst && left->tag < least->tag)))
            least = left;
    }
    if (least == NULL)
        return TRUE;
    return error_input(error,
                       "%" G_GUINT64_FORMAT " messages with tag %" G_GUINT64_FORMAT
                       " are sent to rank %u, which never receives them",
                       least->count, least->tag, least->dst);
}

/* Ranks that receive any tag: as many as are sent. */
static gboolean
check_taken(const Check *check, GError **error)
{
    for (uint32_t rank = 0; rank < check->workload->n_ranks; rank++) {
        uint64_t taken = check->taken[check->workload->program_of_rank[rank]];
        if (taken > 0 && taken != check->sent[rank])
            return error_input(error,
                               "rank %u receives %" G_GUINT64_FORMAT
                               " messages, some with any tag, but %" G_GUINT64_FORMAT " are sent to it",
                               rank, taken, check->sent[rank]);
    }
    return TRUE;
}

static gboolean
check_all(Check *check, Problems *problems)
{
    g_autoptr(GArray) out = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) in = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    GError *wrong = NULL;
    gboolean sound = TRUE;
    for (uint32_t rank = 0; rank < check->workload->n_ranks; rank++) {
        if (check_rank(check, rank, out, in, &wrong))
            continue;
        sound = FALSE;
        if (!problems_add(problems, g_steal_pointer(&wrong)))
            return FALSE;
    }
    if (!sound || (check_any(check, &wrong) && check_left(check, &wrong) && check_taken(check, &wrong)))
        return sound;
    problems_add(problems, wrong);
    return FALSE;
}

static gboolean
takes_any_tag(const Program *program)
{
    for (uint32_t i = 0; i < program->ops->len; i++)
        if (g_array_index(program->ops, Op, i).kind == OP_RECV && g_array_index(program->ops, Op, i).tag == TAG_ANY)
            return TRUE;
    return FALSE;
}

static uint64_t
count_recvs(const Check *check, const GArray *recvs)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < recvs->len; i++)
        sum += list_count(check, g_array_index(recvs, Peer, i).list);
    return sum;
}

gboolean
check_messages(const Workload *workload, Problems *problems)
{
    uint32_t n = workload->programs->len;
    Check check = {.workload = workload,
                   .lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref),
                   .list_number = g_hash_table_new(g_bytes_hash, g_bytes_equal),
                   .sends = g_new0(GArray *, n + 1),
                   .recvs = g_new0(GArray *, n + 1),
                   .any = g_new0(uint32_t, n + 1),
                   .next = {g_new0(uint32_t, n + 1), g_new0(uint32_t, n + 1), g_new0(uint32_t, n + 1)},
                   .taken = g_new0(uint64_t, n + 1),
                   .sent = g_new0(uint64_t, workload->n_ranks),
                   .left = g_hash_table_new_full(left_hash, left_equal, g_free, NULL)};
    for (uint32_t i = 0; i < n; i++) {
        check.sends[i] = peers_of(&check, i, OP_SEND);
        check.recvs[i] = peers_of(&check, i, OP_RECV);
        const GArray *recvs = check.recvs[i];
        const Peer *last = recvs->len > 0 ? &g_array_index(recvs, Peer, recvs->len - 1) : NULL;
        check.any[i] = last != NULL && last->form == PEER_ANY ? last->list : INDEX_NONE;
        check.taken[i] = takes_any_tag(workload_program(workload, i)) ? count_recvs(&check, recvs) : 0;
    }
    gboolean ok = check_all(&check, problems);
    for (uint32_t i = 0; i < n; i++) {
        g_array_unref(check.sends[i]);
        g_array_unref(check.recvs[i]);
    }
    g_free(check.sends);
    g_free(check.recvs);
    g_free(check.any);
    for (uint32_t k = 0; k < 3; k++)
        g_free(check.next[k]);
    g_free(check.taken);
    g_free(check.sent);
    g_hash_table_unref(check.list_number);
    g_hash_table_unref(check.left);
    g_ptr_array_unref(check.lists);
    return ok;
}
