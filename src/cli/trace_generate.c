#include "cli/trace_generate.h"

#include "base/error.h"
#include "cli/command.h"
#include "cli/table.h"
#include "cli/trace_info.h"
#include "scenario/training.h"
#include "workload/trace_writer.h"

typedef struct {
    char *output, *to, *job, **sets;
} Options;

static void
options_clear(Options *options)
{
    g_free(options->output);
    g_free(options->to);
    g_free(options->job);
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

gboolean
trace_generate(int argc, char **argv, GError **error)
{
    g_auto(Options) options = {0};
    if (!parse(&options, &argc, &argv, error))
        return FALSE;
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
