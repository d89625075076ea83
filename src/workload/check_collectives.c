/* check_collectives.c - workload_check: do the members of each group issue the same collectives?
 *
 * Each program's collectives on one group are a list; equal lists get one number. Then a group's instance is right when
 * the numbers of its members' programs are equal: a comparison of integers a rank, whatever the length of the lists. */
#include "workload/program_check.h"

#include "base/error.h"
#include "base/random.h"

#include <string.h>

/* The collectives of one program on one group. */
typedef struct {
    uint32_t program, group;
    GArray *ops;          /* of uint32_t, in order */
    uint32_t number;      /* equal lists have equal numbers */
    uint32_t least, most; /* sizes of the instances it is used on; most 0 = on none */
    uint32_t rank;        /* one that uses it */
} List;

typedef struct {
    Workload *workload;
    GPtrArray *lists; /* of List *: by program, then group */
    uint32_t *first;  /* a program: its first list; one more at the end */
    gboolean *group_used;
} Check;

static void
list_free(void *data)
{
    List *list = data;
    g_array_unref(list->ops);
    g_free(list);
}

static const Op *
list_op(const Check *check, const List *list, uint32_t i)
{
    const Program *program = workload_program(check->workload, list->program);
    return &g_array_index(program->ops, Op, g_array_index(list->ops, uint32_t, i));
}

static int
by_group(const void *a, const void *b)
{
    const List *x = *(List *const *)a, *y = *(List *const *)b;
    return x->group < y->group ? -1 : x->group > y->group;
}

/* The lists of one program; numbers its collectives. */
static void
collect(Check *check, uint32_t index)
{
    Program *program = workload_program(check->workload, index);
    g_autoptr(GHashTable) of_group = g_hash_table_new(NULL, NULL);
    g_autoptr(GPtrArray) lists = g_ptr_array_new();
    for (uint32_t i = 0; i < program->ops->len; i++) {
        Op *op = &g_array_index(program->ops, Op, i);
        if (op->kind != OP_COLLECTIVE)
            continue;
        List *list = g_hash_table_lookup(of_group, GUINT_TO_POINTER(op->group));
        if (list == NULL) {
            list = g_new0(List, 1);
            *list = (List){.program = index,
                           .group = op->group,
                           .least = UINT32_MAX,
                           .ops = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
            g_hash_table_insert(of_group, GUINT_TO_POINTER(op->group), list);
            g_ptr_array_add(lists, list);
        }
        op->seq = list->ops->len;
        g_array_append_val(list->ops, i);
        check->group_used[op->group] = TRUE;
    }
    g_ptr_array_sort(lists, by_group);
    for (uint32_t i = 0; i < lists->len; i++)
        g_ptr_array_add(check->lists, g_ptr_array_index(lists, i));
}

static List *
find_list(const Check *check, uint32_t program, uint32_t group)
{
    uint32_t low = check->first[program], high = check->first[program + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        List *list = g_ptr_array_index(check->lists, middle);
        if (list->group == group)
            return list;
        if (list->group < group)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* May these two be the same collective, issued by two members? Members of an all-to-allv send different sums. */
static gboolean
agree(const Op *a, const Op *b)
{
    if (a->collective != b->collective || a->root != b->root)
        return FALSE;
    return a->bytes == b->bytes || a->splits != INDEX_NONE || b->splits != INDEX_NONE;
}

static gboolean
lists_equal(const Check *check, const List *a, const List *b)
{
    if (a->ops->len != b->ops->len)
        return FALSE;
    for (uint32_t i = 0; i < a->ops->len; i++) {
        if (!agree(list_op(check, a, i), list_op(check, b, i)))
            return FALSE;
    }
    return TRUE;
}

/* What equal lists have in common. */
static uint64_t
list_hash(const Check *check, const List *list)
{
    uint64_t hash = list->ops->len;
    for (uint32_t i = 0; i < list->ops->len; i++) {
        const Op *op = list_op(check, list, i);
        hash = hash_combine(hash, (uint64_t)op->collective << 32 | op->root);
        hash = hash_combine(hash, op->splits != INDEX_NONE ? 0 : op->bytes + 1);
    }
    return hash;
}

/* Lists of one hash get one number where they are equal: a later look at a pair that differs tells why. */
static void
number_lists(Check *check)
{
    g_autoptr(GHashTable) by_hash = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (uint32_t i = 0; i < check->lists->len; i++) {
        List *list = g_ptr_array_index(check->lists, i);
        gint64 key = (gint64)list_hash(check, list);
        const List *same = g_hash_table_lookup(by_hash, &key);
        if (same != NULL && lists_equal(check, same, list)) {
            list->number = same->number;
            continue;
        }
        list->number = i;
        if (same == NULL)
            g_hash_table_insert(by_hash, g_memdup2(&key, sizeof key), list);
    }
}

static char *
describe(const Check *check, const List *list, uint32_t rank, uint32_t i)
{
    const Op *op = list_op(check, list, i);
    const Program *program = workload_program(check->workload, list->program);
    const char *name = program_op_name(program, g_array_index(list->ops, uint32_t, i));
    g_autofree char *root = op->root != 0 ? g_strdup_printf(" from member %u", op->root) : g_strdup("");
    return g_strdup_printf("rank %u issues \"%s\", %s of %" G_GUINT64_FORMAT " bytes%s", rank, name,
                           collective_kind_name(op->collective), op->bytes, root);
}

static gboolean
fail_pair(const Check *check, const Group *group, uint32_t rank_a, const List *a, uint32_t rank_b, const List *b,
          GError **error)
{
    uint32_t n_a = a != NULL ? a->ops->len : 0, n_b = b != NULL ? b->ops->len : 0, i = 0;
    while (i < n_a && i < n_b && agree(list_op(check, a, i), list_op(check, b, i)))
        i++;
    if (i < n_a && i < n_b) {
        g_autofree char *one = describe(check, a, rank_a, i), *other = describe(check, b, rank_b, i);
        return error_input(error, "collective %u of group \"%s\": %s, but %s", i, group->name, one, other);
    }
    gboolean first_more = n_a > n_b;
    g_autofree char *extra = describe(check, first_more ? a : b, first_more ? rank_a : rank_b, i);
    return error_input(error, "collective %u of group \"%s\": %s, but rank %u issues only %u collectives there", i,
                       group->name, extra, first_more ? rank_b : rank_a, first_more ? n_b : n_a);
}

static gboolean
check_instance(const Check *check, uint32_t group_index, const GArray *members, GError **error)
{
    const Group *group = g_ptr_array_index(check->workload->groups, group_index);
    const List *reference = NULL, *passed = NULL; /* passed: the last one found equal though numbered otherwise */
    uint32_t rank_0 = 0;
    for (uint32_t m = 0; m < members->len; m++) {
        uint32_t rank = g_array_index(members, uint32_t, m);
        List *list = find_list(check, check->workload->program_of_rank[rank], group_index);
        if (list != NULL) {
            list->least = MIN(list->least, members->len);
            list->most = MAX(list->most, members->len);
            list->rank = rank;
        }
        if (m == 0) {
            reference = list;
            rank_0 = rank;
            continue;
        }
        if (list == reference || (passed != NULL && list == passed))
            continue;
        if (list == NULL || reference == NULL)
            return fail_pair(check, group, rank_0, reference, rank, list, error);
        if (list->number != reference->number && !lists_equal(check, reference, list))
            return fail_pair(check, group, rank_0, reference, rank, list, error);
        passed = list;
    }
    return TRUE;
}

/* Every rank is in the groups its program uses. */
static gboolean
check_membership(const Check *check, GError **error)
{
    const Workload *workload = check->workload;
    for (uint32_t rank = 0; rank < workload->n_ranks; rank++) {
        uint32_t program = workload->program_of_rank[rank];
        for (uint32_t i = check->first[program]; i < check->first[program + 1]; i++) {
            const List *list = g_ptr_array_index(check->lists, i);
            const Group *group = g_ptr_array_index(workload->groups, list->group);
            if (g_array_index(group->instance_of_rank, uint32_t, rank) != INDEX_NONE)
                continue;
            g_autofree char *one = describe(check, list, rank, 0);
            return error_input(error, "%s, but is not in its group \"%s\"", one, group->name);
        }
    }
    return TRUE;
}

/* Whether splits and root fit the size of the group, as far as this op has them. */
static gboolean
check_shape(const Check *check, const List *list, uint32_t i, GError **error)
{
    const Workload *workload = check->workload;
    const Op *op = list_op(check, list, i);
    g_autofree char *one = describe(check, list, list->rank, i);
    if (op->root >= list->least)
        return error_input(error, "%s, but its group has only %u members", one, list->least);
    if (op->splits == INDEX_NONE)
        return TRUE;
    if (op->collective != COLLECTIVE_ALL_TO_ALL)
        return error_input(error, "%s, with split sizes, which only all_to_all may have", one);
    if (list->least != list->most)
        return error_input(error, "%s, with split sizes, on groups of %u and of %u members", one, list->least,
                           list->most);
    if (op->splits > workload->splits->len || workload->splits->len - op->splits < list->most)
        return error_input(error, "%s, without a split size for each of %u members", one, list->most);
    uint64_t sum = 0;
    for (uint32_t m = 0; m < list->most; m++) {
        uint64_t part = g_array_index(workload->splits, uint64_t, op->splits + m);
        if (part > UINT64_MAX - sum)
            return error_input(error, "%s, but its split sizes sum to more than 64 bits hold", one);
        sum += part;
    }
    if (sum != op->bytes)
        return error_input(error, "%s, but its split sizes sum to %" G_GUINT64_FORMAT, one, sum);
    return TRUE;
}

static gboolean
check_all(const Check *check, Problems *problems)
{
    const Workload *workload = check->workload;
    GError *wrong = NULL;
    if (!check_membership(check, &wrong)) {
        problems_add(problems, wrong);
        return FALSE; /* what follows relies on it */
    }
    for (uint32_t g = 0; g < workload->groups->len; g++) {
        const Group *group = g_ptr_array_index(workload->groups, g);
        for (uint32_t i = 0; check->group_used[g] && i < group->instances->len; i++) {
            if (!check_instance(check, g, g_ptr_array_index(group->instances, i), &wrong) &&
                !problems_add(problems, g_steal_pointer(&wrong)))
                return FALSE;
        }
    }
    for (uint32_t l = 0; l < check->lists->len; l++) {
        const List *list = g_ptr_array_index(check->lists, l);
        for (uint32_t i = 0; list->most > 0 && i < list->ops->len; i++) {
            const Op *op = list_op(check, list, i);
            if ((op->root != 0 || op->splits != INDEX_NONE) && !check_shape(check, list, i, &wrong) &&
                !problems_add(problems, g_steal_pointer(&wrong)))
                return FALSE;
        }
    }
    return TRUE;
}

gboolean
check_collectives(Workload *workload, Problems *problems)
{
    uint32_t n_programs = workload->programs->len;
    Check check = {.workload = workload,
                   .lists = g_ptr_array_new_with_free_func(list_free),
                   .first = g_new0(uint32_t, n_programs + 1),
                   .group_used = g_new0(gboolean, workload->groups->len + 1)};
    for (uint32_t i = 0; i < n_programs; i++) {
        check.first[i] = check.lists->len;
        collect(&check, i);
    }
    check.first[n_programs] = check.lists->len;
    number_lists(&check);
    gboolean ok = check_all(&check, problems);
    g_ptr_array_unref(check.lists);
    g_free(check.first);
    g_free(check.group_used);
    return ok;
}
