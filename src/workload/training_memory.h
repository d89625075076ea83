/* training_memory.h - what the memory of a rank of a training job holds at its peak, by what fills it
 *
 * Counted, not simulated: what is there all the time (weights, gradients, the optimiser's state, as ZeRO cuts them:
 * Rajbhandari et al. 2020, section 3.1), what is kept for the backward pass of as many micro-batches as the schedule
 * holds at once (Korthikanti et al. 2022; model.h), and what is there while a block runs backward. */
#pragma once

#include "workload/train_program.h"

typedef enum {
    MEMORY_WEIGHTS,
    MEMORY_GRADIENTS,
    MEMORY_OPTIMISER,
    MEMORY_ACTIVATIONS, /* kept for the backward pass */
    MEMORY_WORKING,     /* of the block that runs backward: recomputed activations and gradients of activations */
    MEMORY_LOGITS,
    MEMORY_BUFFERS, /* of libraries: a context, and communicators */
    MEMORY_MARGIN,  /* what fragmentation wastes */
    MEMORY_PARTS
} MemoryPart;

extern const char *const memory_part_names[]; /* weights, gradients, ... */

typedef struct {
    uint64_t bytes[MEMORY_PARTS];
    uint32_t micro_batches; /* held at once (of a chunk, where a stage has several) */
} StageMemory;

uint64_t stage_memory_total(const StageMemory *memory);

/* Of a rank of this pipeline stage. The spec must be checked (train_check). FALSE with an INPUT error of its schedule.
 */
gboolean training_memory(const TrainSpec *spec, uint32_t stage, StageMemory *memory, GError **error);

/* Of the stage that needs most, the first of equals. */
gboolean training_memory_peak(const TrainSpec *spec, StageMemory *memory, uint32_t *stage, GError **error);

/* Refuses what needs more than memory_B: stage, peak, what fills it, and what of a few changes would fit. */
gboolean training_memory_check(const TrainSpec *spec, uint64_t memory_B, GError **error);
