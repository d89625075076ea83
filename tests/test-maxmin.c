#include "support.h"

#include "base/index.h"
#include "base/random.h"
#include "network/level_fill.h"
#include "network/maxmin.h"
#include "network/maxmin_state.h"

#include <math.h>

/* The slow and obvious answer: all flows that nothing holds yet rise to the level at which something does, again and
 * again. */
enum { MOST_LINKS = 40, MOST_FLOWS = 400, MOST_USES = 12 };

/* Of what kind flows are: any weights, caps and coefficients; coefficients of 1; weights of 1 as well; no caps either.
 */
typedef enum { ANY, WEIGHTED, EVEN, UNCAPPED } Kind;

typedef struct {
    gboolean live;
    double weight, cap;
    uint32_t n;
    MaxMinUse uses[MOST_USES];
    uint32_t id; /* in the solver */
    double rate; /* by reference */
    gboolean held;
} ModelFlow;

typedef struct {
    double capacity[MOST_LINKS];
    uint32_t n_links, n_flows;
    ModelFlow flows[MOST_FLOWS];
} Model;

static double
level_that_holds(const Model *model, const double *load, const double *weight)
{
    double least = INFINITY;
    for (uint32_t l = 0; l < model->n_links; l++)
        if (weight[l] > 0)
            least = fmin(least, fmax(0, (model->capacity[l] - load[l]) / weight[l]));
    for (uint32_t f = 0; f < model->n_flows; f++)
        if (model->flows[f].live && !model->flows[f].held)
            least = fmin(least, model->flows[f].cap / model->flows[f].weight);
    return least;
}

static void
reference_solve(Model *model)
{
    for (uint32_t f = 0; f < model->n_flows; f++) {
        model->flows[f].held = !model->flows[f].live;
        model->flows[f].rate = 0;
    }
    for (;;) {
        double load[MOST_LINKS] = {0}, weight[MOST_LINKS] = {0};
        gboolean any = FALSE;
        for (uint32_t f = 0; f < model->n_flows; f++) {
            const ModelFlow *flow = &model->flows[f];
            any |= !flow->held;
            for (uint32_t i = 0; flow->live && i < flow->n; i++) {
                if (flow->held)
                    load[flow->uses[i].link] += flow->uses[i].coefficient * flow->rate;
                else
                    weight[flow->uses[i].link] += flow->uses[i].coefficient * flow->weight;
            }
        }
        if (!any)
            return;
        double level = level_that_holds(model, load, weight);
        for (uint32_t f = 0; f < model->n_flows; f++) {
            ModelFlow *flow = &model->flows[f];
            if (flow->held)
                continue;
            flow->rate = flow->weight * level;
            if (flow->cap <= flow->rate * (1 + 1e-13)) {
                flow->rate = flow->cap;
                flow->held = TRUE;
            }
            for (uint32_t i = 0; i < flow->n && !flow->held; i++) {
                uint32_t l = flow->uses[i].link;
                flow->held = fmax(0, model->capacity[l] - load[l]) <= weight[l] * level * (1 + 1e-13);
            }
        }
    }
}

static void
check_invariants(const Model *model, const MaxMin *solver)
{
    double load[MOST_LINKS] = {0}, highest[MOST_LINKS] = {0};
    for (uint32_t f = 0; f < model->n_flows; f++) {
        const ModelFlow *flow = &model->flows[f];
        for (uint32_t i = 0; flow->live && i < flow->n; i++) {
            uint32_t l = flow->uses[i].link;
            load[l] += flow->uses[i].coefficient * maxmin_rate(solver, flow->id);
            highest[l] = fmax(highest[l], maxmin_rate(solver, flow->id) / flow->weight);
        }
    }
    for (uint32_t l = 0; l < model->n_links; l++) {
        ck_assert_msg(load[l] <= model->capacity[l] * (1 + 1e-12), "link %u over capacity: %.17g of %.17g", l, load[l],
                      model->capacity[l]);
        ck_assert_double_eq_tol(maxmin_load(solver, l), load[l], 1e-9 * (1 + model->capacity[l]));
    }
    for (uint32_t f = 0; f < model->n_flows; f++) {
        const ModelFlow *flow = &model->flows[f];
        if (!flow->live)
            continue;
        double rate = maxmin_rate(solver, flow->id), level = rate / flow->weight;
        gboolean held = rate >= flow->cap * (1 - 1e-9);
        for (uint32_t i = 0; i < flow->n; i++) {
            uint32_t l = flow->uses[i].link;
            held |= load[l] >= model->capacity[l] * (1 - 1e-9) && level >= highest[l] * (1 - 1e-8);
        }
        ck_assert_msg(held, "flow %u at %.17g is held by nothing", f, rate);
    }
}

static void
check_against_reference(Model *model, const MaxMin *solver, int seed, int round)
{
    reference_solve(model);
    for (uint32_t f = 0; f < model->n_flows; f++) {
        const ModelFlow *flow = &model->flows[f];
        if (!flow->live)
            continue;
        double rate = maxmin_rate(solver, flow->id);
        ck_assert_msg(fabs(rate - flow->rate) <= 1e-9 * flow->rate + 1e-9,
                      "seed %d round %d flow %u: %.17g, reference %.17g", seed, round, f, rate, flow->rate);
    }
    check_invariants(model, solver);
}

static void
random_flow(ModelFlow *flow, uint32_t n_links, Kind kind, Random *dice)
{
    static const double coefficients[] = {1, 1, 1, 0.5, 0.0625, 2, 3, 1.0 / 3};
    *flow = (ModelFlow){.live = TRUE, .weight = 1, .cap = INFINITY};
    flow->n = 1 + (uint32_t)random_below(dice, MOST_USES - 1);
    uint32_t first = (uint32_t)random_below(dice, n_links);
    for (uint32_t i = 0; i < flow->n; i++) { /* distinct: a stride through the links */
        flow->uses[i].link = (first + i * (1 + n_links / 11)) % n_links;
        flow->uses[i].coefficient = kind != ANY ? 1 : coefficients[random_below(dice, G_N_ELEMENTS(coefficients))];
        for (uint32_t k = 0; k < i; k++)
            if (flow->uses[k].link == flow->uses[i].link) {
                flow->n = i;
                return;
            }
    }
    if ((kind == ANY || kind == WEIGHTED) && random_below(dice, 4) == 0)
        flow->weight = 1 + (double)random_below(dice, 8);
    if (kind != UNCAPPED && random_below(dice, 4) == 0)
        flow->cap = 1e4 * (1 + (double)random_below(dice, 60));
}

static void
random_change(Model *model, MaxMin *solver, Kind kind, Random *dice)
{
    uint64_t what = random_below(dice, 10);
    if (what == 0) {
        uint32_t l = (uint32_t)random_below(dice, model->n_links);
        model->capacity[l] = 1e4 * (1 + (double)random_below(dice, 300));
        maxmin_set_capacity(solver, l, model->capacity[l]);
        return;
    }
    uint32_t f = (uint32_t)random_below(dice, MOST_FLOWS / (kind != ANY ? 1 : 4));
    ModelFlow *flow = &model->flows[f];
    if (f >= model->n_flows) {
        f = model->n_flows++;
        flow = &model->flows[f];
    } else if (flow->live) {
        maxmin_remove(solver, flow->id);
        flow->live = FALSE;
        if (what < 5)
            return;
        if (what < 7) { /* an equal flow follows at once */
            flow->id = maxmin_add(solver, flow->uses, flow->n, flow->weight, flow->cap);
            flow->live = TRUE;
            return;
        }
    }
    random_flow(flow, model->n_links, kind, dice);
    flow->id = maxmin_add(solver, flow->uses, flow->n, flow->weight, flow->cap);
}

/* Random changes, a few an instant: every solve equals the full one, and tells exactly whose rate changed. */
static void
random_changes(int seed, gboolean climbing)
{
    Random dice = random_named((uint64_t)seed, "maxmin");
    gboolean even = seed % 3 == 0; /* equal capacities and weights: ties everywhere */
    Kind kind = climbing ? UNCAPPED : even ? EVEN : seed % 3 == 1 ? WEIGHTED : ANY;
    g_autofree Model *model = g_new0(Model, 1);
    model->n_links = 3 + (uint32_t)random_below(&dice, MOST_LINKS - 3);
    g_autoptr(MaxMin) solver = maxmin_new(model->n_links);
    for (uint32_t l = 0; l < model->n_links; l++) {
        model->capacity[l] = 1e4 * (even ? 120 : 1 + (double)random_below(&dice, 200) / 7);
        maxmin_set_capacity(solver, l, model->capacity[l]);
    }
    for (int round = 0; round < 40; round++) {
        g_autofree double *before = g_new0(double, MOST_FLOWS);
        uint64_t n_changes = round == 0 ? (kind != ANY ? 300 : 60) : 1 + random_below(&dice, 4);
        for (uint64_t i = 0; i < n_changes; i++)
            random_change(model, solver, kind, &dice);
        for (uint32_t f = 0; f < model->n_flows; f++)
            before[f] = model->flows[f].live ? maxmin_rate(solver, model->flows[f].id) : 0;
        uint32_t n_changed;
        const uint32_t *changed = maxmin_solve(solver, &n_changed);
        for (uint32_t f = 0; f < model->n_flows; f++) {
            uint32_t times = 0;
            for (uint32_t i = 0; i < n_changed; i++)
                times += model->flows[f].live && changed[i] == model->flows[f].id;
            ck_assert_uint_le(times, 1);
            if (model->flows[f].live && times == 0)
                ck_assert_double_eq(before[f], maxmin_rate(solver, model->flows[f].id));
        }
        check_against_reference(model, solver, seed, round);
        if (climbing && solver->ladder == NULL)
            maxmin_ladder_begin(solver);
    }
}

/* Whoever keeps rates by link, and by itself those of flows that are named without one, has every flow's rate. */
static void
random_changes_by_link(int seed)
{
    Random dice = random_named((uint64_t)seed, "maxmin-by-link");
    gboolean even = seed % 3 == 0;
    g_autofree Model *model = g_new0(Model, 1);
    model->n_links = 3 + (uint32_t)random_below(&dice, 6);
    g_autoptr(MaxMin) solver = maxmin_new(model->n_links);
    for (uint32_t l = 0; l < model->n_links; l++) {
        model->capacity[l] = 1e6;
        maxmin_set_capacity(solver, l, model->capacity[l]);
    }
    double by_link[MOST_LINKS] = {0};
    g_autofree double *alone = g_new0(double, MOST_FLOWS + 1); /* by number in the solver */
    g_autofree uint32_t *holder = g_new0(uint32_t, MOST_FLOWS + 1);
    for (int round = 0; round < 40; round++) {
        for (uint64_t n = round == 0 ? 8 : 1 + random_below(&dice, 4); n > 0; n--)
            random_change(model, solver, even ? EVEN : ANY, &dice);
        uint32_t n_flows, n_links;
        const uint32_t *links, *flows = maxmin_solve_by_link(solver, &n_flows, &links, &n_links);
        for (uint32_t i = 0; i < n_flows; i++) {
            ck_assert_uint_le(flows[i], MOST_FLOWS);
            holder[flows[i]] = maxmin_holder(solver, flows[i]);
            alone[flows[i]] = maxmin_rate(solver, flows[i]);
        }
        for (uint32_t i = 0; i < n_links; i++)
            by_link[links[i]] = maxmin_held_rate(solver, links[i]);
        for (uint32_t f = 0; f < model->n_flows; f++) {
            uint32_t id = model->flows[f].id;
            if (model->flows[f].live)
                ck_assert_double_eq(holder[id] == INDEX_NONE ? alone[id] : by_link[holder[id]],
                                    maxmin_rate(solver, id));
        }
    }
}

/* A flow of weight 1 joins one of weight 2 at the level that this has had. */
START_TEST(a_link_is_told_of_before_its_first_even_flow)
{
    g_autoptr(MaxMin) solver = maxmin_new(1);
    maxmin_set_capacity(solver, 0, 9);
    MaxMinUse use = {0, 1};
    maxmin_add(solver, &use, 1, 2, INFINITY);
    uint32_t n_flows, n_links;
    const uint32_t *links;
    double told = 0;
    maxmin_solve_by_link(solver, &n_flows, &links, &n_links);
    if (n_links > 0)
        told = maxmin_held_rate(solver, 0);
    maxmin_set_capacity(solver, 0, 13.5);
    uint32_t even = maxmin_add(solver, &use, 1, 1, INFINITY);
    maxmin_solve_by_link(solver, &n_flows, &links, &n_links);
    if (n_links > 0)
        told = maxmin_held_rate(solver, 0);
    ck_assert_uint_eq(maxmin_holder(solver, even), 0);
    ck_assert_double_eq(told, 4.5);
}
END_TEST

START_TEST(rates_by_link_are_those_of_flows)
{
    for (int seed = 10 * _i; seed < 10 * _i + 10; seed++)
        random_changes_by_link(seed);
}
END_TEST

/* Ten seeds a test: forking costs more than they do. */
START_TEST(random_changes_equal_a_full_solve)
{
    for (int seed = 10 * _i; seed < 10 * _i + 10; seed++)
        random_changes(seed, FALSE);
}
END_TEST

START_TEST(climbs_equal_a_full_solve)
{
    for (int seed = 10 * _i; seed < 10 * _i + 10; seed++)
        random_changes(seed, TRUE);
}
END_TEST

/* Equal flows from nothing: the arrays made for one answer give what the solver gives, and the links that are full. */
START_TEST(a_filling_at_once_equals_the_solver)
{
    Random dice = random_named((uint64_t)_i, "level-fill");
    g_autofree Model *model = g_new0(Model, 1);
    model->n_links = 3 + (uint32_t)random_below(&dice, MOST_LINKS - 3);
    model->n_flows = 1 + (uint32_t)random_below(&dice, MOST_FLOWS - 1);
    gboolean split = _i % 2 == 1;
    g_autoptr(MaxMin) solver = maxmin_new(model->n_links);
    for (uint32_t l = 0; l < model->n_links; l++) {
        model->capacity[l] = 1e4 * (1 + (double)random_below(&dice, 200) / 7);
        maxmin_set_capacity(solver, l, model->capacity[l]);
    }
    uint32_t first[MOST_FLOWS + 1] = {0}, links[MOST_FLOWS * MOST_USES];
    double shares[MOST_FLOWS * MOST_USES], rates[MOST_FLOWS];
    FlowColor colors[MOST_FLOWS];
    uint8_t full[MOST_LINKS];
    for (uint32_t f = 0; f < model->n_flows; f++) {
        ModelFlow *flow = &model->flows[f];
        random_flow(flow, model->n_links, !split, &dice);
        flow->weight = 1;
        flow->cap = random_below(&dice, 4) == 0 ? 1e4 * (1 + (double)random_below(&dice, 8)) : INFINITY;
        flow->id = maxmin_add(solver, flow->uses, flow->n, 1, flow->cap);
        colors[f] = (FlowColor){1, flow->cap, 1000};
        first[f + 1] = first[f] + flow->n;
        for (uint32_t i = 0; i < flow->n; i++) {
            links[first[f] + i] = flow->uses[i].link;
            shares[first[f] + i] = flow->uses[i].coefficient;
        }
    }
    FlowGraph graph = {model->n_flows, model->n_links, first, links, split ? shares : NULL, colors, model->capacity};
    ck_assert(level_fill(&graph, rates, full));
    uint32_t n_changed;
    maxmin_solve(solver, &n_changed);
    for (uint32_t f = 0; f < model->n_flows; f++)
        ck_assert_double_eq_tol(maxmin_round_down(rates[f]), maxmin_rate(solver, model->flows[f].id), 1e-9 * rates[f]);
    for (uint32_t l = 0; l < model->n_links; l++)
        ck_assert_uint_eq(full[l], isfinite(maxmin_link_level(solver, l)));
    reference_solve(model);
    for (uint32_t f = 0; f < model->n_flows; f++)
        ck_assert_double_eq_tol(rates[f], model->flows[f].rate, 1e-9 * rates[f]);
}
END_TEST

static uint32_t
add_over(MaxMin *solver, const uint32_t *links, uint32_t n, double weight, double cap)
{
    MaxMinUse uses[8];
    for (uint32_t i = 0; i < n; i++)
        uses[i] = (MaxMinUse){links[i], 1};
    return maxmin_add(solver, uses, n, weight, cap);
}

/* Links of capacity 1; link 1 carries three sessions and is the first to fill, at 1/3; link 0 has 2/3 left. */
START_TEST(textbook_parking_lot)
{
    g_autoptr(MaxMin) solver = maxmin_new(4);
    for (uint32_t l = 0; l < 4; l++)
        maxmin_set_capacity(solver, l, 1);
    uint32_t one = add_over(solver, (uint32_t[]){0}, 1, 1, INFINITY);
    uint32_t two = add_over(solver, (uint32_t[]){0, 1}, 2, 1, INFINITY);
    uint32_t three = add_over(solver, (uint32_t[]){1}, 1, 1, INFINITY);
    uint32_t four = add_over(solver, (uint32_t[]){1, 2}, 2, 1, INFINITY);
    uint32_t five = add_over(solver, (uint32_t[]){3}, 1, 1, INFINITY);
    uint32_t n_changed;
    maxmin_solve(solver, &n_changed);
    ck_assert_uint_eq(n_changed, 5);
    ck_assert_double_eq_tol(maxmin_rate(solver, one), 2.0 / 3, 1e-9);
    ck_assert_double_eq_tol(maxmin_rate(solver, two), 1.0 / 3, 1e-9);
    ck_assert_double_eq_tol(maxmin_rate(solver, three), 1.0 / 3, 1e-9);
    ck_assert_double_eq_tol(maxmin_rate(solver, four), 1.0 / 3, 1e-9);
    ck_assert_double_eq(maxmin_rate(solver, five), 1);
    ck_assert(isinf(maxmin_link_level(solver, 2)));
    ck_assert(maxmin_is_bottleneck(solver, one, 0) && !maxmin_is_bottleneck(solver, two, 0));
}
END_TEST

START_TEST(weights_caps_and_coefficients)
{
    g_autoptr(MaxMin) solver = maxmin_new(1);
    maxmin_set_capacity(solver, 0, 100);
    uint32_t heavy = add_over(solver, (uint32_t[]){0}, 1, 3, INFINITY);
    uint32_t light = add_over(solver, (uint32_t[]){0}, 1, 1, INFINITY);
    uint32_t capped = add_over(solver, (uint32_t[]){0}, 1, 1, 10);
    MaxMinUse split = {0, 0.5};
    uint32_t half = maxmin_add(solver, &split, 1, 1, INFINITY); /* level x: 3x + x + 10 + x/2 = 100, x = 20 */
    uint32_t n_changed;
    maxmin_solve(solver, &n_changed);
    ck_assert_double_eq(maxmin_rate(solver, heavy), 60);
    ck_assert_double_eq(maxmin_rate(solver, light), 20);
    ck_assert_double_eq(maxmin_rate(solver, capped), 10);
    ck_assert_double_eq(maxmin_rate(solver, half), 20);
    ck_assert_double_eq(maxmin_load(solver, 0), 100);
}
END_TEST

/* A chain: what leaves at one end moves rates at the other, up and down; what is slower stays untouched. */
START_TEST(only_the_affected_are_told)
{
    g_autoptr(MaxMin) solver = maxmin_new(3);
    double capacities[] = {10, 30, 2};
    for (uint32_t l = 0; l < 3; l++)
        maxmin_set_capacity(solver, l, capacities[l]);
    uint32_t a = add_over(solver, (uint32_t[]){0}, 1, 1, INFINITY);
    uint32_t b = add_over(solver, (uint32_t[]){0, 1}, 2, 1, INFINITY);
    uint32_t c = add_over(solver, (uint32_t[]){1}, 1, 1, INFINITY);
    uint32_t slow = add_over(solver, (uint32_t[]){1, 2}, 2, 1, INFINITY);
    uint32_t n;
    maxmin_solve(solver, &n);
    ck_assert_double_eq(maxmin_rate(solver, b), 5);
    ck_assert_double_eq(maxmin_rate(solver, c), 23);
    ck_assert_double_eq(maxmin_rate(solver, slow), 2);
    maxmin_remove(solver, a);
    const uint32_t *changed = maxmin_solve(solver, &n);
    ck_assert_uint_eq(n, 2);
    for (uint32_t i = 0; i < n; i++)
        ck_assert(changed[i] == b || changed[i] == c);
    ck_assert_double_eq(maxmin_rate(solver, b), 10);
    ck_assert_double_eq(maxmin_rate(solver, c), 18);
}
END_TEST

START_TEST(an_equal_flow_takes_the_place)
{
    g_autoptr(MaxMin) solver = maxmin_new(2);
    maxmin_set_capacity(solver, 0, 7);
    maxmin_set_capacity(solver, 1, 7);
    uint32_t other = add_over(solver, (uint32_t[]){1}, 1, 1, INFINITY);
    uint32_t flow = add_over(solver, (uint32_t[]){0, 1}, 2, 1, INFINITY), n;
    maxmin_solve(solver, &n);
    for (int i = 0; i < 3; i++) {
        maxmin_remove(solver, flow);
        flow = add_over(solver, (uint32_t[]){0, 1}, 2, 1, INFINITY);
        const uint32_t *changed = maxmin_solve(solver, &n);
        ck_assert_uint_eq(n, 1);
        ck_assert_uint_eq(changed[0], flow);
        uint32_t n_links;
        maxmin_touched_links(solver, &n_links);
        ck_assert_uint_eq(n_links, 0);
        ck_assert_double_eq(maxmin_rate(solver, flow), 3.5);
        ck_assert_double_eq(maxmin_rate(solver, other), 3.5);
    }
    ck_assert_uint_eq(maxmin_n_flows(solver), 2);
}
END_TEST

START_TEST(rates_round_down_to_what_integers_count)
{
    g_autoptr(MaxMin) solver = maxmin_new(3);
    maxmin_set_capacity(solver, 0, 10);
    maxmin_set_capacity(solver, 1, 1e11);
    maxmin_set_capacity(solver, 2, 0);
    uint32_t flows[6], n;
    for (uint32_t i = 0; i < 3; i++) {
        flows[i] = add_over(solver, (uint32_t[]){0}, 1, 1, INFINITY);
        flows[3 + i] = add_over(solver, (uint32_t[]){1}, 1, 1, INFINITY);
    }
    uint32_t stopped = add_over(solver, (uint32_t[]){1, 2}, 2, 1, INFINITY);
    maxmin_solve(solver, &n);
    double low = maxmin_rate(solver, flows[0]), high = maxmin_rate(solver, flows[3]);
    ck_assert(low <= 10.0 / 3 && low > 10.0 / 3 - 0x1p-31);
    ck_assert_double_eq(low * 0x1p32, floor(low * 0x1p32));
    ck_assert(high <= 1e11 / 3 && high > 1e11 / 3 * (1 - 0x1p-39));
    ck_assert_double_eq(high * 0x1p5, floor(high * 0x1p5)); /* 1e11 / 3 < 2^35: 40 bits end at 2^-5 */
    ck_assert_double_eq(maxmin_rate(solver, stopped), 0);
}
END_TEST

int
main(void)
{
    Suite *suite = suite_create("maxmin");
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, textbook_parking_lot);
    tcase_add_test(cases, weights_caps_and_coefficients);
    tcase_add_test(cases, only_the_affected_are_told);
    tcase_add_test(cases, an_equal_flow_takes_the_place);
    tcase_add_test(cases, rates_round_down_to_what_integers_count);
    tcase_add_loop_test(cases, random_changes_equal_a_full_solve, 0, 40);
    tcase_add_loop_test(cases, climbs_equal_a_full_solve, 0, 40);
    tcase_add_loop_test(cases, a_filling_at_once_equals_the_solver, 0, 60);
    tcase_add_test(cases, a_link_is_told_of_before_its_first_even_flow);
    tcase_add_loop_test(cases, rates_by_link_are_those_of_flows, 0, 20);
    suite_add_tcase(suite, cases);
    return support_main(suite);
}
