/* mailbox.c - the two ends of a message find each other
 *
 * Matched by (destination, tag) and source, in the order of issue, over all iterations. A send goes at once (it does
 * not wait for its receive) and ends when its last byte has left; a receive ends when the last byte has arrived. */
#include "cluster/run.h"

#include "base/error.h"

#include <assert.h>
#include <math.h>

typedef struct {
    RankRun *sender, *receiver; /* receiver NULL: not posted yet */
    uint32_t send_op, recv_op;
    uint32_t source, destination, tag; /* ranks of the job */
    uint64_t bytes;
    gboolean delivered, sent;
} Message;

/* A receive that has found no message yet. */
typedef struct {
    RankRun *rank;
    uint32_t op;
    uint32_t source; /* INDEX_NONE = from any */
} Posted;

/* What waits at one (destination, tag), in order of issue. */
typedef struct {
    GQueue messages; /* of slot + 1, without a receiver */
    GQueue posted;   /* of Posted * */
} Box;

struct Mailbox {
    JobRun *job;
    GArray *messages; /* of Message: slots */
    GArray *free_slots;
    GHashTable *boxes; /* destination << 32 | tag, as gint64 *, to Box * */
    GPtrArray *order;  /* of Box *, as made: for describing */
    uint32_t client;
};

static void
box_free(gpointer data)
{
    Box *box = data;
    g_queue_clear(&box->messages);
    g_queue_clear_full(&box->posted, g_free);
    g_free(box);
}

static Message *
message(const Mailbox *mailbox, uint32_t slot)
{
    return &g_array_index(mailbox->messages, Message, slot);
}

static Box *
box_of(Mailbox *mailbox, uint32_t destination, uint32_t tag)
{
    gint64 key = (gint64)destination << 32 | tag;
    Box *box = g_hash_table_lookup(mailbox->boxes, &key);
    if (box == NULL) {
        box = g_new0(Box, 1);
        g_queue_init(&box->messages);
        g_queue_init(&box->posted);
        g_hash_table_insert(mailbox->boxes, g_memdup2(&key, sizeof key), box);
        g_ptr_array_add(mailbox->order, box);
    }
    return box;
}

static void
free_if_over(Mailbox *mailbox, uint32_t slot)
{
    Message *m = message(mailbox, slot);
    if (!m->sent || !m->delivered || m->receiver == NULL)
        return;
    g_array_append_val(mailbox->free_slots, slot);
}

static void
sent(Mailbox *mailbox, uint32_t slot)
{
    RankRun *sender = message(mailbox, slot)->sender;
    uint32_t op = message(mailbox, slot)->send_op;
    message(mailbox, slot)->sent = TRUE;
    free_if_over(mailbox, slot);
    rank_account(sender, ACCOUNT_TRANSFER, -1);
    rank_op_ended(sender, op);
}

static void
delivered(Mailbox *mailbox, uint32_t slot)
{
    RankRun *receiver = message(mailbox, slot)->receiver;
    uint32_t op = message(mailbox, slot)->recv_op;
    message(mailbox, slot)->delivered = TRUE;
    free_if_over(mailbox, slot);
    if (receiver == NULL)
        return;
    rank_account(receiver, ACCOUNT_TRANSFER, -1);
    rank_op_ended(receiver, op);
}

static void
network_done(void *owner, uint32_t cookie, NetworkMoment moment)
{
    if (moment == NETWORK_SENT)
        sent(owner, cookie);
    else
        delivered(owner, cookie);
}

void
mailbox_message_ended(Mailbox *mailbox, uint32_t slot)
{
    /* Delivered first: the slot may be used again once both are told. */
    delivered(mailbox, slot);
    sent(mailbox, slot);
}

Mailbox *
mailbox_new(JobRun *job)
{
    Mailbox *mailbox = g_new0(Mailbox, 1);
    mailbox->job = job;
    mailbox->messages = g_array_new(FALSE, TRUE, sizeof(Message));
    mailbox->free_slots = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    mailbox->boxes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, box_free);
    mailbox->order = g_ptr_array_new();
    mailbox->client = network_add_client(job->simulation->network, network_done, mailbox);
    return mailbox;
}

void
mailbox_free(Mailbox *mailbox)
{
    if (mailbox == NULL)
        return;
    g_array_unref(mailbox->messages);
    g_array_unref(mailbox->free_slots);
    g_ptr_array_unref(mailbox->order);
    g_hash_table_unref(mailbox->boxes);
    g_free(mailbox);
}

/* The rank an op's peer is; INDEX_NONE = any. */
static uint32_t
peer_of(const RankRun *rank, const Op *op)
{
    if (op->peer_form == PEER_ANY)
        return INDEX_NONE;
    if (op->peer_form == PEER_RANK)
        return (uint32_t)op->peer;
    uint32_t n, at = 0;
    const uint32_t *members = workload_members(rank->job->setup->workload, op->group, rank->rank, &n);
    while (members[at] != rank->rank)
        at++;
    int64_t other = ((int64_t)at + op->peer) % (int64_t)n;
    return members[other < 0 ? other + n : other];
}

static uint32_t
take_slot(Mailbox *mailbox)
{
    if (mailbox->free_slots->len == 0) {
        g_array_set_size(mailbox->messages, mailbox->messages->len + 1);
        return mailbox->messages->len - 1;
    }
    uint32_t last = mailbox->free_slots->len - 1;
    uint32_t slot = g_array_index(mailbox->free_slots, uint32_t, last);
    g_array_set_size(mailbox->free_slots, last);
    return slot;
}

/* The oldest receive that takes a message from source, off the box; NULL where there is none. */
static Posted *
take_posted(Box *box, uint32_t source)
{
    for (GList *l = box->posted.head; l != NULL; l = l->next) {
        Posted *posted = l->data;
        if (posted->source != INDEX_NONE && posted->source != source)
            continue;
        g_queue_delete_link(&box->posted, l);
        return posted;
    }
    return NULL;
}

/* The message ends after this time, without the network. */
static void
end_message_in(Mailbox *mailbox, uint32_t slot, SimTime delay)
{
    Simulation *simulation = mailbox->job->simulation;
    engine_schedule_in(simulation->engine, delay,
                       (Event){.kind = simulation->kind_message_end,
                               .target = mailbox->job->index,
                               .sender = message(mailbox, slot)->sender->number,
                               .stamp = slot});
}

/* Moves the bytes, or lets the recorded time pass; a signal takes none. */
static void
transport(Mailbox *mailbox, uint32_t slot, const Op *op)
{
    Simulation *simulation = mailbox->job->simulation;
    const Message *m = message(mailbox, slot);
    const JobSetup *setup = mailbox->job->setup;
    GError *error = NULL;
    if (op->signal) {
        end_message_in(mailbox, slot, 0);
        return;
    }
    if (network_moves_bytes(simulation->network)) {
        Transfer transfer = {.job = mailbox->job->index,
                             .iteration = m->sender->iteration,
                             .coflow = INDEX_NONE,
                             .src_rank = m->source,
                             .dst_rank = m->destination,
                             .src = setup->nodes[m->source],
                             .dst = setup->nodes[m->destination],
                             .src_nic = INDEX_NONE,
                             .dst_nic = INDEX_NONE,
                             .bytes = m->bytes,
                             .weight = 1,
                             .rate_cap_Bps = INFINITY,
                             .settings = job_settings(mailbox->job, op->group)};
        if (!network_send(simulation->network, mailbox->client, &transfer, slot, &error)) {
            g_prefix_error(&error, "job %s: ", setup->name);
            engine_fail(simulation->engine, error);
        }
        return;
    }
    assert(op->duration_ps >= 0); /* job_check */
    end_message_in(mailbox, slot, op->duration_ps);
}

void
mailbox_send(Mailbox *mailbox, RankRun *rank, uint32_t index)
{
    const Op *op = script_op(rank->script, index);
    uint32_t slot = take_slot(mailbox), destination = peer_of(rank, op);
    Message *m = message(mailbox, slot);
    *m = (Message){.sender = rank,
                   .send_op = index,
                   .recv_op = INDEX_NONE,
                   .source = rank->rank,
                   .destination = destination,
                   .tag = op->tag,
                   .bytes = job_scaled(mailbox->job, op->bytes)};
    rank_account(rank, ACCOUNT_TRANSFER, 1);
    Box *box = box_of(mailbox, destination, op->tag);
    g_autofree Posted *posted = take_posted(box, rank->rank);
    if (posted == NULL) {
        g_queue_push_tail(&box->messages, GUINT_TO_POINTER(slot + 1));
    } else {
        m->receiver = posted->rank;
        m->recv_op = posted->op;
        rank_account(posted->rank, ACCOUNT_WAIT, -1);
        rank_account(posted->rank, ACCOUNT_TRANSFER, 1);
    }
    transport(mailbox, slot, op);
}

void
mailbox_receive(Mailbox *mailbox, RankRun *rank, uint32_t index)
{
    const Op *op = script_op(rank->script, index);
    uint32_t source = peer_of(rank, op);
    Box *box = box_of(mailbox, rank->rank, op->tag);
    for (GList *l = box->messages.head; l != NULL; l = l->next) {
        uint32_t slot = GPOINTER_TO_UINT(l->data) - 1;
        Message *m = message(mailbox, slot);
        if (source != INDEX_NONE && source != m->source)
            continue;
        g_queue_delete_link(&box->messages, l);
        m->receiver = rank;
        m->recv_op = index;
        if (m->delivered) {
            free_if_over(mailbox, slot);
            rank_end_op_now(rank, index);
        } else {
            rank_account(rank, ACCOUNT_TRANSFER, 1);
        }
        return;
    }
    Posted *posted = g_new(Posted, 1);
    *posted = (Posted){.rank = rank, .op = index, .source = source};
    g_queue_push_tail(&box->posted, posted);
    rank_account(rank, ACCOUNT_WAIT, 1);
}

void
mailbox_describe(const Mailbox *mailbox, GString *text, uint32_t *lines_left)
{
    for (uint32_t b = 0; b < mailbox->order->len; b++) {
        const Box *box = g_ptr_array_index(mailbox->order, b);
        for (GList *l = box->posted.head; l != NULL && *lines_left > 0; l = l->next) {
            const Posted *posted = l->data;
            g_string_append_printf(text, "\n  job %s: rank %u waits in \"%s\", iteration %u, for a message",
                                   mailbox->job->setup->name, posted->rank->rank,
                                   script_op_name(posted->rank->script, posted->op),
                                   job_told(mailbox->job, posted->rank->iteration));
            if (posted->source != INDEX_NONE)
                g_string_append_printf(text, " from rank %u", posted->source);
            (*lines_left)--;
        }
    }
    for (uint32_t slot = 0; slot<mailbox->messages->len && * lines_left> 0; slot++) {
        const Message *m = message(mailbox, slot);
        if (m->delivered)
            continue;
        g_string_append_printf(
            text, "\n  job %s: \"%s\" of rank %u, iteration %u, to rank %u is in flight, but nothing moves it",
            mailbox->job->setup->name, script_op_name(m->sender->script, m->send_op), m->source,
            job_told(mailbox->job, m->sender->iteration), m->destination);
        (*lines_left)--;
    }
}

void
mailbox_fingerprint(const Mailbox *mailbox, Fingerprint *print)
{
    for (uint32_t b = 0; b < mailbox->order->len; b++) {
        const Box *box = g_ptr_array_index(mailbox->order, b);
        fingerprint_add(print, (uint64_t)box->messages.length << 32 | box->posted.length);
        for (GList *l = box->messages.head; l != NULL; l = l->next) {
            const Message *m = message(mailbox, GPOINTER_TO_UINT(l->data) - 1);
            fingerprint_add(print,
                            (uint64_t)m->source << 34 | m->send_op << 2 | (m->sent ? 2 : 0) | (m->delivered ? 1 : 0));
        }
        for (GList *l = box->posted.head; l != NULL; l = l->next) {
            const Posted *posted = l->data;
            fingerprint_add(print, (uint64_t)posted->rank->rank << 32 | posted->op);
            fingerprint_add(print, posted->source);
        }
    }
}
