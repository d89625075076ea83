#include "network/fluid_course.h"

#include "base/index.h"
#include "network/flow_classes.h"

#include <math.h>
#include <string.h>

/* Fewer flows than this may be classes each; of more, a tenth; and no more than can be laid out by stages. */
enum { FEW_FLOWS = 64, MOST_CLASSES = 1024 };

static FlowClasses *
find_classes(const Fluid *self, const Ways *ways, const Transfer *transfers, FlowColor **colors)
{
    uint32_t n = ways->n;
    *colors = g_new(FlowColor, n);
    for (uint32_t t = 0; t < n; t++) {
        gboolean moves = ways->first[t + 1] > ways->first[t];
        (*colors)[t] = (FlowColor){transfers[t].weight, ways->cap_Bps[t], moves ? transfers[t].bytes : 0};
    }
    g_autofree double *capacity = g_new(double, MAX(1, ways->n_links));
    for (uint32_t l = 0; l < ways->n_links; l++)
        capacity[l] = self->capacity[ways->links[l]];
    FlowGraph graph = {n, ways->n_links, ways->first, ways->hops, ways->shares, *colors, capacity};
    return flow_classes_find(&graph, MIN(MAX(FEW_FLOWS, n / 10), MOST_CLASSES));
}

/* One flow a class on one link a class. */
static MaxMin *
quotient(const Fluid *self, const Course *course, const FlowClasses *found, uint32_t *flow_of)
{
    MaxMin *solver = maxmin_new(found->n_link_classes);
    for (uint32_t l = 0; l < course->ways->n_links; l++)
        maxmin_set_capacity(solver, found->link_class_of[l], self->capacity[course->ways->links[l]]);
    g_autofree MaxMinUse *uses = g_new(MaxMinUse, MAX(1, found->n_link_classes));
    for (uint32_t c = 0; c < found->n_classes; c++) {
        uint32_t n = found->first[c + 1] - found->first[c];
        for (uint32_t i = 0; i < n; i++) {
            ClassUse use = found->uses[found->first[c] + i];
            uses[i] = (MaxMinUse){use.link_class, use.coefficient};
        }
        flow_of[c] =
            n > 0 ? maxmin_add(solver, uses, n, course->classes[c].weight, course->classes[c].cap_Bps) : INDEX_NONE;
    }
    return solver;
}

/* Marks the links that are full now with more than one member on them. */
static void
note_full(Course *course, const FlowClasses *found, const MaxMin *solver, const uint32_t *flow_of)
{
    g_autofree uint32_t *on = g_new0(uint32_t, MAX(1, found->n_link_classes)); /* members, on a link of each class */
    for (uint32_t c = 0; c < course->n_classes; c++)
        for (uint32_t u = found->first[c]; flow_of[c] != INDEX_NONE && u < found->first[c + 1]; u++)
            on[found->uses[u].link_class] += found->uses[u].n_flows;
    gboolean any = FALSE;
    for (uint32_t k = 0; k < found->n_link_classes; k++) {
        gboolean full = on[k] > 0 && isfinite(maxmin_link_level(solver, k));
        course->saturates |= full;
        on[k] = full && on[k] > 1;
        any |= on[k];
    }
    for (uint32_t l = 0; any && l < course->ways->n_links; l++)
        course->crowded[l] |= on[found->link_class_of[l]];
}

static void
add_stage(Course *course, SimTime end_ps)
{
    uint32_t n = ++course->n_stages, row = course->n_classes;
    course->end_ps = g_renew(SimTime, course->end_ps, n);
    course->rates = g_renew(double, course->rates, (size_t)(n + 1) * row);
    course->end_ps[n - 1] = end_ps;
}

/* The next stage from `now` on: rates, its length, who ends with it. FALSE: it never ends. */
static gboolean
next_stage(Course *course, const FlowClasses *found, MaxMin *solver, uint32_t *flow_of, Count *left, SimTime *now)
{
    uint32_t n_changed, stage = course->n_stages;
    SimTime shortest = SIM_TIME_MAX, time;
    gboolean ends = FALSE;
    maxmin_solve(solver, &n_changed);
    note_full(course, found, solver, flow_of);
    double *rates = course->rates + (size_t)stage * course->n_classes;
    for (uint32_t c = 0; c < course->n_classes; c++) {
        rates[c] = flow_of[c] != INDEX_NONE ? maxmin_rate(solver, flow_of[c]) : 0;
        if (flow_of[c] == INDEX_NONE || !fluid_time(left[c], rates[c], &time))
            continue;
        shortest = MIN(shortest, time);
        ends = TRUE;
    }
    SimTime end;
    if (!ends || !sim_time_add(*now, shortest, &end))
        return FALSE;
    for (uint32_t c = 0; c < course->n_classes; c++) {
        if (flow_of[c] == INDEX_NONE)
            continue;
        left[c] -= fluid_speed(rates[c]) * shortest;
        if (left[c] > 0)
            continue;
        maxmin_remove(solver, flow_of[c]);
        flow_of[c] = INDEX_NONE;
        course->classes[c].end = stage;
    }
    *now = end;
    add_stage(course, end);
    return TRUE;
}

/* Lays out the stages. Members that move nothing end with a first stage of no length. */
static gboolean
lay_out(Fluid *self, Course *course, const FlowClasses *found)
{
    uint32_t n = course->n_classes, moving = 0;
    g_autofree uint32_t *flow_of = g_new(uint32_t, n);
    g_autofree Count *left = g_new(Count, n);
    MaxMin *solver = quotient(self, course, found, flow_of);
    SimTime now = 0;
    course->rates = g_new0(double, n);
    for (uint32_t c = 0; c < n; c++) {
        left[c] = course->classes[c].bytes * BYTE;
        course->classes[c].end = 0;
        moving += flow_of[c] != INDEX_NONE;
    }
    gboolean ends = TRUE;
    if (moving < n)
        add_stage(course, 0);
    while (ends && maxmin_n_flows(solver) > 0)
        ends = next_stage(course, found, solver, flow_of, left, &now);
    maxmin_free(solver);
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
draft_of(const GArray *drafts, uint32_t *heads, uint32_t *next, uint32_t class, SimTime latency_ps)
{
    uint32_t d = heads[class];
    while (d != INDEX_NONE && g_array_index(drafts, Draft, d).part.latency_ps != latency_ps)
        d = next[d];
    return d;
}

/* Parts: of each class, the members of one latency. FALSE: there are too many. */
static gboolean
find_drafts(const Course *course, GArray *drafts, uint32_t *draft_of_member)
{
    uint32_t heads[MOST_CLASSES], next[MOST_CLASSES];
    memset(heads, 0xff, sizeof heads);
    for (uint32_t m = 0; m < course->ways->n; m++) {
        uint32_t class = course->class_of[m];
        SimTime latency_ps = course->ways->latency_ps[m];
        uint32_t d = draft_of(drafts, heads, next, class, latency_ps);
        if (d == INDEX_NONE) {
            d = drafts->len;
            if (d == MOST_CLASSES)
                return FALSE;
            Draft draft = {{class, latency_ps, 0, 0}, course->classes[class].end, m};
            g_array_append_val(drafts, draft);
            next[d] = heads[class];
            heads[class] = d;
        }
        g_array_index(drafts, Draft, d).part.n++;
        draft_of_member[m] = d;
    }
    return TRUE;
}

static gboolean
find_parts(Course *course)
{
    uint32_t n = course->ways->n;
    g_autoptr(GArray) drafts = g_array_new(FALSE, FALSE, sizeof(Draft));
    g_autofree uint32_t *draft_of_member = g_new(uint32_t, n);
    if (!find_drafts(course, drafts, draft_of_member))
        return FALSE;
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
    return TRUE;
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

static gboolean
fill(Fluid *self, Course *course, const Transfer *transfers)
{
    if (course->ways->ramps)
        return FALSE;
    g_autofree FlowColor *colors = NULL;
    g_autoptr(FlowClasses) found = find_classes(self, course->ways, transfers, &colors);
    if (found == NULL)
        return FALSE;
    course->n_classes = found->n_classes;
    course->class_of = g_steal_pointer(&found->class_of);
    course->classes = g_new0(CourseClass, course->n_classes);
    course->crowded = g_new0(uint8_t, MAX(1, course->ways->n_links));
    for (uint32_t m = course->ways->n; m-- > 0;) { /* any of its members */
        CourseClass *class = &course->classes[course->class_of[m]];
        class->weight = colors[m].weight;
        class->cap_Bps = colors[m].cap_Bps;
        class->bytes = colors[m].bytes;
    }
    return lay_out(self, course, found) && find_parts(course) && (self->usage == NULL || prepare_books(course));
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
    if (fill(self, course, transfers))
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

Count
course_left(const Course *course, uint32_t class, uint32_t stage, SimTime time)
{
    Count left = course->classes[class].bytes * BYTE;
    SimTime from = 0;
    for (uint32_t s = 0; s <= stage; s++) {
        SimTime to = s < stage ? course->end_ps[s] : time;
        left -= fluid_speed(course->rates[(size_t)s * course->n_classes + class]) * (to - from);
        from = to;
    }
    return left;
}
