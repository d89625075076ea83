#include "cluster/placement_map.h"

#include "base/error.h"

#include <string.h>

typedef struct {
    const PlacementRule *rules;
    uint32_t n_rules, *groups; /* of the workload, a rule */
    const Fabric *fabric;
    const Workload *workload;
    uint32_t *nodes; /* the answer */
} Map;

char *
placement_unit_name(const Node *node, const char *over)
{
    const char *parts[5];
    size_t n = 0;
    if (strcmp(over, "rail") == 0)
        return node->rail >= 0 ? g_strdup_printf("rail %d", node->rail) : g_strdup(node->name);
    if (*node->region)
        parts[n++] = node->region;
    if (*node->building)
        parts[n++] = node->building;
    if (strcmp(over, "building") != 0 && *node->zone)
        parts[n++] = node->zone;
    if (strcmp(over, "server") == 0)
        parts[n++] = *node->server ? node->server : node->name;
    parts[n] = NULL;
    return g_strjoinv("/", (char **)parts);
}

/* The unit of each GPU, numbered as they come; their names. */
static GPtrArray *
units_of(const Map *map, const GArray *gpus, const char *over, uint32_t *unit)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < gpus->len; i++) {
        char *name = placement_unit_name(fabric_node(map->fabric, g_array_index(gpus, uint32_t, i)), over);
        gpointer number;
        if (g_hash_table_lookup_extended(seen, name, NULL, &number)) {
            g_free(name);
        } else {
            number = GUINT_TO_POINTER(names->len);
            g_hash_table_insert(seen, name, number);
            g_ptr_array_add(names, name);
        }
        unit[i] = GPOINTER_TO_UINT(number);
    }
    return names;
}

static uint32_t
instance(const Map *map, uint32_t rule, uint32_t rank)
{
    const Group *group = g_ptr_array_index(map->workload->groups, map->groups[rule]);
    return g_array_index(group->instance_of_rank, uint32_t, rank);
}

static gboolean lay(Map *map, uint32_t rule, const GArray *ranks, const GArray *gpus, const char *where,
                    GError **error);

/* Ranks whose group is first come first, by their places in it. */
static GArray *
side_by_side(const Map *map, uint32_t rule, const GArray *ranks)
{
    GArray *sorted = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GHashTable) here = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < ranks->len; i++)
        g_hash_table_add(here, GUINT_TO_POINTER(g_array_index(ranks, uint32_t, i) + 1));
    for (guint i = 0; i < ranks->len; i++) {
        uint32_t rank = g_array_index(ranks, uint32_t, i), size;
        if (!g_hash_table_add(done, GUINT_TO_POINTER(instance(map, rule, rank) + 1)))
            continue;
        const uint32_t *members = workload_members(map->workload, map->groups[rule], rank, &size);
        for (uint32_t k = 0; k < size; k++)
            if (g_hash_table_contains(here, GUINT_TO_POINTER(members[k] + 1)))
                g_array_append_val(sorted, members[k]);
    }
    return sorted;
}

/* Which of n_units each rank goes to: by its place among those members of its group that are here. The ranks are
 * side by side. */
static void
share_out(const Map *map, uint32_t rule, const GArray *ranks, uint32_t n_units, uint32_t *unit)
{
    for (guint first = 0, end; first < ranks->len; first = end) {
        uint32_t group = instance(map, rule, g_array_index(ranks, uint32_t, first));
        for (end = first; end < ranks->len && instance(map, rule, g_array_index(ranks, uint32_t, end)) == group;)
            end++;
        uint64_t here = end - first;
        for (guint i = first; i < end; i++)
            unit[i] = (uint32_t)((i - first) * MIN(n_units, here) / here);
    }
}

static GArray *
of_unit(const GArray *all, const uint32_t *unit, uint32_t u)
{
    GArray *own = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (guint i = 0; i < all->len; i++)
        if (unit[i] == u)
            g_array_append_val(own, g_array_index(all, uint32_t, i));
    return own;
}

static int
by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static gboolean
lay_across(Map *map, uint32_t rule, const GArray *ranks, const GArray *gpus, GError **error)
{
    const char *across = map->rules[rule].across;
    g_autoptr(GArray) sorted = side_by_side(map, rule, ranks);
    g_autofree uint32_t *unit_of_gpu = g_new(uint32_t, gpus->len + 1), *unit = g_new(uint32_t, sorted->len + 1);
    g_autoptr(GPtrArray) names = units_of(map, gpus, across, unit_of_gpu);
    share_out(map, rule, sorted, names->len, unit);
    for (uint32_t u = 0; u < names->len; u++) {
        g_autoptr(GArray) own_ranks = of_unit(sorted, unit, u);
        g_autoptr(GArray) own_gpus = of_unit(gpus, unit_of_gpu, u);
        g_autofree char *where = g_strdup_printf("%s %s", across, (const char *)g_ptr_array_index(names, u));
        g_array_sort(own_ranks, by_number);
        if (!lay(map, rule + 1, own_ranks, own_gpus, where, error))
            return FALSE;
    }
    return TRUE;
}

static gboolean
lay(Map *map, uint32_t rule, const GArray *ranks, const GArray *gpus, const char *where, GError **error)
{
    if (rule < map->n_rules && map->rules[rule].across != NULL)
        return lay_across(map, rule, ranks, gpus, error);
    if (rule < map->n_rules && strcmp(map->rules[rule].inside, "rail") != 0) {
        g_autoptr(GArray) sorted = side_by_side(map, rule, ranks);
        return lay(map, rule + 1, sorted, gpus, where, error);
    }
    if (rule < map->n_rules)
        return lay(map, rule + 1, ranks, gpus, where, error);
    if (ranks->len > gpus->len)
        return error_input(error, "%u asked for in %s, which has %u free", ranks->len, where, gpus->len);
    for (guint i = 0; i < ranks->len; i++)
        map->nodes[g_array_index(ranks, uint32_t, i)] = g_array_index(gpus, uint32_t, i);
    return TRUE;
}

/* Have all members of the axis ended up in one unit? */
static gboolean
check_inside(const Map *map, uint32_t rule, GError **error)
{
    const Group *group = g_ptr_array_index(map->workload->groups, map->groups[rule]);
    const char *inside = map->rules[rule].inside;
    for (guint i = 0; i < group->instances->len; i++) {
        const GArray *members = g_ptr_array_index(group->instances, i);
        uint32_t first = g_array_index(members, uint32_t, 0);
        g_autofree char *name = placement_unit_name(fabric_node(map->fabric, map->nodes[first]), inside);
        for (guint k = 1; k < members->len; k++) {
            uint32_t rank = g_array_index(members, uint32_t, k);
            g_autofree char *other = placement_unit_name(fabric_node(map->fabric, map->nodes[rank]), inside);
            if (strcmp(name, other) != 0)
                return error_input(error, "%s inside a %s: of its %u ranks, rank %u comes to %s and rank %u to %s",
                                   map->rules[rule].axis, inside, members->len, first, name, rank, other);
        }
    }
    return TRUE;
}

static gboolean
find_groups(Map *map, GError **error)
{
    for (uint32_t i = 0; i < map->n_rules; i++) {
        map->groups[i] = workload_find_group(map->workload, map->rules[i].axis);
        if (map->groups[i] == INDEX_NONE)
            return error_input(error, "policy map: the job has no axis \"%s\" of more than one rank",
                               map->rules[i].axis);
        for (uint32_t r = 0; r < map->workload->n_ranks; r++)
            if (instance(map, i, r) == INDEX_NONE)
                return error_input(error, "policy map: rank %u is in no group of axis \"%s\"", r, map->rules[i].axis);
    }
    return TRUE;
}

gboolean
placement_map(const PlacementRule *rules, uint32_t n_rules, const Fabric *fabric, const Workload *workload,
              const uint32_t *gpus, uint32_t n, uint32_t *nodes, GError **error)
{
    g_autofree uint32_t *groups = g_new(uint32_t, n_rules + 1);
    Map map = {rules, n_rules, groups, fabric, workload, nodes};
    if (!find_groups(&map, error))
        return FALSE;
    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) free_gpus = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t r = 0; r < workload->n_ranks; r++)
        g_array_append_val(ranks, r);
    g_array_append_vals(free_gpus, gpus, n);
    if (!lay(&map, 0, ranks, free_gpus, "the fabric", error))
        return FALSE;
    for (uint32_t i = 0; i < n_rules; i++)
        if (rules[i].inside != NULL && !check_inside(&map, i, error))
            return FALSE;
    return TRUE;
}
