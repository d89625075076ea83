/* slurm_topology.c - Slurm's topology.conf, trees and blocks, as a fabric of hosts and switches
 *
 * Keys as in topology.conf(5) of Slurm: SwitchName with Switches or Nodes, BlockName with Nodes, BlockSizes; case does
 * not matter, # begins a comment, a backslash at the end of a line joins the next. Rates and lengths are not in the
 * file (LinkSpeed is in no unit): they come from the options. A switch with nodes is a leaf, one above leaves a spine,
 * all others are cores. Blocks have one switch each; how blocks are joined the file does not say: one switch joins
 * them. */
#include "base/error.h"
#include "base/input.h"
#include "fabric/hostlist.h"
#include "fabric/topology_format.h"

#include <string.h>

#define FILE_LIMIT ((size_t)256 << 20)

enum { MOST_NODES = 4000000 };

typedef struct {
    char *name;
    size_t line;
    GPtrArray *switches, *nodes; /* of char *: the names below it */
    uint32_t parent;             /* unit; INDEX_NONE = a root */
    uint32_t height;             /* 0 = no switch below */
    uint32_t node;               /* of the fabric */
} Unit;

typedef struct {
    const char *path;
    const TopologyOptions *options;
    GPtrArray *units;     /* of Unit: switches and blocks */
    GHashTable *unit_of;  /* name -> Unit */
    GHashTable *leaf_of;  /* name of a node -> Unit */
    guint blocks, speeds; /* blocks; LinkSpeed keys */
    char *block_sizes;
    Fabric *fabric;
} Reader;

static void
unit_free(gpointer data)
{
    Unit *unit = data;
    g_free(unit->name);
    g_ptr_array_unref(unit->switches);
    g_ptr_array_unref(unit->nodes);
    g_free(unit);
}

static gboolean
add_unit(Reader *reader, const char *name, const char *switches, const char *nodes, size_t line, GError **error)
{
    if (g_hash_table_contains(reader->unit_of, name))
        return topology_problem(reader->options, reader->path, line, error, "%s is there already", name);
    if (switches == NULL && nodes == NULL)
        return topology_problem(reader->options, reader->path, line, error, "%s: needs Switches or Nodes", name);
    Unit *unit = g_new0(Unit, 1);
    *unit = (Unit){.name = g_strdup(name),
                   .line = line,
                   .switches = g_ptr_array_new_with_free_func(g_free),
                   .nodes = g_ptr_array_new_with_free_func(g_free),
                   .parent = INDEX_NONE};
    g_ptr_array_add(reader->units, unit);
    g_hash_table_insert(reader->unit_of, unit->name, unit);
    GError *wrong = NULL;
    if ((switches == NULL || hostlist_expand(switches, MOST_NODES, unit->switches, &wrong)) &&
        (nodes == NULL || hostlist_expand(nodes, MOST_NODES, unit->nodes, &wrong)))
        return TRUE;
    gboolean on = topology_problem(reader->options, reader->path, line, error, "%s: %s", name, wrong->message);
    g_error_free(wrong);
    return on;
}

/* One line of Key=Value words. */
static gboolean
read_line(Reader *reader, char *text, size_t line, GError **error)
{
    const char *switch_name = NULL, *block_name = NULL, *switches = NULL, *nodes = NULL;
    text[strcspn(text, "#")] = '\0';
    for (char *word = strtok(text, " \t\r\n"); word != NULL; word = strtok(NULL, " \t\r\n")) {
        char *equal = strchr(word, '=');
        if (equal == NULL)
            return topology_problem(reader->options, reader->path, line, error, "found \"%s\", expected Key=Value",
                                    word);
        *equal = '\0';
        const char *value = equal + 1;
        if (g_ascii_strcasecmp(word, "SwitchName") == 0)
            switch_name = value;
        else if (g_ascii_strcasecmp(word, "BlockName") == 0)
            block_name = value;
        else if (g_ascii_strcasecmp(word, "Switches") == 0)
            switches = value;
        else if (g_ascii_strcasecmp(word, "Nodes") == 0)
            nodes = value;
        else if (g_ascii_strcasecmp(word, "LinkSpeed") == 0)
            reader->speeds++;
        else if (g_ascii_strcasecmp(word, "BlockSizes") == 0)
            g_free(reader->block_sizes), reader->block_sizes = g_strdup(value);
        else if (g_ascii_strcasecmp(word, "RingName") == 0)
            return topology_problem(reader->options, reader->path, line, error, "rings are not read");
        else
            return topology_problem(
                reader->options, reader->path, line, error,
                "found the key \"%s\", expected SwitchName, Switches, Nodes, LinkSpeed, BlockName or "
                "BlockSizes",
                word);
    }
    if (switch_name == NULL && block_name == NULL)
        return switches == NULL && nodes == NULL
                   ? TRUE
                   : topology_problem(reader->options, reader->path, line, error,
                                      "Switches and Nodes need a SwitchName or BlockName");
    if (block_name != NULL && switch_name != NULL)
        return topology_problem(reader->options, reader->path, line, error, "is either a switch or a block");
    if (block_name != NULL && switches != NULL)
        return topology_problem(reader->options, reader->path, line, error, "%s: a block has Nodes, no Switches",
                                block_name);
    reader->blocks += block_name != NULL;
    return add_unit(reader, switch_name != NULL ? switch_name : block_name, switches, nodes, line, error);
}

/* Lines, those that end with a backslash joined. */
static gboolean
read_lines(Reader *reader, char *text, GError **error)
{
    size_t line = 0;
    g_autoptr(GString) whole = g_string_new(NULL);
    for (char *at = text, *next; at != NULL; at = next) {
        char *feed = strchr(at, '\n');
        next = feed != NULL ? feed + 1 : NULL;
        if (feed != NULL)
            *feed = '\0';
        g_string_append(whole, at);
        line++;
        if (whole->len > 0 && whole->str[whole->len - 1] == '\r')
            g_string_truncate(whole, whole->len - 1);
        if (next != NULL && whole->len > 0 && whole->str[whole->len - 1] == '\\') {
            whole->str[whole->len - 1] = ' ';
            continue;
        }
        if (!read_line(reader, whole->str, line, error))
            return FALSE;
        g_string_truncate(whole, 0);
    }
    return TRUE;
}

/* Joins switches to their parents and nodes to their leaves. */
static gboolean
join(Reader *reader, GError **error)
{
    for (guint u = 0; u < reader->units->len; u++) {
        Unit *unit = reader->units->pdata[u];
        for (guint s = 0; s < unit->switches->len; s++) {
            Unit *below = g_hash_table_lookup(reader->unit_of, unit->switches->pdata[s]);
            const char *name = unit->switches->pdata[s];
            if (below == NULL) {
                if (!topology_problem(reader->options, reader->path, unit->line, error, "%s: there is no switch \"%s\"",
                                      unit->name, name))
                    return FALSE;
            } else if (below->parent != INDEX_NONE) {
                const Unit *other = reader->units->pdata[below->parent];
                if (!topology_problem(reader->options, reader->path, unit->line, error,
                                      "%s: \"%s\" is below %s already", unit->name, name, other->name))
                    return FALSE;
            } else {
                below->parent = u;
            }
        }
        for (guint n = 0; n < unit->nodes->len; n++) {
            const Unit *other = g_hash_table_lookup(reader->leaf_of, unit->nodes->pdata[n]);
            if (other == NULL)
                g_hash_table_insert(reader->leaf_of, unit->nodes->pdata[n], unit);
            else if (!topology_problem(reader->options, reader->path, unit->line, error,
                                       "%s: \"%s\" is below %s already", unit->name,
                                       (const char *)unit->nodes->pdata[n], other->name))
                return FALSE;
        }
    }
    return TRUE;
}

/* Heights, from each switch up; a chain longer than there are switches is a circle. */
static gboolean
measure(Reader *reader, GError **error)
{
    for (guint u = 0; u < reader->units->len; u++) {
        const Unit *unit = reader->units->pdata[u];
        uint32_t height = 0;
        for (uint32_t at = unit->parent; at != INDEX_NONE;) {
            Unit *above = reader->units->pdata[at];
            if (++height > reader->units->len)
                return topology_problem(reader->options, reader->path, unit->line, error, "%s is above itself",
                                        unit->name);
            above->height = MAX(above->height, height);
            at = above->parent;
        }
    }
    return TRUE;
}

static uint32_t
add_switch(Reader *reader, const char *name, uint32_t height, GError **error)
{
    Node node = node_default();
    node.name = name;
    node.kind = height == 0 ? NODE_LEAF : height == 1 ? NODE_SPINE : NODE_CORE;
    return fabric_add_node(reader->fabric, &node, error);
}

static gboolean
add_cable(Reader *reader, uint32_t below, uint32_t above, GError **error)
{
    Link link = link_default();
    link.src = below;
    link.dst = above;
    link.kind = LINK_ETHERNET;
    link.capacity_Bps = reader->options->default_rate_Bps;
    link.latency_ps = reader->options->default_latency_ps;
    link.source = "default";
    return fabric_add_cable(reader->fabric, &link, error) != INDEX_NONE;
}

static gboolean
add_hosts(Reader *reader, const Unit *unit, GError **error)
{
    for (guint n = 0; n < unit->nodes->len; n++) {
        Node node = node_default();
        node.name = node.server = unit->nodes->pdata[n];
        node.rack = unit->name;
        node.kind = NODE_HOST;
        uint32_t host = fabric_add_node(reader->fabric, &node, error);
        if (host == INDEX_NONE || !add_cable(reader, host, unit->node, error))
            return FALSE;
    }
    return TRUE;
}

static const char BLOCKS_SWITCH[] = "blocks";

/* Switches first, from the top down as the file has them, then the cables and hosts of each. */
static gboolean
build(Reader *reader, GError **error)
{
    uint32_t joint = INDEX_NONE;
    for (guint u = 0; u < reader->units->len; u++) {
        Unit *unit = reader->units->pdata[u];
        unit->node = add_switch(reader, unit->name, unit->height, error);
        if (unit->node == INDEX_NONE)
            return FALSE;
    }
    if (reader->blocks > 1 && (joint = add_switch(reader, BLOCKS_SWITCH, 1, error)) == INDEX_NONE)
        return FALSE;
    for (guint u = 0; u < reader->units->len; u++) {
        const Unit *unit = reader->units->pdata[u];
        uint32_t above = unit->parent != INDEX_NONE ? ((Unit *)reader->units->pdata[unit->parent])->node : joint;
        if (above != INDEX_NONE && !add_cable(reader, unit->node, above, error))
            return FALSE;
        if (!add_hosts(reader, unit, error))
            return FALSE;
    }
    return fabric_seal(reader->fabric, error);
}

static gboolean
check_options(const Reader *reader, GError **error)
{
    if (reader->options->default_rate_Bps <= 0)
        return error_input(error, "%s: topology.conf says no rate of any link: give one with --default-rate",
                           reader->path);
    if (reader->options->default_latency_ps < 0)
        return error_input(error, "%s: topology.conf says no length of any link: give --default-latency", reader->path);
    return TRUE;
}

static char *
make_notes(const Reader *reader)
{
    GString *notes = g_string_new(NULL);
    if (reader->blocks > 0)
        g_string_append_printf(
            notes, "%u blocks%s%s; each is one switch%s\n", reader->blocks, reader->block_sizes ? ", BlockSizes " : "",
            reader->block_sizes ? reader->block_sizes : "",
            reader->blocks > 1 ? ", and one switch, \"blocks\", which is not in the file, joins them" : "");
    if (reader->speeds > 0)
        g_string_append_printf(notes, "%u LinkSpeed ignored: it has no unit\n", reader->speeds);
    return g_string_free(notes, FALSE);
}

static Fabric *
make_fabric(Reader *reader, char *text, char **notes, GError **error)
{
    guint before = topology_n_problems(reader->options);
    if (!read_lines(reader, text, error) || !join(reader, error) || !measure(reader, error) ||
        !topology_sound(reader->options, before, reader->path, error))
        return NULL;
    if (reader->units->len == 0) {
        error_input(error, "%s: there is no SwitchName and no BlockName", reader->path);
        return NULL;
    }
    if (!check_options(reader, error))
        return NULL;
    g_autoptr(Fabric) fabric = reader->fabric = fabric_new();
    if (!build(reader, error)) {
        g_prefix_error(error, "%s: ", reader->path);
        return NULL;
    }
    if (notes != NULL)
        *notes = make_notes(reader);
    return g_steal_pointer(&fabric);
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    size_t length;
    g_autofree char *text = input_read_all(path, FILE_LIMIT, &length, error);
    if (text == NULL)
        return NULL;
    if (!g_utf8_validate(text, (gssize)length, NULL)) {
        error_input(error, "%s: is no UTF-8 text", path);
        return NULL;
    }
    Reader reader = {.path = path,
                     .options = options,
                     .units = g_ptr_array_new_with_free_func(unit_free),
                     .unit_of = g_hash_table_new(g_str_hash, g_str_equal),
                     .leaf_of = g_hash_table_new(g_str_hash, g_str_equal)};
    Fabric *fabric = make_fabric(&reader, text + input_bom(text, length), notes, error);
    g_hash_table_unref(reader.unit_of);
    g_hash_table_unref(reader.leaf_of);
    g_ptr_array_unref(reader.units);
    g_free(reader.block_sizes);
    return fabric;
}

/* The first line that is no comment begins with one of its keys. */
static gboolean
recognise(const char *head, size_t length)
{
    static const char *const keys[] = {"SwitchName=", "BlockName=", "BlockSizes="};
    const char *at = head + input_bom(head, length);
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#')
            break;
        at += strcspn(at, "\n");
    }
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        if (g_ascii_strncasecmp(at, keys[i], strlen(keys[i])) == 0)
            return TRUE;
    return FALSE;
}

const TopologyFormat topology_slurm = {"slurm", "Slurm's topology.conf: trees and blocks", recognise, read};
