/* route_table.c - domains, attachments and next hops of one class of links */
#include "fabric/route_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64 };

/* What the links of the class join. Its transit nodes have the numbers first .. first + n - 1. */
typedef struct {
    uint32_t first, n;
    uint32_t changes; /* how often a link between two of its transit nodes died or revived */
} Domain;

/* A link between transit nodes, seen from its end: where it begins, and its bit in that node's mask. */
typedef struct {
    uint32_t link;
    uint32_t src; /* transit number */
    uint32_t bit; /* of the table: word x 64 + bit in the word */
} Arc;

typedef struct {
    uint32_t number, domain;
    uint32_t changes; /* of the domain when the hops were made */
    uint32_t n_ports;
    uint32_t *ports;    /* transit numbers, rising */
    uint32_t *distance; /* by transit number - first: hops to the nearest port, INDEX_NONE; NULL = not made yet */
    uint64_t *mask;     /* by word - first word of the domain: links that come one hop nearer */
} Attachment;

struct RouteTable {
    const RouteGraph *graph;
    RouteClass class;
    uint32_t *domain;     /* by node; INDEX_NONE = no link of the class */
    uint32_t *transit;    /* by node: transit number; INDEX_NONE = it does not forward */
    uint32_t *attachment; /* by node; INDEX_NONE = not asked yet, or its links changed */
    uint32_t *ordinal;    /* by node; NULL = not numbered */
    Domain *domains;
    uint32_t n_domains, n_transit;
    uint32_t *first_out, *out; /* by transit number: links to transit nodes, in link order */
    uint32_t *first_in;
    Arc *in;
    uint32_t *first_word; /* by transit number */
    GPtrArray *attachments;
    GHashTable *by_ports; /* Attachment -> itself */
    uint32_t *list;       /* scratch: the widest node's links; a search's queue */
};

static RouteClass
class_of(LinkKind kind)
{
    if (kind == LINK_NVLINK)
        return ROUTE_NVLINK;
    return kind == LINK_PCIE ? ROUTE_PCIE : ROUTE_NETWORK;
}

void
route_graph_init(RouteGraph *graph, const Fabric *fabric)
{
    uint32_t n = fabric_n_links(fabric);
    *graph = (RouteGraph){.fabric = fabric, .n_nodes = fabric_n_nodes(fabric), .n_links = n};
    graph->src = g_new(uint32_t, MAX(n, 1));
    graph->dst = g_new(uint32_t, MAX(n, 1));
    graph->latency_ps = g_new(SimTime, MAX(n, 1));
    graph->class = g_new(uint8_t, MAX(n, 1));
    graph->live = g_new(uint8_t, MAX(n, 1));
    for (uint32_t i = 0; i < n; i++) {
        const Link *link = fabric_link(fabric, i);
        graph->src[i] = link->src;
        graph->dst[i] = link->dst;
        graph->latency_ps[i] = link->latency_ps;
        graph->class[i] = (uint8_t)class_of(link->kind);
        graph->live[i] = graph->class[i];
    }
}

void
route_graph_clear(RouteGraph *graph)
{
    g_free(graph->src);
    g_free(graph->dst);
    g_free(graph->latency_ps);
    g_free(graph->class);
    g_free(graph->live);
}

size_t
route_graph_memory(const RouteGraph *graph)
{
    return (size_t)graph->n_links * (2 * sizeof(uint32_t) + sizeof(SimTime) + 2);
}

/* DEFINITIONS 2: who passes on what is not for it. */
static gboolean
forwards(const RouteTable *table, uint32_t node)
{
    NodeKind kind = fabric_node(table->graph->fabric, node)->kind;
    switch (table->class) {
    case ROUTE_NVLINK:
        return kind == NODE_NVSWITCH || (kind == NODE_GPU && fabric_forward(table->graph->fabric) == FORWARD_MESH);
    case ROUTE_PCIE:
        return kind == NODE_PCIE;
    default:
        return kind == NODE_LEAF || kind == NODE_SPINE || kind == NODE_CORE || kind == NODE_DCI;
    }
}

static uint32_t
root_of(uint32_t *parent, uint32_t node)
{
    while (parent[node] != node) {
        parent[node] = parent[parent[node]];
        node = parent[node];
    }
    return node;
}

/* Fills domain and n_domains: union of the ends of every link of the class. Domains are numbered by their
 * first node. */
static void
find_domains(RouteTable *table)
{
    const RouteGraph *graph = table->graph;
    g_autofree uint32_t *parent = g_new(uint32_t, graph->n_nodes), *number = g_new(uint32_t, graph->n_nodes);
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        parent[i] = i;
    memset(number, 0xff, graph->n_nodes * sizeof *number);
    memset(table->domain, 0xff, graph->n_nodes * sizeof *table->domain);
    for (uint32_t i = 0; i < graph->n_links; i++) {
        if (graph->class[i] != table->class)
            continue;
        uint32_t a = root_of(parent, graph->src[i]), b = root_of(parent, graph->dst[i]);
        parent[MAX(a, b)] = MIN(a, b);
        table->domain[graph->src[i]] = table->domain[graph->dst[i]] = 0;
    }
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (table->domain[i] == INDEX_NONE)
            continue;
        uint32_t root = root_of(parent, i);
        if (number[root] == INDEX_NONE)
            number[root] = table->n_domains++;
        table->domain[i] = number[root];
    }
}

/* Numbers the transit nodes, domain after domain, in node order within one. */
static void
number_transit(RouteTable *table)
{
    uint32_t n_nodes = table->graph->n_nodes;
    table->domains = g_new0(Domain, MAX(table->n_domains, 1));
    memset(table->transit, 0xff, n_nodes * sizeof *table->transit);
    for (uint32_t i = 0; i < n_nodes; i++)
        if (table->domain[i] != INDEX_NONE && forwards(table, i)) {
            table->transit[i] = 0;
            table->domains[table->domain[i]].n++;
        }
    for (uint32_t i = 0; i < table->n_domains; i++) {
        table->domains[i].first = table->n_transit;
        table->n_transit += table->domains[i].n;
        table->domains[i].n = 0;
    }
    for (uint32_t i = 0; i < n_nodes; i++)
        if (table->transit[i] != INDEX_NONE) {
            Domain *domain = &table->domains[table->domain[i]];
            table->transit[i] = domain->first + domain->n++;
        }
}

/* Is it a link of the class between two transit nodes? */
static gboolean
is_inner(const RouteTable *table, uint32_t link)
{
    const RouteGraph *graph = table->graph;
    return graph->class[link] == table->class && table->transit[graph->src[link]] != INDEX_NONE &&
           table->transit[graph->dst[link]] != INDEX_NONE;
}

/* The compact adjacency of the transit nodes, and where each one's mask lies. */
static void
make_arcs(RouteTable *table)
{
    const RouteGraph *graph = table->graph;
    uint32_t n = table->n_transit, n_inner = 0;
    table->first_out = g_new0(uint32_t, (size_t)n + 1);
    table->first_in = g_new0(uint32_t, (size_t)n + 1);
    table->first_word = g_new0(uint32_t, (size_t)n + 1);
    for (uint32_t i = 0; i < graph->n_links; i++)
        if (is_inner(table, i)) {
            table->first_out[table->transit[graph->src[i]] + 1]++;
            table->first_in[table->transit[graph->dst[i]] + 1]++;
            n_inner++;
        }
    for (uint32_t t = 0; t < n; t++) {
        table->first_word[t + 1] = table->first_word[t] + (table->first_out[t + 1] + WORD - 1) / WORD;
        table->first_out[t + 1] += table->first_out[t];
        table->first_in[t + 1] += table->first_in[t];
    }
    table->out = g_new(uint32_t, MAX(n_inner, 1));
    table->in = g_new(Arc, MAX(n_inner, 1));
    g_autofree uint32_t *outs = g_new0(uint32_t, MAX(n, 1)), *ins = g_new0(uint32_t, MAX(n, 1));
    for (uint32_t i = 0; i < graph->n_links; i++) {
        if (!is_inner(table, i))
            continue;
        uint32_t src = table->transit[graph->src[i]], dst = table->transit[graph->dst[i]], k = outs[src]++;
        table->out[table->first_out[src] + k] = i;
        table->in[table->first_in[dst] + ins[dst]++] = (Arc){i, src, table->first_word[src] * WORD + k};
    }
}

static guint
ports_hash(gconstpointer key)
{
    const Attachment *attachment = key;
    uint32_t hash = attachment->domain * 2654435761U;
    for (uint32_t i = 0; i < attachment->n_ports; i++)
        hash = (hash ^ attachment->ports[i]) * 16777619U;
    return hash;
}

static gboolean
ports_equal(gconstpointer left, gconstpointer right)
{
    const Attachment *a = left, *b = right;
    return a->domain == b->domain && a->n_ports == b->n_ports &&
           (a->n_ports == 0 || memcmp(a->ports, b->ports, a->n_ports * sizeof *a->ports) == 0);
}

static void
attachment_free(gpointer data)
{
    Attachment *attachment = data;
    g_free(attachment->ports);
    g_free(attachment->distance);
    g_free(attachment->mask);
    g_free(attachment);
}

/* The most links at one node, or transit nodes in one domain: what the scratch list must hold. */
static uint32_t
longest_list(const RouteTable *table)
{
    const Fabric *fabric = table->graph->fabric;
    uint32_t longest = 1, n;
    for (uint32_t i = 0; i < table->graph->n_nodes; i++) {
        fabric_out(fabric, i, &n);
        longest = MAX(longest, n);
        fabric_in(fabric, i, &n);
        longest = MAX(longest, n);
    }
    for (uint32_t i = 0; i < table->n_domains; i++)
        longest = MAX(longest, table->domains[i].n);
    return longest;
}

RouteTable *
route_table_new(const RouteGraph *graph, RouteClass class)
{
    RouteTable *table = g_new0(RouteTable, 1);
    table->graph = graph;
    table->class = class;
    table->domain = g_new(uint32_t, graph->n_nodes);
    table->transit = g_new(uint32_t, graph->n_nodes);
    table->attachment = g_new(uint32_t, graph->n_nodes);
    memset(table->attachment, 0xff, graph->n_nodes * sizeof *table->attachment);
    find_domains(table);
    number_transit(table);
    make_arcs(table);
    table->attachments = g_ptr_array_new_with_free_func(attachment_free);
    table->by_ports = g_hash_table_new(ports_hash, ports_equal);
    table->list = g_new(uint32_t, longest_list(table));
    return table;
}

void
route_table_free(RouteTable *table)
{
    if (table == NULL)
        return;
    g_hash_table_unref(table->by_ports);
    g_ptr_array_unref(table->attachments);
    g_free(table->domain);
    g_free(table->transit);
    g_free(table->attachment);
    g_free(table->ordinal);
    g_free(table->domains);
    g_free(table->first_out);
    g_free(table->out);
    g_free(table->first_in);
    g_free(table->in);
    g_free(table->first_word);
    g_free(table->list);
    g_free(table);
}

void
route_table_changed(RouteTable *table, uint32_t link)
{
    const RouteGraph *graph = table->graph;
    assert(graph->class[link] == table->class);
    table->attachment[graph->dst[link]] = INDEX_NONE;
    if (is_inner(table, link))
        table->domains[table->domain[graph->src[link]]].changes++;
}

uint32_t
route_table_domain(const RouteTable *table, uint32_t node)
{
    return table->domain[node];
}

gboolean
route_table_is_transit(const RouteTable *table, uint32_t node)
{
    return table->transit[node] != INDEX_NONE;
}

gboolean
route_table_touches(const RouteTable *table, uint32_t node)
{
    return table->domain[node] != INDEX_NONE;
}

/* Without a popcount instruction, which not every machine has, the compiler would call a table look-up. */
static inline uint32_t
count_bits(uint64_t bits)
{
    bits -= bits >> 1 & UINT64_C(0x5555555555555555);
    bits = (bits & UINT64_C(0x3333333333333333)) + (bits >> 2 & UINT64_C(0x3333333333333333));
    bits = (bits + (bits >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(bits * UINT64_C(0x0101010101010101) >> 56);
}

static gboolean
usable(const RouteTable *table, uint32_t link)
{
    return table->graph->live[link] == table->class;
}

static int
compare_numbers(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* The distinct transit nodes with a live link into node go to the scratch list, rising; their number. */
static uint32_t
list_ports(RouteTable *table, uint32_t node)
{
    uint32_t n_in, n = 0, n_distinct = 0;
    const uint32_t *in = fabric_in(table->graph->fabric, node, &n_in);
    for (uint32_t i = 0; i < n_in; i++) {
        uint32_t transit = table->transit[table->graph->src[in[i]]];
        if (usable(table, in[i]) && transit != INDEX_NONE)
            table->list[n++] = transit;
    }
    if (n > 1)
        qsort(table->list, n, sizeof *table->list, compare_numbers);
    for (uint32_t i = 0; i < n; i++)
        if (i == 0 || table->list[i] != table->list[i - 1])
            table->list[n_distinct++] = table->list[i];
    return n_distinct;
}

uint32_t
route_table_attachment(RouteTable *table, uint32_t node)
{
    assert(route_table_touches(table, node));
    if (table->attachment[node] != INDEX_NONE)
        return table->attachment[node];

    uint32_t n_ports = list_ports(table, node);
    Attachment asked = {.domain = table->domain[node], .n_ports = n_ports, .ports = table->list};
    Attachment *known = g_hash_table_lookup(table->by_ports, &asked);
    if (known == NULL) {
        known = g_new0(Attachment, 1);
        known->number = table->attachments->len;
        known->domain = asked.domain;
        known->n_ports = n_ports;
        known->ports = g_memdup2(table->list, n_ports * sizeof *known->ports);
        g_ptr_array_add(table->attachments, known);
        g_hash_table_add(table->by_ports, known);
    }
    table->attachment[node] = known->number;
    return known->number;
}

/* Breadth first, against the links, from all ports at once. */
static void
make_hops(RouteTable *table, Attachment *attachment)
{
    const Domain *domain = &table->domains[attachment->domain];
    uint32_t first_word = table->first_word[domain->first];
    size_t n_words = table->first_word[domain->first + domain->n] - first_word;
    if (attachment->distance == NULL) {
        attachment->distance = g_new(uint32_t, MAX(domain->n, 1));
        attachment->mask = g_new(uint64_t, MAX(n_words, 1));
    }
    uint32_t *distance = attachment->distance, first = domain->first;
    memset(distance, 0xff, domain->n * sizeof *distance);
    memset(attachment->mask, 0, n_words * sizeof *attachment->mask);

    uint32_t *queue = table->list, n = 0;
    for (uint32_t i = 0; i < attachment->n_ports; i++) {
        distance[attachment->ports[i] - first] = 0;
        queue[n++] = attachment->ports[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t further = distance[queue[i] - first] + 1;
        for (uint32_t k = table->first_in[queue[i]]; k < table->first_in[queue[i] + 1]; k++) {
            Arc arc = table->in[k];
            if (table->graph->live[arc.link] == ROUTE_CLASSES || distance[arc.src - first] < further)
                continue;
            if (distance[arc.src - first] == INDEX_NONE) {
                distance[arc.src - first] = further;
                queue[n++] = arc.src;
            }
            attachment->mask[arc.bit / WORD - first_word] |= UINT64_C(1) << arc.bit % WORD;
        }
    }
    attachment->changes = domain->changes;
}

static Attachment *
ready(RouteTable *table, uint32_t number)
{
    Attachment *attachment = g_ptr_array_index(table->attachments, number);
    if (attachment->distance == NULL || attachment->changes != table->domains[attachment->domain].changes)
        make_hops(table, attachment);
    return attachment;
}

void
route_table_prepare(RouteTable *table)
{
    for (uint32_t i = 0; i < table->graph->n_nodes; i++)
        if (table->domain[i] != INDEX_NONE && table->transit[i] == INDEX_NONE && table->domains[table->domain[i]].n > 0)
            ready(table, route_table_attachment(table, i));
}

void
route_table_number(RouteTable *table)
{
    const RouteGraph *graph = table->graph;
    table->ordinal = g_new0(uint32_t, graph->n_nodes);
    g_autofree uint32_t *next = g_new0(uint32_t, (size_t)graph->n_nodes + 2);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < graph->n_nodes; i++) {
            if (!route_table_touches(table, i) ||
                (table->transit[i] != INDEX_NONE && fabric_node(graph->fabric, i)->kind != NODE_GPU))
                continue;
            uint32_t number = route_table_attachment(table, i);
            if (pass == 0)
                next[number + 1]++;
            else
                table->ordinal[i] = next[number]++;
        }
        for (uint32_t k = 0; pass == 0 && k < table->attachments->len; k++)
            next[k + 1] += next[k];
    }
}

uint32_t
route_table_ordinal(const RouteTable *table, uint32_t node)
{
    return table->ordinal != NULL ? table->ordinal[node] : 0;
}

size_t
route_table_memory(const RouteTable *table)
{
    size_t n = table->n_transit;
    size_t bytes = sizeof *table + table->graph->n_nodes * sizeof(uint32_t) * (table->ordinal != NULL ? 4 : 3) +
                   table->n_domains * sizeof(Domain) + 3 * (n + 1) * sizeof(uint32_t) +
                   table->first_out[n] * (sizeof(uint32_t) + sizeof(Arc)) + longest_list(table) * sizeof(uint32_t);
    for (uint32_t i = 0; i < table->attachments->len; i++) {
        const Attachment *attachment = g_ptr_array_index(table->attachments, i);
        const Domain *domain = &table->domains[attachment->domain];
        bytes += sizeof *attachment + attachment->n_ports * sizeof(uint32_t) + 4 * sizeof(gpointer);
        if (attachment->distance != NULL)
            bytes +=
                domain->n * sizeof(uint32_t) +
                (table->first_word[domain->first + domain->n] - table->first_word[domain->first]) * sizeof(uint64_t);
    }
    return bytes;
}

/* Hops from the end of link, out of a leg's beginning, to the attachment; INDEX_NONE where it leads nowhere. */
static uint32_t
distance_after(const RouteTable *table, const Attachment *attachment, uint32_t link)
{
    uint32_t transit = table->transit[table->graph->dst[link]];
    if (!usable(table, link) || transit == INDEX_NONE)
        return INDEX_NONE;
    return attachment->distance[transit - table->domains[attachment->domain].first];
}

/* Over a link that joins the two. */
static gboolean
direct_leg(RouteTable *table, uint32_t from, uint32_t to, const uint32_t *out, uint32_t n_out, RouteLeg *leg)
{
    uint32_t n = 0, first = INDEX_NONE;
    for (uint32_t i = 0; i < n_out; i++)
        if (usable(table, out[i]) && table->graph->dst[out[i]] == to)
            first = n++ == 0 ? out[i] : INDEX_NONE;
    if (n > 0)
        *leg =
            (RouteLeg){.table = table, .from = from, .to = to, .attachment = INDEX_NONE, .length = 1, .first = first};
    return n > 0;
}

gboolean
route_table_leg(RouteTable *table, uint32_t from, uint32_t to, RouteLeg *leg)
{
    uint32_t domain = table->domain[from], n_out;
    if (domain == INDEX_NONE || table->domain[to] != domain)
        return FALSE;
    const uint32_t *out = fabric_out(table->graph->fabric, from, &n_out);
    if (direct_leg(table, from, to, out, n_out, leg))
        return TRUE;
    if (table->domains[domain].n == 0)
        return FALSE;

    uint32_t number = route_table_attachment(table, to), nearest = INDEX_NONE, first = INDEX_NONE;
    const Attachment *attachment = ready(table, number);
    for (uint32_t i = 0; i < n_out; i++) {
        uint32_t distance = distance_after(table, attachment, out[i]);
        if (distance < nearest) {
            nearest = distance;
            first = out[i];
        } else if (distance == nearest)
            first = INDEX_NONE;
    }
    if (nearest == INDEX_NONE)
        return FALSE;
    *leg = (RouteLeg){table, from, to, number, nearest, nearest + 2, first};
    return TRUE;
}

/* The first hops of a leg, into the scratch list. */
static RouteFan
fan_out(const RouteLeg *leg)
{
    RouteTable *table = leg->table;
    uint32_t n_out, n = 0;
    const uint32_t *out = fabric_out(table->graph->fabric, leg->from, &n_out);
    const Attachment *attachment = leg->attachment == INDEX_NONE ? NULL : ready(table, leg->attachment);
    for (uint32_t i = 0; i < n_out; i++) {
        gboolean on_way = attachment == NULL ? table->graph->dst[out[i]] == leg->to && usable(table, out[i])
                                             : distance_after(table, attachment, out[i]) == leg->nearest;
        if (on_way)
            table->list[n++] = out[i];
    }
    return (RouteFan){n, table->list, NULL};
}

/* The last hops, from node into the leg's end. */
static RouteFan
fan_in(const RouteLeg *leg, uint32_t node)
{
    RouteTable *table = leg->table;
    uint32_t n_in, n = 0;
    const uint32_t *in = fabric_in(table->graph->fabric, leg->to, &n_in);
    for (uint32_t i = 0; i < n_in; i++)
        if (table->graph->src[in[i]] == node && usable(table, in[i]))
            table->list[n++] = in[i];
    return (RouteFan){n, table->list, NULL};
}

RouteFan
route_leg_fan(const RouteLeg *leg, uint32_t node)
{
    if (node == leg->from)
        return leg->first != INDEX_NONE ? (RouteFan){1, &leg->first, NULL} : fan_out(leg);
    RouteTable *table = leg->table;
    uint32_t transit = table->transit[node];
    if (leg->attachment == INDEX_NONE || transit == INDEX_NONE || table->domain[node] != table->domain[leg->to])
        return (RouteFan){0};

    const Attachment *attachment = ready(table, leg->attachment);
    uint32_t first = table->domains[attachment->domain].first;
    const uint64_t *mask = attachment->mask + table->first_word[transit] - table->first_word[first];
    uint32_t n = 0;
    for (uint32_t i = table->first_word[transit]; i < table->first_word[transit + 1]; i++)
        n += count_bits(mask[i - table->first_word[transit]]);
    if (n == 0) /* next to the end, or on no way to it: the distance, another line of the cache, need not be asked */
        return fan_in(leg, node);
    return (RouteFan){n, table->out + table->first_out[transit], mask};
}

uint32_t
route_fan_link(const RouteFan *fan, uint32_t k)
{
    assert(k < fan->n);
    if (fan->mask == NULL)
        return fan->links[k];
    uint32_t word = 0;
    uint64_t bits = fan->mask[0];
    for (uint32_t in_word; k >= (in_word = count_bits(bits)); bits = fan->mask[++word])
        k -= in_word;
    while (k-- > 0)
        bits &= bits - 1;
    return fan->links[word * WORD + (uint32_t)__builtin_ctzll(bits)];
}

gboolean
route_leg_holds(const RouteLeg *leg, uint32_t link)
{
    if (!usable(leg->table, link))
        return FALSE;
    uint32_t node = leg->table->graph->src[link];
    if (node == leg->to && node != leg->from)
        return FALSE;
    RouteFan fan = route_leg_fan(leg, node);
    for (uint32_t k = 0; k < fan.n; k++)
        if (route_fan_link(&fan, k) == link)
            return TRUE;
    return FALSE;
}
