/* goal_binary.c - GOAL as txt2bin packs it: every field read byte-wise, little-endian, every count checked
 *
 * A magic number, then offsets from byte 8 on: ranks, the sections of each, its roots, its nodes of 39 bytes, and an
 * appendix of who waits for whom. Edges stand with the one that is waited for. */
#include "workload/goal.h"

#include "base/error.h"
#include "base/problems.h"

#include <string.h>

enum { MAGIC = 4223, SPENT = 2342, BASE = 8, HEAD = 6, NODE = 39 };

typedef struct {
    const char *path;
    const unsigned char *data; /* from BASE on */
    uint64_t length;
    GPtrArray *problems; /* NULL: the first stops */
    gboolean flawed;
    GError **error; /* the first */
} Reader;

static uint64_t
number(const unsigned char *at, unsigned n)
{
    uint64_t value = 0;
    while (n-- > 0)
        value = value << 8 | at[n];
    return value;
}

gboolean
goal_is_binary(const char *head, size_t length)
{
    uint64_t magic = length >= 8 ? number((const unsigned char *)head, 8) : 0;
    return magic == MAGIC || magic == SPENT;
}

/* FALSE where the search stops. */
static gboolean G_GNUC_PRINTF(3, 4) fail(Reader *reader, uint64_t at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    GError *wrong = NULL;
    error_input(&wrong, "%s: byte %" G_GUINT64_FORMAT ": %s", reader->path, at + BASE, message);
    reader->flawed = TRUE;
    return problems_go_on(reader->problems, wrong, reader->error);
}

static gboolean
read_node(Reader *reader, uint64_t at, uint32_t n_ranks, GArray *ops)
{
    const unsigned char *node = reader->data + at;
    uint64_t kind = node[4], peer = number(node + 5, 4), tag = number(node + 17, 4);
    GoalOp op = {.kind = (GoalKind)kind, .cpu = node[21], .nic = node[22], .size = number(node + 9, 8)};
    g_array_append_val(ops, op);
    GoalOp *row = &g_array_index(ops, GoalOp, ops->len - 1);
    if (kind < GOAL_SEND || kind > GOAL_CALC)
        return fail(reader, at + 4, "type %u; 1 (send), 2 (recv) or 3 (calc) expected", (unsigned)kind);
    if (op.size > (kind == GOAL_CALC ? (uint64_t)INT64_MAX / 1000 : (UINT64_C(1) << 55) - 1))
        return fail(reader, at + 9, "size %" G_GUINT64_FORMAT " is too large", op.size);
    if (kind != GOAL_CALC) {
        row->tag = tag == UINT32_MAX ? GOAL_ANY : tag;
        row->peer = kind == GOAL_RECV && peer == UINT32_MAX ? GOAL_ANY : peer;
        if (row->peer != GOAL_ANY && peer >= n_ranks)
            return fail(reader, at + 5, "rank %" G_GUINT64_FORMAT "; below %u expected", peer, n_ranks);
    }
    return TRUE;
}

/* The n entries of the appendix from first on are ops that wait for this one. */
static gboolean
read_edges(Reader *reader, uint64_t field, const uint64_t appendix[2], uint32_t op, gboolean begun, GArray *edges,
           uint32_t n_ops)
{
    uint64_t n = number(reader->data + field, 4), first = number(reader->data + field + 4, 4);
    if (n > 0 && (first > appendix[1] || n > appendix[1] - first))
        return fail(reader, field,
                    "%" G_GUINT64_FORMAT " entries from %" G_GUINT64_FORMAT
                    " on, but the appendix has %" G_GUINT64_FORMAT,
                    n, first, appendix[1]);
    for (uint64_t i = first; i < first + n && n > 0; i++) {
        uint64_t waiter = number(reader->data + appendix[0] + 4 * i, 4);
        if (waiter >= n_ops) {
            if (!fail(reader, appendix[0] + 4 * i, "operation %" G_GUINT64_FORMAT "; below %u expected", waiter, n_ops))
                return FALSE;
            continue;
        }
        GoalEdge edge = {(uint32_t)waiter, op, begun};
        g_array_append_val(edges, edge);
    }
    return TRUE;
}

/* As many edges as each node says, and roots exactly the nodes without. */
static gboolean
check_counts(Reader *reader, uint64_t nodes, uint32_t n_ops, uint64_t n_roots, const GArray *edges)
{
    g_autofree uint32_t *counted = g_new0(uint32_t, (gsize)n_ops + 1);
    for (uint32_t i = 0; i < edges->len; i++)
        counted[g_array_index(edges, GoalEdge, i).op]++;
    uint64_t roots = 0;
    for (uint32_t o = 0; o < n_ops; o++) {
        uint64_t said = number(reader->data + nodes + (uint64_t)NODE * o, 4);
        if (said != counted[o] && !fail(reader, nodes + (uint64_t)NODE * o,
                                        "%" G_GUINT64_FORMAT " prerequisites are said, %u found", said, counted[o]))
            return FALSE;
        roots += said == 0 ? 1 : 0;
    }
    if (roots != n_roots)
        return fail(reader, nodes, "%" G_GUINT64_FORMAT " roots are listed, %" G_GUINT64_FORMAT " found", n_roots,
                    roots);
    return TRUE;
}

static gboolean
read_rank(Reader *reader, GoalSchedule *schedule, uint32_t rank, uint64_t start, uint64_t end)
{
    if (start > end || end > reader->length || end - start < 8)
        return fail(reader, BASE - 2 + UINT64_C(16) * rank,
                    "the section of rank %u is %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
                    "; at least 8 bytes within %" G_GUINT64_FORMAT " expected",
                    rank, start, end, reader->length);
    uint64_t n_ops = number(reader->data + start, 4), n_roots = number(reader->data + start + 4, 4);
    uint64_t nodes = start + 8 + 4 * n_roots, after = nodes + NODE * n_ops;
    if (after > end)
        return fail(reader, start,
                    "%" G_GUINT64_FORMAT " operations and %" G_GUINT64_FORMAT
                    " roots do not fit into the section of rank %u",
                    n_ops, n_roots, rank);
    uint64_t appendix[2] = {after, (end - after) / 4};
    GArray *ops = schedule->ops[rank], *edges = schedule->edges[rank];
    gboolean before = reader->flawed;
    reader->flawed = FALSE;
    for (uint32_t o = 0; o < n_ops; o++) {
        uint64_t at = nodes + (uint64_t)NODE * o;
        if (!read_node(reader, at, schedule->n_ranks, ops) ||
            !read_edges(reader, at + 23, appendix, o, FALSE, edges, (uint32_t)n_ops) ||
            !read_edges(reader, at + 31, appendix, o, TRUE, edges, (uint32_t)n_ops))
            return FALSE;
        if (edges->len > appendix[1])
            return fail(reader, at, "more edges than the %" G_GUINT64_FORMAT " of the appendix", appendix[1]);
    }
    /* What is wrong with a node shows in the counts, too. */
    gboolean go_on = reader->flawed || check_counts(reader, nodes, (uint32_t)n_ops, n_roots, edges);
    reader->flawed = reader->flawed || before;
    return go_on;
}

GoalSchedule *
goal_parse_binary(const char *path, const char *data, size_t length, GPtrArray *problems, GError **error)
{
    Reader reader = {path, (const unsigned char *)data + BASE, length - BASE, problems, FALSE, error};
    guint at_first = problems_count(problems);
    if (number((const unsigned char *)data, 8) == SPENT) {
        error_input(error, "%s: was used up by a run with --save-mem; pack its text again with txt2bin", path);
        return NULL;
    }
    uint64_t n_ranks = reader.length >= HEAD ? number(reader.data, 4) : 0;
    if (n_ranks == 0 || n_ranks > (reader.length - HEAD) / 16) {
        if (fail(&reader, 0, "%" G_GUINT64_FORMAT " ranks do not fit into %" G_GUINT64_FORMAT " bytes", n_ranks,
                 reader.length))
            problems_none_since(problems, at_first, path, error);
        return NULL;
    }
    g_autoptr(GoalSchedule) schedule = goal_new((uint32_t)n_ranks);
    uint64_t before = HEAD + 16 * n_ranks;
    for (uint32_t r = 0; r < n_ranks; r++) {
        uint64_t start = number(reader.data + HEAD + UINT64_C(16) * r, 8);
        uint64_t end = number(reader.data + HEAD + UINT64_C(16) * r + 8, 8);
        if (start < before && !fail(&reader, HEAD + UINT64_C(16) * r,
                                    "the section of rank %u begins at %" G_GUINT64_FORMAT ", before %" G_GUINT64_FORMAT,
                                    r, start, before))
            return NULL;
        if (start >= before && !read_rank(&reader, schedule, r, start, end))
            return NULL;
        before = end >= start && end <= reader.length ? MAX(before, end) : before;
    }
    if (reader.flawed) {
        problems_none_since(problems, at_first, path, error);
        return NULL;
    }
    return g_steal_pointer(&schedule);
}
