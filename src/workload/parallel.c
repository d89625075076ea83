#include "workload/parallel.h"

#include "base/error.h"

const char *const layout_axis_names[] = {"tp", "cp", "ep", "dp", "pp", NULL};

const char *const context_exchange_names[] = {"gather", "ring", "ulysses", NULL};

static const char *const group_names[LAYOUT_GROUPS] = {"tp",  "cp",    "ep",      "pp",       "dp",
                                                       "edp", "shard", "replica", "embedding"};

#define MOST_RANKS 16777216u

Layout
layout_default(void)
{
    Layout layout = {.tp = 1,
                     .cp = 1,
                     .ep = 1,
                     .dp = 1,
                     .pp = 1,
                     .virtual_stages = 1,
                     .order = {AXIS_TP, AXIS_CP, AXIS_EP, AXIS_EDP, AXIS_PP}};
    for (int kind = 0; kind < BLOCK_KINDS; kind++)
        layout.zero_of[kind] = ZERO_AS_ALL;
    return layout;
}

uint32_t
layout_zero(const Layout *layout, BlockKind kind)
{
    return layout->zero_of[kind] == ZERO_AS_ALL ? layout->zero : layout->zero_of[kind];
}

uint32_t
layout_most_zero(const Layout *layout)
{
    uint32_t most = 0;
    for (int kind = 0; kind < BLOCK_KINDS; kind++)
        most = MAX(most, layout_zero(layout, (BlockKind)kind));
    return most;
}

void
layout_clear(Layout *layout)
{
    if (layout->stage_layers != NULL)
        g_array_unref(layout->stage_layers);
    layout->stage_layers = NULL;
}

uint64_t
layout_ranks(const Layout *layout)
{
    /* each at most 2^24: the product of more than two could run over, but is refused then by the first two */
    uint64_t inner = (uint64_t)layout->tp * layout->cp, outer = (uint64_t)layout->dp * layout->pp;
    return inner > MOST_RANKS || outer > MOST_RANKS ? UINT64_MAX : inner * outer;
}

gboolean
layout_experts_whole(const Layout *layout)
{
    return layout->expert_tp == 1 && layout->tp > 1 && layout->ep > 1;
}

/* Replicas whose experts differ. */
static uint32_t
expert_replicas(const Layout *layout)
{
    return layout_experts_whole(layout) ? layout->ep / layout->tp : layout->ep;
}

static uint32_t
axis_size(const Layout *layout, LayoutAxis axis)
{
    const uint32_t sizes[LAYOUT_AXES] = {layout->tp, layout->cp, expert_replicas(layout),
                                         layout->dp / expert_replicas(layout), layout->pp};
    return sizes[axis];
}

/* ---- stages ---- */

/* Layers that stages are cut from: those of a transformer without embedding and head. */
static uint32_t
cut_layers(const ModelDescription *model)
{
    return model->kind == MODEL_TRANSFORMER ? model->transformer.layers : model_n_layers(model);
}

static gboolean
check_stages(const Layout *layout, const ModelDescription *model, GError **error)
{
    uint32_t n = cut_layers(model), stages = layout->pp * layout->virtual_stages;
    if (layout->virtual_stages > 1 && layout->pp == 1)
        return error_input(error, "virtual_stages is %u, but pp is 1: there is nothing to interleave",
                           layout->virtual_stages);
    /* embedding and head may have a virtual stage of their own where layers are given stage by stage */
    if (stages > n + (layout->stage_layers != NULL && model->kind == MODEL_TRANSFORMER ? 2 : 0))
        return error_input(error, "%u x %u virtual stages, but %s has %u layers", layout->pp, layout->virtual_stages,
                           model->name, n);
    if (layout->stage_layers == NULL) {
        if (n % stages == 0)
            return TRUE;
        return error_input(error,
                           "the %u layers of %s do not divide over %u %sstages: give stages, a list of %u numbers", n,
                           model->name, stages, layout->virtual_stages > 1 ? "virtual " : "", stages);
    }
    if (layout->stage_layers->len != stages)
        return error_input(error, "stages has %u numbers, expected %u: pp %u x virtual_stages %u",
                           layout->stage_layers->len, stages, layout->pp, layout->virtual_stages);
    uint64_t sum = 0;
    for (guint i = 0; i < layout->stage_layers->len; i++) {
        uint32_t layers = g_array_index(layout->stage_layers, uint32_t, i);
        if (layers == 0 && model->kind != MODEL_TRANSFORMER)
            return error_input(error, "stages[%u] is 0: that stage would have nothing to do", i);
        if (layers == 0 && i > 0 && i + 1 < stages)
            return error_input(error, "stages[%u] is 0: only the first and the last stage may be without layers", i);
        sum += layers;
    }
    if (sum != n)
        return error_input(error, "stages sums to %" G_GUINT64_FORMAT " layers, but %s has %u", sum, model->name, n);
    return TRUE;
}

void
layout_stage(const Layout *layout, const ModelDescription *model, uint32_t virtual_stage, uint32_t *first,
             uint32_t *end)
{
    uint32_t stages = layout->pp * layout->virtual_stages, even = cut_layers(model) / stages, before = 0;
    gboolean wrapped = model->kind == MODEL_TRANSFORMER; /* in embedding and head */
    for (uint32_t i = 0; i < virtual_stage; i++)
        before += layout->stage_layers ? g_array_index(layout->stage_layers, uint32_t, i) : even;
    uint32_t own = layout->stage_layers ? g_array_index(layout->stage_layers, uint32_t, virtual_stage) : even;
    *first = before + (wrapped && virtual_stage > 0);
    *end = before + own + wrapped + (wrapped && virtual_stage + 1 == stages);
}

/* ---- ranks ---- */

static gboolean
check_sharding(const Layout *layout, GError **error)
{
    uint64_t replicas = (uint64_t)layout->dp * layout->cp;
    if (layout->shard_ranks == 0)
        return TRUE;
    if (layout_most_zero(layout) == 0)
        return error_input(error, "shard_ranks is %u, but zero is 0: nothing is cut", layout->shard_ranks);
    if (layout->shard_ranks == 1)
        return error_input(error, "shard_ranks is 1: nothing is cut; that is zero 0");
    if (replicas % layout->shard_ranks != 0)
        return error_input(error, "shard_ranks %u does not divide the dp x cp = %" G_GUINT64_FORMAT " replicas",
                           layout->shard_ranks, replicas);
    if (layout->ep > 1 && layout->shard_ranks != replicas)
        return error_input(error, "shard_ranks %u with ep %u: experts cut over less than all replicas are not built",
                           layout->shard_ranks, layout->ep);
    return TRUE;
}

static gboolean
check_experts(const Layout *layout, GError **error)
{
    if (layout->expert_tp > 1 && layout->expert_tp != layout->tp)
        return error_input(error, "expert_tp is %u, expected 1 or tp, %u", layout->expert_tp, layout->tp);
    if (layout_experts_whole(layout) && !layout->sequence_parallel)
        return error_input(error, "expert_tp 1 with tp %u needs sequence_parallel: each rank routes its own tokens",
                           layout->tp);
    if (layout_experts_whole(layout) && layout->ep % layout->tp != 0)
        return error_input(error, "tp %u does not divide ep %u, which counts its ranks with expert_tp 1", layout->tp,
                           layout->ep);
    if (layout->dp % expert_replicas(layout) == 0)
        return TRUE;
    if (layout_experts_whole(layout))
        return error_input(error, "ep %u / tp %u does not divide dp %u", layout->ep, layout->tp, layout->dp);
    return error_input(error, "ep %u does not divide dp %u", layout->ep, layout->dp);
}

gboolean
layout_check(const Layout *layout, const ModelDescription *model, const ModelShard *shard, uint32_t gpus,
             GError **error)
{
    uint64_t ranks = layout_ranks(layout);
    gboolean seen[LAYOUT_AXES] = {FALSE};
    for (int i = 0; i < LAYOUT_AXES; i++) {
        if (seen[layout->order[i]])
            return error_input(error, "order names %s twice; expected each of tp, cp, ep, dp, pp once",
                               layout_axis_names[layout->order[i]]);
        seen[layout->order[i]] = TRUE;
    }
    if (ranks > MOST_RANKS)
        return error_input(error, "tp %u x cp %u x dp %u x pp %u is above %u ranks", layout->tp, layout->cp, layout->dp,
                           layout->pp, MOST_RANKS);
    if (gpus != 0 && gpus != ranks)
        return error_input(error, "tp %u x cp %u x dp %u x pp %u is %" G_GUINT64_FORMAT " ranks, but gpus is %u",
                           layout->tp, layout->cp, layout->dp, layout->pp, ranks, gpus);
    if (!check_experts(layout, error))
        return FALSE;
    if (layout->sequence_parallel && layout->tp == 1)
        return error_input(error, "sequence_parallel, but tp is 1: there is nothing to cut it over");
    if (layout->scatter_gather && (layout->tp == 1 || layout->pp == 1 || layout->sequence_parallel))
        return error_input(error, layout->sequence_parallel
                                      ? "scatter_gather with sequence_parallel: a stage sends a tp-th anyway"
                                      : "scatter_gather needs tp and pp above 1");
    if (layout_most_zero(layout) > 3)
        return error_input(error, "zero is %u, expected 0 to 3", layout_most_zero(layout));
    return check_sharding(layout, error) && check_stages(layout, model, error) &&
           model_check_shard(model, shard, error);
}

uint32_t
layout_place(const Layout *layout, LayoutAxis axis, uint32_t rank)
{
    for (int i = 0; layout->order[i] != axis; i++)
        rank /= axis_size(layout, layout->order[i]);
    return rank % axis_size(layout, axis);
}

/* ---- groups ---- */

static uint32_t
bit(LayoutAxis axis)
{
    return 1u << axis;
}

/* Axes along which the members of a group lie. */
static uint32_t
axes_of(const Layout *layout, LayoutGroup group)
{
    static const LayoutAxis one[] = {AXIS_TP, AXIS_CP, AXIS_EP, AXIS_PP};
    if (group == GROUP_OF_EP && layout_experts_whole(layout))
        return bit(AXIS_TP) | bit(AXIS_EP);
    if (group <= GROUP_OF_PP)
        return bit(one[group]);
    if (group == GROUP_OF_EDP)
        return bit(AXIS_CP) | bit(AXIS_EDP);
    if (group == GROUP_OF_EMBEDDING)
        return bit(AXIS_PP);
    return bit(AXIS_CP) | bit(AXIS_EP) | bit(AXIS_EDP);
}

uint32_t
layout_group_size(const Layout *layout, LayoutGroup group)
{
    uint32_t size = 1, replicas = layout->dp * layout->cp;
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        if (axes_of(layout, group) & bit((LayoutAxis)axis))
            size *= axis_size(layout, (LayoutAxis)axis);
    gboolean hybrid = layout->shard_ranks != 0 && layout->shard_ranks != replicas;
    if (group == GROUP_OF_SHARD)
        return hybrid ? layout->shard_ranks : 1;
    if (group == GROUP_OF_REPLICA)
        return hybrid ? replicas / layout->shard_ranks : 1;
    return group == GROUP_OF_EMBEDDING ? MIN(size, 2) : size;
}

/* The ranks of a group in which base (0 on all its axes) is, lowest first: counts along the axes, inner ones first. */
static void
members_of(const Layout *layout, uint32_t axes, uint32_t base, uint32_t n, uint32_t *members)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t left = i, stride = 1, rank = base;
        for (int k = 0; k < LAYOUT_AXES; k++) {
            uint32_t size = axis_size(layout, layout->order[k]);
            if (axes & bit(layout->order[k])) {
                rank += left % size * stride;
                left /= size;
            }
            stride *= size;
        }
        members[i] = rank;
    }
}

static gboolean
is_base(const Layout *layout, uint32_t axes, uint32_t rank)
{
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        if (axes & bit((LayoutAxis)axis) && layout_place(layout, (LayoutAxis)axis, rank) != 0)
            return FALSE;
    return TRUE;
}

static void
add_instance(Workload *workload, LayoutGroup group, uint32_t *index, const uint32_t *members, uint32_t n)
{
    if (*index == INDEX_NONE)
        *index = workload_add_group(workload, group_names[group], members, n);
    else
        workload_add_instance(workload, *index, members, n);
}

/* Of all members along the axes: the whole, blocks of so many in a row, what lies at one place of all blocks, or the
 * first and the last. */
static void
add_parts(const Layout *layout, LayoutGroup group, Workload *workload, const uint32_t *all, uint32_t n, uint32_t *index)
{
    uint32_t size = layout_group_size(layout, group), parts = n / size;
    g_autofree uint32_t *members = g_new(uint32_t, size);
    if (group == GROUP_OF_EMBEDDING) {
        const uint32_t ends[] = {all[0], all[n - 1]};
        add_instance(workload, group, index, ends, 2);
        return;
    }
    for (uint32_t part = 0; part < parts; part++) {
        for (uint32_t i = 0; i < size; i++)
            members[i] = group == GROUP_OF_REPLICA ? all[part + i * parts] : all[part * size + i];
        add_instance(workload, group, index, members, size);
    }
}

void
layout_add_groups(const Layout *layout, gboolean tied, Workload *workload, uint32_t groups[LAYOUT_GROUPS])
{
    for (int g = 0; g < LAYOUT_GROUPS; g++) {
        LayoutGroup group = (LayoutGroup)g;
        uint32_t axes = axes_of(layout, group), n = 1;
        groups[g] = INDEX_NONE;
        gboolean wanted = group == GROUP_OF_EMBEDDING ? tied : group != GROUP_OF_EDP || layout->ep > 1;
        if (layout_group_size(layout, group) < 2 || !wanted)
            continue;
        for (int axis = 0; axis < LAYOUT_AXES; axis++)
            n *= axes & bit((LayoutAxis)axis) ? axis_size(layout, (LayoutAxis)axis) : 1;
        g_autofree uint32_t *all = g_new(uint32_t, n);
        for (uint32_t rank = 0; rank < workload->n_ranks; rank++) {
            if (!is_base(layout, axes, rank))
                continue;
            members_of(layout, axes, rank, n, all);
            add_parts(layout, group, workload, all, n, &groups[g]);
        }
    }
}
