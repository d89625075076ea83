/* topology_cut.c - 'trainshed topology cut': what parts of a fabric can send each other */
#include "base/error.h"
#include "base/units.h"
#include "cli/table.h"
#include "cli/topology.h"
#include "fabric/fabric_units.h"
#include "fabric/graph_check.h"

#include <stdio.h>
#include <string.h>

/* Units of a level of which every pair is shown. */
enum { MAX_UNITS = 12 };

typedef struct {
    const Fabric *fabric;
    GraphCheck *check;
    Table *table;
} Cutter;

/* The ranks in a unit. The caller frees the array. */
static GArray *
ranks_in(const Fabric *fabric, UnitLevel level, uint32_t unit)
{
    uint32_t n_units, n_ranks;
    g_autofree uint32_t *units = fabric_unit_numbers(fabric, level, &n_units);
    const uint32_t *ranks = fabric_gpus(fabric, &n_ranks);
    GArray *inside = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < n_ranks; i++)
        if (units[ranks[i]] == unit)
            g_array_append_val(inside, ranks[i]);
    return inside;
}

static double
capacity_between(const Cutter *cutter, const GArray *a, const GArray *b)
{
    if (a->len == 0 || b->len == 0)
        return 0;
    return graph_check_cut_Bps(cutter->check, (const uint32_t *)(const void *)a->data, a->len,
                               (const uint32_t *)(const void *)b->data, b->len);
}

/* What the NICs of the servers of these ranks, or the ranks themselves, send into the network. */
static double
sending_rate(const Fabric *fabric, const GArray *ranks)
{
    g_autofree uint8_t *inside = g_new0(uint8_t, MAX(fabric_n_servers(fabric), 1));
    for (guint i = 0; i < ranks->len; i++)
        inside[fabric_server(fabric, g_array_index(ranks, uint32_t, i))] = 1;
    double rate = 0;
    for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
        const Link *link = fabric_link(fabric, i);
        NodeKind kind = fabric_node(fabric, link->src)->kind;
        uint32_t server = fabric_server(fabric, link->src);
        if ((kind == NODE_NIC || kind == NODE_GPU || kind == NODE_HOST) && link_kind_is_network(link->kind) &&
            server != INDEX_NONE && inside[server])
            rate += link->capacity_Bps;
    }
    return rate;
}

/* Both ways, and how many times over the NICs of the smaller side could fill it. */
static void
add_row(const Cutter *cutter, const char *from, const char *to, const GArray *a, const GArray *b)
{
    double forth = capacity_between(cutter, a, b), back = capacity_between(cutter, b, a);
    double sent = MIN(sending_rate(cutter->fabric, a), sending_rate(cutter->fabric, b));
    table_add(cutter->table, "%s", from);
    table_add(cutter->table, "%s", to);
    table_add(cutter->table, "%u", a->len);
    table_add(cutter->table, "%u", b->len);
    table_take(cutter->table, units_format_rate(forth));
    table_take(cutter->table, units_format_rate(back));
    table_take(cutter->table, forth > 0 ? g_strdup_printf("%.6g", sent / forth) : g_strdup("-"));
}

static void
cut_pair(const Cutter *cutter, UnitLevel level_a, const FabricUnit *a, uint32_t number_a, UnitLevel level_b,
         const FabricUnit *b, uint32_t number_b)
{
    g_autoptr(GArray) left = ranks_in(cutter->fabric, level_a, number_a);
    g_autoptr(GArray) right = ranks_in(cutter->fabric, level_b, number_b);
    add_row(cutter, a->name, b->name, left, right);
}

/* All pairs of the units of each level, where there are several and not too many; a level with as many as
 * the one above it holds the same units by another name. */
static void
cut_levels(const Cutter *cutter)
{
    guint above = 0;
    for (UnitLevel level = UNIT_LEVELS; level-- > 0;) {
        g_autoptr(GArray) units = fabric_units(cutter->fabric, level);
        const FabricUnit *rows = (const FabricUnit *)(const void *)units->data;
        guint n = units->len == above || units->len > MAX_UNITS ? 0 : units->len;
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = a + 1; b < n; b++)
                cut_pair(cutter, level, &rows[a], a, level, &rows[b], b);
        above = units->len;
    }
}

/* The ranks in their order, parted in the middle, but not through a server. */
static void
cut_halves(const Cutter *cutter)
{
    uint32_t n;
    const uint32_t *ranks = fabric_gpus(cutter->fabric, &n);
    uint32_t middle = n / 2;
    while (middle > 0 && middle < n &&
           fabric_server(cutter->fabric, ranks[middle - 1]) == fabric_server(cutter->fabric, ranks[middle]))
        middle++;
    if (middle == 0 || middle == n)
        return;
    g_autoptr(GArray) left = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) right = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_array_append_vals(left, ranks, middle);
    g_array_append_vals(right, ranks + middle, n - middle);
    add_row(cutter, "first half", "second half", left, right);
}

typedef struct {
    UnitLevel level;
    uint32_t number;
    FabricUnit *unit; /* borrowed from units */
    GArray *units;
} Place;

/* A unit named in full, "north/A", or by its end, "A", where only one ends so. */
static gboolean
find_place(const Fabric *fabric, const char *text, Place *place, GError **error)
{
    g_autoptr(GString) known = g_string_new(NULL);
    g_autofree char *ending = g_strconcat("/", text, NULL);
    guint n_found = 0;
    *place = (Place){0};
    for (UnitLevel level = UNIT_LEVELS; level-- > 0;) {
        g_autoptr(GArray) units = fabric_units(fabric, level);
        for (guint i = 0; i < units->len; i++) {
            FabricUnit *unit = &g_array_index(units, FabricUnit, i);
            gboolean exact = strcmp(unit->name, text) == 0;
            if (known->len < 200)
                g_string_append_printf(known, "%s%s", known->len > 0 ? ", " : "", unit->name);
            if (!exact && !g_str_has_suffix(unit->name, ending))
                continue;
            n_found = exact ? 1 : n_found + 1;
            g_clear_pointer(&place->units, g_array_unref);
            *place = (Place){level, i, unit, g_array_ref(units)};
            if (exact)
                return TRUE;
        }
    }
    if (n_found == 1)
        return TRUE;
    g_clear_pointer(&place->units, g_array_unref);
    return error_input(error, "%s region, building, zone or rack is named \"%s\"; there are %s",
                       n_found == 0 ? "no" : "more than one", text, known->len > 0 ? known->str : "none");
}

static gboolean
lies_in(const Place *inner, const Place *outer)
{
    g_autofree char *inside = g_strconcat(outer->unit->name, "/", NULL);
    return strcmp(inner->unit->name, outer->unit->name) == 0 || g_str_has_prefix(inner->unit->name, inside);
}

static gboolean
cut_named(const Cutter *cutter, const char *from, const char *to, GError **error)
{
    Place a, b;
    if (!find_place(cutter->fabric, from, &a, error))
        return FALSE;
    gboolean found = find_place(cutter->fabric, to, &b, error);
    gboolean apart = found && !lies_in(&a, &b) && !lies_in(&b, &a);
    if (found && !apart)
        error_input(error, "%s and %s: one lies in the other", a.unit->name, b.unit->name);
    if (apart)
        cut_pair(cutter, a.level, a.unit, a.number, b.level, b.unit, b.number);
    g_array_unref(a.units);
    g_clear_pointer(&b.units, g_array_unref);
    return apart;
}

gboolean
topology_cut(int argc, char **argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new("FABRIC [A B]");
    if (!topology_arguments(context, &argc, &argv, 1, 3, error))
        return FALSE;
    if (argc == 3)
        return error_input(error, "topology cut: a cut is between two; name none, or a second beside \"%s\"", argv[2]);
    g_autoptr(Fabric) fabric = topology_load(argv[1], NULL, NULL, NULL, NULL, error);
    if (fabric == NULL)
        return FALSE;
    g_autoptr(GraphCheck) check = graph_check_new(fabric, error);
    if (check == NULL)
        return FALSE;
    g_autoptr(Table) table = table_new("from|to|>GPUs|>GPUs|>capacity|>back|>oversubscription");
    Cutter cutter = {fabric, check, table};
    if (argc == 4) {
        if (!cut_named(&cutter, argv[2], argv[3], error))
            return FALSE;
    } else {
        cut_levels(&cutter);
        cut_halves(&cutter);
    }
    table_print(table, stdout);
    return TRUE;
}
