/* fabric_units.c - racks, zones, buildings and regions: what is in them and what leads out of them */
#include "fabric/fabric_units.h"

static const char *const level_names[UNIT_LEVELS] = {
    [UNIT_RACK] = "rack",
    [UNIT_ZONE] = "zone",
    [UNIT_BUILDING] = "building",
    [UNIT_REGION] = "region",
};

const char *
unit_level_name(UnitLevel level)
{
    return level_names[level];
}

gboolean
link_kind_is_network(LinkKind kind)
{
    return kind != LINK_NVLINK && kind != LINK_PCIE;
}

double
fabric_unit_oversubscription(const FabricUnit *unit)
{
    return unit->uplink_Bps > 0 ? unit->nic_rate_Bps / unit->uplink_Bps : 0;
}

/* "north/A/0", or NULL where the node names no place of this level. The caller frees it. */
static char *
place_name(const Node *node, UnitLevel level)
{
    const char *parts[4] = {node->region, node->building, node->zone, node->rack};
    static const int last_part[UNIT_LEVELS] = {
        [UNIT_REGION] = 0, [UNIT_BUILDING] = 1, [UNIT_ZONE] = 2, [UNIT_RACK] = 3};
    int last = last_part[level];
    if (parts[last][0] == '\0')
        return NULL;
    GString *name = g_string_new(NULL);
    for (int i = 0; i <= last; i++)
        if (parts[i][0] != '\0')
            g_string_append_printf(name, "%s%s", name->len > 0 ? "/" : "", parts[i]);
    return g_string_free(name, FALSE);
}

static gboolean
same_place(const Node *a, const Node *b)
{
    /* Texts of one fabric are interned. */
    return a->region == b->region && a->building == b->building && a->zone == b->zone && a->rack == b->rack;
}

/* The number of each node's unit; names in order of their numbers. */
static uint32_t *
number_nodes(const Fabric *fabric, UnitLevel level, GPtrArray *names)
{
    uint32_t n_nodes = fabric_n_nodes(fabric), *unit = g_new(uint32_t, n_nodes);
    g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal); /* name -> number + 1 */
    for (uint32_t i = 0; i < n_nodes; i++) {
        const Node *node = fabric_node(fabric, i);
        if (i > 0 && same_place(node, fabric_node(fabric, i - 1))) {
            unit[i] = unit[i - 1];
            continue;
        }
        g_autofree char *name = place_name(node, level);
        unit[i] = INDEX_NONE;
        if (name == NULL)
            continue;
        gpointer number = g_hash_table_lookup(known, name);
        if (number == NULL) {
            g_ptr_array_add(names, g_strdup(name));
            number = GUINT_TO_POINTER(names->len);
            g_hash_table_insert(known, names->pdata[names->len - 1], number);
        }
        unit[i] = GPOINTER_TO_UINT(number) - 1;
    }
    return unit;
}

uint32_t *
fabric_unit_numbers(const Fabric *fabric, UnitLevel level, uint32_t *n_units)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    uint32_t *unit = number_nodes(fabric, level, names);
    *n_units = names->len;
    return unit;
}

static void
count_node(const Fabric *fabric, uint32_t index, FabricUnit *unit)
{
    NodeKind kind = fabric_node(fabric, index)->kind;
    unit->n_nodes++;
    unit->n_nics += kind == NODE_NIC;
    if (kind != NODE_GPU && kind != NODE_NIC && kind != NODE_HOST)
        return;
    uint32_t n;
    const uint32_t *links = fabric_out(fabric, index, &n);
    for (uint32_t i = 0; i < n; i++) {
        const Link *link = fabric_link(fabric, links[i]);
        if (link_kind_is_network(link->kind))
            unit->nic_rate_Bps += link->capacity_Bps;
    }
}

static void
count_servers(const Fabric *fabric, const uint32_t *unit, GArray *units)
{
    g_autofree uint8_t *seen = g_new0(uint8_t, MAX(fabric_n_servers(fabric), 1));
    for (uint32_t i = 0; i < fabric_n_nodes(fabric); i++) {
        uint32_t server = fabric_server(fabric, i);
        if (unit[i] == INDEX_NONE || server == INDEX_NONE || seen[server])
            continue;
        seen[server] = 1;
        g_array_index(units, FabricUnit, unit[i]).n_servers++;
    }
}

static void
clear_unit(gpointer unit)
{
    g_free(((FabricUnit *)unit)->name);
}

GArray *
fabric_units(const Fabric *fabric, UnitLevel level)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autofree uint32_t *unit = number_nodes(fabric, level, names);
    GArray *units = g_array_new(FALSE, TRUE, sizeof(FabricUnit));
    g_array_set_clear_func(units, clear_unit);
    for (guint i = 0; i < names->len; i++) {
        FabricUnit row = {.name = g_strdup(names->pdata[i])};
        g_array_append_val(units, row);
    }
    for (uint32_t i = 0; i < fabric_n_nodes(fabric); i++)
        if (unit[i] != INDEX_NONE)
            count_node(fabric, i, &g_array_index(units, FabricUnit, unit[i]));
    uint32_t n_ranks;
    const uint32_t *ranks = fabric_gpus(fabric, &n_ranks);
    for (uint32_t i = 0; i < n_ranks; i++)
        if (unit[ranks[i]] != INDEX_NONE)
            g_array_index(units, FabricUnit, unit[ranks[i]]).n_gpus++;
    count_servers(fabric, unit, units);
    for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
        const Link *link = fabric_link(fabric, i);
        if (unit[link->src] == INDEX_NONE || unit[link->src] == unit[link->dst])
            continue;
        FabricUnit *from = &g_array_index(units, FabricUnit, unit[link->src]);
        from->n_uplinks++;
        from->uplink_Bps += link->capacity_Bps;
    }
    return units;
}
