/* goal.h - GOAL schedules (Hoefler, Siebert, Lumsdaine 2009): text and the binary of txt2bin, as read
 *
 * Operations stand in the order of the file, rank after rank; deps are indexes of the same rank. Tags keep 64 bits. */
#pragma once

#include "workload/program.h"

#include <glib.h>
#include <stdint.h>

typedef enum { GOAL_SEND = 1, GOAL_RECV, GOAL_CALC } GoalKind;

#define GOAL_ANY UINT64_MAX /* a peer or a tag: any */

typedef struct {
    GoalKind kind;
    uint32_t cpu, nic;
    uint64_t peer, tag; /* of send and recv */
    uint64_t size;      /* bytes; of calc ns */
} GoalOp;

/* op begins when before has ended (requires), or has begun (irequires). */
typedef struct {
    uint32_t op, before;
    gboolean begun;
} GoalEdge;

typedef struct {
    uint32_t n_ranks;
    GArray **ops;   /* a rank: of GoalOp */
    GArray **edges; /* a rank: of GoalEdge */
} GoalSchedule;

/* Reads a file, gzipped or not, in either form. NULL with an INPUT error. problems (of char *; NULL = stop at the
 * first) takes every problem, with its line or byte; there is an error then as well. */
GoalSchedule *goal_read(const char *path, GPtrArray *problems, GError **error);
void goal_free(GoalSchedule *schedule); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GoalSchedule, goal_free)

/* Programs in the DAG form, checked; path is for messages. n_nics: 1, or so many GPUs are what a rank of the schedule
 * is, and each becomes a rank (goal_nodes.c). NULL with an INPUT error; problems as above. */
Workload *goal_workload(const GoalSchedule *schedule, const char *path, uint32_t n_nics, GPtrArray *problems,
                        GError **error);
GoalSchedule *goal_new(uint32_t n_ranks);
gboolean goal_is_binary(const char *head, size_t length);
/* The binary form; text is the whole file. */
GoalSchedule *goal_parse_binary(const char *path, const char *data, size_t length, GPtrArray *problems, GError **error);
