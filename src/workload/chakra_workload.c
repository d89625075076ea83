/* chakra_workload.c - Chakra nodes become programs in the DAG form
 *
 * Ops stand in ascending order of node id: the order in which ASTRA-sim tries nodes that are ready, and the order
 * by which the members of a group match their collectives. COMP runs on the exclusive stream "gpu", what is_cpu_op
 * marks on "cpu"; a group's collectives stand on a stream of its name, which is not exclusive. */
#include "base/error.h"
#include "workload/chakra_trace.h"
#include "workload/program_check.h"

#include <string.h>

/* comm_type of the schema. */
static const struct {
    const char *name;
    int kind; /* CollectiveKind; -1 = not known here */
} comm_types[] = {
    {"ALL_REDUCE", COLLECTIVE_ALL_REDUCE},
    {"REDUCE", COLLECTIVE_REDUCE},
    {"ALL_GATHER", COLLECTIVE_ALL_GATHER},
    {"GATHER", -1},
    {"SCATTER", -1},
    {"BROADCAST", COLLECTIVE_BROADCAST},
    {"ALL_TO_ALL", COLLECTIVE_ALL_TO_ALL},
    {"REDUCE_SCATTER", COLLECTIVE_REDUCE_SCATTER},
    {"REDUCE_SCATTER_BLOCK", COLLECTIVE_REDUCE_SCATTER},
    {"BARRIER", COLLECTIVE_BARRIER},
};

typedef struct {
    Workload *workload;
    const TraceSource *source;
    const ChakraTrace *trace; /* of the rank being made */
    Program *program;
    uint32_t rank;
    uint32_t gpu, cpu;              /* streams, INDEX_NONE until used */
    GHashTable *group_stream;       /* group + 1 -> stream + 1, of the program */
    GHashTable *group_index;        /* name -> group + 1 */
    uint32_t all;                   /* the group of all ranks, INDEX_NONE until used */
    uint64_t partial, free_of_cost; /* counted for the notes */
    uint64_t timed, communications, broken;
    uint64_t calls;       /* collectives that a host only calls */
    uint64_t dangling;    /* dependencies on nodes that no file has, */
    char *first_dangling; /* and where the first of them stands; owned */
} Maker;

/* "PATH: node 12 \"name\": " and the message. Returns FALSE. */
static gboolean G_GNUC_PRINTF(4, 5)
    fail(const Maker *maker, const ChakraNode *node, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return error_input(error, "%s: node %" G_GUINT64_FORMAT " \"%s\": %s", maker->trace->path, node->id,
                       chakra_node_name(maker->trace, node), message);
}

static gboolean
need(const Maker *maker, const ChakraNode *node, ChakraNumber number, GError **error)
{
    if (node->has & 1u << number)
        return TRUE;
    return fail(maker, node, error, "%s has no attribute %s", chakra_type_name(node->type), chakra_number_name(number));
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

static gboolean
find_group(Maker *maker, const ChakraNode *node, uint32_t *group, GError **error)
{
    if (node->group == INDEX_NONE) {
        *group = all_ranks(maker);
        return TRUE;
    }
    const char *name = maker->trace->texts->str + node->group;
    void *found = g_hash_table_lookup(maker->group_index, name);
    if (found == NULL) {
        const char *file = maker->source->groups_file;
        return fail(maker, node, error, "pg_name is \"%s\", and %s%s", name,
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
make_collective(Maker *maker, const ChakraNode *node, Op *op, GError **error)
{
    if (!need(maker, node, CHAKRA_COMM_TYPE, error))
        return FALSE;
    int64_t type = node->number[CHAKRA_COMM_TYPE];
    if (type >= (int64_t)G_N_ELEMENTS(comm_types))
        return fail(maker, node, error, "comm_type is %" G_GINT64_FORMAT "; expected 0 to %u", type,
                    (unsigned)G_N_ELEMENTS(comm_types) - 1);
    if (comm_types[type].kind < 0)
        return fail(maker, node, error, "comm_type is %" G_GINT64_FORMAT " (%s), which is not simulated", type,
                    comm_types[type].name);
    op->collective = (CollectiveKind)comm_types[type].kind;
    if (op->collective != COLLECTIVE_BARRIER && !need(maker, node, CHAKRA_COMM_SIZE, error))
        return FALSE;
    if (!find_group(maker, node, &op->group, error))
        return FALSE;

    uint32_t n;
    if (workload_members(maker->workload, op->group, maker->rank, &n) == NULL) {
        const Group *group = g_ptr_array_index(maker->workload->groups, op->group);
        return fail(maker, node, error, "its group \"%s\" does not hold rank %u, whose file this is", group->name,
                    maker->rank);
    }
    op->bytes = (uint64_t)node->number[CHAKRA_COMM_SIZE];
    if (op->collective == COLLECTIVE_ALL_GATHER) { /* the size each contributes; S counts the result */
        if (op->bytes > INT64_MAX / n)
            return fail(maker, node, error, "comm_size x %u members is above 2^63 - 1", n);
        op->bytes *= n;
    }
    op->stream = stream_of_group(maker, op->group);
    maker->partial += node->partial;
    return TRUE;
}

static gboolean
make_message(Maker *maker, const ChakraNode *node, Op *op, GError **error)
{
    gboolean sends = node->type == CHAKRA_SEND;
    if (maker->source->replicate > 0)
        return fail(maker, node, error, "%s names its peer, so that this rank's trace cannot be replicated",
                    chakra_type_name(node->type));
    ChakraNumber far = sends ? CHAKRA_COMM_DST : CHAKRA_COMM_SRC, near = sends ? CHAKRA_COMM_SRC : CHAKRA_COMM_DST;
    if (!need(maker, node, far, error) || !need(maker, node, CHAKRA_COMM_SIZE, error))
        return FALSE;
    if ((node->has & 1u << near) && node->number[near] != maker->rank)
        return fail(maker, node, error, "%s is %" G_GINT64_FORMAT " in the file of rank %u", chakra_number_name(near),
                    node->number[near], maker->rank);
    if (node->number[far] >= maker->workload->n_ranks)
        return fail(maker, node, error, "%s is %" G_GINT64_FORMAT "; there are ranks 0 to %u", chakra_number_name(far),
                    node->number[far], maker->workload->n_ranks - 1);
    if (node->number[CHAKRA_COMM_TAG] > UINT32_MAX)
        return fail(maker, node, error, "comm_tag is %" G_GINT64_FORMAT "; expected at most 2^32 - 1",
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

static OpKind
kind_of(const ChakraNode *node)
{
    if (is_call(node))
        return OP_HOST;
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
    }
}

static gboolean
make_op(Maker *maker, const ChakraNode *node, Op *op, GError **error)
{
    if (chakra_type_name(node->type) == NULL)
        return fail(maker, node, error, "node type %u; schema 0.0.4 has types 0 to %d", node->type, CHAKRA_TYPES - 1);
    *op = op_default(kind_of(node));
    if (node->duration_us > (uint64_t)(SIM_TIME_MAX / PS_PER_US))
        return fail(maker, node, error, "duration_micros is %" G_GUINT64_FORMAT "; longer than 106 days",
                    node->duration_us);
    if (node->duration_us > 0 && op->kind != OP_MARKER)
        op->duration_ps = (SimTime)node->duration_us * PS_PER_US;

    gboolean talks = op->kind == OP_COLLECTIVE || op->kind == OP_SEND || op->kind == OP_RECV;
    if (!talks) {
        make_local(maker, node, op);
        return TRUE;
    }
    if (node->number[CHAKRA_IS_CPU_OP])
        return fail(maker, node, error, "%s has is_cpu_op true; communication runs on the GPU",
                    chakra_type_name(node->type));
    maker->communications++;
    maker->timed += op->duration_ps >= 0;
    return op->kind == OP_COLLECTIVE ? make_collective(maker, node, op, error) : make_message(maker, node, op, error);
}

static int
by_id(const void *a, const void *b)
{
    const ChakraNode *x = *(const ChakraNode *const *)a, *y = *(const ChakraNode *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static int
by_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* The nodes in ascending order of id. NULL with an error where two have one id. */
static GPtrArray *
sorted_nodes(const Maker *maker, GError **error)
{
    const GArray *nodes = maker->trace->nodes;
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (uint32_t i = 0; i < nodes->len; i++)
        g_ptr_array_add(sorted, &g_array_index(nodes, ChakraNode, i));
    g_ptr_array_sort(sorted, by_id);
    for (uint32_t i = 1; i < sorted->len; i++) {
        const ChakraNode *a = g_ptr_array_index(sorted, i - 1), *b = g_ptr_array_index(sorted, i);
        if (a->id == b->id) {
            fail(maker, MIN(a, b), error, "its id is also that of \"%s\"", chakra_node_name(maker->trace, MAX(a, b)));
            return NULL;
        }
    }
    return g_steal_pointer(&sorted);
}

/* The place of an id among the sorted nodes, INDEX_NONE where it is not there. */
static uint32_t
find_node(const GPtrArray *sorted, uint64_t id)
{
    uint32_t low = 0, high = sorted->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ChakraNode *node = g_ptr_array_index(sorted, middle);
        if (node->id == id)
            return middle;
        if (node->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return INDEX_NONE;
}

/* A dependency on a node that is not there cannot be waited for. */
static void
drop_dangling(Maker *maker, const ChakraNode *node, uint64_t id)
{
    if (maker->dangling++ == 0)
        maker->first_dangling = g_strdup_printf("%s: node %" G_GUINT64_FORMAT " \"%s\" on node %" G_GUINT64_FORMAT,
                                                maker->trace->path, node->id, chakra_node_name(maker->trace, node), id);
}

/* The ops a node waits for, ascending, each once, into deps. */
static void
resolve_deps(Maker *maker, const GPtrArray *sorted, const ChakraNode *node, GArray *deps)
{
    g_array_set_size(deps, 0);
    for (uint32_t d = 0; d < node->n_deps; d++) {
        uint64_t id = g_array_index(maker->trace->deps, uint64_t, node->first_dep + d);
        uint32_t index = find_node(sorted, id);
        if (index == INDEX_NONE)
            drop_dangling(maker, node, id);
        else
            g_array_append_val(deps, index);
    }
    g_array_sort(deps, by_index);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < deps->len; i++) {
        uint32_t dep = g_array_index(deps, uint32_t, i);
        if (kept == 0 || g_array_index(deps, uint32_t, kept - 1) != dep)
            g_array_index(deps, uint32_t, kept++) = dep;
    }
    g_array_set_size(deps, kept);
}

static gboolean
make_program(Maker *maker, uint32_t index, GError **error)
{
    g_autoptr(GPtrArray) sorted = sorted_nodes(maker, error);
    if (sorted == NULL)
        return FALSE;
    if (sorted->len == 0)
        return error_input(error, "%s: there are no nodes in it", maker->trace->path);

    maker->program = workload_program(maker->workload, index);
    maker->program->name = g_strdup_printf("rank %u", maker->rank);
    maker->gpu = maker->cpu = INDEX_NONE;
    g_hash_table_remove_all(maker->group_stream);
    g_autoptr(GArray) deps = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < sorted->len; i++) {
        const ChakraNode *node = g_ptr_array_index(sorted, i);
        const char *name = chakra_node_name(maker->trace, node);
        g_autofree char *number = g_strdup_printf("node %" G_GUINT64_FORMAT, node->id);
        Op op;
        if (!make_op(maker, node, &op, error))
            return FALSE;
        resolve_deps(maker, sorted, node, deps);
        program_add_op(maker->program, op, name[0] != '\0' ? name : number, (const uint32_t *)(const void *)deps->data,
                       deps->len);
    }
    if (maker->source->break_cycles)
        maker->broken += program_break_circles(maker->program);
    if (check_order(maker->workload, index, error))
        return TRUE;
    g_prefix_error(error, "%s: ", maker->trace->path);
    return FALSE;
}

static void
describe(Maker *maker)
{
    Workload *workload = maker->workload;
    workload->recorded_collectives = maker->communications > 0 && maker->timed == maker->communications;
    workload->description =
        g_strdup_printf("chakra, %u files from %s", maker->source->n_files, maker->source->files[0]);
    if (maker->source->replicate > 0)
        workload_note(workload, "the trace of one rank is replicated over %u ranks", workload->n_ranks);
    if (maker->partial > 0)
        workload_note(workload,
                      "%" G_GUINT64_FORMAT " collectives involve only some network dimensions (involved_dim); "
                      "they are run over their whole group",
                      maker->partial);
    if (maker->free_of_cost > 0)
        workload_note(workload,
                      "%" G_GUINT64_FORMAT
                      " compute nodes carry neither a duration nor num_ops nor tensor_size; they take no time",
                      maker->free_of_cost);
    if (maker->calls > 0)
        workload_note(workload,
                      "%" G_GUINT64_FORMAT " collectives with is_cpu_op and without comm_type are the host's calls of "
                      "others; they are host work",
                      maker->calls);
    if (maker->dangling > 0)
        workload_note(workload,
                      "%" G_GUINT64_FORMAT " dependencies on nodes that are not in the file were dropped; the first is "
                      "of %s",
                      maker->dangling, maker->first_dangling);
    if (maker->broken > 0)
        workload_note(workload, "%" G_GUINT64_FORMAT " dependencies were dropped to break circles of waiting",
                      maker->broken);
}

/* One rank's program, made or shared. */
static gboolean
make_rank(Maker *maker, ChakraRead read, GHashTable *programs, GError **error)
{
    g_autoptr(ChakraTrace) trace = read(maker->source->files[maker->rank], error);
    if (trace == NULL)
        return FALSE;
    maker->trace = trace;
    uint32_t index = workload_add_program(maker->workload, TRUE);
    if (!make_program(maker, index, error))
        return FALSE;
    g_autofree char *digest = chakra_program_digest(maker->program);
    void *same = g_hash_table_lookup(programs, digest);
    if (same == NULL) {
        g_hash_table_insert(programs, g_steal_pointer(&digest), GUINT_TO_POINTER(index + 1));
    } else {
        g_ptr_array_set_size(maker->workload->programs, (int)index); /* the one just made goes */
        index = GPOINTER_TO_UINT(same) - 1;
        Program *shared = workload_program(maker->workload, index);
        if (!g_str_has_suffix(shared->name, " and others")) {
            char *name = g_strconcat(shared->name, " and others", NULL);
            g_free(shared->name);
            shared->name = name;
        }
    }
    maker->workload->program_of_rank[maker->rank] = index;
    return TRUE;
}

/* All ranks; where the source collects problems, the ranks after a bad one too. */
static gboolean
make_ranks(Maker *maker, ChakraRead read, GError **error)
{
    Problems problems = {.all = maker->source->problems, .error = error};
    g_autoptr(GHashTable) programs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    gboolean sound = TRUE;
    for (maker->rank = 0; maker->rank < maker->source->n_files; maker->rank++) {
        GError *wrong = NULL;
        if (make_rank(maker, read, programs, &wrong))
            continue;
        sound = FALSE;
        if (!problems_add(&problems, wrong))
            break;
    }
    if (sound && maker->source->replicate > 0) { /* the others do what rank 0 does */
        for (uint32_t rank = 1; rank < maker->workload->n_ranks; rank++)
            maker->workload->program_of_rank[rank] = maker->workload->program_of_rank[0];
    }
    if (!sound && problems.all != NULL)
        error_input(error, "%s", (const char *)g_ptr_array_index(problems.all, 0));
    return sound;
}

/* The last check; all problems where the source collects them. */
static gboolean
check(const Maker *maker, GError **error)
{
    GPtrArray *problems = maker->source->problems;
    if (problems == NULL)
        return workload_check(maker->workload, error);
    workload_check_all(maker->workload, problems);
    return problems->len == 0 || error_input(error, "%s", (const char *)g_ptr_array_index(problems, 0));
}

Workload *
chakra_workload(const TraceSource *source, ChakraRead read, GError **error)
{
    g_autoptr(Workload) workload = workload_new(source->replicate > 0 ? source->replicate : source->n_files);
    if (source->groups_file != NULL && !chakra_groups_read(workload, source->groups_file, error))
        return NULL;

    g_autoptr(GHashTable) group_stream = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) group_index = g_hash_table_new(g_str_hash, g_str_equal);
    Maker maker = {.workload = workload,
                   .source = source,
                   .group_stream = group_stream,
                   .group_index = group_index,
                   .all = INDEX_NONE};
    for (uint32_t i = 0; i < workload->groups->len; i++) {
        const Group *group = g_ptr_array_index(workload->groups, i);
        g_hash_table_insert(group_index, group->name, GUINT_TO_POINTER(i + 1));
    }
    gboolean made = make_ranks(&maker, read, error);
    if (made)
        describe(&maker);
    g_free(maker.first_dangling);
    if (!made)
        return NULL;
    if (!check(&maker, error)) {
        g_prefix_error(error, "%s and the others: ", source->files[0]);
        return NULL;
    }
    chakra_settle_collectives(workload);
    return g_steal_pointer(&workload);
}
