/* trace_info.c - trainshed trace info: ranks, shares of time, what is missing, ops by kind, groups, notes */
#include "cli/trace_info.h"

#include "base/units.h"
#include "cli/table.h"
#include "cluster/pastime.h"

#include <string.h>

enum { KINDS = OP_MARKER + 1 };

/* Of one program. */
typedef struct {
    uint32_t ranks; /* that run it */
    uint64_t ops[KINDS];
    uint64_t without_time[KINDS], without_bytes[KINDS];
    double time_ps[KINDS]; /* recorded */
    double flops, bytes_moved, sent;
} Count;

/* A collective or a send that moves nothing. */
static gboolean
lacks_bytes(const Op *op)
{
    gboolean moves =
        (op->kind == OP_COLLECTIVE && op->collective != COLLECTIVE_BARRIER) || (op->kind == OP_SEND && !op->signal);
    return moves && op->bytes == 0;
}

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
            counts[p].without_time[op->kind] += pastime_lacks_time(op);
            counts[p].without_bytes[op->kind] += lacks_bytes(op);
            counts[p].flops += op->flops;
            counts[p].bytes_moved += op->bytes_moved;
            counts[p].sent += op->kind == OP_SEND ? (double)op->bytes : 0;
        }
    }
    return counts;
}

/* Of all ranks: sums of what their programs say. */
typedef struct {
    double span, computing, communicating, both, copying; /* ps */
    SimTime least, most;                                  /* spans */
} Shares;

static Shares
share_times(const Workload *workload, const Count *counts)
{
    Shares sum = {.least = SIM_TIME_MAX};
    for (uint32_t p = 0; p < workload->programs->len; p++) {
        if (counts[p].ranks == 0)
            continue;
        g_autoptr(Script) script = script_new(workload_program(workload, p), FALSE);
        Pastime time = pastime_of(script);
        double ranks = counts[p].ranks;
        sum.span += ranks * (double)time.span;
        sum.computing += ranks * (double)time.computing;
        sum.communicating += ranks * (double)time.communicating;
        sum.both += ranks * (double)time.both;
        sum.copying += ranks * (double)time.copying;
        sum.least = MIN(sum.least, time.span);
        sum.most = MAX(sum.most, time.span);
    }
    return sum;
}

static void
add_share(Table *table, const char *name, double part, double whole)
{
    table_add(table, "%s", name);
    table_add(table, "%.1f %%", 100 * part / whole);
}

/* The span of a rank and what it is spent on, as far as times are recorded. */
static void
add_times(Table *table, const Workload *workload, const Count *counts)
{
    Shares sum = share_times(workload, counts);
    table_add(table, "time span of a rank");
    if (sum.span <= 0) {
        table_add(table, "no times are recorded");
        return;
    }
    double mean = MIN(sum.span / workload->n_ranks, (double)SIM_TIME_MAX / 2);
    g_autofree char *least = units_format_time(sum.least), *most = units_format_time(sum.most);
    g_autofree char *middle = units_format_time((SimTime)mean);
    if (sum.least == sum.most)
        table_add(table, "%s", most);
    else
        table_add(table, "%s to %s, mean %s", least, most, middle);
    add_share(table, "  computing", sum.computing, sum.span);
    add_share(table, "  communicating", sum.communicating, sum.span);
    add_share(table, "  both at once", sum.both, sum.span);
    add_share(table, "  copying alone", sum.copying, sum.span);
    add_share(table, "  none of these", sum.span - sum.computing - sum.communicating + sum.both - sum.copying,
              sum.span);
}

/* What the trace does not say, so that a GPU, a network or its user has to; "nothing" is said too. */
static void
print_missing(const Workload *workload, const Count *counts, FILE *out)
{
    gboolean any = FALSE;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        uint64_t all = 0, time = 0, bytes = 0;
        for (uint32_t p = 0; p < workload->programs->len; p++) {
            all += counts[p].ops[kind] * counts[p].ranks;
            time += counts[p].without_time[kind] * counts[p].ranks;
            bytes += counts[p].without_bytes[kind] * counts[p].ranks;
        }
        const char *who = kind == OP_COMPUTE || kind == OP_COPY ? "the GPU's rates give them"
                          : kind == OP_HOST                     ? "they take none"
                                                                : "the network gives them";
        if (time > 0)
            fprintf(out, "missing: recorded times of %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " %s ops: %s\n", time,
                    all, op_kind_name(kind), who);
        if (bytes > 0)
            fprintf(out, "missing: bytes of %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " %s ops: they move nothing\n",
                    bytes, all, op_kind_name(kind));
        any = any || time > 0 || bytes > 0;
    }
    if (!any)
        fputs("missing: nothing\n", out);
}

static void
print_head(const Workload *workload, const Count *counts, const char *format, uint32_t steps, FILE *out)
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
    table_add(table, "iterations");
    table_add(table, steps > 1 ? "%u recorded, taken as one" : "1", steps);
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
    add_times(table, workload, counts);
    table_print(table, out);
    print_missing(workload, counts, out);
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
trace_info_print(const Workload *workload, const char *format, uint32_t steps, FILE *out)
{
    g_autofree Count *counts = count_programs(workload);
    print_head(workload, counts, format, steps, out);
    print_ops(workload, counts, out);
    print_work(workload, counts, out);
    trace_collectives_print(workload, out);
    print_groups(workload, out);
}
