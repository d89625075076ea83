/* goal_workload.c - a GOAL schedule becomes programs in the DAG form
 *
 * calc is a compute op on the exclusive stream of its CPU, a message an op that occupies nothing; under LogGOPS all
 * three keep their CPU busy instead. "A irequires B" lets A begin when B has. */
#include "workload/goal_program.h"

#include "base/error.h"
#include "base/input.h"
#include "base/problems.h"
#include "workload/trace_format.h"

#include <string.h>

void
goal_maker_begin(GoalMaker *maker, Workload *workload, uint32_t rank)
{
    uint32_t index = workload_add_program(workload, TRUE);
    maker->program = workload_program(workload, index);
    maker->program->name = g_strdup_printf("rank %u", rank);
    workload->program_of_rank[rank] = index;
    memset(maker->stream_of_cpu, 0xff, sizeof maker->stream_of_cpu);
}

Op
goal_op(GoalMaker *maker, const GoalOp *from)
{
    Op op = op_default(from->kind == GOAL_CALC ? OP_COMPUTE : from->kind == GOAL_SEND ? OP_SEND : OP_RECV);
    op.cpu = (uint16_t)from->cpu;
    op.nic = (uint8_t)from->nic;
    if (from->kind == GOAL_CALC) {
        uint32_t *stream = &maker->stream_of_cpu[from->cpu];
        if (*stream == INDEX_NONE) {
            g_autofree char *name = g_strdup_printf("cpu %u", from->cpu);
            *stream = program_add_stream(maker->program, name, TRUE);
        }
        op.stream = *stream;
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

void
goal_maker_end(GoalMaker *maker, const Op *ops, uint32_t n, const GArray *edges)
{
    Waits waits = waits_of(edges, n);
    for (uint32_t o = 0; o < n; o++) {
        Op op = ops[o];
        op.n_begun = waits.n_begun[o];
        program_add_op(maker->program, op, "", waits.deps + waits.first[o], waits.first[o + 1] - waits.first[o]);
    }
    g_free(waits.first);
    g_free(waits.deps);
    g_free(waits.n_begun);
}

static void
make_rank(const GoalSchedule *schedule, Workload *workload, uint32_t rank)
{
    const GArray *from = schedule->ops[rank];
    g_autofree Op *ops = g_new(Op, (gsize)from->len + 1);
    GoalMaker maker;
    goal_maker_begin(&maker, workload, rank);
    for (uint32_t o = 0; o < from->len; o++)
        ops[o] = goal_op(&maker, &g_array_index(from, GoalOp, o));
    goal_maker_end(&maker, ops, from->len, schedule->edges[rank]);
}

Workload *
goal_workload(const GoalSchedule *schedule, const char *path, uint32_t n_nics, GPtrArray *problems, GError **error)
{
    if (schedule->n_ranks > INT32_MAX / n_nics) {
        error_input(error, "%s: %u ranks of %u NICs are too many", path, schedule->n_ranks, n_nics);
        return NULL;
    }
    g_autoptr(Workload) workload = workload_new(schedule->n_ranks * n_nics);
    uint64_t signals = 0;
    for (uint32_t r = 0; r < schedule->n_ranks; r++)
        if (n_nics > 1)
            goal_make_node(schedule, workload, r, n_nics, &signals);
        else
            make_rank(schedule, workload, r);
    workload->description = g_strdup_printf("GOAL, %s", path);
    if (n_nics > 1)
        workload_note(workload,
                      "a rank is a node: its %u NICs are GPUs, NIC k of rank r is rank %u r + k; %" G_GUINT64_FORMAT
                      " dependencies between them became signals",
                      n_nics, n_nics, signals);
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
    if (schedule == NULL)
        return NULL;
    uint32_t n_nics = source->rank_is == RANK_IS_GPU ? 1 : goal_nics(schedule);
    GError *wrong = NULL;
    Workload *workload = goal_workload(schedule, source->files[0], n_nics, source->problems, &wrong);
    if (workload == NULL && n_nics > 1 && source->rank_is == RANK_IS_GUESSED && source->problems == NULL)
        error_input(error,
                    "%s (its ranks were taken for nodes, as a NIC above 0 is named; --rank-is gpu, or rank_is of a "
                    "job, says that they are GPUs)",
                    wrong->message);
    else if (workload == NULL)
        g_propagate_error(error, g_steal_pointer(&wrong));
    g_clear_error(&wrong);
    return workload;
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
