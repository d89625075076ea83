/* simgrid_platform.c - SimGrid's platform XML (4 and 4.1) as a fabric
 *
 * From the description of the format in SimGrid's manual and DTD, whose default policy of a link is SHARED. Zones and
 * zone routes need no nodes of their own: a route joins its two ends, or the gateways of two zones, by the links it
 * names. Traffic takes the shortest way through the graph, not the way a table of routes says. */
#include "fabric/simgrid_platform.h"

#include "base/error.h"
#include "base/xml_head.h"

#include <string.h>

#define FILE_LIMIT ((size_t)256 << 20)

enum { DEPTH_MOST = 64 };

typedef struct {
    const XmlElement *element;
    SgCapacity capacity;
    const char *a, *b;      /* ends of the first route that names it */
    gboolean several;       /* routes between other ends name it too, or with other links */
    gboolean way[2];        /* a cable: from a to b, and back, are there */
    uint32_t in[2], out[2]; /* resources: of SPLITDUPLEX UP and DOWN, else the first; INDEX_NONE = not yet */
} SgLink;

typedef struct {
    SgLink *link;
    int direction; /* 0 NONE, 1 UP, 2 DOWN */
} SgStep;

typedef struct {
    const XmlElement *element;
    const char *a, *b; /* points */
    gboolean symmetrical, gateways, searched;
    GArray *steps; /* of SgStep */
} SgRoute;

static void
point_free(void *data)
{
    SgPoint *point = data;
    g_free(point->name);
    g_free(point);
}

static void
route_free(void *data)
{
    SgRoute *route = data;
    g_array_unref(route->steps);
    g_free(route);
}

gboolean
sg_wrong(const SgReader *reader, const XmlElement *element, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    return topology_problem(reader->options, xml_tree_path(reader->tree), element->line, error, "%s: %s", element->name,
                            text);
}

/* The same of an error without a place, which it takes. */
static gboolean
wrong_as(const SgReader *reader, const XmlElement *element, GError *wrong, GError **error)
{
    gboolean on = sg_wrong(reader, element, error, "%s", wrong->message);
    g_error_free(wrong);
    return on;
}

uint32_t
sg_add_switch(SgReader *reader, const char *name, const char *zone, NodeKind kind, GError **error)
{
    Node node = node_default();
    node.name = name;
    node.kind = kind;
    node.zone = zone;
    return fabric_add_node(reader->fabric, &node, error);
}

void
sg_add_point(SgReader *reader, const char *name, uint32_t node, gboolean host)
{
    SgPoint *point = g_new0(SgPoint, 1);
    *point = (SgPoint){.name = g_strdup(name), .node = node, .host = host};
    g_ptr_array_add(reader->order, point);
    g_hash_table_insert(reader->points, point->name, point);
}

uint32_t
sg_add_host(SgReader *reader, const char *name, const char *zone, double speed_FLOPps, GError **error)
{
    if (++reader->n_hosts > SG_HOSTS_MOST) {
        error_input(error, "more than %d hosts", SG_HOSTS_MOST);
        return INDEX_NONE;
    }
    Node node = node_default();
    node.name = node.server = name;
    node.kind = NODE_HOST;
    node.zone = zone;
    node.peak_FLOPps = speed_FLOPps;
    uint32_t index = fabric_add_node(reader->fabric, &node, error);
    if (index != INDEX_NONE)
        sg_add_point(reader, name, index, TRUE);
    return index;
}

static gboolean
add_link(SgReader *reader, uint32_t src, uint32_t dst, const SgCapacity *capacity, GError **error)
{
    Link link = link_default();
    link.src = src;
    link.dst = dst;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = capacity != NULL ? capacity->rate_Bps : LINK_MAX_Bps;
    link.latency_ps = capacity != NULL ? capacity->latency_ps : 0;
    link.source = capacity != NULL ? "file" : "joint";
    return fabric_add_link(reader->fabric, &link, error) != INDEX_NONE;
}

gboolean
sg_joint(SgReader *reader, uint32_t from, uint32_t to, GError **error)
{
    gint64 key = (gint64)((guint64)from << 32 | to);
    if (!g_hash_table_add(reader->joints, g_memdup2(&key, sizeof key)))
        return TRUE;
    return add_link(reader, from, to, NULL, error);
}

gboolean
sg_add_resource(SgReader *reader, const char *name, const SgCapacity *capacity, uint32_t *in, uint32_t *out,
                GError **error)
{
    g_autofree char *first = g_strdup_printf("%s/in", name), *last = g_strdup_printf("%s/out", name);
    reader->notes[SG_FAT] += capacity->sharing == SG_FATPIPE;
    return (*in = sg_add_switch(reader, first, "", NODE_LEAF, error)) != INDEX_NONE &&
           (*out = sg_add_switch(reader, last, "", NODE_LEAF, error)) != INDEX_NONE &&
           add_link(reader, *in, *out, capacity, error);
}

gboolean
sg_attach(SgReader *reader, uint32_t a, uint32_t in, uint32_t out, const SgCapacity *capacity, const char *name,
          GError **error)
{
    if (capacity->sharing != SG_SHARED) {
        reader->notes[SG_FAT] += capacity->sharing == SG_FATPIPE;
        return add_link(reader, a, in, capacity, error) && add_link(reader, out, a, capacity, error);
    }
    uint32_t first, last;
    return sg_add_resource(reader, name, capacity, &first, &last, error) && sg_joint(reader, a, first, error) &&
           sg_joint(reader, last, a, error) && sg_joint(reader, last, in, error) && sg_joint(reader, out, first, error);
}

/* A host's speed is that of its pstate, a core. */
static gboolean
read_host(SgReader *reader, const XmlElement *element, const char *zone, GError **error)
{
    const char *id = xml_attribute(element, "id"), *speed = xml_attribute(element, "speed");
    if (id == NULL || speed == NULL)
        return sg_wrong(reader, element, error, "%s is not given", id == NULL ? "id" : "speed");
    g_auto(GStrv) speeds = g_strsplit(speed, ",", -1);
    int64_t pstate, cores;
    GError *wrong = NULL;
    double speed_FLOPps;
    guint n = g_strv_length(speeds);
    if (!xml_integer(reader->tree, element, "pstate", 0, MAX(n, 1) - 1, 0, &pstate, &wrong) ||
        !xml_integer(reader->tree, element, "core", 1, INT32_MAX, 1, &cores, &wrong))
        return topology_go_on(reader->options, wrong, error);
    if (!sg_parse_speed(reader, n > 0 ? g_strstrip(speeds[pstate]) : "", &speed_FLOPps, &wrong) ||
        sg_add_host(reader, id, zone, speed_FLOPps, &wrong) == INDEX_NONE)
        return wrong_as(reader, element, wrong, error);
    reader->notes[SG_CORES] += cores > 1;
    reader->notes[SG_PROFILES] += xml_attribute(element, "speed_file") != NULL;
    reader->notes[SG_PROFILES] += xml_attribute(element, "state_file") != NULL;
    for (const XmlElement *child = element->first; child != NULL; child = child->next)
        reader->notes[SG_PARTS] += strcmp(child->name, "disk") == 0;
    return TRUE;
}

static gboolean
read_router(SgReader *reader, const XmlElement *element, const char *zone, GError **error)
{
    const char *id = xml_attribute(element, "id");
    GError *wrong = NULL;
    if (id == NULL)
        return sg_wrong(reader, element, error, "id is not given");
    uint32_t node = sg_add_switch(reader, id, zone, NODE_LEAF, &wrong);
    if (node == INDEX_NONE)
        return wrong_as(reader, element, wrong, error);
    sg_add_point(reader, id, node, FALSE);
    return TRUE;
}

static gboolean
read_link(SgReader *reader, const XmlElement *element, GError **error)
{
    const char *id = xml_attribute(element, "id"), *bandwidth = xml_attribute(element, "bandwidth"),
               *latency = xml_attribute(element, "latency"), *policy = xml_attribute(element, "sharing_policy");
    if (id == NULL || bandwidth == NULL)
        return sg_wrong(reader, element, error, "%s is not given", id == NULL ? "id" : "bandwidth");
    if (g_hash_table_contains(reader->links, id))
        return sg_wrong(reader, element, error, "there is a link \"%s\" already", id);
    SgCapacity capacity = {0};
    GError *wrong = NULL;
    if (!sg_parse_sharing(policy, SG_SHARED, &capacity.sharing))
        return sg_wrong(reader, element, error, "%s: sharing_policy \"%s\": expected SHARED, SPLITDUPLEX or FATPIPE",
                        id, policy);
    /* states of a Wi-Fi or of several bandwidths: the first */
    if (!sg_parse_rate(reader, bandwidth, &capacity.rate_Bps, &wrong) ||
        (latency != NULL && !sg_parse_time(reader, latency, &capacity.latency_ps, &wrong))) {
        g_prefix_error(&wrong, "%s: ", id);
        return wrong_as(reader, element, wrong, error);
    }
    static const char *const profiles[] = {"bandwidth_file", "latency_file", "state_file"};
    for (size_t i = 0; i < G_N_ELEMENTS(profiles); i++)
        reader->notes[SG_PROFILES] += xml_attribute(element, profiles[i]) != NULL;
    SgLink *link = g_new0(SgLink, 1);
    *link = (SgLink){.element = element, .capacity = capacity, .in = {INDEX_NONE, INDEX_NONE}};
    g_hash_table_insert(reader->links, (char *)id, link);
    return TRUE;
}

static gboolean
read_steps(SgReader *reader, SgRoute *route, GError **error)
{
    for (const XmlElement *child = route->element->first; child != NULL; child = child->next) {
        const char *id = xml_attribute(child, "id"), *way = xml_attribute(child, "direction");
        if (strcmp(child->name, "link_ctn") != 0 || id == NULL)
            return sg_wrong(reader, child, error, "found in a route, expected link_ctn with an id");
        SgStep step = {.link = g_hash_table_lookup(reader->links, id)};
        if (step.link == NULL)
            return sg_wrong(reader, child, error, "there is no link \"%s\" above", id);
        if (way != NULL)
            step.direction = g_ascii_strcasecmp(way, "UP") == 0     ? 1
                             : g_ascii_strcasecmp(way, "DOWN") == 0 ? 2
                             : g_ascii_strcasecmp(way, "NONE") == 0 ? 0
                                                                    : -1;
        if (step.direction < 0)
            return sg_wrong(reader, child, error, "direction \"%s\": expected UP, DOWN or NONE", way);
        g_array_append_val(route->steps, step);
    }
    return route->steps->len > 0 || sg_wrong(reader, route->element, error, "names no link");
}

static gboolean
read_route(SgReader *reader, const XmlElement *element, gboolean zones, gboolean searched, GError **error)
{
    static const char *const ends[2][4] = {{"src", "dst"}, {"src", "dst", "gw_src", "gw_dst"}};
    const char *at[4] = {NULL}, *symmetrical = xml_attribute(element, "symmetrical");
    for (int i = 0; i < (zones ? 4 : 2); i++)
        if ((at[i] = xml_attribute(element, ends[zones][i])) == NULL)
            return sg_wrong(reader, element, error, "%s is not given", ends[zones][i]);
    if (!zones && strcmp(at[0], at[1]) == 0) {
        reader->notes[SG_PARTS]++; /* a loopback */
        return TRUE;
    }
    SgRoute *route = g_new0(SgRoute, 1);
    *route = (SgRoute){.element = element,
                       .a = at[zones ? 2 : 0],
                       .b = at[zones ? 3 : 1],
                       .symmetrical = symmetrical == NULL || g_ascii_strcasecmp(symmetrical, "NO") != 0,
                       .gateways = zones,
                       .searched = searched,
                       .steps = g_array_new(FALSE, FALSE, sizeof(SgStep))};
    guint before = topology_n_problems(reader->options);
    gboolean on = read_steps(reader, route, error);
    if (on && topology_n_problems(reader->options) == before)
        g_ptr_array_add(reader->routes, route);
    else
        route_free(route);
    return on;
}

static gboolean
is_one_of(const char *name, const char *const *names)
{
    while (*names != NULL && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

static gboolean read_zone(SgReader *reader, const XmlElement *zone, uint32_t depth, GError **error);

static gboolean
read_child(SgReader *reader, const XmlElement *child, const char *zone, gboolean searched, uint32_t depth,
           GError **error)
{
    static const char *const zones[] = {"zone", "AS", NULL}, *const between[] = {"zoneRoute", "ASroute", NULL},
                             *const bypass[] = {"bypassRoute", "bypassZoneRoute", "bypassASroute", NULL},
                             *const profiles[] = {"trace", "trace_connect", NULL},
                             *const actors[] = {"actor", "process", NULL}, *const nothing[] = {"prop", "config", NULL};
    const char *name = child->name;
    GError *wrong = NULL;
    if (is_one_of(name, zones))
        return read_zone(reader, child, depth + 1, error);
    if (strcmp(name, "host") == 0)
        return read_host(reader, child, zone, error);
    if (strcmp(name, "router") == 0)
        return read_router(reader, child, zone, error);
    if (strcmp(name, "link") == 0)
        return read_link(reader, child, error);
    if (strcmp(name, "route") == 0 || is_one_of(name, between))
        return read_route(reader, child, strcmp(name, "route") != 0, searched, error);
    if (strcmp(name, "cluster") == 0)
        return sg_cluster(reader, child, &wrong) || wrong_as(reader, child, wrong, error);
    reader->notes[SG_BYPASS] += is_one_of(name, bypass);
    reader->notes[SG_PROFILES] += is_one_of(name, profiles);
    reader->notes[SG_ACTORS] += is_one_of(name, actors);
    return is_one_of(name, bypass) || is_one_of(name, profiles) || is_one_of(name, actors) ||
           is_one_of(name, nothing) || sg_wrong(reader, child, error, "is not read in a platform");
}

static gboolean
read_zone(SgReader *reader, const XmlElement *zone, uint32_t depth, GError **error)
{
    static const char *const tables[] = {"Full", "None", NULL}, *const searches[] = {"Floyd", "Dijkstra",
                                                                                     "DijkstraCache", NULL};
    const char *id = xml_attribute(zone, "id"), *routing = xml_attribute(zone, "routing");
    if (id == NULL || routing == NULL)
        return sg_wrong(reader, zone, error, "%s is not given", id == NULL ? "id" : "routing");
    if (!is_one_of(routing, tables) && !is_one_of(routing, searches))
        return sg_wrong(reader, zone, error,
                        "%s: routing \"%s\": expected Full, Floyd, Dijkstra, DijkstraCache or None", id, routing);
    if (depth > DEPTH_MOST)
        return sg_wrong(reader, zone, error, "%s: zones lie more than %d deep", id, DEPTH_MOST);
    for (const XmlElement *child = zone->first; child != NULL; child = child->next)
        if (!read_child(reader, child, id, is_one_of(routing, searches), depth, error))
            return FALSE;
    return TRUE;
}

/* The points at its ends; FALSE, and *on as sg_wrong gives it, where one is missing. */
static gboolean
find_ends(SgReader *reader, const SgRoute *route, SgPoint **a, SgPoint **b, gboolean *on, GError **error)
{
    *a = g_hash_table_lookup(reader->points, route->a);
    *b = g_hash_table_lookup(reader->points, route->b);
    *on = (*a != NULL && *b != NULL) || sg_wrong(reader, route->element, error, "there is no host or router \"%s\"",
                                                 *a == NULL ? route->a : route->b);
    return *a != NULL && *b != NULL;
}

static gboolean
same_ends(const SgLink *link, const SgRoute *route)
{
    return (strcmp(link->a, route->a) == 0 && strcmp(link->b, route->b) == 0) ||
           (strcmp(link->a, route->b) == 0 && strcmp(link->b, route->a) == 0);
}

/* Which hosts pass on, and which links are one route's alone. */
static gboolean
look_at_routes(SgReader *reader, GError **error)
{
    for (guint r = 0; r < reader->routes->len; r++) {
        const SgRoute *route = reader->routes->pdata[r];
        SgPoint *ends[2];
        gboolean on;
        if (!find_ends(reader, route, &ends[0], &ends[1], &on, error)) {
            if (!on)
                return FALSE;
            continue;
        }
        for (int i = 0; i < 2; i++) {
            const char *partner = ends[!i]->name;
            if (route->searched && ends[i]->partner == NULL)
                ends[i]->partner = partner;
            ends[i]->passes =
                ends[i]->passes || route->gateways || (route->searched && strcmp(ends[i]->partner, partner) != 0);
        }
        for (guint s = 0; s < route->steps->len; s++) {
            SgLink *link = g_array_index(route->steps, SgStep, s).link;
            if (link->a == NULL)
                link->a = route->a, link->b = route->b;
            link->several = link->several || route->steps->len > 1 || !same_ends(link, route);
        }
    }
    return TRUE;
}

/* A host that passes on has a switch before it: "NAME/port". */
static gboolean
add_ports(SgReader *reader, GError **error)
{
    for (guint i = 0; i < reader->order->len; i++) {
        SgPoint *point = reader->order->pdata[i];
        if (!point->host || !point->passes)
            continue;
        g_autofree char *name = g_strdup_printf("%s/port", point->name);
        uint32_t host = point->node, port = sg_add_switch(reader, name, "", NODE_LEAF, error);
        if (port == INDEX_NONE || !sg_joint(reader, host, port, error) || !sg_joint(reader, port, host, error))
            return FALSE;
        point->node = port;
    }
    return TRUE;
}

static gboolean
resource_of(SgReader *reader, const SgStep *step, gboolean back, uint32_t *in, uint32_t *out, GError **error)
{
    SgLink *link = step->link;
    gboolean split = link->capacity.sharing == SG_SPLITDUPLEX;
    int way = split && (step->direction == 2) != back;
    if (link->in[way] == INDEX_NONE) {
        g_autofree char *name = g_strdup_printf("%s%s", xml_attribute(link->element, "id"),
                                                !split     ? ""
                                                : way == 0 ? "_UP"
                                                           : "_DOWN");
        if (!sg_add_resource(reader, name, &link->capacity, &link->in[way], &link->out[way], error))
            return FALSE;
    }
    *in = link->in[way];
    *out = link->out[way];
    return TRUE;
}

/* Joins the links of a route one after another, from one point to the other. */
static gboolean
add_chain(SgReader *reader, const SgRoute *route, uint32_t from, uint32_t to, gboolean back, GError **error)
{
    guint n = route->steps->len;
    for (guint s = 0; s < n; s++) {
        const SgStep *step = &g_array_index(route->steps, SgStep, back ? n - 1 - s : s);
        uint32_t in, out;
        if (!resource_of(reader, step, back, &in, &out, error) || !sg_joint(reader, from, in, error))
            return FALSE;
        from = out;
    }
    return sg_joint(reader, from, to, error);
}

/* A link that is between two points alone. */
static gboolean
add_way(SgReader *reader, SgLink *link, gboolean back, uint32_t from, uint32_t to, GError **error)
{
    if (link->way[back])
        return TRUE;
    link->way[back] = TRUE;
    reader->notes[SG_FAT] += link->capacity.sharing == SG_FATPIPE && !link->way[!back];
    return add_link(reader, from, to, &link->capacity, error);
}

static gboolean
build_route(SgReader *reader, const SgRoute *route, GError **error)
{
    SgPoint *a = g_hash_table_lookup(reader->points, route->a), *b = g_hash_table_lookup(reader->points, route->b);
    const SgStep *first = &g_array_index(route->steps, SgStep, 0);
    SgLink *link = first->link;
    if (!link->several && link->capacity.sharing != SG_SHARED) {
        gboolean back = strcmp(link->a, route->a) != 0;
        return add_way(reader, link, back, a->node, b->node, error) &&
               (!route->symmetrical || add_way(reader, link, !back, b->node, a->node, error));
    }
    for (guint s = 0; s < route->steps->len; s++) {
        const SgStep *step = &g_array_index(route->steps, SgStep, s);
        if (step->link->capacity.sharing == SG_SPLITDUPLEX && step->direction == 0)
            return error_input(error,
                               "%s:%zu: %s: link \"%s\" is SPLITDUPLEX: its link_ctn needs a direction, UP or DOWN",
                               xml_tree_path(reader->tree), route->element->line, route->element->name,
                               xml_attribute(step->link->element, "id"));
    }
    return add_chain(reader, route, a->node, b->node, FALSE, error) &&
           (!route->symmetrical || add_chain(reader, route, b->node, a->node, TRUE, error));
}

static gboolean
build(SgReader *reader, GError **error)
{
    if (reader->n_hosts == 0)
        return error_input(error, "%s: has no host", xml_tree_path(reader->tree));
    if (!add_ports(reader, error))
        return FALSE;
    for (guint r = 0; r < reader->routes->len; r++) {
        GError *wrong = NULL;
        if (!build_route(reader, reader->routes->pdata[r], &wrong) && !topology_go_on(reader->options, wrong, error))
            return FALSE;
    }
    return TRUE;
}

static char *
make_notes(const SgReader *reader)
{
    static const char *const texts[SG_NOTES] = {
        [SG_BARE] = "%u numbers without a unit, taken as bytes a second, seconds or operations a second",
        [SG_FAT] = "%u links are FATPIPE, a limit of each flow: here their flows share them",
        [SG_CORES] = "%u hosts have several cores: a rank computes at the speed of one",
        [SG_BYPASS] = "%u bypassRoute or bypassZoneRoute ignored",
        [SG_PROFILES] = "%u profiles of speed, bandwidth, latency or state ignored",
        [SG_PARTS] = "%u disks, loopbacks or limiters ignored",
        [SG_TREES] = "%u clusters with a topology: their routing is ours, not SimGrid's fixed paths",
        [SG_ACTORS] = "%u actors ignored"};
    GString *notes = g_string_new(NULL);
    for (int i = 0; i < SG_NOTES; i++)
        if (reader->notes[i] > 0) {
            char count[16];
            g_snprintf(count, sizeof count, "%u", reader->notes[i]);
            g_string_append_printf(notes, "%s%s\n", count, texts[i] + 2);
        }
    if (reader->routes->len > 0)
        g_string_append_printf(notes, "%u routes: traffic takes the shortest way over their links\n",
                               reader->routes->len);
    return g_string_free(notes, FALSE);
}

static gboolean
read_platform(SgReader *reader, GError **error)
{
    const XmlElement *root = xml_tree_root(reader->tree);
    const char *version = xml_attribute(root, "version");
    guint before = topology_n_problems(reader->options);
    if (strcmp(root->name, "platform") != 0)
        return sg_wrong(reader, root, error, "found as root, expected platform") &&
               topology_sound(reader->options, before, xml_tree_path(reader->tree), error);
    if (version == NULL || (strcmp(version, "4") != 0 && strcmp(version, "4.0") != 0 && strcmp(version, "4.1") != 0))
        return xml_fail(reader->tree, root, error,
                        "version is %s; 4 and 4.1 are read, older files are brought up by simgrid_update_xml",
                        version != NULL ? version : "not given");
    for (const XmlElement *child = root->first; child != NULL; child = child->next)
        if (!read_child(reader, child, "", FALSE, 0, error))
            return FALSE;
    return look_at_routes(reader, error) &&
           topology_sound(reader->options, before, xml_tree_path(reader->tree), error) && build(reader, error) &&
           topology_sound(reader->options, before, xml_tree_path(reader->tree), error);
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(XmlTree) tree = xml_tree_read(path, FILE_LIMIT, error);
    if (tree == NULL)
        return NULL;
    g_autoptr(Fabric) fabric = fabric_new();
    SgReader reader = {.tree = tree,
                       .options = options,
                       .fabric = fabric,
                       .points = g_hash_table_new(g_str_hash, g_str_equal),
                       .links = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free),
                       .routes = g_ptr_array_new_with_free_func(route_free),
                       .order = g_ptr_array_new_with_free_func(point_free),
                       .joints = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
    gboolean good = read_platform(&reader, error);
    if (good && !fabric_seal(fabric, error)) {
        g_prefix_error(error, "%s: ", path);
        good = FALSE;
    }
    if (good && notes != NULL)
        *notes = make_notes(&reader);
    g_hash_table_unref(reader.points);
    g_hash_table_unref(reader.links);
    g_hash_table_unref(reader.joints);
    g_ptr_array_unref(reader.routes);
    g_ptr_array_unref(reader.order);
    return good ? g_steal_pointer(&fabric) : NULL;
}

static gboolean
recognise(const char *head, size_t length)
{
    return xml_head_is(head, length, "platform");
}

const TopologyFormat topology_simgrid = {
    "simgrid", "SimGrid's platform XML: zones, hosts, links, routes, clusters (no real file: from its manual)",
    recognise, read};
