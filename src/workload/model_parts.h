/* model_parts.h - between the files of model.c: a family of models tells its layers and blocks */
#pragma once

#include "workload/model.h"

/* One line a family in model.c. */
typedef struct {
    uint32_t (*layers)(const ModelDescription *model);
    uint32_t (*blocks)(const ModelDescription *model, uint32_t layer);
    void (*fill)(const ModelDescription *model, uint32_t layer, uint32_t index, const ModelShard *shard,
                 ModelBlock *block);
    gboolean (*settle)(ModelDescription *model, GError **error);
    gboolean (*check)(const ModelDescription *model, const ModelShard *shard, GError **error);
} ModelFamily;

extern const ModelFamily model_transformer_family, model_dlrm_family, model_rows_family;

/* One more GEMM of the block; its bytes are both factors and the product once, value_B each. */
Gemm *block_add_gemm(ModelBlock *block, const char *name, uint64_t m, uint64_t n, uint64_t k, uint64_t batch,
                     uint32_t value_B);

/* One more row, without work. Valid until the next. */
ModelRow *model_add_row(ModelDescription *model, const char *name);

/* ResNet-50 as rows (model_resnet.c). */
void model_resnet_50(ModelDescription *model);
