/* tree.c - all-reduce over a binary tree a channel, or over two that share the bytes, in chunks of `slice`
 *
 * Positions 0 to n - 1 hang in order: position p with lowest set bit b has children p - b/2 and p + b/2 (nearer where
 * there is none), so that odd ones are leaves; position 0 is the root, over the largest power of two. In the second
 * tree positions are mirrored (n even) or shifted by one (n odd): who is a leaf in one is inner in the other, and each
 * sends and receives S up and S down at most: 2 S / B for many chunks (Sanders, Speck and Traff, Two-Tree Algorithms
 * for Full Bandwidth Broadcast, Reduction and Scan, 2009). Chunks go up, reduced on the way, and each comes down as
 * soon as the root has it. */
#include "base/error.h"
#include "collective/algorithm.h"

enum { MOST_SENDS = 1 << 23 };

typedef struct {
    Schedule *schedule;
    const uint32_t *member; /* by position */
    uint32_t n, channel, levels;
    uint64_t bytes;
    uint32_t *up, *down; /* by position: its last send up, the last send down to it; INDEX_NONE */
} Tree;

static uint32_t
parent_of(uint32_t p, uint32_t n)
{
    uint32_t bit = p & (~p + 1), up = (p ^ bit) | bit << 1;
    return up < n ? up : p ^ bit;
}

static uint32_t
level_of(uint32_t p)
{
    return (uint32_t)__builtin_ctz(p);
}

/* What p waits for before its next chunk goes up: those of its children. */
static void
after_children(Tree *tree, uint32_t node, uint32_t p)
{
    uint32_t half = (p & (~p + 1)) / 2, right = half;
    if (half == 0)
        return;
    schedule_after_delivered(tree->schedule, node, tree->up[p - half]);
    while (right > 0 && p + right >= tree->n)
        right /= 2;
    if (right > 0)
        schedule_after_delivered(tree->schedule, node, tree->up[p + right]);
}

static uint32_t
send_chunk(Tree *tree, uint32_t from, uint32_t to, uint32_t phase, uint64_t bytes, gboolean reduce)
{
    return schedule_send(tree->schedule, (ScheduleNode){.src = tree->member[from],
                                                        .dst = tree->member[to],
                                                        .channel = tree->channel,
                                                        .phase = phase,
                                                        .bytes = bytes,
                                                        .reduce_B = reduce ? bytes : 0});
}

/* Leaves first, the root last; back in the opposite order. */
static void
pass_chunk(Tree *tree, uint32_t chunk, uint64_t bytes)
{
    uint32_t top = UINT32_C(1) << (tree->levels - 1);
    for (uint32_t bit = 1; bit <= top; bit *= 2)
        for (uint32_t p = bit; p < tree->n; p += 2 * bit) {
            uint32_t node = send_chunk(tree, p, parent_of(p, tree->n), level_of(p) + chunk, bytes, TRUE);
            schedule_after_sent(tree->schedule, node, tree->up[p]);
            after_children(tree, node, p);
            tree->up[p] = node;
        }
    for (uint32_t bit = top; bit > 0; bit /= 2)
        for (uint32_t p = bit; p < tree->n; p += 2 * bit) {
            uint32_t from = parent_of(p, tree->n);
            uint32_t node = send_chunk(tree, from, p, 2 * tree->levels - 1 - level_of(p) + chunk, bytes, FALSE);
            schedule_after_sent(tree->schedule, node, tree->down[p]);
            schedule_after_delivered(tree->schedule, node, from == 0 ? tree->up[top] : tree->down[from]);
            tree->down[p] = node;
        }
}

static gboolean
add_tree(const PlanRequest *request, Plan *plan, const uint32_t *member, uint32_t channel, uint64_t bytes,
         GError **error)
{
    uint32_t n = request->spec->n, n_chunks = plan_slices(bytes, request->slice_B);
    if ((uint64_t)n_chunks * 2 * n > MOST_SENDS)
        return error_input(error,
                           "tree: %u chunks of %" G_GUINT64_FORMAT " B for %u ranks are more than %d sends; give "
                           "a larger slice",
                           n_chunks, request->slice_B, n, MOST_SENDS);
    g_autofree uint32_t *rows = g_new(uint32_t, 2 * (size_t)n);
    for (size_t i = 0; i < 2 * (size_t)n; i++)
        rows[i] = INDEX_NONE;
    Tree tree = {plan->schedule, member, n, channel, 32 - (uint32_t)__builtin_clz(n - 1), bytes, rows, rows + n};
    for (uint32_t c = 0; c < n_chunks; c++)
        pass_chunk(&tree, c, plan_chunks(bytes, n_chunks, c, c + 1));
    return TRUE;
}

static gboolean
plan_trees(const PlanRequest *request, Plan *plan, gboolean two, GError **error)
{
    uint32_t n = request->spec->n;
    g_autofree uint32_t *order = g_new(uint32_t, n), *other = g_new(uint32_t, n);
    plan->schedule->channel_nics = TRUE;
    for (uint32_t k = 0; k < request->layout->n_channels; k++) {
        if (!plan_channel_used(request, k))
            continue;
        uint64_t bytes = request->cut[k + 1] - request->cut[k], first = two ? bytes / 2 : bytes;
        layout_order(request->layout, k, order);
        for (uint32_t p = 0; p < n; p++)
            other[p] = n % 2 == 0 ? order[n - 1 - p] : order[(p + 1) % n];
        if (!add_tree(request, plan, order, k, first, error) ||
            (two && !add_tree(request, plan, other, k, bytes - first, error)))
            return FALSE;
    }
    return TRUE;
}

static gboolean
plan_tree(const PlanRequest *request, Plan *plan, GError **error)
{
    return plan_trees(request, plan, FALSE, error);
}

static gboolean
plan_double_tree(const PlanRequest *request, Plan *plan, GError **error)
{
    return plan_trees(request, plan, TRUE, error);
}

const CollectiveAlgorithm algorithm_tree = {
    .name = "tree",
    .help = "up and down a binary tree a channel, in chunks of `slice`",
    .kinds = KIND_BIT(ALL_REDUCE) | KIND_BIT(BARRIER),
    .sliced = TRUE,
    .plan = plan_tree,
};

const CollectiveAlgorithm algorithm_double_tree = {
    .name = "double_tree",
    .help = "two binary trees a channel with half of the bytes each, inner in one and leaf in the other",
    .kinds = KIND_BIT(ALL_REDUCE) | KIND_BIT(BARRIER),
    .sliced = TRUE,
    .plan = plan_double_tree,
};
