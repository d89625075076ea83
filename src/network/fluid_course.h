/* fluid_course.h - how a pattern goes when nobody disturbs it: its classes, and what each has at what time
 *
 * Times count from the sending. A class is a set of members of one rate and one end; a part, what is told at once, is
 * a class's members of one latency. Parts are sorted by end, then by their first member. In a stage every rate is
 * constant; at its end one class or more end. Times and bytes are those of single flows, count by count. */
#pragma once

#include "network/fluid_state.h"

typedef struct {
    uint32_t class;
    SimTime latency_ps;
    uint32_t first, n; /* in members */
} CoursePart;

typedef struct {
    double weight, cap_Bps; /* the cap: what its links have for one of them alone, or less */
    uint64_t bytes;
    uint32_t end;        /* the stage at whose end it ends */
    MaxMinUse *uses;     /* for the books: all its members together; NULL without books */
    uint64_t *use_bytes; /* likewise */
    uint32_t n_uses;
} CourseClass;

typedef struct {
    Ways *ways;
    uint32_t n_classes, n_parts, n_stages;
    CourseClass *classes;
    CoursePart *parts;
    uint32_t *members;    /* by part */
    uint32_t *class_of;   /* by member */
    SimTime *end_ps;      /* by stage */
    uint32_t *first_part; /* by stage: the parts that end with it; n_stages + 1 */
    double *rates;        /* by stage and class, of constant ones by class alone */
    gboolean constant;    /* every member has one rate until it ends */
    uint8_t *crowded;     /* by link of ways: full at some time with more than one member on it */
    gboolean saturates;   /* any link at any time */
} Course;

/* NULL: the members are not in few classes, or are such as only single flows can do (split over paths with books,
 * beyond the range of integers or time), or have no route. */
Course *course_new(Fluid *self, const Transfer *transfers, uint32_t n);
void course_free(Course *course); /* NULL is fine */

/* The rate of a member of the class in a stage; 0: it has ended. */
double course_rate(const Course *course, uint32_t class, uint32_t stage);
/* What is left of a member of the class at this time, which lies in that stage. */
Count course_left(const Course *course, uint32_t class, uint32_t stage, SimTime time);
