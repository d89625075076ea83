/* pipeline_schedule.h - in which order each stage of a pipeline runs its micro-batches: schedules as data
 *
 * A schedule is a list of ops a stage: forward (F) and backward (B) of one micro-batch through one of the stage's
 * chunks, or, where the backward pass is split, the input's gradient (B) and the weights' (W). Who waits for whom
 * follows from it: F of virtual stage i for F of i - 1, B of i for B of i + 1 (of the last one: for its F), W for its
 * B. A schedule is a function and a line in the table of pipeline_schedule.c; a user's own is a text file. */
#pragma once

#include "base/sim_time.h"

#include <glib.h>

typedef enum { STEP_F, STEP_B, STEP_W } StepKind;

typedef struct {
    StepKind kind;
    uint32_t micro_batch, chunk;
} Step;

typedef struct {
    const char *name; /* of the table, or "file" */
    uint32_t stages, chunks, micro_batches;
    gboolean split; /* W are steps of their own; else B does both */
    GArray **steps; /* a stage: of Step */
} PipelineSchedule;

/* gpipe, 1f1b, interleaved, zb-h1, zb-h2; NULL-terminated. */
const char *const *pipeline_schedule_names(void);
const char *pipeline_schedule_help(const char *name);

/* NULL with an INPUT error: unknown name, chunks it cannot have, micro-batches that it cannot deal out. */
PipelineSchedule *pipeline_schedule_new(const char *name, uint32_t stages, uint32_t chunks, uint32_t micro_batches,
                                        GError **error);
/* A line a stage, first stage first: steps such as F0 F1 B0 W0, with the chunk behind a point where there are several
 * (F0.1); "#" begins a comment. With any W the backward pass is split. NULL with an INPUT error FILE:LINE. */
PipelineSchedule *pipeline_schedule_read(const char *path, uint32_t stages, uint32_t chunks, uint32_t micro_batches,
                                         GError **error);
void pipeline_schedule_free(PipelineSchedule *schedule); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PipelineSchedule, pipeline_schedule_free)

/* Every step is there once, in an order in which all can run; FALSE with an INPUT error that names stage and step. */
gboolean pipeline_schedule_check(const PipelineSchedule *schedule, GError **error);
/* The most micro-batches (of a chunk) whose activations a stage holds at once: F adds one, and what ends the backward
 * pass (W where it is split, else B) takes it away. */
uint32_t pipeline_schedule_peak(const PipelineSchedule *schedule, uint32_t stage);
/* What the closed form allows stage to hold; UINT32_MAX for a user's own. */
uint32_t pipeline_schedule_bound(const PipelineSchedule *schedule, uint32_t stage);

/* With free communication and steps of these lengths (a chunk's; B both halves where it is not split): when the last
 * ends, first step of any stage at 0. first_ps and last_ps, where given, get each stage's first start and last end.
 * The schedule must be valid. */
SimTime pipeline_schedule_time(const PipelineSchedule *schedule, SimTime f_ps, SimTime b_ps, SimTime w_ps,
                               SimTime *first_ps, SimTime *last_ps);
