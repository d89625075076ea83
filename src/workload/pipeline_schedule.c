#include "workload/pipeline_schedule.h"

#include "base/error.h"
#include "base/field_lines.h"
#include "base/index.h"
#include "base/suggest.h"

#include <assert.h>
#include <string.h>

#define MOST_STEPS (UINT64_C(1) << 28)

typedef struct {
    const char *name, *help;
    gboolean split, chunks;
    void (*fill)(PipelineSchedule *schedule, uint32_t stage);
    uint32_t (*bound)(const PipelineSchedule *schedule, uint32_t stage);
    /* FALSE with an error where the numbers do not fit; NULL = they always do. */
    gboolean (*fits)(const PipelineSchedule *schedule, GError **error);
} Kind;

static void
add(PipelineSchedule *schedule, uint32_t stage, StepKind kind, uint32_t micro_batch, uint32_t chunk)
{
    Step step = {kind, micro_batch, chunk};
    g_array_append_val(schedule->steps[stage], step);
}

/* ---- GPipe: Huang et al. 2019. All forward, then all backward, the last one first. ---- */

static void
fill_gpipe(PipelineSchedule *schedule, uint32_t stage)
{
    for (uint32_t i = 0; i < schedule->micro_batches; i++)
        add(schedule, stage, STEP_F, i, 0);
    for (uint32_t i = schedule->micro_batches; i-- > 0;)
        add(schedule, stage, STEP_B, i, 0);
}

static uint32_t
bound_gpipe(const PipelineSchedule *schedule, uint32_t stage)
{
    (void)stage;
    return schedule->micro_batches;
}

/* ---- 1F1B: Narayanan et al. 2019 (PipeDream-Flush, 2021, section 2.2.1). ---- */

static void
fill_1f1b(PipelineSchedule *schedule, uint32_t stage)
{
    uint32_t m = schedule->micro_batches, warm = MIN(m, schedule->stages - 1 - stage);
    for (uint32_t i = 0; i < warm; i++)
        add(schedule, stage, STEP_F, i, 0);
    for (uint32_t i = 0; i < m; i++) {
        if (warm + i < m)
            add(schedule, stage, STEP_F, warm + i, 0);
        add(schedule, stage, STEP_B, i, 0);
    }
}

static uint32_t
bound_1f1b(const PipelineSchedule *schedule, uint32_t stage)
{
    return MIN(schedule->micro_batches, schedule->stages - stage);
}

/* ---- interleaved 1F1B: Narayanan et al. 2021, section 2.2.2, in the order of Megatron-LM ---- */

/* The k-th forward of a stage: p micro-batches through the first chunk, the same through the second, ... */
static void
add_interleaved(PipelineSchedule *schedule, uint32_t stage, StepKind kind, uint32_t k)
{
    uint32_t p = schedule->stages, v = schedule->chunks, chunk = k % (p * v) / p;
    add(schedule, stage, kind, k / (p * v) * p + k % p, kind == STEP_F ? chunk : v - 1 - chunk);
}

static uint32_t
interleaved_warm_up(const PipelineSchedule *schedule, uint32_t stage)
{
    uint32_t all = schedule->micro_batches * schedule->chunks;
    if (schedule->micro_batches == schedule->stages)
        return all;
    return MIN(all, 2 * (schedule->stages - 1 - stage) + (schedule->chunks - 1) * schedule->stages);
}

static void
fill_interleaved(PipelineSchedule *schedule, uint32_t stage)
{
    uint32_t all = schedule->micro_batches * schedule->chunks, warm = interleaved_warm_up(schedule, stage);
    for (uint32_t k = 0; k < warm; k++)
        add_interleaved(schedule, stage, STEP_F, k);
    for (uint32_t k = 0; k < all; k++) {
        if (warm + k < all)
            add_interleaved(schedule, stage, STEP_F, warm + k);
        add_interleaved(schedule, stage, STEP_B, k);
    }
}

static uint32_t
bound_interleaved(const PipelineSchedule *schedule, uint32_t stage)
{
    uint32_t all = schedule->micro_batches * schedule->chunks;
    return MIN(all, interleaved_warm_up(schedule, stage) + 1);
}

static gboolean
fits_interleaved(const PipelineSchedule *schedule, GError **error)
{
    if (schedule->micro_batches % schedule->stages == 0)
        return TRUE;
    return error_input(error, "schedule interleaved: %u micro-batches do not divide by the %u stages",
                       schedule->micro_batches, schedule->stages);
}

/* ---- zero-bubble: Qi et al. 2024, sections 2.1 (H1) and 2.2 (H2). Stage i delays W so that all stages hold as many
 * micro-batches: p under H1, 2 p - 1 under H2. ---- */

static void
fill_zero_bubble(PipelineSchedule *schedule, uint32_t stage, uint32_t warm, uint32_t delay)
{
    uint32_t m = schedule->micro_batches, forward = MIN(m, warm);
    for (uint32_t i = 0; i < forward; i++)
        add(schedule, stage, STEP_F, i, 0);
    for (uint32_t i = 0; i < m; i++) {
        add(schedule, stage, STEP_B, i, 0);
        if (i >= delay)
            add(schedule, stage, STEP_W, i - delay, 0);
        if (forward < m)
            add(schedule, stage, STEP_F, forward++, 0);
    }
    for (uint32_t i = m > delay ? m - delay : 0; i < m; i++)
        add(schedule, stage, STEP_W, i, 0);
}

static void
fill_h1(PipelineSchedule *schedule, uint32_t stage)
{
    fill_zero_bubble(schedule, stage, schedule->stages - stage, stage);
}

static uint32_t
bound_h1(const PipelineSchedule *schedule, uint32_t stage)
{
    (void)stage;
    return MIN(schedule->micro_batches, schedule->stages);
}

static void
fill_h2(PipelineSchedule *schedule, uint32_t stage)
{
    fill_zero_bubble(schedule, stage, 2 * (schedule->stages - stage) - 1, 2 * stage);
}

static uint32_t
bound_h2(const PipelineSchedule *schedule, uint32_t stage)
{
    (void)stage;
    return MIN(schedule->micro_batches, 2 * schedule->stages - 1);
}

static const Kind kinds[] = {
    {"gpipe", "all forward, then all backward", FALSE, FALSE, fill_gpipe, bound_gpipe, NULL},
    {"1f1b", "one forward, one backward", FALSE, FALSE, fill_1f1b, bound_1f1b, NULL},
    {"interleaved", "1F1B over several chunks a stage", FALSE, TRUE, fill_interleaved, bound_interleaved,
     fits_interleaved},
    {"zb-h1", "split backward pass, memory of 1F1B", TRUE, FALSE, fill_h1, bound_h1, NULL},
    {"zb-h2", "split backward pass, twice the memory, no bubble", TRUE, FALSE, fill_h2, bound_h2, NULL},
};

const char *const *
pipeline_schedule_names(void)
{
    static const char *names[G_N_ELEMENTS(kinds) + 1];
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        names[i] = kinds[i].name;
    return names;
}

static const Kind *
find_kind(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

const char *
pipeline_schedule_help(const char *name)
{
    const Kind *kind = find_kind(name);
    return kind != NULL ? kind->help : NULL;
}

static PipelineSchedule *
schedule_new(const char *name, uint32_t stages, uint32_t chunks, uint32_t micro_batches, GError **error)
{
    assert(stages > 0 && chunks > 0 && micro_batches > 0);
    if ((double)stages * chunks * micro_batches * 3 > (double)MOST_STEPS) {
        error_input(error, "%u stages x %u chunks x %u micro-batches are above 2^28 steps", stages, chunks,
                    micro_batches);
        return NULL;
    }
    PipelineSchedule *schedule = g_new0(PipelineSchedule, 1);
    *schedule = (PipelineSchedule){.name = name, .stages = stages, .chunks = chunks, .micro_batches = micro_batches};
    schedule->steps = g_new0(GArray *, stages);
    for (uint32_t s = 0; s < stages; s++)
        schedule->steps[s] = g_array_new(FALSE, FALSE, sizeof(Step));
    return schedule;
}

void
pipeline_schedule_free(PipelineSchedule *schedule)
{
    if (schedule == NULL)
        return;
    for (uint32_t s = 0; s < schedule->stages; s++)
        g_array_unref(schedule->steps[s]);
    g_free(schedule->steps);
    g_free(schedule);
}

PipelineSchedule *
pipeline_schedule_new(const char *name, uint32_t stages, uint32_t chunks, uint32_t micro_batches, GError **error)
{
    const Kind *kind = find_kind(name);
    if (kind == NULL) {
        g_autofree char *hint = suggest_hint(name, pipeline_schedule_names(), G_N_ELEMENTS(kinds));
        error_input(error, "there is no schedule \"%s\"%s", name, hint);
        return NULL;
    }
    if (chunks > 1 && !kind->chunks) {
        error_input(error, "schedule %s has one chunk a stage, but virtual_stages is %u", name, chunks);
        return NULL;
    }
    g_autoptr(PipelineSchedule) schedule = schedule_new(kind->name, stages, chunks, micro_batches, error);
    if (schedule == NULL || (kind->fits != NULL && !kind->fits(schedule, error)))
        return NULL;
    schedule->split = kind->split;
    for (uint32_t s = 0; s < stages; s++)
        kind->fill(schedule, s);
    return g_steal_pointer(&schedule);
}

/* ---- a user's own ---- */

static gboolean
read_step(const char *word, Step *step)
{
    static const char letters[] = "FBW";
    const char *letter = word[0] != '\0' ? strchr(letters, word[0]) : NULL;
    char *end = NULL;
    if (letter == NULL || !g_ascii_isdigit(word[1]))
        return FALSE;
    guint64 batch = g_ascii_strtoull(word + 1, &end, 10), chunk = 0;
    if (*end == '.' && g_ascii_isdigit(end[1]))
        chunk = g_ascii_strtoull(end + 1, &end, 10);
    if (*end != '\0' || batch >= UINT32_MAX || chunk >= UINT32_MAX)
        return FALSE;
    *step = (Step){(StepKind)(letter - letters), (uint32_t)batch, (uint32_t)chunk};
    return TRUE;
}

static gboolean
read_stage(FieldLines *lines, PipelineSchedule *schedule, uint32_t stage, GError **error)
{
    for (uint32_t i = 0; i < lines->n_fields && lines->fields[i][0] != '#'; i++) {
        Step step;
        if (!read_step(lines->fields[i], &step))
            return field_lines_fail(lines, error, "found \"%s\", expected a step such as F0, B0, W0 or F0.1",
                                    lines->fields[i]);
        if (step.micro_batch >= schedule->micro_batches || step.chunk >= schedule->chunks)
            return field_lines_fail(lines, error, "\"%s\" is not of the %u micro-batches and %u chunks (from 0)",
                                    lines->fields[i], schedule->micro_batches, schedule->chunks);
        if (schedule->steps[stage]->len >= 3ull * schedule->micro_batches * schedule->chunks)
            return field_lines_fail(lines, error, "more steps than three a micro-batch and chunk");
        schedule->split = schedule->split || step.kind == STEP_W;
        g_array_append_val(schedule->steps[stage], step);
    }
    return TRUE;
}

PipelineSchedule *
pipeline_schedule_read(const char *path, uint32_t stages, uint32_t chunks, uint32_t micro_batches, GError **error)
{
    g_autoptr(FieldLines) lines = field_lines_read(path, error);
    g_autoptr(PipelineSchedule) schedule =
        lines != NULL ? schedule_new("file", stages, chunks, micro_batches, error) : NULL;
    if (schedule == NULL)
        return NULL;
    uint32_t stage = 0;
    while (field_lines_next(lines)) {
        if (lines->fields[0][0] == '#')
            continue;
        if (stage == stages) {
            field_lines_fail(lines, error, "a line too many: there are %u stages", stages);
            return NULL;
        }
        if (!read_stage(lines, schedule, stage++, error))
            return NULL;
    }
    if (stage < stages) {
        error_input(error, "%s: %u lines with steps, expected %u: one a stage", path, stage, stages);
        return NULL;
    }
    if (!pipeline_schedule_check(schedule, error)) {
        g_prefix_error(error, "%s: ", path);
        return NULL;
    }
    return g_steal_pointer(&schedule);
}

/* ---- checks, and time with free communication ---- */

typedef struct {
    const PipelineSchedule *schedule;
    SimTime *end;  /* a step kind, virtual stage, micro-batch: when it ended; -1 = not yet */
    uint32_t *at;  /* a stage: its next step */
    SimTime *free; /* a stage: when it is free */
} Walk;

static SimTime *
end_of(const Walk *walk, StepKind kind, uint32_t virtual_stage, uint32_t micro_batch)
{
    const PipelineSchedule *s = walk->schedule;
    return &walk->end[((size_t)kind * s->stages * s->chunks + virtual_stage) * s->micro_batches + micro_batch];
}

/* When the step could start; -1 where something it waits for has not ended. */
static SimTime
ready(const Walk *walk, uint32_t stage, const Step *step)
{
    const PipelineSchedule *s = walk->schedule;
    uint32_t own = step->chunk * s->stages + stage, last = s->stages * s->chunks - 1;
    SimTime at = walk->free[stage], other = at;
    if (step->kind == STEP_F && own > 0)
        other = *end_of(walk, STEP_F, own - 1, step->micro_batch);
    else if (step->kind == STEP_B)
        other = own < last ? *end_of(walk, STEP_B, own + 1, step->micro_batch)
                           : *end_of(walk, STEP_F, own, step->micro_batch);
    else if (step->kind == STEP_W)
        other = *end_of(walk, STEP_B, own, step->micro_batch);
    if (step->kind == STEP_B && *end_of(walk, STEP_F, own, step->micro_batch) < 0)
        return -1;
    return other < 0 ? -1 : MAX(at, other);
}

/* Runs what can run; the stage that is stuck, INDEX_NONE when all have come to their ends. */
static uint32_t
walk_all(Walk *walk, const SimTime length[3], SimTime *first_ps)
{
    const PipelineSchedule *s = walk->schedule;
    for (gboolean moved = TRUE; moved;) {
        moved = FALSE;
        for (uint32_t stage = 0; stage < s->stages; stage++)
            while (walk->at[stage] < s->steps[stage]->len) {
                const Step *step = &g_array_index(s->steps[stage], Step, walk->at[stage]);
                SimTime start = ready(walk, stage, step);
                if (start < 0)
                    break;
                if (walk->at[stage] == 0 && first_ps != NULL)
                    first_ps[stage] = start;
                walk->free[stage] = start + length[step->kind];
                *end_of(walk, step->kind, step->chunk * s->stages + stage, step->micro_batch) = walk->free[stage];
                walk->at[stage]++;
                moved = TRUE;
            }
    }
    for (uint32_t stage = 0; stage < s->stages; stage++)
        if (walk->at[stage] < s->steps[stage]->len)
            return stage;
    return INDEX_NONE;
}

static Walk
walk_new(const PipelineSchedule *schedule)
{
    size_t n = (size_t)3 * schedule->stages * schedule->chunks * schedule->micro_batches;
    Walk walk = {.schedule = schedule,
                 .end = g_new(SimTime, n),
                 .at = g_new0(uint32_t, schedule->stages),
                 .free = g_new0(SimTime, schedule->stages)};
    memset(walk.end, 0xff, n * sizeof(SimTime)); /* -1 */
    return walk;
}

static void
walk_clear(Walk *walk)
{
    g_free(walk->end);
    g_free(walk->at);
    g_free(walk->free);
}

SimTime
pipeline_schedule_time(const PipelineSchedule *schedule, SimTime f_ps, SimTime b_ps, SimTime w_ps, SimTime *first_ps,
                       SimTime *last_ps)
{
    const SimTime length[] = {f_ps, schedule->split ? b_ps : b_ps + w_ps, w_ps};
    Walk walk = walk_new(schedule);
    uint32_t stuck = walk_all(&walk, length, first_ps);
    assert(stuck == INDEX_NONE);
    (void)stuck;
    SimTime end = 0;
    for (uint32_t s = 0; s < schedule->stages; s++) {
        end = MAX(end, walk.free[s]);
        if (last_ps != NULL)
            last_ps[s] = walk.free[s];
    }
    walk_clear(&walk);
    return end;
}

static char *
step_label(const PipelineSchedule *schedule, StepKind kind, uint32_t micro_batch, uint32_t chunk)
{
    return schedule->chunks > 1 ? g_strdup_printf("%c%u.%u", "FBW"[kind], micro_batch, chunk)
                                : g_strdup_printf("%c%u", "FBW"[kind], micro_batch);
}

/* Each step once. */
static gboolean
check_once(const PipelineSchedule *schedule, uint32_t stage, GError **error)
{
    uint32_t kinds_of = schedule->split ? 3 : 2, each = schedule->micro_batches * schedule->chunks;
    g_autofree uint8_t *seen = g_new0(uint8_t, (size_t)3 * each);
    const GArray *steps = schedule->steps[stage];
    for (guint i = 0; i < steps->len; i++) {
        const Step *step = &g_array_index(steps, Step, i);
        uint8_t *mark = &seen[step->kind * each + step->chunk * schedule->micro_batches + step->micro_batch];
        if ((*mark)++ == 0)
            continue;
        g_autofree char *label = step_label(schedule, step->kind, step->micro_batch, step->chunk);
        return error_input(error, "stage %u: %s is there twice", stage, label);
    }
    for (uint32_t k = 0; k < kinds_of * each; k++)
        if (seen[k] == 0) {
            g_autofree char *label = step_label(schedule, (StepKind)(k / each), k % schedule->micro_batches,
                                                k % each / schedule->micro_batches);
            return error_input(error, "stage %u: %s is missing", stage, label);
        }
    return TRUE;
}

gboolean
pipeline_schedule_check(const PipelineSchedule *schedule, GError **error)
{
    for (uint32_t s = 0; s < schedule->stages; s++)
        if (!check_once(schedule, s, error))
            return FALSE;
    Walk walk = walk_new(schedule);
    uint32_t stuck = walk_all(&walk, (const SimTime[]){1, 1, 1}, NULL);
    gboolean valid = stuck == INDEX_NONE;
    if (!valid) {
        const Step *step = &g_array_index(schedule->steps[stuck], Step, walk.at[stuck]);
        g_autofree char *label = step_label(schedule, step->kind, step->micro_batch, step->chunk);
        error_input(error, "stage %u can never run %s: what it waits for comes later, here or on another stage", stuck,
                    label);
    }
    walk_clear(&walk);
    return valid;
}

uint32_t
pipeline_schedule_peak(const PipelineSchedule *schedule, uint32_t stage)
{
    uint32_t held = 0, most = 0;
    for (guint i = 0; i < schedule->steps[stage]->len; i++) {
        StepKind kind = g_array_index(schedule->steps[stage], Step, i).kind;
        held += kind == STEP_F;
        most = MAX(most, held);
        held -= kind == (schedule->split ? STEP_W : STEP_B);
    }
    return most;
}

uint32_t
pipeline_schedule_bound(const PipelineSchedule *schedule, uint32_t stage)
{
    const Kind *kind = find_kind(schedule->name);
    return kind != NULL ? kind->bound(schedule, stage) : UINT32_MAX;
}
