#include "random_jobs.h"

#include "cluster/placement.h"
#include "support.h"

#include <string.h>

static const char *const names[RANDOM_JOBS] = {"ada", "ben", "cyd"};

static uint32_t
below(Random *dice, uint32_t bound)
{
    return (uint32_t)random_below(dice, bound);
}

/* What an op is, before it becomes one of each role's program. */
typedef struct {
    Op op;
    uint32_t members; /* of its group */
    SimTime other_ps; /* compute: what the other role takes */
    gboolean uneven;  /* all-to-all: a member sends splits[j] to member j, one of the other role splits[n - 1 - j] */
    uint64_t splits[RANDOM_RANKS];
} Draft;

static uint64_t
scaled(uint64_t bytes, double scale)
{
    return (uint64_t)((double)bytes * scale);
}

/* Which role's program a rank runs. */
static uint32_t
role_of(uint32_t rank)
{
    return rank % 2;
}

/* Bytes that all ranks send for it; S as NCCL counts it, whatever the algorithm. */
static uint64_t
bytes_moved(const Draft *draft, const Workload *workload, double scale)
{
    uint64_t n = draft->members, S = scaled(draft->op.bytes, scale), bytes = 0;
    if (draft->op.kind == OP_SEND)
        return S * workload->n_ranks;
    if (draft->op.kind != OP_COLLECTIVE || draft->op.collective == COLLECTIVE_BARRIER)
        return 0;
    if (!draft->uneven)
        return (draft->op.collective == COLLECTIVE_ALL_REDUCE ? 2 : 1) * (n - 1) * S * (workload->n_ranks / n);
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        uint32_t n_members;
        const uint32_t *members = workload_members(workload, draft->op.group, r, &n_members);
        for (uint32_t j = 0; j < n; j++)
            if (members[j] != r)
                bytes += scaled(draft->splits[role_of(r) == 0 ? j : n - 1 - j], scale);
    }
    return bytes;
}

static Draft
random_draft(const uint32_t *sizes, Random *dice)
{
    Draft draft = {0};
    uint32_t group = below(dice, 3); /* two axes and the whole */
    draft.members = group < 2 ? sizes[group] : sizes[0] * sizes[1];
    if (below(dice, 3) == 0) {
        draft.op = op_default(OP_COMPUTE);
        draft.op.duration_ps = below(dice, 3) ? (SimTime)random_below(dice, 200 * PS_PER_US) : 50 * PS_PER_US;
        draft.other_ps = below(dice, 2) ? draft.op.duration_ps : (SimTime)random_below(dice, 200 * PS_PER_US);
        return draft;
    }
    gboolean message = draft.members > 1 && below(dice, 4) == 0;
    draft.op = op_default(message ? OP_SEND : OP_COLLECTIVE);
    draft.op.group = group;
    draft.op.bytes = below(dice, 3) ? random_below(dice, UINT64_C(1) << (1 + below(dice, 23))) : 1048576;
    draft.op.collective = (CollectiveKind)below(dice, COLLECTIVE_KINDS);
    draft.op.root = below(dice, draft.members);
    draft.uneven = !message && draft.op.collective == COLLECTIVE_ALL_TO_ALL && below(dice, 2);
    uint64_t left = draft.op.bytes;
    for (uint32_t j = 0; draft.uneven && j < draft.members; j++) {
        draft.splits[j] = j + 1 < draft.members ? random_below(dice, left + 1) : left;
        left -= draft.splits[j];
    }
    if (message) {
        draft.op.peer_form = PEER_OFFSET;
        draft.op.peer = 1;
    }
    return draft;
}

/* One role's program: computing on one stream, communication on another; each op may wait for one before it. */
static void
write_program(Workload *workload, uint32_t role, const Draft *drafts, uint32_t n, const uint32_t *waits_for,
              gboolean together)
{
    Program *program = workload_program(workload, workload_add_program(workload, FALSE));
    uint32_t streams[2] = {program_add_stream(program, "comp", TRUE), program_add_stream(program, "comm", TRUE)};
    uint32_t ends[32]; /* the op of each draft */
    for (uint32_t i = 0; i < n; i++) {
        Op op = drafts[i].op;
        op.stream = streams[op.kind != OP_COMPUTE];
        if (role == 1 && op.kind == OP_COMPUTE)
            op.duration_ps = drafts[i].other_ps;
        uint64_t splits[RANDOM_RANKS];
        for (uint32_t j = 0; j < drafts[i].members; j++)
            splits[j] = drafts[i].splits[role == 0 ? j : drafts[i].members - 1 - j];
        if (drafts[i].uneven)
            op.splits = workload_add_splits(workload, splits, drafts[i].members);
        const uint32_t *dep = waits_for[i] == INDEX_NONE ? NULL : &ends[waits_for[i]];
        ends[i] = program_add_op(program, op, op_kind_name(op.kind), dep, dep != NULL);
        if (op.kind == OP_SEND) {
            op.kind = OP_RECV;
            op.peer = -1;
            ends[i] = program_add_op(program, op, "recv", NULL, 0);
        }
    }
    if (!together)
        return;
    Op barrier = op_default(OP_COLLECTIVE);
    barrier.collective = COLLECTIVE_BARRIER;
    barrier.group = 2;
    barrier.stream = streams[1];
    program_add_op(program, barrier, "barrier", ends, n);
}

static Workload *
random_workload(RandomJob *job, const uint32_t *sizes, gboolean together, Random *dice)
{
    uint32_t n_ranks = sizes[0] * sizes[1], all[RANDOM_RANKS], waits_for[16];
    Workload *workload = workload_new(n_ranks);
    static const char *const axes[] = {"tp", "dp"};
    workload_add_mesh(workload, axes, sizes, 2);
    for (uint32_t r = 0; r < n_ranks; r++)
        all[r] = r;
    workload_add_group(workload, "world", all, n_ranks);
    Draft drafts[16];
    uint32_t n = 2 + below(dice, 9);
    job->collectives = together ? 1 : 0;
    for (uint32_t i = 0; i < n; i++) {
        drafts[i] = random_draft(sizes, dice);
        waits_for[i] = i > 0 && below(dice, 2) ? below(dice, i) : INDEX_NONE;
        job->bytes += bytes_moved(&drafts[i], workload, job->setup.scale_bytes);
        job->collectives += drafts[i].op.kind == OP_COLLECTIVE ? n_ranks / drafts[i].members : 0;
    }
    for (uint32_t role = 0; role < 2; role++)
        write_program(workload, role, drafts, n, waits_for, together);
    for (uint32_t r = 0; r < n_ranks; r++)
        workload->program_of_rank[r] = role_of(r);
    GError *error = NULL;
    ck_assert_msg(workload_check(workload, &error), "%s", error ? error->message : "");
    return workload;
}

static CollectiveConfig
random_config(Random *dice)
{
    CollectiveConfig config = collective_config_default();
    config.grain = below(dice, 3) ? GRAIN_STEPS : GRAIN_BUNDLE;
    config.channels = below(dice, 3);
    config.channel_weights = below(dice, 2) ? CHANNELS_EQUAL : CHANNELS_NIC;
    config.slice_B = below(dice, 2) ? config.slice_B : below(dice, 2) * UINT64_C(65536);
    config.reduce_cost_s_per_B = below(dice, 2) * 1e-12;
    for (CollectiveKind kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        const char *const *algorithms = collective_algorithms();
        const char *name = algorithms[below(dice, g_strv_length((char **)(uintptr_t)algorithms))];
        /* hierarchical is drawn below; Bruck wants blocks of one size, recursive doubling moves other bytes */
        static const char *const others[] = {"hierarchical", "bruck", "recursive_doubling", NULL};
        if (collective_algorithm_serves(name, kind) && !g_strv_contains(others, name))
            config.algorithm[kind] = name;
    }
    return config;
}

/* Has every group as many members in each of its servers? Hierarchical algorithms need it. */
static gboolean
is_even(const RandomJob *job, const Fabric *fabric)
{
    const Workload *workload = job->setup.workload;
    for (uint32_t r = 0; r < workload->n_ranks; r++)
        for (uint32_t g = 0; g < workload->groups->len; g++) {
            uint32_t n, here = 0, there = 0;
            const uint32_t *members = workload_members(workload, g, r, &n);
            uint32_t server = fabric_server(fabric, job->setup.nodes[r]);
            uint32_t first = fabric_server(fabric, job->setup.nodes[members[0]]);
            for (uint32_t i = 0; i < n; i++) {
                here += fabric_server(fabric, job->setup.nodes[members[i]]) == server;
                there += fabric_server(fabric, job->setup.nodes[members[i]]) == first;
            }
            if (server == INDEX_NONE || here != there)
                return FALSE;
        }
    return TRUE;
}

static gboolean
place(RandomJob *job, const Fabric *fabric, gboolean *taken, Random *dice)
{
    static const PlacementPolicy policies[] = {PLACEMENT_PACKED, PLACEMENT_SPREAD, PLACEMENT_RANDOM, PLACEMENT_RANDOM};
    PlacementSpec spec = {.policy = policies[below(dice, G_N_ELEMENTS(policies))]};
    uint32_t *nodes = g_new(uint32_t, RANDOM_RANKS);
    job->setup.nodes = nodes;
    return placement_choose(&spec, fabric, job->setup.workload, job->setup.name, random_next(dice), taken, nodes, NULL);
}

static gboolean
make(RandomJob *job, uint32_t number, const Fabric *fabric, gboolean *taken, gboolean together, Random *dice)
{
    static const double scales[] = {1, 1, 0.3, 2.5};
    *job = (RandomJob){.setup = {.name = names[number], .scale_bytes = scales[below(dice, G_N_ELEMENTS(scales))]}};
    uint32_t n_gpus, room = 0;
    const uint32_t *gpus = fabric_gpus(fabric, &n_gpus);
    for (uint32_t g = 0; g < n_gpus; g++)
        room += !taken[gpus[g]];
    if (room < 2)
        return FALSE;
    uint32_t sizes[2] = {1 + below(dice, MIN(4, room)), 1};
    sizes[1] = 1 + below(dice, MIN(RANDOM_RANKS, room) / sizes[0]);
    if (sizes[0] * sizes[1] == 1)
        sizes[0] = 2;
    Workload *workload = random_workload(job, sizes, together, dice);
    if (below(dice, 3) == 0) { /* recorded offsets, the smallest 0 */
        workload->start_ps = g_new0(SimTime, workload->n_ranks);
        for (uint32_t r = 1; r < workload->n_ranks; r++)
            workload->start_ps[r] = job->start_ps[r] = (SimTime)random_below(dice, 100 * PS_PER_US);
    }
    job->setup.workload = workload;
    job->setup.arrival_ps = below(dice, 2) ? 0 : (SimTime)random_below(dice, 300 * PS_PER_US);
    job->setup.iterations = 1 + below(dice, 4);
    job->setup.warmup = below(dice, job->setup.iterations);
    job->setup.until = INDEX_NONE;
    job->setup.compute_scale = 1;
    job->setup.collectives = random_config(dice);
    if (!place(job, fabric, taken, dice))
        return FALSE;
    for (CollectiveKind kind = 0; is_even(job, fabric) && kind < COLLECTIVE_KINDS; kind++)
        if (collective_algorithm_serves("hierarchical", kind) && below(dice, 3) == 0)
            job->setup.collectives.algorithm[kind] = "hierarchical";
    return TRUE;
}

gboolean
random_job(RandomJob *job, uint32_t number, const Fabric *fabric, gboolean *taken, Random *dice)
{
    return make(job, number, fabric, taken, TRUE, dice);
}

gboolean
random_job_loose(RandomJob *job, uint32_t number, const Fabric *fabric, gboolean *taken, Random *dice)
{
    return make(job, number, fabric, taken, FALSE, dice);
}

void
random_job_clear(RandomJob *job)
{
    workload_free((Workload *)(uintptr_t)job->setup.workload);
    g_free((uint32_t *)(uintptr_t)job->setup.nodes);
}
