/* slurm_write.c - a fabric as Slurm's topology.conf: a tree of switches over servers
 *
 * A server (or host) is one node of Slurm, below the leaf switch that its first NIC reaches; a switch is below the
 * first of the next kind (leaf, spine, core, DCI) that it is joined to. What a tree cannot hold is counted in the
 * notes. */
#include "base/error.h"
#include "fabric/hostlist.h"
#include "fabric/topology_writer.h"

#include <string.h>

typedef struct {
    const Fabric *fabric;
    uint32_t *round;      /* when taken off; INDEX_NONE = in a circle, or no switch */
    uint32_t *parent;     /* of a switch; INDEX_NONE = a root */
    GPtrArray **nodes;    /* names of servers below a switch; NULL = none */
    GPtrArray **switches; /* names of switches below it */
    GHashTable *names;    /* as written -> as in the fabric */
    guint more_leaves;    /* servers that reach further leaves */
    guint more_parents;   /* cables to further switches above */
    guint sideways;       /* cables between switches of one kind */
    guint alone;          /* servers that reach no switch */
} Writer;

static int
level(NodeKind kind)
{
    return kind == NODE_LEAF ? 1 : kind == NODE_SPINE ? 2 : kind == NODE_CORE ? 3 : kind == NODE_DCI ? 4 : 0;
}

/* Slurm splits at blanks, commas and "="; "#" begins a comment and brackets are ranges: they become "-". */
static char *
slurm_name(Writer *writer, const char *name, GError **error)
{
    char *text = g_strdelimit(g_strdup(name), " \t,=#[]\\\"/", '-');
    const char *other = g_hash_table_lookup(writer->names, text);
    if (other == NULL)
        g_hash_table_insert(writer->names, g_strdup(text), g_strdup(name));
    else if (strcmp(other, name) != 0) {
        error_input(error, "\"%s\" and \"%s\" would both be called \"%s\" in topology.conf", other, name, text);
        g_free(text);
        return NULL;
    }
    return text;
}

static void
add_below(GPtrArray **list, char *name)
{
    if (*list == NULL)
        *list = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(*list, name);
}

/* The switch at the other end of a link, INDEX_NONE where that is none. */
static uint32_t
switch_at(const Fabric *fabric, uint32_t link)
{
    uint32_t to = fabric_link(fabric, link)->dst;
    return level(fabric_node(fabric, to)->kind) > 0 ? to : INDEX_NONE;
}

/* Takes off, round after round, the switches that have at most one other left beside them: of two switches of one kind
 * in a tree the one that goes first is below. Those in a circle stay. */
static void
find_rounds(Writer *writer)
{
    const Fabric *fabric = writer->fabric;
    uint32_t n = fabric_n_nodes(fabric), n_queue = 0;
    g_autofree uint32_t *queue = g_new(uint32_t, n), *left = g_new0(uint32_t, n);
    for (uint32_t v = 0; v < n; v++) {
        uint32_t n_out;
        const uint32_t *out = fabric_out(fabric, v, &n_out);
        for (uint32_t i = 0; i < n_out; i++)
            left[v] += switch_at(fabric, out[i]) != INDEX_NONE;
        writer->round[v] = INDEX_NONE;
        if (level(fabric_node(fabric, v)->kind) > 0 && left[v] <= 1) {
            writer->round[v] = 0;
            queue[n_queue++] = v;
        }
    }
    for (uint32_t q = 0; q < n_queue; q++) {
        uint32_t n_out;
        const uint32_t *out = fabric_out(fabric, queue[q], &n_out);
        for (uint32_t i = 0; i < n_out; i++) {
            uint32_t to = switch_at(fabric, out[i]);
            if (to == INDEX_NONE || writer->round[to] != INDEX_NONE || --left[to] > 1)
                continue;
            writer->round[to] = writer->round[queue[q]] + 1;
            queue[n_queue++] = to;
        }
    }
}

/* Above 0: b is above a; below 0: below; 0: beside, or no switch. */
static int
compare(const Writer *writer, uint32_t a, uint32_t b)
{
    int x = level(fabric_node(writer->fabric, a)->kind), y = level(fabric_node(writer->fabric, b)->kind);
    if (x != y)
        return y - x;
    if (x == 0 || writer->round[a] == INDEX_NONE || writer->round[b] == INDEX_NONE)
        return 0;
    if (writer->round[a] != writer->round[b])
        return writer->round[b] > writer->round[a] ? 1 : -1;
    return a > b ? 1 : -1; /* the last two of a tree */
}

static void
find_parents(Writer *writer)
{
    const Fabric *fabric = writer->fabric;
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++) {
        int mine = level(fabric_node(fabric, v)->kind);
        uint32_t n, best = INDEX_NONE;
        const uint32_t *out = fabric_out(fabric, v, &n);
        writer->parent[v] = INDEX_NONE;
        for (uint32_t i = 0; mine > 0 && i < n; i++) {
            uint32_t to = fabric_link(fabric, out[i])->dst;
            int order = compare(writer, v, to);
            writer->sideways += order == 0 && to > v;
            if (order <= 0)
                continue;
            writer->more_parents += best != INDEX_NONE && to != best;
            if (best == INDEX_NONE)
                best = to;
        }
        writer->parent[v] = best;
    }
}

/* The first leaf that a node reaches without passing another switch: itself, or through its server's NICs. */
static uint32_t
leaf_of(Writer *writer, uint32_t rank)
{
    const Fabric *fabric = writer->fabric;
    uint32_t n_nics, leaf = INDEX_NONE;
    const uint32_t *nics = fabric_server_nics(fabric, fabric_server(fabric, rank), &n_nics);
    gboolean more = FALSE;
    for (uint32_t k = 0; k <= n_nics; k++) {
        uint32_t n, from = k == 0 ? rank : nics[k - 1];
        const uint32_t *out = fabric_out(fabric, from, &n);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t to = fabric_link(fabric, out[i])->dst;
            if (level(fabric_node(fabric, to)->kind) == 0)
                continue;
            more = more || (leaf != INDEX_NONE && to != leaf);
            leaf = leaf == INDEX_NONE ? to : leaf;
        }
    }
    writer->more_leaves += more;
    return leaf;
}

/* The server's name in full, or the node's own. */
static char *
server_name(const Node *node)
{
    if (*node->server == '\0' || strcmp(node->server, node->name) == 0)
        return g_strdup(node->name);
    GString *name = g_string_new(NULL);
    const char *const parts[] = {node->region, node->building, node->zone, node->server};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        if (*parts[i] != '\0')
            g_string_append_printf(name, "%s%s", name->len > 0 ? "/" : "", parts[i]);
    return g_string_free(name, FALSE);
}

static gboolean
place_servers(Writer *writer, GError **error)
{
    const Fabric *fabric = writer->fabric;
    uint32_t n;
    const uint32_t *ranks = fabric_gpus(fabric, &n);
    g_autofree gboolean *seen = g_new0(gboolean, MAX(1, fabric_n_servers(fabric)));
    for (uint32_t i = 0; i < n; i++) {
        uint32_t server = fabric_server(fabric, ranks[i]);
        if (server != INDEX_NONE && seen[server])
            continue;
        if (server != INDEX_NONE)
            seen[server] = TRUE;
        uint32_t leaf = leaf_of(writer, ranks[i]);
        if (leaf == INDEX_NONE) {
            writer->alone++;
            continue;
        }
        g_autofree char *full = server_name(fabric_node(fabric, ranks[i]));
        char *name = slurm_name(writer, full, error);
        if (name == NULL)
            return FALSE;
        add_below(&writer->nodes[leaf], name);
    }
    return TRUE;
}

static gboolean
place_switches(Writer *writer, GError **error)
{
    const Fabric *fabric = writer->fabric;
    for (uint32_t v = 0; v < fabric_n_nodes(fabric); v++) {
        if (writer->parent[v] == INDEX_NONE)
            continue;
        char *name = slurm_name(writer, fabric_node(fabric, v)->name, error);
        if (name == NULL)
            return FALSE;
        add_below(&writer->switches[writer->parent[v]], name);
    }
    return TRUE;
}

/* Does anything hang below this switch, at any depth? Slurm refuses a switch without nodes. */
static gboolean
is_used(const Writer *writer, uint32_t v)
{
    return writer->nodes[v] != NULL || writer->switches[v] != NULL;
}

static char *
make_text(Writer *writer, GError **error)
{
    g_autoptr(GString) text = g_string_new("# Written by trainshed from a fabric\n");
    for (uint32_t v = 0; v < fabric_n_nodes(writer->fabric); v++) {
        if (!is_used(writer, v))
            continue;
        g_autofree char *name = slurm_name(writer, fabric_node(writer->fabric, v)->name, error);
        if (name == NULL)
            return NULL;
        g_string_append_printf(text, "SwitchName=%s", name);
        GPtrArray *const below[] = {writer->switches[v], writer->nodes[v]};
        static const char *const keys[] = {"Switches", "Nodes"};
        for (size_t k = 0; k < G_N_ELEMENTS(below); k++) {
            if (below[k] == NULL)
                continue;
            g_autofree char *list = hostlist_compress(below[k]);
            g_string_append_printf(text, " %s=%s", keys[k], list);
        }
        g_string_append_c(text, '\n');
    }
    return g_strdup(text->str);
}

static void
note(GPtrArray *notes, guint n, const char *what)
{
    if (n > 0)
        g_ptr_array_add(notes, g_strdup_printf("%u %s", n, what));
}

static void
add_notes(const Writer *writer, GPtrArray *notes)
{
    g_ptr_array_add(notes, g_strdup("rates, latencies and what is inside a server are not held"));
    note(notes, writer->more_leaves, "servers reach more than one leaf: each is below the first only");
    note(notes, writer->more_parents, "cables to further switches above are not held");
    note(notes, writer->sideways, "cables between switches of one kind are not held");
    note(notes, writer->alone, "servers reach no switch and are left out");
}

static gboolean
write(const Fabric *fabric, const char *path, GPtrArray *notes, GError **error)
{
    uint32_t n = fabric_n_nodes(fabric);
    Writer writer = {.fabric = fabric,
                     .round = g_new(uint32_t, n),
                     .parent = g_new(uint32_t, n),
                     .nodes = g_new0(GPtrArray *, n),
                     .switches = g_new0(GPtrArray *, n),
                     .names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free)};
    find_rounds(&writer);
    find_parents(&writer);
    g_autofree char *text =
        place_servers(&writer, error) && place_switches(&writer, error) ? make_text(&writer, error) : NULL;
    GError *wrong = NULL;
    gboolean written = text != NULL && g_file_set_contents(path, text, -1, &wrong);
    if (wrong != NULL)
        error_input(error, "%s: cannot be written: %s", path, wrong->message);
    g_clear_error(&wrong);
    if (written)
        add_notes(&writer, notes);
    for (uint32_t v = 0; v < n; v++) {
        g_clear_pointer(&writer.nodes[v], g_ptr_array_unref);
        g_clear_pointer(&writer.switches[v], g_ptr_array_unref);
    }
    g_free(writer.round);
    g_free(writer.parent);
    g_free(writer.nodes);
    g_free(writer.switches);
    g_hash_table_unref(writer.names);
    return written;
}

const TopologyWriter topology_writer_slurm = {"slurm", "Slurm's topology.conf: a tree of switches over servers", write};
