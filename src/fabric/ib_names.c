/* ib_names.c - what the descriptions of InfiniBand devices tell */
#include "fabric/ib_names.h"

#include "base/index.h"

#include <string.h>

/* Behind "MF0;". */
static const char *
after_module(const char *description)
{
    const char *semicolon = strchr(description, ';');
    return g_str_has_prefix(description, "MF") && semicolon != NULL ? semicolon + 1 : description;
}

char *
ib_chassis_name(const char *description)
{
    const char *name = after_module(description), *colon = strrchr(name, ':');
    return colon != NULL && name != description ? g_strndup(name, (gsize)(colon - name)) : g_strdup("");
}

char *
ib_switch_name(const char *description)
{
    g_autofree char *chassis = ib_chassis_name(description);
    if (chassis[0] == '\0')
        return g_strdup(description);
    g_auto(GStrv) parts = g_strsplit(strrchr(description, ':') + 1, "/", -1); /* model, module, unit */
    return g_strv_length(parts) == 3 ? g_strdup_printf("%s/%s", chassis, parts[1]) : g_strdup(chassis);
}

/* Is the word how a system calls an InfiniBand device? */
static gboolean
is_device(const char *word)
{
    static const char *const begins[] = {"mlx", "HCA-", "hfi", "qib", "mthca", "ib", "roce", "bnxt", "irdma", "rdma"};
    for (size_t i = 0; i < G_N_ELEMENTS(begins); i++)
        if (g_str_has_prefix(word, begins[i]) && word[strcspn(word, "0123456789")] != '\0')
            return TRUE;
    return FALSE;
}

/* Both "" unless the description is a host and its device, in either order. */
static void
split(const char *description, char **host, char **device)
{
    g_auto(GStrv) words = g_strsplit_set(description, " \t", -1);
    gboolean two = g_strv_length(words) == 2;
    gboolean last = two && is_device(words[1]), first = two && !last && is_device(words[0]);
    *host = g_strdup(last ? words[0] : first ? words[1] : "");
    *device = g_strdup(last ? words[1] : first ? words[0] : "");
}

char *
ib_device_word(const char *description)
{
    char *device;
    g_autofree char *host = NULL;
    split(description, &host, &device);
    return device;
}

int32_t
ib_device_rail(const char *word)
{
    gboolean from_one = g_str_has_prefix(word, "HCA-");
    const char *number = from_one ? word + 4 : strrchr(word, '_') != NULL ? strrchr(word, '_') + 1 : "";
    guint64 value;
    if (!g_ascii_string_to_unsigned(number, 10, from_one, 65535, &value, NULL))
        return -1;
    return (int32_t)value - from_one;
}

IbHosts *
ib_hosts_new(void)
{
    IbHosts *hosts = g_new0(IbHosts, 1);
    hosts->names = g_ptr_array_new_with_free_func(g_free);
    hosts->seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    hosts->shared = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    hosts->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return hosts;
}

void
ib_hosts_free(IbHosts *hosts)
{
    if (hosts == NULL)
        return;
    g_ptr_array_unref(hosts->names);
    g_hash_table_unref(hosts->seen);
    g_hash_table_unref(hosts->shared);
    g_hash_table_unref(hosts->numbers);
    g_free(hosts);
}

void
ib_hosts_see(IbHosts *hosts, const char *description)
{
    g_autofree char *host = NULL, *device = NULL;
    split(description, &host, &device);
    if (host[0] != '\0' && !g_hash_table_add(hosts->seen, g_strdup_printf("%s %s", host, device)))
        g_hash_table_add(hosts->shared, g_strdup(host));
}

uint32_t
ib_hosts_of(IbHosts *hosts, const char *id, const char *description, const char *system)
{
    if (strstr(description, "Aggregation Node") != NULL) {
        hosts->n_aggregation++;
        return INDEX_NONE;
    }
    g_autofree char *host = NULL, *device = NULL;
    split(description, &host, &device);
    gboolean named = host[0] != '\0' && !g_hash_table_contains(hosts->shared, host);
    hosts->n_nameless += !named;
    /* A name has no blank, so that no key is mistaken for another. */
    g_autofree char *key = named ? g_strdup(host) : g_strdup_printf("system %s", system[0] != '\0' ? system : id);
    guint known = GPOINTER_TO_UINT(g_hash_table_lookup(hosts->numbers, key));
    if (known != 0)
        return known - 1;
    const char *bare = g_str_has_prefix(id, "H-") ? id + 2 : id;
    g_ptr_array_add(hosts->names, named                        ? g_strdup(host)
                                  : host[0] != '\0'            ? g_strdup_printf("%s-%s", host, bare)
                                  : g_str_has_prefix(id, "H-") ? g_strdup_printf("host-%s", bare)
                                                               : g_strdup(id));
    g_hash_table_insert(hosts->numbers, g_steal_pointer(&key), GUINT_TO_POINTER(hosts->names->len));
    return hosts->names->len - 1;
}
