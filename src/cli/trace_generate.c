#include "cli/trace_generate.h"

#include "base/error.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/trace_info.h"
#include "scenario/training.h"
#include "workload/trace_writer.h"

typedef struct {
    char *output, *to, *job, *check_memory, **sets;
} Options;

static void
options_clear(Options *options)
{
    g_free(options->output);
    g_free(options->to);
    g_free(options->job);
    g_free(options->check_memory);
    g_strfreev(options->sets);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static gboolean
parse(Options *options, int *argc, char ***argv, GError **error)
{
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options->output, "the file to write", "FILE"},
        {"to", 't', 0, G_OPTION_ARG_STRING, &options->to, "the format to write (default: program)", "NAME"},
        {"job", 0, 0, G_OPTION_ARG_STRING, &options->job, "of a scenario: which of its jobs", "NAME"},
        {"check-memory", 0, 0, G_OPTION_ARG_STRING, &options->check_memory,
         "only tell what a rank of each stage holds, and refuse what a GPU of this memory cannot", "SIZE"},
        {"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options->sets, "sets a value of the file; may be repeated",
         "PATH=VALUE"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    g_autoptr(GOptionContext) context =
        g_option_context_new("FILE -o OUT - writes the program of a training job that is described");
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_description(
        context, "FILE is a scenario with a job that has a model, or holds the keys of such a job alone: model, "
                 "layout, schedule, micro_batch, global_batch, ...; see trainshed-scenario(5).\nWithout -o it is "
                 "made and told, but not written.\n");
    if (!command_parse(context, argc, argv, error))
        return FALSE;
    if (*argc != 2)
        return error_input(error, *argc < 2 ? "trace generate: no file is given"
                                            : "trace generate: one file is described at a time");
    return TRUE;
}

/* A line a stage, in GiB; refused where the most is more than there is. */
static gboolean
print_memory(const TrainSpec *train, void *data, GError **error)
{
    const uint64_t *memory_B = data;
    g_autoptr(GString) heads = g_string_new(">stage|>micro-batches");
    for (int part = 0; part < MEMORY_PARTS; part++)
        g_string_append_printf(heads, "|>%s", memory_part_names[part]);
    g_string_append(heads, "|>GiB in all");
    g_autoptr(Table) table = table_new(heads->str);
    for (uint32_t stage = 0; stage < train->layout->pp; stage++) {
        StageMemory memory;
        if (!training_memory(train, stage, &memory, error))
            return FALSE;
        table_add(table, "%u", stage);
        table_add(table, "%u", memory.micro_batches);
        for (int part = 0; part < MEMORY_PARTS; part++)
            table_add(table, "%.2f", (double)memory.bytes[part] * 0x1p-30);
        table_add(table, "%.2f", (double)stage_memory_total(&memory) * 0x1p-30);
    }
    table_print(table, stdout);
    return training_memory_check(train, *memory_B, error);
}

static gboolean
check_memory(const char *file, const Options *options, GError **error)
{
    uint64_t memory_B;
    if (!units_parse_size(options->check_memory, &memory_B, error)) {
        g_prefix_error(error, "trace generate: --check-memory: ");
        return FALSE;
    }
    if (options->output != NULL)
        return error_input(error, "trace generate: --check-memory writes nothing, but -o %s is given", options->output);
    if (training_describe(file, options->job, (const char *const *)options->sets, print_memory, &memory_B, error))
        return TRUE;
    g_prefix_error(error, "%s: ", file);
    return FALSE;
}

gboolean
trace_generate(int argc, char **argv, GError **error)
{
    g_auto(Options) options = {0};
    if (!parse(&options, &argc, &argv, error))
        return FALSE;
    if (options.check_memory != NULL)
        return check_memory(argv[1], &options, error);
    const TraceWriter *writer = trace_writer_find(options.to != NULL ? options.to : "program", error);
    if (writer == NULL)
        return FALSE;
    g_autoptr(Workload) workload = training_generate(argv[1], options.job, (const char *const *)options.sets, error);
    if (workload == NULL)
        return FALSE;
    if (options.output == NULL) {
        trace_info_print(workload, "generated", 0, stdout);
        return TRUE;
    }
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    if (!writer->write(workload, options.output, notes, error))
        return FALSE;
    for (guint i = 0; i < notes->len; i++)
        printf("%s: %s\n", writer->name, (const char *)g_ptr_array_index(notes, i));
    return TRUE;
}

gboolean
trace_models(int argc, char **argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new("- the models and schedules that are known by name");
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc > 1)
        return error_input(error, "trace models: \"%s\" is one word too many", argv[1]);
    g_autoptr(Table) models = table_new("model|>parameters|>of a token or sample|source");
    for (const char *const *name = model_preset_names(); *name != NULL; name++) {
        g_autoptr(ModelDescription) model = model_preset(*name, error);
        if (model == NULL)
            return FALSE;
        table_add(models, "%s", *name);
        table_add(models, "%" G_GUINT64_FORMAT, model_parameters(model));
        table_add(models, "%" G_GUINT64_FORMAT, model_active_parameters(model));
        table_add(models, "%s", model->source);
    }
    table_print(models, stdout);
    g_autoptr(Table) schedules = table_new("schedule|what it is");
    for (const char *const *name = pipeline_schedule_names(); *name != NULL; name++) {
        table_add(schedules, "%s", *name);
        table_add(schedules, "%s", pipeline_schedule_help(*name));
    }
    putchar('\n');
    table_print(schedules, stdout);
    return TRUE;
}
