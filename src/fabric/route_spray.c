/* route_spray.c - counting paths and sharing them out */
#include "fabric/route_spray.h"

#include <math.h>

/* Where counts outgrow a double's exponent a whole layer is scaled by 2^-SCALE: exact, and the shares, which
 * are quotients, are the same. */
enum { SCALE = 256 };

typedef struct {
    uint32_t node;
    double before, after; /* paths from the beginning, to the end */
    SimTime latency_ps;   /* of the longest path from the beginning */
} Visit;

typedef struct {
    uint32_t link;
    uint32_t from, to; /* visits */
} Step;

/* The visits of one distance from the beginning, and the steps out of them. */
typedef struct {
    uint32_t first_visit, first_step;
    int before_scale, after_scale;
} Layer;

struct RouteSpray {
    const RouteGraph *graph;
    GArray *visits, *steps, *layers;
    uint32_t *visit_of; /* by node */
    uint32_t *seen;     /* by node: the last gathering that met it */
    uint32_t gathering;
};

RouteSpray *
route_spray_new(const RouteGraph *graph)
{
    RouteSpray *spray = g_new0(RouteSpray, 1);
    spray->graph = graph;
    spray->visits = g_array_new(FALSE, FALSE, sizeof(Visit));
    spray->steps = g_array_new(FALSE, FALSE, sizeof(Step));
    spray->layers = g_array_new(FALSE, FALSE, sizeof(Layer));
    spray->visit_of = g_new(uint32_t, graph->n_nodes);
    spray->seen = g_new0(uint32_t, graph->n_nodes);
    return spray;
}

void
route_spray_free(RouteSpray *spray)
{
    if (spray == NULL)
        return;
    g_array_unref(spray->visits);
    g_array_unref(spray->steps);
    g_array_unref(spray->layers);
    g_free(spray->visit_of);
    g_free(spray->seen);
    g_free(spray);
}

size_t
route_spray_memory(const RouteSpray *spray)
{
    return sizeof *spray + 2 * spray->graph->n_nodes * sizeof(uint32_t) + spray->visits->len * sizeof(Visit) +
           spray->steps->len * sizeof(Step) + spray->layers->len * sizeof(Layer);
}

static Visit *
visit_at(RouteSpray *spray, uint32_t i)
{
    return &g_array_index(spray->visits, Visit, i);
}

static Step *
step_at(RouteSpray *spray, uint32_t i)
{
    return &g_array_index(spray->steps, Step, i);
}

static Layer *
layer_at(RouteSpray *spray, uint32_t i)
{
    return &g_array_index(spray->layers, Layer, i);
}

static uint32_t
visit_of(RouteSpray *spray, uint32_t node)
{
    if (spray->seen[node] != spray->gathering) {
        spray->seen[node] = spray->gathering;
        spray->visit_of[node] = spray->visits->len;
        g_array_append_val(spray->visits, ((Visit){.node = node}));
    }
    return spray->visit_of[node];
}

/* Shell sort by link: a layer is nearly in order, and nothing may be allocated. */
static void
sort_steps(Step *steps, uint32_t n)
{
    for (uint32_t gap = n / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < n; i++) {
            Step step = steps[i];
            uint32_t k = i;
            for (; k >= gap && steps[k - gap].link > step.link; k -= gap)
                steps[k] = steps[k - gap];
            steps[k] = step;
        }
}

/* All nodes and links of the leg, layer by layer; the last layer is the end alone. */
static void
gather(RouteSpray *spray, const RouteLeg *leg)
{
    g_array_set_size(spray->visits, 0);
    g_array_set_size(spray->steps, 0);
    g_array_set_size(spray->layers, 0);
    spray->gathering++;
    /* The beginning is not marked as seen: no shortest way comes back to it, unless it is the end. */
    g_array_append_val(spray->visits, ((Visit){.node = leg->from, .before = 1}));
    uint32_t next = 0;
    for (uint32_t depth = 0; depth < leg->length; depth++) {
        Layer layer = {.first_visit = next, .first_step = spray->steps->len};
        g_array_append_val(spray->layers, layer);
        for (uint32_t last = spray->visits->len; next < last; next++) {
            RouteFan fan = route_leg_fan(leg, visit_at(spray, next)->node);
            for (uint32_t k = 0; k < fan.n; k++) {
                uint32_t link = route_fan_link(&fan, k);
                Step step = {link, next, visit_of(spray, spray->graph->dst[link])};
                g_array_append_val(spray->steps, step);
            }
        }
        sort_steps(step_at(spray, layer.first_step), spray->steps->len - layer.first_step);
    }
    g_array_append_val(spray->layers, ((Layer){.first_visit = next, .first_step = spray->steps->len}));
}

/* Brings the counts of a layer's visits (at offset in Visit) into range; the exponent taken out. */
static int
settle(RouteSpray *spray, uint32_t layer, size_t offset)
{
    uint32_t first = layer_at(spray, layer)->first_visit,
             end = layer + 1 < spray->layers->len ? layer_at(spray, layer + 1)->first_visit : spray->visits->len;
    double most = 0;
    for (uint32_t i = first; i < end; i++)
        most = MAX(most, G_STRUCT_MEMBER(double, visit_at(spray, i), offset));
    if (most < ldexp(1, SCALE))
        return 0;
    for (uint32_t i = first; i < end; i++) {
        double *count = &G_STRUCT_MEMBER(double, visit_at(spray, i), offset);
        *count = ldexp(*count, -SCALE);
    }
    return SCALE;
}

static uint32_t
n_steps(RouteSpray *spray, uint32_t layer)
{
    return layer_at(spray, layer + 1)->first_step - layer_at(spray, layer)->first_step;
}

static void
count_paths(RouteSpray *spray)
{
    uint32_t last = spray->layers->len - 1;
    for (uint32_t layer = 0; layer < last; layer++) {
        Step *steps = step_at(spray, layer_at(spray, layer)->first_step);
        for (uint32_t i = 0; i < n_steps(spray, layer); i++)
            visit_at(spray, steps[i].to)->before += visit_at(spray, steps[i].from)->before;
        layer_at(spray, layer + 1)->before_scale =
            layer_at(spray, layer)->before_scale + settle(spray, layer + 1, G_STRUCT_OFFSET(Visit, before));
    }
    visit_at(spray, spray->visits->len - 1)->after = 1;
    for (uint32_t layer = last; layer-- > 0;) {
        Step *steps = step_at(spray, layer_at(spray, layer)->first_step);
        for (uint32_t i = 0; i < n_steps(spray, layer); i++)
            visit_at(spray, steps[i].from)->after += visit_at(spray, steps[i].to)->after;
        layer_at(spray, layer)->after_scale =
            layer_at(spray, layer + 1)->after_scale + settle(spray, layer, G_STRUCT_OFFSET(Visit, after));
    }
}

static gboolean
longest(RouteSpray *spray, SimTime *latency_ps)
{
    for (uint32_t i = 0; i < spray->steps->len; i++) {
        const Step *step = step_at(spray, i);
        SimTime arrival;
        if (!sim_time_add(visit_at(spray, step->from)->latency_ps, spray->graph->latency_ps[step->link], &arrival))
            return FALSE;
        Visit *to = visit_at(spray, step->to);
        to->latency_ps = MAX(to->latency_ps, arrival);
    }
    *latency_ps = visit_at(spray, spray->visits->len - 1)->latency_ps;
    return TRUE;
}

gboolean
route_spray_leg(RouteSpray *spray, const RouteLeg *leg, GArray *hops, SimTime *latency_ps)
{
    gather(spray, leg);
    if (!longest(spray, latency_ps))
        return FALSE;
    count_paths(spray);
    double paths = visit_at(spray, 0)->after;
    for (uint32_t layer = 0; layer + 1 < spray->layers->len; layer++) {
        const Step *steps = step_at(spray, layer_at(spray, layer)->first_step);
        int scale = layer_at(spray, layer)->before_scale + layer_at(spray, layer + 1)->after_scale -
                    layer_at(spray, 0)->after_scale;
        for (uint32_t i = 0; i < n_steps(spray, layer); i++) {
            double share = visit_at(spray, steps[i].from)->before * visit_at(spray, steps[i].to)->after / paths;
            RouteHop hop = {steps[i].link, scale == 0 ? share : ldexp(share, scale)};
            g_array_append_val(hops, hop);
        }
    }
    return TRUE;
}

uint64_t
route_spray_count(RouteSpray *spray, const RouteLeg *leg)
{
    gather(spray, leg);
    g_autofree uint64_t *count = g_new0(uint64_t, spray->visits->len);
    count[0] = 1;
    for (uint32_t i = 0; i < spray->steps->len; i++) {
        const Step *step = step_at(spray, i);
        if (__builtin_add_overflow(count[step->to], count[step->from], &count[step->to]))
            count[step->to] = UINT64_MAX;
    }
    return count[spray->visits->len - 1];
}
