/* check.h - can a job run as it is? Asked before anything is simulated, so that a refusal leaves nothing behind */
#pragma once

#include "cluster/simulation.h"

/* Peak and memory bandwidth of the GPU a rank runs on: the job's own figures before the node's; 0 = not known. */
void job_roofline(const JobSetup *job, const Fabric *fabric, uint32_t rank, double *peak_FLOPps, double *bandwidth_Bps);

/* Has each compute op a time or figures, does a model that moves no bytes find recorded times, do scaled bytes fit, has
 * a job that runs until another ends an op at all? jobs: all of them. What depends on its GPUs is looked at only where
 * it has its nodes. Else an INPUT error naming job, op and what is missing. */
gboolean job_check(const JobSetup *job, const JobSetup *jobs, const Fabric *fabric, const char *model, GError **error);
