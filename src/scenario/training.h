/* training.h - a training job by description: model, layout, schedule and batches as a scenario gives them
 *
 * The keys are those of a job in a scenario, and those of a file for `trainshed trace generate`: one parser. */
#pragma once

#include "scenario/fields.h"
#include "workload/training_memory.h"

typedef struct {
    ModelDescription *model; /* NULL = the job is not described */
    Layout layout;
    char *schedule, *schedule_file; /* both NULL = 1f1b, or interleaved */
    TrainSpec train;                /* its pointers are filled by training_workload */
    gboolean check_memory;          /* refuse what does not fit; default true */
} TrainingSpec;

void training_spec_init(TrainingSpec *spec);
void training_spec_clear(TrainingSpec *spec);

/* Keys of a job that describe its training, NULL-terminated; the first is model, without which the others mean
 * nothing. */
extern const char *const training_keys[];
/* A reader of fields_read: one of those keys, into the TrainingSpec at field->offset of base. */
gboolean training_read_key(const Reading *reading, const YamlNode *node, const Field *field, void *base,
                           GError **error);
/* Refuses training keys without a model, and a layout or batches that cannot be. */
gboolean training_check(const Reading *reading, const YamlNode *map, TrainingSpec *spec, uint32_t gpus, GError **error);

/* The programs; gpus as TrainSpec. NULL with an INPUT error. */
Workload *training_workload(const TrainingSpec *spec, uint32_t gpus, GError **error);

/* Refuses what a GPU of so much memory cannot hold. */
gboolean training_check_memory(const TrainingSpec *spec, uint32_t gpus, uint64_t memory_B, GError **error);

/* Is given the checked description of a file's job; train is valid during the call. */
typedef gboolean (*TrainingUse)(const TrainSpec *train, void *data, GError **error);
gboolean training_describe(const char *path, const char *job, const char *const *sets, TrainingUse use, void *data,
                           GError **error);

/* Of a file: a scenario's job (by name; NULL = the only one that is described), or a file with the keys of one alone.
 * sets as in scenario_read. NULL with an INPUT error. */
Workload *training_generate(const char *path, const char *job, const char *const *sets, GError **error);
