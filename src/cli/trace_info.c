/* trace_info.c - trainshed trace info: ranks, ops by kind, collectives by kind and size, groups, times, notes */
#include "cli/trace_info.h"

#include "base/units.h"
#include "cli/table.h"

#include <string.h>

enum { KINDS = OP_MARKER + 1 };

/* Of one program. */
typedef struct {
    uint32_t ranks; /* that run it */
    uint64_t ops[KINDS];
    double time_ps[KINDS]; /* recorded */
    double flops, bytes_moved, sent;
} Count;

/* Collectives that are alike. */
typedef struct {
    CollectiveKind kind;
    gboolean uneven;
    uint32_t members;
    uint64_t bytes;
    uint64_t calls; /* over all ranks */
} Alike;

static Count *
count_programs(const Workload *workload)
{
    Count *counts = g_new0(Count, workload->programs->len);
    for (uint32_t rank = 0; rank < workload->n_ranks; rank++)
        counts[workload->program_of_rank[rank]].ranks++;
    for (uint32_t p = 0; p < workload->programs->len; p++) {
        const GArray *ops = workload_program(workload, p)->ops;
        for (uint32_t i = 0; i < ops->len; i++) {
            const Op *op = &g_array_index(ops, Op, i);
            counts[p].ops[op->kind]++;
            counts[p].time_ps[op->kind] += op->duration_ps > 0 ? (double)op->duration_ps : 0;
            counts[p].flops += op->flops;
            counts[p].bytes_moved += op->bytes_moved;
            counts[p].sent += op->kind == OP_SEND ? (double)op->bytes : 0;
        }
    }
    return counts;
}

static void
print_head(const Workload *workload, const char *format, FILE *out)
{
    uint32_t dags = 0;
    for (uint32_t p = 0; p < workload->programs->len; p++)
        dags += workload_program(workload, p)->dag;
    g_autoptr(Table) table = table_new("|");
    table_add(table, "format");
    table_add(table, "%s", format);
    table_add(table, "source");
    table_add(table, "%s", workload->description);
    table_add(table, "ranks");
    table_add(table, "%u", workload->n_ranks);
    table_add(table, "programs");
    table_add(table, "%u, %s", workload->programs->len,
              dags == 0                         ? "streams"
              : dags == workload->programs->len ? "dag"
                                                : "streams and dag");
    table_add(table, "groups");
    table_add(table, "%u", workload->groups->len);
    table_add(table, "recorded collectives");
    table_add(table, "%s", workload->recorded_collectives ? "yes" : "no");
    if (workload->start_ps != NULL) {
        SimTime last = 0;
        for (uint32_t rank = 0; rank < workload->n_ranks; rank++)
            last = MAX(last, workload->start_ps[rank]);
        table_add(table, "recorded starts");
        table_take(table, g_strdup_printf("%s", last == 0 ? "together" : "apart"));
        table_add(table, "latest start");
        table_take(table, units_format_time(last));
    }
    table_print(table, out);
    for (uint32_t i = 0; i < workload->notes->len; i++)
        fprintf(out, "note: %s\n", (const char *)g_ptr_array_index(workload->notes, i));
}

static void
print_ops(const Workload *workload, const Count *counts, FILE *out)
{
    g_autoptr(Table) table = table_new("op|>least a rank|>most a rank|>all ranks|>recorded time, mean of ranks");
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        uint64_t least = UINT64_MAX, most = 0, all = 0;
        double time_ps = 0;
        for (uint32_t p = 0; p < workload->programs->len; p++) {
            if (counts[p].ranks == 0)
                continue;
            least = MIN(least, counts[p].ops[kind]);
            most = MAX(most, counts[p].ops[kind]);
            all += counts[p].ops[kind] * counts[p].ranks;
            time_ps += counts[p].time_ps[kind] * counts[p].ranks;
        }
        if (most == 0)
            continue;
        time_ps /= workload->n_ranks;
        table_add(table, "%s", op_kind_name(kind));
        table_add(table, "%" G_GUINT64_FORMAT, least);
        table_add(table, "%" G_GUINT64_FORMAT, most);
        table_add(table, "%" G_GUINT64_FORMAT, all);
        table_take(table,
                   time_ps > 0 && time_ps < (double)SIM_TIME_MAX ? units_format_time((SimTime)time_ps) : g_strdup("-"));
    }
    fputc('\n', out);
    table_print(table, out);
}

static void
print_work(const Workload *workload, const Count *counts, FILE *out)
{
    double flops = 0, moved = 0, sent = 0;
    for (uint32_t p = 0; p < workload->programs->len; p++) {
        flops += counts[p].flops * counts[p].ranks;
        moved += counts[p].bytes_moved * counts[p].ranks;
        sent += counts[p].sent * counts[p].ranks;
    }
    if (flops > 0 || moved > 0) {
        g_autofree char *size = units_format_size(moved / workload->n_ranks);
        fprintf(out, "\ncompute on the roofline, mean of ranks: %.6g operations, %s moved\n", flops / workload->n_ranks,
                size);
    }
    if (sent > 0) {
        g_autofree char *size = units_format_size(sent);
        fprintf(out, "%ssent point to point, all ranks: %s\n", flops > 0 || moved > 0 ? "" : "\n", size);
    }
}

static int
by_kind(const void *a, const void *b)
{
    const Alike *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->members != y->members)
        return x->members < y->members ? -1 : 1;
    if (x->uneven != y->uneven)
        return x->uneven ? 1 : -1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

/* The collectives of one program, for the ranks that run it in groups of each size. */
static void
collect(const Workload *workload, uint32_t program, const uint32_t *ranks, uint32_t n_ranks, GArray *all)
{
    const GArray *ops = workload_program(workload, program)->ops;
    for (uint32_t i = 0; i < ops->len; i++) {
        const Op *op = &g_array_index(ops, Op, i);
        if (op->kind != OP_COLLECTIVE)
            continue;
        Alike one = {.kind = op->collective, .uneven = op->splits != INDEX_NONE, .bytes = op->bytes, .calls = n_ranks};
        workload_members(workload, op->group, ranks[0], &one.members);
        g_array_append_val(all, one);
    }
}

static void
print_collectives(const Workload *workload, FILE *out)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Alike));
    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t p = 0; p < workload->programs->len; p++) {
        g_array_set_size(ranks, 0);
        for (uint32_t rank = 0; rank < workload->n_ranks; rank++) {
            if (workload->program_of_rank[rank] == p)
                g_array_append_val(ranks, rank);
        }
        if (ranks->len > 0)
            collect(workload, p, (const uint32_t *)(const void *)ranks->data, ranks->len, all);
    }
    if (all->len == 0)
        return;
    g_array_sort(all, by_kind);
    g_autoptr(Table) table = table_new("collective|>members|>bytes|>calls, all ranks|splits");
    for (uint32_t i = 0; i < all->len;) {
        Alike one = g_array_index(all, Alike, i);
        for (i++; i < all->len && by_kind(&one, &g_array_index(all, Alike, i)) == 0; i++)
            one.calls += g_array_index(all, Alike, i).calls;
        table_add(table, "%s", collective_kind_name(one.kind));
        table_add(table, "%u", one.members);
        table_add(table, "%" G_GUINT64_FORMAT, one.bytes);
        table_add(table, "%" G_GUINT64_FORMAT, one.calls);
        table_add(table, "%s", one.uneven ? "uneven" : "");
    }
    fputc('\n', out);
    table_print(table, out);
}

/* The ranks of a group's first instance, shortened. */
static char *
ranks_text(const Group *group)
{
    enum { SHOWN = 8 };
    g_autoptr(GString) text = g_string_new(NULL);
    if (group->instances->len == 0)
        return g_strdup("");
    const GArray *members = g_ptr_array_index(group->instances, 0);
    for (uint32_t i = 0; i < members->len && i < SHOWN; i++)
        g_string_append_printf(text, "%s%u", i > 0 ? " " : "", g_array_index(members, uint32_t, i));
    if (members->len > SHOWN)
        g_string_append(text, " ...");
    return g_strdup(text->str);
}

static void
print_groups(const Workload *workload, FILE *out)
{
    if (workload->groups->len == 0)
        return;
    g_autoptr(Table) table = table_new("group|>instances|>members|ranks of the first");
    for (uint32_t i = 0; i < workload->groups->len; i++) {
        const Group *group = g_ptr_array_index(workload->groups, i);
        const GArray *first = group->instances->len > 0 ? g_ptr_array_index(group->instances, 0) : NULL;
        table_add(table, "%s", group->name);
        table_add(table, "%u", group->instances->len);
        table_add(table, "%u", first != NULL ? first->len : 0);
        table_take(table, ranks_text(group));
    }
    fputc('\n', out);
    table_print(table, out);
}

void
trace_info_print(const Workload *workload, const char *format, FILE *out)
{
    g_autofree Count *counts = count_programs(workload);
    print_head(workload, format, out);
    print_ops(workload, counts, out);
    print_work(workload, counts, out);
    print_collectives(workload, out);
    print_groups(workload, out);
}
