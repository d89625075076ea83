/* meeting.c - the members of a collective come together
 *
 * A collective is known by (group instance, seq, iteration). The first member to arrive opens it, the last makes it
 * ready; under a model that moves no bytes it then lasts its recorded time, else the collective room runs it. All
 * members end together. */
#include "cluster/run.h"

#include "base/error.h"

#include <assert.h>
#include <string.h>

/* What stays the same from iteration to iteration. */
typedef struct {
    uint64_t bytes;   /* S, scaled */
    uint64_t *matrix; /* of an uneven all-to-all, scaled */
    SimTime alone_ps; /* -1 = not worked out */
} Pattern;

/* One instance of a group: the members' ranks and nodes. */
typedef struct {
    const uint32_t *ranks; /* of the workload */
    uint32_t *nodes;
    uint32_t n;
    uint32_t group;
    GHashTable *patterns; /* seq to Pattern * */
    GPtrArray *open;      /* of Meeting *, not owned: arrived but not ended */
} Instance;

typedef struct {
    Instance *instance;
    Meetings *meetings;
    JobRun *job;
    uint32_t slot, handle;
    uint32_t seq, iteration, n_arrived;
    uint32_t *ops; /* of each member; INDEX_NONE = not there yet */
    SimTime first_ps, ready_ps, recorded_ps;
    CollectiveSpec spec;
    const Pattern *pattern;
} Meeting;

static void
meeting_free(Meeting *meeting)
{
    if (meeting == NULL)
        return;
    g_free(meeting->ops);
    g_free(meeting);
}

struct Meetings {
    JobRun *job;
    GPtrArray *instances; /* of Instance * */
    uint32_t *first;      /* of each group, in instances */
    uint32_t **member;    /* member[group][rank] */
    gboolean ghost;       /* its job has closed */
    uint32_t n_open;
    GHashTable *alone; /* "instance kind bytes root" to SimTime + 1, as gint64 * */
};

static void
pattern_free(gpointer data)
{
    Pattern *pattern = data;
    g_free(pattern->matrix);
    g_free(pattern);
}

static void
instance_free(gpointer data)
{
    Instance *instance = data;
    g_free(instance->nodes);
    g_hash_table_unref(instance->patterns);
    g_ptr_array_unref(instance->open);
    g_free(instance);
}

static void
add_instance(Meetings *meetings, uint32_t group, const GArray *ranks)
{
    Instance *instance = g_new0(Instance, 1);
    instance->group = group;
    instance->ranks = (const uint32_t *)ranks->data;
    instance->n = ranks->len;
    instance->nodes = g_new(uint32_t, MAX(ranks->len, 1));
    for (uint32_t i = 0; i < ranks->len; i++) {
        instance->nodes[i] = meetings->job->setup->nodes[instance->ranks[i]];
        meetings->member[group][instance->ranks[i]] = i;
    }
    instance->patterns = g_hash_table_new_full(NULL, NULL, NULL, pattern_free);
    instance->open = g_ptr_array_new();
    g_ptr_array_add(meetings->instances, instance);
}

Meetings *
meetings_new(JobRun *job)
{
    const Workload *workload = job->setup->workload;
    Meetings *meetings = g_new0(Meetings, 1);
    meetings->job = job;
    meetings->instances = g_ptr_array_new_with_free_func(instance_free);
    meetings->first = g_new0(uint32_t, workload->groups->len + 1);
    meetings->member = g_new0(uint32_t *, workload->groups->len + 1);
    meetings->alone = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (uint32_t g = 0; g < workload->groups->len; g++) {
        const Group *group = g_ptr_array_index(workload->groups, g);
        meetings->first[g] = meetings->instances->len;
        meetings->member[g] = g_new(uint32_t, MAX(workload->n_ranks, 1));
        memset(meetings->member[g], 0xff, workload->n_ranks * sizeof(uint32_t));
        for (uint32_t i = 0; i < group->instances->len; i++)
            add_instance(meetings, g, g_ptr_array_index(group->instances, i));
    }
    return meetings;
}

void
meetings_free(Meetings *meetings)
{
    if (meetings == NULL)
        return;
    for (uint32_t g = 0; meetings->member[g] != NULL; g++)
        g_free(meetings->member[g]);
    g_free(meetings->member);
    g_free(meetings->first);
    g_ptr_array_unref(meetings->instances);
    g_hash_table_unref(meetings->alone);
    g_free(meetings);
}

/* The op of member i that takes part in number seq of the instance's group. */
static const Op *
member_op(const Meetings *meetings, const Instance *instance, uint32_t i, uint32_t seq)
{
    const Script *script = meetings->job->ranks[instance->ranks[i]].script;
    uint32_t op = script_collective(script, instance->group, seq);
    return op == INDEX_NONE ? NULL : script_op(script, op);
}

/* n x n bytes from the splits each member's op names; S is the largest row. */
static void
fill_matrix(const Meetings *meetings, const Instance *instance, uint32_t seq, Pattern *pattern)
{
    const GArray *splits = meetings->job->setup->workload->splits;
    uint32_t n = instance->n;
    pattern->matrix = g_new0(uint64_t, (size_t)n * n);
    pattern->bytes = 0;
    for (uint32_t i = 0; i < n; i++) {
        const Op *op = member_op(meetings, instance, i, seq);
        uint64_t row = 0;
        for (uint32_t j = 0; op != NULL && j < n; j++) {
            uint64_t each = op->bytes / n, even = j + 1 < n ? each : op->bytes - each * (n - 1);
            uint64_t bytes = op->splits == INDEX_NONE ? even : g_array_index(splits, uint64_t, op->splits + j);
            pattern->matrix[(size_t)i * n + j] = job_scaled(meetings->job, bytes);
            row += pattern->matrix[(size_t)i * n + j];
        }
        pattern->bytes = MAX(pattern->bytes, row);
    }
}

static gboolean
is_uneven(const Meetings *meetings, const Instance *instance, uint32_t seq)
{
    for (uint32_t i = 0; i < instance->n; i++) {
        const Op *op = member_op(meetings, instance, i, seq);
        if (op != NULL && op->splits != INDEX_NONE)
            return TRUE;
    }
    return FALSE;
}

/* What the same collective takes in an empty fabric; equal ones of an instance are worked out once. */
static SimTime
alone(const Meetings *meetings, const CollectiveSpec *spec, uint32_t instance, GError **error)
{
    const SimulationSetup *setup = meetings->job->simulation->setup;
    g_autofree char *key =
        g_strdup_printf("%u %u %" G_GUINT64_FORMAT " %u", instance, spec->kind, spec->bytes, spec->root);
    const gint64 *known = spec->matrix ? NULL : g_hash_table_lookup(meetings->alone, key);
    if (known != NULL)
        return *known;
    SimTime time = collective_alone(setup->model, &setup->network, meetings->job->simulation->routes,
                                    meetings->job->setup->name, spec, &meetings->job->setup->collectives, error);
    if (spec->matrix == NULL)
        g_hash_table_insert(meetings->alone, g_steal_pointer(&key), g_memdup2(&time, sizeof time));
    return time;
}

static Pattern *
pattern_of(const Meetings *meetings, Instance *instance, const Op *op)
{
    Pattern *pattern = g_hash_table_lookup(instance->patterns, GUINT_TO_POINTER(op->seq));
    if (pattern != NULL)
        return pattern;
    pattern = g_new0(Pattern, 1);
    if (op->collective != COLLECTIVE_BARRIER) /* which moves none, whatever the trace says */
        pattern->bytes = job_scaled(meetings->job, op->bytes);
    pattern->alone_ps = -1;
    if (op->collective == COLLECTIVE_ALL_TO_ALL && is_uneven(meetings, instance, op->seq))
        fill_matrix(meetings, instance, op->seq, pattern);
    g_hash_table_insert(instance->patterns, GUINT_TO_POINTER(op->seq), pattern);
    return pattern;
}

static uint32_t
take_slot(Simulation *simulation, Meeting *meeting)
{
    if (simulation->free_meetings->len > 0) {
        uint32_t last = simulation->free_meetings->len - 1;
        uint32_t slot = g_array_index(simulation->free_meetings, uint32_t, last);
        g_array_set_size(simulation->free_meetings, last);
        g_ptr_array_index(simulation->meetings, slot) = meeting;
        return slot;
    }
    g_ptr_array_add(simulation->meetings, meeting);
    return simulation->meetings->len - 1;
}

/* Hands the collective to the collective room, unless it only lasts what was recorded. */
static gboolean
hand_over(Meetings *meetings, Meeting *meeting, uint32_t instance, Pattern *pattern, GError **error)
{
    Simulation *simulation = meetings->job->simulation;
    if (!network_moves_bytes(simulation->network))
        return TRUE;
    if (simulation->setup->collectives_alone && pattern->alone_ps < 0) {
        pattern->alone_ps = alone(meetings, &meeting->spec, instance, error);
        if (pattern->alone_ps < 0)
            return FALSE;
    }
    meeting->handle =
        collective_open(simulation->runner, &meeting->spec, &meetings->job->setup->collectives, meeting->slot, error);
    history_add(engine_history(simulation->engine), meeting->handle); /* orders events of one instant */
    return meeting->handle != INDEX_NONE;
}

static Meeting *
open_meeting(Meetings *meetings, uint32_t number, const Op *op, uint32_t iteration, GError **error)
{
    Simulation *simulation = meetings->job->simulation;
    Instance *instance = g_ptr_array_index(meetings->instances, number);
    Pattern *pattern = pattern_of(meetings, instance, op);
    Meeting *meeting = g_new0(Meeting, 1);
    meeting->instance = instance;
    meeting->meetings = meetings;
    meeting->job = meetings->job;
    meetings->n_open++;
    meeting->seq = op->seq;
    meeting->iteration = iteration;
    meeting->ops = g_new(uint32_t, MAX(instance->n, 1));
    memset(meeting->ops, 0xff, instance->n * sizeof(uint32_t));
    meeting->first_ps = engine_now(simulation->engine);
    meeting->recorded_ps = -1;
    meeting->pattern = pattern;
    meeting->handle = INDEX_NONE;
    meeting->spec = (CollectiveSpec){.kind = op->collective,
                                     .n = instance->n,
                                     .nodes = instance->nodes,
                                     .ranks = instance->ranks,
                                     .bytes = pattern->bytes,
                                     .root = op->root,
                                     .matrix = pattern->matrix,
                                     .job = meetings->job->index,
                                     .iteration = iteration,
                                     .coflow = simulation->next_coflow++,
                                     .settings = job_settings(meetings->job, instance->group),
                                     .weight = job_weight(meetings->job, instance->group)};
    meeting->slot = take_slot(simulation, meeting);
    g_ptr_array_add(instance->open, meeting);
    return hand_over(meetings, meeting, number, pattern, error) ? meeting : NULL;
}

static Meeting *
find_open(const Instance *instance, uint32_t seq, uint32_t iteration)
{
    for (uint32_t i = 0; i < instance->open->len; i++) {
        Meeting *meeting = g_ptr_array_index(instance->open, i);
        if (meeting->seq == seq && meeting->iteration == iteration)
            return meeting;
    }
    return NULL;
}

static void
all_arrived(Meeting *meeting, Simulation *simulation)
{
    meeting->ready_ps = engine_now(simulation->engine);
    for (uint32_t i = 0; i < meeting->instance->n; i++) {
        RankRun *rank = &meeting->job->ranks[meeting->instance->ranks[i]];
        rank_account(rank, ACCOUNT_WAIT, -1);
        rank_account(rank, ACCOUNT_TRANSFER, 1);
    }
    if (network_moves_bytes(simulation->network))
        return;
    assert(meeting->recorded_ps >= 0); /* job_check */
    engine_schedule_in(simulation->engine, meeting->recorded_ps,
                       (Event){.kind = simulation->kind_meeting_end,
                               .target = meeting->slot,
                               .sender = meeting->job->ranks[meeting->instance->ranks[0]].number});
}

void
meetings_arrive(Meetings *meetings, RankRun *rank, uint32_t index)
{
    Simulation *simulation = meetings->job->simulation;
    const Op *op = script_op(rank->script, index);
    const Group *group = g_ptr_array_index(meetings->job->setup->workload->groups, op->group);
    uint32_t number = meetings->first[op->group] + g_array_index(group->instance_of_rank, uint32_t, rank->rank);
    Instance *instance = g_ptr_array_index(meetings->instances, number);
    Meeting *meeting = find_open(instance, op->seq, rank->iteration);
    GError *error = NULL;
    if (meeting == NULL)
        meeting = open_meeting(meetings, number, op, rank->iteration, &error);
    if (meeting == NULL) {
        g_prefix_error(&error, "job %s: collective \"%s\": ", meetings->job->setup->name,
                       script_op_name(rank->script, index));
        engine_fail(simulation->engine, error);
        return;
    }
    uint32_t member = meetings->member[op->group][rank->rank];
    meeting->ops[member] = index;
    meeting->recorded_ps = MAX(meeting->recorded_ps, op->duration_ps);
    rank_account(rank, ACCOUNT_WAIT, 1);
    meeting->n_arrived++;
    if (meeting->handle != INDEX_NONE)
        collective_arrive(simulation->runner, meeting->handle, member);
    if (meeting->n_arrived == instance->n)
        all_arrived(meeting, simulation);
}

static void
tell(const Simulation *simulation, const Meeting *meeting)
{
    const ClusterObserver *observer = &simulation->setup->observer;
    if (observer->collective == NULL)
        return;
    const Script *script = meeting->job->ranks[meeting->instance->ranks[0]].script;
    const Group *group = g_ptr_array_index(meeting->job->setup->workload->groups, meeting->instance->group);
    gboolean recorded = !network_moves_bytes(simulation->network);
    CollectiveRecord collective = {
        .job = meeting->job->index,
        .iteration = meeting->iteration,
        .group = group->name,
        .stream = script_stream_name(script, meeting->ops[0]),
        .seq = meeting->seq,
        .kind = meeting->spec.kind,
        .algorithm = recorded ? "recorded" : collective_algorithm(&meeting->spec, &meeting->job->setup->collectives),
        .ranks = meeting->instance->n,
        .bytes = meeting->spec.bytes,
        .first_ps = meeting->first_ps,
        .ready_ps = meeting->ready_ps,
        .end_ps = engine_now(simulation->engine),
        .alone_ps = recorded ? meeting->recorded_ps : meeting->pattern->alone_ps};
    if (simulation->tape != NULL)
        tape_collective(simulation->tape, &collective);
    else
        observer->collective(observer->owner, &collective);
}

void
meetings_done(Simulation *simulation, uint32_t slot)
{
    Meeting *meeting = g_ptr_array_index(simulation->meetings, slot);
    Instance *instance = meeting->instance;
    meeting->meetings->n_open--;
    if (!meeting->meetings->ghost)
        tell(simulation, meeting);
    g_ptr_array_remove(instance->open, meeting); /* keeps the order of the rest */
    g_ptr_array_index(simulation->meetings, slot) = NULL;
    g_array_append_val(simulation->free_meetings, slot);
    for (uint32_t i = 0; i < instance->n && !meeting->meetings->ghost; i++) {
        RankRun *rank = &meeting->job->ranks[instance->ranks[i]];
        rank_account(rank, ACCOUNT_TRANSFER, -1);
        rank_op_ended(rank, meeting->ops[i]);
    }
    meeting_free(meeting);
}

void
meetings_haunt(Meetings *meetings)
{
    meetings->ghost = TRUE;
}

uint32_t
meetings_open(const Meetings *meetings)
{
    return meetings->n_open;
}

void
meetings_drop_open(Simulation *simulation)
{
    for (uint32_t i = 0; i < simulation->meetings->len; i++)
        meeting_free(g_ptr_array_index(simulation->meetings, i));
}

void
meetings_describe(const Meetings *meetings, GString *text, uint32_t *lines_left)
{
    for (uint32_t n = 0; n < meetings->instances->len; n++) {
        const Instance *instance = g_ptr_array_index(meetings->instances, n);
        const Group *group = g_ptr_array_index(meetings->job->setup->workload->groups, instance->group);
        for (uint32_t m = 0; m<instance->open->len && * lines_left> 0; m++) {
            const Meeting *meeting = g_ptr_array_index(instance->open, m);
            uint32_t named = 0;
            g_string_append_printf(text, "\n  job %s: %s number %u of group %s, iteration %u, ",
                                   meetings->job->setup->name, collective_kind_name(meeting->spec.kind), meeting->seq,
                                   group->name, job_told(meeting->job, meeting->iteration));
            if (meeting->n_arrived == instance->n)
                g_string_append(text, "is in flight");
            for (uint32_t i = 0; i < instance->n && named < 8; i++)
                if (meeting->ops[i] == INDEX_NONE)
                    g_string_append_printf(text, "%s%u", named++ ? ", " : "waits for rank ", instance->ranks[i]);
            (*lines_left)--;
        }
    }
}

void
meetings_fingerprint(const Meetings *meetings, Fingerprint *print, SimTime *oldest)
{
    SimTime now = engine_now(meetings->job->simulation->engine);
    for (uint32_t n = 0; n < meetings->instances->len; n++) {
        const Instance *instance = g_ptr_array_index(meetings->instances, n);
        for (uint32_t m = 0; m < instance->open->len; m++) {
            const Meeting *meeting = g_ptr_array_index(instance->open, m);
            fingerprint_add(print, (uint64_t)n << 32 | meeting->seq);
            fingerprint_add(print, (uint64_t)(meeting->iteration - meetings->job->first_open) << 32 | meeting->handle);
            fingerprint_add(print, meeting->n_arrived);
            fingerprint_add(print, (uint64_t)(now - meeting->first_ps));
            fingerprint_add(print, (uint64_t)meeting->recorded_ps);
            *oldest = MIN(*oldest, meeting->first_ps);
        }
    }
}
