#include "workload/mpi_program.h"

#include "base/error.h"

#include <string.h>

enum { SCAN_TAG = (uint32_t)MPI_TAG_MOST + 1 };

struct MpiRank {
    MpiWorld *world;
    Program *program;
    uint32_t rank;
    GArray *before; /* of uint32_t: ops that the next call waits for */
};

struct MpiWorld {
    Workload *workload;
    GHashTable *splits; /* GBytes -> offset + 1: equal splits are stored once */
    MpiRank *ranks;
    uint32_t n_ranks;
};

MpiWorld *
mpi_world_new(uint32_t n_ranks)
{
    MpiWorld *world = g_new0(MpiWorld, 1);
    world->n_ranks = n_ranks;
    world->workload = workload_new(n_ranks);
    world->splits =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)(void (*)(void))g_bytes_unref, NULL);
    world->ranks = g_new0(MpiRank, n_ranks);
    g_autofree uint32_t *all = g_new(uint32_t, n_ranks);
    for (uint32_t r = 0; r < n_ranks; r++) {
        uint32_t index = workload_add_program(world->workload, TRUE);
        Program *program = workload_program(world->workload, index);
        program->name = g_strdup_printf("rank %u", r);
        program_add_stream(program, "cpu", TRUE);
        world->workload->program_of_rank[r] = index;
        world->ranks[r] = (MpiRank){world, program, r, g_array_new(FALSE, FALSE, sizeof(uint32_t))};
        all[r] = r;
    }
    workload_add_group(world->workload, "world", all, n_ranks);
    return world;
}

void
mpi_world_free(MpiWorld *world)
{
    if (world == NULL)
        return;
    for (uint32_t r = 0; r < world->n_ranks; r++)
        g_array_unref(world->ranks[r].before);
    g_free(world->ranks);
    g_hash_table_unref(world->splits);
    workload_free(world->workload);
    g_free(world);
}

Workload *
mpi_world_workload(const MpiWorld *world)
{
    return world->workload;
}

MpiRank *
mpi_world_rank(const MpiWorld *world, uint32_t rank)
{
    return &world->ranks[rank];
}

Workload *
mpi_world_finish(MpiWorld *world, const char *path, GPtrArray *problems, GError **error)
{
    if (problems != NULL) {
        guint before = problems->len;
        workload_check_all(world->workload, problems);
        if (problems->len > before) {
            error_input(error, "%s: %s", path, (const char *)problems->pdata[before]);
            return NULL;
        }
    } else if (!workload_check(world->workload, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    return g_steal_pointer(&world->workload);
}

/* Adds an op that waits for what the next call waits for. */
static uint32_t
begin(MpiRank *mpi, Op op, const char *name)
{
    return program_add_op(mpi->program, op, name, (const uint32_t *)mpi->before->data, mpi->before->len);
}

/* The same, and what follows waits for it alone. */
static void
add_blocking(MpiRank *mpi, Op op, const char *name)
{
    uint32_t index = begin(mpi, op, name);
    g_array_set_size(mpi->before, 0);
    g_array_append_val(mpi->before, index);
}

void
mpi_compute(MpiRank *mpi, double flops, const char *name)
{
    if (!(flops > 0))
        return;
    Op op = op_default(OP_COMPUTE);
    op.stream = 0;
    op.flops = flops;
    add_blocking(mpi, op, name);
}

void
mpi_time(MpiRank *mpi, SimTime duration_ps, gboolean host, const char *name)
{
    if (duration_ps <= 0)
        return;
    Op op = op_default(host ? OP_HOST : OP_COMPUTE);
    op.stream = 0;
    op.duration_ps = duration_ps;
    add_blocking(mpi, op, name);
}

/* Many requests after many waits: one op that waits keeps the deps few. */
static void
gather_waits(MpiRank *mpi)
{
    if (mpi->before->len > 1)
        add_blocking(mpi, op_default(OP_MARKER), "waited");
}

static void
set_message(const MpiRank *mpi, Op *op, uint32_t peer, uint32_t tag, uint64_t bytes)
{
    op->tag = tag;
    op->signal = peer == mpi->rank;
    op->bytes = op->signal ? 0 : bytes;
    op->peer_form = peer == MPI_ANYONE ? PEER_ANY : PEER_RANK;
    op->peer = peer == MPI_ANYONE ? 0 : (int32_t)peer;
}

static uint32_t
add_message(MpiRank *mpi, OpKind kind, uint32_t peer, uint32_t tag, uint64_t bytes, const char *name)
{
    gather_waits(mpi);
    Op op = op_default(kind);
    set_message(mpi, &op, peer, tag, bytes);
    return begin(mpi, op, name);
}

uint32_t
mpi_send(MpiRank *mpi, uint32_t peer, uint32_t tag, uint64_t bytes, const char *name)
{
    return add_message(mpi, OP_SEND, peer, tag, bytes, name);
}

uint32_t
mpi_recv(MpiRank *mpi, uint32_t peer, uint32_t tag, uint64_t bytes, const char *name)
{
    return add_message(mpi, OP_RECV, peer, tag, bytes, name);
}

void
mpi_settle(MpiRank *mpi, uint32_t request, uint32_t peer, uint32_t tag, uint64_t bytes)
{
    set_message(mpi, &g_array_index(mpi->program->ops, Op, request), peer, tag, bytes);
}

void
mpi_cancel(MpiRank *mpi, uint32_t request)
{
    Op *op = &g_array_index(mpi->program->ops, Op, request);
    Op marker = op_default(OP_MARKER);
    marker.name = op->name;
    marker.first_dep = op->first_dep;
    marker.n_deps = op->n_deps;
    *op = marker;
}

void
mpi_wait(MpiRank *mpi, uint32_t request)
{
    g_array_append_val(mpi->before, request);
}

void
mpi_block(MpiRank *mpi, uint32_t request)
{
    g_array_set_size(mpi->before, 0);
    mpi_wait(mpi, request);
}

void
mpi_collective(MpiRank *mpi, CollectiveKind kind, uint32_t group, uint64_t bytes, uint32_t root, const char *name)
{
    Op op = op_default(OP_COLLECTIVE);
    op.collective = kind;
    op.group = group;
    op.bytes = bytes;
    op.root = root;
    add_blocking(mpi, op, name);
}

static uint32_t
group_size(const MpiRank *mpi, uint32_t group)
{
    const Group *g = mpi->world->workload->groups->pdata[group];
    return ((const GArray *)g->instances->pdata[0])->len;
}

static uint32_t
member(const MpiRank *mpi, uint32_t group)
{
    const Group *g = mpi->world->workload->groups->pdata[group];
    return g_array_index(g->member_of_rank, uint32_t, mpi->rank);
}

gboolean
mpi_spread(MpiRank *mpi, uint32_t group, const uint64_t *parts, const char *name)
{
    uint32_t n = group_size(mpi, group);
    Op op = op_default(OP_COLLECTIVE);
    op.collective = COLLECTIVE_ALL_TO_ALL;
    op.group = group;
    for (uint32_t m = 0; m < n; m++) {
        if (parts[m] > UINT64_MAX - op.bytes)
            return FALSE;
        op.bytes += parts[m];
    }
    GBytes *key = g_bytes_new(parts, n * sizeof *parts);
    op.splits = GPOINTER_TO_UINT(g_hash_table_lookup(mpi->world->splits, key)) - 1;
    if (op.splits == INDEX_NONE) {
        op.splits = workload_add_splits(mpi->world->workload, parts, n);
        g_hash_table_insert(mpi->world->splits, key, GUINT_TO_POINTER(op.splits + 1));
    } else {
        g_bytes_unref(key);
    }
    add_blocking(mpi, op, name);
    return TRUE;
}

void
mpi_gather(MpiRank *mpi, uint32_t group, uint64_t bytes, uint32_t root, const char *name)
{
    g_autofree uint64_t *parts = g_new0(uint64_t, group_size(mpi, group));
    parts[root] = bytes;
    mpi_spread(mpi, group, parts, name);
}

gboolean
mpi_scatter(MpiRank *mpi, uint32_t group, const uint64_t *parts, uint32_t root, const char *name)
{
    if (member(mpi, group) == root)
        return mpi_spread(mpi, group, parts, name);
    g_autofree uint64_t *none = g_new0(uint64_t, group_size(mpi, group));
    return mpi_spread(mpi, group, none, name);
}

gboolean
mpi_all_gather(MpiRank *mpi, uint32_t group, const uint64_t *parts, const char *name)
{
    uint32_t n = group_size(mpi, group);
    gboolean even = parts[0] <= UINT64_MAX / n;
    for (uint32_t m = 1; even && m < n; m++)
        even = parts[m] == parts[0];
    if (even) {
        mpi_collective(mpi, COLLECTIVE_ALL_GATHER, group, n * parts[0], 0, name);
        return TRUE;
    }
    g_autofree uint64_t *mine = g_new(uint64_t, n);
    for (uint32_t m = 0; m < n; m++)
        mine[m] = parts[member(mpi, group)];
    return mpi_spread(mpi, group, mine, name);
}

void
mpi_scan(MpiRank *mpi, uint64_t bytes, double flops, const char *name)
{
    if (mpi->rank > 0) {
        mpi_block(mpi, mpi_recv(mpi, mpi->rank - 1, SCAN_TAG, bytes, name));
        mpi_compute(mpi, flops, name);
    }
    if (mpi->rank + 1 < mpi->world->n_ranks)
        mpi_block(mpi, mpi_send(mpi, mpi->rank + 1, SCAN_TAG, bytes, name));
}
