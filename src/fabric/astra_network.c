#include "fabric/astra_network.h"

#include "base/error.h"
#include "base/yaml_tree.h"
#include "fabric/fabric.h"

#include <math.h>
#include <string.h>

static const char *const shapes[] = {"Ring", "Switch", "FullyConnected"};
static const char *const keys[] = {"topology", "npus_count", "bandwidth", "latency", NULL};

typedef struct {
    YamlTree *tree;
    GPtrArray *problems; /* NULL = stop at the first */
    guint found;
    GError **error;
} Reader;

/* TRUE where reading goes on: the problem was put on the list. */
static gboolean problem(Reader *reader, const YamlNode *node, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean
problem(Reader *reader, const YamlNode *node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autoptr(GError) wrong = NULL;
    yaml_fail(reader->tree, node, &wrong, "%s", text);
    reader->found++;
    if (reader->problems == NULL) {
        g_propagate_error(reader->error, g_steal_pointer(&wrong));
        return FALSE;
    }
    g_ptr_array_add(reader->problems, g_strdup(wrong->message));
    return TRUE;
}

/* A number in [least, most], or above least where that is open. */
static gboolean
number(const YamlNode *node, double least, gboolean open, double most, double *value)
{
    if (node->kind != YAML_SCALAR || node->quoted || node->text[strspn(node->text, "+-.0123456789eE")] != '\0')
        return FALSE;
    char *end;
    *value = g_ascii_strtod(node->text, &end);
    return end != node->text && *end == '\0' && isfinite(*value) && *value <= most &&
           (open ? *value > least : *value >= least);
}

static gboolean
read_value(Reader *reader, uint32_t key, const YamlNode *node, AstraDimension *dimension)
{
    g_autofree char *found = yaml_describe(node);
    double value;
    switch (key) {
    case 0:
        for (uint32_t s = 0; s < G_N_ELEMENTS(shapes); s++)
            if (node->kind == YAML_SCALAR && strcmp(node->text, shapes[s]) == 0) {
                dimension->shape = (AstraShape)s;
                return TRUE;
            }
        return problem(reader, node, "found %s, expected Ring, Switch or FullyConnected", found);
    case 1:
        if (!number(node, 2, FALSE, ASTRA_MOST_NPUS, &value) || value != floor(value))
            return problem(reader, node, "found %s, expected a whole number from 2 to %d", found, ASTRA_MOST_NPUS);
        dimension->npus = (uint32_t)value;
        return TRUE;
    case 2:
        if (!number(node, 0, TRUE, LINK_MAX_Bps / 0x1p30, &dimension->bandwidth_GiBps))
            return problem(reader, node, "found %s, expected GB/s (of 2^30 bytes) above 0, at most %.0f", found,
                           LINK_MAX_Bps / 0x1p30);
        return TRUE;
    default:
        if (!number(node, 0, FALSE, 1e12, &dimension->latency_ns))
            return problem(reader, node, "found %s, expected ns from 0 to 1e12", found);
        return TRUE;
    }
}

/* The four lists into the dimensions, as many as topology has. */
static gboolean
read_lists(Reader *reader, GArray *dimensions)
{
    const YamlNode *root = reader->tree->root, *first = yaml_get(root, keys[0]);
    for (uint32_t key = 0; keys[key] != NULL; key++) {
        const YamlNode *list = yaml_get(root, keys[key]);
        if (list == NULL) {
            if (!problem(reader, root, "%s is missing", keys[key]))
                return FALSE;
            continue;
        }
        guint n = list->kind == YAML_LIST ? list->values->len : 0;
        if (n == 0 || n > ASTRA_MOST_DIMENSIONS) {
            g_autofree char *found = yaml_describe(list);
            if (!problem(reader, list, "found %s, expected a list of 1 to %d values", found, ASTRA_MOST_DIMENSIONS))
                return FALSE;
            continue;
        }
        if (key == 0)
            g_array_set_size(dimensions, n);
        else if (first != NULL && first->kind == YAML_LIST && n != dimensions->len &&
                 !problem(reader, list, "has %u values, but topology has %u", n, dimensions->len))
            return FALSE;
        for (guint i = 0; i < n; i++) {
            AstraDimension spare = {0};
            AstraDimension *at = i < dimensions->len ? &g_array_index(dimensions, AstraDimension, i) : &spare;
            if (!read_value(reader, key, list->values->pdata[i], at))
                return FALSE;
        }
    }
    return TRUE;
}

static gboolean
read_tree(Reader *reader, AstraNetwork *network)
{
    const YamlNode *root = reader->tree->root;
    if (root->kind != YAML_MAP)
        return problem(reader, root, "expected a map with topology, npus_count, bandwidth and latency");
    g_autoptr(GError) wrong = NULL;
    if (!yaml_only(reader->tree, root, keys, &wrong)) {
        reader->found++;
        if (reader->problems == NULL) {
            g_propagate_error(reader->error, g_steal_pointer(&wrong));
            return FALSE;
        }
        g_ptr_array_add(reader->problems, g_strdup(wrong->message));
    }
    if (!read_lists(reader, network->dimensions) || reader->found > 0)
        return reader->found == 0;
    uint64_t product = 1;
    for (guint i = 0; i < network->dimensions->len; i++) {
        product *= astra_network_dimension(network, i)->npus;
        if (product > ASTRA_MOST_NPUS)
            return problem(reader, yaml_get(root, keys[1]), "the product is above %d", ASTRA_MOST_NPUS);
    }
    network->n_npus = (uint32_t)product;
    return TRUE;
}

AstraNetwork *
astra_network_read(const char *path, GPtrArray *problems, GError **error)
{
    g_autoptr(YamlTree) tree = yaml_tree_read(path, error);
    if (tree == NULL)
        return NULL;
    g_autoptr(AstraNetwork) network = g_new0(AstraNetwork, 1);
    network->dimensions = g_array_new(FALSE, TRUE, sizeof(AstraDimension));
    Reader reader = {.tree = tree, .problems = problems, .error = error};
    if (!read_tree(&reader, network) && problems == NULL)
        return NULL;
    if (reader.found > 0) {
        error_input(error, "%s: %u problems", path, reader.found);
        return NULL;
    }
    return g_steal_pointer(&network);
}

void
astra_network_free(AstraNetwork *network)
{
    if (network == NULL)
        return;
    g_array_unref(network->dimensions);
    g_free(network);
}

const AstraDimension *
astra_network_dimension(const AstraNetwork *network, uint32_t dimension)
{
    return &g_array_index(network->dimensions, AstraDimension, dimension);
}
