/* goal_workload.c - a GOAL schedule becomes programs in the DAG form
 *
 * calc is a compute op on the exclusive stream of its CPU, a message an op that occupies nothing; under LogGOPS all
 * three keep their CPU busy instead. "A irequires B" lets A begin when B has. */
#include "workload/goal.h"

#include "base/error.h"
#include "base/input.h"
#include "base/problems.h"
#include "workload/trace_format.h"

#include <string.h>

static Op
op_of(const GoalOp *from, Program *program, uint32_t *stream_of_cpu)
{
    Op op = op_default(from->kind == GOAL_CALC ? OP_COMPUTE : from->kind == GOAL_SEND ? OP_SEND : OP_RECV);
    op.cpu = (uint16_t)from->cpu;
    op.nic = (uint8_t)from->nic;
    if (from->kind == GOAL_CALC) {
        if (stream_of_cpu[from->cpu] == INDEX_NONE) {
            g_autofree char *name = g_strdup_printf("cpu %u", from->cpu);
            stream_of_cpu[from->cpu] = program_add_stream(program, name, TRUE);
        }
        op.stream = stream_of_cpu[from->cpu];
        op.duration_ps = (SimTime)from->size * PS_PER_NS;
        return op;
    }
    op.bytes = from->size;
    op.tag = from->tag == GOAL_ANY ? TAG_ANY : from->tag;
    op.peer_form = from->peer == GOAL_ANY ? PEER_ANY : PEER_RANK;
    op.peer = from->peer == GOAL_ANY ? 0 : (int32_t)from->peer;
    return op;
}

/* The edges of a rank by the op that waits, those to an end first: each op's are deps[first[op] .. first[op + 1]). */
typedef struct {
    uint32_t *first, *deps, *n_begun;
} Waits;

static Waits
waits_of(const GArray *edges, uint32_t n)
{
    Waits waits = {g_new0(uint32_t, (gsize)n + 2), g_new(uint32_t, (gsize)edges->len + 1),
                   g_new0(uint32_t, (gsize)n + 1)};
    for (uint32_t e = 0; e < edges->len; e++)
        waits.first[g_array_index(edges, GoalEdge, e).op + 2]++;
    for (uint32_t o = 0; o < n; o++)
        waits.first[o + 2] += waits.first[o + 1];
    for (gboolean begun = FALSE; begun <= TRUE; begun++)
        for (uint32_t e = 0; e < edges->len; e++) {
            const GoalEdge *edge = &g_array_index(edges, GoalEdge, e);
            if (edge->begun != begun)
                continue;
            waits.deps[waits.first[edge->op + 1]++] = edge->before;
            waits.n_begun[edge->op] += begun ? 1 : 0;
        }
    return waits;
}

static void
make_rank(const GoalSchedule *schedule, Workload *workload, uint32_t rank)
{
    const GArray *ops = schedule->ops[rank];
    uint32_t stream_of_cpu[256];
    memset(stream_of_cpu, 0xff, sizeof stream_of_cpu);
    Waits waits = waits_of(schedule->edges[rank], ops->len);
    uint32_t index = workload_add_program(workload, TRUE);
    Program *program = workload_program(workload, index);
    program->name = g_strdup_printf("rank %u", rank);
    workload->program_of_rank[rank] = index;
    for (uint32_t o = 0; o < ops->len; o++) {
        Op op = op_of(&g_array_index(ops, GoalOp, o), program, stream_of_cpu);
        op.n_begun = waits.n_begun[o];
        program_add_op(program, op, "", waits.deps + waits.first[o], waits.first[o + 1] - waits.first[o]);
    }
    g_free(waits.first);
    g_free(waits.deps);
    g_free(waits.n_begun);
}

Workload *
goal_workload(const GoalSchedule *schedule, const char *path, GPtrArray *problems, GError **error)
{
    g_autoptr(Workload) workload = workload_new(schedule->n_ranks);
    for (uint32_t r = 0; r < schedule->n_ranks; r++)
        make_rank(schedule, workload, r);
    workload->description = g_strdup_printf("GOAL, %s", path);
    guint before = problems_count(problems);
    if (problems != NULL) {
        workload_check_all(workload, problems);
        return problems_none_since(problems, before, path, error) ? g_steal_pointer(&workload) : NULL;
    }
    if (!workload_check(workload, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    return g_steal_pointer(&workload);
}

static Workload *
read_goal(const TraceSource *source, GError **error)
{
    if (source->n_files != 1) {
        error_input(error, "%s and %u more: a GOAL schedule is one file for all ranks; give each its own job",
                    source->files[0], source->n_files - 1);
        return NULL;
    }
    g_autoptr(GoalSchedule) schedule = goal_read(source->files[0], source->problems, error);
    return schedule != NULL ? goal_workload(schedule, source->files[0], source->problems, error) : NULL;
}

/* The binary's magic number, or num_ranks as the first word after comments. */
static int
recognise(const char *head, size_t length)
{
    if (goal_is_binary(head, length))
        return 95;
    const char *at = head + input_bom(head, length), *end = head + length;
    while (at < end && (g_ascii_isspace(*at) || *at == '/')) {
        if (g_ascii_isspace(*at)) {
            at++;
            continue;
        }
        gboolean line = end - at > 1 && at[1] == '/';
        const char *close = g_strstr_len(at, end - at, line ? "\n" : "*/");
        if (close == NULL)
            return 0;
        at = close + (line ? 1 : 2);
    }
    return end - at > 10 && memcmp(at, "num_ranks", 9) == 0 && (at[9] == ' ' || at[9] == '\t') ? 95 : 0;
}

const TraceFormat trace_goal = {"goal", "GOAL schedules, text or binary (txt2bin): one file for all ranks", recognise,
                                read_goal};
