/* goal_workload.c - a GOAL schedule becomes programs in the DAG form
 *
 * calc is a compute op on the exclusive stream of its CPU, a message an op that occupies nothing. "A irequires B" lets
 * A begin when B has: A then waits for all that B waits for. Tags above 32 bits are numbered in the order they come. */
#include "workload/goal.h"

#include "base/error.h"
#include "base/input.h"
#include "workload/trace_format.h"

#include <string.h>

typedef struct {
    const GoalSchedule *schedule;
    const char *path;
    GHashTable *tags; /* gint64 * to number; NULL: tags are as they are */
} Maker;

/* Tags as 32 bits: as they are where all fit. FALSE where a receive takes any tag, which a program cannot say. */
static gboolean
look_at_tags(Maker *maker, GError **error)
{
    gboolean large = FALSE;
    for (uint32_t r = 0; r < maker->schedule->n_ranks; r++) {
        const GArray *ops = maker->schedule->ops[r];
        for (uint32_t o = 0; o < ops->len; o++) {
            const GoalOp *op = &g_array_index(ops, GoalOp, o);
            if (op->kind != GOAL_CALC && op->tag == GOAL_ANY)
                return error_input(error, "%s: rank %u, operation %u has any tag (-1), which a program cannot hold",
                                   maker->path, r, o);
            large = large || op->tag > UINT32_MAX;
        }
    }
    if (large)
        maker->tags = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    return TRUE;
}

static uint32_t
tag_number(Maker *maker, uint64_t tag)
{
    if (maker->tags == NULL)
        return (uint32_t)tag;
    void *number;
    if (!g_hash_table_lookup_extended(maker->tags, &tag, NULL, &number)) {
        number = GUINT_TO_POINTER(g_hash_table_size(maker->tags));
        g_hash_table_insert(maker->tags, g_memdup2(&tag, sizeof tag), number);
    }
    return GPOINTER_TO_UINT(number);
}

/* What the ops of a rank wait for, and in which order irequires are settled. */
typedef struct {
    GArray **deps;       /* an op: of uint32_t */
    uint32_t *unsettled; /* an op: of begun */
    GArray **after;      /* an op: which irequire it */
} Waits;

static void
append(GArray **lists, uint32_t at, uint32_t value)
{
    if (lists[at] == NULL)
        lists[at] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_append_val(lists[at], value);
}

static void
lists_free(GArray **lists, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (lists[i] != NULL)
            g_array_unref(lists[i]);
    g_free(lists);
}

/* Gives whoever irequires an op what that op waits for; an op is settled when all that it irequires are. FALSE where
 * some never are: they wait for each other in a circle. */
static gboolean
settle(Waits *waits, uint32_t n)
{
    g_autoptr(GArray) ready = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t o = 0; o < n; o++)
        if (waits->unsettled[o] == 0)
            g_array_append_val(ready, o);
    for (uint32_t i = 0; i < ready->len; i++) {
        uint32_t op = g_array_index(ready, uint32_t, i);
        const GArray *after = waits->after[op], *deps = waits->deps[op];
        for (uint32_t a = 0; after != NULL && a < after->len; a++) {
            uint32_t later = g_array_index(after, uint32_t, a);
            for (uint32_t d = 0; deps != NULL && d < deps->len; d++)
                append(waits->deps, later, g_array_index(deps, uint32_t, d));
            if (--waits->unsettled[later] == 0)
                g_array_append_val(ready, later);
        }
    }
    return ready->len == n;
}

static Op
op_of(Maker *maker, const GoalOp *from, Program *program, uint32_t *stream_of_cpu)
{
    Op op = op_default(from->kind == GOAL_CALC ? OP_COMPUTE : from->kind == GOAL_SEND ? OP_SEND : OP_RECV);
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
    op.tag = tag_number(maker, from->tag);
    op.peer_form = from->peer == GOAL_ANY ? PEER_ANY : PEER_RANK;
    op.peer = from->peer == GOAL_ANY ? 0 : (int32_t)from->peer;
    return op;
}

static gboolean
make_rank(Maker *maker, Workload *workload, uint32_t rank, GError **error)
{
    const GArray *ops = maker->schedule->ops[rank], *edges = maker->schedule->edges[rank];
    uint32_t n = ops->len, stream_of_cpu[256];
    memset(stream_of_cpu, 0xff, sizeof stream_of_cpu);
    Waits waits = {g_new0(GArray *, (gsize)n + 1), g_new0(uint32_t, (gsize)n + 1), g_new0(GArray *, (gsize)n + 1)};
    for (uint32_t i = 0; i < edges->len; i++) {
        const GoalEdge *edge = &g_array_index(edges, GoalEdge, i);
        if (edge->begun) {
            append(waits.after, edge->before, edge->op);
            waits.unsettled[edge->op]++;
        } else {
            append(waits.deps, edge->op, edge->before);
        }
    }
    gboolean settled = settle(&waits, n);
    uint32_t index = workload_add_program(workload, TRUE);
    Program *program = workload_program(workload, index);
    program->name = g_strdup_printf("rank %u", rank);
    workload->program_of_rank[rank] = index;
    for (uint32_t o = 0; settled && o < n; o++) {
        const GArray *deps = waits.deps[o];
        Op op = op_of(maker, &g_array_index(ops, GoalOp, o), program, stream_of_cpu);
        program_add_op(program, op, "", deps != NULL ? (const uint32_t *)deps->data : NULL,
                       deps != NULL ? deps->len : 0);
    }
    lists_free(waits.deps, n);
    lists_free(waits.after, n);
    g_free(waits.unsettled);
    return settled ||
           error_input(error, "%s: rank %u: operations that irequire each other form a circle", maker->path, rank);
}

static gboolean
make(Maker *maker, Workload *workload, GError **error)
{
    if (!look_at_tags(maker, error))
        return FALSE;
    for (uint32_t r = 0; r < maker->schedule->n_ranks; r++)
        if (!make_rank(maker, workload, r, error))
            return FALSE;
    return TRUE;
}

static Workload *
goal_workload(const GoalSchedule *schedule, const char *path, GError **error)
{
    g_autoptr(Workload) workload = workload_new(schedule->n_ranks);
    Maker maker = {.schedule = schedule, .path = path};
    gboolean made = make(&maker, workload, error);
    if (made && maker.tags != NULL)
        workload_note(workload, "%u tags, some above 32 bits, are numbered in the order they come",
                      g_hash_table_size(maker.tags));
    g_clear_pointer(&maker.tags, g_hash_table_unref);
    if (!made)
        return NULL;
    workload->description = g_strdup_printf("GOAL, %s", path);
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
    return schedule != NULL ? goal_workload(schedule, source->files[0], error) : NULL;
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
