/* parallel.h - a layout: how many ranks along each axis, in which order, and which layers are whose
 *
 * Axes: tp (tensors), cp (a sequence's tokens), ep (experts), dp (replicas), pp (stages). ep lies inside dp: of the dp
 * replicas, ep after ep hold different experts, so that the mesh has the axes tp, cp, ep, edp = dp / ep and pp, and
 * rank = c0 + n0 (c1 + n1 ...) in the order of the layout. Which GPU a rank gets is no matter of the layout but of the
 * placement (cluster/placement.h), which may name any group below.
 *
 * Groups of the workload, those of one rank left out: tp, cp, ep, pp; dp: ranks with the same dense parameters (cp is
 * among them: its ranks hold the same weights); edp: ranks with the same experts (with ep 1 they are
 * dp); shard and replica: dp cut into
 * partition groups, and across them (hybrid sharding); embedding: first and last stage, where a tied embedding lives on
 * both. */
#pragma once

#include "workload/model.h"
#include "workload/program.h"

typedef enum { AXIS_TP, AXIS_CP, AXIS_EP, AXIS_EDP, AXIS_PP, LAYOUT_AXES } LayoutAxis;
extern const char *const layout_axis_names[]; /* tp, cp, ep, dp, pp, NULL */

/* How ranks of cp see each other's tokens: keys and values are gathered (Grattafiori et al. 2024, 3.3.2), or go round a
 * ring beside the work on those that are there (Liu et al. 2023), or all-to-alls cut heads instead of tokens around
 * attention (DeepSpeed-Ulysses, Jacobs et al. 2023). */
typedef enum { CONTEXT_GATHER, CONTEXT_RING, CONTEXT_ULYSSES } ContextExchange;
extern const char *const context_exchange_names[]; /* gather, ring, ulysses, NULL */

typedef struct {
    uint32_t tp, cp, ep, dp, pp; /* dp counts all replicas, those of ep among them */
    uint32_t virtual_stages;     /* chunks a stage; 1 = plain */
    GArray *stage_layers; /* of uint32_t: layers of virtual stage 0, 1, ..., embedding and head of a transformer not
                             counted; NULL = even. Virtual stage i is chunk i / pp of stage i % pp */
    uint32_t expert_tp;   /* over how many ranks of tp an expert is cut: 0 = all of tp, or 1: whole, and ep counts
                             the ranks of tp too (Liu et al. 2024, MoE parallel folding) */
    uint32_t zero;        /* what is cut over the replicas: 0 nothing, 1 optimiser, 2 and gradients, 3 and parameters */
    uint32_t zero_of[BLOCK_KINDS]; /* the same for a kind of block; ZERO_AS_ALL = as zero says */
    uint32_t shard_ranks;          /* ranks of a partition group; 0 = all of dp */
    ContextExchange cp_exchange;
    gboolean sequence_parallel;
    gboolean scatter_gather;       /* stages send a tp-th each and gather it there (Narayanan et al. 2021, 4.1) */
    LayoutAxis order[LAYOUT_AXES]; /* innermost first; default tp, cp, ep, dp, pp */
} Layout;

#define ZERO_AS_ALL UINT32_MAX

Layout layout_default(void); /* all 1, no ZeRO, default order */
void layout_clear(Layout *layout);

/* What of a block of this kind is cut over the replicas: 0 to 3; the most of all kinds. */
uint32_t layout_zero(const Layout *layout, BlockKind kind);
uint32_t layout_most_zero(const Layout *layout);
/* Are experts whole where attention is cut over tp? */
gboolean layout_experts_whole(const Layout *layout);
/* Ranks of the layout. */
uint64_t layout_ranks(const Layout *layout);
/* FALSE with an INPUT error that has the numbers: ranks other than gpus (0 = not asked for), ep not within dp, layers
 * that stages do not divide, ... shard is that of a rank, for what the model allows. */
gboolean layout_check(const Layout *layout, const ModelDescription *model, const ModelShard *shard, uint32_t gpus,
                      GError **error);

/* Layers [*first, *end) of the model on a virtual stage, the embedding with the first, the head with the last. The
 * layout must be checked. */
void layout_stage(const Layout *layout, const ModelDescription *model, uint32_t virtual_stage, uint32_t *first,
                  uint32_t *end);

/* A rank's place on an axis. */
uint32_t layout_place(const Layout *layout, LayoutAxis axis, uint32_t rank);

typedef enum {
    GROUP_OF_TP,
    GROUP_OF_CP,
    GROUP_OF_EP,
    GROUP_OF_PP,
    GROUP_OF_DP,
    GROUP_OF_EDP,
    GROUP_OF_SHARD,
    GROUP_OF_REPLICA,
    GROUP_OF_EMBEDDING,
    LAYOUT_GROUPS
} LayoutGroup;

/* Adds the groups to a workload of layout_ranks() ranks; groups[] gets their indexes, INDEX_NONE where a group has one
 * member. tied: the embedding group is wanted. */
void layout_add_groups(const Layout *layout, gboolean tied, Workload *workload, uint32_t groups[LAYOUT_GROUPS]);
/* Members of a group: 1 where it is left out. */
uint32_t layout_group_size(const Layout *layout, LayoutGroup group);
