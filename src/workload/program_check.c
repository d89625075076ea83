/* program_check.c - workload_check: each op by itself, ranks and groups */
#include "workload/program_check.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

char *
check_op_label(const Program *program, uint32_t op)
{
    return g_strdup_printf("op %u \"%s\"", op, program_op_name(program, op));
}

char *
check_program_label(const Workload *workload, uint32_t program)
{
    const Program *p = workload_program(workload, program);
    if (p->name != NULL)
        return g_strdup_printf("program \"%s\"", p->name);
    return g_strdup_printf("program %u", program);
}

/* What is wrong with an op by itself, or NULL. */
static const char *
op_fault(const Workload *workload, const Program *program, const Op *op)
{
    gboolean talks = op->kind == OP_SEND || op->kind == OP_RECV;
    if (op->stream == INDEX_NONE ? !program->dag : op->stream >= program->streams->len)
        return "stands on no stream of its program";
    if (op->n_begun > (program->dag ? op->n_deps : 0))
        return program->dag ? "waits for more ops to have begun than it names"
                            : "waits for others to have begun, which only ops of the DAG form do";
    if (op->cpu != CPU_NONE && op->cpu > UINT8_MAX)
        return "has a CPU above 255";
    if (op->tag == TAG_ANY && op->kind != OP_RECV)
        return "sends with any tag";
    if (op->duration_ps < -1)
        return "has a negative time";
    if (!isfinite(op->flops) || op->flops < 0 || !isfinite(op->bytes_moved) || op->bytes_moved < 0)
        return "has operations or bytes moved that are negative or not finite";
    if (op->kind == OP_COLLECTIVE && op->collective >= COLLECTIVE_KINDS)
        return "is a collective of no known kind";
    if (op->kind == OP_COLLECTIVE || (talks && op->peer_form == PEER_OFFSET)) {
        if (op->group >= workload->groups->len)
            return "names no group";
    }
    if (op->kind == OP_SEND && op->peer_form == PEER_ANY)
        return "sends to no one";
    if (talks && op->peer_form == PEER_RANK && (op->peer < 0 || (uint32_t)op->peer >= workload->n_ranks))
        return op->kind == OP_SEND ? "sends to a rank that does not exist" : "receives from a rank that does not exist";
    return NULL;
}

static gboolean
check_ops(const Workload *workload, uint32_t index, GError **error)
{
    const Program *program = workload_program(workload, index);
    for (uint32_t i = 0; i < program->ops->len; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        const char *fault = op_fault(workload, program, op);
        if (fault == NULL)
            continue;
        g_autofree char *label = check_program_label(workload, index), *name = check_op_label(program, i);
        if ((op->kind == OP_SEND || op->kind == OP_RECV) && strstr(fault, "does not exist"))
            return error_input(error, "%s: %s %s: %d of ranks 0 to %u", label, name, fault, op->peer,
                               workload->n_ranks - 1);
        return error_input(error, "%s: %s %s", label, name, fault);
    }
    return TRUE;
}

/* A rank stands at most once in a group, and the two directions of the table agree. */
static gboolean
check_group(const Workload *workload, const Group *group, GError **error)
{
    for (uint32_t i = 0; i < group->instances->len; i++) {
        const GArray *members = g_ptr_array_index(group->instances, i);
        for (uint32_t m = 0; m < members->len; m++) {
            uint32_t rank = g_array_index(members, uint32_t, m);
            if (rank >= workload->n_ranks)
                return error_input(error, "group \"%s\" names rank %u; there are ranks 0 to %u", group->name, rank,
                                   workload->n_ranks - 1);
            if (g_array_index(group->instance_of_rank, uint32_t, rank) != i ||
                g_array_index(group->member_of_rank, uint32_t, rank) != m)
                return error_input(error, "group \"%s\" names rank %u twice", group->name, rank);
        }
    }
    return TRUE;
}

static gboolean
check_ranks(const Workload *workload, GError **error)
{
    if (workload->n_ranks == 0)
        return error_input(error, "there are no ranks; at least one is needed");
    for (uint32_t rank = 0; rank < workload->n_ranks; rank++) {
        if (workload->program_of_rank[rank] >= workload->programs->len)
            return error_input(error, "rank %u has no program", rank);
        if (workload->start_ps != NULL && workload->start_ps[rank] < 0)
            return error_input(error, "rank %u starts before time 0", rank);
    }
    for (uint32_t i = 0; i < workload->groups->len; i++) {
        if (!check_group(workload, g_ptr_array_index(workload->groups, i), error))
            return FALSE;
    }
    return TRUE;
}

gboolean
problems_add(Problems *problems, GError *wrong)
{
    if (problems->all == NULL) {
        g_propagate_error(problems->error, wrong);
        return FALSE;
    }
    g_ptr_array_add(problems->all, g_strdup(wrong->message));
    g_error_free(wrong);
    if (problems->all->len < CHECK_PROBLEMS_MOST)
        return TRUE;
    g_ptr_array_add(problems->all,
                    g_strdup_printf("these are %d problems: no more are looked for", CHECK_PROBLEMS_MOST));
    return FALSE;
}

/* FALSE where no more is to be looked for. */
static gboolean
check_everything(Workload *workload, Problems *problems)
{
    GError *wrong = NULL;
    if (!check_ranks(workload, &wrong)) {
        problems_add(problems, wrong);
        return FALSE; /* what follows relies on it */
    }
    gboolean sound = TRUE;
    for (uint32_t i = 0; i < workload->programs->len; i++) {
        if (check_ops(workload, i, &wrong) && check_order(workload, i, &wrong))
            continue;
        sound = FALSE;
        if (!problems_add(problems, g_steal_pointer(&wrong)))
            return FALSE;
    }
    return sound && check_collectives(workload, problems) && check_messages(workload, problems);
}

gboolean
workload_check(Workload *workload, GError **error)
{
    Problems problems = {.error = error};
    return check_everything(workload, &problems);
}

void
workload_check_all(Workload *workload, GPtrArray *all)
{
    Problems problems = {.all = all};
    check_everything(workload, &problems);
}
