/* algorithm.h - the table of algorithms: a collective becomes a plan
 *
 * An algorithm is one file and one line in algorithm.c. A plan holds member numbers, bytes and order, no nodes and no
 * times: a schedule of sends, or rings or pairs where that would be too long. */
#pragma once

#include "collective/layout.h"
#include "collective/rings.h"
#include "collective/schedule.h"

typedef struct CollectiveAlgorithm CollectiveAlgorithm;

typedef struct {
    const CollectiveAlgorithm *algorithm;
    const CollectiveSpec *spec;
    const Layout *layout;
    const uint64_t *cut; /* of layout_cut: the bytes of each channel */
    gboolean compact;    /* pairs will do, where the algorithm can say it so */
    uint64_t slice_B;    /* of sliced algorithms: the most a chunk may have; 0 = all */
} PlanRequest;

/* In a round each member sends to each of the others at once. */
typedef struct {
    gboolean by_source; /* a message's bytes are those of its source; else of its destination */
    gboolean reduces;   /* each one's n - 1 messages, when all are there, before the next round */
} PairRound;

/* Rounds one after another: too many messages to be written out. */
typedef struct {
    uint64_t *bytes; /* by member */
    PairRound round[2];
    uint32_t n_rounds;
} Pairs;

typedef struct {
    Schedule *schedule; /* one of the three */
    Rings *rings;
    Pairs *pairs;
} Plan;

struct CollectiveAlgorithm {
    const char *name, *help;
    uint32_t kinds;  /* bit 1 << CollectiveKind */
    gboolean sliced; /* its plan depends on the slice */
    /* Adds to plan, whose first two parts are made but empty. FALSE with an INPUT error where the members do not suit.
     */
    gboolean (*plan)(const PlanRequest *request, Plan *plan, GError **error);
};

#define KIND_BIT(kind) (1u << COLLECTIVE_##kind)

extern const CollectiveAlgorithm algorithm_ring, algorithm_halving_doubling, algorithm_binomial, algorithm_bruck,
    algorithm_chain, algorithm_direct, algorithm_double_tree, algorithm_pairwise, algorithm_hierarchical,
    algorithm_recursive_doubling, algorithm_tree;

/* By name ("auto" and NULL are resolved by kind, members and size); NULL with an INPUT error that names the nearest, or
 * says what the algorithm is for. */
const CollectiveAlgorithm *algorithm_find(const char *name, const CollectiveSpec *spec, GError **error);

/* "msccl:PATH": a file instead of a name. It is read at the first call; NULL with an INPUT error. */
gboolean algorithm_is_file(const char *name);
const CollectiveAlgorithm *algorithm_from_file(const char *name, GError **error);
/* Is this collective of the kind, the number of members and the size that such a file is for? */
gboolean algorithm_file_suits(const CollectiveAlgorithm *algorithm, const CollectiveSpec *spec);

/* A plan for n >= 2 members; NULL with an error. */
Plan *plan_new(const CollectiveAlgorithm *algorithm, const PlanRequest *request, GError **error);
void plan_free(Plan *plan); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Plan, plan_free)
size_t plan_memory(const Plan *plan);

/* Has channel k anything to carry? Where S is 0 the first one carries the empty messages. */
gboolean plan_channel_used(const PlanRequest *request, uint32_t channel);
/* Bytes that member i sends to member j in an all-to-all. */
uint64_t plan_all_to_all_bytes(const CollectiveSpec *spec, uint32_t i, uint32_t j);
/* Is that a message at all? Zero entries of a matrix are not sent; an even all-to-all of 0 bytes is a message of
 * latency. */
gboolean plan_all_to_all_sends(const CollectiveSpec *spec, uint32_t i, uint32_t j);
/* How many chunks of at most slice_B bytes hold all; slice_B 0: one. */
uint32_t plan_slices(uint64_t bytes, uint64_t slice_B);
/* Bytes of chunks [from, to) of bytes in n chunks. */
uint64_t plan_chunks(uint64_t bytes, uint32_t n, uint32_t from, uint32_t to);
