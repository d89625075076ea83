#include "cluster/script.h"

#include "base/random.h"

#include <assert.h>
#include <string.h>

struct Script {
    const Program *program;
    const Op *ops;
    const uint32_t *deps;
    uint32_t n_ops, n_streams;
    uint32_t *stream_first; /* ops of stream s: stream_ops[stream_first[s] .. stream_first[s + 1]) */
    uint32_t *stream_ops;
    uint32_t *position; /* of an op in its stream */
    guint8 *clocks;     /* an op: it has one; NULL where none has */
    /* DAG, [begun]: who waits for the end, or the beginning, of op o: waiters[first_waiter[o] .. first_waiter[o + 1])
     */
    uint32_t *first_waiter[2], *waiters[2];
    GHashTable *collectives; /* group << 32 | seq, as int64 *, to op + 1 */
};

const Op *
script_op(const Script *script, uint32_t op)
{
    return &script->ops[op];
}

const char *
script_op_name(const Script *script, uint32_t op)
{
    return program_op_name(script->program, op);
}

const char *
script_stream_name(const Script *script, uint32_t op)
{
    uint32_t stream = script->ops[op].stream;
    return stream == INDEX_NONE ? "" : g_ptr_array_index(script->program->streams, stream);
}

uint32_t
script_n_ops(const Script *script)
{
    return script->n_ops;
}

uint32_t
script_collective(const Script *script, uint32_t group, uint32_t seq)
{
    gint64 key = (gint64)group << 32 | seq;
    return GPOINTER_TO_UINT(g_hash_table_lookup(script->collectives, &key)) - 1;
}

/* The ops of each stream in program order. */
static void
index_streams(Script *script)
{
    script->stream_first = g_new0(uint32_t, script->n_streams + 1);
    script->stream_ops = g_new(uint32_t, script->n_ops);
    script->position = g_new0(uint32_t, script->n_ops);
    for (uint32_t o = 0; o < script->n_ops; o++)
        if (script->ops[o].stream != INDEX_NONE)
            script->stream_first[script->ops[o].stream + 1]++;
    for (uint32_t s = 0; s < script->n_streams; s++)
        script->stream_first[s + 1] += script->stream_first[s];
    g_autofree uint32_t *next = g_memdup2(script->stream_first, (script->n_streams + 1) * sizeof(uint32_t));
    for (uint32_t o = 0; o < script->n_ops; o++) {
        uint32_t s = script->ops[o].stream;
        if (s == INDEX_NONE)
            continue;
        script->position[o] = next[s] - script->stream_first[s];
        script->stream_ops[next[s]++] = o;
    }
}

/* The deps of one sort of an op: *first to the end returned, in deps. */
static uint32_t
dep_range(const Op *op, gboolean begun, uint32_t *first)
{
    uint32_t ended = op->first_dep + op->n_deps - op->n_begun;
    *first = begun ? ended : op->first_dep;
    return begun ? op->first_dep + op->n_deps : ended;
}

static void
index_waiters(Script *script, gboolean begun)
{
    uint32_t *first_waiter = script->first_waiter[begun] = g_new0(uint32_t, script->n_ops + 1), d;
    for (uint32_t o = 0; o < script->n_ops; o++)
        for (uint32_t end = dep_range(&script->ops[o], begun, &d); d < end; d++)
            first_waiter[script->deps[d] + 1]++;
    for (uint32_t o = 0; o < script->n_ops; o++)
        first_waiter[o + 1] += first_waiter[o];
    script->waiters[begun] = g_new(uint32_t, first_waiter[script->n_ops]);
    g_autofree uint32_t *next = g_memdup2(first_waiter, (script->n_ops + 1) * sizeof(uint32_t));
    for (uint32_t o = 0; o < script->n_ops; o++)
        for (uint32_t end = dep_range(&script->ops[o], begun, &d); d < end; d++)
            script->waiters[begun][next[script->deps[d]]++] = o;
}

gboolean
script_has_clock(const Script *script, uint32_t index)
{
    return script->clocks != NULL && script->clocks[index];
}

static void
index_clocks(Script *script)
{
    script->clocks = g_new0(guint8, script->n_ops + 1);
    for (uint32_t o = 0; o < script->n_ops; o++) {
        const Op *op = &script->ops[o];
        gboolean talks = (op->kind == OP_SEND || op->kind == OP_RECV) && !op->signal;
        script->clocks[o] = talks || (op->kind == OP_COMPUTE && op->cpu != CPU_NONE);
    }
}

const uint32_t *
script_deps(const Script *script, uint32_t op)
{
    return &script->deps[script->ops[op].first_dep];
}

Script *
script_new(const Program *program, gboolean clocks)
{
    Script *script = g_new0(Script, 1);
    script->program = program;
    script->ops = (const Op *)program->ops->data;
    script->deps = (const uint32_t *)program->deps->data;
    script->n_ops = program->ops->len;
    script->n_streams = program->streams->len;
    index_streams(script);
    for (int begun = 0; begun < 2 && program->dag; begun++)
        index_waiters(script, begun);
    if (clocks && program->dag)
        index_clocks(script);
    script->collectives = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (uint32_t o = 0; o < script->n_ops; o++) {
        const Op *op = &script->ops[o];
        assert(program->dag || op->stream != INDEX_NONE);
        if (op->kind != OP_COLLECTIVE)
            continue;
        gint64 *key = g_new(gint64, 1);
        *key = (gint64)op->group << 32 | op->seq;
        g_hash_table_insert(script->collectives, key, GUINT_TO_POINTER(o + 1));
    }
    return script;
}

void
script_free(Script *script)
{
    if (script == NULL)
        return;
    g_free(script->stream_first);
    g_free(script->stream_ops);
    g_free(script->position);
    g_free(script->clocks);
    for (int begun = 0; begun < 2; begun++) {
        g_free(script->first_waiter[begun]);
        g_free(script->waiters[begun]);
    }
    g_hash_table_unref(script->collectives);
    g_free(script);
}

/* A heap of ready ops, least first. */
typedef struct {
    uint32_t *ops;
    uint32_t len, cap;
} Ready;

static void
ready_push(Ready *ready, uint32_t op)
{
    if (ready->len == ready->cap) {
        ready->cap = ready->cap ? 2 * ready->cap : 4;
        ready->ops = g_renew(uint32_t, ready->ops, ready->cap);
    }
    uint32_t i = ready->len++;
    for (; i > 0 && ready->ops[(i - 1) / 2] > op; i = (i - 1) / 2)
        ready->ops[i] = ready->ops[(i - 1) / 2];
    ready->ops[i] = op;
}

static uint32_t
ready_pop(Ready *ready)
{
    uint32_t least = ready->ops[0], last = ready->ops[--ready->len], i = 0;
    while (2 * i + 1 < ready->len) {
        uint32_t child = 2 * i + 1;
        if (child + 1 < ready->len && ready->ops[child + 1] < ready->ops[child])
            child++;
        if (ready->ops[child] >= last)
            break;
        ready->ops[i] = ready->ops[child];
        i = child;
    }
    ready->ops[i] = last;
    return least;
}

struct Progress {
    const Script *script;
    uint32_t n_ended;
    uint32_t *cursor;  /* stream form: ops of the stream that have ended */
    gboolean *busy;    /* the stream's next op runs; DAG: an op of an exclusive stream runs */
    uint32_t *missing; /* DAG: deps of an op that have not ended, or not begun where that is enough */
    Ready *ready;      /* DAG: a stream, and one more for ops that occupy nothing */
};

Progress *
progress_new(const Script *script)
{
    Progress *progress = g_new0(Progress, 1);
    progress->script = script;
    progress->busy = g_new0(gboolean, script->n_streams + 1);
    if (script->program->dag) {
        progress->missing = g_new(uint32_t, script->n_ops + 1);
        progress->ready = g_new0(Ready, script->n_streams + 1);
    } else {
        progress->cursor = g_new0(uint32_t, script->n_streams + 1); /* never NULL */
    }
    progress_begin(progress);
    return progress;
}

void
progress_free(Progress *progress)
{
    if (progress == NULL)
        return;
    for (uint32_t s = 0; progress->ready != NULL && s <= progress->script->n_streams; s++)
        g_free(progress->ready[s].ops);
    g_free(progress->ready);
    g_free(progress->missing);
    g_free(progress->cursor);
    g_free(progress->busy);
    g_free(progress);
}

/* The ready heap an op waits in: its stream's where that is exclusive, else the common one. */
static uint32_t
lane(const Script *script, uint32_t op)
{
    uint32_t stream = script->ops[op].stream;
    gboolean exclusive = stream != INDEX_NONE && g_array_index(script->program->exclusive, gboolean, stream);
    return exclusive && !script_has_clock(script, op) ? stream : script->n_streams;
}

void
progress_begin(Progress *progress)
{
    const Script *script = progress->script;
    progress->n_ended = 0;
    memset(progress->busy, 0, (script->n_streams + 1) * sizeof *progress->busy);
    if (progress->cursor != NULL) {
        memset(progress->cursor, 0, script->n_streams * sizeof *progress->cursor);
        return;
    }
    for (uint32_t s = 0; s <= script->n_streams; s++)
        progress->ready[s].len = 0;
    for (uint32_t o = 0; o < script->n_ops; o++) {
        progress->missing[o] = script->ops[o].n_deps;
        if (progress->missing[o] == 0)
            ready_push(&progress->ready[lane(script, o)], o);
    }
}

static gboolean
has_ended(const Progress *progress, uint32_t op)
{
    return progress->script->position[op] < progress->cursor[progress->script->ops[op].stream];
}

static uint32_t
next_of_streams(Progress *progress)
{
    const Script *script = progress->script;
    for (uint32_t s = 0; s < script->n_streams; s++) {
        uint32_t at = script->stream_first[s] + progress->cursor[s];
        if (progress->busy[s] || at == script->stream_first[s + 1])
            continue;
        const Op *op = &script->ops[script->stream_ops[at]];
        uint32_t d = 0;
        while (d < op->n_deps && has_ended(progress, script->deps[op->first_dep + d]))
            d++;
        if (d < op->n_deps)
            continue;
        progress->busy[s] = TRUE;
        return script->stream_ops[at];
    }
    return INDEX_NONE;
}

static void
free_waiters(Progress *progress, uint32_t op, gboolean begun)
{
    const Script *script = progress->script;
    const uint32_t *first = script->first_waiter[begun];
    for (uint32_t w = first[op]; w < first[op + 1]; w++) {
        uint32_t waiter = script->waiters[begun][w];
        assert(progress->missing[waiter] > 0);
        if (--progress->missing[waiter] == 0)
            ready_push(&progress->ready[lane(script, waiter)], waiter);
    }
}

void
progress_begun(Progress *progress, uint32_t op)
{
    free_waiters(progress, op, TRUE);
}

void
progress_let_go(Progress *progress, uint32_t op)
{
    free_waiters(progress, op, FALSE);
}

uint32_t
progress_next(Progress *progress)
{
    if (progress->cursor != NULL)
        return next_of_streams(progress);
    uint32_t n_lanes = progress->script->n_streams + 1, best = n_lanes;
    for (uint32_t s = 0; s < n_lanes; s++)
        if (!progress->busy[s] && progress->ready[s].len > 0 &&
            (best == n_lanes || progress->ready[s].ops[0] < progress->ready[best].ops[0]))
            best = s;
    if (best == n_lanes)
        return INDEX_NONE;
    progress->busy[best] = best < n_lanes - 1;
    uint32_t op = ready_pop(&progress->ready[best]);
    if (!script_has_clock(progress->script, op))
        progress_begun(progress, op);
    return op;
}

void
progress_end(Progress *progress, uint32_t op)
{
    const Script *script = progress->script;
    progress->n_ended++;
    if (progress->cursor != NULL) {
        uint32_t s = script->ops[op].stream;
        assert(progress->busy[s] && script->position[op] == progress->cursor[s]);
        progress->busy[s] = FALSE;
        progress->cursor[s]++;
        return;
    }
    progress->busy[lane(script, op)] = FALSE;
    if (!script_has_clock(script, op))
        progress_let_go(progress, op);
}

gboolean
progress_done(const Progress *progress)
{
    return progress->n_ended == progress->script->n_ops;
}

void
progress_fingerprint(const Progress *progress, Fingerprint *print)
{
    const Script *script = progress->script;
    fingerprint_add(print, progress->n_ended);
    for (uint32_t s = 0; s <= script->n_streams; s++) {
        uint64_t waiting = 0; /* in no order: the least goes first */
        for (uint32_t i = 0; progress->ready != NULL && i < progress->ready[s].len; i++)
            waiting += hash_mix(progress->ready[s].ops[i] + UINT64_C(1));
        fingerprint_add(print, waiting + (progress->busy[s] ? 1 : 0));
    }
    for (uint32_t s = 0; progress->cursor != NULL && s < script->n_streams; s++)
        fingerprint_add(print, progress->cursor[s]);
    for (uint32_t o = 0; progress->missing != NULL && o < script->n_ops; o++)
        fingerprint_add(print, progress->missing[o]);
}
