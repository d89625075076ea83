/* chakra_outline.c - what Chakra traces hold by themselves, whether or not they can be replayed
 *
 * Nodes and times by type, shares of the recorded time, collectives by kind and group, and what is missing. */
#include "base/error.h"
#include "base/units.h"
#include "workload/chakra_trace.h"

#include <string.h>

/* Where a node's time counts. */
enum { SHARE_COMPUTE, SHARE_COMMUNICATION, SHARE_MEMORY, SHARE_HOST, SHARES };
enum { TYPES = CHAKRA_TYPES + 1 }; /* the last: any other */

typedef struct {
    uint64_t least, most, all; /* a rank's, and the sum */
    uint64_t timed;
    double time_ps;
} TypeCount;

/* Collectives of one kind and group. */
typedef struct {
    int64_t type; /* comm_type; -1 = not said */
    char *group;
    uint64_t calls, sized, least, most; /* bytes of those that have a size */
    double bytes;
} Row;

/* What is not in the files. */
typedef struct {
    uint64_t comm_type, comm_size, peers, sizes, costs, deps, places;
} Missing;

typedef struct {
    GString *schemas; /* "0.0.4, 0.0.3" */
    TypeCount types[TYPES];
    double share_ps[SHARES];
    uint64_t first_us, last_us; /* over nodes with a start */
    double most_ps;             /* recorded on the busiest rank, one after another */
    GArray *rows;               /* of Row */
    GHashTable *row_of;         /* "type group" -> index + 1 */
    GHashTable *steps;          /* names that begin with ProfilerStep# */
    uint64_t n_control, n_data; /* dependencies */
    Missing missing;
} Outline;

static void
row_clear(void *row)
{
    g_free(((Row *)row)->group);
}

static uint32_t
share_of(const ChakraNode *node)
{
    if (node->number[CHAKRA_IS_CPU_OP])
        return SHARE_HOST;
    if (node->type == CHAKRA_COMP)
        return SHARE_COMPUTE;
    return node->type == CHAKRA_MEM_LOAD || node->type == CHAKRA_MEM_STORE ? SHARE_MEMORY : SHARE_COMMUNICATION;
}

static gboolean
has(const ChakraNode *node, ChakraNumber number)
{
    return node->has >> number & 1;
}

static Row *
row_for(Outline *outline, int64_t type, const char *group)
{
    g_autofree char *key = g_strdup_printf("%" G_GINT64_FORMAT " %s", type, group);
    uint32_t index = GPOINTER_TO_UINT(g_hash_table_lookup(outline->row_of, key));
    if (index == 0) {
        const Row row = {.type = type, .group = g_strdup(group), .least = UINT64_MAX};
        g_array_append_val(outline->rows, row);
        index = outline->rows->len;
        g_hash_table_insert(outline->row_of, g_steal_pointer(&key), GUINT_TO_POINTER(index));
    }
    return &g_array_index(outline->rows, Row, index - 1);
}

static void
count_collective(Outline *outline, const ChakraTrace *trace, const ChakraNode *node)
{
    if (node->number[CHAKRA_IS_CPU_OP]) /* a call of one */
        return;
    int64_t type = has(node, CHAKRA_COMM_TYPE) ? node->number[CHAKRA_COMM_TYPE] : -1;
    Row *row = row_for(outline, type, node->group == INDEX_NONE ? "all ranks" : trace->texts->str + node->group);
    outline->missing.comm_type += type < 0;
    outline->missing.comm_size += !has(node, CHAKRA_COMM_SIZE);
    row->calls++;
    if (!has(node, CHAKRA_COMM_SIZE))
        return;
    uint64_t bytes = (uint64_t)node->number[CHAKRA_COMM_SIZE];
    row->sized++;
    row->bytes += (double)bytes;
    row->least = MIN(row->least, bytes);
    row->most = MAX(row->most, bytes);
}

static void
count_node(Outline *outline, const ChakraTrace *trace, const ChakraNode *node)
{
    gboolean message = node->type == CHAKRA_SEND || node->type == CHAKRA_RECV;
    if (node->type == CHAKRA_COLL)
        count_collective(outline, trace, node);
    outline->missing.peers += message && !has(node, node->type == CHAKRA_SEND ? CHAKRA_COMM_DST : CHAKRA_COMM_SRC);
    outline->missing.sizes += message && !has(node, CHAKRA_COMM_SIZE);
    outline->missing.costs += node->type == CHAKRA_COMP && !node->number[CHAKRA_IS_CPU_OP] && node->duration_ps == 0 &&
                              node->number[CHAKRA_NUM_OPS] == 0 && node->number[CHAKRA_TENSOR_SIZE] == 0;
    outline->missing.places += !has(node, CHAKRA_IS_CPU_OP) && node->type >= CHAKRA_COMP;
    const char *name = chakra_node_name(trace, node);
    if (g_str_has_prefix(name, "ProfilerStep#"))
        g_hash_table_add(outline->steps, g_strdup(name));
    if (node->start_us > 0) {
        uint64_t end = node->start_us + (uint64_t)(node->duration_ps / PS_PER_US);
        outline->first_us = MIN(outline->first_us, node->start_us);
        outline->last_us = MAX(outline->last_us, end);
    }
}

/* Dependencies on nodes that the file does not have. */
static uint64_t
count_dangling(const ChakraTrace *trace)
{
    uint64_t n = 0;
    g_autoptr(GHashTable) ids = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (uint32_t i = 0; i < trace->nodes->len; i++)
        g_hash_table_add(ids, &g_array_index(trace->nodes, ChakraNode, i).id);
    for (uint32_t i = 0; i < trace->deps->len; i++)
        n += !g_hash_table_contains(ids, &g_array_index(trace->deps, uint64_t, i));
    return n;
}

static void
count_trace(Outline *outline, const ChakraTrace *trace)
{
    uint64_t counts[TYPES] = {0};
    double total_ps = 0;
    for (uint32_t i = 0; i < trace->nodes->len; i++) {
        const ChakraNode *node = &g_array_index(trace->nodes, ChakraNode, i);
        uint32_t type = MIN(node->type, CHAKRA_TYPES);
        counts[type]++;
        outline->types[type].timed += node->duration_ps > 0;
        outline->types[type].time_ps += (double)node->duration_ps;
        outline->share_ps[share_of(node)] += (double)node->duration_ps;
        total_ps += (double)node->duration_ps;
        count_node(outline, trace, node);
    }
    for (uint32_t type = 0; type < TYPES; type++) {
        TypeCount *count = &outline->types[type];
        count->least = MIN(count->least, counts[type]);
        count->most = MAX(count->most, counts[type]);
        count->all += counts[type];
    }
    outline->most_ps = MAX(outline->most_ps, total_ps);
    outline->missing.deps += count_dangling(trace);
    outline->n_control += trace->n_control;
    outline->n_data += trace->deps->len - trace->n_control;
    if (strstr(outline->schemas->str, trace->schema) == NULL)
        g_string_append_printf(outline->schemas, "%s%s", outline->schemas->len > 0 ? "; " : "", trace->schema);
}

/* units_format_time within its range, which sums may leave. */
static char *
time_text(double ps)
{
    return ps < (double)SIM_TIME_MAX ? units_format_time((SimTime)ps) : g_strdup_printf("%.3g s", ps / PS_PER_S);
}

static void
tell_types(const Outline *outline, uint32_t n_files, GString *told)
{
    g_string_append_printf(told, "%-16s %12s %12s %12s %12s  %s\n", "node", "least a rank", "most a rank", "all ranks",
                           "timed", "recorded time, mean of ranks");
    for (uint32_t type = 0; type < TYPES; type++) {
        const TypeCount *count = &outline->types[type];
        if (count->all == 0)
            continue;
        g_autofree char *time = time_text(count->time_ps / n_files);
        g_string_append_printf(told,
                               "%-16s %12" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT " %12" G_GUINT64_FORMAT
                               " %12" G_GUINT64_FORMAT "  %s\n",
                               type < CHAKRA_TYPES ? chakra_type_name(type) : "of other types", count->least,
                               count->most, count->all, count->timed, count->timed > 0 ? time : "-");
    }
}

static void
tell_times(const Outline *outline, uint32_t n_files, GString *told)
{
    static const char *const names[SHARES] = {"compute", "communication", "memory", "host"};
    double total_ps = 0;
    for (uint32_t i = 0; i < SHARES; i++)
        total_ps += outline->share_ps[i];
    guint steps = g_hash_table_size(outline->steps);
    if (steps > 0)
        g_string_append_printf(told, "iterations: %u, by the nodes ProfilerStep#\n", steps);
    else
        g_string_append(told, "iterations: 1, since nothing in a Chakra trace parts them\n");
    if (outline->last_us > 0) {
        g_autofree char *span = time_text((double)(outline->last_us - outline->first_us) * PS_PER_US);
        g_string_append_printf(told, "time span: %s, by start_time_micros\n", span);
    }
    if (total_ps <= 0) {
        g_string_append(told, "time span and shares: not known, no node has a recorded time\n");
        return;
    }
    if (outline->last_us == 0) {
        g_autofree char *most = time_text(outline->most_ps);
        g_string_append_printf(told, "time span: not known, there are no starts; the durations of %s add up to %s\n",
                               n_files > 1 ? "the busiest rank" : "its nodes", most);
    }
    g_string_append(told, "shares of the recorded time:");
    for (uint32_t i = 0; i < SHARES; i++)
        g_string_append_printf(told, "%s %s %.1f %%", i > 0 ? "," : "", names[i],
                               100 * outline->share_ps[i] / total_ps);
    g_string_append_c(told, '\n');
}

static int
by_kind(const void *a, const void *b)
{
    const Row *x = a, *y = b;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    uint64_t m, n; /* groups are mostly numbered */
    if (g_ascii_string_to_unsigned(x->group, 10, 0, UINT64_MAX, &m, NULL) &&
        g_ascii_string_to_unsigned(y->group, 10, 0, UINT64_MAX, &n, NULL) && m != n)
        return m < n ? -1 : 1;
    return strcmp(x->group, y->group);
}

static void
tell_collectives(const Outline *outline, GString *told)
{
    if (outline->rows->len == 0)
        return;
    g_string_append_printf(told, "%-21s %-12s %12s %20s %20s %22s\n", "collective", "group", "nodes, all",
                           "least comm_size", "most comm_size", "sum");
    g_array_sort(outline->rows, by_kind);
    for (uint32_t i = 0; i < outline->rows->len; i++) {
        const Row *row = &g_array_index(outline->rows, Row, i);
        const char *name = chakra_comm_type_name(row->type);
        g_string_append_printf(told, "%-21s %-12s %12" G_GUINT64_FORMAT, name != NULL ? name : "of no known kind",
                               row->group, row->calls);
        if (row->sized > 0)
            g_string_append_printf(told, " %20" G_GUINT64_FORMAT " %20" G_GUINT64_FORMAT " %22.0f\n", row->least,
                                   row->most, row->bytes);
        else
            g_string_append_printf(told, " %20s %20s %22s\n", "-", "-", "-");
    }
}

static void
tell_missing(const Outline *outline, GString *told)
{
    const struct {
        uint64_t n;
        const char *what;
    } missing[] = {
        {outline->missing.comm_type, "collectives without comm_type: their kind"},
        {outline->missing.comm_size, "collectives without comm_size: their bytes"},
        {outline->missing.peers, "messages without comm_dst or comm_src: their peer"},
        {outline->missing.sizes, "messages without comm_size: their bytes"},
        {outline->missing.costs, "compute nodes without duration_micros, num_ops and tensor_size: their time"},
        {outline->missing.places, "nodes without is_cpu_op: taken as the GPU's"},
        {outline->missing.deps, "dependencies on nodes that are not in the file"},
    };
    gboolean any = FALSE;
    for (uint32_t i = 0; i < G_N_ELEMENTS(missing); i++) {
        if (missing[i].n == 0)
            continue;
        g_string_append_printf(told, "missing: %" G_GUINT64_FORMAT " %s\n", missing[i].n, missing[i].what);
        any = TRUE;
    }
    if (!any)
        g_string_append(told, "missing: nothing\n");
}

static void
outline_clear(Outline *outline)
{
    g_string_free(outline->schemas, TRUE);
    g_array_unref(outline->rows);
    g_hash_table_unref(outline->row_of);
    g_hash_table_unref(outline->steps);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Outline, outline_clear)

gboolean
chakra_outline(const TraceSource *source, ChakraRead read, GString *told, GError **error)
{
    g_auto(Outline) outline = {
        .schemas = g_string_new(NULL),
        .first_us = UINT64_MAX,
        .rows = g_array_new(FALSE, FALSE, sizeof(Row)),
        .row_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .steps = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
    };
    g_array_set_clear_func(outline.rows, row_clear);
    for (uint32_t type = 0; type < TYPES; type++)
        outline.types[type].least = UINT64_MAX;
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free); /* said when the workload is read */
    for (uint32_t i = 0; i < source->n_files; i++) {
        Problems problems = {.all = found};
        g_ptr_array_set_size(found, 0);
        g_autoptr(ChakraTrace) trace = read(source->files[i], &problems);
        if (trace == NULL || trace->cut)
            return error_input(error, "%s", (const char *)g_ptr_array_index(found, found->len - 1));
        count_trace(&outline, trace);
    }
    g_string_append_printf(told, "schema: %s\nfiles: %u, one a rank\n", outline.schemas->str, source->n_files);
    tell_times(&outline, source->n_files, told);
    tell_missing(&outline, told);
    g_string_append_printf(told, "dependencies: %" G_GUINT64_FORMAT " on data, %" G_GUINT64_FORMAT " on control\n",
                           outline.n_data, outline.n_control);
    g_string_append_c(told, '\n');
    tell_types(&outline, source->n_files, told);
    g_string_append_c(told, '\n');
    tell_collectives(&outline, told);
    return TRUE;
}
