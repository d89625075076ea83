#include "network/flow_classes.h"

#include "base/index.h"

#include <assert.h>
#include <string.h>

/* Shares are summed in units of 2^-90: exact for every double from 2^-38 to 1, and for 2^37 of them. */
typedef __int128 ShareSum;
#define SHARE_UNIT 0x1p90

#define ODD UINT64_C(0xbf58476d1ce4e5b9)

static uint64_t
mix(uint64_t value)
{
    value = (value ^ value >> 32) * UINT64_C(0xd6e8feb86659fd93);
    value = (value ^ value >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return value ^ value >> 32;
}

static uint64_t
bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Different colours of a column, numbered as first met: an open table, at most half full. */
typedef struct {
    uint64_t *keys;    /* by slot */
    uint32_t *numbers; /* INDEX_NONE = empty */
    uint32_t size, n, most;
} Palette;

static void
palette_resize(Palette *palette, uint32_t size)
{
    palette->size = size;
    palette->keys = g_new(uint64_t, size);
    palette->numbers = g_new(uint32_t, size);
    memset(palette->numbers, 0xff, size * sizeof *palette->numbers);
}

static void
palette_end(Palette *palette)
{
    g_free(palette->keys);
    g_free(palette->numbers);
}

static uint32_t
slot_of(const Palette *palette, uint64_t key)
{
    uint32_t slot = (uint32_t)key & (palette->size - 1);
    while (palette->numbers[slot] != INDEX_NONE && palette->keys[slot] != key)
        slot = (slot + 1) & (palette->size - 1);
    return slot;
}

static void
palette_grow(Palette *palette)
{
    Palette old = *palette;
    palette_resize(palette, 2 * old.size);
    for (uint32_t i = 0; i < old.size; i++) {
        if (old.numbers[i] == INDEX_NONE)
            continue;
        uint32_t slot = slot_of(palette, old.keys[i]);
        palette->keys[slot] = old.keys[i];
        palette->numbers[slot] = old.numbers[i];
    }
    palette_end(&old);
}

/* INDEX_NONE: one too many. */
static uint32_t
palette_number(Palette *palette, uint64_t key)
{
    uint32_t slot = slot_of(palette, key);
    if (palette->numbers[slot] != INDEX_NONE)
        return palette->numbers[slot];
    if (palette->n == palette->most)
        return INDEX_NONE;
    palette->keys[slot] = key;
    uint32_t number = palette->numbers[slot] = palette->n++;
    if (2 * palette->n > palette->size)
        palette_grow(palette);
    return number;
}

/* How many colours a column has; more than most: most + 1. numbers: NULL, or what each gets. */
static uint32_t
count_colors(const uint64_t *colors, uint32_t n, uint32_t most, uint32_t *numbers)
{
    Palette palette = {.most = most};
    palette_resize(&palette, 64);
    uint32_t count = 0;
    for (uint32_t i = 0, last = INDEX_NONE; i < n; i++) {
        if (i == 0 || colors[i] != colors[i - 1])
            last = palette_number(&palette, colors[i]);
        if (last == INDEX_NONE) {
            count = most + 1;
            break;
        }
        if (numbers != NULL)
            numbers[i] = last;
    }
    count = MAX(count, palette.n);
    palette_end(&palette);
    return count;
}

typedef struct {
    const FlowGraph *graph;
    uint64_t *flows, *links; /* their colours */
    uint64_t *sums;          /* by link: scratch */
} Refinement;

static void
first_colors(Refinement *refinement)
{
    const FlowGraph *graph = refinement->graph;
    for (uint32_t f = 0; f < graph->n_flows; f++) {
        const FlowColor *color = &graph->colors[f];
        if (f > 0 && memcmp(color, color - 1, sizeof *color) == 0)
            refinement->flows[f] = refinement->flows[f - 1];
        else
            refinement->flows[f] = mix(mix(mix(bits_of(color->weight)) ^ bits_of(color->cap_Bps)) + color->bytes);
    }
    for (uint32_t l = 0; l < graph->n_links; l++)
        refinement->links[l] = mix(bits_of(graph->capacity[l]));
}

/* A link's colour takes in the colours of its flows. */
static void
color_links(Refinement *refinement)
{
    const FlowGraph *graph = refinement->graph;
    uint64_t *sums = refinement->sums;
    memset(sums, 0, graph->n_links * sizeof *sums);
    for (uint32_t f = 0; f < graph->n_flows; f++) {
        uint64_t color = refinement->flows[f];
        for (uint32_t u = graph->first[f]; u < graph->first[f + 1]; u++)
            sums[graph->links[u]] += graph->shares == NULL ? color : mix(color ^ bits_of(graph->shares[u]));
    }
    for (uint32_t l = 0; l < graph->n_links; l++)
        refinement->links[l] = mix(refinement->links[l] * ODD + sums[l]);
}

/* ... and a flow's those of its links. */
static void
color_flows(Refinement *refinement)
{
    const FlowGraph *graph = refinement->graph;
    for (uint32_t f = 0; f < graph->n_flows; f++) {
        uint64_t sum = 0;
        for (uint32_t u = graph->first[f]; u < graph->first[f + 1]; u++) {
            uint64_t color = refinement->links[graph->links[u]];
            sum += graph->shares == NULL ? color : mix(color ^ bits_of(graph->shares[u]));
        }
        refinement->flows[f] = mix(refinement->flows[f] * ODD + sum);
    }
}

/* Until a pass splits nothing: the next would see what the one before it saw. FALSE: more than `most` colours of flows.
 */
static gboolean
refine(Refinement *refinement, uint32_t most)
{
    const FlowGraph *graph = refinement->graph;
    first_colors(refinement);
    uint32_t n_flows = count_colors(refinement->flows, graph->n_flows, most, NULL), n_links = 0, n;
    while (n_flows <= most) {
        color_links(refinement);
        n = count_colors(refinement->links, graph->n_links, graph->n_links, NULL);
        if (n == n_links)
            return TRUE;
        n_links = n;
        color_flows(refinement);
        n = count_colors(refinement->flows, graph->n_flows, most, NULL);
        if (n == n_flows)
            return TRUE;
        n_flows = n;
    }
    return FALSE;
}

static int
compare_uses(const void *a, const void *b)
{
    const ClassUse *x = a, *y = b;
    if (x->link_class != y->link_class)
        return x->link_class < y->link_class ? -1 : 1;
    return (x->coefficient > y->coefficient) - (x->coefficient < y->coefficient);
}

static ClassUse *
sorted_uses(const FlowGraph *graph, const FlowClasses *classes, uint32_t flow)
{
    uint32_t first = graph->first[flow], n = graph->first[flow + 1] - first;
    ClassUse *uses = g_new0(ClassUse, MAX(1, n));
    for (uint32_t i = 0; i < n; i++) {
        uses[i].link_class = classes->link_class_of[graph->links[first + i]];
        uses[i].coefficient = graph->shares != NULL ? graph->shares[first + i] : 1;
    }
    qsort(uses, n, sizeof *uses, compare_uses);
    return uses;
}

/* The same shares on links of the same classes; most often hop by hop. */
static gboolean
same_ways(const FlowGraph *graph, const FlowClasses *classes, uint32_t a, uint32_t b)
{
    uint32_t x = graph->first[a], y = graph->first[b], n = graph->first[a + 1] - x;
    if (graph->first[b + 1] - y != n)
        return FALSE;
    uint32_t i = 0;
    while (i < n && classes->link_class_of[graph->links[x + i]] == classes->link_class_of[graph->links[y + i]] &&
           (graph->shares == NULL || graph->shares[x + i] == graph->shares[y + i]))
        i++;
    if (i == n)
        return TRUE;
    g_autofree ClassUse *one = sorted_uses(graph, classes, a), *other = sorted_uses(graph, classes, b);
    for (i = 0; i < n; i++)
        if (compare_uses(&one[i], &other[i]) != 0)
            return FALSE;
    return TRUE;
}

static gboolean
same_flows(const FlowGraph *graph, const FlowClasses *classes)
{
    g_autofree uint32_t *head = g_new(uint32_t, classes->n_classes);
    memset(head, 0xff, classes->n_classes * sizeof *head);
    for (uint32_t f = 0; f < graph->n_flows; f++) {
        uint32_t *first = &head[classes->class_of[f]];
        if (*first == INDEX_NONE) {
            *first = f;
            continue;
        }
        const FlowColor *a = &graph->colors[*first], *b = &graph->colors[f];
        if (a->weight != b->weight || a->cap_Bps != b->cap_Bps || a->bytes != b->bytes ||
            !same_ways(graph, classes, *first, f))
            return FALSE;
    }
    return TRUE;
}

/* What one flow class has on links, while the uses of all are collected. */
typedef struct {
    const FlowGraph *graph;
    FlowClasses *classes;
    uint32_t *flows, *first; /* flows by class */
    uint32_t *size;          /* of each link class */
    ShareSum *sum;           /* by link */
    uint32_t *count;         /* by link */
    uint32_t *touched, n_touched;
    uint32_t *use_of, *met; /* by link class: its use, its links met */
    GArray *uses;
} Collector;

static void
add_flows(Collector *it, uint32_t class)
{
    const FlowGraph *graph = it->graph;
    it->n_touched = 0;
    for (uint32_t i = it->first[class]; i < it->first[class + 1]; i++) {
        uint32_t f = it->flows[i];
        for (uint32_t u = graph->first[f]; u < graph->first[f + 1]; u++) {
            uint32_t link = graph->links[u];
            if (it->count[link]++ == 0)
                it->touched[it->n_touched++] = link;
            if (graph->shares != NULL)
                it->sum[link] += (ShareSum)(graph->shares[u] * SHARE_UNIT);
        }
    }
}

/* Every link of a class has as much of them as the first one met; else FALSE. */
static gboolean
collect_class(Collector *it, uint32_t class)
{
    add_flows(it, class);
    gboolean same = TRUE;
    uint32_t first = it->uses->len;
    for (uint32_t i = 0; i < it->n_touched; i++) {
        uint32_t link = it->touched[i], link_class = it->classes->link_class_of[link];
        ShareSum sum = it->graph->shares != NULL ? it->sum[link] : (ShareSum)it->count[link] * (ShareSum)SHARE_UNIT;
        uint32_t head = it->use_of[link_class];
        if (head == INDEX_NONE) {
            ClassUse use = {link_class, (double)sum / SHARE_UNIT, it->count[link]};
            it->use_of[link_class] = link;
            g_array_append_val(it->uses, use);
        } else if (it->count[head] != it->count[link] || it->sum[head] != it->sum[link]) {
            same = FALSE;
        }
        it->met[link_class]++;
    }
    for (uint32_t u = first; u < it->uses->len; u++) {
        uint32_t link_class = g_array_index(it->uses, ClassUse, u).link_class;
        same = same && it->met[link_class] == it->size[link_class];
        it->met[link_class] = 0;
        it->use_of[link_class] = INDEX_NONE;
    }
    for (uint32_t i = 0; i < it->n_touched; i++)
        it->count[it->touched[i]] = 0, it->sum[it->touched[i]] = 0;
    return same;
}

static void
sort_by_class(Collector *it)
{
    const FlowClasses *classes = it->classes;
    uint32_t n = it->graph->n_flows;
    for (uint32_t f = 0; f < n; f++)
        it->first[classes->class_of[f] + 1]++;
    for (uint32_t c = 0; c < classes->n_classes; c++)
        it->first[c + 1] += it->first[c];
    g_autofree uint32_t *next = g_memdup2(it->first, (classes->n_classes + 1) * sizeof *next);
    for (uint32_t f = 0; f < n; f++)
        it->flows[next[classes->class_of[f]]++] = f;
}

/* The uses of every class; FALSE where links of one class differ. */
static gboolean
collect(const FlowGraph *graph, FlowClasses *classes)
{
    uint32_t n_links = MAX(1, graph->n_links);
    Collector it = {.graph = graph,
                    .classes = classes,
                    .flows = g_new(uint32_t, graph->n_flows),
                    .first = g_new0(uint32_t, classes->n_classes + 1),
                    .size = g_new0(uint32_t, n_links),
                    .sum = g_new0(ShareSum, n_links),
                    .count = g_new0(uint32_t, n_links),
                    .touched = g_new(uint32_t, n_links),
                    .use_of = g_new(uint32_t, n_links),
                    .met = g_new0(uint32_t, n_links),
                    .uses = g_array_new(FALSE, FALSE, sizeof(ClassUse))};
    memset(it.use_of, 0xff, n_links * sizeof *it.use_of);
    for (uint32_t l = 0; l < graph->n_links; l++)
        it.size[classes->link_class_of[l]]++;
    sort_by_class(&it);
    gboolean same = TRUE;
    classes->first = g_new(uint32_t, classes->n_classes + 1);
    classes->first[0] = 0;
    for (uint32_t c = 0; c < classes->n_classes && same; c++) {
        same = collect_class(&it, c);
        classes->first[c + 1] = it.uses->len;
    }
    classes->uses = (ClassUse *)(void *)g_array_free(it.uses, FALSE);
    g_free(it.flows);
    g_free(it.first);
    g_free(it.size);
    g_free(it.sum);
    g_free(it.count);
    g_free(it.touched);
    g_free(it.use_of);
    g_free(it.met);
    return same;
}

static gboolean
same_capacities(const FlowGraph *graph, const FlowClasses *classes)
{
    g_autofree double *capacity = g_new(double, MAX(1, classes->n_link_classes));
    for (uint32_t l = 0; l < graph->n_links; l++)
        capacity[classes->link_class_of[l]] = graph->capacity[l];
    for (uint32_t l = 0; l < graph->n_links; l++)
        if (capacity[classes->link_class_of[l]] != graph->capacity[l])
            return FALSE;
    return TRUE;
}

/* NULL: two colours have met by chance; the flows then count as different. */
static FlowClasses *
verified(FlowClasses *classes, const FlowGraph *graph)
{
    if (same_capacities(graph, classes) && same_flows(graph, classes) && collect(graph, classes))
        return classes;
    flow_classes_free(classes);
    return NULL;
}

FlowClasses *
flow_classes_find(const FlowGraph *graph, uint32_t most)
{
    assert(graph->n_flows > 0 && most > 0);
    Refinement refinement = {.graph = graph,
                             .flows = g_new(uint64_t, graph->n_flows),
                             .links = g_new(uint64_t, MAX(1, graph->n_links)),
                             .sums = g_new(uint64_t, MAX(1, graph->n_links))};
    FlowClasses *classes = NULL;
    if (refine(&refinement, most)) {
        classes = g_new0(FlowClasses, 1);
        classes->class_of = g_new(uint32_t, graph->n_flows);
        classes->link_class_of = g_new(uint32_t, MAX(1, graph->n_links));
        classes->n_classes = count_colors(refinement.flows, graph->n_flows, most, classes->class_of);
        classes->n_link_classes =
            count_colors(refinement.links, graph->n_links, graph->n_links, classes->link_class_of);
        classes = verified(classes, graph);
    }
    g_free(refinement.flows);
    g_free(refinement.links);
    g_free(refinement.sums);
    return classes;
}

void
flow_classes_free(FlowClasses *classes)
{
    if (classes == NULL)
        return;
    g_free(classes->class_of);
    g_free(classes->link_class_of);
    g_free(classes->first);
    g_free(classes->uses);
    g_free(classes);
}
