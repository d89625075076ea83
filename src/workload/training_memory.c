#include "workload/training_memory.h"

#include "base/error.h"

#include <string.h>

/* Estimates, from what an A100 shows before the first allocation and after communicators are made; no source has them
 * in print: a CUDA context with its libraries, and the buffers of an NCCL communicator. */
#define CONTEXT_B (UINT64_C(512) << 20)
#define COMMUNICATOR_B (UINT64_C(256) << 20)
/* Of what is allocated and freed again in each micro-batch; an estimate too. */
#define FRAGMENTATION 0.05
/* Adam in mixed precision: a master copy, momentum and variance in fp32 (Rajbhandari et al. 2020, section 3.1). */
enum { OPTIMISER_B = 12 };
/* Without a fused kernel a norm keeps its input in fp32 and what it is divided by, in fp32 too. */
enum { NORM_B = 8, NORMS_OF_LAYER = 2 };
/* A loss cut over the vocabulary keeps its logits in fp32 and has them in 16 bits, and their gradient, for a while. One
 * that gathers them keeps, in PyTorch's words, the gathered logits, logits.float() and log_softmax (2 + 4 + 4), and has
 * the pieces that were gathered, and gradients in fp32 and 16 bits, for a while (2 + 4 + 2). */
enum { LOGITS_KEPT_B = 4, LOGITS_WORKING_B = 4, GATHERED_KEPT_B = 10, GATHERED_WORKING_B = 8 };

const char *const memory_part_names[] = {"weights", "gradients", "optimiser", "activations", "working",
                                         "logits",  "buffers",   "margin",    NULL};

uint64_t
stage_memory_total(const StageMemory *memory)
{
    uint64_t sum = 0;
    for (int part = 0; part < MEMORY_PARTS; part++)
        sum += memory->bytes[part];
    return sum;
}

static uint64_t
share(uint64_t bytes, uint32_t ranks)
{
    return (bytes + ranks - 1) / ranks;
}

/* What of a block is there all the time, as the layout cuts it over the replicas. */
static void
add_parameters(const TrainSpec *spec, const ModelBlock *block, StageMemory *memory)
{
    const ModelDescription *model = spec->model;
    uint32_t zero = layout_zero(spec->layout, block->kind);
    uint64_t dense = block->shared_parameters + block->replicated_parameters;
    uint64_t tied = spec->layout->pp > 1 ? block->tied_parameters : 0;
    LayoutGroup group = spec->layout->shard_ranks > 0 ? GROUP_OF_SHARD : GROUP_OF_DP;
    const struct {
        uint64_t parameters;
        LayoutGroup group;
    } parts[] = {{dense + tied, group}, {block->expert_parameters, GROUP_OF_EDP}};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        uint32_t ranks = layout_group_size(spec->layout, parts[i].group);
        uint64_t parameters = parts[i].parameters;
        memory->bytes[MEMORY_WEIGHTS] += share(parameters * model->value_B, zero >= 3 ? ranks : 1);
        memory->bytes[MEMORY_GRADIENTS] += share(parameters * model->gradient_B, zero >= 2 ? ranks : 1);
        memory->bytes[MEMORY_OPTIMISER] += share(parameters * OPTIMISER_B, zero >= 1 ? ranks : 1);
    }
}

typedef struct {
    uint64_t kept_B, n_logits;             /* of one micro-batch */
    uint64_t largest_block, largest_layer; /* of what is alive while they run backward */
    uint64_t gathered_B;                   /* ZeRO-3: the whole weights of a layer */
} Running;

static void
add_block(const TrainSpec *spec, const ModelBlock *block, Running *running, uint64_t *layer_B, uint64_t *weights_B)
{
    uint64_t kept = block->kept_B, whole = block->whole_B;
    if (block->kind == BLOCK_HEAD && spec->model->kind == MODEL_TRANSFORMER) {
        uint64_t logits = block->n_gemms > 0 ? block->gemms[0].m * block->gemms[0].n : 0;
        running->n_logits += logits;
        kept -= LOGITS_KEPT_B * logits;
        whole -= LOGITS_KEPT_B * logits;
    } else if (spec->unfused_norms &&
               (block->kind == BLOCK_ATTENTION || block->kind == BLOCK_MLP || block->kind == BLOCK_EXPERTS)) {
        uint64_t norm = block->output_B / spec->model->value_B * NORM_B;
        whole += norm;
        kept += spec->recompute == RECOMPUTE_FULL ? 0 : norm;
    }
    running->kept_B += kept;
    running->largest_block = MAX(running->largest_block, whole);
    *layer_B += whole;
    if (layout_zero(spec->layout, block->kind) >= 3)
        *weights_B +=
            (block->shared_parameters + block->replicated_parameters + block->expert_parameters) * spec->model->value_B;
}

static void
add_layers(const TrainSpec *spec, uint32_t virtual_stage, StageMemory *memory, Running *running)
{
    ModelShard shard = train_shard(spec);
    uint32_t first, end;
    layout_stage(spec->layout, spec->model, virtual_stage, &first, &end);
    for (uint32_t layer = first; layer < end; layer++) {
        uint64_t layer_B = 0, weights_B = 0;
        for (uint32_t i = 0; i < model_n_blocks(spec->model, layer); i++) {
            ModelBlock block;
            model_block(spec->model, layer, i, &shard, &block);
            add_parameters(spec, &block, memory);
            add_block(spec, &block, running, &layer_B, &weights_B);
        }
        running->largest_layer = MAX(running->largest_layer, layer_B);
        running->gathered_B = MAX(running->gathered_B, weights_B);
    }
}

static uint64_t
buffers(const TrainSpec *spec, uint64_t gathered_B)
{
    uint64_t bytes = CONTEXT_B;
    for (int group = 0; group < LAYOUT_GROUPS; group++) {
        gboolean same_as_dp = group == GROUP_OF_EDP && spec->layout->ep == 1;
        if (layout_group_size(spec->layout, (LayoutGroup)group) > 1 && !same_as_dp)
            bytes += COMMUNICATOR_B;
    }
    return bytes + gathered_B * (1 + spec->prefetch);
}

gboolean
training_memory(const TrainSpec *spec, uint32_t stage, StageMemory *memory, GError **error)
{
    g_autoptr(PipelineSchedule) schedule = train_schedule(spec, error);
    if (schedule == NULL)
        return FALSE;
    *memory = (StageMemory){.micro_batches = pipeline_schedule_peak(schedule, stage)};
    Running running = {0};
    for (uint32_t chunk = 0; chunk < schedule->chunks; chunk++)
        add_layers(spec, chunk * schedule->stages + stage, memory, &running);
    /* The head goes back as soon as it has gone forward, unless all go forward first. */
    gboolean all_first = strcmp(schedule->name, "gpipe") == 0;
    uint64_t heads = all_first ? memory->micro_batches : 1;
    memory->bytes[MEMORY_ACTIVATIONS] = running.kept_B * memory->micro_batches / schedule->chunks;
    memory->bytes[MEMORY_WORKING] =
        running.largest_block + (spec->recompute == RECOMPUTE_FULL ? running.largest_layer : 0);
    memory->bytes[MEMORY_LOGITS] = running.n_logits * (LOGITS_KEPT_B * heads + LOGITS_WORKING_B);
    if (spec->gathered_logits)
        memory->bytes[MEMORY_LOGITS] =
            running.n_logits * spec->layout->tp * (GATHERED_KEPT_B * heads + GATHERED_WORKING_B);
    memory->bytes[MEMORY_BUFFERS] = buffers(spec, running.gathered_B);
    uint64_t moving = memory->bytes[MEMORY_ACTIVATIONS] + memory->bytes[MEMORY_WORKING] + memory->bytes[MEMORY_LOGITS];
    memory->bytes[MEMORY_MARGIN] = (uint64_t)((double)moving * FRAGMENTATION);
    return TRUE;
}

gboolean
training_memory_peak(const TrainSpec *spec, StageMemory *memory, uint32_t *stage, GError **error)
{
    *stage = 0;
    for (uint32_t s = 0; s < spec->layout->pp; s++) {
        StageMemory its;
        if (!training_memory(spec, s, &its, error))
            return FALSE;
        if (s > 0 && stage_memory_total(&its) <= stage_memory_total(memory))
            continue;
        *memory = its;
        *stage = s;
    }
    return TRUE;
}

/* Changes that a user may try, each by itself. */
typedef struct {
    TrainSpec spec;
    Layout layout;
    char name[64];
} Change;

static gboolean
fits(const TrainSpec *spec, uint64_t memory_B, uint64_t *total)
{
    StageMemory memory;
    uint32_t stage;
    if (!train_check(spec, NULL) || !training_memory_peak(spec, &memory, &stage, NULL))
        return FALSE;
    *total = stage_memory_total(&memory);
    return *total <= memory_B;
}

static gboolean
make_change(const TrainSpec *spec, int number, Change *change)
{
    change->spec = *spec;
    change->layout = *spec->layout;
    change->spec.layout = &change->layout;
    Layout *layout = &change->layout;
    switch (number) {
    case 0:
        change->spec.micro_batch = 1;
        g_snprintf(change->name, sizeof change->name, "micro_batch 1");
        return spec->micro_batch > 1;
    case 1:
        change->spec.recompute = RECOMPUTE_SELECTIVE;
        g_snprintf(change->name, sizeof change->name, "recompute selective");
        return spec->recompute == RECOMPUTE_NONE && !spec->fused_attention;
    case 2:
        change->spec.recompute = RECOMPUTE_FULL;
        g_snprintf(change->name, sizeof change->name, "recompute full");
        return spec->recompute != RECOMPUTE_FULL;
    case 3:
    case 4:
    case 5:
        layout->zero = (uint32_t)number - 2;
        g_snprintf(change->name, sizeof change->name, "zero %d", number - 2);
        return spec->layout->zero < layout->zero;
    case 6:
        layout->tp *= 2;
        layout->dp /= 2;
        g_snprintf(change->name, sizeof change->name, "tp %u with dp %u", layout->tp, layout->dp);
        return spec->layout->dp % 2 == 0;
    case 7:
        layout->pp *= 2;
        layout->dp /= 2;
        g_snprintf(change->name, sizeof change->name, "pp %u with dp %u", layout->pp, layout->dp);
        return spec->layout->dp % 2 == 0 && spec->layout->stage_layers == NULL;
    default:
        return FALSE;
    }
}

enum { CHANGES = 8 };

static void
append_GiB(GString *text, const char *name, uint64_t bytes)
{
    g_string_append_printf(text, "%s%s %.1f", text->len > 0 ? ", " : "", name, (double)bytes * 0x1p-30);
}

gboolean
training_memory_check(const TrainSpec *spec, uint64_t memory_B, GError **error)
{
    StageMemory memory;
    uint32_t stage;
    if (!training_memory_peak(spec, &memory, &stage, error))
        return FALSE;
    if (stage_memory_total(&memory) <= memory_B)
        return TRUE;
    g_autoptr(GString) parts = g_string_new(NULL);
    g_autoptr(GString) others = g_string_new(NULL);
    for (int part = 0; part < MEMORY_PARTS; part++)
        if (memory.bytes[part] > 0)
            append_GiB(parts, memory_part_names[part], memory.bytes[part]);
    for (int i = 0; i < CHANGES; i++) {
        Change change;
        uint64_t total;
        if (make_change(spec, i, &change) && fits(&change.spec, memory_B, &total))
            append_GiB(others, change.name, total);
    }
    uint32_t rank = 0; /* the first of the stage */
    for (uint64_t r = layout_ranks(spec->layout); r > 0; r--)
        if (layout_place(spec->layout, AXIS_PP, (uint32_t)(r - 1)) == stage)
            rank = (uint32_t)(r - 1);
    return error_input(error,
                       "rank %u (stage %u) needs %.1f GiB of memory, a GPU has %.1f; in GiB: %s, with %u micro-batches "
                       "at once; %s%s",
                       rank, stage, (double)stage_memory_total(&memory) * 0x1p-30, (double)memory_B * 0x1p-30,
                       parts->str, memory.micro_batches,
                       others->len > 0 ? "what would fit: "
                                       : "no single change of recompute, zero, tp, pp or "
                                         "micro_batch would fit",
                       others->str);
}
