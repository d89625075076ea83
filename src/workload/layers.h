/* layers.h - a table of layers becomes a program: forward, backward and what is communicated in between
 *
 * All ranks run the same layers. A forward or input-gradient collective is waited for before the next layer computes; a
 * weight-gradient collective runs beside what follows and is waited for at the end of the iteration. */
#pragma once

#include "workload/model.h"
#include "workload/program.h"

typedef enum { PASS_FORWARD, PASS_INPUT_GRADIENT, PASS_WEIGHT_GRADIENT, LAYER_PASSES } LayerPass;

typedef struct {
    SimTime duration_ps; /* -1 = by flops and bytes_moved */
    double flops, bytes_moved;
    gboolean collects; /* then kind, group and bytes say what */
    CollectiveKind kind;
    uint32_t group; /* of the workload */
    uint64_t bytes; /* S, as DEFINITIONS 4 counts it */
} LayerWork;

typedef struct {
    char *name;
    LayerWork work[LAYER_PASSES];
    SimTime update_ps;     /* after the weight gradient has been collected */
    uint64_t parameters;   /* of a table with commas; else 0 */
    uint64_t activation_B; /* held from the forward pass to the end of the backward one; 0 = not known */
    gboolean checkpoint;   /* its output is kept */
    gboolean recomputes;   /* before its backward pass all layers after the last checkpoint before it run again */
} Layer;

typedef struct {
    GArray *layers;             /* of Layer */
    gboolean input_first;       /* backward: input gradient before weight gradient; else after it */
    gboolean no_input;          /* the first layer has no input gradient */
    gboolean no_backward_input; /* the backward pass of a layer is one piece, its weight gradient's */
    gboolean forward_only;      /* inference */
    gboolean communication;     /* weight-gradient collectives, one after another, and nothing else */
} LayerTable;

LayerTable *layer_table_new(void);
void layer_table_free(LayerTable *table); /* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LayerTable, layer_table_free)

/* A row without work: times 0, no collective. Valid until the next. */
Layer *layer_table_add(LayerTable *table, const char *name);

/* A table of layers with commas (layers_table.c) as a model: its numbers are those of one micro-batch of a rank,
 * whatever the micro-batch. NULL with an INPUT error. */
ModelDescription *layer_table_model(const char *path, GError **error);

/* Groups of size ranks that are stride apart; the ranks of the workload divide by stride x size. Its index. */
uint32_t layers_add_axis(Workload *workload, const char *name, uint32_t stride, uint32_t size);

/* Adds the program, gives it to all ranks and checks the whole. FALSE with an INPUT error. */
gboolean layers_fill(const LayerTable *table, Workload *workload, GError **error);
