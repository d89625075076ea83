/* program_order.c - the order of ops in a program: no circle of waiting, or one less */
#include "workload/program_check.h"

#include "base/error.h"

#include <string.h>

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

/* Where the order of ops has got to. */
typedef struct {
    Waiting waiting;
    uint32_t *queue, n_left, n_queued; /* n_left: those whose followers were told */
    gboolean *reached;                 /* stands in the queue */
} Walk;

static void
reach(Walk *walk, uint32_t op)
{
    walk->reached[op] = TRUE;
    walk->queue[walk->n_queued++] = op;
}

static Walk
walk_new(const Program *program, const uint32_t *before)
{
    uint32_t n = program->ops->len;
    Walk walk = {
        .waiting = waiting_of(program, before), .queue = g_new(uint32_t, n + 1), .reached = g_new0(gboolean, n + 1)};
    for (uint32_t i = 0; i < n; i++) {
        if (walk.waiting.waits[i] == 0)
            reach(&walk, i);
    }
    return walk;
}

static void
walk_clear(Walk *walk)
{
    waiting_clear(&walk->waiting);
    g_free(walk->queue);
    g_free(walk->reached);
}

/* Goes on until nothing more can start. */
static void
walk_on(Walk *walk)
{
    Waiting *w = &walk->waiting;
    while (walk->n_left < walk->n_queued) {
        uint32_t i = walk->queue[walk->n_left++];
        for (uint32_t k = w->first[i]; k < w->first[i + 1]; k++) {
            if (--w->waits[w->next[k]] == 0 && !walk->reached[w->next[k]])
                reach(walk, w->next[k]);
        }
    }
}

gboolean
check_order(const Workload *workload, uint32_t index, GError **error)
{
    if (!check_deps(workload, index, error))
        return FALSE;
    const Program *program = workload_program(workload, index);
    g_autofree uint32_t *before = stream_before(program);
    Walk walk = walk_new(program, before);
    walk_on(&walk);
    gboolean ok = walk.n_queued == program->ops->len || fail_circle(workload, index, before, walk.reached, error);
    walk_clear(&walk);
    return ok;
}

/* Takes the deps marked INDEX_NONE out. */
static void
drop_marked(Program *program)
{
    uint32_t kept = 0;
    uint32_t *deps = (uint32_t *)(void *)program->deps->data;
    for (uint32_t i = 0; i < program->ops->len; i++) {
        Op *op = &g_array_index(program->ops, Op, i);
        uint32_t first = kept, begun = 0;
        for (uint32_t d = 0; d < op->n_deps; d++) {
            if (deps[op->first_dep + d] == INDEX_NONE)
                continue;
            deps[kept++] = deps[op->first_dep + d];
            begun += d >= op->n_deps - op->n_begun;
        }
        op->n_begun = begun;
        op->first_dep = first;
        op->n_deps = kept - first;
    }
    g_array_set_size(program->deps, kept);
}

uint32_t
program_break_circles(Program *program)
{
    uint32_t dropped = 0, at = 0, n = program->ops->len;
    g_autofree uint32_t *before = stream_before(program);
    Walk walk = walk_new(program, before);
    uint32_t *deps = (uint32_t *)(void *)program->deps->data;
    for (walk_on(&walk); walk.n_queued < n; walk_on(&walk)) {
        while (walk.reached[at]) /* the lowest that is left: the one before it on its stream is reached */
            at++;
        const Op *op = &g_array_index(program->ops, Op, at);
        for (uint32_t d = op->first_dep; d < op->first_dep + op->n_deps; d++) {
            if (walk.reached[deps[d]])
                continue;
            deps[d] = INDEX_NONE;
            dropped++;
        }
        reach(&walk, at);
    }
    walk_clear(&walk);
    drop_marked(program);
    return dropped;
}
