/* recorder_network.c - bytes moved and time lost: as they are told, or summed and written at the end */
#include "results/recorder_state.h"

#include "base/error.h"

#include <math.h>

static const char *const loss_names[] = {[LOSS_CONTENTION] = "contention",
                                         [LOSS_COLLISION] = "collision",
                                         [LOSS_FAULT] = "fault",
                                         [LOSS_INDIRECT] = "indirect"};

static void
write_usage(Recorder *recorder, uint32_t link, uint32_t job, SimTime start_ps, SimTime length_ps, uint64_t bytes,
            SimTime busy_ps)
{
    Bulk *row = recorder_row(recorder, TABLE_LINK_USAGE);
    if (row == NULL)
        return;
    bulk_int(row, link);
    bulk_int(row, job);
    bulk_int(row, start_ps);
    bulk_int(row, length_ps);
    bulk_size(row, bytes);
    bulk_int(row, busy_ps);
    recorder_row_done(recorder, TABLE_LINK_USAGE);
}

/* In the order of the table's key. */
void
recorder_write_usage_rows(Recorder *recorder)
{
    UsageRows *rows = recorder->usage_rows;
    if (rows == NULL)
        return;
    uint32_t link, job;
    for (const UsageRow *row = usage_rows_first(rows, &link, &job); row != NULL && recorder->error == NULL;
         row = usage_rows_next(rows, &link, &job))
        write_usage(recorder, link, job, row->start_ps, row->length_ps, row->bytes, row->busy_ps);
    usage_rows_clear(rows);
}

static void
keep_usage(Recorder *recorder, uint32_t link, uint32_t job, const UsageRow *row)
{
    SimTime last_end_ps;
    if (recorder->error != NULL)
        return;
    if (usage_rows_add(recorder->usage_rows, link, job, row, &last_end_ps))
        recorder_count_row(recorder);
    else
        g_set_error(&recorder->error, TRAINSHED_ERROR, TRAINSHED_ERROR_RUN,
                    "%s: table link_usage: link %u, job %u: the bucket at %" G_GINT64_FORMAT " ps of %" G_GINT64_FORMAT
                    " ps comes after one that ended at %" G_GINT64_FORMAT " ps",
                    recorder->db->path, link, job, row->start_ps, row->length_ps, last_end_ps);
}

static void
observe_usage(void *owner, uint32_t link, uint32_t job, SimTime bucket_start_ps, SimTime bucket_ps, uint64_t bytes,
              SimTime busy_ps)
{
    Recorder *recorder = owner;
    if (recorder->usage_rows != NULL) {
        UsageRow row = {.start_ps = bucket_start_ps, .length_ps = bucket_ps, .bytes = bytes, .busy_ps = busy_ps};
        keep_usage(recorder, link, job, &row);
        return;
    }
    TallyEntry *sum = tally_at(recorder->usage, link, job, 0, 0);
    sum->bytes += bytes;
    sum->count += (uint64_t)busy_ps;
}

/* iteration and bucket are left null where the row is folded over the run. */
static void
write_loss(Recorder *recorder, const Loss *loss, gboolean folded)
{
    Bulk *row = recorder_row(recorder, TABLE_CONTENTION);
    if (row == NULL)
        return;
    bulk_int(row, loss->victim_job);
    bulk_index(row, loss->culprit_job);
    bulk_index(row, loss->link);
    bulk_index(row, folded ? INDEX_NONE : loss->iteration);
    if (folded)
        bulk_null(row);
    else
        bulk_int(row, loss->bucket_start_ps);
    bulk_text(row, loss_names[loss->kind]);
    bulk_int(row, (int64_t)floor(loss->lost_ps + 0.5));
    bulk_size(row, loss->bytes);
    recorder_row_done(recorder, TABLE_CONTENTION);
}

static void
observe_loss(void *owner, const Loss *loss)
{
    Recorder *recorder = owner;
    if (recorder->losses == NULL) {
        write_loss(recorder, loss, FALSE);
        return;
    }
    TallyEntry *sum = tally_at(recorder->losses, loss->victim_job, loss->culprit_job, loss->link, loss->kind);
    sum->lost_ps += loss->lost_ps;
    sum->bytes += loss->bytes;
}

static void
write_flow(Recorder *recorder, const TransferRecord *transfer)
{
    Bulk *row = recorder_row(recorder, TABLE_FLOW);
    if (row == NULL)
        return;
    bulk_int(row, recorder->n_flows++);
    bulk_int(row, transfer->job);
    bulk_index(row, transfer->iteration);
    bulk_int(row, transfer->src_rank);
    bulk_int(row, transfer->dst_rank);
    bulk_int(row, transfer->channel);
    bulk_int(row, transfer->src);
    bulk_int(row, transfer->dst);
    bulk_size(row, transfer->bytes);
    bulk_int(row, transfer->start_ps);
    bulk_int(row, transfer->sent_ps);
    bulk_int(row, transfer->end_ps);
    recorder_row_done(recorder, TABLE_FLOW);
}

static void
observe_traffic(void *owner, uint32_t job, uint32_t src_rank, uint32_t dst_rank, uint64_t bytes, uint64_t transfers)
{
    Recorder *recorder = owner;
    recorder->transfers += transfers;
    recorder->bytes += bytes;
    if (recorder->traffic == NULL)
        return;
    TallyEntry *sum = tally_at(recorder->traffic, job, src_rank, dst_rank, 0);
    sum->bytes += bytes;
    sum->count += transfers;
}

static void
observe_transfer(void *owner, const TransferRecord *transfer)
{
    Recorder *recorder = owner;
    observe_traffic(owner, transfer->job, transfer->src_rank, transfer->dst_rank, transfer->bytes, 1);
    if (recorder->level >= RESULTS_FLOWS)
        write_flow(recorder, transfer);
}

static void
observe_packet_link(void *owner, uint32_t link, const PacketLinkCounts *counts)
{
    Bulk *row = recorder_row(owner, TABLE_PACKET_LINK);
    if (row == NULL)
        return;
    bulk_int(row, link);
    bulk_size(row, counts->data_packets);
    bulk_size(row, counts->control_packets);
    bulk_size(row, counts->header_B);
    bulk_size(row, counts->control_B);
    bulk_size(row, counts->resent_B);
    bulk_size(row, counts->dropped);
    bulk_size(row, counts->dropped_B);
    bulk_size(row, counts->trimmed);
    bulk_size(row, counts->marked);
    bulk_size(row, counts->pauses);
    bulk_int(row, counts->paused_ps);
    bulk_size(row, counts->max_queue_B);
    recorder_row_done(owner, TABLE_PACKET_LINK);
}

void
recorder_observe_network(Recorder *recorder)
{
    if (recorder->level >= RESULTS_COLLECTIVES) {
        recorder->usage_rows = usage_rows_new();
        recorder->traffic = tally_new();
    } else {
        recorder->usage = tally_new();
        recorder->losses = tally_new();
    }
    recorder->observer.network.owner = recorder;
    recorder->observer.network.link_usage = observe_usage;
    recorder->observer.network.loss = observe_loss;
    recorder->observer.network.transfer = observe_transfer;
    recorder->observer.network.traffic = recorder->level < RESULTS_FLOWS ? observe_traffic : NULL;
    recorder->observer.network.packet_link = observe_packet_link;
}

static void
write_traffic(Recorder *recorder, const TallyEntry *sum)
{
    Bulk *row = recorder_row(recorder, TABLE_RANK_TRAFFIC);
    if (row == NULL)
        return;
    bulk_int(row, sum->key[0]);
    bulk_int(row, sum->key[1]);
    bulk_int(row, sum->key[2]);
    bulk_size(row, sum->bytes);
    bulk_size(row, sum->count);
    recorder_row_done(recorder, TABLE_RANK_TRAFFIC);
}

void
recorder_write_sums(Recorder *recorder, SimTime sim_ps)
{
    size_t n = 0;
    const TallyEntry *sums = recorder->usage != NULL ? tally_sorted(recorder->usage, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        write_usage(recorder, sums[i].key[0], sums[i].key[1], 0, sim_ps, sums[i].bytes, (SimTime)sums[i].count);

    n = 0;
    sums = recorder->losses != NULL ? tally_sorted(recorder->losses, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        Loss loss = {.victim_job = sums[i].key[0],
                     .culprit_job = sums[i].key[1],
                     .link = sums[i].key[2],
                     .kind = (LossKind)sums[i].key[3],
                     .lost_ps = sums[i].lost_ps,
                     .bytes = sums[i].bytes};
        write_loss(recorder, &loss, TRUE);
    }

    n = 0;
    sums = recorder->traffic != NULL ? tally_sorted(recorder->traffic, &n) : NULL;
    for (size_t i = 0; i < n; i++)
        write_traffic(recorder, &sums[i]);
}
