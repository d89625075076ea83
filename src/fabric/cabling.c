#include "fabric/cabling.h"

#include "base/error.h"

#include <string.h>

typedef struct {
    char *name;
    NodeKind kind;
} Device;

typedef struct {
    uint32_t a, b; /* devices */
    double rate_Bps;
} Cable;

struct Cabling {
    GArray *devices; /* of Device */
    GArray *cables;  /* of Cable */
    GHashTable *device_of;
    GHashTable *cable_of; /* "device port - device port", the lesser first -> cable + 1 */
    guint loops;
};

Cabling *
cabling_new(void)
{
    Cabling *cabling = g_new0(Cabling, 1);
    cabling->devices = g_array_new(FALSE, FALSE, sizeof(Device));
    cabling->cables = g_array_new(FALSE, FALSE, sizeof(Cable));
    cabling->device_of = g_hash_table_new(g_str_hash, g_str_equal);
    cabling->cable_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return cabling;
}

void
cabling_free(Cabling *cabling)
{
    if (cabling == NULL)
        return;
    g_hash_table_unref(cabling->device_of);
    g_hash_table_unref(cabling->cable_of);
    for (guint i = 0; i < cabling->devices->len; i++)
        g_free(g_array_index(cabling->devices, Device, i).name);
    g_array_unref(cabling->devices);
    g_array_unref(cabling->cables);
    g_free(cabling);
}

static uint32_t
device(Cabling *cabling, const char *name)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(cabling->device_of, name));
    if (number > 0)
        return number - 1;
    Device fresh = {g_strdup(name), NODE_LEAF};
    g_array_append_val(cabling->devices, fresh);
    g_hash_table_insert(cabling->device_of, fresh.name, GUINT_TO_POINTER(cabling->devices->len));
    return cabling->devices->len - 1;
}

void
cabling_device(Cabling *cabling, const char *name, NodeKind kind)
{
    uint32_t number = device(cabling, name);
    g_array_index(cabling->devices, Device, number).kind = kind;
}

void
cabling_cable(Cabling *cabling, const char *device_a, const char *port_a, const char *device_b, const char *port_b,
              double rate_Bps)
{
    Cable cable = {device(cabling, device_a), device(cabling, device_b), rate_Bps};
    if (cable.a == cable.b) {
        cabling->loops++;
        return;
    }
    g_autofree char *x = g_strdup_printf("%u %s", cable.a, port_a), *y = g_strdup_printf("%u %s", cable.b, port_b);
    gboolean swap = strcmp(x, y) > 0;
    g_autofree char *key = g_strdup_printf("%s - %s", swap ? y : x, swap ? x : y);
    gboolean ports = *port_a != '\0' && *port_b != '\0';
    guint known = ports ? GPOINTER_TO_UINT(g_hash_table_lookup(cabling->cable_of, key)) : 0;
    if (known > 0) {
        Cable *same = &g_array_index(cabling->cables, Cable, known - 1);
        same->rate_Bps = MAX(same->rate_Bps, rate_Bps);
        return;
    }
    g_array_append_val(cabling->cables, cable);
    if (ports)
        g_hash_table_insert(cabling->cable_of, g_steal_pointer(&key), GUINT_TO_POINTER(cabling->cables->len));
}

static gboolean
check(const Cabling *cabling, const char *path, const TopologyOptions *options, GString *notes, GError **error)
{
    guint rates = 0, n = cabling->cables->len;
    for (guint i = 0; i < n; i++)
        rates += g_array_index(cabling->cables, Cable, i).rate_Bps <= 0;
    if (cabling->devices->len == 0)
        return error_input(error, "%s: there is no device in it", path);
    guint before = topology_n_problems(options);
    GError *wrong = NULL;
    if (rates > 0 && options->default_rate_Bps <= 0 &&
        !error_input(&wrong, "%s: %u of %u cables have no rate: give one with --default-rate", path, rates, n) &&
        !topology_go_on(options, g_steal_pointer(&wrong), error))
        return FALSE;
    if (n > 0 && options->default_latency_ps < 0 &&
        !error_input(&wrong, "%s: the lengths of cables are not said: give --default-latency", path) &&
        !topology_go_on(options, g_steal_pointer(&wrong), error))
        return FALSE;
    if (!topology_sound(options, before, path, error))
        return FALSE;
    if (rates > 0)
        g_string_append_printf(notes, "%u of %u cables have the default rate\n", rates, n);
    if (cabling->loops > 0)
        g_string_append_printf(notes, "%u cables from a device to itself are left out\n", cabling->loops);
    return TRUE;
}

static gboolean
add_rows(const Cabling *cabling, Fabric *fabric, const TopologyOptions *options, GError **error)
{
    for (guint i = 0; i < cabling->devices->len; i++) {
        const Device *one = &g_array_index(cabling->devices, Device, i);
        Node node = node_default();
        node.name = one->name;
        node.kind = one->kind;
        node.server = one->kind == NODE_HOST ? one->name : "";
        if (fabric_add_node(fabric, &node, error) == INDEX_NONE)
            return FALSE;
    }
    for (guint i = 0; i < cabling->cables->len; i++) {
        const Cable *cable = &g_array_index(cabling->cables, Cable, i);
        Link link = link_default();
        link.src = cable->a;
        link.dst = cable->b;
        link.kind = LINK_ETHERNET;
        link.capacity_Bps = cable->rate_Bps > 0 ? cable->rate_Bps : options->default_rate_Bps;
        link.latency_ps = options->default_latency_ps;
        link.source = cable->rate_Bps > 0 ? "rate file, latency default" : "default";
        if (fabric_add_cable(fabric, &link, error) == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

Fabric *
cabling_build(const Cabling *cabling, const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (!check(cabling, path, options, text, error))
        return NULL;
    g_autoptr(Fabric) fabric = fabric_new();
    if (!add_rows(cabling, fabric, options, error) || !fabric_seal(fabric, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    if (notes != NULL)
        *notes = g_strdup(text->str);
    return g_steal_pointer(&fabric);
}
