#include "network/fluid_course.h"

#include "base/index.h"
#include "network/flow_classes.h"
#include "network/level_fill.h"

#include <math.h>
#include <string.h>

/* Fewer flows than this may be classes each; of more, a tenth; and no more than can be laid out by stages. */
enum { FEW_FLOWS = 64, MOST_CLASSES = 1024 };

/* What classes are found from: flows with the rate each can have at most, and the links that can hold any back. */
typedef struct {
    FlowColor *colors;
    double *capacity; /* by link kept */
    uint32_t *number; /* by link of ways: as kept; INDEX_NONE = not kept */
    uint32_t n_links; /* kept */
    uint32_t *first, *hops;
    double *shares;
} Sketch;

static void
sketch_clear(Sketch *sketch)
{
    g_free(sketch->colors);
    g_free(sketch->capacity);
    g_free(sketch->number);
    g_free(sketch->first);
    g_free(sketch->hops);
    g_free(sketch->shares);
}

static double
share_of(const Ways *ways, uint32_t hop)
{
    return ways->shares != NULL ? ways->shares[hop] : 1;
}

/* The most that a transfer can have: what its links have for it alone. */
static void
color_flows(const Fluid *self, Course *course, const Transfer *transfers, Sketch *sketch)
{
    const Ways *ways = course->ways;
    sketch->colors = g_new(FlowColor, ways->n);
    for (uint32_t t = 0; t < ways->n; t++) {
        gboolean moves = ways->first[t + 1] > ways->first[t];
        double most = ways->cap_Bps[t];
        for (uint32_t h = ways->first[t]; h < ways->first[t + 1]; h++)
            most = MIN(most, self->capacity[ways->links[ways->hops[h]]] / share_of(ways, h));
        course->saturates |= most < ways->cap_Bps[t];
        sketch->colors[t] = (FlowColor){transfers[t].weight, most, moves ? transfers[t].bytes : 0};
    }
}

/* A link on which all can have the most that they can have holds nobody back, whoever the others are: it is left out,
 * and tells no flows apart. */
static void
keep_links(const Fluid *self, Course *course, Sketch *sketch)
{
    const Ways *ways = course->ways;
    g_autofree long double *most = g_new0(long double, MAX(1, ways->n_links));
    g_autofree uint32_t *on = g_new0(uint32_t, MAX(1, ways->n_links));
    for (uint32_t t = 0; t < ways->n; t++)
        for (uint32_t h = ways->first[t]; h < ways->first[t + 1]; h++) {
            most[ways->hops[h]] += (long double)sketch->colors[t].cap_Bps * share_of(ways, h);
            on[ways->hops[h]]++;
        }
    sketch->number = g_new(uint32_t, MAX(1, ways->n_links));
    sketch->capacity = g_new(double, MAX(1, ways->n_links));
    for (uint32_t l = 0; l < ways->n_links; l++) {
        double capacity = self->capacity[ways->links[l]];
        sketch->number[l] = INDEX_NONE;
        if (most[l] > capacity) {
            sketch->capacity[sketch->n_links] = capacity;
            sketch->number[l] = sketch->n_links++;
        } else {
            course->crowded[l] = on[l] > 1 && most[l] >= capacity * (1 - 1e-10L);
        }
    }
}

/* The hops over links that are kept. */
static void
keep_hops(const Ways *ways, Sketch *sketch)
{
    uint32_t n = 0;
    sketch->first = g_new(uint32_t, (size_t)ways->n + 1);
    sketch->hops = g_new(uint32_t, MAX(1, ways->first[ways->n]));
    if (ways->shares != NULL)
        sketch->shares = g_new(double, MAX(1, ways->first[ways->n]));
    for (uint32_t t = 0; t < ways->n; t++) {
        sketch->first[t] = n;
        for (uint32_t h = ways->first[t]; h < ways->first[t + 1]; h++) {
            if (sketch->number[ways->hops[h]] == INDEX_NONE)
                continue;
            sketch->hops[n] = sketch->number[ways->hops[h]];
            if (sketch->shares != NULL)
                sketch->shares[n] = ways->shares[h];
            n++;
        }
    }
    sketch->first[ways->n] = n;
}

static FlowGraph
sketch_flows(const Fluid *self, Course *course, const Transfer *transfers, Sketch *sketch)
{
    const Ways *ways = course->ways;
    color_flows(self, course, transfers, sketch);
    keep_links(self, course, sketch);
    FlowGraph graph = {ways->n, ways->n_links, ways->first, ways->hops, ways->shares, sketch->colors, sketch->capacity};
    if (sketch->n_links < ways->n_links) { /* else all keep their numbers */
        keep_hops(ways, sketch);
        graph.n_links = sketch->n_links;
        graph.first = sketch->first;
        graph.links = sketch->hops;
        graph.shares = sketch->shares;
    }
    return graph;
}

/* The quotient while its stages are laid out: one flow a class on one link a class, and one link more that holds
 * nobody, for classes that no link can hold back. */
typedef struct {
    Course *course;
    const Sketch *sketch;
    const FlowClasses *found;
    MaxMin *solver;
    uint32_t *flow_of; /* by class; INDEX_NONE = has ended */
    Count *left;       /* by class, of a member */
    uint32_t *on;      /* by class of links: members under way on each */
} Quotient;

#define BOUNDLESS_BPS 0x1p54

static void
add_classes(Quotient *it)
{
    const FlowClasses *found = it->found;
    for (uint32_t l = 0; l < it->sketch->n_links; l++)
        maxmin_set_capacity(it->solver, found->link_class_of[l], it->sketch->capacity[l]);
    maxmin_set_capacity(it->solver, found->n_link_classes, BOUNDLESS_BPS);
    g_autofree MaxMinUse *uses = g_new(MaxMinUse, found->n_link_classes + 1);
    for (uint32_t c = 0; c < found->n_classes; c++) {
        const CourseClass *class = &it->course->classes[c];
        uint32_t n = found->first[c + 1] - found->first[c];
        uses[0] = (MaxMinUse){found->n_link_classes, 1};
        for (uint32_t i = 0; i < n; i++)
            uses[i] =
                (MaxMinUse){found->uses[found->first[c] + i].link_class, found->uses[found->first[c] + i].coefficient};
        it->left[c] = class->bytes * BYTE;
        it->flow_of[c] = INDEX_NONE;
        if (class->bytes > 0)
            it->flow_of[c] = maxmin_add(it->solver, uses, MAX(1, n), class->weight, class->cap_Bps);
    }
}

/* Marks the links that are full now with more than one member on them. */
static void
note_full(Quotient *it)
{
    Course *course = it->course;
    const FlowClasses *found = it->found;
    memset(it->on, 0, found->n_link_classes * sizeof *it->on);
    for (uint32_t c = 0; c < course->n_classes; c++)
        for (uint32_t u = found->first[c]; it->flow_of[c] != INDEX_NONE && u < found->first[c + 1]; u++)
            it->on[found->uses[u].link_class] += found->uses[u].n_flows;
    gboolean any = FALSE;
    for (uint32_t k = 0; k < found->n_link_classes; k++) {
        gboolean full = it->on[k] > 0 && isfinite(maxmin_link_level(it->solver, k));
        course->saturates |= full;
        it->on[k] = full && it->on[k] > 1;
        any |= it->on[k] > 0;
    }
    for (uint32_t l = 0; any && l < course->ways->n_links; l++)
        if (it->sketch->number[l] != INDEX_NONE && it->on[found->link_class_of[it->sketch->number[l]]] > 0)
            course->crowded[l] = TRUE;
}

static void
add_stage(Course *course, SimTime end_ps)
{
    uint32_t n = ++course->n_stages, row = course->n_classes;
    course->end_ps = g_renew(SimTime, course->end_ps, n);
    course->rates = g_renew(double, course->rates, (size_t)(n + 1) * row);
    course->end_ps[n - 1] = end_ps;
}

/* How long the rates of now hold: until the first class ends. FALSE: for ever. */
static gboolean
stage_length(const Quotient *it, const double *rates, SimTime *length)
{
    gboolean ends = FALSE;
    *length = SIM_TIME_MAX;
    for (uint32_t c = 0; c < it->course->n_classes; c++) {
        SimTime time;
        if (it->flow_of[c] == INDEX_NONE || !count_time(it->left[c], rates[c], &time))
            continue;
        *length = MIN(*length, time);
        ends = TRUE;
    }
    return ends;
}

/* The next stage from `now` on. FALSE: it never ends. */
static gboolean
next_stage(Quotient *it, SimTime *now)
{
    Course *course = it->course;
    uint32_t n_changed, stage = course->n_stages;
    double *rates = course->rates + (size_t)stage * course->n_classes;
    SimTime length;
    maxmin_solve(it->solver, &n_changed);
    note_full(it);
    for (uint32_t c = 0; c < course->n_classes; c++)
        rates[c] = it->flow_of[c] != INDEX_NONE ? maxmin_rate(it->solver, it->flow_of[c]) : 0;
    if (!stage_length(it, rates, &length) || !sim_time_add(*now, length, now))
        return FALSE;
    for (uint32_t c = 0; c < course->n_classes; c++) {
        if (it->flow_of[c] == INDEX_NONE)
            continue;
        it->left[c] -= count_speed(rates[c]) * length;
        if (it->left[c] > 0)
            continue;
        maxmin_remove(it->solver, it->flow_of[c]);
        it->flow_of[c] = INDEX_NONE;
        course->classes[c].end = stage;
    }
    add_stage(course, *now);
    return TRUE;
}

/* Members that move nothing end with a first stage of no length. */
static gboolean
lay_out(Course *course, const Sketch *sketch, const FlowClasses *found)
{
    uint32_t n = course->n_classes;
    g_autofree uint32_t *flow_of = g_new(uint32_t, n), *on = g_new(uint32_t, found->n_link_classes + 1);
    g_autofree Count *left = g_new(Count, n);
    g_autoptr(MaxMin) solver = maxmin_new(found->n_link_classes + 1);
    Quotient quotient = {course, sketch, found, solver, flow_of, left, on};
    course->rates = g_new0(double, n);
    add_classes(&quotient);
    if (maxmin_n_flows(solver) < n)
        add_stage(course, 0);
    SimTime now = 0;
    gboolean ends = TRUE;
    while (ends && maxmin_n_flows(solver) > 0)
        ends = next_stage(&quotient, &now);
    return ends;
}

/* A part while parts are found. */
typedef struct {
    CoursePart part;
    uint32_t end, head;
} Draft;

static int
by_end(const void *a, const void *b)
{
    const Draft *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->head > y->head) - (x->head < y->head);
}

static uint32_t
draft_of(const GArray *drafts, const uint32_t *heads, const GArray *next, uint32_t class, SimTime latency_ps)
{
    uint32_t d = heads[class];
    while (d != INDEX_NONE && g_array_index(drafts, Draft, d).part.latency_ps != latency_ps)
        d = g_array_index(next, uint32_t, d);
    return d;
}

/* Parts: of each class, the members of one latency. */
static void
find_drafts(const Course *course, GArray *drafts, uint32_t *draft_of_member)
{
    g_autofree uint32_t *heads = g_new(uint32_t, course->n_classes);
    g_autoptr(GArray) next = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    memset(heads, 0xff, course->n_classes * sizeof *heads);
    for (uint32_t m = 0; m < course->ways->n; m++) {
        uint32_t class = course->class_of[m];
        SimTime latency_ps = course->ways->latency_ps[m];
        uint32_t d = draft_of(drafts, heads, next, class, latency_ps);
        if (d == INDEX_NONE) {
            d = drafts->len;
            Draft draft = {{class, latency_ps, 0, 0}, course->classes[class].end, m};
            g_array_append_val(drafts, draft);
            g_array_append_val(next, heads[class]);
            heads[class] = d;
        }
        g_array_index(drafts, Draft, d).part.n++;
        draft_of_member[m] = d;
    }
}

static void
find_parts(Course *course)
{
    uint32_t n = course->ways->n;
    g_autoptr(GArray) drafts = g_array_new(FALSE, FALSE, sizeof(Draft));
    g_autofree uint32_t *draft_of_member = g_new(uint32_t, n);
    find_drafts(course, drafts, draft_of_member);
    g_autofree Draft *sorted = g_memdup2(drafts->data, drafts->len * sizeof *sorted);
    qsort(sorted, drafts->len, sizeof *sorted, by_end);
    course->n_parts = drafts->len;
    course->parts = g_new(CoursePart, course->n_parts);
    course->members = g_new(uint32_t, n);
    course->first_part = g_new0(uint32_t, course->n_stages + 1);
    g_autofree uint32_t *at = g_new(uint32_t, drafts->len); /* by draft: where its next member goes */
    for (uint32_t p = 0, first = 0; p < course->n_parts; p++) {
        course->parts[p] = sorted[p].part;
        course->parts[p].first = first;
        at[draft_of_member[sorted[p].head]] = first;
        first += sorted[p].part.n;
        course->first_part[sorted[p].end + 1] = p + 1;
    }
    for (uint32_t s = 0; s < course->n_stages; s++)
        course->first_part[s + 1] = MAX(course->first_part[s + 1], course->first_part[s]);
    for (uint32_t m = 0; m < n; m++)
        course->members[at[draft_of_member[m]]++] = m;
}

/* What all members of a class together book on each link; exact only in whole numbers below 2^53. */
static gboolean
book_class(Course *course, const uint32_t *members, uint32_t n, uint32_t *count, uint32_t *met, CourseClass *class)
{
    const Ways *ways = course->ways;
    uint32_t n_met = 0;
    gboolean exact = TRUE;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t h = ways->first[members[i]]; h < ways->first[members[i] + 1]; h++)
            if (count[ways->hops[h]]++ == 0)
                met[n_met++] = ways->hops[h];
    class->uses = g_new(MaxMinUse, MAX(1, n_met));
    class->use_bytes = g_new(uint64_t, MAX(1, n_met));
    class->n_uses = n_met;
    for (uint32_t i = 0; i < n_met; i++) {
        uint32_t on = count[met[i]];
        exact = exact && on <= 1u << 13 && (double)class->bytes * on < 0x1p53;
        class->uses[i] = (MaxMinUse){ways->links[met[i]], on};
        class->use_bytes[i] = class->bytes * on;
        count[met[i]] = 0;
    }
    return exact;
}

static gboolean
prepare_books(Course *course)
{
    const Ways *ways = course->ways;
    g_autofree uint32_t *count = g_new0(uint32_t, MAX(1, ways->n_links)), *met = g_new(uint32_t, MAX(1, ways->n_links));
    g_autofree uint32_t *first = g_new0(uint32_t, course->n_classes + 1), *members = g_new(uint32_t, ways->n);
    for (uint32_t m = 0; m < ways->n; m++)
        first[course->class_of[m] + 1]++;
    for (uint32_t c = 0; c < course->n_classes; c++)
        first[c + 1] += first[c];
    g_autofree uint32_t *next = g_memdup2(first, (course->n_classes + 1) * sizeof *next);
    for (uint32_t m = 0; m < ways->n; m++)
        members[next[course->class_of[m]]++] = m;
    gboolean exact = ways->shares == NULL; /* bytes split over paths are apportioned transfer by transfer */
    for (uint32_t c = 0; c < course->n_classes && exact; c++)
        exact = book_class(course, members + first[c], first[c + 1] - first[c], count, met, &course->classes[c]);
    return exact;
}

/* The classes of a quotient. */
static gboolean
fill_by_classes(Course *course, const FlowGraph *graph, const Sketch *sketch)
{
    g_autoptr(FlowClasses) found = flow_classes_find(graph, MIN(MAX(FEW_FLOWS, graph->n_flows / 10), MOST_CLASSES));
    if (found == NULL)
        return FALSE;
    course->n_classes = found->n_classes;
    course->class_of = g_steal_pointer(&found->class_of);
    course->classes = g_new0(CourseClass, course->n_classes);
    for (uint32_t m = 0; m < course->ways->n; m++) { /* any of its members */
        const FlowColor *color = &sketch->colors[m];
        course->classes[course->class_of[m]] =
            (CourseClass){.weight = color->weight, .cap_Bps = color->cap_Bps, .bytes = color->bytes};
    }
    return lay_out(course, sketch, found);
}

/* Are all of one size and weight? Then the fastest end first, and no slower one is held by a link that they are on. */
static gboolean
are_even(const FlowGraph *graph)
{
    for (uint32_t f = 0; f < graph->n_flows; f++)
        if (graph->colors[f].bytes == 0 || graph->colors[f].bytes != graph->colors[0].bytes ||
            graph->colors[f].weight != graph->colors[0].weight)
            return FALSE;
    return TRUE;
}

static int
fastest_first(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* Numbers equal rates as classes: the faster, the lower; rates[] has one for each then. FALSE: one is 0. */
static gboolean
class_rates(Course *course, double *rates, uint32_t n)
{
    g_autoptr(GHashTable) classes = g_hash_table_new(g_double_hash, g_double_equal);
    g_autofree double *found = NULL;
    uint32_t room = 0, n_classes = 0;
    for (uint32_t m = 0; m < n; m++) {
        rates[m] = maxmin_round_down(rates[m]);
        if (rates[m] == 0)
            return FALSE;
        if (m > 0 && rates[m] == rates[m - 1])
            continue;
        if (!g_hash_table_add(classes, &rates[m]))
            continue;
        if (n_classes == room)
            found = g_renew(double, found, room = MAX(64, 2 * room));
        found[n_classes++] = rates[m];
    }
    qsort(found, n_classes, sizeof *found, fastest_first);
    for (uint32_t c = 0; c < n_classes; c++)
        g_hash_table_insert(classes, &found[c], GUINT_TO_POINTER(c));
    course->class_of = g_new(uint32_t, n);
    for (uint32_t m = 0; m < n; m++)
        course->class_of[m] = m > 0 && rates[m] == rates[m - 1]
                                  ? course->class_of[m - 1]
                                  : GPOINTER_TO_UINT(g_hash_table_lookup(classes, &rates[m]));
    course->n_classes = n_classes;
    course->rates = g_steal_pointer(&found);
    return TRUE;
}

static void
note_crowded(Course *course, const Sketch *sketch, const uint8_t *full)
{
    const Ways *ways = course->ways;
    g_autofree uint32_t *on = g_new0(uint32_t, MAX(1, ways->n_links));
    for (uint32_t h = 0; h < ways->first[ways->n]; h++)
        on[ways->hops[h]]++;
    for (uint32_t l = 0; l < ways->n_links; l++) {
        if (sketch->number[l] == INDEX_NONE || !full[sketch->number[l]])
            continue;
        course->saturates = TRUE;
        course->crowded[l] |= on[l] > 1;
    }
}

/* Classes of equal rate, each of which has it until it ends. */
static gboolean
fill_even(Course *course, const FlowGraph *graph, const Sketch *sketch)
{
    uint32_t n = graph->n_flows;
    g_autofree double *rates = g_new(double, n);
    g_autofree uint8_t *full = g_new(uint8_t, MAX(1, graph->n_links));
    if (!level_fill(graph, rates, full) || !class_rates(course, rates, n))
        return FALSE;
    note_crowded(course, sketch, full);
    course->constant = TRUE;
    course->classes = g_new0(CourseClass, course->n_classes);
    course->end_ps = g_new(SimTime, course->n_classes);
    for (uint32_t m = 0; m < n; m++)
        course->classes[course->class_of[m]] = (CourseClass){
            .weight = graph->colors[m].weight, .cap_Bps = graph->colors[m].cap_Bps, .bytes = graph->colors[m].bytes};
    for (uint32_t c = 0; c < course->n_classes; c++) {
        SimTime end;
        if (!count_time(course->classes[c].bytes * BYTE, course->rates[c], &end))
            return FALSE;
        if (c == 0 || end != course->end_ps[course->n_stages - 1])
            course->end_ps[course->n_stages++] = end;
        course->classes[c].end = course->n_stages - 1;
    }
    return TRUE;
}

static gboolean
fill(Fluid *self, Course *course, const Transfer *transfers, Sketch *sketch)
{
    course->crowded = g_new0(uint8_t, MAX(1, course->ways->n_links));
    FlowGraph graph = sketch_flows(self, course, transfers, sketch);
    if (!(are_even(&graph) ? fill_even(course, &graph, sketch) : fill_by_classes(course, &graph, sketch)))
        return FALSE;
    find_parts(course);
    return self->usage == NULL || prepare_books(course);
}

Course *
course_new(Fluid *self, const Transfer *transfers, uint32_t n)
{
    for (uint32_t t = 0; t < n; t++)
        if (transfers[t].bytes >= TRANSFER_BYTES_END)
            return NULL;
    Ways *ways = ways_new(self->scratch, transfers, n);
    if (ways == NULL)
        return NULL;
    Course *course = g_new0(Course, 1);
    course->ways = ways;
    Sketch sketch = {0};
    gboolean filled = !ways->ramps && fill(self, course, transfers, &sketch);
    sketch_clear(&sketch);
    if (filled)
        return course;
    course_free(course);
    return NULL;
}

void
course_free(Course *course)
{
    if (course == NULL)
        return;
    for (uint32_t c = 0; course->classes != NULL && c < course->n_classes; c++) {
        g_free(course->classes[c].uses);
        g_free(course->classes[c].use_bytes);
    }
    ways_free(course->ways);
    g_free(course->classes);
    g_free(course->parts);
    g_free(course->members);
    g_free(course->class_of);
    g_free(course->end_ps);
    g_free(course->first_part);
    g_free(course->rates);
    g_free(course->crowded);
    g_free(course);
}

double
course_rate(const Course *course, uint32_t class, uint32_t stage)
{
    if (!course->constant)
        return course->rates[(size_t)stage * course->n_classes + class];
    return stage <= course->classes[class].end ? course->rates[class] : 0;
}

Count
course_left(const Course *course, uint32_t class, uint32_t stage, SimTime time)
{
    Count left = course->classes[class].bytes * BYTE;
    SimTime from = 0;
    for (uint32_t s = 0; s <= stage; s++) {
        SimTime to = s < stage ? course->end_ps[s] : time;
        left -= count_speed(course_rate(course, class, s)) * (to - from);
        from = to;
    }
    return left;
}
