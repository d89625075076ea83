#include "cluster/check.h"

#include "base/error.h"

void
job_roofline(const JobSetup *job, const Fabric *fabric, uint32_t rank, double *peak_FLOPps, double *bandwidth_Bps)
{
    const Node *node = fabric_node(fabric, job->nodes[rank]);
    *peak_FLOPps = job->peak_FLOPps > 0 ? job->peak_FLOPps : node->peak_FLOPps;
    *bandwidth_Bps = job->memory_bandwidth_Bps > 0 ? job->memory_bandwidth_Bps : node->memory_bandwidth_Bps;
}

/* What a timed op lacks on this GPU, or NULL. */
static const char *
missing_figure(const JobSetup *job, const Fabric *fabric, uint32_t rank, const Op *op)
{
    if (job->nodes == NULL || op->duration_ps >= 0 || (op->kind != OP_COMPUTE && op->kind != OP_COPY))
        return NULL;
    double peak, bandwidth;
    job_roofline(job, fabric, rank, &peak, &bandwidth);
    if (op->kind == OP_COMPUTE && op->flops > 0 && !(peak > 0))
        return "peak";
    double moved = op->kind == OP_COPY ? (double)op->bytes : op->bytes_moved;
    return moved > 0 && !(bandwidth > 0) ? "memory_bandwidth" : NULL;
}

static gboolean
check_op(const JobSetup *job, const Fabric *fabric, const char *model, uint32_t rank, const Op *op, const char *op_name,
         GError **error)
{
    const char *missing = missing_figure(job, fabric, rank, op);
    if (missing != NULL)
        return error_input(error,
                           "job %s: op \"%s\" has no recorded time and its GPU \"%s\" no %s; give it in the job or in "
                           "fabric.generate.server.gpu",
                           job->name, op_name, fabric_node(fabric, job->nodes[rank])->name, missing);
    if ((double)op->bytes * job->scale_bytes > 0x1p60)
        return error_input(error, "job %s: op \"%s\": %" G_GUINT64_FORMAT " B times scale_bytes %g is more than 1 EiB",
                           job->name, op_name, op->bytes, job->scale_bytes);
    gboolean moves = op->kind == OP_COLLECTIVE || (op->kind == OP_SEND && !op->signal);
    if (moves && op->duration_ps < 0 && !network_model_moves_bytes(model))
        return error_input(error, "job %s: %s \"%s\" has no recorded time, which the model %s needs", job->name,
                           op_kind_name(op->kind), op_name, model);
    return TRUE;
}

/* A rank of each program stands for all that run it. */
gboolean
job_check(const JobSetup *job, const JobSetup *jobs, const Fabric *fabric, const char *model, GError **error)
{
    const Workload *workload = job->workload;
    g_autofree gboolean *seen = g_new0(gboolean, workload->programs->len + 1);
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        uint32_t p = workload->program_of_rank[r];
        const Program *program = workload_program(workload, p);
        if (seen[p])
            continue;
        seen[p] = TRUE;
        if (program->ops->len == 0 && job->until != INDEX_NONE)
            return error_input(error, "job %s: rank %u has no ops, so running it until job %s ends would never end",
                               job->name, r, jobs[job->until].name);
        for (uint32_t o = 0; o < program->ops->len; o++)
            if (!check_op(job, fabric, model, r, &g_array_index(program->ops, Op, o), program_op_name(program, o),
                          error))
                return FALSE;
    }
    return TRUE;
}
