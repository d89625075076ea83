/* schedule.h - a plan as a graph of sends: what goes from whom to whom, and after what
 *
 * A node is a send, or a join: a point of one member where several things meet, which takes no time but that of a
 * reduction. A send goes when its member has arrived and all it waits for has happened: an own send was SENT, a send to
 * this member was DELIVERED and reduced. Nodes are rows, edges compact lists (CSR) of 32-bit indexes; one schedule
 * serves many runs. */
#pragma once

#include "base/index.h"

#include <glib.h>

typedef struct {
    uint32_t src, dst; /* members; dst == INDEX_NONE: a join at src */
    uint32_t channel;  /* for its NICs and its ECMP key */
    uint32_t phase;    /* grain bundle: sends of one channel and phase progress together, phases follow each other */
    uint64_t bytes;
    uint64_t reduce_B; /* bytes the receiver reduces after delivery, before what waits for it may go */
} ScheduleNode;

typedef struct {
    uint32_t *first; /* n + 1 */
    uint32_t *to;
} ScheduleEdges;

typedef struct {
    uint32_t n_members, n;
    ScheduleNode *nodes;
    gboolean channel_nics; /* sends use the NICs of their channel; else each rank its nearest */
    /* After sealing. */
    uint32_t *needs;         /* how many things a node waits for */
    ScheduleEdges sent;      /* a send was sent: whom it releases */
    ScheduleEdges delivered; /* was delivered and reduced (of a join: has all): whom it releases */
    ScheduleEdges arrived;   /* a member arrived: whom it releases */
    uint32_t *by_phase;      /* nodes by (channel, phase, number) */

    GArray *rows, *edges; /* while it is built */
} Schedule;

Schedule *schedule_new(uint32_t n_members);
void schedule_free(Schedule *schedule); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Schedule, schedule_free)

/* Their number. */
uint32_t schedule_send(Schedule *schedule, ScheduleNode send);
uint32_t schedule_join(Schedule *schedule, uint32_t member, uint32_t channel, uint32_t phase, uint64_t reduce_B);

/* Of a send, while the schedule is built. */
uint64_t schedule_bytes(const Schedule *schedule, uint32_t send);

/* node waits until another one was sent (own), or delivered and reduced. before == INDEX_NONE: nothing. */
void schedule_after_sent(Schedule *schedule, uint32_t node, uint32_t before);
void schedule_after_delivered(Schedule *schedule, uint32_t node, uint32_t before);

/* Makes the lists. A send with no own send before it, and a join with nothing before it, wait for their member's
 * arrival. */
void schedule_seal(Schedule *schedule);

/* Bytes it holds. */
size_t schedule_memory(const Schedule *schedule);
