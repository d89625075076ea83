/* graphml_columns.c - the attributes, read from text and written as text */
#include "fabric/graphml_columns.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#define NODE(member) G_STRUCT_OFFSET(Node, member)
#define LINK(member) G_STRUCT_OFFSET(Link, member)
#define GRAPH(member) G_STRUCT_OFFSET(GraphAttributes, member)

static const Column graph_columns[] = {
    {"name", COLUMN_TEXT, GRAPH(name), FALSE, FALSE},
    {"forward", COLUMN_FORWARD, GRAPH(forward), FALSE, TRUE},
};

static const Column node_columns[] = {
    {"name", COLUMN_TEXT, NODE(name), FALSE, TRUE},
    {"kind", COLUMN_NODE_KIND, NODE(kind), TRUE, TRUE},
    {"building", COLUMN_TEXT, NODE(building), FALSE, FALSE},
    {"region", COLUMN_TEXT, NODE(region), FALSE, FALSE},
    {"zone", COLUMN_TEXT, NODE(zone), FALSE, FALSE},
    {"rack", COLUMN_TEXT, NODE(rack), FALSE, FALSE},
    {"server", COLUMN_TEXT, NODE(server), FALSE, FALSE},
    {"rail", COLUMN_RAIL, NODE(rail), FALSE, FALSE},
    {"gpu", COLUMN_TEXT, NODE(gpu), FALSE, FALSE},
    {"peak_FLOPps", COLUMN_DOUBLE, NODE(peak_FLOPps), FALSE, FALSE},
    {"memory_B", COLUMN_U64, NODE(memory_B), FALSE, FALSE},
    {"memory_bandwidth_Bps", COLUMN_DOUBLE, NODE(memory_bandwidth_Bps), FALSE, FALSE},
};

static const Column edge_columns[] = {
    {"kind", COLUMN_LINK_KIND, LINK(kind), TRUE, TRUE},
    {"capacity_Bps", COLUMN_DOUBLE, LINK(capacity_Bps), TRUE, TRUE},
    {"latency_ps", COLUMN_TIME, LINK(latency_ps), FALSE, TRUE},
    {"length_km", COLUMN_DOUBLE, LINK(length_km), FALSE, FALSE},
    {"buffer_B", COLUMN_U64, LINK(buffer_B), FALSE, FALSE},
    {"loss", COLUMN_DOUBLE, LINK(loss), FALSE, FALSE},
    {"ecn_kmin_B", COLUMN_U64, LINK(ecn_kmin_B), FALSE, FALSE},
    {"ecn_kmax_B", COLUMN_U64, LINK(ecn_kmax_B), FALSE, FALSE},
    {"ecn_pmax", COLUMN_DOUBLE, LINK(ecn_pmax), FALSE, FALSE},
    {"source", COLUMN_TEXT, LINK(source), FALSE, TRUE},
};

static const struct {
    const char *name;
    const Column *columns;
    uint32_t n;
} scopes[SCOPES] = {
    {"graph", graph_columns, G_N_ELEMENTS(graph_columns)},
    {"node", node_columns, G_N_ELEMENTS(node_columns)},
    {"edge", edge_columns, G_N_ELEMENTS(edge_columns)},
};

const Column *
graphml_columns(Scope scope, uint32_t *n_columns)
{
    *n_columns = scopes[scope].n;
    return scopes[scope].columns;
}

const char *
graphml_scope_name(Scope scope)
{
    return scopes[scope].name;
}

const Column *
graphml_column(Scope scope, const char *name)
{
    for (uint32_t i = 0; i < scopes[scope].n; i++)
        if (strcmp(scopes[scope].columns[i].name, name) == 0)
            return &scopes[scope].columns[i];
    return NULL;
}

static gboolean
is_number(const Column *column)
{
    return column->type == COLUMN_DOUBLE || column->type == COLUMN_U64 || column->type == COLUMN_TIME ||
           column->type == COLUMN_RAIL;
}

const char *
column_type_name(const Column *column)
{
    if (!is_number(column))
        return "string";
    return column->type == COLUMN_DOUBLE ? "double" : column->type == COLUMN_RAIL ? "int" : "long";
}

gboolean
column_takes(const Column *column, const char *attr_type)
{
    static const char *const numbers[] = {"int", "long", "float", "double", NULL};
    return !is_number(column) || g_strv_contains(numbers, attr_type);
}

/* A decimal number as XML has it: no blanks, no hexadecimal, no names. 0 or more and finite. */
static gboolean
parse_double(const char *text, double *value)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0')
        return FALSE;
    char *end;
    double number = g_ascii_strtod(text, &end);
    if (*end != '\0' || !isfinite(number) || number < 0)
        return FALSE;
    *value = number;
    return TRUE;
}

/* A whole number up to most: digits, or a double that is whole and exact ("1e9", "8.0"). */
static gboolean
parse_whole(const char *text, uint64_t most, uint64_t *value)
{
    uint64_t number;
    if (text[0] != '\0' && text[strspn(text, "0123456789")] == '\0') {
        errno = 0;
        number = g_ascii_strtoull(text, NULL, 10);
        if (errno != 0)
            return FALSE;
    } else {
        double exact;
        if (!parse_double(text, &exact) || exact > 0x1p53 || exact != floor(exact))
            return FALSE;
        number = (uint64_t)exact;
    }
    if (number > most)
        return FALSE;
    *value = number;
    return TRUE;
}

/* "gpu, nvswitch, ... or host". */
static char *
kinds(int n, const char *(*name)(int kind))
{
    GString *list = g_string_new(NULL);
    for (int i = 0; i < n; i++)
        g_string_append_printf(list, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", name(i));
    return g_string_free(list, FALSE);
}

static const char *
node_kind(int kind)
{
    return node_kind_name((NodeKind)kind);
}

static const char *
link_kind(int kind)
{
    return link_kind_name((LinkKind)kind);
}

static const char *
forward(int mode)
{
    return forward_name((ForwardMode)mode);
}

static char *
expectation(const Column *column)
{
    switch (column->type) {
    case COLUMN_NODE_KIND:
        return kinds(NODE_KINDS, node_kind);
    case COLUMN_LINK_KIND:
        return kinds(LINK_KINDS, link_kind);
    case COLUMN_FORWARD:
        return kinds(FORWARD_MESH + 1, forward);
    case COLUMN_DOUBLE:
        return g_strdup("a finite number, 0 or more");
    case COLUMN_U64:
        return g_strdup_printf("a whole number, 0 to %" G_GUINT64_FORMAT, UINT64_MAX);
    case COLUMN_TIME:
        return g_strdup_printf("a whole number of picoseconds, 0 to %" G_GINT64_FORMAT, SIM_TIME_MAX);
    case COLUMN_RAIL:
        return g_strdup_printf("a whole number, 0 to %d", INT32_MAX);
    case COLUMN_TEXT:
        break;
    }
    return g_strdup("text");
}

gboolean
column_parse(const Column *column, void *row, const char *text, GStringChunk *chunk, char **expected)
{
    g_autofree char *trimmed = g_strstrip(g_strdup(text));
    void *member = (char *)row + column->offset;
    uint64_t whole;
    gboolean taken = FALSE;
    switch (column->type) {
    case COLUMN_TEXT:
        *(const char **)member = g_string_chunk_insert_const(chunk, text);
        taken = TRUE;
        break;
    case COLUMN_DOUBLE:
        taken = parse_double(trimmed, member);
        break;
    case COLUMN_U64:
        taken = parse_whole(trimmed, UINT64_MAX, member);
        break;
    case COLUMN_TIME:
        taken = parse_whole(trimmed, SIM_TIME_MAX, &whole);
        if (taken)
            *(SimTime *)member = (SimTime)whole;
        break;
    case COLUMN_RAIL:
        taken = parse_whole(trimmed, INT32_MAX, &whole);
        if (taken)
            *(int32_t *)member = (int32_t)whole;
        break;
    case COLUMN_NODE_KIND:
        taken = node_kind_parse(trimmed, member);
        break;
    case COLUMN_LINK_KIND:
        taken = link_kind_parse(trimmed, member);
        break;
    case COLUMN_FORWARD:
        taken = forward_parse(trimmed, member);
        break;
    }
    if (!taken)
        *expected = expectation(column);
    return taken;
}

gboolean
column_equal(const Column *column, const void *row, const void *other)
{
    const void *a = (const char *)row + column->offset, *b = (const char *)other + column->offset;
    switch (column->type) {
    case COLUMN_TEXT:
        return strcmp(*(const char *const *)a, *(const char *const *)b) == 0;
    case COLUMN_DOUBLE: {
        double x = *(const double *)a, y = *(const double *)b;
        return x == y || (isnan(x) && isnan(y));
    }
    case COLUMN_U64:
    case COLUMN_TIME:
        return *(const uint64_t *)a == *(const uint64_t *)b;
    default: /* the enumerations and the rail */
        return *(const int32_t *)a == *(const int32_t *)b;
    }
}

gboolean
column_format(const Column *column, const void *row, GString *text)
{
    const void *member = (const char *)row + column->offset;
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_truncate(text, 0);
    switch (column->type) {
    case COLUMN_TEXT:
        g_string_append(text, *(const char *const *)member);
        return TRUE;
    case COLUMN_DOUBLE:
        g_string_append(text, g_ascii_formatd(digits, sizeof digits, "%.17g", *(const double *)member));
        return !isnan(*(const double *)member);
    case COLUMN_U64:
        g_string_append_printf(text, "%" G_GUINT64_FORMAT, *(const uint64_t *)member);
        return TRUE;
    case COLUMN_TIME:
        g_string_append_printf(text, "%" G_GINT64_FORMAT, *(const SimTime *)member);
        return TRUE;
    case COLUMN_RAIL:
        g_string_append_printf(text, "%d", *(const int32_t *)member);
        return *(const int32_t *)member >= 0;
    case COLUMN_NODE_KIND:
        g_string_append(text, node_kind_name(*(const NodeKind *)member));
        return TRUE;
    case COLUMN_LINK_KIND:
        g_string_append(text, link_kind_name(*(const LinkKind *)member));
        return TRUE;
    case COLUMN_FORWARD:
        g_string_append(text, forward_name(*(const ForwardMode *)member));
        return TRUE;
    }
    return FALSE;
}
