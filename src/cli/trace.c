/* trace.c - trainshed trace: formats, info, check, convert */
#include "base/error.h"
#include "base/problems.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/subcommand.h"
#include "cli/table.h"
#include "cli/trace_generate.h"
#include "cli/trace_info.h"
#include "cli/trace_loggops.h"
#include "cli/trace_survey.h"
#include "workload/kineto.h"
#include "workload/trace_format.h"
#include "workload/trace_writer.h"

#include <string.h>

/* What the subcommands that read traces share. */
typedef struct {
    char *format, *groups, *sizes, *dimensions, *output, *to, *rank_is, **execution_patterns; /* of the options */
    int ranks, model_parallel, replicate;                                                     /* 0 = not given */
    gboolean break_cycles;
    char **files, **execution_files;
    TraceSource source;
} Request;

static void
request_clear(Request *request)
{
    g_free(request->format);
    g_free(request->groups);
    g_free(request->sizes);
    g_free(request->dimensions);
    g_free(request->output);
    g_free(request->to);
    g_free(request->rank_is);
    g_strfreev(request->execution_patterns);
    g_strfreev(request->files);
    g_strfreev(request->execution_files);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Request, request_clear)

/* Options and files; FALSE with an error. writes: -o is known, and needed. */
static gboolean
request_parse(Request *request, int argc, char **argv, const char *summary, gboolean writes, GError **error)
{
    const GOptionEntry entries[] = {
        {"format", 0, 0, G_OPTION_ARG_STRING, &request->format, "the format's name (default: by content)", "NAME"},
        {"groups", 0, 0, G_OPTION_ARG_FILENAME, &request->groups, "communicator groups of a Chakra trace", "FILE"},
        {"sizes", 0, 0, G_OPTION_ARG_FILENAME, &request->sizes,
         "bytes of collectives that a Chakra or Nsight Systems trace lacks", "FILE"},
        {"dimensions", 0, 0, G_OPTION_ARG_STRING, &request->dimensions,
         "the network's dimensions that involved_dim of a Chakra trace counts, innermost first", "8x4"},
        {"ranks", 0, 0, G_OPTION_ARG_INT, &request->ranks, "how many ranks run a layer table or text workload", "N"},
        {"model-parallel", 0, 0, G_OPTION_ARG_INT, &request->model_parallel,
         "how many of them are model-parallel, where the file does not say", "N"},
        {"replicate", 0, 0, G_OPTION_ARG_INT, &request->replicate, "this many ranks do what the one file says", "N"},
        {"rank-is", 0, 0, G_OPTION_ARG_STRING, &request->rank_is,
         "what a rank of a GOAL schedule is (default: a node with a GPU a NIC, where a NIC above 0 is named)",
         "gpu|node"},
        {"execution-trace", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &request->execution_patterns,
         "execution traces beside Kineto files; may be repeated, may be a pattern", "FILE"},
        {"break-cycles", 0, 0, G_OPTION_ARG_NONE, &request->break_cycles,
         "drop dependencies that close a circle, and say so", NULL},
        {writes ? "output" : NULL, 'o', 0, G_OPTION_ARG_FILENAME, &request->output, "the file to write", "FILE"},
        {"to", 't', 0, G_OPTION_ARG_STRING, &request->to, "the format to write (default: program)", "NAME"},
        {NULL, 0, 0, 0, NULL, NULL, NULL}};
    g_autoptr(GOptionContext) context = g_option_context_new(summary);
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_description(context, "FILES are one a rank, paired with ranks by the number in their names, "
                                              "or one program text; a quoted pattern is expanded.\n");
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc < 2)
        return error_input(error, "trace %s: no files are given", argv[0]);
    if (writes && request->output == NULL)
        return error_input(error, "trace %s: where to? write -o FILE", argv[0]);

    if (request->ranks < 0 || request->model_parallel < 0)
        return error_input(error, "trace %s: --%s %d is below 1", argv[0],
                           request->ranks < 0 ? "ranks" : "model-parallel",
                           request->ranks < 0 ? request->ranks : request->model_parallel);

    if (request->replicate < 0)
        return error_input(error, "trace %s: --replicate %d is below 1", argv[0], request->replicate);

    TraceRankIs rank_is = RANK_IS_GUESSED;
    if (request->rank_is != NULL && !trace_rank_is_parse(request->rank_is, &rank_is, error)) {
        g_prefix_error(error, "trace %s: --rank-is: ", argv[0]);
        return FALSE;
    }
    request->files = trace_pair(NULL, (const char *const *)argv + 1, error);
    if (request->files == NULL)
        return FALSE;
    if (request->execution_patterns != NULL) {
        request->execution_files = trace_pair(NULL, (const char *const *)request->execution_patterns, error);
        if (request->execution_files == NULL)
            return FALSE;
    }
    request->source = (TraceSource){
        .files = request->files,
        .n_files = g_strv_length(request->files),
        .execution_files = request->execution_files,
        .n_execution_files = request->execution_files != NULL ? g_strv_length(request->execution_files) : 0,
        .groups_file = request->groups,
        .sizes_file = request->sizes,
        .dimensions = request->dimensions,
        .ranks = (uint32_t)request->ranks,
        .model_parallel = (uint32_t)request->model_parallel,
        .replicate = (uint32_t)request->replicate,
        .rank_is = rank_is,
        .break_cycles = request->break_cycles,
    };
    return TRUE;
}

/* The format asked for, or that of the first file. */
static const TraceFormat *
request_format(const Request *request, GError **error)
{
    const TraceFormat *format = request->format != NULL ? trace_format_find(request->format, error)
                                                        : trace_format_recognise(request->files[0], error);
    return format != NULL && trace_format_accepts(format, &request->source, error) ? format : NULL;
}

static gboolean
run_formats(int argc, char **argv, GError **error)
{
    g_autoptr(GOptionContext) context = g_option_context_new(NULL);
    if (!command_parse(context, &argc, &argv, error))
        return FALSE;
    if (argc > 1)
        return error_input(error, "trace formats: \"%s\" is one word too many", argv[1]);
    g_autoptr(Table) table = table_new("read|what it is");
    for (const TraceFormat *const *format = trace_formats(); *format != NULL; format++) {
        table_add(table, "%s", (*format)->name);
        table_add(table, "%s", (*format)->help);
    }
    table_print(table, stdout);
    g_autoptr(Table) written = table_new("written|what it is");
    for (const TraceWriter *const *writer = trace_writers(); *writer != NULL; writer++) {
        table_add(written, "%s", (*writer)->name);
        table_add(written, "%s", (*writer)->help);
    }
    putchar('\n');
    table_print(written, stdout);
    return TRUE;
}

/* What single files hold is told even where they cannot be replayed together. */
static gboolean
info_surveyed(const Request *request, const TraceFormat *format, GError **error)
{
    g_autoptr(GPtrArray) surveys = g_ptr_array_new_with_free_func((GDestroyNotify)kineto_survey_free);
    g_autoptr(GError) refused = NULL;
    g_autoptr(Workload) workload = format->survey(&request->source, surveys, &refused);
    if (surveys->len == 0) {
        g_propagate_error(error, g_steal_pointer(&refused));
        return FALSE;
    }
    trace_survey_print(surveys, stdout);
    putchar('\n');
    if (workload == NULL)
        printf("cannot be replayed: %s\n", refused->message);
    else
        trace_info_print(workload, format->name, ((const KinetoSurvey *)g_ptr_array_index(surveys, 0))->steps->len,
                         stdout);
    return TRUE;
}

/* What a trace says of itself that is never replayed. */
static gboolean
info_told(const Request *request, const TraceFormat *format, GError **error)
{
    g_autoptr(GString) told = g_string_new(NULL);
    if (!format->tell(&request->source, told, error))
        return FALSE;
    fputs(told->str, stdout);
    return TRUE;
}

/* The workload, or why there is none, and then what the files hold nonetheless. */
static gboolean
info_outlined(const Request *request, const TraceFormat *format, GError **error)
{
    g_autoptr(GError) refused = NULL;
    g_autoptr(Workload) workload = format->read(&request->source, &refused);
    if (workload != NULL) {
        trace_info_print(workload, format->name, 0, stdout);
        return TRUE;
    }
    g_autoptr(GString) told = g_string_new(NULL);
    if (!format->outline(&request->source, told, error))
        return FALSE;
    printf("cannot be replayed: %s\n\n%s", refused->message, told->str);
    return TRUE;
}

static gboolean
run_info(int argc, char **argv, GError **error)
{
    g_auto(Request) request = {0};
    if (!request_parse(&request, argc, argv, "FILES - what a trace holds", FALSE, error))
        return FALSE;
    const TraceFormat *format = request_format(&request, error);
    if (format == NULL)
        return FALSE;
    if (format->survey != NULL)
        return info_surveyed(&request, format, error);
    if (format->tell != NULL)
        return info_told(&request, format, error);
    if (format->outline != NULL)
        return info_outlined(&request, format, error);
    g_autoptr(Workload) workload = format->read(&request.source, error);
    if (workload == NULL)
        return FALSE;
    trace_info_print(workload, format->name, 0, stdout);
    return TRUE;
}

/* Prints every problem; the error counts them. */
static gboolean
run_check(int argc, char **argv, GError **error)
{
    g_auto(Request) request = {0};
    if (!request_parse(&request, argc, argv, "FILES - finds all that is wrong with a trace", FALSE, error))
        return FALSE;
    const TraceFormat *format = request_format(&request, error);
    if (format == NULL)
        return FALSE;
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) wrong = NULL;
    request.source.problems = problems;
    g_autoptr(Workload) workload = format->read(&request.source, &wrong);
    if (workload == NULL && !problems_say_all(problems, wrong))
        g_ptr_array_add(problems, g_strdup(wrong->message));
    for (guint i = 0; i < problems->len; i++)
        printf("%s\n", (const char *)g_ptr_array_index(problems, i));
    if (problems->len > 0)
        return error_input(error, "%s: %u %s in %u %s", request.files[0], problems->len,
                           problems->len == 1 ? "problem" : "problems", request.source.n_files,
                           request.source.n_files == 1 ? "file" : "files");
    for (guint i = 0; i < workload->notes->len; i++)
        printf("note: %s\n", (const char *)g_ptr_array_index(workload->notes, i));
    printf("%s: %u ranks, no problems\n", format->name, workload->n_ranks);
    return TRUE;
}

static gboolean
run_convert(int argc, char **argv, GError **error)
{
    g_auto(Request) request = {0};
    if (!request_parse(&request, argc, argv, "FILES -o FILE - writes a trace in another format", TRUE, error))
        return FALSE;
    const TraceWriter *writer = trace_writer_find(request.to != NULL ? request.to : "program", error);
    if (writer == NULL)
        return FALSE;
    g_autoptr(Workload) workload = trace_read(request.format, &request.source, error);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    if (workload == NULL || !writer->write(workload, request.output, notes, error))
        return FALSE;
    for (guint i = 0; i < notes->len; i++)
        printf("%s: %s\n", writer->name, (const char *)g_ptr_array_index(notes, i));
    return TRUE;
}

static const Subcommand subcommands[] = {
    {"formats", "", "the formats that are read and written", run_formats},
    {"info", "FILES", "what a trace holds", run_info},
    {"check", "FILES", "all that is wrong with a trace", run_check},
    {"convert", "FILES -o OUT", "a trace in another format", run_convert},
    {"generate", "FILE -o OUT", "the program of a training job that is described", trace_generate},
    {"models", "", "the models and schedules that generate knows by name", trace_models},
    {"loggops", "FILE", "when a GOAL schedule ends under LogGOPS", trace_loggops},
    {NULL},
};

static gboolean
run(int argc, char **argv, GError **error)
{
    return subcommand_run(&(SubcommandTable){"trace", subcommands, NULL}, argc, argv, error);
}

const Command command_trace = {"trace", "recorded traces and programs: formats, info, check, convert, generate", run};
