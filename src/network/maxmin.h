/* maxmin.h - weighted max-min fair rates, solved incrementally
 *
 * Flows share links. A flow of rate r takes coefficient x r of a link it uses (a share below 1 where its bytes
 * are split over paths, above 1 where several transfers that progress together cross the link). Rates rise together
 * in proportion to weight until a link is full or a cap is reached (DEFINITIONS 3). The level of a flow is
 * rate / weight.
 *
 * Changes are gathered; maxmin_solve() then looks only at links whose flows they can affect. A flow added where one of
 * equal path, weight and cap leaves before the next solve takes its place, at the cost of its path. Nothing depends on
 * addresses; equal calls in equal order give equal rates. Rates are per second, of any unit.
 *
 * Flows of weight 1 that are held by one link have one rate: whoever keeps something by flow that only changes with the
 * rate can keep it by link (maxmin_solve_by_link).
 */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct {
    uint32_t link;
    double coefficient; /* > 0 */
} MaxMinUse;

typedef struct MaxMin MaxMin;

/* n_links links of capacity 0; more come by maxmin_add_link. */
MaxMin *maxmin_new(uint32_t n_links);
void maxmin_free(MaxMin *solver); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MaxMin, maxmin_free)

/* Its number: one more than the last. */
uint32_t maxmin_add_link(MaxMin *solver, double capacity);
/* 0 <= capacity < 2^55. */
void maxmin_set_capacity(MaxMin *solver, uint32_t link, double capacity);
double maxmin_capacity(const MaxMin *solver, uint32_t link);

/* A flow over n_uses >= 1 distinct links, copied. weight > 0; cap > 0, INFINITY = none. Its number, which may be that
 * of a flow removed earlier. It has a rate from the next solve on, whose changes name it in any case. */
uint32_t maxmin_add(MaxMin *solver, const MaxMinUse *uses, uint32_t n_uses, double weight, double cap);
void maxmin_remove(MaxMin *solver, uint32_t flow);
/* Asks for the memory that maxmin_remove of this flow, soon to come, will touch. */
void maxmin_fetch(const MaxMin *solver, uint32_t flow);
/* Flows added and not removed. */
uint32_t maxmin_n_flows(const MaxMin *solver);

/* Solves; the flows whose rate changed and the flows that are new, each once, owned by the solver until the next call.
 */
const uint32_t *maxmin_solve(MaxMin *solver, uint32_t *n_changed);
/* Solves, too; what changed is told by link: the links whose flows of weight 1, if there are any, have another rate
 * (owned by the solver likewise), and by name the flows whose holder or, where they have none, whose rate may be
 * another. */
const uint32_t *maxmin_solve_by_link(MaxMin *solver, uint32_t *n_flows, const uint32_t **links, uint32_t *n_links);
/* The link whose flows of weight 1 have the flow's rate for as long as the holder is the same; INDEX_NONE = none. */
uint32_t maxmin_holder(const MaxMin *solver, uint32_t flow);
/* Rounded as maxmin_rate. */
double maxmin_held_rate(const MaxMin *solver, uint32_t link);
/* The links whose load or saturation level may have changed in the last solve, likewise. */
const uint32_t *maxmin_touched_links(const MaxMin *solver, uint32_t *n_links);

/* As of the last solve: the rate rounded down to 40 significant bits and to a multiple of 2^-32 (so that times and
 * bytes can be counted in integers), the rate before rounding, and rate / weight. */
double maxmin_rate(const MaxMin *solver, uint32_t flow);
double maxmin_round_down(double rate);
double maxmin_exact_rate(const MaxMin *solver, uint32_t flow);
double maxmin_level(const MaxMin *solver, uint32_t flow);
/* As given. */
double maxmin_weight(const MaxMin *solver, uint32_t flow);
double maxmin_cap(const MaxMin *solver, uint32_t flow);
/* The sum of coefficient x rate over the link's flows. */
double maxmin_load(const MaxMin *solver, uint32_t link);
/* The highest level on a full link; INFINITY where the link is not full. */
double maxmin_link_level(const MaxMin *solver, uint32_t link);
/* Is this link, one that the flow uses, where the flow is held: full, and none there has a higher level? */
gboolean maxmin_is_bottleneck(const MaxMin *solver, uint32_t flow, uint32_t link);

/* The i-th link that a flow uses, and the i-th flow on a link (in no particular, but repeatable, order). */
uint32_t maxmin_n_uses(const MaxMin *solver, uint32_t flow);
MaxMinUse maxmin_use(const MaxMin *solver, uint32_t flow, uint32_t i);
uint32_t maxmin_n_on_link(const MaxMin *solver, uint32_t link);
uint32_t maxmin_on_link(const MaxMin *solver, uint32_t link, uint32_t i);
