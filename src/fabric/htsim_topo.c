/* htsim_topo.c - htsim's fat trees of two and three tiers, the files *.topo
 *
 * The keys and the wiring are those of fat_tree_topology.cpp in Broadcom/csg-htsim and ultraethernet/uet-htsim. Nodes
 * are called host0, leaf0 (tier 0), spine0 (tier 1), core0 (tier 2), ...; hosts play ranks. Counts that do not come out
 * whole, a tier without speed or latency, and keys that are not known are INPUT errors. A link's source is "file";
 * "default" where its latency holds a Switch_Latency_ns not given. */
#include "fabric/topology_format.h"

#include "base/error.h"
#include "base/field_lines.h"
#include "base/input.h"
#include "base/suggest.h"

#include <string.h>

enum { MOST_TIERS = 3, UNKNOWN_TIER }; /* whose keys are read, but not kept */

/* Beyond these a slip of the pen is likelier than a fabric. */
#define MOST_HOSTS UINT64_C(4194304)
#define MOST_CABLES UINT64_C(50000000)

typedef enum {
    KEY_SPEED,
    KEY_RADIX_DOWN,
    KEY_RADIX_UP,
    KEY_QUEUE_DOWN,
    KEY_QUEUE_UP,
    KEY_OVERSUBSCRIBED,
    KEY_BUNDLE,
    KEY_SWITCH_LATENCY,
    KEY_LINK_LATENCY,
    TIER_KEYS
} TierKey;

/* Bounds keep every product below 2^64: speeds in Gb/s up to 1 Pb/s, latencies in ns up to a second. */
static const struct {
    const char *name;
    uint64_t least, most, preset;
} tier_keys[TIER_KEYS] = {
    [KEY_SPEED] = {"Downlink_speed_Gbps", 1, 1000000, 0},
    [KEY_RADIX_DOWN] = {"Radix_Down", 1, 65536, 0},
    [KEY_RADIX_UP] = {"Radix_Up", 1, 65536, 0},
    [KEY_QUEUE_DOWN] = {"Queue_Down", 1, UINT64_C(1) << 50, 0},
    [KEY_QUEUE_UP] = {"Queue_Up", 1, UINT64_C(1) << 50, 0},
    [KEY_OVERSUBSCRIBED] = {"Oversubscribed", 1, 65536, 1},
    [KEY_BUNDLE] = {"Bundle", 1, 65536, 1},
    [KEY_SWITCH_LATENCY] = {"Switch_Latency_ns", 0, 1000000000, 0},
    [KEY_LINK_LATENCY] = {"Downlink_Latency_ns", 0, 1000000000, 0},
};

static const char *const head_keys[] = {"Nodes", "Tiers", "Podsize"};

typedef struct {
    size_t line; /* of "Tier T"; 0 = not given */
    uint64_t value[TIER_KEYS];
    gboolean given[TIER_KEYS];
} Tier;

typedef struct {
    const TopologyOptions *options;
    FieldLines *lines;
    uint64_t head[G_N_ELEMENTS(head_keys)]; /* hosts, tiers, hosts a pod; 0 = not given */
    Tier tiers[MOST_TIERS];
    uint32_t tier; /* the one whose keys are read; MOST_TIERS = none yet */
    /* worked out */
    uint64_t pods, pod_leaves, pod_spines, cores;
} Reader;

#define HOSTS(reader) ((reader)->head[0])
#define TIERS(reader) ((reader)->head[1])
#define POD_HOSTS(reader) ((reader)->head[2])

/* "PATH: tier T: " and the message. Returns FALSE. */
static gboolean G_GNUC_PRINTF(4, 5)
    fail_tier(const Reader *reader, uint32_t tier, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return error_input(error, "%s:%zu: tier %u: %s", reader->lines->path, reader->tiers[tier].line, tier, message);
}

static gboolean
one_value(const Reader *reader, GError **error)
{
    if (reader->lines->n_fields <= 2)
        return TRUE;
    return field_lines_fail(reader->lines, error, "\"%s\" is followed by %u words, expected one number",
                            reader->lines->fields[0], reader->lines->n_fields - 1);
}

/* Tier T. */
static gboolean
begin_tier(Reader *reader, GError **error)
{
    uint64_t tier;
    if (!field_lines_uint(reader->lines, 1, "Tier", 0, MOST_TIERS - 1, &tier, error)) {
        reader->tier = UNKNOWN_TIER;
        return FALSE;
    }
    reader->tier = reader->tiers[tier].line == 0 ? (uint32_t)tier : UNKNOWN_TIER;
    if (reader->tiers[tier].line != 0)
        return field_lines_fail(reader->lines, error, "tier %" G_GUINT64_FORMAT " was given in line %zu already", tier,
                                reader->tiers[tier].line);
    reader->tiers[tier].line = reader->lines->line;
    return TRUE;
}

static gboolean
read_head(Reader *reader, uint32_t key, GError **error)
{
    static const uint64_t least[] = {1, 2, 1}, most[] = {MOST_HOSTS, MOST_TIERS, MOST_HOSTS};
    if (reader->head[key] != 0)
        return field_lines_fail(reader->lines, error, "%s is given twice", head_keys[key]);
    return field_lines_uint(reader->lines, 1, head_keys[key], least[key], most[key], &reader->head[key], error);
}

static gboolean
read_tier_key(Reader *reader, uint32_t key, GError **error)
{
    if (reader->tier == MOST_TIERS)
        return field_lines_fail(reader->lines, error, "%s stands before the first line \"Tier 0\"",
                                tier_keys[key].name);
    Tier spare = {0}, *tier = reader->tier == UNKNOWN_TIER ? &spare : &reader->tiers[reader->tier];
    if (tier->given[key])
        return field_lines_fail(reader->lines, error, "%s of tier %u is given twice", tier_keys[key].name,
                                reader->tier);
    tier->given[key] = TRUE;
    return field_lines_uint(reader->lines, 1, tier_keys[key].name, tier_keys[key].least, tier_keys[key].most,
                            &tier->value[key], error);
}

static gboolean
unknown_key(const Reader *reader, GError **error)
{
    const char *names[TIER_KEYS + G_N_ELEMENTS(head_keys) + 1], *found = reader->lines->fields[0];
    uint32_t n = 0;
    for (uint32_t i = 0; i < TIER_KEYS; i++)
        names[n++] = tier_keys[i].name;
    for (uint32_t i = 0; i < G_N_ELEMENTS(head_keys); i++)
        names[n++] = head_keys[i];
    names[n++] = "Tier";
    const char *near = suggest_nearest(found, names, n);
    return field_lines_fail(reader->lines, error, "there is no key \"%s\"%s%s%s", found,
                            near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

static gboolean
read_line(Reader *reader, GError **error)
{
    const char *key = reader->lines->fields[0];
    if (!one_value(reader, error))
        return FALSE;
    if (g_ascii_strcasecmp(key, "Tier") == 0)
        return begin_tier(reader, error);
    for (uint32_t i = 0; i < G_N_ELEMENTS(head_keys); i++)
        if (g_ascii_strcasecmp(key, head_keys[i]) == 0)
            return read_head(reader, i, error);
    for (uint32_t i = 0; i < TIER_KEYS; i++)
        if (g_ascii_strcasecmp(key, tier_keys[i].name) == 0)
            return read_tier_key(reader, i, error);
    return unknown_key(reader, error);
}

/* What must be given is; what need not be gets its default. */
static gboolean
check_tier(Reader *reader, uint32_t t, GError **error)
{
    static const char *const needed[] = {
        [KEY_SPEED] = "the speed of the links below the tier, like \"Downlink_speed_Gbps 100\"",
        [KEY_RADIX_DOWN] = "the ports down of a switch, like \"Radix_Down 8\"",
        [KEY_RADIX_UP] = "the ports up of a switch, like \"Radix_Up 8\"",
        [KEY_LINK_LATENCY] = "the propagation of the links below the tier, like \"Downlink_Latency_ns 1000\"",
    };
    Tier *tier = &reader->tiers[t];
    gboolean top = t + 1 == TIERS(reader);
    if (tier->line == 0)
        return error_input(error, "%s: Tiers is %" G_GUINT64_FORMAT ", but there is no line \"Tier %u\"",
                           reader->lines->path, TIERS(reader), t);
    for (uint32_t key = 0; key < TIER_KEYS; key++) {
        gboolean asked = key < G_N_ELEMENTS(needed) && needed[key] != NULL && !(top && key == KEY_RADIX_UP);
        if (!tier->given[key] && asked)
            return fail_tier(reader, t, error, "%s is not given; add %s", tier_keys[key].name, needed[key]);
        if (!tier->given[key])
            tier->value[key] = tier_keys[key].preset;
    }
    if (top && (tier->given[KEY_RADIX_UP] || tier->given[KEY_QUEUE_UP]))
        return fail_tier(reader, t, error, "%s is given, but nothing stands above the top tier",
                         tier_keys[tier->given[KEY_RADIX_UP] ? KEY_RADIX_UP : KEY_QUEUE_UP].name);
    if (t == 0 && tier->value[KEY_BUNDLE] != 1)
        return fail_tier(reader, t, error, "Bundle is %" G_GUINT64_FORMAT "; a host has one link, so it must be 1",
                         tier->value[KEY_BUNDLE]);
    return TRUE;
}

static gboolean
check_tiers(Reader *reader, GError **error)
{
    for (uint32_t i = 0; i < G_N_ELEMENTS(head_keys); i++)
        if (reader->head[i] == 0)
            return error_input(error, "%s: %s is not given", reader->lines->path, head_keys[i]);
    if (TIERS(reader) < MOST_TIERS && reader->tiers[MOST_TIERS - 1].line != 0)
        return fail_tier(reader, MOST_TIERS - 1, error, "Tiers is 2, so that the top tier is 1");
    for (uint32_t t = 0; t < TIERS(reader); t++) {
        GError *wrong = NULL;
        if (!check_tier(reader, t, &wrong) && !topology_go_on(reader->options, wrong, error))
            return FALSE;
    }
    return TRUE;
}

/* All lines; then, where each was good by itself, what the tiers lack. */
static gboolean
read_lines(Reader *reader, GError **error)
{
    guint before = topology_n_problems(reader->options);
    while (field_lines_next(reader->lines)) {
        GError *wrong = NULL;
        if (!read_line(reader, &wrong) && !topology_go_on(reader->options, wrong, error))
            return FALSE;
    }
    return topology_sound(reader->options, before, reader->lines->path, error) && check_tiers(reader, error) &&
           topology_sound(reader->options, before, reader->lines->path, error);
}

/* a / b into *quotient where it comes out whole. what: "leaves of a pod = Podsize / Radix_Down". */
static gboolean
divide(const Reader *reader, uint32_t tier, const char *what, uint64_t a, uint64_t b, uint64_t *quotient,
       GError **error)
{
    if (a == 0 || a % b != 0)
        return fail_tier(reader, tier, error,
                         "%s = %" G_GUINT64_FORMAT " / %" G_GUINT64_FORMAT ", which is no whole number", what, a, b);
    *quotient = a / b;
    return TRUE;
}

static gboolean
expect(const Reader *reader, uint32_t tier, const char *what, uint64_t found, uint64_t expected, GError **error)
{
    if (found == expected)
        return TRUE;
    return fail_tier(reader, tier, error, "%s is %" G_GUINT64_FORMAT ", but the other figures give %" G_GUINT64_FORMAT,
                     what, found, expected);
}

/* Leaves and spines: the uplinks of all leaves are the ports down of all spines. */
static gboolean
work_out_pods(Reader *reader, uint64_t *uplinks, GError **error)
{
    const Tier *leaf = &reader->tiers[0], *spine = &reader->tiers[1];
    const char *path = reader->lines->path;
    if (HOSTS(reader) % POD_HOSTS(reader) != 0)
        return error_input(error, "%s: Podsize %" G_GUINT64_FORMAT " does not divide Nodes %" G_GUINT64_FORMAT, path,
                           POD_HOSTS(reader), HOSTS(reader));
    reader->pods = HOSTS(reader) / POD_HOSTS(reader);
    if (TIERS(reader) == 2 && reader->pods != 1)
        return error_input(
            error, "%s: Podsize is %" G_GUINT64_FORMAT ", expected Nodes, %" G_GUINT64_FORMAT ": two tiers are one pod",
            path, POD_HOSTS(reader), HOSTS(reader));
    uint64_t all_spines = 0;
    if (!divide(reader, 0, "switches of a pod = Podsize / Radix_Down", POD_HOSTS(reader), leaf->value[KEY_RADIX_DOWN],
                &reader->pod_leaves, error) ||
        !divide(reader, 0, "uplinks = Nodes x speed / (speed above x Oversubscribed)",
                HOSTS(reader) * leaf->value[KEY_SPEED], spine->value[KEY_SPEED] * leaf->value[KEY_OVERSUBSCRIBED],
                uplinks, error) ||
        !divide(reader, 1, "switches = uplinks below / Radix_Down", *uplinks, spine->value[KEY_RADIX_DOWN], &all_spines,
                error) ||
        !divide(reader, 1, "switches of a pod = switches / pods", all_spines, reader->pods, &reader->pod_spines, error))
        return FALSE;
    return expect(reader, 0, "Radix_Up", leaf->value[KEY_RADIX_UP], reader->pod_spines * spine->value[KEY_BUNDLE],
                  error) &&
           expect(reader, 1, "Radix_Down", spine->value[KEY_RADIX_DOWN], reader->pod_leaves * spine->value[KEY_BUNDLE],
                  error);
}

static gboolean
work_out_cores(Reader *reader, uint64_t leaf_uplinks, GError **error)
{
    const Tier *spine = &reader->tiers[1], *core = &reader->tiers[2];
    uint64_t uplinks = 0, cores_of_spine = 0;
    if (!divide(reader, 1, "uplinks = uplinks below x speed / (speed above x Oversubscribed)",
                leaf_uplinks * spine->value[KEY_SPEED], core->value[KEY_SPEED] * spine->value[KEY_OVERSUBSCRIBED],
                &uplinks, error) ||
        !divide(reader, 2, "switches = uplinks below / Radix_Down", uplinks, core->value[KEY_RADIX_DOWN],
                &reader->cores, error) ||
        !divide(reader, 2, "switches above one of tier 1 = switches / switches of tier 1 in a pod", reader->cores,
                reader->pod_spines, &cores_of_spine, error))
        return FALSE;
    return expect(reader, 1, "Radix_Up", spine->value[KEY_RADIX_UP], cores_of_spine * core->value[KEY_BUNDLE], error) &&
           expect(reader, 2, "Radix_Down", core->value[KEY_RADIX_DOWN], reader->pods * core->value[KEY_BUNDLE], error);
}

static gboolean
check_size(const Reader *reader, GError **error)
{
    uint64_t cables = HOSTS(reader);
    cables += reader->pods * reader->pod_leaves * reader->tiers[0].value[KEY_RADIX_UP];
    if (TIERS(reader) == 3)
        cables += reader->pods * reader->pod_spines * reader->tiers[1].value[KEY_RADIX_UP];
    if (cables <= MOST_CABLES)
        return TRUE;
    return error_input(
        error, "%s: the tree has %" G_GUINT64_FORMAT " cables, over the %" G_GUINT64_FORMAT " this program takes on",
        reader->lines->path, cables, MOST_CABLES);
}

/* Node number `index` of this kind. pod, leaf: INDEX_NONE = in none. */
static uint32_t
add_node(Fabric *fabric, NodeKind kind, uint64_t index, uint64_t pod, uint64_t leaf)
{
    char name[32], zone[32], rack[32];
    g_snprintf(name, sizeof name, "%s%" G_GUINT64_FORMAT, node_kind_name(kind), index);
    g_snprintf(zone, sizeof zone, "pod%" G_GUINT64_FORMAT, pod);
    g_snprintf(rack, sizeof rack, "rack%" G_GUINT64_FORMAT, leaf);
    Node node = node_default();
    node.name = name;
    node.kind = kind;
    node.zone = pod != INDEX_NONE ? zone : "";
    node.rack = leaf != INDEX_NONE ? rack : "";
    return fabric_add_node(fabric, &node, NULL);
}

/* The cables of a bundle below tier t, up then down. A switch's latency is that of the links out of it. */
static void
add_cables(const Reader *reader, Fabric *fabric, uint32_t t, uint32_t below, uint32_t above)
{
    const Tier *tier = &reader->tiers[t], *under = t > 0 ? &reader->tiers[t - 1] : NULL;
    Link up = link_default();
    up.src = below;
    up.dst = above;
    up.kind = LINK_ETHERNET;
    up.capacity_Bps = (double)tier->value[KEY_SPEED] * 125e6;
    up.latency_ps = (SimTime)tier->value[KEY_LINK_LATENCY] * PS_PER_NS;
    up.source = "file";
    Link down = up;
    down.src = above;
    down.dst = below;
    down.latency_ps += (SimTime)tier->value[KEY_SWITCH_LATENCY] * PS_PER_NS;
    down.buffer_B = tier->value[KEY_QUEUE_DOWN];
    down.source = tier->given[KEY_SWITCH_LATENCY] ? "file" : "default";
    if (under != NULL) {
        up.latency_ps += (SimTime)under->value[KEY_SWITCH_LATENCY] * PS_PER_NS;
        up.buffer_B = under->value[KEY_QUEUE_UP];
        up.source = under->given[KEY_SWITCH_LATENCY] ? "file" : "default";
    }
    for (uint64_t i = 0; i < tier->value[KEY_BUNDLE]; i++) {
        fabric_add_link(fabric, &up, NULL);
        fabric_add_link(fabric, &down, NULL);
    }
}

/* Host h hangs on leaf h / Radix_Down; every leaf on every spine of its pod; spine a of a pod on the cores a, a + A,
 * a + 2 A, ... of A spines a pod. */
static Fabric *
build(const Reader *reader, GError **error)
{
    g_autoptr(Fabric) fabric = fabric_new();
    uint64_t radix = reader->tiers[0].value[KEY_RADIX_DOWN], hosts = HOSTS(reader);
    uint64_t leaves = reader->pods * reader->pod_leaves, spines = reader->pods * reader->pod_spines;
    gboolean in_pods = TIERS(reader) == 3;
    for (uint64_t i = 0; i < hosts; i++)
        add_node(fabric, NODE_HOST, i, in_pods ? i / POD_HOSTS(reader) : INDEX_NONE, i / radix);
    for (uint64_t i = 0; i < leaves; i++)
        add_node(fabric, NODE_LEAF, i, in_pods ? i / reader->pod_leaves : INDEX_NONE, i);
    for (uint64_t i = 0; i < spines; i++)
        add_node(fabric, NODE_SPINE, i, in_pods ? i / reader->pod_spines : INDEX_NONE, INDEX_NONE);
    for (uint64_t i = 0; i < reader->cores; i++)
        add_node(fabric, NODE_CORE, i, INDEX_NONE, INDEX_NONE);

    uint32_t leaf = (uint32_t)hosts, spine = leaf + (uint32_t)leaves, core = spine + (uint32_t)spines;
    for (uint32_t i = 0; i < hosts; i++)
        add_cables(reader, fabric, 0, i, leaf + i / (uint32_t)radix);
    for (uint32_t i = 0; i < leaves; i++)
        for (uint32_t k = 0; k < reader->pod_spines; k++)
            add_cables(reader, fabric, 1, leaf + i,
                       spine + i / (uint32_t)reader->pod_leaves * (uint32_t)reader->pod_spines + k);
    for (uint32_t i = 0; i < spines; i++)
        for (uint32_t k = i % (uint32_t)reader->pod_spines; k < reader->cores; k += (uint32_t)reader->pod_spines)
            add_cables(reader, fabric, 2, spine + i, core + k);
    return fabric_seal(fabric, error) ? g_steal_pointer(&fabric) : NULL;
}

static char *
make_notes(const Reader *reader)
{
    g_autoptr(GString) notes = g_string_new(NULL);
    for (uint32_t t = 0; t < TIERS(reader); t++)
        if (!reader->tiers[t].given[KEY_SWITCH_LATENCY])
            g_string_append_printf(notes, "tier %u: Switch_Latency_ns is not given; 0 is taken\n", t);
    return g_strdup(notes->str);
}

static Fabric *
read(const char *path, const TopologyOptions *options, char **notes, GError **error)
{
    g_autoptr(FieldLines) lines = field_lines_read(path, error);
    if (lines == NULL)
        return NULL;
    Reader reader = {.options = options, .lines = lines, .tier = MOST_TIERS};
    uint64_t uplinks = 0;
    if (!read_lines(&reader, error) || !work_out_pods(&reader, &uplinks, error) ||
        (TIERS(&reader) == 3 && !work_out_cores(&reader, uplinks, error)) || !check_size(&reader, error))
        return NULL;
    Fabric *fabric = build(&reader, error);
    if (fabric != NULL && notes != NULL)
        *notes = make_notes(&reader);
    return fabric;
}

/* Does a line of text begin with this word? */
static gboolean
line_begins(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += strspn(at, "\n \t\r");
        if (g_ascii_strncasecmp(at, word, length) == 0 && (at[length] == ' ' || at[length] == '\t'))
            return TRUE;
        if (*at == '\0')
            return FALSE;
    }
    return FALSE;
}

/* Its first key is one of a .topo file, and it is no connection matrix. */
static gboolean
recognise(const char *head, size_t length)
{
    const char *at = head + input_bom(head, length);
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#')
            break;
        at += strcspn(at, "\n");
    }
    size_t word = strcspn(at, " \t\r\n");
    gboolean known = word == 4 && g_ascii_strncasecmp(at, "Tier", 4) == 0;
    for (uint32_t i = 0; i < G_N_ELEMENTS(head_keys); i++)
        known = known || (word == strlen(head_keys[i]) && g_ascii_strncasecmp(at, head_keys[i], word) == 0);
    return known && !line_begins(at, "Connections");
}

const TopologyFormat topology_htsim = {"htsim", "htsim fat trees of two or three tiers (.topo)", recognise, read};
