/* test-flow-classes.c - colour refinement against a slow partition, the classes of known patterns, and phases by class
 * against the reference and by hand */
#include "random_world.h"
#include "reference.h"
#include "support.h"

#include "network/flow_classes.h"
#include "network/phase.h"

#include <math.h>
#include <string.h>

enum { SEEDS = 200, MOST_FLOWS = 40, MOST_LINKS = 24, MOST_WAY = 6, MOST_HOSTS = 1024 };

/* The slow partition: a colour is a text that spells out the class and, sorted, the classes of all neighbours. */
typedef struct {
    FlowGraph graph;
    uint32_t first[MOST_FLOWS + 1], links[MOST_FLOWS * MOST_WAY];
    double shares[MOST_FLOWS * MOST_WAY], capacity[MOST_LINKS];
    FlowColor colors[MOST_FLOWS];
} World;

static void
random_graph(World *world, Random *dice)
{
    uint32_t n_links = 1 + (uint32_t)random_below(dice, MOST_LINKS),
             n_flows = 1 + (uint32_t)random_below(dice, MOST_FLOWS);
    gboolean split = random_below(dice, 3) == 0, regular = random_below(dice, 2) == 0;
    memset(world, 0, sizeof *world);
    for (uint32_t l = 0; l < n_links; l++)
        world->capacity[l] = random_below(dice, 4) == 0 ? 2e9 : 1e9;
    for (uint32_t f = 0, n = 0; f < n_flows; f++) {
        uint32_t length = regular ? 2 : (uint32_t)random_below(dice, MOST_WAY),
                 at = (uint32_t)random_below(dice, n_links);
        length = MIN(length, n_links);
        for (uint32_t i = 0; i < length; i++, n++) {
            world->links[n] = (at + (regular ? 1 : 5) * i) % n_links;
            for (uint32_t k = world->first[f]; k < n; k++)
                if (world->links[k] == world->links[n])
                    world->links[n] = (world->links[n] + 1) % n_links, k = world->first[f] - 1;
            world->shares[n] = random_below(dice, 4) == 0 ? 1 / 3.0 : 0.5;
        }
        world->colors[f] = (FlowColor){1, INFINITY, random_below(dice, 5) == 0 ? 7 : 8};
        world->first[f + 1] = n;
    }
    world->graph = (FlowGraph){n_flows,       n_links,        world->first, world->links, split ? world->shares : NULL,
                               world->colors, world->capacity};
}

static int
by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The number of each text among them, in the order first met; how many. */
static uint32_t
number_texts(char **texts, uint32_t n, uint32_t *numbers)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (uint32_t i = 0; i < n; i++) {
        if (!g_hash_table_contains(seen, texts[i]))
            g_hash_table_insert(seen, texts[i], GUINT_TO_POINTER(g_hash_table_size(seen)));
        numbers[i] = GPOINTER_TO_UINT(g_hash_table_lookup(seen, texts[i]));
    }
    return g_hash_table_size(seen);
}

/* own class, then the sorted pairs of neighbours' classes and shares */
static char *
spell(uint32_t own, GPtrArray *pairs)
{
    g_ptr_array_sort(pairs, by_text);
    g_ptr_array_add(pairs, NULL);
    g_autofree char *joined = g_strjoinv(" ", (char **)pairs->pdata);
    return g_strdup_printf("%u: %s", own, joined);
}

static void
spell_all(const FlowGraph *graph, gboolean flows, const uint32_t *flow_class, const uint32_t *link_class, char **texts)
{
    for (uint32_t it = 0; it < (flows ? graph->n_flows : graph->n_links); it++) {
        g_autoptr(GPtrArray) pairs = g_ptr_array_new_with_free_func(g_free);
        for (uint32_t f = 0; f < graph->n_flows; f++)
            for (uint32_t u = graph->first[f]; u < graph->first[f + 1]; u++)
                if ((flows ? f : graph->links[u]) == it)
                    g_ptr_array_add(pairs,
                                    g_strdup_printf("%u*%.17g", flows ? link_class[graph->links[u]] : flow_class[f],
                                                    graph->shares != NULL ? graph->shares[u] : 1));
        texts[it] = spell(flows ? flow_class[it] : link_class[it], pairs);
    }
}

static uint32_t
slow_classes(const FlowGraph *graph, uint32_t *flow_class)
{
    uint32_t link_class[MOST_LINKS], n_flows = 0, n_links = 0;
    char *texts[MAX(MOST_FLOWS, MOST_LINKS)];
    for (uint32_t l = 0; l < graph->n_links; l++)
        link_class[l] = graph->capacity[l] > 1e9;
    for (uint32_t f = 0; f < graph->n_flows; f++)
        flow_class[f] = graph->colors[f].bytes == 7;
    for (;;) {
        spell_all(graph, FALSE, flow_class, link_class, texts);
        uint32_t links = number_texts(texts, graph->n_links, link_class);
        for (uint32_t l = 0; l < graph->n_links; l++)
            g_free(texts[l]);
        spell_all(graph, TRUE, flow_class, link_class, texts);
        uint32_t flows = number_texts(texts, graph->n_flows, flow_class);
        for (uint32_t f = 0; f < graph->n_flows; f++)
            g_free(texts[f]);
        if (flows == n_flows && links == n_links)
            return flows;
        n_flows = flows;
        n_links = links;
    }
}

START_TEST(refinement_is_the_slow_partition)
{
    Random dice = random_named((uint64_t)_i, "classes");
    World world;
    uint32_t slow[MOST_FLOWS];
    random_graph(&world, &dice);
    uint32_t n = slow_classes(&world.graph, slow);
    g_autoptr(FlowClasses) classes = flow_classes_find(&world.graph, MOST_FLOWS);
    ck_assert_ptr_nonnull(classes);
    ck_assert_uint_eq(classes->n_classes, n);
    for (uint32_t f = 0; f < world.graph.n_flows; f++) /* both count classes as first met */
        ck_assert_uint_eq(classes->class_of[f], slow[f]);
    if (n > 1)
        ck_assert_ptr_null(flow_classes_find(&world.graph, n - 1)); /* one too many */
}
END_TEST

/* What one link of each class carries of each class of flows, counted flow by flow. */
START_TEST(coefficients_are_the_sums_over_flows)
{
    Random dice = random_named((uint64_t)_i, "classes");
    World world;
    random_graph(&world, &dice);
    g_autoptr(FlowClasses) classes = flow_classes_find(&world.graph, MOST_FLOWS);
    for (uint32_t c = 0; c < classes->n_classes; c++)
        for (uint32_t l = 0; l < world.graph.n_links; l++) {
            double sum = 0, told = 0;
            for (uint32_t f = 0; f < world.graph.n_flows; f++)
                for (uint32_t u = world.first[f]; classes->class_of[f] == c && u < world.first[f + 1]; u++)
                    if (world.links[u] == l)
                        sum += world.graph.shares != NULL ? world.shares[u] : 1;
            for (uint32_t u = classes->first[c]; u < classes->first[c + 1]; u++)
                if (classes->uses[u].link_class == classes->link_class_of[l])
                    told = classes->uses[u].coefficient;
            ck_assert_double_eq_tol(told, sum, 1e-14 * sum + 1e-300);
        }
}
END_TEST

/* A world of hosts behind switches, one job, phases told into arrays. */
typedef struct {
    Fabric *fabric;
    Routes *routes;
    Engine *engine;
    Network *network;
    uint32_t hosts[MOST_HOSTS], n_hosts;
    uint32_t client, single_client;
    uint32_t n_sent, n_delivered, n_by_class;
    SimTime sent[MOST_HOSTS], single_sent; /* by member, of the first so many */
} Site;

static uint32_t
add_node(Fabric *fabric, NodeKind kind, const char *format, uint32_t i)
{
    Node node = node_default();
    g_autofree char *name = g_strdup_printf(format, i);
    node.name = name;
    node.kind = kind;
    return fabric_add_node(fabric, &node, NULL);
}

static void
add_cable(Fabric *fabric, uint32_t a, uint32_t b)
{
    Link link = link_default();
    link.src = a;
    link.dst = b;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = 1e9;
    link.latency_ps = PS_PER_US;
    fabric_add_cable(fabric, &link, NULL);
}

/* n_leaves leaves of so many hosts each and as many spines as a leaf has hosts: nobody is held back by the spines. */
static void
leaves_and_spines(Site *site, uint32_t n_leaves, uint32_t hosts)
{
    Fabric *fabric = site->fabric = fabric_new();
    uint32_t spines[64];
    for (uint32_t s = 0; s < hosts; s++)
        spines[s] = add_node(fabric, NODE_SPINE, "spine%u", s);
    for (uint32_t l = 0; l < n_leaves; l++) {
        uint32_t leaf = add_node(fabric, NODE_LEAF, "leaf%u", l);
        for (uint32_t s = 0; s < hosts; s++)
            add_cable(fabric, leaf, spines[s]);
        for (uint32_t h = 0; h < hosts; h++) {
            site->hosts[site->n_hosts] = add_node(fabric, NODE_HOST, "host%u", site->n_hosts);
            add_cable(fabric, site->hosts[site->n_hosts++], leaf);
        }
    }
    ck_assert(fabric_seal(fabric, NULL));
}

/* k pods of k/2 leaves and k/2 spines, (k/2)^2 cores. */
static void
fat_tree(Site *site, uint32_t k)
{
    Fabric *fabric = site->fabric = fabric_new();
    uint32_t half = k / 2, cores[64], spines[8];
    for (uint32_t c = 0; c < half * half; c++)
        cores[c] = add_node(fabric, NODE_CORE, "core%u", c);
    for (uint32_t pod = 0; pod < k; pod++) {
        for (uint32_t s = 0; s < half; s++) {
            spines[s] = add_node(fabric, NODE_SPINE, "spine%u", pod * half + s);
            for (uint32_t c = 0; c < half; c++)
                add_cable(fabric, spines[s], cores[s * half + c]);
        }
        for (uint32_t l = 0; l < half; l++) {
            uint32_t leaf = add_node(fabric, NODE_LEAF, "leaf%u", pod * half + l);
            for (uint32_t s = 0; s < half; s++)
                add_cable(fabric, leaf, spines[s]);
            for (uint32_t h = 0; h < half; h++) {
                site->hosts[site->n_hosts] = add_node(fabric, NODE_HOST, "host%u", site->n_hosts);
                add_cable(fabric, site->hosts[site->n_hosts++], leaf);
            }
        }
    }
    ck_assert(fabric_seal(fabric, NULL));
}

static void
on_phase(void *owner, uint32_t cookie, const PhasePart *part, NetworkMoment moment)
{
    Site *site = owner;
    ck_assert_uint_eq(cookie, 3);
    ck_assert(part->class != INDEX_NONE || part->n_members == 1);
    if (moment == NETWORK_DELIVERED) {
        site->n_delivered += part->n_members;
        return;
    }
    site->n_sent += part->n_members;
    site->n_by_class += part->class != INDEX_NONE ? part->n_members : 0;
    for (uint32_t i = 0; i < part->n_members; i++)
        if (part->members[i] < MOST_HOSTS)
            site->sent[part->members[i]] = engine_now(site->engine);
}

static void
on_single(void *owner, uint32_t cookie, NetworkMoment moment)
{
    Site *site = owner;
    if (moment == NETWORK_SENT)
        site->single_sent = engine_now(site->engine);
}

static void
begin_network(Site *site, RoutingPolicy policy, gboolean books)
{
    site->routes = routes_new(site->fabric, policy);
    site->engine = engine_new(1);
    NetworkConfig config = network_config_default();
    config.books = books;
    site->network = network_new("fluid", &config, site->routes, site->engine, NULL, NULL);
    site->client = network_add_phase_client(site->network, on_phase, site);
    site->single_client = network_add_client(site->network, on_single, site);
    network_add_job(site->network, "a");
}

static void
end_site(Site *site)
{
    network_free(site->network);
    engine_free(site->engine);
    routes_free(site->routes);
    fabric_free(site->fabric);
    g_free(site);
}

static Transfer
transfer_of(const Site *site, uint32_t src, uint32_t dst, uint64_t bytes)
{
    return (Transfer){.coflow = INDEX_NONE,
                      .src_rank = src,
                      .dst_rank = dst,
                      .src = site->hosts[src],
                      .dst = site->hosts[dst],
                      .src_nic = INDEX_NONE,
                      .dst_nic = INDEX_NONE,
                      .bytes = bytes,
                      .weight = 1,
                      .rate_cap_Bps = INFINITY};
}

static Transfer *
all_to_all(const Site *site, uint32_t *n)
{
    Transfer *transfers = g_new(Transfer, (size_t)site->n_hosts * site->n_hosts);
    *n = 0;
    for (uint32_t a = 0; a < site->n_hosts; a++)
        for (uint32_t b = 0; b < site->n_hosts; b++)
            if (a != b)
                transfers[(*n)++] = transfer_of(site, a, b, 1000000);
    return transfers;
}

/* Sends a pattern once and runs to the end; its classes (0: it went one by one). */
static uint32_t
classes_of(Site *site, const Transfer *transfers, uint32_t n)
{
    g_autoptr(NetworkPattern) pattern = network_pattern_new(site->network, site->client, transfers, n);
    site->n_sent = site->n_delivered = 0;
    ck_assert(network_send_phase(pattern, 0, INDEX_NONE, 3, NULL));
    ck_assert_uint_eq(network_in_flight(site->network), n);
    ck_assert(engine_run(site->engine, NULL));
    ck_assert_uint_eq(site->n_sent, n);
    ck_assert_uint_eq(site->n_delivered, n);
    ck_assert_uint_eq(network_in_flight(site->network), 0);
    return network_pattern_n_classes(pattern);
}

static uint32_t
ring_classes(Site *site)
{
    g_autofree Transfer *ring = g_new(Transfer, site->n_hosts);
    for (uint32_t h = 0; h < site->n_hosts; h++)
        ring[h] = transfer_of(site, h, (h + 1) % site->n_hosts, 1000000);
    return classes_of(site, ring, site->n_hosts);
}

/* 1024 hosts on two levels: a neighbour is behind the same leaf or another, whatever else. 1023 flows share each
 * host's port: 1,000,000 B x 1023 / 1 GB/s = 1.023 s. */
START_TEST(two_levels_have_two_classes)
{
    static const RoutingPolicy policies[] = {ROUTING_DMODK, ROUTING_ECMP, ROUTING_SPRAY};
    Site *site = g_new0(Site, 1);
    leaves_and_spines(site, 32, 32);
    begin_network(site, policies[_i], FALSE);
    ck_assert_uint_eq(ring_classes(site), 2);
    for (uint32_t h = 0; h < site->n_hosts; h++)
        ck_assert_int_eq(site->sent[h], PS_PER_MS);
    if (policies[_i] == ROUTING_DMODK) {
        uint32_t n;
        g_autofree Transfer *transfers = all_to_all(site, &n);
        ck_assert_uint_eq(n, 1047552);
        SimTime start = engine_now(site->engine);
        ck_assert_uint_eq(classes_of(site, transfers, n), 2);
        /* a rate of 1e9 / 1023 is rounded down to 40 bits */
        ck_assert_double_eq_tol((double)(site->sent[5] - start), 1.023e12, 1.023e12 * 0x1p-39);
    }
    end_site(site);
}
END_TEST

/* ... and on three levels one kind of way more: the same leaf, the same pod, another pod. */
START_TEST(three_levels_have_three_classes)
{
    Site *site = g_new0(Site, 1);
    fat_tree(site, 8);
    begin_network(site, _i == 0 ? ROUTING_DMODK : ROUTING_SPRAY, FALSE);
    ck_assert_uint_eq(site->n_hosts, 128);
    ck_assert_uint_eq(ring_classes(site), 3);
    uint32_t n;
    g_autofree Transfer *transfers = all_to_all(site, &n);
    ck_assert_uint_eq(classes_of(site, transfers, n), 3);
    end_site(site);
}
END_TEST

/* 240 flows of 240 sizes are more than 64 classes: refinement stops, and all go one by one. */
START_TEST(what_differs_has_no_classes)
{
    Site *site = g_new0(Site, 1);
    fat_tree(site, 4);
    begin_network(site, ROUTING_ECMP, FALSE);
    uint32_t n;
    g_autofree Transfer *transfers = all_to_all(site, &n);
    ck_assert_uint_eq(n, 240);
    for (uint32_t t = 0; t < n; t++)
        transfers[t].bytes += t;
    ck_assert_uint_eq(classes_of(site, transfers, n), 0);
    ck_assert_uint_eq(site->n_by_class, 0);
    end_site(site);
}
END_TEST

/* A random permutation of 1024 hosts on two levels: spread evenly nobody is held back, and a way is long or short; by
 * destination flows meet in a few kinds of groups (6 classes: the number that SPEED.md names). */
START_TEST(a_random_permutation_has_few_classes)
{
    Site *site = g_new0(Site, 1);
    Random dice = random_named(1, "permutation");
    leaves_and_spines(site, 32, 32);
    begin_network(site, _i == 0 ? ROUTING_DMODK : ROUTING_SPRAY, FALSE);
    uint32_t to[MOST_HOSTS];
    g_autofree Transfer *transfers = g_new(Transfer, site->n_hosts);
    for (uint32_t h = 0; h < site->n_hosts; h++)
        to[h] = h;
    for (uint32_t h = site->n_hosts - 1; h > 0; h--) {
        uint32_t k = (uint32_t)random_below(&dice, h + 1), swap = to[h];
        to[h] = to[k];
        to[k] = swap;
    }
    for (uint32_t h = 0; h < site->n_hosts; h++)
        transfers[h] = transfer_of(site, h, to[h], 1000000);
    ck_assert_uint_eq(classes_of(site, transfers, site->n_hosts), _i == 0 ? 6 : 2);
    end_site(site);
}
END_TEST

/* Onto the way of the first of the two transfers. */
static void
on_foreign(void *owner, const Event *event)
{
    Site *site = owner;
    Transfer foreign = transfer_of(site, 1, 5, 250000);
    ck_assert_uint_eq(site->n_sent, 0);
    ck_assert(network_send(site->network, site->single_client, &foreign, 0, NULL));
}

/* Two transfers of 1,000,000 B at 1 GB/s, alike; at 0.5 ms one of 250,000 B comes onto the first one's way. From then
 * they share: 0.5 ms for the newcomer, in which the first one moves 250,000 of the 500,000 B it has left; it ends at
 * 1.25 ms, the second at 1 ms, as if nothing had been. */
START_TEST(a_foreign_flow_splits_a_class)
{
    Site *site = g_new0(Site, 1);
    leaves_and_spines(site, 2, 4);
    begin_network(site, ROUTING_DMODK, _i);
    Transfer transfers[2] = {transfer_of(site, 0, 5, 1000000), transfer_of(site, 2, 7, 1000000)};
    NetworkPattern *pattern = network_pattern_new(site->network, site->client, transfers, 2);
    ck_assert(network_send_phase(pattern, 0, INDEX_NONE, 3, NULL));
    ck_assert_uint_eq(network_pattern_n_classes(pattern), 1);
    uint32_t kind = engine_add_kind(site->engine, on_foreign, site);
    engine_schedule(site->engine, (Event){.when = PS_PER_MS / 2, .kind = kind});
    ck_assert(engine_run(site->engine, NULL));
    ck_assert_int_eq(site->sent[0], PS_PER_MS * 5 / 4);
    ck_assert_int_eq(site->sent[1], PS_PER_MS);
    ck_assert_int_eq(site->single_sent, PS_PER_MS);
    ck_assert_uint_eq(site->n_by_class, 0);
    ck_assert_uint_eq(site->n_delivered, 2);
    ck_assert(network_send_phase(pattern, 1, INDEX_NONE, 3, NULL)); /* by class again, and undisturbed */
    ck_assert(engine_run(site->engine, NULL));
    ck_assert_uint_eq(site->n_by_class, 2);
    network_pattern_free(pattern);
    end_site(site);
}
END_TEST

/* The reference's side of a pattern alone. */
typedef struct {
    const Transfer *transfers;
    Routes *routes;
    GArray *hops; /* scratch */
} Slow;

static gboolean
find_route(void *owner, uint32_t number, ReferenceRoute *found)
{
    Slow *slow = owner;
    const Transfer *it = &slow->transfers[number];
    RouteRequest request = {.src = it->src,
                            .dst = it->dst,
                            .src_nic = INDEX_NONE,
                            .dst_nic = INDEX_NONE,
                            .key = world_key(0, "a", it->src_rank, it->dst_rank, it->channel)};
    Route route;
    if (!routes_find(slow->routes, &request, &route, NULL))
        return FALSE;
    g_array_set_size(slow->hops, 0);
    for (uint32_t h = 0; h < route.n_hops; h++) {
        ReferenceHop hop = {route.hops[h].link, route.hops[h].share};
        g_array_append_val(slow->hops, hop);
    }
    *found = (ReferenceRoute){(ReferenceHop *)(void *)slow->hops->data, route.n_hops, route.latency_ps};
    return TRUE;
}

/* The ends of all, alone in the fabric. */
static void
run_reference(const Site *site, const Transfer *transfers, uint32_t n, SimTime *sent)
{
    uint32_t n_links = fabric_n_links(site->fabric);
    g_autofree double *capacity = g_new(double, n_links);
    g_autofree ReferenceTransfer *rows = g_new0(ReferenceTransfer, n);
    for (uint32_t l = 0; l < n_links; l++)
        capacity[l] = fabric_link(site->fabric, l)->capacity_Bps;
    for (uint32_t t = 0; t < n; t++)
        rows[t] = (ReferenceTransfer){.after = INDEX_NONE,
                                      .bytes = transfers[t].bytes,
                                      .weight = transfers[t].weight,
                                      .cap_Bps = transfers[t].rate_cap_Bps};
    Slow slow = {transfers, site->routes, g_array_new(FALSE, FALSE, sizeof(ReferenceHop))};
    Reference reference = {.capacity_Bps = capacity,
                           .n_links = n_links,
                           .transfers = rows,
                           .n_transfers = n,
                           .owner = &slow,
                           .find_route = find_route};
    reference_run(&reference);
    for (uint32_t t = 0; t < n; t++)
        sent[t] = rows[t].sent_ps;
    reference_clear(&reference);
    g_array_unref(slow.hops);
}

/* A shift, an all-to-all of few or anything, in two sizes, weights and caps, on a random fabric: all by class, and
 * every end is the reference's. */
START_TEST(ends_are_those_of_the_reference)
{
    Random dice = random_named((uint64_t)_i, "courses");
    Site *site = g_new0(Site, 1);
    site->fabric = random_fabric(&dice, FALSE);
    const uint32_t *gpus = fabric_gpus(site->fabric, &site->n_hosts);
    memcpy(site->hosts, gpus, site->n_hosts * sizeof *gpus);
    begin_network(site, random_routing(&dice), FALSE);
    uint32_t sort = (uint32_t)random_below(&dice, 3), skip = 1 + (uint32_t)random_below(&dice, 3), n = 0;
    Transfer transfers[64];
    for (uint32_t a = 0; a < site->n_hosts && n < 60; a++)
        for (uint32_t k = 0; k < (sort == 0 && a < 6 ? 6u : 1u) && n < 60; k++) {
            uint32_t any = (uint32_t)random_below(&dice, site->n_hosts);
            uint32_t b = sort == 0 ? k % site->n_hosts : sort == 1 ? (a + skip) % site->n_hosts : any;
            transfers[n] = transfer_of(site, a, b, n % 3 == 0 ? 500000 : 1000000);
            transfers[n].weight = n % 4 == 1 ? 2 : 1;
            transfers[n].rate_cap_Bps = n % 5 == 2 ? 3e8 : INFINITY;
            n++;
        }
    SimTime slow[64];
    run_reference(site, transfers, n, slow);
    ck_assert_uint_gt(classes_of(site, transfers, n), 0);
    ck_assert_uint_eq(site->n_by_class, n);
    for (uint32_t t = 0; t < n; t++)
        ck_assert_msg(fabs((double)(site->sent[t] - slow[t])) <= fmax(10, 1e-9 * (double)slow[t]),
                      "seed %d transfer %u: %" G_GINT64_FORMAT ", by reference %" G_GINT64_FORMAT, _i, t, site->sent[t],
                      slow[t]);
    end_site(site);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("flow-classes");
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, refinement_is_the_slow_partition, 0, SEEDS);
    tcase_add_loop_test(cases, coefficients_are_the_sums_over_flows, 0, SEEDS);
    tcase_add_loop_test(cases, two_levels_have_two_classes, 0, 3);
    tcase_add_loop_test(cases, three_levels_have_three_classes, 0, 2);
    tcase_add_test(cases, what_differs_has_no_classes);
    tcase_add_loop_test(cases, a_random_permutation_has_few_classes, 0, 2);
    tcase_add_loop_test(cases, a_foreign_flow_splits_a_class, 0, 2);
    tcase_add_loop_test(cases, ends_are_those_of_the_reference, 0, SEEDS);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
