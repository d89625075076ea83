/* test-route.c - routes against a slow and obvious reference, and by hand */
#include "support.h"

#include "base/error.h"
#include "base/random.h"
#include "fabric/route.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- building by hand ---- */

static uint32_t
add(Fabric *fabric, const char *name, NodeKind kind, const char *server, int32_t rail)
{
    Node node = node_default();
    node.name = name;
    node.kind = kind;
    node.server = server;
    node.rail = rail;
    uint32_t index = fabric_add_node(fabric, &node, NULL);
    ck_assert_uint_ne(index, INDEX_NONE);
    return index;
}

/* A cable of 1 us; the index of its first link. */
static uint32_t
join(Fabric *fabric, uint32_t a, uint32_t b, LinkKind kind)
{
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = kind;
    link.capacity_Bps = 50e9;
    link.latency_ps = PS_PER_US;
    uint32_t index = fabric_add_cable(fabric, &link, NULL);
    ck_assert_uint_ne(index, INDEX_NONE);
    return index;
}

static void
seal(Fabric *fabric)
{
    GError *error = NULL;
    ck_assert_msg(fabric_seal(fabric, &error), "%s", error ? error->message : "");
}

static RouteRequest
request(uint32_t src, uint32_t dst, uint64_t key)
{
    return (RouteRequest){src, dst, INDEX_NONE, INDEX_NONE, key};
}

static Route
found(Routes *routes, RouteRequest asked)
{
    GError *error = NULL;
    Route route;
    ck_assert_msg(routes_find(routes, &asked, &route, &error), "%s", error ? error->message : "");
    return route;
}

/* "a b c": the nodes a route of one path passes. Kept until exit. */
static const char *
nodes_of(const Fabric *fabric, Route route)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (uint32_t i = 0; i < route.n_hops; i++) {
        const Link *link = fabric_link(fabric, route.hops[i].link);
        ck_assert_double_eq(route.hops[i].share, 1);
        if (i == 0)
            g_string_append(text, fabric_node(fabric, link->src)->name);
        else
            ck_assert_uint_eq(link->src, fabric_link(fabric, route.hops[i - 1].link)->dst);
        g_string_append_printf(text, " %s", fabric_node(fabric, link->dst)->name);
    }
    return g_intern_string(text->str);
}

static double
share_of(Route route, uint32_t link)
{
    for (uint32_t i = 0; i < route.n_hops; i++)
        if (route.hops[i].link == link)
            return route.hops[i].share;
    return 0;
}

/* ---- the reference: every path by trying all of every length ---- */

typedef enum { REF_NVLINK, REF_PCIE, REF_NETWORK } RefClass;

typedef struct {
    const Fabric *fabric;
    const uint8_t *alive;
    GPtrArray *paths; /* of GArray of uint32_t */
    uint32_t chain[64];
    uint32_t to;
    RefClass class;
} Reference;

static RefClass
ref_class(LinkKind kind)
{
    return kind == LINK_NVLINK ? REF_NVLINK : kind == LINK_PCIE ? REF_PCIE : REF_NETWORK;
}

static gboolean
ref_forwards(const Fabric *fabric, uint32_t node, RefClass class)
{
    NodeKind kind = fabric_node(fabric, node)->kind;
    if (class == REF_NVLINK)
        return kind == NODE_NVSWITCH || (kind == NODE_GPU && fabric_forward(fabric) == FORWARD_MESH);
    if (class == REF_PCIE)
        return kind == NODE_PCIE;
    return kind == NODE_LEAF || kind == NODE_SPINE || kind == NODE_CORE || kind == NODE_DCI;
}

static void
try_all(Reference *ref, uint32_t node, uint32_t depth, uint32_t length)
{
    if (depth == length) {
        if (node == ref->to) {
            GArray *path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
            g_array_append_vals(path, ref->chain, length);
            g_ptr_array_add(ref->paths, path);
        }
        return;
    }
    if (depth > 0 && !ref_forwards(ref->fabric, node, ref->class))
        return;
    for (uint32_t i = 0; i < fabric_n_links(ref->fabric); i++) {
        const Link *link = fabric_link(ref->fabric, i);
        if (link->src != node || !ref->alive[i] || ref_class(link->kind) != ref->class)
            continue;
        ref->chain[depth] = i;
        try_all(ref, link->dst, depth + 1, length);
    }
}

/* All shortest live paths of one class; empty where there is none of up to 7 hops. */
static GPtrArray *
ref_paths(const Fabric *fabric, const uint8_t *alive, uint32_t from, uint32_t to, RefClass class)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    Reference ref = {.fabric = fabric, .alive = alive, .paths = paths, .to = to, .class = class};
    for (uint32_t length = 1; length <= 7 && paths->len == 0; length++)
        try_all(&ref, from, 0, length);
    return paths;
}

/* Every path of a followed by every path of b. Takes both. */
static GPtrArray *
ref_join(GPtrArray *a, GPtrArray *b)
{
    GPtrArray *joined = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (guint i = 0; i < a->len; i++)
        for (guint k = 0; k < b->len; k++) {
            GArray *first = g_ptr_array_index(a, i), *second = g_ptr_array_index(b, k);
            GArray *path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
            g_array_append_vals(path, first->data, first->len);
            g_array_append_vals(path, second->data, second->len);
            g_ptr_array_add(joined, path);
        }
    g_ptr_array_unref(a);
    g_ptr_array_unref(b);
    return joined;
}

/* The one empty path where the two are one node. */
static GPtrArray *
ref_inside(const Fabric *fabric, const uint8_t *alive, uint32_t from, uint32_t to)
{
    if (from != to)
        return ref_paths(fabric, alive, from, to, REF_PCIE);
    GPtrArray *paths = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g_ptr_array_add(paths, g_array_new(FALSE, FALSE, sizeof(uint32_t)));
    return paths;
}

static const uint32_t *
ref_nics(const Fabric *fabric, const uint32_t *node, uint32_t *n)
{
    uint32_t n_links;
    const uint32_t *links = fabric_out(fabric, *node, &n_links);
    *n = 1;
    for (uint32_t i = 0; i < n_links; i++)
        if (ref_class(fabric_link(fabric, links[i])->kind) == REF_NETWORK)
            return node;
    return fabric_nics(fabric, *node, n);
}

/* DEFINITIONS 2 word for word, under `none`, NICs not named. Under `mesh` NULL where NICs would have to be reached over
 * GPUs. */
static GPtrArray *
ref_routes(const Fabric *fabric, const uint8_t *alive, uint32_t src, uint32_t dst)
{
    for (RefClass class = REF_NVLINK; class <= REF_PCIE; class ++) {
        GPtrArray *paths = ref_paths(fabric, alive, src, dst, class);
        if (paths->len > 0)
            return paths;
        g_ptr_array_unref(paths);
    }
    uint32_t n_src, n_dst;
    const uint32_t *src_nics = ref_nics(fabric, &src, &n_src), *dst_nics = ref_nics(fabric, &dst, &n_dst);
    for (uint32_t i = 0; i < n_src; i++)
        for (uint32_t k = 0; k < n_dst; k++) {
            GPtrArray *paths = ref_join(ref_inside(fabric, alive, src, src_nics[i]),
                                        ref_paths(fabric, alive, src_nics[i], dst_nics[k], REF_NETWORK));
            paths = ref_join(paths, ref_inside(fabric, alive, dst_nics[k], dst));
            if (paths->len > 0)
                return paths;
            g_ptr_array_unref(paths);
        }
    return fabric_forward(fabric) == FORWARD_NONE ? g_ptr_array_new() : NULL;
}

/* ---- random fabrics ---- */

typedef struct {
    uint32_t src, dst;
    LinkKind kind;
    SimTime latency_ps;
} Cable;

/* What a fabric is made of, so that it can be made twice with other numbers and names. */
typedef struct {
    GArray *nodes;  /* of Node; names are given when it is made */
    GArray *cables; /* of Cable */
    ForwardMode forward;
} Plan;

static uint32_t
plan_node(Plan *plan, NodeKind kind, const char *server, int32_t rail)
{
    Node node = node_default();
    node.kind = kind;
    node.server = server;
    node.rail = rail;
    g_array_append_val(plan->nodes, node);
    return plan->nodes->len - 1;
}

static void
plan_cable(Plan *plan, Random *random, uint32_t a, uint32_t b, LinkKind kind)
{
    Cable cable = {a, b, kind, (SimTime)random_below(random, 1000)};
    if (a != b)
        g_array_append_val(plan->cables, cable);
}

/* GPUs joined by NVSwitches, one by one or not at all, each with a NIC over PCIe, some through a PCIe switch, some
 * shared. */
static void
plan_server(Plan *plan, Random *random, const char *server, uint32_t n_switches)
{
    uint32_t n_gpus = 1 + (uint32_t)random_below(random, 3), style = (uint32_t)random_below(random, 3), gpus[3],
             nvswitch[2] = {0}, nic = INDEX_NONE;
    for (uint32_t i = 0; i < 2 && style == 0; i++)
        nvswitch[i] = plan_node(plan, NODE_NVSWITCH, server, -1);
    for (uint32_t i = 0; i < n_gpus; i++) {
        gpus[i] = plan_node(plan, NODE_GPU, server, -1);
        for (uint32_t k = 0; k < 2 && style == 0; k++)
            plan_cable(plan, random, gpus[i], nvswitch[k], LINK_NVLINK);
        if (i > 0 && style == 1) /* a chain */
            plan_cable(plan, random, gpus[i - 1], gpus[i], LINK_NVLINK);
        if (nic == INDEX_NONE || random_below(random, 3) > 0) {
            nic = plan_node(plan, NODE_NIC, server, (int32_t)i);
            for (uint64_t port = 0; port <= random_below(random, 2); port++)
                plan_cable(plan, random, nic, (uint32_t)random_below(random, n_switches), LINK_ETHERNET);
        }
        if (random_below(random, 2) == 0)
            plan_cable(plan, random, gpus[i], nic, LINK_PCIE);
        else {
            uint32_t pcie = plan_node(plan, NODE_PCIE, server, -1);
            plan_cable(plan, random, gpus[i], pcie, LINK_PCIE);
            plan_cable(plan, random, pcie, nic, LINK_PCIE);
        }
    }
}

static Plan
random_plan(Random *random)
{
    Plan plan = {g_array_new(FALSE, FALSE, sizeof(Node)), g_array_new(FALSE, FALSE, sizeof(Cable)),
                 random_below(random, 3) == 0 ? FORWARD_MESH : FORWARD_NONE};
    uint32_t n_switches = 2 + (uint32_t)random_below(random, 5);
    for (uint32_t i = 0; i < n_switches; i++)
        plan_node(&plan, (NodeKind[]){NODE_LEAF, NODE_SPINE, NODE_CORE, NODE_DCI}[random_below(random, 4)], "", -1);
    for (uint32_t i = 0; i + 1 < 2 * n_switches; i++)
        plan_cable(&plan, random, (uint32_t)random_below(random, n_switches),
                   (uint32_t)random_below(random, n_switches), LINK_ETHERNET);
    static const char *const servers[] = {"s0", "s1", "s2"};
    for (uint32_t i = 0; i < 3; i++)
        plan_server(&plan, random, servers[i], n_switches);
    uint32_t lone = plan_node(&plan, NODE_GPU, "", -1); /* joined to switches itself */
    for (int i = 0; i < 2; i++)
        plan_cable(&plan, random, lone, (uint32_t)random_below(random, n_switches), LINK_INFINIBAND);
    return plan;
}

/* order[i]: the node of the plan that gets number i. */
static Fabric *
make(const Plan *plan, const uint32_t *order, const char *prefix)
{
    Fabric *fabric = fabric_new();
    fabric_set_forward(fabric, plan->forward);
    g_autofree uint32_t *number = g_new(uint32_t, plan->nodes->len);
    for (uint32_t i = 0; i < plan->nodes->len; i++) {
        Node node = g_array_index(plan->nodes, Node, order[i]);
        g_autofree char *name = g_strdup_printf("%s%u", prefix, order[i]);
        node.name = name;
        number[order[i]] = fabric_add_node(fabric, &node, NULL);
    }
    for (uint32_t i = 0; i < plan->cables->len; i++) {
        Cable cable = g_array_index(plan->cables, Cable, i);
        Link link = link_default();
        link.src = number[cable.src];
        link.dst = number[cable.dst];
        link.kind = cable.kind;
        link.latency_ps = cable.latency_ps;
        link.capacity_Bps = 1e9;
        fabric_add_cable(fabric, &link, NULL);
    }
    seal(fabric);
    return fabric;
}

static void
plan_clear(Plan *plan)
{
    g_array_unref(plan->nodes);
    g_array_unref(plan->cables);
}

/* 0, 1, 2, ...; or shuffled. */
static uint32_t *
ordering(uint32_t n, Random *shuffle)
{
    uint32_t *order = g_new(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n; shuffle != NULL && i-- > 1;) {
        uint32_t k = (uint32_t)random_below(shuffle, i + 1), kept = order[i];
        order[i] = order[k];
        order[k] = kept;
    }
    return order;
}

static SimTime
ref_latency(const Fabric *fabric, const GArray *path)
{
    SimTime sum = 0;
    for (guint i = 0; i < path->len; i++)
        sum += fabric_link(fabric, g_array_index(path, uint32_t, i))->latency_ps;
    return sum;
}

static gboolean
is_path(Route route, const GArray *path)
{
    for (guint i = 0; i < path->len && route.n_hops == path->len; i++)
        if (route.hops[i].link != g_array_index(path, uint32_t, i))
            return FALSE;
    return route.n_hops == path->len;
}

/* Shares are path-count fractions, the order is by distance then link, the latency that of the slowest path. */
static void
compare_spray(const Fabric *fabric, Routes *routes, RouteRequest asked, const GPtrArray *paths)
{
    Route route;
    ck_assert(routes_find_sprayed(routes, &asked, &route, NULL));
    g_autofree double *want = g_new0(double, fabric_n_links(fabric));
    g_autofree uint32_t *distance = g_new0(uint32_t, fabric_n_links(fabric));
    SimTime longest = 0;
    uint32_t n_links = 0;
    for (guint i = 0; i < paths->len; i++) {
        const GArray *path = g_ptr_array_index(paths, i);
        longest = MAX(longest, ref_latency(fabric, path));
        for (guint k = 0; k < path->len; k++) {
            n_links += want[g_array_index(path, uint32_t, k)] == 0;
            want[g_array_index(path, uint32_t, k)] += 1;
            distance[g_array_index(path, uint32_t, k)] = k;
        }
    }
    ck_assert_uint_eq(route.n_hops, n_links);
    ck_assert_int_eq(route.latency_ps, longest);
    for (uint32_t i = 0; i < route.n_hops; i++) {
        uint32_t link = route.hops[i].link, before = i > 0 ? route.hops[i - 1].link : 0;
        ck_assert_double_eq_tol(route.hops[i].share, want[link] / paths->len, 1e-15);
        ck_assert(i == 0 || distance[before] < distance[link] || (distance[before] == distance[link] && before < link));
    }
}

/* The siblings of each hop: the links that some reference path takes after the same beginning. */
static void
compare_siblings(const Fabric *fabric, Routes *routes, RouteRequest asked, const GPtrArray *paths, const GArray *taken)
{
    for (guint hop = 0; hop < taken->len; hop++) {
        uint32_t link = g_array_index(taken, uint32_t, hop), n, n_want = 0;
        const uint32_t *siblings = routes_siblings(routes, &asked, link, &n);
        for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
            gboolean wanted = FALSE;
            for (guint p = 0; p < paths->len && !wanted; p++) {
                const GArray *path = g_ptr_array_index(paths, p);
                wanted = g_array_index(path, uint32_t, hop) == i &&
                         memcmp(path->data, taken->data, hop * sizeof(uint32_t)) == 0;
            }
            if (wanted)
                ck_assert_msg(n_want < n && siblings[n_want] == i, "hop %u of %u: link %u", hop, taken->len, i);
            n_want += wanted;
        }
        ck_assert_uint_eq(n, n_want);
    }
}

static void
compare_pair(const Fabric *fabric, Routes *routes, const uint8_t *alive, uint32_t src, uint32_t dst, int seed)
{
    GError *error = NULL;
    Route route;
    RouteRequest asked = request(src, dst, 0);
    g_autoptr(GPtrArray) paths = ref_routes(fabric, alive, src, dst);
    if (paths == NULL)
        return;
    if (paths->len == 0) {
        ck_assert_msg(!routes_find(routes, &asked, &route, &error), "seed %d: a route from %u to %u", seed, src, dst);
        support_expect_error(&error, TRAINSHED_ERROR_INPUT, fabric_node(fabric, src)->name);
        return;
    }
    uint64_t n_paths;
    ck_assert_msg(routes_count(routes, &asked, &n_paths, &error), "seed %d: %s", seed, error ? error->message : "");
    ck_assert_msg(n_paths == paths->len, "seed %d: %u to %u: %u paths, reference %u", seed, src, dst, (unsigned)n_paths,
                  paths->len);
    for (asked.key = 0; asked.key < 4; asked.key++) {
        route = found(routes, asked);
        const GArray *taken = NULL;
        for (guint i = 0; i < paths->len && taken == NULL; i++)
            if (is_path(route, g_ptr_array_index(paths, i)))
                taken = g_ptr_array_index(paths, i);
        ck_assert_msg(taken != NULL, "seed %d: %u to %u: no shortest path", seed, src, dst);
        ck_assert_int_eq(route.latency_ps, ref_latency(fabric, taken));
        compare_siblings(fabric, routes, asked, paths, taken);
    }
    compare_spray(fabric, routes, asked, paths);
}

START_TEST(random_fabrics_equal_the_reference)
{
    Random random = random_named((uint64_t)_i, "routes");
    Plan plan = random_plan(&random);
    g_autofree uint32_t *order = ordering(plan.nodes->len, NULL);
    g_autoptr(Fabric) fabric = make(&plan, order, "n");
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
    g_autofree uint8_t *alive = g_malloc(fabric_n_links(fabric));
    memset(alive, 1, fabric_n_links(fabric));
    uint32_t n;
    const uint32_t *gpus = fabric_gpus(fabric, &n);
    /* All alive; some dead; others dead: next hops must follow. */
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = 0; k < n; k++)
                if (i != k)
                    compare_pair(fabric, routes, alive, gpus[i], gpus[k], _i);
        for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
            alive[i] = random_below(&random, 6) > 0;
            routes_set_alive(routes, i, alive[i]);
        }
    }
    plan_clear(&plan);
}
END_TEST

/* Links keep their order; nodes get other numbers and names. */
START_TEST(names_and_numbers_of_nodes_change_nothing)
{
    Random random = random_named((uint64_t)_i, "renaming");
    Plan plan = random_plan(&random);
    uint32_t n_nodes = plan.nodes->len;
    g_autofree uint32_t *straight = ordering(n_nodes, NULL), *mixed = ordering(n_nodes, &random);
    g_autoptr(Fabric) one = make(&plan, straight, "n"), two = make(&plan, mixed, "other-");
    g_autoptr(Routes) first = routes_new(one, ROUTING_ECMP), second = routes_new(two, ROUTING_ECMP);
    g_autofree uint32_t *number = g_new(uint32_t, n_nodes);
    for (uint32_t i = 0; i < n_nodes; i++)
        number[mixed[i]] = i;
    uint32_t n, n_same = 0;
    const uint32_t *gpus = fabric_gpus(one, &n);
    for (uint32_t i = 0; i < n * n; i++) {
        Route a, b;
        RouteRequest here = request(gpus[i / n], gpus[i % n], hash_mix(i)), there = here;
        there.src = number[here.src];
        there.dst = number[here.dst];
        gboolean found_a = routes_find(first, &here, &a, NULL), found_b = routes_find(second, &there, &b, NULL);
        ck_assert_int_eq(found_a, found_b);
        if (!found_a)
            continue;
        ck_assert_uint_eq(a.n_hops, b.n_hops);
        for (uint32_t k = 0; k < a.n_hops; k++)
            ck_assert_uint_eq(a.hops[k].link, b.hops[k].link);
        n_same++;
    }
    ck_assert_uint_gt(n_same, n);
    plan_clear(&plan);
}
END_TEST

/* ---- a fat tree by hand: k pods of k/2 leaves and k/2 spines, (k/2)^2 cores, k^3/4 hosts ---- */

typedef struct {
    Fabric *fabric;
    uint32_t n_hosts;
    uint32_t first_fabric_link; /* hosts' cables come before it */
} FatTree;

static uint32_t
add_numbered(Fabric *fabric, const char *what, uint32_t i, NodeKind kind)
{
    g_autofree char *name = g_strdup_printf("%s%u", what, i);
    return add(fabric, name, kind, "", -1);
}

static FatTree
fat_tree(uint32_t k)
{
    uint32_t half = k / 2, n_leaves = k * half;
    Fabric *fabric = fabric_new();
    uint32_t hosts = 0, leaves, spines, cores;
    for (uint32_t i = 0; i < n_leaves * half; i++)
        add_numbered(fabric, "host", i, NODE_HOST);
    leaves = fabric_n_nodes(fabric);
    for (uint32_t i = 0; i < n_leaves; i++)
        add_numbered(fabric, "leaf", i, NODE_LEAF);
    spines = fabric_n_nodes(fabric);
    for (uint32_t i = 0; i < n_leaves; i++)
        add_numbered(fabric, "spine", i, NODE_SPINE);
    cores = fabric_n_nodes(fabric);
    for (uint32_t i = 0; i < half * half; i++)
        add_numbered(fabric, "core", i, NODE_CORE);
    for (uint32_t i = 0; i < n_leaves * half; i++)
        join(fabric, hosts + i, leaves + i / half, LINK_ETHERNET);
    FatTree tree = {fabric, n_leaves * half, fabric_n_links(fabric)};
    for (uint32_t leaf = 0; leaf < n_leaves; leaf++)
        for (uint32_t i = 0; i < half; i++)
            join(fabric, leaves + leaf, spines + leaf / half * half + i, LINK_ETHERNET);
    for (uint32_t spine = 0; spine < n_leaves; spine++)
        for (uint32_t i = 0; i < half; i++)
            join(fabric, spines + spine, cores + spine % half * half + i, LINK_ETHERNET);
    seal(fabric);
    return tree;
}

/* Routes host i to host i + shift for all i; the most transfers on one link, and the links used. */
static uint32_t
worst_of_shift(const FatTree *tree, Routes *routes, uint32_t shift, uint32_t *n_used)
{
    g_autofree uint32_t *load = g_new0(uint32_t, fabric_n_links(tree->fabric));
    uint32_t worst = 0;
    for (uint32_t i = 0; i < tree->n_hosts; i++) {
        Route route = found(routes, request(i, (i + shift) % tree->n_hosts, hash_mix(i)));
        for (uint32_t k = 0; k < route.n_hops; k++) {
            uint32_t here = ++load[route.hops[k].link];
            worst = MAX(worst, here);
        }
    }
    *n_used = 0;
    for (uint32_t i = tree->first_fabric_link; i < fabric_n_links(tree->fabric); i++)
        *n_used += load[i] > 0;
    return worst;
}

START_TEST(dmodk_shifts_1024_hosts_without_collision)
{
    FatTree tree = fat_tree(16);
    ck_assert_uint_eq(tree.n_hosts, 1024);
    g_autoptr(Routes) dmodk = routes_new(tree.fabric, ROUTING_DMODK), ecmp = routes_new(tree.fabric, ROUTING_ECMP);
    static const uint32_t shifts[] = {1, 3, 8, 37, 64, 200, 512, 1023};
    uint32_t n_used;
    for (size_t i = 0; i < G_N_ELEMENTS(shifts); i++)
        ck_assert_msg(worst_of_shift(&tree, dmodk, shifts[i], &n_used) == 1, "shift %u", shifts[i]);
    /* Half way round every transfer crosses the cores: 1024 on each of the 4 levels of links, one a link. */
    ck_assert_uint_eq(worst_of_shift(&tree, dmodk, 512, &n_used), 1);
    ck_assert_uint_eq(n_used, 4 * 1024);
    ck_assert_uint_gt(worst_of_shift(&tree, ecmp, 512, &n_used), 2); /* hashing collides: the test can fail */
    fabric_free(tree.fabric);
}
END_TEST

START_TEST(dmodk_spreads_one_leafs_destinations_evenly)
{
    FatTree tree = fat_tree(8);
    g_autoptr(Routes) routes = routes_new(tree.fabric, ROUTING_DMODK);
    g_autofree uint32_t *load = g_new0(uint32_t, fabric_n_links(tree.fabric));
    for (uint32_t dst = 4; dst < tree.n_hosts; dst++) {
        Route route = found(routes, request(0, dst, 0));
        for (uint32_t k = 0; k < route.n_hops; k++)
            load[route.hops[k].link]++;
    }
    /* Host 0's leaf has 4 up-links for 124 destinations elsewhere; each spine of its pod 4 core links for 112 / 4. */
    for (uint32_t up = 0; up < 4; up++)
        ck_assert_uint_eq(load[tree.first_fabric_link + 2 * up], 31);
    uint32_t first_core_link = tree.first_fabric_link + 2 * 32 * 4;
    for (uint32_t up = 0; up < 16; up++)
        ck_assert_uint_eq(load[first_core_link + 2 * up], 7);
    fabric_free(tree.fabric);
}
END_TEST

START_TEST(ecmp_spreads_keys_evenly_at_both_levels)
{
    FatTree tree = fat_tree(8);
    g_autoptr(Routes) routes = routes_new(tree.fabric, ROUTING_ECMP);
    uint32_t first_core_link = tree.first_fabric_link + 2 * 32 * 4, load[16] = {0};
    enum { KEYS = 16000 };
    for (uint64_t key = 0; key < KEYS; key++) {
        Route route = found(routes, request(0, 127, hash_mix(key)));
        ck_assert_uint_eq(route.n_hops, 6);
        ck_assert_int_eq(route.latency_ps, 6 * PS_PER_US);
        ck_assert_uint_lt((route.hops[2].link - first_core_link) / 2, 16);
        load[(route.hops[2].link - first_core_link) / 2]++;
    }
    /* 1000 expected on each of the 16 paths, deviation 31: 5 of them. */
    for (uint32_t i = 0; i < 16; i++)
        ck_assert_msg(load[i] > 845 && load[i] < 1155, "path %u: %u", i, load[i]);
    fabric_free(tree.fabric);
}
END_TEST

START_TEST(spray_gives_each_path_its_part)
{
    FatTree tree = fat_tree(4);
    g_autoptr(Routes) routes = routes_new(tree.fabric, ROUTING_SPRAY);
    RouteRequest far = request(0, 15, 0);
    uint64_t n_paths;
    ck_assert(routes_count(routes, &far, &n_paths, NULL));
    ck_assert_uint_eq(n_paths, 4);
    Route route = found(routes, far);
    ck_assert_uint_eq(route.n_hops, 1 + 2 + 4 + 4 + 2 + 1);
    static const double shares[] = {1, .5, .5, .25, .25, .25, .25, .25, .25, .25, .25, .5, .5, 1};
    for (uint32_t i = 0; i < route.n_hops; i++)
        ck_assert_double_eq(route.hops[i].share, shares[i]);
    /* One core link down: 3 paths, and the spine that lost one carries 1/3. */
    uint32_t first_core_link = tree.first_fabric_link + 2 * 8 * 2;
    routes_set_alive(routes, first_core_link, FALSE);
    route = found(routes, far);
    ck_assert_double_eq(share_of(route, first_core_link), 0);
    ck_assert_double_eq(share_of(route, first_core_link + 2), 1.0 / 3);
    ck_assert_double_eq(share_of(route, tree.first_fabric_link), 1.0 / 3);
    ck_assert_double_eq(share_of(route, tree.first_fabric_link + 2), 2.0 / 3);
    routes_set_alive(routes, first_core_link, TRUE);
    ck_assert_double_eq(share_of(found(routes, far), first_core_link), .25);
    fabric_free(tree.fabric);
}
END_TEST

START_TEST(adaptive_takes_the_least_loaded_and_hashes_ties)
{
    FatTree tree = fat_tree(8);
    g_autoptr(Routes) adaptive = routes_new(tree.fabric, ROUTING_ADAPTIVE),
                      ecmp = routes_new(tree.fabric, ROUTING_ECMP);
    g_autofree double *load = g_new0(double, fabric_n_links(tree.fabric));
    for (uint64_t key = 0; key < 20; key++) /* nothing known: as ECMP */
        ck_assert_uint_eq(found(adaptive, request(0, 127, key)).hops[1].link,
                          found(ecmp, request(0, 127, key)).hops[1].link);
    routes_set_loads(adaptive, load);
    for (uint64_t key = 0; key < 20; key++) /* all alike: as ECMP */
        ck_assert_uint_eq(found(adaptive, request(0, 127, key)).hops[1].link,
                          found(ecmp, request(0, 127, key)).hops[1].link);
    uint32_t up = tree.first_fabric_link, seen[4] = {0};
    load[up] = 3;
    load[up + 2] = 1;
    load[up + 4] = 2;
    load[up + 6] = 1;
    for (uint64_t key = 0; key < 400; key++)
        seen[(found(adaptive, request(0, 127, key)).hops[1].link - up) / 2]++;
    ck_assert_uint_eq(seen[0] + seen[2], 0);
    ck_assert_msg(seen[1] > 150 && seen[3] > 150, "%u and %u of 400", seen[1], seen[3]); /* 200 +- 10 */
    fabric_free(tree.fabric);
}
END_TEST

/* ---- servers ---- */

/* Two servers of two GPUs on an NVSwitch, a NIC on each GPU; rail r has leaf r. With a spine over both leaves, or none.
 */
typedef struct {
    Fabric *fabric;
    uint32_t gpu[2][2], nic[2][2], leaf[2];
} Rails;

static Rails
rails(ForwardMode forward, gboolean spine)
{
    Rails made = {.fabric = fabric_new()};
    fabric_set_forward(made.fabric, forward);
    for (uint32_t r = 0; r < 2; r++)
        made.leaf[r] = add_numbered(made.fabric, "leaf", r, NODE_LEAF);
    for (uint32_t s = 0; s < 2; s++) {
        const char *server = s == 0 ? "a" : "b";
        g_autofree char *name = g_strconcat(server, ".nvs", NULL);
        uint32_t nvswitch = add(made.fabric, name, NODE_NVSWITCH, server, -1);
        for (uint32_t r = 0; r < 2; r++) {
            g_autofree char *gpu = g_strdup_printf("%s.gpu%u", server, r),
                            *nic = g_strdup_printf("%s.nic%u", server, r);
            made.gpu[s][r] = add(made.fabric, gpu, NODE_GPU, server, (int32_t)r);
            made.nic[s][r] = add(made.fabric, nic, NODE_NIC, server, (int32_t)r);
            join(made.fabric, made.gpu[s][r], nvswitch, LINK_NVLINK);
            join(made.fabric, made.gpu[s][r], made.nic[s][r], LINK_PCIE);
            join(made.fabric, made.nic[s][r], made.leaf[r], LINK_ETHERNET);
        }
    }
    if (spine) {
        uint32_t top = add(made.fabric, "spine", NODE_SPINE, "", -1);
        join(made.fabric, made.leaf[0], top, LINK_ETHERNET);
        join(made.fabric, made.leaf[1], top, LINK_ETHERNET);
    }
    seal(made.fabric);
    return made;
}

START_TEST(servers_take_nvlink_inside_and_the_nearest_nic_outside)
{
    Rails r = rails(FORWARD_NONE, TRUE);
    g_autoptr(Routes) routes = routes_new(r.fabric, ROUTING_ECMP);
    ck_assert_str_eq(nodes_of(r.fabric, found(routes, request(r.gpu[0][0], r.gpu[0][1], 0))), "a.gpu0 a.nvs a.gpu1");
    ck_assert_str_eq(nodes_of(r.fabric, found(routes, request(r.gpu[0][1], r.gpu[1][1], 0))),
                     "a.gpu1 a.nic1 leaf1 b.nic1 b.gpu1");
    Route route = found(routes, request(r.gpu[0][0], r.gpu[1][1], 0));
    ck_assert_str_eq(nodes_of(r.fabric, route), "a.gpu0 a.nic0 leaf0 spine leaf1 b.nic1 b.gpu1");
    ck_assert_int_eq(route.latency_ps, 6 * PS_PER_US);
    route = found(routes, request(r.gpu[0][0], r.gpu[0][0], 0));
    ck_assert_uint_eq(route.n_hops, 0);
    ck_assert_int_eq(route.latency_ps, 0);
    fabric_free(r.fabric);
}
END_TEST

START_TEST(nics_asked_for_are_reached_over_nvlink)
{
    Rails r = rails(FORWARD_NONE, FALSE);
    g_autoptr(Routes) routes = routes_new(r.fabric, ROUTING_ECMP);
    RouteRequest asked = {r.gpu[0][0], r.gpu[1][0], r.nic[0][1], r.nic[1][1], 7};
    ck_assert_str_eq(nodes_of(r.fabric, found(routes, asked)),
                     "a.gpu0 a.nvs a.gpu1 a.nic1 leaf1 b.nic1 b.gpu1 b.nvs b.gpu0");
    /* Only one of the two named: the other end's nearest has no way to that rail, and `none` forbids its next. */
    GError *error = NULL;
    Route route;
    asked.dst_nic = INDEX_NONE;
    ck_assert(!routes_find(routes, &asked, &route, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "no live route from \"a.gpu0\" to \"b.gpu0\" leaving by \"a.nic1\"");
    /* In one NVLink domain NVLink wins over the NICs named. */
    RouteRequest inside = {r.gpu[0][0], r.gpu[0][1], r.nic[0][0], r.nic[0][1], 7};
    ck_assert_str_eq(nodes_of(r.fabric, found(routes, inside)), "a.gpu0 a.nvs a.gpu1");
    fabric_free(r.fabric);
}
END_TEST

/* GPU 0 to the NIC of GPU 1: over the PCIe switches between them, unless NVLink and one PCIe switch are fewer hops. */
START_TEST(a_far_nic_is_reached_by_the_fewer_hops)
{
    for (uint32_t n_pcie = 2; n_pcie <= 4; n_pcie++) {
        g_autoptr(Fabric) fabric = fabric_new();
        uint32_t g0 = add(fabric, "g0", NODE_GPU, "s", 0), g1 = add(fabric, "g1", NODE_GPU, "s", 1),
                 nic = add(fabric, "nic", NODE_NIC, "s", 1), leaf = add(fabric, "leaf", NODE_LEAF, "", -1),
                 host = add(fabric, "host", NODE_HOST, "", -1), pcie[4];
        for (uint32_t i = 0; i < n_pcie; i++) {
            pcie[i] = add_numbered(fabric, "p", i, NODE_PCIE);
            if (i > 0)
                join(fabric, pcie[i - 1], pcie[i], LINK_PCIE);
        }
        /* The NIC and GPU 1 on the last PCIe switch: 3, 4, 5 hops of PCIe against 1 of NVLink and 2 of PCIe. */
        join(fabric, g0, g1, LINK_NVLINK);
        join(fabric, g0, pcie[0], LINK_PCIE);
        join(fabric, g1, pcie[n_pcie - 1], LINK_PCIE);
        join(fabric, nic, pcie[n_pcie - 1], LINK_PCIE);
        join(fabric, nic, leaf, LINK_ETHERNET);
        join(fabric, leaf, host, LINK_ETHERNET);
        seal(fabric);
        g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
        RouteRequest asked = {g0, host, nic, INDEX_NONE, 0};
        ck_assert_str_eq(nodes_of(fabric, found(routes, asked)), n_pcie == 2   ? "g0 p0 p1 nic leaf host"
                                                                 : n_pcie == 3 ? "g0 g1 p2 nic leaf host"
                                                                               : "g0 g1 p3 nic leaf host");
        asked.src_nic = INDEX_NONE; /* not asked for: no other GPU is troubled under `none` */
        ck_assert_uint_eq(found(routes, asked).n_hops, n_pcie + 3);
    }
}
END_TEST

START_TEST(other_rails_need_a_spine_or_pxn)
{
    Rails none = rails(FORWARD_NONE, FALSE), pxn = rails(FORWARD_PXN, FALSE), both = rails(FORWARD_PXN, TRUE);
    g_autoptr(Routes) refused = routes_new(none.fabric, ROUTING_ECMP), handed = routes_new(pxn.fabric, ROUTING_ECMP),
                      chosen = routes_new(both.fabric, ROUTING_ECMP);
    GError *error = NULL;
    Route route;
    RouteRequest asked = request(none.gpu[0][0], none.gpu[1][1], 0);
    ck_assert(!routes_find(refused, &asked, &route, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "no live route from \"a.gpu0\" to \"b.gpu1\"");
    /* NCCL's PXN: over NVLink to the GPU on the destination's rail, even where the spine would do. */
    const char *over = "a.gpu0 a.nvs a.gpu1 a.nic1 leaf1 b.nic1 b.gpu1";
    ck_assert_str_eq(nodes_of(pxn.fabric, found(handed, asked)), over);
    ck_assert_str_eq(nodes_of(both.fabric, found(chosen, asked)), over);
    /* Without that NVLink the spine serves. */
    for (uint32_t i = 0; i < fabric_n_links(both.fabric); i++)
        if (fabric_link(both.fabric, i)->kind == LINK_NVLINK)
            routes_set_alive(chosen, i, FALSE);
    ck_assert_str_eq(nodes_of(both.fabric, found(chosen, asked)), "a.gpu0 a.nic0 leaf0 spine leaf1 b.nic1 b.gpu1");
    fabric_free(none.fabric);
    fabric_free(pxn.fabric);
    fabric_free(both.fabric);
}
END_TEST

/* A chain of four GPUs, as a hybrid mesh has them: only `mesh` lets the middle ones pass things on. */
START_TEST(gpus_forward_over_nvlink_in_a_mesh_only)
{
    for (ForwardMode forward = FORWARD_NONE; forward <= FORWARD_MESH; forward++) {
        g_autoptr(Fabric) fabric = fabric_new();
        fabric_set_forward(fabric, forward);
        for (uint32_t i = 0; i < 4; i++)
            add_numbered(fabric, "g", i, NODE_GPU);
        for (uint32_t i = 0; i < 3; i++)
            join(fabric, i, i + 1, LINK_NVLINK);
        seal(fabric);
        g_autoptr(Routes) routes = routes_new(fabric, ROUTING_ECMP);
        RouteRequest asked = request(0, 3, 0);
        Route route;
        ck_assert_int_eq(routes_find(routes, &asked, &route, NULL), forward == FORWARD_MESH);
        if (forward == FORWARD_MESH)
            ck_assert_str_eq(nodes_of(fabric, route), "g0 g1 g2 g3");
        ck_assert_str_eq(nodes_of(fabric, found(routes, request(2, 1, 0))), "g2 g1");
    }
}
END_TEST

/* A NIC with two ports to each of two leaves: 4 first hops, 4 last hops, and the leaves are not joined. */
START_TEST(a_nic_with_several_ports_uses_them_all)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t leaf0 = add(fabric, "leaf0", NODE_LEAF, "", -1), leaf1 = add(fabric, "leaf1", NODE_LEAF, "", -1), gpu[2],
             nic[2], port[2][4];
    for (uint32_t i = 0; i < 2; i++) {
        gpu[i] = add_numbered(fabric, "g", i, NODE_GPU);
        nic[i] = add_numbered(fabric, "nic", i, NODE_NIC);
        join(fabric, gpu[i], nic[i], LINK_PCIE);
        for (uint32_t k = 0; k < 4; k++)
            port[i][k] = join(fabric, nic[i], k < 2 ? leaf0 : leaf1, LINK_ETHERNET);
    }
    seal(fabric);
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_SPRAY);
    RouteRequest asked = request(gpu[0], gpu[1], 0);
    uint64_t n_paths;
    ck_assert(routes_count(routes, &asked, &n_paths, NULL));
    ck_assert_uint_eq(n_paths, 8); /* 2 x 2 over each leaf */
    Route route = found(routes, asked);
    for (uint32_t k = 0; k < 4; k++) {
        ck_assert_double_eq(share_of(route, port[0][k]), .25);
        ck_assert_double_eq(share_of(route, port[1][k] + 1), .25);
    }
    /* A port down at the far end: 2 x 1 + 2 x 2 paths. */
    routes_set_alive(routes, port[1][0] + 1, FALSE);
    ck_assert(routes_count(routes, &asked, &n_paths, NULL));
    ck_assert_uint_eq(n_paths, 6);
    route = found(routes, asked);
    ck_assert_double_eq(share_of(route, port[0][0]), 1.0 / 6);
    ck_assert_double_eq(share_of(route, port[0][2]), 1.0 / 3);
    /* Both ports to leaf 0 down: nothing may go there. */
    routes_set_alive(routes, port[1][1] + 1, FALSE);
    route = found(routes, asked);
    ck_assert_double_eq(share_of(route, port[0][0]), 0);
    ck_assert_double_eq(share_of(route, port[0][2]), .5);
    uint32_t n;
    const uint32_t *siblings = routes_siblings(routes, &asked, port[0][3], &n);
    ck_assert_uint_eq(n, 2);
    ck_assert_uint_eq(siblings[0], port[0][2]);
    ck_assert_uint_eq(siblings[1], port[0][3]);
}
END_TEST

/* Two GPUs without NVLink on one NIC: out to the switch and back. */
START_TEST(two_gpus_of_one_nic_meet_at_its_switch)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint32_t a = add(fabric, "a", NODE_GPU, "s", -1), b = add(fabric, "b", NODE_GPU, "s", -1),
             nic = add(fabric, "nic", NODE_NIC, "s", 0), leaf = add(fabric, "leaf", NODE_LEAF, "", -1);
    join(fabric, a, nic, LINK_PCIE);
    join(fabric, b, nic, LINK_PCIE);
    join(fabric, nic, leaf, LINK_ETHERNET);
    seal(fabric);
    g_autoptr(Routes) ecmp = routes_new(fabric, ROUTING_ECMP), spray = routes_new(fabric, ROUTING_SPRAY);
    ck_assert_str_eq(nodes_of(fabric, found(ecmp, request(a, b, 0))), "a nic leaf nic b");
    ck_assert_str_eq(nodes_of(fabric, found(spray, request(a, b, 0))), "a nic leaf nic b");
}
END_TEST

START_TEST(pinned_paths_are_followed_while_they_live)
{
    FatTree tree = fat_tree(4);
    g_autoptr(Routes) routes = routes_new(tree.fabric, ROUTING_PINNED), ecmp = routes_new(tree.fabric, ROUTING_ECMP);
    GError *error = NULL;
    g_autofree uint32_t *path = NULL;
    Route route = {0};
    uint32_t n = 0;
    for (uint64_t key = 0; path == NULL; key++) { /* one that key 0 does not take */
        route = found(ecmp, request(0, 15, key));
        if (route.hops[1].link == found(ecmp, request(0, 15, 0)).hops[1].link)
            continue;
        route = found(ecmp, request(0, 15, key));
        n = route.n_hops;
        path = g_new(uint32_t, n);
        for (uint32_t i = 0; i < n; i++)
            path[i] = route.hops[i].link;
    }
    ck_assert_msg(routes_pin(routes, 0, 15, path, n, &error), "%s", error ? error->message : "");
    route = found(routes, request(0, 15, 0));
    for (uint32_t i = 0; i < n; i++)
        ck_assert_uint_eq(route.hops[i].link, path[i]);
    ck_assert_int_eq(route.latency_ps, 6 * PS_PER_US);
    ck_assert_uint_eq(found(routes, request(1, 14, 5)).hops[1].link, found(ecmp, request(1, 14, 5)).hops[1].link);
    routes_set_alive(routes, path[2], FALSE);
    ck_assert_uint_eq(found(routes, request(0, 15, 0)).hops[1].link, found(ecmp, request(0, 15, 0)).hops[1].link);
    routes_set_alive(routes, path[2], TRUE);
    ck_assert_uint_eq(found(routes, request(0, 15, 0)).hops[1].link, path[1]);

    ck_assert(!routes_pin(routes, 0, 15, path, n, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "pinned path from \"host0\" to \"host15\": a path is pinned already");
    ck_assert(!routes_pin(routes, 0, 14, path, n, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT,
                         "pinned path from \"host0\" to \"host14\": it ends at \"host15\"");
    ck_assert(!routes_pin(routes, 1, 15, path, n, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "link 0 leaves \"host0\", expected \"host1\"");
    ck_assert(!routes_pin(routes, 0, 1, (uint32_t[]){0, 999}, 2, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "there is no link 999");
    ck_assert(!routes_pin(routes, 0, 0, (uint32_t[]){0, 1}, 2, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, "\"host0\" is passed twice");
    fabric_free(tree.fabric);
}
END_TEST

/* A row of switches, each joined to the next by two cables. */
static Fabric *
ladder(uint32_t n_switches, SimTime latency_ps)
{
    Fabric *fabric = fabric_new();
    add(fabric, "a", NODE_HOST, "", -1);
    add(fabric, "b", NODE_HOST, "", -1);
    for (uint32_t i = 0; i < n_switches; i++)
        add_numbered(fabric, "leaf", i, NODE_LEAF);
    join(fabric, 0, 2, LINK_ETHERNET);
    join(fabric, n_switches + 1, 1, LINK_ETHERNET);
    for (uint32_t i = 0; i + 1 < n_switches; i++)
        for (int k = 0; k < 2; k++) {
            Link link = link_default();
            link.src = 2 + i;
            link.dst = 3 + i;
            link.capacity_Bps = 1;
            link.latency_ps = latency_ps;
            fabric_add_cable(fabric, &link, NULL);
        }
    seal(fabric);
    return fabric;
}

START_TEST(path_counts_saturate_and_shares_stay_exact)
{
    g_autoptr(Fabric) fabric = ladder(3000, 1);
    g_autoptr(Routes) routes = routes_new(fabric, ROUTING_SPRAY);
    RouteRequest asked = request(0, 1, 0);
    uint64_t n_paths;
    ck_assert(routes_count(routes, &asked, &n_paths, NULL));
    ck_assert(n_paths == UINT64_MAX); /* 2^2999 */
    Route route = found(routes, asked);
    ck_assert_uint_eq(route.n_hops, 2 + 2 * 2999);
    ck_assert_double_eq(route.hops[0].share, 1);
    ck_assert_double_eq(route.hops[route.n_hops - 1].share, 1);
    for (uint32_t i = 1; i + 1 < route.n_hops; i++)
        ck_assert_double_eq(route.hops[i].share, .5);
    ck_assert_int_eq(route.latency_ps, 2 * PS_PER_US + 2999);
}
END_TEST

START_TEST(a_latency_beyond_time_is_refused)
{
    g_autoptr(Fabric) fabric = ladder(109, LINK_MAX_LATENCY_PS);
    g_autoptr(Routes) one = routes_new(fabric, ROUTING_ECMP), all = routes_new(fabric, ROUTING_SPRAY);
    RouteRequest asked = request(0, 1, 0);
    GError *error = NULL;
    Route route;
    const char *message = "the latencies on the route from \"a\" to \"b\" sum to more than 106 days";
    g_autoptr(Fabric) shorter = ladder(107, LINK_MAX_LATENCY_PS);
    g_autoptr(Routes) fits = routes_new(shorter, ROUTING_ECMP); /* 106 of 106.75 days */
    ck_assert_int_eq(found(fits, asked).latency_ps, 106 * LINK_MAX_LATENCY_PS + 2 * PS_PER_US);
    ck_assert(!routes_find(one, &asked, &route, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, message);
    ck_assert(!routes_find(all, &asked, &route, &error));
    support_expect_error(&error, TRAINSHED_ERROR_INPUT, message);
}
END_TEST

START_TEST(state_grows_with_attachments_and_not_with_hosts)
{
    FatTree tree = fat_tree(16);
    g_autoptr(Routes) routes = routes_new(tree.fabric, ROUTING_ECMP);
    size_t empty = routes_memory(routes);
    found(routes, request(0, 1023, 0));
    size_t one = routes_memory(routes) - empty;
    for (uint32_t host = 1016; host < 1024; host++) /* the same leaf */
        found(routes, request(0, host, 0));
    ck_assert_uint_le(routes_memory(routes) - empty - one, 4096);
    routes_prepare(routes);
    size_t all = routes_memory(routes) - empty;
    /* 128 leaves x 320 switches x 12 bytes, and a little for each entry. */
    ck_assert_uint_ge(all, 128 * 320 * 12);
    ck_assert_uint_le(all, 128 * 320 * 12 + 128 * 512 + 65536);
    fabric_free(tree.fabric);
}
END_TEST

START_TEST(policies_have_names)
{
    RoutingPolicy policy;
    for (RoutingPolicy p = ROUTING_ECMP; p <= ROUTING_PINNED; p++) {
        ck_assert(routing_policy_parse(routing_policy_name(p), &policy));
        ck_assert_int_eq(policy, p);
    }
    ck_assert(!routing_policy_parse("random", &policy));
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("route");
    TCase *tc = tcase_create("route");
    tcase_set_timeout(tc, 60);
    tcase_add_loop_test(tc, random_fabrics_equal_the_reference, 0, 40);
    tcase_add_loop_test(tc, names_and_numbers_of_nodes_change_nothing, 0, 60);
    tcase_add_test(tc, dmodk_shifts_1024_hosts_without_collision);
    tcase_add_test(tc, dmodk_spreads_one_leafs_destinations_evenly);
    tcase_add_test(tc, ecmp_spreads_keys_evenly_at_both_levels);
    tcase_add_test(tc, spray_gives_each_path_its_part);
    tcase_add_test(tc, adaptive_takes_the_least_loaded_and_hashes_ties);
    tcase_add_test(tc, servers_take_nvlink_inside_and_the_nearest_nic_outside);
    tcase_add_test(tc, nics_asked_for_are_reached_over_nvlink);
    tcase_add_test(tc, a_far_nic_is_reached_by_the_fewer_hops);
    tcase_add_test(tc, other_rails_need_a_spine_or_pxn);
    tcase_add_test(tc, gpus_forward_over_nvlink_in_a_mesh_only);
    tcase_add_test(tc, a_nic_with_several_ports_uses_them_all);
    tcase_add_test(tc, two_gpus_of_one_nic_meet_at_its_switch);
    tcase_add_test(tc, pinned_paths_are_followed_while_they_live);
    tcase_add_test(tc, path_counts_saturate_and_shares_stay_exact);
    tcase_add_test(tc, a_latency_beyond_time_is_refused);
    tcase_add_test(tc, state_grows_with_attachments_and_not_with_hosts);
    tcase_add_test(tc, policies_have_names);
    suite_add_tcase(suite, tc);
    return support_main(suite);
}
