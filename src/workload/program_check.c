/* program_check.c - workload_check: each op by itself, ranks and groups; the order of ops */
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

/* Who waits for whom: for each op those after it, as offsets into one array. */
typedef struct {
    uint32_t *first, *next, *waits; /* waits: how many it still waits for */
    uint32_t n;
} Waiting;

static void
waiting_clear(Waiting *waiting)
{
    g_free(waiting->first);
    g_free(waiting->next);
    g_free(waiting->waits);
}

/* The op before each on its stream, INDEX_NONE where it is the first or the program is a DAG. */
static uint32_t *
stream_before(const Program *program)
{
    uint32_t n = program->ops->len;
    uint32_t *before = g_new(uint32_t, n + 1);
    g_autofree uint32_t *last = g_new(uint32_t, program->streams->len + 1);
    memset(before, 0xff, sizeof(uint32_t) * (n + 1));
    memset(last, 0xff, sizeof(uint32_t) * (program->streams->len + 1));
    if (program->dag)
        return before;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t stream = g_array_index(program->ops, Op, i).stream;
        before[i] = last[stream];
        last[stream] = i;
    }
    return before;
}

static Waiting
waiting_of(const Program *program, const uint32_t *before)
{
    uint32_t n = program->ops->len;
    const uint32_t *deps = (const uint32_t *)(const void *)program->deps->data;
    Waiting w = {.first = g_new0(uint32_t, n + 2), .waits = g_new0(uint32_t, n + 1), .n = n};
    for (uint32_t i = 0; i < n; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        w.waits[i] = op->n_deps + (before[i] != INDEX_NONE);
        for (uint32_t d = 0; d < op->n_deps; d++)
            w.first[deps[op->first_dep + d] + 2]++;
        if (before[i] != INDEX_NONE)
            w.first[before[i] + 2]++;
    }
    for (uint32_t i = 2; i < n + 2; i++)
        w.first[i] += w.first[i - 1];
    w.next = g_new(uint32_t, w.first[n + 1] + 1);
    for (uint32_t i = 0; i < n; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        for (uint32_t d = 0; d < op->n_deps; d++)
            w.next[w.first[deps[op->first_dep + d] + 1]++] = i;
        if (before[i] != INDEX_NONE)
            w.next[w.first[before[i] + 1]++] = i;
    }
    return w;
}

/* An op that i waits for and that was never reached. */
static uint32_t
blocked_by(const Program *program, const uint32_t *before, const gboolean *reached, uint32_t i)
{
    const Op *op = &g_array_index(program->ops, Op, i);
    for (uint32_t d = 0; d < op->n_deps; d++) {
        uint32_t dep = g_array_index(program->deps, uint32_t, op->first_dep + d);
        if (!reached[dep])
            return dep;
    }
    return before[i];
}

/* Names the ops of a circle: from any op never reached, what it waits for leads into one. */
static gboolean
fail_circle(const Workload *workload, uint32_t index, const uint32_t *before, const gboolean *reached, GError **error)
{
    const Program *program = workload_program(workload, index);
    g_autofree gboolean *seen = g_new0(gboolean, program->ops->len);
    uint32_t at = 0;
    while (reached[at])
        at++;
    while (!seen[at]) {
        seen[at] = TRUE;
        at = blocked_by(program, before, reached, at);
    }

    enum { SHOWN = 8 };
    g_autoptr(GString) text = g_string_new(NULL);
    uint32_t start = at, length = 0;
    do {
        uint32_t next = blocked_by(program, before, reached, at);
        if (length < SHOWN) {
            g_autofree char *a = check_op_label(program, at), *b = check_op_label(program, next);
            g_string_append_printf(text, "%s%s waits for %s", length > 0 ? ", " : "", a, b);
        }
        length++;
        at = next;
    } while (at != start);
    if (length > SHOWN)
        g_string_append_printf(text, ", and so on through %u ops", length);
    g_autofree char *label = check_program_label(workload, index);
    return error_input(error, "%s: ops wait for each other in a circle: %s", label, text->str);
}

static gboolean
check_deps(const Workload *workload, uint32_t index, GError **error)
{
    const Program *program = workload_program(workload, index);
    uint32_t n = program->ops->len;
    for (uint32_t i = 0; i < n; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        for (uint32_t d = 0; d < op->n_deps; d++) {
            uint32_t dep = g_array_index(program->deps, uint32_t, op->first_dep + d);
            if (dep < n)
                continue;
            g_autofree char *label = check_program_label(workload, index), *name = check_op_label(program, i);
            return error_input(error, "%s: %s waits for op %u, but there are only %u ops", label, name, dep, n);
        }
    }
    return TRUE;
}

gboolean
check_order(const Workload *workload, uint32_t index, GError **error)
{
    if (!check_deps(workload, index, error))
        return FALSE;

    const Program *program = workload_program(workload, index);
    uint32_t n = program->ops->len, n_reached = 0, n_queued = 0;
    g_autofree uint32_t *before = stream_before(program), *queue = g_new(uint32_t, n + 1);
    g_autofree gboolean *reached = g_new0(gboolean, n + 1);
    Waiting w = waiting_of(program, before);
    for (uint32_t i = 0; i < n; i++) {
        if (w.waits[i] == 0)
            queue[n_queued++] = i;
    }
    while (n_reached < n_queued) {
        uint32_t i = queue[n_reached++];
        reached[i] = TRUE;
        for (uint32_t k = w.first[i]; k < w.first[i + 1]; k++) {
            if (--w.waits[w.next[k]] == 0)
                queue[n_queued++] = w.next[k];
        }
    }
    waiting_clear(&w);
    return n_reached == n || fail_circle(workload, index, before, reached, error);
}

/* What is wrong with an op by itself, or NULL. */
static const char *
op_fault(const Workload *workload, const Program *program, const Op *op)
{
    gboolean talks = op->kind == OP_SEND || op->kind == OP_RECV;
    if (op->stream == INDEX_NONE ? !program->dag : op->stream >= program->streams->len)
        return "stands on no stream of its program";
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
workload_check(Workload *workload, GError **error)
{
    if (!check_ranks(workload, error))
        return FALSE;
    for (uint32_t i = 0; i < workload->programs->len; i++) {
        if (!check_ops(workload, i, error) || !check_order(workload, i, error))
            return FALSE;
    }
    return check_collectives(workload, error) && check_messages(workload, error);
}
