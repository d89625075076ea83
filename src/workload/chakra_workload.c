/* chakra_workload.c - Chakra nodes become programs in the DAG form
 *
 * Ops stand in ascending order of node id: the order in which ASTRA-sim tries nodes that are ready, and the order
 * by which the members of a group match their collectives. Where the source collects problems, a node, a file that is
 * bad does not end the search. */
#include "base/error.h"
#include "workload/chakra_maker.h"

#include <string.h>

static uint32_t
count_problems(const Maker *maker)
{
    return maker->problems.all != NULL ? maker->problems.all->len : 0;
}

/* Tells ids that two nodes have. FALSE where the search should stop. */
static gboolean
check_ids(Maker *maker, const GPtrArray *sorted)
{
    for (uint32_t i = 1; i < sorted->len; i++) {
        const ChakraNode *a = g_ptr_array_index(sorted, i - 1), *b = g_ptr_array_index(sorted, i);
        if (a->id != b->id)
            continue;
        GError *wrong = NULL;
        chakra_fail(maker, b, &wrong, "its id is also that of \"%s\"", chakra_node_name(maker->trace, a));
        if (!problems_add(&maker->problems, wrong))
            return FALSE;
    }
    return TRUE;
}

/* FALSE where the search should stop. */
static gboolean
make_ops(Maker *maker, const GPtrArray *sorted)
{
    g_autoptr(GArray) deps = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < sorted->len; i++) {
        const ChakraNode *node = g_ptr_array_index(sorted, i);
        const char *name = chakra_node_name(maker->trace, node);
        g_autofree char *number = g_strdup_printf("node %" G_GUINT64_FORMAT, node->id);
        Op op = op_default(OP_MARKER);
        GError *wrong = NULL;
        if (!node->flawed && !chakra_make_op(maker, node, &op, &wrong) && !problems_add(&maker->problems, wrong))
            return FALSE;
        chakra_resolve_deps(maker, sorted, node, deps);
        program_add_op(maker->program, op, name[0] != '\0' ? name : number, (const uint32_t *)(const void *)deps->data,
                       deps->len);
    }
    return TRUE;
}

/* FALSE where there was a problem. */
static gboolean
make_program(Maker *maker, uint32_t index)
{
    uint32_t problems = count_problems(maker);
    g_autoptr(GPtrArray) sorted = chakra_sort_nodes(maker->trace);
    if (sorted->len == 0) {
        GError *wrong = NULL;
        error_input(&wrong, "%s: there are no nodes in it", maker->trace->path);
        problems_add(&maker->problems, wrong);
        return FALSE;
    }
    maker->program = workload_program(maker->workload, index);
    maker->program->name = g_strdup_printf("rank %u", maker->rank);
    maker->gpu = maker->cpu = INDEX_NONE;
    g_hash_table_remove_all(maker->group_stream);
    g_hash_table_remove_all(maker->own_groups);
    g_hash_table_remove_all(maker->calls_of);
    if (!check_ids(maker, sorted) ||
        !chakra_groups_take(maker->workload, maker->trace, maker->rank, maker->own_groups, &maker->problems) ||
        !make_ops(maker, sorted))
        return FALSE;
    if (maker->source->break_cycles)
        maker->broken += program_break_circles(maker->program);
    else if (!chakra_check_circles(maker, sorted))
        return FALSE;
    maker->contracted += chakra_contract(maker->program);
    return count_problems(maker) == problems;
}

/* What was read otherwise than it stands there. */
static void
note_changes(const Maker *maker)
{
    Workload *workload = maker->workload;
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
    if (maker->contracted > 0)
        workload_note(workload,
                      "%" G_GUINT64_FORMAT
                      " nodes that take no time were taken out; what waited for them waits for what "
                      "they waited for",
                      maker->contracted);
}

/* What is of another file, of a type to come, of the host, or nowhere. */
static void
note_sources(const Maker *maker)
{
    Workload *workload = maker->workload;
    if (maker->sized > 0)
        workload_note(workload, "the bytes of %" G_GUINT64_FORMAT " collectives are those of %s", maker->sized,
                      maker->source->sizes_file);
    guint unused = maker->sizes != NULL ? message_sizes_unused(maker->sizes) : 0;
    if (unused > 0)
        workload_note(workload, "%u lines of %s name calls that the trace has not, or has with their bytes", unused,
                      maker->source->sizes_file);
    if (maker->storage > 0)
        workload_note(workload,
                      "%" G_GUINT64_FORMAT " nodes are of the types 8 to 10 proposed for the schema (storage, batch, "
                      "checkpoint); they are copies of their recorded time",
                      maker->storage);
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

static void
describe(const Maker *maker)
{
    Workload *workload = maker->workload;
    workload->recorded_collectives = maker->communications > 0 && maker->timed == maker->communications;
    workload->description =
        g_strdup_printf("chakra, %u files from %s", maker->source->n_files, maker->source->files[0]);
    if (maker->source->replicate > 0)
        workload_note(workload, "the trace of one rank is replicated over %u ranks", workload->n_ranks);
    note_changes(maker);
    note_sources(maker);
}

/* Two ranks that do the same share a program: the last one made goes where it is not the first of its kind. */
static void
share_program(Maker *maker, uint32_t index, GHashTable *programs)
{
    g_autofree char *digest = chakra_program_digest(maker->program);
    void *same = g_hash_table_lookup(programs, digest);
    if (same == NULL) {
        g_hash_table_insert(programs, g_steal_pointer(&digest), GUINT_TO_POINTER(index + 1));
    } else {
        g_ptr_array_set_size(maker->workload->programs, (int)index);
        index = GPOINTER_TO_UINT(same) - 1;
        Program *shared = workload_program(maker->workload, index);
        if (!g_str_has_suffix(shared->name, " and others")) {
            char *name = g_strconcat(shared->name, " and others", NULL);
            g_free(shared->name);
            shared->name = name;
        }
    }
    maker->workload->program_of_rank[maker->rank] = index;
}

/* FALSE where there was a problem. */
static gboolean
make_rank(Maker *maker, ChakraRead read, GHashTable *programs)
{
    uint32_t problems = count_problems(maker);
    g_autoptr(ChakraTrace) trace = read(maker->source->files[maker->rank], &maker->problems);
    if (trace == NULL)
        return FALSE;
    maker->trace = trace;
    uint32_t index = workload_add_program(maker->workload, TRUE);
    if (!make_program(maker, index) || count_problems(maker) > problems)
        return FALSE;
    share_program(maker, index, programs);
    return TRUE;
}

/* All ranks; where the source collects problems, the ranks after a bad one too. */
static gboolean
make_ranks(Maker *maker, ChakraRead read, GError **error)
{
    g_autoptr(GHashTable) programs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    gboolean sound = TRUE;
    for (maker->rank = 0; maker->rank < maker->source->n_files; maker->rank++) {
        if (make_rank(maker, read, programs))
            continue;
        sound = FALSE;
        if (maker->problems.all == NULL || maker->problems.all->len >= CHECK_PROBLEMS_MOST)
            break;
    }
    if (sound && maker->source->replicate > 0) { /* the others do what rank 0 does */
        for (uint32_t rank = 1; rank < maker->workload->n_ranks; rank++)
            maker->workload->program_of_rank[rank] = maker->workload->program_of_rank[0];
    }
    if (!sound && maker->problems.all != NULL)
        error_input(error, "%s", (const char *)g_ptr_array_index(maker->problems.all, 0));
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
    g_autoptr(MessageSizes) sizes = NULL;
    if (source->sizes_file != NULL && (sizes = message_sizes_read(source->sizes_file, error)) == NULL)
        return NULL;
    g_autoptr(GArray) dimensions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    if (source->dimensions != NULL &&
        !chakra_dimensions_parse(source->dimensions, workload->n_ranks, dimensions, error)) {
        g_prefix_error(error, "%s: ", source->files[0]);
        return NULL;
    }
    g_autoptr(GHashTable) calls_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) own_groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    Maker maker = {.workload = workload,
                   .source = source,
                   .problems = {.all = source->problems, .error = error},
                   .own_groups = own_groups,
                   .sizes = sizes,
                   .dimensions = dimensions,
                   .calls_of = calls_of,
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
