/* goal_program.h - from the ops and edges of a GOAL schedule to a program; part of goal_workload */
#pragma once

#include "workload/goal.h"

typedef struct {
    Program *program;
    uint32_t stream_of_cpu[256]; /* INDEX_NONE = it has none yet */
} GoalMaker;

/* A new program for this rank of the workload. */
void goal_maker_begin(GoalMaker *maker, Workload *workload, uint32_t rank);
/* The op as the program has it; its CPU's stream is added where it is new. */
Op goal_op(GoalMaker *maker, const GoalOp *from);
/* Adds the n ops in their order, and whom they wait for. */
void goal_maker_end(GoalMaker *maker, const Op *ops, uint32_t n, const GArray *edges);

/* goal_nodes.c: the largest NIC that is named, + 1; and the ranks of a node, one a NIC. signals: how many there are. */
uint32_t goal_nics(const GoalSchedule *schedule);
void goal_make_node(const GoalSchedule *schedule, Workload *workload, uint32_t rank, uint32_t n_nics,
                    uint64_t *signals);
