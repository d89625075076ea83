/* chakra_contract.c - ops that take no time go: what waits for them waits for what they waited for */
#include "workload/chakra_maker.h"

typedef struct {
    Program *program;
    GPtrArray *waits;    /* an op's deps as they stand now: GArray of uint32_t; NULL = taken from, and freed */
    uint32_t *followers; /* how many ops wait for it */
    uint32_t *left;      /* of these, those not yet looked at */
    gboolean *gone;
    uint64_t n_deps, most_deps; /* in all: now at most, and before anything went */
} Contraction;

static int
by_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Communication without a time is not free: the network gives it one. */
static gboolean
is_free(const Op *op)
{
    switch (op->kind) {
    case OP_MARKER:
        return TRUE;
    case OP_HOST:
        return op->duration_ps == 0;
    case OP_COMPUTE:
        return op->duration_ps < 0 && op->flops <= 0 && op->bytes_moved <= 0;
    case OP_COPY:
        return op->duration_ps < 0 && op->bytes == 0;
    default:
        return FALSE;
    }
}

static uint32_t
dep_at(const Program *program, const Op *op, uint32_t d)
{
    return g_array_index(program->deps, uint32_t, op->first_dep + d);
}

/* The deps of an op, those of ops that went in the place of these; ascending, each once. */
static GArray *
gather(Contraction *c, const Op *op)
{
    GArray *waits = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t d = 0; d < op->n_deps; d++) {
        uint32_t dep = dep_at(c->program, op, d);
        GArray *its = g_ptr_array_index(c->waits, dep);
        c->left[dep]--;
        if (!c->gone[dep]) {
            g_array_append_val(waits, dep);
            continue;
        }
        g_array_append_vals(waits, its->data, its->len);
        if (c->left[dep] == 0)
            g_clear_pointer(&g_ptr_array_index(c->waits, dep), g_array_unref);
    }
    g_array_sort(waits, by_index);
    uint32_t kept = 0, *all = (uint32_t *)(void *)waits->data;
    for (uint32_t i = 0; i < waits->len; i++) {
        if (kept == 0 || all[kept - 1] != all[i])
            all[kept++] = all[i];
    }
    g_array_set_size(waits, kept);
    return waits;
}

static void
look_at(Contraction *c, uint32_t index)
{
    Op *op = &g_array_index(c->program->ops, Op, index);
    GArray *waits = gather(c, op);
    c->waits->pdata[index] = waits;
    if (!is_free(op))
        return;
    uint64_t before = waits->len, after = c->followers[index];
    if (c->n_deps - before - after + before * after <= c->most_deps) {
        c->gone[index] = TRUE;
        c->n_deps = c->n_deps - before - after + before * after;
        return;
    }
    Op marker = op_default(OP_MARKER);
    marker.name = op->name;
    marker.first_dep = op->first_dep;
    marker.n_deps = op->n_deps;
    *op = marker;
}

/* Every op after those it waits for. */
static void
look_at_all(Contraction *c)
{
    const Program *program = c->program;
    uint32_t n = program->ops->len, n_ready = 0;
    g_autofree uint32_t *first = g_new0(uint32_t, n + 2), *waiting = g_new0(uint32_t, n + 1),
                        *ready = g_new(uint32_t, n + 1), *after = g_new(uint32_t, program->deps->len + 1);
    for (uint32_t i = 0; i < n; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        waiting[i] = op->n_deps;
        for (uint32_t d = 0; d < op->n_deps; d++)
            first[dep_at(program, op, d) + 2]++;
        if (op->n_deps == 0)
            ready[n_ready++] = i;
    }
    for (uint32_t i = 2; i < n + 2; i++) {
        c->followers[i - 2] = c->left[i - 2] = first[i];
        first[i] += first[i - 1];
    }
    for (uint32_t i = 0; i < n; i++) {
        const Op *op = &g_array_index(program->ops, Op, i);
        for (uint32_t d = 0; d < op->n_deps; d++)
            after[first[dep_at(program, op, d) + 1]++] = i;
    }
    for (uint32_t at = 0; at < n_ready; at++) {
        uint32_t op = ready[at];
        look_at(c, op);
        for (uint32_t k = first[op]; k < first[op + 1]; k++) {
            if (--waiting[after[k]] == 0)
                ready[n_ready++] = after[k];
        }
    }
}

/* Moves the ops that stay together, and their deps with them. */
static void
close_up(Contraction *c)
{
    Program *program = c->program;
    uint32_t n = program->ops->len, kept = 0;
    g_autofree uint32_t *place = g_new(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        place[i] = c->gone[i] ? INDEX_NONE : kept++;
    GArray *deps = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < n; i++) {
        if (c->gone[i])
            continue;
        Op op = g_array_index(program->ops, Op, i);
        const GArray *waits = g_ptr_array_index(c->waits, i);
        op.first_dep = deps->len;
        op.n_deps = waits->len;
        for (uint32_t d = 0; d < waits->len; d++)
            g_array_append_val(deps, place[g_array_index(waits, uint32_t, d)]);
        g_array_index(program->ops, Op, place[i]) = op;
    }
    g_array_set_size(program->ops, kept);
    g_array_unref(program->deps);
    program->deps = deps;
}

static void
free_waits(void *waits)
{
    if (waits != NULL)
        g_array_unref(waits);
}

uint32_t
chakra_contract(Program *program)
{
    uint32_t n = program->ops->len, n_gone = 0;
    g_autoptr(GPtrArray) waits = g_ptr_array_new_with_free_func(free_waits);
    g_ptr_array_set_size(waits, (int)n);
    g_autofree uint32_t *followers = g_new0(uint32_t, n + 1), *left = g_new0(uint32_t, n + 1);
    g_autofree gboolean *gone = g_new0(gboolean, n + 1);
    Contraction c = {.program = program, .waits = waits, .followers = followers, .left = left, .gone = gone};
    c.n_deps = c.most_deps = program->deps->len;
    look_at_all(&c);
    for (uint32_t i = 0; i < n; i++)
        n_gone += gone[i];
    if (n_gone == n && n > 0) { /* a program holds something */
        gone[n - 1] = FALSE;
        free_waits(g_ptr_array_index(waits, n - 1));
        waits->pdata[n - 1] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        n_gone--;
    }
    close_up(&c);
    return n_gone;
}
