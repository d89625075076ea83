/* trace_collectives.c - the collectives of a workload by kind, and those of one kind, size and number of members */
#include "base/units.h"
#include "cli/table.h"
#include "cli/trace_info.h"

/* Collectives that are alike, of one group. */
typedef struct {
    CollectiveKind kind;
    gboolean uneven;
    uint32_t members;
    uint64_t bytes;
    uint32_t group;
    uint64_t calls; /* over all ranks */
    double time_ps; /* recorded, over all ranks */
} Alike;

static int
by_kind(const Alike *x, const Alike *y)
{
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->members != y->members)
        return x->members < y->members ? -1 : 1;
    if (x->uneven != y->uneven)
        return x->uneven ? 1 : -1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static int
by_kind_and_group(const void *a, const void *b)
{
    const Alike *x = a, *y = b;
    int order = by_kind(x, y);
    return order != 0 ? order : (x->group > y->group) - (x->group < y->group);
}

/* The collectives of one program, which so many ranks run, one of them rank. */
static void
collect(const Workload *workload, uint32_t program, uint32_t rank, uint32_t n_ranks, GArray *all)
{
    const GArray *ops = workload_program(workload, program)->ops;
    for (uint32_t i = 0; i < ops->len; i++) {
        const Op *op = &g_array_index(ops, Op, i);
        if (op->kind != OP_COLLECTIVE)
            continue;
        Alike one = {.kind = op->collective,
                     .uneven = op->splits != INDEX_NONE,
                     .bytes = op->bytes,
                     .group = op->group,
                     .calls = n_ranks,
                     .time_ps = op->duration_ps > 0 ? (double)op->duration_ps * n_ranks : 0};
        workload_members(workload, op->group, rank, &one.members);
        g_array_append_val(all, one);
    }
}

/* All, alike ones of one group made one, in order. */
static GArray *
collect_all(const Workload *workload)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(Alike));
    uint32_t n_programs = workload->programs->len;
    g_autofree uint32_t *n_ranks = g_new0(uint32_t, n_programs + 1), *one_of = g_new0(uint32_t, n_programs + 1);
    for (uint32_t rank = 0; rank < workload->n_ranks; rank++) {
        n_ranks[workload->program_of_rank[rank]]++;
        one_of[workload->program_of_rank[rank]] = rank;
    }
    for (uint32_t p = 0; p < n_programs; p++)
        if (n_ranks[p] > 0)
            collect(workload, p, one_of[p], n_ranks[p], all);
    g_array_sort(all, by_kind_and_group);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->len; i++) {
        const Alike *next = &g_array_index(all, Alike, i);
        Alike *last = kept > 0 ? &g_array_index(all, Alike, kept - 1) : NULL;
        if (last != NULL && by_kind_and_group(last, next) == 0) {
            last->calls += next->calls;
            last->time_ps += next->time_ps;
        } else {
            g_array_index(all, Alike, kept++) = *next;
        }
    }
    g_array_set_size(all, kept);
    return all;
}

static char *
time_text(double time_ps)
{
    return time_ps > 0 && time_ps < (double)SIM_TIME_MAX ? units_format_time((SimTime)time_ps) : g_strdup("-");
}

/* A line a kind: whole collectives, the sum of their S, the groups that have them. */
static void
print_kinds(const Workload *workload, const GArray *all, FILE *out)
{
    g_autoptr(Table) table = table_new("collective|>whole|>bytes, sum|>groups|>recorded time, mean of ranks");
    for (uint32_t i = 0; i < all->len;) {
        CollectiveKind kind = g_array_index(all, Alike, i).kind;
        g_autoptr(GHashTable) groups = g_hash_table_new(NULL, NULL);
        double whole = 0, bytes = 0, time_ps = 0;
        for (; i < all->len && g_array_index(all, Alike, i).kind == kind; i++) {
            const Alike *one = &g_array_index(all, Alike, i);
            double share = (double)one->calls / MAX(one->members, 1);
            whole += share;
            bytes += share * (double)one->bytes;
            time_ps += one->time_ps / workload->n_ranks;
            g_hash_table_add(groups, GUINT_TO_POINTER(one->group));
        }
        table_add(table, "%s", collective_kind_name(kind));
        table_add(table, "%.15g", whole);
        table_add(table, "%.15g", bytes);
        table_add(table, "%u", g_hash_table_size(groups));
        table_take(table, time_text(time_ps));
    }
    fputc('\n', out);
    table_print(table, out);
}

/* "tp", or "tp and 3 more": the groups of all[from, to). */
static char *
groups_text(const Workload *workload, const GArray *all, uint32_t from, uint32_t to)
{
    const Group *first = g_ptr_array_index(workload->groups, g_array_index(all, Alike, from).group);
    return to - from == 1 ? g_strdup(first->name) : g_strdup_printf("%s and %u more", first->name, to - from - 1);
}

static void
print_alike(const Workload *workload, const GArray *all, FILE *out)
{
    g_autoptr(Table) table = table_new("collective|>members|>bytes|>calls, all ranks|group|splits");
    for (uint32_t i = 0; i < all->len;) {
        Alike one = g_array_index(all, Alike, i);
        uint32_t from = i;
        for (i++; i < all->len && by_kind(&one, &g_array_index(all, Alike, i)) == 0; i++)
            one.calls += g_array_index(all, Alike, i).calls;
        table_add(table, "%s", collective_kind_name(one.kind));
        table_add(table, "%u", one.members);
        table_add(table, "%" G_GUINT64_FORMAT, one.bytes);
        table_add(table, "%" G_GUINT64_FORMAT, one.calls);
        table_take(table, groups_text(workload, all, from, i));
        table_add(table, "%s", one.uneven ? "uneven" : "");
    }
    fputc('\n', out);
    table_print(table, out);
}

void
trace_collectives_print(const Workload *workload, FILE *out)
{
    g_autoptr(GArray) all = collect_all(workload);
    if (all->len == 0)
        return;
    print_kinds(workload, all, out);
    print_alike(workload, all, out);
}
