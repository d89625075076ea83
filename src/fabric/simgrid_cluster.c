/* simgrid_cluster.c - <cluster> of a SimGrid platform: flat, fat tree, torus, dragonfly
 *
 * Shapes as the manual and code of SimGrid 3 have them:
 * - FLAT: host - private link - (backbone) - router.
 * - FAT_TREE "n;d1,..;u1,..;c1,..": a switch of level l has a label of n digits, digit j < u_j where j <= l, else <
 * d_j; a child of level l - 1 and a parent agree in all digits but the l-th, and are joined by c_l cables.
 * - TORUS "x,y,..": node x + X (y + Y z) and the next in each dimension, around the end; of two there are two cables.
 *   Hosts pass on there: each has a router, at a joint.
 * - DRAGONFLY "groups,links;chassis,links;routers,links;nodes": routers of a chassis pairwise, equal ones of a group's
 *   chassis pairwise, groups pairwise: router j of group i with router i of group j. Links are parallel cables.
 * The cluster's router is at a joint with every switch of the highest level, or with router 0. */
#include "base/error.h"
#include "fabric/simgrid_platform.h"

#include <string.h>

enum { LEVELS_MOST = 8, SIZES_MOST = 8 };

#define CABLES_MOST (UINT64_C(1) << 24)

typedef struct {
    SgReader *reader;
    const XmlElement *element;
    const char *id, *prefix, *suffix;
    GArray *radicals; /* of uint32_t */
    uint32_t *hosts;  /* nodes */
    double speed_FLOPps;
    SgCapacity link;
    uint32_t router, n_links;
} Cluster;

/* "0-7,10": numbers and ranges; semicolons part as well. */
static gboolean
parse_radical(Cluster *cluster, const char *text, GError **error)
{
    g_auto(GStrv) parts = g_strsplit_set(text, ",;", -1);
    for (char **part = parts; *part != NULL; part++) {
        char *end;
        const char *at = g_strstrip(*part);
        if (!g_ascii_isdigit(*at))
            return error_input(error, "radical \"%s\": expected numbers and ranges such as 0-7,10", text);
        uint64_t first = g_ascii_strtoull(at, &end, 10), last = first;
        if (*end == '-' && g_ascii_isdigit(end[1]))
            last = g_ascii_strtoull(end + 1, &end, 10);
        if (*end != '\0' || last < first || last > UINT32_MAX)
            return error_input(error, "radical \"%s\": expected numbers and ranges such as 0-7,10", text);
        if (last - first >= SG_HOSTS_MOST || cluster->radicals->len + last - first >= SG_HOSTS_MOST)
            return error_input(error, "radical \"%s\": more than %d hosts", text, SG_HOSTS_MOST);
        for (uint64_t r = first; r <= last; r++) {
            uint32_t number = (uint32_t)r;
            g_array_append_val(cluster->radicals, number);
        }
    }
    return TRUE;
}

/* Whole numbers of at least 1, parted by commas: between least and most of them. */
static gboolean
parse_sizes(const char *text, uint32_t least, uint32_t most, uint32_t *sizes, uint32_t *n, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);
    *n = g_strv_length(parts);
    gboolean good = *n >= least && *n <= most;
    for (uint32_t i = 0; good && i < *n; i++) {
        guint64 value;
        good = g_ascii_string_to_unsigned(g_strstrip(parts[i]), 10, 1, SG_HOSTS_MOST, &value, NULL);
        sizes[i] = (uint32_t)value;
    }
    return good || error_input(error, "topo_parameters: \"%s\": expected %u to %u whole numbers from 1, with commas",
                               text, least, most);
}

static gboolean
add_hosts(Cluster *cluster, GError **error)
{
    cluster->hosts = g_new(uint32_t, cluster->radicals->len);
    for (guint i = 0; i < cluster->radicals->len; i++) {
        g_autofree char *name =
            g_strdup_printf("%s%u%s", cluster->prefix, g_array_index(cluster->radicals, uint32_t, i), cluster->suffix);
        cluster->hosts[i] = sg_add_host(cluster->reader, name, cluster->id, cluster->speed_FLOPps, error);
        if (cluster->hosts[i] == INDEX_NONE)
            return FALSE;
    }
    return TRUE;
}

static gboolean
expect_hosts(const Cluster *cluster, uint64_t n, GError **error)
{
    return cluster->radicals->len == n ||
           error_input(error, "topo_parameters are of %" G_GUINT64_FORMAT " hosts; radical has %u", n,
                       cluster->radicals->len);
}

/* The n-th of a kind of switch: "ID/KINDn". */
static uint32_t
add_switch(Cluster *cluster, const char *what, uint64_t number, NodeKind kind, GError **error)
{
    g_autofree char *name = g_strdup_printf("%s/%s%" G_GUINT64_FORMAT, cluster->id, what, number);
    return sg_add_switch(cluster->reader, name, cluster->id, kind, error);
}

static gboolean
attach(Cluster *cluster, uint32_t node, uint32_t in, uint32_t out, GError **error)
{
    g_autofree char *name = g_strdup_printf("%s/link%u", cluster->id, cluster->n_links++);
    return sg_attach(cluster->reader, node, in, out, &cluster->link, name, error);
}

static gboolean
cables(Cluster *cluster, uint32_t a, uint32_t b, uint32_t n, GError **error)
{
    for (uint32_t i = 0; i < n; i++)
        if (!attach(cluster, a, b, b, error))
            return FALSE;
    return TRUE;
}

static gboolean
join_router(Cluster *cluster, uint32_t node, GError **error)
{
    return sg_joint(cluster->reader, cluster->router, node, error) &&
           sg_joint(cluster->reader, node, cluster->router, error);
}

/* A backbone is one capacity for all that comes from a host or the router. */
static gboolean
build_flat(Cluster *cluster, GError **error)
{
    const char *rate = xml_attribute(cluster->element, "bb_bw"), *latency = xml_attribute(cluster->element, "bb_lat");
    uint32_t in = cluster->router, out = cluster->router;
    if (rate != NULL && latency != NULL) {
        SgCapacity backbone;
        const char *policy = xml_attribute(cluster->element, "bb_sharing_policy");
        if (!sg_parse_sharing(policy, SG_SHARED, &backbone.sharing))
            return error_input(error, "bb_sharing_policy \"%s\": expected SHARED, SPLITDUPLEX or FATPIPE", policy);
        g_autofree char *name = g_strdup_printf("%s/backbone", cluster->id);
        if (!sg_parse_rate(cluster->reader, rate, &backbone.rate_Bps, error) ||
            !sg_parse_time(cluster->reader, latency, &backbone.latency_ps, error) ||
            !sg_add_resource(cluster->reader, name, &backbone, &in, &out, error) ||
            !sg_joint(cluster->reader, cluster->router, in, error) ||
            !sg_joint(cluster->reader, out, cluster->router, error))
            return FALSE;
    }
    for (guint i = 0; i < cluster->radicals->len; i++)
        if (!attach(cluster, cluster->hosts[i], in, out, error))
            return FALSE;
    return TRUE;
}

typedef struct {
    uint32_t n, down[LEVELS_MOST], up[LEVELS_MOST], cables[LEVELS_MOST];
} Tree;

static gboolean
parse_tree(const char *text, Tree *tree, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ";", -1);
    guint64 levels;
    if (g_strv_length(parts) != 4 || !g_ascii_string_to_unsigned(parts[0], 10, 1, LEVELS_MOST, &levels, NULL))
        return error_input(error, "topo_parameters \"%s\": expected LEVELS;d1,..;u1,..;c1,.. with at most %d levels",
                           text, LEVELS_MOST);
    tree->n = (uint32_t)levels;
    uint32_t n;
    return parse_sizes(parts[1], tree->n, tree->n, tree->down, &n, error) &&
           parse_sizes(parts[2], tree->n, tree->n, tree->up, &n, error) &&
           parse_sizes(parts[3], tree->n, tree->n, tree->cables, &n, error);
}

/* Nodes of a level; too many: more than CABLES_MOST. */
static uint64_t
level_size(const Tree *tree, uint32_t level)
{
    uint64_t size = 1;
    for (uint32_t j = 0; j < tree->n && size <= CABLES_MOST; j++)
        size *= j < level ? tree->up[j] : tree->down[j];
    return size;
}

/* Joins level l - 1 to its parents. A node's number has digit 1 last, in the radices of its level. */
static gboolean
join_levels(Cluster *cluster, const Tree *tree, uint32_t l, const uint32_t *children, const uint32_t *parents,
            GError **error)
{
    uint64_t below = 1, n = level_size(tree, l - 1);
    for (uint32_t j = 0; j + 1 < l; j++)
        below *= tree->up[j];
    uint32_t down = tree->down[l - 1], up = tree->up[l - 1];
    for (uint64_t child = 0; child < n; child++) {
        uint64_t low = child % below, high = child / below / down;
        for (uint32_t p = 0; p < up; p++)
            if (!cables(cluster, children[child], parents[low + below * (p + up * high)], tree->cables[l - 1], error))
                return FALSE;
    }
    return TRUE;
}

static gboolean
build_tree(Cluster *cluster, const char *text, GError **error)
{
    Tree tree;
    if (!parse_tree(text, &tree, error) || !expect_hosts(cluster, level_size(&tree, 0), error))
        return FALSE;
    for (uint32_t l = 1; l <= tree.n; l++)
        if ((double)level_size(&tree, l - 1) * tree.up[l - 1] * tree.cables[l - 1] > (double)CABLES_MOST ||
            level_size(&tree, l) > CABLES_MOST)
            return error_input(error, "topo_parameters \"%s\": more than %" G_GUINT64_FORMAT " cables", text,
                               CABLES_MOST);
    g_autofree uint32_t *children = g_memdup2(cluster->hosts, cluster->radicals->len * sizeof(uint32_t));
    for (uint32_t l = 1; l <= tree.n; l++) {
        uint64_t n = level_size(&tree, l);
        g_autofree uint32_t *parents = g_new(uint32_t, n);
        g_autofree char *what = g_strdup_printf("level%u.", l);
        for (uint64_t i = 0; i < n; i++)
            if ((parents[i] = add_switch(cluster, what, i,
                                         l == 1   ? NODE_LEAF
                                         : l == 2 ? NODE_SPINE
                                                  : NODE_CORE,
                                         error)) == INDEX_NONE)
                return FALSE;
        if (!join_levels(cluster, &tree, l, children, parents, error))
            return FALSE;
        g_free(children);
        children = g_steal_pointer(&parents);
    }
    for (uint64_t i = 0; i < level_size(&tree, tree.n); i++)
        if (!join_router(cluster, children[i], error))
            return FALSE;
    return TRUE;
}

/* A router for each, at a joint; the nodes, which the caller frees, or NULL with an error. */
static uint32_t *
add_routers(Cluster *cluster, uint64_t n, uint32_t hosts_each, GError **error)
{
    g_autofree uint32_t *routers = g_new(uint32_t, n);
    for (uint64_t i = 0; i < n; i++) {
        routers[i] = add_switch(cluster, "router", i, NODE_LEAF, error);
        if (routers[i] == INDEX_NONE)
            return NULL;
        for (uint32_t h = 0; h < hosts_each; h++) {
            uint32_t host = cluster->hosts[i * hosts_each + h];
            if (hosts_each > 1 ? !cables(cluster, host, routers[i], 1, error)
                               : !sg_joint(cluster->reader, host, routers[i], error) ||
                                     !sg_joint(cluster->reader, routers[i], host, error))
                return NULL;
        }
    }
    return g_steal_pointer(&routers);
}

static gboolean
build_torus(Cluster *cluster, const char *text, GError **error)
{
    uint32_t sizes[SIZES_MOST], n_sizes;
    if (!parse_sizes(text, 1, SIZES_MOST, sizes, &n_sizes, error))
        return FALSE;
    uint64_t n = 1;
    for (uint32_t d = 0; d < n_sizes && n <= SG_HOSTS_MOST; d++)
        n *= sizes[d];
    if (!expect_hosts(cluster, n, error))
        return FALSE;
    g_autofree uint32_t *routers = add_routers(cluster, n, 1, error);
    if (routers == NULL)
        return FALSE;
    uint64_t stride = 1;
    for (uint32_t d = 0; d < n_sizes; d++) {
        for (uint64_t i = 0; sizes[d] > 1 && i < n; i++) {
            uint64_t at = i / stride % sizes[d], next = i - at * stride + (at + 1) % sizes[d] * stride;
            if (!cables(cluster, routers[i], routers[next], 1, error))
                return FALSE;
        }
        stride *= sizes[d];
    }
    return join_router(cluster, routers[0], error);
}

/* Cables between every two of n routers first, first + stride, ... */
static gboolean
join_all(Cluster *cluster, const uint32_t *routers, uint32_t n, uint32_t stride, uint32_t n_cables, GError **error)
{
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++)
            if (!cables(cluster, routers[a * stride], routers[b * stride], n_cables, error))
                return FALSE;
    return TRUE;
}

static gboolean
build_dragonfly(Cluster *cluster, const char *text, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(text, ";", -1);
    uint32_t groups[2], chassis[2], blades[2], nodes, n;
    if (g_strv_length(parts) != 4)
        return error_input(error, "topo_parameters \"%s\": expected groups,links;chassis,links;routers,links;nodes",
                           text);
    if (!parse_sizes(parts[0], 2, 2, groups, &n, error) || !parse_sizes(parts[1], 2, 2, chassis, &n, error) ||
        !parse_sizes(parts[2], 2, 2, blades, &n, error) || !parse_sizes(parts[3], 1, 1, &nodes, &n, error))
        return FALSE;
    double each = (double)chassis[0] * blades[0], all = each * groups[0];
    if (all * nodes > SG_HOSTS_MOST || all * (blades[0] - 1.0) * blades[1] + all * (chassis[0] - 1.0) * chassis[1] +
                                               (double)groups[0] * groups[0] * groups[1] >
                                           (double)CABLES_MOST)
        return error_input(error, "topo_parameters \"%s\": more hosts or cables than are read", text);
    if (groups[0] > each)
        return error_input(error, "topo_parameters \"%s\": %u groups, but only %.0f routers in each to reach them",
                           text, groups[0], each);
    uint32_t size = chassis[0] * blades[0];
    if (!expect_hosts(cluster, (uint64_t)size * groups[0] * nodes, error))
        return FALSE;
    g_autofree uint32_t *routers = add_routers(cluster, (uint64_t)size * groups[0], nodes, error);
    for (uint32_t g = 0; routers != NULL && g < groups[0]; g++) {
        const uint32_t *group = routers + (size_t)g * size;
        for (uint32_t c = 0; c < chassis[0]; c++)
            if (!join_all(cluster, group + c * blades[0], blades[0], 1, blades[1], error))
                return FALSE;
        for (uint32_t b = 0; b < blades[0]; b++)
            if (!join_all(cluster, group + b, chassis[0], blades[0], chassis[1], error))
                return FALSE;
        for (uint32_t other = g + 1; other < groups[0]; other++)
            if (!cables(cluster, group[other], routers[(size_t)other * size + g], groups[1], error))
                return FALSE;
    }
    return routers != NULL && join_router(cluster, routers[0], error);
}

static gboolean
build(Cluster *cluster, GError **error)
{
    const XmlElement *element = cluster->element;
    const char *topology = xml_attribute(element, "topology"), *text = xml_attribute(element, "topo_parameters");
    const char *given = xml_attribute(element, "router_id");
    g_autofree char *name = given != NULL && *given != '\0'
                                ? g_strdup(given)
                                : g_strdup_printf("%s%s_router%s", cluster->prefix, cluster->id, cluster->suffix);
    gboolean flat = topology == NULL || strcmp(topology, "FLAT") == 0;
    cluster->router = sg_add_switch(cluster->reader, name, cluster->id, flat ? NODE_LEAF : NODE_CORE, error);
    if (cluster->router == INDEX_NONE)
        return FALSE;
    sg_add_point(cluster->reader, name, cluster->router, FALSE);
    if (!add_hosts(cluster, error))
        return FALSE;
    if (flat)
        return build_flat(cluster, error);
    if (text == NULL)
        return error_input(error, "has no topo_parameters, which %s needs", topology);
    cluster->reader->notes[SG_TREES]++;
    if (strcmp(topology, "FAT_TREE") == 0)
        return build_tree(cluster, text, error);
    if (strcmp(topology, "TORUS") == 0)
        return build_torus(cluster, text, error);
    if (strcmp(topology, "DRAGONFLY") == 0)
        return build_dragonfly(cluster, text, error);
    return error_input(error, "topology \"%s\": expected FLAT, FAT_TREE, TORUS or DRAGONFLY", topology);
}

gboolean
sg_cluster(SgReader *reader, const XmlElement *element, GError **error)
{
    static const char *const needed[] = {"id", "prefix", "suffix", "radical", "speed", "bw", "lat"};
    const char *values[G_N_ELEMENTS(needed)];
    for (size_t i = 0; i < G_N_ELEMENTS(needed); i++)
        if ((values[i] = xml_attribute(element, needed[i])) == NULL)
            return error_input(error, "%s is not given", needed[i]);
    Cluster cluster = {.reader = reader, .element = element, .id = values[0], .prefix = values[1], .suffix = values[2]};
    const char *policy = xml_attribute(element, "sharing_policy"), *cores = xml_attribute(element, "core");
    if (!sg_parse_sharing(policy, SG_SPLITDUPLEX, &cluster.link.sharing))
        return error_input(error, "sharing_policy \"%s\": expected SHARED, SPLITDUPLEX or FATPIPE", policy);
    g_auto(GStrv) speeds = g_strsplit(values[4], ",", 2);
    if (speeds[0] == NULL || !sg_parse_speed(reader, speeds[0], &cluster.speed_FLOPps, error) ||
        !sg_parse_rate(reader, values[5], &cluster.link.rate_Bps, error) ||
        !sg_parse_time(reader, values[6], &cluster.link.latency_ps, error))
        return speeds[0] != NULL ? FALSE : error_input(error, "speed is empty");
    g_autoptr(GArray) radicals = cluster.radicals = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    gboolean built = parse_radical(&cluster, values[3], error) && build(&cluster, error);
    if (cores != NULL && strcmp(cores, "1") != 0)
        reader->notes[SG_CORES] += radicals->len;
    static const char *const parts[] = {"limiter_link", "loopback_bw", "loopback_lat"};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        reader->notes[SG_PARTS] += xml_attribute(element, parts[i]) != NULL;
    g_free(cluster.hosts);
    return built;
}
