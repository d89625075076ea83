#include "memo_log.h"

#include "support.h"

#include <string.h>

typedef struct {
    uint32_t link, job;
    SimTime start_ps, length_ps, busy_ps;
    uint64_t bytes;
} Used;

/* A job's start or end. */
typedef struct {
    uint32_t job, iterations;
    SimTime at_ps;
    char status[16];
} Turn;

static void
saw_usage(void *owner, uint32_t link, uint32_t job, SimTime start_ps, SimTime length_ps, uint64_t bytes,
          SimTime busy_ps)
{
    MemoLog *log = owner;
    Used used = {link, job, start_ps, length_ps, busy_ps, bytes};
    g_array_append_val(log->usage, used);
}

static void
saw_loss(void *owner, const Loss *loss)
{
    g_array_append_vals(((MemoLog *)owner)->losses, loss, 1);
}

static void
saw_transfer(void *owner, const TransferRecord *transfer)
{
    g_array_append_vals(((MemoLog *)owner)->transfers, transfer, 1);
}

static void
saw_traffic(void *owner, uint32_t job, uint32_t src_rank, uint32_t dst_rank, uint64_t bytes, uint64_t transfers)
{
    MemoLog *log = owner;
    TransferRecord sum = {.job = job, .src_rank = src_rank, .dst_rank = dst_rank, .bytes = bytes};
    for (guint i = 0; i < log->transfers->len; i++) {
        TransferRecord *known = &g_array_index(log->transfers, TransferRecord, i);
        if (known->job != job || known->src_rank != src_rank || known->dst_rank != dst_rank)
            continue;
        known->bytes += bytes;
        known->start_ps += (SimTime)transfers; /* their number */
        return;
    }
    sum.start_ps = (SimTime)transfers;
    g_array_append_val(log->transfers, sum);
}

static void
saw_transfer_to_sum(void *owner, const TransferRecord *transfer)
{
    saw_traffic(owner, transfer->job, transfer->src_rank, transfer->dst_rank, transfer->bytes, 1);
}

static void
saw_iteration(void *owner, const IterationRecord *iteration)
{
    g_array_append_vals(((MemoLog *)owner)->iterations, iteration, 1);
}

static void
saw_collective(void *owner, const CollectiveRecord *collective)
{
    g_array_append_vals(((MemoLog *)owner)->collectives, collective, 1);
}

static void
saw_start(void *owner, uint32_t job, SimTime start_ps, const uint32_t *nodes, uint32_t n_ranks)
{
    Turn turn = {.job = job, .iterations = n_ranks, .at_ps = start_ps};
    g_array_append_val(((MemoLog *)owner)->jobs, turn);
}

static void
saw_end(void *owner, uint32_t job, SimTime end_ps, uint32_t iterations, const char *status)
{
    Turn turn = {.job = job, .iterations = iterations, .at_ps = end_ps};
    g_strlcpy(turn.status, status, sizeof turn.status);
    g_array_append_val(((MemoLog *)owner)->jobs, turn);
}

static int
by_time(gconstpointer a, gconstpointer b)
{
    const Used *x = a, *y = b;
    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->start_ps < y->start_ps ? -1 : x->start_ps > y->start_ps;
}

void
memo_log_run(MemoLog *log, const SimulationSetup *given, gboolean memo, gboolean traffic, const char *what)
{
    *log = (MemoLog){.iterations = g_array_new(FALSE, FALSE, sizeof(IterationRecord)),
                     .collectives = g_array_new(FALSE, FALSE, sizeof(CollectiveRecord)),
                     .transfers = g_array_new(FALSE, FALSE, sizeof(TransferRecord)),
                     .usage = g_array_new(FALSE, FALSE, sizeof(Used)),
                     .losses = g_array_new(FALSE, FALSE, sizeof(Loss)),
                     .jobs = g_array_new(FALSE, FALSE, sizeof(Turn))};
    SimulationSetup setup = *given;
    setup.memo = memo;
    setup.observer = (ClusterObserver){.network = {.owner = log,
                                                   .link_usage = saw_usage,
                                                   .loss = saw_loss,
                                                   .transfer = traffic ? saw_transfer_to_sum : saw_transfer,
                                                   .traffic = traffic ? saw_traffic : NULL},
                                       .owner = log,
                                       .job_started = saw_start,
                                       .iteration = saw_iteration,
                                       .collective = saw_collective,
                                       .job_ended = saw_end};
    GError *error = NULL;
    gboolean done = simulation_run(&setup, &log->result, &error);
    ck_assert_msg(done, "%s: %s", what, error ? error->message : "");
    g_array_sort(log->usage, by_time);
}

static gboolean
same_turn(gconstpointer a, gconstpointer b)
{
    const Turn *x = a, *y = b;
    return x->job == y->job && x->iterations == y->iterations && x->at_ps == y->at_ps &&
           strcmp(x->status, y->status) == 0;
}

static gboolean
same_iteration(gconstpointer a, gconstpointer b)
{
    const IterationRecord *x = a, *y = b;
    return x->job == y->job && x->index == y->index && x->start_ps == y->start_ps && x->end_ps == y->end_ps &&
           x->compute_ps == y->compute_ps && x->exposed_wait_ps == y->exposed_wait_ps &&
           x->exposed_transfer_ps == y->exposed_transfer_ps && x->idle_ps == y->idle_ps && !x->counted == !y->counted;
}

static gboolean
same_collective(gconstpointer a, gconstpointer b)
{
    const CollectiveRecord *x = a, *y = b;
    return x->job == y->job && x->iteration == y->iteration && strcmp(x->group, y->group) == 0 &&
           strcmp(x->stream, y->stream) == 0 && x->seq == y->seq && x->kind == y->kind &&
           strcmp(x->algorithm, y->algorithm) == 0 && x->ranks == y->ranks && x->bytes == y->bytes &&
           x->first_ps == y->first_ps && x->ready_ps == y->ready_ps && x->end_ps == y->end_ps &&
           x->alone_ps == y->alone_ps;
}

static gboolean
same_transfer(gconstpointer a, gconstpointer b)
{
    const TransferRecord *x = a, *y = b;
    return x->job == y->job && x->iteration == y->iteration && x->src_rank == y->src_rank &&
           x->dst_rank == y->dst_rank && x->channel == y->channel && x->src == y->src && x->dst == y->dst &&
           x->bytes == y->bytes && x->start_ps == y->start_ps && x->sent_ps == y->sent_ps && x->end_ps == y->end_ps;
}

static gboolean
same_usage(gconstpointer a, gconstpointer b)
{
    const Used *x = a, *y = b;
    return x->link == y->link && x->job == y->job && x->start_ps == y->start_ps && x->length_ps == y->length_ps &&
           x->busy_ps == y->busy_ps && x->bytes == y->bytes;
}

static gboolean
same_loss(gconstpointer a, gconstpointer b)
{
    const Loss *x = a, *y = b;
    return x->victim_job == y->victim_job && x->culprit_job == y->culprit_job && x->link == y->link &&
           x->iteration == y->iteration && x->bucket_start_ps == y->bucket_start_ps && x->kind == y->kind &&
           memcmp(&x->lost_ps, &y->lost_ps, sizeof x->lost_ps) == 0 && x->bytes == y->bytes;
}

/* The first row that differs is named. */
static void
check_rows(const GArray *with, const GArray *without, gboolean (*same)(gconstpointer, gconstpointer), const char *rows,
           const char *what)
{
    guint size = g_array_get_element_size((GArray *)(uintptr_t)with);
    for (guint i = 0; i < MIN(with->len, without->len); i++)
        ck_assert_msg(same(with->data + (gsize)i * size, without->data + (gsize)i * size),
                      "%s: number %u of the %s differs", what, i, rows);
    ck_assert_msg(with->len == without->len, "%s: %u %s with the memo, %u without", what, with->len, rows,
                  without->len);
}

void
memo_log_check_equal(const MemoLog *with, const MemoLog *without, const char *what)
{
    check_rows(with->jobs, without->jobs, same_turn, "jobs' starts and ends", what);
    check_rows(with->iterations, without->iterations, same_iteration, "iterations", what);
    check_rows(with->collectives, without->collectives, same_collective, "collectives", what);
    check_rows(with->transfers, without->transfers, same_transfer, "transfers", what);
    check_rows(with->usage, without->usage, same_usage, "buckets of links", what);
    check_rows(with->losses, without->losses, same_loss, "losses", what);
    const SimulationResult *a = &with->result, *b = &without->result;
    ck_assert_msg(a->end_ps == b->end_ps, "%s: the end differs", what);
    ck_assert_msg(a->events == b->events,
                  "%s: %" G_GUINT64_FORMAT " events with the memo, %" G_GUINT64_FORMAT " without", what, a->events,
                  b->events);
    ck_assert_msg(a->totals.transfers == b->totals.transfers && a->totals.bytes == b->totals.bytes &&
                      a->totals.saturated == b->totals.saturated,
                  "%s: the totals differ", what);
    for (guint j = 0; j < with->jobs->len; j++) {
        uint32_t job = g_array_index(with->jobs, Turn, j).job;
        ck_assert_msg(a->iterations[job] == b->iterations[job] && a->counted[job] == b->counted[job],
                      "%s: job %u: its iterations differ", what, job);
    }
}

void
memo_log_clear(MemoLog *log)
{
    GArray *all[] = {log->iterations, log->collectives, log->transfers, log->usage, log->losses, log->jobs};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_array_unref(all[i]);
    simulation_result_clear(&log->result);
}
