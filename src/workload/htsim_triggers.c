/* htsim_triggers.c - does every flow of a connection matrix start, and no trigger too often?
 *
 * A flow starts once its time has come or its trigger has fired, and the message before it on its connection is sent.
 * Which flows start does not depend on the order in which they end: a worklist finds them. */
#include "workload/htsim_cm.h"

#include "base/error.h"

typedef struct {
    const HtsimMatrix *matrix;
    GPtrArray *bound;    /* a trigger: GArray of uint32_t, the flows it starts, in file order */
    uint32_t *activated; /* a trigger: how often */
    uint32_t *next;      /* a multishot: the place in bound of the flow it starts next */
    uint32_t *after;     /* a flow: the message after it, INDEX_NONE */
    uint8_t *missing;    /* a flow: what it still waits for */
    GArray *ready;       /* of flows */
} Starts;

static const HtsimFlow *
flow_at(const HtsimMatrix *matrix, uint32_t index)
{
    return &g_array_index(matrix->flows, HtsimFlow, index);
}

static void
release(Starts *starts, uint32_t flow)
{
    if (--starts->missing[flow] == 0)
        g_array_append_val(starts->ready, flow);
}

/* "line N: trigger K is oneshot, and N flows activate it" */
static gboolean
too_often(const Starts *starts, uint32_t index, uint32_t expected, GError **error)
{
    static const char *const kinds[] = {"oneshot", "multishot", "barrier"};
    const HtsimTrigger *trigger = &g_array_index(starts->matrix->triggers, HtsimTrigger, index);
    uint32_t n = 0;
    for (uint32_t i = 0; i < starts->matrix->flows->len; i++) {
        const HtsimFlow *flow = flow_at(starts->matrix, i);
        n += (flow->send_done == index) + (flow->recv_done == index);
    }
    return error_input(error, "%s:%zu: trigger %" G_GUINT64_FORMAT " is a %s for %u activation%s, and gets %u",
                       starts->matrix->path, trigger->line, trigger->id, kinds[trigger->kind], expected,
                       expected == 1 ? "" : "s", n);
}

static gboolean
activate(Starts *starts, uint32_t index, GError **error)
{
    if (index == INDEX_NONE)
        return TRUE;
    const HtsimTrigger *trigger = &g_array_index(starts->matrix->triggers, HtsimTrigger, index);
    const GArray *bound = g_ptr_array_index(starts->bound, index);
    uint32_t most = trigger->kind == HTSIM_MULTISHOT ? bound->len : trigger->count;
    if (++starts->activated[index] > most)
        return too_often(starts, index, most, error);
    if (trigger->kind == HTSIM_MULTISHOT) {
        release(starts, g_array_index(bound, uint32_t, starts->next[index]++));
        return TRUE;
    }
    for (uint32_t i = 0; starts->activated[index] == trigger->count && i < bound->len; i++)
        release(starts, g_array_index(bound, uint32_t, i));
    return TRUE;
}

static gboolean
run_all(Starts *starts, GError **error)
{
    for (uint32_t at = 0; at < starts->ready->len; at++) {
        uint32_t index = g_array_index(starts->ready, uint32_t, at);
        const HtsimFlow *flow = flow_at(starts->matrix, index);
        if (starts->after[index] != INDEX_NONE)
            release(starts, starts->after[index]);
        if (!activate(starts, flow->send_done, error) || !activate(starts, flow->recv_done, error))
            return FALSE;
    }
    return TRUE;
}

/* The first flow that never started, and why. */
static gboolean
all_started(const Starts *starts, GError **error)
{
    const HtsimMatrix *matrix = starts->matrix;
    for (uint32_t i = 0; i < matrix->flows->len; i++) {
        const HtsimFlow *flow = flow_at(matrix, i);
        if (starts->missing[i] == 0)
            continue;
        g_autofree char *name = htsim_flow_name(flow);
        if (flow->trigger == INDEX_NONE)
            return error_input(error, "%s:%zu: %s never starts: the message before it on its connection does not",
                               matrix->path, flow->line, name);
        const HtsimTrigger *trigger = &g_array_index(matrix->triggers, HtsimTrigger, flow->trigger);
        return error_input(error,
                           "%s:%zu: %s never starts: its trigger %" G_GUINT64_FORMAT
                           " is activated %u times by flows that do start, %s needed",
                           matrix->path, flow->line, name, trigger->id, starts->activated[flow->trigger],
                           trigger->kind == HTSIM_MULTISHOT ? "more are"
                           : trigger->count == 1            ? "once is"
                                                            : "its count is");
    }
    return TRUE;
}

static void
fill(Starts *starts)
{
    const HtsimMatrix *matrix = starts->matrix;
    for (uint32_t i = 0; i < matrix->triggers->len; i++)
        g_ptr_array_add(starts->bound, g_array_new(FALSE, FALSE, sizeof(uint32_t)));
    for (uint32_t i = 0; i < matrix->flows->len; i++)
        starts->after[i] = INDEX_NONE;
    for (uint32_t i = 0; i < matrix->flows->len; i++) {
        const HtsimFlow *flow = flow_at(matrix, i);
        if (flow->before != INDEX_NONE)
            starts->after[flow->before] = i;
        if (flow->trigger != INDEX_NONE)
            g_array_append_val((GArray *)g_ptr_array_index(starts->bound, flow->trigger), i);
        starts->missing[i] = (uint8_t)((flow->before != INDEX_NONE) + (flow->trigger != INDEX_NONE));
        if (starts->missing[i] == 0)
            g_array_append_val(starts->ready, i);
    }
}

gboolean
htsim_matrix_check_starts(const HtsimMatrix *matrix, GError **error)
{
    uint32_t n_flows = matrix->flows->len, n_triggers = matrix->triggers->len;
    Starts starts = {.matrix = matrix,
                     .bound = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref),
                     .activated = g_new0(uint32_t, n_triggers + 1),
                     .next = g_new0(uint32_t, n_triggers + 1),
                     .after = g_new0(uint32_t, n_flows + 1),
                     .missing = g_new0(uint8_t, n_flows + 1),
                     .ready = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    fill(&starts);
    gboolean good = run_all(&starts, error) && all_started(&starts, error);
    g_ptr_array_unref(starts.bound);
    g_free(starts.activated);
    g_free(starts.next);
    g_free(starts.after);
    g_free(starts.missing);
    g_array_unref(starts.ready);
    return good;
}
