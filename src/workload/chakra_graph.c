/* chakra_graph.c - which node waits for which: ids resolved, circles found and named */
#include "workload/chakra_maker.h"

#include "base/error.h"

static int
by_id(const void *a, const void *b)
{
    const ChakraNode *x = *(const ChakraNode *const *)a, *y = *(const ChakraNode *const *)b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return x < y ? -1 : x > y; /* places in one array: file order */
}

static int
by_index(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

GPtrArray *
chakra_sort_nodes(const ChakraTrace *trace)
{
    GPtrArray *sorted = g_ptr_array_sized_new(trace->nodes->len);
    for (uint32_t i = 0; i < trace->nodes->len; i++)
        g_ptr_array_add(sorted, &g_array_index(trace->nodes, ChakraNode, i));
    g_ptr_array_sort(sorted, by_id);
    return sorted;
}

/* The place of an id among the sorted nodes, INDEX_NONE where it is not there. */
static uint32_t
find_node(const GPtrArray *sorted, uint64_t id)
{
    uint32_t low = 0, high = sorted->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const ChakraNode *node = g_ptr_array_index(sorted, middle);
        if (node->id == id)
            return middle;
        if (node->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return INDEX_NONE;
}

/* A dependency on a node that is not there cannot be waited for. */
static void
drop_dangling(Maker *maker, const ChakraNode *node, uint64_t id)
{
    if (maker->dangling++ > 0)
        return;
    g_autofree char *place = chakra_place(maker->trace, node);
    maker->first_dangling = g_strdup_printf("%s: node %" G_GUINT64_FORMAT " \"%s\" on node %" G_GUINT64_FORMAT, place,
                                            node->id, chakra_node_name(maker->trace, node), id);
}

void
chakra_resolve_deps(Maker *maker, const GPtrArray *sorted, const ChakraNode *node, GArray *deps)
{
    g_array_set_size(deps, 0);
    for (uint32_t d = 0; d < node->n_deps; d++) {
        uint64_t id = g_array_index(maker->trace->deps, uint64_t, node->first_dep + d);
        uint32_t index = find_node(sorted, id);
        if (index == INDEX_NONE)
            drop_dangling(maker, node, id);
        else
            g_array_append_val(deps, index);
    }
    g_array_sort(deps, by_index);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < deps->len; i++) {
        uint32_t dep = g_array_index(deps, uint32_t, i);
        if (kept == 0 || g_array_index(deps, uint32_t, kept - 1) != dep)
            g_array_index(deps, uint32_t, kept++) = dep;
    }
    g_array_set_size(deps, kept);
}

/* Tarjan's search for knots (strongly connected parts), with a stack of its own. */
typedef struct {
    const Program *program;
    uint32_t *order, *low; /* an op's number in the search, from 1, and the least it leads to; order 0 = not yet seen */
    uint32_t *knot;        /* an op's knot, INDEX_NONE while it is open */
    uint32_t *open, n_open;
    uint32_t *path, *next, n_path; /* the ops gone through to here, and which dep of each comes next */
    uint32_t n_seen, n_knots;
} Search;

static void
enter(Search *search, uint32_t op)
{
    search->order[op] = search->low[op] = ++search->n_seen;
    search->open[search->n_open++] = op;
    search->path[search->n_path] = op;
    search->next[search->n_path++] = 0;
}

/* The op at the end of the path is done. */
static void
leave(Search *search)
{
    uint32_t op = search->path[--search->n_path];
    if (search->n_path > 0) {
        uint32_t before = search->path[search->n_path - 1];
        search->low[before] = MIN(search->low[before], search->low[op]);
    }
    if (search->low[op] != search->order[op])
        return;
    uint32_t last;
    do {
        last = search->open[--search->n_open];
        search->knot[last] = search->n_knots;
    } while (last != op);
    search->n_knots++;
}

static void
search_from(Search *search, uint32_t start)
{
    enter(search, start);
    while (search->n_path > 0) {
        uint32_t at = search->path[search->n_path - 1];
        const Op *op = &g_array_index(search->program->ops, Op, at);
        if (search->next[search->n_path - 1] == op->n_deps) {
            leave(search);
            continue;
        }
        uint32_t which = op->first_dep + search->next[search->n_path - 1]++;
        uint32_t dep = g_array_index(search->program->deps, uint32_t, which);
        if (search->order[dep] == 0)
            enter(search, dep);
        else if (search->knot[dep] == INDEX_NONE)
            search->low[at] = MIN(search->low[at], search->order[dep]);
    }
}

/* What an op waits for within its knot; INDEX_NONE where it is alone. */
static uint32_t
next_in_knot(const Search *search, uint32_t at)
{
    const Op *op = &g_array_index(search->program->ops, Op, at);
    for (uint32_t d = 0; d < op->n_deps; d++) {
        uint32_t dep = g_array_index(search->program->deps, uint32_t, op->first_dep + d);
        if (search->knot[dep] == search->knot[at])
            return dep;
    }
    return INDEX_NONE;
}

/* "node 12 \"name\"", the name cut where it is long. */
static void
append_label(GString *text, const Maker *maker, const ChakraNode *node)
{
    enum { SHOWN = 48 };
    const char *name = chakra_node_name(maker->trace, node);
    g_string_append_printf(text, "node %" G_GUINT64_FORMAT " \"", node->id);
    if (g_utf8_strlen(name, -1) <= SHOWN)
        g_string_append_printf(text, "%s\"", name);
    else
        g_string_append_printf(text, "%.*s...\"", (int)(g_utf8_offset_to_pointer(name, SHOWN) - name), name);
}

/* The circle that the op's knot leads into, of n_knot ops. */
static GError *
circle_error(const Search *search, const Maker *maker, const GPtrArray *sorted, uint32_t at, uint32_t n_knot)
{
    enum { SHOWN = 8 };
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    while (g_hash_table_add(seen, GUINT_TO_POINTER(at)))
        at = next_in_knot(search, at);

    g_autoptr(GString) text = g_string_new(NULL);
    uint32_t start = at, length = 0;
    do {
        if (length++ < SHOWN) {
            append_label(text, maker, g_ptr_array_index(sorted, at));
            g_string_append(text, " waits for ");
        }
        at = next_in_knot(search, at);
    } while (at != start);
    if (length > SHOWN)
        g_string_append_printf(text, "%u more, the last for ", length - SHOWN);
    append_label(text, maker, g_ptr_array_index(sorted, start));
    if (n_knot > length)
        g_string_append_printf(text, "; it is one of the circles among %u nodes", n_knot);
    g_autofree char *place = chakra_place(maker->trace, g_ptr_array_index(sorted, start));
    GError *error = NULL;
    error_input(&error, "%s: nodes wait for each other in a circle: %s", place, text->str);
    return error;
}

/* Each knot at its lowest op. FALSE where there was one. */
static gboolean
tell_knots(const Search *search, Maker *maker, const GPtrArray *sorted)
{
    gboolean sound = TRUE;
    g_autofree uint32_t *size = g_new0(uint32_t, search->n_knots + 1);
    g_autofree gboolean *told = g_new0(gboolean, search->n_knots + 1);
    for (uint32_t i = 0; i < sorted->len; i++)
        size[search->knot[i]]++;
    for (uint32_t i = 0; i < sorted->len; i++) {
        uint32_t knot = search->knot[i];
        if (told[knot] || next_in_knot(search, i) == INDEX_NONE)
            continue;
        told[knot] = TRUE;
        sound = FALSE;
        if (!problems_add(&maker->problems, circle_error(search, maker, sorted, i, size[knot])))
            return FALSE;
    }
    return sound;
}

gboolean
chakra_check_circles(Maker *maker, const GPtrArray *sorted)
{
    uint32_t n = maker->program->ops->len;
    g_autofree uint32_t *numbers = g_new0(uint32_t, 6 * (size_t)n + 1);
    Search search = {.program = maker->program,
                     .order = numbers,
                     .low = numbers + n,
                     .knot = numbers + 2 * (size_t)n,
                     .open = numbers + 3 * (size_t)n,
                     .path = numbers + 4 * (size_t)n,
                     .next = numbers + 5 * (size_t)n};
    for (uint32_t i = 0; i < n; i++)
        search.knot[i] = INDEX_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (search.order[i] == 0)
            search_from(&search, i);
    }
    return tell_knots(&search, maker, sorted);
}
