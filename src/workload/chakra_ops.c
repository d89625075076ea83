/* chakra_ops.c - what one Chakra node is as an op of a program
 *
 * COMP runs on the exclusive stream "gpu", what is_cpu_op marks on "cpu"; a group's collectives stand on a stream of
 * its name, which is not exclusive. */
#include "workload/chakra_maker.h"

#include "base/error.h"

#include <stdarg.h>

/* CollectiveKind by comm_type of the schema; -1 = not known here. */
static const int kinds[] = {COLLECTIVE_ALL_REDUCE,
                            COLLECTIVE_REDUCE,
                            COLLECTIVE_ALL_GATHER,
                            -1,
                            -1,
                            COLLECTIVE_BROADCAST,
                            COLLECTIVE_ALL_TO_ALL,
                            COLLECTIVE_REDUCE_SCATTER,
                            COLLECTIVE_REDUCE_SCATTER,
                            COLLECTIVE_BARRIER};

/* Types that were proposed for the schema: their nodes take their recorded time. */
enum { FIRST_PROPOSED = CHAKRA_TYPES, LAST_PROPOSED = 10 };

gboolean
chakra_fail(const Maker *maker, const ChakraNode *node, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args), *place = chakra_place(maker->trace, node);
    va_end(args);
    return error_input(error, "%s: node %" G_GUINT64_FORMAT " \"%s\": %s", place, node->id,
                       chakra_node_name(maker->trace, node), message);
}

static gboolean
need(const Maker *maker, const ChakraNode *node, ChakraNumber number, GError **error)
{
    if (node->has & 1u << number)
        return TRUE;
    return chakra_fail(maker, node, error, "%s has no attribute %s", chakra_type_name(node->type),
                       chakra_number_name(number));
}

/* How many calls of this name the rank has had, this one counted. */
static uint32_t
count_call(Maker *maker, const char *name)
{
    uint32_t n = GPOINTER_TO_UINT(g_hash_table_lookup(maker->calls_of, name)) + 1;
    g_hash_table_insert(maker->calls_of, g_strdup(name), GUINT_TO_POINTER(n));
    return n;
}

/* S of a collective without comm_size, by its node's name or its kind. */
static gboolean
find_size(Maker *maker, const ChakraNode *node, CollectiveKind kind, uint64_t *bytes, GError **error)
{
    const char *name = chakra_node_name(maker->trace, node), *kind_name = collective_kind_name(kind);
    if (maker->sizes == NULL)
        return need(maker, node, CHAKRA_COMM_SIZE, error);
    uint32_t by_name = count_call(maker, name), by_kind = count_call(maker, kind_name);
    maker->sized++;
    return message_sizes_find(maker->sizes, name, by_name, bytes) ||
           message_sizes_find(maker->sizes, kind_name, by_kind, bytes) ||
           chakra_fail(maker, node, error,
                       "COMM_COLL_NODE has no attribute comm_size, and %s has neither its name nor %s",
                       maker->source->sizes_file, kind_name);
}

static uint32_t
stream_named(Maker *maker, uint32_t *stream, const char *name)
{
    if (*stream == INDEX_NONE)
        *stream = program_add_stream(maker->program, name, TRUE);
    return *stream;
}

static uint32_t
all_ranks(Maker *maker)
{
    if (maker->all == INDEX_NONE) {
        Workload *workload = maker->workload;
        g_autofree uint32_t *ranks = g_new(uint32_t, workload->n_ranks);
        for (uint32_t rank = 0; rank < workload->n_ranks; rank++)
            ranks[rank] = rank;
        maker->all = workload_add_group(workload, "all", ranks, workload->n_ranks);
    }
    return maker->all;
}

/* A collective without pg_name: of all ranks, or of those along the dimensions that it involves. */
static gboolean
group_of_all(Maker *maker, const ChakraNode *node, uint32_t *group, GError **error)
{
    uint32_t n = maker->dimensions->len;
    uint32_t all = (uint32_t)((UINT64_C(1) << n) - 1);
    if (node->involved.n == 0 || n == 0 || (node->involved.n >= n && (node->involved.bits & all) == all)) {
        *group = all_ranks(maker);
        return TRUE;
    }
    if (node->involved.n < n)
        return chakra_fail(maker, node, error, "involved_dim has %u entries; there are %u dimensions", node->involved.n,
                           n);
    *group = chakra_dimensions_group(maker, node->involved.bits & all);
    return TRUE;
}

static gboolean
find_group(Maker *maker, const ChakraNode *node, uint32_t *group, GError **error)
{
    if (node->group == INDEX_NONE)
        return group_of_all(maker, node, group, error);
    const char *name = maker->trace->texts->str + node->group;
    void *found = g_hash_table_lookup(maker->own_groups, name);
    if (found == NULL)
        found = g_hash_table_lookup(maker->group_index, name);
    if (found == NULL) {
        const char *file = maker->source->groups_file;
        return chakra_fail(maker, node, error, "pg_name is \"%s\", and %s%s", name,
                           file != NULL ? "no such group is in " : "no group file is given", file != NULL ? file : "");
    }
    *group = GPOINTER_TO_UINT(found) - 1;
    return TRUE;
}

static uint32_t
stream_of_group(Maker *maker, uint32_t group)
{
    void *found = g_hash_table_lookup(maker->group_stream, GUINT_TO_POINTER(group + 1));
    if (found != NULL)
        return GPOINTER_TO_UINT(found) - 1;
    const Group *g = g_ptr_array_index(maker->workload->groups, group);
    g_autofree char *name = g_strdup_printf("group %s", g->name);
    uint32_t stream = program_add_stream(maker->program, name, FALSE);
    g_hash_table_insert(maker->group_stream, GUINT_TO_POINTER(group + 1), GUINT_TO_POINTER(stream + 1));
    return stream;
}

static gboolean
collective_kind(const Maker *maker, const ChakraNode *node, CollectiveKind *kind, GError **error)
{
    if (!(node->has & 1u << CHAKRA_COMM_TYPE) && !(node->has & 1u << CHAKRA_COMM_SIZE)) /* both are told */
        return chakra_fail(maker, node, error, "COMM_COLL_NODE has no attribute comm_type and no comm_size");
    if (!need(maker, node, CHAKRA_COMM_TYPE, error))
        return FALSE;
    int64_t type = node->number[CHAKRA_COMM_TYPE];
    if (type >= (int64_t)G_N_ELEMENTS(kinds))
        return chakra_fail(maker, node, error, "comm_type is %" G_GINT64_FORMAT "; expected 0 to %u", type,
                           (unsigned)G_N_ELEMENTS(kinds) - 1);
    if (kinds[type] < 0)
        return chakra_fail(maker, node, error, "comm_type is %" G_GINT64_FORMAT " (%s), which is not simulated", type,
                           chakra_comm_type_name(type));
    *kind = (CollectiveKind)kinds[type];
    return TRUE;
}

/* S: what each contributes, times the members for an all-gather, whose result S counts. */
static gboolean
collective_bytes(Maker *maker, const ChakraNode *node, uint32_t n, Op *op, GError **error)
{
    if (op->collective == COLLECTIVE_BARRIER)
        return TRUE;
    if (!(node->has & 1u << CHAKRA_COMM_SIZE))
        return find_size(maker, node, op->collective, &op->bytes, error);
    op->bytes = (uint64_t)node->number[CHAKRA_COMM_SIZE];
    if (op->collective != COLLECTIVE_ALL_GATHER)
        return TRUE;
    if (op->bytes > INT64_MAX / n)
        return chakra_fail(maker, node, error, "comm_size x %u members is above 2^63 - 1", n);
    op->bytes *= n;
    return TRUE;
}

static gboolean
make_collective(Maker *maker, const ChakraNode *node, Op *op, GError **error)
{
    uint32_t n;
    if (!collective_kind(maker, node, &op->collective, error) || !find_group(maker, node, &op->group, error))
        return FALSE;
    if (workload_members(maker->workload, op->group, maker->rank, &n) == NULL) {
        const Group *group = g_ptr_array_index(maker->workload->groups, op->group);
        return chakra_fail(maker, node, error, "its group \"%s\" does not hold rank %u, whose file this is",
                           group->name, maker->rank);
    }
    if (!collective_bytes(maker, node, n, op, error))
        return FALSE;
    op->stream = stream_of_group(maker, op->group);
    gboolean followed = node->group == INDEX_NONE && maker->dimensions->len > 0;
    maker->partial += !followed && !chakra_truths_all(&node->involved);
    return TRUE;
}

static gboolean
make_message(Maker *maker, const ChakraNode *node, Op *op, GError **error)
{
    gboolean sends = node->type == CHAKRA_SEND;
    if (maker->source->replicate > 0)
        return chakra_fail(maker, node, error, "%s names its peer, so that this rank's trace cannot be replicated",
                           chakra_type_name(node->type));
    ChakraNumber far = sends ? CHAKRA_COMM_DST : CHAKRA_COMM_SRC, near = sends ? CHAKRA_COMM_SRC : CHAKRA_COMM_DST;
    if (!need(maker, node, far, error) || !need(maker, node, CHAKRA_COMM_SIZE, error))
        return FALSE;
    if ((node->has & 1u << near) && node->number[near] != maker->rank)
        return chakra_fail(maker, node, error, "%s is %" G_GINT64_FORMAT " in the file of rank %u",
                           chakra_number_name(near), node->number[near], maker->rank);
    if (node->number[far] >= maker->workload->n_ranks)
        return chakra_fail(maker, node, error, "%s is %" G_GINT64_FORMAT "; there are ranks 0 to %u",
                           chakra_number_name(far), node->number[far], maker->workload->n_ranks - 1);
    if (node->number[CHAKRA_COMM_TAG] > UINT32_MAX)
        return chakra_fail(maker, node, error, "comm_tag is %" G_GINT64_FORMAT "; expected at most 2^32 - 1",
                           node->number[CHAKRA_COMM_TAG]);
    op->peer = (int32_t)node->number[far];
    op->bytes = (uint64_t)node->number[CHAKRA_COMM_SIZE];
    op->tag = (uint32_t)node->number[CHAKRA_COMM_TAG];
    return TRUE;
}

/* PyTorch traces type the host's call of a collective like the kernel that communicates; only the kernel has a kind. */
static gboolean
is_call(const ChakraNode *node)
{
    return node->type == CHAKRA_COLL && node->number[CHAKRA_IS_CPU_OP] && !(node->has & 1u << CHAKRA_COMM_TYPE);
}

static gboolean
is_proposed(const ChakraNode *node)
{
    return node->type >= FIRST_PROPOSED && node->type <= LAST_PROPOSED;
}

static OpKind
kind_of(const ChakraNode *node)
{
    if (is_call(node))
        return OP_HOST;
    if (is_proposed(node))
        return OP_COPY;
    switch (node->type) {
    case CHAKRA_COMP:
        return node->number[CHAKRA_IS_CPU_OP] ? OP_HOST : OP_COMPUTE;
    case CHAKRA_COLL:
        return OP_COLLECTIVE;
    case CHAKRA_SEND:
        return OP_SEND;
    case CHAKRA_RECV:
        return OP_RECV;
    case CHAKRA_MEM_LOAD:
    case CHAKRA_MEM_STORE:
        return OP_COPY;
    default:
        return OP_MARKER;
    }
}

/* Streams and figures of what is no communication. */
static void
make_local(Maker *maker, const ChakraNode *node, Op *op)
{
    if (op->kind == OP_COMPUTE) {
        op->stream = stream_named(maker, &maker->gpu, "gpu");
        op->flops = (double)node->number[CHAKRA_NUM_OPS];
        op->bytes_moved = (double)node->number[CHAKRA_TENSOR_SIZE];
        maker->free_of_cost += op->duration_ps < 0 && op->flops <= 0 && op->bytes_moved <= 0;
    } else if (op->kind == OP_HOST) {
        op->stream = stream_named(maker, &maker->cpu, "cpu");
        op->duration_ps = MAX(op->duration_ps, 0);
        maker->calls += is_call(node);
    } else if (op->kind == OP_COPY) {
        op->bytes = (uint64_t)node->number[CHAKRA_TENSOR_SIZE];
        maker->storage += is_proposed(node);
    }
}

gboolean
chakra_make_op(Maker *maker, const ChakraNode *node, Op *op, GError **error)
{
    *op = op_default(OP_MARKER);
    if (chakra_type_name(node->type) == NULL && !is_proposed(node))
        return chakra_fail(maker, node, error, "node type %u; schema 0.0.4 has types 0 to %d", node->type,
                           CHAKRA_TYPES - 1);
    *op = op_default(kind_of(node));
    if (node->duration_ps > 0 && op->kind != OP_MARKER)
        op->duration_ps = node->duration_ps;

    gboolean talks = op->kind == OP_COLLECTIVE || op->kind == OP_SEND || op->kind == OP_RECV;
    if (!talks) {
        make_local(maker, node, op);
        return TRUE;
    }
    if (node->number[CHAKRA_IS_CPU_OP])
        return chakra_fail(maker, node, error, "%s has is_cpu_op true; communication runs on the GPU",
                           chakra_type_name(node->type));
    maker->communications++;
    maker->timed += op->duration_ps >= 0;
    return op->kind == OP_COLLECTIVE ? make_collective(maker, node, op, error) : make_message(maker, node, op, error);
}
