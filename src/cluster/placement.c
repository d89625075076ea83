#include "cluster/placement.h"

#include "base/error.h"
#include "base/random.h"

#include <assert.h>
#include <string.h>

/* The free GPUs a policy may use, in fabric order, and the unit (building, zone, server) each is in. */
typedef struct {
    const Fabric *fabric;
    const Workload *workload;
    const PlacementSpec *spec;
    const gboolean *taken; /* by node */
    GArray *gpus;          /* of uint32_t: free nodes */
    GArray *unit;          /* of uint32_t: unit of gpus[i] */
    GPtrArray *names;      /* of char *: name of a unit */
    uint32_t *nodes;       /* the answer */
    Random random;
} Choice;

static void
choice_clear(Choice *choice)
{
    g_array_unref(choice->gpus);
    g_array_unref(choice->unit);
    g_ptr_array_unref(choice->names);
}

static void
collect(Choice *choice, const gboolean *taken, const char *over)
{
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    uint32_t n;
    const uint32_t *all = fabric_gpus(choice->fabric, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (taken[all[i]])
            continue;
        char *name = placement_unit_name(fabric_node(choice->fabric, all[i]), over);
        gpointer number;
        if (!g_hash_table_lookup_extended(seen, name, NULL, &number)) {
            number = GUINT_TO_POINTER(choice->names->len);
            g_ptr_array_add(choice->names, g_strdup(name));
            g_hash_table_insert(seen, name, number);
        } else {
            g_free(name);
        }
        uint32_t unit = GPOINTER_TO_UINT(number);
        g_array_append_val(choice->gpus, all[i]);
        g_array_append_val(choice->unit, unit);
    }
}

static gboolean
enough(const Choice *choice, GError **error)
{
    uint32_t wanted = choice->workload->n_ranks;
    if (choice->gpus->len >= wanted)
        return TRUE;
    return error_input(error, "%u asked for, the fabric has %u free", wanted, choice->gpus->len);
}

static uint32_t
gpu(const Choice *choice, uint32_t i)
{
    return g_array_index(choice->gpus, uint32_t, i);
}

static gboolean
place_packed(Choice *choice, GError **error)
{
    if (!enough(choice, error))
        return FALSE;
    for (uint32_t r = 0; r < choice->workload->n_ranks; r++)
        choice->nodes[r] = gpu(choice, r);
    return TRUE;
}

static gboolean
place_random(Choice *choice, GError **error)
{
    if (!enough(choice, error))
        return FALSE;
    for (uint32_t r = 0; r < choice->workload->n_ranks; r++) {
        uint32_t other = r + (uint32_t)random_below(&choice->random, choice->gpus->len - r);
        uint32_t drawn = gpu(choice, other);
        g_array_index(choice->gpus, uint32_t, other) = gpu(choice, r);
        g_array_index(choice->gpus, uint32_t, r) = drawn;
        choice->nodes[r] = drawn;
    }
    return TRUE;
}

/* Rank r takes the next free GPU of unit[r]. */
static gboolean
place_by_unit(Choice *choice, const uint32_t *unit, GError **error)
{
    g_autofree uint32_t *next = g_new0(uint32_t, choice->names->len);
    for (uint32_t r = 0; r < choice->workload->n_ranks; r++) {
        uint32_t i = next[unit[r]];
        while (i < choice->gpus->len && g_array_index(choice->unit, uint32_t, i) != unit[r])
            i++;
        if (i == choice->gpus->len) {
            uint32_t wanted = 0, has = 0;
            for (uint32_t k = 0; k < choice->workload->n_ranks; k++)
                wanted += unit[k] == unit[r];
            for (uint32_t k = 0; k < choice->unit->len; k++)
                has += g_array_index(choice->unit, uint32_t, k) == unit[r];
            return error_input(error, "%u asked for in %s %s, which has %u free", wanted,
                               choice->spec->over ? choice->spec->over : "server",
                               (char *)g_ptr_array_index(choice->names, unit[r]), has);
        }
        choice->nodes[r] = gpu(choice, i);
        next[unit[r]] = i + 1;
    }
    return TRUE;
}

/* Contiguous blocks of ranks over all units, as even as can be. */
static gboolean
place_spread(Choice *choice, GError **error)
{
    if (!enough(choice, error))
        return FALSE;
    uint64_t n = choice->workload->n_ranks, units = MIN(choice->names->len, n);
    g_autofree uint32_t *unit = g_new(uint32_t, n);
    for (uint64_t r = 0; r < n; r++)
        unit[r] = (uint32_t)(r * units / n);
    return place_by_unit(choice, unit, error);
}

static const char *
over_of(const Choice *choice)
{
    return choice->spec->over ? choice->spec->over : "server";
}

/* Only units that nobody else is in, in fabric order: what jobs placed so send within their units meets no other of
 * them. */
static gboolean
place_reserved(Choice *choice, GError **error)
{
    g_autoptr(GHashTable) shared = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    uint32_t n, wanted = choice->workload->n_ranks, found = 0;
    const uint32_t *all = fabric_gpus(choice->fabric, &n);
    for (uint32_t i = 0; i < n; i++)
        if (choice->taken[all[i]])
            g_hash_table_add(shared, placement_unit_name(fabric_node(choice->fabric, all[i]), over_of(choice)));
    for (uint32_t i = 0; i < choice->gpus->len && found < wanted; i++) {
        const char *name = g_ptr_array_index(choice->names, g_array_index(choice->unit, uint32_t, i));
        if (!g_hash_table_contains(shared, name))
            choice->nodes[found++] = gpu(choice, i);
    }
    if (found == wanted)
        return TRUE;
    return error_input(error, "%u asked for in %ss without another job, which have %u free", wanted, over_of(choice),
                       found);
}

/* All in one building: the one named, or the first with room. */
static gboolean
place_building(Choice *choice, GError **error)
{
    uint32_t wanted = choice->workload->n_ranks;
    g_autofree uint32_t *room = g_new0(uint32_t, choice->names->len + 1);
    for (uint32_t i = 0; i < choice->unit->len; i++)
        room[g_array_index(choice->unit, uint32_t, i)]++;
    const char *asked = choice->spec->over;
    uint32_t most = 0, found = INDEX_NONE;
    for (uint32_t u = 0; u < choice->names->len && found == INDEX_NONE; u++) {
        const char *name = g_ptr_array_index(choice->names, u);
        const char *last = strrchr(name, '/');
        if (asked != NULL && strcmp(asked, name) != 0 && strcmp(asked, last ? last + 1 : name) != 0)
            continue;
        if (asked != NULL || room[u] >= wanted)
            found = u;
        most = MAX(most, room[u]);
    }
    if (found == INDEX_NONE && asked != NULL)
        return error_input(error, "there is no building \"%s\" with a free GPU", asked);
    if (found == INDEX_NONE)
        return error_input(error, "%u asked for in one building, the one with most room has %u free", wanted, most);
    if (room[found] < wanted)
        return error_input(error, "%u asked for, building %s has %u free", wanted,
                           (char *)g_ptr_array_index(choice->names, found), room[found]);
    for (uint32_t i = 0, r = 0; r < wanted; i++)
        if (g_array_index(choice->unit, uint32_t, i) == found)
            choice->nodes[r++] = gpu(choice, i);
    return TRUE;
}

/* Rank r on rail r mod rails: the job takes whole rows of free GPUs, one of each rail. */
static gboolean
place_rail(Choice *choice, GError **error)
{
    uint32_t rails = 0;
    for (uint32_t i = 0; i < choice->gpus->len; i++)
        rails = MAX(rails, (uint32_t)(fabric_node(choice->fabric, gpu(choice, i))->rail + 1));
    if (rails == 0)
        return error_input(error, "policy rail: the free GPUs of this fabric have no rail");
    g_autofree uint32_t *next = g_new0(uint32_t, rails);
    for (uint32_t r = 0; r < choice->workload->n_ranks; r++) {
        uint32_t rail = r % rails, i = next[rail];
        while (i < choice->gpus->len && fabric_node(choice->fabric, gpu(choice, i))->rail != (int32_t)rail)
            i++;
        if (i == choice->gpus->len)
            return error_input(error, "%u asked for, rail %u has no free GPU left for rank %u",
                               choice->workload->n_ranks, rail, r);
        choice->nodes[r] = gpu(choice, i);
        next[rail] = i + 1;
    }
    return TRUE;
}

/* The groups of an axis: the one of this name, or those whose names stand in it, parted by blanks. NULL with an error.
 */
static GArray *
axis_groups(const Choice *choice, const char *axis, GError **error)
{
    g_autoptr(GArray) groups = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint32_t group = workload_find_group(choice->workload, axis);
    g_auto(GStrv) names = g_strsplit(group == INDEX_NONE ? axis : "", " ", -1);
    for (char **name = names; group == INDEX_NONE && *name != NULL; name++) {
        uint32_t one = workload_find_group(choice->workload, *name);
        if (one == INDEX_NONE) {
            error_input(error, "policy axis: the job has no axis \"%s\"", *name);
            return NULL;
        }
        g_array_append_val(groups, one);
    }
    if (group != INDEX_NONE)
        g_array_append_val(groups, group);
    return g_steal_pointer(&groups);
}

/* A rank's place among the members of its group tells its unit. */
static gboolean
place_axis(Choice *choice, GError **error)
{
    const char *axis = choice->spec->axis ? choice->spec->axis : "";
    g_autoptr(GArray) groups = axis_groups(choice, axis, error);
    if (groups == NULL || !enough(choice, error))
        return FALSE;
    uint32_t n = choice->workload->n_ranks, units = choice->names->len;
    g_autofree uint32_t *unit = g_new(uint32_t, n);
    for (uint32_t r = 0; r < n; r++) {
        uint32_t size, at = 0;
        const uint32_t *members = NULL;
        for (uint32_t i = 0; members == NULL && i < groups->len; i++)
            members = workload_members(choice->workload, g_array_index(groups, uint32_t, i), r, &size);
        if (members == NULL)
            return error_input(error, "policy axis: rank %u is in no group of axis \"%s\"", r, axis);
        while (members[at] != r)
            at++;
        unit[r] = (uint32_t)((uint64_t)at * MIN(units, size) / size);
    }
    return place_by_unit(choice, unit, error);
}

static gboolean
place_map(Choice *choice, GError **error)
{
    return enough(choice, error) &&
           placement_map(choice->spec->rules, choice->spec->n_rules, choice->fabric, choice->workload,
                         (const uint32_t *)(const void *)choice->gpus->data, choice->gpus->len, choice->nodes, error);
}

static gboolean
place_given(Choice *choice, GError **error)
{
    char **names = choice->spec->gpus;
    uint32_t n = names ? g_strv_length(names) : 0;
    if (n != choice->workload->n_ranks)
        return error_input(error, "placement.gpus: %u nodes given for %u ranks", n, choice->workload->n_ranks);
    g_autoptr(GHashTable) free_gpus = g_hash_table_new(NULL, NULL);
    for (uint32_t i = 0; i < choice->gpus->len; i++)
        g_hash_table_add(free_gpus, GUINT_TO_POINTER(gpu(choice, i) + 1));
    for (uint32_t r = 0; r < n; r++) {
        uint32_t node = fabric_find(choice->fabric, names[r]);
        if (node == INDEX_NONE)
            return error_input(error, "placement.gpus[%u]: the fabric has no node \"%s\"", r, names[r]);
        if (!g_hash_table_remove(free_gpus, GUINT_TO_POINTER(node + 1)))
            return error_input(error, "placement.gpus[%u]: \"%s\" (%s) is not a free GPU", r, names[r],
                               node_kind_name(fabric_node(choice->fabric, node)->kind));
        choice->nodes[r] = node;
    }
    return TRUE;
}

/* The table: one line a policy. by_building: its units are buildings, whatever `over` says. */
static const struct {
    const char *name;
    gboolean by_building;
    gboolean (*place)(Choice *choice, GError **error);
} policies[] = {
    [PLACEMENT_PACKED] = {"packed", FALSE, place_packed}, [PLACEMENT_SPREAD] = {"spread", FALSE, place_spread},
    [PLACEMENT_RANDOM] = {"random", FALSE, place_random}, [PLACEMENT_BUILDING] = {"building", TRUE, place_building},
    [PLACEMENT_RAIL] = {"rail", FALSE, place_rail},       [PLACEMENT_AXIS] = {"axis", FALSE, place_axis},
    [PLACEMENT_MAP] = {"map", FALSE, place_map},          [PLACEMENT_RESERVED] = {"reserved", FALSE, place_reserved},
    [PLACEMENT_GIVEN] = {"given", FALSE, place_given},
};

gboolean
placement_choose(const PlacementSpec *spec, const Fabric *fabric, const Workload *workload, const char *job,
                 uint64_t seed, gboolean *taken, uint32_t *nodes, GError **error)
{
    g_autofree char *stream = g_strconcat("placement/", job, NULL);
    g_autofree uint32_t *answer = g_new(uint32_t, MAX(workload->n_ranks, 1));
    Choice choice = {.fabric = fabric,
                     .workload = workload,
                     .spec = spec,
                     .taken = taken,
                     .gpus = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                     .unit = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                     .names = g_ptr_array_new_with_free_func(g_free),
                     .nodes = answer,
                     .random = random_named(seed, stream)};
    const char *over = policies[spec->policy].by_building ? "building" : spec->over ? spec->over : "server";
    collect(&choice, taken, over);
    gboolean placed = policies[spec->policy].place(&choice, error);
    choice_clear(&choice);
    if (!placed)
        return FALSE;
    for (uint32_t r = 0; r < workload->n_ranks; r++) {
        assert(!taken[answer[r]]);
        taken[answer[r]] = TRUE;
        nodes[r] = answer[r];
    }
    return TRUE;
}

const char *
placement_policy_name(PlacementPolicy policy)
{
    return policies[policy].name;
}

gboolean
placement_policy_parse(const char *text, PlacementPolicy *policy)
{
    for (size_t i = 0; i < G_N_ELEMENTS(policies); i++) {
        if (strcmp(text, policies[i].name) == 0) {
            *policy = (PlacementPolicy)i;
            return TRUE;
        }
    }
    return FALSE;
}
