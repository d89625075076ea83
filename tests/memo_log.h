/* memo_log.h - all that a simulation told, for comparing a run with the iteration memo to one without */
#pragma once

#include "cluster/simulation.h"

typedef struct {
    GArray *iterations;  /* of IterationRecord */
    GArray *collectives; /* of CollectiveRecord */
    GArray *transfers;   /* of TransferRecord; with traffic: of (job, source, destination) summed */
    GArray *usage;       /* of MemoUsage, sorted */
    GArray *losses;      /* of Loss */
    GArray *jobs;        /* of MemoJob */
    SimulationResult result;
} MemoLog;

/* Runs it; traffic: transfers may be told summed. A run that fails fails the test, whose name for it is `what`. */
void memo_log_run(MemoLog *log, const SimulationSetup *setup, gboolean memo, gboolean traffic, const char *what);
/* Every row equal, to the bit; and the totals. */
void memo_log_check_equal(const MemoLog *with, const MemoLog *without, const char *what);
void memo_log_clear(MemoLog *log);
