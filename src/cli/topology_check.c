/* topology_check.c - 'trainshed topology check': all that is wrong with a fabric, or worth knowing */
#include "base/error.h"
#include "base/units.h"
#include "cli/topology.h"
#include "fabric/fabric_units.h"
#include "fabric/graph_check.h"
#include "fabric/route.h"

#include <stdio.h>
#include <string.h>

/* Units of a level whose uplinks are checked: each is a cut of the whole graph. */
enum { MAX_UNITS = 64 };

typedef struct {
    const Fabric *fabric;
    GraphCheck *check;
    uint32_t n_problems;
} Checker;

static void problem(Checker *checker, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
problem(Checker *checker, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    printf("problem: %s\n", text);
    checker->n_problems++;
}

/* " (and 12 more)", or nothing. The caller frees it. */
static char *
and_more(uint32_t n)
{
    return n > 1 ? g_strdup_printf(" (and %u more)", n - 1) : g_strdup("");
}

static void
check_connected(Checker *checker)
{
    g_autoptr(GError) error = NULL;
    if (graph_check_connected(checker->check, &error))
        printf("ok: the fabric is in one piece\n");
    else
        problem(checker, "%s", error->message);
}

/* From the first GPU to every other and back: what routing may use is less than what is joined. */
static void
check_routes(Checker *checker)
{
    uint32_t n, n_without = 0;
    const uint32_t *ranks = fabric_gpus(checker->fabric, &n);
    g_autoptr(Routes) routes = routes_new(checker->fabric, ROUTING_ECMP);
    g_autoptr(GError) first = NULL;
    for (uint32_t i = 1; i < n; i++)
        for (int way = 0; way < 2; way++) {
            RouteRequest request = {.src = ranks[way == 0 ? 0 : i],
                                    .dst = ranks[way == 0 ? i : 0],
                                    .src_nic = INDEX_NONE,
                                    .dst_nic = INDEX_NONE};
            Route route;
            if (!routes_find(routes, &request, &route, first == NULL ? &first : NULL))
                n_without++;
        }
    g_autofree char *more = and_more(n_without);
    if (n_without > 0)
        problem(checker, "%s%s", first->message, more);
    else if (n > 0)
        printf("ok: routes lead from \"%s\" to each of %u others and back\n",
               fabric_node(checker->fabric, ranks[0])->name, n - 1);
    else
        problem(checker, "there is neither a GPU nor a host");
}

/* TRUE where a rank has a link of its own into the network. */
static gboolean
is_wired(const Fabric *fabric, uint32_t rank)
{
    uint32_t n;
    const uint32_t *links = fabric_out(fabric, rank, &n);
    for (uint32_t i = 0; i < n; i++)
        if (link_kind_is_network(fabric_link(fabric, links[i])->kind))
            return TRUE;
    return FALSE;
}

static void
check_nics(Checker *checker)
{
    uint32_t n, without = 0, first = INDEX_NONE;
    const uint32_t *ranks = fabric_gpus(checker->fabric, &n);
    if (fabric_n_servers(checker->fabric) < 2)
        return;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t n_nics;
        fabric_nics(checker->fabric, ranks[i], &n_nics);
        if (n_nics > 0 || is_wired(checker->fabric, ranks[i]))
            continue;
        if (without++ == 0)
            first = ranks[i];
    }
    g_autofree char *more = and_more(without);
    if (without > 0)
        problem(checker, "\"%s\" has no NIC%s", fabric_node(checker->fabric, first)->name, more);
}

static gboolean
is_end(NodeKind kind)
{
    return kind == NODE_GPU || kind == NODE_NIC || kind == NODE_HOST || kind == NODE_STORAGE;
}

/* Bridges between switches one by one; those that part off a single GPU, NIC or host as a number. */
static void
check_bridges(const Checker *checker)
{
    g_autoptr(GArray) bridges = graph_check_bridges(checker->check);
    uint32_t n_ends = 0;
    const Link *end = NULL;
    for (guint i = 0; i < bridges->len; i++) {
        const Link *link = fabric_link(checker->fabric, g_array_index(bridges, uint32_t, i));
        const Node *a = fabric_node(checker->fabric, link->src), *b = fabric_node(checker->fabric, link->dst);
        if (is_end(a->kind) || is_end(b->kind)) {
            end = n_ends++ == 0 ? link : end;
            continue;
        }
        g_autofree char *rate = units_format_rate(link->capacity_Bps);
        printf("bridge: \"%s\" - \"%s\", %s: without it the fabric falls apart\n", a->name, b->name, rate);
    }
    g_autofree char *more = and_more(n_ends);
    if (n_ends > 0)
        printf("bridge: \"%s\" - \"%s\"%s: without it a GPU, NIC or host is cut off\n",
               fabric_node(checker->fabric, end->src)->name, fabric_node(checker->fabric, end->dst)->name, more);
    if (bridges->len == 0)
        printf("ok: no single cable parts the fabric\n");
}

/* The ends of a unit's uplinks outside, and its ranks inside. */
static void
collect_ends(const Fabric *fabric, const uint32_t *unit_of, uint32_t unit, GArray *ranks, GArray *outside)
{
    g_autofree uint8_t *taken = g_new0(uint8_t, fabric_n_nodes(fabric));
    for (uint32_t i = 0; i < fabric_n_links(fabric); i++) {
        const Link *link = fabric_link(fabric, i);
        if (unit_of[link->src] != unit || unit_of[link->dst] == unit || taken[link->dst])
            continue;
        taken[link->dst] = 1;
        g_array_append_val(outside, link->dst);
    }
    uint32_t n;
    const uint32_t *all = fabric_gpus(fabric, &n);
    for (uint32_t i = 0; i < n; i++)
        if (unit_of[all[i]] == unit)
            g_array_append_val(ranks, all[i]);
}

static void
check_unit(const Checker *checker, UnitLevel level, const FabricUnit *unit, const GArray *ranks, const GArray *outside)
{
    double filled = graph_check_cut_Bps(checker->check, (const uint32_t *)(const void *)ranks->data, ranks->len,
                                        (const uint32_t *)(const void *)outside->data, outside->len);
    if (filled >= MIN(unit->uplink_Bps, unit->nic_rate_Bps) * (1 - 1e-9))
        return;
    g_autofree char *up = units_format_rate(unit->uplink_Bps), *fill = units_format_rate(filled);
    printf("note: %s %s: its uplinks carry %s, but the links below can bring only %s to them\n", unit_level_name(level),
           unit->name, up, fill);
}

/* Uplinks that the switches under them cannot fill: a cut is then narrower than its oversubscription says.
 * A unit with the same GPUs as one a level up, noted in seen, says nothing new. */
static void
check_uplinks(const Checker *checker, UnitLevel level, GHashTable *seen)
{
    uint32_t n_units;
    g_autofree uint32_t *unit_of = fabric_unit_numbers(checker->fabric, level, &n_units);
    g_autoptr(GArray) units = fabric_units(checker->fabric, level);
    for (uint32_t u = 0; u < MIN(n_units, MAX_UNITS); u++) {
        g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        g_autoptr(GArray) outside = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        collect_ends(checker->fabric, unit_of, u, ranks, outside);
        if (ranks->len == 0 || outside->len == 0)
            continue;
        char *same = g_strdup_printf("%u+%u", g_array_index(ranks, uint32_t, 0), ranks->len);
        if (g_hash_table_add(seen, same))
            check_unit(checker, level, &g_array_index(units, FabricUnit, u), ranks, outside);
    }
}

static void
print_notes(const char *notes)
{
    g_auto(GStrv) lines = g_strsplit(notes != NULL ? notes : "", "\n", -1);
    for (size_t i = 0; lines[i] != NULL; i++)
        if (lines[i][0] != '\0')
            printf("note: %s\n", lines[i]);
}

/* The fabric, or NULL after all that is wrong with the file has been printed. */
static Fabric *
load(const char *path, const TopologyTexts *texts, char **notes, GError **error)
{
    TopologyOptions options;
    if (!topology_texts_read(texts, &options, error))
        return NULL;
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    options.problems = problems;
    Fabric *fabric = topology_load(path, texts->format, &options, NULL, notes, error);
    for (guint i = 0; i < problems->len; i++)
        printf("problem: %s\n", (const char *)problems->pdata[i]);
    fflush(stdout);
    return fabric;
}

gboolean
topology_check(int argc, char **argv, GError **error)
{
    g_auto(TopologyTexts) texts;
    g_autoptr(GOptionContext) context = g_option_context_new("FABRIC");
    topology_texts_add(&texts, context);
    if (!topology_arguments(context, &argc, &argv, 1, 1, error))
        return FALSE;
    g_autofree char *notes = NULL;
    g_autoptr(Fabric) fabric = load(argv[1], &texts, &notes, error);
    if (fabric == NULL)
        return FALSE;
    g_autoptr(GraphCheck) check = graph_check_new(fabric, error);
    if (check == NULL)
        return FALSE;

    g_autofree char *summary = topology_summary(fabric);
    printf("%s: %s\n", argv[1], summary);
    Checker checker = {.fabric = fabric, .check = check};
    check_connected(&checker);
    check_nics(&checker);
    check_routes(&checker);
    check_bridges(&checker);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (UnitLevel level = UNIT_REGION; level >= UNIT_ZONE; level--)
        check_uplinks(&checker, level, seen);
    print_notes(notes);
    if (checker.n_problems == 0)
        return TRUE;
    fflush(stdout);
    return error_input(error, "%s: %u problem%s", argv[1], checker.n_problems, checker.n_problems == 1 ? "" : "s");
}
