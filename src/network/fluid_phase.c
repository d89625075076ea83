/* fluid_phase.c - phases by class: a pattern alone on its links follows its course, and costs what its classes cost
 *
 * The pattern claims its links when it is sent, and keeps them when it has ended, until somebody touches one: sent
 * again meanwhile, nothing need be looked at. Touched while it is under way, it is split: its members enter the solver
 * as flows with exactly what is left of them, and their books go on where the classes' books stop. */
#include "network/fluid_course.h"

#include "base/index.h"

#include <assert.h>

/* What the model keeps of a pattern. Phases that have parts to deliver hold on to its course. */
typedef struct {
    Fluid *self;
    NetworkPattern *pattern;
    Course *course;   /* NULL: one by one, as of `changes` */
    uint32_t changes; /* of links, when it was made */
    uint32_t claim;   /* INDEX_NONE = none */
    Phase *active;    /* whose bytes are under way by class; NULL */
    uint32_t refs;    /* the pattern's, and phases' */
} Prepared;

/* Of a phase by class. */
typedef struct {
    Prepared *prepared;
    uint32_t stage;   /* under way */
    uint32_t n_parts; /* to deliver by class */
    gboolean split;   /* what was left goes by itself */
    uint32_t n_books; /* one a class, while it sends; 0 without books */
    uint32_t books[];
} Flight;

static void
unref(Prepared *prepared)
{
    if (--prepared->refs > 0)
        return;
    course_free(prepared->course);
    g_free(prepared);
}

static void split(Prepared *prepared);

/* A foreign event on the links. */
static void
on_release(void *owner)
{
    Prepared *prepared = owner;
    prepared->claim = INDEX_NONE;
    if (prepared->active != NULL)
        split(prepared);
}

static void
give_up(Prepared *prepared)
{
    if (prepared->claim == INDEX_NONE)
        return;
    link_claims_drop(prepared->self->claims, prepared->claim);
    on_release(prepared);
}

void
fluid_forget_pattern(NetworkPattern *pattern)
{
    Prepared *prepared = pattern->prepared;
    give_up(prepared);
    pattern->prepared = NULL;
    unref(prepared);
}

/* The pattern as links are now. */
static Prepared *
prepare(Fluid *self, NetworkPattern *pattern)
{
    Prepared *prepared = pattern->prepared;
    if (prepared != NULL && prepared->changes == self->changes)
        return prepared;
    if (prepared != NULL)
        fluid_forget_pattern(pattern);
    prepared = g_new(Prepared, 1);
    *prepared = (Prepared){.self = self,
                           .pattern = pattern,
                           .course = self->load == NULL ? course_new(self, pattern->transfers, pattern->n) : NULL,
                           .changes = self->changes,
                           .claim = INDEX_NONE,
                           .refs = 1};
    pattern->prepared = prepared;
    return prepared;
}

/* Has it its links for itself? */
static gboolean
claim(Prepared *prepared)
{
    Fluid *self = prepared->self;
    const Course *course = prepared->course;
    const Ways *ways = course->ways;
    if (prepared->active != NULL) { /* still under way itself: two of one kind meet */
        give_up(prepared);
        return FALSE;
    }
    if (prepared->claim != INDEX_NONE)
        return TRUE;
    if (!fluid_may_claim(self, ways->links, ways->n_links, course->crowded))
        return FALSE;
    for (uint32_t l = 0; l < ways->n_links && link_claims_n(self->claims) > 0; l++)
        link_claims_touch(self->claims, ways->links[l]);
    if (!fluid_is_free(self, ways->links, ways->n_links))
        return FALSE;
    prepared->claim = link_claims_take(self->claims, ways->links, ways->n_links,
                                       fluid_is_apart(self, ways->links, ways->n_links), on_release, prepared);
    return TRUE;
}

static void
schedule_stage(const Fluid *self, const Phase *phase, const Flight *flight)
{
    engine_schedule(self->base.engine,
                    (Event){.when = phase->start_ps + flight->prepared->course->end_ps[flight->stage],
                            .kind = self->kind_stage,
                            .target = phase->number,
                            .sender = NETWORK_SENDER,
                            .stamp = phase->stamp});
}

static void
set_book_rates(const Fluid *self, Flight *flight)
{
    const Course *course = flight->prepared->course;
    uint32_t stage = flight->stage;
    if (course->constant && stage > 0)
        return;
    for (uint32_t c = 0; c < flight->n_books; c++) {
        double rate_Bps = course_rate(course, c, stage);
        if (flight->books[c] != INDEX_NONE && (stage == 0 || rate_Bps != course_rate(course, c, stage - 1)))
            usage_set_rate(self->usage, flight->books[c], rate_Bps, fluid_now(self));
    }
}

static void
begin_books(const Fluid *self, const Phase *phase, Flight *flight)
{
    const Course *course = flight->prepared->course;
    uint32_t job = phase->pattern->transfers[0].job;
    for (uint32_t c = 0; c < flight->n_books; c++) {
        const CourseClass *class = &course->classes[c];
        Demand demand = {.uses = class->uses,
                         .bytes = class->use_bytes,
                         .n = class->n_uses,
                         .largest = class->bytes,
                         .weight = class->weight,
                         .cap_Bps = class->cap_Bps};
        flight->books[c] = INDEX_NONE;
        if (class->n_uses > 0)
            flight->books[c] = usage_begin(self->usage, job, &demand, fluid_now(self));
    }
    set_book_rates(self, flight);
}

gboolean
fluid_send_phase(Network *network, Phase *phase)
{
    Fluid *self = (Fluid *)network;
    fluid_hold_flush(self);
    Prepared *prepared = prepare(self, phase->pattern);
    const Course *course = prepared->course;
    SimTime end;
    if (course == NULL || !claim(prepared) ||
        !sim_time_add(phase->start_ps, course->end_ps[course->n_stages - 1], &end))
        return FALSE;
    uint32_t n_books = self->usage != NULL ? course->n_classes : 0;
    Flight *flight = g_malloc0(sizeof *flight + n_books * sizeof *flight->books);
    *flight = (Flight){.prepared = prepared, .n_parts = course->n_parts, .n_books = n_books};
    prepared->refs++;
    prepared->active = phase;
    phase->state = flight;
    phase->pattern->n_classes = course->n_parts;
    network->totals.saturated |= course->saturates;
    begin_books(self, phase, flight);
    schedule_stage(self, phase, flight);
    return TRUE;
}

/* Its bytes have left: books are closed, and the next stage's rates are those of now. */
static void
end_stage(Fluid *self, Phase *phase, Flight *flight)
{
    Prepared *prepared = flight->prepared;
    const Course *course = prepared->course;
    for (uint32_t c = 0; c < flight->n_books; c++)
        if (flight->books[c] != INDEX_NONE && course->classes[c].end == flight->stage) {
            usage_end(self->usage, flight->books[c], fluid_now(self));
            flight->books[c] = INDEX_NONE;
        }
    if (++flight->stage == course->n_stages) {
        prepared->active = NULL;
        return;
    }
    set_book_rates(self, flight);
    schedule_stage(self, phase, flight);
}

static void
handle_stage(void *owner, const Event *event)
{
    Fluid *self = owner;
    Phase *phase = phases_get(self->base.phases, event->target);
    Flight *flight = phase != NULL && phase->stamp == event->stamp ? phase->state : NULL;
    if (flight == NULL || flight->split) {
        engine_abandon(self->base.engine, -1);
        return;
    }
    Prepared *prepared = flight->prepared;
    const Course *course = prepared->course;
    uint32_t first = course->first_part[flight->stage], last = course->first_part[flight->stage + 1];
    prepared->refs++;
    end_stage(self, phase, flight);
    for (uint32_t p = first; p < last; p++)
        engine_schedule_in(
            self->base.engine, course->parts[p].latency_ps,
            (Event){.kind = self->kind_arrive, .target = phase->number, .sender = NETWORK_SENDER, .stamp = p});
    for (uint32_t p = first; p < last; p++)
        phase_tell_class(phase, p, course->members + course->parts[p].first, course->parts[p].n, fluid_now(self),
                         NETWORK_SENT);
    unref(prepared);
}

static void
handle_arrive(void *owner, const Event *event)
{
    Fluid *self = owner;
    Phase *phase = phases_get(self->base.phases, event->target);
    Flight *flight = phase->state;
    Prepared *prepared = flight->prepared;
    const CoursePart *part = &prepared->course->parts[event->stamp];
    if (--flight->n_parts == 0) {
        phase->state = NULL;
        g_free(flight);
    } else {
        prepared->refs++;
    }
    phase_tell_class(phase, event->stamp, prepared->course->members + part->first, part->n,
                     fluid_now(self) - part->latency_ps, NETWORK_DELIVERED);
    unref(prepared);
}

/* A member enters the solver with what is left of it. */
static void
split_member(Fluid *self, Phase *phase, uint32_t member, Count left, MaxMinUse *uses, uint64_t *bytes)
{
    const Course *course = ((Flight *)phase->state)->prepared->course;
    const Ways *ways = course->ways;
    const CourseClass *class = &course->classes[course->class_of[member]];
    Demand demand = {.uses = uses,
                     .bytes = bytes,
                     .n = ways->first[member + 1] - ways->first[member],
                     .largest = class->bytes,
                     .weight = class->weight,
                     .cap_Bps = ways->cap_Bps[member],
                     .latency_ps = ways->latency_ps[member]};
    for (uint32_t i = 0; i < demand.n; i++) {
        uint32_t hop = ways->first[member] + i;
        uses[i] = (MaxMinUse){ways->links[ways->hops[hop]], ways->shares != NULL ? ways->shares[hop] : 1};
        bytes[i] = class->bytes;
    }
    uint32_t number = phase_open_member(phase, member), book = INDEX_NONE;
    activities_get(self->base.activities, number)->latency_ps = demand.latency_ps;
    fluid_open(self, number, class->bytes, left, fluid_now(self));
    if (demand.n == 0) {
        activities_sent_in(self->base.activities, number, 0);
        return;
    }
    if (self->usage != NULL) {
        book = usage_begin(self->usage, phase->pattern->transfers[0].job, &demand, fluid_now(self));
        usage_credit(self->usage, book, class->bytes * BYTE - left);
    }
    fluid_enter(self, number, &demand, book);
}

static uint32_t
longest_way(const Ways *ways)
{
    uint32_t longest = 0;
    for (uint32_t t = 0; t < ways->n; t++)
        longest = MAX(longest, ways->first[t + 1] - ways->first[t]);
    return longest;
}

/* The members whose bytes are under way go by themselves from now on, in their order. */
static void
split(Prepared *prepared)
{
    Fluid *self = prepared->self;
    Phase *phase = prepared->active;
    Flight *flight = phase->state;
    const Course *course = prepared->course;
    SimTime time = fluid_now(self) - phase->start_ps;
    uint32_t longest = MAX(1, longest_way(course->ways));
    g_autofree MaxMinUse *uses = g_new(MaxMinUse, longest);
    g_autofree uint64_t *bytes = g_new(uint64_t, longest);
    g_autofree Count *left = g_new(Count, course->n_classes);
    prepared->active = NULL;
    for (uint32_t c = 0; c < course->n_classes; c++) {
        left[c] = course->classes[c].end >= flight->stage ? course_left(course, c, flight->stage, time) : 0;
        if (c < flight->n_books && flight->books[c] != INDEX_NONE)
            usage_drop(self->usage, flight->books[c], fluid_now(self));
    }
    for (uint32_t m = 0; m < course->ways->n; m++)
        if (course->classes[course->class_of[m]].end >= flight->stage)
            split_member(self, phase, m, left[course->class_of[m]], uses, bytes);
    for (uint32_t p = course->first_part[flight->stage]; p < course->n_parts; p++)
        flight->n_parts--;
    engine_abandon(self->base.engine, 1);
    flight->split = TRUE;
    if (flight->n_parts > 0)
        return;
    phase->state = NULL;
    g_free(flight);
    unref(prepared);
}

void
fluid_phase_init(Fluid *self)
{
    self->kind_stage = engine_add_kind(self->base.engine, handle_stage, self);
    self->kind_arrive = engine_add_kind(self->base.engine, handle_arrive, self);
}
