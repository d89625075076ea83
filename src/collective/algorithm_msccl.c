/* algorithm_msccl.c - MSCCL files as algorithms: "msccl:PATH" in place of a name
 *
 * Steps become a schedule: a receive is a join that waits for the message, a send goes when its thread block is there
 * and what it names is done. A send is done once it was sent; the few slots of NCCL's FIFOs, and the repetition of the
 * step list for big messages, are not modelled. A file stays loaded until the program ends. */
#include "base/error.h"
#include "collective/algorithm.h"
#include "collective/msccl.h"

#include <assert.h>
#include <string.h>

typedef struct {
    CollectiveAlgorithm algorithm;
    Msccl *msccl;
} Loaded;

static const char prefix[] = "msccl:";

gboolean
algorithm_is_file(const char *name)
{
    return name != NULL && g_str_has_prefix(name, prefix);
}

static uint64_t
bytes_of(const Msccl *msccl, const MscclStep *step, uint64_t total)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < step->count; i++) {
        uint32_t id = g_array_index(msccl->ids, uint32_t, step->first_id + i);
        bytes += plan_chunks(total, msccl->n_chunks, id, id + 1);
    }
    return bytes;
}

/* What of a step others wait for: its send, or the join of what it does without one. */
typedef struct {
    uint32_t node, phase;
    gboolean send;
} Done;

static void
after(Schedule *schedule, uint32_t node, uint32_t *phase, const Done *done, uint32_t step)
{
    if (step == INDEX_NONE)
        return;
    if (done[step].send)
        schedule_after_sent(schedule, node, done[step].node);
    else
        schedule_after_delivered(schedule, node, done[step].node);
    *phase = MAX(*phase, done[step].phase);
}

/* The phase of a step: how many sends come one after another before it. */
static uint32_t
phase_of(const MscclStep *step, const Done *done, const uint32_t *send_phase)
{
    uint32_t phase = 0;
    const uint32_t before[] = {step->previous, step->dep};
    for (size_t i = 0; i < G_N_ELEMENTS(before); i++)
        if (before[i] != INDEX_NONE)
            phase = MAX(phase, done[before[i]].phase);
    if ((step->does & MSCCL_RECEIVE) != 0)
        phase = MAX(phase, send_phase[step->from] + 1);
    return phase;
}

static void
add_step(Schedule *schedule, const Msccl *msccl, uint32_t number, uint64_t total, Done *done, uint32_t *send_node,
         uint32_t *send_phase)
{
    const MscclStep *step = &g_array_index(msccl->steps, MscclStep, number);
    gboolean sends = (step->does & MSCCL_SEND) != 0, receives = (step->does & MSCCL_RECEIVE) != 0;
    uint32_t phase = phase_of(step, done, send_phase), unused = 0, join = INDEX_NONE;
    if (receives || !sends) {
        uint64_t reduced = 0;
        if ((step->does & MSCCL_REDUCE) != 0 && receives)
            reduced = schedule_bytes(schedule, send_node[step->from]);
        else if ((step->does & MSCCL_REDUCE) != 0)
            reduced = plan_chunks(total, msccl->n_chunks, 0, step->count);
        join = schedule_join(schedule, step->gpu, step->channel, phase, reduced);
        after(schedule, join, &unused, done, step->previous);
        after(schedule, join, &unused, done, step->dep);
        if (receives)
            schedule_after_delivered(schedule, join, send_node[step->from]);
        done[number] = (Done){join, phase, FALSE};
    }
    if (!sends)
        return;
    uint32_t send = schedule_send(schedule, (ScheduleNode){.src = step->gpu,
                                                           .dst = step->peer,
                                                           .channel = step->channel,
                                                           .phase = phase,
                                                           .bytes = bytes_of(msccl, step, total)});
    if (join != INDEX_NONE) {
        schedule_after_delivered(schedule, send, join);
    } else {
        after(schedule, send, &unused, done, step->previous);
        after(schedule, send, &unused, done, step->dep);
    }
    send_node[number] = send;
    send_phase[number] = phase;
    done[number] = (Done){send, phase, TRUE};
}

static gboolean
plan(const PlanRequest *request, Plan *plan, GError **error)
{
    const Msccl *msccl = ((const Loaded *)request->algorithm)->msccl;
    assert(request->spec->n == msccl->n_gpus);
    uint32_t n = msccl->steps->len;
    g_autofree Done *done = g_new0(Done, n);
    g_autofree uint32_t *send_node = g_new0(uint32_t, n), *send_phase = g_new0(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        add_step(plan->schedule, msccl, g_array_index(msccl->order, uint32_t, i), request->spec->bytes, done, send_node,
                 send_phase);
    return TRUE;
}

/* Loaded algorithms by name, kept to the end. */
static GHashTable *
loaded(void)
{
    static GHashTable *table;
    if (table == NULL)
        table = g_hash_table_new(g_str_hash, g_str_equal);
    return table;
}

const CollectiveAlgorithm *
algorithm_from_file(const char *name, GError **error)
{
    Loaded *known = g_hash_table_lookup(loaded(), name);
    if (known != NULL)
        return &known->algorithm;
    Msccl *msccl = msccl_read(name + strlen(prefix), error);
    if (msccl == NULL)
        return NULL;
    known = g_new0(Loaded, 1);
    known->msccl = msccl;
    known->algorithm = (CollectiveAlgorithm){
        .name = g_strdup(name), .help = "an algorithm of an MSCCL file", .kinds = 1u << msccl->kind, .plan = plan};
    g_hash_table_insert(loaded(), (gpointer)known->algorithm.name, known);
    return &known->algorithm;
}

gboolean
algorithm_file_suits(const CollectiveAlgorithm *algorithm, const CollectiveSpec *spec)
{
    const Msccl *msccl = ((const Loaded *)algorithm)->msccl;
    return spec->kind == msccl->kind && spec->n == msccl->n_gpus && spec->bytes >= msccl->least_B &&
           spec->bytes <= msccl->most_B && spec->root == 0 && spec->matrix == NULL;
}
