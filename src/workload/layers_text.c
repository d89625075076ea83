/* layers_text.c - the text workloads of ASTRA-sim 1.0 and of SimAI: a line of policy, a count, a line a layer
 *
 * Layer lines have 12 fields: name, -1, then compute ns, collective, bytes of forward, input gradient and weight
 * gradient, and update ns; HYBRID_CUSTOMIZED has a policy a layer as 13th. The policy says over which ranks the
 * collectives run: those of the forward and input-gradient columns over the model-parallel group, those of the weight
 * gradient over the data-parallel one. SimAI's collectives may be over expert groups. In ASTRA-sim's files the bytes of
 * an all-gather are what each rank contributes; in SimAI's all bytes are the full buffer's. */
#include "base/error.h"
#include "base/field_lines.h"
#include "base/problems.h"
#include "workload/layers.h"
#include "workload/trace_format.h"

#include <string.h>

enum { MOST_LAYERS = 1 << 20, MOST_RANKS = 1 << 24 };
#define MOST_NS G_GUINT64_CONSTANT(1000000000000000)
#define MOST_BYTES (G_GUINT64_CONSTANT(1) << 50)

typedef enum { OVER_NONE, OVER_ALL, OVER_MODEL, OVER_DATA } Over;

/* Over whom the collectives of the forward and input-gradient columns run, and those of the weight gradient. */
typedef struct {
    const char *name;
    Over layer, weight;
    gboolean in_file; /* the size of the model-parallel group is in the file */
} Policy;

static const Policy policies[] = {
    {"DATA", OVER_NONE, OVER_ALL, FALSE},
    {"MODEL", OVER_ALL, OVER_NONE, FALSE},
    {"HYBRID_DATA_MODEL", OVER_MODEL, OVER_DATA, FALSE},
    {"HYBRID_MODEL_DATA", OVER_DATA, OVER_MODEL, FALSE},
    {"HYBRID_TRANSFORMER", OVER_MODEL, OVER_DATA, TRUE},
    {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", OVER_MODEL, OVER_DATA, TRUE},
    {"HYBRID_DLRM", OVER_NONE, OVER_ALL, FALSE},
    {"HYBRID_DLRM_ENHANCED", OVER_NONE, OVER_ALL, FALSE},
    {"HYBRID_CUSTOMIZED", OVER_NONE, OVER_NONE, FALSE},
    {"MICRO", OVER_NONE, OVER_ALL, FALSE},
    {"DISTRIBUTED_INFERENCE", OVER_ALL, OVER_NONE, FALSE},
};

typedef struct {
    const TraceSource *source;
    FieldLines *lines;
    gboolean simai;
    const Policy *policy;
    uint64_t model, experts, stages, gpus; /* TP, EP, PP; 0 = not said */
    GArray *checkpoints, *recomputes;      /* of uint32_t: layers */
    LayerTable *table;
    Workload *workload;
    uint32_t all, groups[4]; /* all ranks; tp, dp, ep, dp_ep; INDEX_NONE = not made */
    guint problems, unheard; /* collectives over nobody */
} Reader;

enum { GROUP_TP, GROUP_DP, GROUP_EP, GROUP_DP_EP };

/* Takes what went wrong below and goes on, or gives it up. */
static gboolean
taken(Reader *reader, GError *wrong, GError **error)
{
    reader->problems++;
    return problems_go_on(reader->source->problems, wrong, error);
}

/* At the present line; TRUE where problems are collected and reading goes on. */
static gboolean problem(Reader *reader, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean
problem(Reader *reader, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    GError *wrong = NULL;
    field_lines_fail(reader->lines, &wrong, "%s", text);
    return taken(reader, wrong, error);
}

static const Policy *
find_policy(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(policies); i++)
        if (strcmp(policies[i].name, name) == 0)
            return &policies[i];
    return NULL;
}

static gboolean
is_policy(const Reader *reader, const char *name)
{
    return strcmp(reader->policy->name, name) == 0;
}

/* "checkpoints: 2 2 11": a count and so many layers, from field *at on. */
static gboolean
read_numbers(Reader *reader, uint32_t *at, GArray *numbers, GError **error)
{
    const char *what = reader->lines->fields[*at];
    uint64_t count, value;
    if (!field_lines_uint(reader->lines, ++*at, what, 0, MOST_LAYERS, &count, error))
        return FALSE;
    for (uint64_t i = 0; i < count; i++) {
        if (!field_lines_uint(reader->lines, ++*at, what, 0, MOST_LAYERS - 1, &value, error))
            return FALSE;
        uint32_t layer = (uint32_t)value;
        g_array_append_val(numbers, layer);
    }
    return TRUE;
}

static gboolean
read_pair(Reader *reader, uint32_t *at, GError **error)
{
    const struct {
        const char *key;
        uint64_t *value, least;
    } keys[] = {{"model_parallel_NPU_group:", &reader->model, 1},
                {"ep:", &reader->experts, 1},
                {"pp:", &reader->stages, 1},
                {"all_gpus:", &reader->gpus, 1}};
    const char *key = reader->lines->fields[*at];
    if (strcmp(key, "checkpoints:") == 0)
        return read_numbers(reader, at, reader->checkpoints, error);
    if (strcmp(key, "checkpoint_initiates:") == 0)
        return read_numbers(reader, at, reader->recomputes, error);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        if (strcmp(key, keys[i].key) == 0)
            return field_lines_uint(reader->lines, ++*at, key, keys[i].least, MOST_RANKS, keys[i].value, error);
    return TRUE; /* vpp:, ga:, pp_comm, ...: of the pipeline, which is not simulated */
}

static gboolean
read_policy(Reader *reader, GError **error)
{
    if (!field_lines_next(reader->lines))
        return field_lines_fail(reader->lines, error, "the file is empty; expected a policy such as DATA");
    reader->policy = find_policy(reader->lines->fields[0]);
    if (reader->policy == NULL)
        return field_lines_fail(reader->lines, error,
                                "found \"%s\", expected a policy such as DATA or HYBRID_TRANSFORMER",
                                reader->lines->fields[0]);
    for (uint32_t at = 1; at < reader->lines->n_fields; at++)
        if (!read_pair(reader, &at, error))
            return FALSE;
    if (reader->policy->in_file && reader->model == 0)
        return field_lines_fail(reader->lines, error, "model_parallel_NPU_group: is not given");
    reader->table->input_first = is_policy(reader, "HYBRID_TRANSFORMER_FWD_IN_BCKWD");
    reader->table->no_input = is_policy(reader, "DATA");
    reader->table->forward_only = is_policy(reader, "DISTRIBUTED_INFERENCE");
    reader->table->communication = is_policy(reader, "MICRO");
    return TRUE;
}

/* Ranks and groups, of the file and the options. */
static gboolean
make_groups(Reader *reader, GError **error)
{
    uint64_t ranks = reader->gpus != 0 ? reader->gpus : reader->source->ranks;
    if (ranks == 0) {
        if (!problem(reader, error, "the file does not say how many ranks there are: give --ranks, or gpus of the job"))
            return FALSE;
        ranks = MAX(reader->model, 1) * MAX(reader->stages, 1) * MAX(reader->experts, 1); /* to look at the rows */
    }
    if (reader->source->ranks != 0 && reader->source->ranks != ranks)
        return field_lines_fail(reader->lines, error, "all_gpus: is %" G_GUINT64_FORMAT ", but %u ranks are asked for",
                                ranks, reader->source->ranks);
    if (ranks > MOST_RANKS)
        return field_lines_fail(reader->lines, error, "%" G_GUINT64_FORMAT " ranks; %d is the most", ranks, MOST_RANKS);
    gboolean needs = is_policy(reader, "HYBRID_DATA_MODEL") || is_policy(reader, "HYBRID_MODEL_DATA") ||
                     is_policy(reader, "HYBRID_CUSTOMIZED");
    if (reader->model == 0)
        reader->model = reader->source->model_parallel;
    if (reader->model == 0 && needs &&
        !problem(reader, error,
                 "%s: the file does not say how many ranks are model-parallel: give --model-parallel, or "
                 "model_parallel of the job",
                 reader->policy->name))
        return FALSE;
    uint64_t tp = MAX(reader->model, 1), pp = MAX(reader->stages, 1), ep = MAX(reader->experts, 1);
    if (ranks % (tp * pp) != 0 || ranks / (tp * pp) % ep != 0 || ranks % (tp * ep) != 0)
        return field_lines_fail(reader->lines, error,
                                "%" G_GUINT64_FORMAT " ranks do not divide into groups of %" G_GUINT64_FORMAT
                                " tensor-parallel x %" G_GUINT64_FORMAT " stages x %" G_GUINT64_FORMAT " experts",
                                ranks, tp, pp, ep);
    Workload *workload = reader->workload = workload_new((uint32_t)ranks);
    uint32_t dp = (uint32_t)(ranks / (tp * pp));
    reader->all = layers_add_axis(workload, "all", 1, (uint32_t)ranks);
    reader->groups[GROUP_TP] = layers_add_axis(workload, "tp", 1, (uint32_t)tp);
    reader->groups[GROUP_DP] = layers_add_axis(workload, "dp", (uint32_t)(tp * pp), dp);
    if (reader->simai && ep > 1) {
        reader->groups[GROUP_EP] = layers_add_axis(workload, "ep", (uint32_t)tp, (uint32_t)ep);
        reader->groups[GROUP_DP_EP] = layers_add_axis(workload, "dp_ep", (uint32_t)(tp * pp * ep), dp / (uint32_t)ep);
    }
    if (pp > 1)
        workload_note(workload,
                      "%" G_GUINT64_FORMAT " pipeline stages: all ranks run all rows, nothing goes between them", pp);
    return TRUE;
}

/* The group of a collective without a suffix; INDEX_NONE = nobody. */
static uint32_t
usual_group(const Reader *reader, const Policy *policy, uint32_t layer, LayerPass pass)
{
    Over over = pass == PASS_WEIGHT_GRADIENT ? policy->weight : policy->layer;
    if (layer == 0 && g_str_has_prefix(policy->name, "HYBRID_DLRM"))
        over = OVER_ALL;
    switch (over) {
    case OVER_ALL:
        return reader->all;
    case OVER_MODEL:
        return reader->groups[GROUP_TP];
    case OVER_DATA:
        return reader->groups[GROUP_DP];
    default:
        return INDEX_NONE;
    }
}

/* ALLREDUCE_DP_EP in two: the kind, and the suffix's group (that given where there is none). FALSE where unknown. */
static gboolean
parse_collective(const Reader *reader, const char *text, CollectiveKind *kind, uint32_t *group)
{
    static const struct {
        const char *name;
        CollectiveKind kind;
    } names[] = {{"ALLREDUCE", COLLECTIVE_ALL_REDUCE},
                 {"ALLGATHER", COLLECTIVE_ALL_GATHER},
                 {"REDUCESCATTER", COLLECTIVE_REDUCE_SCATTER},
                 {"ALLTOALL", COLLECTIVE_ALL_TO_ALL}};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        size_t length = strlen(names[i].name);
        if (strncmp(text, names[i].name, length) != 0)
            continue;
        const char *suffix = text + length;
        *kind = names[i].kind;
        if (*suffix == '\0')
            return TRUE;
        gboolean ep = strcmp(suffix, "_EP") == 0;
        if (!reader->simai || (!ep && strcmp(suffix, "_DP_EP") != 0))
            return FALSE;
        *group = reader->groups[ep ? GROUP_EP : reader->groups[GROUP_EP] != INDEX_NONE ? GROUP_DP_EP : GROUP_DP];
        if (*group == INDEX_NONE) /* one expert: alone */
            *group = INDEX_NONE - 1;
        return TRUE;
    }
    return FALSE;
}

static gboolean
read_collective(Reader *reader, const Policy *policy, uint32_t row, LayerPass pass, LayerWork *work, GError **error)
{
    const char *text = reader->lines->fields[3 + 3 * pass];
    GError *wrong = NULL;
    uint64_t bytes;
    if (!field_lines_uint(reader->lines, 4 + 3 * pass, "bytes", 0, MOST_BYTES, &bytes, &wrong))
        return taken(reader, wrong, error);
    if (strcmp(text, "NONE") == 0)
        return TRUE;
    uint32_t group = usual_group(reader, policy, row, pass);
    if (!parse_collective(reader, text, &work->kind, &group))
        return problem(reader, error,
                       "found the collective \"%s\", expected NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL%s",
                       text, reader->simai ? ", with _EP or _DP_EP behind it or without" : "");
    if (group >= INDEX_NONE - 1) {
        reader->unheard += group == INDEX_NONE;
        return TRUE;
    }
    work->collects = TRUE;
    work->group = group;
    work->bytes = bytes;
    if (!reader->simai && work->kind == COLLECTIVE_ALL_GATHER) {
        const Group *of = g_ptr_array_index(reader->workload->groups, group);
        uint32_t members = ((const GArray *)g_ptr_array_index(of->instances, 0))->len;
        if (bytes > INT64_MAX / members)
            return problem(reader, error, "%" G_GUINT64_FORMAT " bytes x %u members is above 2^63 - 1", bytes, members);
        work->bytes = bytes * members;
    }
    return TRUE;
}

static gboolean
read_row(Reader *reader, uint32_t row, GError **error)
{
    FieldLines *lines = reader->lines;
    gboolean own = is_policy(reader, "HYBRID_CUSTOMIZED");
    if (lines->n_fields != 12 + (uint32_t)own)
        return problem(reader, error, "%u fields, expected %d of a layer", lines->n_fields, 12 + own);
    const Policy *policy = own ? find_policy(lines->fields[12]) : reader->policy;
    if (policy == NULL || (own && strcmp(policy->name, "HYBRID_CUSTOMIZED") == 0))
        return problem(reader, error, "found \"%s\", expected the policy of a layer", lines->fields[12]);
    Layer *layer = layer_table_add(reader->table, lines->fields[0]);
    for (int pass = 0; pass <= LAYER_PASSES; pass++) {
        static const char *const what[] = {"forward ns", "input-gradient ns", "weight-gradient ns", "update ns"};
        GError *wrong = NULL;
        uint64_t time;
        if (!field_lines_uint(lines, 2 + 3 * (uint32_t)pass, what[pass], 0, MOST_NS, &time, &wrong)) {
            if (!taken(reader, wrong, error))
                return FALSE;
            continue;
        }
        SimTime *at = pass < LAYER_PASSES ? &layer->work[pass].duration_ps : &layer->update_ps;
        *at = (SimTime)time * PS_PER_NS;
        if (pass < LAYER_PASSES && !read_collective(reader, policy, row, (LayerPass)pass, &layer->work[pass], error))
            return FALSE;
    }
    return TRUE;
}

/* Layer numbers of line 1 must be those of layers. */
static gboolean
mark_layers(Reader *reader, GError **error)
{
    for (int k = 0; k < 2; k++) {
        const GArray *numbers = k == 0 ? reader->checkpoints : reader->recomputes;
        for (guint i = 0; i < numbers->len; i++) {
            uint32_t number = g_array_index(numbers, uint32_t, i);
            if (number >= reader->table->layers->len)
                return error_input(error, "%s:1: %s names layer %u; there are %u, from 0", reader->source->files[0],
                                   k == 0 ? "checkpoints:" : "checkpoint_initiates:", number,
                                   reader->table->layers->len);
            Layer *layer = &g_array_index(reader->table->layers, Layer, number);
            *(k == 0 ? &layer->checkpoint : &layer->recomputes) = TRUE;
        }
    }
    return TRUE;
}

static gboolean
read_rows(Reader *reader, GError **error)
{
    uint64_t announced;
    uint32_t row = 0;
    if (!field_lines_next(reader->lines))
        return field_lines_fail(reader->lines, error, "the file ends; expected the number of layers");
    if (!field_lines_uint(reader->lines, 0, "number of layers", 1, MOST_LAYERS, &announced, error))
        return FALSE;
    size_t count_line = reader->lines->line;
    for (; field_lines_next(reader->lines); row++)
        if (!read_row(reader, row, error))
            return FALSE;
    if (row != announced) {
        GError *wrong = NULL;
        error_input(&wrong, "%s:%zu: announces %" G_GUINT64_FORMAT " layers, but the file has %u",
                    reader->source->files[0], count_line, announced, row);
        if (!taken(reader, wrong, error))
            return FALSE;
    }
    if (reader->problems > 0)
        return error_input(error, "%s: %u problems", reader->source->files[0], reader->problems);
    return mark_layers(reader, error);
}

static gboolean
make(Reader *reader, GError **error)
{
    const char *path = reader->source->files[0];
    if (!read_policy(reader, error) || !make_groups(reader, error) || !read_rows(reader, error))
        return FALSE;
    Workload *workload = reader->workload;
    workload->description =
        g_strdup_printf("%s text workload, %s, %s", reader->simai ? "SimAI" : "ASTRA-sim", reader->policy->name, path);
    if (reader->unheard > 0)
        workload_note(workload, "%u collectives left out: under %s they are over no ranks", reader->unheard,
                      reader->policy->name);
    if (layers_fill(reader->table, workload, error))
        return TRUE;
    g_prefix_error(error, "%s: ", path);
    return FALSE;
}

static Workload *
read_text(const TraceSource *source, gboolean simai, GError **error)
{
    if (source->n_files != 1) {
        error_input(error, "%s and %u more: a text workload is one file for all ranks", source->files[0],
                    source->n_files - 1);
        return NULL;
    }
    g_autoptr(FieldLines) lines = field_lines_read(source->files[0], error);
    if (lines == NULL)
        return NULL;
    g_autoptr(LayerTable) table = layer_table_new();
    g_autoptr(GArray) checkpoints = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) recomputes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    Reader reader = {.source = source,
                     .lines = lines,
                     .simai = simai,
                     .checkpoints = checkpoints,
                     .recomputes = recomputes,
                     .table = table,
                     .groups = {INDEX_NONE, INDEX_NONE, INDEX_NONE, INDEX_NONE}};
    gboolean made = make(&reader, error);
    g_autoptr(Workload) workload = reader.workload;
    return made ? g_steal_pointer(&workload) : NULL;
}

static Workload *
read_astra(const TraceSource *source, GError **error)
{
    return read_text(source, FALSE, error);
}

static Workload *
read_simai(const TraceSource *source, GError **error)
{
    return read_text(source, TRUE, error);
}

/* Does the first line begin with a policy? *simai: it has a key that only SimAI writes. */
static gboolean
first_line(const char *head, size_t length, gboolean *simai)
{
    g_autofree char *text = g_strndup(head, length);
    g_auto(GStrv) words = g_strsplit_set(g_strstrip(text), "\n", 2);
    if (words[0] == NULL)
        return FALSE;
    g_auto(GStrv) fields = g_strsplit_set(words[0], " \t\r", -1);
    *simai = FALSE;
    for (size_t i = 0; fields[i] != NULL; i++)
        *simai = *simai || strcmp(fields[i], "ep:") == 0 || strcmp(fields[i], "all_gpus:") == 0;
    return fields[0] != NULL && find_policy(fields[0]) != NULL;
}

static int
recognise_astra(const char *head, size_t length)
{
    gboolean simai;
    return first_line(head, length, &simai) ? 80 : 0;
}

static int
recognise_simai(const char *head, size_t length)
{
    gboolean simai;
    return first_line(head, length, &simai) && simai ? 90 : 0;
}

const TraceFormat trace_astra = {"astra-sim", "ASTRA-sim's text workloads: a layer a line (--ranks)", recognise_astra,
                                 read_astra, NULL};
const TraceFormat trace_simai = {"simai", "SimAI's and AICB's text workloads: a layer a line", recognise_simai,
                                 read_simai, NULL};
