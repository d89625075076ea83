/* mailbox.c - the two ends of a message find each other
 *
 * Matched by destination, source and tag, the oldest first, over all iterations. A send goes at once (it does not wait
 * for its receive) and ends when its last byte has left; a receive ends when the last byte has arrived.
 *
 * Under LogGOPS the oldest is the one that arrived, or was posted, first: a message is matched when it has come to its
 * host, not when it is issued, and a send above S bytes ends when its receive has met it. Not so in the stream form:
 * two ranks that send before they receive would wait for ever. */
#include "cluster/run.h"

#include "base/big_array.h"
#include "base/error.h"

#include <assert.h>
#include <math.h>

/* A message, or (sender NULL) a receive that has found none yet. */
typedef struct {
    RankRun *sender, *receiver; /* receiver NULL: not found yet */
    uint32_t send_op, recv_op;
    uint32_t source, destination; /* ranks of the job; source INDEX_NONE: a receive from any */
    uint64_t tag, bytes;
    SimTime taken_ps; /* under LogGOPS: its host's CPU has taken it in */
    uint32_t next;    /* in its list; INDEX_NONE */
    gboolean delivered, sent;
    gboolean held;   /* its send waits for its receive */
    gboolean signal; /* tells only that something has ended */
} Message;

/* Those that wait, oldest first. */
typedef struct {
    uint32_t head, tail;
} List;

struct Mailbox {
    JobRun *job;
    Message *messages; /* slots */
    uint32_t n_messages, room;
    GArray *free_slots;
    List *lists;          /* by (destination, source, tag): several may share one */
    uint64_t mask, share; /* lists - 1; of one destination; powers of two */
    /* A rank: some receive of it takes any source, or any tag, so that its lists are by less. */
    gboolean *any_source, *any_tag;
    uint32_t client, number; /* of the network; among the mailboxes of the simulation */
    uint32_t in_flight;      /* ends of messages (left, arrived) that are to be told yet */
    gboolean ghost;          /* its job has closed */
};

static Message *
message(const Mailbox *mailbox, uint32_t slot)
{
    return &mailbox->messages[slot];
}

static List *
list_of(const Mailbox *mailbox, const Message *m)
{
    /* Messages of neighbours, in the order they come as a rule, lie side by side: nothing here is slower than memory.
     */
    uint64_t own = mailbox->any_source[m->destination] ? 0 : m->source;
    if (!mailbox->any_tag[m->destination])
        own += m->tag * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    return &mailbox->lists[(m->destination * mailbox->share + (own & (mailbox->share - 1))) & mailbox->mask];
}

static void
append(Mailbox *mailbox, uint32_t slot)
{
    List *list = list_of(mailbox, message(mailbox, slot));
    message(mailbox, slot)->next = INDEX_NONE;
    if (list->head == INDEX_NONE)
        list->head = slot;
    else
        message(mailbox, list->tail)->next = slot;
    list->tail = slot;
}

/* A receive and a message, in either order. */
static gboolean
matches(const Message *a, const Message *b)
{
    const Message *recv = a->sender == NULL ? a : b, *send = a->sender == NULL ? b : a;
    return recv->sender == NULL && send->sender != NULL && recv->destination == send->destination &&
           (recv->source == INDEX_NONE || recv->source == send->source) &&
           (recv->tag == TAG_ANY || recv->tag == send->tag) && recv->signal == send->signal;
}

/* The oldest that this one matches, off its list; INDEX_NONE. */
static uint32_t
take(Mailbox *mailbox, const Message *sought)
{
    List *list = list_of(mailbox, sought);
    uint32_t before = INDEX_NONE;
    for (uint32_t slot = list->head; slot != INDEX_NONE; before = slot, slot = message(mailbox, slot)->next) {
        const Message *m = message(mailbox, slot);
        if (!matches(m, sought))
            continue;
        if (before == INDEX_NONE)
            list->head = m->next;
        else
            message(mailbox, before)->next = m->next;
        if (list->tail == slot)
            list->tail = before;
        return slot;
    }
    return INDEX_NONE;
}

static void
free_slot(Mailbox *mailbox, uint32_t slot)
{
    *message(mailbox, slot) = (Message){0};
    g_array_append_val(mailbox->free_slots, slot);
}

/* Both ends were told, and no receive is left to be found. */
static void
free_if_over(Mailbox *mailbox, uint32_t slot)
{
    const Message *m = message(mailbox, slot);
    if (m->delivered && m->sent && m->receiver != NULL && !m->held)
        free_slot(mailbox, slot);
}

static void
end_send(RankRun *sender, uint32_t op)
{
    rank_account(sender, ACCOUNT_TRANSFER, -1);
    rank_op_ended(sender, op);
}

static void
sent(Mailbox *mailbox, uint32_t slot)
{
    RankRun *sender = message(mailbox, slot)->sender;
    uint32_t op = message(mailbox, slot)->send_op;
    gboolean held = message(mailbox, slot)->held;
    message(mailbox, slot)->sent = TRUE;
    mailbox->in_flight--;
    free_if_over(mailbox, slot);
    if (!held && !mailbox->ghost)
        end_send(sender, op);
}

static void
delivered(Mailbox *mailbox, uint32_t slot)
{
    RankRun *receiver = message(mailbox, slot)->receiver;
    uint32_t op = message(mailbox, slot)->recv_op;
    message(mailbox, slot)->delivered = TRUE;
    mailbox->in_flight--;
    free_if_over(mailbox, slot);
    if (receiver == NULL || mailbox->ghost)
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

/* The receive op of rank gets this message; it was waiting before where waits. */
static void
give(Mailbox *mailbox, uint32_t slot, RankRun *rank, uint32_t op, gboolean waited)
{
    Message *m = message(mailbox, slot);
    m->receiver = rank;
    m->recv_op = op;
    if (waited)
        rank_account(rank, ACCOUNT_WAIT, -1);
    if (!m->delivered) {
        rank_account(rank, ACCOUNT_TRANSFER, 1);
        return;
    }
    free_if_over(mailbox, slot);
    rank_end_op_now(rank, op);
}

/* When the CPU it uses there is free. */
static SimTime
cpu_free(const Message *m, uint32_t node)
{
    const Op *send = script_op(m->sender->script, m->send_op);
    return hosts_cpu_free(m->sender->job->simulation->hosts, node, send->cpu == CPU_NONE ? 0 : (uint8_t)send->cpu);
}

/* A message that has come and its receive have met: what waits for either goes on, the lower rank's first. */
static void
meet(Mailbox *mailbox, uint32_t slot, RankRun *receiver, uint32_t op)
{
    Simulation *simulation = mailbox->job->simulation;
    Message m = *message(mailbox, slot);
    clock_let_go(receiver, op, m.taken_ps);
    if (m.held) {
        SimTime now = engine_now(simulation->engine), cpu = cpu_free(&m, mailbox->job->setup->nodes[m.source]);
        message(mailbox, slot)->held = FALSE;
        clock_let_go(m.sender, m.send_op, MAX(now, cpu));
    }
    give(mailbox, slot, receiver, op, TRUE);
    if (m.held && m.sent) {
        rank_account(m.sender, ACCOUNT_TRANSFER, -1);
        rank_end_op_now(m.sender, m.send_op);
    }
    if (m.held && m.sender->number < receiver->number)
        rank_go_on(m.sender);
    rank_go_on(receiver);
    if (m.held && m.sender->number > receiver->number)
        rank_go_on(m.sender);
}

/* Under LogGOPS: the message has come. */
static void
come(void *owner, uint32_t slot)
{
    Mailbox *mailbox = owner;
    Message *m = message(mailbox, slot);
    if (mailbox->ghost)
        return;
    m->taken_ps = cpu_free(m, mailbox->job->setup->nodes[m->destination]);
    uint32_t posted = take(mailbox, m);
    if (posted == INDEX_NONE) {
        append(mailbox, slot);
        return;
    }
    RankRun *receiver = message(mailbox, posted)->receiver;
    uint32_t op = message(mailbox, posted)->recv_op;
    free_slot(mailbox, posted);
    meet(mailbox, slot, receiver, op);
}

/* Which ranks receive from any source or any tag; the number of receives of all. */
static uint64_t
look_at_receives(Mailbox *mailbox)
{
    const Workload *workload = mailbox->job->setup->workload;
    uint32_t n = workload->programs->len;
    g_autofree uint64_t *receives = g_new0(uint64_t, n + 1);
    g_autofree gboolean *any_source = g_new0(gboolean, n + 1), *any_tag = g_new0(gboolean, n + 1);
    for (uint32_t p = 0; p < n; p++) {
        const GArray *ops = workload_program(workload, p)->ops;
        for (uint32_t o = 0; o < ops->len; o++) {
            const Op *op = &g_array_index(ops, Op, o);
            if (op->kind != OP_RECV)
                continue;
            receives[p]++;
            any_source[p] = any_source[p] || op->peer_form == PEER_ANY;
            any_tag[p] = any_tag[p] || op->tag == TAG_ANY;
        }
    }
    uint64_t all = 0;
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        uint32_t p = workload->program_of_rank[r];
        all += receives[p];
        mailbox->any_source[r] = any_source[p];
        mailbox->any_tag[r] = any_tag[p];
    }
    return all;
}

Mailbox *
mailbox_new(JobRun *job)
{
    enum { LISTS_LEAST = 16, LISTS_MOST = 1 << 22 };
    Mailbox *mailbox = g_new0(Mailbox, 1);
    Network *network = job->simulation->network;
    mailbox->job = job;
    mailbox->free_slots = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    mailbox->any_source = g_new0(gboolean, job->setup->workload->n_ranks + 1);
    mailbox->any_tag = g_new0(gboolean, job->setup->workload->n_ranks + 1);
    uint64_t receives = look_at_receives(mailbox), n = LISTS_LEAST;
    while (n < receives && n < LISTS_MOST)
        n *= 2;
    mailbox->mask = n - 1;
    for (mailbox->share = 1; mailbox->share * job->setup->workload->n_ranks < receives;)
        mailbox->share *= 2;
    mailbox->lists = big_renew(List, NULL, 0, n);
    for (uint64_t i = 0; i < n; i++)
        mailbox->lists[i] = (List){INDEX_NONE, INDEX_NONE};
    mailbox->number = job->simulation->mailboxes->len;
    g_ptr_array_add(job->simulation->mailboxes, mailbox);
    mailbox->client = network_add_client(network, network_done, mailbox);
    if (job->simulation->hosts != NULL)
        network_listen(network, mailbox->client, come, mailbox);
    return mailbox;
}

void
mailbox_free(Mailbox *mailbox)
{
    if (mailbox == NULL)
        return;
    mailbox->job->simulation->mailboxes->pdata[mailbox->number] = NULL;
    g_free(mailbox->messages);
    g_array_unref(mailbox->free_slots);
    g_free(mailbox->lists);
    g_free(mailbox->any_source);
    g_free(mailbox->any_tag);
    g_free(mailbox);
}

void
mailbox_haunt(Mailbox *mailbox)
{
    mailbox->ghost = TRUE;
}

uint32_t
mailbox_in_flight(const Mailbox *mailbox)
{
    return mailbox->in_flight;
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
        if (mailbox->n_messages == mailbox->room) {
            mailbox->room = MAX(64, 2 * mailbox->room);
            mailbox->messages = big_renew(Message, mailbox->messages, mailbox->n_messages, mailbox->room);
        }
        return mailbox->n_messages++;
    }
    uint32_t last = mailbox->free_slots->len - 1;
    uint32_t slot = g_array_index(mailbox->free_slots, uint32_t, last);
    g_array_set_size(mailbox->free_slots, last);
    return slot;
}

/* The message ends after this time, without the network. */
static void
end_message_in(Mailbox *mailbox, uint32_t slot, SimTime delay)
{
    Simulation *simulation = mailbox->job->simulation;
    engine_schedule_in(simulation->engine, delay,
                       (Event){.kind = simulation->kind_message_end,
                               .target = mailbox->number,
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
    mailbox->in_flight += 2;
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
                             .weight = job_weight(mailbox->job, op->group),
                             .rate_cap_Bps = INFINITY,
                             .settings = job_settings(mailbox->job, op->group),
                             .host_cpu = op->cpu == CPU_NONE ? 0 : (uint8_t)op->cpu,
                             .host_nic = op->nic,
                             .host_begun = simulation->hosts != NULL};
        if (!network_send(simulation->network, mailbox->client, &transfer, slot, &error)) {
            g_prefix_error(&error, "job %s: ", setup->name);
            engine_fail(simulation->engine, error);
        }
        return;
    }
    assert(op->duration_ps >= 0); /* job_check */
    end_message_in(mailbox, slot, op->duration_ps);
}

/* A new message; its slot. */
static uint32_t
open_message(Mailbox *mailbox, RankRun *rank, uint32_t index)
{
    const Op *op = script_op(rank->script, index);
    uint32_t slot = take_slot(mailbox);
    *message(mailbox, slot) = (Message){.sender = rank,
                                        .send_op = index,
                                        .recv_op = INDEX_NONE,
                                        .source = rank->rank,
                                        .destination = peer_of(rank, op),
                                        .tag = op->tag,
                                        .signal = op->signal,
                                        .bytes = job_scaled(mailbox->job, op->bytes)};
    return slot;
}

void
mailbox_leave(Mailbox *mailbox, RankRun *rank, uint32_t index)
{
    const Simulation *simulation = mailbox->job->simulation;
    uint32_t slot = open_message(mailbox, rank, index);
    Message *m = message(mailbox, slot);
    uint64_t most = simulation->setup->network.loggops.S_B;
    gboolean held = m->held = most > 0 && m->bytes > most && script_has_clock(rank->script, index);
    transport(mailbox, slot, script_op(rank->script, index));
    clock_begun(rank, index);
    if (!held)
        clock_let_go(rank, index, cpu_free(message(mailbox, slot), mailbox->job->setup->nodes[rank->rank]));
    rank_go_on(rank);
}

void
mailbox_send(Mailbox *mailbox, RankRun *rank, uint32_t index)
{
    const Op *op = script_op(rank->script, index);
    rank_account(rank, ACCOUNT_TRANSFER, 1);
    if (mailbox->job->simulation->hosts != NULL && !op->signal) {
        clock_queue(rank, index, HOST_SEND);
        return;
    }
    uint32_t slot = open_message(mailbox, rank, index);
    uint32_t posted = take(mailbox, message(mailbox, slot));
    if (posted == INDEX_NONE) {
        append(mailbox, slot);
    } else {
        RankRun *receiver = message(mailbox, posted)->receiver;
        uint32_t recv_op = message(mailbox, posted)->recv_op;
        free_slot(mailbox, posted);
        give(mailbox, slot, receiver, recv_op, TRUE);
    }
    transport(mailbox, slot, op);
}

/* A receive of this rank as a row without a sender. */
static Message
posted_by(const RankRun *rank, uint32_t index)
{
    const Op *op = script_op(rank->script, index);
    return (Message){.receiver = (RankRun *)(uintptr_t)rank,
                     .recv_op = index,
                     .source = peer_of(rank, op),
                     .destination = rank->rank,
                     .tag = op->tag,
                     .signal = op->signal};
}

static void
post(Mailbox *mailbox, const Message *posted)
{
    uint32_t slot = take_slot(mailbox);
    *message(mailbox, slot) = *posted;
    append(mailbox, slot);
}

void
mailbox_post(Mailbox *mailbox, RankRun *rank, uint32_t index)
{
    Message posted = posted_by(rank, index);
    clock_begun(rank, index);
    uint32_t slot = take(mailbox, &posted);
    if (slot != INDEX_NONE) {
        meet(mailbox, slot, rank, index);
        return;
    }
    post(mailbox, &posted);
    rank_go_on(rank);
}

void
mailbox_receive(Mailbox *mailbox, RankRun *rank, uint32_t index)
{
    gboolean clocks = mailbox->job->simulation->hosts != NULL && !script_op(rank->script, index)->signal;
    Message posted = posted_by(rank, index);
    if (clocks) {
        rank_account(rank, ACCOUNT_WAIT, 1);
        clock_queue(rank, index, HOST_RECV);
        return;
    }
    uint32_t slot = take(mailbox, &posted);
    if (slot != INDEX_NONE) {
        give(mailbox, slot, rank, index, FALSE);
        return;
    }
    post(mailbox, &posted);
    rank_account(rank, ACCOUNT_WAIT, 1);
}

void
mailbox_describe(const Mailbox *mailbox, GString *text, uint32_t *lines_left)
{
    const char *job = mailbox->job->setup->name;
    for (uint32_t slot = 0; slot<mailbox->n_messages && * lines_left> 0; slot++) {
        const Message *m = message(mailbox, slot);
        if (m->sender != NULL || m->receiver == NULL)
            continue;
        g_string_append_printf(text, "\n  job %s: rank %u waits in \"%s\", iteration %u, for a message", job,
                               m->destination, script_op_name(m->receiver->script, m->recv_op),
                               job_told(mailbox->job, m->receiver->iteration));
        if (m->source != INDEX_NONE)
            g_string_append_printf(text, " from rank %u", m->source);
        (*lines_left)--;
    }
    for (uint32_t slot = 0; slot<mailbox->n_messages && * lines_left> 0; slot++) {
        const Message *m = message(mailbox, slot);
        if (m->sender == NULL || (m->delivered && !m->held))
            continue;
        g_string_append_printf(text, "\n  job %s: \"%s\" of rank %u, iteration %u, to rank %u %s", job,
                               script_op_name(m->sender->script, m->send_op), m->source,
                               job_told(mailbox->job, m->sender->iteration), m->destination,
                               m->delivered ? "has come, but is not received" : "is in flight, but nothing moves it");
        (*lines_left)--;
    }
}

void
mailbox_fingerprint(const Mailbox *mailbox, Fingerprint *print)
{
    for (uint64_t l = 0; l <= mailbox->mask; l++) {
        if (mailbox->lists[l].head == INDEX_NONE)
            continue;
        fingerprint_add(print, l);
        for (uint32_t slot = mailbox->lists[l].head; slot != INDEX_NONE; slot = message(mailbox, slot)->next) {
            const Message *m = message(mailbox, slot);
            fingerprint_add(print, (uint64_t)m->source << 32 | m->destination);
            fingerprint_add(print, (uint64_t)(m->sender != NULL ? m->send_op : m->recv_op) << 4 |
                                       (m->sender != NULL ? 8 : 0) | (m->held ? 4 : 0) | (m->sent ? 2 : 0) |
                                       (m->delivered ? 1 : 0));
        }
    }
}
