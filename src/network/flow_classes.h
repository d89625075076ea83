/* flow_classes.h - flows that max-min cannot tell apart: colour refinement of the graph of flows and links (SPEED.md 3)
 *
 * Flows start with the colour of what they are (weight, cap, bytes), links with that of their capacity; a flow takes on
 * the colours of its links, a link those of its flows, until nothing splits. On the partition reached (equitable: each
 * flow of a class has as much on links of each class, each link of a class as much of flows of each) max-min rates are
 * constant on a class, and the quotient has them: one flow a class, one link a class. Colours are hashes while they are
 * refined; the partition is verified exactly afterwards, so that no collision merges what differs. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
    double weight, cap_Bps;
    uint64_t bytes;
} FlowColor;

/* Flow f uses links[first[f]] .. links[first[f + 1] - 1], distinct, numbered below n_links. */
typedef struct {
    uint32_t n_flows, n_links;
    const uint32_t *first, *links;
    const double *shares;    /* along links; NULL: each takes all */
    const FlowColor *colors; /* by flow */
    const double *capacity;  /* by link */
} FlowGraph;

/* Of flows of class c: `share` of one of them, summed over the flows of that class, on each link of `link_class`. */
typedef struct {
    uint32_t link_class;
    double coefficient;
    uint32_t n_flows; /* of the class, on one such link */
} ClassUse;

typedef struct {
    uint32_t n_classes, n_link_classes;
    uint32_t *class_of;      /* by flow; classes are numbered as first met */
    uint32_t *link_class_of; /* by link */
    uint32_t *first;         /* by class: its uses; n_classes + 1 */
    ClassUse *uses;
} FlowClasses;

/* The coarsest such partition; NULL where it has more than `most` classes of flows, known as soon as refinement passes
 * that number. */
FlowClasses *flow_classes_find(const FlowGraph *graph, uint32_t most);
void flow_classes_free(FlowClasses *classes); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FlowClasses, flow_classes_free)
