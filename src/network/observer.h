/* network/observer.h - what a network model tells of the bytes it moved
 *
 * Any function may be NULL. Calls come in a fixed order; indexes are those of the run. */
#pragma once

#include "base/index.h"
#include "base/sim_time.h"

/* DEFINITIONS 6: why transfer time was lost. */
typedef enum { LOSS_CONTENTION, LOSS_COLLISION, LOSS_FAULT, LOSS_INDIRECT } LossKind;

typedef struct {
    uint32_t victim_job;
    uint32_t culprit_job; /* INDEX_NONE: indirect */
    uint32_t link;        /* INDEX_NONE where no link is to blame */
    uint32_t iteration;   /* the victim's */
    SimTime bucket_start_ps;
    LossKind kind;
    double lost_ps; /* transfer time lost in this bucket */
    uint64_t bytes; /* what the culprit moved over the link meanwhile */
} Loss;

typedef struct {
    uint32_t job, iteration;
    uint32_t src_rank, dst_rank, channel;
    uint32_t src, dst; /* nodes */
    uint64_t bytes;
    SimTime start_ps; /* began to send */
    SimTime sent_ps;  /* last byte left */
    SimTime end_ps;   /* last byte arrived */
} TransferRecord;

/* Of one link over a run of packets. Bytes are wire bytes but for resent_B and dropped_B, which are payload. */
typedef struct {
    uint64_t data_packets, control_packets; /* that left */
    uint64_t header_B;                      /* of data packets */
    uint64_t control_B;                     /* control packets, and what is left of trimmed ones */
    uint64_t resent_B;                      /* of packets that were sent before */
    uint64_t dropped, dropped_B;            /* lost here: no room, the link's own loss, or it died */
    uint64_t trimmed;                       /* lost their payload here */
    uint64_t marked;                        /* got an ECN mark here */
    uint64_t pauses;                        /* times this port was paused */
    SimTime paused_ps;                      /* in any class */
    uint64_t max_queue_B;                   /* most that waited */
} PacketLinkCounts;

typedef struct {
    void *owner;
    /* One job's bytes on one link in one bucket that has any; called when the bucket is over. Per (link, job)
     * buckets come in time order, and their bytes sum to exactly the bytes routed over the link. */
    void (*link_usage)(void *owner, uint32_t link, uint32_t job, SimTime bucket_start_ps, SimTime bucket_ps,
                       uint64_t bytes, SimTime busy_ps);
    /* Sums of one (victim, culprit, link, iteration, bucket, kind), each key once a run, in a fixed order. */
    void (*loss)(void *owner, const Loss *loss);
    /* A transfer, or each member of a bundle, has arrived. Those reckoned under a hold (hold.h) are told when it ends:
     * in the order of their ends, but after others that arrived meanwhile. */
    void (*transfer)(void *owner, const TransferRecord *transfer);
    /* In place of so many calls of transfer, of so many bytes together, where a period is told again (cluster/memo.h);
     * NULL: each is told by transfer. */
    void (*traffic)(void *owner, uint32_t job, uint32_t src_rank, uint32_t dst_rank, uint64_t bytes,
                    uint64_t transfers);
    /* A link over which packets went or were lost; at the end, in link order. */
    void (*packet_link)(void *owner, uint32_t link, const PacketLinkCounts *counts);
} NetworkObserver;
