/* topology_show.c - 'trainshed topology show': counts, capacities, oversubscription; one node; one link */
#include "base/units.h"
#include "cli/table.h"
#include "cli/topology.h"
#include "fabric/fabric_units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 40 };

/* Links that look alike: of one kind, between nodes of two kinds, at one rate and latency. */
typedef struct {
    LinkKind kind;
    NodeKind lower, upper;
    double capacity_Bps;
    SimTime latency_ps;
    uint32_t up, down; /* links from lower to upper, and back */
} Likeness;

static void
show_nodes(const Fabric *fabric)
{
    uint32_t counts[NODE_KINDS] = {0};
    for (uint32_t i = 0; i < fabric_n_nodes(fabric); i++)
        counts[fabric_node(fabric, i)->kind]++;
    g_autoptr(Table) table = table_new("nodes|>number");
    for (NodeKind kind = 0; kind < NODE_KINDS; kind++)
        if (counts[kind] > 0) {
            table_add(table, "%s", node_kind_name(kind));
            table_add(table, "%u", counts[kind]);
        }
    table_print(table, stdout);
}

static gboolean
alike(const Likeness *a, const Likeness *b)
{
    return a->kind == b->kind && a->lower == b->lower && a->upper == b->upper && a->capacity_Bps == b->capacity_Bps &&
           a->latency_ps == b->latency_ps;
}

static guint
likeness_hash(gconstpointer key)
{
    const Likeness *a = key;
    guint hash = g_double_hash(&a->capacity_Bps) ^ g_int64_hash(&a->latency_ps);
    return ((hash * 31 + a->kind) * 31 + a->lower) * 31 + a->upper;
}

static gboolean
likeness_equal(gconstpointer a, gconstpointer b)
{
    return alike(a, b);
}

/* In the order in which the first of each was met. The caller frees it and its rows. */
static GPtrArray *
group_links(const Fabric *fabric)
{
    GPtrArray *groups = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) known = g_hash_table_new(likeness_hash, likeness_equal);
    for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
        const Link *link = fabric_link(fabric, i);
        NodeKind from = fabric_node(fabric, link->src)->kind, to = fabric_node(fabric, link->dst)->kind;
        Likeness key = {link->kind, MIN(from, to), MAX(from, to), link->capacity_Bps, link->latency_ps, 0, 0};
        Likeness *group = g_hash_table_lookup(known, &key);
        if (group == NULL) {
            group = g_memdup2(&key, sizeof key);
            g_ptr_array_add(groups, group);
            g_hash_table_add(known, group);
        }
        gboolean up = from != to ? from < to : link->src < link->dst;
        group->up += up;
        group->down += !up;
    }
    return groups;
}

static void
show_links(const Fabric *fabric)
{
    g_autoptr(GPtrArray) groups = group_links(fabric);
    g_autoptr(Table) table = table_new("links|between|>capacity|>latency|>up|>down|>together up");
    for (guint i = 0; i < MIN(groups->len, MAX_ROWS); i++) {
        const Likeness *group = groups->pdata[i];
        table_add(table, "%s", link_kind_name(group->kind));
        table_add(table, "%s - %s", node_kind_name(group->lower), node_kind_name(group->upper));
        table_take(table, units_format_rate(group->capacity_Bps));
        table_take(table, units_format_time(group->latency_ps));
        table_add(table, "%u", group->up);
        table_add(table, "%u", group->down);
        table_take(table, units_format_rate(group->capacity_Bps * group->up));
    }
    printf("\n");
    table_print(table, stdout);
    if (groups->len > MAX_ROWS)
        printf("... and %u more combinations of rate and latency\n", groups->len - MAX_ROWS);
}

static void
add_unit(Table *table, UnitLevel level, const FabricUnit *unit)
{
    table_add(table, "%s", unit_level_name(level));
    table_add(table, "%s", unit->name);
    table_add(table, "%u", unit->n_servers);
    table_add(table, "%u", unit->n_gpus);
    table_take(table, units_format_rate(unit->nic_rate_Bps));
    table_add(table, "%u", unit->n_uplinks);
    table_take(table, unit->n_uplinks > 0 ? units_format_rate(unit->uplink_Bps) : g_strdup("-"));
    if (unit->n_uplinks > 0)
        table_add(table, "%.6g", fabric_unit_oversubscription(unit));
    else
        table_add(table, "-");
}

static void
show_units(const Fabric *fabric)
{
    g_autoptr(Table) table = table_new("unit|name|>servers|>GPUs|>NICs send|>uplinks|>capacity|>oversubscription");
    guint left_out = 0;
    for (UnitLevel level = UNIT_LEVELS; level-- > 0;) {
        g_autoptr(GArray) units = fabric_units(fabric, level);
        for (guint i = 0; i < MIN(units->len, MAX_ROWS); i++)
            add_unit(table, level, &g_array_index(units, FabricUnit, i));
        left_out += units->len - MIN(units->len, MAX_ROWS);
    }
    printf("\n");
    table_print(table, stdout);
    if (left_out > 0)
        printf("... and %u more units\n", left_out);
}

static void
show_text(const char *what, const char *text)
{
    if (text[0] != '\0')
        printf("%-17s %s\n", what, text);
}

static void
show_node(const Fabric *fabric, uint32_t index)
{
    const Node *node = fabric_node(fabric, index);
    show_text("name", node->name);
    show_text("kind", node_kind_name(node->kind));
    show_text("region", node->region);
    show_text("building", node->building);
    show_text("zone", node->zone);
    show_text("rack", node->rack);
    show_text("server", node->server);
    if (node->rail >= 0)
        printf("%-17s %d\n", "rail", node->rail);
    show_text("gpu", node->gpu);
    if (node->peak_FLOPps > 0)
        printf("%-17s %g TFLOP/s\n", "peak", node->peak_FLOPps / 1e12);
    if (node->memory_B > 0) {
        g_autofree char *size = units_format_size((double)node->memory_B);
        show_text("memory", size);
    }
    if (node->memory_bandwidth_Bps > 0)
        printf("%-17s %g GB/s\n", "memory bandwidth", node->memory_bandwidth_Bps / 1e9);
    uint32_t n;
    const uint32_t *nics = fabric_nics(fabric, index, &n);
    for (uint32_t i = 0; i < n; i++)
        printf("%-17s %s\n", i == 0 ? "NICs, nearest" : "", fabric_node(fabric, nics[i])->name);
}

/* Every attribute of some links; what none of them has is "-". */
static void
show_link_rows(const Fabric *fabric, const uint32_t *links, uint32_t n)
{
    g_autoptr(Table) table =
        table_new(">link|from|to|kind|>capacity|>latency|>length|>buffer|>loss|>ECN min|>ECN max|>ECN p|source");
    for (uint32_t i = 0; i < n; i++) {
        const Link *link = fabric_link(fabric, links[i]);
        table_add(table, "%u", links[i]);
        table_add(table, "%s", fabric_node(fabric, link->src)->name);
        table_add(table, "%s", fabric_node(fabric, link->dst)->name);
        table_add(table, "%s", link_kind_name(link->kind));
        table_take(table, units_format_rate(link->capacity_Bps));
        table_take(table, units_format_time(link->latency_ps));
        table_take(table, isnan(link->length_km) ? g_strdup("-") : g_strdup_printf("%g km", link->length_km));
        table_take(table, link->buffer_B == 0 ? g_strdup("-") : units_format_size((double)link->buffer_B));
        table_take(table, link->loss == 0 ? g_strdup("-") : g_strdup_printf("%g", link->loss));
        table_take(table, link->ecn_kmax_B == 0 ? g_strdup("-") : units_format_size((double)link->ecn_kmin_B));
        table_take(table, link->ecn_kmax_B == 0 ? g_strdup("-") : units_format_size((double)link->ecn_kmax_B));
        table_take(table, link->ecn_kmax_B == 0 ? g_strdup("-") : g_strdup_printf("%g", link->ecn_pmax));
        table_add(table, "%s", link->source[0] != '\0' ? link->source : "-");
    }
    table_print(table, stdout);
}

static gboolean
show_one(const Fabric *fabric, const char *name, GError **error)
{
    uint32_t node = topology_node(fabric, name, error), n;
    if (node == INDEX_NONE)
        return FALSE;
    show_node(fabric, node);
    printf("\n");
    const uint32_t *links = fabric_out(fabric, node, &n);
    show_link_rows(fabric, links, n);
    return TRUE;
}

static gboolean
show_between(const Fabric *fabric, const char *from, const char *to, GError **error)
{
    uint32_t a = topology_node(fabric, from, error), b, n;
    if (a == INDEX_NONE || (b = topology_node(fabric, to, error)) == INDEX_NONE)
        return FALSE;
    g_autoptr(GArray) joining = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (int way = 0; way < 2; way++) {
        const uint32_t *links = fabric_out(fabric, way == 0 ? a : b, &n);
        for (uint32_t i = 0; i < n; i++)
            if (fabric_link(fabric, links[i])->dst == (way == 0 ? b : a))
                g_array_append_val(joining, links[i]);
    }
    if (joining->len == 0)
        printf("no link joins %s and %s; 'trainshed topology paths' tells their routes\n", from, to);
    else
        show_link_rows(fabric, (const uint32_t *)(const void *)joining->data, joining->len);
    return TRUE;
}

gboolean
topology_show(int argc, char **argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new("FABRIC [NODE [NODE]]");
    if (!topology_arguments(context, &argc, &argv, 1, 3, error))
        return FALSE;
    g_autoptr(Fabric) fabric = topology_load(argv[1], NULL, NULL, NULL, NULL, error);
    if (fabric == NULL)
        return FALSE;
    if (argc == 3)
        return show_one(fabric, argv[2], error);
    if (argc == 4)
        return show_between(fabric, argv[2], argv[3], error);
    g_autofree char *summary = topology_summary(fabric);
    printf("%s: %s%s%s\nGPUs forward for others: %s\n\n", argv[1], fabric_name(fabric),
           fabric_name(fabric)[0] != '\0' ? ", " : "", summary, forward_name(fabric_forward(fabric)));
    show_nodes(fabric);
    show_links(fabric);
    show_units(fabric);
    return TRUE;
}
